/* frontend/fressian: bytes and the forms that they are; bytes that are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "frontend/fressian.h"

/* Bytes, in hexadecimal with blanks between values, and what is read: EDN without keywords' colons, an object of Java in <>. */
static const struct {
	const char *bytes, *text;
} values[] = {
	/* integers: the first byte has the upper bits */
	{"00", "0"},
	{"3f", "63"},
	{"ff", "-1"},
	{"50 40", "64"},
	{"4f fe", "-2"},
	{"40 00", "-4096"},
	{"5f ff", "4095"},
	{"68 10 00", "4096"},
	{"60 00 00", "-524288"},
	{"6f ff ff", "524287"},
	{"72 08 00 00", "524288"},
	{"70 00 00 00", "-33554432"},
	{"73 ff ff ff", "33554431"},
	{"76 02 00 00 00", "33554432"},
	{"74 00 00 00 00", "-8589934592"},
	{"77 ff ff ff ff", "8589934591"},
	{"7a 02 00 00 00 00", "8589934592"},
	{"78 00 00 00 00 00", "-2199023255552"},
	{"7b ff ff ff ff ff", "2199023255551"},
	{"7e 02 00 00 00 00 00", "2199023255552"},
	{"7c 00 00 00 00 00 00", "-562949953421312"},
	{"7f ff ff ff ff ff ff", "562949953421311"},
	{"f8 00 02 00 00 00 00 00 00", "562949953421312"},
	{"f8 80 00 00 00 00 00 00 00", "-9223372036854775808"},
	/* of any size: two's complement; more than 64 bits do not fit */
	{"c6 d1 05", "5"},
	{"c6 d1 80", "-128"},
	{"c6 d9 08 7f ff ff ff ff ff ff ff", "9223372036854775807"},
	{"c6 d9 09 01 00 00 00 00 00 00 00 00", "of 9 bytes"},
	{"c7 d1 0f 01", "1.5"},
	{"c7 d1 0f ff", "150.0"},
	/* the rest of what stands alone */
	{"f5", "true"},
	{"f6", "false"},
	{"f7", "nil"},
	{"fa 3f f8 00 00 00 00 00 00", "1.5"},
	{"f9 3f c0 00 00", "1.5"},
	{"fb", "0.0"},
	{"fc", "1.0"},
	{"fa 7f f0 00 00 00 00 00 00", "beyond all numbers"},
	{"da", "\"\""},
	{"dd 61 62 63", "\"abc\""},
	{"e3 08 61 62 63 64 65 66 67 68", "\"abcdefgh\""},
	{"e2 02 61 62 dc 63 64", "\"abcd\""},
	{"e2 01 61 e2 01 62 e3 01 63", "\"abc\""},
	{"e2 03 ed a0 bd dd ed b8 80", "\"\xf0\x9f\x98\x80\""},
	{"e0 ed a0 bd ed b8 80", "\"\xf0\x9f\x98\x80\""},
	{"dc c3 a9", "\"\xc3\xa9\""},
	{"d2 01 02", "<bytes>"},
	{"d8 01 00 d9 01 00", "<bytes>"},
	{"c3 d9 10 00 11 22 33 44 55 66 77 88 99 aa bb cc dd ee ff", "\"00112233-4455-6677-8899-aabbccddeeff\""},
	/* lists: short, counted, up to their end; arrays */
	{"e4", "[]"},
	{"e6 01 02", "[1 2]"},
	{"ec 02 01 02", "[1 2]"},
	{"ed 01 e5 02 fd", "[1 [2]]"},
	{"ed fd", "[]"},
	{"b0 02 01 ff", "[1 -1]"},
	{"b2 01 f5", "[true]"},
	/* maps, sets (in an order of their own), names */
	{"c0 e6 da 01", "{\"\" 1}"},
	{"c0 ed fd", "{}"},
	{"c1 e7 03 01 02", "[1 2 3]"},
	{"ca f7 dc 6f 6b", "ok"},
	{"ca db 61 db 62", "a/b"},
	{"c9 f7 db 78", "x"},
	{"c4 db 61", "<regex>"},
	{"c5 db 61", "\"a\""},
	{"c8 05", "<inst>"},
	/* what is kept is named by its number: 0 is the list, whose own number it has before what is in it */
	{"e6 cd db 61 80", "[\"a\" \"a\"]"},
	{"e6 cd e5 01 80", "[[1] [1]]"},
	{"e7 cd e5 cd 05 81 80", "[[5] 5 [5]]"},
	{"e7 cd db 61 cc 00 ca f7 80", "[\"a\" \"a\" a]"},
	{"fe 05", "5"},
	{"cd 05 80", "5 5"},
	/* tags: told once; what is known, what is not */
	{"ef e3 09 6d 61 70 2d 65 6e 74 72 79 02 01 f7 a0 02 03", "[1 nil] [2 3]"},
	{"ef e3 13 70 65 72 73 69 73 74 65 6e 74 2d 68 61 73 68 2d 73 65 74 01 f7", "[]"},
	{"ef de 63 68 61 72 01 50 41", "A"},
	{"ef de 63 68 61 72 01 58 ac", "\xe0\xa2\xac"},
	{"ef de 63 68 61 72 01 50 e9", "\xc3\xa9"},
	{"ef de 61 74 6f 6d 01 e5 01", "[1]"},
	{"ef e0 72 65 63 6f 72 64 02 c9 f7 db 52 c0 e6 db 61 01", "{\"a\" 1}"},
	{"e6 ef db 3f 02 01 e5 02 07", "[<?> 7]"},
	{"e6 ef db 3f 00 f0 00", "[<?> <?>]"},
	{"ef e3 11 6a 65 70 73 65 6e 2e 68 69 73 74 6f 72 79 2e 4f 70 07 00 01 cd ca f7 dc 6f 6b 02 cd ca f7 db 77 e6 03 04 c0 e6 da 05",
		"{index 0 time 1 type ok process 2 f w value [3 4] \"\" 5}"},
	{"ef e3 11 6a 65 70 73 65 6e 2e 68 69 73 74 6f 72 79 2e 4f 70 07 00 01 f7 02 f7 f7 f7 a0 01 ff f7 f7 f7 f7 f7",
		"{index 0 time 1 type nil process 2 f nil value nil} {index 1 time -1 type nil process nil f nil value nil}"},
};

/* Bytes, and what is said of them. */
static const struct {
	const char *bytes, *why;
} refused[] = {
	{"50", "the block ends inside a value, expected all of it (byte 1"},
	{"e6 01", "the block ends inside a value"},
	{"ec 09 01", "the block ends inside a value"},
	{"ed 01", "the block ends inside a value"},
	{"dd 61 62", "the block ends inside a value"},
	{"cd", "the block ends inside a value"},
	{"ca f7", "the block ends inside a value"},
	{"ef db 3f", "the block ends inside a value"},
	{"f1", "found the byte 0xf1, expected a value (byte 0"},
	{"ce", "found the byte 0xce, expected a value"},
	{"cb", "found the byte 0xcb, expected a value"},
	{"c2", "found the byte 0xc2, expected a value"},
	{"e5 fd", "found the end of a list, expected a value (byte 1"},
	{"fd", "found the end of a list, expected a value"},
	{"ed ca fd", "found the end of a list, expected a value"},
	{"ec ff", "found -1, expected a count"},
	{"e3 f5", "found the byte 0xf5, expected an integer"},
	{"e2 01 61 05", "found the byte 0x05, expected a text"},
	{"dc c3 28", "a text that is not UTF-8"},
	{"dd ed a0 bd", "a text that is not UTF-8"},
	{"80", "names an object that has not been told"},
	{"cd 80", "names an object that has not been told"},
	{"cd e5 80", "names an object that has not been told"},
	{"cc ff", "names an object that has not been told"},
	{"a0", "names a tag that has not been told"},
	{"f0 ff", "names a tag that has not been told"},
	{"e5 fe 01", "empties the caches inside a value"},
	{"c0 e5 01", "a map with a key without a value"},
	{"c0 05", "a map that is no list"},
	{"c1 05", "a set that is no list"},
	{"ca 05 05", "a name that is no text"},
	{"ca f7 e4", "a name that is no text"},
	{"c6 d0", "a number without bytes"},
	{"c6 05", "found the byte 0x05, expected bytes"},
	{"c3 d1 05", "a UUID of 1 bytes, expected 16"},
	{"ef de 63 68 61 72 01 f7", "a character that is none"},
	{"ef de 63 68 61 72 02 01 01", "a char of 2 fields, expected 1"},
	{"ef db 3f ff", "a ? of -1 fields"},
	{"ef e3 11 6a 65 70 73 65 6e 2e 68 69 73 74 6f 72 79 2e 4f 70 07 00 01 f7 02 f7 f7 05", "further fields are no map"},
};

struct fixture {
	struct kr_ctx ctx;
	struct kr_history h;
	struct kr_err err;
	struct kr_forms forms;
	struct kr_fressian s;
	unsigned char bytes[4096];
	size_t length;
	struct kr_str text;
};

static void start(struct fixture *f, const char *hexadecimal)
{
	unsigned byte;

	kr_ctx_init(&f->ctx, 0, 0);
	kr_err_init(&f->err);
	assert_int_equal(kr_history_init(&f->h, &f->ctx.mem), KR_OK);
	for (f->length = 0; sscanf(hexadecimal, "%2x", &byte) == 1; hexadecimal += strcspn(hexadecimal, " ") + (strchr(hexadecimal, ' ') != NULL))
		f->bytes[f->length++] = (unsigned char)byte;
	kr_forms_begin(&f->forms, &f->ctx, &f->h, "t", &f->err);
	kr_fressian_init(&f->s, &f->forms, f->bytes);
	kr_fressian_begin(&f->s, f->bytes, f->length);
	kr_str_init(&f->text, &f->ctx.mem);
}

static void stop(struct fixture *f)
{
	kr_str_done(&f->text);
	kr_fressian_done(&f->s);
	kr_forms_done(&f->forms);
	kr_history_done(&f->h);
	assert_int_equal(f->ctx.mem.used, 0);
}

static void show_scalar(struct fixture *f, const struct kr_form *form)
{
	static const char *const plain[] = {"nil", "false", "true"};
	char real[32];

	switch ((enum kr_form_type)form->type) {
	case KR_FORM_NIL:
	case KR_FORM_FALSE:
	case KR_FORM_TRUE: kr_str_add(&f->text, plain[form->type]); break;
	case KR_FORM_INT: kr_str_format(&f->text, "%lld", (long long)form->integer); break;
	case KR_FORM_REAL:
		kr_history_real_text(form->real, real);
		kr_str_add(&f->text, real);
		break;
	case KR_FORM_STRING: kr_str_format(&f->text, "\"%.*s\"", (int)form->length, form->text); break;
	case KR_FORM_OTHER: kr_str_format(&f->text, "<%.*s>", (int)form->length, form->text); break;
	default: kr_str_add_bytes(&f->text, form->text, form->length);
	}
}

/* The forms [at, end), those of one value or of a list's elements. */
static void show(struct fixture *f, uint32_t at, uint32_t end)
{
	for (uint32_t first = at; at < end; at = f->forms.nodes.at[at].end) {
		const struct kr_form *form = &f->forms.nodes.at[at];

		assert_in_range(form->end, at + 1, end);
		if (at > first)
			kr_str_add(&f->text, " ");
		if (form->type == KR_FORM_LIST || form->type == KR_FORM_MAP) {
			kr_str_add(&f->text, form->type == KR_FORM_LIST ? "[" : "{");
			show(f, at + 1, form->end);
			kr_str_add(&f->text, form->type == KR_FORM_LIST ? "]" : "}");
		} else {
			assert_int_equal(form->end, at + 1);
			show_scalar(f, form);
		}
	}
}

static enum kr_status read_all(struct fixture *f)
{
	bool found;
	enum kr_status status;

	while (!(status = kr_fressian_next(&f->s, &found)) && found) {
		if (f->text.n > 0)
			kr_str_add(&f->text, " ");
		show(f, 0, f->forms.nodes.n);
	}
	return status;
}

static void test_values(void **state)
{
	(void)state;
	for (size_t i = 0; i < KR_COUNT(values); i++) {
		struct fixture f;

		start(&f, values[i].bytes);
		if (read_all(&f) != KR_OK || strcmp(kr_str_text(&f.text), values[i].text) != 0)
			fail_msg("%s: %s, expected %s", values[i].bytes, f.err.status ? f.err.text : kr_str_text(&f.text), values[i].text);
		stop(&f);
	}
}

/* Every beginning of a good value is refused, or is one itself. */
static void test_beginnings(void **state)
{
	(void)state;
	for (size_t i = 0; i < KR_COUNT(values); i++)
		for (size_t length = 0; length < strlen(values[i].bytes); length += 3) {
			char bytes[512];
			struct fixture f;

			snprintf(bytes, sizeof bytes, "%.*s", (int)length, values[i].bytes);
			start(&f, bytes);
			if (read_all(&f) != KR_OK)
				assert_non_null(strstr(f.err.text, "history.edn"));
			stop(&f);
		}
}

static void test_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < KR_COUNT(refused); i++) {
		struct fixture f;

		start(&f, refused[i].bytes);
		if (read_all(&f) != KR_BAD || !strstr(f.err.text, refused[i].why))
			fail_msg("%s: %s, expected %s", refused[i].bytes, f.err.status ? f.err.text : kr_str_text(&f.text), refused[i].why);
		stop(&f);
	}
}

/* Lists that are entered give their elements; nothing is an empty one. */
static void test_enter(void **state)
{
	static const struct {
		const char *bytes, *text;
	} lists[] = {{"e6 01 e4", "1 []"}, {"ec 02 01 02", "1 2"}, {"ed 01 fd", "1"}, {"f7", ""}, {"e4", ""}, {"e6 cd db 61 80", "\"a\" \"a\""}};

	(void)state;
	for (size_t i = 0; i < KR_COUNT(lists); i++) {
		struct fixture f;

		start(&f, lists[i].bytes);
		assert_int_equal(kr_fressian_enter(&f.s), KR_OK);
		assert_int_equal(read_all(&f), KR_OK);
		assert_string_equal(kr_str_text(&f.text), lists[i].text);
		stop(&f);
	}
	for (int none = 0; none < 2; none++) {
		struct fixture f;

		start(&f, none ? "" : "05");
		assert_int_equal(kr_fressian_enter(&f.s), KR_BAD);
		stop(&f);
	}
}

/* 1,000 lists in one another, and one more. */
static void test_depth(void **state)
{
	struct fixture f;

	(void)state;
	for (int more = 0; more < 2; more++) {
		start(&f, "");
		memset(f.bytes, 0xe5, 1000 + more);
		f.bytes[1000 + more] = 0x01;
		kr_fressian_begin(&f.s, f.bytes, 1001 + more);
		assert_int_equal(read_all(&f), more ? KR_BAD : KR_OK);
		stop(&f);
	}
}

/* What is kept and named twice in what is kept, thirty times: the memory limit ends it. */
static void test_growth(void **state)
{
	struct fixture f;

	(void)state;
	start(&f, "");
	f.ctx.mem.limit = 1 << 20;
	f.bytes[0] = 0xcd;
	f.bytes[1] = 0xe5;
	f.bytes[2] = 0x01;
	for (unsigned char i = 0; i < 30; i++)
		memcpy(f.bytes + 3 + i * 4, (unsigned char[]){0xcd, 0xe6, 0x80 + i, 0x80 + i}, 4);
	kr_fressian_begin(&f.s, f.bytes, 3 + 30 * 4);
	bool found;
	enum kr_status status;

	while (!(status = kr_fressian_next(&f.s, &found)) && found)
		;
	assert_int_equal(status, KR_NOMEM);
	stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_beginnings),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_enter),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_growth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
