/* Lint: the parts in turn, and the findings.
 *
 * Three walks: over the writes, which go into an index by (key, value) or (key, element); over the reads,
 * which are looked up in it; over the transactions' times. Linear in the text of the trace, in time and
 * memory: each element of a list that was read is looked up once for each read that shows it. Does not judge:
 * what it finds may be wanted, and what it does not find may still violate every level. */
#include "frontend/lint.h"

#include "frontend/lint_work.h"

const char *kr_lint_name(enum kr_lint_kind kind)
{
	static const char *const names[KR_LINT_KINDS] = {
		[KR_LINT_DUPLICATE_VALUE] = "duplicate-value",
		[KR_LINT_VALUE_UNWRITTEN] = "value-unwritten",
		[KR_LINT_KEY_UNWRITTEN] = "key-unwritten",
		[KR_LINT_MIXED_TYPES] = "mixed-types",
		[KR_LINT_ABORTED_READ] = "aborted-read",
		[KR_LINT_UNKNOWN_READ] = "unknown-read",
		[KR_LINT_TIMED_OUT] = "timed-out",
		[KR_LINT_SLOW_ABORT] = "slow-abort",
		[KR_LINT_EARLY_READ] = "early-read",
		[KR_LINT_SAME_VALUE] = "same-value",
		[KR_LINT_SESSION_OVERLAP] = "session-overlap",
		[KR_LINT_SESSION_BACKWARDS] = "session-backwards",
		[KR_LINT_OP_BACKWARDS] = "op-backwards",
		[KR_LINT_OP_OUTSIDE] = "op-outside",
		[KR_LINT_NO_BEGIN] = "no-begin",
		[KR_LINT_NO_END] = "no-end",
		[KR_LINT_DEFAULT_ID] = "default-id",
	};

	return (unsigned)kind < KR_LINT_KINDS ? names[kind] : "?";
}

struct kr_lint_finding kr_lint_at(kr_txn t, uint32_t op)
{
	return (struct kr_lint_finding){.txn = t,
		.op = op,
		.key = {KR_NONE},
		.value = {KR_NONE},
		.other = {KR_NONE}};
}

enum kr_status kr_lint_put(struct kr_lint_work *w, enum kr_lint_kind kind, struct kr_lint_finding finding)
{
	struct kr_lint_findings *found = &w->out->found[kind];

	w->out->counts[kind]++;
	return found->n >= w->most || kr_vec_push(&w->ctx->mem, found, finding) ? KR_OK : KR_NOMEM;
}

static enum kr_status run(struct kr_lint_work *w)
{
	const struct kr_history *h = w->h;

	KR_TRY(kr_mem_new(&w->ctx->mem, w->keys, h->keys.n));
	KR_TRY(kr_mem_new(&w->ctx->mem, w->told, h->txns.n));
	for (uint32_t k = 0; k < h->keys.n; k++)
		w->keys[k] = (struct kr_lint_key){.read = {KR_NONE},
			.mixed = {KR_NONE},
			.last = {KR_NONE},
			.value = {KR_NONE},
			.assumed = {KR_NONE}};
	for (uint32_t t = 0; t < h->txns.n; t++)
		w->told[t] = (struct kr_lint_told){.reader = {KR_NONE}};
	KR_TRY(kr_lint_writes(w));
	KR_TRY(kr_lint_reads(w));
	return kr_lint_times(w);
}

enum kr_status kr_lint(struct kr_ctx *ctx, const struct kr_history *h, uint32_t most, struct kr_lint *out)
{
	struct kr_lint lint = {.mem = &ctx->mem};
	struct kr_lint_work w = {.ctx = ctx, .h = h, .out = &lint, .most = most, .early = {KR_NONE}};

	kr_arena_init(&lint.texts, &ctx->mem);
	kr_str_init(&w.text, &ctx->mem);

	enum kr_status status = run(&w);

	kr_str_done(&w.text);
	kr_table_done(&ctx->mem, &w.table);
	kr_vec_done(&ctx->mem, &w.entries);
	kr_mem_free(&ctx->mem, w.keys, h->keys.n, sizeof *w.keys);
	kr_mem_free(&ctx->mem, w.told, h->txns.n, sizeof *w.told);
	if (status == KR_OK)
		*out = lint;
	else
		kr_lint_done(&lint);
	return status;
}

void kr_lint_done(struct kr_lint *lint)
{
	for (int kind = 0; kind < KR_LINT_KINDS; kind++)
		kr_vec_done(lint->mem, &lint->found[kind]);
	kr_arena_done(&lint->texts);
}
