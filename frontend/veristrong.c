/* VeriStrong's text of list histories (docs/formats/veristrong.md): the number of operations, then for each
 * SESSION TXN A KEY ELEMENT, or SESSION TXN R KEY COUNT ELEMENT...
 *
 * White space separates, of any kind. The operations of a transaction may stand anywhere: they are gathered.
 * Numbers that tell how much follows are held against what does, and nothing is allocated by them. Errors
 * name the line. Cost: one pass over the text, which is in memory whole, one over the operations. */
#include "frontend/gather.h"

#include <string.h>

struct veristrong {
	struct kr_ctx *ctx;
	struct kr_err *err;
	struct kr_gather gather;
	struct kr_str list; /* scratch: a list that was read, as JSON */
	const char *at;     /* terminated by a NUL */
	uint32_t line;
};

static enum kr_status bad(struct veristrong *v, const char *problem)
{
	kr_err_set(v->err, KR_BAD, "%s", problem);
	kr_err_at(v->err, v->gather.h->files.at[0], v->line, 0);
	return KR_BAD;
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static void skip_blanks(struct veristrong *v)
{
	for (; is_blank(*v->at); v->at++)
		v->line += *v->at == '\n';
}

static enum kr_status read_int(struct veristrong *v, const char *expected, int64_t *out)
{
	skip_blanks(v);
	if (!kr_foreign_int(&v->at, true, out) || (*v->at != '\0' && !is_blank(*v->at)))
		return bad(v, expected);
	return KR_OK;
}

static enum kr_status read_list(struct veristrong *v, kr_value *out)
{
	int64_t count, element;
	KR_TRY(read_int(v, "expected how many elements were read, an integer", &count));
	if (count < 0)
		return bad(v, "expected how many elements were read, not a negative number");
	*out = KR_ABSENT;
	if (count == 0)
		return KR_OK;
	v->list.n = 0;
	for (int64_t i = 0; i < count; i++) {
		KR_TRY(read_int(v, "expected another element of the list, an integer of 64 bits", &element));
		KR_TRY(kr_ctx_tick(v->ctx));
		kr_str_format(&v->list, "%c%lld", i == 0 ? '[' : ',', (long long)element);
	}
	kr_str_add_bytes(&v->list, "]", 1);
	if (v->list.failed)
		return KR_NOMEM;
	*out = kr_history_text(v->gather.h, KR_VALUE_ARRAY, v->list.at, v->list.n);
	return KR_OK;
}

static enum kr_status read_op(struct veristrong *v)
{
	struct kr_history *h = v->gather.h;
	int64_t session, id, key, element;
	uint32_t txn;
	kr_value a = KR_ABSENT;

	KR_TRY(read_int(v, "expected a session, an integer of 64 bits", &session));

	uint32_t line = v->line;

	KR_TRY(read_int(v, "expected a transaction, an integer of 64 bits", &id));
	skip_blanks(v);
	char kind = *v->at;
	if ((kind != 'R' && kind != 'A') || !is_blank(v->at[1]))
		return bad(v, "expected R or A");
	v->at++;
	KR_TRY(read_int(v, "expected a key, an integer of 64 bits", &key));
	if (kind == 'R') {
		KR_TRY(read_list(v, &a));
	} else {
		KR_TRY(read_int(v, "expected an element, an integer of 64 bits", &element));
		a = kr_history_int(h, element);
	}
	KR_TRY(kr_gather_txn(&v->gather, session, id, false, line, &txn));
	if (v->gather.txns.at[txn].session.i != v->gather.session.i)
		return bad(v,
			"the transaction is of another session than before, expected that of its first "
			"operation");

	return kr_gather_op(&v->gather, txn, kind == 'R' ? KR_OP_READ : KR_OP_APPEND,
		kr_history_key(h, kr_history_int(h, key)), a);
}

static enum kr_status read_ops(struct veristrong *v, const char *end)
{
	int64_t count;

	KR_TRY(read_int(v, "expected the number of operations, an integer", &count));
	if (count < 0)
		return bad(v, "expected the number of operations, not a negative one");
	for (int64_t i = 0; i < count; i++) {
		skip_blanks(v);
		if (v->at == end) {
			kr_err_set(v->err, KR_BAD,
				"the file ends after %lld operations, expected the %lld that it begins with",
				(long long)i, (long long)count);
			kr_err_at(v->err, v->gather.h->files.at[0], v->line, 0);
			return KR_BAD;
		}
		KR_TRY(read_op(v));
		KR_TRY(kr_ctx_tick(v->ctx));
	}
	skip_blanks(v);
	return v->at == end ? KR_OK
			    : bad(v, "more text after the last operation, expected the end of the file");
}

static enum kr_status read_veristrong(struct kr_ctx *ctx, const char *path, struct kr_source *source,
	struct kr_history *h, struct kr_err *err)
{
	struct veristrong v = {.ctx = ctx, .err = err, .line = 1};
	char *text;
	size_t length;
	(void)path;
	KR_TRY(kr_source_rest(source, &text, &length, err));
	v.at = text;
	kr_gather_init(&v.gather, h);
	kr_str_init(&v.list, h->mem);
	enum kr_status status = read_ops(&v, text + length);
	if (!status)
		status = kr_gather_finish(&v.gather, ctx, err);
	kr_str_done(&v.list);
	kr_gather_done(&v.gather);
	return status;
}

/* Three numbers, R or A, a number. */
static int sniff(const char *path, const char *head, size_t length)
{
	static const char tokens[] = "###A#";
	size_t at = 0;

	(void)path;
	for (const char *token = tokens; *token; token++) {
		while (at < length && is_blank(head[at]))
			at++;
		size_t from = at;
		while (at < length &&
			(*token == '#' ? head[at] >= '0' && head[at] <= '9'
				       : head[at] == 'A' || head[at] == 'R'))
			at++;
		if (at == from || (at < length && !is_blank(head[at])))
			return 0;
	}
	return 85;
}

const struct kr_format kr_format_veristrong = {
	.name = "veristrong",
	.aliases = "veristrong-list elle-list-append",
	.title = "VeriStrong's text of list histories: SESSION TXN A KEY ELEMENT, or R KEY and a list",
	.source = "docs/formats/veristrong.md",
	.sniff = sniff,
	.read = read_veristrong,
};
