/* Recorded histories of published checkers with verdicts that others established (data/README.md beside verdicts.csv): of five levels with session order. What follows from them is known as well:
 * what a satisfied level implies is satisfied, what implies a violated one is violated, at whatever order. All that is known of a history is asked at once, in the format told from the content, and
 * must be decided, without a limit of time; every verdict is checked, its witness written, read back and confirmed. Rows without any verdict are counted aloud.
 * Where something is violated all levels are asked besides, for ten seconds, and no name of an anomaly may be contradicted by a level that is satisfied.
 * KRAIT_RECORDED=WORD takes only histories with the word in their path, KRAIT_RECORDED_SHARE=4 every fourth. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "checkers/check.h"
#include "checkers/lattice.h"
#include "frontend/format.h"
#include "names.h"

enum { MOST_ROWS = 1000, MOST_QUESTIONS = 3 * 64, SKIPPED = 77 };

/* Columns of verdicts.csv. */
static const struct { unsigned column; const char *level; } told[] = {{7, "rc-ax"}, {8, "ra"}, {9, "cc"}, {10, "si"}, {11, "ser"}};

enum { TOLD = sizeof told / sizeof *told };

struct row {
	char path[512];
	char verdict[TOLD]; /* '1' satisfied, '0' violated, else not known */
};

static struct row rows[MOST_ROWS];
static uint64_t named, contradicted;
static struct CMUnitTest tests[MOST_ROWS];

/* The certificate survives the witness file, and still convinces. */
static void check_witness(struct kr_ctx *ctx, const struct kr_history *h, const struct kr_certificate *made, const char *path)
{
	struct kr_witness_head head = {path, made->level->id, made->order};
	struct kr_certificate read;
	struct kr_arena arena;
	struct kr_err err;
	struct kr_str line;

	kr_err_init(&err);
	kr_str_init(&line, &ctx->mem);
	kr_arena_init(&arena, &ctx->mem);
	kr_certificate_init(&read, &ctx->mem);
	kr_witness_print(h, &head, made, &line);
	assert_false(line.failed);
	if (kr_witness_read(h, &arena, kr_str_text(&line), line.n - 1, &head, &read, &err) != KR_OK)
		fail_msg("witness: %s", err.text);
	read.level = made->level;
	if (kr_verify(ctx, h, &read, &err) != KR_OK)
		fail_msg("verify: %s", err.text);
	kr_certificate_done(&read);
	kr_arena_done(&arena);
	kr_str_done(&line);
}

/* What is known of a question: '1' satisfied, '0' violated, '?' nothing. The verdicts of a row must not contradict each other. */
static char known(const struct row *row, struct kr_question q)
{
	enum kr_order by_default;
	char answer = '?';

	for (size_t i = 0; i < TOLD; i++) {
		struct kr_question t = {kr_level_find(NULL, told[i].level, &by_default), KR_ORDER_SESSION};
		bool follows = row->verdict[i] == '1' ? kr_implies(NULL, t, q) : row->verdict[i] == '0' && kr_implies(NULL, q, t);

		if (!follows)
			continue;
		if (answer != '?' && answer != row->verdict[i])
			fail_msg("%s: the verdicts told contradict each other", row->path);
		answer = row->verdict[i];
	}
	return answer;
}

static uint32_t ask_all(const struct row *row, struct kr_decision *decisions)
{
	const struct kr_level *level;
	uint32_t n = 0;

	for (size_t i = 0; (level = kr_level_at(NULL, i)) != NULL; i++)
		for (int order = 0; order < 3; order++)
			if (known(row, (struct kr_question){level, (enum kr_order)order}) != '?')
				decisions[n++] = (struct kr_decision){.options = {.level = level, .order = (enum kr_order)order}};
	return n;
}

static void check_decision(struct kr_ctx *ctx, const struct kr_history *h, const struct row *row, struct kr_decision *d)
{
	char expected = known(row, (struct kr_question){d->options.level, d->options.order});
	const char *order = kr_order_name(d->options.order), *level = d->options.level->id;

	if (d->status != KR_OK)
		fail_msg("%s, order %s: %s", level, order, d->err.text);
	if (d->verdict.outcome != (expected == '1' ? KR_SATISFIED : KR_VIOLATED))
		fail_msg("%s, order %s: not %s; %s", level, order, expected == '1' ? "satisfied" : "violated", d->verdict.reason);
	check_witness(ctx, h, &d->verdict.certificate, row->path);
}

static void check_names(struct kr_ctx *ctx, const struct kr_history *h, const struct row *row, const struct kr_decision *decisions, uint32_t n)
{
	const struct kr_decision *kept;
	char name[48];

	for (uint32_t i = 0; i < n; i++) {
		const struct kr_decision *d = &decisions[i];
		if (d->status != KR_OK || d->verdict.outcome != KR_VIOLATED)
			continue;
		named++;
		kept = names_contradicted(ctx->modules, h, d, decisions, n, name);
		if (!kept)
			continue;
		contradicted++;
		print_message("%s: %s, order %s: %s, but %s holds, order %s\n", row->path, d->options.level->id, kr_order_name(d->options.order), name, kept->options.level->id,
			kr_order_name(kept->options.order));
	}
}

/* All levels, as far as they are decided in that time. */
static void check_all_names(const struct kr_history *h, const struct kr_analysis *analysis, const struct row *row)
{
	static struct kr_decision decisions[MOST_QUESTIONS];
	uint64_t before = contradicted;
	const struct kr_level *level;
	struct kr_ctx ctx;
	uint32_t n = 0;

	kr_ctx_init(&ctx, 10, 0);
	for (size_t i = 0; (level = kr_level_at(NULL, i)) != NULL; i++)
		for (int order = 0; order < 3; order++)
			decisions[n++] = (struct kr_decision){.options = {.level = level, .order = (enum kr_order)order}};
	kr_check_all(&ctx, h, analysis, decisions, n);
	check_names(&ctx, h, row, decisions, n);
	for (uint32_t i = 0; i < n; i++)
		kr_verdict_done(&decisions[i].verdict, &ctx.mem);
	assert_int_equal(contradicted, before);
}

static void check_row(void **state)
{
	static struct kr_decision decisions[MOST_QUESTIONS];
	const struct row *row = *state;
	uint32_t n = ask_all(row, decisions);
	bool violated = false;
	struct kr_analysis analysis;
	struct kr_history h;
	struct kr_ctx ctx;
	struct kr_err err;

	assert_true(n > 0);
	kr_ctx_init(&ctx, 0, 0);
	kr_err_init(&err);
	if (kr_read_trace(&ctx, row->path, NULL, &h, &err) != KR_OK || kr_analyze(&ctx, &h, &analysis, &err) != KR_OK)
		fail_msg("%s: %s", err.file, err.text);
	kr_check_all(&ctx, &h, &analysis, decisions, n);
	for (uint32_t i = 0; i < n; i++) {
		check_decision(&ctx, &h, row, &decisions[i]);
		violated |= decisions[i].verdict.outcome == KR_VIOLATED;
		kr_verdict_done(&decisions[i].verdict, &ctx.mem);
	}
	if (violated)
		check_all_names(&h, &analysis, row);
	kr_analysis_done(&analysis);
	kr_history_done(&h);
	assert_int_equal(ctx.mem.used, 0);
}

/* The n-th comma-separated field of a line, cut to `size`. */
static void field(const char *line, unsigned n, char *out, size_t size)
{
	while (n > 0 && *line)
		n -= *line++ == ',';
	size_t length = strcspn(line, ",\r\n");

	snprintf(out, size, "%.*s", (int)length, line);
}

static size_t read_rows(const char *data, FILE *file, unsigned *other)
{
	const char *only = getenv("KRAIT_RECORDED"), *share = getenv("KRAIT_RECORDED_SHARE");
	unsigned every = share ? (unsigned)strtoul(share, NULL, 10) : 1, known = 0;
	char line[2048], name[256], verdict[8];
	size_t n = 0;

	every += every == 0;

	while (n < MOST_ROWS && fgets(line, sizeof line, file)) {
		struct row *row = &rows[n];
		bool any = false;

		field(line, 0, name, sizeof name);
		for (size_t i = 0; i < TOLD; i++) {
			field(line, told[i].column, verdict, sizeof verdict);
			row->verdict[i] = verdict[1] ? '?' : verdict[0];
			any |= row->verdict[i] == '0' || row->verdict[i] == '1';
		}
		if (!any || (only && !strstr(name, only)) || known++ % every != 0) {
			*other += strcmp(name, "path") != 0;
			continue;
		}
		snprintf(row->path, sizeof row->path, "%s/%s", data, name);
		tests[n++] = (struct CMUnitTest){.name = row->path, .test_func = check_row, .initial_state = row};
	}
	return n;
}

int main(void)
{
	const char *data = getenv("KRAIT_DATA") ? getenv("KRAIT_DATA") : KR_SOURCE_DIR "/../shared/data";
	char path[512];
	unsigned other = 0;

	snprintf(path, sizeof path, "%s/verdicts.csv", data);
	FILE *file = fopen(path, "rb");

	if (!file) {
		print_message("skipped: no recorded histories in %s\n", data);
		return SKIPPED;
	}
	size_t n = read_rows(data, file, &other);

	fclose(file);
	print_message("%zu recorded histories; of %u more nothing is known, or they are not asked for\n", n, other);
	int failed = n == 0 || _cmocka_run_group_tests("recorded", tests, n, NULL, NULL);

	print_message("%llu violations named, %llu of the names contradicted by a level that holds\n", (unsigned long long)named, (unsigned long long)contradicted);
	return failed;
}
