/* Look-up of profiles. */
#include "mechanisms/profile.h"

#include <string.h>

const struct kr_profile *kr_profile_at(size_t i, const struct kr_product **product)
{
	for (size_t p = 0; p < kr_product_registry_count; p++)
		for (const struct kr_profile *row = kr_product_registry[p]->rows; row->name; row++)
			if (i-- == 0) {
				if (product)
					*product = kr_product_registry[p];
				return row;
			}
	return NULL;
}

static bool is_named(const struct kr_profile *row, const char *name)
{
	size_t length = strlen(name);

	if (strcmp(row->name, name) == 0)
		return true;
	for (const char *at = row->aliases ? row->aliases : ""; *at; at += strspn(at, " ")) {
		size_t n = strcspn(at, " ");
		if (n == length && memcmp(at, name, n) == 0)
			return true;
		at += n;
	}
	return false;
}

const struct kr_profile *kr_profile_find(const char *name)
{
	const struct kr_profile *row;

	for (size_t i = 0; (row = kr_profile_at(i, NULL)) != NULL; i++)
		if (is_named(row, name))
			return row;
	return NULL;
}
