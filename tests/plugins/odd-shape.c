/* A level whose cycles krait cannot decide: with three edges at most. */
#include <krait/module.h>

#define ALL (KR_BIT(KR_WR) | KR_BIT(KR_WW) | KR_BIT(KR_RW) | KR_BIT(KR_SO) | KR_BIT(KR_RT))

static const struct kr_level levels[] = {
	{.id = "odd", .title = "no short cycle", .definition = "no cycle of three edges or fewer", .source = "made for tests", .forbidden = {{.allowed = ALL, .longest = 3}}},
	{.id = NULL},
};
static const struct kr_checker checker = {.name = "odd", .title = "for tests", .source = "made for tests", .levels = levels, .passes = "so,rt", .backend = "z3"};
static const struct kr_checker *const checkers[] = {&checker, NULL};

KRAIT_EXPORT const struct kr_plugin krait_plugin = {.abi = KRAIT_PLUGIN_ABI, .name = "odd-shape", .version = "1.0", .checkers = checkers};
