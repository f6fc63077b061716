/* Profiles (krait/profile.h): finding a row by its name, and reading one from a file. */
#ifndef KR_MECHANISMS_PROFILE_H
#define KR_MECHANISMS_PROFILE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "base/terms.h"
#include "mechanisms/profiles/product.h"

/* The i-th row of all products, NULL past the end; and its product. */
const struct kr_profile *kr_profile_at(size_t i, const struct kr_product **product);
const struct kr_profile *kr_profile_find(const char *name); /* by name or alias, or NULL */

/* One field of a profile in the words of profile files and of `krait profiles --json`. */
enum kr_profile_kind { KR_PROFILE_TEXT, KR_PROFILE_WORD, KR_PROFILE_BOOL };
struct kr_profile_field {
	const char *name;
	enum kr_profile_kind kind;
	uint16_t offset;          /* in struct kr_profile */
	const char *const *words; /* KR_PROFILE_WORD: by value of the enumeration; NULL-terminated */
	const char *fallback;     /* KR_PROFILE_WORD: what a file that leaves it out means */
	const char *group;        /* the object that it stands in, or NULL */
};
extern const struct kr_profile_field kr_profile_fields[]; /* ends with a NULL name */

/* All fields as members of a JSON object, the first after a comma. `certify` is text: "ser", "ser realtime",
 * "none". */
void kr_profile_json(const struct kr_profile *profile, struct kr_str *out);

/* A profile from the text of a JSON object; names and texts go to `arena`. KR_BAD: what is wrong. Whether
 * there is a level of the name in `certify` is for the caller to ask. */
enum kr_status kr_profile_parse(const char *text, size_t length, struct kr_arena *arena,
	struct kr_profile *out, struct kr_err *err);

#endif
