/* An archive of a Jepsen test (tar, mostly .tar.gz): the first file in it that is called history.edn,
 * history.json or test.jepsen is read; another one, in another folder, would be another test. A tar file is
 * blocks of 512 bytes: a header that has the name at 0, the size in octal at 124, the type at 156, a prefix
 * of the name at 345 and "ustar" at 257, then the bytes. A longer name stands in a member of its own before:
 * of type L (GNU) as it is, of type x (pax) as a line "LENGTH path=NAME". Cost: one pass, and the history in
 * memory. */
#include <stdio.h>
#include <string.h>

#include "frontend/foreign.h"

enum {
	BLOCK = 512,
	NAME = 100,
	SIZE_AT = 124,
	SIZE = 12,
	TYPE_AT = 156,
	MARK_AT = 257,
	PREFIX_AT = 345,
	PREFIX = 155,
	LONG_NAME = 4096
};

struct tar {
	struct kr_ctx *ctx;
	const char *path;
	struct kr_source *source;
	struct kr_history *h;
	struct kr_err *err;
	char header[BLOCK];
	char name[LONG_NAME]; /* of the member */
	bool named;           /* by a member of its own */
	char test[LONG_NAME]; /* the folder whose history was read */
	bool found;
};

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

/* Of the header, unless it stands before. */
static void take_name(struct tar *t)
{
	if (!t->named)
		snprintf(t->name, sizeof t->name, "%.*s%s%.*s", PREFIX, t->header + PREFIX_AT,
			t->header[PREFIX_AT] ? "/" : "", NAME, t->header);
	t->named = false;
}

static const char *base_of(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash ? slash + 1 : name;
}

static bool is_history(const struct tar *t)
{
	const char *base = base_of(t->name), type = t->header[TYPE_AT];

	return (type == '0' || type == '\0') &&
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

static enum kr_status pass_over(struct tar *t, uint64_t size)
{
	return take(t->source, (size + BLOCK - 1) / BLOCK * BLOCK, NULL, t->err);
}

/* The name of the member that follows. */
static enum kr_status read_name(struct tar *t, uint64_t size)
{
	const char *path;
	uint64_t all = (size + BLOCK - 1) / BLOCK * BLOCK;

	if (all >= sizeof t->name)
		return pass_over(t, size);
	KR_TRY(take(t->source, all, t->name, t->err));
	t->name[size] = '\0';
	if (t->header[TYPE_AT] == 'L') {
		t->named = true;
	} else if ((path = strstr(t->name, " path=")) != NULL) {
		memmove(t->name, path + strlen(" path="), strlen(path + strlen(" path=")) + 1);
		t->name[strcspn(t->name, "\n")] = '\0';
		t->named = true;
	}
	return KR_OK;
}

static enum kr_status read_member(struct tar *t, uint64_t size)
{
	extern const struct kr_format kr_format_elle;
	struct kr_mem *mem = &t->ctx->mem;
	struct kr_source *inner;
	char *bytes;

	if (size > SIZE_MAX - 1 || !(bytes = kr_mem_alloc(mem, (size_t)size + 1, 1)))
		return KR_NOMEM;
	enum kr_status status = take(t->source, size, bytes, t->err);
	if (!status)
		status = kr_source_memory(t->ctx, t->path, bytes, (size_t)size, &inner, t->err);
	if (!status) {
		status = kr_format_elle.read(t->ctx, t->path, inner, t->h, t->err);
		kr_source_free(inner);
	}
	kr_mem_free(mem, bytes, (size_t)size + 1, 1);
	return status ? status : take(t->source, (BLOCK - size % BLOCK) % BLOCK, NULL, t->err);
}

/* The first one is read; the same test's in another form is passed over. */
static enum kr_status take_history(struct tar *t, uint64_t size)
{
	size_t folder = (size_t)(base_of(t->name) - t->name);

	if (t->found && (strlen(t->test) != folder || strncmp(t->test, t->name, folder) != 0))
		return kr_err_set(t->err, KR_BAD,
			"is a tar archive of several tests, in '%.80s' and '%.*s', expected one: unpack it, "
			"and name the trace in it",
			t->test, (int)(folder < 80 ? folder : 80), t->name);
	if (t->found)
		return pass_over(t, size);
	t->found = true;
	memcpy(t->test, t->name, folder);
	t->test[folder] = '\0';
	return read_member(t, size);
}

static enum kr_status read_next(struct tar *t)
{
	uint64_t size = size_of(t->header);
	char type = t->header[TYPE_AT];

	if (type == 'L' || type == 'x')
		return read_name(t, size);
	take_name(t);
	return is_history(t) ? take_history(t, size) : pass_over(t, size);
}

static enum kr_status read_members(struct tar *t)
{
	for (;;) {
		size_t got;

		KR_TRY(kr_source_bytes(t->source, t->header, BLOCK, &got, t->err));
		KR_TRY(kr_ctx_check(t->ctx));
		if (got > 0 && got < BLOCK)
			return cut(t->err);
		if ((got == 0 || t->header[0] == '\0') && t->found)
			return KR_OK;
		if (got == 0 || t->header[0] == '\0')
			return kr_err_set(t->err, KR_BAD,
				"is a tar archive without a history.edn or test.jepsen, expected one of a "
				"Jepsen test: unpack it, and name the trace in it");
		if (!is_tar(t->header, BLOCK))
			return kr_err_set(t->err, KR_BAD,
				"the tar archive is damaged, expected the header of a file");
		KR_TRY(read_next(t));
	}
}

static enum kr_status read_tar(struct kr_ctx *ctx, const char *path, struct kr_source *source,
	struct kr_history *h, struct kr_err *err)
{
	struct tar *t = kr_mem_alloc(&ctx->mem, 1, sizeof *t);

	if (!t)
		return KR_NOMEM;
	*t = (struct tar){.ctx = ctx, .path = path, .source = source, .h = h, .err = err};

	enum kr_status status = read_members(t);

	kr_mem_free(&ctx->mem, t, 1, sizeof *t);
	return status;
}

static int sniff(const char *path, const char *head, size_t length)
{
	(void)path;
	return is_tar(head, length) ? 99 : 0;
}

const struct kr_format kr_format_tar = {
	.name = "tar",
	.title = "archive of a Jepsen test: the history in it",
	.source = "docs/formats/elle.md",
	.sniff = sniff,
	.read = read_tar,
};
