/* Initial values that the trace does not tell. What it tells of them nevertheless:
 *
 * All versions of a list that nobody deletes begin with the initial one, so a list that a committed
 * transaction read has it for its beginning. If nobody who may have taken effect appended the last element of
 * the shortest such list, that element was there at first, and so the whole list was: it is the initial one.
 * An empty one, or none, tells as much. Reads over a transaction's own elements are not looked at.
 *
 * Of other keys observations agree on the initial version as their source when they saw the same (ir/asg.h).
 * "Anything but a", or "does not match", agree with others without being the same. If some value is what
 * every observation of the key allows, the initial value may as well be that one: no other would allow more
 * worlds. Values to try are those seen, "absent", and, where there are no conditions, one that nobody
 * mentions. If none will do, they are left out. Linear in the operations, the text of the lists read, and the
 * writes of each list told so; each key tries as many values as it takes to rule them out. */
#include "frontend/analyze_grow.h"
#include "frontend/history_written.h"

/* ---- what they may be ---- */

bool kr_grow_open(const struct kr_growing *g, kr_key k)
{
	bool unwritten = g->w->h->initial == KR_INITIAL_UNWRITTEN &&
		(kr_grow_kind(g, k) == KR_KIND_SET || kr_grow_kind(g, k) == KR_KIND_MARK);

	return g->versions->keys[k.i].open_initial && !unwritten;
}

bool kr_analyze_may_start(const struct kr_sets *sets, uint32_t set, kr_key k)
{
	const struct kr_history *h = sets->w->h;
	kr_token token = kr_test_token(sets->test[set]);

	if (kr_test_kind(sets->test[set]) != KR_TEST_IS || k.i >= h->keys.n || token.i == KR_TOKEN_ABSENT.i)
		return true;
	if (h->initial == KR_INITIAL_UNWRITTEN && h->keys.at[k.i].kind == KR_KIND_LIST)
		return kr_grow_find(sets->growing, k, (kr_item){token.i}) == NULL;
	return kr_history_may_start(h, k, (kr_value){token.i});
}

/* ---- lists ---- */

struct shortest {
	kr_value value; /* KR_NONE: no read */
	uint32_t count;
	struct kr_piece last;
};

struct telling {
	struct kr_growing *g;
	struct shortest *of; /* per key of the trace */
	uint32_t *wrote;     /* per key of the trace: 1 + who wrote it last */
};

static void show(struct telling *t, kr_key k, kr_value value, kr_txn reader)
{
	const struct kr_value_entry *array = kr_history_value(t->g->w->h, value);
	struct shortest *s = &t->of[k.i], read = {.value = value};

	if (kr_grow_kind(t->g, k) != KR_KIND_LIST || t->wrote[k.i] == reader.i + 1 ||
		(array->type != KR_VALUE_ARRAY && array->type != KR_VALUE_ABSENT))
		return;
	for (size_t at = 1;
		array->type == KR_VALUE_ARRAY && kr_piece_next(array->text, array->length, &at, &read.last);)
		read.count++;
	if (s->value.i == KR_NONE || read.count < s->count)
		*s = read;
}

static void look_at(struct telling *t, const struct kr_operation *op, kr_txn reader)
{
	const struct kr_history *h = t->g->w->h;
	struct kr_row row;

	for (uint32_t i = 0; kr_shown_at(h, op, i, &row); i++)
		show(t, row.key, row.value, reader);
	if (!kr_op_scans(op) && kr_write_count(h, op) > 0)
		t->wrote[op->key.i] = reader.i + 1;
}

static enum kr_status find_shortest(struct telling *t)
{
	const struct kr_history *h = t->g->w->h;

	for (uint32_t i = 0; i < h->txns.n; i++) {
		const struct kr_transaction *txn = &h->txns.at[i];

		for (uint32_t o = txn->op_first;
			txn->status == KR_COMMITTED && o < txn->op_first + txn->op_count; o++) {
			KR_TRY(kr_ctx_tick(t->g->w->ctx));
			look_at(t, &h->ops.at[o], (kr_txn){i});
		}
	}
	return KR_OK;
}

/* Whether somebody who may have taken effect appends the element to k, or deletes k. */
static enum kr_status may_be_later(struct kr_growing *g, kr_key k, struct kr_piece element, bool *out)
{
	kr_item last = {element.length > 0 ? kr_elements_find(&g->numbered, element).i : KR_NONE};

	*out = false;
	for (uint32_t i = g->write_first[k.i]; i < g->write_first[k.i + 1] && !*out; i++) {
		if (kr_grow_aborted(g, g->writes[i].txn))
			continue;
		*out = g->writes[i].deletes || g->writes[i].item.i == last.i;
		KR_TRY(kr_ctx_tick(g->w->ctx));
	}
	return KR_OK;
}

enum kr_status kr_grow_initial(struct kr_growing *g, struct kr_writes *writes)
{
	const struct kr_work *w = g->w;
	uint32_t nkeys = w->h->keys.n;
	struct telling t = {.g = g};

	KR_TRY(kr_arena_new(w->scratch, g->initial, nkeys));
	for (uint32_t k = 0; k < nkeys; k++)
		g->initial[k] = w->h->keys.at[k].initial;
	if (w->h->initial != KR_INITIAL_UNKNOWN)
		return KR_OK;
	KR_TRY(kr_arena_new(w->scratch, t.of, nkeys));
	KR_TRY(kr_arena_new(w->scratch, t.wrote, nkeys));
	for (uint32_t k = 0; k < nkeys; k++)
		t.of[k].value.i = KR_NONE;
	KR_TRY(find_shortest(&t));
	for (kr_key k = {0}; k.i < nkeys; k.i++) {
		bool later = true;

		if (kr_grow_kind(g, k) == KR_KIND_LIST && t.of[k.i].value.i != KR_NONE)
			KR_TRY(may_be_later(g, k, t.of[k.i].last, &later));
		if (later)
			continue;
		g->initial[k.i] = t.of[k.i].count > 0 ? t.of[k.i].value : KR_ABSENT;
		writes->keys[k.i].open_initial = false;
		g->told_lists = true;
	}
	return KR_OK;
}

/* ---- what suits all ---- */

struct untold {
	const struct kr_settled *settled;
	struct kr_writes *writes;
	struct kr_sets *sets;
	uint64_t *used; /* bits: sets that somebody observes */
};

static bool counts(const struct untold *u, const struct kr_observation *o)
{
	return u->writes->keys[o->key.i].open_initial && o->set != KR_NONE &&
		u->settled->presence[o->txn.i] != KR_ABSENT_TXN;
}

/* Whether every observation of k allows the initial value to be this one. */
static bool suits_all(const struct untold *u, kr_key k, kr_token token)
{
	const struct kr_sets *sets = u->sets;

	for (uint32_t s = sets->key_sets[k.i]; s < sets->key_sets[k.i + 1]; s++)
		if (kr_bits_get(u->used, s) && kr_test_kind(sets->test[s]) != KR_TEST_SOURCE &&
			kr_analyze_may_start(sets, s, k) &&
			!kr_analyze_fits(sets->w, sets->looks, sets->test[s], k, token))
			return false;
	return true;
}

static bool find_value(const struct untold *u, kr_key k, kr_token *out)
{
	const struct kr_sets *sets = u->sets;
	bool conditions = false;
	uint32_t tried = 0;

	for (uint32_t s = sets->key_sets[k.i]; s < sets->key_sets[k.i + 1]; s++) {
		enum kr_test_kind kind = kr_test_kind(sets->test[s]);

		conditions |= kr_bits_get(u->used, s) && kind > KR_TEST_OR_ABSENT;
		if (!kr_bits_get(u->used, s) || (kind != KR_TEST_IS && kind != KR_TEST_OR_ABSENT) ||
			!kr_analyze_may_start(sets, s, k))
			continue;
		*out = kr_test_token(sets->test[s]);
		/* a third value seen agrees with the first two as little as they with each other */
		if (tried++ < 2 && suits_all(u, k, *out))
			return true;
	}
	*out = KR_TOKEN_ABSENT;
	if (suits_all(u, k, *out))
		return true;
	*out = KR_TOKEN_THERE;
	return !conditions && suits_all(u, k, *out);
}

/* Leaves out all that was seen of k but values and named versions. */
static enum kr_status forget_others(struct kr_sets *sets, kr_key k)
{
	for (uint32_t i = 0; i < sets->nobs; i++) {
		struct kr_observation *o = &sets->obs[i];
		enum kr_test_kind kind =
			o->key.i == k.i && o->set != KR_NONE ? kr_test_kind(sets->test[o->set]) : KR_TEST_IS;

		KR_TRY(kr_ctx_tick(sets->w->ctx));
		if (kind != KR_TEST_IS && kind != KR_TEST_SOURCE)
			o->set = KR_NONE;
	}
	return KR_OK;
}

static enum kr_status settle(struct untold *u, const struct kr_observation *o)
{
	struct kr_asg_key *key = &u->writes->keys[o->key.i];
	kr_token token;

	if (!counts(u, o) || kr_test_kind(u->sets->test[o->set]) == KR_TEST_IS ||
		kr_test_kind(u->sets->test[o->set]) == KR_TEST_SOURCE)
		return KR_OK;
	if (!find_value(u, o->key, &token)) {
		kr_analyze_leave_out(u->sets->w, o->txn, o->op,
			"seeing that a key of unknown initial value does not hold a certain value");
		return forget_others(u->sets, o->key);
	}
	key->open_initial = false;
	u->writes->token[key->first] = token;
	return KR_OK;
}

/* Of lists only the last element is looked at: that they end alike does not make initial values equal, nor
 * are there others to agree with. */
static void release_lists(struct untold *u)
{
	const struct kr_history *h = u->sets->w->h;

	for (uint32_t k = 0; k < h->keys.n; k++)
		if (h->keys.at[k].kind == KR_KIND_LIST && u->writes->keys[k].open_initial) {
			u->writes->keys[k].open_initial = false;
			u->sets->changed = true;
		}
}

enum kr_status kr_analyze_untold(const struct kr_settled *settled, struct kr_writes *writes,
	struct kr_sets *sets)
{
	const struct kr_work *w = sets->w;
	struct untold u = {settled, writes, sets, NULL};

	if (!kr_history_untold(w->h))
		return KR_OK;
	release_lists(&u);
	if (!sets->any_complement && !sets->any_where)
		return KR_OK;
	sets->changed = true; /* untold initial versions are listed by complements, too */
	KR_TRY(kr_arena_new(w->scratch, u.used, KR_BITS_WORDS(sets->nsets)));
	for (uint32_t i = 0; i < sets->nobs; i++) {
		KR_TRY(kr_ctx_tick(w->ctx));
		if (counts(&u, &sets->obs[i]))
			kr_bits_set(u.used, sets->obs[i].set);
	}
	for (uint32_t i = 0; i < sets->nobs; i++) {
		KR_TRY(kr_ctx_tick(w->ctx));
		KR_TRY(settle(&u, &sets->obs[i]));
	}
	return KR_OK;
}
