/* Garbage reads, from the definition (docs/levels.md, pl-1): a committed transaction shows of a key what no
 * value explains that the key started with or that anybody wrote to it: committed, aborted, of unknown
 * outcome, overwritten at once, or the reader itself, before or later. Here: the index, registers, and the
 * walk over all keys.
 *
 * Where initial values are not told there must be one that, with what was written, explains all that was seen
 * of the key; the first operation with which there is none any more is to blame. Cost: linear in the history,
 * but for conditions, which are tried on what was written, and keys that are never absent, which predicate
 * reads must have returned. */
#include "verify/garbage.h"

#include "base/order.h"

/* ---- the index ---- */

KR_BY_BOTH(by_key_and_value, struct kr_row, key.i, value.i);

static int by_key_and_size(const void *pa, const void *pb)
{
	const struct kr_amount *a = pa, *b = pb;
	kr_wide x = a->delta < 0 ? -(kr_wide)a->delta : a->delta,
		y = b->delta < 0 ? -(kr_wide)b->delta : b->delta;

	return kr_then(KR_ORDER(a->key.i, b->key.i), kr_then(KR_ORDER(x, y), KR_ORDER(a->delta, b->delta)));
}

static enum kr_status note_effect(struct kr_garbage *g, const struct kr_operation *op, uint32_t i)
{
	struct kr_written_row effect = kr_effect_at(g->h, op, i);

	g->deleted[effect.key.i] |= op->kind == KR_OP_DELETE;
	g->put[effect.key.i] |= kr_saw_grows(g->h, effect.key) && op->kind != KR_OP_DELETE;
	if (op->kind == KR_OP_INC)
		return kr_vec_add(g->mem, &g->amounts,
			(struct kr_amount){effect.key, kr_history_value(g->h, op->a)->integer});
	if (op->kind == KR_OP_APPEND || op->kind == KR_OP_ADD || op->kind == KR_OP_DELETE)
		return KR_OK;
	return kr_vec_add(g->mem, &g->values,
		(struct kr_row){effect.key, op->kind == KR_OP_MAX ? op->a : effect.value});
}

static enum kr_status note_effects(struct kr_garbage *g)
{
	for (uint32_t o = 0; o < g->h->ops.n; o++) {
		const struct kr_operation *op = &g->h->ops.at[o];

		for (uint32_t i = 0; i < kr_effect_count(g->h, op); i++)
			KR_TRY(note_effect(g, op, i));
		KR_TRY(kr_ctx_tick(g->ctx));
	}
	return KR_OK;
}

/* Sorts what was written, each value once. */
static void sort_effects(struct kr_garbage *g)
{
	uint32_t n = 0, v = 0, a = 0;

	KR_SORT(g->values.at, g->values.n, by_key_and_value);
	KR_SORT(g->amounts.at, g->amounts.n, by_key_and_size);
	for (uint32_t i = 0; i < g->values.n; i++)
		if (i == 0 || by_key_and_value(&g->values.at[i], &g->values.at[n - 1]) != 0)
			g->values.at[n++] = g->values.at[i];
	g->values.n = n;
	for (uint32_t k = 0; k <= g->h->keys.n; k++) {
		while (v < g->values.n && g->values.at[v].key.i < k)
			v++;
		while (a < g->amounts.n && g->amounts.at[a].key.i < k)
			a++;
		g->value_first[k] = v;
		g->amount_first[k] = a;
	}
}

/* Counts, or puts at their places, the keys that committed transactions saw by name. */
static enum kr_status note_seen(struct kr_garbage *g, bool fill)
{
	const struct kr_history *h = g->h;

	for (kr_txn t = {0}; t.i < h->txns.n; t.i++) {
		for (uint32_t o = 0; o < h->txns.at[t.i].op_count && h->txns.at[t.i].status == KR_COMMITTED;
			o++) {
			const struct kr_operation *op = &h->ops.at[kr_history_op(h, t, o).i];
			KR_TRY(kr_ctx_tick(g->ctx));

			if (!fill && kr_op_scans(op) &&
				!kr_vec_push(g->mem, &g->scans, (struct kr_seen_at){t, o, KR_NONE}))
				return KR_NOMEM;
			for (uint32_t i = 0; i < kr_saw_count(h, op); i++) {
				uint32_t k = kr_saw_key(h, op, i).i;

				if (fill)
					g->seen[g->seen_first[k + 1]++] =
						(struct kr_seen_at){t, o, kr_op_scans(op) ? i : KR_NONE};
				else
					g->seen_first[k + 2]++;
			}
		}
	}
	return KR_OK;
}

static enum kr_status index_history(struct kr_garbage *g)
{
	uint32_t nkeys = g->h->keys.n;
	KR_TRY(kr_written_new(g->mem, g->ctx, g->h, &g->written));

	KR_TRY(kr_arena_new(&g->arena, g->deleted, nkeys));
	KR_TRY(kr_arena_new(&g->arena, g->put, nkeys));
	KR_TRY(kr_arena_new(&g->arena, g->value_first, (size_t)nkeys + 1));
	KR_TRY(kr_arena_new(&g->arena, g->amount_first, (size_t)nkeys + 1));
	KR_TRY(kr_arena_new(&g->arena, g->seen_first, (size_t)nkeys + 2));
	KR_TRY(note_effects(g));
	KR_TRY(note_seen(g, false));
	sort_effects(g);
	kr_index_places(g->seen_first, nkeys);
	KR_TRY(kr_arena_new(&g->arena, g->seen, g->seen_first[nkeys + 1]));
	return note_seen(g, true);
}

static void done(struct kr_garbage *g)
{
	kr_arena_done(&g->arena);
	kr_vec_done(g->mem, &g->values);
	kr_vec_done(g->mem, &g->amounts);
	kr_vec_done(g->mem, &g->scans);
	kr_vec_done(g->mem, &g->list);
	kr_vec_done(g->mem, &g->sums);
	kr_vec_done(g->mem, &g->scratch);
	kr_written_free(g->written);
}

/* ---- what was seen ---- */

const struct kr_operation *kr_garbage_op(const struct kr_garbage *g, const struct kr_seen_at *at)
{
	return &g->h->ops.at[kr_history_op(g->h, at->txn, at->op).i];
}

struct kr_saw kr_garbage_saw(const struct kr_garbage *g, const struct kr_seen_at *at, kr_key k)
{
	const struct kr_operation *op = kr_garbage_op(g, at);
	struct kr_saw saw = at->row != KR_NONE ? kr_saw_at(g->h, op, at->row)
		: kr_op_scans(op)              ? kr_saw_missed(g->h, op, k)
					       : kr_saw_of(g->h, op, k);

	if (saw.test == KR_SAW_MATCH && !kr_where_has_prefix(g->h, &g->h->scans.at[saw.scan], k))
		/* a row that cannot be there, but says that something was */
		return (struct kr_saw){.test = KR_SAW_OTHER, .value = KR_ABSENT};
	return saw;
}

enum kr_status kr_garbage_vague(const struct kr_garbage *g, kr_key k, const char *what)
{
	return kr_err_set(g->err, KR_UNSUPPORTED, "%s of %s", what, kr_verify_key_name(g->h, k).text);
}

static bool is_empty(const struct kr_history *h, kr_key k)
{
	const struct kr_value_entry *e = kr_history_value(h, h->keys.at[k.i].initial);
	bool grows = h->keys.at[k.i].kind == KR_KIND_LIST || h->keys.at[k.i].kind == KR_KIND_SET;

	return e->type == KR_VALUE_ABSENT || (grows && e->type == KR_VALUE_ARRAY && e->length == 2);
}

bool kr_garbage_may_be_absent(const struct kr_garbage *g, kr_key k)
{
	return g->deleted[k.i] || is_empty(g->h, k);
}

/* ---- registers and marks ---- */

/* Whether a mark that began at `start` can have been seen at `value`, which it was raised to. */
static bool is_reached(const struct kr_garbage *g, kr_key k, kr_value value, kr_value start)
{
	const struct kr_value_entry *a = kr_history_value(g->h, start), *b = kr_history_value(g->h, value);

	return g->h->keys.at[k.i].kind != KR_KIND_MARK || g->deleted[k.i] || a->type != KR_VALUE_INT ||
		b->type != KR_VALUE_INT || a->integer <= b->integer;
}

static bool is_written(const struct kr_garbage *g, kr_key k, kr_value value)
{
	return value.i == KR_ABSENT.i ? g->deleted[k.i] : kr_written_value(g->written, k, value);
}

/* Whether what was written to a register or mark that began as `start` explains it, that value aside. */
static enum kr_status write_explains(const struct kr_garbage *g, kr_key k, const struct kr_saw *saw,
	kr_value start, bool *out)
{
	*out = false;
	if (saw->test == KR_SAW_VALUE) {
		*out = is_written(g, k, saw->value) && is_reached(g, k, saw->value, start);
		return KR_OK;
	}
	if (g->deleted[k.i])
		KR_TRY(kr_saw_allows(g->h, saw, k, KR_ABSENT, out, g->err));
	for (uint32_t i = g->value_first[k.i]; i < g->value_first[k.i + 1] && !*out; i++) {
		if (is_reached(g, k, g->values.at[i].value, start))
			KR_TRY(kr_saw_allows(g->h, saw, k, g->values.at[i].value, out, g->err));
		KR_TRY(kr_ctx_tick(g->ctx));
	}
	return KR_OK;
}

static enum kr_status value_explained(const struct kr_garbage *g, kr_key k, const struct kr_seen_at *at,
	bool *out)
{
	struct kr_saw saw = kr_garbage_saw(g, at, k);
	kr_value initial = g->h->keys.at[k.i].initial;
	enum kr_status status = kr_saw_allows(g->h, &saw, k, initial, out, g->err);

	return status != KR_OK || *out ? status : write_explains(g, k, &saw, initial, out);
}

static bool can_hold(const struct kr_garbage *g, kr_key k, kr_value value)
{
	return g->h->keys.at[k.i].kind != KR_KIND_MARK || kr_history_value(g->h, value)->type == KR_VALUE_INT;
}

/* Whether the value, as what the register started with, explains all that nothing written does. */
static enum kr_status start_explains(const struct kr_garbage *g, kr_key k, uint32_t n, kr_value start,
	bool *out)
{
	*out = kr_history_may_start(g->h, k, start) && (start.i == KR_ABSENT.i || can_hold(g, k, start));
	for (uint32_t i = 0; i < n && *out; i++) {
		struct kr_saw saw = kr_garbage_saw(g, &g->list.at[i], k);

		if (saw.test == KR_SAW_NOTHING)
			continue;
		KR_TRY(kr_saw_allows(g->h, &saw, k, start, out, g->err));
		if (!*out)
			KR_TRY(write_explains(g, k, &saw, start, out));
	}
	return KR_OK;
}

/* What is left to the initial value: the first value that only it explains, whether something else than
 * values, and conditions. */
struct left {
	kr_value value;
	bool other, condition;
};

static enum kr_status find_left(const struct kr_garbage *g, kr_key k, uint32_t n, struct left *out)
{
	enum kr_status status = KR_OK;
	bool explained;

	*out = (struct left){.value = {KR_NONE}};
	for (uint32_t i = 0; i < n && status == KR_OK; i++) {
		struct kr_saw saw = kr_garbage_saw(g, &g->list.at[i], k);

		if (saw.test == KR_SAW_NOTHING)
			continue;
		status = write_explains(g, k, &saw, KR_ABSENT, &explained);
		if (status != KR_OK || explained)
			continue;
		if (saw.test == KR_SAW_VALUE && out->value.i == KR_NONE)
			out->value = saw.value;
		out->other |= saw.test == KR_SAW_OTHER;
		out->condition |= saw.test == KR_SAW_MATCH || saw.test == KR_SAW_NO_MATCH;
	}
	return status;
}

static enum kr_status values_fit(const struct kr_garbage *g, kr_key k, uint32_t n, bool *out)
{
	struct left left;
	enum kr_status status = find_left(g, k, n, &left);

	*out = true;
	if (status != KR_OK || (left.value.i == KR_NONE && !left.other && !left.condition))
		return status;
	status = start_explains(g, k, n, left.value.i == KR_NONE ? KR_ABSENT : left.value, out);
	if (status != KR_OK || *out || left.value.i != KR_NONE)
		return status;
	if (left.condition)
		return kr_garbage_vague(g, k, "what conditions say of an initial value that is not told,");
	*out = true; /* anything that nobody mentions */
	return KR_OK;
}

/* ---- all kinds ---- */

static enum kr_status is_explained(struct kr_garbage *g, kr_key k, const struct kr_seen_at *at, bool *out)
{
	*out = true;
	switch (g->h->keys.at[k.i].kind) {
	case KR_KIND_COUNTER: return kr_garbage_sum_explained(g, k, at, out);
	case KR_KIND_LIST:
	case KR_KIND_SET:
		return kr_garbage_saw(g, at, k).test == KR_SAW_NOTHING
			? KR_OK
			: kr_garbage_array_explained(g, k, at, out);
	default:
		return kr_garbage_saw(g, at, k).test == KR_SAW_NOTHING ? KR_OK
								       : value_explained(g, k, at, out);
	}
}

static enum kr_status all_fit(struct kr_garbage *g, kr_key k, uint32_t n, bool *out)
{
	switch (g->h->keys.at[k.i].kind) {
	case KR_KIND_COUNTER: return kr_garbage_sums_fit(g, k, n, out);
	case KR_KIND_LIST:
	case KR_KIND_SET: return kr_garbage_arrays_fit(g, k, n, out);
	default: return values_fit(g, k, n, out);
	}
}

static bool is_before(const struct kr_seen_at *a, const struct kr_seen_at *b)
{
	return a->txn.i != b->txn.i ? a->txn.i < b->txn.i : a->op < b->op;
}

/* All that was seen of the key: by name, and by predicate reads that did not return it, unless those can
 * always have found it absent. */
static enum kr_status list_seen(struct kr_garbage *g, kr_key k)
{
	uint32_t at = g->seen_first[k.i], end = g->seen_first[k.i + 1];
	bool scans = kr_history_untold(g->h) ? !g->deleted[k.i] : !kr_garbage_may_be_absent(g, k);

	kr_vec_clear(&g->list);
	for (uint32_t s = 0; s < g->scans.n && scans; s++) {
		const struct kr_seen_at *scan = &g->scans.at[s];
		KR_TRY(kr_ctx_tick(g->ctx));

		for (; at < end && is_before(&g->seen[at], scan); at++)
			KR_TRY(kr_vec_add(g->mem, &g->list, g->seen[at]));
		if ((at == end || is_before(scan, &g->seen[at])) && !kr_vec_push(g->mem, &g->list, *scan))
			return KR_NOMEM;
	}
	for (; at < end; at++)
		KR_TRY(kr_vec_add(g->mem, &g->list, g->seen[at]));
	return KR_OK;
}

/* The place in g->list of the first that is garbage, or KR_NONE. */
static enum kr_status judge_told(struct kr_garbage *g, kr_key k, uint32_t *out)
{
	bool explained;

	*out = KR_NONE;
	for (uint32_t i = 0; i < g->list.n && *out == KR_NONE; i++) {
		KR_TRY(is_explained(g, k, &g->list.at[i], &explained));
		if (!explained)
			*out = i;
		KR_TRY(kr_ctx_tick(g->ctx));
	}
	return KR_OK;
}

static enum kr_status judge_untold(struct kr_garbage *g, kr_key k, uint32_t *out)
{
	uint32_t low = 0, high = g->list.n;
	bool fits;
	enum kr_status status = all_fit(g, k, high, &fits);

	*out = KR_NONE;
	if (status != KR_OK || fits)
		return status;
	while (high - low > 1 && status == KR_OK) {
		uint32_t middle = low + (high - low) / 2;

		status = all_fit(g, k, middle, &fits);
		*(fits ? &low : &high) = middle;
	}
	*out = high - 1;
	return status;
}

static enum kr_status judge_key(struct kr_garbage *g, kr_key k, struct kr_garbage_place *found)
{
	uint32_t at = KR_NONE;
	KR_TRY(list_seen(g, k));
	KR_TRY(kr_history_untold(g->h) ? judge_untold(g, k, &at) : judge_told(g, k, &at));
	if (at == KR_NONE)
		return KR_OK;

	const struct kr_seen_at *seen = &g->list.at[at];
	const struct kr_seen_at known = {found->txn, found->op, KR_NONE};

	if (found->txn.i == KR_NONE || is_before(seen, &known))
		*found = (struct kr_garbage_place){seen->txn, seen->op, k};
	return KR_OK;
}

/* ---- entries ---- */

static enum kr_status find(struct kr_garbage *g, struct kr_garbage_place *out)
{
	enum kr_status status = KR_OK, vague = KR_OK;

	for (kr_key k = {0}; k.i < g->h->keys.n && status == KR_OK; k.i++) {
		status = judge_key(g, k, out);
		if (status == KR_UNSUPPORTED) { /* another key may tell */
			vague = status;
			status = KR_OK;
		}
	}
	return status == KR_OK && out->txn.i == KR_NONE ? vague : status;
}

enum kr_status kr_find_garbage(struct kr_ctx *ctx, const struct kr_history *h, struct kr_garbage_place *out,
	struct kr_err *err)
{
	struct kr_garbage g = {.arena = {.mem = &ctx->mem},
		.ctx = ctx,
		.mem = &ctx->mem,
		.h = h,
		.err = err,
		.summed = {KR_NONE}};
	struct kr_garbage_place found = {.txn = {KR_NONE}, .key = {KR_NONE}};
	enum kr_status status = index_history(&g);

	if (status == KR_OK)
		status = find(&g, &found);
	done(&g);
	if (status == KR_OK)
		*out = found;
	return status;
}

/* Whether what was seen at the place is garbage; of a key whose initial value is not told, whether it is the
 * first. */
static enum kr_status judge_place(struct kr_garbage *g, const struct kr_garbage_place *place, bool *out)
{
	struct kr_garbage_place found = {.txn = {KR_NONE}, .key = {KR_NONE}};
	bool explained = true;

	*out = false;
	if (kr_history_untold(g->h)) {
		KR_TRY(judge_key(g, place->key, &found));
		*out = found.txn.i == place->txn.i && found.op == place->op;
		return KR_OK;
	}
	KR_TRY(list_seen(g, place->key));
	for (uint32_t i = 0; i < g->list.n && explained; i++)
		if (g->list.at[i].txn.i == place->txn.i && g->list.at[i].op == place->op)
			KR_TRY(is_explained(g, place->key, &g->list.at[i], &explained));
	*out = !explained;
	return KR_OK;
}

enum kr_status kr_verify_garbage(struct kr_verifier *v, const struct kr_garbage_place *place, bool *out)
{
	struct kr_garbage g = {.arena = {.mem = &v->ctx->mem},
		.ctx = v->ctx,
		.mem = &v->ctx->mem,
		.h = v->h,
		.err = v->err,
		.summed = {KR_NONE}};
	enum kr_status status = index_history(&g);

	if (status == KR_OK)
		status = judge_place(&g, place, out);
	done(&g);
	return status;
}
