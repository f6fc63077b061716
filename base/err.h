/* The caller's error record: what was found, what was expected, and where.
 *
 * Every function that takes a `struct kr_err *` accepts NULL, and keeps the first error: a record already set
 * is left alone. Nothing is allocated, so setting an error cannot fail; text longer than the buffer ends in
 * "...". */
#ifndef KR_BASE_ERR_H
#define KR_BASE_ERR_H

#include <stdarg.h>

#include "base/base.h"

struct kr_err {
	enum kr_status status; /* KR_OK: nothing set */
	uint32_t line;         /* 1-based; 0: not known or not meaningful */
	uint32_t column;       /* 1-based; 0: not known */
	char file[256];        /* as the user named it; empty: none */
	char text[512];        /* one line, no newline, no trailing period */
};

void kr_err_init(struct kr_err *err);

/* Records the error unless one is set; returns `status`, so that `return kr_err_set(...)` reads well. */
enum kr_status kr_err_set(struct kr_err *err, enum kr_status status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Adds file, line and column to a set error that has none yet. Long names keep their end. */
void kr_err_at(struct kr_err *err, const char *file, uint32_t line, uint32_t column);

/* Writes "FILE:LINE: text" (parts that are not known are left out) into `out`, always terminated. */
void kr_err_format(const struct kr_err *err, char *out, size_t size);

/* A text as one line for people, as that of an error is: what is longer than `size`, or than an error's, ends
 * in "...". */
void kr_err_line(char *out, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
void kr_err_vline(char *out, size_t size, const char *format, va_list args);

/* One word for a status: "out of memory", "time limit", ... */
const char *kr_status_text(enum kr_status status);

#endif
