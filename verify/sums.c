/* What an observation of a counter says of which increments it counted: its base, the newest absolute version
 * seen, and the increments counted make the number shown.
 *
 * Which were counted are choices ("the observation saw the increment's part by its transaction"); the sum is
 * said by variables for its prefixes: "after the first i terms it is s", each of which leads on by the choice
 * of term i + 1; only those that can still reach the number exist, and on top of an untold initial value all,
 * since each tells what that was. Sums that need too many are left out, which is noted: what they say is not
 * used then. Cost: terms times different prefix sums. */
#include "base/hash.h"
#include "verify/cases.h"

enum { MOST_NODES = 200000 };

struct term {
	uint32_t literal;
	int64_t amount;
};
struct node {
	int64_t sum;
	uint32_t literal;
};
KR_VEC_NAMED(layer, struct node);

struct summing {
	struct kr_cases *c;
	struct kr_sight whole;
	struct kr_count want;
	uint32_t present; /* literal: the observer took effect */
	KR_VEC(struct term) terms;
	KR_VEC(struct term) bases; /* an absent one is 0 */
	KR_VEC(uint32_t) there;    /* literals any of which makes the counter present */
	int64_t *least, *most;     /* per term: bounds of what it and those behind it can add */
	struct layer now, next;
	/* literal: the base is an initial value that is not told; KR_LITERAL_FALSE: it is another one */
	uint32_t from_initial;
	bool free; /* prefix sums on top of that one: all lead to some initial value */
	uint32_t nodes;
	bool too_large;
};

static enum kr_status add_base(struct summing *s, uint32_t base, kr_txn writer, bool absent, int64_t amount)
{
	struct kr_cases *c = s->c;
	uint32_t literal;
	bool candidate;
	KR_TRY(kr_facts_candidate(&c->facts, &c->sights.at[base], writer, &candidate, c->v->err));

	if (!candidate)
		return KR_OK;
	KR_TRY(kr_cases_source(c, base, writer, &literal));
	return kr_vec_add(c->mem, &s->bases, (struct term){literal, absent ? 0 : amount}) ||
		(!absent && !kr_vec_push(c->mem, &s->there, literal));
}

static enum kr_status add_term(struct summing *s, kr_txn writer, int64_t amount)
{
	struct kr_cases *c = s->c;
	struct kr_sight part = s->whole;
	uint32_t id, literal;
	bool candidate;

	part.part = c->v->h->txns.at[writer.i].id;
	KR_TRY(kr_facts_candidate(&c->facts, &part, writer, &candidate, c->v->err));
	if (!candidate)
		return KR_OK;
	KR_TRY(kr_cases_sight(c, &part, &id));
	KR_TRY(kr_cases_source(c, id, writer, &literal));
	KR_TRY(kr_vec_add(c->mem, &s->terms, (struct term){literal, amount}));
	return kr_vec_add(c->mem, &s->there, literal);
}

/* The initial value, which may be any: the counter was there by it if it was not absent. */
static enum kr_status add_untold(struct summing *s, uint32_t base)
{
	struct kr_cases *c = s->c;
	uint32_t absent, there;
	bool candidate;
	KR_TRY(kr_facts_candidate(&c->facts, &c->sights.at[base], (kr_txn){KR_NONE}, &candidate, c->v->err));

	if (!candidate)
		return KR_OK;
	KR_TRY(kr_cases_source(c, base, (kr_txn){KR_NONE}, &s->from_initial));
	KR_TRY(kr_cases_initially_absent(c, s->whole.key, &absent));
	KR_TRY(kr_cases_new(c, &there));
	KR_TRY(kr_cases_imply(c, there, s->from_initial));
	KR_TRY(kr_cases_imply(c, there, kr_cases_negate(absent)));
	return kr_vec_add(c->mem, &s->there, there);
}

static enum kr_status collect(struct summing *s)
{
	struct kr_cases *c = s->c;
	const struct kr_facts *f = &c->facts;
	struct kr_sight part = s->whole;
	kr_key k = s->whole.key;
	uint32_t base;
	bool absent = false;
	int64_t number = 0;

	part.part = KR_ABSENT;
	KR_TRY(kr_cases_sight(c, &part, &base));
	if (f->untold)
		KR_TRY(add_untold(s, base));
	else if (kr_grow_initial_count(c->v->h, k, &absent, &number))
		KR_TRY(add_base(s, base, (kr_txn){KR_NONE}, absent, number));
	for (uint32_t i = f->first[k.i]; i < f->first[k.i + 1]; i++) {
		const struct kr_grow_version *version = &f->grow->versions[i];
		kr_txn writer = f->versions[i].txn;

		if (writer.i == s->whole.txn.i)
			continue;
		KR_TRY(version->relative ? add_term(s, writer, version->amount)
					 : add_base(s, base, writer, version->absent, version->amount));
		KR_TRY(kr_ctx_tick(c->v->ctx));
	}
	return KR_OK;
}

/* ---- the sum ---- */

static bool bound(struct summing *s)
{
	uint32_t n = s->terms.n;

	s->least = kr_mem_alloc(s->c->mem, (size_t)n + 1, sizeof *s->least);
	s->most = kr_mem_alloc(s->c->mem, (size_t)n + 1, sizeof *s->most);
	if (!s->least || !s->most)
		return false;
	for (uint32_t i = n; i-- > 0;) {
		int64_t amount = s->terms.at[i].amount;
		s->too_large |=
			__builtin_add_overflow(s->least[i + 1], amount < 0 ? amount : 0, &s->least[i]);
		s->too_large |= __builtin_add_overflow(s->most[i + 1], amount > 0 ? amount : 0, &s->most[i]);
	}
	return true;
}

/* The literal for "after the first i terms it is `sum`", new where the layer does not have it yet; false
 * where the number wanted is out of reach. */
static enum kr_status reach(struct summing *s, struct layer *layer, struct kr_table *table, uint32_t i,
	int64_t sum, uint32_t *literal)
{
	uint64_t hash = kr_hash_pair((uint64_t)sum, i);
	int64_t rest;
	uint32_t id;

	*literal = KR_LITERAL_FALSE;
	if (__builtin_sub_overflow(s->want.number, sum, &rest) ||
		(!s->free && (rest < s->least[i] || rest > s->most[i])))
		return KR_OK;
	if (i == s->terms.n && s->free)
		return kr_cases_initial_count(s->c, s->whole.key, rest, rest == 0, literal);
	if (i == s->terms.n) {
		*literal = KR_LITERAL_TRUE; /* both bounds are 0: it is the number wanted */
		return KR_OK;
	}
	KR_TABLE_FIND(id, table, hash, layer->at[id].sum == sum);
	if (id != KR_NONE) {
		*literal = layer->at[id].literal;
		return KR_OK;
	}
	KR_TRY(kr_cases_new(s->c, literal));
	s->nodes++;
	return kr_table_push(s->c->mem, table, hash, layer, (struct node){sum, *literal}) ? KR_OK : KR_NOMEM;
}

/* Clause: not a, or not b, or c. */
static enum kr_status lead(struct summing *s, uint32_t a, uint32_t b, uint32_t conclusion)
{
	kr_cases_begin(s->c);
	KR_TRY(kr_cases_add(s->c, kr_cases_negate(a)));
	KR_TRY(kr_cases_add(s->c, kr_cases_negate(b)));
	KR_TRY(kr_cases_add(s->c, conclusion));
	return kr_cases_end(s->c);
}

static enum kr_status step(struct summing *s, uint32_t i, struct kr_table *table)
{
	const struct term *term = &s->terms.at[i];

	for (uint32_t j = 0; j < s->now.n; j++) {
		struct node node = s->now.at[j];
		uint32_t with = KR_LITERAL_FALSE, without;
		int64_t sum;

		KR_TRY(reach(s, &s->next, table, i + 1, node.sum, &without));
		if (!__builtin_add_overflow(node.sum, term->amount, &sum))
			KR_TRY(reach(s, &s->next, table, i + 1, sum, &with));
		KR_TRY(lead(s, node.literal, term->literal, with));
		KR_TRY(lead(s, node.literal, kr_cases_negate(term->literal), without));
		KR_TRY(kr_ctx_tick(s->c->v->ctx));
	}
	return KR_OK;
}

/* How many prefix sums there are is not known beforehand, so they are made, and counted, before any clause
 * says that one of them holds. */
static enum kr_status add_total(struct summing *s)
{
	struct kr_cases *c = s->c;
	struct kr_table table = {0};
	KR_VEC(uint32_t) starts = {0};
	uint32_t literal;
	enum kr_status status = KR_OK;

	kr_vec_clear(&s->now);
	s->nodes = 0;
	for (uint32_t i = 0; i < s->bases.n && status == KR_OK; i++) {
		status = reach(s, &s->now, &table, 0, s->bases.at[i].amount, &literal);
		if (status == KR_OK && !kr_vec_push(c->mem, &starts, literal))
			status = KR_NOMEM;
	}
	kr_table_done(c->mem, &table);
	for (uint32_t i = 0; i < s->terms.n && status == KR_OK && c->sum_nodes + s->nodes <= MOST_NODES;
		i++) {
		struct layer swap = s->now;

		table = (struct kr_table){0};
		kr_vec_clear(&s->next);
		status = step(s, i, &table);
		s->now = s->next;
		s->next = swap;
		kr_table_done(c->mem, &table);
	}
	c->sum_nodes += s->nodes;
	if (c->sum_nodes > MOST_NODES)
		c->skipped = true;
	for (uint32_t i = 0; i < starts.n && status == KR_OK && c->sum_nodes <= MOST_NODES; i++)
		status = lead(s, s->present, s->bases.at[i].literal, starts.at[i]);
	kr_vec_done(c->mem, &starts);
	return status;
}

/* If the observer took effect, the counter was there. */
static enum kr_status add_there(struct summing *s)
{
	kr_cases_begin(s->c);
	KR_TRY(kr_cases_add(s->c, kr_cases_negate(s->present)));
	for (uint32_t i = 0; i < s->there.n; i++)
		KR_TRY(kr_cases_add(s->c, s->there.at[i]));
	return kr_cases_end(s->c);
}

static enum kr_status add(struct summing *s)
{
	KR_TRY(kr_cases_presence(s->c, s->whole.txn, &s->present));
	s->want = kr_grow_count(s->c->v->h, &s->whole);
	if (s->want.test == KR_COUNT_NEVER) {
		kr_vec_clear(&s->there);
		return add_there(s);
	}
	KR_TRY(collect(s));
	if (!bound(s))
		return KR_NOMEM;
	s->c->skipped |= s->too_large;
	if (s->too_large)
		return KR_OK;
	if (s->want.test == KR_COUNT_IS)
		KR_TRY(add_total(s));
	if (s->want.test == KR_COUNT_IS && s->from_initial != KR_LITERAL_FALSE) {
		kr_vec_clear(&s->bases);
		s->free = true;
		KR_TRY(kr_vec_add(s->c->mem, &s->bases, (struct term){s->from_initial, 0}));
		KR_TRY(add_total(s));
	}
	if (!s->want.over && /* own increments make it present, whatever was there */
		((s->want.test == KR_COUNT_IS && s->want.number == 0 && !s->want.or_absent) ||
			s->want.test == KR_COUNT_PRESENT || s->want.test == KR_COUNT_MATCH))
		KR_TRY(add_there(s));
	return KR_OK;
}

enum kr_status kr_cases_add_sum(struct kr_cases *c, uint32_t s)
{
	struct summing sum = {.c = c, .whole = c->sights.at[s], .from_initial = KR_LITERAL_FALSE};
	enum kr_status status = add(&sum);

	kr_mem_free(c->mem, sum.least, (size_t)sum.terms.n + 1, sizeof *sum.least);
	kr_mem_free(c->mem, sum.most, (size_t)sum.terms.n + 1, sizeof *sum.most);
	kr_vec_done(c->mem, &sum.terms);
	kr_vec_done(c->mem, &sum.bases);
	kr_vec_done(c->mem, &sum.there);
	kr_vec_done(c->mem, &sum.now);
	kr_vec_done(c->mem, &sum.next);
	return status;
}
