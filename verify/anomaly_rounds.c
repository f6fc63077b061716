/* Lists that were read of a key with deletes, and that contradict each other by the order of what they show.
 *
 * Of two elements, each appended once, those who show both show the one first that was appended first, in the
 * order of versions and, within a transaction, in its own. So from neighbour to neighbour, in lists that
 * committed transactions read, no way leads back. Cost: linear in these lists. */
#include "verify/claim.h"

struct step {
	uint32_t to, next;
};

struct rounds {
	const struct kr_claim *c;
	const struct kr_facts *f;
	KR_VEC(struct step) steps;
	KR_VEC(uint32_t) stack;
	uint32_t *first; /* per element: its first step, or KR_NONE */
	bool *met;       /* per element */
	uint32_t last;   /* of the list at hand */
	bool closed;
};

/* The i-th element of an array taken apart at `first`, or KR_NONE: one that says nothing. */
static enum kr_status element_at(const struct rounds *r, uint32_t at, uint32_t *out)
{
	const struct kr_grow_add *add;
	uint32_t adds;
	bool initial;

	*out = r->f->grow->members.at[at];
	enum kr_status status = kr_grow_appender(r->f, r->c->key, *out, &add, &adds, &initial);
	if (adds != 1 || initial)
		*out = KR_NONE;
	return status;
}

static enum kr_status add_step(struct rounds *r, uint32_t element)
{
	KR_TRY(kr_vec_add(r->f->mem, &r->steps, (struct step){element, r->first[r->last]}));
	r->first[r->last] = r->steps.n - 1;
	return KR_OK;
}

/* Marks all that follows on the element. */
static enum kr_status follow(struct rounds *r, uint32_t element)
{
	kr_vec_clear(&r->stack);
	r->met[element] = true;
	KR_TRY(kr_vec_add(r->f->mem, &r->stack, element));
	while (r->stack.n > 0) {
		for (uint32_t i = r->first[kr_vec_pop(&r->stack)]; i != KR_NONE; i = r->steps.at[i].next) {
			if (r->met[r->steps.at[i].to])
				continue;
			r->met[r->steps.at[i].to] = true;
			KR_TRY(kr_vec_add(r->f->mem, &r->stack, r->steps.at[i].to));
		}
	}
	return kr_ctx_tick(r->c->v->ctx);
}

/* Walks the list from its end, or from its beginning to note its steps. */
static enum kr_status walk(struct rounds *r, uint32_t first, uint32_t count, bool back)
{
	uint32_t element;
	enum kr_status status = KR_OK;

	r->last = KR_NONE;
	for (uint32_t i = 0; i < count && status == KR_OK; i++) {
		status = element_at(r, first + (back ? count - 1 - i : i), &element);
		if (status != KR_OK || element == KR_NONE)
			continue;
		if (back) {
			r->closed |= r->last != KR_NONE && r->met[element];
			status = follow(r, element);
		} else if (r->last != KR_NONE) {
			status = add_step(r, element);
		}
		r->last = element;
	}
	return status == KR_OK ? kr_ctx_tick(r->c->v->ctx) : status;
}

static enum kr_status show(const struct rounds *r, kr_txn t, uint32_t op, uint32_t own_count, uint32_t *first,
	uint32_t *count)
{
	enum kr_status status = kr_grow_shown(r->f, r->c->key, t, op, own_count, first, count);

	if (*count == KR_NONE)
		*count = 0;
	return status;
}

/* All lists are taken apart by the first pass; then the number of elements is known. */
static enum kr_status walk_all(struct rounds *r, bool count_only)
{
	const struct kr_grow *g = r->f->grow;
	uint32_t first, count;

	for (uint32_t i = g->sight_first[r->c->key.i]; i < g->sight_first[r->c->key.i + 1]; i++) {
		const struct kr_grow_sight *s = &g->sights[i];
		if (r->f->h->txns.at[s->txn.i].status != KR_COMMITTED)
			continue;
		KR_TRY(show(r, s->txn, s->op, s->own_count, &first, &count));
		if (!count_only)
			KR_TRY(walk(r, first, count, false));
	}
	return KR_OK;
}

static enum kr_status judge(struct rounds *r, const struct kr_sight *sight)
{
	uint32_t first, count;
	KR_TRY(walk_all(r, false));
	KR_TRY(show(r, sight->txn, sight->op, sight->own_count, &first, &count));
	return walk(r, first, count, true);
}

enum kr_status kr_claim_goes_round(const struct kr_claim *c, const struct kr_facts *f,
	const struct kr_sight *sight, bool *out)
{
	struct rounds r = {.c = c, .f = f};
	enum kr_status status = walk_all(&r, true);
	uint32_t n = f->grow->elements.n;

	r.first = kr_mem_alloc(f->mem, n, sizeof *r.first);
	r.met = kr_mem_alloc(f->mem, n, sizeof *r.met);
	for (uint32_t i = 0; r.first && i < n; i++)
		r.first[i] = KR_NONE;
	if (status == KR_OK)
		status = r.first && r.met ? judge(&r, sight) : KR_NOMEM;
	*out = status == KR_OK && r.closed;
	kr_mem_free(f->mem, r.first, n, sizeof *r.first);
	kr_mem_free(f->mem, r.met, n, sizeof *r.met);
	kr_vec_done(f->mem, &r.steps);
	kr_vec_done(f->mem, &r.stack);
	return status;
}
