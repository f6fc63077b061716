/* Open-addressing index from a 64-bit hash to a dense 32-bit id. It stores ids and hash bits only; the caller
 * keeps the things themselves and decides equality, so one table serves values, keys, names and sets.
 *
 *     uint32_t *slot; if (!kr_table_reserve(mem, &t)) return KR_NOMEM; for (kr_table_iter it =
 *     kr_table_find(&t, hash); (id = kr_table_next(&t, &it)) != KR_NONE;)
 *         if (equal(id)) return id;
 *     kr_table_insert(&t, hash, new_id); */
#ifndef KR_BASE_TABLE_H
#define KR_BASE_TABLE_H

#include "base/mem.h"

struct kr_table_slot {
	/* 1 + the id; 0: free, so that a new table is zeroed memory that nobody has touched */
	uint32_t next_id;
	uint32_t bits; /* high half of the hash */
};

struct kr_table {
	struct kr_table_slot *slots;
	uint32_t mask;    /* size - 1; 0 with slots == NULL: empty */
	uint32_t n;
};

typedef struct { uint32_t at; uint32_t bits; } kr_table_iter;

void kr_table_done(struct kr_mem *mem, struct kr_table *table);

/* Makes sure that one more insertion fits; false when memory runs out. */
bool kr_table_grow(struct kr_mem *mem, struct kr_table *table);
static inline bool kr_table_reserve(struct kr_mem *mem, struct kr_table *table)
{
	return (table->slots && table->n < (table->mask + 1) / 4 * 3) || kr_table_grow(mem, table);
}

static inline kr_table_iter kr_table_find(const struct kr_table *table, uint64_t hash)
{
	uint32_t bits = (uint32_t)(hash >> 32);

	return (kr_table_iter){.at = bits & table->mask, .bits = bits};
}

/* next id with an equal hash, or KR_NONE */
static inline uint32_t kr_table_next(const struct kr_table *table, kr_table_iter *iter)
{
	if (!table->slots)
		return KR_NONE;

	struct kr_table_slot slot;

	while ((slot = table->slots[iter->at]).next_id != 0) {
		iter->at = (iter->at + 1) & table->mask;
		if (slot.bits == iter->bits)
			return slot.next_id - 1;
	}
	return KR_NONE;
}

/* Sets `id`, a variable, to the first under that hash for which `equal`, an expression in `id`, is true; or
 * to KR_NONE. */
#define KR_TABLE_FIND(id, table, hash, equal) \
	do { \
		kr_table_iter kr_table_at = kr_table_find((table), (hash)); \
		do \
			(id) = kr_table_next((table), &kr_table_at); \
		while ((id) != KR_NONE && !(equal)); \
	} while (0)
void kr_table_insert(struct kr_table *table, uint64_t hash, uint32_t id);  /* after a successful reserve */
/* Puts a thing at the end of a vector (base/vec.h), and its place into the table; false: out of memory. */
#define kr_table_push(mem, table, hash, v, ...) \
	(kr_table_reserve((mem), (table)) && kr_vec_push((mem), (v), __VA_ARGS__) ? \
		(kr_table_insert((table), (hash), (v)->n - 1), true) : false)
/* which was inserted under that hash */
void kr_table_remove(struct kr_table *table, uint64_t hash, uint32_t id);

/* Asks for the slot where a look-up begins, which lies anywhere in memory; and, once it is there, whose id it
 * has, or KR_NONE: mostly the one that is looked for. */
static inline void kr_table_fetch(const struct kr_table *table, uint64_t hash)
{
	if (table->slots)
		__builtin_prefetch(&table->slots[(uint32_t)(hash >> 32) & table->mask]);
}
static inline uint32_t kr_table_peek(const struct kr_table *table, uint64_t hash)
{
	return table->slots ? table->slots[(uint32_t)(hash >> 32) & table->mask].next_id - 1 : KR_NONE;
}

#endif
