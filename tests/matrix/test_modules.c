/* Checkers that are not their level's default, on the bundled traces: those with passes and a back end say at each of their levels what `expect` says. What some say more is in a trace's file `modules`:
 *
 *     # why
 *     CHECKER LEVEL ORDER satisfied|violated|given [TXN OP KEY]
 *
 * given: violated, and labelled as a violation under the given order; then the operation that differs, where a replay found that. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "checkers/check.h"
#include "expect.h"
#include "frontend/format.h"

struct trace {
	const char *name;
	struct kr_ctx ctx;
	struct kr_history h;
	struct kr_analysis analysis;
};

static void ask(struct trace *t, const struct kr_checker *checker, const struct kr_level *level, enum kr_order order, struct kr_verdict *out)
{
	struct kr_check_options options = {.level = level, .order = order, .checker = checker};
	struct kr_err err;

	kr_err_init(&err);
	if (kr_check(&t->ctx, &t->h, &t->analysis, &options, out, &err) != KR_OK)
		fail_msg("%s: %s, %s, order %s: %s", t->name, checker->name, level->id, kr_order_name(order), err.text);
}

static unsigned agree(struct trace *t, const char *text)
{
	const struct kr_checker *checker;
	const struct kr_level *level;
	const char *bad;
	unsigned checked = 0;

	for (size_t c = 0; (checker = kr_checker_at(NULL, c)) != NULL; c++) {
		for (size_t l = 0; (level = kr_level_at(NULL, l)) != NULL && !checker->decide; l++) {
			for (int order = 0; order < 3 && checker != kr_checker_for(NULL, level) && kr_checker_decides(checker, level); order++) {
				struct kr_verdict verdict;
				ask(t, checker, level, (enum kr_order)order, &verdict);
				if (verdict.outcome != (expect_find(text, level->id, (enum kr_order)order, &bad).satisfied ? KR_SATISFIED : KR_VIOLATED))
					fail_msg("%s: %s, %s, order %s differs: %s", t->name, checker->name, level->id, kr_order_name((enum kr_order)order),
						verdict.reason);
				kr_verdict_done(&verdict, &t->ctx.mem);
				checked++;
			}
		}
	}
	return checked;
}

static void check_place(const struct trace *t, const struct kr_certificate *cert, const char *txn, unsigned op, const char *key)
{
	char id[64], name[64];

	assert_int_equal(cert->kind, KR_CERT_REPLAY);
	kr_history_brief(&t->h, t->h.txns.at[cert->anomaly.txn.i].id, id, sizeof id);
	kr_history_brief(&t->h, t->h.keys.at[cert->anomaly.key.i].name, name, sizeof name);
	if (strcmp(id, txn) != 0 || cert->anomaly.op != op || strcmp(name, key) != 0)
		fail_msg("%s: differs at %s, operation %u, key %s; expected %s, %u, %s", t->name, id, cert->anomaly.op, name, txn, op, key);
}

/* One line of `modules`. */
static void say_more(struct trace *t, const char *line)
{
	char checker[32], level[32], order_name[16], says[16], txn[64] = "", key[64] = "";
	unsigned op = 0;
	enum kr_order order, by_default;
	struct kr_verdict v;
	int n = sscanf(line, "%31s %31s %15s %15s %63s %u %63s", checker, level, order_name, says, txn, &op, key);

	if ((n != 4 && n != 7) || !kr_order_parse(order_name, &order) || !kr_checker_find(NULL, checker) || !kr_level_find(NULL, level, &by_default))
		fail_msg("%s: not a line of modules: %s", t->name, line);
	ask(t, kr_checker_find(NULL, checker), kr_level_find(NULL, level, &by_default), order, &v);

	bool right = strcmp(says, "satisfied") == 0 ? v.outcome == KR_SATISFIED
		: strcmp(says, "violated") == 0     ? v.outcome == KR_VIOLATED && v.given == KR_GIVEN_NOT
						    : strcmp(says, "given") == 0 && v.outcome == KR_VIOLATED && v.given == KR_GIVEN_ONLY;

	if (!right)
		fail_msg("%s: expected \"%s\": %s", t->name, line, v.reason);
	if (n == 7)
		check_place(t, &v.certificate, txn, op, key);
	kr_verdict_done(&v, &t->ctx.mem);
}

static unsigned say_all(struct trace *t, const char *folder)
{
	char *text = expect_read(folder, "modules"), *end;
	unsigned lines = 0;

	for (char *line = text; line && *line; line = end + 1) {
		end = strchr(line, '\n');
		assert_non_null(end);
		*end = '\0';
		if (*line == '#' || *line == '\0')
			continue;
		say_more(t, line);
		lines++;
	}
	free(text);
	return lines;
}

static void modules_agree(void **state)
{
	DIR *dir = opendir(KR_SOURCE_DIR "/traces");
	unsigned checked = 0, more = 0;

	(void)state;
	for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL;) {
		struct kr_read_options options = {0};
		struct trace t = {.name = entry->d_name};
		char folder[400], path[500];
		struct kr_err err;
		if (entry->d_name[0] == '.')
			continue;
		snprintf(folder, sizeof folder, "%s/traces/%s", KR_SOURCE_DIR, entry->d_name);
		snprintf(path, sizeof path, "%s/trace.jsonl", folder);
		char *text = expect_read(folder, "expect");
		kr_err_init(&err);
		kr_ctx_init(&t.ctx, 60, 0);
		if (!text || kr_read_trace(&t.ctx, path, &options, &t.h, &err) != KR_OK || kr_analyze(&t.ctx, &t.h, &t.analysis, &err) != KR_OK)
			fail_msg("%s: %s", path, err.text);
		checked += agree(&t, text);
		more += say_all(&t, folder);
		kr_analysis_done(&t.analysis);
		kr_history_done(&t.h);
		assert_int_equal(t.ctx.mem.used, 0);
		free(text);
	}
	if (dir)
		closedir(dir);
	print_message("%u verdicts, and %u lines of modules\n", checked, more);
	assert_true(checked > 1000 && more > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(modules_agree)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
