/* From the cycles of a certificate to an argument that people can follow: what is forced, in which order it
 * follows, and which cases remain. Private to report/.
 *
 * A literal is twice a choice, plus one where it is negated. */
#ifndef KR_REPORT_ARGUE_H
#define KR_REPORT_ARGUE_H

#include "base/table.h"
#include "base/vec.h"
#include "frontend/analyze.h"
#include "verify/verify.h"

static inline uint32_t kr_literal(uint32_t choice, bool negated) { return 2 * choice + negated; }

enum kr_doubt_kind {
	/* `txn` took effect, and its operation `op` saw the version of `key` by `a` (KR_NONE: the initial
	 * one) */
	KR_DOUBT_SAW,
	KR_DOUBT_BEFORE, /* a's version of `key` comes before b's; a < b; negated: after */
	KR_DOUBT_EFFECT  /* `txn`, whose outcome is unknown, took effect */
};

struct kr_doubt {
	uint8_t kind;
	kr_key key;
	kr_txn txn;
	uint32_t op;
	kr_txn a, b;
	uint32_t sight;  /* KR_DOUBT_SAW: into sights */
	/* KR_DOUBT_SAW: the choice whether the writer took effect, KR_NONE: it certainly did */
	uint32_t effect;
	kr_value part;   /* KR_DOUBT_SAW: of `key`, as in an edge of a certificate */
};

/* Why a literal holds. */
enum kr_because {
	KR_BECAUSE_FACT,     /* the trace says so */
	KR_BECAUSE_ASSUMED,  /* the case that is looked at */
	KR_BECAUSE_CYCLE,    /* else cycle `from` would be there */
	/* of sight `from`, all other candidates are out (or, negated: all are, so its transaction took no
	 * effect) */
	KR_BECAUSE_ONLY,
	KR_BECAUSE_OTHER,    /* the sight saw another version: choice `from` */
	KR_BECAUSE_SEEN,     /* it took effect, for it saw or was seen: choice `from` */
	KR_BECAUSE_NO_EFFECT /* its writer or its observer took no effect: choice `from` */
};

struct kr_argument_step { uint32_t literal, from; uint8_t because; bool needed; };

/* A part of the argument under the assumptions of its ancestors. Its steps come first; then either it is
 * closed by a cycle, or it has one child (no choice was needed after all) or two. Children stand after their
 * parents. */
struct kr_case {
	uint32_t parent, depth;
	uint32_t assumed;         /* literal; KR_NONE: none (the root, an only child) */
	uint32_t first, count;    /* into steps */
	uint32_t child[2];        /* KR_NONE: none */
	uint32_t closed_by;       /* cycle, KR_NONE: not closed by one */
};

struct kr_argument_sight { /* an observation whose source is not settled by the trace */
	kr_txn txn;
	uint32_t op;
	kr_key key;
	uint32_t first, count; /* choices of its candidates: into candidates */
	bool all;              /* there are no other candidates */
	uint32_t effect;       /* the choice whether txn took effect, KR_NONE: it certainly did */
	kr_value part;
};

struct kr_argument {
	struct kr_mem *mem;
	const struct kr_history *h;
	const struct kr_asg *asg;
	const struct kr_certificate *cert;
	KR_VEC(struct kr_doubt) choices;
	KR_VEC(struct kr_argument_sight) sights;
	KR_VEC(uint32_t) candidates;
	KR_VEC(uint32_t) literals;       /* of the cycles: those that must not all hold */
	KR_VEC(uint32_t) first;          /* cycles + 1: into literals */
	struct kr_table choice_index, sight_index;
	KR_VEC(struct kr_argument_step) steps;
	KR_VEC(struct kr_case) cases;    /* [0] is the root */
	/* every case is closed; else the argument is too long to be made here */
	bool complete;
};

/* Builds the argument of a certificate of cycles. KR_NOMEM only; an argument that needs too many cases or
 * steps is left incomplete. */
enum kr_status kr_argument_init(struct kr_argument *arg, struct kr_mem *mem, const struct kr_history *h,
	const struct kr_asg *asg, const struct kr_certificate *cert);
void kr_argument_done(struct kr_argument *arg);

/* Literals that edge e holds under, without those that are certain: at most 5. The argument must have been
 * built from e's certificate. */
#define KR_GUARD_MOST 5
uint32_t kr_argument_guard(const struct kr_argument *arg, const struct kr_cert_edge *e,
	uint32_t out[KR_GUARD_MOST]);

/* ---- argue_search.c ---- */

/* Fills steps and cases from the choices and cycles. */
enum kr_status kr_argument_search(struct kr_argument *arg);

#endif
