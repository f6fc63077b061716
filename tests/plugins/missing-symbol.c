/* Calls what krait does not export. */
#include <krait/module.h>

extern enum kr_status krait_no_such_function(struct kr_ctx *ctx);

static enum kr_status run(struct kr_ir *ir, enum kr_change *change, struct kr_err *err)
{
	(void)ir, (void)change, (void)err;
	return krait_no_such_function(NULL);
}

static const struct kr_pass pass = {.name = "missing", .title = "calls what there is not", .source = "made for tests", .run = run};
static const struct kr_pass *const passes[] = {&pass, NULL};

KRAIT_EXPORT const struct kr_plugin krait_plugin = {.abi = KRAIT_PLUGIN_ABI, .name = "missing-symbol", .version = "1.0", .passes = passes};
