/* Pairs of what was executed: kinds by intervals, edges by versions (coo/executed.h). Expected values are those
 * of the definitions in docs/schedules.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coo/executed.h"

static struct kr_mem mem;

struct want {
	uint8_t from, to;
	enum kr_pop_kind kind;
};

static void expect_pops(const struct kr_coo_access *accesses, uint32_t n, const struct kr_coo_fate *fates,
	bool buffered, const struct want *wanted, uint32_t count, uint8_t number)
{
	struct kr_coo_anomaly anomaly = {.number = 0};
	struct kr_pops pops;
	bool cyclic;

	assert_int_equal(kr_coo_executed(&mem, accesses, n, fates, buffered, &pops), KR_OK);
	assert_int_equal(pops.n, count);
	for (uint32_t i = 0; i < count; i++) {
		bool found = false;
		for (uint32_t k = 0; k < pops.n; k++)
			found |= pops.at[k].from == wanted[i].from && pops.at[k].to == wanted[i].to &&
				pops.at[k].kind == wanted[i].kind;
		assert_true(found);
	}
	assert_int_equal(kr_coo_executed_classify(&mem, &pops, &anomaly, &cyclic), KR_OK);
	assert_int_equal(cyclic ? anomaly.number : 0, number);
	kr_vec_done(&mem, &pops);
}

#define EXPECT(accesses, fates, buffered, number, ...) \
	expect_pops(accesses, KR_COUNT(accesses), fates, buffered, (const struct want[]){__VA_ARGS__}, \
		sizeof((const struct want[]){__VA_ARGS__}) / sizeof(struct want), number)

static struct kr_coo_access access(uint8_t txn, char kind, uint32_t version, int64_t from, int64_t to)
{
	return (struct kr_coo_access){txn, 'x', kind == 'W', version, version, from, to, 0};
}

/* A write over another one, of which it is certain that it came before the commit, or not. */
static void a_write_over_another(void **state)
{
	struct kr_coo_fate fates[KR_COO_TXNS + 1] = {{0}};
	struct kr_coo_access w[] = {access(1, 'W', 1, 0, 1), access(2, 'W', 2, 5, 20)};

	(void)state;
	fates[1] = (struct kr_coo_fate){KR_COO_COMMITTED, 10, 25};
	fates[2] = (struct kr_coo_fate){KR_COO_COMMITTED, 30, 31};
	EXPECT(w, fates, false, 0, {1, 2, KR_POP_WCW});
	w[1].to = 9;
	EXPECT(w, fates, false, 15, {1, 2, KR_POP_WW}, {2, 1, KR_POP_WC});
	fates[1].how = KR_COO_ABORTED;
	EXPECT(w, fates, false, 15, {1, 2, KR_POP_WW}, {2, 1, KR_POP_WA});
	w[1].to = 20; /* perhaps undone before */
	expect_pops(w, 2, fates, false, NULL, 0, 0);
}

/* Nobody sees what is written before it is committed: no pair of open transactions, and none of one that
 * aborts. */
static void buffered_writes(void **state)
{
	struct kr_coo_fate fates[KR_COO_TXNS + 1] = {{0}};
	struct kr_coo_access w[] = {access(1, 'W', 1, 10, 11), access(2, 'W', 2, 20, 21)};

	(void)state;
	fates[1] = (struct kr_coo_fate){KR_COO_COMMITTED, 10, 11};
	fates[2] = (struct kr_coo_fate){KR_COO_COMMITTED, 20, 21};
	EXPECT(w, fates, true, 0, {1, 2, KR_POP_WCW});
	fates[1] = (struct kr_coo_fate){KR_COO_ABORTED, 30, 31};
	expect_pops(w, 2, fates, true, NULL, 0, 0);
}

static void reads(void **state)
{
	struct kr_coo_fate fates[KR_COO_TXNS + 1] = {{0}};
	struct kr_coo_access dirty[] = {access(1, 'W', 1, 0, 1), access(2, 'R', 1, 2, 3)};
	/* a lost update of which the second write waited: 18, executed as 28 */
	struct kr_coo_access lost[] = {access(1, 'R', 0, 0, 1), access(2, 'W', 1, 2, 3), access(1, 'W', 2, 4, 9)};

	(void)state;
	fates[1] = (struct kr_coo_fate){KR_COO_ABORTED, 4, 5};
	fates[2] = (struct kr_coo_fate){KR_COO_COMMITTED, 6, 7};
	EXPECT(dirty, fates, false, 1, {1, 2, KR_POP_WR}, {2, 1, KR_POP_RA});
	fates[1].how = KR_COO_COMMITTED;
	EXPECT(dirty, fates, false, 0, {1, 2, KR_POP_WR});
	dirty[1].to = 4; /* not certainly before the end */
	EXPECT(dirty, fates, false, 0, {1, 2, KR_POP_WCR});
	fates[1] = (struct kr_coo_fate){KR_COO_COMMITTED, 10, 11};
	fates[2] = (struct kr_coo_fate){KR_COO_COMMITTED, 5, 8};
	EXPECT(lost, fates, false, 28, {1, 2, KR_POP_RW}, {2, 1, KR_POP_WCW});
}

/* An old version, read late: the edge goes by versions, whenever that was. And a read that may have seen one
 * of two versions tells only what both do. */
static void versions_decide(void **state)
{
	struct kr_coo_fate fates[KR_COO_TXNS + 1] = {{0}};
	struct kr_coo_access late[] = {access(1, 'W', 1, 0, 1), access(2, 'R', 0, 4, 5)};
	struct kr_coo_access either[] = {access(1, 'W', 1, 0, 1), access(2, 'R', 0, 4, 5)};

	(void)state;
	fates[1] = (struct kr_coo_fate){KR_COO_COMMITTED, 2, 3};
	fates[2] = (struct kr_coo_fate){KR_COO_COMMITTED, 6, 7};
	EXPECT(late, fates, false, 0, {2, 1, KR_POP_RW});
	either[1].most = 1;
	expect_pops(either, 2, fates, false, NULL, 0, 0);
}

static int no_leaks(void **state)
{
	(void)state;
	return mem.used == 0 ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_write_over_another),
		cmocka_unit_test(buffered_writes),
		cmocka_unit_test(reads),
		cmocka_unit_test(versions_decide),
	};

	kr_mem_init(&mem, SIZE_MAX);
	return cmocka_run_group_tests(tests, NULL, no_leaks);
}
