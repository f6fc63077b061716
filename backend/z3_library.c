/* A table of names beside the table of functions, both of KR_Z3_FUNCTIONS. */
#include "backend/z3_library.h"

#include "base/library.h"

#define NAME(function) "Z3_" #function,
static const char *const names[] = {KR_Z3_FUNCTIONS(NAME)};

static const struct kr_library library = {KR_Z3_NAME, KR_Z3_PATH};

KR_LIBRARY_NOTE(note,
	"[{\"feature\":\"z3\",\"description\":\"Verdicts that need a search\",\"priority\":\"required\","
	"\"soname\":[\"" KR_Z3_NAME "\"]}]");

_Static_assert(sizeof(struct kr_z3_calls) == sizeof names, "a pointer for each name");

enum kr_status kr_z3_load(struct kr_z3_calls *out, struct kr_err *err)
{
	return kr_library_load(&library, names, KR_COUNT(names), out, err);
}
