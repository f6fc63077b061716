/* The driver: one history, one level -> a verdict with a certificate that the verifier has confirmed. */
#ifndef KR_CHECKERS_CHECK_H
#define KR_CHECKERS_CHECK_H

#include "checkers/checker.h"
#include "checkers/lattice.h"
#include "frontend/analyze.h"
#include "verify/verify.h"

struct kr_check_options {
	const struct kr_level *level;
	enum kr_order order;
	const struct kr_checker *checker; /* NULL: kr_checker_for(level) */
	const char *passes;               /* NULL: the checker's */
	const char *backend;              /* NULL: the checker's */
	struct kr_pass_options pass_options;
	/* Is the question known to be violated? Then no world of it is sought for a weaker one. NULL: none
	 * is known */
	bool (*is_violated)(const void *known, struct kr_question question);
	const void *known;
};

/* Whether a violation is one only because the trace gives an order, which may be wrong: the one of versions
 * or the one of serialization. */
enum kr_under {
	KR_GIVEN_NOT,    /* no, or nobody asked */
	/* yes: without, the level may hold (of a serialization order: that is not looked into) */
	KR_GIVEN_ONLY,
	KR_GIVEN_PERHAPS /* asked, and not known within the limits */
};

struct kr_verdict {
	const struct kr_level *level;
	enum kr_order order;
	const struct kr_checker *checker;
	enum kr_outcome outcome;
	struct kr_certificate certificate; /* unless KR_UNDECIDED; verified */
	char reason[256];                  /* KR_UNDECIDED */
	double seconds;                    /* spent here: passes, back end, certificate */
	struct kr_pass_stats passes;
	double solve_seconds, verify_seconds;
	uint32_t rounds, choices, clauses; /* of the back end */
	struct kr_tallies tallies;       /* its own */
	/* name of the back end that was asked, NULL: passes alone decided */
	const char *backend;
	enum kr_under given;           /* KR_VIOLATED */
	char expected[96], seen[96];   /* KR_CERT_REPLAY: what the operation differs in, for people */
	struct kr_rounds undecided;    /* pairs of units that were undecided after each round of pruning */
	bool verified;                     /* by who decided, who asked the verifier */
	bool sums;                         /* its certificate was found on kr_analyze_sums */
	bool told;                         /* it is an order that the trace suggests */
	/* the certificate was found for this level with `proof_order`; NULL: for this one */
	const struct kr_level *proof_of;
	enum kr_order proof_order;
};

/* Whether the level needs kr_analyze_sums, where that differs from kr_analyze: it allows lost updates, and
 * what was seen counts. */
bool kr_check_needs_sums(const struct kr_history *h, const struct kr_analysis *analysis,
	const struct kr_level *level);
/* Puts an analysis that leaves out nothing in the place of the one that does, and of one that is not for
 * levels which allow lost updates, as this one does, or which calls garbage what is none. `level`: NULL: for
 * no level in particular. */
enum kr_status kr_check_exactly(struct kr_ctx *ctx, const struct kr_history *h, const struct kr_level *level,
	struct kr_analysis *analysis, struct kr_err *err);

/* Decides one level on an analyzed history (kr_analyze; where the other analysis is needed, it is made).
 * Limits that are hit give KR_OK and KR_UNDECIDED with the reason; KR_INTERNAL when the verifier rejects the
 * certificate (a bug: no verdict is given), KR_BAD for a wrong pass list. The caller frees *out with
 * kr_verdict_done in every case. */
enum kr_status kr_check(struct kr_ctx *ctx, const struct kr_history *h, const struct kr_analysis *analysis,
	const struct kr_check_options *options, struct kr_verdict *out, struct kr_err *err);
void kr_verdict_done(struct kr_verdict *verdict, struct kr_mem *mem);

/* Has the user a say in how it is done? Then it is done in that way only, and takes over nothing that was
 * found in another. */
bool kr_check_by_hand(const struct kr_ctx *ctx, const struct kr_check_options *options);

/* Puts the question's name on the certificate, which was made for another one, and asks the verifier whether
 * it proves this one. An error is a limit that was hit. */
enum kr_status kr_check_fits(struct kr_ctx *ctx, const struct kr_history *h, struct kr_certificate *cert,
	struct kr_question question, bool *fits);

/* Puts the anomaly on the certificate, under its name if the verifier confirms that: a number that no
 * increments give which took effect is garbage unless others give it (aborted ones, those before their
 * transaction's last, the reader's own and later ones), and then is called so; or has no name, as a result of
 * which the number without its own increment is what nobody made: that is for the `last` analysis to say,
 * since the other one may know a cycle. */
enum kr_status kr_check_names(struct kr_ctx *ctx, const struct kr_history *h, const struct kr_anomaly *found,
	struct kr_question question, bool last, struct kr_certificate *cert, bool *fits);

/* Looks for an order of commits in which what was shown of counters had been passed before; *found: the
 * certificate is one, which the verifier confirms (passing_order.c). Of kr_analyze_sums. */
enum kr_status kr_check_passing(struct kr_ctx *ctx, const struct kr_history *h, const struct kr_asg *asg,
	struct kr_question question, struct kr_certificate *cert, bool *found);

/* One of several questions on one history. */
struct kr_decision {
	struct kr_check_options options;
	struct kr_verdict verdict;
	enum kr_status status;             /* as kr_check returned it */
	struct kr_err err;
};

static inline struct kr_question kr_decision_question(const struct kr_decision *d)
{
	return (struct kr_question){d->options.level, d->options.order};
}

/* Decides several levels on one analyzed history. A verdict that follows from another one (lattice.h) is not
 * searched for: the certificate of that one is checked for the level at hand. The time left is shared among
 * the levels that are undecided; what some leave over goes to the others. Fills the decisions, none of which
 * is searched for twice when options ask for passes, back ends or dumps by hand. The caller frees each
 * verdict with kr_verdict_done. */
void kr_check_all(struct kr_ctx *ctx, const struct kr_history *h, const struct kr_analysis *analysis,
	struct kr_decision *decisions, uint32_t n);

/* How several levels are gone through. */
struct kr_check_plan {
	/* most time for a search, and for everything; 0: no limit but the context's */
	int64_t each_ns, all_ns;
	const struct kr_decision *known; /* other decisions on the history, whose proofs are tried first */
	uint32_t known_count;
	/* Called when a decision stands, in the order in which they come to stand, and at the end for
	 * those that stay open. Once for each; once more where what levels say of each other turned out
	 * wrong. The decision must stay as it is. NULL: nobody waits. */
	void (*decided)(void *data, struct kr_decision *decision);
	/* Makes the analysis once a question needs it: not where an order that the trace suggests settles
	 * all. NULL: it is given. */
	enum kr_status (*analyze)(void *data, const struct kr_analysis **out);
	void *data;
};
/* What is taken where many levels were asked for and no limit: some seconds a level, half a minute in all. */
#define KR_CHECK_EACH_NS INT64_C(5000000000)
#define KR_CHECK_ALL_NS INT64_C(25000000000)

/* `analysis` may be NULL where the plan makes it; returns what that returned. After a failure what is open
 * has not been told. */
enum kr_status kr_check_planned(struct kr_ctx *ctx, const struct kr_history *h,
	const struct kr_analysis *analysis, struct kr_decision *decisions, uint32_t n,
	const struct kr_check_plan *plan);

#endif
