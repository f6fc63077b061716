/* A SAT solver whose every step is open to a theory: it asks nobody and decides nothing of its own accord.
 * Whoever runs it propagates, looks at what has been assigned since, adds clauses when that cannot be, and
 * picks the next literal, also by what is outside of clauses (repair.h). */
#ifndef KR_BACKEND_LEARNER_H
#define KR_BACKEND_LEARNER_H

#include "backend/choices.h"
#include "base/ctx.h"

KR_VEC_NAMED(kr_words, uint32_t);

struct kr_learner_watch { uint32_t clause; kr_lit other; };
KR_VEC_NAMED(kr_learner_watches, struct kr_learner_watch);

struct kr_learner_var {
	double activity;
	uint32_t level;   /* while assigned */
	uint32_t reason;  /* a clause, KR_NONE: decided */
	uint32_t in_heap; /* 1 + place in the heap, 0: not in it */
	uint32_t place;   /* its user's, see kr_learner_line_up */
	bool seen;        /* scratch */
};

struct kr_learner {
	struct kr_ctx *ctx;
	KR_VEC(struct kr_learner_var) vars;
	KR_VEC(int8_t) values;              /* per literal: 1 true, -1 false, 0 open */
	KR_VEC(struct kr_learner_watches) watches; /* per literal: clauses to look at once it is false */
	struct kr_words clauses;            /* each: length, how it was learned (0: it was not), literals */
	struct kr_lits trail;               /* assigned, in that order */
	struct kr_words starts;             /* per level but 0: where it starts in the trail */
	uint32_t propagated;                /* literals of the trail */
	uint32_t kept; /* least length of the trail since its user set this: behind it all may be new */
	/* variables to decide, the most active first; others may be in it */
	struct kr_words heap;
	bool in_line;                       /* the heap goes by places, and all are to be decided */
	double step;
	uint32_t learned, most_learned;     /* clauses */
	uint32_t since_restart, restarts;   /* clauses learned; times */
	uint32_t conflicts;                 /* from which a clause was learned */
	bool refuted;
	struct kr_lits found;               /* scratch: the clause learned */
	struct kr_words touched;            /* scratch */
};

void kr_learner_init(struct kr_learner *s, struct kr_ctx *ctx);
void kr_learner_done(struct kr_learner *s);

static inline bool kr_learner_true(const struct kr_learner *s, kr_lit l) { return s->values.at[l.i] > 0; }
static inline bool kr_learner_false(const struct kr_learner *s, kr_lit l) { return s->values.at[l.i] < 0; }
static inline bool kr_learner_open(const struct kr_learner *s, kr_lit l) { return s->values.at[l.i] == 0; }

/* From now on there are `n` variables, at least. */
enum kr_status kr_learner_grow(struct kr_learner *s, uint32_t n);

/* Adds a clause at any time, and takes back so much that it is not false; what follows from it is assigned.
 * s->refuted is set if that cannot be. */
enum kr_status kr_learner_add(struct kr_learner *s, const kr_lit *literals, uint32_t n);

/* Assigns what follows from clauses; takes back what contradicts them, and learns from that. At the end
 * nothing follows any more, or s->refuted is set. */
enum kr_status kr_learner_propagate(struct kr_learner *s);

/* Assigns an open literal, tentatively. */
enum kr_status kr_learner_decide(struct kr_learner *s, kr_lit l);

/* Takes all decisions back; from now on all variables are to be decided, by their places; or, as at first,
 * those that are wanted and those that have been of use, by when that was. */
void kr_learner_line_up(struct kr_learner *s, bool in_line);

/* Whoever picks is to decide this one, if it is open. */
void kr_learner_want(struct kr_learner *s, kr_lit l);

/* The next open variable to decide; KR_NONE: all that are to be are assigned. */
uint32_t kr_learner_pick(struct kr_learner *s);

/* Takes back all that was decided at levels above. */
void kr_learner_return(struct kr_learner *s, uint32_t level);

#endif
