/* Streams: the native reader with another sink than the history, whose arrays hold no more than the event
 * being told.
 *
 * Before each line what nobody kept of the lines before it is forgotten. Default ids of transactions count
 * transaction lines, as in a history. */
#include "frontend/stream.h"

#include "frontend/format.h"
#include "frontend/history_count.h"
#include "frontend/native.h"

struct kr_stream {
	struct kr_ctx *ctx;
	struct kr_history h;
	struct kr_native native;
	struct kr_sink own, sink;
	struct kr_err err;
	uint32_t keys; /* whose initial values are settled */
	bool whole;    /* h is all of the trace */
};

static enum kr_status take(void *data, const struct kr_event *event, struct kr_err *err)
{
	struct kr_stream *s = data;
	enum kr_status status = s->native.names.n > 0 ? kr_native_settle_keys(&s->native, s->keys) : KR_OK;

	s->keys = s->h.keys.n;
	return status ? status : s->sink.take(s->sink.data, event, err);
}

enum kr_status kr_stream_new(struct kr_ctx *ctx, const char *path, const struct kr_sink *sink,
	struct kr_stream **out)
{
	struct kr_stream *s = kr_mem_alloc(&ctx->mem, 1, sizeof *s);

	if (!s)
		return KR_NOMEM;
	*s = (struct kr_stream){.ctx = ctx, .sink = *sink};
	if (kr_history_init(&s->h, &ctx->mem)) {
		kr_mem_free(&ctx->mem, s, 1, sizeof *s);
		return KR_NOMEM;
	}
	kr_err_init(&s->err);
	kr_native_begin(&s->native, ctx, &s->h, &s->err);
	s->own = (struct kr_sink){s, take};
	s->h.sink = &s->own;
	if (kr_history_count(&s->h) || !kr_vec_push(&ctx->mem, &s->h.files, path)) {
		kr_stream_free(s);
		return KR_NOMEM;
	}
	*out = s;
	return KR_OK;
}

enum kr_status kr_stream_whole(struct kr_ctx *ctx, const char *path, const char *format,
	const struct kr_sink *sink, struct kr_stream **out, struct kr_err *err)
{
	struct kr_read_options options = {.format = format};
	struct kr_stream *s = kr_mem_alloc(&ctx->mem, 1, sizeof *s);

	if (!s)
		return KR_NOMEM;
	*s = (struct kr_stream){.ctx = ctx, .sink = *sink, .whole = true};

	enum kr_status status = kr_read_trace(ctx, path, &options, &s->h, err);

	if (status)
		kr_mem_free(&ctx->mem, s, 1, sizeof *s);
	else
		*out = s;
	return status;
}

void kr_stream_free(struct kr_stream *s)
{
	if (!s)
		return;
	if (!s->whole)
		kr_native_done(&s->native);
	kr_history_done(&s->h);
	kr_mem_free(&s->ctx->mem, s, 1, sizeof *s);
}

struct kr_history *kr_stream_history(struct kr_stream *s) { return &s->h; }

static void prepare(struct kr_stream *s, uint32_t line)
{
	kr_history_take_back(&s->h);
	kr_history_forget(&s->h);
	s->native.line = line;
}

static enum kr_status fail(const struct kr_stream *s, enum kr_status status, struct kr_err *err)
{
	if (status && s->err.status != KR_OK && err && err->status == KR_OK)
		*err = s->err;
	return status;
}

enum kr_status kr_stream_line(struct kr_stream *s, const char *text, size_t length, uint32_t line,
	struct kr_err *err)
{
	prepare(s, line);
	return fail(s, kr_native_copy_line(&s->native, text, length), err);
}

enum kr_status kr_stream_next(struct kr_stream *s, struct kr_source *source, bool *more, struct kr_err *err)
{
	char *line = NULL;
	size_t length;
	enum kr_status status = s->whole ? kr_event_tell(s->ctx, &s->h, &s->sink, err)
					 : kr_source_line(source, &line, &length, err);

	*more = !status && line;
	if (!*more)
		return status;
	prepare(s, kr_source_line_number(source));
	status = fail(s, kr_native_line(&s->native, line, length), err);
	return status ? status : kr_ctx_tick(s->ctx);
}

void kr_stream_keep(struct kr_stream *s, kr_value value) { kr_history_keep(&s->h, value); }
void kr_stream_release(struct kr_stream *s, kr_value value) { kr_history_release(&s->h, value); }
