/* Sorting with data, and places of an index (order.h). O(n log n); O(groups). */
#include "base/order.h"

#include <string.h>

void kr_sort(void *at, size_t n, size_t size, int (*compare)(const void *, const void *))
{
	const char *elements = at;
	size_t sorted = 1;

	while (sorted < n && compare(elements + (sorted - 1) * size, elements + sorted * size) <= 0)
		sorted++;
	if (sorted < n)
		qsort(at, n, size, compare);
}

int kr_by_id(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return KR_ORDER(*x, *y);
}

void kr_sort_ids(uint32_t *ids, uint32_t *other, uint32_t n,
	int (*compare)(const void *data, uint32_t a, uint32_t b), const void *data)
{
	for (uint64_t width = 1; width < n; width *= 2) {
		for (uint64_t start = 0; start < n; start += 2 * width) {
			uint64_t middle = start + width < n ? start + width : n,
				 end = middle + width < n ? middle + width : n;
			for (uint64_t at = start, a = start, b = middle; at < end; at++) {
				bool first = a < middle && (b >= end || compare(data, ids[a], ids[b]) <= 0);
				other[at] = ids[first ? a++ : b++];
			}
		}
		memcpy(ids, other, n * sizeof *ids);
	}
}

void kr_index_places(uint32_t *first, uint32_t groups)
{
	for (uint32_t g = 1; g <= groups; g++)
		first[g + 1] += first[g];
}
