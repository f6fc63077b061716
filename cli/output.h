/* Results go to standard output, messages to standard error; reports to files: file.h. Nothing else
 * writes. */
#ifndef KR_CLI_OUTPUT_H
#define KR_CLI_OUTPUT_H

#include <stdio.h>

#include "base/err.h"
#include "base/str.h"

/* Writes and flushes. False, after one line on standard error, when that fails; from then on it fails in
 * silence. */
bool kr_print(const struct kr_str *text);
bool kr_print_done(struct kr_str *text); /* the same, and frees the text */
bool kr_print_failed(void);

/* Messages are one line, whatever stands in the names that they hold: control characters are escaped
 * (kr_char_shown). */

/* "krait: TEXT" on standard error; returns KR_EXIT_USAGE. */
int kr_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same where a bool tells of success: gives false. */
#define kr_refuse(...) (kr_usage(__VA_ARGS__), false)
/* "krait: TEXT" on standard error; returns KR_EXIT_FAILED. */
int kr_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The error as "FILE:LINE: TEXT" on standard error; returns KR_EXIT_FAILED. */
int kr_fail_err(const struct kr_err *err);
/* TEXT and a newline on standard error. */
void kr_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
void kr_note_text(const struct kr_str *text); /* as it is */

bool kr_terminal(FILE *stream, bool quiet); /* whether colour and progress may be used */

/* Over several traces and levels, the status that wins. */
int kr_exit_worst(int a, int b);

#endif
