/* Back ends: decide the choices that the passes left open, or write them for other solvers. One per file, collected by the build into kr_backend_registry. */
#ifndef KR_BACKEND_BACKEND_H
#define KR_BACKEND_BACKEND_H

#include "ir/ir.h"
#include "ir/proof.h"

enum kr_outcome { KR_SATISFIED, KR_VIOLATED, KR_UNDECIDED };

/* What the order of an answer is. */
enum kr_world_form {
	KR_WORLD_SERIAL,    /* transactions, as they would run one after the other */
	KR_WORLD_SNAPSHOTS, /* begins and commits */
	KR_WORLD_GRAPH      /* a topological order of the graph of the level's first pattern (one_reader: among transactions that write); it orders the versions, and sources say what was seen */
};

/* What a back end found. */
struct kr_answer {
	enum kr_outcome outcome;
	/* KR_SATISFIED: a world. The nodes in a topological order of its graph; transactions absent in the world (and time nodes) are left out. */
	enum kr_world_form form;
	KR_VEC(kr_node) order;
	KR_VEC(kr_version) sources; /* KR_WORLD_GRAPH: per observation of the ASG; KR_NONE where the observer is absent */
	/* KR_VIOLATED: cycles over known edges and choices that exhaust all worlds (not yet closed). */
	struct kr_proof proof;
	char reason[160];          /* KR_UNDECIDED: "time limit", "Z3: ...", ... */
	uint32_t rounds, choices, clauses; /* of the search, for --stats */
};

void kr_answer_init(struct kr_answer *answer, struct kr_mem *mem);
void kr_answer_done(struct kr_answer *answer, struct kr_mem *mem);

struct kr_backend {
	const char *name;
	const char *title;
	const char *source;
	/* Decides; NULL: it only writes. Limits come as status; a solver's "unknown" or error is KR_UNDECIDED with its reason, never a verdict. */
	enum kr_status (*solve)(struct kr_ir *ir, struct kr_answer *out, struct kr_err *err);
	/* Looks for a world the quick way; KR_UNDECIDED when that does not find any. NULL: there is no such way. */
	enum kr_status (*attempt)(struct kr_ir *ir, struct kr_answer *out, struct kr_err *err);
	/* Writes the problem for other solvers (satisfiable iff the level holds); NULL: it only decides. */
	enum kr_status (*write)(struct kr_ir *ir, struct kr_str *out, struct kr_err *err);
};

extern const struct kr_backend *const kr_backend_registry[]; /* NULL-terminated, by name */
extern const size_t kr_backend_registry_count;

const struct kr_backend *kr_backend_find(const char *name); /* or NULL */

#endif
