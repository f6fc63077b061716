/* What every module of a plug-in may call. */
#include "krait/module.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/ctx.h"
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

enum kr_status krait_tick(struct kr_ctx *ctx) { return kr_ctx_tick(ctx); }
