/* Operations as the trace tells them (docs/formats/native.md). */
#ifndef KR_LAB_TELL_H
#define KR_LAB_TELL_H

#include <string.h>

#include "lab/driver.h"

/* Text into a buffer of fixed size. */
struct kr_line {
	char *at;
	size_t n, size;
	bool full;
};

void kr_line_add(struct kr_line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same without a format: what each operation needs. Inline, since most texts are of a known length. */
static inline void kr_line_bytes(struct kr_line *line, const char *text, size_t n)
{
	char *at = line->at + line->n;

	if (n >= line->size - line->n) {
		line->full = true;
		return;
	}
	memcpy(at, text, n);
	at[n] = '\0';
	line->n += n;
}
static inline void kr_line_put(struct kr_line *line, const char *text)
{
	kr_line_bytes(line, text, strlen(text));
}

void kr_line_natural(struct kr_line *line, uint64_t number);
void kr_line_pair(struct kr_line *line, const char *before, int64_t a, int64_t b); /* up to the "]" */
void kr_line_text(struct kr_line *line, const char *text);                         /* a JSON string */

/* An operation that was answered. */
void kr_tell_answered(struct kr_line *line, const struct kl_op *op, const struct kl_result *result);
/* One that was not: nothing if it only reads. */
void kr_tell_sent(struct kr_line *line, const struct kl_op *op);
/* One that was answered by an error; `ends`: so that the transaction is over. */
void kr_tell_failed(struct kr_line *line, const struct kl_op *op, const struct kl_result *result, bool ends);

#endif
