/* The entries of every transaction in their order, struck ones included, with the span in which each ran, and
 * the rows and lock objects of keys. What has no times lies between what has, in its transaction. */
#include <string.h>

#include "base/hash.h"
#include "base/table.h"
#include "mechanisms/batch.h"

/* ---- spans ---- */

static struct kr_span widened(const struct kr_history *h, int64_t from, int64_t to)
{
	int64_t pad = kr_skew_pad(h);

	if (from != INT64_MIN && __builtin_sub_overflow(from, pad, &from))
		from = INT64_MIN;
	if (to != KR_TIME_OPEN && __builtin_add_overflow(to, pad, &to))
		to = INT64_MAX;
	return (struct kr_span){from, to};
}

struct raw {
	int64_t invoked, returned;
	bool timed;
};

static struct raw raw_of(const struct kr_act *a)
{
	return a->attr && a->attr->has_time ? (struct raw){a->attr->invoked, a->attr->returned, true}
					    : (struct raw){0, 0, false};
}

static void place_in_time(struct kr_batch *b, kr_txn t)
{
	const struct kr_transaction *txn = &b->h->txns.at[t.i];
	const struct kr_party *p = &b->txns.at[t.i];
	struct kr_act *acts = b->acts.at + p->act_first;
	int64_t before = txn->flags & KR_TXN_HAS_BEGIN ? txn->begin_invoked : INT64_MIN;
	int64_t after = txn->flags & KR_TXN_HAS_END ? txn->end_returned : KR_TIME_OPEN;

	if (txn->flags & KR_TXN_AUTO && txn->flags & KR_TXN_HAS_END && !(txn->flags & KR_TXN_HAS_BEGIN))
		before = txn->end_invoked;
	for (uint32_t i = 0; i < p->act_count; i++) {
		struct raw raw = raw_of(&acts[i]);
		before = raw.timed ? raw.invoked : before;
		acts[i].at.from = before;
	}
	for (uint32_t i = p->act_count; i-- > 0;) {
		struct raw raw = raw_of(&acts[i]);
		after = raw.timed ? raw.returned : after;
		acts[i].at = widened(b->h, acts[i].at.from, after);
	}
}

/* ---- entries ---- */

static void take_back(struct kr_act *acts, uint32_t n, const struct kr_entry *undo, uint32_t place)
{
	for (uint32_t i = 0; i < n; i++)
		if (acts[i].place < place && acts[i].place + undo->undo >= place &&
			acts[i].undone_at == KR_NONE)
			acts[i].undone_at = place;
}

static enum kr_status add_acts(struct kr_batch *b, kr_txn t)
{
	const struct kr_transaction *txn = &b->h->txns.at[t.i];
	struct kr_party *p = &b->txns.at[t.i];
	struct kr_walk walk = kr_walk_txn(b->h, t);
	bool vain = txn->flags & KR_TXN_AUTO && txn->status == KR_ABORTED; /* its one statement failed */

	p->act_first = b->acts.n;
	p->writes_at = KR_NONE;
	while (kr_walk_next(b->h, &walk)) {
		const struct kr_attr *attr = walk.struck ? &walk.struck->attr : walk.attr;
		struct kr_act act = {
			.txn = t,
			.op = walk.op,
			.attr = attr,
			.index = walk.op && !walk.struck ? (uint32_t)(walk.op - b->h->ops.at) - txn->op_first
							 : KR_NONE,
			.place = walk.place,
			.undone_at = KR_NONE,
			.failed = vain || (walk.op && walk.struck && attr->failed),
			.ends = walk.op && walk.struck && attr->failed && attr->ends,
			.answered = !(attr && attr->open),
		};
		if (walk.struck && walk.struck->is_undo)
			take_back(b->acts.at + p->act_first, b->acts.n - p->act_first, walk.struck,
				walk.place);
		KR_TRY(kr_vec_add(b->mem, &b->acts, act));
		kr_key key;
		kr_value value;
		if (p->writes_at == KR_NONE && walk.op && kr_op_write(b->h, walk.op, 0, &key, &value))
			p->writes_at = b->acts.n - 1;
		p->act_count++;
	}
	place_in_time(b, t);
	return kr_ctx_tick(b->ctx);
}

/* ---- rows and objects ---- */

/* How much of a key's name tells its row, and its table: `table/primary key`. */
static size_t part_length(const struct kr_batch *b, const struct kr_value_entry *name,
	enum kr_lock_scope scope)
{
	const char *separator = b->h->row_separator, *slash;

	if (scope == KR_SCOPE_DATABASE)
		return 0;
	if (scope == KR_SCOPE_TABLE) {
		slash = memchr(name->text, '/', name->length);
		return slash ? (size_t)(slash - name->text) : 0;
	}
	return separator ? kr_history_row_length(b->h, name->text, name->length) : name->length;
}

static bool share_part(const struct kr_batch *b, uint32_t x, uint32_t y, enum kr_lock_scope scope)
{
	const struct kr_value_entry *a = kr_history_value(b->h, b->h->keys.at[x].name);
	const struct kr_value_entry *c = kr_history_value(b->h, b->h->keys.at[y].name);

	if (x == y || scope == KR_SCOPE_DATABASE)
		return true;
	if (a->type != KR_VALUE_STRING || c->type != KR_VALUE_STRING)
		return scope == KR_SCOPE_TABLE && a->type != KR_VALUE_STRING && c->type != KR_VALUE_STRING;
	size_t n = part_length(b, a, scope);
	return n == part_length(b, c, scope) && memcmp(a->text, c->text, n) == 0;
}

/* The first key that shares the part with k, by a table of such; KR_NONE: no memory. */
static uint32_t first_of_part(const struct kr_batch *b, struct kr_table *firsts, uint32_t k,
	enum kr_lock_scope scope)
{
	const struct kr_value_entry *name = kr_history_value(b->h, b->h->keys.at[k].name);
	bool text = name->type == KR_VALUE_STRING;
	uint64_t hash = kr_hash_u64(text        ? kr_hash_bytes(name->text, part_length(b, name, scope))
			: scope == KR_SCOPE_ROW ? k
						: 0);
	uint32_t id;

	KR_TABLE_FIND(id, firsts, hash, share_part(b, id, k, scope));
	if (id != KR_NONE || !kr_table_reserve(b->mem, firsts))
		return id;
	kr_table_insert(firsts, hash, k);
	return k;
}

static enum kr_status add_parts(struct kr_batch *b)
{
	enum kr_lock_scope scope = b->profile->lock_scope;
	struct kr_table rows = {0}, objects = {0};
	bool by_row = b->h->row_separator, good = true;

	for (uint32_t k = 0; k < b->h->keys.n && good; k++) {
		uint32_t row = by_row ? first_of_part(b, &rows, k, KR_SCOPE_ROW) : k;
		uint32_t object = scope == KR_SCOPE_ROW ? row
			: scope == KR_SCOPE_TABLE       ? first_of_part(b, &objects, k, scope)
							: 0;
		good = row != KR_NONE && object != KR_NONE && kr_vec_push(b->mem, &b->rows, row) &&
			kr_vec_push(b->mem, &b->objects, object);
	}
	kr_table_done(b->mem, &rows);
	kr_table_done(b->mem, &objects);
	return good ? kr_ctx_check(b->ctx) : KR_NOMEM;
}

enum kr_status kr_batch_acts(struct kr_batch *b)
{
	enum kr_status status = add_parts(b);

	for (kr_txn t = {0}; t.i < b->h->txns.n && !status; t.i++) {
		const struct kr_transaction *txn = &b->h->txns.at[t.i];
		struct kr_party party = {
			.committed = txn->status == KR_COMMITTED,
			.optional = txn->status == KR_UNKNOWN,
			.automatic = txn->flags & KR_TXN_AUTO,
			.took_effect = txn->status == KR_COMMITTED,
			.effect_by = INT64_MAX,
		};
		KR_TRY(kr_vec_add(b->mem, &b->txns, party));
		if (txn->flags & KR_TXN_HAS_BEGIN)
			b->txns.at[t.i].begin = widened(b->h, txn->begin_invoked, txn->begin_returned);
		if (txn->flags & KR_TXN_HAS_END)
			b->txns.at[t.i].commit = widened(b->h, txn->end_invoked, txn->end_returned);
		if (txn->flags & KR_TXN_HAS_SNAPSHOT_T) {
			const int64_t *at = b->h->white_box.at[t.i].snapshot_t;
			b->txns.at[t.i].snapshot = widened(b->h, at[0], at[1]);
		}
		status = add_acts(b, t);
	}
	return status;
}
