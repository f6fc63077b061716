/* Paths of the IR: those that derived edges rest on, and what the clock says of them, against plain
 * breadth-first searches.
 *
 * A derived ww edge needs an older path from its source to the observer, an rw edge one from the writer of
 * the version seen to its target; a given ww edge a path of given orders. Each is a search of its own, so
 * only as many are checked, evenly spread, as fit in BUDGET steps: in small graphs all. */
#include "ir/clock.h"
#include "ir/ir_verify.h"
#include "ir/visible.h"

enum { BUDGET = 1 << 24, SMALL = 256, SAMPLES = 16 };

/* ---- premises ---- */

static enum kr_status rests_on(const struct kr_ir *ir, uint32_t index, bool found, kr_node a, kr_node b,
	struct kr_err *err)
{
	KR_IR_CHECK(found, "edge %u by rule '%s' rests on no path of older edges from node %u to node %u",
		index, kr_rule_name((enum kr_rule)ir->edges.at[index].rule), a.i, b.i);
	return KR_OK;
}

static enum kr_status check_path(const struct kr_ir *ir, kr_node a, kr_node b, uint32_t age,
	struct kr_err *err)
{
	struct kr_path path = {0};
	bool found = a.i == b.i;
	enum kr_status status = found ? KR_OK : kr_ir_path(ir, a, b, age, &path, &found);

	kr_vec_done(&ir->ctx->mem, &path);
	return status ? status : rests_on(ir, age, found, a, b, err);
}

/* A walk over the given orders from version a; they are searched once per step, which is enough for a debug
 * check. */
static enum kr_status check_given(const struct kr_ir *ir, uint32_t index, struct kr_err *err)
{
	const struct kr_asg *asg = ir->asg;
	const struct kr_edge *e = &ir->edges.at[index];
	uint32_t first = asg->keys[e->why].first;
	uint32_t n = asg->keys[e->why + 1].first - first;
	uint8_t *reached = kr_mem_alloc(&ir->ctx->mem, n, 1);
	uint32_t target = kr_asg_version_of(asg, kr_ir_txn(ir, e->to), (kr_key){e->why}).i - first;
	bool moved = true;

	if (!reached)
		return KR_NOMEM;
	reached[kr_asg_version_of(asg, kr_ir_txn(ir, e->from), (kr_key){e->why}).i - first] = 1;
	while (moved && !reached[target]) {
		moved = false;
		for (uint32_t i = 0; i < asg->norders; i++) {
			uint32_t before = asg->orders[i].before.i - first;
			uint32_t after = asg->orders[i].after.i - first;
			kr_txn guard = asg->orders[i].guard;

			if (before < n && reached[before] && !reached[after] &&
				(guard.i == KR_NONE || kr_ir_is_present(ir, guard)))
				reached[after] = 1, moved = true;
		}
	}

	bool found = reached[target];

	kr_mem_free(&ir->ctx->mem, reached, n, 1);
	KR_IR_CHECK(found, "ww edge %u is not in the given order of key %u", index, e->why);
	return KR_OK;
}

static enum kr_status check_visible(const struct kr_ir *ir, uint32_t index, struct kr_err *err)
{
	const struct kr_edge *e = &ir->edges.at[index];
	struct kr_proof way;
	bool found = false;

	kr_proof_init(&way, &ir->ctx->mem);

	enum kr_status status =
		kr_visible_way(ir, kr_ir_txn(ir, e->from), (kr_obs){e->why}, index, &way, &found);

	kr_proof_done(&way);
	return status
		? status
		: rests_on(ir, index, found, e->from, kr_ir_in(ir, KR_WR, ir->asg->obs[e->why].txn), err);
}

static enum kr_status check_premise(const struct kr_ir *ir, uint32_t index, struct kr_err *err)
{
	const struct kr_edge *e = &ir->edges.at[index];

	if (e->kind == KR_WW && e->rule == KR_RULE_GIVEN)
		return check_given(ir, index, err);
	if (e->kind == KR_WW && e->rule == KR_RULE_WRITERS)
		return check_path(ir, kr_ir_in(ir, KR_WW, kr_ir_txn(ir, e->from)),
			kr_ir_out(ir, KR_WW, kr_ir_txn(ir, e->to)), index, err);
	if (e->kind == KR_WW && e->rule == KR_RULE_READER)
		return check_visible(ir, index, err);
	if ((e->kind != KR_RW && e->kind != KR_WW) || kr_asg_is_initial(ir->asg, ir->source[e->why]))
		return KR_OK;

	kr_txn writer = ir->asg->versions[ir->source[e->why].i].writer;

	return check_path(ir, kr_ir_in(ir, KR_WW, writer), kr_ir_out(ir, KR_WW, kr_ir_txn(ir, e->to)), index,
		err);
}

enum kr_status kr_ir_verify_premises(const struct kr_ir *ir, struct kr_err *err)
{
	uint64_t cost = (uint64_t)ir->edges.n * ((uint64_t)ir->edges.n + ir->nnodes + ir->asg->norders);
	uint32_t step = 1 + (uint32_t)(cost / BUDGET);

	for (uint32_t e = 0; e < ir->edges.n; e += step) {
		KR_TRY(check_premise(ir, e, err));
		if (e > KR_NONE - step)
			break;
	}
	return KR_OK;
}

/* ---- clock ---- */

/* Marks what x reaches; x itself only if it lies on a cycle. */
static enum kr_status search(const struct kr_ir *ir, kr_node x, uint8_t *reached, kr_node *queue)
{
	uint32_t n = 0;

	for (uint32_t v = 0; v < ir->nnodes; v++)
		reached[v] = 0;
	for (uint32_t i = 0, at = x.i;; at = queue[i++].i) {
		KR_TRY(kr_ctx_tick(ir->ctx));
		for (uint32_t e = ir->head.at[at]; e != KR_NONE; e = ir->edges.at[e].next) {
			kr_node to = ir->edges.at[e].to;

			if (!reached[to.i]) {
				reached[to.i] = 1;
				queue[n++] = to;
			}
		}
		if (i == n)
			return KR_OK;
	}
}

static enum kr_status compare(const struct kr_ir *ir, kr_node x, const uint8_t *reached, struct kr_err *err)
{
	const struct kr_clock *c = ir->clock;

	if (c->chain[x.i] == KR_NONE)
		return KR_OK;
	for (uint32_t y = 0; y < ir->nnodes; y++) {
		KR_IR_CHECK(!kr_clock_reaches(c, x, (kr_node){y}) || reached[y],
			"clock: node %u reaches %u, but there is no path", x.i, y);
		KR_IR_CHECK(kr_clock_reaches(c, x, (kr_node){y}) || !reached[y],
			"clock: node %u does not reach %u, but there is a path", x.i, y);
	}
	return KR_OK;
}

static enum kr_status verify_reached(const struct kr_ir *ir, uint8_t *reached, kr_node *queue,
	struct kr_err *err)
{
	uint32_t step = ir->nnodes <= SMALL ? 1 : ir->nnodes / SAMPLES;

	for (uint32_t x = 0; x < ir->nnodes; x += step) {
		KR_TRY(search(ir, (kr_node){x}, reached, queue));
		KR_TRY(compare(ir, (kr_node){x}, reached, err));
	}
	return KR_OK;
}

enum kr_status kr_ir_verify_clock(const struct kr_ir *ir, struct kr_err *err)
{
	struct kr_mem *mem = &ir->ctx->mem;

	if (!ir->clock || ir->conflict)
		return KR_OK;
	KR_IR_CHECK(ir->clock->nnodes == ir->nnodes, "clock: %u of %u nodes", ir->clock->nnodes, ir->nnodes);
	KR_IR_CHECK(ir->clock->cyclic.i == KR_NONE, "clock: node %u is on a cycle, but there is no conflict",
		ir->clock->cyclic.i);

	uint8_t *reached = kr_mem_alloc(mem, ir->nnodes, 1);
	kr_node *queue = kr_mem_alloc(mem, ir->nnodes, sizeof *queue);
	enum kr_status status = reached && queue ? verify_reached(ir, reached, queue, err) : KR_NOMEM;

	kr_mem_free(mem, reached, ir->nnodes, 1);
	kr_mem_free(mem, queue, ir->nnodes, sizeof *queue);
	return status;
}
