/* External observations and contradictions.
 *
 * Each transaction that may have taken effect is replayed over its own writes: what an operation says of a
 * key that the transaction wrote before must be what it wrote (internal consistency); of any other key it is
 * an external observation. An unknown transaction that contradicts itself, or writes nothing, is absent: it
 * cannot have taken effect, or nothing would show that it had. One replay, two where keys grow, which have a
 * replay of their own (analyze_grow.c); linear in the operations, and in the keys that ranges and scans look
 * at. */
#include "frontend/analyze_replay.h"

#include <string.h>

#define OBSERVATIONS_OF_SUMS_MOST (UINT32_C(1) << 24) /* that kr_analyze_sums may make: parts times reads */

enum kr_status kr_analyze_see(struct kr_replay *r, kr_key k, uint32_t test, bool predicate)
{
	const struct kr_work *w = r->w;

	if (!r->fills)
		return kr_ctx_tick(w->ctx);
	if (r->seen.n >= KR_NONE - 1)
		return kr_err_set(w->err, KR_UNSUPPORTED, "found more than %u observations, expected fewer",
			KR_NONE);
	if (!w->installs && r->seen.n >= OBSERVATIONS_OF_SUMS_MOST)
		return kr_err_set(w->err, KR_UNSUPPORTED,
			"counters are shown too often, to transactions that may have missed updates, to be "
			"decided");
	KR_TRY(kr_vec_add(w->mem, &r->seen,
		(struct kr_observation){.txn = r->txn,
			.key = k,
			.set = test,
			.op = r->op & KR_ASG_OP_LAST,
			.predicate = predicate,
			.loose = r->loose}));
	return kr_ctx_tick(w->ctx);
}

enum kr_status kr_analyze_contradict(struct kr_replay *r, kr_key k, enum kr_anomaly_kind kind, kr_txn other)
{
	r->inconsistent = true;
	if (!r->judges || r->w->h->txns.at[r->txn.i].status != KR_COMMITTED)
		return KR_OK;
	return kr_vec_add(r->w->mem, &r->out->found, (struct kr_anomaly){kind, r->txn, r->op, k, other});
}

/* ---- versions that the trace names ---- */

static bool fits(const struct kr_replay *r, uint32_t test, kr_key k, kr_token token)
{
	return kr_analyze_fits(r->w, r->looks, test, k, token);
}

/* A candidate set cannot say both where a predicate read's rows come from and which versions do not change
 * them, unless that is one version. */
static enum kr_status see_only_one(struct kr_replay *r, kr_key k, uint32_t test, uint32_t version)
{
	const struct kr_writes *writes = r->writes;
	uint32_t v;

	for (v = writes->keys[k.i].first; v < writes->keys[k.i + 1].first; v++) {
		bool may_be = v != version && writes->versions[v].writer.i != r->txn.i;

		KR_TRY(kr_ctx_tick(r->w->ctx));
		if (may_be && (writes->token[v].i == KR_NONE || fits(r, test, k, writes->token[v])))
			break;
	}
	if (v < writes->keys[k.i + 1].first)
		kr_analyze_leave_out(r->w, r->txn, r->op,
			"\"versions\" of a key that was not returned, and might come from several versions,");
	return kr_analyze_see(r, k, test, true);
}

/* What t left of k, even in vain. False: it did not write k. */
static bool find_left(const struct kr_replay *r, kr_key k, kr_txn t, kr_token *out)
{
	const struct kr_history *h = r->w->h;
	const struct kr_transaction *txn = &h->txns.at[t.i];

	for (uint32_t i = txn->op_count; i-- > 0;) {
		const struct kr_operation *op = &h->ops.at[txn->op_first + i];

		for (uint32_t n = kr_write_count(h, op); n-- > 0;) {
			struct kr_row write = kr_analyze_write(r->w, r->writes, op, n);

			if (write.key.i != k.i)
				continue;
			*out = write.value.i == KR_NONE ? KR_TOKEN_ABSENT : kr_token_of(write.value);
			return true;
		}
	}
	return false;
}

/* Other rows than the version named has: what they tell is seen all the same, since nobody may have written
 * that either. */
static enum kr_status mismatch(struct kr_replay *r, kr_key k, uint32_t test, bool predicate)
{
	KR_TRY(kr_analyze_contradict(r, k, KR_RESULT_SET_MISMATCH, KR_NOBODY));
	return kr_analyze_see(r, k, test, predicate);
}

/* The operation saw k's version by the transaction that its attribute "versions" names. */
static enum kr_status see_named(struct kr_replay *r, kr_key k, uint32_t test, bool predicate)
{
	const struct kr_writes *writes = r->writes;
	const struct kr_seen *seen = &r->w->h->seen.at[r->seen_of[k.i]];
	kr_txn writer = {KR_NONE};
	uint32_t version = writes->keys[k.i].first;
	kr_token left = writes->token[version];

	if (seen->writer.i != KR_ABSENT.i) {
		writer = kr_history_find(r->w->h, seen->writer);
		if (writer.i == KR_NONE || !find_left(r, k, writer, &left))
			return mismatch(r, k, test, predicate);
		version = kr_analyze_version(writes, k, writer);
	} else if (writes->keys[k.i].open_initial) {
		kr_analyze_leave_out(r->w, r->txn, r->op,
			"\"versions\" with an initial value that is not told");
		return kr_analyze_see(r, k, test, predicate);
	}
	if (!fits(r, test, k, left))
		return mismatch(r, k, test, predicate);
	if (predicate && version != KR_NONE && version != kr_analyze_version(writes, k, r->txn))
		return see_only_one(r, k, test, version);
	return kr_analyze_see(r, k, kr_test_source(writer), predicate);
}

enum kr_status kr_analyze_look(struct kr_replay *r, kr_key k, uint32_t test, bool predicate)
{
	if (r->stamp[k.i] == r->turn)
		return fits(r, test, k, r->own[k.i])
			? KR_OK
			: kr_analyze_contradict(r, k, KR_INTERNAL_INCONSISTENCY, KR_NOBODY);
	if (r->seen_of && r->seen_of[k.i] != KR_NONE)
		return see_named(r, k, test, predicate);
	return kr_analyze_see(r, k, test, predicate);
}

static uint32_t *none_of_keys(const struct kr_work *w)
{
	uint32_t *of = KR_NEW_ARRAY(w->scratch, uint32_t, w->h->keys.n);

	if (of)
		memset(of, 0xff, w->h->keys.n * sizeof *of);
	return of;
}

/* Marks the keys that the operation at hand names versions of, or takes the marks away. */
static enum kr_status name_versions(struct kr_replay *r, const struct kr_attr *attr, bool on)
{
	if (attr->seen_count == 0)
		return KR_OK;
	if (!r->seen_of && !(r->seen_of = none_of_keys(r->w)))
		return KR_NOMEM;
	for (uint32_t i = attr->seen_first; i < attr->seen_first + attr->seen_count; i++) {
		kr_key k = r->w->h->seen.at[i].key;

		KR_TRY(kr_ctx_tick(r->w->ctx));
		if (kr_analyze_grows(r->writes, k))
			kr_analyze_leave_out(r->w, r->txn, r->op,
				"\"versions\" of a list, a set, a mark or a counter whose value is not "
				"always told");
		else
			r->seen_of[k.i] = on ? i : KR_NONE;
	}
	return KR_OK;
}

/* ---- operations on one key ---- */

/* An absent counter is read as 0. */
static uint32_t value_test(const struct kr_work *w, kr_key k, kr_token token)
{
	int64_t number;
	bool zero = w->h->keys.at[k.i].kind == KR_KIND_COUNTER && kr_analyze_integer(w, token, &number) &&
		number == 0;

	return kr_test(zero ? KR_TEST_OR_ABSENT : KR_TEST_IS, token.i);
}

/* An increment whose result is told: what was there before. */
static enum kr_status look_before(struct kr_replay *r, const struct kr_operation *op, kr_value after)
{
	int64_t before;
	kr_token token;

	if (__builtin_sub_overflow(kr_analyze_told(r->w, after), kr_analyze_told(r->w, op->a), &before))
		return kr_analyze_refuse(r->w, r->txn, r->op, "a counter beyond 64 bits");
	KR_TRY(kr_analyze_number(r->w, before, &token));
	return kr_analyze_look(r, op->key, value_test(r->w, op->key, token), false);
}

static enum kr_status look_at_key(struct kr_replay *r, const struct kr_operation *op)
{
	struct kr_view view = kr_op_view(op);

	if (view.when == KR_UNSEEN)
		return KR_OK;
	if (kr_analyze_grows(r->writes, op->key)) {
		enum kr_shown found = view.other ? KR_SHOWN_FOUND : KR_SHOWN_NOT_FOUND;

		found = view.when == KR_SEEN_AFTER ? KR_SHOWN_INC : kr_op_is_read(op) ? KR_SHOWN_READ : found;
		return kr_analyze_grow_see(r, op->key, found, view.value);
	}
	if (view.when == KR_SEEN_AFTER)
		return look_before(r, op, view.value);
	return kr_analyze_look(r, op->key,
		view.other ? kr_test_not(kr_token_of(view.value))
			   : value_test(r->w, op->key, kr_token_of(view.value)),
		false);
}

static void put(struct kr_replay *r, kr_key k, kr_token token)
{
	r->stamp[k.i] = r->turn;
	r->own[k.i] = token;
}

static enum kr_status replay_operation(struct kr_replay *r, const struct kr_operation *op)
{
	struct kr_write write;

	if (!kr_op_scans(op))
		KR_TRY(look_at_key(r, op));
	else
		KR_TRY(op->kind == KR_OP_RANGE ? kr_analyze_range(r, op) : kr_analyze_scan(r, op));
	for (uint32_t i = 0, n = kr_write_count(r->w->h, op); i < n && kr_write_at(r->w->h, op, i, &write);
		i++) {
		r->wrote = true;
		if (kr_analyze_grows(r->writes, write.key))
			kr_analyze_grow_write(r, write.key);
		else
			put(r, write.key, kr_token_of(write.told));
	}
	return KR_OK;
}

/* ---- all of them ---- */

static enum kr_status replay(struct kr_replay *r, kr_txn t)
{
	const struct kr_history *h = r->w->h;
	const struct kr_transaction *txn = &h->txns.at[t.i];

	r->txn = t;
	r->turn = 2 * t.i + !r->judges;
	r->inconsistent = r->wrote = false;
	for (r->op = 0; r->op < txn->op_count; r->op++) {
		kr_op id = kr_history_op(h, t, r->op);
		const struct kr_operation *op = &h->ops.at[id.i];
		const struct kr_attr *attr = op->flags & KR_OPF_HAS_ATTR ? kr_history_attr(h, id) : NULL;

		KR_TRY(kr_ctx_tick(r->w->ctx));
		r->loose = attr && !attr->cursor;
		if (attr)
			KR_TRY(name_versions(r, attr, true));
		KR_TRY(replay_operation(r, op));
		if (attr)
			KR_TRY(name_versions(r, attr, false));
	}
	return KR_OK;
}

/* Finds who took effect, and contradictions; with r->fills observations, too. */
static enum kr_status judge(struct kr_replay *r)
{
	const struct kr_history *h = r->w->h;
	struct kr_observed *out = r->out;

	for (uint32_t t = 0; t < h->txns.n; t++) {
		uint8_t status = h->txns.at[t].status;
		uint32_t before = r->seen.n;

		out->presence[t] = status == KR_COMMITTED ? KR_PRESENT : KR_ABSENT_TXN;
		if (status != KR_ABORTED)
			KR_TRY(replay(r, (kr_txn){t}));
		if (status == KR_UNKNOWN && (r->inconsistent || !r->wrote)) {
			out->any_lost = true;
			r->seen.n = before;
		} else if (status == KR_UNKNOWN) {
			out->presence[t] = KR_OPEN;
			out->any_open = true;
		}
		out->obs_first[t + 1] = r->seen.n;
	}
	return KR_OK;
}

static enum kr_status fill(struct kr_replay *r)
{
	r->judges = false;
	r->fills = true;
	for (uint32_t t = 0; t < r->w->h->txns.n; t++) {
		if (r->out->presence[t] != KR_ABSENT_TXN)
			KR_TRY(replay(r, (kr_txn){t}));
		r->out->obs_first[t + 1] = r->seen.n;
	}
	return KR_OK;
}

static enum kr_status keep(struct kr_replay *r)
{
	r->out->nobs = r->seen.n;
	r->out->obs = kr_arena_take(r->w->arena, &r->seen);
	return r->out->obs ? KR_OK : KR_NOMEM;
}

static enum kr_status replay_all(struct kr_replay *r)
{
	const struct kr_work *w = r->w;

	r->stamp = none_of_keys(w);
	r->own = KR_NEW_ARRAY(w->scratch, kr_token, w->h->keys.n);
	r->row_of = w->h->scans.n > 0 ? none_of_keys(w) : NULL;
	r->out->presence = KR_NEW_ARRAY(w->scratch, uint8_t, w->h->txns.n);
	r->out->obs_first = KR_NEW_ARRAY(w->arena, uint32_t, (size_t)w->h->txns.n + 1);
	if (!r->stamp || !r->own || (w->h->scans.n > 0 && !r->row_of) || !r->out->presence ||
		!r->out->obs_first || !kr_vec_reserve(w->mem, &r->seen, w->h->ops.n))
		return KR_NOMEM;
	KR_TRY(judge(r));
	KR_TRY(kr_analyze_grow_check(r));
	if (!r->fills)
		KR_TRY(fill(r));
	return keep(r);
}

enum kr_status kr_analyze_replay(const struct kr_work *w, const struct kr_writes *writes,
	const struct kr_looks *looks, struct kr_growing *growing, struct kr_observed *out)
{
	struct kr_replay r = {.w = w,
		.writes = writes,
		.looks = looks,
		.growing = growing,
		.out = out,
		.judges = true,
		.fills = growing == NULL};
	enum kr_status status = replay_all(&r);

	kr_vec_done(w->mem, &r.seen);
	return status;
}
