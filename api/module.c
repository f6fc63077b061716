/* What every module of a plug-in may call. */
#include "krait/module.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/call.h"
#include "base/err.h"

enum kr_status krait_fail(struct kr_err *err, enum kr_status status, const char *format, ...)
{
	char text[sizeof err->text];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof text, format, args); /* what is too long is cut */
	va_end(args);
	return kr_err_set(err, status, "%s", text);
}

void krait_log(struct kr_ctx *ctx, const char *format, ...)
{
	char text[sizeof((struct kr_err *)NULL)->text], line[sizeof text + 80];
	va_list args;

	if (!ctx->log)
		return;
	va_start(args, format);
	kr_err_vline(text, sizeof text, format, args);
	va_end(args);
	(void)snprintf(line, sizeof line, "%s '%.60s': %s", ctx->call ? ctx->call->kind : "module",
		ctx->call ? ctx->call->name : "", text);
	ctx->log(ctx->log_data, line);
}

enum kr_status krait_tick(struct kr_ctx *ctx) { return kr_ctx_tick(ctx); }
