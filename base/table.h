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

struct kr_table {
	uint32_t *ids;    /* KR_NONE: free */
	uint32_t *hashes; /* high halves of the hashes */
	uint32_t mask;    /* size - 1; 0 with ids == NULL: empty */
	uint32_t n;
};

typedef struct { uint32_t at; uint32_t hash; } kr_table_iter;

void kr_table_done(struct kr_mem *mem, struct kr_table *table);

/* Makes sure that one more insertion fits; false when memory runs out. */
bool kr_table_reserve(struct kr_mem *mem, struct kr_table *table);

kr_table_iter kr_table_find(const struct kr_table *table, uint64_t hash);
/* next id with an equal hash, or KR_NONE */
uint32_t kr_table_next(const struct kr_table *table, kr_table_iter *iter);
void kr_table_insert(struct kr_table *table, uint64_t hash, uint32_t id);  /* after a successful reserve */
/* which was inserted under that hash */
void kr_table_remove(struct kr_table *table, uint64_t hash, uint32_t id);

#endif
