/* Building the window: which keys, which carried transactions, then everything in the order of ends. */
#include "mechanisms/window.h"

#include "base/order.h"

struct building {
	struct kr_window *w;
	struct kr_stream *from;
	const struct kr_history *stream;
	struct kr_bases *bases;
	bool sorted, scans, failed;
};

static void let_go(struct kr_window *w, bool reuse)
{
	kr_vec_let_go(w->mem, &w->h.keys, reuse);
	kr_vec_let_go(w->mem, &w->h.txns, reuse);
	kr_vec_let_go(w->mem, &w->h.ops, reuse);
	kr_vec_let_go(w->mem, &w->h.scans, reuse);
	kr_vec_let_go(w->mem, &w->h.rows, reuse);
	kr_vec_let_go(w->mem, &w->h.conds, reuse);
	kr_vec_let_go(w->mem, &w->h.attrs, reuse);
	kr_vec_let_go(w->mem, &w->h.struck, reuse);
	kr_vec_let_go(w->mem, &w->h.white_box, reuse);
	kr_vec_let_go(w->mem, &w->txns, reuse);
	kr_vec_let_go(w->mem, &w->keys, reuse);
	kr_vec_let_go(w->mem, &w->lefts, reuse);
	kr_vec_let_go(w->mem, &w->sorted, reuse);
	kr_vec_let_go(w->mem, &w->order, reuse);
	kr_vec_let_go(w->mem, &w->carriers, reuse);
	kr_vec_let_go(w->mem, &w->txn_marks, reuse);
	kr_vec_let_go(w->mem, &w->op_marks, reuse);
	kr_vec_let_go(w->mem, &w->carried, reuse);
	kr_vec_let_go(w->mem, &w->locks, reuse);
}

void kr_window_done(struct kr_window *w) { let_go(w, false); }
void kr_window_clear(struct kr_window *w) { let_go(w, true); }

/* Header, values and sessions as they are; nothing of what was read. */
static void borrow(struct kr_history *h, const struct kr_history *stream)
{
	h->mem = stream->mem;
	h->name = stream->name;
	h->format = stream->format;
	h->clock_skew = stream->clock_skew;
	h->time_unit = stream->time_unit;
	h->row_separator = stream->row_separator;
	h->profile = stream->profile;
	h->initial = stream->initial;
	h->key_order = stream->key_order;
	h->values.at = stream->values.at;
	h->values.n = stream->values.n;
	h->sessions.at = stream->sessions.at;
	h->sessions.n = stream->sessions.n;
	h->files.at = stream->files.at;
	h->files.n = stream->files.n;
}

/* ---- keys ---- */

static void touch(struct building *b, kr_key key)
{
	struct kr_window *w = b->w;
	uint32_t at = key.i == KR_NONE ? 0 : b->bases->at[key.i].at;

	if (key.i == KR_NONE || (at < w->keys.n && w->keys.at[at].i == key.i))
		return;
	b->bases->at[key.i].at = w->keys.n;
	b->failed |= !kr_vec_push(w->mem, &w->keys, key);
}

static void touch_all(struct building *b, const struct kr_held *t)
{
	for (uint32_t i = 0; i < t->body->entries.n; i++)
		if (t->body->entries.at[i].undo == KR_NONE)
			touch(b, t->body->entries.at[i].op.key);
	for (uint32_t i = 0; i < t->body->rows.n; i++)
		touch(b, t->body->rows.at[i].key);
	b->scans |= t->body->scans.n > 0;
}

/* A range is about keys that nobody in the window names, too. */
static void touch_for_scans(struct building *b)
{
	for (kr_key k = {0}; k.i < b->stream->keys.n && b->scans; k.i++)
		if (kr_relics_count(b->bases->at[k.i].relics) > 0 ||
			b->stream->keys.at[k.i].initial.i != KR_ABSENT.i || kr_history_untold(b->stream))
			touch(b, k);
}

struct named {
	kr_key key;
	const struct kr_history *stream;
};

static int by_name(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	const struct kr_history *h = x->stream;
	int by = kr_history_compare_keys(h, h->keys.at[x->key.i].name, h->keys.at[y->key.i].name);

	return kr_then(by, KR_ORDER(x->key.i, y->key.i));
}

static bool sort_keys(struct building *b)
{
	struct kr_window *w = b->w;
	struct named *order = kr_mem_alloc(w->mem, w->keys.n, sizeof *order);

	if (!order)
		return false;
	for (uint32_t k = 0; k < w->keys.n; k++)
		order[k] = (struct named){w->keys.at[k], b->stream};
	KR_SORT(order, w->keys.n, by_name);
	for (uint32_t k = 0; k < w->keys.n; k++)
		w->keys.at[k] = order[k].key;
	kr_mem_free(w->mem, order, w->keys.n, sizeof *order);
	return true;
}

static void put_keys(struct building *b)
{
	struct kr_window *w = b->w;

	for (uint32_t k = 0; k < w->keys.n; k++) {
		struct kr_base *base = &b->bases->at[w->keys.at[k].i];
		struct kr_key_entry entry = b->stream->keys.at[w->keys.at[k].i];
		entry.kind = base->kind;
		base->at = k;
		b->failed |= !kr_vec_push(w->mem, &w->h.keys, entry);
	}
}

/* ---- what is left ---- */

static bool get_lefts(struct building *b)
{
	struct kr_window *w = b->w;

	for (kr_key k = {0}; k.i < w->keys.n; k.i++) {
		struct kr_relics relics = b->bases->at[w->keys.at[k.i].i].relics;
		for (uint32_t i = 0; i < kr_relics_count(relics); i++) {
			struct kr_left left;
			if (!kr_relic_get(b->from, kr_relics_at(relics, i), &left))
				return false;
			left.key = k;
			if (!kr_vec_push(w->mem, &w->lefts, left))
				return false;
		}
	}
	return true;
}

static int by_seq(const void *data, uint32_t a, uint32_t b)
{
	const struct kr_left *lefts = data;

	return KR_ORDER(lefts[a].seq, lefts[b].seq);
}

/* By transaction, and those of one as they are: by key. */
static bool sort_lefts(struct kr_window *w)
{
	uint32_t n = w->lefts.n;

	if (!kr_vec_reserve(w->mem, &w->order, 2 * n) || !kr_vec_reserve(w->mem, &w->sorted, n))
		return false;
	for (uint32_t i = 0; i < n; i++)
		w->order.at[i] = i;
	kr_sort_ids(w->order.at, w->order.at + n, n, by_seq, w->lefts.at);
	for (uint32_t i = 0; i < n; i++)
		w->sorted.at[i] = w->lefts.at[w->order.at[i]];
	w->sorted.n = n;
	struct kr_lefts read = w->lefts;
	w->lefts = w->sorted;
	w->sorted = read;
	return true;
}

static struct kr_held carrier_of(const struct kr_left *left, uint32_t first)
{
	return (struct kr_held){.id = left->id,
		.session = left->session,
		.seq = left->seq,
		.line = left->line,
		.end = {left->at[KR_LEFT_END], left->at[KR_LEFT_ENDED]},
		.first = INT64_MIN,
		.due = left->at[KR_LEFT_DUE],
		.left_first = first,
		.flags = left->flags,
		.status = left->status,
		.ended = true,
		.settled = true,
		.certified = true,
		.carried = true};
}

/* Of the keys of the window. */
static void add_carriers(struct building *b)
{
	struct kr_window *w = b->w;

	b->failed |= !get_lefts(b) || !sort_lefts(w) || !kr_vec_reserve(w->mem, &w->carriers, w->lefts.n);
	if (b->failed)
		return;
	for (uint32_t i = 0; i < w->lefts.n; i++) {
		if (i == 0 || w->lefts.at[i].seq != w->lefts.at[i - 1].seq)
			w->carriers.at[w->carriers.n++] = carrier_of(&w->lefts.at[i], i);
		w->carriers.at[w->carriers.n - 1].left_count++;
	}
}

/* Those that are held and those that are carried, in the order of their ends. */
static bool merge_txns(struct kr_window *w, const struct kr_helds *held)
{
	uint32_t i = 0, j = 0;

	while (i < held->n || j < w->carriers.n) {
		bool carried =
			i == held->n || (j < w->carriers.n && w->carriers.at[j].seq < held->at[i]->seq);
		if (!kr_vec_push(w->mem, &w->txns, carried ? &w->carriers.at[j++] : held->at[i++]))
			return false;
	}
	return true;
}

/* ---- transactions ---- */

static kr_key key_in(const struct building *b, kr_key key)
{
	return key.i == KR_NONE ? key : (kr_key){b->bases->at[key.i].at};
}

static bool put_scan(struct building *b, const struct kr_held *t, struct kr_operation *op)
{
	struct kr_history *h = &b->w->h;
	struct kr_scan scan = t->body->scans.at[op->scan];
	uint32_t row = scan.row_first, cond = scan.cond_first;

	scan.row_first = h->rows.n;
	scan.cond_first = h->conds.n;
	for (uint32_t i = 0; i < scan.row_count; i++) {
		struct kr_row r = {key_in(b, t->body->rows.at[row + i].key), t->body->rows.at[row + i].value};
		b->failed |= !kr_vec_push(h->mem, &h->rows, r);
	}
	for (uint32_t i = 0; i < scan.cond_count; i++)
		b->failed |= !kr_vec_push(h->mem, &h->conds, t->body->conds.at[cond + i]);
	op->scan = h->scans.n;
	return kr_vec_push(h->mem, &h->scans, scan);
}

/* Of a transaction with an event that came too late only its writes are left, and nobody knows when they were
 * done. */
static struct kr_attr attr_of(const struct kr_held *t, const struct kr_held_entry *e)
{
	struct kr_attr attr = kr_held_attr(e);

	if (!t->late)
		return attr;
	attr.open = attr.has_time;
	attr.returned = KR_TIME_OPEN;
	return attr;
}

static bool put_entry(struct building *b, const struct kr_held *t, const struct kr_held_entry *e)
{
	struct kr_entry entry = {.op = e->op,
		.is_undo = e->undo != KR_NONE,
		.undo = e->undo,
		.attr = attr_of(t, e)};

	if (!entry.is_undo) {
		entry.op.key = key_in(b, e->op.key);
		if (kr_op_scans(&e->op) && !put_scan(b, t, &entry.op))
			return false;
		entry.op.flags |= entry.attr.has_time ? KR_OPF_HAS_ATTR : 0;
	}
	return kr_history_put(&b->w->h, &entry) == KR_OK;
}

static bool put_mark(struct building *b, unsigned mark, struct kr_span lock)
{
	return kr_vec_push(b->w->mem, &b->w->op_marks, (uint8_t)mark) &&
		kr_vec_push(b->w->mem, &b->w->locks, lock);
}

/* A version that is left of a transaction, as an operation. */
static bool put_left(struct building *b, const struct kr_left *v)
{
	struct kr_history *h = &b->w->h;
	bool told = v->value.i != KR_NONE;
	struct kr_operation op = {.kind = told ? KR_OP_WRITE : KR_OP_INC,
		.flags = KR_OPF_HAS_ATTR,
		.key = v->key,
		.a = told ? v->value : KR_ABSENT};
	struct kr_attr attr = {.op = {h->ops.n},
		.cursor = true,
		.has_time = true,
		.open = v->at[KR_LEFT_ANSWERED] == KR_TIME_OPEN,
		.invoked = v->at[KR_LEFT_SENT],
		.returned = v->at[KR_LEFT_ANSWERED]};
	struct kr_span lock = {v->at[KR_LEFT_LOCK], v->at[KR_LEFT_LOCKED]};

	return kr_vec_push(h->mem, &h->ops, op) && kr_vec_push(h->mem, &h->attrs, attr) &&
		put_mark(b, v->marks, lock);
}

static bool put_lefts(struct building *b, const struct kr_held *t)
{
	for (uint32_t i = 0; i < t->left_count; i++)
		if (!put_left(b, &b->w->lefts.at[t->left_first + i]))
			return false;
	return true;
}

static struct kr_carried_txn told_of(const struct kr_left *left)
{
	return (struct kr_carried_txn){.commit = {left->at[KR_LEFT_COMMIT], left->at[KR_LEFT_COMMITTED]},
		.release = {left->at[KR_LEFT_RELEASE], left->at[KR_LEFT_RELEASED]}};
}

static void end_late(struct kr_transaction *txn, const struct kr_held *t)
{
	int64_t first = INT64_MAX;

	for (uint32_t i = 0; i < t->body->entries.n; i++)
		if (t->body->entries.at[i].has_time && t->body->entries.at[i].invoked < first)
			first = t->body->entries.at[i].invoked;
	txn->status = KR_UNKNOWN;
	txn->flags |= KR_TXN_HAS_END | KR_TXN_END_OPEN;
	if (first < INT64_MAX)
		txn->end_invoked = first;
	txn->end_returned = KR_TIME_OPEN;
}

static bool put_body(struct building *b, const struct kr_held *t)
{
	const struct kr_body *body = t->body;

	for (uint32_t i = 0; i < body->entries.n; i++)
		if (!put_entry(b, t, &body->entries.at[i]))
			return false;
	for (uint32_t i = b->w->h.draft.ops; i < b->w->h.ops.n; i++)
		if (!put_mark(b, 0, (struct kr_span){0, 0}))
			return false;
	return true;
}

static bool put_txn(struct building *b, struct kr_held *t)
{
	struct kr_history *h = &b->w->h;
	struct kr_white_box white_box = {0};
	struct kr_carried_txn told = {0};
	struct kr_transaction txn = {.id = t->id,
		.session = t->session,
		.status = (enum kr_txn_status)t->status & 3,
		.flags = t->flags & KR_TXN_FLAGS,
		.line = t->line,
		.op_first = h->ops.n,
		.end_invoked = t->end[0],
		.end_returned = t->end[1]};
	uint8_t marks = (t->settled ? KR_MARK_SETTLED : 0) | (t->carried ? KR_MARK_CARRIED : 0) |
		(t->certified ? 0 : KR_MARK_FRESH);

	t->at = h->txns.n;
	kr_history_begin(h);
	if (t->carried ? !put_lefts(b, t) : !put_body(b, t))
		return false;
	txn.op_count = h->ops.n - txn.op_first;
	if (t->body) {
		txn.begin_invoked = t->body->begin[0];
		txn.begin_returned = t->body->begin[1];
		white_box = t->body->white_box;
	} else {
		txn.flags &= ~(KR_TXN_HAS_BEGIN | KR_TXN_BEGIN_OPEN | KR_TXN_HAS_SNAPSHOT_T) & KR_TXN_FLAGS;
		told = told_of(&b->w->lefts.at[t->left_first]);
	}
	if (t->late)
		end_late(&txn, t);
	for (uint32_t i = h->draft.struck; i < h->struck.n; i++)
		h->struck.at[i].txn = (kr_txn){h->txns.n};
	return kr_vec_push(h->mem, &h->txns, txn) && kr_vec_push(h->mem, &h->white_box, white_box) &&
		kr_vec_push(b->w->mem, &b->w->txn_marks, marks) &&
		kr_vec_push(b->w->mem, &b->w->carried, told);
}

enum kr_status kr_window_build(struct kr_window *w, struct kr_stream *stream, const struct kr_helds *held,
	struct kr_bases *bases, bool sorted)
{
	struct building b = {.sorted = sorted,
		.w = w,
		.from = stream,
		.stream = kr_stream_history(stream),
		.bases = bases};

	for (uint32_t i = 0; i < held->n && !b.failed; i++)
		touch_all(&b, held->at[i]);
	touch_for_scans(&b);
	if (b.failed || ((b.sorted || b.scans) && !sort_keys(&b)))
		return KR_NOMEM;
	put_keys(&b);
	add_carriers(&b);
	if (b.failed || !merge_txns(w, held))
		return KR_NOMEM;
	borrow(&w->h, b.stream);
	for (uint32_t i = 0; i < w->txns.n; i++)
		if (!put_txn(&b, w->txns.at[i]) || b.failed)
			return KR_NOMEM;
	w->marks = (struct kr_marks){w->txn_marks.at, w->op_marks.at, w->carried.at, w->locks.at};
	return KR_OK;
}
