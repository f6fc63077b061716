/* A history of events: the operations of each open transaction wait, by session, until it ends; then they
 * are put behind each other and the transaction is added, so that transactions stand in the order of their
 * ends, which within a session is its order. Memory beside the history's: that of open transactions. */
#include "frontend/assemble.h"

#include <stdlib.h>

void kr_assembly_init(struct kr_assembly *a, struct kr_history *h, uint32_t *position) { *a = (struct kr_assembly){.h = h, .position = position}; }

void kr_assembly_done(struct kr_assembly *a)
{
	struct kr_mem *mem = a->h->mem;

	for (uint32_t i = 0; i < a->open.n; i++)
		kr_vec_done(mem, &a->open.at[i].entries);
	kr_vec_done(mem, &a->open);
	kr_vec_done(mem, &a->orders);
	kr_vec_done(mem, &a->writers);
}

static struct kr_assembling *place_of(struct kr_assembly *a, kr_session session)
{
	uint32_t at = session.i == KR_NONE ? 0 : session.i + 1;

	while (a->open.n <= at)
		if (!kr_vec_push(a->h->mem, &a->open, (struct kr_assembling){.open = false}))
			return NULL;
	return &a->open.at[at];
}

void kr_assembly_break(struct kr_assembly *a, kr_session session, bool ended, struct kr_err *err)
{
	struct kr_assembling *place = session.i + 1 < a->open.n ? &a->open.at[session.i + 1] : NULL;

	if (!place || !place->open || !place->broken)
		kr_history_leave_out(a->h, err);
	kr_err_init(err);
	if (!place || !place->open)
		return;
	place->broken = true;
	place->open = !ended;
	*a->position += ended;
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
		.flags = (uint16_t)(e->flags & ~(unsigned)KR_TXN_TIMES),
		.file = e->file,
		.line = e->line};
	place->white_box = e->white_box;
	if (e->timed) {
		place->txn.flags |= KR_TXN_HAS_BEGIN | (e->open ? KR_TXN_BEGIN_OPEN : 0);
		place->txn.begin_invoked = e->invoked;
		place->txn.begin_returned = e->returned;
	}
	return KR_OK;
}

static enum kr_status put_entry(struct kr_history *h, const struct kr_assembled *entry, struct kr_history_mark mark)
{
	struct kr_operation op = entry->op;
	struct kr_attr attr = entry->attr;

	if (entry->is_undo)
		return kr_history_undo(h, mark, entry->undo, &attr);
	attr.op = (kr_op){h->ops.n};
	attr.failed = attr.ends = false;
	if (!kr_vec_push(h->mem, &h->ops, op) || (op.flags & KR_OPF_HAS_ATTR && !kr_vec_push(h->mem, &h->attrs, attr)))
		return KR_NOMEM;
	if (!entry->attr.failed)
		return KR_OK;

	enum kr_status status = kr_history_strike_failed(h, entry->attr.ends);

	if (!status)
		h->struck.at[h->struck.n - 1].attr = entry->attr; /* which may have a time only as one that failed */
	return status;
}

static enum kr_status add(struct kr_assembly *a, struct kr_assembling *place, struct kr_err *err)
{
	struct kr_history *h = a->h;
	struct kr_history_mark mark = kr_history_mark(h);
	enum kr_status status = KR_OK;

	place->open = false;
	++*a->position;
	if (place->broken)
		return KR_OK;
	for (uint32_t i = 0; i < place->entries.n && !status; i++)
		status = put_entry(h, &place->entries.at[i], mark);
	if (!status)
		status = kr_history_add(h, place->txn, *a->position, err);
	if (status)
		kr_history_rollback(h, mark);
	else if (place->txn.flags & KR_TXN_WHITE_BOX)
		status = kr_history_set_white_box(h, place->white_box);
	return status;
}

static enum kr_status end(struct kr_assembly *a, struct kr_assembling *place, const struct kr_event *e, struct kr_err *err)
{
	place->txn.status = e->status;
	place->txn.flags = (uint16_t)((e->flags & ~(unsigned)KR_TXN_TIMES) | (place->txn.flags & KR_TXN_TIMES));
	place->white_box = e->white_box;
	if (e->timed) {
		place->txn.flags |= KR_TXN_HAS_END | (e->open ? KR_TXN_END_OPEN : 0);
		place->txn.end_invoked = e->invoked;
		place->txn.end_returned = e->returned;
	}
	return add(a, place, err);
}

/* ---- version orders ---- */

static enum kr_status take_order(struct kr_assembly *a, const struct kr_event *e)
{
	struct kr_version_order order = {.key = e->key, .writer_first = a->writers.n, .writer_count = e->writer_count, .line = e->line};

	for (uint32_t i = 0; i < e->writer_count; i++)
		if (!kr_vec_push(a->h->mem, &a->writers, e->writers[i]))
			return KR_NOMEM;
	return kr_vec_push(a->h->mem, &a->orders, order) ? KR_OK : KR_NOMEM;
}

/* Looks the writers up and moves the order to the history. */
static enum kr_status settle_order(struct kr_assembly *a, struct kr_version_order order, struct kr_err *err)
{
	struct kr_history *h = a->h;
	uint32_t first = h->order_writers.n;
	char key[80], id[80];

	for (uint32_t i = order.writer_first; i < order.writer_first + order.writer_count; i++) {
		kr_txn writer = kr_history_find(h, a->writers.at[i]);
		if (writer.i == KR_NONE) {
			h->order_writers.n = first;
			kr_err_set(err, KR_BAD, "version order of %s: no transaction has the id %s, expected a writer",
				kr_history_brief(h, h->keys.at[order.key.i].name, key, sizeof key), kr_history_brief(h, a->writers.at[i], id, sizeof id));
			kr_err_at(err, h->files.n ? h->files.at[0] : NULL, order.line, 0);
			return KR_BAD;
		}
		if (!kr_vec_push(h->mem, &h->order_writers, writer))
			return KR_NOMEM;
	}
	order.writer_first = first;
	return kr_vec_push(h->mem, &h->version_orders, order) ? KR_OK : KR_NOMEM;
}

/* ---- the whole ---- */

enum kr_status kr_assembly_take(void *assembly, const struct kr_event *e, struct kr_err *err)
{
	struct kr_assembly *a = assembly;
	struct kr_assembled entry = {.op = e->op, .attr = e->attr, .is_undo = e->kind == KR_EVENT_UNDO, .undo = e->undo};

	if (e->kind == KR_EVENT_NOW)
		return KR_OK;
	if (e->kind == KR_EVENT_ORDER)
		return take_order(a, e);

	struct kr_assembling *place = place_of(a, e->session);

	if (!place)
		return KR_NOMEM;
	if (e->kind == KR_EVENT_BEGIN)
		return begin(place, e);
	if (!place->open)
		return KR_OK; /* of a transaction that is left out */
	if (e->kind == KR_EVENT_END)
		return end(a, place, e, err);
	return kr_vec_push(a->h->mem, &place->entries, entry) ? KR_OK : KR_NOMEM;
}

static int compare_lines(const void *a, const void *b)
{
	const struct kr_assembling *const *x = a, *const *y = b;

	return ((*x)->txn.line > (*y)->txn.line) - ((*x)->txn.line < (*y)->txn.line);
}

/* Those still open, in the order in which they began. */
static enum kr_status add_open(struct kr_assembly *a, struct kr_err *err)
{
	struct kr_mem *mem = a->h->mem;
	KR_VEC(struct kr_assembling *) open = {0};
	enum kr_status status = KR_OK;

	for (uint32_t i = 0; i < a->open.n && !status; i++)
		if (a->open.at[i].open && !kr_vec_push(mem, &open, &a->open.at[i]))
			status = KR_NOMEM;
	if (open.n > 1)
		qsort(open.at, open.n, sizeof *open.at, compare_lines);
	for (uint32_t i = 0; i < open.n && !status; i++) {
		uint32_t line = open.at[i]->txn.line;

		status = add(a, open.at[i], err);
		if (status != KR_BAD)
			continue;
		kr_err_at(err, a->h->files.n ? a->h->files.at[0] : NULL, line, 0);
		if (a->h->lenient) {
			kr_history_leave_out(a->h, err);
			status = KR_OK;
		}
	}
	kr_vec_done(mem, &open);
	return status;
}

enum kr_status kr_assembly_finish(struct kr_assembly *a, struct kr_err *err)
{
	enum kr_status status = add_open(a, err);

	for (uint32_t i = 0; !status && i < a->orders.n; i++) {
		status = settle_order(a, a->orders.at[i], err);
		if (status == KR_BAD && a->h->lenient) {
			kr_history_leave_out(a->h, err);
			status = KR_OK;
		}
	}
	return status;
}
