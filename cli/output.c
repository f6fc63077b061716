/* Writing. Every result is flushed when it is known, so that a long run can be followed and a failed write is told at once. */
#include "cli/output.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"

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

static void say(const char *before, const char *format, va_list args)
{
	fputs(before, stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
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

bool kr_file_open(struct kr_file *f, const char *path)
{
	*f = (struct kr_file){.path = path};
	if (!path)
		return true;
	f->file = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
	if (f->file)
		return true;
	kr_fail("%s: cannot create: %s", path, strerror(errno));
	return false;
}

bool kr_file_write(struct kr_file *f, const struct kr_str *text)
{
	if (!f->file)
		return true;
	if (f->file == stdout)
		return kr_print(text);
	if (text->failed) {
		kr_fail("%s: out of memory for the output", f->path);
		return false;
	}
	if (fwrite(kr_str_text(text), 1, text->n, f->file) == text->n && fflush(f->file) == 0)
		return true;
	kr_fail("%s: cannot write: %s", f->path, strerror(errno));
	return false;
}

bool kr_file_close(struct kr_file *f)
{
	FILE *file = f->file;

	f->file = NULL;
	if (!file || file == stdout || fclose(file) == 0)
		return true;
	kr_fail("%s: cannot write: %s", f->path, strerror(errno));
	return false;
}

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
