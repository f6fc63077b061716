/* Growing keys: lists, sets, and counters with increments whose result is not told.
 *
 * What they have in common: their writes by key, part keys behind the keys of the trace (asg.h), the state of
 * a transaction's own writes, names for what nobody can have written. What a read of each kind says is in a
 * file of its own (analyze_lists.c, analyze_bags.c, analyze_counters.c). Definitions and arguments:
 * docs/asg.md. */
#include "frontend/analyze_grow.h"

#include <string.h>

/* ---- parts ---- */

enum kr_status kr_grow_part_version(struct kr_parts *p, kr_txn writer, kr_token token)
{
	kr_key part = {p->g->w->h->keys.n + p->parts.n - 1};
	bool pushed = kr_vec_push(p->g->w->mem, &p->versions, (struct kr_asg_version){writer, part}) &&
		kr_vec_push(p->g->w->mem, &p->tokens, token);

	return pushed ? KR_OK : KR_NOMEM;
}

enum kr_status kr_grow_part(struct kr_parts *p, kr_key of, uint32_t label, kr_token initial, kr_key *out)
{
	const struct kr_work *w = p->g->w;

	if (w->h->keys.n + (uint64_t)p->parts.n >= KR_NONE - 1)
		return kr_err_set(w->err, KR_UNSUPPORTED,
			"found too many elements of sets, expected fewer than %u", KR_NONE);
	out->i = w->h->keys.n + p->parts.n;
	KR_TRY(kr_vec_add(w->mem, &p->parts, (struct kr_asg_part){of, label}));
	KR_TRY(kr_vec_add(w->mem, &p->first, p->versions.n));
	return kr_grow_part_version(p, KR_NOBODY, initial);
}

/* Puts keys and versions of the parts behind the others. */
static enum kr_status append_parts(const struct kr_parts *p)
{
	const struct kr_work *w = p->g->w;
	struct kr_writes *out = p->writes, old = *out;
	size_t nversions = (size_t)old.nversions + p->versions.n;

	if (nversions >= KR_NONE)
		return kr_err_set(w->err, KR_UNSUPPORTED, "found more than %u versions, expected fewer",
			KR_NONE);
	out->nparts = p->parts.n;
	out->nkeys = old.nkeys + p->parts.n;
	out->nversions = (uint32_t)nversions;
	KR_TRY(kr_arena_new(w->arena, out->keys, (size_t)out->nkeys + 1));
	KR_TRY(kr_arena_new(w->arena, out->versions, nversions));
	KR_TRY(kr_arena_new(w->scratch, out->token, nversions));
	KR_TRY(kr_arena_new(w->arena, out->parts, p->parts.n));
	memcpy(out->keys, old.keys, old.nkeys * sizeof *old.keys);
	memcpy(out->versions, old.versions, old.nversions * sizeof *old.versions);
	memcpy(out->token, old.token, old.nversions * sizeof *old.token);
	for (uint32_t i = 0; i < p->parts.n; i++) {
		out->parts[i] = p->parts.at[i];
		out->keys[old.nkeys + i] = (struct kr_asg_key){.first = old.nversions + p->first.at[i],
			.open_initial = kr_grow_open(p->g, p->parts.at[i].of)};
	}
	for (uint32_t i = 0; i < p->versions.n; i++) {
		out->versions[old.nversions + i] = p->versions.at[i];
		out->token[old.nversions + i] = p->tokens.at[i];
	}
	out->keys[out->nkeys].first = out->nversions;
	return KR_OK;
}

/* ---- making them ---- */

#define OBSERVATIONS_MOST \
	(UINT32_C(1) << 14) /* of parts; beyond it they are made only if that is asked for */

/* How often operations show growing keys. */
static enum kr_status count_looks(const struct kr_growing *g, uint32_t *looks)
{
	const struct kr_history *h = g->w->h;

	for (uint32_t i = 0; i < h->ops.n; i++) {
		const struct kr_operation *op = &h->ops.at[i];
		const struct kr_scan *scan = kr_op_scans(op) ? &h->scans.at[op->scan] : NULL;

		KR_TRY(kr_ctx_tick(g->w->ctx));
		for (uint32_t r = 0; scan && r < scan->row_count; r++)
			looks[h->rows.at[scan->row_first + r].key.i]++;
		if (!scan)
			looks[op->key.i] += kr_op_view(op).when != KR_UNSEEN;
	}
	return KR_OK;
}

/* Whether reads times parts come to very much. */
static enum kr_status is_large(const struct kr_growing *g, bool *out)
{
	uint32_t *looks = KR_NEW_ARRAY(g->w->scratch, uint32_t, g->w->h->keys.n);
	uint64_t all = 0;

	if (!looks)
		return KR_NOMEM;
	KR_TRY(count_looks(g, looks));
	for (kr_key k = {0}; k.i < g->w->h->keys.n; k.i++) {
		if (kr_grow_kind(g, k) == KR_KIND_SET)
			all += (uint64_t)looks[k.i] * (g->element_first[k.i + 1] - g->element_first[k.i]);
		if (g->relative[k.i])
			all += (uint64_t)looks[k.i] * (g->write_first[k.i + 1] - g->write_first[k.i]);
	}
	*out = all > OBSERVATIONS_MOST;
	return KR_OK;
}

static enum kr_status prepare_key(struct kr_parts *p, kr_key k)
{
	switch (kr_grow_kind(p->g, k)) {
	case KR_KIND_LIST: return kr_lists_prepare(p, k);
	case KR_KIND_SET: return kr_bags_prepare(p, k);
	case KR_KIND_MARK: return kr_marks_prepare(p, k);
	default: return kr_counters_prepare(p, k);
	}
}

static enum kr_status prepare_replay(struct kr_growing *g)
{
	const struct kr_work *w = g->w;
	uint32_t nkeys = w->h->keys.n;

	KR_TRY(kr_arena_new(w->scratch, g->seen.own, nkeys));
	KR_TRY(kr_arena_new(w->scratch, g->seen.checked, nkeys));
	KR_TRY(kr_arena_new(w->scratch, g->seen.subsets, nkeys));
	KR_TRY(kr_arena_new(w->scratch, g->ranks.chained, nkeys));
	KR_TRY(kr_arena_new(w->scratch, g->ranks.ranked, nkeys));
	KR_TRY(kr_arena_new(w->scratch, g->ranks.by_rank, g->element_first[nkeys]));
	for (uint32_t k = 0; k < nkeys; k++)
		g->seen.own[k].turn = KR_NONE;
	return KR_OK;
}

static enum kr_status prepare(struct kr_parts *p)
{
	struct kr_growing *g = p->g;
	const struct kr_work *w = g->w;
	uint32_t nkeys = w->h->keys.n;

	KR_TRY(kr_grow_elements(g, p->writes));
	KR_TRY(prepare_replay(g));
	KR_TRY(kr_arena_new(w->scratch, g->parts_of, (size_t)nkeys + 1));
	KR_TRY(kr_arena_new(w->scratch, g->run_part, g->write_first[nkeys]));
	if (!kr_vec_reserve(w->mem, &g->whole_versions, p->writes->nversions))
		return KR_NOMEM;
	for (uint32_t i = 0; i < g->write_first[nkeys]; i++)
		g->run_part[i].i = KR_NONE;
	for (uint32_t v = 0; v < p->writes->nversions; v++)
		g->whole_versions.at[g->whole_versions.n++] = p->writes->versions[v];
	KR_TRY(kr_counters_scan(g, p->writes));
	if (!w->exact)
		KR_TRY(is_large(g, &g->coarse));
	for (kr_key k = {0}; k.i < nkeys; k.i++) {
		g->parts_of[k.i] = p->parts.n;
		if (kr_analyze_grows(p->writes, k))
			KR_TRY(prepare_key(p, k));
	}
	g->parts_of[nkeys] = p->parts.n;
	return append_parts(p);
}

enum kr_status kr_analyze_growing(const struct kr_work *w, struct kr_writes *writes, struct kr_growing **out)
{
	struct kr_growing *g;
	uint32_t k = 0;

	while (k < w->h->keys.n && !kr_analyze_grows(writes, (kr_key){k}))
		k++;
	if (k == w->h->keys.n)
		return KR_OK;
	*out = g = KR_NEW(w->scratch, struct kr_growing);
	if (!g)
		return KR_NOMEM;
	g->w = w;
	g->versions = writes;

	struct kr_parts p = {.g = g, .writes = writes};
	enum kr_status status = prepare(&p);

	kr_vec_done(w->mem, &p.parts);
	kr_vec_done(w->mem, &p.first);
	kr_vec_done(w->mem, &p.versions);
	kr_vec_done(w->mem, &p.tokens);
	return status;
}

void kr_growing_free(struct kr_growing *g)
{
	if (!g)
		return;
	kr_elements_done(&g->numbered);
	kr_table_done(g->w->mem, &g->element_table);
	kr_vec_done(g->w->mem, &g->elements);
	kr_vec_done(g->w->mem, &g->whole_versions);
	kr_vec_done(g->w->mem, &g->seen.reads);
	kr_vec_done(g->w->mem, &g->seen.shown);
	kr_vec_done(g->w->mem, &g->seen.totals);
}

/* ---- replay ---- */

/* The first write of k by t. */
static uint32_t first_write(const struct kr_growing *g, kr_key k, kr_txn t)
{
	uint32_t low = g->write_first[k.i], high = g->write_first[k.i + 1];

	KR_BISECT(low, low, high, g->writes[low].txn.i < t.i);
	return low;
}

static const struct kr_datatype *type_of(const struct kr_growing *g, kr_key k)
{
	return kr_datatype_of(kr_grow_kind(g, k));
}

/* A told result of an increment is what the transaction saw that it left. */
static enum kr_status compose(struct kr_replay *r, kr_key k, struct kr_grow_own *own)
{
	struct kr_growing *g = r->growing;
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
	struct kr_grow_own *own = &r->growing->seen.own[k.i];

	if (own->turn != r->turn)
		*own = (struct kr_grow_own){.turn = r->turn, .writes = first_write(r->growing, k, r->txn)};
	return own;
}

enum kr_status kr_grow_pull(struct kr_replay *r, kr_key k, struct kr_want *want, bool *done)
{
	struct kr_grow_own *own = kr_grow_own(r, k);
	struct kr_state shown = want->is;
	bool over = own->effect.how == KR_ADD;

	*want = kr_before(type_of(r->growing, k), &own->effect, *want);
	*done = want->any;
	if (over && want->any && !want->negated) /* that it is there, of whatever version */
		return kr_analyze_see(r, k, kr_test_not(KR_TOKEN_NEVER), false);
	if (!want->any && own->effect.how == KR_ADD)
		own->effect = (struct kr_effect){KR_SET, shown};
	return want->any && want->negated ? kr_analyze_contradict(r, k, KR_INTERNAL_INCONSISTENCY, KR_NOBODY)
					  : KR_OK;
}

enum kr_status kr_grow_see_presence(struct kr_replay *r, kr_key k, enum kr_shown shown)
{
	return kr_analyze_see(r, k,
		kr_test(shown == KR_SHOWN_FOUND ? KR_TEST_NOT : KR_TEST_IS, KR_TOKEN_ABSENT.i),
		shown == KR_SHOWN_NO_ROW);
}

enum kr_status kr_analyze_grow_see(struct kr_replay *r, kr_key k, enum kr_shown shown, kr_value value)
{
	struct kr_growing *g = r->growing;
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
		return kr_analyze_contradict(r, k, KR_GARBAGE_READ, KR_NOBODY);
	if (shown == KR_SHOWN_ROW && !want.is.present) /* empty is absent, and no row of anything */
		return kr_analyze_contradict(r, k, KR_RESULT_SET_MISMATCH, KR_NOBODY);
	want.negated = shown == KR_SHOWN_FOUND;
	switch (kr_grow_kind(g, k)) {
	case KR_KIND_LIST: return kr_lists_see(r, k, shown, &want);
	case KR_KIND_SET:
		return want.is.present ? kr_bags_see(r, k, &want) : kr_bags_see_absent(r, k, shown, &want);
	case KR_KIND_MARK:
		return want.is.present ? kr_marks_see(r, k, &want) : kr_bags_see_absent(r, k, shown, &want);
	default: return kr_counters_see(r, k, shown, &want);
	}
}

void kr_analyze_grow_write(struct kr_replay *r, kr_key k) { kr_grow_own(r, k)->count++; }

enum kr_status kr_analyze_grow_check(struct kr_replay *r)
{
	if (!r->growing)
		return KR_OK;
	KR_TRY(kr_lists_check(r->growing, r->out));
	return kr_bags_check(r->growing, r->out);
}

/* ---- names ---- */

/* The version of whole key k by t under its number before any were dropped, which is what `absolute` and
 * `amount` go by; or KR_NONE. */
static uint32_t first_number(const struct kr_growing *g, kr_key k, kr_txn t)
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
static bool left_by(const struct kr_growing *g, kr_key k, uint32_t write, int64_t *out)
{
	uint32_t first = first_write(g, k, g->writes[write].txn), end = kr_grow_run(g, k, first).end,
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

/* What the part stands for: a value, KR_NONE: a counter's base, or no part. */
static uint32_t label_of(const struct kr_sets *sets, kr_key k)
{
	uint32_t nkeys = sets->w->h->keys.n;

	return k.i < nkeys ? KR_NONE : sets->writes->parts[k.i - nkeys].label;
}

/* Whether the write, had it been the last one before the observation, would explain it. An increment of which
 * nothing is told may. */
static bool explains(const struct kr_sets *sets, kr_key whole, const struct kr_observation *o, uint32_t write)
{
	const struct kr_growing *g = sets->growing;
	const struct kr_grow_write *x = &g->writes[write];
	uint32_t test = sets->test[o->set], label = label_of(sets, o->key);
	kr_token token = kr_test_token(test);
	bool part = o->key.i >= g->w->h->keys.n;
	int64_t left, number;

	if (kr_test_kind(test) == KR_TEST_NOT)
		return !x->deletes; /* of a whole key: present */
	if (x->deletes)
		return token.i == KR_TOKEN_ABSENT.i || kr_test_kind(test) == KR_TEST_OR_ABSENT;
	if (token.i == KR_TOKEN_ABSENT.i)
		return false;
	if (part && kr_grow_kind(g, whole) == KR_KIND_LIST)
		return g->w->h->txns.at[x->txn.i].id.i == label;
	if (x->item.i != KR_NONE)
		return x->item.i == (part ? label : token.i);
	return part || !left_by(g, o->key, write, &left) ||
		(kr_analyze_integer(g->w, token, &number) && left == number);
}

/* That an element is missing which nobody deleted contradicts who saw it, and took it for an initial one that
 * is not told. If it was an aborted transaction's, or a number from which its transaction raised a mark at
 * once, he read that. */
static enum kr_status blame_who_saw(const struct kr_sets *sets, const uint8_t *presence,
	const struct kr_observation *missed, struct kr_anomaly *anomaly)
{
	const struct kr_growing *g = sets->growing;
	kr_key k = anomaly->key;
	kr_txn vain = {KR_NONE};
	bool gone = false;

	for (uint32_t i = g->write_first[k.i]; i < g->write_first[k.i + 1] && !gone; i++) {
		kr_txn t = g->writes[i].txn;

		if (g->writes[i].item.i != label_of(sets, missed->key))
			continue;
		gone = presence[t.i] == KR_ABSENT_TXN;
		if (gone || kr_analyze_version(sets->writes, missed->key, t) == KR_NONE)
			vain = t;
	}
	for (uint32_t i = 0; i < sets->nobs && vain.i != KR_NONE; i++) {
		const struct kr_observation *o = &sets->obs[i];

		KR_TRY(kr_ctx_tick(g->w->ctx));
		if (o->key.i != missed->key.i || o->set == KR_NONE || o->txn.i == vain.i ||
			kr_test_argument(sets->test[o->set]) == KR_TOKEN_ABSENT.i ||
			g->w->h->txns.at[o->txn.i].status != KR_COMMITTED)
			continue;
		*anomaly = (struct kr_anomaly){gone ? KR_ABORTED_READ : KR_INTERMEDIATE_READ, o->txn, o->op,
			k, vain};
		break;
	}
	return KR_OK;
}

enum kr_status kr_analyze_grow_name(const struct kr_sets *sets, const uint8_t *presence,
	const struct kr_observation *o, struct kr_anomaly *anomaly)
{
	const struct kr_growing *g = sets->growing;
	bool part = o->key.i >= g->w->h->keys.n;
	kr_key k = part ? sets->writes->parts[o->key.i - g->w->h->keys.n].of : o->key;

	anomaly->key = k;
	anomaly->kind = KR_GARBAGE_READ;
	for (uint32_t i = g->write_first[k.i]; i < g->write_first[k.i + 1]; i++) {
		const struct kr_grow_write *x = &g->writes[i];
		bool own = x->txn.i == o->txn.i;

		KR_TRY(kr_ctx_tick(g->w->ctx));
		if ((own && x->op < o->op) || !explains(sets, k, o, i))
			continue;
		if (!own) {
			anomaly->kind =
				presence[x->txn.i] == KR_ABSENT_TXN ? KR_ABORTED_READ : KR_INTERMEDIATE_READ;
			anomaly->other = x->txn;
			return KR_OK;
		}
		anomaly->kind = KR_FUTURE_READ;
	}
	if (anomaly->kind == KR_GARBAGE_READ && kr_history_untold(g->w->h) &&
		kr_grow_kind(g, k) != KR_KIND_LIST && part)
		return blame_who_saw(sets, presence, o, anomaly);
	return KR_OK;
}

/* ---- the end ---- */

enum kr_status kr_analyze_grow_orders(const struct kr_growing *growing, bool any_anomaly, struct kr_asg *asg,
	struct kr_analyze_pairs *orders)
{
	KR_TRY(kr_lists_orders(growing, asg, orders));
	KR_TRY(kr_ranks_orders(growing, any_anomaly, asg, orders));
	return kr_counters_sums(growing, asg);
}
