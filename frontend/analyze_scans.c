/* Ranges, scans and updates: what they say of each key that they look at (analyze_looks.c).
 *
 * A row is an item observation (an update tells what it wrote, so of its rows only that they matched); a key
 * that was looked at and not returned is a predicate observation. Rows that no database state can give (not
 * in their place, out of bounds, not matching, twice) are a mismatch of the result set. Linear in the
 * observations made. */
#include "frontend/analyze_replay.h"

static enum kr_status look_at_row(struct kr_replay *r, const struct kr_row *row)
{
	if (kr_analyze_grows(r->writes, row->key))
		return kr_analyze_grow_see(r, row->key, KR_SHOWN_ROW, row->value);
	return kr_analyze_look(r, row->key, kr_test_is(kr_token_of(row->value)), false);
}

static enum kr_status mismatch(struct kr_replay *r, const struct kr_row *row)
{
	return kr_analyze_contradict(r, row->key, KR_RESULT_SET_MISMATCH, KR_NOBODY);
}

/* A key that was looked at, unless a row is there. */
static enum kr_status look_at_rest(struct kr_replay *r, const struct kr_looked *looked, uint32_t test)
{
	kr_key k = looked->key;

	if (r->row_of[k.i] != KR_NONE)
		return kr_ctx_tick(r->w->ctx);
	if (kr_analyze_grows(r->writes, k))
		return kr_analyze_grow_see(r, k, KR_SHOWN_NO_ROW, KR_ABSENT);
	if (looked->passing && r->stamp[k.i] != r->turn && !(r->seen_of && r->seen_of[k.i] != KR_NONE))
		return kr_ctx_tick(r->w->ctx);
	return kr_analyze_look(r, k, test, true);
}

static void unmark_rows(struct kr_replay *r, const struct kr_scan *scan)
{
	for (uint32_t i = scan->row_first; i < scan->row_first + scan->row_count; i++)
		r->row_of[r->w->h->rows.at[i].key.i] = KR_NONE;
}

/* ---- ranges ---- */

/* The first place of by_name whose key is not less than (`after`: greater than) the bound. */
static uint32_t place_of(const struct kr_replay *r, kr_value bound, bool after)
{
	const struct kr_history *h = r->w->h;
	uint32_t at;

	KR_BISECT(at, 0, r->looks->names,
		kr_history_compare_keys(h, h->keys.at[r->looks->by_name[at].key.i].name, bound) <
			(after ? 1 : 0));
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
	const struct kr_history *h = r->w->h;
	uint32_t low = scan->low.i == KR_ABSENT.i ? 0 : place_of(r, scan->low, false);
	uint32_t high = scan->high.i == KR_ABSENT.i ? r->looks->names : place_of(r, scan->high, false);

	/* beyond the last key returned nothing was looked at */
	if (scan->limit >= 0 && scan->row_count >= (uint64_t)scan->limit) {
		if (scan->row_count == 0)
			return KR_OK;

		kr_value last = h->keys.at[h->rows.at[scan->row_first + scan->row_count - 1].key.i].name;
		uint32_t place = place_of(r, last, !scan->reverse);

		if (scan->reverse && place > low)
			low = place;
		if (!scan->reverse && place < high)
			high = place;
	}
	for (uint32_t i = low; i < high; i++)
		KR_TRY(look_at_rest(r, &r->looks->by_name[i], kr_test_is(KR_TOKEN_ABSENT)));
	return KR_OK;
}

enum kr_status kr_analyze_range(struct kr_replay *r, const struct kr_operation *op)
{
	const struct kr_history *h = r->w->h;
	const struct kr_scan *scan = &h->scans.at[op->scan];

	for (uint32_t i = 0; i < scan->row_count; i++) {
		const struct kr_row *row = &h->rows.at[scan->row_first + i];

		if (is_in_place(h, scan, i))
			KR_TRY(look_at_row(r, row));
		else
			KR_TRY(mismatch(r, row));
		r->row_of[row->key.i] = i;
	}
	KR_TRY(look_at_range(r, scan));
	unmark_rows(r, scan);
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
	const struct kr_scan *scan = &r->w->h->scans.at[op->scan];
	bool fits = r->row_of[row->key.i] == KR_NONE && row->value.i != KR_ABSENT.i;

	if (fits && kr_analyze_grows(r->writes, row->key))
		KR_TRY(row_fits(r, scan, row, &fits));
	else if (fits && op->kind == KR_OP_SCAN)
		fits = kr_analyze_fits(r->w, r->looks, kr_test(KR_TEST_MATCH, r->looks->where_of[op->scan]),
			row->key, kr_token_of(row->value));
	else if (fits)
		fits = kr_where_has_prefix(r->w->h, scan, row->key);
	if (!fits)
		return mismatch(r, row);
	return op->kind == KR_OP_SCAN ? look_at_row(r, row) : kr_analyze_look(r, row->key, match, false);
}

enum kr_status kr_analyze_scan(struct kr_replay *r, const struct kr_operation *op)
{
	const struct kr_history *h = r->w->h;
	const struct kr_scan *scan = &h->scans.at[op->scan];
	uint32_t id = r->looks->where_of[op->scan];
	const struct kr_where *where = &r->looks->wheres.at[id];
	bool of_values = kr_where_of_values(h, scan);
	uint32_t match = of_values ? kr_test(KR_TEST_MATCH, id) : kr_test_not(KR_TOKEN_ABSENT);
	uint32_t miss = of_values ? kr_test(KR_TEST_MISS, id) : kr_test_is(KR_TOKEN_ABSENT);

	if (where->unsure)
		kr_analyze_leave_out(r->w, r->txn, r->op,
			"a condition on the value of a list, a set, a mark or a counter whose value is not "
			"always told");
	for (uint32_t i = 0; i < scan->row_count; i++) {
		const struct kr_row *row = &h->rows.at[scan->row_first + i];

		KR_TRY(look_at_match(r, op, row, match));
		r->row_of[row->key.i] = i;
	}
	for (uint32_t i = where->first; i < where->first + where->count; i++)
		KR_TRY(look_at_rest(r, &r->looks->looked.at[i], miss));
	unmark_rows(r, scan);
	return KR_OK;
}
