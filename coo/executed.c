/* Pairs by versions and intervals (executed.h): every two accesses of an object are looked at. */
#include "coo/executed.h"

#include "base/order.h"

/* How a pair is called whose first operation is `p`'s, of a transaction with this fate, and whose second one
 * took effect between `from` and `to`. False: there is none, since the first was perhaps undone before. */
static bool kind_of_pair(bool p_writes, bool q_writes, const struct kr_coo_fate *fate, int64_t from,
	int64_t to, bool buffered, enum kr_pop_kind *out)
{
	bool open = fate->how == KR_COO_OPEN || to < fate->from;
	enum kr_pop_kind bare = !p_writes ? KR_POP_RW : q_writes ? KR_POP_WW : KR_POP_WR;
	static const enum kr_pop_kind with_commit[] =
		{[KR_POP_WR] = KR_POP_WCR, [KR_POP_RW] = KR_POP_RCW, [KR_POP_WW] = KR_POP_WCW};

	*out = bare;
	if (fate->how == KR_COO_ABORTED)
		return open && !buffered;
	if (p_writes ? !open || buffered : fate->how == KR_COO_COMMITTED && fate->to <= from)
		*out = with_commit[bare];
	return true;
}

/* p's version is before q's, whichever of those that are possible they saw. */
static bool is_before(const struct kr_coo_access *p, const struct kr_coo_access *q)
{
	if (p->writes && !q->writes)
		return p->most <= q->least;
	return (p->writes || q->writes) && p->most < q->least;
}

struct timed {
	struct kr_pop pop;
	int64_t when;
};

struct pairing {
	struct kr_mem *mem;
	KR_VEC(struct timed) found;
};

static bool push(struct pairing *x, uint8_t from, uint8_t to, enum kr_pop_kind kind,
	const struct kr_coo_access *p, const struct kr_coo_access *q, int64_t when)
{
	struct kr_pop pop = {from, to, (uint8_t)kind, p->object, p->at, q->at, 0};

	return kr_vec_push(x->mem, &x->found, (struct timed){pop, when});
}

static bool pair(struct pairing *x, const struct kr_coo_access *p, const struct kr_coo_access *q,
	const struct kr_coo_fate *fates, bool buffered)
{
	const struct kr_coo_fate *fate = &fates[p->txn];
	enum kr_pop_kind kind;
	bool good = true;

	if (p->txn == q->txn || p->object != q->object || fates[q->txn].how == KR_COO_ABORTED ||
		!is_before(p, q) ||
		!kind_of_pair(p->writes, q->writes, fate, q->from, q->to, buffered, &kind))
		return true;
	good = push(x, p->txn, q->txn, kind, p, q, q->to);
	if (kind == KR_POP_WR && fate->how == KR_COO_ABORTED)
		good = good && push(x, q->txn, p->txn, KR_POP_RA, p, q, fate->to);
	else if (kind == KR_POP_WW && fate->how != KR_COO_OPEN)
		good = good &&
			push(x, q->txn, p->txn, fate->how == KR_COO_ABORTED ? KR_POP_WA : KR_POP_WC, p, q,
				fate->to);
	return good;
}

static int by_time(const void *a, const void *b)
{
	const struct timed *x = a, *y = b;

	return kr_then(KR_ORDER(x->when, y->when),
		kr_then(KR_ORDER(x->pop.q, y->pop.q), KR_ORDER(x->pop.p, y->pop.p)));
}

enum kr_status kr_coo_executed(struct kr_mem *mem, const struct kr_coo_access *accesses, uint32_t n,
	const struct kr_coo_fate fates[KR_COO_TXNS + 1], bool buffered, struct kr_pops *out)
{
	struct pairing x = {.mem = mem};
	bool good = true;

	*out = (struct kr_pops){0};
	for (uint32_t i = 0; i < n && good; i++)
		for (uint32_t k = 0; k < n && good; k++)
			good = pair(&x, &accesses[i], &accesses[k], fates, buffered);
	if (good && x.found.n > 0)
		KR_SORT(x.found.at, x.found.n, by_time);
	for (uint32_t i = 0; i < x.found.n && good; i++) {
		struct timed *t = &x.found.at[i];

		t->pop.at = i > 0 && t->when == x.found.at[i - 1].when ? x.found.at[i - 1].pop.at : i;
		good = kr_vec_push(mem, out, t->pop);
	}
	kr_vec_done(mem, &x.found);
	return good ? KR_OK : KR_NOMEM;
}

enum kr_status kr_coo_executed_classify(struct kr_mem *mem, const struct kr_pops *pops,
	struct kr_coo_anomaly *out, bool *found)
{
	struct kr_coo_anomalies all;
	enum kr_status status = KR_OK;

	*found = kr_coo_classify(pops->at, pops->n, out);
	if (!*found || out->number != 0)
		return KR_OK;
	status = kr_coo_classify_all(mem, pops->at, pops->n, &all);
	for (uint32_t i = 0; i < all.n && out->number == 0; i++)
		if (all.at[i].number != 0)
			*out = all.at[i];
	kr_vec_done(mem, &all);
	return status;
}
