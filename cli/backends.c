/* krait backends: the solvers, and the writers for other solvers. */
#include "backend/backend.h"
#include "cli/list.h"

KR_LIST_FILL(kr_backend, kr_backend_at, name);

static void more(const struct kr_modules *modules, size_t i, bool json, struct kr_str *out)
{
	const struct kr_backend *backend = kr_backend_at(modules, i);

	kr_list_words(out, json, "does",
		backend->solve && backend->write ? "decides, writes"
			: backend->solve         ? "decides"
						 : "writes");
}

static int run(const struct kr_args *args) { return kr_list_print(args, &(struct kr_list){fill, more}); }

const struct kr_command kr_command_backends = {
	.name = "backends",
	.synopsis = "[OPTION]...",
	.title = "list the back ends, which decide what the passes leave open",
	.purpose = KR_TO_LOOK_INSIDE,
	.options = kr_list_options,
	.run = run,
};
