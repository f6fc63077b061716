/* What the parts of the C API share. Private to api/. */
#ifndef KR_API_HANDLE_H
#define KR_API_HANDLE_H

#include "api/plugins.h"
#include "frontend/analyze.h"
#include "frontend/native.h"
#include "krait/krait.h"
#include "krait/reader.h"

struct krait_cancel { atomic_bool set; };

struct krait_plugins { struct kr_plugins all; };

struct krait_history {
	struct kr_mem self; /* accounts for this block and the path, outside of the limit */
	struct kr_ctx ctx;
	struct kr_history history;
	struct kr_analysis analysis;
	double read_seconds;
	char *path;
	struct { /* of the last call of walk.c */
		KR_VEC(struct krait_value) values;
		KR_VEC(struct krait_row) rows;
		KR_VEC(struct krait_condition) conditions;
		KR_VEC(struct krait_seen) seen;
	} walk;
};

/* A builder fills a history that is its own (`owned`, until it is finished) or that a format was given. The
 * first failure stays in `status` and `err`. */
struct krait_builder {
	struct kr_mem self;
	struct kr_ctx *ctx;
	struct kr_history *h;
	krait_history *owned;   /* NULL: of a format */
	struct kr_native native; /* values, messages, lines of JSON */
	struct kr_err err;
	enum kr_status status;
	bool open;              /* between begin and end */
	bool headed;            /* krait_build_header was called */
	struct kr_transaction txn;
	struct kr_white_box white_box;
	int64_t start;
	struct krait_options options; /* of the caller, while it builds */
};

/* At the begin of every call that can fail: no error. `err` may be NULL. */
void kr_public_begin(struct kr_err *err, struct krait_error *out);
/* Gives the error out; one without text gets that of its status. */
enum krait_status kr_public_fail(struct kr_err *err, enum kr_status status, struct krait_error *out);

/* Time, cancel token, log and progress of one call. */
void kr_call_begin(struct kr_ctx *ctx, const struct krait_options *options);
void kr_call_log(const struct krait_options *options, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* An accountant without a limit that takes its memory where the options say. */
struct kr_mem kr_options_mem(const struct krait_options *options);

/* build.c: a builder in memory of its own; NULL: none. */
krait_builder *kr_builder_new(struct kr_mem mem, struct kr_ctx *ctx, struct kr_history *h);
/* What has failed, or what only the end can tell. */
enum kr_status kr_builder_end(krait_builder *builder);

#endif
