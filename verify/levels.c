/* What each isolation level forbids, as the verifier knows it (docs/levels.md): cycles as patterns over the edges of transactions, and non-cyclic anomalies. A level that is
 * not in the table is not decided here, whatever a certificate says of it. */
#include <string.h>

#include "verify/verifier.h"

#define WR KR_BIT(KR_WR)
#define WW KR_BIT(KR_WW)
#define RW KR_BIT(KR_RW)
#define ALL (WR | WW | RW)
#define ANOMALIES .anomalies = KR_ANOMALIES_ALL
/* What snapshot isolation, and prefix consistency, imply is satisfied by a world of theirs. */
#define BY_SNAPSHOTS .snapshots = true
#define BY_PREFIXES .snapshots = true, .prefixes = true

static const struct kr_rule rules[] = {
	{.id = "pl-1", .cycles = {{.kinds = WW}}, .anomalies = KR_BIT(KR_GARBAGE_READ), .graph = true, BY_PREFIXES},
	{.id = "pl-2", .cycles = {{.kinds = WR | WW}}, ANOMALIES, .graph = true, BY_PREFIXES},
	{.id = "pl-cs",
		.cycles = {{.kinds = WR | WW}, {.kinds = WW | RW, .one_rw = true, .pair = true, .no_order = true, .same_key = true, .cursor = true}},
		ANOMALIES,
		.graph = true,
		BY_SNAPSHOTS},
	{.id = "pl-2l", .cycles = {{.kinds = WR | WW}, {.kinds = ALL, .one_rw = true, .sight = KR_RULE_NOT_AFTER}}, ANOMALIES, .graph = true, BY_PREFIXES},
	{.id = "rc-ax",
		.cycles = {{.kinds = WR | WW}, {.kinds = WR | RW, .one_rw = true, .pair = true, .no_order = true, .sight = KR_RULE_BEFORE}},
		ANOMALIES,
		.graph = true,
		BY_PREFIXES},
	{.id = "ra", .cycles = {{.kinds = WR | WW}, {.kinds = WR | RW, .one_rw = true, .pair = true}}, ANOMALIES, .graph = true, BY_PREFIXES},
	{.id = "cc", .cycles = {{.kinds = WR | WW}, {.kinds = WR | RW, .one_rw = true}}, ANOMALIES, .graph = true, BY_PREFIXES},
	{.id = "pl-2+", .cycles = {{.kinds = WR | WW}, {.kinds = ALL, .one_rw = true}}, ANOMALIES, .graph = true, BY_SNAPSHOTS},
	{.id = "psi", .cycles = {{.kinds = WR | WW}, {.kinds = ALL, .one_rw = true}}, ANOMALIES, .graph = true, BY_SNAPSHOTS},
	{.id = "pl-fcv", .cycles = {{.kinds = WR | WW}, {.kinds = ALL, .one_rw = true}}, ANOMALIES, .graph = true, BY_SNAPSHOTS},
	{.id = "pc", .cycles = {{.kinds = ALL, .before_rw = WR}}, ANOMALIES, BY_PREFIXES},
	{.id = "si", .cycles = {{.kinds = ALL, .lonely = RW}}, ANOMALIES, BY_SNAPSHOTS},
	{.id = "pl-2.99", .cycles = {{.kinds = ALL, .item = true}}, ANOMALIES, .graph = true},
	{.id = "pl-3u", .cycles = {{.kinds = ALL, .one_reader = true}}, ANOMALIES, .graph = true},
	{.id = "ser", .cycles = {{.kinds = ALL}}, ANOMALIES},
	{.id = "pl-ss", .cycles = {{.kinds = ALL}}, ANOMALIES},
};

const struct kr_rule *kr_rule_find(const char *id)
{
	for (size_t i = 0; i < KR_COUNT(rules); i++)
		if (strcmp(rules[i].id, id) == 0)
			return &rules[i];
	return NULL;
}
