/* Candidate worlds of a search: which transactions are active, what each observation saw, and the graphs that
 * follow: of the choices made so far, and of a whole order. */
#ifndef KR_BACKEND_WORLD_H
#define KR_BACKEND_WORLD_H

#include "backend/backend.h"
#include "backend/choices.h"
#include "backend/overlay.h"
#include "backend/schedule.h"
#include "backend/told.h"

struct kr_guarded { kr_version before, after; uint32_t first, count; }; /* into guards */

/* A schedule that breaks rules at fewer than that part of the nodes is near a world: it is sooner repaired
 * than sought elsewhere. */
enum { KR_NODES_PER_BREAK = 64 };

struct kr_candidate {
	struct kr_arena arena;
	struct kr_ir *ir;
	uint8_t *active;        /* per transaction */
	/* per open transaction that is active: the observation of an active one that saw it */
	kr_obs *activated_by;
	kr_version *source;     /* per observation; KR_NONE: free */
	kr_node *order;         /* of the schedule */
	/* per node: its place in order; before there is one, what clients suggest. The next candidate keeps
	 * to it where it can */
	uint32_t *place;
	uint32_t *reader_head;  /* per version: an observation that saw it */
	uint32_t *reader_next;  /* per observation */
	kr_version *sorted;     /* versions by key and place: scratch */
	struct kr_told given;
	struct kr_versions later; /* scratch */
	struct kr_told_guards guards;
	KR_VEC(struct kr_guarded) guarded; /* told orders of the candidate that rest on open transactions */
	/* per transaction: active, and part of the graph that is to be acyclic (KR_ASK_READERS: it writes) */
	uint8_t *ordered;
	KR_VEC(struct kr_link) others; /* links of the whole order that are not edges of that graph */
	struct kr_overlay chosen, whole;
	uint32_t forced;
	bool strict; /* nothing but a first guess that breaks no rule is of use */
	bool keeps;  /* the schedule of the guess that is picked is of use, if it was made last: */
	/* then chosen, source, order, place and forced are those of that schedule */
	bool scheduled;
	/* all schedules break many rules, and that by what known edges tell hardly more than others */
	bool along;
	/* the schedule of a first guess had to break no rule, which proves the level, and is still there */
	bool served;
};

static inline kr_txn kr_candidate_writer(const struct kr_candidate *w, kr_version v)
{
	return w->ir->asg->versions[v.i].writer;
}

/* Place in the candidate's order of a version that is not an initial one. */
static inline uint32_t kr_candidate_place(const struct kr_candidate *w, kr_version v)
{
	return w->place[kr_ir_out(w->ir, KR_WW, kr_candidate_writer(w, v)).i];
}

/* The same and one more; 0: an initial version, which is before all others. */
static inline uint32_t kr_candidate_place_of(const struct kr_candidate *w, kr_version v)
{
	return kr_asg_is_initial(w->ir->asg, v) ? 0 : 1 + kr_candidate_place(w, v);
}

/* Is a schedule that breaks no rule a world of the level? */
static inline bool kr_candidate_is_proved(const struct kr_candidate *w)
{
	return kr_level_asks(w->ir->level) != KR_ASK_READERS;
}

enum kr_status kr_candidate_init(struct kr_candidate *w, struct kr_ir *ir);
void kr_candidate_done(struct kr_candidate *w);

/* Picks the first order to keep to: of the guesses at what clients suggest, the one that the scheduler breaks
 * least. When it breaks none, and that proves the level, w->served, and w->order is a world already. `none`:
 * no choices made yet. */
enum kr_status kr_candidate_begin(struct kr_candidate *w, const struct kr_choices *none);

/* Takes over what the solver said: activity and sources; fills w->chosen with the edges that follow from the
 * choices, and sorts it. */
enum kr_status kr_candidate_choose(struct kr_candidate *w, const struct kr_choices *c);

/* When w->chosen is acyclic: an order by known edges alone, without a schedule. */
enum kr_status kr_candidate_along(struct kr_candidate *w, const struct kr_choices *c);

/* When w->chosen is acyclic: schedules everything, and counts in w->forced how often it had to break the
 * rules. */
enum kr_status kr_candidate_schedule(struct kr_candidate *w);

/* When w->chosen is acyclic: schedules everything, or does as kr_candidate_follow where that is better
 * (cuts.h). w->forced == 0: w->order is a world. Otherwise fills
 * w->whole with the edges of the world that the order suggests, and sorts it: when that is acyclic, its order
 * is a world. */
enum kr_status kr_candidate_complete(struct kr_candidate *w);

/* When w->chosen is acyclic, and every choice was made: fills w->whole with the edges of the world that its
 * order is, and sorts it. */
enum kr_status kr_candidate_follow(struct kr_candidate *w);

/* The order is a world: the level is satisfied. `served`: everything was served by the schedule (w->forced ==
 * 0). */
enum kr_status kr_candidate_answer(const struct kr_candidate *w, const kr_node *order, bool served,
	struct kr_answer *answer);

/* Appends cycles for reads of sets and counters that see their parts at different points of the order, until
 * there are `most`. */
enum kr_status kr_candidate_tears(struct kr_candidate *w, struct kr_proof *proof, uint32_t most);

/* Two observations that saw an untold initial value as two different values: their sources become choices
 * (which cannot both hold). *found tells whether there were any. */
enum kr_status kr_candidate_disagreements(struct kr_candidate *w, struct kr_choices *c, bool *found);

/* Sums that the candidate's sources do not give become choices. *found tells whether there were any. */
enum kr_status kr_candidate_sums(struct kr_candidate *w, struct kr_choices *c, bool *found);

/* States on what the told orders on the cycle rest. */
enum kr_status kr_candidate_guards(struct kr_candidate *w, struct kr_choices *c, const struct kr_link *links,
	uint32_t n);

/* Why t, if it is open, is active: what saw it becomes a choice, and so on for the observer. Without, a
 * solver cannot choose that t is absent. */
enum kr_status kr_candidate_ground(struct kr_candidate *w, struct kr_choices *c, kr_txn t);

#endif
