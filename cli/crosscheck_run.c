/* Crosschecks one level: what all runs come to; a disagreement shrunk; a claim judged by the first verdict
 * that is proved; then, if asked for, the runs, a line each. In JSON the runs are told as they end. */
#include "cli/crosscheck_run.h"

#include <string.h>

#include "frontend/native_write.h"

const char *const kr_crosscheck_results[] = {[KR_EXIT_SATISFIED] = "confirmed",
	[KR_EXIT_VIOLATED] = "refuted",
	[KR_EXIT_UNDECIDED] = "not decidable"};

struct crossing {
	struct kr_crosscheck *c;
	const struct kr_asked *asked;
	struct kr_check_options question;
	struct kr_ways ways;
	struct kr_cross_run *runs; /* parallel to ways */
};

void kr_crosscheck_begin(const struct kr_crosscheck *c, const struct kr_asked *asked, struct kr_str *out)
{
	kr_str_init(out, c->args->mem);
	if (c->json) {
		kr_str_add(out, "{");
		kr_str_member(out, "trace", c->trace.path);
		kr_str_member(out, "level", asked->level->id);
		kr_str_member(out, "order", kr_order_name(asked->order));
	} else {
		kr_str_shown(out, c->trace.path);
		kr_str_format(out, "\t%s", asked->level->id);
	}
}

bool kr_crosscheck_end(struct kr_crosscheck *c, struct kr_str *out)
{
	kr_trace_clear(&c->trace);
	kr_str_add(out, c->json ? "}\n" : "\n");
	return kr_print_done(out);
}

/* ---- the runs ---- */

static void add_way(const struct kr_way *way, struct kr_str *out)
{
	kr_str_format(out, "%s%s%s", way->checker->name, way->backend ? "/" : "",
		way->backend ? way->backend : "");
}

static const char *verdict_name(const struct kr_cross_run *run)
{
	return run->status == KR_INTERNAL ? "refused" : kr_report_verdict(kr_cross_run_outcome(run));
}

/* The anomaly's name, or why there is no verdict. */
static const char *detail(const struct crossing *x, const struct kr_cross_run *run,
	char name[KR_ANOMALY_NAME_SIZE])
{
	if (run->status != KR_OK)
		return run->err.status ? run->err.text : kr_status_text(run->status);
	if (run->verdict.outcome == KR_UNDECIDED)
		return run->verdict.reason;
	name[0] = '\0';
	if (run->verdict.outcome == KR_VIOLATED)
		kr_report_anomaly(&x->c->trace.history, &run->verdict.certificate, name);
	return name;
}

static bool tell_run(const struct crossing *x, const struct kr_cross_run *run)
{
	char name[KR_ANOMALY_NAME_SIZE];
	const char *text = detail(x, run, name),
		   *field = kr_cross_run_outcome(run) == KR_VIOLATED ? "anomaly" : "reason";
	unsigned long long mib = (unsigned long long)(run->ctx.mem.peak + (1u << 20) - 1) >> 20;
	struct kr_str out;

	kr_crosscheck_begin(x->c, x->asked, &out);
	if (x->c->json) {
		kr_str_member(&out, "checker", run->way.checker->name);
		if (run->way.backend)
			kr_str_member(&out, "backend", run->way.backend);
		kr_str_member(&out, "verdict", verdict_name(run));
		if (*text)
			kr_str_member(&out, field, text);
		kr_str_format(&out, ", \"seconds\": %.6f, \"peak_mib\": %llu", run->seconds, mib);
	} else {
		kr_str_add(&out, "\t");
		add_way(&run->way, &out);
		kr_str_format(&out, "\t%s\t%.3f s\t%llu MiB%s%s", verdict_name(run), run->seconds, mib,
			*text ? "\t" : "", text);
	}
	return kr_crosscheck_end(x->c, &out);
}

static bool tell_runs(const struct crossing *x)
{
	bool written = true;

	for (uint32_t i = 0; i < x->ways.n && x->c->verbose && !x->c->json && written; i++)
		written = tell_run(x, &x->runs[i]);
	return written;
}

static bool run_all(struct crossing *x)
{
	const struct kr_trace *t = &x->c->trace;
	bool written = true;

	for (uint32_t i = 0; i < x->ways.n; i++) {
		kr_cross_run_way(&x->c->trace.ctx, &t->history, &t->analysis, &x->question, x->ways.at[i],
			x->c->limits, &x->runs[i]);
		written = written && (!x->c->json || tell_run(x, &x->runs[i]));
	}
	return written;
}

/* ---- disagreement ---- */

/* The trace that shows it, for the result's line or the file that was named. */
static enum kr_status shrink(struct crossing *x, const struct kr_disagreement *d, struct kr_str *text,
	uint32_t *txns, bool *minimal, struct kr_err *err)
{
	struct kr_trace *t = &x->c->trace;
	const struct kr_cross_run *other = d->other == KR_NONE ? NULL : &x->runs[d->other];
	struct kr_cut cut;
	struct kr_ctx ctx;

	kr_ctx_restart(&t->ctx, x->c->limits.seconds);

	KR_TRY(kr_shrink_disagreement(&t->ctx, &t->history, &t->analysis, &x->question, x->c->limits,
		&x->runs[d->wrong], other, &cut, minimal, err));
	kr_ctx_init(&ctx, 0, 0);
	*txns = cut.history.txns.n;
	enum kr_status status = kr_native_write_text(&ctx, &cut.history, text, err);
	kr_cut_done(&cut);
	return status ? status : text->failed ? KR_NOMEM : KR_OK;
}

static int tell_disagreement(struct crossing *x, const struct kr_disagreement *d)
{
	struct kr_str out, text;
	struct kr_err err;
	const char *path = kr_args_value(x->c->args, "output");
	bool minimal = false;
	uint32_t txns = 0;

	kr_err_init(&err);
	kr_str_init(&text, x->c->args->mem);
	enum kr_status status = shrink(x, d, &text, &txns, &minimal, &err);
	kr_crosscheck_begin(x->c, x->asked, &out);
	kr_str_add(&out, x->c->json ? ", \"result\": \"disagree\", \"between\": [\"" : "\tdisagree\t");
	add_way(&x->runs[d->wrong].way, &out);
	if (d->other != KR_NONE) {
		kr_str_add(&out, x->c->json ? "\", \"" : ", ");
		add_way(&x->runs[d->other].way, &out);
	}
	if (x->c->json) {
		kr_str_format(&out, "\"], \"minimal\": %s, \"shown_by\": ", minimal ? "true" : "false");
		kr_str_json(&out, kr_str_text(&text), text.n);
	} else if (!status) {
		kr_str_format(&out, "\tshown by %u transaction%s%s", (unsigned)txns, txns == 1 ? "" : "s",
			minimal ? "" : ", perhaps not the fewest");
	}
	if (kr_crosscheck_end(x->c, &out) && tell_runs(x) && !status && (path || !x->c->json))
		(void)kr_file_save(x->c->args, path, &text); /* the status is the same if that fails */
	if (status)
		(void)kr_trace_fail(&x->c->trace, status, &err);
	kr_str_done(&text);
	return KR_EXIT_FAILED;
}

/* ---- agreement, and claims ---- */

static void report_of(const struct crossing *x, const struct kr_cross_run *run, struct kr_report *out)
{
	*out = (struct kr_report){
		.trace = x->c->trace.path,
		.level = x->asked->level,
		.order = x->asked->order,
		.checker = run->way.checker,
		.history = &x->c->trace.history,
		.analysis = &x->c->trace.analysis,
		.verdict = &run->verdict,
	};
}

void kr_crosscheck_witness(struct kr_crosscheck *c, const struct kr_asked *asked,
	const struct kr_certificate *proof)
{
	struct kr_witness_head head = {c->trace.path, asked->level->id, asked->order};
	struct kr_str out;

	if (!c->witness.file)
		return;
	kr_str_init(&out, c->args->mem);
	kr_witness_print(&c->trace.history, &head, proof, &out);
	kr_file_put(&c->witness, &out);
}

static int tell_agreement(const struct crossing *x, const struct kr_cross_run *proved)
{
	static const int exits[] = {[KR_SATISFIED] = KR_EXIT_SATISFIED,
		[KR_VIOLATED] = KR_EXIT_VIOLATED,
		[KR_UNDECIDED] = KR_EXIT_UNDECIDED};
	enum kr_outcome outcome = proved ? proved->verdict.outcome : KR_UNDECIDED;
	const char *result = proved ? "agree" : "undecided";
	struct kr_str out;

	kr_crosscheck_begin(x->c, x->asked, &out);
	if (x->c->json) {
		kr_str_member(&out, "result", result);
		kr_str_member(&out, "verdict", kr_report_verdict(outcome));
		kr_notes_json(&x->c->trace.notes, ", ", &out);
	} else {
		char name[KR_ANOMALY_NAME_SIZE];
		const char *text = detail(x, proved ? proved : &x->runs[0], name);
		kr_str_format(&out, "\t%s\t%s%s%s", result, kr_report_verdict(outcome), *text ? "\t" : "",
			text);
	}
	if (!kr_crosscheck_end(x->c, &out))
		return KR_EXIT_FAILED;
	if (proved)
		kr_crosscheck_witness(x->c, x->asked, &proved->verdict.certificate);
	return exits[outcome];
}

static int tell_claim(const struct crossing *x, const struct kr_cross_run *proved, enum kr_outcome claim)
{
	int exit = !proved || claim == KR_UNDECIDED ? KR_EXIT_UNDECIDED
		: proved->verdict.outcome == claim  ? KR_EXIT_SATISFIED
						    : KR_EXIT_VIOLATED;
	struct kr_report report;
	struct kr_str out, why;

	kr_crosscheck_begin(x->c, x->asked, &out);
	kr_str_init(&why, x->c->args->mem);
	if (exit == KR_EXIT_VIOLATED) {
		report_of(x, proved, &report);
		kr_report_explain(&report, &why);
	}
	const char *silent = claim != KR_UNDECIDED ? ""
		: x->c->elle_path                  ? "Elle says nothing of this level"
						   : "nothing is claimed of this level";
	if (x->c->json) {
		kr_str_member(&out, "claim", kr_report_verdict(claim));
		kr_str_member(&out, "result", kr_crosscheck_results[exit]);
		if (*silent)
			kr_str_member(&out, "reason", silent);
		if (why.n > 0)
			kr_str_member(&out, "explanation", kr_str_text(&why));
	} else {
		kr_str_format(&out, "\tclaim: %s\t%s%s%s", kr_report_verdict(claim),
			kr_crosscheck_results[exit], *silent ? "\t" : "", silent);
		if (why.n > 0)
			kr_str_format(&out, "\n%s", kr_str_text(&why));
	}
	out.failed |= why.failed;
	kr_str_done(&why);
	return kr_crosscheck_end(x->c, &out) ? exit : KR_EXIT_FAILED;
}

/* `exit`: the status if nothing was claimed. */
static int judge_claims(struct crossing *x, const struct kr_cross_run *proved, int exit)
{
	struct kr_crosscheck *c = x->c;
	bool satisfied = proved && proved->verdict.outcome == KR_SATISFIED,
	     claimed = kr_args_has(c->args, "claim");
	struct kr_question question = {x->asked->level, x->asked->order};
	enum kr_outcome claim = c->elle_path ? kr_elle_result_claims(&c->elle, c->args->modules, question)
		: c->said.stated.n > 0
		? kr_claim_file_claims(&c->said, c->args->modules, c->trace.path, question)
		: c->claim;

	if (claimed)
		exit = tell_claim(x, proved, claim);
	if (c->elle_path && exit != KR_EXIT_FAILED)
		exit = kr_exit_worst(exit, kr_crosscheck_elle(c, x->asked, satisfied));
	if (exit == KR_EXIT_FAILED || c->cycles.n == 0)
		return exit;

	int cycles = kr_crosscheck_cycles(c, x->asked, satisfied);

	return claimed ? kr_exit_worst(exit, cycles) : cycles;
}

static int conclude(struct crossing *x)
{
	struct kr_disagreement d;
	const struct kr_cross_run *proved = NULL;

	for (uint32_t i = 0; i < x->ways.n && !proved; i++)
		if (kr_cross_run_outcome(&x->runs[i]) != KR_UNDECIDED)
			proved = &x->runs[i];
	if (kr_runs_disagree(x->runs, x->ways.n, &d))
		return tell_disagreement(x, &d);
	int exit = tell_agreement(x, proved);
	if (exit != KR_EXIT_FAILED)
		exit = judge_claims(x, proved, exit);
	return tell_runs(x) ? exit : KR_EXIT_FAILED;
}

int kr_crosscheck_level(struct kr_crosscheck *c, const struct kr_asked *asked)
{
	struct kr_mem *mem = c->args->mem;
	struct crossing x = {.c = c,
		.asked = asked,
		.question = {.level = asked->level, .order = asked->order}};
	const struct kr_checker *only = kr_args_has(c->args, "checker") ? asked->checker : NULL;
	int exit = KR_EXIT_FAILED;

	if (kr_ways_find(mem, c->args->modules, asked->level, only, &x.ways) == KR_OK)
		x.runs = kr_mem_alloc(mem, x.ways.n, sizeof *x.runs);
	if (!x.runs) {
		kr_fail("out of memory");
	} else {
		if (run_all(&x))
			exit = conclude(&x);
		for (uint32_t i = 0; i < x.ways.n; i++)
			kr_cross_run_done(&x.runs[i]);
		kr_mem_free(mem, x.runs, x.ways.n, sizeof *x.runs);
	}
	kr_vec_done(mem, &x.ways);
	return exit;
}
