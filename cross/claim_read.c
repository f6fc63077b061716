/* Reads claimed cycles. A name is looked for among the printed names of the trace, so that it means what
 * krait prints. Cost: linear in the trace for each name. */
#include "cross/claim.h"

#include <string.h>

struct reading {
	struct kr_mem *mem;
	const struct kr_history *h;
	const char *text, *at;
	struct kr_err *err;
};

static void skip_blanks(struct reading *r)
{
	while (*r->at == ' ' || *r->at == '\t' || *r->at == '\n')
		r->at++;
}

static enum kr_status bad(struct reading *r, const char *expected)
{
	int shown = (int)strcspn(r->at, " \t\n,");

	if (!*r->at)
		return kr_err_set(r->err, KR_BAD, "a cycle ends at its place %zu, expected %s",
			(size_t)(r->at - r->text) + 1, expected);
	return kr_err_set(r->err, KR_BAD, "a cycle has '%.*s' at its place %zu, expected %s",
		shown > 40      ? 40
			: shown ? shown
				: 1,
		r->at, (size_t)(r->at - r->text) + 1, expected);
}

/* Bytes of the name that comes: quoted, or up to one of `ends` or a blank. */
static size_t name_length(const char *at, const char *ends)
{
	size_t n = 1;

	if (*at != '"')
		return strcspn(at, ends);
	while (at[n] && at[n] != '"')
		n += at[n] == '\\' && at[n + 1] ? 2 : 1;
	return at[n] ? n + 1 : n;
}

/* Is that how the name is printed? */
static enum kr_status is_name(struct reading *r, kr_value name, const char *text, size_t length, bool *same)
{
	struct kr_str printed;

	kr_str_init(&printed, r->mem);
	kr_history_print_name(r->h, name, &printed);
	*same = printed.n == length && memcmp(kr_str_text(&printed), text, length) == 0;
	bool failed = printed.failed;
	if (!*same && *text == '"') { /* also when quotes were not needed */
		kr_str_done(&printed);
		kr_str_init(&printed, r->mem);
		kr_history_json_value(r->h, name, &printed);
		*same = printed.n == length && memcmp(kr_str_text(&printed), text, length) == 0;
	}
	failed |= printed.failed;
	kr_str_done(&printed);
	return failed ? KR_NOMEM : KR_OK;
}

static enum kr_status read_txn(struct reading *r, kr_txn *out)
{
	skip_blanks(r);

	size_t n = name_length(r->at, " \t\n,");

	if (n == 0)
		return bad(r, "a transaction");
	r->at += r->h ? 0 : n;
	if (!r->h)
		return KR_OK;
	for (out->i = 0; out->i < r->h->txns.n; out->i++) {
		bool same;
		enum kr_status status = is_name(r, r->h->txns.at[out->i].id, r->at, n, &same);
		if (!status && !same)
			continue;
		r->at += n;
		return status;
	}
	return bad(r, "a transaction of the trace");
}

static enum kr_status read_key(struct reading *r, kr_key *out)
{
	*out = (kr_key){KR_NONE};
	if (*r->at != '(')
		return KR_OK;
	r->at++;

	size_t n = name_length(r->at, ")");

	for (uint32_t k = 0; r->h && k < r->h->keys.n && out->i == KR_NONE; k++) {
		bool same;
		KR_TRY(is_name(r, r->h->keys.at[k].name, r->at, n, &same));
		if (same)
			out->i = k;
	}
	if (n == 0 || (r->h && out->i == KR_NONE))
		return bad(r, r->h ? "a key of the trace" : "a key");
	r->at += n;
	return *r->at++ == ')' ? KR_OK : (r->at--, bad(r, "')' behind a key"));
}

/* `wr`, `-prw(x)->` and the like. */
static enum kr_status read_kind(struct reading *r, struct kr_claimed_edge *edge)
{
	char name[4] = "";
	enum kr_edge_kind kind;

	skip_blanks(r);
	bool arrow = *r->at == '-';
	r->at += arrow;
	edge->predicate = *r->at == 'p' && (r->at[1] == 'w' || r->at[1] == 'r');
	memcpy(name, r->at, strnlen(r->at, 3));
	memmove(name, name + edge->predicate, 2);
	name[2] = '\0';
	if (!kr_edge_parse(name, &kind) || kind == KR_PROGRAM ||
		(edge->predicate && kind != KR_WR && kind != KR_RW))
		return bad(r, "wr, ww, rw, pwr, prw, so or rt");
	r->at += 2 + edge->predicate;
	edge->kind = (uint8_t)kind;

	enum kr_status status = read_key(r, &edge->key);

	if (status == KR_OK && arrow && strncmp(r->at, "->", 2) != 0)
		return bad(r, "'->'");
	r->at += status == KR_OK && arrow ? 2 : 0;
	return status;
}

enum kr_status kr_claim_read(struct kr_mem *mem, const struct kr_history *h, const char *text,
	struct kr_claimed_cycle *out, struct kr_err *err)
{
	struct reading r = {mem, h, text, text, err};
	struct kr_claimed_edge edge = {.from = {KR_NONE}};
	enum kr_status status = read_txn(&r, &edge.from);

	while (!status) {
		KR_TRY(read_kind(&r, &edge));
		KR_TRY(read_txn(&r, &edge.to));
		KR_TRY(kr_vec_add(mem, out, edge));
		skip_blanks(&r);
		if (!*r.at)
			return KR_OK;
		edge = (struct kr_claimed_edge){.from = edge.to};
		if (*r.at != ',')
			continue;
		r.at++;
		status = read_txn(&r, &edge.from);
	}
	return status;
}
