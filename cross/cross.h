/* Cross-checking: every checker and back end that can decide a level, on one history, each by itself; and the
 * smallest part of the history on which one of them is wrong. */
#ifndef KR_CROSS_CROSS_H
#define KR_CROSS_CROSS_H

#include "checkers/check.h"
#include "shrink/cut.h"

/* One way to decide: a checker as it is, or (backend not NULL) its passes and that back end, without the
 * driver's attempts before them. */
struct kr_way { const struct kr_checker *checker; const char *backend; };
KR_VEC_NAMED(kr_ways, struct kr_way);

/* All ways to decide `level`, by `only` if that is not NULL; the level's own checker first. */
enum kr_status kr_ways_find(struct kr_mem *mem, const struct kr_modules *more, const struct kr_level *level,
	const struct kr_checker *only, struct kr_ways *out);

struct kr_limits { double seconds; uint64_t mebibytes; }; /* of each run; 0: none */

/* What one way said. */
struct kr_cross_run {
	struct kr_way way;
	struct kr_ctx ctx;         /* its own: time, and its memory but for the history and solvers' */
	/* as kr_check returned it; KR_INTERNAL: its proof was refused, or another bug */
	enum kr_status status;
	struct kr_err err;
	struct kr_verdict verdict; /* when status is not KR_OK, its outcome is what was to be proved */
	double seconds;
};

/* The verdict that counts: verified. What is said of one serialization order only says nothing of the
 * level. */
static inline enum kr_outcome kr_cross_run_outcome(const struct kr_cross_run *run)
{
	return run->status == KR_OK && run->verdict.certificate.kind != KR_CERT_REPLAY ? run->verdict.outcome
										       : KR_UNDECIDED;
}

/* Decides options->level on an analyzed history by one way; limits and errors stay in *out, which the caller
 * frees with kr_cross_run_done and must not move. `ctx` is the caller's: its progress is told, its cancel
 * token minded. */
void kr_cross_run_way(struct kr_ctx *ctx, const struct kr_history *h, const struct kr_analysis *analysis,
	const struct kr_check_options *options, struct kr_way way, struct kr_limits limits,
	struct kr_cross_run *out);
void kr_cross_run_done(struct kr_cross_run *run);

/* Who is wrong: a run whose proof was refused (`other`: one that has proved the contrary, KR_NONE if none
 * did), or two that have proved contraries. */
struct kr_disagreement { uint32_t wrong, other; };

/* The first disagreement among the runs; false: there is none. */
bool kr_runs_disagree(const struct kr_cross_run *runs, uint32_t n, struct kr_disagreement *out);

/* The smallest part (shrink/reduce.h) on which the same two ways still disagree in the same way. KR_OK also
 * when a limit of ctx is hit on the way (*minimal false). *out is the part as a history, to be freed with
 * kr_cut_done in case of KR_OK. */
enum kr_status kr_shrink_disagreement(struct kr_ctx *ctx, const struct kr_history *h,
	const struct kr_analysis *analysis, const struct kr_check_options *options, struct kr_limits limits,
	const struct kr_cross_run *wrong, const struct kr_cross_run *other, struct kr_cut *out, bool *minimal,
	struct kr_err *err);

#endif
