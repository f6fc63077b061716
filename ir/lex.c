/* Words of the text forms: a cursor over a terminated text, no copies but of decoded strings. Linear in the
 * text.
 *
 * Strings are JSON strings (RFC 8259); a lone surrogate becomes U+FFFD. Numbers are decimal and checked for
 * overflow. */
#include "ir/lex.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"

#define FOUND_MOST 40 /* bytes of the offending word shown in errors */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_word(char c)
{
	return is_digit(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_line_end(char c) { return c == '\0' || c == '\n' || c == '\r'; }

static void skip_blanks(struct kr_lex *lex)
{
	while (*lex->at == ' ' || *lex->at == '\t')
		lex->at++;
}

static void skip_line(struct kr_lex *lex)
{
	while (*lex->at && *lex->at != '\n')
		lex->at++;
	if (*lex->at == '\n') {
		lex->at++;
		lex->line++;
	}
}

bool kr_lex_line(struct kr_lex *lex)
{
	for (;;) {
		skip_blanks(lex);
		if (*lex->at == '\0')
			return false;
		if (!is_line_end(*lex->at) && *lex->at != '#')
			return true;
		skip_line(lex);
	}
}

bool kr_lex_accept(struct kr_lex *lex, const char *word)
{
	size_t length = strlen(word);

	skip_blanks(lex);
	if (strncmp(lex->at, word, length) != 0)
		return false;
	if (is_word(word[length - 1]) && is_word(lex->at[length]))
		return false;
	lex->at += length;
	return true;
}

enum kr_status kr_lex_fail(struct kr_lex *lex, const char *what)
{
	size_t length = 0;

	skip_blanks(lex);
	while (length < FOUND_MOST && !is_line_end(lex->at[length]) && lex->at[length] != ' ')
		length++;

	bool nothing = length == 0;
	enum kr_status status = nothing
		? kr_err_set(lex->err, KR_BAD, "found the end of the line, expected %s", what)
		: kr_err_set(lex->err, KR_BAD, "found '%.*s', expected %s", (int)length, lex->at, what);

	kr_err_at(lex->err, NULL, lex->line, 0);
	return status;
}

enum kr_status kr_lex_expect(struct kr_lex *lex, const char *word)
{
	return kr_lex_accept(lex, word) ? KR_OK : kr_lex_fail(lex, word);
}

enum kr_status kr_lex_u32(struct kr_lex *lex, const char *what, uint32_t limit, uint32_t *out)
{
	uint64_t value = 0;

	skip_blanks(lex);

	const char *at = lex->at;

	while (is_digit(*at) && value <= UINT32_MAX)
		value = value * 10 + (uint64_t)(*at++ - '0');
	if (at == lex->at || value >= limit || is_word(*at))
		return kr_lex_fail(lex, what);
	lex->at = at;
	*out = (uint32_t)value;
	return KR_OK;
}

enum kr_status kr_lex_next(struct kr_lex *lex, uint32_t next)
{
	const char *before = lex->at;
	uint32_t id;

	KR_TRY(kr_lex_u32(lex, "a number", KR_NONE, &id));
	if (id == next)
		return KR_OK;
	lex->at = before;
	return kr_lex_fail(lex, "the next number");
}

enum kr_status kr_lex_field(struct kr_lex *lex, const char *word, const char *what, uint32_t limit,
	uint32_t *out)
{
	KR_TRY(kr_lex_expect(lex, word));
	return kr_lex_u32(lex, what, limit, out);
}

enum kr_status kr_lex_one_of(struct kr_lex *lex, const char *const *words, unsigned n, const char *what,
	unsigned *out)
{
	for (unsigned i = 0; i < n; i++) {
		if (kr_lex_accept(lex, words[i])) {
			*out = i;
			return KR_OK;
		}
	}
	return kr_lex_fail(lex, what);
}

enum kr_status kr_lex_i64(struct kr_lex *lex, const char *what, int64_t *out)
{
	int64_t value = 0;

	skip_blanks(lex);

	bool negative = *lex->at == '-';
	const char *at = lex->at + negative;

	if (!is_digit(*at))
		return kr_lex_fail(lex, what);
	for (; is_digit(*at); at++) {
		int digit = *at - '0';

		if (__builtin_mul_overflow(value, 10, &value) ||
			__builtin_add_overflow(value, negative ? -digit : digit, &value))
			return kr_lex_fail(lex, what);
	}
	if (is_word(*at))
		return kr_lex_fail(lex, what);
	lex->at = at;
	*out = value;
	return KR_OK;
}

static bool read_hex4(const char *at, uint32_t *out)
{
	char digits[5] = "";

	if (strspn(at, "0123456789abcdefABCDEF") < 4)
		return false;
	memcpy(digits, at, 4);
	*out = (uint32_t)strtoul(digits, NULL, 16);
	return true;
}

/* Decodes the four digits after "\u", and the low half of a surrogate pair; NULL if they are none. */
static const char *decode_unicode(const char *at, char **to)
{
	uint32_t code, low;

	if (!read_hex4(at, &code))
		return NULL;
	at += 4;
	if (code >= 0xd800 && code < 0xe000) {
		bool pair = code < 0xdc00 && at[0] == '\\' && at[1] == 'u' && read_hex4(at + 2, &low) &&
			low >= 0xdc00 && low < 0xe000;

		if (pair) {
			code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
			at += 6;
		} else {
			code = 0xfffd;
		}
	}
	*to += kr_utf8_put(*to, code);
	return at;
}

/* Decodes from after a backslash; NULL if it is no escape. */
static const char *decode_escape(const char *at, char **to)
{
	static const char from[] = "\"\\/bfnrt";
	static const char meant[] = "\"\\/\b\f\n\r\t";

	if (*at == 'u')
		return decode_unicode(at + 1, to);

	const char *found = *at ? strchr(from, *at) : NULL;

	if (!found)
		return NULL;
	*(*to)++ = meant[found - from];
	return at + 1;
}

/* The closing quote of the string that opens at `at`, or NULL. */
static const char *closing_quote(const char *at)
{
	for (at++; !is_line_end(*at) && *at != '"'; at++)
		if (*at == '\\' && !is_line_end(at[1]))
			at++;
	return *at == '"' ? at : NULL;
}

enum kr_status kr_lex_string(struct kr_lex *lex, const char *what, struct kr_arena *arena,
	struct kr_text *out)
{
	skip_blanks(lex);

	const char *end = *lex->at == '"' ? closing_quote(lex->at) : NULL;

	if (!end)
		return kr_lex_fail(lex, what);

	/* decoding never lengthens */
	char *text = kr_arena_text(arena, lex->at + 1, (size_t)(end - lex->at - 1));
	char *to = text;

	if (!text)
		return KR_NOMEM;
	for (const char *at = lex->at + 1; at != end;) {
		if (*at != '\\') {
			*to++ = *at++;
			continue;
		}
		at = decode_escape(at + 1, &to);
		if (!at)
			return kr_lex_fail(lex, what);
	}
	*to = '\0';
	lex->at = end + 1;
	*out = (struct kr_text){text, (size_t)(to - text)};
	return KR_OK;
}

enum kr_status kr_lex_rest(struct kr_lex *lex, const char *what, struct kr_arena *arena, struct kr_text *out)
{
	skip_blanks(lex);

	const char *end = lex->at;

	while (!is_line_end(*end))
		end++;
	if (end == lex->at)
		return kr_lex_fail(lex, what);

	char *text = kr_arena_text(arena, lex->at, (size_t)(end - lex->at));

	if (!text)
		return KR_NOMEM;
	*out = (struct kr_text){text, (size_t)(end - lex->at)};
	lex->at = end;
	return KR_OK;
}

enum kr_status kr_lex_end(struct kr_lex *lex)
{
	skip_blanks(lex);
	if (!is_line_end(*lex->at))
		return kr_lex_fail(lex, "the end of the line");
	skip_line(lex);
	return KR_OK;
}
