/* Large blocks straight from the system, on huge pages where it has them. For base/mem.c alone. */
#ifndef KR_BASE_PAGES_H
#define KR_BASE_PAGES_H

#include "base/base.h"

/* A zeroed block, or NULL. Sizes are the caller's to remember, and never 0. */
void *kr_pages_take(size_t size);
/* The block with another size, perhaps elsewhere; what it grows by is zero. NULL: it is as it was. */
void *kr_pages_resize(void *block, size_t old_size, size_t size);
void kr_pages_give(void *block, size_t size);

#endif
