/* The text form of the ASG: any bytes give an error or a valid graph, whose print is read back and prints the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ir/asg.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
	if (!condition)
		abort();
}

/* Prints asg, reads that into *again and prints it into `out`. */
static void print_and_reread(struct kr_ctx *ctx, const struct kr_asg *asg, struct kr_asg *again, struct kr_str *out)
{
	struct kr_str text;

	kr_str_init(&text, &ctx->mem);
	kr_asg_print(asg, &text);
	require(kr_asg_read(again, ctx, kr_str_text(&text), NULL, NULL) == KR_OK);
	kr_asg_print(again, out);
	kr_str_done(&text);
}

static void check(struct kr_ctx *ctx, const struct kr_asg *asg)
{
	struct kr_asg second, third;
	struct kr_str printed, reprinted;

	kr_str_init(&printed, &ctx->mem);
	kr_str_init(&reprinted, &ctx->mem);
	print_and_reread(ctx, asg, &second, &printed); /* names that are not UTF-8 are by now */
	print_and_reread(ctx, &second, &third, &reprinted);
	require(strcmp(kr_str_text(&printed), kr_str_text(&reprinted)) == 0);
	for (uint32_t o = 0; o < asg->nobs; o++) {
		kr_version v;

		for (kr_candidates it = kr_asg_candidates(asg, (kr_obs){o}); kr_asg_next(asg, &it, &v);)
			require(kr_asg_in_set(asg, asg->obs[o].set, v) && asg->versions[v.i].key.i == asg->obs[o].key.i);
	}
	kr_asg_done(&second);
	kr_asg_done(&third);
	kr_str_done(&printed);
	kr_str_done(&reprinted);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct kr_ctx ctx;
	struct kr_asg asg;
	struct kr_err err;
	const char *rest = NULL;

	require(text);
	memcpy(text, data, size);
	text[size] = '\0';
	kr_ctx_init(&ctx, 0, 0);
	kr_err_init(&err);

	enum kr_status status = kr_asg_read(&asg, &ctx, text, &rest, &err);

	if (status == KR_OK) {
		require(rest >= text && rest <= text + size);
		check(&ctx, &asg);
		kr_asg_done(&asg);
	} else {
		require(status == KR_BAD && err.text[0]);
	}
	require(ctx.mem.used == 0);
	free(text);
	return 0;
}
