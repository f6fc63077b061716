/* The part of an encoding that keys with parts, sums and orders under guards need.
 *
 * Orders that are told if an unknown transaction took effect hold of all versions, also through those that do
 * not exist. So versions of such a key are nodes of their own: edges for what is told, under its guard, and
 * between existing versions in their order; no cycle means that both fit together. Where a level does not
 * forbid cycles with every rw, an operation could see parts of a key that were never there together. There
 * the key's versions are nodes, too, and so is each such operation: it comes after the versions that its
 * sources belong to, and before those that overwrite what it saw of any part. Sums: at most one source for
 * each observation in one, since a second one would add up. Cost: as for the orders and observations of those
 * keys. */
#include "backend/encode_work.h"

#include <string.h>

static enum kr_status add_node(struct kr_encode *w, struct kr_encoded_node node, uint32_t *out)
{
	if (w->out->nnodes >= INT32_MAX || !kr_vec_push(&w->ir->ctx->mem, &w->out->nodes, node))
		return KR_NOMEM;
	*out = w->out->nnodes++;
	return KR_OK;
}

/* ---- orders of all versions ---- */

static bool is_open(const struct kr_asg *asg, kr_txn guard)
{
	return guard.i != KR_NONE && asg->txns[guard.i].presence != KR_PRESENT;
}

static enum kr_status make_nodes(struct kr_encode *w, const uint8_t *wanted)
{
	const struct kr_asg *asg = w->ir->asg;

	for (uint32_t k = 0; k < asg->nkeys; k++)
		for (uint32_t v = asg->keys[k].first + 1; v < asg->keys[k + 1].first && wanted[k]; v++)
			KR_TRY(add_node(w, (struct kr_encoded_node){{v}, {KR_NONE}}, &w->version_node[v]));
	return KR_OK;
}

static enum kr_status add_told(struct kr_encode *w)
{
	const struct kr_asg *asg = w->ir->asg;

	for (uint32_t i = 0; i < asg->norders; i++) {
		const struct kr_asg_order *order = &asg->orders[i];
		uint32_t from = w->version_node[order->before.i], to = w->version_node[order->after.i];
		kr_literal guard =
			is_open(asg, order->guard) ? w->present[order->guard.i] : KR_LITERAL_ALWAYS;
		kr_literal there =
			/* reads tell nothing of what is not */
			i < asg->norders_seen ? w->present[asg->versions[order->after.i].writer.i]
					      : KR_LITERAL_ALWAYS;
		if (from != KR_NONE && to != KR_NONE)
			KR_TRY(kr_encode_edge(w,
				(struct kr_guarded_edge){{from}, {to}, {guard, there, KR_LITERAL_ALWAYS},
					(uint8_t)KR_WW}));
	}
	return KR_OK;
}

enum kr_status kr_encode_versions(struct kr_encode *w)
{
	const struct kr_asg *asg = w->ir->asg;
	struct kr_mem *mem = &w->ir->ctx->mem;
	uint8_t *wanted = kr_mem_alloc(mem, asg->nkeys, 1);

	if (!wanted)
		return KR_NOMEM;
	memset(w->version_node, 0xff, asg->nversions * sizeof *w->version_node);
	for (uint32_t i = 0; i < asg->norders; i++)
		wanted[asg->versions[asg->orders[i].before.i].key.i] |= is_open(asg, asg->orders[i].guard);
	for (uint32_t i = 0; i < asg->nparts; i++)
		wanted[asg->parts[i].of.i] |= !kr_level_orders_reads(w->ir->level);
	enum kr_status status = make_nodes(w, wanted);
	kr_mem_free(mem, wanted, asg->nkeys, 1);
	return status ? status : add_told(w);
}

enum kr_status kr_encode_version_pair(struct kr_encode *w, kr_version a, kr_version b, kr_literal before)
{
	const struct kr_asg *asg = w->ir->asg;
	kr_literal first = w->present[asg->versions[a.i].writer.i],
		   second = w->present[asg->versions[b.i].writer.i];
	kr_node x = {w->version_node[a.i]}, y = {w->version_node[b.i]};

	if (x.i == KR_NONE)
		return KR_OK;

	KR_TRY(kr_encode_edge(w, (struct kr_guarded_edge){x, y, {before, first, second}, (uint8_t)KR_WW}));

	return kr_encode_edge(w, (struct kr_guarded_edge){y, x, {-before, first, second}, (uint8_t)KR_WW});
}

/* ---- parts seen together ---- */

/* The node of what the writer of part version v wrote as a whole. */
static kr_node whole_node(const struct kr_encode *w, kr_version v)
{
	const struct kr_asg *asg = w->ir->asg;
	kr_version whole =
		kr_asg_version_of(asg, asg->versions[v.i].writer, kr_asg_whole(asg, asg->versions[v.i].key));

	return (kr_node){whole.i == KR_NONE ? KR_NONE : w->version_node[whole.i]};
}

/* What follows for the operation's node when observation o saw v. */
static enum kr_status add_sight(struct kr_encode *w, kr_node node, kr_obs o, kr_version v, kr_literal saw)
{
	const struct kr_asg *asg = w->ir->asg;
	const struct kr_asg_key *key = &asg->keys[asg->obs[o.i].key.i];

	if (!kr_asg_is_initial(asg, v))
		KR_TRY(kr_encode_edge(w,
			(struct kr_guarded_edge){whole_node(w, v), node,
				{saw, KR_LITERAL_ALWAYS, KR_LITERAL_ALWAYS}, (uint8_t)KR_WR}));
	for (uint32_t i = key[0].first + 1; i < key[1].first; i++) {
		kr_txn writer = asg->versions[i].writer;
		kr_literal order;
		if (i == v.i || writer.i == asg->obs[o.i].txn.i || w->ir->presence[writer.i] == KR_ABSENT_TXN)
			continue;
		KR_TRY(kr_encode_before(w, v, (kr_version){i}, &order));
		KR_TRY(kr_encode_edge(w,
			(struct kr_guarded_edge){node, whole_node(w, (kr_version){i}),
				{saw, order, w->present[writer.i]}, (uint8_t)KR_RW}));
		KR_TRY(kr_ctx_tick(w->ir->ctx));
	}
	return KR_OK;
}

/* Variables of an observation's sources: neighbours. */
static bool is_source(const struct kr_encode *w, kr_obs o, uint32_t number)
{
	if (number == 0 || number > w->out->variables.n)
		return false;

	const struct kr_variable *x = &w->out->variables.at[number - 1];

	return x->kind == KR_VARIABLE_SOURCE && x->obs.i == o.i;
}

static enum kr_status add_sights(struct kr_encode *w, kr_node node, kr_obs o)
{
	if (w->ir->source[o.i].i != KR_NONE)
		return add_sight(w, node, o, w->ir->source[o.i], KR_LITERAL_ALWAYS);
	for (uint32_t i = w->first_source[o.i]; is_source(w, o, i); i++)
		KR_TRY(add_sight(w, node, o, w->out->variables.at[i - 1].a, (kr_literal)i));
	return KR_OK;
}

/* Observations [first, end) are those of one operation; those of `first`'s key, if it is the first of
 * them. */
static enum kr_status add_operation(struct kr_encode *w, uint32_t first, uint32_t begin, uint32_t end)
{
	const struct kr_asg *asg = w->ir->asg;
	kr_key k = kr_asg_whole(asg, asg->obs[first].key);
	bool parts = false;
	kr_node node;

	for (uint32_t o = begin; o < end; o++) {
		bool same = kr_asg_whole(asg, asg->obs[o].key).i == k.i;
		if (same && o < first)
			return KR_OK;
		parts |= same && asg->obs[o].key.i != k.i;
	}
	if (!parts)
		return KR_OK;

	enum kr_status status = add_node(w, (struct kr_encoded_node){{KR_NONE}, {first}}, &node.i);

	for (uint32_t o = first; o < end && !status; o++)
		if (kr_asg_whole(asg, asg->obs[o].key).i == k.i)
			status = add_sights(w, node, (kr_obs){o});
	return status;
}

enum kr_status kr_encode_together(struct kr_encode *w)
{
	const struct kr_asg *asg = w->ir->asg;
	uint32_t end;

	for (uint32_t o = 0; o < asg->nobs && asg->nparts > 0 && !kr_level_orders_reads(w->ir->level);
		o = end) {
		end = kr_asg_operation_end(asg, o);
		for (uint32_t i = o; i < end && w->ir->presence[asg->obs[o].txn.i] != KR_ABSENT_TXN; i++)
			KR_TRY(add_operation(w, i, o, end));
	}
	return KR_OK;
}

/* ---- sums ---- */

static enum kr_status add_term(struct kr_encode *w, kr_literal literal, int64_t weight)
{
	return kr_vec_add(&w->ir->ctx->mem, &w->out->terms, (struct kr_encoded_term){literal, weight});
}

/* Ends a sum whose terms were added from `first` on. */
static enum kr_status end_sum(struct kr_encode *w, struct kr_encoded_sum sum, uint32_t first)
{
	sum.first = first;
	sum.count = w->out->terms.n - first;
	return kr_vec_add(&w->ir->ctx->mem, &w->out->sums, sum);
}

static enum kr_status add_at_most_one(struct kr_encode *w, kr_obs o)
{
	uint32_t first = w->out->terms.n;
	enum kr_status status = KR_OK;

	for (uint32_t i = w->first_source[o.i]; is_source(w, o, i) && !status; i++)
		status = add_term(w, (kr_literal)i, 1);
	if (status || w->out->terms.n - first >= 2)
		return status ? status
			      : end_sum(w, (struct kr_encoded_sum){.at_most = true, .total = 1}, first);
	w->out->terms.n = first;
	return KR_OK;
}

static enum kr_status add_seen(struct kr_encode *w, const struct kr_asg_term *term)
{
	if (w->ir->source[term->obs.i].i != KR_NONE)
		return w->ir->source[term->obs.i].i == term->seen.i ? add_term(w, 0, term->weight) : KR_OK;
	for (uint32_t i = w->first_source[term->obs.i]; is_source(w, term->obs, i); i++)
		if (w->out->variables.at[i - 1].a.i == term->seen.i)
			return add_term(w, (kr_literal)i, term->weight);
	return KR_OK;
}

static enum kr_status add_sum(struct kr_encode *w, const struct kr_asg_sum *sum)
{
	const struct kr_asg_term *term = w->ir->asg->terms + sum->first;
	kr_literal guard = w->present[sum->txn.i];
	KR_TRY(kr_ctx_tick(w->ir->ctx));

	if (guard == KR_LITERAL_NEVER)
		return KR_OK;
	for (uint32_t i = 0; i < sum->count; i++)
		if (i == 0 || term[i].obs.i != term[i - 1].obs.i)
			KR_TRY(add_at_most_one(w, term[i].obs));

	uint32_t first = w->out->terms.n;

	for (uint32_t i = 0; i < sum->count; i++)
		KR_TRY(add_seen(w, &term[i]));
	return end_sum(w,
		(struct kr_encoded_sum){.guard = guard == KR_LITERAL_ALWAYS ? 0 : guard, .total = sum->total},
		first);
}

enum kr_status kr_encode_sums(struct kr_encode *w)
{
	for (uint32_t i = 0; i < w->ir->asg->nsums; i++)
		KR_TRY(add_sum(w, &w->ir->asg->sums[i]));
	return KR_OK;
}
