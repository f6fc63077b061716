/* A plug-in with one thing wrong in its descriptors: the one that the environment variable REFUSED names. Filled in when it is loaded, which a real plug-in need not do. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <krait/graph.h>
#include <krait/reader.h>

#define D (KR_BIT(KR_WR) | KR_BIT(KR_WW))
#define RW KR_BIT(KR_RW)
#define ORDERS (KR_BIT(KR_SO) | KR_BIT(KR_RT))

static enum kr_status run(struct kr_ir *ir, enum kr_change *change, struct kr_err *err)
{
	(void)ir, (void)change, (void)err;
	return KR_OK;
}

static enum kr_status solve(struct kr_ir *ir, struct kr_answer *out, struct kr_err *err)
{
	(void)ir, (void)out, (void)err;
	return KR_OK;
}

static enum kr_status decide(struct kr_ctx *ctx, const struct kr_history *h, const struct kr_check_options *options, struct kr_verdict *out, struct kr_err *err)
{
	(void)ctx, (void)h, (void)options, (void)out, (void)err;
	return KR_OK;
}

static int sniff(const char *path, const char *head, size_t length)
{
	(void)path, (void)head, (void)length;
	return 0;
}

static enum kr_status read(struct kr_ctx *ctx, const char *path, struct kr_source *source, struct kr_history *h, struct kr_err *err)
{
	(void)ctx, (void)path, (void)source, (void)h, (void)err;
	return KR_OK;
}

#define TEXTS .title = "for tests", .source = "made for tests"

static struct kr_format format = {.name = "odd", TEXTS, .sniff = sniff, .read = read};
static struct kr_pass pass = {.name = "odd", TEXTS, .run = run};
static struct kr_backend backend = {.name = "odd", TEXTS, .solve = solve};
static struct kr_level_name names[] = {{"odd-name", false, KR_ORDER_NONE}, {NULL, false, KR_ORDER_NONE}};
static const char *implies[] = {"pl-2", NULL}, *implied_by[] = {"ser", NULL}, *decides[] = {"ser", NULL};
static struct kr_level levels[] = {
	{.id = "odd", .names = names, TEXTS, .definition = "nothing", .implies[KR_ORDER_REALTIME] = implies, .implied_by = implied_by, .forbidden = {{.allowed = D | ORDERS}},
		.anomalies = KR_ANOMALIES_ALL},
	{.id = NULL},
	{.id = NULL},
};
static struct kr_checker checker = {.name = "odd", TEXTS, .levels = levels, .decides = decides, .passes = "so,rt", .backend = "z3"};

static const struct kr_format *formats[] = {&format, NULL};
static const struct kr_pass *passes[] = {&pass, NULL};
static const struct kr_backend *backends[] = {&backend, NULL};
static const struct kr_checker *checkers[] = {&checker, NULL};

KRAIT_EXPORT struct kr_plugin krait_plugin = {
	.abi = KRAIT_PLUGIN_ABI, .name = "refused", .version = "1.0", .formats = formats, .passes = passes, .backends = backends, .checkers = checkers};

#define LONG "a-name-that-is-longer-than-any-name-of-a-module-or-a-level-may-be"

__attribute__((constructor)) static void spoil(void)
{
	const char *what = getenv("REFUSED");
	struct kr_pattern *first = &levels[0].forbidden[0], *second = &levels[0].forbidden[1];

#define SPOIL(NAME, ...) \
	if (what && strcmp(what, NAME) == 0) { \
		__VA_ARGS__; \
	}
	SPOIL("crash", raise(SIGSEGV))
	SPOIL("name", krait_plugin.name = NULL)
	SPOIL("version", krait_plugin.version = "1\n2")
	SPOIL("empty", krait_plugin.formats = NULL, krait_plugin.passes = NULL, krait_plugin.backends = NULL, krait_plugin.checkers = NULL)
	SPOIL("format-name", format.name = NULL)
	SPOIL("format-taken", format.name = "native")
	SPOIL("format-alias", format.aliases = "other native")
	SPOIL("format-title", format.title = "two\nlines")
	SPOIL("format-sniff", format.sniff = NULL)
	SPOIL("format-read", format.read = NULL)
	SPOIL("pass-name", pass.name = "")
	SPOIL("pass-case", pass.name = "Odd")
	SPOIL("pass-long", pass.name = LONG)
	SPOIL("pass-taken", pass.name = "saturate")
	SPOIL("pass-all", pass.name = "all")
	SPOIL("pass-source", pass.source = NULL)
	SPOIL("pass-run", pass.run = NULL)
	SPOIL("pass-fact", pass.requires = 1u << 20)
	SPOIL("pass-breaks", pass.provides = pass.breaks = KR_FACT_RW)
	SPOIL("pass-clock", pass.provides = KR_FACT_CLOCK)
	SPOIL("backend-taken", backend.name = "z3")
	SPOIL("backend-solve", backend.solve = NULL)
	SPOIL("checker-taken", checker.name = "ser")
	SPOIL("checker-none", checker.levels = NULL, checker.decides = NULL)
	SPOIL("checker-decide", checker.decide = decide)
	SPOIL("checker-decides", decides[0] = "serializable")
	SPOIL("checker-passes", checker.passes = NULL)
	SPOIL("checker-pass", checker.passes = "so,rt,satturate")
	SPOIL("checker-requires", checker.passes = "so,rt,saturate")
	SPOIL("checker-order", checker.passes = "so,presence")
	SPOIL("checker-backend", checker.backend = "smt2")
	SPOIL("level-id", levels[0].id = "")
	SPOIL("level-taken", levels[0].id = "ser")
	SPOIL("level-name", names[0].name = "strict-serializable")
	SPOIL("level-names", names[0].name = "Odd Name")
	SPOIL("level-twice", levels[1] = levels[0])
	SPOIL("level-order", names[0].has_order = true, names[0].order = (enum kr_order)9)
	SPOIL("level-title", levels[0].title = "")
	SPOIL("level-definition", levels[0].definition = NULL)
	SPOIL("level-default", levels[0].default_order = (enum kr_order)9)
	SPOIL("level-model", levels[0].model = (enum kr_node_model)9)
	SPOIL("level-anomalies", levels[0].anomalies = ~0u)
	SPOIL("level-implies", implies[0] = "pl-2000")
	SPOIL("level-itself", implies[0] = "odd")
	SPOIL("level-implied-by", implied_by[0] = "")
	SPOIL("forbids-nothing", first->allowed = 0)
	SPOIL("begin-commit", levels[0].model = KR_NODES_BEGIN_COMMIT)
	SPOIL("lonely-model", first->allowed |= RW, first->lonely = RW)
	SPOIL("lonely-items", first->allowed |= RW, first->lonely = RW, first->item_only = true, levels[0].model = KR_NODES_BEGIN_COMMIT)
	SPOIL("second", first->allowed |= RW, second->allowed = D | RW | ORDERS, second->once = RW)
	SPOIL("second-longest", second->allowed = D | RW | ORDERS, second->once = RW, second->longest = 4)
}
