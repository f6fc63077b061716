/* Operations that do not count: those that failed, and those that a rollback to a savepoint took back.
 *
 * They stand in an array of their own, each with the operation that it stands in front of, so that whoever
 * goes through a transaction's operations meets only what counts. A rollback to a savepoint moves the end
 * of the operations over, between those already struck: linear in what it takes back, and each operation
 * moves once. */
#include "base/order.h"
#include "frontend/history.h"

#include <string.h>

static uint32_t first_struck(const struct kr_history *h, kr_txn t)
{
	uint32_t low = 0, high = h->struck.n;

	KR_BISECT(low, low, high, h->struck.at[low].txn.i < t.i);
	return low;
}

/* Takes the last operation and its attributes out of their arrays. */
static struct kr_struck pop(struct kr_history *h)
{
	struct kr_struck out = {.txn = {KR_NONE}, .entry = KR_ENTRY_NONE};

	out.entry.op = h->ops.at[--h->ops.n];
	if (out.entry.op.flags & KR_OPF_HAS_ATTR)
		out.entry.attr = h->attrs.at[--h->attrs.n];
	return out;
}

static enum kr_status undo(struct kr_history *h, const struct kr_entry *e)
{
	uint32_t struck = h->struck.n, op = h->ops.n;

	for (uint32_t i = 0; i < e->undo; i++) { /* back to the oldest entry that is taken back */
		if (struck > h->draft.struck && h->struck.at[struck - 1].before.i >= op)
			struck--;
		else
			op--;
	}

	uint32_t moved = h->ops.n - op, from = h->struck.n, to = from + moved;

	if (!kr_vec_reserve(h->mem, &h->struck, moved + 1))
		return KR_NOMEM;
	h->struck.n = to;
	for (uint32_t i = 0; i < e->undo; i++) {
		if (from > h->draft.struck && h->struck.at[from - 1].before.i >= h->ops.n)
			h->struck.at[--to] = h->struck.at[--from];
		else
			h->struck.at[--to] = pop(h);
		h->struck.at[to].entry.attr.undone = true;
	}
	for (; to < h->struck.n; to++)
		h->struck.at[to].before = (kr_op){h->ops.n};
	h->struck.at[h->struck.n++] = (struct kr_struck){{KR_NONE}, {h->ops.n}, *e};
	return KR_OK;
}

uint32_t kr_history_entries(const struct kr_history *h)
{
	return h->ops.n - h->draft.ops + h->struck.n - h->draft.struck;
}

enum kr_status kr_history_put(struct kr_history *h, const struct kr_entry *e)
{
	if (e->is_undo)
		return undo(h, e);
	if (e->attr.failed)
		return kr_vec_add(h->mem, &h->struck, ((struct kr_struck){{KR_NONE}, {h->ops.n}, *e}));
	if (e->op.flags & KR_OPF_HAS_ATTR) {
		KR_TRY(kr_vec_add(h->mem, &h->attrs, e->attr));
		h->attrs.at[h->attrs.n - 1].op = (kr_op){h->ops.n};
	}
	return kr_vec_add(h->mem, &h->ops, e->op);
}

struct kr_walk kr_walk_txn(const struct kr_history *h, kr_txn t)
{
	const struct kr_transaction *txn = &h->txns.at[t.i];

	return (struct kr_walk){.place = KR_NONE,
		.next_op = txn->op_first,
		.end_op = txn->op_first + txn->op_count,
		.next_struck = first_struck(h, t),
		.end_struck = first_struck(h, (kr_txn){t.i + 1})};
}

struct kr_walk kr_walk_new(const struct kr_history *h)
{
	return (struct kr_walk){.place = KR_NONE,
		.next_op = h->draft.ops,
		.end_op = h->ops.n,
		.next_struck = h->draft.struck,
		.end_struck = h->struck.n};
}

bool kr_walk_next(const struct kr_history *h, struct kr_walk *w)
{
	w->place++;
	if (w->next_struck < w->end_struck && h->struck.at[w->next_struck].before.i <= w->next_op) {
		w->struck = &h->struck.at[w->next_struck++].entry;
		w->op = w->struck->is_undo ? NULL : &w->struck->op;
		w->attr = &w->struck->attr;
		return true;
	}
	if (w->next_op == w->end_op)
		return false;
	w->struck = NULL;
	w->op = &h->ops.at[w->next_op];
	w->attr = kr_history_attr(h, (kr_op){w->next_op++});
	return true;
}

struct kr_entry kr_walk_entry(const struct kr_walk *w)
{
	struct kr_entry entry = KR_ENTRY_NONE;

	if (w->struck)
		return *w->struck;
	entry.op = *w->op;
	if (w->attr)
		entry.attr = *w->attr;
	return entry;
}

bool kr_history_statement(const struct kr_history *h, struct kr_walk walk, int64_t out[2], bool *open)
{
	bool any = false;

	*open = false;
	while (kr_walk_next(h, &walk)) {
		if (!walk.attr || !walk.attr->has_time)
			continue;
		out[0] = any && out[0] < walk.attr->invoked ? out[0] : walk.attr->invoked;
		out[1] = any && out[1] > walk.attr->returned ? out[1] : walk.attr->returned;
		*open = *open || walk.attr->open;
		any = true;
	}
	return any;
}

uint32_t kr_history_listed(const struct kr_history *h, kr_txn t)
{
	return h->txns.at[t.i].op_count + first_struck(h, (kr_txn){t.i + 1}) - first_struck(h, t);
}

/* The struck entry number j of a transaction has place before - op_first + j, which rises with j. */
struct kr_walk kr_walk_at(const struct kr_history *h, kr_txn t, uint32_t place)
{
	struct kr_walk walk = kr_walk_txn(h, t);
	uint32_t first = walk.next_struck, low = first, high = walk.end_struck;

	KR_BISECT(low, low, high, h->struck.at[low].before.i - walk.next_op + low - first < place);
	walk.next_op += place - (low - first);
	walk.next_struck = low;
	walk.place = place - 1;
	kr_walk_next(h, &walk);
	return walk;
}

uint32_t kr_history_place(const struct kr_history *h, kr_txn t, uint32_t index)
{
	uint32_t at = first_struck(h, t), before = at, op = h->txns.at[t.i].op_first + index;

	while (at < h->struck.n && h->struck.at[at].txn.i == t.i && h->struck.at[at].before.i <= op)
		at++;
	return index + at - before;
}

size_t kr_history_row_length(const struct kr_history *h, const char *name, size_t length)
{
	size_t n = h->row_separator ? strlen(h->row_separator) : 0;

	for (size_t at = length; n > 0 && at >= n; at--)
		if (memcmp(name + at - n, h->row_separator, n) == 0)
			return at - n;
	return length;
}
