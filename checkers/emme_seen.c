/* What transactions saw (emme_work.h). An observation is a test of the version that it saw, after what the
 * transaction had done itself is taken off; which version that is tells its name, or its looks. Cost: one
 * look-up each; for conditions, the versions up to the first that changes what is matched. */
#include "checkers/emme_work.h"

#include "base/hash.h"
#include "base/order.h"
#include "frontend/where.h"

/* ---- by what they look like ---- */

/* Equal for equal states; of sets, and of lists in part, by their size. */
static uint64_t look_of(const struct emme *e, kr_key k, const struct kr_state *s)
{
	uint64_t look = 1;

	if (s->present && e->type[k.i]->shown == KR_VALUE_INT)
		look = (uint64_t)s->number;
	else if (s->present && e->type[k.i]->shown == KR_VALUE_ARRAY)
		look = s->items.n;
	else if (s->present)
		look = s->value.i;
	return kr_hash_pair((uint64_t)k.i << 1 | s->present, look);
}

static enum kr_status index_looks(struct emme *e)
{
	for (uint32_t v = 0; v < e->versions.n; v++) {
		if (!kr_table_reserve(&e->ctx->mem, &e->looks))
			return KR_NOMEM;
		kr_table_insert(&e->looks, look_of(e, e->versions.at[v].key, &e->versions.at[v].effect.state),
			v);
	}
	return kr_ctx_check(e->ctx);
}

/* What an observation says of the version that it saw: a want, or that the conditions of a scan hold or do
 * not. */
struct test {
	const struct kr_want *want; /* NULL: */
	const struct kr_scan *scan; /* of a range: that the key is present or not */
	bool matches, is_range;
};

static enum kr_status fits(struct emme *e, kr_key k, const struct test *test, const struct kr_state *state,
	bool *out)
{
	enum kr_status status = KR_OK;

	if (test->want) {
		*out = kr_holds(e->type[k.i], state, test->want);
		return KR_OK;
	}
	*out = state->present;
	if (state->present && !test->is_range)
		status = kr_state_meets(&e->elements, e->type[k.i], test->scan, k, state, out, NULL);
	*out = *out == test->matches;
	if (status == KR_UNSUPPORTED)
		e->open = true;
	return status == KR_UNSUPPORTED ? KR_OK : status;
}

/* Where else may the version seen be, but for the own? *found: at how many places, but no more than 2 are
 * counted. */
static enum kr_status search(struct emme *e, kr_key k, const struct test *test, uint32_t own, uint32_t *place,
	uint32_t *found)
{
	const struct kr_want *want = test->want;
	bool plain = want && !want->negated && want->less.n == 0, fit;
	enum kr_status status = fits(e, k, test, &e->initial[k.i], &fit);
	uint32_t v;

	*place = 0;
	*found = fit;
	if (plain) {
		for (kr_table_iter it = kr_table_find(&e->looks, look_of(e, k, &want->is));
			*found < 2 && !status && (v = kr_table_next(&e->looks, &it)) != KR_NONE;) {
			const struct left *left = &e->versions.at[v];
			if (left->key.i != k.i || left->place == own ||
				!kr_holds(e->type[k.i], &left->effect.state, want))
				continue;
			*place = left->place;
			++*found;
		}
	}
	for (uint32_t i = 1; (!plain || want->or_absent) && i <= kr_emme_count(e, k) && *found < 2 && !status;
		i++) {
		status = fits(e, k, test, kr_emme_state(e, k, i), &fit);
		if (!fit || i == own || (plain && *place == i))
			continue;
		*place = i;
		++*found;
	}
	return status;
}

/* t saw the version at that place. rw: to the next one that changes what it saw, unless that is its own. */
static enum kr_status depend(struct emme *e, kr_txn t, kr_key k, const struct test *test, bool predicate,
	uint32_t place)
{
	const kr_txn *writers = e->writers + e->of_key[k.i];
	uint32_t next = place, n = kr_emme_count(e, k);
	bool same = predicate;
	enum kr_status status = place > 0 ? kr_emme_edge(e, KR_WR, writers[place - 1], t) : KR_OK;

	if (predicate && e->level->forbidden[0].item_only)
		return status;
	while (predicate && same && next < n && !status) {
		status = fits(e, k, test, kr_emme_state(e, k, next + 1), &same);
		next += same;
	}
	if (!status && next < n)
		status = kr_emme_edge(e, KR_RW, t, writers[next]);
	return status;
}

/* The version named; KR_NONE: that is none of those that took effect. */
static uint32_t named_place(const struct emme *e, kr_key k)
{
	const struct kr_seen *seen = &e->h->seen.at[e->named[k.i] - 1];
	kr_txn t = seen->writer.i == KR_ABSENT.i ? (kr_txn){KR_NONE} : kr_history_find(e->h, seen->writer);
	uint32_t v = t.i == KR_NONE ? KR_NONE : kr_emme_version(e, t, k);

	if (seen->writer.i == KR_ABSENT.i)
		return 0;
	return v == KR_NONE ? KR_NONE : e->versions.at[v].place;
}

static uint32_t own_version(const struct emme *e, kr_txn t, kr_key k)
{
	uint32_t v = e->mine[k.i];

	return v >= e->of_txn[t.i] && v < e->of_txn[t.i + 1] && e->versions.at[v].key.i == k.i ? v : KR_NONE;
}

/* Which version was it? The one named; or the one right before the observer's own, if it can be: then what
 * follows from it follows in any case; or the only one. */
static enum kr_status observe(struct emme *e, kr_txn t, kr_key k, const struct test *test, bool predicate)
{
	uint32_t own = own_version(e, t, k), place = KR_NONE, found = 1;
	enum kr_status status = KR_OK;
	bool fit = false;

	if (e->named[k.i])
		place = named_place(e, k);
	else if (own != KR_NONE)
		place = e->versions.at[own].place - 1;
	if (place != KR_NONE)
		status = fits(e, k, test, kr_emme_state(e, k, place), &fit);
	if (!fit && !status) {
		found = 0;
		if (!e->named[k.i])
			status = search(e, k, test, own == KR_NONE ? KR_NONE : e->versions.at[own].place,
				&place, &found);
	}
	if (status)
		return status;
	e->open |= found != 1;
	return e->open ? KR_OK : depend(e, t, k, test, predicate, place);
}

/* ---- what transactions saw ---- */

/* What the transaction itself has done so far is taken off first. */
static enum kr_status see_value(struct emme *e, kr_txn t, kr_key k, struct kr_want want)
{
	const struct left *own = kr_emme_left(e, &e->sofar, 0, k);
	struct test test = {.want = &want};

	if (own)
		want = kr_before(e->type[k.i], &own->effect, want);
	if (want.any) {
		e->open |= want.negated;
		return KR_OK;
	}
	return observe(e, t, k, &test, false);
}

static enum kr_status look_at_key(struct emme *e, kr_txn t, const struct kr_operation *op)
{
	struct kr_view view = kr_op_view(op);
	struct kr_effect effect;
	struct kr_write write;
	struct kr_want want;

	if (view.when == KR_UNSEEN)
		return KR_OK;
	enum kr_status status =
		kr_told_want(&e->elements, e->type[op->key.i], view.value, kr_op_is_read(op), &want);
	want.negated ^= view.other;
	if (!status && view.when == KR_SEEN_AFTER && kr_write_at(e->h, op, 0, &write)) {
		effect = kr_told_addition(e->h, e->type[op->key.i], &write);
		want = kr_before(e->type[op->key.i], &effect, want);
	}
	return status ? status : see_value(e, t, op->key, want);
}

/* Whether the conditions hold of key k or not. */
static enum kr_status see_match(struct emme *e, kr_txn t, kr_key k, const struct test *test)
{
	const struct left *own = kr_emme_left(e, &e->sofar, 0, k);
	enum kr_status status = KR_OK;
	bool fit = false;

	if (!own)
		return observe(e, t, k, test, true);
	if (own->effect.how == KR_SET)
		status = fits(e, k, test, &own->effect.state, &fit);
	e->open |= !fit; /* or it rests on what was there before */
	return status;
}

/* A row is there, and meets the conditions. */
static enum kr_status see_row(struct emme *e, kr_txn t, const struct kr_operation *op,
	const struct kr_row *row)
{
	const struct kr_datatype *type = e->type[row->key.i];
	struct test test = {.scan = &e->h->scans.at[op->scan],
		.matches = true,
		.is_range = op->kind == KR_OP_RANGE};
	struct kr_want want;
	bool fit = false;
	enum kr_status status = kr_told_want(&e->elements, type, row->value, false, &want);

	if (!status)
		status = fits(e, row->key, &test, &want.is, &fit);
	e->open |= !fit;
	return status ? status : see_value(e, t, row->key, want);
}

static enum kr_status see_rows(struct emme *e, kr_txn t, const struct kr_operation *op)
{
	const struct kr_scan *scan = &e->h->scans.at[op->scan];
	struct test matched = {.scan = scan, .matches = true};

	for (uint32_t i = scan->row_first; i < scan->row_first + scan->row_count; i++) {
		const struct kr_row *row = &e->h->rows.at[i];
		/* twice */
		e->open |= e->returned[row->key.i] > scan->row_first && e->returned[row->key.i] <= i;
		e->returned[row->key.i] = i + 1;
		KR_TRY(op->kind == KR_OP_UPDATE ? see_match(e, t, row->key, &matched)
						: see_row(e, t, op, row));
	}
	return KR_OK;
}

/* Rows of a range stand in its order, within its bounds and its limit, and are there. */
static void check_range(struct emme *e, const struct kr_scan *scan)
{
	const struct kr_history *h = e->h;

	e->open |= scan->limit >= 0 && scan->row_count > scan->limit;
	for (uint32_t i = scan->row_first; i < scan->row_first + scan->row_count; i++) {
		kr_value name = h->keys.at[h->rows.at[i].key.i].name;
		bool first = i == scan->row_first;
		int way = first ? 0
				: kr_history_compare_keys(h, h->keys.at[h->rows.at[i - 1].key.i].name, name);
		e->open |= !kr_where_in_bounds(h, scan, name) ||
			(!first && (scan->reverse ? way <= 0 : way >= 0)) ||
			h->rows.at[i].value.i == KR_ABSENT.i;
	}
}

/* How many keys stand before that name in the order of ranges. */
static uint32_t place_of(const struct emme *e, kr_value name)
{
	uint32_t at;

	KR_BISECT(at, 0u, e->h->keys.n,
		kr_history_compare_keys(e->h, e->h->keys.at[e->by_name[at].i].name, name) < 0);
	return at;
}

/* The keys that a range looked at, as places in by_name: what a full one did not reach is none of them. */
static void find_range(const struct emme *e, const struct kr_scan *scan, uint32_t *first, uint32_t *end)
{
	*first = scan->low.i == KR_ABSENT.i ? 0 : place_of(e, scan->low);
	*end = scan->high.i == KR_ABSENT.i ? e->h->keys.n : place_of(e, scan->high);
	if (scan->limit < 0 || scan->row_count < scan->limit)
		return;
	if (scan->row_count == 0) {
		*end = *first;
		return;
	}
	kr_key last = e->h->rows.at[scan->row_first + scan->row_count - 1].key;
	*(scan->reverse ? first : end) = place_of(e, e->h->keys.at[last.i].name);
}

/* Keys that the operation looked at and did not return. */
static enum kr_status see_others(struct emme *e, kr_txn t, const struct kr_operation *op)
{
	const struct kr_scan *scan = &e->h->scans.at[op->scan];
	struct test test = {.scan = scan, .is_range = op->kind == KR_OP_RANGE};
	uint32_t first = 0, end = e->h->keys.n;

	if (test.is_range)
		find_range(e, scan, &first, &end);
	for (uint32_t i = first; i < end && !e->open; i++) {
		kr_key k = e->by_name[i];
		bool returned = e->returned[k.i] > scan->row_first &&
			e->returned[k.i] <= scan->row_first + scan->row_count;
		if (returned || (!test.is_range && !kr_where_has_prefix(e->h, scan, k)))
			continue;
		KR_TRY(kr_ctx_tick(e->ctx));
		KR_TRY(see_match(e, t, k, &test));
	}
	return KR_OK;
}

static void name_versions(struct emme *e, const struct kr_attr *attr, bool on)
{
	for (uint32_t i = attr->seen_first; i < attr->seen_first + attr->seen_count; i++)
		e->named[e->h->seen.at[i].key.i] = on ? i + 1 : 0;
}

static enum kr_status see(struct emme *e, kr_txn t, kr_op id)
{
	const struct kr_operation *op = &e->h->ops.at[id.i];
	const struct kr_attr *attr = op->flags & KR_OPF_HAS_ATTR ? kr_history_attr(e->h, id) : NULL;

	if (attr)
		name_versions(e, attr, true);
	if (op->kind == KR_OP_RANGE)
		check_range(e, &e->h->scans.at[op->scan]);
	enum kr_status status = !kr_op_scans(op) ? look_at_key(e, t, op) : see_rows(e, t, op);
	if (kr_op_scans(op) && !status)
		status = see_others(e, t, op);
	if (attr)
		name_versions(e, attr, false);
	return status;
}

static enum kr_status see_all(struct emme *e, kr_txn t)
{
	kr_vec_clear(&e->sofar);
	for (uint32_t v = e->of_txn[t.i]; v < e->of_txn[t.i + 1]; v++)
		e->mine[e->versions.at[v].key.i] = v;
	for (uint32_t i = 0; i < e->h->txns.at[t.i].op_count && !e->open; i++) {
		kr_op id = kr_history_op(e->h, t, i);
		KR_TRY(kr_ctx_tick(e->ctx));
		KR_TRY(see(e, t, id));
		KR_TRY(kr_emme_write(e, t, &e->h->ops.at[id.i], &e->sofar, 0));
	}
	return KR_OK;
}

enum kr_status kr_emme_seen(struct emme *e)
{
	enum kr_status status = index_looks(e);

	for (kr_txn t = {0}; t.i < e->h->txns.n && !status && !e->open; t.i++)
		if (e->effective[t.i])
			status = see_all(e, t);
	return status;
}
