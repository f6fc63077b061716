/* dbcop's history.bincode (docs/formats/dbcop.md): Rust's bincode of sessions of transactions of events,
 * little-endian without tags.
 *
 * An event has 18 bytes, in a later variant 50 (two times of 128 bits more); nothing in the file says which.
 * So the structure is walked without building anything: where it ends exactly at the end of the file, with
 * flags that are 0 or 1, it is the right one; counts are compared with the bytes left before they are
 * believed. 0 is what keys start with. Failed events are left out, failed transactions aborted. Errors name
 * the byte. Cost: two passes over the file, which is in memory whole. */
#include "frontend/foreign.h"

#include <stdio.h>
#include <string.h>

enum { EVENT = 18, TIMED_EVENT = 50, NUMBERS = 5 };

struct dbcop {
	struct kr_ctx *ctx;
	struct kr_history *h;
	struct kr_err *err;
	const unsigned char *data;
	size_t length, at;
	size_t event;        /* bytes of one */
	const char *problem; /* of a walk that failed, at `at` */
};

static uint64_t word_at(const unsigned char *at)
{
	uint64_t word = 0;

	for (int i = 7; i >= 0; i--)
		word = word << 8 | at[i];
	return word;
}

/* ---- structure ---- */

static bool fail(struct dbcop *d, const char *problem)
{
	d->problem = problem;
	return false;
}

/* A number of things, each of at least `size` bytes. */
static bool walk_count(struct dbcop *d, size_t size, const char *problem, uint64_t *out)
{
	if (d->length - d->at < 8)
		return fail(d, "the file ends inside a count");
	*out = word_at(d->data + d->at);
	if (*out > (d->length - d->at - 8) / size)
		return fail(d, problem);
	d->at += 8;
	return true;
}

static bool walk_header(struct dbcop *d)
{
	uint64_t length;

	d->at = 0;
	if (d->length < (size_t)NUMBERS * 8)
		return fail(d, "the file ends inside the header");
	d->at = (size_t)NUMBERS * 8;
	for (int i = 0; i < 3; i++) {
		if (!walk_count(d, 1, "a text of the header is longer than the file", &length))
			return false;
		d->at += length;
	}
	return true;
}

static bool walk_txn(struct dbcop *d)
{
	uint64_t events;

	if (!walk_count(d, d->event, "more events than the file has room for", &events))
		return false;
	for (uint64_t i = 0; i < events; i++, d->at += d->event) {
		if (d->data[d->at] > 1)
			return fail(d, "the event's kind is neither 0 (read) nor 1 (write)");
		if (d->data[d->at + 17] > 1)
			return fail(d, "the event's success is neither 0 nor 1");
	}
	if (d->at >= d->length)
		return fail(d, "the file ends inside a transaction");
	if (d->data[d->at] > 1)
		return fail(d, "the transaction's success is neither 0 nor 1");
	d->at++;
	return true;
}

/* KR_OK also when the walk failed: then there is a problem. */
static enum kr_status walk(struct dbcop *d, size_t event)
{
	uint64_t sessions = 0, txns = 0;

	d->event = event;
	d->problem = NULL;
	if (!walk_header(d) || !walk_count(d, 8, "more sessions than the file has room for", &sessions))
		return KR_OK;
	for (uint64_t s = 0; s < sessions; s++) {
		if (!walk_count(d, 9, "more transactions than the file has room for", &txns))
			return KR_OK;
		for (uint64_t t = 0; t < txns; t++) {
			if (!walk_txn(d))
				return KR_OK;
			KR_TRY(kr_ctx_tick(d->ctx));
		}
	}
	if (d->at != d->length)
		d->problem = "more bytes after the last transaction, expected the end of the file";
	return KR_OK;
}

static enum kr_status find_variant(struct dbcop *d)
{
	KR_TRY(walk(d, EVENT));

	const char *problem = d->problem;
	size_t at = d->at;

	if (!problem)
		return KR_OK;
	KR_TRY(walk(d, TIMED_EVENT));
	if (!d->problem)
		return KR_OK;
	if (d->at > at) { /* the variant that goes on longer is the likelier one */
		problem = d->problem;
		at = d->at;
	}
	return kr_err_set(d->err, KR_BAD, "at byte %zu: %s", at, problem);
}

/* ---- meaning ---- */

static kr_value number_value(struct kr_history *h, uint64_t number)
{
	char text[24];

	if (number <= INT64_MAX)
		return kr_history_int(h, (int64_t)number);

	int length = snprintf(text, sizeof text, "%llu", (unsigned long long)number);

	return kr_history_text(h, KR_VALUE_STRING, text, (size_t)length);
}

static enum kr_status read_event(struct dbcop *d, const unsigned char *event)
{
	enum kr_op_kind kind = event[0] ? KR_OP_WRITE : KR_OP_READ;

	if (!event[17])
		return KR_OK;
	kr_key key = kr_history_key(d->h, number_value(d->h, word_at(event + 1)));
	return kr_foreign_op(d->h, kind, key, number_value(d->h, word_at(event + 9)), kind == KR_OP_READ);
}

/* Widens the transaction's times by an event's, where 63 bits hold them. */
static void take_times(const unsigned char *event, struct kr_transaction *txn)
{
	uint64_t start = word_at(event + 18), end = word_at(event + 34);

	if (word_at(event + 26) || word_at(event + 42) || start > INT64_MAX || end > INT64_MAX || start > end)
		return;
	if (!(txn->flags & KR_TXN_HAS_BEGIN) || (int64_t)start < txn->begin_invoked)
		txn->begin_invoked = txn->begin_returned = (int64_t)start;
	if (!(txn->flags & KR_TXN_HAS_END) || (int64_t)end > txn->end_returned)
		txn->end_invoked = txn->end_returned = (int64_t)end;
	txn->flags = KR_TXN_HAS_BEGIN | KR_TXN_HAS_END;
}

static enum kr_status read_txn(struct dbcop *d, kr_session session)
{
	struct kr_transaction txn = {.id = {KR_NONE}, .session = session};
	uint64_t events = word_at(d->data + d->at);
	size_t start = d->at;
	struct kr_err why;

	d->at += 8;
	for (uint64_t i = 0; i < events; i++, d->at += d->event) {
		KR_TRY(read_event(d, d->data + d->at));
		KR_TRY(kr_ctx_tick(d->ctx));
		if (d->event == TIMED_EVENT)
			take_times(d->data + d->at, &txn);
	}
	txn.status = d->data[d->at++] ? KR_COMMITTED : KR_ABORTED;
	kr_err_init(&why);
	enum kr_status status = kr_foreign_add(d->h, txn, NULL, &why);
	return status == KR_BAD ? kr_err_set(d->err, KR_BAD, "at byte %zu: %s", start, why.text) : status;
}

static enum kr_status read_sessions(struct dbcop *d)
{
	uint64_t txns;

	(void)walk_header(d);
	uint64_t sessions = word_at(d->data + d->at);
	d->at += 8;
	for (uint64_t s = 0; s < sessions; s++) {
		kr_session session = kr_foreign_session(d->h, (int64_t)s);
		if (session.i == KR_NONE)
			return KR_NOMEM;
		txns = word_at(d->data + d->at);
		d->at += 8;
		for (uint64_t t = 0; t < txns; t++) {
			KR_TRY(read_txn(d, session));
			KR_TRY(kr_ctx_tick(d->ctx));
		}
	}
	return KR_OK;
}

static enum kr_status read_dbcop(struct kr_ctx *ctx, const char *path, struct kr_source *source,
	struct kr_history *h, struct kr_err *err)
{
	struct dbcop d = {.ctx = ctx, .h = h, .err = err};
	char *text;
	KR_TRY(kr_source_rest(source, &text, &d.length, err));

	(void)path;
	d.data = (const unsigned char *)text;
	KR_TRY(find_variant(&d));
	KR_TRY(read_sessions(&d));
	return kr_foreign_zeros(ctx, h, true, err);
}

/* Five numbers, a short text, and a date: digits, dashes, T. */
static int sniff(const char *path, const char *head, size_t length)
{
	const unsigned char *data = (const unsigned char *)head;
	size_t at = (size_t)NUMBERS * 8;

	if (length < at + 8)
		return 0;

	uint64_t info = word_at(data + at);

	if (info > 1024)
		return 0;
	at += 8 + info;
	if (at + 8 + 20 <= length && word_at(data + at) < 64 && head[at + 8 + 4] == '-' &&
		head[at + 8 + 7] == '-')
		return 95;
	return kr_foreign_ends(path, ".bincode") || kr_foreign_ends(path, ".bincode.gz") ? 60 : 0;
}

const struct kr_format kr_format_dbcop = {
	.name = "dbcop",
	.aliases = "bincode",
	.title = "dbcop's history.bincode, as PolySI and VeriStrong use it",
	.source = "docs/formats/dbcop.md",
	.sniff = sniff,
	.read = read_dbcop,
};
