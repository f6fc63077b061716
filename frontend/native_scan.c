/* Native format: ranges, predicate reads and updates: their bounds, conditions and rows.
 *
 * An unknown condition or comparison is an error although unknown fields are ignored elsewhere: a predicate that is not understood would be judged wrongly.
 * Rows outside of a range, out of order or more than its limit are what the client saw and no error here. */
#include "frontend/native.h"

#include <stdio.h>
#include <string.h>

static enum kr_status put_bound(struct kr_native *n, json_t *json, const char *what, kr_value *out)
{
	char found[80];

	if (!json_is_null(json) && !json_is_string(json) && !json_is_number(json))
		return kr_native_bad(n, "%s is %s, expected a key (a string or a number) or null", what, kr_native_found(json, found));
	*out = kr_native_value(n, json);
	return out->i == KR_NONE ? KR_NOMEM : KR_OK;
}

static enum kr_status put_rows(struct kr_native *n, json_t *rows, struct kr_scan *scan)
{
	size_t count = json_array_size(rows);
	char found[80], what[64];

	if (!json_is_array(rows))
		return kr_native_bad(n, "the rows are %s, expected an array of [key, value]", kr_native_found(rows, found));
	scan->row_first = n->h->rows.n;
	for (size_t i = 0; i < count; i++) {
		json_t *row = json_array_get(rows, i);
		struct kr_row new_row;
		if (!json_is_array(row) || json_array_size(row) != 2)
			return kr_native_bad(n, "row %zu is %s, expected [key, value]", i, kr_native_found(row, found));
		(void)snprintf(what, sizeof what, "the key of row %zu", i);
		enum kr_status status = kr_native_put_key(n, json_array_get(row, 0), what, &new_row.key);
		(void)snprintf(what, sizeof what, "the value of row %zu", i);
		if (!status)
			status = kr_native_put_value(n, json_array_get(row, 1), what, &new_row.value);
		if (!status && !kr_vec_push(n->h->mem, &n->h->rows, new_row))
			status = KR_NOMEM;
		if (status || (status = kr_ctx_tick(n->ctx)))
			return status;
	}
	scan->row_count = (uint32_t)count;
	return KR_OK;
}

static enum kr_status push_scan(struct kr_native *n, const struct kr_scan *scan, struct kr_operation *out)
{
	out->scan = n->h->scans.n;
	return kr_vec_push(n->h->mem, &n->h->scans, *scan) ? KR_OK : KR_NOMEM;
}

/* ---- range ---- */

static enum kr_status put_range_options(struct kr_native *n, json_t *options, struct kr_scan *scan)
{
	json_t *limit = json_object_get(options, "limit"), *reverse = json_object_get(options, "reverse");
	enum kr_status status = KR_OK;
	char found[80];

	if (!json_is_object(options))
		return kr_native_bad(n, "the options are %s, expected an object", kr_native_found(options, found));
	if (limit) {
		status = kr_native_put_int(n, limit, "\"limit\"", &scan->limit);
		if (!status && scan->limit < 0)
			return kr_native_bad(n, "\"limit\" is %lld, expected 0 or more", (long long)scan->limit);
	}
	if (reverse && !status)
		status = kr_native_put_bool(n, reverse, "\"reverse\"", &scan->reverse);
	return status;
}

enum kr_status kr_native_range(struct kr_native *n, json_t *op, struct kr_operation *out)
{
	struct kr_scan scan = {.limit = -1};
	enum kr_status status = put_bound(n, json_array_get(op, 1), "the low bound", &scan.low);

	if (!status)
		status = put_bound(n, json_array_get(op, 2), "the high bound", &scan.high);
	if (!status)
		status = put_rows(n, json_array_get(op, 3), &scan);
	if (!status && n->arguments > 3)
		status = put_range_options(n, json_array_get(op, 4), &scan);
	return status ? status : push_scan(n, &scan, out);
}

/* ---- where ---- */

static bool find_test(const char *name, enum kr_cond_test *out)
{
	static const char *const names[] = {"eq", "ne", "lt", "le", "gt", "ge", "in"}; /* by enum kr_cond_test */

	for (unsigned i = 0; i < KR_COUNT(names); i++) {
		if (strcmp(name, names[i]) == 0) {
			*out = (enum kr_cond_test)i;
			return true;
		}
	}
	return false;
}

static enum kr_status push_cond(struct kr_native *n, struct kr_cond cond, json_t *json)
{
	cond.value = kr_native_value(n, json);
	return cond.value.i != KR_NONE && kr_vec_push(n->h->mem, &n->h->conds, cond) ? KR_OK : KR_NOMEM;
}

/* {"ge": 0, "le": 10, ...} on `cond`'s target. */
static enum kr_status put_tests(struct kr_native *n, json_t *tests, const char *what, struct kr_cond cond)
{
	char found[80], name[80];

	if (!json_is_object(tests))
		return kr_native_bad(n, "the condition on %s is %s, expected an object of comparisons", what, kr_native_found(tests, found));
	for (void *at = json_object_iter(tests); at; at = json_object_iter_next(tests, at)) {
		json_t *with = json_object_iter_value(at);
		(void)snprintf(name, sizeof name, "%.60s", json_object_iter_key(at));
		if (!find_test(name, &cond.test))
			return kr_native_bad(n, "unknown comparison \"%s\" of %s, expected eq, ne, lt, le, gt, ge or in", name, what);
		if (cond.test == KR_COND_IN && !json_is_array(with))
			return kr_native_bad(n, "\"in\" is %s, expected an array of values", kr_native_found(with, found));
		if (cond.test >= KR_COND_LT && cond.test <= KR_COND_GE && !json_is_number(with) && !json_is_string(with))
			return kr_native_bad(n, "\"%s\" is %s, expected a number or a string", name, kr_native_found(with, found));
		enum kr_status status = push_cond(n, cond, with);
		if (status)
			return status;
	}
	return KR_OK;
}

static enum kr_status put_fields(struct kr_native *n, json_t *fields)
{
	char what[80];

	if (!json_is_object(fields))
		return kr_native_bad(n, "\"field\" is %s, expected an object of fields", kr_native_found(fields, what));
	for (void *at = json_object_iter(fields); at; at = json_object_iter_next(fields, at)) {
		const char *name = json_object_iter_key(at);
		struct kr_cond cond = {.target = KR_COND_FIELD, .field = kr_history_text(n->h, KR_VALUE_STRING, name, strlen(name))};
		if (cond.field.i == KR_NONE)
			return KR_NOMEM;
		(void)snprintf(what, sizeof what, "field \"%.60s\"", name);
		enum kr_status status = put_tests(n, json_object_iter_value(at), what, cond);
		if (status)
			return status;
	}
	return KR_OK;
}

static enum kr_status put_condition(struct kr_native *n, const char *name, json_t *condition)
{
	char found[80];

	if (strcmp(name, "value") == 0)
		return put_tests(n, condition, "the value", (struct kr_cond){.target = KR_COND_VALUE});
	if (strcmp(name, "field") == 0)
		return put_fields(n, condition);
	if (strcmp(name, "key_prefix") != 0)
		return kr_native_bad(n, "unknown condition \"%.60s\" in \"where\", expected key_prefix, value or field", name);
	if (!json_is_string(condition))
		return kr_native_bad(n, "\"key_prefix\" is %s, expected a string", kr_native_found(condition, found));
	return push_cond(n, (struct kr_cond){.target = KR_COND_KEY_PREFIX, .test = KR_COND_PREFIX}, condition);
}

static enum kr_status put_where(struct kr_native *n, json_t *where, struct kr_scan *scan)
{
	char found[80];

	if (!json_is_object(where))
		return kr_native_bad(n, "\"where\" is %s, expected an object of conditions", kr_native_found(where, found));
	scan->cond_first = n->h->conds.n;
	for (void *at = json_object_iter(where); at; at = json_object_iter_next(where, at)) {
		enum kr_status status = put_condition(n, json_object_iter_key(at), json_object_iter_value(at));
		if (status)
			return status;
	}
	scan->cond_count = n->h->conds.n - scan->cond_first;
	return KR_OK;
}

enum kr_status kr_native_scan(struct kr_native *n, json_t *op, struct kr_operation *out)
{
	struct kr_scan scan = {.limit = -1};
	enum kr_status status = put_where(n, json_array_get(op, 1), &scan);

	if (!status)
		status = put_rows(n, json_array_get(op, 2), &scan);
	return status ? status : push_scan(n, &scan, out);
}

/* The field in which a row of an update disagrees with "set"; "": the whole value; NULL: it agrees. Of an object "set" may name some fields only. */
static const char *disagreement(const json_t *value, json_t *set)
{
	if (!json_is_object(value) || !json_is_object(set))
		return json_equal(value, set) ? NULL : "";
	for (void *at = json_object_iter(set); at; at = json_object_iter_next(set, at))
		if (!json_equal(json_object_get(value, json_object_iter_key(at)), json_object_iter_value(at)))
			return json_object_iter_key(at);
	return NULL;
}

static enum kr_status check_written(struct kr_native *n, const json_t *rows, json_t *set)
{
	char found[80], expected[80];

	for (size_t i = 0; i < json_array_size(rows); i++) {
		const json_t *value = json_array_get(json_array_get(rows, i), 1);
		const char *field = disagreement(value, set);

		if (field && field[0])
			return kr_native_bad(n, "\"%.40s\" of row %zu is %s, expected %s, as \"set\" says", field, i,
				kr_native_found(json_object_get(value, field), found), kr_native_found(json_object_get(set, field), expected));
		if (field)
			return kr_native_bad(n, "the value of row %zu is %s, expected %s, as \"set\" says", i, kr_native_found(value, found),
				kr_native_found(set, expected));
	}
	return KR_OK;
}

enum kr_status kr_native_update(struct kr_native *n, json_t *op, struct kr_operation *out)
{
	struct kr_scan scan = {.limit = -1};
	json_t *change = json_array_get(op, 2), *value = json_object_get(change, "set");
	enum kr_status status = put_where(n, json_array_get(op, 1), &scan);
	char found[80];

	if (!status && !value)
		status = kr_native_bad(n, "the change is %s, expected {\"set\": value}",
			json_is_object(change) ? "an object without \"set\"" : kr_native_found(change, found));
	if (!status)
		status = kr_native_put_value(n, value, "\"set\"", &scan.set);
	if (!status)
		status = put_rows(n, json_array_get(op, 3), &scan);
	if (!status)
		status = check_written(n, json_array_get(op, 3), value);
	return status ? status : push_scan(n, &scan, out);
}
