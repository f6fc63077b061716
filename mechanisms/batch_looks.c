/* What each operation saw: per key a set of values, and the span in which the snapshot that it saw was
 * taken. */
#include "frontend/model/datatype.h"
#include "frontend/where.h"
#include "mechanisms/batch.h"

struct looking {
	struct kr_batch *b;
	uint32_t act;
	bool failed; /* no memory */
};

static const struct kr_act *act_of(const struct looking *l) { return &l->b->acts.at[l->act]; }

/* ---- where it was seen ---- */

enum sight { SIGHT_SNAPSHOT, SIGHT_LATEST, SIGHT_UNCOMMITTED };

static bool is_read(const struct kr_operation *op)
{
	return op->kind == KR_OP_READ || op->kind == KR_OP_RANGE || op->kind == KR_OP_SCAN;
}

static bool is_plain(const struct kr_act *a)
{
	return is_read(a->op) && !(a->attr && a->attr->lock != KR_LOCK_NONE);
}

static enum sight sight_of(const struct looking *l)
{
	static const enum sight by_attribute[] = {[KR_READ_SNAPSHOT] = SIGHT_SNAPSHOT,
		[KR_READ_LATEST] = SIGHT_LATEST,
		[KR_READ_UNCOMMITTED] = SIGHT_UNCOMMITTED};
	static const enum sight by_profile[] = {[KR_READS_STATEMENT] = SIGHT_SNAPSHOT,
		[KR_READS_TRANSACTION] = SIGHT_SNAPSHOT,
		[KR_READS_LATEST] = SIGHT_LATEST,
		[KR_READS_UNCOMMITTED] = SIGHT_UNCOMMITTED};
	const struct kr_act *a = act_of(l);
	const struct kr_profile *p = l->b->profile;

	if (a->op->kind == KR_OP_INSERT)
		return SIGHT_LATEST;
	if (a->attr && a->attr->read != KR_READ_DEFAULT)
		return by_attribute[a->attr->read];
	if (is_plain(a))
		return p->auto_snapshot && l->b->txns.at[a->txn.i].automatic ? SIGHT_SNAPSHOT
									     : by_profile[p->reads];
	return (is_read(a->op) ? p->locking_reads : p->dml_reads) == KR_SEES_LATEST ? SIGHT_LATEST
										    : SIGHT_SNAPSHOT;
}

/* Without locks, whether a new row collides may show only when the transaction commits. */
static struct kr_span insert_span(const struct looking *l)
{
	const struct kr_party *p = &l->b->txns.at[act_of(l)->txn.i];
	struct kr_span at = act_of(l)->at;

	if (l->b->profile->locks.write != KR_MODE_NONE)
		return at;
	if (p->has_snapshot && p->snapshot.from < at.from)
		at.from = p->snapshot.from;
	if (p->commit.to > at.to)
		at.to = p->commit.to;
	return at;
}

/* The last statement in front of this one that updated the key's row; KR_NONE: none did. */
static uint32_t row_update(const struct looking *l, kr_key key)
{
	const struct kr_batch *b = l->b;
	kr_key written;
	kr_value value;

	for (uint32_t i = l->act; i-- > b->txns.at[act_of(l)->txn.i].act_first;)
		for (uint32_t w = 0; kr_act_counts(&b->acts.at[i], act_of(l)->place) &&
			kr_op_write(b->h, b->acts.at[i].op, w, &written, &value);
			w++)
			if (b->rows.at[written.i] == b->rows.at[key.i])
				return i;
	return KR_NONE;
}

static void take_sight(const struct looking *l, struct kr_look *look)
{
	const struct kr_act *a = act_of(l);
	const struct kr_party *p = &l->b->txns.at[a->txn.i];
	enum sight sight = sight_of(l);

	look->at = look->insert ? insert_span(l) : a->at;
	look->uncommitted = sight == SIGHT_UNCOMMITTED;
	if (sight != SIGHT_SNAPSHOT)
		return;
	if (!p->has_snapshot || p->automatic) {
		look->group = is_plain(a) ? l->b->txns.n + l->act : KR_NONE;
		return;
	}
	uint32_t update = l->b->profile->own_row == KR_SEES_LATEST ? row_update(l, look->key) : KR_NONE;
	look->at = update == KR_NONE ? p->snapshot : l->b->acts.at[update].at;
	look->group = update == KR_NONE ? a->txn.i : KR_NONE;
}

/* ---- what was seen ---- */

/* By timestamps all reads of a transaction see one state: what it read before must be read again. */
static bool reread(const struct looking *l, const struct kr_look *look, kr_value *value)
{
	for (uint32_t i = l->b->looks.n; i-- > 0 && l->b->looks.at[i].txn.i == look->txn.i;) {
		const struct kr_look *before = &l->b->looks.at[i];
		if (before->key.i != look->key.i || before->match != KR_MATCH_IS || before->own)
			continue;
		*value = before->value;
		return true;
	}
	return false;
}

static void add_look(struct looking *l, struct kr_look look, bool external)
{
	const struct kr_act *a = act_of(l);

	if (kr_datatype_of(l->b->h->keys.at[look.key.i].kind)->parts)
		return; /* their values are not told whole */
	look.txn = a->txn;
	look.act = l->act;
	look.op = a->index;
	look.insert = a->op->kind == KR_OP_INSERT;
	look.searches = !is_plain(a) && !look.insert;
	look.group = look.only = KR_NONE;
	look.own = !external && kr_batch_own(l->b, l->act, look.key, &look.own_value) != KR_NONE;
	if (!look.own && !external && l->b->profile->clock == KR_CLOCK_STAMPS)
		look.own = reread(l, &look, &look.own_value);
	take_sight(l, &look);
	l->failed |= !kr_vec_push(l->b->mem, &l->b->looks, look);
}

static void add_value(struct looking *l, kr_key key, enum kr_match match, kr_value value)
{
	add_look(l, (struct kr_look){.key = key, .match = match, .value = value}, false);
}

static void look_inc(struct looking *l)
{
	const struct kr_operation *op = act_of(l)->op;
	const struct kr_value_entry *delta = kr_history_value(l->b->h, op->a);
	const struct kr_value_entry *result =
		op->flags & KR_OPF_KNOWN ? kr_history_value(l->b->h, op->b) : NULL;
	struct kr_look look = {.key = op->key, .match = KR_MATCH_NUMBER};

	if (result && result->type == KR_VALUE_INT && delta->type == KR_VALUE_INT &&
		!__builtin_sub_overflow(result->integer, delta->integer, &look.number))
		add_look(l, look, false);
}

/* ---- ranges and scans ---- */

static bool is_returned(const struct kr_history *h, const struct kr_scan *scan, uint32_t from, kr_key key)
{
	for (uint32_t i = from; i < scan->row_count; i++)
		if (h->rows.at[scan->row_first + i].key.i == key.i)
			return true;
	return false;
}

static uint32_t times_returned(const struct kr_history *h, const struct kr_scan *scan, kr_key key)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < scan->row_count; i++)
		n += h->rows.at[scan->row_first + i].key.i == key.i;
	return n;
}

/* A key twice: allowed if the profile says so and one of the rows is the reader's own; the other one is from
 * outside. */
static void look_double(struct looking *l, const struct kr_scan *scan, uint32_t i)
{
	const struct kr_row *row = &l->b->h->rows.at[scan->row_first + i];
	struct kr_look look = {.key = row->key, .match = KR_MATCH_IS, .value = row->value, .twice = true};
	struct kr_double twice = {act_of(l)->txn, act_of(l)->index, row->key};
	kr_value own = KR_UNTOLD;
	bool has_own = kr_batch_own(l->b, l->act, row->key, &own) != KR_NONE,
	     shown = has_own && own.i == KR_NONE;

	for (uint32_t j = 0; j < scan->row_count; j++) {
		const struct kr_row *other = &l->b->h->rows.at[scan->row_first + j];
		shown |= has_own && other->key.i == row->key.i && other->value.i == own.i;
	}
	bool allowed = l->b->profile->dup_rows == KR_DUP_OWN && shown;
	if (!is_returned(l->b->h, scan, i + 1, row->key) && !allowed)
		l->failed |= !kr_vec_push(l->b->mem, &l->b->doubles, twice);
	if ((allowed && row->value.i != own.i) || !has_own)
		add_look(l, look, true);
}

static bool may_make_row(const struct kr_act *a)
{
	if (a->op->kind == KR_OP_CAS)
		return a->op->a.i == KR_ABSENT.i;
	return a->op->kind != KR_OP_DELETE && a->op->kind != KR_OP_UPDATE &&
		!(a->attr && a->attr->row_is_old);
}

/* Whether the first of the transaction's writes of the key, in front of this, may have made a row. */
static bool made_row(const struct looking *l, kr_key key)
{
	kr_key written;
	kr_value value;

	for (uint32_t i = l->b->txns.at[act_of(l)->txn.i].act_first; i < l->act; i++) {
		const struct kr_act *a = &l->b->acts.at[i];
		for (uint32_t w = 0; kr_act_counts(a, act_of(l)->place) &&
			kr_op_write(l->b->h, a->op, w, &written, &value);
			w++)
			if (written.i == key.i)
				return may_make_row(a);
	}
	return false;
}

/* Where a row that the transaction made may be seen beside the one whose place it took, conditions or a limit
 * may let the other one through alone. */
static bool hides_own(const struct looking *l, const struct kr_scan *scan, uint32_t i)
{
	const struct kr_row *row = &l->b->h->rows.at[scan->row_first + i];
	kr_value own = KR_UNTOLD;
	bool holds = true;

	if (l->b->profile->dup_rows != KR_DUP_OWN || kr_batch_own(l->b, l->act, row->key, &own) == KR_NONE ||
		!made_row(l, row->key))
		return false;
	if (own.i == KR_NONE || own.i == KR_ABSENT.i || own.i == row->value.i)
		return false;
	if (act_of(l)->op->kind == KR_OP_RANGE)
		return i + 1 == scan->row_count && scan->limit >= 0 &&
			scan->row_count >= (uint64_t)scan->limit;
	return kr_where_holds(l->b->h, scan, row->key, own, &holds, NULL) == KR_OK && !holds;
}

static void look_rows(struct looking *l)
{
	const struct kr_history *h = l->b->h;
	const struct kr_operation *op = act_of(l)->op;
	const struct kr_scan *scan = &h->scans.at[op->scan];

	for (uint32_t i = 0; i < scan->row_count; i++) {
		const struct kr_row *row = &h->rows.at[scan->row_first + i];
		if (op->kind == KR_OP_UPDATE)
			add_look(l, (struct kr_look){.key = row->key, .match = KR_MATCH_WHERE, .scan = scan},
				false);
		else if (times_returned(h, scan, row->key) > 1)
			look_double(l, scan, i);
		else if (hides_own(l, scan, i))
			add_look(l,
				(struct kr_look){.key = row->key,
					.match = KR_MATCH_IS,
					.value = row->value,
					.twice = true},
				true);
		else
			add_value(l, row->key, KR_MATCH_IS, row->value);
	}
	for (kr_key k = {0}; k.i < h->keys.n; k.i++) {
		struct kr_look look = {.key = k,
			.match = KR_MATCH_NOT_WHERE,
			.value = KR_ABSENT,
			.scan = scan,
			.predicate = true};
		uint32_t first = l->b->version_first.at[k.i], n = l->b->version_first.at[k.i + 1] - first;
		if (op->kind == KR_OP_RANGE)
			look.match = KR_MATCH_IS;
		bool unborn = n == 1 && l->b->versions.at[first].value.i == KR_ABSENT.i;
		kr_value own;
		if (unborn && kr_batch_own(l->b, l->act, k, &own) == KR_NONE)
			continue;
		if (kr_op_covers(h, op, k) && !is_returned(h, scan, 0, k))
			add_look(l, look, false);
	}
}

static void look_at(struct looking *l)
{
	const struct kr_act *a = act_of(l);
	const struct kr_operation *op = a->op;
	bool known = op->flags & KR_OPF_KNOWN, done = op->flags & KR_OPF_DONE;

	switch ((enum kr_op_kind)op->kind) {
	case KR_OP_READ:
		if (known)
			add_value(l, op->key, KR_MATCH_IS, op->a);
		break;
	case KR_OP_WRITE: /* with rows of several columns, the column may be empty in a row that is there */
		if (a->attr && a->attr->row_is_old && !l->b->h->row_separator)
			add_value(l, op->key, KR_MATCH_PRESENT, KR_ABSENT);
		break;
	case KR_OP_DELETE:
		if (known)
			add_value(l, op->key, done ? KR_MATCH_PRESENT : KR_MATCH_IS, KR_ABSENT);
		break;
	case KR_OP_INSERT: add_value(l, op->key, done ? KR_MATCH_IS : KR_MATCH_PRESENT, KR_ABSENT); break;
	case KR_OP_CAS: add_value(l, op->key, done ? KR_MATCH_IS : KR_MATCH_NOT, op->a); break;
	case KR_OP_INC: look_inc(l); break;
	case KR_OP_RANGE:
	case KR_OP_SCAN:
	case KR_OP_UPDATE: look_rows(l); break;
	default: break;
	}
}

/* A transaction's looks, from `first` on, are made; those that are explained go, where nobody asks for
 * them. */
static enum kr_status conclude(struct kr_batch *b, uint32_t *first)
{
	uint32_t n = *first;

	b->looked += b->looks.n - *first;
	if (kr_batch_passes(b)) {
		KR_TRY(kr_batch_settle(b, *first));
		for (uint32_t i = *first; i < b->looks.n; i++)
			if (!b->looks.at[i].fits || b->looks.at[i].torn)
				b->looks.at[n++] = b->looks.at[i];
		b->looks.n = n;
	}
	*first = b->looks.n;
	return KR_OK;
}

enum kr_status kr_batch_looks(struct kr_batch *b)
{
	struct looking l = {.b = b};
	enum kr_status status = KR_OK;
	uint32_t first = 0;

	for (l.act = 0; l.act < b->acts.n && !l.failed && !status; l.act++) {
		status = kr_ctx_tick(b->ctx);
		if (!status && kr_act_counts(act_of(&l), KR_NONE) && act_of(&l)->answered)
			look_at(&l);
		bool last = l.act + 1 == b->acts.n || b->acts.at[l.act + 1].txn.i != act_of(&l)->txn.i;
		if (!status && !l.failed && last)
			status = conclude(b, &first);
	}
	return l.failed ? KR_NOMEM : status;
}
