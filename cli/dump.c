/* krait dump: what a stage of the pipeline made of a trace. */
#include "checkers/check.h"
#include "cli/output.h"
#include "cli/stage.h"

static const struct kr_option options[] = {
	KR_OPTIONS_STAGE,
	{"read", 0, NULL, KR_WORDS_ANY, "TRACE is what --asg or --ir printed before"},
	KR_OPTION_LEVEL,
	KR_OPTION_ORDER,
	KR_OPTION_CHECKER,
	KR_OPTION_PASSES,
	KR_OPTION_FORMAT,
	KR_OPTION_INITIAL,
	KR_OPTION_LENIENT,
	KR_OPTION_TIMEOUT,
	KR_OPTION_MEMORY,
	KR_OPTION_JOBS,
	KR_OPTION_QUIET,
	{0},
};

/* Anomalies that are found before the graph is made are not in it, nor is what cannot be analyzed. */
static void note_missing(const struct kr_staging *d, const struct kr_trace *t)
{
	uint32_t n = t->analysis.anomaly_count;

	if (n > 0 && !d->trace_options.quiet)
		kr_note("%s: note: this does not show the %u anomal%s that no order explains (see 'krait "
			"check')",
			t->path, n, n == 1 ? "y" : "ies");
	if (t->analysis.left_out[0] && !d->trace_options.quiet)
		kr_note("%s: note: this has more worlds than the trace: %s", t->path, t->analysis.left_out);
}

static const char *passes_of(const struct kr_staging *d)
{
	return d->passes ? d->passes : d->asked.at[0].checker->passes;
}

static enum kr_status dump_graph(struct kr_staging *d, struct kr_trace *t, struct kr_err *err)
{
	const struct kr_asked *asked = &d->asked.at[0];
	bool conflict;
	struct kr_ir ir;
	KR_TRY(kr_ir_init(&ir, &t->ctx, &t->analysis.asg, asked->level, asked->order));
	enum kr_status status = kr_staging_print(d, &ir, passes_of(d), &conflict, err);
	kr_ir_done(&ir);
	return status;
}

static enum kr_status dump(struct kr_staging *d, struct kr_trace *t, struct kr_err *err)
{
	KR_TRY(kr_trace_read(t, t->path, &d->trace_options, err));
	KR_TRY(kr_trace_analyze(t, err));
	const struct kr_level *level =
		d->asked.n > 0 && d->stage != KR_STAGE_ASG ? d->asked.at[0].level : NULL;

	KR_TRY(kr_check_exactly(&t->ctx, &t->history, level, &t->analysis, err));
	note_missing(d, t);
	if (d->stage != KR_STAGE_ASG)
		return dump_graph(d, t, err);
	kr_asg_print(&t->analysis.asg, &d->out);
	return KR_OK;
}

static int dump_trace(struct kr_staging *d)
{
	struct kr_trace t = {.path = d->args->operands.at[0]};
	struct kr_err err;
	int exit = KR_EXIT_SATISFIED;

	kr_err_init(&err);

	enum kr_status status = dump(d, &t, &err);

	kr_trace_clear(&t);
	if (status)
		exit = kr_trace_fail(&t, status, &err);
	else if (!kr_print(&d->out))
		exit = KR_EXIT_FAILED;
	kr_trace_done(&t);
	return exit;
}

/* What other solvers decide must be the level's question; a graph may be looked at after any passes. */
static int check_passes(const struct kr_staging *d)
{
	struct kr_err err;

	kr_err_init(&err);
	if (!d->passes || d->stage != KR_STAGE_WRITER ||
		kr_passes_check_order(d->args->modules, d->passes, d->asked.at[0].order, &err) == KR_OK)
		return KR_EXIT_SATISFIED;
	return kr_usage("option '--passes': %s", err.text);
}

static int run(const struct kr_args *args)
{
	struct kr_staging d;
	int status = kr_staging_init(&d, args, KR_STAGE_WRITER, kr_args_has(args, "read"));

	if (status == KR_EXIT_SATISFIED && kr_args_has(args, "read"))
		status = kr_staging_text(&d, passes_of(&d));
	else if (status == KR_EXIT_SATISFIED && (status = check_passes(&d)) == KR_EXIT_SATISFIED)
		status = dump_trace(&d);
	kr_staging_done(&d);
	return status;
}

const struct kr_command kr_command_dump = {
	.name = "dump",
	.synopsis = "--asg|--ir|--smt2|--dimacs [OPTION]... TRACE",
	.title = "print what a stage of the pipeline made of a trace",
	.purpose = KR_TO_LOOK_INSIDE,
	.text = "With --passes '' the dependency graph is printed before any pass has run.\n"
		"With --read the text of an earlier dump stands in for a trace.",
	.options = options,
	.operands = KR_WORDS_FILE,
	.least = 1,
	.most = 1,
	.run = run,
};
