/* What a format cannot hold of a history: found before anything is written, in one pass over transactions and
 * operations.
 *
 * A loss is whatever reading the written text back would not give again, as far as it bears on verdicts or
 * names things for people. What is lost may make a trace satisfy more, never less: an operation that only
 * observes can go by itself, but with one that may write, or with an initial value, whatever may have seen it
 * has to go, which is all that happened to the key. A world of the trace, without its keys that are lost, is
 * a world of what is left: no edge is new. */
#include "base/guess.h"
#include "frontend/write.h"

#include <string.h>

static const struct kr_target targets[] = {
	{.name = "native", .native = true},
	{.name = "stream", .native = true, .stream = true},
	{.name = "elle", .elle = true},
	{.name = "elle-json", .elle = true, .json = true},
	{.name = "plume", .plume = true},
	{.name = "dbcop-json", .json = true},
};

const struct kr_target *kr_target_find(const char *name)
{
	for (size_t i = 0; i < KR_COUNT(targets); i++)
		if (kr_guess_distance(targets[i].name, name) == 0)
			return &targets[i];
	return NULL;
}

const char *kr_target_name(size_t i) { return i < KR_COUNT(targets) ? targets[i].name : NULL; }

const char *kr_target_names(void) { return "native, stream, elle, elle-json, plume or dbcop-json"; }

const char *kr_loss_text(enum kr_loss loss)
{
	static const char *const texts[] = {
		[KR_LOSS_IDS] = "ids of transactions",
		[KR_LOSS_SESSIONS] = "names of sessions",
		[KR_LOSS_SPLIT] = "the session order behind a transaction of unknown outcome",
		[KR_LOSS_TIMES] = "times of transactions",
		[KR_LOSS_SKEW] = "the clock skew",
		[KR_LOSS_ABORTED] =
			"which operations of aborted transactions belong together, and what they read",
		[KR_LOSS_UNKNOWN] = "transactions of unknown outcome",
		[KR_LOSS_RESULTS] = "what transactions read that are not known to have committed",
		[KR_LOSS_EMPTY] = "transactions without operations",
		[KR_LOSS_INITIAL] = "initial values",
		[KR_LOSS_UNTOLD] = "reads without a result",
		[KR_LOSS_OPS] = "operations other than the format's",
		[KR_LOSS_HISTORIES] = "keys of which not all that is written can be kept",
		[KR_LOSS_LOOSE] = "reads that are not through a cursor",
		[KR_LOSS_KEYS] = "names of keys",
		[KR_LOSS_VALUES] = "values as they are",
		[KR_LOSS_ATTRS] = "attributes of operations",
		[KR_LOSS_STRUCK] = "operations that failed or were undone",
		[KR_LOSS_STATEMENTS] = "autocommit, statements that took snapshots, and ends that failed",
		[KR_LOSS_WHITE_BOX] = "serial, snapshot and commit times",
		[KR_LOSS_ORDERS] = "version orders",
		[KR_LOSS_UNIVERSE] = "the universe of keys and their order",
		[KR_LOSS_KINDS] = "the kinds of keys",
		[KR_LOSS_NAME] = "the header's name, unit of time, row separator or profile",
	};

	return texts[loss];
}

struct finding {
	const struct kr_history *h;
	const struct kr_target *target;
	uint32_t losses;
	bool *named;      /* keys, by operations */
	const bool *gone; /* keys that are lost */
	bool white_box;
};

static void lose(struct finding *f, enum kr_loss loss, bool lost)
{
	f->losses |= lost ? UINT32_C(1) << loss : 0;
}

/* Whether an array's text holds null or an object, which EDN's readers take for something else. */
static bool is_plain_array(const struct kr_value_entry *value)
{
	bool string = false;

	for (uint32_t i = 0; i < value->length; i++) {
		char c = value->text[i];
		if (string && c == '\\')
			i++;
		else if (c == '"')
			string = !string;
		else if (!string && (c == '{' || c == 'n'))
			return false;
	}
	return true;
}

static bool value_fits(const struct kr_history *h, const struct kr_target *target, kr_value v)
{
	const struct kr_value_entry *value = kr_history_value(h, v);

	if (value->type == KR_VALUE_ABSENT)
		return true;
	if (!target->elle)
		return value->type == KR_VALUE_INT && value->integer != 0; /* 0 stands for nothing */
	return value->type == KR_VALUE_ARRAY ? is_plain_array(value) : value->type != KR_VALUE_OBJECT;
}

/* ---- keys that are lost ---- */

static bool is_native_op(const struct kr_target *target, const struct kr_operation *op)
{
	return op->kind == KR_OP_READ || op->kind == KR_OP_WRITE ||
		(op->kind == KR_OP_APPEND && target->elle);
}

/* Whether somebody may have seen what the operation did: one that was refused did nothing, if that is
 * known. */
static bool may_write(const struct kr_operation *op, bool committed)
{
	bool conditional = op->kind == KR_OP_INSERT || op->kind == KR_OP_CAS;

	return op->kind != KR_OP_READ && op->kind != KR_OP_RANGE && op->kind != KR_OP_SCAN &&
		(!conditional || !committed || op->flags & KR_OPF_DONE);
}

struct losing {
	const struct kr_history *h;
	const struct kr_target *target;
	bool *gone;
	bool writes; /* some operation is a plain write: to Elle's readers [] is a value then, else absence */
};

/* An update that is not known to have committed may have written any key. */
static void lose_rows(struct losing *l, const struct kr_scan *scan, bool committed)
{
	for (uint32_t k = 0; k < l->h->keys.n && !committed; k++)
		l->gone[k] = true;
	for (uint32_t i = 0; i < scan->row_count; i++)
		l->gone[l->h->rows.at[scan->row_first + i].key.i] = true;
}

static bool is_empty_list(const struct kr_value_entry *value)
{
	return value->type == KR_VALUE_ARRAY && value->length == 2;
}

static void lose_by_op(struct losing *l, const struct kr_operation *op, enum kr_txn_status status)
{
	bool committed = status == KR_COMMITTED;

	if (op->kind == KR_OP_UPDATE)
		lose_rows(l, &l->h->scans.at[op->scan], committed);
	if (op->key.i == KR_NONE)
		return;

	bool *gone = &l->gone[op->key.i];
	unsigned kind = l->h->keys.at[op->key.i].kind;
	const struct kr_value_entry *value = kr_history_value(l->h, op->a);

	if (!is_native_op(l->target, op)) {
		*gone |= may_write(op, committed);
		return;
	}
	*gone |= op->kind != KR_OP_READ && status == KR_UNKNOWN && !l->target->elle;
	if (l->target->elle)
		*gone |= !value_fits(l->h, l->target, op->a) ||
			(is_empty_list(value) && kind != KR_KIND_LIST && !l->writes);
	else
		/* a number cannot be an empty list */
		*gone |= kind != KR_KIND_REGISTER && value->type == KR_VALUE_ARRAY;
}

const bool *kr_target_lost_keys(const struct kr_history *h, const struct kr_target *target,
	struct kr_arena *arena)
{
	struct losing l = {.h = h, .target = target, .gone = KR_NEW_ARRAY(arena, bool, h->keys.n)};

	if (!l.gone)
		return NULL;
	for (uint32_t i = 0; i < h->ops.n; i++)
		l.writes |= h->ops.at[i].kind == KR_OP_WRITE;
	for (uint32_t k = 0; k < h->keys.n; k++)
		l.gone[k] = kr_history_untold(h) ||
			(h->initial == KR_INITIAL_GIVEN && h->keys.at[k].initial.i != KR_ABSENT.i);
	for (uint32_t t = 0; t < h->txns.n; t++)
		for (uint32_t i = 0; i < h->txns.at[t].op_count; i++)
			lose_by_op(&l, &h->ops.at[h->txns.at[t].op_first + i],
				(enum kr_txn_status)h->txns.at[t].status);
	return l.gone;
}

bool kr_target_holds(const struct kr_history *h, const struct kr_target *target, const bool *lost, kr_op op)
{
	const struct kr_operation *o = &h->ops.at[op.i];

	return is_native_op(target, o) && !lost[o->key.i] &&
		(o->kind != KR_OP_READ || !kr_history_is_loose(h, op));
}

/* ---- the rest ---- */

static void look_at_op(struct finding *f, kr_op at, bool committed)
{
	const struct kr_operation *op = &f->h->ops.at[at.i];
	bool read = op->kind == KR_OP_READ;

	lose(f, KR_LOSS_OPS, !is_native_op(f->target, op));
	lose(f, KR_LOSS_HISTORIES, op->key.i != KR_NONE && f->gone[op->key.i]);
	lose(f, KR_LOSS_LOOSE, read && kr_history_is_loose(f->h, at));
	lose(f, KR_LOSS_ATTRS, op->flags & KR_OPF_HAS_ATTR);
	if (op->key.i != KR_NONE)
		f->named[op->key.i] = true;
	if (!kr_target_holds(f->h, f->target, f->gone, at))
		return;

	enum kr_value_type key = kr_history_value(f->h, f->h->keys.at[op->key.i].name)->type;

	lose(f, KR_LOSS_KEYS,
		f->target->plume ? key != KR_VALUE_INT
				 : !f->target->elle && key != KR_VALUE_INT && key != KR_VALUE_STRING);
	lose(f, KR_LOSS_VALUES, !value_fits(f->h, f->target, op->a));
	if (!read)
		return;
	if (committed || !f->target->elle)
		lose(f, KR_LOSS_UNTOLD, !(op->flags & KR_OPF_KNOWN));
	else
		lose(f, KR_LOSS_RESULTS, op->flags & KR_OPF_KNOWN);
}

static void look_at_txn(struct finding *f, uint32_t t, const uint32_t *lasts)
{
	const struct kr_history *h = f->h;
	const struct kr_transaction *txn = &h->txns.at[t];
	const struct kr_value_entry *id = kr_history_value(h, txn->id);
	bool aborted = txn->status == KR_ABORTED, unknown = txn->status == KR_UNKNOWN;

	if (f->target->plume)
		lose(f, KR_LOSS_IDS,
			aborted ? kr_history_default_number(h, (kr_txn){t}) != t + 1
				: id->type != KR_VALUE_INT || id->integer < 0);
	else
		lose(f, KR_LOSS_IDS, kr_history_default_number(h, (kr_txn){t}) != t + 1);
	lose(f, KR_LOSS_TIMES, !f->target->elle && txn->flags & (KR_TXN_HAS_BEGIN | KR_TXN_HAS_END));
	lose(f, KR_LOSS_STATEMENTS, txn->flags & (KR_TXN_AUTO | KR_TXN_HAS_SNAPSHOT_T | KR_TXN_END_FAILED));
	f->white_box = f->white_box || txn->flags & (KR_TXN_WHITE_BOX & ~KR_TXN_HAS_SNAPSHOT_T);
	lose(f, KR_LOSS_UNKNOWN, unknown && !f->target->elle);
	lose(f, KR_LOSS_ABORTED, aborted && f->target->plume && txn->op_count != 1);
	lose(f, KR_LOSS_EMPTY, txn->op_count == 0 && f->target->plume);
	if (txn->session.i != KR_NONE) {
		const struct kr_value_entry *name = kr_history_value(h, h->sessions.at[txn->session.i]);
		bool fits = name->type == KR_VALUE_INT && name->integer >= 0;
		lose(f, KR_LOSS_SESSIONS,
			f->target->json && !f->target->elle
				? !fits || name->integer != (int64_t)txn->session.i + 1
				: !fits);
		lose(f, KR_LOSS_SPLIT, f->target->elle && unknown && lasts[txn->session.i] != t);
	}
	for (uint32_t i = 0; i < txn->op_count; i++)
		look_at_op(f, (kr_op){txn->op_first + i}, txn->status == KR_COMMITTED);
}

/* Elle's maps tell begin and end by their places: all transactions need both, and one of a session must not
 * begin when the last one ends. */
static bool times_fit(const struct kr_history *h, kr_txn *previous)
{
	for (uint32_t t = 0; t < h->txns.n; t++) {
		const struct kr_transaction *txn = &h->txns.at[t];
		if (!(txn->flags & KR_TXN_HAS_BEGIN) ||
			(txn->status == KR_UNKNOWN) == ((txn->flags & KR_TXN_HAS_END) != 0))
			return false;
		if (txn->session.i == KR_NONE)
			continue;
		const kr_txn last = previous[txn->session.i];
		if (last.i != KR_NONE &&
			(h->txns.at[last.i].status == KR_UNKNOWN
					? h->txns.at[last.i].begin_invoked
					: h->txns.at[last.i].end_returned) >= txn->begin_invoked)
			return false;
		previous[txn->session.i] = (kr_txn){t};
	}
	return true;
}

static void look_at_header(struct finding *f)
{
	const struct kr_history *h = f->h;

	lose(f, KR_LOSS_INITIAL, kr_history_untold(h));
	for (uint32_t k = 0; k < h->keys.n && h->initial == KR_INITIAL_GIVEN; k++)
		lose(f, KR_LOSS_INITIAL, h->keys.at[k].initial.i != KR_ABSENT.i);
	lose(f, KR_LOSS_SKEW, h->clock_skew != 0);
	lose(f, KR_LOSS_NAME, h->name || h->time_unit || h->row_separator || h->profile);
	lose(f, KR_LOSS_UNIVERSE, h->key_order != KR_KEYS_MIXED);
	for (uint32_t k = 0; k < h->keys.n; k++) {
		lose(f, KR_LOSS_UNIVERSE, !f->named[k]);
		lose(f, KR_LOSS_KINDS, h->keys.at[k].declared);
	}
	lose(f, KR_LOSS_STRUCK, h->struck.n > 0);
	lose(f, KR_LOSS_WHITE_BOX, f->white_box);
	lose(f, KR_LOSS_ORDERS, h->version_orders.n > 0);
}

static enum kr_status look(struct kr_ctx *ctx, struct finding *f, uint32_t *lasts, kr_txn *previous)
{
	const struct kr_history *h = f->h;
	bool times = false;

	for (uint32_t s = 0; s < h->sessions.n; s++)
		previous[s] = (kr_txn){KR_NONE};
	for (uint32_t t = 0; t < h->txns.n; t++) {
		times = times || h->txns.at[t].flags & (KR_TXN_HAS_BEGIN | KR_TXN_HAS_END);
		if (h->txns.at[t].session.i != KR_NONE)
			lasts[h->txns.at[t].session.i] = t;
	}
	for (uint32_t t = 0; t < h->txns.n; t++) {
		look_at_txn(f, t, lasts);
		KR_TRY(kr_ctx_tick(ctx));
	}
	look_at_header(f);
	/* exact times would order more */
	lose(f, KR_LOSS_TIMES, f->target->elle && times && (h->clock_skew != 0 || !times_fit(h, previous)));
	return KR_OK;
}

enum kr_status kr_target_losses(struct kr_ctx *ctx, const struct kr_history *h,
	const struct kr_target *target, uint32_t *out)
{
	struct kr_arena arena;
	struct finding f = {.h = h, .target = target};

	if (target->native) {
		*out = 0;
		return KR_OK;
	}
	kr_arena_init(&arena, &ctx->mem);
	f.named = KR_NEW_ARRAY(&arena, bool, h->keys.n);
	f.gone = kr_target_lost_keys(h, target, &arena);

	uint32_t *lasts = KR_NEW_ARRAY(&arena, uint32_t, h->sessions.n);
	kr_txn *previous = KR_NEW_ARRAY(&arena, kr_txn, h->sessions.n);
	enum kr_status status =
		!f.named || !f.gone || !lasts || !previous ? KR_NOMEM : look(ctx, &f, lasts, previous);

	kr_arena_done(&arena);
	if (status == KR_OK)
		*out = f.losses;
	return status;
}
