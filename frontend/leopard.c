/* Leopard's traces (docs/formats/leopard.md): one JSON object for each statement, with the interval from
 * its sending to its answer.
 *
 * A statement becomes one operation for each column of each tuple that it read or wrote, all in its
 * interval. What only the whole file tells is settled at its end: which transaction ids stand in several
 * threads, and which columns the rows of a table have, for deletes that do not name them. So statements
 * are gathered, names and values interned, and then told to the assembly as events. Predicate locks are
 * passed over: they say what was locked, not what was looked for, and an observation or a lock that is
 * wider than the statement's own would be a false one. Cost: one pass over the text, another one over what
 * was gathered. */
#include "frontend/event.h"
#include "frontend/foreign.h"

#include "base/hash.h"

#include <string.h>

enum what { SELECT, UPDATE, INSERT, DELETE, BEGIN, SNAPSHOT, COMMIT, ROLLBACK, NOTHING };

struct cell {                        /* a column of a tuple */
	kr_value table, row, column; /* column: KR_NONE: none is named */
	kr_value value;
	bool read;
};

struct statement {
	uint8_t what, lock, mode; /* enum what, kr_lock, kr_read_mode */
	bool failed, open;
	uint32_t line, first, count; /* cells */
	kr_session thread;
	kr_value txn;
	int64_t invoked, returned;
};

struct id {
	kr_value txn;
	kr_session thread;
	bool repeated;
};
struct column {
	kr_value table, name;
};

struct leopard {
	struct kr_forms f;
	KR_VEC(struct cell) cells;
	KR_VEC(struct statement) statements;
	KR_VEC(struct id) ids;
	KR_VEC(struct column) columns;
	struct kr_table id_table, column_table;
	struct kr_str name;
	KR_VEC(kr_value) open;        /* by thread: its open transaction's id, or KR_NONE */
	KR_VEC(struct kr_event) last; /* by thread: what its events share */
};

/* ---- one object ---- */

enum field {
	THREAD,
	TXN,
	TYPE,
	START,
	FINISH,
	LOCK,
	LOCK_TOO,
	MODE,
	READS,
	WRITES,
	TUPLES,
	EXCEPTION,
	FIELDS
};

static const char *const names[FIELDS] = {"threadID", "transactionID", "operationTraceType", "startTimestamp",
	"finishTimestamp", "traceLockMode", "lockMode", "readMode", "readTupleList", "writeTupleList",
	"tuples", "exception"};

static bool is_given(const struct kr_forms *f, uint32_t form) { return kr_form_type(f, form) != KR_FORM_NIL; }

struct word {
	const char *text;
	uint8_t value;
};

static enum kr_status take_word(struct kr_forms *f, uint32_t form, enum field field, const struct word *words,
	const char *expected, uint8_t *out)
{
	for (; words->text; words++) {
		if (kr_form_is(f, form, words->text)) {
			*out = words->value;
			return KR_OK;
		}
	}
	return kr_forms_wrong_field(f, f->nodes.at[form == KR_NONE ? 0 : form].line, names[field], form,
		expected);
}

static enum kr_status take_name(struct kr_forms *f, uint32_t form, const char *what, kr_value *out)
{
	if (kr_form_type(f, form) != KR_FORM_INT && kr_form_type(f, form) != KR_FORM_STRING)
		return kr_forms_wrong_field(f, f->nodes.at[form == KR_NONE ? 0 : form].line, what, form,
			"a string or an integer");
	return kr_forms_value(f, form, out);
}

static enum kr_status take_times(struct kr_forms *f, const uint32_t *fields, struct statement *s)
{
	for (enum field i = START; i <= FINISH; i++) {
		const struct kr_form *node = fields[i] == KR_NONE ? NULL : &f->nodes.at[fields[i]];
		if (i == FINISH && !is_given(f, fields[i])) {
			s->open = true;
			s->returned = KR_TIME_OPEN;
		} else if (!node || node->type != KR_FORM_INT) {
			return kr_forms_wrong_field(f, node ? node->line : s->line, names[i], fields[i],
				"an integer");
		} else {
			*(i == START ? &s->invoked : &s->returned) = node->integer;
		}
	}
	if (s->invoked > s->returned)
		return kr_forms_bad(f, s->line,
			"the statement starts at %lld and finishes at %lld, expected the start not to come "
			"after the finish",
			(long long)s->invoked, (long long)s->returned);
	return KR_OK;
}

static enum kr_status note_column(struct leopard *l, kr_value table, kr_value name)
{
	uint64_t hash = kr_hash_pair(table.i, name.i);
	uint32_t at;

	KR_TABLE_FIND(at, &l->column_table, hash,
		l->columns.at[at].table.i == table.i && l->columns.at[at].name.i == name.i);
	if (at != KR_NONE)
		return KR_OK;
	return kr_table_push(l->f.h->mem, &l->column_table, hash, &l->columns, (struct column){table, name})
		? KR_OK
		: KR_NOMEM;
}

/* SQL's NULL is a value that a column holds, not the absence of its row. */
static enum kr_status take_value(struct kr_forms *f, uint32_t form, kr_value *out)
{
	static const char null[] = "{\"sql\":null}";

	if (f->nodes.at[form].type != KR_FORM_NIL)
		return kr_forms_value(f, form, out);
	*out = kr_history_text(f->h, KR_VALUE_OBJECT, null, sizeof null - 1);
	return out->i == KR_NONE ? KR_NOMEM : KR_OK;
}

static enum kr_status take_columns(struct leopard *l, uint32_t map, struct cell cell)
{
	struct kr_forms *f = &l->f;
	char found[80];

	cell.column = (kr_value){KR_NONE};
	cell.value = KR_ABSENT;
	if (is_given(f, map) && f->nodes.at[map].type != KR_FORM_MAP)
		return kr_forms_wrong_field(f, f->nodes.at[map].line, "valueMap", map,
			"an object of values by column");
	if (!is_given(f, map) || f->nodes.at[map].end == map + 1)
		return kr_vec_add(f->h->mem, &l->cells, cell);
	for (uint32_t at = map + 1; at < f->nodes.at[map].end; at = f->nodes.at[at + 1].end) {
		const struct kr_form *name = &f->nodes.at[at];
		if (memchr(name->text, '.', name->length))
			return kr_forms_bad(f, name->line,
				"the column %s has a dot in its name, expected none",
				kr_form_found(f, at, found));
		KR_TRY(kr_forms_value(f, at, &cell.column));
		KR_TRY(take_value(f, at + 1, &cell.value));
		KR_TRY(note_column(l, cell.table, cell.column));
		KR_TRY(kr_vec_add(f->h->mem, &l->cells, cell));
	}
	return KR_OK;
}

static enum kr_status take_tuples(struct leopard *l, uint32_t list, enum field field, bool read)
{
	static const char *const parts[] = {"table", "primaryKey", "valueMap"};
	struct kr_forms *f = &l->f;
	struct cell cell = {.read = read};
	uint32_t fields[3];

	if (!is_given(f, list))
		return KR_OK;
	if (f->nodes.at[list].type != KR_FORM_LIST)
		return kr_forms_wrong_field(f, f->nodes.at[list].line, names[field], list,
			"an array of tuples");
	for (uint32_t at = list + 1; at < f->nodes.at[list].end; at = f->nodes.at[at].end) {
		if (f->nodes.at[at].type != KR_FORM_MAP)
			return kr_forms_wrong(f, f->nodes.at[at].line, "the tuple is", at, "an object");
		KR_TRY(kr_forms_fields(f, at, parts, fields, 3));
		KR_TRY(take_name(f, fields[0], parts[0], &cell.table));
		if (!is_given(f, fields[1]))
			continue; /* a lock on the table */
		KR_TRY(take_name(f, fields[1], parts[1], &cell.row));
		KR_TRY(take_columns(l, fields[2], cell));
	}
	return KR_OK;
}

static enum kr_status note_id(struct leopard *l, const struct statement *s)
{
	uint64_t hash = kr_hash_u64(s->txn.i);
	uint32_t at;

	KR_TABLE_FIND(at, &l->id_table, hash, l->ids.at[at].txn.i == s->txn.i);
	if (at != KR_NONE) {
		l->ids.at[at].repeated |= l->ids.at[at].thread.i != s->thread.i;
		return KR_OK;
	}
	return kr_table_push(l->f.h->mem, &l->id_table, hash, &l->ids, (struct id){s->txn, s->thread, false})
		? KR_OK
		: KR_NOMEM;
}

static enum kr_status take_words(struct kr_forms *f, const uint32_t *fields, struct statement *s)
{
	static const struct word types[] = {{"SELECT", SELECT}, {"READ", SELECT}, {"UPDATE", UPDATE},
		{"WRITE", UPDATE}, {"INSERT", INSERT}, {"DELETE", DELETE}, {"START", BEGIN}, {"BEGIN", BEGIN},
		{"SET_SNAPSHOT", SNAPSHOT}, {"COMMIT", COMMIT}, {"ROLLBACK", ROLLBACK}, {"ABORT", ROLLBACK},
		{"DDL", NOTHING}, {"FAULT", NOTHING}, {"DistributeSchedule", NOTHING}, {NULL, 0}};
	static const struct word locks[] = {{"NON_LOCK", KR_LOCK_NONE}, {"SHARE_LOCK", KR_LOCK_SHARED},
		{"EXCLUSIVE_LOCK", KR_LOCK_EXCLUSIVE}, {NULL, 0}};
	static const struct word modes[] = {{"UNCOMMITTED_READ", KR_READ_UNCOMMITTED},
		{"CONSISTENT_READ", KR_READ_SNAPSHOT}, {"LOCKING_READ", KR_READ_LATEST}, {NULL, 0}};
	enum field lock = is_given(f, fields[LOCK]) ? LOCK : LOCK_TOO;
	KR_TRY(take_word(f, fields[TYPE], TYPE, types,
		"SELECT, UPDATE, INSERT, DELETE, START, SET_SNAPSHOT, COMMIT or ROLLBACK", &s->what));

	if (is_given(f, fields[lock]))
		KR_TRY(take_word(f, fields[lock], lock, locks, "NON_LOCK, SHARE_LOCK or EXCLUSIVE_LOCK",
			&s->lock));
	if (is_given(f, fields[MODE]))
		KR_TRY(take_word(f, fields[MODE], MODE, modes,
			"UNCOMMITTED_READ, CONSISTENT_READ or LOCKING_READ", &s->mode));
	return KR_OK;
}

static enum kr_status read_statement(struct leopard *l)
{
	struct kr_forms *f = &l->f;
	struct statement s = {.line = f->nodes.at[0].line, .first = l->cells.n};
	uint32_t fields[FIELDS];
	kr_value thread;

	if (f->nodes.at[0].type != KR_FORM_MAP)
		return kr_forms_wrong(f, s.line, "found", 0, "a statement: an object");
	KR_TRY(kr_forms_fields(f, 0, names, fields, FIELDS));
	KR_TRY(take_words(f, fields, &s));
	if (s.what == NOTHING)
		return KR_OK;
	KR_TRY(take_name(f, fields[THREAD], names[THREAD], &thread));
	KR_TRY(take_name(f, fields[TXN], names[TXN], &s.txn));
	KR_TRY(take_times(f, fields, &s));
	KR_TRY(take_tuples(l, fields[READS], READS, true));
	KR_TRY(take_tuples(l, fields[WRITES], WRITES, false));
	KR_TRY(take_tuples(l, fields[TUPLES], TUPLES, s.what == SELECT));
	s.failed = is_given(f, fields[EXCEPTION]);
	s.count = l->cells.n - s.first;
	s.thread = kr_history_session(f->h, thread);
	KR_TRY(s.thread.i == KR_NONE ? KR_NOMEM : note_id(l, &s));
	return kr_vec_add(f->h->mem, &l->statements, s);
}

/* ---- events ---- */

static void add_text(struct leopard *l, kr_value name)
{
	const struct kr_value_entry *e = kr_history_value(l->f.h, name);

	if (e->type == KR_VALUE_STRING)
		kr_str_add_bytes(&l->name, e->text, e->length);
	else
		kr_str_format(&l->name, "%lld", (long long)e->integer);
}

static kr_key key_of(struct leopard *l, const struct cell *cell, kr_value column)
{
	l->name.n = 0;
	add_text(l, cell->table);
	kr_str_add(&l->name, "/");
	add_text(l, cell->row);
	kr_str_add(&l->name, ".");
	add_text(l, column);
	return l->name.failed ? (kr_key){KR_NONE} : kr_history_key_text(l->f.h, l->name.at, l->name.n);
}

/* The id that a transaction gets: THREAD,ID where several threads have that id. */
static kr_value id_of(struct leopard *l, const struct statement *s)
{
	uint32_t at;

	KR_TABLE_FIND(at, &l->id_table, kr_hash_u64(s->txn.i), l->ids.at[at].txn.i == s->txn.i);
	if (at == KR_NONE || !l->ids.at[at].repeated)
		return s->txn;
	l->name.n = 0;
	add_text(l, l->f.h->sessions.at[s->thread.i]);
	kr_str_add(&l->name, ",");
	add_text(l, s->txn);
	return l->name.failed ? (kr_value){KR_NONE}
			      : kr_history_text(l->f.h, KR_VALUE_STRING, l->name.at, l->name.n);
}

static enum kr_status tell_op(struct leopard *l, const struct statement *s, struct kr_event event,
	struct kr_operation op)
{
	event.kind = KR_EVENT_ENTRY;
	event.timed = true;
	event.open = s->open;
	op.flags |= KR_OPF_HAS_ATTR;
	event.entry.op = op;
	event.entry.attr = (struct kr_attr){.has_time = true,
		.open = s->open,
		.invoked = s->invoked,
		.returned = s->returned,
		.cursor = true,
		.lock = (enum kr_lock)s->lock,
		.read = op.kind == KR_OP_READ || op.kind == KR_OP_SCAN ? (enum kr_read_mode)s->mode
								       : KR_READ_DEFAULT,
		.row_is_old = op.kind == KR_OP_WRITE,
		.failed = s->failed,
		.ends = s->failed};
	return kr_history_take(l->f.h, &event, l->f.err);
}

static enum kr_status tell_cell(struct leopard *l, const struct statement *s, const struct kr_event *event,
	const struct cell *cell, kr_value column)
{
	static const enum kr_op_kind kinds[] = {[SELECT] = KR_OP_READ,
		[UPDATE] = KR_OP_WRITE,
		[INSERT] = KR_OP_INSERT,
		[DELETE] = KR_OP_DELETE};
	const enum kr_op_kind kind = cell->read ? KR_OP_READ : kinds[s->what];
	struct kr_operation op = {.kind = kind, .key = key_of(l, cell, column)};

	if (op.key.i == KR_NONE)
		return KR_NOMEM;
	if (op.kind != KR_OP_DELETE)
		op.a = cell->value;
	op.flags = op.kind == KR_OP_READ && !s->open ? KR_OPF_KNOWN
		: op.kind == KR_OP_INSERT            ? KR_OPF_DONE
		: op.kind == KR_OP_DELETE            ? KR_OPF_KNOWN | KR_OPF_DONE
						     : 0;
	if (op.kind == KR_OP_READ && s->open)
		op.a = KR_ABSENT;
	return tell_op(l, s, *event, op);
}

/* A tuple without columns: one that is deleted loses all that its table has; nothing else is told of it. */
static enum kr_status tell_row(struct leopard *l, const struct statement *s, const struct kr_event *event,
	const struct cell *cell)
{
	if (cell->column.i != KR_NONE)
		return tell_cell(l, s, event, cell, cell->column);
	for (uint32_t c = 0; c < l->columns.n && s->what == DELETE && !cell->read; c++)
		if (l->columns.at[c].table.i == cell->table.i)
			KR_TRY(tell_cell(l, s, event, cell, l->columns.at[c].name));
	return KR_OK;
}

/* A statement that failed before it told of a tuple: a scan for nothing, which tells when. */
static enum kr_status tell_failure(struct leopard *l, const struct statement *s, const struct kr_event *event)
{
	struct kr_operation op = {.kind = KR_OP_SCAN, .key = {KR_NONE}, .scan = l->f.h->scans.n};

	return kr_vec_push(l->f.h->mem, &l->f.h->scans, (struct kr_scan){.limit = -1})
		? tell_op(l, s, *event, op)
		: KR_NOMEM;
}

static enum kr_status tell_end(struct leopard *l, const struct statement *s, struct kr_event event)
{
	event.kind = KR_EVENT_END;
	event.timed = true;
	event.open = s->open;
	event.flags = (uint16_t)(l->last.at[s->thread.i].flags | (s->failed ? KR_TXN_END_FAILED : 0));
	event.white_box = l->last.at[s->thread.i].white_box;
	event.status = s->what == ROLLBACK ? KR_ABORTED : s->failed || s->open ? KR_UNKNOWN : KR_COMMITTED;
	l->open.at[s->thread.i] = (kr_value){KR_NONE};
	return kr_history_take(l->f.h, &event, l->f.err);
}

/* The transaction of a statement is begun, unless it is open; one that its thread left behind is over, and
 * nobody knows how. */
static enum kr_status open_txn(struct leopard *l, const struct statement *s, struct kr_event event)
{
	kr_value *open = &l->open.at[s->thread.i];
	enum kr_status status = KR_OK;

	if (open->i == event.txn.i)
		return KR_OK;
	if (open->i != KR_NONE) {
		struct kr_event end = l->last.at[s->thread.i];

		end.kind = KR_EVENT_END;
		end.status = KR_UNKNOWN;
		end.timed = false;
		status = kr_history_take(l->f.h, &end, l->f.err);
	}
	*open = event.txn;
	l->last.at[s->thread.i] = event;
	event.kind = KR_EVENT_BEGIN;
	event.timed = s->what == BEGIN;
	event.open = s->what == BEGIN && s->open;
	return status ? status : kr_history_take(l->f.h, &event, l->f.err);
}

static enum kr_status tell(struct leopard *l, const struct statement *s)
{
	struct kr_event event = kr_event_of(KR_EVENT_BEGIN, s->thread, id_of(l, s));

	event.line = s->line;
	event.invoked = s->invoked;
	event.returned = s->returned;
	KR_TRY(event.txn.i == KR_NONE ? KR_NOMEM : open_txn(l, s, event));
	if (s->what == BEGIN)
		return KR_OK;
	if (s->what == COMMIT || s->what == ROLLBACK)
		return tell_end(l, s, event);
	if (s->what == SNAPSHOT) {
		struct kr_event *last = &l->last.at[s->thread.i];

		last->flags |= s->open ? 0 : KR_TXN_HAS_SNAPSHOT_T;
		last->white_box.snapshot_t[0] = s->invoked;
		last->white_box.snapshot_t[1] = s->returned;
	}
	for (uint32_t i = 0; i < s->count; i++)
		KR_TRY(tell_row(l, s, &event, &l->cells.at[s->first + i]));
	return s->count == 0 && s->failed ? tell_failure(l, s, &event) : KR_OK;
}

static enum kr_status tell_all(struct leopard *l)
{
	struct kr_history *h = l->f.h;

	h->initial = KR_INITIAL_UNKNOWN;
	h->row_separator = ".";
	for (uint32_t s = 0; s < h->sessions.n; s++) {
		KR_TRY(kr_vec_add(h->mem, &l->open, (kr_value){KR_NONE}));
		KR_TRY(kr_vec_add(h->mem, &l->last, (struct kr_event){.kind = KR_EVENT_BEGIN}));
	}
	for (uint32_t i = 0; i < l->statements.n; i++) {
		KR_TRY(kr_history_forgive(h, tell(l, &l->statements.at[i]), l->f.err));
		KR_TRY(kr_ctx_tick(l->f.ctx));
	}
	return kr_assembly_finish(h, l->f.err);
}

/* ---- the file ---- */

static bool begins_array(const struct kr_forms *f)
{
	size_t at = f->at;

	while (at < f->length && strchr(" \t\r\n", f->text[at]) && f->text[at] != '\0')
		at++;
	return at < f->length && f->text[at] == '[';
}

static enum kr_status read_all(struct leopard *l)
{
	struct kr_forms *f = &l->f;
	char bracket = 0;
	bool found;
	enum kr_status status = begins_array(f) ? kr_forms_enter(f, &bracket) : KR_OK;

	while (!status && !(status = kr_forms_next(f, &found)) && found) {
		uint32_t cells = l->cells.n;

		status = read_statement(l);
		if (status == KR_BAD)
			l->cells.n = cells;
		status = kr_foreign_forgive(f->h, status, f->err);
	}
	if (!status && bracket && !(status = kr_forms_next(f, &found)) && found)
		return kr_forms_bad(f, f->nodes.at[0].line,
			"more text after the array, expected the end of the file");
	return status ? status : tell_all(l);
}

static enum kr_status read_leopard(struct kr_ctx *ctx, const char *path, struct kr_source *source,
	struct kr_history *h, struct kr_err *err)
{
	struct leopard l = {.cells = {0}};
	enum kr_status status = kr_forms_init(&l.f, ctx, h, path, source, err);

	l.f.json = true;
	kr_str_init(&l.name, h->mem);
	if (!status)
		status = read_all(&l);
	kr_vec_done(h->mem, &l.cells);
	kr_vec_done(h->mem, &l.statements);
	kr_vec_done(h->mem, &l.ids);
	kr_vec_done(h->mem, &l.columns);
	kr_vec_done(h->mem, &l.open);
	kr_vec_done(h->mem, &l.last);
	kr_table_done(h->mem, &l.id_table);
	kr_table_done(h->mem, &l.column_table);
	kr_str_done(&l.name);
	kr_forms_done(&l.f);
	return status;
}

static int sniff(const char *path, const char *head, size_t length)
{
	(void)path;
	return kr_foreign_holds(head, length, "\"operationTraceType\"") ? 96 : 0;
}

const struct kr_format kr_format_leopard = {
	.name = "leopard",
	.aliases = "orca",
	.title = "Leopard's JSON: one object per statement, with its interval",
	.source = "docs/formats/leopard.md",
	.sniff = sniff,
	.read = read_leopard,
};
