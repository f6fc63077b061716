/* What findings rest on, noted while they are checked (grounds.h). Of what is noted, the first gap is the one
 * that the mechanism does not allow. */
#include "verify/recheck.h"

#define WINDOWS_MOST 12u

struct kr_basis {
	struct kr_recheck r;
};

void kr_grounds_done(struct kr_grounds *g)
{
	if (!g->mem)
		return;
	kr_vec_done(g->mem, &g->gaps);
	kr_vec_done(g->mem, &g->windows);
}

enum kr_status kr_basis_new(struct kr_ctx *ctx, const struct kr_history *h, struct kr_claims claims,
	const struct kr_findings *findings, struct kr_basis **out)
{
	struct kr_basis *b = kr_mem_alloc(&ctx->mem, 1, sizeof *b);

	if (!b)
		return KR_NOMEM;
	b->r = (struct kr_recheck){.ctx = ctx, .h = h, .claims = claims, .findings = findings};
	enum kr_status status = kr_recheck_begin(&b->r);
	if (status)
		kr_basis_free(b);
	else
		*out = b;
	return status;
}

void kr_basis_free(struct kr_basis *b)
{
	if (!b)
		return;
	struct kr_mem *mem = &b->r.ctx->mem;
	kr_recheck_end(&b->r);
	kr_mem_free(mem, b, 1, sizeof *b);
}

struct kr_times kr_basis_times(const struct kr_basis *b, kr_txn t)
{
	const struct kr_instants *at = kr_recheck_instants(&b->r, t);

	return (struct kr_times){at->begin, at->snapshot, at->commit, at->has_snapshot};
}

struct kr_span kr_basis_op(const struct kr_basis *b, kr_txn t, uint32_t op)
{
	return kr_recheck_op(&b->r, t, op);
}

enum kr_status kr_basis_of(struct kr_basis *b, const struct kr_finding *f, struct kr_grounds *out)
{
	*out = (struct kr_grounds){.mem = &b->r.ctx->mem};
	b->r.f = f;
	b->r.grounds = out;
	enum kr_status status = kr_recheck_one(&b->r);
	b->r.grounds = NULL;
	return out->failed ? KR_NOMEM : status;
}

/* ---- notes ---- */

struct kr_gap kr_recheck_gap(struct kr_point before, struct kr_point after)
{
	return (struct kr_gap){.before = before, .after = after, .edge = KR_NONE};
}

struct kr_point kr_recheck_snapshot(const struct kr_recheck *r, kr_txn t, int64_t at)
{
	return kr_point_at(kr_recheck_instants(r, t)->has_snapshot ? KR_INSTANT_SNAPSHOT
								   : KR_INSTANT_STATEMENT,
		t, at);
}

void kr_recheck_note(const struct kr_recheck *r, struct kr_gap gap)
{
	if (r->grounds && !kr_vec_push(r->grounds->mem, &r->grounds->gaps, gap))
		r->grounds->failed = true;
}

void kr_recheck_note_locks(const struct kr_recheck *r, kr_txn t, struct kr_span taken, kr_txn u)
{
	kr_recheck_note(r,
		kr_recheck_gap(kr_point_at(KR_INSTANT_LOCK, t, taken.to),
			kr_point_at(KR_INSTANT_RELEASE, u, kr_recheck_instants(r, u)->lives_until)));
}

void kr_recheck_note_order(const struct kr_recheck *r, const struct kr_newly *v, const struct kr_newly *u,
	uint32_t edge)
{
	struct kr_gap gap = {.basis = true, .edge = edge};

	if (!r->grounds || v->txn.i == KR_NONE)
		return;
	int64_t by = kr_recheck_instants(r, v->txn)->commit.to,
		from = kr_recheck_instants(r, u->txn)->commit.from;
	if (r->h->txns.at[v->txn.i].status == KR_COMMITTED && by < from) {
		gap.before = kr_point_at(KR_INSTANT_COMMIT, v->txn, by);
		gap.after = kr_point_at(KR_INSTANT_COMMIT, u->txn, from);
	} else if (v->lock.to < kr_recheck_instants(r, u->txn)->lives_until) {
		gap.before = kr_point_at(KR_INSTANT_LOCK, v->txn, v->lock.to);
		gap.after =
			kr_point_at(KR_INSTANT_RELEASE, u->txn, kr_recheck_instants(r, u->txn)->lives_until);
	} else {
		return; /* one follows the other in their session */
	}
	kr_recheck_note(r, gap);
}

static void note_window(const struct kr_recheck *r, struct kr_sight_window w)
{
	if (r->grounds->windows.n < WINDOWS_MOST && !kr_vec_push(r->grounds->mem, &r->grounds->windows, w))
		r->grounds->failed = true;
}

/* ---- what was seen ---- */

static struct kr_point sighted_at(const struct kr_recheck *r, const struct kr_sighted *s, int64_t at)
{
	struct kr_point p = kr_recheck_snapshot(r, r->f->txns[0], at);

	if (!s->shared)
		p.what = KR_INSTANT_STATEMENT;
	return p;
}

/* The version that took v's place before the sight; NULL: it cannot be told. */
static const struct kr_newly *replacement(const struct kr_recheck *r, const struct kr_newly *v)
{
	const struct kr_newly *out = NULL;

	for (uint32_t i = 0; i < r->versions.n; i++) {
		const struct kr_newly *u = &r->versions.at[i];
		bool certain = u->txn.i != KR_NONE && u->txn.i != r->f->txns[0].i &&
			r->h->txns.at[u->txn.i].status == KR_COMMITTED;
		if (certain && kr_recheck_precedes(r, v, u) &&
			(!out ||
				kr_recheck_instants(r, u->txn)->commit.to <
					kr_recheck_instants(r, out->txn)->commit.to))
			out = u;
	}
	return out;
}

static void note_gone(const struct kr_recheck *r, const struct kr_sighted *s, const struct kr_newly *v)
{
	const struct kr_newly *u = replacement(r, v);

	if (!u)
		return;
	struct kr_gap gap = kr_recheck_gap(kr_point_at(KR_INSTANT_COMMIT, u->txn,
						   kr_recheck_instants(r, u->txn)->commit.to),
		sighted_at(r, s, s->at.from));
	gap.touches = r->claims.profile->clock == KR_CLOCK_STAMPS;
	kr_recheck_note(r, gap);
	kr_recheck_note_order(r, v, u, KR_NONE);
}

/* Of the versions that would do, the one that came closest. */
static const struct kr_newly *closest(const struct kr_recheck *r, const struct kr_sighted *s, bool early)
{
	const struct kr_newly *out = NULL;

	for (uint32_t i = 0; i < r->versions.n; i++) {
		const struct kr_newly *v = &r->versions.at[i];
		int64_t from = kr_recheck_from(r, v);
		if (v->txn.i == r->f->txns[0].i || !kr_recheck_allows(r, s, r->f->key, v->value) ||
			(from <= s->at.to) != early)
			continue;
		if (!out || (early ? from > kr_recheck_from(r, out) : from < kr_recheck_from(r, out)))
			out = v;
	}
	return out;
}

/* Only an uncommitted read's writer may tell it when it wrote. */
static void note_unwritten(const struct kr_recheck *r, const struct kr_sighted *s)
{
	kr_txn w = r->f->writer;

	for (uint32_t i = 0; r->f->has_writer && w.i != KR_NONE && i < r->h->txns.at[w.i].op_count; i++) {
		kr_op op = kr_history_op(r->h, w, i);
		for (uint32_t e = 0; e < kr_effect_count(r->h, &r->h->ops.at[op.i]); e++) {
			struct kr_written_row effect = kr_effect_at(r->h, &r->h->ops.at[op.i], e);
			if (effect.key.i != r->f->key.i ||
				!kr_recheck_allows(r, s, effect.key, effect.value) ||
				kr_recheck_op(r, w, i).from <= s->at.to)
				continue;
			kr_recheck_note(r,
				kr_recheck_gap(sighted_at(r, s, s->at.to),
					kr_point_at(KR_INSTANT_STATEMENT, w, kr_recheck_op(r, w, i).from)));
			return;
		}
	}
}

static kr_txn writer_of(const struct kr_newly *v) { return v ? v->txn : (kr_txn){KR_NONE}; }

void kr_recheck_note_value(const struct kr_recheck *r, const struct kr_sighted *s)
{
	if (!r->grounds || s->own)
		return;
	const struct kr_newly *gone = closest(r, s, true);
	const struct kr_newly *v = gone ? gone : closest(r, s, false);
	if (s->uncommitted)
		note_unwritten(r, s);
	else if (gone)
		note_gone(r, s, gone);
	else if (v)
		kr_recheck_note(r,
			kr_recheck_gap(sighted_at(r, s, s->at.to),
				kr_point_at(KR_INSTANT_COMMIT, v->txn, kr_recheck_from(r, v))));
	for (uint32_t i = 0; i < r->versions.n; i++) {
		const struct kr_newly *w = &r->versions.at[i];
		bool seen = kr_recheck_allows(r, s, r->f->key, w->value);
		struct kr_span at = {kr_recheck_from(r, w), kr_recheck_gone(r, w)};
		if (w->txn.i != r->f->txns[0].i &&
			(seen ? w == v : kr_recheck_could_be_seen(r, r->f->txns[0], w, s->at)))
			note_window(r,
				(struct kr_sight_window){r->f->key, w->value, w->txn,
					writer_of(replacement(r, w)), at, seen});
	}
}

/* ---- no common snapshot ---- */

struct clash {
	struct kr_span all;                 /* the snapshot */
	struct kr_sight_window first, last; /* gone first; there last */
	bool any;
};

/* Who bounds the window: the writer of what was seen there first, and of what took the place of what was seen
 * last. */
static void name_ends(const struct kr_recheck *r, const struct kr_sighted *s, struct kr_sight_window *w)
{
	for (uint32_t i = 0; i < r->versions.n; i++) {
		const struct kr_newly *v = &r->versions.at[i];
		if (v->txn.i == r->f->txns[0].i || !kr_recheck_allows(r, s, w->key, v->value))
			continue;
		if (kr_recheck_from(r, v) == w->at.from)
			w->writer = v->txn;
		if (kr_recheck_gone(r, v) == w->at.to)
			w->over = writer_of(replacement(r, v));
	}
}

static enum kr_status meet_sight(struct kr_recheck *r, kr_txn t, uint32_t op, kr_key key,
	const struct kr_saw *saw, void *data)
{
	struct clash *c = data;
	struct kr_places places = {0};
	struct kr_sighted s;

	KR_TRY(kr_vec_add(&r->ctx->mem, &places, c->all));
	enum kr_status status = kr_recheck_share(r, t, op, key, saw, &places);
	if (!status && places.n > 0) {
		struct kr_sight_window w = {.key = key,
			.value = {KR_NONE},
			.writer = {KR_NONE},
			.over = {KR_NONE},
			.at = places.at[0],
			.seen = true};
		for (uint32_t i = 1; i < places.n; i++) {
			w.at.from = places.at[i].from < w.at.from ? places.at[i].from : w.at.from;
			w.at.to = places.at[i].to > w.at.to ? places.at[i].to : w.at.to;
		}
		kr_recheck_sight(r, t, op, key, saw, &s);
		if (s.saw.test == KR_SAW_VALUE)
			w.value = s.saw.value;
		name_ends(r, &s, &w);
		if (!c->any || w.at.to < c->first.at.to)
			c->first = w;
		if (!c->any || w.at.from > c->last.at.from)
			c->last = w;
		c->any = true;
	}
	kr_vec_done(&r->ctx->mem, &places);
	return status;
}

static struct kr_point seen_at(const struct kr_recheck *r, const struct kr_sight_window *w, int64_t at)
{
	struct kr_point p = kr_point_at(KR_INSTANT_SEEN, r->f->txns[0], at);

	p.key = w->key;
	p.value = w->value;
	return p;
}

enum kr_status kr_recheck_note_clash(struct kr_recheck *r)
{
	kr_txn t = r->f->txns[0];
	bool whole = kr_recheck_instants(r, t)->has_snapshot;
	struct clash c = {
		.all = whole ? kr_recheck_instants(r, t)->snapshot : kr_recheck_op(r, t, r->f->ops[0])};
	uint32_t first = whole ? 0 : r->f->ops[0], end = whole ? r->h->txns.at[t.i].op_count : first + 1;

	for (uint32_t i = first; i < end && r->grounds; i++)
		KR_TRY(kr_recheck_each_sight(r, t, i, meet_sight, &c));
	if (!c.any || c.first.at.to >= c.last.at.from)
		return KR_OK;
	kr_recheck_note(r,
		kr_recheck_gap(seen_at(r, &c.first, c.first.at.to), seen_at(r, &c.last, c.last.at.from)));
	note_window(r, c.first);
	note_window(r, c.last);
	return KR_OK;
}
