/* The check of a database's mechanisms against a profile, and its verdict: violated, with findings that the
 * verifier has confirmed, or unknown. It is never satisfied, and says nothing of a level as such. */
#ifndef KR_CHECKERS_LEOPARD_H
#define KR_CHECKERS_LEOPARD_H

#include "checkers/checker.h"
#include "mechanisms/batch.h"

struct kr_mechanisms_verdict {
	struct kr_findings findings;
	struct kr_looked looked;
	enum kr_outcome outcome;  /* KR_VIOLATED or KR_UNDECIDED */
	char reason[160];         /* KR_UNDECIDED */
	double seconds, verify_seconds;
};

/* The level that the profile certifies; *out is NULL if none. KR_BAD: there is none of that name, or its
 * cycles are not all those of a graph. */
enum kr_status kr_profile_level(const struct kr_modules *more, const struct kr_profile *profile,
	const struct kr_level **out, struct kr_err *err);

/* Limits that are hit give KR_OK and KR_UNDECIDED. KR_BAD: the history is not what the profile needs. The
 * caller frees out->findings with kr_findings_done in every case. */
enum kr_status kr_check_mechanisms(struct kr_ctx *ctx, const struct kr_history *h,
	const struct kr_batch_options *options, struct kr_mechanisms_verdict *out, struct kr_err *err);

#endif
