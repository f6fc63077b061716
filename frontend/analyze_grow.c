/* Growing keys: lists, sets, and counters with increments whose result is not told.
 *
 * What they have in common: their writes by key, part keys behind the keys of the trace (asg.h), the state of
 * a transaction's own writes, names for what nobody can have written. What a read of each kind says is in a
 * file of its own (analyze_lists.c, analyze_bags.c, analyze_counters.c). Definitions and arguments:
 * docs/asg.md. */
#include "frontend/analyze_grow.h"

#include <string.h>

/* ---- parts ---- */

enum kr_status kr_grow_part(struct kr_grow *g, kr_key of, uint32_t label, kr_token initial, kr_key *out)
{
	struct kr_mem *mem = g->w->asg->mem;
	kr_key part = {g->w->h->keys.n + g->parts.n};
	bool pushed = kr_vec_push(mem, &g->parts, (struct kr_asg_part){of, label}) &&
		kr_vec_push(mem, &g->part_first, g->part_versions.n);

	if (part.i >= KR_NONE - 1)
		return kr_err_set(g->w->err, KR_UNSUPPORTED,
			"found too many elements of sets, expected fewer than %u", KR_NONE);
	if (!pushed || !kr_vec_push(mem, &g->part_versions, (struct kr_asg_version){{KR_NONE}, part}) ||
		!kr_vec_push(mem, &g->part_tokens, initial))
		return KR_NOMEM;
	*out = part;
	return KR_OK;
}

enum kr_status kr_grow_part_version(struct kr_grow *g, kr_txn writer, kr_token token)
{
	struct kr_mem *mem = g->w->asg->mem;
	kr_key part = {g->w->h->keys.n + g->parts.n - 1};
	bool pushed = kr_vec_push(mem, &g->part_versions, (struct kr_asg_version){writer, part}) &&
		kr_vec_push(mem, &g->part_tokens, token);

	return pushed ? KR_OK : KR_NOMEM;
}

/* Puts keys and versions of the parts behind the others. */
static enum kr_status append_parts(struct kr_grow *g)
{
	struct kr_work *w = g->w;
	struct kr_asg *asg = w->asg;
	uint32_t nkeys = asg->nkeys, nversions = asg->nversions;
	struct kr_asg_key *keys =
		KR_NEW_ARRAY(&asg->arena, struct kr_asg_key, (size_t)nkeys + g->parts.n + 1);
	struct kr_asg_version *versions =
		KR_NEW_ARRAY(&asg->arena, struct kr_asg_version, (size_t)nversions + g->part_versions.n);
	kr_token *tokens = KR_NEW_ARRAY(&asg->arena, kr_token, (size_t)nversions + g->part_versions.n);

	asg->parts = KR_NEW_ARRAY(&asg->arena, struct kr_asg_part, g->parts.n);
	if (!keys || !versions || !tokens || !asg->parts)
		return KR_NOMEM;
	if ((uint64_t)nversions + g->part_versions.n >= KR_NONE)
		return kr_err_set(w->err, KR_UNSUPPORTED, "found more than %u versions, expected fewer",
			KR_NONE);
	memcpy(keys, asg->keys, nkeys * sizeof *keys);
	memcpy(versions, asg->versions, nversions * sizeof *versions);
	memcpy(tokens, w->token, nversions * sizeof *tokens);
	for (uint32_t p = 0; p < g->parts.n; p++) {
		bool open = asg->keys[g->parts.at[p].of.i].open_initial &&
			!kr_bags_unwritten(g, g->parts.at[p].of);

		asg->parts[p] = g->parts.at[p];
		keys[nkeys + p] =
			(struct kr_asg_key){.first = nversions + g->part_first.at[p], .open_initial = open};
	}
	for (uint32_t i = 0; i < g->part_versions.n; i++) {
		versions[nversions + i] = g->part_versions.at[i];
		tokens[nversions + i] = g->part_tokens.at[i];
	}
	asg->nparts = g->parts.n;
	asg->nkeys = nkeys + g->parts.n;
	asg->nversions = nversions + g->part_versions.n;
	keys[asg->nkeys].first = asg->nversions;
	asg->keys = keys;
	asg->versions = versions;
	w->token = tokens;
	return KR_OK;
}

/* ---- making them ---- */

static bool any_grows(const struct kr_work *w)
{
	for (uint32_t k = 0; k < w->h->keys.n; k++)
		if (kr_analyze_grows(w, (kr_key){k}))
			return true;
	return false;
}

#define OBSERVATIONS_MOST \
	(UINT32_C(1) << 14) /* of parts; beyond it they are made only if that is asked for */

/* How often operations show growing keys. */
static enum kr_status count_looks(struct kr_grow *g, uint32_t *looks)
{
	const struct kr_history *h = g->w->h;

	for (uint32_t i = 0; i < h->ops.n; i++) {
		const struct kr_operation *op = &h->ops.at[i];
		const struct kr_scan *scan = op->scan == KR_NONE ? NULL : &h->scans.at[op->scan];

		KR_TRY(kr_ctx_tick(g->w->ctx));
		for (uint32_t r = 0; scan && r < scan->row_count; r++)
			looks[h->rows.at[scan->row_first + r].key.i]++;
		if (!scan)
			looks[op->key.i] += kr_op_view(op).when != KR_UNSEEN;
	}
	return KR_OK;
}

/* Whether reads times parts come to very much. */
static enum kr_status is_large(struct kr_grow *g, bool *out)
{
	uint32_t *looks = KR_NEW_ARRAY(&g->w->scratch, uint32_t, g->w->h->keys.n);
	uint64_t all = 0;

	if (!looks)
		return KR_NOMEM;
	KR_TRY(count_looks(g, looks));
	for (kr_key k = {0}; k.i < g->w->h->keys.n; k.i++) {
		if (kr_analyze_grows(g->w, k) && kr_grow_kind(g, k) == KR_KIND_SET)
			all += (uint64_t)looks[k.i] * (g->element_first[k.i + 1] - g->element_first[k.i]);
		if (g->relative[k.i])
			all += (uint64_t)looks[k.i] * (g->write_first[k.i + 1] - g->write_first[k.i]);
	}
	*out = all > OBSERVATIONS_MOST;
	return KR_OK;
}

static enum kr_status prepare_key(struct kr_grow *g, kr_key k)
{
	switch (kr_grow_kind(g, k)) {
	case KR_KIND_LIST: return kr_lists_prepare(g, k);
	case KR_KIND_SET: return kr_bags_prepare(g, k);
	case KR_KIND_MARK: return kr_marks_prepare(g, k);
	default: return kr_counters_prepare(g, k);
	}
}

static enum kr_status prepare(struct kr_grow *g)
{
	struct kr_work *w = g->w;
	uint32_t nkeys = w->h->keys.n;

	KR_TRY(kr_grow_elements(g));
	g->parts_of = KR_NEW_ARRAY(&w->scratch, uint32_t, (size_t)nkeys + 1);
	g->own = KR_NEW_ARRAY(&w->scratch, struct kr_grow_own, nkeys);
	g->run_part = KR_NEW_ARRAY(&w->scratch, kr_key, g->write_first[nkeys]);
	g->cleared = KR_NEW_ARRAY(&w->scratch, bool, nkeys);
	g->checked = KR_NEW_ARRAY(&w->scratch, struct kr_items, nkeys);
	g->chained = KR_NEW_ARRAY(&w->scratch, bool, nkeys);
	g->ranked = KR_NEW_ARRAY(&w->scratch, bool, nkeys);
	g->by_rank = KR_NEW_ARRAY(&w->scratch, uint32_t, g->element_first[nkeys]);
	if (!g->parts_of || !g->own || !g->run_part || !g->cleared || !g->checked || !g->chained ||
		!g->ranked || !g->by_rank ||
		!kr_vec_reserve(w->asg->mem, &g->whole_versions, w->asg->nversions))
		return KR_NOMEM;
	for (uint32_t i = 0; i < g->write_first[nkeys]; i++)
		g->run_part[i].i = KR_NONE;
	for (uint32_t k = 0; k < nkeys; k++)
		g->own[k].turn = KR_NONE;
	for (uint32_t v = 0; v < w->asg->nversions; v++)
		g->whole_versions.at[g->whole_versions.n++] = w->asg->versions[v];
	KR_TRY(kr_counters_scan(g));
	if (!w->exact)
		KR_TRY(is_large(g, &w->out->coarse));
	for (kr_key k = {0}; k.i < nkeys; k.i++) {
		g->parts_of[k.i] = g->parts.n;
		if (kr_analyze_grows(w, k))
			KR_TRY(prepare_key(g, k));
	}
	g->parts_of[nkeys] = g->parts.n;
	return append_parts(g);
}

enum kr_status kr_analyze_grow_keys(struct kr_work *w)
{
	if (!any_grows(w))
		return KR_OK;
	w->grow = KR_NEW(&w->scratch, struct kr_grow);
	if (!w->grow)
		return KR_NOMEM;
	*w->grow = (struct kr_grow){.w = w};
	return prepare(w->grow);
}

void kr_analyze_grow_free(struct kr_work *w)
{
	struct kr_mem *mem = w->asg->mem;
	struct kr_grow *g = w->grow;

	if (!g)
		return;
	kr_elements_done(&g->numbered);
	kr_table_done(mem, &g->element_table);
	kr_vec_done(mem, &g->elements);
	kr_vec_done(mem, &g->parts);
	kr_vec_done(mem, &g->part_first);
	kr_vec_done(mem, &g->part_versions);
	kr_vec_done(mem, &g->part_tokens);
	kr_vec_done(mem, &g->whole_versions);
	kr_vec_done(mem, &g->reads);
	kr_vec_done(mem, &g->shown);
	kr_vec_done(mem, &g->totals);
}

/* ---- replay ---- */

/* The first write of k by t. */
static uint32_t first_write(const struct kr_grow *g, kr_key k, kr_txn t)
{
	uint32_t low = g->write_first[k.i], high = g->write_first[k.i + 1];

	KR_BISECT(low, low, high, g->writes[low].txn.i < t.i);
	return low;
}

static const struct kr_datatype *type_of(const struct kr_grow *g, kr_key k)
{
	return kr_datatype_of(kr_grow_kind(g, k));
}

/* A told result of an increment is what the transaction saw that it left. */
static enum kr_status compose(struct kr_replay *r, kr_key k, struct kr_grow_own *own)
{
	struct kr_grow *g = r->w->grow;
	const struct kr_datatype *type = type_of(g, k);

	for (; own->composed < own->count; own->composed++) {
		struct kr_write did = kr_grow_did(g, &g->writes[own->writes + own->composed]);
		struct kr_effect effect = {KR_SET, {.present = did.told.i != KR_ABSENT.i, .value = did.told}};

		KR_TRY(kr_ctx_tick(r->w->ctx));
		if (did.told.i == KR_NONE)
			effect = kr_told_addition(r->w->h, type, &did);
		else
			effect.state.number = kr_analyze_told(r->w, did.told);
		KR_TRY(kr_compose(type, &g->numbered.arena, &own->effect, &effect));
	}
	return KR_OK;
}

struct kr_grow_own *kr_grow_own(struct kr_replay *r, kr_key k)
{
	struct kr_grow_own *own = &r->w->grow->own[k.i];

	if (own->turn != r->turn)
		*own = (struct kr_grow_own){.turn = r->turn, .writes = first_write(r->w->grow, k, r->txn)};
	return own;
}

enum kr_status kr_grow_pull(struct kr_replay *r, kr_key k, struct kr_want *want, bool *done)
{
	struct kr_grow_own *own = kr_grow_own(r, k);
	struct kr_state shown = want->is;
	bool over = own->effect.how == KR_ADD;

	*want = kr_before(type_of(r->w->grow, k), &own->effect, *want);
	*done = want->any;
	if (over && want->any && !want->negated) /* that it is there, of whatever version */
		return kr_analyze_see(r, k, kr_test_not(KR_TOKEN_NEVER), false);
	if (!want->any && own->effect.how == KR_ADD)
		own->effect = (struct kr_effect){KR_SET, shown};
	return want->any && want->negated
		? kr_grow_contradict(r, k, KR_INTERNAL_INCONSISTENCY, (kr_txn){KR_NONE})
		: KR_OK;
}

enum kr_status kr_grow_contradict(struct kr_replay *r, kr_key k, enum kr_anomaly_kind kind, kr_txn other)
{
	uint32_t before = r->w->found.n;

	KR_TRY(kr_analyze_contradict(r, k, kind));
	if (r->w->found.n > before)
		r->w->found.at[before].other = other;
	return KR_OK;
}

enum kr_status kr_grow_see_presence(struct kr_replay *r, kr_key k, enum kr_shown shown)
{
	return kr_analyze_see(r, k,
		kr_test(shown == KR_SHOWN_FOUND ? KR_TEST_NOT : KR_TEST_IS, KR_TOKEN_ABSENT.i),
		shown == KR_SHOWN_NO_ROW);
}

enum kr_status kr_analyze_grow_see(struct kr_replay *r, kr_key k, enum kr_shown shown, kr_value value)
{
	struct kr_grow *g = r->w->grow;
	struct kr_want want;
	enum kr_status status = compose(r, k, kr_grow_own(r, k));

	if (status == KR_UNSUPPORTED)
		return kr_analyze_refuse(r->w, r->txn, r->op, "a counter beyond 64 bits");
	if (!status)
		status = kr_told_want(&g->numbered, type_of(g, k), value, shown == KR_SHOWN_READ, &want);
	if (status)
		return status;
	if (r->w->h->values.n + (uint64_t)g->numbered.strange >= KR_TOKEN_THERE.i)
		return kr_err_set(r->w->err, KR_UNSUPPORTED,
			"found too many elements of lists, expected fewer than %u", KR_TOKEN_THERE.i);
	if (want.any) /* of another type than the key's */
		return kr_grow_contradict(r, k, KR_GARBAGE_READ, (kr_txn){KR_NONE});
	if (shown == KR_SHOWN_ROW && !want.is.present) /* empty is absent, and no row of anything */
		return kr_grow_contradict(r, k, KR_RESULT_SET_MISMATCH, (kr_txn){KR_NONE});
	want.negated = shown == KR_SHOWN_FOUND;
	switch (kr_grow_kind(g, k)) {
	case KR_KIND_LIST: return kr_lists_see(r, k, shown, &want);
	case KR_KIND_SET: return kr_bags_see(r, k, shown, &want);
	case KR_KIND_MARK: return kr_marks_see(r, k, shown, &want);
	default: return kr_counters_see(r, k, shown, &want);
	}
}

void kr_analyze_grow_write(struct kr_replay *r, kr_key k) { kr_grow_own(r, k)->count++; }

enum kr_status kr_analyze_grow_check(struct kr_work *w)
{
	if (!w->grow)
		return KR_OK;
	KR_TRY(kr_lists_check(w->grow));
	return kr_bags_check(w->grow);
}

/* ---- names ---- */

/* The version of whole key k by t under its number before any were dropped, which is what `absolute` and
 * `amount` go by; or KR_NONE. */
static uint32_t first_number(const struct kr_grow *g, kr_key k, kr_txn t)
{
	const struct kr_asg_version *v = g->whole_versions.at;
	uint32_t n = g->whole_versions.n, at;

	KR_BISECT(at, 0, n,
		v[at].key.i < k.i ||
			(v[at].key.i == k.i && (v[at].writer.i == KR_NONE || v[at].writer.i < t.i)));
	return at < n && v[at].key.i == k.i && v[at].writer.i == t.i ? at : KR_NONE;
}

/* What the run's increments up to one of them, counted from the last one told or the last delete, are known
 * to leave. False: the transaction does not tell. */
static bool left_by(const struct kr_grow *g, kr_key k, uint32_t write, int64_t *out)
{
	uint32_t first = first_write(g, k, g->writes[write].txn), end = kr_grow_run(g, k, first),
		 version = first_number(g, k, g->writes[write].txn);
	int64_t after = 0;

	for (uint32_t i = write;; i--) { /* what it added since it last knew */
		struct kr_write did = kr_grow_did(g, &g->writes[i]);

		if (did.told.i != KR_NONE) {
			return !__builtin_add_overflow(kr_analyze_told(g->w, did.told), after, out);
		}
		if (__builtin_add_overflow(after, kr_analyze_told(g->w, did.value), &after))
			return false;
		if (i == first)
			break;
	}
	after = 0;
	for (uint32_t i = write + 1; i < end; i++) { /* what it added until it knew */
		struct kr_write did = kr_grow_did(g, &g->writes[i]);

		if (did.how == KR_SET)
			return false;
		if (__builtin_add_overflow(after, kr_analyze_told(g->w, did.value), &after))
			return false;
		if (did.told.i != KR_NONE) {
			return !__builtin_sub_overflow(kr_analyze_told(g->w, did.told), after, out);
		}
	}
	return version != KR_NONE && g->absolute[version] &&
		!__builtin_sub_overflow(g->amount[version], after, out);
}

/* Whether the write, had it been the last one before the observation, would explain it. An increment of which
 * nothing is told may. */
static bool explains(const struct kr_grow *g, const struct kr_observation *o, uint32_t write)
{
	const struct kr_work *w = g->w;
	const struct kr_grow_write *x = &g->writes[write];
	uint32_t test = w->test[o->set], argument = kr_test_argument(test);
	uint32_t label = o->key.i < w->h->keys.n ? KR_NONE : w->asg->parts[o->key.i - w->h->keys.n].label;
	bool deletes = x->deletes;
	int64_t left, number;

	if (kr_test_kind(test) == KR_TEST_NOT)
		return !deletes; /* of a whole key: present */
	if (deletes)
		return argument == KR_ABSENT.i || kr_test_kind(test) == KR_TEST_OR_ABSENT;
	if (argument == KR_ABSENT.i)
		return false;
	if (o->key.i >= w->h->keys.n && kr_grow_kind(g, kr_asg_whole(w->asg, o->key)) == KR_KIND_LIST)
		return w->h->txns.at[x->txn.i].id.i == label;
	if (x->element != KR_NONE)
		return x->element == (o->key.i < w->h->keys.n ? argument : label);
	return o->key.i >= w->h->keys.n || !left_by(g, o->key, write, &left) ||
		(kr_analyze_integer(w, kr_test_token(test), &number) && left == number);
}

/* That an element is missing which nobody deleted contradicts who saw it, and took it for an initial one that
 * is not told. If it was an aborted transaction's, or a number from which its transaction raised a mark at
 * once, he read that. */
static enum kr_status blame_who_saw(struct kr_work *w, const struct kr_observation *missed,
	struct kr_anomaly *anomaly)
{
	const struct kr_grow *g = w->grow;
	kr_key k = anomaly->key;
	kr_txn vain = {KR_NONE};
	bool gone = false;

	for (uint32_t i = g->write_first[k.i]; i < g->write_first[k.i + 1] && !gone; i++) {
		kr_txn t = g->writes[i].txn;

		if (g->writes[i].element != w->asg->parts[missed->key.i - w->h->keys.n].label)
			continue;
		gone = w->asg->txns[t.i].presence == KR_ABSENT_TXN;
		if (gone || kr_analyze_version(w, missed->key, t) == KR_NONE)
			vain = t;
	}
	for (uint32_t i = 0; i < w->asg->nobs && vain.i != KR_NONE; i++) {
		const struct kr_observation *o = &w->asg->obs[i];

		KR_TRY(kr_ctx_tick(w->ctx));
		if (o->key.i != missed->key.i || o->set == KR_NONE || o->txn.i == vain.i ||
			kr_test_argument(w->test[o->set]) == KR_ABSENT.i ||
			w->h->txns.at[o->txn.i].status != KR_COMMITTED)
			continue;
		*anomaly = (struct kr_anomaly){gone ? KR_ABORTED_READ : KR_INTERMEDIATE_READ, o->txn, o->op,
			k, vain};
		break;
	}
	return KR_OK;
}

enum kr_status kr_analyze_grow_name(struct kr_work *w, const struct kr_observation *o,
	struct kr_anomaly *anomaly)
{
	const struct kr_grow *g = w->grow;
	kr_key k = kr_asg_whole(w->asg, o->key);

	anomaly->key = k;
	anomaly->kind = KR_GARBAGE_READ;
	for (uint32_t i = g->write_first[k.i]; i < g->write_first[k.i + 1]; i++) {
		const struct kr_grow_write *x = &g->writes[i];
		bool own = x->txn.i == o->txn.i, gone = w->asg->txns[x->txn.i].presence == KR_ABSENT_TXN;

		KR_TRY(kr_ctx_tick(w->ctx));
		if ((own && x->op < o->op) || !explains(g, o, i))
			continue;
		if (!own) {
			anomaly->kind = gone ? KR_ABORTED_READ : KR_INTERMEDIATE_READ;
			anomaly->other = x->txn;
			return KR_OK;
		}
		anomaly->kind = KR_FUTURE_READ;
	}
	if (anomaly->kind == KR_GARBAGE_READ && kr_history_untold(w->h) &&
		w->h->keys.at[k.i].kind != KR_KIND_LIST && o->key.i >= w->h->keys.n)
		return blame_who_saw(w, o, anomaly);
	return KR_OK;
}

/* ---- the end ---- */

enum kr_status kr_analyze_grow_done(struct kr_work *w, struct kr_analyze_pairs *orders)
{
	if (!w->grow)
		return KR_OK;
	KR_TRY(kr_lists_orders(w->grow, orders));
	KR_TRY(kr_ranks_orders(w->grow, orders));
	return kr_counters_sums(w->grow);
}
