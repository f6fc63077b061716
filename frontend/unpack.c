/* Each way of compressing is a row of functions on its library's stream; what is not there at build time
 * has no row, and is then told by name (format.c). zlib, bzip2 and xz take their memory from the account;
 * zstd takes its own, which the limit of the process counts. */
#include "frontend/unpack.h"

#include <stddef.h>
#include <string.h>
#include <zlib.h>

#ifdef KR_ZSTD
#include <zstd.h>
#endif
#ifdef KR_LZMA
#include <lzma.h>
#endif
#ifdef KR_BZIP2
#include <bzlib.h>
#endif

struct kr_packing {
	const char *name, *magic;
	bool padded;
	bool (*begin)(struct kr_unpacker *u); /* false: no memory */
	void (*end)(struct kr_unpacker *u);
	enum kr_unpacked (*step)(struct kr_unpacker *u, const unsigned char **in, size_t *in_size,
		unsigned char **out, size_t *out_size, const char **why);
};

struct kr_unpacker {
	struct kr_mem *mem;
	const struct kr_packing *packing;
	z_stream z;
#ifdef KR_ZSTD
	ZSTD_DStream *zstd;
#endif
#ifdef KR_LZMA
	lzma_stream lzma;
	lzma_allocator allocator;
#endif
#ifdef KR_BZIP2
	bz_stream bzip2;
#endif
};

static unsigned limited(size_t size) { return size > UINT32_MAX ? UINT32_MAX : (unsigned)size; }

/* ---- the libraries' memory: blocks remember their size, which nobody tells when they are freed ---- */

struct block {
	_Alignas(max_align_t) size_t size;
};

static void *take(void *mem, size_t n, size_t size)
{
	size_t bytes;
	struct block *block = kr_mul(n, size, &bytes) && kr_add(bytes, sizeof *block, &bytes)
		? kr_mem_alloc(mem, bytes, 1)
		: NULL;

	if (!block)
		return NULL;
	block->size = bytes;
	return block + 1;
}

static void give(void *mem, void *p)
{
	struct block *block = p ? (struct block *)p - 1 : NULL;

	if (block)
		kr_mem_free(mem, block, block->size, 1);
}

/* ---- gzip ---- */

static voidpf z_take(voidpf mem, uInt n, uInt size) { return take(mem, n, size); }

static bool gzip_begin(struct kr_unpacker *u)
{
	u->z = (z_stream){.zalloc = z_take, .zfree = give, .opaque = u->mem};
	return inflateInit2(&u->z, 15 + 16) == Z_OK;
}

static void gzip_end(struct kr_unpacker *u) { (void)inflateEnd(&u->z); }

static enum kr_unpacked gzip_step(struct kr_unpacker *u, const unsigned char **in, size_t *in_size,
	unsigned char **out, size_t *out_size, const char **why)
{
	z_stream *z = &u->z;
	uInt given = limited(*in_size), room = limited(*out_size);

	z->next_in = (unsigned char *)(uintptr_t)*in; /* which zlib does not write */
	z->avail_in = given;
	z->next_out = *out;
	z->avail_out = room;

	int result = inflate(z, Z_NO_FLUSH);

	*in += given - z->avail_in;
	*in_size -= given - z->avail_in;
	*out += room - z->avail_out;
	*out_size -= room - z->avail_out;
	*why = z->msg ? z->msg : "expected no preset dictionary";
	return result == Z_STREAM_END                     ? KR_UNPACKED_ALL
		: result == Z_MEM_ERROR                   ? KR_UNPACKED_NOMEM
		: result == Z_OK || result == Z_BUF_ERROR ? KR_UNPACKED_SOME
							  : KR_UNPACKED_BAD;
}

/* ---- zstd ---- */

#ifdef KR_ZSTD
static bool zstd_begin(struct kr_unpacker *u) { return (u->zstd = ZSTD_createDStream()) != NULL; }
static void zstd_end(struct kr_unpacker *u) { (void)ZSTD_freeDStream(u->zstd); }

static enum kr_unpacked zstd_step(struct kr_unpacker *u, const unsigned char **in, size_t *in_size,
	unsigned char **out, size_t *out_size, const char **why)
{
	ZSTD_inBuffer from = {*in, *in_size, 0};
	ZSTD_outBuffer to = {*out, *out_size, 0};
	size_t left = ZSTD_decompressStream(u->zstd, &to, &from);

	*in += from.pos;
	*in_size -= from.pos;
	*out += to.pos;
	*out_size -= to.pos;
	if (!ZSTD_isError(left))
		return left == 0 ? KR_UNPACKED_ALL : KR_UNPACKED_SOME;
	*why = ZSTD_getErrorName(left);
	return strstr(*why, "memory") ? KR_UNPACKED_NOMEM : KR_UNPACKED_BAD;
}
#endif

/* ---- xz ---- */

#ifdef KR_LZMA
static bool xz_begin(struct kr_unpacker *u)
{
	u->allocator = (lzma_allocator){.alloc = take, .free = give, .opaque = u->mem};
	u->lzma = (lzma_stream)LZMA_STREAM_INIT;
	u->lzma.allocator = &u->allocator;
	return lzma_stream_decoder(&u->lzma, UINT64_MAX, 0) == LZMA_OK;
}

static void xz_end(struct kr_unpacker *u) { lzma_end(&u->lzma); }

static enum kr_unpacked xz_step(struct kr_unpacker *u, const unsigned char **in, size_t *in_size,
	unsigned char **out, size_t *out_size, const char **why)
{
	lzma_stream *s = &u->lzma;

	s->next_in = *in;
	s->avail_in = *in_size;
	s->next_out = *out;
	s->avail_out = *out_size;

	lzma_ret result = lzma_code(s, LZMA_RUN);

	*in = s->next_in;
	*in_size = s->avail_in;
	*out = s->next_out;
	*out_size = s->avail_out;
	*why = result == LZMA_OPTIONS_ERROR ? "compressed in a way that its library does not know" : NULL;
	return result == LZMA_STREAM_END                        ? KR_UNPACKED_ALL
		: result == LZMA_MEM_ERROR                      ? KR_UNPACKED_NOMEM
		: result == LZMA_OK || result == LZMA_BUF_ERROR ? KR_UNPACKED_SOME
								: KR_UNPACKED_BAD;
}
#endif

/* ---- bzip2 ---- */

#ifdef KR_BZIP2
static void *bzip2_take(void *mem, int n, int size) { return take(mem, (size_t)n, (size_t)size); }

static bool bzip2_begin(struct kr_unpacker *u)
{
	u->bzip2 = (bz_stream){.bzalloc = bzip2_take, .bzfree = give, .opaque = u->mem};
	return BZ2_bzDecompressInit(&u->bzip2, 0, 0) == BZ_OK;
}

static void bzip2_end(struct kr_unpacker *u) { (void)BZ2_bzDecompressEnd(&u->bzip2); }

static enum kr_unpacked bzip2_step(struct kr_unpacker *u, const unsigned char **in, size_t *in_size,
	unsigned char **out, size_t *out_size, const char **why)
{
	bz_stream *b = &u->bzip2;
	unsigned given = limited(*in_size), room = limited(*out_size);

	b->next_in = (char *)(uintptr_t)*in; /* which it does not write */
	b->avail_in = given;
	b->next_out = (char *)*out;
	b->avail_out = room;

	int result = BZ2_bzDecompress(b);

	*in += given - b->avail_in;
	*in_size -= given - b->avail_in;
	*out += room - b->avail_out;
	*out_size -= room - b->avail_out;
	*why = NULL;
	return result == BZ_STREAM_END   ? KR_UNPACKED_ALL
		: result == BZ_MEM_ERROR ? KR_UNPACKED_NOMEM
		: result == BZ_OK        ? KR_UNPACKED_SOME
					 : KR_UNPACKED_BAD;
}
#endif

/* ---- interface ---- */

static const struct kr_packing packings[] = {
	{"gzip", "\x1f\x8b", true, gzip_begin, gzip_end, gzip_step},
#ifdef KR_ZSTD
	{"zstd", "\x28\xb5\x2f\xfd", false, zstd_begin, zstd_end, zstd_step},
#endif
#ifdef KR_LZMA
	{"xz", "\3757zXZ", true, xz_begin, xz_end, xz_step},
#endif
#ifdef KR_BZIP2
	{"bzip2", "BZh", false, bzip2_begin, bzip2_end, bzip2_step},
#endif
};

const struct kr_packing *kr_packing_of(const unsigned char *head, size_t length)
{
	for (size_t i = 0; i < KR_COUNT(packings); i++) {
		size_t n = strlen(packings[i].magic);

		if (length >= n && memcmp(head, packings[i].magic, n) == 0)
			return &packings[i];
	}
	return NULL;
}

bool kr_packing_may_be(const unsigned char *head, size_t length)
{
	for (size_t i = 0; i < KR_COUNT(packings); i++)
		if (length < strlen(packings[i].magic) && memcmp(head, packings[i].magic, length) == 0)
			return true;
	return false;
}

bool kr_packing_may_begin(const struct kr_packing *packing, unsigned char first)
{
	return first == (unsigned char)packing->magic[0];
}

const struct kr_packing *kr_packing_named(const char *name)
{
	for (size_t i = 0; i < KR_COUNT(packings); i++)
		if (strcmp(name, packings[i].name) == 0)
			return &packings[i];
	return NULL;
}

const char *kr_packing_name(const struct kr_packing *packing) { return packing->name; }
bool kr_packing_is_padded(const struct kr_packing *packing) { return packing->padded; }

struct kr_unpacker *kr_unpacker_new(struct kr_mem *mem, const struct kr_packing *packing)
{
	struct kr_unpacker *u = kr_mem_alloc(mem, 1, sizeof *u);

	if (!u)
		return NULL;
	u->mem = mem;
	u->packing = packing;
	if (packing->begin(u))
		return u;
	kr_mem_free(mem, u, 1, sizeof *u);
	return NULL;
}

void kr_unpacker_free(struct kr_unpacker *u)
{
	if (!u)
		return;
	u->packing->end(u);
	kr_mem_free(u->mem, u, 1, sizeof *u);
}

enum kr_unpacked kr_unpack(struct kr_unpacker *u, const unsigned char **in, size_t *in_size,
	unsigned char **out, size_t *out_size, const char **why)
{
	return u->packing->step(u, in, in_size, out, out_size, why);
}

bool kr_unpack_again(struct kr_unpacker *u)
{
	u->packing->end(u);
	return u->packing->begin(u);
}
