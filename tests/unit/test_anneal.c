/* backend/anneal: on random histories of few values. An order that it calls a world replays, and it always keeps known edges; of small histories it finds one if and only if there is one, of larger
 * serial ones always. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backend/anneal.h"
#include "base/rng.h"

enum { SMALL = 6, LARGE = 24, KEYS = 3, VALUES = 2, INITIAL = VALUES, NONE = VALUES + 1, ROUNDS = 600 };

static const struct kr_level level = {.id = "test", .model = KR_NODES_TXN, .forbidden = {{.allowed = KR_BIT(KR_WR) | KR_BIT(KR_WW) | KR_BIT(KR_RW)}}};

struct plan {
	uint32_t n;
	uint32_t order[LARGE];                    /* as executed */
	uint32_t wrote[LARGE][KEYS], saw[LARGE][KEYS]; /* values; NONE: nothing */
	bool before[LARGE][LARGE];                /* told */
};

static bool replays(const struct plan *p, const uint32_t *order)
{
	uint32_t now[KEYS] = {INITIAL, INITIAL, INITIAL};

	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t t = order[i];
		for (uint32_t k = 0; k < KEYS; k++) {
			if (p->saw[t][k] != NONE && p->saw[t][k] != now[k])
				return false;
			if (p->wrote[t][k] != NONE)
				now[k] = p->wrote[t][k];
		}
		for (uint32_t j = i; j < p->n; j++)
			if (p->before[order[j]][t])
				return false;
	}
	return true;
}

/* Is there an order of the rest? */
static bool possible(const struct plan *p, uint32_t *order, uint32_t done)
{
	if (done == p->n)
		return replays(p, order);
	for (uint32_t i = done; i < p->n; i++) {
		uint32_t t = order[i];
		order[i] = order[done];
		order[done] = t;
		bool found = possible(p, order, done + 1);
		order[done] = order[i];
		order[i] = t;
		if (found)
			return true;
	}
	return false;
}

static void make_plan(struct plan *p, struct kr_rng *rng, uint32_t most)
{
	uint32_t now[KEYS] = {INITIAL, INITIAL, INITIAL};

	memset(p, 0, sizeof *p);
	p->n = 2 + (uint32_t)kr_rng_below(rng, most - 1);
	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t j = (uint32_t)kr_rng_below(rng, i + 1);
		p->order[i] = p->order[j];
		p->order[j] = i;
	}
	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t t = p->order[i];
		for (uint32_t k = 0; k < KEYS; k++) {
			p->saw[t][k] = kr_rng_below(rng, 2) ? now[k] : (uint32_t)NONE;
			p->wrote[t][k] = kr_rng_below(rng, 2) ? (uint32_t)NONE : (uint32_t)kr_rng_below(rng, VALUES);
			if (p->wrote[t][k] != NONE)
				now[k] = p->wrote[t][k];
		}
		for (uint32_t j = 0; j < i; j++)
			p->before[p->order[j]][t] = kr_rng_below(rng, 6) == 0;
	}
}

/* The plan as an ASG: a set for each value of a key. */
static void print_plan(const struct plan *p, struct kr_str *out)
{
	uint32_t first[KEYS], version = 0;

	kr_str_add(out, "asg 1\n");
	for (uint32_t t = 0; t < p->n; t++)
		kr_str_format(out, "txn %u present\n", t);
	for (uint32_t k = 0; k < KEYS; k++)
		kr_str_format(out, "key %u\n", k);
	for (uint32_t k = 0; k < KEYS; k++) {
		first[k] = version;
		kr_str_format(out, "version %u key %u initial\n", version++, k);
		for (uint32_t t = 0; t < p->n; t++)
			if (p->wrote[t][k] != NONE)
				kr_str_format(out, "version %u key %u by %u\n", version++, k, t);
	}
	for (uint32_t k = 0; k < KEYS; k++)
		for (uint32_t value = 0; value <= INITIAL; value++) {
			const char *gap = "";
			kr_str_format(out, "set %u {", k * (INITIAL + 1) + value);
			if (value == INITIAL)
				kr_str_format(out, "%u", first[k]);
			for (uint32_t t = 0, v = first[k]; t < p->n; t++)
				if (p->wrote[t][k] != NONE && (v++, p->wrote[t][k] == value)) {
					kr_str_format(out, "%s%u", gap, v);
					gap = " ";
				}
			kr_str_add(out, "}\n");
		}
	for (uint32_t t = 0; t < p->n; t++)
		for (uint32_t k = 0; k < KEYS; k++)
			if (p->saw[t][k] != NONE)
				kr_str_format(out, "observe txn %u op %u key %u set %u\n", t, k, k, k * (INITIAL + 1) + p->saw[t][k]);
	kr_str_add(out, "end asg\n");
}

static void add_told(const struct plan *p, struct kr_ir *ir)
{
	for (uint32_t a = 0; a < p->n; a++)
		for (uint32_t b = 0; b < p->n; b++)
			if (p->before[a][b])
				assert_int_equal(kr_ir_add_edge(ir, (struct kr_edge){{a}, {b}, KR_NONE, KR_SO, KR_RULE_GIVEN}), KR_OK);
}

static bool anneal(const struct plan *p, uint64_t sweeps)
{
	struct kr_ctx ctx;
	struct kr_asg asg;
	struct kr_ir ir;
	struct kr_str text;
	uint8_t active[LARGE];
	kr_node order[LARGE];
	uint32_t numbers[LARGE];
	bool cyclic, found;

	kr_ctx_init(&ctx, 0, 0);
	kr_str_init(&text, &ctx.mem);
	print_plan(p, &text);
	assert_int_equal(kr_asg_read(&asg, &ctx, kr_str_text(&text), NULL, NULL), KR_OK);
	assert_int_equal(kr_ir_init(&ir, &ctx, &asg, &level, KR_ORDER_NONE), KR_OK);
	add_told(p, &ir);
	assert_int_equal(kr_ir_topological(&ir, order, &cyclic), KR_OK);
	assert_false(cyclic);
	memset(active, 1, sizeof active);
	struct kr_candidate world = {.ir = &ir, .active = active, .order = order};
	assert_int_equal(kr_anneal(&world, sweeps, &found), KR_OK);
	for (uint32_t i = 0; i < p->n; i++) {
		numbers[i] = order[i].i;
		for (uint32_t j = 0; j < i; j++)
			assert_true(numbers[i] != numbers[j] && !p->before[numbers[i]][numbers[j]]);
	}
	assert_int_equal(found, replays(p, numbers));
	kr_ir_done(&ir);
	kr_asg_done(&asg);
	kr_str_done(&text);
	assert_int_equal(ctx.mem.used, 0);
	return found;
}

static void finds_what_there_is(void **state)
{
	struct kr_rng rng;
	unsigned without = 0;

	(void)state;
	kr_rng_init(&rng, 16);
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct plan p;
		make_plan(&p, &rng, SMALL);
		uint32_t t = (uint32_t)kr_rng_below(&rng, p.n), k = (uint32_t)kr_rng_below(&rng, KEYS), order[SMALL];
		bool readable = false;
		for (uint32_t u = 0; u < p.n; u++)
			readable |= u != t && p.wrote[u][k] == 0;
		if (readable && kr_rng_below(&rng, 4))
			p.saw[t][k] = 0; /* maybe wrong */
		for (uint32_t i = 0; i < p.n; i++)
			order[i] = i;
		bool expected = possible(&p, order, 0);
		assert_int_equal(anneal(&p, 400), expected);
		without += !expected;
	}
	assert_true(without > ROUNDS / 20 && without < ROUNDS / 2);
}

static void finds_serial_orders(void **state)
{
	struct kr_rng rng;

	(void)state;
	kr_rng_init(&rng, 17);
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct plan p;
		make_plan(&p, &rng, LARGE);
		assert_true(replays(&p, p.order));
		assert_true(anneal(&p, 100000));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(finds_what_there_is), cmocka_unit_test(finds_serial_orders)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
