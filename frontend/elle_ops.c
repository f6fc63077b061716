/* Jepsen's micro-operations: [:r KEY VALUE], [:w KEY VALUE], [:append KEY ELEMENT]; and what else is inside its maps. */
#include <string.h>
#include <strings.h>

#include "frontend/elle.h"

static enum kr_status read_read(struct elle *e, uint32_t form, kr_key key, uint32_t result, bool known)
{
	kr_value value = KR_ABSENT;
	enum kr_status status;

	if (known && result == KR_NONE)
		return kr_forms_bad(&e->forms, e->forms.nodes.at[form].line, "a read of a committed transaction has no result, expected [:r key value]");
	if (known && (status = kr_forms_value(&e->forms, result, &value)))
		return status;
	return kr_foreign_op(e->forms.h, KR_OP_READ, key, value, known);
}

static enum kr_status read_op(struct elle *e, uint32_t form, bool known)
{
	struct kr_forms *f = &e->forms;
	const struct kr_form *nodes = f->nodes.at;
	uint32_t line = nodes[form].line, name = form + 1, key_form, argument;
	char found[80];
	kr_value value;
	kr_key key;
	enum kr_status status;

	if (nodes[form].type != KR_FORM_LIST || nodes[form].end == name)
		return kr_forms_bad(f, line, "the operation is %s, expected [:r, :w or :append, key, value]", kr_form_found(f, form, found));
	bool read = kr_form_is(f, name, "r"), append = kr_form_is(f, name, "append");
	if (!read && !append && !kr_form_is(f, name, "w"))
		return kr_forms_bad(f, line, "the operation is %s, expected :r, :w or :append", kr_form_found(f, name, found));
	key_form = nodes[name].end;
	if (key_form >= nodes[form].end)
		return kr_forms_bad(f, line, "the operation has no key");
	argument = nodes[key_form].end < nodes[form].end ? nodes[key_form].end : KR_NONE;
	if (argument != KR_NONE && nodes[argument].end != nodes[form].end)
		return kr_forms_bad(f, line, "the operation has more than a key and a value");
	if ((status = kr_forms_key(f, key_form, &key)))
		return status;
	if (read)
		return read_read(e, form, key, argument, known);
	if (argument == KR_NONE || nodes[argument].type == KR_FORM_NIL)
		return kr_forms_bad(f, line, "the operation has no value, expected one that is written");
	if ((status = kr_forms_value(f, argument, &value)))
		return status;
	return kr_foreign_op(f->h, append ? KR_OP_APPEND : KR_OP_WRITE, key, value, false);
}

enum kr_status kr_elle_ops(struct elle *e, uint32_t value, bool known)
{
	struct kr_forms *f = &e->forms;
	char found[80];
	enum kr_status status;

	if (!known && (value == KR_NONE || f->nodes.at[value].type == KR_FORM_NIL))
		return KR_OK;
	if (value == KR_NONE || f->nodes.at[value].type != KR_FORM_LIST)
		return kr_forms_bad(f, f->nodes.at[0].line, ":value is %s, expected a list of operations", kr_form_found(f, value, found));
	for (uint32_t at = value + 1; at < f->nodes.at[value].end; at = f->nodes.at[at].end)
		if ((status = read_op(e, at, known)))
			return status;
	return KR_OK;
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
	enum kr_status status;

	if (empty.i == KR_NONE)
		return KR_NOMEM;
	for (uint32_t i = 0; i < h->ops.n; i++) {
		if (h->ops.at[i].kind == KR_OP_WRITE)
			return KR_OK;
		if ((status = kr_ctx_tick(ctx)))
			return status;
	}
	for (uint32_t i = 0; i < h->ops.n; i++) {
		if (h->ops.at[i].a.i == empty.i && h->ops.at[i].kind == KR_OP_READ)
			h->ops.at[i].a = KR_ABSENT;
		if ((status = kr_ctx_tick(ctx)))
			return status;
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
