/* Passes: transformations of the dependency IR, one per file, collected by the build into kr_pass_registry;
 * and the manager that runs a list of them, checks what each requires and provides, times, counts and
 * dumps. */
#ifndef KR_PASSES_PASS_H
#define KR_PASSES_PASS_H

#include "base/modules.h"
#include "ir/ir.h"

extern const struct kr_pass *const kr_pass_registry[]; /* NULL-terminated, by name */
extern const size_t kr_pass_registry_count;

/* the i-th of all, NULL past the end */
const struct kr_pass *kr_pass_at(const struct kr_modules *more, size_t i);
const struct kr_pass *kr_pass_find(const struct kr_modules *more, const char *name); /* or NULL */

/* What one pass of a run did, for --stats. */
struct kr_pass_stat {
	const struct kr_pass *pass;
	double seconds;
	enum kr_change change;
	struct kr_ir_counts before, after;
	uint32_t first_edge;          /* those that it added begin with this one */
	struct kr_tallies tallies;  /* its own, by name */
};

struct kr_pass_options {
	const char *dump_after;   /* name of a pass, "all", or NULL */
	void (*dump)(void *data, const char *pass, const struct kr_ir *ir);
	void *dump_data;
	bool count;               /* fill before and after of the stats (costs a sweep each) */
	/* look at the graph after each pass, as debug builds always do: KR_INTERNAL names the pass that broke
	 * a promise of ir/ir.h */
	bool verify;
};

KR_VEC_NAMED(kr_pass_stats, struct kr_pass_stat);

/* Runs the passes named in `list` (comma- or blank-separated) in order and stops at a conflict. KR_BAD: an
 * unknown pass, or one whose requirements nothing before it provides; err names it. `stats` may be NULL. */
enum kr_status kr_passes_run(struct kr_ir *ir, const char *list, const struct kr_pass_options *options,
	struct kr_pass_stats *stats, enum kr_change *change, struct kr_err *err);

/* Checks a list without running it (names exist, requirements are met in order). */
enum kr_status kr_passes_check(const struct kr_modules *more, const char *list, struct kr_err *err);

/* The same for a list that is to run on this graph, whose facts hold already. */
enum kr_status kr_passes_check_on(const struct kr_ir *ir, const char *list, struct kr_err *err);

/* The facts without which a graph does not say what transactions in that order may not do. */
uint32_t kr_order_facts(enum kr_order order);

/* Besides: after the list, the facts hold without which no back end can tell whether a level with this order
 * is satisfied. A list may leave out everything else: back ends take what passes have not settled from the
 * abstract semantic graph, but not orders among sessions and in time. */
enum kr_status kr_passes_check_order(const struct kr_modules *more, const char *list, enum kr_order order,
	struct kr_err *err);

#endif
