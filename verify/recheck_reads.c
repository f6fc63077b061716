/* Findings about reads: nothing explains what was seen, and the class is what the writes of the key say. */
#include "verify/recheck.h"

/* What of the key's writes was met. */
struct met {
	bool final, early, own, aborted, intermediate;
};

static void meet_write(const struct kr_recheck *r, kr_txn w, const struct kr_walk *walk, bool later,
	struct met *met)
{
	const struct kr_transaction *txn = &r->h->txns.at[w.i];

	if (w.i == r->f->txns[0].i)
		met->own |= later;
	else if (txn->status == KR_ABORTED || walk->struck)
		met->aborted = true;
	else
		met->intermediate = true;
}

static void meet_all(const struct kr_recheck *r, const struct kr_sighted *s, struct met *met)
{
	kr_key key = r->f->key;

	for (uint32_t i = 0; i < r->versions.n; i++) {
		const struct kr_newly *v = &r->versions.at[i];
		int64_t from = kr_recheck_from(r, v);
		if (v->txn.i == r->f->txns[0].i || !kr_recheck_allows(r, s, key, v->value))
			continue;
		met->final = true;
		met->early |= from <= s->at.to;
	}
	for (uint32_t n = r->writer_first[key.i]; n < r->writer_first[key.i + 1]; n++) {
		kr_txn w = r->writers[n];
		struct kr_walk walk = kr_walk_txn(r->h, w);
		const struct kr_operation *read =
			&r->h->ops.at[kr_history_op(r->h, r->f->txns[0], r->f->ops[0]).i];
		for (bool later = false; kr_walk_next(r->h, &walk); later |= walk.op == read)
			for (uint32_t i = 0; walk.op && i < kr_effect_count(r->h, walk.op); i++) {
				struct kr_written_row e = kr_effect_at(r->h, walk.op, i);
				if (e.key.i == key.i && kr_recheck_allows(r, s, key, e.value))
					meet_write(r, w, &walk, later, met);
			}
	}
}

static bool is_class(enum kr_finding_class what, const struct kr_sighted *s, const struct met *met)
{
	bool any = met->final || met->own || met->aborted || met->intermediate;

	switch (what) {
	case KR_FOUND_OWN_WRITE: return s->own;
	case KR_FOUND_NEVER_WRITTEN: return !s->own && !any;
	case KR_FOUND_UNCOMMITTED: return s->uncommitted && any;
	case KR_FOUND_GARBAGE: return !s->own && met->early;
	case KR_FOUND_FUTURE: return !s->own && !met->early && (met->final || met->own);
	case KR_FOUND_ABORTED: return !s->own && !met->final && met->aborted;
	case KR_FOUND_INTERMEDIATE: return !s->own && !met->final && met->intermediate;
	default: return false;
	}
}

static enum kr_status check_value(struct kr_recheck *r, const struct kr_sighted *s)
{
	const struct kr_newly *only;
	struct met met = {false};

	if (s->own && kr_recheck_allows(r, s, r->f->key, s->own_value))
		return kr_recheck_fail(r, "what was seen is what its own transaction had written");
	if (!s->own && kr_recheck_explained(r, r->f->txns[0], s, r->f->key, &only))
		return kr_recheck_fail(r, "a version that could be seen explains what was seen");
	meet_all(r, s, &met);
	kr_recheck_note_value(r, s); /* of whatever class */
	return is_class(r->f->what, s, &met) ? KR_OK : kr_recheck_fail(r, "the finding is of another class");
}

static enum kr_status check_shared(struct kr_recheck *r, const struct kr_sighted *s)
{
	struct kr_places places = {0};

	if (s->own || !s->shared)
		return kr_recheck_fail(r, "the read shares its snapshot with no other");
	enum kr_status status = kr_recheck_shared(r, r->f->txns[0], r->f->ops[0], &places);
	if (!status && places.n > 0)
		status = kr_recheck_fail(r,
			"there is an instant at which all of the snapshot can have been seen");
	kr_vec_done(&r->ctx->mem, &places);
	return status ? status : kr_recheck_note_clash(r);
}

static enum kr_status check_twice(struct kr_recheck *r)
{
	const struct kr_finding *f = r->f;
	const struct kr_operation *op = &r->h->ops.at[kr_history_op(r->h, f->txns[0], f->ops[0]).i];
	struct kr_saw saw = {.test = KR_SAW_NOTHING};
	struct kr_sighted s;

	if (kr_recheck_times(r, op, f->key) < 2)
		return kr_recheck_fail(r, "the operation returned the key once at most");
	for (uint32_t i = 0; i < kr_saw_count(r->h, op) && r->claims.profile->dup_rows == KR_DUP_OWN; i++) {
		if (kr_saw_key(r->h, op, i).i != f->key.i)
			continue;
		saw = kr_saw_at(r->h, op, i);
		kr_recheck_sight(r, f->txns[0], f->ops[0], f->key, &saw, &s);
		if (s.allowed)
			return kr_recheck_fail(r, "one of the rows is the reader's own");
	}
	return KR_OK;
}

enum kr_status kr_recheck_read(struct kr_recheck *r)
{
	const struct kr_finding *f = r->f;
	struct kr_saw saw = {.test = KR_SAW_VALUE, .value = f->seen};
	struct kr_sighted s;

	if (f->txns[0].i == KR_NONE || f->ops[0] == KR_NONE || f->key.i == KR_NONE)
		return kr_recheck_fail(r, "it names no read");
	if (f->what == KR_FOUND_DUPLICATE_ROW)
		return check_twice(r);
	bool twice =
		kr_recheck_times(r, &r->h->ops.at[kr_history_op(r->h, f->txns[0], f->ops[0]).i], f->key) > 1;
	kr_recheck_sight(r, f->txns[0], f->ops[0], f->key, twice ? &saw : NULL, &s);
	if (!s.says)
		return kr_recheck_fail(r, "the operation says nothing of the key");
	if (f->seen.i != KR_NONE && !s.sum && s.saw.test == KR_SAW_VALUE && s.saw.value.i != f->seen.i)
		return kr_recheck_fail(r, "the operation saw another value");
	KR_TRY(kr_recheck_versions(r, f->key));
	return f->what == KR_FOUND_NO_COMMON_SNAPSHOT ? check_shared(r, &s) : check_value(r, &s);
}
