/* What the bundled traces' files `expect` say, against brute force: of serializability against both oracles, of every level against its definition. Their verdicts are argued by hand, and this is
 * the proof. Runs of databases (`recorded-...`) are beyond brute force. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "checkers/checker.h"
#include "frontend/format.h"
#include "levels.h"
#include "tests/matrix/expect.h"

struct counts {
	unsigned checked, skipped;
};

static void check_answer(const char *folder, const char *text, const char *level, enum kr_order order, enum oracle_answer answer, struct counts *counts)
{
	const char *bad;
	struct expected expected = expect_find(text, level, order, &bad);

	assert_true(expected.found && !bad);
	if (answer > ORACLE_VIOLATED) {
		counts->skipped++;
		return;
	}
	counts->checked++;
	if (answer != (expected.satisfied ? ORACLE_SATISFIED : ORACLE_VIOLATED))
		fail_msg("%s, %s, order %s: expected %s", folder, level, kr_order_name(order), expected.satisfied ? "satisfied" : "violated");
}

static void check_levels(const struct kr_history *h, const char *folder, const char *text, struct counts *counts)
{
	static const uint64_t work = UINT64_C(20000000);
	struct oracle_answers answers;
	const struct kr_level *level;

	oracle_levels(h, work, &answers);
	for (size_t i = 0; (level = kr_level_at(NULL, i)) != NULL; i++)
		for (int order = 0; order < 3; order++)
			check_answer(folder, text, level->id, (enum kr_order)order, answers.at[oracle_level_of(level->id)][order], counts);
}

static void check_folder(const char *folder, struct counts *ser, struct counts *levels)
{
	static const uint64_t work = UINT64_C(50000000);
	char path[600];
	struct kr_read_options options = {0};
	struct kr_ctx ctx;
	struct kr_history h;
	struct kr_err err;
	char *text = expect_read(folder, "expect");

	snprintf(path, sizeof path, "%s/trace.jsonl", folder);
	kr_err_init(&err);
	kr_ctx_init(&ctx, 0, 0);
	if (!text || kr_read_trace(&ctx, path, &options, &h, &err) != KR_OK)
		fail_msg("%s: %s", folder, text ? err.text : "no file expect");
	for (int order = 0; order < 3; order++) {
		check_answer(folder, text, "ser", (enum kr_order)order, oracle_replay(&h, (enum kr_order)order, work), ser);
		check_answer(folder, text, "ser", (enum kr_order)order, oracle_graph(&h, (enum kr_order)order, work), ser);
	}
	check_levels(&h, folder, text, levels);
	kr_history_done(&h);
	free(text);
}

static void bundled_traces_are_what_they_say(void **state)
{
	DIR *dir = opendir(KR_SOURCE_DIR "/traces");
	struct counts ser = {0, 0}, levels = {0, 0};
	char folder[500];

	(void)state;
	assert_non_null(dir);
	for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
		if (entry->d_name[0] == '.' || strncmp(entry->d_name, "recorded-", strlen("recorded-")) == 0)
			continue;
		snprintf(folder, sizeof folder, "%s/traces/%s", KR_SOURCE_DIR, entry->d_name);
		check_folder(folder, &ser, &levels);
	}
	closedir(dir);
	print_message("serializability: %u verdicts checked, %u too large or not defined here; all levels: %u and %u\n", ser.checked, ser.skipped,
		levels.checked, levels.skipped);
	assert_true(ser.checked > ser.skipped);
	assert_true(levels.checked > 10 * levels.skipped);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(bundled_traces_are_what_they_say)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
