/* TimeKiller's JSON (docs/formats/timekiller.md), of Chronos and Aion: an array of committed transactions
 * with their timestamps.
 *
 * Timestamps are pairs (physical, logical), compared in that order. They become the white-box snapshot and
 * commit times: the physical part as it is where all logical parts are 0, else the rank among all pairs.
 * Transactions of a session stand in its order. No value, or one of 0 that nobody writes, is the initial
 * version. Integers may be quoted. Cost: one pass over the text, a sort of the timestamps. */
#include "frontend/foreign.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"

struct stamp {
	int64_t physical, logical, rank;
};

struct timekiller {
	struct kr_forms f;
	KR_VEC(struct stamp) stamps; /* two for each transaction: snapshot, commit */
};

/* An integer, perhaps in quotes. */
static bool get_int(const struct kr_forms *f, uint32_t form, int64_t *out)
{
	const struct kr_form *node = form == KR_NONE ? NULL : &f->nodes.at[form];
	char digits[24];
	const char *at = digits;

	if (node && node->type == KR_FORM_INT) {
		*out = node->integer;
		return true;
	}
	if (!node || node->type != KR_FORM_STRING || node->length >= sizeof digits)
		return false;
	memcpy(digits, node->text, node->length);
	digits[node->length] = '\0';
	return kr_foreign_int(&at, true, out) && at == digits + node->length;
}

/* Turns a quoted integer into one. */
static void unquote(struct kr_forms *f, uint32_t form)
{
	struct kr_form *node = &f->nodes.at[form];
	int64_t integer;

	if (node->type != KR_FORM_STRING || !get_int(f, form, &integer))
		return;
	node->type = KR_FORM_INT;
	node->integer = integer;
}

static enum kr_status read_op(struct kr_forms *f, uint32_t op)
{
	static const char *const names[] = {"t", "k", "v"};
	static const struct {
		const char *name;
		enum kr_op_kind kind;
	} kinds[] = {{"w", KR_OP_WRITE}, {"write", KR_OP_WRITE}, {"r", KR_OP_READ}, {"read", KR_OP_READ},
		{"a", KR_OP_APPEND}, {"append", KR_OP_APPEND}};
	uint32_t fields[3], line = f->nodes.at[op].line;
	kr_value value = KR_ABSENT;
	kr_key key;
	char type[8] = "";
	size_t i = 0;

	if (f->nodes.at[op].type != KR_FORM_MAP)
		return kr_forms_wrong(f, line, "the operation is", op, "an object");
	KR_TRY(kr_forms_fields(f, op, names, fields, 3));
	if (kr_form_type(f, fields[0]) == KR_FORM_STRING && f->nodes.at[fields[0]].length < sizeof type)
		for (uint32_t c = 0; c < f->nodes.at[fields[0]].length; c++)
			type[c] = (char)(f->nodes.at[fields[0]].text[c] | 0x20);
	while (i < KR_COUNT(kinds) && strcmp(kinds[i].name, type) != 0)
		i++;
	if (i == KR_COUNT(kinds))
		return kr_forms_wrong_field(f, line, names[0], fields[0], "\"w\", \"r\" or \"a\"");
	if (fields[1] == KR_NONE)
		return kr_forms_bad(f, line, "the operation has no key \"k\"");
	unquote(f, fields[1]);
	KR_TRY(kr_forms_key(f, fields[1], &key));
	if (fields[2] != KR_NONE) {
		unquote(f, fields[2]);
		KR_TRY(kr_forms_value(f, fields[2], &value));
	}
	if (kinds[i].kind != KR_OP_READ && value.i == KR_ABSENT.i)
		return kr_forms_bad(f, line, "the operation writes no value, expected \"v\"");
	return kr_foreign_op(f->h, kinds[i].kind, key, value, kinds[i].kind == KR_OP_READ);
}

static enum kr_status read_stamp(struct kr_forms *f, uint32_t form, const char *what, struct stamp *out)
{
	static const char *const names[] = {"p", "l"};
	uint32_t fields[2] = {KR_NONE, KR_NONE};

	if (kr_form_type(f, form) == KR_FORM_MAP)
		KR_TRY(kr_forms_fields(f, form, names, fields, 2));
	if (!get_int(f, fields[0], &out->physical) || !get_int(f, fields[1], &out->logical))
		return kr_forms_wrong_field(f, f->nodes.at[form == KR_NONE ? 0 : form].line, what, form,
			"{\"p\": integer, \"l\": integer}");
	return KR_OK;
}

static enum kr_status take_name(struct kr_forms *f, uint32_t form, const char *what, kr_value *out)
{
	if (form != KR_NONE)
		unquote(f, form);
	if (kr_form_type(f, form) != KR_FORM_INT && kr_form_type(f, form) != KR_FORM_STRING)
		return kr_forms_wrong_field(f, f->nodes.at[0].line, what, form, "an integer or a string");
	return kr_forms_value(f, form, out);
}

static enum kr_status add_txn(struct timekiller *k, struct kr_transaction txn, const struct stamp stamps[2])
{
	struct kr_history *h = k->f.h;
	uint32_t count = h->txns.n;
	struct kr_white_box white_box = {.snapshot = stamps[0].physical, .commit_ts = stamps[1].physical};
	KR_TRY(kr_foreign_add(h, txn, &white_box, k->f.err));
	for (int i = 0; i < 2 && h->txns.n > count; i++) /* it was not left out */
		KR_TRY(kr_vec_add(h->mem, &k->stamps, stamps[i]));
	return KR_OK;
}

static enum kr_status read_txn(struct timekiller *k)
{
	static const char *const names[] = {"tid", "sid", "sts", "cts", "ops"};
	struct kr_forms *f = &k->f;
	struct kr_transaction txn = {.status = KR_COMMITTED,
		.flags = KR_TXN_HAS_SNAPSHOT | KR_TXN_HAS_COMMIT_TS,
		.line = f->nodes.at[0].line};
	struct stamp stamps[2] = {0};
	uint32_t fields[5];
	kr_value session;

	if (f->nodes.at[0].type != KR_FORM_MAP)
		return kr_forms_wrong(f, txn.line, "found", 0, "a transaction: an object");
	KR_TRY(kr_forms_fields(f, 0, names, fields, 5));
	KR_TRY(take_name(f, fields[0], "tid", &txn.id));
	KR_TRY(take_name(f, fields[1], "sid", &session));
	KR_TRY(read_stamp(f, fields[2], "sts", &stamps[0]));
	KR_TRY(read_stamp(f, fields[3], "cts", &stamps[1]));
	if (kr_form_type(f, fields[4]) != KR_FORM_LIST)
		return kr_forms_wrong_field(f, txn.line, names[4], fields[4], "an array");
	for (uint32_t at = fields[4] + 1; at < f->nodes.at[fields[4]].end; at = f->nodes.at[at].end)
		KR_TRY(read_op(f, at));
	txn.session = kr_history_session(f->h, session);
	return txn.session.i == KR_NONE ? KR_NOMEM : add_txn(k, txn, stamps);
}

/* ---- timestamps ---- */

static int compare_stamps(const void *a, const void *b)
{
	const struct stamp *x = *(struct stamp *const *)a, *y = *(struct stamp *const *)b;

	return kr_then(KR_ORDER(x->physical, y->physical), KR_ORDER(x->logical, y->logical));
}

static enum kr_status rank_stamps(struct timekiller *k)
{
	struct kr_mem *mem = k->f.h->mem;
	uint32_t n = k->stamps.n;
	struct stamp **sorted = kr_mem_alloc(mem, n, sizeof(struct stamp *));

	if (!sorted)
		return KR_NOMEM;
	for (uint32_t i = 0; i < n; i++)
		sorted[i] = &k->stamps.at[i];
	qsort(sorted, n, sizeof(struct stamp *), compare_stamps);
	for (uint32_t i = 0; i < n; i++)
		sorted[i]->rank =
			i == 0 ? 1 : sorted[i - 1]->rank + (compare_stamps(&sorted[i - 1], &sorted[i]) != 0);
	kr_mem_free(mem, sorted, n, sizeof(struct stamp *));
	return KR_OK;
}

static enum kr_status set_stamps(struct timekiller *k)
{
	struct kr_history *h = k->f.h;
	bool plain = true;

	for (uint32_t i = 0; i < k->stamps.n; i++)
		plain = plain && k->stamps.at[i].logical == 0;

	if (plain)
		return KR_OK;
	KR_TRY(rank_stamps(k));
	for (uint32_t t = 0; t < h->txns.n; t++) {
		h->white_box.at[t].snapshot = k->stamps.at[2 * t].rank;
		h->white_box.at[t].commit_ts = k->stamps.at[2 * t + 1].rank;
	}
	return KR_OK;
}

static enum kr_status read_all(struct timekiller *k)
{
	struct kr_forms *f = &k->f;
	char bracket;
	bool found;
	KR_TRY(kr_forms_enter(f, &bracket));
	if (bracket != '[')
		return kr_forms_bad(f, f->line, "expected an array of transactions");
	do {
		KR_TRY(kr_forms_next(f, &found));
		if (found)
			KR_TRY(kr_foreign_forgive(f->h, read_txn(k), f->err));
	} while (found);
	KR_TRY(kr_forms_next(f, &found));
	return found ? kr_forms_bad(f, f->nodes.at[0].line,
			       "more text after the array, expected the end of the file")
		     : set_stamps(k);
}

static enum kr_status read_timekiller(struct kr_ctx *ctx, const char *path, struct kr_source *source,
	struct kr_history *h, struct kr_err *err)
{
	struct timekiller k = {.stamps = {0}};
	enum kr_status status = kr_forms_init(&k.f, ctx, h, path, source, err);

	k.f.json = true;
	if (!status)
		status = read_all(&k);
	kr_vec_done(h->mem, &k.stamps);
	kr_forms_done(&k.f);
	return status ? status : kr_foreign_zeros(ctx, h, false, NULL);
}

static int sniff(const char *path, const char *head, size_t length)
{
	size_t at = 0;

	(void)path;
	while (at < length && head[at] != '\0' && strchr(" \t\r\n", head[at]))
		at++;
	if (at == length || head[at] != '[')
		return 0;
	return kr_foreign_holds(head, length, "\"cts\"") || kr_foreign_holds(head, length, "\"sts\"") ? 95
												      : 0;
}

const struct kr_format kr_format_timekiller = {
	.name = "timekiller",
	.aliases = "chronos aion timekiller-kv timekiller-list",
	.title = "TimeKiller's JSON (Chronos, Aion): transactions with timestamps",
	.source = "docs/formats/timekiller.md",
	.sniff = sniff,
	.read = read_timekiller,
};
