/* A guess only: what the scheduler makes of it is replayed before it is believed. With times, transactions are taken to have committed when their clients learned of it. Without, all
 * sessions are taken to run from the first transaction to the last at even pace, a transaction without a session at its place in the trace. O(n log n). */
#include "backend/prefer.h"

#include <stdlib.h>

struct guess {
	double at;
	uint32_t node;
};

static int earlier(const void *a, const void *b)
{
	const struct guess *x = a, *y = b;
	if (x->at < y->at || x->at > y->at)
		return x->at < y->at ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

static bool all_have_times(const struct kr_asg *asg)
{
	for (uint32_t t = 0; t < asg->ntxns; t++) {
		if (asg->txns[t].presence == KR_PRESENT && !asg->txns[t].outcome_unknown && !asg->txns[t].has_end)
			return false;
	}
	return true;
}

static void guess_by_time(const struct kr_ir *ir, struct guess *guesses)
{
	for (uint32_t v = 0; v < ir->nnodes; v++) {
		kr_txn t = kr_ir_txn(ir, (kr_node){v});
		const struct kr_asg_txn *txn = t.i == KR_NONE ? NULL : &ir->asg->txns[t.i];
		double at = txn == NULL ? -1e300 : txn->has_end ? (double)txn->end : txn->has_begin ? (double)txn->begin : 0;
		guesses[v] = (struct guess){at, v};
	}
}

/* `done`: transactions of the session so far; `total`: all of them. */
static void guess_by_progress(const struct kr_ir *ir, struct guess *guesses, uint32_t *done, uint32_t *total)
{
	const struct kr_asg *asg = ir->asg;
	for (uint32_t t = 0; t < asg->ntxns; t++) {
		if (asg->txns[t].session != KR_NONE)
			total[asg->txns[t].session]++;
	}
	for (uint32_t v = 0; v < ir->nnodes; v++) {
		kr_txn t = kr_ir_txn(ir, (kr_node){v});
		uint32_t session = t.i == KR_NONE ? KR_NONE : asg->txns[t.i].session;
		double at = t.i == KR_NONE ? -1 : (t.i + 0.5) / asg->ntxns;
		if (session != KR_NONE) {
			bool last_node = ir->level->model == KR_NODES_TXN || (v & 1);
			at = (done[session] + 0.5) / total[session];
			done[session] += last_node;
		}
		guesses[v] = (struct guess){at, v};
	}
}

enum kr_status kr_prefer_clients(const struct kr_ir *ir, uint32_t *place)
{
	struct kr_mem *mem = &ir->ctx->mem;
	uint32_t sessions = ir->asg->nsessions;
	struct guess *guesses = kr_mem_alloc(mem, ir->nnodes, sizeof *guesses);
	uint32_t *done = kr_mem_alloc(mem, sessions, sizeof *done);
	uint32_t *total = kr_mem_alloc(mem, sessions, sizeof *total);
	bool ok = guesses && done && total;
	if (ok && all_have_times(ir->asg))
		guess_by_time(ir, guesses);
	else if (ok)
		guess_by_progress(ir, guesses, done, total);
	if (ok && ir->nnodes > 1)
		qsort(guesses, ir->nnodes, sizeof *guesses, earlier);
	for (uint32_t i = 0; ok && i < ir->nnodes; i++)
		place[guesses[i].node] = i;
	kr_mem_free(mem, guesses, ir->nnodes, sizeof *guesses);
	kr_mem_free(mem, done, sessions, sizeof *done);
	kr_mem_free(mem, total, sessions, sizeof *total);
	return ok ? KR_OK : KR_NOMEM;
}
