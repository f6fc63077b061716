/* Open addressing with linear probing over a power of two of slots, at most three quarters full. A slot is
 * derived from the same 32 hash bits that it stores, so growing and removing need no access to the things
 * themselves: what stands behind a slot that falls free moves up if it may. */
#include "base/table.h"

#define SIZE_MIN 16u
#define SIZE_LAST (UINT32_C(1) << 31)

static uint32_t table_size(const struct kr_table *table) { return table->slots ? table->mask + 1 : 0; }

static void put(struct kr_table *table, struct kr_table_slot slot)
{
	uint32_t at = slot.bits & table->mask;

	while (table->slots[at].next_id != 0)
		at = (at + 1) & table->mask;
	table->slots[at] = slot;
}

void kr_table_done(struct kr_mem *mem, struct kr_table *table)
{
	kr_mem_free(mem, table->slots, table_size(table), sizeof *table->slots);
	*table = (struct kr_table){0};
}

bool kr_table_grow(struct kr_mem *mem, struct kr_table *table)
{
	uint32_t size = table_size(table);

	if (size == SIZE_LAST)
		return false;

	uint32_t grown_size = size ? size * 2 : SIZE_MIN;
	struct kr_table grown = {.mask = grown_size - 1, .n = table->n};

	grown.slots = kr_mem_alloc(mem, grown_size, sizeof *grown.slots);
	if (!grown.slots)
		return false;
	for (uint32_t at = 0; at < size; at++)
		if (table->slots[at].next_id != 0)
			put(&grown, table->slots[at]);
	kr_table_done(mem, table);
	*table = grown;
	return true;
}

void kr_table_insert(struct kr_table *table, uint64_t hash, uint32_t id)
{
	put(table, (struct kr_table_slot){id + 1, (uint32_t)(hash >> 32)});
	table->n++;
}

void kr_table_remove(struct kr_table *table, uint64_t hash, uint32_t id)
{
	uint32_t free = (uint32_t)(hash >> 32) & table->mask;

	while (table->slots[free].next_id != id + 1)
		free = (free + 1) & table->mask;
	for (uint32_t at = (free + 1) & table->mask; table->slots[at].next_id != 0;
		at = (at + 1) & table->mask) {
		uint32_t home = table->slots[at].bits & table->mask;

		if (((at - home) & table->mask) < ((at - free) & table->mask))
			continue; /* its home lies behind the free slot */
		table->slots[free] = table->slots[at];
		free = at;
	}
	table->slots[free].next_id = 0;
	table->n--;
}
