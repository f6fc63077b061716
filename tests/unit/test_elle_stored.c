/* frontend/elle_stored: tests in Jepsen's block format, whole, cut off, changed, and with something else in them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

#include "tests/unit/reading.h"

enum { INDEX = 1, VALUE, PARTIAL_MAP, STREAM, VECTOR };

struct file {
	unsigned char bytes[4096], index[256];
	size_t n, index_n, places[16];
};

static void number(unsigned char *out, uint64_t value, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		out[i] = (unsigned char)(value >> 8 * (size - 1 - i));
}

/* A file of that version and root. */
static void begin(struct file *f, unsigned version, unsigned root)
{
	memset(f, 0, sizeof *f);
	memcpy(f->bytes, "JEPSEN", 6);
	number(f->bytes + 6, version, 4);
	f->n = 18;
	number(f->index, root, 4);
	f->index_n = 4;
}

static void block(struct file *f, unsigned id, unsigned type, const void *data, size_t length)
{
	unsigned char *at = f->bytes + f->n;

	number(at, 28 + length, 8);
	number(at + 12, type, 2);
	memcpy(at + 28, data, length);
	number(at + 8, crc32(crc32(0, at + 28, (uInt)length), at, 28), 4);
	number(f->index + f->index_n, id, 4);
	number(f->index + f->index_n + 4, f->n, 8);
	f->index_n += 12;
	f->places[id] = f->n;
	f->n += 28 + length;
}

static void end(struct file *f)
{
	number(f->bytes + 10, f->n, 8);
	block(f, 15, INDEX, f->index, f->index_n);
}

/* {:history #block-ref 1}; of a partial map with the block of its rest. */
static void test_map(struct file *f, unsigned id, unsigned type, unsigned char rest)
{
	static const char map[] = "\0\0\0\0\xc0\xe6\xca\xf7\xcd\xe1history\xef\xe3\x09" "block-ref\x01\x01";
	unsigned char bytes[sizeof map];
	size_t skip = type == PARTIAL_MAP ? 0 : 4;

	memcpy(bytes, map, sizeof map);
	bytes[3] = rest;
	block(f, id, type, bytes + skip, sizeof map - 1 - skip);
}

/* {:type :ok, :process 0, :f :txn, :value [[:w :x N]]} as a value of the tag of operations: all told, or by its numbers. */
static size_t operation(unsigned char *out, bool first, unsigned char n)
{
	static const char told[] = "\xef\xe3\x11jepsen.history.Op\x07N\xff\xcd\xca\xf7\xcd\xdcok\0\xcd\xca\xf7\xcd\xddtxn"
		"\xe5\xe7\xca\xf7\xcd\xdbw\xca\xf7\xcd\xdbxN\xf7";
	static const char named[] = "\xa0N\xff\x80\0\x82\xe5\xe7\xca\xf7\x84\xca\xf7\x85N\xf7";
	size_t length = first ? sizeof told - 1 : sizeof named - 1;

	memcpy(out, first ? told : named, length);
	for (size_t i = 0; i < length; i++)
		if (out[i] == 'N')
			out[i] = n;
	return length;
}

/* Operations [from, to) one behind the other. */
static void stream(struct file *f, unsigned id, unsigned char from, unsigned char to)
{
	unsigned char bytes[1024];
	size_t n = 0;

	for (unsigned char i = from; i < to; i++)
		n += operation(bytes + n, i == from, i);
	block(f, id, STREAM, bytes, n);
}

/* A vector of `count` operations in all: blocks 3 and 4, of `first` and of the rest. */
static void vector(struct file *f, unsigned count, unsigned first)
{
	unsigned char bytes[32];

	number(bytes, count, 8);
	number(bytes + 8, 0, 8);
	number(bytes + 16, 3, 4);
	number(bytes + 20, first, 8);
	number(bytes + 28, 4, 4);
	block(f, 1, VECTOR, bytes, 32);
}

/* Three operations in one block and two in the next. */
static void good(struct file *f)
{
	begin(f, 1, 2);
	stream(f, 3, 0, 3);
	stream(f, 4, 3, 5);
	vector(f, 5, 3);
	test_map(f, 2, VALUE, 0);
	end(f);
}

static int set_up(void **state)
{
	static struct reading r;

	reading_init(&r);
	*state = &r;
	return 0;
}

static int tear_down(void **state)
{
	reading_done(*state);
	return 0;
}

static enum kr_status read_bytes(struct reading *r, const void *bytes, size_t length)
{
	reading_write(r, "test.jepsen", bytes, length);
	return reading_read(r, "test.jepsen");
}

static void check_good(struct reading *r, uint32_t count)
{
	if (r->status != KR_OK)
		fail_msg("%s", r->message);
	assert_int_equal(r->h.txns.n, count);
	for (uint32_t t = 0; t < count; t++) {
		const struct kr_operation *op = &r->h.ops.at[r->h.txns.at[t].op_first];

		assert_int_equal(r->h.txns.at[t].status, KR_COMMITTED);
		assert_int_equal(r->h.txns.at[t].op_count, 1);
		assert_int_equal(r->h.txns.at[t].line, t + 1);
		assert_int_equal(op->kind, KR_OP_WRITE);
		assert_string_equal(reading_key(r, op->key), "x");
	}
}

static void test_versions(void **state)
{
	struct reading *r = *state;
	struct file f;
	unsigned char list[1024] = {0xe7};
	size_t n = 1;

	good(&f);
	(void)read_bytes(r, f.bytes, f.n);
	check_good(r, 5);

	for (unsigned char i = 0; i < 3; i++)
		n += operation(list + n, i == 0, i);
	for (unsigned version = 0; version < 2; version++) {
		begin(&f, version, 2);
		block(&f, 1, VALUE, list, n);
		test_map(&f, 2, VALUE, 0);
		end(&f);
		(void)read_bytes(r, f.bytes, f.n);
		check_good(r, 3);
	}

	/* a map whose rest has the history; a history without operations in a block */
	begin(&f, 1, 5);
	stream(&f, 1, 0, 4);
	block(&f, 5, PARTIAL_MAP, "\x00\x00\x00\x02\xc0\xe4", 6);
	test_map(&f, 2, PARTIAL_MAP, 0);
	end(&f);
	(void)read_bytes(r, f.bytes, f.n);
	check_good(r, 4);

	begin(&f, 1, 2);
	block(&f, 1, VECTOR, "\0\0\0\0\0\0\0", 8);
	test_map(&f, 2, VALUE, 0);
	end(&f);
	(void)read_bytes(r, f.bytes, f.n);
	check_good(r, 0);
}

/* Cut off anywhere: one line that says so. */
static void test_cut(void **state)
{
	struct reading *r = *state;
	struct file f;

	good(&f);
	for (size_t n = 6; n < f.n; n++) {
		assert_int_equal(read_bytes(r, f.bytes, n), KR_BAD);
		assert_non_null(strstr(r->message, "cut off"));
		assert_non_null(strstr(r->message, "history.edn"));
		assert_null(strchr(r->message, '\n'));
	}
}

/* A bit changed anywhere: told, but where it is nothing. */
static void test_changed(void **state)
{
	struct reading *r = *state;
	struct file f;

	good(&f);
	for (size_t n = 6; n < f.n; n++) {
		bool blank = false;

		for (unsigned id = 0; id < 16; id++)
			blank = blank || (f.places[id] > 0 && n >= f.places[id] + 14 && n < f.places[id] + 28);
		f.bytes[n] ^= 0x10;
		(void)read_bytes(r, f.bytes, f.n);
		f.bytes[n] ^= 0x10;
		if (blank) {
			check_good(r, 5);
			continue;
		}
		assert_int_equal(r->status, KR_BAD);
		assert_non_null(strstr(r->message, "history.edn"));
	}
}

static void test_other(void **state)
{
	static const struct {
		const char *name, *why;
	} cases[] = {
		{"version", "is in version 2 of Jepsen's block format, expected 0 or 1 (byte 6 of"},
		{"index", "nothing has been saved in it, expected a test (byte 10 of"},
		{"no index", "found a block of type 2, expected the index (1)"},
		{"root", "a test without a history, expected one"},
		{"no root", "the index has no block 7, expected it"},
		{"root type", "found a block of type 4, expected the test, a map (2)"},
		{"round", "a test without a history, expected one"},
		{"no map", "a test without a history, expected one"},
		{"nil", "the history has not been saved in it: the test ended before"},
		{"value", "found the byte 0x05, expected a list"},
		{"type", "found a block of type 1, expected operations (2 or 4)"},
		{"vector", "a vector without its size"},
		{"lost", "operation 4 is to come next, but 3 have been read"},
		{"short", "the history is to have 9 operations, but has 5"},
		{"inside", ":6: the block ends inside a value"},
		{"no operation", ":1: found 5, expected an operation: a map"},
	};
	struct reading *r = *state;

	for (size_t i = 0; i < KR_COUNT(cases); i++) {
		const char *name = cases[i].name;
		bool blocks = strcmp(name, "lost") == 0 || strcmp(name, "short") == 0;
		struct file f;

		begin(&f, strcmp(name, "version") == 0 ? 2 : 1, strcmp(name, "root") == 0 ? 0 : strcmp(name, "no root") == 0 ? 7 : 2);
		stream(&f, 3, 0, 3);
		stream(&f, 4, 3, 5);
		if (blocks)
			vector(&f, name[0] == 's' ? 9 : 5, name[0] == 'l' ? 4 : 3);
		else if (strcmp(name, "nil") == 0)
			block(&f, 1, VALUE, "\xf7", 1);
		else if (strcmp(name, "value") == 0)
			block(&f, 1, VALUE, "\x05", 1);
		else if (strcmp(name, "type") == 0)
			block(&f, 1, INDEX, "\x05", 1);
		else if (strcmp(name, "vector") == 0)
			block(&f, 1, VECTOR, "\0\0\0\0\0\0\0", 7);
		else if (strcmp(name, "no operation") == 0)
			block(&f, 1, STREAM, "\x05", 1);
		else {
			unsigned char bytes[1024];
			size_t n = 0;

			for (unsigned char k = 0; k < 5; k++)
				n += operation(bytes + n, k == 0, k);
			bytes[n++] = 0xa0; /* another one begins */
			block(&f, 1, STREAM, bytes, n - (strcmp(name, "inside") != 0));
		}
		if (strcmp(name, "root type") == 0)
			stream(&f, 2, 0, 1);
		else if (strcmp(name, "round") == 0)
			block(&f, 2, PARTIAL_MAP, "\0\0\0\2\xc0\xe4", 6);
		else if (strcmp(name, "no map") == 0)
			block(&f, 2, VALUE, "\x05", 1);
		else
			test_map(&f, 2, VALUE, 0);
		if (strcmp(name, "no index") == 0) {
			number(f.bytes + 10, f.places[2], 8);
		} else if (strcmp(name, "index") != 0) {
			end(&f);
		}
		assert_int_equal(read_bytes(r, f.bytes, f.n), KR_BAD);
		if (!strstr(r->message, cases[i].why))
			fail_msg("%s: %s, expected %s", name, r->message, cases[i].why);
	}
}

static void test_memory(void **state)
{
	struct reading *r = *state;
	struct file f;

	good(&f);
	reading_write(r, "test.jepsen", f.bytes, f.n);
	for (uint64_t n = 1;; n++) {
		r->ctx.mem.count = 0;
		r->ctx.mem.fail_at = n;
		if (reading_read(r, "test.jepsen") == KR_OK)
			break;
		assert_int_equal(r->status, KR_NOMEM);
	}
	r->ctx.mem.fail_at = 0;
	check_good(r, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_versions, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_cut, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_changed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_other, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_memory, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
