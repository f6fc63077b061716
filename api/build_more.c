/* Building of histories: what is rare. Ranges, scans and updates go through the native reader as the JSON
 * that says the same, so that their rules stand once; attributes, the header and version orders likewise
 * where their JSON says as much (field names of JSON cannot tell the key 1 from the key "1", so versions that
 * were seen go the direct way). */
#include "api/build.h"

/* ---- JSON ---- */

/* Takes over `item`; NULL, like a failure of Jansson's, is lack of memory. */
static enum kr_status append(json_t *array, json_t *item)
{
	return json_array_append_new(array, item) == 0 ? KR_OK : KR_NOMEM;
}
static enum kr_status set(json_t *object, const char *name, json_t *item)
{
	return json_object_set_new_nocheck(object, name, item) == 0 ? KR_OK : KR_NOMEM;
}

static enum kr_status append_value(krait_builder *b, json_t *array, const struct krait_value *v)
{
	json_t *item = NULL;
	KR_TRY(kr_build_json(b, v, &item));

	return append(array, item);
}

static enum kr_status set_value(krait_builder *b, json_t *object, const char *name,
	const struct krait_value *v)
{
	json_t *item = NULL;
	KR_TRY(kr_build_json(b, v, &item));

	return set(object, name, item);
}

static enum kr_status set_text(krait_builder *b, json_t *object, const char *name, const char *text)
{
	struct krait_value value = krait_text(text ? text : "");

	return text ? set_value(b, object, name, &value) : KR_OK;
}

/* The object that is the member `name`, made when it is not there; NULL: no memory. */
static json_t *member(json_t *object, const char *name)
{
	json_t *found = json_object_get(object, name);

	if (found)
		return found;
	return set(object, name, json_object()) ? NULL : json_object_get(object, name);
}

/* ---- ranges, scans, updates ---- */

static enum kr_status append_rows(krait_builder *b, json_t *op, const struct krait_operation *from)
{
	json_t *rows = json_array();
	KR_TRY(append(op, rows)); /* which borrows it from now on */

	for (size_t r = 0; r < from->row_count; r++) {
		json_t *row = json_array();

		KR_TRY(append(rows, row));
		KR_TRY(append_value(b, row, &from->rows[r].key));
		KR_TRY(append_value(b, row, &from->rows[r].value));
	}
	return KR_OK;
}

static enum kr_status append_range(krait_builder *b, json_t *op, const struct krait_operation *from)
{
	KR_TRY(append_value(b, op, &from->low));
	KR_TRY(append_value(b, op, &from->high));
	KR_TRY(append_rows(b, op, from));
	if (!from->has_limit && !from->reverse)
		return KR_OK;

	json_t *options = json_object();

	KR_TRY(append(op, options));
	if (from->has_limit)
		KR_TRY(set(options, "limit", json_integer(from->limit)));
	return from->reverse ? set(options, "reverse", json_true()) : KR_OK;
}

static enum kr_status append_condition(krait_builder *b, json_t *where, const struct krait_condition *c)
{
	/* by enum krait_test */
	static const char *const tests[] = {"eq", "ne", "lt", "le", "gt", "ge", "in"};
	json_t *group = where;
	char name[256];

	if ((unsigned)c->target > KRAIT_ROW_FIELD || (unsigned)c->test > KRAIT_IN)
		return kr_build_bad(b, "a condition with a target or a test that there is not",
			"one of enum krait_condition_target and krait_test");
	if (c->target == KRAIT_KEY_PREFIX)
		return json_object_get(where, "key_prefix") ? kr_build_bad(b, "two prefixes of a key", "one")
							    : set_value(b, where, "key_prefix", &c->value);
	if (c->target == KRAIT_ROW_VALUE) {
		group = member(where, "value");
	} else {
		if (c->field.type != KRAIT_STRING || c->field.length >= sizeof name ||
			memchr(c->field.text, '\0', c->field.length))
			return kr_build_bad(b,
				"the field of a condition that is no string of less than 256 bytes",
				"the name of a field");
		memcpy(name, c->field.text, c->field.length);
		name[c->field.length] = '\0';
		if ((group = member(where, "field")) != NULL)
			group = member(group, name);
	}
	if (!group)
		return KR_NOMEM;
	if (json_object_get(group, tests[c->test]))
		return kr_build_bad(b, "two conditions that test the same thing in the same way", "one");
	return set_value(b, group, tests[c->test], &c->value);
}

static enum kr_status append_scan(krait_builder *b, json_t *op, const struct krait_operation *from)
{
	json_t *where = json_object();
	KR_TRY(append(op, where));

	for (size_t c = 0; c < from->condition_count; c++)
		KR_TRY(append_condition(b, where, &from->conditions[c]));
	if (from->kind == KRAIT_UPDATE) {
		json_t *change = json_object();

		KR_TRY(append(op, change));
		KR_TRY(set_value(b, change, "set", &from->value));
	}
	return append_rows(b, op, from);
}

enum kr_status kr_build_predicate(krait_builder *b, const struct krait_operation *from, struct kr_entry *out)
{
	const struct kr_node *node;
	json_t *op = json_array();
	enum kr_status status =
		op ? append(op, json_string(kr_op_name((enum kr_op_kind)from->kind))) : KR_NOMEM;

	if (!status)
		status = from->kind == KRAIT_RANGE ? append_range(b, op, from) : append_scan(b, op, from);
	if (!status)
		status = kr_nodes_take(&b->native.nodes, op, &node);
	if (!status)
		status = kr_native_entry(&b->native, node, out);
	json_decref(op);
	return status;
}

/* ---- attributes ---- */

static enum kr_status push_seen(krait_builder *b, const struct krait_seen *from)
{
	struct kr_seen seen = {.key = {KR_NONE}, .writer = KR_ABSENT};
	KR_TRY(kr_build_key(b, &from->key, &seen.key));

	if (from->writer.type != KRAIT_ABSENT)
		KR_TRY(kr_build_name(b, &from->writer, "the writer of a version that was seen",
			&seen.writer));
	return kr_vec_add(b->h->mem, &b->h->seen, seen);
}

static enum kr_status take_time(krait_builder *b, const struct krait_operation *from, struct kr_attr *attr)
{
	if (!from->has_time)
		return from->unanswered
			? kr_build_bad(b, "an operation without a time that was not answered", "its time")
			: KR_OK;
	if (!from->unanswered && from->time[0] > from->time[1])
		return kr_build_bad(b, "a time of return before that of invocation", "invoked <= returned");
	attr->has_time = true;
	attr->open = from->unanswered;
	attr->invoked = from->time[0];
	attr->returned = from->unanswered ? KR_TIME_OPEN : from->time[1];
	return KR_OK;
}

enum kr_status kr_build_attributes(krait_builder *b, const struct krait_operation *from, struct kr_entry *out)
{
	struct kr_attr *attr = &out->attr;

	KR_TRY(take_time(b, from, attr));
	if (out->is_undo)
		return KR_OK;
	if ((unsigned)from->lock > KRAIT_LOCK_EXCLUSIVE)
		return kr_build_bad(b, "a lock that there is not", "one of enum krait_lock");
	if ((unsigned)from->read > KRAIT_READ_UNCOMMITTED)
		return kr_build_bad(b, "a way to read that there is not", "one of enum krait_read_mode");
	if (from->old_row && from->kind != KRAIT_WRITE)
		return kr_build_bad(b, "an old row of an operation that is no write",
			"it of KRAIT_WRITE only");
	attr->cursor = !from->no_cursor;
	attr->lock = (enum kr_lock)from->lock;
	attr->read = (enum kr_read_mode)from->read;
	attr->row_is_old = from->old_row;
	attr->failed = from->failed;
	attr->ends = from->failed && !from->goes_on;
	attr->seen_first = b->h->seen.n;
	for (size_t i = 0; i < from->seen_count; i++)
		KR_TRY(push_seen(b, &from->seen[i]));
	attr->seen_count = b->h->seen.n - attr->seen_first;
	if (from->no_cursor || from->has_time || from->lock != KRAIT_LOCK_NONE ||
		from->read != KRAIT_READ_AS_USUAL || from->old_row || attr->seen_count > 0)
		out->op.flags |= KR_OPF_HAS_ATTR;
	return KR_OK;
}

/* ---- header, version orders ---- */

static enum kr_status fill_header(krait_builder *b, const struct krait_header *from, json_t *header)
{
	/* by enum krait_initial and krait_key_order; NULL: nothing is said, or an object */
	static const char *const initial[] = {NULL, NULL, "unknown", "unwritten"};
	static const char *const orders[] = {NULL, "bytes", "numbers"};
	json_t *universe = json_array();
	KR_TRY(set(header, "universe", universe));

	if ((unsigned)from->initial > KRAIT_INITIAL_UNWRITTEN ||
		(unsigned)from->key_order > KRAIT_KEYS_NUMBERS)
		return kr_build_bad(b, "a kind of initial values or an order of keys that there is not",
			"one of enum krait_initial and krait_key_order");
	for (size_t i = 0; i < from->universe_count; i++)
		KR_TRY(append_value(b, universe, &from->universe[i]));
	KR_TRY(set_text(b, header, "name", from->name));
	KR_TRY(set_text(b, header, "time_unit", from->time_unit));
	KR_TRY(set(header, "clock_skew", json_integer(from->clock_skew)));
	if (from->initial == KRAIT_INITIAL_GIVEN)
		KR_TRY(set(header, "initial", json_object()));
	KR_TRY(set_text(b, header, "initial", initial[from->initial]));
	KR_TRY(set_text(b, header, "row_separator", from->row_separator));
	KR_TRY(set_text(b, header, "profile", from->profile));
	return set_text(b, header, "ordered_keys", orders[from->key_order]);
}

bool krait_build_header(krait_builder *b, const struct krait_header *header)
{
	struct kr_native_fields fields;
	const struct kr_node *node;

	if (b->status)
		return false;
	b->native.line = 0;
	if (b->open || b->h->position > 0 || b->headed || b->h->keys.n > 0)
		return kr_build_keep(b,
			kr_build_bad(b, "a header after something else", "it first of all, once"));
	b->headed = true;
	json_t *json = json_object();
	kr_build_keep(b, json ? fill_header(b, header, json) : KR_NOMEM);
	if (!b->status && kr_build_keep(b, kr_nodes_take(&b->native.nodes, json, &node))) {
		kr_native_get_fields(node, &fields);
		kr_build_keep(b, kr_native_header(&b->native, node, &fields));
		b->native.header_line = 1; /* a line that is a header comes too late now */
	}
	json_decref(json);
	return !b->status;
}

static enum kr_status add_order(krait_builder *b, const struct krait_value *key,
	const struct krait_value *writers, size_t count, json_t *order)
{
	struct kr_native_fields fields;
	const struct kr_node *node;
	json_t *list = json_array();

	KR_TRY(set(order, "writers", list));
	KR_TRY(set_value(b, order, "version_order", key));
	for (size_t i = 0; i < count; i++)
		KR_TRY(append_value(b, list, &writers[i]));
	KR_TRY(kr_nodes_take(&b->native.nodes, order, &node));
	kr_native_get_fields(node, &fields);
	return kr_native_order(&b->native, node, &fields);
}

bool krait_build_version_order(krait_builder *b, struct krait_value key, const struct krait_value *writers,
	size_t count)
{
	if (b->status)
		return false;
	b->native.line = 0;
	if (b->open)
		return kr_build_keep(b,
			kr_build_bad(b, "a version order inside a transaction", "its end first"));
	json_t *order = json_object();
	kr_build_keep(b, order ? add_order(b, &key, writers, count, order) : KR_NOMEM);
	json_decref(order);
	return !b->status;
}
