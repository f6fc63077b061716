/* coo/: schedules that are published are named as published; every cyclic schedule of two transactions has a name; corrections of the paper's definitions; generated schedules have the cycle asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "coo/pops.h"

/* The cases of Coo, with variants, and cases with ranges; numbers, names and classes as published (docs/schedules.md). Initial values stand behind '|'. */
static const struct {
	const char *id, *schedule;
	uint8_t number;
	const char *name, *class, *size; /* NULL: not told */
} cases[] = {
	{"01", "W1x1 R2x A1 C2", 1, "Dirty Read", "RAT", "SDA"},
	{"02", "R1x W2x1 R1x C2 C1", 2, "Non-repeatable Read", "RAT", "SDA"},
	{"03", "W1x1 R2x W1x2 C2 C1", 3, "Intermediate Read", "RAT", "SDA"},
	{"04", "W1x1 R2x C2 W1x2 C1", 4, "Intermediate Read Committed", "RAT", "SDA"},
	{"05", "W1x1 W2x2 R1x C1 C2", 5, "Lost Self Update", "RAT", "SDA"},
	{"06", "W1x1 W2y1 R2x R1y C2 C1", 6, "Write-read Skew", "RAT", "DDA"},
	{"07", "W1x1 W2y1 R2x C2 R1y C1", 7, "Write-read Skew Committed", "RAT", "DDA"},
	{"08", "W1x1 W2y1 R2x W1y2 C2 C1", 8, "Double-write Skew 1", "RAT", "DDA"},
	{"09", "W1x1 W2y1 R2x C2 W1y2 C1", 9, "Double-write Skew 1 Committed", "RAT", "DDA"},
	{"10", "W1x1 W2y1 W2x2 R1y C1 C2", 10, "Double-write Skew 2", "RAT", "DDA"},
	{"11", "R1x W2y1 W2x1 R1y C2 C1", 11, "Read Skew", "RAT", "DDA"},
	{"12", "W1x1 R2y R2x W1y1 C1 C2", 12, "Read Skew 2", "RAT", "DDA"},
	{"13", "W1x1 R2y R2x C2 W1y1 C1", 13, "Read Skew 2 Committed", "RAT", "DDA"},
	{"14", "W1x1 W2y1 R2x W3z1 R3y R1z C1 C2 C3", 14, "Step RAT", "RAT", "MDA"},
	{"15a", "W1x1 W2x2 A1 C2", 15, "Dirty Write", "WAT", "SDA"},
	{"15b", "W1x1 W2x2 C1 C2", 15, "Dirty Write", "WAT", "SDA"},
	{"16", "W1x1 W2x2 W1x3 C1 C2", 16, "Full Write", "WAT", "SDA"},
	{"17", "W1x1 W2x2 C2 W1x3 C1", 17, "Full Write Committed", "WAT", "SDA"},
	{"18a", "R1x W2x2 W1x1 C1 C2", 18, "Lost Update", "WAT", "SDA"},
	{"18b", "R1x W2x2 W1x1 C2 C1", 18, "Lost Update", "WAT", "SDA"},
	{"19", "W1x1 W2x2 C2 R1x C1", 19, "Lost Self Update Committed", "WAT", "SDA"},
	{"20", "W1x1 W2y1 W2x2 C2 R1y C1", 20, "Double-write Skew 2 Committed", "WAT", "DDA"},
	{"21a", "W1x1 W2y2 W2x2 W1y1 C1 C2", 21, "Full-write Skew", "WAT", "DDA"},
	{"21b", "W1x1 W2y2 W2x2 W1y1 C2 C1", 21, "Full-write Skew", "WAT", "DDA"},
	{"22", "W1x1 W2y2 W2x2 C2 W1y1 C1", 22, "Full-write Skew Committed", "WAT", "DDA"},
	{"23a", "R1x W2y2 W2x1 W1y1 C1 C2", 23, "Read-write Skew 1", "WAT", "DDA"},
	{"23b", "R1x W2y2 W2x1 W1y1 C2 C1", 23, "Read-write Skew 1", "WAT", "DDA"},
	{"24a", "W1x1 R2y W2x2 W1y1 C1 C2", 24, "Read-write Skew 2", "WAT", "DDA"},
	{"24b", "W1x1 R2y W2x2 W1y1 C2 C1", 24, "Read-write Skew 2", "WAT", "DDA"},
	{"25", "W1x1 R2y W2x2 C2 W1y1 C1", 25, "Read-write Skew 2 Committed", "WAT", "DDA"},
	{"26", "W1x1 W2y2 W2x2 W3z3 W3y3 W1z1 C1 C2 C3", 26, "Step WAT", "WAT", "MDA"},
	{"27", "R1x W2x1 C2 R1x C1", 27, "Non-repeatable Read Committed", "IAT", "SDA"},
	{"28", "R1x W2x2 C2 W1x1 C1", 28, "Lost Update Committed", "IAT", "SDA"},
	{"29", "R1x W2y1 W2x1 C2 R1y C1", 29, "Read Skew Committed", "IAT", "DDA"},
	{"30", "R1x W2y2 W2x1 C2 W1y1 C1", 30, "Read-write Skew 1 Committed", "IAT", "DDA"},
	{"31", "R1x R2y W2x1 W1y1 C1 C2", 31, "Write Skew", "IAT", "DDA"},
	{"32", "R1x R2y W2x1 C2 W1y1 C1", 32, "Write Skew Committed", "IAT", "DDA"},
	{"33", "R1z R2x R3y W1x1 W2y1 W3z1 C1 C2 C3", 33, "Step IAT", "IAT", "MDA"},
	{"33b", "R3y R1x W1x1 R1y W1y1 C1 R2z W2z1 R2x W2x2 C2 R3z C3", 33, "Step IAT", "IAT", "MDA"},
	{"33c", "R1x R2y W3x1 C3 W4y1 C4 R2x C2 R1y C1", 33, "Step IAT", "IAT", "MDA"},
	{"33d", "R1x W2x1 C2 R3x W3y1 C3 R1y C1", 33, "Step IAT", "IAT", "MDA"},
	{"33e", "R2x R2y R1y W1y20 C1 R3x R3y C3 W2x11 C2", 33, "Step IAT", "IAT", "MDA"},
	{"14b", "R4x W1x1 R3y R3x W2y1 R4y C1 C2 C3 C4", 14, "Step RAT", "RAT", "MDA"},
	{"p27d", "Q1a D2x C2 Q1a C1", 27, NULL, "IAT", NULL},
	{"p27i", "Q1a I2u1 C2 Q1a C1", 27, NULL, "IAT", NULL},
	{"p29d", "Q1a D2x D2y C2 Q1b C1", 29, NULL, "IAT", NULL},
	{"p29i", "Q1a I2u1 I2v1 C2 Q1b C1", 29, NULL, "IAT", NULL},
	{"p14d", "D1x D2y Q2a D3z Q3b Q1c C1 C2 C3", 14, NULL, "RAT", NULL},
	{"p14i", "I1u1 I2v1 Q2a I3w1 Q3b Q1c C1 C2 C3", 14, NULL, "RAT", NULL},
	{"p31i", "Q1a Q2b I1v1 I2u1 C1 C2", 31, NULL, "IAT", NULL},
	{"p31o", "Q1a Q2a W1x1 W2u1 C1 C2 | x=5 u=5", 31, NULL, "IAT", NULL},
	{"p33d", "Q1c Q2a Q3b D1x D2y D3z C1 C2 C3", 33, NULL, "IAT", NULL},
	{"p33i", "Q1c Q2a Q3b I1u1 I2v1 I3w1 C1 C2 C3", 33, NULL, "IAT", NULL},};

static struct kr_mem mem;

static void parse(const char *text, struct kr_coo_schedule *s)
{
	struct kr_err err;
	char line[300];

	kr_err_init(&err);
	snprintf(line, sizeof line, "t | %s", text);
	if (kr_coo_parse(&mem, line, 1, s, &err) != KR_OK)
		fail_msg("%s: column %u: %s", text, err.column, err.text);
}

/* How many pairs a shortest cycle of all has; 0: there is none. */
static uint32_t shortest_cycle(const struct kr_pops *pops)
{
	enum { TXNS = KR_COO_TXNS + 1, FAR = 100 };
	uint32_t way[TXNS][TXNS], shortest = FAR;

	for (int a = 0; a < TXNS; a++)
		for (int b = 0; b < TXNS; b++)
			way[a][b] = FAR;
	for (uint32_t i = 0; i < pops->n; i++)
		way[pops->at[i].from][pops->at[i].to] = 1;
	for (int by = 0; by < TXNS; by++)
		for (int a = 0; a < TXNS; a++)
			for (int b = 0; b < TXNS; b++)
				if (way[a][by] + way[by][b] < way[a][b])
					way[a][b] = way[a][by] + way[by][b];
	for (int a = 0; a < TXNS; a++)
		shortest = way[a][a] < shortest ? way[a][a] : shortest;
	return shortest < FAR ? shortest : 0;
}

/* Classifies, and checks what must hold of every answer. */
static bool classify(const struct kr_coo_schedule *s, struct kr_pops *pops, struct kr_coo_anomaly *first, uint32_t *shortest)
{
	assert_int_equal(kr_coo_pops(&mem, s, pops), KR_OK);

	bool found = kr_coo_classify(pops->at, pops->n, first);

	*shortest = shortest_cycle(pops);
	assert_int_equal(found, *shortest > 0);
	if (!found)
		return false;
	for (uint32_t i = 0; i < first->length; i++)
		assert_int_equal(pops->at[first->cycle[i]].to, pops->at[first->cycle[(i + 1) % first->length]].from);
	assert_true(*shortest <= first->length);
	return true;
}

static uint8_t number_of(const char *text)
{
	struct kr_coo_anomaly first;
	uint32_t shortest;
	struct kr_coo_schedule s;
	struct kr_pops pops;
	bool found;

	parse(text, &s);
	found = classify(&s, &pops, &first, &shortest);
	kr_vec_done(&mem, &pops);
	kr_coo_schedule_done(&mem, &s);
	return found ? first.number : 0;
}

static void published_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < KR_COUNT(cases); i++) {
		struct kr_coo_anomaly first;
		uint32_t shortest;
		struct kr_coo_schedule s;
		struct kr_pops pops;

		parse(cases[i].schedule, &s);
		if (!classify(&s, &pops, &first, &shortest) || first.number != cases[i].number)
			fail_msg("%s: number %u", cases[i].id, first.number);
		assert_string_equal(kr_coo_class_name(first.class), cases[i].class);
		if (cases[i].name)
			assert_string_equal(kr_coo_name(first.number), cases[i].name);
		if (cases[i].size)
			assert_string_equal(kr_coo_size_name(first.size), cases[i].size);
		kr_vec_done(&mem, &pops);
		kr_coo_schedule_done(&mem, &s);
	}
}

static void corrections(void **state)
{
	(void)state;
	assert_int_equal(number_of("W1x W2x"), 0);
	assert_int_equal(number_of("W1x A1 W2x C2"), 0);
	assert_int_equal(number_of("W1x R2x C2 A1"), 1);
	assert_int_equal(number_of("W1x R2x C1 C2"), 0);
	assert_int_equal(number_of("W1x W2x A1 A2"), 0);
	assert_int_equal(number_of("W1x W2x W1x"), 16);
	assert_int_equal(number_of("R1x W2y W2x R1y"), 11);
	assert_int_equal(number_of("R1x W2y W2x C2 R1y"), 29);
}

/* Three transactions of which two close a cycle when one of them aborts. */
static void pairs_of_a_schedule(void **state)
{
	static const struct { uint8_t from, to; enum kr_pop_kind kind; char object; } expected[] = {
		{1, 2, KR_POP_RW, 'x'},
		{3, 2, KR_POP_RCW, 'x'},
		{1, 3, KR_POP_WR, 'y'},
		{3, 1, KR_POP_RA, 'y'},
	};
	struct kr_coo_anomaly first;
	uint32_t shortest;
	struct kr_coo_schedule s;
	struct kr_pops pops;

	(void)state;
	parse("R1x R3x W1y R3y C3 W2x R1y A1", &s);
	assert_true(classify(&s, &pops, &first, &shortest));
	assert_int_equal(pops.n, KR_COUNT(expected));
	for (size_t i = 0; i < KR_COUNT(expected); i++) {
		bool found = false;
		for (uint32_t k = 0; k < pops.n; k++)
			found |= pops.at[k].from == expected[i].from && pops.at[k].to == expected[i].to && pops.at[k].kind == expected[i].kind &&
				pops.at[k].object == expected[i].object;
		assert_true(found);
	}
	assert_int_equal(first.number, 1);
	assert_int_equal(first.length, 2);
	kr_vec_done(&mem, &pops);
	kr_coo_schedule_done(&mem, &s);
}

/* ---- every schedule of two transactions ---- */

struct all { uint64_t schedules, cyclic; bool seen[34]; };

static void judge(const struct kr_coo_schedule *s, struct all *all)
{
	struct kr_coo_anomaly first;
	uint32_t shortest;
	struct kr_pops pops;

	all->schedules++;
	if (classify(s, &pops, &first, &shortest)) {
		all->cyclic++;
		assert_int_equal(shortest, 2);
		if (first.number == 0 || first.size == KR_COO_MDA) {
			struct kr_str text;
			kr_str_init(&text, &mem);
			kr_coo_print(s, &text);
			fail_msg("%s: number %u", kr_str_text(&text), first.number);
		}
		all->seen[first.number] = true;
	}
	kr_vec_done(&mem, &pops);
}

/* Puts the end of `txn` at any place behind its last operation, or nowhere; then that of the next. */
static void place_ends(struct kr_coo_schedule *s, uint8_t txn, struct all *all)
{
	struct kr_coo_schedule with = *s;
	struct kr_coo_op ops[8];
	uint32_t last = 0;

	if (txn > 2) {
		judge(s, all);
		return;
	}
	place_ends(s, txn + 1, all);
	for (uint32_t i = 0; i < s->ops.n; i++)
		if (s->ops.at[i].txn == txn)
			last = i + 1;
	for (uint32_t at = last; at <= s->ops.n && last > 0; at++) {
		for (int kind = KR_COO_COMMIT; kind <= KR_COO_ABORT; kind++) {
			memcpy(ops, s->ops.at, at * sizeof *ops);
			ops[at] = (struct kr_coo_op){.kind = (uint8_t)kind, .txn = txn};
			memcpy(ops + at + 1, s->ops.at + at, (s->ops.n - at) * sizeof *ops);
			with.ops.at = ops;
			with.ops.n = s->ops.n + 1;
			place_ends(&with, txn + 1, all);
		}
	}
}

static void extend(struct kr_coo_schedule *s, uint32_t most, struct all *all)
{
	if (s->ops.n > 0)
		place_ends(s, 1, all);
	if (s->ops.n == most)
		return;
	for (int code = 0; code < 8; code++) {
		s->ops.at[s->ops.n++] = (struct kr_coo_op){
			.kind = code & 1 ? KR_COO_WRITE : KR_COO_READ, .txn = (uint8_t)(1 + (code >> 1 & 1)), .object = code & 4 ? 'y' : 'x', .value = (int64_t)s->ops.n + 1};
		extend(s, most, all);
		s->ops.n--;
	}
}

static void every_schedule_of_two_transactions(void **state)
{
	static const uint8_t steps[] = {14, 26, 33};
	struct kr_coo_op ops[4];
	struct kr_coo_schedule s = {.ops = {ops, 0, 4}};
	struct all all = {0};

	(void)state;
	extend(&s, 4, &all);
	print_message("%llu schedules, %llu with a cycle\n", (unsigned long long)all.schedules, (unsigned long long)all.cyclic);
	for (size_t i = 0; i < KR_COUNT(steps); i++)
		assert_false(all.seen[steps[i]]);
	for (int number = 1; number <= 33; number++)
		assert_true(all.seen[number] || number == 14 || number == 26 || number == 33);
}

/* ---- random schedules ---- */

static void random_schedule(struct kr_rng *rng, struct kr_coo_schedule *s)
{
	uint32_t ntxns = 2 + (uint32_t)kr_rng_below(rng, 4), nobjects = 1 + (uint32_t)kr_rng_below(rng, 3), n = 3 + (uint32_t)kr_rng_below(rng, 12);
	bool ended[KR_COO_TXNS + 1] = {false};

	*s = (struct kr_coo_schedule){.line = 0};
	for (uint32_t i = 0; i < n; i++) {
		struct kr_coo_op op = {.txn = (uint8_t)(1 + kr_rng_below(rng, ntxns)), .object = (char)('x' + kr_rng_below(rng, nobjects)), .value = i + 1};
		uint64_t d = kr_rng_below(rng, 100);
		if (ended[op.txn])
			continue;
		op.kind = d < 43 ? KR_COO_READ : d < 86 ? KR_COO_WRITE : d < 95 ? KR_COO_COMMIT : KR_COO_ABORT;
		ended[op.txn] = op.kind >= KR_COO_COMMIT;
		if (ended[op.txn])
			op.object = 0;
		assert_true(kr_vec_push(&mem, &s->ops, op));
	}
}

static uint32_t count_objects(const struct kr_coo_schedule *s)
{
	bool used[KR_COO_OBJECTS] = {false};
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->ops.n; i++)
		if (s->ops.at[i].object)
			used[kr_coo_index(s->ops.at[i].object)] = true;
	for (int i = 0; i < KR_COO_OBJECTS; i++)
		n += used[i];
	return n;
}

static void random_schedules_have_names_and_short_cycles(void **state)
{
	struct kr_rng rng;
	uint32_t cyclic = 0, longer = 0;

	(void)state;
	kr_rng_init(&rng, 18);
	for (int i = 0; i < 60000; i++) {
		struct kr_coo_anomaly first;
		uint32_t shortest;
		struct kr_coo_schedule s;
		struct kr_pops pops;

		random_schedule(&rng, &s);
		if (classify(&s, &pops, &first, &shortest)) {
			cyclic++;
			longer += first.length > shortest;
			assert_int_not_equal(first.number, 0);
			assert_true(shortest <= 2 * count_objects(&s)); /* a theorem */
		}
		kr_vec_done(&mem, &pops);
		kr_coo_schedule_done(&mem, &s);
	}
	print_message("%u with a cycle, of %u not the shortest closes first\n", cyclic, longer);
	assert_true(cyclic > 20000);
}

/* ---- generated schedules ---- */

static const char *generated(const char *spec, struct kr_str *text, struct kr_coo_anomaly *first)
{
	uint32_t shortest;
	struct kr_coo_schedule s;
	struct kr_pops pops;

	text->n = 0;
	assert_int_equal(kr_coo_generate(&mem, spec, &s, NULL), KR_OK);
	kr_coo_print(&s, text);
	if (!classify(&s, &pops, first, &shortest))
		fail_msg("%s: %s has no cycle", spec, kr_str_text(text));
	kr_vec_done(&mem, &pops);
	kr_coo_schedule_done(&mem, &s);
	return kr_str_text(text);
}

static void generated_schedules(void **state)
{
	/* Of two objects: by the edges' kinds in either sequence. Of one object: those whose second edge is an operation. */
	static const struct { const char *spec; uint8_t number; } specs[] = {
		{"WR0-WR1", 6}, {"WR0-WCR1", 7}, {"WR0-WW1", 8}, {"WR0-WCW1", 9}, {"WW0-WR1", 10}, {"RW0-WR1", 11}, {"WR0-RW1", 12}, {"WR0-RCW1", 13},
		{"WW0-WCR1", 20}, {"WW0-WW1", 21}, {"WW0-WCW1", 22}, {"RW0-WW1", 23}, {"WW0-RW1", 24}, {"WW0-RCW1", 25}, {"RW0-WCR1", 29}, {"RW0-WCW1", 30},
		{"RW0-RW1", 31}, {"RW0-RCW1", 32},
		{"RW0-WR0", 2}, {"WR0-RW0", 3}, {"WR0-RCW0", 4}, {"WW0-WR0", 5}, {"WW0-WW0", 16}, {"WW0-WCW0", 17}, {"RW0-WW0", 18}, {"WW0-WCR0", 19}, {"RW0-WCR0", 27},
		{"RW0-WCW0", 28},
		{"WR0-WR1-WR2", 14}, {"WW0-WW1-WW2", 26}, {"RW0-RW1-RW2", 33}, {"RW0-WCR0-RW1-WCR1", 33},
	};
	struct kr_coo_anomaly first;
	struct kr_str text;

	(void)state;
	kr_str_init(&text, &mem);
	for (size_t i = 0; i < KR_COUNT(specs); i++) {
		generated(specs[i].spec, &text, &first);
		if (first.number != specs[i].number)
			fail_msg("%s: %s is %u", specs[i].spec, kr_str_text(&text), first.number);
	}
	assert_string_equal(generated("WR0-WR1-WR2", &text, &first), "W1x1 W2y1 R2x W3z1 R3y R1z C1 C2 C3");
	kr_str_done(&text);
}

/* Three and four edges on distinct objects, of every kind: steps by what is bare among them. */
static void generated_steps(void **state)
{
	struct kr_coo_anomaly first;
	struct kr_str text;
	uint32_t count = 0;

	(void)state;
	kr_str_init(&text, &mem);
	for (uint32_t n = 3; n <= 4; n++) {
		for (uint32_t code = 0; code < (n == 3 ? 216u : 1296u); code++) {
			char spec[40] = "";
			bool reads = false, writes = false, open = false;
			for (uint32_t i = 0, rest = code; i < n; i++, rest /= 6) {
				enum kr_pop_kind kind = (enum kr_pop_kind)(rest % 6);
				snprintf(spec + strlen(spec), sizeof spec - strlen(spec), "%s%s%u", i ? "-" : "", kr_pop_kind_name(kind), i);
				reads |= kind == KR_POP_WR;
				writes |= kind == KR_POP_WW;
				open |= kind <= KR_POP_WW;
			}
			if (!open) {
				struct kr_coo_schedule s;
				assert_int_equal(kr_coo_generate(&mem, spec, &s, NULL), KR_BAD);
				continue;
			}
			count++;
			generated(spec, &text, &first);
			assert_int_equal(first.number, reads ? 14 : writes ? 26 : 33);
			assert_int_equal(first.length, n);
		}
	}
	assert_int_equal(count, 1404);
	kr_str_done(&text);
}

static void random_specs_are_taken(void **state)
{
	char spec[KR_COO_EDGES * 5];
	struct kr_coo_anomaly first;
	struct kr_str text;
	struct kr_rng rng;

	(void)state;
	kr_rng_init(&rng, 7);
	kr_str_init(&text, &mem);
	for (int i = 0; i < 2000; i++) {
		kr_coo_random_spec(&rng, 3, 5, 5, spec);
		generated(spec, &text, &first);
		assert_int_not_equal(first.number, 0);
	}
	kr_str_done(&text);
}

/* ---- text ---- */

static void bad_texts(void **state)
{
	static const struct { const char *text; uint32_t column; const char *message; } bad[] = {
		{"01 n | R1x X2x", 12, "found 'X2x', expected an operation, such as R1x, W1x5, D1x, I1u5, L1x, Q1a, U1a, C1 or A1"},
		{"01 n | R0x", 8, "found 'R0x', expected an operation, such as R1x, W1x5, D1x, I1u5, L1x, Q1a, U1a, C1 or A1"},
		{"R1a", 1, "found 'R1a', expected an object, d to z, behind the transaction"},
		{"Q1x", 1, "found 'Q1x', expected a range, a, b or c, behind the transaction"},
		{"R1x5", 1, "found 'R1x5', expected nothing behind the operation"},
		{"C1 R1x", 4, "found 'R1x', expected no operation behind its transaction's end"},
		{"W1x5 W2x5", 6, "found 'W2x5', expected a value that the object has not had before"},
		{"W1x0", 1, "found 'W1x0', expected a value that the object has not had before"},
		{"a | W1x5 | x=5", 5, "found 'W1x5', expected a value that the object has not had before"},
		{"a | R1x | x=", 11, "found 'x=', expected an initial value, such as x=5"},
		{"a | R1x | a=1", 11, "found 'a=1', expected an initial value, such as x=5"},
		{"a | R1x | x=1 | ", 15, "found '|', expected at most three parts: ID NAME | SCHEDULE | INITIAL"},
		{"R1x 1=rc", 5, "found '1=rc', expected levels before the first operation"},
		{"W1x9999999999999999999", 1, "found 'W1x9999999999999999999', expected a value of at most 18 digits"},
		{"a | # R1x", 5, "found no operation, expected at least one"},
	};

	(void)state;
	for (size_t i = 0; i < KR_COUNT(bad); i++) {
		struct kr_coo_schedule s;
		struct kr_err err;
		kr_err_init(&err);
		assert_int_equal(kr_coo_parse(&mem, bad[i].text, 7, &s, &err), KR_BAD);
		assert_string_equal(err.text, bad[i].message);
		assert_int_equal(err.line, 7);
		if (err.column != bad[i].column)
			fail_msg("%s: column %u", bad[i].text, err.column);
	}
}

static void bad_specs(void **state)
{
	static const struct { const char *spec; uint32_t column; } bad[] = {{"", 1}, {"RW0", 4}, {"RW0-", 5}, {"RW0-XX1", 5}, {"RW0 WR1", 4}, {"WCR0-RCW1", 1}, {"RW9-WR1", 1}};

	(void)state;
	for (size_t i = 0; i < KR_COUNT(bad); i++) {
		struct kr_coo_schedule s;
		struct kr_err err;
		kr_err_init(&err);
		assert_int_equal(kr_coo_generate(&mem, bad[i].spec, &s, &err), KR_BAD);
		if (err.column != bad[i].column)
			fail_msg("'%s': column %u: %s", bad[i].spec, err.column, err.text);
	}
}

static void texts_are_printed_as_read(void **state)
{
	struct kr_coo_schedule s;
	struct kr_str text;
	struct kr_err err;
	int64_t value;

	(void)state;
	kr_err_init(&err);
	kr_str_init(&text, &mem);
	assert_int_equal(kr_coo_parse(&mem, "p31o over draft | 2=rc Q1a W1x W2u1 L2y D1x I2v U1b C1 A2 | x=1 u=5 # as published", 3, &s, &err), KR_OK);
	assert_string_equal(s.id, "p31o");
	assert_string_equal(s.name, "over draft");
	assert_string_equal(s.level[2], "rc");
	kr_coo_print(&s, &text);
	assert_string_equal(kr_str_text(&text), "2=rc Q1a W1x2 W2u1 L2y D1x I2v1 U1b2 C1 A2");
	assert_true(kr_coo_initial(&s, 'x', &value) && value == 1);
	assert_true(kr_coo_initial(&s, 'u', &value) && value == 5);
	assert_true(kr_coo_initial(&s, 'z', &value) && value == 0);
	assert_false(kr_coo_initial(&s, 'v', &value));
	kr_coo_schedule_done(&mem, &s);
	kr_str_done(&text);
}

static void all_anomalies(void **state)
{
	struct kr_coo_anomalies all;
	struct kr_coo_schedule s;
	struct kr_pops pops;

	(void)state;
	parse("W1x R2x R3y W4y C4 R3y A1", &s); /* a dirty read of 2, a non-repeatable read of 3 */
	assert_int_equal(kr_coo_pops(&mem, &s, &pops), KR_OK);
	assert_int_equal(kr_coo_classify_all(&mem, pops.at, pops.n, &all), KR_OK);
	assert_int_equal(all.n, 2);
	assert_int_equal(all.at[0].number, 27);
	assert_int_equal(all.at[1].number, 1);
	kr_vec_done(&mem, &all);
	kr_vec_done(&mem, &pops);
	kr_coo_schedule_done(&mem, &s);
}

static int no_leaks(void **state)
{
	(void)state;
	return mem.used == 0 ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_cases),
		cmocka_unit_test(corrections),
		cmocka_unit_test(pairs_of_a_schedule),
		cmocka_unit_test(every_schedule_of_two_transactions),
		cmocka_unit_test(random_schedules_have_names_and_short_cycles),
		cmocka_unit_test(generated_schedules),
		cmocka_unit_test(generated_steps),
		cmocka_unit_test(random_specs_are_taken),
		cmocka_unit_test(bad_texts),
		cmocka_unit_test(bad_specs),
		cmocka_unit_test(texts_are_printed_as_read),
		cmocka_unit_test(all_anomalies),
	};

	kr_mem_init(&mem, SIZE_MAX);
	return cmocka_run_group_tests(tests, NULL, no_leaks);
}
