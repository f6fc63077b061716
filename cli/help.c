/* krait help: what the commands and their options do, as text, as manual page and as completions. */
#include "cli/command.h"
#include "cli/manual.h"
#include "cli/output.h"

static const struct kr_option options[] = {
	{"man", 0, NULL, KR_WORDS_ANY, "print the manual page (roff)"},
	{"completion", 0, "SHELL", KR_WORDS_SHELL, "print completions for bash, zsh or fish"},
	{0},
};

static int write_help(const struct kr_args *args, struct kr_str *out)
{
	const char *shell = kr_args_value(args, "completion");

	if (shell) {
		if (kr_completion_script(shell, out))
			return KR_EXIT_SATISFIED;
		return kr_usage("unknown shell '%s', expected bash, zsh or fish", shell);
	}
	if (kr_args_has(args, "man")) {
		kr_manual_of_krait(out);
		return KR_EXIT_SATISFIED;
	}
	if (args->operands.n == 0) {
		kr_help_overview(out);
		return KR_EXIT_SATISFIED;
	}

	const char *name = args->operands.at[0];
	const struct kr_command *command = kr_command_find(name);

	if (!command)
		return kr_unknown_word("command", KR_WORDS_COMMAND, name, "krait --help");
	kr_help_command(command, out);
	return KR_EXIT_SATISFIED;
}

static int run(const struct kr_args *args)
{
	struct kr_str out;

	kr_str_init(&out, args->mem);

	int status = write_help(args, &out);

	if (status == KR_EXIT_SATISFIED && !kr_print(&out))
		status = KR_EXIT_FAILED;
	kr_str_done(&out);
	return status;
}

const struct kr_command kr_command_help = {
	.name = "help",
	.synopsis = "[OPTION]... [COMMAND]",
	.title = "describe the commands",
	.purpose = KR_TO_KNOW,
	.options = options,
	.operands = KR_WORDS_COMMAND,
	.most = 1,
	.run = run,
};
