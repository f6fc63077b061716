/* Accounted memory over malloc, and over pages of its own for what is large. A request is refused before it is made when it overflows, passes the limit, or is the one that a test wants
 * to fail; the account changes only after the machine said yes, so a failure leaves everything as it was. Not for use by two threads at once. */
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#include "base/pages.h"

#ifdef KR_DEBUG_ARENA
#define LARGE SIZE_MAX /* sanitizers watch malloc */
#else
#define LARGE ((size_t)1 << 22)
#endif

void kr_mem_init(struct kr_mem *mem, size_t limit) { *mem = (struct kr_mem){.limit = limit}; }

/* Whether a block of old_bytes may become one of `bytes`. */
static bool admit(struct kr_mem *mem, size_t old_bytes, size_t bytes)
{
	mem->count++;
	if (mem->fail_at != 0 && mem->count >= mem->fail_at)
		return false;
	if (bytes > PTRDIFF_MAX)
		return false;
	if (bytes <= old_bytes)
		return true;
	return mem->used <= mem->limit && bytes - old_bytes <= mem->limit - mem->used;
}

static void account(struct kr_mem *mem, size_t old_bytes, size_t bytes)
{
	mem->used = mem->used - old_bytes + bytes;
	if (mem->used > mem->peak)
		mem->peak = mem->used;
}

/* The product, or SIZE_MAX, which admit refuses. */
static size_t bytes_of(size_t n, size_t size)
{
	size_t bytes;

	return kr_mul(n, size, &bytes) ? bytes : SIZE_MAX;
}

/* Blocks are never empty, so that each has an address of its own. */
static size_t block_size(size_t bytes) { return bytes ? bytes : 1; }

/* ---- blocks, not yet accounted ---- */

static void *take(struct kr_mem *mem, size_t size)
{
	if (!mem->allocate)
		return size < LARGE ? calloc(size, 1) : kr_pages_take(size);

	void *p = mem->allocate(mem->allocate_data, NULL, 0, size);

	if (p)
		memset(p, 0, size);
	return p;
}

static void give(struct kr_mem *mem, void *p, size_t size)
{
	if (mem->allocate)
		(void)mem->allocate(mem->allocate_data, p, size, 0);
	else if (size < LARGE)
		free(p);
	else
		kr_pages_give(p, size);
}

/* Between the two kinds of blocks. */
static void *move(struct kr_mem *mem, void *p, size_t old_size, size_t size)
{
	void *moved = take(mem, size);

	if (!moved)
		return NULL;
	memcpy(moved, p, old_size < size ? old_size : size);
	give(mem, p, old_size);
	return moved;
}

static void *resize(struct kr_mem *mem, void *p, size_t old_bytes, size_t bytes)
{
	size_t old_size = block_size(old_bytes), size = block_size(bytes);

	if (!mem->allocate && old_size >= LARGE && size >= LARGE)
		return kr_pages_resize(p, old_size, size);
	if (!mem->allocate && (old_size >= LARGE || size >= LARGE))
		return move(mem, p, old_size, size);

	char *moved = mem->allocate ? mem->allocate(mem->allocate_data, p, old_size, size) : realloc(p, size);

	if (moved && bytes > old_bytes)
		memset(moved + old_bytes, 0, bytes - old_bytes);
	return moved;
}

/* ---- accounted ---- */

void *kr_mem_alloc(struct kr_mem *mem, size_t n, size_t size)
{
	size_t bytes = bytes_of(n, size);

	if (!admit(mem, 0, bytes))
		return NULL;

	void *p = take(mem, block_size(bytes));

	if (p)
		account(mem, 0, bytes);
	return p;
}

void *kr_mem_resize(struct kr_mem *mem, void *p, size_t old_n, size_t n, size_t size)
{
	if (!p)
		return kr_mem_alloc(mem, n, size);

	size_t old_bytes = old_n * size;
	size_t bytes = bytes_of(n, size);

	if (!admit(mem, old_bytes, bytes))
		return NULL;

	void *moved = resize(mem, p, old_bytes, bytes);

	if (moved)
		account(mem, old_bytes, bytes);
	return moved;
}

void kr_mem_free(struct kr_mem *mem, void *p, size_t n, size_t size)
{
	if (!p)
		return;
	give(mem, p, block_size(n * size));
	mem->used -= n * size;
}
