/* The caller's error record: fixed buffers, so that nothing here can fail. Text that does not fit is cut at a
 * character boundary and marked with "..."; of a long file name the end is kept, since that is the part that
 * tells files apart. Control characters are escaped: an error is one line. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

static bool is_continuation(char c) { return ((unsigned char)c & 0xc0) == 0x80; }

void kr_err_init(struct kr_err *err)
{
	if (err)
		*err = (struct kr_err){.status = KR_OK};
}

/* Ends the cut text in `buffer`, of `length` bytes and with room for `size`, in "...". */
static void mark_cut(char *buffer, size_t length, size_t size)
{
	size_t at = length < size - 4 ? length : size - 4;

	while (at > 0 && is_continuation(buffer[at]))
		at--;
	memcpy(buffer + at, "...", 4);
}

/* The character at *text as people are to see it (base/str.h), and its length there; moves *text behind
 * it. */
static const char *next_shown(const char **text, char escape[8], size_t *length)
{
	const char *at = *text;
	size_t step = kr_char_shown(at, strlen(at), escape);

	*text += step;
	*length = escape[0] ? strlen(escape) : step;
	return escape[0] ? escape : at;
}

/* Copies what people are to see of `text`; false: it was cut. *used: bytes copied. */
static bool copy_shown(const char *text, char *out, size_t size, size_t *used)
{
	char escape[8];
	size_t length;

	*used = 0;
	while (*text) {
		const char *piece = next_shown(&text, escape, &length);
		if (*used + length >= size)
			return false;
		memcpy(out + *used, piece, length);
		*used += length;
		out[*used] = '\0';
	}
	return true;
}

void kr_err_vline(char *out, size_t size, const char *format, va_list args)
{
	char text[sizeof((struct kr_err *)NULL)->text] = "";
	size_t used;

	if (vsnprintf(text, sizeof text, format, args) >= (int)sizeof text)
		mark_cut(text, sizeof text - 1, sizeof text);
	out[0] = '\0';
	if (!copy_shown(text, out, size, &used))
		mark_cut(out, used, size);
}

void kr_err_line(char *out, size_t size, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	kr_err_vline(out, size, format, args);
	va_end(args);
}

enum kr_status kr_err_set(struct kr_err *err, enum kr_status status, const char *format, ...)
{
	va_list args;

	if (!err || err->status != KR_OK || status == KR_OK)
		return status;
	va_start(args, format);
	kr_err_vline(err->text, sizeof err->text, format, args);
	va_end(args);
	err->status = status;
	return status;
}

static void set_file(struct kr_err *err, const char *file)
{
	const char *from = file;
	size_t left = 0, length, used;
	char escape[8];

	while (*from) {
		(void)next_shown(&from, escape, &length);
		left += length;
	}
	from = file;
	err->file[0] = '\0';
	if (left >= sizeof err->file) {
		memcpy(err->file, "...", 4);
		for (; left + 3 >= sizeof err->file; left -= length)
			(void)next_shown(&from, escape, &length);
	}

	size_t dots = strlen(err->file);

	(void)copy_shown(from, err->file + dots, sizeof err->file - dots, &used);
}

void kr_err_at(struct kr_err *err, const char *file, uint32_t line, uint32_t column)
{
	if (!err || err->status == KR_OK || err->file[0])
		return;
	if (file)
		set_file(err, file);
	if (err->line == 0) {
		err->line = line;
		err->column = column;
	}
}

void kr_err_format(const struct kr_err *err, char *out, size_t size)
{
	if (size == 0)
		return;
	out[0] = '\0';
	if (!err || err->status == KR_OK)
		return;

	const char *text = err->text[0] ? err->text : kr_status_text(err->status);

	if (err->file[0] && err->line)
		(void)snprintf(out, size, "%s:%u: %s", err->file, (unsigned)err->line, text);
	else if (err->file[0])
		(void)snprintf(out, size, "%s: %s", err->file, text);
	else if (err->line)
		(void)snprintf(out, size, "%u: %s", (unsigned)err->line, text);
	else
		(void)snprintf(out, size, "%s", text);
}

const char *kr_status_text(enum kr_status status)
{
	switch (status) {
	case KR_OK: return "ok";
	case KR_NOMEM: return "out of memory";
	case KR_TIMEOUT: return "time limit";
	case KR_CANCELED: return "canceled";
	case KR_BAD: return "bad input";
	case KR_UNSUPPORTED: return "unsupported";
	case KR_INTERNAL: return "internal error";
	}
	return "unknown status";
}
