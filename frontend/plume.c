/* Plume's and PolySI's text (docs/formats/plume.md): a line for each operation,
 * r(KEY,VALUE,SESSION,TRANSACTION) or w(...).
 *
 * The lines of a transaction may stand anywhere: they are gathered. Transaction -1 stands for all aborted
 * ones: each of its lines becomes an aborted transaction of its own, which keeps what is written known as
 * aborted. 0 is what keys start with. Cost: one pass over the text, two over the operations. */
#include "frontend/gather.h"

#include <string.h>

struct plume {
	struct kr_ctx *ctx;
	struct kr_history *h;
	struct kr_err *err;
	struct kr_gather gather;
};

/* Parses r(K,V,S,T) or w(K,V,S,T); NULL, or what was expected. */
static const char *parse_line(const char *at, int64_t out[4])
{
	static const char *const expected[] = {"a key", "a value", "a session", "a transaction"};

	if ((at[0] != 'r' && at[0] != 'w') || at[1] != '(')
		return "r( or w(";
	at++;
	for (int i = 0; i < 4; i++) {
		if (i > 0 && *at != ',')
			return "a comma and another number: four in all";
		at++;
		if (!kr_foreign_int(&at, true, &out[i]))
			return expected[i];
	}
	return at[0] == ')' && at[1] == '\0' ? NULL : ") at the end of the line, after four numbers";
}

static enum kr_status read_line(struct plume *p, const char *text, size_t length, uint32_t number)
{
	int64_t part[4];
	const char *expected = strlen(text) == length ? parse_line(text, part) : "text, not a NUL byte";
	uint32_t txn;

	if (expected) {
		kr_err_set(p->err, KR_BAD, "expected %s, as in r(KEY,VALUE,SESSION,TRANSACTION)", expected);
		kr_err_at(p->err, p->h->files.at[0], number, 0);
		return KR_BAD;
	}

	kr_value name = kr_history_int(p->h, part[0]), value = kr_history_int(p->h, part[1]);

	KR_TRY(kr_gather_txn(&p->gather, part[2], part[3], part[3] == -1, number, &txn));
	return kr_gather_op(&p->gather, txn, text[0] == 'w' ? KR_OP_WRITE : KR_OP_READ,
		kr_history_key(p->h, name), value);
}

static enum kr_status read_lines(struct plume *p, struct kr_source *source)
{
	char *line;
	size_t length;
	enum kr_status status;

	while (!(status = kr_source_line(source, &line, &length, p->err)) && line) {
		uint32_t number = kr_source_line_number(source);
		if (length == 0)
			continue;
		KR_TRY(kr_foreign_forgive(p->h, read_line(p, line, length, number), p->err));
		KR_TRY(kr_ctx_tick(p->ctx));
	}
	return status;
}

static enum kr_status read_plume(struct kr_ctx *ctx, const char *path, struct kr_source *source,
	struct kr_history *h, struct kr_err *err)
{
	struct plume p = {.ctx = ctx, .h = h, .err = err};
	enum kr_status status;

	(void)path;
	kr_gather_init(&p.gather, h);
	if (!(status = read_lines(&p, source)))
		status = kr_gather_finish(&p.gather, ctx, err);
	kr_gather_done(&p.gather);
	return status ? status : kr_foreign_zeros(ctx, h, true, err);
}

static int sniff(const char *path, const char *head, size_t length)
{
	(void)path;
	if (length < 3 || (head[0] != 'r' && head[0] != 'w') || head[1] != '(')
		return 0;
	return head[2] == '-' || (head[2] >= '0' && head[2] <= '9') ? 90 : 0;
}

const struct kr_format kr_format_plume = {
	.name = "plume",
	.aliases = "polysi isovista plume-text",
	.title = "text of Plume, PolySI and IsoVista: r(key,value,session,transaction)",
	.source = "docs/formats/plume.md",
	.sniff = sniff,
	.read = read_plume,
};
