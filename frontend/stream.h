/* A trace as a stream: lines of the native format (event lines, transaction lines) become events, as they
 * come, in memory that follows what the sink keeps and not how much was read.
 *
 * Values of the stream's history are counted. Those of an event are valid until the next line; a sink that
 * holds one longer keeps it, and releases it as often as it kept it. Names of keys and sessions stay. A
 * value that nobody keeps is forgotten, and its id is used again for another one. */
#ifndef KR_FRONTEND_STREAM_H
#define KR_FRONTEND_STREAM_H

#include "frontend/event.h"
#include "frontend/source.h"

struct kr_stream; /* heap */

/* `path` is for messages, borrowed. Lines are held to the rules of the native reader. What a line does not
 * time comes as an untimed event: whether that will do is the sink's to say. */
enum kr_status kr_stream_new(struct kr_ctx *ctx, const char *path, const struct kr_sink *sink,
	struct kr_stream **out);
void kr_stream_free(struct kr_stream *stream); /* safe on NULL */

/* A trace of any format, read whole, whose history is then told by the first _next. KR_BAD, KR_TIMEOUT: as
 * kr_read_trace. */
enum kr_status kr_stream_whole(struct kr_ctx *ctx, const char *path, const char *format,
	const struct kr_sink *sink, struct kr_stream **out, struct kr_err *err);

/* The vocabulary: names and values of events, header. Only keys, values, sessions and header fields last;
 * operations and scans are those of the event being taken. */
struct kr_history *kr_stream_history(struct kr_stream *stream);

/* One line, numbered `line` from 1: its events go to the sink. Blank lines are skipped; the header's
 * sessions are in kr_stream_history when the first event comes. KR_BAD: the line is malformed, FILE:LINE
 * in err; after that only kr_stream_free may follow. */
enum kr_status kr_stream_line(struct kr_stream *stream, const char *text, size_t length, uint32_t line,
	struct kr_err *err);

/* Reads the next line of `source` and tells it; *more false at its end, and where the trace is whole (source
 * means nothing). */
enum kr_status kr_stream_next(struct kr_stream *stream, struct kr_source *source, bool *more,
	struct kr_err *err);

/* Counting. KR_ABSENT, and names of keys and sessions, may be kept and released, too. */
void kr_stream_keep(struct kr_stream *stream, kr_value value);
void kr_stream_release(struct kr_stream *stream, kr_value value);

#endif
