/* Growing text buffer. Capacity doubles, so that adding is O(1) amortised per byte; the first failure stops
 * all later additions, so that the text is always a prefix of what was meant. JSON strings: RFC 8259 escapes,
 * and UTF-8 checked as in Unicode's table of well-formed byte sequences (no overlong forms, no surrogates);
 * each byte outside a well-formed sequence becomes one replacement character. For people, JSON's escapes
 * stand for the characters that could make a text look like another one; "\\xff" for a byte outside of
 * UTF-8. */
#include "base/str.h"

#include <stdio.h>
#include <string.h>

#define CAP_MIN ((size_t)64)

void kr_str_init(struct kr_str *str, struct kr_mem *mem) { *str = (struct kr_str){.mem = mem}; }

void kr_str_done(struct kr_str *str)
{
	kr_mem_free(str->mem, str->at, str->cap, 1);
	*str = (struct kr_str){.mem = str->mem};
}

/* Room for `extra` bytes and the terminator. */
static bool reserve(struct kr_str *str, size_t extra)
{
	size_t need;

	if (str->failed)
		return false;
	if (!kr_add(str->n + 1, extra, &need)) {
		str->failed = true;
		return false;
	}
	if (need <= str->cap)
		return true;

	size_t cap = str->cap ? str->cap : CAP_MIN;

	while (cap < need)
		cap = cap > SIZE_MAX / 2 ? need : cap * 2;

	char *at = kr_mem_resize(str->mem, str->at, str->cap, cap, 1);

	if (!at) {
		str->failed = true;
		return false;
	}
	str->at = at;
	str->cap = cap;
	return true;
}

void kr_str_add_bytes(struct kr_str *str, const char *text, size_t length)
{
	if (!reserve(str, length))
		return;
	if (length)
		memcpy(str->at + str->n, text, length);
	str->n += length;
	str->at[str->n] = '\0';
}

void kr_str_add(struct kr_str *str, const char *text) { kr_str_add_bytes(str, text, strlen(text)); }

void kr_str_vformat(struct kr_str *str, const char *format, va_list args)
{
	va_list again;

	va_copy(again, args);
	int length = vsnprintf(NULL, 0, format, again);
	va_end(again);
	if (length < 0) {
		str->failed = true;
		return;
	}
	if (!reserve(str, (size_t)length))
		return;
	(void)vsnprintf(str->at + str->n, (size_t)length + 1, format, args);
	str->n += (size_t)length;
}

void kr_str_format(struct kr_str *str, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	kr_str_vformat(str, format, args);
	va_end(args);
}

size_t kr_utf8_length(const char *text, size_t left)
{
	const unsigned char *at = (const unsigned char *)text;
	unsigned char lead = at[0];
	unsigned char low = 0x80, high = 0xbf; /* bounds of the second byte */
	size_t length;

	if (lead < 0x80)
		return 1;
	if (lead >= 0xc2 && lead <= 0xdf) {
		length = 2;
	} else if (lead >= 0xe0 && lead <= 0xef) {
		length = 3;
		if (lead == 0xe0)
			low = 0xa0;
		else if (lead == 0xed)
			high = 0x9f;
	} else if (lead >= 0xf0 && lead <= 0xf4) {
		length = 4;
		if (lead == 0xf0)
			low = 0x90;
		else if (lead == 0xf4)
			high = 0x8f;
	} else {
		return 0;
	}
	if (left < length || at[1] < low || at[1] > high)
		return 0;
	for (size_t i = 2; i < length; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	return length;
}

size_t kr_utf8_put(char out[4], uint32_t code)
{
	size_t more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
	static const unsigned char marks[] = {0, 0xc0, 0xe0, 0xf0};

	out[0] = (char)(marks[more] | code >> 6 * more);
	for (size_t i = 1; i <= more; i++)
		out[i] = (char)(0x80 | (code >> 6 * (more - i) & 63));
	return more + 1;
}

static void add_escape(struct kr_str *str, unsigned char c)
{
	switch (c) {
	case '"': kr_str_add(str, "\\\""); break;
	case '\\': kr_str_add(str, "\\\\"); break;
	case '\b': kr_str_add(str, "\\b"); break;
	case '\f': kr_str_add(str, "\\f"); break;
	case '\n': kr_str_add(str, "\\n"); break;
	case '\r': kr_str_add(str, "\\r"); break;
	case '\t': kr_str_add(str, "\\t"); break;
	default: kr_str_format(str, "\\u%04x", (unsigned)c);
	}
}

void kr_str_json(struct kr_str *str, const char *text, size_t length)
{
	if (length == 0)
		text = ""; /* may have been NULL */

	const unsigned char *bytes = (const unsigned char *)text;
	size_t plain = 0; /* text[plain, i) is to be copied as it is */
	size_t i = 0;

	kr_str_add_bytes(str, "\"", 1);
	while (i < length) {
		size_t step = kr_utf8_length((const char *)(bytes + i), length - i);
		bool escape = bytes[i] < ' ' || bytes[i] == '"' || bytes[i] == '\\';

		if (step > 0 && !escape) {
			i += step;
			continue;
		}
		kr_str_add_bytes(str, text + plain, i - plain);
		if (escape)
			add_escape(str, bytes[i]);
		else
			kr_str_add(str, "\\ufffd");
		plain = ++i;
	}
	kr_str_add_bytes(str, text + plain, length - plain);
	kr_str_add_bytes(str, "\"", 1);
}

/* ---- for people ---- */

static bool is_turning(unsigned code)
{
	return (code >= 0x200e && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
		(code >= 0x2066 && code <= 0x2069);
}

size_t kr_char_shown(const char *text, size_t left, char escape[8])
{
	static const char names[] = "btn\0fr"; /* from \b on; \v has none */
	const unsigned char *at = (const unsigned char *)text;
	size_t length = kr_utf8_length(text, left);
	unsigned code = length == 2 ? (at[0] & 0x1fu) << 6 | (at[1] & 0x3fu)
		: length == 3       ? (at[0] & 0xfu) << 12 | (at[1] & 0x3fu) << 6 | (at[2] & 0x3fu)
				    : at[0];

	escape[0] = '\0';
	if (length == 0)
		(void)snprintf(escape, 8, "\\x%02x", (unsigned)at[0]);
	else if (length == 1 && code >= '\b' && code <= '\r' && names[code - '\b'] != '\0')
		(void)snprintf(escape, 8, "\\%c", names[code - '\b']);
	else if ((length == 1 && (code < ' ' || code == 0x7f)) || (length == 2 && code < 0xa0) ||
		(length == 3 && is_turning(code)))
		(void)snprintf(escape, 8, "\\u%04x", code & 0xffffu);
	return length > 0 ? length : 1;
}

void kr_str_shown_bytes(struct kr_str *str, const char *text, size_t length)
{
	char escape[8];

	for (size_t step; length > 0; text += step, length -= step) {
		step = kr_char_shown(text, length, escape);
		if (escape[0])
			kr_str_add(str, escape);
		else
			kr_str_add_bytes(str, text, step);
	}
}

void kr_str_shown(struct kr_str *str, const char *text) { kr_str_shown_bytes(str, text, strlen(text)); }

void kr_str_member_name(struct kr_str *str, const char *name)
{
	bool first = str->n == 0 || strchr("{ \n", str->at[str->n - 1]);

	kr_str_format(str, first ? "\"%s\": " : ", \"%s\": ", name);
}

void kr_str_member(struct kr_str *str, const char *name, const char *text)
{
	kr_str_member_name(str, name);
	kr_str_json(str, text, strlen(text));
}

void kr_str_member_made(struct kr_str *str, const char *name, struct kr_str *text)
{
	kr_str_member_name(str, name);
	kr_str_json(str, kr_str_text(text), text->n);
	str->failed |= text->failed;
	kr_str_done(text);
}

void kr_str_member_shown(struct kr_str *str, const char *name, const char *text)
{
	struct kr_str shown;

	kr_str_init(&shown, str->mem);
	kr_str_shown(&shown, text);
	kr_str_member_made(str, name, &shown);
}

const char *kr_str_text(const struct kr_str *str) { return str->at ? str->at : ""; }
