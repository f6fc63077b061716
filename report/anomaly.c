/* Names of cyclic anomalies, as data: each name is a set of conditions on a cycle, and the first name that all cycles of the refutation justify is its name (G2 holds of every cycle that a level can forbid). A
 * cycle justifies a name whose conditions it meets, and one of which it is known that it breaks all levels that such a cycle breaks: without rw, any but G0. One cycle is in every world. Of several, each world
 * has one at least; so every level that the name breaks is violated, whichever world it is, and which cycle closes the argument does not matter. Session and real-time edges count for no name but give its
 * suffix. Of rw(k), rw(k) by two who read and wrote k, one is answered by ww(k), whichever wrote first: a lost update, too. Cost: the cycles' length times the number of names. */
#include "report/anomaly.h"

#include <stdio.h>

enum keys { KEYS_ANY, KEYS_SAME, KEYS_DIFFERENT };

#define FORM_MOST 4
#define ANY_NUMBER UINT32_MAX

struct cycle_name {
	const char *name;
	uint32_t forbidden; /* kinds of which there is no edge */
	uint32_t rw_most;
	bool lonely;             /* no two rw next to each other */
	bool item_only;          /* no predicate rw */
	bool both_read;          /* every transaction reads the key of the first edge */
	enum keys keys;          /* of the edges of a form */
	uint8_t length;          /* of `form`; 0: edges of any kind and number */
	uint8_t form[FORM_MOST]; /* the kinds in turn, from some edge on */
	bool by_overwriting;     /* rw and ww of two transactions justify it, too */
};

#define WR_WW (KR_BIT(KR_WR) | KR_BIT(KR_WW))

static const struct cycle_name names[] = {
	{.name = "G0", .forbidden = KR_BIT(KR_WR) | KR_BIT(KR_RW)},
	{.name = "G1c", .forbidden = KR_BIT(KR_RW)},
	{.name = "lost update", .rw_most = 2, .both_read = true, .keys = KEYS_SAME, .length = 2, .form = {KR_RW, KR_WW}},
	{.name = "lost update", .rw_most = 2, .both_read = true, .keys = KEYS_SAME, .length = 2, .form = {KR_RW, KR_RW}},
	{.name = "G-single", .rw_most = 1},
	{.name = "long fork", .rw_most = 2, .length = 4, .form = {KR_WR, KR_RW, KR_WR, KR_RW}},
	{.name = "G-nonadjacent", .rw_most = ANY_NUMBER, .lonely = true},
	{.name = "write skew", .rw_most = 2, .keys = KEYS_DIFFERENT, .length = 2, .form = {KR_RW, KR_RW}, .by_overwriting = true},
	{.name = "G2-item", .rw_most = ANY_NUMBER, .item_only = true},
	{.name = "G2", .rw_most = ANY_NUMBER},
};

struct shape { /* of a cycle */
	const struct kr_cert_edge *edges;
	uint32_t n;
	uint32_t kinds; /* set of KR_BIT(enum kr_edge_kind) */
	uint32_t rw;
	bool adjacent;  /* some rw follows an rw */
	bool predicate; /* some rw is a predicate one */
};

static struct shape shape_of(const struct kr_cert_edge *edges, uint32_t n)
{
	struct shape s = {.edges = edges, .n = n};

	for (uint32_t i = 0; i < n; i++) {
		s.kinds |= KR_BIT(edges[i].kind);
		if (edges[i].kind != KR_RW)
			continue;
		s.rw++;
		s.predicate |= edges[i].predicate;
		s.adjacent |= edges[(i + 1) % n].kind == KR_RW;
	}
	return s;
}

static bool keys_fit(const struct shape *s, enum keys keys)
{
	if (keys == KEYS_ANY)
		return true;
	for (uint32_t i = 0; i + 1 < s->n; i++)
		for (uint32_t j = i + 1; j < s->n; j++)
			if ((s->edges[i].key.i == s->edges[j].key.i) != (keys == KEYS_SAME))
				return false;
	return true;
}

static bool form_fits(const struct shape *s, const uint8_t *form, uint32_t length)
{
	if (s->n != length)
		return false;
	for (uint32_t from = 0; from < s->n; from++) {
		uint32_t i = 0;
		while (i < s->n && s->edges[(from + i) % s->n].kind == form[i])
			i++;
		if (i == s->n)
			return true;
	}
	return false;
}

static bool all_read(const struct kr_history *h, const struct shape *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (!kr_words_reads(h, s->edges[i].from, s->edges[0].key))
			return false;
	return true;
}

static bool fits(const struct kr_history *h, const struct shape *s, const struct cycle_name *name)
{
	if (name->length > 0 && (!form_fits(s, name->form, name->length) || !keys_fit(s, name->keys)))
		return false;
	if (name->length == 0 && ((s->kinds & name->forbidden) != 0 || s->rw > name->rw_most))
		return false;
	if ((name->lonely && s->adjacent) || (name->item_only && s->predicate))
		return false;
	return !name->both_read || all_read(h, s);
}

/* Is the cycle of this name, or does it break every level that one of this name breaks? */
static bool justifies(const struct kr_history *h, const struct shape *s, const struct cycle_name *name)
{
	static const uint8_t overwriting[] = {KR_RW, KR_WW};

	if (fits(h, s, name) || (s->rw == 0 && !(name->forbidden & KR_BIT(KR_WR))))
		return true;
	return name->by_overwriting && form_fits(s, overwriting, KR_COUNT(overwriting));
}

static bool all_justify(const struct kr_history *h, const struct kr_certificate *cert, uint32_t first, const struct cycle_name *name)
{
	for (uint32_t c = first; c < cert->cycles.n; c++) {
		struct shape s = shape_of(cert->edges.at + cert->cycles.at[c].first, cert->cycles.at[c].count);
		if (!justifies(h, &s, name))
			return false;
	}
	return true;
}

/* Of the cycles from `first` on. */
static const char *name_of_cycles(const struct kr_history *h, const struct kr_certificate *cert, uint32_t first)
{
	size_t i = 0;

	while (i + 1 < KR_COUNT(names) && !all_justify(h, cert, first, &names[i]))
		i++;
	return names[i].name;
}

const char *kr_anomaly_last(const struct kr_history *h, const struct kr_certificate *cert) { return name_of_cycles(h, cert, cert->cycles.n - 1); }

const char *kr_anomaly_base(const struct kr_history *h, const struct kr_certificate *cert, const char **suffix)
{
	uint32_t kinds = 0;

	for (uint32_t c = 0; cert->kind == KR_CERT_CYCLES && c < cert->cycles.n; c++)
		kinds |= shape_of(cert->edges.at + cert->cycles.at[c].first, cert->cycles.at[c].count).kinds;
	*suffix = kinds & KR_BIT(KR_RT) ? "-realtime" : kinds & KR_BIT(KR_SO) ? "-session" : "";
	if (cert->kind == KR_CERT_ANOMALY)
		return kr_anomaly_name(cert->anomaly.kind);
	if (cert->kind == KR_CERT_REPLAY)
		return "difference";
	enum kr_torn torn = kr_anomaly_torn(cert);
	if (torn == KR_TORN_SEVERAL)
		return kr_anomaly_name(KR_INCOMPATIBLE_ORDER);
	return cert->cycles.n == 0 || torn == KR_TORN_ONE ? "unexplained reads" : name_of_cycles(h, cert, 0);
}

void kr_report_anomaly(const struct kr_history *h, const struct kr_certificate *cert, char out[KR_ANOMALY_NAME_SIZE])
{
	const char *suffix, *base = kr_anomaly_base(h, cert, &suffix);

	(void)snprintf(out, KR_ANOMALY_NAME_SIZE, "%s%s", base, suffix);
}
