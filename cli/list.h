/* Lists of modules: `krait levels`, `checkers`, `passes`, `formats`, `backends`. */
#ifndef KR_CLI_LIST_H
#define KR_CLI_LIST_H

#include "base/str.h"
#include "cli/command.h"

/* One entry of a list; all borrowed. */
struct kr_listed {
	const char *id;
	const char *title;
	const char *source;
};

/* A list as text (one entry a line, its further fields indented below) or, with --json, as one JSON object a
 * line. `fill` gives the i-th entry, false past the end; `more` adds its further fields: text lines in text,
 * members with a leading comma in JSON. */
struct kr_list {
	bool (*fill)(const struct kr_modules *modules, size_t i, struct kr_listed *out);
	void (*more)(const struct kr_modules *modules, size_t i, bool json, struct kr_str *out);
};

/* Defines `fill` for modules of a type, of which `at` gives the i-th, or NULL. */
#define KR_LIST_FILL(type, at, name) \
	static bool fill(const struct kr_modules *modules, size_t i, struct kr_listed *out) \
	{ \
		const struct type *module = at(modules, i); \
		if (module) \
			*out = (struct kr_listed){module->name, module->title, module->source}; \
		return module != NULL; \
	} \
	_Static_assert(1, "takes the semicolon")

#define KR_LIST_OPTIONS {"json", 0, NULL, KR_WORDS_ANY, "one JSON object for each entry, one a line"}
extern const struct kr_option kr_list_options[]; /* these alone */

int kr_list_print(const struct kr_args *args, const struct kr_list *list);
/* entry number `at` alone */
int kr_list_print_one(const struct kr_args *args, const struct kr_list *list, size_t at);

/* Fields for `more`: a line "NAME: TEXT" or a member. Nothing for NULL. */
void kr_list_text(struct kr_str *out, bool json, const char *name, const char *text);
/* Words separated by blanks or commas as a JSON array. */
void kr_list_words(struct kr_str *out, bool json, const char *name, const char *words);

#endif
