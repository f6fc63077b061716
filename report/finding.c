/* Findings as JSON, and the lines of a check's result. Text for people is in finding_explain.c. */
#include "report/finding.h"

#include <stdio.h>
#include <string.h>

void kr_report_finding_class(const struct kr_finding_report *r, const struct kr_finding *f,
	char out[KR_ANOMALY_NAME_SIZE])
{
	struct kr_certificate cert;
	bool good = f->what == KR_FOUND_CYCLE;

	snprintf(out, KR_ANOMALY_NAME_SIZE, "%s", kr_finding_class_name(f));
	kr_certificate_init(&cert, r->all->mem);
	cert.kind = KR_CERT_CYCLES;
	for (uint32_t i = 0; i < f->edge_count && good; i++) {
		const struct kr_certain_edge *e = &r->all->edges.at[f->edge_first + i];
		struct kr_cert_edge edge = {.kind = (uint8_t)e->kind,
			.predicate = e->predicate,
			.from = e->from,
			.to = e->to,
			.key = e->key,
			.op = e->op,
			.source = {KR_NONE},
			.part = {KR_NONE}};
		good = kr_vec_push(cert.mem, &cert.edges, edge);
	}
	if (good && kr_vec_push(cert.mem, &cert.cycles, (struct kr_cert_cycle){0, f->edge_count}))
		kr_report_anomaly(r->history, &cert, out);
	kr_certificate_done(&cert);
}

/* ---- JSON ---- */

static void add_txn(const struct kr_history *h, kr_txn t, struct kr_str *out)
{
	kr_history_json_value(h, t.i == KR_NONE ? KR_ABSENT : h->txns.at[t.i].id, out);
}

static void add_value(const struct kr_history *h, kr_value v, struct kr_str *out)
{
	kr_history_json_value(h, v.i == KR_NONE ? KR_ABSENT : v, out);
}

void kr_report_instant(int64_t at, struct kr_str *out)
{
	if (at == INT64_MIN || at == INT64_MAX)
		kr_str_add(out, "null");
	else
		kr_str_format(out, "%lld", (long long)at);
}

static void add_span(struct kr_span span, struct kr_str *out)
{
	kr_str_add(out, "[");
	kr_report_instant(span.from, out);
	kr_str_add(out, ", ");
	kr_report_instant(span.to, out);
	kr_str_add(out, "]");
}

static void add_txns(const struct kr_finding_report *r, const struct kr_finding *f, struct kr_str *out)
{
	uint32_t n = 0;

	kr_str_add(out, ", \"txns\": [");
	for (int i = 0; i < 2; i++)
		if (f->txns[i].i != KR_NONE) {
			kr_str_add(out, n++ ? ", " : "");
			add_txn(r->history, f->txns[i], out);
		}
	for (uint32_t i = 0; i < f->edge_count; i++) {
		kr_str_add(out, n++ ? ", " : "");
		add_txn(r->history, r->all->edges.at[f->edge_first + i].from, out);
	}
	kr_str_add(out, "]");
}

static void add_ops(const struct kr_finding *f, struct kr_str *out)
{
	if (f->ops[0] != KR_NONE && f->ops[1] != KR_NONE)
		kr_str_format(out, ", \"ops\": [%u, %u]", f->ops[0], f->ops[1]);
	else if (f->ops[0] != KR_NONE)
		kr_str_format(out, ", \"op\": %u", f->ops[0]);
}

static void add_visible(const struct kr_finding_report *r, const struct kr_finding *f, struct kr_str *out)
{
	kr_str_add(out, ", \"candidates\": [");
	for (uint32_t i = 0; i < f->visible_count; i++) {
		const struct kr_visible *v = &r->all->visible.at[f->visible_first + i];
		kr_str_add(out, i > 0 ? ", {\"txn\": " : "{\"txn\": ");
		add_txn(r->history, v->writer, out);
		kr_str_add(out, ", \"value\": ");
		add_value(r->history, v->value, out);
		kr_str_add(out, v->value.i == KR_NONE ? ", \"told\": false, \"window\": " : ", \"window\": ");
		add_span(v->window, out);
		kr_str_add(out, "}");
	}
	kr_str_add(out, "]");
}

static void add_cycle(const struct kr_finding_report *r, const struct kr_finding *f, struct kr_str *out)
{
	for (uint32_t i = 0; i < f->edge_count; i++) {
		const struct kr_certain_edge *e = &r->all->edges.at[f->edge_first + i];
		kr_str_add(out, i > 0 ? ", {\"from\": " : ", \"cycle\": [{\"from\": ");
		add_txn(r->history, e->from, out);
		kr_str_add(out, ", \"to\": ");
		add_txn(r->history, e->to, out);
		kr_str_format(out, ", \"kind\": \"%s\"", kr_edge_name(e->kind));
		if (e->earlier)
			kr_str_add(out, ", \"earlier\": true");
		if (e->predicate)
			kr_str_add(out, ", \"predicate\": true");
		if (e->key.i != KR_NONE)
			kr_history_json_member(r->history, "key", r->history->keys.at[e->key.i].name, out);
		if (e->op != KR_NONE)
			kr_str_format(out, ", \"op\": %u", e->op);
		kr_str_add(out, "}");
	}
	if (f->edge_count > 0)
		kr_str_add(out, "]");
}

uint32_t kr_report_finding_line(const struct kr_finding_report *r, const struct kr_finding *f)
{
	uint32_t line = f->txns[0].i == KR_NONE ? 0 : r->history->txns.at[f->txns[0].i].line;

	for (uint32_t i = 0; i < f->edge_count; i++) {
		uint32_t at = r->history->txns.at[r->all->edges.at[f->edge_first + i].from.i].line;
		line = at > line ? at : line;
	}
	return line;
}

void kr_report_finding_json(const struct kr_finding_report *r, const struct kr_finding *f, struct kr_str *out)
{
	char name[KR_ANOMALY_NAME_SIZE];
	struct kr_str why;

	kr_report_finding_class(r, f, name);
	kr_str_format(out, "{\"event\": \"finding\", \"mechanism\": \"%s\", \"class\": \"%s\", ",
		kr_mechanism_name(f->mechanism), name);
	if (r->trace) {
		kr_str_member(out, "trace", r->trace);
		kr_str_add(out, ", ");
	}
	kr_str_member(out, "profile", r->profile->name);
	add_txns(r, f, out);
	add_ops(f, out);
	if (f->key.i != KR_NONE)
		kr_history_json_member(r->history, "key", r->history->keys.at[f->key.i].name, out);
	if (f->mechanism == KR_MECH_CR && f->seen.i != KR_NONE) {
		kr_str_add(out, ", \"seen\": ");
		add_value(r->history, f->seen, out);
	}
	if (f->mechanism == KR_MECH_CR)
		add_visible(r, f, out);
	if (f->mechanism != KR_MECH_ME && f->edge_count == 0) {
		kr_str_add(out, ", \"snapshot\": ");
		add_span(f->snapshot, out);
	}
	add_cycle(r, f, out);
	if (f->attached > 0)
		kr_str_format(out, ", \"cycles\": %u", f->attached);
	if (kr_report_finding_line(r, f) > 0)
		kr_str_format(out, ", \"line\": %u", kr_report_finding_line(r, f));
	kr_str_init(&why, out->mem);
	kr_finding_says(r, f, &why);
	kr_str_member_made(out, "why", &why);
	kr_str_add(out, "}");
}

/* ---- results ---- */

struct told_class {
	uint8_t mechanism;
	char name[KR_ANOMALY_NAME_SIZE];
};

KR_VEC_NAMED(told_classes, struct told_class);

static bool is_told(const struct told_classes *told, const struct told_class *c)
{
	for (uint32_t i = 0; i < told->n; i++)
		if (told->at[i].mechanism == c->mechanism && strcmp(told->at[i].name, c->name) == 0)
			return true;
	return false;
}

/* Each mechanism and class once, in the order of the findings. There are few of them, however many
 * findings. */
static void add_classes(const struct kr_finding_report *r, struct kr_str *out)
{
	struct told_classes told = {0};

	for (uint32_t i = 0; i < r->all->list.n && !out->failed; i++) {
		const struct kr_finding *f = &r->all->list.at[i];
		struct told_class c = {.mechanism = (uint8_t)f->mechanism};

		kr_report_finding_class(r, f, c.name);
		if (is_told(&told, &c))
			continue;
		kr_str_format(out, "%s%s %s", told.n > 0 ? ", " : "", kr_mechanism_name(f->mechanism),
			c.name);
		out->failed |= !kr_vec_push(out->mem, &told, c);
	}
	kr_vec_done(out->mem, &told);
}

void kr_report_mechanisms_line(const struct kr_finding_report *r, const struct kr_mechanisms_verdict *verdict,
	bool colour, struct kr_str *out)
{
	kr_report_line_head(r->trace, r->profile->name, verdict->outcome, colour, out);
	if (verdict->outcome == KR_VIOLATED) {
		kr_str_add(out, "\t");
		add_classes(r, out);
	}
	kr_str_add(out, "\n");
}

void kr_report_mechanisms_json(const struct kr_finding_report *r, const struct kr_mechanisms_verdict *verdict,
	bool explain, struct kr_str *out)
{
	struct kr_str text;

	kr_str_add(out, "{");
	kr_str_member(out, "trace", r->trace);
	kr_str_member(out, "profile", r->profile->name);
	kr_str_format(out, ", \"checker\": \"leopard\", \"verdict\": \"%s\"",
		kr_report_verdict(verdict->outcome));
	if (verdict->outcome != KR_VIOLATED)
		kr_str_member(out, "reason", verdict->reason);
	kr_str_add(out, ", \"findings\": [");
	for (uint32_t i = 0; i < r->all->list.n; i++) {
		kr_str_add(out, i > 0 ? ", " : "");
		kr_report_finding_json(r, &r->all->list.at[i], out);
	}
	kr_str_format(out,
		"], \"looked_at\": {\"txns\": %u, \"observations\": %u, \"versions\": %u, \"locks\": %u}, "
		"\"seconds\": %.6f",
		verdict->looked.txns, verdict->looked.reads, verdict->looked.versions, verdict->looked.locks,
		verdict->seconds);
	if (explain) {
		kr_str_init(&text, out->mem);
		for (uint32_t i = 0; i < r->all->list.n; i++)
			kr_report_finding_explain(r, &r->all->list.at[i], &text);
		kr_str_member_made(out, "explanation", &text);
	}
	kr_str_add(out, "}");
}
