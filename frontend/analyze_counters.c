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
	struct kr_grow *g;
	struct tally *of; /* per key of the trace */
	KR_VEC(kr_key) touched;
};

static bool is_counter(const struct kr_grow *g, kr_key k)
{
	return kr_analyze_grows(g->w, k) && kr_grow_kind(g, k) == KR_KIND_COUNTER;
}

static enum kr_status too_large(const struct kr_grow *g, kr_txn t, uint32_t op)
{
	return kr_analyze_refuse(g->w, t, op, "a counter beyond 64 bits");
}

static struct tally *tally_of(struct scanning *s, kr_txn t, kr_key k)
{
	struct tally *x = &s->of[k.i];

	if (x->turn != t.i + 1) {
		if (!kr_vec_push(s->g->w->asg->mem, &s->touched, k))
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
	s->g->w->out->shows_own = true;
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
		const struct kr_scan *scan = op->scan == KR_NONE ? NULL : &h->scans.at[op->scan];
		struct kr_view view = kr_op_view(op);
		struct kr_write write;

		KR_TRY(kr_ctx_tick(s->g->w->ctx));
		for (uint32_t j = 0; scan && kr_op_is_read(op) && j < scan->row_count; j++)
			scan_shown(s, t, h->rows.at[scan->row_first + j].key,
				h->rows.at[scan->row_first + j].value);
		if (scan || !is_counter(s->g, op->key))
			continue;
		if (view.when == KR_SEEN_BEFORE && !view.other)
			scan_shown(s, t, op->key, view.value);
		if (kr_write_at(h, op, 0, &write))
			KR_TRY(scan_write(s, t, i, &write));
	}
	while (s->touched.n > 0) {
		kr_key k = kr_vec_pop(&s->touched);
		uint32_t v = kr_analyze_version(s->g->w, k, t);
		const struct tally *x = &s->of[k.i];

		s->g->absolute[v] = x->absolute;
		s->g->amount[v] = x->amount;
		s->g->relative[k.i] |= !x->absolute;
		s->g->w->token[v] = kr_token_there(!x->absent);
	}
	return KR_OK;
}

static enum kr_status scan_all(struct scanning *s)
{
	struct kr_work *w = s->g->w;

	s->of = KR_NEW_ARRAY(&w->scratch, struct tally, w->h->keys.n);
	s->g->absolute = KR_NEW_ARRAY(&w->scratch, bool, w->asg->nversions);
	s->g->amount = KR_NEW_ARRAY(&w->scratch, int64_t, w->asg->nversions);
	s->g->relative = KR_NEW_ARRAY(&w->scratch, bool, w->h->keys.n);
	s->g->subsets = KR_NEW_ARRAY(&w->scratch, struct kr_grow_subsets *, w->h->keys.n);
	if (!s->g->subsets || !s->of || !s->g->absolute || !s->g->amount || !s->g->relative)
		return KR_NOMEM;
	for (uint32_t t = 0; t < w->h->txns.n; t++)
		if (w->asg->txns[t].presence != KR_ABSENT_TXN)
			KR_TRY(scan_txn(s, (kr_txn){t}));
	return KR_OK;
}

enum kr_status kr_counters_scan(struct kr_grow *g)
{
	struct scanning s = {.g = g};
	enum kr_status status = scan_all(&s);

	kr_vec_done(g->w->asg->mem, &s.touched);
	return status;
}

/* ---- parts ---- */

static bool is_absent(const struct kr_grow *g, uint32_t v) { return g->w->token[v].i == KR_TOKEN_ABSENT.i; }

/* Without relative versions: values as those of a register. */
static enum kr_status prepare_register(struct kr_grow *g, kr_key k)
{
	struct kr_asg *asg = g->w->asg;

	if (!asg->keys[k.i].open_initial)
		g->w->token[asg->keys[k.i].first] = kr_token_of(g->w->h->keys.at[k.i].initial);
	for (uint32_t v = asg->keys[k.i].first + 1; v < asg->keys[k.i + 1].first; v++)
		if (!is_absent(g, v))
			KR_TRY(kr_analyze_number(g->w, g->amount[v], &g->w->token[v]));
	return KR_OK;
}

/* The part of `counted` (a version, or KR_NONE: the base): written by it and by all absolute versions. */
static enum kr_status make_part(struct kr_grow *g, kr_key k, uint32_t counted)
{
	const struct kr_asg *asg = g->w->asg;
	uint32_t first = asg->keys[k.i].first, end = asg->keys[k.i + 1].first;
	uint32_t label =
		counted == KR_NONE ? KR_NONE : g->w->h->txns.at[asg->versions[counted].writer.i].id.i;
	kr_key part;

	KR_TRY(kr_grow_part(g, k, label, KR_TOKEN_ABSENT, &part));
	if (g->part_versions.n > PART_VERSIONS_MOST)
		return kr_err_set(g->w->err, KR_UNSUPPORTED,
			"a counter is changed by too many transactions, some of which do not tell the "
			"result");
	for (uint32_t v = first + 1; v < end; v++)
		if (v == counted || g->absolute[v])
			KR_TRY(kr_grow_part_version(g, asg->versions[v].writer,
				kr_token_there(v == counted)));
	return kr_ctx_spend(g->w->ctx, end - first);
}

/* That no order of the increments leaves 64 bits, on top of whatever the counter may start from. */
static enum kr_status check_bounds(struct kr_grow *g, kr_key k)
{
	const struct kr_asg *asg = g->w->asg;
	int64_t low = 0, high = 0, delta = 0;

	for (uint32_t v = asg->keys[k.i].first; v < asg->keys[k.i + 1].first; v++) {
		bool base = v == asg->keys[k.i].first || g->absolute[v];

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

enum kr_status kr_counters_prepare(struct kr_grow *g, kr_key k)
{
	const struct kr_asg *asg = g->w->asg;
	uint32_t first = asg->keys[k.i].first;
	bool absolutes = false;

	if (!g->relative[k.i])
		return prepare_register(g, k);
	if (!asg->keys[k.i].open_initial) {
		g->amount[first] = kr_analyze_told(g->w, g->w->h->keys.at[k.i].initial);
		g->w->token[first] = kr_token_there(g->w->h->keys.at[k.i].initial.i != KR_ABSENT.i);
	}
	KR_TRY(check_bounds(g, k));
	for (uint32_t v = first + 1; v < asg->keys[k.i + 1].first; v++) {
		absolutes |= g->absolute[v];
		if (!g->absolute[v] && !g->w->out->coarse)
			KR_TRY(make_part(g, k, v));
	}
	return absolutes && !g->w->out->coarse ? make_part(g, k, KR_NONE) : KR_OK;
}

/* ---- reads ---- */

/* As the first replay found. */
static bool was_possible(const struct kr_replay *r, kr_key k)
{
	struct kr_grow *g = r->w->grow;
	const struct kr_grow_total *at = g->totals.at;
	uint32_t i;

	while (g->total_at < g->totals.n &&
		(at[g->total_at].txn.i < r->txn.i ||
			(at[g->total_at].txn.i == r->txn.i && at[g->total_at].op < r->op)))
		g->total_at++;
	for (i = g->total_at; i < g->totals.n && at[i].txn.i == r->txn.i && at[i].op == r->op; i++)
		if (at[i].key.i == k.i)
			return true;
	return false;
}

/* What the counter was before anything of the transaction's own. */
static enum kr_status see_total(struct kr_replay *r, kr_key k, int64_t total, bool present)
{
	struct kr_grow *g = r->w->grow;
	const struct kr_asg *asg = r->w->asg;
	kr_token token;
	bool possible = true;

	if (!g->relative[k.i]) {
		KR_TRY(kr_analyze_number(r->w, total, &token));
		return kr_analyze_see(r, k,
			kr_test(total == 0 && !present ? KR_TEST_OR_ABSENT : KR_TEST_IS, token.i), false);
	}
	if (asg->keys[k.i].open_initial) {
		kr_analyze_leave_out(r->w, r->txn, r->op,
			"a counter of unknown initial value, with increments of unknown result,");
		return KR_OK;
	}
	if (r->fills)
		possible = was_possible(r, k);
	else
		KR_TRY(kr_counters_reach(r, k, total, &possible));
	if (!possible)
		return kr_grow_contradict(r, k, KR_GARBAGE_READ, (kr_txn){KR_NONE});
	if (present && total == 0)
		KR_TRY(kr_analyze_see(r, k, kr_test_not(KR_TOKEN_ABSENT), false));
	for (uint32_t p = g->parts_of[k.i]; p < g->parts_of[k.i + 1]; p++)
		if (g->parts.at[p].label != r->w->h->txns.at[r->txn.i].id.i)
			KR_TRY(kr_analyze_see(r, (kr_key){r->w->h->keys.n + p}, kr_test_not(KR_TOKEN_NEVER),
				false));
	if (r->fills)
		return KR_OK;
	return kr_vec_push(r->w->asg->mem, &g->totals, (struct kr_grow_total){r->txn, r->op, k, total})
		? KR_OK
		: KR_NOMEM;
}

enum kr_status kr_counters_see(struct kr_replay *r, kr_key k, enum kr_shown shown, struct kr_want *want)
{
	const struct kr_datatype *type = kr_datatype_of(KR_KIND_COUNTER);
	const struct kr_operation *op = &r->w->h->ops.at[kr_history_op(r->w->h, r->txn, r->op).i];
	const struct kr_effect *own = &kr_grow_own(r, k)->effect;
	struct kr_write write;
	bool done;

	if (shown == KR_SHOWN_INC && kr_write_at(r->w->h, op, 0, &write)) {
		struct kr_effect addition = kr_told_addition(r->w->h, type, &write);

		*want = kr_before(type, &addition, *want);
	}
	if (want->any ||
		(own->how == KR_ADD && want->is.present &&
			__builtin_sub_overflow(want->is.number, own->state.number, &(int64_t){0})))
		return too_large(r->w->grow, r->txn, r->op);
	KR_TRY(kr_grow_pull(r, k, want, &done));
	if (done)
		return KR_OK;
	if (!want->is.present)
		return kr_grow_see_presence(r, k, shown == KR_SHOWN_READ ? KR_SHOWN_NOT_FOUND : shown);
	return see_total(r, k, want->is.number, !want->or_absent);
}

/* ---- sums ---- */

KR_VEC_NAMED(terms, struct kr_asg_term);

/* The terms of one part: what its versions add. *constant is what there is without any. */
static enum kr_status add_terms(struct kr_grow *g, struct terms *terms, uint32_t o,
	const struct kr_grow_total *t)
{
	const struct kr_asg *asg = g->w->asg;
	kr_key part = asg->obs[o].key;
	bool base = asg->parts[part.i - g->w->h->keys.n].label == KR_NONE;
	uint32_t first = asg->keys[part.i].first, end = asg->keys[part.i + 1].first;

	KR_TRY(kr_ctx_spend(g->w->ctx, end - first));
	for (uint32_t v = first; v < end; v++) {
		kr_txn writer = asg->versions[v].writer;
		kr_version whole = writer.i == KR_NONE ? kr_asg_initial(asg, t->key)
						       : kr_asg_version_of(asg, writer, t->key);
		int64_t weight = base || g->w->token[v].i == KR_TOKEN_THERE.i ? g->amount[whole.i] : 0;

		if (weight != 0 && writer.i != t->txn.i &&
			!kr_vec_push(asg->mem, terms, (struct kr_asg_term){{o}, {v}, weight}))
			return KR_NOMEM;
	}
	return KR_OK;
}

static enum kr_status add_sum(struct kr_grow *g, struct terms *terms, const struct kr_grow_total *t,
	struct kr_asg_sum *out)
{
	const struct kr_asg *asg = g->w->asg;
	bool base = false;

	*out = (struct kr_asg_sum){t->txn, t->op, t->key, t->total, terms->n, 0};
	for (uint32_t o = asg->obs_first[t->txn.i]; o < asg->obs_first[t->txn.i + 1]; o++) {
		kr_key k = asg->obs[o].key;

		if (asg->obs[o].op != t->op || k.i < g->w->h->keys.n ||
			asg->parts[k.i - g->w->h->keys.n].of.i != t->key.i)
			continue;
		base |= asg->parts[k.i - g->w->h->keys.n].label == KR_NONE;
		KR_TRY(add_terms(g, terms, o, t));
	}
	if (!base)
		out->total -= g->amount[kr_asg_initial(asg, t->key).i];
	out->count = terms->n - out->first;
	return KR_OK;
}

/* `amount` and `absolute` follow the versions to their new numbers: both ascend by key and writer, and only
 * versions of absent transactions are gone. */
static void renumber(struct kr_grow *g, const struct kr_grow_versions *before)
{
	const struct kr_asg *asg = g->w->asg;

	for (uint32_t old = 0, v = 0; old < before->n && v < asg->nversions; old++) {
		if (before->at[old].writer.i != asg->versions[v].writer.i ||
			before->at[old].key.i != asg->versions[v].key.i)
			continue;
		g->absolute[v] = g->absolute[old];
		g->amount[v++] = g->amount[old];
	}
}

/* What a schedule needs to know of counters. */
static enum kr_status make_hints(struct kr_grow *g)
{
	struct kr_asg *asg = g->w->asg;

	asg->shown = KR_NEW_ARRAY(&asg->arena, struct kr_asg_sum, g->totals.n);
	asg->amounts = KR_NEW_ARRAY(&asg->arena, struct kr_asg_amount, asg->nversions);
	if (!asg->shown || !asg->amounts)
		return KR_NOMEM;
	for (uint32_t i = 0; i < g->totals.n; i++) {
		const struct kr_grow_total *t = &g->totals.at[i];

		if (asg->txns[t->txn.i].presence != KR_ABSENT_TXN)
			asg->shown[asg->nshown++] = (struct kr_asg_sum){.txn = t->txn,
				.op = t->op,
				.key = t->key,
				.total = t->total};
	}
	for (uint32_t v = 0; v < asg->keys[g->w->h->keys.n].first; v++)
		asg->amounts[v] = (struct kr_asg_amount){g->amount[v],
			g->absolute[v] || kr_asg_is_initial(asg, (kr_version){v})};
	return KR_OK;
}

static enum kr_status make_sums(struct kr_grow *g, struct terms *terms)
{
	struct kr_asg *asg = g->w->asg;

	asg->sums = KR_NEW_ARRAY(&asg->arena, struct kr_asg_sum, g->totals.n);
	if (!asg->sums)
		return KR_NOMEM;
	for (uint32_t i = 0; i < g->totals.n; i++) {
		KR_TRY(kr_ctx_tick(g->w->ctx));
		if (asg->txns[g->totals.at[i].txn.i].presence != KR_ABSENT_TXN)
			KR_TRY(add_sum(g, terms, &g->totals.at[i], &asg->sums[asg->nsums++]));
	}
	asg->terms = KR_NEW_ARRAY(&asg->arena, struct kr_asg_term, terms->n);
	if (!asg->terms)
		return KR_NOMEM;
	for (uint32_t i = 0; i < terms->n; i++)
		asg->terms[i] = terms->at[i];
	asg->nterms = terms->n;
	return KR_OK;
}

enum kr_status kr_counters_sums(struct kr_grow *g)
{
	struct terms terms = {0};

	if (g->totals.n == 0)
		return KR_OK;
	renumber(g, &g->whole_versions);
	KR_TRY(make_hints(g));
	if (g->w->out->coarse)
		return KR_OK;
	enum kr_status status = make_sums(g, &terms);
	kr_vec_done(g->w->asg->mem, &terms);
	return status;
}
