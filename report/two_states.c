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

static struct kr_said said(const struct kr_history *h, const struct kr_two_states *s)
{
	return (struct kr_said){.txns = {s->txn},
		.key = s->key,
		.ops = {kr_history_op(h, s->txn, s->first), kr_history_op(h, s->txn, s->second)}};
}

void kr_say_two_states(const struct kr_words *w, const struct kr_two_states *s)
{
	kr_words_say(w, "{0} {saw 0} and {saw 1}, two states of one key", said(w->h, s));
}

void kr_explain_two_states(const struct kr_words *w, const struct kr_two_states *s)
{
	kr_words_say(w, "  - {0} {saw 0}", said(w->h, s));
	kr_str_format(w->out, " (operation %u) and ", s->first);
	kr_words_say(w, "{saw 1}", said(w->h, s));
	kr_str_format(w->out, " (operation %u)", s->second);
	kr_words_say(w,
		", and had not written {key} itself: it saw two versions.\n  - Whichever of the two came "
		"first, {0} read it before the other one was written.\n  - However, {0} read the other one "
		"too, after it was written: a contradiction!\n",
		said(w->h, s));
}
