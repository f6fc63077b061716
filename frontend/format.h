/* A trace format: one descriptor per file in frontend/, collected by the build into kr_format_registry. */
#ifndef KR_FRONTEND_FORMAT_H
#define KR_FRONTEND_FORMAT_H

#include "base/modules.h"
#include "frontend/history.h"
#include "frontend/source.h"

extern const struct kr_format *const kr_format_registry[]; /* NULL-terminated, by name */
extern const size_t kr_format_registry_count;

struct kr_read_options {
	const char *format; /* NULL: told from content, then name */
	bool lenient;       /* skip and count bad transactions */
	/* where the format cannot tell: "unknown", "unwritten", or a file of an object of values by key;
	 * NULL: as the format has it */
	const char *initial;
};

/* Reads a trace: a file, a folder, or "-" (standard input); .gz is seen by content. On success `h` is
 * finished and owned by the caller (kr_history_done); on failure it is already done and `err` names the file
 * and, for bad input, the line. KR_BAD: bad input; KR_NOMEM, KR_TIMEOUT: limits. */
enum kr_status kr_read_trace(struct kr_ctx *ctx, const char *path, const struct kr_read_options *options,
	struct kr_history *h, struct kr_err *err);

/* The same of bytes in memory, plain or gzip, of a format that is a file; `name` stands for them. */
enum kr_status kr_read_memory(struct kr_ctx *ctx, const char *name, const void *bytes, size_t length,
	const struct kr_read_options *options, struct kr_history *h, struct kr_err *err);

/* the i-th of all, NULL past the end */
const struct kr_format *kr_format_at(const struct kr_modules *more, size_t i);
/* by name or alias, or NULL */
const struct kr_format *kr_format_find(const struct kr_modules *more, const char *name);

/* The format that somebody asked for by name; *out is NULL where `name` is. KR_BAD: there is none; `err` says
 * which is near. */
enum kr_status kr_format_named(const struct kr_modules *more, const char *name, const struct kr_format **out,
	struct kr_err *err);

#endif
