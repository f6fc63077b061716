/* The order of versions that is certain, as pairs: what a trace can be told with, so that levels are decided
 * under it. The next layer only: the rest follows. A read that saw v puts before v what had certainly
 * committed before its snapshot, and behind v what committed after it. */
#include "mechanisms/told.h"

struct ordering {
	struct kr_batch *b;
	struct kr_told_orders *out;
};

static bool is_told(const struct kr_written *v)
{
	return v->by.txn.i != KR_NONE && v->by.committed && !v->shadow;
}

static bool add(const struct ordering *o, const struct kr_written *v, const struct kr_written *u,
	kr_txn reader)
{
	struct kr_told_order order = {v->key, v->by.txn, u->by.txn, reader};

	if (v == u || !is_told(v) || !is_told(u))
		return true;
	for (uint32_t i = 0; i < o->out->n; i++)
		if (o->out->at[i].key.i == v->key.i && o->out->at[i].before.i == v->by.txn.i &&
			o->out->at[i].after.i == u->by.txn.i)
			return true;
	return kr_vec_push(o->b->mem, o->out, order);
}

static bool add_certain(const struct ordering *o, const struct kr_written *v)
{
	const struct kr_batch *b = o->b;

	for (uint32_t i = b->version_first.at[v->key.i]; i < b->version_first.at[v->key.i + 1]; i++) {
		const struct kr_written *u = &b->versions.at[i];
		if (kr_stand_precedes(b, &v->by, &u->by) && u->by.commit.from <= v->gone &&
			!add(o, v, u, (kr_txn){KR_NONE}))
			return false;
	}
	return true;
}

static bool add_read(const struct ordering *o, const struct kr_look *look)
{
	const struct kr_batch *b = o->b;

	if (!look->fits || look->own || look->loose || look->only == KR_NONE)
		return true;
	for (uint32_t i = b->version_first.at[look->key.i]; i < b->version_first.at[look->key.i + 1]; i++) {
		const struct kr_written *v = &b->versions.at[look->only], *u = &b->versions.at[i];
		if (u->by.txn.i == look->txn.i)
			continue;
		if ((kr_span_before(look->at, u->by.commit) && !add(o, v, u, look->txn)) ||
			(kr_span_before(u->by.commit, look->at) && !add(o, u, v, look->txn)))
			return false;
	}
	return true;
}

enum kr_status kr_batch_told(struct kr_batch *b, struct kr_told_orders *out)
{
	struct ordering o = {b, out};

	for (uint32_t i = 0; i < b->versions.n; i++)
		if (!add_certain(&o, &b->versions.at[i]))
			return KR_NOMEM;
	for (uint32_t i = 0; i < b->looks.n; i++)
		if (!add_read(&o, &b->looks.at[i]))
			return KR_NOMEM;
	return kr_ctx_check(b->ctx);
}
