/* What transactions saw (emme_work.h). An observation is a test of the version that it saw, after what the
 * transaction had done itself is taken off; which version that is tells its name, or its looks. Cost: one
 * look-up each; for conditions, the versions up to the first that changes what is matched. */
#include "checkers/emme_work.h"

#include "base/order.h"
#include "frontend/where.h"

/* ---- which version it was ---- */

/* What an observation says of the version that it saw: a want, or that the conditions of a scan hold or do
 * not. */
struct test {
	/* KR_UNTOLD, or: it has just this value, and its key is a register, which no state but a value has */
	kr_value value;
	const struct kr_want *want; /* NULL: */
	const struct kr_scan *scan; /* of a range: that the key is present or not */
	bool matches, is_range;
};

static enum kr_status fits(struct emme *e, kr_key k, const struct test *test, kr_left left, bool *out)
{
	struct kr_effect effect;

	*out = left.i == test->value.i;
	if (test->value.i != KR_UNTOLD.i)
		return KR_OK;

	enum kr_status status = kr_emme_effect(e, k, left, &effect);
	const struct kr_state *state = &effect.state;

	if (status)
		return status;
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

/* Is it one state, so that its looks tell which versions it can be? */
static bool is_plain(const struct kr_want *want)
{
	return !want->negated && !want->or_absent && want->less.n == 0;
}

/* Where else may the version seen be, but for the own? *found: at how many places, but no more than 2 are
 * counted. */
static enum kr_status search(struct emme *e, kr_key k, const struct test *test, uint32_t own, uint32_t *place,
	uint32_t *found)
{
	const struct stand *stands = e->stands + e->of_key[k.i];
	uint32_t n = kr_emme_count(e, k), at = n;
	bool plain = test->want && is_plain(test->want), fit;

	KR_TRY(fits(e, k, test, kr_emme_left_at(e, k, 0), &fit));
	*place = 0;
	*found = fit;
	if (plain && n > 0)
		at = *kr_emme_look(e, k, &test->want->is);
	for (; at > 0 && *found < 2; at = plain ? stands[at - 1].like : at - 1) {
		KR_TRY(fits(e, k, test, stands[at - 1].left, &fit));
		if (!fit || at == own)
			continue;
		*place = at;
		++*found;
	}
	return KR_OK;
}

/* Of a key that grows its looks do not always tell the verifier which version was seen: an empty set is all
 * that is seen of any version of which nothing is shown. */
static enum kr_status add_source(struct emme *e, kr_txn t, kr_key k, kr_txn writer)
{
	struct kr_certificate *cert = &e->out->certificate;
	struct kr_cert_source source = {t, e->op.i - kr_history_op(e->h, t, 0).i, k, (kr_value){KR_NONE},
		writer};

	return kr_vec_push(cert->mem, &cert->sources, source) ? KR_OK : KR_NOMEM;
}

/* t saw the version at that place. rw: to the next one that changes what it saw, unless that is its own. */
static enum kr_status depend(struct emme *e, kr_txn t, kr_key k, const struct test *test, bool predicate,
	uint32_t place)
{
	const struct stand *stands = e->stands + e->of_key[k.i];
	uint32_t next = place, n = kr_emme_count(e, k);
	bool same = predicate;

	if (kr_emme_kind_of_world(e->level) == KR_CERT_WORLD && e->type[k.i]->shown != KR_VALUE_ABSENT)
		KR_TRY(add_source(e, t, k, place > 0 ? stands[place - 1].writer : (kr_txn){KR_NONE}));
	if (place > 0)
		KR_TRY(kr_emme_edge(e, KR_WR, stands[place - 1].writer, t));
	if (predicate && e->level->forbidden[0].item_only)
		return KR_OK;
	while (same && next < n) {
		KR_TRY(fits(e, k, test, stands[next].left, &same));
		next += same;
	}
	return next < n ? kr_emme_edge(e, KR_RW, t, stands[next].writer) : KR_OK;
}

/* The version named; KR_NONE: that is none of those that took effect. */
static uint32_t named_place(const struct emme *e, kr_key k)
{
	const struct kr_seen *seen = &e->h->seen.at[e->named[k.i] - 1];

	if (seen->writer.i == KR_ABSENT.i)
		return 0;

	kr_txn t = kr_history_find(e->h, seen->writer);
	uint32_t at = t.i == KR_NONE ? KR_NONE : kr_emme_version(e, t, k);

	return at == KR_NONE ? KR_NONE : e->place[e->by_writer[at]];
}

/* The place of t's own version, or KR_NONE. */
static uint32_t own_place(const struct emme *e, kr_txn t, kr_key k)
{
	uint32_t v = e->mine[k.i];
	bool own = v >= e->of_txn[t.i] && v < e->of_txn[t.i + 1] && e->versions.at[v].key.i == k.i;

	return own ? e->place[v] : KR_NONE;
}

/* Which version was it? The one named; or the one right before the observer's own, if it can be: then what
 * follows from it follows in any case; or the only one. */
static enum kr_status observe(struct emme *e, kr_txn t, kr_key k, const struct test *test, bool predicate)
{
	uint32_t own = own_place(e, t, k), place = KR_NONE, found = 1;
	bool fit = false;

	if (e->named[k.i])
		place = named_place(e, k);
	else if (own != KR_NONE)
		place = own - 1;
	if (place != KR_NONE)
		KR_TRY(fits(e, k, test, kr_emme_left_at(e, k, place), &fit));
	if (!fit) {
		found = 0;
		if (!e->named[k.i])
			KR_TRY(search(e, k, test, own, &place, &found));
	}
	e->open |= found != 1;
	return e->open ? KR_OK : depend(e, t, k, test, predicate, place);
}

/* ---- what transactions saw ---- */

/* What t has left of k before the operation at hand; KR_NONE: nothing. Most transactions see nothing that
 * they write themselves: their writes are gone through anew only where one does. */
static enum kr_status find_own(struct emme *e, kr_txn t, kr_key k, kr_left *out)
{
	out->i = KR_NONE;
	if (own_place(e, t, k) == KR_NONE)
		return KR_OK;
	for (; e->taken < e->op.i; e->taken++)
		KR_TRY(kr_emme_write(e, &e->h->ops.at[e->taken], &e->sofar, 0));

	const struct version *own = kr_emme_left(e, &e->sofar, 0, k);

	if (own)
		*out = own->left;
	return KR_OK;
}

/* What the transaction itself has done so far is taken off first. */
static enum kr_status see_value(struct emme *e, kr_txn t, kr_key k, struct kr_want *want)
{
	struct test test = {.value = KR_UNTOLD, .want = want};
	struct kr_effect effect;
	kr_left own;

	KR_TRY(find_own(e, t, k, &own));
	if (own.i != KR_NONE) {
		KR_TRY(kr_emme_effect(e, k, own, &effect));
		*want = kr_before(e->type[k.i], &effect, *want);
	}
	if (want->any) {
		e->open |= want->negated;
		return KR_OK;
	}
	if (e->type[k.i]->shown == KR_VALUE_ABSENT && is_plain(want))
		test.value = want->is.value;
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
	KR_TRY(kr_told_want(&e->elements, e->type[op->key.i], view.value, kr_op_is_read(op), &want));
	want.negated ^= view.other;
	if (view.when == KR_SEEN_AFTER && kr_write_at(e->h, op, 0, &write)) {
		effect = kr_told_addition(e->h, e->type[op->key.i], &write);
		want = kr_before(e->type[op->key.i], &effect, want);
	}
	return see_value(e, t, op->key, &want);
}

/* Whether the conditions hold of key k or not. */
static enum kr_status see_match(struct emme *e, kr_txn t, kr_key k, const struct test *test)
{
	struct kr_effect effect;
	kr_left own;
	bool fit = false;

	KR_TRY(find_own(e, t, k, &own));
	if (own.i == KR_NONE)
		return observe(e, t, k, test, true);
	KR_TRY(kr_emme_effect(e, k, own, &effect));
	if (effect.how == KR_SET)
		KR_TRY(fits(e, k, test, own, &fit));
	e->open |= !fit; /* or it rests on what was there before */
	return KR_OK;
}

/* A row is there, and meets the conditions. */
static enum kr_status see_row(struct emme *e, kr_txn t, const struct kr_operation *op,
	const struct kr_row *row)
{
	const struct kr_datatype *type = e->type[row->key.i];
	struct test test = {.value = KR_UNTOLD,
		.scan = &e->h->scans.at[op->scan],
		.matches = true,
		.is_range = op->kind == KR_OP_RANGE};
	struct kr_want want;
	bool fit = false;

	KR_TRY(kr_told_want(&e->elements, type, row->value, false, &want));
	KR_TRY(fits(e, row->key, &test, (kr_left){row->value.i}, &fit));
	e->open |= !fit;
	return see_value(e, t, row->key, &want);
}

static enum kr_status see_rows(struct emme *e, kr_txn t, const struct kr_operation *op)
{
	const struct kr_scan *scan = &e->h->scans.at[op->scan];
	struct test matched = {.value = KR_UNTOLD, .scan = scan, .matches = true};

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
	struct test test = {.value = KR_UNTOLD, .scan = scan, .is_range = op->kind == KR_OP_RANGE};
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

static enum kr_status see(struct emme *e, kr_txn t)
{
	const struct kr_operation *op = &e->h->ops.at[e->op.i];
	const struct kr_attr *attr = op->flags & KR_OPF_HAS_ATTR ? kr_history_attr(e->h, e->op) : NULL;

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

/* Hints: a look-up waits for memory at `looks`, then at the version, and these waits overlap where the first
 * is asked for some operations before it is needed, and the second half as many before. */
static void expect(struct emme *e)
{
	uint32_t at = e->op.i + KR_EMME_AHEAD;
	const struct expected *near = &e->expected[(at - KR_EMME_AHEAD / 2) % KR_EMME_AHEAD];

	if (near->looks && *near->looks > 0)
		__builtin_prefetch(&near->stands[*near->looks - 1]);

	struct expected *far = &e->expected[at % KR_EMME_AHEAD];

	far->looks = NULL;
	if (at >= e->h->ops.n || kr_op_scans(&e->h->ops.at[at]))
		return;

	kr_key k = e->h->ops.at[at].key;
	struct kr_view view = kr_op_view(&e->h->ops.at[at]);
	struct kr_state state = {.present = view.value.i != KR_ABSENT.i, .value = view.value};

	if (view.when == KR_UNSEEN || e->type[k.i]->shown != KR_VALUE_ABSENT || kr_emme_count(e, k) == 0)
		return;
	*far = (struct expected){kr_emme_look(e, k, &state), e->stands + e->of_key[k.i]};
	__builtin_prefetch(far->looks);
}

static enum kr_status see_all(struct emme *e, kr_txn t)
{
	uint32_t first = kr_history_op(e->h, t, 0).i, end = first + e->h->txns.at[t.i].op_count;

	kr_vec_clear(&e->sofar);
	e->effects.n = e->lasting;
	e->taken = first;
	for (uint32_t v = e->of_txn[t.i]; v < e->of_txn[t.i + 1]; v++)
		e->mine[e->versions.at[v].key.i] = v;
	for (e->op.i = first; e->op.i < end && !e->open; e->op.i++) {
		KR_TRY(kr_ctx_tick(e->ctx));
		expect(e);
		KR_TRY(see(e, t));
	}
	return KR_OK;
}

enum kr_status kr_emme_seen(struct emme *e)
{
	(void)kr_vec_reserve(&e->ctx->mem, &e->arcs, e->h->ops.n + e->versions.n); /* else they grow */
	for (kr_txn t = {0}; t.i < e->h->txns.n && !e->open; t.i++)
		if (e->effective[t.i])
			KR_TRY(see_all(e, t));
	return kr_ctx_check(e->ctx);
}
