/* Levels that say of others what is not so: `too-weak` is read committed and says that it implies serializability; `too-strong` is repeatable read and says that snapshot isolation implies it. */
#include <krait/module.h>

#define D (KR_BIT(KR_WR) | KR_BIT(KR_WW))
#define ORDERS (KR_BIT(KR_SO) | KR_BIT(KR_RT))
#define SOURCE "made for tests"

static const char *const implies[] = {"ser", NULL};
static const char *const implied_by[] = {"si", NULL};

static const struct kr_level levels[] = {
	{.id = "too-weak", .title = "read committed", .definition = "no cycle of wr and ww", .source = SOURCE, .implies[KR_ORDER_REALTIME] = implies,
		.forbidden = {{.allowed = D | ORDERS}}, .anomalies = KR_ANOMALIES_ALL},
	{.id = "too-strong", .title = "repeatable read", .definition = "no cycle of wr, ww and item rw", .source = SOURCE, .implied_by = implied_by,
		.forbidden = {{.allowed = D | KR_BIT(KR_RW) | ORDERS, .item_only = true}}, .anomalies = KR_ANOMALIES_ALL},
	{.id = NULL},
};
static const struct kr_checker checker = {
	.name = "implications", .title = "for tests", .source = SOURCE, .levels = levels, .passes = "so,rt,presence,wr,ww,rw,clock,saturate", .backend = "z3"};
static const struct kr_checker *const checkers[] = {&checker, NULL};

KRAIT_EXPORT const struct kr_plugin krait_plugin = {.abi = KRAIT_PLUGIN_ABI, .name = "implications", .version = "1.0", .checkers = checkers};
