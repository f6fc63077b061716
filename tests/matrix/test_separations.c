/* The lattice of levels is complete: for any two levels with orders of which the first does not imply the second, some bundled trace satisfies the first and violates the second;
 * and none does where it does imply it. Read from the files `expect`, which test_traces.c and the oracle hold against the program and the definitions. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "checkers/lattice.h"
#include "expect.h"

enum { ORDERS = KR_ORDER_REALTIME + 1, MOST_QUESTIONS = 64 };

static struct kr_question questions[MOST_QUESTIONS];
static uint32_t nquestions;

/* separated[a]: the set of all b such that a trace satisfies a and violates b; by[a][b]: one that does. */
static uint64_t separated[MOST_QUESTIONS];
static char by[MOST_QUESTIONS][MOST_QUESTIONS][64];

static void list_questions(void)
{
	for (size_t l = 0; kr_level_at(NULL, l); l++)
		for (int order = 0; order < ORDERS; order++) {
			assert_true(nquestions < MOST_QUESTIONS);
			questions[nquestions++] = (struct kr_question){kr_level_at(NULL, l), (enum kr_order)order};
		}
}

static void add_trace(const char *name)
{
	char folder[600];
	uint64_t satisfied = 0, violated = 0;

	snprintf(folder, sizeof folder, "%s/traces/%s", KR_SOURCE_DIR, name);
	char *text = expect_read(folder, "expect");
	assert_non_null(text);
	for (uint32_t q = 0; q < nquestions; q++) {
		const char *bad;
		struct expected expected = expect_find(text, questions[q].level->id, questions[q].order, &bad);
		if (bad || !expected.found)
			fail_msg("%s: %s", folder, bad ? bad : "a level without a line");
		*(expected.satisfied ? &satisfied : &violated) |= UINT64_C(1) << q;
	}
	for (uint32_t a = 0; a < nquestions; a++)
		for (uint32_t b = 0; b < nquestions && satisfied >> a & 1; b++)
			if (violated >> b & 1)
				snprintf(by[a][b], sizeof by[a][b], "%s", name);
	for (uint32_t a = 0; a < nquestions; a++)
		separated[a] |= satisfied >> a & 1 ? violated : 0;
	free(text);
}

static void each_pair_is_implied_or_separated(void **state)
{
	DIR *dir = opendir(KR_SOURCE_DIR "/traces");
	unsigned wrong = 0, pairs[2] = {0, 0};

	(void)state;
	assert_non_null(dir);
	list_questions();
	for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
		if (entry->d_name[0] != '.')
			add_trace(entry->d_name);
	closedir(dir);
	for (uint32_t a = 0; a < nquestions; a++)
		for (uint32_t b = 0; b < nquestions; b++) {
			bool implied = kr_implies(NULL, questions[a], questions[b]), apart = separated[a] >> b & 1;
			pairs[apart]++;
			if (implied != apart)
				continue;
			wrong++;
			print_error("%s, order %s, and %s, order %s: %s %s\n", questions[a].level->id, kr_order_name(questions[a].order),
				questions[b].level->id, kr_order_name(questions[b].order),
				implied ? "the first implies the second, but not in" : "no implication, and no trace that tells them apart", by[a][b]);
		}
	print_message("%u pairs: the first implies the second; %u: a trace tells them apart\n", pairs[false], pairs[true]);
	assert_int_equal(wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(each_pair_is_implied_or_separated)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
