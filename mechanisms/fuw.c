/* First updater wins: of two committed transactions that wrote a row, the later one's snapshot has seen the
 * other. Wrong iff neither can have been before the other's snapshot. Blind writers have no snapshot, and
 * break no rule. */
#include "mechanisms/mechanism.h"

#include "base/order.h"

static bool applies(const struct kr_batch *b) { return b->profile->fuw; }

/* u is certainly not before t's snapshot. */
static bool missed(const struct kr_batch *b, const struct kr_writer *u, const struct kr_writer *t)
{
	const struct kr_party *p = &b->txns.at[t->by.txn.i];

	return p->has_snapshot && kr_span_before(p->snapshot, u->by.commit);
}

static bool concur(const struct kr_batch *b, const struct kr_writer *t, const struct kr_writer *u)
{
	return missed(b, u, t) && (kr_stand_precedes(b, &u->by, &t->by) || missed(b, t, u));
}

static bool is_exempt(const struct kr_batch *b, const struct kr_writer *t, const struct kr_writer *u)
{
	bool last = kr_stand_precedes(b, &u->by, &t->by), first = kr_stand_precedes(b, &t->by, &u->by);

	return (!first && kr_writer_makes_new_row(b, t)) || (!last && kr_writer_makes_new_row(b, u));
}

static enum kr_status report(struct kr_batch *b, const struct kr_writer *t, const struct kr_writer *u)
{
	struct kr_finding *f = kr_batch_report(b, KR_MECH_FUW, KR_FOUND_CONCURRENT_WRITERS);

	if (!f)
		return KR_NOMEM;
	f->txns[0] = t->by.txn;
	f->txns[1] = u->by.txn;
	f->ops[0] = t->op;
	f->ops[1] = u->op;
	f->key = t->key;
	f->snapshot = b->txns.at[t->by.txn.i].snapshot;
	return KR_OK;
}

/* ---- timestamps: by sorting ---- */

struct pair {
	uint32_t later, earlier;
}; /* numbers of writers */
KR_VEC_NAMED(pairs, struct pair);

struct committed {
	const struct kr_writer *writer;
	int64_t at;
	uint32_t number;
};

static int by_commit(const void *a, const void *b)
{
	const struct committed *x = a, *y = b;

	return kr_then(KR_ORDER(x->writer->object, y->writer->object),
		kr_then(KR_ORDER(x->at, y->at), KR_ORDER(x->number, y->number)));
}

KR_BY_BOTH(by_number, struct pair, later, earlier);

/* Whoever overlaps t and committed before it did so after t's snapshot. */
static bool pair_up(struct kr_batch *b, const struct committed *list, uint32_t n, struct pairs *pairs)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct kr_writer *t = list[i].writer;
		for (uint32_t j = i; j-- > 0 && list[j].writer->object == t->object &&
			b->txns.at[t->by.txn.i].snapshot.to < list[j].at;) {
			const struct kr_writer *u = list[j].writer;
			struct pair pair = {list[i].number, list[j].number};
			if (!is_exempt(b, t, u) && concur(b, t, u) && !kr_vec_push(b->mem, pairs, pair))
				return false;
		}
	}
	return true;
}

/* The one that committed later is told first, whatever the order of the lines. */
static enum kr_status find_stamped(struct kr_batch *b)
{
	struct committed *list = kr_mem_alloc(b->mem, b->writers.n, sizeof *list);
	struct pairs pairs = {0};
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->writers.n && list; i++)
		if (b->writers.at[i].by.committed && b->writers.at[i].real)
			list[n++] = (struct committed){&b->writers.at[i], b->writers.at[i].by.commit.from, i};
	KR_SORT(list, n, by_commit);
	enum kr_status status = list && pair_up(b, list, n, &pairs) ? KR_OK : KR_NOMEM;
	KR_SORT(pairs.at, pairs.n, by_number);
	for (uint32_t i = 0; i < pairs.n && !status; i++)
		status = report(b, &b->writers.at[pairs.at[i].later], &b->writers.at[pairs.at[i].earlier]);
	kr_vec_done(b->mem, &pairs);
	kr_mem_free(b->mem, list, b->writers.n, sizeof *list);
	return status ? status : kr_ctx_check(b->ctx);
}

/* ---- clients' times ---- */

/* Only who committed after this can come after t, or have been missed by its snapshot. */
static int64_t bound_of(const struct kr_batch *b, const struct kr_writer *t)
{
	const struct kr_party *p = &b->txns.at[t->by.txn.i];
	int64_t bound = t->by.commit.to < t->by.lock.to ? t->by.commit.to : t->by.lock.to;

	return p->has_snapshot && p->snapshot.to < bound ? p->snapshot.to : bound;
}

static enum kr_status compare(struct kr_batch *b, const struct kr_writer *t, const struct kr_writer *u)
{
	bool first = concur(b, t, u);

	if (!u->by.committed || !u->real || !(first || concur(b, u, t)) || is_exempt(b, t, u))
		return KR_OK;
	return first ? report(b, t, u) : report(b, u, t);
}

static enum kr_status find_all(struct kr_batch *b)
{
	const struct kr_grouped *of = &b->writers_of;
	int64_t *commits = kr_mem_alloc(b->mem, of->at.n, sizeof *commits);
	enum kr_status status = commits ? KR_OK : KR_NOMEM;

	for (uint32_t i = 0; i < of->at.n && !status; i++)
		commits[i] = b->writers.at[of->at.at[i]].by.commit.from;
	if (!status)
		kr_group_most(of, commits);
	for (uint32_t i = 0; i < b->writers.n && !status; i++) {
		const struct kr_writer *t = &b->writers.at[i];
		uint32_t j = kr_first_above(commits, of->first.at[t->object], of->first.at[t->object + 1],
			bound_of(b, t));
		for (; j < of->first.at[t->object + 1] && of->at.at[j] < i && !status && t->by.committed &&
			t->real;
			j++)
			status = compare(b, t, &b->writers.at[of->at.at[j]]);
		if (!status)
			status = kr_ctx_tick(b->ctx);
	}
	kr_mem_free(b->mem, commits, of->at.n, sizeof *commits);
	return status;
}

static enum kr_status find(struct kr_batch *b)
{
	return b->profile->clock == KR_CLOCK_STAMPS ? find_stamped(b) : find_all(b);
}

const struct kr_mechanism kr_mechanism_fuw = {
	.name = "fuw",
	.title = "first updater wins: nobody writes a row that changed since its snapshot",
	.source = "Li et al., Leopard, ICDE 2023; timestamps: Chronos, ICDE 2025",
	.applies = applies,
	.find = find,
};
