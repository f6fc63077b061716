/* Orders that lists show. The elements that anybody appended, or that were there at first, are indexed by key and JSON text; those that exactly one append, the last change of the key by a committed transaction,
 * put there stand for its version. A list without what its reader had appended itself, at its end, puts these versions in order. An initial list that is not told may hold any element, unless it is one that nobody
 * writes. Linear in the operations and the text of the lists. */
#include "frontend/shown_lists.h"

#include "base/hash.h"
#include "frontend/json.h"
#include "frontend/model/operation.h"

#include <string.h>

struct element {
	kr_key key;
	struct kr_piece text;
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
	struct kr_arena texts;
	struct kr_str text;
	struct kr_table table;
	KR_VEC(struct element) elements;
	uint32_t *changed; /* per key: 1 + the transaction that changes it behind the operation at hand */
	uint32_t *element; /* per operation: what it appends, or KR_NONE */
	uint32_t list;
	KR_VEC(uint32_t) members;
	struct kr_list_orders *out;
};

static uint64_t element_hash(kr_key k, struct kr_piece text) { return kr_hash_pair(k.i, kr_hash_bytes(text.text, text.length)); }

static uint32_t find(const struct finder *f, kr_key k, struct kr_piece text)
{
	uint32_t id;

	for (kr_table_iter it = kr_table_find(&f->table, element_hash(k, text)); (id = kr_table_next(&f->table, &it)) != KR_NONE;) {
		const struct element *e = &f->elements.at[id];
		if (e->key.i == k.i && e->text.length == text.length && memcmp(e->text.text, text.text, text.length) == 0)
			return id;
	}
	return KR_NONE;
}

static enum kr_status add(struct finder *f, kr_key k, struct kr_piece text, kr_txn writer, uint32_t *out)
{
	uint32_t id = find(f, k, text);

	if (id == KR_NONE) {
		struct element e = {.key = k, .text = {kr_arena_text(&f->texts, text.text, text.length), text.length}, .writer = writer, .list = KR_NONE};

		id = f->elements.n;
		if (!e.text.text || !kr_table_reserve(f->mem, &f->table) || !kr_vec_push(f->mem, &f->elements, e))
			return KR_NOMEM;
		kr_table_insert(&f->table, element_hash(k, text), id);
	}
	f->elements.at[id].times++;
	*out = id;
	return KR_OK;
}

static bool is_list(const struct finder *f, kr_key k) { return k.i != KR_NONE && f->h->keys.at[k.i].kind == KR_KIND_LIST; }

static enum kr_status add_append(struct finder *f, kr_txn t, uint32_t o)
{
	const struct kr_operation *op = &f->h->ops.at[o];

	f->text.n = 0;
	kr_history_json_value(f->h, op->a, &f->text);
	return f->text.failed ? KR_NOMEM : add(f, op->key, (struct kr_piece){kr_str_text(&f->text), f->text.n}, t, &f->element[o]);
}

/* From the last operation on, so that it is known which change of a key is the last. */
static enum kr_status index_txn(struct finder *f, kr_txn t)
{
	const struct kr_transaction *txn = &f->h->txns.at[t.i];
	struct kr_write write;
	enum kr_status status = KR_OK;

	for (uint32_t i = txn->op_count; i-- > 0 && !status;) {
		const struct kr_operation *op = &f->h->ops.at[txn->op_first + i];

		if (!is_list(f, op->key) || !kr_write_at(f->h, op, 0, &write))
			continue;
		if (write.how == KR_ADD)
			status = add_append(f, t, txn->op_first + i);
		if (!status && write.how == KR_ADD && f->changed[op->key.i] != t.i + 1 && txn->status == KR_COMMITTED)
			f->elements.at[f->element[txn->op_first + i]].last = true;
		f->changed[op->key.i] = t.i + 1;
		if (!status)
			status = kr_ctx_tick(f->ctx);
	}
	return status;
}

static enum kr_status index_all(struct finder *f)
{
	const struct kr_history *h = f->h;
	enum kr_status status = KR_OK;
	struct kr_piece piece;
	uint32_t id;

	for (uint32_t o = 0; o < h->ops.n; o++)
		f->element[o] = KR_NONE;
	for (kr_key k = {0}; k.i < h->keys.n && !status; k.i++) {
		const struct kr_value_entry *e = kr_history_value(h, h->keys.at[k.i].initial);
		for (size_t at = 1; is_list(f, k) && e->type == KR_VALUE_ARRAY && !status && kr_piece_next(e->text, e->length, &at, &piece);)
			status = add(f, k, piece, (kr_txn){KR_NONE}, &id);
	}
	for (kr_txn t = {0}; t.i < h->txns.n && !status; t.i++)
		status = index_txn(f, t);
	return status;
}

/* ---- lists ---- */

/* The elements of the list that somebody appended, or KR_NONE, in its order, and how often each is shown. */
static enum kr_status read_list(struct finder *f, kr_key k, const struct kr_value_entry *e)
{
	struct kr_piece piece;

	kr_vec_clear(&f->members);
	f->list++;
	for (size_t at = 1; kr_piece_next(e->text, e->length, &at, &piece);) {
		uint32_t id = find(f, k, piece);
		if (!kr_vec_push(f->mem, &f->members, id))
			return KR_NOMEM;
		if (id == KR_NONE)
			continue;
		struct element *x = &f->elements.at[id];
		x->shown = x->list == f->list ? x->shown + 1 : 1;
		x->list = f->list;
	}
	return KR_OK;
}

/* Takes what the transaction had appended before its operation off the end. */
static void take_off_own(struct finder *f, const struct kr_transaction *txn, uint32_t op)
{
	bool own = true;

	while (f->members.n > 0 && own) {
		uint32_t id = f->members.at[f->members.n - 1];

		own = false;
		for (uint32_t i = 0; i < op && id != KR_NONE && !own; i++)
			own = f->element[txn->op_first + i] == id;
		if (!own)
			return;
		f->elements.at[id].shown--;
		f->members.n--;
	}
}

static enum kr_status look(struct finder *f, kr_txn t, uint32_t op, kr_key k, kr_value value)
{
	const struct kr_value_entry *e = kr_history_value(f->h, value);
	kr_txn last = {KR_NONE};
	enum kr_status status = KR_OK;

	if (!is_list(f, k) || e->type != KR_VALUE_ARRAY)
		return KR_OK;
	status = read_list(f, k, e);
	if (!status)
		take_off_own(f, &f->h->txns.at[t.i], op);
	for (uint32_t i = 0; i < f->members.n && !status; i++) {
		const struct element *x = f->members.at[i] == KR_NONE ? NULL : &f->elements.at[f->members.at[i]];

		if (!x || !x->last || x->times != 1 || x->shown != 1)
			continue;
		if (last.i != KR_NONE && !kr_vec_push(f->mem, f->out, (struct kr_list_order){k, last, x->writer}))
			status = KR_NOMEM;
		last = x->writer;
	}
	return status ? status : kr_ctx_tick(f->ctx);
}

static enum kr_status look_all(struct finder *f)
{
	const struct kr_history *h = f->h;
	enum kr_status status = KR_OK;

	for (kr_txn t = {0}; t.i < h->txns.n && !status; t.i++) {
		for (uint32_t i = 0; i < h->txns.at[t.i].op_count && h->txns.at[t.i].status == KR_COMMITTED && !status; i++) {
			const struct kr_operation *op = &h->ops.at[kr_history_op(h, t, i).i];
			const struct kr_scan *scan = op->kind == KR_OP_RANGE || op->kind == KR_OP_SCAN ? &h->scans.at[op->scan] : NULL;

			if (op->kind == KR_OP_READ && op->flags & KR_OPF_KNOWN)
				status = look(f, t, i, op->key, op->a);
			for (uint32_t r = 0; scan && r < scan->row_count && !status; r++)
				status = look(f, t, i, h->rows.at[scan->row_first + r].key, h->rows.at[scan->row_first + r].value);
		}
	}
	return status;
}

enum kr_status kr_find_list_orders(struct kr_ctx *ctx, const struct kr_history *h, struct kr_list_orders *out)
{
	struct finder f = {.ctx = ctx, .mem = &ctx->mem, .h = h, .out = out};
	enum kr_status status = KR_NOMEM;

	if (h->initial == KR_INITIAL_UNKNOWN)
		return KR_OK;
	kr_arena_init(&f.texts, f.mem);
	kr_str_init(&f.text, f.mem);
	f.changed = kr_mem_alloc(f.mem, h->keys.n, sizeof *f.changed);
	f.element = kr_mem_alloc(f.mem, h->ops.n, sizeof *f.element);
	if (f.changed && f.element)
		status = index_all(&f);
	if (!status)
		status = look_all(&f);
	kr_mem_free(f.mem, f.changed, h->keys.n, sizeof *f.changed);
	kr_mem_free(f.mem, f.element, h->ops.n, sizeof *f.element);
	kr_vec_done(f.mem, &f.elements);
	kr_vec_done(f.mem, &f.members);
	kr_table_done(f.mem, &f.table);
	kr_str_done(&f.text);
	kr_arena_done(&f.texts);
	return status;
}
