/* Jepsen's micro-operations: [:r KEY VALUE], [:w KEY VALUE], [:append KEY ELEMENT], those of
 * elle_predicates.c, also in a group of keys: [GROUP [MICRO-OPERATION ...]]; and what else is inside its
 * maps. */
#include <string.h>
#include <strings.h>

#include "frontend/elle.h"

static enum kr_status read_read(struct elle *e, uint32_t form, kr_key key, uint32_t result, bool known)
{
	kr_value value = KR_ABSENT;

	if (known && result == KR_NONE)
		return kr_forms_bad(&e->forms, e->forms.nodes.at[form].line,
			"a read of a committed transaction has no result, expected [:r key value]");
	if (known)
		KR_TRY(kr_forms_value(&e->forms, result, &value));
	return kr_foreign_op(e->forms.h, KR_OP_READ, key, value, known);
}

/* The kind of operation that the micro-operation is, KR_NONE: of none. An insert is a write: that nothing was
 * there is not said of it. */
static uint32_t find_kind(const struct kr_forms *f, uint32_t name)
{
	static const struct {
		const char *name;
		enum kr_op_kind kind;
	} kinds[] = {{"r", KR_OP_READ}, {"read", KR_OP_READ}, {"w", KR_OP_WRITE}, {"write", KR_OP_WRITE},
		{"append", KR_OP_APPEND}, {"insert", KR_OP_WRITE}, {"delete", KR_OP_DELETE},
		{"rp", KR_OP_SCAN}};

	for (size_t i = 0; i < KR_COUNT(kinds); i++)
		if (kr_form_is(f, name, kinds[i].name))
			return kinds[i].kind;
	return KR_NONE;
}

/* Its key is inside of a group; KR_NONE: of none. */
static enum kr_status read_op(struct elle *e, uint32_t group, uint32_t form, bool known)
{
	struct kr_forms *f = &e->forms;
	const struct kr_form *nodes = f->nodes.at;
	uint32_t line = nodes[form].line, name = form + 1, key_form, argument, kind;
	kr_value value;
	kr_key key;

	if (nodes[form].type != KR_FORM_LIST || nodes[form].end == name)
		return kr_forms_wrong(f, line, "the operation is", form, "[:r, :w or :append, key, value]");
	kind = find_kind(f, name);
	if (kind == KR_NONE)
		return kr_elle_other(f, name, line, "the operation",
			":r, :w, :append, :insert, :delete or :rp");
	key_form = nodes[name].end;
	if (key_form >= nodes[form].end)
		return kr_forms_bad(f, line, "the operation has no key");
	argument = nodes[key_form].end < nodes[form].end ? nodes[key_form].end : KR_NONE;
	if (argument != KR_NONE && nodes[argument].end != nodes[form].end)
		return kr_forms_bad(f, line, "the operation has more than a key and a value");
	if (kind == KR_OP_SCAN)
		return kr_elle_predicate_read(e, form, key_form, argument, known);
	KR_TRY(group == KR_NONE ? kr_forms_key(f, key_form, &key)
				: kr_forms_pair_key(f, group, key_form, &key));
	if (kind == KR_OP_READ)
		return read_read(e, form, key, argument, known);
	if (kind == KR_OP_DELETE)
		return kr_foreign_op(f->h, KR_OP_DELETE, key, KR_ABSENT, false);
	if (kr_form_type(f, argument) == KR_FORM_NIL)
		return kr_forms_bad(f, line, "the operation has no value, expected one that is written");
	KR_TRY(kr_forms_value(f, argument, &value));
	return kr_foreign_op(f->h, (enum kr_op_kind)kind, key, value, false);
}

/* ---- what a map holds ---- */

static bool is_nil(const struct kr_forms *f, uint32_t form) { return kr_form_type(f, form) == KR_FORM_NIL; }

/* A list that begins with a list. */
static bool holds_lists(const struct kr_forms *f, uint32_t form)
{
	return kr_form_type(f, form) == KR_FORM_LIST && f->nodes.at[form].end > form + 1 &&
		kr_form_type(f, form + 1) == KR_FORM_LIST;
}

/* The micro-operations of [group [micro-operation ...]], as jepsen.independent has it; KR_NONE: it is
 * none. */
static uint32_t grouped(const struct kr_forms *f, uint32_t form)
{
	uint32_t list = kr_form_type(f, form) == KR_FORM_LIST && f->nodes.at[form].end > form + 1 &&
			kr_form_type(f, form + 1) != KR_FORM_LIST
		? f->nodes.at[form + 1].end
		: KR_NONE;

	return list != KR_NONE && list < f->nodes.at[form].end &&
			f->nodes.at[list].end == f->nodes.at[form].end && holds_lists(f, list)
		? list
		: KR_NONE;
}

bool kr_elle_is_transaction(const struct kr_forms *f, uint32_t function, uint32_t value)
{
	return is_nil(f, function) || kr_form_is(f, function, "txn") || holds_lists(f, value) ||
		grouped(f, value) != KR_NONE;
}

static enum kr_status read_transaction(struct elle *e, uint32_t value, bool known)
{
	struct kr_forms *f = &e->forms;
	uint32_t list = grouped(f, value), group = list == KR_NONE ? KR_NONE : value + 1;
	if (kr_form_type(f, value) != KR_FORM_LIST)
		return kr_forms_wrong(f, f->nodes.at[0].line, ":value is", value, "a list of operations");
	if (list == KR_NONE)
		list = value;
	if (f->nodes.at[list].end > list + 1)
		KR_TRY(kr_elle_shape(e, true));
	for (uint32_t at = list + 1; at < f->nodes.at[list].end; at = f->nodes.at[at].end)
		KR_TRY(read_op(e, group, at, known));
	return KR_OK;
}

enum kr_status kr_elle_ops(struct elle *e, uint32_t function, uint32_t value, bool known)
{
	struct kr_forms *f = &e->forms;
	bool transaction = kr_elle_is_transaction(f, function, value);

	if (!transaction && !kr_elle_is_single(f, function))
		return kr_elle_other(f, function, f->nodes.at[0].line, ":f",
			":txn, :read, :write, :cas, :add, :transfer, :acquire, :release or :init");
	if (!known && is_nil(f, value) && !kr_elle_is_bare(f, function))
		return KR_OK;
	return transaction ? read_transaction(e, value, known) : kr_elle_single(e, function, value, known);
}

bool kr_elle_is_timeout(const struct kr_forms *f, uint32_t form)
{
	static const char *const words[] = {"timeout", "time-out", "timed out", "timed-out", "timedout"};

	for (uint32_t at = form; form != KR_NONE && at < f->nodes.at[form].end; at++) {
		const struct kr_form *node = &f->nodes.at[at];
		if (node->type != KR_FORM_NAME && node->type != KR_FORM_STRING)
			continue;
		for (size_t w = 0; w < KR_COUNT(words); w++) {
			size_t length = strlen(words[w]);
			for (uint32_t i = 0; i + length <= node->length; i++)
				if (strncasecmp(node->text + i, words[w], length) == 0)
					return true;
		}
	}
	return false;
}

enum kr_status kr_elle_empty_lists(struct kr_ctx *ctx, struct kr_history *h)
{
	kr_value empty = kr_history_text(h, KR_VALUE_ARRAY, "[]", 2);

	if (empty.i == KR_NONE)
		return KR_NOMEM;
	for (uint32_t i = 0; i < h->ops.n; i++) {
		if (h->ops.at[i].kind == KR_OP_WRITE || h->ops.at[i].kind == KR_OP_CAS)
			return KR_OK;
		KR_TRY(kr_ctx_tick(ctx));
	}
	for (uint32_t i = 0; i < h->ops.n; i++) {
		if (h->ops.at[i].a.i == empty.i && h->ops.at[i].kind == KR_OP_READ)
			h->ops.at[i].a = KR_ABSENT;
		KR_TRY(kr_ctx_tick(ctx));
	}
	return KR_OK;
}

bool kr_elle_is_list(const char *text, size_t length)
{
	size_t at = 0;

	for (; at < length; at++) {
		if (text[at] == ';')
			while (at + 1 < length && text[at] != '\n')
				at++;
		else if (!strchr(" \t\r\n,", text[at]))
			break;
	}
	return at < length && (text[at] == '[' || text[at] == '(');
}
