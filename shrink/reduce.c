/* Delta debugging (Zeller and Hildebrandt, IEEE TSE 2002, without its first half: parts that are kept alone
 * hardly ever are a history). Units of one kind, those of the last transactions first, are taken away in
 * chunks: half of them, a quarter, and so on to one by one. Kinds in turn, the coarsest first, until a round
 * over all of them takes nothing away: then no single unit can go. Cost: few tests where the part is nearly
 * minimal; at worst quadratic in its units. */
#include "shrink/reduce.h"

enum unit_kind { UNIT_TXN, UNIT_OP, UNIT_KEY, UNIT_ELEMENT, UNIT_KINDS };

struct unit {
	kr_txn txn;
	kr_op op;
	kr_key key;
	kr_value element;
};
KR_VEC_NAMED(units, struct unit);

static const char *const phases[] = {"shrinking: transactions left", "shrinking: operations left",
	"shrinking: keys left", "shrinking: elements left"};

/* ---- what there is ---- */

static bool brings_element(const struct kr_operation *op)
{
	return op->kind == KR_OP_APPEND || op->kind == KR_OP_ADD;
}

static bool has_element(const struct units *units, const struct unit *u)
{
	for (uint32_t i = 0; i < units->n; i++)
		if (units->at[i].key.i == u->key.i && units->at[i].element.i == u->element.i)
			return true;
	return false;
}

static bool list_ops(const struct kr_part *part, kr_txn t, enum unit_kind kind, struct units *out)
{
	const struct kr_history *h = part->whole;

	for (uint32_t i = 0; i < h->txns.at[t.i].op_count; i++) {
		kr_op o = kr_history_op(h, t, i);
		const struct kr_operation *op = &h->ops.at[o.i];
		struct unit u = {.txn = t, .op = o, .key = op->key, .element = op->a};
		if (!kr_part_keeps(part, t, o) ||
			(kind == UNIT_ELEMENT && (!brings_element(op) || has_element(out, &u))))
			continue;
		if (!kr_vec_push(part->mem, out, u))
			return false;
	}
	return true;
}

static bool list_units(const struct kr_part *part, enum unit_kind kind, struct units *out)
{
	kr_vec_clear(out);
	for (uint32_t k = 0; k < part->whole->keys.n && kind == UNIT_KEY; k++)
		if (kr_bits_get(part->keys, k) && !kr_vec_push(part->mem, out, (struct unit){.key = {k}}))
			return false;
	for (uint32_t t = 0; t < part->whole->txns.n && kind != UNIT_KEY; t++) {
		if (!kr_bits_get(part->txns, t))
			continue;
		if (kind == UNIT_TXN ? !kr_vec_push(part->mem, out, (struct unit){.txn = {t}})
				     : !list_ops(part, (kr_txn){t}, kind, out))
			return false;
	}
	return true;
}

/* ---- taking away ---- */

static void drop_element(struct kr_part *part, const struct unit *u)
{
	const struct kr_history *h = part->whole;

	for (uint32_t o = 0; o < h->ops.n; o++) {
		const struct kr_operation *op = &h->ops.at[o];
		if (op->key.i == u->key.i && brings_element(op) && op->a.i == u->element.i)
			kr_bits_clear(part->ops, o);
	}
}

static bool drop(struct kr_part *part, enum unit_kind kind, const struct unit *u)
{
	switch (kind) {
	case UNIT_TXN: kr_bits_clear(part->txns, u->txn.i); return true;
	case UNIT_OP: kr_bits_clear(part->ops, u->op.i); return true;
	case UNIT_KEY: kr_bits_clear(part->keys, u->key.i); return true;
	case UNIT_ELEMENT:
		drop_element(part, u);
		return kr_vec_push(part->mem, &part->without, (struct kr_element){u->key, u->element});
	case UNIT_KINDS: break;
	}
	return false;
}

struct round {
	struct kr_reduction *r;
	struct kr_part *part, *less; /* the best so far; what is tried */
	enum unit_kind kind;
	struct units units;
	struct kr_err *err;
};

/* Tries to do without units [first, end); the rest closes up if that works. */
static enum kr_status try_without(struct round *d, uint32_t first, uint32_t end, bool *gone)
{
	bool taken = true;
	enum kr_status status = kr_part_copy(d->part, d->less);

	for (uint32_t i = first; i < end && taken && !status; i++)
		taken = drop(d->less, d->kind, &d->units.at[i]);
	if (status || !taken)
		return KR_NOMEM;
	kr_ctx_progress(d->r->ctx, phases[d->kind], d->units.n, 0);
	KR_TRY(kr_ctx_check(d->r->ctx));
	d->r->tests++;
	*gone = false;
	if ((status = d->r->test(d->r->data, d->less, gone, d->err)) || !*gone)
		return status;
	for (uint32_t i = end; i < d->units.n; i++)
		d->units.at[first + i - end] = d->units.at[i];
	d->units.n -= end - first;

	struct kr_part best = *d->less;

	*d->less = *d->part;
	*d->part = best;
	return KR_OK;
}

/* One sweep over the units in chunks of this size, from the end. */
static enum kr_status sweep(struct round *d, uint32_t chunk, bool *changed)
{
	for (uint32_t end = d->units.n; end > 0; end = end > chunk ? end - chunk : 0) {
		bool gone = false;
		KR_TRY(try_without(d, end > chunk ? end - chunk : 0, end, &gone));
		*changed |= gone;
	}
	return KR_OK;
}

static enum kr_status reduce_kind(struct round *d, bool *changed)
{
	enum kr_status status = list_units(d->part, d->kind, &d->units) ? KR_OK : KR_NOMEM;
	bool again = true;

	for (uint32_t chunk = d->units.n / 2; chunk > 1 && !status; chunk /= 2)
		status = sweep(d, chunk, changed);
	while (again && !status) {
		again = false;
		status = sweep(d, 1, &again);
		*changed |= again;
	}
	return status;
}

enum kr_status kr_reduce(struct kr_reduction *r, struct kr_part *part, struct kr_err *err)
{
	struct kr_part less;
	struct round d = {.r = r, .part = part, .less = &less, .err = err};
	enum kr_status status = kr_part_init(&less, part->mem, part->whole, false);
	bool changed = true;

	if (status)
		return status;
	while (changed && !status) {
		changed = false;
		for (int kind = 0; kind < UNIT_KINDS && !status; kind++) {
			d.kind = (enum unit_kind)kind;
			status = reduce_kind(&d, &changed);
		}
	}
	kr_vec_done(part->mem, &d.units);
	kr_part_done(&less);
	return status;
}
