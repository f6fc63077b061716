/* ir/cycle and kr_ir_path: on random graphs, paths of an age are found iff there are any, with as few derived edges as a plain relaxation finds, and no more edges than nodes; a cycle
 * that refutes is one, of known edges, and there is none with fewer derived edges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "ir/proof.h"

enum { MOST = 14, ROUNDS = 2000, FAR = 1000 };

static const struct kr_level level = {.id = "test", .model = KR_NODES_TXN, .forbidden = {{.allowed = KR_BIT(KR_WR) | KR_BIT(KR_WW) | KR_BIT(KR_RW)}}};

struct graph {
	struct kr_ctx ctx;
	struct kr_asg asg;
	struct kr_ir ir;
	uint32_t n;
};

/* Transaction t writes key 0 and observes it: observation t, of the initial version as far as anything here looks. */
static void graph_init(struct graph *g, struct kr_rng *rng)
{
	char text[8000];
	int at = sprintf(text, "asg 1\n");

	memset(g, 0, sizeof *g);
	g->n = 2 + (uint32_t)kr_rng_below(rng, MOST - 1);
	kr_ctx_init(&g->ctx, 0, 0);
	for (uint32_t t = 0; t < g->n; t++)
		at += sprintf(text + at, "txn %u present\n", t);
	at += sprintf(text + at, "key 0\nversion 0 key 0 initial\n");
	for (uint32_t t = 0; t < g->n; t++)
		at += sprintf(text + at, "version %u key 0 by %u\n", t + 1, t);
	at += sprintf(text + at, "set 0 {0}\n");
	for (uint32_t t = 0; t < g->n; t++)
		at += sprintf(text + at, "observe txn %u op 0 key 0 set 0\n", t);
	sprintf(text + at, "end asg\n");
	assert_int_equal(kr_asg_read(&g->asg, &g->ctx, text, NULL, NULL), KR_OK);
	assert_int_equal(kr_ir_init(&g->ir, &g->ctx, &g->asg, &level, KR_ORDER_NONE), KR_OK);
	for (uint32_t t = 0; t < g->n; t++)
		g->ir.source[t].i = 0;
	for (uint64_t i = kr_rng_below(rng, 3 * g->n); i-- > 0;) {
		bool derived = kr_rng_below(rng, 3) == 0;
		uint32_t from = (uint32_t)kr_rng_below(rng, g->n), to = (uint32_t)kr_rng_below(rng, g->n);
		struct kr_edge edge = {.from = {from}, .to = {to}, .why = derived ? from : 0, .kind = derived ? KR_RW : KR_WW, .rule = derived ? KR_RULE_LATER : KR_RULE_GIVEN};
		if (from != to)
			assert_int_equal(kr_ir_add_edge(&g->ir, edge), KR_OK);
	}
}

static void graph_done(struct graph *g)
{
	kr_ir_done(&g->ir);
	kr_asg_done(&g->asg);
	assert_int_equal(g->ctx.mem.used, 0);
}

/* Least number of derived edges older than `age` on a path of at least one edge from `a` to each node; FAR: no path. */
static void relax(const struct graph *g, uint32_t a, uint32_t age, uint32_t *least)
{
	bool again = true;

	for (uint32_t v = 0; v < g->n; v++)
		least[v] = FAR;
	while (again) {
		again = false;
		for (uint32_t e = 0; e < age; e++) {
			const struct kr_edge *edge = &g->ir.edges.at[e];
			uint32_t before = edge->from.i == a ? 0 : least[edge->from.i];
			uint32_t cost = before + (edge->rule != KR_RULE_GIVEN);
			if (before < FAR && cost < least[edge->to.i]) {
				least[edge->to.i] = cost;
				again = true;
			}
		}
	}
}

static void check_path(struct graph *g, uint32_t a, uint32_t b, uint32_t age)
{
	struct kr_path path = {0};
	uint32_t least[MOST], derived = 0;
	bool found = false;
	kr_node at = {a};

	relax(g, a, age, least);
	assert_int_equal(kr_ir_path(&g->ir, (kr_node){a}, (kr_node){b}, age, &path, &found), KR_OK);
	assert_int_equal(found, least[b] < FAR);
	assert_true(path.n < g->n);
	for (uint32_t i = 0; i < path.n; i++) {
		const struct kr_edge *edge = &g->ir.edges.at[path.at[i]];
		assert_true(path.at[i] < age);
		assert_int_equal(edge->from.i, at.i);
		at = edge->to;
		derived += edge->rule != KR_RULE_GIVEN;
	}
	assert_int_equal(at.i, found ? b : a);
	if (found)
		assert_int_equal(derived, least[b]);
	kr_vec_done(&g->ctx.mem, &path);
}

static void finds_paths_of_an_age(void **state)
{
	struct kr_rng rng;

	(void)state;
	kr_rng_init(&rng, 4);
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct graph g;
		graph_init(&g, &rng);
		for (unsigned i = 0; i < 10; i++) {
			uint32_t a = (uint32_t)kr_rng_below(&rng, g.n), b = (uint32_t)kr_rng_below(&rng, g.n);
			if (a != b)
				check_path(&g, a, b, (uint32_t)kr_rng_below(&rng, g.ir.edges.n + 1));
		}
		graph_done(&g);
	}
}

/* Least number of derived edges on any cycle; FAR: none. */
static uint32_t least_cycle(const struct graph *g)
{
	uint32_t least[MOST], best = FAR;

	for (uint32_t a = 0; a < g->n; a++) {
		relax(g, a, g->ir.edges.n, least);
		if (least[a] < best)
			best = least[a];
	}
	return best;
}

static void check_cycle(const struct graph *g, uint32_t least)
{
	const struct kr_proof *proof = g->ir.conflict;
	uint32_t derived = 0;

	assert_int_equal(proof->cycles.n, 1);
	assert_int_equal(proof->cycles.at[0].count, proof->links.n);
	assert_true(proof->links.n >= 2 && proof->links.n <= g->n);
	for (uint32_t i = 0; i < proof->links.n; i++) {
		const struct kr_link *link = &proof->links.at[i], *next = &proof->links.at[(i + 1) % proof->links.n];
		const struct kr_edge *edge = &g->ir.edges.at[link->edge];
		assert_int_equal(link->to.i, next->from.i);
		assert_int_equal(link->from.i, edge->from.i);
		assert_int_equal(link->to.i, edge->to.i);
		assert_int_equal(link->kind, edge->kind);
		derived += edge->rule != KR_RULE_GIVEN;
	}
	assert_int_equal(derived, least);
}

static void finds_the_simplest_cycle(void **state)
{
	struct kr_rng rng;
	unsigned cyclic_graphs = 0;

	(void)state;
	kr_rng_init(&rng, 5);
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct graph g;
		bool cyclic;
		graph_init(&g, &rng);
		uint32_t least = least_cycle(&g);
		kr_node *order = kr_mem_alloc(&g.ctx.mem, g.n, sizeof *order);
		assert_non_null(order);
		assert_int_equal(kr_ir_topological(&g.ir, order, &cyclic), KR_OK);
		assert_int_equal(cyclic, least < FAR);
		kr_mem_free(&g.ctx.mem, order, g.n, sizeof *order);
		if (cyclic) {
			assert_int_equal(kr_ir_conflict(&g.ir), KR_OK);
			check_cycle(&g, least);
			cyclic_graphs++;
		}
		graph_done(&g);
	}
	assert_true(cyclic_graphs > ROUNDS / 4 && cyclic_graphs < ROUNDS);
}

/* Two writers, each said to come first by a rule that would need an older path: no proof, and the edge is named. */
static void edges_that_rest_on_nothing_are_named(void **state)
{
	static const char text[] = "asg 1\ntxn 0 present\ntxn 1 present\nkey 0\nversion 0 key 0 initial\nversion 1 key 0 by 0\nversion 2 key 0 by 1\nend asg\n";
	struct graph g = {.n = 2};

	(void)state;
	kr_ctx_init(&g.ctx, 0, 0);
	assert_int_equal(kr_asg_read(&g.asg, &g.ctx, text, NULL, NULL), KR_OK);
	assert_int_equal(kr_ir_init(&g.ir, &g.ctx, &g.asg, &level, KR_ORDER_NONE), KR_OK);
	assert_int_equal(kr_ir_add_edge(&g.ir, (struct kr_edge){.from = {0}, .to = {1}, .why = 0, .kind = KR_WW, .rule = KR_RULE_WRITERS}), KR_OK);
	assert_int_equal(kr_ir_add_edge(&g.ir, (struct kr_edge){.from = {1}, .to = {0}, .why = 0, .kind = KR_WW, .rule = KR_RULE_GIVEN}), KR_OK);
	assert_int_equal(kr_ir_conflict(&g.ir), KR_OK);
	assert_int_equal(kr_proof_close(g.ir.conflict, &g.ir), KR_INTERNAL);
	assert_int_equal(g.ir.conflict->unfounded, 0);
	graph_done(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(edges_that_rest_on_nothing_are_named),
		cmocka_unit_test(finds_paths_of_an_age),
		cmocka_unit_test(finds_the_simplest_cycle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
