/* Reads of sets, counters and lists that no order of their changes explains: each cycle of the refutation is
 * one read that saw an older part of a key beside a newer one, or says that there is an order. One such read
 * saw what never was; of several, each fits some order, and they do not fit one. Cost: cycles times reads. */
#include "report/anomaly.h"

enum { TOLD_MOST = 4 };

struct torn {
	const struct kr_cert_edge *reads[TOLD_MOST]; /* one of each operation */
	uint32_t n;
	bool more, keys; /* there are more of them; of several keys */
};

static void take(struct torn *t, const struct kr_cert_edge *rw)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (t->reads[i]->from.i == rw->from.i && t->reads[i]->op == rw->op)
			return;
	if (t->n < TOLD_MOST)
		t->reads[t->n++] = rw;
	else
		t->more = true;
	t->keys |= t->reads[0]->key.i != rw->key.i;
}

/* That versions of a key are in some order. */
static bool orders_one_key(const struct kr_cert_edge *edges, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (edges[i].kind != KR_WW || edges[i].key.i != edges[0].key.i)
			return false;
	return true;
}

static bool collect(const struct kr_certificate *cert, struct torn *out)
{
	*out = (struct torn){.n = 0};
	for (uint32_t c = 0; cert->kind == KR_CERT_CYCLES && c < cert->cycles.n; c++) {
		const struct kr_cert_edge *edges = &cert->edges.at[cert->cycles.at[c].first];
		uint32_t rw = 0;
		if (orders_one_key(edges, cert->cycles.at[c].count))
			continue;
		if (!kr_cert_is_tear(edges, cert->cycles.at[c].count))
			return false;
		while (edges[rw].kind != KR_RW)
			rw++;
		take(out, &edges[rw]);
	}
	return out->n > 0;
}

enum kr_torn kr_anomaly_torn(const struct kr_certificate *cert)
{
	struct torn t;

	return !collect(cert, &t) ? KR_TORN_NOT : t.n == 1 ? KR_TORN_ONE : KR_TORN_SEVERAL;
}

void kr_say_torn(const struct kr_words *w, const struct kr_certificate *cert)
{
	struct torn t;

	if (!collect(cert, &t))
		return;
	kr_str_add(w->out, "No order of the changes to ");
	if (t.keys)
		kr_str_add(w->out, "keys");
	else
		kr_words_key(w, t.reads[0]->key);
	kr_str_add(w->out, " explains that ");
	for (uint32_t i = 0; i < t.n; i++) {
		kr_str_add(w->out, i == 0 ? "" : i + 1 == t.n && !t.more ? " and " : ", ");
		kr_words_say(w, "{0} {saw 0}", kr_said_edge(w->h, t.reads[i]));
	}
	kr_str_add(w->out, t.more ? " and what others saw" : "");
}
