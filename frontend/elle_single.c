/* Jepsen's operations of one key: `:f :read`, `:write` or `:cas` with a value (and those of
 * elle_workloads.c), of the only register there is, or behind its key, as jepsen.independent has it, or
 * beside it in `:key`.
 *
 * A read's value is what it found, nil: nothing; a write's what is written; a compare-and-set's [EXPECTED
 * NEW]. Behind a key: [KEY VALUE], [KEY [EXPECTED NEW]] or [KEY EXPECTED NEW]. Values are no lists, so
 * that the two are told apart; a file has one of them. A compare-and-set is taken as done: where its
 * outcome is open, it was that or nothing. */
#include <string.h>

#include "frontend/elle.h"

#define REGISTER "register" /* the key of the only one */

enum { MOST_PARTS = 3 };

struct single {
	uint32_t parts[MOST_PARTS];
	uint32_t n;
	bool keyed; /* the first part is the key */
};

enum kr_status kr_elle_shape(struct elle *e, bool keyed)
{
	if (keyed ? e->alone : e->keyed)
		return kr_forms_bad(&e->forms, e->forms.nodes.at[0].line,
			"the operation has %s key, but those before it %s", keyed ? "a" : "no",
			keyed ? "have none" : "have one");
	*(keyed ? &e->keyed : &e->alone) = true;
	return KR_OK;
}

/* Whether the list has 1 to MOST_PARTS elements, which become the parts. */
static bool split(const struct kr_forms *f, uint32_t list, struct single *out)
{
	out->n = 0;
	for (uint32_t at = list + 1; at < f->nodes.at[list].end; at = f->nodes.at[at].end) {
		if (out->n == MOST_PARTS)
			return false;
		out->parts[out->n++] = at;
	}
	return out->n > 0;
}

static bool is_list(const struct kr_forms *f, uint32_t form) { return kr_form_type(f, form) == KR_FORM_LIST; }

/* What a list where a register's value should be may mean. */
#define IS_SET "; a set to which :write adds, as of Jepsen's comments, is read with :add for :write"

static bool is_empty(const struct kr_forms *f, uint32_t list) { return f->nodes.at[list].end == list + 1; }

static enum kr_status split_value(struct elle *e, uint32_t value, struct single *out)
{
	const struct kr_forms *f = &e->forms;

	if (!is_list(f, value) || is_empty(f, value) || e->key != KR_NONE || (e->adding && e->alone)) {
		*out = (struct single){.parts = {value}, .n = 1};
		return KR_OK;
	}
	out->keyed = true;
	if (!split(f, value, out) || out->n != 2)
		return kr_forms_bad(&e->forms, f->nodes.at[0].line,
			":value is a list, expected a value, or a list of a key and a value" IS_SET);
	return KR_OK;
}

static enum kr_status split_cas(struct elle *e, uint32_t value, struct single *out)
{
	const struct kr_forms *f = &e->forms;
	struct single inner;

	out->keyed = false;
	if (is_list(f, value) && split(f, value, out)) {
		out->keyed = out->n == 3;
		if (out->n == 3 || (out->n == 2 && !is_list(f, out->parts[1])))
			return KR_OK;
		if (out->n == 2 && split(f, out->parts[1], &inner) && inner.n == 2) {
			*out = (struct single){.parts = {out->parts[0], inner.parts[0], inner.parts[1]},
				.n = 3,
				.keyed = true};
			return KR_OK;
		}
	}
	return kr_forms_bad(&e->forms, f->nodes.at[0].line,
		":value is no compare-and-set, expected [expected new], [key [expected new]] or [key "
		"expected new]");
}

static enum kr_status take_key(struct elle *e, const struct single *s, kr_key *out)
{
	KR_TRY(kr_elle_shape(e, s->keyed || e->key != KR_NONE));
	if (e->key != KR_NONE)
		return kr_forms_key(&e->forms, e->key, out);
	if (s->keyed)
		return kr_forms_key(&e->forms, s->parts[0], out);
	*out = kr_history_key_text(e->forms.h, REGISTER, strlen(REGISTER));
	return out->i == KR_NONE ? KR_NOMEM : KR_OK;
}

/* `written`: it is no nil. */
static enum kr_status take_value(struct elle *e, uint32_t form, bool written, kr_value *out)
{
	struct kr_forms *f = &e->forms;

	if (form == KR_NONE || (written && f->nodes.at[form].type == KR_FORM_NIL))
		return kr_forms_bad(f, f->nodes.at[0].line,
			"the operation has no value, expected one that is %s", written ? "written" : "read");
	if (is_list(f, form) && (written || !(e->adding || is_empty(f, form))))
		return kr_forms_wrong(f, f->nodes.at[form].line, "the value is", form,
			written ? "a number, a string or nil" : "a number, a string or nil" IS_SET);
	return kr_forms_value(f, form, out);
}

static enum kr_status read_read(struct elle *e, uint32_t value, bool known)
{
	struct single s;
	kr_key key;
	kr_value read = KR_ABSENT;

	if (kr_form_type(&e->forms, value) == KR_FORM_MAP)
		return known ? kr_elle_accounts(e, value) : KR_OK;
	KR_TRY(split_value(e, value, &s));
	if (known)
		KR_TRY(take_value(e, s.parts[s.n - 1], false, &read));
	KR_TRY(take_key(e, &s, &key));
	return kr_foreign_op(e->forms.h, KR_OP_READ, key, read, known);
}

static enum kr_status read_write(struct elle *e, uint32_t value, bool add)
{
	struct single s;
	kr_key key;
	kr_value written;

	KR_TRY(split_value(e, value, &s));
	KR_TRY(take_value(e, s.parts[s.n - 1], true, &written));
	KR_TRY(take_key(e, &s, &key));
	return add ? kr_elle_add(e, key, written)
		   : kr_foreign_op(e->forms.h, KR_OP_WRITE, key, written, false);
}

static enum kr_status read_cas(struct elle *e, uint32_t value)
{
	struct single s;
	kr_value expected, written;
	kr_key key;

	KR_TRY(split_cas(e, value, &s));
	KR_TRY(take_value(e, s.parts[s.n - 2], false, &expected));
	KR_TRY(take_value(e, s.parts[s.n - 1], true, &written));
	KR_TRY(take_key(e, &s, &key));
	return kr_foreign_put(e->forms.h,
		(struct kr_operation){KR_OP_CAS, KR_OPF_DONE, key, expected, {written}});
}

/* Of the lock that the value names, or the only one. */
static enum kr_status read_lock(struct elle *e, uint32_t value, bool acquire)
{
	bool named = kr_form_type(&e->forms, value) != KR_FORM_NIL && !is_list(&e->forms, value);
	struct single s = {.parts = {value}, .n = 1, .keyed = named};
	kr_key key;

	KR_TRY(take_key(e, &s, &key));
	return kr_elle_lock(e, key, acquire);
}

/* The last two need no value. */
enum function { NONE, READ, WRITE, CAS, ADD, TRANSFER, ACQUIRE, RELEASE };

static enum function find_single(const struct kr_forms *f, uint32_t function)
{
	static const struct {
		const char *name;
		enum function function;
	} singles[] = {{"read", READ}, {"write", WRITE}, {"cas", CAS}, {"get", READ}, {"put", WRITE},
		{"add", ADD}, {"transfer", TRANSFER}, {"acquire", ACQUIRE}, {"release", RELEASE}};

	for (size_t i = 0; i < KR_COUNT(singles); i++)
		if (kr_form_is(f, function, singles[i].name))
			return singles[i].function;
	return NONE;
}

bool kr_elle_is_single(const struct kr_forms *f, uint32_t function)
{
	return find_single(f, function) != NONE;
}

bool kr_elle_is_bare(const struct kr_forms *f, uint32_t function)
{
	return find_single(f, function) >= ACQUIRE;
}

enum kr_status kr_elle_single(struct elle *e, uint32_t function, uint32_t value, bool known)
{
	enum function what = find_single(&e->forms, function);

	switch (what) {
	case READ: return read_read(e, value, known);
	case WRITE:
	case ADD: return read_write(e, value, what == ADD);
	case CAS: return read_cas(e, value);
	case TRANSFER: return kr_elle_transfer(e, value);
	default: return read_lock(e, value, what == ACQUIRE);
	}
}

void kr_elle_undone(struct kr_history *h, uint32_t first)
{
	for (uint32_t i = first; i < h->ops.n; i++) {
		struct kr_operation *op = &h->ops.at[i];
		if (op->kind == KR_OP_CAS)
			*op = (struct kr_operation){.kind = KR_OP_WRITE, .key = op->key, .a = op->b};
	}
}
