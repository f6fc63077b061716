/* Which unknown transactions showed of a list or set what no world has.
 *
 * A version of a list is the initial elements, unless it has been deleted, and then what whole transactions
 * appended, one after the other; without deletes, of two versions, one begins with the other. So a list that
 * shows elements which nobody else appended, torn, twice or out of order, or that differs from one that a
 * committed transaction read, was never there; and if it was, so were all whose elements it shows. A set has
 * no element twice and none that nobody added; each element was seen, or not, in some version that touches
 * it; and what one transaction alone added is there together. Elements that several transactions appended say
 * nothing here. Cost: linear in the lists; for sets, their elements times the reads by unknown
 * transactions. */
#include "verify/possible.h"

/* Without t, the reader cannot have seen what it shows. */
static enum kr_status rely(struct kr_possible *p, kr_txn reader, kr_txn t)
{
	if (!kr_possible_is_unknown(p, t))
		return KR_OK;
	if (p->f->impossible[t.i])
		return kr_possible_take_away(p, reader);
	KR_TRY(kr_vec_add(&p->ctx->mem, &p->reliances, (struct kr_reliance){reader, p->reliance_of[t.i]}));
	p->reliance_of[t.i] = p->reliances.n - 1;
	return KR_OK;
}

/* The i-th member of an array that was taken apart at `first`. */
static uint32_t member(const struct kr_possible *p, uint32_t first, uint32_t i)
{
	return p->f->grow->members.at[first + i];
}

struct shown { /* an array: members are found by number, since they may move */
	const struct kr_grow_sight *sight;
	uint32_t first, count;
};

static enum kr_status show(const struct kr_possible *p, const struct kr_grow_sight *s, struct shown *out)
{
	out->sight = s;
	return kr_grow_shown(p->f, s->key, s->txn, s->op, s->own_count, &out->first, &out->count);
}

/* ---- lists ---- */

/* What `t` appended stands at place `at`, whole; *next is behind it. */
static enum kr_status check_run(const struct kr_possible *p, const struct shown *s, kr_txn t, uint32_t at,
	uint32_t *next, bool *fits)
{
	const struct kr_history *h = p->f->h;
	uint32_t element;
	bool deletes;

	*next = at;
	for (uint32_t i = kr_grow_left_from(p->f, s->sight->key, t, &deletes);
		i < h->txns.at[t.i].op_count && *fits; i++) {
		const struct kr_operation *op = &h->ops.at[kr_history_op(h, t, i).i];

		if (op->kind != KR_OP_APPEND || op->key.i != s->sight->key.i)
			continue;
		KR_TRY(kr_grow_element(p->f->grow, op->a, &element));
		*fits = *next < s->count && member(p, s->first, *next) == element;
		++*next;
	}
	*fits = *fits && *next > at && !(deletes && at > 0);
	return KR_OK;
}

/* Whether the list can have been there, as far as elements tell that only one transaction appended. */
static enum kr_status check_list(struct kr_possible *p, const struct shown *s, bool *fits)
{
	const struct kr_facts *f = p->f;
	const struct kr_grow_add *add;
	const uint32_t *members = NULL;
	uint32_t at, adds, initials;
	bool initial;
	KR_TRY(kr_grow_array(f->grow, s->sight->key, f->h->keys.at[s->sight->key.i].initial, &members,
		&initials));

	if (initials == KR_NONE)
		return KR_OK;
	if (f->grow->deleted[s->sight->key.i] &&
		(s->count == 0 || initials == 0 || member(p, s->first, 0) != members[0]))
		initials = 0; /* they are gone */
	*fits = s->count >= initials;
	for (at = 0; at < initials && *fits; at++)
		*fits = member(p, s->first, at) == members[at];
	p->marks++;
	while (at < s->count && *fits) {
		KR_TRY(kr_grow_appender(f, s->sight->key, member(p, s->first, at), &add, &adds, &initial));
		if (adds > 1 || initial)
			return KR_OK;
		*fits = adds == 1 && add->txn.i != s->sight->txn.i && p->mark[add->txn.i] != p->marks;
		if (!*fits)
			break;
		p->mark[add->txn.i] = p->marks;
		KR_TRY(rely(p, s->sight->txn, add->txn));
		KR_TRY(check_run(p, s, add->txn, at, &at, fits));
		KR_TRY(kr_ctx_tick(p->ctx));
	}
	return KR_OK;
}

/* Whether one of the list and the longest one that a committed transaction read begins with the other. */
static enum kr_status check_beginning(const struct kr_possible *p, const struct shown *s, bool *fits)
{
	const struct kr_grow_sight *longest;
	struct shown other;

	KR_TRY(kr_grow_longest(p->f, s->sight->key, &longest));
	if (!longest || p->f->grow->deleted[s->sight->key.i])
		return KR_OK;
	KR_TRY(show(p, longest, &other));
	for (uint32_t i = 0; *fits && i < s->count && i < other.count; i++)
		*fits = member(p, s->first, i) == member(p, other.first, i);
	return KR_OK;
}

/* ---- sets ---- */

static enum kr_status in_array(const struct kr_possible *p, const struct shown *s, uint32_t element,
	uint32_t end, bool *out)
{
	*out = false;
	for (uint32_t i = 0; i < end && !*out; i++)
		*out = member(p, s->first, i) == element;
	return kr_ctx_tick(p->ctx);
}

/* What `t` alone added, or what else it added, that nobody can have taken away: all of it is shown. */
static enum kr_status check_whole(const struct kr_possible *p, const struct shown *s, kr_txn t, bool *fits)
{
	const struct kr_history *h = p->f->h;
	uint32_t element;

	for (uint32_t i = 0; i < h->txns.at[t.i].op_count && *fits; i++) {
		const struct kr_operation *op = &h->ops.at[kr_history_op(h, t, i).i];

		if (op->kind != KR_OP_ADD || op->key.i != s->sight->key.i)
			continue;
		KR_TRY(kr_grow_element(p->f->grow, op->a, &element));
		KR_TRY(in_array(p, s, element, s->count, fits));
	}
	return KR_OK;
}

static enum kr_status check_set(const struct kr_possible *p, const struct shown *s, bool *fits)
{
	const struct kr_facts *f = p->f;
	bool grows_only = !f->grow->deleted[s->sight->key.i] && s->sight->own_count == 0, initial,
	     twice = false;
	const struct kr_grow_add *add;
	uint32_t adds;

	for (uint32_t i = 0; i < s->count && *fits; i++) {
		uint32_t element = member(p, s->first, i);

		KR_TRY(kr_grow_appender(f, s->sight->key, element, &add, &adds, &initial));
		KR_TRY(in_array(p, s, element, i, &twice));
		*fits = !twice && (adds > 0 || initial || kr_grow_may_start_with(f, s->sight->key, element));
		if (*fits && grows_only && adds == 1 && !initial && !f->untold &&
			add->txn.i != s->sight->txn.i)
			KR_TRY(check_whole(p, s, add->txn, fits));
	}
	return KR_OK;
}

/* Each element that was added, in the eyes of each unknown transaction that read the set. */
static enum kr_status watch_element(struct kr_possible *p, const struct kr_grow_add *add)
{
	const struct kr_facts *f = p->f;
	const struct kr_grow *g = f->grow;
	kr_value part = f->h->ops.at[kr_history_op(f->h, add->txn, add->op).i].a;

	for (uint32_t i = g->sight_first[add->key.i]; i < g->sight_first[add->key.i + 1]; i++) {
		struct kr_sight sight;
		const char *wrong = NULL;

		if (!kr_possible_is_unknown(p, g->sights[i].txn) || f->impossible[g->sights[i].txn.i] ||
			!kr_facts_sight(f, g->sights[i].txn, g->sights[i].op, add->key, part, &sight) ||
			sight.saw.test != KR_SAW_VALUE)
			continue;
		KR_TRY(kr_grow_check_part(f, &sight, &wrong));
		if (!wrong)
			KR_TRY(kr_possible_watch(p, &sight));
	}
	return KR_OK;
}

/* ---- all of it ---- */

/* Whether the initial elements of a list were there, which others may have deleted. */
static enum kr_status watch_initial(struct kr_possible *p, const struct kr_grow_sight *sight)
{
	const char *wrong = NULL;
	struct kr_sight s;

	if (!p->f->grow->deleted[sight->key.i] ||
		!kr_facts_sight(p->f, sight->txn, sight->op, sight->key, KR_ABSENT, &s))
		return KR_OK;
	KR_TRY(kr_grow_check_part(p->f, &s, &wrong));
	return wrong ? KR_OK : kr_possible_watch(p, &s);
}

static enum kr_status check_sight(struct kr_possible *p, const struct kr_grow_sight *sight)
{
	enum kr_grow_mode mode = kr_facts_mode(p->f, sight->key);
	struct shown s;
	bool fits = true;

	if (!kr_possible_is_unknown(p, sight->txn) || p->f->impossible[sight->txn.i] ||
		(mode != KR_GROW_SET && (mode != KR_GROW_LIST || p->f->untold)))
		return KR_OK;
	KR_TRY(show(p, sight, &s));
	if (s.count == KR_NONE)
		return KR_OK;
	KR_TRY(mode == KR_GROW_SET ? check_set(p, &s, &fits) : check_list(p, &s, &fits));
	if (fits && mode == KR_GROW_LIST)
		KR_TRY(check_beginning(p, &s, &fits));
	if (!fits)
		return kr_possible_take_away(p, sight->txn);
	return mode == KR_GROW_LIST ? watch_initial(p, sight) : KR_OK;
}

enum kr_status kr_possible_grow(struct kr_possible *p)
{
	const struct kr_grow *g = p->f->grow;

	for (uint32_t i = 0; i < g->sight_count; i++)
		KR_TRY(check_sight(p, &g->sights[i]));
	for (uint32_t i = 0; i < g->adds.n; i++) {
		const struct kr_grow_add *add = &g->adds.at[i];
		kr_table_iter it = kr_grow_adds(g, add->key, add->element);

		/* each element once */
		if (kr_facts_mode(p->f, add->key) == KR_GROW_SET &&
			kr_grow_next_add(g, &it, add->key, add->element) == add)
			KR_TRY(watch_element(p, add));
	}
	return KR_OK;
}
