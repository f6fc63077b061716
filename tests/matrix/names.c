#include "names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "report/report.h"

/* The weakest levels that each name breaks, straight from what the names mean. Other levels do as far as they imply these. */
static const struct {
	const char *name;
	const char *breaks[3];
} names[] = {
	{"garbage read", {"pl-1"}},
	{"aborted read", {"pl-2"}},
	{"intermediate read", {"pl-2"}},
	{"future read", {"pl-2"}},
	{"internal inconsistency", {"pl-2"}},
	{"duplicate element", {"pl-2"}},
	{"incompatible order", {"pl-2"}},
	{"result-set mismatch", {"pl-2"}},
	{"unexplained reads", {"pl-2"}},
	{"G0", {"pl-2"}}, /* pl-1, too, unless it is reads that order the writes */
	{"G1c", {"pl-2"}},
	{"lost update", {"pl-2+", "pl-cs"}}, /* pl-cs: not where a read was not through a cursor */
	{"G-single", {"pl-2+"}},
	{"long fork", {"si", "pc"}},
	{"G-nonadjacent", {"si"}},
	{"write skew", {"pl-3u"}},
	{"G2-item", {"pl-2.99"}},
	{"G2", {"ser"}},
};

static const struct { const char *suffix; enum kr_order order; } suffixes[] = {
	{"-session", KR_ORDER_SESSION},
	{"-realtime", KR_ORDER_REALTIME},
	{"", KR_ORDER_NONE},
};

/* The place of the name in `names`, and the order that its suffix says. */
static size_t parse(const char *name, enum kr_order *order)
{
	for (size_t s = 0; s < KR_COUNT(suffixes); s++) {
		size_t base = strlen(name) - strlen(suffixes[s].suffix);
		if (strlen(name) < strlen(suffixes[s].suffix) || strcmp(name + base, suffixes[s].suffix) != 0)
			continue;
		*order = suffixes[s].order;
		for (size_t i = 0; i < KR_COUNT(names); i++)
			if (strlen(names[i].name) == base && memcmp(names[i].name, name, base) == 0)
				return i;
	}
	fail_msg("%s is no anomaly's name", name);
	return 0;
}

static bool is_loose(const struct kr_history *h)
{
	for (uint32_t i = 0; i < h->attrs.n; i++)
		if (!h->attrs.at[i].cursor)
			return true;
	return false;
}

const struct kr_decision *names_contradicted(const struct kr_modules *modules, const struct kr_history *h, const struct kr_decision *violated, const struct kr_decision *all, uint32_t n,
	char name[48])
{
	enum kr_order order = KR_ORDER_NONE, by_default;

	kr_report_anomaly(h, &violated->verdict.certificate, name);

	size_t at = parse(name, &order);

	for (size_t b = 0; b < KR_COUNT(names[at].breaks) && names[at].breaks[b]; b++) {
		struct kr_question broken = {kr_level_find(NULL, names[at].breaks[b], &by_default), order};
		if (strcmp(broken.level->id, "pl-cs") == 0 && is_loose(h))
			continue;
		for (uint32_t i = 0; i < n; i++)
			if (all[i].status == KR_OK && all[i].verdict.outcome == KR_SATISFIED &&
				kr_implies(modules, (struct kr_question){all[i].options.level, all[i].options.order}, broken))
				return &all[i];
	}
	return NULL;
}
