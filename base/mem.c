/* Accounted memory over malloc, and over pages of its own for what is large. A request is refused before it
 * is made when it overflows, passes the limit, or is the one that a test wants to fail; the account changes
 * only after the machine said yes, so a failure leaves everything as it was. Not for use by two threads at
 * once.
 *
 * Where the limit is that of the process, what it has beside the account is looked at whenever the account
 * has grown by a step, and before a request of a step or more. A block in the account that was not touched
 * yet is not resident, so what is outside is underestimated then; kr_ctx_check, which looks from time to
 * time, sees the rest. */
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#include "base/pages.h"
#include "base/resident.h"

#ifdef KR_DEBUG_ARENA
#define LARGE SIZE_MAX /* sanitizers watch malloc */
#else
#define LARGE ((size_t)1 << 21)
#endif

#define STEPS 64 /* of the limit, from one look to the next */

void kr_mem_init(struct kr_mem *mem, size_t limit) { *mem = (struct kr_mem){.limit = limit}; }

/* ---- the process ---- */

static size_t step(const struct kr_mem *mem) { return mem->limit / STEPS; }

static void look(struct kr_mem *mem)
{
	size_t resident = kr_resident();

	mem->outside =
		resident > mem->used && resident - mem->used > mem->floor ? resident - mem->used : mem->floor;
	mem->look_at = mem->used + step(mem);
}

void kr_mem_count_process(struct kr_mem *mem, size_t base)
{
	if (mem->limit == SIZE_MAX || base == 0)
		return;
	mem->whole = true;
	mem->floor = mem->outside = base;
	if (mem->limit / 4 < base) {
		kr_resident_trim();
		mem->floor = mem->outside = kr_resident();
		mem->limit += mem->floor;
	}
}

/* Gives back what is free in the heap, if much can have become free since that was last done. */
static bool trim(struct kr_mem *mem, size_t resident)
{
	if (resident < mem->trimmed + step(mem))
		return false;
	kr_resident_trim();
	mem->trimmed = kr_resident();
	return true;
}

bool kr_mem_is_over(struct kr_mem *mem, size_t more)
{
	size_t most = more < mem->limit ? mem->limit - more : 0, resident = mem->whole ? kr_resident() : 0;

	if (!mem->whole || resident <= most)
		return false;
	return !trim(mem, resident) || mem->trimmed > most;
}

static bool is_within(const struct kr_mem *mem, size_t more)
{
	size_t had = mem->used + mem->outside;

	return had <= mem->limit && more <= mem->limit - had;
}

/* Whether `more` bytes fit beside what the process has. */
static bool fits(struct kr_mem *mem, size_t more)
{
	if (more >= step(mem) || mem->used + more >= mem->look_at)
		look(mem);
	if (is_within(mem, more))
		return true;
	if (!trim(mem, mem->used + mem->outside))
		return false;
	look(mem);
	return is_within(mem, more);
}

size_t kr_mem_left(struct kr_mem *mem)
{
	size_t had = mem->used;

	if (mem->limit == SIZE_MAX)
		return SIZE_MAX;
	if (mem->whole) {
		look(mem);
		had += mem->outside;
	}
	return had < mem->limit ? mem->limit - had : 0;
}

/* ---- requests ---- */

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
	if (mem->used > mem->limit || bytes - old_bytes > mem->limit - mem->used)
		return false;
	/* what is small moves by copying */
	return !mem->whole || fits(mem, old_bytes < LARGE ? bytes : bytes - old_bytes);
}

static void account(struct kr_mem *mem, size_t old_bytes, size_t bytes)
{
	mem->used = mem->used - old_bytes + bytes;
	if (mem->used > mem->peak)
		mem->peak = mem->used;
	if (mem->look_at > mem->used + step(mem))
		mem->look_at = mem->used + step(mem);
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
	account(mem, n * size, 0);
}
