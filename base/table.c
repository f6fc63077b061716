/* Open addressing with linear probing over a power of two of slots, at most three quarters full. A slot is
 * derived from the same 32 hash bits that it stores, so growing and removing need no access to the things
 * themselves: what stands behind a slot that falls free moves up if it may. Two arrays: a probe reads ids
 * until a free slot. */
#include "base/table.h"

#include <string.h>

#define SIZE_MIN 16u
#define SIZE_LAST (UINT32_C(1) << 31)

static uint32_t table_size(const struct kr_table *table) { return table->ids ? table->mask + 1 : 0; }

static uint32_t stored_bits(uint64_t hash) { return (uint32_t)(hash >> 32); }

static void put(struct kr_table *table, uint32_t bits, uint32_t id)
{
	uint32_t at = bits & table->mask;

	while (table->ids[at] != KR_NONE)
		at = (at + 1) & table->mask;
	table->ids[at] = id;
	table->hashes[at] = bits;
}

void kr_table_done(struct kr_mem *mem, struct kr_table *table)
{
	uint32_t size = table_size(table);

	kr_mem_free(mem, table->ids, size, sizeof *table->ids);
	kr_mem_free(mem, table->hashes, size, sizeof *table->hashes);
	*table = (struct kr_table){0};
}

bool kr_table_reserve(struct kr_mem *mem, struct kr_table *table)
{
	uint32_t size = table_size(table);

	if (table->n < size / 4 * 3)
		return true;
	if (size == SIZE_LAST)
		return false;

	uint32_t grown_size = size ? size * 2 : SIZE_MIN;
	struct kr_table grown = {.mask = grown_size - 1, .n = table->n};

	grown.ids = kr_mem_alloc(mem, grown_size, sizeof *grown.ids);
	if (!grown.ids)
		return false;
	grown.hashes = kr_mem_alloc(mem, grown_size, sizeof *grown.hashes);
	if (!grown.hashes) {
		kr_mem_free(mem, grown.ids, grown_size, sizeof *grown.ids);
		return false;
	}
	memset(grown.ids, 0xff, grown_size * sizeof *grown.ids); /* all KR_NONE */
	for (uint32_t at = 0; at < size; at++)
		if (table->ids[at] != KR_NONE)
			put(&grown, table->hashes[at], table->ids[at]);
	kr_table_done(mem, table);
	*table = grown;
	return true;
}

kr_table_iter kr_table_find(const struct kr_table *table, uint64_t hash)
{
	uint32_t bits = stored_bits(hash);

	return (kr_table_iter){.at = bits & table->mask, .hash = bits};
}

uint32_t kr_table_next(const struct kr_table *table, kr_table_iter *iter)
{
	if (!table->ids)
		return KR_NONE;

	uint32_t id;

	while ((id = table->ids[iter->at]) != KR_NONE) {
		uint32_t bits = table->hashes[iter->at];

		iter->at = (iter->at + 1) & table->mask;
		if (bits == iter->hash)
			return id;
	}
	return KR_NONE;
}

void kr_table_insert(struct kr_table *table, uint64_t hash, uint32_t id)
{
	put(table, stored_bits(hash), id);
	table->n++;
}

void kr_table_remove(struct kr_table *table, uint64_t hash, uint32_t id)
{
	uint32_t free = stored_bits(hash) & table->mask;

	while (table->ids[free] != id)
		free = (free + 1) & table->mask;
	for (uint32_t at = (free + 1) & table->mask; table->ids[at] != KR_NONE; at = (at + 1) & table->mask) {
		uint32_t home = table->hashes[at] & table->mask;

		if (((at - home) & table->mask) < ((at - free) & table->mask))
			continue; /* its home lies behind the free slot */
		table->ids[free] = table->ids[at];
		table->hashes[free] = table->hashes[at];
		free = at;
	}
	table->ids[free] = KR_NONE;
	table->n--;
}
