/* What krait looks for in the shared object: the list of its modules. */
#include "plugin.h"

static const struct kr_checker *const checkers[] = {&update_atomic, NULL};
static const struct kr_format *const formats[] = {&pairs, NULL};

KRAIT_EXPORT const struct kr_plugin krait_plugin = {
	.abi = KRAIT_PLUGIN_ABI,
	.name = "example",
	.version = "1.0",
	.formats = formats,
	.checkers = checkers,
};
