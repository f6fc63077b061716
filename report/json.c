/* The JSON verdict (docs/cli.md): one object on one line. Ids and keys keep their JSON types. Seconds are
 * rounded to microseconds. */
#include "report/coo.h"
#include "report/report.h"
#include "report/words.h"

#include <string.h>

static void add_edge(const struct kr_history *h, const struct kr_cert_edge *e, struct kr_str *out)
{
	struct kr_str why;
	struct kr_words w = {h, NULL, &why};

	kr_str_add(out, "{\"from\": ");
	kr_history_json_value(h, h->txns.at[e->from.i].id, out);
	kr_history_json_member(h, "to", h->txns.at[e->to.i].id, out);
	kr_str_format(out, ", \"kind\": \"%s%s\"", e->predicate ? "p" : "",
		kr_edge_name((enum kr_edge_kind)e->kind));
	if (e->key.i != KR_NONE)
		kr_history_json_member(h, "key", h->keys.at[e->key.i].name, out);
	kr_str_init(&why, out->mem);
	kr_words_edge(&w, e, NULL);
	kr_str_member_made(out, "why", &why);
	kr_str_add(out, "}");
}

static void add_cycle(const struct kr_history *h, const struct kr_certificate *cert,
	struct kr_cert_cycle cycle, struct kr_str *out)
{
	kr_str_add(out, "[");
	for (uint32_t i = 0; i < cycle.count; i++) {
		kr_str_add(out, i > 0 ? ", " : "");
		add_edge(h, &cert->edges.at[cycle.first + i], out);
	}
	kr_str_add(out, "]");
}

static void add_cycles(const struct kr_history *h, const struct kr_certificate *cert, struct kr_str *out)
{
	uint32_t last = cert->cycles.n - 1;

	kr_str_add(out, ", \"cycle\": ");
	add_cycle(h, cert, cert->cycles.at[last], out);
	if (last == 0)
		return;
	kr_str_add(out, ", \"cases\": [");
	for (uint32_t i = 0; i < last; i++) {
		kr_str_add(out, i > 0 ? ", " : "");
		add_cycle(h, cert, cert->cycles.at[i], out);
	}
	kr_str_add(out, "]");
}

static void add_anomaly(const struct kr_report *r, struct kr_str *out)
{
	const struct kr_history *h = r->history;
	const struct kr_certificate *cert = &r->verdict->certificate;
	char name[KR_ANOMALY_NAME_SIZE];
	struct kr_str message;

	kr_report_anomaly(h, cert, name);
	kr_str_add(out, ", \"anomaly\": {");
	kr_str_member(out, "name", name);

	kr_str_init(&message, out->mem);
	kr_report_sentence(r, &message);
	kr_str_member_made(out, "message", &message);

	if (cert->kind == KR_CERT_ANOMALY || cert->kind == KR_CERT_REPLAY) {
		kr_history_json_member(h, "txn", h->txns.at[cert->anomaly.txn.i].id, out);
		kr_str_format(out,
			", \"op\": %u, \"key\": ", kr_history_place(h, cert->anomaly.txn, cert->anomaly.op));
		kr_history_json_value(h, h->keys.at[cert->anomaly.key.i].name, out);
		if (cert->kind == KR_CERT_REPLAY) {
			kr_str_member(out, "expected", r->verdict->expected);
			kr_str_member(out, "seen", r->verdict->seen);
		}
	} else if (cert->cycles.n > 0) {
		add_cycles(h, cert, out);
	}
	kr_str_add(out, "}");
}

static void add_sizes(const struct kr_report *r, struct kr_str *out)
{
	if (r->history) {
		kr_str_format(out, ", \"txns\": %u, \"ops\": %u", r->history->txns.n, r->history->ops.n);
		if (r->history->skipped > 0)
			kr_str_format(out, ", \"skipped\": %u", r->history->skipped);
	} else {
		kr_str_add(out, ", \"txns\": null, \"ops\": null");
	}
	kr_str_format(out, ", \"seconds\": %.6f, \"peak_mib\": %llu", r->seconds,
		(unsigned long long)r->peak_mib);
}

static void add_explanation(const struct kr_report *r, struct kr_str *out)
{
	struct kr_str text;

	kr_str_init(&text, out->mem);
	kr_report_explain(r, &text);
	kr_str_member_made(out, "explanation", &text);
}

void kr_report_json(const struct kr_report *r, struct kr_json_extras extras, struct kr_str *out)
{
	enum kr_outcome outcome = kr_report_outcome(r);
	const char *reason = kr_report_reason(r);

	kr_str_add(out, "{");
	kr_str_member(out, "trace", r->trace);
	kr_str_member(out, "level", r->level->id);
	kr_str_member(out, "order", kr_order_name(r->order));
	kr_str_member(out, "checker", r->checker->name);
	kr_str_member(out, "verdict", kr_report_verdict(outcome));
	if (r->verdict && r->verdict->proof_of)
		kr_str_format(out, ", \"same_proof_as\": {\"level\": \"%s\", \"order\": \"%s\"}",
			r->verdict->proof_of->id, kr_order_name(r->verdict->proof_order));
	if (reason)
		kr_str_member(out, "reason", reason);
	if (kr_report_given(r))
		kr_str_member(out, "given", kr_report_given(r));
	if (outcome == KR_VIOLATED)
		add_anomaly(r, out);
	kr_coo_json(r, ", ", out);
	add_sizes(r, out);
	kr_notes_json(r->notes, ", ", out);
	if (extras.explanation)
		add_explanation(r, out);
	if (extras.stats) {
		kr_str_add(out, ", \"stats\": ");
		kr_report_run_stats_json(r, out);
	}
	kr_str_add(out, "}");
}
