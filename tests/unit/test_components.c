/* backend/components: strongly connected components of random graphs of known and chosen edges, against Warshall's closure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "backend/overlay.h"
#include "base/rng.h"

enum { MOST = 40, ROUNDS = 1000 };

static const struct kr_level level = {.id = "test", .model = KR_NODES_TXN, .forbidden = {{.allowed = KR_BIT(KR_WR) | KR_BIT(KR_WW) | KR_BIT(KR_RW)}}};

struct graph {
	struct kr_ctx ctx;
	struct kr_asg asg;
	struct kr_ir ir;
	struct kr_overlay overlay;
	uint8_t active[MOST];
	uint32_t n;
	bool reaches[MOST][MOST]; /* by one edge or more */
};

static void graph_init(struct graph *g, uint32_t n, struct kr_rng *rng)
{
	memset(g, 0, sizeof *g);
	g->n = n;
	kr_ctx_init(&g->ctx, 0, 0);
	kr_asg_init(&g->asg, &g->ctx.mem);
	g->asg.ntxns = n;
	g->asg.txns = KR_NEW_ARRAY(&g->asg.arena, struct kr_asg_txn, n);
	g->asg.obs_first = KR_NEW_ARRAY(&g->asg.arena, uint32_t, n + 1);
	g->asg.keys = KR_NEW_ARRAY(&g->asg.arena, struct kr_asg_key, 1);
	assert_true(g->asg.txns && g->asg.obs_first && g->asg.keys);
	assert_int_equal(kr_asg_index(&g->asg), KR_OK);
	assert_int_equal(kr_ir_init(&g->ir, &g->ctx, &g->asg, &level, KR_ORDER_NONE), KR_OK);
	for (uint32_t t = 0; t < n; t++)
		g->active[t] = kr_rng_below(rng, 8) > 0;
	assert_int_equal(kr_overlay_init(&g->overlay, &g->ir, g->active), KR_OK);
	kr_overlay_clear(&g->overlay);
}

static void graph_done(struct graph *g)
{
	kr_overlay_done(&g->overlay);
	kr_ir_done(&g->ir);
	kr_asg_done(&g->asg);
	assert_int_equal(g->ctx.mem.used, 0);
}

/* Known edges of transactions that are not active do not count; there are no chosen ones of theirs. */
static void add(struct graph *g, uint32_t from, uint32_t to, bool chosen)
{
	struct kr_link link = {KR_WW, {from}, {to}, {KR_NONE}, {KR_NONE}, {0}, KR_NONE};

	if (!chosen)
		assert_int_equal(kr_ir_add_edge(&g->ir, (struct kr_edge){.from = {from}, .to = {to}, .why = KR_NONE, .kind = KR_WR, .rule = KR_RULE_GIVEN}), KR_OK);
	else if (g->active[from])
		assert_int_equal(kr_overlay_add(&g->overlay, link), KR_OK);
	g->reaches[from][to] |= g->active[from];
}

static void close_transitively(struct graph *g)
{
	for (uint32_t via = 0; via < g->n; via++)
		for (uint32_t a = 0; a < g->n; a++)
			for (uint32_t b = 0; b < g->n; b++)
				g->reaches[a][b] |= g->reaches[a][via] && g->reaches[via][b];
}

/* On a cycle or behind one. */
static bool is_left_over(const struct graph *g, uint32_t v)
{
	bool found = g->reaches[v][v];

	for (uint32_t a = 0; a < g->n; a++)
		found |= g->reaches[a][a] && g->reaches[a][v];
	return found;
}

static void check(struct graph *g, uint32_t *together)
{
	uint32_t component[MOST];

	assert_int_equal(kr_overlay_sort(&g->overlay), KR_OK);
	assert_int_equal(kr_overlay_components(&g->overlay, component), KR_OK);
	for (uint32_t a = 0; a < g->n; a++) {
		assert_int_equal(component[a] != KR_NONE, is_left_over(g, a));
		for (uint32_t b = 0; b < g->n && component[a] != KR_NONE; b++) {
			bool same = a == b || (g->reaches[a][b] && g->reaches[b][a]);
			assert_int_equal(component[a] == component[b], same);
			*together += same && a != b;
		}
	}
}

static void components_are_those_of_the_closure(void **state)
{
	struct kr_rng rng;
	struct graph g;
	uint32_t together = 0;

	(void)state;
	kr_rng_init(&rng, 7);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		graph_init(&g, 1 + (uint32_t)kr_rng_below(&rng, MOST), &rng);
		for (uint32_t i = (uint32_t)kr_rng_below(&rng, 2 * g.n); i > 0; i--)
			add(&g, (uint32_t)kr_rng_below(&rng, g.n), (uint32_t)kr_rng_below(&rng, g.n), kr_rng_below(&rng, 2) == 0);
		close_transitively(&g);
		check(&g, &together);
		graph_done(&g);
	}
	assert_true(together > ROUNDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(components_are_those_of_the_closure)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
