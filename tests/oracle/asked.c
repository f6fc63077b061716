#include "asked.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "frontend/native_write.h"

uint64_t asked_number(const char *name, uint64_t by_default)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 10) : by_default;
}

enum tiny_mix asked_mix(uint64_t n)
{
	const char *only = getenv("KRAIT_ORACLE_MIX");

	for (int mix = 0; only && mix < TINY_MIXES; mix++)
		if (strcmp(only, tiny_mix_name((enum tiny_mix)mix)) == 0)
			return (enum tiny_mix)mix;
	if (only && *only)
		fail_msg("KRAIT_ORACLE_MIX: no mix is called %s", only);
	return (enum tiny_mix)(n % TINY_MIXES);
}

void asked_print(struct kr_ctx *ctx, const struct kr_history *h)
{
	struct kr_str text;

	kr_str_init(&text, &ctx->mem);
	kr_native_write_text(ctx, h, &text, NULL);
	print_message("%s", kr_str_text(&text));
	kr_str_done(&text);
}

void asked_print_tiny(const struct tiny *tiny)
{
	struct kr_ctx ctx;
	struct kr_history h;

	kr_ctx_init(&ctx, 0, 0);
	if (tiny_history(tiny, &ctx, &h) != KR_OK)
		return;
	asked_print(&ctx, &h);
	kr_history_done(&h);
}
