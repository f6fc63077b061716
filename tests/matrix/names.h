/* Names of anomalies against the lattice: no satisfied level may forbid what a name says. */
#ifndef TESTS_MATRIX_NAMES_H
#define TESTS_MATRIX_NAMES_H

#include "checkers/check.h"

/* Which of the satisfied decisions forbids what the violated one is called, by the definitions (docs/levels.md); NULL: none. `name` gets what it is called. Fails the test if the name is none. */
const struct kr_decision *names_contradicted(const struct kr_modules *modules, const struct kr_history *h, const struct kr_decision *violated, const struct kr_decision *all, uint32_t n,
	char name[48]);

#endif
