/* mechanisms/certifier: random graphs that grow and shed nodes, against reachability found anew each time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "mechanisms/certifier.h"

enum { MOST = 40, ROUNDS = 300, STEPS = 250 };

struct model {
	struct kr_mem mem;
	struct kr_certifier c;
	bool there[MOST], arc[MOST][MOST], reaches[MOST][MOST];
	uint32_t node[MOST];
};

static void close_paths(struct model *m)
{
	memcpy(m->reaches, m->arc, sizeof m->arc);
	for (int k = 0; k < MOST; k++)
		for (int i = 0; i < MOST; i++)
			for (int j = 0; j < MOST; j++)
				m->reaches[i][j] |= m->reaches[i][k] && m->reaches[k][j];
}

static void drop(struct model *m, int i)
{
	kr_certifier_drop(&m->c, m->node[i]);
	m->there[i] = false;
	for (int j = 0; j < MOST; j++)
		m->arc[i][j] = m->arc[j][i] = false;
}

/* It, and what lies on cycles with it. */
static void drop_whole(struct model *m, int i)
{
	close_paths(m);
	for (int j = 0; j < MOST; j++)
		if (j != i && m->there[j] && m->reaches[i][j] && m->reaches[j][i])
			drop(m, j);
	drop(m, i);
}

static void add_arc(struct model *m, int i, int j)
{
	bool closes = false;

	close_paths(m);
	bool expected = i != j && m->reaches[j][i] && !m->reaches[i][j];
	assert_true(kr_certifier_arc(&m->c, m->node[i], m->node[j], &closes));
	assert_int_equal(closes, expected);
	m->arc[i][j] |= i != j;
}

/* Arcs never go against the order. */
static void check_places(struct model *m)
{
	for (int i = 0; i < MOST; i++)
		for (int j = 0; j < MOST; j++) {
			if (!m->arc[i][j])
				continue;
			uint32_t x = m->node[i], y = m->node[j];
			while (m->c.nodes.at[x].merged != x)
				x = m->c.nodes.at[x].merged;
			while (m->c.nodes.at[y].merged != y)
				y = m->c.nodes.at[y].merged;
			struct kr_place a = m->c.nodes.at[x].place, b = m->c.nodes.at[y].place;
			assert_true(x == y || a.at < b.at || (a.at == b.at && a.tie < b.tie));
		}
}

static void cycles_close(void **state)
{
	struct kr_rng rng;

	(void)state;
	kr_rng_init(&rng, 11);
	for (int round = 0; round < ROUNDS; round++) {
		struct model m = {0};
		kr_mem_init(&m.mem, SIZE_MAX);
		m.c.mem = &m.mem;
		uint64_t backwards = kr_rng_below(&rng, 30);
		for (int step = 0; step < STEPS; step++) {
			int i = (int)kr_rng_below(&rng, MOST), j = (int)kr_rng_below(&rng, MOST);
			if (!m.there[i]) {
				m.there[i] = kr_certifier_node(&m.c, (int64_t)kr_rng_below(&rng, 10), &m.node[i]);
				assert_true(m.there[i]);
			} else if (kr_rng_below(&rng, 12) == 0) {
				drop_whole(&m, i);
			} else if (m.there[j]) {
				bool back = kr_rng_below(&rng, 100) < backwards;
				add_arc(&m, (i < j) == back ? j : i, (i < j) == back ? i : j);
			}
		}
		check_places(&m);
		assert_true(m.c.nodes.n <= MOST); /* what was dropped is used again */
		kr_certifier_done(&m.c);
		assert_int_equal(m.mem.used, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(cycles_close)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
