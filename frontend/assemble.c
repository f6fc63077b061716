/* A history of events: the operations of each open transaction wait, by session, until it ends; then they
 * are put behind each other and the transaction is added, so that transactions stand in the order of their
 * ends, which within a session is its order. Memory beside the history's: that of open transactions. */
#include "frontend/event.h"

#include <stdlib.h>

struct kr_assembling { /* an open transaction */
	struct kr_transaction txn;
	struct kr_white_box white_box;
	bool open, broken; /* broken: something of it was bad, and it is left out */
	KR_VEC(struct kr_entry) entries;
};

void kr_assembly_done(struct kr_history *h)
{
	for (uint32_t i = 0; i < h->open.n; i++)
		kr_vec_done(h->mem, &h->open.at[i].entries);
	kr_vec_done(h->mem, &h->open);
	kr_vec_done(h->mem, &h->orders);
	kr_vec_done(h->mem, &h->ordered);
}

static struct kr_assembling *place_of(struct kr_history *h, kr_session session)
{
	uint32_t at = session.i == KR_NONE ? 0 : session.i + 1;

	while (h->open.n <= at)
		if (!kr_vec_push(h->mem, &h->open, (struct kr_assembling){.open = false}))
			return NULL;
	return &h->open.at[at];
}

void kr_assembly_break(struct kr_history *h, kr_session session, bool ended, struct kr_err *err)
{
	struct kr_assembling *place = session.i + 1 < h->open.n ? &h->open.at[session.i + 1] : NULL;

	if (!place || !place->open || !place->broken)
		kr_history_leave_out(h, err);
	kr_err_init(err);
	if (!place || !place->open)
		return;
	place->broken = true;
	place->open = !ended;
	h->position += ended;
}

/* ---- transactions ---- */

static enum kr_status begin(struct kr_assembling *place, const struct kr_event *e)
{
	place->open = true;
	place->broken = false;
	kr_vec_clear(&place->entries);
	place->txn = (struct kr_transaction){.id = e->txn,
		.session = e->session,
		.status = KR_UNKNOWN,
		.flags = e->flags & ~(unsigned)KR_TXN_TIMES & KR_TXN_FLAGS,
		.line = e->line};
	kr_txn_put_file(&place->txn, e->file);
	place->white_box = e->white_box;
	if (e->timed) {
		place->txn.flags |= KR_TXN_HAS_BEGIN | (e->open ? KR_TXN_BEGIN_OPEN : 0);
		place->txn.begin_invoked = e->invoked;
		place->txn.begin_returned = e->returned;
	}
	return KR_OK;
}

static enum kr_status add(struct kr_history *h, struct kr_assembling *place, struct kr_err *err)
{
	enum kr_status status = KR_OK;

	place->open = false;
	kr_history_begin(h);
	for (uint32_t i = 0; i < place->entries.n && !place->broken && !status; i++)
		status = kr_history_put(h, &place->entries.at[i]);
	if (status || place->broken) {
		kr_history_drop(h);
		return status;
	}
	return kr_history_add(h, place->txn, &place->white_box, err);
}

static enum kr_status end(struct kr_history *h, struct kr_assembling *place, const struct kr_event *e,
	struct kr_err *err)
{
	place->txn.status = (enum kr_txn_status)e->status & 3;
	place->txn.flags =
		((e->flags & ~(unsigned)KR_TXN_TIMES) | (place->txn.flags & KR_TXN_TIMES)) & KR_TXN_FLAGS;
	place->white_box = e->white_box;
	if (e->timed) {
		place->txn.flags |= KR_TXN_HAS_END | (e->open ? KR_TXN_END_OPEN : 0);
		place->txn.end_invoked = e->invoked;
		place->txn.end_returned = e->returned;
	}
	return add(h, place, err);
}

/* ---- version orders ---- */

static enum kr_status take_order(struct kr_history *h, const struct kr_event *e)
{
	struct kr_version_order order = {.key = e->key,
		.writer_first = h->ordered.n,
		.writer_count = e->writer_count,
		.line = e->line};

	for (uint32_t i = 0; i < e->writer_count; i++)
		KR_TRY(kr_vec_add(h->mem, &h->ordered, e->writers[i]));
	return kr_vec_add(h->mem, &h->orders, order);
}

/* Looks the writers up. */
static enum kr_status settle_order(struct kr_history *h, struct kr_version_order order, struct kr_err *err)
{
	uint32_t first = h->order_writers.n;
	char key[80], id[80];

	for (uint32_t i = order.writer_first; i < order.writer_first + order.writer_count; i++) {
		kr_txn writer = kr_history_find(h, h->ordered.at[i]);
		if (writer.i == KR_NONE) {
			h->order_writers.n = first;
			return kr_err_set(err, KR_BAD,
				"version order of %s: no transaction has the id %s, expected a writer",
				kr_history_brief(h, h->keys.at[order.key.i].name, key, sizeof key),
				kr_history_brief(h, h->ordered.at[i], id, sizeof id));
		}
		KR_TRY(kr_vec_add(h->mem, &h->order_writers, writer));
	}
	order.writer_first = first;
	return kr_vec_add(h->mem, &h->version_orders, order);
}

/* ---- the whole ---- */

static enum kr_status take(struct kr_history *h, const struct kr_event *e, struct kr_err *err)
{
	if (e->kind == KR_EVENT_NOW)
		return KR_OK;
	if (e->kind == KR_EVENT_ORDER)
		return take_order(h, e);

	struct kr_assembling *place = place_of(h, e->session);

	if (!place)
		return KR_NOMEM;
	if (e->kind == KR_EVENT_BEGIN)
		return begin(place, e);
	if (!place->open)
		return KR_OK; /* of a transaction that is left out */
	if (e->kind == KR_EVENT_END)
		return end(h, place, e, err);
	return kr_vec_add(h->mem, &place->entries, e->entry);
}

enum kr_status kr_history_take(void *history, const struct kr_event *event, struct kr_err *err)
{
	struct kr_history *h = history;
	enum kr_status status = h->sink ? h->sink->take(h->sink->data, event, err) : take(h, event, err);

	if (status == KR_BAD)
		kr_err_at(err, h->files.n ? h->files.at[event->file] : NULL, event->line, 0);
	return status;
}

static int compare_lines(const void *a, const void *b)
{
	const struct kr_assembling *const *x = a, *const *y = b;

	return ((*x)->txn.line > (*y)->txn.line) - ((*x)->txn.line < (*y)->txn.line);
}

static enum kr_status forgive(struct kr_history *h, enum kr_status status, uint32_t line, struct kr_err *err)
{
	kr_err_at(err, h->files.n ? h->files.at[0] : NULL, line, 0);
	return kr_history_forgive(h, status, err);
}

/* Those still open, in the order in which they began. */
static enum kr_status add_open(struct kr_history *h, struct kr_err *err)
{
	KR_VEC(struct kr_assembling *) open = {0};
	enum kr_status status = KR_OK;

	for (uint32_t i = 0; i < h->open.n && !status; i++)
		if (h->open.at[i].open && !kr_vec_push(h->mem, &open, &h->open.at[i]))
			status = KR_NOMEM;
	if (open.n > 1)
		qsort(open.at, open.n, sizeof *open.at, compare_lines);
	for (uint32_t i = 0; i < open.n && !status; i++)
		status = forgive(h, add(h, open.at[i], err), open.at[i]->txn.line, err);
	kr_vec_done(h->mem, &open);
	return status;
}

enum kr_status kr_assembly_finish(struct kr_history *h, struct kr_err *err)
{
	enum kr_status status = add_open(h, err);

	for (uint32_t i = 0; !status && i < h->orders.n; i++)
		status = forgive(h, settle_order(h, h->orders.at[i], err), h->orders.at[i].line, err);
	kr_assembly_done(h);
	return status;
}
