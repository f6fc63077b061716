/* Keys whose order of versions is known as a whole before pass `saturate` begins: along it rw edges lead from
 * who saw a version to the next one, and nothing more is to be found. If a writer reaches who saw an earlier
 * version, the rw edge to the next one closes a cycle; if it reaches who saw a later one, that is no news.
 * So where rw are edges such keys need not be looked at again. Not so where an observation may pass over the
 * next version, or its writer may be absent. Cost: O(versions * log), and the readers. */
#include "base/bits.h"
#include "base/order.h"
#include "passes/saturate.h"

struct placed {
	uint32_t rank, version;
};

KR_BY(by_rank, struct placed, rank);

/* Keys of predicate observations are none of these. */
static void leave_out_predicates(struct kr_saturation *s)
{
	const struct kr_asg *asg = s->ir->asg;
	for (uint32_t k = 0; k < asg->nkeys; k++)
		kr_bits_set(s->closed, k);
	for (uint32_t o = 0; o < asg->nobs; o++)
		if (asg->obs[o].predicate)
			kr_bits_clear(s->closed, asg->obs[o].key.i);
}

/* The key's versions in the order of the ranks; false: some writer may be absent, or is not in the clock. */
static bool list_versions(const struct kr_saturation *s, kr_key k, struct placed *out, uint32_t *count)
{
	const struct kr_ir *ir = s->ir;
	uint32_t first = ir->asg->keys[k.i].first + 1, end = ir->asg->keys[k.i + 1].first;
	*count = end - first;
	for (uint32_t v = first; v < end; v++) {
		kr_txn w = ir->asg->versions[v].writer;
		uint32_t node = kr_ir_out(ir, KR_WW, w).i;
		if (!kr_ir_is_present(ir, w) || ir->clock->chain[node] == KR_NONE)
			return false;
		out[v - first] = (struct placed){ir->clock->rank[node], v};
	}
	KR_SORT(out, *count, by_rank);
	return true;
}

static bool is_ordered(const struct kr_ir *ir, const struct placed *versions, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++)
		if (!kr_clock_implies(ir, KR_WW, ir->asg->versions[versions[i - 1].version].writer,
			    ir->asg->versions[versions[i].version].writer))
			return false;
	return true;
}

static enum kr_status link_readers(struct kr_saturation *s, kr_key k, const struct placed *versions,
	uint32_t count)
{
	kr_version seen = kr_asg_initial(s->ir->asg, k);
	for (uint32_t i = 0; i < count; i++) {
		KR_TRY(kr_saturation_rw_from_readers(s, seen, (kr_version){versions[i].version}));
		seen.i = versions[i].version;
	}
	return KR_OK;
}

/* First all keys are looked at, while what the clock says is of the graph as it was. */
static enum kr_status find_closed(struct kr_saturation *s, struct placed *placed, bool links)
{
	const struct kr_asg *asg = s->ir->asg;
	for (kr_key k = {0}; k.i < asg->nkeys; k.i++) {
		struct placed *versions = placed + asg->keys[k.i].first;
		uint32_t count;
		if (!kr_bits_get(s->closed, k.i))
			continue;
		KR_TRY(kr_ctx_tick(s->ir->ctx));
		if (links)
			KR_TRY(link_readers(s, k, versions,
				asg->keys[k.i + 1].first - asg->keys[k.i].first - 1));
		else if (!list_versions(s, k, versions, &count) || !is_ordered(s->ir, versions, count))
			kr_bits_clear(s->closed, k.i);
	}
	return KR_OK;
}

enum kr_status kr_saturation_close(struct kr_saturation *s)
{
	const struct kr_ir *ir = s->ir;
	struct kr_mem *mem = &ir->ctx->mem;
	const struct kr_pattern *first = &ir->level->forbidden[0];
	if (!kr_level_orders(ir->level, KR_RW) || first->one_reader || first->item_only)
		return KR_OK;
	struct placed *placed = kr_mem_alloc(mem, ir->asg->nversions, sizeof *placed);
	if (!placed)
		return KR_NOMEM;
	leave_out_predicates(s);
	enum kr_status status = find_closed(s, placed, false);
	if (!status)
		status = find_closed(s, placed, true);
	kr_mem_free(mem, placed, ir->asg->nversions, sizeof *placed);
	return status;
}

static bool is_open_read(const struct kr_saturation *s, kr_obs o)
{
	const struct kr_observation *obs = &s->ir->asg->obs[o.i];
	return !kr_bits_get(s->closed, obs->key.i) || s->ir->source[o.i].i == KR_NONE ||
		!kr_ir_rw_joins(s->ir, obs->txn) || kr_saturation_refutes(s, o);
}

void kr_saturation_list_open(struct kr_saturation *s)
{
	const struct kr_ir *ir = s->ir;
	const struct kr_asg *asg = ir->asg;
	for (kr_obs o = {0}; o.i < asg->nobs; o.i++) {
		if (!is_open_read(s, o))
			continue;
		kr_bits_set(s->reads, o.i);
		kr_clock_wake(ir->clock, kr_ir_in(ir, KR_WR, asg->obs[o.i].txn));
	}
	for (uint32_t i = 0; i < asg->written_first[asg->ntxns]; i++) {
		const struct kr_asg_version *v = &asg->versions[asg->written[i].i];
		if (kr_bits_get(s->closed, v->key.i))
			continue;
		kr_bits_set(s->writes, i);
		kr_clock_wake(ir->clock, kr_ir_out(ir, KR_WW, v->writer));
	}
}
