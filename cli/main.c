/* krait: one process, one command. The only memory that lives through the run is the command line's. */
#include <stdio.h>
#include <string.h>

#include "cli/manual.h"
#include "cli/output.h"
#include "cli/program.h"

static int unknown(const char *word)
{
	static const char *const of_the_lab[] = {"record", "recover", "provoke"};

	if (word[0] == '-')
		return kr_usage("expected a command, found '%s'; see 'krait --help'", word);
	for (size_t i = 0; i < KR_COUNT(of_the_lab); i++)
		if (strcmp(word, of_the_lab[i]) == 0)
			return kr_usage("databases are put under test by a program of its own: see "
					"'krait-lab %s "
					"--help'",
				word);
	return kr_unknown_word("command", KR_WORDS_COMMAND, word, "krait --help");
}

static int run(struct kr_mem *mem, int argc, char **argv)
{
	if (argc < 2)
		return kr_usage("expected a command; see 'krait --help'");

	const char *word = argv[1];

	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
		return kr_help_show(mem, NULL);
	if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
		puts("krait " KR_VERSION);
		return KR_EXIT_SATISFIED;
	}

	const struct kr_command *command = kr_command_find(word);

	if (!command)
		return unknown(word);

	return kr_command_run(mem, command, argc, argv);
}

int main(int argc, char **argv) { return kr_program_run(run, argc, argv); }
