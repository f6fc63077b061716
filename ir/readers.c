/* Versions and those that saw them (readers.h). */
#include "ir/readers.h"

#include <string.h>

enum kr_status kr_readers_init(struct kr_readers *readers, const struct kr_ir *ir)
{
	const struct kr_asg *asg = ir->asg;
	struct kr_mem *mem = &ir->ctx->mem;
	KR_TRY(kr_mem_new(mem, readers->head, asg->nversions));
	KR_TRY(kr_mem_new(mem, readers->next, asg->nobs));
	memset(readers->head, 0xff, asg->nversions * sizeof *readers->head);
	for (uint32_t o = asg->nobs; o-- > 0;) {
		kr_version seen = ir->source[o];
		if (seen.i == KR_NONE || !kr_ir_is_present(ir, asg->obs[o].txn))
			continue;
		readers->next[o] = readers->head[seen.i];
		readers->head[seen.i] = o;
	}
	return KR_OK;
}

void kr_readers_done(struct kr_readers *readers, const struct kr_ir *ir)
{
	kr_mem_free(&ir->ctx->mem, readers->head, ir->asg->nversions, sizeof *readers->head);
	kr_mem_free(&ir->ctx->mem, readers->next, ir->asg->nobs, sizeof *readers->next);
}

bool kr_readers_mind(const struct kr_ir *ir, uint32_t o, kr_version v)
{
	const struct kr_observation *obs = &ir->asg->obs[o];
	if (obs->txn.i == ir->asg->versions[v.i].writer.i || !kr_ir_rw_counts(ir, (kr_obs){o}))
		return false;
	return !obs->predicate || !kr_asg_in_set(ir->asg, obs->set, v);
}
