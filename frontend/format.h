/* A trace format: one descriptor per file in frontend/, collected by the build into kr_format_registry. */
#ifndef KR_FRONTEND_FORMAT_H
#define KR_FRONTEND_FORMAT_H

#include "frontend/history.h"
#include "frontend/source.h"

struct kr_read_options {
	const char *format;  /* NULL: told from content, then name */
	bool lenient;        /* skip and count bad transactions */
	uint32_t jobs;       /* threads, where the format can use them; 0 or 1: the caller's only */
};

struct kr_format {
	const char *name;       /* as in `-f NAME` */
	const char *aliases;    /* blank-separated, or NULL */
	const char *title;      /* one line for `krait formats` */
	const char *source;     /* where the format is described */
	bool folder;            /* a trace is a folder of files */
	/* How sure it is that this is its format, 0 (no) to 100, from the first bytes of the (decompressed) file; for folder formats from the path alone. */
	int (*sniff)(const char *path, const char *head, size_t length);
	/* Fills an initialised history, whose files[0] is the path. `source` is the opened file, nothing of it consumed; NULL for folder formats. */
	enum kr_status (*read)(struct kr_ctx *ctx, const char *path, struct kr_source *source, const struct kr_read_options *options, struct kr_history *h,
		struct kr_err *err);
};

extern const struct kr_format *const kr_format_registry[]; /* NULL-terminated, by name */
extern const size_t kr_format_registry_count;

/* Reads a trace: a file, a folder, or "-" (standard input); .gz is seen by content. On success `h` is finished and owned by the caller (kr_history_done);
 * on failure it is already done and `err` names the file and, for bad input, the line. KR_BAD: bad input; KR_NOMEM, KR_TIMEOUT: limits. */
enum kr_status kr_read_trace(struct kr_ctx *ctx, const char *path, const struct kr_read_options *options, struct kr_history *h, struct kr_err *err);

const struct kr_format *kr_format_find(const char *name); /* by name or alias, or NULL */

#endif
