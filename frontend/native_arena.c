/* A bump allocator behind jansson's hooks: an allocation is an addition, freeing is nothing, and all is given back at once. What jansson frees in a thread that has entered no arena, or what lies
 * in no chunk of the arena entered, came from malloc. Chunks stay for the next line or batch. The thread's arena is thread-local because the hooks take no argument. */
#include "frontend/native_arena.h"

#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define CHUNK_BYTES ((size_t)1 << 18)
#define ALIGNMENT alignof(max_align_t)

struct kr_json_chunk {
	struct kr_json_chunk *next;
	size_t size;
	alignas(max_align_t) char at[];
};

static _Thread_local struct kr_json_arena *entered;

static struct kr_json_chunk *new_chunk(size_t size)
{
	struct kr_json_chunk *chunk = malloc(sizeof *chunk + size);

	if (chunk)
		*chunk = (struct kr_json_chunk){.next = NULL, .size = size};
	return chunk;
}

/* Moves on to a chunk with room for `size` bytes: the next one, or a new one behind the present one. */
static bool next_chunk(struct kr_json_arena *arena, size_t size)
{
	struct kr_json_chunk *next = arena->now ? arena->now->next : arena->first;

	if (!next || next->size < size) {
		size_t wanted = size > CHUNK_BYTES ? size : CHUNK_BYTES;
		bool fits = arena->most == 0 || (arena->size < arena->most && wanted <= arena->most - arena->size);
		struct kr_json_chunk *chunk = fits ? new_chunk(wanted) : NULL;

		if (!chunk)
			return false;
		arena->size += wanted;
		chunk->next = next;
		if (arena->now)
			arena->now->next = chunk;
		else
			arena->first = chunk;
		next = chunk;
	}
	arena->now = next;
	arena->used = 0;
	return true;
}

static void *take_of(struct kr_json_arena *arena, size_t size)
{
	if (size > SIZE_MAX / 2)
		return NULL;
	size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	if ((!arena->now || size > arena->now->size - arena->used) && !next_chunk(arena, size))
		return NULL;

	void *at = arena->now->at + arena->used;

	arena->used += size;
	return at;
}

static void *take(size_t size)
{
	void *at = entered ? take_of(entered, size) : malloc(size);

	if (entered && !at)
		entered->failed = true;
	return at;
}

static bool holds(const struct kr_json_chunk *chunk, const void *at)
{
	uintptr_t place = (uintptr_t)at, begin = (uintptr_t)chunk->at;

	return place >= begin && place - begin < chunk->size;
}

static void give(void *at)
{
	if (entered) {
		if (entered->now && holds(entered->now, at))
			return;
		for (const struct kr_json_chunk *chunk = entered->first; chunk; chunk = chunk->next)
			if (holds(chunk, at))
				return;
	}
	free(at);
}

void kr_json_arena_install(void) { json_set_alloc_funcs(take, give); }

bool kr_json_arena_enter(struct kr_json_arena *arena)
{
	json_malloc_t allocate;
	json_free_t release;

	json_get_alloc_funcs(&allocate, &release);
	if (allocate != take)
		return false;
	entered = arena;
	arena->failed = false;
	return true;
}

void kr_json_arena_leave(void) { entered = NULL; }

void kr_json_arena_reset(struct kr_json_arena *arena)
{
	arena->now = NULL;
	arena->used = 0;
}

void kr_json_arena_done(struct kr_json_arena *arena)
{
	while (arena->first) {
		struct kr_json_chunk *next = arena->first->next;

		free(arena->first);
		arena->first = next;
	}
	*arena = (struct kr_json_arena){0};
}
