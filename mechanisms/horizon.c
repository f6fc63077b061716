/* What may be forgotten.
 *
 * Near is what is not settled, what was still going on when the oldest of that began, and what certain dependencies reach
 * from there: what is to come can meet only that, or depend on nothing but what leads into it. A decision about a near
 * transaction may need all that overlaps it. So a transaction is kept if it is near, or if it ended after the first near one
 * began (the horizon). Of others only those versions stay that can be seen at the horizon or later.
 *
 * Why that is enough: whoever reads a version, or whose lock or snapshot meets a transaction, began before it ended; and no
 * certain dependency leads from what is to come into what ended before the horizon. What leads out of a forgotten
 * transaction closes no cycle, since nothing leads in (peeling). */
#include "mechanisms/stream_work.h"

#include <string.h>

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
		bool begun = e->open.at[i]->flags & KR_TXN_HAS_BEGIN || e->open.at[i]->entries.n > 0;
		if (begun)
			first = least(first, e->open.at[i]->first);
	}
	for (uint32_t i = 0; i < e->held.n; i++)
		if (!e->held.at[i]->settled)
			first = least(first, e->held.at[i]->first);
	return first;
}

/* From what was reached on along the dependencies, which stand in the order of their sources. */
static bool spread(const struct forgetting *f, const struct kr_reaches *reach)
{
	uint32_t n = f->w->txns.n, top = 0;
	uint32_t *first = kr_mem_alloc(f->e->mem, n + 1, sizeof *first), *stack = kr_mem_alloc(f->e->mem, n, sizeof *stack);

	for (uint32_t t = 0, i = 0; first && t <= n; t++) {
		while (i < reach->n && reach->at[i].from.i < t)
			i++;
		first[t] = i;
	}
	for (uint32_t t = 0; first && stack && t < n; t++)
		if (f->w->txns.at[t]->reached)
			stack[top++] = t;
	while (first && stack && top > 0) {
		uint32_t t = stack[--top];
		for (uint32_t i = first[t]; i < first[t + 1]; i++) {
			struct kr_held *to = f->w->txns.at[reach->at[i].to.i];
			if (!to->reached && !to->carried) {
				to->reached = true;
				stack[top++] = to->at;
			}
		}
	}
	bool good = first && stack;
	kr_mem_free(f->e->mem, first, n + 1, sizeof *first);
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
		t->reached = !t->settled || t->due >= unsettled || t->pending.n > 0;
	}
	if (!spread(f, &e->reach))
		return false;
	for (uint32_t i = 0; i < e->held.n; i++)
		if (e->held.at[i]->reached)
			f->horizon = least(f->horizon, e->held.at[i]->first);
	return true;
}

/* ---- forgetting ---- */

static bool goes(const struct forgetting *f, const struct kr_held *t) { return !t->carried && t->settled && !t->reached && t->due < f->horizon; }

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
		bool deletes = kr_act_counts(a, KR_NONE) && a->op->kind == KR_OP_DELETE && a->op->key.i == v->key.i;
		if (deletes && (tried || kr_op_write(f->b->h, a->op, 0, &key, &value)))
			return true;
	}
	return false;
}

/* The version, as an entry of its writer. */
static struct kr_held_entry entry_of(const struct forgetting *f, const struct kr_written *v, kr_key key, bool deleted, bool remade)
{
	int64_t pad = kr_skew_pad(f->e->h);
	bool told = v->value.i != KR_NONE;

	return (struct kr_held_entry){
		.op = {.kind = told ? KR_OP_WRITE : KR_OP_INC, .flags = KR_OPF_HAS_ATTR, .key = key, .a = told ? v->value : KR_ABSENT, .scan = KR_NONE},
		.attr = {.cursor = true,
			.has_time = true,
			.open = v->at.to == INT64_MAX,
			.invoked = kr_earlier(v->at.from, -pad),
			.returned = kr_earlier(v->at.to, pad)},
		.shadow = v->shadow,
		.deleted = deleted,
		.remade = remade,
		.lock = v->by.lock,
	};
}

/* Of a carried transaction: its version of the key. */
static struct kr_held_entry *entry_at(const struct kr_held *t, kr_key key)
{
	uint32_t i = 0;

	while (t->entries.at[i].op.key.i != key.i)
		i++;
	return &t->entries.at[i];
}

static void drop_version(struct forgetting *f, struct kr_held *t, kr_key key)
{
	struct kr_engine *e = f->e;
	struct kr_helds *carriers = &e->bases.at[key.i].carriers;
	struct kr_held_entry *entry = entry_at(t, key);
	uint32_t i = 0;

	kr_stream_release(e->stream, entry->op.a);
	kr_stream_release(e->stream, entry->op.b);
	*entry = kr_vec_pop(&t->entries);
	for (; carriers->at[i] != t;)
		i++;
	carriers->at[i] = kr_vec_pop(carriers);
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
				lives && kr_act_counts(&f->b->acts.at[w->act], KR_NONE) ? KR_ECHO_INTERMEDIATE : KR_ECHO_ABORTED);
	}
}

struct carried {
	struct kr_held *txn;
	struct kr_held_entry entry;
};

/* A version stays while something can see it; a delete of which nobody knows whether and when it was committed excuses
 * others for ever. */
static void keep_versions(struct forgetting *f)
{
	struct kr_engine *e = f->e;
	KR_VEC(struct carried) list = {0};

	for (uint32_t i = 0; i < f->b->versions.n && !f->failed; i++) {
		const struct kr_written *v = &f->b->versions.at[i];
		struct kr_held *t = v->by.txn.i == KR_NONE ? NULL : f->w->txns.at[v->by.txn.i];
		kr_key key = f->w->keys.at[v->key.i];
		if (!t || !(t->carried || goes(f, t)))
			continue;
		bool deleted = t->carried ? entry_at(t, key)->deleted : had_deleted(f, v, false);
		bool remade = t->carried ? entry_at(t, key)->remade : had_deleted(f, v, true);
		bool gone = v->gone < f->horizon, stays = !gone || (remade && !v->by.committed);
		if (gone)
			note(f, key, v->value, KR_ECHO_VERSION);
		if (t->carried) {
			entry_at(t, key)->gone = gone;
			if (!stays)
				drop_version(f, t, key);
		} else if (stays) {
			t->told = (struct kr_carried_txn){v->by.commit, v->by.release};
			struct carried c = {t, entry_of(f, v, key, deleted, remade)};
			c.entry.gone = gone;
			f->failed |= !kr_vec_push(e->mem, &list, c);
			kr_stream_keep(e->stream, c.entry.op.a);
			kr_stream_keep(e->stream, c.entry.op.b);
		}
	}
	for (uint32_t i = 0; i < f->w->txns.n; i++)
		if (goes(f, f->w->txns.at[i]))
			kr_held_strip(e->stream, e->mem, f->w->txns.at[i]);
	for (uint32_t i = 0; i < list.n; i++) {
		struct carried *c = &list.at[i];
		struct kr_helds *carriers = &e->bases.at[c->entry.op.key.i].carriers;
		if (!kr_vec_push(e->mem, &c->txn->entries, c->entry) || !kr_vec_push(e->mem, carriers, c->txn)) {
			f->failed = true;
			break;
		}
		c->txn->carried = true;
	}
	kr_vec_done(e->mem, &list);
}

/* Carried transactions that lost their last version. */
static void free_empty(struct forgetting *f)
{
	struct kr_engine *e = f->e;

	for (uint32_t i = 0; i < f->w->txns.n; i++) {
		struct kr_held *t = f->w->txns.at[i];
		if (t->carried && t->entries.n == 0) {
			e->carried--;
			kr_held_free(e->stream, e->mem, t);
		}
	}
}

static void sweep(struct forgetting *f)
{
	struct kr_engine *e = f->e;
	uint32_t n = 0;

	for (uint32_t i = 0; i < e->held.n; i++) {
		struct kr_held *t = e->held.at[i];
		if (!t->carried && !goes(f, t)) {
			e->held.at[n++] = t;
			continue;
		}
		kr_engine_leave(e, t);
		if (t->carried)
			e->carried++;
		else
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
	if (f.failed)
		return KR_NOMEM;
	keep_versions(&f);
	free_empty(&f);
	if (f.failed)
		return KR_NOMEM;
	sweep(&f);
	return KR_OK;
}
