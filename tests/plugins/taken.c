/* A level by the name of one that there is, as people write it. */
#include <krait/module.h>

static const struct kr_level levels[] = {
	{.id = "strict-serializable", .title = "the name is another level's", .definition = "nothing", .source = "made for tests", .forbidden = {{.allowed = KR_BIT(KR_WW)}}},
	{.id = NULL},
};
static const struct kr_checker checker = {.name = "taken", .title = "for tests", .source = "made for tests", .levels = levels, .passes = "so,rt", .backend = "z3"};
static const struct kr_checker *const checkers[] = {&checker, NULL};

KRAIT_EXPORT const struct kr_plugin krait_plugin = {.abi = KRAIT_PLUGIN_ABI, .name = "taken", .version = "1.0", .checkers = checkers};
