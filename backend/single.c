/* Forbidden cycles with exactly one rw, or with one transaction that writes nothing (single.h).
 *
 * One rw t -> b: b's version comes after what t saw, and b leads back to t by the other kinds of the pattern.
 * Since these are edges of a graph that has been sorted, b can lead to t only if it comes first; with a good
 * order that is seldom, and only then a breadth-first search looks, among what lies between the two. Patterns
 * of two edges are looked up in the trace. A pattern with a demand on the operation (`sight`) ends in a wr
 * whose observation stands where it must. All later versions are tried, not just the next, by one search from
 * all of their writers. Where no ww leads on, a wr of a part of a key counts only if that is the newest part
 * that the operation saw: it tells then which version of the key was seen. One reader t: a search from t
 * through transactions that write, back to t. Cost: O(edges) per reader. Cycles of one search are shortest;
 * each rw starts one at most. */
#include "backend/single.h"

#include <string.h>

#include "base/order.h"

struct finding {
	struct kr_arena arena;
	struct kr_candidate *w;
	struct kr_ir *ir;
	const struct kr_asg *asg;
	const struct kr_pattern *pattern;
	struct kr_proof *proof;
	/* per version: its place among its key's in the world, from 1; 0: not there, or initial */
	uint32_t *place;
	kr_version *in_order; /* by key: its active versions in order, at the key's place in `versions` */
	uint32_t *count;      /* per key */
	/* search */
	uint32_t *
		/* per node: known edge, or edges.n + link of whole, or edges.n + links.n + other, or behind
		 * these observation whose source it is; by which it was reached */
		via;
	uint32_t *reached; /* per node: the search that reached it */
	uint32_t searches;
	KR_VEC(uint32_t) queue;
	uint32_t *other_head, *other_next; /* others by their source, per transaction */
	uint32_t found, most;
	/* per observation of a part: its operation saw another one as of a later version; NULL: does not
	 * matter at this level */
	uint8_t *outdone;
	bool whole; /* but it does to the pattern */
};

static kr_txn writer(const struct finding *f, kr_version v) { return f->asg->versions[v.i].writer; }

/* ---- versions in order ---- */

struct placed {
	uint32_t place, version;
};

KR_BY(by_place, struct placed, place);

static enum kr_status order_versions(struct finding *f)
{
	struct placed *scratch = kr_mem_alloc(&f->ir->ctx->mem, f->asg->nversions, sizeof *scratch);
	if (!scratch)
		return KR_NOMEM;
	for (uint32_t k = 0; k < f->asg->nkeys; k++) {
		uint32_t first = f->asg->keys[k].first, n = 0;
		for (uint32_t v = first + 1; v < f->asg->keys[k + 1].first; v++) {
			kr_txn t = f->asg->versions[v].writer;
			if (f->w->active[t.i])
				scratch[n++] = (struct placed){f->w->place[kr_ir_out(f->ir, KR_WW, t).i], v};
		}
		KR_SORT(scratch, n, by_place);
		for (uint32_t i = 0; i < n; i++) {
			f->in_order[first + i].i = scratch[i].version;
			f->place[scratch[i].version] = i + 1;
		}
		f->count[k] = n;
	}
	kr_mem_free(&f->ir->ctx->mem, scratch, f->asg->nversions, sizeof *scratch);
	return KR_OK;
}

/* ---- the newest part ---- */

static uint32_t place_seen(const struct finding *f, uint32_t o)
{
	kr_version v = f->w->source[o];
	return v.i == KR_NONE || kr_asg_is_initial(f->asg, v)
		? 0
		: 1 + f->w->place[kr_ir_out(f->ir, KR_WW, writer(f, v)).i];
}

static bool wants_whole(const struct kr_level *level)
{
	bool wants = false;
	for (int i = 1; i < KR_PATTERNS_MOST && level->forbidden[i].allowed; i++)
		wants |= kr_pattern_wants_whole(&level->forbidden[i]);
	return wants;
}

static enum kr_status find_outdone(struct finding *f)
{
	const struct kr_asg *asg = f->asg;
	struct kr_mem *mem = &f->ir->ctx->mem;
	if (asg->nparts == 0 || !wants_whole(f->ir->level))
		return KR_OK;
	KR_TRY(kr_arena_new(&f->arena, f->outdone, asg->nobs));
	uint32_t *newest = kr_mem_alloc(mem, asg->nkeys, sizeof *newest);
	enum kr_status status = newest ? KR_OK : KR_NOMEM;
	for (uint32_t first = 0, end; first < asg->nobs && !status; first = end) {
		end = kr_asg_operation_end(asg, first);
		for (uint32_t o = first; o < end; o++) {
			uint32_t k = kr_asg_whole(asg, asg->obs[o].key).i, place = place_seen(f, o);
			newest[k] = place > newest[k] ? place : newest[k];
		}
		for (uint32_t o = first; o < end; o++)
			f->outdone[o] = place_seen(f, o) < newest[kr_asg_whole(asg, asg->obs[o].key).i];
		for (uint32_t o = first; o < end; o++)
			newest[kr_asg_whole(asg, asg->obs[o].key).i] = 0;
		status = kr_ctx_tick(f->ir->ctx);
	}
	kr_mem_free(mem, newest, asg->nkeys, sizeof *newest);
	return status;
}

/* Does a wr by observation o count? */
static bool leads_on(const struct finding *f, uint32_t o) { return !f->whole || !f->outdone[o]; }

/* ---- search ---- */

static bool expands(const struct finding *f, kr_node v)
{
	kr_txn t = kr_ir_txn(f->ir, v);
	return t.i == KR_NONE || f->w->ordered[t.i];
}

static enum kr_status reach(struct finding *f, kr_node to, uint32_t edge, uint32_t rank)
{
	if (f->reached[to.i] == f->searches || (rank != KR_NONE && f->w->whole.rank[to.i] > rank))
		return KR_OK;
	f->reached[to.i] = f->searches;
	f->via[to.i] = edge;
	return kr_vec_add(&f->ir->ctx->mem, &f->queue, to.i);
}

/* To whoever saw a version of t's. */
static enum kr_status expand_sights(struct finding *f, kr_txn t, uint32_t rank)
{
	const struct kr_asg *asg = f->asg;
	uint32_t first = f->ir->edges.n + f->w->whole.links.n + f->w->others.n;
	enum kr_status status = KR_OK;
	for (uint32_t i = asg->written_first[t.i]; i < asg->written_first[t.i + 1]; i++)
		for (uint32_t o = f->w->reader_head[asg->written[i].i]; o != KR_NONE && !status;
			o = f->w->reader_next[o])
			if (leads_on(f, o) && asg->obs[o].txn.i != t.i)
				status = reach(f, kr_ir_in(f->ir, KR_WR, asg->obs[o].txn), first + o, rank);
	return status;
}

static enum kr_status expand(struct finding *f, kr_node v, uint32_t rank)
{
	const struct kr_overlay *o = &f->w->whole;
	uint32_t kinds = (f->pattern->allowed & ~f->pattern->once) | KR_BIT(KR_PROGRAM),
		 known = f->ir->edges.n, links = o->links.n;
	bool by_sight = f->whole && kinds & KR_BIT(KR_WR);
	kinds &= by_sight ? ~KR_BIT(KR_WR) : kinds;
	kr_txn t = kr_ir_txn(f->ir, v);
	enum kr_status status = KR_OK;
	for (uint32_t e = f->ir->head.at[v.i]; e != KR_NONE && !status; e = f->ir->edges.at[e].next) {
		if (kinds & KR_BIT(f->ir->edges.at[e].kind))
			status = reach(f, f->ir->edges.at[e].to, e, rank);
	}
	for (uint32_t l = o->head[v.i]; l != KR_NONE && !status; l = o->arcs.at[l].next) {
		if (kinds & KR_BIT(o->links.at[l].kind))
			status = reach(f, kr_ir_in(f->ir, o->links.at[l].kind, o->links.at[l].to), known + l,
				rank);
	}
	for (uint32_t x = t.i == KR_NONE ? KR_NONE : f->other_head[t.i]; x != KR_NONE && !status;
		x = f->other_next[x]) {
		if (kinds & KR_BIT(f->w->others.at[x].kind))
			status = reach(f, kr_ir_in(f->ir, f->w->others.at[x].kind, f->w->others.at[x].to),
				known + links + x, rank);
	}
	if (by_sight && t.i != KR_NONE && !status)
		status = expand_sights(f, t, rank);
	return status ? status : kr_ctx_tick(f->ir->ctx);
}

static void begin(struct finding *f)
{
	f->searches++;
	kr_vec_clear(&f->queue);
}

/* One more node to search from. */
static enum kr_status start(struct finding *f, kr_node from)
{
	f->reached[from.i] = f->searches;
	f->via[from.i] = KR_NONE;
	return kr_vec_add(&f->ir->ctx->mem, &f->queue, from.i);
}

/* From where it starts until `to` is reached, or everything. Nodes of higher rank than `rank` (KR_NONE: none)
 * are not entered. */
static enum kr_status search(struct finding *f, kr_node to, uint32_t rank)
{
	uint32_t starts = f->queue.n;
	for (uint32_t i = 0; i < f->queue.n && (to.i == KR_NONE || f->reached[to.i] != f->searches); i++) {
		kr_node v = {f->queue.at[i]};
		if (i < starts || expands(f, v))
			KR_TRY(expand(f, v, rank));
	}
	return KR_OK;
}

static struct kr_link wr_link(const struct finding *f, uint32_t o)
{
	const struct kr_observation *x = &f->asg->obs[o];
	return (struct kr_link){KR_WR, writer(f, f->w->source[o]), x->txn, {o}, f->w->source[o], x->key,
		KR_NONE};
}

/* By its number behind the known edges. */
static struct kr_link link_at(const struct finding *f, uint32_t i)
{
	uint32_t links = f->w->whole.links.n;
	if (i < links)
		return f->w->whole.links.at[i];
	return i - links < f->w->others.n ? f->w->others.at[i - links]
					  : wr_link(f, i - links - f->w->others.n);
}

static kr_node tail(const struct finding *f, uint32_t edge)
{
	if (edge < f->ir->edges.n)
		return f->ir->edges.at[edge].from;
	struct kr_link link = link_at(f, edge - f->ir->edges.n);
	return kr_ir_out(f->ir, link.kind, link.from);
}

/* ---- cycles ---- */

static enum kr_status add_edges(struct finding *f, const uint32_t *path, uint32_t n)
{
	uint32_t known = f->ir->edges.n;
	for (uint32_t i = 0, end; i < n; i = end) {
		for (end = i; end < n && path[end] < known;)
			end++;
		if (end > i) {
			KR_TRY(kr_proof_add_path(f->proof, f->ir, path + i, end - i));
		} else {
			KR_TRY(kr_proof_add_link(f->proof, link_at(f, path[end++] - known)));
		}
	}
	return KR_OK;
}

/* Where the last search started from that has reached the node. */
static kr_node origin(const struct finding *f, kr_node v)
{
	while (f->via[v.i] != KR_NONE)
		v = tail(f, f->via[v.i]);
	return v;
}

/* Appends the path that the last search found from `from` to `to`; none, if it started there. */
static enum kr_status add_path(struct finding *f, kr_node from, kr_node to)
{
	struct kr_mem *mem = &f->ir->ctx->mem;
	KR_VEC(uint32_t) path = {0};
	enum kr_status status = KR_OK;
	for (kr_node v = to; f->via[v.i] != KR_NONE && (v.i != from.i || path.n == 0) && !status;
		v = tail(f, f->via[v.i]))
		status = kr_vec_add(mem, &path, f->via[v.i]);
	for (uint32_t i = 0; i < path.n / 2; i++) {
		uint32_t swap = path.at[i];
		path.at[i] = path.at[path.n - 1 - i];
		path.at[path.n - 1 - i] = swap;
	}
	if (!status)
		status = add_edges(f, path.at, path.n);
	kr_vec_done(mem, &path);
	return status;
}

static struct kr_link rw_link(const struct finding *f, uint32_t o, kr_version later)
{
	const struct kr_observation *x = &f->asg->obs[o];
	return (struct kr_link){KR_RW, x->txn, writer(f, later), {o}, f->w->source[o], x->key, KR_NONE};
}

static enum kr_status close_cycle(struct finding *f)
{
	KR_TRY(kr_proof_end(f->proof));
	f->found++;
	f->proof->cycles.at[f->proof->cycles.n - 1].whole = f->whole;
	return KR_OK;
}

/* rw, then one more link. */
static enum kr_status add_pair(struct finding *f, uint32_t o, kr_version later, struct kr_link back)
{
	kr_proof_begin(f->proof);
	KR_TRY(kr_proof_add_link(f->proof, rw_link(f, o, later)));
	KR_TRY(kr_proof_add_link(f->proof, back));
	return close_cycle(f);
}

/* ---- one rw ---- */

static bool counts(const struct finding *f, uint32_t o)
{
	const struct kr_observation *x = &f->asg->obs[o];
	return f->w->active[x->txn.i] && kr_pattern_counts(f->pattern, x->predicate, x->loose);
}

/* Whether a wr by observation p may close a cycle whose rw is by observation o. */
static bool may_close(const struct finding *f, uint32_t o, uint32_t p)
{
	return kr_pattern_sees(f->pattern, f->asg->obs[p].op, f->asg->obs[o].op);
}

/* a before b by an order edge that the pattern has. */
static bool precedes(const struct finding *f, kr_txn a, kr_txn b, uint8_t *kind)
{
	for (*kind = KR_SO; *kind <= KR_RT; ++*kind)
		if (f->pattern->allowed & KR_BIT(*kind) &&
			kr_ir_precedes(f->ir, a, b, (enum kr_edge_kind) * kind))
			return true;
	return false;
}

/* The key of a ww from b to t: of whole key k, or of any that both write unless the pattern is of one key
 * only; KR_NONE: there is none. */
static kr_key overwritten_by(const struct finding *f, kr_txn b, kr_txn t, kr_key k)
{
	const struct kr_asg *asg = f->asg;
	for (uint32_t i = asg->written_first[b.i]; i < asg->written_first[b.i + 1]; i++) {
		kr_version theirs = asg->written[i];
		kr_key key = asg->versions[theirs.i].key;
		if (kr_asg_whole(asg, key).i != key.i || (f->pattern->same_key && key.i != k.i))
			continue;
		kr_version own = kr_asg_version_of(asg, t, key);
		if (own.i != KR_NONE && f->place[own.i] > f->place[theirs.i])
			return key;
	}
	return (kr_key){KR_NONE};
}

/* A pattern of two edges: rw from o to `later`, and one back. */
static enum kr_status find_pair(struct finding *f, uint32_t o, kr_version later, bool *found)
{
	const struct kr_observation *x = &f->asg->obs[o];
	kr_txn b = writer(f, later);
	struct kr_link back = {.kind = KR_WW,
		.from = b,
		.to = x->txn,
		.obs = {KR_NONE},
		.seen = {KR_NONE},
		.key = {KR_NONE},
		.edge = KR_NONE};
	*found = true;
	if (f->pattern->allowed & KR_BIT(KR_WW)) {
		back.key = overwritten_by(f, b, x->txn, kr_asg_whole(f->asg, x->key));
		if (back.key.i != KR_NONE)
			return add_pair(f, o, later, back);
	}
	for (uint32_t p = f->asg->obs_first[x->txn.i];
		p < f->asg->obs_first[x->txn.i + 1] && f->pattern->allowed & KR_BIT(KR_WR); p++) {
		if (may_close(f, o, p) && leads_on(f, p) && !kr_asg_is_initial(f->asg, f->w->source[p]) &&
			writer(f, f->w->source[p]).i == b.i)
			return add_pair(f, o, later, wr_link(f, p));
	}
	if (precedes(f, b, x->txn, &back.kind)) {
		back.key.i = KR_NONE;
		return add_pair(f, o, later, back);
	}
	*found = false;
	return KR_OK;
}

/* The observation by which a path comes back to o's transaction, as the pattern wants it; KR_NONE: there is
 * none. */
static uint32_t find_sight(const struct finding *f, uint32_t o)
{
	kr_txn t = f->asg->obs[o].txn;
	for (uint32_t p = f->asg->obs_first[t.i]; p < f->asg->obs_first[t.i + 1]; p++) {
		kr_txn w = writer(f, f->w->source[p]);
		if (may_close(f, o, p) && leads_on(f, p) && w.i != KR_NONE && f->reached[w.i] == f->searches)
			return p;
	}
	return KR_NONE;
}

/* rw from o to one of the versions from `i` on in its key's order, and a path back: one search from all of
 * them. */
static enum kr_status find_path(struct finding *f, uint32_t o, uint32_t i)
{
	const struct kr_observation *x = &f->asg->obs[o];
	kr_txn t = x->txn;
	uint32_t rank = f->w->whole.rank[t.i], first = f->asg->keys[x->key.i].first, last = KR_NONE;
	/* else it matters by which observation the path comes back, and the search must not end with the
	 * first */
	bool any = f->pattern->sight == KR_SIGHT_ANY;

	begin(f);
	for (; i < f->count[x->key.i]; i++) {
		kr_version later = f->in_order[first + i];
		kr_txn b = writer(f, later);
		if (b.i != t.i && f->w->whole.rank[b.i] <= rank &&
			kr_ir_overwrites(f->ir, (kr_obs){o}, later))
			KR_TRY(start(f, (kr_node){b.i}));
		KR_TRY(kr_ctx_tick(f->ir->ctx));
	}
	if (f->queue.n > 0)
		KR_TRY(search(f, (kr_node){any ? t.i : KR_NONE}, rank));
	if (!any)
		last = find_sight(f, o);
	if (any ? f->reached[t.i] != f->searches : last == KR_NONE)
		return KR_OK;
	kr_node end = {any ? t.i : writer(f, f->w->source[last]).i}, from = origin(f, end);
	kr_proof_begin(f->proof);
	KR_TRY(kr_proof_add_link(f->proof,
		rw_link(f, o, kr_asg_version_of(f->asg, (kr_txn){from.i}, x->key))));
	KR_TRY(add_path(f, from, end));
	if (last != KR_NONE)
		KR_TRY(kr_proof_add_link(f->proof, wr_link(f, last)));
	return close_cycle(f);
}

static enum kr_status find_single(struct finding *f, uint32_t o)
{
	const struct kr_observation *x = &f->asg->obs[o];
	uint32_t first = f->asg->keys[x->key.i].first, i = f->place[f->w->source[o].i];
	bool found = false;
	if (f->pattern->longest != 2)
		return find_path(f, o, i);
	for (; i < f->count[x->key.i] && !found; i++) {
		kr_version later = f->in_order[first + i];
		if (kr_ir_overwrites(f->ir, (kr_obs){o}, later))
			KR_TRY(find_pair(f, o, later, &found));
		KR_TRY(kr_ctx_tick(f->ir->ctx));
	}
	return KR_OK;
}

/* ---- one reader ---- */

static enum kr_status find_reader(struct finding *f, kr_txn t)
{
	kr_node node = {t.i};
	begin(f);
	/* not reached by that */
	KR_TRY(kr_vec_add(&f->ir->ctx->mem, &f->queue, t.i));
	KR_TRY(search(f, node, KR_NONE));
	if (f->reached[t.i] != f->searches)
		return KR_OK;
	kr_proof_begin(f->proof);
	KR_TRY(add_path(f, node, node));
	return close_cycle(f);
}

/* ---- all of them ---- */

static enum kr_status allocate(struct finding *f)
{
	KR_TRY(kr_arena_new(&f->arena, f->place, f->asg->nversions));
	KR_TRY(kr_arena_new(&f->arena, f->in_order, f->asg->nversions));
	KR_TRY(kr_arena_new(&f->arena, f->count, f->asg->nkeys));
	KR_TRY(kr_arena_new(&f->arena, f->via, f->ir->nnodes));
	KR_TRY(kr_arena_new(&f->arena, f->reached, f->ir->nnodes));
	KR_TRY(kr_arena_new(&f->arena, f->other_head, f->asg->ntxns));
	return kr_arena_new(&f->arena, f->other_next, f->w->others.n);
}

static void release(struct finding *f)
{
	struct kr_mem *mem = &f->ir->ctx->mem;
	kr_arena_done(&f->arena);
	kr_vec_done(mem, &f->queue);
}

static void index_others(struct finding *f)
{
	memset(f->other_head, 0xff, f->asg->ntxns * sizeof *f->other_head);
	for (uint32_t x = 0; x < f->w->others.n; x++) {
		uint32_t from = f->w->others.at[x].from.i;
		f->other_next[x] = f->other_head[from];
		f->other_head[from] = x;
	}
}

static enum kr_status find_all(struct finding *f)
{
	const struct kr_level *level = f->ir->level;
	KR_TRY(order_versions(f));
	KR_TRY(find_outdone(f));
	index_others(f);
	if (kr_level_asks(level) == KR_ASK_READERS) {
		f->pattern = &level->forbidden[0];
		for (uint32_t t = 0; t < f->asg->ntxns && f->found < f->most; t++) {
			if (f->w->active[t] && !f->w->ordered[t])
				KR_TRY(find_reader(f, (kr_txn){t}));
		}
	}
	for (int i = 1; i < KR_PATTERNS_MOST && level->forbidden[i].allowed; i++) {
		f->pattern = &level->forbidden[i];
		f->whole = f->outdone && kr_pattern_wants_whole(f->pattern);
		for (uint32_t o = 0; o < f->asg->nobs && f->found < f->most; o++) {
			if (counts(f, o))
				KR_TRY(find_single(f, o));
		}
	}
	return KR_OK;
}

enum kr_status kr_single_cycles(struct kr_candidate *w, struct kr_proof *proof, uint32_t most)
{
	struct finding f = {.arena = {.mem = &w->ir->ctx->mem},
		.w = w,
		.ir = w->ir,
		.asg = w->ir->asg,
		.proof = proof,
		.most = most};
	enum kr_status status = allocate(&f);
	if (!status)
		status = find_all(&f);
	release(&f);
	return status;
}
