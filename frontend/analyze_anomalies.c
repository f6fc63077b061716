/* Non-cyclic anomalies of committed transactions: internal inconsistencies, and observations that have no
 * candidate left, named by who did write the value.
 *
 * A value that a transaction in T wrote, but not last, makes it an intermediate read; else one that only
 * transactions without effect wrote an aborted read; else one that the observer itself wrote later a future
 * read; else it is a garbage read. Who wrote what is collected in one pass over the operations, and only when
 * somebody asks. "Anything but a value" is explained by either of two writes of different values to the key.
 * Linear. */
#include "frontend/analyze_work.h"

#include <string.h>

#define ANOMALIES_MOST 1000

/* ---- who wrote what ---- */

/* Whether t's write, intermediate or last, can be no version because t took no effect. An intermediate write
 * is one whether t did or not. */
static bool is_aborted(const struct kr_work *w, kr_txn t, bool intermediate)
{
	return w->h->txns.at[t.i].status == KR_ABORTED ||
		(!intermediate && w->asg->txns[t.i].presence == KR_ABSENT_TXN);
}

static void add_source(struct kr_work *w, kr_txn t, uint32_t set, bool intermediate)
{
	struct kr_sources *s = &w->sources[set];

	if (is_aborted(w, t, intermediate)) {
		if (s->aborted.i == KR_NONE)
			s->aborted = t;
	} else if (intermediate && s->intermediate[0].i == KR_NONE) {
		s->intermediate[0] = t;
	} else if (intermediate && s->intermediate[0].i != t.i && s->intermediate[1].i == KR_NONE) {
		s->intermediate[1] = t;
	}
}

static void add_trace(struct kr_work *w, kr_txn t, kr_key k, kr_value value, bool intermediate)
{
	struct kr_traces *traces = &w->traces[k.i];

	if (traces->at[0].txn.i == KR_NONE) {
		traces->at[0].txn = t;
		traces->at[0].value = value;
		traces->at[0].intermediate = intermediate;
	} else if (traces->at[1].txn.i == KR_NONE && traces->at[0].value.i != value.i) {
		traces->at[1].txn = t;
		traces->at[1].value = value;
		traces->at[1].intermediate = intermediate;
	}
}

/* The write is what these sets stand for. */
static enum kr_status add_to_sets(struct kr_work *w, kr_txn t, struct kr_row write, bool intermediate)
{
	kr_key k = write.key;
	uint32_t set = kr_analyze_find_set(w, k, kr_test_is(kr_token_of(write.value)));

	if (set != KR_NONE)
		add_source(w, t, set, intermediate);
	set = w->any_source && !intermediate ? kr_analyze_find_set(w, k, kr_test_source(t)) : KR_NONE;
	if (set != KR_NONE)
		add_source(w, t, set, false);
	for (uint32_t s = kr_analyze_other_sets(w, k); s < w->key_sets[k.i + 1]; s++) {
		KR_TRY(kr_ctx_tick(w->ctx));
		if (kr_analyze_fits(w, w->test[s], k, kr_token_of(write.value)))
			add_source(w, t, s, intermediate);
	}
	return KR_OK;
}

static enum kr_status add_writes(struct kr_work *w, kr_txn t, const struct kr_operation *op)
{
	for (uint32_t n = kr_write_count(w->h, op); n-- > 0;) {
		struct kr_row write = kr_analyze_write(w, op, n);
		bool intermediate = w->stamp[write.key.i] == t.i;

		KR_TRY(kr_ctx_tick(w->ctx));
		w->stamp[write.key.i] = t.i;
		if (kr_analyze_grows(w, write.key) || write.value.i == KR_NONE)
			continue; /* nobody can tell the value */
		KR_TRY(add_to_sets(w, t, write, intermediate));
		if (w->any_complement)
			add_trace(w, t, write.key, write.value, intermediate);
	}
	return KR_OK;
}

static enum kr_status add_all_writes(struct kr_work *w)
{
	memset(w->stamp, 0xff, w->h->keys.n * sizeof *w->stamp);
	for (uint32_t t = 0; t < w->h->txns.n; t++) {
		const struct kr_transaction *txn = &w->h->txns.at[t];

		for (uint32_t i = txn->op_count; i-- > 0;) {
			KR_TRY(kr_ctx_tick(w->ctx));
			KR_TRY(add_writes(w, (kr_txn){t}, &w->h->ops.at[txn->op_first + i]));
		}
	}
	return KR_OK;
}

enum kr_status kr_analyze_sources(struct kr_work *w)
{
	if (w->sources)
		return KR_OK;

	struct kr_sources *sources = KR_NEW_ARRAY(&w->scratch, struct kr_sources, w->asg->nsets);

	if (!sources)
		return KR_NOMEM;
	memset(sources, 0xff, w->asg->nsets * sizeof *sources);
	w->sources = sources;
	if (w->any_complement) {
		w->traces = KR_NEW_ARRAY(&w->scratch, struct kr_traces, w->asg->nkeys);
		if (!w->traces)
			return KR_NOMEM;
		memset(w->traces, 0xff, w->asg->nkeys * sizeof *w->traces);
	}
	return add_all_writes(w);
}

bool kr_analyze_written(const struct kr_work *w, uint32_t set)
{
	const struct kr_asg_set *s = &w->asg->sets[set];
	bool by_version = s->count > 0 &&
		w->asg->versions[w->asg->members[s->first + s->count - 1].i].writer.i != KR_NONE;

	return by_version || w->sources[set].aborted.i != KR_NONE ||
		w->sources[set].intermediate[0].i != KR_NONE;
}

/* ---- naming ---- */

static kr_txn other_than(const kr_txn pair[2], kr_txn t) { return pair[0].i == t.i ? pair[1] : pair[0]; }

static void name_test(const struct kr_work *w, const struct kr_observation *o, struct kr_anomaly *out)
{
	const struct kr_sources *sources = &w->sources[o->set];
	kr_txn intermediate = other_than(sources->intermediate, o->txn);
	kr_version own = kr_asg_version_of(w->asg, o->txn, o->key);
	bool is_own = (own.i != KR_NONE && kr_analyze_holds(w, o->set, own.i)) ||
		sources->intermediate[0].i != KR_NONE;

	if (intermediate.i != KR_NONE) {
		out->kind = KR_INTERMEDIATE_READ;
		out->other = intermediate;
	} else if (sources->aborted.i != KR_NONE) {
		out->kind = KR_ABORTED_READ;
		out->other = sources->aborted;
	} else {
		out->kind = is_own ? KR_FUTURE_READ : KR_GARBAGE_READ;
	}
}

static void name_complement(const struct kr_work *w, const struct kr_observation *o, struct kr_anomaly *out)
{
	const struct kr_traces *traces = &w->traces[o->key.i];

	out->kind = KR_GARBAGE_READ;
	for (int i = 0; i < 2; i++) {
		kr_txn t = traces->at[i].txn;

		if (t.i == KR_NONE || traces->at[i].value.i == kr_test_argument(w->test[o->set]))
			continue;
		if (t.i == o->txn.i) {
			out->kind = KR_FUTURE_READ;
			continue;
		}
		out->kind =
			is_aborted(w, t, traces->at[i].intermediate) ? KR_ABORTED_READ : KR_INTERMEDIATE_READ;
		out->other = t;
		return;
	}
}

/* ---- the list ---- */

/* A full list makes room for the first anomaly of a kind, so that every kind there is shows: the last one of
 * a kind that has several goes. */
static bool make_room(struct kr_analysis *out, enum kr_anomaly_kind kind)
{
	uint32_t count[KR_ANOMALY_KINDS] = {0};

	for (uint32_t i = 0; i < out->anomalies.n; i++)
		count[out->anomalies.at[i].kind]++;
	if (count[kind] > 0)
		return false;
	for (uint32_t i = out->anomalies.n; i-- > 0;) {
		if (count[out->anomalies.at[i].kind] == 1)
			continue;
		memmove(out->anomalies.at + i, out->anomalies.at + i + 1,
			(out->anomalies.n - i - 1) * sizeof *out->anomalies.at);
		out->anomalies.n--;
		return true;
	}
	return false;
}

static enum kr_status add_anomaly(struct kr_work *w, struct kr_anomaly anomaly)
{
	struct kr_analysis *out = w->out;

	out->anomaly_count++;
	if (out->anomalies.n >= ANOMALIES_MOST && !make_room(out, anomaly.kind))
		return KR_OK;
	return kr_vec_push(w->asg->mem, &out->anomalies, anomaly) ? KR_OK : KR_NOMEM;
}

static enum kr_status add_unexplained(struct kr_work *w, struct kr_observation *o)
{
	struct kr_anomaly anomaly = {.txn = o->txn, .op = o->op, .key = o->key, .other = {KR_NONE}};

	KR_TRY(kr_analyze_sources(w));
	if (o->key.i >= w->h->keys.n || kr_analyze_grows(w, o->key))
		KR_TRY(kr_analyze_grow_name(w, o, &anomaly));
	else if (kr_test_kind(w->test[o->set]) == KR_TEST_NOT)
		name_complement(w, o, &anomaly);
	else
		name_test(w, o, &anomaly);
	return add_anomaly(w, anomaly);
}

/* ---- what was found before ---- */

static int in_file(const void *data, uint32_t a, uint32_t b)
{
	const struct kr_found *found = data;

	return kr_then(KR_ORDER(found[a].txn.i, found[b].txn.i), KR_ORDER(found[a].op, found[b].op));
}

/* Into file order; those of one operation stay as they are. */
static enum kr_status sort_found(struct kr_work *w)
{
	uint32_t n = w->found.n, *order = KR_NEW_ARRAY(&w->scratch, uint32_t, n),
		 *other = KR_NEW_ARRAY(&w->scratch, uint32_t, n);
	struct kr_found *found = KR_NEW_ARRAY(&w->scratch, struct kr_found, n);

	if (!order || !other || !found)
		return KR_NOMEM;
	for (uint32_t i = 0; i < n; i++) {
		order[i] = i;
		found[i] = w->found.at[i];
	}
	kr_sort_ids(order, other, n, in_file, found);
	for (uint32_t i = 0; i < n; i++)
		w->found.at[i] = found[order[i]];
	return KR_OK;
}

/* Whether anybody wrote the value to the key, in whatever way, or it was there at first. */
static bool is_written(const struct kr_work *w, kr_key k, kr_value value)
{
	if (w->asg->keys[k.i].open_initial || w->token[w->asg->keys[k.i].first].i == value.i)
		return true;
	for (uint32_t i = 0; i < w->h->ops.n; i++) {
		const struct kr_operation *op = &w->h->ops.at[i];

		for (uint32_t n = kr_write_count(w->h, op); n-- > 0;) {
			struct kr_row write = kr_analyze_write(w, op, n);

			if (write.key.i == k.i && write.value.i == value.i)
				return true;
		}
	}
	return false;
}

/* The value that the operation showed of the key, or that it was absent; KR_NONE: neither. */
static kr_value shown(const struct kr_history *h, const struct kr_operation *op, kr_key k)
{
	if (!kr_op_is_read(op))
		return KR_UNTOLD;
	if (op->scan == KR_NONE)
		return kr_op_view(op).when == KR_UNSEEN ? KR_UNTOLD : op->a;

	const struct kr_scan *scan = &h->scans.at[op->scan];

	for (uint32_t i = scan->row_first; i < scan->row_first + scan->row_count; i++)
		if (h->rows.at[i].key.i == k.i)
			return h->rows.at[i].value;
	return kr_where_of_values(h, scan) ? KR_UNTOLD : KR_ABSENT;
}

/* Whether the last ones in the list are of the operation, one of them a garbage read of the key. */
static bool is_listed(const struct kr_work *w, const struct kr_found *found)
{
	for (uint32_t i = w->out->anomalies.n; i-- > 0;) {
		const struct kr_anomaly *a = &w->out->anomalies.at[i];

		if (a->txn.i != found->txn.i || a->op != found->op)
			return false;
		if (a->kind == KR_GARBAGE_READ && a->key.i == found->key.i)
			return true;
	}
	return false;
}

/* A value that its reader cannot have seen, since it wrote the key itself, or names another version, and that
 * nobody wrote is garbage, too. */
static bool is_garbage(const struct kr_work *w, const struct kr_found *found)
{
	const struct kr_operation *op = &w->h->ops.at[kr_history_op(w->h, found->txn, found->op).i];
	bool of_values = w->h->keys.at[found->key.i].kind <= KR_KIND_REGISTER &&
		found->kind >= KR_INTERNAL_INCONSISTENCY;

	if (!of_values || w->out->anomalies.n >= ANOMALIES_MOST || is_listed(w, found))
		return false;

	kr_value value = shown(w->h, op, found->key);

	return value.i != KR_NONE && !is_written(w, found->key, value);
}

static enum kr_status add_found(struct kr_work *w, uint32_t *at, kr_txn t, uint32_t before_op)
{
	for (; *at < w->found.n; (*at)++) {
		const struct kr_found *found = &w->found.at[*at];

		if (found->txn.i > t.i || (found->txn.i == t.i && found->op >= before_op))
			break;
		KR_TRY(add_anomaly(w,
			(struct kr_anomaly){found->kind, found->txn, found->op, found->key, found->other}));
		if (is_garbage(w, found))
			KR_TRY(add_anomaly(w,
				(struct kr_anomaly){KR_GARBAGE_READ, found->txn, found->op, found->key,
					found->other}));
	}
	return KR_OK;
}

enum kr_status kr_analyze_anomalies(struct kr_work *w)
{
	struct kr_asg *asg = w->asg;
	uint32_t found = 0;

	KR_TRY(sort_found(w));
	for (uint32_t i = 0; i < asg->nobs; i++) {
		struct kr_observation *o = &asg->obs[i];

		KR_TRY(kr_ctx_tick(w->ctx));
		if (w->h->txns.at[o->txn.i].status != KR_COMMITTED || kr_analyze_candidates(w, o) > 0)
			continue;
		KR_TRY(add_found(w, &found, o->txn, o->op));
		KR_TRY(add_unexplained(w, o));
		o->set = KR_NONE;
		w->changed = true;
	}
	return add_found(w, &found, (kr_txn){KR_NONE}, 0);
}
