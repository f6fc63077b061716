/* What Elle says of a history, as claims: its result map, EDN or JSON, as elle-cli prints it and Jepsen keeps
 * it. */
#ifndef KR_CROSS_ELLE_RESULT_H
#define KR_CROSS_ELLE_RESULT_H

#include "checkers/lattice.h"
#include "cross/claim.h"

/* An anomaly that is a cycle. */
struct kr_elle_cycle {
	const char *anomaly;           /* "G-single", ... */
	uint32_t line;                 /* of the file, where it begins */
	struct kr_claimed_cycle edges; /* empty if `why` says something */
	char why[200];                 /* it cannot be held against the trace */
};

struct kr_elle_result {
	struct kr_arena arena;
	enum kr_outcome valid;                 /* `:valid?`; KR_UNDECIDED: :unknown */
	bool names_levels;                     /* it has `:not` or `:also-not` */
	KR_VEC(struct kr_question) broken;     /* the levels among them that krait has */
	KR_VEC(struct kr_elle_cycle) cycles;
	KR_VEC(const char *) others;           /* names of anomalies that are no cycles */
};

/* Reads the file and finds the operations of its cycles among the transactions of the trace: by kind, keys,
 * values, process, and by place in the trace's file where those are the same. KR_BAD: no such map, or one
 * that is not of this trace. The caller frees *out with _done in every case. */
enum kr_status kr_elle_result_read(struct kr_ctx *ctx, const char *path, const struct kr_history *h,
	struct kr_elle_result *out, struct kr_err *err);
void kr_elle_result_done(struct kr_mem *mem, struct kr_elle_result *result);

/* What it claims of a level with an order: satisfied if it is valid, violated if that follows from a level
 * that it says is broken (or it names none); else nothing, KR_UNDECIDED. */
enum kr_outcome kr_elle_result_claims(const struct kr_elle_result *result, const struct kr_modules *more,
	struct kr_question question);

#endif
