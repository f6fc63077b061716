/* Whether a cycle of a certificate is one that its level forbids: it must meet every demand of one of the
 * level's patterns (levels.c). That its edges are what they claim is checked before (edges.c). Cost: linear
 * in the cycle, but for transactions whose writes have to be looked for. */
#include <stdio.h>

#include "verify/saw.h"
#include "verify/verifier.h"

struct matching {
	const struct kr_verifier *v;
	const struct kr_rule_cycle *rule;
	const struct kr_cert_edge *edges;
	uint32_t count;
};

bool kr_verify_is_reader(const struct kr_history *h, kr_txn t)
{
	for (uint32_t i = 0; i < h->txns.at[t.i].op_count; i++)
		if (kr_effect_count(h, &h->ops.at[kr_history_op(h, t, i).i]) > 0)
			return false;
	return true;
}

/* t -rw-> b -ww-> t, where t saw the version by a read of its own key. */
static bool forbids_lost_updates(const struct kr_rule_cycle *cycle)
{
	const uint32_t both = KR_BIT(KR_WW) | KR_BIT(KR_RW);

	return (cycle->kinds & both) == both && cycle->sight == KR_RULE_ANY &&
		(!cycle->before_rw || cycle->before_rw & KR_BIT(KR_WW));
}

bool kr_rule_forbids_lost_updates(const struct kr_rule *rule, const struct kr_history *h)
{
	bool loose = false;

	for (uint32_t i = 0; i < h->attrs.n && !loose; i++)
		loose = !h->attrs.at[i].cursor;
	for (size_t i = 0; i < KR_COUNT(rule->cycles); i++)
		if (forbids_lost_updates(&rule->cycles[i]) && !(rule->cycles[i].cursor && loose))
			return true;
	return false;
}

static const struct kr_cert_edge *edge_before(const struct matching *m, uint32_t i)
{
	return &m->edges[i ? i - 1 : m->count - 1];
}

static uint32_t order_kinds(const struct matching *m)
{
	if (m->rule->no_order || m->v->cert->order == KR_ORDER_NONE)
		return 0;
	return m->v->cert->order == KR_ORDER_SESSION ? KR_BIT(KR_SO) : KR_BIT(KR_SO) | KR_BIT(KR_RT);
}

static const char *wrong_rw(const struct matching *m, uint32_t i)
{
	const struct kr_cert_edge *e = &m->edges[i], *before = edge_before(m, i);
	const struct kr_rule_cycle *rule = m->rule;

	if (rule->item && e->predicate)
		return "an rw of keys that a predicate read did not return";
	if (rule->cursor && kr_history_is_loose(m->v->h, kr_history_op(m->v->h, e->from, e->op)))
		return "an rw of a read that was not through a cursor";
	if (rule->before_rw && !((rule->before_rw | order_kinds(m)) & KR_BIT(before->kind)))
		return "an rw after an edge that none may follow";
	if (rule->sight == KR_RULE_ANY)
		return NULL;
	if (before->kind != KR_WR)
		return "an rw that does not come after a wr";
	return before->op < e->op + (rule->sight == KR_RULE_NOT_AFTER)
		? NULL
		: "a wr that was seen later than what was overwritten";
}

/* The version of a part that was seen need not be the version of the key that was: that one may come later
 * and have left the part as it was. Where ww counts as wr does, and a cycle may be as long as it is, ww leads
 * there; else the cycle needs that the version of the key is the one that the edge comes from. */
static bool needs_whole(const struct matching *m)
{
	for (uint32_t i = 0; i < m->count; i++)
		if (m->edges[i].kind == KR_WR && m->edges[i].part.i != KR_NONE &&
			(m->rule->pair || !(m->rule->kinds & KR_BIT(KR_WW))))
			return true;
	return false;
}

static const char *wrong_edge(const struct matching *m, uint32_t i)
{
	const struct kr_cert_edge *e = &m->edges[i];
	const struct kr_rule_cycle *rule = m->rule;

	if (!((rule->kinds | order_kinds(m)) & KR_BIT(e->kind)))
		return "an edge of another kind";
	if (rule->lonely & KR_BIT(e->kind) && rule->lonely & KR_BIT(edge_before(m, i)->kind))
		return "two rw in a row";
	if (rule->same_key && e->key.i != m->edges[0].key.i)
		return "edges of several keys";
	return e->kind == KR_RW ? wrong_rw(m, i) : NULL;
}

static bool met_before(const struct matching *m, uint32_t i)
{
	for (uint32_t j = 0; j < i; j++)
		if (m->edges[j].from.i == m->edges[i].from.i)
			return true;
	return false;
}

static bool has_two_readers(const struct matching *m)
{
	uint32_t readers = 0;

	for (uint32_t i = 0; i < m->count && readers < 2; i++)
		readers += kr_verify_is_reader(m->v->h, m->edges[i].from) && !met_before(m, i);
	return readers > 1;
}

/* NULL: the cycle meets the pattern; else what does not. */
static const char *mismatch(const struct matching *m)
{
	const char *why = NULL;
	uint32_t rw = 0;

	if (m->rule->pair && m->count != 2)
		return "more than two edges";
	for (uint32_t i = 0; i < m->count && !why; i++) {
		rw += m->edges[i].kind == KR_RW;
		why = wrong_edge(m, i);
	}
	if (!why && m->rule->one_rw && rw != 1)
		return "not exactly one rw";
	if (!why && m->rule->one_reader && has_two_readers(m))
		return "two transactions that write nothing";
	return why;
}

bool kr_cert_is_tear(const struct kr_cert_edge *edges, uint32_t count)
{
	const struct kr_cert_edge *rw = NULL, *wr = NULL;
	uint32_t ww = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct kr_cert_edge *e = &edges[i];
		if (e->key.i != edges[0].key.i)
			return false;
		rw = e->kind == KR_RW ? e : rw;
		wr = e->kind == KR_WR ? e : wr;
		ww += e->kind == KR_WW;
	}
	return rw && wr && ww + 2 == count && rw->from.i == wr->to.i && rw->op == wr->op;
}

enum kr_status kr_verify_pattern(struct kr_verifier *v, uint32_t cycle, bool *whole)
{
	const struct kr_cert_cycle *range = &v->cert->cycles.at[cycle];
	struct matching m = {v, NULL, &v->cert->edges.at[range->first], range->count};
	const char *why = NULL;
	char all[256] = "";
	size_t n = 0;

	*whole = false;
	if (v->rule->cycles[0].kinds & KR_BIT(KR_WR) && kr_cert_is_tear(m.edges, m.count))
		return KR_OK;
	for (size_t i = 0; i < KR_COUNT(v->rule->cycles) && v->rule->cycles[i].kinds; i++) {
		m.rule = &v->rule->cycles[i];
		if (!(why = mismatch(&m))) {
			*whole = needs_whole(&m);
			return KR_OK;
		}
		/* has the room: no reason is longer than 50 bytes */
		n += (size_t)snprintf(all + n, sizeof all - n, "%s%s", i ? ", and " : "", why);
	}
	return kr_err_set(v->err, KR_BAD, "cycle %u is not one that %s with order %s forbids: it has %s",
		(unsigned)cycle + 1, v->rule->id, kr_order_name(v->cert->order), all);
}
