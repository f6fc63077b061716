/* Cells as JSON (cli/schema/provoke.json). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lab/provoke_tell.h"

static void add_named(struct kr_str *out, const char *name, const char *text)
{
	kr_str_add(out, ", ");
	kr_str_member(out, name, text);
}

static void add_anomaly(struct kr_str *out, const char *before, bool found, const struct kr_coo_anomaly *a)
{
	kr_str_add(out, before);
	if (!found || a->number == 0) {
		kr_str_add(out, "\"number\": null, \"name\": null, \"class\": null, \"size\": null");
		return;
	}
	kr_str_format(out, "\"number\": %d", a->number);
	add_named(out, "name", kr_coo_name(a->number));
	add_named(out, "class", kr_coo_class_name(a->class));
	add_named(out, "size", kr_coo_size_name(a->size));
}

static void add_interval(struct kr_str *out, const char *name, int64_t from, int64_t to)
{
	kr_str_format(out, ", \"%s\": [%" PRId64 ", %" PRId64 "]", name, from, to);
}

/* `attempt` NULL: of a schedule, which has no intervals. */
static void add_pop(struct kr_str *out, const struct kr_pop *pop, const struct kr_attempt *a)
{
	kr_str_format(out, "{\"from\": %d, \"to\": %d, \"kind\": \"%s\", \"object\": \"%c\"", pop->from,
		pop->to, kr_pop_kind_name((enum kr_pop_kind)pop->kind), pop->object);
	if (a) {
		const struct kr_done *p = &a->steps[pop->p], *q = &a->steps[pop->q];
		kr_str_format(out, ", \"p\": %" PRIu32 ", \"q\": %" PRIu32, pop->p, pop->q);
		add_interval(out, "p_at", p->sent - a->began, p->answered - a->began);
		add_interval(out, "q_at", q->sent - a->began, q->answered - a->began);
	}
	kr_str_add(out, "}");
}

static void add_cycle(struct kr_str *out, const char *name, bool found, const struct kr_pop *pops,
	const struct kr_coo_anomaly *anomaly, const struct kr_attempt *a)
{
	kr_str_format(out, ", \"%s\": %s", name, found ? "[" : "null");
	for (uint32_t i = 0; found && i < anomaly->length; i++) {
		kr_str_add(out, i ? ", " : "");
		add_pop(out, &pops[anomaly->cycle[i]], a);
	}
	kr_str_add(out, found ? "]" : "");
}

static enum kr_status add_intended(const struct kr_coo_schedule *s, struct kr_str *out)
{
	struct kr_coo_anomaly anomaly;
	struct kr_str text;
	struct kr_pops pops;
	enum kr_status status = kr_coo_pops(out->mem, s, &pops);
	bool found = !status && kr_coo_classify(pops.at, pops.n, &anomaly);

	kr_str_add(out, "{");
	kr_str_member_shown(out, "case", s->id);
	kr_str_init(&text, out->mem);
	kr_coo_print(s, &text);
	kr_str_add(out, ", ");
	kr_str_member_made(out, "schedule", &text);
	add_anomaly(out, ", ", found, &anomaly);
	add_cycle(out, "intended_pop", found, pops.at, &anomaly, NULL);
	kr_vec_done(out->mem, &pops);
	return status;
}

static void add_txns(struct kr_str *out, const uint8_t *txns, uint32_t n)
{
	kr_str_add(out, "[");
	for (uint32_t i = 0; i < n; i++)
		kr_str_format(out, "%s%d", i ? ", " : "", txns[i]);
	kr_str_add(out, "]");
}

/* How many transactions an order has: those that are not 0. */
static uint32_t length_of(const struct kr_serial *order)
{
	uint32_t n = 0;

	while (n < KR_COO_TXNS && order->txns[n])
		n++;
	return n;
}

static const struct kr_serial *serial_of(const struct kr_judgement *j)
{
	return j->serial ? &j->orders[j->orders_n - 1] : NULL;
}

static void add_survivors(const struct kr_attempt *a, struct kr_str *out)
{
	uint8_t txns[KR_COO_TXNS];
	uint32_t n = 0;

	for (uint8_t t = 1; t <= KR_COO_TXNS; t++)
		if (a->parts[t].outcome == KR_PART_COMMITTED)
			txns[n++] = t;
	kr_str_add(out, ", \"survivors\": ");
	add_txns(out, txns, n);
}

static const char *waited(const struct kr_lab_cell *cell)
{
	for (uint32_t i = 0; i < cell->attempt->steps_n; i++)
		if (cell->attempt->steps[i].blocked)
			return cell->runner->store.driver->blocked ? "told" : "silent";
	return NULL;
}

static void add_run(const struct kr_lab_cell *cell, struct kr_str *out)
{
	const struct kr_judgement *j = cell->judgement;
	const struct kr_attempt *a = cell->attempt;
	const struct kr_serial *serial = serial_of(j);
	const char *how = waited(cell);

	add_named(out, "driver", cell->runner->store.driver->name);
	add_named(out, "level", cell->level->name);
	add_named(out, "letter", j->letter);
	add_named(out, "letters", j->letters);
	add_named(out, "executed", j->executed);
	kr_str_format(out, ", \"blocked\": %s%s%s", how ? "\"" : "", how ? how : "null", how ? "\"" : "");
	kr_str_format(out, ", \"unsteady\": %s", a->unsteady ? "true" : "false");
	add_cycle(out, "pop", j->cyclic, j->pops.at, &j->anomaly, a);
	kr_str_add(out, ", \"found\": ");
	if (j->cyclic)
		add_anomaly(out, "{", true, &j->anomaly);
	kr_str_add(out, j->cyclic ? "}" : "null");
	kr_str_add(out, ", \"serial\": ");
	if (serial)
		add_txns(out, serial->txns, length_of(serial));
	else
		kr_str_add(out, "null");
	add_survivors(a, out);
	kr_str_add(out, ", ");
	if (cell->trace)
		kr_str_member_shown(out, "trace", cell->trace);
	else
		kr_str_add(out, "\"trace\": null");
	kr_str_format(out, ", \"seconds\": %.3f", (double)(a->ended - a->began) / 1e9);
	if (cell->expected)
		add_named(out, "expected", cell->expected);
}

/* ---- for pages ---- */

static void add_steps(const struct kr_attempt *a, struct kr_str *out)
{
	static const char *const answers[] = {"ok", "statement failed", "refused", "deadlock", "timeout",
		"busy", "gone", "error"};

	kr_str_add(out, ", \"steps\": [");
	for (uint32_t i = 0; i < a->steps_n; i++) {
		const struct kr_done *step = &a->steps[i];
		struct kr_str op;

		kr_str_init(&op, out->mem);
		kr_coo_print_op(&step->op, &op);
		kr_str_format(out, "%s{\"txn\": %d, ", i ? ",\n" : "", step->op.txn);
		kr_str_member_made(out, "op", &op);
		kr_str_format(out, ", \"sent\": %s", step->sent_at_all ? "true" : "false");
		if (step->sent_at_all) {
			add_interval(out, "at", step->sent - a->began, step->answered - a->began);
			kr_str_format(out, ", \"blocked\": %s", step->blocked ? "true" : "false");
			add_named(out, "answer", answers[step->answer]);
			kr_str_add(out, ", ");
			kr_str_member_shown(out, "message", step->message);
			kr_str_add(out, ", ");
			kr_str_member_shown(out, "statement", step->text);
			kr_str_add(out, ", \"seen\": [");
			for (int k = 0; k < KR_SEEN; k++) {
				bool there = step->seen[k].there;
				kr_str_format(out, there ? "%s%" PRId64 : "%snull", k ? ", " : "",
					step->seen[k].value);
			}
			kr_str_add(out, "]");
		}
		kr_str_add(out, "}");
	}
	kr_str_add(out, "]");
}

static void add_parts(const struct kr_attempt *a, struct kr_str *out)
{
	static const char *const ends[] = {"open", "committed", "aborted", "unknown"};
	const char *comma = "";

	kr_str_add(out, ", \"transactions\": [");
	for (int t = 1; t <= KR_COO_TXNS; t++) {
		const struct kr_lab_part *part = &a->parts[t];
		if (!part->began)
			continue;
		kr_str_format(out, "%s{\"txn\": %d, \"outcome\": \"%s\"", comma, t, ends[part->outcome]);
		add_interval(out, "end", part->end[0] - a->began, part->end[1] - a->began);
		kr_str_add(out, "}");
		comma = ", ";
	}
	kr_str_add(out, "], \"final\": {");
	comma = "";
	for (char o = 'd'; o <= 'z'; o++) {
		const struct kr_shown *seen = &a->final[kr_coo_index(o)];
		if (!a->used[kr_coo_index(o)])
			continue;
		kr_str_format(out, seen->there ? "%s\"%c\": %" PRId64 : "%s\"%c\": null", comma, o,
			seen->value);
		comma = ", ";
	}
	kr_str_add(out, "}");
}

static void add_orders(const struct kr_judgement *j, struct kr_str *out)
{
	kr_str_format(out, ", \"orders_tried\": %" PRIu64 ", \"orders\": [", j->orders_tried);
	for (uint32_t i = 0; i < j->orders_n; i++) {
		kr_str_format(out, "%s{\"order\": ", i ? ", " : "");
		add_txns(out, j->orders[i].txns, length_of(&j->orders[i]));
		add_named(out, "difference", j->orders[i].difference);
		kr_str_add(out, "}");
	}
	kr_str_add(out, "]");
}

static void add_all(const struct kr_lab_cell *cell, struct kr_str *out)
{
	const struct kr_judgement *j = cell->judgement;

	add_steps(cell->attempt, out);
	add_parts(cell->attempt, out);
	add_orders(j, out);
	kr_str_add(out, ", \"pops\": [");
	for (uint32_t i = 0; i < j->pops.n; i++) {
		kr_str_add(out, i ? ", " : "");
		add_pop(out, &j->pops.at[i], cell->attempt);
	}
	kr_str_add(out, "], \"cycle\": [");
	for (uint32_t i = 0; j->cyclic && i < j->anomaly.length; i++)
		kr_str_format(out, "%s%" PRIu32, i ? ", " : "", j->anomaly.cycle[i]);
	kr_str_add(out, "], ");
	kr_str_member_shown(out, "title", cell->schedule->name);
	kr_str_add(out, ", ");
	kr_str_member_shown(out, "database", cell->runner->said->version);
	if (cell->runner->store.driver->statement)
		add_named(out, "begins", cell->level->sent);
	if (cell->text)
		add_named(out, "trace_text", cell->text);
	if (cell->explanation)
		add_named(out, "explanation", cell->explanation);
}

enum kr_status kr_cell_json(const struct kr_lab_cell *cell, bool whole, struct kr_str *out)
{
	enum kr_status status = add_intended(cell->schedule, out);

	if (!status && cell->runner)
		add_run(cell, out);
	if (!status && cell->runner && whole)
		add_all(cell, out);
	kr_str_add(out, "}");
	return status ? status : out->failed ? KR_NOMEM : KR_OK;
}
