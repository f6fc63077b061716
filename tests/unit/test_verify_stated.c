/* verify/levels.c: what the verifier reads from a level's patterns is, for krait's own levels of docs/levels.md, what is written here by hand from there; and which shapes it takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/modules.h"
#include "verify/verifier.h"

/* Not by checkers/checker.h: the pipeline's headers and the verifier's do not go together, and need not. */
extern const struct kr_checker *const kr_checker_registry[];

#define WR KR_BIT(KR_WR)
#define WW KR_BIT(KR_WW)
#define RW KR_BIT(KR_RW)
#define ALL (WR | WW | RW)
#define ANOMALIES .anomalies = KR_ANOMALIES_ALL
/* What snapshot isolation, and prefix consistency, imply is satisfied by a world of theirs. */
#define BY_SNAPSHOTS .snapshots = true
#define BY_PREFIXES .snapshots = true, .prefixes = true

static const struct kr_rule rules[] = {
	{.id = "pl-1", .cycles = {{.kinds = WW}}, .anomalies = KR_BIT(KR_GARBAGE_READ), .graph = true, BY_PREFIXES},
	{.id = "pl-2", .cycles = {{.kinds = WR | WW}}, ANOMALIES, .graph = true, BY_PREFIXES},
	{.id = "pl-cs",
		.cycles = {{.kinds = WR | WW}, {.kinds = WW | RW, .one_rw = true, .pair = true, .no_order = true, .same_key = true, .cursor = true}},
		ANOMALIES,
		.graph = true,
		BY_SNAPSHOTS},
	{.id = "pl-2l", .cycles = {{.kinds = WR | WW}, {.kinds = ALL, .one_rw = true, .sight = KR_RULE_NOT_AFTER}}, ANOMALIES, .graph = true, BY_PREFIXES},
	{.id = "rc-ax",
		.cycles = {{.kinds = WR | WW}, {.kinds = WR | RW, .one_rw = true, .pair = true, .no_order = true, .sight = KR_RULE_BEFORE}},
		ANOMALIES,
		.graph = true,
		BY_PREFIXES},
	{.id = "ra", .cycles = {{.kinds = WR | WW}, {.kinds = WR | RW, .one_rw = true, .pair = true}}, ANOMALIES, .graph = true, BY_PREFIXES},
	{.id = "cc", .cycles = {{.kinds = WR | WW}, {.kinds = WR | RW, .one_rw = true}}, ANOMALIES, .graph = true, BY_PREFIXES},
	{.id = "pl-2+", .cycles = {{.kinds = WR | WW}, {.kinds = ALL, .one_rw = true}}, ANOMALIES, .graph = true, BY_SNAPSHOTS},
	{.id = "psi", .cycles = {{.kinds = WR | WW}, {.kinds = ALL, .one_rw = true}}, ANOMALIES, .graph = true, BY_SNAPSHOTS},
	{.id = "pl-fcv", .cycles = {{.kinds = WR | WW}, {.kinds = ALL, .one_rw = true}}, ANOMALIES, .graph = true, BY_SNAPSHOTS},
	{.id = "pc", .cycles = {{.kinds = ALL, .before_rw = WR}}, ANOMALIES, BY_PREFIXES},
	{.id = "si", .cycles = {{.kinds = ALL, .lonely = RW}}, ANOMALIES, BY_SNAPSHOTS},
	{.id = "pl-2.99", .cycles = {{.kinds = ALL, .item = true}}, ANOMALIES, .graph = true},
	{.id = "pl-3u", .cycles = {{.kinds = ALL, .one_reader = true}}, ANOMALIES, .graph = true},
	{.id = "ser", .cycles = {{.kinds = ALL}}, ANOMALIES},
	{.id = "pl-ss", .cycles = {{.kinds = ALL}}, ANOMALIES},
};

static const struct kr_level *find(const char *id)
{
	for (const struct kr_checker *const *c = kr_checker_registry; *c; c++)
		for (const struct kr_level *level = (*c)->levels; level && level->id; level++)
			if (strcmp(level->id, id) == 0)
				return level;
	return NULL;
}

static void assert_same_cycles(const char *id, const struct kr_rule_cycle *a, const struct kr_rule_cycle *b)
{
	bool same = a->kinds == b->kinds && a->lonely == b->lonely && a->before_rw == b->before_rw && a->sight == b->sight;

	same = same && a->one_rw == b->one_rw && a->pair == b->pair && a->no_order == b->no_order && a->same_key == b->same_key;
	if (!same || a->item != b->item || a->cursor != b->cursor || a->one_reader != b->one_reader)
		fail_msg("level %s: the patterns say something else than the table", id);
}

static void patterns_say_what_the_table_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < KR_COUNT(rules); i++) {
		const struct kr_rule *table = &rules[i];
		const struct kr_level *level = find(table->id);
		struct kr_rule stated;
		int pattern;

		assert_non_null(level);
		assert_null(kr_rule_state(level, &stated, &pattern));
		for (int c = 0; c < KR_PATTERNS_MOST; c++)
			assert_same_cycles(level->id, &stated.cycles[c], &table->cycles[c]);
		assert_int_equal(stated.anomalies, table->anomalies);
		if (stated.snapshots != table->snapshots || stated.prefixes != table->prefixes || stated.graph != table->graph)
			fail_msg("level %s: other worlds prove it than the table says", level->id);
	}
}

/* ---- shapes ---- */

#define D (WR | WW)
#define ORDERS (KR_BIT(KR_SO) | KR_BIT(KR_RT))
#define FIRST {.allowed = D | ORDERS}
#define LOST {.allowed = WW | RW, .once = RW, .longest = 2, .same_key = true}
#define ATOMIC {.allowed = WR | RW | ORDERS, .once = RW, .longest = 2}

static const struct shape_row {
	struct kr_pattern forbidden[KR_PATTERNS_MOST];
	int pattern;     /* that is refused */
	const char *why; /* how the reason begins; NULL: it is taken */
} shapes[] = {
	{{FIRST}, 0, NULL},
	{{FIRST, LOST, ATOMIC}, 2, NULL},
	{{{.allowed = 0}}, 0, "`allowed` is empty"},
	{{{.allowed = D}}, 0, "`allowed` lacks so or rt"},
	{{{.allowed = ALL | KR_BIT(KR_SO)}}, 0, "`allowed` lacks so or rt"},
	{{{.allowed = WR | ORDERS}}, 0, "`allowed` is, beside so and rt,"},
	{{{.allowed = ALL | ORDERS | KR_BIT(KR_PROGRAM)}}, 0, "`allowed` or `sight` has a value that there is not"},
	{{{.allowed = ALL | ORDERS, .sight = (enum kr_sight_order)9}}, 0, "`allowed` or `sight` has a value that there is not"},
	{{{.allowed = ALL | ORDERS, .longest = 3}}, 0, "`longest` is for further patterns"},
	{{{.allowed = ALL | ORDERS, .needed = RW}}, 0, "`needed` is not looked for"},
	{{{.allowed = ALL | ORDERS, .once = WW}}, 0, "`once` is for further patterns"},
	{{{.allowed = ALL | ORDERS, .sight = KR_SIGHT_BEFORE}}, 0, "`sight` is for further patterns"},
	{{{.allowed = ALL | ORDERS, .same_key = true}}, 0, "`same_key` is for further patterns"},
	{{{.allowed = ALL | ORDERS, .cursor_only = true}}, 0, "`cursor_only` is for further patterns"},
	{{{.allowed = ALL | ORDERS, .lonely = WW}}, 0, "`lonely` is not rw"},
	{{{.allowed = ALL | ORDERS, .lead = WR}}, 0, "`lead` is not wr, so and rt"},
	{{{.allowed = D | ORDERS, .lonely = RW}}, 0, "`lonely` does not combine with `allowed` without rw"},
	{{{.allowed = ALL | ORDERS, .lonely = RW, .item_only = true}}, 0, "`lonely` does not combine with `item_only`"},
	{{{.allowed = ALL | ORDERS, .lonely = RW, .one_reader = true}}, 0, "`lonely` does not combine with `one_reader`"},
	{{{.allowed = ALL | ORDERS, .lonely = RW, .lead = WR | ORDERS}}, 0, "`lonely` does not combine with `lead`"},
	{{{.allowed = ALL | ORDERS, .item_only = true, .one_reader = true}}, 0, "`item_only` does not combine with `one_reader`"},
	{{{.allowed = ALL | ORDERS}, LOST}, 1, "there is a further pattern, so the first one"},
	{{FIRST, FIRST}, 1, "`once` is not rw"},
	{{FIRST, {.allowed = ALL | ORDERS, .once = RW, .longest = 3}}, 1, "`longest` is neither 0 (any length) nor 2"},
	{{FIRST, {.allowed = ALL | ORDERS, .once = RW, .item_only = true}}, 1, "`item_only` is for the first pattern"},
	{{FIRST, {.allowed = ALL, .once = RW}}, 1, "`allowed` lacks so and rt"},
	{{FIRST, {.allowed = WW | RW | ORDERS, .once = RW}}, 1, "`allowed` lacks wr"},
	{{FIRST, {.allowed = WW | RW, .once = RW, .same_key = true}}, 1, "`same_key` does not combine with `longest` other than 2"},
	{{FIRST, {.allowed = WR | RW, .once = RW, .sight = KR_SIGHT_BEFORE}}, 1, "`sight` KR_SIGHT_BEFORE does not combine with `longest`"},
	{{FIRST, {.allowed = ALL | ORDERS, .once = RW, .longest = 2, .sight = KR_SIGHT_NOT_AFTER}}, 1, "`sight` KR_SIGHT_NOT_AFTER does not combine with"},
	{{FIRST, LOST, {.allowed = D | ORDERS, .once = WW}}, 2, "`once` is not rw"},
};

static void shapes_are_taken_or_refused_with_the_reason(void **state)
{
	(void)state;
	for (size_t i = 0; i < KR_COUNT(shapes); i++) {
		struct kr_level level = {.id = "x"};
		int pattern = -1;

		memcpy(level.forbidden, shapes[i].forbidden, sizeof level.forbidden);

		const char *why = kr_verify_states(&level, &pattern);

		if (!why != !shapes[i].why || (why && strncmp(why, shapes[i].why, strlen(shapes[i].why)) != 0))
			fail_msg("row %u: \"%s\", expected \"%s\"", (unsigned)i, why ? why : "", shapes[i].why ? shapes[i].why : "");
		assert_int_equal(pattern, shapes[i].pattern);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns_say_what_the_table_says),
		cmocka_unit_test(shapes_are_taken_or_refused_with_the_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
