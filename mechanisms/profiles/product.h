/* Products: the rows of one database, one per level, in one file of this folder, collected by the build. */
#ifndef KR_MECHANISMS_PROFILES_PRODUCT_H
#define KR_MECHANISMS_PROFILES_PRODUCT_H

#include "krait/profile.h"

struct kr_product {
	const char *name;
	const char *title;             /* one line: which databases */
	const struct kr_profile *rows; /* ends with a NULL name */
};

extern const struct kr_product *const kr_product_registry[]; /* NULL-terminated, by name */
extern const size_t kr_product_registry_count;

#endif
