/* Builds the choices that a certificate's cycles turn on. Each edge holds under a conjunction of literals;
 * those that the trace settles (committed transactions, an only candidate, the initial version first, given
 * version orders) are left out, so that a cycle of certain edges has none. Candidates come from the abstract
 * semantic graph. Cost: linear in the edges and in the candidates of the observations that they name. The
 * certificate has been verified: this is for people, and decides nothing. */
#include "report/argue.h"

#include "base/hash.h"
#include "base/order.h"

#define CANDIDATES_MOST 65536u /* beyond, sights are not spelled out and the argument may stay incomplete */

#define FORCED_MOST 64u /* candidates of an observation that is looked at for forcing one of them */
#define ROUNDS_MOST 16u

struct builder {
	struct kr_arena arena;
	struct kr_argument *arg;
	uint32_t *order_first; /* per version: known successors in order_next; NULL: no orders are given */
	uint32_t *order_next;
	uint32_t *seen; /* per version: the search that reached it */
	uint32_t searches;
	KR_VEC(uint32_t) queue;
};

static bool is_certain(const struct kr_asg *asg, kr_txn t) { return asg->txns[t.i].presence == KR_PRESENT; }

/* ---- choices ---- */

static uint64_t choice_hash(const struct kr_doubt *c)
{
	uint64_t hash = kr_hash_pair(c->kind, c->key.i);

	hash = kr_hash_pair(hash, kr_hash_pair(c->txn.i, c->op));
	return kr_hash_pair(hash, kr_hash_pair(kr_hash_pair(c->a.i, c->b.i), c->part.i));
}

static bool same_choice(const struct kr_doubt *x, const struct kr_doubt *y)
{
	return x->kind == y->kind && x->key.i == y->key.i && x->txn.i == y->txn.i && x->op == y->op &&
		x->a.i == y->a.i && x->b.i == y->b.i && x->part.i == y->part.i;
}

static uint32_t find_choice(const struct kr_argument *arg, const struct kr_doubt *c)
{
	uint32_t id;

	KR_TABLE_FIND(id, &arg->choice_index, choice_hash(c), same_choice(&arg->choices.at[id], c));
	return id;
}

static enum kr_status put_choice(struct kr_argument *arg, struct kr_doubt c, uint32_t *out)
{
	*out = find_choice(arg, &c);
	if (*out != KR_NONE)
		return KR_OK;
	*out = arg->choices.n;
	return kr_table_push(arg->mem, &arg->choice_index, choice_hash(&c), &arg->choices, c) ? KR_OK
											      : KR_NOMEM;
}

static struct kr_doubt effect_of(kr_txn t)
{
	return (struct kr_doubt){KR_DOUBT_EFFECT, {KR_NONE}, t, KR_NONE, {KR_NONE}, {KR_NONE}, KR_NONE,
		KR_NONE, {KR_NONE}};
}

static struct kr_doubt order_of(kr_key k, kr_txn a, kr_txn b)
{
	bool swap = b.i < a.i;

	return (struct kr_doubt){KR_DOUBT_BEFORE, k, {KR_NONE}, KR_NONE, swap ? b : a, swap ? a : b, KR_NONE,
		KR_NONE, {KR_NONE}};
}

static struct kr_doubt saw_of(kr_txn t, uint32_t op, kr_key k, kr_value part, kr_txn writer)
{
	return (struct kr_doubt){KR_DOUBT_SAW, k, t, op, writer, {KR_NONE}, KR_NONE, KR_NONE, part};
}

/* ---- sights ---- */

static uint64_t sight_hash(kr_txn t, uint32_t op, kr_key k, kr_value part)
{
	return kr_hash_pair(kr_hash_pair(t.i, op), kr_hash_pair(k.i, part.i));
}

static uint32_t find_sight(const struct kr_argument *arg, kr_txn t, uint32_t op, kr_key k, kr_value part)
{
	const struct kr_argument_sight *s = arg->sights.at;
	uint32_t id;

	KR_TABLE_FIND(id, &arg->sight_index, sight_hash(t, op, k, part),
		s[id].txn.i == t.i && s[id].op == op && s[id].key.i == k.i && s[id].part.i == part.i);
	return id;
}

/* What of its whole key an ASG's key is, as in an edge of a certificate. */
static kr_value part_of(const struct kr_asg *asg, kr_key key)
{
	uint32_t whole = asg->nkeys - asg->nparts, label;

	if (key.i < whole)
		return (kr_value){KR_NONE};
	label = asg->parts[key.i - whole].label;
	return label == KR_NONE ? KR_ABSENT : (kr_value){label};
}

static bool is_part(const struct kr_asg *asg, kr_key key, kr_key k, kr_value part)
{
	return kr_asg_whole(asg, key).i == k.i && part_of(asg, key).i == part.i;
}

static kr_obs find_observation(const struct kr_asg *asg, kr_txn t, uint32_t op, kr_key k, kr_value part)
{
	uint32_t end = asg->obs_first[t.i + 1], at;

	KR_BISECT(at, asg->obs_first[t.i], end, asg->obs[at].op < op);
	for (; at < end && asg->obs[at].op == op; at++)
		if (is_part(asg, asg->obs[at].key, k, part))
			return (kr_obs){at};
	return (kr_obs){KR_NONE};
}

/* Is there one candidate, by a transaction that certainly took effect (or initial), and is the observer
 * certain? */
static bool is_settled(const struct kr_asg *asg, kr_obs o)
{
	kr_candidates it = kr_asg_candidates(asg, o);
	kr_version v, other;

	if (!is_certain(asg, asg->obs[o.i].txn) || !kr_asg_next(asg, &it, &v) ||
		kr_asg_next(asg, &it, &other))
		return false;
	return kr_asg_is_initial(asg, v) || is_certain(asg, asg->versions[v.i].writer);
}

/* The choice whether t took effect; KR_NONE when that is certain, or t is the initial version. */
static enum kr_status put_effect(struct kr_argument *arg, kr_txn t, uint32_t *out)
{
	*out = KR_NONE;
	return t.i == KR_NONE || is_certain(arg->asg, t) ? KR_OK : put_choice(arg, effect_of(t), out);
}

static enum kr_status add_candidates(struct kr_argument *arg, kr_obs o, uint32_t sight)
{
	const struct kr_asg *asg = arg->asg;
	struct kr_argument_sight s = arg->sights.at[sight];
	kr_candidates it = kr_asg_candidates(asg, o);
	uint32_t choice;
	kr_version v;

	while (kr_asg_next(asg, &it, &v)) {
		struct kr_doubt c = saw_of(s.txn, s.op, s.key, s.part, asg->versions[v.i].writer);
		c.sight = sight;
		if (arg->candidates.n >= CANDIDATES_MOST)
			return KR_OK;
		if (put_effect(arg, c.a, &c.effect) || put_choice(arg, c, &choice) ||
			!kr_vec_push(arg->mem, &arg->candidates, choice))
			return KR_NOMEM;
		s.count++;
	}
	s.all = true;
	if (put_effect(arg, s.txn, &s.effect))
		return KR_NOMEM;
	arg->sights.at[sight] = s;
	return KR_OK;
}

static enum kr_status put_sight(struct kr_argument *arg, kr_txn t, uint32_t op, kr_key k, kr_value part)
{
	kr_obs o = find_observation(arg->asg, t, op, k, part);

	if (o.i == KR_NONE || is_settled(arg->asg, o) || find_sight(arg, t, op, k, part) != KR_NONE)
		return KR_OK;
	if (!kr_table_push(arg->mem, &arg->sight_index, sight_hash(t, op, k, part), &arg->sights,
		    (struct kr_argument_sight){t, op, k, arg->candidates.n, 0, false, KR_NONE, part}))
		return KR_NOMEM;
	return add_candidates(arg, o, arg->sights.n - 1);
}

/* ---- given orders ---- */

static enum kr_status index_orders(struct builder *b)
{
	const struct kr_asg *asg = b->arg->asg;

	if (asg->norders == 0)
		return KR_OK;
	KR_TRY(kr_arena_new(&b->arena, b->order_first, (size_t)asg->nversions + 2));
	KR_TRY(kr_arena_new(&b->arena, b->order_next, asg->norders));
	KR_TRY(kr_arena_new(&b->arena, b->seen, asg->nversions));
	for (uint32_t i = 0; i < asg->norders; i++)
		b->order_first[asg->orders[i].before.i + 2]++;
	kr_index_places(b->order_first, asg->nversions);
	for (uint32_t i = 0; i < asg->norders; i++)
		b->order_next[b->order_first[asg->orders[i].before.i + 1]++] = asg->orders[i].after.i;
	return KR_OK;
}

/* Does the trace give a's version of k before c's? Breadth-first over the given pairs. */
static enum kr_status is_given(struct builder *b, kr_key k, kr_txn a, kr_txn c, bool *out)
{
	const struct kr_asg *asg = b->arg->asg;
	kr_version from = kr_asg_version_of(asg, a, k), to = kr_asg_version_of(asg, c, k);

	*out = false;
	if (!b->order_first || from.i == KR_NONE || to.i == KR_NONE)
		return KR_OK;
	b->searches++;
	kr_vec_clear(&b->queue);
	KR_TRY(kr_vec_add(b->arg->mem, &b->queue, from.i));
	for (uint32_t at = 0; at < b->queue.n && !*out; at++) {
		uint32_t v = b->queue.at[at];
		for (uint32_t i = b->order_first[v]; i < b->order_first[v + 1]; i++) {
			uint32_t next = b->order_next[i];
			*out |= next == to.i;
			if (b->seen[next] == b->searches)
				continue;
			b->seen[next] = b->searches;
			KR_TRY(kr_vec_add(b->arg->mem, &b->queue, next));
		}
	}
	return KR_OK;
}

/* ---- edges ---- */

/* Whose version comes before whose, KR_NONE: nothing is claimed, or it is the initial one. */
static bool claimed_order(const struct kr_cert_edge *e, kr_txn *before)
{
	*before = e->kind == KR_WW ? e->from : e->source;
	return (e->kind == KR_WW || e->kind == KR_RW) && before->i != KR_NONE;
}

/* Makes the choices of an edge's guard. */
static enum kr_status put_edge(struct builder *b, const struct kr_cert_edge *e)
{
	struct kr_argument *arg = b->arg;
	kr_txn ends[3] = {e->from, e->to, {KR_NONE}}, before;
	uint32_t choice;
	bool given;

	if (claimed_order(e, &before)) {
		if (is_given(b, e->key, before, e->to, &given))
			return KR_NOMEM;
		if (!given && put_choice(arg, order_of(e->key, before, e->to), &choice))
			return KR_NOMEM;
		ends[2] = before;
	}
	for (int i = 0; i < 3; i++)
		if (put_effect(arg, ends[i], &choice))
			return KR_NOMEM;
	if (e->kind == KR_WR)
		return put_sight(arg, e->to, e->op, e->key, e->part);
	return e->kind == KR_RW ? put_sight(arg, e->from, e->op, e->key, e->part) : KR_OK;
}

static void add_literal(const struct kr_argument *arg, struct kr_doubt c, bool negated,
	uint32_t out[KR_GUARD_MOST], uint32_t *n)
{
	uint32_t choice = find_choice(arg, &c);

	if (choice != KR_NONE)
		out[(*n)++] = 2 * choice + negated;
}

uint32_t kr_argument_guard(const struct kr_argument *arg, const struct kr_cert_edge *e,
	uint32_t out[KR_GUARD_MOST])
{
	uint32_t n = 0;
	kr_txn before;

	if (e->kind == KR_WR)
		add_literal(arg, saw_of(e->to, e->op, e->key, e->part, e->from), false, out, &n);
	if (e->kind == KR_RW)
		add_literal(arg, saw_of(e->from, e->op, e->key, e->part, e->source), false, out, &n);
	if (claimed_order(e, &before))
		add_literal(arg, order_of(e->key, before, e->to), before.i > e->to.i, out, &n);
	add_literal(arg, effect_of(e->from), false, out, &n);
	add_literal(arg, effect_of(e->to), false, out, &n);
	return n;
}

static bool has_literal(const struct kr_argument *arg, uint32_t from, uint32_t literal)
{
	for (uint32_t i = from; i < arg->literals.n; i++)
		if (arg->literals.at[i] == literal)
			return true;
	return false;
}

/* Does a sight among the literals say that t took effect, as its observer or as the writer it saw? */
static bool is_implied(const struct kr_argument *arg, const uint32_t *literals, uint32_t n, kr_txn t)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct kr_doubt *c = &arg->choices.at[literals[i] >> 1];
		if (c->kind == KR_DOUBT_SAW && (c->txn.i == t.i || c->a.i == t.i))
			return true;
	}
	return false;
}

/* Removes from the literals of a cycle what follows from the others. */
static void simplify(struct kr_argument *arg, uint32_t first)
{
	uint32_t *literals = arg->literals.at + first, n = arg->literals.n - first, kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct kr_doubt *c = &arg->choices.at[literals[i] >> 1];
		if (c->kind != KR_DOUBT_EFFECT || !is_implied(arg, literals, n, c->txn))
			literals[kept++] = literals[i];
		/* moved literals stay ahead of i, and only effects are dropped: is_implied sees every
		 * sight */
	}
	arg->literals.n = first + kept;
}

static enum kr_status put_cycle(struct kr_argument *arg, struct kr_cert_cycle cycle)
{
	uint32_t guard[KR_GUARD_MOST], first = arg->literals.n;

	KR_TRY(kr_vec_add(arg->mem, &arg->first, first));
	for (uint32_t i = 0; i < cycle.count; i++) {
		uint32_t n = kr_argument_guard(arg, &arg->cert->edges.at[cycle.first + i], guard);
		for (uint32_t j = 0; j < n; j++)
			if (!has_literal(arg, first, guard[j]) &&
				!kr_vec_push(arg->mem, &arg->literals, guard[j]))
				return KR_NOMEM;
	}
	simplify(arg, first);
	return KR_OK;
}

/* Can observation o have seen only transactions of unknown outcome, among them one whose effect is a choice
 * here? Then it forces one of them. */
static bool forces_effect(const struct kr_argument *arg, kr_obs o)
{
	const struct kr_asg *asg = arg->asg;
	kr_candidates it = kr_asg_candidates(asg, o);
	bool touches = false;
	uint32_t n = 0;
	kr_version v;

	if (asg->txns[asg->obs[o.i].txn.i].presence == KR_ABSENT_TXN)
		return false;
	while (kr_asg_next(asg, &it, &v)) {
		kr_txn writer = asg->versions[v.i].writer;
		if (writer.i == KR_NONE || is_certain(asg, writer) || n++ == FORCED_MOST)
			return false;
		struct kr_doubt effect = effect_of(writer);
		touches |= find_choice(arg, &effect) != KR_NONE;
	}
	return touches;
}

/* Adds the sights that force effects, although no edge names them; these may bring new effects, whose sights
 * are added in turn. */
static enum kr_status put_forcing_sights(struct kr_argument *arg)
{
	const struct kr_asg *asg = arg->asg;
	bool any = false, more = true;

	for (uint32_t c = 0; c < arg->choices.n; c++)
		any |= arg->choices.at[c].kind == KR_DOUBT_EFFECT;
	for (uint32_t round = 0; any && more && round < ROUNDS_MOST; round++) {
		uint32_t before = arg->sights.n;
		for (kr_obs o = {0}; o.i < asg->nobs; o.i++)
			if (forces_effect(arg, o) &&
				put_sight(arg, asg->obs[o.i].txn, asg->obs[o.i].op,
					kr_asg_whole(asg, asg->obs[o.i].key),
					part_of(asg, asg->obs[o.i].key)) != KR_OK)
				return KR_NOMEM;
		more = arg->sights.n > before;
	}
	return KR_OK;
}

static enum kr_status build(struct builder *b)
{
	struct kr_argument *arg = b->arg;
	KR_TRY(index_orders(b));

	for (uint32_t i = 0; i < arg->cert->edges.n; i++)
		KR_TRY(put_edge(b, &arg->cert->edges.at[i]));
	KR_TRY(put_forcing_sights(arg));
	for (uint32_t c = 0; c < arg->cert->cycles.n; c++)
		KR_TRY(put_cycle(arg, arg->cert->cycles.at[c]));
	return kr_vec_add(arg->mem, &arg->first, arg->literals.n);
}

enum kr_status kr_argument_init(struct kr_argument *arg, struct kr_mem *mem, const struct kr_history *h,
	const struct kr_asg *asg, const struct kr_certificate *cert)
{
	struct builder b = {.arena = {.mem = mem}, .arg = arg};

	*arg = (struct kr_argument){.mem = mem, .h = h, .asg = asg, .cert = cert};

	enum kr_status status = build(&b);

	kr_arena_done(&b.arena);
	kr_vec_done(mem, &b.queue);
	if (status == KR_OK)
		status = kr_argument_search(arg);
	if (status != KR_OK)
		kr_argument_done(arg);
	return status;
}

void kr_argument_done(struct kr_argument *arg)
{
	kr_vec_done(arg->mem, &arg->choices);
	kr_vec_done(arg->mem, &arg->sights);
	kr_vec_done(arg->mem, &arg->candidates);
	kr_vec_done(arg->mem, &arg->literals);
	kr_vec_done(arg->mem, &arg->first);
	kr_vec_done(arg->mem, &arg->steps);
	kr_vec_done(arg->mem, &arg->cases);
	kr_table_done(arg->mem, &arg->choice_index);
	kr_table_done(arg->mem, &arg->sight_index);
}
