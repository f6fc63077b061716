/* krait passes: the transformations of the dependency IR. */
#include "cli/list.h"
#include "passes/pass.h"

KR_LIST_FILL(kr_pass, kr_pass_at, name);

static void add_facts(uint32_t facts, const char *name, bool json, struct kr_str *out)
{
	struct kr_str words;

	kr_str_init(&words, out->mem);
	for (; facts; facts &= facts - 1)
		kr_str_format(&words, "%s ", kr_fact_name((enum kr_fact)(facts & -facts)));
	kr_list_words(out, json, name, kr_str_text(&words));
	out->failed |= words.failed;
	kr_str_done(&words);
}

static void more(const struct kr_modules *modules, size_t i, bool json, struct kr_str *out)
{
	add_facts(kr_pass_at(modules, i)->requires, "requires", json, out);
	add_facts(kr_pass_at(modules, i)->provides, "provides", json, out);
	add_facts(kr_pass_at(modules, i)->breaks, "breaks", json, out);
}

static int run(const struct kr_args *args) { return kr_list_print(args, &(struct kr_list){fill, more}); }

const struct kr_command kr_command_passes = {
	.name = "passes",
	.synopsis = "[OPTION]...",
	.title = "list the passes over the dependency graph",
	.purpose = KR_TO_LOOK_INSIDE,
	.options = kr_list_options,
	.run = run,
};
