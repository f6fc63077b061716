/* Histories of the C API: read, or built. A history owns its context, which keeps the limit of memory and the
 * allocator for all that is done with it, and is analyzed once. */
#include "api/handle.h"

#include <stdio.h>
#include <string.h>

#include "frontend/format.h"

static double seconds_since(int64_t start) { return (double)(kr_now_ns() - start) * 1e-9; }

/* Frees the block of a history alone. */
static void drop_handle(krait_history *h)
{
	struct kr_mem self = h->self;

	kr_vec_done(&self, &h->walk.values);
	kr_vec_done(&self, &h->walk.rows);
	kr_vec_done(&self, &h->walk.conditions);
	kr_vec_done(&self, &h->walk.seen);
	if (h->path)
		kr_mem_free(&self, h->path, strlen(h->path) + 1, 1);
	kr_mem_free(&self, h, 1, sizeof *h);
}

/* The block of a history, with nothing in it; NULL: no memory. */
static krait_history *new_handle(const char *path, const struct krait_options *options)
{
	struct kr_mem self = kr_options_mem(options);
	size_t size = strlen(path) + 1;
	krait_history *h = kr_mem_alloc(&self, 1, sizeof *h);

	if (!h)
		return NULL;
	h->path = kr_mem_alloc(&self, size, 1);
	h->self = self;
	if (!h->path) {
		drop_handle(h);
		return NULL;
	}
	memcpy(h->path, path, size);
	kr_ctx_init(&h->ctx, 0, options ? options->mebibytes : 0);
	h->ctx.mem.allocate = self.allocate;
	h->ctx.mem.allocate_data = self.allocate_data;
	h->ctx.modules = options && options->plugins ? &options->plugins->all.modules : NULL;
	kr_call_begin(&h->ctx, options);
	return h;
}

/* Analyzes what was read since `start`; on failure the history is done. */
static enum kr_status analyze(krait_history *h, int64_t start, const struct krait_options *options,
	struct kr_err *err)
{
	kr_call_log(options, "%s: %u transactions, %u operations, %u keys; read in %.3f s", h->path,
		h->history.txns.n, h->history.ops.n, h->history.keys.n, seconds_since(start));
	enum kr_status status = kr_analyze(&h->ctx, &h->history, &h->analysis, err);
	if (status)
		kr_history_done(&h->history);
	h->read_seconds = seconds_since(start);
	return status;
}

struct bytes {
	const void *at;
	size_t length;
};

/* `bytes` NULL: the file or folder at `path`, for which it stands otherwise. */
static enum krait_status read_history(const char *path, const struct bytes *bytes, const char *format,
	const struct krait_options *options, krait_history **out, struct krait_error *error)
{
	const struct kr_modules *more = options && options->plugins ? &options->plugins->all.modules : NULL;
	struct kr_read_options read = {.format = format};
	int64_t start = kr_now_ns();
	const struct kr_format *found;
	struct kr_err err;

	kr_public_begin(&err, error);
	if (kr_format_named(more, format, &found, &err) != KR_OK)
		return kr_public_fail(&err, KR_BAD, error);
	krait_history *h = new_handle(path, options);
	if (!h)
		return kr_public_fail(&err, KR_NOMEM, error);

	enum kr_status status = bytes
		? kr_read_memory(&h->ctx, path, bytes->at, bytes->length, &read, &h->history, &err)
		: kr_read_trace(&h->ctx, path, &read, &h->history, &err);

	if (!status)
		status = analyze(h, start, options, &err);
	if (status) {
		drop_handle(h);
		return kr_public_fail(&err, status, error);
	}
	*out = h;
	return KRAIT_OK;
}

enum krait_status krait_history_read(const char *path, const char *format,
	const struct krait_options *options, krait_history **out, struct krait_error *error)
{
	return read_history(path, NULL, format, options, out, error);
}

enum krait_status krait_history_read_memory(const char *name, const void *bytes, size_t length,
	const char *format, const struct krait_options *options, krait_history **out,
	struct krait_error *error)
{
	return read_history(name, &(struct bytes){bytes, length}, format, options, out, error);
}

void krait_history_free(krait_history *history)
{
	if (!history)
		return;
	kr_analysis_done(&history->analysis);
	kr_history_done(&history->history);
	drop_handle(history);
}

/* ---- building ---- */

/* Names the history as the native reader does. */
static enum kr_status name_history(krait_history *h)
{
	h->history.format = "native";
	const char *name = kr_arena_text(&h->history.arena, h->path, strlen(h->path));
	return name && kr_vec_push(h->history.mem, &h->history.files, name) ? KR_OK : KR_NOMEM;
}

enum krait_status krait_builder_new(const char *name, const struct krait_options *options,
	krait_builder **out, struct krait_error *error)
{
	int64_t start = kr_now_ns();
	krait_history *h = new_handle(name, options);
	struct kr_err err;

	kr_public_begin(&err, error);
	if (!h)
		return kr_public_fail(&err, KR_NOMEM, error);

	enum kr_status status = kr_history_init(&h->history, &h->ctx.mem);

	if (!status)
		status = name_history(h);

	krait_builder *b = status ? NULL : kr_builder_new(kr_options_mem(options), &h->ctx, &h->history);

	if (!b) {
		kr_history_done(&h->history);
		drop_handle(h);
		return kr_public_fail(&err, KR_NOMEM, error);
	}
	b->owned = h;
	b->start = start;
	if (options)
		b->options = *options;
	*out = b;
	return KRAIT_OK;
}

/* Frees the builder but for the history. */
static void drop_builder(krait_builder *b)
{
	struct kr_mem mem = b->self;

	kr_native_done(&b->native);
	kr_mem_free(&mem, b, 1, sizeof *b);
}

enum krait_status krait_builder_finish(krait_builder *builder, krait_history **out, struct krait_error *error)
{
	krait_history *h = builder->owned;
	struct krait_options options = builder->options;
	int64_t start = builder->start;
	enum kr_status status = kr_builder_end(builder);
	struct kr_err err = builder->err;

	kr_public_begin(NULL, error);
	drop_builder(builder);
	if (!status)
		status = kr_history_finish(&h->history, &h->ctx, &err);
	if (status)
		kr_history_done(&h->history);
	else
		status = analyze(h, start, &options, &err);
	if (status) {
		drop_handle(h);
		return kr_public_fail(&err, status, error);
	}
	*out = h;
	return KRAIT_OK;
}

void krait_builder_free(krait_builder *builder)
{
	if (!builder)
		return;

	krait_history *h = builder->owned;

	drop_builder(builder);
	kr_history_done(&h->history);
	drop_handle(h);
}

/* ---- looking ---- */

uint32_t krait_history_transactions(const krait_history *history) { return history->history.txns.n; }
uint32_t krait_history_operations(const krait_history *history) { return history->history.ops.n; }

static size_t copy(const char *text, size_t length, char *out, size_t size)
{
	size_t kept = length < size ? length : size - (size > 0);

	if (size > 0) {
		memcpy(out, text, kept);
		out[kept] = '\0';
	}
	return length;
}

size_t krait_history_id(const krait_history *history, uint32_t t, char *out, size_t size)
{
	const struct kr_history *h = &history->history;
	char digits[24];

	if (size > 0)
		out[0] = '\0';
	if (t >= h->txns.n)
		return 0;
	const struct kr_value_entry *id = kr_history_value(h, h->txns.at[t].id);
	if (id->type == KR_VALUE_STRING)
		return copy(id->text, id->length, out, size);
	return copy(digits, (size_t)snprintf(digits, sizeof digits, "%lld", (long long)id->integer), out,
		size);
}

unsigned krait_history_line(const krait_history *history, uint32_t t)
{
	return t < history->history.txns.n ? history->history.txns.at[t].line : 0;
}
