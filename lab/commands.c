/* The commands of krait-lab, as a whole. */
#include <string.h>

#include "cli/manual.h"
#include "cli/output.h"
#include "lab/lab.h"

const struct kr_command *kr_lab_find(const char *name)
{
	for (size_t i = 0; i < kr_lab_registry_count; i++)
		if (strcmp(kr_lab_registry[i]->command->name, name) == 0)
			return kr_lab_registry[i]->command;
	return NULL;
}

int kr_lab_overview(struct kr_mem *mem)
{
	struct kr_str out;

	kr_str_init(&out, mem);
	kr_str_add(&out,
		"krait-lab: lets clients run transactions on a database at the same time, records\nwhat they "
		"see, and asks krait about it.\n\n"
		"Usage: krait-lab COMMAND [OPTION]...\n       krait-lab --help | --version\n\nCommands:\n");
	for (size_t i = 0; i < kr_lab_registry_count; i++)
		kr_str_format(&out, "  %-10s%s\n", kr_lab_registry[i]->command->name,
			kr_lab_registry[i]->command->title);
	kr_str_add(&out,
		"\n'krait-lab COMMAND --help' describes a command and its options.\n\nExit status:\n");
	kr_str_format(&out, "  %3d  this machine lacks the database\n", KR_EXIT_LACKING);
	for (const struct kr_exit_line *e = kr_exit_lines; e->meaning; e++)
		kr_str_format(&out, "  %3d  %s\n", e->status, e->meaning);

	int status = kr_print(&out) ? KR_EXIT_SATISFIED : KR_EXIT_FAILED;

	kr_str_done(&out);
	return status;
}

int kr_lab_unknown(const char *word)
{
	struct kr_guess guess = {.typed = word};
	char near[128];

	for (size_t i = 0; i < kr_lab_registry_count; i++)
		kr_guess_try(&guess, kr_lab_registry[i]->command->name);
	return kr_usage("unknown command '%s'%s", word, kr_guess_text(&guess, "krait-lab --help", near));
}
