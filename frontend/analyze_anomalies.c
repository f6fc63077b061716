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

/* Who else wrote what a candidate set stands for (not used for KR_TEST_NOT). */
struct source {
	kr_txn intermediate
		[2];    /* two different transactions that wrote it, but not last, and did not abort */
	kr_txn aborted; /* one that took no effect */
};

/* Two writes of different values to one key, by whomever: if something other than `value` was ever written,
 * one of them is it. */
struct trace {
	kr_txn txn;
	kr_value value;
	bool intermediate;
};

struct sources {
	const struct kr_sets *sets;
	const uint8_t *presence;
	struct source *of;         /* per set; NULL: not asked for yet */
	struct trace (*traces)[2]; /* per key; NULL: nothing lists what it does not hold */
};

/* Whether t's write, intermediate or last, can be no version because t took no effect. An intermediate write
 * is one whether t did or not. */
static bool is_aborted(const struct sources *s, kr_txn t, bool intermediate)
{
	return s->sets->w->h->txns.at[t.i].status == KR_ABORTED ||
		(!intermediate && s->presence[t.i] == KR_ABSENT_TXN);
}

static void add_source(struct sources *sources, kr_txn t, uint32_t set, bool intermediate)
{
	struct source *s = &sources->of[set];

	if (is_aborted(sources, t, intermediate)) {
		if (s->aborted.i == KR_NONE)
			s->aborted = t;
	} else if (intermediate && s->intermediate[0].i == KR_NONE) {
		s->intermediate[0] = t;
	} else if (intermediate && s->intermediate[0].i != t.i && s->intermediate[1].i == KR_NONE) {
		s->intermediate[1] = t;
	}
}

/* The write is what these sets stand for. */
static enum kr_status add_write(void *data, kr_txn t, struct kr_row write, bool last)
{
	struct sources *s = data;
	const struct kr_sets *sets = s->sets;
	kr_key k = write.key;
	struct trace *traces = s->traces ? s->traces[k.i] : NULL;

	KR_TRY(kr_ctx_tick(sets->w->ctx));
	if (kr_analyze_grows(sets->writes, k) || write.value.i == KR_NONE)
		return KR_OK; /* nobody can tell the value */
	uint32_t set = kr_analyze_find_set(sets, k, kr_test_is(kr_token_of(write.value)));
	if (set != KR_NONE)
		add_source(s, t, set, !last);
	set = sets->any_source && last ? kr_analyze_find_set(sets, k, kr_test_source(t)) : KR_NONE;
	if (set != KR_NONE)
		add_source(s, t, set, false);
	for (set = kr_analyze_other_sets(sets, k); set < sets->key_sets[k.i + 1]; set++) {
		KR_TRY(kr_ctx_tick(sets->w->ctx));
		if (kr_analyze_fits(sets->w, sets->looks, sets->test[set], k, kr_token_of(write.value)))
			add_source(s, t, set, !last);
	}
	if (traces && traces[0].txn.i == KR_NONE)
		traces[0] = (struct trace){t, write.value, !last};
	else if (traces && traces[1].txn.i == KR_NONE && traces[0].value.i != write.value.i)
		traces[1] = (struct trace){t, write.value, !last};
	return KR_OK;
}

static enum kr_status find_sources(struct sources *s, struct kr_arena *arena)
{
	const struct kr_sets *sets = s->sets;

	if (s->of)
		return KR_OK;
	KR_TRY(kr_arena_new(arena, s->of, sets->nsets));
	memset(s->of, 0xff, sets->nsets * sizeof *s->of);
	if (sets->any_complement) {
		KR_TRY(kr_arena_new(arena, s->traces, sets->writes->nkeys));
		memset(s->traces, 0xff, sets->writes->nkeys * sizeof *s->traces);
	}
	return kr_analyze_each_write(sets->w, sets->writes, true, add_write, s);
}

enum kr_status kr_analyze_written(const struct kr_sets *sets, const uint8_t *presence, struct kr_arena *arena,
	uint64_t **out)
{
	struct sources sources = {.sets = sets, .presence = presence};

	KR_TRY(kr_arena_new(arena, *out, KR_BITS_WORDS(sets->nsets)));
	KR_TRY(find_sources(&sources, arena));
	for (uint32_t s = 0; s < sets->nsets; s++) {
		const struct kr_asg_set *set = &sets->sets[s];
		bool by_version = set->count > 0 &&
			sets->writes->versions[sets->members[set->first + set->count - 1].i].writer.i !=
				KR_NONE;

		if (by_version || sources.of[s].aborted.i != KR_NONE ||
			sources.of[s].intermediate[0].i != KR_NONE)
			kr_bits_set(*out, s);
	}
	return KR_OK;
}

/* ---- naming ---- */

static kr_txn other_than(const kr_txn pair[2], kr_txn t) { return pair[0].i == t.i ? pair[1] : pair[0]; }

static void name_test(const struct sources *s, const struct kr_observation *o, struct kr_anomaly *out)
{
	const struct source *source = &s->of[o->set];
	kr_txn intermediate = other_than(source->intermediate, o->txn);
	uint32_t own = kr_analyze_version(s->sets->writes, o->key, o->txn);
	bool is_own = (own != KR_NONE && kr_analyze_holds(s->sets, o->set, own)) ||
		source->intermediate[0].i != KR_NONE;

	if (intermediate.i != KR_NONE) {
		out->kind = KR_INTERMEDIATE_READ;
		out->other = intermediate;
	} else if (source->aborted.i != KR_NONE) {
		out->kind = KR_ABORTED_READ;
		out->other = source->aborted;
	} else {
		out->kind = is_own ? KR_FUTURE_READ : KR_GARBAGE_READ;
	}
}

static void name_complement(const struct sources *s, const struct kr_observation *o, struct kr_anomaly *out)
{
	out->kind = KR_GARBAGE_READ;
	for (int i = 0; i < 2; i++) {
		const struct trace *trace = &s->traces[o->key.i][i];
		kr_txn t = trace->txn;

		if (t.i == KR_NONE || trace->value.i == kr_test_argument(s->sets->test[o->set]))
			continue;
		if (t.i == o->txn.i) {
			out->kind = KR_FUTURE_READ;
			continue;
		}
		out->kind = is_aborted(s, t, trace->intermediate) ? KR_ABORTED_READ : KR_INTERMEDIATE_READ;
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

static enum kr_status add_anomaly(struct kr_analysis *out, struct kr_anomaly anomaly)
{
	out->anomaly_count++;
	if (out->anomalies.n >= ANOMALIES_MOST && !make_room(out, anomaly.kind))
		return KR_OK;
	return kr_vec_add(out->asg.mem, &out->anomalies, anomaly);
}

static enum kr_status add_unexplained(struct sources *s, const struct kr_observation *o,
	struct kr_analysis *out)
{
	const struct kr_sets *sets = s->sets;
	struct kr_anomaly anomaly = {.txn = o->txn, .op = o->op, .key = o->key, .other = {KR_NONE}};

	KR_TRY(find_sources(s, sets->w->scratch));
	if (o->key.i >= sets->w->h->keys.n || kr_analyze_grows(sets->writes, o->key))
		KR_TRY(kr_analyze_grow_name(sets, s->presence, o, &anomaly));
	else if (kr_test_kind(sets->test[o->set]) == KR_TEST_NOT)
		name_complement(s, o, &anomaly);
	else
		name_test(s, o, &anomaly);
	return add_anomaly(out, anomaly);
}

/* ---- what was found before ---- */

static int in_file(const void *data, uint32_t a, uint32_t b)
{
	const struct kr_anomaly *found = data;

	return kr_then(KR_ORDER(found[a].txn.i, found[b].txn.i), KR_ORDER(found[a].op, found[b].op));
}

/* Into file order; those of one operation stay as they are. */
static enum kr_status sort_found(const struct kr_work *w, const struct kr_observed *observed,
	struct kr_anomaly **out)
{
	uint32_t n = observed->found.n, *order = KR_NEW_ARRAY(w->scratch, uint32_t, n),
		 *other = KR_NEW_ARRAY(w->scratch, uint32_t, n);

	KR_TRY(kr_arena_new(w->scratch, *out, n));
	if (!order || !other)
		return KR_NOMEM;
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	kr_sort_ids(order, other, n, in_file, observed->found.at);
	for (uint32_t i = 0; i < n; i++)
		(*out)[i] = observed->found.at[order[i]];
	return KR_OK;
}

/* Whether anybody wrote the value to the key, in whatever way, or it was there at first. */
static bool is_written(const struct kr_sets *sets, kr_key k, kr_value value)
{
	const struct kr_asg_key *key = &sets->writes->keys[k.i];
	const struct kr_history *h = sets->w->h;

	if (key->open_initial || sets->writes->token[key->first].i == value.i)
		return true;
	for (uint32_t i = 0; i < h->ops.n; i++) {
		const struct kr_operation *op = &h->ops.at[i];

		for (uint32_t n = kr_write_count(h, op); n-- > 0;) {
			struct kr_row write = kr_analyze_write(sets->w, sets->writes, op, n);

			if (write.key.i == k.i && write.value.i == value.i)
				return true;
		}
	}
	return false;
}

/* The value that the operation showed of the key, or that it was absent; KR_NONE: neither. */
static kr_value shown(const struct kr_history *h, const struct kr_operation *op, kr_key k)
{
	struct kr_row row;

	for (uint32_t i = 0; kr_op_is_read(op) && kr_shown_at(h, op, i, &row); i++)
		if (row.key.i == k.i)
			return row.value;
	return !kr_op_scans(op) || !kr_op_is_read(op) || kr_where_of_values(h, &h->scans.at[op->scan])
		? KR_UNTOLD
		: KR_ABSENT;
}

/* Whether the last ones in the list are of the operation, one of them a garbage read of the key. */
static bool is_listed(const struct kr_analysis *out, const struct kr_anomaly *found)
{
	for (uint32_t i = out->anomalies.n; i-- > 0;) {
		const struct kr_anomaly *a = &out->anomalies.at[i];

		if (a->txn.i != found->txn.i || a->op != found->op)
			return false;
		if (a->kind == KR_GARBAGE_READ && a->key.i == found->key.i)
			return true;
	}
	return false;
}

/* A value that its reader cannot have seen, since it wrote the key itself, or names another version, and that
 * nobody wrote is garbage, too. */
static bool is_garbage(const struct kr_sets *sets, const struct kr_analysis *out,
	const struct kr_anomaly *found)
{
	const struct kr_history *h = sets->w->h;
	const struct kr_operation *op = &h->ops.at[kr_history_op(h, found->txn, found->op).i];
	bool of_values =
		h->keys.at[found->key.i].kind <= KR_KIND_REGISTER && found->kind >= KR_INTERNAL_INCONSISTENCY;

	if (!of_values || out->anomalies.n >= ANOMALIES_MOST || is_listed(out, found))
		return false;

	kr_value value = shown(h, op, found->key);

	return value.i != KR_NONE && !is_written(sets, found->key, value);
}

/* Those from *found on that stand before the operation. */
static enum kr_status add_found(const struct kr_sets *sets, struct kr_analysis *out,
	const struct kr_anomaly **found, const struct kr_anomaly *end, kr_txn t, uint32_t before_op)
{
	for (; *found < end; ++*found) {
		struct kr_anomaly anomaly = **found;

		if (anomaly.txn.i > t.i || (anomaly.txn.i == t.i && anomaly.op >= before_op))
			break;
		KR_TRY(add_anomaly(out, anomaly));
		anomaly.kind = KR_GARBAGE_READ;
		if (is_garbage(sets, out, *found))
			KR_TRY(add_anomaly(out, anomaly));
	}
	return KR_OK;
}

enum kr_status kr_analyze_anomalies(const struct kr_observed *observed, const struct kr_settled *settled,
	struct kr_sets *sets, struct kr_analysis *out)
{
	const struct kr_work *w = sets->w;
	struct sources sources = {.sets = sets, .presence = settled->presence};
	struct kr_anomaly *sorted;

	KR_TRY(sort_found(w, observed, &sorted));

	const struct kr_anomaly *found = sorted, *end = sorted + observed->found.n;

	for (uint32_t i = 0; i < sets->nobs; i++) {
		struct kr_observation *o = &sets->obs[i];

		KR_TRY(kr_ctx_tick(w->ctx));
		if (w->h->txns.at[o->txn.i].status != KR_COMMITTED ||
			kr_analyze_candidates(sets, settled, o) > 0)
			continue;
		KR_TRY(add_found(sets, out, &found, end, o->txn, o->op));
		KR_TRY(add_unexplained(&sources, o, out));
		o->set = KR_NONE;
		sets->changed = true;
	}
	return add_found(sets, out, &found, end, (kr_txn){KR_NONE}, 0);
}
