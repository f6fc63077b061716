/* Any serial order, for small traces of which the analysis leaves something out: in which order the lines of
 * a trace stand must not matter. Depth first over the orders that keep to sessions where they count; a
 * beginning that, run again (rerun.h), shows something else than the trace says begins no order. What is
 * whole goes to the verifier, which alone says whether it proves the level. Transactions of unknown outcome
 * may stand anywhere or be left out. Cost: exponential, so bounded in transactions and steps; within the
 * bounds every order is tried or ruled out. */
#include "checkers/certify.h"
#include "checkers/check.h"
#include "checkers/rerun.h"

enum { TXNS_MOST = 12, STEPS_MOST = 20000 };

struct sought {
	struct kr_ctx *ctx;
	const struct kr_history *h;
	struct kr_certificate *cert;
	kr_txn txns[TXNS_MOST], chosen[TXNS_MOST];
	uint32_t next[TXNS_MOST + 1]; /* per depth: the first of txns that was not tried there */
	uint32_t n, depth, committed, steps;
};

static bool is_chosen(const struct sought *s, kr_txn t)
{
	for (uint32_t i = 0; i < s->depth; i++)
		if (s->chosen[i].i == t.i)
			return true;
	return false;
}

/* May t come next? */
static bool is_due(const struct sought *s, kr_txn t)
{
	const struct kr_transaction *txn = &s->h->txns.at[t.i];
	bool due = !is_chosen(s, t);

	for (uint32_t i = 0;
		i < s->n && due && s->cert->order >= KR_ORDER_SESSION && txn->session.i != KR_NONE; i++) {
		const struct kr_transaction *other = &s->h->txns.at[s->txns[i].i];
		due = s->txns[i].i >= t.i || other->session.i != txn->session.i ||
			other->status != KR_COMMITTED || is_chosen(s, s->txns[i]);
	}
	return due;
}

/* Puts the next one that may come there on the end; false: there is none. */
static bool go_on(struct sought *s)
{
	for (uint32_t *next = &s->next[s->depth]; *next < s->n;) {
		kr_txn t = s->txns[(*next)++];
		if (!is_due(s, t))
			continue;
		s->chosen[s->depth++] = t;
		s->committed += s->h->txns.at[t.i].status == KR_COMMITTED;
		s->next[s->depth] = 0;
		return true;
	}
	return false;
}

static void go_back(struct sought *s)
{
	s->committed -= s->h->txns.at[s->chosen[--s->depth].i].status == KR_COMMITTED;
}

static enum kr_status proves(struct sought *s, bool *found)
{
	kr_vec_clear(&s->cert->serial);
	for (uint32_t i = 0; i < s->depth; i++)
		KR_TRY(kr_vec_add(s->cert->mem, &s->cert->serial, s->chosen[i]));
	return kr_check_fits(s->ctx, s->h, s->cert, (struct kr_question){s->cert->level, s->cert->order},
		found);
}

/* False: there are too many. */
static bool list_txns(struct sought *s, uint32_t *all)
{
	*all = 0;
	for (uint32_t t = 0; t < s->h->txns.n; t++) {
		if (s->h->txns.at[t].status == KR_ABORTED)
			continue;
		if (s->n == TXNS_MOST)
			return false;
		*all += s->h->txns.at[t].status == KR_COMMITTED;
		s->txns[s->n++] = (kr_txn){t};
	}
	return true;
}

enum kr_status kr_certify_any_order(struct kr_ctx *ctx, const struct kr_history *h,
	struct kr_certificate *cert, bool *found)
{
	struct sought s = {.ctx = ctx, .h = h, .cert = cert};
	struct kr_rerun_end end = {.kind = KR_RERUN_SAME};
	uint32_t all;

	*found = false;
	cert->kind = KR_CERT_ORDER;
	if (!list_txns(&s, &all))
		return KR_OK;
	while (!*found && s.steps++ < STEPS_MOST) {
		KR_TRY(kr_rerun(ctx, h, s.chosen, s.depth, &end));
		if (end.kind != KR_RERUN_DIFFERS && s.committed == all)
			KR_TRY(proves(&s, found));
		if (end.kind != KR_RERUN_DIFFERS && go_on(&s))
			continue;
		do {
			if (s.depth == 0)
				return KR_OK;
			go_back(&s);
		} while (!go_on(&s));
	}
	return KR_OK;
}
