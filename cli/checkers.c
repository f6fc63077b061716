/* krait checkers: the modules that decide levels. */
#include "checkers/checker.h"
#include "cli/list.h"

KR_LIST_FILL(kr_checker, kr_checker_at, name);

static void add_levels(const struct kr_modules *modules, const struct kr_checker *checker, bool json,
	struct kr_str *out)
{
	const struct kr_level *level;
	const char *separator = "";

	kr_str_add(out, json ? ", \"levels\": [" : "    levels: ");
	for (size_t i = 0; (level = kr_level_at(modules, i)) != NULL; i++) {
		if (!kr_checker_decides(checker, level))
			continue;
		kr_str_format(out, json ? "%s\"%s\"" : "%s%s", separator, level->id);
		separator = ", ";
	}
	kr_str_add(out, json ? "]" : "\n");
}

static void more(const struct kr_modules *modules, size_t i, bool json, struct kr_str *out)
{
	const struct kr_checker *checker = kr_checker_at(modules, i);

	add_levels(modules, checker, json, out);
	kr_list_words(out, json, "passes", checker->passes);
	kr_list_text(out, json, "backend", checker->backend);
}

static int run(const struct kr_args *args) { return kr_list_print(args, &(struct kr_list){fill, more}); }

const struct kr_command kr_command_checkers = {
	.name = "checkers",
	.synopsis = "[OPTION]...",
	.title = "list the checkers, and which levels each decides",
	.purpose = KR_TO_KNOW,
	.options = kr_list_options,
	.run = run,
};
