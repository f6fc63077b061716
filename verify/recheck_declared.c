/* Findings of declared classes: each fact that the class cites, and each of its inequalities. */
#include "verify/declared.h"
#include "verify/recheck.h"

static const struct kr_instants *instants_of(const struct kr_recheck *r, uint8_t of)
{
	return kr_recheck_instants(r, r->f->txns[of]);
}

/* Where the instant lies; false: there is none. */
static bool instant_of(const struct kr_recheck *r, struct kr_end end, struct kr_span *out)
{
	const struct kr_instants *i = instants_of(r, end.of);
	kr_txn t = r->f->txns[end.of];

	switch (end.what) {
	case KR_INSTANT_SNAPSHOT: *out = i->snapshot; return i->has_snapshot;
	case KR_INSTANT_BEGIN: *out = i->begin; return true;
	case KR_INSTANT_COMMIT: *out = i->commit; return true;
	case KR_INSTANT_RELEASE: *out = (struct kr_span){i->lives_until, i->rolled_back}; return true;
	case KR_INSTANT_LOCK: *out = kr_recheck_lock(r, t, KR_MODE_X, r->f->key); return out->to != INT64_MAX;
	case KR_INSTANT_STATEMENT:
		if (r->f->ops[end.of] == KR_NONE)
			return false;
		*out = kr_recheck_op(r, t, r->f->ops[end.of]);
		return true;
	case KR_INSTANT_SEEN: break;
	}
	return false;
}

static enum kr_status check_premise(const struct kr_recheck *r, const struct kr_premise *p)
{
	struct kr_span before, after;

	if (!instant_of(r, p->before, &before) || !instant_of(r, p->after, &after) || before.to >= after.from)
		return kr_recheck_fail(r, "one of its instants may not lie before the other");
	kr_recheck_note(r,
		kr_recheck_gap(kr_point_at(p->before.what, r->f->txns[p->before.of], before.to),
			kr_point_at(p->after.what, r->f->txns[p->after.of], after.from)));
	return KR_OK;
}

/* ---- what it cites ---- */

static bool writes(const struct kr_recheck *r, kr_txn t)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->h->txns.at[t.i].op_count; i++)
		n += kr_effect_count(r->h, &r->h->ops.at[kr_history_op(r->h, t, i).i]);
	return n > 0;
}

static bool follows(const struct kr_recheck *r)
{
	kr_txn t = r->f->txns[0], u = r->f->txns[1];
	kr_session s = r->h->txns.at[t.i].session;

	return s.i != KR_NONE && s.i == r->h->txns.at[u.i].session.i && u.i < t.i;
}

/* r->versions are the key's. `saw`: what was read of it, or NULL. */
static bool changes(const struct kr_recheck *r, const struct kr_sighted *saw)
{
	for (uint32_t i = 0; i < r->versions.n; i++) {
		const struct kr_newly *u = &r->versions.at[i];
		bool other = !saw || !saw->saw.predicate || !kr_recheck_allows(r, saw, r->f->key, u->value);
		if (u->txn.i == r->f->txns[1].i && other && !kr_recheck_is_shadow(r, u))
			return true;
	}
	return false;
}

static enum kr_status check_cited(struct kr_recheck *r, unsigned cites)
{
	const struct kr_finding *f = r->f;
	struct kr_sighted s;
	bool keyed = cites & (KR_CITES_KEY | KR_CITES_READ | KR_CITES_CHANGE), reads = cites & KR_CITES_READ;

	if ((keyed && f->key.i == KR_NONE) || (reads && f->ops[0] == KR_NONE))
		return kr_recheck_fail(r, "it names no key, or no read of it");
	if (keyed)
		KR_TRY(kr_recheck_versions(r, f->key));
	if (reads)
		kr_recheck_sight(r, f->txns[0], f->ops[0], f->key, NULL, &s);
	if (reads && (!s.says || s.own || s.insert))
		return kr_recheck_fail(r, "it has seen nothing of the key that counts");
	if (cites & KR_CITES_CHANGE && !changes(r, reads ? &s : NULL))
		return kr_recheck_fail(r, "the second one changed nothing of the key, for certain");
	if (cites & KR_CITES_WRITER && !writes(r, f->txns[0]))
		return kr_recheck_fail(r, "the first one wrote nothing");
	if (cites & KR_CITES_SESSION && !follows(r))
		return kr_recheck_fail(r, "they do not follow each other in one session");
	return KR_OK;
}

enum kr_status kr_recheck_declared(struct kr_recheck *r)
{
	const struct kr_finding *f = r->f;
	const struct kr_declared *d = f->declared;

	if (!d || d->mechanism != f->mechanism || f->txns[0].i == KR_NONE || f->txns[1].i == KR_NONE ||
		f->txns[0].i == f->txns[1].i)
		return kr_recheck_fail(r, "it names no two transactions, or no class of its mechanism");
	if (!d->asked(r->claims.profile))
		return kr_recheck_fail(r, "the profile does not ask for it");
	if (r->h->txns.at[f->txns[0].i].status != KR_COMMITTED ||
		r->h->txns.at[f->txns[1].i].status != KR_COMMITTED)
		return kr_recheck_fail(r, "they did not both commit");
	KR_TRY(check_cited(r, d->cites));
	for (uint32_t i = 0; i < d->premise_count; i++)
		KR_TRY(check_premise(r, &d->premises[i]));
	return KR_OK;
}
