/* What the bundled traces' files `expect` say of serializability, against the two oracles: their verdicts are argued by hand, and this is the proof. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "frontend/format.h"
#include "oracle.h"
#include "tests/matrix/expect.h"

static void check_folder(const char *folder, unsigned *checked, unsigned *skipped)
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
		const char *bad;
		struct expected expected = expect_find(text, "ser", (enum kr_order)order, &bad);
		enum oracle_answer answer = expected.satisfied ? ORACLE_SATISFIED : ORACLE_VIOLATED;
		enum oracle_answer replay = oracle_replay(&h, (enum kr_order)order, work), graph = oracle_graph(&h, (enum kr_order)order, work);
		assert_true(expected.found && !bad);
		if (replay > ORACLE_VIOLATED || graph > ORACLE_VIOLATED) {
			++*skipped;
			continue;
		}
		++*checked;
		if (replay != answer || graph != answer)
			fail_msg("%s, order %s: expected %s", folder, kr_order_name((enum kr_order)order), expected.satisfied ? "satisfied" : "violated");
	}
	kr_history_done(&h);
	free(text);
}

static void bundled_traces_are_what_they_say(void **state)
{
	DIR *dir = opendir(KR_SOURCE_DIR "/traces");
	unsigned checked = 0, skipped = 0;
	char folder[500];

	(void)state;
	assert_non_null(dir);
	for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(folder, sizeof folder, "%s/traces/%s", KR_SOURCE_DIR, entry->d_name);
		check_folder(folder, &checked, &skipped);
	}
	closedir(dir);
	print_message("%u verdicts checked, %u traces at an order too large or with other operations\n", checked, skipped);
	assert_true(checked > skipped);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(bundled_traces_are_what_they_say)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
