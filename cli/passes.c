/* krait passes: the transformations of the dependency IR. */
#include "cli/list.h"
#include "passes/pass.h"

static const struct kr_option options[] = {KR_LIST_OPTIONS, {0}};

#define FACTS_MOST 32

static bool fill(size_t i, struct kr_listed *out)
{
	if (i >= kr_pass_registry_count)
		return false;
	*out = (struct kr_listed){kr_pass_registry[i]->name, kr_pass_registry[i]->title, kr_pass_registry[i]->source};
	return true;
}

static void add_facts(uint32_t facts, const char *name, bool json, struct kr_str *out)
{
	const char *separator = "";

	if (!json && facts == 0)
		return;
	kr_str_format(out, json ? ", \"%s\": [" : "    %s: ", name);
	for (uint32_t bit = 0; bit < FACTS_MOST; bit++) {
		if (!(facts & 1u << bit))
			continue;
		kr_str_format(out, json ? "%s\"%s\"" : "%s%s", separator, kr_fact_name((enum kr_fact)(1u << bit)));
		separator = ", ";
	}
	kr_str_add(out, json ? "]" : "\n");
}

static void more(size_t i, bool json, struct kr_str *out)
{
	add_facts(kr_pass_registry[i]->requires, "requires", json, out);
	add_facts(kr_pass_registry[i]->provides, "provides", json, out);
	add_facts(kr_pass_registry[i]->breaks, "breaks", json, out);
}

static int run(const struct kr_args *args) { return kr_list_print(args, &(struct kr_list){fill, more}); }

const struct kr_command kr_command_passes = {
	.name = "passes",
	.synopsis = "[OPTION]...",
	.title = "list the passes over the dependency graph",
	.options = options,
	.run = run,
};
