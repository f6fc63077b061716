/* krait-lab: puts a database under test. A program of its own, so that the checker stays a function of files
 * and needs no database's library. */
#include <stdio.h>
#include <string.h>

#include "cli/output.h"
#include "cli/program.h"
#include "lab/lab.h"

static int run(struct kr_mem *mem, int argc, char **argv)
{
	const char *word = argc < 2 ? NULL : argv[1];

	if (!word)
		return kr_usage("expected a command; see 'krait-lab --help'");
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
		return kr_lab_overview(mem);
	if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
		puts("krait-lab " KR_VERSION);
		return KR_EXIT_SATISFIED;
	}
	const struct kr_command *command = kr_lab_find(word);
	return command ? kr_command_run(mem, command, argc, argv) : kr_lab_unknown(word);
}

int main(int argc, char **argv) { return kr_program_run(run, argc, argv); }
