/* The verifier alone against brute force, without the pipeline that makes certificates: on random tiny histories
 *   - every list of transactions is accepted as a serial order iff replay accepts it;
 *   - every non-cyclic anomaly that is accepted is one of a history that is violated;
 *   - of registers, all the cycles that there can be, together, are accepted iff the history is violated (where no non-cyclic anomaly is); and any part of them only if it is.
 * The edges are found here from the definitions: an observation, a version that it can have seen, a later writer.
 *
 * KRAIT_ORACLE_COUNT: how many histories; KRAIT_ORACLE_SEED: another sequence. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "asked.h"
#include "frontend/history_written.h"
#include "checkers/checker.h"
#include "oracle.h"
#include "tiny.h"
#include "verify/verify.h"

enum { MOST_EDGES = 1000, MOST_CYCLES = 20000 };

static const uint64_t work = UINT64_C(20000000);

struct checked {
	struct kr_rng rng;
	struct kr_ctx *ctx;
	const struct kr_history *h;
	enum kr_order order;
	enum oracle_answer truth;
	bool undecided; /* the last certificate */
	bool registers; /* the history has no keys that grow and no predicate reads: edges can be found here */
	char why[600];
	uint64_t orders[2], anomalies, cycles[2], parts[2], too_many, unsupported;
	/* one history's edges */
	struct kr_cert_edge edges[MOST_EDGES];
	uint32_t nedges;
	struct kr_certificate all;
};

/* ---- what the definitions say ---- */

static const struct kr_operation *op_at(const struct kr_history *h, uint32_t t, uint32_t i) { return &h->ops.at[h->txns.at[t].op_first + i]; }

static bool writes(const struct kr_operation *op, uint32_t k, uint32_t *value)
{
	bool done = (op->flags & KR_OPF_DONE) != 0;

	if (op->key.i != k)
		return false;
	switch ((enum kr_op_kind)op->kind) {
	case KR_OP_WRITE: *value = op->a.i; return true;
	case KR_OP_DELETE: *value = KR_ABSENT.i; return done || !(op->flags & KR_OPF_KNOWN);
	case KR_OP_INSERT: *value = op->a.i; return done;
	case KR_OP_CAS: *value = op->b.i; return done;
	default: return false;
	}
}

static bool is_of_registers(const struct kr_history *h)
{
	for (uint32_t k = 0; k < h->keys.n; k++)
		if (h->keys.at[k].kind != KR_KIND_REGISTER && h->keys.at[k].kind != KR_KIND_ANY)
			return false;
	for (uint32_t i = 0; i < h->attrs.n; i++)
		if (h->attrs.at[i].seen_count > 0)
			return false;
	return h->scans.n == 0;
}

/* The last write of k by t, if there is one, and t may have taken effect. */
static bool version(const struct kr_history *h, uint32_t t, uint32_t k, uint32_t *value)
{
	bool wrote = false;
	uint32_t written;

	for (uint32_t i = 0; i < h->txns.at[t].op_count; i++) {
		if (!writes(op_at(h, t, i), k, &written))
			continue;
		*value = written;
		wrote = true;
	}
	return wrote && h->txns.at[t].status != KR_ABORTED;
}

/* Whether operation i of t observed k from outside, so that it had the value (equal) or any other one (!equal). */
static bool observed(const struct kr_history *h, uint32_t t, uint32_t i, uint32_t k, uint32_t *value, bool *equal)
{
	const struct kr_operation *op = op_at(h, t, i);
	bool done = (op->flags & KR_OPF_DONE) != 0, known = (op->flags & KR_OPF_KNOWN) != 0;
	uint32_t ignored;

	if (op->key.i != k || h->txns.at[t].status == KR_ABORTED)
		return false;
	for (uint32_t j = 0; j < i; j++)
		if (writes(op_at(h, t, j), k, &ignored))
			return false;
	switch ((enum kr_op_kind)op->kind) {
	case KR_OP_READ: *value = op->a.i; *equal = true; return known;
	case KR_OP_DELETE: *value = KR_ABSENT.i; *equal = !done; return known;
	case KR_OP_INSERT: *value = KR_ABSENT.i; *equal = done; return true;
	case KR_OP_CAS: *value = op->a.i; *equal = done; return true;
	default: return false;
	}
}

/* Whether k can have started so that it had the value (equal) or any other one (!equal). */
static bool may_start(const struct kr_history *h, uint32_t k, uint32_t value, bool equal)
{
	uint32_t written;

	if (!kr_history_untold(h))
		return (h->keys.at[k].initial.i == value) == equal;
	for (uint32_t i = 0; i < h->ops.n && equal && h->initial == KR_INITIAL_UNWRITTEN && value != KR_ABSENT.i; i++)
		if (writes(&h->ops.at[i], k, &written) && written == value)
			return false;
	return true;
}

static void add_edge(struct checked *c, struct kr_cert_edge e)
{
	if (c->nedges < MOST_EDGES && e.from.i != e.to.i)
		c->edges[c->nedges++] = e;
}

static void add_observation_edges(struct checked *c, uint32_t t, uint32_t i, uint32_t k)
{
	const struct kr_history *h = c->h;
	uint32_t wanted, value;
	bool equal;

	if (!observed(h, t, i, k, &wanted, &equal))
		return;
	for (uint32_t s = 0; s <= h->txns.n; s++) { /* the last one stands for the initial version */
		bool initial = s == h->txns.n;
		if (initial ? !may_start(h, k, wanted, equal)
			    : (s == t || !version(h, s, k, &value) || (value == wanted) != equal))
			continue;
		if (!initial)
			add_edge(c, (struct kr_cert_edge){KR_WR, false, {s}, {t}, {k}, i, {KR_NONE}, {KR_NONE}});
		for (uint32_t b = 0; b < h->txns.n; b++)
			if (b != s && version(h, b, k, &value))
				add_edge(c, (struct kr_cert_edge){KR_RW, false, {t}, {b}, {k}, i, {initial ? KR_NONE : s}, {KR_NONE}});
	}
}

static void find_edges(struct checked *c)
{
	const struct kr_history *h = c->h;
	uint32_t ignored;

	c->nedges = 0;
	for (uint32_t a = 0; a < h->txns.n; a++) {
		for (uint32_t i = 0; i < h->txns.at[a].op_count; i++)
			add_observation_edges(c, a, i, op_at(h, a, i)->key.i);
		for (uint32_t b = 0; b < h->txns.n; b++) {
			const struct kr_transaction *x = &h->txns.at[a], *y = &h->txns.at[b];
			for (uint32_t k = 0; k < h->keys.n; k++)
				if (version(h, a, k, &ignored) && version(h, b, k, &ignored))
					add_edge(c, (struct kr_cert_edge){KR_WW, false, {a}, {b}, {k}, KR_NONE, {KR_NONE}, {KR_NONE}});
			if (x->status != KR_COMMITTED || y->status == KR_ABORTED || c->order == KR_ORDER_NONE)
				continue;
			if (a < b && x->session.i != KR_NONE && x->session.i == y->session.i)
				add_edge(c, (struct kr_cert_edge){KR_SO, false, {a}, {b}, {KR_NONE}, KR_NONE, {KR_NONE}, {KR_NONE}});
			if (c->order == KR_ORDER_REALTIME && x->flags & KR_TXN_HAS_END && y->flags & KR_TXN_HAS_BEGIN &&
				x->end_returned + h->clock_skew < y->begin_invoked)
				add_edge(c, (struct kr_cert_edge){KR_RT, false, {a}, {b}, {KR_NONE}, KR_NONE, {KR_NONE}, {KR_NONE}});
		}
	}
}

/* All simple cycles, each from its smallest transaction. False: too many. */
static bool find_cycles(struct checked *c)
{
	struct kr_certificate *all = &c->all;
	uint32_t path[TINY_TXNS], next[TINY_TXNS] = {0};

	all->edges.n = all->cycles.n = 0;
	for (uint32_t start = 0; start < c->h->txns.n; start++) {
		uint32_t depth = 0, on_path = 1u << start, at = start;
		next[0] = 0;
		for (;;) {
			while (next[depth] < c->nedges && c->edges[next[depth]].from.i != at)
				next[depth]++;
			if (next[depth] == c->nedges) {
				if (depth == 0)
					break;
				if (at != start)
					on_path &= ~(1u << at);
				at = c->edges[path[--depth]].from.i;
				continue;
			}
			uint32_t edge = next[depth]++, to = c->edges[edge].to.i;
			path[depth] = edge;
			if (to == start) {
				if (all->cycles.n == MOST_CYCLES)
					return false;
				assert_true(kr_vec_push(all->mem, &all->cycles, (struct kr_cert_cycle){all->edges.n, depth + 1}));
				for (uint32_t i = 0; i <= depth; i++)
					assert_true(kr_vec_push(all->mem, &all->edges, c->edges[path[i]]));
			} else if (to > start && !(on_path >> to & 1)) {
				on_path |= 1u << to;
				at = to;
				next[++depth] = 0;
			}
		}
	}
	return true;
}

/* ---- the verifier's answers ---- */

static bool accepted(struct checked *c, const struct kr_certificate *cert)
{
	struct kr_err err;

	kr_err_init(&err);

	enum kr_status status = kr_verify(c->ctx, c->h, cert, &err);

	c->undecided = status == KR_UNSUPPORTED;
	c->unsupported += c->undecided;
	if (status != KR_OK && status != KR_BAD && (c->registers || status != KR_UNSUPPORTED))
		fail_msg("status %d: %s", (int)status, err.text);
	(void)snprintf(c->why, sizeof c->why, "%s", err.text);
	return status == KR_OK;
}

static const char *check_order(struct checked *c, struct kr_certificate *cert)
{
	bool expected = oracle_replays(c->h, c->order, cert->serial.at, cert->serial.n);

	c->orders[expected]++;
	if (accepted(c, cert) == expected || c->undecided)
		return NULL;
	return expected ? "a right order was refused" : "a wrong order was accepted";
}

/* Random lists: mostly the transactions that count, in random order, at times with one too many or too few. */
static const char *check_orders(struct checked *c)
{
	struct kr_certificate cert;
	const char *why = NULL;

	kr_certificate_init(&cert, &c->ctx->mem);
	cert.level = kr_level_of_id(NULL, "ser");
	cert.order = c->order;
	cert.kind = KR_CERT_ORDER;
	for (int round = 0; !why && round < 60; round++) {
		cert.serial.n = 0;
		for (uint32_t t = 0; t < c->h->txns.n; t++) {
			uint8_t status = c->h->txns.at[t].status;
			bool in = status == KR_COMMITTED || (status == KR_UNKNOWN && kr_rng_below(&c->rng, 2));
			if (in != (kr_rng_below(&c->rng, 50) == 0))
				assert_true(kr_vec_push(cert.mem, &cert.serial, (kr_txn){t}));
		}
		for (uint32_t i = cert.serial.n; i > 1; i--) {
			uint32_t j = (uint32_t)kr_rng_below(&c->rng, i);
			kr_txn t = cert.serial.at[j];
			cert.serial.at[j] = cert.serial.at[i - 1];
			cert.serial.at[i - 1] = t;
		}
		why = check_order(c, &cert);
	}
	kr_certificate_done(&cert);
	return why;
}

static bool has_anomaly(struct checked *c)
{
	struct kr_certificate cert;
	bool found = false;

	kr_certificate_init(&cert, &c->ctx->mem);
	cert.level = kr_level_of_id(NULL, "ser");
	cert.order = c->order;
	cert.kind = KR_CERT_ANOMALY;
	for (uint32_t t = 0; t < c->h->txns.n; t++)
		for (uint32_t i = 0; i < c->h->txns.at[t].op_count; i++)
			for (uint32_t k = 0; k < c->h->keys.n; k++)
				for (unsigned kind = KR_GARBAGE_READ; kind < KR_ANOMALY_KINDS; kind++) {
					cert.anomaly.kind = (enum kr_anomaly_kind)kind;
					cert.anomaly.txn = (kr_txn){t};
					cert.anomaly.op = i;
					cert.anomaly.key = (kr_key){k};
					found |= accepted(c, &cert);
				}
	kr_certificate_done(&cert);
	return found;
}

/* The certificate with a random part of the cycles. */
static const char *check_part(struct checked *c)
{
	struct kr_certificate part = c->all;
	uint64_t keep = 1 + kr_rng_below(&c->rng, 9);
	const char *why = NULL;

	part.cycles.at = NULL;
	part.cycles.n = part.cycles.cap = 0;
	for (uint32_t i = 0; i < c->all.cycles.n; i++)
		if (kr_rng_below(&c->rng, 10) < keep)
			assert_true(kr_vec_push(part.mem, &part.cycles, c->all.cycles.at[i]));

	bool right = accepted(c, &part);

	c->parts[right]++;
	if (right && c->truth == ORACLE_SATISFIED)
		why = "cycles of a history without a violation were accepted";
	kr_vec_done(part.mem, &part.cycles);
	return why;
}

static const char *check_cycles(struct checked *c, bool anomaly)
{
	const char *why = NULL;

	find_edges(c);
	if (!find_cycles(c)) {
		c->too_many++;
		return NULL;
	}

	bool found = accepted(c, &c->all);

	c->cycles[found]++;
	if (found && c->truth == ORACLE_SATISFIED)
		return "all cycles of a history without a violation were accepted";
	if (!found && !anomaly && c->truth == ORACLE_VIOLATED)
		return "all cycles of a violated history were refused";
	for (int round = 0; !why && round < 3; round++)
		why = check_part(c);
	return why;
}

static const char *verifier_is_wrong(const struct tiny *tiny, void *data)
{
	struct checked *c = data;
	struct kr_ctx ctx;
	struct kr_history h;
	const char *why = NULL;

	kr_ctx_init(&ctx, 0, 0);
	if (tiny_history(tiny, &ctx, &h) != KR_OK)
		return NULL;
	c->ctx = &ctx;
	c->h = &h;
	c->registers = is_of_registers(&h);
	kr_certificate_init(&c->all, &ctx.mem);
	c->all.level = kr_level_of_id(NULL, "ser");
	c->all.kind = KR_CERT_CYCLES;
	for (int order = 0; order < 3 && !why; order++) {
		c->order = c->all.order = (enum kr_order)order;
		c->truth = oracle_replay(&h, c->order, work);
		why = check_orders(c);
		bool anomaly = !why && has_anomaly(c);
		c->anomalies += anomaly;
		if (anomaly && c->truth == ORACLE_SATISFIED)
			why = "an anomaly of a history without a violation was accepted";
		if (!why && c->registers)
			why = check_cycles(c, anomaly);
	}
	kr_certificate_done(&c->all);
	kr_history_done(&h);
	assert_int_equal(ctx.mem.used, 0);
	return why;
}

/* While shrinking, several random choices. */
static const char *verifier_is_wrong_again(const struct tiny *tiny, void *data)
{
	const char *why = NULL;

	for (int round = 0; !why && round < 10; round++)
		why = verifier_is_wrong(tiny, data);
	return why;
}

static void verifier_agrees_with_the_oracles(void **state)
{
	struct checked *c = calloc(1, sizeof *c);
	uint64_t count = asked_number("KRAIT_ORACLE_COUNT", 1200), valid = 0;
	struct kr_rng rng;

	(void)state;
	assert_non_null(c);
	kr_rng_init(&rng, asked_number("KRAIT_ORACLE_SEED", 7));
	kr_rng_init(&c->rng, 8);
	for (uint64_t n = 0; n < count; n++) {
		struct tiny tiny;
		tiny_random(&tiny, &rng, (enum tiny_mix)(n % TINY_MIXES));
		const char *why = verifier_is_wrong(&tiny, c);
		valid++;
		if (why) {
			print_message("history %llu: %s (%s)\n", (unsigned long long)n, why, c->why);
			(void)tiny_shrink(&tiny, verifier_is_wrong_again, c);
			why = verifier_is_wrong_again(&tiny, c);
			asked_print_tiny(&tiny);
			fail_msg("shrunk: %s (order %s: %s)", why ? why : "(no longer)", kr_order_name(c->order), c->why);
		}
	}
	print_message("verifier: %llu histories; orders: %llu right, %llu wrong; %llu with an anomaly; all cycles: %llu accepted, %llu refused, %llu times too many; "
		      "parts: %llu accepted, %llu refused; %llu not decided\n",
		(unsigned long long)valid, (unsigned long long)c->orders[1], (unsigned long long)c->orders[0], (unsigned long long)c->anomalies,
		(unsigned long long)c->cycles[1], (unsigned long long)c->cycles[0], (unsigned long long)c->too_many, (unsigned long long)c->parts[1],
		(unsigned long long)c->parts[0], (unsigned long long)c->unsupported);
	assert_true(c->orders[1] > valid && c->anomalies > valid / 10 && c->cycles[1] > valid / 20 && c->cycles[0] > valid / 20 && c->parts[1] > valid / 40);
	free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(verifier_agrees_with_the_oracles)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
