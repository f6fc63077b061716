/* The lattice of levels with their orders: which verdict follows from which. */
#ifndef KR_CHECKERS_LATTICE_H
#define KR_CHECKERS_LATTICE_H

#include "checkers/checker.h"

/* A level with the order that counts. */
struct kr_question { const struct kr_level *level; enum kr_order order; };

/* Does every history that satisfies a satisfy b? By the implications that levels name, by equal patterns, and
 * because a stronger order only adds edges. Complete: where the answer is no, a trace in traces/ satisfies a
 * and violates b (tests/matrix/test_separations.c). Every question implies itself. */
bool kr_implies(const struct kr_modules *more, struct kr_question a, struct kr_question b);

/* Who says so: one step of the way from a to b, a plug-in's if there is one. False: b does not follow from a
 * by what levels say. */
struct kr_implication {
	const struct kr_checker *checker; /* that defines the level which says it, */
	const char *field;                /* in "implies" or "implied_by": */
	const struct kr_level *strong, *weak;
	bool own;                         /* the checker is krait's own */
};
bool kr_implication_find(const struct kr_modules *more, struct kr_question a, struct kr_question b,
	struct kr_implication *out);

#endif
