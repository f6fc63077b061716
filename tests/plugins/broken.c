/* Back ends that answer wrongly, each in its own way, and a checker for each: what the verifier and `krait crosscheck` are for. `broken-yes` says that the order of the trace is a serial
 * order, `broken-no` that the first two writers of a key cannot both have come first, `broken-mute` never knows. */
#include <stdlib.h>

#include <krait/graph.h>

static enum kr_status yes(struct kr_ir *ir, struct kr_answer *out, struct kr_err *err)
{
	uint32_t n = krait_ir_sizes(ir).transactions, count = 0;
	kr_node *order = malloc((n + 1) * sizeof *order);
	enum kr_status status = KR_NOMEM;

	(void)err;
	for (kr_txn t = {0}; order && t.i < n; t.i++)
		if (krait_ir_presence(ir, t) == KR_PRESENT)
			order[count++] = krait_ir_out(ir, KR_WW, t);
	if (order)
		status = krait_answer_world(out, ir, KR_WORLD_SERIAL, order, count);
	free(order);
	return status;
}

static struct kr_link ww(kr_txn from, kr_txn to, kr_key key)
{
	return (struct kr_link){KR_WW, from, to, {KR_NONE}, {KR_NONE}, key, KR_NONE};
}

/* Two versions of the first key that has two writers; of the first key if none has. */
static enum kr_status no(struct kr_ir *ir, struct kr_answer *out, struct kr_err *err)
{
	kr_txn a = {0}, b = {1};
	kr_key key = {0};

	for (kr_key k = {0}; k.i < krait_ir_sizes(ir).keys; k.i++) {
		struct krait_range versions = krait_ir_versions(ir, k);

		if (versions.count < 3)
			continue;
		a = krait_ir_version(ir, (kr_version){versions.first + 1}).writer;
		b = krait_ir_version(ir, (kr_version){versions.first + 2}).writer;
		key = k;
		break;
	}

	struct kr_link links[] = {ww(a, b, key), ww(b, a, key)};

	return krait_answer_cycle(out, ir, links, 2, err);
}

static enum kr_status mute(struct kr_ir *ir, struct kr_answer *out, struct kr_err *err)
{
	(void)ir, (void)err;
	krait_answer_unknown(out, "broken-mute never knows");
	return KR_OK;
}

#define SOURCE "made for tests"

static const struct kr_backend backend_yes = {.name = "broken-yes", .title = "the order of the trace is a world", .source = SOURCE, .solve = yes};
static const struct kr_backend backend_no = {.name = "broken-no", .title = "two writers cannot both come first", .source = SOURCE, .solve = no};
static const struct kr_backend backend_mute = {.name = "broken-mute", .title = "never knows", .source = SOURCE, .solve = mute};
static const struct kr_backend *const backends[] = {&backend_yes, &backend_no, &backend_mute, NULL};

#define PASSES "so,rt,presence,wr"
static const char *const levels[] = {"ser", "pl-ss", "si", "pl-2", "cc", NULL};

static const struct kr_checker checker_yes = {.name = "broken-yes", .title = "always satisfied", .source = SOURCE, .decides = levels, .passes = PASSES, .backend = "broken-yes"};
static const struct kr_checker checker_no = {.name = "broken-no", .title = "always violated", .source = SOURCE, .decides = levels, .passes = PASSES, .backend = "broken-no"};
static const struct kr_checker checker_mute = {.name = "broken-mute", .title = "never knows", .source = SOURCE, .decides = levels, .passes = PASSES, .backend = "broken-mute"};
static const struct kr_checker *const checkers[] = {&checker_yes, &checker_no, &checker_mute, NULL};

KRAIT_EXPORT const struct kr_plugin krait_plugin = {
	.abi = KRAIT_PLUGIN_ABI, .name = "broken", .version = "1.0", .backends = backends, .checkers = checkers};
