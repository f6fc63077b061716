/* Options, errors, cancel tokens and plug-ins of the C API. */
#include "api/handle.h"

#include <stdio.h>
#include <string.h>

#include "checkers/checker.h"

const char *krait_version(void) { return KR_VERSION; }

/* ---- errors ---- */

void kr_public_begin(struct kr_err *err, struct krait_error *out)
{
	kr_err_init(err);
	if (out)
		*out = (struct krait_error){.status = KRAIT_OK};
}

enum krait_status kr_public_fail(struct kr_err *err, enum kr_status status, struct krait_error *out)
{
	static const enum krait_status given[] = {[KR_OK] = KRAIT_OK,
		[KR_NOMEM] = KRAIT_NO_MEMORY,
		[KR_TIMEOUT] = KRAIT_TIME_LIMIT,
		[KR_CANCELED] = KRAIT_CANCELED,
		[KR_BAD] = KRAIT_BAD,
		[KR_UNSUPPORTED] = KRAIT_UNSUPPORTED,
		[KR_INTERNAL] = KRAIT_INTERNAL};

	kr_err_set(err, status, "%s", kr_status_text(status));
	if (out) {
		*out = (struct krait_error){given[status], .line = err->line, .column = err->column};
		memcpy(out->file, err->file, sizeof out->file);
		memcpy(out->text, err->text, sizeof out->text);
	}
	return given[status];
}

/* ---- options ---- */

struct kr_mem kr_options_mem(const struct krait_options *options)
{
	struct kr_mem mem;

	kr_mem_init(&mem, SIZE_MAX);
	if (options) {
		mem.allocate = options->allocate;
		mem.allocate_data = options->allocate_data;
	}
	return mem;
}

void kr_call_begin(struct kr_ctx *ctx, const struct krait_options *options)
{
	kr_ctx_restart(ctx, options ? options->seconds : 0);
	ctx->cancel = options && options->cancel ? &options->cancel->set : NULL;
	ctx->progress = options ? options->progress : NULL;
	ctx->progress_data = options ? options->progress_data : NULL;
	ctx->log = options ? options->log : NULL;
	ctx->log_data = options ? options->log_data : NULL;
}

void kr_call_log(const struct krait_options *options, const char *format, ...)
{
	char text[600];
	va_list args;

	if (!options || !options->log)
		return;
	va_start(args, format);
	(void)vsnprintf(text, sizeof text, format, args); /* what is too long is cut */
	va_end(args);
	options->log(options->log_data, text);
}

/* ---- cancel tokens ---- */

enum krait_status krait_cancel_new(krait_cancel **out)
{
	struct kr_mem mem = kr_options_mem(NULL);
	krait_cancel *cancel = kr_mem_alloc(&mem, 1, sizeof *cancel);

	if (!cancel)
		return KRAIT_NO_MEMORY;
	atomic_init(&cancel->set, false);
	*out = cancel;
	return KRAIT_OK;
}

void krait_cancel_set(krait_cancel *cancel)
{
	atomic_store_explicit(&cancel->set, true, memory_order_relaxed);
}
void krait_cancel_clear(krait_cancel *cancel)
{
	atomic_store_explicit(&cancel->set, false, memory_order_relaxed);
}

void krait_cancel_free(krait_cancel *cancel)
{
	struct kr_mem mem = kr_options_mem(NULL);

	kr_mem_free(&mem, cancel, 1, sizeof *cancel);
}

/* ---- plug-ins ---- */

enum krait_status krait_plugins_new(krait_plugins **out, struct krait_error *error)
{
	struct kr_mem mem = kr_options_mem(NULL);
	krait_plugins *plugins = kr_mem_alloc(&mem, 1, sizeof *plugins);
	struct kr_err err;

	kr_public_begin(&err, error);
	if (!plugins)
		return kr_public_fail(&err, KR_NOMEM, error);
	kr_plugins_init(&plugins->all);
	*out = plugins;
	return KRAIT_OK;
}

enum krait_status krait_plugins_load(krait_plugins *plugins, const char *path, struct krait_error *error)
{
	struct kr_err err;

	kr_public_begin(&err, error);
	enum kr_status status = kr_plugins_load(&plugins->all, path, &err);
	return status ? kr_public_fail(&err, status, error) : KRAIT_OK;
}

void krait_plugins_free(krait_plugins *plugins)
{
	struct kr_mem mem = kr_options_mem(NULL);

	if (!plugins)
		return;
	kr_plugins_done(&plugins->all);
	kr_mem_free(&mem, plugins, 1, sizeof *plugins);
}

const char *krait_level(const krait_plugins *plugins, size_t i)
{
	const struct kr_level *level = kr_level_at(plugins ? &plugins->all.modules : NULL, i);

	return level ? level->id : NULL;
}
