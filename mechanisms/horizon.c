/* What may be forgotten.
 *
 * Near is what is not settled, what was still going on when the oldest of that began, and what certain
 * dependencies reach from there: what is to come can meet only that, or depend on nothing but what leads into
 * it. A decision about a near transaction may need all that overlaps it. So a transaction is kept if it is
 * near, or if it ended after the first near one began (the horizon). Of others only those versions stay that
 * can be seen at the horizon or later.
 *
 * Why that is enough: whoever reads a version, or whose lock or snapshot meets a transaction, began before it
 * ended; and no certain dependency leads from what is to come into what ended before the horizon. What leads
 * out of a forgotten transaction closes no cycle, since nothing leads in (peeling). */
#include "mechanisms/stream_work.h"

struct forgetting {
	struct kr_engine *e;
	const struct kr_window *w;
	const struct kr_batch *b;
	int64_t horizon;
	bool failed;
};

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* ---- what is near ---- */

static int64_t first_unsettled(struct kr_engine *e, int64_t position)
{
	int64_t first = position;

	for (uint32_t i = 0; i < e->open.n; i++) {
		kr_held_measure(e->h, e->options.batch.profile, e->open.at[i]);
		bool begun = e->open.at[i]->flags & KR_TXN_HAS_BEGIN || e->open.at[i]->body->entries.n > 0;
		if (begun)
			first = least(first, e->open.at[i]->first);
	}
	for (uint32_t i = 0; i < e->held.n; i++)
		if (!e->held.at[i]->settled)
			first = least(first, e->held.at[i]->first);
	return first;
}

/* From what was reached on along the dependencies. */
static bool spread(const struct forgetting *f, const struct kr_reaches *reach)
{
	uint32_t n = f->w->txns.n, top = 0;
	uint32_t *of = kr_mem_alloc(f->e->mem, reach->n, sizeof *of),
		 *stack = kr_mem_alloc(f->e->mem, n, sizeof *stack);
	struct kr_grouped by = {0};
	bool good = of && stack;

	for (uint32_t i = 0; i < reach->n && good; i++)
		of[i] = reach->at[i].from.i;
	good = good && kr_group(f->e->mem, &by, of, reach->n, n);
	for (uint32_t t = 0; good && t < n; t++)
		if (f->w->txns.at[t]->reached)
			stack[top++] = t;
	while (good && top > 0) {
		uint32_t t = stack[--top];
		for (uint32_t i = by.first.at[t]; i < by.first.at[t + 1]; i++) {
			struct kr_held *to = f->w->txns.at[reach->at[by.at.at[i]].to.i];
			if (!to->reached && !to->carried) {
				to->reached = true;
				stack[top++] = to->at;
			}
		}
	}
	kr_grouped_done(f->e->mem, &by);
	kr_mem_free(f->e->mem, of, reach->n, sizeof *of);
	kr_mem_free(f->e->mem, stack, n, sizeof *stack);
	return good;
}

static bool find_horizon(struct forgetting *f, int64_t position)
{
	struct kr_engine *e = f->e;
	int64_t unsettled = first_unsettled(e, position);

	f->horizon = unsettled;
	for (uint32_t i = 0; i < e->held.n; i++) {
		struct kr_held *t = e->held.at[i];
		t->reached = !t->settled || t->due >= unsettled || t->body->pending.n > 0;
	}
	if (!spread(f, &e->reach))
		return false;
	for (uint32_t i = 0; i < e->held.n; i++)
		if (e->held.at[i]->reached)
			f->horizon = least(f->horizon, e->held.at[i]->first);
	return true;
}

/* ---- forgetting ---- */

static bool goes(const struct forgetting *f, const struct kr_held *t)
{
	return !t->carried && t->settled && !t->reached && t->due < f->horizon;
}

static void note(struct forgetting *f, kr_key key, kr_value value, enum kr_echo_kind kind)
{
	struct kr_engine *e = f->e;

	struct kr_base *base = &e->bases.at[key.i];

	base->gone |= kind == KR_ECHO_VERSION;
	base->gone_present |= kind == KR_ECHO_VERSION && value.i != KR_ABSENT.i;
	base->vain_present |= kind != KR_ECHO_VERSION && value.i != KR_ABSENT.i;
	f->failed |= !kr_echo_add(e->mem, &e->echo, e->h, key, value, kind);
}

/* Which of the transaction's operations deleted the key, or tried to. */
static bool had_deleted(const struct forgetting *f, const struct kr_written *v, bool tried)
{
	const struct kr_party *p = &f->b->txns.at[v->by.txn.i];
	kr_key key;
	kr_value value;

	for (uint32_t i = p->act_first; i < p->act_first + p->act_count; i++) {
		const struct kr_act *a = &f->b->acts.at[i];
		bool deletes =
			kr_act_counts(a, KR_NONE) && a->op->kind == KR_OP_DELETE && a->op->key.i == v->key.i;
		if (deletes && (tried || kr_op_write(f->b->h, a->op, 0, &key, &value)))
			return true;
	}
	return false;
}

static struct kr_left left_of(const struct forgetting *f, const struct kr_written *v)
{
	int64_t pad = kr_skew_pad(f->e->h);
	const struct kr_held *t = f->w->txns.at[v->by.txn.i];
	const struct kr_transaction *txn = &f->w->h.txns.at[v->by.txn.i];
	const struct kr_party *p = &f->b->txns.at[v->by.txn.i];
	unsigned marks = (v->shadow ? KR_MARK_SHADOW : 0u) |
		(had_deleted(f, v, false) ? KR_MARK_DELETED : 0u) |
		(had_deleted(f, v, true) ? KR_MARK_REMADE : 0u);

	return (struct kr_left){.value = v->value,
		.marks = (uint8_t)marks,
		.status = (uint8_t)txn->status,
		.flags = (uint16_t)txn->flags,
		.id = t->id,
		.session = t->session,
		.seq = t->seq,
		.line = t->line,
		.at = {
			[KR_LEFT_END] = txn->end_invoked,
			[KR_LEFT_ENDED] = txn->end_returned,
			[KR_LEFT_COMMIT] = p->commit.from,
			[KR_LEFT_COMMITTED] = p->commit.to,
			[KR_LEFT_RELEASE] = p->release.from,
			[KR_LEFT_RELEASED] = p->release.to,
			[KR_LEFT_DUE] = t->due,
			[KR_LEFT_SENT] = kr_earlier(v->at.from, -pad),
			[KR_LEFT_ANSWERED] = kr_earlier(v->at.to, pad),
			[KR_LEFT_LOCK] = v->by.lock.from,
			[KR_LEFT_LOCKED] = v->by.lock.to,
		}};
}

/* Values of what goes are noted, and its last versions put aside, before anything of it is released. */
static void note_tried(struct forgetting *f)
{
	for (uint32_t i = 0; i < f->b->tried.n; i++) {
		const struct kr_tried *w = &f->b->tried.at[i];
		const struct kr_held *t = f->w->txns.at[w->txn.i];
		const struct kr_party *p = &f->b->txns.at[w->txn.i];
		bool lives = p->committed || p->optional;
		if (goes(f, t) && !(lives && w->last))
			note(f, f->w->keys.at[w->key.i], w->value,
				lives && kr_act_counts(&f->b->acts.at[w->act], KR_NONE) ? KR_ECHO_INTERMEDIATE
											: KR_ECHO_ABORTED);
	}
}

/* A version stays while something can see it; a delete of which nobody knows whether and when it was
 * committed excuses others for ever. */
static bool stays(const struct kr_written *v, bool gone, unsigned marks)
{
	return !gone || (marks & KR_MARK_REMADE && !v->by.committed);
}

static bool keep_version(struct forgetting *f, const struct kr_written *v, bool gone)
{
	struct kr_engine *e = f->e;
	struct kr_left left = left_of(f, v);

	left.marks |= gone ? KR_MARK_GONE : 0;
	if (!stays(v, gone, left.marks))
		return true;
	e->carried++;
	return kr_relic_put(e->stream, e->mem, &left, &e->bases.at[f->w->keys.at[v->key.i].i].relics);
}

/* Of a transaction that was carried before. */
static void review_version(struct forgetting *f, const struct kr_written *v, bool gone)
{
	struct kr_engine *e = f->e;
	const struct kr_left *left = &f->w->lefts.at[f->w->txns.at[v->by.txn.i]->left_first];

	while (left->key.i != v->key.i)
		left++;
	left->relic->marks = (uint8_t)((left->marks & ~(unsigned)KR_MARK_GONE) | (gone ? KR_MARK_GONE : 0u));
	if (stays(v, gone, left->relic->marks))
		return;
	e->carried--;
	kr_relic_drop(e->stream, e->mem, left->relic, &e->bases.at[f->w->keys.at[v->key.i].i].relics);
}

/* Last versions of what goes are put aside, before anything of it is released; of those that were put aside
 * before, some go. */
static void keep_versions(struct forgetting *f)
{
	for (uint32_t i = 0; i < f->b->versions.n && !f->failed; i++) {
		const struct kr_written *v = &f->b->versions.at[i];
		const struct kr_held *t = v->by.txn.i == KR_NONE ? NULL : f->w->txns.at[v->by.txn.i];
		bool gone = v->gone < f->horizon;
		if (!t || !(t->carried || goes(f, t)))
			continue;
		if (gone)
			note(f, f->w->keys.at[v->key.i], v->value, KR_ECHO_VERSION);
		if (t->carried)
			review_version(f, v, gone);
		else
			f->failed |= !keep_version(f, v, gone);
	}
}

static void sweep(struct forgetting *f)
{
	struct kr_engine *e = f->e;
	uint32_t n = 0;

	for (uint32_t i = 0; i < e->held.n; i++) {
		struct kr_held *t = e->held.at[i];
		if (!goes(f, t)) {
			kr_held_trim(e->mem, t);
			e->held.at[n++] = t;
			continue;
		}
		kr_engine_leave(e, t);
		kr_held_free(e->stream, e->mem, t);
	}
	e->held.n = n;
}

enum kr_status kr_engine_forget(struct kr_engine *e, int64_t position)
{
	struct forgetting f = {.e = e, .w = &e->window, .b = &e->batch};

	if (!find_horizon(&f, position))
		return KR_NOMEM;
	note_tried(&f);
	if (!f.failed)
		keep_versions(&f);
	if (f.failed)
		return KR_NOMEM;
	sweep(&f);
	return KR_OK;
}
