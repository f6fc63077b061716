/* Writes a certificate as a witness line, docs/witness.md. Transactions and keys go by their names in the
 * trace, so that a witness can be checked against the trace read again; a field that does not apply to an
 * edge is left out. */
#include "verify/verify.h"

#include <string.h>

static void print_txn(const struct kr_history *h, kr_txn t, struct kr_str *out)
{
	kr_history_json_value(h, t.i == KR_NONE ? KR_ABSENT : h->txns.at[t.i].id, out);
}

static void print_key(const struct kr_history *h, kr_key k, struct kr_str *out)
{
	kr_history_json_value(h, k.i == KR_NONE ? KR_ABSENT : h->keys.at[k.i].name, out);
}

static void print_serial(const struct kr_history *h, const struct kr_certificate *cert, struct kr_str *out)
{
	static const char *const names[] =
		{[KR_CERT_ORDER] = "serial", [KR_CERT_SNAPSHOTS] = "snapshots", [KR_CERT_WORLD] = "commits"};

	kr_str_format(out, "\"verdict\":\"satisfied\",\"%s\":[", names[cert->kind]);
	for (uint32_t i = 0; i < cert->serial.n; i++) {
		kr_str_add(out, i ? "," : "");
		print_txn(h, cert->serial.at[i], out);
	}
	kr_str_add(out, "]");
}

static void print_part(const struct kr_history *h, kr_value part, struct kr_str *out)
{
	if (part.i == KR_NONE)
		return;
	kr_str_add(out, ",\"part\":");
	kr_history_json_value(h, part, out);
}

static void print_sources(const struct kr_history *h, const struct kr_certificate *cert, struct kr_str *out)
{
	kr_str_add(out, ",\"sources\":[");
	for (uint32_t i = 0; i < cert->sources.n; i++) {
		const struct kr_cert_source *s = &cert->sources.at[i];

		kr_str_add(out, i ? ",{\"txn\":" : "{\"txn\":");
		print_txn(h, s->txn, out);
		kr_str_format(out, ",\"op\":%u,\"key\":", (unsigned)s->op);
		print_key(h, s->key, out);
		print_part(h, s->part, out);
		kr_str_add(out, ",\"source\":");
		print_txn(h, s->writer, out);
		kr_str_add(out, "}");
	}
	kr_str_add(out, "]");
}

static void print_anomaly(const struct kr_history *h, const struct kr_certificate *cert, struct kr_str *out)
{
	if (cert->kind == KR_CERT_REPLAY)
		kr_str_add(out, "\"verdict\":\"violated\",\"under\":\"serial\",\"difference\":{\"txn\":");
	else
		kr_str_format(out, "\"verdict\":\"violated\",\"anomaly\":{\"name\":\"%s\",\"txn\":",
			kr_anomaly_name(cert->anomaly.kind));
	print_txn(h, cert->anomaly.txn, out);
	kr_str_format(out, ",\"op\":%u,\"key\":", (unsigned)cert->anomaly.op);
	print_key(h, cert->anomaly.key, out);
	kr_str_add(out, "}");
}

static void print_edge(const struct kr_history *h, const struct kr_cert_edge *e, struct kr_str *out)
{
	kr_str_add(out, "{\"from\":");
	print_txn(h, e->from, out);
	kr_str_add(out, ",\"to\":");
	print_txn(h, e->to, out);
	kr_str_format(out, ",\"kind\":\"%s%s\"", e->predicate ? "p" : "",
		kr_edge_name((enum kr_edge_kind)e->kind));
	if (e->kind == KR_WR || e->kind == KR_WW || e->kind == KR_RW) {
		kr_str_add(out, ",\"key\":");
		print_key(h, e->key, out);
	}
	if (e->kind == KR_WR || e->kind == KR_RW)
		kr_str_format(out, ",\"op\":%u", (unsigned)e->op);
	if (e->kind == KR_RW) {
		kr_str_add(out, ",\"source\":");
		print_txn(h, e->source, out);
	}
	print_part(h, e->part, out);
	kr_str_add(out, "}");
}

static void print_cycles(const struct kr_history *h, const struct kr_certificate *cert, struct kr_str *out)
{
	kr_str_add(out, "\"verdict\":\"violated\",\"cycles\":[");
	for (uint32_t i = 0; i < cert->cycles.n; i++) {
		const struct kr_cert_cycle *cycle = &cert->cycles.at[i];

		kr_str_add(out, i ? ",[" : "[");
		for (uint32_t j = 0; j < cycle->count; j++) {
			kr_str_add(out, j ? "," : "");
			print_edge(h, &cert->edges.at[cycle->first + j], out);
		}
		kr_str_add(out, "]");
	}
	kr_str_add(out, "]");
}

void kr_witness_print(const struct kr_history *h, const struct kr_witness_head *head,
	const struct kr_certificate *cert, struct kr_str *out)
{
	kr_str_add(out, "{\"krait_witness\":1,\"trace\":");
	kr_str_json(out, head->trace, strlen(head->trace));
	kr_str_add(out, ",\"level\":");
	kr_str_json(out, head->level, strlen(head->level));
	kr_str_format(out, ",\"order\":\"%s\",", kr_order_name(head->order));
	switch (cert->kind) {
	case KR_CERT_ORDER:
	case KR_CERT_SNAPSHOTS: print_serial(h, cert, out); break;
	case KR_CERT_WORLD:
		print_serial(h, cert, out);
		print_sources(h, cert, out);
		break;
	case KR_CERT_ANOMALY:
	case KR_CERT_REPLAY: print_anomaly(h, cert, out); break;
	case KR_CERT_CYCLES: print_cycles(h, cert, out); break;
	}
	kr_str_add(out, "}\n");
}
