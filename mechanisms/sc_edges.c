/* Certain dependencies:
 * wr     the version is the only one that explains a read
 * ww     certain order, to the next layer only: the rest follows
 * rw     what was read is the only match and comes before u; or u committed after the read's snapshot; to the
 *        next layer only
 * order  u committed before the read's snapshot, and nothing certain later did: what was read is u's or a
 *        later one
 * so, rt where the profile asks for them Shadows order nothing. Outcomes of INSERT count where the profile
 * says so. */
#include "base/order.h"

#include "mechanisms/certain.h"

static uint32_t begin_of(const struct kr_certain *c, kr_txn t)
{
	return c->level->model == KR_NODES_TXN ? 2 * t.i + 1 : 2 * t.i;
}
static uint32_t commit_of(kr_txn t) { return 2 * t.i + 1; }

static void add(struct kr_certain *c, uint32_t from, uint32_t to, struct kr_certain_edge edge)
{
	uint32_t kinds = c->level->forbidden[0].allowed;

	if (edge.from.i == edge.to.i || !(kinds & KR_BIT(edge.kind)) || !kr_batch_settled(c->b, edge.from) ||
		!kr_batch_settled(c->b, edge.to))
		return;
	if (c->component && c->component[from] != c->component[to])
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
	return b->txns.at[look->txn.i].took_effect && look->fits && !look->own && !look->loose &&
		!look->twice && !look->uncommitted && (!look->insert || b->profile->insert_certified);
}

static bool is_other(const struct kr_batch *b, const struct kr_look *look, uint32_t i)
{
	return is_node(b, &b->versions.at[i]) && b->versions.at[i].by.txn.i != look->txn.i;
}

static void add_source(struct kr_certain *c, const struct kr_look *look, uint32_t i, bool earlier)
{
	kr_txn writer = c->b->versions.at[i].by.txn;

	if (is_other(c->b, look, i))
		add(c, commit_of(writer), begin_of(c, look->txn),
			(struct kr_certain_edge){KR_WR, earlier, look->predicate, writer, look->txn,
				look->key, look->op});
}

/* What the read saw, and what had certainly committed before its snapshot. */
static void add_sources(struct kr_certain *c, const struct kr_look *look)
{
	const struct kr_batch *b = c->b;
	uint32_t end = b->version_first.at[look->key.i + 1];
	uint32_t i = kr_first_above(c->last_gone.at, b->version_first.at[look->key.i], end,
		look->at.from == INT64_MIN ? INT64_MIN : look->at.from - 1);

	if (look->only != KR_NONE)
		add_source(c, look, look->only, false);
	for (; i < end && b->bounds.at[i].next < look->at.from; i++) {
		const struct kr_written *u = &b->versions.at[i];
		if (i != look->only && u->by.committed && u->by.commit.to < look->at.from &&
			c->gone.at[i] >= look->at.from)
			add_source(c, look, i, true);
	}
}

/* Has what the read saw certainly been replaced by version i? */
static bool is_replaced(const struct kr_certain *c, const struct kr_look *look, uint32_t i)
{
	const struct kr_batch *b = c->b;
	const struct kr_written *u = &b->versions.at[i],
				*seen = look->only == KR_NONE ? NULL : &b->versions.at[look->only];

	if (i == look->only || !is_other(b, look, i) ||
		(look->predicate && (u->value.i == KR_NONE || kr_look_fits(b, look, u->value))))
		return false;
	return kr_span_before(look->at, u->by.commit) ||
		(seen && !seen->shadow && kr_stand_precedes(b, &seen->by, &u->by));
}

/* Where those that replace what the read saw can begin: each has its C1 after the snapshot, or comes after
 * what was seen. */
static uint32_t first_replacing(const struct kr_certain *c, const struct kr_look *look)
{
	const struct kr_batch *b = c->b;
	uint32_t first = b->version_first.at[look->key.i + 1];

	if (look->only != KR_NONE)
		first = kr_batch_followers(b, look->only);
	while (first > b->version_first.at[look->key.i] && b->bounds.at[first - 1].last > look->at.to)
		first--;
	return first;
}

/* The next layer only: dependencies between versions lead from there to the rest. On cycles all of them, for
 * short ones. */
static void add_replacing(struct kr_certain *c, const struct kr_look *look)
{
	const struct kr_batch *b = c->b;
	bool all = c->component || !(c->level->forbidden[0].allowed & KR_BIT(KR_WW));
	uint32_t first = first_replacing(c, look), end = b->version_first.at[look->key.i + 1];
	int64_t gone = INT64_MAX;

	for (uint32_t i = first; i < end && b->bounds.at[i].next <= gone && !all; i++)
		if (b->versions.at[i].by.committed && b->versions.at[i].by.commit.to < gone &&
			is_replaced(c, look, i))
			gone = b->versions.at[i].by.commit.to;
	for (uint32_t i = first; i < end && b->bounds.at[i].next <= gone; i++) {
		kr_txn writer = b->versions.at[i].by.txn;
		if (b->versions.at[i].by.commit.from <= gone && is_replaced(c, look, i))
			add(c, begin_of(c, look->txn), commit_of(writer),
				(struct kr_certain_edge){KR_RW, false, look->predicate, look->txn, writer,
					look->key, look->op});
	}
}

/* ---- versions ---- */

/* Has u seen v before it wrote, by the rule of the first updater? */
static bool is_after_snapshot(const struct kr_certain *c, const struct kr_written *u)
{
	return c->level->model == KR_NODES_TXN ||
		(c->level->model == KR_NODES_BEGIN_COMMIT && c->b->profile->fuw &&
			c->b->txns.at[u->by.txn.i].has_snapshot &&
			!kr_writer_makes_new_row(c->b, kr_batch_writer(c->b, u)));
}

static void add_order(struct kr_certain *c, uint32_t i, uint32_t j)
{
	const struct kr_written *v = &c->b->versions.at[i], *u = &c->b->versions.at[j];
	struct kr_certain_edge edge = {KR_WW, false, false, v->by.txn, u->by.txn, v->key, u->op};

	if (!is_node(c->b, v) || !is_node(c->b, u) || !kr_stand_precedes(c->b, &v->by, &u->by) ||
		u->by.commit.from > c->gone.at[i])
		return;
	add(c, commit_of(v->by.txn), is_after_snapshot(c, u) ? begin_of(c, u->by.txn) : commit_of(u->by.txn),
		edge);
}

static enum kr_status find_gone(struct kr_certain *c)
{
	const struct kr_batch *b = c->b;

	if (!kr_vec_reserve(b->mem, &c->gone, b->versions.n) ||
		!kr_vec_reserve(b->mem, &c->last_gone, b->versions.n))
		return KR_NOMEM;
	for (uint32_t i = 0; i < b->versions.n; i++) {
		const struct kr_written *v = &b->versions.at[i];
		int64_t gone = INT64_MAX;
		for (uint32_t j = kr_batch_followers(b, i);
			j < b->version_first.at[v->key.i + 1] && b->bounds.at[j].next <= gone; j++) {
			const struct kr_written *u = &b->versions.at[j];
			if (u->by.committed && !u->shadow && u->by.commit.to < gone &&
				kr_stand_precedes(b, &v->by, &u->by))
				gone = u->by.commit.to;
		}
		int64_t last = i > b->version_first.at[v->key.i] && c->last_gone.at[i - 1] > gone
			? c->last_gone.at[i - 1]
			: gone;
		c->gone.at[c->gone.n++] = gone;
		c->last_gone.at[c->last_gone.n++] = last;
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
	} else if (b->profile->certify_order == KR_ORDER_REALTIME &&
		kr_span_before(b->txns.at[a.i].commit, start)) {
		edge.kind = KR_RT;
		add(c, commit_of(a), begin_of(c, t), edge);
	}
}

static int by_end(const void *a, const void *b) /* of those that leave one node */
{
	const struct kr_certain_arc *x = a, *y = b;

	return kr_then(kr_then(KR_ORDER(x->to, y->to), KR_ORDER(x->edge.kind, y->edge.kind)),
		kr_then(KR_ORDER(x->edge.key.i, y->edge.key.i), KR_ORDER(x->edge.op, y->edge.op)));
}

enum kr_status kr_certain_sort(struct kr_certain *c)
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
		KR_SORT(list + by.first.at[node], by.first.at[node + 1] - by.first.at[node], by_end);
	kr_vec_clear(&c->first);
	for (uint32_t i = 0; i < n && good; i++)
		c->arcs.at[i] = list[i];
	for (uint32_t node = 0; node <= nodes && good; node++)
		good = kr_vec_push(c->b->mem, &c->first, by.first.at[node]);
	kr_grouped_done(c->b->mem, &by);
	kr_mem_free(c->b->mem, of, n, sizeof *of);
	kr_mem_free(c->b->mem, list, n, sizeof *list);
	return good ? KR_OK : KR_NOMEM;
}

static enum kr_status add_arcs(struct kr_certain *c)
{
	struct kr_batch *b = c->b;

	for (uint32_t i = 0; i < b->looks.n; i++) {
		const struct kr_look *look = &b->looks.at[i];
		if (counts(b, look)) {
			add_sources(c, look);
			add_replacing(c, look);
		}
		KR_TRY(c->failed ? KR_NOMEM : kr_ctx_tick(b->ctx));
	}
	for (uint32_t i = 0; i < b->versions.n; i++) {
		uint32_t end = b->version_first.at[b->versions.at[i].key.i + 1];
		for (uint32_t j = kr_batch_followers(b, i); j < end && b->bounds.at[j].next <= c->gone.at[i];
			j++)
			add_order(c, i, j);
		KR_TRY(c->failed ? KR_NOMEM : kr_ctx_tick(b->ctx));
	}
	for (kr_txn t = {0}; t.i < b->txns.n; t.i++) {
		for (kr_txn a = {0}; b->profile->certify_order != KR_ORDER_NONE && a.i < b->txns.n; a.i++)
			add_before(c, a, t);
		if (c->level->model != KR_NODES_TXN &&
			(!c->component || c->component[2 * t.i] == c->component[commit_of(t)]))
			c->failed |= !kr_vec_push(b->mem, &c->arcs,
				(struct kr_certain_arc){2 * t.i, commit_of(t),
					{.from = {KR_NONE}, .to = {KR_NONE}}});
		KR_TRY(c->failed ? KR_NOMEM : kr_ctx_tick(b->ctx));
	}
	return KR_OK;
}

enum kr_status kr_certain_build(struct kr_certain *c)
{
	KR_TRY(find_gone(c));

	return add_arcs(c);
}

enum kr_status kr_certain_widen(struct kr_certain *c, const uint32_t *component)
{
	kr_vec_clear(&c->arcs);
	c->component = component;
	KR_TRY(add_arcs(c));
	return kr_certain_sort(c);
}
