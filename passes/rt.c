/* Real-time order: a before b when a's end had returned, clock skew included, strictly before b's begin was
 * invoked.
 *
 * All ends (+ skew) and begins are sorted by time, begins first among equals, and swept once. Ends gather
 * until a begin comes; then one time node is made, which the gathered ends enter and which the previous time
 * node enters; every begin is entered from the newest time node. So a reaches b through time nodes exactly
 * when a's end comes before b's begin in the sweep. A time node is made for a begin only, and only after new
 * ends: none is without use. Transactions of unknown outcome have no end here: they may take effect after
 * their client gave up. Needs nothing; does nothing unless the order asked for is real-time. Cost: O(n log n)
 * time; at most 3 edges per transaction. */
#include "passes/pass.h"

#include "base/order.h"

struct event {
	int64_t time;
	kr_txn txn;
	bool is_end;
};

struct sweep {
	struct kr_ir *ir;
	kr_node newest;        /* time node, KR_NONE: none yet */
	struct event *waiting; /* ends since then, in the places of events gone by */
	uint32_t nwaiting;
};

static int compare(const void *left, const void *right)
{
	const struct event *a = left;
	const struct event *b = right;

	return kr_then(KR_ORDER(a->time, b->time),
		kr_then(KR_ORDER(a->is_end, b->is_end), KR_ORDER(a->txn.i, b->txn.i)));
}

/* Fills `out`, which has room for two events per transaction. An end that the skew carries past the end of
 * time precedes nothing. */
static uint32_t collect(const struct kr_ir *ir, struct event *out)
{
	const struct kr_asg *asg = ir->asg;
	uint32_t n = 0;

	for (uint32_t t = 0; t < asg->ntxns; t++) {
		const struct kr_asg_txn *txn = &asg->txns[t];

		int64_t end;

		if (ir->presence[t] == KR_ABSENT_TXN)
			continue;
		if (txn->has_begin)
			out[n++] = (struct event){kr_asg_begin(asg, (kr_txn){t}), {t}, false};
		if (txn->has_end && !txn->outcome_unknown &&
			!__builtin_add_overflow(kr_asg_end(asg, (kr_txn){t}), asg->clock_skew, &end))
			out[n++] = (struct event){end, {t}, true};
	}
	return n;
}

static enum kr_status add(struct kr_ir *ir, kr_node from, kr_node to, enum kr_edge_kind kind)
{
	return kr_ir_add_edge(ir,
		(struct kr_edge){.from = from,
			.to = to,
			.why = KR_NONE,
			.kind = (uint8_t)kind,
			.rule = KR_RULE_GIVEN});
}

/* Makes a time node that the waiting ends enter. */
static enum kr_status close_ends(struct sweep *s)
{
	kr_node before = s->newest;

	KR_TRY(kr_ir_add_time_node(s->ir, &s->newest));
	if (before.i != KR_NONE)
		KR_TRY(add(s->ir, before, s->newest, KR_PROGRAM));
	for (uint32_t i = 0; i < s->nwaiting; i++)
		KR_TRY(add(s->ir, kr_ir_out(s->ir, KR_RT, s->waiting[i].txn), s->newest, KR_RT));
	s->nwaiting = 0;
	return KR_OK;
}

static enum kr_status begin(struct sweep *s, kr_txn t)
{
	if (s->nwaiting > 0)
		KR_TRY(close_ends(s));
	return s->newest.i == KR_NONE ? KR_OK : add(s->ir, s->newest, kr_ir_in(s->ir, KR_RT, t), KR_RT);
}

static enum kr_status run_sweep(struct kr_ir *ir, struct event *events, uint32_t n)
{
	struct sweep s = {.ir = ir, .newest = {KR_NONE}, .waiting = events};

	KR_SORT(events, n, compare);
	for (uint32_t i = 0; i < n; i++) {
		if (events[i].is_end)
			s.waiting[s.nwaiting++] = events[i];
		else
			KR_TRY(begin(&s, events[i].txn));
		KR_TRY(kr_ctx_tick(ir->ctx));
	}
	return KR_OK;
}

static enum kr_status run(struct kr_ir *ir, enum kr_change *change, struct kr_err *err)
{
	struct kr_mem *mem = &ir->ctx->mem;

	(void)change, (void)err;
	if (ir->order < KR_ORDER_REALTIME)
		return KR_OK;
	if (ir->asg->ntxns > KR_NONE / 2)
		return KR_NOMEM;

	uint32_t room = 2 * ir->asg->ntxns;
	struct event *events;

	KR_TRY(kr_mem_new(mem, events, room));

	enum kr_status status = run_sweep(ir, events, collect(ir, events));

	kr_mem_free(mem, events, room, sizeof *events);
	return status;
}

const struct kr_pass kr_pass_rt = {
	.name = "rt",
	.title = "real-time order: a linear number of edges through a chain of time nodes",
	.source = "Herlihy and Wing (TOPLAS 1990); Adya, Weak Consistency (1999), PL-SS",
	.provides = KR_FACT_RT,
	.breaks = KR_FACT_CLOCK | KR_FACT_SATURATED | KR_FACT_PRUNED,
	.run = run,
};
