/* The product on one history: every back end that decides, every optimising pass switched off in turn, against the known answer; and what becomes of the certificates. */
#ifndef TESTS_ORACLE_PRODUCT_H
#define TESTS_ORACLE_PRODUCT_H

#include "base/modules.h"
#include "ir/level.h"
#include "oracle.h"

struct product {
	uint64_t seed;    /* of the mutations */
	bool thorough;    /* all pipelines; else the default one, and another one */
	const char *only; /* this back end alone; NULL: all */
	const char *module; /* this checker alone, at the levels that it decides; NULL: all */
	const struct kr_modules *modules; /* of a plug-in; NULL: none */
	uint64_t checks, satisfied, violated, unsupported, mutated, mutated_valid;
	char why[700];      /* the last difference */
	const char *what;   /* the kind of it */
	const char *wanted; /* while shrinking: the only kind that counts */
	char unsupported_why[200];
	uint64_t undecided; /* checks that gave no verdict */
	char undecided_why[200];
};

/* NULL when the product agrees that h is what `truth` says (or says that it does not support an operation: counted), else what differs. */
const char *product_differs(struct product *p, const struct kr_history *h, enum kr_order order, enum oracle_answer truth);
const char *product_differs_at(struct product *p, const struct kr_history *h, const struct kr_level *level, enum kr_order order, enum oracle_answer truth);

/* The level `ua` of the example plug-in and its checker. */
struct kr_modules product_example(void);

#endif
