/* Proofs: cycles of guarded edges, and the lemmas that known edges rest on.
 *
 * A derived edge rests on older edges only, so its lemma is rebuilt on demand: one breadth-first search among
 * edges older than it. Every lemma is again a forbidden cycle, in which the guard that the edge needs is
 * negated by a choice: "if b came before a, then ...". Why each rule's lemma suffices is argued in
 * docs/ir.md. */
#include "ir/proof.h"

#include <string.h>

#include "base/bits.h"
#include "ir/clock.h"
#include "ir/visible.h"

void kr_proof_init(struct kr_proof *proof, struct kr_mem *mem)
{
	*proof = (struct kr_proof){.mem = mem, .unfounded = KR_NONE};
}

void kr_proof_done(struct kr_proof *proof)
{
	if (!proof->mem)
		return;
	kr_vec_done(proof->mem, &proof->links);
	kr_vec_done(proof->mem, &proof->cycles);
	*proof = (struct kr_proof){0};
}

static uint32_t open_first(const struct kr_proof *proof)
{
	if (proof->cycles.n == 0)
		return 0;
	const struct kr_cycle *last = &proof->cycles.at[proof->cycles.n - 1];
	return last->first + last->count;
}

void kr_proof_begin(struct kr_proof *proof) { proof->links.n = open_first(proof); }

enum kr_status kr_proof_add_link(struct kr_proof *proof, struct kr_link link)
{
	return kr_vec_add(proof->mem, &proof->links, link);
}

static struct kr_link known_link(const struct kr_ir *ir, uint32_t index)
{
	const struct kr_edge *e = &ir->edges.at[index];
	struct kr_link link = {e->kind, kr_ir_txn(ir, e->from), kr_ir_txn(ir, e->to), {KR_NONE}, {KR_NONE},
		{KR_NONE}, index};
	if (e->kind == KR_WR || e->kind == KR_RW) {
		link.obs.i = e->why;
		link.seen = ir->source[e->why];
		link.key = ir->asg->obs[e->why].key;
	} else if (e->kind == KR_WW) {
		link.key = e->rule == KR_RULE_READER || e->rule == KR_RULE_UPDATE ? ir->asg->obs[e->why].key
										  : (kr_key){e->why};
	}
	return link;
}

enum kr_status kr_proof_add_path(struct kr_proof *proof, const struct kr_ir *ir, const uint32_t *edges,
	uint32_t n)
{
	kr_txn left = {KR_NONE}; /* the transaction whose end entered the chain of time nodes */
	for (uint32_t i = 0; i < n; i++) {
		struct kr_link link = known_link(ir, edges[i]);
		if (link.kind == KR_PROGRAM)
			continue;
		if (link.kind == KR_RT && link.to.i == KR_NONE) {
			left = link.from;
			continue;
		}
		if (link.kind == KR_RT && link.from.i == KR_NONE)
			link.from = left;
		KR_TRY(kr_proof_add_link(proof, link));
	}
	return KR_OK;
}

enum kr_status kr_proof_add_steps(struct kr_proof *proof, const struct kr_ir *ir, const uint32_t *steps,
	uint32_t n, const struct kr_link *links)
{
	struct kr_path known = {0};
	enum kr_status status = KR_OK;
	for (uint32_t i = n; i-- > 0 && !status;) {
		uint32_t step = steps[i];
		if (!(step & 1))
			status = kr_vec_add(&ir->ctx->mem, &known, step / 2);
		if (!status && ((step & 1) || i == 0)) {
			status = kr_proof_add_path(proof, ir, known.at, known.n);
			kr_vec_clear(&known);
		}
		if (!status && step & 1)
			status = kr_proof_add_link(proof, links[step / 2]);
	}
	kr_vec_done(&ir->ctx->mem, &known);
	return status;
}

enum kr_status kr_proof_end(struct kr_proof *proof)
{
	uint32_t first = open_first(proof);
	struct kr_cycle cycle = {first, proof->links.n - first, false};
	return kr_vec_add(proof->mem, &proof->cycles, cycle);
}

enum kr_status kr_proof_tear(struct kr_proof *proof, const struct kr_asg *asg, const struct kr_tear *tear)
{
	const struct kr_observation *older = &asg->obs[tear->older.i], *newer = &asg->obs[tear->newer.i];
	kr_txn over = asg->versions[tear->over.i].writer, newest = asg->versions[tear->newest.i].writer;
	kr_proof_begin(proof);
	KR_TRY(kr_proof_add_link(proof,
		(struct kr_link){KR_RW, older->txn, over, tear->older, tear->seen, older->key, KR_NONE}));
	if (over.i != newest.i)
		KR_TRY(kr_proof_add_link(proof,
			(struct kr_link){KR_WW, over, newest, {KR_NONE}, {KR_NONE},
				kr_asg_whole(asg, newer->key), KR_NONE}));
	KR_TRY(kr_proof_add_link(proof,
		(struct kr_link){KR_WR, newest, newer->txn, tear->newer, tear->newest, newer->key, KR_NONE}));
	return kr_proof_end(proof);
}

/* ---- lemmas ---- */

struct closing {
	struct kr_proof *proof;
	const struct kr_ir *ir;
	uint64_t *edges_done;   /* set of edges whose guards are explained */
	uint64_t *sources_done; /* set of observations whose source is explained */
	struct kr_path path;    /* scratch */
	uint32_t explaining;    /* the edge that is explained, or was last */
	KR_VEC(uint32_t) todo;  /* edges to explain that are not in a cycle themselves */
	KR_VEC(kr_obs) binding; /* observations to explain that tell what an untold initial value was */
};

/* One cycle: `link`, then known edges. */
static enum kr_status add_lemma(struct closing *c, struct kr_link link, const struct kr_path *path)
{
	kr_proof_begin(c->proof);
	KR_TRY(kr_proof_add_link(c->proof, link));
	KR_TRY(kr_proof_add_path(c->proof, c->ir, path->at, path->n));
	return kr_proof_end(c->proof);
}

/* A cycle of two choices. */
static enum kr_status add_pair(struct closing *c, const struct kr_link links[2])
{
	kr_proof_begin(c->proof);
	KR_TRY(kr_proof_add_link(c->proof, links[0]));
	KR_TRY(kr_proof_add_link(c->proof, links[1]));
	return kr_proof_end(c->proof);
}

static enum kr_status need_path(struct closing *c, kr_node a, kr_node b, uint32_t age)
{
	bool found = false;
	kr_vec_clear(&c->path);
	KR_TRY(kr_ir_path(c->ir, a, b, age, &c->path, &found));
	return found ? KR_OK : KR_INTERNAL;
}

static kr_txn writer(const struct closing *c, kr_version v) { return c->ir->asg->versions[v.i].writer; }

/* Version a comes before version b of the same key: otherwise ww(b -> a) would close a cycle with a's path to
 * b. */
static enum kr_status explain_order(struct closing *c, kr_version a, kr_version b, uint32_t age)
{
	kr_txn from = writer(c, a), to = writer(c, b);
	if (from.i == KR_NONE || from.i == to.i)
		return KR_OK;
	bool found = false;
	kr_vec_clear(&c->path);
	KR_TRY(kr_ir_path(c->ir, kr_ir_out(c->ir, KR_WW, from), kr_ir_in(c->ir, KR_WW, to), age, &c->path,
		&found));
	if (!found)
		KR_TRY(need_path(c, kr_ir_in(c->ir, KR_WW, from), kr_ir_out(c->ir, KR_WW, to), age));
	kr_key key = c->ir->asg->versions[a.i].key;
	struct kr_link only = known_link(c->ir, c->path.at[0]);
	if (c->path.n == 1 && only.kind == KR_WW && only.key.i == key.i) /* the very claim, known */
		return kr_vec_add(c->proof->mem, &c->todo, c->path.at[0]);
	struct kr_link link = {KR_WW, to, from, {KR_NONE}, {KR_NONE}, key, KR_NONE};
	return add_lemma(c, link, &c->path);
}

/* Candidate v of o is impossible because the observer reaches v's writer: wr(v) would close that path. */
static enum kr_status rule_out_by_future(struct closing *c, kr_obs o, kr_version v, uint32_t age, bool *done)
{
	const struct kr_observation *obs = &c->ir->asg->obs[o.i];
	kr_txn w = writer(c, v);
	if (w.i == KR_NONE || !kr_level_orders(c->ir->level, KR_WR))
		return KR_OK;
	kr_vec_clear(&c->path);
	enum kr_status status = kr_ir_path(c->ir, kr_ir_in(c->ir, KR_WR, obs->txn),
		kr_ir_out(c->ir, KR_WR, w), age, &c->path, done);
	if (status || !*done)
		return status;
	struct kr_link link = {KR_WR, w, obs->txn, o, v, obs->key, KR_NONE};
	return add_lemma(c, link, &c->path);
}

/* By the clocks as they are now, hence necessary at any age: w reaches x (w none: always), x reaches r. */
static bool may_overwrite(const struct kr_ir *ir, kr_txn w, kr_txn x, kr_txn r)
{
	return kr_clock_reaches(ir->clock, kr_ir_out(ir, KR_WW, x), kr_ir_in(ir, KR_WR, r)) &&
		(w.i == KR_NONE || kr_ir_writes_before(ir, w, x));
}

/* Candidate v of o is impossible because some other version u comes after v and its writer reaches the
 * observer: rw(o -> u) would close that path. */
static enum kr_status rule_out_by_overwrite(struct closing *c, kr_obs o, kr_version v, uint32_t age,
	bool *done)
{
	const struct kr_ir *ir = c->ir;
	const struct kr_observation *obs = &ir->asg->obs[o.i];
	kr_txn w = writer(c, v);
	uint32_t end = kr_ir_rw_counts(ir, o) ? ir->asg->keys[obs->key.i + 1].first : 0;
	for (uint32_t u = ir->asg->keys[obs->key.i].first + 1; u < end && !*done; u++) {
		kr_txn x = writer(c, (kr_version){u});
		if (u == v.i || x.i == obs->txn.i || ir->presence[x.i] != KR_PRESENT ||
			(obs->predicate && kr_asg_in_set(ir->asg, obs->set, (kr_version){u})))
			continue;
		if (ir->clock && !may_overwrite(ir, w, x, obs->txn))
			continue;
		kr_vec_clear(&c->path);
		bool found = true, reaches = true;
		if (w.i != KR_NONE)
			KR_TRY(kr_ir_path(ir, kr_ir_in(ir, KR_WW, w), kr_ir_out(ir, KR_WW, x), age, &c->path,
				&found));
		if (found) {
			kr_vec_clear(&c->path);
			KR_TRY(kr_ir_path(ir, kr_ir_out(ir, KR_WW, x), kr_ir_in(ir, KR_WR, obs->txn), age,
				&c->path, &reaches));
		}
		if (!found || !reaches)
			continue;
		struct kr_link link = {KR_RW, obs->txn, x, o, v, obs->key, KR_NONE};
		KR_TRY(add_lemma(c, link, &c->path));
		KR_TRY(explain_order(c, v, (kr_version){u}, age));
		*done = true;
	}
	return KR_OK;
}

/* An untold initial value is one value: another observation that can only have seen the initial version, and
 * saw something else, rules it out for o. */
static enum kr_status rule_out_by_binding(struct closing *c, kr_obs o, kr_version v, uint32_t age)
{
	const struct kr_asg *asg = c->ir->asg;
	if (!asg->keys[asg->obs[o.i].key.i].open_initial || !kr_asg_is_initial(asg, v))
		return KR_OK;
	for (uint32_t p = 0; p < asg->nobs; p++) {
		if (c->ir->source[p].i != v.i || c->ir->source_age[p] > age ||
			asg->obs[p].set == asg->obs[o.i].set)
			continue;
		return kr_vec_add(c->proof->mem, &c->binding, (kr_obs){p});
	}
	return KR_OK;
}

/* Candidate v of o is impossible because observation p of the same transaction and key cannot have seen it:
 * for each version that p may have seen, whichever of the two came first was overwritten by the other, which
 * the transaction saw, too. */
static enum kr_status rule_out_by_sight(struct closing *c, kr_obs o, kr_version v, bool *done)
{
	const struct kr_asg *asg = c->ir->asg;
	kr_obs p = kr_ir_other_sight(c->ir, o, v);
	kr_txn t = asg->obs[o.i].txn, w = writer(c, v);
	kr_key k = asg->obs[o.i].key;
	kr_version u;
	*done = p.i != KR_NONE;
	if (!*done)
		return KR_OK;
	for (kr_candidates it = kr_asg_candidates(asg, p); kr_asg_next(asg, &it, &u);) {
		kr_txn x = writer(c, u);
		struct kr_link v_first[2] = {{KR_RW, t, x, o, v, k, KR_NONE},
			{KR_WR, x, t, p, u, k, KR_NONE}};
		struct kr_link u_first[2] = {{KR_RW, t, w, p, u, k, KR_NONE},
			{KR_WR, w, t, o, v, k, KR_NONE}};
		if (x.i != KR_NONE)
			KR_TRY(add_pair(c, v_first));
		if (w.i != KR_NONE)
			KR_TRY(add_pair(c, u_first));
	}
	return KR_OK;
}

static enum kr_status rule_out(struct closing *c, kr_obs o, kr_version v, uint32_t age)
{
	bool done = false;
	KR_TRY(rule_out_by_sight(c, o, v, &done));
	if (!done)
		KR_TRY(rule_out_by_future(c, o, v, age, &done));
	if (!done)
		KR_TRY(rule_out_by_overwrite(c, o, v, age, &done));
	/* not done: bound, or its writer is absent, which needs no cycle */
	return done ? KR_OK : rule_out_by_binding(c, o, v, age);
}

/* Why observation o saw its source: every other candidate is impossible by edges older than `age`. With
 * `known` = KR_NONE: why no candidate is possible. */
static enum kr_status explain_candidates(struct closing *c, kr_obs o, kr_version known, uint32_t age)
{
	kr_version v;
	for (kr_candidates it = kr_asg_candidates(c->ir->asg, o); kr_asg_next(c->ir->asg, &it, &v);)
		KR_TRY(v.i == known.i ? KR_OK : rule_out(c, o, v, age));
	return KR_OK;
}

static enum kr_status explain_source(struct closing *c, kr_obs o)
{
	if (kr_bits_get(c->sources_done, o.i))
		return KR_OK;
	kr_bits_set(c->sources_done, o.i);
	return explain_candidates(c, o, c->ir->source[o.i], c->ir->source_age[o.i]);
}

static enum kr_status explain_presence(struct closing *c, kr_txn t)
{
	/* an observer may be of unknown outcome itself */
	for (uint32_t steps = 0; t.i != KR_NONE && steps <= c->ir->asg->ntxns; steps++) {
		kr_obs why = kr_ir_presence_why(c->ir, t);
		if (why.i == KR_NONE)
			return KR_OK;
		KR_TRY(explain_source(c, why));
		t = c->ir->asg->obs[why.i].txn;
	}
	return KR_OK;
}

static enum kr_status explain_bindings(struct closing *c)
{
	while (c->binding.n > 0) {
		kr_obs o = kr_vec_pop(&c->binding);
		KR_TRY(explain_source(c, o));
		KR_TRY(explain_presence(c, c->ir->asg->obs[o.i].txn));
	}
	return KR_OK;
}

enum kr_status kr_proof_missed(struct kr_proof *proof, const struct kr_ir *ir, kr_obs o, kr_txn a,
	uint32_t age)
{
	const struct kr_observation *obs = &ir->asg->obs[o.i];
	struct kr_link missed = {KR_RW, obs->txn, a, o, ir->source[o.i], obs->key, KR_NONE};
	bool found = false;
	kr_proof_begin(proof);
	KR_TRY(kr_proof_add_link(proof, missed));
	KR_TRY(kr_visible_way(ir, a, o, age, proof, &found));
	return found ? kr_proof_end(proof) : KR_INTERNAL;
}

/* A given order may rest on guards: those of the pair itself, or else, since other pairs of the key led from
 * one to the other, those of all. */
static enum kr_status explain_given(struct closing *c, kr_txn from, kr_txn to, kr_key key)
{
	const struct kr_asg *asg = c->ir->asg;
	kr_version a = kr_asg_version_of(asg, from, key), b = kr_asg_version_of(asg, to, key);
	bool direct = false;
	for (uint32_t i = 0; i < asg->norders && !direct; i++)
		direct = asg->orders[i].guard.i == KR_NONE && asg->orders[i].before.i == a.i &&
			asg->orders[i].after.i == b.i;
	for (uint32_t i = 0; i < asg->norders && !direct; i++) {
		const struct kr_asg_order *order = &asg->orders[i];
		if (order->guard.i == KR_NONE || asg->versions[order->before.i].key.i != key.i ||
			c->ir->presence[order->guard.i] != KR_PRESENT)
			continue;
		direct = order->before.i == a.i && order->after.i == b.i;
		KR_TRY(explain_presence(c, order->guard));
	}
	return KR_OK;
}

static enum kr_status explain_edge(struct closing *c, uint32_t index)
{
	const struct kr_ir *ir = c->ir;
	const struct kr_edge *e = &ir->edges.at[index];
	if (kr_bits_get(c->edges_done, index))
		return KR_OK;
	kr_bits_set(c->edges_done, index);
	c->explaining = index;

	kr_obs o = {e->why};
	kr_txn from = kr_ir_txn(ir, e->from), to = kr_ir_txn(ir, e->to);
	if (e->kind == KR_WR || e->kind == KR_RW || e->rule == KR_RULE_READER || e->rule == KR_RULE_UPDATE)
		KR_TRY(explain_source(c, o));
	if (e->kind == KR_WW && e->rule == KR_RULE_GIVEN && ir->asg->norders > 0)
		KR_TRY(explain_given(c, from, to, (kr_key){e->why}));
	if ((e->kind == KR_RW || e->rule == KR_RULE_UPDATE) && from.i != KR_NONE)
		KR_TRY(explain_order(c, ir->source[o.i],
			kr_asg_version_of(ir->asg, to, ir->asg->obs[o.i].key), index));
	if (e->rule == KR_RULE_READER)
		KR_TRY(kr_proof_missed(c->proof, ir, o, from, index));
	if (e->rule == KR_RULE_UPDATE) {
		kr_key key = ir->asg->obs[o.i].key;
		struct kr_link links[2] = {{KR_RW, from, to, o, ir->source[o.i], key, KR_NONE},
			{KR_WW, to, from, {KR_NONE}, {KR_NONE}, key, KR_NONE}};
		KR_TRY(add_pair(c, links));
	}
	if (e->rule == KR_RULE_WRITERS) {
		KR_TRY(need_path(c, kr_ir_in(ir, KR_WW, from), kr_ir_out(ir, KR_WW, to), index));
		struct kr_link link = {KR_WW, to, from, {KR_NONE}, {KR_NONE}, {e->why}, KR_NONE};
		KR_TRY(add_lemma(c, link, &c->path));
	}
	return KR_OK;
}

/* The cycle of a known ww edge and its contrary: trivially forbidden, but it carries the edge into the
 * proof. */
static enum kr_status add_known_order(struct closing *c, uint32_t index)
{
	struct kr_link link = known_link(c->ir, index);
	struct kr_link contrary = {KR_WW, link.to, link.from, {KR_NONE}, {KR_NONE}, link.key, KR_NONE};
	struct kr_path path = {&index, 1, 1};
	return add_lemma(c, contrary, &path);
}

static enum kr_status explain_all(struct closing *c)
{
	for (uint32_t i = 0; i < c->proof->links.n || c->todo.n > 0;) {
		KR_TRY(kr_ctx_tick(c->ir->ctx));
		if (c->todo.n > 0) {
			KR_TRY(explain_edge(c, kr_vec_pop(&c->todo)));
		} else {
			struct kr_link link = c->proof->links.at[i++];
			if (link.edge != KR_NONE)
				KR_TRY(explain_edge(c, link.edge));
			else if (link.obs.i != KR_NONE && c->ir->source[link.obs.i].i == link.seen.i)
				KR_TRY(explain_source(c,
					link.obs)); /* of an rw link's guard, half is known */
			KR_TRY(explain_presence(c, link.from));
			KR_TRY(explain_presence(c, link.to));
		}
		KR_TRY(explain_bindings(c));
	}
	return KR_OK;
}

static enum kr_status closing_init(struct closing *c, struct kr_proof *proof, const struct kr_ir *ir)
{
	*c = (struct closing){.proof = proof, .ir = ir, .explaining = KR_NONE};
	c->edges_done = kr_mem_alloc(proof->mem, KR_BITS_WORDS(ir->edges.n), sizeof(uint64_t));
	c->sources_done = kr_mem_alloc(proof->mem, KR_BITS_WORDS(ir->asg->nobs), sizeof(uint64_t));
	return c->edges_done && c->sources_done ? KR_OK : KR_NOMEM;
}

static void closing_done(struct closing *c)
{
	struct kr_mem *mem = c->proof->mem;
	kr_mem_free(mem, c->edges_done, KR_BITS_WORDS(c->ir->edges.n), sizeof(uint64_t));
	kr_mem_free(mem, c->sources_done, KR_BITS_WORDS(c->ir->asg->nobs), sizeof(uint64_t));
	kr_vec_done(mem, &c->path);
	kr_vec_done(mem, &c->todo);
	kr_vec_done(mem, &c->binding);
}

/* `v` KR_NONE: every candidate. */
static enum kr_status rule_out_now(struct kr_proof *proof, const struct kr_ir *ir, kr_obs o, kr_version v)
{
	struct closing c;
	enum kr_status status = closing_init(&c, proof, ir);
	if (!status)
		status = v.i == KR_NONE ? explain_candidates(&c, o, v, ir->edges.n)
					: rule_out(&c, o, v, ir->edges.n);
	if (!status && v.i == KR_NONE) /* seeing nothing is a contradiction only for who took effect */
		status = explain_presence(&c, ir->asg->obs[o.i].txn);
	if (!status)
		status = explain_bindings(&c);
	/* a version order that is itself a known edge: keep it in the proof so that closing explains it */
	while (!status && c.todo.n > 0)
		status = add_known_order(&c, kr_vec_pop(&c.todo));
	closing_done(&c);
	return status;
}

enum kr_status kr_proof_no_candidate(struct kr_proof *proof, const struct kr_ir *ir, kr_obs o)
{
	return rule_out_now(proof, ir, o, (kr_version){KR_NONE});
}

enum kr_status kr_proof_rule_out(struct kr_proof *proof, const struct kr_ir *ir, kr_obs o, kr_version v)
{
	return rule_out_now(proof, ir, o, v);
}

/* Two candidates of an item observation: what it would take to see both. */
static bool two_sights(const struct closing *c, uint32_t o, struct kr_link links[2])
{
	const struct kr_asg *asg = c->ir->asg;
	const struct kr_observation *obs = &asg->obs[o];
	kr_version first, second;
	kr_candidates it = kr_asg_candidates(asg, (kr_obs){o});
	if (obs->predicate || !kr_asg_next(asg, &it, &first) || !kr_asg_next(asg, &it, &second))
		return false;
	if (!kr_level_forbids_two_states(c->ir->level, false, obs->loose))
		return false;
	kr_txn w = writer(c, second); /* candidates are ascending: it is not the initial version */
	links[0] = (struct kr_link){KR_RW, obs->txn, w, {o}, first, obs->key, KR_NONE};
	links[1] = (struct kr_link){KR_WR, w, obs->txn, {o}, second, obs->key, KR_NONE};
	return true;
}

/* What refutes may be that untold initial values and unknown outcomes cannot agree, which takes no cycle. A
 * certificate has one all the same: that of an observation which sees two versions at once, preferably of a
 * key with an untold initial value; for people, since nothing rests on it. */
static enum kr_status add_idle_cycle(struct closing *c)
{
	const struct kr_asg *asg = c->ir->asg;
	struct kr_link links[2], found[2];
	bool any = false, untold = false;
	for (uint32_t o = 0; o < asg->nobs && !untold; o++) {
		bool open = asg->keys[asg->obs[o].key.i].open_initial;
		if ((any && !open) || !two_sights(c, o, links))
			continue;
		memcpy(found, links, sizeof found);
		any = true;
		untold = open;
	}
	return any ? add_pair(c, found) : KR_OK;
}

enum kr_status kr_proof_close(struct kr_proof *proof, const struct kr_ir *ir)
{
	struct closing c;
	enum kr_status status = closing_init(&c, proof, ir);
	if (!status)
		status = explain_all(&c);
	proof->unfounded = status == KR_INTERNAL ? c.explaining : KR_NONE;
	if (!status && proof->cycles.n == 0)
		status = add_idle_cycle(&c);
	closing_done(&c);
	return status;
}
