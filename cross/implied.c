/* Claims about levels that follow from findings. */
#include "cross/implied.h"

#include "base/bits.h"
#include "base/hash.h"
#include "base/table.h"
#include "frontend/model/operation.h"
#include "mechanisms/told.h"

struct implying {
	struct kr_ctx *ctx;
	const struct kr_history *h;
	const struct kr_batch_options *options;
	const struct kr_findings *findings;
	struct kr_implied_list *out;
	uint64_t *deleted; /* keys that somebody deletes, as bits */
};

/* ---- values that tell their writers ---- */

struct write {
	kr_key key;
	kr_value value;
};

struct writes {
	KR_VEC(struct write) all;
	struct kr_table table;
};

static bool is_written(const struct writes *w, uint64_t hash, kr_key key, kr_value value)
{
	uint32_t id;

	KR_TABLE_FIND(id, &w->table, hash, w->all.at[id].key.i == key.i && w->all.at[id].value.i == value.i);
	return id != KR_NONE;
}

/* A write that is not told may be of any value; a key may be deleted many times. *again: the value does not
 * tell who wrote it. */
static enum kr_status look_at_write(struct implying *m, struct writes *w, kr_key key, kr_value value,
	bool *again)
{
	uint64_t hash = kr_hash_pair(key.i, value.i);

	*again = false;
	if (value.i == KR_ABSENT.i) {
		kr_bits_set(m->deleted, key.i);
		return KR_OK;
	}
	*again = value.i == KR_NONE || value.i == m->h->keys.at[key.i].initial.i ||
		is_written(w, hash, key, value);
	if (*again)
		return KR_OK;
	if (!kr_table_push(&m->ctx->mem, &w->table, hash, &w->all, (struct write){key, value}))
		return KR_NOMEM;
	return kr_ctx_tick(m->ctx);
}

static enum kr_status look_at_writes(struct implying *m, bool *distinct)
{
	struct writes w = {0};
	bool again = m->h->initial == KR_INITIAL_UNKNOWN;
	enum kr_status status = KR_OK;
	struct kr_write write;

	for (uint32_t op = 0; op < m->h->ops.n && !again && !status; op++)
		for (uint32_t i = 0; !again && !status && kr_write_at(m->h, &m->h->ops.at[op], i, &write);
			i++)
			status = look_at_write(m, &w, write.key, write.told, &again);
	*distinct = !again;
	kr_vec_done(&m->ctx->mem, &w.all);
	kr_table_done(&m->ctx->mem, &w.table);
	return status;
}

/* ---- claims ---- */

static enum kr_status claim(const struct implying *m, const char *name, const enum kr_order *order, bool told,
	uint32_t finding)
{
	struct kr_implied c = {.told = told, .finding = finding};

	c.level = kr_level_find(m->ctx->modules, name, &c.order);
	c.order = order ? *order : c.order;
	for (uint32_t i = 0; i < m->out->n; i++)
		if (m->out->at[i].level == c.level && m->out->at[i].order == c.order &&
			m->out->at[i].told == told)
			return KR_OK;
	return !c.level || kr_vec_push(&m->ctx->mem, m->out, c) ? KR_OK : KR_NOMEM;
}

static bool is_committed(const struct implying *m, kr_txn t)
{
	return t.i != KR_NONE && m->h->txns.at[t.i].status == KR_COMMITTED;
}

/* Levels know what reads and the results of other operations show, but not that a write found a row. */
static bool is_seen_by_levels(const struct implying *m, const struct kr_finding *f)
{
	uint8_t kind = m->h->ops.at[kr_history_op(m->h, f->txns[0], f->ops[0]).i].kind;

	return kind != KR_OP_WRITE && kind != KR_OP_INC && kind != KR_OP_UPDATE;
}

static enum kr_status imply_read(const struct implying *m, uint32_t i)
{
	const struct kr_finding *f = &m->findings->list.at[i];
	bool vain = f->what == KR_FOUND_OWN_WRITE || f->what == KR_FOUND_NEVER_WRITTEN ||
		f->what == KR_FOUND_ABORTED || f->what == KR_FOUND_INTERMEDIATE;

	if (!is_committed(m, f->txns[0]) || f->seen.i == KR_NONE || f->seen.i == KR_ABSENT.i ||
		!is_seen_by_levels(m, f) || m->options->profile->clock == KR_CLOCK_STAMPS)
		return KR_OK;
	if (vain)
		return claim(m, "pl-2", NULL, false, i);
	bool in_turn = f->what == KR_FOUND_GARBAGE && is_committed(m, f->over) &&
		kr_history_precedes(m->h, f->over, f->txns[0]) &&
		(f->writer.i == KR_NONE ||
			(is_committed(m, f->writer) && kr_history_precedes(m->h, f->writer, f->over)));
	if (!in_turn)
		return KR_OK;
	KR_TRY(claim(m, "pl-fcv", NULL, false, i));
	return claim(m, "pl-ss", NULL, false, i);
}

static bool writes(const struct kr_history *h, const struct kr_operation *op, kr_key key)
{
	return kr_write_of(h, op, key, &(struct kr_write){0});
}

/* What the transaction read of the key before all else that it did with it; i == KR_NONE: it did not. */
static kr_value first_read(const struct kr_history *h, kr_txn t, kr_key key)
{
	for (uint32_t i = 0; i < h->txns.at[t.i].op_count; i++) {
		const struct kr_operation *op = &h->ops.at[kr_history_op(h, t, i).i];
		if (op->kind == KR_OP_READ && op->key.i == key.i)
			return op->flags & KR_OPF_KNOWN ? op->a : KR_UNTOLD;
		if (writes(h, op, key))
			return KR_UNTOLD;
	}
	return KR_UNTOLD;
}

static bool is_writer(const struct kr_history *h, kr_txn t, kr_key key)
{
	for (uint32_t i = 0; i < h->txns.at[t.i].op_count; i++)
		if (writes(h, &h->ops.at[kr_history_op(h, t, i).i], key))
			return true;
	return false;
}

static enum kr_status imply_writers(const struct implying *m, uint32_t i)
{
	const struct kr_finding *f = &m->findings->list.at[i];
	kr_value a = first_read(m->h, f->txns[0], f->key), b = first_read(m->h, f->txns[1], f->key);
	bool lost = a.i != KR_NONE && a.i != KR_ABSENT.i && a.i == b.i &&
		is_writer(m->h, f->txns[0], f->key) && is_writer(m->h, f->txns[1], f->key);
	enum kr_status status = lost ? claim(m, "pl-cs", NULL, false, i) : KR_OK;

	return status || !lost ? status : claim(m, "si", NULL, false, i);
}

/* What the operation showed of the key; KR_ABSENT: that it was not there. i == KR_NONE: neither. */
static kr_value shown(const struct kr_history *h, const struct kr_operation *op, kr_key key)
{
	if (op->kind == KR_OP_READ)
		return op->flags & KR_OPF_KNOWN ? op->a : KR_UNTOLD;
	if (op->kind != KR_OP_RANGE)
		return KR_UNTOLD;
	for (uint32_t i = 0; i < h->scans.at[op->scan].row_count; i++)
		if (h->rows.at[h->scans.at[op->scan].row_first + i].key.i == key.i)
			return h->rows.at[h->scans.at[op->scan].row_first + i].value;
	return KR_ABSENT;
}

/* Can only one version be what the edge's read saw, whenever it was? A key that is not there may have been
 * deleted by anybody. */
static bool has_one_source(const struct implying *m, const struct kr_certain_edge *e)
{
	kr_txn reader = e->kind == KR_RW ? e->from : e->to;

	if (e->kind != KR_RW && e->kind != KR_WR)
		return true;
	kr_value value = shown(m->h, &m->h->ops.at[kr_history_op(m->h, reader, e->op).i], e->key);
	if (value.i != KR_ABSENT.i)
		return value.i != KR_NONE;
	return !kr_bits_get(m->deleted, e->key.i);
}

static enum kr_status imply_cycle(const struct implying *m, uint32_t i)
{
	const struct kr_finding *f = &m->findings->list.at[i];

	for (uint32_t e = 0; e < f->edge_count; e++)
		if (!has_one_source(m, &m->findings->edges.at[f->edge_first + e]))
			return KR_OK;
	return claim(m, m->options->certify->id, &m->options->profile->certify_order, true, i);
}

enum kr_status kr_findings_imply(struct kr_ctx *ctx, const struct kr_history *h,
	const struct kr_batch_options *options, const struct kr_findings *findings,
	struct kr_implied_list *out)
{
	uint32_t words = (uint32_t)KR_BITS_WORDS(h->keys.n);
	struct implying m = {ctx, h, options, findings, out,
		kr_mem_alloc(&ctx->mem, words, sizeof *m.deleted)};
	bool distinct = false;

	if (!m.deleted)
		return KR_NOMEM;

	enum kr_status status = findings->list.n > 0 ? look_at_writes(&m, &distinct) : KR_OK;

	for (uint32_t i = 0; i < findings->list.n && distinct && !status; i++) {
		const struct kr_finding *f = &findings->list.at[i];
		if (f->mechanism == KR_MECH_CR)
			status = imply_read(&m, i);
		else if (f->mechanism == KR_MECH_FUW)
			status = imply_writers(&m, i);
		else if (f->mechanism == KR_MECH_SC && f->what == KR_FOUND_CYCLE)
			status = imply_cycle(&m, i);
	}
	kr_mem_free(&ctx->mem, m.deleted, words, sizeof *m.deleted);
	return status;
}

/* ---- the trace that is told ---- */

/* The cut's numbers of the transactions and keys of the whole; KR_NONE: it has none. */
struct numbers {
	uint32_t *txns, *keys;
};

static uint32_t *new_numbers(struct kr_arena *tmp, uint32_t n)
{
	uint32_t *numbers = KR_NEW_ARRAY(tmp, uint32_t, n);

	for (uint32_t i = 0; numbers && i < n; i++)
		numbers[i] = KR_NONE;
	return numbers;
}

static bool make_numbers(struct kr_arena *tmp, const struct kr_history *whole, const struct kr_cut *cut,
	struct numbers *out)
{
	out->txns = new_numbers(tmp, whole->txns.n);
	out->keys = new_numbers(tmp, whole->keys.n);
	if (!out->txns || !out->keys)
		return false;
	for (uint32_t i = 0; i < cut->txn_of.n; i++)
		out->txns[cut->txn_of.at[i].i] = i;
	for (uint32_t i = 0; i < cut->key_of.n; i++)
		out->keys[cut->key_of.at[i].i] = i;
	return true;
}

static enum kr_status tell(struct kr_cut *cut, const struct numbers *in, const struct kr_told_orders *orders)
{
	struct kr_history *h = &cut->history;

	for (uint32_t i = 0; i < orders->n; i++) {
		kr_txn before = {in->txns[orders->at[i].before.i]}, after = {in->txns[orders->at[i].after.i]};
		struct kr_version_order order = {{in->keys[orders->at[i].key.i]}, h->order_writers.n, 2, 0};
		if (before.i == KR_NONE || after.i == KR_NONE || order.key.i == KR_NONE)
			continue;
		KR_TRY(kr_vec_add(h->mem, &h->order_writers, before));
		KR_TRY(kr_vec_add(h->mem, &h->order_writers, after));
		KR_TRY(kr_vec_add(h->mem, &h->version_orders, order));
	}
	return KR_OK;
}

static enum kr_status tell_orders(struct kr_ctx *ctx, const struct kr_history *whole, struct kr_cut *cut,
	const struct kr_told_orders *orders)
{
	struct kr_arena tmp;
	struct numbers in;

	kr_arena_init(&tmp, &ctx->mem);

	enum kr_status status = make_numbers(&tmp, whole, cut, &in) ? tell(cut, &in, orders) : KR_NOMEM;

	kr_arena_done(&tmp);
	return status;
}

enum kr_status kr_history_told(struct kr_ctx *ctx, const struct kr_history *h,
	const struct kr_batch_options *options, struct kr_cut *out, struct kr_err *err)
{
	struct kr_told_orders orders = {0};
	struct kr_part whole;
	KR_TRY(kr_part_init(&whole, &ctx->mem, h, true));
	enum kr_status status = kr_cut_make(ctx, &whole, out, err);
	kr_part_done(&whole);
	if (status)
		return status;
	status = kr_batch_order(ctx, h, options, &orders, err);
	if (!status)
		status = tell_orders(ctx, h, out, &orders);
	if (!status)
		status = kr_history_finish(&out->history, ctx, err);
	kr_vec_done(&ctx->mem, &orders);
	if (status)
		kr_cut_done(out);
	return status;
}
