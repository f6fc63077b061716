/* The pairs of a schedule (pops.h), by looking at every two operations on one object: quadratic in a
 * schedule, which is short.
 *
 * Operations on ranges are reads, and writes, of each object of the range. A pair of an operation with one of
 * a transaction that aborts is none if the first was undone before, and neither if the second belongs to the
 * one that aborts. */
#include "coo/pops.h"

#include <string.h>

static const char *const kind_names[KR_POP_KINDS] = {"WR", "RW", "WW", "WCR", "RCW", "WCW", "RA", "WA", "WC"};

const char *kr_pop_kind_name(enum kr_pop_kind kind) { return kind_names[kind]; }

struct access {
	uint32_t at;
	uint8_t txn;
	char object;
	bool writes;
};

struct pairing {
	struct kr_mem *mem;
	const struct kr_coo_schedule *s;
	struct kr_pops *out;
	KR_VEC(struct access) accesses;
	uint32_t end[KR_COO_TXNS + 1]; /* place of its commit or abort, or KR_NONE */
	bool aborts[KR_COO_TXNS + 1];
};

static bool add(struct pairing *x, uint32_t at, char object, bool writes)
{
	return kr_vec_push(x->mem, &x->accesses, (struct access){at, x->s->ops.at[at].txn, object, writes});
}

/* What an operation reads and writes, from `first` on in x->accesses. */
static enum kr_status take_accesses(struct pairing *x, uint32_t at)
{
	const struct kr_coo_op *op = &x->s->ops.at[at];
	char objects[2];
	bool good = true;

	switch ((enum kr_coo_kind)op->kind) {
	case KR_COO_COMMIT:
	case KR_COO_ABORT: break;
	case KR_COO_QUERY:
	case KR_COO_UPDATE:
		kr_coo_range(op->object, objects);
		good = add(x, at, objects[0], false) && add(x, at, objects[1], false);
		if (good && op->kind == KR_COO_UPDATE)
			good = add(x, at, objects[0], true) && add(x, at, objects[1], true);
		break;
	default: good = add(x, at, op->object, op->kind != KR_COO_READ && op->kind != KR_COO_LOCK_READ);
	}
	return good ? KR_OK : KR_NOMEM;
}

static enum kr_status push(struct pairing *x, uint8_t from, uint8_t to, enum kr_pop_kind kind,
	const struct access *p, const struct access *q, uint32_t at)
{
	struct kr_pop pop = {from, to, (uint8_t)kind, p->object, p->at, q->at, at};

	return kr_vec_add(x->mem, x->out, pop);
}

/* Pairs whose second operation q is. */
static enum kr_status pair_access(struct pairing *x, const struct access *q)
{
	for (uint32_t i = 0; i < x->accesses.n && !x->aborts[q->txn]; i++) {
		const struct access *p = &x->accesses.at[i];
		bool ended = x->end[p->txn] != KR_NONE && x->end[p->txn] < q->at;

		if (p->at >= q->at || p->txn == q->txn || p->object != q->object ||
			(!p->writes && !q->writes) || (ended && x->aborts[p->txn]))
			continue;
		enum kr_pop_kind kind = !p->writes ? KR_POP_RW : q->writes ? KR_POP_WW : KR_POP_WR;
		if (ended)
			kind = kind == KR_POP_RW ? KR_POP_RCW : kind == KR_POP_WW ? KR_POP_WCW : KR_POP_WCR;
		KR_TRY(push(x, p->txn, q->txn, kind, p, q, q->at));
	}
	return KR_OK;
}

/* Pairs that the end of its transaction completes. */
static enum kr_status pair_end(struct pairing *x, uint32_t at)
{
	uint8_t t = x->s->ops.at[at].txn;
	bool aborts = x->aborts[t];

	for (uint32_t i = 0; i < x->accesses.n; i++) {
		const struct access *p = &x->accesses.at[i];
		for (uint32_t k = i + 1; k < x->accesses.n && p->txn == t && p->writes; k++) {
			const struct access *q = &x->accesses.at[k];
			if (q->at <= p->at || q->at > at || q->txn == t || q->object != p->object ||
				x->aborts[q->txn] || (!aborts && !q->writes))
				continue;
			KR_TRY(push(x, q->txn, t,
				!aborts             ? KR_POP_WC
					: q->writes ? KR_POP_WA
						    : KR_POP_RA,
				p, q, at));
		}
	}
	return KR_OK;
}

static enum kr_status pair_all(struct pairing *x)
{
	memset(x->end, 0xff, sizeof x->end);
	for (uint32_t i = 0; i < x->s->ops.n; i++) {
		const struct kr_coo_op *op = &x->s->ops.at[i];
		if (op->kind == KR_COO_COMMIT || op->kind == KR_COO_ABORT) {
			x->end[op->txn] = i;
			x->aborts[op->txn] = op->kind == KR_COO_ABORT;
		}
		KR_TRY(take_accesses(x, i));
	}
	for (uint32_t i = 0, a = 0; i < x->s->ops.n; i++) {
		for (; a < x->accesses.n && x->accesses.at[a].at == i; a++)
			KR_TRY(pair_access(x, &x->accesses.at[a]));
		if (x->end[x->s->ops.at[i].txn] == i)
			KR_TRY(pair_end(x, i));
	}
	return KR_OK;
}

enum kr_status kr_coo_pops(struct kr_mem *mem, const struct kr_coo_schedule *s, struct kr_pops *out)
{
	struct pairing x = {.mem = mem, .s = s, .out = out};

	*out = (struct kr_pops){0};

	enum kr_status status = pair_all(&x);

	kr_vec_done(mem, &x.accesses);
	return status;
}
