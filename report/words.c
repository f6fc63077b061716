/* Phrases about operations, versions and dependencies. Long values are cut, so that a line stays a line; everything else is said in full. The order of
 * a version's words follows the trace ("x = 5"), so that it can be searched for there. */
#include "report/words.h"

static const struct kr_operation *op_at(const struct kr_history *h, kr_op op) { return &h->ops.at[op.i]; }

static bool scan_row(const struct kr_history *h, const struct kr_operation *op, kr_key k, kr_value *value)
{
	const struct kr_scan *scan = &h->scans.at[op->scan];

	for (uint32_t i = 0; i < scan->row_count; i++) {
		const struct kr_row *row = &h->rows.at[scan->row_first + i];
		if (row->key.i == k.i) {
			*value = row->value;
			return true;
		}
	}
	return false;
}

static bool writes(const struct kr_history *h, const struct kr_operation *op, kr_key k)
{
	bool failed = (op->flags & KR_OPF_DONE) == 0;
	kr_value value;

	if (op->kind == KR_OP_UPDATE)
		return scan_row(h, op, k, &value);
	if (op->key.i != k.i)
		return false;
	switch ((enum kr_op_kind)op->kind) {
	case KR_OP_WRITE:
	case KR_OP_INC:
	case KR_OP_APPEND:
	case KR_OP_ADD: return true;
	case KR_OP_INSERT:
	case KR_OP_CAS: return !failed;
	case KR_OP_DELETE: return !(op->flags & KR_OPF_KNOWN) || !failed;
	default: return false;
	}
}

static bool reads(const struct kr_history *h, const struct kr_operation *op, kr_key k)
{
	kr_value value;

	if (op->scan != KR_NONE)
		return scan_row(h, op, k, &value);
	if (op->key.i != k.i)
		return false;
	switch ((enum kr_op_kind)op->kind) {
	case KR_OP_READ:
	case KR_OP_DELETE:
	case KR_OP_INC: return (op->flags & KR_OPF_KNOWN) != 0;
	case KR_OP_INSERT:
	case KR_OP_CAS: return true;
	default: return false;
	}
}

bool kr_words_reads(const struct kr_history *h, kr_txn t, kr_key k)
{
	const struct kr_transaction *txn = &h->txns.at[t.i];

	for (uint32_t i = 0; i < txn->op_count; i++) {
		if (reads(h, &h->ops.at[txn->op_first + i], k))
			return true;
		if (writes(h, &h->ops.at[txn->op_first + i], k))
			return false;
	}
	return false;
}

kr_op kr_words_last_write(const struct kr_history *h, kr_txn t, kr_key k)
{
	const struct kr_transaction *txn = &h->txns.at[t.i];

	for (uint32_t i = txn->op_count; i > 0; i--)
		if (writes(h, &h->ops.at[txn->op_first + i - 1], k))
			return (kr_op){txn->op_first + i - 1};
	return (kr_op){KR_NONE};
}

/* ---- the cast ---- */

void kr_cast_init(struct kr_cast *cast, struct kr_mem *mem, const struct kr_history *h)
{
	*cast = (struct kr_cast){.mem = mem, .ntxns = h->txns.n};
	cast->number = kr_mem_alloc(mem, h->txns.n, sizeof *cast->number);
	cast->failed = !cast->number;
}

void kr_cast_done(struct kr_cast *cast)
{
	kr_mem_free(cast->mem, cast->number, cast->ntxns, sizeof *cast->number);
	kr_vec_done(cast->mem, &cast->txns);
	kr_vec_done(cast->mem, &cast->ops);
	*cast = (struct kr_cast){.mem = cast->mem};
}

static void mention(const struct kr_words *w, kr_op op)
{
	struct kr_cast *cast = w->cast;

	if (cast && op.i != KR_NONE && !cast->failed)
		cast->failed = !kr_vec_push(cast->mem, &cast->ops, op);
}

void kr_words_txn(const struct kr_words *w, kr_txn t)
{
	struct kr_cast *cast = w->cast;

	if (!cast || cast->failed) {
		kr_words_name(w, w->h->txns.at[t.i].id);
		return;
	}
	if (cast->number[t.i] == 0) {
		cast->failed = !kr_vec_push(cast->mem, &cast->txns, t);
		cast->number[t.i] = cast->txns.n;
	}
	kr_str_format(w->out, "T%u", cast->number[t.i]);
}

/* ---- versions ---- */

void kr_words_name(const struct kr_words *w, kr_value name)
{
	if (kr_history_value(w->h, name)->length > KR_WORDS_VALUE)
		kr_history_print_value(w->h, name, KR_WORDS_VALUE, w->out);
	else
		kr_history_print_name(w->h, name, w->out);
}

void kr_words_key(const struct kr_words *w, kr_key k) { kr_words_name(w, w->h->keys.at[k.i].name); }

void kr_words_txns(const struct kr_words *w, const kr_txn *txns, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (i > 0)
			kr_str_add(w->out, i + 1 < n ? ", " : " and ");
		kr_words_txn(w, txns[i]);
	}
}

static void add_value(const struct kr_words *w, kr_value value) { kr_history_print_value(w->h, value, KR_WORDS_VALUE, w->out); }

/* "x = 5", "x absent" */
static void add_state(const struct kr_words *w, kr_key k, kr_value value)
{
	kr_words_key(w, k);
	if (value.i == KR_ABSENT.i) {
		kr_str_add(w->out, " absent");
		return;
	}
	kr_str_add(w->out, " = ");
	add_value(w, value);
}

/* What the version is told by: "5", "absent", "+3" where the value follows from what was there. `after` stands between the key and a value. */
static void add_left(const struct kr_words *w, kr_key k, kr_txn writer, const char *after)
{
	kr_op at = writer.i == KR_NONE ? (kr_op){KR_NONE} : kr_words_last_write(w->h, writer, k);
	kr_value value = {KR_NONE};

	mention(w, at);
	if (at.i == KR_NONE) {
		if (w->h->initial != KR_INITIAL_UNKNOWN)
			value = w->h->keys.at[k.i].initial;
	} else {
		const struct kr_operation *op = op_at(w->h, at);
		switch ((enum kr_op_kind)op->kind) {
		case KR_OP_DELETE: value = KR_ABSENT; break;
		case KR_OP_CAS: value = op->b; break;
		case KR_OP_UPDATE: (void)scan_row(w->h, op, k, &value); break;
		case KR_OP_INC:
			if (op->flags & KR_OPF_KNOWN)
				value = op->b;
			break;
		case KR_OP_APPEND:
		case KR_OP_ADD: break;
		default: value = op->a; break;
		}
	}
	if (value.i == KR_ABSENT.i) {
		kr_str_add(w->out, *after ? " absent" : "absent");
	} else if (value.i != KR_NONE) {
		kr_str_add(w->out, after);
		add_value(w, value);
	} else if (at.i == KR_NONE) {
		kr_str_add(w->out, after);
		kr_str_add(w->out, "its initial value");
	} else {
		kr_str_add(w->out, *after ? " plus " : "plus ");
		add_value(w, op_at(w->h, at)->a);
	}
}

void kr_words_version(const struct kr_words *w, kr_key k, kr_txn writer)
{
	kr_words_key(w, k);
	add_left(w, k, writer, " = ");
}

static void add_owned(const struct kr_words *w, kr_key k, kr_txn writer)
{
	add_left(w, k, writer, "");
	kr_str_add(w->out, " (");
	if (writer.i == KR_NONE)
		kr_str_add(w->out, "initial");
	else
		kr_words_txn(w, writer);
	kr_str_add(w->out, ")");
}

void kr_words_order(const struct kr_words *w, kr_key k, kr_txn a, const char *verb, kr_txn b)
{
	kr_words_key(w, k);
	kr_str_add(w->out, ": ");
	add_owned(w, k, a);
	kr_str_format(w->out, " %s ", verb);
	add_owned(w, k, b);
}

void kr_words_seen(const struct kr_words *w, kr_op at, kr_key k)
{
	const struct kr_operation *op = op_at(w->h, at);
	bool done = (op->flags & KR_OPF_DONE) != 0;
	kr_value value = op->a;

	mention(w, at);
	switch ((enum kr_op_kind)op->kind) {
	case KR_OP_RANGE:
	case KR_OP_SCAN:
	case KR_OP_UPDATE:
		if (op->kind == KR_OP_UPDATE || !scan_row(w->h, op, k, &value)) {
			bool found = op->kind == KR_OP_UPDATE && scan_row(w->h, op, k, &value);
			kr_str_add(w->out, found ? "found " : "did not find ");
			kr_words_key(w, k);
			return;
		}
		break;
	case KR_OP_INSERT: value = KR_ABSENT; break;
	case KR_OP_DELETE:
		done = !done;
		value = KR_ABSENT;
		break;
	case KR_OP_CAS: break;
	case KR_OP_INC:
		kr_str_add(w->out, "added to ");
		add_state(w, k, op->b); /* the result */
		return;
	default: done = true; break;
	}
	if (!done) {
		kr_str_add(w->out, "found ");
		kr_words_key(w, k);
		kr_str_add(w->out, value.i == KR_ABSENT.i ? " present" : " other than ");
		if (value.i != KR_ABSENT.i)
			add_value(w, value);
		return;
	}
	kr_str_add(w->out, value.i == KR_ABSENT.i ? "found " : "read ");
	add_state(w, k, value);
}

static void add_scan(const struct kr_words *w, const struct kr_operation *op)
{
	const struct kr_scan *scan = &w->h->scans.at[op->scan];

	if (op->kind == KR_OP_RANGE) {
		kr_str_add(w->out, " ");
		add_value(w, scan->low);
		kr_str_add(w->out, " ");
		add_value(w, scan->high);
	}
	kr_str_format(w->out, " (%u row%s)", scan->row_count, scan->row_count == 1 ? "" : "s");
}

void kr_words_op(const struct kr_words *w, kr_op at)
{
	const struct kr_operation *op = op_at(w->h, at);

	kr_str_add(w->out, kr_op_name((enum kr_op_kind)op->kind));
	if (op->scan != KR_NONE) {
		add_scan(w, op);
		return;
	}
	kr_str_add(w->out, " ");
	kr_words_key(w, op->key);

	bool has_a = op->kind != KR_OP_DELETE && (op->kind != KR_OP_READ || op->flags & KR_OPF_KNOWN);
	bool has_b = op->kind == KR_OP_CAS || (op->kind == KR_OP_INC && op->flags & KR_OPF_KNOWN);
	bool has_done = op->kind == KR_OP_INSERT || op->kind == KR_OP_CAS || (op->kind == KR_OP_DELETE && op->flags & KR_OPF_KNOWN);

	if (has_a) {
		kr_str_add(w->out, " ");
		add_value(w, op->a);
	}
	if (has_b) {
		kr_str_add(w->out, " ");
		add_value(w, op->b);
	}
	if (has_done)
		kr_str_add(w->out, op->flags & KR_OPF_DONE ? " true" : " false");
}

static bool grows(const struct kr_operation *op)
{
	return op->kind == KR_OP_APPEND || op->kind == KR_OP_ADD || (op->kind == KR_OP_INC && !(op->flags & KR_OPF_KNOWN));
}

/* "wrote x = 5", "deleted x", "appended 5 to x" */
static void add_write(const struct kr_words *w, kr_txn t, kr_key k)
{
	kr_op at = kr_words_last_write(w->h, t, k);

	if (at.i != KR_NONE && op_at(w->h, at)->kind == KR_OP_DELETE) {
		mention(w, at);
		kr_str_add(w->out, "deleted ");
		kr_words_key(w, k);
	} else if (at.i != KR_NONE && grows(op_at(w->h, at))) {
		mention(w, at);
		kr_str_add(w->out, op_at(w->h, at)->kind == KR_OP_APPEND ? "appended " : "added ");
		add_value(w, op_at(w->h, at)->a);
		kr_str_add(w->out, " to ");
		kr_words_key(w, k);
	} else {
		kr_str_add(w->out, "wrote ");
		kr_words_version(w, k, t);
	}
}

static void note_sight(const struct kr_words_notes *notes)
{
	if (notes)
		notes->sight(notes->data);
}

static void note_order(const struct kr_words_notes *notes)
{
	if (notes)
		notes->order(notes->data);
}

/* Which part of a key that grows was seen, and by whom (KR_NONE: nobody) it was left: ", element 1 as T2 left it". `missed`: the incrementing transaction was not counted. */
static void add_part(const struct kr_words *w, const struct kr_cert_edge *e, kr_txn by, bool missed)
{
	uint8_t kind = w->h->keys.at[e->key.i].kind;

	if (kind == KR_KIND_LIST || missed) {
		kr_txn writer = kr_history_find(w->h, e->part);
		kr_str_add(w->out, missed ? ", without what " : ", with what ");
		kr_words_txn(w, writer.i == KR_NONE ? by : writer);
		kr_str_add(w->out, kind == KR_KIND_LIST ? " appended" : " added");
		return;
	}
	if (kind == KR_KIND_SET) {
		kr_str_add(w->out, ", element ");
		add_value(w, e->part);
		kr_str_add(w->out, " as ");
	} else {
		kr_str_add(w->out, ", counted from what ");
	}
	if (by.i == KR_NONE) {
		kr_str_add(w->out, kind == KR_KIND_SET ? "it was at first" : "was there at first");
		return;
	}
	kr_words_txn(w, by);
	kr_str_add(w->out, kind == KR_KIND_SET ? " left it" : " left");
}

/* An edge that rests on the part of a key. */
static bool add_part_edge(const struct kr_words *w, const struct kr_cert_edge *e, const struct kr_words_notes *notes)
{
	bool wr = e->kind == KR_WR, counter;
	kr_txn observer = wr ? e->to : e->from;

	if (e->part.i == KR_NONE)
		return false;
	counter = w->h->keys.at[e->key.i].kind == KR_KIND_COUNTER && e->part.i != KR_ABSENT.i;
	kr_words_txn(w, observer);
	kr_str_add(w->out, " ");
	kr_words_seen(w, kr_history_op(w->h, observer, e->op), e->key);
	if (counter && wr) {
		kr_str_add(w->out, ", with what ");
		kr_words_txn(w, e->from);
		kr_str_add(w->out, w->h->txns.at[e->from.i].id.i == e->part.i ? " added" : " left");
	} else {
		add_part(w, e, wr ? e->from : e->source, counter && w->h->txns.at[e->to.i].id.i == e->part.i);
	}
	note_sight(notes);
	if (wr)
		return true;
	kr_str_add(w->out, ", before ");
	kr_words_txn(w, e->to);
	kr_str_add(w->out, " ");
	add_write(w, e->to, e->key);
	if (e->source.i != KR_NONE)
		note_order(notes);
	return true;
}

static void add_wr(const struct kr_words *w, const struct kr_cert_edge *e, const struct kr_words_notes *notes)
{
	kr_words_txn(w, e->to);
	kr_str_add(w->out, " ");
	kr_words_seen(w, kr_history_op(w->h, e->to, e->op), e->key);
	kr_str_add(w->out, e->predicate ? ", as " : ", which ");
	kr_words_txn(w, e->from);
	mention(w, kr_words_last_write(w->h, e->from, e->key));
	kr_str_add(w->out, e->predicate ? " left it" : " wrote");
	note_sight(notes);
}

static void add_rw(const struct kr_words *w, const struct kr_cert_edge *e, const struct kr_words_notes *notes)
{
	kr_words_txn(w, e->from);
	kr_str_add(w->out, " ");
	kr_words_seen(w, kr_history_op(w->h, e->from, e->op), e->key);
	if (e->source.i == KR_NONE) {
		kr_str_add(w->out, ", the initial state");
		note_sight(notes);
		kr_str_add(w->out, ", before ");
		kr_words_txn(w, e->to);
		kr_str_add(w->out, " ");
		add_write(w, e->to, e->key);
		return;
	}
	kr_str_add(w->out, " from ");
	kr_words_txn(w, e->source);
	note_sight(notes);
	kr_str_add(w->out, ", and ");
	kr_words_order(w, e->key, e->source, "came before", e->to);
	note_order(notes);
}

static void add_so(const struct kr_words *w, const struct kr_cert_edge *e)
{
	kr_session session = w->h->txns.at[e->from.i].session;

	kr_words_txn(w, e->from);
	kr_str_add(w->out, " came before ");
	kr_words_txn(w, e->to);
	kr_str_add(w->out, " in session ");
	if (session.i != KR_NONE)
		kr_words_name(w, w->h->sessions.at[session.i]);
}

static void add_rt(const struct kr_words *w, const struct kr_cert_edge *e)
{
	kr_words_txn(w, e->from);
	kr_str_format(w->out, " had returned at %lld before ", (long long)w->h->txns.at[e->from.i].end_returned);
	kr_words_txn(w, e->to);
	kr_str_format(w->out, " began at %lld", (long long)w->h->txns.at[e->to.i].begin_invoked);
	if (w->h->clock_skew != 0)
		kr_str_format(w->out, ", more than the clock skew of %lld apart", (long long)w->h->clock_skew);
}

void kr_words_edge(const struct kr_words *w, const struct kr_cert_edge *e, const struct kr_words_notes *notes)
{
	if ((e->kind == KR_WR || e->kind == KR_RW) && add_part_edge(w, e, notes))
		return;
	switch ((enum kr_edge_kind)e->kind) {
	case KR_WR: add_wr(w, e, notes); break;
	case KR_WW:
		kr_words_order(w, e->key, e->from, "came before", e->to);
		note_order(notes);
		break;
	case KR_RW: add_rw(w, e, notes); break;
	case KR_SO: add_so(w, e); break;
	case KR_RT: add_rt(w, e); break;
	default: break;
	}
}
