/* The meaning of operations, a row for each kind: when it writes and what; when it tells something of its
 * key and what. Increments tell what is there after them, others what was there before. Ranges, scans and
 * updates speak of other keys: row by row. */
#include "frontend/model/operation.h"

/* By whether it is known (KR_OPF_KNOWN) and whether it is done (KR_OPF_DONE): bit `flags` of both. */
enum when { NEVER = 0, ALWAYS = 15, IF_KNOWN = 10, IF_DONE = 12, UNLESS_DONE = 3, UNLESS_MISSED = 13 };
enum which { NOTHING, A, B };

struct meaning {
	enum kr_key_kind kind; /* of keys that it writes */
	enum when writes;
	enum kr_how how;
	enum which what;
	enum when tells;
	enum which shown;
	enum when other; /* something else than what is shown was there */
};

static const struct meaning meanings[KR_OP_KINDS] = {
	[KR_OP_READ] = {.tells = IF_KNOWN, .shown = A},
	[KR_OP_WRITE] = {.kind = KR_KIND_REGISTER, .writes = ALWAYS, .how = KR_SET, .what = A},
	[KR_OP_DELETE] = {.writes = UNLESS_MISSED,
		.how = KR_SET,
		.what = NOTHING,
		.tells = IF_KNOWN,
		.shown = NOTHING,
		.other = IF_DONE},
	[KR_OP_INSERT] = {.kind = KR_KIND_REGISTER,
		.writes = IF_DONE,
		.how = KR_SET,
		.what = A,
		.tells = ALWAYS,
		.shown = NOTHING,
		.other = UNLESS_DONE},
	[KR_OP_CAS] = {.kind = KR_KIND_REGISTER,
		.writes = IF_DONE,
		.how = KR_SET,
		.what = B,
		.tells = ALWAYS,
		.shown = A,
		.other = UNLESS_DONE},
	[KR_OP_INC] = {.kind = KR_KIND_COUNTER,
		.writes = ALWAYS,
		.how = KR_ADD,
		.what = A,
		.tells = IF_KNOWN,
		.shown = B},
	[KR_OP_APPEND] = {.kind = KR_KIND_LIST, .writes = ALWAYS, .how = KR_ADD, .what = A},
	[KR_OP_ADD] = {.kind = KR_KIND_SET, .writes = ALWAYS, .how = KR_ADD, .what = A},
	[KR_OP_MAX] = {.kind = KR_KIND_MARK, .writes = ALWAYS, .how = KR_ADD, .what = A},
	[KR_OP_UPDATE] = {.kind = KR_KIND_REGISTER, .writes = ALWAYS, .how = KR_SET},
};

static bool is_so(const struct kr_operation *op, enum when when)
{
	return when >> (op->flags & (KR_OPF_KNOWN | KR_OPF_DONE)) & 1;
}

static kr_value value_of(const struct kr_operation *op, enum which which)
{
	return which == A ? op->a : which == B ? op->b : KR_ABSENT;
}

uint32_t kr_write_count(const struct kr_history *h, const struct kr_operation *op)
{
	return !is_so(op, meanings[op->kind].writes) ? 0
		: !kr_op_scans(op)                   ? 1
						     : h->scans.at[op->scan].row_count;
}

bool kr_write_at(const struct kr_history *h, const struct kr_operation *op, uint32_t i, struct kr_write *out)
{
	const struct meaning *m = &meanings[op->kind];
	const struct kr_scan *scan = kr_op_scans(op) ? &h->scans.at[op->scan] : NULL;
	bool adds = m->how == KR_ADD;

	if (i >= kr_write_count(h, op))
		return false;

	struct kr_row row =
		scan ? h->rows.at[scan->row_first + i] : (struct kr_row){op->key, value_of(op, m->what)};

	*out = (struct kr_write){row.key, m->how, {row.value},
		!adds                         ? row.value
			: is_so(op, m->tells) ? value_of(op, m->shown)
					      : KR_UNTOLD};
	return true;
}

bool kr_write_of(const struct kr_history *h, const struct kr_operation *op, kr_key k, struct kr_write *out)
{
	for (uint32_t i = 0; kr_write_at(h, op, i, out); i++)
		if (out->key.i == k.i)
			return true;
	return false;
}

struct kr_view kr_op_view(const struct kr_operation *op)
{
	const struct meaning *m = &meanings[op->kind];
	enum kr_view_time when = !is_so(op, m->tells) ? KR_UNSEEN
		: m->how == KR_ADD                    ? KR_SEEN_AFTER
						      : KR_SEEN_BEFORE;

	return (struct kr_view){when, is_so(op, m->other), value_of(op, m->shown)};
}

bool kr_shown_at(const struct kr_history *h, const struct kr_operation *op, uint32_t i, struct kr_row *out)
{
	const struct kr_scan *scan = kr_op_scans(op) ? &h->scans.at[op->scan] : NULL;
	struct kr_view view = kr_op_view(op);

	if (i >= (scan ? scan->row_count : 1) || (scan && !kr_op_is_read(op)))
		return false;
	*out = scan ? h->rows.at[scan->row_first + i] : (struct kr_row){op->key, view.value};
	return scan || (view.when == KR_SEEN_BEFORE && !view.other);
}

bool kr_op_is_read(const struct kr_operation *op) { return meanings[op->kind].writes == NEVER; }

enum kr_key_kind kr_history_kind_needed(enum kr_op_kind kind) { return meanings[kind].kind; }
