/* krait crosscheck: everybody who can decide a level, in turn; what somebody else said of the trace,
 * checked. */
#include "cli/crosscheck_profile.h"
#include "cli/crosscheck_run.h"

#include <strings.h>
#include <unistd.h>

#include "cli/output.h"

static const struct kr_option options[] = {
	KR_OPTION_LEVEL,
	{"checker", 0, "CHECKER", KR_WORDS_CHECKER, "only this one, with every back end"},
	KR_OPTION_FORMAT,
	KR_OPTION_INITIAL,
	KR_OPTION_ORDER,
	{"claim", 0, "satisfied|violated|FILE", KR_WORDS_CLAIM,
		"the verdict of another checker, or Elle's result, to be checked"},
	{"cycle", 0, "CYCLE", KR_WORDS_ANY,
		"a cycle that another checker found, such as 't1 wr t2, t2 rw(x) t1'"},
	KR_OPTION_PROFILE,
	{"output", 'o', "FILE", KR_WORDS_WRITTEN,
		"write the trace that shows a disagreement there, not on standard output"},
	{"witness", 'w', "FILE", KR_WORDS_WRITTEN, "write the proof of the verdict, for 'krait verify'"},
	{"json", 0, NULL, KR_WORDS_ANY,
		"one JSON object for each checker and back end, and one for the result"},
	{"timeout", 0, "SECONDS", KR_WORDS_ANY, "limit of time for reading, for each run, and for shrinking"},
	{"memory", 0, "MIB", KR_WORDS_ANY, "limit of memory for each of those"},
	KR_OPTION_JOBS,
	KR_OPTION_LENIENT,
	KR_OPTION_QUIET,
	{0},
};

static bool take_claim(struct kr_crosscheck *c)
{
	/* also as other checkers have them */
	static const struct {
		const char *word;
		enum kr_outcome verdict;
	} words[] = {{"satisfied", KR_SATISFIED}, {"violated", KR_VIOLATED}, {"accept", KR_SATISFIED},
		{"reject", KR_VIOLATED}, {"accepted", KR_SATISFIED}, {"rejected", KR_VIOLATED},
		{"valid", KR_SATISFIED}, {"invalid", KR_VIOLATED}};
	const char *claim = kr_args_value(c->args, "claim");

	c->claim = KR_UNDECIDED;
	for (size_t i = 0; claim && i < KR_COUNT(words); i++)
		if (strcasecmp(claim, words[i].word) == 0)
			c->claim = words[i].verdict;
	if (c->claim == KR_UNDECIDED)
		c->elle_path = claim;
	if (!c->elle_path || access(claim, F_OK) == 0)
		return true;
	kr_usage("option '--claim': found '%s', expected satisfied, violated or a file with Elle's result",
		claim);
	return false;
}

static int crosscheck(struct kr_crosscheck *c)
{
	struct kr_trace *t = &c->trace;
	struct kr_err err;
	int exit = KR_EXIT_SATISFIED;

	kr_err_init(&err);

	enum kr_status status = kr_trace_read(t, t->path, &c->trace_options, &err);

	if (status == KR_OK)
		status = kr_crosscheck_read_cycles(c, &err);
	if (status == KR_OK)
		status = kr_trace_analyze(t, &err);
	if (status == KR_OK && c->elle_path)
		status = kr_elle_result_read(&t->ctx, c->elle_path, &t->history, &c->elle, &err);
	for (uint32_t i = 0; i < c->asked.n && status == KR_OK && !kr_print_failed(); i++)
		exit = kr_exit_worst(exit, kr_crosscheck_level(c, &c->asked.at[i]));
	if (status != KR_OK) {
		exit = kr_trace_fail(t, status, &err);
	}
	kr_crosscheck_drop_cycles(c);
	kr_elle_result_done(&t->ctx.mem, &c->elle);
	kr_trace_done(t);
	return exit;
}

static int run(const struct kr_args *args)
{
	struct kr_crosscheck c = {.args = args,
		.trace = {.path = args->operands.at[0]},
		.json = kr_args_has(args, "json")};
	int exit = KR_EXIT_USAGE;

	if (kr_args_has(args, "profile"))
		return kr_crosscheck_profile(args);
	if (kr_trace_options(args, &c.trace_options) && take_claim(&c) && kr_crosscheck_take_cycles(args) &&
		(exit = kr_levels_asked(args, &c.asked)) == KR_EXIT_SATISFIED) {
		c.limits = (struct kr_limits){c.trace_options.seconds, c.trace_options.mebibytes};
		(void)kr_file_open(&c.witness, args, kr_args_value(args, "witness")); /* closing it tells */
		exit = crosscheck(&c);
		if (!kr_file_close(&c.witness))
			exit = KR_EXIT_FAILED;
	}
	kr_vec_done(args->mem, &c.asked);
	return exit;
}

const struct kr_command kr_command_crosscheck = {
	.name = "crosscheck",
	.synopsis = "[OPTION]... TRACE",
	.title = "decide by every checker and back end in turn; check another checker's verdict",
	.text = "Prints a line for each: the trace, the level's id, who, its verdict, time and\n"
		"memory; then whether they agree. If not, a minimal trace on which they do not\n"
		"follows, and the exit status is 255. With a claim the status is 0 when it is\n"
		"confirmed, 1 when it is refuted, 2 when it cannot be decided. A FILE is the\n"
		"result of Elle, EDN or JSON; its cycles are checked, too. With --profile it is\n"
		"what findings about the database's mechanisms imply that is claimed.",
	.options = options,
	.operands = KR_WORDS_FILE,
	.least = 1,
	.most = 1,
	.decides = true,
	.run = run,
};
