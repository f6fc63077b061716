/* backend/topology: random known edges, and arcs that come and go, against plain search. The order keeps to all
 * that there are; an arc is refused iff its end leads to its start, and then by a cycle of what there is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backend/topology.h"
#include "base/rng.h"

enum { NODES = 16, ROUNDS = 600, STEPS = 60 };

static const struct kr_level level = {.id = "test", .model = KR_NODES_TXN, .forbidden = {{.allowed = KR_BIT(KR_WR) | KR_BIT(KR_WW) | KR_BIT(KR_RW)}}};

static bool leads(const struct kr_topology *t, uint32_t from, uint32_t to)
{
	bool met[NODES] = {false};
	met[from] = true;
	for (unsigned i = 0; i < NODES; i++) {
		for (uint32_t e = 0; e < t->ir->edges.n; e++)
			met[t->ir->edges.at[e].to.i] |= met[t->ir->edges.at[e].from.i];
		for (uint32_t a = 0; a < t->arcs.n; a++)
			met[t->arcs.at[a].to] |= met[t->arcs.at[a].from];
	}
	return met[to];
}

static void check_order(const struct kr_topology *t)
{
	for (uint32_t v = 0; v < NODES; v++)
		assert_int_equal(t->at[t->place[v]], v);
	for (uint32_t e = 0; e < t->ir->edges.n; e++)
		assert_true(t->place[t->ir->edges.at[e].from.i] < t->place[t->ir->edges.at[e].to.i]);
	for (uint32_t a = 0; a < t->arcs.n; a++)
		assert_true(t->place[t->arcs.at[a].from] < t->place[t->arcs.at[a].to]);
}

static bool is_arc(const struct kr_topology *t, const struct kr_link *link)
{
	for (uint32_t a = 0; a < t->arcs.n; a++)
		if (memcmp(&t->links.at[a], link, sizeof *link) == 0)
			return true;
	return false;
}

/* The newest cycle begins with the link, goes on from end to start, by known edges and arcs that are there. */
static void check_cycle(const struct kr_topology *t, const struct kr_proof *proof, const struct kr_link *link)
{
	struct kr_cycle c = proof->cycles.at[proof->cycles.n - 1];
	assert_memory_equal(&proof->links.at[c.first], link, sizeof *link);
	for (uint32_t i = 0; i < c.count; i++) {
		const struct kr_link *x = &proof->links.at[c.first + i], *next = &proof->links.at[c.first + (i + 1) % c.count];
		assert_int_equal(x->to.i, next->from.i);
		assert_true(i == 0 || x->edge != KR_NONE || is_arc(t, x));
	}
}

static void add_known(struct kr_ir *ir, struct kr_rng *rng, const kr_node *order)
{
	for (uint32_t i = 0, n = (uint32_t)kr_rng_below(rng, NODES); i < n; i++) {
		uint32_t a = (uint32_t)kr_rng_below(rng, NODES), b = (uint32_t)kr_rng_below(rng, NODES);
		struct kr_edge edge = {.from = order[a < b ? a : b], .to = order[a < b ? b : a], .why = KR_NONE, .kind = KR_SO, .rule = KR_RULE_GIVEN};
		if (a != b)
			assert_int_equal(kr_ir_add_edge(ir, edge), KR_OK);
	}
}

static void play(struct kr_ir *ir, struct kr_rng *rng, const kr_node *order, uint32_t *refused)
{
	uint8_t active[NODES];
	struct kr_topology t;
	struct kr_proof proof;
	memset(active, 1, sizeof active);
	kr_proof_init(&proof, &ir->ctx->mem);
	assert_int_equal(kr_topology_init(&t, ir, active, order), KR_OK);
	for (int step = 0; step < STEPS; step++) {
		struct kr_link link;
		bool cycle;
		memset(&link, 0, sizeof link);
		link.kind = KR_WW;
		link.from.i = (uint32_t)kr_rng_below(rng, NODES);
		link.to.i = (uint32_t)kr_rng_below(rng, NODES);
		link.edge = KR_NONE;
		link.key.i = (uint32_t)step;
		if (kr_rng_below(rng, 8) == 0)
			kr_topology_cut(&t, (uint32_t)kr_rng_below(rng, t.arcs.n + 1));
		if (link.from.i == link.to.i)
			continue;
		bool expected = leads(&t, link.to.i, link.from.i);
		uint32_t before = t.arcs.n;
		assert_int_equal(kr_topology_add(&t, link, &proof, &cycle), KR_OK);
		assert_int_equal(cycle, expected);
		assert_int_equal(t.arcs.n, before + !cycle);
		if (cycle)
			check_cycle(&t, &proof, &link);
		check_order(&t);
		*refused += cycle;
	}
	kr_topology_done(&t);
	kr_proof_done(&proof);
}

static void arcs_come_and_go(void **state)
{
	(void)state;
	struct kr_rng rng;
	uint32_t refused = 0;
	kr_rng_init(&rng, 4);
	for (int round = 0; round < ROUNDS; round++) {
		struct kr_ctx ctx;
		struct kr_asg asg;
		struct kr_ir ir;
		struct kr_str text;
		kr_node order[NODES];
		kr_ctx_init(&ctx, 0, 0);
		kr_str_init(&text, &ctx.mem);
		kr_str_add(&text, "asg 1\n");
		for (uint32_t t = 0; t < NODES; t++) {
			kr_str_format(&text, "txn %u present\n", t);
			uint32_t j = (uint32_t)kr_rng_below(&rng, t + 1);
			order[t] = order[j];
			order[j].i = t;
		}
		kr_str_add(&text, "end asg\n");
		assert_int_equal(kr_asg_read(&asg, &ctx, kr_str_text(&text), NULL, NULL), KR_OK);
		assert_int_equal(kr_ir_init(&ir, &ctx, &asg, &level, KR_ORDER_NONE), KR_OK);
		add_known(&ir, &rng, order);
		play(&ir, &rng, order, &refused);
		kr_ir_done(&ir);
		kr_asg_done(&asg);
		kr_str_done(&text);
		assert_int_equal(ctx.mem.used, 0);
	}
	assert_true(refused > ROUNDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(arcs_come_and_go)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
