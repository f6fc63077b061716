/* The caller's error record: fixed buffers, so that nothing here can fail. Text that does not fit is cut at a character boundary and marked
 * with "..."; of a long file name the end is kept, since that is the part that tells files apart. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool is_continuation(char c) { return ((unsigned char)c & 0xc0) == 0x80; }

void kr_err_init(struct kr_err *err)
{
	if (err)
		*err = (struct kr_err){.status = KR_OK};
}

static void make_one_line(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ')
			*text = ' ';
}

/* Ends the cut text in `buffer` (full, terminated) in "...". */
static void mark_cut(char *buffer, size_t size)
{
	size_t at = size - 4;

	while (at > 0 && is_continuation(buffer[at]))
		at--;
	memcpy(buffer + at, "...", 4);
}

enum kr_status kr_err_set(struct kr_err *err, enum kr_status status, const char *format, ...)
{
	if (!err || err->status != KR_OK || status == KR_OK)
		return status;

	va_list args;
	va_start(args, format);
	int length = vsnprintf(err->text, sizeof err->text, format, args);
	va_end(args);

	if (length < 0)
		err->text[0] = '\0';
	else if ((size_t)length >= sizeof err->text)
		mark_cut(err->text, sizeof err->text);
	make_one_line(err->text);
	err->status = status;
	return status;
}

static void set_file(struct kr_err *err, const char *file)
{
	size_t length = strlen(file);

	if (length < sizeof err->file) {
		memcpy(err->file, file, length + 1);
	} else {
		const char *tail = file + length - (sizeof err->file - 4);
		while (is_continuation(*tail))
			tail++;
		memcpy(err->file, "...", 3);
		memcpy(err->file + 3, tail, strlen(tail) + 1);
	}
	make_one_line(err->file);
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
