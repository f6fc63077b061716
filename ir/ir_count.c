/* Counts of the IR for --stats: edges by kind, and what is still open.
 *
 * Open pairs of a key: all pairs of its writers less those that known edges order. With a clock the ordered
 * ones are counted exactly, without looking at pairs: the key's writers are grouped by chain, in chain order;
 * for every writer and group, a binary search finds how many of the group reach it. Those on untracked chains
 * count as unordered. Without a clock no pair counts as ordered. Cost: O(edges + observations), and with a
 * clock O(n * groups * log n) for a key with n writers. */
#include "ir/ir.h"

#include "base/order.h"
#include "ir/clock.h"

struct place {
	uint32_t chain, position;
	kr_txn writer;
};

KR_BY_BOTH(compare, struct place, chain, position);

/* The writers of a key that may have taken effect, by chain and position; those on no chain last. `out` has
 * room for all its versions. */
static uint32_t list_writers(const struct kr_ir *ir, uint32_t key, struct place *out)
{
	const struct kr_asg *asg = ir->asg;
	uint32_t n = 0;

	for (uint32_t v = asg->keys[key].first + 1; v < asg->keys[key + 1].first; v++) {
		kr_txn writer = asg->versions[v].writer;

		if (ir->presence[writer.i] == KR_ABSENT_TXN)
			continue;
		out[n] = (struct place){.writer = writer};
		if (ir->clock) {
			kr_node node = kr_ir_out(ir, KR_WW, writer);

			out[n].chain = ir->clock->chain[node.i];
			out[n].position = ir->clock->position[node.i];
		}
		n++;
	}
	if (ir->clock)
		KR_SORT(out, n, compare);
	return n;
}

/* Writers of one chain at or before a position. */
static uint32_t upto(const struct place *group, uint32_t n, uint32_t position)
{
	uint32_t at;

	KR_BISECT(at, 0, n, group[at].position <= position);
	return at;
}

/* Pairs (a, b) with a in the group and b any writer, where a reaches b. */
static uint64_t reaching(const struct kr_ir *ir, const struct place *group, uint32_t n,
	const struct place *all, uint32_t nall)
{
	uint64_t pairs = 0;

	for (uint32_t i = 0; i < nall; i++)
		pairs += upto(group, n,
			kr_clock_last(ir->clock, group->chain, kr_ir_in(ir, KR_WW, all[i].writer)));
	return pairs;
}

static enum kr_status count_ordered(const struct kr_ir *ir, const struct place *writers, uint32_t n,
	uint64_t *pairs)
{
	uint32_t end;

	*pairs = 0;
	for (uint32_t first = 0; first < n && writers[first].chain != KR_NONE; first = end) {
		for (end = first + 1; end < n && writers[end].chain == writers[first].chain;)
			end++;
		*pairs += reaching(ir, writers + first, end - first, writers, n);

		KR_TRY(kr_ctx_check(ir->ctx));
	}
	return KR_OK;
}

static enum kr_status count_pairs(const struct kr_ir *ir, struct place *places, struct kr_ir_counts *out)
{
	for (uint32_t k = 0; k < ir->asg->nkeys; k++) {
		uint32_t n = list_writers(ir, k, places);
		uint64_t ordered = 0;
		KR_TRY(ir->clock ? count_ordered(ir, places, n, &ordered) : kr_ctx_tick(ir->ctx));

		uint64_t all = n > 1 ? (uint64_t)n * (n - 1) / 2 : 0;

		if (ordered < all) {
			out->open_keys++;
			out->open_pairs += all - ordered;
		}
	}
	return KR_OK;
}

static uint32_t most_versions(const struct kr_asg *asg)
{
	uint32_t most = 0;

	for (uint32_t k = 0; k < asg->nkeys; k++) {
		uint32_t n = asg->keys[k + 1].first - asg->keys[k].first;

		if (n > most)
			most = n;
	}
	return most;
}

enum kr_status kr_ir_count(const struct kr_ir *ir, struct kr_ir_counts *out)
{
	const struct kr_asg *asg = ir->asg;
	struct kr_ir_counts counts = {0};
	uint32_t most = most_versions(asg);
	struct place *places = kr_mem_alloc(&ir->ctx->mem, most, sizeof *places);

	if (!places)
		return KR_NOMEM;
	for (uint32_t e = 0; e < ir->edges.n; e++)
		counts.edges[ir->edges.at[e].kind]++;
	for (uint32_t t = 0; t < asg->ntxns; t++)
		counts.open_presences += ir->presence[t] == KR_OPEN;
	for (uint32_t o = 0; o < asg->nobs; o++)
		counts.open_sources += ir->source[o].i == KR_NONE && kr_ir_is_present(ir, asg->obs[o].txn);

	enum kr_status status = count_pairs(ir, places, &counts);

	kr_mem_free(&ir->ctx->mem, places, most, sizeof *places);
	if (!status)
		*out = counts;
	return status;
}
