/* Arena: objects are cut from the front of zeroed blocks whose sizes double from 4 KiB to 1 MiB, so that a
 * small run stays small and a large one makes few calls. What does not leave room for four like it in a
 * largest block lies by itself, and the rest of the newest block stays in use: at most a quarter of a block
 * is lost. Text is packed without padding. */
#include "base/arena.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define ALIGN _Alignof(max_align_t)
#define BLOCK_MIN ((size_t)4096)
#define BLOCK_MAX ((size_t)1 << 20)
#define OWN_BLOCK (BLOCK_MAX / 4)

struct kr_arena_block {
	struct kr_arena_block *next;
	size_t size; /* of the whole block */
	_Alignas(max_align_t) char data[];
};

struct kr_arena_taken { /* in a block */
	struct kr_arena_taken *next;
	void *at;
	size_t size;
};

void kr_arena_init(struct kr_arena *arena, struct kr_mem *mem) { *arena = (struct kr_arena){.mem = mem}; }

void kr_arena_done(struct kr_arena *arena)
{
	struct kr_arena_block *next;

	for (const struct kr_arena_taken *taken = arena->taken; taken; taken = taken->next)
		kr_mem_free(arena->mem, taken->at, taken->size, 1);
	arena->taken = NULL;
	for (struct kr_arena_block *block = arena->blocks; block; block = next) {
		next = block->next;
		kr_mem_free(arena->mem, block, block->size, 1);
	}
	arena->blocks = NULL;
	arena->left = 0;
}

static struct kr_arena_block *new_block(struct kr_arena *arena, size_t size)
{
	struct kr_arena_block *block = kr_mem_alloc(arena->mem, size, 1);

	if (block)
		block->size = size;
	return block;
}

#ifdef KR_DEBUG_ARENA

/* Each object has a block, so that tools for memory see where it ends. */
static void *alloc_bytes(struct kr_arena *arena, size_t bytes, size_t align)
{
	size_t size;

	(void)align;
	if (!kr_add(bytes, sizeof(struct kr_arena_block), &size))
		return NULL;

	struct kr_arena_block *block = new_block(arena, size);

	if (!block)
		return NULL;
	block->next = arena->blocks;
	arena->blocks = block;
	return block->data;
}

#else

static bool add_block(struct kr_arena *arena, size_t bytes)
{
	size_t size = BLOCK_MIN;
	size_t newest = arena->blocks ? arena->blocks->size : 0;

	while (size < BLOCK_MAX && (size <= newest || size - sizeof(struct kr_arena_block) < bytes))
		size *= 2;

	struct kr_arena_block *block = new_block(arena, size);

	if (!block)
		return false;
	block->next = arena->blocks;
	arena->blocks = block;
	arena->left = size - sizeof *block;
	return true;
}

/* Nothing of it is touched here: where it is not used it takes no memory. */
static void *alloc_large(struct kr_arena *arena, size_t bytes)
{
	struct kr_arena_taken *taken = KR_NEW(arena, struct kr_arena_taken);
	void *at = taken ? kr_mem_alloc(arena->mem, bytes, 1) : NULL;

	if (!at)
		return NULL;
	*taken = (struct kr_arena_taken){arena->taken, at, bytes};
	arena->taken = taken;
	return at;
}

static void *alloc_bytes(struct kr_arena *arena, size_t bytes, size_t align)
{
	size_t left = arena->left & ~(align - 1);

	if (left == 0 || bytes > left) {
		if (bytes > OWN_BLOCK)
			return alloc_large(arena, bytes);
		if (!add_block(arena, bytes))
			return NULL;
		left = arena->left;
	}
	arena->left = left - bytes;
	return (char *)arena->blocks + arena->blocks->size - left;
}

#endif

void *kr_arena_alloc(struct kr_arena *arena, size_t n, size_t size)
{
	size_t bytes;

	return kr_mul(n, size, &bytes) ? alloc_bytes(arena, bytes, ALIGN) : NULL;
}

void *kr_arena_take_array(struct kr_arena *arena, void **at, uint32_t *n, uint32_t *cap, size_t size)
{
	struct kr_arena_taken *taken = KR_NEW(arena, struct kr_arena_taken);
	void *old; /* *at is a pointer to another type: moved as bytes, to keep to the aliasing rules */

	memcpy(&old, at, sizeof old);

	void *trimmed = taken ? kr_mem_resize(arena->mem, old, *cap, *n, size) : NULL;

	if (!trimmed)
		return NULL;
	*taken = (struct kr_arena_taken){arena->taken, trimmed, *n * size};
	arena->taken = taken;
	memset(at, 0, sizeof old);
	*n = *cap = 0;
	return trimmed;
}

char *kr_arena_text(struct kr_arena *arena, const char *text, size_t length)
{
	size_t bytes;
	char *copy = kr_add(length, 1, &bytes) ? alloc_bytes(arena, bytes, 1) : NULL;

	if (copy && length)
		memcpy(copy, text, length);
	return copy;
}

char *kr_arena_format(struct kr_arena *arena, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	int length = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (length < 0)
		return NULL;

	char *text = alloc_bytes(arena, (size_t)length + 1, 1);

	if (!text)
		return NULL;
	va_start(args, format);
	(void)vsnprintf(text, (size_t)length + 1, format, args);
	va_end(args);
	return text;
}
