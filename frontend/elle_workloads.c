/* Jepsen's workloads whose operations are no reads, writes or appends: `:add` to a set or to a counter
 * (what is read of the key tells: a number, or a collection), `:transfer` between accounts, which are
 * counters that a `:read` returns together as a map, and `:acquire` and `:release` of a lock, which are
 * compare-and-sets of what it is. What accounts start with is not told; a counter starts at 0, a set
 * empty, a lock free. */
#include <string.h>

#include "frontend/elle.h"

static const char free_lock[] = "free", held_lock[] = "held";

enum kr_status kr_elle_add(struct elle *e, kr_key key, kr_value value)
{
	e->adding = true;
	return kr_foreign_op(e->forms.h, KR_OP_ADD, key, value, false);
}

/* ---- accounts ---- */

/* JSON has strings as names, also of accounts that are numbers elsewhere. */
static enum kr_status take_account(struct kr_forms *f, uint32_t form, kr_key *out)
{
	const struct kr_form *node = &f->nodes.at[form];
	const char *at = node->text;
	int64_t number;

	if (!f->json || node->type != KR_FORM_STRING || !kr_foreign_int(&at, true, &number) ||
		at != node->text + node->length)
		return kr_forms_key(f, form, out);
	*out = kr_history_key(f->h, kr_history_int(f->h, number));
	return out->i == KR_NONE ? KR_NOMEM : KR_OK;
}

static void leave_open(struct kr_history *h)
{
	if (h->initial == KR_INITIAL_ABSENT)
		h->initial = KR_INITIAL_UNKNOWN;
}

enum kr_status kr_elle_accounts(struct elle *e, uint32_t map)
{
	struct kr_forms *f = &e->forms;

	leave_open(f->h);
	for (uint32_t at = map + 1, value; at < f->nodes.at[map].end; at = f->nodes.at[value].end) {
		kr_key key;
		kr_value balance;

		value = f->nodes.at[at].end;
		KR_TRY(take_account(f, at, &key));
		KR_TRY(kr_forms_value(f, value, &balance));
		KR_TRY(kr_foreign_op(f->h, KR_OP_READ, key, balance, true));
	}
	return KR_OK;
}

enum kr_status kr_elle_transfer(struct elle *e, uint32_t value)
{
	enum { FROM, TO, AMOUNT, PARTS };
	static const char *const names[PARTS] = {"from", "to", "amount"};
	struct kr_forms *f = &e->forms;
	uint32_t parts[PARTS];
	kr_key from, to;
	enum kr_status status = KR_OK;

	if (value == KR_NONE || f->nodes.at[value].type != KR_FORM_MAP ||
		(status = kr_forms_fields(f, value, names, parts, PARTS)) != KR_OK ||
		parts[FROM] == KR_NONE || parts[TO] == KR_NONE || parts[AMOUNT] == KR_NONE ||
		f->nodes.at[parts[AMOUNT]].type != KR_FORM_INT ||
		f->nodes.at[parts[AMOUNT]].integer == INT64_MIN)
		return kr_forms_bad(f, f->nodes.at[0].line,
			":value is no transfer, expected {:from account, :to account, :amount integer}");
	leave_open(f->h);
	KR_TRY(take_account(f, parts[FROM], &from));
	KR_TRY(take_account(f, parts[TO], &to));
	kr_value less = kr_history_int(f->h, -f->nodes.at[parts[AMOUNT]].integer);
	kr_value more = kr_history_int(f->h, f->nodes.at[parts[AMOUNT]].integer);
	status = kr_foreign_op(f->h, KR_OP_INC, from, less, false);
	return status ? status : kr_foreign_op(f->h, KR_OP_INC, to, more, false);
}

/* ---- locks ---- */

static enum kr_status give_initial(struct kr_history *h, kr_key key, kr_value value, struct kr_err *err)
{
	h->initial = KR_INITIAL_GIVEN;
	return kr_history_set_initial(h, key, value, err);
}

enum kr_status kr_elle_lock(struct elle *e, kr_key key, bool acquire)
{
	struct kr_history *h = e->forms.h;
	struct kr_operation op = {.kind = KR_OP_CAS, .flags = KR_OPF_DONE, .key = key};
	kr_value is_free = kr_history_text(h, KR_VALUE_STRING, free_lock, strlen(free_lock)),
		 is_held = kr_history_text(h, KR_VALUE_STRING, held_lock, strlen(held_lock));

	if (is_free.i == KR_NONE || is_held.i == KR_NONE)
		return KR_NOMEM;
	op.a = acquire ? is_free : is_held;
	op.b = acquire ? is_held : is_free;
	if (h->keys.at[key.i].initial.i == KR_ABSENT.i)
		KR_TRY(give_initial(h, key, is_free, e->forms.err));
	return kr_foreign_put(h, op);
}

/* ---- counters ---- */

static bool is_integer(const struct kr_history *h, kr_value value)
{
	return value.i != KR_ABSENT.i && kr_history_value(h, value)->type == KR_VALUE_INT;
}

static enum kr_status make_counters(struct elle *e, const uint8_t *numbers)
{
	struct kr_history *h = e->forms.h;
	kr_value zero = kr_history_int(h, 0);
	enum kr_status status = zero.i == KR_NONE ? KR_NOMEM : KR_OK;

	for (uint32_t i = 0; i < h->ops.n && !status; i++) {
		struct kr_operation *op = &h->ops.at[i];

		if (op->kind != KR_OP_ADD || !numbers[op->key.i])
			continue;
		if (!is_integer(h, op->a))
			return kr_err_set(e->forms.err, KR_BAD,
				"a number is read of a key to which something else is added, expected a "
				"counter "
				"or a set");
		op->kind = KR_OP_INC;
		h->keys.at[op->key.i].kind = KR_KIND_COUNTER;
		if (h->keys.at[op->key.i].initial.i == KR_ABSENT.i)
			status = give_initial(h, op->key, zero, e->forms.err);
	}
	return status;
}

enum kr_status kr_elle_counters(struct elle *e)
{
	struct kr_history *h = e->forms.h;
	uint32_t n = h->keys.n;
	uint8_t *numbers; /* of the key a number was read */

	if (!e->adding)
		return KR_OK;
	if (!(numbers = kr_mem_alloc(h->mem, n, 1)))
		return KR_NOMEM;
	for (uint32_t i = 0; i < h->ops.n; i++)
		if (h->ops.at[i].kind == KR_OP_READ && (h->ops.at[i].flags & KR_OPF_KNOWN) &&
			is_integer(h, h->ops.at[i].a))
			numbers[h->ops.at[i].key.i] = 1;
	enum kr_status status = make_counters(e, numbers);
	kr_mem_free(h->mem, numbers, n, 1);
	return status;
}
