/* Versions and their orders (emme_work.h). Linear, but for a bisection for each writer of a version order. */
#include "checkers/emme_work.h"

#include "base/order.h"

#include <stdio.h>
#include <string.h>

/* ---- what transactions left ---- */

static bool is_told(const struct emme *e, kr_left left) { return left.i < e->h->values.n; }

enum kr_status kr_emme_effect(struct emme *e, kr_key k, kr_left left, struct kr_effect *out)
{
	bool fits;

	if (!is_told(e, left)) {
		*out = e->effects.at[left.i - e->h->values.n];
		return KR_OK;
	}
	out->how = KR_SET;
	return kr_told_state(&e->elements, e->type[k.i], (kr_value){left.i}, &out->state, &fits);
}

struct version *kr_emme_left(const struct emme *e, const struct versions *of, uint32_t first, kr_key k)
{
	uint32_t i = e->slot[k.i];

	return i >= first && i < of->n && of->at[i].key.i == k.i ? &of->at[i] : NULL;
}

/* Adds to what was left, or KR_NONE. */
static enum kr_status add(struct emme *e, const struct kr_write *write, kr_left *left)
{
	const struct kr_datatype *type = e->type[write->key.i];
	struct kr_effect all = {.how = KR_KEEP}, more = kr_told_addition(e->h, type, write);
	bool effect = left->i != KR_NONE && !is_told(e, *left);

	if (left->i != KR_NONE)
		KR_TRY(kr_emme_effect(e, write->key, *left, &all));
	KR_TRY(kr_compose(type, &e->elements.arena, &all, &more));
	if (!effect && e->effects.n >= KR_NONE - e->h->values.n)
		return KR_NOMEM;
	if (!effect)
		left->i = e->h->values.n + e->effects.n;
	else
		e->effects.at[left->i - e->h->values.n] = all;
	return effect || kr_vec_push(&e->ctx->mem, &e->effects, all) ? KR_OK : KR_NOMEM;
}

static enum kr_status write_one(struct emme *e, const struct kr_write *write, struct versions *of,
	uint32_t first)
{
	struct version *version = kr_emme_left(e, of, first, write->key);
	struct kr_state state;
	bool fits = true;

	if (!version) {
		e->slot[write->key.i] = of->n;
		KR_TRY(kr_vec_add(&e->ctx->mem, of, (struct version){write->key, {KR_NONE}}));
		version = &of->at[of->n - 1];
	}
	if (write->how == KR_ADD)
		return add(e, write, &version->left);
	version->left.i = write->value.i;
	KR_TRY(kr_told_state(&e->elements, e->type[write->key.i], write->value, &state, &fits));
	e->open |= !fits;
	return KR_OK;
}

enum kr_status kr_emme_write(struct emme *e, const struct kr_operation *op, struct versions *of,
	uint32_t first)
{
	uint32_t n = kr_write_count(e->h, op);
	struct kr_write write;

	for (uint32_t i = 0; i < n && kr_write_at(e->h, op, i, &write); i++)
		KR_TRY(write_one(e, &write, of, first));
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
		if (!e->effective[t.i])
			e->effective[t.i] = h->txns.at[t.i].status == KR_UNKNOWN;
	}
}

static enum kr_status collect(struct emme *e)
{
	const struct kr_history *h = e->h;

	(void)kr_vec_reserve(&e->ctx->mem, &e->versions, h->ops.n); /* else it grows */
	for (kr_txn t = {0}; t.i < h->txns.n; t.i++) {
		e->of_txn[t.i] = e->versions.n;
		for (uint32_t i = 0; e->effective[t.i] && i < h->txns.at[t.i].op_count; i++) {
			KR_TRY(kr_ctx_tick(e->ctx));
			KR_TRY(kr_emme_write(e, &h->ops.at[kr_history_op(h, t, i).i], &e->versions,
				e->of_txn[t.i]));
		}
	}
	e->of_txn[h->txns.n] = e->versions.n;
	e->lasting = e->effects.n;
	return KR_OK;
}

/* ---- their orders ---- */

uint32_t kr_emme_version(const struct emme *e, kr_txn t, kr_key k)
{
	uint32_t at;

	KR_BISECT(at, e->of_key[k.i], e->of_key[k.i + 1], e->by_writer[at] < e->of_txn[t.i]);
	return at < e->of_key[k.i + 1] && e->by_writer[at] < e->of_txn[t.i + 1] ? at : KR_NONE;
}

static void link_told(struct emme *e, const struct kr_version_order *order)
{
	uint32_t before = KR_NONE;

	for (uint32_t i = order->writer_first; i < order->writer_first + order->writer_count; i++) {
		kr_txn t = e->h->order_writers.at[i];
		uint32_t after = before + 1; /* mostly they wrote in this order */
		if (before == KR_NONE || after == e->of_key[order->key.i + 1] ||
			e->stands[after].writer.i != t.i)
			after = kr_emme_version(e, t, order->key);
		if (after == KR_NONE)
			continue;
		if (before != KR_NONE) {
			struct stand *a = &e->stands[before], *b = &e->stands[after];
			e->open |=
				(a->next != KR_NONE && a->next != after) || (b->follows && a->next != after);
			a->next = after;
			b->follows = true;
		}
		before = after;
	}
}

static void not_told(struct emme *e, kr_key k, kr_txn by)
{
	char key[48], writer[48];

	snprintf(e->out->reason, sizeof e->out->reason,
		"the version orders of the trace do not tell where the version of %s by %s stands",
		kr_history_brief(e->h, e->h->keys.at[k.i].name, key, sizeof key),
		kr_history_brief(e->h, e->h->txns.at[by.i].id, writer, sizeof writer));
	e->open = true;
}

/* Puts the versions of k where they are linked to. `moved` has room for them. */
static void chain_up(struct emme *e, kr_key k, struct stand *moved)
{
	uint32_t first = e->of_key[k.i], n = kr_emme_count(e, k), head = KR_NONE, place = 0;
	struct stand *stands = e->stands + first;

	memcpy(moved, stands, n * sizeof *moved);
	for (uint32_t i = first; i < first + n; i++)
		if (!moved[i - first].follows)
			head = i;
	for (uint32_t i = head; i != KR_NONE && place < n; i = moved[i - first].next) {
		stands[place] = (struct stand){moved[i - first].writer, moved[i - first].left, {0}, {0}};
		e->place[e->by_writer[i]] = ++place;
	}
	for (uint32_t i = 0; i < n && place < n; i++)
		if (e->place[e->by_writer[first + i]] == 0) {
			not_told(e, k, moved[i].writer);
			return;
		}
}

/* Makes the versions of k, in their order, states, and finds room for how they look. */
static enum kr_status make_states(struct emme *e, kr_key k)
{
	uint32_t first = e->of_key[k.i], n = kr_emme_count(e, k);
	struct kr_effect before, version;

	for (uint32_t i = first; i < first + n; i++) {
		kr_left left = e->stands[i].left;
		KR_TRY(kr_emme_effect(e, k, left, &version));
		if (!is_told(e, left)) {
			KR_TRY(kr_emme_effect(e, k, kr_emme_left_at(e, k, i - first), &before));
			KR_TRY(kr_apply(e->type[k.i], &e->elements.arena, &before.state, &version));
			version = (struct kr_effect){KR_SET, before.state};
			e->effects.at[left.i - e->h->values.n] = version;
		}
		uint32_t *looks = kr_emme_look(e, k, &version.state);
		e->stands[i].like = *looks;
		*looks = i - first + 1;
	}
	return KR_OK;
}

static enum kr_status order_key(struct emme *e, kr_key k, struct stand *moved)
{
	KR_TRY(kr_ctx_tick(e->ctx));
	chain_up(e, k, moved);
	if (e->open)
		return KR_OK;

	enum kr_status status = make_states(e, k);

	e->open |= status == KR_UNSUPPORTED; /* a counter beyond 64 bits */
	return status == KR_UNSUPPORTED ? KR_OK : status;
}

/* By key, in the order of transactions. *most: of one key. */
static void group_versions(struct emme *e, uint32_t *most)
{
	const struct kr_history *h = e->h;

	*most = 0;
	for (uint32_t v = 0; v < e->versions.n; v++)
		e->of_key[e->versions.at[v].key.i + 2]++;
	for (uint32_t k = 0; k < h->keys.n; k++)
		*most = e->of_key[k + 2] > *most ? e->of_key[k + 2] : *most;
	kr_index_places(e->of_key, h->keys.n);
	for (kr_txn t = {0}; t.i < h->txns.n; t.i++)
		for (uint32_t v = e->of_txn[t.i]; v < e->of_txn[t.i + 1]; v++) {
			uint32_t at = e->of_key[e->versions.at[v].key.i + 1]++;
			e->by_writer[at] = v;
			e->stands[at] = (struct stand){t, e->versions.at[v].left, {0}, {KR_NONE}};
		}
}

static enum kr_status order_versions(struct emme *e)
{
	const struct kr_history *h = e->h;
	uint32_t most;

	group_versions(e, &most);

	struct stand *moved = KR_NEW_ARRAY(&e->elements.arena, struct stand, most);

	if (!moved)
		return KR_NOMEM;
	for (uint32_t i = 0; i < h->version_orders.n; i++)
		link_told(e, &h->version_orders.at[i]);
	for (kr_key k = {0}; k.i < h->keys.n && !e->open; k.i++)
		KR_TRY(order_key(e, k, moved));
	return KR_OK;
}

enum kr_status kr_emme_versions(struct emme *e)
{
	struct kr_arena *arena = &e->elements.arena;

	mark_effective(e);
	KR_TRY(collect(e));

	uint32_t n = e->versions.n;

	e->by_writer = KR_NEW_ARRAY(arena, uint32_t, n);
	e->stands = KR_NEW_ARRAY(arena, struct stand, n);
	e->place = KR_NEW_ARRAY(arena, uint32_t, n);
	return e->by_writer && e->stands && e->place ? order_versions(e) : KR_NOMEM;
}
