/* A refutation by one short cycle of edges that the trace itself tells, where there is one (proof.h). From a
 * transaction, a breadth-first search over what the trace tells (evident.h), layer by layer, back to it, in
 * which a state is a transaction and what the pattern needs to know of the way there: whether an rw may
 * follow, whether it passed a transaction that writes nothing. All ways of one layer into a state are kept,
 * so that all shortest cycles through the transaction can be compared; where an earlier layer has passed
 * along a session, a later one has no ways to add, and its edges are only counted. A pattern with exactly one
 * rw is searched from its rw. First the transactions of the refutation that is there, then all others, but
 * for those that are on no cycle: nothing leads to them, or only what is on none;
 * bounded by a number of edges, so that a large trace gets a short cycle near the one found and a small one
 * the shortest.
 * Better is: shorter; fewer rw; fewer so and rt; fewer rt; no two rw neighbours; a lost update, a write skew;
 * fewer predicate rw; of ww and wr what has the more special name (docs/levels.md). */
#include "ir/evident.h"

#include <string.h>

enum { MOST_EDGES = 16, MOST_STEPS = 1000000, MOST_LISTED = 250000, MOST_COMPARED = 500, MERITS = 8 };

struct merit {
	uint32_t of[MERITS];
};

struct entry {
	uint32_t state, ways;
}; /* ways: list of ways that lead to it from the layer before */
struct way {
	uint32_t from, link, next;
}; /* from: an entry */

/* From where on the search of that number has passed along a session. */
struct passed {
	uint32_t search;
	kr_txn from;
};

struct finder {
	struct kr_arena arena;
	struct kr_evident evident;
	const struct kr_pattern *pattern;
	struct kr_links links; /* of this search */
	KR_VEC(struct entry) entries;
	KR_VEC(struct way) ways;
	uint32_t *at, *stamp; /* per state: its entry in the search of that number */
	uint8_t *apart;       /* per transaction: on no cycle */
	/* per session, for states that passed no transaction that writes nothing, and for others; in layers
	 * before the one at hand */
	struct passed *passed;
	uint32_t searches, start; /* start: state */
	uint32_t goal;            /* ways that close a cycle */
	uint32_t op;              /* where the place of operations counts: of the rw at the start */
	uint64_t steps;
	struct merit best;
	struct kr_link cycle[MOST_EDGES]; /* the best one found here, of `length` edges; 0: none */
	uint32_t length;
};

/* ---- which cycle is better ---- */

static bool is_neighbour(const struct kr_link *cycle, uint32_t n, uint32_t i)
{
	return cycle[i].kind == KR_RW && cycle[(i + 1) % n].kind == KR_RW;
}

/* A cycle of links, for the names. */
struct seen {
	const struct kr_asg *asg;
	const struct kr_link *links;
};

static struct kr_pattern_edge edge_of(const void *of, uint32_t i)
{
	const struct seen *s = of;
	const struct kr_link *l = &s->links[i];

	return (struct kr_pattern_edge){.kind = l->kind,
		.key = l->key.i == KR_NONE ? l->key : kr_asg_whole(s->asg, l->key)};
}

static bool reads(const void *of, uint32_t i)
{
	const struct seen *s = of;
	const struct kr_link *l = &s->links[i];

	for (uint32_t o = s->asg->obs_first[l->from.i]; o < s->asg->obs_first[l->from.i + 1]; o++)
		if (!s->asg->obs[o].predicate &&
			kr_asg_whole(s->asg, s->asg->obs[o].key).i == kr_asg_whole(s->asg, l->key).i)
			return true;
	return false;
}

/* Of two transactions: 0 for a lost update, 1 for write skew, else 2. */
static uint32_t pair_rank(const struct kr_asg *asg, const struct kr_link *links)
{
	const struct seen seen = {asg, links};
	const struct kr_pattern_cycle cycle = {.of = &seen, .n = 2, .edge = edge_of, .reads = reads};

	return kr_cycle_is(KR_CYCLE_LOST_UPDATE, &cycle)   ? 0
		: kr_cycle_is(KR_CYCLE_WRITE_SKEW, &cycle) ? 1
							   : 2;
}

static struct merit merit_of(const struct kr_asg *asg, const struct kr_link *cycle, uint32_t n)
{
	uint32_t of[KR_EDGE_KINDS] = {0}, neighbours = 0, predicates = 0;

	for (uint32_t i = 0; i < n; i++) {
		of[cycle[i].kind]++;
		neighbours |= is_neighbour(cycle, n, i);
		predicates += cycle[i].kind == KR_RW && asg->obs[cycle[i].obs.i].predicate;
	}
	return (struct merit){{n, of[KR_RW], of[KR_SO] + of[KR_RT], of[KR_RT], neighbours,
		n == 2 ? pair_rank(asg, cycle) : 0, predicates, of[KR_RW] > 0 ? of[KR_WW] : of[KR_WR]}};
}

static bool is_better(const struct merit *a, const struct merit *b)
{
	uint32_t i = 0;

	while (i + 1 < MERITS && a->of[i] == b->of[i])
		i++;
	return a->of[i] < b->of[i];
}

/* ---- states ---- */

static bool has_turns(const struct kr_pattern *p) { return p->lonely != 0 || p->lead != 0; }

static uint32_t passes_reader(const struct finder *f, kr_txn t)
{
	const struct kr_asg *asg = f->evident.ir->asg;

	return f->pattern->one_reader && asg->written_first[t.i] == asg->written_first[t.i + 1];
}

static uint32_t state_of(kr_txn t, uint32_t turns, uint32_t readers) { return 4 * t.i + 2 * turns + readers; }

static kr_txn txn_of(uint32_t state) { return (kr_txn){state / 4}; }

/* ---- search ---- */

static bool add_way(struct finder *f, uint32_t from, uint32_t link, uint32_t *list)
{
	uint32_t next = *list;

	if (!kr_vec_push(&f->evident.ir->ctx->mem, &f->ways, (struct way){from, link, next}))
		return false;
	*list = f->ways.n - 1;
	return true;
}

/* Does the pattern have this edge as the `first` one or a later one? */
static bool counts(const struct finder *f, const struct kr_link *link, bool first)
{
	const struct kr_observation *obs = link->kind == KR_RW ? &f->evident.ir->asg->obs[link->obs.i] : NULL;

	if (!obs)
		return true;
	if (!kr_pattern_counts(f->pattern, obs->predicate, obs->loose))
		return false;
	return !first || f->pattern->sight == KR_SIGHT_ANY || obs->op == f->op;
}

/* May it be the edge that comes back to the rw at the start? */
static bool may_close(const struct finder *f, const struct kr_link *link)
{
	if (f->pattern->sight == KR_SIGHT_ANY)
		return true;
	return link->kind == KR_WR &&
		kr_pattern_sees(f->pattern, f->evident.ir->asg->obs[link->obs.i].op, f->op);
}

static enum kr_status reach(struct finder *f, uint32_t from, uint32_t link, uint32_t layer_end)
{
	const struct kr_link *l = &f->links.at[link];
	uint32_t turns = has_turns(f->pattern) ? kr_pattern_turns(f->pattern, l->kind) : 0;
	uint32_t readers = (f->entries.at[from].state & 1) + passes_reader(f, l->to),
		 state = state_of(l->to, turns, readers & 1);
	struct kr_mem *mem = &f->evident.ir->ctx->mem;

	if (f->apart[l->to.i] || !counts(f, l, from == 0))
		return KR_OK;
	if (l->to.i == txn_of(f->start).i && turns == (f->start >> 1 & 1))
		return from == 0 || !may_close(f, l) || add_way(f, from, link, &f->goal) ? KR_OK : KR_NOMEM;
	if (readers > 1 || (f->pattern->once && l->to.i == txn_of(f->start).i))
		return KR_OK;
	if (f->stamp[state] != f->searches) {
		f->stamp[state] = f->searches;
		f->at[state] = f->entries.n;
		KR_TRY(kr_vec_add(mem, &f->entries, (struct entry){state, KR_NONE}));
	}
	return f->at[state] < layer_end || add_way(f, from, link, &f->entries.at[f->at[state]].ways)
		? KR_OK
		: KR_NOMEM;
}

static uint32_t kinds_of(const struct finder *f, uint32_t entry)
{
	const struct kr_pattern *p = f->pattern;
	bool may_rw = !has_turns(p) || (f->entries.at[entry].state >> 1 & 1);

	if (p->once)
		return entry == 0 ? p->allowed & p->once : p->allowed & ~p->once;
	return may_rw ? p->allowed : p->allowed & ~KR_BIT(KR_RW);
}

/* Where the entry's so edges lead has been passed from here on; NULL: it has none. */
static struct passed *passed_of(const struct finder *f, uint32_t entry)
{
	uint32_t state = f->entries.at[entry].state;
	kr_txn t = txn_of(state);
	uint32_t session = f->evident.ir->asg->txns[t.i].session;

	return session != KR_NONE && kr_evident_leads(&f->evident, t, kinds_of(f, entry))
		? &f->passed[2 * session + (state & 1)]
		: NULL;
}

static void pass_layer(struct finder *f, uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++) {
		struct passed *passed = passed_of(f, i);
		kr_txn t = txn_of(f->entries.at[i].state);

		if (passed && (passed->search != f->searches || passed->from.i > t.i))
			*passed = (struct passed){f->searches, t};
	}
}

static enum kr_status expand(struct finder *f, uint32_t entry, uint32_t layer_end)
{
	uint32_t state = f->entries.at[entry].state, first = f->links.n;
	const struct passed *passed = passed_of(f, entry);
	kr_txn last = {KR_NONE};

	if (passed && passed->search == f->searches) {
		last = passed->from.i > txn_of(state).i ? passed->from : txn_of(state);
		f->steps += f->evident.behind[last.i];
	}

	enum kr_status status =
		kr_evident_out(&f->evident, txn_of(state), kinds_of(f, entry), last, &f->links);

	f->steps += 1 + f->links.n - first;

	uint32_t kept = first; /* those of which a way is made */

	for (uint32_t i = first; i < f->links.n && !status; i++) {
		uint32_t ways = f->ways.n;
		f->links.at[kept] = f->links.at[i];
		status = reach(f, entry, kept, layer_end);
		kept += f->ways.n > ways;
	}
	f->links.n = kept;
	return status;
}

/* ---- the cycles found ---- */

static void consider(struct finder *f, const uint32_t *path, uint32_t n)
{
	const struct kr_asg *asg = f->evident.ir->asg;
	struct kr_link cycle[MOST_EDGES];

	for (uint32_t i = 0; i < n; i++)
		cycle[i] = f->links.at[f->ways.at[path[i]].link];
	for (uint32_t i = 1; i < n && f->pattern->same_key; i++)
		if (kr_asg_whole(asg, cycle[i].key).i != kr_asg_whole(asg, cycle[0].key).i)
			return;

	struct merit merit = merit_of(asg, cycle, n);

	if (!is_better(&merit, &f->best))
		return;
	f->best = merit;
	memcpy(f->cycle, cycle, n * sizeof *cycle);
	f->length = n;
}

/* All ways of n edges from the goal back to the start, up to a number. */
static void compare_cycles(struct finder *f, uint32_t n)
{
	uint32_t path[MOST_EDGES], i = n - 1;

	path[i] = f->goal;
	for (uint32_t seen = 0; seen < MOST_COMPARED;) {
		if (path[i] == KR_NONE) {
			if (++i == n)
				return;
			path[i] = f->ways.at[path[i]].next;
		} else if (i > 0) {
			path[i - 1] = f->entries.at[f->ways.at[path[i]].from].ways;
			i--;
		} else {
			consider(f, path, n);
			path[0] = f->ways.at[path[0]].next;
			seen++;
		}
	}
}

/* Through the start, no longer than the best so far. */
static enum kr_status search(struct finder *f, uint32_t start)
{
	uint32_t most = f->best.of[0] < MOST_EDGES ? f->best.of[0] : MOST_EDGES, first = 0, depth = 0;

	if (f->pattern->longest && f->pattern->longest < most)
		most = f->pattern->longest;
	f->start = start;
	f->goal = KR_NONE;
	f->searches++;
	kr_vec_clear(&f->links);
	kr_vec_clear(&f->ways);
	kr_vec_clear(&f->entries);
	KR_TRY(kr_vec_add(&f->evident.ir->ctx->mem, &f->entries, (struct entry){start, KR_NONE}));
	while (depth < most && f->goal == KR_NONE && first < f->entries.n) {
		uint32_t layer = first, end = f->entries.n;
		for (; first < end && f->steps < MOST_STEPS; first++)
			KR_TRY(expand(f, first, end));
		pass_layer(f, layer, first);
		if (first < end)
			return KR_OK; /* half a layer would not have all ways */
		depth++;
	}
	if (f->goal != KR_NONE)
		compare_cycles(f, depth);
	return KR_OK;
}

static enum kr_status search_sights(struct finder *f, kr_txn t)
{
	const struct kr_asg *asg = f->evident.ir->asg;

	f->op = KR_NONE;
	for (uint32_t o = asg->obs_first[t.i]; o < asg->obs_first[t.i + 1]; o++) {
		if (asg->obs[o].op == f->op)
			continue;
		f->op = asg->obs[o].op;
		KR_TRY(search(f, state_of(t, 0, 0)));
	}
	return KR_OK;
}

static enum kr_status search_from(struct finder *f, kr_txn t)
{
	const struct kr_level *level = f->evident.ir->level;

	if (f->apart[t.i])
		return KR_OK;
	for (int i = 0; i < KR_PATTERNS_MOST && level->forbidden[i].allowed; i++) {
		f->pattern = &level->forbidden[i];
		if (f->pattern->needed)
			continue;
		if (f->pattern->sight != KR_SIGHT_ANY) {
			KR_TRY(search_sights(f, t));
			continue;
		}
		KR_TRY(search(f, state_of(t, 0, passes_reader(f, t))));
		if (has_turns(f->pattern))
			KR_TRY(search(f, state_of(t, 1, passes_reader(f, t))));
	}
	return KR_OK;
}

static enum kr_status search_all(struct finder *f, const struct kr_proof *proof)
{
	const struct kr_ir *ir = f->evident.ir;

	for (uint32_t i = 0; i < proof->links.n && f->steps < MOST_STEPS; i++)
		KR_TRY(search_from(f, proof->links.at[i].from));
	for (uint32_t t = 0; t < ir->asg->ntxns && f->steps < MOST_STEPS; t++)
		KR_TRY(search_from(f, (kr_txn){t}));
	return KR_OK;
}

/* ---- who is on no cycle ----
 * Where there are too many edges to list, that is left open. */

/* Edges that leave t, into f->links. */
static enum kr_status list_out(struct finder *f, uint32_t t)
{
	uint32_t kinds = kr_level_kinds(f->evident.ir->level);

	kr_vec_clear(&f->links);
	return kr_evident_out(&f->evident, (kr_txn){t}, kinds, (kr_txn){KR_NONE}, &f->links);
}

/* How many edges lead to each; *listed: all of them were. */
static enum kr_status count_in(struct finder *f, uint32_t *in, bool *listed)
{
	uint32_t n = 0, t = 0;

	for (; t < f->evident.ir->asg->ntxns && n < MOST_LISTED; t++) {
		KR_TRY(list_out(f, t));
		n += f->links.n;
		for (uint32_t i = 0; i < f->links.n; i++)
			in[f->links.at[i].to.i]++;
	}
	*listed = t == f->evident.ir->asg->ntxns;
	return KR_OK;
}

static enum kr_status leave_out(struct finder *f, uint32_t *in, uint32_t *queue)
{
	uint32_t n = 0;

	for (uint32_t t = 0; t < f->evident.ir->asg->ntxns; t++)
		if (in[t] == 0)
			queue[n++] = t;
	for (uint32_t i = 0; i < n; i++) {
		f->apart[queue[i]] = true;
		KR_TRY(list_out(f, queue[i]));
		for (uint32_t j = 0; j < f->links.n; j++)
			if (--in[f->links.at[j].to.i] == 0)
				queue[n++] = f->links.at[j].to.i;
	}
	return KR_OK;
}

static enum kr_status find_apart(struct finder *f)
{
	struct kr_mem *mem = &f->evident.ir->ctx->mem;
	uint32_t n = f->evident.ir->asg->ntxns, *in = kr_mem_alloc(mem, n, sizeof *in),
		 *queue = kr_mem_alloc(mem, n, sizeof *queue);
	bool listed = false;
	enum kr_status status = in && queue ? count_in(f, in, &listed) : KR_NOMEM;

	if (!status && listed)
		status = leave_out(f, in, queue);
	kr_mem_free(mem, in, n, sizeof *in);
	kr_mem_free(mem, queue, n, sizeof *queue);
	return status;
}

static enum kr_status replace(struct kr_proof *proof, const struct finder *f)
{
	KR_TRY(kr_vec_reserve(proof->mem, &proof->cycles, 1) &&
				kr_vec_reserve(proof->mem, &proof->links, f->length)
			? KR_OK
			: KR_NOMEM);
	kr_vec_clear(&proof->cycles);
	kr_proof_begin(proof);
	for (uint32_t i = 0; i < f->length; i++)
		KR_TRY(kr_proof_add_link(proof, f->cycle[i]));
	return kr_proof_end(proof);
}

enum kr_status kr_proof_shorten(struct kr_proof *proof, const struct kr_ir *ir)
{
	struct kr_mem *mem = &ir->ctx->mem;
	size_t states = (size_t)ir->asg->ntxns * 4;
	struct finder f = {.arena = {.mem = mem}, .best = {{MOST_EDGES + 1}}};
	KR_TRY(kr_evident_init(&f.evident, ir));
	if (proof->cycles.n == 1)
		f.best = merit_of(ir->asg, &proof->links.at[proof->cycles.at[0].first],
			proof->cycles.at[0].count);
	f.at = kr_arena_alloc(&f.arena, states, sizeof *f.at);
	f.stamp = kr_arena_alloc(&f.arena, states, sizeof *f.stamp);
	f.passed = kr_arena_alloc(&f.arena, 2 * (size_t)ir->asg->nsessions, sizeof *f.passed);
	f.apart = kr_arena_alloc(&f.arena, ir->asg->ntxns, sizeof *f.apart);
	enum kr_status status = f.at && f.stamp && f.passed && f.apart ? find_apart(&f) : KR_NOMEM;
	if (!status)
		status = search_all(&f, proof);
	if (!status && f.length > 0)
		status = replace(proof, &f);
	kr_vec_done(mem, &f.links);
	kr_vec_done(mem, &f.entries);
	kr_vec_done(mem, &f.ways);
	kr_arena_done(&f.arena);
	kr_evident_done(&f.evident);
	return status;
}
