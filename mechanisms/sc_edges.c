/* Certain dependencies:
 * wr     the version is the only one that explains a read
 * ww     certain order, to the next layer only: the rest follows
 * rw     what was read is the only match and comes before u; or u committed after the read's snapshot
 * order  u committed before the read's snapshot, and nothing certain later did: what was read is u's or a later one
 * so, rt where the profile asks for them
 * Shadows order nothing. Outcomes of INSERT count where the profile says so. */
#include <stdlib.h>

#include "mechanisms/certain.h"

static uint32_t begin_of(const struct kr_certain *c, kr_txn t) { return c->level->model == KR_NODES_TXN ? 2 * t.i + 1 : 2 * t.i; }
static uint32_t commit_of(kr_txn t) { return 2 * t.i + 1; }

static void add(struct kr_certain *c, uint32_t from, uint32_t to, struct kr_certain_edge edge)
{
	uint32_t kinds = c->level->forbidden[0].allowed;

	if (edge.from.i == edge.to.i || !(kinds & KR_BIT(edge.kind)) || !kr_batch_settled(c->b, edge.from) || !kr_batch_settled(c->b, edge.to))
		return;
	c->failed |= !kr_vec_push(c->b->mem, &c->arcs, (struct kr_certain_arc){from, to, edge});
}

static bool is_node(const struct kr_batch *b, const struct kr_written *v)
{
	return v->by.txn.i != KR_NONE && b->txns.at[v->by.txn.i].took_effect && !v->shadow;
}

/* ---- reads ---- */

static bool counts(const struct kr_batch *b, const struct kr_look *look)
{
	return b->txns.at[look->txn.i].took_effect && look->fits && !look->own && !look->loose && !look->twice && !look->uncommitted &&
		(!look->insert || b->profile->insert_certified);
}

static void add_read(struct kr_certain *c, const struct kr_look *look, uint32_t i)
{
	const struct kr_batch *b = c->b;
	const struct kr_written *u = &b->versions.at[i], *seen = look->only == KR_NONE ? NULL : &b->versions.at[look->only];
	struct kr_certain_edge to = {KR_WR, false, look->predicate, u->by.txn, look->txn, look->key, look->op};
	struct kr_certain_edge from = {KR_RW, false, look->predicate, look->txn, u->by.txn, look->key, look->op};

	if (!is_node(b, u) || u->by.txn.i == look->txn.i)
		return;
	if (u == seen) {
		add(c, commit_of(u->by.txn), begin_of(c, look->txn), to);
		return;
	}
	if (u->by.committed && u->by.commit.to < look->at.from && c->gone.at[i] >= look->at.from) {
		to.earlier = true;
		add(c, commit_of(u->by.txn), begin_of(c, look->txn), to);
	}
	bool changes = !look->predicate || (u->value.i != KR_NONE && !kr_look_fits(b, look, u->value));
	bool after = seen && !seen->shadow && kr_stand_precedes(b, &seen->by, &u->by);
	if (changes && (after || kr_span_before(look->at, u->by.commit)))
		add(c, begin_of(c, look->txn), commit_of(u->by.txn), from);
}

/* ---- versions ---- */

/* Has u seen v before it wrote, by the rule of the first updater? */
static bool is_after_snapshot(const struct kr_certain *c, const struct kr_written *u)
{
	return c->level->model == KR_NODES_TXN ||
		(c->level->model == KR_NODES_BEGIN_COMMIT && c->b->profile->fuw && c->b->txns.at[u->by.txn.i].has_snapshot &&
			!kr_writer_makes_new_row(c->b, kr_batch_writer(c->b, u)));
}

static void add_order(struct kr_certain *c, uint32_t i, uint32_t j)
{
	const struct kr_written *v = &c->b->versions.at[i], *u = &c->b->versions.at[j];
	struct kr_certain_edge edge = {KR_WW, false, false, v->by.txn, u->by.txn, v->key, u->op};

	if (!is_node(c->b, v) || !is_node(c->b, u) || !kr_stand_precedes(c->b, &v->by, &u->by) || u->by.commit.from > c->gone.at[i])
		return;
	add(c, commit_of(v->by.txn), is_after_snapshot(c, u) ? begin_of(c, u->by.txn) : commit_of(u->by.txn), edge);
}

static enum kr_status find_gone(struct kr_certain *c)
{
	const struct kr_batch *b = c->b;

	for (uint32_t i = 0; i < b->versions.n; i++) {
		const struct kr_written *v = &b->versions.at[i];
		int64_t gone = INT64_MAX;
		for (uint32_t j = b->version_first.at[v->key.i]; j < b->version_first.at[v->key.i + 1]; j++) {
			const struct kr_written *u = &b->versions.at[j];
			if (u->by.committed && !u->shadow && u->by.commit.to < gone && kr_stand_precedes(b, &v->by, &u->by))
				gone = u->by.commit.to;
		}
		if (!kr_vec_push(b->mem, &c->gone, gone))
			return KR_NOMEM;
	}
	return kr_ctx_check(b->ctx);
}

/* ---- orders between transactions ---- */

static void add_before(struct kr_certain *c, kr_txn a, kr_txn t)
{
	const struct kr_batch *b = c->b;
	const struct kr_transaction *x = &b->h->txns.at[a.i], *y = &b->h->txns.at[t.i];
	const struct kr_party *p = &b->txns.at[t.i];
	struct kr_span start = p->automatic ? p->commit : p->begin;
	struct kr_certain_edge edge = {KR_SO, false, false, a, t, {KR_NONE}, KR_NONE};

	if (a.i == t.i || !b->txns.at[a.i].committed || !p->took_effect)
		return;
	if (x->session.i != KR_NONE && x->session.i == y->session.i && a.i < t.i) {
		add(c, commit_of(a), begin_of(c, t), edge);
	} else if (b->profile->certify_order == KR_ORDER_REALTIME && kr_span_before(b->txns.at[a.i].commit, start)) {
		edge.kind = KR_RT;
		add(c, commit_of(a), begin_of(c, t), edge);
	}
}

static int by_end(const void *a, const void *b) /* of those that leave one node */
{
	const struct kr_certain_arc *x = a, *y = b;

	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	if (x->edge.kind != y->edge.kind)
		return x->edge.kind < y->edge.kind ? -1 : 1;
	if (x->edge.key.i != y->edge.key.i)
		return x->edge.key.i < y->edge.key.i ? -1 : 1;
	return (x->edge.op > y->edge.op) - (x->edge.op < y->edge.op);
}

static enum kr_status sort_arcs(struct kr_certain *c)
{
	uint32_t nodes = 2 * c->b->txns.n, n = c->arcs.n;
	uint32_t *of = kr_mem_alloc(c->b->mem, n, sizeof *of);
	struct kr_certain_arc *list = kr_mem_alloc(c->b->mem, n, sizeof *list);
	struct kr_grouped by = {0};
	bool good = of && list;

	for (uint32_t i = 0; i < n && good; i++)
		of[i] = c->arcs.at[i].from;
	good = good && kr_group(c->b->mem, &by, of, n, nodes);
	for (uint32_t i = 0; i < n && good; i++)
		list[i] = c->arcs.at[by.at.at[i]];
	for (uint32_t node = 0; node < nodes && good; node++)
		if (by.first.at[node + 1] > by.first.at[node] + 1)
			qsort(list + by.first.at[node], by.first.at[node + 1] - by.first.at[node], sizeof *list, by_end);
	for (uint32_t i = 0; i < n && good; i++)
		c->arcs.at[i] = list[i];
	for (uint32_t node = 0; node <= nodes && good; node++)
		good = kr_vec_push(c->b->mem, &c->first, by.first.at[node]);
	kr_grouped_done(c->b->mem, &by);
	kr_mem_free(c->b->mem, of, n, sizeof *of);
	kr_mem_free(c->b->mem, list, n, sizeof *list);
	return good ? KR_OK : KR_NOMEM;
}

enum kr_status kr_certain_build(struct kr_certain *c)
{
	struct kr_batch *b = c->b;
	enum kr_status status = find_gone(c);

	for (uint32_t i = 0; i < b->looks.n && !status; i++) {
		const struct kr_look *look = &b->looks.at[i];
		for (uint32_t v = b->version_first.at[look->key.i]; counts(b, look) && v < b->version_first.at[look->key.i + 1]; v++)
			add_read(c, look, v);
		status = c->failed ? KR_NOMEM : kr_ctx_tick(b->ctx);
	}
	for (uint32_t i = 0; i < b->versions.n && !status; i++) {
		for (uint32_t j = b->version_first.at[b->versions.at[i].key.i]; j < b->version_first.at[b->versions.at[i].key.i + 1]; j++)
			add_order(c, i, j);
		status = c->failed ? KR_NOMEM : kr_ctx_tick(b->ctx);
	}
	for (kr_txn t = {0}; t.i < b->txns.n && !status; t.i++) {
		for (kr_txn a = {0}; b->profile->certify_order != KR_ORDER_NONE && a.i < b->txns.n; a.i++)
			add_before(c, a, t);
		if (c->level->model != KR_NODES_TXN)
			c->failed |= !kr_vec_push(b->mem, &c->arcs, (struct kr_certain_arc){2 * t.i, commit_of(t), {.from = {KR_NONE}, .to = {KR_NONE}}});
		status = c->failed ? KR_NOMEM : kr_ctx_tick(b->ctx);
	}
	return status ? status : sort_arcs(c);
}
