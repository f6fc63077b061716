/* A program of commands: what surrounds each of them. */
#include "cli/program.h"

#include <signal.h>
#include <stdio.h>

#include "cli/file.h"
#include "cli/heap.h"
#include "cli/manual.h"
#include "cli/output.h"
#include "cli/plugins.h"

int kr_help_show(struct kr_mem *mem, const struct kr_command *command)
{
	struct kr_str out;

	kr_str_init(&out, mem);
	if (command)
		kr_help_command(command, &out);
	else
		kr_help_overview(&out);
	return kr_print_done(&out) ? KR_EXIT_SATISFIED : KR_EXIT_FAILED;
}

int kr_command_run(struct kr_mem *mem, const struct kr_command *command, int argc, char **argv)
{
	struct kr_args args;
	struct kr_plugins plugins;
	struct kr_files files;
	int status = kr_args_parse(&args, mem, command, argc, argv);

	kr_plugins_init(&plugins);
	if (status == KR_EXIT_SATISFIED && args.help) {
		status = kr_help_show(mem, command);
	} else if (status == KR_EXIT_SATISFIED) {
		args.files = command->own_files ? NULL : &files;
		status = args.files ? kr_files_init(&files, &args) : status;
		if (status == KR_EXIT_SATISFIED)
			status = kr_plugins_asked(&args, &plugins);
		args.modules = &plugins.modules;
		if (status == KR_EXIT_SATISFIED)
			status = command->run(&args);
		if (args.files)
			kr_files_done(&files);
	}
	kr_plugins_done(&plugins);
	kr_args_done(&args);
	return status;
}

int kr_program_run(int (*run)(struct kr_mem *mem, int argc, char **argv), int argc, char **argv)
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
