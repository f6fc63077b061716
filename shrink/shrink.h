/* Shrinking a violated history to a small one that is violated for the same reason. */
#ifndef KR_SHRINK_SHRINK_H
#define KR_SHRINK_SHRINK_H

#include "checkers/check.h"
#include "shrink/cut.h"

/* A part that is violated, with its own analysis and verdict. */
struct kr_violated_part { struct kr_cut cut; struct kr_analysis analysis; struct kr_verdict verdict; };

struct kr_shrunk {
	struct kr_violated_part *best; /* NULL: none was found, not even the whole, within the limits */
	/* nothing can go; false: a limit was hit, or parts could not be decided */
	bool minimal;
	enum kr_status limit;          /* which one was hit; KR_OK: none */
	uint32_t tests, undecided;     /* parts looked at; those that could not be decided */
};

/* Shrinks a history that `verdict` (verified, for options->level and order) says is violated. A part has the
 * same violation if the checker finds it violated, by cycles if the whole is, else by an anomaly of the same
 * name, and if the proof of that, restated for the whole, is accepted there by the verifier: so what is left
 * violates the level because of what happened, and not because of what was left out. Starts from the part
 * that the certificate speaks of (part.h), or else from the whole; then from some other certificates, and
 * takes the smallest. KR_OK also when limits were hit: then *out has the best so far. Other: nothing could be
 * looked at. The caller frees *out in every case, before h. */
enum kr_status kr_shrink(struct kr_ctx *ctx, const struct kr_history *h, const struct kr_analysis *analysis,
	const struct kr_check_options *options, const struct kr_verdict *verdict, struct kr_shrunk *out,
	struct kr_err *err);
void kr_shrunk_done(struct kr_ctx *ctx, struct kr_shrunk *shrunk);

#endif
