/* AWDIT's test text (docs/formats/awdit.md): lines `r KEY VALUE` and `w KEY VALUE`; `-` ends a transaction,
 * `=` a session.
 *
 * Pieces without operations are no transactions and no sessions. Sessions are named by their number, from 0.
 * Nothing is there before the first transaction: what is, the file writes itself. Cost: one pass. */
#include "frontend/foreign.h"

#include <string.h>

struct awdit {
	struct kr_ctx *ctx;
	struct kr_history *h;
	struct kr_err *err;
	int64_t sessions;
	bool in_session; /* it has a transaction */
	uint32_t line;   /* of the first operation of the transaction being read; 0: none yet */
	bool bad;        /* it has a bad line, and is left out */
};

static enum kr_status end_txn(struct awdit *a)
{
	struct kr_transaction txn = {.id = {KR_NONE}, .status = KR_COMMITTED, .line = a->line};

	if (a->line == 0)
		return KR_OK;
	a->line = 0;
	if (a->bad) {
		a->bad = false;
		return kr_foreign_forgive(a->h, KR_BAD, a->err);
	}
	if (!a->in_session)
		a->sessions++;
	a->in_session = true;
	txn.session = kr_foreign_session(a->h, a->sessions - 1);
	return txn.session.i == KR_NONE ? KR_NOMEM : kr_foreign_add(a->h, txn, NULL, a->err);
}

static const char *skip_blanks(const char *at) { return at + strspn(at, " \t"); }

/* Reads `r KEY VALUE`, behind which is the end or a separator; NULL, or what was expected. */
static const char *parse_op(const char **at, int64_t out[2])
{
	static const char *const expected[] = {"a key, an integer of at most 63 bits",
		"a value, an integer of at most 63 bits"};

	if (**at != 'r' && **at != 'w')
		return "r, w, - or =";
	++*at;
	for (int i = 0; i < 2; i++) {
		const char *from = *at;
		*at = skip_blanks(*at);
		if (*at == from)
			return "a blank and a number";
		if (!kr_foreign_int(at, false, &out[i]))
			return expected[i];
	}
	*at = skip_blanks(*at);
	return **at == '\0' || **at == '-' || **at == '=' ? NULL : "the end of the line";
}

static enum kr_status read_op(struct awdit *a, const char **at, uint32_t number)
{
	enum kr_op_kind kind = **at == 'w' ? KR_OP_WRITE : KR_OP_READ;
	int64_t part[2];
	const char *expected = parse_op(at, part);

	if (a->line == 0)
		a->line = number;
	if (expected) {
		kr_err_set(a->err, KR_BAD, "expected %s, as in: w KEY VALUE", expected);
		kr_err_at(a->err, a->h->files.at[0], number, 0);
		a->bad = true;
		*at += strcspn(*at, "-=");
		return a->h->lenient ? KR_OK : KR_BAD;
	}

	kr_value name = kr_history_int(a->h, part[0]), value = kr_history_int(a->h, part[1]);

	return kr_foreign_op(a->h, kind, kr_history_key(a->h, name), value, kind == KR_OP_READ);
}

static enum kr_status read_line(struct awdit *a, const char *at, uint32_t number)
{
	while (*(at = skip_blanks(at))) {
		if (*at != '-' && *at != '=') {
			KR_TRY(read_op(a, &at, number));
			continue;
		}
		KR_TRY(end_txn(a));
		if (*at++ == '=')
			a->in_session = false;
	}
	return KR_OK;
}

static enum kr_status read_awdit(struct kr_ctx *ctx, const char *path, struct kr_source *source,
	struct kr_history *h, struct kr_err *err)
{
	struct awdit a = {.ctx = ctx, .h = h, .err = err};
	char *line;
	size_t length;
	enum kr_status status;

	while (!(status = kr_source_line(source, &line, &length, err)) && line) {
		if (strlen(line) != length) {
			kr_err_set(err, KR_BAD, "found a NUL byte, expected text");
			kr_err_at(err, path, kr_source_line_number(source), 0);
			return KR_BAD;
		}
		KR_TRY(read_line(&a, line, kr_source_line_number(source)));
		KR_TRY(kr_ctx_tick(ctx));
	}
	return status ? status : end_txn(&a);
}

/* Separators and blank lines, then an operation. */
static int sniff(const char *path, const char *head, size_t length)
{
	size_t at = 0;

	(void)path;
	while (at < length && strchr("-= \t\r\n", head[at]) && head[at] != '\0')
		at++;
	if (at + 3 > length || (head[at] != 'r' && head[at] != 'w') ||
		(head[at + 1] != ' ' && head[at + 1] != '\t'))
		return 0;
	return 80;
}

const struct kr_format kr_format_awdit = {
	.name = "awdit",
	.aliases = "awdit-test",
	.title = "AWDIT's test text: r KEY VALUE and w KEY VALUE between separators",
	.source = "docs/formats/awdit.md",
	.sniff = sniff,
	.read = read_awdit,
};
