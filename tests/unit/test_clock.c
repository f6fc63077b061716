/* ir/clock: reachability of random graphs against Warshall's closure, when it is built, while edges are added, and with fewer chains than the graph has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "ir/clock.h"

enum { MOST = 80, ROUNDS = 400 };

static const struct kr_level level = {.id = "test", .model = KR_NODES_TXN, .forbidden = {{.allowed = KR_BIT(KR_WR) | KR_BIT(KR_WW) | KR_BIT(KR_RW)}}};

struct graph {
	struct kr_ctx ctx;
	struct kr_asg asg;
	struct kr_ir ir;
	uint32_t n;
	bool reaches[MOST][MOST]; /* by one edge or more */
};

/* n transactions without observations, in `sessions` sessions. */
static void graph_init(struct graph *g, struct kr_rng *rng, uint32_t n, uint32_t sessions)
{
	memset(g, 0, sizeof *g);
	g->n = n;
	kr_ctx_init(&g->ctx, 0, 0);
	kr_asg_init(&g->asg, &g->ctx.mem);
	g->asg.ntxns = n;
	g->asg.nsessions = sessions;
	g->asg.txns = KR_NEW_ARRAY(&g->asg.arena, struct kr_asg_txn, n);
	g->asg.obs_first = KR_NEW_ARRAY(&g->asg.arena, uint32_t, n + 1);
	g->asg.keys = KR_NEW_ARRAY(&g->asg.arena, struct kr_asg_key, 1);
	assert_true(g->asg.txns && g->asg.obs_first && g->asg.keys);
	for (uint32_t t = 0; t < n; t++)
		g->asg.txns[t] = (struct kr_asg_txn){.presence = KR_PRESENT, .session = (uint32_t)kr_rng_below(rng, sessions)};
	assert_int_equal(kr_asg_index(&g->asg), KR_OK);
	assert_int_equal(kr_ir_init(&g->ir, &g->ctx, &g->asg, &level, KR_ORDER_SESSION), KR_OK);
}

static void graph_done(struct graph *g)
{
	kr_ir_done(&g->ir);
	kr_asg_done(&g->asg);
	assert_int_equal(g->ctx.mem.used, 0);
}

/* Adds an edge to the IR and to the closure. */
static void add(struct graph *g, enum kr_edge_kind kind, uint32_t from, uint32_t to)
{
	assert_int_equal(kr_ir_add_edge(&g->ir, (struct kr_edge){.from = {from}, .to = {to}, .why = KR_NONE, .kind = (uint8_t)kind, .rule = KR_RULE_GIVEN}), KR_OK);
	for (uint32_t a = 0; a < g->n; a++) {
		if (a != from && !g->reaches[a][from])
			continue;
		g->reaches[a][to] = true;
		for (uint32_t b = 0; b < g->n; b++)
			g->reaches[a][b] |= g->reaches[to][b];
	}
}

/* An edge that follows a hidden order, so that the graph stays acyclic. */
static void add_forward(struct graph *g, struct kr_rng *rng, const uint32_t *order, kr_node *from, kr_node *to)
{
	uint32_t i = (uint32_t)kr_rng_below(rng, g->n), j = (uint32_t)kr_rng_below(rng, g->n);

	if (i == j)
		j = (i + 1) % g->n;
	from->i = order[i < j ? i : j];
	to->i = order[i < j ? j : i];
	add(g, KR_WR, from->i, to->i);
}

static void add_sessions(struct graph *g, const uint32_t *order)
{
	uint32_t last[MOST];

	memset(last, 0xff, sizeof last);
	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t t = order[i], s = g->asg.txns[t].session;
		if (last[s] != KR_NONE)
			add(g, KR_SO, last[s], t);
		last[s] = t;
	}
}

static void shuffle(struct kr_rng *rng, uint32_t *order, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t j = (uint32_t)kr_rng_below(rng, i + 1);
		order[i] = order[j];
		order[j] = i;
	}
}

/* Never a path that is not there; once settled, all paths from tracked nodes. */
static void compare(const struct graph *g, bool settled)
{
	const struct kr_clock *c = g->ir.clock;

	for (uint32_t a = 0; a < g->n; a++) {
		for (uint32_t b = 0; b < g->n; b++) {
			bool found = kr_clock_reaches(c, (kr_node){a}, (kr_node){b});
			assert_true(!found || g->reaches[a][b]);
			assert_true(found || !g->reaches[a][b] || !settled || c->chain[a] == KR_NONE);
		}
	}
}

static void settle(struct graph *g)
{
	uint64_t changed[MOST / 64 + 1];
	kr_node node;

	assert_true(g->ir.clock->words <= KR_COUNT(changed));
	while (g->ir.clock->cyclic.i == KR_NONE && kr_clock_take(&g->ir, &node, changed))
		assert_true(node.i < g->n);
}

/* Nodes of a chain have places of their own, in the order in which they reach each other. */
static void check_chains(const struct graph *g)
{
	const struct kr_clock *c = g->ir.clock;

	for (uint32_t a = 0; a < g->n; a++) {
		for (uint32_t b = 0; b < g->n; b++) {
			if (a == b || c->chain[a] == KR_NONE || c->chain[a] != c->chain[b])
				continue;
			assert_int_not_equal(c->position[a], c->position[b]);
			assert_int_equal(c->position[a] < c->position[b], g->reaches[a][b]);
		}
	}
}

static uint32_t tracked(const struct kr_clock *c)
{
	uint32_t n = 0;

	for (uint32_t v = 0; v < c->nnodes; v++)
		n += c->chain[v] != KR_NONE;
	return n;
}

static void random_graph(struct graph *g, struct kr_rng *rng, uint32_t *order)
{
	uint32_t n = 2 + (uint32_t)kr_rng_below(rng, MOST - 1);
	kr_node from, to;

	graph_init(g, rng, n, 1 + (uint32_t)kr_rng_below(rng, n));
	shuffle(rng, order, n);
	if (kr_rng_below(rng, 2))
		add_sessions(g, order);
	for (uint64_t i = kr_rng_below(rng, 2 * n); i-- > 0;)
		add_forward(g, rng, order, &from, &to);
}

static void grow(struct graph *g, struct kr_rng *rng, const uint32_t *order)
{
	kr_node from, to;

	compare(g, true);
	for (uint64_t i = kr_rng_below(rng, g->n); i-- > 0;) {
		add_forward(g, rng, order, &from, &to);
		kr_clock_edge(g->ir.clock, from, to);
		if (kr_rng_below(rng, 4) == 0)
			kr_clock_touch(g->ir.clock, from);
		compare(g, false);
		if (kr_rng_below(rng, 3) == 0) {
			settle(g);
			compare(g, true);
		}
	}
	settle(g);
	assert_false(kr_clock_pending(g->ir.clock));
	compare(g, true);
	assert_int_equal(g->ir.clock->cyclic.i, KR_NONE);
}

static void follows_a_growing_graph(void **state)
{
	uint32_t order[MOST];
	struct kr_rng rng;

	(void)state;
	kr_rng_init(&rng, 1);
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct graph g;
		bool cyclic = true;
		random_graph(&g, &rng, order);
		assert_int_equal(kr_clock_build(&g.ir, &cyclic), KR_OK);
		assert_false(cyclic);
		assert_int_equal(tracked(g.ir.clock), g.n);
		check_chains(&g);
		grow(&g, &rng, order);
		graph_done(&g);
	}
}

/* With little memory only some chains are tracked, or none: what is said is still right. */
static void says_less_with_fewer_chains(void **state)
{
	uint32_t order[MOST], partly = 0, not_at_all = 0;
	struct kr_rng rng;

	(void)state;
	kr_rng_init(&rng, 2);
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct graph g;
		bool cyclic = true;
		random_graph(&g, &rng, order);
		g.ctx.mem.limit = g.ctx.mem.used + (20 + kr_rng_below(&rng, 220)) * g.n + kr_rng_below(&rng, 4000);
		enum kr_status status = kr_clock_build(&g.ir, &cyclic);
		g.ctx.mem.limit = SIZE_MAX;
		if (status == KR_OK) {
			check_chains(&g);
			partly += tracked(g.ir.clock) > 0 && tracked(g.ir.clock) < g.n;
			not_at_all += tracked(g.ir.clock) == 0;
			grow(&g, &rng, order);
		} else {
			assert_int_equal(status, KR_NOMEM);
			assert_null(g.ir.clock);
		}
		graph_done(&g);
	}
	assert_true(partly > 10 && not_at_all > 10);
}

static void notices_cycles(void **state)
{
	uint32_t order[MOST], found = 0;
	struct kr_rng rng;

	(void)state;
	kr_rng_init(&rng, 3);
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct graph g;
		bool cyclic = false;
		random_graph(&g, &rng, order);
		uint32_t a = (uint32_t)kr_rng_below(&rng, g.n), b = (uint32_t)kr_rng_below(&rng, g.n);
		if (a == b || g.reaches[a][b]) {
			assert_int_equal(kr_clock_build(&g.ir, &cyclic), KR_OK);
			add(&g, KR_RW, b, a);
			kr_clock_edge(g.ir.clock, (kr_node){b}, (kr_node){a});
			settle(&g);
			uint32_t on = g.ir.clock->cyclic.i;
			assert_int_not_equal(on, KR_NONE);
			assert_true(g.reaches[on][on]);
			kr_clock_free(&g.ctx.mem, g.ir.clock);
			g.ir.clock = NULL;
			assert_int_equal(kr_clock_build(&g.ir, &cyclic), KR_OK);
			assert_true(cyclic);
			assert_null(g.ir.clock);
			found++;
		}
		graph_done(&g);
	}
	assert_true(found > 50);
}

/* Places in a chain have 16 bits: one that is longer goes on as another. */
static void follows_long_chains(void **state)
{
	enum { LONG = 200000 };
	struct kr_rng rng;
	struct graph g;
	bool cyclic = true;

	(void)state;
	kr_rng_init(&rng, 4);
	graph_init(&g, &rng, LONG, 1);
	for (uint32_t v = 0; v + 1 < LONG; v++)
		assert_int_equal(kr_ir_add_edge(&g.ir, (struct kr_edge){.from = {v}, .to = {v + 1}, .why = KR_NONE, .kind = KR_SO, .rule = KR_RULE_GIVEN}), KR_OK);
	assert_int_equal(kr_clock_build(&g.ir, &cyclic), KR_OK);
	assert_false(cyclic);
	assert_int_equal(tracked(g.ir.clock), LONG);
	for (unsigned i = 0; i < 1000000; i++) {
		uint32_t a = (uint32_t)kr_rng_below(&rng, LONG), b = i % 2 ? (uint32_t)kr_rng_below(&rng, LONG) : (a + i % 7) % LONG;
		assert_int_equal(kr_clock_reaches(g.ir.clock, (kr_node){a}, (kr_node){b}), a < b);
	}
	graph_done(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(follows_long_chains),
		cmocka_unit_test(follows_a_growing_graph),
		cmocka_unit_test(says_less_with_fewer_chains),
		cmocka_unit_test(notices_cycles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
