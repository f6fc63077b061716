/* Cycles of patterns that have exactly one rw, among the edges of a graph that is being built (graph.h). A
 * new rw is looked at by itself; a new edge of another kind may close a cycle with any rw there is, so all of
 * them are looked at again: one search each, in the direction of the definition, and for small inputs only. A
 * pattern of two edges needs no search. Its order edges come from the trace, since the graph has chains of
 * them only. */
#include "backend/graph.h"

struct once {
	struct kr_graph *g;
	const struct kr_asg *asg;
	const struct kr_pattern *pattern;
	struct kr_proof *proof;
	bool *cycle;
};

/* Is the rw one that the pattern has? */
static bool counts(const struct once *s, const struct kr_link *rw)
{
	const struct kr_observation *o = &s->asg->obs[rw->obs.i];

	return rw->kind == KR_RW && kr_pattern_counts(s->pattern, o->predicate, o->loose);
}

/* May the edge come right before the rw? */
static bool may_lead(const struct once *s, const struct kr_link *edge, const struct kr_link *rw)
{
	if (s->pattern->sight == KR_SIGHT_ANY)
		return true;
	return edge->kind == KR_WR &&
		kr_pattern_sees(s->pattern, s->asg->obs[edge->obs.i].op, s->asg->obs[rw->obs.i].op);
}

static bool has(const struct once *s, enum kr_edge_kind kind)
{
	return s->pattern->allowed & ~s->pattern->once & KR_BIT(kind);
}

static enum kr_status end_cycle(struct once *s, enum kr_status status)
{
	*s->cycle = true;
	return status ? status : kr_proof_end(s->proof);
}

/* rw and the edge back. */
static enum kr_status add_pair(struct once *s, struct kr_link rw, struct kr_link back)
{
	kr_proof_begin(s->proof);

	enum kr_status status = kr_proof_add_link(s->proof, rw);

	if (!status)
		status = kr_proof_add_link(s->proof, back);
	return end_cycle(s, status);
}

static enum kr_status find_pair(struct once *s, struct kr_link rw)
{
	struct kr_link back = {KR_SO, rw.to, rw.from, {KR_NONE}, {KR_NONE}, {KR_NONE}, KR_NONE};

	for (uint32_t e = s->g->head[rw.to.i]; e != KR_NONE; e = s->g->edges.at[e].next) {
		const struct kr_link *edge = &s->g->edges.at[e].link;
		bool key = !s->pattern->same_key ||
			kr_asg_whole(s->asg, edge->key).i == kr_asg_whole(s->asg, rw.key).i;
		if (edge->to.i == rw.from.i && has(s, (enum kr_edge_kind)edge->kind) && key &&
			may_lead(s, edge, &rw))
			return add_pair(s, rw, *edge);
	}
	if (!may_lead(s, &back, &rw))
		return KR_OK;
	if (has(s, KR_SO) && kr_ir_precedes(s->g->ir, rw.to, rw.from, KR_SO))
		return add_pair(s, rw, back);
	back.kind = KR_RT;
	return has(s, KR_RT) && kr_ir_precedes(s->g->ir, rw.to, rw.from, KR_RT) ? add_pair(s, rw, back)
										: KR_OK;
}

/* A way back that ends in a wr to an operation that is early enough. */
static enum kr_status find_sight(struct once *s, struct kr_link rw)
{
	enum kr_status status = kr_graph_search(s->g, (kr_node){rw.to.i}, (kr_node){KR_NONE},
		s->pattern->allowed & ~s->pattern->once);

	for (uint32_t e = 0; e < s->g->edges.n && !status; e++) {
		const struct kr_link *edge = &s->g->edges.at[e].link;
		if (edge->kind != KR_WR || edge->to.i != rw.from.i || !may_lead(s, edge, &rw) ||
			!kr_graph_reached(s->g, (kr_node){edge->from.i}))
			continue;
		kr_proof_begin(s->proof);
		status = kr_proof_add_link(s->proof, rw);
		if (!status)
			status =
				kr_graph_add_way(s->g, (kr_node){rw.to.i}, (kr_node){edge->from.i}, s->proof);
		if (!status)
			status = kr_proof_add_link(s->proof, *edge);
		return end_cycle(s, status);
	}
	return status;
}

static enum kr_status find_way(struct once *s, struct kr_link rw)
{
	kr_node from = {rw.from.i}, to = {rw.to.i};
	enum kr_status status = kr_graph_search(s->g, to, from, s->pattern->allowed & ~s->pattern->once);

	if (status || !kr_graph_reached(s->g, from))
		return status;
	kr_proof_begin(s->proof);
	status = kr_proof_add_link(s->proof, rw);
	if (!status)
		status = kr_graph_add_way(s->g, to, from, s->proof);
	return end_cycle(s, status);
}

static enum kr_status find(struct once *s, struct kr_link rw)
{
	if (!counts(s, &rw))
		return KR_OK;
	if (s->pattern->longest == 2)
		return find_pair(s, rw);
	return s->pattern->sight == KR_SIGHT_ANY ? find_way(s, rw) : find_sight(s, rw);
}

enum kr_status kr_graph_find_once(struct kr_graph *g, struct kr_proof *proof, bool *cycle)
{
	const struct kr_level *level = g->ir->level;
	const struct kr_link newest = g->edges.at[g->edges.n - 1].link;

	for (int i = 1; i < KR_PATTERNS_MOST && level->forbidden[i].allowed && !*cycle; i++) {
		struct once s = {g, g->ir->asg, &level->forbidden[i], proof, cycle};
		if (!(level->forbidden[i].allowed & KR_BIT(newest.kind)))
			continue;
		if (newest.kind == KR_RW) {
			KR_TRY(find(&s, newest));
			continue;
		}
		for (uint32_t e = 0; e < g->edges.n && !*cycle; e++)
			KR_TRY(find(&s, g->edges.at[e].link));
	}
	return KR_OK;
}
