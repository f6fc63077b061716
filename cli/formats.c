/* krait formats: the trace formats that can be read. */
#include "cli/list.h"
#include "frontend/format.h"

KR_LIST_FILL(kr_format, kr_format_at, name);

static void more(const struct kr_modules *modules, size_t i, bool json, struct kr_str *out)
{
	kr_list_words(out, json, "aliases", kr_format_at(modules, i)->aliases);
	kr_list_text(out, json, "input", kr_format_at(modules, i)->folder ? "a folder" : "a file");
}

static int run(const struct kr_args *args) { return kr_list_print(args, &(struct kr_list){fill, more}); }

const struct kr_command kr_command_formats = {
	.name = "formats",
	.synopsis = "[OPTION]...",
	.title = "list the trace formats",
	.purpose = KR_TO_KNOW,
	.options = kr_list_options,
	.run = run,
};
