/* Accounted memory: every allocation of the pipeline goes through a struct kr_mem, which enforces --memory,
 * reports the peak, and lets tests make the n-th allocation fail.
 *
 * Blocks do not remember their size: the caller passes it back. That keeps accounting exact and headers out
 * of small blocks. */
#ifndef KR_BASE_MEM_H
#define KR_BASE_MEM_H

#include "base/base.h"

/* An allocator: gives a block of new_size bytes with what the old one held (NULL, 0: there is none), or NULL,
 * which leaves the old one as it was; new_size 0 frees it. */
typedef void *kr_allocate_fn(void *data, void *block, size_t old_size, size_t new_size);

struct kr_mem {
	size_t used;     /* bytes handed out now */
	size_t peak;     /* largest `used` so far */
	size_t limit;    /* SIZE_MAX: none */
	bool whole;      /* what the process has beside the account counts, too: */
	size_t outside;  /* that, in bytes, when it was last looked at */
	size_t floor;    /* the least that it has been: the program and its libraries */
	size_t look_at;  /* `used` at which to look next */
	size_t trimmed;  /* what the process had when its heap was last trimmed */
	uint64_t count;  /* allocations asked for so far */
	uint64_t fail_at; /* the allocation with this number (1-based) and all later ones fail; 0: none */
	kr_allocate_fn *allocate; /* NULL: the C library's */
	void *allocate_data;
};

void kr_mem_init(struct kr_mem *mem, size_t limit);

/* From now on the limit is that of the whole process: libraries, stacks, and gaps in the heap count. `base`:
 * what it had before any work (kr_resident); some 7 MiB. What it has now is beside a limit of less than four
 * times as much, else nothing would fit. 0, where the system does not say: nothing is different. For a
 * process that does nothing else. */
void kr_mem_count_process(struct kr_mem *mem, size_t base);

/* Bytes that still fit; SIZE_MAX without a limit. */
size_t kr_mem_left(struct kr_mem *mem);

/* Whether the process would be beyond the limit with as much more, even without what is free in its heap. */
bool kr_mem_is_over(struct kr_mem *mem, size_t more);

/* n * size zeroed bytes, or NULL (over the limit, overflow, or the machine has none). n * size == 0 gives a
 * non-NULL block of 0 bytes. */
void *kr_mem_alloc(struct kr_mem *mem, size_t n, size_t size);

/* Points `at` to n elements of its type; KR_NOMEM: to nothing. */
#define kr_mem_new(mem, at, n) (((at) = kr_mem_alloc((mem), (n), sizeof *(at))) ? KR_OK : KR_NOMEM)

/* Grows or shrinks a block of old_n * size bytes; new bytes are zero. On failure returns NULL and the old
 * block stays valid. p may be NULL. */
void *kr_mem_resize(struct kr_mem *mem, void *p, size_t old_n, size_t n, size_t size);

/* p may be NULL. */
void kr_mem_free(struct kr_mem *mem, void *p, size_t n, size_t size);

#endif
