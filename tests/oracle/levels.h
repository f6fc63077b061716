/* Brute-force decisions of every level of docs/levels.md, at every order. */
#ifndef TESTS_ORACLE_LEVELS_H
#define TESTS_ORACLE_LEVELS_H

#include "oracle.h"

enum oracle_level {
	ORACLE_PL_1,
	ORACLE_PL_2,
	ORACLE_PL_CS,
	ORACLE_PL_2L,
	ORACLE_RC_AX,
	ORACLE_RA,
	ORACLE_CC,
	ORACLE_PL_2PLUS,
	ORACLE_PSI,
	ORACLE_PL_FCV,
	ORACLE_PC,
	ORACLE_SI,
	ORACLE_PL_2_99,
	ORACLE_PL_3U,
	ORACLE_SER,
	ORACLE_UA, /* of the example plug-in */
	ORACLE_RA_CS, /* of example.c: read atomic and cursor stability in one world */
	ORACLE_MV_RA, /* of example.c: monotonic view and read atomic in one world */
	ORACLE_CURSOR_VIEW, /* of example.c: pl-2+, but for reads that were not through a cursor */
	ORACLE_LEVELS
};

extern const char *const oracle_level_ids[ORACLE_LEVELS];

/* ORACLE_LEVELS when there is none of that id; pl-ss is ser (at another order). */
enum oracle_level oracle_level_of(const char *id);

/* By level and order. */
struct oracle_answers {
	enum oracle_answer at[ORACLE_LEVELS][3];
};

/* Straight from the table of levels: all worlds; every total order for those with axioms. */
void oracle_levels(const struct kr_history *h, uint64_t work, struct oracle_answers *out);

/* Read uncommitted, of which worlds are not asked (uncommitted.c). */
enum oracle_answer oracle_uncommitted(const struct kr_history *h, enum kr_order order);

#endif
