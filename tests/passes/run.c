/* Text in, text out: runs passes on an IR and compares what becomes of it.
 *
 *   passes_run FOLDER PASS
 *
 * A file `level` names one of the levels below, otherwise it is one that forbids all cycles.
 *
 * FOLDER holds in.ir, an ASG and an IR; out.ir, the IR half (of the same ASG) that must come out; `change`, one line: unchanged, changed, or
 * conflict and the cycles that refute the level ("conflict wr 0 -> 1 rw 1 -> 0"; with ';' between them); and, if it is not PASS alone that is run, `passes`, the list.
 * With a conflict there may be no out.ir. Node and edge numbers count, comments and blank lines do not. The same is run again with the first, second, ...
 * allocation failing: that must give KR_NOMEM and leak nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/clock.h"
#include "ir/proof.h"
#include "passes/pass.h"

static const struct kr_level txn_level = {
	.id = "test-txn",
	.model = KR_NODES_TXN,
	.forbidden = {{.allowed = KR_BIT(KR_WR) | KR_BIT(KR_WW) | KR_BIT(KR_RW) | KR_BIT(KR_SO) | KR_BIT(KR_RT)}},
};

static const struct kr_level begin_commit_level = {
	.id = "test-begin-commit",
	.model = KR_NODES_BEGIN_COMMIT,
	.forbidden = {{.allowed = KR_BIT(KR_WR) | KR_BIT(KR_WW) | KR_BIT(KR_RW) | KR_BIT(KR_SO) | KR_BIT(KR_RT), .lonely = KR_BIT(KR_RW)}},
};

#define G1C KR_BIT(KR_WR) | KR_BIT(KR_WW) | KR_BIT(KR_SO) | KR_BIT(KR_RT)
#define BACK KR_BIT(KR_RW) | KR_BIT(KR_WR)

/* By the name that a file `level` gives. */
static const struct kr_level named[] = {
	{.id = "seen-before",
		.model = KR_NODES_TXN,
		.forbidden = {{.allowed = G1C}, {.allowed = BACK, .once = KR_BIT(KR_RW), .longest = 2, .sight = KR_SIGHT_BEFORE}}},
	{.id = "one-step", .model = KR_NODES_TXN, .forbidden = {{.allowed = G1C}, {.allowed = BACK | KR_BIT(KR_SO) | KR_BIT(KR_RT), .once = KR_BIT(KR_RW), .longest = 2}}},
	{.id = "any-steps", .model = KR_NODES_TXN, .forbidden = {{.allowed = G1C}, {.allowed = BACK | KR_BIT(KR_SO) | KR_BIT(KR_RT), .once = KR_BIT(KR_RW)}}},
};

struct texts {
	char *in, *out, *change, *passes;
	const struct kr_level *level;
};

static char *read_file(const char *folder, const char *name)
{
	char path[4096];
	FILE *file;
	char *text = calloc(1, 1 << 20);

	snprintf(path, sizeof path, "%s/%s", folder, name);
	file = fopen(path, "r");
	if (!file || !text) {
		free(text);
		return NULL;
	}

	size_t n = fread(text, 1, (1 << 20) - 1, file);

	fclose(file);
	while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == ' '))
		text[--n] = '\0';
	return text;
}

static const struct kr_level *level_of(const char *folder, const char *in)
{
	char *name = read_file(folder, "level");
	const struct kr_level *level = strstr(in, "nodes begin-commit") ? &begin_commit_level : &txn_level;

	for (size_t i = 0; name && i < KR_COUNT(named); i++)
		if (strcmp(named[i].id, name) == 0)
			level = &named[i];
	free(name);
	return level;
}

static const char *ir_half(const char *text)
{
	const char *end = strstr(text, "\nend asg\n");

	return end ? end + strlen("\nend asg\n") : text;
}

static void describe(const struct kr_ir *ir, enum kr_change change, struct kr_str *out)
{
	static const char *const words[] = {"unchanged", "changed", "conflict"};

	kr_str_add(out, words[change]);
	for (uint32_t c = 0; change == KR_CONFLICT && c < ir->conflict->cycles.n; c++) {
		const struct kr_cycle *cycle = &ir->conflict->cycles.at[c];

		for (uint32_t i = 0; i < cycle->count; i++) {
			const struct kr_link *link = &ir->conflict->links.at[cycle->first + i];

			kr_str_format(out, "%s %s %u -> %u", c > 0 && i == 0 ? ";" : "", kr_edge_name(link->kind), link->from.i, link->to.i);
		}
	}
}

/* Prints what is read from `asg_text` (up to its "end asg") followed by `ir_text`. */
static enum kr_status normalise(struct kr_ctx *ctx, const struct kr_level *level, const char *asg_text, const char *ir_text, struct kr_str *out,
	struct kr_err *err)
{
	struct kr_asg asg;
	struct kr_ir ir;
	struct kr_str text;

	kr_str_init(&text, &ctx->mem);
	kr_str_add_bytes(&text, asg_text, (size_t)(ir_half(asg_text) - asg_text));
	kr_str_add(&text, ir_text);

	enum kr_status status = text.failed ? KR_NOMEM : kr_ir_read(&ir, &asg, ctx, level, KR_ORDER_NONE, kr_str_text(&text), err);

	kr_str_done(&text);
	if (status)
		return status;
	kr_ir_print(&ir, out);
	kr_ir_done(&ir);
	kr_asg_done(&asg);
	return out->failed ? KR_NOMEM : KR_OK;
}

struct result {
	struct kr_str change, ir;
};

static enum kr_status run_passes(struct kr_ctx *ctx, const struct texts *texts, struct result *out, struct kr_err *err)
{
	struct kr_asg asg;
	struct kr_ir ir;
	enum kr_change change = KR_UNCHANGED;
	enum kr_status status = kr_ir_read(&ir, &asg, ctx, texts->level, KR_ORDER_NONE, texts->in, err);

	if (status)
		return status;
	status = kr_passes_run(&ir, texts->passes, NULL, NULL, &change, err);
	if (!status)
		status = kr_ir_verify(&ir, err);
	if (!status) {
		describe(&ir, change, &out->change);
		kr_ir_print(&ir, &out->ir);
		status = out->change.failed || out->ir.failed ? KR_NOMEM : KR_OK;
	}
	kr_ir_done(&ir);
	kr_asg_done(&asg);
	return status;
}

static void result_init(struct result *r, struct kr_mem *mem)
{
	kr_str_init(&r->change, mem);
	kr_str_init(&r->ir, mem);
}

static void result_done(struct result *r)
{
	kr_str_done(&r->change);
	kr_str_done(&r->ir);
}

static int differ(const char *what, const char *expected, const char *found)
{
	if (strcmp(expected, found) == 0)
		return 0;
	printf("---- %s: expected\n%s\n---- found\n%s\n", what, expected, found);
	return 1;
}

static int compare(const struct texts *texts)
{
	struct kr_ctx ctx;
	struct kr_err err;
	struct result found;
	struct kr_str expected, again;
	int failed = 1;

	kr_ctx_init(&ctx, 0, 0);
	kr_err_init(&err);
	result_init(&found, &ctx.mem);
	kr_str_init(&expected, &ctx.mem);
	kr_str_init(&again, &ctx.mem);
	if (run_passes(&ctx, texts, &found, &err)) {
		printf("%s: line %u: %s\n", texts->passes, err.line, err.text);
	} else if (texts->out && normalise(&ctx, texts->level, texts->in, texts->out, &expected, &err)) {
		printf("out.ir: %s\n", err.text);
	} else if (normalise(&ctx, texts->level, kr_str_text(&found.ir), ir_half(kr_str_text(&found.ir)), &again, &err)) {
		printf("what came out cannot be read back: %s\n", err.text);
	} else {
		failed = differ("change", texts->change, kr_str_text(&found.change));
		failed |= texts->out && differ("out.ir", ir_half(kr_str_text(&expected)), ir_half(kr_str_text(&found.ir)));
		failed |= differ("printed, read and printed", kr_str_text(&found.ir), kr_str_text(&again));
	}
	result_done(&found);
	kr_str_done(&expected);
	kr_str_done(&again);
	if (ctx.mem.used != 0)
		printf("leaks %zu bytes\n", ctx.mem.used);
	return failed || ctx.mem.used != 0;
}

static int fail_allocations(const struct texts *texts)
{
	for (uint64_t n = 1;; n++) {
		struct kr_ctx ctx;
		struct kr_err err;
		struct result found;

		kr_ctx_init(&ctx, 0, 0);
		kr_err_init(&err);
		ctx.mem.fail_at = n;
		result_init(&found, &ctx.mem);

		enum kr_status status = run_passes(&ctx, texts, &found, &err);

		result_done(&found);
		if (ctx.mem.used != 0 || (status != KR_OK && status != KR_NOMEM) || (status == KR_OK && ctx.mem.count >= n)) {
			printf("allocation %llu failed: status %d (%s), %zu bytes leaked\n", (unsigned long long)n, (int)status, err.text, ctx.mem.used);
			return 1;
		}
		if (status == KR_OK)
			return 0;
	}
}

int main(int argc, char **argv)
{
	struct texts texts;

	if (argc != 3)
		return 2;
	texts.in = read_file(argv[1], "in.ir");
	texts.out = read_file(argv[1], "out.ir");
	texts.change = read_file(argv[1], "change");
	texts.passes = read_file(argv[1], "passes");
	if (!texts.passes)
		texts.passes = strdup(argv[2]);
	if (!texts.in || !texts.change || !texts.passes || (!texts.out && strncmp(texts.change, "conflict", 8) != 0)) {
		printf("%s: expected in.ir, out.ir and change\n", argv[1]);
		return 1;
	}
	texts.level = level_of(argv[1], texts.in);

	int failed = compare(&texts) || fail_allocations(&texts);

	free(texts.in);
	free(texts.out);
	free(texts.change);
	free(texts.passes);
	return failed;
}
