/* Transactions of a stream, and the values that they keep. */
#include "mechanisms/held.h"

int64_t kr_earlier(int64_t at, int64_t by)
{
	int64_t out;

	if (at == INT64_MIN || at == INT64_MAX)
		return at;
	return __builtin_sub_overflow(at, by, &out) ? (by > 0 ? INT64_MIN : INT64_MAX) : out;
}

/* ---- values ---- */

static void count(struct kr_stream *stream, kr_value v, bool keep)
{
	if (v.i == KR_NONE)
		return;
	if (keep)
		kr_stream_keep(stream, v);
	else
		kr_stream_release(stream, v);
}

static void count_scan(struct kr_stream *stream, const struct kr_held *t, const struct kr_scan *scan,
	bool keep)
{
	count(stream, scan->low, keep);
	count(stream, scan->high, keep);
	count(stream, scan->set, keep);
	for (uint32_t i = 0; i < scan->row_count; i++)
		count(stream, t->body->rows.at[scan->row_first + i].value, keep);
	for (uint32_t i = 0; i < scan->cond_count; i++) {
		count(stream, t->body->conds.at[scan->cond_first + i].field, keep);
		count(stream, t->body->conds.at[scan->cond_first + i].value, keep);
	}
}

static void count_entry(struct kr_stream *stream, const struct kr_held *t, const struct kr_held_entry *e,
	bool keep)
{
	if (e->undo != KR_NONE)
		return;
	count(stream, e->op.a, keep);
	if (kr_op_scans(&e->op))
		count_scan(stream, t, &t->body->scans.at[e->op.scan], keep);
	else
		count(stream, e->op.b, keep);
}

/* ---- transactions ---- */

struct kr_held *kr_held_new(struct kr_stream *stream, struct kr_mem *mem, const struct kr_event *begin)
{
	struct kr_held *t = kr_mem_alloc(mem, 1, sizeof *t);
	struct kr_body *body = t ? kr_mem_alloc(mem, 1, sizeof *body) : NULL;

	if (!body) {
		kr_mem_free(mem, t, 1, sizeof *t);
		return NULL;
	}
	*body = (struct kr_body){.white_box = begin->white_box};
	*t = (struct kr_held){.id = begin->txn,
		.session = begin->session,
		.line = begin->line,
		.status = KR_UNKNOWN,
		.flags = (uint16_t)(begin->flags & ~(unsigned)KR_TXN_TIMES),
		.body = body};
	if (begin->timed) {
		t->flags |= KR_TXN_HAS_BEGIN | (begin->open ? KR_TXN_BEGIN_OPEN : 0);
		t->body->begin[0] = begin->invoked;
		t->body->begin[1] = begin->returned;
	}
	kr_stream_keep(stream, t->id);
	return t;
}

void kr_held_free(struct kr_stream *stream, struct kr_mem *mem, struct kr_held *t)
{
	struct kr_body *body = t ? t->body : NULL;

	if (!t)
		return;
	for (uint32_t i = 0; i < body->entries.n; i++)
		count_entry(stream, t, &body->entries.at[i], false);
	kr_vec_done(mem, &body->entries);
	kr_vec_done(mem, &body->scans);
	kr_vec_done(mem, &body->rows);
	kr_vec_done(mem, &body->conds);
	kr_vec_done(mem, &body->pending);
	kr_mem_free(mem, body, 1, sizeof *body);
	kr_stream_release(stream, t->id);
	kr_mem_free(mem, t, 1, sizeof *t);
}

static bool copy_scan(struct kr_stream *stream, struct kr_mem *mem, struct kr_held *t,
	struct kr_operation *op)
{
	const struct kr_history *h = kr_stream_history(stream);
	struct kr_scan scan = h->scans.at[op->scan];
	uint32_t row = scan.row_first, cond = scan.cond_first;

	if (!kr_vec_reserve(mem, &t->body->rows, scan.row_count) ||
		!kr_vec_reserve(mem, &t->body->conds, scan.cond_count) ||
		!kr_vec_reserve(mem, &t->body->scans, 1))
		return false;
	scan.row_first = t->body->rows.n;
	scan.cond_first = t->body->conds.n;
	for (uint32_t i = 0; i < scan.row_count; i++)
		t->body->rows.at[t->body->rows.n++] = h->rows.at[row + i];
	for (uint32_t i = 0; i < scan.cond_count; i++)
		t->body->conds.at[t->body->conds.n++] = h->conds.at[cond + i];
	op->scan = t->body->scans.n;
	t->body->scans.at[t->body->scans.n++] = scan;
	return true;
}

bool kr_held_add(struct kr_stream *stream, struct kr_mem *mem, struct kr_held *t, const struct kr_event *e)
{
	const struct kr_attr *attr = &e->entry.attr;
	struct kr_held_entry entry = {.op = e->entry.op,
		.undo = e->entry.is_undo ? e->entry.undo : KR_NONE,
		.invoked = attr->invoked,
		.returned = attr->returned,
		.has_time = attr->has_time,
		.open = attr->open,
		.cursor = attr->cursor,
		.row_is_old = attr->row_is_old,
		.failed = attr->failed,
		.ends = attr->ends,
		.undone = attr->undone,
		.lock = (uint8_t)attr->lock,
		.read = (uint8_t)attr->read};

	if (!kr_vec_reserve(mem, &t->body->entries, 1))
		return false;
	if (entry.undo == KR_NONE && kr_op_scans(&entry.op) && !copy_scan(stream, mem, t, &entry.op))
		return false;
	t->body->entries.at[t->body->entries.n++] = entry;
	count_entry(stream, t, &entry, true);
	return true;
}

struct kr_attr kr_held_attr(const struct kr_held_entry *e)
{
	return (struct kr_attr){.has_time = e->has_time,
		.open = e->open,
		.invoked = e->invoked,
		.returned = e->returned,
		.cursor = e->cursor,
		.lock = (enum kr_lock)e->lock,
		.read = (enum kr_read_mode)e->read,
		.row_is_old = e->row_is_old,
		.failed = e->failed,
		.ends = e->ends,
		.undone = e->undone};
}

void kr_held_trim(struct kr_mem *mem, struct kr_held *t)
{
	struct kr_body *body = t->body;
	void *less = body->entries.n > 0 && body->entries.n < body->entries.cap
		? kr_mem_resize(mem, body->entries.at, body->entries.cap, body->entries.n,
			  sizeof *body->entries.at)
		: NULL;

	if (!less)
		return; /* as it is, or no memory: then it stays as it is */
	body->entries.at = less;
	body->entries.cap = body->entries.n;
}

void kr_held_end(struct kr_held *t, const struct kr_event *e)
{
	t->status = e->status;
	t->flags = (uint16_t)((e->flags & ~(unsigned)KR_TXN_TIMES) | (t->flags & KR_TXN_TIMES));
	t->body->white_box = e->white_box;
	if (e->timed) {
		t->flags |= KR_TXN_HAS_END | (e->open ? KR_TXN_END_OPEN : 0);
		t->end[0] = e->invoked;
		t->end[1] = e->returned;
	}
}

/* ---- where it lies ---- */

static int64_t later(int64_t a, int64_t b) { return a > b ? a : b; }

/* What its first statement saw may lie anywhere before it, if that is not timed, or if a begin that nobody
 * saw took the snapshot. */
static int64_t first_of(const struct kr_profile *profile, const struct kr_held *t)
{
	bool begin = t->flags & KR_TXN_HAS_BEGIN, told = t->flags & KR_TXN_HAS_SNAPSHOT_T;
	bool unseen = !begin && !told && !(t->flags & KR_TXN_AUTO) &&
		profile->reads == KR_READS_TRANSACTION && profile->snapshot_at == KR_SNAPSHOT_BEGIN;
	int64_t first = INT64_MIN;

	if (begin)
		first = t->body->begin[0];
	else if (t->body->entries.n > 0 && t->body->entries.at[0].has_time && !unseen)
		first = t->body->entries.at[0].invoked;
	else if (t->body->entries.n == 0 && t->flags & KR_TXN_HAS_END && !unseen)
		first = t->end[0];
	if (told && t->body->white_box.snapshot_t[0] < first)
		first = t->body->white_box.snapshot_t[0];
	return first;
}

/* By timestamps. Without a commit's, an INSERT may have been refused, and what reads as of its commit may
 * have read, at any time. */
static void measure_stamped(const struct kr_profile *profile, struct kr_held *t)
{
	bool starts = t->flags & KR_TXN_HAS_SNAPSHOT,
	     commits = t->status == KR_COMMITTED && t->flags & KR_TXN_HAS_COMMIT_TS;
	bool at_commit = profile->snapshot_at == KR_SNAPSHOT_COMMIT, inserts = false;
	int64_t start = starts ? t->body->white_box.snapshot : INT64_MIN;

	for (uint32_t i = 0; i < t->body->entries.n; i++)
		inserts |= t->body->entries.at[i].op.kind == KR_OP_INSERT;
	t->first = at_commit && commits ? t->body->white_box.commit_ts : start;
	t->due = commits                                          ? t->body->white_box.commit_ts
		: starts && (t->late || (!at_commit && !inserts)) ? start
								  : INT64_MAX;
	if (t->late)
		t->due = t->first = start;
	if (!t->ended)
		t->first = t->due = INT64_MAX; /* it has not arrived */
}

void kr_held_measure(const struct kr_history *h, const struct kr_profile *profile, struct kr_held *t)
{
	if (profile->clock == KR_CLOCK_STAMPS) {
		measure_stamped(profile, t);
		return;
	}
	int64_t pad = kr_skew_pad(h), due = INT64_MIN;
	bool end = t->flags & KR_TXN_HAS_END;

	if (t->flags & KR_TXN_HAS_BEGIN)
		due = t->flags & KR_TXN_BEGIN_OPEN ? t->body->begin[0] : t->body->begin[1];
	if (t->flags & KR_TXN_HAS_SNAPSHOT_T)
		due = later(due, t->body->white_box.snapshot_t[1]);
	for (uint32_t i = 0; i < t->body->entries.n; i++) {
		const struct kr_held_entry *a = &t->body->entries.at[i];
		if (a->has_time)
			due = later(due, a->open ? a->invoked : a->returned);
	}
	if (end)
		due = later(due, t->flags & KR_TXN_END_OPEN ? t->end[0] : t->end[1]);
	if (!end &&
		(t->status == KR_COMMITTED ||
			(t->body->entries.n > 0 && !t->body->entries.at[t->body->entries.n - 1].has_time)))
		due = INT64_MAX; /* it may have lasted for ever */
	t->first = kr_earlier(first_of(profile, t), pad);
	t->due = kr_earlier(due, -pad);
}
