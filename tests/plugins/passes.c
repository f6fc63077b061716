/* Passes: `by-readers` infers that who writes a key and leads to a reader of another version of it wrote before; it stands in for krait's own in the checker `by-readers`. `unfounded` says of any two writers of a
 * key that the order of the trace is known, by rules that do not bear it out. */
#include <krait/graph.h>

#define SOURCE "made for tests"

/* a's version of the key comes before the one that o saw: b's. */
static enum kr_status infer(struct kr_ir *ir, kr_obs o, kr_txn a, kr_txn b, enum kr_change *change, struct kr_err *err)
{
	if (krait_ir_reaches(ir, krait_ir_out(ir, KR_WW, a), krait_ir_in(ir, KR_WW, b)))
		return KR_OK;

	bool closes = krait_ir_reaches(ir, krait_ir_out(ir, KR_WW, b), krait_ir_in(ir, KR_WW, a));
	enum kr_status status = krait_ir_add_edge(ir, KR_WW, a, b, KR_RULE_READER, o.i, err);

	*change = KR_CHANGED;
	if (!status && closes) {
		*change = KR_CONFLICT;
		status = krait_ir_conflict(ir, err);
	}
	return status;
}

static enum kr_status look_at(struct kr_ir *ir, kr_obs o, enum kr_change *change, struct kr_err *err)
{
	struct krait_observation obs = krait_ir_observation(ir, o);
	kr_txn seen = krait_ir_version(ir, obs.saw).writer;
	struct krait_range versions = krait_ir_versions(ir, obs.key);
	enum kr_status status = krait_tick(krait_ir_ctx(ir));

	if (obs.predicate || seen.i == KR_NONE)
		return status;
	for (uint32_t v = versions.first + 1; v < versions.first + versions.count && !status && *change != KR_CONFLICT; v++) {
		kr_txn a = krait_ir_version(ir, (kr_version){v}).writer;
		if (a.i == seen.i || a.i == obs.txn.i || krait_ir_presence(ir, a) != KR_PRESENT)
			continue;
		if (krait_ir_reaches(ir, krait_ir_out(ir, KR_WW, a), krait_ir_in(ir, KR_WR, obs.txn)))
			status = infer(ir, o, a, seen, change, err);
	}
	return status;
}

static enum kr_status by_readers(struct kr_ir *ir, enum kr_change *change, struct kr_err *err)
{
	enum kr_status status = KR_OK;

	*change = KR_UNCHANGED;
	for (uint32_t o = 0; o < krait_ir_sizes(ir).observations && !status && *change != KR_CONFLICT; o++) {
		status = look_at(ir, (kr_obs){o}, change, err);
		krait_count(ir, "observations", 1);
	}
	krait_count(ir, "keys", krait_ir_sizes(ir).keys);
	krait_log(krait_ir_ctx(ir), "looked at %u observations", krait_ir_sizes(ir).observations);
	return status;
}

static enum kr_status unfounded(struct kr_ir *ir, enum kr_change *change, struct kr_err *err)
{
	enum kr_status status = KR_OK;

	*change = KR_CHANGED;
	for (uint32_t k = 0; k < krait_ir_sizes(ir).keys && !status; k++) {
		struct krait_range versions = krait_ir_versions(ir, (kr_key){k});
		for (uint32_t v = versions.first + 2; v < versions.first + versions.count && !status; v++) {
			kr_txn a = krait_ir_version(ir, (kr_version){v - 1}).writer, b = krait_ir_version(ir, (kr_version){v}).writer;
			status = krait_ir_add_edge(ir, KR_WW, k % 2 ? b : a, k % 2 ? a : b, KR_RULE_WRITERS, k, err);
		}
	}
	if (!status && krait_ir_sizes(ir).keys > 1) {
		*change = KR_CONFLICT;
		status = krait_ir_conflict(ir, err);
	}
	return status;
}

static const struct kr_pass pass_by_readers = {
	.name = "by-readers",
	.title = "ww from who leads to a reader to the writer of what it read",
	.source = SOURCE,
	.requires = KR_FACT_WR | KR_FACT_CLOCK,
	.breaks = KR_FACT_SATURATED,
	.run = by_readers,
};
static const struct kr_pass pass_unfounded = {.name = "unfounded", .title = "the order of the trace, here and there", .source = SOURCE, .requires = KR_FACT_WR, .run = unfounded};
static const struct kr_pass *const passes[] = {&pass_by_readers, &pass_unfounded, NULL};

static const char *const levels[] = {"ser", "pl-ss", NULL};
static const struct kr_checker checker = {
	.name = "by-readers", .title = "with a pass of its own", .source = SOURCE, .decides = levels, .passes = "so,rt,presence,wr,ww,rw,clock,by-readers", .backend = "eager"};
static const struct kr_checker *const checkers[] = {&checker, NULL};

KRAIT_EXPORT const struct kr_plugin krait_plugin = {.abi = KRAIT_PLUGIN_ABI, .name = "passes", .version = "1.0", .passes = passes, .checkers = checkers};
