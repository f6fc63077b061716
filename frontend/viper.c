/* Viper's logs (docs/formats/viper.md): a folder of files J*.log, one per client, with a committed
 * transaction in each line, as JSON or (older) EDN.
 *
 * Deletes write a value of their own, the tombstone, so that every version has one; here, too, it is a value
 * like any other, and a row that is dead is a row with it. Without an initial transaction a value that nobody
 * wrote is what the key started with, and no other is: the initial values are unwritten ones. With one, they
 * are given, and 0 or "nil" where it is silent. An operation that did not succeed writes nothing. Cost: one
 * pass. */
#include "frontend/foreign.h"

#include <string.h>

struct viper {
	struct kr_ctx *ctx;
	struct kr_history *h;
	struct kr_err *err;
	bool initial; /* an initial transaction was read */
};

static enum kr_status bad_op(struct kr_forms *f, uint32_t op, const char *expected)
{
	return kr_forms_bad(f, f->nodes.at[op].line, "bad operation, expected %s", expected);
}

/* Null and "nil" are absent. */
static enum kr_status read_read(struct kr_forms *f, kr_key key, uint32_t form)
{
	kr_value value = KR_ABSENT;

	if (!kr_form_is(f, form, "nil"))
		KR_TRY(kr_forms_value(f, form, &value));
	return kr_foreign_op(f->h, KR_OP_READ, key, value, true);
}

static enum kr_status read_write(struct kr_forms *f, enum kr_op_kind kind, kr_key key, uint32_t form)
{
	kr_value value;

	KR_TRY(kr_forms_value(f, form, &value));
	if (value.i == KR_ABSENT.i)
		return bad_op(f, form, "a value that is written, not null");
	return kr_foreign_op(f->h, kind, key, value, false);
}

/* Rows {"id": key, "val": value} of a range. */
static enum kr_status read_rows(struct kr_forms *f, uint32_t list)
{
	static const char *const names[] = {"id", "val"};
	uint32_t fields[2];
	struct kr_row row;

	for (uint32_t at = list + 1; at < f->nodes.at[list].end; at = f->nodes.at[at].end) {
		if (f->nodes.at[at].type != KR_FORM_MAP)
			return bad_op(f, at, "a row {\"id\": ..., \"val\": ...}");
		KR_TRY(kr_forms_fields(f, at, names, fields, 2));
		if (fields[0] == KR_NONE || fields[1] == KR_NONE)
			return bad_op(f, at, "a row with \"id\" and \"val\"");
		KR_TRY(kr_forms_key(f, fields[0], &row.key));
		KR_TRY(kr_forms_value(f, fields[1], &row.value));
		if (row.value.i == KR_ABSENT.i)
			return bad_op(f, at, "a row with a value");
		KR_TRY(kr_vec_add(f->h->mem, &f->h->rows, row));
	}
	return KR_OK;
}

static bool is_nil(const struct kr_forms *f, uint32_t form)
{
	return f->nodes.at[form].type == KR_FORM_NIL || kr_form_is(f, form, "nil");
}

/* ["range", low, high, rows, dead rows, ...] with open bounds: whether bounds are in the range the format
 * does not say. */
static enum kr_status read_range(struct kr_forms *f, const uint32_t *parts, uint32_t count)
{
	struct kr_scan scan = {.low = KR_ABSENT,
		.high = KR_ABSENT,
		.limit = -1,
		.row_first = f->h->rows.n,
		.cond_first = f->h->conds.n};

	if (count < 5 || f->nodes.at[parts[3]].type != KR_FORM_LIST ||
		f->nodes.at[parts[4]].type != KR_FORM_LIST)
		return bad_op(f, parts[0], "[\"range\", low, high, rows, dead rows]");
	if (!is_nil(f, parts[1]) || !is_nil(f, parts[2]))
		return bad_op(f, parts[0], "a range without bounds (\"nil\"): others cannot be read");
	KR_TRY(read_rows(f, parts[3]));
	KR_TRY(read_rows(f, parts[4]));
	scan.row_count = f->h->rows.n - scan.row_first;
	return kr_foreign_scan(f->h, KR_OP_RANGE, &scan);
}

static enum kr_status read_op(struct kr_forms *f, uint32_t list)
{
	enum { MOST_PARTS = 8 };
	uint32_t parts[MOST_PARTS], count = 0;
	kr_key key;

	if (f->nodes.at[list].type != KR_FORM_LIST)
		return bad_op(f, list, "a list: [\"r\", key, value, dead]");
	for (uint32_t at = list + 1; at < f->nodes.at[list].end && count < MOST_PARTS;
		at = f->nodes.at[at].end)
		parts[count++] = at;
	if (count > 0 && kr_form_is(f, parts[0], "range"))
		return read_range(f, parts, count);
	if (count < 3)
		return bad_op(f, list, "[\"r\", \"w\", \"i\", \"d\" or \"append\", key, value, ...]");
	KR_TRY(kr_forms_key(f, parts[1], &key));
	if (kr_form_is(f, parts[0], "r"))
		return read_read(f, key, parts[2]);
	if (kr_form_is(f, parts[0], "append"))
		return read_write(f, KR_OP_APPEND, key, parts[2]);
	if (kr_form_is(f, parts[0], "w"))
		return count > 3 && f->nodes.at[parts[3]].type == KR_FORM_FALSE
			? KR_OK
			: read_write(f, KR_OP_WRITE, key, parts[2]);
	if (!kr_form_is(f, parts[0], "i") && !kr_form_is(f, parts[0], "d"))
		return bad_op(f, list, "\"r\", \"w\", \"i\", \"d\", \"range\" or \"append\" first");
	if (count < 6)
		return bad_op(f, list, "[\"i\" or \"d\", key, value, value read, dead, succeeded]");
	KR_TRY(read_read(f, key, parts[3]));
	return f->nodes.at[parts[5]].type == KR_FORM_FALSE ? KR_OK
							   : read_write(f, KR_OP_WRITE, key, parts[2]);
}

/* What the operations pushed since the last transaction say becomes the keys' initial values. */
static enum kr_status take_initial(struct viper *v, struct kr_forms *f)
{
	struct kr_history *h = v->h;
	enum kr_status status = KR_OK;

	for (uint32_t i = h->draft.ops; i < h->ops.n && !status; i++)
		if (h->ops.at[i].kind == KR_OP_WRITE)
			status = kr_history_set_initial(h, h->ops.at[i].key, h->ops.at[i].a, v->err);
		else if (h->ops.at[i].kind != KR_OP_RANGE)
			return kr_forms_bad(f, f->nodes.at[0].line,
				"the initial transaction may only write, or list all rows");
	for (uint32_t i = h->draft.rows; i < h->rows.n && !status; i++)
		status = kr_history_set_initial(h, h->rows.at[i].key, h->rows.at[i].value, v->err);
	kr_err_at(v->err, f->path, f->nodes.at[0].line, 0);
	kr_history_take_back(h);
	v->initial = true;
	return status;
}

static enum kr_status read_txn(struct viper *v, struct kr_forms *f, kr_session session, uint32_t file)
{
	static const char *const names[] = {"value", "isInitial", "type"};
	struct kr_transaction txn = {.id = {KR_NONE},
		.session = session,
		.status = KR_COMMITTED,
		.line = f->nodes.at[0].line};
	uint32_t fields[3];
	enum kr_status status = KR_OK;
	kr_txn_put_file(&txn, file);

	if (f->nodes.at[0].type != KR_FORM_MAP)
		return kr_forms_bad(f, txn.line, "expected a transaction: {\"value\": [...]}");
	KR_TRY(kr_forms_fields(f, 0, names, fields, 3));
	if (fields[2] != KR_NONE && !kr_form_is(f, fields[2], "ok"))
		return KR_OK;
	if (kr_form_type(f, fields[0]) != KR_FORM_LIST)
		return kr_forms_bad(f, txn.line, "expected \"value\", a list of operations");
	for (uint32_t at = fields[0] + 1; at < f->nodes.at[fields[0]].end && !status;
		at = f->nodes.at[at].end)
		status = read_op(f, at);
	if (!status && kr_form_type(f, fields[1]) != KR_FORM_TRUE)
		return kr_foreign_add(v->h, txn, NULL, v->err);
	return kr_foreign_forgive(v->h, status ? status : take_initial(v, f), v->err);
}

static enum kr_status read_forms(struct viper *v, struct kr_source *source, const char *name, uint32_t file)
{
	struct kr_forms f;
	kr_session session = {KR_NONE};
	bool found = false, first_initial;
	enum kr_status status = kr_forms_init(&f, v->ctx, v->h, v->h->files.at[file], source, v->err);

	while (!status && !(status = kr_forms_next(&f, &found)) && found) {
		static const char *const names[] = {"isInitial"};
		uint32_t field = KR_NONE;
		if (f.nodes.at[0].type == KR_FORM_MAP)
			status = kr_forms_fields(&f, 0, names, &field, 1);
		first_initial = kr_form_type(&f, field) == KR_FORM_TRUE;
		if (!status && session.i == KR_NONE && !first_initial) {
			kr_value text = kr_history_text(v->h, KR_VALUE_STRING, name, kr_foreign_stem(name));
			session = kr_history_session(v->h, text);
			status = session.i == KR_NONE ? KR_NOMEM : KR_OK;
		}
		if (!status)
			status = read_txn(v, &f, session, file);
	}
	kr_forms_done(&f);
	return status;
}

static bool is_log(const char *name) { return name[0] == 'J' && kr_foreign_stem(name) != 0; }

static enum kr_status read_log(void *data, const char *folder, const char *name)
{
	struct viper *v = data;
	uint32_t file = v->h->files.n;
	const char *path = kr_foreign_file(v->h, folder, name);
	struct kr_source *source;
	KR_TRY(path ? kr_source_open(v->ctx, path, &source, v->err) : KR_NOMEM);
	enum kr_status status = read_forms(v, source, name, file);
	kr_source_free(source);
	if (status)
		kr_err_at(v->err, path, 0, 0);
	return status;
}

static enum kr_status read_viper(struct kr_ctx *ctx, const char *path, struct kr_source *source,
	struct kr_history *h, struct kr_err *err)
{
	struct viper v = {.ctx = ctx, .h = h, .err = err};
	enum kr_status status = kr_foreign_logs(ctx, h, path, is_log, read_log, &v, err);

	(void)source;
	h->initial = v.initial ? KR_INITIAL_GIVEN : KR_INITIAL_UNWRITTEN;
	return status ? status : kr_foreign_zeros(ctx, h, false, NULL);
}

/* A folder with a J*.log file that begins with a brace. */
static int sniff(const char *path, const char *head, size_t length)
{
	(void)head;
	(void)length;
	return kr_foreign_starts(path, is_log, '{') == 2 ? 90 : 0;
}

const struct kr_format kr_format_viper = {
	.name = "viper",
	.title = "Viper's logs: a folder of J*.log files, one per client, JSON or EDN",
	.source = "docs/formats/viper.md",
	.folder = true,
	.sniff = sniff,
	.read = read_viper,
};
