/* Read-modify-write chains. A transaction that saw w's version of a key and writes the key itself comes right
 * after w in the key's order: a third writer between the two would be overwritten by the second and overwrite
 * what that one saw, a cycle of one rw and one ww. So the versions of a chain w, t, ... stand together in
 * every world, as one unit, and of two units of a key one comes before the other as a whole: a single choice
 * instead of one for each pair of versions (Cobra, OSDI 2020: combining writes).
 *
 * With `merged`, choices between units that are written by the same transactions on several keys are one,
 * too: told apart they would be a cycle of two ww (Cobra: coalescing).
 *
 * Without units in the IR every version is a unit of its own. */
#ifndef KR_IR_UNITS_H
#define KR_IR_UNITS_H

#include "ir/proof.h"

struct kr_units {
	struct kr_arena arena;
	kr_version *first; /* per version: the first one of its unit */
	kr_version *last;  /* per version: the last one of its unit */
	kr_version *next;  /* per version: the one that comes right after it, or KR_NONE */
	/* per version: the observation by which its writer saw the one before it in the unit, or KR_NONE */
	kr_obs *step;
	bool merged;
};

/* Finds the units: read-modify-write chains, where the level forbids what would come between; or, without
 * `chains`, single versions. Replaces those that there are. O(observations + versions). */
enum kr_status kr_units_find(struct kr_ir *ir, bool chains);
void kr_units_free(struct kr_mem *mem, struct kr_units *units);

static inline kr_version kr_unit_first(const struct kr_ir *ir, kr_version v)
{
	return ir->units ? ir->units->first[v.i] : v;
}
static inline kr_version kr_unit_last(const struct kr_ir *ir, kr_version v)
{
	return ir->units ? ir->units->last[v.i] : v;
}

/* The pair whose order decides that of a and b, two versions of one key: the first versions of their units,
 * on the first key on which the two units are one choice. Versions of one unit stay as they are. O(keys that
 * both write). */
void kr_units_choice(const struct kr_ir *ir, kr_version *a, kr_version *b);

/* The next pair of first versions whose order is the same choice, by key; false when there is none. Begins
 * with the pair that kr_units_choice gives. */
bool kr_units_next(const struct kr_ir *ir, kr_version *a, kr_version *b);

/* Appends to a refutation why the orders of versions that it speaks of are those of their units; and those of
 * `n` further pairs, that it rests on unsaid. */
struct kr_version_pair { kr_version a, b; };
enum kr_status kr_units_justify(const struct kr_ir *ir, struct kr_proof *proof,
	const struct kr_version_pair *further, uint32_t n);

#endif
