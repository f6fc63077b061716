/* The choices that a certificate's cycles leave open, as variables, and what the history says of them, as
 * clauses. Private to verify/. */
#ifndef KR_VERIFY_CASES_H
#define KR_VERIFY_CASES_H

#include "verify/edges.h"
#include "verify/given.h"
#include "verify/sat.h"

enum kr_cases_choice_kind {
	KR_CHOICE_SOURCE,   /* observation a saw the version by transaction b (KR_NONE: the initial one) */
	KR_CHOICE_ORDER,    /* of key a, the version by transaction b comes before the one by c; b < c */
	KR_CHOICE_PRESENCE, /* transaction a took effect */
	/* the untold initial value of key a is value b; of a counter: the number whose halves are b and c */
	KR_CHOICE_INITIAL,
	KR_CHOICE_INITIAL_ABSENT, /* the untold initial value of counter a is none */
	KR_CHOICE_INITIAL_FITS,   /* that of counter a is one that observation b allows */
	KR_CHOICE_MEMBER,   /* the untold initial value of set a has element b (KR_NONE: any) */
	KR_CHOICE_PREFIX    /* a step of a sum (sums.c) */
};

struct kr_cases_choice {
	uint32_t kind, a, b, c;
	bool forced; /* the only source that there is: not worth telling */
};

#define KR_LITERAL_TRUE (KR_NONE - 1) /* literals that need no variable */
#define KR_LITERAL_FALSE (KR_NONE - 2)

struct kr_claim;

struct kr_cases {
	struct kr_verifier *v;
	/* what this one's operation saw of the key says nothing; NULL: none */
	const struct kr_claim *without;
	struct kr_facts facts;
	struct kr_given given;
	struct kr_sat sat;
	struct kr_mem *mem;
	KR_VEC(struct kr_cases_choice) choices; /* a choice's index is its variable */
	KR_VEC(struct kr_sight) sights;   /* observations whose candidates matter */
	KR_VEC(struct kr_sight) of_edges; /* those of the cycle at hand, by edge */
	/* unknown transactions that became choices: what needs them, and what they need, is not yet brought
	 * in */
	KR_VEC(kr_txn) txns;
	KR_VEC(kr_key) keys;              /* the same for keys of untold initial value */
	uint32_t sum_nodes;               /* steps of sums so far */
	bool blind;                       /* what was seen says nothing: the level looks at ww alone */
	/* every observation is brought in, whether or not it is known to matter */
	bool all;
	bool skipped;                     /* a fact about a sum was left out, because it is too large */
	/* the order of what lists of untold initial value show was left out */
	bool lists;
	/* for the cycle at hand, or some cycle, it matters of which version of the key parts were seen
	 * (pattern.c) */
	bool whole, any_whole;
	/* per key: it is or was in keys; NULL where all initial values are told */
	bool *is_brought;
	KR_VEC(uint32_t) clause;          /* being built */
	bool holds;                       /* it has a true literal */
	struct kr_table choice_table, sight_table;
};

/* Sets *c up for v; on failure, too, it is to be done. */
enum kr_status kr_cases_init(struct kr_cases *c, struct kr_verifier *v);
void kr_cases_done(struct kr_cases *c);

/* The literal of a choice, which becomes a variable when it is not one yet; of the one that counter k was
 * absent at first; the clause that one literal implies another. */
enum kr_status kr_cases_choose(struct kr_cases *c, struct kr_cases_choice x, uint32_t *literal);
static inline enum kr_status kr_cases_initially_absent(struct kr_cases *c, kr_key k, uint32_t *literal)
{
	return kr_cases_choose(c, (struct kr_cases_choice){.kind = KR_CHOICE_INITIAL_ABSENT, .a = k.i},
		literal);
}
enum kr_status kr_cases_imply(struct kr_cases *c, uint32_t premise, uint32_t conclusion);

/* Literals: of a variable, or one of the constants above. */
uint32_t kr_cases_negate(uint32_t literal);
/* of a new variable without a meaning of its own */
enum kr_status kr_cases_new(struct kr_cases *c, uint32_t *literal);
enum kr_status kr_cases_presence(struct kr_cases *c, kr_txn t, uint32_t *literal);
/* a (KR_NONE: initial) wrote k before b */
enum kr_status kr_cases_order(struct kr_cases *c, kr_key k, kr_txn a, kr_txn b, uint32_t *literal);
/* the same if it is known, else KR_NONE */
enum kr_status kr_cases_known_order(struct kr_cases *c, kr_key k, kr_txn a, kr_txn b, uint32_t *literal);
/* the observation's index in sights */
enum kr_status kr_cases_sight(struct kr_cases *c, const struct kr_sight *x, uint32_t *out);
/* observation s saw writer's version */
enum kr_status kr_cases_source(struct kr_cases *c, uint32_t s, kr_txn writer, uint32_t *literal);

/* A clause: begin, add literals, end. */
void kr_cases_begin(struct kr_cases *c);
enum kr_status kr_cases_add(struct kr_cases *c, uint32_t literal);
enum kr_status kr_cases_end(struct kr_cases *c);

/* initial_cases.c: what "observation s saw the initial version" says of an untold initial value
 * (KR_LITERAL_TRUE: nothing); that each key has one. */
enum kr_status kr_cases_initial(struct kr_cases *c, uint32_t s, uint32_t *literal);
enum kr_status kr_cases_add_initials(struct kr_cases *c);
/* counter k was this number at first */
enum kr_status kr_cases_initial_count(struct kr_cases *c, kr_key k, int64_t number, bool or_absent,
	uint32_t *literal);
/* windows.c: which version of the key observation s, of a whole set or counter, can have seen, by the order
 * of the versions that its parts tell of. */
enum kr_status kr_cases_add_window(struct kr_cases *c, uint32_t s);
/* sums.c: what observation s of a counter, whole, says of which increments it counted. */
enum kr_status kr_cases_add_sum(struct kr_cases *c, uint32_t s);
/* grow_cases.c: what a list that observation s shows says besides its source; and what lists read by unknown
 * transactions say of the order of a's and b's versions, `literal`. */
enum kr_status kr_cases_add_list(struct kr_cases *c, uint32_t s);
enum kr_status kr_cases_add_list_order(struct kr_cases *c, kr_key k, uint32_t a, uint32_t b,
	uint32_t literal);
/* grow_cases.c: makes the observations of growing keys matter that may have seen what unknown transaction t
 * did to k, or, of k, its own at operation `op`. */
enum kr_status kr_cases_bring_growing(struct kr_cases *c, kr_key k, kr_txn t);
enum kr_status kr_cases_bring_own(struct kr_cases *c, kr_key k, kr_txn t, uint32_t op);
enum kr_status kr_cases_bring_key(struct kr_cases *c, kr_key k); /* all observations of k by name */
/* The same of predicate reads that did not return k. */
enum kr_status kr_cases_bring_scans(struct kr_cases *c, kr_key k, kr_txn t);
enum kr_status kr_cases_bring_missed(struct kr_cases *c, kr_txn t, uint32_t op);

/* rounds.c: orders that the trace gives and those that lists and sets show contradict each other only
 * together. */
enum kr_status kr_cases_add_rounds(struct kr_cases *c);

/* Adds the facts of the history about all choices made so far, and about those that these bring in. */
enum kr_status kr_cases_add_facts(struct kr_cases *c);

#endif
