/* krait-lab help: a command's help, and the manual page. */
#include <string.h>

#include "cli/manual.h"
#include "cli/output.h"
#include "cli/program.h"
#include "lab/lab.h"

static const struct kr_option options[] = {
	{"man", 0, NULL, KR_WORDS_ANY, "print the manual page (roff)"},
	{0},
};

static const struct kr_command *command_at(size_t i)
{
	return i < kr_lab_registry_count ? kr_lab_registry[i]->command : NULL;
}

static int print_manual(struct kr_mem *mem)
{
	static const struct kr_manual manual = {
		.name = "KRAIT\\-LAB",
		.about = "krait\\-lab \\- put a database under test",
		.synopsis = "\\fBkrait\\-lab\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR]...\n.br\n\\fBkrait\\-lab "
			    "\\-\\-help\\fR\n.br\n"
			    "\\fBkrait\\-lab \\-\\-version\\fR",
		.description = "Lets clients run transactions on a database at the same time, records what "
			       "they see, and asks\n.BR krait (1)\nabout it.",
		.command = command_at,
		.exits = ".TP\n\\fB77\\fR\nthis machine lacks the database.",
	};
	struct kr_str out;

	kr_str_init(&out, mem);
	kr_manual_page(&manual, &out);

	int status = kr_print(&out) ? KR_EXIT_SATISFIED : KR_EXIT_FAILED;

	kr_str_done(&out);
	return status;
}

static int run(const struct kr_args *args)
{
	if (kr_args_has(args, "man"))
		return print_manual(args->mem);
	if (args->operands.n == 0)
		return kr_lab_overview(args->mem);
	const struct kr_command *asked = kr_lab_find(args->operands.at[0]);
	return asked ? kr_help_show(args->mem, asked) : kr_lab_unknown(args->operands.at[0]);
}

static const struct kr_command command = {
	.name = "help",
	.program = "krait-lab",
	.synopsis = "[OPTION]... [COMMAND]",
	.title = "describe the commands",
	.options = options,
	.most = 1,
	.run = run,
};

const struct kr_lab kr_lab_help = {
	.command = &command,
};
