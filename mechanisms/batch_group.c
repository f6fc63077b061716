/* Grouping by counting; and locks and writers by their objects, so that only what may meet is compared. */
#include <string.h>

#include "base/order.h"
#include "mechanisms/batch.h"

void kr_grouped_done(struct kr_mem *mem, struct kr_grouped *grouped)
{
	kr_vec_done(mem, &grouped->first);
	kr_vec_done(mem, &grouped->at);
}

bool kr_group(struct kr_mem *mem, struct kr_grouped *out, const uint32_t *of, uint32_t n, uint32_t groups)
{
	if (!kr_vec_reserve(mem, &out->first, groups + 2) || !kr_vec_reserve(mem, &out->at, n))
		return false;

	uint32_t *first = out->first.at;

	memset(first, 0, ((size_t)groups + 2) * sizeof *first);
	for (uint32_t i = 0; i < n; i++)
		if (of[i] != KR_NONE)
			first[of[i] + 2]++;
	kr_index_places(first, groups);
	for (uint32_t i = 0; i < n; i++)
		if (of[i] != KR_NONE)
			out->at.at[first[of[i] + 1]++] = i;
	out->first.n = groups + 1;
	out->at.n = first[groups];
	return true;
}

void kr_group_most(const struct kr_grouped *grouped, int64_t *at)
{
	for (uint32_t g = 0; g + 1 < grouped->first.n; g++)
		for (uint32_t i = grouped->first.at[g] + 1; i < grouped->first.at[g + 1]; i++)
			at[i] = at[i] > at[i - 1] ? at[i] : at[i - 1];
}

uint32_t kr_first_above(const int64_t *at, uint32_t low, uint32_t high, int64_t bound)
{
	KR_BISECT(low, low, high, at[low] <= bound);
	return low;
}

enum kr_status kr_batch_group(struct kr_batch *b)
{
	uint32_t n = b->holds.n > b->writers.n ? b->holds.n : b->writers.n, objects = b->h->keys.n;
	uint32_t *of = kr_mem_alloc(b->mem, n, sizeof *of);
	bool good = of != NULL;

	for (uint32_t i = 0; i < b->holds.n && good; i++)
		of[i] = b->holds.at[i].object;
	good = good && kr_group(b->mem, &b->holds_of, of, b->holds.n, objects);
	for (uint32_t i = 0; i < b->writers.n && good; i++)
		of[i] = b->writers.at[i].object;
	good = good && kr_group(b->mem, &b->writers_of, of, b->writers.n, objects);
	for (uint32_t i = 0; i < b->writers.n && good; i++)
		of[i] = b->writers.at[i].deletes ? of[i] : KR_NONE;
	good = good && kr_group(b->mem, &b->deleters_of, of, b->writers.n, objects);
	kr_mem_free(b->mem, of, n, sizeof *of);
	return good ? KR_OK : KR_NOMEM;
}
