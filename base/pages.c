/* Large blocks straight from the system, on huge pages where it has them: each first touch of a small page
 * costs a fault (on virtual machines some microseconds for 4 KiB), and arrays of hundreds of megabytes that
 * are read at random places miss the processor's address cache at nearly every step. Only what begins at a
 * multiple of 2 MiB can lie on huge pages, so an address is sought that does, and kept when a block grows;
 * the end of a block that does not fill a huge page lies on small ones, so nothing is wasted. Elsewhere than
 * on Linux this is the C library's. */
#define _GNU_SOURCE /* mremap */
#include "base/pages.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __linux__

#include <sys/mman.h>
#include <unistd.h>

#define HUGE_PAGE ((size_t)1 << 21)

/* `size` in whole small pages */
static size_t whole(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (size + page - 1) / page * page;
}

/* Addresses for whole pages, with nothing there yet: room to align in is asked for, and given back. */
static char *reserve(size_t size)
{
	char *from = size < PTRDIFF_MAX
		? mmap(NULL, size + HUGE_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
		: MAP_FAILED;

	if (from == MAP_FAILED)
		return NULL;

	size_t before = -(uintptr_t)from & (HUGE_PAGE - 1), after = HUGE_PAGE - before;

	if (before > 0)
		munmap(from, before);
	munmap(from + before + size, after);
	return from + before;
}

void *kr_pages_take(size_t size)
{
	size = whole(size);

	char *block = reserve(size);

	if (!block)
		return NULL;
	if (mmap(block, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
		MAP_FAILED) {
		munmap(block, size);
		return NULL;
	}
	(void)madvise(block, size, MADV_HUGEPAGE); /* small pages will do */
	return block;
}

void *kr_pages_resize(void *block, size_t old_size, size_t size)
{
	size_t had = whole(old_size), wanted = whole(size);

	if (size > old_size) /* what shrinking has left of a page */
		memset((char *)block + old_size, 0, (size < had ? size : had) - old_size);
	if (wanted == had)
		return block;
	if (wanted < had)
		return mremap(block, had, wanted, 0) == MAP_FAILED ? NULL : block;

	char *moved = reserve(wanted);

	if (!moved)
		return NULL;
	if (mremap(block, had, wanted, MREMAP_MAYMOVE | MREMAP_FIXED, moved) == MAP_FAILED) {
		munmap(moved, wanted);
		return NULL;
	}
	return moved;
}

void kr_pages_give(void *block, size_t size) { munmap(block, whole(size)); }

#else

void *kr_pages_take(size_t size) { return calloc(size, 1); }

void *kr_pages_resize(void *block, size_t old_size, size_t size)
{
	char *moved = realloc(block, size);

	if (moved && size > old_size)
		memset(moved + old_size, 0, size - old_size);
	return moved;
}

void kr_pages_give(void *block, size_t size)
{
	(void)size;
	free(block);
}

#endif
