/* Native format: JSON values to interned ones, and messages.
 *
 * Arrays and objects are interned as canonical JSON text (no blanks, fields sorted by bytes, numbers in one way each), so that structurally equal values
 * are one entry. The text is made with an explicit stack, in buffers that are reused: O(size of the value), plus sorting of field names. */
#include "frontend/native.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- messages ---- */

enum kr_status kr_native_bad(struct kr_native *n, const char *format, ...)
{
	char text[sizeof n->err->text], id[80];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (!n->in_txn)
		id[0] = '\0';
	else if (n->id.i == KR_NONE)
		(void)snprintf(id, sizeof id, "#%u", (unsigned)n->position);
	else
		kr_history_brief(n->h, n->id, id, sizeof id);
	if (n->in_op)
		kr_err_set(n->err, KR_BAD, "ops[%u] of %s: %s", (unsigned)n->op_index, id, text);
	else
		kr_err_set(n->err, KR_BAD, "%s%s%s", id, id[0] ? ": " : "", text);
	kr_err_at(n->err, n->h->files.at[0], n->line, 0);
	return KR_BAD;
}

static const char *plural(size_t n) { return n == 1 ? "" : "s"; }

const char *kr_native_found(const json_t *json, char out[80])
{
	size_t length;

	if (!json) {
		(void)snprintf(out, 80, "nothing");
		return out;
	}
	switch (json_typeof(json)) {
	case JSON_NULL: (void)snprintf(out, 80, "null"); break;
	case JSON_TRUE: (void)snprintf(out, 80, "true"); break;
	case JSON_FALSE: (void)snprintf(out, 80, "false"); break;
	case JSON_INTEGER: (void)snprintf(out, 80, "%lld", (long long)json_integer_value(json)); break;
	case JSON_REAL: kr_history_real_text(json_real_value(json), out); break;
	case JSON_STRING:
		length = json_string_length(json);
		for (size_t most = 64; length > most; length = most)
			while (((unsigned char)json_string_value(json)[most] & 0xc0) == 0x80)
				most--;
		(void)snprintf(out, 80, "\"%.*s%s\"", (int)length, json_string_value(json), length < json_string_length(json) ? "..." : "");
		break;
	case JSON_ARRAY: (void)snprintf(out, 80, "an array of %zu element%s", json_array_size(json), plural(json_array_size(json))); break;
	case JSON_OBJECT: (void)snprintf(out, 80, "an object"); break;
	}
	return out;
}

static enum kr_status wrong_type(struct kr_native *n, const json_t *json, const char *what, const char *expected)
{
	char found[80];

	return kr_native_bad(n, "%s is %s, expected %s", what, kr_native_found(json, found), expected);
}

/* ---- canonical text ---- */

static void add_int(struct kr_str *text, int64_t value)
{
	char digits[24];
	size_t at = sizeof digits;
	uint64_t left = value < 0 ? -(uint64_t)value : (uint64_t)value;

	do
		digits[--at] = (char)('0' + left % 10);
	while ((left /= 10) != 0);
	if (value < 0)
		digits[--at] = '-';
	kr_str_add_bytes(text, digits + at, sizeof digits - at);
}

static int compare_names(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

/* Begins an array or object: pushes its frame, and its field names in order. */
static bool open_node(struct kr_native *n, json_t *node)
{
	struct kr_mem *mem = n->h->mem;
	uint32_t first = n->sort.n;

	kr_str_add_bytes(&n->text, json_is_array(node) ? "[" : "{", 1);
	if (!kr_vec_push(mem, &n->frames, (struct kr_native_frame){.node = node, .key_first = first}))
		return false;
	if (json_is_array(node))
		return true;
	for (void *field = json_object_iter(node); field; field = json_object_iter_next(node, field))
		if (!kr_vec_push(mem, &n->sort, json_object_iter_key(field)))
			return false;
	if (n->sort.n - first > 1)
		qsort(n->sort.at + first, n->sort.n - first, sizeof *n->sort.at, compare_names);
	return true;
}

/* Writes a scalar, or opens an array or object. */
static bool add_node(struct kr_native *n, json_t *node)
{
	char real[32];

	switch (json_typeof(node)) {
	case JSON_NULL: kr_str_add_bytes(&n->text, "null", 4); break;
	case JSON_TRUE: kr_str_add_bytes(&n->text, "true", 4); break;
	case JSON_FALSE: kr_str_add_bytes(&n->text, "false", 5); break;
	case JSON_INTEGER: add_int(&n->text, json_integer_value(node)); break;
	case JSON_REAL:
		kr_history_real_text(json_real_value(node), real);
		kr_str_add(&n->text, real);
		break;
	case JSON_STRING: kr_str_json(&n->text, json_string_value(node), json_string_length(node)); break;
	case JSON_ARRAY:
	case JSON_OBJECT: return open_node(n, node);
	}
	return true;
}

static bool add_tree(struct kr_native *n, json_t *root)
{
	bool good = add_node(n, root);

	while (good && n->frames.n > 0) {
		struct kr_native_frame *top = &n->frames.at[n->frames.n - 1];
		bool is_array = json_is_array(top->node);
		size_t size = is_array ? json_array_size(top->node) : n->sort.n - top->key_first;
		if (top->at == size) {
			kr_str_add_bytes(&n->text, is_array ? "]" : "}", 1);
			n->sort.n = top->key_first;
			n->frames.n--;
			continue;
		}
		if (top->at > 0)
			kr_str_add_bytes(&n->text, ",", 1);
		size_t at = top->at++;
		if (is_array) {
			good = add_node(n, json_array_get(top->node, at));
		} else {
			const char *name = n->sort.at[top->key_first + at];
			kr_str_json(&n->text, name, strlen(name));
			kr_str_add_bytes(&n->text, ":", 1);
			good = add_node(n, json_object_get(top->node, name));
		}
	}
	return good && !n->text.failed;
}

kr_value kr_native_value(struct kr_native *n, json_t *json)
{
	switch (json_typeof(json)) {
	case JSON_NULL: return KR_ABSENT;
	case JSON_TRUE: return kr_history_bool(n->h, true);
	case JSON_FALSE: return kr_history_bool(n->h, false);
	case JSON_INTEGER: return kr_history_int(n->h, json_integer_value(json));
	case JSON_REAL: return kr_history_real(n->h, json_real_value(json));
	case JSON_STRING: return kr_history_text(n->h, KR_VALUE_STRING, json_string_value(json), json_string_length(json));
	default: break;
	}
	n->text.n = 0;
	n->frames.n = 0;
	n->sort.n = 0;
	if (!add_tree(n, json))
		return (kr_value){KR_NONE};
	return kr_history_text(n->h, json_is_array(json) ? KR_VALUE_ARRAY : KR_VALUE_OBJECT, n->text.at, n->text.n);
}

/* ---- checked ---- */

enum kr_status kr_native_put_value(struct kr_native *n, json_t *json, const char *what, kr_value *out)
{
	if (json_is_null(json))
		return wrong_type(n, json, what, "a value (null stands for absent)");
	*out = kr_native_value(n, json);
	return out->i == KR_NONE ? KR_NOMEM : KR_OK;
}

enum kr_status kr_native_put_key(struct kr_native *n, json_t *json, const char *what, kr_key *out)
{
	if (!json_is_string(json) && !json_is_number(json))
		return wrong_type(n, json, what, "a string or a number");
	if (json_is_string(json)) {
		*out = kr_history_key_text(n->h, json_string_value(json), json_string_length(json));
	} else {
		kr_value name = kr_native_value(n, json);
		if (name.i == KR_NONE)
			return KR_NOMEM;
		*out = kr_history_key(n->h, name);
	}
	return out->i == KR_NONE ? KR_NOMEM : KR_OK;
}

enum kr_status kr_native_put_name(struct kr_native *n, json_t *json, const char *what, kr_value *out)
{
	if (!json_is_string(json) && !json_is_integer(json))
		return wrong_type(n, json, what, "a string or an integer");
	*out = kr_native_value(n, json);
	return out->i == KR_NONE ? KR_NOMEM : KR_OK;
}

enum kr_status kr_native_put_int(struct kr_native *n, json_t *json, const char *what, int64_t *out)
{
	if (!json_is_integer(json))
		return wrong_type(n, json, what, "an integer");
	*out = json_integer_value(json);
	return KR_OK;
}

enum kr_status kr_native_put_bool(struct kr_native *n, json_t *json, const char *what, bool *out)
{
	if (!json_is_boolean(json))
		return wrong_type(n, json, what, "true or false");
	*out = json_is_true(json);
	return KR_OK;
}

enum kr_status kr_native_put_times(struct kr_native *n, json_t *json, const char *what, int64_t out[2], bool *open)
{
	json_t *returned = json_array_get(json, 1);

	if (!json_is_array(json) || json_array_size(json) != 2 || !json_is_integer(json_array_get(json, 0)) ||
		!(json_is_integer(returned) || (open && json_is_null(returned))))
		return wrong_type(n, json, what,
			open ? "[invoked, returned], two integers, or null for a return that never came" : "[invoked, returned], two integers");
	out[0] = json_integer_value(json_array_get(json, 0));
	if (open)
		*open = json_is_null(returned);
	out[1] = json_is_null(returned) ? KR_TIME_OPEN : json_integer_value(returned);
	if (out[0] > out[1])
		return kr_native_bad(n, "%s is [%lld, %lld], expected the invocation not to come after the return", what, (long long)out[0], (long long)out[1]);
	return KR_OK;
}
