/* Indices of pass `saturate`: per key the writers of each tracked chain in chain order, per version its
 * readers. Count, allocate once, fill; O(versions log versions). */
#include <string.h>

#include "base/bits.h"
#include "base/order.h"
#include "passes/saturate.h"

/* A writer while sorting: by key, chain, position. */
struct entry {
	uint32_t key, chain, position, version;
};

static int by_place(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	return kr_then(KR_ORDER(x->key, y->key),
		kr_then(KR_ORDER(x->chain, y->chain), KR_ORDER(x->position, y->position)));
}

static uint32_t collect(const struct kr_ir *ir, struct entry *entries)
{
	const struct kr_asg *asg = ir->asg;
	uint32_t n = 0;
	for (uint32_t v = 0; v < asg->nversions; v++) {
		kr_txn w = asg->versions[v].writer;
		if (w.i == KR_NONE || ir->presence[w.i] == KR_ABSENT_TXN)
			continue;
		kr_node node = kr_ir_out(ir, KR_WW, w);
		if (ir->clock->chain[node.i] == KR_NONE)
			continue;
		if (entries)
			entries[n] = (struct entry){asg->versions[v].key.i, ir->clock->chain[node.i],
				ir->clock->position[node.i], v};
		n++;
	}
	return n;
}

static uint32_t count_segments(const struct entry *entries, uint32_t n)
{
	uint32_t segments = 0;
	for (uint32_t i = 0; i < n; i++)
		segments += i == 0 || entries[i].key != entries[i - 1].key ||
			entries[i].chain != entries[i - 1].chain;
	return segments;
}

static void fill_segments(struct kr_saturation *s, const struct entry *entries)
{
	uint32_t segment = 0, key = 0;
	for (uint32_t i = 0; i < s->nwriters; i++) {
		if (i == 0 || entries[i].key != entries[i - 1].key ||
			entries[i].chain != entries[i - 1].chain) {
			while (key <= entries[i].key)
				s->segment_first[key++] = segment;
			s->segments[segment++] = (struct kr_segment){entries[i].chain, i, 0};
		}
		s->segments[segment - 1].count++;
		s->writers[i] = (struct kr_chain_writer){{entries[i].version}, entries[i].position};
	}
	while (key <= s->ir->asg->nkeys)
		s->segment_first[key++] = segment;
}

static enum kr_status index_writers(struct kr_saturation *s)
{
	struct kr_mem *mem = &s->ir->ctx->mem;
	s->nwriters = collect(s->ir, NULL);
	struct entry *entries = kr_mem_alloc(mem, s->nwriters, sizeof *entries);
	if (!entries)
		return KR_NOMEM;
	collect(s->ir, entries);
	KR_SORT(entries, s->nwriters, by_place);
	s->nsegments = count_segments(entries, s->nwriters);
	s->writers = kr_mem_alloc(mem, s->nwriters, sizeof *s->writers);
	s->segments = kr_mem_alloc(mem, s->nsegments, sizeof *s->segments);
	s->segment_first = kr_mem_alloc(mem, (size_t)s->ir->asg->nkeys + 1, sizeof *s->segment_first);
	bool ok = s->writers && s->segments && s->segment_first;
	if (ok)
		fill_segments(s, entries);
	kr_mem_free(mem, entries, s->nwriters, sizeof *entries);
	return ok ? KR_OK : KR_NOMEM;
}

void kr_saturation_saw(struct kr_saturation *s, kr_obs o, kr_version seen)
{
	const struct kr_asg *asg = s->ir->asg;
	kr_key k = asg->obs[o.i].key;
	s->reader_next[o.i] = s->reader_head[seen.i];
	s->reader_head[seen.i] = o.i;
	if (asg->obs[o.i].predicate)
		kr_bits_set(s->matched, seen.i);
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
	s->watch = kr_mem_alloc(mem, asg->nobs, sizeof *s->watch);
	s->begun = kr_mem_alloc(mem, s->ir->nnodes, sizeof *s->begun);
	s->bound = kr_mem_alloc(mem, asg->nkeys, sizeof *s->bound);
	if (!s->reader_head || !s->reader_next || !s->matched || !s->nearest || !s->watch || !s->begun ||
		!s->bound)
		return KR_NOMEM;
	for (uint32_t k = 0; k < asg->nkeys; k++)
		s->bound[k] = KR_NONE;
	for (uint32_t v = 0; v < asg->nversions; v++)
		s->reader_head[v] = s->nearest[v].i = KR_NONE;
	for (uint32_t o = 0; o < asg->nobs; o++) {
		s->reader_next[o] = s->watch[o][0].i = s->watch[o][1].i = KR_NONE;
		kr_version seen = s->ir->source[o];
		if (seen.i == KR_NONE)
			continue;
		kr_saturation_saw(s, (kr_obs){o}, seen);
	}
	return KR_OK;
}

enum kr_status kr_saturation_init(struct kr_saturation *s, struct kr_ir *ir)
{
	*s = (struct kr_saturation){.ir = ir};
	KR_TRY(index_writers(s));
	return index_readers(s);
}

void kr_saturation_done(struct kr_saturation *s)
{
	struct kr_mem *mem = &s->ir->ctx->mem;
	const struct kr_asg *asg = s->ir->asg;
	kr_mem_free(mem, s->writers, s->nwriters, sizeof *s->writers);
	kr_mem_free(mem, s->segments, s->nsegments, sizeof *s->segments);
	kr_mem_free(mem, s->segment_first, (size_t)asg->nkeys + 1, sizeof *s->segment_first);
	kr_mem_free(mem, s->reader_head, asg->nversions, sizeof *s->reader_head);
	kr_mem_free(mem, s->reader_next, asg->nobs, sizeof *s->reader_next);
	kr_mem_free(mem, s->matched, KR_BITS_WORDS(asg->nversions), sizeof *s->matched);
	kr_mem_free(mem, s->nearest, asg->nversions, sizeof *s->nearest);
	kr_mem_free(mem, s->watch, asg->nobs, sizeof *s->watch);
	kr_mem_free(mem, s->bound, asg->nkeys, sizeof *s->bound);
	kr_mem_free(mem, s->begun, s->ir->nnodes, sizeof *s->begun);
}
