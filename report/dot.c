/* The anomaly as a graph in the DOT language, in the colours of Elle's pictures (elle.viz): edges by kind,
 * transactions by status. Edges of the closing cycle are solid, those of lemmas and other cases dashed and
 * fewer than EDGES_MOST; none is drawn twice. An edge says why it holds in its tooltip. */
#include "base/order.h"
#include "report/report.h"
#include "report/words.h"

#define EDGES_MOST 200u /* of lemmas; a larger picture tells nothing */

static const char *const colours[KR_EDGE_KINDS] = {[KR_WR] = "#C000A5",
	[KR_WW] = "#C02700",
	[KR_RW] = "#5B00C0",
	[KR_SO] = "#00C0C0",
	[KR_RT] = "#0050C0",
	[KR_PROGRAM] = "#585858"};
static const char *const status_colours[] =
	{[KR_COMMITTED] = "#0058AD", [KR_ABORTED] = "#A50053", [KR_UNKNOWN] = "#AC6E00"};

/* Text inside a quoted DOT string. */
static void add_escaped(struct kr_str *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			kr_str_add(out, "\\");
		if (*text == '\n')
			kr_str_add(out, "\\n");
		else
			kr_str_add_bytes(out, text, 1);
	}
}

/* What `say` appends, escaped. */
struct scratch {
	struct kr_str text;
	struct kr_words w;
};

static void flush(struct scratch *s, struct kr_str *out)
{
	add_escaped(out, kr_str_text(&s->text));
	out->failed |= s->text.failed;
	s->text.n = 0;
	if (s->text.at)
		s->text.at[0] = '\0';
}

static void add_edge(struct scratch *s, const struct kr_cert_edge *e, bool lemma, struct kr_str *out)
{
	kr_str_format(out, "  t%u -> t%u [label=\"%s%s", e->from.i, e->to.i, e->predicate ? "p" : "",
		kr_edge_name((enum kr_edge_kind)e->kind));
	if (e->key.i != KR_NONE) {
		kr_str_add(out, " ");
		kr_words_name(&s->w, s->w.h->keys.at[e->key.i].name);
		flush(s, out);
	}
	kr_str_add(out, "\", tooltip=\"");
	kr_words_edge(&s->w, e, NULL);
	flush(s, out);
	kr_str_format(out, "\", color=\"%s\", fontcolor=\"%s\"%s];\n", colours[e->kind], colours[e->kind],
		lemma ? ", style=dashed" : "");
}

static void add_node(struct scratch *s, kr_txn t, struct kr_str *out)
{
	kr_str_format(out, "  t%u [label=\"", t.i);
	kr_words_txn(&s->w, t);
	flush(s, out);
	kr_str_format(out, "\", color=\"%s\", fontcolor=\"%s\"];\n",
		status_colours[s->w.h->txns.at[t.i].status], status_colours[s->w.h->txns.at[t.i].status]);
}

/* The oldest cycle that is shown. */
static uint32_t first_shown(const struct kr_certificate *cert)
{
	uint32_t last = cert->cycles.n - 1, shown = 0, cycle = last;

	while (cycle > 0 && shown + cert->cycles.at[cycle - 1].count <= EDGES_MOST)
		shown += cert->cycles.at[--cycle].count;
	return cycle;
}

static void add_nodes(struct scratch *s, const struct kr_certificate *cert, uint32_t first,
	struct kr_str *out)
{
	KR_VEC(kr_txn) txns = {0};

	for (uint32_t c = first; c < cert->cycles.n; c++)
		for (uint32_t i = 0; i < cert->cycles.at[c].count; i++)
			if (!kr_vec_push(out->mem, &txns, cert->edges.at[cert->cycles.at[c].first + i].from))
				out->failed = true;
	KR_SORT(txns.at, txns.n, kr_by_id);
	for (uint32_t i = 0; i < txns.n; i++)
		if (i == 0 || txns.at[i].i != txns.at[i - 1].i)
			add_node(s, txns.at[i], out);
	kr_vec_done(out->mem, &txns);
}

/* Does a cycle after edge `at`'s hold the same edge? It has been drawn then. */
static bool is_drawn(const struct kr_certificate *cert, uint32_t at, uint32_t cycle_end)
{
	const struct kr_cert_edge *e = &cert->edges.at[at];

	for (uint32_t i = cycle_end; i < cert->edges.n; i++) {
		const struct kr_cert_edge *o = &cert->edges.at[i];
		if (o->from.i == e->from.i && o->to.i == e->to.i && o->kind == e->kind &&
			o->predicate == e->predicate && o->key.i == e->key.i)
			return true;
	}
	return false;
}

static void add_cycles(struct scratch *s, const struct kr_certificate *cert, struct kr_str *out)
{
	uint32_t first = first_shown(cert), last = cert->cycles.n - 1;

	add_nodes(s, cert, first, out);
	for (uint32_t c = last + 1; c-- > first;) {
		struct kr_cert_cycle cycle = cert->cycles.at[c];
		for (uint32_t i = cycle.first; i < cycle.first + cycle.count; i++)
			if (!is_drawn(cert, i, cycle.first + cycle.count))
				add_edge(s, &cert->edges.at[i], c != last, out);
	}
}

void kr_report_dot(const struct kr_report *r, struct kr_str *out)
{
	struct scratch s = {.w = {.h = r->history}};
	char name[KR_ANOMALY_NAME_SIZE];

	if (kr_report_outcome(r) != KR_VIOLATED)
		return;
	const struct kr_certificate *cert = &r->verdict->certificate;
	kr_str_init(&s.text, out->mem);
	s.w.out = &s.text;
	kr_report_anomaly(r->history, cert, name);

	kr_str_add(out, "digraph krait {\n  label=\"");
	kr_str_shown(&s.text, r->trace);
	flush(&s, out);
	kr_str_format(out,
		"\\n%s: %s\";\n  labelloc=t;\n  node [shape=box, fontname=\"sans-serif\"];\n  edge "
		"[fontname=\"sans-serif\"];\n",
		r->level->id, name);
	if (cert->kind == KR_CERT_ANOMALY || cert->kind == KR_CERT_REPLAY)
		add_node(&s, cert->anomaly.txn, out);
	else if (cert->cycles.n > 0)
		add_cycles(&s, cert, out);
	kr_str_add(out, "}\n");
	kr_str_done(&s.text);
}
