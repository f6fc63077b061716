/* Building of histories. Values and messages are those of the native reader, so that what is built and what
 * is read are held to the same rules. A transaction whose building fails is taken back: left out and counted
 * where a format reads leniently, else the end of everything. */
#include <math.h>

#include "api/build.h"

krait_builder *kr_builder_new(struct kr_mem mem, struct kr_ctx *ctx, struct kr_history *h)
{
	krait_builder *b = kr_mem_alloc(&mem, 1, sizeof *b);

	if (!b)
		return NULL;
	b->self = mem;
	b->ctx = ctx;
	b->h = h;
	kr_err_init(&b->err);
	kr_native_begin(&b->native, ctx, h, &b->err);
	return b;
}

/* Keeps the first failure. */
bool kr_build_keep(krait_builder *b, enum kr_status status)
{
	if (!b->status)
		b->status = status;
	return !b->status;
}

enum kr_status kr_build_bad(krait_builder *b, const char *found, const char *expected)
{
	return kr_native_bad(&b->native, "found %s, expected %s", found, expected);
}

/* ---- values ---- */

/* Whether Jansson takes the text is asked apart from whether it has the memory: a copy that fails of valid
 * text is lack of memory. */
static bool is_utf8(const char *text, size_t length)
{
	for (size_t step; length > 0; text += step, length -= step)
		if ((step = kr_utf8_length(text, length)) == 0)
			return false;
	return true;
}

enum kr_status kr_build_json(krait_builder *b, const struct krait_value *v, json_t **out)
{
	json_error_t error = {.text = ""};

	switch (v->type) {
	case KRAIT_ABSENT: *out = json_null(); break;
	case KRAIT_BOOLEAN: *out = json_boolean(v->integer); break;
	case KRAIT_INTEGER: *out = json_integer(v->integer); break;
	case KRAIT_REAL:
		if (!isfinite(v->real))
			return kr_build_bad(b, "a real number that is not finite", "a value");
		*out = json_real(v->real);
		break;
	case KRAIT_STRING:
		if (!is_utf8(v->text, v->length))
			return kr_build_bad(b, "a string that is not UTF-8", "a value");
		*out = json_stringn_nocheck(v->text, v->length);
		break;
	case KRAIT_JSON:
		*out = json_loadb(v->text, v->length, JSON_DECODE_ANY | KR_NODE_JANSSON, &error);
		if (!*out && error.text[0] && json_error_code(&error) != json_error_out_of_memory)
			return kr_native_bad(&b->native, "malformed JSON: %s", error.text);
		break;
	default: return kr_build_bad(b, "a value of a type that there is not", "a value");
	}
	return *out ? KR_OK : KR_NOMEM;
}

static enum kr_status node_of(krait_builder *b, const struct krait_value *v, const struct kr_node **out)
{
	json_t *json = NULL;
	enum kr_status status = kr_build_json(b, v, &json);

	if (!status)
		status = kr_nodes_take(&b->native.nodes, json, out);
	json_decref(json);
	return status;
}

/* The put_... of the native reader, on a value. */
static enum kr_status put_value(krait_builder *b, const struct krait_value *v, const char *what, bool absent,
	kr_value *out)
{
	const struct kr_node *node;
	enum kr_status status = node_of(b, v, &node);

	if (status || !absent)
		return status ? status : kr_native_put_value(&b->native, node, what, out);
	*out = kr_native_value(&b->native, node);
	return out->i == KR_NONE ? KR_NOMEM : KR_OK;
}

enum kr_status kr_build_key(krait_builder *b, const struct krait_value *v, kr_key *out)
{
	const struct kr_node *node;
	KR_TRY(node_of(b, v, &node));

	return kr_native_put_key(&b->native, node, "the key", out);
}

enum kr_status kr_build_name(krait_builder *b, const struct krait_value *v, const char *what, kr_value *out)
{
	const struct kr_node *node;
	KR_TRY(node_of(b, v, &node));

	return kr_native_put_name(&b->native, node, what, out);
}

static enum kr_status put_int(krait_builder *b, const struct krait_value *v, const char *what, kr_value *out)
{
	const struct kr_node *node;
	int64_t number = 0;
	KR_TRY(node_of(b, v, &node));

	KR_TRY(kr_native_put_int(&b->native, node, what, &number));
	*out = kr_history_int(b->h, number);
	return out->i == KR_NONE ? KR_NOMEM : KR_OK;
}

/* ---- transactions ---- */

static enum kr_status check_times(krait_builder *b, const struct krait_transaction *t)
{
	int64_t began = t->begin_unanswered ? INT64_MAX : t->begin[1],
		ended = t->end_unanswered ? INT64_MAX : t->end[1];

	if ((t->has_begin && t->begin[0] > began) || (t->has_end && t->end[0] > ended) ||
		(t->has_snapshot_time && t->snapshot_time[0] > t->snapshot_time[1]))
		return kr_build_bad(b, "a time of return before that of invocation", "invoked <= returned");
	if (t->has_begin && t->has_end && (t->begin[0] > t->end[0] || began > ended))
		return kr_build_bad(b, "an end before the begin", "the end after the begin");
	if ((t->begin_unanswered && !t->has_begin) || ((t->end_unanswered || t->end_failed) && !t->has_end))
		return kr_build_bad(b, "a begin or an end that went wrong and has no time", "its time");
	if ((unsigned)t->status > KRAIT_UNKNOWN)
		return kr_build_bad(b, "a status that there is not", "committed, aborted or unknown");
	return KR_OK;
}

static uint16_t flags_of(const struct krait_transaction *t)
{
	const struct {
		bool set;
		uint16_t flag;
	} flags[] = {
		{t->has_begin, KR_TXN_HAS_BEGIN},
		{t->has_end, KR_TXN_HAS_END},
		{t->has_serial, KR_TXN_HAS_SERIAL},
		{t->has_snapshot, KR_TXN_HAS_SNAPSHOT},
		{t->has_commit_ts, KR_TXN_HAS_COMMIT_TS},
		{t->autocommit, KR_TXN_AUTO},
		{t->begin_unanswered, KR_TXN_BEGIN_OPEN},
		{t->end_unanswered, KR_TXN_END_OPEN},
		{t->end_failed, KR_TXN_END_FAILED},
		{t->has_snapshot_time, KR_TXN_HAS_SNAPSHOT_T},
	};
	unsigned out = 0;

	for (size_t i = 0; i < KR_COUNT(flags); i++)
		out |= flags[i].set ? flags[i].flag : 0u;
	return (uint16_t)out;
}

static enum kr_status begin(krait_builder *b, const struct krait_transaction *t)
{
	kr_value session;
	KR_TRY(check_times(b, t));
	if (t->id.type != KRAIT_ABSENT)
		KR_TRY(kr_build_name(b, &t->id, "the id", &b->txn.id));
	b->native.id = b->txn.id;
	if (t->session.type != KRAIT_ABSENT) {
		KR_TRY(kr_build_name(b, &t->session, "the session", &session));
		b->txn.session = kr_history_session(b->h, session);
		KR_TRY(b->txn.session.i == KR_NONE ? KR_NOMEM : KR_OK);
	}
	b->txn.status = (enum kr_txn_status)t->status & 3;
	b->txn.flags = flags_of(t) & KR_TXN_FLAGS;
	b->white_box = (struct kr_white_box){
		.serial = t->has_serial ? t->serial : 0,
		.snapshot = t->has_snapshot ? t->snapshot : 0,
		.commit_ts = t->has_commit_ts ? t->commit_ts : 0,
		.snapshot_t = {t->has_snapshot_time ? t->snapshot_time[0] : 0,
			t->has_snapshot_time ? t->snapshot_time[1] : 0},
	};
	b->txn.begin_invoked = t->begin[0];
	b->txn.begin_returned = t->begin_unanswered ? KR_TIME_OPEN : t->begin[1];
	b->txn.end_invoked = t->end[0];
	b->txn.end_returned = t->end_unanswered ? KR_TIME_OPEN : t->end[1];
	return KR_OK;
}

bool krait_build_begin(krait_builder *b, const struct krait_transaction *transaction)
{
	if (b->status)
		return false;
	b->native.line = transaction->line;
	if (b->open)
		return kr_build_keep(b,
			kr_build_bad(b, "the begin of a transaction inside another one", "its end first"));
	b->open = true;
	kr_history_begin(b->h);
	b->txn = (struct kr_transaction){.id = {KR_NONE}, .session = {KR_NONE}, .line = transaction->line};
	kr_txn_put_file(&b->txn, b->h->files.n ? b->h->files.n - 1 : 0);
	b->native.in_txn = true;
	b->native.in_op = false;
	b->native.op_index = 0;
	b->native.id = (kr_value){KR_NONE};
	return kr_build_keep(b, begin(b, transaction));
}

bool krait_build_end(krait_builder *b)
{
	if (!b->open)
		return kr_build_keep(b, kr_build_bad(b, "the end of a transaction", "its begin first"));
	if (b->status)
		kr_history_drop(b->h);
	else
		b->status = kr_history_add(b->h, b->txn, &b->white_box, &b->err);
	kr_err_at(&b->err, b->h->files.at[0], b->txn.line, 0);
	b->open = b->native.in_txn = b->native.in_op = false;
	b->status = kr_history_forgive(b->h, b->status, &b->err);
	return !b->status;
}

/* ---- operations ---- */

static enum kr_status operation(krait_builder *b, const struct krait_operation *op, struct kr_operation *out)
{
	uint8_t known = op->unknown ? 0 : KR_OPF_KNOWN, done = op->done ? KR_OPF_DONE : 0, flags = 0;
	kr_value first = KR_ABSENT, second = KR_ABSENT;
	kr_key key;

	if ((unsigned)op->kind > KRAIT_MAX)
		return kr_build_bad(b, "an operation that there is not", "one of enum krait_operation_kind");
	KR_TRY(kr_build_key(b, &op->key, &key));
	switch (op->kind) {
	case KRAIT_READ:
		flags = known;
		if (known)
			KR_TRY(put_value(b, &op->value, "the value", true, &first));
		break;
	case KRAIT_DELETE: flags = known ? known | done : 0; break;
	case KRAIT_INC:
		flags = known;
		KR_TRY(put_int(b, &op->value, "the delta", &first));
		if (known)
			KR_TRY(put_int(b, &op->result, "the new value", &second));
		break;
	case KRAIT_MAX: KR_TRY(put_int(b, &op->value, "the number", &first)); break;
	case KRAIT_CAS:
		flags = done;
		KR_TRY(put_value(b, &op->expected, "the expected value", true, &first));
		KR_TRY(put_value(b, &op->value, "the new value", false, &second));
		break;
	case KRAIT_INSERT: flags = done; /* fallthrough */
	default:
		KR_TRY(put_value(b, &op->value, op->kind >= KRAIT_APPEND ? "the element" : "the value", false,
			&first));
	}
	*out = (struct kr_operation){(enum kr_op_kind)op->kind, flags & 15u, key, first, {second}};
	return KR_OK;
}

static enum kr_status entry(krait_builder *b, const struct krait_operation *op, struct kr_entry *out)
{
	bool predicate = op->kind == KRAIT_RANGE || op->kind == KRAIT_SCAN || op->kind == KRAIT_UPDATE;

	out->is_undo = op->kind == KRAIT_UNDO;
	out->undo = op->undone;
	if (!out->is_undo)
		KR_TRY(predicate ? kr_build_predicate(b, op, out) : operation(b, op, &out->op));
	else if (op->undone > kr_history_entries(b->h))
		return kr_build_bad(b, "more operations undone than the transaction has", "as many at most");
	return kr_build_attributes(b, op, out);
}

bool krait_build_op(krait_builder *b, const struct krait_operation *op)
{
	if (b->status)
		return false;
	if (!b->open)
		return kr_build_keep(b,
			kr_build_bad(b, "an operation", "the begin of its transaction first"));
	b->native.in_op = true;

	struct kr_entry made = KR_ENTRY_NONE;
	enum kr_status status = entry(b, op, &made);

	if (!status)
		status = kr_history_put(b->h, &made);
	b->native.op_index++;
	return kr_build_keep(b, status ? status : kr_ctx_tick(b->ctx));
}

/* ---- the rest ---- */

/* Whether it is not too late for what belongs before the first transaction. */
static bool begins(krait_builder *b, const char *what)
{
	if (b->status)
		return false;
	b->native.line = 0;
	return b->open || b->h->position > 0 ? kr_build_keep(b, kr_build_bad(b, what, "it before")) : true;
}

bool krait_build_kind(krait_builder *b, struct krait_value key, enum krait_key_kind kind)
{
	kr_key k = {KR_NONE};

	if (!begins(b, "a key's kind after the first transaction"))
		return false;
	if (kind == KRAIT_KIND_ANY || (unsigned)kind > KRAIT_KIND_MARK)
		return kr_build_keep(b,
			kr_build_bad(b, "a kind of key that there is not", "one of enum krait_key_kind"));
	return kr_build_keep(b, kr_build_key(b, &key, &k)) &&
		kr_build_keep(b, kr_history_set_kind(b->h, k, (enum kr_key_kind)kind, &b->err));
}

bool krait_build_initial(krait_builder *b, struct krait_value key, struct krait_value value)
{
	kr_key k = {KR_NONE};
	kr_value initial;

	if (!begins(b, "an initial value after the first transaction"))
		return false;
	if (kr_history_untold(b->h))
		return kr_build_keep(b,
			kr_build_bad(b, "an initial value that is told beside untold ones", "either"));
	if (!kr_build_keep(b, kr_build_key(b, &key, &k)) ||
		!kr_build_keep(b, put_value(b, &value, "the initial value", true, &initial)))
		return false;
	b->h->initial = KR_INITIAL_GIVEN;
	return kr_build_keep(b, kr_history_set_initial(b->h, k, initial, &b->err));
}

bool krait_build_line(krait_builder *b, const char *text, size_t length)
{
	if (b->status)
		return false;
	if (b->open)
		return kr_build_keep(b, kr_build_bad(b, "a line inside a transaction", "its end first"));
	b->native.line = 0;
	return kr_build_keep(b, kr_native_copy_line(&b->native, text, length));
}

enum kr_status kr_builder_end(krait_builder *b)
{
	if (!b->status && b->open)
		kr_build_keep(b,
			kr_build_bad(b, "the end of the history inside a transaction",
				"the transaction's end first"));
	if (!b->status)
		kr_build_keep(b, kr_native_finish(&b->native));
	if (b->status)
		kr_err_set(&b->err, b->status, "%s", kr_status_text(b->status));
	return b->status;
}
