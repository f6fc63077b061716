/* Texts of the history's names and values, and the order of keys.
 *
 * Reals are printed with the fewest digits (15 to 17) that read back as the same number, and never look like
 * an integer, since 1 and 1.0 are different values. Integers and reals are compared exactly: a double is
 * split into its integer part, which fits 64 bits when it is in range, and its fraction. Arrays and objects
 * are stored as canonical JSON, so that their text is the stored one. */
#include "base/order.h"
#include "frontend/foreign.h"
#include "frontend/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *kr_op_name(enum kr_op_kind kind)
{
	static const char *const names[KR_OP_KINDS] = {"r", "w", "d", "insert", "cas", "inc", "append", "add",
		"max", "range", "scan", "update"};

	return (unsigned)kind < KR_OP_KINDS ? names[kind] : "?";
}

void kr_history_real_text(double value, char out[32])
{
	if (value == 0)
		value = 0; /* no -0.0 */
	for (int digits = 15; digits <= 17; digits++) {
		(void)snprintf(out, 32, "%.*g", digits, value);
		if (strtod(out, NULL) == value)
			break;
	}
	if (strspn(out, "-0123456789") == strlen(out))
		strcat(out, ".0"); /* at most 18 characters so far */
}

/* ---- texts ---- */

/* Whether text is a number as JSON writes them; *integral tells whether without fraction and exponent. */
static bool is_number(const char *text, size_t length, bool *integral)
{
	const char *at = text + (text[0] == '-');
	size_t digits = strspn(at, "0123456789");

	if (digits == 0 || (at[0] == '0' && digits > 1))
		return false;
	at += digits;
	*integral = at == text + length;
	if (*at == '.') {
		if ((digits = strspn(++at, "0123456789")) == 0)
			return false;
		at += digits;
	}
	if (*at == 'e' || *at == 'E') {
		at += at[1] == '+' || at[1] == '-' ? 2 : 1;
		if ((digits = strspn(at, "0123456789")) == 0)
			return false;
		at += digits;
	}
	return at == text + length;
}

/* Writes characters behind `start`, of a JSON text, that people would not see as JSON escapes. */
static void escape_hidden(struct kr_str *out, size_t start)
{
	struct kr_str copy;
	char escape[8] = "";
	size_t i = start;

	while (i < out->n && !escape[0])
		i += kr_char_shown(out->at + i, out->n - i, escape);
	if (out->failed || !escape[0])
		return;
	kr_str_init(&copy, out->mem);
	kr_str_add_bytes(&copy, out->at + start, out->n - start);
	out->n = start;
	out->at[start] = '\0';
	out->failed |= copy.failed;
	kr_str_shown(out, kr_str_text(&copy)); /* JSON has no NUL */
	kr_str_done(&copy);
}

/* Whether a string can stand for itself among other words: not to be taken for a number or for true, false or
 * null, nor to fall apart. */
static bool is_plain(const char *text, size_t length)
{
	static const char *const taken[] = {"true", "false", "null"};
	char escape[8] = "";
	bool integral;

	if (length == 0 || is_number(text, length, &integral))
		return false;
	for (size_t i = 0; i < length;) {
		char c = text[i];
		i += kr_char_shown(text + i, length - i, escape);
		if (escape[0] || strchr(" \"\\,;:()[]{}", c))
			return false;
	}
	for (size_t i = 0; i < KR_COUNT(taken); i++)
		if (length == strlen(taken[i]) && memcmp(text, taken[i], length) == 0)
			return false;
	return true;
}

void kr_history_json_value(const struct kr_history *h, kr_value value, struct kr_str *out)
{
	const struct kr_value_entry *e = kr_history_value(h, value);
	char real[32];

	switch (e->type) {
	case KR_VALUE_ABSENT: kr_str_add(out, "null"); break;
	case KR_VALUE_FALSE: kr_str_add(out, "false"); break;
	case KR_VALUE_TRUE: kr_str_add(out, "true"); break;
	case KR_VALUE_INT: kr_str_format(out, "%lld", (long long)e->integer); break;
	case KR_VALUE_REAL:
		kr_history_real_text(e->real, real);
		kr_str_add(out, real);
		break;
	case KR_VALUE_STRING: kr_str_json(out, e->text, e->length); break;
	case KR_VALUE_ARRAY:
	case KR_VALUE_OBJECT: kr_str_add_bytes(out, e->text, e->length); break;
	}
}

void kr_history_json_member(const struct kr_history *h, const char *name, kr_value value, struct kr_str *out)
{
	kr_str_member_name(out, name);
	kr_history_json_value(h, value, out);
}

void kr_history_print_name(const struct kr_history *h, kr_value name, struct kr_str *out)
{
	const struct kr_value_entry *e = kr_history_value(h, name);
	size_t start = out->n;

	if (e->type == KR_VALUE_STRING && is_plain(e->text, e->length)) {
		kr_str_add_bytes(out, e->text, e->length);
		return;
	}
	kr_history_json_value(h, name, out);
	escape_hidden(out, start);
}

/* Where to cut text[0, length) so that at most `most` bytes and no half character stay. */
static size_t cut_at(const char *text, size_t length, size_t most)
{
	if (length <= most)
		return length;
	while (most > 0 && ((unsigned char)text[most] & 0xc0) == 0x80)
		most--;
	return most;
}

void kr_history_print_value(const struct kr_history *h, kr_value value, size_t most, struct kr_str *out)
{
	const struct kr_value_entry *e = kr_history_value(h, value);
	size_t start = out->n;

	if (most != 0 && e->type == KR_VALUE_STRING && e->length > most)
		/* quotes make it longer than `most`, so it is cut below */
		kr_str_json(out, e->text, cut_at(e->text, e->length, most));
	else
		kr_history_json_value(h, value, out);
	if (!out->failed && most != 0 && out->n - start > most) {
		out->n = start + cut_at(out->at + start, out->n - start, most);
		out->at[out->n] = '\0';
		kr_str_add(out, e->type == KR_VALUE_STRING ? "...\"" : "...");
	}
	escape_hidden(out, start);
}

/* Of `text` as much as fits, with "..." behind it where it is cut; what people would not see is escaped. */
static void copy_shown(const char *text, size_t length, char *out, size_t size)
{
	size_t room = size - sizeof "...", used = 0, step = 0;
	char escape[8];

	for (; length > 0; text += step, length -= step) {
		step = kr_char_shown(text, length, escape);
		size_t wide = escape[0] ? strlen(escape) : step;
		if (used + wide > room)
			break;
		memcpy(out + used, escape[0] ? escape : text, wide);
		used += wide;
	}
	memcpy(out + used, length > 0 ? "..." : "", length > 0 ? 4 : 1);
}

const char *kr_history_brief(const struct kr_history *h, kr_value name, char *out, size_t size)
{
	const struct kr_value_entry *e = kr_history_value(h, name);
	bool is_text = e->type == KR_VALUE_STRING || e->type == KR_VALUE_ARRAY || e->type == KR_VALUE_OBJECT;
	bool quoted = e->type == KR_VALUE_STRING && !is_plain(e->text, e->length);

	if (is_text) {
		(void)snprintf(out, size, "%s", quoted ? "\"" : "");
		copy_shown(e->text, e->length, out + quoted, size - 2);
		strcat(out, quoted ? "\"" : "");
	} else if (e->type == KR_VALUE_INT) {
		(void)snprintf(out, size, "%lld", (long long)e->integer);
	} else if (e->type == KR_VALUE_REAL) {
		char real[32];
		kr_history_real_text(e->real, real);
		(void)snprintf(out, size, "%s", real);
	} else {
		(void)snprintf(out, size, "%s",
			e->type == KR_VALUE_ABSENT         ? "null"
				: e->type == KR_VALUE_TRUE ? "true"
							   : "false");
	}
	return out;
}

/* ---- order of keys ---- */

/* The number that a key stands for; with KR_KEYS_NUMBERS strings that hold one count, too, as reals where
 * they are beyond 64 bits. */
static bool as_number(const struct kr_history *h, kr_value key, struct kr_operand *out)
{
	const struct kr_value_entry *e = kr_history_value(h, key);
	const char *end = e->text;
	bool integral;

	*out = kr_operand_of_value(h, key);
	if (h->key_order == KR_KEYS_NUMBERS && e->type == KR_VALUE_STRING &&
		is_number(e->text, e->length, &integral)) {
		out->type =
			integral && kr_foreign_int(&end, true, &out->integer) ? KR_VALUE_INT : KR_VALUE_REAL;
		out->real = strtod(e->text, NULL);
	}
	return out->type == KR_VALUE_INT || out->type == KR_VALUE_REAL;
}

struct bytes {
	const char *text;
	size_t length;
	char buffer[32];
};

static void as_bytes(const struct kr_value_entry *e, struct bytes *out)
{
	out->text = out->buffer;
	out->buffer[0] = '\0';
	if (e->type == KR_VALUE_INT)
		(void)snprintf(out->buffer, sizeof out->buffer, "%lld", (long long)e->integer);
	else if (e->type == KR_VALUE_REAL)
		kr_history_real_text(e->real, out->buffer);
	else if (e->type == KR_VALUE_STRING)
		out->text = e->text;
	out->length = e->type == KR_VALUE_STRING ? e->length : strlen(out->buffer);
}

int kr_history_compare_keys(const struct kr_history *h, kr_value a, kr_value b)
{
	const struct kr_value_entry *ea = kr_history_value(h, a), *eb = kr_history_value(h, b);
	struct kr_operand na, nb;
	struct bytes ba, bb;
	int order;

	if (a.i == b.i)
		return 0;
	if (h->key_order != KR_KEYS_BYTES) {
		bool a_number = as_number(h, a, &na), b_number = as_number(h, b, &nb);
		if (a_number && b_number && kr_operand_compare(&na, &nb, &order))
			return order;
		if (a_number != b_number)
			return a_number ? -1 : 1;
	}
	as_bytes(ea, &ba);
	as_bytes(eb, &bb);
	order = memcmp(ba.text, bb.text, ba.length < bb.length ? ba.length : bb.length);
	return kr_then(order, KR_ORDER(ba.length, bb.length));
}
