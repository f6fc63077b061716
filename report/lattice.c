/* The lattice of levels as a DOT graph and as a page, generated from the levels' descriptors, so that it is
 * never out of date. */
#include "report/report.h"

#include <string.h>

/* Names that the literature uses for several levels, and which one they are here. */
static const struct {
	const char *name;
	const char *meanings;
} disagreements[] = {
	{"read committed",
		"Adya's PL-2 (here `pl-2`, also called `read-committed`, `rc`) forbids seeing aborted or "
		"unfinished writes and circular information flow. The axiomatic read committed of Biswas and "
		"Enea (here `rc-ax`) also forbids seeing an older version after something newer of the same "
		"writer. It is monotonic atomic view with session order. Vendors mean either, or less."},
	{"repeatable read",
		"Adya's PL-2.99 (here `pl-2.99`, also called `repeatable-read`, `rr`) is serializability but "
		"for phantoms. Others mean only that a transaction that reads a key twice sees one value. "
		"MySQL's level of that name is weaker than snapshot isolation, PostgreSQL's is snapshot "
		"isolation (here `si`)."},
	{"snapshot isolation",
		"Here `si` without an order is generalized snapshot isolation: a snapshot may be any past "
		"one. Papers on checking it (dbcop, PolySI, Plume, Viper's strong session variant) count "
		"session order, and so does `strong-session-snapshot-isolation`; the first definition takes "
		"the newest snapshot in real time, `strong-snapshot-isolation`."},
	{"serializability",
		"Without an order the serial order may contradict sessions and clocks. Many papers count "
		"session order: `strong-session-serializable`. With real time it is `strict-serializable`."},
	{"causal consistency",
		"Here `cc` is that of Biswas and Enea, over transactions and with convergence on one order "
		"of writes. Causal consistency of single operations, or without convergence, is weaker."},
};

static void add_edges(const struct kr_modules *more, struct kr_str *out)
{
	static const char *const styles[] = {[KR_ORDER_NONE] = " [style=dashed]",
		[KR_ORDER_SESSION] = " [style=dotted]",
		[KR_ORDER_REALTIME] = ""};
	const struct kr_level *a, *b;

	for (size_t i = 0; (a = kr_level_at(more, i)) != NULL; i++)
		for (size_t j = 0; (b = kr_level_at(more, j)) != NULL; j++)
			if (kr_level_implies(a, b) >= 0)
				kr_str_format(out, "  \"%s\" -> \"%s\"%s;\n", a->id, b->id,
					styles[kr_level_implies(a, b)]);
}

void kr_report_lattice_dot(const struct kr_modules *more, struct kr_str *out)
{
	const struct kr_level *level;

	kr_str_add(out, "digraph levels {\n  rankdir=TB;\n  node [shape=box, fontname=\"sans-serif\"];\n");
	for (size_t i = 0; (level = kr_level_at(more, i)) != NULL; i++)
		kr_str_format(out, "  \"%s\" [label=\"%s\\n%s\\n[%s]\"];\n", level->id, level->id,
			level->title, kr_order_words(level->default_order));
	add_edges(more, out);
	kr_str_add(out, "}\n");
}

static void add_names(const struct kr_level *level, struct kr_str *out)
{
	const char *separator = "";

	for (const struct kr_level_name *n = level->names; n && n->name; n++) {
		kr_str_format(out, "%s`%s`", separator, n->name);
		if (n->has_order && n->order != level->default_order)
			kr_str_format(out, " (order %s)", kr_order_name(n->order));
		separator = ", ";
	}
}

void kr_report_lattice_page(const struct kr_modules *more, struct kr_str *out)
{
	const struct kr_level *level;

	kr_str_add(out,
		"<!-- made by `krait levels --page`; do not edit -->\n# The lattice of levels\n\n"
		"An arrow leads from a level to one that it implies, both with the same order. Besides, each "
		"level with a stronger order (`realtime`, then "
		"`session`,\n"
		"then `none`) implies itself with a weaker one. A dashed arrow holds without order only, a "
		"dotted one without order and with session order. "
		"Levels of\n"
		"equal definitions (`ser` and `pl-ss`; `pl-2+`, `psi` and `pl-fcv`) differ in their default "
		"orders only. There are no other implications: for "
		"each pair\n"
		"with no way from one to the other a trace in `traces/` satisfies the first and violates the "
		"second. What the words mean is in\n"
		"[levels.md](levels.md).\n\n```dot\n");
	kr_report_lattice_dot(more, out);
	kr_str_add(out,
		"```\n\n| level | names | default order | demanded | source |\n|---|---|---|---|---|\n");
	for (size_t i = 0; (level = kr_level_at(more, i)) != NULL; i++) {
		kr_str_format(out, "| [%s](levels.md#%s) | ", level->id, level->id);
		add_names(level, out);
		kr_str_format(out, " | %s | %s | %s |\n", kr_order_name(level->default_order),
			level->definition, level->source);
	}
	kr_str_add(out, "\n## Where the literature disagrees\n\n| name | meanings |\n|---|---|\n");
	for (size_t i = 0; i < KR_COUNT(disagreements); i++)
		kr_str_format(out, "| %s | %s |\n", disagreements[i].name, disagreements[i].meanings);
	kr_str_add(out,
		"\nA name in SQL's spelling that stands for several levels, such as `\"REPEATABLE READ\"`, "
		"is refused with the ids to choose from.\n");
}
