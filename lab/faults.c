/* krait-lab faults: what can be done to a store while it is recorded. */
#include "cli/output.h"
#include "lab/faults/fault.h"
#include "lab/lab.h"

static const struct kr_option options[] = {{0}};

static int run(const struct kr_args *args)
{
	struct kr_str out;

	kr_str_init(&out, args->mem);
	for (size_t i = 0; i < kr_fault_registry_count; i++)
		kr_str_format(&out, "%-14s %s\n", kr_fault_registry[i]->name, kr_fault_registry[i]->title);

	bool printed = kr_print(&out);

	kr_str_done(&out);
	return printed ? KR_EXIT_SATISFIED : KR_EXIT_FAILED;
}

static const struct kr_command command = {
	.name = "faults",
	.program = "krait-lab",
	.synopsis = "[OPTION]...",
	.title = "list what can be done to a database while it is recorded",
	.text = "'--faults KIND@WHEN[,every=TIME][,for=TIME],...' of 'krait-lab record' asks for\nthem; "
		"times are 500ms "
		"or 3s. Lost answers to commits are '--lost'.",
	.options = options,
	.run = run,
};

const struct kr_lab kr_lab_faults = {
	.command = &command,
};
