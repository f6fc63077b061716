/* The one growth step behind every KR_VEC: capacity at least doubles, so that n pushes cost O(n). */
#include "base/vec.h"

#include <string.h>

bool kr_vec_grow(struct kr_mem *mem, void **at, uint32_t *cap, uint32_t n, uint32_t extra, size_t size)
{
	if (extra > UINT32_MAX - n)
		return false;

	uint32_t need = n + extra;

	if (need <= *cap)
		return true;

	uint32_t twice = *cap > UINT32_MAX / 2 ? UINT32_MAX : *cap * 2;
	uint32_t wanted = need > twice ? need : twice;

	if (wanted < 8)
		wanted = 8;

	/* *at is a pointer to another type: moved as bytes, to keep to the aliasing rules. */
	void *old;
	memcpy(&old, at, sizeof old);

	void *grown = kr_mem_resize(mem, old, *cap, wanted, size);

	if (!grown)
		return false;
	memcpy(at, &grown, sizeof grown);
	*cap = wanted;
	return true;
}
