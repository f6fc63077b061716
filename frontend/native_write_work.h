/* Inside of the native writer, shared by native_write*.c only. */
#ifndef KR_FRONTEND_NATIVE_WRITE_WORK_H
#define KR_FRONTEND_NATIVE_WRITE_WORK_H

#include "frontend/native_write.h"

struct kr_native_writer {
	const struct kr_history *h;
	struct kr_str *out;
	uint64_t *named;  /* set of keys that a line names */
	const char *note; /* NULL: none */
	bool stream;      /* in event lines */
	const kr_txn *order; /* of transactions; NULL: that of the history */
	bool attributes;  /* of the operation being written: some follow */
	struct kr_err *err;
	enum kr_status status;
	kr_native_sink *sink;
	void *data;
};

void kr_native_write_bit(struct kr_native_writer *w, const char *text);
void kr_native_write_value(struct kr_native_writer *w, kr_value v);
void kr_native_write_unsupported(struct kr_native_writer *w, const char *what);
void kr_native_write_key(struct kr_native_writer *w, kr_key k);
/* as the name of a JSON member: strings as they are, numbers as their text */
void kr_native_write_member(struct kr_native_writer *w, kr_value name);
/* an operation, or what stands for one that does not count */
void kr_native_write_entry(struct kr_native_writer *w, const struct kr_walk *entry);

void kr_native_write_txn(struct kr_native_writer *w, kr_txn t); /* its line */
/* status and white box, as far as they stand beside these; each with a comma behind it */
void kr_native_write_fields(struct kr_native_writer *w, kr_txn t, bool begin, bool end);
enum kr_status kr_native_write_events(struct kr_native_writer *w, struct kr_ctx *ctx);

/* Hands over what has gathered, if it is enough or `all` is asked for. */
enum kr_status kr_native_write_flush(struct kr_native_writer *w, bool all);

#endif
