/* Ranges, scans and updates: which keys they look at, and what they say of each.
 *
 * A row is an item observation (an update tells what it wrote, so of its rows only that they matched); a key
 * that was looked at and not returned is a predicate observation. Keys that nothing can bring into the result
 * are left out: any world would do, with the initial version as the source. Ranges bisect the keys in their
 * order; each distinct `where` collects, once, the keys that have a version which it takes. Rows that no
 * database state can give (not in their place, out of bounds, not matching, twice) are a mismatch of the
 * result set. Cost: linear in the observations made; per distinct `where`, the versions. */
#include "frontend/analyze_work.h"
#include "frontend/model/datatype.h"

#include <string.h>

/* ---- which keys have to be looked at ---- */

/* Writes that are not their transaction's last to the key, of transactions that were not aborted. */
static enum kr_status find_passing(struct kr_work *w)
{
	const struct kr_history *h = w->h;

	memset(w->stamp, 0xff, h->keys.n * sizeof *w->stamp);
	for (uint32_t t = 0; t < h->txns.n; t++) {
		const struct kr_transaction *txn = &h->txns.at[t];

		for (uint32_t i = txn->op_count; i-- > 0 && txn->status != KR_ABORTED;) {
			const struct kr_operation *op = &h->ops.at[txn->op_first + i];

			KR_TRY(kr_ctx_tick(w->ctx));
			for (uint32_t n = kr_write_count(w->h, op); n-- > 0;) {
				struct kr_row write = kr_analyze_write(w, op, n);
				bool passing = w->stamp[write.key.i] == t && write.value.i != KR_ABSENT.i;

				w->stamp[write.key.i] = t;
				if (passing && !kr_vec_push(w->asg->mem, &w->passing, write))
					return KR_NOMEM;
			}
		}
	}
	return KR_OK;
}

/* Those of a key together, in the order in which they were found. */
static enum kr_status group_passing(struct kr_work *w)
{
	uint32_t *first = KR_NEW_ARRAY(&w->scratch, uint32_t, w->h->keys.n + 2);
	struct kr_row *found = KR_NEW_ARRAY(&w->scratch, struct kr_row, w->passing.n);

	if (!first || !found)
		return KR_NOMEM;
	for (uint32_t i = 0; i < w->passing.n; i++) {
		found[i] = w->passing.at[i];
		first[found[i].key.i + 2]++;
	}
	kr_index_places(first, w->h->keys.n);
	for (uint32_t i = 0; i < w->passing.n; i++)
		w->passing.at[first[found[i].key.i + 1]++] = found[i];
	return KR_OK;
}

/* Whether `where` (KR_NONE: any present value) takes this value of k. One that is not told it may. */
static bool takes(const struct kr_work *w, uint32_t where, kr_key k, kr_token token)
{
	if (token.i == KR_NONE || where == KR_NONE)
		return token.i != KR_TOKEN_ABSENT.i;
	return kr_analyze_fits(w, kr_test(KR_TEST_MATCH, where), k, token);
}

enum interest { UNTAKEN, PASSING, TAKEN };

/* `at` walks the passing writes along with the keys. */
static enum kr_status interest_in(struct kr_work *w, uint32_t where, kr_key k, uint32_t *at,
	enum interest *out)
{
	*out = UNTAKEN;
	for (uint32_t v = w->asg->keys[k.i].first; v < w->asg->keys[k.i + 1].first && *out == UNTAKEN; v++) {
		KR_TRY(kr_ctx_tick(w->ctx));
		if (takes(w, where, k, w->token[v]))
			*out = TAKEN;
	}
	while (*at < w->passing.n && w->passing.at[*at].key.i < k.i)
		++*at;
	for (uint32_t i = *at; *out == UNTAKEN && i < w->passing.n && w->passing.at[i].key.i == k.i; i++) {
		KR_TRY(kr_ctx_tick(w->ctx));
		if (takes(w, where, k, kr_token_of(w->passing.at[i].value)))
			*out = PASSING;
	}
	if (*out == UNTAKEN && w->named && kr_bits_get(w->named, k.i))
		*out = PASSING;
	return KR_OK;
}

static enum kr_status order_keys(struct kr_work *w)
{
	uint8_t *interests = KR_NEW_ARRAY(&w->scratch, uint8_t, w->h->keys.n); /* enum interest */
	kr_key *keys;
	uint32_t at = 0;

	if (!interests)
		return KR_NOMEM;
	KR_TRY(kr_keys_by_name(w->h, &w->scratch, &keys));
	for (kr_key k = {0}; k.i < w->h->keys.n; k.i++) {
		enum interest interest = TAKEN;

		if (!kr_analyze_grows(w, k))
			KR_TRY(interest_in(w, KR_NONE, k, &at, &interest));
		interests[k.i] = (uint8_t)interest;
	}
	for (uint32_t i = 0; i < w->h->keys.n; i++) {
		struct kr_looked looked = {keys[i], interests[keys[i].i] == PASSING};

		if (interests[keys[i].i] != UNTAKEN && !kr_vec_push(w->asg->mem, &w->by_name, looked))
			return KR_NOMEM;
	}
	return KR_OK;
}

static enum kr_status find_named(struct kr_work *w)
{
	if (w->h->seen.n == 0)
		return KR_OK;
	w->named = KR_NEW_ARRAY(&w->scratch, uint64_t, KR_BITS_WORDS(w->h->keys.n));
	if (!w->named)
		return KR_NOMEM;
	for (uint32_t i = 0; i < w->h->seen.n; i++)
		kr_bits_set(w->named, w->h->seen.at[i].key.i);
	return KR_OK;
}

enum kr_status kr_analyze_scans(struct kr_work *w)
{
	bool any_range = false;

	if (w->h->scans.n == 0)
		return KR_OK;
	w->row_of = KR_NEW_ARRAY(&w->scratch, uint32_t, w->h->keys.n);
	w->where_of = KR_NEW_ARRAY(&w->scratch, uint32_t, w->h->scans.n);
	if (!w->row_of || !w->where_of)
		return KR_NOMEM;
	memset(w->row_of, 0xff, w->h->keys.n * sizeof *w->row_of);
	memset(w->where_of, 0xff, w->h->scans.n * sizeof *w->where_of);
	for (uint32_t i = 0; i < w->h->ops.n && !any_range; i++)
		any_range = w->h->ops.at[i].kind == KR_OP_RANGE;
	KR_TRY(find_named(w));
	KR_TRY(find_passing(w));
	KR_TRY(group_passing(w));
	return any_range ? order_keys(w) : KR_OK;
}

/* ---- distinct conditions ---- */

static uint64_t hash_where(const struct kr_history *h, const struct kr_scan *scan)
{
	uint64_t hash = scan->cond_count;

	for (uint32_t i = scan->cond_first; i < scan->cond_first + scan->cond_count; i++) {
		const struct kr_cond *cond = &h->conds.at[i];

		hash = kr_hash_pair(kr_hash_pair(hash, (uint64_t)cond->target << 8 | cond->test),
			kr_hash_pair(cond->field.i, cond->value.i));
	}
	return hash;
}

static bool same_where(const struct kr_history *h, const struct kr_scan *a, const struct kr_scan *b)
{
	for (uint32_t i = 0; i < a->cond_count && a->cond_count == b->cond_count; i++) {
		const struct kr_cond *x = &h->conds.at[a->cond_first + i],
				     *y = &h->conds.at[b->cond_first + i];

		if (x->target != y->target || x->test != y->test || x->value.i != y->value.i ||
			(x->target == KR_COND_FIELD && x->field.i != y->field.i))
			return false;
	}
	return a->cond_count == b->cond_count;
}

static enum kr_status find_where(struct kr_work *w, uint32_t scan, uint32_t *out)
{
	const struct kr_scan *scans = w->h->scans.at;
	struct kr_mem *mem = w->asg->mem;

	if (w->where_of[scan] != KR_NONE) {
		*out = w->where_of[scan];
		return KR_OK;
	}

	uint64_t hash = hash_where(w->h, &scans[scan]);
	uint32_t id;

	for (kr_table_iter it = kr_table_find(&w->where_table, hash);
		(id = kr_table_next(&w->where_table, &it)) != KR_NONE;)
		if (same_where(w->h, &scans[w->wheres.at[id].scan], &scans[scan]))
			break;
	if (id == KR_NONE) {
		id = w->wheres.n;
		if (!kr_table_reserve(mem, &w->where_table) ||
			!kr_vec_push(mem, &w->wheres, (struct kr_where){.scan = scan}))
			return KR_NOMEM;
		kr_table_insert(&w->where_table, hash, id);
	}
	*out = w->where_of[scan] = id;
	return KR_OK;
}

/* ---- growing keys ---- */

/* Whether growing key k is taken when it is present. It can be told where the conditions ask for the name
 * only, or, of lists and sets, not for their elements. */
static void takes_growing(struct kr_replay *r, const struct kr_scan *scan, kr_key k, bool *out)
{
	const struct kr_history *h = r->w->h;
	struct kr_operand any = {.type = KR_VALUE_ARRAY, .text = {"[]", 2}};

	*out = kr_where_has_prefix(h, scan, k);
	if (!*out || !kr_where_of_values(h, scan))
		return;
	if (kr_datatype_of(h->keys.at[k.i].kind)->shown == KR_VALUE_INT || kr_where_of_elements(h, scan)) {
		kr_analyze_leave_out(r->w, r->txn, r->op,
			"a condition on the value of a list, a set, a mark or a counter whose value is not "
			"always told");
		*out = false;
		return;
	}
	*out = kr_where_holds_of(h, scan, k, &any);
}

/* The keys that have a version which the conditions take; once. */
static enum kr_status look_up(struct kr_replay *r, uint32_t where)
{
	struct kr_work *w = r->w;
	const struct kr_scan *scan = &w->h->scans.at[w->wheres.at[where].scan];
	uint32_t at = 0;

	if (w->wheres.at[where].known)
		return KR_OK;
	w->wheres.at[where].first = w->looked.n;
	for (uint32_t k = 0; k < w->h->keys.n; k++) {
		kr_key key = {k};
		enum interest interest = UNTAKEN;
		bool taken = kr_where_has_prefix(w->h, scan, key);

		KR_TRY(kr_ctx_tick(w->ctx));
		if (taken && kr_analyze_grows(w, key)) {
			takes_growing(r, scan, key, &taken);
			interest = taken ? TAKEN : UNTAKEN;
		} else if (taken) {
			KR_TRY(interest_in(w, where, key, &at, &interest));
		}
		if (interest != UNTAKEN &&
			!kr_vec_push(w->asg->mem, &w->looked, (struct kr_looked){key, interest == PASSING}))
			return KR_NOMEM;
	}
	w->wheres.at[where].count = w->looked.n - w->wheres.at[where].first;
	w->wheres.at[where].known = true;
	return KR_OK;
}

/* ---- what one operation says ---- */

static enum kr_status look_at_row(struct kr_replay *r, const struct kr_row *row)
{
	if (kr_analyze_grows(r->w, row->key))
		return kr_analyze_grow_see(r, row->key, KR_SHOWN_ROW, row->value);
	return kr_analyze_look(r, row->key, kr_test_is(kr_token_of(row->value)), false);
}

/* A key that was looked at, unless a row is there. */
static enum kr_status look_at_rest(struct kr_replay *r, const struct kr_looked *looked, uint32_t test)
{
	struct kr_work *w = r->w;
	kr_key k = looked->key;

	if (w->row_of[k.i] != KR_NONE)
		return kr_ctx_tick(w->ctx);
	if (kr_analyze_grows(w, k))
		return kr_analyze_grow_see(r, k, KR_SHOWN_NO_ROW, KR_ABSENT);
	if (looked->passing && w->stamp[k.i] != r->turn && !(w->seen_of && w->seen_of[k.i] != KR_NONE))
		return kr_ctx_tick(w->ctx);
	return kr_analyze_look(r, k, test, true);
}

static void unmark_rows(struct kr_work *w, const struct kr_scan *scan)
{
	for (uint32_t i = scan->row_first; i < scan->row_first + scan->row_count; i++)
		w->row_of[w->h->rows.at[i].key.i] = KR_NONE;
}

/* ---- ranges ---- */

/* The first place of by_name whose key is not less than (`after`: greater than) the bound. */
static uint32_t place_of(const struct kr_work *w, kr_value bound, bool after)
{
	const struct kr_key_entry *keys = w->h->keys.at;
	uint32_t at;

	KR_BISECT(at, 0, w->by_name.n,
		kr_history_compare_keys(w->h, keys[w->by_name.at[at].key.i].name, bound) < (after ? 1 : 0));
	return at;
}

/* Whether row i can stand where it does. */
static bool is_in_place(const struct kr_history *h, const struct kr_scan *scan, uint32_t i)
{
	const struct kr_row *row = &h->rows.at[scan->row_first + i];
	kr_value name = h->keys.at[row->key.i].name;

	if (row->value.i == KR_ABSENT.i || (scan->limit >= 0 && i >= (uint64_t)scan->limit))
		return false;
	if (!kr_where_in_bounds(h, scan, name))
		return false;
	if (i == 0)
		return true;

	int side = kr_history_compare_keys(h, h->keys.at[row[-1].key.i].name, name);

	return scan->reverse ? side > 0 : side < 0;
}

static enum kr_status look_at_range(struct kr_replay *r, const struct kr_scan *scan)
{
	const struct kr_work *w = r->w;
	uint32_t low = scan->low.i == KR_ABSENT.i ? 0 : place_of(w, scan->low, false);
	uint32_t high = scan->high.i == KR_ABSENT.i ? w->by_name.n : place_of(w, scan->high, false);

	/* beyond the last key returned nothing was looked at */
	if (scan->limit >= 0 && scan->row_count >= (uint64_t)scan->limit) {
		if (scan->row_count == 0)
			return KR_OK;

		kr_value last =
			w->h->keys.at[w->h->rows.at[scan->row_first + scan->row_count - 1].key.i].name;
		uint32_t place = place_of(w, last, !scan->reverse);

		if (scan->reverse && place > low)
			low = place;
		if (!scan->reverse && place < high)
			high = place;
	}
	for (uint32_t i = low; i < high; i++)
		KR_TRY(look_at_rest(r, &w->by_name.at[i], kr_test_is(KR_TOKEN_ABSENT)));
	return KR_OK;
}

enum kr_status kr_analyze_range(struct kr_replay *r, const struct kr_operation *op)
{
	struct kr_work *w = r->w;
	const struct kr_scan *scan = &w->h->scans.at[op->scan];

	for (uint32_t i = 0; i < scan->row_count; i++) {
		const struct kr_row *row = &w->h->rows.at[scan->row_first + i];

		if (is_in_place(w->h, scan, i))
			KR_TRY(look_at_row(r, row));
		else
			KR_TRY(kr_analyze_contradict(r, row->key, KR_RESULT_SET_MISMATCH));
		w->row_of[row->key.i] = i;
	}
	KR_TRY(look_at_range(r, scan));
	unmark_rows(w, scan);
	return KR_OK;
}

/* ---- scans and updates ---- */

/* Of a growing key that was returned. The elements of a set have no order, which conditions compare. */
static enum kr_status row_fits(struct kr_replay *r, const struct kr_scan *scan, const struct kr_row *row,
	bool *out)
{
	const struct kr_history *h = r->w->h;

	*out = kr_where_has_prefix(h, scan, row->key);
	if (h->keys.at[row->key.i].kind != KR_KIND_SET || !kr_where_of_elements(h, scan))
		return *out ? kr_where_holds(h, scan, row->key, row->value, out, r->w->err) : KR_OK;
	kr_analyze_leave_out(r->w, r->txn, r->op, "a condition on the elements of a set");
	return KR_OK;
}

static enum kr_status look_at_match(struct kr_replay *r, const struct kr_operation *op,
	const struct kr_row *row, uint32_t match)
{
	struct kr_work *w = r->w;
	const struct kr_scan *scan = &w->h->scans.at[op->scan];
	bool fits = w->row_of[row->key.i] == KR_NONE && row->value.i != KR_ABSENT.i;

	if (fits && kr_analyze_grows(w, row->key))
		KR_TRY(row_fits(r, scan, row, &fits));
	else if (fits && op->kind == KR_OP_SCAN)
		fits = kr_analyze_fits(w, kr_test(KR_TEST_MATCH, w->where_of[op->scan]), row->key,
			kr_token_of(row->value));
	else if (fits)
		fits = kr_where_has_prefix(w->h, scan, row->key);
	if (!fits)
		return kr_analyze_contradict(r, row->key, KR_RESULT_SET_MISMATCH);
	return op->kind == KR_OP_SCAN ? look_at_row(r, row) : kr_analyze_look(r, row->key, match, false);
}

enum kr_status kr_analyze_scan(struct kr_replay *r, const struct kr_operation *op)
{
	struct kr_work *w = r->w;
	const struct kr_scan *scan = &w->h->scans.at[op->scan];
	bool of_values = kr_where_of_values(w->h, scan);
	uint32_t where;

	KR_TRY(find_where(w, op->scan, &where));
	KR_TRY(look_up(r, where));

	uint32_t match = of_values ? kr_test(KR_TEST_MATCH, where) : kr_test_not(KR_TOKEN_ABSENT);
	uint32_t miss = of_values ? kr_test(KR_TEST_MISS, where) : kr_test_is(KR_TOKEN_ABSENT);

	for (uint32_t i = 0; i < scan->row_count; i++) {
		const struct kr_row *row = &w->h->rows.at[scan->row_first + i];

		KR_TRY(look_at_match(r, op, row, match));
		w->row_of[row->key.i] = i;
	}
	for (uint32_t i = 0; i < w->wheres.at[where].count; i++)
		KR_TRY(look_at_rest(r, &w->looked.at[w->wheres.at[where].first + i], miss));
	unmark_rows(w, scan);
	return KR_OK;
}
