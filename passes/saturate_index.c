/* Indices of pass `saturate`: per key the writers of each tracked chain in chain order, per version its
 * readers. Count, allocate once, fill; O(nodes + versions). */
#include <string.h>

#include "base/bits.h"
#include "base/order.h"
#include "passes/saturate.h"

/* A writer by key, chain, position. */
struct entry {
	uint32_t key, chain, position, version;
};

static bool counts(const struct kr_ir *ir, kr_txn writer)
{
	return writer.i != KR_NONE && ir->presence[writer.i] != KR_ABSENT_TXN &&
		ir->clock->chain[kr_ir_out(ir, KR_WW, writer).i] != KR_NONE;
}

/* Where writers' edges leave, by chain and position: a chain's positions go with the ranks. *first: per
 * chain, and two more. */
static kr_node *list_nodes(const struct kr_ir *ir, uint32_t *first)
{
	const struct kr_clock *c = ir->clock;
	kr_node *list = kr_mem_alloc(&ir->ctx->mem, c->nnodes, sizeof *list);
	for (uint32_t v = 0; list && v < c->nnodes; v++)
		if (c->chain[v] != KR_NONE)
			first[c->chain[v] + 2]++;
	kr_index_places(first, c->nchains);
	for (uint32_t r = 0; list && r < c->nnodes; r++)
		if (c->chain[c->by_rank[r]] != KR_NONE)
			list[first[c->chain[c->by_rank[r]] + 1]++].i = c->by_rank[r];
	return list;
}

/* The writers of each key, in the order of the nodes; `first`: per key, and two more. */
static void list_entries(const struct kr_ir *ir, const kr_node *nodes, uint32_t n, uint32_t *first,
	struct entry *entries)
{
	const struct kr_asg *asg = ir->asg;
	for (uint32_t i = 0; i < n; i++) {
		kr_txn t = kr_ir_txn(ir, nodes[i]);
		if (t.i == KR_NONE || !counts(ir, t) || kr_ir_out(ir, KR_WW, t).i != nodes[i].i)
			continue;
		for (uint32_t j = asg->written_first[t.i]; j < asg->written_first[t.i + 1]; j++) {
			uint32_t v = asg->written[j].i, key = asg->versions[v].key.i;
			entries[first[key + 1]++] = (struct entry){key, ir->clock->chain[nodes[i].i],
				ir->clock->position[nodes[i].i], v};
		}
	}
}

static enum kr_status sort_writers(struct kr_saturation *s, uint32_t *by_chain, uint32_t *by_key,
	struct entry **entries)
{
	const struct kr_ir *ir = s->ir;
	const struct kr_asg *asg = ir->asg;
	kr_node *nodes = list_nodes(ir, by_chain);
	for (uint32_t v = 0; v < asg->nversions; v++)
		if (counts(ir, asg->versions[v].writer))
			by_key[asg->versions[v].key.i + 2]++;
	kr_index_places(by_key, asg->nkeys);
	s->nwriters = by_key[asg->nkeys + 1];
	*entries = kr_mem_alloc(&ir->ctx->mem, s->nwriters, sizeof **entries);
	if (nodes && *entries)
		list_entries(ir, nodes, by_chain[ir->clock->nchains], by_key, *entries);
	kr_mem_free(&ir->ctx->mem, nodes, ir->clock->nnodes, sizeof *nodes);
	return nodes && *entries ? KR_OK : KR_NOMEM;
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

static enum kr_status keep_writers(struct kr_saturation *s, const struct entry *entries)
{
	struct kr_mem *mem = &s->ir->ctx->mem;
	s->nsegments = count_segments(entries, s->nwriters);
	s->writers = kr_mem_alloc(mem, s->nwriters, sizeof *s->writers);
	s->segments = kr_mem_alloc(mem, s->nsegments, sizeof *s->segments);
	s->segment_first = kr_mem_alloc(mem, (size_t)s->ir->asg->nkeys + 1, sizeof *s->segment_first);
	if (!s->writers || !s->segments || !s->segment_first)
		return KR_NOMEM;
	fill_segments(s, entries);
	return KR_OK;
}

static enum kr_status index_writers(struct kr_saturation *s)
{
	struct kr_mem *mem = &s->ir->ctx->mem;
	size_t chains = (size_t)s->ir->clock->nchains + 2, keys = (size_t)s->ir->asg->nkeys + 2;
	uint32_t *by_chain = kr_mem_alloc(mem, chains, sizeof *by_chain);
	uint32_t *by_key = kr_mem_alloc(mem, keys, sizeof *by_key);
	struct entry *entries = NULL;
	enum kr_status status = by_chain && by_key ? sort_writers(s, by_chain, by_key, &entries) : KR_NOMEM;
	if (!status)
		status = keep_writers(s, entries);
	kr_mem_free(mem, entries, s->nwriters, sizeof *entries);
	kr_mem_free(mem, by_chain, chains, sizeof *by_chain);
	kr_mem_free(mem, by_key, keys, sizeof *by_key);
	return status;
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
