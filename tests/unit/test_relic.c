/* mechanisms/relic: what was put down is what is taken up, in few bytes, and nothing of it stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/ctx.h"
#include "base/rng.h"
#include "frontend/history_count.h"
#include "mechanisms/relic.h"

struct bench {
	struct kr_ctx ctx;
	struct kr_stream *stream;
	struct kr_relics list;
};

static enum kr_status ignore(void *data, const struct kr_event *event, struct kr_err *err)
{
	(void)data, (void)event, (void)err;
	return KR_OK;
}

static void set_up(struct bench *b)
{
	static const struct kr_sink sink = {NULL, ignore};

	*b = (struct bench){0};
	kr_ctx_init(&b->ctx, 0, 0);
	assert_int_equal(kr_stream_new(&b->ctx, "run", &sink, &b->stream), KR_OK);
}

static void tear_down(struct bench *b)
{
	kr_stream_free(b->stream);
	assert_int_equal(b->ctx.mem.used, 0);
}

static void assert_same(const struct kr_left *x, const struct kr_left *y)
{
	assert_int_equal(x->marks, y->marks);
	assert_int_equal(x->status, y->status);
	assert_int_equal(x->flags, y->flags);
	assert_int_equal(x->session.i, y->session.i);
	assert_int_equal(x->seq, y->seq);
	assert_int_equal(x->line, y->line);
	assert_memory_equal(x->at, y->at, sizeof x->at);
}

static int64_t any_time(struct kr_rng *rng)
{
	static const int64_t ends[] = {INT64_MIN, INT64_MAX, 0, -1, 1, INT64_MAX - 1, INT64_MIN + 1};

	return kr_rng_below(rng, 2) ? ends[kr_rng_below(rng, KR_COUNT(ends))] : (int64_t)kr_rng_u64(rng);
}

static void test_any(void **state)
{
	struct kr_rng rng;
	struct bench b;

	(void)state;
	kr_rng_init(&rng, 1);
	set_up(&b);
	for (int i = 0; i < 5000; i++) {
		struct kr_left left = {.marks = (uint8_t)kr_rng_below(&rng, 16),
			.status = (uint8_t)kr_rng_below(&rng, 3),
			.flags = (uint16_t)kr_rng_u64(&rng),
			.session = {kr_rng_below(&rng, 2) ? KR_NONE : (uint32_t)kr_rng_below(&rng, 1000)},
			.seq = (uint32_t)kr_rng_u64(&rng),
			.line = (uint32_t)kr_rng_u64(&rng),
			.id = {KR_NONE},
			.value = {KR_NONE}};
		struct kr_left out;
		for (int t = 0; t < KR_LEFT_TIMES; t++)
			left.at[t] = any_time(&rng);
		assert_true(kr_relic_put(b.stream, &b.ctx.mem, &left, &b.list));
		assert_true(kr_relic_get(b.stream, kr_relics_at(b.list, 0), &out));
		assert_same(&left, &out);
		assert_int_equal(out.id.i, KR_NONE);
		assert_int_equal(out.value.i, KR_NONE);
		assert_ptr_equal(out.relic, kr_relics_at(b.list, 0));
		kr_relic_drop(b.stream, &b.ctx.mem, kr_relics_at(b.list, 0), &b.list);
		assert_int_equal(kr_relics_count(b.list), 0);
	}
	tear_down(&b);
}

/* Whatever a value is, it is there after the lines in which nobody spoke of it. */
static void test_values(void **state)
{
	static const char long_text[] = "longer than what is put down beside the rest";
	struct bench b;

	(void)state;
	set_up(&b);
	struct kr_history *h = kr_stream_history(b.stream);
	for (int i = 0; i < 100; i++) {
		struct kr_left left = {0}, out;
		const kr_value values[] = {KR_ABSENT, kr_history_int(h, INT64_MIN + i), kr_history_int(h, i), kr_history_real(h, i + 0.5),
			kr_history_bool(h, true), kr_history_text(h, KR_VALUE_STRING, "", 0), kr_history_text(h, KR_VALUE_STRING, "a\0b", 3),
			kr_history_text(h, KR_VALUE_STRING, long_text, 24), kr_history_text(h, KR_VALUE_STRING, long_text, 25),
			kr_history_text(h, KR_VALUE_ARRAY, "[1]", 3)};
		left.value = values[(size_t)i % KR_COUNT(values)];
		left.id = values[(size_t)(i / 10) % KR_COUNT(values)];
		const struct kr_value_entry value = *kr_history_value(h, left.value), id = *kr_history_value(h, left.id);
		char text[64] = "";
		if (value.type >= KR_VALUE_STRING)
			memcpy(text, value.text, value.length);
		assert_true(kr_relic_put(b.stream, &b.ctx.mem, &left, &b.list));
		kr_history_forget(h); /* as before each line */
		kr_history_forget(h);
		assert_true(kr_relic_get(b.stream, kr_relics_at(b.list, 0), &out));
		const struct kr_value_entry *later = kr_history_value(h, out.value);
		assert_int_equal(later->type, value.type);
		assert_int_equal(kr_history_value(h, out.id)->type, id.type);
		if (value.type >= KR_VALUE_STRING) {
			assert_int_equal(later->length, value.length);
			assert_memory_equal(later->text, text, value.length);
		} else if (value.type != KR_VALUE_ABSENT) {
			assert_int_equal(later->integer, value.integer);
		}
		kr_relic_drop(b.stream, &b.ctx.mem, kr_relics_at(b.list, 0), &b.list);
		kr_history_forget(h);
	}
	tear_down(&b);
}

/* A row of one UPDATE, times in nanoseconds since 1970. */
static void test_size(void **state)
{
	const int64_t end = INT64_C(1764400000000000000), took = 300000;
	struct bench b;

	(void)state;
	set_up(&b);
	struct kr_history *h = kr_stream_history(b.stream);
	struct kr_left left = {.flags = 0x3ff,
		.seq = 1000000,
		.line = 5000000,
		.id = kr_history_int(h, 1000000),
		.value = kr_history_int(h, 1000000),
		.at = {[KR_LEFT_END] = end,
			[KR_LEFT_ENDED] = end + took,
			[KR_LEFT_COMMIT] = end,
			[KR_LEFT_COMMITTED] = end + took,
			[KR_LEFT_RELEASE] = end,
			[KR_LEFT_RELEASED] = end + took,
			[KR_LEFT_DUE] = end + took,
			[KR_LEFT_SENT] = end - took,
			[KR_LEFT_ANSWERED] = end - 1,
			[KR_LEFT_LOCK] = end - took,
			[KR_LEFT_LOCKED] = end - 1}};
	size_t before = b.ctx.mem.used;
	assert_true(kr_relic_put(b.stream, &b.ctx.mem, &left, &b.list));
	assert_in_range(b.ctx.mem.used - before, 1, 48);
	kr_relic_drop(b.stream, &b.ctx.mem, kr_relics_at(b.list, 0), &b.list);
	tear_down(&b);
}

/* Relics come and go in any order: the list holds those that are left, where they lie stays, and one alone takes nothing beside itself. */
static void test_lists(void **state)
{
	enum { MOST = 9 };
	struct kr_relic *there[MOST];
	struct kr_rng rng;
	struct bench b;
	uint32_t n = 0;

	(void)state;
	kr_rng_init(&rng, 2);
	set_up(&b);
	size_t before = b.ctx.mem.used;
	for (int i = 0; i < 5000; i++) {
		if (n < MOST && (n == 0 || kr_rng_below(&rng, 2))) {
			struct kr_left left = {.seq = (uint32_t)i, .id = {KR_NONE}, .value = {KR_NONE}};
			assert_true(kr_relic_put(b.stream, &b.ctx.mem, &left, &b.list));
			there[n++] = kr_relics_at(b.list, kr_relics_count(b.list) - 1);
		} else {
			uint32_t which = (uint32_t)kr_rng_below(&rng, n);
			kr_relic_drop(b.stream, &b.ctx.mem, there[which], &b.list);
			there[which] = there[--n];
		}
		assert_int_equal(kr_relics_count(b.list), n);
		for (uint32_t r = 0; r < n; r++) {
			uint32_t met = 0;
			for (uint32_t at = 0; at < n; at++)
				met += kr_relics_at(b.list, at) == there[r];
			assert_int_equal(met, 1);
		}
		if (n == 1)
			assert_in_range(b.ctx.mem.used - before, 1, sizeof(struct kr_relic) + 20);
	}
	while (n > 0)
		kr_relic_drop(b.stream, &b.ctx.mem, there[--n], &b.list);
	tear_down(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_any), cmocka_unit_test(test_values), cmocka_unit_test(test_size), cmocka_unit_test(test_lists)};

	return cmocka_run_group_tests_name("relic", tests, NULL, NULL);
}
