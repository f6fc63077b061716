/* passes/: on thousands of tiny random ASGs and for every pattern that levels have, what the passes add holds in every world that satisfies the level, they drop no such world, they
 * add all that their sections of docs/passes.md promise, and a refutation that they find has in every world a cycle that the level forbids. Worlds are enumerated here, straight from
 * the definition, on adjacency matrices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backend/sorted.h"
#include "base/rng.h"
#include "ir/clock.h"
#include "ir/proof.h"
#include "passes/pass.h"
#include "passes/sweep.h"

enum { MOST = 12, ROUNDS = 20000 };

#define ORDERS (KR_BIT(KR_SO) | KR_BIT(KR_RT))
#define D (KR_BIT(KR_WR) | KR_BIT(KR_WW))
#define RW KR_BIT(KR_RW)

/* The patterns of docs/levels.md. */
static const struct kr_level levels[] = {
	{.id = "ser", .model = KR_NODES_TXN, .forbidden = {{.allowed = D | RW | ORDERS}}},
	{.id = "si", .model = KR_NODES_BEGIN_COMMIT, .forbidden = {{.allowed = D | RW | ORDERS, .lonely = RW}}},
	{.id = "pc", .model = KR_NODES_PREFIX, .forbidden = {{.allowed = D | RW | ORDERS, .lead = KR_BIT(KR_WR) | ORDERS}}},
	{.id = "psi", .model = KR_NODES_TXN, .forbidden = {{.allowed = D | ORDERS}, {.allowed = D | RW | ORDERS, .once = RW}}},
	{.id = "pl-2.99", .model = KR_NODES_TXN, .forbidden = {{.allowed = D | RW | ORDERS, .item_only = true}}},
	{.id = "pl-3u", .model = KR_NODES_TXN, .forbidden = {{.allowed = D | RW | ORDERS, .one_reader = true}}},
	{.id = "pl-2", .model = KR_NODES_TXN, .forbidden = {{.allowed = D | ORDERS}}},
	{.id = "pl-1", .model = KR_NODES_TXN, .forbidden = {{.allowed = KR_BIT(KR_WW) | ORDERS}}},
	{.id = "cc", .model = KR_NODES_TXN, .forbidden = {{.allowed = D | ORDERS}, {.allowed = KR_BIT(KR_WR) | RW | ORDERS, .once = RW}}},
	{.id = "ra", .model = KR_NODES_TXN, .forbidden = {{.allowed = D | ORDERS}, {.allowed = KR_BIT(KR_WR) | RW | ORDERS, .once = RW, .longest = 2}}},
	{.id = "rc-ax",
		.model = KR_NODES_TXN,
		.forbidden = {{.allowed = D | ORDERS}, {.allowed = KR_BIT(KR_WR) | RW, .once = RW, .longest = 2, .sight = KR_SIGHT_BEFORE}}},
	{.id = "pl-2l", .model = KR_NODES_TXN, .forbidden = {{.allowed = D | ORDERS}, {.allowed = D | RW | ORDERS, .once = RW, .sight = KR_SIGHT_NOT_AFTER}}},
	{.id = "pl-cs",
		.model = KR_NODES_TXN,
		.forbidden = {{.allowed = D | ORDERS}, {.allowed = KR_BIT(KR_WW) | RW, .once = RW, .longest = 2, .same_key = true, .cursor_only = true}}},
};

/* Reachability between nodes: bit b of row a. */
struct matrix {
	uint16_t row[MOST];
};

static void set(struct matrix *m, uint32_t a, uint32_t b) { m->row[a] |= (uint16_t)(1u << b); }
static bool get(const struct matrix *m, uint32_t a, uint32_t b) { return m->row[a] >> b & 1; }

static void close(struct matrix *m)
{
	for (uint32_t via = 0; via < MOST; via++)
		for (uint32_t a = 0; a < MOST; a++)
			if (get(m, a, via))
				m->row[a] |= m->row[via];
}

static bool has_cycle(const struct matrix *closed)
{
	for (uint32_t a = 0; a < MOST; a++)
		if (get(closed, a, a))
			return true;
	return false;
}

/* ---- random ASGs, as text ---- */

static void random_txns(struct kr_rng *rng, uint32_t n, uint8_t *presence, struct kr_str *out)
{
	static const char *const words[] = {"absent", "present", "open unknown", "present unknown"};
	int64_t now[3] = {0}; /* per session, and for those without: a session's transactions do not overlap */

	for (uint32_t t = 0; t < n; t++) {
		uint64_t dice = kr_rng_below(rng, 10);
		unsigned which = dice < 6 ? 1 : dice < 8 ? 2 : dice < 9 ? 3 : 0;
		unsigned session = (unsigned)kr_rng_below(rng, 3);
		int64_t begin = (session == 2 ? (int64_t)kr_rng_below(rng, 10) : now[session]) + (int64_t)kr_rng_below(rng, 4);
		int64_t end = begin + (int64_t)kr_rng_below(rng, 8);

		presence[t] = (uint8_t)(which == 3 ? KR_PRESENT : which);
		kr_str_format(out, "txn %u %s", t, words[which]);
		now[session] = which == 1 ? end : begin;
		if (session < 2)
			kr_str_format(out, " session %u", session);
		if (kr_rng_below(rng, 3) > 0)
			kr_str_format(out, " begin %lld", (long long)begin);
		if (kr_rng_below(rng, 3) > 0)
			kr_str_format(out, " end %lld", (long long)end);
		kr_str_add(out, "\n");
	}
}

struct shape {
	uint32_t ntxns, nkeys, nversions;
	uint8_t presence[MOST];
	uint32_t writer[64], key[64]; /* per version */
};

static void random_versions(struct kr_rng *rng, struct shape *s, struct kr_str *out)
{
	for (uint32_t k = 0; k < s->nkeys; k++)
		kr_str_format(out, "key %u%s\n", k, kr_rng_below(rng, 4) == 0 ? " open" : "");
	for (uint32_t k = 0; k < s->nkeys; k++) {
		for (uint32_t t = 0; t <= s->ntxns; t++) {
			if (t > 0 && kr_rng_below(rng, 2) == 0)
				continue;
			s->writer[s->nversions] = t == 0 ? KR_NONE : t - 1;
			s->key[s->nversions] = k;
			kr_str_format(out, "version %u key %u ", s->nversions++, k);
			if (t == 0)
				kr_str_add(out, "initial\n");
			else
				kr_str_format(out, "by %u\n", t - 1);
		}
	}
}

/* Is there a candidate for t in the set (bits over versions of key k)? */
static bool has_candidate(const struct shape *s, uint32_t members, bool complement, uint32_t k, uint32_t t)
{
	for (uint32_t v = 0; v < s->nversions; v++) {
		bool in = (members >> v & 1) != complement;

		if (s->key[v] == k && in && (s->writer[v] == KR_NONE || (s->writer[v] != t && s->presence[s->writer[v]] != KR_ABSENT_TXN)))
			return true;
	}
	return false;
}

static void random_observations(struct kr_rng *rng, const struct shape *s, struct kr_str *out)
{
	struct kr_str lines;
	uint32_t nsets = 0, last[2] = {KR_NONE, KR_NONE}, last_members[2] = {0}; /* per key: the set made last, if no complement */

	kr_str_init(&lines, out->mem);
	for (uint32_t t = 0; t < s->ntxns; t++) {
		uint32_t n = (uint32_t)kr_rng_below(rng, 10) / 4; /* 0 and 1 more often than 2 */

		for (uint32_t i = 0; i < n; i++) {
			uint32_t k = (uint32_t)kr_rng_below(rng, s->nkeys);
			bool complement = kr_rng_below(rng, 5) == 0;
			uint32_t members = 0, of_key = 0;
			const char *predicate = kr_rng_below(rng, 4) == 0 ? " predicate" : "";
			const char *loose = kr_rng_below(rng, 4) == 0 ? " loose" : "";

			for (uint32_t v = 0; v < s->nversions; v++)
				of_key |= (uint32_t)(s->key[v] == k) << v;
			if (last[k] != KR_NONE && kr_rng_below(rng, 2) == 0 && has_candidate(s, last_members[k], false, k, t)) {
				kr_str_format(&lines, "observe txn %u op %u key %u set %u%s%s\n", t, i / 2, k, last[k], predicate, loose);
				continue;
			}
			do {
				members = (uint32_t)kr_rng_u64(rng) & (uint32_t)kr_rng_u64(rng) & of_key;
				complement = complement && members != of_key;
			} while (!has_candidate(s, members, complement, k, t) && kr_rng_below(rng, 50) > 0);
			if (!has_candidate(s, members, complement, k, t))
				continue;
			kr_str_format(out, "set %u %s{", nsets, complement ? "not " : "");
			for (uint32_t v = 0; v < s->nversions; v++)
				if (members >> v & 1)
					kr_str_format(out, " %u", v);
			kr_str_add(out, "}\n");
			if (!complement)
				last[k] = nsets, last_members[k] = members;
			kr_str_format(&lines, "observe txn %u op %u key %u set %u%s%s\n", t, i / 2, k, nsets++, predicate, loose);
		}
	}
	kr_str_add(out, kr_str_text(&lines));
	kr_str_done(&lines);
}

/* Orders along a random order of all versions of a key, so that they do not contradict each other. */
static void random_orders(struct kr_rng *rng, const struct shape *s, struct kr_str *out)
{
	uint32_t rank[64];

	if (kr_rng_below(rng, 2) == 0)
		return;
	for (uint32_t v = 0; v < s->nversions; v++)
		rank[v] = s->writer[v] == KR_NONE ? 0 : 1 + (uint32_t)kr_rng_below(rng, 1000000);
	for (uint32_t a = 0; a < s->nversions; a++)
		for (uint32_t b = 0; b < s->nversions; b++)
			if (s->key[a] == s->key[b] && rank[a] < rank[b] && kr_rng_below(rng, 4) == 0)
				kr_str_format(out, "order %u < %u\n", a, b);
	for (uint32_t t = 0; t < s->ntxns; t++) { /* guarded ones may contradict others */
		uint32_t a = (uint32_t)kr_rng_below(rng, s->nversions), b = (uint32_t)kr_rng_below(rng, s->nversions);

		if (s->presence[t] == KR_OPEN && a != b && s->key[a] == s->key[b] && s->writer[b] != KR_NONE && s->writer[a] != KR_NONE)
			kr_str_format(out, "order %u < %u if %u\n", a, b, t);
	}
}

static void random_asg(struct kr_rng *rng, struct kr_str *out)
{
	struct shape s = {.ntxns = 1 + (uint32_t)kr_rng_below(rng, 5), .nkeys = 1 + (uint32_t)kr_rng_below(rng, 2)};

	kr_str_format(out, "asg 1 sessions 2 skew %u\n", (unsigned)kr_rng_below(rng, 3));
	random_txns(rng, s.ntxns, s.presence, out);
	random_versions(rng, &s, out);
	random_observations(rng, &s, out);
	random_orders(rng, &s, out);
	kr_str_add(out, "end asg\n");
}

/* ---- worlds ---- */

struct world {
	const struct kr_asg *asg;
	enum kr_order order;
	uint32_t present;    /* bits */
	uint32_t source[32]; /* per observation */
	uint32_t place[64];  /* per version: its place in the order of its key; initial 0 */
};

static bool is_in(const struct world *w, uint32_t t) { return w->present >> t & 1; }

static bool so(const struct kr_asg *asg, uint32_t a, uint32_t b)
{
	return a < b && asg->txns[a].session != KR_NONE && asg->txns[a].session == asg->txns[b].session && !asg->txns[a].outcome_unknown;
}

static bool rt(const struct kr_asg *asg, uint32_t a, uint32_t b)
{
	const struct kr_asg_txn *from = &asg->txns[a], *to = &asg->txns[b];

	return a != b && !from->outcome_unknown && from->has_end && to->has_begin && kr_asg_end(asg, (kr_txn){a}) + asg->clock_skew < kr_asg_begin(asg, (kr_txn){b});
}

static void orders_matrix(const struct kr_asg *asg, enum kr_order order, uint32_t present, struct matrix *out)
{
	for (uint32_t a = 0; a < asg->ntxns; a++)
		for (uint32_t b = 0; b < asg->ntxns; b++)
			if ((present >> a & 1) && (present >> b & 1) &&
				((order >= KR_ORDER_SESSION && so(asg, a, b)) || (order >= KR_ORDER_REALTIME && rt(asg, a, b))))
				set(out, a, b);
}

/* An edge of a world's dependency graph. */
struct dependency {
	uint8_t kind;
	uint32_t from, to;
	uint32_t key, obs; /* KR_NONE where there is none */
};

struct dependencies {
	struct dependency at[2048];
	uint32_t n;
};

static void depend(struct dependencies *d, uint8_t kind, uint32_t from, uint32_t to, uint32_t key, uint32_t obs)
{
	assert_true(d->n < KR_COUNT(d->at));
	d->at[d->n++] = (struct dependency){kind, from, to, key, obs};
}

static void depend_by_version(const struct world *w, uint32_t u, struct dependencies *out)
{
	const struct kr_asg *asg = w->asg;
	uint32_t b = asg->versions[u].writer.i, k = asg->versions[u].key.i;

	if (b == KR_NONE || !is_in(w, b))
		return;
	for (uint32_t v = asg->keys[k].first + 1; v < asg->keys[k + 1].first; v++)
		if (is_in(w, asg->versions[v].writer.i) && w->place[v] < w->place[u])
			depend(out, KR_WW, asg->versions[v].writer.i, b, k, KR_NONE);
	for (uint32_t o = 0; o < asg->nobs; o++) {
		const struct kr_observation *obs = &asg->obs[o];

		if (!is_in(w, obs->txn.i) || obs->key.i != k)
			continue;
		if (w->source[o] == u)
			depend(out, KR_WR, b, obs->txn.i, k, o);
		if (b != obs->txn.i && w->place[w->source[o]] < w->place[u] && !(obs->predicate && kr_asg_in_set(asg, obs->set, (kr_version){u})))
			depend(out, KR_RW, obs->txn.i, b, k, o);
	}
}

/* All dependencies of a world, by the definition. */
static void dependencies(const struct world *w, struct dependencies *out)
{
	const struct kr_asg *asg = w->asg;

	out->n = 0;
	for (uint32_t a = 0; a < asg->ntxns; a++)
		for (uint32_t b = 0; b < asg->ntxns; b++) {
			if (!is_in(w, a) || !is_in(w, b))
				continue;
			if (w->order >= KR_ORDER_SESSION && so(asg, a, b))
				depend(out, KR_SO, a, b, KR_NONE, KR_NONE);
			if (w->order >= KR_ORDER_REALTIME && rt(asg, a, b))
				depend(out, KR_RT, a, b, KR_NONE, KR_NONE);
		}
	for (uint32_t u = 0; u < asg->nversions; u++)
		depend_by_version(w, u, out);
}

/* Those of some kinds, as a matrix of transactions. */
static struct matrix of_kinds(const struct dependencies *d, uint32_t kinds)
{
	struct matrix m = {{0}};

	for (uint32_t i = 0; i < d->n; i++)
		if (kinds >> d->at[i].kind & 1)
			set(&m, d->at[i].from, d->at[i].to);
	return m;
}

static struct matrix product(const struct matrix *a, const struct matrix *b)
{
	struct matrix m = {{0}};

	for (uint32_t i = 0; i < MOST; i++)
		for (uint32_t j = 0; j < MOST; j++)
			if (get(a, i, j))
				m.row[i] |= b->row[j];
	return m;
}

static bool cyclic(struct matrix m)
{
	close(&m);
	return has_cycle(&m);
}

/* Cycles in which an rw comes right after an edge of `lead` only: made of single other edges, and of pairs. */
static bool cyclic_with_lead(const struct dependencies *d, uint32_t lead)
{
	struct matrix others = of_kinds(d, D | ORDERS), before = of_kinds(d, lead), rw = of_kinds(d, RW), pairs = product(&before, &rw);

	for (uint32_t a = 0; a < MOST; a++)
		others.row[a] |= pairs.row[a];
	return cyclic(others);
}

static bool writes(const struct kr_asg *asg, uint32_t t)
{
	for (uint32_t v = 0; v < asg->nversions; v++)
		if (asg->versions[v].writer.i == t)
			return true;
	return false;
}

static bool cyclic_with_one_reader(const struct kr_asg *asg, const struct dependencies *d)
{
	for (uint32_t reader = 0; reader < asg->ntxns; reader++) {
		struct matrix m = of_kinds(d, D | RW | ORDERS);

		for (uint32_t t = 0; t < asg->ntxns; t++)
			if (t != reader && !writes(asg, t)) {
				m.row[t] = 0;
				for (uint32_t a = 0; a < MOST; a++)
					m.row[a] &= (uint16_t) ~(1u << t);
			}
		if (cyclic(m))
			return true;
	}
	return false;
}

/* Is the one rw forbidden that is `rw`, by a level's second pattern? */
static bool single_forbidden(const struct kr_asg *asg, const struct dependencies *d, const struct kr_pattern *p, const struct dependency *rw)
{
	struct matrix back = of_kinds(d, p->allowed & ~RW);

	if (p->cursor_only && asg->obs[rw->obs].loose)
		return false;
	if (p->longest != 2)
		close(&back);
	if (p->sight == KR_SIGHT_ANY && !p->same_key)
		return get(&back, rw->to, rw->from);
	for (uint32_t i = 0; i < d->n; i++) {
		const struct dependency *last = &d->at[i];

		if (last->to != rw->from || !(p->allowed >> last->kind & 1) || last->kind == KR_RW)
			continue;
		if (p->same_key && last->key == rw->key && last->from == rw->to)
			return true;
		if (p->same_key || last->kind != KR_WR || !(last->from == rw->to || (p->longest != 2 && get(&back, rw->to, last->from))))
			continue;
		if (p->sight == KR_SIGHT_BEFORE ? asg->obs[last->obs].op < asg->obs[rw->obs].op : asg->obs[last->obs].op <= asg->obs[rw->obs].op)
			return true;
	}
	return false;
}

static bool violates(const struct kr_asg *asg, const struct kr_level *level, struct dependencies *d)
{
	const struct kr_pattern *first = &level->forbidden[0], *second = &level->forbidden[1];

	if (level->model == KR_NODES_BEGIN_COMMIT)
		return cyclic_with_lead(d, D | ORDERS);
	if (level->model == KR_NODES_PREFIX)
		return cyclic_with_lead(d, KR_BIT(KR_WR) | ORDERS);
	if (first->one_reader)
		return cyclic_with_one_reader(asg, d);
	for (uint32_t i = 0; first->item_only && i < d->n; i++)
		while (i < d->n && d->at[i].kind == KR_RW && asg->obs[d->at[i].obs].predicate)
			d->at[i] = d->at[--d->n];
	if (cyclic(of_kinds(d, first->allowed)))
		return true;
	for (uint32_t i = 0; second->allowed && i < d->n; i++)
		if (d->at[i].kind == KR_RW && single_forbidden(asg, d, second, &d->at[i]))
			return true;
	return false;
}

/* The nodes of transaction t that edges of a kind leave and enter, as docs/ir.md has them. */
static uint32_t leaves(const struct kr_level *level, uint8_t kind, uint32_t t) { return level->model == KR_NODES_TXN ? t : 2 * t + (kind != KR_RW); }

static uint32_t enters(const struct kr_level *level, uint8_t kind, uint32_t t)
{
	return level->model == KR_NODES_TXN ? t : 2 * t + (kind == KR_RW || (kind == KR_WW && level->model == KR_NODES_PREFIX));
}

/* The graph on the level's nodes whose paths known edges may be: that of the first pattern's kinds. */
static void graph(const struct kr_asg *asg, const struct kr_level *level, const struct dependencies *d, struct matrix *out)
{
	memset(out, 0, sizeof *out);
	for (uint32_t t = 0; level->model != KR_NODES_TXN && t < asg->ntxns; t++)
		set(out, 2 * t, 2 * t + 1);
	for (uint32_t i = 0; i < d->n; i++)
		if (level->forbidden[0].allowed >> d->at[i].kind & 1)
			set(out, leaves(level, d->at[i].kind, d->at[i].from), enters(level, d->at[i].kind, d->at[i].to));
	close(out);
}

/* What one comparison of an IR with all worlds finds. */
struct comparison {
	const struct kr_ir *ir;
	const struct kr_proof *proof; /* of a conflict, closed */
	uint32_t satisfying, kept;    /* worlds that satisfy the level; those of them that agree with the IR's absences */
};

/* The IR's known edges among the transactions of a world, closed; without the time nodes that they lead through. */
static void known_graph(const struct kr_ir *ir, uint32_t present, struct matrix *out)
{
	bool reached[64];

	memset(out, 0, sizeof *out);
	for (uint32_t a = 0; a < ir->first_time_node; a++) {
		bool moved = true;

		memset(reached, 0, sizeof reached);
		reached[a] = true;
		while (moved) {
			moved = false;
			for (uint32_t e = 0; e < ir->edges.n; e++) {
				struct kr_edge edge = ir->edges.at[e];
				uint32_t from = kr_ir_txn(ir, edge.from).i, to = kr_ir_txn(ir, edge.to).i;
				bool gone = (from != KR_NONE && !(present >> from & 1)) || (to != KR_NONE && !(present >> to & 1));

				if ((gone && edge.kind != KR_PROGRAM) || !reached[edge.from.i])
					continue;
				if (edge.to.i < ir->first_time_node)
					set(out, a, edge.to.i);
				if (!reached[edge.to.i])
					reached[edge.to.i] = moved = true;
			}
		}
	}
}

/* Does the guard of a proof's link hold in the world? */
static bool holds(const struct world *w, const struct kr_link *link)
{
	const struct kr_asg *asg = w->asg;

	if (!is_in(w, link->from.i) || !is_in(w, link->to.i))
		return false;
	if (link->kind == KR_SO || link->kind == KR_RT)
		return link->kind == KR_SO ? w->order >= KR_ORDER_SESSION && so(asg, link->from.i, link->to.i)
					   : w->order >= KR_ORDER_REALTIME && rt(asg, link->from.i, link->to.i);

	kr_version to = kr_asg_version_of(asg, link->to, link->key), from = kr_asg_version_of(asg, link->from, link->key);

	if (link->kind == KR_WW)
		return w->place[from.i] < w->place[to.i];

	const struct kr_observation *obs = &asg->obs[link->obs.i];

	if (w->source[link->obs.i] != link->seen.i)
		return false;
	return link->kind == KR_WR ? asg->versions[link->seen.i].writer.i == link->from.i
				   : w->place[link->seen.i] < w->place[to.i] && !(obs->predicate && kr_asg_in_set(asg, obs->set, to));
}

/* The cycle alone, as a graph of its own, is one that the level forbids. */
static void check_cycle(const struct kr_ir *ir, const struct kr_proof *proof, const struct kr_cycle *cycle)
{
	struct dependencies d = {.n = 0};

	for (uint32_t i = 0; i < cycle->count; i++) {
		const struct kr_link *link = &proof->links.at[cycle->first + i];
		const struct kr_link *next = &proof->links.at[cycle->first + (i + 1) % cycle->count];

		assert_int_equal(link->to.i, next->from.i);
		depend(&d, link->kind, link->from.i, link->to.i, link->key.i, link->obs.i);
	}
	assert_true(violates(ir->asg, ir->level, &d));
}

/* A refutation needs a cycle in every world. */
static void refutes(const struct kr_ir *ir, const struct kr_proof *proof, const struct world *w)
{
	struct kr_str text;

	for (uint32_t c = 0; c < proof->cycles.n; c++) {
		const struct kr_cycle *cycle = &proof->cycles.at[c];
		bool all = true;

		for (uint32_t i = cycle->first; i < cycle->first + cycle->count; i++)
			all &= holds(w, &proof->links.at[i]);
		if (all)
			return;
	}
	kr_str_init(&text, &ir->ctx->mem);
	kr_ir_print(ir, &text);
	fail_msg("%s: a world avoids all %u cycles\n%s", ir->level->id, proof->cycles.n, kr_str_text(&text));
}

static void compare_world(struct comparison *c, const struct world *w)
{
	const struct kr_ir *ir = c->ir;
	struct matrix graph_of_world, known;
	static struct dependencies d;

	if (c->proof)
		refutes(ir, c->proof, w);
	dependencies(w, &d);
	graph(ir->asg, ir->level, &d, &graph_of_world);
	if (violates(ir->asg, ir->level, &d))
		return;
	c->satisfying++;
	for (uint32_t t = 0; t < ir->asg->ntxns; t++)
		if (ir->presence[t] == KR_ABSENT_TXN && is_in(w, t))
			return;
	c->kept++;
	assert_null(ir->conflict);
	for (uint32_t t = 0; t < ir->asg->ntxns; t++)
		assert_true(ir->presence[t] != KR_PRESENT || is_in(w, t));
	for (uint32_t o = 0; o < ir->asg->nobs; o++)
		assert_true(ir->source[o].i == KR_NONE || ir->source[o].i == w->source[o]);
	known_graph(ir, w->present, &known);
	for (uint32_t a = 0; a < MOST; a++)
		assert_int_equal(known.row[a] & ~graph_of_world.row[a], 0);
}

/* Steps place[] of the versions of key k that are in the world to their next permutation; false after the last. place[] must be a permutation of 1..n. */
static bool next_permutation(struct world *w, uint32_t k)
{
	uint32_t at[MOST], n = 0;
	const struct kr_asg *asg = w->asg;

	for (uint32_t v = asg->keys[k].first + 1; v < asg->keys[k + 1].first; v++)
		if (is_in(w, asg->versions[v].writer.i))
			at[n++] = v;
	for (uint32_t i = n; i-- > 1;) {
		if (w->place[at[i - 1]] >= w->place[at[i]])
			continue;

		uint32_t j = n - 1;

		while (w->place[at[j]] <= w->place[at[i - 1]])
			j--;

		uint32_t swap = w->place[at[j]];

		w->place[at[j]] = w->place[at[i - 1]];
		w->place[at[i - 1]] = swap;
		for (uint32_t low = i, high = n - 1; low < high; low++, high--) {
			swap = w->place[at[low]];
			w->place[at[low]] = w->place[at[high]];
			w->place[at[high]] = swap;
		}
		return true;
	}
	for (uint32_t i = 0; i < n; i++)
		w->place[at[i]] = i + 1;
	return false;
}

/* The given orders, closed, so that they bind also around absent versions. */
static bool respects_orders(const struct world *w, const bool (*before)[64])
{
	const struct kr_asg *asg = w->asg;

	for (uint32_t a = 0; a < asg->nversions; a++)
		for (uint32_t b = 0; b < asg->nversions; b++) {
			uint32_t from = asg->versions[a].writer.i, to = asg->versions[b].writer.i;

			if (before[a][b] && from != KR_NONE && is_in(w, from) && is_in(w, to) && w->place[a] > w->place[b])
				return false;
		}
	return true;
}

static void close_orders(const struct kr_asg *asg, uint32_t present, bool (*before)[64])
{
	for (uint32_t i = 0; i < asg->norders; i++)
		if (asg->orders[i].guard.i == KR_NONE || (present >> asg->orders[i].guard.i & 1))
			before[asg->orders[i].before.i][asg->orders[i].after.i] = true;
	for (uint32_t via = 0; via < asg->nversions; via++)
		for (uint32_t a = 0; a < asg->nversions; a++)
			for (uint32_t b = 0; b < asg->nversions; b++)
				before[a][b] |= before[a][via] && before[via][b];
}

static bool can_be_source(const struct world *w, uint32_t o, uint32_t v)
{
	const struct kr_observation *obs = &w->asg->obs[o];
	uint32_t writer = w->asg->versions[v].writer.i;

	return w->asg->versions[v].key.i == obs->key.i && kr_asg_in_set(w->asg, obs->set, (kr_version){v}) &&
		(writer == KR_NONE || (writer != obs->txn.i && is_in(w, writer)));
}

/* Steps the sources to their next combination; false after the last. */
static bool next_sources(struct world *w)
{
	for (uint32_t o = 0; o < w->asg->nobs; o++) {
		if (!is_in(w, w->asg->obs[o].txn.i))
			continue;
		for (uint32_t v = w->source[o] + 1; v < w->asg->nversions; v++)
			if (can_be_source(w, o, v)) {
				w->source[o] = v;
				return true;
			}
		w->source[o] = 0;
		while (!can_be_source(w, o, w->source[o]))
			w->source[o]++;
	}
	return false;
}

static bool first_sources(struct world *w)
{
	for (uint32_t o = 0; o < w->asg->nobs; o++) {
		uint32_t v = 0;

		if (!is_in(w, w->asg->obs[o].txn.i))
			continue;
		while (v < w->asg->nversions && !can_be_source(w, o, v))
			v++;
		if (v == w->asg->nversions)
			return false;
		w->source[o] = v;
	}
	return true;
}

/* An untold initial value is one value: who saw it saw the same. */
static bool agrees_on_initial(const struct world *w)
{
	const struct kr_asg *asg = w->asg;

	for (uint32_t a = 0; a < asg->nobs; a++)
		for (uint32_t b = 0; b < a; b++)
			if (is_in(w, asg->obs[a].txn.i) && is_in(w, asg->obs[b].txn.i) && w->source[a] == w->source[b] &&
				asg->versions[w->source[a]].writer.i == KR_NONE && asg->keys[asg->obs[a].key.i].open_initial &&
				asg->obs[a].set != asg->obs[b].set)
				return false;
	return true;
}

static void all_worlds(struct comparison *c)
{
	const struct kr_asg *asg = c->ir->asg;

	for (uint32_t present = 0; present < 1u << asg->ntxns; present++) {
		struct world w = {.asg = asg, .order = c->ir->order, .present = present};
		bool fits = true, before[64][64] = {{false}};

		close_orders(asg, present, before);

		for (uint32_t t = 0; t < asg->ntxns; t++)
			fits &= asg->txns[t].presence == KR_OPEN || (asg->txns[t].presence == KR_PRESENT) == is_in(&w, t);
		if (!fits || !first_sources(&w))
			continue;
		for (uint32_t k = 0; k < asg->nkeys; k++)
			for (uint32_t v = asg->keys[k].first + 1, n = 0; v < asg->keys[k + 1].first; v++)
				if (is_in(&w, asg->versions[v].writer.i))
					w.place[v] = ++n;
		do {
			bool more = agrees_on_initial(&w);

			while (more) {
				if (respects_orders(&w, (const bool(*)[64])before))
					compare_world(c, &w);
				more = false;
				for (uint32_t k = 0; k < asg->nkeys && !more; k++)
					more = next_permutation(&w, k);
			}
		} while (next_sources(&w));
	}
	assert_true(c->satisfying == 0 || c->kept > 0);
}

/* ---- what passes promise to add ---- */

static void show(const struct kr_ir *ir, const char *what, uint32_t a, uint32_t b)
{
	struct kr_str text;

	kr_str_init(&text, &ir->ctx->mem);
	kr_ir_print(ir, &text);
	fail_msg("%s: %s: %u -> %u in\n%s", ir->level->id, what, a, b, kr_str_text(&text));
}

static uint32_t not_absent(const struct kr_ir *ir)
{
	uint32_t bits = 0;

	for (uint32_t t = 0; t < ir->asg->ntxns; t++)
		bits |= (uint32_t)(ir->presence[t] != KR_ABSENT_TXN) << t;
	return bits;
}

static uint32_t known_present(const struct kr_ir *ir)
{
	uint32_t bits = 0;

	for (uint32_t t = 0; t < ir->asg->ntxns; t++)
		bits |= (uint32_t)(ir->presence[t] == KR_PRESENT) << t;
	return bits;
}

/* so and rt: exactly the orders of the definition. */
static void check_orders(const struct kr_ir *ir)
{
	struct matrix expected = {{0}}, known;

	orders_matrix(ir->asg, ir->order, not_absent(ir), &expected);
	close(&expected);
	known_graph(ir, not_absent(ir), &known);
	for (uint32_t a = 0; a < ir->asg->ntxns; a++)
		for (uint32_t b = 0; b < ir->asg->ntxns; b++)
			assert_int_equal(get(&known, leaves(ir->level, KR_SO, a), enters(ir->level, KR_SO, b)), get(&expected, a, b));
}

/* ww: every given order between present writers; rw: every later version that needs no inference. */
static void check_later(const struct kr_ir *ir)
{
	const struct kr_asg *asg = ir->asg;
	bool before[64][64] = {{false}};
	struct matrix known;

	close_orders(asg, known_present(ir), before);
	known_graph(ir, not_absent(ir), &known);
	if (has_cycle(&known))
		return; /* violated already; "earliest writers" means nothing on a cycle */
	for (uint32_t a = 0; a < asg->nversions; a++)
		for (uint32_t b = 0; b < asg->nversions; b++) {
			uint32_t from = asg->versions[a].writer.i, to = asg->versions[b].writer.i;

			if (a != b && before[a][b] && from != KR_NONE && ir->presence[from] == KR_PRESENT && ir->presence[to] == KR_PRESENT)
				if (!get(&known, leaves(ir->level, KR_WW, from), enters(ir->level, KR_WW, to)))
					show(ir, "no ww", from, to);
		}
	for (uint32_t o = 0; o < asg->nobs; o++) { /* a reader of v that writes the key comes after v */
		kr_version own = kr_asg_version_of(asg, asg->obs[o].txn, asg->obs[o].key);

		if (ir->source[o].i != KR_NONE && own.i != KR_NONE)
			before[ir->source[o].i][own.i] = true;
	}
	for (uint32_t o = 0; o < asg->nobs; o++) {
		const struct kr_observation *obs = &asg->obs[o];
		uint32_t seen = ir->source[o].i;

		bool counts = ir->level->forbidden[0].allowed >> KR_RW & 1 && !ir->level->forbidden[0].one_reader &&
			!(ir->level->forbidden[0].item_only && obs->predicate);

		for (uint32_t b = 0; counts && seen != KR_NONE && b < asg->nversions; b++) {
			uint32_t to = asg->versions[b].writer.i;
			bool later = asg->versions[b].key.i == obs->key.i && (asg->versions[seen].writer.i == KR_NONE || before[seen][b]);

			if (later && to != KR_NONE && to != obs->txn.i && ir->presence[to] == KR_PRESENT &&
				!(obs->predicate && kr_asg_in_set(asg, obs->set, (kr_version){b})))
				if (!get(&known, leaves(ir->level, KR_RW, obs->txn.i), enters(ir->level, KR_RW, to)))
					show(ir, "no rw", obs->txn.i, to);
		}
	}
}

/* Counts: pair by pair, with the clock those without a path, else all. */
static void check_counts(const struct kr_ir *ir)
{
	const struct kr_asg *asg = ir->asg;
	struct kr_ir_counts counts;
	struct matrix known;
	uint64_t pairs = 0, sources = 0;
	uint32_t keys = 0;

	assert_int_equal(kr_ir_count(ir, &counts), KR_OK);
	known_graph(ir, not_absent(ir), &known);
	for (uint32_t k = 0; k < asg->nkeys; k++) {
		uint64_t before = pairs;

		for (uint32_t v = asg->keys[k].first + 1; v < asg->keys[k + 1].first; v++)
			for (uint32_t u = asg->keys[k].first + 1; u < v; u++) {
				uint32_t a = asg->versions[u].writer.i, b = asg->versions[v].writer.i;
				uint32_t out_a = leaves(ir->level, KR_WW, a), out_b = leaves(ir->level, KR_WW, b);
				bool ordered =
					ir->clock && (get(&known, out_a, enters(ir->level, KR_WW, b)) || get(&known, out_b, enters(ir->level, KR_WW, a)));

				pairs += ir->presence[a] != KR_ABSENT_TXN && ir->presence[b] != KR_ABSENT_TXN && !ordered;
			}
		keys += pairs > before;
	}
	for (uint32_t o = 0; o < asg->nobs; o++)
		sources += ir->source[o].i == KR_NONE && ir->presence[asg->obs[o].txn.i] == KR_PRESENT;
	assert_int_equal(counts.open_pairs, pairs);
	assert_int_equal(counts.open_keys, keys);
	assert_int_equal(counts.open_sources, sources);
}

/* What saturation promises: nothing is left to its rules. */
static void check_saturated(const struct kr_ir *ir)
{
	const struct kr_asg *asg = ir->asg;

	for (uint32_t o = 0; o < asg->nobs; o++) {
		kr_version v;
		uint32_t n = 0;

		if (!kr_ir_is_present(ir, asg->obs[o].txn))
			continue;
		for (kr_candidates it = kr_asg_candidates(asg, (kr_obs){o}); kr_asg_next(asg, &it, &v);) {
			kr_txn w = asg->versions[v.i].writer;
			bool possible = (w.i == KR_NONE || ir->presence[w.i] != KR_ABSENT_TXN) && !kr_ir_impossible(ir, (kr_obs){o}, v);

			n += possible;
			if (v.i == ir->source[o].i && !possible)
				show(ir, "source is impossible", o, v.i);
		}
		if (n < 2 && ir->source[o].i == KR_NONE && !asg->keys[asg->obs[o].key.i].open_initial)
			show(ir, "source is left open", o, n);
	}
	for (uint32_t a = 0; a < asg->nversions; a++)
		for (uint32_t b = 0; b < asg->nversions; b++) {
			kr_txn from = asg->versions[a].writer, to = asg->versions[b].writer;

			if (a == b || asg->versions[a].key.i != asg->versions[b].key.i || from.i == KR_NONE || to.i == KR_NONE)
				continue;
			if (kr_ir_is_present(ir, from) && kr_ir_is_present(ir, to) && kr_ir_writes_before(ir, from, to) &&
				!kr_clock_reaches(ir->clock, kr_ir_out(ir, KR_WW, from), kr_ir_in(ir, KR_WW, to)))
				show(ir, "order of writers is left open", from.i, to.i);
		}
}

/* What of a world is known: who is in it, and the sources. */
static void known_world(const struct kr_ir *ir, struct world *w)
{
	*w = (struct world){.asg = ir->asg, .order = ir->order, .present = known_present(ir)};
	for (uint32_t o = 0; o < ir->asg->nobs; o++)
		w->source[o] = ir->source[o].i;
}

/* visible: with known sources, whoever would be missed had he written later has written before. */
static void check_visible(const struct kr_ir *ir)
{
	const struct kr_asg *asg = ir->asg;
	const struct kr_pattern *p = &ir->level->forbidden[1];
	static struct dependencies d;
	struct matrix known;

	d.n = 0;
	known_graph(ir, not_absent(ir), &known);
	if (!p->allowed || p->allowed >> KR_WW & 1 || has_cycle(&known))
		return;
	for (uint32_t a = 0; a < asg->ntxns; a++)
		for (uint32_t b = 0; b < asg->ntxns; b++) {
			if (!kr_ir_is_present(ir, (kr_txn){a}) || !kr_ir_is_present(ir, (kr_txn){b}))
				continue;
			if (ir->order >= KR_ORDER_SESSION && so(asg, a, b))
				depend(&d, KR_SO, a, b, KR_NONE, KR_NONE);
			if (ir->order >= KR_ORDER_REALTIME && rt(asg, a, b))
				depend(&d, KR_RT, a, b, KR_NONE, KR_NONE);
		}
	for (uint32_t o = 0; o < asg->nobs; o++)
		if (ir->source[o].i != KR_NONE && asg->versions[ir->source[o].i].writer.i != KR_NONE)
			depend(&d, KR_WR, asg->versions[ir->source[o].i].writer.i, asg->obs[o].txn.i, asg->obs[o].key.i, o);
	for (uint32_t o = 0; o < asg->nobs; o++)
		for (uint32_t v = asg->keys[asg->obs[o].key.i].first + 1; v < asg->keys[asg->obs[o].key.i + 1].first; v++) {
			const struct kr_observation *obs = &asg->obs[o];
			kr_txn a = asg->versions[v].writer;
			struct dependency rw = {KR_RW, obs->txn.i, a.i, obs->key.i, o};
			uint32_t seen = ir->source[o].i;

			if (seen == KR_NONE || seen == v || a.i == obs->txn.i || !kr_ir_is_present(ir, a) ||
				(obs->predicate && kr_asg_in_set(asg, obs->set, (kr_version){v})))
				continue;
			if (single_forbidden(asg, &d, p, &rw) &&
				(asg->versions[seen].writer.i == KR_NONE || !get(&known, a.i, asg->versions[seen].writer.i)))
				show(ir, "who is visible is not ordered", a.i, o);
		}
}

/* Where nothing is open but orders, any order of the graph is a world, and is told. */
static void check_sorted(struct kr_ir *ir)
{
	const struct kr_asg *asg = ir->asg;
	static struct dependencies d;
	struct kr_answer answer;
	struct world w;
	bool settled = kr_level_is_axiomatic(ir->level) && ir->visible == kr_ir_known_sources(ir);
	bool before[64][64] = {{false}};

	known_world(ir, &w);
	close_orders(asg, w.present, before);
	for (uint32_t o = 0; o < asg->nobs; o++)
		settled &= ir->source[o].i != KR_NONE || !kr_ir_is_present(ir, asg->obs[o].txn);
	for (uint32_t a = 0; a < asg->nobs; a++)
		for (uint32_t b = 0; b < a; b++)
			settled &= ir->source[a].i == KR_NONE || ir->source[a].i != ir->source[b].i || asg->obs[a].set == asg->obs[b].set ||
				!asg->keys[asg->obs[a].key.i].open_initial || asg->versions[ir->source[a].i].writer.i != KR_NONE;
	kr_answer_init(&answer, &ir->ctx->mem);
	assert_int_equal(kr_sorted_decide(ir, &answer), KR_OK);
	assert_int_equal(answer.outcome, settled ? KR_SATISFIED : KR_UNDECIDED);
	for (uint32_t i = 0; i < answer.order.n; i++)
		for (uint32_t v = 0; v < asg->nversions; v++)
			if (asg->versions[v].writer.i == answer.order.at[i].i)
				w.place[v] = i + 1;
	if (settled) {
		dependencies(&w, &d);
		if (violates(asg, ir->level, &d) || !respects_orders(&w, (const bool(*)[64])before))
			show(ir, "the order is no world", answer.order.n, 0);
	}
	kr_answer_done(&answer, &ir->ctx->mem);
}

static void compare(const struct kr_ir *ir)
{
	struct comparison c = {.ir = ir};
	struct kr_proof *proof = ir->conflict;

	if (proof) {
		assert_int_equal(kr_proof_close(proof, ir), KR_OK);
		for (uint32_t i = 0; i < proof->cycles.n; i++)
			check_cycle(ir, proof, &proof->cycles.at[i]);
		c.proof = proof;
	}
	all_worlds(&c);
}

/* Returns what became of it: KR_CONFLICT, or something else. */
static enum kr_change check_text(const struct kr_level *level, enum kr_order order, const char *text)
{
	static const char *const passes[] = {"so", "rt", "presence", "wr", "visible", "ww", "rw", "sweep", "clock", "saturate"};
	struct kr_ctx ctx;
	struct kr_err err;
	struct kr_asg asg;
	struct kr_ir ir;
	enum kr_change change = KR_UNCHANGED;

	kr_ctx_init(&ctx, 0, 0);
	kr_err_init(&err);
	if (kr_asg_read(&asg, &ctx, text, NULL, &err))
		fail_msg("%s\n%s", err.text, text);
	assert_int_equal(kr_ir_init(&ir, &ctx, &asg, level, order), KR_OK);
	for (size_t i = 0; i < KR_COUNT(passes) && change != KR_CONFLICT; i++) {
		enum kr_status status = i == 7 ? kr_sweep(&ir, &change)
					       : kr_passes_run(&ir, passes[i], NULL, NULL, &change, &err);
		if (status || kr_ir_verify(&ir, &err))
			fail_msg("%s: %s\n%s", passes[i], err.text, text);
		if (i == 1)
			check_orders(&ir);
		if (i == 4 && change != KR_CONFLICT)
			check_visible(&ir);
		if (i == 6)
			check_later(&ir);
		if (i == 9 && change != KR_CONFLICT) {
			check_saturated(&ir);
			check_sorted(&ir);
		}
		if (change != KR_CONFLICT)
			check_counts(&ir);
		if (i == 2 || i == 4 || i == 6 || i == 7 || i == 9 || change == KR_CONFLICT)
			compare(&ir);
	}
	kr_ir_done(&ir);
	kr_asg_done(&asg);
	assert_int_equal(ctx.mem.used, 0);
	return change;
}

static void check_one(struct kr_rng *rng)
{
	const struct kr_level *level = &levels[kr_rng_below(rng, KR_COUNT(levels))];
	enum kr_order order = (enum kr_order)kr_rng_below(rng, level->forbidden[0].one_reader ? 1 : 3);
	struct kr_ctx ctx;
	struct kr_str text;

	kr_ctx_init(&ctx, 0, 0);
	kr_str_init(&text, &ctx.mem);
	random_asg(rng, &text);
	check_text(level, order, kr_str_text(&text));
	kr_str_done(&text);
	assert_int_equal(ctx.mem.used, 0);
}

/* What random graphs seldom are: anomalies that tell levels apart. */
static void anomalies_refute_their_levels(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		const char *levels; /* that are refuted without a search; in the order of `levels` above */
	} rows[] = {
		/* two readers, each of which misses what the other saw */
		{"asg 1\ntxn 0 present\ntxn 1 present\ntxn 2 present\ntxn 3 present\nkey 0\nkey 1\nversion 0 key 0 initial\nversion 1 key 0 by 0\n"
		 "version 2 key 1 initial\nversion 3 key 1 by 1\nset 0 {0}\nset 1 {1}\nset 2 {2}\nset 3 {3}\nobserve txn 2 op 0 key 0 set 1\n"
		 "observe txn 2 op 1 key 1 set 2\nobserve txn 3 op 0 key 0 set 0\nobserve txn 3 op 1 key 1 set 3\nend asg\n",
			"ser si pc pl-2.99"},
		/* two transactions read one version and overwrite it */
		{"asg 1\ntxn 0 present\ntxn 1 present\nkey 0\nversion 0 key 0 initial\nversion 1 key 0 by 0\nversion 2 key 0 by 1\nset 0 {0}\n"
		 "observe txn 0 op 0 key 0 set 0\nobserve txn 1 op 0 key 0 set 0\nend asg\n",
			"ser si psi pl-2.99 pl-3u"},
		/* two transactions read two keys and write one each */
		{"asg 1\ntxn 0 present\ntxn 1 present\nkey 0\nkey 1\nversion 0 key 0 initial\nversion 1 key 0 by 0\nversion 2 key 1 initial\n"
		 "version 3 key 1 by 1\nset 0 {0}\nset 1 {2}\nobserve txn 0 op 0 key 1 set 1\nobserve txn 1 op 0 key 0 set 0\nend asg\n",
			"ser pl-2.99 pl-3u"},
		/* a reader sees one of two writes */
		{"asg 1\ntxn 0 present\ntxn 1 present\nkey 0\nkey 1\nversion 0 key 0 initial\nversion 1 key 0 by 0\nversion 2 key 1 initial\n"
		 "version 3 key 1 by 0\nset 0 {0}\nset 1 {3}\nobserve txn 1 op 0 key 1 set 1\nobserve txn 1 op 1 key 0 set 0\nend asg\n",
			"ser si pc psi pl-2.99 pl-3u cc ra rc-ax"},
	};

	for (size_t i = 0; i < KR_COUNT(rows); i++) {
		char refuted[128] = "";

		for (size_t j = 0; j < KR_COUNT(levels); j++)
			if (check_text(&levels[j], KR_ORDER_NONE, rows[i].text) == KR_CONFLICT)
				strcat(strcat(refuted, refuted[0] ? " " : ""), levels[j].id);
		assert_string_equal(refuted, rows[i].levels);
	}
}

static void passes_agree_with_worlds(void **state)
{
	(void)state;
	const char *wanted = getenv("KRAIT_ROUNDS");
	uint64_t rounds = wanted ? strtoull(wanted, NULL, 10) : ROUNDS;

	for (uint64_t seed = 1; seed <= rounds; seed++) {
		struct kr_rng rng;

		kr_rng_init(&rng, seed);
		check_one(&rng);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(anomalies_refute_their_levels),
		cmocka_unit_test(passes_agree_with_worlds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
