/* The order that clients suggest, as a first guess at the order in which transactions took effect. */
#ifndef KR_BACKEND_PREFER_H
#define KR_BACKEND_PREFER_H

#include "ir/ir.h"

enum kr_guess {
	KR_GUESS_TIME,     /* by the time at which clients learned of the outcome; needs times for all */
	KR_GUESS_PROGRESS, /* all sessions run from first to last at even pace */
	KR_GUESS_TRACE,    /* as the trace lists them */
	KR_GUESS_DEPTH,    /* by how much is known to come before and after; needs dependencies as edges */
	KR_GUESSES
};

/* Fills `place`, per node, with a permutation, time nodes first; *possible is false when the trace has not
 * what the guess needs. O(n log n). */
enum kr_status kr_prefer(const struct kr_ir *ir, enum kr_guess guess, uint32_t *place, bool *possible);

#endif
