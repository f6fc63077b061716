/* docs/ir.md: its example is what the passes make of its ASG, and reads and prints the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "passes/pass.h"

static const struct kr_level level = {
	.id = "test",
	.model = KR_NODES_TXN,
	.forbidden = {{.allowed = KR_BIT(KR_WR) | KR_BIT(KR_WW) | KR_BIT(KR_RW) | KR_BIT(KR_SO) | KR_BIT(KR_RT)}},
};

static char text[1 << 16];

/* The block that begins with "asg 1". */
static char *example(void)
{
	FILE *file = fopen(KR_SOURCE_DIR "/docs/ir.md", "r");

	assert_non_null(file);

	size_t n = fread(text, 1, sizeof text - 1, file);

	fclose(file);
	text[n] = '\0';

	char *begin = strstr(text, "```\nasg 1");

	assert_non_null(begin);
	begin += 4;

	char *end = strstr(begin, "```");

	assert_non_null(end);
	*end = '\0';
	return begin;
}

static void assert_prints(const struct kr_ir *ir, const char *expected)
{
	struct kr_str out;

	kr_str_init(&out, &ir->ctx->mem);
	kr_ir_print(ir, &out);
	assert_string_equal(kr_str_text(&out), expected);
	kr_str_done(&out);
}

static void example_is_what_the_passes_give(void **state)
{
	const char *block = example();
	struct kr_ctx ctx;
	struct kr_err err;
	struct kr_asg asg;
	struct kr_ir ir;
	enum kr_change change;

	(void)state;
	kr_ctx_init(&ctx, 0, 0);
	kr_err_init(&err);
	if (kr_ir_read(&ir, &asg, &ctx, &level, KR_ORDER_NONE, block, &err))
		fail_msg("line %u: %s", err.line, err.text);
	assert_prints(&ir, block);
	kr_ir_done(&ir);
	assert_int_equal(kr_ir_init(&ir, &ctx, &asg, &level, KR_ORDER_REALTIME), KR_OK);
	assert_int_equal(kr_passes_run(&ir, "so,rt,presence,wr,ww,rw,clock,saturate", NULL, NULL, &change, &err), KR_OK);
	assert_int_equal(change, KR_CHANGED);
	assert_prints(&ir, block);
	kr_ir_done(&ir);
	kr_asg_done(&asg);
	assert_int_equal(ctx.mem.used, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(example_is_what_the_passes_give),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
