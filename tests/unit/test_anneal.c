/* backend/anneal and backend/walk: on random histories of few values, of serial runs and of runs on snapshots. An order that it calls a world replays, and it always keeps known edges; of small histories it finds one if
 * and only if there is one, of larger ones always. The walk, of serial orders alone, finds nearly all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backend/anneal.h"
#include "backend/walk.h"
#include "base/rng.h"

enum { SMALL = 5, LARGE = 24, KEYS = 3, VALUES = 2, INITIAL = VALUES, NONE = VALUES + 1, ROUNDS = 400 };

static const struct kr_level serial = {.id = "serial", .model = KR_NODES_TXN, .forbidden = {{.allowed = KR_BIT(KR_WR) | KR_BIT(KR_WW) | KR_BIT(KR_RW) | KR_BIT(KR_SO)}}};
static const struct kr_level snapshots = {.id = "snapshots", .model = KR_NODES_BEGIN_COMMIT, .forbidden = {{.allowed = KR_BIT(KR_WR) | KR_BIT(KR_WW) | KR_BIT(KR_RW) | KR_BIT(KR_SO), .lonely = KR_BIT(KR_RW)}}};

/* Events: 2t is the begin of t, 2t + 1 its commit. */
struct plan {
	const struct kr_level *level;
	uint32_t n;
	uint32_t events[2 * LARGE];                    /* as executed */
	uint32_t wrote[LARGE][KEYS], saw[LARGE][KEYS]; /* values; NONE: nothing */
	bool before[LARGE][LARGE];                     /* told: the one commits before the other begins */
};

struct store {
	uint32_t now[KEYS], since[KEYS], began[LARGE]; /* values, and places of events */
	bool committed[LARGE];
};

static void begin_store(struct store *s)
{
	memset(s, 0, sizeof *s);
	for (uint32_t k = 0; k < KEYS; k++)
		s->now[k] = INITIAL;
}

static bool may_write(const struct store *s, uint32_t t, uint32_t k)
{
	return s->since[k] <= s->began[t];
}

static void commit(const struct plan *p, struct store *s, uint32_t t, uint32_t at)
{
	s->committed[t] = true;
	for (uint32_t k = 0; k < KEYS; k++)
		if (p->wrote[t][k] != NONE) {
			s->now[k] = p->wrote[t][k];
			s->since[k] = at;
		}
}

static bool replays(const struct plan *p, const uint32_t *events)
{
	struct store s;

	begin_store(&s);
	for (uint32_t at = 1; at <= 2 * p->n; at++) {
		uint32_t t = events[at - 1] / 2;
		for (uint32_t k = 0; k < KEYS; k++)
			if (events[at - 1] % 2 ? p->wrote[t][k] != NONE && !may_write(&s, t, k) : p->saw[t][k] != NONE && p->saw[t][k] != s.now[k])
				return false;
		for (uint32_t u = 0; u < p->n && events[at - 1] % 2 == 0; u++)
			if (p->before[u][t] && !s.committed[u])
				return false;
		if (events[at - 1] % 2)
			commit(p, &s, t, at);
		else
			s.began[t] = at;
	}
	return true;
}

/* Is there an order of events that goes on so? */
static bool possible(const struct plan *p, uint32_t *events, uint32_t n, const uint8_t *state)
{
	if (n == 2 * p->n)
		return replays(p, events);
	for (uint32_t t = 0; t < p->n; t++) {
		uint8_t next[SMALL];
		uint32_t m = n;
		if (state[t] == 2)
			continue;
		memcpy(next, state, sizeof next);
		do {
			events[m++] = 2 * t + next[t]++;
		} while (p->level == &serial && next[t] < 2);
		if (possible(p, events, m, next))
			return true;
	}
	return false;
}

/* A run on a store: at a commit goes what somebody else wrote meanwhile. */
static void make_plan(struct plan *p, struct kr_rng *rng, const struct kr_level *level, uint32_t most)
{
	struct store s;
	uint32_t n = 0;

	memset(p, 0, sizeof *p);
	begin_store(&s);
	p->level = level;
	p->n = 2 + (uint32_t)kr_rng_below(rng, most - 1);
	uint8_t state[LARGE] = {0};
	while (n < 2 * p->n) {
		uint32_t t = (uint32_t)kr_rng_below(rng, p->n);
		for (bool goes = state[t] < 2; goes; goes = level == &serial && state[t] < 2) {
			p->events[n++] = 2 * t + state[t];
			for (uint32_t k = 0; k < KEYS; k++)
				if (state[t] == 0)
					p->saw[t][k] = kr_rng_below(rng, 2) ? s.now[k] : (uint32_t)NONE;
				else
					p->wrote[t][k] = kr_rng_below(rng, 2) && may_write(&s, t, k) ? (uint32_t)kr_rng_below(rng, VALUES) : (uint32_t)NONE;
			for (uint32_t u = 0; u < p->n && state[t] == 0; u++)
				p->before[u][t] = s.committed[u] && kr_rng_below(rng, 6) == 0;
			if (state[t]++ == 0)
				s.began[t] = n;
			else
				commit(p, &s, t, n);
		}
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
				assert_int_equal(kr_ir_relate(ir, KR_SO, (kr_txn){a}, (kr_txn){b}, KR_RULE_GIVEN, KR_NONE), KR_OK);
}

/* Sweeps: 0: by a walk. */
static bool search(const struct plan *p, uint64_t sweeps)
{
	struct kr_ctx ctx;
	struct kr_asg asg;
	struct kr_ir ir;
	struct kr_str text;
	uint8_t active[LARGE];
	kr_node order[2 * LARGE];
	uint32_t events[2 * LARGE], place[2 * LARGE], n = 0;
	bool cyclic, found;

	kr_ctx_init(&ctx, 0, 0);
	kr_str_init(&text, &ctx.mem);
	print_plan(p, &text);
	assert_int_equal(kr_asg_read(&asg, &ctx, kr_str_text(&text), NULL, NULL), KR_OK);
	assert_int_equal(kr_ir_init(&ir, &ctx, &asg, p->level, KR_ORDER_NONE), KR_OK);
	add_told(p, &ir);
	assert_int_equal(kr_ir_topological(&ir, order, &cyclic), KR_OK);
	assert_false(cyclic);
	memset(active, 1, sizeof active);
	struct kr_candidate world = {.ir = &ir, .active = active, .order = order};
	if (sweeps == 0)
		assert_true(kr_walk_fits(&ir));
	assert_int_equal(sweeps ? kr_anneal(&world, sweeps, &found) : kr_walk(&world, &found), KR_OK);
	memset(place, 0xff, sizeof place);
	for (uint32_t i = 0; i < ir.nnodes; i++) {
		assert_int_equal(place[order[i].i], UINT32_MAX);
		place[order[i].i] = i;
		if (p->level == &serial)
			events[n++] = 2 * order[i].i;
		events[n++] = p->level == &serial ? 2 * order[i].i + 1 : order[i].i;
	}
	for (uint32_t e = 0; e < ir.edges.n; e++)
		assert_true((sweeps == 0 && !found) || place[ir.edges.at[e].from.i] < place[ir.edges.at[e].to.i]);
	assert_true(found == replays(p, events) || (sweeps == 0 && !found));
	kr_ir_done(&ir);
	kr_asg_done(&asg);
	kr_str_done(&text);
	assert_int_equal(ctx.mem.used, 0);
	return found;
}

static void finds_what_there_is(const struct kr_level *level)
{
	struct kr_rng rng;
	unsigned without = 0, missed = 0;

	kr_rng_init(&rng, 16);
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct plan p;
		make_plan(&p, &rng, level, SMALL);
		uint32_t t = (uint32_t)kr_rng_below(&rng, p.n), k = (uint32_t)kr_rng_below(&rng, KEYS), events[2 * SMALL];
		uint8_t state[SMALL] = {0};
		bool readable = false;
		for (uint32_t u = 0; u < p.n; u++)
			readable |= u != t && p.wrote[u][k] == 0;
		if (readable && kr_rng_below(&rng, 4))
			p.saw[t][k] = 0; /* maybe wrong */
		bool expected = possible(&p, events, 0, state);
		assert_int_equal(search(&p, 1000), expected);
		bool walked = level == &serial && search(&p, 0);
		assert_true(expected || !walked);
		missed += expected && !walked;
		without += !expected;
	}
	assert_true(level != &serial || missed < ROUNDS / 20);
	assert_true(without > ROUNDS / 20 && without < ROUNDS / 2);
}

static void finds_larger_ones(const struct kr_level *level)
{
	struct kr_rng rng;
	unsigned missed = 0;

	kr_rng_init(&rng, 17);
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct plan p;
		make_plan(&p, &rng, level, LARGE);
		assert_true(replays(&p, p.events));
		assert_true(search(&p, 100000));
		missed += level == &serial && !search(&p, 0);
	}
	assert_true(missed < ROUNDS / 20);
}

static void serial_orders(void **state)
{
	(void)state;
	finds_what_there_is(&serial);
	finds_larger_ones(&serial);
}

static void orders_of_snapshots(void **state)
{
	(void)state;
	finds_what_there_is(&snapshots);
	finds_larger_ones(&snapshots);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(serial_orders), cmocka_unit_test(orders_of_snapshots)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
