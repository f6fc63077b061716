/* Parsing lines of JSON ahead of their reader, in threads of its own; for native.c only. Order is kept: lines come out as they came in. */
#ifndef KR_FRONTEND_NATIVE_AHEAD_H
#define KR_FRONTEND_NATIVE_AHEAD_H

#include <jansson.h>

#include "frontend/source.h"

struct kr_ahead; /* heap */

struct kr_ahead_line {
	size_t at, length; /* its text, in the batch's */
	uint32_t number;   /* 1-based */
	json_t *json;      /* NULL: malformed or out of memory; parse the text again to learn which */
};

struct kr_ahead_batch {
	const char *text;
	const struct kr_ahead_line *lines; /* blank ones are left out */
	uint32_t count;
};

/* Starts up to `threads` threads, at least one. KR_NOMEM also when none could be started. `flags` are jansson's. Lines of which one byte may need `cost` bytes of memory are refused while that
 * would pass the context's limit. */
enum kr_status kr_ahead_new(struct kr_ctx *ctx, struct kr_source *source, uint32_t threads, size_t flags, size_t cost, struct kr_ahead **out);
void kr_ahead_free(struct kr_ahead *a); /* safe on NULL */

/* The next lines, valid until the next call; count 0 at the end. Errors of the source come after the lines before them. */
enum kr_status kr_ahead_next(struct kr_ahead *a, struct kr_ahead_batch *out, struct kr_err *err);

#endif
