/* The first candidates of each set. Three are enough to tell none, one and more apart for every observer: it
 * writes at most one of them itself. */
#include "passes/only.h"

enum kr_status kr_only_init(struct kr_only *only, const struct kr_ir *ir)
{
	*only = (struct kr_only){ir, kr_mem_alloc(&ir->ctx->mem, ir->asg->nsets, sizeof *only->sets)};
	return only->sets ? KR_OK : KR_NOMEM;
}

void kr_only_done(struct kr_only *only)
{
	if (only->ir)
		kr_mem_free(&only->ir->ctx->mem, only->sets, only->ir->asg->nsets, sizeof *only->sets);
	*only = (struct kr_only){0};
}

static void fill(struct kr_only_set *set, const struct kr_ir *ir, kr_obs o)
{
	const struct kr_asg *asg = ir->asg;
	kr_candidates it = kr_asg_candidates(asg, o);
	kr_version v;

	it.self.i = KR_NONE;
	set->tag = asg->obs[o.i].key.i + 1;
	set->n = 0;
	while (set->n < KR_COUNT(set->first) && kr_asg_next(asg, &it, &v)) {
		kr_txn writer = asg->versions[v.i].writer;

		if (writer.i == KR_NONE || ir->presence[writer.i] != KR_ABSENT_TXN)
			set->first[set->n++] = v;
	}
}

static uint32_t find_alone(const struct kr_ir *ir, const struct kr_asg_set *set, kr_txn observer,
	kr_version *v)
{
	*v = ir->asg->members[set->first];

	kr_txn writer = ir->asg->versions[v->i].writer;

	return writer.i == KR_NONE || (writer.i != observer.i && ir->presence[writer.i] != KR_ABSENT_TXN);
}

uint32_t kr_only_find(struct kr_only *only, kr_obs o, kr_version *v)
{
	const struct kr_asg *asg = only->ir->asg;
	const struct kr_observation *obs = &asg->obs[o.i];
	struct kr_only_set *set = &only->sets[obs->set];
	uint32_t n = 0;

	if (asg->sets[obs->set].count == 1 && !asg->sets[obs->set].complement)
		return find_alone(only->ir, &asg->sets[obs->set], obs->txn, v);
	if (set->tag != obs->key.i + 1)
		fill(set, only->ir, o);
	for (uint32_t i = 0; i < set->n && n < 2; i++) {
		if (asg->versions[set->first[i].i].writer.i == obs->txn.i)
			continue;
		*v = set->first[i];
		n++;
	}
	return n;
}
