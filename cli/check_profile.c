/* krait check --profile: holds each trace to a profile (checkers/leopard.h) instead of deciding levels. A
 * line for each trace: its name, the profile's, "violated" or "unknown", and what was found. */
#include "cli/check_profile.h"

#include <string.h>

#include "cli/file.h"
#include "cli/output.h"
#include "cli/stream_run.h"
#include "cli/trace.h"
#include "report/finding.h"

struct profiling {
	const struct kr_args *args;
	struct kr_profile_option asked;
	struct kr_trace_options trace_options;
	struct kr_file witness, told;
	struct kr_findings_page page;
	bool json, explain, colour;
};

/* A level that is asked for can only be the one that the profile certifies. */
static bool names_level(const struct profiling *p)
{
	const char *name = kr_args_value(p->args, "level");
	enum kr_order order;

	return !name ||
		(p->asked.options.certify &&
			kr_level_find(p->args->modules, name, &order) == p->asked.options.certify);
}

/* What goes with --profile, beside what reading takes. */
static int check_options(const struct profiling *p)
{
	static const char *const not_here[] = {"order", "output", "dot", "stats", "backend", "passes",
		"dump-after"};
	const char *checker = kr_args_value(p->args, "checker");

	if (checker && strcmp(checker, "leopard") != 0)
		return kr_usage("checker '%s' decides levels; '--profile' is for 'leopard'", checker);
	if (!names_level(p))
		return kr_usage("the profile does not certify level '%s'", kr_args_value(p->args, "level"));
	for (size_t i = 0; i < KR_COUNT(not_here); i++)
		if (kr_args_has(p->args, not_here[i]))
			return kr_usage("options '--profile' and '--%s' exclude each other", not_here[i]);
	return kr_page_asked(p->args);
}

static void write_findings(struct profiling *p, const struct kr_finding_report *r)
{
	struct kr_str out;

	kr_str_init(&out, p->args->mem);
	for (uint32_t i = 0; i < r->all->list.n && p->witness.path; i++) {
		kr_report_finding_json(r, &r->all->list.at[i], &out);
		kr_str_add(&out, "\n");
	}
	kr_file_put(&p->witness, &out);
}

/* The verdict stands, whatever becomes of the page. */
static void write_page(struct profiling *p, struct kr_trace *t, const struct kr_finding_report *r,
	const struct kr_batch_options *options, const struct kr_mechanisms_verdict *verdict)
{
	char looked[160];

	kr_findings_page_begin(&p->page, t->path, options, &t->history);
	kr_findings_page_add(&p->page, &t->ctx, r, NULL);
	snprintf(looked, sizeof looked, "%u transactions, %u observations, %u versions and %u locks",
		verdict->looked.txns, verdict->looked.reads, verdict->looked.versions, verdict->looked.locks);
	kr_findings_page_end(&p->page, looked);
}

/* Without --profile: the one that the trace names. */
static int report(struct profiling *p, struct kr_trace *t, const struct kr_batch_options *options,
	const struct kr_mechanisms_verdict *verdict)
{
	struct kr_finding_report r = {t->path, &t->history, options->profile, options->certify,
		&verdict->findings};
	struct kr_str out;

	kr_trace_clear(t);
	kr_str_init(&out, p->args->mem);
	if (p->json) {
		kr_report_mechanisms_json(&r, verdict, p->explain, &out);
		kr_str_add(&out, "\n");
	} else {
		kr_report_mechanisms_line(&r, verdict, p->colour, &out);
		for (uint32_t i = 0; i < r.all->list.n && p->explain; i++)
			kr_report_finding_explain(&r, &r.all->list.at[i], &out);
	}
	bool written = kr_print_done(&out);
	write_findings(p, &r);
	if (!written)
		return KR_EXIT_FAILED;
	write_page(p, t, &r, options, verdict);
	if (verdict->outcome == KR_VIOLATED)
		return KR_EXIT_VIOLATED;
	if (!p->trace_options.quiet)
		kr_note("%s: %s: undecided: %s", t->path, r.profile->name, verdict->reason);
	return KR_EXIT_UNDECIDED;
}

static int check_trace(struct profiling *p, const char *path)
{
	struct kr_mechanisms_verdict verdict = {.outcome = KR_UNDECIDED};
	struct kr_batch_options options;
	struct kr_trace t;
	struct kr_err err;
	int exit = KR_EXIT_SATISFIED;

	kr_err_init(&err);
	enum kr_status status = kr_trace_read(&t, path, &p->trace_options, &err);
	if (!status)
		exit = kr_profile_for(p->args, &p->asked, &t.history, "trace",
			"checker 'leopard' holds a trace to a profile", &options);
	if (!status && exit == KR_EXIT_SATISFIED) {
		status = kr_check_mechanisms(&t.ctx, &t.history, &options, &verdict, &err);
		exit = status ? exit : report(p, &t, &options, &verdict);
	}
	if (status) {
		exit = kr_trace_fail(&t, status, &err);
		kr_page_failed(p->args, &p->page.file, path, &err);
	}
	kr_findings_done(&verdict.findings);
	kr_trace_done(&t);
	return exit;
}

/* Nothing found is no proof. */
static int check_stream(struct profiling *p, const char *path)
{
	struct kr_stream_options options;

	if (!kr_stream_options(p->args, &p->asked, &p->told, &p->page, &options))
		return KR_EXIT_USAGE;
	options.names_trace = true;
	int exit = kr_stream_run(&options, path);
	return exit == KR_EXIT_SATISFIED ? KR_EXIT_UNDECIDED : exit;
}

/* What goes with --stream only, and what does not go with it. */
static int check_stream_options(const struct kr_args *args)
{
	static const char *const streams[] = {"lateness", "stale", "told", "trace-dispatch"},
				 *const wholes[] = {"witness", "lenient"};
	bool stream = kr_args_has(args, "stream");

	for (size_t i = 0; i < KR_COUNT(streams) && !stream; i++)
		if (kr_args_has(args, streams[i]))
			return kr_usage("option '--%s' goes with '--stream'", streams[i]);
	for (size_t i = 0; i < KR_COUNT(wholes) && stream; i++)
		if (kr_args_has(args, wholes[i]))
			return kr_usage("options '--stream' and '--%s' exclude each other", wholes[i]);
	return KR_EXIT_SATISFIED;
}

bool kr_check_profile_asked(const struct kr_args *args)
{
	static const char *const streaming[] = {"stream", "lateness", "stale", "told", "trace-dispatch"};
	const char *checker = kr_args_value(args, "checker");

	for (size_t i = 0; i < KR_COUNT(streaming); i++)
		if (kr_args_has(args, streaming[i]))
			return true;
	return kr_args_has(args, "profile") || kr_args_has(args, "no-session") ||
		(checker && strcmp(checker, "leopard") == 0);
}

int kr_check_profile(const struct kr_args *args)
{
	struct profiling p = {.args = args,
		.json = kr_args_has(args, "json"),
		.explain = kr_args_has(args, "explain")};
	bool stream = kr_args_has(args, "stream");
	int status = kr_profile_asked(args, &p.asked);

	if (status == KR_EXIT_SATISFIED)
		status = check_options(&p);
	if (status == KR_EXIT_SATISFIED)
		status = check_stream_options(args);
	if (status == KR_EXIT_SATISFIED && !kr_trace_options(args, &p.trace_options))
		status = KR_EXIT_USAGE;
	p.trace_options.held = true;
	p.trace_options.profile = p.asked.options.profile;
	if (status == KR_EXIT_SATISFIED) { /* closing them tells what failed */
		(void)kr_file_open(&p.witness, args, kr_args_value(args, "witness"));
		(void)kr_file_open(&p.told, args, kr_args_value(args, "told"));
		kr_findings_page_open(&p.page, args);
	}
	p.colour = status == KR_EXIT_SATISFIED && kr_terminal(stdout, p.trace_options.quiet);
	for (uint32_t i = 0;
		i < args->operands.n && (status == KR_EXIT_SATISFIED || i > 0) && !kr_print_failed(); i++)
		status = kr_exit_worst(status,
			stream ? check_stream(&p, args->operands.at[i])
			       : check_trace(&p, args->operands.at[i]));
	if (!kr_findings_page_close(&p.page))
		status = kr_exit_worst(status, KR_EXIT_FAILED);
	if (!kr_file_close(&p.told))
		status = kr_exit_worst(status, KR_EXIT_FAILED);
	if (!kr_file_close(&p.witness))
		status = kr_exit_worst(status, KR_EXIT_FAILED);
	kr_profile_option_done(&p.asked);
	return status;
}
