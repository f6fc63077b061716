/* Decides whether clauses over Boolean variables can all hold. Private to verify/. */
#ifndef KR_VERIFY_SAT_H
#define KR_VERIFY_SAT_H

#include "base/ctx.h"
#include "base/vec.h"

/* A literal: twice the variable, plus one where it is negated. */
static inline uint32_t kr_sat_yes(uint32_t var) { return 2 * var; }
static inline uint32_t kr_sat_not(uint32_t literal) { return literal ^ 1; }

struct kr_sat_var {
	/* when and through which clause it was assigned; reason KR_NONE: decided or given */
	uint32_t level, reason;
	uint32_t place;                /* in the heap, or KR_NONE */
	double activity;
	bool last, seen;               /* its last value; a mark of the analysis */
};

struct kr_sat {
	struct kr_mem *mem;
	uint32_t count;                /* variables */
	bool refuted;                  /* an empty clause was added or derived */
	KR_VEC(uint32_t) pool;         /* clauses: two links of watch lists, length, levels, literals */
	KR_VEC(uint32_t) units;        /* clauses of one literal */
	KR_VEC(uint32_t) mark;         /* per literal: the clause that it was last added to */
	uint32_t added;
	/* while solving */
	KR_VEC(uint32_t) trail, levels, learned;
	struct kr_sat_var *vars;
	uint32_t *watches;             /* per literal: first clause that watches it */
	int8_t *values;                /* per literal: 1 true, -1 false, 0 open */
	uint32_t done;
	uint32_t *heap, waiting;       /* variables that may be open, the most active on top */
	double step;
	uint32_t kept, kept_most;      /* learned clauses */
};

void kr_sat_init(struct kr_sat *s, struct kr_mem *mem);
void kr_sat_done(struct kr_sat *s);
enum kr_status kr_sat_new_var(struct kr_sat *s, uint32_t *var);
enum kr_status kr_sat_add(struct kr_sat *s, const uint32_t *literals, uint32_t n); /* their disjunction */

/* To be called once, after everything was added. */
enum kr_status kr_sat_solve(struct kr_sat *s, struct kr_ctx *ctx, bool *satisfiable);
/* after a satisfiable answer */
static inline bool kr_sat_value(const struct kr_sat *s, uint32_t var)
{
	return s->values[kr_sat_yes(var)] > 0;
}

#endif
