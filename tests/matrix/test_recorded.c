/* Recorded histories of published checkers with verdicts that others established (data/README.md beside verdicts.csv): serializability with session order. Every
 * verdict is checked, its witness written, read back and confirmed. The format is told from the content. Rows without such a verdict are counted aloud. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "checkers/check.h"
#include "frontend/format.h"

enum { MOST_ROWS = 1000, SKIPPED = 77 };

struct row {
	char path[512];
	bool satisfied;
};

static struct row rows[MOST_ROWS];
static struct CMUnitTest tests[MOST_ROWS];

/* The certificate survives the witness file, and still convinces. */
static void check_witness(struct kr_ctx *ctx, const struct kr_history *h, const struct kr_certificate *made, const char *path)
{
	struct kr_witness_head head = {path, made->level, made->order};
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
	if (kr_verify(ctx, h, &read, &err) != KR_OK)
		fail_msg("verify: %s", err.text);
	kr_certificate_done(&read);
	kr_arena_done(&arena);
	kr_str_done(&line);
}

static void check_row(void **state)
{
	const struct row *row = *state;
	struct kr_check_options options = {.order = KR_ORDER_SESSION};
	enum kr_order default_order;
	struct kr_analysis analysis;
	struct kr_verdict verdict;
	struct kr_history h;
	struct kr_ctx ctx;
	struct kr_err err;

	kr_ctx_init(&ctx, 0, 0);
	kr_err_init(&err);
	options.level = kr_level_find(NULL, "ser", &default_order);
	if (kr_read_trace(&ctx, row->path, NULL, &h, &err) != KR_OK || kr_analyze(&ctx, &h, &analysis, &err) != KR_OK ||
		kr_check(&ctx, &h, &analysis, &options, &verdict, &err) != KR_OK)
		fail_msg("%s: %s", err.file, err.text);
	assert_int_equal(verdict.outcome, row->satisfied ? KR_SATISFIED : KR_VIOLATED);
	check_witness(&ctx, &h, &verdict.certificate, row->path);
	kr_verdict_done(&verdict, &ctx.mem);
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
	char line[2048], name[256], verdict[8];
	size_t n = 0;

	while (n < MOST_ROWS && fgets(line, sizeof line, file)) {
		struct row *row = &rows[n];

		field(line, 0, name, sizeof name);
		field(line, 11, verdict, sizeof verdict);
		if (strcmp(verdict, "0") != 0 && strcmp(verdict, "1") != 0) {
			*other += strcmp(name, "path") != 0;
			continue;
		}
		snprintf(row->path, sizeof row->path, "%s/%s", data, name);
		row->satisfied = verdict[0] == '1';
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
	print_message("%zu recorded histories; of %u more it is not known whether they are serializable\n", n, other);
	return n == 0 || _cmocka_run_group_tests("recorded", tests, n, NULL, NULL);
}
