/* ir/pattern: which cycles krait's levels forbid, by the table of docs/levels.md. A cycle is its edges in turn: kind,
 * '!' for a predicate dependency, '~' for a read that was not through a cursor, ':' and the key; behind '@' stands the
 * operation that sees, behind '_' an edge leaves a transaction that writes nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "checkers/checker.h"

static const struct {
	const char *cycle;
	const char *forbidden_at; /* of all levels but those of equal patterns */
} rows[] = {
	{"ww:x ww:y", "pl-1 pl-2 pl-cs pl-2l rc-ax ra cc pl-2+ pc si pl-2.99 pl-3u ser"},
	{"ww:x so", "pl-1 pl-2 pl-cs pl-2l rc-ax ra cc pl-2+ pc si pl-2.99 pl-3u ser"},
	{"ww:x wr:y@0", "pl-2 pl-cs pl-2l rc-ax ra cc pl-2+ pc si pl-2.99 pl-3u ser"},
	{"rw:x@0 ww:x", "pl-cs pl-2+ si pl-2.99 pl-3u ser"},
	{"ww:x rw:x@0", "pl-cs pl-2+ si pl-2.99 pl-3u ser"},
	{"rw~:x@0 ww:x", "pl-2+ si pl-2.99 pl-3u ser"},
	{"rw!:x@0 ww:x", "pl-cs pl-2+ si pl-3u ser"},
	{"rw:x@0 ww:y", "pl-2+ si pl-2.99 pl-3u ser"},
	{"rw:x@0 wr:x@1", "ra cc pl-2+ pc si pl-2.99 pl-3u ser"},
	{"rw:x@1 wr:y@1", "pl-2l ra cc pl-2+ pc si pl-2.99 pl-3u ser"},
	{"rw:x@1 wr:y@0", "pl-2l rc-ax ra cc pl-2+ pc si pl-2.99 pl-3u ser"},
	{"rw:x@0 so", "ra cc pl-2+ pc si pl-2.99 pl-3u ser"},
	{"rw:x@0 wr:y@0 wr:z@1", "cc pl-2+ pc si pl-2.99 pl-3u ser"},
	{"rw:x@0 ww:y wr:z@1", "pl-2+ pc si pl-2.99 pl-3u ser"},
	{"rw:x@0 wr:y@0 ww:x", "pl-2+ si pl-2.99 pl-3u ser"},
	{"rw:x@0_ wr:y@0 rw:y@0_ wr:x@0", "pc si pl-2.99 ser"},
	{"rw:x@0 rw:y@0", "pl-2.99 pl-3u ser"},
	{"rw!:x@0 rw:y@0", "pl-3u ser"},
	{"rw:x@0 rw:y@0_ wr:z@0", "pl-2.99 pl-3u ser"},
};

static struct kr_pattern_edge edge_from(const char *text)
{
	static const char *const kinds[] = {"wr", "ww", "rw", "so", "rt"};
	struct kr_pattern_edge e = {.key = {KR_NONE}};
	const char *key = strchr(text, ':'), *op = strchr(text, '@');

	while (strncmp(text, kinds[e.kind], 2) != 0)
		e.kind++;
	e.predicate = text[2] == '!';
	e.loose = text[2] == '~';
	e.reader = strchr(text, '_') != NULL;
	e.key.i = key ? (uint32_t)key[1] : KR_NONE;
	e.op = op ? (uint32_t)atoi(op + 1) : 0;
	return e;
}

static uint32_t cycle_from(const char *text, struct kr_pattern_edge *edges)
{
	char copy[100], *rest = copy;
	uint32_t n = 0;

	snprintf(copy, sizeof copy, "%s", text);
	for (char *word; (word = strtok_r(rest, " ", &rest)) != NULL;)
		edges[n++] = edge_from(word);
	return n;
}

static bool names(const char *list, const char *id)
{
	char padded[200], word[40];

	snprintf(padded, sizeof padded, " %s ", list);
	snprintf(word, sizeof word, " %s ", id);
	return strstr(padded, word) != NULL;
}

static void levels_forbid(void **state)
{
	static const char *const ids[] = {"pl-1", "pl-2", "pl-cs", "pl-2l", "rc-ax", "ra", "cc", "pl-2+", "pc", "si",
		"pl-2.99", "pl-3u", "ser"};

	(void)state;
	for (size_t i = 0; i < KR_COUNT(rows); i++) {
		struct kr_pattern_edge edges[8];
		uint32_t n = cycle_from(rows[i].cycle, edges);
		for (size_t j = 0; j < KR_COUNT(ids); j++)
			if (kr_level_forbids(kr_level_of_id(NULL, ids[j]), edges, n) != names(rows[i].forbidden_at, ids[j]))
				fail_msg("%s at %s: expected the contrary", rows[i].cycle, ids[j]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(levels_forbid)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
