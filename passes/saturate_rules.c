/* The forcing rules of pass `saturate`. t observed key k (observation o), a and b write k. "Before" is where
 * wr enters t, and paths start where ww leaves a writer; with begin and commit nodes, those are begins and
 * commits.
 *   before:  o saw b, a reaches t, a != b => a before b: ww(a -> b), or rw(t -> a) would close a cycle.
 *   writers: ww(b -> a) would close a cycle         =>  ww(a -> b), which says more where a has two nodes.
 *   after:   o saw a, ww(b -> a) would close a cycle =>  a before b, hence rw(t -> b).
 *   update:  as "after", where rw are no edges, and t writes k => ww(t -> b), or ww(b -> t) and rw(t -> b)
 *            would be a cycle.
 *   initial: o saw the initial version              => rw(t -> b) for every writer b; where rw are no edges,
 *                                                   no b may reach t.
 *   source:  candidate v of o is impossible if t reaches v's writer, or if v is before a writer u (outside
 *            the candidate set, for predicate observations) that reaches t, or if another
 *            observation of k by t cannot have seen v: an item observation sees what all the others do. One
 *            candidate left is the source; none left refutes the level. An untold initial value is one value:
 *            who saw the initial version binds it for all.
 * Which rw close cycles with all paths, and which are edges, kr_ir_rw_counts and kr_ir_rw_joins tell. Per
 * chain only the last writer that reaches a node, and only the first writer that a version reaches, need an
 * edge: the others follow along the chain. */
#include "base/bits.h"
#include "base/order.h"
#include "passes/orders.h"
#include "passes/saturate.h"

static kr_txn writer_of(const struct kr_saturation *s, kr_version v)
{
	return s->ir->asg->versions[v.i].writer;
}

static bool tracked(const struct kr_saturation *s, kr_node v) { return s->ir->clock->chain[v.i] != KR_NONE; }

static enum kr_status add(struct kr_saturation *s, enum kr_edge_kind kind, enum kr_rule rule, kr_txn from,
	kr_txn to, uint32_t why)
{
	struct kr_ir *ir = s->ir;
	if (ir->clock->cyclic.i != KR_NONE)
		/* refuted already: on a cycle everything follows, even that a version comes before itself */
		return KR_OK;
	KR_TRY(kr_ir_relate(ir, kind, from, to, rule, why));
	kr_clock_edge(ir->clock, kr_ir_out(ir, kind, from), kr_ir_in(ir, kind, to));
	s->changed = true;
	return KR_OK;
}

/* May a version be skipped as an overwriter of observation o: its own, one whose writer may be absent, one
 * that does not change the predicate's match, any where such an rw closes no cycles? */
static bool passes_over(const struct kr_saturation *s, kr_obs o, kr_version v)
{
	const struct kr_observation *obs = &s->ir->asg->obs[o.i];
	kr_txn w = writer_of(s, v);
	return w.i == obs->txn.i || !kr_ir_is_present(s->ir, w) ||
		(obs->predicate && kr_asg_in_set(s->ir->asg, obs->set, v)) || !kr_ir_rw_counts(s->ir, o);
}

/* Number of writers of the segment that reach the observer. */
static uint32_t count_reaching(const struct kr_saturation *s, const struct kr_segment *segment, kr_obs o)
{
	return kr_chains_upto(&s->chains, segment,
		kr_clock_last(s->ir->clock, segment->chain,
			kr_ir_in(s->ir, KR_WR, s->ir->asg->obs[o.i].txn)));
}

/* The last of the first n writers of the segment that counts for the observation, or KR_NONE. */
static kr_version last_of(const struct kr_saturation *s, const struct kr_segment *segment, uint32_t n,
	kr_obs o)
{
	while (n > 0) {
		kr_version v = s->chains.writers[segment->first + --n].version;
		if (!passes_over(s, o, v))
			return v;
	}
	return (kr_version){KR_NONE};
}

/* Number of writers of the segment up to one position, none if the last of them is at or before another one:
 * then what they bring is known. Most segments' ends tell that without a search. */
static uint32_t count_news(const struct kr_saturation *s, const struct kr_segment *segment, uint32_t upto,
	uint32_t known)
{
	if (segment->from > upto || upto <= known || segment->to <= known)
		return 0;

	uint32_t n = kr_chains_upto(&s->chains, segment, upto);

	return s->chains.writers[segment->first + n - 1].position <= known ? 0 : n;
}

/* Rule "before". */
static enum kr_status order_before(struct kr_saturation *s, kr_obs o, const uint64_t *changed)
{
	const struct kr_observation *obs = &s->ir->asg->obs[o.i];
	kr_version seen = s->ir->source[o.i];
	kr_txn b = writer_of(s, seen);
	const struct kr_segment *segment;
	if (b.i == KR_NONE)
		return KR_OK; /* what overwrites the initial version is seen to elsewhere */

	const struct kr_clock *c = s->ir->clock;
	kr_node reader = kr_ir_in(s->ir, KR_WR, obs->txn), writer = kr_ir_in(s->ir, KR_WW, b);

	for (kr_segments_in it = kr_chains_in(&s->chains, obs->key, changed);
		(segment = kr_chains_next(&it)) != NULL;) {
		uint32_t n = count_news(s, segment, kr_clock_last(c, segment->chain, reader),
			kr_clock_last(c, segment->chain, writer));
		kr_version last = last_of(s, segment, n, o);
		if (last.i == KR_NONE || last.i == seen.i ||
			kr_clock_implies(s->ir, KR_WW, writer_of(s, last), b))
			continue;
		KR_TRY(add(s, KR_WW, KR_RULE_READER, writer_of(s, last), b, o.i));
	}
	return KR_OK;
}

/* The observer of o overwrites what it saw, and b's version is known to come after that, too: then b's comes
 * after the observer's. */
static enum kr_status add_update(struct kr_saturation *s, kr_obs o, kr_txn b)
{
	const struct kr_observation *obs = &s->ir->asg->obs[o.i];
	if (kr_asg_version_of(s->ir->asg, obs->txn, obs->key).i == KR_NONE ||
		!tracked(s, kr_ir_out(s->ir, KR_WW, obs->txn)) || kr_clock_implies(s->ir, KR_WW, obs->txn, b))
		return KR_OK;
	return add(s, KR_WW, KR_RULE_UPDATE, obs->txn, b, o.i);
}

/* rw from the observer of o to b, whose version is known to come after the one seen; where rw are no edges,
 * what follows from it. */
static enum kr_status add_rw(struct kr_saturation *s, kr_obs o, kr_version target)
{
	const struct kr_observation *obs = &s->ir->asg->obs[o.i];
	kr_txn b = writer_of(s, target);
	if (passes_over(s, o, target))
		return KR_OK;
	if (!kr_ir_rw_joins(s->ir, obs->txn))
		return add_update(s, o, b);
	if (!tracked(s, kr_ir_out(s->ir, KR_RW, obs->txn)) || kr_clock_implies(s->ir, KR_RW, obs->txn, b))
		return KR_OK;
	return add(s, KR_RW, KR_RULE_LATER, obs->txn, b, o.i);
}

enum kr_status kr_saturation_rw_from_readers(struct kr_saturation *s, kr_version seen, kr_version target)
{
	for (uint32_t o = s->reader_head[seen.i]; o != KR_NONE; o = s->reader_next[o]) {
		KR_TRY(kr_ir_is_present(s->ir, s->ir->asg->obs[o].txn) ? add_rw(s, (kr_obs){o}, target)
								       : KR_OK);
	}
	return KR_OK;
}

/* The last of the first n writers of the segment that is present and not b, or KR_NONE. */
static kr_version last_other(const struct kr_saturation *s, const struct kr_segment *segment, uint32_t n,
	kr_txn b)
{
	while (n > 0) {
		kr_version v = s->chains.writers[segment->first + --n].version;
		if (writer_of(s, v).i != b.i && kr_ir_is_present(s->ir, writer_of(s, v)))
			return v;
	}
	return (kr_version){KR_NONE};
}

/* Number of writers of the segment whose versions are known to come before b's, b itself perhaps among them;
 * none if they come before a version that is known to come before `later`, b's: then what they bring that one
 * says more. Not so where the observer may pass over that one and not `later`. */
static uint32_t count_before(const struct kr_saturation *s, const struct kr_segment *segment,
	kr_version later, kr_txn b)
{
	const struct kr_clock *c = s->ir->clock;
	kr_version nearest = s->nearest[later.i];
	/* a begin stands right before its commit */
	uint32_t lead = kr_ir_in(s->ir, KR_WW, b).i != kr_ir_out(s->ir, KR_WW, b).i;
	uint32_t upto = kr_clock_last(c, segment->chain, kr_ir_out(s->ir, KR_WW, b)) + lead;
	uint32_t known = nearest.i == KR_NONE
		? 0
		: kr_clock_last(c, segment->chain, kr_ir_out(s->ir, KR_WW, writer_of(s, nearest)));
	uint32_t n = count_news(s, segment, upto, s->any_matched ? 0 : known);

	return n > 0 && s->chains.writers[segment->first + n - 1].position <= known &&
			!kr_bits_get(s->matched, s->chains.writers[segment->first + n - 1].version.i)
		? 0
		: n;
}

static void keep_nearest(struct kr_saturation *s, kr_version before, kr_version later)
{
	kr_version *nearest = &s->nearest[later.i];
	if (nearest->i == KR_NONE ||
		kr_clock_reaches(s->ir->clock, kr_ir_out(s->ir, KR_WW, writer_of(s, *nearest)),
			kr_ir_out(s->ir, KR_WW, writer_of(s, before))))
		*nearest = before;
}

/* Rules "after" and "writers", from the side of the writer of `later`, whose clock moved. */
static enum kr_status order_after(struct kr_saturation *s, kr_version later, const uint64_t *changed)
{
	kr_txn b = writer_of(s, later);
	const struct kr_segment *segment;
	for (kr_segments_in it = kr_chains_in(&s->chains, s->ir->asg->versions[later.i].key, changed);
		(segment = kr_chains_next(&it)) != NULL;) {
		kr_version last = last_other(s, segment, count_before(s, segment, later, b), b);
		if (last.i == KR_NONE)
			continue;
		kr_txn a = writer_of(s, last);
		KR_TRY(kr_clock_implies(s->ir, KR_WW, a, b)
				? KR_OK
				: add(s, KR_WW, KR_RULE_WRITERS, a, b, s->ir->asg->versions[later.i].key.i));
		KR_TRY(kr_saturation_rw_from_readers(s, last, later));
		keep_nearest(s, last, later);
	}
	return KR_OK;
}

/* Rule "initial", once per writer: the first present one of each chain suffices. */
static enum kr_status order_after_initial(struct kr_saturation *s, kr_version later)
{
	kr_key k = s->ir->asg->versions[later.i].key;
	kr_node node = kr_ir_out(s->ir, KR_WW, writer_of(s, later));
	uint32_t count;
	const struct kr_segment *segments = kr_chains_of(&s->chains, k, &count);
	for (uint32_t i = 0; i < count; i++) {
		if (segments[i].chain != s->ir->clock->chain[node.i])
			continue;
		for (uint32_t j = 0; j < segments[i].count; j++) {
			kr_version v = s->chains.writers[segments[i].first + j].version;
			if (v.i == later.i)
				return kr_saturation_rw_from_readers(s, kr_asg_initial(s->ir->asg, k), later);
			if (kr_ir_is_present(s->ir, writer_of(s, v)))
				return KR_OK;
		}
	}
	return KR_OK;
}

/* Rules "after" and "initial", from the side of an observation whose source has just become known: per chain,
 * the first writers after it. */
static enum kr_status order_after_source(struct kr_saturation *s, kr_obs o)
{
	const struct kr_observation *obs = &s->ir->asg->obs[o.i];
	kr_txn a = writer_of(s, s->ir->source[o.i]);
	uint32_t count;
	const struct kr_segment *segments = kr_chains_of(&s->chains, obs->key, &count);
	for (uint32_t i = 0; i < count; i++) {
		const struct kr_chain_writer *w = s->chains.writers + segments[i].first;
		uint32_t at; /* reached by a: a suffix of the chain */
		KR_BISECT(at, 0, a.i == KR_NONE ? 0 : segments[i].count,
			!kr_ir_writes_before(s->ir, a, writer_of(s, w[at].version)));
		while (at < segments[i].count &&
			(passes_over(s, o, w[at].version) || w[at].version.i == s->ir->source[o.i].i))
			at++;
		KR_TRY(at < segments[i].count ? add_rw(s, o, w[at].version) : KR_OK);
	}
	return KR_OK;
}

/* ---- rule "source" ---- */

static bool is_possible(const struct kr_saturation *s, kr_obs o, kr_version v)
{
	const struct kr_observation *obs = &s->ir->asg->obs[o.i];
	kr_txn w = writer_of(s, v);
	uint32_t count;
	const struct kr_segment *segments = kr_chains_of(&s->chains, obs->key, &count);
	if (w.i != KR_NONE && s->ir->presence[w.i] == KR_ABSENT_TXN)
		return false;
	if (w.i != KR_NONE && kr_ir_closes_wr(s->ir, w, obs->txn))
		return false;
	if (w.i == KR_NONE && s->bound[obs->key.i] != KR_NONE && s->bound[obs->key.i] != obs->set)
		return false;
	if (kr_ir_other_sight(s->ir, o, v).i != KR_NONE)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		kr_version u = last_of(s, &segments[i], count_reaching(s, &segments[i], o), o);
		if (u.i == KR_NONE || u.i == v.i)
			continue;
		if (w.i == KR_NONE || kr_ir_writes_before(s->ir, w, writer_of(s, u)))
			return false;
	}
	return true;
}

static enum kr_status refute(struct kr_saturation *s, kr_obs o)
{
	struct kr_mem *mem = &s->ir->ctx->mem;
	struct kr_proof *proof = kr_mem_alloc(mem, 1, sizeof *proof);
	if (!proof)
		return KR_NOMEM;
	kr_proof_init(proof, mem);
	s->ir->conflict = proof;
	s->conflict = true;
	return kr_proof_no_candidate(proof, s->ir, o);
}

static enum kr_status settle(struct kr_saturation *s, kr_obs o, kr_version v)
{
	struct kr_ir *ir = s->ir;
	kr_txn w = writer_of(s, v), t = ir->asg->obs[o.i].txn;
	ir->source[o.i] = v;
	ir->source_age[o.i] = ir->edges.n;
	kr_saturation_saw(s, o, v);
	s->changed = s->settled = true;
	enum kr_status status = KR_OK;
	if (w.i != KR_NONE) {
		if (!kr_ir_is_present(ir, w)) {
			ir->presence[w.i] = KR_PRESENT;
			ir->presence_why[w.i] = o.i + 1;
			s->arrived = true;
			kr_clock_touch(ir->clock, kr_ir_in(ir, KR_WR, w));
			kr_clock_touch(ir->clock, kr_ir_out(ir, KR_WR, w));
		}
		status = kr_level_orders(ir->level, KR_WR) ? add(s, KR_WR, KR_RULE_SOURCE, w, t, o.i) : KR_OK;
	}
	kr_clock_touch(ir->clock, kr_ir_in(ir, KR_WR, t));
	return status ? status : order_after_source(s, o);
}

enum kr_status kr_saturation_link_given(struct kr_saturation *s)
{
	const struct kr_asg *asg = s->ir->asg;
	struct kr_orders orders;
	s->arrived = false;
	enum kr_status status = kr_orders_init(&orders, s->ir);
	for (uint32_t v = 0; v < asg->nversions && asg->norders > 0 && !status; v++) {
		kr_txn a = asg->versions[v].writer;
		for (uint32_t i = kr_orders_begin(&orders, (kr_version){v});
			a.i != KR_NONE && i < kr_orders_end(&orders, (kr_version){v}) && !status; i++) {
			kr_txn b = writer_of(s, orders.after.at[i]);
			if (!kr_clock_implies(s->ir, KR_WW, a, b))
				/* `why` of a given order is its key */
				status = add(s, KR_WW, KR_RULE_GIVEN, a, b, asg->versions[v].key.i);
		}
	}
	kr_orders_done(&orders);
	return status;
}

/* Looks for new candidates only when one of the two that are watched has become impossible. */
static enum kr_status narrow(struct kr_saturation *s, kr_obs o)
{
	kr_version *watch = s->watch[o.i], v;
	if (watch[0].i != KR_NONE && is_possible(s, o, watch[0]) && is_possible(s, o, watch[1]))
		return KR_OK;
	uint32_t found = 0;
	for (kr_candidates it = kr_asg_candidates(s->ir->asg, o);
		found < 2 && kr_asg_next(s->ir->asg, &it, &v);) {
		KR_TRY(kr_ctx_tick(s->ir->ctx));
		if (is_possible(s, o, v))
			watch[found++] = v;
	}
	if (found == 2)
		return KR_OK;
	return found == 1 ? settle(s, o, watch[0]) : refute(s, o);
}

enum kr_status kr_saturation_sweep(struct kr_saturation *s)
{
	const struct kr_asg *asg = s->ir->asg;
	s->settled = false;
	for (uint32_t o = 0; o < asg->nobs && !s->conflict; o++) {
		if (s->ir->source[o].i != KR_NONE || !kr_ir_is_present(s->ir, asg->obs[o].txn))
			continue;
		KR_TRY(narrow(s, (kr_obs){o}));
	}
	return KR_OK;
}

bool kr_saturation_refutes(const struct kr_saturation *s, kr_obs o)
{
	kr_version v = s->ir->source[o.i];
	return kr_ir_rw_joins(s->ir, s->ir->asg->obs[o.i].txn) ? kr_ir_other_sight(s->ir, o, v).i != KR_NONE
							       : !is_possible(s, o, v);
}

static enum kr_status visit_reads(struct kr_saturation *s, kr_txn t, const uint64_t *changed, bool first)
{
	const struct kr_asg *asg = s->ir->asg;
	uint32_t end = asg->obs_first[t.i + 1];
	for (uint32_t o = kr_bits_next(s->reads, asg->obs_first[t.i], end); o < end && !s->conflict;
		o = kr_bits_next(s->reads, o + 1, end)) {
		bool known = s->ir->source[o].i != KR_NONE;
		if (known && kr_saturation_refutes(s, (kr_obs){o}))
			return refute(s, (kr_obs){o});
		if (known && kr_bits_get(s->closed, asg->obs[o].key.i))
			continue;
		KR_TRY(known ? order_before(s, (kr_obs){o}, changed) : narrow(s, (kr_obs){o}));
		if (known && first && s->ir->source[o].i == kr_asg_initial(asg, asg->obs[o].key).i)
			KR_TRY(order_after_source(s, (kr_obs){o}));
	}
	return KR_OK;
}

static enum kr_status visit_writes(struct kr_saturation *s, kr_txn t, const uint64_t *changed, bool first)
{
	const struct kr_asg *asg = s->ir->asg;
	uint32_t end = asg->written_first[t.i + 1];
	for (uint32_t i = kr_bits_next(s->writes, asg->written_first[t.i], end); i < end && !s->conflict;
		i = kr_bits_next(s->writes, i + 1, end)) {
		KR_TRY(order_after(s, asg->written[i], changed));
		if (first)
			KR_TRY(order_after_initial(s, asg->written[i]));
	}
	return KR_OK;
}

enum kr_status kr_saturation_visit(struct kr_saturation *s, kr_node v, const uint64_t *changed)
{
	kr_txn t = kr_ir_txn(s->ir, v);
	bool first = !s->begun[v.i];
	s->begun[v.i] = 1;
	if (v.i == kr_ir_in(s->ir, KR_WR, t).i)
		KR_TRY(visit_reads(s, t, changed, first));
	if (v.i == kr_ir_out(s->ir, KR_WW, t).i)
		KR_TRY(visit_writes(s, t, changed, first));
	return KR_OK;
}
