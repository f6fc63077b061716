/* A verdict as data of the page: the sentence, the transactions that matter with those of their operations
 * that do, the argument, and what was assumed. */
#include "base/order.h"
#include "checkers/lattice.h"
#include "report/page.h"

static void add_ops_of(const struct kr_history *h, const struct kr_cast *cast, kr_txn t, struct kr_str *out)
{
	uint32_t first = h->txns.at[t.i].op_first, end = first + h->txns.at[t.i].op_count, last = KR_NONE;
	struct kr_str text;
	struct kr_words w = {h, NULL, &text};
	const char *separator = "";

	for (uint32_t i = 0; i < cast->ops.n; i++) {
		uint32_t op = cast->ops.at[i].i;
		if (op < first || op >= end || op == last)
			continue;
		kr_str_init(&text, out->mem);
		kr_words_op(&w, (kr_op){op});
		kr_str_format(out, "%s{\"op\": %u, ", separator, op - first);
		kr_str_member_made(out, "text", &text);
		kr_str_add(out, "}");
		separator = ", ";
		last = op;
	}
}

/* Who the text speaks of, in the order of mention (its T1, T2, ...), each with its operations that matter and
 * how many it has. */
static void add_cast(const struct kr_history *h, const struct kr_cast *cast, struct kr_str *out)
{
	KR_SORT(cast->ops.at, cast->ops.n, kr_by_id);
	kr_str_add(out, ",\n\"cast\": [");
	for (uint32_t i = 0; i < cast->txns.n; i++) {
		kr_txn t = cast->txns.at[i];
		kr_str_format(out, "%s{\"txn\": %u, \"ops\": %u, \"shown\": [", i > 0 ? ", " : "", t.i,
			h->txns.at[t.i].op_count);
		add_ops_of(h, cast, t, out);
		kr_str_add(out, "]}");
	}
	kr_str_add(out, "]");
}

/* The lines of the argument as text, with ids instead of numbers, and whom it speaks of. */
static void add_argument_text(const struct kr_report *r, const struct kr_argument *arg, struct kr_str *out)
{
	struct kr_str then, by_id;
	struct kr_cast cast;
	struct kr_words numbered = {r->history, &cast, &then}, named = {r->history, NULL, &by_id};

	kr_str_init(&then, out->mem);
	kr_str_init(&by_id, out->mem);
	kr_cast_init(&cast, out->mem, r->history);
	kr_explain_argument(r, &numbered, arg);
	add_cast(r->history, &cast, out);
	if (!arg || arg->cert->cycles.n == 0) {
		kr_explain_argument(r, &named, arg);
		kr_str_add(out, ",\n");
		kr_str_member_made(out, "lines", &by_id);
	}
	out->failed |= then.failed || cast.failed;
	kr_cast_done(&cast);
	kr_str_done(&then);
	kr_str_done(&by_id);
}

/* With the key where it read what another transaction wrote and must not show. */
static void add_operation(const struct kr_history *h, const struct kr_certificate *cert, struct kr_str *out)
{
	bool shown = cert->anomaly.kind == KR_ABORTED_READ || cert->anomaly.kind == KR_INTERMEDIATE_READ;
	struct kr_str name;

	kr_str_format(out, ",\n\"operation\": {\"txn\": %u, \"op\": %u", cert->anomaly.txn.i,
		cert->anomaly.op);
	if (shown && cert->anomaly.key.i != KR_NONE) {
		kr_str_init(&name, out->mem);
		kr_history_print_name(h, h->keys.at[cert->anomaly.key.i].name, &name);
		kr_str_member_made(out, "key", &name);
	}
	kr_str_add(out, "}");
}

static void add_violated(const struct kr_report *r, const struct kr_argument *arg, struct kr_str *out)
{
	const struct kr_certificate *cert = &r->verdict->certificate;
	struct kr_words w = {r->history, NULL, NULL};
	char name[KR_ANOMALY_NAME_SIZE];
	struct kr_str text;

	kr_report_anomaly(r->history, cert, name);
	kr_str_add(out, ",\n");
	kr_str_member(out, "anomaly", name);
	kr_str_init(&text, out->mem);
	w.out = &text;
	kr_sentence(&w, r->level, cert, arg && cert->cycles.n > 1 ? arg : NULL);
	kr_str_member_made(out, "sentence", &text);
	add_argument_text(r, arg, out);
	if (arg && cert->cycles.n > 0)
		kr_page_argument(r, arg, out);
	else if (!arg)
		add_operation(r->history, cert, out);
}

static void add_satisfied(const struct kr_certificate *cert, struct kr_str *out)
{
	static const char *const forms[] =
		{[KR_CERT_ORDER] = "order", [KR_CERT_SNAPSHOTS] = "snapshots", [KR_CERT_WORLD] = "world"};

	kr_str_format(out, ",\n\"form\": \"%s\", \"order_found\": [", forms[cert->kind]);
	for (uint32_t i = 0; i < cert->serial.n; i++)
		kr_str_format(out, "%s%u", i > 0 ? "," : "", cert->serial.at[i].i);
	kr_str_add(out, "]");
	if (cert->kind != KR_CERT_WORLD)
		return;
	kr_str_add(out, ",\n\"sources\": [");
	for (uint32_t i = 0; i < cert->sources.n; i++) {
		const struct kr_cert_source *s = &cert->sources.at[i];
		kr_str_format(out, "%s[%u,%u,%d]", i > 0 ? "," : "", s->txn.i, s->op,
			s->writer.i == KR_NONE ? -1 : (int)s->writer.i);
	}
	kr_str_add(out, "]");
}

static void add_proof(const struct kr_report *r, struct kr_str *out)
{
	const struct kr_certificate *cert = &r->verdict->certificate;
	struct kr_argument arg;

	if (kr_report_outcome(r) == KR_SATISFIED) {
		add_satisfied(cert, out);
	} else if (cert->kind != KR_CERT_CYCLES) {
		add_violated(r, NULL, out);
	} else if (kr_argument_init(&arg, out->mem, r->history, &r->analysis->asg, cert) == KR_OK) {
		add_violated(r, &arg, out);
		kr_argument_done(&arg);
	} else {
		out->failed = true;
	}
}

/* Levels whose verdict, with the order that they have by default, follows from this one. */
static void add_follows(const struct kr_modules *more, const struct kr_report *r, struct kr_str *out)
{
	struct kr_question this = {r->level, r->order};
	enum kr_outcome outcome = kr_report_outcome(r);
	const struct kr_level *level;
	const char *separator = "";

	kr_str_add(out, ", \"follows\": [");
	for (size_t i = 0; outcome != KR_UNDECIDED && (level = kr_level_at(more, i)) != NULL; i++) {
		struct kr_question other = {level, level->default_order};
		if (outcome == KR_SATISFIED ? !kr_implies(more, this, other) : !kr_implies(more, other, this))
			continue;
		kr_str_format(out, "%s\"%s\"", separator, level->id);
		separator = ", ";
	}
	kr_str_add(out, "]");
}

void kr_report_page_verdict(const struct kr_modules *more, const struct kr_report *r, struct kr_str *out)
{
	struct kr_str json, text;

	kr_str_init(&json, out->mem);
	kr_str_add(&json, "{");
	kr_str_member(&json, "level", r->level->id);
	kr_str_format(&json, ", \"order\": \"%s\", ", kr_order_name(r->order));
	kr_str_member(&json, "checker", r->checker->name);
	kr_str_format(&json, ", \"verdict\": \"%s\", \"seconds\": %.6f",
		kr_report_verdict(kr_report_outcome(r)), r->seconds);
	add_follows(more, r, &json);
	if (kr_report_reason(r)) {
		kr_str_member(&json, "reason", kr_report_reason(r));
	} else {
		add_proof(r, &json);
	}
	kr_notes_json(r->notes, ",\n", &json);
	kr_str_init(&text, out->mem);
	kr_explain_assumed(r, &text);
	kr_str_add(&json, ",\n");
	kr_str_member_made(&json, "assumed", &text);
	kr_str_init(&text, out->mem);
	kr_report_explain(r, &text);
	kr_str_add(&json, ",\n");
	kr_str_member_made(&json, "explanation", &text);
	kr_str_add(&json, "}");
	kr_page_data(out, "verdict", &json);
}
