/* Edges of one key that a whole order does not keep to (repair.h): ww between neighbours, rw to the version
 * that overwrites what was seen; wr are kept, or what was seen is open, and then it is the newest version in
 * front. The edges left out follow from those. O(versions log versions + observations of the key). */
#include "backend/repair_state.h"
#include "base/order.h"

static enum kr_status want(struct kr_repair *r, struct kr_wanted wanted, kr_txn from)
{
	wanted.place = r->order.place[kr_ir_out(r->ir, KR_WW, from).i];
	return kr_vec_add(&r->ir->ctx->mem, &r->wanted, wanted);
}

static enum kr_status want_order(struct kr_repair *r, kr_version a, kr_version b)
{
	return want(r, (struct kr_wanted){.before = a, .after = b, .source = {KR_NONE}},
		kr_repair_writer(r, b));
}

static enum kr_status want_source(struct kr_repair *r, uint32_t o)
{
	return want(r, (struct kr_wanted){.source = {o}}, r->asg->obs[o].txn);
}

KR_BY(by_place, struct kr_repair_place, place);

uint32_t kr_repair_sort(struct kr_repair *r, uint32_t k)
{
	uint32_t n = 0;
	for (uint32_t v = r->asg->keys[k].first + 1; v < r->asg->keys[k + 1].first; v++)
		if (kr_repair_active(r, kr_repair_writer(r, (kr_version){v})))
			r->sorted[n++] =
				(struct kr_repair_place){kr_repair_write_place(r, (kr_version){v}), v};
	KR_SORT(r->sorted, n, by_place);
	return n;
}

/* The rw of an observation that saw v, to the first version from `next` on that overwrites it. */
static enum kr_status look_at_read(struct kr_repair *r, uint32_t o, kr_version v, uint32_t next, uint32_t n)
{
	kr_version chosen = r->source[o], b = {KR_NONE};
	enum kr_status status = KR_OK;
	for (uint32_t i = next; i < n && b.i == KR_NONE; i++) {
		kr_version x = {r->sorted[i].version};
		if (kr_repair_writer(r, x).i == r->asg->obs[o].txn.i)
			return KR_OK; /* ww goes on from there */
		if (kr_repair_overwrites(r, o, x))
			b = x;
	}
	r->source[o] = v;
	struct kr_link link = b.i == KR_NONE ? (struct kr_link){0} : kr_repair_rw(r, o, b);
	r->source[o] = chosen;
	if (b.i == KR_NONE || kr_topology_keeps(&r->order, &link))
		return KR_OK;
	if (chosen.i == KR_NONE)
		status = want_source(r, o);
	else if (!kr_asg_is_initial(r->asg, v))
		status = want_order(r, v, b);
	else
		status = want(r, (struct kr_wanted){.before = {KR_NONE}, .source = {KR_NONE}, .base = link},
			link.from);
	return status;
}

static enum kr_status look_at_readers(struct kr_repair *r, kr_version v, uint32_t next, uint32_t n)
{
	for (uint32_t o = r->reader_head[v.i]; o != KR_NONE; o = r->reader_next[o])
		KR_TRY(look_at_read(r, o, v, next, n));
	return KR_OK;
}

uint32_t kr_repair_visible(const struct kr_repair *r, uint32_t o, uint32_t n)
{
	uint32_t at;
	struct kr_link wr = {.kind = KR_WR, .to = r->asg->obs[o].txn};
	KR_BISECT(at, 0, n,
		(wr.from = kr_repair_writer(r, (kr_version){r->sorted[at].version}), wr.from.i != wr.to.i) &&
			kr_topology_keeps(&r->order, &wr));
	return at;
}

/* What an observation sees whose source is no variable yet. */
static enum kr_status look_at_open(struct kr_repair *r, uint32_t k, uint32_t o, uint32_t n)
{
	uint32_t at = kr_repair_visible(r, o, n);
	kr_version v = at ? (kr_version){r->sorted[at - 1].version} : kr_asg_initial(r->asg, (kr_key){k});
	if (!kr_asg_in_set(r->asg, r->asg->obs[o].set, v))
		return want_source(r, o);
	return look_at_read(r, o, v, at, n);
}

enum kr_status kr_repair_look(struct kr_repair *r, uint32_t k)
{
	uint32_t n = kr_repair_sort(r, k);
	KR_TRY(look_at_readers(r, kr_asg_initial(r->asg, (kr_key){k}), 0, n));
	for (uint32_t i = 0; i < n; i++) {
		kr_version v = {r->sorted[i].version};
		if (i + 1 < n && kr_level_orders(r->ir->level, KR_WW)) {
			struct kr_link link = kr_repair_ww(r, v, (kr_version){r->sorted[i + 1].version});
			if (!kr_topology_keeps(&r->order, &link))
				KR_TRY(want_order(r, v, (kr_version){r->sorted[i + 1].version}));
		}
		KR_TRY(look_at_readers(r, v, i + 1, n));
		KR_TRY(kr_ctx_tick(r->ir->ctx));
	}
	for (uint32_t i = r->open_first[k]; i < r->open_first[k + 1]; i++)
		if (r->source[r->open_obs[i]].i == KR_NONE)
			KR_TRY(look_at_open(r, k, r->open_obs[i], n));
	return KR_OK;
}
