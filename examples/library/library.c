/* What a test of a database may look like that records its own history: build it, check levels, walk the proof. Two doctors leave duty at once, each having seen the other on duty:
 * write skew, which snapshot isolation allows and serializability does not. */
#include <inttypes.h>
#include <stdio.h>

#include <krait/krait.h>

static void leave(krait_builder *b, const char *id, const char *me, const char *other)
{
	krait_build_begin(b, &(struct krait_transaction){.id = krait_text(id), .session = krait_text(me)});
	krait_build_op(b, &(struct krait_operation){.kind = KRAIT_READ, .key = krait_text(other), .value = krait_text("on call")});
	krait_build_op(b, &(struct krait_operation){.kind = KRAIT_WRITE, .key = krait_text(me), .value = krait_text("off")});
	krait_build_end(b);
}

static enum krait_status build(krait_history **out, struct krait_error *error)
{
	krait_builder *b;
	enum krait_status status = krait_builder_new("doctors", NULL, &b, error);

	if (status)
		return status;
	krait_build_initial(b, krait_text("alice"), krait_text("on call"));
	krait_build_initial(b, krait_text("bob"), krait_text("on call"));
	leave(b, "alice-leaves", "alice", "bob");
	leave(b, "bob-leaves", "bob", "alice");
	return krait_builder_finish(b, out, error); /* tells what failed above, too */
}

static void show(const krait_history *h, const krait_verdict *v)
{
	struct krait_dependency e;
	char from[64], to[64];

	printf("%s: %s\n", krait_verdict_level(v), krait_verdict_outcome(v) == KRAIT_VIOLATED ? krait_verdict_anomaly(v) : "satisfied");
	for (uint32_t i = 0; i < krait_verdict_order_length(v); i++) {
		krait_history_id(h, krait_verdict_order_at(v, i), from, sizeof from);
		printf("  %" PRIu32 ". %s\n", i + 1, from);
	}
	for (uint32_t c = 0; c < krait_verdict_cycles(v); c++)
		for (uint32_t i = 0; krait_verdict_edge(v, c, i, &e); i++) {
			krait_history_id(h, e.from, from, sizeof from);
			krait_history_id(h, e.to, to, sizeof to);
			printf("  %s %s %s by %s\n", from, e.kind, to, e.key ? e.key : "order");
		}
}

int main(void)
{
	static const char *const levels[] = {"si", "ser"};
	struct krait_options options = {.seconds = 10};
	struct krait_error error = {0};
	krait_history *history = NULL;
	krait_verdict *verdict;

	enum krait_status status = build(&history, &error);

	for (int i = 0; i < 2 && !status; i++) {
		status = krait_check(history, levels[i], NULL, &options, &verdict, &error);
		if (!status) {
			show(history, verdict);
			krait_verdict_free(verdict);
		}
	}
	krait_history_free(history);
	if (status)
		fprintf(stderr, "%s:%u: %s\n", error.file, error.line, error.text);
	return status ? 1 : 0;
}
