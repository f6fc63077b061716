/* The text form of the dependency IR, and the passes on what it gives: any bytes give an error or a sound IR, which prints and reads back the same;
 * passes leave it sound. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "passes/pass.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct kr_level level = {
	.id = "fuzz",
	.model = KR_NODES_TXN,
	.forbidden = {{.allowed = KR_BIT(KR_WR) | KR_BIT(KR_WW) | KR_BIT(KR_RW) | KR_BIT(KR_SO) | KR_BIT(KR_RT)}},
};

static void require(bool condition)
{
	if (!condition)
		abort();
}

static void print_again(struct kr_ctx *ctx, const char *text, struct kr_str *out)
{
	struct kr_asg asg;
	struct kr_ir ir;

	require(kr_ir_read(&ir, &asg, ctx, &level, KR_ORDER_NONE, text, NULL) == KR_OK);
	kr_ir_print(&ir, out);
	kr_ir_done(&ir);
	kr_asg_done(&asg);
}

static void round_trip(struct kr_ctx *ctx, const struct kr_ir *ir)
{
	struct kr_str first, second, third;

	kr_str_init(&first, &ctx->mem);
	kr_str_init(&second, &ctx->mem);
	kr_str_init(&third, &ctx->mem);
	kr_ir_print(ir, &first);
	print_again(ctx, kr_str_text(&first), &second); /* names that are not UTF-8 are by now */
	print_again(ctx, kr_str_text(&second), &third);
	require(strcmp(kr_str_text(&second), kr_str_text(&third)) == 0);
	kr_str_done(&first);
	kr_str_done(&second);
	kr_str_done(&third);
}

static void run_passes(struct kr_ir *ir)
{
	static const char *const passes[] = {"so", "rt", "presence", "wr", "ww", "rw", "clock", "saturate"};
	enum kr_change change = KR_UNCHANGED;

	for (size_t i = 0; i < KR_COUNT(passes) && change != KR_CONFLICT; i++) {
		struct kr_err err;

		kr_err_init(&err);
		if (kr_passes_run(ir, passes[i], NULL, NULL, &change, &err)) {
			require(strncmp(err.text, "after pass", 10) != 0);
			return; /* the text's sessions and times form a cycle, which no trace's do */
		}
		require(kr_ir_verify(ir, NULL) == KR_OK);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct kr_ctx ctx;
	struct kr_asg asg;
	struct kr_ir ir;
	struct kr_err err;

	require(text);
	memcpy(text, data, size);
	text[size] = '\0';
	kr_ctx_init(&ctx, 0, 0);
	kr_err_init(&err);

	enum kr_status status = kr_ir_read(&ir, &asg, &ctx, &level, KR_ORDER_NONE, text, &err);

	if (status == KR_OK) {
		round_trip(&ctx, &ir);
		ctx.mem.limit = ctx.mem.used + ((size_t)64 << 20); /* sessions may have any number in a text, and cost as many words */
		run_passes(&ir);
		kr_ir_done(&ir);
		kr_asg_done(&asg);
	} else {
		require((status == KR_BAD || status == KR_INTERNAL) && err.text[0]);
	}
	require(ctx.mem.used == 0);
	free(text);
	return 0;
}
