/* frontend/source: lines, bytes and blocks of plain and compressed files; errors; failing allocations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "frontend/source.h"
#include "frontend/unpack.h"

struct fixture {
	char path[32];
	struct kr_ctx ctx;
	struct kr_err err;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	int file;

	strcpy(f->path, "/tmp/krait-unit-XXXXXX");
	file = mkstemp(f->path);
	assert_true(file >= 0);
	close(file);
	kr_ctx_init(&f->ctx, 0, 0);
	kr_err_init(&f->err);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(f->ctx.mem.used, 0);
	unlink(f->path);
	free(f);
	return 0;
}

static void put(const struct fixture *f, const char *mode, const void *data, size_t length)
{
	FILE *file = fopen(f->path, mode);

	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, length, file), length);
	fclose(file);
}

/* Appends a gzip member. */
static void put_gzip(const struct fixture *f, const char *mode, const void *data, unsigned length)
{
	gzFile file = gzopen(f->path, mode);

	assert_non_null(file);
	assert_int_equal(gzwrite(file, data, length), length);
	gzclose(file);
}

static void expect_lines(struct fixture *f, const char *const *lines, size_t n)
{
	struct kr_source *s;
	char *line;
	size_t length;

	assert_int_equal(kr_source_open(&f->ctx, f->path, &s, &f->err), KR_OK);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(kr_source_line(s, &line, &length, &f->err), KR_OK);
		assert_non_null(line);
		assert_string_equal(line, lines[i]);
		assert_int_equal(length, strlen(lines[i]));
		assert_int_equal(kr_source_line_number(s), i + 1);
	}
	for (int again = 0; again < 2; again++) {
		assert_int_equal(kr_source_line(s, &line, &length, &f->err), KR_OK);
		assert_null(line);
	}
	assert_int_equal(kr_source_line_number(s), n);
	kr_source_free(s);
}

static void splits_lines(void **state)
{
	static const struct { const char *text; size_t n; const char *lines[4]; } rows[] = {
		{"", 0, {NULL}}, {"a", 1, {"a"}}, {"a\n", 1, {"a"}}, {"\n", 1, {""}}, {"\n\n", 2, {"", ""}}, {"a\nb", 2, {"a", "b"}},
		{"a\r\nb\r\n", 2, {"a", "b"}}, {"a\rb\n\r\n", 2, {"a\rb", ""}}, {"a\r", 1, {"a\r"}}, {"\n\na\n\n", 4, {"", "", "a", ""}},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < KR_COUNT(rows); i++) {
		put(f, "wb", rows[i].text, strlen(rows[i].text));
		expect_lines(f, rows[i].lines, rows[i].n);
		put_gzip(f, "wb", rows[i].text, (unsigned)strlen(rows[i].text));
		expect_lines(f, rows[i].lines, rows[i].n);
	}
}

/* Line i is i % 300000 letters long: below, at and above every buffer size. */
static size_t line_length(unsigned i) { return (size_t)i * 7919 % 300000; }

static void follow_long_lines(struct fixture *f)
{
	struct kr_source *s;
	char *line;
	size_t length;

	assert_int_equal(kr_source_open(&f->ctx, f->path, &s, &f->err), KR_OK);
	for (unsigned i = 0; i < 40; i++) {
		assert_int_equal(kr_source_line(s, &line, &length, &f->err), KR_OK);
		assert_non_null(line);
		assert_int_equal(length, line_length(i));
		assert_int_equal(strspn(line, (char[]){(char)('a' + i % 26), '\0'}), length);
	}
	assert_int_equal(kr_source_line(s, &line, &length, &f->err), KR_OK);
	assert_null(line);
	assert_true(f->ctx.mem.peak < 2000000);
	assert_true(kr_source_size(s) > 0);
	assert_int_equal(kr_source_read_so_far(s), kr_source_size(s));
	kr_source_free(s);
}

static void keeps_long_lines_whole(void **state)
{
	struct fixture *f = *state;
	size_t size = 0, at = 0;
	char *all;

	for (unsigned i = 0; i < 40; i++)
		size += line_length(i) + 1;
	all = malloc(size);
	assert_non_null(all);
	for (unsigned i = 0; i < 40; i++) {
		memset(all + at, 'a' + (int)(i % 26), line_length(i));
		at += line_length(i);
		all[at++] = '\n';
	}
	put(f, "wb", all, size);
	follow_long_lines(f);
	put_gzip(f, "wb", all, (unsigned)size / 3); /* three members, cut anywhere */
	put_gzip(f, "ab", all + size / 3, (unsigned)(size / 3));
	put_gzip(f, "ab", all + size / 3 * 2, (unsigned)(size - size / 3 * 2));
	put(f, "ab", "\0\0\0\0", 4); /* padding, as tape blocks have it */
	follow_long_lines(f);
	free(all);
}

static void shows_the_head_without_consuming_it(void **state)
{
	struct fixture *f = *state;
	struct kr_source *s;
	const char *head;
	char *line, big[10000];
	size_t length;

	put(f, "wb", "ab\ncd", 5);
	assert_int_equal(kr_source_open(&f->ctx, f->path, &s, &f->err), KR_OK);
	assert_int_equal(kr_source_head(s, &head, &length, &f->err), KR_OK);
	assert_int_equal(length, 5);
	assert_memory_equal(head, "ab\ncd", 5);
	assert_int_equal(kr_source_line(s, &line, &length, &f->err), KR_OK);
	assert_string_equal(line, "ab");
	kr_source_free(s);

	memset(big, 'x', sizeof big);
	put_gzip(f, "wb", big, sizeof big);
	assert_int_equal(kr_source_open(&f->ctx, f->path, &s, &f->err), KR_OK);
	assert_int_equal(kr_source_head(s, &head, &length, &f->err), KR_OK);
	assert_int_equal(length, 4096);
	assert_int_equal(kr_source_line(s, &line, &length, &f->err), KR_OK);
	assert_int_equal(length, sizeof big);
	kr_source_free(s);
}

static void gives_the_rest_and_bytes(void **state)
{
	struct fixture *f = *state;
	struct kr_source *s;
	char *text, out[8];
	size_t length;

	put(f, "wb", "one\ntwo\nthree", 13);
	assert_int_equal(kr_source_open(&f->ctx, f->path, &s, &f->err), KR_OK);
	assert_int_equal(kr_source_line(s, &text, &length, &f->err), KR_OK);
	assert_int_equal(kr_source_rest(s, &text, &length, &f->err), KR_OK);
	assert_string_equal(text, "two\nthree");
	assert_int_equal(length, 9);
	kr_source_free(s);

	assert_int_equal(kr_source_open(&f->ctx, f->path, &s, &f->err), KR_OK);
	assert_int_equal(kr_source_bytes(s, out, 8, &length, &f->err), KR_OK);
	assert_int_equal(length, 8);
	assert_memory_equal(out, "one\ntwo\n", 8);
	assert_int_equal(kr_source_bytes(s, out, 8, &length, &f->err), KR_OK);
	assert_int_equal(length, 5);
	assert_int_equal(kr_source_bytes(s, out, 8, &length, &f->err), KR_OK);
	assert_int_equal(length, 0);
	kr_source_free(s);
}

/* A byte order mark begins text, once; bytes are given as they are. */
static void passes_over_a_mark(void **state)
{
	static const char mark[] = "\xef\xbb\xbf";
	static const struct { const char *file; size_t length; const char *rest; size_t rest_length; } rows[] = {
		{"\xef\xbb\xbf", 3, "", 0}, {"\xef\xbb\xbf" "a\n", 5, "a\n", 2}, {"\xef\xbb\xbf\xef\xbb\xbf" "a", 7, "\xef\xbb\xbf" "a", 4},
		{"\xef\xbb", 2, "\xef\xbb", 2}, {"a\xef\xbb\xbf", 4, "a\xef\xbb\xbf", 4}, {"\xef\xbb\xbf" "a\0b", 6, "\xef\xbb\xbf" "a\0b", 6},
	};
	struct fixture *f = *state;
	struct kr_source *s;
	char *text, out[8];
	const char *head;
	size_t length;

	for (size_t i = 0; i < KR_COUNT(rows); i++)
		for (int gzip = 0; gzip < 2; gzip++) {
			if (gzip)
				put_gzip(f, "wb", rows[i].file, (unsigned)rows[i].length);
			else
				put(f, "wb", rows[i].file, rows[i].length);
			assert_int_equal(kr_source_open(&f->ctx, f->path, &s, &f->err), KR_OK);
			assert_int_equal(kr_source_head(s, &head, &length, &f->err), KR_OK);
			assert_int_equal(length, rows[i].rest_length);
			assert_int_equal(kr_source_rest(s, &text, &length, &f->err), KR_OK);
			assert_int_equal(length, rows[i].rest_length);
			assert_memory_equal(text, rows[i].rest, length);
			kr_source_free(s);
		}
	put(f, "wb", "\xef\xbb\xbf" "a\nb", 6);
	expect_lines(f, (const char *const[]){"a", "b"}, 2);
	assert_int_equal(kr_source_open(&f->ctx, f->path, &s, &f->err), KR_OK);
	assert_int_equal(kr_source_bytes(s, out, 8, &length, &f->err), KR_OK);
	assert_int_equal(length, 6);
	assert_memory_equal(out, mark, 3);
	kr_source_free(s);
}

static void reads_bytes_of_a_large_file(void **state)
{
	struct fixture *f = *state;
	struct kr_source *s;
	unsigned char *all = malloc(1000003), out[70000];
	size_t length, at = 0;

	assert_non_null(all);
	for (size_t i = 0; i < 1000003; i++)
		all[i] = (unsigned char)(i * 31 + i / 251);
	put(f, "wb", all, 1000003);
	assert_int_equal(kr_source_open(&f->ctx, f->path, &s, &f->err), KR_OK);
	for (size_t size = 1; at < 1000003; size = size * 7 % 69997 + 1) {
		assert_int_equal(kr_source_bytes(s, out, size, &length, &f->err), KR_OK);
		assert_int_equal(length, size < 1000003 - at ? size : 1000003 - at);
		assert_memory_equal(out, all + at, length);
		at += length;
	}
	kr_source_free(s);
	free(all);
}

static void shows_what_is_there(void **state)
{
	struct fixture *f = *state;
	struct kr_source *s;
	unsigned char *all = malloc(1000003);
	const unsigned char *bytes;
	size_t length, at = 0;

	assert_non_null(all);
	for (size_t i = 0; i < 1000003; i++)
		all[i] = (unsigned char)(i * 31 + i / 251);
	for (int gzip = 0; gzip < 2; gzip++, at = 0) {
		if (gzip)
			put_gzip(f, "wb", (const char *)all, 1000003);
		else
			put(f, "wb", all, 1000003);
		assert_int_equal(kr_source_open(&f->ctx, f->path, &s, &f->err), KR_OK);
		for (size_t least = 1; at < 1000003; least = least * 7 % 997 + 1) {
			assert_int_equal(kr_source_peek(s, least, &bytes, &length, &f->err), KR_OK);
			assert_true(length <= 1000003 - at && (length >= least || length == 1000003 - at));
			assert_memory_equal(bytes, all + at, length);
			length = least * 3 < length ? least * 3 : length;
			kr_source_skip(s, length);
			at += length;
		}
		assert_int_equal(kr_source_peek(s, 1, &bytes, &length, &f->err), KR_OK);
		assert_int_equal(length, 0);
		kr_source_free(s);
	}
	free(all);
}

static void refuses_what_is_no_file(void **state)
{
	struct fixture *f = *state;
	struct kr_source *s = NULL;
	char message[600];

	assert_int_equal(kr_source_open(&f->ctx, "/tmp", &s, &f->err), KR_BAD);
	kr_err_format(&f->err, message, sizeof message);
	assert_string_equal(message, "/tmp: is a folder, expected a file");
	kr_err_init(&f->err);
	assert_int_equal(kr_source_open(&f->ctx, "/tmp/krait-unit-none/x", &s, &f->err), KR_BAD);
	kr_err_format(&f->err, message, sizeof message);
	assert_string_equal(message, "/tmp/krait-unit-none/x: cannot open: No such file or directory");
	assert_null(s);
}

static enum kr_status read_all(struct fixture *f)
{
	struct kr_source *s;
	char *line;
	size_t length;
	enum kr_status status = kr_source_open(&f->ctx, f->path, &s, &f->err);

	if (status)
		return status;
	while (!(status = kr_source_line(s, &line, &length, &f->err)) && line)
		;
	kr_source_free(s);
	return status;
}

static void every_cut_of_a_gzip_file_is_an_error(void **state)
{
	struct fixture *f = *state;
	unsigned char data[4096];
	size_t size;
	FILE *file;

	put_gzip(f, "wb", "one\ntwo\nthree\none\ntwo\n", 22);
	file = fopen(f->path, "rb");
	size = fread(data, 1, sizeof data, file);
	fclose(file);
	assert_int_equal(read_all(f), KR_OK);
	for (size_t cut = 2; cut < size; cut++) {
		put(f, "wb", data, cut);
		kr_err_init(&f->err);
		assert_int_equal(read_all(f), KR_BAD);
		assert_string_equal(f->err.text, "truncated gzip data: ends inside a member");
	}
}

static void stops_at_limits(void **state)
{
	struct fixture *f = *state;
	char *zeros = calloc(1, 3 << 20);

	put(f, "wb", zeros, 3 << 20); /* one line of 3 MiB */
	free(zeros);
	kr_ctx_init(&f->ctx, 0, 1);
	assert_int_equal(read_all(f), KR_NOMEM);
	kr_ctx_init(&f->ctx, 1e-9, 0);
	assert_int_equal(read_all(f), KR_TIMEOUT);
}

static void survives_failing_allocations(void **state)
{
	struct fixture *f = *state;
	char *long_line = calloc(1, 600000);
	enum kr_status status;
	uint64_t fail_at = 0;

	assert_non_null(long_line);
	memset(long_line, 'x', 599999);
	put_gzip(f, "wb", long_line, 600000);
	do {
		kr_ctx_init(&f->ctx, 0, 0);
		f->ctx.mem.fail_at = ++fail_at;
		status = read_all(f);
		assert_int_equal(f->ctx.mem.used, 0);
		assert_true(status == KR_OK || status == KR_NOMEM);
	} while (status != KR_OK);
	assert_true(fail_at > 5);
	free(long_line);
}

/* Each that krait was built with: whole, twice, cut anywhere, and with something behind it. */
static void unpacks_what_it_was_built_with(void **state)
{
	static const struct {
		const char *name, *bytes;
		size_t size;
	} rows[] = {
		{"zstd",
			"\x28\xb5\x2f\xfd\x04\x58\x41\x00\x00\x6f\x6e\x65\x0a\x74\x77\x6f\x0a\xe6"
			"\xa6\x0e\x40",
			21},
		{"xz",
			"\xfd\x37\x7a\x58\x5a\x00\x00\x01\x69\x22\xde\x36\x02\x00\x21\x01\x16\x00"
			"\x00\x00\x74\x2f\xe5\xa3\x01\x00\x07\x6f\x6e\x65\x0a\x74\x77\x6f\x0a\x00"
			"\xe6\x0b\xba\x12\x00\x01\x1c\x08\x44\x60\x2a\xc8\x90\x42\x99\x0d\x01\x00"
			"\x00\x00\x00\x01\x59\x5a",
			60},
		{"bzip2",
			"\x42\x5a\x68\x31\x31\x41\x59\x26\x53\x59\xa7\x14\x2b\x77\x00\x00\x02\xc1"
			"\x80\x00\x10\x02\x01\x84\x80\x20\x00\x21\x80\x0c\x02\x38\xf5\x1b\x8b\xb9"
			"\x22\x9c\x28\x48\x53\x8a\x15\xbb\x80",
			45},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char twice[256];
		if (!kr_packing_named(rows[i].name))
			continue;
		memcpy(twice, rows[i].bytes, rows[i].size);
		memcpy(twice + rows[i].size, rows[i].bytes, rows[i].size);
		for (size_t size = 1; size <= 2 * rows[i].size; size++) {
			bool whole = size == rows[i].size || size == 2 * rows[i].size;
			struct kr_source *source;
			size_t length;
			char *text;
			kr_err_init(&f->err);
			if (size < 6)
				continue; /* is not told from what is plain */
			assert_int_equal(kr_source_memory(&f->ctx, "m", twice, size, &source, &f->err), KR_OK);
			enum kr_status status = kr_source_rest(source, &text, &length, &f->err);
			assert_int_equal(status, whole ? KR_OK : KR_BAD);
			if (whole) {
				assert_int_equal(length, size == rows[i].size ? 8 : 16);
				assert_memory_equal(text, "one\ntwo\n", 8);
			}
			kr_source_free(source);
		}
		assert_int_equal(f->ctx.mem.used, 0);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(splits_lines), TEST(keeps_long_lines_whole), TEST(shows_the_head_without_consuming_it), TEST(gives_the_rest_and_bytes), TEST(passes_over_a_mark),
		TEST(unpacks_what_it_was_built_with),
		TEST(reads_bytes_of_a_large_file), TEST(shows_what_is_there), TEST(refuses_what_is_no_file), TEST(every_cut_of_a_gzip_file_is_an_error), TEST(stops_at_limits),
		TEST(survives_failing_allocations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
