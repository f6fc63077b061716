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

/* Up to `end`, two digits at a time; where they begin. */
static char *write_digits(uint64_t number, char *end)
{
	static const char pairs[] = "0001020304050607080910111213141516171819202122232425262728293031323334"
				    "3536373839404142434445464748495051525354555657585960616263646566676869"
				    "707172737475767778798081828384858687888990919293949596979899";

	for (; number >= 100; number /= 100) {
		end -= 2;
		memcpy(end, pairs + 2 * (number % 100), 2);
	}
	end -= number >= 10 ? 2 : 1;
	if (number >= 10)
		memcpy(end, pairs + 2 * number, 2);
	else
		*end = (char)('0' + number);
	return end;
}

static char *write_integer(int64_t number, char *end)
{
	char *at = write_digits(number < 0 ? 0 - (uint64_t)number : (uint64_t)number, end);

	if (number < 0)
		*--at = '-';
	return at;
}

const char *kl_decimal(int64_t number, char out[KL_DECIMAL])
{
	out[KL_DECIMAL - 1] = '\0';
	return write_integer(number, out + KL_DECIMAL - 1);
}

void kr_line_natural(struct kr_line *line, uint64_t number)
{
	char digits[20], *end = digits + sizeof digits, *at = write_digits(number, end);

	kr_line_bytes(line, at, (size_t)(end - at));
}

static void add_integer(struct kr_line *line, int64_t number)
{
	char digits[20], *end = digits + sizeof digits, *at = write_integer(number, end);

	kr_line_bytes(line, at, (size_t)(end - at));
}

void kr_line_pair(struct kr_line *line, const char *before, int64_t a, int64_t b)
{
	kr_line_put(line, before);
	add_integer(line, a);
	kr_line_put(line, ",");
	add_integer(line, b);
	kr_line_put(line, "]");
}

/* Plain stretches as they are, what JSON escapes between them. */
void kr_line_text(struct kr_line *line, const char *text)
{
	kr_line_put(line, "\"");
	while (*text) {
		size_t n = 0;

		while ((unsigned char)text[n] >= ' ' && text[n] != '"' && text[n] != '\\')
			n++;
		kr_line_bytes(line, text, n);
		text += n;
		if (*text)
			kr_line_add(line, "\\u%04x", (unsigned)*text++);
	}
	kr_line_put(line, "\"");
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
	kr_line_put(line, "[\"");
	kr_line_put(line, names[op->kind]);
	kr_line_put(line, "\",");
	switch (op->kind) {
	case KL_SCAN:
	case KL_UPDATE:
		kr_line_put(line, "{\"key_prefix\":");
		kr_line_text(line, op->key);
		if (op->ge != INT64_MIN)
			kr_line_add(line, ",\"value\":{\"ge\":%" PRId64, op->ge);
		if (op->lt != INT64_MAX)
			kr_line_add(line, "%s\"lt\":%" PRId64, op->ge != INT64_MIN ? "," : ",\"value\":{",
				op->lt);
		kr_line_put(line, op->ge != INT64_MIN || op->lt != INT64_MAX ? "}}" : "}");
		if (op->kind == KL_UPDATE)
			kr_line_add(line, ",{\"set\":%" PRId64 "}", op->value);
		break;
	case KL_RANGE:
		kr_line_text(line, op->key);
		kr_line_put(line, ",");
		kr_line_text(line, op->high);
		break;
	case KL_WRITE:
	case KL_INSERT:
	case KL_INC:
	case KL_APPEND:
	case KL_ADD:
		kr_line_text(line, op->key);
		kr_line_put(line, ",");
		add_integer(line, op->value);
		break;
	case KL_SQL: break;
	default: kr_line_text(line, op->key);
	}
}

static void add_rows(struct kr_line *line, const struct kl_result *r, bool values_only)
{
	kr_line_put(line, ",[");
	for (size_t i = 0; i < r->row_count; i++) {
		if (i > 0)
			kr_line_put(line, ",");
		if (!values_only) {
			kr_line_put(line, "[");
			kr_line_text(line, r->rows[i].key);
			kr_line_put(line, ",");
		}
		add_integer(line, r->rows[i].value);
		if (!values_only)
			kr_line_put(line, "]");
	}
	kr_line_put(line, "]");
}

static void add_value(struct kr_line *line, bool found, int64_t value)
{
	kr_line_put(line, ",");
	if (found)
		add_integer(line, value);
	else
		kr_line_put(line, "null");
}

static void add_answer(struct kr_line *line, const struct kl_op *op, const struct kl_result *r)
{
	switch (op->kind) {
	case KL_READ: add_value(line, r->found, r->value); break;
	case KL_READ_LIST:
	case KL_READ_SET:
		if (r->found)
			add_rows(line, r, true);
		else
			add_value(line, false, 0);
		break;
	case KL_DELETE:
	case KL_INSERT: kr_line_put(line, r->done ? ",true" : ",false"); break;
	case KL_INC:
		if (!r->unseen)
			add_value(line, true, r->value);
		break;
	case KL_RANGE:
	case KL_SCAN:
	case KL_UPDATE: add_rows(line, r, false); break;
	default: break;
	}
}

static void add_mark(struct kr_line *line, const char *before, const char *key, uint64_t mark)
{
	kr_line_put(line, before);
	kr_line_text(line, key);
	kr_line_put(line, ":");
	kr_line_natural(line, mark);
}

/* Which versions were seen, by the database's numbers, which become ids in the end (order.c). */
static void add_marks(struct kr_line *line, const struct kl_op *op, const struct kl_result *r)
{
	const char *before = ",\"marks\":{";

	if (op->kind == KL_UPDATE)
		return;
	if (r->mark) {
		add_mark(line, before, op->key, r->mark);
		before = ",";
	}
	for (size_t i = 0; i < r->row_count; i++) {
		if (!r->rows[i].mark)
			continue;
		add_mark(line, before, r->rows[i].key, r->rows[i].mark);
		before = ",";
	}
	if (before[1] == '\0')
		kr_line_put(line, "}");
}

void kr_tell_answered(struct kr_line *line, const struct kl_op *op, const struct kl_result *r)
{
	static const char *const locks[] = {"", ",\"lock\":\"shared\"", ",\"lock\":\"exclusive\""};

	add_asked(line, op);
	add_answer(line, op, r);
	if (r->sent) {
		kr_line_pair(line, ",{\"t\":[", r->sent, r->answered);
		kr_line_put(line, locks[op->lock]);
	} else {
		kr_line_put(line, ",{\"buffered\":true");
	}
	if (op->kind == KL_RANGE && op->limit)
		kr_line_add(line, ",\"limit\":%" PRIu32, op->limit);
	if (r->unchanged)
		kr_line_put(line, ",\"changed\":false");
	add_marks(line, op, r);
	if (r->view && r->view[0]) {
		kr_line_put(line, ",\"sees\":");
		kr_line_text(line, r->view);
	}
	kr_line_put(line, "}]");
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
		kr_line_put(line, "]");
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
	kr_line_pair(line, "],{\"t\":[", r->sent, r->answered);
	kr_line_put(line, ends ? ",\"ends\":true" : ",\"ends\":false");
	if (r->code[0]) {
		kr_line_add(line, ",\"code\":");
		kr_line_text(line, r->code);
	}
	kr_line_add(line, "}]");
}
