/* Native format: one operation, ["name", argument..., {attributes}].
 *
 * The attributes come last and are told from an argument by place; only after a read's key may either a value
 * or attributes follow. There an object counts as attributes when all its fields are attributes of the right
 * types and it has one at least, else as the value; a value that looks like attributes is written with
 * (empty) attributes behind it. Two names are no operations of their own: "failed" holds one, "undo" takes
 * some back; both end in attributes, too. */
#include "frontend/native.h"

#include <string.h>

struct form {
	const char *takes;   /* for messages */
	uint8_t least, most; /* arguments, without attributes */
	enum kr_status (*read)(struct kr_native *n, const struct kr_node *op, struct kr_operation *out);
};

static enum kr_status put_bool_flag(struct kr_native *n, const struct kr_node *json, const char *what,
	struct kr_operation *out)
{
	bool done = false;
	enum kr_status status = kr_native_put_bool(n, json, what, &done);

	if (done)
		out->flags |= KR_OPF_DONE;
	return status;
}

/* Argument `index` behind the name; NULL where there is none, attributes left aside. */
static const struct kr_node *argument(const struct kr_native *n, const struct kr_node *op, uint32_t index)
{
	return index < n->arguments ? kr_node_at(op, index + 1) : NULL;
}

static enum kr_status put_key(struct kr_native *n, const struct kr_node *op, struct kr_operation *out)
{
	kr_key key;

	KR_TRY(kr_native_put_key(n, argument(n, op, 0), "the key", &key));
	out->key = key;
	return KR_OK;
}

static enum kr_status read_r(struct kr_native *n, const struct kr_node *op, struct kr_operation *out)
{
	const struct kr_node *value = argument(n, op, 1);

	KR_TRY(put_key(n, op, out));
	if (!value)
		return KR_OK;
	out->flags |= KR_OPF_KNOWN;
	out->a = kr_native_value(n, value);
	return out->a.i == KR_NONE ? KR_NOMEM : KR_OK;
}

/* w, append, add */
static enum kr_status read_key_value(struct kr_native *n, const struct kr_node *op, struct kr_operation *out)
{
	kr_value value;

	KR_TRY(put_key(n, op, out));
	KR_TRY(kr_native_put_value(n, argument(n, op, 1),
		out->kind == KR_OP_WRITE ? "the value" : "the element", &value));
	out->a = value;
	return KR_OK;
}

static enum kr_status read_d(struct kr_native *n, const struct kr_node *op, struct kr_operation *out)
{
	const struct kr_node *found = argument(n, op, 1);

	KR_TRY(put_key(n, op, out));
	if (!found)
		return KR_OK;
	out->flags |= KR_OPF_KNOWN;
	return put_bool_flag(n, found, "\"found\", the second argument,", out);
}

static enum kr_status read_insert(struct kr_native *n, const struct kr_node *op, struct kr_operation *out)
{
	KR_TRY(read_key_value(n, op, out));
	return put_bool_flag(n, argument(n, op, 2), "\"done\", the third argument,", out);
}

static enum kr_status read_cas(struct kr_native *n, const struct kr_node *op, struct kr_operation *out)
{
	kr_value written;

	KR_TRY(put_key(n, op, out));
	out->a = kr_native_value(n, argument(n, op, 1));
	if (out->a.i == KR_NONE)
		return KR_NOMEM;
	KR_TRY(kr_native_put_value(n, argument(n, op, 2), "the new value", &written));
	out->b = written;
	return put_bool_flag(n, argument(n, op, 3), "\"done\", the fourth argument,", out);
}

static enum kr_status put_number(struct kr_native *n, const struct kr_node *json, const char *what,
	kr_value *out)
{
	int64_t number;
	KR_TRY(kr_native_put_int(n, json, what, &number));
	*out = kr_history_int(n->h, number);
	return out->i == KR_NONE ? KR_NOMEM : KR_OK;
}

/* inc, max */
static enum kr_status read_number(struct kr_native *n, const struct kr_node *op, struct kr_operation *out)
{
	const struct kr_node *result = argument(n, op, 2);
	kr_value number, sum;

	KR_TRY(put_key(n, op, out));
	KR_TRY(put_number(n, argument(n, op, 1), out->kind == KR_OP_INC ? "the delta" : "the number",
		&number));
	out->a = number;
	if (!result)
		return KR_OK;
	KR_TRY(put_number(n, result, "the new value", &sum));
	out->flags |= KR_OPF_KNOWN;
	out->b = sum;
	return KR_OK;
}

static const struct form forms[KR_OP_KINDS] = {
	[KR_OP_READ] = {"a key and perhaps a value", 1, 2, read_r},
	[KR_OP_WRITE] = {"a key and a value", 2, 2, read_key_value},
	[KR_OP_DELETE] = {"a key and perhaps whether it was found", 1, 2, read_d},
	[KR_OP_INSERT] = {"a key, a value and whether it was done", 3, 3, read_insert},
	[KR_OP_CAS] = {"a key, the expected value, the new value and whether it was done", 4, 4, read_cas},
	[KR_OP_INC] = {"a key, a delta and perhaps the new value", 2, 3, read_number},
	[KR_OP_APPEND] = {"a key and an element", 2, 2, read_key_value},
	[KR_OP_ADD] = {"a key and an element", 2, 2, read_key_value},
	[KR_OP_MAX] = {"a key and a number", 2, 2, read_number},
	[KR_OP_RANGE] = {"a low and a high bound, the rows and perhaps options", 3, 4, kr_native_range},
	[KR_OP_SCAN] = {"a \"where\" and the rows", 2, 2, kr_native_scan},
	[KR_OP_UPDATE] = {"a \"where\", a {\"set\": value} and the rows written", 3, 3, kr_native_update},
};

/* Words differ in their first letter mostly. */
static bool is_word(const char *a, const char *b) { return a[0] == b[0] && strcmp(a, b) == 0; }

static int find_kind(const char *name)
{
	for (int kind = 0; kind < KR_OP_KINDS; kind++)
		if (is_word(name, kr_op_name((enum kr_op_kind)kind)))
			return kind;
	return -1;
}

/* Whether the last of `count` elements behind the name are attributes. */
static bool ends_in_attributes(enum kr_op_kind kind, size_t count, const struct kr_node *last)
{
	const struct form *form = &forms[kind];

	if (!kr_node_is(last, KR_NODE_OBJECT) || count <= form->least || count > (size_t)form->most + 1)
		return false;
	if (count == (size_t)form->most + 1)
		return true;
	return kind == KR_OP_READ ? kr_native_is_attributes(last) : kind != KR_OP_RANGE;
}

/* One that the database carried out, or may have. */
static enum kr_status read_op(struct kr_native *n, const struct kr_node *op, struct kr_entry *out)
{
	uint32_t count = kr_node_size(op); /* 0 when it is no array */
	const struct kr_node *name = kr_node_at(op, 0);
	char found[80];

	if (!kr_node_is(name, KR_NODE_STRING))
		return kr_native_bad(n, "found %s, expected [\"name\", argument...]",
			kr_native_found(count ? name : op, found));

	int kind = find_kind(name->text);

	if (kind < 0)
		return kr_native_bad(n,
			"unknown operation %s, expected r, w, d, insert, cas, inc, append, add, max, "
			"range, scan%s",
			kr_native_found(name, found),
			n->in_failed ? " or update" : ", update, failed or undo");

	const struct kr_node *last = kr_node_at(op, --count);
	const struct kr_node *attributes =
		ends_in_attributes((enum kr_op_kind)kind, count, last) ? last : NULL;

	if (attributes)
		count--;
	if (count < forms[kind].least || count > forms[kind].most)
		return kr_native_bad(n, "\"%s\" takes %s, found %u argument%s",
			kr_op_name((enum kr_op_kind)kind), forms[kind].takes, count, count == 1 ? "" : "s");
	if (kind == KR_OP_RANGE && count == 4 && !attributes)
		attributes = last; /* one object may hold a range's options and its attributes */
	out->op.kind = (enum kr_op_kind)kind;
	n->arguments = count;
	KR_TRY(forms[kind].read(n, op, &out->op));
	return attributes ? kr_native_attributes(n, attributes, out) : KR_OK;
}

/* ["failed", OP, {"t": ..., "ends": ...}]: OP with its own attributes, but for its time. */
static enum kr_status read_failed(struct kr_native *n, const struct kr_node *op, struct kr_entry *out)
{
	const struct kr_node *inner = kr_node_at(op, 1), *attributes = kr_node_at(op, 2),
			     *ending = kr_node_get(attributes, "ends");
	char found[80];

	if (kr_node_size(op) < 2 || kr_node_size(op) > 3 ||
		(attributes && !kr_node_is(attributes, KR_NODE_OBJECT)))
		return kr_native_bad(n, "\"failed\" takes an operation and perhaps attributes, found %s",
			kr_node_size(op) == 3 ? kr_native_found(attributes, found)
					      : kr_native_found(op, found));
	n->in_failed = true;
	enum kr_status status = read_op(n, inner, out);
	n->in_failed = false;
	KR_TRY(status);
	out->attr.failed = out->attr.ends = true;
	if (out->attr.has_time)
		return kr_native_bad(n,
			"\"t\" of the operation that failed, expected it behind that operation, of "
			"\"failed\"");
	KR_TRY(kr_native_time(n, kr_node_get(attributes, "t"), &out->attr));
	return ending ? kr_native_put_bool(n, ending, "\"ends\"", &out->attr.ends) : KR_OK;
}

/* ["undo", n, {"t": ...}] */
static enum kr_status read_undo(struct kr_native *n, const struct kr_node *op, struct kr_entry *out)
{
	const struct kr_node *attributes = kr_node_at(op, 2);
	int64_t undone = 0;
	char found[80];

	if (kr_node_size(op) < 2 || kr_node_size(op) > 3 ||
		(attributes && !kr_node_is(attributes, KR_NODE_OBJECT)))
		return kr_native_bad(n,
			"\"undo\" takes a number of operations and perhaps attributes, found %s",
			kr_node_size(op) == 3 ? kr_native_found(attributes, found)
					      : kr_native_found(op, found));
	KR_TRY(kr_native_put_int(n, kr_node_at(op, 1), "the number of operations", &undone));
	if (undone < 0 || undone > (int64_t)n->op_index)
		return kr_native_bad(n, "undoes %lld operations, expected 0 to %u, as many as come before it",
			(long long)undone, (unsigned)n->op_index);
	out->is_undo = true;
	out->undo = (uint32_t)undone;
	return kr_native_time(n, kr_node_get(attributes, "t"), &out->attr);
}

enum kr_status kr_native_entry(struct kr_native *n, const struct kr_node *op, struct kr_entry *out)
{
	const struct kr_node *name = kr_node_at(op, 0);
	const char *word = kr_node_is(name, KR_NODE_STRING) ? name->text : "";

	return is_word(word, "undo")      ? read_undo(n, op, out)
		: is_word(word, "failed") ? read_failed(n, op, out)
					  : read_op(n, op, out);
}
