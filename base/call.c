/* Calls of modules' functions (call.h). */
#include "base/call.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void tell(struct kr_ctx *ctx)
{
	if (ctx->calling)
		ctx->calling(ctx->calling_data, ctx);
}

void kr_call_enter(struct kr_ctx *ctx, struct kr_call *call, const char *kind, const char *name)
{
	*call = (struct kr_call){.kind = kind, .name = name};
	if (!ctx)
		return;
	call->outer = ctx->call;
	ctx->call = call;
	tell(ctx);
}

enum kr_status kr_call_fail(const struct kr_call *call, struct kr_err *err, const char *format, ...)
{
	char text[640];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof text, format, args); /* what is too long is cut */
	va_end(args);
	kr_err_init(err); /* what was told before is in the text */
	return kr_err_set(err, KR_INTERNAL, "%s '%.60s' %s", call->kind, call->name, text);
}

static enum kr_status judge(const struct kr_call *call, enum kr_status status, struct kr_err *err)
{
	bool told = err && err->status != KR_OK && err->text[0];
	char text[sizeof err->text];

	if ((unsigned)status > KR_INTERNAL)
		return kr_call_fail(call, err, "returned status %d, which there is not", (int)status);
	if (told)
		memcpy(text, err->text, sizeof text);
	if (status == KR_OK && told)
		return kr_call_fail(call, err, "returned KR_OK, but told an error: %s", text);
	if (status == KR_OK || kr_is_limit(status))
		return status;
	if (err && !told)
		return kr_call_fail(call, err,
			"failed (%s) and did not say why: expected a call of krait_fail",
			kr_status_text(status));
	if (told && status != KR_UNSUPPORTED && strcmp(call->kind, "format") != 0)
		return kr_call_fail(call, err, "failed: %s", text);
	return status;
}

enum kr_status kr_call_leave(struct kr_ctx *ctx, const struct kr_call *call, enum kr_status status,
	struct kr_err *err)
{
	if (ctx) {
		ctx->call = call->outer;
		tell(ctx);
	}
	return judge(call, status, err);
}
