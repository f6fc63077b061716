/* "Did you mean": the nearest of some words to what somebody typed. */
#ifndef KR_BASE_GUESS_H
#define KR_BASE_GUESS_H

#include "base/base.h"

/* How many characters must be inserted, deleted, replaced or swapped with their neighbour to make one word of
 * the other; case is ignored, and '_' is '-'. UINT32_MAX: one of them is longer than 64 bytes. */
uint32_t kr_guess_distance(const char *a, const char *b);

/* The nearest candidate seen so far to what the user typed. */
struct kr_guess { const char *typed; const char *best; uint32_t distance; };
void kr_guess_try(struct kr_guess *guess, const char *candidate);
/* "; did you mean 'x'?", or, when nothing is near, "; see 'WHERE'". */
const char *kr_guess_text(const struct kr_guess *guess, const char *where, char out[128]);

#endif
