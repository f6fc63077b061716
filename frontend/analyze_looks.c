/* Which keys ranges, scans and updates look at: those that something can bring into the result.
 *
 * Keys that nothing can bring into it are left out: any world would do, with the initial version as the
 * source. Ranges bisect the keys in their order; each distinct `where` collects, once, the keys that have a
 * version which it takes. Per distinct `where`, the versions. */
#include "frontend/analyze_work.h"
#include "frontend/model/datatype.h"

#include <string.h>

struct looking {
	const struct kr_work *w;
	const struct kr_writes *writes;
	struct kr_looks *out;
	/* intermediate writes of transactions that did not abort; those of k: [first[k], first[k + 1]) */
	KR_VEC(struct kr_row) passing;
	uint32_t *first;
	uint64_t *named;       /* bits, per key: some operation names a version of it */
	struct kr_table table; /* of wheres */
};

/* ---- what can be seen of a key ---- */

static enum kr_status take_passing(void *data, kr_txn t, struct kr_row write, bool last)
{
	struct looking *l = data;

	(void)t;
	return last || write.value.i == KR_ABSENT.i || kr_vec_push(l->w->mem, &l->passing, write) ? KR_OK
												  : KR_NOMEM;
}

/* Those of a key together, in the order in which they were found. */
static enum kr_status group_passing(struct looking *l)
{
	uint32_t *first = l->first = KR_NEW_ARRAY(l->w->scratch, uint32_t, l->writes->nkeys + 2);
	struct kr_row *found = KR_NEW_ARRAY(l->w->scratch, struct kr_row, l->passing.n);

	if (!first || !found)
		return KR_NOMEM;
	for (uint32_t i = 0; i < l->passing.n; i++) {
		found[i] = l->passing.at[i];
		first[found[i].key.i + 2]++;
	}
	kr_index_places(first, l->writes->nkeys);
	for (uint32_t i = 0; i < l->passing.n; i++)
		l->passing.at[first[found[i].key.i + 1]++] = found[i];
	return KR_OK;
}

/* Whether `where` (KR_NONE: any present value) takes this token of k. One that is not told it may. */
static bool takes(const struct looking *l, uint32_t where, kr_key k, kr_token token)
{
	if (token.i == KR_NONE || where == KR_NONE)
		return token.i != KR_TOKEN_ABSENT.i;
	return kr_analyze_fits(l->w, l->out, kr_test(KR_TEST_MATCH, where), k, token);
}

enum interest { UNTAKEN, PASSING, TAKEN };

static enum kr_status interest_in(const struct looking *l, uint32_t where, kr_key k, enum interest *out)
{
	const struct kr_asg_key *key = &l->writes->keys[k.i];

	*out = UNTAKEN;
	for (uint32_t v = key->first; v < key[1].first && *out == UNTAKEN; v++) {
		KR_TRY(kr_ctx_tick(l->w->ctx));
		if (takes(l, where, k, l->writes->token[v]))
			*out = TAKEN;
	}
	for (uint32_t i = l->first[k.i]; *out == UNTAKEN && i < l->first[k.i + 1]; i++) {
		KR_TRY(kr_ctx_tick(l->w->ctx));
		if (takes(l, where, k, kr_token_of(l->passing.at[i].value)))
			*out = PASSING;
	}
	if (*out == UNTAKEN && kr_bits_get(l->named, k.i))
		*out = PASSING;
	return KR_OK;
}

/* ---- ranges ---- */

static enum kr_status order_keys(struct looking *l)
{
	kr_key *keys;

	KR_TRY(kr_arena_new(l->w->scratch, l->out->by_name, l->writes->nkeys));
	KR_TRY(kr_keys_by_name(l->w->h, l->w->scratch, &keys));
	for (uint32_t i = 0; i < l->writes->nkeys; i++) {
		enum interest interest = TAKEN;

		if (!kr_analyze_grows(l->writes, keys[i]))
			KR_TRY(interest_in(l, KR_NONE, keys[i], &interest));
		if (interest != UNTAKEN)
			l->out->by_name[l->out->names++] = (struct kr_looked){keys[i], interest == PASSING};
	}
	return KR_OK;
}

/* ---- conditions ---- */

static uint64_t hash_where(const struct kr_history *h, const struct kr_scan *scan)
{
	uint64_t hash = scan->cond_count;

	for (uint32_t i = scan->cond_first; i < scan->cond_first + scan->cond_count; i++) {
		const struct kr_cond *cond = &h->conds.at[i];

		hash = kr_hash_pair(kr_hash_pair(hash, (uint64_t)cond->target << 8 | cond->test),
			kr_hash_pair(cond->field.i, cond->value.i));
	}
	return hash;
}

static bool same_where(const struct kr_history *h, const struct kr_scan *a, const struct kr_scan *b)
{
	for (uint32_t i = 0; i < a->cond_count && a->cond_count == b->cond_count; i++) {
		const struct kr_cond *x = &h->conds.at[a->cond_first + i],
				     *y = &h->conds.at[b->cond_first + i];

		if (x->target != y->target || x->test != y->test || x->value.i != y->value.i ||
			(x->target == KR_COND_FIELD && x->field.i != y->field.i))
			return false;
	}
	return a->cond_count == b->cond_count;
}

/* Whether growing key k is taken when it is present. It can be told where the conditions ask for the name
 * only, or, of lists and sets, not for their elements. */
static bool takes_growing(const struct kr_history *h, const struct kr_scan *scan, kr_key k, bool *unsure)
{
	struct kr_operand any = {.type = KR_VALUE_ARRAY, .text = {"[]", 2}};

	if (!kr_where_of_values(h, scan))
		return true;
	if (kr_datatype_of(h->keys.at[k.i].kind)->shown == KR_VALUE_INT || kr_where_of_elements(h, scan)) {
		*unsure = true;
		return false;
	}
	return kr_where_holds_of(h, scan, k, &any);
}

/* The keys that have a version which the conditions take. */
static enum kr_status look_up(struct looking *l, uint32_t where)
{
	struct kr_looks *out = l->out;
	const struct kr_scan *scan = &l->w->h->scans.at[out->wheres.at[where].scan];

	out->wheres.at[where].first = out->looked.n;
	for (kr_key k = {0}; k.i < l->writes->nkeys; k.i++) {
		enum interest interest = UNTAKEN;

		KR_TRY(kr_ctx_tick(l->w->ctx));
		if (!kr_where_has_prefix(l->w->h, scan, k))
			continue;
		if (!kr_analyze_grows(l->writes, k))
			KR_TRY(interest_in(l, where, k, &interest));
		else if (takes_growing(l->w->h, scan, k, &out->wheres.at[where].unsure))
			interest = TAKEN;
		if (interest != UNTAKEN &&
			!kr_vec_push(l->w->mem, &out->looked, (struct kr_looked){k, interest == PASSING}))
			return KR_NOMEM;
	}
	out->wheres.at[where].count = out->looked.n - out->wheres.at[where].first;
	return KR_OK;
}

static enum kr_status find_where(struct looking *l, uint32_t scan)
{
	const struct kr_scan *scans = l->w->h->scans.at;
	uint64_t hash = hash_where(l->w->h, &scans[scan]);
	uint32_t *id = &l->out->where_of[scan];

	KR_TABLE_FIND(*id, &l->table, hash,
		same_where(l->w->h, &scans[l->out->wheres.at[*id].scan], &scans[scan]));
	if (*id != KR_NONE)
		return KR_OK;
	*id = l->out->wheres.n;
	if (!kr_table_push(l->w->mem, &l->table, hash, &l->out->wheres, (struct kr_where){.scan = scan}))
		return KR_NOMEM;
	return look_up(l, *id);
}

/* ---- all of them ---- */

static enum kr_status look_at_all(struct looking *l)
{
	const struct kr_work *w = l->w;
	const struct kr_history *h = w->h;

	KR_TRY(kr_arena_new(w->scratch, l->out->where_of, h->scans.n));
	KR_TRY(kr_arena_new(w->scratch, l->named, KR_BITS_WORDS(h->keys.n)));
	for (uint32_t i = 0; i < h->seen.n; i++)
		kr_bits_set(l->named, h->seen.at[i].key.i);
	KR_TRY(kr_analyze_each_write(w, l->writes, false, take_passing, l));
	KR_TRY(group_passing(l));
	for (uint32_t t = 0; t < h->txns.n; t++) {
		const struct kr_transaction *txn = &h->txns.at[t];

		for (uint32_t i = txn->op_first;
			i < txn->op_first + txn->op_count && txn->status != KR_ABORTED; i++) {
			const struct kr_operation *op = &h->ops.at[i];

			KR_TRY(kr_ctx_tick(w->ctx));
			if (op->kind == KR_OP_RANGE && !l->out->by_name)
				KR_TRY(order_keys(l));
			else if (kr_op_scans(op) && op->kind != KR_OP_RANGE)
				KR_TRY(find_where(l, op->scan));
		}
	}
	return KR_OK;
}

enum kr_status kr_analyze_looks(const struct kr_work *w, const struct kr_writes *writes, struct kr_looks *out)
{
	struct looking l = {.w = w, .writes = writes, .out = out};
	enum kr_status status = w->h->scans.n == 0 ? KR_OK : look_at_all(&l);

	kr_vec_done(w->mem, &l.passing);
	kr_table_done(w->mem, &l.table);
	return status;
}

void kr_looks_done(struct kr_mem *mem, struct kr_looks *looks)
{
	kr_vec_done(mem, &looks->wheres);
	kr_vec_done(mem, &looks->looked);
}
