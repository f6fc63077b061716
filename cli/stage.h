/* What the commands `dump` and `opt` print: a stage of the pipeline, or a graph for other solvers. And the
 * texts that they print, read again. */
#ifndef KR_CLI_STAGE_H
#define KR_CLI_STAGE_H

#include "backend/backend.h"
#include "cli/levels_option.h"
#include "cli/trace.h"
#include "ir/ir.h"

#define KR_OPTIONS_STAGE \
	{"asg", 0, NULL, KR_WORDS_ANY, "the abstract semantic graph: versions and observations"}, \
	{"ir", 0, NULL, KR_WORDS_ANY, "the dependency graph after the passes"}, \
	{"smt2", 0, NULL, KR_WORDS_ANY, "what is left after the passes, in SMT-LIB 2"}, \
	{"dimacs", 0, NULL, KR_WORDS_ANY, "what is left after the passes, in DIMACS CNF"}

enum kr_stage { KR_STAGE_ASG, KR_STAGE_IR, KR_STAGE_WRITER };

/* What is to be printed of which question, from the options of a command. */
struct kr_staging {
	const struct kr_args *args;
	enum kr_stage stage;
	const struct kr_backend *writer; /* KR_STAGE_WRITER */
	struct kr_trace_options trace_options;
	struct kr_asked_list asked;      /* one */
	const char *passes;              /* NULL: not given */
	struct kr_str out;
};

/* Takes the options. `implied`: the stage when none is named; KR_STAGE_WRITER: one has to be. `text`: the
 * operand is a graph, whose facts count for the list of passes. On anything but KR_EXIT_SATISFIED a message
 * has said why. The caller frees with kr_staging_done in every case. */
int kr_staging_init(struct kr_staging *s, const struct kr_args *args, enum kr_stage implied, bool text);
void kr_staging_done(struct kr_staging *s);

/* Runs `passes` on the graph and prints the stage, which is not the ASG. *conflict: a pass refuted the level.
 * KR_INTERNAL: a pass left a graph that breaks a promise of ir/ir.h. KR_BAD: what a writer is to write is not
 * the level's question, since an order's edges are missing. */
enum kr_status kr_staging_print(struct kr_staging *s, struct kr_ir *ir, const char *passes, bool *conflict,
	struct kr_err *err);

/* Reads the text of a graph as the command's operand, runs `passes` and prints the stage; the status to exit
 * with. */
int kr_staging_text(struct kr_staging *s, const char *passes);

#endif
