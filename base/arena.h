/* Arena: many small allocations freed together. With KR_DEBUG_ARENA each object is a malloc block of its own,
 * so that the address sanitizer sees its bounds. */
#ifndef KR_BASE_ARENA_H
#define KR_BASE_ARENA_H

#include "base/mem.h"

struct kr_arena_block;
struct kr_arena_taken;

struct kr_arena {
	struct kr_mem *mem;
	struct kr_arena_block *blocks; /* newest first */
	size_t left;                   /* bytes free in the newest block */
	struct kr_arena_taken *taken;  /* newest first */
};

void kr_arena_init(struct kr_arena *arena, struct kr_mem *mem);
/* frees everything; safe on an initialised, empty or done arena */
void kr_arena_done(struct kr_arena *arena);

/* n * size zeroed bytes aligned for any type, or NULL. */
void *kr_arena_alloc(struct kr_arena *arena, size_t n, size_t size);

/* A terminated copy of `length` bytes, or NULL. The copy may contain NUL bytes. */
char *kr_arena_text(struct kr_arena *arena, const char *text, size_t length);

/* printf into the arena, or NULL. */
char *kr_arena_format(struct kr_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Takes over the elements of a vector (base/vec.h) of the same struct kr_mem, without copying what is
 * large: trims them, empties the vector and returns them. NULL, and the vector is as it was, when memory runs
 * out. */
#define kr_arena_take(arena, v) \
	kr_arena_take_array((arena), (void **)&(v)->at, &(v)->n, &(v)->cap, sizeof *(v)->at)
void *kr_arena_take_array(struct kr_arena *arena, void **at, uint32_t *n, uint32_t *cap, size_t size);

#define KR_NEW(arena, type) ((type *)kr_arena_alloc((arena), 1, sizeof(type)))
/* Points `at` to n elements of its type; KR_NOMEM: to nothing. */
#define kr_arena_new(arena, at, n) (((at) = kr_arena_alloc((arena), (n), sizeof *(at))) ? KR_OK : KR_NOMEM)
#define KR_NEW_ARRAY(arena, type, n) ((type *)kr_arena_alloc((arena), (n), sizeof(type)))

#endif
