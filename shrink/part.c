/* Parts of histories, and the part that a certificate speaks of. What an operation that is kept can have seen
 * must be kept, or it would see what nobody wrote: the writers of its candidates are added, and what these
 * saw in turn, where they write by an operation that also looks (insert, cas, inc, delete, update). Cost:
 * linear in the whole for a part, and for the support in what it keeps and its candidates. */
#include "shrink/part.h"

#include "frontend/model/operation.h"

#include <string.h>

static size_t words(uint32_t n) { return KR_BITS_WORDS(n); }

static void fill(uint64_t *set, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		kr_bits_set(set, i);
}

enum kr_status kr_part_init(struct kr_part *part, struct kr_mem *mem, const struct kr_history *whole,
	bool all)
{
	*part = (struct kr_part){.mem = mem, .arena = {.mem = mem}, .whole = whole};
	part->txns = KR_NEW_ARRAY(&part->arena, uint64_t, words(whole->txns.n));
	part->ops = KR_NEW_ARRAY(&part->arena, uint64_t, words(whole->ops.n));
	part->keys = KR_NEW_ARRAY(&part->arena, uint64_t, words(whole->keys.n));
	if (!part->txns || !part->ops || !part->keys) {
		kr_part_done(part);
		return KR_NOMEM;
	}
	if (all)
		kr_part_fill(part);
	return KR_OK;
}

void kr_part_fill(struct kr_part *part)
{
	fill(part->txns, part->whole->txns.n);
	fill(part->ops, part->whole->ops.n);
	fill(part->keys, part->whole->keys.n);
	kr_vec_clear(&part->without);
}

void kr_part_done(struct kr_part *part)
{
	if (!part->mem)
		return;
	kr_arena_done(&part->arena);
	kr_vec_done(part->mem, &part->without);
	*part = (struct kr_part){.mem = part->mem};
}

enum kr_status kr_part_copy(const struct kr_part *from, struct kr_part *to)
{
	kr_vec_clear(&to->without);
	if (!kr_vec_reserve(to->mem, &to->without, from->without.n))
		return KR_NOMEM;
	for (uint32_t i = 0; i < from->without.n; i++)
		to->without.at[to->without.n++] = from->without.at[i];
	memcpy(to->txns, from->txns, words(from->whole->txns.n) * sizeof *to->txns);
	memcpy(to->ops, from->ops, words(from->whole->ops.n) * sizeof *to->ops);
	memcpy(to->keys, from->keys, words(from->whole->keys.n) * sizeof *to->keys);
	return KR_OK;
}

bool kr_part_keeps(const struct kr_part *part, kr_txn t, kr_op op)
{
	kr_key k = part->whole->ops.at[op.i].key;

	return kr_bits_get(part->txns, t.i) && kr_bits_get(part->ops, op.i) &&
		(k.i == KR_NONE || kr_bits_get(part->keys, k.i));
}

static bool changes(const struct kr_history *h, const struct kr_operation *op, kr_key k)
{
	return kr_write_of(h, op, k, &(struct kr_write){0});
}

bool kr_part_writes(const struct kr_part *part, kr_txn t, kr_key k)
{
	const struct kr_history *h = part->whole;

	for (uint32_t i = 0; i < h->txns.at[t.i].op_count && kr_bits_get(part->keys, k.i); i++) {
		kr_op op = kr_history_op(h, t, i);
		if (kr_part_keeps(part, t, op) && changes(h, &h->ops.at[op.i], k))
			return true;
	}
	return false;
}

/* ---- support ---- */

struct gathering {
	struct kr_part *part;
	struct kr_ctx *ctx;
	const struct kr_asg *asg;
	KR_VEC(kr_op) todo;     /* operations kept, whose sources have not been looked for */
	KR_VEC(kr_txn) todo_of; /* their transactions */
};

static enum kr_status keep_op(struct gathering *g, kr_txn t, uint32_t index)
{
	kr_op op = kr_history_op(g->part->whole, t, index);

	kr_bits_set(g->part->txns, t.i);
	if (kr_bits_get(g->part->ops, op.i))
		return KR_OK;
	kr_bits_set(g->part->ops, op.i);
	return kr_vec_push(g->part->mem, &g->todo, op) && kr_vec_push(g->part->mem, &g->todo_of, t)
		? KR_OK
		: KR_NOMEM;
}

static enum kr_status keep_writes(struct gathering *g, kr_txn t, kr_key k)
{
	const struct kr_history *h = g->part->whole;

	if (t.i == KR_NONE)
		return KR_OK;
	kr_bits_set(g->part->txns, t.i);
	for (uint32_t i = 0; i < h->txns.at[t.i].op_count; i++)
		if (changes(h, &h->ops.at[h->txns.at[t.i].op_first + i], k))
			KR_TRY(keep_op(g, t, i));
	return kr_ctx_tick(g->ctx);
}

/* A list shows the elements of many writers, of which the graph names the last. */
static enum kr_status keep_growers(struct gathering *g, kr_key k)
{
	const struct kr_asg *asg = g->asg;

	for (uint32_t v = asg->keys[k.i].first; v < asg->keys[k.i + 1].first; v++)
		KR_TRY(keep_writes(g, asg->versions[v].writer, k));
	return KR_OK;
}

static enum kr_status keep_candidates(struct gathering *g, kr_txn t, uint32_t index)
{
	const struct kr_asg *asg = g->asg;

	for (uint32_t o = asg->obs_first[t.i]; o < asg->obs_first[t.i + 1]; o++) {
		const struct kr_observation *obs = &asg->obs[o];
		kr_key k = kr_asg_whole(asg, obs->key);
		kr_version v;
		if (obs->op != index || !kr_bits_get(g->part->keys, k.i))
			continue;
		for (kr_candidates it = kr_asg_candidates(asg, (kr_obs){o}); kr_asg_next(asg, &it, &v);)
			KR_TRY(keep_writes(g, asg->versions[v.i].writer, k));
		if (g->part->whole->keys.at[k.i].kind >= KR_KIND_COUNTER)
			KR_TRY(keep_growers(g, k));
	}
	return KR_OK;
}

static enum kr_status keep_edge(struct gathering *g, const struct kr_cert_edge *e)
{
	kr_bits_set(g->part->txns, e->from.i);
	kr_bits_set(g->part->txns, e->to.i);
	if (e->key.i == KR_NONE)
		return KR_OK;
	kr_bits_set(g->part->keys, e->key.i);
	if (e->kind != KR_RW)
		KR_TRY(keep_writes(g, e->from, e->key));
	if (e->kind != KR_WR)
		KR_TRY(keep_writes(g, e->to, e->key));
	if (e->kind == KR_RW)
		KR_TRY(keep_writes(g, e->source, e->key));
	if (e->op != KR_NONE)
		KR_TRY(keep_op(g, e->kind == KR_WR ? e->to : e->from, e->op));
	return KR_OK;
}

/* Everything that touches the key: what makes an operation an anomaly may be any of it. */
static enum kr_status keep_key(struct gathering *g, kr_key k)
{
	const struct kr_history *h = g->part->whole;

	kr_bits_set(g->part->keys, k.i);
	for (uint32_t t = 0; t < h->txns.n; t++) {
		for (uint32_t i = 0; i < h->txns.at[t].op_count; i++) {
			const struct kr_operation *op = &h->ops.at[h->txns.at[t].op_first + i];
			if (op->key.i != k.i && !changes(h, op, k))
				continue;
			kr_bits_set(g->part->txns, t);
			kr_bits_set(g->part->ops, h->txns.at[t].op_first + i);
		}
		KR_TRY(kr_ctx_tick(g->ctx));
	}
	return KR_OK;
}

static enum kr_status gather(struct gathering *g, const struct kr_certificate *cert)
{
	if (cert->kind == KR_CERT_ANOMALY) {
		KR_TRY(keep_key(g, cert->anomaly.key));
		return keep_op(g, cert->anomaly.txn, cert->anomaly.op);
	}
	/* keys first, since what an operation saw of other keys does not matter */
	for (uint32_t i = 0; i < cert->edges.n; i++)
		if (cert->edges.at[i].key.i != KR_NONE)
			kr_bits_set(g->part->keys, cert->edges.at[i].key.i);
	for (uint32_t i = 0; i < cert->edges.n; i++)
		KR_TRY(keep_edge(g, &cert->edges.at[i]));
	while (g->todo.n > 0) {
		kr_op op = kr_vec_pop(&g->todo);
		kr_txn t = kr_vec_pop(&g->todo_of);
		KR_TRY(keep_candidates(g, t, op.i - g->part->whole->txns.at[t.i].op_first));
	}
	return KR_OK;
}

enum kr_status kr_part_support(struct kr_part *part, struct kr_ctx *ctx, const struct kr_asg *asg,
	const struct kr_certificate *cert)
{
	struct gathering g = {.part = part, .ctx = ctx, .asg = asg};
	enum kr_status status = gather(&g, cert);

	kr_vec_done(part->mem, &g.todo);
	kr_vec_done(part->mem, &g.todo_of);
	return status;
}
