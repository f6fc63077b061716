/* Checks of the whole history: version orders.
 *
 * A node is a (key, writer) pair that some version order names; adjacent writers of one order are edges.
 * Nodes of different keys never meet, so one topological sort (Kahn) over all of them tells whether the
 * orders agree, in time linear in their lengths. Only when they do not, the first order that contradicts
 * those before it is found by bisection over prefixes, and the pair that it turns round by walking the graph
 * of the others in topological order, carrying to each node the latest place in the bad order from which it
 * is reached: a cycle must go back in the bad order at least once, so such a pair exists. Needs: all
 * transactions added. Gives: the orders checked (or, lenient, dropped), arrays trimmed. */
#include "frontend/history.h"

#include "base/hash.h"
#include "base/order.h"
#include "frontend/history_written.h"
#include "frontend/model/operation.h"

struct node {
	kr_key key;
	kr_txn writer;
	uint32_t list; /* the order that named it last, to see repetitions */
	bool wrote;
};

struct checker {
	struct kr_arena arena;
	struct kr_history *h;
	struct kr_ctx *ctx;
	KR_VEC(struct node) nodes;
	struct kr_table table;                    /* (key, writer) -> node */
	uint32_t *node_of;                        /* parallel to order_writers */
	bool *dropped;                            /* parallel to version_orders */
	uint32_t *first, *next, *degree, *sorted; /* first: nodes + 1 */
};

static uint64_t pair_hash(kr_key key, kr_txn writer) { return kr_hash_pair(key.i, writer.i); }

static uint32_t find_node(const struct checker *c, kr_key key, kr_txn writer)
{
	uint32_t id;

	KR_TABLE_FIND(id, &c->table, pair_hash(key, writer),
		c->nodes.at[id].key.i == key.i && c->nodes.at[id].writer.i == writer.i);
	return id;
}

static enum kr_status order_error(const struct checker *c, uint32_t list, kr_txn writer, const char *problem,
	struct kr_err *err)
{
	const struct kr_version_order *order = &c->h->version_orders.at[list];
	char key[80], name[80];

	kr_err_set(err, KR_BAD, "version order of %s: %s %s",
		kr_history_brief(c->h, c->h->keys.at[order->key.i].name, key, sizeof key),
		kr_history_brief(c->h, c->h->txns.at[writer.i].id, name, sizeof name), problem);
	kr_err_at(err, c->h->files.n ? c->h->files.at[0] : NULL, order->line, 0);
	return KR_BAD;
}

/* Makes the nodes. A writer named twice in one list spoils that list. */
static enum kr_status number_writers(struct checker *c, struct kr_err *err)
{
	struct kr_history *h = c->h;

	for (uint32_t list = 0; list < h->version_orders.n; list++) {
		const struct kr_version_order *order = &h->version_orders.at[list];
		for (uint32_t i = order->writer_first; i < order->writer_first + order->writer_count; i++) {
			kr_txn writer = h->order_writers.at[i];
			uint32_t node = find_node(c, order->key, writer);
			if (node != KR_NONE && c->nodes.at[node].list == list) {
				if (!h->lenient)
					return order_error(c, list, writer,
						"is named twice, expected each writer once", err);
				c->dropped[list] = true;
			}
			if (node == KR_NONE) {
				node = c->nodes.n;
				if (!kr_table_push(h->mem, &c->table, pair_hash(order->key, writer),
					    &c->nodes, (struct node){.key = order->key, .writer = writer}))
					return KR_NOMEM;
			}
			c->nodes.at[node].list = list;
			c->node_of[i] = node;
		}
	}
	return KR_OK;
}

static enum kr_status mark_written(struct checker *c)
{
	struct kr_history *h = c->h;
	struct kr_write write;

	for (uint32_t t = 0; t < h->txns.n; t++) {
		for (uint32_t i = 0; i < h->txns.at[t].op_count; i++) {
			KR_TRY(kr_ctx_tick(c->ctx));
			for (uint32_t n = 0;
				kr_write_at(h, &h->ops.at[h->txns.at[t].op_first + i], n, &write); n++) {
				uint32_t node = find_node(c, write.key, (kr_txn){t});
				if (node != KR_NONE)
					c->nodes.at[node].wrote = true;
			}
		}
	}
	return KR_OK;
}

static enum kr_status check_writers(struct checker *c, struct kr_err *err)
{
	struct kr_history *h = c->h;

	for (uint32_t list = 0; list < h->version_orders.n; list++) {
		const struct kr_version_order *order = &h->version_orders.at[list];
		for (uint32_t i = order->writer_first; i < order->writer_first + order->writer_count; i++) {
			kr_txn writer = h->order_writers.at[i];
			bool aborted = h->txns.at[writer.i].status == KR_ABORTED;
			if (c->nodes.at[c->node_of[i]].wrote && !aborted)
				continue;
			if (!h->lenient)
				return order_error(c, list, writer,
					aborted ? "is aborted, expected writers that took effect"
						: "does not write that key, expected a writer",
					err);
			c->dropped[list] = true;
		}
	}
	return KR_OK;
}

/* ---- contradictions ---- */

/* The edges of orders [0, lists) that are not dropped, as offset arrays. */
static void build_edges(struct checker *c, uint32_t lists)
{
	const struct kr_history *h = c->h;

	for (uint32_t n = 0; n <= c->nodes.n; n++)
		c->first[n] = 0;
	for (int fill = 0; fill < 2; fill++) {
		for (uint32_t list = 0; list < lists; list++) {
			const struct kr_version_order *order = &h->version_orders.at[list];
			for (uint32_t i = order->writer_first;
				!c->dropped[list] && i + 1 < order->writer_first + order->writer_count; i++) {
				if (fill)
					c->next[--c->first[c->node_of[i]]] = c->node_of[i + 1];
				else
					c->first[c->node_of[i]]++;
			}
		}
		/* counts become ends, which filling turns into starts */
		for (uint32_t n = 0; !fill && n < c->nodes.n; n++)
			c->first[n + 1] += c->first[n];
	}
}

/* Sorts the nodes topologically into c->sorted; how many could be sorted. */
static uint32_t sort_nodes(struct checker *c)
{
	uint32_t count = 0;

	for (uint32_t n = 0; n < c->nodes.n; n++)
		c->degree[n] = 0;
	for (uint32_t e = 0; e < c->first[c->nodes.n]; e++)
		c->degree[c->next[e]]++;
	for (uint32_t n = 0; n < c->nodes.n; n++)
		if (c->degree[n] == 0)
			c->sorted[count++] = n;
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t e = c->first[c->sorted[i]]; e < c->first[c->sorted[i] + 1]; e++)
			if (--c->degree[c->next[e]] == 0)
				c->sorted[count++] = c->next[e];
	return count;
}

static bool agree(struct checker *c, uint32_t lists)
{
	build_edges(c, lists);
	return sort_nodes(c) == c->nodes.n;
}

/* Names a pair of writers that order `list` puts the other way round than the orders before it. */
static enum kr_status contradiction(struct checker *c, uint32_t list, struct kr_err *err)
{
	const struct kr_version_order *order = &c->h->version_orders.at[list];
	const uint32_t *of = c->node_of + order->writer_first;
	uint32_t *latest = c->degree; /* 1 + the latest place in `list` that reaches the node, 0: none */
	uint32_t from = 0, to = 0;
	char key[80], a[80], b[80];

	(void)agree(c, list);
	for (uint32_t n = 0; n < c->nodes.n; n++) {
		c->nodes.at[n].list = KR_NONE;
		latest[n] = 0;
	}
	for (uint32_t i = 0; i < order->writer_count; i++)
		c->nodes.at[of[i]].list = i; /* place in the bad order */
	for (uint32_t s = 0; s < c->nodes.n && to == from; s++) {
		uint32_t n = c->sorted[s], place = c->nodes.at[n].list;
		if (place != KR_NONE && latest[n] > place + 1) {
			from = place;
			to = latest[n] - 1;
		}
		uint32_t reach = place != KR_NONE && place + 1 > latest[n] ? place + 1 : latest[n];
		for (uint32_t e = c->first[n]; e < c->first[n + 1]; e++)
			if (latest[c->next[e]] < reach)
				latest[c->next[e]] = reach;
	}
	kr_history_brief(c->h, c->h->keys.at[order->key.i].name, key, sizeof key);
	kr_history_brief(c->h, c->h->txns.at[c->nodes.at[of[from]].writer.i].id, a, sizeof a);
	kr_history_brief(c->h, c->h->txns.at[c->nodes.at[of[to]].writer.i].id, b, sizeof b);
	kr_err_set(err, KR_BAD,
		"version order of %s: %s before %s, but earlier version orders put %s before %s", key, a, b,
		b, a);
	kr_err_at(err, c->h->files.n ? c->h->files.at[0] : NULL, order->line, 0);
	return KR_BAD;
}

static enum kr_status check_agreement(struct checker *c, struct kr_err *err)
{
	uint32_t lists = c->h->version_orders.n, good = 0;

	while (!agree(c, lists)) {
		KR_TRY(kr_ctx_check(c->ctx));
		KR_BISECT(good, good + 1, lists, agree(c, good));
		if (!c->h->lenient) /* orders [0, good) contradict each other, without the last they do not */
			return contradiction(c, good - 1, err);
		c->dropped[good - 1] = true;
	}
	return KR_OK;
}

static void drop_orders(struct checker *c)
{
	struct kr_history *h = c->h;
	uint32_t kept = 0;

	for (uint32_t list = 0; list < h->version_orders.n; list++) {
		if (c->dropped[list])
			kr_history_leave_out(h, NULL);
		else
			h->version_orders.at[kept++] = h->version_orders.at[list];
	}
	h->version_orders.n = kept;
}

static enum kr_status check_orders(struct checker *c, struct kr_err *err)
{
	size_t entries = c->h->order_writers.n;

	KR_TRY(kr_arena_new(&c->arena, c->node_of, entries));
	KR_TRY(kr_arena_new(&c->arena, c->dropped, c->h->version_orders.n));
	KR_TRY(number_writers(c, err));
	KR_TRY(mark_written(c));
	KR_TRY(check_writers(c, err));
	KR_TRY(kr_arena_new(&c->arena, c->first, (size_t)c->nodes.n + 1));
	KR_TRY(kr_arena_new(&c->arena, c->next, entries));
	KR_TRY(kr_arena_new(&c->arena, c->degree, c->nodes.n));
	KR_TRY(kr_arena_new(&c->arena, c->sorted, c->nodes.n));
	KR_TRY(check_agreement(c, err));
	drop_orders(c);
	return KR_OK;
}

/* Gives unused room back; when that fails the array stays as it is. */
#define TRIM(mem, v) \
	do { \
		void *trimmed = (v)->cap > (v)->n \
			? kr_mem_resize((mem), (v)->at, (v)->cap, (v)->n, sizeof *(v)->at) \
			: NULL; \
		if (trimmed) { \
			(v)->at = trimmed; \
			(v)->cap = (v)->n; \
		} \
	} while (0)

enum kr_status kr_history_finish(struct kr_history *h, struct kr_ctx *ctx, struct kr_err *err)
{
	enum kr_status status = KR_OK;

	kr_history_find_lists(h);

	if (h->version_orders.n != 0) {
		struct checker c = {.arena = {.mem = h->mem}, .h = h, .ctx = ctx};
		status = check_orders(&c, err);
		kr_arena_done(&c.arena);
		kr_vec_done(h->mem, &c.nodes);
		kr_table_done(h->mem, &c.table);
	}
	while (!status && h->white_box.n != 0 && h->white_box.n < h->txns.n)
		if (!kr_vec_push(h->mem, &h->white_box, (struct kr_white_box){0}))
			status = KR_NOMEM;
	if (!status)
		status = kr_history_index_written(h, ctx);
	if (status)
		return status;
	if (!h->counted)
		kr_table_done(h->mem, &h->value_table); /* nobody looks values up by what they are now */
	TRIM(h->mem, &h->values);
	TRIM(h->mem, &h->keys);
	TRIM(h->mem, &h->txns);
	TRIM(h->mem, &h->named);
	TRIM(h->mem, &h->key_heads);
	TRIM(h->mem, &h->ops);
	TRIM(h->mem, &h->scans);
	TRIM(h->mem, &h->rows);
	TRIM(h->mem, &h->conds);
	TRIM(h->mem, &h->attrs);
	TRIM(h->mem, &h->seen);
	return KR_OK;
}
