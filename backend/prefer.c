/* Guesses only: what the scheduler makes of them is replayed before it is believed. Traces are often written
 * in the order of completion, sessions often run side by side, and databases often commit shortly before the
 * client learns of it; which of these holds, the scheduler shows by how seldom it has to break the guess. */
#include "backend/prefer.h"

#include <string.h>

#include "base/order.h"

struct guess {
	double at;
	uint32_t node;
};

KR_BY_BOTH(earlier, struct guess, at, node);

static uint32_t part_of(struct guess guess, uint32_t n)
{
	return guess.at < 0 ? 0 : (uint32_t)(guess.at * n);
}

/* Of places between 0 and 1, or below, which lie evenly: as many parts of equal length as there are guesses,
 * in linear time. */
static enum kr_status sort_even(struct kr_mem *mem, struct guess *guesses, uint32_t n)
{
	uint32_t *first = kr_mem_alloc(mem, (size_t)n + 2, sizeof *first);
	struct guess *parts = kr_mem_alloc(mem, n, sizeof *parts);
	bool ok = first && parts;
	for (uint32_t i = 0; ok && i < n; i++)
		first[part_of(guesses[i], n) + 2]++;
	if (ok)
		kr_index_places(first, n);
	for (uint32_t i = 0; ok && i < n; i++)
		parts[first[part_of(guesses[i], n) + 1]++] = guesses[i];
	for (uint32_t p = 0; ok && p < n; p++)
		KR_SORT(parts + first[p], first[p + 1] - first[p], earlier);
	if (ok && n > 0)
		memcpy(guesses, parts, n * sizeof *guesses);
	kr_mem_free(mem, first, (size_t)n + 2, sizeof *first);
	kr_mem_free(mem, parts, n, sizeof *parts);
	return ok ? KR_OK : KR_NOMEM;
}

static void guess_by_time(const struct kr_ir *ir, struct guess *guesses)
{
	for (uint32_t v = 0; v < ir->nnodes; v++) {
		kr_txn t = kr_ir_txn(ir, (kr_node){v});
		const struct kr_asg_txn *txn = t.i == KR_NONE ? NULL : &ir->asg->txns[t.i];
		double at = txn == NULL  ? -1e300
			: txn->has_end   ? (double)kr_asg_end(ir->asg, t)
			: txn->has_begin ? (double)kr_asg_begin(ir->asg, t)
					 : 0;
		guesses[v] = (struct guess){at, v};
	}
	KR_SORT(guesses, ir->nnodes, earlier);
}

/* Nodes are numbered in the order of the trace, but for time nodes. */
static void place_by_trace(const struct kr_ir *ir, uint32_t *place)
{
	uint32_t times = ir->nnodes - ir->first_time_node;
	for (uint32_t v = 0; v < ir->nnodes; v++)
		place[v] = v < ir->first_time_node ? v + times : v - ir->first_time_node;
}

/* A transaction without a session is placed as in the trace. */
static enum kr_status guess_by_progress(const struct kr_ir *ir, struct guess *guesses)
{
	const struct kr_asg *asg = ir->asg;
	struct kr_mem *mem = &ir->ctx->mem;
	uint32_t *done = kr_mem_alloc(mem, asg->nsessions, sizeof *done);
	uint32_t *total = kr_mem_alloc(mem, asg->nsessions, sizeof *total);
	bool ok = done && total;
	for (uint32_t t = 0; ok && t < asg->ntxns; t++) {
		if (asg->txns[t].session != KR_NONE)
			total[asg->txns[t].session]++;
	}
	for (uint32_t v = 0; ok && v < ir->nnodes; v++) {
		kr_txn t = kr_ir_txn(ir, (kr_node){v});
		uint32_t session = t.i == KR_NONE ? KR_NONE : asg->txns[t.i].session;
		double at = t.i == KR_NONE ? -1 : (t.i + 0.5) / asg->ntxns;
		if (session != KR_NONE) {
			at = (done[session] + 0.5) / total[session];
			/* the last node of its transaction */
			done[session] += ir->level->model == KR_NODES_TXN || (v & 1);
		}
		guesses[v] = (struct guess){at, v};
	}
	kr_mem_free(mem, done, asg->nsessions, sizeof *done);
	kr_mem_free(mem, total, asg->nsessions, sizeof *total);
	return ok ? sort_even(mem, guesses, ir->nnodes) : KR_NOMEM;
}

enum kr_status kr_prefer(const struct kr_ir *ir, enum kr_guess guess, uint32_t *place, bool *possible)
{
	struct kr_mem *mem = &ir->ctx->mem;
	enum kr_status status = KR_OK;
	bool cyclic;
	*possible = guess == KR_GUESS_TIME ? kr_asg_is_timed(ir->asg)
		: guess == KR_GUESS_DEPTH  ? (ir->facts & KR_FACT_WR) != 0
					   : true;
	if (!*possible)
		return KR_OK;
	if (guess == KR_GUESS_TRACE) {
		place_by_trace(ir, place);
		return KR_OK;
	}
	if (guess == KR_GUESS_DEPTH)
		return kr_ir_along(ir, place, &cyclic);
	struct guess *guesses = kr_mem_alloc(mem, ir->nnodes, sizeof *guesses);
	if (!guesses)
		return KR_NOMEM;
	if (guess == KR_GUESS_TIME)
		guess_by_time(ir, guesses);
	else
		status = guess_by_progress(ir, guesses);
	for (uint32_t i = 0; !status && i < ir->nnodes; i++)
		place[guesses[i].node] = i;
	kr_mem_free(mem, guesses, ir->nnodes, sizeof *guesses);
	return status;
}
