/* Native format: JSON values to interned ones, and messages.
 *
 * Arrays and objects are interned as canonical JSON text (no blanks, fields sorted by bytes, numbers in one
 * way each), so that structurally equal values are one entry. The text is made with an explicit stack, in
 * buffers that are reused: O(size of the value), plus sorting of field names. */
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
		(void)snprintf(id, sizeof id, "#%u", (unsigned)n->h->position + 1);
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

const char *kr_native_found(const struct kr_node *json, char out[80])
{
	size_t length;

	if (!json) {
		(void)snprintf(out, 80, "nothing");
		return out;
	}
	switch ((enum kr_node_type)json->type) {
	case KR_NODE_NULL: (void)snprintf(out, 80, "null"); break;
	case KR_NODE_TRUE: (void)snprintf(out, 80, "true"); break;
	case KR_NODE_FALSE: (void)snprintf(out, 80, "false"); break;
	case KR_NODE_INT: (void)snprintf(out, 80, "%lld", (long long)json->integer); break;
	case KR_NODE_REAL: kr_history_real_text(json->real, out); break;
	case KR_NODE_STRING:
		length = json->length;
		for (size_t most = 64; length > most; length = most)
			while (((unsigned char)json->text[most] & 0xc0) == 0x80)
				most--;
		(void)snprintf(out, 80, "\"%.*s%s\"", (int)length, json->text,
			length < json->length ? "..." : "");
		break;
	case KR_NODE_ARRAY:
		(void)snprintf(out, 80, "an array of %u element%s", kr_node_size(json),
			plural(kr_node_size(json)));
		break;
	case KR_NODE_OBJECT: (void)snprintf(out, 80, "an object"); break;
	}
	return out;
}

enum kr_status kr_native_wrong(struct kr_native *n, const struct kr_node *json, const char *what,
	const char *expected)
{
	int before = (int)strcspn(what, "#");
	char found[80], number[24] = "";

	if (what[before] == '#')
		(void)snprintf(number, sizeof number, "%zu", n->element);
	return kr_native_bad(n, "%.*s%s%s is %s, expected %s", before, what, number,
		what + before + (what[before] == '#'), kr_native_found(json, found), expected);
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

static int compare_names(const void *a, const void *b)
{
	const struct kr_node *x = *(const struct kr_node *const *)a, *y = *(const struct kr_node *const *)b;

	return strcmp(x->text, y->text);
}

/* Begins an array or object: pushes its frame, and its field names in order. */
static bool open_node(struct kr_native *n, const struct kr_node *node)
{
	struct kr_mem *mem = n->h->mem;
	uint32_t first = n->sort.n;

	kr_str_add_bytes(&n->text, kr_node_is(node, KR_NODE_ARRAY) ? "[" : "{", 1);
	if (!kr_vec_push(mem, &n->frames,
		    (struct kr_native_frame){.node = node, .first = first, .next = first}))
		return false;
	for (const struct kr_node *name = kr_node_member(node, NULL); name; name = kr_node_member(node, name))
		if (!kr_vec_push(mem, &n->sort, name))
			return false;
	if (n->sort.n - first > 1)
		qsort(n->sort.at + first, n->sort.n - first, sizeof *n->sort.at, compare_names);
	return true;
}

/* Writes a scalar, or opens an array or object. */
static bool add_node(struct kr_native *n, const struct kr_node *node)
{
	char real[32];

	switch ((enum kr_node_type)node->type) {
	case KR_NODE_NULL: kr_str_add_bytes(&n->text, "null", 4); break;
	case KR_NODE_TRUE: kr_str_add_bytes(&n->text, "true", 4); break;
	case KR_NODE_FALSE: kr_str_add_bytes(&n->text, "false", 5); break;
	case KR_NODE_INT: add_int(&n->text, node->integer); break;
	case KR_NODE_REAL:
		kr_history_real_text(node->real, real);
		kr_str_add(&n->text, real);
		break;
	case KR_NODE_STRING: kr_str_json(&n->text, node->text, node->length); break;
	case KR_NODE_ARRAY:
	case KR_NODE_OBJECT: return open_node(n, node);
	}
	return true;
}

/* Puts the next element or member of the innermost container into *out, a member's name into the text; false:
 * there is none. */
static bool next_part(struct kr_native *n, const struct kr_node **out)
{
	struct kr_native_frame *top = &n->frames.at[n->frames.n - 1];
	bool is_array = kr_node_is(top->node, KR_NODE_ARRAY),
	     first = is_array ? !top->last : top->next == top->first;
	const struct kr_node *part = is_array ? kr_node_element(top->node, top->last)
		: top->next < n->sort.n       ? n->sort.at[top->next++]
					      : NULL;

	if (part && !first)
		kr_str_add_bytes(&n->text, ",", 1);
	if (part && !is_array) {
		kr_str_json(&n->text, part->text, part->length);
		kr_str_add_bytes(&n->text, ":", 1);
	}
	top->last = part;
	*out = !part || is_array ? part : kr_node_value(part);
	return part != NULL;
}

static bool add_tree(struct kr_native *n, const struct kr_node *root)
{
	const struct kr_node *part;
	bool good = add_node(n, root);

	while (good && n->frames.n > 0) {
		if (next_part(n, &part)) {
			good = add_node(n, part);
			continue;
		}
		const struct kr_native_frame *top = &n->frames.at[--n->frames.n];
		kr_str_add_bytes(&n->text, kr_node_is(top->node, KR_NODE_ARRAY) ? "]" : "}", 1);
		n->sort.n = top->first;
	}
	return good && !n->text.failed;
}

kr_value kr_native_value(struct kr_native *n, const struct kr_node *json)
{
	switch ((enum kr_node_type)json->type) {
	case KR_NODE_NULL: return KR_ABSENT;
	case KR_NODE_TRUE: return kr_history_bool(n->h, true);
	case KR_NODE_FALSE: return kr_history_bool(n->h, false);
	case KR_NODE_INT: return kr_history_int(n->h, json->integer);
	case KR_NODE_REAL: return kr_history_real(n->h, json->real);
	case KR_NODE_STRING: return kr_history_text(n->h, KR_VALUE_STRING, json->text, json->length);
	default: break;
	}
	n->text.n = 0;
	n->frames.n = 0;
	n->sort.n = 0;
	if (!add_tree(n, json))
		return (kr_value){KR_NONE};
	return kr_history_text(n->h, kr_node_is(json, KR_NODE_ARRAY) ? KR_VALUE_ARRAY : KR_VALUE_OBJECT,
		n->text.at, n->text.n);
}

/* ---- checked ---- */

enum kr_status kr_native_put_value(struct kr_native *n, const struct kr_node *json, const char *what,
	kr_value *out)
{
	if (kr_node_is(json, KR_NODE_NULL))
		return kr_native_wrong(n, json, what, "a value (null stands for absent)");
	*out = kr_native_value(n, json);
	return out->i == KR_NONE ? KR_NOMEM : KR_OK;
}

enum kr_status kr_native_put_key(struct kr_native *n, const struct kr_node *json, const char *what,
	kr_key *out)
{
	if (!kr_node_is(json, KR_NODE_STRING) && !kr_node_is_number(json))
		return kr_native_wrong(n, json, what, "a string or a number");
	*out = kr_node_is(json, KR_NODE_STRING) ? kr_history_key_text(n->h, json->text, json->length)
						: kr_history_key(n->h, kr_native_value(n, json));
	return out->i == KR_NONE ? KR_NOMEM : KR_OK;
}

enum kr_status kr_native_put_name(struct kr_native *n, const struct kr_node *json, const char *what,
	kr_value *out)
{
	if (!kr_node_is(json, KR_NODE_STRING) && !kr_node_is(json, KR_NODE_INT))
		return kr_native_wrong(n, json, what, "a string or an integer");
	*out = kr_native_value(n, json);
	return out->i == KR_NONE ? KR_NOMEM : KR_OK;
}

enum kr_status kr_native_put_int(struct kr_native *n, const struct kr_node *json, const char *what,
	int64_t *out)
{
	if (!kr_node_is(json, KR_NODE_INT))
		return kr_native_wrong(n, json, what, "an integer");
	*out = json->integer;
	return KR_OK;
}

enum kr_status kr_native_put_bool(struct kr_native *n, const struct kr_node *json, const char *what,
	bool *out)
{
	if (!kr_node_is_bool(json))
		return kr_native_wrong(n, json, what, "true or false");
	*out = kr_node_is(json, KR_NODE_TRUE);
	return KR_OK;
}

enum kr_status kr_native_put_times(struct kr_native *n, const struct kr_node *json, const char *what,
	int64_t out[2], bool *open)
{
	const struct kr_node *returned = kr_node_at(json, 1);

	if (!kr_node_is(json, KR_NODE_ARRAY) || kr_node_size(json) != 2 ||
		!kr_node_is(kr_node_at(json, 0), KR_NODE_INT) ||
		!(kr_node_is(returned, KR_NODE_INT) || (open && kr_node_is(returned, KR_NODE_NULL))))
		return kr_native_wrong(n, json, what,
			open ? "[invoked, returned], two integers, or null for a return that never came"
			     : "[invoked, returned], two integers");
	out[0] = kr_node_at(json, 0)->integer;
	if (open)
		*open = kr_node_is(returned, KR_NODE_NULL);
	out[1] = kr_node_is(returned, KR_NODE_NULL) ? KR_TIME_OPEN : returned->integer;
	if (out[0] > out[1])
		return kr_native_bad(n,
			"%s is [%lld, %lld], expected the invocation not to come after the return", what,
			(long long)out[0], (long long)out[1]);
	return KR_OK;
}
