/* Plume's and PolySI's text (docs/formats/plume.md): a line for each operation, r(KEY,VALUE,SESSION,TRANSACTION) or w(...).
 *
 * The lines of a transaction may stand anywhere, so that all are read first, and then sorted by transaction (counting sort: the order of lines stays). A transaction has
 * its place in its session where it is first mentioned. Transaction -1 stands for all aborted ones: each of its lines becomes an aborted transaction of its own, which keeps
 * what is written known as aborted. 0 is what keys start with. Cost: one pass over the text, one over the operations. */
#include "frontend/foreign.h"

#include <string.h>

#include "base/hash.h"

struct plume_line {
	uint32_t txn;
	kr_key key;
	kr_value value;
	bool write;
};
struct plume_txn {
	int64_t id;
	kr_session session;
	uint32_t line, count, first;
};

struct plume {
	struct kr_ctx *ctx;
	struct kr_history *h;
	struct kr_err *err;
	KR_VEC(struct plume_line) lines;
	KR_VEC(struct plume_txn) txns;
	struct kr_table table; /* of txns, by id */
	int64_t session_name;  /* of the last line */
	kr_session session;
	uint32_t txn; /* of the last line */
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

/* The transaction of that id, made if it is new; KR_NONE when memory runs out. */
static uint32_t find_txn(struct plume *p, int64_t id, uint32_t line)
{
	uint64_t hash = kr_hash_u64((uint64_t)id);
	uint32_t found;

	if (p->txns.n > 0 && p->txns.at[p->txn].id == id && id != -1)
		return p->txn;
	if (id != -1)
		for (kr_table_iter it = kr_table_find(&p->table, hash); (found = kr_table_next(&p->table, &it)) != KR_NONE;)
			if (p->txns.at[found].id == id)
				return found;
	if (!kr_table_reserve(p->h->mem, &p->table) || !kr_vec_push(p->h->mem, &p->txns, (struct plume_txn){.id = id, .session = p->session, .line = line}))
		return KR_NONE;
	if (id != -1)
		kr_table_insert(&p->table, hash, p->txns.n - 1);
	return p->txns.n - 1;
}

static enum kr_status take_session(struct plume *p, int64_t name)
{
	if (p->session.i != KR_NONE && p->session_name == name)
		return KR_OK;
	p->session = kr_foreign_session(p->h, name);
	p->session_name = name;
	return p->session.i == KR_NONE ? KR_NOMEM : KR_OK;
}

static enum kr_status read_line(struct plume *p, const char *text, size_t length, uint32_t number)
{
	int64_t part[4];
	const char *expected = strlen(text) == length ? parse_line(text, part) : "text, not a NUL byte";
	struct plume_line line = {.write = text[0] == 'w'};

	if (expected) {
		kr_err_set(p->err, KR_BAD, "expected %s, as in r(KEY,VALUE,SESSION,TRANSACTION)", expected);
		kr_err_at(p->err, p->h->files.at[0], number, 0);
		return KR_BAD;
	}

	kr_value name = kr_history_int(p->h, part[0]);

	line.value = kr_history_int(p->h, part[1]);
	if (name.i == KR_NONE || line.value.i == KR_NONE || take_session(p, part[2]))
		return KR_NOMEM;
	line.key = kr_history_key(p->h, name);
	line.txn = find_txn(p, part[3], number);
	if (line.key.i == KR_NONE || line.txn == KR_NONE || !kr_vec_push(p->h->mem, &p->lines, line))
		return KR_NOMEM;
	p->txn = line.txn;
	p->txns.at[line.txn].count++;
	return KR_OK;
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
		status = read_line(p, line, length, number);
		if (status == KR_BAD && p->h->lenient) {
			p->h->skipped++;
			kr_err_init(p->err);
			status = KR_OK;
		}
		if (status || (status = kr_ctx_tick(p->ctx)))
			return status;
	}
	return status;
}

/* Puts the operations behind each other, transaction by transaction. */
static enum kr_status sort_lines(struct plume *p, struct kr_operation *sorted)
{
	uint32_t first = 0;
	enum kr_status status;

	for (uint32_t t = 0; t < p->txns.n; first += p->txns.at[t++].count)
		p->txns.at[t].first = first;
	for (uint32_t i = 0; i < p->lines.n; i++) {
		const struct plume_line *line = &p->lines.at[i];
		struct kr_operation op = {.kind = line->write ? KR_OP_WRITE : KR_OP_READ,
			.flags = line->write ? 0 : KR_OPF_KNOWN,
			.key = line->key,
			.a = line->value,
			.scan = KR_NONE};
		sorted[p->txns.at[line->txn].first++] = op;
		if ((status = kr_ctx_tick(p->ctx)))
			return status;
	}
	return KR_OK;
}

static enum kr_status add_txns(struct plume *p)
{
	struct kr_history *h = p->h;
	enum kr_status status;

	for (uint32_t t = 0; t < p->txns.n; t++) {
		const struct plume_txn *txn = &p->txns.at[t];
		bool aborted = txn->id == -1;
		struct kr_transaction add = {.id = aborted ? (kr_value){KR_NONE} : kr_history_int(h, txn->id),
			.session = txn->session,
			.status = aborted ? KR_ABORTED : KR_COMMITTED,
			.line = txn->line};

		if (!aborted && add.id.i == KR_NONE)
			return KR_NOMEM;
		h->ops.n = txn->first; /* which is behind its last operation */
		if ((status = kr_foreign_add(h, add, h->files.at[0], p->err)) || (status = kr_ctx_tick(p->ctx)))
			return status;
	}
	return KR_OK;
}

static enum kr_status read_plume(struct kr_ctx *ctx, const char *path, struct kr_source *source, const struct kr_read_options *options, struct kr_history *h,
	struct kr_err *err)
{
	struct plume p = {.ctx = ctx, .h = h, .err = err, .session = {KR_NONE}};
	enum kr_status status = read_lines(&p, source);

	(void)path;
	(void)options;
	if (!status && !kr_vec_reserve(h->mem, &h->ops, p.lines.n))
		status = KR_NOMEM;
	if (!status && p.lines.n > 0)
		status = sort_lines(&p, h->ops.at);
	kr_vec_done(h->mem, &p.lines);
	if (!status)
		status = add_txns(&p);
	kr_vec_done(h->mem, &p.txns);
	kr_table_done(h->mem, &p.table);
	return status ? status : kr_foreign_zero_is_initial(ctx, h, err);
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
	.folder = false,
	.sniff = sniff,
	.read = read_plume,
};
