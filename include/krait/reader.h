/* Reading traces in formats of plug-ins: the bytes of the file, and where the history goes.
 *
 *     static enum kr_status read(struct kr_ctx *ctx, const char *path, struct kr_source *source, struct
 *     kr_history *h, struct kr_err *err) {
 *             krait_builder *b; enum kr_status status = krait_read_into(ctx, h, &b, err); ...
 *             krait_source_line, krait_build_begin, krait_build_op, krait_build_end ... return
 *             krait_read_done(b, status, err);
 *     } */
#ifndef KRAIT_READER_H
#define KRAIT_READER_H

#include "krait/build.h"
#include "krait/module.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Lines, and the rest, are text: a UTF-8 byte order mark that it begins with is not among them. The next line
 * without its newline, terminated, valid until the next call; *line NULL at the end. KR_BAD: a read error or
 * damaged compression, recorded in err. */
KRAIT_EXPORT enum kr_status krait_source_line(struct kr_source *source, char **line, size_t *length,
	struct kr_err *err);
/* of the last line given, from 1 */
KRAIT_EXPORT uint32_t krait_source_line_number(const struct kr_source *source);

/* All that is left, in one terminated block, valid as long as the source is. */
KRAIT_EXPORT enum kr_status krait_source_rest(struct kr_source *source, char **text, size_t *length,
	struct kr_err *err);

/* Adds file and line to the error that was recorded, unless it has a place already. */
KRAIT_EXPORT void krait_fail_at(struct kr_err *err, const char *path, uint32_t line);

/* A builder that fills the history. Where what is bad is to be left out (`--lenient`), a transaction whose
 * building fails is, and counted. One builder for a history at a time; krait_read_done must be called for it,
 * also when reading fails. KR_NOMEM. */
KRAIT_EXPORT enum kr_status krait_read_into(struct kr_ctx *ctx, struct kr_history *h, krait_builder **out,
	struct kr_err *err);

/* Frees the builder (NULL: nothing to do). Gives `status` if that is not KR_OK, else the builder's failure,
 * recorded in err, or KR_OK. */
KRAIT_EXPORT enum kr_status krait_read_done(krait_builder *builder, enum kr_status status,
	struct kr_err *err);

#ifdef __cplusplus
}
#endif

#endif
