/* krait dump: what a stage of the pipeline made of a trace. */
#include <string.h>

#include "backend/backend.h"
#include "cli/levels_option.h"
#include "cli/output.h"
#include "cli/trace.h"
#include "ir/ir.h"

enum stage { STAGE_ASG, STAGE_IR, STAGE_WRITER };

/* The stages by option; a writer is a back end. */
static const struct {
	const char *option;
	enum stage stage;
	const char *backend;
} stages[] = {
	{"asg", STAGE_ASG, NULL},
	{"ir", STAGE_IR, NULL},
	{"smt2", STAGE_WRITER, "smt2"},
	{"dimacs", STAGE_WRITER, "dimacs"},
};

static const struct kr_option options[] = {
	{"asg", 0, NULL, KR_WORDS_ANY, "the abstract semantic graph: versions and observations"},
	{"ir", 0, NULL, KR_WORDS_ANY, "the dependency graph after the passes"},
	{"smt2", 0, NULL, KR_WORDS_ANY, "what is left after the passes, in SMT-LIB 2"},
	{"dimacs", 0, NULL, KR_WORDS_ANY, "what is left after the passes, in DIMACS CNF"},
	KR_OPTION_LEVEL,
	KR_OPTION_ORDER,
	KR_OPTION_CHECKER,
	KR_OPTION_PASSES,
	KR_OPTION_FORMAT,
	KR_OPTION_LENIENT,
	KR_OPTION_TIMEOUT,
	KR_OPTION_MEMORY,
	KR_OPTION_JOBS,
	KR_OPTION_QUIET,
	{0},
};

struct dumping {
	const struct kr_args *args;
	size_t stage;                     /* into stages */
	const struct kr_backend *backend; /* STAGE_WRITER */
	struct kr_trace_options trace_options;
	struct kr_asked_list asked;
	const char *passes; /* NULL: the checker's */
	struct kr_str out;
};

static int take_stage(struct dumping *d)
{
	size_t chosen = 0;

	for (size_t i = 0; i < KR_COUNT(stages); i++) {
		if (!kr_args_has(d->args, stages[i].option))
			continue;
		chosen++;
		d->stage = i;
	}
	if (chosen != 1)
		return kr_usage("expected one of --asg, --ir, --smt2 and --dimacs; see 'krait dump --help'");
	if (stages[d->stage].stage != STAGE_WRITER)
		return KR_EXIT_SATISFIED;
	d->backend = kr_backend_find(d->args->modules, stages[d->stage].backend);
	if (d->backend && d->backend->write)
		return KR_EXIT_SATISFIED;
	return kr_usage("--%s is not available yet", stages[d->stage].option);
}

/* What other solvers decide must be the level's question; a graph may be looked at after any passes. */
static int take_question(const struct dumping *d)
{
	struct kr_err err;

	kr_err_init(&err);
	if (!d->passes || stages[d->stage].stage != STAGE_WRITER || kr_passes_check_order(d->args->modules, d->passes, d->asked.at[0].order, &err) == KR_OK)
		return KR_EXIT_SATISFIED;
	return kr_usage("option '--passes': %s", err.text);
}

static int take_options(struct dumping *d)
{
	int status = take_stage(d);

	if (status != KR_EXIT_SATISFIED)
		return status;
	if (!kr_trace_options(d->args, &d->trace_options) || !kr_passes_asked(d->args, &d->passes))
		return KR_EXIT_USAGE;
	status = kr_levels_asked(d->args, &d->asked);
	if (status == KR_EXIT_SATISFIED && d->asked.n != 1)
		return kr_usage("expected one level, found %u", d->asked.n);
	return status == KR_EXIT_SATISFIED ? take_question(d) : status;
}

/* Anomalies that are found before the graph is made are not in it, nor is what cannot be analyzed. */
static void note_missing(const struct dumping *d, const struct kr_trace *t)
{
	uint32_t n = t->analysis.anomaly_count;

	if (n > 0 && !d->trace_options.quiet)
		kr_note("%s: note: this does not show the %u anomal%s that no order explains (see 'krait check')", t->path, n, n == 1 ? "y" : "ies");
	if (t->analysis.left_out[0] && !d->trace_options.quiet)
		kr_note("%s: note: this has more worlds than the trace: %s", t->path, t->analysis.left_out);
}

static enum kr_status dump_graph(struct dumping *d, struct kr_trace *t, struct kr_err *err)
{
	const struct kr_asked *asked = &d->asked.at[0];
	struct kr_pass_options pass_options = {0};
	enum kr_change change;
	struct kr_ir ir;
	enum kr_status status = kr_ir_init(&ir, &t->ctx, &t->analysis.asg, asked->level, asked->order);

	if (status != KR_OK)
		return status;
	status = kr_passes_run(&ir, d->passes ? d->passes : asked->checker->passes, &pass_options, NULL, &change, err);
	if (status == KR_OK && stages[d->stage].stage == STAGE_IR)
		kr_ir_print(&ir, &d->out);
	else if (status == KR_OK)
		status = d->backend->write(&ir, &d->out, err);
	kr_ir_done(&ir);
	return status;
}

static enum kr_status dump(struct dumping *d, struct kr_trace *t, struct kr_err *err)
{
	enum kr_status status = kr_trace_read(t, t->path, &d->trace_options, err);

	if (status == KR_OK)
		status = kr_trace_analyze(t, err);
	if (status != KR_OK)
		return status;
	note_missing(d, t);
	if (stages[d->stage].stage != STAGE_ASG)
		return dump_graph(d, t, err);
	kr_asg_print(&t->analysis.asg, &d->out);
	return KR_OK;
}

static int dump_trace(struct dumping *d)
{
	struct kr_trace t = {.path = d->args->operands.at[0]};
	struct kr_err err;
	int exit = KR_EXIT_SATISFIED;

	kr_err_init(&err);

	enum kr_status status = dump(d, &t, &err);

	kr_trace_clear(&t);
	if (status == KR_OK) {
		exit = kr_print(&d->out) ? KR_EXIT_SATISFIED : KR_EXIT_FAILED;
	} else {
		exit = kr_trace_fail(t.path, status, &err);
	}
	kr_trace_done(&t);
	return exit;
}

static int run(const struct kr_args *args)
{
	struct dumping d = {.args = args};

	kr_str_init(&d.out, args->mem);

	int status = take_options(&d);

	if (status == KR_EXIT_SATISFIED)
		status = dump_trace(&d);
	kr_str_done(&d.out);
	kr_vec_done(args->mem, &d.asked);
	return status;
}

const struct kr_command kr_command_dump = {
	.name = "dump",
	.synopsis = "--asg|--ir|--smt2|--dimacs [OPTION]... TRACE",
	.title = "print what a stage of the pipeline made of a trace",
	.text = "With --passes '' the dependency graph is printed before any pass has run.",
	.options = options,
	.operands = KR_WORDS_FILE,
	.least = 1,
	.most = 1,
	.run = run,
};
