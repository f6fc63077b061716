/* backend/schedule: on random serial histories. Given their order as the preference it forces nothing; given any other it still emits every node once and keeps known edges, and when it
 * forced nothing its order replays: each observation sees the current version of its key. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backend/schedule.h"
#include "base/rng.h"

enum { MOST = 24, KEYS = 3, ROUNDS = 1500 };

static const struct kr_level level = {.id = "test", .model = KR_NODES_TXN, .forbidden = {{.allowed = KR_BIT(KR_WR) | KR_BIT(KR_WW) | KR_BIT(KR_RW)}}};

struct plan {
	uint32_t n;
	uint32_t order[MOST];          /* as executed */
	bool writes[MOST][KEYS], reads[MOST][KEYS];
	uint32_t seen[MOST][KEYS];     /* the writer that a reader saw; MOST: the initial version */
};

static void make_plan(struct plan *p, struct kr_rng *rng)
{
	uint32_t last[KEYS] = {MOST, MOST, MOST};

	memset(p, 0, sizeof *p);
	p->n = 2 + (uint32_t)kr_rng_below(rng, MOST - 1);
	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t j = (uint32_t)kr_rng_below(rng, i + 1);
		p->order[i] = p->order[j];
		p->order[j] = i;
	}
	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t t = p->order[i];
		for (uint32_t k = 0; k < KEYS; k++) {
			p->reads[t][k] = kr_rng_below(rng, 2) == 0;
			p->writes[t][k] = kr_rng_below(rng, 3) == 0;
			p->seen[t][k] = last[k];
			if (p->writes[t][k])
				last[k] = t;
		}
	}
}

/* The plan as an ASG: a set per version, with nothing else in it. */
static void print_plan(const struct plan *p, struct kr_str *out)
{
	uint32_t version[MOST + 1][KEYS], nversions = 0;

	kr_str_add(out, "asg 1\n");
	for (uint32_t t = 0; t < p->n; t++)
		kr_str_format(out, "txn %u present\n", t);
	for (uint32_t k = 0; k < KEYS; k++)
		kr_str_format(out, "key %u\n", k);
	for (uint32_t k = 0; k < KEYS; k++) {
		version[MOST][k] = nversions;
		kr_str_format(out, "version %u key %u initial\n", nversions++, k);
		for (uint32_t t = 0; t < p->n; t++) {
			version[t][k] = nversions;
			if (p->writes[t][k])
				kr_str_format(out, "version %u key %u by %u\n", nversions++, k, t);
		}
	}
	for (uint32_t v = 0; v < nversions; v++)
		kr_str_format(out, "set %u {%u}\n", v, v);
	for (uint32_t t = 0; t < p->n; t++)
		for (uint32_t k = 0; k < KEYS; k++)
			if (p->reads[t][k])
				kr_str_format(out, "observe txn %u op %u key %u set %u\n", t, k, k, version[p->seen[t][k]][k]);
	kr_str_add(out, "end asg\n");
}

static void add_wr_edges(struct kr_ir *ir)
{
	for (uint32_t o = 0; o < ir->asg->nobs; o++) {
		const struct kr_observation *obs = &ir->asg->obs[o];
		kr_version seen = ir->asg->members[ir->asg->sets[obs->set].first];
		kr_txn w = ir->asg->versions[seen.i].writer;
		ir->source[o] = seen;
		if (w.i != KR_NONE)
			assert_int_equal(kr_ir_add_edge(ir, (struct kr_edge){.from = {w.i}, .to = {obs->txn.i}, .why = o, .kind = KR_WR, .rule = KR_RULE_GIVEN}), KR_OK);
	}
}

/* Every node once, after those that known edges put before it. */
static void check_order(const struct kr_ir *ir, const kr_node *order)
{
	uint32_t place[MOST];

	memset(place, 0xff, sizeof place);
	for (uint32_t i = 0; i < ir->nnodes; i++) {
		assert_true(order[i].i < ir->nnodes && place[order[i].i] == KR_NONE);
		place[order[i].i] = i;
	}
	for (uint32_t e = 0; e < ir->edges.n; e++)
		assert_true(place[ir->edges.at[e].from.i] < place[ir->edges.at[e].to.i]);
}

static bool replays(const struct plan *p, const kr_node *order)
{
	uint32_t last[KEYS] = {MOST, MOST, MOST};

	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t t = order[i].i;
		for (uint32_t k = 0; k < KEYS; k++)
			if (p->reads[t][k] && p->seen[t][k] != last[k])
				return false;
		for (uint32_t k = 0; k < KEYS; k++)
			if (p->writes[t][k])
				last[k] = t;
	}
	return true;
}

/* Schedules with a preference; `open`: observations are left to the scheduler, whose choice must be the only one there is. */
static uint32_t schedule(const struct plan *p, struct kr_ir *ir, const uint32_t *prefer, bool open)
{
	uint8_t active[MOST];
	kr_version source[MOST * KEYS];
	kr_node order[MOST];
	struct kr_overlay overlay;
	struct kr_schedule run = {.overlay = &overlay, .source = source, .order = order, .forced = 99};

	memset(active, 1, sizeof active);
	assert_int_equal(kr_overlay_init(&overlay, ir, active), KR_OK);
	kr_overlay_clear(&overlay);
	overlay.prefer = prefer;
	assert_int_equal(kr_overlay_sort(&overlay), KR_OK);
	assert_true(kr_overlay_acyclic(&overlay));
	for (uint32_t o = 0; o < ir->asg->nobs; o++)
		source[o] = open ? (kr_version){KR_NONE} : ir->source[o];
	assert_int_equal(kr_schedule_run(&run), KR_OK);
	check_order(ir, order);
	for (uint32_t o = 0; o < ir->asg->nobs; o++)
		assert_int_equal(source[o].i, ir->source[o].i);
	if (run.forced == 0)
		assert_true(replays(p, order));

	uint32_t forced = run.forced; /* a strict run ends where the first one is, else it does the same */
	run = (struct kr_schedule){.overlay = &overlay, .source = source, .order = order, .strict = true};
	for (uint32_t o = 0; o < ir->asg->nobs; o++)
		source[o] = open ? (kr_version){KR_NONE} : ir->source[o];
	assert_int_equal(kr_schedule_run(&run), KR_OK);
	assert_int_equal(run.forced, forced > 0);
	if (forced == 0)
		assert_true(replays(p, order));
	kr_overlay_done(&overlay);
	return forced;
}

static void schedules_serial_histories(void **state)
{
	struct kr_rng rng;
	unsigned found = 0;

	(void)state;
	kr_rng_init(&rng, 6);
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct plan p;
		struct kr_ctx ctx;
		struct kr_asg asg;
		struct kr_ir ir;
		struct kr_str text;
		uint32_t prefer[MOST];
		make_plan(&p, &rng);
		kr_ctx_init(&ctx, 0, 0);
		kr_str_init(&text, &ctx.mem);
		print_plan(&p, &text);
		assert_int_equal(kr_asg_read(&asg, &ctx, kr_str_text(&text), NULL, NULL), KR_OK);
		assert_int_equal(kr_ir_init(&ir, &ctx, &asg, &level, KR_ORDER_NONE), KR_OK);
		add_wr_edges(&ir);
		for (uint32_t i = 0; i < p.n; i++)
			prefer[p.order[i]] = i;
		assert_int_equal(schedule(&p, &ir, prefer, false), 0);
		for (uint32_t i = 0; i < p.n; i++)
			prefer[i] = i;
		found += schedule(&p, &ir, prefer, false) == 0;
		found += schedule(&p, &ir, NULL, kr_rng_below(&rng, 2)) == 0;
		kr_ir_done(&ir);
		kr_asg_done(&asg);
		kr_str_done(&text);
		assert_int_equal(ctx.mem.used, 0);
	}
	assert_true(found > ROUNDS / 4); /* else replaying was hardly tested */
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(schedules_serial_histories)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
