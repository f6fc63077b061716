/* krait profiles: what databases document of their levels, as rows that traces can be held to. */
#include "cli/list.h"
#include "cli/profile_option.h"

static bool fill(const struct kr_modules *modules, size_t i, struct kr_listed *out)
{
	const struct kr_profile *row = kr_profile_at(i, NULL);

	(void)modules;
	if (row)
		*out = (struct kr_listed){row->name, row->title, row->source};
	return row != NULL;
}

static void more(const struct kr_modules *modules, size_t i, bool json, struct kr_str *out)
{
	const struct kr_product *product = NULL;
	const struct kr_profile *row = kr_profile_at(i, &product);

	(void)modules;
	kr_list_words(out, json, "aliases", row->aliases);
	kr_list_text(out, json, "product", product->title);
	if (!json)
		kr_list_text(out, false, "certifies", row->certify);
	if (json) {
		kr_str_format(out, ", \"live\": %s", row->live ? "true" : "false");
		kr_profile_json(row, out);
	} else if (row->live) {
		kr_list_text(out, false, "held against", "runs of the database itself");
	}
}

static int run(const struct kr_args *args) { return kr_list_print(args, &(struct kr_list){fill, more}); }

const struct kr_command kr_command_profiles = {
	.name = "profiles",
	.synopsis = "[OPTION]...",
	.title = "list what databases document of their mechanisms, for 'check --profile'",
	.purpose = KR_TO_KNOW,
	.options = kr_list_options,
	.run = run,
};
