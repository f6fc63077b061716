/* The program's heap, on huge pages where the system has them (why: base/pages.c, which does the same for
 * blocks larger than those here). The C library asks the system for its heap bit by bit, and for blocks of
 * some size one by one; each page of them then costs a fault, which was a third of the time of a small trace.
 * Here the heap gets addresses for 64 MiB at once; memory comes with use. A trace that needs more of it goes
 * on as usual. With another C library nothing is done. */
#define _DEFAULT_SOURCE /* sbrk, madvise */
#include "cli/heap.h"

#include <stdint.h>
#include <stdlib.h>

#ifdef __GLIBC__

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	HEAP = 64 << 20,
	STEP = 1 << 20,
	OWN_MAPPING = 8 << 20 /* more than what base/mem.c leaves to the heap */,
	HUGE_PAGE = 2 << 20
};

void kr_heap_prepare(void)
{
	char *from = sbrk(0);

	if (!mallopt(M_MMAP_THRESHOLD, OWN_MAPPING) || !mallopt(M_TRIM_THRESHOLD, 2 * HEAP) ||
		!mallopt(M_TOP_PAD, HEAP))
		return;

	void *volatile first = malloc(STEP); /* volatile: a compiler may drop the two calls */

	free(first);
	(void)mallopt(M_TOP_PAD, STEP);

	char *end = sbrk(0);
	uintptr_t before = -(uintptr_t)from & (HUGE_PAGE - 1);

	if (end > from && (uintptr_t)(end - from) > before)
		/* small pages will do */
		(void)madvise(from + before, (size_t)(end - from) - before, MADV_HUGEPAGE);
}

#else

void kr_heap_prepare(void) {}

#endif
