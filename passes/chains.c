/* Nodes are taken chain by chain, and the versions of their writers put to their keys: that sorts each
 * key's by chain and position (chains.h). Count, allocate once, fill. */
#include "passes/chains.h"

#include "base/order.h"

struct indexing {
	struct kr_arena arena;
	const struct kr_ir *ir;
	const struct kr_clock *clock;
	struct kr_chains *out;
	kr_node *nodes;     /* tracked ones, by chain and position */
	uint32_t *by_chain; /* per chain, and two more: into nodes */
	uint32_t *by_key;   /* per key, and two more: into out->writers */
};

static bool counts(const struct indexing *x, kr_txn writer)
{
	return writer.i != KR_NONE && x->ir->presence[writer.i] != KR_ABSENT_TXN &&
		x->clock->chain[kr_ir_out(x->ir, KR_WW, writer).i] != KR_NONE;
}

/* A chain's positions go with the ranks. */
static void list_nodes(struct indexing *x)
{
	const struct kr_clock *c = x->clock;
	for (uint32_t v = 0; v < c->nnodes; v++)
		if (c->chain[v] != KR_NONE)
			x->by_chain[c->chain[v] + 2]++;
	kr_index_places(x->by_chain, c->nchains);
	for (uint32_t r = 0; r < c->nnodes; r++)
		if (c->chain[c->by_rank[r]] != KR_NONE)
			x->nodes[x->by_chain[c->chain[c->by_rank[r]] + 1]++].i = c->by_rank[r];
}

static void list_writers(struct indexing *x)
{
	const struct kr_asg *asg = x->ir->asg;
	for (uint32_t i = 0; i < x->by_chain[x->clock->nchains]; i++) {
		kr_node v = x->nodes[i];
		kr_txn t = kr_ir_txn(x->ir, v);
		if (t.i == KR_NONE || !counts(x, t) || kr_ir_out(x->ir, KR_WW, t).i != v.i)
			continue;
		for (uint32_t j = asg->written_first[t.i]; j < asg->written_first[t.i + 1]; j++) {
			uint32_t version = asg->written[j].i, key = asg->versions[version].key.i;
			x->out->writers[x->by_key[key + 1]++] =
				(struct kr_chain_writer){{version}, x->clock->position[v.i]};
		}
	}
}

static enum kr_status sort_writers(struct indexing *x)
{
	const struct kr_asg *asg = x->ir->asg;
	struct kr_mem *mem = &x->ir->ctx->mem;
	KR_TRY(kr_arena_new(&x->arena, x->nodes, x->clock->nnodes));
	KR_TRY(kr_arena_new(&x->arena, x->by_chain, (size_t)x->clock->nchains + 2));
	KR_TRY(kr_arena_new(&x->arena, x->by_key, (size_t)asg->nkeys + 2));
	list_nodes(x);
	for (uint32_t v = 0; v < asg->nversions; v++)
		if (counts(x, asg->versions[v].writer))
			x->by_key[asg->versions[v].key.i + 2]++;
	kr_index_places(x->by_key, asg->nkeys);
	x->out->nwriters = x->by_key[asg->nkeys + 1];
	KR_TRY(kr_mem_new(mem, x->out->writers, x->out->nwriters));
	list_writers(x);
	return KR_OK;
}

static const struct kr_asg_version *version_of(const struct indexing *x, uint32_t i)
{
	return &x->ir->asg->versions[x->out->writers[i].version.i];
}

static uint32_t chain_of(const struct indexing *x, uint32_t i)
{
	return x->clock->chain[kr_ir_out(x->ir, KR_WW, version_of(x, i)->writer).i];
}

static bool begins_segment(const struct indexing *x, uint32_t i)
{
	return i == 0 || version_of(x, i)->key.i != version_of(x, i - 1)->key.i ||
		chain_of(x, i) != chain_of(x, i - 1);
}

static enum kr_status make_segments(const struct indexing *x)
{
	struct kr_mem *mem = &x->ir->ctx->mem;
	struct kr_chains *c = x->out;
	uint32_t segment = 0, key = 0;
	for (uint32_t i = 0; i < c->nwriters; i++)
		c->nsegments += begins_segment(x, i);
	KR_TRY(kr_mem_new(mem, c->segments, c->nsegments));
	KR_TRY(kr_mem_new(mem, c->segment_first, (size_t)x->ir->asg->nkeys + 1));
	c->words = x->clock->words;
	KR_TRY(kr_mem_new(mem, c->has, (size_t)x->ir->asg->nkeys * c->words));
	for (uint32_t i = 0; i < c->nwriters; i++) {
		uint32_t position = c->writers[i].position;
		while (key <= version_of(x, i)->key.i)
			c->segment_first[key++] = segment;
		if (begins_segment(x, i)) {
			c->segments[segment++] = (struct kr_segment){chain_of(x, i), i, 0, position, 0};
			kr_bits_set(c->has + (size_t)version_of(x, i)->key.i * c->words, chain_of(x, i));
		}
		c->segments[segment - 1].count++;
		c->segments[segment - 1].to = position;
	}
	while (key <= x->ir->asg->nkeys)
		c->segment_first[key++] = segment;
	return KR_OK;
}

enum kr_status kr_chains_init(struct kr_chains *c, const struct kr_ir *ir, const struct kr_clock *clock)
{
	struct indexing x = {.arena = {.mem = &ir->ctx->mem}, .ir = ir, .clock = clock, .out = c};
	enum kr_status status = sort_writers(&x);
	if (!status)
		status = make_segments(&x);
	kr_arena_done(&x.arena);
	return status;
}

void kr_chains_done(struct kr_chains *c, struct kr_mem *mem, const struct kr_asg *asg)
{
	kr_mem_free(mem, c->writers, c->nwriters, sizeof *c->writers);
	kr_mem_free(mem, c->segments, c->nsegments, sizeof *c->segments);
	kr_mem_free(mem, c->segment_first, (size_t)asg->nkeys + 1, sizeof *c->segment_first);
	kr_mem_free(mem, c->has, (size_t)asg->nkeys * c->words, sizeof *c->has);
}

uint32_t kr_chains_upto(const struct kr_chains *c, const struct kr_segment *segment, uint32_t position)
{
	const struct kr_chain_writer *w = c->writers + segment->first;
	uint32_t at;
	if (segment->count == 1) /* most have one */
		return w->position <= position;
	KR_BISECT(at, 0, segment->count, w[at].position <= position);
	return at;
}
