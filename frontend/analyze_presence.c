/* Which unknown transactions certainly took effect or need not be considered, and which untold initial values
 * are known after all.
 *
 * A work-list closes three rules that hold in every world: an unknown transaction with an observation that
 * has no candidate is absent, and its versions are candidates no more; the one candidate of a present
 * transaction's observation is real, so its writer is present; and if a committed transaction's one candidate
 * is a key's untold initial version, the initial value is the one seen (and an unknown transaction that needs
 * it to be two values is absent). Then what no present transaction can have seen, directly or through others,
 * is absent: taking those transactions out of a world leaves every source in place and only removes edges, so
 * no world is lost that matters (docs/asg.md). Cost: linear; a set's observers are looked at only when it is
 * down to two candidates, one and none. Sets of one key that list what they do not hold are looked at
 * together, once per batch of versions lost. The second rule is not applied to them: they hold nearly
 * everything. */
#include "frontend/analyze_work.h"

#include <string.h>

typedef KR_VEC(uint32_t) id_stack;

struct need {
	kr_key key;
	kr_txn txn;
	uint32_t set;
};

struct closure {
	const struct kr_work *w;
	const struct kr_sets *sets;
	struct kr_writes *writes;
	struct kr_settled *out;
	struct kr_arena tmp;
	struct kr_asg index;                   /* of versions by writer: nothing else */
	uint32_t *observers_first, *observers; /* per set: its observations */
	/* per set: KR_NONE, or the last two that may be real; of a complement: how many were left when last
	 * looked at */
	uint32_t (*last)[2];
	uint64_t *dirty;                           /* keys in `keys` */
	id_stack absent, present, sets_left, keys; /* work to do, in this order */
	/* what unknown transactions need untold initial values to be */
	KR_VEC(struct need) needs;
	struct kr_table need_table;
};

uint32_t kr_analyze_candidates(const struct kr_sets *sets, const struct kr_settled *settled,
	const struct kr_observation *o)
{
	const struct kr_writes *writes = sets->writes;
	const struct kr_asg_set *s = &sets->sets[o->set];
	uint32_t n = settled->live ? settled->live[o->set] : s->count;

	if (s->complement)
		n = (settled->live ? settled->key_live[o->key.i]
				   : writes->keys[o->key.i + 1].first - writes->keys[o->key.i].first) -
			n;
	if (n == 0 || n > 2)
		return n;
	if (s->count == 1 && !s->complement)
		return writes->versions[sets->members[s->first].i].writer.i != o->txn.i;

	uint32_t own = kr_analyze_version(writes, o->key, o->txn);
	bool holds = own != KR_NONE && kr_analyze_holds(sets, o->set, own);

	return n - holds;
}

static enum kr_status push(struct closure *c, id_stack *stack, uint32_t id)
{
	return kr_vec_add(c->w->mem, stack, id);
}

static enum kr_status set_shrank(struct closure *c, uint32_t set)
{
	return --c->out->live[set] <= 2 ? push(c, &c->sets_left, set) : KR_OK;
}

static enum kr_status key_shrank(struct closure *c, kr_key k)
{
	if (!c->sets->any_complement || kr_bits_get(c->dirty, k.i))
		return KR_OK;
	kr_bits_set(c->dirty, k.i);
	return push(c, &c->keys, k.i);
}

/* ---- the three rules ---- */

static enum kr_status make_absent(struct closure *c, kr_txn t)
{
	c->out->presence[t.i] = KR_ABSENT_TXN;
	c->out->changed = true;
	return push(c, &c->absent, t.i);
}

static enum kr_status make_present(struct closure *c, kr_txn t)
{
	c->out->presence[t.i] = KR_PRESENT;
	return push(c, &c->present, t.i);
}

/* Whether what is seen may tell the untold initial value of k. Of a list only the last element is looked at
 * (analyze_lists.c), which tells too little. */
static bool may_be_told(const struct closure *c, kr_key k)
{
	const struct kr_history *h = c->w->h;

	return c->writes->keys[k.i].open_initial &&
		(k.i >= h->keys.n || h->keys.at[k.i].kind != KR_KIND_LIST);
}

/* The initial value of k is what the set, of KR_TEST_IS, stands for. */
static enum kr_status make_initial(struct closure *c, kr_key k, uint32_t set)
{
	const struct kr_sets *sets = c->sets;
	uint32_t initial = c->writes->keys[k.i].first;

	c->writes->keys[k.i].open_initial = false;
	c->writes->token[initial] = kr_test_token(sets->test[set]);
	c->out->changed = true;
	for (uint32_t s = sets->key_sets[k.i]; s < sets->key_sets[k.i + 1]; s++) {
		KR_TRY(kr_ctx_tick(c->w->ctx));
		if (kr_analyze_holds(sets, s, initial) || !kr_analyze_may_start(sets, s, k))
			continue;
		if (sets->sets[s].complement)
			c->out->live[s]++; /* one more version that the set does not hold */
		else
			KR_TRY(set_shrank(c, s));
	}
	return key_shrank(c, k);
}

static bool is_possible(const struct closure *c, uint32_t set, uint32_t v)
{
	kr_txn writer = c->writes->versions[v].writer;

	if (writer.i != KR_NONE)
		return c->out->presence[writer.i] != KR_ABSENT_TXN;
	return kr_analyze_holds(c->sets, set, v);
}

/* The only candidate of an observation whose positive set counts just one besides the observer's own version;
 * KR_NONE if its writer was found absent since the count. */
static uint32_t only_candidate(struct closure *c, const struct kr_observation *o)
{
	const struct kr_sets *sets = c->sets;
	const struct kr_asg_set *s = &sets->sets[o->set];
	uint32_t *last = c->last[o->set];

	if (last[0] == KR_NONE) {
		uint32_t n = 0;

		for (uint32_t i = s->first; i < s->first + s->count && n < 2; i++)
			if (is_possible(c, o->set, sets->members[i].i))
				last[n++] = sets->members[i].i;
		if (n == 0)
			last[0] = sets->members[s->first].i; /* impossible for good: no second search */
	}
	for (int i = 0; i < 2; i++)
		if (last[i] != KR_NONE && is_possible(c, o->set, last[i]) &&
			c->writes->versions[last[i]].writer.i != o->txn.i)
			return last[i];
	return KR_NONE;
}

/* Only the untold initial version explains what an unknown transaction saw: if that needs it to be two
 * values, the transaction is absent. */
static enum kr_status need_initial(struct closure *c, const struct kr_observation *o)
{
	uint64_t hash = kr_hash_pair(o->key.i, o->txn.i);
	uint32_t id;

	KR_TABLE_FIND(id, &c->need_table, hash,
		c->needs.at[id].key.i == o->key.i && c->needs.at[id].txn.i == o->txn.i);
	if (id != KR_NONE)
		return c->needs.at[id].set == o->set ? KR_OK : make_absent(c, o->txn);
	return kr_table_push(c->w->mem, &c->need_table, hash, &c->needs,
		       (struct need){o->key, o->txn, o->set})
		? KR_OK
		: KR_NOMEM;
}

static enum kr_status look_at(struct closure *c, uint32_t observation)
{
	const struct kr_sets *sets = c->sets;
	const struct kr_observation *o = &sets->obs[observation];
	bool present = c->out->presence[o->txn.i] == KR_PRESENT,
	     unknown = c->w->h->txns.at[o->txn.i].status == KR_UNKNOWN;

	KR_TRY(kr_ctx_tick(c->w->ctx));
	if (c->out->presence[o->txn.i] == KR_ABSENT_TXN)
		return KR_OK;

	uint32_t n = kr_analyze_candidates(sets, c->out, o);

	if (n == 0 && unknown)
		/* if it was thought to be present, a committed transaction needs it: that one has an
		 * anomaly */
		return make_absent(c, o->txn);

	bool may_need = unknown && may_be_told(c, o->key);

	if (n != 1 || (!present && !may_need) || sets->sets[o->set].complement)
		return KR_OK;

	bool is_value = kr_test_kind(sets->test[o->set]) == KR_TEST_IS;
	uint32_t v = only_candidate(c, o);

	if (v == KR_NONE)
		return KR_OK; /* looked at again when the count is put right */

	kr_txn writer = c->writes->versions[v].writer;

	if (may_need && writer.i == KR_NONE)
		return is_value ? need_initial(c, o) : KR_OK;
	if (!present)
		return KR_OK;
	if (writer.i == KR_NONE)
		return may_be_told(c, o->key) && is_value && !unknown ? make_initial(c, o->key, o->set)
								      : KR_OK;
	return c->out->presence[writer.i] == KR_OPEN ? make_present(c, writer) : KR_OK;
}

/* ---- work-list ---- */

/* Version v is no candidate any more. */
static enum kr_status lose_version(struct closure *c, uint32_t v)
{
	const struct kr_sets *sets = c->sets;
	kr_key k = c->writes->versions[v].key;
	kr_token token = c->writes->token[v];
	uint32_t set = kr_analyze_find_set(sets, k, kr_test_is(token));

	if (set != KR_NONE)
		KR_TRY(set_shrank(c, set));
	set = sets->any_source ? kr_analyze_find_set(sets, k, kr_test_source(c->writes->versions[v].writer))
			       : KR_NONE;
	if (set != KR_NONE)
		KR_TRY(set_shrank(c, set));
	set = sets->any_complement ? kr_analyze_find_set(sets, k, kr_test_not(token)) : KR_NONE;
	if (set != KR_NONE)
		c->out->live[set]--;
	for (uint32_t s = kr_analyze_other_sets(sets, k); s < sets->key_sets[k.i + 1]; s++) {
		bool complement = sets->sets[s].complement;

		KR_TRY(kr_ctx_tick(c->w->ctx));
		if (kr_analyze_holds(sets, s, v) == complement)
			continue;
		if (complement)
			c->out->live[s]--;
		else
			KR_TRY(set_shrank(c, s));
	}
	c->out->key_live[k.i]--;
	return key_shrank(c, k);
}

static enum kr_status lose_versions(struct closure *c, uint32_t t)
{
	for (uint32_t i = c->index.written_first[t]; i < c->index.written_first[t + 1]; i++) {
		KR_TRY(kr_ctx_tick(c->w->ctx));
		KR_TRY(lose_version(c, c->index.written[i].i));
	}
	return KR_OK;
}

static enum kr_status look_at_observers(struct closure *c, uint32_t set)
{
	for (uint32_t i = c->observers_first[set]; i < c->observers_first[set + 1]; i++)
		KR_TRY(look_at(c, c->observers[i]));
	return KR_OK;
}

/* The sets of k that list what they do not hold: those with at most one candidate left, when that is news. */
static enum kr_status look_at_complements(struct closure *c, uint32_t k)
{
	const struct kr_sets *sets = c->sets;

	kr_bits_clear(c->dirty, k);
	for (uint32_t s = sets->key_sets[k]; s < sets->key_sets[k + 1]; s++) {
		uint32_t left = c->out->key_live[k] - c->out->live[s];

		KR_TRY(kr_ctx_tick(c->w->ctx));
		if (!sets->sets[s].complement || left > 1 || c->last[s][0] == left)
			continue;
		c->last[s][0] = left;
		KR_TRY(look_at_observers(c, s));
	}
	return KR_OK;
}

static enum kr_status close_rules(struct closure *c)
{
	const uint32_t *first = c->sets->obs_first;

	for (;;) {
		if (c->absent.n) {
			KR_TRY(lose_versions(c, kr_vec_pop(&c->absent)));
		} else if (c->present.n) {
			uint32_t t = kr_vec_pop(&c->present);

			for (uint32_t o = first[t]; o < first[t + 1]; o++)
				KR_TRY(look_at(c, o));
		} else if (c->sets_left.n) {
			KR_TRY(look_at_observers(c, kr_vec_pop(&c->sets_left)));
		} else if (c->keys.n) {
			KR_TRY(look_at_complements(c, kr_vec_pop(&c->keys)));
		} else {
			return KR_OK;
		}
	}
}

/* A value that nobody wrote must be the initial one. Done before the rest, so that of two explanations for an
 * untold initial value the blameless one wins. */
static enum kr_status settle_unwritten(struct closure *c)
{
	const struct kr_sets *sets = c->sets;
	uint64_t *written;

	KR_TRY(kr_analyze_written(sets, c->out->presence, &c->tmp, &written));
	for (uint32_t i = 0; i < sets->nobs; i++) {
		const struct kr_observation *o = &sets->obs[i];
		bool sure = c->w->h->txns.at[o->txn.i].status == KR_COMMITTED;

		KR_TRY(kr_ctx_tick(c->w->ctx));
		if (sure && kr_test_kind(sets->test[o->set]) == KR_TEST_IS && may_be_told(c, o->key) &&
			!kr_bits_get(written, o->set))
			KR_TRY(make_initial(c, o->key, o->set));
	}
	return KR_OK;
}

static enum kr_status make_lists(struct closure *c)
{
	const struct kr_sets *sets = c->sets;
	const struct kr_asg_key *keys = c->writes->keys;
	struct kr_settled *out = c->out;
	uint32_t nkeys = c->writes->nkeys, *first = KR_NEW_ARRAY(&c->tmp, uint32_t, (size_t)sets->nsets + 2);

	KR_TRY(kr_arena_new(&c->tmp, c->observers, sets->nobs));
	KR_TRY(kr_arena_new(&c->tmp, c->last, sets->nsets));
	KR_TRY(kr_arena_new(&c->tmp, c->dirty, KR_BITS_WORDS(nkeys)));
	KR_TRY(kr_arena_new(c->w->scratch, out->live, sets->nsets));
	KR_TRY(kr_arena_new(c->w->scratch, out->key_live, nkeys));
	if (!first)
		return KR_NOMEM;
	for (uint32_t o = 0; o < sets->nobs; o++)
		first[sets->obs[o].set + 2]++;
	kr_index_places(first, sets->nsets);
	for (uint32_t o = 0; o < sets->nobs; o++) {
		KR_TRY(kr_ctx_tick(c->w->ctx));
		c->observers[first[sets->obs[o].set + 1]++] = o;
	}
	c->observers_first = first;
	memset(c->last, 0xff, sets->nsets * sizeof *c->last);
	for (uint32_t k = 0; k < nkeys; k++) {
		out->key_live[k] = keys[k + 1].first - keys[k].first;
		for (uint32_t s = sets->key_sets[k]; s < sets->key_sets[k + 1]; s++)
			out->live[s] =
				sets->sets[s].count - (sets->sets[s].complement && keys[k].open_initial);
	}
	return KR_OK;
}

static enum kr_status close_all(struct closure *c)
{
	KR_TRY(kr_asg_index(&c->index));
	KR_TRY(make_lists(c));
	if (kr_history_untold(c->w->h))
		KR_TRY(settle_unwritten(c));
	for (uint32_t o = 0; o < c->sets->nobs; o++)
		KR_TRY(look_at(c, o));
	return close_rules(c);
}

/* ---- what nobody can have seen ---- */

#define ALL (KR_NONE - 1)

struct reach {
	const struct kr_work *w;
	const struct kr_sets *sets;
	uint8_t *presence;
	struct kr_arena tmp;
	id_stack stack;
	uint64_t *txns, *sets_met; /* reached */
	uint32_t *complement; /* per key: the set of KR_TEST_NOT reached so far; KR_NONE: none; ALL: two */
};

static enum kr_status reach_version(struct reach *r, uint32_t v)
{
	kr_txn writer = r->sets->writes->versions[v].writer;

	KR_TRY(kr_ctx_tick(r->w->ctx));
	if (writer.i == KR_NONE || r->presence[writer.i] != KR_OPEN || kr_bits_get(r->txns, writer.i))
		return KR_OK;
	kr_bits_set(r->txns, writer.i);
	return kr_vec_add(r->w->mem, &r->stack, writer.i);
}

static enum kr_status reach_set(struct reach *r, uint32_t set, kr_key k)
{
	const struct kr_asg_key *key = &r->sets->writes->keys[k.i];
	const struct kr_asg_set *s = &r->sets->sets[set];
	const kr_version *members = r->sets->members;

	if (kr_bits_get(r->sets_met, set))
		return KR_OK;
	kr_bits_set(r->sets_met, set);
	bool is_not = kr_test_kind(r->sets->test[set]) == KR_TEST_NOT;

	if (is_not && r->complement[k.i] != KR_NONE) { /* any two of these hold all versions of the key */
		if (r->complement[k.i] == ALL)
			return KR_OK;
		r->complement[k.i] = ALL;
		for (uint32_t v = key->first; v < key[1].first; v++)
			KR_TRY(reach_version(r, v));
		return KR_OK;
	}
	if (!s->complement) {
		for (uint32_t i = s->first; i < s->first + s->count; i++)
			KR_TRY(reach_version(r, members[i].i));
		return KR_OK;
	}
	if (is_not)
		r->complement[k.i] = set;
	for (uint32_t v = key->first, i = s->first; v < key[1].first; v++) {
		if (i < s->first + s->count && members[i].i == v)
			i++;
		else
			KR_TRY(reach_version(r, v));
	}
	return KR_OK;
}

static enum kr_status reach_from(struct reach *r, uint32_t t)
{
	const struct kr_sets *sets = r->sets;

	for (uint32_t o = sets->obs_first[t]; o < sets->obs_first[t + 1]; o++) {
		KR_TRY(kr_ctx_tick(r->w->ctx));
		KR_TRY(reach_set(r, sets->obs[o].set, sets->obs[o].key));
	}
	return KR_OK;
}

static enum kr_status reach_all(struct reach *r, struct kr_settled *out)
{
	uint32_t ntxns = r->w->h->txns.n, nkeys = r->sets->writes->nkeys;

	KR_TRY(kr_arena_new(&r->tmp, r->txns, KR_BITS_WORDS(ntxns)));
	KR_TRY(kr_arena_new(&r->tmp, r->sets_met, KR_BITS_WORDS(r->sets->nsets)));
	KR_TRY(kr_arena_new(&r->tmp, r->complement, nkeys));
	memset(r->complement, 0xff, nkeys * sizeof *r->complement);
	for (uint32_t t = 0; t < ntxns; t++)
		if (r->presence[t] == KR_PRESENT)
			KR_TRY(reach_from(r, t));
	while (r->stack.n)
		KR_TRY(reach_from(r, kr_vec_pop(&r->stack)));
	for (uint32_t t = 0; t < ntxns; t++) {
		if (r->presence[t] == KR_OPEN && !kr_bits_get(r->txns, t)) {
			r->presence[t] = KR_ABSENT_TXN;
			out->changed = true;
		}
	}
	return KR_OK;
}

enum kr_status kr_analyze_presence(const struct kr_work *w, const struct kr_observed *observed,
	const struct kr_sets *sets, struct kr_writes *writes, struct kr_settled *out)
{
	uint32_t ntxns = w->h->txns.n;
	struct closure c = {.w = w, .sets = sets, .writes = writes, .out = out};
	struct reach r = {.w = w, .sets = sets};

	*out = (struct kr_settled){.presence = KR_NEW_ARRAY(w->scratch, uint8_t, ntxns)};
	if (!out->presence)
		return KR_NOMEM;
	memcpy(out->presence, observed->presence, ntxns);
	if (!observed->any_open && !kr_history_untold(w->h))
		return KR_OK;
	kr_arena_init(&c.tmp, w->mem);
	kr_asg_init(&c.index, w->mem);
	c.index.ntxns = ntxns;
	c.index.nversions = writes->nversions;
	c.index.versions = writes->versions;

	enum kr_status status = close_all(&c);

	kr_vec_done(w->mem, &c.absent);
	kr_vec_done(w->mem, &c.present);
	kr_vec_done(w->mem, &c.sets_left);
	kr_vec_done(w->mem, &c.keys);
	kr_vec_done(w->mem, &c.needs);
	kr_table_done(w->mem, &c.need_table);
	kr_asg_done(&c.index);
	kr_arena_done(&c.tmp);
	if (status || !observed->any_open)
		return status;
	r.presence = out->presence;
	kr_arena_init(&r.tmp, w->mem);
	status = reach_all(&r, out);
	kr_vec_done(w->mem, &r.stack);
	kr_arena_done(&r.tmp);
	return status;
}
