/* Back end `exhaustive`: the reference. Depth-first over all choices of a world, one alternative after the
 * other, with a plain search for a cycle after each.
 *
 * Choices: what each observation of a present transaction saw; which of two versions of a key by present
 * transactions came first. An unknown transaction is present iff somebody present saw it: leaving out the
 * others only takes edges away. An alternative brings the edges that docs/levels.md gives it (graph.c); when
 * one closes a cycle, the cycle is a clause of the proof and the next alternative is tried. With no choice
 * left the graph is a world's: its topological order is the answer. With no alternative left every world has
 * one of the cycles: in a world, follow its alternatives from the first choice on; the search did, too, and
 * met a cycle of the world's edges. All candidates are tried, whatever the passes know: so no choice rests on
 * anything but the trace. Parts of a key that one operation saw at different points of the key's order are no
 * world: the cycle that says so is a clause like any other. Exponential: gives up after
 * KR_GRAPH_MOST_STEPS. */
#include <stdio.h>

#include "backend/graph.h"
#include "backend/told.h"

enum { MOST_PAIRS = 1 << 24 };

enum { OPEN, BEFORE, AFTER }; /* of a pair of versions */

struct choice {
	kr_obs obs;      /* what it saw, or KR_NONE: the order of a and b */
	kr_version a, b; /* a was made before b */
	kr_candidates candidates;
	uint8_t tried;                          /* order: how many alternatives */
	uint32_t edges, present, seen, ordered; /* lengths of the trails before it */
};

struct pair {
	kr_version a, b;
};

struct search {
	struct kr_arena arena;
	struct kr_ir *ir;
	struct kr_answer *answer;
	struct kr_told told;
	struct kr_graph graph;
	uint8_t *present;
	kr_version *source;  /* per observation, KR_NONE: open */
	size_t *order_first; /* per key: its square in order */
	uint8_t *order;      /* of each pair */
	size_t npairs;
	/* trails */
	KR_VEC(kr_txn) presents;
	KR_VEC(kr_obs) seen;
	KR_VEC(struct pair) ordered;
	KR_VEC(struct choice) choices;
	struct kr_versions later; /* scratch */
};

/* ---- the state of a pair ---- */

static uint8_t *pair_state(const struct search *s, kr_version a, kr_version b)
{
	const struct kr_asg_key *key = &s->ir->asg->keys[s->ir->asg->versions[a.i].key.i];
	size_t n = key[1].first - key[0].first;

	return &s->order[s->order_first[s->ir->asg->versions[a.i].key.i] + (a.i - key->first) * n +
		(b.i - key->first)];
}

static bool exists(const struct search *s, kr_version v)
{
	kr_txn writer = s->ir->asg->versions[v.i].writer;

	return writer.i == KR_NONE || s->present[writer.i];
}

static bool comes_after(const struct search *s, kr_version later, kr_version v)
{
	return later.i != v.i && (kr_asg_is_initial(s->ir->asg, v) || *pair_state(s, v, later) == BEFORE);
}

/* ---- alternatives ---- */

/* Adds the edge unless the level does not know it; *cycle is set when it closes one. */
static enum kr_status add(struct search *s, struct kr_link link, bool *cycle)
{
	return *cycle ? KR_OK : kr_graph_add(&s->graph, link, &s->answer->proof, cycle);
}

static enum kr_status add_rw(struct search *s, kr_obs o, kr_version later, bool *cycle)
{
	const struct kr_observation *obs = &s->ir->asg->obs[o.i];
	kr_txn writer = s->ir->asg->versions[later.i].writer;

	if (!kr_ir_overwrites(s->ir, o, later))
		return KR_OK;
	return add(s, (struct kr_link){KR_RW, obs->txn, writer, o, s->source[o.i], obs->key, KR_NONE}, cycle);
}

/* Makes t present: its versions come after the initial ones that others saw. */
static enum kr_status make_present(struct search *s, kr_txn t, bool *cycle)
{
	const struct kr_asg *asg = s->ir->asg;

	if (s->present[t.i])
		return KR_OK;
	s->present[t.i] = 1;
	KR_TRY(kr_vec_add(&s->ir->ctx->mem, &s->presents, t));
	for (uint32_t i = asg->written_first[t.i]; i < asg->written_first[t.i + 1]; i++) {
		kr_version v = asg->written[i];
		for (uint32_t o = 0; o < s->seen.n; o++) {
			kr_version source = s->source[s->seen.at[o].i];
			if (source.i == kr_asg_initial(asg, asg->versions[v.i].key).i)
				KR_TRY(add_rw(s, s->seen.at[o], v, cycle));
		}
	}
	return KR_OK;
}

/* Whether an observation before o saw the untold initial value of the same key as something else. */
static bool disagrees(const struct search *s, kr_obs o, kr_version v)
{
	const struct kr_observation *obs = &s->ir->asg->obs[o.i];

	if (!kr_asg_is_initial(s->ir->asg, v) || !s->ir->asg->keys[obs->key.i].open_initial)
		return false;
	for (uint32_t i = 0; i < s->seen.n; i++)
		if (s->source[s->seen.at[i].i].i == v.i && s->ir->asg->obs[s->seen.at[i].i].set != obs->set)
			return true;
	return false;
}

static enum kr_status see(struct search *s, kr_obs o, kr_version v, bool *cycle)
{
	const struct kr_asg *asg = s->ir->asg;
	kr_key key = asg->obs[o.i].key;
	kr_txn writer = asg->versions[v.i].writer;

	s->source[o.i] = v;
	KR_TRY(kr_vec_add(&s->ir->ctx->mem, &s->seen, o));
	if (writer.i != KR_NONE) {
		KR_TRY(make_present(s, writer, cycle));
		KR_TRY(add(s, (struct kr_link){KR_WR, writer, asg->obs[o.i].txn, o, v, key, KR_NONE}, cycle));
	}
	for (uint32_t u = asg->keys[key.i].first + 1; u < asg->keys[key.i + 1].first; u++)
		if (exists(s, (kr_version){u}) && comes_after(s, (kr_version){u}, v))
			KR_TRY(add_rw(s, o, (kr_version){u}, cycle));
	return KR_OK;
}

static enum kr_status put_before(struct search *s, kr_version a, kr_version b, bool *cycle)
{
	const struct kr_asg *asg = s->ir->asg;

	*pair_state(s, a, b) = BEFORE;
	*pair_state(s, b, a) = AFTER;
	KR_TRY(kr_vec_add(&s->ir->ctx->mem, &s->ordered, (struct pair){a, b}));
	KR_TRY(add(s,
		(struct kr_link){KR_WW, asg->versions[a.i].writer, asg->versions[b.i].writer, {KR_NONE},
			{KR_NONE}, asg->versions[a.i].key, KR_NONE},
		cycle));

	for (uint32_t i = 0; i < s->seen.n; i++)
		if (s->source[s->seen.at[i].i].i == a.i)
			KR_TRY(add_rw(s, s->seen.at[i], b, cycle));
	return KR_OK;
}

static void undo(struct search *s, const struct choice *c)
{
	kr_graph_undo(&s->graph, c->edges);
	while (s->presents.n > c->present)
		s->present[kr_vec_pop(&s->presents).i] = 0;
	while (s->seen.n > c->seen)
		s->source[kr_vec_pop(&s->seen).i].i = KR_NONE;
	while (s->ordered.n > c->ordered) {
		struct pair p = kr_vec_pop(&s->ordered);
		*pair_state(s, p.a, p.b) = *pair_state(s, p.b, p.a) = OPEN;
	}
}

/* ---- choices ---- */

static enum kr_status push_choice(struct search *s, struct choice c)
{
	c.edges = kr_graph_mark(&s->graph);
	c.present = s->presents.n;
	c.seen = s->seen.n;
	c.ordered = s->ordered.n;
	return kr_vec_add(&s->ir->ctx->mem, &s->choices, c);
}

/* The first version from `u` on, of the key of v, whose order with v is open. */
static kr_version open_with(const struct search *s, kr_version v, uint32_t u)
{
	uint32_t end = s->ir->asg->keys[s->ir->asg->versions[v.i].key.i + 1].first;

	for (; u < end; u++)
		if (u != v.i && exists(s, (kr_version){u}) && *pair_state(s, v, (kr_version){u}) == OPEN)
			return (kr_version){u};
	return (kr_version){KR_NONE};
}

static struct choice order_choice(kr_version a, kr_version b)
{
	return (struct choice){.obs = {KR_NONE}, .a = {a.i < b.i ? a.i : b.i}, .b = {a.i < b.i ? b.i : a.i}};
}

/* ---- sums, and orders that rest on unknown transactions ---- */

/* Whether some sum whose observations all have sources does not add up. */
static bool some_sum_fails(const struct search *s)
{
	const struct kr_asg *asg = s->ir->asg;

	for (uint32_t i = 0; i < asg->nsums; i++) {
		const struct kr_asg_term *term = asg->terms + asg->sums[i].first;
		__int128 total = 0;
		bool known = s->present[asg->sums[i].txn.i];

		for (uint32_t j = 0; j < asg->sums[i].count && known; j++) {
			known = s->source[term[j].obs.i].i != KR_NONE;
			total += s->source[term[j].obs.i].i == term[j].seen.i ? term[j].weight : 0;
		}
		if (known && total != asg->sums[i].total)
			return true;
	}
	return false;
}

/* Everything is chosen: whether all told orders hold of what took effect. */
static enum kr_status check_told(struct search *s, bool *broken)
{
	const struct kr_asg *asg = s->ir->asg;

	*broken = false;
	for (uint32_t v = 0; v < asg->nversions && asg->norders > 0; v++) {
		if (kr_asg_is_initial(asg, (kr_version){v}) || !exists(s, (kr_version){v}))
			continue;
		kr_vec_clear(&s->later);
		KR_TRY(kr_told_after(&s->told, (kr_version){v}, s->present, &s->later));
		for (uint32_t i = 0; i < s->later.n; i++)
			*broken |= *pair_state(s, (kr_version){v}, s->later.at[i]) != BEFORE;
	}
	return KR_OK;
}

/* Does version v of some part of a key come after what `newest`, a version of another part or the same,
 * belongs to? By the whole key's order. */
static bool is_newer(const struct search *s, kr_version v, kr_version newest)
{
	const struct kr_asg *asg = s->ir->asg;
	kr_key k = kr_asg_whole(asg, asg->versions[v.i].key);

	if (kr_asg_is_initial(asg, v) || kr_asg_is_initial(asg, newest))
		return !kr_asg_is_initial(asg, v) && kr_asg_is_initial(asg, newest);

	kr_txn a = asg->versions[newest.i].writer, b = asg->versions[v.i].writer;

	return a.i != b.i &&
		*pair_state(s, kr_asg_version_of(asg, a, k), kr_asg_version_of(asg, b, k)) == BEFORE;
}

/* A version of the part that o saw, over the one that it saw, which `newest` does not come before; KR_NONE:
 * there is none that matters. */
static kr_version written_over(const struct search *s, uint32_t o, kr_version newest)
{
	const struct kr_asg *asg = s->ir->asg;
	const struct kr_asg_key *part = &asg->keys[asg->obs[o].key.i];

	for (uint32_t v = part[0].first + 1; v < part[1].first; v++) {
		kr_version over = {v};
		if (exists(s, over) && asg->versions[v].writer.i != asg->obs[o].txn.i &&
			comes_after(s, over, s->source[o]) && !is_newer(s, over, newest) &&
			kr_asg_tears(asg, (kr_obs){o}, over))
			return over;
	}
	return (kr_version){KR_NONE};
}

/* Observations [first, end) are those of one operation: did those of key k see what was there, of each part,
 * after some write of k? If not, the proof gets the cycle that says so. */
static enum kr_status find_tear(struct search *s, uint32_t first, uint32_t end, kr_key k, bool *found)
{
	const struct kr_asg *asg = s->ir->asg;
	struct kr_tear tear = {.newer = {KR_NONE}};

	for (uint32_t o = first; o < end; o++) {
		if (kr_asg_whole(asg, asg->obs[o].key).i != k.i ||
			(tear.newer.i != KR_NONE && !is_newer(s, s->source[o], tear.newest)))
			continue;
		tear.newer.i = o;
		tear.newest = s->source[o];
	}
	for (uint32_t o = first; o < end && !kr_asg_is_initial(asg, tear.newest); o++) {
		if (kr_asg_whole(asg, asg->obs[o].key).i != k.i)
			continue;
		tear.older.i = o;
		tear.seen = s->source[o];
		tear.over = written_over(s, o, tear.newest);
		if (tear.over.i == KR_NONE)
			continue;
		*found = true;
		return kr_proof_tear(&s->answer->proof, asg, &tear);
	}
	return KR_OK;
}

/* Everything is chosen: whether some operation saw parts of a key at different points of its order. */
static enum kr_status check_parts(struct search *s, bool *torn)
{
	const struct kr_asg *asg = s->ir->asg;
	bool counts = asg->nparts > 0 && kr_level_kinds(s->ir->level) & KR_BIT(KR_WR); /* what was seen */
	uint32_t end;

	for (uint32_t o = 0; o < asg->nobs && counts && !*torn; o = end) {
		end = kr_asg_operation_end(asg, o);
		for (uint32_t i = o; i < end && s->present[asg->obs[o].txn.i] && !*torn; i++)
			if (asg->obs[i].key.i >= asg->nkeys - asg->nparts)
				KR_TRY(find_tear(s, o, end, kr_asg_whole(asg, asg->obs[i].key), torn));
	}
	return KR_OK;
}

/* Everything is chosen: whether it is a world. */
static enum kr_status check_world(struct search *s, bool *broken)
{
	enum kr_status status = check_told(s, broken);

	return status || *broken ? status : check_parts(s, broken);
}

/* The next choice: how others are ordered with what was seen, then what is seen, then the other orders.
 * False: none is left. */
static bool next_choice(const struct search *s, struct choice *out)
{
	const struct kr_asg *asg = s->ir->asg;
	kr_version u;

	for (uint32_t i = 0; i < s->seen.n; i++) {
		kr_version v = s->source[s->seen.at[i].i];
		if (kr_asg_is_initial(asg, v))
			continue;
		u = open_with(s, v, asg->keys[asg->versions[v.i].key.i].first + 1);
		if (u.i != KR_NONE) {
			*out = order_choice(v, u);
			return true;
		}
	}
	for (uint32_t i = 0; i < s->presents.n; i++) {
		for (uint32_t o = asg->obs_first[s->presents.at[i].i];
			o < asg->obs_first[s->presents.at[i].i + 1]; o++) {
			if (s->source[o].i == KR_NONE) {
				*out = (struct choice){.obs = {o},
					.candidates = kr_asg_candidates(asg, (kr_obs){o})};
				return true;
			}
		}
	}
	for (uint32_t v = 0; v < asg->nversions; v++) {
		u.i = kr_asg_is_initial(asg, (kr_version){v}) || !exists(s, (kr_version){v})
			? KR_NONE
			: open_with(s, (kr_version){v}, v + 1).i;
		if (u.i != KR_NONE) {
			*out = order_choice((kr_version){v}, u);
			return true;
		}
	}
	return false;
}

/* Tries the next alternative of the choice. *found: there was one; *cycle: it does not work. */
static enum kr_status try_next(struct search *s, struct choice *c, bool *found, bool *cycle)
{
	kr_version v;
	bool contrary = false;

	*found = false;
	*cycle = false;
	if (c->obs.i != KR_NONE) {
		while (kr_asg_next(s->ir->asg, &c->candidates, &v)) {
			if (disagrees(s, c->obs, v))
				continue;
			*found = true;
			return see(s, c->obs, v, cycle);
		}
		return KR_OK;
	}
	while (c->tried < 2 && !*found) {
		kr_version a = c->tried == 0 ? c->a : c->b, b = c->tried == 0 ? c->b : c->a;
		KR_TRY(kr_told_before(&s->told, b, a, &contrary));
		c->tried++;
		if (contrary)
			continue;
		*found = true;
		return put_before(s, a, b, cycle);
	}
	return KR_OK;
}

/* Everything is chosen: a world. */
static enum kr_status answer(struct search *s)
{
	const struct kr_level *level = s->ir->level;
	bool serial = kr_level_asks(level) == KR_ASK_ACYCLIC && kr_level_orders_reads(level);
	enum kr_status status = kr_graph_order(&s->graph, s->present, s->answer);

	s->answer->form = level->model != KR_NODES_TXN ? KR_WORLD_SNAPSHOTS
		: serial                               ? KR_WORLD_SERIAL
						       : KR_WORLD_GRAPH;
	for (uint32_t o = 0; o < s->ir->asg->nobs && s->answer->form == KR_WORLD_GRAPH && !status; o++)
		if (!kr_vec_push(&s->ir->ctx->mem, &s->answer->sources, s->source[o]))
			status = KR_NOMEM;
	return status;
}

static enum kr_status search(struct search *s)
{
	struct choice next;
	enum kr_status status = KR_OK;
	bool broken = false;

	if (!next_choice(s, &next)) {
		KR_TRY(check_world(s, &broken));
		if (!broken && !some_sum_fails(s))
			return answer(s);
		s->answer->outcome = KR_VIOLATED;
		return KR_OK;
	}
	status = push_choice(s, next);
	while (!status && s->choices.n > 0) {
		struct choice c = s->choices.at[s->choices.n - 1];
		bool found, cycle;
		if (s->graph.steps > KR_GRAPH_MOST_STEPS) {
			snprintf(s->answer->reason, sizeof s->answer->reason,
				"too many choices for exhaustive search");
			return KR_OK;
		}
		undo(s, &c);
		status = try_next(s, &c, &found, &cycle);
		s->choices.at[s->choices.n - 1] = c;
		s->answer->rounds++;
		if (!status)
			status = kr_ctx_tick(s->ir->ctx);
		if (status || (found && (cycle || some_sum_fails(s))))
			continue;
		if (!found) {
			s->choices.n--;
		} else if (next_choice(s, &next)) {
			status = push_choice(s, next);
		} else {
			status = check_world(s, &broken);
			if (!status && !broken)
				return answer(s);
		}
	}
	if (!status)
		s->answer->outcome = KR_VIOLATED;
	return status;
}

/* ---- the whole ---- */

static enum kr_status search_init(struct search *s, bool *too_many)
{
	const struct kr_asg *asg = s->ir->asg;
	struct kr_mem *mem = &s->ir->ctx->mem;

	KR_TRY(kr_arena_new(&s->arena, s->order_first, asg->nkeys));
	KR_TRY(kr_arena_new(&s->arena, s->present, asg->ntxns));
	KR_TRY(kr_arena_new(&s->arena, s->source, asg->nobs));
	for (uint32_t k = 0; k < asg->nkeys; k++) {
		size_t n = asg->keys[k + 1].first - asg->keys[k].first;
		s->order_first[k] = s->npairs;
		if (n > 4096 || s->npairs + n * n > MOST_PAIRS) {
			*too_many = true;
			return KR_OK;
		}
		s->npairs += n * n;
	}
	KR_TRY(kr_arena_new(&s->arena, s->order, s->npairs));
	for (uint32_t o = 0; o < asg->nobs; o++)
		s->source[o].i = KR_NONE;
	for (uint32_t t = 0; t < asg->ntxns; t++) {
		s->present[t] = asg->txns[t].presence == KR_PRESENT;
		if (s->present[t] && !kr_vec_push(mem, &s->presents, (kr_txn){t}))
			return KR_NOMEM;
	}
	return kr_told_init(&s->told, mem, asg);
}

static void search_done(struct search *s)
{
	struct kr_mem *mem = &s->ir->ctx->mem;

	kr_told_done(&s->told);
	kr_graph_done(&s->graph);
	kr_arena_done(&s->arena);
	kr_vec_done(mem, &s->presents);
	kr_vec_done(mem, &s->seen);
	kr_vec_done(mem, &s->ordered);
	kr_vec_done(mem, &s->choices);
	kr_vec_done(mem, &s->later);
}

static enum kr_status solve(struct kr_ir *ir, struct kr_answer *out, struct kr_err *err)
{
	struct search s = {.arena = {.mem = &ir->ctx->mem}, .ir = ir, .answer = out};
	bool too_many = false, cyclic = false;

	(void)err;
	enum kr_status status = kr_graph_init(&s.graph, ir, &out->proof, &cyclic);
	if (!status && cyclic)
		out->outcome = KR_VIOLATED;
	if (!status && !cyclic)
		status = search_init(&s, &too_many);
	if (!status && too_many)
		snprintf(out->reason, sizeof out->reason, "too many choices for exhaustive search");
	else if (!status && !cyclic)
		status = search(&s);
	search_done(&s);
	return status;
}

const struct kr_backend kr_backend_exhaustive = {
	.name = "exhaustive",
	.title = "every world, one choice after the other: for small inputs, the reference",
	.source = "docs/levels.md: the definition itself",
	.solve = solve,
};
