/* Native format: ranges, predicate reads and updates: their bounds, conditions and rows.
 *
 * An unknown condition or comparison is an error although unknown fields are ignored elsewhere: a predicate
 * that is not understood would be judged wrongly. Rows outside of a range, out of order or more than its
 * limit are what the client saw and no error here. */
#include "frontend/native.h"

#include <stdio.h>
#include <string.h>

static enum kr_status put_bound(struct kr_native *n, const struct kr_node *json, const char *what,
	kr_value *out)
{
	if (!kr_node_is(json, KR_NODE_NULL) && !kr_node_is(json, KR_NODE_STRING) && !kr_node_is_number(json))
		return kr_native_wrong(n, json, what, "a key (a string or a number) or null");
	*out = kr_native_value(n, json);
	return out->i == KR_NONE ? KR_NOMEM : KR_OK;
}

static enum kr_status put_rows(struct kr_native *n, const struct kr_node *rows, struct kr_scan *scan)
{
	char found[80];

	if (!kr_node_is(rows, KR_NODE_ARRAY))
		return kr_native_bad(n, "the rows are %s, expected an array of [key, value]",
			kr_native_found(rows, found));
	scan->row_first = n->h->rows.n;
	n->element = 0;
	for (const struct kr_node *row = kr_node_element(rows, NULL); row;
		row = kr_node_element(rows, row), n->element++) {
		struct kr_row new_row;
		if (kr_node_size(row) != 2)
			return kr_native_wrong(n, row, "row #", "[key, value]");
		KR_TRY(kr_native_put_key(n, kr_node_at(row, 0), "the key of row #", &new_row.key));
		KR_TRY(kr_native_put_value(n, kr_node_at(row, 1), "the value of row #", &new_row.value));
		KR_TRY(kr_vec_add(n->h->mem, &n->h->rows, new_row));
		KR_TRY(kr_ctx_tick(n->ctx));
	}
	scan->row_count = n->h->rows.n - scan->row_first;
	return KR_OK;
}

static enum kr_status push_scan(struct kr_native *n, const struct kr_scan *scan, struct kr_operation *out)
{
	out->scan = n->h->scans.n;
	return kr_vec_add(n->h->mem, &n->h->scans, *scan);
}

/* ---- range ---- */

static enum kr_status put_range_options(struct kr_native *n, const struct kr_node *options,
	struct kr_scan *scan)
{
	const struct kr_node *limit = kr_node_get(options, "limit"),
			     *reverse = kr_node_get(options, "reverse");
	char found[80];

	if (!kr_node_is(options, KR_NODE_OBJECT))
		return kr_native_bad(n, "the options are %s, expected an object",
			kr_native_found(options, found));
	if (limit) {
		KR_TRY(kr_native_put_int(n, limit, "\"limit\"", &scan->limit));
		if (scan->limit < 0)
			return kr_native_bad(n, "\"limit\" is %lld, expected 0 or more",
				(long long)scan->limit);
	}
	if (reverse)
		KR_TRY(kr_native_put_bool(n, reverse, "\"reverse\"", &scan->reverse));
	return KR_OK;
}

enum kr_status kr_native_range(struct kr_native *n, const struct kr_node *op, struct kr_operation *out)
{
	struct kr_scan scan = {.limit = -1};
	KR_TRY(put_bound(n, kr_node_at(op, 1), "the low bound", &scan.low));
	KR_TRY(put_bound(n, kr_node_at(op, 2), "the high bound", &scan.high));
	KR_TRY(put_rows(n, kr_node_at(op, 3), &scan));
	if (n->arguments > 3)
		KR_TRY(put_range_options(n, kr_node_at(op, 4), &scan));
	return push_scan(n, &scan, out);
}

/* ---- where ---- */

static enum kr_status push_cond(struct kr_native *n, struct kr_cond cond, const struct kr_node *json)
{
	cond.value = kr_native_value(n, json);
	return cond.value.i != KR_NONE && kr_vec_push(n->h->mem, &n->h->conds, cond) ? KR_OK : KR_NOMEM;
}

/* {"ge": 0, "le": 10, ...} on `cond`'s target. */
static enum kr_status put_tests(struct kr_native *n, const struct kr_node *tests, const char *what,
	struct kr_cond cond)
{
	/* by enum kr_cond_test */
	static const char *const names[] = {"eq", "ne", "lt", "le", "gt", "ge", "in"};
	char found[80];

	if (!kr_node_is(tests, KR_NODE_OBJECT))
		return kr_native_bad(n, "the condition on %s is %s, expected an object of comparisons", what,
			kr_native_found(tests, found));
	for (const struct kr_node *at = kr_node_member(tests, NULL); at; at = kr_node_member(tests, at)) {
		const struct kr_node *with = kr_node_value(at);
		int test = kr_native_word(at, names, KR_COUNT(names));
		if (test < 0)
			return kr_native_bad(n,
				"unknown comparison \"%.60s\" of %s, expected eq, ne, lt, le, gt, ge or in",
				at->text, what);
		cond.test = (enum kr_cond_test)test;
		if (cond.test == KR_COND_IN && !kr_node_is(with, KR_NODE_ARRAY))
			return kr_native_wrong(n, with, "\"in\"", "an array of values");
		if (cond.test >= KR_COND_LT && cond.test <= KR_COND_GE && !kr_node_is_number(with) &&
			!kr_node_is(with, KR_NODE_STRING))
			return kr_native_bad(n, "\"%s\" is %s, expected a number or a string", names[test],
				kr_native_found(with, found));
		KR_TRY(push_cond(n, cond, with));
	}
	return KR_OK;
}

static enum kr_status put_fields(struct kr_native *n, const struct kr_node *fields)
{
	char what[80];

	if (!kr_node_is(fields, KR_NODE_OBJECT))
		return kr_native_wrong(n, fields, "\"field\"", "an object of fields");
	for (const struct kr_node *at = kr_node_member(fields, NULL); at; at = kr_node_member(fields, at)) {
		const char *name = at->text;
		struct kr_cond cond = {.target = KR_COND_FIELD,
			.field = kr_history_text(n->h, KR_VALUE_STRING, name, strlen(name))};
		if (cond.field.i == KR_NONE)
			return KR_NOMEM;
		(void)snprintf(what, sizeof what, "field \"%.60s\"", name);
		KR_TRY(put_tests(n, kr_node_value(at), what, cond));
	}
	return KR_OK;
}

static enum kr_status put_condition(struct kr_native *n, const char *name, const struct kr_node *condition)
{
	if (strcmp(name, "value") == 0)
		return put_tests(n, condition, "the value", (struct kr_cond){.target = KR_COND_VALUE});
	if (strcmp(name, "field") == 0)
		return put_fields(n, condition);
	if (strcmp(name, "key_prefix") != 0)
		return kr_native_bad(n,
			"unknown condition \"%.60s\" in \"where\", expected key_prefix, value or field",
			name);
	if (!kr_node_is(condition, KR_NODE_STRING))
		return kr_native_wrong(n, condition, "\"key_prefix\"", "a string");
	return push_cond(n, (struct kr_cond){.target = KR_COND_KEY_PREFIX, .test = KR_COND_PREFIX},
		condition);
}

static enum kr_status put_where(struct kr_native *n, const struct kr_node *where, struct kr_scan *scan)
{
	if (!kr_node_is(where, KR_NODE_OBJECT))
		return kr_native_wrong(n, where, "\"where\"", "an object of conditions");
	scan->cond_first = n->h->conds.n;
	for (const struct kr_node *at = kr_node_member(where, NULL); at; at = kr_node_member(where, at))
		KR_TRY(put_condition(n, at->text, kr_node_value(at)));
	scan->cond_count = n->h->conds.n - scan->cond_first;
	return KR_OK;
}

enum kr_status kr_native_scan(struct kr_native *n, const struct kr_node *op, struct kr_operation *out)
{
	struct kr_scan scan = {.limit = -1};
	KR_TRY(put_where(n, kr_node_at(op, 1), &scan));
	KR_TRY(put_rows(n, kr_node_at(op, 2), &scan));
	return push_scan(n, &scan, out);
}

/* Are both there, and one value? */
static enum kr_status compare(struct kr_native *n, const struct kr_node *a, const struct kr_node *b,
	bool *equal)
{
	*equal = false;
	if (!a)
		return KR_OK;

	kr_value x = kr_native_value(n, a), y = kr_native_value(n, b);

	*equal = x.i == y.i;
	return x.i == KR_NONE || y.i == KR_NONE ? KR_NOMEM : KR_OK;
}

/* The field of "set" in which a row's value disagrees with it; NULL: none. Of an object "set" may name some
 * fields only. */
static enum kr_status find_disagreement(struct kr_native *n, const struct kr_node *value,
	const struct kr_node *set, const struct kr_node **out)
{
	bool equal = true;

	*out = NULL;
	for (const struct kr_node *at = kr_node_member(set, NULL); at && equal;
		at = kr_node_member(set, at)) {
		KR_TRY(compare(n, kr_node_get(value, at->text), kr_node_value(at), &equal));
		*out = equal ? NULL : at;
	}
	return KR_OK;
}

static enum kr_status check_row(struct kr_native *n, const struct kr_node *value, const struct kr_node *set,
	uint32_t index)
{
	const struct kr_node *field = NULL;
	bool fields = kr_node_is(value, KR_NODE_OBJECT) && kr_node_is(set, KR_NODE_OBJECT), equal = true;
	KR_TRY(fields ? find_disagreement(n, value, set, &field) : compare(n, value, set, &equal));
	char found[80], expected[80];

	if (field)
		return kr_native_bad(n, "\"%.40s\" of row %u is %s, expected %s, as \"set\" says",
			field->text, (unsigned)index, kr_native_found(kr_node_get(value, field->text), found),
			kr_native_found(kr_node_value(field), expected));
	if (!equal)
		return kr_native_bad(n, "the value of row %u is %s, expected %s, as \"set\" says",
			(unsigned)index, kr_native_found(value, found), kr_native_found(set, expected));
	return KR_OK;
}

static enum kr_status check_written(struct kr_native *n, const struct kr_node *rows,
	const struct kr_node *set)
{
	uint32_t i = 0;

	for (const struct kr_node *row = kr_node_element(rows, NULL); row; row = kr_node_element(rows, row))
		KR_TRY(check_row(n, kr_node_at(row, 1), set, i++));
	return KR_OK;
}

enum kr_status kr_native_update(struct kr_native *n, const struct kr_node *op, struct kr_operation *out)
{
	struct kr_scan scan = {.limit = -1};
	const struct kr_node *change = kr_node_at(op, 2), *value = kr_node_get(change, "set");
	KR_TRY(put_where(n, kr_node_at(op, 1), &scan));
	char found[80];

	if (!value)
		return kr_native_bad(n, "the change is %s, expected {\"set\": value}",
			kr_node_is(change, KR_NODE_OBJECT) ? "an object without \"set\""
							   : kr_native_found(change, found));
	KR_TRY(kr_native_put_value(n, value, "\"set\"", &scan.set));
	KR_TRY(put_rows(n, kr_node_at(op, 3), &scan));
	KR_TRY(check_written(n, kr_node_at(op, 3), value));
	return push_scan(n, &scan, out);
}
