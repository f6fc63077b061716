/* Counters, lists and sets against all worlds: for random tiny histories over two growing keys, every choice of unknown transactions and every order of each key's versions is
 * tried from the definitions alone. The ASG must explain the same reads under the same orders, by the same versions; a transaction that it drops must be
 * droppable; an anomaly must leave no world. Shares nothing with the analysis but the history. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "frontend/analyze.h"
#include "tests/unit/tiny_history.h"

#define HISTORIES 30000
#define KEYS 2
#define TXNS 4
#define OPS 4
#define ELEMENTS 24

enum kind { COUNTER, LIST, SET };
enum what { ADD, INC_TOLD, D, D_FOUND, D_NOT, R, RANGE };

struct val { /* lists: n elements e; sets: a mask; counters: number. Everything 0 where it is not used, so that equal values are equal bytes but for `absent` of counters */
	bool absent;
	int number, n, e[ELEMENTS];
	unsigned mask;
};

struct op {
	enum what what;
	int key, arg;
	struct val shown[KEYS]; /* R: of its key; RANGE: of all; INC_TOLD: the result */
	bool scan;              /* RANGE: by a scan with a key prefix */
};

struct txn {
	char status;
	int nops;
	struct op ops[OPS];
};

struct tiny {
	bool installs; /* who is shown a counter after his own additions has left what he was shown (kr_analyze); else he has left what he added (kr_analyze_sums) */
	enum kind kind[KEYS];
	struct val initial[KEYS];
	int ntxns;
	struct txn txns[TXNS];
};

/* ---- the definitions ---- */

static void apply_add(enum kind kind, struct val *v, int arg)
{
	if (kind == COUNTER)
		v->number += arg;
	else if (kind == LIST)
		v->e[v->n++] = arg;
	else
		v->mask |= 1u << arg;
	v->absent = false;
}

static const struct val nothing = {.absent = true};

/* A read of a counter takes an absent one for 0; a row is there. */
static bool is_shown(enum kind kind, const struct val *v, const struct val *shown, bool range)
{
	if (kind == COUNTER && (range || shown->absent))
		return v->absent == shown->absent && v->number == shown->number;
	return v->number == shown->number && v->mask == shown->mask && v->n == shown->n && memcmp(v->e, shown->e, sizeof v->e) == 0;
}

struct external { /* what operation `op` says of a version, with the transaction's own `own` additions on top of it */
	int op, own_count, own[OPS];
};

struct played { /* a transaction's operations on one key */
	bool consistent, wrote, relative;
	int next, own_count, own[OPS]; /* relative: what the version adds */
	struct val left;               /* otherwise its value */
	struct external external[OPS];
};

static bool tells_of(const struct op *op, int key) { return op->what == RANGE || (op->key == key && op->what != ADD && op->what != D); }

static const struct val *shown_of(const struct op *op, int key) { return &op->shown[key]; }

/* Whether the operation fits a key of value v before it. */
static bool fits(enum kind kind, const struct op *op, int key, struct val v)
{
	switch (op->what) {
	case D_FOUND: return !v.absent;
	case D_NOT: return v.absent;
	case INC_TOLD: return v.number + op->arg == shown_of(op, key)->number;
	case R:
	case RANGE: return is_shown(kind, &v, shown_of(op, key), op->what == RANGE);
	default: return true;
	}
}

static bool fits_external(const struct tiny *tiny, int t, int key, const struct external *x, struct val v)
{
	for (int i = 0; i < x->own_count; i++)
		apply_add(tiny->kind[key], &v, x->own[i]);
	return fits(tiny->kind[key], &tiny->txns[t].ops[x->op], key, v);
}

static struct played play(const struct tiny *tiny, int t, int key)
{
	enum kind kind = tiny->kind[key];
	struct played p = {.consistent = true, .relative = true};
	bool known = false; /* `left` is what the transaction knows the key to be; `own`, since the last delete, what it added */

	for (int i = 0; i < tiny->txns[t].nops; i++) {
		const struct op *op = &tiny->txns[t].ops[i];

		if (op->what != RANGE && op->key != key)
			continue;
		if (tells_of(op, key) && known) {
			p.consistent &= fits(kind, op, key, p.left);
		} else if (p.own_count > 0 && (op->what == D_FOUND || op->what == D_NOT)) {
			p.consistent &= op->what == D_FOUND; /* something is there after an own addition, whatever was before */
		} else if (tells_of(op, key)) {
			struct external *x = &p.external[p.next++];

			*x = (struct external){.op = i, .own_count = p.own_count};
			memcpy(x->own, p.own, sizeof x->own);
			if (p.own_count > 0 && shown_of(op, key)->absent)
				p.consistent = false;
			if (p.own_count > 0 && (op->what == R || op->what == RANGE)) {
				known = true;
				p.left = *shown_of(op, key);
				p.relative &= kind != COUNTER || !tiny->installs;
			}
		}
		if (op->what == ADD || op->what == INC_TOLD) {
			p.wrote = true;
			p.own[p.own_count++] = op->arg;
			if (known)
				apply_add(kind, &p.left, op->arg);
		}
		if (op->what == INC_TOLD) {
			known = true;
			p.relative &= !tiny->installs;
			p.left = *shown_of(op, key);
		}
		if (op->what == D || op->what == D_FOUND) {
			p.wrote = true;
			known = true;
			p.relative = false;
			p.left = nothing;
		}
	}
	return p;
}

/* ---- worlds of one key: an order of the versions of transactions in effect ---- */

struct order {
	int n, writer[TXNS];
	struct val value[TXNS + 1]; /* of the initial version, then of each writer's */
};

static void give_values(const struct tiny *tiny, const struct played played[TXNS], int key, struct order *o)
{
	o->value[0] = tiny->initial[key];
	for (int i = 0; i < o->n; i++) {
		const struct played *p = &played[o->writer[i]];

		o->value[i + 1] = p->relative ? o->value[i] : p->left;
		for (int j = 0; p->relative && j < p->own_count; j++)
			apply_add(tiny->kind[key], &o->value[i + 1], p->own[j]);
	}
}

/* Places before t's own version, as bits. Seeing one's own later write is forbidden otherwise (docs/asg.md). */
static unsigned places(const struct order *o, int t)
{
	int end = o->n + 1;

	for (int i = 0; i < o->n; i++)
		if (o->writer[i] == t)
			end = i + 1;
	return (1u << end) - 1;
}

static unsigned true_sources(const struct tiny *tiny, const struct order *o, int t, int key, const struct external *x)
{
	unsigned found = 0;

	for (int i = 0; i <= o->n; i++)
		if (places(o, t) >> i & 1 && fits_external(tiny, t, key, x, o->value[i]))
			found |= 1u << i;
	return found;
}

/* ---- the same from the ASG ---- */

static int key_of(const struct kr_history *h, const struct kr_asg *asg, kr_key k)
{
	return (int)h->values.at[h->keys.at[kr_asg_whole(asg, k).i].name.i].text[1] - '0';
}

static int place_of(const struct order *o, kr_txn writer)
{
	if (writer.i == KR_NONE)
		return 0;
	for (int i = 0; i < o->n; i++)
		if (o->writer[i] == (int)writer.i)
			return i + 1;
	return -1;
}

/* The last version of the key or part that is not after place i; of the reader's own: none. */
static kr_version seen_at(const struct kr_asg *asg, kr_key k, const struct order *o, int i)
{
	kr_version best = kr_asg_initial(asg, k);
	int best_place = 0;

	for (uint32_t v = asg->keys[k.i].first; v < asg->keys[k.i + 1].first; v++) {
		int place = place_of(o, asg->versions[v].writer);

		if (place > best_place && place <= i) {
			best_place = place;
			best = (kr_version){v};
		}
	}
	return best;
}

static bool sums_hold(const struct kr_history *h, const struct kr_asg *asg, const struct order *o, int t, int op, int key, int place)
{
	for (uint32_t s = 0; s < asg->nsums; s++) {
		const struct kr_asg_sum *sum = &asg->sums[s];
		int64_t total = 0;

		if ((int)sum->txn.i != t || (int)sum->op != op || key_of(h, asg, sum->key) != key)
			continue;
		for (uint32_t i = sum->first; i < sum->first + sum->count; i++)
			if (seen_at(asg, asg->obs[asg->terms[i].obs.i].key, o, place).i == asg->terms[i].seen.i)
				total += asg->terms[i].weight;
		if (total != sum->total)
			return false;
	}
	return true;
}

static unsigned asg_sources(const struct kr_history *h, const struct kr_asg *asg, const struct order *o, int t, int op, int key)
{
	unsigned found = places(o, t);

	for (int place = 0; place <= o->n; place++) {
		for (uint32_t i = asg->obs_first[t]; i < asg->obs_first[t + 1]; i++) {
			const struct kr_observation *obs = &asg->obs[i];

			if ((int)obs->op == op && key_of(h, asg, obs->key) == key && !kr_asg_in_set(asg, obs->set, seen_at(asg, obs->key, o, place)))
				found &= ~(1u << place);
		}
		if (!sums_hold(h, asg, o, t, op, key, place))
			found &= ~(1u << place);
	}
	return found;
}

static bool orders_hold(const struct kr_history *h, const struct kr_asg *asg, const struct order *o, int key, unsigned present)
{
	for (uint32_t i = 0; i < asg->norders; i++) {
		const struct kr_asg_order *pair = &asg->orders[i];
		int before = place_of(o, asg->versions[pair->before.i].writer), after = place_of(o, asg->versions[pair->after.i].writer);

		if (key_of(h, asg, asg->versions[pair->before.i].key) != key || (pair->guard.i != KR_NONE && !(present >> pair->guard.i & 1)))
			continue;
		if (before >= 0 && after >= 0 && before >= after)
			return false;
	}
	return true;
}

/* ---- comparing ---- */

struct tally {
	unsigned worlds[3], dropped, anomalies[3], left_out, open, sums, guarded, kinds[KR_ANOMALY_KINDS];
};

struct test {
	const struct tiny *tiny;
	const struct kr_history *h;
	const struct kr_asg *asg;
	struct played played[KEYS][TXNS];
	struct tally *tally;
};

static void show(const struct tiny *tiny, const char *problem);

#define REQUIRE(condition, problem) \
	do { \
		if (!(condition)) \
			show(test->tiny, problem); \
	} while (0)

static struct order first_order(const struct test *test, int key, unsigned present)
{
	struct order o = {.n = 0};

	for (int t = 0; t < test->tiny->ntxns; t++)
		if (present >> t & 1 && test->played[key][t].wrote)
			o.writer[o.n++] = t;
	return o;
}

/* The next permutation, ascending; false after the last. */
static bool next_order(struct order *o)
{
	int i = o->n - 2, j = o->n - 1;

	while (i >= 0 && o->writer[i] > o->writer[i + 1])
		i--;
	if (i < 0)
		return false;
	while (o->writer[j] < o->writer[i])
		j--;
	for (int swap = o->writer[i], a = i; a == i; a++) {
		o->writer[i] = o->writer[j];
		o->writer[j] = swap;
	}
	for (int a = i + 1, b = o->n - 1; a < b; a++, b--) {
		int swap = o->writer[a];

		o->writer[a] = o->writer[b];
		o->writer[b] = swap;
	}
	return true;
}

static bool is_explained(const struct test *test, int key, unsigned present, const struct order *o, bool by_asg)
{
	if (by_asg && !orders_hold(test->h, test->asg, o, key, present))
		return false;
	for (int t = 0; t < test->tiny->ntxns; t++) {
		const struct played *p = &test->played[key][t];

		for (int i = 0; present >> t & 1 && i < p->next; i++) {
			unsigned sources =
				by_asg ? asg_sources(test->h, test->asg, o, t, p->external[i].op, key) : true_sources(test->tiny, o, t, key, &p->external[i]);

			if (!sources)
				return false;
		}
	}
	return true;
}

static bool has_order(const struct test *test, int key, unsigned present, bool by_asg)
{
	struct order o = first_order(test, key, present);

	do {
		give_values(test->tiny, test->played[key], key, &o);
		if (is_explained(test, key, present, &o, by_asg))
			return true;
	} while (next_order(&o));
	return false;
}

static bool is_consistent(const struct test *test, unsigned present)
{
	for (int key = 0; key < KEYS; key++)
		for (int t = 0; t < test->tiny->ntxns; t++)
			if (present >> t & 1 && !test->played[key][t].consistent)
				return false;
	return true;
}

static bool has_world(const struct test *test, unsigned present, bool by_asg)
{
	return is_consistent(test, present) && has_order(test, 0, present, by_asg) && has_order(test, 1, present, by_asg);
}

static bool asg_allows(const struct kr_asg *asg, unsigned present)
{
	for (uint32_t t = 0; t < asg->ntxns; t++)
		if (asg->txns[t].presence != KR_OPEN && (asg->txns[t].presence == KR_PRESENT) != (present >> t & 1))
			return false;
	return true;
}

static void compare_sources(const struct test *test, int key, unsigned present, const struct order *o)
{
	for (int t = 0; t < test->tiny->ntxns; t++) {
		const struct played *p = &test->played[key][t];

		for (int i = 0; present >> t & 1 && i < p->next; i++)
			REQUIRE(asg_sources(test->h, test->asg, o, t, p->external[i].op, key) == true_sources(test->tiny, o, t, key, &p->external[i]),
				"other sources");
	}
}

static void compare_orders(const struct test *test, int key, unsigned present)
{
	struct order o = first_order(test, key, present);

	do {
		give_values(test->tiny, test->played[key], key, &o);

		bool real = is_explained(test, key, present, &o, false);

		REQUIRE(!real || is_explained(test, key, present, &o, true), "an order that the ASG does not allow");
		REQUIRE(real || !is_explained(test, key, present, &o, true), "an order that only the ASG allows");
		if (real)
			compare_sources(test, key, present, &o);
		test->tally->worlds[test->tiny->kind[key]] += real;
	} while (next_order(&o));
}

/* Without the transactions that the ASG drops the same orders are left. */
static void compare_dropped(const struct test *test, int key, unsigned present, unsigned kept)
{
	struct order o = first_order(test, key, present);

	do {
		struct order less = {.n = 0};

		give_values(test->tiny, test->played[key], key, &o);
		if (!is_explained(test, key, present, &o, false))
			continue;
		for (int i = 0; i < o.n; i++)
			if (kept >> o.writer[i] & 1)
				less.writer[less.n++] = o.writer[i];
		give_values(test->tiny, test->played[key], key, &less);
		REQUIRE(is_explained(test, key, kept, &less, false), "a world that needs a dropped transaction");
	} while (next_order(&o));
}

static void compare_world(const struct test *test, unsigned present, bool anomaly)
{
	unsigned kept = present;
	bool real = has_world(test, present, false);

	REQUIRE(!anomaly || !real, "an anomaly in spite of a world");
	if (anomaly)
		return;
	for (uint32_t t = 0; t < test->asg->ntxns; t++)
		if (test->asg->txns[t].presence == KR_ABSENT_TXN)
			kept &= ~(1u << t);
	REQUIRE(!real || asg_allows(test->asg, kept), "a world that the ASG forbids");
	if (kept == present && asg_allows(test->asg, present))
		REQUIRE(real || !has_world(test, present, true), "a world of the ASG that is none");
	for (int key = 0; real && key < KEYS; key++) {
		if (kept != present)
			compare_dropped(test, key, present, kept);
		else
			compare_orders(test, key, present);
	}
	test->tally->dropped += real && kept != present;
}

/* A key that an operation did not return makes predicate observations, and nothing else does. */
static void compare_predicates(const struct test *test)
{
	for (uint32_t i = 0; i < test->asg->nobs; i++) {
		const struct kr_observation *obs = &test->asg->obs[i];
		const struct op *op = &test->tiny->txns[obs->txn.i].ops[obs->op];

		REQUIRE(obs->predicate == (op->what == RANGE && op->shown[key_of(test->h, test->asg, obs->key)].absent), "predicate or not");
	}
}

/* ---- names of anomalies ---- */

static bool changes(const struct op *op, int key)
{
	return op->what != RANGE && op->key == key && (op->what == ADD || op->what == INC_TOLD || op->what == D || op->what == D_FOUND);
}

static int count_changes(const struct txn *txn, int key, int from, int end)
{
	int n = 0;

	for (int i = from; i < end; i++)
		n += changes(&txn->ops[i], key);
	return n;
}

static bool is_added(const struct tiny *tiny, int key, int element)
{
	bool added = false;

	for (int t = 0; t < tiny->ntxns; t++)
		for (int i = 0; i < tiny->txns[t].nops; i++)
			added |= tiny->txns[t].ops[i].what == ADD && tiny->txns[t].ops[i].key == key && tiny->txns[t].ops[i].arg == element;
	return added;
}

/* Every element shown was added by somebody or there at the beginning, and nothing of the beginning is missing: no garbage. */
static bool is_sane(const struct tiny *tiny, int key, const struct val *shown)
{
	const struct val *initial = &tiny->initial[key];
	bool sane = shown->n >= initial->n && (initial->mask & ~shown->mask) == 0;

	for (int i = 0; sane && i < initial->n; i++)
		sane = shown->e[i] == initial->e[i];
	for (int i = initial->n; sane && i < shown->n; i++)
		sane = is_added(tiny, key, shown->e[i]);
	for (int i = 0; i < 9; i++)
		sane &= !(shown->mask >> i & 1) || initial->mask >> i & 1 || is_added(tiny, key, i);
	return sane;
}

static bool shows_twice(const struct val *shown)
{
	for (int i = 0; i < shown->n; i++)
		for (int j = 0; j < i; j++)
			if (shown->e[i] == shown->e[j])
				return true;
	return false;
}

static void compare_anomaly(const struct test *test, const struct kr_anomaly *a)
{
	const struct tiny *tiny = test->tiny;
	int key = key_of(test->h, test->asg, a->key);
	const struct txn *txn = &tiny->txns[a->txn.i], *other = a->other.i == KR_NONE ? NULL : &tiny->txns[a->other.i];
	const struct op *op = &txn->ops[a->op];

	REQUIRE(txn->status == 'c', "an anomaly of a transaction that did not commit");
	REQUIRE(tells_of(op, key), "an anomaly of an operation that saw nothing");
	test->tally->anomalies[tiny->kind[key]]++;
	test->tally->kinds[a->kind]++;
	switch (a->kind) {
	case KR_ABORTED_READ: REQUIRE(other && other->status != 'c' && count_changes(other, key, 0, other->nops) > 0, "not an aborted read"); break;
	case KR_INTERMEDIATE_READ:
		REQUIRE(other && other != txn && other->status != 'a' && count_changes(other, key, 0, other->nops) > 1, "not an intermediate read");
		break;
	case KR_FUTURE_READ: REQUIRE(count_changes(txn, key, (int)a->op, txn->nops) > 0, "not a future read"); break;
	case KR_INTERNAL_INCONSISTENCY: REQUIRE(count_changes(txn, key, 0, (int)a->op) > 0, "not an internal inconsistency"); break;
	case KR_DUPLICATE_ELEMENT: REQUIRE(shows_twice(&op->shown[key]), "not a duplicate element"); break;
	case KR_INCOMPATIBLE_ORDER: REQUIRE(tiny->kind[key] != COUNTER, "not an incompatible order"); break;
	case KR_GARBAGE_READ:
		REQUIRE(tiny->kind[key] == COUNTER || op->what == D_NOT || op->what == D_FOUND || !is_sane(tiny, key, &op->shown[key]), "not a garbage read");
		break;
	default: show(tiny, "an anomaly of another kind");
	}
}

/* ---- reads of one set ---- */

/* Nobody deletes it, and each element was there or added once. */
static bool is_plain_set(const struct tiny *tiny, int key)
{
	unsigned seen = tiny->initial[key].mask;

	if (tiny->kind[key] != SET)
		return false; /* what is added to a counter is no element */
	for (int t = 0; t < tiny->ntxns; t++) {
		for (int i = 0; tiny->txns[t].status != 'a' && i < tiny->txns[t].nops; i++) {
			const struct op *op = &tiny->txns[t].ops[i];

			if (op->what == RANGE || op->key != key)
				continue;
			if (op->what == D || op->what == D_FOUND || (op->what == ADD && seen >> op->arg & 1))
				return false;
			seen |= op->what == ADD ? 1u << op->arg : 0;
		}
	}
	return true;
}

/* Of two reads of committed transactions that had not added anything, one holds the other: a version of a plain set holds those before it. */
static void compare_subsets(const struct test *test, int key)
{
	unsigned masks[TXNS * OPS];
	int n = 0;

	for (int t = 0; t < test->tiny->ntxns; t++) {
		const struct played *p = &test->played[key][t];

		for (int i = 0; test->tiny->txns[t].status == 'c' && i < p->next; i++) {
			const struct op *op = &test->tiny->txns[t].ops[p->external[i].op];

			if (p->external[i].own_count == 0 && (op->what == R || op->what == RANGE))
				masks[n++] = op->shown[key].mask;
		}
	}
	for (int i = 0; i < n; i++)
		for (int j = 0; j < i; j++)
			REQUIRE(!(masks[i] & ~masks[j]) || !(masks[j] & ~masks[i]), "two reads of a set that no order explains, and no anomaly");
}

/* ---- making histories ---- */

static int any(struct kr_rng *rng, int n) { return (int)kr_rng_below(rng, (uint64_t)n); }

static struct op make_op(struct kr_rng *rng, const struct tiny *tiny, int key, bool add, int *fresh)
{
	static const int deltas[] = {1, 1, 1, 2, 3, -1, -2};
	static const int weights[] = {ADD, ADD, ADD, R, R, R, R, R, RANGE, RANGE, INC_TOLD, D, D_FOUND, D_NOT};
	struct op op = {.what = add ? ADD : (enum what)weights[any(rng, 14)], .key = key, .scan = any(rng, 2)};

	if (op.what == INC_TOLD && tiny->kind[key] != COUNTER)
		op.what = ADD;
	if (op.what == D || op.what == D_FOUND) /* rare */
		op.what = any(rng, 3) ? R : op.what;
	if (tiny->kind[key] == COUNTER)
		op.arg = deltas[any(rng, 7)];
	else if (tiny->kind[key] == SET)
		op.arg = 1 + any(rng, 3);
	else
		op.arg = any(rng, 25) ? (*fresh)++ : 1;
	return op;
}

static void disturb(struct kr_rng *rng, enum kind kind, struct val *v)
{
	if (kind == COUNTER && !v->absent)
		v->number += any(rng, 3) - 1;
	else if (kind == COUNTER)
		v->absent = false;
	else if (kind == SET)
		v->mask ^= 1u << (1 + any(rng, 4));
	else if (v->n > 0 && any(rng, 2))
		v->e[--v->n] = 0;
	else if (v->n > 1)
		v->e[0] = v->e[v->n - 1];
	else
		v->e[v->n++] = any(rng, 8) + 1;
	if (kind != COUNTER)
		v->absent = kind == SET ? v->mask == 0 : v->n == 0;
}

/* What the operation shows, and does, of a key that is `now`. */
static void run_op(struct kr_rng *rng, const struct tiny *tiny, struct op *op, struct val now[KEYS])
{
	for (int key = 0; key < KEYS; key++) {
		struct val seen = now[key];

		if (op->what != RANGE && key != op->key)
			continue;
		if (any(rng, 14) == 0)
			disturb(rng, tiny->kind[key], &seen);
		if (op->what == D_FOUND || op->what == D_NOT)
			op->what = seen.absent ? D_NOT : D_FOUND;
		if (op->what == INC_TOLD)
			apply_add(COUNTER, &seen, op->arg);
		if (op->what == R && tiny->kind[key] == COUNTER && seen.absent && any(rng, 2))
			seen.absent = false;
		op->shown[key] = seen;
		if (op->what == INC_TOLD)
			now[key] = seen;
		if (op->what == ADD)
			apply_add(tiny->kind[key], &now[key], op->arg);
		if (op->what == D || op->what == D_FOUND)
			now[key] = nothing;
	}
}

/* A transaction sees the state after some of those before it in a hidden order. */
static void run_all(struct kr_rng *rng, struct tiny *tiny)
{
	struct val states[TXNS + 1][KEYS];
	int order[TXNS] = {0};

	for (int i = 0; i < tiny->ntxns; i++) {
		int j = any(rng, i + 1);

		order[i] = order[j];
		order[j] = i;
	}
	memcpy(states[0], tiny->initial, sizeof states[0]);
	for (int i = 0; i < tiny->ntxns; i++) {
		struct txn *txn = &tiny->txns[order[i]];
		struct val now[KEYS];
		bool stale = any(rng, 4) == 0, none = txn->status == 'a' || (txn->status == 'u' && any(rng, 2));

		memcpy(now, states[stale ? any(rng, i + 1) : i], sizeof now);
		for (int j = 0; j < txn->nops; j++)
			run_op(rng, tiny, &txn->ops[j], now);
		memcpy(states[i + 1], none && any(rng, 8) ? states[i] : now, sizeof now);
	}
}

static void make(struct kr_rng *rng, struct tiny *tiny)
{
	int fresh = 1;

	*tiny = (struct tiny){.ntxns = 2 + any(rng, TXNS - 1)};
	for (int key = 0; key < KEYS; key++) {
		tiny->kind[key] = (enum kind)any(rng, 3);
		tiny->initial[key] = nothing;
		if (any(rng, 4) == 0)
			apply_add(tiny->kind[key], &tiny->initial[key], tiny->kind[key] == LIST ? 90 + any(rng, 2) : any(rng, 3));
		if (tiny->kind[key] == LIST && !tiny->initial[key].absent && any(rng, 3) == 0)
			apply_add(LIST, &tiny->initial[key], 95);
	}
	for (int t = 0; t < tiny->ntxns; t++) {
		struct txn *txn = &tiny->txns[t];

		txn->status = "ccccuuua"[any(rng, 8)];
		txn->nops = t == 0 ? KEYS + any(rng, OPS - KEYS + 1) : 1 + any(rng, OPS);
		for (int i = 0; i < txn->nops; i++)
			txn->ops[i] = make_op(rng, tiny, t == 0 && i < KEYS ? i : any(rng, KEYS), t == 0 && i < KEYS, &fresh);
	}
	run_all(rng, tiny);
}

/* ---- building and printing them ---- */

static void print_value(enum kind kind, const struct val *v, bool empty, char *out, size_t size)
{
	size_t n = 0;

	if (v->absent && (kind == COUNTER || !empty)) {
		(void)snprintf(out, size, "null");
		return;
	}
	if (kind == COUNTER) {
		(void)snprintf(out, size, "%d", v->number);
		return;
	}
	n += (size_t)snprintf(out, size, "[");
	for (int i = kind == SET ? 8 : 0; kind == SET ? i >= 0 : i < v->n; i += kind == SET ? -1 : 1) /* the elements of a set come in any order */
		if (kind == LIST || v->mask >> i & 1)
			n += (size_t)snprintf(out + n, size - n, "%s%d", n > 1 ? "," : "", kind == LIST ? v->e[i] : i);
	(void)snprintf(out + n, size - n, "]");
}

static kr_value make_value(struct kr_history *h, enum kind kind, const struct val *v, bool empty)
{
	char text[200];

	print_value(kind, v, empty, text, sizeof text);
	if (strcmp(text, "null") == 0)
		return KR_ABSENT;
	return kind == COUNTER ? kr_history_int(h, v->number) : kr_history_text(h, KR_VALUE_ARRAY, text, strlen(text));
}

static void add_range(struct kr_history *h, const struct tiny *tiny, const struct op *op)
{
	struct kr_scan scan = {.limit = -1, .row_first = h->rows.n, .cond_first = h->conds.n};
	struct kr_operation out = {.kind = op->scan ? KR_OP_SCAN : KR_OP_RANGE, .key = {KR_NONE}};

	for (int key = 0; key < KEYS; key++) {
		struct kr_row row = {tiny_key(h, key ? "k1" : "k0"), make_value(h, tiny->kind[key], &op->shown[key], false)};

		if (!op->shown[key].absent)
			assert_true(kr_vec_push(h->mem, &h->rows, row));
	}
	scan.row_count = h->rows.n - scan.row_first;
	if (op->scan) {
		struct kr_cond cond = {.target = KR_COND_KEY_PREFIX, .test = KR_COND_PREFIX, .value = kr_history_text(h, KR_VALUE_STRING, "k", 1)};

		assert_true(kr_vec_push(h->mem, &h->conds, cond));
		scan.cond_count = 1;
	}
	out.scan = h->scans.n;
	assert_true(kr_vec_push(h->mem, &h->scans, scan));
	assert_true(kr_vec_push(h->mem, &h->ops, out));
}

static void add_op(struct kr_history *h, const struct tiny *tiny, const struct op *op)
{
	static const enum kr_op_kind adds[] = {KR_OP_INC, KR_OP_APPEND, KR_OP_ADD};
	struct kr_operation out = {.key = tiny_key(h, op->key ? "k1" : "k0")};
	enum kind kind = tiny->kind[op->key];

	switch (op->what) {
	case INC_TOLD:
	case ADD:
		out.kind = adds[kind];
		out.a = kr_history_int(h, op->arg);
		break;
	case R:
		out.kind = KR_OP_READ;
		out.a = make_value(h, kind, &op->shown[op->key], op->scan);
		break;
	default: out.kind = KR_OP_DELETE;
	}
	if (op->what == INC_TOLD)
		out.b = kr_history_int(h, op->shown[op->key].number);
	if (op->what != ADD && op->what != D)
		out.flags = KR_OPF_KNOWN;
	if (op->what == D_FOUND)
		out.flags |= KR_OPF_DONE;
	assert_true(kr_vec_push(h->mem, &h->ops, out));
}

static void build(const struct tiny *tiny, struct kr_history *h)
{
	h->initial = KR_INITIAL_GIVEN;
	for (int key = 0; key < KEYS; key++) {
		kr_key k = tiny_key(h, key ? "k1" : "k0");

		assert_int_equal(kr_history_set_initial(h, k, make_value(h, tiny->kind[key], &tiny->initial[key], tiny->ntxns % 2), NULL), KR_OK);
	}
	for (int t = 0; t < tiny->ntxns; t++) {
		const struct txn *txn = &tiny->txns[t];
		struct kr_transaction out = {.session = {KR_NONE}, .id = {KR_NONE}, .line = (uint32_t)t + 1};

		out.status = txn->status == 'c' ? KR_COMMITTED : txn->status == 'a' ? KR_ABORTED : KR_UNKNOWN;
		for (int i = 0; i < txn->nops; i++)
			if (txn->ops[i].what == RANGE)
				add_range(h, tiny, &txn->ops[i]);
			else
				add_op(h, tiny, &txn->ops[i]);
		assert_int_equal(kr_history_add(h, out, NULL, NULL), KR_OK);
	}
}

static void print_op(const struct tiny *tiny, const struct op *op, char *out, size_t size)
{
	static const char *const names[] = {"add", "inc", "d", "d+", "d-", "r", "range"};
	char shown[KEYS][200] = {"", ""};

	for (int key = 0; key < KEYS; key++)
		if (tells_of(op, key))
			print_value(tiny->kind[key], &op->shown[key], false, shown[key], sizeof shown[key]);
	if (op->what == RANGE)
		(void)snprintf(out, size, " range k0=%s k1=%s;", shown[0], shown[1]);
	else if (op->what == ADD || op->what == INC_TOLD)
		(void)snprintf(out, size, " %s k%d %d %s;", names[op->what], op->key, op->arg, shown[op->key]);
	else
		(void)snprintf(out, size, " %s k%d %s;", names[op->what], op->key, op->what == R ? shown[op->key] : "");
}

static void show(const struct tiny *tiny, const char *problem)
{
	static const char *const names[] = {"counter", "list", "set"};
	char text[4000] = "", value[200];
	size_t n = 0;

	for (int key = 0; key < KEYS; key++) {
		print_value(tiny->kind[key], &tiny->initial[key], true, value, sizeof value);
		n += (size_t)snprintf(text + n, sizeof text - n, "\n  %s k%d, initially %s", names[tiny->kind[key]], key, value);
	}
	for (int t = 0; t < tiny->ntxns; t++) {
		n += (size_t)snprintf(text + n, sizeof text - n, "\n  %c", tiny->txns[t].status);
		for (int i = 0; i < tiny->txns[t].nops; i++) {
			print_op(tiny, &tiny->txns[t].ops[i], text + n, sizeof text - n);
			n = strlen(text);
		}
	}
	fail_msg("%s%s", problem, text);
}

/* ---- the test ---- */

static void compare(struct test *test, const struct kr_analysis *analysis)
{
	const struct tiny *tiny = test->tiny;
	unsigned fixed = 0, unknown = 0;

	for (int t = 0; t < tiny->ntxns; t++) {
		fixed |= (unsigned)(tiny->txns[t].status == 'c') << t;
		unknown |= (unsigned)(tiny->txns[t].status == 'u') << t;
		test->tally->open += test->asg->txns[t].presence == KR_OPEN;
		for (int key = 0; key < KEYS; key++)
			test->played[key][t] = play(tiny, t, key);
	}
	test->tally->sums += test->asg->nsums;
	for (uint32_t i = 0; i < test->asg->norders; i++)
		test->tally->guarded += test->asg->orders[i].guard.i != KR_NONE;
	for (uint32_t i = 0; i < analysis->anomalies.n; i++)
		compare_anomaly(test, &analysis->anomalies.at[i]);
	compare_predicates(test);
	for (int key = 0; key < KEYS && analysis->anomaly_count == 0; key++)
		if (is_plain_set(tiny, key))
			compare_subsets(test, key);
	for (unsigned choice = unknown;; choice = (choice - 1) & unknown) {
		compare_world(test, fixed | choice, analysis->anomaly_count > 0);
		if (choice == 0)
			break;
	}
}

/* What may be left out: lists to which equal elements are appended. */
static bool may_leave_out(const struct tiny *tiny)
{
	int seen[KEYS][100] = {{0}};

	for (int key = 0; key < KEYS; key++)
		for (int i = 0; tiny->kind[key] == LIST && i < tiny->initial[key].n; i++)
			seen[key][tiny->initial[key].e[i]]++;
	for (int t = 0; t < tiny->ntxns; t++) {
		for (int i = 0; i < tiny->txns[t].nops; i++) {
			const struct op *op = &tiny->txns[t].ops[i];

			if (op->what == RANGE || tiny->kind[op->key] != LIST)
				continue;
			if (op->what == ADD && seen[op->key][op->arg]++ > 0)
				return true;
		}
	}
	return false;
}

static void check(const struct tiny *tiny, struct tally *tally)
{
	struct kr_ctx ctx;
	struct kr_history h;
	struct kr_analysis analysis;
	struct kr_err err;

	kr_ctx_init(&ctx, 0, 0);
	kr_err_init(&err);
	assert_int_equal(kr_history_init(&h, &ctx.mem), KR_OK);
	build(tiny, &h);

	enum kr_status status = tiny->installs ? kr_analyze(&ctx, &h, &analysis, &err) : kr_analyze_sums(&ctx, &h, &analysis, &err);

	if (status == KR_OK) {
		struct test test = {.tiny = tiny, .h = &h, .asg = &analysis.asg, .tally = tally};

		if (kr_asg_verify(&analysis.asg, &err) != KR_OK)
			show(tiny, err.text);
		if (analysis.left_out[0] && !may_leave_out(tiny))
			show(tiny, analysis.left_out);
		if (analysis.left_out[0])
			tally->left_out++;
		else
			compare(&test, &analysis);
		kr_analysis_done(&analysis);
	} else {
		show(tiny, err.text);
	}
	kr_history_done(&h);
	assert_int_equal(ctx.mem.used, 0);
}

static void test_all_worlds(void **state)
{
	(void)state;
	const char *seed = getenv("KRAIT_TEST_SEED"), *count = getenv("KRAIT_TEST_COUNT");
	struct tally tally = {0};
	struct kr_rng rng;

	kr_rng_init(&rng, seed ? strtoull(seed, NULL, 10) : 1);
	for (long i = 0, n = count ? atol(count) : HISTORIES; i < n; i++) {
		struct tiny tiny;

		make(&rng, &tiny);
		tiny.installs = i % 2 == 0;
		check(&tiny, &tally);
	}
	print_message("worlds of counters %u, lists %u, sets %u; without dropped transactions %u; open transactions %u; anomalies of counters %u, lists %u, "
		      "sets %u; "
		      "left out %u; sums %u; guarded orders %u\n",
		tally.worlds[0], tally.worlds[1], tally.worlds[2], tally.dropped, tally.open, tally.anomalies[0], tally.anomalies[1], tally.anomalies[2],
		tally.left_out, tally.sums, tally.guarded);
	for (int kind = 0; kind < KR_ANOMALY_KINDS; kind++)
		print_message("anomaly kind %d: %u\n", kind, tally.kinds[kind]);
	if (count)
		return;
	for (int kind = 0; kind < 3; kind++)
		assert_true(tally.worlds[kind] > 1000 && tally.anomalies[kind] > 500);
	assert_true(tally.dropped > 500 && tally.open > 500 && tally.sums > 500 && tally.guarded > 50 && tally.left_out < HISTORIES / 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_worlds)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
