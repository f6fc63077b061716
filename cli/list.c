/* Lists of modules. Text: id and title on one line, further fields indented below. JSON: one object a line
 * with the fields id, title, source and the list's own. */
#include "cli/list.h"

#include <string.h>

#include "cli/output.h"

const struct kr_option kr_list_options[] = {KR_LIST_OPTIONS, {0}};

static size_t widest(const struct kr_modules *modules, const struct kr_list *list)
{
	struct kr_listed entry;
	size_t width = 0;

	for (size_t i = 0; list->fill(modules, i, &entry); i++)
		if (strlen(entry.id) > width)
			width = strlen(entry.id);
	return width;
}

static int print(const struct kr_args *args, const struct kr_list *list, size_t from, size_t to)
{
	bool json = kr_args_has(args, "json");
	const struct kr_modules *modules = args->modules;
	size_t width = widest(modules, list);
	struct kr_listed entry;
	struct kr_str out;

	kr_str_init(&out, args->mem);
	for (size_t i = from; i < to && list->fill(modules, i, &entry); i++) {
		if (json) {
			kr_str_add(&out, "{");
			kr_str_member(&out, "id", entry.id);
			kr_str_member(&out, "title", entry.title);
		} else {
			kr_str_format(&out, "%-*s  %s\n", (int)width, entry.id, entry.title);
		}
		list->more(modules, i, json, &out);
		kr_list_text(&out, json, "source", entry.source);
		kr_str_add(&out, json ? "}\n" : "");
	}
	return kr_print_done(&out) ? KR_EXIT_SATISFIED : KR_EXIT_FAILED;
}

int kr_list_print(const struct kr_args *args, const struct kr_list *list)
{
	return print(args, list, 0, SIZE_MAX);
}

int kr_list_print_one(const struct kr_args *args, const struct kr_list *list, size_t at)
{
	return print(args, list, at, at + 1);
}

void kr_list_text(struct kr_str *out, bool json, const char *name, const char *text)
{
	if (text && json)
		kr_str_member(out, name, text);
	else if (text)
		kr_str_format(out, "    %s: %s\n", name, text);
}

void kr_list_words(struct kr_str *out, bool json, const char *name, const char *words)
{
	const char *separator = "";

	if (json)
		kr_str_format(out, ", \"%s\": [", name);
	else if (words && *words)
		kr_str_format(out, "    %s: ", name);
	for (const char *at = words ? words : ""; *(at += strspn(at, " ,")); at += strcspn(at, " ,")) {
		size_t length = strcspn(at, " ,");
		kr_str_add(out, separator);
		if (json)
			kr_str_json(out, at, length);
		else
			kr_str_add_bytes(out, at, length);
		separator = ", ";
	}
	if (json)
		kr_str_add(out, "]");
	else if (words && *words)
		kr_str_add(out, "\n");
}
