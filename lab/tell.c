/* One operation, one JSON array. What the database answered stands in it; what was never answered is told
 * only if somebody may have seen it: a write. */
#include "lab/tell.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void kr_line_add(struct kr_line *line, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	int length = vsnprintf(line->at + line->n, line->size - line->n, format, args);
	va_end(args);
	if (length < 0 || (size_t)length >= line->size - line->n)
		line->full = true;
	else
		line->n += (size_t)length;
}

void kr_line_text(struct kr_line *line, const char *text)
{
	kr_line_add(line, "\"");
	for (const char *c = text; *c; c++) {
		if (*c == '"' || *c == '\\' || (unsigned char)*c < ' ')
			kr_line_add(line, "\\u%04x", (unsigned)*c);
		else
			kr_line_add(line, "%c", *c);
	}
	kr_line_add(line, "\"");
}

static const char *const names[KL_KINDS] = {
	[KL_READ] = "r",
	[KL_READ_LIST] = "r",
	[KL_READ_SET] = "r",
	[KL_WRITE] = "w",
	[KL_DELETE] = "d",
	[KL_INSERT] = "insert",
	[KL_INC] = "inc",
	[KL_APPEND] = "append",
	[KL_ADD] = "add",
	[KL_RANGE] = "range",
	[KL_SCAN] = "scan",
	[KL_UPDATE] = "update",
};

/* What was asked: the name and the arguments before the answer. */
static void add_asked(struct kr_line *line, const struct kl_op *op)
{
	kr_line_add(line, "[\"%s\",", names[op->kind]);
	switch (op->kind) {
	case KL_SCAN:
	case KL_UPDATE:
		kr_line_add(line, "{\"key_prefix\":");
		kr_line_text(line, op->key);
		if (op->ge != INT64_MIN)
			kr_line_add(line, ",\"value\":{\"ge\":%" PRId64, op->ge);
		if (op->lt != INT64_MAX)
			kr_line_add(line, "%s\"lt\":%" PRId64, op->ge != INT64_MIN ? "," : ",\"value\":{",
				op->lt);
		kr_line_add(line, op->ge != INT64_MIN || op->lt != INT64_MAX ? "}}" : "}");
		if (op->kind == KL_UPDATE)
			kr_line_add(line, ",{\"set\":%" PRId64 "}", op->value);
		break;
	case KL_RANGE:
		kr_line_text(line, op->key);
		kr_line_add(line, ",");
		kr_line_text(line, op->high);
		break;
	case KL_WRITE:
	case KL_INSERT:
	case KL_INC:
	case KL_APPEND:
	case KL_ADD:
		kr_line_text(line, op->key);
		kr_line_add(line, ",%" PRId64, op->value);
		break;
	case KL_SQL: break;
	default: kr_line_text(line, op->key);
	}
}

static void add_rows(struct kr_line *line, const struct kl_result *r, bool values_only)
{
	kr_line_add(line, ",[");
	for (size_t i = 0; i < r->row_count; i++) {
		kr_line_add(line, "%s", i > 0 ? "," : "");
		if (!values_only) {
			kr_line_add(line, "[");
			kr_line_text(line, r->rows[i].key);
			kr_line_add(line, ",");
		}
		kr_line_add(line, "%" PRId64 "%s", r->rows[i].value, values_only ? "" : "]");
	}
	kr_line_add(line, "]");
}

static void add_answer(struct kr_line *line, const struct kl_op *op, const struct kl_result *r)
{
	switch (op->kind) {
	case KL_READ:
		if (r->found)
			kr_line_add(line, ",%" PRId64, r->value);
		else
			kr_line_add(line, ",null");
		break;
	case KL_READ_LIST:
	case KL_READ_SET:
		if (r->found)
			add_rows(line, r, true);
		else
			kr_line_add(line, ",null");
		break;
	case KL_DELETE:
	case KL_INSERT: kr_line_add(line, ",%s", r->done ? "true" : "false"); break;
	case KL_INC:
		if (!r->unseen)
			kr_line_add(line, ",%" PRId64, r->value);
		break;
	case KL_RANGE:
	case KL_SCAN:
	case KL_UPDATE: add_rows(line, r, false); break;
	default: break;
	}
}

/* Which versions were seen, by the database's numbers, which become ids in the end (order.c). */
static void add_marks(struct kr_line *line, const struct kl_op *op, const struct kl_result *r)
{
	const char *before = ",\"marks\":{";

	if (op->kind == KL_UPDATE)
		return;
	if (r->mark) {
		kr_line_add(line, "%s", before);
		kr_line_text(line, op->key);
		kr_line_add(line, ":%" PRIu64, r->mark);
		before = ",";
	}
	for (size_t i = 0; i < r->row_count; i++) {
		if (!r->rows[i].mark)
			continue;
		kr_line_add(line, "%s", before);
		kr_line_text(line, r->rows[i].key);
		kr_line_add(line, ":%" PRIu64, r->rows[i].mark);
		before = ",";
	}
	if (before[1] == '\0')
		kr_line_add(line, "}");
}

void kr_tell_answered(struct kr_line *line, const struct kl_op *op, const struct kl_result *r)
{
	static const char *const locks[] = {"", ",\"lock\":\"shared\"", ",\"lock\":\"exclusive\""};

	add_asked(line, op);
	add_answer(line, op, r);
	if (r->sent)
		kr_line_add(line, ",{\"t\":[%" PRId64 ",%" PRId64 "]%s", r->sent, r->answered,
			locks[op->lock]);
	else
		kr_line_add(line, ",{\"buffered\":true");
	if (op->kind == KL_RANGE && op->limit)
		kr_line_add(line, ",\"limit\":%" PRIu32, op->limit);
	if (r->unchanged)
		kr_line_add(line, ",\"changed\":false");
	add_marks(line, op, r);
	kr_line_add(line, "}]");
}

void kr_tell_sent(struct kr_line *line, const struct kl_op *op)
{
	struct kl_op as = *op;

	if (op->kind == KL_INSERT)
		as.kind = KL_WRITE; /* whether it was done is not known, and must be told of an insert */
	switch (as.kind) {
	case KL_WRITE:
	case KL_DELETE:
	case KL_INC:
	case KL_APPEND:
	case KL_ADD:
		add_asked(line, &as);
		kr_line_add(line, "]");
		break;
	default: break;
	}
}

void kr_tell_failed(struct kr_line *line, const struct kl_op *op, const struct kl_result *r, bool ends)
{
	static const struct kl_result nothing = {0};

	kr_line_add(line, "[\"failed\",");
	add_asked(line, op);
	if (op->kind != KL_READ && op->kind != KL_READ_LIST && op->kind != KL_READ_SET &&
		op->kind != KL_DELETE && op->kind != KL_INC)
		add_answer(line, op, &nothing);
	kr_line_add(line, "],{\"t\":[%" PRId64 ",%" PRId64 "],\"ends\":%s", r->sent, r->answered,
		ends ? "true" : "false");
	if (r->code[0]) {
		kr_line_add(line, ",\"code\":");
		kr_line_text(line, r->code);
	}
	kr_line_add(line, "}]");
}
