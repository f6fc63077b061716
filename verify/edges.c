/* Edge by edge, from the definitions of the dependencies: so and rt from sessions and clocks; ww when both
 * transactions wrote the key; wr and rw when the observation was made before the observer wrote the key
 * itself and its candidate set holds the version named as source. A predicate rw only counts where the later
 * version would have changed the match. Whether the guard holds is not asked here (cases.c). Cost: a few
 * binary searches; for predicate reads a search among their rows. */
#include "verify/edges.h"

#include <stdarg.h>
#include <stdio.h>

struct place {
	struct kr_verifier *v;
	const struct kr_facts *f;
	const struct kr_cert_edge *e;
	uint32_t cycle, edge;
};

__attribute__((format(printf, 2, 3))) static enum kr_status bad(const struct place *p, const char *format,
	...)
{
	const struct kr_history *h = p->v->h;
	char why[320];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(why, sizeof why, format, args);
	va_end(args);
	return kr_err_set(p->v->err, KR_BAD, "cycle %u, edge %u: %s -%s-> %s: %s", (unsigned)p->cycle + 1,
		(unsigned)p->edge + 1, kr_verify_txn_name(h, p->e->from).text, kr_edge_name(p->e->kind),
		kr_verify_txn_name(h, p->e->to).text, why);
}

static bool is_txn(const struct place *p, kr_txn t) { return t.i < p->v->h->txns.n; }

static uint8_t status_of(const struct place *p, kr_txn t) { return p->v->h->txns.at[t.i].status; }

/* ---- the ends ---- */

static enum kr_status check_ends(const struct place *p)
{
	const struct kr_cert_edge *e = p->e;

	if (e->kind >= KR_PROGRAM || !is_txn(p, e->from) || !is_txn(p, e->to))
		return kr_err_set(p->v->err, KR_BAD,
			"cycle %u, edge %u: no such kind of edge or no such transaction",
			(unsigned)p->cycle + 1, (unsigned)p->edge + 1);
	if (e->from.i == e->to.i)
		return bad(p, "expected two transactions");
	for (int i = 0; i < 2; i++)
		if (status_of(p, i ? e->to : e->from) == KR_ABORTED)
			return bad(p, "%s was aborted",
				kr_verify_txn_name(p->v->h, i ? e->to : e->from).text);
	return KR_OK;
}

/* ---- so, rt ---- */

static enum kr_status check_order_edge(const struct place *p)
{
	const struct kr_history *h = p->v->h;
	const struct kr_transaction *from = &h->txns.at[p->e->from.i], *to = &h->txns.at[p->e->to.i];
	int64_t end;

	if (from->status == KR_UNKNOWN)
		return bad(p, "%s has no known outcome, so it may take effect later",
			kr_verify_txn_name(h, p->e->from).text);
	if (p->e->kind == KR_SO) {
		if (from->session.i == KR_NONE || from->session.i != to->session.i)
			return bad(p, "they are not of one session");
		return p->e->from.i < p->e->to.i ? KR_OK : bad(p, "the session has them the other way round");
	}
	if (!(from->flags & KR_TXN_HAS_END) || !(to->flags & KR_TXN_HAS_BEGIN))
		return bad(p, "the trace does not tell these times");
	if (__builtin_add_overflow(from->end_returned, h->clock_skew, &end) || end >= to->begin_invoked)
		return bad(p, "%s had not returned when %s was invoked",
			kr_verify_txn_name(h, p->e->from).text, kr_verify_txn_name(h, p->e->to).text);
	return KR_OK;
}

/* ---- ww, wr, rw ---- */

static enum kr_status check_writes(const struct place *p, kr_txn t)
{
	const struct kr_history *h = p->v->h;

	if (kr_facts_version(p->f, p->e->key, t))
		return KR_OK;
	return bad(p, "%s does not write %s", kr_verify_txn_name(h, t).text,
		kr_verify_key_name(h, p->e->key).text);
}

/* The observation that the edge names, which must be external. */
static enum kr_status check_observation(const struct place *p, struct kr_sight *sight)
{
	const struct kr_history *h = p->v->h;
	kr_txn t = kr_edge_observer(p->e);
	kr_name name = kr_verify_txn_name(h, t), key = kr_verify_key_name(h, p->e->key);
	const char *wrong = NULL;
	enum kr_status status = KR_OK;

	if (p->e->op >= h->txns.at[t.i].op_count)
		return bad(p, "%s has no operation %u", name.text, (unsigned)p->e->op);
	if (!kr_facts_sight(p->f, t, p->e->op, p->e->key, p->e->part, sight)) {
		if (sight->saw.test == KR_SAW_NOTHING)
			return bad(p, "operation %u of %s saw nothing of %s", (unsigned)p->e->op, name.text,
				key.text);
		return bad(p, "at operation %u %s had written %s itself", (unsigned)p->e->op, name.text,
			key.text);
	}
	if (sight->saw.predicate != p->e->predicate)
		return bad(p, "operation %u of %s is %s observation of %s", (unsigned)p->e->op, name.text,
			sight->saw.predicate ? "a predicate" : "an item", key.text);
	if (kr_facts_grows(p->f, p->e->key))
		status = kr_grow_check_part(p->f, sight, &wrong);
	else if (p->e->part.i != KR_NONE)
		wrong = "the key has no parts";
	return status == KR_OK && wrong ? bad(p, "%s", wrong) : status;
}

static enum kr_status check_source(const struct place *p, const struct kr_sight *sight, kr_txn writer)
{
	const struct kr_history *h = p->v->h;
	bool holds;

	if (writer.i != KR_NONE && (!is_txn(p, writer) || status_of(p, writer) == KR_ABORTED))
		return bad(p, "the source is no transaction that can have taken effect");
	enum kr_status status = kr_facts_candidate(p->f, sight, writer, &holds, p->v->err);
	if (status != KR_OK || holds)
		return status;
	return bad(p, "operation %u of %s cannot have seen %s by %s", (unsigned)p->e->op,
		kr_verify_txn_name(h, kr_edge_observer(p->e)).text, kr_verify_key_name(h, p->e->key).text,
		kr_verify_txn_name(h, writer).text);
}

/* Whether the version of `to` comes after the source and, for a predicate observation, would have changed the
 * match. */
static enum kr_status check_overwritten(const struct place *p, const struct kr_sight *sight)
{
	const struct kr_history *h = p->v->h;
	KR_TRY(check_writes(p, p->e->to));
	bool touches = true, holds = false;

	if (p->e->source.i == p->e->to.i)
		return bad(p, "a version does not come before itself");
	if (kr_facts_grows(p->f, p->e->key))
		KR_TRY(kr_grow_touches(p->f, sight, p->e->to, &touches));
	if (!touches)
		return bad(p, "%s does not touch that part of %s", kr_verify_txn_name(h, p->e->to).text,
			kr_verify_key_name(h, p->e->key).text);
	if (sight->saw.predicate)
		KR_TRY(kr_facts_candidate(p->f, sight, p->e->to, &holds, p->v->err));
	if (holds)
		return bad(p, "%s by %s does not change what the predicate read returned",
			kr_verify_key_name(h, p->e->key).text, kr_verify_txn_name(h, p->e->to).text);
	return KR_OK;
}

enum kr_status kr_edge_check(struct kr_verifier *v, const struct kr_facts *f, const struct kr_cert_edge *e,
	uint32_t cycle, uint32_t edge, struct kr_sight *sight)
{
	const struct place p = {v, f, e, cycle, edge};
	KR_TRY(check_ends(&p));

	if (e->kind == KR_SO || e->kind == KR_RT)
		return check_order_edge(&p);
	if (e->key.i >= v->h->keys.n)
		return bad(&p, "no such key");
	if (e->kind == KR_WW) {
		KR_TRY(check_writes(&p, e->from));
		return check_writes(&p, e->to);
	}
	KR_TRY(check_observation(&p, sight));
	KR_TRY(check_source(&p, sight, e->kind == KR_WR ? e->from : e->source));
	if (e->kind == KR_RW)
		KR_TRY(check_overwritten(&p, sight));
	return KR_OK;
}
