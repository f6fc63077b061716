/* A part of a history as a history of its own, and what was found out about it told in terms of the whole
 * again. */
#ifndef KR_SHRINK_CUT_H
#define KR_SHRINK_CUT_H

#include "shrink/part.h"

struct kr_cut {
	const struct kr_history *whole;  /* borrowed; texts and file names of `history` may be the whole's */
	struct kr_history history;       /* ids, sessions, times, lines as in the whole */
	/* per transaction, operation, key and value of `history`: the whole's. KR_NONE: a value that the
	 * whole does not have */
	KR_VEC(kr_txn) txn_of;
	KR_VEC(kr_op) op_of;
	KR_VEC(kr_key) key_of;
	KR_VEC(kr_value) value_of;
};

/* On success the caller owns *out (kr_cut_done), which must not be moved once analyses speak of its history.
 * KR_BAD: the part makes no trace. */
enum kr_status kr_cut_make(struct kr_ctx *ctx, const struct kr_part *part, struct kr_cut *out,
	struct kr_err *err);
void kr_cut_done(struct kr_cut *cut);

/* A certificate of a violation of cut->history in terms of the whole: whether it proves anything there is the
 * verifier's to say. `out` is initialised, and empty. KR_BAD: it speaks of what the whole does not have. */
enum kr_status kr_cut_restore(const struct kr_cut *cut, const struct kr_certificate *cert,
	struct kr_certificate *out);

#endif
