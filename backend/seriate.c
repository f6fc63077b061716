/* Who saw a version came after its writer, and before the next one of the key. Where a key has n writers that
 * is about 1 / n of the history, give or take as much. Springs of that length and strength, by conjugate
 * gradients (Hestenes, Stiefel 1952): the more of them lead to a transaction, and on from there, the better
 * its place is known, though no path tells more than that one comes before the other. */
#include "backend/seriate.h"

#include "base/order.h"
#include "base/rng.h"

enum { ITERATIONS = 1000 };
static const double WORK = 2e8, NEAR_ENOUGH = 1e-10;

struct spring {
	uint32_t to;
	float length; /* of what is expected between them; below 0: `to` comes before */
};

struct springs {
	struct kr_arena arena;
	const struct kr_ir *ir;
	uint32_t n;
	uint32_t *writers; /* per key: transactions that write it */
	uint32_t *before;  /* per transaction: the one before it in its session */
	uint32_t *since;   /* per session: how many transactions it has */
	uint32_t *first;   /* per transaction, and two more: its springs */
	struct spring *springs;
};

static double strength(const struct spring *s) { return 1 / ((double)s->length * s->length); }

/* ---- springs ---- */

typedef void take_spring(struct springs *s, uint32_t from, uint32_t to, double length);

static void count(struct springs *s, uint32_t from, uint32_t to, double length)
{
	(void)length;
	s->first[from + 2]++;
	s->first[to + 2]++;
}

static void add(struct springs *s, uint32_t from, uint32_t to, double length)
{
	s->springs[s->first[from + 1]++] = (struct spring){to, (float)-length};
	s->springs[s->first[to + 1]++] = (struct spring){from, (float)length};
}

static void for_each_spring(struct springs *s, take_spring *take)
{
	const struct kr_asg *asg = s->ir->asg;
	for (uint32_t o = 0; o < asg->nobs; o++) {
		kr_version v = s->ir->source[o];
		if (v.i == KR_NONE || kr_asg_is_initial(asg, v))
			continue;
		uint32_t from = asg->versions[v.i].writer.i, to = asg->obs[o].txn.i;
		if (from != to)
			take(s, from, to, 1.0 / (s->writers[asg->obs[o].key.i] + 1));
	}
	for (uint32_t t = 0; t < s->n; t++)
		if (s->before[t] != KR_NONE)
			take(s, s->before[t], t, 1.0 / (s->since[asg->txns[t].session] + 1));
}

static enum kr_status make_springs(struct springs *s)
{
	const struct kr_asg *asg = s->ir->asg;
	uint32_t *last;
	KR_TRY(kr_arena_new(&s->arena, s->writers, asg->nkeys));
	KR_TRY(kr_arena_new(&s->arena, s->since, asg->nsessions));
	KR_TRY(kr_arena_new(&s->arena, last, asg->nsessions));
	KR_TRY(kr_arena_new(&s->arena, s->before, s->n));
	KR_TRY(kr_arena_new(&s->arena, s->first, (size_t)s->n + 2));
	for (uint32_t k = 0; k < asg->nkeys; k++)
		s->writers[k] = asg->keys[k + 1].first - asg->keys[k].first - 1;
	for (uint32_t t = 0; t < s->n; t++) {
		uint32_t session = asg->txns[t].session;
		bool follows = session != KR_NONE && s->since[session]++ > 0;
		s->before[t] = follows ? last[session] : KR_NONE;
		if (session != KR_NONE)
			last[session] = t;
	}
	for_each_spring(s, count);
	kr_index_places(s->first, s->n);
	KR_TRY(kr_arena_new(&s->arena, s->springs, s->first[s->n + 1]));
	for_each_spring(s, add);
	return KR_OK;
}

/* ---- places ---- */

/* Solves "the sum of the forces at each transaction is 0". `at`: in 0, out the places, up to a shift of all
 * that are joined. */
static enum kr_status relax(struct springs *s, double *at)
{
	double *rest, *way, *pull, *weight, size = 0, goal, step;
	KR_TRY(kr_arena_new(&s->arena, rest, s->n));
	KR_TRY(kr_arena_new(&s->arena, way, s->n));
	KR_TRY(kr_arena_new(&s->arena, pull, s->n));
	KR_TRY(kr_arena_new(&s->arena, weight, s->n));
	for (uint32_t t = 0; t < s->n; t++) {
		for (uint32_t i = s->first[t]; i < s->first[t + 1]; i++) {
			rest[t] += strength(&s->springs[i]) * s->springs[i].length;
			weight[t] += strength(&s->springs[i]);
		}
		weight[t] = weight[t] > 0 ? weight[t] : 1;
		way[t] = rest[t] / weight[t];
		size += rest[t] * way[t];
	}
	goal = size * NEAR_ENOUGH;
	uint32_t most = (uint32_t)(WORK / (s->first[s->n] + s->n + 1.0));
	for (uint32_t i = 0; i < ITERATIONS && i < most && size > goal; i++) {
		double force = 0, was = size;
		KR_TRY(kr_ctx_tick(s->ir->ctx));
		for (uint32_t t = 0; t < s->n; t++) {
			pull[t] = 0;
			for (uint32_t j = s->first[t]; j < s->first[t + 1]; j++)
				pull[t] += strength(&s->springs[j]) * (way[t] - way[s->springs[j].to]);
			force += way[t] * pull[t];
		}
		step = size / force;
		size = 0;
		for (uint32_t t = 0; t < s->n; t++) {
			at[t] += step * way[t];
			rest[t] -= step * pull[t];
			size += rest[t] * rest[t] / weight[t];
		}
		for (uint32_t t = 0; t < s->n; t++)
			way[t] = rest[t] / weight[t] + size / was * way[t];
	}
	return KR_OK;
}

/* Those that are joined to t, into `joined`; how many. */
static uint32_t collect(const struct springs *s, uint32_t t, uint8_t *met, uint32_t *joined)
{
	uint32_t n = 0;
	met[t] = true;
	joined[n++] = t;
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t j = s->first[joined[i]]; j < s->first[joined[i] + 1]; j++) {
			uint32_t to = s->springs[j].to;
			if (!met[to])
				joined[n++] = to;
			met[to] = true;
		}
	}
	return n;
}

/* Parts that nothing joins: a long one takes up all, short ones lie anywhere. */
static enum kr_status spread(struct springs *s, double *at)
{
	uint8_t *met;
	uint32_t *joined;
	struct kr_rng rng;
	KR_TRY(kr_arena_new(&s->arena, met, s->n));
	KR_TRY(kr_arena_new(&s->arena, joined, s->n));
	kr_rng_init(&rng, 1);
	for (uint32_t t = 0; t < s->n; t++) {
		uint32_t n = met[t] ? 0 : collect(s, t, met, joined);
		double low = at[t], high = at[t];
		for (uint32_t i = 0; i < n; i++) {
			double x = at[joined[i]];
			low = x < low ? x : low;
			high = x > high ? x : high;
		}
		bool all = high - low > 0.98 || n > s->n / 10;
		double scale = all && high > low ? 0.99 / (high - low) : 1;
		double shift = all ? 0.005 : kr_rng_double(&rng) * (1 - (high - low));
		for (uint32_t i = 0; i < n; i++)
			at[joined[i]] = shift + (at[joined[i]] - low) * scale;
	}
	return KR_OK;
}

enum kr_status kr_seriate(const struct kr_ir *ir, double *place)
{
	struct springs s = {.arena = {.mem = &ir->ctx->mem}, .ir = ir, .n = ir->asg->ntxns};
	enum kr_status status = make_springs(&s);
	for (uint32_t t = 0; t < s.n; t++)
		place[t] = 0;
	if (!status)
		status = relax(&s, place);
	if (!status)
		status = spread(&s, place);
	kr_arena_done(&s.arena);
	return status;
}
