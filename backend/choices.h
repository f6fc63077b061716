/* Choices as Boolean variables, made only for those that a search meets: which of two versions comes first,
 * which candidate an observation saw.
 *
 * A variable is numbered so that *false* is the alternative of the world in which it was met: Z3's default
 * phase then keeps to that world. */
#ifndef KR_BACKEND_CHOICES_H
#define KR_BACKEND_CHOICES_H

#include "backend/told.h"
#include "base/table.h"
#include "ir/proof.h"
#include "ir/units.h"

typedef struct { uint32_t i; } kr_lit; /* 2 * variable + (negated ? 1 : 0) */
static inline kr_lit kr_lit_not(kr_lit l) { return (kr_lit){l.i ^ 1}; }

struct kr_choice {
	/* source choice: true iff it saw version a (flipped: iff not); KR_NONE for the others */
	kr_obs obs;
	kr_version a, b;  /* order choice: true iff b comes before a (a before b is preferred) */
	kr_txn txn;       /* presence choice: true iff it took effect; KR_NONE for the others */
	/* newer choice: 1 + the observation that saw version a, though its operation saw another part of the
	 * key as of a later version (b: as of that one); 0 for the others */
	uint32_t outdone;
	bool flipped;
	bool value;       /* as the solver last said */
};

/* the weights of the literals that hold add up to total; if `guard` holds (KR_NONE: in any case) */
struct kr_choice_sum {
	uint32_t first, count; /* into sum_literals and sum_weights */
	int64_t total;
	kr_lit guard;
	bool large;            /* a number does not fit into what the solver takes */
};

struct kr_ruled_out { kr_obs obs; kr_version version; };

KR_VEC_NAMED(kr_lits, kr_lit);

struct kr_choices {
	struct kr_arena arena;
	struct kr_ir *ir;
	KR_VEC(struct kr_choice) all; /* by variable */
	struct kr_table table;
	struct kr_lits clauses;       /* each ended by a literal with i == KR_NONE */
	/* per clause: the cycle of the proof that it forbids, KR_NONE: a fact */
	KR_VEC(uint32_t) origin;
	struct kr_lits facts;         /* further facts, likewise: those found while a clause is under way */
	KR_VEC(struct kr_choice_sum) sums;
	struct kr_lits sum_literals;
	KR_VEC(int64_t) sum_weights;
	uint8_t *sums_made;           /* per sum of the ASG */
	uint8_t *pinned;              /* per observation: that it saw one version only has been said */
	KR_VEC(struct kr_asg_order) guarded; /* whose facts have been stated; for their ends only */
	KR_VEC(struct kr_version_pair) told_units; /* told pairs that a fact states of their units */
	struct kr_told given;        /* orders that the trace gives hold for their variables from the start */
	uint8_t *sources_made;        /* per observation: its source variables exist */
	/* candidates that got no variable; a refutation must say why */
	KR_VEC(struct kr_ruled_out) ruled_out;
};

enum kr_status kr_choices_init(struct kr_choices *c, struct kr_ir *ir);
void kr_choices_done(struct kr_choices *c);

/* The literal "a comes before b". */
enum kr_status kr_choices_order(struct kr_choices *c, kr_version a, kr_version b, kr_lit *out);

/* The literal "o saw v". On first use all of o's possible candidates get variables, with clauses that one is
 * seen (if o's transaction took effect, which holds whenever the question arises). */
enum kr_status kr_choices_source(struct kr_choices *c, kr_obs o, kr_version v, kr_lit *out);

/* Appends the clause "not all the guards of this cycle" (links of choices and known edges). `cycle`: its
 * number in the proof. */
enum kr_status kr_choices_forbid(struct kr_choices *c, const struct kr_proof *proof, uint32_t cycle);

/* Appends to a refutation what rules out candidates without variables, of the observations that it speaks of
 * and of those that it may rest on unsaid. */
enum kr_status kr_choices_justify(const struct kr_choices *c, struct kr_proof *proof);

/* States that a comes before b if the guards took effect, once. */
enum kr_status kr_choices_guard(struct kr_choices *c, kr_version a, kr_version b, const kr_txn *guards,
	uint32_t n);

/* States a sum of the ASG (by index): its observations' sources become choices, of which one holds each. Done
 * once. */
enum kr_status kr_choices_sum(struct kr_choices *c, uint32_t sum);

static inline bool kr_choices_true(const struct kr_choices *c, kr_lit l)
{
	return c->all.at[l.i / 2].value != (l.i & 1);
}

#endif
