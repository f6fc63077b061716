/* Shared by the files of pass `visible`. */
#ifndef KR_PASSES_VISIBLE_H
#define KR_PASSES_VISIBLE_H

#include "ir/visible.h"
#include "passes/pass.h"

struct kr_visibility {
	struct kr_ir *ir;
	const struct kr_pattern *pattern; /* the axiom at hand */
	/* per version that was seen: the last one that was found to come before it, or KR_NONE */
	kr_version *before;
	bool all; /* nobody who is visible was left out */
};

static inline kr_txn kr_visibility_writer(const struct kr_visibility *w, kr_version v)
{
	return w->ir->asg->versions[v.i].writer;
}

/* May o miss somebody, by the axiom at hand? */
static inline bool kr_visibility_counts(const struct kr_visibility *w, kr_obs o)
{
	const struct kr_observation *obs = &w->ir->asg->obs[o.i];

	return w->ir->source[o.i].i != KR_NONE && kr_pattern_counts(w->pattern, obs->predicate, obs->loose);
}

/* Would o have shown v, whose writer is visible to it, had it not seen a later version? */
static inline bool kr_visibility_shows(const struct kr_visibility *w, kr_obs o, kr_version v)
{
	return kr_ir_is_present(w->ir, kr_visibility_writer(w, v)) && kr_ir_overwrites(w->ir, o, v);
}

/* v, which is shown so and is not what o saw, comes before that; or the level is refuted, which is
 * recorded. */
enum kr_status kr_visibility_order(struct kr_visibility *w, kr_obs o, kr_version v);

/* One edge back (visible_pairs.c); any number of them (visible_chains.c). */
enum kr_status kr_visible_pairs(struct kr_visibility *w);
enum kr_status kr_visible_chains(struct kr_visibility *w);

#endif
