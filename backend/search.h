/* The search that back ends with Z3 share: candidate worlds, clauses from their cycles, answers, further
 * candidates. */
#ifndef KR_BACKEND_SEARCH_H
#define KR_BACKEND_SEARCH_H

#include "backend/backend.h"

/* How a search goes about it. */
struct kr_search_plan {
	/* every open order and source is a variable from the start; else those on the cycles that candidates
	 * have */
	bool ground;
	/* a candidate is completed by replaying transactions; else in any order that its edges allow */
	bool schedule;
	bool guess;    /* the first candidate is what clients' order suggests; else what the solver says */
};

/* Decides. A plan that grounds is for levels only that forbid every cycle of their graph; others are
 * undecided. */
enum kr_status kr_search(struct kr_ir *ir, const struct kr_search_plan *plan, struct kr_answer *out,
	struct kr_err *err);

#endif
