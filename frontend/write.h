/* Histories as text in the formats that krait writes, and what of a history a format cannot hold. */
#ifndef KR_FRONTEND_WRITE_H
#define KR_FRONTEND_WRITE_H

#include "frontend/native_write.h"

/* What a history has and a target may not hold. */
enum kr_loss {
	KR_LOSS_IDS,        /* ids of transactions */
	KR_LOSS_SESSIONS,   /* names of sessions */
	KR_LOSS_SPLIT,      /* session order behind an unknown outcome */
	KR_LOSS_TIMES,
	KR_LOSS_SKEW,
	/* aborted transactions as such: which operations belong together, or what they read */
	KR_LOSS_ABORTED,
	KR_LOSS_UNKNOWN,    /* transactions of unknown outcome */
	KR_LOSS_RESULTS,    /* what transactions of unknown outcome read */
	KR_LOSS_EMPTY,      /* transactions without operations */
	KR_LOSS_INITIAL,
	KR_LOSS_UNTOLD,     /* reads without a result */
	KR_LOSS_OPS,        /* operations other than the format's */
	/* all operations of some keys, since something of them is lost that reads may have seen */
	KR_LOSS_HISTORIES,
	KR_LOSS_LOOSE,      /* reads that are not through a cursor */
	KR_LOSS_KEYS,       /* names of keys */
	KR_LOSS_VALUES,     /* values as they are */
	KR_LOSS_ATTRS,      /* attributes of operations */
	KR_LOSS_STRUCK,     /* operations that failed or were undone */
	/* autocommit, the statement that took the snapshot, an end that failed or was not answered */
	KR_LOSS_STATEMENTS,
	KR_LOSS_WHITE_BOX,
	KR_LOSS_ORDERS,     /* version orders */
	KR_LOSS_UNIVERSE,   /* keys that no operation names, and their order */
	KR_LOSS_KINDS,      /* kinds of keys that no operation tells */
	KR_LOSS_NAME,       /* of the trace, its unit of time */
	KR_LOSSES
};

struct kr_target {
	const char *name;
	/* what to write: native, as event lines; Plume's text; dbcop's JSON or Elle's (json), Elle's EDN
	 * (neither) */
	bool native, stream, plume, json;
	bool elle;
};

const struct kr_target *kr_target_find(const char *name); /* or NULL; in either case, '_' for '-' */
const char *kr_target_name(size_t i);                     /* of the i-th; NULL past the end */
const char *kr_target_names(void);                        /* for messages */

/* The losses that writing `h` to `target` would have, as bits by enum kr_loss. */
enum kr_status kr_target_losses(struct kr_ctx *ctx, const struct kr_history *h,
	const struct kr_target *target, uint32_t *out);
const char *kr_loss_text(enum kr_loss loss); /* what is lost, a noun phrase */

/* Keys of which nothing is written, in an array by key of the arena; NULL: out of memory. */
const bool *kr_target_lost_keys(const struct kr_history *h, const struct kr_target *target,
	struct kr_arena *arena);

/* Whether the target holds such an operation, on a key that is not lost, and a read says what a plain read
 * does. */
bool kr_target_holds(const struct kr_history *h, const struct kr_target *target, const bool *lost, kr_op op);

/* Appends `h` in the target's format, without what it loses: names and values that do not fit are numbered,
 * operations, keys and transactions that do not are left out. Every level that `h` satisfies, at an order
 * that the text tells of, the text satisfies, too. */
enum kr_status kr_target_write(struct kr_ctx *ctx, const struct kr_history *h, const struct kr_target *target,
	uint32_t losses, struct kr_str *out, struct kr_err *err);

#endif
