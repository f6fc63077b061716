/* Checks one trace: reads and analyzes it once, then decides all levels asked for. Each is reported as
 * soon as it is decided; of levels that were named, as soon as those named before it are. A limit that is
 * hit on the way makes the levels left undecided; reports are written from memory of their own, so that
 * they can still be made then. */
#include "cli/check_run.h"

#include "cli/page_file.h"
#include "report/report.h"

struct checking {
	struct kr_check_run *run;
	struct kr_trace trace;
	const struct kr_asked *asked;
	struct kr_decision *decisions; /* on all that was asked */
	uint32_t reported;             /* of levels that were named: so many, the first ones */
	bool *stands;                  /* for each decision: it will not change */
	bool violated;                 /* some level */
	struct kr_standing standing;   /* of the trace, if that is to be told */
	struct kr_err err;
	int exit;
};

static void dump(void *data, const char *pass, const struct kr_ir *ir)
{
	struct checking *c = data;
	struct kr_str text;

	kr_str_init(&text, c->run->args->mem);
	kr_str_add(&text, "; ");
	kr_str_shown(&text, c->trace.path);
	kr_str_format(&text, ", level %s, after pass %s\n", ir->level->id, pass);
	kr_ir_print(ir, &text);
	kr_trace_clear(&c->trace);
	kr_note_text(&text);
	kr_str_done(&text);
}

static void format_witness(const struct kr_report *r, struct kr_str *out)
{
	struct kr_witness_head head = {r->trace, r->level->id, r->order};

	if (kr_report_outcome(r) != KR_UNDECIDED)
		kr_witness_print(r->history, &head, &r->verdict->certificate, out);
}

/* An explained violation tells of the other levels, too. */
static void find_standing(struct checking *c)
{
	for (uint32_t i = 0; i < c->run->asked.n; i++)
		c->violated |=
			c->decisions[i].status == KR_OK && c->decisions[i].verdict.outcome == KR_VIOLATED;
	if (c->run->explain && c->violated && !c->run->stop)
		(void)kr_find_standing(&c->trace.ctx, &c->trace.history, &c->trace.analysis, c->decisions,
			c->run->asked.n, &c->standing); /* or it is not told */
	kr_trace_clear(&c->trace);
}

/* Does a report hold what is known only when all is decided? */
static bool waits(const struct kr_check_run *run) { return run->explain && (run->json || run->output); }

/* Prints the text, and empties it. */
static void print(struct kr_check_run *run, struct kr_str *out) { run->stop |= !kr_print_done(out); }

static void print_verdict(struct checking *c, struct kr_report *r, struct kr_str *out)
{
	struct kr_check_run *run = c->run;

	if (run->output || run->json) {
		r->standing = c->standing;
		if (run->output)
			run->output->verdict(&run->document, r, out);
		else
			kr_report_json(r, (struct kr_json_extras){run->explain, run->stats}, out);
		kr_str_add(out, run->output ? "" : "\n");
		print(run, out);
		return;
	}
	kr_report_line(r, run->colour, out);
	print(run, out);
	if (run->stop)
		return;
	if (run->explain)
		kr_report_explain(r, out);
	if (run->stats)
		kr_report_run_stats(r, out);
	print(run, out);
}

/* Everything that was asked for of one verdict. A file that cannot be written keeps nothing else from being
 * told. */
static void write_report(struct checking *c, struct kr_report *r)
{
	struct kr_check_run *run = c->run;
	struct kr_str out;

	kr_str_init(&out, run->args->mem);
	print_verdict(c, r, &out);
	if (!run->stop && run->dot.file) {
		kr_report_dot(r, &out);
		kr_file_put(&run->dot, &out);
	}
	if (!run->stop && run->html.file) {
		kr_report_page_verdict(run->args->modules, r, &out);
		kr_file_put(&run->html, &out);
	}
	if (!run->stop && run->witness.file) {
		format_witness(r, &out);
		kr_file_put(&run->witness, &out);
	}
}

/* The trace's data, before its verdicts. */
static void write_trace(struct checking *c)
{
	struct kr_check_run *run = c->run;
	struct kr_str out;

	if (!run->html.file)
		return;
	kr_str_init(&out, run->args->mem);
	kr_report_page_trace(c->trace.path, c->trace.has_history ? &c->trace.history : NULL, &out);
	kr_file_put(&run->html, &out);
}

/* Does what is printed look at the analysis, whatever the verdict? */
static bool shows_graph(const struct kr_check_run *run)
{
	return run->explain || run->stats || run->dot.file || run->html.file;
}

/* Has it a checker, asked for by name, that works on the history itself? */
static bool works_on_history(const struct kr_asked *asked)
{
	return asked->checker && asked->checker->decide;
}

/* Nothing looks at it where each level has such a checker. */
static bool needs_analysis(const struct kr_check_run *run)
{
	bool needs = false;

	for (uint32_t i = 0; i < run->asked.n; i++)
		needs |= !works_on_history(&run->asked.at[i]);
	return needs;
}

/* JSON and documents tell of a violation in terms of the analysis, which those checkers do without. */
static bool needs_analysis_first(const struct kr_check_run *run)
{
	bool needs = shows_graph(run);

	for (uint32_t i = 0; i < run->asked.n && (run->json || run->output); i++)
		needs |= works_on_history(&run->asked.at[i]);
	return needs;
}

static int report(struct checking *c, const struct kr_verdict *verdict, const char *reason)
{
	static const int exits[] = {[KR_SATISFIED] = KR_EXIT_SATISFIED,
		[KR_VIOLATED] = KR_EXIT_VIOLATED,
		[KR_UNDECIDED] = KR_EXIT_UNDECIDED};
	const struct kr_trace *t = &c->trace;
	struct kr_analysis sums;
	bool shows = shows_graph(c->run) || c->run->json || c->run->output;
	bool other = verdict && verdict->sums && shows &&
		kr_analyze_sums(&c->trace.ctx, &t->history, &sums, NULL) == KR_OK;
	struct kr_report r = {
		.trace = t->path,
		.level = c->asked->level,
		.order = c->asked->order,
		.checker = c->asked->checker,
		.history = t->has_history ? &t->history : NULL,
		.analysis = other         ? &sums
			: t->has_analysis ? &t->analysis
					  : NULL,
		.verdict = verdict,
		.reason = reason,
		.notes = &t->notes,
		.modules = c->run->args->modules,
		.read_seconds = t->read_seconds,
		.seconds = t->read_seconds + t->analyze_seconds + (verdict ? verdict->seconds : 0),
		.peak_mib = kr_peak_mib(),
	};

	kr_trace_clear(&c->trace);
	write_report(c, &r);

	int exit = c->run->stop ? KR_EXIT_FAILED : exits[kr_report_outcome(&r)];

	if (!c->run->stop && kr_report_reason(&r) && !c->run->trace_options.quiet)
		kr_note("%s: %s: undecided: %s", t->path, c->asked->level->id, kr_report_reason(&r));
	if (other)
		kr_analysis_done(&sums);
	return exit;
}

/* No verdict: the error in one line. An error without a place gets the trace's name. */
static int fail(struct checking *c, struct kr_err *err)
{
	kr_trace_clear(&c->trace);
	kr_err_at(err, c->trace.path, 0, 0);

	char line[sizeof err->file + sizeof err->text + 32];

	kr_err_format(err, line, sizeof line);
	if (c->run->output)
		c->run->output->failed(&c->run->document, c->trace.path, c->asked ? c->asked->level : NULL,
			c->asked ? c->asked->order : KR_ORDER_NONE, line);
	kr_page_failed(c->run->args, &c->run->html, c->trace.path, err);
	return kr_fail_err(err);
}

static void ask(struct checking *c, const struct kr_asked *asked, struct kr_check_options *out)
{
	const struct kr_check_run *run = c->run;

	*out = (struct kr_check_options){
		.level = asked->level,
		.order = asked->order,
		.checker = asked->checker,
		.passes = run->passes,
		.backend = run->backend,
		.pass_options = {.dump_after = run->dump_after,
			.dump = dump,
			.dump_data = c,
			.count = run->stats},
	};
}

/* Reports the decision on c->asked. */
static int conclude(struct checking *c, struct kr_decision *d)
{
	if (d->status == KR_OK)
		return report(c, &d->verdict, NULL);
	if (kr_is_limit(d->status))
		return report(c, NULL, kr_ctx_reason(&c->trace.ctx, d->status));
	if (d->status == KR_BAD) {
		kr_trace_clear(&c->trace);
		c->run->stop = true;
		return kr_usage("%s", d->err.text);
	}
	kr_err_set(&d->err, d->status, "%s", kr_status_text(d->status));
	return fail(c, &d->err);
}

static void report_at(struct checking *c, uint32_t i)
{
	struct kr_decision shown = c->decisions[i]; /* the search goes on with what it knows itself */

	kr_trace_require(&c->trace, &c->run->trace_options, &shown, 1);
	c->asked = &c->run->asked.at[i];
	if (!c->run->stop)
		c->exit = kr_exit_worst(c->exit, conclude(c, &shown));
}

/* Reports what can be: of levels that were named those in front. */
static void report_named(struct checking *c)
{
	while (c->reported < c->run->asked.n && c->stands[c->reported])
		report_at(c, c->reported++);
}

static void decided(void *data, struct kr_decision *d)
{
	struct checking *c = data;
	uint32_t i = (uint32_t)(d - c->decisions);
	bool again = c->stands[i];

	c->stands[i] = true;
	if (waits(c->run))
		return;
	if (c->run->all || (again && i < c->reported))
		report_at(c, i);
	else
		report_named(c);
}

static enum kr_status analyze(void *data, const struct kr_analysis **out)
{
	struct checking *c = data;

	*out = &c->trace.analysis;
	return needs_analysis(c->run) ? kr_trace_analyze(&c->trace, &c->err) : KR_OK;
}

/* Without a history or an analysis: each level that is left tells the limit, and any other error is told
 * once. */
static void give_up(struct checking *c, enum kr_status status)
{
	if (!kr_is_limit(status)) {
		kr_err_set(&c->err, status, "%s", kr_status_text(status));
		c->asked = NULL;
		c->exit = kr_exit_worst(c->exit, fail(c, &c->err));
		return;
	}
	for (uint32_t i = 0; i < c->run->asked.n && !c->run->stop; i++) {
		bool stands = c->stands && c->stands[i], told = stands && (c->run->all || i < c->reported);

		c->asked = &c->run->asked.at[i];
		if (!stands)
			c->exit =
				kr_exit_worst(c->exit, report(c, NULL, kr_ctx_reason(&c->trace.ctx, status)));
		else if (!told)
			report_at(c, i);
	}
}

static void decide_all(struct checking *c)
{
	struct kr_check_plan plan = {.decided = decided, .analyze = analyze, .data = c};
	uint32_t n = c->run->asked.n;

	if (c->run->all && c->run->trace_options.seconds <= 0) {
		plan.each_ns = KR_CHECK_EACH_NS;
		plan.all_ns = KR_CHECK_ALL_NS;
	}

	const struct kr_analysis *known = c->trace.has_analysis ? &c->trace.analysis : NULL;
	enum kr_status status =
		kr_check_planned(&c->trace.ctx, &c->trace.history, known, c->decisions, n, &plan);

	if (status) {
		give_up(c, status);
		return;
	}
	find_standing(c);
	if (waits(c->run))
		report_named(c);
	if (c->standing.known && !waits(c->run)) {
		struct kr_str out;

		kr_str_init(&out, c->run->args->mem);
		kr_report_standing(c->run->args->modules, &c->standing, &out);
		print(c->run, &out);
	}
}

static int decide(struct checking *c)
{
	const struct kr_asked_list *asked = &c->run->asked;
	struct kr_mem *mem = c->run->args->mem;

	c->decisions = kr_mem_alloc(mem, asked->n, sizeof *c->decisions);
	c->stands = kr_mem_alloc(mem, asked->n, sizeof *c->stands);
	if (c->decisions && c->stands) {
		for (uint32_t i = 0; i < asked->n; i++)
			ask(c, &asked->at[i], &c->decisions[i].options);
		c->asked = &asked->at[0];
		decide_all(c);
		for (uint32_t i = 0; i < asked->n; i++)
			kr_verdict_done(&c->decisions[i].verdict, &c->trace.ctx.mem);
	} else {
		c->exit = kr_fail("out of memory");
	}
	kr_mem_free(mem, c->decisions, asked->n, sizeof *c->decisions);
	kr_mem_free(mem, c->stands, asked->n, sizeof *c->stands);
	return c->exit;
}

static int check_levels(struct checking *c)
{
	enum kr_status status = kr_trace_read(&c->trace, c->trace.path, &c->run->trace_options, &c->err);

	if (status == KR_OK && needs_analysis_first(c->run))
		status = kr_trace_analyze(&c->trace, &c->err);
	if (status == KR_OK || kr_is_limit(status))
		write_trace(c);
	if (status == KR_OK)
		return decide(c);
	give_up(c, status);
	return c->exit;
}

int kr_check_trace(struct kr_check_run *run, const char *path)
{
	struct checking c = {.run = run, .trace = {.path = path}};

	kr_err_init(&c.err);

	int exit = check_levels(&c);

	if (run->output && !run->stop) {
		struct kr_str out;

		kr_str_init(&out, run->args->mem);
		run->output->trace_done(&run->document, path, &c.trace.notes, &out);
		run->stop = !kr_print_done(&out);
	}
	kr_trace_done(&c.trace);
	if (run->stop)
		exit = kr_exit_worst(exit, KR_EXIT_FAILED);
	return exit;
}
