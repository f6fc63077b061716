/* Bytes of a trace as a stream.
 *
 * One buffer holds what is decoded and not yet consumed; it is refilled in place and grows only when a
 * line (or the rest that is asked for as one block) does not fit, so that memory follows the longest line,
 * not the file. Input is compressed when it starts with the magic bytes of a way that unpack.c knows;
 * several members in a row are one stream, zero bytes after the last may be padding, anything else there
 * is an error, as is an end inside a member. A text may begin with a byte order mark, which nobody but
 * this module sees. Plain bytes are read to where they stay. */
#include "frontend/source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontend/unpack.h"

#define IN_SIZE ((size_t)1 << 16)
#define OUT_SIZE ((size_t)1 << 17)
#define HEAD_SIZE ((size_t)4096)
/* bytes that tell whether a mark is one: a binary number's; a pipe may bring no more for long */
#define MARK_REACH ((size_t)8)

enum coding { PLAIN, PACKED, BETWEEN /* members */ };

struct kr_source {
	struct kr_ctx *ctx;
	const char *path;
	int fd;             /* -1: `memory` */
	const char *memory; /* what is not read yet */
	size_t memory_left;
	enum coding coding;
	const struct kr_packing *packing; /* not PLAIN */
	struct kr_unpacker *unpacker;
	unsigned char *in; /* raw bytes [in_at, in_end) */
	size_t in_at, in_end;
	bool in_over; /* the file has ended */
	char *out;    /* decoded bytes [at, end); out_size + 1 bytes, for a terminator */
	size_t at, end, out_size;
	bool over;  /* no decoded bytes will follow */
	bool begun; /* text or bytes have been asked for: a mark is behind */
	uint64_t consumed, size;
	uint32_t line;
};

static enum kr_status fail(const struct kr_source *s, struct kr_err *err, const char *problem,
	const char *detail)
{
	kr_err_set(err, KR_BAD, "%s%s%s", problem, detail ? ": " : "", detail ? detail : "");
	kr_err_at(err, s->path, 0, 0);
	return KR_BAD;
}

static enum kr_status system_fail(const struct kr_source *s, struct kr_err *err, const char *problem)
{
	char text[128];

	if (strerror_r(errno, text, sizeof text) != 0)
		text[0] = '\0';
	return fail(s, err, problem, text);
}

/* ---- raw bytes ---- */

/* Reads raw bytes; sets in_over at the end. */
static enum kr_status read_raw(struct kr_source *s, void *out, size_t most, size_t *end, struct kr_err *err)
{
	ssize_t got;

	if (s->fd < 0) {
		got = (ssize_t)(s->memory_left < most ? s->memory_left : most);
		if (got > 0)
			memcpy(out, s->memory, (size_t)got);
		s->memory += got;
		s->memory_left -= (size_t)got;
	} else {
		do
			got = read(s->fd, out, most);
		while (got < 0 && errno == EINTR && kr_ctx_check(s->ctx) == KR_OK);
	}
	if (got < 0)
		return s->ctx->stopped ? s->ctx->stopped : system_fail(s, err, "cannot read");
	s->in_over = got == 0;
	*end += (size_t)got;
	s->consumed += (size_t)got;
	return KR_OK;
}

/* More of them behind those that are left. */
static enum kr_status read_in(struct kr_source *s, struct kr_err *err)
{
	if (s->in_at > 0) {
		memmove(s->in, s->in + s->in_at, s->in_end - s->in_at);
		s->in_end -= s->in_at;
		s->in_at = 0;
	}
	return read_raw(s, s->in + s->in_end, IN_SIZE - s->in_end, &s->in_end, err);
}

/* Tells compressed from plain by the first bytes. */
static enum kr_status start(struct kr_source *s, struct kr_err *err)
{
	while (s->in_end < KR_UNPACK_MAGIC && !s->in_over &&
		(s->in_end < 2 || kr_packing_may_be(s->in, s->in_end))) {
		KR_TRY(read_in(s, err));
	}
	s->packing = kr_packing_of(s->in, s->in_end);
	if (!s->packing)
		return KR_OK;
	s->unpacker = kr_unpacker_new(&s->ctx->mem, s->packing);
	s->coding = PACKED;
	return s->unpacker ? KR_OK : KR_NOMEM;
}

/* ---- decoded bytes ---- */

static enum kr_status fail_packed(const struct kr_source *s, struct kr_err *err, const char *what,
	const char *detail)
{
	char problem[64];

	snprintf(problem, sizeof problem, "%s %s data", what, kr_packing_name(s->packing));
	return fail(s, err, problem, detail);
}

static enum kr_status unpack_some(struct kr_source *s, struct kr_err *err)
{
	const unsigned char *in = s->in + s->in_at;
	unsigned char *out = (unsigned char *)s->out + s->end;
	size_t in_size = s->in_end - s->in_at, out_size = s->out_size - s->end;
	const char *why = NULL;
	enum kr_unpacked result = kr_unpack(s->unpacker, &in, &in_size, &out, &out_size, &why);

	s->in_at = s->in_end - in_size;
	s->end = s->out_size - out_size;
	if (result == KR_UNPACKED_ALL)
		s->coding = BETWEEN;
	else if (result == KR_UNPACKED_NOMEM)
		return KR_NOMEM;
	else if (result == KR_UNPACKED_BAD)
		return fail_packed(s, err, "damaged", why);
	return KR_OK;
}

/* Between members: zero bytes may be padding, the first other byte must begin a member. */
static enum kr_status next_member(struct kr_source *s, struct kr_err *err)
{
	unsigned char first;

	while (s->in_at < s->in_end && s->in[s->in_at] == 0 && kr_packing_is_padded(s->packing))
		s->in_at++;
	if (s->in_at == s->in_end)
		return KR_OK;
	first = s->in[s->in_at];
	if (!kr_packing_may_begin(s->packing, first))
		return fail_packed(s, err, "damaged",
			"other bytes follow its end, expected another member or nothing");
	s->coding = PACKED;
	return kr_unpack_again(s->unpacker) ? KR_OK : KR_NOMEM;
}

static enum kr_status decode(struct kr_source *s, struct kr_err *err)
{
	if (s->coding == PACKED)
		return unpack_some(s, err);
	if (s->coding == BETWEEN)
		return next_member(s, err);

	size_t room = s->out_size - s->end, left = s->in_end - s->in_at;
	size_t n = left < room ? left : room;

	memcpy(s->out + s->end, s->in + s->in_at, n);
	s->in_at += n;
	s->end += n;
	return KR_OK;
}

static enum kr_status make_room(struct kr_source *s)
{
	size_t used = s->end - s->at, doubled;

	if (s->end < s->out_size)
		return KR_OK;
	if (s->at > 0 && used <= s->out_size / 2) {
		memmove(s->out, s->out + s->at, used);
		s->at = 0;
		s->end = used;
		return KR_OK;
	}
	if (!kr_mul(s->out_size, 2, &doubled))
		return KR_NOMEM;

	char *grown = kr_mem_resize(&s->ctx->mem, s->out, s->out_size + 1, doubled + 1, 1);

	if (!grown)
		return KR_NOMEM;
	s->out = grown;
	s->out_size = doubled;
	return KR_OK;
}

/* At least one more decoded byte, or `over`. */
static enum kr_status fill(struct kr_source *s, struct kr_err *err)
{
	enum kr_status status = make_room(s);
	size_t before = s->end;

	while (!status && s->end == before && !s->over) {
		if ((status = kr_ctx_check(s->ctx)))
			break;
		/* an inflater may hold output back when it has no input left, so it is asked first */
		if ((status = decode(s, err)) || s->end != before || s->in_at < s->in_end)
			continue;
		if (!s->in_over && s->coding == PLAIN)
			status = read_raw(s, s->out + s->end, s->out_size - s->end, &s->end, err);
		else if (!s->in_over)
			status = read_in(s, err);
		else if (s->coding == PACKED)
			status = fail_packed(s, err, "truncated", "ends inside a member");
		else
			s->over = true;
	}
	return status;
}

/* Decodes until `size` bytes are there, or all. */
static enum kr_status fill_up(struct kr_source *s, size_t size, struct kr_err *err)
{
	while (s->end - s->at < size && !s->over)
		KR_TRY(fill(s, err));
	return KR_OK;
}

/* Before text is given out: passes over the UTF-8 byte order mark that it may begin with. What holds a NUL
 * byte is no text: there the three bytes are data. */
static enum kr_status begin_text(struct kr_source *s, struct kr_err *err)
{
	static const char mark[] = "\xef\xbb\xbf";
	const size_t length = sizeof mark - 1;

	if (s->begun)
		return KR_OK;
	KR_TRY(fill_up(s, length, err));
	if (s->end - s->at >= length && memcmp(s->out + s->at, mark, length) == 0) {
		KR_TRY(fill_up(s, MARK_REACH, err));
		s->at += memchr(s->out + s->at, '\0',
				 s->end - s->at < MARK_REACH ? s->end - s->at : MARK_REACH)
			? 0
			: length;
	}
	s->begun = true;
	return KR_OK;
}

/* ---- interface ---- */

static enum kr_status open_file(struct kr_source *s, struct kr_err *err)
{
	struct stat info;

	s->fd = strcmp(s->path, "-") == 0 ? STDIN_FILENO : open(s->path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (s->fd < 0)
		return system_fail(s, err, "cannot open");
	if (fstat(s->fd, &info) != 0)
		return system_fail(s, err, "cannot read");
	if (S_ISDIR(info.st_mode))
		return fail(s, err, "is a folder, expected a file", NULL);
	if (S_ISREG(info.st_mode))
		s->size = (uint64_t)info.st_size;
	return KR_OK;
}

/* With `status` of opening it; frees it on failure. */
static enum kr_status begin(struct kr_source *s, struct kr_ctx *ctx, enum kr_status status,
	struct kr_source **out, struct kr_err *err)
{
	if (!status) {
		s->in = kr_mem_alloc(&ctx->mem, IN_SIZE, 1);
		s->out = kr_mem_alloc(&ctx->mem, OUT_SIZE + 1, 1);
		s->out_size = OUT_SIZE;
		status = s->in && s->out ? start(s, err) : KR_NOMEM;
	}
	if (status) {
		kr_source_free(s);
		return status;
	}
	*out = s;
	return KR_OK;
}

enum kr_status kr_source_open(struct kr_ctx *ctx, const char *path, struct kr_source **out,
	struct kr_err *err)
{
	struct kr_source *s = kr_mem_alloc(&ctx->mem, 1, sizeof *s);

	if (!s)
		return KR_NOMEM;
	s->ctx = ctx;
	s->path = path;
	return begin(s, ctx, open_file(s, err), out, err);
}

enum kr_status kr_source_memory(struct kr_ctx *ctx, const char *name, const void *bytes, size_t length,
	struct kr_source **out, struct kr_err *err)
{
	struct kr_source *s = kr_mem_alloc(&ctx->mem, 1, sizeof *s);

	if (!s)
		return KR_NOMEM;
	*s = (struct kr_source){.ctx = ctx,
		.path = name,
		.fd = -1,
		.memory = bytes,
		.memory_left = length,
		.size = length};
	return begin(s, ctx, KR_OK, out, err);
}

void kr_source_free(struct kr_source *s)
{
	if (!s)
		return;

	struct kr_mem *mem = &s->ctx->mem;

	kr_unpacker_free(s->unpacker);
	if (s->fd > STDIN_FILENO)
		(void)close(s->fd);
	kr_mem_free(mem, s->in, IN_SIZE, 1);
	kr_mem_free(mem, s->out, s->out_size + 1, 1);
	kr_mem_free(mem, s, 1, sizeof *s);
}

enum kr_status kr_source_head(struct kr_source *s, const char **head, size_t *length, struct kr_err *err)
{
	KR_TRY(begin_text(s, err));
	KR_TRY(fill_up(s, HEAD_SIZE, err));
	*head = s->out + s->at;
	*length = s->end - s->at < HEAD_SIZE ? s->end - s->at : HEAD_SIZE;
	return KR_OK;
}

enum kr_status kr_source_line(struct kr_source *s, char **line, size_t *length, struct kr_err *err)
{
	size_t searched = 0; /* bytes behind `at` without a newline */
	char *newline;
	KR_TRY(begin_text(s, err));
	while (!(newline = memchr(s->out + s->at + searched, '\n', s->end - s->at - searched)) && !s->over) {
		searched = s->end - s->at;
		KR_TRY(fill(s, err));
	}
	if (!newline && s->at == s->end) {
		*line = NULL;
		*length = 0;
		return KR_OK;
	}

	char *from = s->out + s->at;
	char *to = newline ? newline : s->out + s->end;

	s->at = (size_t)(to - s->out) + (newline ? 1 : 0);
	s->line++;
	if (newline && to > from && to[-1] == '\r')
		to--;
	*to = '\0';
	*line = from;
	*length = (size_t)(to - from);
	return KR_OK;
}

bool kr_source_quiet(struct kr_source *s, int milliseconds)
{
	struct pollfd ready = {.fd = s->fd, .events = POLLIN};

	if (s->over || s->in_over || s->in_at < s->in_end || memchr(s->out + s->at, '\n', s->end - s->at))
		return false;
	return poll(&ready, 1, milliseconds) == 0;
}

uint32_t kr_source_line_number(const struct kr_source *s) { return s->line; }

enum kr_status kr_source_bytes(struct kr_source *s, void *out, size_t size, size_t *got, struct kr_err *err)
{
	size_t done = 0;

	s->begun = true;
	while (done < size) {
		size_t n = s->end - s->at < size - done ? s->end - s->at : size - done;
		memcpy((char *)out + done, s->out + s->at, n);
		s->at += n;
		done += n;
		if (done == size || s->over)
			break;
		if (s->at == s->end)
			s->at = s->end = 0;
		KR_TRY(fill(s, err));
	}
	*got = done;
	return KR_OK;
}

enum kr_status kr_source_peek(struct kr_source *s, size_t size, const unsigned char **bytes, size_t *length,
	struct kr_err *err)
{
	s->begun = true;
	if (s->at == s->end)
		s->at = s->end = 0;

	KR_TRY(fill_up(s, size, err));
	*bytes = (const unsigned char *)s->out + s->at;
	*length = s->end - s->at;
	return KR_OK;
}

void kr_source_skip(struct kr_source *s, size_t size) { s->at += size; }

enum kr_status kr_source_rest(struct kr_source *s, char **text, size_t *length, struct kr_err *err)
{
	KR_TRY(begin_text(s, err));

	while (!s->over)
		KR_TRY(fill(s, err));
	*text = s->out + s->at;
	*length = s->end - s->at;
	s->out[s->end] = '\0';
	s->at = s->end;
	return KR_OK;
}

uint64_t kr_source_read_so_far(const struct kr_source *s) { return s->consumed; }

uint64_t kr_source_size(const struct kr_source *s) { return s->size; }
