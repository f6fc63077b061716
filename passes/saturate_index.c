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
	const struct kr_asg *asg = s->ir->asg;
	KR_TRY(kr_arena_new(&s->arena, s->reader_head, asg->nversions));
	KR_TRY(kr_arena_new(&s->arena, s->reader_next, asg->nobs));
	KR_TRY(kr_arena_new(&s->arena, s->matched, KR_BITS_WORDS(asg->nversions)));
	KR_TRY(kr_arena_new(&s->arena, s->nearest, asg->nversions));
	/* all observations, or none where none is open */
	KR_TRY(kr_arena_new(&s->arena, s->watch, kr_ir_known_sources(s->ir) < asg->nobs ? asg->nobs : 0));
	KR_TRY(kr_arena_new(&s->arena, s->begun, s->ir->nnodes));
	KR_TRY(kr_arena_new(&s->arena, s->bound, asg->nkeys));
	KR_TRY(kr_arena_new(&s->arena, s->closed, KR_BITS_WORDS(asg->nkeys)));
	KR_TRY(kr_arena_new(&s->arena, s->reads, KR_BITS_WORDS(asg->nobs)));
	KR_TRY(kr_arena_new(&s->arena, s->writes, KR_BITS_WORDS(asg->nversions)));
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
	*s = (struct kr_saturation){.arena = {.mem = &ir->ctx->mem}, .ir = ir};
	KR_TRY(kr_chains_init(&s->chains, ir, ir->clock));
	KR_TRY(index_readers(s));
	KR_TRY(kr_saturation_close(s));
	kr_saturation_list_open(s);
	return KR_OK;
}

void kr_saturation_done(struct kr_saturation *s)
{
	struct kr_mem *mem = &s->ir->ctx->mem;
	const struct kr_asg *asg = s->ir->asg;
	kr_chains_done(&s->chains, mem, asg);
	kr_arena_done(&s->arena);
}
