/* dbcop's present JSON (docs/formats/dbcop.md): an array of sessions of transactions {events, committed},
 * bare or as "data" of an object.
 *
 * Transactions are read one at a time from the text, which is in memory whole. A read of null saw the initial
 * version, and so did one of version 0 where nobody writes that. Uncommitted transactions are aborted. Cost:
 * one pass over the text, one over the operations. */
#include "frontend/foreign.h"

#include <string.h>

static enum kr_status bad_event(struct kr_forms *f, uint32_t event, const char *expected)
{
	return kr_forms_wrong(f, f->nodes.at[event].line, "the event is", event, expected);
}

/* Key and version of {"Read": {"variable": K, "version": V}}, or of ["r", K, V]. */
static enum kr_status event_parts(struct kr_forms *f, uint32_t event, bool *write, uint32_t *key,
	uint32_t *version)
{
	static const char *const names[] = {"variable", "version"};
	uint32_t name = event + 1, fields[2];
	const struct kr_form *nodes = f->nodes.at;

	if (nodes[event].type == KR_FORM_LIST) {
		if (nodes[event].end != event + 4 || !(kr_form_is(f, name, "r") || kr_form_is(f, name, "w")))
			return bad_event(f, event, "[\"r\" or \"w\", variable, version]");
		*write = kr_form_is(f, name, "w");
		*key = event + 2;
		*version = event + 3;
		return KR_OK;
	}
	if (nodes[event].type != KR_FORM_MAP || nodes[event].end < event + 3 ||
		nodes[event + 2].end != nodes[event].end || nodes[event + 2].type != KR_FORM_MAP ||
		!(kr_form_is(f, name, "Read") || kr_form_is(f, name, "Write")))
		return bad_event(f, event, "an object with \"Read\" or \"Write\"");
	*write = kr_form_is(f, name, "Write");
	KR_TRY(kr_forms_fields(f, event + 2, names, fields, 2));
	if (fields[0] == KR_NONE || (fields[1] == KR_NONE && *write))
		return bad_event(f, event, "one with \"variable\" and \"version\"");
	*key = fields[0];
	*version = fields[1];
	return KR_OK;
}

static enum kr_status read_event(struct kr_forms *f, uint32_t event)
{
	bool write = false;
	uint32_t key_form = KR_NONE, version = KR_NONE;
	kr_key key;
	kr_value value = KR_ABSENT;
	KR_TRY(event_parts(f, event, &write, &key_form, &version));
	KR_TRY(kr_forms_key(f, key_form, &key));
	if (kr_form_type(f, version) != KR_FORM_INT && kr_form_type(f, version) != KR_FORM_NIL)
		return bad_event(f, event, "one whose version is an integer of 64 bits or null");
	if (version != KR_NONE)
		KR_TRY(kr_forms_value(f, version, &value));
	if (write && value.i == KR_ABSENT.i)
		return bad_event(f, event, "a write of a version, not of null");
	return kr_foreign_op(f->h, write ? KR_OP_WRITE : KR_OP_READ, key, value, !write);
}

static enum kr_status read_txn(struct kr_forms *f, kr_session session)
{
	static const char *const names[] = {"events", "committed"};
	const struct kr_form *root = &f->nodes.at[0];
	struct kr_transaction txn = {.id = {KR_NONE}, .session = session, .line = root->line};
	uint32_t fields[2];

	if (root->type != KR_FORM_MAP)
		return kr_forms_wrong(f, root->line, "found", 0,
			"a transaction: {\"events\": ..., \"committed\": ...}");
	KR_TRY(kr_forms_fields(f, 0, names, fields, 2));
	if (kr_form_type(f, fields[0]) != KR_FORM_LIST)
		return kr_forms_wrong_field(f, root->line, names[0], fields[0], "an array");
	if (kr_form_type(f, fields[1]) != KR_FORM_TRUE && kr_form_type(f, fields[1]) != KR_FORM_FALSE)
		return kr_forms_wrong_field(f, root->line, names[1], fields[1], "true or false");
	txn.status = kr_form_type(f, fields[1]) == KR_FORM_TRUE ? KR_COMMITTED : KR_ABORTED;
	for (uint32_t at = fields[0] + 1; at < f->nodes.at[fields[0]].end; at = f->nodes.at[at].end)
		KR_TRY(read_event(f, at));
	return kr_foreign_add(f->h, txn, NULL, f->err);
}

static enum kr_status read_session(struct kr_forms *f, kr_session session)
{
	bool found;
	enum kr_status status;

	while (!(status = kr_forms_next(f, &found)) && found) {
		KR_TRY(kr_foreign_forgive(f->h, read_txn(f, session), f->err));
		KR_TRY(kr_ctx_tick(f->ctx));
	}
	return status;
}

/* The sessions of an array that has been entered. */
static enum kr_status read_sessions(struct kr_forms *f)
{
	for (int64_t s = 1;; s++) {
		char bracket;
		bool found;
		KR_TRY(kr_forms_enter(f, &bracket));

		if (bracket == 0) {
			KR_TRY(kr_forms_next(f, &found));
			return !found ? KR_OK
				      : kr_forms_bad(f, f->nodes.at[0].line,
						"expected a session: an array of transactions");
		}
		if (bracket != '[')
			return kr_forms_bad(f, f->line, "expected a session: an array of transactions");

		kr_session session = kr_foreign_session(f->h, s);

		KR_TRY(session.i == KR_NONE ? KR_NOMEM : read_session(f, session));
	}
}

static enum kr_status read_wrapped(struct kr_forms *f)
{
	bool found, data = false;
	char bracket;
	enum kr_status status;

	while (!(status = kr_forms_next(f, &found)) && found) {
		if (!kr_form_is(f, 0, "data")) {
			KR_TRY(kr_forms_next(f, &found));
			continue;
		}
		if (data)
			return kr_forms_bad(f, f->line, "the field \"data\" stands twice");
		data = true;
		KR_TRY(kr_forms_enter(f, &bracket));
		KR_TRY(bracket == '[' ? read_sessions(f)
				      : kr_forms_bad(f, f->line, "expected an array of sessions"));
	}
	return status || data
		? status
		: kr_forms_bad(f, f->line, "the object has no \"data\", expected an array of sessions there");
}

static enum kr_status read_all(struct kr_forms *f)
{
	char bracket;
	bool found;
	KR_TRY(kr_forms_enter(f, &bracket));
	if (bracket != '[' && bracket != '{')
		return kr_forms_bad(f, f->line, "expected an array of sessions, or an object with \"data\"");
	KR_TRY(bracket == '[' ? read_sessions(f) : read_wrapped(f));
	KR_TRY(kr_forms_next(f, &found));
	return found ? kr_forms_bad(f, f->nodes.at[0].line,
			       "more text after the history, expected the end of the file")
		     : KR_OK;
}

static enum kr_status read_dbcop_json(struct kr_ctx *ctx, const char *path, struct kr_source *source,
	struct kr_history *h, struct kr_err *err)
{
	struct kr_forms f;
	enum kr_status status = kr_forms_init(&f, ctx, h, path, source, err);

	f.json = true;
	if (!status)
		status = read_all(&f);
	kr_forms_done(&f);
	return status ? status : kr_foreign_zeros(ctx, h, false, NULL);
}

/* An object with "params" or "data", or an array of arrays of objects. */
static int sniff(const char *path, const char *head, size_t length)
{
	char start[4] = "";
	size_t n = 0;

	(void)path;
	for (size_t at = 0; at < length && n < 3; at++)
		if (!strchr(" \t\r\n", head[at]) || head[at] == '\0')
			start[n++] = head[at];
	if ((strcmp(start, "[[{") == 0 || strcmp(start, "[[]") == 0) &&
		kr_foreign_holds(head, length, "\"events\""))
		return 95;
	if (strcmp(start, "[[]") == 0)
		return 20;
	if (start[0] != '{' || start[1] != '"' || kr_foreign_holds(head, length, "\"txns\"") ||
		kr_foreign_holds(head, length, "\"krait\""))
		return 0;
	return kr_foreign_holds(head, length, "\"params\"") ||
			(kr_foreign_holds(head, length, "\"data\"") &&
				kr_foreign_holds(head, length, "\"events\""))
		? 95
		: 0;
}

const struct kr_format kr_format_dbcop_json = {
	.name = "dbcop-json",
	.title = "dbcop's JSON: sessions of transactions with events",
	.source = "docs/formats/dbcop.md",
	.sniff = sniff,
	.read = read_dbcop_json,
};
