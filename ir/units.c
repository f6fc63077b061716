/* Units (units.h): found from known sources; the cycles that hold them together, written only into proofs
 * that need them.
 *
 * Between neighbours x, y of a unit (y's writer saw x) and a version b outside of it there are two cycles: x
 * before b before y, by rw and ww; and b before x, y before b, by ww, wr, ww. Together they say that b comes
 * before x iff it comes before y. A row of them leads from any pair of two units to any other. */
#include "ir/units.h"

#include <string.h>

#include "base/hash.h"
#include "base/table.h"

void kr_units_free(struct kr_mem *mem, struct kr_units *units)
{
	if (units)
		kr_arena_done(&units->arena);
	kr_mem_free(mem, units, 1, sizeof *units);
}

static kr_txn writer(const struct kr_ir *ir, kr_version v) { return ir->asg->versions[v.i].writer; }

/* Does the level forbid that a third version comes between the two? */
static bool holds_together(const struct kr_ir *ir, uint32_t o)
{
	bool orders = kr_level_orders(ir->level, KR_WW) && ir->level->model != KR_NODES_PREFIX &&
		kr_level_asks(ir->level) == KR_ASK_ACYCLIC;
	return orders && !ir->asg->obs[o].predicate && kr_ir_rw_counts(ir, (kr_obs){o});
}

/* The observer writes the key and saw another's version of it: the two are neighbours, if neither has one
 * there yet. */
static void join(const struct kr_ir *ir, struct kr_units *u, uint32_t o)
{
	const struct kr_observation *obs = &ir->asg->obs[o];
	kr_version seen = ir->source[o], own = kr_asg_version_of(ir->asg, obs->txn, obs->key);
	if (seen.i == KR_NONE || own.i == KR_NONE || kr_asg_is_initial(ir->asg, seen) ||
		!kr_ir_is_present(ir, obs->txn) || !kr_ir_is_present(ir, writer(ir, seen)))
		return;
	if (u->next[seen.i].i != KR_NONE || u->step[own.i].i != KR_NONE || !holds_together(ir, o))
		return;
	u->next[seen.i] = own;
	u->step[own.i].i = o;
}

/* First and last versions, from each unit's first. What is a ring, two that saw each other, is taken apart:
 * it is a cycle anyway. */
static void number(const struct kr_asg *asg, struct kr_units *u)
{
	for (uint32_t v = 0; v < asg->nversions; v++) {
		kr_version last = {v};
		if (u->step[v].i != KR_NONE)
			continue;
		while (u->next[last.i].i != KR_NONE)
			last = u->next[last.i];
		for (kr_version x = {v}; x.i != KR_NONE; x = u->next[x.i]) {
			u->first[x.i].i = v;
			u->last[x.i] = last;
		}
	}
	for (uint32_t v = 0; v < asg->nversions; v++) {
		if (u->first[v].i != KR_NONE)
			continue;
		u->first[v].i = u->last[v].i = v;
		u->next[v].i = u->step[v].i = KR_NONE;
	}
}

enum kr_status kr_units_find(struct kr_ir *ir, bool chains)
{
	struct kr_mem *mem = &ir->ctx->mem;
	size_t n = ir->asg->nversions;
	struct kr_units *u = kr_mem_alloc(mem, 1, sizeof *u);
	kr_units_free(mem, ir->units);
	ir->units = u;
	if (!u)
		return KR_NOMEM;
	kr_arena_init(&u->arena, mem);
	KR_TRY(kr_arena_new(&u->arena, u->first, n));
	KR_TRY(kr_arena_new(&u->arena, u->last, n));
	KR_TRY(kr_arena_new(&u->arena, u->next, n));
	KR_TRY(kr_arena_new(&u->arena, u->step, n));
	memset(u->first, 0xff, n * sizeof *u->first);
	memset(u->next, 0xff, n * sizeof *u->next);
	memset(u->step, 0xff, n * sizeof *u->step);
	for (uint32_t o = 0; o < ir->asg->nobs && chains; o++)
		join(ir, u, o);
	number(ir->asg, u);
	return kr_ctx_check(ir->ctx);
}

/* ---- choices ---- */

/* Are the units of a and b, first versions of one key, written by the same transactions as those of c and d?
 * Their first ones are. */
static bool same_last(const struct kr_ir *ir, kr_version a, kr_version b, kr_version c, kr_version d)
{
	return writer(ir, kr_unit_last(ir, a)).i == writer(ir, kr_unit_last(ir, c)).i &&
		writer(ir, kr_unit_last(ir, b)).i == writer(ir, kr_unit_last(ir, d)).i;
}

/* The first pair by the writers of a and b, on a key from `k` on, that is the same choice. */
static bool find_pair(const struct kr_ir *ir, uint32_t k, kr_version a, kr_version b, kr_version *x,
	kr_version *y)
{
	const struct kr_asg *asg = ir->asg;
	uint32_t i = asg->written_first[writer(ir, a).i], i_end = asg->written_first[writer(ir, a).i + 1];
	uint32_t j = asg->written_first[writer(ir, b).i], j_end = asg->written_first[writer(ir, b).i + 1];
	while (i < i_end && j < j_end) {
		kr_version c = asg->written[i], d = asg->written[j];
		uint32_t c_key = asg->versions[c.i].key.i, d_key = asg->versions[d.i].key.i;
		i += c_key <= d_key;
		j += d_key <= c_key;
		if (c_key != d_key || c_key < k || kr_unit_first(ir, c).i != c.i ||
			kr_unit_first(ir, d).i != d.i || kr_unit_last(ir, c).i == kr_unit_last(ir, d).i)
			continue;
		if (!same_last(ir, a, b, c, d))
			continue;
		*x = c;
		*y = d;
		return true;
	}
	return false;
}

void kr_units_choice(const struct kr_ir *ir, kr_version *a, kr_version *b)
{
	if (!ir->units || kr_unit_first(ir, *a).i == kr_unit_first(ir, *b).i)
		return;
	*a = kr_unit_first(ir, *a);
	*b = kr_unit_first(ir, *b);
	if (ir->units->merged && !kr_asg_is_initial(ir->asg, *a) && !kr_asg_is_initial(ir->asg, *b))
		(void)find_pair(ir, 0, *a, *b, a, b);
}

bool kr_units_next(const struct kr_ir *ir, kr_version *a, kr_version *b)
{
	if (!ir->units || !ir->units->merged || kr_unit_first(ir, *a).i == kr_unit_first(ir, *b).i)
		return false;
	return find_pair(ir, ir->asg->versions[a->i].key.i + 1, *a, *b, a, b);
}

/* ---- proofs ---- */

static kr_key key_of(const struct kr_ir *ir, kr_version v) { return ir->asg->versions[v.i].key; }

static struct kr_link ww(const struct kr_ir *ir, kr_version a, kr_version b)
{
	return (struct kr_link){KR_WW, writer(ir, a), writer(ir, b), {KR_NONE}, {KR_NONE}, key_of(ir, a),
		KR_NONE};
}

/* The step of the unit that ends at y, as wr. */
static struct kr_link step_to(const struct kr_ir *ir, kr_version y)
{
	kr_obs o = ir->units->step[y.i];
	return (struct kr_link){KR_WR, writer(ir, ir->source[o.i]), writer(ir, y), o, ir->source[o.i],
		key_of(ir, y), KR_NONE};
}

/* Appends to the cycle that was begun the steps from x to its unit's last version. */
static enum kr_status add_steps(const struct kr_ir *ir, struct kr_proof *proof, kr_version x)
{
	for (kr_version y = ir->units->next[x.i]; y.i != KR_NONE; y = ir->units->next[y.i])
		KR_TRY(kr_proof_add_link(proof, step_to(ir, y)));
	return KR_OK;
}

/* b comes before x iff it comes before y, which follows x in its unit. */
static enum kr_status add_neighbours(const struct kr_ir *ir, struct kr_proof *proof, kr_version y,
	kr_version b)
{
	kr_obs o = ir->units->step[y.i];
	kr_version x = ir->source[o.i];
	struct kr_link between[2] = {{KR_RW, writer(ir, y), writer(ir, b), o, x, key_of(ir, x), KR_NONE},
		ww(ir, b, y)};
	struct kr_link around[3] = {ww(ir, b, x), step_to(ir, y), ww(ir, y, b)};

	kr_proof_begin(proof);
	for (size_t i = 0; i < KR_COUNT(between); i++)
		KR_TRY(kr_proof_add_link(proof, between[i]));
	KR_TRY(kr_proof_end(proof));
	kr_proof_begin(proof);
	for (size_t i = 0; i < KR_COUNT(around); i++)
		KR_TRY(kr_proof_add_link(proof, around[i]));
	return kr_proof_end(proof);
}

/* The order of b and every version of x's unit is one. */
static enum kr_status add_row(const struct kr_ir *ir, struct kr_proof *proof, kr_version x, kr_version b)
{
	for (kr_version y = ir->units->next[kr_unit_first(ir, x).i]; y.i != KR_NONE; y = ir->units->next[y.i])
		KR_TRY(add_neighbours(ir, proof, y, b));
	return kr_ctx_tick(ir->ctx);
}

/* a before b and d before c is a cycle: the units of c and d have the same first and last writers as those of
 * a and b. */
static enum kr_status add_contrary(const struct kr_ir *ir, struct kr_proof *proof, kr_version a, kr_version b,
	kr_version c, kr_version d)
{
	kr_proof_begin(proof);
	KR_TRY(kr_proof_add_link(proof, ww(ir, kr_unit_last(ir, a), b)));
	KR_TRY(add_steps(ir, proof, b));
	KR_TRY(kr_proof_add_link(proof, ww(ir, kr_unit_last(ir, d), c)));
	KR_TRY(add_steps(ir, proof, c));
	return kr_proof_end(proof);
}

/* One orders pairs of first versions as one. */
static enum kr_status add_units(const struct kr_ir *ir, struct kr_proof *proof, kr_version a, kr_version b)
{
	KR_TRY(add_row(ir, proof, a, b));
	return add_row(ir, proof, b, a);
}

/* The order of a and b, versions of two units, is that of what kr_units_choice gives. */
static enum kr_status justify(const struct kr_ir *ir, struct kr_proof *proof, kr_version a, kr_version b)
{
	kr_version x = kr_unit_first(ir, a), y = kr_unit_first(ir, b), c = a, d = b;
	KR_TRY(add_units(ir, proof, x, y));
	if (a.i != x.i && b.i != y.i) /* on neither row */
		KR_TRY(add_row(ir, proof, x, b));
	kr_units_choice(ir, &c, &d);
	if (c.i == x.i && d.i == y.i)
		return KR_OK;
	KR_TRY(add_units(ir, proof, c, d));
	KR_TRY(add_contrary(ir, proof, x, y, c, d));
	return add_contrary(ir, proof, y, x, d, c);
}

/* Are the two of two units, whose order is not that of the pair alone? */
static bool is_of_units(const struct kr_ir *ir, kr_version a, kr_version b)
{
	if (kr_asg_is_initial(ir->asg, a) || kr_asg_is_initial(ir->asg, b) ||
		kr_unit_first(ir, a).i == kr_unit_first(ir, b).i)
		return false;
	kr_version c = a, d = b;
	kr_units_choice(ir, &c, &d);
	return c.i != a.i || d.i != b.i || ir->units->next[a.i].i != KR_NONE ||
		ir->units->next[b.i].i != KR_NONE;
}

struct justifying {
	const struct kr_ir *ir;
	struct kr_proof *proof;
	struct kr_table table;
	KR_VEC(struct kr_version_pair) pairs; /* done, the earlier version first */
};

static enum kr_status justify_once(struct justifying *j, kr_version a, kr_version b)
{
	struct kr_mem *mem = &j->ir->ctx->mem;
	struct kr_version_pair pair =
		a.i < b.i ? (struct kr_version_pair){a, b} : (struct kr_version_pair){b, a};
	uint64_t hash = kr_hash_pair(pair.a.i, pair.b.i);
	uint32_t id;
	if (!is_of_units(j->ir, a, b))
		return KR_OK;
	KR_TABLE_FIND(id, &j->table, hash,
		j->pairs.at[id].a.i == pair.a.i && j->pairs.at[id].b.i == pair.b.i);
	if (id != KR_NONE)
		return KR_OK;
	if (!kr_table_push(mem, &j->table, hash, &j->pairs, pair))
		return KR_NOMEM;
	return justify(j->ir, j->proof, a, b);
}

enum kr_status kr_units_justify(const struct kr_ir *ir, struct kr_proof *proof,
	const struct kr_version_pair *further, uint32_t n)
{
	struct justifying j = {.ir = ir, .proof = proof};
	uint32_t links = ir->units ? proof->links.n : 0;
	enum kr_status status = KR_OK;
	for (uint32_t i = 0; i < n && ir->units && !status; i++)
		status = justify_once(&j, further[i].a, further[i].b);
	for (uint32_t i = 0; i < links && !status; i++) {
		struct kr_link link = proof->links.at[i];
		if (link.edge == KR_NONE && link.kind == KR_WW)
			status = justify_once(&j, kr_asg_version_of(ir->asg, link.from, link.key),
				kr_asg_version_of(ir->asg, link.to, link.key));
		if (link.edge == KR_NONE && link.kind == KR_RW)
			status = justify_once(&j, link.seen, kr_asg_version_of(ir->asg, link.to, link.key));
	}
	kr_table_done(&ir->ctx->mem, &j.table);
	kr_vec_done(&ir->ctx->mem, &j.pairs);
	return status;
}
