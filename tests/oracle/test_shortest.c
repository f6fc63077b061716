/* The cycle that is reported, on tiny histories whose graph is fixed: every value is written once and read from its writer, and every key's versions have a given order. So there is one
 * world, and a level is violated iff its graph has a forbidden cycle. All closed walks are tried, shortest first, each judged by its level's row in docs/levels.md; the reported cycle must be as
 * good as the best: the shortest; of these, one with the fewest rw; of these, one with the fewest edges of an order, and the fewest of time; of these, one with the name that docs/levels.md lists first.
 *
 * KRAIT_ORACLE_COUNT, KRAIT_ORACLE_SEED: as for oracle_levels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "checkers/check.h"
#include "asked.h"
#include "levels.h"
#include "report/report.h"
#include "tiny.h"

enum { KEYS = 2, MOST_EDGES = 400, MOST_LENGTH = 7 };

/* ---- random histories with one world ---- */

static int draw(struct kr_rng *rng, int n) { return (int)kr_rng_below(rng, (uint64_t)n); }

static int value_of(int txn, int key) { return 1 + txn * KEYS + key; }

/* What the transactions of a history may see, and in which order their versions come. */
enum sight {
	SEE_ANYTHING, /* any version; any order: every kind of cycle */
	SEE_PAST,     /* versions of transactions before, in whose order they come: rw alone lead back */
	SEE_SNAPSHOT, /* of such, what the transactions up to one of them left */
	SEE_FORKS,    /* as SEE_PAST; each transaction writes one key or reads each key once: two readers or more are on each cycle */
	SIGHTS
};

static void random_op(struct tiny *t, struct kr_rng *rng, int txn, int key, int writes, bool *wrote)
{
	struct tiny_txn *at = &t->txns[txn];
	struct tiny_op op = {.kind = KR_OP_READ, .key = key, .loose = draw(rng, 10) == 0, .low = -1, .high = -1, .limit = -1, .prefix = -1};

	if (wrote[op.key])
		return;
	if (draw(rng, 100) < writes) {
		op.kind = KR_OP_WRITE;
		op.a = value_of(txn, op.key);
		wrote[op.key] = true;
	} else if (draw(rng, 4) == 0) {
		op.kind = KR_OP_RANGE;
		op.low = op.key;
		op.high = op.key + 1;
	}
	at->ops[at->nops++] = op;
}

/* The value of a random version, or of the last one, by transactions before `end` other than the reader; or 0. */
static int random_value(const struct tiny *t, struct kr_rng *rng, int reader, int key, int end, bool last)
{
	int writers[TINY_TXNS + 1] = {-1}, n = 1;

	for (int i = 0; i < end; i++)
		for (int j = 0; j < t->txns[i].nops && i != reader; j++)
			if (t->txns[i].ops[j].kind == KR_OP_WRITE && t->txns[i].ops[j].key == key)
				writers[n++] = i;
	int writer = writers[last ? n - 1 : draw(rng, n)];

	return writer < 0 ? 0 : value_of(writer, key);
}

static void fill_in_results(struct tiny *t, struct kr_rng *rng, enum sight sight)
{
	for (int i = 0; i < t->ntxns; i++) {
		int end = sight == SEE_ANYTHING ? t->ntxns : sight == SEE_SNAPSHOT ? draw(rng, i + 1) : i;
		for (int j = 0; j < t->txns[i].nops; j++) {
			struct tiny_op *op = &t->txns[i].ops[j];
			int value = op->kind == KR_OP_WRITE ? op->a : random_value(t, rng, i, op->key, end, sight == SEE_SNAPSHOT);
			op->a = op->row[op->key] = value;
			op->has[op->key] = op->kind == KR_OP_RANGE && value != 0;
		}
	}
}

static void version_order(struct tiny *t, struct kr_rng *rng, int key, bool shuffle)
{
	struct tiny_order *order = &t->orders[t->norders];

	*order = (struct tiny_order){.key = key};
	for (int i = 0; i < t->ntxns; i++)
		for (int j = 0; j < t->txns[i].nops; j++)
			if (t->txns[i].ops[j].kind == KR_OP_WRITE && t->txns[i].ops[j].key == key)
				order->writers[order->n++] = i;
	for (int i = order->n - 1; i > 0 && shuffle; i--) {
		int j = draw(rng, i + 1), swap = order->writers[i];
		order->writers[i] = order->writers[j];
		order->writers[j] = swap;
	}
	t->norders += order->n > 1;
}

static void random_history(struct tiny *t, struct kr_rng *rng)
{
	enum sight sight = (enum sight)draw(rng, SIGHTS);
	bool sessions = draw(rng, 4) == 0, times = draw(rng, 4) == 0;

	*t = (struct tiny){.initial = KR_INITIAL_ABSENT, .ntxns = sight == SEE_FORKS ? TINY_TXNS : 2 + draw(rng, TINY_TXNS - 1)};
	for (int i = 0; i < TINY_KEYS; i++)
		t->kinds[i] = KR_KIND_REGISTER;
	for (int i = 0; i < t->ntxns; i++) {
		bool wrote[KEYS] = {false};
		int begin = draw(rng, 4) ? 2 * i + draw(rng, 3) : draw(rng, 12), writes = sight == SEE_FORKS ? 100 * draw(rng, 2) : 40;
		t->txns[i] = (struct tiny_txn){.status = KR_COMMITTED,
			.session = sessions ? draw(rng, 3) : -1,
			.begin = times ? begin : -1,
			.end = times ? begin + draw(rng, 4) : -1};
		for (int j = 0, n = writes == 100 ? 1 : sight == SEE_FORKS ? KEYS : 2 + draw(rng, 3); j < n; j++)
			random_op(t, rng, i, sight == SEE_FORKS && n == KEYS ? j : draw(rng, KEYS), writes, wrote);
	}
	fill_in_results(t, rng, sight);
	for (int key = 0; key < KEYS; key++)
		version_order(t, rng, key, sight == SEE_ANYTHING);
}

/* ---- its graph ---- */

struct walk_edge {
	uint32_t from, to;
	uint8_t kind;
	uint32_t key, op;
	bool predicate, loose;
};

struct fixed {
	const struct tiny *t;
	struct walk_edge edges[MOST_EDGES];
	uint32_t n;
	int place[KEYS][TINY_TXNS + 1]; /* of versions; 0: none, or the initial one */
	bool updates[TINY_TXNS];
};

static void add_edge(struct fixed *f, struct walk_edge e)
{
	assert_true(f->n < MOST_EDGES);
	f->edges[f->n++] = e;
}

/* Whether each key has its versions in a given order: shrinking may have dropped some. */
static bool place_versions(struct fixed *f)
{
	int writers[KEYS] = {0};

	for (int i = 0; i < f->t->ntxns; i++)
		for (int j = 0; j < f->t->txns[i].nops; j++)
			if (f->t->txns[i].ops[j].kind == KR_OP_WRITE) {
				int key = f->t->txns[i].ops[j].key;
				f->updates[i] = true;
				f->place[key][i] = 1;
				writers[key]++;
			}
	for (int o = 0; o < f->t->norders; o++)
		for (int i = 0; i < f->t->orders[o].n; i++) {
			f->place[f->t->orders[o].key][f->t->orders[o].writers[i]] = 1 + i;
			writers[f->t->orders[o].key]--;
		}
	for (int key = 0; key < KEYS; key++)
		if (writers[key] > 1)
			return false;
	return true;
}

static void add_ww(struct fixed *f)
{
	for (uint32_t key = 0; key < KEYS; key++)
		for (uint32_t a = 0; a < TINY_TXNS; a++)
			for (uint32_t b = 0; b < TINY_TXNS; b++)
				if (f->place[key][a] > 0 && f->place[key][a] < f->place[key][b])
					add_edge(f, (struct walk_edge){.from = a, .to = b, .kind = KR_WW, .key = key});
}

/* False: what was read is no version. */
static bool add_read(struct fixed *f, uint32_t t, uint32_t op)
{
	const struct tiny_op *o = &f->t->txns[t].ops[op];
	uint32_t key = (uint32_t)o->key;
	bool predicate = o->kind == KR_OP_RANGE && !o->has[key];
	int value = o->kind == KR_OP_RANGE ? (predicate ? 0 : o->row[key]) : o->a, source = (value - 1) / KEYS;

	if (value != 0 && (value < 0 || source >= f->t->ntxns || value != value_of(source, o->key) || f->place[key][source] == 0))
		return false;
	struct walk_edge e = {.key = key, .op = op, .predicate = predicate, .loose = o->loose};
	if (value != 0) {
		e.from = (uint32_t)source, e.to = t, e.kind = KR_WR;
		add_edge(f, e);
	}
	for (uint32_t b = 0; b < TINY_TXNS; b++)
		if (b != t && f->place[key][b] > (value ? f->place[key][source] : 0)) {
			e.from = t, e.to = b, e.kind = KR_RW;
			add_edge(f, e);
		}
	return true;
}

static void add_orders(struct fixed *f)
{
	const struct tiny *t = f->t;

	for (uint32_t a = 0; a < (uint32_t)t->ntxns; a++)
		for (uint32_t b = 0; b < (uint32_t)t->ntxns; b++) {
			if (a < b && t->txns[a].session >= 0 && t->txns[a].session == t->txns[b].session)
				add_edge(f, (struct walk_edge){.from = a, .to = b, .kind = KR_SO, .key = KR_NONE});
			if (t->txns[a].end >= 0 && t->txns[b].begin >= 0 && t->txns[a].end + t->skew < t->txns[b].begin)
				add_edge(f, (struct walk_edge){.from = a, .to = b, .kind = KR_RT, .key = KR_NONE});
		}
}

/* False: this one has not exactly one world, or none that is looked for here. */
static bool fix(struct fixed *f, const struct tiny *t)
{
	*f = (struct fixed){.t = t};
	if (!place_versions(f))
		return false;
	add_ww(f);
	for (uint32_t i = 0; i < (uint32_t)t->ntxns; i++)
		for (uint32_t j = 0; j < (uint32_t)t->txns[i].nops; j++)
			if (t->txns[i].status != KR_COMMITTED || t->txns[i].ops[j].a == TINY_UNTOLD ||
				(t->txns[i].ops[j].kind != KR_OP_WRITE && !add_read(f, i, j)))
				return false;
	add_orders(f);
	return true;
}

/* ---- which closed walks are forbidden ---- */

struct walk {
	const struct fixed *f;
	const struct walk_edge *at[MOST_LENGTH];
	uint32_t n, of_kind[KR_PROGRAM], predicates, rw; /* rw: the place of the last one */
};

static const struct walk_edge *before(const struct walk *w, uint32_t i) { return w->at[(i + w->n - 1) % w->n]; }

static bool two_neighbours(const struct walk *w)
{
	for (uint32_t i = 0; i < w->n; i++)
		if (w->at[i]->kind == KR_RW && before(w, i)->kind == KR_RW)
			return true;
	return false;
}

static bool every_rw_is_led(const struct walk *w)
{
	for (uint32_t i = 0; i < w->n; i++)
		if (w->at[i]->kind == KR_RW && (before(w, i)->kind == KR_RW || before(w, i)->kind == KR_WW))
			return false;
	return true;
}

static uint32_t count_readers(const struct walk *w)
{
	uint32_t set = 0;

	for (uint32_t i = 0; i < w->n; i++)
		set |= w->f->updates[w->at[i]->from] ? 0 : 1u << w->at[i]->from;
	return (uint32_t)__builtin_popcount(set);
}

static bool forbids(enum oracle_level level, const struct walk *w)
{
	bool d = w->of_kind[KR_RW] == 0, single = w->of_kind[KR_RW] == 1;
	const struct walk_edge *rw = w->at[w->rw], *lead = before(w, w->rw);

	switch (level) {
	case ORACLE_PL_1: return d && w->of_kind[KR_WR] == 0;
	case ORACLE_PL_2: return d;
	case ORACLE_PL_CS: return d || (single && w->n == 2 && lead->kind == KR_WW && lead->key == rw->key && !rw->loose);
	case ORACLE_PL_2L: return d || (single && lead->kind == KR_WR && lead->op <= rw->op);
	case ORACLE_RC_AX: return d || (single && w->n == 2 && lead->kind == KR_WR && lead->op < rw->op);
	case ORACLE_RA: return d || (single && w->n == 2 && lead->kind != KR_WW);
	case ORACLE_CC: return d || (single && w->of_kind[KR_WW] == 0);
	case ORACLE_PL_2PLUS:
	case ORACLE_PSI:
	case ORACLE_PL_FCV: return d || single;
	case ORACLE_PC: return every_rw_is_led(w);
	case ORACLE_SI: return !two_neighbours(w);
	case ORACLE_PL_2_99: return w->predicates == 0;
	case ORACLE_PL_3U: return count_readers(w) <= 1;
	default: return true;
	}
}

/* ---- how good one is ---- */

struct merit {
	uint32_t length, rw, order, time, name;
}; /* less is better */

static const char *const names[] = {"G0", "G1c", "lost update", "G-single", "long fork", "G-nonadjacent", "write skew", "G2-item", "G2"};

/* Of the name, whatever order it ends in. */
static uint32_t rank_of(const char *name)
{
	const char *suffix = strstr(name, "-session") ? strstr(name, "-session") : strstr(name, "-realtime");
	size_t length = suffix ? (size_t)(suffix - name) : strlen(name);
	uint32_t i = 0;

	while (i < KR_COUNT(names) && (strlen(names[i]) != length || strncmp(name, names[i], length) != 0))
		i++;
	assert_true(i < KR_COUNT(names));
	return i;
}

static bool is_less(const struct merit *a, const struct merit *b)
{
	if (a->length != b->length)
		return a->length < b->length;
	if (a->rw != b->rw)
		return a->rw < b->rw;
	if (a->order != b->order)
		return a->order < b->order;
	return a->time != b->time ? a->time < b->time : a->name < b->name;
}

static struct merit merit_of(const struct kr_history *h, const struct kr_certificate *cert)
{
	struct kr_cert_cycle last = cert->cycles.at[cert->cycles.n - 1];
	struct merit m = {.length = last.count};
	char name[KR_ANOMALY_NAME_SIZE];

	for (uint32_t i = 0; i < last.count; i++) {
		m.rw += cert->edges.at[last.first + i].kind == KR_RW;
		m.order += cert->edges.at[last.first + i].kind == KR_SO || cert->edges.at[last.first + i].kind == KR_RT;
		m.time += cert->edges.at[last.first + i].kind == KR_RT;
	}
	kr_report_anomaly(h, cert, name);
	m.name = rank_of(name);
	return m;
}

/* ---- the search ---- */

struct question {
	const struct kr_level *level;
	enum oracle_level row;
	enum kr_order order;
	struct merit reported;
	struct merit best;
	bool found;
};

struct search {
	const struct kr_history *h;
	struct kr_mem *mem;
	struct question *questions;
	uint32_t n;
};

static struct merit merit_of_walk(const struct search *s, const struct walk *w)
{
	struct kr_certificate cert;

	kr_certificate_init(&cert, s->mem);
	cert.kind = KR_CERT_CYCLES;
	for (uint32_t i = 0; i < w->n; i++) {
		struct kr_cert_edge e = {.kind = w->at[i]->kind,
			.predicate = w->at[i]->predicate,
			.from = {w->at[i]->from},
			.to = {w->at[i]->to},
			.key = {w->at[i]->key},
			.op = w->at[i]->op,
			.source = {KR_NONE},
			.part = {KR_NONE}};
		assert_true(kr_vec_push(s->mem, &cert.edges, e));
	}
	assert_true(kr_vec_push(s->mem, &cert.cycles, (struct kr_cert_cycle){0, w->n}));
	struct merit m = merit_of(s->h, &cert);

	kr_certificate_done(&cert);
	return m;
}

static void judge(struct search *s, struct walk *w)
{
	struct merit m = {.length = 0};

	for (uint32_t i = 0; i < s->n; i++) {
		struct question *q = &s->questions[i];
		if (w->n > q->reported.length || (w->of_kind[KR_SO] > 0 && q->order < KR_ORDER_SESSION) ||
			(w->of_kind[KR_RT] > 0 && q->order < KR_ORDER_REALTIME) || !forbids(q->row, w))
			continue;
		if (m.length == 0)
			m = merit_of_walk(s, w);
		if (!q->found || is_less(&m, &q->best))
			q->best = m;
		q->found = true;
	}
}

static void extend(struct search *s, struct walk *w, uint32_t length)
{
	const struct fixed *f = w->f;
	uint32_t at = w->at[w->n - 1]->to, start = w->at[0]->from;

	if (w->n == length) {
		if (at == start)
			judge(s, w);
		return;
	}
	for (uint32_t i = 0; i < f->n; i++) {
		const struct walk_edge *e = &f->edges[i];
		if (e->from != at || e->to < start)
			continue;
		struct walk longer = *w;
		longer.rw = e->kind == KR_RW ? w->n : w->rw;
		longer.at[longer.n++] = e;
		longer.of_kind[e->kind]++;
		longer.predicates += e->predicate && e->kind == KR_RW;
		extend(s, &longer, length);
	}
}

/* All closed walks of that length, each from its smallest transaction. */
static void walks_of(struct search *s, const struct fixed *f, uint32_t length)
{
	for (uint32_t i = 0; i < f->n; i++) {
		struct walk w = {.f = f, .at = {&f->edges[i]}, .n = 1};
		w.of_kind[f->edges[i].kind]++;
		w.predicates = f->edges[i].predicate && f->edges[i].kind == KR_RW;
		extend(s, &w, length);
	}
}

/* ---- the product ---- */

struct tally {
	uint64_t histories, cycles, by_name[KR_COUNT(names)], by_length[MOST_LENGTH + 1];
};

static char why_text[800];

/* The strongest order that makes a difference. */
static enum kr_order strongest_order(const struct tiny *t)
{
	enum kr_order order = KR_ORDER_NONE;

	for (int i = 0; i < t->ntxns; i++)
		if (t->txns[i].begin >= 0)
			return KR_ORDER_REALTIME;
		else if (t->txns[i].session >= 0)
			order = KR_ORDER_SESSION;
	return order;
}

/* Asks every level at every order up to `most`; those violated by a cycle become questions. */
static const char *ask(struct kr_ctx *ctx, const struct kr_history *h, enum kr_order most, struct question *questions, uint32_t *n)
{
	struct kr_analysis analysis;
	const struct kr_level *level;
	const char *why = NULL;

	assert_int_equal(kr_analyze(ctx, h, &analysis, NULL), KR_OK);
	for (size_t i = 0; (level = kr_level_at(NULL, i)) != NULL; i++)
		for (int order = 0; order <= (int)most; order++) {
			struct kr_check_options options = {.level = level, .order = (enum kr_order)order};
			struct kr_verdict verdict;
			struct kr_err err;
			kr_err_init(&err);
			if (kr_check(ctx, h, &analysis, &options, &verdict, &err) != KR_OK || verdict.outcome == KR_UNDECIDED) {
				snprintf(why_text, sizeof why_text, "%s, order %s: %s", level->id, kr_order_name(options.order), err.text);
				why = why_text;
			} else if (verdict.outcome == KR_VIOLATED && verdict.certificate.kind == KR_CERT_CYCLES) {
				questions[(*n)++] = (struct question){.level = level,
					.row = oracle_level_of(level->id),
					.order = options.order,
					.reported = merit_of(h, &verdict.certificate)};
			}
			kr_verdict_done(&verdict, &ctx->mem);
		}
	kr_analysis_done(&analysis);
	return why;
}

static const char *judge_reported(const struct search *s, struct tally *tally)
{
	for (uint32_t i = 0; i < s->n; i++) {
		const struct question *q = &s->questions[i];
		const struct merit *a = &q->reported, *b = &q->best;
		if (!q->found || is_less(a, b) || is_less(b, a)) {
			snprintf(why_text, sizeof why_text, "%s, order %s: reported %s of %u edges, %u rw, %u of an order; the best is %s of %u, %u, %u",
				q->level->id, kr_order_name(q->order), names[a->name], a->length, a->rw, a->order, q->found ? names[b->name] : "(no cycle)",
				b->length, b->rw, b->order);
			return why_text;
		}
		tally->cycles++;
		tally->by_name[a->name]++;
		tally->by_length[a->length]++;
	}
	return NULL;
}

static const char *reported_is_not_best(const struct tiny *t, void *data)
{
	struct tally *tally = data;
	struct question questions[200];
	struct fixed f;
	struct kr_ctx ctx;
	struct kr_history h;

	kr_ctx_init(&ctx, 60, 0);
	if (!fix(&f, t) || tiny_history(t, &ctx, &h) != KR_OK)
		return NULL;
	tally->histories++;
	struct search s = {.h = &h, .mem = &ctx.mem, .questions = questions};
	const char *why = ask(&ctx, &h, strongest_order(t), questions, &s.n);
	uint32_t longest = 0;
	for (uint32_t i = 0; i < s.n; i++)
		longest = questions[i].reported.length > longest ? questions[i].reported.length : longest;
	for (uint32_t length = 2; length <= longest && length <= MOST_LENGTH && !why; length++)
		walks_of(&s, &f, length);
	if (!why && longest <= MOST_LENGTH)
		why = judge_reported(&s, tally);
	else if (!why)
		why = "a longer cycle than any shortest one can be";
	kr_history_done(&h);
	return why;
}

static void reported_cycles_are_the_best(void **state)
{
	static const char *const common[] = {"G0", "G1c", "lost update", "G-single", "long fork", "write skew"}; /* others are too rare to be relied on */
	static struct tally tally;
	uint64_t n = asked_number("KRAIT_ORACLE_COUNT", 400);
	struct kr_rng rng;

	(void)state;
	kr_rng_init(&rng, asked_number("KRAIT_ORACLE_SEED", 1));
	for (uint64_t i = 0; i < n; i++) {
		struct tiny t;
		random_history(&t, &rng);
		if (reported_is_not_best(&t, &tally)) {
			const char *why = tiny_shrink(&t, reported_is_not_best, &tally);
			asked_print_tiny(&t);
			fail_msg("history %llu: %s", (unsigned long long)i, why);
		}
	}
	print_message("%llu histories, %llu cycles reported\n", (unsigned long long)tally.histories, (unsigned long long)tally.cycles);
	for (size_t i = 0; i < KR_COUNT(names); i++)
		print_message("%s: %llu\n", names[i], (unsigned long long)tally.by_name[i]);
	for (uint32_t i = 2; i <= MOST_LENGTH; i++)
		print_message("of %u edges: %llu\n", i, (unsigned long long)tally.by_length[i]);
	for (size_t i = 0; i < KR_COUNT(common) && !getenv("KRAIT_ORACLE_COUNT"); i++)
		if (tally.by_name[rank_of(common[i])] == 0)
			fail_msg("no %s among them", common[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(reported_cycles_are_the_best)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
