/* Canonical JSON (compact, no blanks) is cut at commas and colons outside strings and brackets; a counter of
 * open brackets replaces recursion. Strings are compared byte by byte as they are unescaped, so nothing is
 * allocated. Cost: the length of the text read. */
#include "frontend/json.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"

bool kr_piece_next(const char *text, size_t length, size_t *at, struct kr_piece *out)
{
	size_t i = *at, depth = 0;
	bool in_string = false;

	if (length < 2 || i + 1 >= length)
		return false;
	for (; i + 1 < length; i++) { /* the last byte is the closing bracket */
		char c = text[i];
		if (in_string) {
			if (c == '\\')
				i++;
			else if (c == '"')
				in_string = false;
		} else if (c == '"') {
			in_string = true;
		} else if (c == '[' || c == '{') {
			depth++;
		} else if (c == ']' || c == '}') {
			depth--;
		} else if ((c == ',' || c == ':') && depth == 0) {
			break;
		}
	}
	if (i + 1 > length)
		i = length - 1;
	*out = (struct kr_piece){text + *at, i - *at};
	*at = i + 1;
	return true;
}

/* ---- operands ---- */

struct kr_operand kr_operand_of_value(const struct kr_history *h, kr_value value)
{
	const struct kr_value_entry *e = kr_history_value(h, value);
	struct kr_operand o = {.type = e->type};

	if (e->type == KR_VALUE_INT)
		o.integer = e->integer;
	else if (e->type == KR_VALUE_REAL)
		o.real = e->real;
	else if (e->type >= KR_VALUE_STRING)
		o.text = (struct kr_piece){e->text, e->length};
	return o;
}

struct kr_operand kr_operand_of_piece(struct kr_piece piece)
{
	struct kr_operand o = {.type = KR_VALUE_ABSENT, .text = piece};
	char number[40];

	switch (piece.length ? piece.text[0] : 'n') {
	case 'n': break;
	case 'f': o.type = KR_VALUE_FALSE; break;
	case 't': o.type = KR_VALUE_TRUE; break;
	case '[': o.type = KR_VALUE_ARRAY; break;
	case '{': o.type = KR_VALUE_OBJECT; break;
	case '"':
		o.type = KR_VALUE_STRING;
		o.text = (struct kr_piece){piece.text + 1, piece.length - 2};
		o.escaped = true;
		break;
	default:
		if (piece.length >= sizeof number)
			break;
		memcpy(number, piece.text, piece.length);
		number[piece.length] = '\0';
		if (strspn(number, "-0123456789") == piece.length) {
			o.type = KR_VALUE_INT;
			o.integer = strtoll(number, NULL, 10);
		} else {
			o.type = KR_VALUE_REAL;
			o.real = strtod(number, NULL);
		}
	}
	return o;
}

/* ---- strings ---- */

struct cursor {
	const char *at, *end;
	bool escaped;
	char pending[4]; /* an unescaped character, of which bytes from `next` on are still to come */
	size_t next, count;
};

static struct cursor cursor_of(const struct kr_operand *o)
{
	return (struct cursor){.at = o->text.text,
		.end = o->text.text + o->text.length,
		.escaped = o->escaped};
}

static unsigned hex4(struct cursor *c)
{
	unsigned code = 0;

	for (int i = 0; i < 4 && c->at < c->end; i++, c->at++) {
		char digit = *c->at;
		code = code * 16 + (unsigned)(digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10);
	}
	return code;
}

static void unescape_code(struct cursor *c)
{
	unsigned code = hex4(c);

	if (code >= 0xd800 && code < 0xdc00 && c->end - c->at >= 6) {
		c->at += 2; /* the other half of the pair: \uXXXX */
		code = 0x10000 + ((code - 0xd800) << 10) + (hex4(c) - 0xdc00);
	}
	c->count = kr_utf8_put(c->pending, code);
	c->next = 0;
}

/* The next byte of the string, or -1 at its end. */
static int next_byte(struct cursor *c)
{
	static const char plain[] = "bfnrt", meant[] = "\b\f\n\r\t";

	if (c->next < c->count)
		return (unsigned char)c->pending[c->next++];
	if (c->at == c->end)
		return -1;

	unsigned char byte = (unsigned char)*c->at++;

	if (!c->escaped || byte != '\\' || c->at == c->end)
		return byte;
	byte = (unsigned char)*c->at++;
	if (byte == 'u') {
		unescape_code(c);
		return (unsigned char)c->pending[c->next++];
	}

	const char *found = memchr(plain, byte, sizeof plain - 1);

	return found ? meant[found - plain] : byte;
}

static int compare_strings(const struct kr_operand *a, const struct kr_operand *b)
{
	struct cursor ca = cursor_of(a), cb = cursor_of(b);
	int x, y;

	do {
		x = next_byte(&ca);
		y = next_byte(&cb);
	} while (x == y && x >= 0);
	return KR_ORDER(x, y);
}

bool kr_operand_starts(const struct kr_operand *a, const struct kr_operand *b)
{
	struct cursor ca = cursor_of(a), cb = cursor_of(b);
	int wanted;

	while ((wanted = next_byte(&cb)) >= 0)
		if (next_byte(&ca) != wanted)
			return false;
	return true;
}

/* ---- comparing ---- */

int kr_compare_int_real(int64_t i, double r)
{
	if (r >= 9223372036854775808.0)
		return -1;
	if (r < -9223372036854775808.0)
		return 1;

	int64_t whole = (int64_t)r; /* towards zero */

	if (i != whole)
		return i < whole ? -1 : 1;
	return r > (double)whole ? -1 : r < (double)whole;
}

bool kr_operand_compare(const struct kr_operand *a, const struct kr_operand *b, int *out)
{
	if (a->type == KR_VALUE_STRING && b->type == KR_VALUE_STRING)
		*out = compare_strings(a, b);
	else if (a->type == KR_VALUE_INT && b->type == KR_VALUE_INT)
		*out = KR_ORDER(a->integer, b->integer);
	else if (a->type == KR_VALUE_REAL && b->type == KR_VALUE_REAL)
		*out = KR_ORDER(a->real, b->real);
	else if (a->type == KR_VALUE_INT && b->type == KR_VALUE_REAL)
		*out = kr_compare_int_real(a->integer, b->real);
	else if (a->type == KR_VALUE_REAL && b->type == KR_VALUE_INT)
		*out = -kr_compare_int_real(b->integer, a->real);
	else
		return false;
	return true;
}

bool kr_operand_equal(const struct kr_operand *a, const struct kr_operand *b)
{
	if (a->type != b->type)
		return false;
	switch (a->type) {
	case KR_VALUE_INT: return a->integer == b->integer;
	case KR_VALUE_REAL: return a->real == b->real;
	case KR_VALUE_STRING: return compare_strings(a, b) == 0;
	case KR_VALUE_ARRAY:
	case KR_VALUE_OBJECT:
		return a->text.length == b->text.length &&
			memcmp(a->text.text, b->text.text, a->text.length) == 0;
	default: return true;
	}
}
