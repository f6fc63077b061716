/* A trace as data of the page: transactions as parallel arrays, so that 100,000 of them are a few megabytes;
 * times as differences, from the earliest on. Operations are a data element of their own, which the page
 * parses only when some are asked for. */
#include "report/page.h"

#include <string.h>

#define OPS_MOST \
	4000000u /* of which the page holds the text; transactions beyond have none, and the page says so */

typedef void add_one(const struct kr_history *h, uint32_t t, struct kr_str *out);

static void add_array(const struct kr_history *h, const char *name, add_one *add, struct kr_str *out)
{
	kr_str_format(out, ",\n\"%s\": [", name);
	for (uint32_t t = 0; t < h->txns.n; t++) {
		kr_str_add_bytes(out, ",", t > 0);
		add(h, t, out);
	}
	kr_str_add(out, "]");
}

static void add_number(struct kr_str *out, int64_t n)
{
	char text[24], *at = text + sizeof text;
	uint64_t left = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;

	do {
		*--at = (char)('0' + left % 10);
		left /= 10;
	} while (left > 0);
	if (n < 0)
		*--at = '-';
	kr_str_add_bytes(out, at, (size_t)(text + sizeof text - at));
}

static void add_name(const struct kr_history *h, kr_value name, struct kr_str *out)
{
	struct kr_str text;

	kr_str_init(&text, out->mem);
	kr_history_print_name(h, name, &text);
	kr_str_json(out, kr_str_text(&text), text.n);
	out->failed |= text.failed;
	kr_str_done(&text);
}

static void add_id(const struct kr_history *h, uint32_t t, struct kr_str *out)
{
	add_name(h, h->txns.at[t].id, out);
}

static void add_session(const struct kr_history *h, uint32_t t, struct kr_str *out)
{
	kr_session session = h->txns.at[t].session;

	add_number(out, session.i == KR_NONE ? -1 : (int64_t)session.i);
}

static void add_file(const struct kr_history *h, uint32_t t, struct kr_str *out)
{
	add_number(out, h->txns.at[t].file);
}

/* From the line of the transaction before. */
static void add_line(const struct kr_history *h, uint32_t t, struct kr_str *out)
{
	add_number(out, (int64_t)h->txns.at[t].line - (t > 0 ? (int64_t)h->txns.at[t - 1].line : 0));
}

/* The difference, which fits in 64 bits as an unsigned one; the page takes it as a double. */
static int64_t apart(int64_t later, int64_t earlier)
{
	uint64_t d = (uint64_t)later - (uint64_t)earlier;

	return later < earlier || d > INT64_MAX ? INT64_MAX : (int64_t)d;
}

static void add_length(const struct kr_history *h, uint32_t t, struct kr_str *out)
{
	const struct kr_transaction *txn = &h->txns.at[t];

	add_number(out,
		txn->flags & KR_TXN_HAS_END && !(txn->flags & KR_TXN_END_OPEN)
			? apart(txn->end_returned, txn->begin_invoked)
			: -1);
}

static bool is_timed(const struct kr_history *h, int64_t *first)
{
	*first = INT64_MAX;
	for (uint32_t t = 0; t < h->txns.n; t++) {
		if (!(h->txns.at[t].flags & KR_TXN_HAS_BEGIN))
			return false;
		if (h->txns.at[t].begin_invoked < *first)
			*first = h->txns.at[t].begin_invoked;
	}
	return h->txns.n > 0;
}

static void add_times(const struct kr_history *h, struct kr_str *out)
{
	int64_t first;

	if (!is_timed(h, &first))
		return;
	kr_str_format(out, ",\n\"first_time\": \"%lld\", \"begin\": [", (long long)first);
	for (uint32_t t = 0; t < h->txns.n; t++) {
		kr_str_add_bytes(out, ",", t > 0);
		add_number(out, apart(h->txns.at[t].begin_invoked, first));
	}
	kr_str_add(out, "]");
	add_array(h, "length", add_length, out);
}

static void add_status(const struct kr_history *h, struct kr_str *out)
{
	static const char letters[] = {[KR_COMMITTED] = 'c', [KR_ABORTED] = 'a', [KR_UNKNOWN] = 'u'};

	kr_str_add(out, ",\n\"status\": \"");
	for (uint32_t t = 0; t < h->txns.n; t++)
		kr_str_add_bytes(out, &letters[h->txns.at[t].status], 1);
	kr_str_add(out, "\"");
}

static void add_sessions(const struct kr_history *h, struct kr_str *out)
{
	kr_str_add(out, ",\n\"sessions\": [");
	for (uint32_t s = 0; s < h->sessions.n; s++) {
		kr_str_add(out, s > 0 ? "," : "");
		add_name(h, h->sessions.at[s], out);
	}
	kr_str_add(out, "],\n\"files\": [");
	for (uint32_t f = 0; f < h->files.n; f++) {
		kr_str_add(out, f > 0 ? ", " : "");
		kr_str_json(out, h->files.at[f], strlen(h->files.at[f]));
	}
	kr_str_add(out, "]");
}

static void add_transactions(const struct kr_history *h, struct kr_str *out)
{
	add_sessions(h, out);
	add_array(h, "ids", add_id, out);
	add_array(h, "session", add_session, out);
	add_array(h, "line", add_line, out);
	if (h->files.n > 1)
		add_array(h, "file", add_file, out);
	add_status(h, out);
	add_times(h, out);
}

/* An array of one text for each transaction, a line for each operation. */
static void add_operations(const struct kr_history *h, struct kr_str *out)
{
	struct kr_str text;
	struct kr_words w = {h, NULL, &text};

	kr_str_init(&text, out->mem);
	kr_str_add(out, "[");
	for (uint32_t t = 0; t < h->txns.n; t++) {
		const struct kr_transaction *txn = &h->txns.at[t];
		if (txn->op_first + txn->op_count > OPS_MOST)
			break;
		text.n = 0;
		for (uint32_t i = 0; i < txn->op_count; i++) {
			kr_str_add(&text, i > 0 ? "\n" : "");
			kr_words_op(&w, kr_history_op(h, (kr_txn){t}, i));
		}
		kr_str_add(out, t > 0 ? ",\n" : "");
		kr_str_json(out, kr_str_text(&text), text.n);
	}
	kr_str_add(out, "]");
	out->failed |= text.failed;
	kr_str_done(&text);
}

void kr_report_page_trace(const char *trace, const struct kr_history *h, struct kr_str *out)
{
	struct kr_str json;

	kr_str_init(&json, out->mem);
	kr_str_add(&json, "{");
	kr_str_member_shown(&json, "trace", trace);
	if (h) {
		if (h->name)
			kr_str_member_shown(&json, "name", h->name);
		if (h->time_unit) {
			kr_str_member_shown(&json, "time_unit", h->time_unit);
		}
		kr_str_format(&json, ", \"format\": \"%s\", \"ops\": %u, \"keys\": %u, \"skipped\": %u",
			h->format ? h->format : "", h->ops.n, h->keys.n, h->skipped);
		add_transactions(h, &json);
	}
	kr_str_add(&json, "}");
	kr_page_data(out, "trace", &json);
	if (!h)
		return;
	kr_str_init(&json, out->mem);
	add_operations(h, &json);
	kr_page_data(out, "operations", &json);
}
