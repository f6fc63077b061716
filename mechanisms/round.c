/* A round: the batch on the window, and what of its findings is told now. Each is told once, when all its
 * transactions are settled; in the order of the last instant that bears on it.
 *
 * The class of a read that no version explains may depend on what is still to come. So it is told when all
 * that overlapped it has ended; that nobody wrote the value, after WAIT further transactions. */
#include "mechanisms/stream_work.h"
#include "mechanisms/told.h"

#include "base/order.h"

enum {
	WAIT = 1000,
	/* transactions in a window whose memory is kept for the next one: larger ones are rare */
	KEPT = 16384
};

struct due {
	int64_t at;
	uint32_t finding;
};

struct rounding {
	struct kr_engine *e;
	struct kr_window *w;
	struct kr_batch *b;
	struct kr_findings findings;
	KR_VEC(struct due) told;
	KR_VEC(enum kr_finding_class) classes; /* by finding: what it is told as */
	enum kr_round kind;
	bool failed;
};

/* ---- settling ---- */

static bool overlaps_open(const struct kr_engine *e, const struct kr_held *t)
{
	for (uint32_t i = 0; i < e->open.n; i++)
		if (e->open.at[i]->first <= t->due)
			return true;
	return false;
}

static void settle(struct kr_engine *e, int64_t position, enum kr_round kind)
{
	for (uint32_t i = 0; i < e->open.n; i++)
		kr_held_measure(e->h, e->options.batch.profile, e->open.at[i]);
	for (uint32_t i = 0; i < e->held.n; i++) {
		struct kr_held *t = e->held.at[i];
		t->fresh = !t->settled &&
			(kind == KR_ROUND_LAST ||
				(t->due < position && !(e->uncommitted && overlaps_open(e, t))));
		t->settled |= t->fresh;
	}
}

/* ---- classes ---- */

static const struct kr_look *look_of(const struct rounding *r, const struct kr_finding *f)
{
	for (uint32_t i = 0; i < r->b->looks.n; i++) {
		const struct kr_look *look = &r->b->looks.at[i];
		if (look->txn.i == f->txns[0].i && look->op == f->ops[0] && look->key.i == f->key.i &&
			!look->fits)
			return look;
	}
	return NULL;
}

/* What a counter held before it was incremented: of none, 0. */
static enum kr_echo_kind find_number(const struct kr_engine *e, kr_key key, int64_t number)
{
	const struct kr_value_entry held = {.type = KR_VALUE_INT, .integer = number},
				    none = {.type = KR_VALUE_ABSENT};
	enum kr_echo_kind kind = kr_echo_find(&e->echo, key, &held);

	return kind != KR_ECHO_VERSION && number == 0 ? kr_echo_find(&e->echo, key, &none) : kind;
}

/* Was what the window does not know written before it? */
static enum kr_finding_class classify(const struct rounding *r, const struct kr_finding *f)
{
	const struct kr_engine *e = r->e;
	bool vain = f->what == KR_FOUND_NEVER_WRITTEN || f->what == KR_FOUND_ABORTED ||
		f->what == KR_FOUND_INTERMEDIATE || f->what == KR_FOUND_FUTURE;

	if (f->mechanism != KR_MECH_CR || !vain)
		return f->what;
	const struct kr_look *look = look_of(r, f);
	kr_key key = r->w->keys.at[f->key.i];
	enum kr_echo_kind kind = KR_ECHO_NONE;
	const struct kr_base *base = &e->bases.at[key.i];
	if (f->seen.i != KR_NONE)
		kind = kr_echo_find(&e->echo, key, kr_history_value(e->h, f->seen));
	else if (look && look->match == KR_MATCH_NUMBER)
		kind = find_number(e, key, look->number);
	else if (look && look->match == KR_MATCH_PRESENT)
		kind = base->gone_present    ? KR_ECHO_VERSION
			: base->vain_present ? KR_ECHO_ABORTED
					     : KR_ECHO_NONE;
	else if (base->gone)
		kind = KR_ECHO_VERSION;
	if (kind != KR_ECHO_NONE && look && look->uncommitted)
		return KR_FOUND_UNCOMMITTED;
	if (kind == KR_ECHO_VERSION)
		return KR_FOUND_GARBAGE;
	if (f->what == KR_FOUND_NEVER_WRITTEN || f->what == KR_FOUND_INTERMEDIATE)
		return kind == KR_ECHO_ABORTED         ? KR_FOUND_ABORTED
			: kind == KR_ECHO_INTERMEDIATE ? KR_FOUND_INTERMEDIATE
						       : f->what;
	return f->what;
}

static bool is_certain(const struct rounding *r, const struct kr_held *t, enum kr_finding_class what)
{
	bool vain = what == KR_FOUND_NEVER_WRITTEN || what == KR_FOUND_ABORTED ||
		what == KR_FOUND_INTERMEDIATE || what == KR_FOUND_UNCOMMITTED;

	if (!vain || r->kind == KR_ROUND_LAST)
		return true;
	if (r->kind == KR_ROUND_IDLE || overlaps_open(r->e, t))
		return false;
	return what != KR_FOUND_NEVER_WRITTEN || r->e->seq - t->seq >= WAIT;
}

/* ---- choosing ---- */

static uint32_t txn_at(const struct rounding *r, const struct kr_finding *f, uint32_t i)
{
	return i < 2 ? f->txns[i].i : r->findings.edges.at[f->edge_first + i - 2].from.i;
}

static bool take_pending(struct kr_held *t, const struct kr_pending *p)
{
	for (uint32_t i = 0; i < t->body->pending.n; i++)
		if (t->body->pending.at[i].op == p->op && t->body->pending.at[i].key.i == p->key.i) {
			t->body->pending.at[i] = kr_vec_pop(&t->body->pending);
			return true;
		}
	return false;
}

static bool is_due(struct rounding *r, uint32_t finding)
{
	struct kr_finding *f = &r->findings.list.at[finding];
	bool cycle = f->what == KR_FOUND_CYCLE, fresh = false;
	struct kr_held *reader = f->mechanism == KR_MECH_CR ? r->w->txns.at[f->txns[0].i] : NULL;

	for (uint32_t i = 0; i < 2 + f->edge_count; i++) {
		const struct kr_held *t = txn_at(r, f, i) == KR_NONE ? NULL : r->w->txns.at[txn_at(r, f, i)];
		if (t && !t->settled)
			return false;
		fresh |= t && (cycle ? !t->certified : t->fresh);
	}
	if (!reader)
		return fresh && !(cycle && r->kind == KR_ROUND_IDLE);
	struct kr_pending p = {f->ops[0], f->key.i == KR_NONE ? f->key : r->w->keys.at[f->key.i]};
	if (!fresh && !take_pending(reader, &p))
		return false;
	if (is_certain(r, reader, r->classes.at[finding]))
		return true;
	r->failed |= !kr_vec_push(r->e->mem, &reader->body->pending, p);
	return false;
}

static void choose(struct rounding *r)
{
	for (uint32_t i = 0; i < r->findings.list.n && !r->failed; i++) {
		struct kr_finding *f = &r->findings.list.at[i];
		struct due due = {INT64_MIN, i};
		if (!kr_vec_push(r->e->mem, &r->classes, classify(r, f))) {
			r->failed = true;
			return;
		}
		if (!is_due(r, i))
			continue;
		for (uint32_t j = 0; j < 2 + f->edge_count; j++) {
			uint32_t t = txn_at(r, f, j);
			if (t != KR_NONE && r->w->txns.at[t]->due > due.at)
				due.at = r->w->txns.at[t]->due;
		}
		r->failed |= !kr_vec_push(r->e->mem, &r->told, due);
	}
}

/* ---- telling ---- */

KR_BY_BOTH(by_due, struct due, at, finding);

/* A cycle may lean on a version of which the window has not all that led to it: what cannot be verified is
 * not told. */
static enum kr_status verify(struct rounding *r, struct kr_err *err)
{
	struct kr_claims claims = {r->e->options.batch.profile, r->e->options.batch.certify, &r->w->marks};
	enum kr_status status;
	struct kr_err why;
	uint32_t which;

	for (;;) {
		kr_err_init(&why);
		status = kr_verify_findings(r->e->ctx, &r->w->h, claims, &r->findings, &which, &why);
		if (status != KR_BAD)
			return status;
		const struct kr_finding *f = &r->findings.list.at[which];
		if (f->what != KR_FOUND_CYCLE)
			return kr_err_set(err, KR_INTERNAL,
				"internal error: the verifier rejects a finding (%s, %s): %s",
				kr_mechanism_name(f->mechanism), kr_finding_class_name(f), why.text);
		for (uint32_t i = which; i + 1 < r->told.n; i++) {
			r->told.at[i] = r->told.at[i + 1];
			r->findings.list.at[i] = r->findings.list.at[i + 1];
		}
		r->told.n--;
		r->findings.list.n--;
	}
}

/* Leaves the findings that are told, in their order. */
static bool sort(struct rounding *r)
{
	struct kr_engine *e = r->e;
	KR_VEC(struct kr_finding) list = {0};
	bool good = true;

	KR_SORT(r->told.at, r->told.n, by_due);
	for (uint32_t i = 0; i < r->told.n && good; i++) {
		struct kr_finding f = r->findings.list.at[r->told.at[i].finding];
		f.attached = 0; /* which cycles hold the pair is not known in time */
		good = kr_vec_push(e->mem, &list, f);
	}
	for (uint32_t i = 0; i < list.n; i++)
		r->findings.list.at[i] = list.at[i];
	r->findings.list.n = list.n;
	kr_vec_done(e->mem, &list);
	return good;
}

static enum kr_status tell(struct rounding *r, struct kr_err *err)
{
	struct kr_engine *e = r->e;
	enum kr_status status = sort(r) ? KR_OK : KR_NOMEM;

	if (!status && r->told.n > 0)
		status = verify(r, err);
	for (uint32_t i = 0; i < r->told.n && !status; i++) {
		r->findings.list.at[i].what = r->classes.at[r->told.at[i].finding];
		e->findings[r->findings.list.at[i].mechanism]++;
	}
	e->found_trusted |= r->told.n > 0 && e->late == 0;
	return status || r->told.n == 0
		? status
		: e->options.sink.findings(e->options.sink.data, &r->w->h, &r->w->marks, &r->findings);
}

/* ---- orders of versions ---- */

static bool is_new_order(const struct rounding *r, const struct kr_told_order *order)
{
	const kr_txn txns[] = {order->before, order->after, order->reader};
	bool fresh = false;

	for (size_t i = 0; i < KR_COUNT(txns); i++) {
		const struct kr_held *t = txns[i].i == KR_NONE ? NULL : r->w->txns.at[txns[i].i];
		if (t && !t->settled)
			return false;
		fresh |= t && !t->certified;
	}
	return fresh;
}

static enum kr_status tell_orders(struct rounding *r)
{
	const struct kr_engine_sink *sink = &r->e->options.sink;
	struct kr_told_orders orders = {0};
	enum kr_status status = KR_OK;

	if (!sink->order || r->kind == KR_ROUND_IDLE)
		return KR_OK;
	status = kr_batch_told(r->b, &orders);
	for (uint32_t i = 0; i < orders.n && !status; i++)
		if (is_new_order(r, &orders.at[i]))
			status = sink->order(sink->data, &r->w->h, orders.at[i].key, orders.at[i].before,
				orders.at[i].after);
	kr_vec_done(r->e->mem, &orders);
	return status;
}

/* ---- the round ---- */

static enum kr_status judge(struct rounding *r, struct kr_err *err)
{
	KR_TRY(kr_batch_facts(r->b, err));
	if (r->kind != KR_ROUND_IDLE)
		kr_engine_renew(r->e);
	KR_TRY(kr_batch_judge(r->b));
	choose(r);
	if (r->failed)
		return KR_NOMEM;
	return tell(r, err);
}

static void finish(struct rounding *r)
{
	struct kr_engine *e = r->e;

	for (uint32_t i = 0; i < e->held.n; i++) {
		e->held.at[i]->fresh = false;
		e->held.at[i]->certified |= e->held.at[i]->settled && r->kind != KR_ROUND_IDLE;
	}
}

enum kr_status kr_engine_round(struct kr_engine *e, int64_t position, enum kr_round kind, struct kr_err *err)
{
	struct rounding r = {.e = e, .kind = kind, .w = &e->window, .b = &e->batch};
	struct kr_batch_options options = e->options.batch;
	struct kr_closing closing = kr_engine_closing(e, kind);

	if (e->held.n == 0)
		return KR_OK;
	settle(e, position, kind);
	kr_findings_init(&r.findings, e->mem);
	enum kr_status status =
		kr_window_build(r.w, e->stream, &e->held, &e->bases, e->options.sink.order != NULL);
	options.marks = &r.w->marks;
	options.reach = &e->reach;
	options.closing = &closing;
	r.b->ctx = e->ctx;
	r.b->h = &r.w->h;
	r.b->profile = options.profile;
	r.b->options = &options;
	r.b->out = &r.findings;
	if (!status)
		status = judge(&r, err);
	/* less those at the start */
	e->versions = r.b->versions.n > r.w->h.keys.n ? r.b->versions.n - r.w->h.keys.n : 0;
	e->locks = r.b->holds.n;
	if (!status)
		status = tell_orders(&r);
	if (!status)
		finish(&r);
	if (!status && kind == KR_ROUND_COUNTED && !e->options.keep)
		status = kr_engine_forget(e, position);
	bool reuse = r.w->txns.n <= KEPT;
	reuse ? kr_batch_clear(r.b) : kr_batch_done(r.b);
	reuse ? kr_window_clear(r.w) : kr_window_done(r.w);
	kr_vec_let_go(e->mem, &e->reach, reuse);
	kr_findings_done(&r.findings);
	kr_vec_done(e->mem, &r.told);
	kr_vec_done(e->mem, &r.classes);
	return status;
}
