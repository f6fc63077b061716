/* krait levels: the isolation levels that can be checked. */
#include <string.h>

#include "checkers/checker.h"
#include "cli/levels_option.h"
#include "cli/list.h"
#include "cli/output.h"
#include "report/report.h"

static const struct kr_option options[] = {
	KR_LIST_OPTIONS,
	{"dot", 0, NULL, KR_WORDS_ANY, "which implies which, as a DOT graph"},
	{"page", 0, NULL, KR_WORDS_ANY, "the lattice as a page in Markdown: docs/lattice.md"},
	{0},
};

KR_LIST_FILL(kr_level, kr_level_at, id);

static void add_names(const struct kr_level *level, bool json, struct kr_str *out)
{
	const char *separator = "";

	if (!json && !(level->names && level->names->name))
		return;
	kr_str_add(out, json ? ", \"names\": [" : "    names: ");
	for (const struct kr_level_name *n = level->names; n && n->name; n++) {
		kr_str_add(out, separator);
		separator = ", ";
		if (json) {
			kr_str_add(out, "{");
			kr_str_member(out, "name", n->name);
			kr_str_format(out, ", \"order\": \"%s\"}",
				kr_order_name(n->has_order ? n->order : level->default_order));
		} else if (n->has_order && n->order != level->default_order) {
			kr_str_format(out, "%s (order %s)", n->name, kr_order_name(n->order));
		} else {
			kr_str_add(out, n->name);
		}
	}
	kr_str_add(out, json ? "]" : "\n");
}

static void add_ids(const char *const *ids, const char *note, bool json, const char **separator,
	struct kr_str *out)
{
	for (const char *const *id = ids; id && *id; id++) {
		kr_str_format(out, json ? "%s\"%s\"" : "%s%s", *separator, *id);
		kr_str_add(out, json ? "" : note);
		*separator = ", ";
	}
}

/* What it implies, both with any order, both with none or session, both with none. */
static void add_implied(const struct kr_level *level, bool json, struct kr_str *out)
{
	static const char *const fields[] = {"implies_without_order", "implies_up_to_session", "implies"};
	static const char *const notes[] = {" (order none)", " (orders none, session)", ""};
	const char *separator = "";
	bool any = false;

	for (int order = 0; order <= KR_ORDER_REALTIME; order++)
		any |= level->implies[order] && level->implies[order][0];
	if (!json && !any)
		return;
	kr_str_add(out, json ? "" : "    implies: ");
	for (int order = KR_ORDER_REALTIME; order >= 0; order--) {
		if (json)
			kr_str_format(out, ", \"%s\": [", fields[order]);
		add_ids(level->implies[order], notes[order], json, &separator, out);
		kr_str_add(out, json ? "]" : "");
		separator = json ? "" : separator;
	}
	kr_str_add(out, json ? "" : "\n");
}

static void more(const struct kr_modules *modules, size_t i, bool json, struct kr_str *out)
{
	const struct kr_level *level = kr_level_at(modules, i);
	const struct kr_checker *checker = kr_checker_for(modules, level);

	add_names(level, json, out);
	/* the field's name is older: some levels say what must be */
	kr_list_text(out, json, json ? "forbids" : "demands", level->definition);
	kr_list_text(out, json, "order", kr_order_name(level->default_order));
	add_implied(level, json, out);
	kr_list_text(out, json, "checker", checker ? checker->name : NULL);
}

/* The levels of those names. */
static int list_named(const struct kr_args *args)
{
	for (uint32_t i = 0; i < args->operands.n; i++) {
		const char *name = args->operands.at[i];
		enum kr_order order;
		const struct kr_level *level = kr_level_named(args->modules, name, &order);
		size_t at = 0;
		int status;

		if (!level)
			return KR_EXIT_USAGE;
		while (kr_level_at(args->modules, at) != level)
			at++;
		if ((status = kr_list_print_one(args, &(struct kr_list){fill, more}, at)) !=
			KR_EXIT_SATISFIED)
			return status;
	}
	return KR_EXIT_SATISFIED;
}

static int run(const struct kr_args *args)
{
	struct kr_str out;

	if (args->operands.n > 0)
		return list_named(args);
	if (!kr_args_has(args, "dot") && !kr_args_has(args, "page"))
		return kr_list_print(args, &(struct kr_list){fill, more});
	kr_str_init(&out, args->mem);
	if (kr_args_has(args, "page"))
		kr_report_lattice_page(args->modules, &out);
	else
		kr_report_lattice_dot(args->modules, &out);
	return kr_print_done(&out) ? KR_EXIT_SATISFIED : KR_EXIT_FAILED;
}

const struct kr_command kr_command_levels = {
	.name = "levels",
	.synopsis = "[OPTION]... [LEVEL]...",
	.title = "list the isolation levels that can be checked, or those named",
	.purpose = KR_TO_KNOW,
	.options = options,
	.operands = KR_WORDS_LEVEL,
	.most = UINT32_MAX,
	.run = run,
};
