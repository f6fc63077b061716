/* Schedules with a given cycle (schedule.h). Edge i needs an operation p of transaction i and a later one q
 * of the next transaction on its object; an edge with a C needs the commit between. The last operation of one
 * edge and the first of the next are of the same transaction, and one operation if kind and object are the
 * same. The first edge is one without a C, whose transaction can stay open until the end. */
#include "coo/pops.h"

#include <string.h>

#include "base/rng.h"

struct edge {
	enum kr_pop_kind kind;
	uint8_t object;
};

static const char objects[] = "xyzdefghi";

static bool has_commit(enum kr_pop_kind kind) { return kind >= KR_POP_WCR; }
static bool first_writes(enum kr_pop_kind kind) { return kind != KR_POP_RW && kind != KR_POP_RCW; }
static bool second_writes(enum kr_pop_kind kind) { return kind != KR_POP_WR && kind != KR_POP_WCR; }

static enum kr_status bad(struct kr_err *err, const char *spec, const char *at, const char *what)
{
	kr_err_set(err, KR_BAD, "found '%.40s', %s", *at ? at : spec, what);
	kr_err_at(err, NULL, 0, (uint32_t)(at - spec) + 1);
	return KR_BAD;
}

/* "RW0" */
static bool take_edge(const char **at, struct edge *out)
{
	for (int kind = KR_POP_WCW; kind >= 0; kind--) { /* the longer names first */
		const char *name = kr_pop_kind_name((enum kr_pop_kind)kind);
		size_t length = strlen(name);

		if (strncmp(*at, name, length) != 0 || (*at)[length] < '0' || (*at)[length] > '8')
			continue;
		*out = (struct edge){(enum kr_pop_kind)kind, (uint8_t)((*at)[length] - '0')};
		*at += length + 1;
		return true;
	}
	return false;
}

static enum kr_status take_spec(const char *spec, struct edge *edges, uint32_t *n, struct kr_err *err)
{
	const char *at = spec;

	for (*n = 0; *n < KR_COO_EDGES; at++) {
		if (!take_edge(&at, &edges[*n]))
			return bad(err, spec, at, "expected an edge, such as RW0 or WCR1");
		(*n)++;
		if (*at != '-')
			break;
	}
	if (*at)
		return bad(err, spec, at,
			*n == KR_COO_EDGES ? "expected at most 9 edges"
					   : "expected '-' and another edge, or nothing");
	return *n >= 2 ? KR_OK : bad(err, spec, at, "expected at least two edges");
}

struct making {
	struct kr_mem *mem;
	struct kr_coo_schedule *s;
	int64_t last[KR_COO_EDGES];
	bool ended[KR_COO_TXNS + 1];
};

static enum kr_status emit(struct making *m, uint32_t txn, bool writes, uint8_t object)
{
	struct kr_coo_op op = {.kind = writes ? KR_COO_WRITE : KR_COO_READ,
		.txn = (uint8_t)txn,
		.object = objects[object]};

	if (writes)
		op.value = ++m->last[object];
	return kr_vec_add(m->mem, &m->s->ops, op);
}

static enum kr_status commit(struct making *m, uint32_t txn)
{
	if (m->ended[txn])
		return KR_OK;
	m->ended[txn] = true;
	return kr_vec_add(m->mem, &m->s->ops, (struct kr_coo_op){.kind = KR_COO_COMMIT, .txn = (uint8_t)txn});
}

/* Transaction i + 1 is the source of edges[i]. */
static enum kr_status make(struct making *m, const struct edge *edges, uint32_t n)
{
	KR_TRY(emit(m, 1, first_writes(edges[0].kind), edges[0].object));
	for (uint32_t i = 0; i < n; i++) {
		const struct edge *e = &edges[i], *next = i + 1 < n ? &edges[i + 1] : NULL;
		bool one = next && next->object == e->object &&
			first_writes(next->kind) == second_writes(e->kind);
		uint32_t to = next ? i + 2 : 1;

		if (next && !one)
			KR_TRY(emit(m, to, first_writes(next->kind), next->object));
		if (has_commit(e->kind))
			KR_TRY(commit(m, i + 1));
		KR_TRY(emit(m, to, second_writes(e->kind), e->object));
	}
	for (uint32_t t = 1; t <= n; t++)
		KR_TRY(commit(m, t));
	return KR_OK;
}

enum kr_status kr_coo_generate(struct kr_mem *mem, const char *spec, struct kr_coo_schedule *out,
	struct kr_err *err)
{
	struct edge edges[KR_COO_EDGES], turned[KR_COO_EDGES];
	struct kr_coo_schedule s = {.line = 0};
	struct making m = {.mem = mem, .s = &s};
	uint32_t n, open = 0;
	KR_TRY(take_spec(spec, edges, &n, err));
	while (open < n && has_commit(edges[open].kind))
		open++;
	if (open == n)
		return bad(err, spec, spec,
			"expected an edge without a C: each transaction would have to end before the next "
			"one acts");
	for (uint32_t i = 0; i < n; i++)
		turned[i] = edges[(open + i) % n];
	enum kr_status status = make(&m, turned, n);
	if (status) {
		kr_coo_schedule_done(mem, &s);
		return status;
	}
	size_t length = strlen(spec) < sizeof s.id ? strlen(spec) : sizeof s.id - 1;
	memcpy(s.id, spec, length);
	*out = s;
	return KR_OK;
}

void kr_coo_random_spec(struct kr_rng *rng, uint32_t least, uint32_t most, uint32_t nobjects,
	char out[KR_COO_EDGES * 5])
{
	uint32_t n = least + (uint32_t)kr_rng_below(rng, most - least + 1),
		 open = (uint32_t)kr_rng_below(rng, n);
	size_t length = 0;

	for (uint32_t i = 0; i < n; i++) {
		const char *name = kr_pop_kind_name(
			(enum kr_pop_kind)kr_rng_below(rng, i == open ? KR_POP_WCR : KR_POP_RA));
		if (i > 0)
			out[length++] = '-';
		memcpy(out + length, name, strlen(name));
		length += strlen(name);
		out[length++] = (char)('0' + kr_rng_below(rng, nobjects));
	}
	out[length] = '\0';
}
