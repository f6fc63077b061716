/* The only places that write: results to standard output, messages to standard error, reports to files. */
#ifndef KR_CLI_OUTPUT_H
#define KR_CLI_OUTPUT_H

#include <stdio.h>

#include "base/err.h"
#include "base/str.h"

/* Writes and flushes. False, after one line on standard error, when that fails; from then on it fails in silence. */
bool kr_print(const struct kr_str *text);
bool kr_print_failed(void);

/* "krait: TEXT" on standard error; returns KR_EXIT_USAGE. */
int kr_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* "krait: TEXT" on standard error; returns KR_EXIT_FAILED. */
int kr_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The error as "FILE:LINE: TEXT" on standard error; returns KR_EXIT_FAILED. */
int kr_fail_err(const struct kr_err *err);
/* TEXT and a newline on standard error. */
void kr_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
void kr_note_text(const struct kr_str *text); /* as it is */

/* A report file that the user named; "-": standard output. Not opened while `path` is NULL. */
struct kr_file { const char *path; FILE *file; };
bool kr_file_open(struct kr_file *f, const char *path); /* path NULL: nothing to do. False: told on standard error */
bool kr_file_write(struct kr_file *f, const struct kr_str *text);
bool kr_file_close(struct kr_file *f); /* safe on a zeroed or closed one */

bool kr_terminal(FILE *stream, bool quiet); /* whether colour and progress may be used */

/* Over several traces and levels, the status that wins. */
int kr_exit_worst(int a, int b);

#endif
