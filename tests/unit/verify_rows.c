#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "checkers/checker.h"
#include "same_history.h"
#include "verify/verify.h"
#include "verify_rows.h"

static char *with_quotes(const char *text)
{
	char *copy = strdup(text);

	assert_non_null(copy);
	for (char *at = copy; (at = strchr(at, '\''));)
		*at = '"';
	return copy;
}

static void read_row_trace(struct kr_ctx *ctx, const struct verify_row *row, struct kr_history *h)
{
	char *text = with_quotes(row->trace);
	struct kr_err err;

	kr_err_init(&err);
	if (read_trace_text(ctx, text, strlen(text), h, &err) != KR_OK)
		fail_msg("the trace cannot be read: line %u: %s", (unsigned)err.line, err.text);
	free(text);
}

/* Reads the witness and verifies it, all of whose memory counts in `ctx`. */
static enum kr_status run_row(struct kr_ctx *ctx, const struct verify_row *row, const struct kr_history *h, const char *claim, struct kr_err *err)
{
	struct kr_certificate cert;
	struct kr_witness_head head;
	struct kr_arena arena;
	char line[8192];
	int length = snprintf(line, sizeof line, "{\"krait_witness\":1,\"trace\":\"t\",\"level\":\"%s\",\"order\":\"%s\",%s}",
		row->level ? row->level : "ser", row->order, claim);
	enum kr_status status;

	assert_in_range(length, 1, sizeof line - 1);
	kr_arena_init(&arena, &ctx->mem);
	kr_certificate_init(&cert, &ctx->mem);
	status = kr_witness_read(h, &arena, line, (size_t)length, &head, &cert, err);
	cert.level = kr_level_of_id(NULL, row->level ? row->level : "ser");
	if (status == KR_OK)
		status = kr_verify(ctx, h, &cert, err);
	kr_certificate_done(&cert);
	kr_arena_done(&arena);
	return status;
}

static void check_message(const char *expected, const char *found)
{
	size_t length = strlen(expected);

	if (length > 3 && strcmp(expected + length - 3, "...") == 0) {
		if (strncmp(expected, found, length - 3) != 0)
			fail_msg("found '%s', expected '%s'", found, expected);
	} else {
		assert_string_equal(found, expected);
	}
}

void check_verify_row(void **state)
{
	const struct verify_row *row = *state;
	char *claim = with_quotes(row->claim);
	struct kr_history h;
	struct kr_ctx ctx, own;
	struct kr_err err;
	enum kr_status status;

	kr_ctx_init(&ctx, 0, 0);
	read_row_trace(&ctx, row, &h);
	kr_ctx_init(&own, 0, 0);
	kr_err_init(&err);
	status = run_row(&own, row, &h, claim, &err);
	if (status != row->expected)
		fail_msg("found status %d (%s), expected %d", (int)status, err.text, (int)row->expected);
	assert_int_equal(own.mem.used, 0);
	if (row->message)
		check_message(row->message, err.text);

	uint64_t allocations = own.mem.count;

	for (uint64_t n = 1; n <= allocations; n++) {
		kr_ctx_init(&own, 0, 0);
		own.mem.fail_at = n;
		kr_err_init(&err);
		status = run_row(&own, row, &h, claim, &err);
		if (status != KR_NOMEM || err.status != KR_NOMEM)
			fail_msg("allocation %u failed: found status %d (%s), expected %d", (unsigned)n, (int)status, err.text, (int)KR_NOMEM);
		assert_int_equal(own.mem.used, 0);
	}
	free(claim);
	kr_history_done(&h);
	assert_int_equal(ctx.mem.used, 0);
}
