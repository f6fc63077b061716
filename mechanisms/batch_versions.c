/* Versions, the order of their writers, and until when each could be seen; writers of each lock object.
 *
 * A version is a transaction's last value of a key, installed when it commits. v is gone at the latest when a
 * committed u that certainly comes after it has committed. Where writing the present value makes no version,
 * what may have done so is a shadow: it can have been seen, but it orders nothing. One of unknown outcome was
 * there by the time of a read that proves so: what is written later is not looked at, since a stream cannot
 * wait for it. */
#include <string.h>

#include "base/order.h"
#include "mechanisms/batch.h"

enum {
	FEW = 6,      /* versions that are looked at one by one */
	MANY = 131072 /* whose memory is not kept for the next window */
};

/* ---- collecting ---- */

bool kr_batch_lock(const struct kr_batch *b, kr_txn t, uint32_t object, struct kr_span *out)
{
	const struct kr_party *p = &b->txns.at[t.i];

	for (uint32_t i = p->hold_first; i < p->hold_first + p->hold_count; i++)
		if (!b->holds.at[i].range && b->holds.at[i].mode == KR_MODE_X &&
			b->holds.at[i].object == object) {
			*out = b->holds.at[i].at;
			return true;
		}
	return false;
}

static struct kr_stand stand_of(const struct kr_batch *b, kr_txn t, uint32_t object)
{
	const struct kr_party *p = &b->txns.at[t.i];
	struct kr_span lock = {INT64_MAX, INT64_MAX};

	(void)kr_batch_lock(b, t, object, &lock);
	return (struct kr_stand){t, p->committed, p->commit, lock, p->release};
}

static bool is_sure(const struct kr_operation *op)
{
	return op->kind != KR_OP_DELETE || op->flags & KR_OPF_KNOWN;
}

static bool add_version(struct kr_batch *b, uint32_t first, const struct kr_act *a, kr_key key,
	kr_value value)
{
	struct kr_written *v;

	for (uint32_t i = first; i < b->collected.n; i++)
		if (b->collected.at[i].key.i == key.i) {
			v = &b->collected.at[i];
			v->value = value;
			v->op = a->index;
			v->at.to = a->at.to;
			v->sure |= is_sure(a->op);
			return true;
		}
	struct kr_written new = {.by = stand_of(b, a->txn, b->objects.at[key.i]),
		.key = key,
		.value = value,
		.op = a->index,
		.at = a->at,
		.first_done = a->at.to,
		.sure = is_sure(a->op),
		.gone = INT64_MAX};
	return kr_vec_push(b->mem, &b->collected, new);
}

static bool is_marked(const struct kr_batch *b, const struct kr_act *a, enum kr_mark mark)
{
	return kr_batch_carried(b, a->txn) && b->options->marks->ops[a->op - b->h->ops.at] & mark;
}

static bool add_writer(struct kr_batch *b, uint32_t first, const struct kr_act *a, kr_key key)
{
	uint32_t object = b->objects.at[key.i];
	bool deletes = a->op->kind == KR_OP_DELETE || is_marked(b, a, KR_MARK_DELETED);

	for (uint32_t i = first; i < b->writers.n; i++)
		if (b->writers.at[i].object == object) {
			b->writers.at[i].deletes |= deletes;
			return true;
		}
	struct kr_writer new = {.by = stand_of(b, a->txn, object),
		.object = object,
		.op = a->index,
		.key = key,
		.deletes = deletes};
	bool acts_on_old = deletes || a->op->kind == KR_OP_UPDATE || a->op->kind == KR_OP_CAS ||
		(a->attr && a->attr->row_is_old);
	new.inserts = a->op->kind == KR_OP_INSERT || (a->op->kind == KR_OP_CAS && a->op->a.i == KR_ABSENT.i);
	new.upserts = !new.inserts && !acts_on_old;
	return kr_vec_push(b->mem, &b->writers, new);
}

static bool add_tried(struct kr_batch *b, kr_txn t)
{
	const struct kr_party *p = &b->txns.at[t.i];
	kr_key key;
	kr_value value;

	for (uint32_t i = p->act_first; i < p->act_first + p->act_count; i++)
		for (uint32_t w = 0; b->acts.at[i].op && kr_op_write(b->h, b->acts.at[i].op, w, &key, &value);
			w++) {
			struct kr_tried tried = {t, key, value, i, kr_act_counts(&b->acts.at[i], KR_NONE)};
			for (uint32_t j = b->tried.n; tried.last && j-- > 0 && b->tried.at[j].txn.i == t.i;)
				if (b->tried.at[j].key.i == key.i)
					b->tried.at[j].last = false;
			if (!kr_vec_push(b->mem, &b->tried, tried))
				return false;
		}
	return true;
}

static bool add_remade(struct kr_batch *b, kr_txn t, uint32_t first)
{
	const struct kr_party *p = &b->txns.at[t.i];

	for (uint32_t v = first; v < b->collected.n; v++)
		for (uint32_t i = p->act_first; i < p->act_first + p->act_count; i++) {
			const struct kr_act *a = &b->acts.at[i];
			if (!kr_act_counts(a, KR_NONE) ||
				!(a->op->kind == KR_OP_DELETE || is_marked(b, a, KR_MARK_REMADE)) ||
				a->op->key.i != b->collected.at[v].key.i)
				continue;
			if (b->collected.at[v].value.i != KR_ABSENT.i &&
				!kr_vec_push(b->mem, &b->remade, (struct kr_remade){t, a->op->key}))
				return false;
		}
	return true;
}

static bool add_effects(struct kr_batch *b, kr_txn t)
{
	const struct kr_party *p = &b->txns.at[t.i];
	uint32_t version = b->collected.n, writer = b->writers.n;
	kr_key key;
	kr_value value;

	for (uint32_t i = p->act_first; i < p->act_first + p->act_count; i++)
		for (uint32_t w = 0; kr_act_counts(&b->acts.at[i], KR_NONE) &&
			kr_op_write(b->h, b->acts.at[i].op, w, &key, &value);
			w++)
			if (!add_version(b, version, &b->acts.at[i], key, value) ||
				!add_writer(b, writer, &b->acts.at[i], key))
				return false;
	b->txns.at[t.i].writer_first = writer;
	b->txns.at[t.i].writer_count = b->writers.n - writer;
	return add_remade(b, t, version);
}

static enum kr_status collect(struct kr_batch *b)
{
	const struct kr_span always = {INT64_MIN, INT64_MIN};

	for (kr_key k = {0}; k.i < b->h->keys.n; k.i++) {
		struct kr_written initial = {.by = {{KR_NONE}, true, always, always, always},
			.key = k,
			.op = KR_NONE,
			.at = always,
			.first_done = INT64_MIN,
			.sure = true,
			.gone = INT64_MAX};
		initial.value = kr_history_untold(b->h) ? KR_UNTOLD : b->h->keys.at[k.i].initial;
		KR_TRY(kr_vec_add(b->mem, &b->collected, initial));
	}
	for (kr_txn t = {0}; t.i < b->txns.n; t.i++) {
		bool counts = b->txns.at[t.i].committed || b->txns.at[t.i].optional;
		if (!add_tried(b, t) || (counts && !add_effects(b, t)))
			return KR_NOMEM;
		KR_TRY(kr_ctx_tick(b->ctx));
	}
	return KR_OK;
}

/* ---- order ---- */

/* By key, of each the initial one first, then in the order of transactions, in which they were collected. */
static enum kr_status index_keys(struct kr_batch *b)
{
	uint32_t n = b->collected.n, keys = b->h->keys.n;

	if (!kr_vec_reserve(b->mem, &b->version_first, keys + 2) || !kr_vec_reserve(b->mem, &b->versions, n))
		return KR_NOMEM;
	uint32_t *first = b->version_first.at;
	b->version_first.n = keys + 1;
	b->versions.n = n;
	memset(first, 0, ((size_t)keys + 2) * sizeof *first);
	for (uint32_t i = 0; i < n; i++)
		first[b->collected.at[i].key.i + 2]++;
	kr_index_places(first, keys);
	for (uint32_t i = 0; i < n; i++)
		b->versions.at[first[b->collected.at[i].key.i + 1]++] = b->collected.at[i];
	if (n > MANY)
		kr_vec_done(b->mem, &b->collected);
	return KR_OK;
}

static int64_t later(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t earlier(int64_t a, int64_t b) { return a < b ? a : b; }

/* All but until when they can be seen, for which these are needed. */
static enum kr_status bound_commits(struct kr_batch *b)
{
	if (!kr_vec_reserve(b->mem, &b->bounds, b->versions.n))
		return KR_NOMEM;
	b->bounds.n = b->versions.n;
	for (uint32_t k = 0; k < b->h->keys.n; k++) {
		uint32_t first = b->version_first.at[k], end = b->version_first.at[k + 1];
		for (uint32_t i = first; i < end; i++) {
			int64_t from = b->versions.at[i].by.commit.from;
			b->bounds.at[i].last = i > first ? later(b->bounds.at[i - 1].last, from) : from;
		}
		for (uint32_t i = end; i-- > first;) {
			int64_t from = b->versions.at[i].by.commit.from;
			b->bounds.at[i].next = i + 1 < end ? earlier(b->bounds.at[i + 1].next, from) : from;
		}
	}
	return kr_ctx_check(b->ctx);
}

static void bound_gone(struct kr_batch *b)
{
	for (uint32_t k = 0; k < b->h->keys.n; k++)
		for (uint32_t first = b->version_first.at[k], i = first; i < b->version_first.at[k + 1]; i++)
			b->bounds.at[i].gone = i > first
				? later(b->bounds.at[i - 1].gone, b->versions.at[i].gone)
				: b->versions.at[i].gone;
}

void kr_batch_meeting(const struct kr_batch *b, kr_key key, struct kr_span at, uint32_t *first, uint32_t *end)
{
	uint32_t low = b->version_first.at[key.i], high = b->version_first.at[key.i + 1];

	*first = low;
	*end = high;
	/* by timestamps what the reader itself wrote replaces nothing for it: kr_batch_candidates knows */
	if (high - low < FEW || b->profile->clock == KR_CLOCK_STAMPS)
		return;
	KR_BISECT(low, low, high, b->bounds.at[low].gone < at.from);
	*first = low;
	KR_BISECT(low, low, high, b->bounds.at[low].next <= at.to);
	*end = high;
}

uint32_t kr_batch_followers(const struct kr_batch *b, uint32_t v)
{
	const struct kr_stand *by = &b->versions.at[v].by;
	/* whatever comes after it has its C1 behind one of these */
	int64_t after = earlier(by->commit.to, by->lock.to);
	uint32_t first = v;

	while (first > b->version_first.at[b->versions.at[v].key.i] && b->bounds.at[first - 1].last > after)
		first--;
	return first;
}

bool kr_written_is_gone(const struct kr_batch *b, const struct kr_written *v)
{
	return v->op != KR_NONE && kr_batch_carried(b, v->by.txn) &&
		b->options->marks->ops[kr_history_op(b->h, v->by.txn, v->op).i] & KR_MARK_GONE;
}

int64_t kr_written_gone(const struct kr_batch *b, const struct kr_written *v, kr_txn t)
{
	int64_t gone = INT64_MAX;

	if (kr_written_is_gone(b, v))
		return INT64_MIN;
	for (uint32_t i = kr_batch_followers(b, (uint32_t)(v - b->versions.at));
		i < b->version_first.at[v->key.i + 1] && b->bounds.at[i].next <= gone; i++) {
		const struct kr_written *w = &b->versions.at[i];
		if (w->by.txn.i != t.i && w->by.committed && kr_stand_precedes(b, &v->by, &w->by) &&
			w->by.commit.to < gone)
			gone = w->by.commit.to;
	}
	return gone;
}

/* May u have written what was there? */
static bool is_shadow(const struct kr_batch *b, const struct kr_written *u)
{
	const struct kr_marks *marks = b->options->marks;
	const struct kr_party *p = u->op == KR_NONE ? NULL : &b->txns.at[u->by.txn.i];

	if (!p)
		return false;
	if (kr_batch_carried(b, u->by.txn))
		return marks->ops[kr_history_op(b->h, u->by.txn, u->op).i] & KR_MARK_SHADOW;
	if (!u->sure || b->profile->noop != KR_NOOP_NONE)
		return !u->sure;
	if (!p->took_effect)
		return true;
	int64_t by = p->committed ? u->by.commit.to : p->effect_by;
	for (uint32_t i = b->version_first.at[u->key.i]; i < b->version_first.at[u->key.i + 1]; i++) {
		const struct kr_written *v = &b->versions.at[i];
		bool same = v->value.i == u->value.i || v->value.i == KR_NONE || u->value.i == KR_NONE;
		if (v == u || !same || kr_stand_precedes(b, &u->by, &v->by))
			continue;
		if (v->by.commit.from <= by && kr_written_gone(b, v, u->by.txn) >= u->at.from)
			return true;
	}
	return false;
}

static void mark_real(struct kr_batch *b)
{
	for (uint32_t i = 0; i < b->versions.n; i++)
		if (!b->versions.at[i].shadow && b->versions.at[i].op != KR_NONE)
			kr_batch_writer(b, &b->versions.at[i])->real = true;
}

enum kr_status kr_batch_versions(struct kr_batch *b)
{
	KR_TRY(collect(b));
	KR_TRY(index_keys(b));
	KR_TRY(bound_commits(b));
	if (b->profile->clock == KR_CLOCK_STAMPS)
		KR_TRY(kr_batch_commits(b));
	for (uint32_t i = 0; i < b->versions.n && b->profile->clock != KR_CLOCK_STAMPS; i++) {
		b->versions.at[i].gone = kr_written_gone(b, &b->versions.at[i], (kr_txn){KR_NONE});
		KR_TRY(kr_ctx_tick(b->ctx));
	}
	bound_gone(b);
	for (uint32_t i = 0; i < b->versions.n; i++) {
		b->versions.at[i].shadow = is_shadow(b, &b->versions.at[i]);
		KR_TRY(kr_ctx_tick(b->ctx));
	}
	mark_real(b);
	return KR_OK;
}

/* What a read can have seen nothing else than is a version: had it replaced its like, that would explain the
 * read, too. */
enum kr_status kr_batch_effects(struct kr_batch *b)
{
	for (uint32_t i = 0; i < b->versions.n; i++) {
		struct kr_written *v = &b->versions.at[i];
		if (v->by.committed || !b->txns.at[v->by.txn.i].took_effect)
			continue;
		v->shadow = !v->seen && is_shadow(b, v);
		b->txns.at[v->by.txn.i].real += !v->shadow;
	}
	return kr_ctx_check(b->ctx);
}
