/* Presence: settles which transactions of unknown outcome took effect, as far as candidate sets alone tell.
 *
 * Absent: those that no transaction known to be present can have seen, directly or through other open ones.
 * Right because in any world they can be taken away together: whoever stays has seen none of them, and
 * without them the world's graph only loses edges; so if some world satisfies the level, one without them
 * does. Present: those whose version is the only candidate of an observation by a present transaction; their
 * own observations then count too. The second step cannot undo the first: a candidate of a present
 * transaction is never among the unseen. Needs nothing. Cost: O(transactions + observations + members of
 * their sets), and per complement set the open versions of its key. */
#include "passes/pass.h"

#include "base/order.h"
#include "passes/only.h"

struct work {
	struct kr_ir *ir;
	/* transactions whose observations are to be looked at; each enters once a step */
	KR_VEC(kr_txn) queue;
	uint8_t *seen;           /* per transaction: has been in the queue */
	uint32_t *walked;        /* per set: key + 1 of the last observation through which it was walked */
	KR_VEC(kr_version) open; /* versions by open transactions, ascending */
};

static enum kr_status enqueue(struct work *w, kr_txn t)
{
	if (w->seen[t.i])
		return KR_OK;
	w->seen[t.i] = 1;
	return kr_vec_add(&w->ir->ctx->mem, &w->queue, t);
}

static enum kr_status enqueue_present(struct work *w)
{
	kr_vec_clear(&w->queue);
	for (uint32_t t = 0; t < w->ir->asg->ntxns; t++) {
		w->seen[t] = 0;
		if (w->ir->presence[t] == KR_PRESENT)
			KR_TRY(enqueue(w, (kr_txn){t}));
	}
	return KR_OK;
}

static enum kr_status collect_open(struct work *w)
{
	const struct kr_asg *asg = w->ir->asg;

	for (uint32_t v = 0; v < asg->nversions; v++) {
		kr_txn writer = asg->versions[v].writer;

		if (writer.i != KR_NONE && w->ir->presence[writer.i] == KR_OPEN &&
			!kr_vec_push(&w->ir->ctx->mem, &w->open, (kr_version){v}))
			return KR_NOMEM;
	}
	return KR_OK;
}

static uint32_t first_open(const struct work *w, uint32_t version)
{
	uint32_t at;

	KR_BISECT(at, 0, w->open.n, w->open.at[at].i < version);
	return at;
}

/* Enqueues the open transactions that observation o may have seen. */
static enum kr_status walk_open(struct work *w, const struct kr_observation *obs)
{
	const struct kr_asg *asg = w->ir->asg;
	const struct kr_asg_set *set = &asg->sets[obs->set];

	if (w->walked[obs->set] == obs->key.i + 1)
		return KR_OK;
	w->walked[obs->set] = obs->key.i + 1;
	if (set->complement) {
		uint32_t end = asg->keys[obs->key.i + 1].first;

		for (uint32_t i = first_open(w, asg->keys[obs->key.i].first);
			i < w->open.n && w->open.at[i].i < end; i++) {
			if (kr_asg_in_set(asg, obs->set, w->open.at[i]))
				KR_TRY(enqueue(w, asg->versions[w->open.at[i].i].writer));
		}
		return KR_OK;
	}
	for (uint32_t i = set->first; i < set->first + set->count; i++) {
		kr_txn writer = asg->versions[asg->members[i].i].writer;

		if (writer.i != KR_NONE && w->ir->presence[writer.i] == KR_OPEN)
			KR_TRY(enqueue(w, writer));
	}
	return KR_OK;
}

static enum kr_status drop_unseen(struct work *w, bool *changed)
{
	const struct kr_asg *asg = w->ir->asg;
	KR_TRY(enqueue_present(w));

	for (uint32_t i = 0; i < w->queue.n; i++) {
		kr_txn t = w->queue.at[i];

		for (uint32_t o = asg->obs_first[t.i]; o < asg->obs_first[t.i + 1]; o++) {
			KR_TRY(walk_open(w, &asg->obs[o]));
			KR_TRY(kr_ctx_tick(w->ir->ctx));
		}
	}
	for (uint32_t t = 0; t < asg->ntxns; t++) {
		if (w->ir->presence[t] == KR_OPEN && !w->seen[t]) {
			w->ir->presence[t] = KR_ABSENT_TXN;
			*changed = true;
		}
	}
	return KR_OK;
}

/* The writer of what o can only have seen becomes present. */
static enum kr_status take_only(struct work *w, struct kr_only *only, kr_obs o, bool *changed)
{
	struct kr_ir *ir = w->ir;
	kr_version v;

	if (kr_only_find(only, o, &v) != 1)
		return KR_OK;

	kr_txn writer = ir->asg->versions[v.i].writer;

	if (writer.i == KR_NONE || ir->presence[writer.i] != KR_OPEN)
		return KR_OK;
	ir->presence[writer.i] = KR_PRESENT;
	ir->presence_why[writer.i] = o.i + 1;
	*changed = true;
	return enqueue(w, writer);
}

static enum kr_status add_forced(struct work *w, bool *changed)
{
	const struct kr_asg *asg = w->ir->asg;
	struct kr_only only = {0};
	enum kr_status status = enqueue_present(w);

	if (!status)
		status = kr_only_init(&only, w->ir);
	for (uint32_t i = 0; i < w->queue.n && !status; i++) {
		kr_txn t = w->queue.at[i];

		for (uint32_t o = asg->obs_first[t.i]; o < asg->obs_first[t.i + 1] && !status; o++) {
			status = take_only(w, &only, (kr_obs){o}, changed);
			if (!status)
				status = kr_ctx_tick(w->ir->ctx);
		}
	}
	kr_only_done(&only);
	return status;
}

static bool has_open(const struct kr_ir *ir)
{
	for (uint32_t t = 0; t < ir->asg->ntxns; t++) {
		if (ir->presence[t] == KR_OPEN)
			return true;
	}
	return false;
}

static enum kr_status run(struct kr_ir *ir, enum kr_change *change, struct kr_err *err)
{
	struct kr_mem *mem = &ir->ctx->mem;
	struct work w = {.ir = ir};
	bool changed = false;

	(void)err;
	if (!has_open(ir))
		return KR_OK;
	w.seen = kr_mem_alloc(mem, ir->asg->ntxns, sizeof *w.seen);
	w.walked = kr_mem_alloc(mem, ir->asg->nsets, sizeof *w.walked);

	enum kr_status status = w.seen && w.walked ? collect_open(&w) : KR_NOMEM;

	if (!status)
		status = drop_unseen(&w, &changed);
	if (!status)
		status = add_forced(&w, &changed);
	kr_vec_done(mem, &w.queue);
	kr_vec_done(mem, &w.open);
	kr_mem_free(mem, w.seen, ir->asg->ntxns, sizeof *w.seen);
	kr_mem_free(mem, w.walked, ir->asg->nsets, sizeof *w.walked);
	if (!status && changed)
		*change = KR_CHANGED;
	return status;
}

const struct kr_pass kr_pass_presence = {
	.name = "presence",
	.title = "presence: drops unknown transactions that nobody can have seen, keeps those that somebody "
		 "must have",
	.source = "docs/ir.md, presence superpositions",
	.breaks = KR_FACT_WR | KR_FACT_WW | KR_FACT_RW | KR_FACT_SATURATED | KR_FACT_PRUNED,
	.run = run,
};
