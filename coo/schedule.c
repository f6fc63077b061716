/* Reading and writing schedules (schedule.h): tokens separated by blanks; '#' begins a comment. One pass over
 * the text; values are kept per object to find those that are used twice. */
#include "coo/schedule.h"

#include <stdlib.h>
#include <string.h>

static const char letters[KR_COO_KINDS] = {'R', 'W', 'D', 'I', 'L', 'Q', 'U', 'C', 'A'};

void kr_coo_range(char range, char objects[2])
{
	objects[0] = (char)('x' + (range - 'a'));
	objects[1] = (char)('u' + (range - 'a'));
}

bool kr_coo_initial(const struct kr_coo_schedule *s, char object, int64_t *value)
{
	uint32_t i = kr_coo_index(object);

	*value = s->given[i] ? s->initial[i] : 0;
	return s->given[i] || object < 'u' || object > 'w';
}

/* ---- reading ---- */

struct parsing {
	struct kr_mem *mem;
	struct kr_coo_schedule *s;
	const char *text, *at;
	uint32_t line;
	struct kr_err *err;
	bool ended[KR_COO_TXNS + 1];
};

static enum kr_status bad(const struct parsing *p, const char *at, const char *what)
{
	size_t length = strcspn(at, " \t\r\n");

	kr_err_set(p->err, KR_BAD, "found '%.*s', %s", length < 40 ? (int)length : 40, at, what);
	kr_err_at(p->err, NULL, p->line, (uint32_t)(at - p->text) + 1);
	return KR_BAD;
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_object(char c) { return c >= 'd' && c <= 'z'; }
static bool is_range(char c) { return c >= 'a' && c <= 'c'; }
static bool at_end(const struct parsing *p) { return *p->at == '\0' || *p->at == '#'; }

/* To the next token; false at the end of the part. */
static bool next(struct parsing *p)
{
	while (is_blank(*p->at))
		p->at++;
	return !at_end(p) && *p->at != '|';
}

static bool token_ends(const struct parsing *p) { return at_end(p) || is_blank(*p->at) || *p->at == '|'; }

/* A number, if there is one. False: it has more digits than a value can have. */
static bool take_number(struct parsing *p, int64_t *out, bool *found)
{
	const char *start = p->at;

	if (*p->at == '-')
		p->at++;
	while (is_digit(*p->at))
		p->at++;
	*found = p->at > start + (*start == '-');
	*out = *found ? strtoll(start, NULL, 10) : 0;
	return p->at - start <= 18;
}

/* Whether the object had this value before: initially, or by an operation so far. */
static bool is_used(const struct kr_coo_schedule *s, char object, int64_t value)
{
	int64_t initial;

	if (kr_coo_initial(s, object, &initial) && initial == value)
		return true;
	for (uint32_t i = 0; i < s->ops.n; i++) {
		const struct kr_coo_op *op = &s->ops.at[i];
		char objects[2] = {op->object, op->object};

		if (op->kind == KR_COO_UPDATE)
			kr_coo_range(op->object, objects);
		if ((op->kind == KR_COO_WRITE || op->kind == KR_COO_INSERT || op->kind == KR_COO_UPDATE) &&
			op->value == value && (objects[0] == object || objects[1] == object))
			return true;
	}
	return false;
}

static int64_t next_value(const struct kr_coo_schedule *s, const char objects[2])
{
	int64_t value = 1;

	while (is_used(s, objects[0], value) || is_used(s, objects[1], value))
		value++;
	return value;
}

static enum kr_status take_value(struct parsing *p, const char *token, struct kr_coo_op *op)
{
	char objects[2] = {op->object, op->object};
	bool found;

	if (op->kind == KR_COO_UPDATE)
		kr_coo_range(op->object, objects);
	if (!take_number(p, &op->value, &found))
		return bad(p, token, "expected a value of at most 18 digits");
	if (!found)
		op->value = next_value(p->s, objects);
	else if (is_used(p->s, objects[0], op->value) || is_used(p->s, objects[1], op->value))
		return bad(p, token, "expected a value that the object has not had before");
	return KR_OK;
}

/* "1=rc" */
static enum kr_status take_level(struct parsing *p, const char *token)
{
	size_t length = 0;

	if (p->s->ops.n > 0)
		return bad(p, token, "expected levels before the first operation");
	for (p->at += 2; !token_ends(p); p->at++)
		length++;
	if (*token == '0' || length == 0 || length >= sizeof p->s->level[0])
		return bad(p, token, "expected a transaction from 1 to 9 and a level, such as 1=rc");
	memcpy(p->s->level[*token - '0'], token + 2, length);
	return KR_OK;
}

static enum kr_status take_operation(struct parsing *p)
{
	const char *token = p->at, *letter = memchr(letters, *token, sizeof letters);
	struct kr_coo_op op = {.column = (uint32_t)(token - p->text) + 1};

	if (is_digit(*token) && token[1] == '=')
		return take_level(p, token);
	if (!letter || token[1] < '1' || token[1] > '9')
		return bad(p, token,
			"expected an operation, such as R1x, W1x5, D1x, I1u5, L1x, Q1a, U1a, C1 or A1");
	op.kind = (uint8_t)(letter - letters);
	op.txn = (uint8_t)(token[1] - '0');
	p->at += 2;
	if (op.kind != KR_COO_COMMIT && op.kind != KR_COO_ABORT) {
		bool range = op.kind == KR_COO_QUERY || op.kind == KR_COO_UPDATE;
		if (range ? !is_range(*p->at) : !is_object(*p->at))
			return bad(p, token,
				range ? "expected a range, a, b or c, behind the transaction"
				      : "expected an object, d to z, behind the transaction");
		op.object = *p->at++;
	}
	if (op.kind == KR_COO_WRITE || op.kind == KR_COO_INSERT || op.kind == KR_COO_UPDATE)
		KR_TRY(take_value(p, token, &op));
	if (!token_ends(p))
		return bad(p, token, "expected nothing behind the operation");
	if (p->ended[op.txn])
		return bad(p, token, "expected no operation behind its transaction's end");
	p->ended[op.txn] = op.kind == KR_COO_COMMIT || op.kind == KR_COO_ABORT;
	return kr_vec_add(p->mem, &p->s->ops, op);
}

/* "x=5" */
static enum kr_status take_initial(struct parsing *p)
{
	const char *token = p->at;
	int64_t value = 0;
	bool found = false, good = is_object(*token) && token[1] == '=';

	if (good) {
		p->at += 2;
		good = take_number(p, &value, &found) && found && token_ends(p);
	}
	if (!good)
		return bad(p, token, "expected an initial value, such as x=5");
	p->s->given[kr_coo_index(*token)] = true;
	p->s->initial[kr_coo_index(*token)] = value;
	return KR_OK;
}

static enum kr_status take_all(struct parsing *p, const char *from, enum kr_status (*take)(struct parsing *p))
{
	for (p->at = from; next(p);)
		KR_TRY(take(p));
	return KR_OK;
}

static void copy(char *out, size_t size, const char *from, size_t length)
{
	while (length > 0 && is_blank(from[length - 1]))
		length--;
	length = length < size ? length : size - 1;
	memcpy(out, from, length);
	out[length] = '\0';
}

/* "ID NAME" */
static void take_title(struct kr_coo_schedule *s, const char *text, size_t length)
{
	size_t start = strspn(text, " \t"), word;

	start = start < length ? start : length;
	word = strcspn(text + start, " \t|");
	copy(s->id, sizeof s->id, text + start, word);
	start += word;
	start += strspn(text + start, " \t");
	if (start < length)
		copy(s->name, sizeof s->name, text + start, length - start);
}

static enum kr_status parse(struct parsing *p)
{
	const char *comment = p->text + strcspn(p->text, "#"),
		   *bar = memchr(p->text, '|', (size_t)(comment - p->text));
	const char *second = bar ? memchr(bar + 1, '|', (size_t)(comment - bar - 1)) : NULL;
	const char *third = second ? memchr(second + 1, '|', (size_t)(comment - second - 1)) : NULL;
	enum kr_status status = KR_OK;

	if (bar)
		take_title(p->s, p->text, (size_t)(bar - p->text));
	if (third)
		return bad(p, third, "expected at most three parts: ID NAME | SCHEDULE | INITIAL");
	if (second) /* first, since operations are held against initial values */
		status = take_all(p, second + 1, take_initial);
	if (!status)
		status = take_all(p, bar ? bar + 1 : p->text, take_operation);
	if (status || p->s->ops.n > 0)
		return status;
	kr_err_set(p->err, KR_BAD, "found no operation, expected at least one");
	kr_err_at(p->err, NULL, p->line, (uint32_t)(p->at - p->text) + 1);
	return KR_BAD;
}

enum kr_status kr_coo_parse(struct kr_mem *mem, const char *text, uint32_t line, struct kr_coo_schedule *out,
	struct kr_err *err)
{
	struct kr_coo_schedule s = {.line = line};
	struct parsing p = {.mem = mem, .s = &s, .text = text, .at = text, .line = line, .err = err};
	enum kr_status status = parse(&p);

	if (status)
		kr_coo_schedule_done(mem, &s);
	else
		*out = s;
	return status;
}

void kr_coo_schedule_done(struct kr_mem *mem, struct kr_coo_schedule *s) { kr_vec_done(mem, &s->ops); }

/* ---- writing ---- */

void kr_coo_print_op(const struct kr_coo_op *op, struct kr_str *out)
{
	kr_str_format(out, "%c%u", letters[op->kind], op->txn);
	if (op->object)
		kr_str_format(out, "%c", op->object);
	if (op->kind == KR_COO_WRITE || op->kind == KR_COO_INSERT || op->kind == KR_COO_UPDATE)
		kr_str_format(out, "%lld", (long long)op->value);
}

void kr_coo_print(const struct kr_coo_schedule *s, struct kr_str *out)
{
	bool first = true;

	for (uint32_t t = 1; t <= KR_COO_TXNS; t++) {
		if (!s->level[t][0])
			continue;
		kr_str_format(out, "%s%u=%s", first ? "" : " ", t, s->level[t]);
		first = false;
	}
	for (uint32_t i = 0; i < s->ops.n; i++) {
		kr_str_add(out, first ? "" : " ");
		kr_coo_print_op(&s->ops.at[i], out);
		first = false;
	}
}
