/* krait-lab drivers: the databases that can be put under test. */
#include "cli/output.h"
#include "lab/lab.h"
#include "lab/open.h"

static const struct kr_option options[] = {{0}};

static void print(const struct kl_driver *driver, struct kr_str *out)
{
	struct kl_store probe = {.driver = driver};
	char program[512];
	bool there = !driver->program ||
		kl_program(&probe, driver->program, driver->package, driver->folders, program);

	kr_str_format(out, "%-16s %s%s%s\n", driver->name, driver->title,
		there ? "" : "; not available: ", there ? "" : probe.why);
	for (const struct kl_level *l = driver->levels; l->name; l++)
		kr_str_format(out, "    %-20s claims %-8s keeps %s%s%s\n", l->name, l->claims, l->keeps,
			l->profile ? "; profile " : "", l->profile ? l->profile : "");
}

static int run(const struct kr_args *args)
{
	char name[64], lacks[128];
	int status = KR_EXIT_SATISFIED;
	struct kr_str out;

	kr_str_init(&out, args->mem);
	for (size_t i = 0; kr_driver_name(i, name); i++) {
		bool lacking;
		const struct kl_driver *driver = kr_driver_open(args->mem, name, &lacking);

		if (!driver) {
			status = KR_EXIT_FAILED;
			continue;
		}
		print(driver, &out);
		for (const struct kl_driver *const *other = driver->others; other && *other; other++)
			print(*other, &out);
	}
	for (size_t i = 0; kr_driver_left_out(i, name, lacks); i++)
		kr_str_format(&out, "%-16s not built: %s was not found\n", name, lacks);
	if (!kr_print(&out))
		status = KR_EXIT_FAILED;
	kr_str_done(&out);
	return status;
}

static const struct kr_command command = {
	.name = "drivers",
	.program = "krait-lab",
	.synopsis = "[OPTION]...",
	.title = "list the databases that can be recorded, and their levels",
	.text = "For each level: which of krait's levels its documentation claims, and which one\nit was "
		"found to keep.",
	.options = options,
	.run = run,
};

const struct kr_lab kr_lab_drivers = {
	.command = &command,
};
