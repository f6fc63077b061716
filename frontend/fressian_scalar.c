/* Fressian: what stands alone: numbers, texts, and what else is no list and has no tag. Texts are those of
 * Java: a character beyond 16 bits is two of three bytes each; they stay in the file where they can. Big
 * numbers that fit into 64 bits are integers. Bytes are no values of krait's: only that they are there is
 * left. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/fressian.h"

enum kr_status kr_fressian_bad(struct kr_fressian *s, const unsigned char *at, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	kr_err_vline(text, sizeof text, format, args);
	va_end(args);
	return kr_forms_bad(s->forms, s->forms->line,
		"%s (byte %llu of the file): history.edn beside it, if there is one, can be read instead",
		text, (unsigned long long)(at - s->file));
}

enum kr_status kr_fressian_bad_end(struct kr_fressian *s)
{
	return kr_fressian_bad(s, s->end, "the block ends inside a value, expected all of it");
}

enum kr_status kr_fressian_put(struct kr_fressian *s, struct kr_form form)
{
	form.line = s->forms->line;
	form.end = s->forms->nodes.n + 1;
	return kr_vec_add(s->forms->h->mem, &s->forms->nodes, form);
}

enum kr_status kr_fressian_put_text(struct kr_fressian *s, enum kr_form_type type, const char *text,
	size_t length)
{
	if (!text || length >= KR_NONE)
		return KR_NOMEM;
	return kr_fressian_put(s,
		(struct kr_form){.type = (uint8_t)type, .text = text, .length = (uint32_t)length});
}

/* ---- bytes, numbers, texts ---- */

static enum kr_status take(struct kr_fressian *s, uint64_t n, const unsigned char **out)
{
	*out = s->at;
	if (n > (uint64_t)(s->end - s->at))
		return kr_fressian_bad_end(s);
	s->at += n;
	return KR_OK;
}

uint64_t kr_word_at(const unsigned char *at, unsigned size)
{
	uint64_t word = 0;

	for (unsigned i = 0; i < size; i++)
		word = word << 8 | at[i];
	return word;
}

static enum kr_status take_word(struct kr_fressian *s, unsigned n, uint64_t *out)
{
	const unsigned char *bytes;

	KR_TRY(take(s, n, &bytes));
	*out = kr_word_at(bytes, n);
	return KR_OK;
}

/* The integer that comes next: the first byte holds its upper bits, but for -1 and those of 64 bits. */
enum kr_status kr_fressian_int(struct kr_fressian *s, int64_t *out)
{
	static const struct {
		unsigned char end, zero, more;
	} packed[] = {{0x40, 0, 0}, {0x60, 0x50, 1}, {0x70, 0x68, 2}, {0x74, 0x72, 3}, {0x78, 0x76, 4},
		{0x7c, 0x7a, 5}, {0x80, 0x7e, 6}};
	const unsigned char *first;
	uint64_t low;
	size_t i = 0;

	KR_TRY(take(s, 1, &first));
	while (i < KR_COUNT(packed) && *first >= packed[i].end)
		i++;
	if (i == KR_COUNT(packed) && *first != 0xff && *first != 0xf8)
		return kr_fressian_bad(s, first, "found the byte 0x%02x, expected an integer", *first);
	if (*first == 0xff) {
		*out = -1;
		return KR_OK;
	}
	KR_TRY(take_word(s, i < KR_COUNT(packed) ? packed[i].more : 8, &low));
	if (i < KR_COUNT(packed))
		low += (uint64_t)(*first - packed[i].zero) << 8 * packed[i].more;
	*out = (int64_t)low;
	return KR_OK;
}

/* How many bytes or values follow; each value is a byte at least. */
enum kr_status kr_fressian_count(struct kr_fressian *s, uint64_t *out)
{
	const unsigned char *from = s->at;
	int64_t count;

	KR_TRY(kr_fressian_int(s, &count));
	if (count < 0)
		return kr_fressian_bad(s, from, "found %lld, expected a count", (long long)count);
	*out = (uint64_t)count;
	return *out > (uint64_t)(s->end - s->at) ? kr_fressian_bad_end(s) : KR_OK;
}

/* Half of a character beyond 16 bits: 0xa0 the first one, 0xb0 the second. */
static bool is_half(const char *text, size_t left, unsigned char which)
{
	const unsigned char *at = (const unsigned char *)text;

	return left >= 3 && at[0] == 0xed && (at[1] & 0xf0) == which && (at[2] & 0xc0) == 0x80;
}

/* The character of two halves, of which ten bits each count. */
static uint32_t join_halves(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	uint32_t high = (uint32_t)(at[1] & 15) << 6 | (at[2] & 63);
	uint32_t low = (uint32_t)(at[4] & 15) << 6 | (at[5] & 63);

	return 0x10000 + (high << 10) + low;
}

/* A text of Java as UTF-8; nearly every one is it as it stands, and stays where it is if that lasts. */
static enum kr_status to_utf8(struct kr_fressian *s, const unsigned char *from, const char **text,
	size_t *length, bool lasts)
{
	const char *at = *text;
	size_t n = *length, step, same = 0;
	struct kr_str out;
	char four[4];

	while (same < n && (step = kr_utf8_length(at + same, n - same)) > 0)
		same += step;
	if (same == n) {
		if (!lasts)
			*text = kr_arena_text(&s->forms->h->arena, at, n);
		return *text ? KR_OK : KR_NOMEM;
	}
	kr_str_init(&out, s->forms->h->mem);
	kr_str_add_bytes(&out, at, same);
	for (size_t i = same; i < n; i += step) {
		if ((step = kr_utf8_length(at + i, n - i)) > 0) {
			kr_str_add_bytes(&out, at + i, step);
		} else if (is_half(at + i, n - i, 0xa0) && is_half(at + i + 3, n - i - 3, 0xb0)) {
			kr_str_add_bytes(&out, four, kr_utf8_put(four, join_halves(at + i)));
			step = 6;
		} else {
			kr_str_done(&out);
			return kr_fressian_bad(s, from, "a text that is not UTF-8, expected characters");
		}
	}
	*text = out.failed ? NULL : kr_arena_text(&s->forms->h->arena, kr_str_text(&out), out.n);
	*length = out.n;
	kr_str_done(&out);
	return *text ? KR_OK : KR_NOMEM;
}

/* The text that comes next, of up to 7 bytes, of more, or in pieces before one of those. */
enum kr_status kr_fressian_text(struct kr_fressian *s, const char **text, size_t *length)
{
	const unsigned char *first = s->at, *code, *bytes;
	uint64_t n = 0;
	bool piece;

	s->text.n = 0;
	do {
		KR_TRY(take(s, 1, &code));
		if (*code < 0xda || *code > 0xe3)
			return kr_fressian_bad(s, code, "found the byte 0x%02x, expected a text", *code);
		piece = *code == 0xe2;
		if (*code < 0xe2)
			n = *code - 0xdau;
		else
			KR_TRY(kr_fressian_count(s, &n));
		KR_TRY(take(s, n, &bytes));
		if (piece || s->text.n > 0)
			kr_str_add_bytes(&s->text, (const char *)bytes, n);
	} while (piece);
	if (s->text.failed)
		return KR_NOMEM;
	*text = s->text.n > 0 ? kr_str_text(&s->text) : (const char *)bytes;
	*length = s->text.n > 0 ? s->text.n : n;
	return to_utf8(s, first, text, length, s->text.n == 0);
}

/* The bytes that come next, which are not in pieces where they are looked at. */
static enum kr_status take_bytes(struct kr_fressian *s, const unsigned char **bytes, uint64_t *n)
{
	const unsigned char *code;

	KR_TRY(take(s, 1, &code));
	if (*code != 0xd9 && (*code < 0xd0 || *code > 0xd7))
		return kr_fressian_bad(s, code, "found the byte 0x%02x, expected bytes", *code);
	*n = *code - 0xd0u;
	if (*code == 0xd9)
		KR_TRY(kr_fressian_count(s, n));
	return take(s, *n, bytes);
}

/* ---- what a code begins ---- */

static enum kr_status read_int(struct kr_fressian *s)
{
	int64_t value = 0;

	s->at--;
	KR_TRY(kr_fressian_int(s, &value));
	return kr_fressian_put(s, (struct kr_form){.type = KR_FORM_INT, .integer = value});
}

static enum kr_status put_real(struct kr_fressian *s, double value)
{
	if (value - value != 0)
		return kr_fressian_put_text(s, KR_FORM_BIG, "beyond all numbers",
			strlen("beyond all numbers"));
	return kr_fressian_put(s, (struct kr_form){.type = KR_FORM_REAL, .real = value});
}

static enum kr_status read_float(struct kr_fressian *s)
{
	uint64_t word;
	uint32_t bits;
	float value;
	KR_TRY(take_word(s, sizeof bits, &word));
	bits = (uint32_t)word;
	memcpy(&value, &bits, sizeof value);
	return put_real(s, value);
}

static enum kr_status read_double(struct kr_fressian *s)
{
	uint64_t bits;
	double value;

	KR_TRY(take_word(s, sizeof bits, &bits));
	memcpy(&value, &bits, sizeof value);
	return put_real(s, value);
}

static enum kr_status read_text(struct kr_fressian *s)
{
	const char *text;
	size_t length;

	s->at--;
	KR_TRY(kr_fressian_text(s, &text, &length));
	return kr_fressian_put_text(s, KR_FORM_STRING, text, length);
}

/* Bytes, the last after those of pieces: no value of krait's. */
static enum kr_status read_bytes(struct kr_fressian *s)
{
	const unsigned char *bytes;
	uint64_t length;
	for (s->at--; s->at < s->end && *s->at == 0xd8;) {
		s->at++;
		KR_TRY(kr_fressian_count(s, &length));
		KR_TRY(take(s, length, &bytes));
	}
	KR_TRY(take_bytes(s, &bytes, &length));
	return kr_fressian_put_text(s, KR_FORM_OTHER, "bytes", strlen("bytes"));
}

static int64_t signed_word(const unsigned char *bytes, uint64_t n)
{
	uint64_t word = bytes[0] & 0x80 ? UINT64_MAX : 0;

	for (uint64_t i = 0; i < n; i++)
		word = word << 8 | bytes[i];
	return (int64_t)word;
}

/* An integer of any size; a number of it and of digits behind its `point`. */
static enum kr_status read_big(struct kr_fressian *s, bool point)
{
	const unsigned char *bytes;
	int64_t behind = 0;
	uint64_t length;
	char text[64];

	KR_TRY(take_bytes(s, &bytes, &length));
	if (point)
		KR_TRY(kr_fressian_int(s, &behind));
	if (length == 0)
		return kr_fressian_bad(s, s->at, "a number without bytes, expected some");
	if (length > 8) {
		const char *big =
			kr_arena_format(&s->forms->h->arena, "of %llu bytes", (unsigned long long)length);
		return kr_fressian_put_text(s, KR_FORM_BIG, big, big ? strlen(big) : 0);
	}
	if (!point)
		return kr_fressian_put(s,
			(struct kr_form){.type = KR_FORM_INT, .integer = signed_word(bytes, length)});
	(void)snprintf(text, sizeof text, "%llde%lld", (long long)signed_word(bytes, length),
		-(long long)behind);
	return put_real(s, strtod(text, NULL));
}

static enum kr_status read_uuid(struct kr_fressian *s)
{
	const unsigned char *from = s->at, *bytes;
	uint64_t length;
	KR_TRY(take_bytes(s, &bytes, &length));
	if (length != 16)
		return kr_fressian_bad(s, from, "a UUID of %llu bytes, expected 16",
			(unsigned long long)length);
	const char *text = kr_arena_format(&s->forms->h->arena, "%08llx-%04llx-%04llx-%04llx-%012llx",
		(unsigned long long)kr_word_at(bytes, 4), (unsigned long long)kr_word_at(bytes + 4, 2),
		(unsigned long long)kr_word_at(bytes + 6, 2), (unsigned long long)kr_word_at(bytes + 8, 2),
		(unsigned long long)kr_word_at(bytes + 10, 6));
	return kr_fressian_put_text(s, KR_FORM_STRING, text, text ? strlen(text) : 0);
}

enum kr_status kr_fressian_scalar(struct kr_fressian *s, unsigned char code, bool *found)
{
	*found = true;
	switch (code) {
	case 0x00 ... 0x7f:
	case 0xf8:
	case 0xff: return read_int(s);
	case 0xc3: return read_uuid(s);
	case 0xc6:
	case 0xc7: return read_big(s, code == 0xc7);
	case 0xd0 ... 0xd9: return read_bytes(s);
	case 0xda ... 0xe3: return read_text(s);
	case 0xf5: return kr_fressian_put(s, (struct kr_form){.type = KR_FORM_TRUE});
	case 0xf6: return kr_fressian_put(s, (struct kr_form){.type = KR_FORM_FALSE});
	case 0xf7: return kr_fressian_put(s, (struct kr_form){.type = KR_FORM_NIL});
	case 0xf9: return read_float(s);
	case 0xfa: return read_double(s);
	case 0xfb: return put_real(s, 0);
	case 0xfc: return put_real(s, 1);
	default: *found = false; return KR_OK;
	}
}
