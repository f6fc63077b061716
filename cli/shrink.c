/* krait shrink: a small part of a violated trace that is violated for the same reason. */
#include "shrink/shrink.h"

#include <string.h>

#include "cli/file.h"
#include "cli/levels_option.h"
#include "cli/output.h"
#include "cli/trace.h"
#include "frontend/native_write.h"
#include "report/report.h"

static const struct kr_option options[] = {
	{"level", 'l', "LEVEL", KR_WORDS_LEVEL, "the violated level, by id or alias; default: ser"},
	KR_OPTION_CHECKER,
	KR_OPTION_FORMAT,
	KR_OPTION_INITIAL,
	KR_OPTION_ORDER,
	{"output", 'o', "FILE", KR_WORDS_WRITTEN, "write the trace there instead of on standard output"},
	{"json", 0, NULL, KR_WORDS_ANY, "what became of it as a JSON object on standard output; needs -o"},
	KR_OPTION_TIMEOUT,
	KR_OPTION_MEMORY,
	KR_OPTION_JOBS,
	KR_OPTION_LENIENT,
	KR_OPTION_QUIET,
	{0},
};

struct shrinking {
	const struct kr_args *args;
	struct kr_trace_options trace_options;
	struct kr_check_options question;
	struct kr_trace trace;
	struct kr_verdict verdict; /* of the whole */
	struct kr_shrunk shrunk;
	int64_t start;
};

/* ---- what is written ---- */

static void add_question(const struct shrinking *s, struct kr_str *out)
{
	kr_str_member(out, "trace", s->trace.path);
	kr_str_member(out, "level", s->question.level->id);
	kr_str_member(out, "order", kr_order_name(s->question.order));
	kr_str_member(out, "checker", s->verdict.checker->name);
}

/* What is left, and of how much. */
static void add_sizes(const struct shrinking *s, struct kr_str *out)
{
	const struct kr_history *from = &s->trace.history, *to = &s->shrunk.best->cut.history;
	char name[KR_ANOMALY_NAME_SIZE];

	kr_report_anomaly(to, &s->shrunk.best->verdict.certificate, name);
	kr_str_member(out, "anomaly", name);
	kr_str_format(out,
		", \"txns\": %u, \"ops\": %u, \"of\": {\"txns\": %u, \"ops\": %u}, \"minimal\": %s",
		to->txns.n, to->ops.n, from->txns.n, from->ops.n, s->shrunk.minimal ? "true" : "false");
}

/* The part as a native trace whose header tells where it is from. */
static bool write_trace(const struct shrinking *s, struct kr_ctx *ctx, struct kr_err *err)
{
	struct kr_str note, out;
	bool written = false;

	kr_str_init(&note, s->args->mem);
	kr_str_init(&out, s->args->mem);
	kr_str_add(&note, "\"shrunk\": {");
	add_question(s, &note);
	add_sizes(s, &note);
	kr_str_add(&note, "}");
	out.failed |= note.failed;
	if (kr_native_write_noted(ctx, &s->shrunk.best->cut.history, kr_str_text(&note), &out, err) ==
		KR_OK) {
		written = kr_file_save(s->args, kr_args_value(s->args, "output"), &out);
	} else {
		(void)kr_fail_on(ctx, s->trace.path, KR_NOMEM, err);
	}
	kr_str_done(&note);
	kr_str_done(&out);
	return written;
}

static bool write_json(const struct shrinking *s, const char *verdict, const char *reason)
{
	struct kr_str out;

	kr_str_init(&out, s->args->mem);
	kr_str_add(&out, "{");
	add_question(s, &out);
	kr_str_member(&out, "verdict", verdict);
	if (reason)
		kr_str_member(&out, "reason", reason);
	if (s->shrunk.best)
		add_sizes(s, &out);
	kr_notes_json(&s->trace.notes, ", ", &out);
	kr_str_format(&out, ", \"tests\": %u, \"seconds\": %.6f, \"peak_mib\": %llu}\n", s->shrunk.tests,
		(double)(kr_now_ns() - s->start) * 1e-9, (unsigned long long)kr_peak_mib());
	return kr_print_done(&out);
}

/* ---- the outcomes ---- */

static void note(const struct shrinking *s, const char *text)
{
	if (!s->trace_options.quiet)
		kr_note("%s: %s: %s", s->trace.path, s->question.level->id, text);
}

static int nothing(const struct shrinking *s, const char *verdict, const char *reason, int exit)
{
	bool json = kr_args_has(s->args, "json");

	if (!json && !s->trace_options.quiet)
		kr_note("%s: %s: %s%s%s, nothing was written", s->trace.path, s->question.level->id, verdict,
			reason ? ": " : "", reason ? reason : "");
	return !json || write_json(s, verdict, reason) ? exit : KR_EXIT_FAILED;
}

static int conclude(struct shrinking *s)
{
	const struct kr_shrunk *shrunk = &s->shrunk;
	const char *reason = shrunk->limit ? kr_ctx_reason(&s->trace.ctx, shrunk->limit)
		: shrunk->minimal          ? NULL
					   : "some parts could not be decided";
	struct kr_ctx ctx;
	struct kr_err err;
	char text[200];

	kr_trace_clear(&s->trace);
	if (!shrunk->best)
		return nothing(s, "violated", shrunk->limit ? reason : "no part of it could be shown to be",
			KR_EXIT_UNDECIDED);
	kr_ctx_init(&ctx, 0, 0); /* what was found is written even though the time is over */
	kr_err_init(&err);

	bool told = !kr_args_has(s->args, "json") || write_json(s, "violated", reason);

	if (!write_trace(s, &ctx, &err) || !told)
		return KR_EXIT_FAILED;
	(void)snprintf(text, sizeof text, "%u of %u transactions, %u of %u operations left%s%s",
		shrunk->best->cut.history.txns.n, s->trace.history.txns.n, shrunk->best->cut.history.ops.n,
		s->trace.history.ops.n, reason ? "; perhaps not the fewest: " : "", reason ? reason : "");
	note(s, text);
	return shrunk->minimal ? KR_EXIT_VIOLATED : KR_EXIT_UNDECIDED;
}

static enum kr_status shrink(struct shrinking *s, struct kr_err *err)
{
	struct kr_trace *t = &s->trace;

	KR_TRY(kr_trace_read(t, t->path, &s->trace_options, err));
	KR_TRY(kr_trace_analyze(t, err));
	enum kr_status status = kr_check(&t->ctx, &t->history, &t->analysis, &s->question, &s->verdict, err);
	if (status || s->verdict.outcome != KR_VIOLATED)
		return status;
	return kr_shrink(&t->ctx, &t->history, &t->analysis, &s->question, &s->verdict, &s->shrunk, err);
}

static int shrink_trace(struct shrinking *s)
{
	struct kr_err err;
	int exit;

	kr_err_init(&err);

	enum kr_status status = shrink(s, &err);

	kr_trace_clear(&s->trace);
	if (kr_is_limit(status)) {
		exit = nothing(s, "unknown", kr_ctx_reason(&s->trace.ctx, status), KR_EXIT_UNDECIDED);
	} else if (status) {
		exit = kr_trace_fail(&s->trace, status, &err);
	} else if (s->verdict.outcome == KR_SATISFIED) {
		exit = nothing(s, "satisfied", NULL, KR_EXIT_SATISFIED);
	} else if (s->verdict.outcome == KR_UNDECIDED) {
		exit = nothing(s, "unknown", s->verdict.reason, KR_EXIT_UNDECIDED);
	} else {
		exit = conclude(s);
	}
	kr_shrunk_done(&s->trace.ctx, &s->shrunk);
	kr_verdict_done(&s->verdict, &s->trace.ctx.mem);
	kr_trace_done(&s->trace);
	return exit;
}

static int run(const struct kr_args *args)
{
	struct shrinking s = {.args = args, .trace = {.path = args->operands.at[0]}, .start = kr_now_ns()};
	struct kr_asked_list asked = {0};
	int exit = KR_EXIT_USAGE;

	if (kr_trace_options(args, &s.trace_options) &&
		(exit = kr_levels_asked(args, &asked)) == KR_EXIT_SATISFIED) {
		s.question = (struct kr_check_options){.level = asked.at[0].level,
			.order = asked.at[0].order,
			.checker = asked.at[0].checker};
		s.verdict.checker = s.question.checker;
		kr_certificate_init(&s.verdict.certificate, args->mem);
		if (asked.n > 1)
			exit = kr_usage("several levels, expected one to shrink for");
		else if (kr_args_has(args, "json") && !kr_args_value(args, "output"))
			exit = kr_usage("--json needs -o, since the trace would go to standard output, too");
		else
			exit = shrink_trace(&s);
	}
	kr_vec_done(args->mem, &asked);
	return exit;
}

const struct kr_command kr_command_shrink = {
	.name = "shrink",
	.synopsis = "[OPTION]... TRACE",
	.title = "reduce a violated trace to a small one with the same violation",
	.purpose = KR_TO_DOUBT,
	.text = "Writes, as a native trace, transactions, operations and keys of the trace that\n"
		"violate the level by themselves, and of which none can be left out. Ids are\n"
		"kept. Exits with 1 when it is written, 0 when the trace satisfies the level, 2\n"
		"when limits were hit; then what is written may be larger than need be.",
	.options = options,
	.operands = KR_WORDS_FILE,
	.least = 1,
	.most = 1,
	.decides = true,
	.run = run,
};
