/* A transaction that read two values of one key: the plainest violation there is, whatever the certificate's
 * argument had to go through. Let it see versions u and v of k before it wrote k; u != v, since their values
 * differ. If u comes before v, then it comes before v's writer (rw), from whom it read (wr); if v comes
 * before u, the same the other way round. So in every world there is a cycle of one wr and one rw of items,
 * and the level is violated if it forbids that cycle. Looks at the committed transactions of the certificate
 * only. Cost: per transaction the square of its reads, for at most OPS_MOST operations. */
#include "report/anomaly.h"

#define OPS_MOST 256u

static bool reads_known(const struct kr_operation *op)
{
	return op->kind == KR_OP_READ && (op->flags & KR_OPF_KNOWN) != 0;
}

static bool look_at(const struct kr_history *h, const struct kr_level *level, kr_txn t,
	struct kr_two_states *out)
{
	const struct kr_transaction *txn = &h->txns.at[t.i];
	const struct kr_operation *ops = h->ops.at + txn->op_first;
	uint32_t n = txn->op_count < OPS_MOST ? txn->op_count : OPS_MOST;

	if (txn->status != KR_COMMITTED)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if (!reads_known(&ops[i]))
			continue;
		for (uint32_t j = 0; j < n; j++) {
			if (ops[j].key.i == ops[i].key.i && !reads_known(&ops[j]) &&
				ops[j].kind != KR_OP_READ)
				break; /* its own write */
			if (j <= i || ops[j].key.i != ops[i].key.i || !reads_known(&ops[j]) ||
				ops[j].a.i == ops[i].a.i)
				continue;
			if (!kr_level_forbids_two_states(level, false,
				    kr_history_is_loose(h, kr_history_op(h, t, i)) ||
					    kr_history_is_loose(h, kr_history_op(h, t, j))))
				continue;
			*out = (struct kr_two_states){t, ops[i].key, i, j};
			return true;
		}
	}
	return false;
}

bool kr_find_two_states(const struct kr_history *h, const struct kr_level *level,
	const struct kr_certificate *cert, struct kr_two_states *out)
{
	for (uint32_t i = cert->edges.n; i-- > 0;)
		if (look_at(h, level, cert->edges.at[i].from, out))
			return true;
	return false;
}

void kr_say_two_states(const struct kr_words *w, const struct kr_two_states *s)
{
	kr_words_txn(w, s->txn);
	kr_str_add(w->out, " ");
	kr_words_seen(w, kr_history_op(w->h, s->txn, s->first), s->key);
	kr_str_add(w->out, " and ");
	kr_words_seen(w, kr_history_op(w->h, s->txn, s->second), s->key);
	kr_str_add(w->out, ", two states of one key");
}

static void add_read(const struct kr_words *w, const struct kr_two_states *s, uint32_t op)
{
	kr_words_seen(w, kr_history_op(w->h, s->txn, op), s->key);
	kr_str_format(w->out, " (operation %u)", op);
}

void kr_explain_two_states(const struct kr_words *w, const struct kr_two_states *s)
{
	kr_str_add(w->out, "  - ");
	kr_words_txn(w, s->txn);
	kr_str_add(w->out, " ");
	add_read(w, s, s->first);
	kr_str_add(w->out, " and ");
	add_read(w, s, s->second);
	kr_str_add(w->out, ", and had not written ");
	kr_words_key(w, s->key);
	kr_str_add(w->out, " itself: it saw two versions.\n  - Whichever of the two came first, ");
	kr_words_txn(w, s->txn);
	kr_str_add(w->out, " read it before the other one was written.\n  - However, ");
	kr_words_txn(w, s->txn);
	kr_str_add(w->out, " read the other one too, after it was written: a contradiction!\n");
}
