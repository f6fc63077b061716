/* Forms: what their parts mean to the readers: fields of maps, keys and values of the history.
 *
 * A list becomes the canonical JSON text of the history's arrays (no blanks), made with one stack of open
 * lists, so that equal values are one entry. EDN's names become strings, its sets arrays in an order of their
 * own (form_set.c). Maps as values are refused: no format here has them. Cost: O(size). */
#include "frontend/form.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool kr_form_is(const struct kr_forms *f, uint32_t form, const char *text)
{
	const struct kr_form *node = form == KR_NONE ? NULL : &f->nodes.at[form];

	return node && (node->type == KR_FORM_NAME || node->type == KR_FORM_STRING) &&
		strlen(text) == node->length && memcmp(node->text, text, node->length) == 0;
}

const char *kr_form_found(const struct kr_forms *f, uint32_t form, char out[80])
{
	static const char *const plain[] = {"null", "false", "true"};
	const struct kr_form *node = form == KR_NONE ? NULL : &f->nodes.at[form];

	if (!node) {
		(void)snprintf(out, 80, "nothing");
		return out;
	}
	switch ((enum kr_form_type)node->type) {
	case KR_FORM_NIL:
	case KR_FORM_FALSE:
	case KR_FORM_TRUE: (void)snprintf(out, 80, "%s", plain[node->type]); break;
	case KR_FORM_INT: (void)snprintf(out, 80, "%lld", (long long)node->integer); break;
	case KR_FORM_REAL: kr_history_real_text(node->real, out); break;
	case KR_FORM_LIST: (void)snprintf(out, 80, "a list"); break;
	case KR_FORM_MAP: (void)snprintf(out, 80, "a map"); break;
	case KR_FORM_OTHER:
		(void)snprintf(out, 80, "an object (%.*s)", (int)(node->length < 60 ? node->length : 60),
			node->text);
		break;
	default: {
		size_t length = node->length;
		for (size_t most = 60; length > most; length = most)
			while (((unsigned char)node->text[most] & 0xc0) == 0x80)
				most--;
		const char *quote = node->type == KR_FORM_STRING ? "\"" : "";
		(void)snprintf(out, 80, "%s%.*s%s%s", quote, (int)length, node->text,
			length < node->length ? "..." : "", quote);
	}
	}
	for (char *c = out; *c; c++)
		if ((unsigned char)*c < 0x20)
			*c = ' ';
	return out;
}

enum kr_status kr_forms_wrong(struct kr_forms *f, uint32_t line, const char *what, uint32_t form,
	const char *expected)
{
	char found[80];

	return kr_forms_bad(f, line, "%s %s, expected %s", what, kr_form_found(f, form, found), expected);
}

enum kr_status kr_forms_wrong_field(struct kr_forms *f, uint32_t line, const char *name, uint32_t form,
	const char *expected)
{
	char found[80];

	return kr_forms_bad(f, line, "\"%s\" is %s, expected %s", name, kr_form_found(f, form, found),
		expected);
}

enum kr_status kr_forms_fields(struct kr_forms *f, uint32_t map, const char *const *names, uint32_t *out,
	uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		out[i] = KR_NONE;
	for (uint32_t at = map + 1; at < f->nodes.at[map].end; at = f->nodes.at[at + 1].end) {
		if (f->nodes.at[at].end != at + 1) { /* a list as a key: nothing that we know */
			at = f->nodes.at[at].end - 1;
			continue;
		}
		for (uint32_t i = 0; i < count; i++) {
			if (!kr_form_is(f, at, names[i]))
				continue;
			if (out[i] != KR_NONE)
				return kr_forms_bad(f, f->nodes.at[at].line,
					"the field \"%s\" stands twice in one map", names[i]);
			out[i] = at + 1;
			break;
		}
	}
	return KR_OK;
}

/* ---- canonical text ---- */

static bool add_scalar(struct kr_forms *f, const struct kr_form *node)
{
	char real[32];

	switch ((enum kr_form_type)node->type) {
	case KR_FORM_NIL: kr_str_add_bytes(&f->value, "null", 4); return true;
	case KR_FORM_FALSE: kr_str_add_bytes(&f->value, "false", 5); return true;
	case KR_FORM_TRUE: kr_str_add_bytes(&f->value, "true", 4); return true;
	case KR_FORM_INT: kr_str_format(&f->value, "%lld", (long long)node->integer); return true;
	case KR_FORM_REAL:
		kr_history_real_text(node->real, real);
		kr_str_add(&f->value, real);
		return true;
	case KR_FORM_NAME:
	case KR_FORM_STRING: kr_str_json(&f->value, node->text, node->length); return true;
	default: return false;
	}
}

/* A list of scalars, which is nearly every list, or false. */
static bool add_flat_list(struct kr_forms *f, uint32_t form)
{
	kr_str_add_bytes(&f->value, "[", 1);
	for (uint32_t at = form + 1; at < f->nodes.at[form].end; at++) {
		if (at > form + 1)
			kr_str_add_bytes(&f->value, ",", 1);
		if (!add_scalar(f, &f->nodes.at[at]))
			return false;
	}
	kr_str_add_bytes(&f->value, "]", 1);
	return true;
}

/* Checks that `form` can be a value: numbers that fit, and strings as names of fields. */
static enum kr_status check_value(struct kr_forms *f, uint32_t form)
{
	char found[80];

	for (uint32_t at = form; at < f->nodes.at[form].end; at++) {
		const struct kr_form *node = &f->nodes.at[at];
		if (node->type == KR_FORM_BIG)
			return kr_forms_bad(f, node->line,
				"the number %s does not fit, expected an integer of 64 bits or a finite real "
				"number",
				kr_form_found(f, at, found));
		if (node->type == KR_FORM_MAP || node->type == KR_FORM_OTHER)
			return kr_forms_bad(f, node->line,
				"%s as a part of a value, expected a number, a string or a list of those",
				kr_form_found(f, at, found));
	}
	return KR_OK;
}

/* Nested lists, by their ends. */
static enum kr_status add_list(struct kr_forms *f, uint32_t form)
{
	uint32_t at = form, end = f->nodes.at[form].end;

	f->open.n = 0; /* the open lists */
	for (;;) {
		while (f->open.n > 0 && f->nodes.at[f->open.at[f->open.n - 1]].end == at) {
			kr_str_add_bytes(&f->value, "]", 1);
			f->open.n--;
		}
		if (at == end)
			return KR_OK;
		if (f->open.n > 0 && f->open.at[f->open.n - 1] + 1 != at)
			kr_str_add_bytes(&f->value, ",", 1);
		if (!add_scalar(f, &f->nodes.at[at])) {
			kr_str_add_bytes(&f->value, "[", 1);
			KR_TRY(kr_vec_add(f->h->mem, &f->open, at));
		}
		at++;
	}
}

static enum kr_status list_value(struct kr_forms *f, uint32_t form, kr_value *out)
{
	f->value.n = 0;
	if (!add_flat_list(f, form)) {
		f->value.n = 0;
		KR_TRY(check_value(f, form));
		KR_TRY(add_list(f, form));
	}
	if (f->value.failed)
		return KR_NOMEM;
	*out = kr_history_text(f->h, KR_VALUE_ARRAY, f->value.at, f->value.n);
	return out->i == KR_NONE ? KR_NOMEM : KR_OK;
}

enum kr_status kr_forms_value(struct kr_forms *f, uint32_t form, kr_value *out)
{
	const struct kr_form *node = &f->nodes.at[form];

	switch ((enum kr_form_type)node->type) {
	case KR_FORM_NIL: *out = KR_ABSENT; return KR_OK;
	case KR_FORM_FALSE: *out = kr_history_bool(f->h, false); break;
	case KR_FORM_TRUE: *out = kr_history_bool(f->h, true); break;
	case KR_FORM_INT: *out = kr_history_int(f->h, node->integer); break;
	case KR_FORM_REAL: *out = kr_history_real(f->h, node->real); break;
	case KR_FORM_STRING:
	case KR_FORM_NAME: *out = kr_history_text(f->h, KR_VALUE_STRING, node->text, node->length); break;
	case KR_FORM_LIST: return list_value(f, form, out);
	default: return check_value(f, form);
	}
	return out->i == KR_NONE ? KR_NOMEM : KR_OK;
}

enum kr_status kr_forms_key(struct kr_forms *f, uint32_t form, kr_key *out)
{
	const struct kr_form *node = &f->nodes.at[form];
	kr_value name;

	if (node->type == KR_FORM_STRING || node->type == KR_FORM_NAME) {
		*out = kr_history_key_text(f->h, node->text, node->length);
	} else if (node->type == KR_FORM_INT || node->type == KR_FORM_REAL) {
		KR_TRY(kr_forms_value(f, form, &name));
		*out = kr_history_key(f->h, name);
	} else if (node->type == KR_FORM_LIST) {
		KR_TRY(list_value(f, form, &name));
		*out = kr_history_key_text(f->h, f->value.at, f->value.n);
	} else {
		return kr_forms_wrong(f, node->line, "the key is", form,
			"a number, a name, a string or a list");
	}
	return out->i == KR_NONE ? KR_NOMEM : KR_OK;
}

enum kr_status kr_forms_pair_key(struct kr_forms *f, uint32_t first, uint32_t second, kr_key *out)
{
	KR_TRY(check_value(f, first));
	KR_TRY(check_value(f, second));
	f->value.n = 0;
	kr_str_add_bytes(&f->value, "[", 1);
	KR_TRY(add_list(f, first));
	kr_str_add_bytes(&f->value, ",", 1);
	KR_TRY(add_list(f, second));
	kr_str_add_bytes(&f->value, "]", 1);
	if (f->value.failed)
		return KR_NOMEM;
	*out = kr_history_key_text(f->h, f->value.at, f->value.n);
	return out->i == KR_NONE ? KR_NOMEM : KR_OK;
}
