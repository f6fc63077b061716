/* What an observation of a list, whose elements are appended once, says of its versions.
 *
 * What is read was left by the transaction that appended the last element, and shows all that this one
 * appended; [] is the initial version, or one by who deleted the list. Without deletes every writer of a
 * shown element comes before the writers of those behind it, and all of them before the writers of elements
 * that are not shown (grow_order.c). Otherwise the list is also seen part by part, as a set is: what each
 * transaction appended since it deleted the list itself, if it did, and the initial elements. The newest
 * version that touches a part, by appending it or by deleting the list, tells whether it is there. Cost:
 * linear in the array at hand and in the operations of the transactions at hand. */
#include "verify/facts.h"

/* The last element that t leaves, KR_NONE: it deletes the list last. */
static enum kr_status last_left(const struct kr_facts *f, kr_key k, kr_txn t, uint32_t *element)
{
	const struct kr_history *h = f->h;
	const struct kr_operation *op = &h->ops.at[kr_history_op(h, t, kr_facts_version(f, k, t)->last_op).i];

	*element = KR_NONE;
	return op->kind == KR_OP_APPEND ? kr_grow_element(f->grow, op->a, element) : KR_OK;
}

uint32_t kr_grow_left_from(const struct kr_facts *f, kr_key k, kr_txn t, bool *deletes)
{
	const struct kr_history *h = f->h;
	const struct kr_fact_version *version = kr_facts_version(f, k, t);

	*deletes = true;
	for (uint32_t at = version->last_op + 1; f->grow->deleted[k.i] && at-- > version->first_op;) {
		const struct kr_operation *op = &h->ops.at[kr_history_op(h, t, at).i];
		if (op->kind == KR_OP_DELETE && op->key.i == k.i && kr_effect_count(h, op) > 0)
			return at + 1;
	}
	*deletes = false;
	return version->first_op;
}

bool kr_grow_deletes(const struct kr_facts *f, kr_key k, kr_txn t)
{
	bool deletes = false;

	if (kr_facts_version(f, k, t))
		(void)kr_grow_left_from(f, k, t, &deletes);
	return deletes;
}

static enum kr_status equals_initial(const struct kr_facts *f, kr_key k, uint32_t first, uint32_t count,
	bool *out)
{
	const uint32_t *initial;
	uint32_t n;
	enum kr_status status = kr_grow_array(f->grow, k, f->h->keys.at[k.i].initial, &initial, &n);

	*out = status == KR_OK && n == count;
	for (uint32_t i = 0; *out && i < count; i++)
		*out = initial[i] == f->grow->members.at[first + i];
	return status;
}

static enum kr_status shown_candidate(const struct kr_facts *f, const struct kr_sight *s, kr_txn writer,
	bool *out, struct kr_err *err)
{
	const struct kr_grow_add *add;
	uint32_t first, count, adds, element = KR_NONE, last;
	bool initial = false;
	enum kr_status status = kr_grow_shown(f, s->key, s->txn, s->op, s->own_count, &first, &count);

	*out = false;
	if (status != KR_OK || count == KR_NONE)
		return status;
	if (writer.i == KR_NONE)
		return equals_initial(f, s->key, first, count, out);
	status = last_left(f, s->key, writer, &element);
	*out = status == KR_OK && count == 0 && element == KR_NONE;
	if (status != KR_OK || count == 0)
		return status;
	last = f->grow->members.at[first + count - 1];
	status = kr_grow_appender(f, s->key, last, &add, &adds, &initial);
	if (status == KR_OK && adds + initial > 1)
		return kr_grow_vague(f, s->key, "equal elements were appended", err);
	*out = status == KR_OK && element == last;
	return status;
}

/* Whether the observation shows an element that the transaction of this id appended; KR_ABSENT: an initial
 * one. */
static enum kr_status shows_part(const struct kr_facts *f, const struct kr_sight *s, bool *out,
	struct kr_err *err)
{
	const struct kr_grow_add *add;
	uint32_t first, count, adds;
	bool initial = false;
	KR_TRY(kr_grow_shown(f, s->key, s->txn, s->op, s->own_count, &first, &count));

	*out = false;
	for (uint32_t i = 0; count != KR_NONE && i < count && !*out; i++) {
		KR_TRY(kr_grow_appender(f, s->key, f->grow->members.at[first + i], &add, &adds, &initial));
		if (adds > 0 && adds + initial > 1)
			return kr_grow_vague(f, s->key, "equal elements were appended", err);
		*out = (s->part.i == KR_ABSENT.i
				? initial
				: adds == 1 && !initial && f->h->txns.at[add->txn.i].id.i == s->part.i);
	}
	return KR_OK;
}

/* Whether writer's version of the part is there as it was seen, or not there as it was not. */
static enum kr_status part_candidate(const struct kr_facts *f, const struct kr_sight *s, kr_txn writer,
	bool *out, struct kr_err *err)
{
	bool initial = s->part.i == KR_ABSENT.i,
	     brings = writer.i == KR_NONE ? initial : f->h->txns.at[writer.i].id.i == s->part.i, shown;

	*out = false;
	if (!f->grow->deleted[s->key.i] && !brings)
		return KR_OK;
	enum kr_status status = shows_part(f, s, &shown, err);
	*out = status == KR_OK && shown == brings &&
		(writer.i == KR_NONE || brings || kr_grow_deletes(f, s->key, writer));
	return status;
}

enum kr_status kr_grow_list_candidate(const struct kr_facts *f, const struct kr_sight *s, kr_txn writer,
	bool *out, struct kr_err *err)
{
	uint32_t element = 0;
	bool empty = false;

	if (s->part.i != KR_NONE)
		return part_candidate(f, s, writer, out, err);
	if (s->saw.test == KR_SAW_VALUE && s->saw.value.i != KR_ABSENT.i)
		return shown_candidate(f, s, writer, out, err);
	KR_TRY(writer.i == KR_NONE ? kr_grow_initial_is_empty(f, s->key, &empty)
				   : last_left(f, s->key, writer, &element));
	return kr_grow_presence_allows(f, s->key, &s->saw, !empty && element != KR_NONE, out, err);
}

enum kr_status kr_grow_check_list_part(const struct kr_facts *f, const struct kr_sight *s, const char **wrong)
{
	bool empty = false;

	if (s->saw.test != KR_SAW_VALUE)
		*wrong = "it tells nothing of the list's elements";
	else if (s->part.i == f->h->txns.at[s->txn.i].id.i)
		*wrong = "what a transaction appended itself is no part of what it saw";
	else if (s->part.i == KR_ABSENT.i)
		KR_TRY(kr_grow_initial_is_empty(f, s->key, &empty));
	if (empty)
		*wrong = "there were no elements at first";
	return KR_OK;
}
