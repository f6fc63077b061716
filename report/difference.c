/* Where a replay in the serialization order that the trace gives first differs from what was seen: the
 * sentence, and the two transactions that it is about, with their places in that order. What the operation
 * should have seen was left by the last transaction before it that wrote the key. Linear. */
#include "report/anomaly.h"

static bool has_place(const struct kr_history *h, kr_txn t)
{
	return (h->txns.at[t.i].flags & KR_TXN_HAS_SERIAL) != 0;
}

/* The last transaction before `reader` in the given order that wrote k, or KR_NONE. */
static kr_txn find_writer(const struct kr_history *h, kr_txn reader, kr_key k)
{
	kr_txn found = {KR_NONE};

	for (kr_txn t = {0}; t.i < h->txns.n; t.i++) {
		if (!has_place(h, t) || h->txns.at[t.i].status == KR_ABORTED ||
			h->white_box.at[t.i].serial >= h->white_box.at[reader.i].serial)
			continue;
		if ((found.i == KR_NONE || h->white_box.at[t.i].serial >= h->white_box.at[found.i].serial) &&
			kr_words_last_write(h, t, k).i != KR_NONE)
			found = t;
	}
	return found;
}

/* "In the serialization order that the trace gives, Tc comes after Tb, which wrote x = 19, but Tc read x =
 * 18". */
void kr_say_difference(const struct kr_report *r, const struct kr_words *w)
{
	const struct kr_certificate *cert = &r->verdict->certificate;
	kr_txn reader = cert->anomaly.txn, writer = {KR_NONE};

	if (reader.i < r->history->white_box.n && has_place(r->history, reader))
		writer = find_writer(r->history, reader, cert->anomaly.key);
	kr_words_say(w,
		writer.i == KR_NONE
			? "In the serialization order that the trace gives, {0} {saw 0}"
			: "In the serialization order that the trace gives, {0} comes after {1}, which "
			  "{wrote 1}, but {0} {saw 0}",
		(struct kr_said){.txns = {reader, writer},
			.key = cert->anomaly.key,
			.ops = {kr_history_op(r->history, reader, cert->anomaly.op)}});
	if (writer.i == KR_NONE)
		kr_str_format(w->out, " instead of %s", r->verdict->expected);
}

void kr_explain_difference(const struct kr_report *r, const struct kr_words *w)
{
	const struct kr_history *h = r->history;
	const struct kr_certificate *cert = &r->verdict->certificate;
	kr_txn reader = cert->anomaly.txn, writer;

	if (reader.i >= h->white_box.n || !has_place(h, reader))
		return;
	writer = find_writer(h, reader, cert->anomaly.key);
	if (writer.i != KR_NONE) {
		kr_str_add(w->out, "  - ");
		kr_words_txn(w, writer);
		kr_str_format(w->out, ", at place %lld, ", (long long)h->white_box.at[writer.i].serial);
		kr_words_wrote(w, writer, cert->anomaly.key);
		kr_str_add(w->out, ", and nothing between the two changed that.\n");
	}
	kr_str_add(w->out, "  - However, ");
	kr_words_txn(w, reader);
	kr_str_format(w->out, ", at place %lld, ", (long long)h->white_box.at[reader.i].serial);
	kr_words_seen(w, kr_history_op(h, reader, cert->anomaly.op), cert->anomaly.key);
	kr_str_format(w->out, " (operation %u): a contradiction!\n", cert->anomaly.op);
}
