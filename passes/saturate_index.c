/* Indices of pass `saturate`: per key the writers of each tracked chain in chain order (chains.c), per
 * version its readers. */
#include "base/bits.h"
#include "passes/saturate.h"

void kr_saturation_saw(struct kr_saturation *s, kr_obs o, kr_version seen)
{
	const struct kr_asg *asg = s->ir->asg;
	kr_key k = asg->obs[o.i].key;
	s->reader_next[o.i] = s->reader_head[seen.i];
	s->reader_head[seen.i] = o.i;
	if (asg->obs[o.i].predicate) {
		kr_bits_set(s->matched, seen.i);
		s->any_matched = true;
	}
	if (asg->keys[k.i].open_initial && kr_asg_is_initial(asg, seen) && s->bound[k.i] == KR_NONE)
		s->bound[k.i] = asg->obs[o.i].set;
}

static enum kr_status index_readers(struct kr_saturation *s)
{
	struct kr_mem *mem = &s->ir->ctx->mem;
	const struct kr_asg *asg = s->ir->asg;
	s->reader_head = kr_mem_alloc(mem, asg->nversions, sizeof *s->reader_head);
	s->reader_next = kr_mem_alloc(mem, asg->nobs, sizeof *s->reader_next);
	s->matched = kr_mem_alloc(mem, KR_BITS_WORDS(asg->nversions), sizeof *s->matched);
	s->nearest = kr_mem_alloc(mem, asg->nversions, sizeof *s->nearest);
	s->watched = kr_ir_known_sources(s->ir) < asg->nobs ? asg->nobs : 0;
	s->watch = kr_mem_alloc(mem, s->watched, sizeof *s->watch);
	s->begun = kr_mem_alloc(mem, s->ir->nnodes, sizeof *s->begun);
	s->bound = kr_mem_alloc(mem, asg->nkeys, sizeof *s->bound);
	s->closed = kr_mem_alloc(mem, KR_BITS_WORDS(asg->nkeys), sizeof *s->closed);
	if (!s->reader_head || !s->reader_next || !s->matched || !s->nearest || !s->watch || !s->begun ||
		!s->bound || !s->closed)
		return KR_NOMEM;
	for (uint32_t k = 0; k < asg->nkeys; k++)
		s->bound[k] = KR_NONE;
	for (uint32_t v = 0; v < asg->nversions; v++)
		s->reader_head[v] = s->nearest[v].i = KR_NONE;
	for (uint32_t o = 0; o < asg->nobs; o++) {
		kr_version seen = s->ir->source[o];
		s->reader_next[o] = KR_NONE;
		if (seen.i == KR_NONE) {
			s->watch[o][0] = s->watch[o][1] = seen;
			continue;
		}
		kr_saturation_saw(s, (kr_obs){o}, seen);
	}
	return KR_OK;
}

enum kr_status kr_saturation_init(struct kr_saturation *s, struct kr_ir *ir)
{
	*s = (struct kr_saturation){.ir = ir};
	KR_TRY(kr_chains_init(&s->chains, ir, ir->clock));
	KR_TRY(index_readers(s));
	return kr_saturation_close(s);
}

void kr_saturation_done(struct kr_saturation *s)
{
	struct kr_mem *mem = &s->ir->ctx->mem;
	const struct kr_asg *asg = s->ir->asg;
	kr_chains_done(&s->chains, mem, asg);
	kr_mem_free(mem, s->reader_head, asg->nversions, sizeof *s->reader_head);
	kr_mem_free(mem, s->reader_next, asg->nobs, sizeof *s->reader_next);
	kr_mem_free(mem, s->matched, KR_BITS_WORDS(asg->nversions), sizeof *s->matched);
	kr_mem_free(mem, s->nearest, asg->nversions, sizeof *s->nearest);
	kr_mem_free(mem, s->watch, s->watched, sizeof *s->watch);
	kr_mem_free(mem, s->bound, asg->nkeys, sizeof *s->bound);
	kr_mem_free(mem, s->closed, KR_BITS_WORDS(asg->nkeys), sizeof *s->closed);
	kr_mem_free(mem, s->begun, s->ir->nnodes, sizeof *s->begun);
}
