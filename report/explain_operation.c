/* Non-cyclic anomalies in Let/Then form: what was read, and why no world has it. The culprit (an aborted or intermediate write, the reader's own write) is
 * looked for in the history by its value: the first in file order is named. */
#include "report/anomaly.h"

/* The reader's last write of k before operation `op`, or KR_NONE. */
static kr_op own_write_before(const struct kr_history *h, kr_txn t, uint32_t op, kr_key k)
{
	kr_op found = {KR_NONE};

	for (uint32_t i = 0; i < op; i++) {
		kr_op at = kr_history_op(h, t, i);
		const struct kr_operation *o = &h->ops.at[at.i];
		bool writes = o->kind == KR_OP_WRITE || o->kind == KR_OP_DELETE || o->kind == KR_OP_INC || o->kind == KR_OP_APPEND || o->kind == KR_OP_ADD ||
			((o->kind == KR_OP_INSERT || o->kind == KR_OP_CAS) && o->flags & KR_OPF_DONE);
		if (writes && o->key.i == k.i)
			found = at;
	}
	return found;
}

static void line(const struct kr_words *w, const char *text) { kr_str_add(w->out, text); }

static void show_op(const struct kr_words *w, kr_op op)
{
	line(w, " (");
	kr_words_op(w, op);
	line(w, ")");
}

static void because_of(const struct kr_words *w, struct kr_culprit by, const char *what)
{
	line(w, "  - However, ");
	kr_words_txn(w, by.txn);
	if (w->cast && !w->cast->failed)
		w->cast->failed = !kr_vec_push(w->cast->mem, &w->cast->ops, by.op);
	line(w, what);
}

static void explain_aborted(const struct kr_words *w, const struct kr_certificate *cert, kr_op op)
{
	struct kr_culprit by = kr_find_aborted(w->h, cert->anomaly.key, w->h->ops.at[op.i].a, cert->anomaly.txn);

	if (by.txn.i == KR_NONE)
		line(w, "  - However, only transactions wrote that which took no effect");
	else if (w->h->txns.at[by.txn.i].status == KR_ABORTED)
		because_of(w, by, " wrote that and was aborted, and no transaction that took effect left it");
	else
		because_of(w, by, " wrote that but cannot have taken effect, as nothing explains what it read itself, and no other transaction left it");
}

static void explain_intermediate(const struct kr_words *w, const struct kr_certificate *cert, kr_op op)
{
	struct kr_culprit by = kr_find_write(w->h, cert->anomaly.key, w->h->ops.at[op.i].a, KR_COMMITTED, false, cert->anomaly.txn);

	if (by.txn.i == KR_NONE)
		line(w, "  - However, it was written only as an intermediate version");
	else
		because_of(w, by, " wrote that and then overwrote it, and no other transaction left it");
}

/* "x started absent", "x started as 0" */
static void add_start(const struct kr_words *w, kr_key k)
{
	kr_value initial = w->h->keys.at[k.i].initial;

	kr_words_key(w, k);
	line(w, initial.i == KR_ABSENT.i ? " started absent" : " started as ");
	if (initial.i != KR_ABSENT.i)
		kr_history_print_value(w->h, initial, KR_WORDS_VALUE, w->out);
}

void kr_explain_operation(const struct kr_words *w, const struct kr_certificate *cert)
{
	kr_txn t = cert->anomaly.txn;
	kr_key k = cert->anomaly.key;
	kr_op op = kr_history_op(w->h, t, cert->anomaly.op), own = own_write_before(w->h, t, cert->anomaly.op, k);

	line(w, "  - ");
	kr_words_txn(w, t);
	line(w, " ");
	kr_words_seen(w, op, k);
	kr_str_format(w->out, " (operation %u).\n", cert->anomaly.op);

	switch (cert->anomaly.kind) {
	case KR_ABORTED_READ: explain_aborted(w, cert, op); break;
	case KR_INTERMEDIATE_READ: explain_intermediate(w, cert, op); break;
	case KR_GARBAGE_READ:
		line(w, "  - However, no transaction wrote that to ");
		kr_words_key(w, k);
		if (w->h->initial != KR_INITIAL_UNKNOWN) {
			line(w, ", and ");
			add_start(w, k);
		}
		break;
	case KR_FUTURE_READ:
		because_of(w, (struct kr_culprit){t, kr_words_last_write(w->h, t, k)}, " itself wrote that only later, and no other transaction wrote it");
		break;
	case KR_INTERNAL_INCONSISTENCY:
		if (own.i == KR_NONE) {
			line(w, "  - However, that contradicts what it had done before");
			break;
		}
		because_of(w, (struct kr_culprit){t, own}, " had changed it before");
		show_op(w, own);
		break;
	default:
		line(w, "  - However, that is a ");
		line(w, kr_anomaly_name(cert->anomaly.kind));
		break;
	}
	line(w, ": a contradiction!\n");
}
