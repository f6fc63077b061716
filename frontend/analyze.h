/* Semantic analysis: history -> ASG, and the anomalies that no world can explain (LEVELS.md section 2). */
#ifndef KR_FRONTEND_ANALYZE_H
#define KR_FRONTEND_ANALYZE_H

#include "base/terms.h"
#include "frontend/history.h"
#include "ir/asg.h"

struct kr_anomaly {
	enum kr_anomaly_kind kind;
	kr_txn txn;
	uint32_t op;         /* index within txn */
	kr_key key;
	kr_txn other;        /* the aborted / intermediate writer, or KR_NONE */
};

struct kr_analysis {
	struct kr_asg asg;
	KR_VEC(struct kr_anomaly) anomalies; /* in file order; at most 1000 are kept */
	uint32_t anomaly_count;              /* how many there were */
	/* reads tell what some list of untold initial value began with, from which the verifier concludes
	 * less */
	bool told_lists;
	/* of growing keys that would make very many observations the ASG tells less than the trace does, as
	 * if something were left out; kr_analyze_exactly tells all */
	bool coarse;
	/* some counter's increments were shown to who made them: kr_analyze and kr_analyze_sums differ */
	bool shows_own;
	/* "": nothing; else what is missing in the ASG, which then has more worlds than the trace: what
	 * refutes them all refutes the trace, but a world may be none */
	char left_out[256];
};

/* On success the caller owns *out (kr_analysis_done). KR_UNSUPPORTED: an operation whose meaning this version
 * does not have; err names it with file and line.
 *
 * Increments add to the version before their own, and who is shown what his came to has seen some version of
 * the counter. kr_analyze takes it for the one before his own, so that the number shown is what he left: that
 * is so in every world without lost updates, and its worlds with lost updates are none. kr_analyze_sums does
 * without, which costs more: parts times reads. Where that is very much, both leave something out of growing
 * keys (kr_analysis.coarse); kr_analyze_exactly does what one of them would, and does not. */
enum kr_status kr_analyze_exactly(struct kr_ctx *ctx, const struct kr_history *h, bool sums,
	struct kr_analysis *out, struct kr_err *err);
enum kr_status kr_analyze_sums(struct kr_ctx *ctx, const struct kr_history *h, struct kr_analysis *out,
	struct kr_err *err);
enum kr_status kr_analyze(struct kr_ctx *ctx, const struct kr_history *h, struct kr_analysis *out,
	struct kr_err *err);
void kr_analysis_done(struct kr_analysis *analysis);

#endif
