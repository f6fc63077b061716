/* Native format: one transaction line. */
#include "frontend/native.h"

#include <string.h>

#define AHEAD 16 /* operations whose look-ups wait for memory together */

enum kr_status kr_native_put_status(struct kr_native *n, const struct kr_node *json, uint8_t *out)
{
	static const char *const names[] = {"committed", "aborted", "unknown"}; /* by enum kr_txn_status */
	int status = kr_native_word(json, names, KR_COUNT(names));

	if (status < 0)
		return kr_native_wrong(n, json, "\"status\"", "\"committed\", \"aborted\" or \"unknown\"");
	*out = (uint8_t)status;
	return KR_OK;
}

/* "begin" or "end": [invoked, returned], or one integer for both. */
enum kr_status kr_native_put_moment(struct kr_native *n, const struct kr_node *json, const char *what,
	int64_t *invoked, int64_t *returned, bool *open)
{
	int64_t times[2];

	if (kr_node_is(json, KR_NODE_INT)) {
		*invoked = *returned = json->integer;
		return KR_OK;
	}
	if (!kr_node_is(json, KR_NODE_ARRAY))
		return kr_native_wrong(n, json, what, "an integer or [invoked, returned]");
	KR_TRY(kr_native_put_times(n, json, what, times, open));
	*invoked = times[0];
	*returned = times[1];
	return KR_OK;
}

static enum kr_status put_interval(struct kr_native *n, const struct kr_native_fields *f,
	struct kr_transaction *txn)
{
	bool open = false;

	if (f->begin) {
		txn->flags |= KR_TXN_HAS_BEGIN;
		KR_TRY(kr_native_put_moment(n, f->begin, "\"begin\"", &txn->begin_invoked,
			&txn->begin_returned, &open));
		txn->flags |= open ? KR_TXN_BEGIN_OPEN : 0;
	}
	open = false;
	if (f->end) {
		txn->flags |= KR_TXN_HAS_END;
		KR_TRY(kr_native_put_moment(n, f->end, "\"end\"", &txn->end_invoked, &txn->end_returned,
			&open));
		txn->flags |= open ? KR_TXN_END_OPEN : 0;
	}
	if (!f->begin || !f->end)
		return KR_OK;
	if (txn->begin_invoked > txn->end_invoked || txn->begin_returned > txn->end_returned)
		return kr_native_bad(n,
			"begins at [%lld, %lld] and ends at [%lld, %lld], expected the end after the begin",
			(long long)txn->begin_invoked, (long long)txn->begin_returned,
			(long long)txn->end_invoked, (long long)txn->end_returned);
	return KR_OK;
}

/* A place in PostgreSQL's log, such as 0/16B3748, is a likely mistake: what a snapshot of it holds is no
 * prefix of the order of these places. */
static enum kr_status put_stamp(struct kr_native *n, const struct kr_node *json, const char *what,
	int64_t *out)
{
	const char *text = kr_node_is(json, KR_NODE_STRING) ? json->text : NULL;
	size_t high = text ? strspn(text, "0123456789ABCDEFabcdef") : 0;
	size_t low = high > 0 && text[high] == '/' ? strspn(text + high + 1, "0123456789ABCDEFabcdef") : 0;

	if (low > 0 && text[high + 1 + low] == '\0')
		return kr_native_bad(n,
			"%s is \"%.32s\", expected an integer: an LSN is no timestamp, since PostgreSQL's "
			"snapshots are no prefixes of the order of LSNs",
			what, text);
	return kr_native_put_int(n, json, what, out);
}

enum kr_status kr_native_white_box(struct kr_native *n, const struct kr_native_fields *f, uint16_t *flags,
	struct kr_white_box *out)
{
	if (f->serial) {
		*flags |= KR_TXN_HAS_SERIAL;
		KR_TRY(kr_native_put_int(n, f->serial, "\"serial\"", &out->serial));
	}
	if (f->snapshot) {
		*flags |= KR_TXN_HAS_SNAPSHOT;
		KR_TRY(put_stamp(n, f->snapshot, "\"snapshot\"", &out->snapshot));
	}
	if (f->commit_ts) {
		*flags |= KR_TXN_HAS_COMMIT_TS;
		KR_TRY(put_stamp(n, f->commit_ts, "\"commit_ts\"", &out->commit_ts));
	}
	if (f->snapshot_t) {
		*flags |= KR_TXN_HAS_SNAPSHOT_T;
		KR_TRY(kr_native_put_moment(n, f->snapshot_t, "\"snapshot_t\"", &out->snapshot_t[0],
			&out->snapshot_t[1], NULL));
	}
	return KR_OK;
}

/* "auto", "failed" */
static enum kr_status put_flags(struct kr_native *n, const struct kr_native_fields *f,
	struct kr_transaction *txn)
{
	bool autocommit = false, failed = false;
	KR_TRY(f->autocommit ? kr_native_put_bool(n, f->autocommit, "\"auto\"", &autocommit) : KR_OK);

	if (f->failed)
		KR_TRY(kr_native_put_bool(n, f->failed, "\"failed\"", &failed));
	if (failed && !f->end)
		return kr_native_bad(n,
			"\"failed\" without \"end\", expected the time of the end that failed");
	txn->flags |= (autocommit ? KR_TXN_AUTO : 0u) | (failed ? KR_TXN_END_FAILED : 0u);
	return KR_OK;
}

enum kr_status kr_native_session(struct kr_native *n, const struct kr_node *json, const char *what,
	kr_session *out)
{
	kr_value name;
	KR_TRY(kr_native_put_name(n, json, what, &name));
	*out = kr_history_session(n->h, name);
	return out->i == KR_NONE ? KR_NOMEM : KR_OK;
}

/* Hints the keys and integer values of the next operations, from `first` on. */
static void expect_ops(const struct kr_history *h, const struct kr_node *ops, const struct kr_node *first)
{
	for (enum kr_expect stage = KR_EXPECT_SLOT; stage <= KR_EXPECT_ENTRY; stage++) {
		const struct kr_node *op = first;
		for (int i = 0; i < AHEAD && op; i++, op = kr_node_element(ops, op)) {
			const struct kr_node *key = kr_node_at(op, 1), *value = kr_node_at(op, 2);
			if (kr_node_is(key, KR_NODE_STRING))
				kr_history_expect_key(h, key->text, key->length, stage);
			if (kr_node_is(value, KR_NODE_INT))
				kr_history_expect_int(h, value->integer, stage);
		}
	}
}

static enum kr_status put_ops(struct kr_native *n, const struct kr_node *ops)
{
	uint32_t i = 0;

	if (!kr_node_is(ops, KR_NODE_ARRAY))
		return kr_native_wrong(n, ops, "\"ops\"", "an array of operations");
	for (const struct kr_node *op = kr_node_element(ops, NULL); op; op = kr_node_element(ops, op), i++) {
		if (i % AHEAD == 0)
			expect_ops(n->h, ops, op);
		n->in_op = true;
		n->op_index = i;
		struct kr_entry entry = KR_ENTRY_NONE;
		KR_TRY(kr_native_entry(n, op, &entry));
		KR_TRY(kr_history_put(n->h, &entry));
		KR_TRY(kr_ctx_tick(n->ctx));
	}
	n->in_op = false;
	return KR_OK;
}

static enum kr_status put_txn(struct kr_native *n, const struct kr_native_fields *f,
	struct kr_transaction *txn, struct kr_white_box *white_box)
{
	uint8_t outcome = txn->status;
	uint16_t told = 0;

	if (f->id)
		KR_TRY(kr_native_put_name(n, f->id, "\"id\"", &txn->id));
	n->id = txn->id;
	if (f->status)
		KR_TRY(kr_native_put_status(n, f->status, &outcome));
	txn->status = (enum kr_txn_status)outcome & 3;
	KR_TRY(put_interval(n, f, txn));
	KR_TRY(put_flags(n, f, txn));
	KR_TRY(kr_native_white_box(n, f, &told, white_box));
	txn->flags |= told & KR_TXN_FLAGS;
	KR_TRY(put_ops(n, f->ops));
	if (f->s)
		KR_TRY(kr_native_session(n, f->s, "\"s\"", &txn->session));
	return KR_OK;
}

enum kr_status kr_native_txn(struct kr_native *n, const struct kr_native_fields *f)
{
	struct kr_transaction txn = {.id = {KR_NONE}, .session = {KR_NONE}, .line = n->line};
	struct kr_white_box white_box = {0};
	uint32_t names = n->names.n;

	kr_history_begin(n->h);
	n->in_txn = true;
	n->in_op = false;
	n->id = (kr_value){KR_NONE};
	enum kr_status status = put_txn(n, f, &txn, &white_box);
	if (status)
		kr_history_drop(n->h);
	else
		status = kr_history_add(n->h, txn, &white_box, n->err);
	if (status == KR_BAD)
		kr_err_at(n->err, n->h->files.at[0], n->line, 0);
	if (status)
		n->names.n = names;
	n->in_txn = n->in_op = false;
	return status;
}
