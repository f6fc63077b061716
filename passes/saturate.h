/* Shared by the files of pass `saturate`: its indices and its forcing rules. */
#ifndef KR_PASSES_SATURATE_H
#define KR_PASSES_SATURATE_H

#include "ir/proof.h"
#include "passes/chains.h"
#include "passes/pass.h"

struct kr_saturation {
	struct kr_arena arena;
	struct kr_ir *ir;
	struct kr_chains chains;        /* of the graph's clock */
	/* per version: an observation that saw it, or KR_NONE; continued in reader_next */
	uint32_t *reader_head;
	uint32_t *reader_next;          /* per observation */
	uint64_t *matched;              /* set of versions that some predicate observation saw */
	bool any_matched;               /* it is not empty */
	/* per version: one known to come before it, as late as has been met; KR_NONE: none yet */
	kr_version *nearest;
	/* per observation that is open at first: two candidates believed possible while it is; KR_NONE: never
	 * looked */
	kr_version (*watch)[2];
	/* per key with an untold initial value: the set of the observations that saw it, KR_NONE: none yet */
	uint32_t *bound;
	/* some source became known since open observations were last looked at together */
	bool settled;
	/* some transaction became present since given orders were last looked at */
	bool arrived;
	uint64_t *closed;               /* set of keys of which nothing more is to be found */
	/* sets of observations, and of places in asg->written, that a visit looks at: where keys are closed,
	 * few */
	uint64_t *reads, *writes;
	uint8_t *begun;                 /* per node: its part in the graph has been looked at once */
	bool changed;
	bool conflict;
};

enum kr_status kr_saturation_init(struct kr_saturation *s, struct kr_ir *ir);
void kr_saturation_done(struct kr_saturation *s);

/* saturate_closed.c: finds keys whose versions are wholly ordered, and adds the rw edges that this gives. */
enum kr_status kr_saturation_close(struct kr_saturation *s);

/* Fills s->reads and s->writes, and wakes their nodes. */
void kr_saturation_list_open(struct kr_saturation *s);

/* Is the observation's known source impossible, and no cycle of edges will show it? */
bool kr_saturation_refutes(const struct kr_saturation *s, kr_obs o);

/* rw, or what follows from it, from those who saw a version to a later one. */
enum kr_status kr_saturation_rw_from_readers(struct kr_saturation *s, kr_version seen, kr_version target);

/* Records that o saw a version. */
void kr_saturation_saw(struct kr_saturation *s, kr_obs o, kr_version seen);

/* Looks at every open observation again: what rules a candidate out may be the clock of its writer, not of
 * the observer, or what an untold initial value turned out to be. */
enum kr_status kr_saturation_sweep(struct kr_saturation *s);

/* Given version orders of transactions that have become present. O(versions + orders). */
enum kr_status kr_saturation_link_given(struct kr_saturation *s);

/* Applies the rules to a present transaction's node whose clock moved in the chains of `changed`. */
enum kr_status kr_saturation_visit(struct kr_saturation *s, kr_node v, const uint64_t *changed);

#endif
