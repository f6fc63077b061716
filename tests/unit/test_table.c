/* base/table and base/hash: every id is found under its hash, also with equal hashes and after growing; failures leave the table whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/table.h"

static uint64_t own_hash(uint32_t id) { return kr_hash_u64(id); }
static uint64_t same_hash(uint32_t id)
{
	(void)id;
	return UINT64_C(0x123456789abcdef0);
}
static uint64_t few_hashes(uint32_t id) { return kr_hash_u64(id % 7); }
static uint64_t last_slot(uint32_t id) /* probing wraps around */
{
	(void)id;
	return UINT64_MAX;
}
static uint64_t counting(uint32_t id) { return (uint64_t)id << 32; } /* one run of full slots */

struct hash_row {
	uint64_t (*hash)(uint32_t id);
	uint32_t n;
};

static uint32_t times_found(const struct kr_table *table, uint64_t hash, uint32_t wanted)
{
	kr_table_iter it = kr_table_find(table, hash);
	uint32_t id, times = 0;

	while ((id = kr_table_next(table, &it)) != KR_NONE)
		times += id == wanted;
	return times;
}

static void finds_what_was_inserted(void **state)
{
	const struct hash_row *row = *state;
	struct kr_mem mem;
	struct kr_table table = {0};

	kr_mem_init(&mem, SIZE_MAX);
	for (uint32_t id = 0; id < row->n; id++) {
		assert_true(kr_table_reserve(&mem, &table));
		assert_int_equal(times_found(&table, row->hash(id), id), 0);
		kr_table_insert(&table, row->hash(id), id);
	}
	assert_int_equal(table.n, row->n);
	for (uint32_t id = 0; id < row->n; id++)
		assert_int_equal(times_found(&table, row->hash(id), id), 1);
	assert_int_equal(times_found(&table, row->hash(row->n), row->n), 0);
	assert_true(table.n <= ((uint64_t)table.mask + 1) * 3 / 4);
	kr_table_done(&mem, &table);
	assert_int_equal(mem.used, 0);
}

static void gives_only_equal_hash_bits(void **state)
{
	struct kr_mem mem;
	struct kr_table table = {0};

	(void)state;
	kr_mem_init(&mem, SIZE_MAX);
	for (uint32_t id = 0; id < 1000; id++) {
		assert_true(kr_table_reserve(&mem, &table));
		kr_table_insert(&table, counting(id), id);
	}
	for (uint32_t id = 0; id < 1000; id++) {
		kr_table_iter it = kr_table_find(&table, counting(id));
		assert_int_equal(kr_table_next(&table, &it), id);
		assert_int_equal(kr_table_next(&table, &it), KR_NONE);
	}
	kr_table_done(&mem, &table);
}

static void empty_table(void **state)
{
	struct kr_mem mem;
	struct kr_table table = {0};

	(void)state;
	kr_mem_init(&mem, SIZE_MAX);
	kr_table_iter it = kr_table_find(&table, UINT64_MAX);
	assert_int_equal(kr_table_next(&table, &it), KR_NONE);
	kr_table_done(&mem, &table);
	assert_int_equal(mem.used, 0);
}

static void failure_leaves_the_table_whole(void **state)
{
	enum { N = 200 };
	uint64_t calls = 0;

	(void)state;
	for (uint64_t fail_at = 1; fail_at <= calls + 1; fail_at++) {
		struct kr_mem mem;
		struct kr_table table = {0};
		uint32_t n = 0;

		kr_mem_init(&mem, SIZE_MAX);
		mem.fail_at = fail_at;
		while (n < N && kr_table_reserve(&mem, &table)) {
			kr_table_insert(&table, own_hash(n), n);
			n++;
		}
		assert_int_equal(n < N, fail_at <= mem.count);
		for (uint32_t id = 0; id < N; id++)
			assert_int_equal(times_found(&table, own_hash(id), id), id < n);
		mem.fail_at = 0;
		assert_true(kr_table_reserve(&mem, &table));
		calls = mem.count > calls ? mem.count : calls;
		kr_table_done(&mem, &table);
		assert_int_equal(mem.used, 0);
	}
	assert_true(calls >= 4);
}

static void hash_ignores_the_address(void **state)
{
	char buffer[64];

	(void)state;
	for (size_t length = 0; length <= 40; length++) {
		uint64_t expected = 0;

		for (size_t offset = 0; offset < 9; offset++) {
			memset(buffer, (int)offset, sizeof buffer); /* what surrounds the bytes must not matter */
			for (size_t i = 0; i < length; i++)
				buffer[offset + i] = (char)(i * 37 + 11);
			uint64_t hash = kr_hash_bytes(buffer + offset, length);
			if (offset == 0)
				expected = hash;
			assert_true(hash == expected);
		}
	}
	assert_true(kr_hash_bytes(NULL, 0) == kr_hash_bytes("", 0));
}

static void hash_sees_every_bit_and_length(void **state)
{
	unsigned char bytes[24] = {0};

	(void)state;
	for (size_t length = 1; length <= sizeof bytes; length++) {
		uint64_t hash = kr_hash_bytes(bytes, length);

		assert_true(hash != kr_hash_bytes(bytes, length - 1)); /* zeros of different lengths */
		for (size_t bit = 0; bit < length * 8; bit++) {
			bytes[bit / 8] = (unsigned char)(1u << bit % 8);
			assert_true(kr_hash_bytes(bytes, length) >> 32 != hash >> 32); /* the half that tables use */
			bytes[bit / 8] = 0;
		}
	}
}

/* 2^16 keys thrown at random use 2^17 * (1 - e^-1/2) = 51,572 of 2^17 buckets, give or take 85; 50,000 leaves a wide margin. */
static void hash_spreads_similar_keys(void **state)
{
	enum { KEYS = 1 << 16, BUCKETS = 1 << 17 };
	static unsigned char seen[2][BUCKETS];
	unsigned used[2] = {0};

	(void)state;
	for (uint32_t i = 0; i < KEYS; i++) {
		char key[] = "key:00000000";
		for (uint32_t digit = 0, rest = i; digit < 8; digit++, rest /= 10)
			key[11 - digit] = (char)('0' + rest % 10);
		uint64_t hashes[2] = {kr_hash_bytes(key, 12), kr_hash_u64(i)};
		for (int h = 0; h < 2; h++) {
			unsigned char *bucket = &seen[h][(hashes[h] >> 32) % BUCKETS];
			used[h] += *bucket == 0;
			*bucket = 1;
		}
	}
	assert_true(used[0] > 50000);
	assert_true(used[1] > 50000);
}

#define FINDS(name, ...) {"finds: " name, finds_what_was_inserted, NULL, NULL, (void *)&(const struct hash_row){__VA_ARGS__}}

static const struct CMUnitTest tests[] = {
	FINDS("one id", own_hash, 1),
	FINDS("own hashes", own_hash, 20000),
	FINDS("one hash for all", same_hash, 300),
	FINDS("few hashes", few_hashes, 500),
	FINDS("from the last slot", last_slot, 300),
	FINDS("consecutive slots", counting, 5000),
	cmocka_unit_test(gives_only_equal_hash_bits),
	cmocka_unit_test(empty_table),
	cmocka_unit_test(failure_leaves_the_table_whole),
	cmocka_unit_test(hash_ignores_the_address),
	cmocka_unit_test(hash_sees_every_bit_and_length),
	cmocka_unit_test(hash_spreads_similar_keys),
};

int main(void) { return cmocka_run_group_tests(tests, NULL, NULL); }
