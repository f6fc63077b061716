/* Bytes of a trace: a plain or gzip-compressed file or standard input, read as a stream. */
#ifndef KR_FRONTEND_SOURCE_H
#define KR_FRONTEND_SOURCE_H

#include "base/ctx.h"

struct kr_source; /* heap; owned by the caller */

/* Opens `path` ("-": standard input). KR_BAD with "cannot open: No such file or directory", "is a folder,
 * expected a file", ... */
enum kr_status kr_source_open(struct kr_ctx *ctx, const char *path, struct kr_source **out,
	struct kr_err *err);
/* The same of bytes in memory, which are borrowed; `name` stands for them in messages. */
enum kr_status kr_source_memory(struct kr_ctx *ctx, const char *name, const void *bytes, size_t length,
	struct kr_source **out, struct kr_err *err);
void kr_source_free(struct kr_source *s);

/* Head, lines and rest are text: a UTF-8 byte order mark at its start is not among them, unless a NUL byte
 * near it says that these are no text. The first bytes (at most 4096), without consuming them. */
enum kr_status kr_source_head(struct kr_source *s, const char **head, size_t *length, struct kr_err *err);

/* The next line without its newline (LF or CRLF), terminated by a NUL of its own, valid until the next call;
 * *line NULL at the end. Lines are as long as memory allows. KR_BAD on a truncated or damaged gzip file or a
 * read error. */
enum kr_status kr_source_line(struct kr_source *s, char **line, size_t *length, struct kr_err *err);
/* Nothing came for that long: no line is complete, and reading would wait. */
bool kr_source_quiet(struct kr_source *s, int milliseconds);
uint32_t kr_source_line_number(const struct kr_source *s); /* of the last line returned, 1-based */

/* Up to `size` bytes; *got 0 at the end. Do not mix with kr_source_line on one source, except kr_source_rest
 * after some lines. */
enum kr_status kr_source_bytes(struct kr_source *s, void *out, size_t size, size_t *got, struct kr_err *err);

/* The bytes that are there without reading more, at least `size` of them unless the source ends before; valid
 * until the next call that reads. _skip: so many of them are consumed. As kr_source_bytes. */
enum kr_status kr_source_peek(struct kr_source *s, size_t size, const unsigned char **bytes, size_t *length,
	struct kr_err *err);
void kr_source_skip(struct kr_source *s, size_t size);

/* All that is left, in one block that stays valid until the source is freed. */
enum kr_status kr_source_rest(struct kr_source *s, char **text, size_t *length, struct kr_err *err);

/* bytes of the file (compressed) consumed, for progress */
uint64_t kr_source_read_so_far(const struct kr_source *s);
uint64_t kr_source_size(const struct kr_source *s);        /* of the file, 0 if not known */

#endif
