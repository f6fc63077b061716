/* dbcop's text form, .hist (docs/formats/dbcop-hist.md): transactions [ x:=1 y==2 z==? ], ! behind those that
 * did not commit, lines of dashes between sessions.
 *
 * Lines are read one at a time; a transaction may go over several. Pieces between dashes without a
 * transaction are no sessions. A read of ? saw the initial version, and so did one of 0 where nobody writes
 * that. Errors name the line. Cost: one pass over the text, one over the operations. */
#include "frontend/foreign.h"

#include <string.h>

struct hist {
	struct kr_ctx *ctx;
	struct kr_history *h;
	struct kr_err *err;
	int64_t sessions; /* begun so far: they are named by their number, from 1 */
	bool in_session;
	struct kr_transaction txn; /* being read, or read and not yet added */
	bool open, closed;         /* its [ stands; its ] stands, and perhaps a ! follows */
	bool bad;                  /* it has a bad event, and is left out */
	uint32_t line;
};

static enum kr_status bad(struct hist *r, const char *problem)
{
	kr_err_set(r->err, KR_BAD, "%s", problem);
	kr_err_at(r->err, r->h->files.at[0], r->line, 0);
	return KR_BAD;
}

static bool is_name(char c, bool first)
{
	return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		(!first && c >= '0' && c <= '9');
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static bool ends_event(char c) { return c == '\0' || c == ']' || is_blank(c); }

/* Reads NAME:=N, NAME==N or NAME==?; NULL, or what was expected. */
static const char *parse_event(const char **at, size_t *name, bool *write, bool *initial, int64_t *version)
{
	const char *text = *at;

	for (*name = 0; is_name(text[*name], *name == 0);)
		++*name;
	text += *name;
	*write = text[0] == ':';
	if (*name == 0 || (text[0] != ':' && text[0] != '=') || text[1] != '=')
		return "expected an event: NAME:=N, NAME==N or NAME==?";
	text += 2;
	*initial = !*write && *text == '?';
	if (*initial)
		text++;
	else if (!kr_foreign_int(&text, false, version))
		return "expected a version, an integer of at most 63 bits";
	*at = text;
	return ends_event(*text) ? NULL : "expected a blank or ] behind the event";
}

static enum kr_status read_event(struct hist *r, const char **at)
{
	const char *from = *at, *problem;
	size_t name;
	int64_t version = 0;
	bool write, initial;

	if ((problem = parse_event(at, &name, &write, &initial, &version))) {
		if (!r->h->lenient)
			return bad(r, problem);
		r->bad = true;
		while (!ends_event(**at))
			++*at;
		return KR_OK;
	}
	return kr_foreign_op(r->h, write ? KR_OP_WRITE : KR_OP_READ, kr_history_key_text(r->h, from, name),
		initial ? KR_ABSENT : kr_history_int(r->h, version), !write);
}

/* Adds the transaction that is closed, once it is known that no ! follows. */
static enum kr_status end_txn(struct hist *r)
{
	if (!r->closed)
		return KR_OK;
	r->closed = false;
	if (r->bad)
		return kr_foreign_forgive(r->h, KR_BAD, r->err);
	r->sessions += !r->in_session;
	r->in_session = true;
	r->txn.session = kr_foreign_session(r->h, r->sessions);
	return r->txn.session.i == KR_NONE ? KR_NOMEM : kr_foreign_add(r->h, r->txn, NULL, r->err);
}

/* Reads what stands at *at: a bracket, a mark, an event. */
static enum kr_status read_piece(struct hist *r, const char **at)
{
	if (r->open && **at == ']') {
		r->open = false;
		r->closed = true;
	} else if (r->open) {
		return read_event(r, at);
	} else if (**at == '!' && r->closed && r->txn.status == KR_COMMITTED) {
		r->txn.status = KR_ABORTED;
	} else if (**at == '[') {
		KR_TRY(end_txn(r));
		r->open = true;
		r->bad = false;
		r->txn = (struct kr_transaction){.id = {KR_NONE}, .status = KR_COMMITTED, .line = r->line};
	} else {
		return bad(r,
			r->closed ? "expected [, ! or a line of dashes" : "expected [ or a line of dashes");
	}
	++*at;
	return KR_OK;
}

/* Whether the line is nothing but dashes, one or more. */
static bool is_dashes(const char *at)
{
	size_t dashes = strspn(at, "-");

	for (at += dashes; is_blank(*at);)
		at++;
	return dashes > 0 && *at == '\0';
}

static enum kr_status read_line(struct hist *r, char *line)
{
	char *comment = strstr(line, "//");
	const char *at = line;

	if (comment)
		*comment = '\0';
	while (is_blank(*at))
		at++;
	if (!r->open && is_dashes(at)) {
		KR_TRY(end_txn(r));
		r->in_session = false;
		return KR_OK;
	}
	for (; *at; at += strspn(at, " \t\r")) {
		KR_TRY(read_piece(r, &at));
		KR_TRY(kr_ctx_tick(r->ctx));
	}
	return KR_OK;
}

static enum kr_status read_hist(struct kr_ctx *ctx, const char *path, struct kr_source *source,
	struct kr_history *h, struct kr_err *err)
{
	struct hist r = {.ctx = ctx, .h = h, .err = err};
	char *line;
	size_t length;
	enum kr_status status;

	(void)path;
	while (!(status = kr_source_line(source, &line, &length, err)) && line) {
		r.line = kr_source_line_number(source);
		if (strlen(line) != length)
			return bad(&r, "found a NUL byte, expected text");
		KR_TRY(read_line(&r, line));
		KR_TRY(kr_ctx_tick(ctx));
	}
	KR_TRY(status);
	if (r.open)
		return bad(&r, "the file ends inside a transaction, expected its ]");
	KR_TRY(end_txn(&r));
	return kr_foreign_zeros(ctx, h, false, NULL);
}

static size_t skip_comments(const char *head, size_t length)
{
	size_t at = 0;

	for (; at < length; at++) {
		if (head[at] == '/' && at + 1 < length && head[at + 1] == '/')
			while (at + 1 < length && head[at] != '\n')
				at++;
		else if (head[at] == '\0' || !strchr("- \t\r\n", head[at]))
			break;
	}
	return at;
}

/* Comments and dashes, then a bracket and an event; or nothing in the bracket, and a name that says so. */
static int sniff(const char *path, const char *head, size_t length)
{
	size_t at = skip_comments(head, length), from;

	if (at == length || head[at] != '[')
		return 0;
	for (at++; at < length && (is_blank(head[at]) || head[at] == '\n'); at++)
		;
	from = at;
	while (at < length && is_name(head[at], at == from))
		at++;
	if (at > from && at + 1 < length && (head[at] == ':' || head[at] == '=') && head[at + 1] == '=')
		return 90;
	return at == from && at < length && head[at] == ']' &&
			(kr_foreign_ends(path, ".hist") || kr_foreign_ends(path, ".hist.gz"))
		? 60
		: 0;
}

const struct kr_format kr_format_dbcop_hist = {
	.name = "dbcop-hist",
	.aliases = "hist",
	.title = "dbcop's text: [ x:=1 y==2 z==? ], a session between dashes",
	.source = "docs/formats/dbcop-hist.md",
	.sniff = sniff,
	.read = read_hist,
};
