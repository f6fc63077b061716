/* Histories in the native trace format (docs/traces.md): reading what was written gives an equal history. */
#ifndef KR_FRONTEND_NATIVE_WRITE_H
#define KR_FRONTEND_NATIVE_WRITE_H

#include "frontend/history.h"

/* Takes the next piece of the text; anything but KR_OK ends the writing, which then returns it. */
typedef enum kr_status kr_native_sink(void *data, const char *text, size_t length, struct kr_err *err);

/* Writes a finished history as JSON Lines, header first. The text is handed to `sink` in pieces of whole
 * lines, so that large histories need no second copy in memory. KR_UNSUPPORTED: the history holds something
 * that the format cannot say (it came from another format); err names it. */
enum kr_status kr_native_write(struct kr_ctx *ctx, const struct kr_history *h, kr_native_sink *sink,
	void *data, struct kr_err *err);

/* The same with the transactions in another order, that of each session kept. Those that have the id that
 * their place gave them get another one. */
enum kr_status kr_native_write_in_order(struct kr_ctx *ctx, const struct kr_history *h, const kr_txn *order,
	kr_native_sink *sink, void *data, struct kr_err *err);

/* The same as a stream of event lines, in the order in which clients were answered. Transactions that event
 * lines cannot tell stand among them as transaction lines. */
enum kr_status kr_native_write_stream(struct kr_ctx *ctx, const struct kr_history *h, kr_native_sink *sink,
	void *data, struct kr_err *err);

/* The same, appended to `out`. */
enum kr_status kr_native_write_text(struct kr_ctx *ctx, const struct kr_history *h, struct kr_str *out,
	struct kr_err *err);

enum kr_status kr_native_write_stream_text(struct kr_ctx *ctx, const struct kr_history *h, struct kr_str *out,
	struct kr_err *err);

/* The same, with further members of the header, which readers pass over: `note` is their JSON text, without
 * braces. */
enum kr_status kr_native_write_noted(struct kr_ctx *ctx, const struct kr_history *h, const char *note,
	struct kr_str *out, struct kr_err *err);

#endif
