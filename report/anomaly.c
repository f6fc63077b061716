/* Names of cyclic anomalies, as data: each name is a set of conditions on the cycle that was found, and the first name whose conditions hold is the
 * one (G2 holds of every cycle that a level can forbid). Cost: the cycle's length times the number of names.
 *
 * Two transactions that read and wrote k count as a lost update also when the cycle is rw(k), rw(k): whichever of the two writes came first, the other
 * transaction read an older version and overwrote it. Session and real-time edges count for no name but give its suffix. */
#include "report/anomaly.h"

#include <stdio.h>

enum keys { KEYS_ANY, KEYS_SAME, KEYS_DIFFERENT };

#define FORM_MOST 4
#define ANY_NUMBER UINT32_MAX

struct cycle_name {
	const char *name;
	uint32_t forbidden; /* kinds of which there is no edge */
	uint32_t rw_least, rw_most;
	bool lonely;             /* no two rw next to each other */
	bool item_only;          /* no predicate rw */
	bool both_read;          /* every transaction reads the key of the first edge */
	enum keys keys;          /* of the edges of a form */
	uint8_t length;          /* of `form`; 0: edges of any kind and number */
	uint8_t form[FORM_MOST]; /* the kinds in turn, from some edge on */
};

#define WR_WW (KR_BIT(KR_WR) | KR_BIT(KR_WW))

static const struct cycle_name names[] = {
	{.name = "G0", .forbidden = KR_BIT(KR_WR) | KR_BIT(KR_RW)},
	{.name = "G1c", .forbidden = KR_BIT(KR_RW)},
	{.name = "lost update", .rw_most = 2, .both_read = true, .keys = KEYS_SAME, .length = 2, .form = {KR_RW, KR_WW}},
	{.name = "lost update", .rw_most = 2, .both_read = true, .keys = KEYS_SAME, .length = 2, .form = {KR_RW, KR_RW}},
	{.name = "G-single", .rw_least = 1, .rw_most = 1},
	{.name = "long fork", .rw_most = 2, .length = 4, .form = {KR_WR, KR_RW, KR_WR, KR_RW}},
	{.name = "G-nonadjacent", .rw_least = 2, .rw_most = ANY_NUMBER, .lonely = true},
	{.name = "write skew", .rw_most = 2, .keys = KEYS_DIFFERENT, .length = 2, .form = {KR_RW, KR_RW}},
	{.name = "G2-item", .rw_least = 1, .rw_most = ANY_NUMBER, .item_only = true},
	{.name = "G2", .rw_least = 1, .rw_most = ANY_NUMBER},
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

static bool form_fits(const struct shape *s, const struct cycle_name *name)
{
	if (s->n != name->length)
		return false;
	for (uint32_t from = 0; from < s->n; from++) {
		uint32_t i = 0;
		while (i < s->n && s->edges[(from + i) % s->n].kind == name->form[i])
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
	if (name->length > 0 && (!form_fits(s, name) || !keys_fit(s, name->keys)))
		return false;
	if (name->length == 0 && ((s->kinds & name->forbidden) != 0 || s->rw < name->rw_least || s->rw > name->rw_most))
		return false;
	if ((name->lonely && s->adjacent) || (name->item_only && s->predicate))
		return false;
	return !name->both_read || all_read(h, s);
}

const char *kr_anomaly_base(const struct kr_history *h, const struct kr_certificate *cert, const char **suffix)
{
	*suffix = "";
	if (cert->kind == KR_CERT_ANOMALY)
		return kr_anomaly_name(cert->anomaly.kind);
	if (cert->kind == KR_CERT_REPLAY)
		return "difference";
	if (cert->cycles.n == 0)
		return "unexplained reads";

	struct kr_cert_cycle last = cert->cycles.at[cert->cycles.n - 1];
	struct shape s = shape_of(cert->edges.at + last.first, last.count);
	size_t i = 0;

	*suffix = s.kinds & KR_BIT(KR_RT) ? "-realtime" : s.kinds & KR_BIT(KR_SO) ? "-session" : "";
	while (i + 1 < KR_COUNT(names) && !fits(h, &s, &names[i]))
		i++;
	return names[i].name;
}

void kr_report_anomaly(const struct kr_history *h, const struct kr_certificate *cert, char out[KR_ANOMALY_NAME_SIZE])
{
	const char *suffix, *base = kr_anomaly_base(h, cert, &suffix);

	(void)snprintf(out, KR_ANOMALY_NAME_SIZE, "%s%s", base, suffix);
}
