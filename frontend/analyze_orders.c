/* Known orders of versions: pairs of neighbours in the lists that the trace gives, among the versions that
 * there are.
 *
 * A transaction that took no effect has no version, but lists may meet in it: what one has before it comes
 * before what another has after it. So behind each version that such a transaction follows, a search goes
 * from list to list through those that took no effect, to the next versions. Right because the lists' order
 * is closed under transitivity (the reader has seen to it that they agree); then pairs among the versions
 * left have the same closure. Linear where all writers took effect; else a search per version that is
 * followed by one that did not. */
#include "frontend/analyze_work.h"

struct missing { /* a writer without a version, in the lists of one key */
	kr_key key;
	kr_txn writer;
	uint32_t place;    /* into h->order_writers: where a list names it, the others through next_place */
	uint32_t searched; /* by which search it was met last */
};

struct orders {
	const struct kr_work *w;
	struct kr_asg *asg;
	KR_VEC(struct missing) missing;
	struct kr_table table;  /* (key, writer) -> missing */
	uint32_t *next_place;   /* per place: the next one that names the same missing writer, or KR_NONE */
	uint32_t *end;          /* per place: where its list ends */
	KR_VEC(uint32_t) stack; /* missing writers met in the search at hand */
	struct kr_analyze_pairs pairs;
	uint32_t searches;
};

static uint32_t find(const struct orders *o, kr_key key, kr_txn writer)
{
	uint32_t id;

	KR_TABLE_FIND(id, &o->table, kr_hash_pair(key.i, writer.i),
		o->missing.at[id].key.i == key.i && o->missing.at[id].writer.i == writer.i);
	return id;
}

/* Notes that the list place `place` of `key` names a writer without a version. */
static enum kr_status add_missing(struct orders *o, kr_key key, uint32_t place)
{
	kr_txn writer = o->w->h->order_writers.at[place];
	uint32_t id = find(o, key, writer);

	if (id == KR_NONE) {
		id = o->missing.n;
		if (!kr_table_push(o->w->mem, &o->table, kr_hash_pair(key.i, writer.i), &o->missing,
			    (struct missing){key, writer, KR_NONE, 0}))
			return KR_NOMEM;
	}
	o->next_place[place] = o->missing.at[id].place;
	o->missing.at[id].place = place;
	return KR_OK;
}

static kr_version version_at(const struct orders *o, kr_key key, uint32_t place)
{
	return kr_asg_version_of(o->asg, o->w->h->order_writers.at[place], key);
}

/* What a list names at `place`, after `from`: a version makes a pair, a missing writer is to be searched. */
static enum kr_status step(struct orders *o, kr_version from, kr_key key, uint32_t place)
{
	struct kr_mem *mem = o->w->mem;
	kr_version to = version_at(o, key, place);

	if (to.i != KR_NONE)
		return kr_vec_add(mem, &o->pairs, (struct kr_asg_order){from, to, {KR_NONE}});

	uint32_t id = find(o, key, o->w->h->order_writers.at[place]);

	if (o->missing.at[id].searched == o->searches)
		return KR_OK;
	o->missing.at[id].searched = o->searches;
	return kr_vec_add(mem, &o->stack, id);
}

/* The pairs of the version at `place` with the next ones. */
static enum kr_status pair_up(struct orders *o, kr_key key, uint32_t place)
{
	kr_version from = version_at(o, key, place);

	if (from.i == KR_NONE || place + 1 == o->end[place])
		return KR_OK;
	o->searches++;
	KR_TRY(step(o, from, key, place + 1));
	while (o->stack.n > 0) {
		uint32_t id = kr_vec_pop(&o->stack);
		for (uint32_t p = o->missing.at[id].place; p != KR_NONE; p = o->next_place[p]) {
			KR_TRY(kr_ctx_tick(o->w->ctx));
			if (p + 1 < o->end[p])
				KR_TRY(step(o, from, key, p + 1));
		}
	}
	return KR_OK;
}

/* For each place of a list: notes whom it misses, or makes pairs. */
static enum kr_status each_place(struct orders *o, bool pairs)
{
	const struct kr_history *h = o->w->h;

	for (uint32_t i = 0; i < h->version_orders.n; i++) {
		const struct kr_version_order *list = &h->version_orders.at[i];
		uint32_t end = list->writer_first + list->writer_count;

		for (uint32_t place = list->writer_first; place < end; place++) {
			KR_TRY(kr_ctx_tick(o->w->ctx));
			o->end[place] = end;
			if (pairs)
				KR_TRY(pair_up(o, list->key, place));
			else if (version_at(o, list->key, place).i == KR_NONE)
				KR_TRY(add_missing(o, list->key, place));
		}
	}
	return KR_OK;
}

static enum kr_status take(struct orders *o)
{
	struct kr_asg *asg = o->asg;
	uint32_t places = o->w->h->order_writers.n;

	KR_TRY(kr_arena_new(o->w->scratch, o->next_place, places));
	KR_TRY(kr_arena_new(o->w->scratch, o->end, places));
	asg->norders_seen = o->pairs.n;
	KR_TRY(each_place(o, false));
	KR_TRY(each_place(o, true));
	KR_TRY(kr_arena_new(o->w->arena, asg->orders, o->pairs.n));
	for (uint32_t i = 0; i < o->pairs.n; i++)
		asg->orders[i] = o->pairs.at[i];
	asg->norders = o->pairs.n;
	return KR_OK;
}

enum kr_status kr_analyze_orders(const struct kr_work *w, const struct kr_growing *growing, bool any_anomaly,
	struct kr_asg *asg)
{
	struct orders o = {.w = w, .asg = asg};
	enum kr_status status = growing ? kr_analyze_grow_orders(growing, any_anomaly, asg, &o.pairs) : KR_OK;

	if (!status)
		status = take(&o);
	kr_vec_done(w->mem, &o.missing);
	kr_vec_done(w->mem, &o.stack);
	kr_vec_done(w->mem, &o.pairs);
	kr_table_done(w->mem, &o.table);
	return status;
}
