/* What cycles of pairs are called (pops.h). Pairs are taken in the order in which operations complete them;
 * the first operation that closes cycles decides. Among pairs of the same two transactions several may close
 * one, and all of them are tried: pairs of different kinds between the same transactions may be named
 * differently. Else a shortest path back, breadth first. Quadratic in the pairs. */
#include "coo/pops.h"

#include <string.h>

static const char *const names[] = {
	"",
	"Dirty Read",
	"Non-repeatable Read",
	"Intermediate Read",
	"Intermediate Read Committed",
	"Lost Self Update",
	"Write-read Skew",
	"Write-read Skew Committed",
	"Double-write Skew 1",
	"Double-write Skew 1 Committed",
	"Double-write Skew 2",
	"Read Skew",
	"Read Skew 2",
	"Read Skew 2 Committed",
	"Step RAT",
	"Dirty Write",
	"Full Write",
	"Full Write Committed",
	"Lost Update",
	"Lost Self Update Committed",
	"Double-write Skew 2 Committed",
	"Full-write Skew",
	"Full-write Skew Committed",
	"Read-write Skew 1",
	"Read-write Skew 2",
	"Read-write Skew 2 Committed",
	"Step WAT",
	"Non-repeatable Read Committed",
	"Lost Update Committed",
	"Read Skew Committed",
	"Read-write Skew 1 Committed",
	"Write Skew",
	"Write Skew Committed",
	"Step IAT",
};

enum { STEP_RAT = 14, STEP_WAT = 26, STEP_IAT = 33, NUMBERS = 33 };

/* Cycles of two pairs: by the kind of the earlier one, then of the one that closes. Those left out contain
 * another cycle, which has a name. */
static const uint8_t same_object[KR_POP_KINDS][KR_POP_KINDS] = {
	[KR_POP_WR] = {[KR_POP_RA] = 1, [KR_POP_RW] = 3, [KR_POP_RCW] = 4},
	[KR_POP_WW] = {[KR_POP_WC] = 15,
		[KR_POP_WA] = 15,
		[KR_POP_WR] = 5,
		[KR_POP_WW] = 16,
		[KR_POP_WCR] = 19,
		[KR_POP_WCW] = 17},
	[KR_POP_RW] = {[KR_POP_WR] = 2, [KR_POP_WW] = 18, [KR_POP_WCR] = 27, [KR_POP_WCW] = 28},
};
static const uint8_t two_objects[KR_POP_KINDS][KR_POP_KINDS] = {
	[KR_POP_WR] = {[KR_POP_WR] = 6,
		[KR_POP_WW] = 8,
		[KR_POP_RW] = 12,
		[KR_POP_WCR] = 7,
		[KR_POP_WCW] = 9,
		[KR_POP_RCW] = 13},
	[KR_POP_WW] = {[KR_POP_WR] = 10,
		[KR_POP_WW] = 21,
		[KR_POP_RW] = 24,
		[KR_POP_WCR] = 20,
		[KR_POP_WCW] = 22,
		[KR_POP_RCW] = 25},
	[KR_POP_RW] = {[KR_POP_WR] = 11,
		[KR_POP_WW] = 23,
		[KR_POP_RW] = 31,
		[KR_POP_WCR] = 29,
		[KR_POP_WCW] = 30,
		[KR_POP_RCW] = 32},
};

const char *kr_coo_name(uint8_t number) { return number <= NUMBERS ? names[number] : ""; }

const char *kr_coo_class_name(enum kr_coo_class class)
{
	static const char *const texts[] = {"RAT", "WAT", "IAT"};

	return texts[class];
}

const char *kr_coo_size_name(enum kr_coo_size size)
{
	static const char *const texts[] = {"SDA", "DDA", "MDA"};

	return texts[size];
}

uint8_t kr_coo_number(const struct kr_pop *const *cycle, uint32_t length, enum kr_coo_class *class,
	enum kr_coo_size *size)
{
	bool reads = false, writes = false;

	for (uint32_t i = 0; i < length; i++) {
		reads |= cycle[i]->kind == KR_POP_WR;
		writes |= cycle[i]->kind == KR_POP_WW;
	}
	*class = reads ? KR_COO_RAT : writes ? KR_COO_WAT : KR_COO_IAT;
	*size = length > 2 ? KR_COO_MDA : cycle[0]->object == cycle[1]->object ? KR_COO_SDA : KR_COO_DDA;
	if (length > 2)
		return reads ? STEP_RAT : writes ? STEP_WAT : STEP_IAT;
	return (*size == KR_COO_SDA ? same_object : two_objects)[cycle[0]->kind][cycle[1]->kind];
}

static void name_cycle(const struct kr_pop *pops, struct kr_coo_anomaly *a)
{
	const struct kr_pop *cycle[KR_COO_TXNS + 1] = {NULL};

	for (uint32_t i = 0; i < a->length; i++)
		cycle[i] = &pops[a->cycle[i]];
	a->number = kr_coo_number(cycle, a->length, &a->class, &a->size);
}

/* A shortest way over pops[0 .. n) from one transaction to another, as places of pairs in out->cycle. */
static bool find_way(const struct kr_pop *pops, uint32_t n, uint8_t from, uint8_t to,
	struct kr_coo_anomaly *out)
{
	uint32_t by[KR_COO_TXNS + 1], queue[KR_COO_TXNS + 1], head = 0, tail = 0;

	memset(by, 0xff, sizeof by);
	queue[tail++] = from;
	while (head < tail && by[to] == KR_NONE) {
		uint32_t at = queue[head++];
		for (uint32_t i = 0; i < n; i++) {
			if (pops[i].from != at || pops[i].to == from || by[pops[i].to] != KR_NONE)
				continue;
			by[pops[i].to] = i;
			queue[tail++] = pops[i].to;
		}
	}
	if (by[to] == KR_NONE)
		return false;
	out->length = 0;
	for (uint8_t at = to; at != from; at = pops[by[at]].from)
		out->length++;
	uint32_t place = out->length;
	for (uint8_t at = to; at != from; at = pops[by[at]].from)
		out->cycle[--place] = by[at];
	return true;
}

/* Fewer transactions first, then names before none, then the smaller number. */
static bool is_better(const struct kr_coo_anomaly *a, const struct kr_coo_anomaly *b)
{
	if (a->length != b->length)
		return a->length < b->length;
	return a->number != 0 && (b->number == 0 || a->number < b->number);
}

static void try(const struct kr_pop *pops, struct kr_coo_anomaly *cycle, uint32_t closing,
	struct kr_coo_anomaly *best)
{
	cycle->cycle[cycle->length++] = closing;
	name_cycle(pops, cycle);
	if (best->length == 0 || is_better(cycle, best))
		*best = *cycle;
}

/* What pair `e` closes together with those before `known`. */
static void close_cycles(const struct kr_pop *pops, uint32_t known, uint32_t e, struct kr_coo_anomaly *best)
{
	struct kr_coo_anomaly cycle = {.length = 0};
	bool direct = false;

	for (uint32_t i = 0; i < known; i++) {
		if (pops[i].from != pops[e].to || pops[i].to != pops[e].from)
			continue;
		direct = true;
		cycle.cycle[0] = i;
		cycle.length = 1;
		try(pops, &cycle, e, best);
	}
	if (!direct && find_way(pops, known, pops[e].to, pops[e].from, &cycle))
		try(pops, &cycle, e, best);
}

bool kr_coo_classify(const struct kr_pop *pops, uint32_t n, struct kr_coo_anomaly *out)
{
	for (uint32_t first = 0, end; first < n; first = end) {
		struct kr_coo_anomaly best = {.length = 0};
		for (end = first; end < n && pops[end].at == pops[first].at; end++)
			close_cycles(pops, first, end, &best);
		if (best.length > 0) {
			*out = best;
			return true;
		}
	}
	return false;
}

enum kr_status kr_coo_classify_all(struct kr_mem *mem, const struct kr_pop *pops, uint32_t n,
	struct kr_coo_anomalies *out)
{
	bool told[KR_COO_TXNS + 1][KR_COO_TXNS + 1] = {{false}};

	*out = (struct kr_coo_anomalies){0};
	for (uint32_t first = 0, end; first < n; first = end) {
		for (end = first; end < n && pops[end].at == pops[first].at;)
			end++;
		for (uint32_t e = first; e < end; e++) {
			uint8_t a = pops[e].from < pops[e].to ? pops[e].from : pops[e].to,
				b = pops[e].from ^ pops[e].to ^ a;
			struct kr_coo_anomaly best = {.length = 0};
			if (told[a][b])
				continue;
			for (uint32_t k = e; k < end; k++)
				if ((pops[k].from == a && pops[k].to == b) ||
					(pops[k].from == b && pops[k].to == a))
					close_cycles(pops, first, k, &best);
			if (best.length == 0)
				continue;
			told[a][b] = true;
			KR_TRY(kr_vec_add(mem, out, best));
		}
	}
	return KR_OK;
}
