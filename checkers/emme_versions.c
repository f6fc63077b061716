/* Versions and their orders (emme_work.h). Linear, but for a bisection for each writer of a version order. */
#include "checkers/emme_work.h"

#include "base/order.h"

#include <stdio.h>
#include <string.h>

/* ---- what transactions left ---- */

struct left *kr_emme_left(const struct emme *e, const struct lefts *of, uint32_t first, kr_key k)
{
	uint32_t i = e->slot[k.i];

	return i >= first && i < of->n && of->at[i].key.i == k.i ? &of->at[i] : NULL;
}

static enum kr_status write_one(struct emme *e, kr_txn t, const struct kr_write *write, struct lefts *of,
	uint32_t first)
{
	const struct kr_datatype *type = e->type[write->key.i];
	struct left *left = kr_emme_left(e, of, first, write->key);
	struct kr_effect effect = {.how = KR_SET};
	bool fits = true;

	if (!left) {
		e->slot[write->key.i] = of->n;
		if (!kr_vec_push(&e->ctx->mem, of,
			    (struct left){.key = write->key, .writer = t, .next = KR_NONE}))
			return KR_NOMEM;
		left = &of->at[of->n - 1];
	}
	enum kr_status status = KR_OK;
	if (write->how == KR_ADD)
		effect = kr_told_addition(e->h, type, write);
	else
		status = kr_told_state(&e->elements, type, write->value, &effect.state, &fits);
	e->open |= !fits;
	return status ? status : kr_compose(type, &e->elements.arena, &left->effect, &effect);
}

enum kr_status kr_emme_write(struct emme *e, kr_txn t, const struct kr_operation *op, struct lefts *of,
	uint32_t first)
{
	struct kr_write write;

	for (uint32_t i = 0; !kr_op_is_read(op) && kr_write_at(e->h, op, i, &write); i++)
		KR_TRY(write_one(e, t, &write, of, first));
	return KR_OK;
}

/* Of those whose outcome is not known, the certificate speaks of those that took effect. */
static void mark_effective(struct emme *e)
{
	const struct kr_history *h = e->h;

	for (uint32_t t = 0; t < h->txns.n; t++)
		e->effective[t] = h->txns.at[t].status == KR_COMMITTED;
	for (uint32_t i = 0; i < h->order_writers.n; i++) {
		kr_txn t = h->order_writers.at[i];
		e->effective[t.i] |= h->txns.at[t.i].status == KR_UNKNOWN;
	}
}

static enum kr_status collect(struct emme *e)
{
	const struct kr_history *h = e->h;
	enum kr_status status = KR_OK;

	for (kr_txn t = {0}; t.i < h->txns.n && !status; t.i++) {
		e->of_txn[t.i] = e->versions.n;
		for (uint32_t i = 0; e->effective[t.i] && i < h->txns.at[t.i].op_count && !status; i++) {
			status = kr_ctx_tick(e->ctx);
			if (!status)
				status = kr_emme_write(e, t, &h->ops.at[kr_history_op(h, t, i).i],
					&e->versions, e->of_txn[t.i]);
		}
	}
	e->of_txn[h->txns.n] = e->versions.n;
	return status;
}

/* ---- their orders ---- */

uint32_t kr_emme_version(const struct emme *e, kr_txn t, kr_key k)
{
	uint32_t at;

	KR_BISECT(at, e->of_key[k.i], e->of_key[k.i + 1], e->versions.at[e->by_writer[at]].writer.i < t.i);
	return at < e->of_key[k.i + 1] && e->versions.at[e->by_writer[at]].writer.i == t.i ? e->by_writer[at]
											   : KR_NONE;
}

static void link_told(struct emme *e, const struct kr_version_order *order)
{
	struct left *before = NULL;

	for (uint32_t i = order->writer_first; i < order->writer_first + order->writer_count; i++) {
		kr_txn t = e->h->order_writers.at[i];
		uint32_t v = kr_emme_version(e, t, order->key);
		if (v == KR_NONE)
			continue;
		struct left *after = &e->versions.at[v];
		if (before) {
			e->open |= (before->next != KR_NONE && before->next != v) ||
				(after->follows && before->next != v);
			before->next = v;
			after->follows = true;
		}
		before = after;
	}
}

static void not_told(struct emme *e, kr_key k, const struct left *v)
{
	char key[48], writer[48];

	snprintf(e->out->reason, sizeof e->out->reason,
		"the version orders of the trace do not tell where the version of %s by %s stands",
		kr_history_brief(e->h, e->h->keys.at[k.i].name, key, sizeof key),
		kr_history_brief(e->h, e->h->txns.at[v->writer.i].id, writer, sizeof writer));
	e->open = true;
}

/* Puts the versions of k where they are linked to, and makes them states. */
static enum kr_status chain_up(struct emme *e, kr_key k)
{
	uint32_t *chain = e->chain + e->of_key[k.i], n = e->of_key[k.i + 1] - e->of_key[k.i], head = KR_NONE,
		 place = 0;
	struct kr_state state = e->initial[k.i];
	enum kr_status status = kr_ctx_tick(e->ctx);

	for (uint32_t i = 0; i < n; i++)
		if (!e->versions.at[chain[i]].follows)
			head = chain[i];
	for (uint32_t v = head; v != KR_NONE && place < n; v = e->versions.at[v].next)
		e->versions.at[v].place = ++place;
	for (uint32_t i = 0; i < n && place < n; i++)
		if (e->versions.at[chain[i]].place == 0 || place == 0)
			return not_told(e, k, &e->versions.at[chain[i]]), status;
	for (uint32_t v = head, i = 0; i < n && !status; v = e->versions.at[v].next, i++) {
		struct left *left = &e->versions.at[v];
		chain[i] = v;
		e->writers[e->of_key[k.i] + i] = left->writer;
		status = kr_apply(e->type[k.i], &e->elements.arena, &state, &left->effect);
		left->effect.state = state;
	}
	if (status == KR_UNSUPPORTED) { /* a counter beyond 64 bits */
		e->open = true;
		status = KR_OK;
	}
	return status;
}

static enum kr_status order_versions(struct emme *e)
{
	const struct kr_history *h = e->h;

	for (uint32_t v = 0; v < e->versions.n; v++)
		e->of_key[e->versions.at[v].key.i + 2]++;
	kr_index_places(e->of_key, h->keys.n);
	for (uint32_t v = 0; v < e->versions.n; v++)
		e->chain[e->of_key[e->versions.at[v].key.i + 1]++] = v;
	memcpy(e->by_writer, e->chain, e->versions.n * sizeof *e->chain);
	for (uint32_t i = 0; i < h->version_orders.n; i++)
		link_told(e, &h->version_orders.at[i]);
	for (kr_key k = {0}; k.i < h->keys.n && !e->open; k.i++)
		KR_TRY(chain_up(e, k));
	return KR_OK;
}

const struct kr_state *kr_emme_state(const struct emme *e, kr_key k, uint32_t place)
{
	return place == 0 ? &e->initial[k.i]
			  : &e->versions.at[e->chain[e->of_key[k.i] + place - 1]].effect.state;
}

enum kr_status kr_emme_versions(struct emme *e)
{
	mark_effective(e);
	enum kr_status status = collect(e);
	e->chain = KR_NEW_ARRAY(&e->elements.arena, uint32_t, e->versions.n);
	e->by_writer = KR_NEW_ARRAY(&e->elements.arena, uint32_t, e->versions.n);
	e->writers = KR_NEW_ARRAY(&e->elements.arena, kr_txn, e->versions.n);
	if (!status && (!e->chain || !e->by_writer || !e->writers))
		return KR_NOMEM;
	return status ? status : order_versions(e);
}
