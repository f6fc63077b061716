/* What was seen of a list, a set, or a counter that is a sum, and no world explains.
 *
 * Of a list and a set, an element decides: nobody ever appended it (garbage read), only transactions without
 * effect did (aborted read), only the reader itself and later (future read). A list that ends within what one
 * transaction appended, or an element that its transaction took away again, is an intermediate read; an
 * element that is shown more often than it was appended by anybody a duplicate element. Two committed reads
 * of a list without deletes, neither a prefix of the other, are an incompatible order, and so are two of a
 * set without deletes, each with an element, appended once, that the other does not have; and a list that
 * shows what one transaction appended in another order, or torn; of a list with deletes, what goes round
 * (anomaly_rounds.c). Counters: anomaly_sums.c. Cost: linear in the observations of the key and what they
 * show. */
#include "verify/claim.h"

struct shown {
	const struct kr_claim *c;
	const struct kr_facts *f;
	const struct kr_sight *sight;
	bool list;
	uint32_t *members; /* a copy: without own ones at the end of a list */
	uint32_t count, all;
};

/* How an element came to be there. */
struct origin {
	/* appends by others that may have taken effect, by those that have not, by the reader behind the
	 * operation */
	uint32_t possible, impossible, later;
	uint32_t others, everybody, initial; /* others: that were not aborted */
	uint32_t aborted;
	const struct kr_grow_add *add; /* the last one of those */
};

static enum kr_status initial_count(const struct shown *s, uint32_t element, uint32_t *out)
{
	const uint32_t *members;
	uint32_t count;
	KR_TRY(kr_grow_array(s->f->grow, s->c->key, s->f->h->keys.at[s->c->key.i].initial, &members, &count));

	*out = 0;
	for (uint32_t i = 0; count != KR_NONE && i < count; i++)
		*out += members[i] == element;
	return KR_OK;
}

static enum kr_status find_origin(const struct shown *s, uint32_t element, struct origin *out)
{
	const struct kr_facts *f = s->f;
	const struct kr_grow_add *add;

	*out = (struct origin){0};
	for (kr_table_iter it = kr_grow_adds(f->grow, s->c->key, element);
		(add = kr_grow_next_add(f->grow, &it, s->c->key, element));) {
		out->everybody++;
		if (add->txn.i == s->c->txn.i) {
			out->later += add->op > s->c->op;
			continue;
		}
		if (f->h->txns.at[add->txn.i].status != KR_ABORTED) {
			out->others++;
			out->add = add;
		}
		out->aborted += f->h->txns.at[add->txn.i].status == KR_ABORTED;
		if (f->h->txns.at[add->txn.i].status == KR_ABORTED ||
			(f->impossible && f->impossible[add->txn.i]))
			out->impossible++;
		else
			out->possible++;
	}
	return initial_count(s, element, &out->initial);
}

/* An element that the reader had added itself tells nothing of others. */
static enum kr_status is_own(const struct shown *s, uint32_t element, bool *out)
{
	enum kr_membership member = KR_MEMBER_UNTOUCHED;
	KR_TRY(s->list ? KR_OK : kr_grow_member(s->f, s->c->key, s->c->txn, s->c->op, element, &member));

	*out = member != KR_MEMBER_UNTOUCHED;
	return KR_OK;
}

/* ---- one element ---- */

static bool has_deletes(const struct shown *s) { return s->f->grow->deleted[s->c->key.i]; }

static bool is_mark(const struct shown *s) { return kr_grow_is_mark(s->f->grow, s->c->key); }

/* Whether some element is shown that can only have been there at first. */
static enum kr_status shows_initial(const struct shown *s, bool *out)
{
	struct origin o;

	*out = false;
	for (uint32_t i = 0; i < s->count && !*out; i++) {
		KR_TRY(find_origin(s, s->members[i], &o));
		*out = o.everybody == 0 && o.initial > 0;
	}
	return KR_OK;
}

/* Whether a mark began above what is shown of it. */
static bool initial_is_above(const struct shown *s)
{
	const struct kr_value_entry *initial =
					    kr_history_value(s->f->h, s->f->h->keys.at[s->c->key.i].initial),
				    *shown = kr_history_value(s->f->h, s->c->saw.value);

	return initial->type == KR_VALUE_INT && shown->type == KR_VALUE_INT &&
		initial->integer > shown->integer;
}

/* Whether initial elements are missing, of a list at its beginning: nobody takes any away, or some are still
 * there. */
static enum kr_status misses_initial(const struct shown *s, bool *out)
{
	const uint32_t *initial;
	uint32_t n;
	bool counts = true;
	KR_TRY(has_deletes(s) ? shows_initial(s, &counts) : KR_OK);

	*out = false;
	KR_TRY(kr_grow_array(s->f->grow, s->c->key, s->f->h->keys.at[s->c->key.i].initial, &initial, &n));
	if (n == KR_NONE || n == 0 || s->f->untold || !counts)
		return KR_OK;
	if (is_mark(s)) {
		*out = !has_deletes(s) && s->count > 0 && initial_is_above(s);
		return KR_OK;
	}
	for (uint32_t i = 0; i < n && !*out; i++) {
		bool there = false;
		for (uint32_t j = 0; j < s->count; j++)
			there |= s->members[j] == initial[i] && (!s->list || i == j);
		*out = !there;
	}
	return KR_OK;
}

/* Whether the transaction left something else in the set that is not shown, and that nobody can have taken
 * away since. */
static enum kr_status left_more(const struct shown *s, kr_txn t, bool *out)
{
	const struct kr_history *h = s->f->h;
	const struct kr_transaction *txn = &h->txns.at[t.i];

	*out = false;
	for (uint32_t i = 0; i < txn->op_count && !*out && !has_deletes(s); i++) {
		const struct kr_operation *op = &h->ops.at[txn->op_first + i];
		uint32_t element;
		bool there = false;

		if (op->kind != KR_OP_ADD || op->key.i != s->c->key.i)
			continue;
		KR_TRY(kr_grow_element(s->f->grow, op->a, &element));
		for (uint32_t j = 0; j < s->count; j++)
			there |= s->members[j] == element;
		*out = !there;
	}
	return KR_OK;
}

/* What the transaction appended next behind (step 1) or last before (step -1) its operation `at`, or
 * KR_NONE. */
static enum kr_status neighbour(const struct shown *s, kr_txn t, uint32_t at, uint32_t step, uint32_t *out)
{
	const struct kr_history *h = s->f->h;

	*out = KR_NONE;
	for (at += step; at < h->txns.at[t.i].op_count; at += step) { /* below 0 it wraps */
		const struct kr_operation *op = &h->ops.at[kr_history_op(h, t, at).i];
		if (op->key.i != s->c->key.i)
			continue;
		if (op->kind == KR_OP_APPEND)
			return kr_grow_element(s->f->grow, op->a, out);
		if (op->kind == KR_OP_DELETE && kr_effect_count(h, op) > 0)
			break;
	}
	return KR_OK;
}

/* Whether the element's transaction had more to add beside it, or took it away again. */
static enum kr_status is_passing(const struct shown *s, uint32_t at, const struct origin *o, bool *out)
{
	const struct kr_history *h = s->f->h;
	const struct kr_grow_add *add = o->add;
	enum kr_membership member;
	uint32_t element = s->members[at], behind;
	bool deletes;

	*out = false;
	if (o->others != 1 || o->initial > 0 || s->f->h->txns.at[add->txn.i].status == KR_ABORTED)
		return KR_OK;
	if (!s->list) {
		KR_TRY(kr_grow_member(s->f, s->c->key, add->txn, h->txns.at[add->txn.i].op_count, element,
			&member));
		*out = member == KR_MEMBER_OUT || (is_mark(s) && member == KR_MEMBER_UNTOUCHED);
		return *out ? KR_OK : left_more(s, add->txn, out);
	}
	if (kr_grow_left_from(s->f, s->c->key, add->txn, &deletes) > add->op) {
		*out = true;
		return KR_OK;
	}
	KR_TRY(neighbour(s, add->txn, add->op, 1, &behind));
	*out = behind != KR_NONE && (at + 1 == s->count || s->members[at + 1] != behind);
	return KR_OK;
}

static enum kr_status judge_element(const struct shown *s, uint32_t at, bool *out)
{
	uint32_t element = s->members[at];
	bool open = kr_grow_may_start_with(s->f, s->c->key, element), own;
	struct origin o;
	enum kr_status status = is_own(s, element, &own);

	*out = false;
	if (status != KR_OK || own || (status = find_origin(s, element, &o)) != KR_OK)
		return status;
	switch (s->c->v->cert->anomaly.kind) {
	case KR_GARBAGE_READ: *out = o.everybody == 0 && o.initial == 0 && !open; break;
	case KR_ABORTED_READ: *out = o.possible == 0 && o.initial == 0 && o.impossible > 0 && !open; break;
	case KR_FUTURE_READ: *out = o.possible == 0 && o.initial == 0 && o.later > 0 && !open; break;
	case KR_INTERMEDIATE_READ: return open ? KR_OK : is_passing(s, at, &o, out);
	default: break;
	}
	return KR_OK;
}

static enum kr_status judge_elements(const struct shown *s, bool *out)
{
	*out = false;
	for (uint32_t i = 0; i < s->count && !*out; i++) {
		KR_TRY(judge_element(s, i, out));
		KR_TRY(kr_ctx_tick(s->c->v->ctx));
	}
	if (!*out && s->c->v->cert->anomaly.kind == KR_GARBAGE_READ)
		KR_TRY(misses_initial(s, out));
	return KR_OK;
}

/* Elements by number of times: own ones count, too. A set has each once, however often it was added. */
static enum kr_status judge_duplicates(const struct shown *s, bool *out)
{
	struct kr_mem *mem = s->f->mem;
	uint32_t n = s->f->grow->elements.n, *times = kr_mem_alloc(mem, n, sizeof *times);
	struct origin o;
	enum kr_status status = times ? KR_OK : KR_NOMEM;

	*out = false;
	for (uint32_t i = 0; i < s->all && status == KR_OK && !*out && !(s->list && s->f->untold); i++) {
		uint32_t element = s->members[i];

		if (++times[element] < 2)
			continue;
		if (!s->list) {
			*out = true;
			break;
		}
		status = find_origin(s, element, &o);
		*out = status == KR_OK && o.everybody + o.initial > 0 &&
			times[element] > o.everybody - o.aborted + o.initial;
	}
	kr_mem_free(mem, times, n, sizeof *times);
	return status;
}

/* ---- orders ---- */

static enum kr_status copy_members(const struct kr_claim *c, const struct kr_facts *f,
	const struct kr_grow_sight *sight, struct shown *out, struct kr_sight *keep)
{
	uint32_t first;
	enum kr_status status = kr_grow_shown(f, sight->key, sight->txn, sight->op, 0, &first, &out->all);

	*keep = (struct kr_sight){.txn = sight->txn,
		.op = sight->op,
		.key = sight->key,
		.own_count = sight->own_count};
	out->c = c;
	out->f = f;
	out->sight = keep;
	out->list = f->h->keys.at[sight->key.i].kind == KR_KIND_LIST;
	out->members = NULL;
	if (status != KR_OK || out->all == KR_NONE)
		return status;
	KR_TRY(kr_mem_new(f->mem, out->members, out->all));
	for (uint32_t i = 0; i < out->all; i++)
		out->members[i] = f->grow->members.at[first + i];
	out->count =
		out->list ? out->all - (sight->own_count < out->all ? sight->own_count : out->all) : out->all;
	return KR_OK;
}

static void drop_members(struct shown *s)
{
	if (s->members)
		kr_mem_free(s->f->mem, s->members, s->all, sizeof *s->members);
}

/* Asks of what is shown at that place; false where it is no array. */
static enum kr_status ask_shown(const struct kr_claim *c, const struct kr_facts *f,
	const struct kr_grow_sight *place, enum kr_status (*ask)(const struct shown *s, bool *out), bool *out)
{
	struct kr_sight keep;
	struct shown s;
	enum kr_status status = copy_members(c, f, place, &s, &keep);

	*out = false;
	if (status == KR_OK && s.members)
		status = ask(&s, out);
	drop_members(&s);
	return status;
}

static bool is_prefix(const struct shown *a, const struct shown *b)
{
	for (uint32_t i = 0; i < a->count && i < b->count; i++)
		if (a->members[i] != b->members[i])
			return false;
	return true;
}

/* Whether `a` has an element that `b` lacks, neither's own, and added by one transaction only, those that
 * were aborted aside: nobody sees what they add. */
static enum kr_status has_more(const struct shown *a, const struct shown *b, bool *out)
{
	enum kr_membership own[2];
	struct origin o;

	*out = false;
	if (is_mark(a)) /* who shows a higher number may have missed none */
		return KR_OK;
	for (uint32_t i = 0; i < a->count && !*out; i++) {
		uint32_t element = a->members[i];
		bool there = false;

		for (uint32_t j = 0; j < b->count; j++)
			there |= b->members[j] == element;
		KR_TRY(find_origin(a, element, &o));
		KR_TRY(kr_grow_member(a->f, a->c->key, a->sight->txn, a->sight->op, element, &own[0]));
		KR_TRY(kr_grow_member(a->f, a->c->key, b->sight->txn, b->sight->op, element, &own[1]));
		*out = !there && o.everybody - o.aborted == 1 && o.initial == 0 &&
			own[0] == KR_MEMBER_UNTOUCHED && own[1] == KR_MEMBER_UNTOUCHED;
	}
	return KR_OK;
}

static enum kr_status disagree(const struct shown *a, const struct shown *b, bool *out)
{
	bool other;

	if (a->list) {
		*out = !is_prefix(a, b);
		return KR_OK;
	}
	enum kr_status status = has_more(a, b, out);
	if (status == KR_OK && *out) {
		status = has_more(b, a, &other);
		*out = status == KR_OK && other;
	}
	return status;
}

/* Whether an element that only the initial list has is not at its place in it. */
static enum kr_status is_misplaced(const struct shown *s, uint32_t at, bool *out)
{
	const uint32_t *initial;
	uint32_t n;
	KR_TRY(kr_grow_array(s->f->grow, s->c->key, s->f->h->keys.at[s->c->key.i].initial, &initial, &n));

	*out = n != KR_NONE && (at >= n || initial[at] != s->members[at]);
	return KR_OK;
}

/* Whether the transaction had deleted the list before this, its first append since. */
static bool is_anew(const struct shown *s, const struct kr_grow_add *add)
{
	bool deletes;

	return kr_grow_left_from(s->f, s->c->key, add->txn, &deletes) <= add->op && deletes;
}

/* What one transaction appended, elements that nobody else did (those that were aborted aside), is shown in
 * its order and without gaps but at the end. */
static enum kr_status is_torn(const struct shown *s, bool *out)
{
	struct origin o;
	enum kr_status status = KR_OK;

	*out = false;
	for (uint32_t i = 0; i < s->count && status == KR_OK && !*out; i++) {
		uint32_t before = KR_NONE, behind = KR_NONE;

		status = find_origin(s, s->members[i], &o);
		if (status == KR_OK && o.everybody == 0 && o.initial == 1)
			status = is_misplaced(s, i, out);
		if (status != KR_OK || o.others != 1 || o.everybody - o.aborted != 1 || o.initial)
			continue;
		status = neighbour(s, o.add->txn, o.add->op, UINT32_MAX, &before);
		if (status == KR_OK)
			status = neighbour(s, o.add->txn, o.add->op, 1, &behind);
		*out = status == KR_OK &&
			(before == KR_NONE ? i > 0 && is_anew(s, o.add)
					   : i == 0 || s->members[i - 1] != before);
		*out |= status == KR_OK && behind != KR_NONE && i + 1 < s->count &&
			s->members[i + 1] != behind;
	}
	return status;
}

static enum kr_status judge_order(const struct shown *s, bool *out)
{
	const struct kr_facts *f = s->f;
	const struct kr_grow *g = f->grow;
	enum kr_status status = KR_OK;

	*out = false;
	if (s->list && f->untold) /* whatever is shown may have been there at first, too */
		return KR_OK;
	if (s->list)
		status = is_torn(s, out);
	if (status == KR_OK && !*out && s->list && has_deletes(s))
		return kr_claim_goes_round(s->c, f, s->sight, out);
	if (status != KR_OK || *out || has_deletes(s))
		return status;
	for (uint32_t i = g->sight_first[s->c->key.i];
		i < g->sight_first[s->c->key.i + 1] && status == KR_OK && !*out; i++) {
		struct shown other;
		struct kr_sight keep;

		if (f->h->txns.at[g->sights[i].txn.i].status != KR_COMMITTED)
			continue;
		status = copy_members(s->c, f, &g->sights[i], &other, &keep);
		if (status == KR_OK && other.members)
			status = disagree(s, &other, out);
		drop_members(&other);
		if (status == KR_OK)
			status = kr_ctx_tick(s->c->v->ctx);
	}
	return status;
}

/* ---- what nobody added ---- */

static enum kr_status find_unwritten(const struct shown *s, bool *out)
{
	bool aborted = s->c->v->cert->anomaly.kind == KR_ABORTED_READ; /* by those who have taken effect */
	struct origin o;

	*out = false;
	for (uint32_t i = 0; i < s->all && !*out; i++) {
		KR_TRY(find_origin(s, s->members[i], &o));
		*out = o.everybody == (aborted ? o.impossible : 0) && (!aborted || o.impossible > 0) &&
			o.initial == 0 && !kr_grow_may_start_with(s->f, s->c->key, s->members[i]);
	}
	return KR_OK;
}

enum kr_status kr_claim_unwritten(const struct kr_claim *c, const struct kr_facts *f, bool *out)
{
	const struct kr_grow_sight place = {.txn = c->txn, .key = c->key, .op = c->op};

	return ask_shown(c, f, &place, find_unwritten, out);
}

/* ---- all of it ---- */

static enum kr_status judge_shown(const struct kr_claim *c, const struct kr_facts *f,
	const struct kr_sight *sight, bool *out)
{
	const struct kr_grow_sight place = {sight->txn, sight->key, sight->op, sight->own_count, sight->own};
	struct kr_sight keep;
	struct shown s;
	enum kr_status status = copy_members(c, f, &place, &s, &keep);

	if (status == KR_OK && !s.members) { /* it is no array */
		*out = c->v->cert->anomaly.kind == KR_GARBAGE_READ && sight->saw.test == KR_SAW_VALUE;
		return KR_OK;
	}
	if (status == KR_OK && c->v->cert->anomaly.kind == KR_DUPLICATE_ELEMENT)
		status = judge_duplicates(&s, out);
	else if (status == KR_OK && c->v->cert->anomaly.kind == KR_INCOMPATIBLE_ORDER)
		status = judge_order(&s, out);
	else if (status == KR_OK)
		status = judge_elements(&s, out);
	drop_members(&s);
	return status;
}

/* What no element alone decides: there is something of the kind that the name tells of, and what was seen has
 * no explanation, or contradicts what another transaction saw. */
static enum kr_status judge_otherwise(const struct kr_claim *c, const struct kr_facts *f,
	const struct kr_sight *sight, bool *out)
{
	const struct kr_grow_sight place = {sight->txn, sight->key, sight->op, sight->own_count, sight->own};
	enum kr_status status = kr_claim_is_named(c, out);

	if (status != KR_OK || !*out)
		return status;
	status = kr_claim_by_cases(c, out);
	if (status != KR_OK || *out || c->v->cert->anomaly.kind != KR_ABORTED_READ ||
		f->h->keys.at[c->key.i].kind == KR_KIND_COUNTER || f->untold)
		return status;
	return ask_shown(c, f, &place, judge_order, out);
}

/* Whether an element is shown that a transaction of unknown outcome adds: that no initial value lets it take
 * effect is not looked for. */
static enum kr_status rests_on_unknown(const struct shown *s, bool *out)
{
	struct origin o;

	*out = false;
	for (uint32_t i = 0; i < s->count && !*out; i++) {
		KR_TRY(find_origin(s, s->members[i], &o));
		*out = o.add && s->f->h->txns.at[o.add->txn.i].status == KR_UNKNOWN;
	}
	return KR_OK;
}

enum kr_status kr_claim_growing(const struct kr_claim *c, const struct kr_facts *f,
	const struct kr_sight *sight)
{
	const struct kr_grow_sight place = {sight->txn, sight->key, sight->op, sight->own_count, sight->own};
	enum kr_anomaly_kind kind = c->v->cert->anomaly.kind;
	bool right = false, open = false;
	enum kr_status status;

	if (f->h->keys.at[c->key.i].kind == KR_KIND_COUNTER)
		status = kr_facts_mode(f, c->key) == KR_GROW_SUM
			? kr_claim_sum(c, f, sight, &right)
			: kr_err_set(c->v->err, KR_UNSUPPORTED, "the numbers of %s go beyond 64 bits",
				  c->key_name.text);
	else
		status = judge_shown(c, f, sight, &right);
	if (status == KR_OK && !right && kind != KR_DUPLICATE_ELEMENT)
		status = judge_otherwise(c, f, sight, &right);
	if (status != KR_OK || right)
		return status;
	if (f->untold && kind == KR_ABORTED_READ)
		status = ask_shown(c, f, &place, rests_on_unknown, &open);
	if (status != KR_OK || open || (f->untold && kr_facts_mode(f, c->key) == KR_GROW_LIST))
		return status != KR_OK ? status : kr_claim_untold(c);
	return kr_err_set(c->v->err, KR_BAD, "operation %u of %s is no %s of %s", (unsigned)c->op,
		c->txn_name.text, kr_anomaly_name(kind), c->key_name.text);
}
