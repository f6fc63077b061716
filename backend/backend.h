/* Back ends: decide the choices that the passes left open, or write them for other solvers. One per file,
 * collected by the build into kr_backend_registry. */
#ifndef KR_BACKEND_BACKEND_H
#define KR_BACKEND_BACKEND_H

#include "base/modules.h"
#include "ir/ir.h"
#include "ir/proof.h"

/* What a back end found. */
struct kr_answer {
	enum kr_outcome outcome;
	/* KR_SATISFIED: a world. The nodes in a topological order of its graph; transactions absent in the
	 * world (and time nodes) are left out. */
	enum kr_world_form form;
	KR_VEC(kr_node) order;
	/* KR_WORLD_GRAPH: per observation of the ASG; KR_NONE where the observer is absent */
	KR_VEC(kr_version) sources;
	/* KR_VIOLATED: cycles over known edges and choices that exhaust all worlds (not yet closed). */
	struct kr_proof proof;
	char reason[160];          /* KR_UNDECIDED: "time limit", "Z3: ...", ... */
	uint32_t rounds, choices, clauses; /* of the search, for --stats */
};

/* Calls of a back end's functions: what they return and answer makes sense, or the error names the back end
 * (base/call.h). Counters of the back end are in ir->tallies. */
enum kr_status kr_backend_solve(const struct kr_backend *backend, struct kr_ir *ir, struct kr_answer *out,
	struct kr_err *err);
enum kr_status kr_backend_attempt(const struct kr_backend *backend, struct kr_ir *ir, struct kr_answer *out,
	struct kr_err *err);
enum kr_status kr_backend_write(const struct kr_backend *backend, struct kr_ir *ir, struct kr_str *out,
	struct kr_err *err);

void kr_answer_init(struct kr_answer *answer, struct kr_mem *mem);
void kr_answer_done(struct kr_answer *answer, struct kr_mem *mem);

/* KR_VIOLATED by the conflict of the IR (there must be one), whose cycles it takes. */
void kr_answer_conflict(struct kr_answer *answer, struct kr_ir *ir);

extern const struct kr_backend *const kr_backend_registry[]; /* NULL-terminated, by name */
extern const size_t kr_backend_registry_count;

/* the i-th of all, NULL past the end */
const struct kr_backend *kr_backend_at(const struct kr_modules *more, size_t i);
const struct kr_backend *kr_backend_find(const struct kr_modules *more, const char *name); /* or NULL */

#endif
