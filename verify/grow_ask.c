/* What an observation of a key that grows says of its versions.
 *
 * Lists: grow_lists.c. A set is seen element by element: the newest version that touches an element, by
 * adding it or by deleting the set, tells whether it is there; a mark in the same way, number by number. A
 * counter with known versions is a register of numbers. One with increments of unknown result is seen
 * increment by increment: an increment is counted where the newest version among it and the absolute ones is
 * its own; which ones are, the sum tells (sums.c). Cost: linear in the array at hand and in the operations of
 * the transactions at hand. */
#include "base/hash.h"
#include "base/order.h"
#include "frontend/where.h"
#include "verify/facts.h"

/* ---- looking up ---- */

const struct kr_grow_sight *kr_grow_sight(const struct kr_facts *f, kr_key k, kr_txn t, uint32_t op)
{
	const struct kr_grow *g = f->grow;
	uint32_t first = g ? g->sight_first[k.i] : 0, end = g ? g->sight_first[k.i + 1] : 0, at;

	KR_BISECT(at, first, end,
		kr_then(KR_ORDER(g->sights[at].txn.i, t.i), KR_ORDER(g->sights[at].op, op)) < 0);
	return at < end && g->sights[at].txn.i == t.i && g->sights[at].op == op ? &g->sights[at] : NULL;
}

kr_table_iter kr_grow_adds(const struct kr_grow *g, kr_key k, uint32_t element)
{
	return kr_table_find(&g->add_table, kr_hash_pair(k.i, element));
}

const struct kr_grow_add *kr_grow_next_add(const struct kr_grow *g, kr_table_iter *it, kr_key k,
	uint32_t element)
{
	uint32_t id;

	while ((id = kr_table_next(&g->add_table, it)) != KR_NONE)
		if (g->adds.at[id].key.i == k.i && g->adds.at[id].element == element)
			return &g->adds.at[id];
	return NULL;
}

static enum kr_status in_initial(const struct kr_facts *f, kr_key k, uint32_t element, bool *out)
{
	const uint32_t *members;
	uint32_t count;

	KR_TRY(kr_grow_array(f->grow, k, f->h->keys.at[k.i].initial, &members, &count));
	*out = false;
	for (uint32_t i = 0; count != KR_NONE && i < count; i++)
		*out |= members[i] == element;
	return KR_OK;
}

bool kr_grow_may_start_with(const struct kr_facts *f, kr_key k, uint32_t element)
{
	kr_table_iter it = kr_grow_adds(f->grow, k, element);

	return f->untold &&
		(f->h->initial != KR_INITIAL_UNWRITTEN || !kr_grow_next_add(f->grow, &it, k, element));
}

enum kr_status kr_grow_appender(const struct kr_facts *f, kr_key k, uint32_t element,
	const struct kr_grow_add **out, uint32_t *count, bool *initial)
{
	const struct kr_grow_add *add;

	*out = NULL;
	*count = 0;
	for (kr_table_iter it = kr_grow_adds(f->grow, k, element);
		(add = kr_grow_next_add(f->grow, &it, k, element));) {
		if (f->h->txns.at[add->txn.i].status == KR_ABORTED)
			continue;
		*out = add;
		++*count;
	}
	return in_initial(f, k, element, initial);
}

/* The largest number is in, and what was there before is out where it was deleted. */
static enum kr_status number_left(const struct kr_facts *f, kr_key k, kr_txn t, uint32_t end,
	uint32_t element, enum kr_membership *out)
{
	const struct kr_history *h = f->h;
	const struct kr_operation *most = NULL;
	uint32_t number;

	*out = KR_MEMBER_UNTOUCHED;
	for (uint32_t i = end; i-- > 0 && *out == KR_MEMBER_UNTOUCHED;) {
		const struct kr_operation *op = &h->ops.at[kr_history_op(h, t, i).i];

		if (op->key.i != k.i || kr_effect_count(h, op) == 0)
			continue;
		if (op->kind == KR_OP_DELETE)
			*out = KR_MEMBER_OUT;
		else if (op->kind == KR_OP_MAX &&
			(!most ||
				kr_history_value(h, op->a)->integer > kr_history_value(h, most->a)->integer))
			most = op;
	}
	if (most)
		KR_TRY(kr_grow_element(f->grow, most->a, &number));
	if (most && number == element)
		*out = KR_MEMBER_IN;
	return KR_OK;
}

enum kr_status kr_grow_member(const struct kr_facts *f, kr_key k, kr_txn t, uint32_t end, uint32_t element,
	enum kr_membership *out)
{
	const struct kr_history *h = f->h;
	uint32_t number;

	if (kr_grow_is_mark(f->grow, k))
		return number_left(f, k, t, end, element, out);
	*out = KR_MEMBER_UNTOUCHED;
	for (uint32_t i = end; i-- > 0 && *out == KR_MEMBER_UNTOUCHED;) {
		const struct kr_operation *op = &h->ops.at[kr_history_op(h, t, i).i];

		if (op->key.i != k.i || kr_effect_count(h, op) == 0)
			continue;
		if (op->kind == KR_OP_DELETE)
			*out = KR_MEMBER_OUT;
		if (op->kind != KR_OP_ADD)
			continue;
		KR_TRY(kr_grow_element(f->grow, op->a, &number));
		if (number == element)
			*out = KR_MEMBER_IN;
	}
	return KR_OK;
}

static uint32_t op_count(const struct kr_facts *f, kr_txn t) { return f->h->txns.at[t.i].op_count; }

enum kr_status kr_grow_shown(const struct kr_facts *f, kr_key k, kr_txn t, uint32_t op, uint32_t own_count,
	uint32_t *first, uint32_t *count)
{
	const uint32_t *members;
	struct kr_saw saw = kr_saw_of(f->h, &f->h->ops.at[kr_history_op(f->h, t, op).i], k);

	*first = 0;
	*count = KR_NONE;
	if (saw.test != KR_SAW_VALUE)
		return KR_OK;
	KR_TRY(kr_grow_array(f->grow, k, saw.value, &members, count));
	if (*count != KR_NONE && *count > 0)
		*first = (uint32_t)(members - f->grow->members.at);
	if (*count != KR_NONE && f->h->keys.at[k.i].kind == KR_KIND_LIST)
		*count = *count < own_count ? KR_NONE : *count - own_count;
	return KR_OK;
}

/* ---- counters ---- */

static struct kr_count count_told(const struct kr_history *h, const struct kr_operation *op, int64_t own)
{
	struct kr_count want = {.test = KR_COUNT_IS};
	int64_t delta, result;

	if (!kr_grow_integer(h, op->a, &delta) || !kr_grow_integer(h, op->b, &result) ||
		__builtin_sub_overflow(result, delta, &want.number) ||
		__builtin_sub_overflow(want.number, own, &want.number))
		return (struct kr_count){.test = KR_COUNT_NEVER};
	want.or_absent = want.number == 0;
	return want;
}

struct kr_count kr_grow_count(const struct kr_history *h, const struct kr_sight *s)
{
	const struct kr_operation *op = &h->ops.at[kr_history_op(h, s->txn, s->op).i];
	struct kr_count want = {.test = KR_COUNT_IS,
		.scan = s->saw.scan,
		.over = s->own_count > 0,
		.own = s->own};

	switch (s->saw.test) {
	case KR_SAW_UNTOLD: return count_told(h, op, s->own);
	case KR_SAW_OTHER:
		want.test = s->saw.value.i == KR_ABSENT.i ? KR_COUNT_PRESENT : KR_COUNT_NEVER;
		return want;
	case KR_SAW_MATCH: want.test = KR_COUNT_MATCH; return want;
	case KR_SAW_NO_MATCH: want.test = KR_COUNT_NO_MATCH; return want;
	default: break;
	}
	if (s->saw.test == KR_SAW_VALUE && s->saw.value.i == KR_ABSENT.i)
		want.test = KR_COUNT_ABSENT;
	else if (s->saw.test != KR_SAW_VALUE || !kr_grow_integer(h, s->saw.value, &want.number) ||
		__builtin_sub_overflow(want.number, s->own, &want.number))
		want.test = KR_COUNT_NEVER;
	want.or_absent = want.number == 0 && (op->kind == KR_OP_READ || s->own_count > 0);
	return want;
}

bool kr_grow_count_allows(const struct kr_history *h, const struct kr_count *want, kr_key k, bool absent,
	int64_t number)
{
	struct kr_operand operand = {.type = KR_VALUE_INT, .integer = number};

	switch (want->test) {
	case KR_COUNT_NEVER: return false;
	case KR_COUNT_IS: return absent ? want->or_absent : number == want->number;
	case KR_COUNT_ABSENT: return absent;
	case KR_COUNT_PRESENT: return want->over || !absent;
	default: break;
	}
	if (want->over) {
		number = absent ? 0 : number;
		if (__builtin_add_overflow(number, want->own, &operand.integer))
			return false;
		absent = false;
	}
	bool matches = !absent && kr_where_holds_of(h, &h->scans.at[want->scan], k, &operand);
	return matches == (want->test == KR_COUNT_MATCH);
}

bool kr_grow_initial_count(const struct kr_history *h, kr_key k, bool *absent, int64_t *number)
{
	kr_value value = h->keys.at[k.i].initial;

	*absent = value.i == KR_ABSENT.i;
	return kr_grow_integer(h, value, number) || *absent;
}

static const struct kr_grow_version *counter_version(const struct kr_facts *f, kr_key k, kr_txn t)
{
	const struct kr_fact_version *version = kr_facts_version(f, k, t);

	return version ? &f->grow->versions[version - f->versions] : NULL;
}

static bool counter_candidate(const struct kr_facts *f, const struct kr_sight *s, kr_txn writer)
{
	struct kr_count want = kr_grow_count(f->h, s);
	bool absent;
	int64_t number;

	if (writer.i == KR_NONE)
		return f->untold ||
			(kr_grow_initial_count(f->h, s->key, &absent, &number) &&
				kr_grow_count_allows(f->h, &want, s->key, absent, number));
	const struct kr_grow_version *version = counter_version(f, s->key, writer);
	return version && kr_grow_count_allows(f->h, &want, s->key, version->absent, version->amount);
}

/* The same of the key as a whole, of which no more is judged than whether it is there. */
static bool presence_allows(const struct kr_facts *f, const struct kr_count *want, kr_key k,
	const struct kr_grow_version *version)
{
	bool absent;
	int64_t number;

	if (!version && f->untold)
		return want->test != KR_COUNT_NEVER; /* it may have been there, or not: initial_cases.c */
	if (!version && !kr_grow_initial_count(f->h, k, &absent, &number))
		return false;
	if (version)
		absent = !version->relative && version->absent;
	switch (want->test) {
	case KR_COUNT_NEVER: return false;
	case KR_COUNT_ABSENT:
	case KR_COUNT_NO_MATCH: return absent;
	case KR_COUNT_IS: return !absent || want->or_absent;
	default: return !absent;
	}
}

/* Whether `writer` has a version of the part that lies in the set that the observation leaves: the value as a
 * whole is judged by the sum. */
static bool sum_candidate(const struct kr_facts *f, const struct kr_sight *s, kr_txn writer)
{
	struct kr_count want = kr_grow_count(f->h, s);
	const struct kr_grow_version *version =
		writer.i == KR_NONE ? NULL : counter_version(f, s->key, writer);
	bool base = s->part.i == KR_ABSENT.i, absent;
	int64_t number;

	if (writer.i != KR_NONE && !version)
		return false;
	if (s->part.i == KR_NONE)
		return presence_allows(f, &want, s->key, version);
	if (version && version->relative)
		return !base && f->h->txns.at[writer.i].id.i == s->part.i && want.test != KR_COUNT_ABSENT &&
			want.test != KR_COUNT_NO_MATCH;
	if (!base || (want.test != KR_COUNT_ABSENT && want.test != KR_COUNT_NO_MATCH))
		return true;
	if (version)
		return version->absent;
	if (f->untold)
		return true;
	return kr_grow_initial_count(f->h, s->key, &absent, &number) && absent;
}

enum kr_status kr_grow_vague(const struct kr_facts *f, kr_key k, const char *why, struct kr_err *err)
{
	char name[64];

	return kr_err_set(err, KR_UNSUPPORTED, "what was seen of %s is not checked: %s",
		kr_history_brief(f->h, f->h->keys.at[k.i].name, name, sizeof name), why);
}

/* ---- presence ---- */

/* Whether a scan's conditions hold of every present array, of none, or that depends on its elements. */
static enum kr_status arrays_match(const struct kr_facts *f, kr_key k, const struct kr_saw *saw, bool *out,
	struct kr_err *err)
{
	const struct kr_scan *scan = &f->h->scans.at[saw->scan];
	struct kr_operand any = {.type = KR_VALUE_ARRAY, .text = {"[]", 2}};

	if (kr_grow_is_mark(f->grow, k) ? kr_where_of_values(f->h, scan) : kr_where_of_elements(f->h, scan))
		return kr_grow_vague(f, k, "a condition asks for what is in it", err);
	*out = kr_where_holds_of(f->h, scan, k, &any);
	return KR_OK;
}

enum kr_status kr_grow_presence_allows(const struct kr_facts *f, kr_key k, const struct kr_saw *saw,
	bool present, bool *out, struct kr_err *err)
{
	const struct kr_value_entry *e =
		saw->test == KR_SAW_VALUE ? kr_history_value(f->h, saw->value) : NULL;
	bool shown = saw->test != KR_SAW_NO_MATCH &&
		(!e || (e->type != KR_VALUE_ABSENT && !(e->type == KR_VALUE_ARRAY && e->length == 2)));
	bool matches = true;

	if (saw->test == KR_SAW_MATCH || saw->test == KR_SAW_NO_MATCH)
		KR_TRY(arrays_match(f, k, saw, &matches, err));
	*out = (present && matches) == shown;
	return KR_OK;
}

enum kr_status kr_grow_initial_is_empty(const struct kr_facts *f, kr_key k, bool *out)
{
	const uint32_t *members;
	uint32_t count;

	KR_TRY(kr_grow_array(f->grow, k, f->h->keys.at[k.i].initial, &members, &count));
	*out = count == 0;
	return KR_OK;
}

/* ---- sets ---- */

enum kr_status kr_grow_lists(const struct kr_facts *f, const struct kr_sight *s, uint32_t element, bool *out)
{
	uint32_t first, count;

	KR_TRY(kr_grow_shown(f, s->key, s->txn, s->op, 0, &first, &count));
	*out = false;
	for (uint32_t i = 0; count != KR_NONE && i < count && !*out; i++)
		*out = f->grow->members.at[first + i] == element;
	return KR_OK;
}

static enum kr_status shows_element(const struct kr_facts *f, const struct kr_sight *s, uint32_t element,
	bool *out, struct kr_err *err)
{
	bool matches = true;

	*out = false;
	if (s->saw.test == KR_SAW_NO_MATCH) {
		KR_TRY(arrays_match(f, s->key, &s->saw, &matches, err));
		return matches ? KR_OK : kr_grow_vague(f, s->key, "no set would match", err);
	}
	if (s->saw.test != KR_SAW_VALUE)
		return kr_grow_vague(f, s->key, "it was seen to have some element", err);
	return kr_grow_lists(f, s, element, out);
}

bool kr_grow_tells(const struct kr_facts *f, const struct kr_sight *s)
{
	bool matches = true;
	struct kr_err unheard;

	kr_err_init(&unheard);
	return s->saw.test != KR_SAW_NO_MATCH ||
		(arrays_match(f, s->key, &s->saw, &matches, &unheard) == KR_OK && matches);
}

enum kr_status kr_grow_shows(const struct kr_facts *f, const struct kr_sight *s, uint32_t element, bool *out,
	struct kr_err *err)
{
	uint32_t first, count = 1;

	if (element != KR_NONE)
		return shows_element(f, s, element, out, err);
	if (s->saw.test == KR_SAW_VALUE)
		KR_TRY(kr_grow_shown(f, s->key, s->txn, s->op, 0, &first, &count));
	*out = count != 0 && s->saw.test != KR_SAW_NO_MATCH;
	return KR_OK;
}

/* Whether a version is there at all, as far as the observation as a whole tells. */
static enum kr_status presence_candidate(const struct kr_facts *f, const struct kr_sight *s, kr_txn writer,
	bool *out, struct kr_err *err)
{
	bool absent = false;

	*out = true;
	if (s->own_count > 0)
		return KR_OK; /* own elements make it present */
	if (writer.i == KR_NONE)
		KR_TRY(kr_grow_initial_is_empty(f, s->key, &absent));
	else
		absent = f->h->ops
				 .at[kr_history_op(f->h, writer, kr_facts_version(f, s->key, writer)->last_op)
						 .i]
				 .kind == KR_OP_DELETE;
	KR_TRY(kr_grow_presence_allows(f, s->key, &s->saw, !absent, out, err));
	*out = (*out || (writer.i == KR_NONE && f->untold));
	return KR_OK;
}

static enum kr_status set_candidate(const struct kr_facts *f, const struct kr_sight *s, kr_txn writer,
	bool *out, struct kr_err *err)
{
	enum kr_membership member;
	uint32_t element;
	bool shown = false, initial = false;

	if (s->part.i == KR_NONE)
		return presence_candidate(f, s, writer, out, err);
	KR_TRY(kr_grow_element(f->grow, s->part, &element));
	KR_TRY(shows_element(f, s, element, &shown, err));
	if (writer.i == KR_NONE) {
		KR_TRY(in_initial(f, s->key, element, &initial));
		*out = (kr_grow_may_start_with(f, s->key, element) || initial == shown);
		return KR_OK;
	}
	KR_TRY(kr_grow_member(f, s->key, writer, op_count(f, writer), element, &member));
	*out = member == (shown ? KR_MEMBER_IN : KR_MEMBER_OUT);
	return KR_OK;
}

/* ---- all kinds ---- */

enum kr_status kr_grow_candidate(const struct kr_facts *f, const struct kr_sight *s, kr_txn writer, bool *out,
	struct kr_err *err)
{
	*out = false;
	if (writer.i != KR_NONE && (writer.i == s->txn.i || !kr_facts_version(f, s->key, writer)))
		return KR_OK;
	if (s->saw.test == KR_SAW_OTHER && s->own_count > 0 && s->part.i == KR_NONE) {
		*out = true; /* its transaction's own additions were there */
		return KR_OK;
	}
	switch (kr_facts_mode(f, s->key)) {
	case KR_GROW_VALUES: *out = counter_candidate(f, s, writer); return KR_OK;
	case KR_GROW_SUM:
		if ((s->saw.test == KR_SAW_MATCH || s->saw.test == KR_SAW_NO_MATCH) &&
			kr_where_of_values(f->h, &f->h->scans.at[s->saw.scan]))
			return kr_grow_vague(f, s->key, "a condition asks for its value", err);
		*out = sum_candidate(f, s, writer);
		return KR_OK;
	case KR_GROW_LIST:
		if (f->untold)
			return kr_grow_vague(f, s->key, "its initial value is not told", err);
		return kr_grow_list_candidate(f, s, writer, out, err);
	case KR_GROW_SET: return set_candidate(f, s, writer, out, err);
	default: return kr_grow_vague(f, s->key, "a number went beyond 64 bits", err);
	}
}

enum kr_status kr_grow_touches(const struct kr_facts *f, const struct kr_sight *s, kr_txn t, bool *out)
{
	const struct kr_fact_version *version = kr_facts_version(f, s->key, t);
	enum kr_membership member;
	uint32_t element;

	*out = version != NULL;
	if (!version || s->part.i == KR_NONE)
		return KR_OK;
	if (kr_facts_mode(f, s->key) == KR_GROW_SUM) {
		*out = !f->grow->versions[version - f->versions].relative ||
			f->h->txns.at[t.i].id.i == s->part.i;
		return KR_OK;
	}
	if (kr_facts_mode(f, s->key) == KR_GROW_LIST) {
		*out = f->h->txns.at[t.i].id.i == s->part.i || kr_grow_deletes(f, s->key, t);
		return KR_OK;
	}
	KR_TRY(kr_grow_element(f->grow, s->part, &element));
	KR_TRY(kr_grow_member(f, s->key, t, op_count(f, t), element, &member));
	*out = member != KR_MEMBER_UNTOUCHED;
	return KR_OK;
}

/* Whether the part is of a mark that was shown to be above it, which says nothing of it. */
static bool is_below(const struct kr_facts *f, const struct kr_sight *s)
{
	int64_t number, shown;

	return kr_grow_is_mark(f->grow, s->key) && s->saw.test == KR_SAW_VALUE &&
		kr_grow_integer(f->h, s->saw.value, &shown) && kr_grow_integer(f->h, s->part, &number) &&
		number < shown;
}

enum kr_status kr_grow_check_part(const struct kr_facts *f, const struct kr_sight *s, const char **wrong)
{
	enum kr_grow_mode mode = kr_facts_mode(f, s->key);
	enum kr_membership own;
	uint32_t element;

	*wrong = NULL;
	if (s->part.i == KR_NONE)
		return KR_OK;
	if (mode == KR_GROW_SUM)
		*wrong = s->part.i == f->h->txns.at[s->txn.i].id.i
			? "a transaction's own increment is no part of what it saw"
			: NULL;
	else if (mode != KR_GROW_SET && mode != KR_GROW_LIST)
		*wrong = "the key has no parts";
	if (mode == KR_GROW_LIST)
		return kr_grow_check_list_part(f, s, wrong);
	if (*wrong || mode != KR_GROW_SET)
		return KR_OK;
	KR_TRY(kr_grow_element(f->grow, s->part, &element));
	KR_TRY(kr_grow_member(f, s->key, s->txn, s->op, element, &own));
	if (own != KR_MEMBER_UNTOUCHED)
		*wrong = "the observer had added the element itself";
	if (is_below(f, s))
		*wrong = "the mark was seen above that number";
	return KR_OK;
}
