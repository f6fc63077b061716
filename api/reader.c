/* What formats of plug-ins may call (krait/reader.h). */
#include "krait/reader.h"

#include "api/handle.h"
#include "frontend/source.h"

enum kr_status krait_source_line(struct kr_source *source, char **line, size_t *length, struct kr_err *err)
{
	return kr_source_line(source, line, length, err);
}
uint32_t krait_source_line_number(const struct kr_source *source) { return kr_source_line_number(source); }
enum kr_status krait_source_rest(struct kr_source *source, char **text, size_t *length, struct kr_err *err)
{
	return kr_source_rest(source, text, length, err);
}
void krait_fail_at(struct kr_err *err, const char *path, uint32_t line) { kr_err_at(err, path, line, 0); }

enum kr_status krait_read_into(struct kr_ctx *ctx, struct kr_history *h, krait_builder **out,
	struct kr_err *err)
{
	struct kr_mem mem = ctx->mem; /* accounts apart: the block is small */

	(void)err;
	mem.used = mem.peak = 0;
	*out = kr_builder_new(mem, ctx, h);
	h->building = *out != NULL;
	return *out ? KR_OK : KR_NOMEM;
}

enum kr_status krait_read_done(krait_builder *builder, enum kr_status status, struct kr_err *err)
{
	if (!builder)
		return status;
	builder->h->building = false;
	if (!status) {
		status = kr_builder_end(builder);
		if (status && err && err->status == KR_OK)
			*err = builder->err;
	}
	kr_native_done(&builder->native);

	struct kr_mem mem = builder->self;

	kr_mem_free(&mem, builder, 1, sizeof *builder);
	return status;
}
