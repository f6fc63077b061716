/* krait-lab workloads: what transactions can do. */
#include <inttypes.h>

#include "cli/output.h"
#include "lab/lab.h"
#include "lab/workloads/workload.h"

static const struct kr_option options[] = {{0}};

static int run(const struct kr_args *args)
{
	struct kr_str out;

	kr_str_init(&out, args->mem);
	for (size_t i = 0; i < kr_workload_registry_count; i++) {
		const struct kr_workload *w = kr_workload_registry[i];

		kr_str_format(&out, "%-12s %s\n", w->name, w->title);
		for (const struct kr_parameter *p = w->parameters; p->name; p++)
			kr_str_format(&out, "    %-10s %s; %" PRId64 ", from %" PRId64 " to %" PRId64 "\n",
				p->name, p->help, p->usual, p->least, p->most);
	}

	bool printed = kr_print(&out);

	kr_str_done(&out);
	return printed ? KR_EXIT_SATISFIED : KR_EXIT_FAILED;
}

static const struct kr_command command = {
	.name = "workloads",
	.program = "krait-lab",
	.synopsis = "[OPTION]...",
	.title = "list what transactions can do, with parameters and their defaults",
	.options = options,
	.run = run,
};

const struct kr_lab kr_lab_workloads = {
	.command = &command,
};
