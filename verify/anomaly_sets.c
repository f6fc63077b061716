/* Result-set mismatch: a predicate read returned a row that none of its kind can have, whatever was there:
 * out of its bounds, beyond its limit, out of order, twice, absent, or failing the conditions. Or it names
 * the versions over which it was evaluated and returned other rows than its conditions pick from them. One
 * version is enough: one that meets the conditions and was not returned with its value, or one that does not
 * and was. Own writes are laid over the versions, so a key that the transaction had written itself proves
 * nothing there. Cost: linear in the rows and the transactions at hand. Does not judge named versions of keys
 * that grow. */
#include "verify/claim.h"

static const struct kr_seen *named_version(const struct kr_claim *c)
{
	const struct kr_history *h = c->v->h;
	const struct kr_attr *attr = kr_history_attr(h, kr_history_op(h, c->txn, c->op));

	for (uint32_t i = 0; attr && i < attr->seen_count; i++)
		if (h->seen.at[attr->seen_first + i].key.i == c->key.i)
			return &h->seen.at[attr->seen_first + i];
	return NULL;
}

/* The value that the named transaction left, whatever became of it. False: there is none of that name, or it
 * did not write the key. */
static bool value_left(const struct kr_claim *c, kr_value id, kr_value *out)
{
	const struct kr_history *h = c->v->h;
	kr_txn t = kr_history_find(h, id);
	bool wrote = false;

	for (uint32_t index = 0; t.i != KR_NONE && index < h->txns.at[t.i].op_count; index++) {
		const struct kr_operation *op = &h->ops.at[kr_history_op(h, t, index).i];
		uint32_t effects = kr_effect_count(h, op);

		for (uint32_t i = 0; i < effects; i++) {
			struct kr_written_row effect = kr_effect_at(h, op, i);
			if (effect.key.i != c->key.i)
				continue;
			wrote = true;
			*out = effect.value;
		}
	}
	return wrote;
}

/* Whether some row of the key is one that the operation cannot have. */
static enum kr_status has_impossible_row(const struct kr_claim *c, const struct kr_operation *op, bool *out)
{
	const struct kr_history *h = c->v->h;
	const struct kr_scan *scan = &h->scans.at[op->scan];
	enum kr_status status = KR_OK;
	bool fits = true, met = false;

	for (uint32_t i = 0; i < scan->row_count && fits && status == KR_OK; i++) {
		if (h->rows.at[scan->row_first + i].key.i != c->key.i)
			continue;
		status = kr_saw_row_fits(h, op, i, &fits, c->v->err);
		fits = fits && !met;
		met = true;
	}
	*out = !fits;
	return status;
}

enum kr_status kr_claim_mismatch(const struct kr_claim *c, const struct kr_facts *f)
{
	const struct kr_history *h = c->v->h;
	const struct kr_seen *seen = named_version(c);
	kr_value value = h->keys.at[c->key.i].initial;
	const struct kr_operation *op = &h->ops.at[kr_history_op(h, c->txn, c->op).i];
	bool agrees = true, impossible = false;

	if (!kr_op_scans(op) && !seen)
		return kr_err_set(c->v->err, KR_BAD, "operation %u of %s is no predicate read",
			(unsigned)c->op, c->txn_name.text);
	if (kr_op_scans(op))
		KR_TRY(has_impossible_row(c, op, &impossible));
	if (impossible)
		return KR_OK;
	if (!seen)
		return kr_err_set(c->v->err, KR_BAD,
			"operation %u of %s names no version of %s, and its rows fit", (unsigned)c->op,
			c->txn_name.text, c->key_name.text);
	if (!kr_facts_external(f, c->key, c->txn, c->op))
		return kr_err_set(c->v->err, KR_BAD, "at operation %u %s had written %s itself",
			(unsigned)c->op, c->txn_name.text, c->key_name.text);
	if (kr_facts_grows(f, c->key))
		return kr_err_set(c->v->err, KR_UNSUPPORTED,
			"named versions of %s, which grows, are not checked", c->key_name.text);
	if (seen->writer.i == KR_ABSENT.i && f->untold)
		return kr_err_set(c->v->err, KR_BAD, "the initial value of %s is not told", c->key_name.text);
	agrees = seen->writer.i == KR_ABSENT.i || value_left(c, seen->writer, &value);
	if (agrees)
		KR_TRY(kr_saw_allows(h, &c->saw, c->key, value, &agrees, c->v->err));
	if (!agrees)
		return KR_OK;
	return kr_err_set(c->v->err, KR_BAD, "operation %u of %s returned of %s what the version named has",
		(unsigned)c->op, c->txn_name.text, c->key_name.text);
}
