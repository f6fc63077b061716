/* cross/claim_line.c: lines that checkers print, and sentences that are no verdicts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "cross/claim_file.h"

#define NONE (-1)

static const struct { const char *line; int verdict; } rows[] = {
	{"[[[[ ACCEPT ]]]]", KR_SATISFIED}, {"[[[[ REJECT ]]]]", KR_VIOLATED}, {"[[[[ TIMEOUT ]]]]", KR_UNDECIDED},
	{"reject", KR_VIOLATED}, {"  Rejected\r", KR_VIOLATED}, {"accept: true", KR_SATISFIED}, {"accept: false", KR_VIOLATED},
	{"[2024-05-01] [0x7f] [info]    accept: false", KR_VIOLATED}, {"invalid: true", KR_VIOLATED}, {"invalid: false", KR_SATISFIED},
	{"hist-00000 failed", KR_VIOLATED}, {"1.json: PASS", KR_SATISFIED}, {"h.json: FAIL (Cycle { level: Serializable })", KR_VIOLATED},
	{"SER audit result: ACCEPT", KR_SATISFIED}, {"Inconsistent", KR_VIOLATED}, {"Inconsistent.", KR_VIOLATED}, {"Consistent.", KR_SATISFIED}, {"accept: true.", KR_SATISFIED}, {".", NONE}, {"The history is inconsistent.", NONE}, {"consistent", KR_SATISFIED}, {"", NONE}, {"not consistent", NONE},
	{"no transaction failed", NONE}, {"reading failed", NONE}, {"the history is valid", NONE}, {"valid transactions: 100", NONE}, {"true", NONE},
	{"accept true", NONE}, {"accepts", NONE}, {"unknown: true", NONE}, {"[info] solve time: 360ms", NONE}, {"(reject)", NONE},
};

static void lines(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		enum kr_outcome verdict = KR_UNDECIDED;
		bool found = kr_claim_line(rows[i].line, &verdict);
		if ((found ? (int)verdict : NONE) != rows[i].verdict)
			fail_msg("'%s': %d", rows[i].line, found ? (int)verdict : NONE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(lines)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
