/* `krait classify`: of many decided questions those at the border of the lattice: satisfied ones that no
 * other satisfied one implies, violated ones that imply no other violated one; and what is undecided, all of
 * it. Of questions that imply each other the one with its level's default order speaks for all. Quadratic in
 * the number of questions. */
#include "checkers/lattice.h"
#include "report/report.h"

#include <string.h>

static enum kr_outcome outcome(const struct kr_decision *d)
{
	return d->status == KR_OK ? d->verdict.outcome : KR_UNDECIDED;
}

static bool is_default(const struct kr_decision *d)
{
	return d->options.order == d->options.level->default_order;
}

/* Does a stand before b, of the same outcome: strictly stronger (weaker, of violated ones), or the same and
 * the better name? */
static bool hides(const struct kr_classes *c, const struct kr_decision *a, const struct kr_decision *b)
{
	enum kr_outcome both = outcome(a);
	bool down = kr_implies(c->modules, kr_decision_question(a), kr_decision_question(b)),
	     up = kr_implies(c->modules, kr_decision_question(b), kr_decision_question(a));

	if (down && up)
		return is_default(a) != is_default(b) ? is_default(a) : a < b;
	return both == KR_VIOLATED ? up : both == KR_SATISFIED && down;
}

static bool at_border(const struct kr_classes *c, uint32_t i, enum kr_outcome wanted)
{
	if (outcome(&c->decisions[i]) != wanted)
		return false;
	for (uint32_t j = 0; j < c->n; j++)
		if (j != i && outcome(&c->decisions[j]) == wanted &&
			hides(c, &c->decisions[j], &c->decisions[i]))
			return false;
	return true;
}

static const char *reason(const struct kr_decision *d)
{
	return d->status == KR_OK ? d->verdict.reason
		: d->err.text[0]  ? d->err.text
				  : kr_status_text(d->status);
}

/* Of a violated one. */
static void add_anomaly(const struct kr_history *h, const struct kr_decision *d, const char *before,
	const char *after, struct kr_str *out)
{
	char anomaly[KR_ANOMALY_NAME_SIZE];

	if (outcome(d) != KR_VIOLATED)
		return;
	kr_report_anomaly(h, &d->verdict.certificate, anomaly);
	kr_str_format(out, "%s%s%s", before, anomaly, after);
}

/* ---- text ---- */

static void add_level(const struct kr_decision *d, struct kr_str *out)
{
	kr_str_format(out, "    %s %s [%s]", d->options.level->id, d->options.level->title,
		kr_order_words(d->options.order));
}

void kr_report_class(const struct kr_history *h, const struct kr_decision *d, struct kr_str *out)
{
	add_level(d, out);
	kr_str_format(out, ": %s", kr_report_verdict(outcome(d)));
	add_anomaly(h, d, " (", ")", out);
	kr_str_add(out, "\n");
}

static void add_lines(const struct kr_classes *c, enum kr_outcome wanted, const char *heading,
	struct kr_str *out)
{
	for (uint32_t i = 0; i < c->n; i++) {
		const struct kr_decision *d = &c->decisions[i];

		if (!at_border(c, i, wanted))
			continue;
		if (heading)
			kr_str_format(out, "  %s\n", heading);
		heading = NULL;
		add_level(d, out);
		kr_str_format(out, ": %s", d->options.level->definition);
		add_anomaly(c->history, d, " (found: ", ")", out);
		kr_str_add(out, "\n");
	}
}

static bool is_open_for(const struct kr_classes *c, uint32_t i, const char *why)
{
	return at_border(c, i, KR_UNDECIDED) && strcmp(reason(&c->decisions[i]), why) == 0;
}

/* The undecided ones, under each reason those that it keeps so. */
static void add_undecided(const struct kr_classes *c, struct kr_str *out)
{
	for (uint32_t i = 0; i < c->n; i++) {
		const char *why = reason(&c->decisions[i]);
		uint32_t first = 0;

		while (first < i && !is_open_for(c, first, why))
			first++;
		if (first < i || !is_open_for(c, i, why))
			continue;
		kr_str_format(out, "  undecided, %s:\n", why);
		for (uint32_t j = i; j < c->n; j++) {
			if (!is_open_for(c, j, why))
				continue;
			add_level(&c->decisions[j], out);
			kr_str_add(out, "\n");
		}
	}
}

void kr_report_classes(const struct kr_classes *c, struct kr_str *out)
{
	add_lines(c, KR_SATISFIED, "strongest levels satisfied:", out);
	add_lines(c, KR_VIOLATED, "weakest levels violated:", out);
	add_undecided(c, out);
}

/* ---- JSON ---- */

static void add_question(const struct kr_classes *c, const struct kr_decision *d, bool all,
	struct kr_str *out)
{
	kr_str_format(out, "{\"level\": \"%s\", \"order\": \"%s\"", d->options.level->id,
		kr_order_name(d->options.order));
	if (all)
		kr_str_format(out, ", \"verdict\": \"%s\"", kr_report_verdict(outcome(d)));
	add_anomaly(c->history, d, ", \"anomaly\": \"", "\"", out);
	if (outcome(d) == KR_UNDECIDED)
		kr_str_member(out, "reason", reason(d));
	kr_str_add(out, "}");
}

static void add_border(const struct kr_classes *c, enum kr_outcome wanted, const char *name,
	struct kr_str *out)
{
	const char *separator = "";

	kr_str_format(out, ", \"%s\": [", name);
	for (uint32_t i = 0; i < c->n; i++) {
		if (!at_border(c, i, wanted))
			continue;
		kr_str_add(out, separator);
		add_question(c, &c->decisions[i], false, out);
		separator = ", ";
	}
	kr_str_add(out, "]");
}

void kr_report_classes_json(const struct kr_classes *c, struct kr_str *out)
{
	kr_str_add(out, "{");
	kr_str_member(out, "trace", c->trace);
	add_border(c, KR_SATISFIED, "strongest_satisfied", out);
	add_border(c, KR_VIOLATED, "weakest_violated", out);
	add_border(c, KR_UNDECIDED, "unknown", out);
	kr_str_add(out, ", \"levels\": [");
	for (uint32_t i = 0; i < c->n; i++) {
		kr_str_add(out, i > 0 ? ", " : "");
		add_question(c, &c->decisions[i], true, out);
	}
	kr_str_add(out, "]");
	kr_notes_json(c->notes, ", ", out);
	kr_str_add(out, "}");
}
