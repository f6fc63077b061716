/* Histories of Jepsen and Elle (docs/formats/elle.md): maps of invocations and completions, as EDN, JSON or
 * Fressian, one behind the other or in one list.
 *
 * A process has one operation open at a time; its completion is the next map of that process. ok: committed;
 * fail: aborted; info, or none: unknown, with nothing that it read. A process is a session, which ends where
 * an outcome is unknown. Moments are the places of the maps in the file, since `:index` may repeat and
 * `:time` need not be there. Cost: one pass over the text, which is in memory whole. Operations of one key
 * are transactions, too. What is neither is refused, but for the nemesis. */
#include "frontend/elle.h"

#include <string.h>

#include "base/hash.h"
#include "frontend/elle_stored.h"

/* ---- processes ---- */

/* Index of the process of that name, made if it is new; KR_NONE when memory runs out. */
static uint32_t find_process(struct elle *e, kr_value name)
{
	uint64_t hash = kr_hash_u64(name.i);
	struct kr_mem *mem = e->forms.h->mem;
	uint32_t found;

	KR_TABLE_FIND(found, &e->table, hash, e->processes.at[found].name.i == name.i);
	if (found != KR_NONE)
		return found;
	if (!kr_table_push(mem, &e->table, hash, &e->processes,
		    (struct elle_process){.name = name, .session = {KR_NONE}}))
		return KR_NONE;
	return e->processes.n - 1;
}

/* The session that the process is in; one behind an unknown outcome is named P#2, P#3 and so on. */
static enum kr_status take_session(struct elle *e, struct elle_process *p)
{
	struct kr_history *h = e->forms.h;
	kr_value name = p->name;
	char process[64];

	if (p->session.i != KR_NONE || p->name.i == KR_ABSENT.i)
		return KR_OK;
	if (p->sessions++ > 0) {
		kr_history_brief(h, p->name, process, sizeof process);
		const char *text = kr_arena_format(&h->arena, "%s#%u", process, (unsigned)p->sessions);
		name = text ? kr_history_text(h, KR_VALUE_STRING, text, strlen(text)) : (kr_value){KR_NONE};
	}
	p->session = kr_history_session(h, name);
	return p->session.i == KR_NONE ? KR_NOMEM : KR_OK;
}

/* ---- transactions ---- */

/* Adds the transaction whose operations have been pushed. */
static enum kr_status add_txn(struct elle *e, struct elle_process *p, enum kr_txn_status outcome,
	uint32_t line)
{
	struct kr_transaction txn = {.id = {KR_NONE}, .status = outcome, .line = p->open ? p->line : line};
	KR_TRY(take_session(e, p));
	txn.session = p->session;
	if (e->timed_out)
		txn.flags |= KR_TXN_TIMED_OUT;
	if (p->open) {
		txn.flags |= KR_TXN_HAS_BEGIN;
		txn.begin_invoked = txn.begin_returned = p->moment;
	}
	if (outcome != KR_UNKNOWN) {
		txn.flags |= KR_TXN_HAS_END;
		txn.end_invoked = txn.end_returned = e->moment;
	} else {
		p->session = (kr_session){KR_NONE};
	}
	p->open = false;
	return kr_foreign_add(e->forms.h, txn, NULL, e->forms.err);
}

static enum kr_status push_invoked(struct elle *e, const struct elle_process *p)
{
	for (uint32_t i = 0; i < p->ops.n; i++)
		KR_TRY(kr_foreign_put(e->forms.h, p->ops.at[i]));
	return KR_OK;
}

static enum kr_status read_invocation(struct elle *e, struct elle_process *p, uint32_t function,
	uint32_t value, uint32_t line)
{
	struct kr_history *h = e->forms.h;
	uint32_t first = h->ops.n;

	if (p->open)
		return kr_forms_bad(&e->forms, line,
			"the process invokes an operation, but that of line %u has not completed",
			(unsigned)p->line);
	KR_TRY(kr_elle_ops(e, function, value, false));
	p->ops.n = 0;
	for (uint32_t i = first; i < h->ops.n; i++)
		KR_TRY(kr_vec_add(h->mem, &p->ops, h->ops.at[i]));
	h->ops.n = first;
	p->open = true;
	p->line = line;
	p->moment = e->moment;
	return KR_OK;
}

static enum kr_status read_completion(struct elle *e, struct elle_process *p, enum kr_txn_status outcome,
	uint32_t function, uint32_t value, uint32_t line)
{
	const struct kr_forms *f = &e->forms;
	bool own = kr_form_type(f, value) == KR_FORM_LIST && kr_elle_is_transaction(f, function, value);
	uint32_t first = f->h->ops.n;
	enum kr_status status;

	if (!own && p->open && outcome != KR_COMMITTED)
		status = push_invoked(e, p);
	else
		status = kr_elle_ops(e, function, value, outcome == KR_COMMITTED);
	if (!status && outcome == KR_ABORTED)
		kr_elle_undone(f->h, first);
	if (status)
		p->open = false; /* a lenient reader goes on */
	return status ? status : add_txn(e, p, outcome, line);
}

/* ---- maps ---- */

enum { TYPE, PROCESS, F, VALUE, ERROR, VALID, KEY, FIELDS };

static enum kr_status take_process(struct elle *e, uint32_t form, kr_value *out, bool *client)
{
	struct kr_forms *f = &e->forms;

	*out = KR_ABSENT;
	*client = !kr_form_is(f, form, "nemesis");
	if (form == KR_NONE || !*client)
		return KR_OK;
	switch (kr_form_type(f, form)) {
	case KR_FORM_NIL:
	case KR_FORM_INT:
	case KR_FORM_NAME:
	case KR_FORM_STRING: return kr_forms_value(f, form, out);
	default: return kr_forms_wrong(f, f->nodes.at[0].line, ":process is", form, "an integer or a name");
	}
}

/* It has completed, or the state that predicates are judged by is not known. */
static enum kr_status read_init(struct elle *e, const uint32_t fields[FIELDS], uint32_t line)
{
	if (kr_form_is(&e->forms, fields[TYPE], "invoke"))
		return KR_OK;
	if (kr_form_is(&e->forms, fields[TYPE], "ok"))
		return kr_elle_init(e, fields[VALUE]);
	return kr_forms_bad(&e->forms, line,
		"an :init that has not succeeded, expected one with :type :ok: what there was at first is "
		"not known");
}

static enum kr_status read_fields(struct elle *e, const uint32_t fields[FIELDS], uint32_t process)
{
	static const struct {
		const char *name;
		enum kr_txn_status outcome;
	} types[] = {{"ok", KR_COMMITTED}, {"fail", KR_ABORTED}, {"info", KR_UNKNOWN}};
	struct kr_forms *f = &e->forms;
	struct elle_process *p = &e->processes.at[process];
	uint32_t line = f->nodes.at[0].line;

	if (kr_form_is(f, fields[F], "init"))
		return read_init(e, fields, line);
	if (kr_form_is(f, fields[TYPE], "invoke"))
		return read_invocation(e, p, fields[F], fields[VALUE], line);
	for (size_t i = 0; i < KR_COUNT(types); i++)
		if (kr_form_is(f, fields[TYPE], types[i].name)) {
			e->timed_out = types[i].outcome == KR_ABORTED && kr_elle_is_timeout(f, fields[ERROR]);
			return read_completion(e, p, types[i].outcome, fields[F], fields[VALUE], line);
		}
	return kr_forms_wrong(f, line, ":type is", fields[TYPE], ":invoke, :ok, :fail or :info");
}

static enum kr_status read_map(struct elle *e)
{
	static const char *const names[FIELDS] = {"type", "process", "f", "value", "error", "valid?", "key"};
	struct kr_forms *f = &e->forms;
	uint32_t fields[FIELDS], line = f->nodes.at[0].line, process;
	kr_value name;
	bool client;

	e->moment++;
	if (f->nodes.at[0].type != KR_FORM_MAP)
		return kr_forms_wrong(f, line, "found", 0, "an operation: a map");
	KR_TRY(kr_forms_fields(f, 0, names, fields, FIELDS));
	KR_TRY(take_process(e, fields[PROCESS], &name, &client));
	if (!client)
		return KR_OK;
	if (fields[TYPE] == KR_NONE && fields[VALID] != KR_NONE)
		return kr_forms_bad(f, line,
			"a result of Elle or Jepsen, not a history: expected history.edn, which is beside it "
			"(krait crosscheck --claim judges the result)");
	if (fields[TYPE] == KR_NONE)
		return kr_forms_bad(f, line,
			"the operation has no :type, expected :invoke, :ok, :fail or :info");
	e->key = fields[KEY];
	process = find_process(e, name);
	return process == KR_NONE ? KR_NOMEM : read_fields(e, fields, process);
}

/* Invocations without a completion: nobody knows. */
static enum kr_status end_open(struct elle *e)
{
	e->timed_out = false;
	for (uint32_t i = 0; i < e->processes.n; i++) {
		struct elle_process *p = &e->processes.at[i];
		if (!p->open)
			continue;
		KR_TRY(push_invoked(e, p));
		KR_TRY(add_txn(e, p, KR_UNKNOWN, p->line));
	}
	return KR_OK;
}

/* The maps of the file, or of a list that has been entered. */
static enum kr_status read_maps(struct elle *e)
{
	bool found;
	enum kr_status status;

	while (!(status = kr_forms_next(&e->forms, &found)) && found)
		KR_TRY(kr_foreign_forgive(e->forms.h, read_map(e), e->forms.err));
	return status;
}

static enum kr_status read_all(struct elle *e)
{
	char bracket = 0;
	bool list =
		!e->forms.next && kr_elle_is_list(e->forms.text + e->forms.at, e->forms.length - e->forms.at);
	bool found;
	KR_TRY(list ? kr_forms_enter(&e->forms, &bracket) : KR_OK);
	KR_TRY(read_maps(e));
	if (list) {
		KR_TRY(kr_forms_next(&e->forms, &found));
		if (found)
			return kr_forms_bad(&e->forms, e->forms.nodes.at[0].line,
				"more text after the list of operations, expected the end of the file");
	}
	return end_open(e);
}

/* Of forms that have been initialised, with `status`. */
static enum kr_status read_history(struct elle *e, enum kr_status status)
{
	struct kr_history *h = e->forms.h;
	struct kr_ctx *ctx = e->forms.ctx;

	if (!status)
		status = read_all(e);
	if (!status)
		status = kr_elle_remainders(e);
	if (!status)
		status = kr_elle_counters(e);
	for (uint32_t i = 0; i < e->processes.n; i++)
		kr_vec_done(h->mem, &e->processes.at[i].ops);
	kr_vec_done(h->mem, &e->processes);
	kr_vec_done(h->mem, &e->remainders);
	kr_table_done(h->mem, &e->table);
	kr_forms_done(&e->forms);
	return status ? status : kr_elle_empty_lists(ctx, h);
}

static enum kr_status read_text(struct kr_ctx *ctx, const char *path, struct kr_source *source,
	struct kr_history *h, struct kr_err *err)
{
	struct elle e = {.moment = 0};

	return read_history(&e, kr_forms_init(&e.forms, ctx, h, path, source, err));
}

static enum kr_status read_stored(struct kr_ctx *ctx, const char *path, struct kr_source *source,
	struct kr_history *h, struct kr_err *err)
{
	struct elle e = {.moment = 0};
	struct kr_elle_stored stored;

	kr_forms_begin(&e.forms, ctx, h, path, err);
	enum kr_status status = read_history(&e, kr_elle_stored_init(&stored, &e.forms, source));
	kr_elle_stored_done(&stored);
	return status;
}

static enum kr_status read_log(struct kr_ctx *ctx, const char *path, struct kr_source *source,
	struct kr_history *h, struct kr_err *err)
{
	struct kr_source *maps;
	struct kr_str text;

	kr_str_init(&text, &ctx->mem);
	enum kr_status status = kr_elle_log(path, source, &text, err);
	if (!status)
		status = kr_source_memory(ctx, path, kr_str_text(&text), text.n, &maps, err);
	if (!status) {
		status = read_text(ctx, path, maps, h, err);
		kr_source_free(maps);
	}
	kr_str_done(&text);
	return status;
}

static enum kr_status read_elle(struct kr_ctx *ctx, const char *path, struct kr_source *source,
	struct kr_history *h, struct kr_err *err)
{
	const char *head;
	size_t length;
	KR_TRY(kr_source_head(source, &head, &length, err));
	if (kr_elle_is_stored(head, length))
		return read_stored(ctx, path, source, h, err);
	return (kr_elle_is_log(head, length) ? read_log : read_text)(ctx, path, source, h, err);
}

/* Comments and brackets, then a keyword or the name of a field that such a map has. */
static int sniff(const char *path, const char *head, size_t length)
{
	size_t at = 0;
	bool map = false;

	for (; at < length && head[at] != '\0'; at++) {
		if (head[at] == ';')
			while (at + 1 < length && head[at] != '\n')
				at++;
		else if (!strchr(" \t\r\n,[({", head[at]))
			break;
		map = map || head[at] == '{';
	}
	if (kr_elle_is_stored(head, length))
		return 99;
	if (kr_elle_is_log(head, length))
		return 70;
	if (map && at + 8 <= length && memcmp(head + at, "\"valid?\"", 8) == 0)
		return 92; /* the same */
	if (map && at < length && head[at] == ':')
		return 90;
	if (map && at < length && head[at] == '"' && kr_foreign_holds(head, length, "\"type\"") &&
		(kr_foreign_holds(head, length, "\"value\"") ||
			kr_foreign_holds(head, length, "\"process\"")))
		return kr_foreign_holds(head, length, "\"krait\"") ? 0 : 92;
	if (!map && at < length && head[at] == ']')
		return 10; /* [], nothing at all */
	return kr_foreign_ends(path, ".edn") || kr_foreign_ends(path, ".edn.gz") ? 60 : 0;
}

const struct kr_format kr_format_elle = {
	.name = "elle",
	.aliases = "jepsen edn json list-append rw-register elle-list-append elle-rw-register register "
		   "cas-register mutex knossos bank counter set set-full long-fork",
	.title = "histories of Jepsen, Elle and Knossos: EDN, JSON, logs, test.jepsen",
	.source = "docs/formats/elle.md",
	.sniff = sniff,
	.read = read_elle,
};
