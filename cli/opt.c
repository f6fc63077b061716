/* krait opt: passes on a graph in text form. */
#include "cli/stage.h"

static const struct kr_option options[] = {
	KR_OPTIONS_STAGE,
	KR_OPTION_LEVEL,
	KR_OPTION_ORDER,
	{"passes", 0, "PASS[,PASS]...", KR_WORDS_PASS, "passes to run; default: none"},
	KR_OPTION_TIMEOUT,
	KR_OPTION_MEMORY,
	{0},
};

static int run(const struct kr_args *args)
{
	struct kr_staging s;
	int status = kr_staging_init(&s, args, KR_STAGE_IR, true);

	if (status == KR_EXIT_SATISFIED)
		status = kr_staging_text(&s, s.passes ? s.passes : "");
	kr_staging_done(&s);
	return status;
}

const struct kr_command kr_command_opt = {
	.name = "opt",
	.synopsis = "[OPTION]... FILE",
	.title = "run passes on a graph in text form",
	.purpose = KR_TO_LOOK_INSIDE,
	.text = "FILE, or - for standard input, is what 'krait dump --asg' or 'krait dump --ir'\n"
		"printed, or a text in that form: docs/asg.md and docs/ir.md have the grammar.\n"
		"What is read, and what each pass leaves, is checked. The dependency graph after\n"
		"the passes is printed, unless another option says what. Exit status 1: a pass\n"
		"found a cycle that the level forbids; a comment behind the graph shows it.",
	.options = options,
	.operands = KR_WORDS_FILE,
	.least = 1,
	.most = 1,
	.run = run,
};
