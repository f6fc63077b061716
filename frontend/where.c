/* The conditions of predicate reads and updates: a row is taken when it is present and all of them hold.
 * Equality is structural (1 and 1.0 differ); less and greater compare numbers with numbers by value and
 * strings with strings by bytes. A comparison that makes no sense (other types, a field that a row does not
 * have) does not hold, whatever the test. */
#include "frontend/where.h"

#include "base/order.h"

static bool find_field(struct kr_piece object, const struct kr_operand *name, struct kr_operand *out)
{
	struct kr_piece key, value;

	for (size_t at = 1; kr_piece_next(object.text, object.length, &at, &key) &&
		kr_piece_next(object.text, object.length, &at, &value);) {
		struct kr_operand found = kr_operand_of_piece(key);
		if (kr_operand_equal(&found, name)) {
			*out = kr_operand_of_piece(value);
			return true;
		}
	}
	return false;
}

static bool is_among(const struct kr_operand *a, const struct kr_operand *array)
{
	struct kr_piece piece;

	if (array->type != KR_VALUE_ARRAY)
		return false;
	for (size_t at = 1; kr_piece_next(array->text.text, array->text.length, &at, &piece);) {
		struct kr_operand element = kr_operand_of_piece(piece);
		if (kr_operand_equal(a, &element))
			return true;
	}
	return false;
}

static bool test_holds(enum kr_cond_test test, const struct kr_operand *a, const struct kr_operand *b)
{
	int order;

	switch (test) {
	case KR_COND_EQ: return kr_operand_equal(a, b);
	case KR_COND_NE: return !kr_operand_equal(a, b);
	case KR_COND_IN: return is_among(a, b);
	case KR_COND_PREFIX:
		return a->type == KR_VALUE_STRING && b->type == KR_VALUE_STRING && kr_operand_starts(a, b);
	case KR_COND_LT: return kr_operand_compare(a, b, &order) && order < 0;
	case KR_COND_LE: return kr_operand_compare(a, b, &order) && order <= 0;
	case KR_COND_GT: return kr_operand_compare(a, b, &order) && order > 0;
	case KR_COND_GE: return kr_operand_compare(a, b, &order) && order >= 0;
	}
	return false;
}

bool kr_where_holds_of(const struct kr_history *h, const struct kr_scan *scan, kr_key key,
	const struct kr_operand *value)
{
	struct kr_operand name = kr_operand_of_value(h, h->keys.at[key.i].name);

	for (uint32_t i = 0; i < scan->cond_count; i++) {
		const struct kr_cond *cond = &h->conds.at[scan->cond_first + i];
		struct kr_operand left = cond->target == KR_COND_KEY_PREFIX ? name : *value;
		struct kr_operand right = kr_operand_of_value(h, cond->value);

		if (cond->target == KR_COND_FIELD) {
			struct kr_operand field = kr_operand_of_value(h, cond->field);
			if (left.type != KR_VALUE_OBJECT || !find_field(left.text, &field, &left))
				return false;
		}
		if (!test_holds(cond->target == KR_COND_KEY_PREFIX ? KR_COND_PREFIX : cond->test, &left,
			    &right))
			return false;
	}
	return true;
}

bool kr_where_of_values(const struct kr_history *h, const struct kr_scan *scan)
{
	for (uint32_t i = 0; i < scan->cond_count; i++)
		if (h->conds.at[scan->cond_first + i].target != KR_COND_KEY_PREFIX)
			return true;
	return false;
}

bool kr_where_has_prefix(const struct kr_history *h, const struct kr_scan *scan, kr_key key)
{
	struct kr_operand name = kr_operand_of_value(h, h->keys.at[key.i].name);

	for (uint32_t i = 0; i < scan->cond_count; i++) {
		const struct kr_cond *cond = &h->conds.at[scan->cond_first + i];
		struct kr_operand prefix = kr_operand_of_value(h, cond->value);

		if (cond->target == KR_COND_KEY_PREFIX && !test_holds(KR_COND_PREFIX, &name, &prefix))
			return false;
	}
	return true;
}

static bool has_array(struct kr_piece array)
{
	struct kr_piece piece;

	for (size_t at = 1; kr_piece_next(array.text, array.length, &at, &piece);)
		if (kr_operand_of_piece(piece).type == KR_VALUE_ARRAY)
			return true;
	return false;
}

bool kr_where_of_elements(const struct kr_history *h, const struct kr_scan *scan)
{
	for (uint32_t i = 0; i < scan->cond_count; i++) {
		const struct kr_cond *cond = &h->conds.at[scan->cond_first + i];
		struct kr_operand value = kr_operand_of_value(h, cond->value);

		if (cond->target != KR_COND_VALUE || value.type != KR_VALUE_ARRAY)
			continue;
		if (cond->test == KR_COND_EQ || cond->test == KR_COND_NE ||
			(cond->test == KR_COND_IN && has_array(value.text)))
			return true;
	}
	return false;
}

enum kr_status kr_where_holds(const struct kr_history *h, const struct kr_scan *scan, kr_key key,
	kr_value value, bool *out, struct kr_err *err)
{
	struct kr_operand operand = {.type = KR_VALUE_ABSENT};

	if (value.i != KR_NONE)
		operand = kr_operand_of_value(h, value);
	else if (!kr_where_has_prefix(h, scan, key))
		return *out = false, KR_OK;
	else if (kr_where_of_values(h, scan))
		return kr_err_set(err, KR_UNSUPPORTED,
			"a condition on the value of a counter, list or set is not checked yet");
	*out = kr_where_holds_of(h, scan, key, &operand);
	return KR_OK;
}

bool kr_where_in_bounds(const struct kr_history *h, const struct kr_scan *scan, kr_value name)
{
	if (scan->low.i != KR_ABSENT.i && kr_history_compare_keys(h, name, scan->low) < 0)
		return false;
	return scan->high.i == KR_ABSENT.i || kr_history_compare_keys(h, name, scan->high) < 0;
}

static int by_name(const void *data, uint32_t a, uint32_t b)
{
	const struct kr_history *h = data;

	return kr_history_compare_keys(h, h->keys.at[a].name, h->keys.at[b].name);
}

enum kr_status kr_keys_by_name(const struct kr_history *h, struct kr_arena *arena, kr_key **out)
{
	uint32_t *other = kr_mem_alloc(h->mem, h->keys.n, sizeof *other);

	*out = other ? KR_NEW_ARRAY(arena, kr_key, h->keys.n) : NULL;
	for (uint32_t k = 0; *out && k < h->keys.n; k++)
		(*out)[k].i = k;
	if (*out)
		kr_sort_ids(&(*out)->i, other, h->keys.n, by_name, h);
	kr_mem_free(h->mem, other, h->keys.n, sizeof *other);
	return *out ? KR_OK : KR_NOMEM;
}
