/* krait crosscheck: everybody who can decide a level, in turn; what somebody else said of the trace,
 * checked. */
#include "cli/crosscheck_profile.h"
#include "cli/crosscheck_run.h"

#include <string.h>
#include <unistd.h>

#include "cli/output.h"

static const struct kr_option options[] = {
	KR_OPTION_LEVEL,
	{"checker", 0, "CHECKER", KR_WORDS_CHECKER, "only this one, with every back end"},
	KR_OPTION_FORMAT,
	KR_OPTION_INITIAL,
	KR_OPTION_ORDER,
	{"claim", 0, "satisfied|violated|FILE", KR_WORDS_CLAIM,
		"the verdict of another checker, or what it printed, to be checked"},
	{"cycle", 0, "CYCLE", KR_WORDS_ANY,
		"a cycle that another checker found, such as 't1 wr t2, t2 rw(x) t1'"},
	KR_OPTION_PROFILE,
	{"output", 'o', "FILE", KR_WORDS_WRITTEN,
		"write the trace that shows a disagreement there, not on standard output"},
	{"witness", 'w', "FILE", KR_WORDS_WRITTEN, "write the proof of the verdict, for 'krait verify'"},
	{"json", 0, NULL, KR_WORDS_ANY,
		"one JSON object for each checker and back end, and one for the result"},
	{"verbose", 'v', NULL, KR_WORDS_ANY, "tell also what each checker and back end said"},
	{"timeout", 0, "SECONDS", KR_WORDS_ANY, "limit of time for reading, for each run, and for shrinking"},
	{"memory", 0, "MIB", KR_WORDS_ANY, "limit of memory for each of those"},
	KR_OPTION_JOBS,
	KR_OPTION_LENIENT,
	KR_OPTION_QUIET,
	{0},
};

static int take_claim(struct kr_crosscheck *c, struct kr_ctx *ctx)
{
	const char *claim = kr_args_value(c->args, "claim");
	struct kr_err err;

	c->claim = KR_UNDECIDED;
	if (!claim || kr_claim_word(claim, strlen(claim), &c->claim))
		return KR_EXIT_SATISFIED;
	if (access(claim, F_OK) != 0)
		return kr_usage("option '--claim': found '%s', expected satisfied, violated or a file with a "
				"verdict",
			claim);
	kr_err_init(&err);
	enum kr_status status = kr_claim_file_read(ctx, claim, &c->said, &err);
	if (status)
		return kr_fail_on(ctx, claim, status, &err);
	if (c->said.is_elle)
		c->elle_path = claim;
	return KR_EXIT_SATISFIED;
}

static bool is_of_ours(const struct kr_args *args, const struct kr_stated *said)
{
	for (uint32_t i = 0; i < args->operands.n; i++)
		if (kr_stated_of(said, args->operands.at[i]))
			return said->question.level != NULL;
	return false;
}

/* Without --level the levels are those that the claims are about. */
static int take_levels(struct kr_crosscheck *c)
{
	const struct kr_args *args = c->args;
	int exit = kr_levels_asked(args, &c->asked);
	bool first = true;

	if (exit != KR_EXIT_SATISFIED || kr_args_has(args, "level") || kr_args_has(args, "checker"))
		return exit;
	for (uint32_t i = 0; i < c->said.stated.n; i++) {
		struct kr_question q = c->said.stated.at[i].question;
		struct kr_asked asked = {.level = q.level,
			.order = kr_args_has(args, "order") ? c->asked.at[0].order : q.order};
		bool there = false;
		if (!is_of_ours(args, &c->said.stated.at[i]))
			continue;
		if (first)
			kr_vec_clear(&c->asked);
		first = false;
		for (uint32_t k = 0; k < c->asked.n; k++)
			there |= c->asked.at[k].level == asked.level && c->asked.at[k].order == asked.order;
		asked.checker = kr_checker_for(args->modules, q.level);
		if (!there && !kr_vec_push(args->mem, &c->asked, asked))
			return kr_fail("out of memory");
	}
	return KR_EXIT_SATISFIED;
}

static int crosscheck(struct kr_crosscheck *c, const char *path)
{
	struct kr_trace *t = &c->trace;
	struct kr_err err;
	int exit = KR_EXIT_SATISFIED;

	kr_err_init(&err);
	*t = (struct kr_trace){.path = path};
	c->elle = (struct kr_elle_result){0};

	enum kr_status status = kr_trace_read(t, t->path, &c->trace_options, &err);

	if (status == KR_OK)
		status = kr_crosscheck_read_cycles(c, &err);
	if (status == KR_OK)
		status = kr_trace_analyze(t, &err);
	if (status == KR_OK && c->elle_path)
		status = kr_elle_result_read(&t->ctx, c->elle_path, &t->history, &c->elle, &err);
	for (uint32_t i = 0; i < c->asked.n && status == KR_OK && !kr_print_failed(); i++)
		exit = kr_exit_worst(exit, kr_crosscheck_level(c, &c->asked.at[i]));
	if (status != KR_OK)
		exit = kr_trace_fail(t, status, &err);
	kr_crosscheck_drop_cycles(c);
	kr_elle_result_done(&t->ctx.mem, &c->elle);
	kr_trace_done(t);
	return exit;
}

static int run(const struct kr_args *args)
{
	struct kr_crosscheck c = {.args = args,
		.json = kr_args_has(args, "json"),
		.verbose = kr_args_has(args, "verbose")};
	struct kr_ctx ctx; /* for what is read before any trace */
	int exit = KR_EXIT_USAGE;

	if (kr_args_has(args, "profile"))
		return kr_crosscheck_profile(args);
	kr_ctx_init(&ctx, 0, 0);
	ctx.modules = args->modules;
	if (kr_trace_options(args, &c.trace_options) && kr_crosscheck_take_cycles(args) &&
		(exit = take_claim(&c, &ctx)) == KR_EXIT_SATISFIED &&
		(exit = take_levels(&c)) == KR_EXIT_SATISFIED) {
		c.limits = (struct kr_limits){c.trace_options.seconds, c.trace_options.mebibytes};
		(void)kr_file_open(&c.witness, args, kr_args_value(args, "witness")); /* closing it tells */
		for (uint32_t i = 0; i < args->operands.n && !kr_print_failed(); i++)
			exit = kr_exit_worst(exit, crosscheck(&c, args->operands.at[i]));
		if (!kr_file_close(&c.witness))
			exit = KR_EXIT_FAILED;
	}
	kr_claim_file_done(&ctx.mem, &c.said);
	kr_vec_done(args->mem, &c.asked);
	return exit;
}

const struct kr_command kr_command_crosscheck = {
	.name = "crosscheck",
	.synopsis = "[OPTION]... TRACE...",
	.title = "decide by every checker and back end in turn; check another checker's verdict",
	.purpose = KR_TO_DOUBT,
	.text = "Prints whether they agree, and on what. If not, a minimal trace on which they do\n"
		"not follows, and the exit status is 255. With a claim the status is 0 when it\n"
		"is confirmed, 1 when it is refuted, 2 when it cannot be decided. A FILE is what\n"
		"a checker printed, a JSON object with verdict, level and cycle, or the result\n"
		"of Elle; cycles in it are checked, too. With --verbose a line for each checker\n"
		"and back end follows: its verdict, time and memory. With --profile it is what\n"
		"findings about the database's mechanisms imply that is claimed.",
	.options = options,
	.operands = KR_WORDS_FILE,
	.least = 1,
	.most = UINT32_MAX,
	.decides = true,
	.run = run,
};
