/* Orders that lists show. The elements that anybody appended, or that were there at first, are indexed by key
 * and JSON text; those that exactly one append, the last change of the key by a committed transaction, put
 * there stand for its version. A list without what its reader had appended itself, at its end, puts these
 * versions in order. An initial list that is not told may hold any element, unless it is one that nobody
 * writes. Linear in the operations and the text of the lists. */
#include "frontend/shown_lists.h"

#include "base/hash.h"
#include "frontend/model/elements.h"

struct element {
	kr_key key;
	kr_item item;
	kr_txn writer;  /* of the first append */
	uint32_t times; /* appends, and places in the initial list */
	bool last;      /* its append is the last change of the key by a committed transaction */
	uint32_t shown; /* in the list at hand, if `list` is its number */
	uint32_t list;
};

struct finder {
	struct kr_ctx *ctx;
	struct kr_mem *mem;
	const struct kr_history *h;
	struct kr_elements numbered;
	struct kr_table table;
	KR_VEC(struct element) elements;
	uint32_t *changed; /* per key: 1 + the transaction that changes it behind the operation at hand */
	uint32_t list;
	struct kr_list_orders *out;
};

/* The element of the key that somebody appended, or that was there at first; or NULL. */
static struct element *find(const struct finder *f, kr_key k, kr_item item)
{
	uint32_t id;

	KR_TABLE_FIND(id, &f->table, kr_hash_pair(k.i, item.i),
		f->elements.at[id].key.i == k.i && f->elements.at[id].item.i == item.i);
	return id == KR_NONE ? NULL : &f->elements.at[id];
}

/* NULL: out of memory. */
static struct element *add(struct finder *f, kr_key k, kr_item item, kr_txn writer)
{
	struct element *e = find(f, k, item);

	if (!e) {
		if (!kr_table_push(f->mem, &f->table, kr_hash_pair(k.i, item.i), &f->elements,
			    (struct element){.key = k, .item = item, .writer = writer, .list = KR_NONE}))
			return NULL;
		e = &f->elements.at[f->elements.n - 1];
	}
	e->times++;
	return e;
}

static bool is_list(const struct finder *f, kr_key k)
{
	return k.i != KR_NONE && f->h->keys.at[k.i].kind == KR_KIND_LIST;
}

/* From the last operation on, so that it is known which change of a key is the last. */
static enum kr_status index_txn(struct finder *f, kr_txn t)
{
	const struct kr_transaction *txn = &f->h->txns.at[t.i];
	struct kr_write write;

	for (uint32_t i = txn->op_count; i-- > 0;) {
		const struct kr_operation *op = &f->h->ops.at[txn->op_first + i];

		if (!is_list(f, op->key) || !kr_write_at(f->h, op, 0, &write))
			continue;

		struct element *e = write.how == KR_ADD ? add(f, op->key, write.item, t) : NULL;

		if (write.how == KR_ADD && !e)
			return KR_NOMEM;
		if (e && f->changed[op->key.i] != t.i + 1 && txn->status == KR_COMMITTED)
			e->last = true;
		f->changed[op->key.i] = t.i + 1;
		KR_TRY(kr_ctx_tick(f->ctx));
	}
	return KR_OK;
}

static enum kr_status index_all(struct finder *f)
{
	const struct kr_history *h = f->h;
	struct kr_items items;

	KR_TRY(kr_elements_name_added(&f->numbered, f->ctx));
	for (kr_key k = {0}; k.i < h->keys.n; k.i++) {
		if (!is_list(f, k))
			continue;
		KR_TRY(kr_elements_split(&f->numbered, h->keys.at[k.i].initial, &items));
		for (uint32_t i = 0; i < items.n; i++)
			KR_TRY(add(f, k, items.at[i], (kr_txn){KR_NONE}) ? KR_OK : KR_NOMEM);
	}
	for (kr_txn t = {0}; t.i < h->txns.n; t.i++)
		KR_TRY(index_txn(f, t));
	return KR_OK;
}

/* ---- lists ---- */

/* How often each element of the list at hand is shown. */
static void count_shown(struct finder *f, kr_key k, const struct kr_items *items)
{
	f->list++;
	for (uint32_t i = 0; i < items->n; i++) {
		struct element *x = find(f, k, items->at[i]);

		if (!x)
			continue;
		x->shown = x->list == f->list ? x->shown + 1 : 1;
		x->list = f->list;
	}
}

/* Whether the transaction had appended the element before its operation. */
static bool is_own(const struct finder *f, kr_txn t, uint32_t op, kr_key k, kr_item item)
{
	struct kr_write write;

	for (uint32_t i = 0; i < op; i++)
		if (kr_write_of(f->h, &f->h->ops.at[kr_history_op(f->h, t, i).i], k, &write) &&
			write.how == KR_ADD && write.item.i == item.i)
			return true;
	return false;
}

static enum kr_status look(struct finder *f, kr_txn t, uint32_t op, kr_key k, kr_value value)
{
	struct kr_items items;
	kr_txn last = {KR_NONE};

	if (!is_list(f, k))
		return KR_OK;
	KR_TRY(kr_elements_split(&f->numbered, value, &items));
	count_shown(f, k, &items);
	for (; items.n > 0 && is_own(f, t, op, k, items.at[items.n - 1]); items.n--)
		find(f, k, items.at[items.n - 1])->shown--;
	for (uint32_t i = 0; i < items.n; i++) {
		const struct element *x = find(f, k, items.at[i]);

		if (!x || !x->last || x->times != 1 || x->shown != 1)
			continue;
		if (last.i != KR_NONE &&
			!kr_vec_push(f->mem, f->out, (struct kr_list_order){k, last, x->writer}))
			return KR_NOMEM;
		last = x->writer;
	}
	return kr_ctx_tick(f->ctx);
}

static enum kr_status look_all(struct finder *f)
{
	const struct kr_history *h = f->h;

	for (kr_txn t = {0}; t.i < h->txns.n; t.i++) {
		for (uint32_t i = 0; i < h->txns.at[t.i].op_count && h->txns.at[t.i].status == KR_COMMITTED;
			i++) {
			const struct kr_operation *op = &h->ops.at[kr_history_op(h, t, i).i];
			const struct kr_scan *scan =
				kr_op_scans(op) && kr_op_is_read(op) ? &h->scans.at[op->scan] : NULL;
			struct kr_view view = kr_op_view(op);

			if (view.when == KR_SEEN_BEFORE && !view.other)
				KR_TRY(look(f, t, i, op->key, view.value));
			for (uint32_t r = 0; scan && r < scan->row_count; r++)
				KR_TRY(look(f, t, i, h->rows.at[scan->row_first + r].key,
					h->rows.at[scan->row_first + r].value));
		}
	}
	return KR_OK;
}

enum kr_status kr_find_list_orders(struct kr_ctx *ctx, const struct kr_history *h, struct kr_list_orders *out)
{
	struct finder f = {.ctx = ctx, .mem = &ctx->mem, .h = h, .out = out};
	enum kr_status status = KR_NOMEM;

	if (h->initial == KR_INITIAL_UNKNOWN)
		return KR_OK;
	kr_elements_init(&f.numbered, f.mem, h);
	f.changed = kr_mem_alloc(f.mem, h->keys.n, sizeof *f.changed);
	if (f.changed)
		status = index_all(&f);
	if (!status)
		status = look_all(&f);
	kr_mem_free(f.mem, f.changed, h->keys.n, sizeof *f.changed);
	kr_vec_done(f.mem, &f.elements);
	kr_table_done(f.mem, &f.table);
	kr_elements_done(&f.numbered);
	return status;
}
