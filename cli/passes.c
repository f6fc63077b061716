/* krait passes: the transformations of the dependency IR. */
#include "cli/list.h"
#include "passes/pass.h"

static const struct kr_option options[] = {KR_LIST_OPTIONS, {0}};

#define FACTS_MOST 32

KR_LIST_FILL(kr_pass, kr_pass_at, name);

static void add_facts(uint32_t facts, const char *name, bool json, struct kr_str *out)
{
	const char *separator = "";

	if (!json && facts == 0)
		return;
	kr_str_format(out, json ? ", \"%s\": [" : "    %s: ", name);
	for (uint32_t bit = 0; bit < FACTS_MOST; bit++) {
		if (!(facts & 1u << bit))
			continue;
		kr_str_format(out, json ? "%s\"%s\"" : "%s%s", separator,
			kr_fact_name((enum kr_fact)(1u << bit)));
		separator = ", ";
	}
	kr_str_add(out, json ? "]" : "\n");
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
	.options = options,
	.run = run,
};
