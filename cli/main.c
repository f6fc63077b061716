/* krait: one process, one command. The only memory that lives through the run is the command line's. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/file.h"
#include "cli/heap.h"
#include "cli/manual.h"
#include "cli/output.h"
#include "cli/plugins.h"

static int show(struct kr_mem *mem, const struct kr_command *command)
{
	struct kr_str out;

	kr_str_init(&out, mem);
	if (command)
		kr_help_command(command, &out);
	else
		kr_help_overview(&out);

	int status = kr_print(&out) ? KR_EXIT_SATISFIED : KR_EXIT_FAILED;

	kr_str_done(&out);
	return status;
}

static int unknown(const char *word)
{
	struct kr_guess guess = {.typed = word};
	char near[128];

	if (word[0] == '-')
		return kr_usage("expected a command, found '%s'; see 'krait --help'", word);
	for (size_t i = 0; i < kr_command_registry_count; i++)
		kr_guess_try(&guess, kr_command_registry[i]->name);
	return kr_usage("unknown command '%s'%s", word, kr_guess_text(&guess, "krait --help", near));
}

static int run(struct kr_mem *mem, int argc, char **argv)
{
	if (argc < 2)
		return kr_usage("expected a command; see 'krait --help'");

	const char *word = argv[1];

	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
		return show(mem, NULL);
	if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
		puts("krait " KR_VERSION);
		return KR_EXIT_SATISFIED;
	}

	const struct kr_command *command = kr_command_find(word);

	if (!command)
		return unknown(word);

	struct kr_args args;
	struct kr_plugins plugins;
	struct kr_files files;
	int status = kr_args_parse(&args, mem, command, argc, argv);

	kr_plugins_init(&plugins);
	if (status == KR_EXIT_SATISFIED && args.help) {
		status = show(mem, command);
	} else if (status == KR_EXIT_SATISFIED) {
		args.files = &files;
		status = kr_files_init(&files, &args);
		if (status == KR_EXIT_SATISFIED)
			status = kr_plugins_asked(&args, &plugins);
		args.modules = &plugins.modules;
		if (status == KR_EXIT_SATISFIED)
			status = command->run(&args);
		kr_files_done(&files);
	}
	kr_plugins_done(&plugins);
	kr_args_done(&args);
	return status;
}

int main(int argc, char **argv)
{
	struct kr_mem mem;

	kr_heap_prepare();
	signal(SIGPIPE, SIG_IGN); /* a closed pipe is told as any failed write, */
	signal(SIGXFSZ, SIG_IGN); /* and so is a file that may not grow */
	kr_mem_init(&mem, SIZE_MAX);

	int status = run(&mem, argc, argv);
	bool failed = kr_print_failed();

	if (fflush(stdout) != 0 && !failed) {
		kr_fail("cannot write to standard output");
		failed = true;
	}
	return failed ? kr_exit_worst(status, KR_EXIT_FAILED) : status;
}
