#include "values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- texts ---- */

static bool text_of(const struct kr_history *h, uint32_t value, char *out, size_t size)
{
	const struct kr_value_entry *e = &h->values.at[value];
	int n;

	switch (e->type) {
	case KR_VALUE_FALSE: n = snprintf(out, size, "false"); break;
	case KR_VALUE_TRUE: n = snprintf(out, size, "true"); break;
	case KR_VALUE_INT: n = snprintf(out, size, "%lld", (long long)e->integer); break;
	case KR_VALUE_REAL: {
		char real[32];
		kr_history_real_text(e->real, real);
		n = snprintf(out, size, "%s", real);
		break;
	}
	case KR_VALUE_STRING: n = snprintf(out, size, "\"%s\"", e->text); break;
	default: n = snprintf(out, size, "%s", e->text ? e->text : "null"); break;
	}
	return n >= 0 && (size_t)n < size;
}

/* Where the JSON text that starts at `at` ends: before the next comma, colon or bracket of its own depth. */
static size_t end_of(const char *text, size_t at)
{
	int depth = 0;

	for (; text[at]; at++) {
		if (text[at] == '"') {
			for (at++; text[at] && text[at] != '"'; at++)
				at += text[at] == '\\' && text[at + 1];
			continue;
		}
		if (depth == 0 && strchr(",:]}", text[at]))
			break;
		depth += text[at] == '[' || text[at] == '{';
		depth -= text[at] == ']' || text[at] == '}';
	}
	return at;
}

static bool element_of(struct values *v, const char *text, size_t length, uint8_t *out)
{
	if (length >= sizeof v->element[0])
		return false;
	for (uint32_t i = 0; i < v->nelements; i++)
		if (strlen(v->element[i]) == length && memcmp(v->element[i], text, length) == 0)
			return *out = (uint8_t)i, true;
	if (v->nelements == ELEMENTS_MOST)
		return false;
	memcpy(v->element[v->nelements], text, length);
	*out = (uint8_t)v->nelements++;
	return true;
}

static bool split(struct values *v, uint32_t value, const char *text)
{
	v->array[value].is = true;
	for (size_t at = 1; text[at] && text[at] != ']';) {
		size_t end = end_of(text, at);
		if (v->array[value].n == HELD_MOST || !element_of(v, text + at, end - at, &v->array[value].list[v->array[value].n++]))
			return false;
		at = end + (text[end] == ',');
	}
	return true;
}

/* A scalar to compare with; anything else has a text only. */
struct scalar {
	enum { IS_OTHER, IS_INT, IS_REAL, IS_STRING } type;
	int64_t integer;
	double real;
	char text[600];
};

static bool scalar_of_text(const char *text, size_t length, struct scalar *out)
{
	if (length >= sizeof out->text)
		return false;
	*out = (struct scalar){.type = IS_OTHER};
	memcpy(out->text, text, length);
	if (text[0] == '"') {
		out->type = IS_STRING;
	} else if (text[0] == '-' || (text[0] >= '0' && text[0] <= '9')) {
		out->type = strpbrk(out->text, ".eE") ? IS_REAL : IS_INT;
		out->integer = strtoll(out->text, NULL, 10);
		out->real = strtod(out->text, NULL);
	}
	return true;
}

struct values *values_of(const struct kr_history *h)
{
	bool fits = h->values.n <= RECORDED_MOST;
	struct values *v = fits ? calloc(1, sizeof *v + h->values.n * sizeof(struct scalar)) : NULL;

	if (!v)
		return NULL;
	v->h = h;
	v->scalars = (struct scalar *)(v + 1);
	for (uint32_t i = 0; i < h->values.n; i++) {
		char text[sizeof v->scalars->text];
		if (text_of(h, i, text, sizeof text))
			scalar_of_text(text, strlen(text), &v->scalars[i]);
	}
	memset(v->alone, ELEMENTS_MOST, sizeof v->alone);
	for (uint32_t i = 0; fits && i < h->values.n; i++)
		if (h->values.at[i].type == KR_VALUE_ARRAY)
			fits = split(v, i, h->values.at[i].text);
	for (uint32_t o = 0; fits && o < h->ops.n; o++) {
		const struct kr_operation *op = &h->ops.at[o];
		char text[48];
		if (op->kind == KR_OP_APPEND || op->kind == KR_OP_ADD)
			fits = text_of(h, op->a.i, text, sizeof text) && element_of(v, text, strlen(text), &v->alone[op->a.i]);
	}
	if (fits)
		return v;
	free(v);
	return NULL;
}

/* ---- what is held ---- */

struct held held_as(const struct values *v, uint32_t key, uint32_t value)
{
	const struct kr_history *h = v->h;
	struct held out = {.what = HELD_ABSENT};
	uint8_t kind = h->keys.at[key].kind;

	if (value == KR_ABSENT.i)
		return out;
	out.what = HELD_VALUE;
	out.value = value;
	if (value >= h->values.n)
		return out;
	if ((kind == KR_KIND_COUNTER || kind == KR_KIND_MARK) && h->values.at[value].type == KR_VALUE_INT) {
		out.what = kind == KR_KIND_MARK ? HELD_MARK : HELD_NUMBER;
		out.value = 0;
		out.number = h->values.at[value].integer;
	}
	if ((kind == KR_KIND_LIST || kind == KR_KIND_SET) && v->array[value].is) {
		out.value = 0;
		out.what = v->array[value].n == 0 ? HELD_ABSENT : kind == KR_KIND_LIST ? HELD_LIST : HELD_SET;
		for (uint8_t i = 0; i < v->array[value].n; i++) {
			if (kind == KR_KIND_LIST)
				out.list[out.n++] = v->array[value].list[i];
			else
				out.set |= UINT64_C(1) << v->array[value].list[i];
		}
	}
	return out;
}

struct held held_shown(const struct values *v, uint32_t key, uint32_t value)
{
	struct held out = held_as(v, key, value);

	if (out.what == HELD_SET && __builtin_popcountll(out.set) != v->array[value].n)
		out = (struct held){.what = HELD_VALUE, .value = value};
	return out;
}

bool held_equal(const struct held *a, const struct held *b)
{
	return a->what == b->what && a->value == b->value && a->number == b->number && a->set == b->set && a->n == b->n && memcmp(a->list, b->list, a->n) == 0;
}

/* ---- conditions ---- */

/* of what the trace does not name as a value of a register: like no other */
static const struct scalar no_scalar = {.type = IS_OTHER, .text = "?"};

static const struct scalar *scalar_of(const struct values *v, uint32_t value)
{
	return value < v->h->values.n ? &v->scalars[value] : &no_scalar;
}

static bool same(const struct scalar *a, const struct scalar *b)
{
	return a->type == b->type &&
		(a->type == IS_INT                   ? a->integer == b->integer
				: a->type == IS_REAL ? !(a->real < b->real || a->real > b->real)
						     : strcmp(a->text, b->text) == 0);
}

static bool comparable(const struct scalar *a, const struct scalar *b, int *sign)
{
	if (a->type == IS_STRING && b->type == IS_STRING)
		return *sign = strcmp(a->text, b->text), true; /* the closing quote is smaller than nearly all: good enough for short names */
	if (a->type == IS_INT && b->type == IS_INT)
		return *sign = a->integer < b->integer ? -1 : a->integer > b->integer, true;
	if (a->type == IS_OTHER || b->type == IS_OTHER || a->type == IS_STRING || b->type == IS_STRING)
		return false;
	return *sign = a->real < b->real ? -1 : a->real > b->real, true;
}

static bool passes(const struct scalar *b, enum kr_cond_test test, const struct scalar *a)
{
	struct scalar one;
	int sign;

	switch (test) {
	case KR_COND_EQ: return same(a, b);
	case KR_COND_NE: return !same(a, b);
	case KR_COND_LT: return comparable(a, b, &sign) && sign < 0;
	case KR_COND_LE: return comparable(a, b, &sign) && sign <= 0;
	case KR_COND_GT: return comparable(a, b, &sign) && sign > 0;
	case KR_COND_GE: return comparable(a, b, &sign) && sign >= 0;
	case KR_COND_PREFIX: return a->type == IS_STRING && b->type == IS_STRING && strncmp(a->text, b->text, strlen(b->text) - 1) == 0;
	case KR_COND_IN:
		for (size_t at = 1; b->text[0] == '[' && b->text[at] && b->text[at] != ']';) {
			size_t end = end_of(b->text, at);
			if (scalar_of_text(b->text + at, end - at, &one) && same(a, &one))
				return true;
			at = end + (b->text[end] == ',');
		}
	}
	return false;
}

static bool field_of(const struct scalar *object, const char *name, struct scalar *out)
{
	const char *text = object->text;

	for (size_t at = 1; text[0] == '{' && text[at] && text[at] != '}';) {
		size_t colon = end_of(text, at), end = end_of(text, colon + 1);
		if (strlen(name) == colon - at && memcmp(name, text + at, colon - at) == 0)
			return scalar_of_text(text + colon + 1, end - colon - 1, out);
		at = end + (text[end] == ',');
	}
	return false;
}

/* What is held as a scalar, for which a number needs room. */
static const struct scalar *held_scalar(const struct values *v, const struct held *held, struct scalar *number)
{
	if (held->what == HELD_VALUE)
		return scalar_of(v, held->value);
	if (held->what != HELD_NUMBER && held->what != HELD_MARK)
		return &no_scalar;
	number->type = IS_INT;
	number->integer = held->number;
	number->real = (double)held->number;
	number->text[0] = '\0';
	return number;
}

bool held_matches(const struct values *v, const struct kr_scan *scan, uint32_t key, const struct held *held)
{
	struct scalar number, field;
	const struct scalar *value = held_scalar(v, held, &number);

	if (held->what == HELD_ABSENT)
		return false;
	for (uint32_t i = 0; i < scan->cond_count; i++) {
		const struct kr_cond *cond = &v->h->conds.at[scan->cond_first + i];
		bool of_name = cond->target == KR_COND_KEY_PREFIX;
		const struct scalar *left = of_name ? scalar_of(v, v->h->keys.at[key].name.i) : value;
		if (cond->target == KR_COND_FIELD) {
			if (!field_of(value, scalar_of(v, cond->field.i)->text, &field))
				return false;
			left = &field;
		}
		if (!passes(scalar_of(v, cond->value.i), of_name ? KR_COND_PREFIX : cond->test, left))
			return false;
	}
	return true;
}

/* ---- ranges ---- */

const struct kr_row *row_of(const struct kr_history *h, const struct kr_scan *scan, uint32_t key)
{
	for (uint32_t i = 0; i < scan->row_count; i++)
		if (h->rows.at[scan->row_first + i].key.i == key)
			return &h->rows.at[scan->row_first + i];
	return NULL;
}

/* Whether the key's row, if it has one, stands where the order of keys and the limit let it stand. */
static bool in_place(const struct kr_history *h, const struct kr_scan *scan, const struct kr_row *row)
{
	uint32_t i = row ? (uint32_t)(row - h->rows.at) - scan->row_first : 0;

	if (!row || (scan->limit >= 0 && i >= (uint64_t)scan->limit))
		return !row;
	if (i == 0)
		return true;
	int step = kr_history_compare_keys(h, h->keys.at[row->key.i].name, h->keys.at[row[-1].key.i].name);
	return scan->reverse ? step < 0 : step > 0;
}

bool key_in_range(const struct kr_history *h, const struct kr_scan *scan, uint32_t key)
{
	kr_value name = h->keys.at[key].name;

	if (!in_place(h, scan, row_of(h, scan, key)))
		return false;
	if (scan->low.i != KR_ABSENT.i && kr_history_compare_keys(h, name, scan->low) < 0)
		return false;
	if (scan->high.i != KR_ABSENT.i && kr_history_compare_keys(h, name, scan->high) >= 0)
		return false;
	if (scan->limit < 0 || scan->row_count < (uint64_t)scan->limit)
		return true;
	if (scan->row_count == 0)
		return false; /* a limit of none */
	int beyond = kr_history_compare_keys(h, name, h->keys.at[h->rows.at[scan->row_first + scan->row_count - 1].key.i].name);
	return scan->reverse ? beyond >= 0 : beyond <= 0;
}

/* ---- initial values ---- */

static bool add_initial(struct starts *s, const struct held *value)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (held_equal(&s->at[i], value))
			return true;
	if (s->n == STARTS_MOST)
		return false;
	s->at[s->n++] = *value;
	return true;
}

/* What a counter can have started with when something showed `shown`: that less any of the trace's deltas. */
static bool add_differences(const struct values *v, struct starts *s, uint32_t key, int64_t shown)
{
	int64_t deltas[10];
	uint32_t n = 0;
	bool fits = true;

	for (uint32_t i = 0; i < v->h->ops.n; i++) {
		const struct kr_operation *op = &v->h->ops.at[i];
		if (op->kind == KR_OP_INC && op->key.i == key) {
			if (n == KR_COUNT(deltas))
				return false;
			deltas[n++] = v->h->values.at[op->a.i].integer;
		}
	}
	for (uint32_t set = 0; set < 1u << n; set++) {
		struct held start = {.what = HELD_NUMBER, .number = shown};
		for (uint32_t i = 0; i < n; i++)
			start.number -= set >> i & 1 ? deltas[i] : 0;
		fits = fits && add_initial(s, &start);
	}
	return fits;
}

/* Of what is shown: a counter's differences, every head of a list, every subset of a set. */
static bool add_shown(const struct values *v, struct starts *s, uint32_t key, uint32_t value)
{
	struct held shown = held_as(v, key, value), part = shown;
	bool fits = true;

	if (shown.what == HELD_NUMBER)
		return add_differences(v, s, key, shown.number);
	if (shown.what == HELD_LIST)
		while (part.n > 1 && fits) {
			fits = add_initial(s, &part);
			part.n--;
		}
	if (shown.what == HELD_SET)
		for (part.set = (shown.set - 1) & shown.set; part.set != 0 && fits; part.set = (part.set - 1) & shown.set)
			fits = add_initial(s, &part);
	part = shown.what == HELD_LIST ? part : shown;
	return fits && add_initial(s, &part);
}

/* What a counter or mark can have started with for a condition to be just met, or just missed: the numbers that conditions compare with and those beside them, of a counter less any of the trace's deltas. */
static bool add_bounds(const struct values *v, struct starts *s, uint32_t key)
{
	const struct kr_history *h = v->h;
	bool fits = true;

	for (uint32_t i = 0; i < h->conds.n && fits; i++) {
		const struct kr_value_entry *e = &h->values.at[h->conds.at[i].value.i];
		const char *at = e->type == KR_VALUE_ARRAY ? e->text : NULL;
		int64_t number = e->type == KR_VALUE_INT ? e->integer : 0;
		for (bool more = e->type == KR_VALUE_INT || at; more && fits; more = at != NULL) {
			if (at && !*(at += strcspn(at, "-0123456789")))
				break;
			if (at)
				number = strtoll(at, (char **)&at, 10);
			for (int64_t beside = number - 1; beside <= number + 1 && fits; beside++)
				fits = h->keys.at[key].kind == KR_KIND_MARK ? add_initial(s, &(struct held){.what = HELD_MARK, .number = beside})
									    : add_differences(v, s, key, beside);
		}
	}
	return fits;
}

/* Any value that the trace names anywhere, where values are compared; what the key itself may show, where not. */
static bool list_key(const struct values *v, struct starts *s, uint32_t key)
{
	const struct kr_history *h = v->h;
	struct held nothing = {.what = HELD_ABSENT}, other = {.what = HELD_VALUE, .value = HELD_OTHER};
	bool fits = add_initial(s, &nothing);

	if (h->keys.at[key].kind == KR_KIND_COUNTER) {
		other = (struct held){.what = HELD_NUMBER, .number = 7777777};
		fits = fits && add_bounds(v, s, key);
	} else if (h->keys.at[key].kind == KR_KIND_MARK) {
		other = (struct held){.what = HELD_MARK, .number = INT64_MIN}; /* one that is above something is shown, or hides what is */
		fits = fits && add_bounds(v, s, key);
	} else if (h->keys.at[key].kind == KR_KIND_LIST) {
		other = (struct held){.what = HELD_LIST, .n = 1, .list = {ELEMENTS_MOST}};
	} else if (h->keys.at[key].kind == KR_KIND_SET) {
		other = (struct held){.what = HELD_SET, .set = UINT64_C(1) << 63};
	} else if (h->scans.n > 0) {
		for (uint32_t i = 1; i < h->values.n && fits; i++)
			fits = add_shown(v, s, key, i);
	}
	fits = fits && add_initial(s, &other);
	for (uint32_t i = 0; i < h->ops.n && fits; i++) {
		const struct kr_operation *op = &h->ops.at[i];
		if (op->key.i == key && (op->kind == KR_OP_READ || op->kind == KR_OP_CAS))
			fits = add_shown(v, s, key, op->a.i);
		if (op->key.i == key && op->kind == KR_OP_INC && op->flags & KR_OPF_KNOWN)
			fits = fits && add_shown(v, s, key, op->b.i);
	}
	for (uint32_t i = 0; i < h->rows.n && fits; i++)
		if (h->rows.at[i].key.i == key)
			fits = add_shown(v, s, key, h->rows.at[i].value.i);
	return fits;
}

/* Whether no operation can tell a from b as what a register starts with. */
static bool alike(const struct values *v, uint32_t key, const struct held *a, const struct held *b)
{
	const struct kr_history *h = v->h;

	if ((a->what == HELD_ABSENT) != (b->what == HELD_ABSENT))
		return false;
	for (uint32_t i = 0; i < h->ops.n; i++) {
		const struct kr_operation *op = &h->ops.at[i];
		const struct kr_scan *scan = kr_op_scans(op) ? &h->scans.at[op->scan] : NULL;
		const struct kr_row *row = scan ? row_of(h, scan, key) : NULL;
		struct held shown = held_as(v, key, row ? row->value.i : op->key.i == key ? op->a.i : KR_ABSENT.i);
		if (scan && op->kind != KR_OP_RANGE && held_matches(v, scan, key, a) != held_matches(v, scan, key, b))
			return false;
		if (held_equal(a, &shown) != held_equal(b, &shown))
			return false;
	}
	return true;
}

static void drop_alike(const struct values *v, uint32_t key, struct starts *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		bool known = false;
		for (uint32_t j = 0; j < n && !known; j++)
			known = alike(v, key, &s->at[i], &s->at[j]);
		if (!known)
			s->at[n++] = s->at[i];
	}
	s->n = n;
}

/* Whether some transaction, whatever became of it, writes the value, or adds one of its elements, to the key. */
static bool is_written(const struct values *v, uint32_t key, const struct held *start)
{
	const struct kr_history *h = v->h;

	for (uint32_t i = 0; i < h->ops.n; i++) {
		const struct kr_operation *op = &h->ops.at[i];
		const struct kr_row *row = op->kind == KR_OP_UPDATE ? row_of(h, &h->scans.at[op->scan], key) : NULL;
		bool mine = !kr_op_scans(op) && op->key.i == key, done = mine && op->flags & KR_OPF_DONE;
		uint32_t value = row                                                         ? row->value.i
			: (mine && op->kind == KR_OP_WRITE) || (done && op->kind == KR_OP_INSERT) ? op->a.i
			: done && op->kind == KR_OP_CAS                                           ? op->b.i
												  : KR_ABSENT.i;
		struct held written = held_as(v, key, value);

		if (value != KR_ABSENT.i && held_equal(&written, start))
			return true;
		if (mine && op->kind == KR_OP_MAX && start->what == HELD_MARK && h->values.at[op->a.i].integer == start->number)
			return true;
		if (mine && op->kind == KR_OP_ADD && start->what == HELD_SET && start->set >> v->alone[op->a.i] & 1)
			return true;
		for (uint8_t e = 0; mine && op->kind == KR_OP_APPEND && start->what == HELD_LIST && e < start->n; e++)
			if (start->list[e] == v->alone[op->a.i])
				return true;
	}
	return false;
}

static void drop_written(const struct values *v, uint32_t key, struct starts *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n; i++)
		if (!is_written(v, key, &s->at[i]))
			s->at[n++] = s->at[i];
	s->n = n;
}

bool starts_of(const struct values *v, uint32_t key, struct starts *s)
{
	struct held told = held_as(v, key, v->h->keys.at[key].initial.i);
	uint8_t kind = v->h->keys.at[key].kind;

	s->n = 0;
	if (!kr_history_untold(v->h))
		return add_initial(s, &told);
	if (!list_key(v, s, key))
		return false;
	if (v->h->initial == KR_INITIAL_UNWRITTEN)
		drop_written(v, key, s);
	if (kind == KR_KIND_REGISTER || kind == KR_KIND_ANY)
		drop_alike(v, key, s);
	return true;
}
