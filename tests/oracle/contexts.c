/* Making a Z3 context takes longer than deciding a tiny history: the solvers of these tests share one, by functions that the
 * linker's --wrap puts in the place of the library's (CMakeLists.txt). It is made anew when many have used it, so that what
 * they leave behind does not pile up. */
#include "backend/z3_library.h"

enum { USES = 200 };

enum kr_status __real_kr_z3_load(struct kr_z3_calls *out, struct kr_err *err);
enum kr_status __wrap_kr_z3_load(struct kr_z3_calls *out, struct kr_err *err);

static struct kr_z3_calls library;
static Z3_context shared;
static unsigned users, uses;

static Z3_context mk_context(Z3_config config)
{
	if (!shared)
		shared = library.mk_context(config);
	users++;
	uses++;
	return shared;
}

static void del_context(Z3_context z3)
{
	if (--users > 0 || uses < USES)
		return;
	library.del_context(z3);
	shared = NULL;
	uses = 0;
}

enum kr_status __wrap_kr_z3_load(struct kr_z3_calls *out, struct kr_err *err)
{
	if (!library.mk_context)
		KR_TRY(__real_kr_z3_load(&library, err));
	*out = library;
	out->mk_context = mk_context;
	out->del_context = del_context;
	return KR_OK;
}
