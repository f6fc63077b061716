/* The batch reference: the steps that turn a history into facts, then every mechanism of the registry. */
#include "mechanisms/batch.h"

#include "frontend/model/operation.h"
#include "frontend/where.h"
#include "mechanisms/mechanism.h"
#include "mechanisms/told.h"

static void let_go(struct kr_batch *b, bool reuse)
{
	kr_vec_let_go(b->mem, &b->txns, reuse);
	kr_vec_let_go(b->mem, &b->acts, reuse);
	kr_vec_let_go(b->mem, &b->rows, reuse);
	kr_vec_let_go(b->mem, &b->objects, reuse);
	kr_vec_let_go(b->mem, &b->collected, reuse);
	kr_vec_let_go(b->mem, &b->versions, reuse);
	kr_vec_let_go(b->mem, &b->version_first, reuse);
	kr_vec_let_go(b->mem, &b->bounds, reuse);
	kr_vec_let_go(b->mem, &b->by_commit, reuse);
	kr_vec_let_go(b->mem, &b->tried, reuse);
	kr_vec_let_go(b->mem, &b->looks, reuse);
	kr_vec_let_go(b->mem, &b->holds, reuse);
	kr_vec_let_go(b->mem, &b->edits, reuse);
	kr_vec_let_go(b->mem, &b->doubles, reuse);
	kr_vec_let_go(b->mem, &b->writers, reuse);
	kr_vec_let_go(b->mem, &b->remade, reuse);
	kr_vec_let_go(b->mem, &b->writers_of.first, reuse);
	kr_vec_let_go(b->mem, &b->writers_of.at, reuse);
	kr_vec_let_go(b->mem, &b->deleters_of.first, reuse);
	kr_vec_let_go(b->mem, &b->deleters_of.at, reuse);
	kr_vec_let_go(b->mem, &b->holds_of.first, reuse);
	kr_vec_let_go(b->mem, &b->holds_of.at, reuse);
}

void kr_batch_done(struct kr_batch *b) { let_go(b, false); }
void kr_batch_clear(struct kr_batch *b) { let_go(b, true); }

enum kr_status kr_batch_facts(struct kr_batch *b, struct kr_err *err)
{
	KR_TRY(kr_batch_acts(b));
	KR_TRY(b->profile->clock == KR_CLOCK_STAMPS ? kr_batch_stamps(b, err) : kr_batch_instants(b));
	KR_TRY(kr_batch_locks(b));
	KR_TRY(kr_batch_versions(b));
	KR_TRY(kr_batch_group(b));
	KR_TRY(kr_batch_looks(b));
	if (!kr_batch_passes(b))
		KR_TRY(kr_batch_settle(b, 0));
	return kr_batch_effects(b);
}

enum kr_status kr_batch_judge(struct kr_batch *b)
{
	for (size_t i = 0; i < kr_mechanism_registry_count; i++)
		if (kr_mechanism_registry[i]->applies(b))
			KR_TRY(kr_mechanism_registry[i]->find(b));
	return KR_OK;
}

static struct kr_batch batch_of(struct kr_ctx *ctx, const struct kr_history *h,
	const struct kr_batch_options *options, struct kr_findings *out)
{
	return (struct kr_batch){.ctx = ctx,
		.mem = &ctx->mem,
		.h = h,
		.profile = options->profile,
		.options = options,
		.out = out};
}

enum kr_status kr_batch_find(struct kr_ctx *ctx, const struct kr_history *h,
	const struct kr_batch_options *options, struct kr_findings *out, struct kr_looked *looked,
	struct kr_err *err)
{
	struct kr_batch b = batch_of(ctx, h, options, out);

	kr_findings_init(out, &ctx->mem);
	enum kr_status status = kr_batch_facts(&b, err);
	if (!status)
		status = kr_batch_judge(&b);
	*looked = (struct kr_looked){b.txns.n, b.looked,
		b.versions.n > h->keys.n ? b.versions.n - h->keys.n : 0, b.holds.n};
	kr_batch_done(&b);
	return status;
}

enum kr_status kr_batch_order(struct kr_ctx *ctx, const struct kr_history *h,
	const struct kr_batch_options *options, struct kr_told_orders *out, struct kr_err *err)
{
	struct kr_batch b = batch_of(ctx, h, options, NULL);
	enum kr_status status = kr_batch_facts(&b, err);

	if (!status)
		status = kr_batch_told(&b, out);
	kr_batch_done(&b);
	return status;
}

/* ---- small pure functions ---- */

/* Transactions of one session follow each other, whatever their clocks say. */
static bool in_session_order(const struct kr_history *h, kr_txn a, kr_txn b)
{
	kr_session s = h->txns.at[a.i].session;

	return s.i != KR_NONE && s.i == h->txns.at[b.i].session.i && a.i < b.i;
}

bool kr_stand_precedes(const struct kr_batch *b, const struct kr_stand *v, const struct kr_stand *u)
{
	if (u->txn.i == KR_NONE || v->txn.i == u->txn.i)
		return false;
	if (v->txn.i == KR_NONE)
		return true;
	if (v->committed && kr_span_before(v->commit, u->commit))
		return true;
	if (b->profile->clock == KR_CLOCK_STAMPS)
		return false; /* whoever tells the order of sessions: the timestamps order versions */
	if (v->committed && in_session_order(b->h, v->txn, u->txn))
		return true;
	return b->profile->locks.write == KR_MODE_X && v->lock.to < u->release.from &&
		!(u->lock.to < v->release.from);
}

struct kr_span kr_written_window(const struct kr_written *v)
{
	return (struct kr_span){v->by.commit.from, v->gone};
}

bool kr_written_meets(const struct kr_batch *b, kr_txn reader, const struct kr_written *v, struct kr_span at)
{
	if (b->profile->clock != KR_CLOCK_STAMPS)
		return v->by.commit.from <= at.to && at.from <= v->gone;
	/* a version is gone at the commit that replaces it, but the reader's own commit replaces nothing for
	 * it */
	return v->by.commit.from <= at.to &&
		at.from < (v->gone != INT64_MIN && v->over.i == reader.i ? v->gone_next : v->gone);
}

bool kr_look_fits(const struct kr_batch *b, const struct kr_look *look, kr_value value)
{
	const struct kr_value_entry *entry;
	bool holds = false;

	if (value.i == KR_NONE)
		return true;
	switch (look->match) {
	case KR_MATCH_IS: return value.i == look->value.i;
	case KR_MATCH_NOT: return value.i != look->value.i;
	case KR_MATCH_PRESENT: return value.i != KR_ABSENT.i;
	case KR_MATCH_NUMBER:
		entry = kr_history_value(b->h, value);
		return value.i == KR_ABSENT.i ? look->number == 0
					      : entry->type == KR_VALUE_INT && entry->integer == look->number;
	case KR_MATCH_WHERE:
	case KR_MATCH_NOT_WHERE:
		if (value.i != KR_ABSENT.i &&
			kr_where_holds(b->h, look->scan, look->key, value, &holds, NULL))
			return true;
		return holds == (look->match == KR_MATCH_WHERE);
	}
	return true;
}

bool kr_op_write(const struct kr_history *h, const struct kr_operation *op, uint32_t i, kr_key *key,
	kr_value *value)
{
	struct kr_write write = {.key = op->key, .told = KR_UNTOLD};
	bool writes = kr_write_at(h, op, i, &write);

	*key = write.key;
	*value = write.told;
	return writes;
}

static bool within(const struct kr_history *h, const struct kr_scan *scan, kr_value name)
{
	const struct kr_row *rows = h->rows.at + scan->row_first;

	if (!kr_where_in_bounds(h, scan, name))
		return false;
	if (scan->limit < 0 || scan->row_count < (uint64_t)scan->limit)
		return true;
	if (scan->row_count == 0)
		return false;
	int side = kr_history_compare_keys(h, name, h->keys.at[rows[scan->row_count - 1].key.i].name);
	return scan->reverse ? side >= 0 : side <= 0;
}

bool kr_op_covers(const struct kr_history *h, const struct kr_operation *op, kr_key key)
{
	const struct kr_scan *scan = &h->scans.at[op->scan];

	return op->kind == KR_OP_RANGE ? within(h, scan, h->keys.at[key.i].name)
				       : kr_where_has_prefix(h, scan, key);
}

uint32_t kr_batch_own(const struct kr_batch *b, uint32_t i, kr_key key, kr_value *value)
{
	const struct kr_act *now = &b->acts.at[i];
	uint32_t first = b->txns.at[now->txn.i].writes_at;
	kr_key written;

	while (first != KR_NONE && i-- > first)
		if (kr_act_counts(&b->acts.at[i], now->place))
			for (uint32_t w = 0; kr_op_write(b->h, b->acts.at[i].op, w, &written, value); w++)
				if (written.i == key.i)
					return i;
	return KR_NONE;
}

struct kr_writer *kr_batch_writer(const struct kr_batch *b, const struct kr_written *v)
{
	const struct kr_party *p = &b->txns.at[v->by.txn.i];
	uint32_t i = p->writer_first;

	while (b->writers.at[i].object != b->objects.at[v->key.i])
		i++;
	return &b->writers.at[i];
}

bool kr_writer_makes_new_row(const struct kr_batch *b, const struct kr_writer *later)
{
	const struct kr_party *p = &b->txns.at[later->by.txn.i];
	struct kr_span between = {p->has_snapshot ? p->snapshot.from : INT64_MIN, later->by.lock.to};

	if (b->profile->fuw_new_row == KR_NEW_ROW_CHECKED)
		return false;
	for (uint32_t i = b->deleters_of.first.at[later->object];
		i < b->deleters_of.first.at[later->object + 1] && later->upserts; i++) {
		const struct kr_writer *d = &b->writers.at[b->deleters_of.at.at[i]];
		if (d->by.txn.i != later->by.txn.i && d->by.commit.from <= between.to &&
			between.from <= d->by.commit.to)
			return true;
	}
	return later->inserts;
}

struct kr_finding *kr_batch_report(struct kr_batch *b, enum kr_mechanism_kind mechanism,
	enum kr_finding_class what)
{
	struct kr_finding finding = {
		.mechanism = mechanism,
		.what = what,
		.txns = {{KR_NONE}, {KR_NONE}},
		.ops = {KR_NONE, KR_NONE},
		.key = {KR_NONE},
		.seen = KR_UNTOLD,
		.visible_first = b->out->visible.n,
		.edge_first = b->out->edges.n,
		.writer = {KR_NONE},
		.over = {KR_NONE},
	};

	return kr_vec_push(b->mem, &b->out->list, finding) ? &b->out->list.at[b->out->list.n - 1] : NULL;
}
