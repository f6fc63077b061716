/* krait formats: the trace formats that can be read. */
#include "cli/list.h"
#include "frontend/format.h"

static const struct kr_option options[] = {KR_LIST_OPTIONS, {0}};

static bool fill(size_t i, struct kr_listed *out)
{
	if (i >= kr_format_registry_count)
		return false;
	*out = (struct kr_listed){kr_format_registry[i]->name, kr_format_registry[i]->title, kr_format_registry[i]->source};
	return true;
}

static void more(size_t i, bool json, struct kr_str *out)
{
	kr_list_words(out, json, "aliases", kr_format_registry[i]->aliases);
	kr_list_text(out, json, "input", kr_format_registry[i]->folder ? "a folder" : "a file");
}

static int run(const struct kr_args *args) { return kr_list_print(args, &(struct kr_list){fill, more}); }

const struct kr_command kr_command_formats = {
	.name = "formats",
	.synopsis = "[OPTION]...",
	.title = "list the trace formats",
	.options = options,
	.run = run,
};
