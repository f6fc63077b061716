/* Pass `prune`: Cobra's pruning in rounds. Of each two units of a key (ir/units.h; versions, where none were
 * found) that are not ordered yet, either one comes first, with a ww edge from its last version to the
 * other's first one and rw edges from those who saw its last version. If one of these edges would close a
 * cycle with what was known when the round began, the other alternative's edges become known. Rounds go on
 * until one decides nothing.
 *
 * Let x's unit be the one that must come first. In the IR's rules: x comes before y's last version (`reader`
 * or `writers`), so before the one that this one's writer saw (`reader`), and so on to y; who saw x did so
 * before y was installed (`later`), so x's successor comes before y, and so on to x's last version and those
 * who saw it. Every step is an edge, so a chain costs its length.
 *
 * Against `saturate`: looks at pairs of units, not at chains of the clock; learns of nothing within a round;
 * leaves open sources to the back end. Cost: pairs of units of each key, times the readers of a version, for
 * each round. With more than MOST_PAIRS it does nothing, and all is left to the back end. */
#include "passes/prune.h"

#include "ir/clock.h"
#include "ir/readers.h"
#include "ir/units.h"

enum { MOST_PAIRS = 1 << 25 };

struct pair {
	kr_version a, b;
}; /* first versions of two units */

struct work {
	struct kr_ir *ir;
	const struct kr_pruner *ask;
	KR_VEC(struct pair) open;
	struct kr_readers readers;
	uint32_t added; /* edges of this round */
	bool too_many;
};

static kr_txn writer(const struct work *w, kr_version v) { return w->ir->asg->versions[v.i].writer; }
static kr_version before(const struct work *w, kr_version v)
{
	return w->ir->source[w->ir->units->step[v.i].i];
}

static enum kr_status add(struct work *w, enum kr_edge_kind kind, enum kr_rule rule, kr_txn from, kr_txn to,
	uint32_t why)
{
	if (w->ask->implied(w->ask->data, kind, from, to))
		return KR_OK;
	w->added++;
	return kr_ir_relate(w->ir, kind, from, to, rule, why);
}

static enum kr_status add_rw_from_readers(struct work *w, kr_version seen, kr_version later)
{
	for (uint32_t o = w->readers.head[seen.i]; o != KR_NONE; o = w->readers.next[o])
		if (kr_readers_mind(w->ir, o, later))
			KR_TRY(add(w, KR_RW, KR_RULE_LATER, w->ir->asg->obs[o].txn, writer(w, later), o));
	return KR_OK;
}

/* ---- pairs ---- */

static bool starts_unit(const struct work *w, kr_version v)
{
	return kr_ir_is_present(w->ir, writer(w, v)) && kr_unit_first(w->ir, v).i == v.i;
}

static enum kr_status list_key(struct work *w, uint32_t k)
{
	uint32_t end = w->ir->asg->keys[k + 1].first;
	for (uint32_t a = w->ir->asg->keys[k].first + 1; a < end; a++) {
		for (uint32_t b = a + 1; b < end && starts_unit(w, (kr_version){a}); b++) {
			KR_TRY(kr_ctx_tick(w->ir->ctx));
			w->too_many = w->open.n == MOST_PAIRS;
			if (w->too_many)
				return KR_OK;
			if (starts_unit(w, (kr_version){b}))
				KR_TRY(kr_vec_add(&w->ir->ctx->mem, &w->open, (struct pair){{a}, {b}}));
		}
	}
	return KR_OK;
}

/* Who saw the initial version did so before all others were installed. */
static enum kr_status order_after_initial(struct work *w, uint32_t k)
{
	kr_version initial = kr_asg_initial(w->ir->asg, (kr_key){k});
	for (uint32_t v = initial.i + 1; v < w->ir->asg->keys[k + 1].first; v++) {
		if (starts_unit(w, (kr_version){v}))
			KR_TRY(add_rw_from_readers(w, initial, (kr_version){v}));
		KR_TRY(kr_ctx_tick(w->ir->ctx));
	}
	return KR_OK;
}

/* ---- deciding ---- */

enum verdict { OPEN, BY_PATH, BY_READER };

/* Would a's unit before b's close a cycle? `o`: by which reader's rw. */
static enum verdict closes(const struct work *w, kr_version a, kr_version b, uint32_t *o)
{
	kr_version last = kr_unit_last(w->ir, a);
	if (w->ask->writes_before(w->ask->data, writer(w, b), writer(w, last)))
		return BY_PATH;
	for (*o = w->readers.head[last.i]; *o != KR_NONE; *o = w->readers.next[*o])
		if (kr_readers_mind(w->ir, *o, b) &&
			w->ask->reaches_read(w->ask->data, writer(w, b), w->ir->asg->obs[*o].txn))
			return BY_READER;
	return OPEN;
}

static enum kr_status add_writers(struct work *w, kr_version a, kr_version b)
{
	if (w->ir->level->model == KR_NODES_TXN)
		return KR_OK; /* there is a path already */
	return add(w, KR_WW, KR_RULE_WRITERS, writer(w, a), writer(w, b), w->ir->asg->versions[a.i].key.i);
}

/* x comes before the last version of y's unit: then before all of it, and so do all of x's unit, and who saw
 * the last of them. */
static enum kr_status force(struct work *w, kr_version x, kr_version y, enum verdict why, uint32_t o)
{
	const struct kr_ir *ir = w->ir;
	kr_version last = kr_unit_last(ir, y), end = kr_unit_last(ir, x);
	KR_TRY(why == BY_READER ? add(w, KR_WW, KR_RULE_READER, writer(w, x), writer(w, last), o)
				: add_writers(w, x, last));
	for (kr_version v = last; v.i != y.i; v = before(w, v))
		KR_TRY(add(w, KR_WW, KR_RULE_READER, writer(w, x), writer(w, before(w, v)),
			ir->units->step[v.i].i));
	for (kr_version v = x; v.i != end.i;) {
		v = ir->units->next[v.i];
		KR_TRY(add(w, KR_RW, KR_RULE_LATER, writer(w, v), writer(w, y), ir->units->step[v.i].i));
		KR_TRY(add_writers(w, v, y));
	}
	return add_rw_from_readers(w, end, y);
}

static enum kr_status decide(struct work *w, struct pair p, bool *decided)
{
	uint32_t o = KR_NONE;
	enum verdict why = closes(w, p.a, p.b, &o);
	*decided = true;
	if (why != OPEN)
		return force(w, p.b, p.a, why, o);
	why = closes(w, p.b, p.a, &o);
	if (why != OPEN)
		return force(w, p.a, p.b, why, o);
	*decided = false;
	return KR_OK;
}

static enum kr_status run_round(struct work *w)
{
	uint32_t kept = 0;

	w->added = 0;
	for (uint32_t i = 0; i < w->open.n; i++) {
		bool decided;
		KR_TRY(kr_ctx_tick(w->ir->ctx));
		KR_TRY(decide(w, w->open.at[i], &decided));
		if (!decided)
			w->open.at[kept++] = w->open.at[i];
	}
	w->open.n = kept;
	kr_ctx_progress(w->ir->ctx, "ruling out orders, open choices:", kept, 0);
	return kr_vec_add(&w->ir->ctx->mem, &w->ir->undecided, kept);
}

static enum kr_status list(struct work *w)
{
	KR_TRY(w->ir->units ? KR_OK : kr_units_find(w->ir, false));
	KR_TRY(kr_readers_init(&w->readers, w->ir));
	for (uint32_t k = 0; k < w->ir->asg->nkeys && !w->too_many; k++)
		KR_TRY(list_key(w, k));
	return KR_OK;
}

static enum kr_status run_rounds(struct work *w, enum kr_change *change)
{
	bool cyclic = false, more = true;
	KR_TRY(w->ask->refresh(w->ask->data, w->ir, &cyclic));
	for (uint32_t k = 0; k < w->ir->asg->nkeys && !cyclic; k++)
		KR_TRY(order_after_initial(w, k));
	if (w->added > 0)
		KR_TRY(w->ask->refresh(w->ask->data, w->ir, &cyclic));
	while (!cyclic && more) {
		uint32_t n = w->open.n;
		KR_TRY(run_round(w));
		more = w->added > 0 && w->open.n < n;
		if (w->added > 0)
			KR_TRY(w->ask->refresh(w->ask->data, w->ir, &cyclic));
	}
	if (!cyclic)
		return KR_OK;
	*change = KR_CONFLICT;
	return kr_ir_conflict(w->ir);
}

bool kr_prune_applies(const struct kr_ir *ir)
{
	return kr_level_asks(ir->level) == KR_ASK_ACYCLIC && ir->level->forbidden[0].allowed == KR_EDGES_ALL;
}

enum kr_status kr_prune(struct kr_ir *ir, const struct kr_pruner *pruner, enum kr_change *change)
{
	struct work w = {.ir = ir, .ask = pruner};
	enum kr_status status = list(&w);
	if (!status && !w.too_many)
		status = run_rounds(&w, change);
	kr_vec_done(&ir->ctx->mem, &w.open);
	kr_readers_done(&w.readers, ir);
	return status;
}

/* ---- by clocks ---- */

/* Makes the clock anew. */
static enum kr_status refresh(void *data, struct kr_ir *ir, bool *cyclic)
{
	(void)data;
	kr_clock_free(&ir->ctx->mem, ir->clock);
	ir->clock = NULL;
	enum kr_status status = kr_clock_build(ir, cyclic);
	if (status || *cyclic)
		ir->facts &= ~(uint32_t)KR_FACT_CLOCK;
	return status;
}

static bool writes_before(const void *data, kr_txn a, kr_txn b) { return kr_ir_writes_before(data, a, b); }

static bool reaches_read(const void *data, kr_txn a, kr_txn t)
{
	const struct kr_ir *ir = data;
	return kr_clock_reaches(ir->clock, kr_ir_out(ir, KR_WW, a), kr_ir_in(ir, KR_WR, t));
}

static bool implied(const void *data, enum kr_edge_kind kind, kr_txn a, kr_txn b)
{
	return kr_clock_implies(data, kind, a, b);
}

static enum kr_status run(struct kr_ir *ir, enum kr_change *change, struct kr_err *err)
{
	(void)err;
	return kr_prune_applies(ir)
		? kr_prune(ir, &(struct kr_pruner){ir, refresh, writes_before, reaches_read, implied}, change)
		: KR_OK;
}

const struct kr_pass kr_pass_prune = {
	.name = "prune",
	.title = "orders of units whose contrary would close a cycle, in rounds",
	.source = "Tan et al., Cobra, OSDI 2020: pruning; Zhang et al., Viper, EuroSys 2023",
	.requires = KR_FACT_CLOCK | KR_FACT_WR,
	.provides = KR_FACT_PRUNED,
	.breaks = KR_FACT_SATURATED,
	.run = run,
};
