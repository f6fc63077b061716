/* Writing. Every result is flushed when it is known, so that a long run can be followed and a failed write is
 * told at once. */
#include "cli/output.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"

#define MESSAGE_SIZE 2048 /* bytes of a message that need no memory; a longer one is cut when there is none */

bool kr_print_failed(void) { return ferror(stdout) != 0; }

bool kr_print(const struct kr_str *text)
{
	if (ferror(stdout))
		return false;
	if (text->failed) {
		kr_fail("out of memory for the output");
		return false;
	}
	if (fwrite(kr_str_text(text), 1, text->n, stdout) == text->n && fflush(stdout) == 0)
		return true;
	kr_fail("cannot write to standard output: %s", strerror(errno));
	return false;
}

bool kr_print_done(struct kr_str *text)
{
	bool written = kr_print(text);

	kr_str_done(text);
	return written;
}

/* Without memory of its own, since that may be what is missing. */
static void write_shown(const char *text)
{
	const char *plain = text; /* what is to be written as it is, up to text */
	char escape[8];

	while (*text) {
		size_t step = kr_char_shown(text, strlen(text), escape);
		if (escape[0]) {
			(void)fwrite(plain, 1, (size_t)(text - plain), stderr);
			fputs(escape, stderr);
			plain = text + step;
		}
		text += step;
	}
	(void)fwrite(plain, 1, (size_t)(text - plain), stderr);
}

static void say(const char *before, const char *format, va_list args)
{
	char buffer[MESSAGE_SIZE], *text = buffer;
	va_list again;

	va_copy(again, args);
	int length = vsnprintf(buffer, sizeof buffer, format, args);
	if (length >= (int)sizeof buffer && (text = malloc((size_t)length + 1)) != NULL)
		(void)vsnprintf(text, (size_t)length + 1, format, again);
	va_end(again);
	fputs(before, stderr);
	write_shown(text ? text : buffer);
	fputc('\n', stderr);
	if (text != buffer)
		free(text);
}

int kr_usage(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say("krait: ", format, args);
	va_end(args);
	return KR_EXIT_USAGE;
}

int kr_fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say("krait: ", format, args);
	va_end(args);
	return KR_EXIT_FAILED;
}

int kr_fail_err(const struct kr_err *err)
{
	char line[sizeof err->file + sizeof err->text + 32];

	kr_err_format(err, line, sizeof line);
	kr_note("%s", line);
	return KR_EXIT_FAILED;
}

void kr_note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say("", format, args);
	va_end(args);
}

void kr_note_text(const struct kr_str *text) { (void)fwrite(kr_str_text(text), 1, text->n, stderr); }

bool kr_terminal(FILE *stream, bool quiet)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	if (quiet || (no_color && *no_color) || !isatty(fileno(stream)))
		return false;
	return term && strcmp(term, "dumb") != 0;
}

int kr_exit_worst(int a, int b)
{
	static const int order[] = {KR_EXIT_USAGE, KR_EXIT_FAILED, KR_EXIT_VIOLATED, KR_EXIT_UNDECIDED};

	for (size_t i = 0; i < KR_COUNT(order); i++)
		if (a == order[i] || b == order[i])
			return order[i];
	return KR_EXIT_SATISFIED;
}
