/* Counters that are sums.
 *
 * A version is absolute when its transaction deleted the counter, and, where what is shown is what is left
 * (kr_work.installs), when it tells its value: by the result of an increment, or by a read after it; else it
 * is relative, and adds its deltas to the version before it. A counter without relative versions is a
 * register of numbers. With some, each relative version is a part (was it counted?), written by its
 * transaction and overwritten by absolute versions; the base is a part, too, written by these. A read
 * observes all of them, each as it may be, and says what they add up to (kr_asg_sum). Whether the counter was
 * absent is observed of the whole key, whose versions are present or absent. A plain read of 0 may have seen
 * an absent counter. Parts times absolute versions, and reads times parts, in time and memory: counters that
 * many transactions change without a result are costly. */
#include "frontend/analyze_grow.h"

#define PART_VERSIONS_MOST (UINT32_C(1) << 24)

/* ---- which versions are absolute ---- */

struct tally {
	uint32_t turn; /* 1 + the transaction */
	bool absolute, absent;
	int64_t amount;
};

struct scanning {
	struct kr_growing *g;
	struct kr_writes *writes;
	struct tally *of; /* per key of the trace */
	KR_VEC(kr_key) touched;
};

static bool is_counter(const struct kr_growing *g, kr_key k)
{
	return kr_analyze_grows(g->versions, k) && kr_grow_kind(g, k) == KR_KIND_COUNTER;
}

static enum kr_status too_large(const struct kr_growing *g, kr_txn t, uint32_t op)
{
	return kr_analyze_refuse(g->w, t, op, "a counter beyond 64 bits");
}

static struct tally *tally_of(struct scanning *s, kr_txn t, kr_key k)
{
	struct tally *x = &s->of[k.i];

	if (x->turn != t.i + 1) {
		if (!kr_vec_push(s->g->w->mem, &s->touched, k))
			return NULL;
		*x = (struct tally){.turn = t.i + 1};
	}
	return x;
}

static enum kr_status scan_write(struct scanning *s, kr_txn t, uint32_t i, const struct kr_write *write)
{
	struct tally *x = tally_of(s, t, write->key);

	if (!x)
		return KR_NOMEM;
	x->absent = write->how == KR_SET;
	if (x->absent) {
		x->absolute = true;
		x->amount = 0;
		return KR_OK;
	}
	if (__builtin_add_overflow(x->amount, kr_analyze_told(s->g->w, write->value), &x->amount))
		return too_large(s->g, t, i);
	if (s->g->w->installs && write->told.i != KR_NONE) {
		x->absolute = true;
		x->amount = kr_analyze_told(s->g->w, write->told);
	}
	return KR_OK;
}

/* The transaction sees the counter after its own increments. */
static void scan_shown(struct scanning *s, kr_txn t, kr_key k, kr_value value)
{
	struct tally *x = &s->of[k.i];
	int64_t number;

	if (!is_counter(s->g, k) || x->turn != t.i + 1 || x->absolute ||
		!kr_analyze_integer(s->g->w, kr_token_of(value), &number))
		return;
	s->g->shows_own = true;
	if (!s->g->w->installs)
		return;
	x->absolute = true;
	x->amount = number;
}

static enum kr_status scan_txn(struct scanning *s, kr_txn t)
{
	const struct kr_history *h = s->g->w->h;
	const struct kr_transaction *txn = &h->txns.at[t.i];

	for (uint32_t i = 0; i < txn->op_count; i++) {
		const struct kr_operation *op = &h->ops.at[txn->op_first + i];
		struct kr_write write;
		struct kr_row row;

		KR_TRY(kr_ctx_tick(s->g->w->ctx));
		for (uint32_t j = 0; kr_shown_at(h, op, j, &row); j++)
			scan_shown(s, t, row.key, row.value);
		if (!kr_op_scans(op) && is_counter(s->g, op->key) && kr_write_at(h, op, 0, &write))
			KR_TRY(scan_write(s, t, i, &write));
	}
	while (s->touched.n > 0) {
		kr_key k = kr_vec_pop(&s->touched);
		uint32_t v = kr_analyze_version(s->writes, k, t);
		const struct tally *x = &s->of[k.i];

		s->g->absolute[v] = x->absolute;
		s->g->amount[v] = x->amount;
		s->g->relative[k.i] |= !x->absolute;
		s->writes->token[v] = kr_token_there(!x->absent);
	}
	return KR_OK;
}

static enum kr_status scan_all(struct scanning *s)
{
	const struct kr_work *w = s->g->w;

	KR_TRY(kr_arena_new(w->scratch, s->of, w->h->keys.n));
	KR_TRY(kr_arena_new(w->scratch, s->g->absolute, s->writes->nversions));
	KR_TRY(kr_arena_new(w->scratch, s->g->amount, s->writes->nversions));
	KR_TRY(kr_arena_new(w->scratch, s->g->relative, w->h->keys.n));
	for (kr_txn t = {0}; t.i < w->h->txns.n; t.i++)
		if (!kr_grow_aborted(s->g, t))
			KR_TRY(scan_txn(s, t));
	return KR_OK;
}

enum kr_status kr_counters_scan(struct kr_growing *g, struct kr_writes *writes)
{
	struct scanning s = {.g = g, .writes = writes};
	enum kr_status status = scan_all(&s);

	kr_vec_done(g->w->mem, &s.touched);
	return status;
}

/* ---- parts ---- */

/* Without relative versions: tokens as those of a register. */
static enum kr_status prepare_register(const struct kr_parts *p, kr_key k)
{
	const struct kr_growing *g = p->g;
	uint32_t first = p->writes->keys[k.i].first;
	kr_token *token = p->writes->token;

	if (!p->writes->keys[k.i].open_initial)
		token[first] = kr_token_of(g->w->h->keys.at[k.i].initial);
	for (uint32_t v = first + 1; v < p->writes->keys[k.i + 1].first; v++)
		if (token[v].i != KR_TOKEN_ABSENT.i)
			KR_TRY(kr_analyze_number(g->w, g->amount[v], &token[v]));
	return KR_OK;
}

/* The part of `counted` (a version, or KR_NONE: the base): written by it and by all absolute versions. */
static enum kr_status make_part(struct kr_parts *p, kr_key k, uint32_t counted)
{
	const struct kr_growing *g = p->g;
	const struct kr_writes *writes = p->writes;
	uint32_t first = writes->keys[k.i].first, end = writes->keys[k.i + 1].first;
	uint32_t label =
		counted == KR_NONE ? KR_NONE : g->w->h->txns.at[writes->versions[counted].writer.i].id.i;
	kr_key part;

	KR_TRY(kr_grow_part(p, k, label, KR_TOKEN_ABSENT, &part));
	if (p->versions.n > PART_VERSIONS_MOST)
		return kr_err_set(g->w->err, KR_UNSUPPORTED,
			"a counter is changed by too many transactions, some of which do not tell the "
			"result");
	for (uint32_t v = first + 1; v < end; v++)
		if (v == counted || g->absolute[v])
			KR_TRY(kr_grow_part_version(p, writes->versions[v].writer,
				kr_token_there(v == counted)));
	return kr_ctx_spend(g->w->ctx, end - first);
}

/* That no order of the increments leaves 64 bits, on top of whatever the counter may start from. */
static enum kr_status check_bounds(const struct kr_growing *g, kr_key k)
{
	const struct kr_asg_key *key = &g->versions->keys[k.i];
	int64_t low = 0, high = 0, delta = 0;

	for (uint32_t v = key->first; v < key[1].first; v++) {
		bool base = v == key->first || g->absolute[v];

		low = base && g->amount[v] < low ? g->amount[v] : low;
		high = base && g->amount[v] > high ? g->amount[v] : high;
	}
	for (uint32_t i = g->write_first[k.i]; i < g->write_first[k.i + 1]; i++) {
		KR_TRY(kr_ctx_tick(g->w->ctx));
		if (g->writes[i].deletes || kr_grow_aborted(g, g->writes[i].txn))
			continue;
		delta = kr_analyze_told(g->w, kr_grow_did(g, &g->writes[i]).value);
		if (__builtin_add_overflow(delta < 0 ? low : high, delta, delta < 0 ? &low : &high))
			return too_large(g, g->writes[i].txn, g->writes[i].op);
	}
	return KR_OK;
}

enum kr_status kr_counters_prepare(struct kr_parts *p, kr_key k)
{
	const struct kr_growing *g = p->g;
	const struct kr_asg_key *key = &p->writes->keys[k.i];
	kr_value initial = g->w->h->keys.at[k.i].initial;
	bool absolutes = false;

	if (!g->relative[k.i])
		return prepare_register(p, k);
	if (!key->open_initial) {
		g->amount[key->first] = kr_analyze_told(g->w, initial);
		p->writes->token[key->first] = kr_token_there(initial.i != KR_ABSENT.i);
	}
	KR_TRY(check_bounds(g, k));
	for (uint32_t v = key->first + 1; v < key[1].first; v++) {
		absolutes |= g->absolute[v];
		if (!g->absolute[v] && !g->coarse)
			KR_TRY(make_part(p, k, v));
	}
	return absolutes && !g->coarse ? make_part(p, k, KR_NONE) : KR_OK;
}

/* ---- reads ---- */

/* As the first replay found. */
static bool was_possible(const struct kr_replay *r, kr_key k)
{
	struct kr_growing *g = r->growing;
	const struct kr_grow_total *at = g->seen.totals.at;
	uint32_t i;

	while (g->seen.total_at < g->seen.totals.n &&
		(at[g->seen.total_at].txn.i < r->txn.i ||
			(at[g->seen.total_at].txn.i == r->txn.i && at[g->seen.total_at].op < r->op)))
		g->seen.total_at++;
	for (i = g->seen.total_at; i < g->seen.totals.n && at[i].txn.i == r->txn.i && at[i].op == r->op; i++)
		if (at[i].key.i == k.i)
			return true;
	return false;
}

/* What the counter was before anything of the transaction's own. */
static enum kr_status see_total(struct kr_replay *r, kr_key k, int64_t total, bool present)
{
	struct kr_growing *g = r->growing;
	kr_token token;
	bool possible = true;

	if (!g->relative[k.i]) {
		KR_TRY(kr_analyze_number(r->w, total, &token));
		return kr_analyze_see(r, k,
			kr_test(total == 0 && !present ? KR_TEST_OR_ABSENT : KR_TEST_IS, token.i), false);
	}
	if (r->writes->keys[k.i].open_initial) {
		kr_analyze_leave_out(r->w, r->txn, r->op,
			"a counter of unknown initial value, with increments of unknown result,");
		return KR_OK;
	}
	if (r->fills)
		possible = was_possible(r, k);
	else
		KR_TRY(kr_counters_reach(r, k, total, &possible));
	if (!possible)
		return kr_analyze_contradict(r, k, KR_GARBAGE_READ, KR_NOBODY);
	if (present && total == 0)
		KR_TRY(kr_analyze_see(r, k, kr_test_not(KR_TOKEN_ABSENT), false));
	for (uint32_t p = g->parts_of[k.i]; p < g->parts_of[k.i + 1]; p++)
		if (r->writes->parts[p].label != r->w->h->txns.at[r->txn.i].id.i)
			KR_TRY(kr_analyze_see(r, (kr_key){r->w->h->keys.n + p}, kr_test_not(KR_TOKEN_NEVER),
				false));
	if (r->fills)
		return KR_OK;
	return kr_vec_add(r->w->mem, &g->seen.totals, (struct kr_grow_total){r->txn, r->op, k, total});
}

enum kr_status kr_counters_see(struct kr_replay *r, kr_key k, enum kr_shown shown, struct kr_want *want)
{
	const struct kr_datatype *type = kr_datatype_of(KR_KIND_COUNTER);
	const struct kr_effect *own = &kr_grow_own(r, k)->effect;
	struct kr_write write;
	bool done;

	if (shown == KR_SHOWN_INC && kr_write_at(r->w->h, kr_replay_op(r), 0, &write)) {
		struct kr_effect addition = kr_told_addition(r->w->h, type, &write);

		*want = kr_before(type, &addition, *want);
	}
	if (want->any ||
		(own->how == KR_ADD && want->is.present &&
			__builtin_sub_overflow(want->is.number, own->state.number, &(int64_t){0})))
		return too_large(r->growing, r->txn, r->op);
	KR_TRY(kr_grow_pull(r, k, want, &done));
	if (done)
		return KR_OK;
	if (!want->is.present)
		return kr_grow_see_presence(r, k, shown);
	return see_total(r, k, want->is.number, !want->or_absent);
}

/* ---- sums ---- */

KR_VEC_NAMED(terms, struct kr_asg_term);

/* The terms of one part: what its versions add. */
static enum kr_status add_terms(const struct kr_growing *g, const struct kr_asg *asg, struct terms *terms,
	uint32_t o, const struct kr_grow_total *t)
{
	kr_key part = asg->obs[o].key;
	bool base = asg->parts[part.i - g->w->h->keys.n].label == KR_NONE;
	uint32_t first = asg->keys[part.i].first, end = asg->keys[part.i + 1].first;

	KR_TRY(kr_ctx_spend(g->w->ctx, end - first));
	for (uint32_t v = first; v < end; v++) {
		kr_txn writer = asg->versions[v].writer;
		kr_version whole = writer.i == KR_NONE ? kr_asg_initial(asg, t->key)
						       : kr_asg_version_of(asg, writer, t->key);
		bool counts = base || g->versions->token[v].i == KR_TOKEN_THERE.i;
		int64_t weight = counts ? asg->amounts[whole.i].amount : 0;

		if (weight != 0 && writer.i != t->txn.i &&
			!kr_vec_push(asg->mem, terms, (struct kr_asg_term){{o}, {v}, weight}))
			return KR_NOMEM;
	}
	return KR_OK;
}

static enum kr_status add_sum(const struct kr_growing *g, const struct kr_asg *asg, struct terms *terms,
	const struct kr_grow_total *t, struct kr_asg_sum *out)
{
	bool base = false;

	*out = (struct kr_asg_sum){t->txn, t->op, t->key, t->total, terms->n, 0};
	for (uint32_t o = asg->obs_first[t->txn.i]; o < asg->obs_first[t->txn.i + 1]; o++) {
		kr_key k = asg->obs[o].key;

		if (asg->obs[o].op != t->op || k.i < g->w->h->keys.n ||
			asg->parts[k.i - g->w->h->keys.n].of.i != t->key.i)
			continue;
		base |= asg->parts[k.i - g->w->h->keys.n].label == KR_NONE;
		KR_TRY(add_terms(g, asg, terms, o, t));
	}
	if (!base)
		out->total -= asg->amounts[kr_asg_initial(asg, t->key).i].amount;
	out->count = terms->n - out->first;
	return KR_OK;
}

/* What a schedule needs to know of counters. `amount` and `absolute` follow the versions to their new
 * numbers: both ascend by key and writer, and only versions of absent transactions are gone. */
static enum kr_status make_hints(const struct kr_growing *g, struct kr_asg *asg)
{
	const struct kr_asg_version *before = g->whole_versions.at;

	KR_TRY(kr_arena_new(g->w->arena, asg->shown, g->seen.totals.n));
	KR_TRY(kr_arena_new(g->w->arena, asg->amounts, asg->nversions));
	for (uint32_t i = 0; i < g->seen.totals.n; i++) {
		const struct kr_grow_total *t = &g->seen.totals.at[i];

		if (asg->txns[t->txn.i].presence != KR_ABSENT_TXN)
			asg->shown[asg->nshown++] = (struct kr_asg_sum){.txn = t->txn,
				.op = t->op,
				.key = t->key,
				.total = t->total};
	}
	for (uint32_t old = 0, v = 0; old < g->whole_versions.n && v < asg->nversions; old++)
		if (before[old].writer.i == asg->versions[v].writer.i &&
			before[old].key.i == asg->versions[v].key.i)
			asg->amounts[v++] = (struct kr_asg_amount){g->amount[old],
				g->absolute[old] || before[old].writer.i == KR_NONE};
	return KR_OK;
}

static enum kr_status make_sums(const struct kr_growing *g, struct kr_asg *asg, struct terms *terms)
{
	KR_TRY(kr_arena_new(g->w->arena, asg->sums, g->seen.totals.n));
	for (uint32_t i = 0; i < g->seen.totals.n; i++) {
		const struct kr_grow_total *t = &g->seen.totals.at[i];

		KR_TRY(kr_ctx_tick(g->w->ctx));
		if (asg->txns[t->txn.i].presence != KR_ABSENT_TXN)
			KR_TRY(add_sum(g, asg, terms, t, &asg->sums[asg->nsums++]));
	}
	KR_TRY(kr_arena_new(g->w->arena, asg->terms, terms->n));
	for (uint32_t i = 0; i < terms->n; i++)
		asg->terms[i] = terms->at[i];
	asg->nterms = terms->n;
	return KR_OK;
}

enum kr_status kr_counters_sums(const struct kr_growing *g, struct kr_asg *asg)
{
	struct terms terms = {0};

	if (g->seen.totals.n == 0)
		return KR_OK;
	KR_TRY(make_hints(g, asg));
	if (g->coarse)
		return KR_OK;

	enum kr_status status = make_sums(g, asg, &terms);

	kr_vec_done(g->w->mem, &terms);
	return status;
}
