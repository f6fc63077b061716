/* What readers of foreign formats share: operations into the history, and what these formats mean by 0. */
#ifndef KR_FRONTEND_FOREIGN_H
#define KR_FRONTEND_FOREIGN_H

#include "frontend/form.h"

/* Reads a decimal integer of 64 bits (with a minus sign where `negative`) at *at, which moves behind it;
 * false if there is none or it does not fit. */
bool kr_foreign_int(const char **at, bool negative, int64_t *out);

/* An operation of the transaction being read; one that reads a range, or what meets conditions. KR_NOMEM,
 * also where key or value is KR_NONE. */
enum kr_status kr_foreign_put(struct kr_history *h, struct kr_operation op);
enum kr_status kr_foreign_op(struct kr_history *h, enum kr_op_kind kind, kr_key key, kr_value a, bool known);
enum kr_status kr_foreign_scan(struct kr_history *h, enum kr_op_kind kind, const struct kr_scan *scan);

/* Adds the transaction being read. A bad one is counted and forgotten when the history is lenient; else the
 * error names its file and line. */
enum kr_status kr_foreign_add(struct kr_history *h, struct kr_transaction txn,
	const struct kr_white_box *white_box, struct kr_err *err);

/* Ends it as one that is bad, if `status` says so: KR_OK when the history is lenient (it is counted, *err
 * emptied), else `status`. */
enum kr_status kr_foreign_forgive(struct kr_history *h, enum kr_status status, struct kr_err *err);

/* 0 stands for nothing: a read of 0 from a key to which no operation writes 0 saw what was there at the
 * beginning: nothing. A key to which 0 is written holds a value then. Where 0 is what every key starts with
 * (`initial`), and may be written, too, such a key starts as 0, unless 0 is written only by the trace's first
 * transaction, if that only writes: then it stands for the beginning, and reads of 0 are its. */
enum kr_status kr_foreign_zeros(struct kr_ctx *ctx, struct kr_history *h, bool initial, struct kr_err *err);

/* The session named by an integer. */
kr_session kr_foreign_session(struct kr_history *h, int64_t name);

/* Whether `head` holds `part`; whether `path` ends in `end`: for sniffing. */
bool kr_foreign_holds(const char *head, size_t length, const char *part);
bool kr_foreign_ends(const char *path, const char *end);

/* ---- folders of logs ---- */

/* How long a log's name is without its end, .log or .log.gz; 0: it is no log's. */
size_t kr_foreign_stem(const char *name);

/* Reads the folder's regular files that `is_log` accepts, in numeric order of their names (T9 before T10),
 * which are in the history's arena. KR_BAD: there are none, or one twice, also compressed. */
enum kr_status kr_foreign_logs(struct kr_ctx *ctx, struct kr_history *h, const char *folder,
	bool (*is_log)(const char *name),
	enum kr_status (*read)(void *data, const char *folder, const char *name), void *data,
	struct kr_err *err);

/* Whether one of these begins with the byte `first`, decompressed, behind a byte order mark: 2; 1: there are
 * nothing but empty ones. For sniffing. */
int kr_foreign_starts(const char *folder, bool (*is_log)(const char *name), char first);

/* FOLDER/NAME, which becomes the history's next file; NULL when memory runs out. */
const char *kr_foreign_file(struct kr_history *h, const char *folder, const char *name);

#endif
