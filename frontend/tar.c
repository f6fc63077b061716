/* An archive of a Jepsen test (tar, mostly .tar.gz): the first file in it that is called history.edn,
 * history.json or test.jepsen is read. A tar file is blocks of 512 bytes: a header that has the name at 0,
 * the size in octal at 124, the type at 156, a prefix of the name at 345 and "ustar" at 257, then the bytes.
 * Cost: one pass, and the history in memory. */
#include <string.h>

#include "frontend/foreign.h"

enum { BLOCK = 512, NAME = 100, SIZE_AT = 124, SIZE = 12, TYPE_AT = 156, MARK_AT = 257 };

static bool is_tar(const char *head, size_t length)
{
	return length >= BLOCK && memcmp(head + MARK_AT, "ustar", 5) == 0;
}

static uint64_t size_of(const char *header)
{
	uint64_t size = 0;

	for (int i = 0; i < SIZE; i++)
		if (header[SIZE_AT + i] >= '0' && header[SIZE_AT + i] <= '7')
			size = size * 8 + (uint64_t)(header[SIZE_AT + i] - '0');
	return size;
}

static bool is_history(const char *header)
{
	char name[NAME + 1];

	memcpy(name, header, NAME);
	name[NAME] = '\0';
	const char *base = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
	return (header[TYPE_AT] == '0' || header[TYPE_AT] == '\0') &&
		(strcmp(base, "history.edn") == 0 || strcmp(base, "history.json") == 0 ||
			strcmp(base, "test.jepsen") == 0);
}

static enum kr_status cut(struct kr_err *err)
{
	return kr_err_set(err, KR_BAD, "the tar archive is cut off, expected all of a file in it");
}

/* Passes over the bytes, or keeps them. */
static enum kr_status take(struct kr_source *source, uint64_t size, char *out, struct kr_err *err)
{
	char block[BLOCK];
	size_t got;

	while (size > 0) {
		size_t n = size < BLOCK ? (size_t)size : BLOCK;
		KR_TRY(kr_source_bytes(source, out ? out : block, n, &got, err));
		if (got < n)
			return cut(err);
		out += out ? n : 0;
		size -= n;
	}
	return KR_OK;
}

static enum kr_status read_member(struct kr_ctx *ctx, const char *path, struct kr_source *source,
	uint64_t size, struct kr_history *h, struct kr_err *err)
{
	extern const struct kr_format kr_format_elle;
	struct kr_source *inner;
	char *bytes;

	if (size > SIZE_MAX - 1 || !(bytes = kr_mem_alloc(&ctx->mem, (size_t)size + 1, 1)))
		return KR_NOMEM;
	enum kr_status status = take(source, size, bytes, err);
	if (!status)
		status = kr_source_memory(ctx, path, bytes, (size_t)size, &inner, err);
	if (!status) {
		status = kr_format_elle.read(ctx, path, inner, h, err);
		kr_source_free(inner);
	}
	kr_mem_free(&ctx->mem, bytes, (size_t)size + 1, 1);
	return status;
}

static enum kr_status read_tar(struct kr_ctx *ctx, const char *path, struct kr_source *source,
	struct kr_history *h, struct kr_err *err)
{
	char header[BLOCK];

	for (;;) {
		size_t got;
		enum kr_status status = kr_source_bytes(source, header, BLOCK, &got, err);

		if (!status)
			status = kr_ctx_check(ctx);
		if (status)
			return status;
		if (got > 0 && got < BLOCK)
			return cut(err);
		if (got == 0 || header[0] == '\0')
			return kr_err_set(err, KR_BAD,
				"is a tar archive without a history.edn or test.jepsen, expected one of a "
				"Jepsen test: unpack it, and name the trace in it");
		if (!is_tar(header, BLOCK))
			return kr_err_set(err, KR_BAD,
				"the tar archive is damaged, expected the header of a file");
		uint64_t size = size_of(header);
		if (is_history(header))
			return read_member(ctx, path, source, size, h, err);
		KR_TRY(take(source, (size + BLOCK - 1) / BLOCK * BLOCK, NULL, err));
	}
}

static int sniff(const char *path, const char *head, size_t length)
{
	(void)path;
	return is_tar(head, length) ? 99 : 0;
}

const struct kr_format kr_format_tar = {
	.name = "tar",
	.aliases = NULL,
	.title = "archive of a Jepsen test: the history in it",
	.source = "docs/formats/elle.md",
	.folder = false,
	.sniff = sniff,
	.read = read_tar,
};
