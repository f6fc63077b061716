/* Makes histories from parts. Values, keys and sessions are interned anew, as they are met; arrays of numbers
 * remember what became of the whole's, so that a part costs what it holds, plus two arrays over the whole's
 * values and keys. A list or set without some of its elements is a new value, and so is a range without some
 * of its keys: one that was cut off by its limit keeps being cut off, at what it still shows. Version orders
 * keep the writers that still write. */
#include "shrink/cut.h"

#include "frontend/json.h"

#include <string.h>

struct cutting {
	struct kr_ctx *ctx;
	struct kr_mem *mem;
	const struct kr_part *part;
	const struct kr_history *from;
	struct kr_history *to;
	struct kr_cut *cut;
	struct kr_err *err;
	uint32_t *value_in, *key_in; /* of the whole -> 1 + the number here; 0: not here so far */
};

/* ---- values, keys ---- */

static kr_value intern(struct kr_history *h, const struct kr_value_entry *e)
{
	switch (e->type) {
	case KR_VALUE_FALSE:
	case KR_VALUE_TRUE: return kr_history_bool(h, e->type == KR_VALUE_TRUE);
	case KR_VALUE_INT: return kr_history_int(h, e->integer);
	case KR_VALUE_REAL: return kr_history_real(h, e->real);
	case KR_VALUE_STRING:
	case KR_VALUE_ARRAY:
	case KR_VALUE_OBJECT: return kr_history_text(h, e->type, e->text, e->length);
	case KR_VALUE_ABSENT: break;
	}
	return KR_ABSENT;
}

/* Remembers where the new values of the history come from. */
static bool note_values(struct cutting *c, kr_value from)
{
	while (c->cut->value_of.n < c->to->values.n)
		if (!kr_vec_push(c->mem, &c->cut->value_of, (kr_value){KR_NONE}))
			return false;
	if (from.i != KR_NONE)
		c->cut->value_of.at[c->value_in[from.i] - 1] = from;
	return true;
}

static kr_value take(struct cutting *c, kr_value v)
{
	if (v.i == KR_NONE || v.i == KR_ABSENT.i)
		return v;
	if (!c->value_in[v.i]) {
		kr_value made = intern(c->to, kr_history_value(c->from, v));
		if (made.i == KR_NONE)
			return made;
		c->value_in[v.i] = made.i + 1;
		if (!note_values(c, v))
			return (kr_value){KR_NONE};
	}
	return (kr_value){c->value_in[v.i] - 1};
}

static kr_key take_key(struct cutting *c, kr_key k)
{
	if (!c->key_in[k.i]) {
		kr_value name = take(c, c->from->keys.at[k.i].name);
		kr_key made = name.i == KR_NONE ? (kr_key){KR_NONE} : kr_history_key(c->to, name);
		if (made.i == KR_NONE || !kr_vec_push(c->mem, &c->cut->key_of, k))
			return (kr_key){KR_NONE};
		c->key_in[k.i] = made.i + 1;
	}
	return (kr_key){c->key_in[k.i] - 1};
}

static bool is_without(const struct cutting *c, kr_key k, struct kr_piece piece)
{
	struct kr_operand x = kr_operand_of_piece(piece);

	for (uint32_t i = 0; i < c->part->without.n; i++) {
		const struct kr_element *e = &c->part->without.at[i];
		struct kr_operand y = kr_operand_of_value(c->from, e->value);
		if (e->key.i == k.i && kr_operand_equal(&x, &y))
			return true;
	}
	return false;
}

/* The value of a list or set without the elements that are left out. */
static kr_value take_of_key(struct cutting *c, kr_key k, kr_value v)
{
	const struct kr_value_entry *e = v.i == KR_NONE ? NULL : kr_history_value(c->from, v);
	struct kr_piece piece;
	struct kr_str text;

	if (!e || e->type != KR_VALUE_ARRAY || c->part->without.n == 0)
		return take(c, v);
	kr_str_init(&text, c->mem);
	kr_str_add(&text, "[");
	for (size_t at = 1; kr_piece_next(e->text, e->length, &at, &piece);) {
		if (is_without(c, k, piece))
			continue;
		kr_str_add(&text, text.n > 1 ? "," : "");
		kr_str_add_bytes(&text, piece.text, piece.length);
	}
	kr_str_add(&text, "]");

	bool same = text.n == e->length;
	kr_value made = text.failed ? (kr_value){KR_NONE}
		: same              ? take(c, v)
				    : kr_history_text(c->to, KR_VALUE_ARRAY, text.at, text.n);

	kr_str_done(&text);
	return note_values(c, (kr_value){KR_NONE}) ? made : (kr_value){KR_NONE};
}

static enum kr_status take_keys(struct cutting *c)
{
	for (uint32_t k = 0; k < c->from->keys.n; k++) {
		kr_value initial = c->from->keys.at[k].initial;
		if (!kr_bits_get(c->part->keys, k))
			continue;
		kr_key key = take_key(c, (kr_key){k});
		kr_value value = take_of_key(c, (kr_key){k}, initial);
		if (key.i == KR_NONE || value.i == KR_NONE)
			return KR_NOMEM;
		if (c->from->keys.at[k].declared)
			KR_TRY(kr_history_set_kind(c->to, key, (enum kr_key_kind)c->from->keys.at[k].kind,
				c->err));
		KR_TRY(initial.i == KR_ABSENT.i ? kr_ctx_tick(c->ctx)
						: kr_history_set_initial(c->to, key, value, c->err));
	}
	return KR_OK;
}

/* ---- operations ---- */

static bool is_empty_array(const struct kr_history *h, kr_value v)
{
	return kr_history_value(h, v)->type == KR_VALUE_ARRAY && kr_history_value(h, v)->length == 2;
}

static enum kr_status take_rows(struct cutting *c, const struct kr_scan *from, struct kr_scan *to)
{
	to->row_first = c->to->rows.n;
	for (uint32_t r = 0; r < from->row_count; r++) {
		const struct kr_row *row = &c->from->rows.at[from->row_first + r];
		if (!kr_bits_get(c->part->keys, row->key.i))
			continue;
		struct kr_row made = {take_key(c, row->key), take_of_key(c, row->key, row->value)};
		if (made.key.i == KR_NONE || made.value.i == KR_NONE ||
			!kr_vec_push(c->mem, &c->to->rows, made))
			return KR_NOMEM;
		if (is_empty_array(c->to, made.value) && !is_empty_array(c->from, row->value))
			return kr_err_set(c->err, KR_BAD, "a range shows a list or set without elements");
	}
	to->row_count = c->to->rows.n - to->row_first;
	if (from->limit < 0)
		return KR_OK;
	to->limit -= from->row_count - to->row_count;
	return to->limit > 0 || from->limit == 0
		? KR_OK
		: kr_err_set(c->err, KR_BAD, "a range that was cut off by its limit shows nothing any more");
}

static enum kr_status take_conds(struct cutting *c, const struct kr_scan *from, struct kr_scan *to)
{
	to->cond_first = c->to->conds.n;
	for (uint32_t i = 0; i < from->cond_count; i++) {
		struct kr_cond cond = c->from->conds.at[from->cond_first + i];
		cond.field = take(c, cond.field);
		cond.value = take(c, cond.value);
		if (cond.field.i == KR_NONE || cond.value.i == KR_NONE ||
			!kr_vec_push(c->mem, &c->to->conds, cond))
			return KR_NOMEM;
	}
	return KR_OK;
}

static enum kr_status take_scan(struct cutting *c, uint32_t scan, uint32_t *out)
{
	const struct kr_scan *from = &c->from->scans.at[scan];
	struct kr_scan to = *from;
	KR_TRY(take_rows(c, from, &to));

	KR_TRY(take_conds(c, from, &to));
	to.low = take(c, from->low);
	to.high = take(c, from->high);
	to.set = take(c, from->set);
	*out = c->to->scans.n;
	return to.low.i != KR_NONE && to.high.i != KR_NONE && to.set.i != KR_NONE &&
			kr_vec_push(c->mem, &c->to->scans, to)
		? KR_OK
		: KR_NOMEM;
}

/* What an operation says of versions that it named, of keys and by writers that are still there. */
static enum kr_status take_attr(struct cutting *c, kr_op op)
{
	const struct kr_attr *from = kr_history_attr(c->from, op);

	if (!from)
		return KR_OK;
	struct kr_attr to = *from;
	to.op.i = c->to->ops.n;
	to.seen_first = c->to->seen.n;
	for (uint32_t i = from->seen_first; i < from->seen_first + from->seen_count; i++) {
		struct kr_seen seen = c->from->seen.at[i];
		kr_txn writer = seen.writer.i == KR_ABSENT.i ? (kr_txn){KR_NONE}
							     : kr_history_find(c->from, seen.writer);
		if (!kr_bits_get(c->part->keys, seen.key.i) ||
			(writer.i != KR_NONE && !kr_part_writes(c->part, writer, seen.key)))
			continue;
		seen = (struct kr_seen){take_key(c, seen.key), take(c, seen.writer)};
		if (seen.key.i == KR_NONE || seen.writer.i == KR_NONE ||
			!kr_vec_push(c->mem, &c->to->seen, seen))
			return KR_NOMEM;
	}
	to.seen_count = c->to->seen.n - to.seen_first;
	return kr_vec_add(c->mem, &c->to->attrs, to);
}

static enum kr_status take_op(struct cutting *c, kr_op o)
{
	struct kr_operation op = c->from->ops.at[o.i];
	bool shows = op.kind == KR_OP_READ && op.key.i != KR_NONE;
	uint32_t scan = KR_NONE;
	KR_TRY(take_attr(c, o));

	op.a = shows ? take_of_key(c, op.key, op.a) : take(c, op.a);
	if (!kr_op_scans(&op))
		op.b = take(c, op.b);
	else
		KR_TRY(take_scan(c, op.scan, &scan));
	if (kr_op_scans(&op))
		op.scan = scan;
	if (op.key.i != KR_NONE && (op.key = take_key(c, op.key)).i == KR_NONE)
		return KR_NOMEM;
	return op.a.i != KR_NONE && (kr_op_scans(&op) || op.b.i != KR_NONE) &&
			kr_vec_push(c->mem, &c->to->ops, op) && kr_vec_push(c->mem, &c->cut->op_of, o)
		? KR_OK
		: KR_NOMEM;
}

/* ---- transactions ---- */

static enum kr_status take_txn(struct cutting *c, kr_txn t)
{
	struct kr_transaction txn = c->from->txns.at[t.i];

	for (uint32_t i = 0; i < txn.op_count; i++) {
		kr_op op = kr_history_op(c->from, t, i);
		if (kr_part_keeps(c->part, t, op))
			KR_TRY(take_op(c, op));
	}
	txn.id = take(c, txn.id);
	if (txn.session.i != KR_NONE) {
		kr_value name = take(c, c->from->sessions.at[txn.session.i]);
		txn.session = name.i == KR_NONE ? (kr_session){KR_NONE} : kr_history_session(c->to, name);
		if (txn.session.i == KR_NONE)
			return KR_NOMEM;
	}
	if (txn.id.i == KR_NONE || !kr_vec_push(c->mem, &c->cut->txn_of, t))
		return KR_NOMEM;
	KR_TRY(kr_history_add(c->to, txn, t.i < c->from->white_box.n ? &c->from->white_box.at[t.i] : NULL,
		c->err));
	return kr_ctx_tick(c->ctx);
}

static enum kr_status take_order(struct cutting *c, const struct kr_version_order *from)
{
	struct kr_version_order to = {.writer_first = c->to->order_writers.n, .line = from->line};
	uint32_t t = 0;

	if (!kr_bits_get(c->part->keys, from->key.i))
		return KR_OK;
	for (uint32_t i = from->writer_first; i < from->writer_first + from->writer_count; i++) {
		kr_txn writer = c->from->order_writers.at[i];
		if (!kr_bits_get(c->part->txns, writer.i) || !kr_part_writes(c->part, writer, from->key))
			continue;
		t = kr_history_find(c->to, take(c, c->from->txns.at[writer.i].id)).i;
		KR_TRY(kr_vec_add(c->mem, &c->to->order_writers, (kr_txn){t}));
	}
	to.key = take_key(c, from->key);
	to.writer_count = c->to->order_writers.n - to.writer_first;
	return to.key.i != KR_NONE && kr_vec_push(c->mem, &c->to->version_orders, to) ? KR_OK : KR_NOMEM;
}

static enum kr_status take_all(struct cutting *c)
{
	struct kr_history *to = c->to;

	to->name = c->from->name;
	to->format = c->from->format;
	to->clock_skew = c->from->clock_skew;
	to->time_unit = c->from->time_unit;
	to->initial = c->from->initial;
	to->key_order = c->from->key_order;
	for (uint32_t i = 0; i < c->from->files.n; i++)
		KR_TRY(kr_vec_add(c->mem, &to->files, c->from->files.at[i]));
	if (!note_values(c, (kr_value){KR_NONE}))
		return KR_NOMEM;
	c->cut->value_of.at[KR_ABSENT.i] = KR_ABSENT;
	enum kr_status status = take_keys(c);
	for (uint32_t t = 0; t < c->from->txns.n && !status; t++)
		if (kr_bits_get(c->part->txns, t))
			status = take_txn(c, (kr_txn){t});
	for (uint32_t i = 0; i < c->from->version_orders.n && !status; i++)
		status = take_order(c, &c->from->version_orders.at[i]);
	return status ? status : kr_history_finish(to, c->ctx, c->err);
}

enum kr_status kr_cut_make(struct kr_ctx *ctx, const struct kr_part *part, struct kr_cut *out,
	struct kr_err *err)
{
	struct kr_mem *mem = &ctx->mem;
	struct cutting c = {.ctx = ctx,
		.mem = mem,
		.part = part,
		.from = part->whole,
		.to = &out->history,
		.cut = out,
		.err = err};

	*out = (struct kr_cut){.whole = part->whole};
	KR_TRY(kr_history_init(&out->history, mem));
	c.value_in = kr_mem_alloc(mem, c.from->values.n, sizeof *c.value_in);
	c.key_in = kr_mem_alloc(mem, c.from->keys.n, sizeof *c.key_in);
	enum kr_status status = c.value_in && c.key_in ? take_all(&c) : KR_NOMEM;
	kr_mem_free(mem, c.value_in, c.from->values.n, sizeof *c.value_in);
	kr_mem_free(mem, c.key_in, c.from->keys.n, sizeof *c.key_in);
	if (status)
		kr_cut_done(out);
	return status;
}

void kr_cut_done(struct kr_cut *cut)
{
	struct kr_mem *mem = cut->history.mem;

	kr_vec_done(mem, &cut->txn_of);
	kr_vec_done(mem, &cut->op_of);
	kr_vec_done(mem, &cut->key_of);
	kr_vec_done(mem, &cut->value_of);
	kr_history_done(&cut->history);
}

/* ---- back to the whole ---- */

static kr_txn restore_txn(const struct kr_cut *cut, kr_txn t)
{
	return t.i == KR_NONE ? t : cut->txn_of.at[t.i];
}
static kr_key restore_key(const struct kr_cut *cut, kr_key k)
{
	return k.i == KR_NONE ? k : cut->key_of.at[k.i];
}

static uint32_t restore_op(const struct kr_cut *cut, kr_txn t, uint32_t op)
{
	if (op == KR_NONE)
		return op;
	return cut->op_of.at[cut->history.txns.at[t.i].op_first + op].i -
		cut->whole->txns.at[cut->txn_of.at[t.i].i].op_first;
}

/* Elements of an initial list are interned by the history itself: they are looked for. */
static bool restore_value(const struct kr_cut *cut, kr_value *v)
{
	if (v->i == KR_NONE || v->i >= cut->history.values.n)
		return v->i == KR_NONE;

	kr_value known = v->i < cut->value_of.n ? cut->value_of.at[v->i] : (kr_value){KR_NONE};
	struct kr_operand x = kr_operand_of_value(&cut->history, *v);

	for (uint32_t i = 0; i < cut->whole->values.n && known.i == KR_NONE; i++) {
		struct kr_operand y = kr_operand_of_value(cut->whole, (kr_value){i});
		if (kr_operand_equal(&x, &y))
			known.i = i;
	}
	*v = known;
	return known.i != KR_NONE;
}

static enum kr_status restore_edge(const struct kr_cut *cut, const struct kr_cert_edge *from,
	struct kr_cert_edge *to)
{
	*to = *from;
	to->from = restore_txn(cut, from->from);
	to->to = restore_txn(cut, from->to);
	to->source = restore_txn(cut, from->source);
	to->key = restore_key(cut, from->key);
	to->op = restore_op(cut, from->kind == KR_WR ? from->to : from->from, from->op);
	return restore_value(cut, &to->part) ? KR_OK : KR_BAD;
}

enum kr_status kr_cut_restore(const struct kr_cut *cut, const struct kr_certificate *cert,
	struct kr_certificate *out)
{
	out->level = cert->level;
	out->order = cert->order;
	out->kind = cert->kind;
	out->anomaly = cert->anomaly;
	if (cert->kind == KR_CERT_ANOMALY) {
		out->anomaly.txn = restore_txn(cut, cert->anomaly.txn);
		out->anomaly.op = restore_op(cut, cert->anomaly.txn, cert->anomaly.op);
		out->anomaly.key = restore_key(cut, cert->anomaly.key);
	}
	for (uint32_t i = 0; i < cert->edges.n; i++) {
		struct kr_cert_edge edge;
		KR_TRY(restore_edge(cut, &cert->edges.at[i], &edge));
		KR_TRY(kr_vec_add(out->mem, &out->edges, edge));
	}
	for (uint32_t i = 0; i < cert->cycles.n; i++)
		KR_TRY(kr_vec_add(out->mem, &out->cycles, cert->cycles.at[i]));
	return KR_OK;
}
