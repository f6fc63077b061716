/* Timestamps: commits are points, so that the versions of a key stand in one order, and each is gone when the
 * next one is there. What kr_written_gone says by comparing all with all is found here by sorting; what a
 * reader can see, by bisection. */
#include "base/order.h"
#include "mechanisms/batch.h"

struct standing {
	const struct kr_written *v;
	uint32_t at;
};

static int by_commit(const void *a, const void *b)
{
	const struct standing *x = a, *y = b;
	const struct kr_stand *s = &x->v->by, *t = &y->v->by;

	return kr_then(KR_ORDER(t->committed, s->committed),
		kr_then(KR_ORDER(s->commit.from, t->commit.from), KR_ORDER(x->at, y->at)));
}

/* Versions order[0] to order[n - 1] are the key's, in that order; committed ones come first. */
static void find_windows(struct kr_batch *b, const struct standing *order, uint32_t n)
{
	uint32_t committed = 0, next = 0;

	while (committed < n && order[committed].v->by.committed)
		committed++;
	for (uint32_t i = 0; i < n; i++) {
		struct kr_written *v = &b->versions.at[order[i].at];
		while (i < committed && next < committed &&
			order[next].v->by.commit.from <= v->by.commit.from)
			next++;
		bool replaced = i < committed && next < committed;
		v->over = replaced ? order[next].v->by.txn : (kr_txn){KR_NONE};
		v->gone = kr_written_is_gone(b, v) ? INT64_MIN
			: replaced                 ? order[next].v->by.commit.to
						   : INT64_MAX;
		v->gone_next = replaced && next + 1 < committed ? order[next + 1].v->by.commit.to : INT64_MAX;
	}
}

enum kr_status kr_batch_commits(struct kr_batch *b)
{
	struct standing *order = kr_mem_alloc(b->mem, b->versions.n, sizeof *order);
	bool good = order && kr_vec_reserve(b->mem, &b->by_commit, b->versions.n);

	for (uint32_t i = 0; i < b->versions.n && good; i++)
		order[i] = (struct standing){&b->versions.at[i], i};
	for (uint32_t k = 0; k < b->h->keys.n && good; k++) {
		uint32_t first = b->version_first.at[k], n = b->version_first.at[k + 1] - first;
		KR_SORT(order + first, n, by_commit);
		find_windows(b, order + first, n);
	}
	for (uint32_t i = 0; i < b->versions.n && good; i++)
		b->by_commit.at[b->by_commit.n++] = order[i].at;
	kr_mem_free(b->mem, order, b->versions.n, sizeof *order);
	return good ? kr_ctx_check(b->ctx) : KR_NOMEM;
}

static const struct kr_written *at_place(const struct kr_batch *b, uint32_t place)
{
	return &b->versions.at[b->by_commit.at[place]];
}

/* The first place in [low, high) whose version was committed after `at`, or is of unknown outcome. */
static uint32_t after(const struct kr_batch *b, uint32_t low, uint32_t high, int64_t at)
{
	KR_BISECT(low, low, high, at_place(b, low)->by.committed && at_place(b, low)->by.commit.from <= at);
	return low;
}

/* Whatever was committed before the last one that was there when the span begins is gone by then. */
uint32_t kr_batch_candidates(const struct kr_batch *b, kr_txn reader, kr_key key, struct kr_span at,
	uint32_t *first, uint32_t *unknown)
{
	uint32_t low = b->version_first.at[key.i], high = b->version_first.at[key.i + 1],
		 from = after(b, low, high, at.from);

	*unknown = after(b, low, high, INT64_MAX);
	while (from > low && at_place(b, from - 1)->by.txn.i == reader.i)
		from--;
	if (from > low) {
		int64_t newest = at_place(b, from - 1)->by.commit.from;
		while (from > low && at_place(b, from - 1)->by.commit.from == newest)
			from--;
	}
	*first = from;
	return after(b, low, high, at.to);
}
