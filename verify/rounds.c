/* What orders of the versions of a list or set tell together: some that the trace gives, others that
 * committed transactions' reads show. A way along them orders its ends, if all writers on it took effect; one
 * that leads back cannot be. Of each two writers the shortest way is looked at; of the others nothing is
 * said, which proves less but nothing wrong. Looked for only where the trace gives an order, when all else
 * did not do. Cost: the cube of the key's writers. */
#include "verify/cases.h"

enum { ROUNDS_MOST = 300 }; /* writers of one key */

struct rounds {
	struct kr_cases *c;
	kr_key key;
	uint32_t n;
	kr_txn txns[ROUNDS_MOST];
	bool before[ROUNDS_MOST][ROUNDS_MOST];
	uint32_t from[ROUNDS_MOST], queue[ROUNDS_MOST];
};

static enum kr_status fill(struct rounds *r)
{
	uint32_t known;

	for (uint32_t a = 0; a < r->n; a++) {
		for (uint32_t b = a + 1; b < r->n; b++) {
			KR_TRY(kr_cases_known_order(r->c, r->key, r->txns[a], r->txns[b], &known));
			r->before[a][b] = known == KR_LITERAL_TRUE;
			r->before[b][a] = known == KR_LITERAL_FALSE;
		}
		KR_TRY(kr_ctx_tick(r->c->v->ctx));
	}
	return KR_OK;
}

/* The shortest ways from `start`, by `from`; back to it, too, if there is one. */
static void find_ways(struct rounds *r, uint32_t start)
{
	uint32_t head = 0, tail = 0;

	for (uint32_t i = 0; i < r->n; i++)
		r->from[i] = KR_NONE;
	r->queue[tail++] = start;
	while (head < tail) {
		uint32_t at = r->queue[head++];
		for (uint32_t next = 0; next < r->n; next++) {
			if (!r->before[at][next] || r->from[next] != KR_NONE)
				continue;
			r->from[next] = at;
			if (next != start)
				r->queue[tail++] = next;
		}
	}
}

/* Clause: one of the writers on the way to `end` took no effect, or `conclusion`. */
static enum kr_status add_way(struct rounds *r, uint32_t start, uint32_t end, uint32_t conclusion)
{
	uint32_t at = end, present;

	kr_cases_begin(r->c);
	KR_TRY(kr_cases_add(r->c, conclusion));
	do {
		KR_TRY(kr_cases_presence(r->c, r->txns[at], &present));
		KR_TRY(kr_cases_add(r->c, kr_cases_negate(present)));
		at = r->from[at];
	} while (at != start);
	return kr_cases_end(r->c);
}

static uint32_t place_of(const struct rounds *r, uint32_t txn)
{
	uint32_t i = 0;

	while (i < r->n && r->txns[i].i != txn)
		i++;
	return i;
}

/* The orders that cycles rest on, where a way tells them. */
static enum kr_status add_orders(struct rounds *r, uint32_t start)
{
	for (uint32_t i = 0, n = r->c->choices.n; i < n; i++) {
		const struct kr_cases_choice x = r->c->choices.at[i];
		uint32_t t = r->txns[start].i, end;

		if (x.kind != KR_CHOICE_ORDER || x.a != r->key.i || (x.b != t && x.c != t))
			continue;
		end = place_of(r, x.b == t ? x.c : x.b);
		if (end < r->n && r->from[end] != KR_NONE)
			KR_TRY(add_way(r, start, end, x.b == t ? kr_sat_yes(i) : kr_sat_not(kr_sat_yes(i))));
	}
	return KR_OK;
}

static enum kr_status look_at(struct rounds *r)
{
	KR_TRY(fill(r));
	for (uint32_t i = 0; i < r->n; i++) {
		find_ways(r, i);
		if (r->from[i] != KR_NONE)
			KR_TRY(add_way(r, i, i, KR_LITERAL_FALSE));
		KR_TRY(add_orders(r, i));
		KR_TRY(kr_ctx_tick(r->c->v->ctx));
	}
	return KR_OK;
}

static bool has_order(const struct kr_history *h, kr_key k)
{
	for (uint32_t i = 0; i < h->version_orders.n; i++)
		if (h->version_orders.at[i].key.i == k.i)
			return true;
	return false;
}

enum kr_status kr_cases_add_rounds(struct kr_cases *c)
{
	const struct kr_facts *f = &c->facts;
	struct rounds *r =
		c->blind || c->v->h->version_orders.n == 0 ? NULL : kr_mem_alloc(c->mem, 1, sizeof *r);
	enum kr_status status = r || c->blind || c->v->h->version_orders.n == 0 ? KR_OK : KR_NOMEM;

	for (kr_key k = {0}; r && k.i < c->v->h->keys.n && status == KR_OK; k.i++) {
		enum kr_grow_mode mode = kr_facts_mode(f, k);
		uint32_t n = f->first[k.i + 1] - f->first[k.i];

		if ((mode != KR_GROW_LIST && mode != KR_GROW_SET) || n > ROUNDS_MOST ||
			!has_order(c->v->h, k))
			continue;
		r->c = c;
		r->key = k;
		r->n = n;
		for (uint32_t i = 0; i < n; i++)
			r->txns[i] = f->versions[f->first[k.i] + i].txn;
		status = look_at(r);
	}
	kr_mem_free(c->mem, r, r ? 1 : 0, sizeof *r);
	return status;
}
