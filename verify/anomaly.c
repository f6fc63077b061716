/* Non-cyclic anomalies, from their definitions: one operation of a committed transaction that no world
 * explains.
 *
 * Aborted, intermediate, future and garbage read: what the operation saw of the key, before its transaction
 * wrote it, is no version that another transaction can have left, nor its initial value. The name tells who
 * did write such a value: only an aborted transaction (or one of unknown outcome that cannot have taken
 * effect), only as a version that its writer overwrote, only the reader itself and later, or nobody. Where
 * more than one of the first three hold, each is a right name. Internal inconsistency: the operation does not
 * show what its own transaction had left. Cost: one walk over the history. Lists, sets and sums are judged in
 * anomaly_grow.c, version sets in anomaly_sets.c. */
#include "frontend/history_written.h"
#include "verify/claim.h"
#include "verify/garbage.h"

static enum kr_status check_place(struct kr_claim *c)
{
	const struct kr_history *h = c->v->h;

	if (c->txn.i >= h->txns.n || c->key.i >= h->keys.n || c->op >= h->txns.at[c->txn.i].op_count)
		return kr_err_set(c->v->err, KR_BAD, "the anomaly names no operation and key of the trace");
	c->txn_name = kr_verify_txn_name(h, c->txn);
	c->key_name = kr_verify_key_name(h, c->key);
	if (h->txns.at[c->txn.i].status != KR_COMMITTED)
		return kr_err_set(c->v->err, KR_BAD, "%s is not known to have committed", c->txn_name.text);
	c->saw = kr_saw_of(h, &h->ops.at[kr_history_op(h, c->txn, c->op).i], c->key);
	if (c->saw.test == KR_SAW_NOTHING)
		return kr_err_set(c->v->err, KR_BAD, "operation %u of %s saw nothing of %s", (unsigned)c->op,
			c->txn_name.text, c->key_name.text);
	return KR_OK;
}

/* ---- reads that no version explains ---- */

struct writers {
	bool aborted, intermediate, later;
	/* what others left, which is not to be seen only because the operation names another version */
	bool last;
	struct {
		bool aborted, intermediate, later;
	} maybe; /* by increments whose results are not told */
};

static bool is_written(const struct writers *by)
{
	return by->aborted || by->intermediate || by->later || by->last || by->maybe.aborted ||
		by->maybe.intermediate || by->maybe.later;
}

static enum kr_status explains(const struct kr_claim *c, const struct kr_facts *f, kr_value value, bool *out)
{
	const struct kr_value_entry *e = value.i == KR_NONE ? NULL : kr_history_value(c->v->h, value);
	struct kr_sight sight;

	if (!kr_facts_grows(f, c->key))
		return kr_saw_allows(c->v->h, &c->saw, c->key, value, out, c->v->err);
	if (c->v->h->keys.at[c->key.i].kind != KR_KIND_COUNTER)
		return kr_grow_presence_allows(f, c->key, &c->saw, value.i != KR_ABSENT.i, out, c->v->err);

	/* A counter. */
	bool external = kr_facts_sight(f, c->txn, c->op, c->key, (kr_value){KR_NONE}, &sight),
	     absent = value.i == KR_ABSENT.i;
	struct kr_count want = kr_grow_count(c->v->h, &sight);

	*out = external && e && (absent || e->type == KR_VALUE_INT) &&
		kr_grow_count_allows(c->v->h, &want, c->key, absent, absent ? 0 : e->integer);
	return KR_OK;
}

static enum kr_status look_at_write(const struct kr_claim *c, const struct kr_facts *f, kr_txn t,
	uint32_t index, kr_value value, struct writers *out)
{
	bool aborted = c->v->h->txns.at[t.i].status == KR_ABORTED,
	     unknown = c->v->h->txns.at[t.i].status == KR_UNKNOWN, allowed;
	enum kr_status status = explains(c, f, value, &allowed);

	if (status == KR_OK && value.i == KR_NONE && c->v->h->keys.at[c->key.i].kind == KR_KIND_COUNTER) {
		out->maybe.later |= t.i == c->txn.i;
		out->maybe.aborted |= t.i != c->txn.i && (aborted || unknown);
		out->maybe.intermediate |= t.i != c->txn.i && !aborted;
		return KR_OK;
	}

	if (status != KR_OK || !allowed)
		return status;
	if (t.i == c->txn.i) {
		out->later = true; /* it had not written before */
		return KR_OK;
	}
	out->aborted |= aborted || unknown;
	out->intermediate |= !aborted && kr_facts_version(f, c->key, t)->last_op != index;
	out->last |= !aborted && kr_facts_version(f, c->key, t)->last_op == index;
	return KR_OK;
}

static enum kr_status find_writers(const struct kr_claim *c, const struct kr_facts *f, struct writers *out)
{
	const struct kr_history *h = c->v->h;

	for (kr_txn t = {0}; t.i < h->txns.n; t.i++) {
		for (struct kr_effects e = kr_effects_of(h, t); kr_effects_next(&e);) {
			if (e.row.key.i == c->key.i)
				KR_TRY(look_at_write(c, f, t, e.op, e.row.value, out));
			KR_TRY(kr_ctx_tick(c->v->ctx));
		}
		KR_TRY(kr_ctx_tick(c->v->ctx));
	}
	return KR_OK;
}

static enum kr_status check_name(const struct kr_claim *c, const struct writers *by)
{
	bool right = false;

	switch (c->v->cert->anomaly.kind) {
	case KR_ABORTED_READ: right = by->aborted || by->maybe.aborted; break;
	case KR_INTERMEDIATE_READ: right = by->intermediate || by->maybe.intermediate; break;
	case KR_FUTURE_READ: right = by->later || by->maybe.later; break;
	default: right = !by->aborted && !by->intermediate && !by->later && !by->last; break;
	}
	if (right)
		return KR_OK;
	return kr_err_set(c->v->err, KR_BAD, "operation %u of %s is no %s of %s: what it saw was %s",
		(unsigned)c->op, c->txn_name.text, kr_anomaly_name(c->v->cert->anomaly.kind),
		c->key_name.text,
		by->aborted                ? "written by an aborted transaction"
			: by->intermediate ? "an intermediate version"
			: by->later        ? "written later by itself"
			: by->last         ? "written"
					   : "never written");
}

/* Whether of a list or set no more was seen than whether it is there. */
static bool tells_presence(const struct kr_claim *c, const struct kr_facts *f)
{
	enum kr_grow_mode mode = kr_facts_mode(f, c->key);
	const struct kr_value_entry *e =
		c->saw.test == KR_SAW_VALUE ? kr_history_value(f->h, c->saw.value) : NULL;

	if ((mode != KR_GROW_LIST && mode != KR_GROW_SET) || c->v->cert->anomaly.kind >= KR_DUPLICATE_ELEMENT)
		return false;
	return !e || e->type == KR_VALUE_ABSENT || (e->type == KR_VALUE_ARRAY && e->length == 2);
}

/* Whether an untold initial value may be what was read: nobody wrote that, and no committed transaction read
 * another value that nobody wrote. What somebody did write, though in vain, does not tell that the key began
 * with it. */
static enum kr_status may_be_initial(const struct kr_claim *c, const struct kr_facts *f, bool *out)
{
	struct kr_claim other = *c;

	*out = f->untold && !kr_facts_grows(f, c->key) && c->saw.test == KR_SAW_VALUE &&
		kr_history_may_start(f->h, c->key, c->saw.value);
	for (uint32_t i = *out ? f->sight_first[c->key.i] : 0; *out && i < f->sight_first[c->key.i + 1];
		i++) {
		const struct kr_fact_sight *s = &f->sights[i];
		struct writers by = {0};
		if (s->other || s->value.i == c->saw.value.i ||
			f->h->txns.at[s->txn.i].status != KR_COMMITTED)
			continue;
		other.txn = s->txn;
		other.saw.value = s->value;
		KR_TRY(find_writers(&other, f, &by));
		*out = is_written(&by);
	}
	return KR_OK;
}

/* What was seen of a key that the transaction had written before is garbage only if nobody ever wrote
 * that. */
static enum kr_status check_unwritten(const struct kr_claim *c, const struct kr_facts *f)
{
	struct writers by = {0};
	bool initial = false, unwritten = false;

	bool garbage = c->v->cert->anomaly.kind == KR_GARBAGE_READ,
	     aborted = c->v->cert->anomaly.kind == KR_ABORTED_READ;

	if ((garbage || aborted) && kr_facts_grows(f, c->key) &&
		c->v->h->keys.at[c->key.i].kind != KR_KIND_COUNTER) {
		KR_TRY(kr_claim_unwritten(c, f, &unwritten));
	} else if (garbage && !kr_facts_grows(f, c->key) && c->saw.test == KR_SAW_VALUE) {
		KR_TRY(find_writers(c, f, &by));
		KR_TRY(kr_saw_allows(f->h, &c->saw, c->key, f->h->keys.at[c->key.i].initial, &initial,
			c->v->err));
		if (f->untold)
			KR_TRY(may_be_initial(c, f, &initial));
		unwritten = !is_written(&by) && !initial;
	}
	if (unwritten)
		return KR_OK;
	return kr_err_set(c->v->err, KR_BAD, "at operation %u %s had written %s itself", (unsigned)c->op,
		c->txn_name.text, c->key_name.text);
}

static enum kr_status can_have_seen(const struct kr_claim *c, kr_txn writer)
{
	return kr_err_set(c->v->err, KR_BAD, "operation %u of %s can have seen %s by %s", (unsigned)c->op,
		c->txn_name.text, c->key_name.text, kr_verify_txn_name(c->v->h, writer).text);
}

enum kr_status kr_claim_untold(const struct kr_claim *c)
{
	return kr_err_set(c->v->err, KR_UNSUPPORTED, "what was seen of %s, whose initial value is not told",
		c->key_name.text);
}

/* A writer that may not have taken effect, or an initial value that is not told, would explain what was seen:
 * does it, whatever else was seen? */
static enum kr_status check_unexplained(const struct kr_claim *c, kr_txn writer)
{
	bool unexplained = false;
	enum kr_status status = kr_claim_by_cases(c, &unexplained);

	if (status != KR_OK || unexplained)
		return status;
	/* conditions that its number failed were not looked at */
	if (writer.i == KR_NONE && c->v->h->keys.at[c->key.i].kind == KR_KIND_COUNTER)
		return kr_claim_untold(c);
	return can_have_seen(c, writer);
}

static enum kr_status check_read(const struct kr_claim *c, const struct kr_facts *f)
{
	struct kr_sight sight;
	struct writers by = {0};
	kr_txn writer;
	bool found, external = kr_facts_sight(f, c->txn, c->op, c->key, (kr_value){KR_NONE}, &sight);
	enum kr_grow_mode mode = kr_facts_mode(f, c->key);

	if (!external)
		return check_unwritten(c, f);
	/* it is written or not, whichever version the operation names */
	sight.named &= c->v->cert->anomaly.kind != KR_GARBAGE_READ;
	if (mode != KR_GROW_NOT && mode != KR_GROW_VALUES) {
		struct kr_verifier asking = *c->v; /* with no error of its own: an empty list may be either */
		struct kr_claim claim = *c;
		bool presence = tells_presence(c, f);
		asking.err = presence ? NULL : c->v->err;
		claim.v = &asking;
		enum kr_status grown = kr_claim_growing(&claim, f, &sight);
		if (grown != KR_BAD || !presence)
			return grown;
	}

	struct kr_facts_iter it = kr_facts_candidates(f, &sight);

	KR_TRY(kr_facts_next(f, &it, &found, &writer, c->v->err));
	if (found && (writer.i == KR_NONE ? !f->untold : f->h->txns.at[writer.i].status != KR_UNKNOWN))
		return can_have_seen(c, writer);
	if (found) /* unless that cannot have taken effect, or been so */
		KR_TRY(check_unexplained(c, writer));
	KR_TRY(find_writers(c, f, &by));
	return check_name(c, &by);
}

/* ---- the claim ---- */

/* Where what was seen does not count otherwise. */
static enum kr_status check_garbage(const struct kr_claim *c)
{
	bool garbage = false;
	KR_TRY(kr_verify_garbage(c->v, &(struct kr_garbage_place){c->txn, c->op, c->key}, &garbage));

	if (garbage)
		return KR_OK;
	return kr_err_set(c->v->err, KR_BAD, "operation %u of %s is no garbage read of %s", (unsigned)c->op,
		c->txn_name.text, c->key_name.text);
}

enum kr_status kr_verify_anomaly(struct kr_verifier *v)
{
	struct kr_claim c = {.v = v,
		.txn = v->cert->anomaly.txn,
		.op = v->cert->anomaly.op,
		.key = v->cert->anomaly.key};
	enum kr_anomaly_kind kind = v->cert->anomaly.kind;
	struct kr_facts f;

	if ((unsigned)kind >= KR_ANOMALY_KINDS || !(v->rule->anomalies & KR_BIT(kind)))
		return kr_err_set(v->err, KR_BAD, "this anomaly is none that %s forbids", v->rule->id);
	KR_TRY(check_place(&c));
	enum kr_status status = KR_OK;
	if (kr_verify_is_blind(v->rule))
		return check_garbage(&c);
	KR_TRY(kr_facts_init(&f, v->ctx, v->h, v->installs, v->err));
	if (kind == KR_RESULT_SET_MISMATCH)
		status = kr_claim_mismatch(&c, &f);
	else if (kind == KR_INTERNAL_INCONSISTENCY)
		status = kr_claim_internal(&c);
	else if (kind >= KR_DUPLICATE_ELEMENT && !kr_facts_grows(&f, c.key))
		status = kr_err_set(v->err, KR_BAD, "%s is neither a list nor a set", c.key_name.text);
	else
		status = check_read(&c, &f);
	if (status == KR_OK && kind == KR_GARBAGE_READ && v->h->keys.at[c.key.i].kind == KR_KIND_COUNTER)
		status = check_garbage(&c); /* it has the name at all levels or at none */
	kr_facts_done(&f);
	return status;
}
