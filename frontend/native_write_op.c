/* The native writer's operations. What failed or was undone stands where the trace had it. */
#include "frontend/native_write_work.h"

void kr_native_write_unsupported(struct kr_native_writer *w, const char *what)
{
	if (!w->status)
		w->status =
			kr_err_set(w->err, KR_UNSUPPORTED, "%s cannot be written in the native format", what);
}

static void put_next(struct kr_native_writer *w, kr_value value)
{
	kr_native_write_bit(w, ", ");
	kr_native_write_value(w, value);
}

static void put_rows(struct kr_native_writer *w, const struct kr_scan *scan)
{
	kr_native_write_bit(w, ", [");
	for (uint32_t r = 0; r < scan->row_count; r++) {
		const struct kr_row *row = &w->h->rows.at[scan->row_first + r];
		kr_native_write_bit(w, r == 0 ? "[" : ", [");
		kr_native_write_key(w, row->key);
		put_next(w, row->value);
		kr_native_write_bit(w, "]");
	}
	kr_native_write_bit(w, "]");
}

static void put_test(struct kr_native_writer *w, const struct kr_cond *cond)
{
	/* by enum kr_cond_test */
	static const char *const tests[] = {"eq", "ne", "lt", "le", "gt", "ge", "in"};

	if (cond->test >= KR_COUNT(tests)) {
		kr_native_write_unsupported(w, "a condition on the prefix of a value");
		return;
	}
	kr_str_format(w->out, "\"%s\": ", tests[cond->test]);
	kr_native_write_value(w, cond->value);
}

static bool same_group(const struct kr_cond *a, const struct kr_cond *b)
{
	return a->target == b->target && (a->target != KR_COND_FIELD || a->field.i == b->field.i);
}

/* Writes the tests of the group that conds[0] opens; the same test twice has no place in a JSON object. */
static void put_group(struct kr_native_writer *w, const struct kr_cond *conds, uint32_t count)
{
	unsigned seen = 0;

	for (uint32_t c = 0; c < count; c++) {
		if (!same_group(&conds[0], &conds[c]))
			continue;
		if (seen & 1u << conds[c].test)
			kr_native_write_unsupported(w, "a condition that tests the same thing twice");
		kr_native_write_bit(w, seen ? ", " : "{");
		put_test(w, &conds[c]);
		seen |= 1u << conds[c].test;
	}
	kr_native_write_bit(w, "}");
}

/* Whether an earlier condition has opened (and written) the group of conds[c]. */
static bool is_written(const struct kr_cond *conds, uint32_t c)
{
	for (uint32_t b = 0; b < c; b++)
		if (same_group(&conds[b], &conds[c]))
			return true;
	return false;
}

static void put_fields(struct kr_native_writer *w, const struct kr_cond *conds, uint32_t count)
{
	const char *separator = "\"field\": {";

	for (uint32_t c = 0; c < count; c++) {
		if (conds[c].target != KR_COND_FIELD || is_written(conds, c))
			continue;
		kr_native_write_bit(w, separator);
		kr_native_write_member(w, conds[c].field);
		put_group(w, &conds[c], count - c);
		separator = ", ";
	}
	kr_native_write_bit(w, "}");
}

static void put_where(struct kr_native_writer *w, const struct kr_scan *scan)
{
	const struct kr_cond *conds = scan->cond_count ? &w->h->conds.at[scan->cond_first] : NULL;
	bool fields = false;
	const char *separator = "";

	kr_native_write_bit(w, "{");
	for (uint32_t c = 0; c < scan->cond_count; c++) {
		bool written = conds[c].target == KR_COND_FIELD ? fields : is_written(conds, c);
		if (written && conds[c].target != KR_COND_KEY_PREFIX)
			continue;
		if (written)
			kr_native_write_unsupported(w, "a condition with two key prefixes");
		kr_native_write_bit(w, separator);
		separator = ", ";
		if (conds[c].target == KR_COND_FIELD) {
			put_fields(w, conds, scan->cond_count);
			fields = true;
		} else if (conds[c].target == KR_COND_VALUE) {
			kr_native_write_bit(w, "\"value\": ");
			put_group(w, &conds[c], scan->cond_count - c);
		} else {
			kr_native_write_bit(w, "\"key_prefix\": ");
			kr_native_write_value(w, conds[c].value);
		}
	}
	kr_native_write_bit(w, "}");
}

/* of all that names a key, but reads */
static void put_write(struct kr_native_writer *w, const struct kr_operation *op)
{
	bool known = op->flags & KR_OPF_KNOWN, cas = op->kind == KR_OP_CAS;

	kr_native_write_key(w, op->key);
	if (op->kind != KR_OP_DELETE)
		put_next(w, op->a);
	if (cas || (op->kind == KR_OP_INC && known))
		put_next(w, op->b);
	if (cas || op->kind == KR_OP_INSERT || (op->kind == KR_OP_DELETE && known))
		kr_native_write_bit(w, op->flags & KR_OPF_DONE ? ", true" : ", false");
}

static void put_read(struct kr_native_writer *w, const struct kr_operation *op)
{
	kr_native_write_key(w, op->key);
	if (!(op->flags & KR_OPF_KNOWN))
		return;
	put_next(w, op->a);
	if (kr_history_value(w->h, op->a)->type == KR_VALUE_OBJECT && !w->attributes)
		kr_native_write_bit(w, ", {}"); /* so that the value is not taken for attributes */
}

static void put_range(struct kr_native_writer *w, const struct kr_operation *op)
{
	const struct kr_scan *scan = &w->h->scans.at[op->scan];

	kr_native_write_value(w, scan->low);
	put_next(w, scan->high);
	put_rows(w, scan);
	if (scan->limit >= 0)
		kr_str_format(w->out, ", {\"limit\": %lld%s}", (long long)scan->limit,
			scan->reverse ? ", \"reverse\": true" : "");
	else if (scan->reverse)
		kr_native_write_bit(w, ", {\"reverse\": true}");
	else if (w->attributes)
		kr_native_write_bit(w, ", {}"); /* so that the attributes come second */
}

static void put_scan(struct kr_native_writer *w, const struct kr_operation *op)
{
	const struct kr_scan *scan = &w->h->scans.at[op->scan];

	put_where(w, scan);
	if (op->kind == KR_OP_UPDATE) {
		kr_native_write_bit(w, ", {\"set\": ");
		kr_native_write_value(w, scan->set);
		kr_native_write_bit(w, "}");
	}
	put_rows(w, scan);
}

static const char *put_time(struct kr_native_writer *w, const struct kr_attr *attr, const char *separator)
{
	if (!attr->has_time)
		return separator;
	kr_native_write_bit(w, separator);
	if (attr->open)
		kr_str_format(w->out, "\"t\": [%lld, null]", (long long)attr->invoked);
	else
		kr_str_format(w->out, "\"t\": [%lld, %lld]", (long long)attr->invoked,
			(long long)attr->returned);
	return ", ";
}

static const char *put_word(struct kr_native_writer *w, const char *name, const char *word,
	const char *separator)
{
	if (!word)
		return separator;
	kr_str_format(w->out, "%s\"%s\": \"%s\"", separator, name, word);
	return ", ";
}

static const char *put_versions(struct kr_native_writer *w, const struct kr_attr *attr, const char *separator)
{
	if (attr->seen_count == 0)
		return separator;
	kr_str_format(w->out, "%s\"versions\": {", separator);
	for (uint32_t s = 0; s < attr->seen_count; s++) {
		const struct kr_seen *seen = &w->h->seen.at[attr->seen_first + s];
		kr_native_write_bit(w, s == 0 ? "" : ", ");
		kr_native_write_member(w, w->h->keys.at[seen->key.i].name);
		kr_native_write_value(w, seen->writer);
	}
	kr_native_write_bit(w, "}");
	return ", ";
}

static void put_attributes(struct kr_native_writer *w, const struct kr_attr *attr, bool time)
{
	static const char *const locks[] = {NULL, "shared", "exclusive"}; /* by enum kr_lock */
	/* by enum kr_read_mode */
	static const char *const modes[] = {NULL, "snapshot", "latest", "uncommitted"};
	const char *separator = "";

	kr_native_write_bit(w, "{");
	if (time)
		separator = put_time(w, attr, separator);
	if (!attr->cursor) {
		kr_str_format(w->out, "%s\"cursor\": false", separator);
		separator = ", ";
	}
	separator = put_word(w, "lock", locks[attr->lock], separator);
	separator = put_word(w, "read", modes[attr->read], separator);
	separator = put_word(w, "row", attr->row_is_old ? "old" : NULL, separator);
	separator = put_versions(w, attr, separator);
	if (separator[0] == '\0')
		/* never empty: after a read's key that would be a value */
		kr_native_write_bit(w, "\"cursor\": true");
	kr_native_write_bit(w, "}");
}

static void put_operation(struct kr_native_writer *w, const struct kr_operation *op,
	const struct kr_attr *attr, bool time)
{
	w->attributes = attr != NULL;
	kr_str_format(w->out, "[\"%s\", ", kr_op_name(op->kind));
	switch (op->kind) {
	case KR_OP_READ: put_read(w, op); break;
	case KR_OP_RANGE: put_range(w, op); break;
	case KR_OP_SCAN:
	case KR_OP_UPDATE: put_scan(w, op); break;
	default: put_write(w, op);
	}
	if (attr) {
		kr_native_write_bit(w, ", ");
		put_attributes(w, attr, time);
	}
	kr_native_write_bit(w, "]");
}

/* Whether an operation that failed has attributes of its own, beside its time. */
static bool has_own(const struct kr_attr *attr)
{
	return !attr->cursor || attr->lock || attr->read || attr->row_is_old || attr->seen_count;
}

static void put_failed(struct kr_native_writer *w, const struct kr_walk *entry)
{
	kr_native_write_bit(w, "[\"failed\", ");
	put_operation(w, entry->op, has_own(entry->attr) ? entry->attr : NULL, false);
	if (entry->attr->has_time || !entry->attr->ends) {
		kr_native_write_bit(w, ", {");
		const char *separator = put_time(w, entry->attr, "");
		if (!entry->attr->ends)
			kr_str_format(w->out, "%s\"ends\": false", separator);
		kr_native_write_bit(w, "}");
	}
	kr_native_write_bit(w, "]");
}

void kr_native_write_entry(struct kr_native_writer *w, const struct kr_walk *entry)
{
	const struct kr_entry *struck = entry->struck;

	if (struck && struck->is_undo) {
		kr_str_format(w->out, "[\"undo\", %u", (unsigned)struck->undo);
		if (struck->attr.has_time) {
			kr_native_write_bit(w, ", {");
			put_time(w, &struck->attr, "");
			kr_native_write_bit(w, "}");
		}
		kr_native_write_bit(w, "]");
	} else if (struck && struck->attr.failed) {
		put_failed(w, entry);
	} else {
		put_operation(w, entry->op, entry->op->flags & KR_OPF_HAS_ATTR ? entry->attr : NULL, true);
	}
}
