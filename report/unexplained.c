/* Reads that no choice explains: where the trace does not tell what keys held at first, committed
 * transactions read several values of one key that no committed transaction left. One of them may have been
 * there at first; the others would need a transaction of unknown outcome, and this one what it read itself.
 * The first key with two such values is told, with those reads and the reads of the transactions that may
 * have written them. Where there is no such key only the fact is told. Cost: a walk over the history for each
 * read of a key. */
#include "report/anomaly.h"

#define TOLD_MOST 6u

struct open_read {
	kr_txn txn, writer; /* writer: one of unknown outcome, KR_NONE: nobody wrote that */
	kr_op op;
};

struct finding {
	const struct kr_words *w;
	kr_key key;
	struct open_read reads[TOLD_MOST];
	uint32_t n;
	uint32_t values; /* different ones among those by committed transactions */
};

static const struct kr_operation *op_at(const struct finding *f, kr_op op) { return &f->w->h->ops.at[op.i]; }

/* Who left the value in `key`: KR_COMMITTED, with any transaction; KR_UNKNOWN with the first such one;
 * KR_ABORTED: nobody who may have taken effect. */
static enum kr_txn_status find_writer(const struct finding *f, kr_value value, kr_txn not_by, kr_txn *writer)
{
	const struct kr_history *h = f->w->h;

	writer->i = KR_NONE;
	for (kr_txn t = {0}; t.i < h->txns.n; t.i++) {
		kr_op last = h->txns.at[t.i].status == KR_ABORTED || t.i == not_by.i
			? (kr_op){KR_NONE}
			: kr_words_last_write(h, t, f->key);
		if (last.i == KR_NONE ||
			(op_at(f, last)->kind == KR_OP_CAS ? op_at(f, last)->b.i : op_at(f, last)->a.i) !=
				value.i)
			continue;
		if (h->txns.at[t.i].status == KR_COMMITTED)
			return KR_COMMITTED;
		if (writer->i == KR_NONE)
			*writer = t;
	}
	return writer->i == KR_NONE ? KR_ABORTED : KR_UNKNOWN;
}

static bool has_value(const struct finding *f, kr_value value)
{
	for (uint32_t i = 0; i < f->n; i++)
		if (op_at(f, f->reads[i].op)->a.i == value.i)
			return true;
	return false;
}

/* The reads of the key by t that no committed transaction explains, each value once. */
static void look_at(struct finding *f, kr_txn t)
{
	const struct kr_transaction *txn = &f->w->h->txns.at[t.i];

	for (uint32_t i = 0; i < txn->op_count; i++) {
		struct open_read read = {t, {KR_NONE}, {txn->op_first + i}};
		const struct kr_operation *op = op_at(f, read.op);
		if (kr_words_writes(f->w->h, read.op, f->key))
			return;
		if (op->kind != KR_OP_READ || op->key.i != f->key.i || !(op->flags & KR_OPF_KNOWN) ||
			f->n == TOLD_MOST || has_value(f, op->a))
			continue;
		if (find_writer(f, op->a, t, &read.writer) == KR_COMMITTED)
			continue;
		f->reads[f->n++] = read;
		f->values += txn->status == KR_COMMITTED;
	}
}

static bool find(const struct kr_words *w, struct finding *f)
{
	const struct kr_history *h = w->h;

	for (kr_key k = {0}; k.i < h->keys.n && kr_history_untold(h); k.i++) {
		*f = (struct finding){.w = w, .key = k};
		for (kr_txn t = {0}; t.i < h->txns.n; t.i++)
			if (h->txns.at[t.i].status == KR_COMMITTED)
				look_at(f, t);
		if (f->values < 2)
			continue;
		for (uint32_t i = 0, n = f->n; i < n; i++)
			if (f->reads[i].writer.i != KR_NONE)
				look_at(f, f->reads[i].writer);
		return true;
	}
	return false;
}

/* A cycle of one read that saw two versions: no world has it. */
static bool sees_two(const struct kr_certificate *cert)
{
	const struct kr_cert_edge *a = cert->edges.at + cert->cycles.at[0].first, *b = a + 1,
				  *wr = a->kind == KR_WR ? a : b, *rw = a->kind == KR_WR ? b : a;

	return cert->cycles.at[0].count == 2 && wr->kind == KR_WR && rw->kind == KR_RW &&
		wr->to.i == rw->from.i && wr->op == rw->op && wr->key.i == rw->key.i &&
		wr->part.i == rw->part.i && wr->from.i != rw->source.i;
}

bool kr_is_unexplained(const struct kr_certificate *cert)
{
	return cert->kind == KR_CERT_CYCLES &&
		(cert->cycles.n == 0 || (cert->cycles.n == 1 && sees_two(cert)));
}

/* ---- nothing of the kind: who may or may not have taken effect ---- */

static bool is_known(const struct kr_operation *op)
{
	return op->kind == KR_OP_READ && (op->flags & KR_OPF_KNOWN) != 0;
}

/* The first transaction of unknown outcome; KR_NONE: there is none. */
static kr_txn first_unknown(const struct kr_history *h)
{
	for (kr_txn t = {0}; t.i < h->txns.n; t.i++)
		if (h->txns.at[t.i].status == KR_UNKNOWN)
			return t;
	return (kr_txn){KR_NONE};
}

/* The first committed transaction that saw something of k. */
static void explain_reader(const struct kr_words *w, kr_key k)
{
	for (kr_txn t = {0}; t.i < w->h->txns.n; t.i++) {
		const struct kr_transaction *txn = &w->h->txns.at[t.i];
		for (uint32_t i = 0; i < txn->op_count && txn->status == KR_COMMITTED; i++) {
			if (!kr_words_sees(w->h, (kr_op){txn->op_first + i}, k))
				continue;
			kr_words_say(w, "  - {0} {saw 0}.\n",
				(struct kr_said){.txns = {t}, .key = k, .ops = {{txn->op_first + i}}});
			return;
		}
	}
}

static void explain_doubt(const struct kr_words *w, kr_txn doubtful)
{
	const struct kr_transaction *txn = &w->h->txns.at[doubtful.i];
	uint32_t told = 0;

	kr_words_say(w, "  - {0}, whose outcome is not known, ", (struct kr_said){.txns = {doubtful}});
	for (uint32_t i = 0; i < txn->op_count && told < TOLD_MOST; i++) {
		kr_op at = {txn->op_first + i};
		kr_key k = w->h->ops.at[at.i].key;
		bool wrote = k.i != KR_NONE && kr_words_last_write(w->h, doubtful, k).i == at.i;
		if (!wrote && !is_known(&w->h->ops.at[at.i]))
			continue;
		kr_str_add(w->out, told++ > 0 ? " and " : "");
		if (wrote)
			kr_words_wrote(w, doubtful, k);
		else
			kr_words_seen(w, at, k);
	}
	kr_str_add(w->out, told > 0 ? ".\n" : "may have taken effect.\n");
	for (uint32_t i = 0; i < txn->op_count && told > 0; i++) {
		kr_key k = w->h->ops.at[txn->op_first + i].key;
		if (k.i != KR_NONE && kr_words_last_write(w->h, doubtful, k).i == txn->op_first + i)
			explain_reader(w, k);
	}
}

static struct kr_said said(const struct finding *f, const struct open_read *read)
{
	return (struct kr_said){.txns = {read->txn, read->writer}, .key = f->key, .ops = {read->op}};
}

void kr_say_unexplained(const struct kr_words *w)
{
	struct finding f;
	uint32_t told = 0;

	if (!find(w, &f)) {
		kr_txn doubtful = first_unknown(w->h);
		kr_words_say(w,
			doubtful.i == KR_NONE
				? "No choice of initial values explains what was read"
				: "Whether {0}, whose outcome is not known, took effect or not, something "
				  "that was read has no explanation",
			(struct kr_said){.txns = {doubtful}});
		return;
	}
	for (uint32_t i = 0; i < f.n && w->h->txns.at[f.reads[i].txn.i].status == KR_COMMITTED; i++) {
		kr_words_say(w, told++ > 0 ? ", {0} {saw 0}" : "{0} {saw 0}", said(&f, &f.reads[i]));
	}
	kr_words_say(w, ", and no initial value of {key} explains all of that",
		(struct kr_said){.key = f.key});
}

void kr_explain_unexplained(const struct kr_words *w)
{
	struct finding f;

	if (!find(w, &f)) {
		kr_txn doubtful = first_unknown(w->h);
		if (doubtful.i != KR_NONE)
			explain_doubt(w, doubtful);
		kr_str_add(w->out, "  - However, whichever ");
		kr_str_add(w->out,
			kr_history_untold(w->h) ? "initial values are chosen"
						: "transactions of unknown outcome took effect");
		kr_str_add(w->out,
			kr_history_untold(w->h) && doubtful.i != KR_NONE
				? " and whichever transactions of unknown outcome took effect"
				: "");
		kr_str_add(w->out, ", some read is left unexplained: a contradiction!\n");
		return;
	}
	for (uint32_t i = 0; i < f.n; i++) {
		const struct open_read *read = &f.reads[i];
		bool committed = w->h->txns.at[read->txn.i].status == KR_COMMITTED;
		kr_str_add(w->out, committed ? "  - " : "  - If it took effect, ");
		kr_words_say(w, "{0} {saw 0}, which was there at first", said(&f, read));
		if (read->writer.i != KR_NONE) {
			kr_words_say(w, " or was left by {1}", said(&f, read));
			kr_words_mention(w, kr_words_last_write(w->h, read->writer, f.key));
		}
		kr_str_add(w->out, ".\n");
	}
	kr_words_say(w,
		"  - However, {key} held one value at first, and whichever it was, some read of a "
		"transaction that took effect is left unexplained: a contradiction!\n",
		(struct kr_said){.key = f.key});
}
