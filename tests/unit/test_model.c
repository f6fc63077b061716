/* The model of operations: its law over all small states, effects and wants of each data type, and what
 * each operation of the trace format means, from docs/formats/native.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "frontend/model/elements.h"
#include "tests/unit/reading.h"

/* ---- the law ---- */

enum { ITEMS_MOST = 3, STATES = 64, EFFECTS = 64, WANTS = 300 };

struct small {
	const struct kr_datatype *type;
	uint32_t nstates, neffects, nwants;
	struct kr_state states[STATES];
	struct kr_effect effects[EFFECTS];
	struct kr_want wants[WANTS];
	kr_item room[1000];
	uint32_t used;
	struct kr_mem mem;
	struct kr_arena arena;
};

static void add_state(struct small *s, struct kr_state state)
{
	assert_true(s->nstates < STATES);
	s->states[s->nstates++] = state;
}

static void add_effect(struct small *s, enum kr_how how, struct kr_state state)
{
	assert_true(s->neffects < EFFECTS);
	s->effects[s->neffects++] = (struct kr_effect){how, state};
}

/* And its opposite. */
static void add_want(struct small *s, struct kr_want want)
{
	assert_true(s->nwants + 2 <= WANTS);
	s->wants[s->nwants++] = want;
	want.negated = true;
	s->wants[s->nwants++] = want;
}

/* The code-th array of elements 1 .. base, longer ones behind shorter ones; false: longer than `most`. */
static bool array_of(struct small *s, uint32_t code, uint32_t base, uint32_t most, struct kr_state *out)
{
	uint32_t n = 0, first = 0, count = 1;

	while (code >= first + count) {
		first += count;
		count *= base;
		n++;
	}
	if (n > most)
		return false;
	assert_true(s->used + n <= KR_COUNT(s->room));
	*out = (struct kr_state){.present = n > 0, .items = {s->room + s->used, n, false}};
	for (uint32_t i = 0, rest = code - first; i < n; i++, rest /= base)
		s->room[s->used++] = (kr_item){1 + rest % base};
	return true;
}

static bool is_ascending(const struct kr_items *items)
{
	for (uint32_t i = 1; i < items->n; i++)
		if (items->at[i - 1].i >= items->at[i].i)
			return false;
	return true;
}

static void make_arrays(struct small *s, bool set)
{
	uint32_t base = set ? 3 : 2;
	struct kr_state array;

	for (uint32_t code = 0; array_of(s, code, base, ITEMS_MOST, &array); code++) {
		bool canonical = !set || is_ascending(&array.items);

		if (canonical)
			add_state(s, array);
		if (canonical && array.present && array.items.n < 3)
			add_effect(s, KR_ADD, array);
		add_want(s, (struct kr_want){.is = array}); /* of a set in any order, and twice */
	}
}

static void make_numbers(struct small *s)
{
	static const int64_t numbers[] = {0, 1, -1, 2, INT64_MAX, INT64_MIN};

	for (size_t i = 0; i < KR_COUNT(numbers); i++) {
		struct kr_state number = {.present = true, .number = numbers[i]};

		add_state(s, number);
		add_effect(s, KR_ADD, number);
		add_want(s, (struct kr_want){.is = number});
		add_want(s, (struct kr_want){.is = number, .or_absent = true});
		if (s->type->kind == KR_KIND_MARK) {
			add_want(s, (struct kr_want){.is = number, .or_less = true});
			add_want(s, (struct kr_want){.is = number, .or_less = true, .or_absent = true});
		}
	}
}

static void make_values(struct small *s)
{
	for (uint32_t v = 1; v < 4; v++) {
		add_state(s, (struct kr_state){.present = true, .value = {v}});
		add_want(s, (struct kr_want){.is = s->states[s->nstates - 1]});
		add_want(s, (struct kr_want){.is = s->states[s->nstates - 1], .or_absent = true});
	}
}

static void make(struct small *s, enum kr_key_kind kind)
{
	memset(s, 0, sizeof *s);
	kr_mem_init(&s->mem, SIZE_MAX);
	kr_arena_init(&s->arena, &s->mem);
	s->type = kr_datatype_of(kind);
	assert_int_equal(s->type->kind, kind);
	add_state(s, (struct kr_state){.present = false});
	add_want(s, (struct kr_want){.is = s->states[0]});
	add_want(s, (struct kr_want){.any = true});
	if (s->type->shown == KR_VALUE_ABSENT)
		make_values(s);
	else if (s->type->shown == KR_VALUE_INT)
		make_numbers(s);
	else
		make_arrays(s, kind == KR_KIND_SET);
	add_effect(s, KR_KEEP, (struct kr_state){.present = false});
	for (uint32_t i = 0; i < s->nstates && i < 5; i++)
		add_effect(s, KR_SET, s->states[i]);
}

static void drop(struct small *s)
{
	kr_arena_done(&s->arena);
	assert_int_equal(s->mem.used, 0);
}

/* False: the effect has no outcome, as it leaves 64 bits. */
static bool apply(struct small *s, const struct kr_effect *e, struct kr_state *state)
{
	enum kr_status status = kr_apply(s->type, &s->arena, state, e);

	assert_true(status == KR_OK || status == KR_UNSUPPORTED);
	return status == KR_OK;
}

static void check_law(struct small *s, const struct kr_state *before, const struct kr_effect *e, const char *what)
{
	struct kr_state after = *before;

	if (!apply(s, e, &after))
		return;
	for (uint32_t w = 0; w < s->nwants; w++) {
		struct kr_want pulled = kr_before(s->type, e, s->wants[w]);

		if (kr_holds(s->type, before, &pulled) != kr_holds(s->type, &after, &s->wants[w]))
			fail_msg("%s: %s, want %u", s->type->name, what, w);
	}
}

static void check_law_of(enum kr_key_kind kind)
{
	static struct small s;
	char what[60];

	make(&s, kind);
	for (uint32_t i = 0; i < s.nstates; i++) {
		for (uint32_t e = 0; e < s.neffects; e++) {
			(void)snprintf(what, sizeof what, "state %u, effect %u", i, e);
			check_law(&s, &s.states[i], &s.effects[e], what);
			for (uint32_t f = 0; f < s.neffects; f++) {
				struct kr_effect both = s.effects[e];

				if (kr_compose(s.type, &s.arena, &both, &s.effects[f]) != KR_OK)
					continue;
				(void)snprintf(what, sizeof what, "state %u, effects %u and %u", i, e, f);
				check_law(&s, &s.states[i], &both, what);
			}
		}
	}
	drop(&s);
}

/* One effect after the other leaves what both at once do. */
static void check_then_of(enum kr_key_kind kind)
{
	static struct small s;

	make(&s, kind);
	for (uint32_t i = 0; i < s.nstates; i++) {
		for (uint32_t e = 0; e < s.neffects; e++) {
			for (uint32_t f = 0; f < s.neffects; f++) {
				struct kr_effect both = s.effects[e];
				struct kr_state one = s.states[i], two = s.states[i];

				if (kr_compose(s.type, &s.arena, &both, &s.effects[f]) || !apply(&s, &both, &one) || !apply(&s, &s.effects[e], &two) ||
					!apply(&s, &s.effects[f], &two))
					continue;
				assert_int_equal(one.present, two.present);
				for (uint32_t w = 0; w < s.nwants; w++)
					assert_int_equal(kr_holds(s.type, &one, &s.wants[w]), kr_holds(s.type, &two, &s.wants[w]));
			}
		}
	}
	drop(&s);
}

static void test_law(void **state)
{
	(void)state;
	for (size_t i = 0; i < kr_datatype_registry_count; i++)
		check_law_of(kr_datatype_registry[i]->kind);
}

static void test_then(void **state)
{
	(void)state;
	for (size_t i = 0; i < kr_datatype_registry_count; i++)
		check_then_of(kr_datatype_registry[i]->kind);
}

/* What goes on from a state leaves that as it was, also where both share elements. */
static void test_versions_share(void **state)
{
	(void)state;
	static struct small s;
	const struct kr_datatype *list = kr_datatype_of(KR_KIND_LIST);
	struct kr_state versions[20] = {{.present = false}}, other;

	make(&s, KR_KIND_LIST);
	for (uint32_t i = 1; i < KR_COUNT(versions); i++) {
		kr_item element = {100 + i}, stray = {7};

		versions[i] = versions[i - 1];
		assert_true(apply(&s, &(struct kr_effect){KR_ADD, {.present = true, .items = {&element, 1, false}}}, &versions[i]));
		other = versions[i - 1]; /* another future of the same state */
		assert_true(apply(&s, &(struct kr_effect){KR_ADD, {.present = true, .items = {&stray, 1, false}}}, &other));
		assert_int_equal(other.items.at[i - 1].i, 7);
	}
	for (uint32_t i = 0; i < KR_COUNT(versions); i++) {
		assert_int_equal(versions[i].items.n, i);
		for (uint32_t j = 0; j < i; j++)
			assert_int_equal(versions[i].items.at[j].i, 101 + j);
	}
	assert_ptr_equal(list, s.type);
	drop(&s);
}

/* ---- what operations mean ---- */

/* A write as KEY HOW VALUE (TOLD), what is told as "before" or "after", "not" and the value; in the order
 * of the table of operations. */
static const struct row {
	const char *op, *writes, *view;
} rows[] = {
	{"['r','x']", "", ""},
	{"['r','x',1]", "", "before 1"},
	{"['r','x',null]", "", "before null"},
	{"['w','x',2]", "x set 2 (2)", ""},
	{"['d','x']", "x set null (null)", ""},
	{"['d','x',true]", "x set null (null)", "before not null"},
	{"['d','x',false]", "", "before null"},
	{"['insert','x',2,true]", "x set 2 (2)", "before null"},
	{"['insert','x',2,false]", "", "before not null"},
	{"['cas','x',1,2,true]", "x set 2 (2)", "before 1"},
	{"['cas','x',1,2,false]", "", "before not 1"},
	{"['cas','x',null,2,true]", "x set 2 (2)", "before null"},
	{"['inc','n',5]", "n add 5 (?)", ""},
	{"['inc','n',5,7]", "n add 5 (7)", "after 7"},
	{"['append','l',4]", "l add 4 (?)", ""},
	{"['add','s',4]", "s add 4 (?)", ""},
	{"['max','m',4]", "m add 4 (?)", ""},
	{"['range','a',null,[['x',1],['y',2]]]", "", ""},
	{"['scan',{},[['x',1]]]", "", ""},
	{"['update',{},{'set':9},[['x',9],['y',9]]]", "x set 9 (9) y set 9 (9)", ""},
	{"['update',{},{'set':9},[]]", "", ""},
};

static void print_writes(struct reading *r, const struct kr_operation *op, char *out, size_t size)
{
	static const char *const hows[] = {"keep", "set", "add"};
	struct kr_write write;
	uint32_t n = 0;

	out[0] = '\0';
	for (; kr_write_at(&r->h, op, n, &write); n++) {
		size_t at = strlen(out);
		const char *told = write.told.i == KR_NONE ? "?" : reading_value(r, write.told);

		(void)snprintf(out + at, size - at, "%s%s %s %s (%s)", n ? " " : "", reading_key(r, write.key), hows[write.how], reading_value(r, write.value),
			told);
		assert_true(kr_write_of(&r->h, op, write.key, &write));
	}
	assert_int_equal(kr_write_count(&r->h, op), n);
}

static void test_operations(void **state)
{
	(void)state;
	for (size_t i = 0; i < KR_COUNT(rows); i++) {
		struct reading r;
		char text[300], writes[200], view[100] = "";

		reading_init(&r);
		(void)snprintf(text, sizeof text, "{'ops':[%s]}\n", rows[i].op);
		for (char *c = text; *c; c++)
			*c = *c == '\'' ? '"' : *c;
		reading_good(&r, text);

		const struct kr_operation *op = &r.h.ops.at[0];
		struct kr_view v = kr_op_view(op);

		print_writes(&r, op, writes, sizeof writes);
		if (v.when != KR_UNSEEN)
			(void)snprintf(view, sizeof view, "%s %s%s", v.when == KR_SEEN_BEFORE ? "before" : "after", v.other ? "not " : "", reading_value(&r, v.value));
		if (strcmp(writes, rows[i].writes) != 0 || strcmp(view, rows[i].view) != 0)
			fail_msg("%s writes \"%s\", tells \"%s\"", rows[i].op, writes, view);
		assert_int_equal(kr_op_is_read(op), strstr("r range scan", kr_op_name(op->kind)) != NULL);
		reading_done(&r);
	}
}

/* ---- what values of a trace say ---- */

/* Of a key of the kind, a state and a value that an operation shows; row: not as a read. */
static const struct saying {
	enum kr_key_kind kind;
	const char *held, *shown;
	bool read, row;
} sayings[] = {
	{KR_KIND_REGISTER, "1", "1", true, true},
	{KR_KIND_REGISTER, "1", "1.0", false, false},
	{KR_KIND_REGISTER, "null", "null", true, true},
	{KR_KIND_REGISTER, "null", "0", false, false},
	{KR_KIND_COUNTER, "null", "0", true, false}, /* an absent counter is read as 0 */
	{KR_KIND_COUNTER, "0", "0", true, true},
	{KR_KIND_COUNTER, "0", "null", false, false},
	{KR_KIND_COUNTER, "null", "null", true, true},
	{KR_KIND_COUNTER, "3", "4", false, false},
	{KR_KIND_COUNTER, "3", "\"3\"", false, false},
	{KR_KIND_LIST, "[1,2]", "[1,2]", true, true},
	{KR_KIND_LIST, "[1,2]", "[2,1]", false, false},
	{KR_KIND_LIST, "[1,1]", "[1]", false, false},
	{KR_KIND_LIST, "null", "[]", true, true},
	{KR_KIND_LIST, "[]", "null", true, true},
	{KR_KIND_LIST, "[7]", "7", false, false},
	{KR_KIND_SET, "[1,2]", "[2,1]", true, true},
	{KR_KIND_SET, "[1,2]", "[1]", false, false},
	{KR_KIND_SET, "[1]", "[1,1]", false, false},
	{KR_KIND_SET, "[1,2]", "[1,1]", false, false},
	{KR_KIND_SET, "[]", "null", true, true},
	{KR_KIND_SET, "[\"1\"]", "[1]", false, false},
	{KR_KIND_MARK, "3", "3", true, true},
	{KR_KIND_MARK, "3", "2", false, false},
	{KR_KIND_MARK, "null", "0", false, false},
	{KR_KIND_MARK, "null", "null", true, true},
	{KR_KIND_MARK, "-1", "null", false, false},
	{KR_KIND_MARK, "3", "[3]", false, false},
};

static void test_values(void **state)
{
	(void)state;
	for (size_t i = 0; i < KR_COUNT(sayings); i++) {
		const struct saying *s = &sayings[i];
		const struct kr_datatype *type = kr_datatype_of(s->kind);
		struct reading r;
		struct kr_elements elements;
		struct kr_state held;
		struct kr_want read, row;
		bool fits;
		char text[200];

		reading_init(&r);
		(void)snprintf(text, sizeof text, "{\"ops\":[[\"r\",\"a\",%s],[\"r\",\"b\",%s]]}\n", s->held, s->shown);
		reading_good(&r, text);
		kr_elements_init(&elements, &r.ctx.mem, &r.h);
		assert_int_equal(kr_told_state(&elements, type, r.h.ops.at[0].a, &held, &fits), KR_OK);
		assert_true(fits);
		assert_int_equal(kr_told_want(&elements, type, r.h.ops.at[1].a, true, &read), KR_OK);
		assert_int_equal(kr_told_want(&elements, type, r.h.ops.at[1].a, false, &row), KR_OK);
		if (kr_holds(type, &held, &read) != s->read || kr_holds(type, &held, &row) != s->row)
			fail_msg("%s of %s, shown %s", type->name, s->held, s->shown);
		kr_elements_done(&elements);
		reading_done(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_law),
		cmocka_unit_test(test_then),
		cmocka_unit_test(test_versions_share),
		cmocka_unit_test(test_operations),
		cmocka_unit_test(test_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
