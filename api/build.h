/* What build.c and build_more.c share. Private to api/. */
#ifndef KR_API_BUILD_H
#define KR_API_BUILD_H

#include <string.h>

#include "api/handle.h"

/* build.c */
/* keeps the first failure; true: there is none */
bool kr_build_keep(krait_builder *b, enum kr_status status);
enum kr_status kr_build_bad(krait_builder *b, const char *found, const char *expected);
/* *out is the caller's */
enum kr_status kr_build_json(krait_builder *b, const struct krait_value *v, json_t **out);
enum kr_status kr_build_key(krait_builder *b, const struct krait_value *v, kr_key *out);
enum kr_status kr_build_name(krait_builder *b, const struct krait_value *v, const char *what, kr_value *out);

/* build_more.c: reads a range, scan or update; gives an entry its attributes, if it has any */
enum kr_status kr_build_predicate(krait_builder *b, const struct krait_operation *from, struct kr_entry *out);
enum kr_status kr_build_attributes(krait_builder *b, const struct krait_operation *from,
	struct kr_entry *out);

#endif
