/* The forcing rules of pass `saturate`, for transaction nodes. t observed key k (observation o), a and b write k; "reaches" is by known edges.
 *   before:  o saw b, a reaches t, a != b           =>  a before b:  ww(a -> b), or rw(t -> a) would close a cycle.
 *   after:   o saw a, a reaches b                   =>  a before b, hence rw(t -> b).
 *   initial: o saw the initial version              =>  rw(t -> b) for every writer b.
 *   source:  candidate v of o is impossible if t reaches v's writer, or if v is before a writer u (outside the candidate set, for predicate observations) that reaches t, or if another
 *            observation of k by t cannot have seen v: an item observation sees what all the others do. One candidate left is the source; none left refutes the level. An untold initial value is one value: who saw the initial version binds it for all.
 * Per chain only the last writer that reaches a node, and only the first writer that a version reaches, need an edge: the others follow along the chain. */
#include "passes/orders.h"
#include "passes/saturate.h"

static kr_txn writer_of(const struct kr_saturation *s, kr_version v) { return s->ir->asg->versions[v.i].writer; }
static kr_node node_of(const struct kr_saturation *s, kr_txn t) { return kr_ir_out(s->ir, KR_WW, t); }

static bool reaches(const struct kr_saturation *s, kr_txn a, kr_txn b) { return kr_clock_reaches(s->ir->clock, node_of(s, a), node_of(s, b)); }

static bool tracked(const struct kr_saturation *s, kr_txn t) { return s->ir->clock->chain[node_of(s, t).i] != KR_NONE; }

static enum kr_status add(struct kr_saturation *s, enum kr_edge_kind kind, enum kr_rule rule, kr_txn from, kr_txn to, uint32_t why)
{
	struct kr_edge edge = {kr_ir_out(s->ir, kind, from), kr_ir_in(s->ir, kind, to), why, kind, rule};
	if (s->ir->clock->cyclic.i != KR_NONE)
		return KR_OK; /* refuted already: on a cycle everything follows, even that a version comes before itself */
	enum kr_status status = kr_ir_add_edge(s->ir, edge);
	if (status)
		return status;
	kr_clock_edge(s->ir->clock, edge.from, edge.to);
	s->changed = true;
	return KR_OK;
}

/* May a version be skipped as an overwriter of observation o: its own, one whose writer may be absent, or one that does not change the predicate's match? */
static bool passes_over(const struct kr_saturation *s, const struct kr_observation *obs, kr_version v)
{
	kr_txn w = writer_of(s, v);
	return w.i == obs->txn.i || !kr_ir_is_present(s->ir, w) || (obs->predicate && kr_asg_in_set(s->ir->asg, obs->set, v));
}

/* Number of writers of the segment at or before a position. */
static uint32_t upto(const struct kr_saturation *s, const struct kr_segment *segment, uint32_t position)
{
	uint32_t low = 0, high = segment->count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (s->writers[segment->first + middle].position <= position)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The last writer of the segment that reaches the observer and counts for the observation, or KR_NONE. */
static kr_version last_before(const struct kr_saturation *s, const struct kr_segment *segment, const struct kr_observation *obs)
{
	uint32_t n = upto(s, segment, kr_clock_last(s->ir->clock, segment->chain, node_of(s, obs->txn)));
	while (n > 0) {
		kr_version v = s->writers[segment->first + --n].version;
		if (!passes_over(s, obs, v))
			return v;
	}
	return (kr_version){KR_NONE};
}

static const struct kr_segment *segments_of(const struct kr_saturation *s, kr_key k, uint32_t *count)
{
	*count = s->segment_first[k.i + 1] - s->segment_first[k.i];
	return s->segments + s->segment_first[k.i];
}

static bool moved(const uint64_t *changed, uint32_t chain) { return changed[chain / 64] >> (chain % 64) & 1; }

/* Rule "before". */
static enum kr_status order_before(struct kr_saturation *s, kr_obs o, const uint64_t *changed)
{
	const struct kr_observation *obs = &s->ir->asg->obs[o.i];
	kr_version seen = s->ir->source[o.i];
	kr_txn b = writer_of(s, seen);
	uint32_t count;
	const struct kr_segment *segments = segments_of(s, obs->key, &count);
	if (b.i == KR_NONE)
		return KR_OK; /* rule "initial" has closed the cycle if there is one */
	for (uint32_t i = 0; i < count; i++) {
		if (!moved(changed, segments[i].chain))
			continue;
		kr_version last = last_before(s, &segments[i], obs);
		if (last.i == KR_NONE || last.i == seen.i || reaches(s, writer_of(s, last), b))
			continue;
		enum kr_status status = add(s, KR_WW, KR_RULE_READER, writer_of(s, last), b, o.i);
		if (status)
			return status;
	}
	return KR_OK;
}

/* rw from the observer of o to b, whose version is known to come after the one seen. */
static enum kr_status add_rw(struct kr_saturation *s, kr_obs o, kr_version target)
{
	const struct kr_observation *obs = &s->ir->asg->obs[o.i];
	kr_txn b = writer_of(s, target);
	if (passes_over(s, obs, target) || !tracked(s, obs->txn) || reaches(s, obs->txn, b))
		return KR_OK;
	return add(s, KR_RW, KR_RULE_LATER, obs->txn, b, o.i);
}

static enum kr_status add_rw_from_readers(struct kr_saturation *s, kr_version seen, kr_version target)
{
	for (uint32_t o = s->reader_head[seen.i]; o != KR_NONE; o = s->reader_next[o]) {
		enum kr_status status = kr_ir_is_present(s->ir, s->ir->asg->obs[o].txn) ? add_rw(s, (kr_obs){o}, target) : KR_OK;
		if (status)
			return status;
	}
	return KR_OK;
}

/* Rule "after", from the side of the writer of `later`, whose clock moved. */
static enum kr_status order_after(struct kr_saturation *s, kr_version later, const uint64_t *changed)
{
	kr_txn b = writer_of(s, later);
	uint32_t count;
	const struct kr_segment *segments = segments_of(s, s->ir->asg->versions[later.i].key, &count);
	for (uint32_t i = 0; i < count; i++) {
		if (!moved(changed, segments[i].chain))
			continue;
		uint32_t n = upto(s, &segments[i], kr_clock_last(s->ir->clock, segments[i].chain, node_of(s, b)));
		while (n > 0 && !kr_ir_is_present(s->ir, writer_of(s, s->writers[segments[i].first + n - 1].version)))
			n--;
		if (n == 0)
			continue;
		enum kr_status status = add_rw_from_readers(s, s->writers[segments[i].first + n - 1].version, later);
		if (status)
			return status;
	}
	return KR_OK;
}

/* Rule "initial", once per writer: the first present one of each chain suffices. */
static enum kr_status order_after_initial(struct kr_saturation *s, kr_version later)
{
	kr_key k = s->ir->asg->versions[later.i].key;
	kr_node node = node_of(s, writer_of(s, later));
	uint32_t count;
	const struct kr_segment *segments = segments_of(s, k, &count);
	for (uint32_t i = 0; i < count; i++) {
		if (segments[i].chain != s->ir->clock->chain[node.i])
			continue;
		for (uint32_t j = 0; j < segments[i].count; j++) {
			kr_version v = s->writers[segments[i].first + j].version;
			if (v.i == later.i)
				return add_rw_from_readers(s, kr_asg_initial(s->ir->asg, k), later);
			if (kr_ir_is_present(s->ir, writer_of(s, v)))
				return KR_OK;
		}
	}
	return KR_OK;
}

/* Rules "after" and "initial", from the side of an observation whose source has just become known: per chain, the first writers after it. */
static enum kr_status order_after_source(struct kr_saturation *s, kr_obs o)
{
	const struct kr_observation *obs = &s->ir->asg->obs[o.i];
	kr_txn a = writer_of(s, s->ir->source[o.i]);
	uint32_t count;
	const struct kr_segment *segments = segments_of(s, obs->key, &count);
	for (uint32_t i = 0; i < count; i++) {
		const struct kr_writer *w = s->writers + segments[i].first;
		uint32_t low = 0, high = a.i == KR_NONE ? 0 : segments[i].count;
		while (low < high) { /* reached by a: a suffix of the chain */
			uint32_t middle = low + (high - low) / 2;
			if (reaches(s, a, writer_of(s, w[middle].version)))
				high = middle;
			else
				low = middle + 1;
		}
		while (low < segments[i].count && passes_over(s, obs, w[low].version))
			low++;
		enum kr_status status = low < segments[i].count ? add_rw(s, o, w[low].version) : KR_OK;
		if (status)
			return status;
	}
	return KR_OK;
}

/* ---- rule "source" ---- */

static bool is_possible(const struct kr_saturation *s, kr_obs o, kr_version v)
{
	const struct kr_observation *obs = &s->ir->asg->obs[o.i];
	kr_txn w = writer_of(s, v);
	uint32_t count;
	const struct kr_segment *segments = segments_of(s, obs->key, &count);
	if (w.i != KR_NONE && (s->ir->presence[w.i] == KR_ABSENT_TXN || reaches(s, obs->txn, w)))
		return false;
	if (w.i == KR_NONE && s->bound[obs->key.i] != KR_NONE && s->bound[obs->key.i] != obs->set)
		return false;
	if (kr_ir_other_sight(s->ir, o, v).i != KR_NONE)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		kr_version u = last_before(s, &segments[i], obs);
		if (u.i == KR_NONE || u.i == v.i)
			continue;
		if (w.i == KR_NONE || reaches(s, w, writer_of(s, u)))
			return false;
	}
	return true;
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
			ir->presence_why[w.i] = o;
			s->arrived = true;
			kr_clock_touch(ir->clock, node_of(s, w));
		}
		status = add(s, KR_WR, KR_RULE_SOURCE, w, t, o.i);
	}
	kr_clock_touch(ir->clock, node_of(s, t));
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
		for (uint32_t i = kr_orders_begin(&orders, (kr_version){v}); a.i != KR_NONE && i < kr_orders_end(&orders, (kr_version){v}) && !status; i++) {
			kr_txn b = writer_of(s, orders.after.at[i]);
			if (!reaches(s, a, b))
				status = add(s, KR_WW, KR_RULE_GIVEN, a, b, asg->versions[v].key.i); /* `why` of a given order is its key */
		}
	}
	kr_orders_done(&orders);
	return status;
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

/* Looks for new candidates only when one of the two that are watched has become impossible. */
static enum kr_status narrow(struct kr_saturation *s, kr_obs o)
{
	kr_version *watch = s->watch[o.i], v;
	if (watch[0].i != KR_NONE && is_possible(s, o, watch[0]) && is_possible(s, o, watch[1]))
		return KR_OK;
	uint32_t found = 0;
	for (kr_candidates it = kr_asg_candidates(s->ir->asg, o); found < 2 && kr_asg_next(s->ir->asg, &it, &v);) {
		enum kr_status status = kr_ctx_tick(s->ir->ctx);
		if (status)
			return status;
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
		enum kr_status status = narrow(s, (kr_obs){o});
		if (status)
			return status;
	}
	return KR_OK;
}

enum kr_status kr_saturation_visit(struct kr_saturation *s, kr_txn t, const uint64_t *changed)
{
	const struct kr_asg *asg = s->ir->asg;
	enum kr_status status = KR_OK;
	bool first = !s->begun[t.i];
	s->begun[t.i] = 1;
	for (uint32_t o = asg->obs_first[t.i]; o < asg->obs_first[t.i + 1] && !status && !s->conflict; o++) {
		bool known = s->ir->source[o].i != KR_NONE;
		status = known ? order_before(s, (kr_obs){o}, changed) : narrow(s, (kr_obs){o});
		if (!status && known && first && s->ir->source[o].i == kr_asg_initial(asg, asg->obs[o].key).i)
			status = order_after_source(s, (kr_obs){o});
	}
	for (uint32_t i = asg->written_first[t.i]; i < asg->written_first[t.i + 1] && !status && !s->conflict; i++) {
		status = order_after(s, asg->written[i], changed);
		if (!status && first)
			status = order_after_initial(s, asg->written[i]);
	}
	return status;
}
