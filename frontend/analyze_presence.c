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
	struct kr_work *w;
	struct kr_arena tmp;
	uint32_t *observers_first, *observers; /* per set: its observations */
	/* per set: KR_NONE, or the last two that may be real; of a complement: how many were left when last
	 * looked at */
	uint32_t (*last)[2];
	uint64_t *dirty;                      /* keys in `keys` */
	id_stack absent, present, sets, keys; /* work to do, in this order */
	/* what unknown transactions need untold initial values to be */
	KR_VEC(struct need) needs;
	struct kr_table need_table;
};

uint32_t kr_analyze_candidates(const struct kr_work *w, const struct kr_observation *o)
{
	const struct kr_asg *asg = w->asg;
	const struct kr_asg_set *s = &asg->sets[o->set];
	uint32_t n = w->live ? w->live[o->set] : s->count;

	if (s->complement)
		n = (w->live ? w->key_live[o->key.i]
			     : asg->keys[o->key.i + 1].first - asg->keys[o->key.i].first) -
			n;
	if (n == 0 || n > 2)
		return n;
	if (asg->members && s->count == 1 && !s->complement)
		return asg->versions[asg->members[s->first].i].writer.i != o->txn.i;

	kr_version own = kr_asg_version_of(asg, o->txn, o->key);
	bool holds = own.i != KR_NONE && kr_analyze_holds(w, o->set, own.i);

	return n - holds;
}

static enum kr_status push(struct closure *c, id_stack *stack, uint32_t id)
{
	return kr_vec_push(c->w->asg->mem, stack, id) ? KR_OK : KR_NOMEM;
}

static enum kr_status set_shrank(struct closure *c, uint32_t set)
{
	return --c->w->live[set] <= 2 ? push(c, &c->sets, set) : KR_OK;
}

static enum kr_status key_shrank(struct closure *c, kr_key k)
{
	if (!c->w->any_complement || kr_bits_get(c->dirty, k.i))
		return KR_OK;
	kr_bits_set(c->dirty, k.i);
	return push(c, &c->keys, k.i);
}

/* ---- the three rules ---- */

static enum kr_status make_absent(struct closure *c, kr_txn t)
{
	c->w->asg->txns[t.i].presence = KR_ABSENT_TXN;
	c->w->changed = true;
	return push(c, &c->absent, t.i);
}

static enum kr_status make_present(struct closure *c, kr_txn t)
{
	c->w->asg->txns[t.i].presence = KR_PRESENT;
	return push(c, &c->present, t.i);
}

/* Whether what is seen may tell the untold initial value of k. Of a list only the last element is looked at
 * (analyze_lists.c), which tells too little. */
static bool may_be_told(const struct kr_work *w, kr_key k)
{
	return w->asg->keys[k.i].open_initial &&
		(k.i >= w->h->keys.n || w->h->keys.at[k.i].kind != KR_KIND_LIST);
}

/* The initial value of k is what the set, of KR_TEST_IS, stands for. */
static enum kr_status make_initial(struct closure *c, kr_key k, uint32_t set)
{
	struct kr_work *w = c->w;
	uint32_t initial = w->asg->keys[k.i].first;

	w->asg->keys[k.i].open_initial = false;
	w->token[initial] = kr_test_token(w->test[set]);
	w->changed = true;
	for (uint32_t s = w->key_sets[k.i]; s < w->key_sets[k.i + 1]; s++) {
		KR_TRY(kr_ctx_tick(w->ctx));
		if (kr_analyze_holds(w, s, initial) || !kr_analyze_may_start(w, s, k))
			continue;
		if (w->asg->sets[s].complement)
			w->live[s]++; /* one more version that the set does not hold */
		else
			KR_TRY(set_shrank(c, s));
	}
	return key_shrank(c, k);
}

static bool is_possible(const struct kr_work *w, uint32_t set, uint32_t v)
{
	kr_txn writer = w->asg->versions[v].writer;

	if (writer.i != KR_NONE)
		return w->asg->txns[writer.i].presence != KR_ABSENT_TXN;
	return kr_analyze_holds(w, set, v);
}

/* The only candidate of an observation whose positive set counts just one besides the observer's own version;
 * KR_NONE if its writer was found absent since the count. */
static kr_version only_candidate(struct closure *c, const struct kr_observation *o)
{
	const struct kr_asg *asg = c->w->asg;
	const struct kr_asg_set *s = &asg->sets[o->set];
	uint32_t *last = c->last[o->set];

	if (last[0] == KR_NONE) {
		uint32_t n = 0;

		for (uint32_t i = s->first; i < s->first + s->count && n < 2; i++)
			if (is_possible(c->w, o->set, asg->members[i].i))
				last[n++] = asg->members[i].i;
		if (n == 0)
			last[0] = asg->members[s->first].i; /* impossible for good: no second search */
	}
	for (int i = 0; i < 2; i++)
		if (last[i] != KR_NONE && is_possible(c->w, o->set, last[i]) &&
			asg->versions[last[i]].writer.i != o->txn.i)
			return (kr_version){last[i]};
	return (kr_version){KR_NONE};
}

/* Only the untold initial version explains what an unknown transaction saw: if that needs it to be two
 * values, the transaction is absent. */
static enum kr_status need_initial(struct closure *c, const struct kr_observation *o)
{
	struct kr_mem *mem = c->w->asg->mem;
	uint64_t hash = kr_hash_pair(o->key.i, o->txn.i);
	uint32_t id;

	for (kr_table_iter it = kr_table_find(&c->need_table, hash);
		(id = kr_table_next(&c->need_table, &it)) != KR_NONE;) {
		const struct need *n = &c->needs.at[id];
		if (n->key.i == o->key.i && n->txn.i == o->txn.i)
			return n->set == o->set ? KR_OK : make_absent(c, o->txn);
	}
	if (!kr_table_reserve(mem, &c->need_table) ||
		!kr_vec_push(mem, &c->needs, (struct need){o->key, o->txn, o->set}))
		return KR_NOMEM;
	kr_table_insert(&c->need_table, hash, c->needs.n - 1);
	return KR_OK;
}

static enum kr_status look_at(struct closure *c, uint32_t observation)
{
	struct kr_asg *asg = c->w->asg;
	const struct kr_observation *o = &asg->obs[observation];
	const struct kr_asg_txn *txn = &asg->txns[o->txn.i];

	KR_TRY(kr_ctx_tick(c->w->ctx));
	if (txn->presence == KR_ABSENT_TXN)
		return KR_OK;

	uint32_t n = kr_analyze_candidates(c->w, o);

	if (n == 0 && txn->outcome_unknown)
		/* if it was thought to be present, a committed transaction needs it: that one has an
		 * anomaly */
		return make_absent(c, o->txn);

	bool may_need = txn->outcome_unknown && may_be_told(c->w, o->key);

	if (n != 1 || (txn->presence != KR_PRESENT && !may_need) || asg->sets[o->set].complement)
		return KR_OK;

	bool is_value = kr_test_kind(c->w->test[o->set]) == KR_TEST_IS;
	kr_version v = only_candidate(c, o);

	if (v.i == KR_NONE)
		return KR_OK; /* looked at again when the count is put right */
	if (may_need && kr_asg_is_initial(asg, v))
		return is_value ? need_initial(c, o) : KR_OK;
	if (txn->presence != KR_PRESENT)
		return KR_OK;
	if (kr_asg_is_initial(asg, v))
		return may_be_told(c->w, o->key) && is_value && !txn->outcome_unknown
			? make_initial(c, o->key, o->set)
			: KR_OK;
	return asg->txns[asg->versions[v.i].writer.i].presence == KR_OPEN
		? make_present(c, asg->versions[v.i].writer)
		: KR_OK;
}

/* ---- work-list ---- */

/* Version v is no candidate any more. */
static enum kr_status lose_version(struct closure *c, uint32_t v, kr_txn writer)
{
	struct kr_work *w = c->w;
	kr_key k = w->asg->versions[v].key;
	uint32_t set = kr_analyze_find_set(w, k, kr_test_is(w->token[v]));

	if (set != KR_NONE)
		KR_TRY(set_shrank(c, set));
	set = w->any_source ? kr_analyze_find_set(w, k, kr_test_source(writer)) : KR_NONE;
	if (set != KR_NONE)
		KR_TRY(set_shrank(c, set));
	set = w->any_complement ? kr_analyze_find_set(w, k, kr_test_not(w->token[v])) : KR_NONE;
	if (set != KR_NONE)
		w->live[set]--;
	for (uint32_t s = kr_analyze_other_sets(w, k); s < w->key_sets[k.i + 1]; s++) {
		bool complement = w->asg->sets[s].complement;

		KR_TRY(kr_ctx_tick(w->ctx));
		if (kr_analyze_holds(w, s, v) == complement)
			continue;
		if (complement)
			w->live[s]--;
		else
			KR_TRY(set_shrank(c, s));
	}
	w->key_live[k.i]--;
	return key_shrank(c, k);
}

static enum kr_status lose_versions(struct closure *c, uint32_t t)
{
	const struct kr_asg *asg = c->w->asg;

	for (uint32_t i = asg->written_first[t]; i < asg->written_first[t + 1]; i++) {
		KR_TRY(kr_ctx_tick(c->w->ctx));
		KR_TRY(lose_version(c, asg->written[i].i, (kr_txn){t}));
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
	struct kr_work *w = c->w;

	kr_bits_clear(c->dirty, k);
	for (uint32_t s = w->key_sets[k]; s < w->key_sets[k + 1]; s++) {
		uint32_t left = w->key_live[k] - w->live[s];

		KR_TRY(kr_ctx_tick(w->ctx));
		if (!w->asg->sets[s].complement || left > 1 || c->last[s][0] == left)
			continue;
		c->last[s][0] = left;
		KR_TRY(look_at_observers(c, s));
	}
	return KR_OK;
}

static enum kr_status close_rules(struct closure *c)
{
	const struct kr_asg *asg = c->w->asg;

	for (;;) {
		if (c->absent.n) {
			KR_TRY(lose_versions(c, kr_vec_pop(&c->absent)));
		} else if (c->present.n) {
			uint32_t t = kr_vec_pop(&c->present);

			for (uint32_t o = asg->obs_first[t]; o < asg->obs_first[t + 1]; o++)
				KR_TRY(look_at(c, o));
		} else if (c->sets.n) {
			KR_TRY(look_at_observers(c, kr_vec_pop(&c->sets)));
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
	struct kr_work *w = c->w;

	KR_TRY(kr_analyze_sources(w));
	for (uint32_t i = 0; i < w->asg->nobs; i++) {
		const struct kr_observation *o = &w->asg->obs[i];
		bool sure = w->h->txns.at[o->txn.i].status == KR_COMMITTED;

		KR_TRY(kr_ctx_tick(w->ctx));
		if (sure && kr_test_kind(w->test[o->set]) == KR_TEST_IS && may_be_told(w, o->key) &&
			!kr_analyze_written(w, o->set))
			KR_TRY(make_initial(c, o->key, o->set));
	}
	/* collected anew if there are anomalies: by then more transactions may be known to be absent */
	w->sources = NULL;
	return KR_OK;
}

static enum kr_status make_lists(struct closure *c)
{
	struct kr_work *w = c->w;
	struct kr_asg *asg = w->asg;
	uint32_t *first = KR_NEW_ARRAY(&c->tmp, uint32_t, (size_t)asg->nsets + 2);

	c->observers = KR_NEW_ARRAY(&c->tmp, uint32_t, asg->nobs);
	c->last = kr_arena_alloc(&c->tmp, asg->nsets, sizeof *c->last);
	c->dirty = KR_NEW_ARRAY(&c->tmp, uint64_t, KR_BITS_WORDS(asg->nkeys));
	w->live = KR_NEW_ARRAY(&w->scratch, uint32_t, asg->nsets);
	w->key_live = KR_NEW_ARRAY(&w->scratch, uint32_t, asg->nkeys);
	if (!first || !c->observers || !c->last || !c->dirty || !w->live || !w->key_live)
		return KR_NOMEM;
	for (uint32_t o = 0; o < asg->nobs; o++)
		first[asg->obs[o].set + 2]++;
	for (uint32_t s = 0; s < asg->nsets; s++)
		first[s + 2] += first[s + 1];
	for (uint32_t o = 0; o < asg->nobs; o++) {
		KR_TRY(kr_ctx_tick(w->ctx));
		c->observers[first[asg->obs[o].set + 1]++] = o;
	}
	c->observers_first = first;
	memset(c->last, 0xff, asg->nsets * sizeof *c->last);
	for (uint32_t k = 0; k < asg->nkeys; k++) {
		w->key_live[k] = asg->keys[k + 1].first - asg->keys[k].first;
		for (uint32_t s = w->key_sets[k]; s < w->key_sets[k + 1]; s++)
			w->live[s] =
				asg->sets[s].count - (asg->sets[s].complement && asg->keys[k].open_initial);
	}
	return KR_OK;
}

static enum kr_status close_all(struct closure *c)
{
	struct kr_work *w = c->w;

	KR_TRY(make_lists(c));
	if (kr_history_untold(w->h))
		KR_TRY(settle_unwritten(c));
	for (uint32_t o = 0; o < w->asg->nobs; o++)
		KR_TRY(look_at(c, o));
	return close_rules(c);
}

/* ---- what nobody can have seen ---- */

#define ALL (KR_NONE - 1)

struct reach {
	struct kr_work *w;
	struct kr_arena tmp;
	id_stack stack;
	uint64_t *txns, *sets; /* reached */
	uint32_t *complement;  /* per key: the set of KR_TEST_NOT reached so far; KR_NONE: none; ALL: two */
};

static enum kr_status reach_version(struct reach *r, uint32_t v)
{
	kr_txn writer = r->w->asg->versions[v].writer;

	KR_TRY(kr_ctx_tick(r->w->ctx));
	if (writer.i == KR_NONE || r->w->asg->txns[writer.i].presence != KR_OPEN ||
		kr_bits_get(r->txns, writer.i))
		return KR_OK;
	kr_bits_set(r->txns, writer.i);
	return kr_vec_push(r->w->asg->mem, &r->stack, writer.i) ? KR_OK : KR_NOMEM;
}

static enum kr_status reach_set(struct reach *r, uint32_t set, kr_key k)
{
	const struct kr_asg *asg = r->w->asg;
	const struct kr_asg_set *s = &asg->sets[set];

	if (kr_bits_get(r->sets, set))
		return KR_OK;
	kr_bits_set(r->sets, set);
	bool is_not = kr_test_kind(r->w->test[set]) == KR_TEST_NOT;

	if (is_not && r->complement[k.i] != KR_NONE) { /* any two of these hold all versions of the key */
		if (r->complement[k.i] == ALL)
			return KR_OK;
		r->complement[k.i] = ALL;
		for (uint32_t v = asg->keys[k.i].first; v < asg->keys[k.i + 1].first; v++)
			KR_TRY(reach_version(r, v));
		return KR_OK;
	}
	if (!s->complement) {
		for (uint32_t i = s->first; i < s->first + s->count; i++)
			KR_TRY(reach_version(r, asg->members[i].i));
		return KR_OK;
	}
	if (is_not)
		r->complement[k.i] = set;
	for (uint32_t v = asg->keys[k.i].first, i = s->first; v < asg->keys[k.i + 1].first; v++) {
		if (i < s->first + s->count && asg->members[i].i == v)
			i++;
		else
			KR_TRY(reach_version(r, v));
	}
	return KR_OK;
}

static enum kr_status reach_from(struct reach *r, uint32_t t)
{
	const struct kr_asg *asg = r->w->asg;

	for (uint32_t o = asg->obs_first[t]; o < asg->obs_first[t + 1]; o++) {
		KR_TRY(kr_ctx_tick(r->w->ctx));
		KR_TRY(reach_set(r, asg->obs[o].set, asg->obs[o].key));
	}
	return KR_OK;
}

static enum kr_status reach_all(struct reach *r)
{
	struct kr_asg *asg = r->w->asg;

	r->txns = KR_NEW_ARRAY(&r->tmp, uint64_t, KR_BITS_WORDS(asg->ntxns));
	r->sets = KR_NEW_ARRAY(&r->tmp, uint64_t, KR_BITS_WORDS(asg->nsets));
	r->complement = KR_NEW_ARRAY(&r->tmp, uint32_t, asg->nkeys);
	if (!r->txns || !r->sets || !r->complement)
		return KR_NOMEM;
	memset(r->complement, 0xff, asg->nkeys * sizeof *r->complement);
	for (uint32_t t = 0; t < asg->ntxns; t++)
		if (asg->txns[t].presence == KR_PRESENT)
			KR_TRY(reach_from(r, t));
	while (r->stack.n)
		KR_TRY(reach_from(r, kr_vec_pop(&r->stack)));
	for (uint32_t t = 0; t < asg->ntxns; t++) {
		if (asg->txns[t].presence == KR_OPEN && !kr_bits_get(r->txns, t)) {
			asg->txns[t].presence = KR_ABSENT_TXN;
			r->w->changed = true;
		}
	}
	return KR_OK;
}

enum kr_status kr_analyze_presence(struct kr_work *w)
{
	struct kr_mem *mem = w->asg->mem;
	struct closure c = {.w = w};
	struct reach r = {.w = w};

	if (!w->any_open && !kr_history_untold(w->h))
		return KR_OK;
	kr_arena_init(&c.tmp, mem);

	enum kr_status status = close_all(&c);

	kr_vec_done(mem, &c.absent);
	kr_vec_done(mem, &c.present);
	kr_vec_done(mem, &c.sets);
	kr_vec_done(mem, &c.keys);
	kr_vec_done(mem, &c.needs);
	kr_table_done(mem, &c.need_table);
	kr_arena_done(&c.tmp);
	if (status || !w->any_open)
		return status;
	kr_arena_init(&r.tmp, mem);
	status = reach_all(&r);
	kr_vec_done(mem, &r.stack);
	kr_arena_done(&r.tmp);
	return status;
}
