/* Non-cyclic anomalies in words: what was seen, and why no world has it. One clause serves the plain sentence
 * and the explanation; it comes from what evidence.c found, by a table, or else from the kind of the
 * anomaly. */
#include "frontend/model/operation.h"
#include "report/anomaly.h"
#include "report/evidence.h"
#include "report/near.h"

struct saying {
	const struct kr_words *w;
	const struct kr_certificate *cert;
	const struct kr_evidence *found;
	kr_txn reader;
	kr_key key;
	kr_op op; /* of the reader */
};

static void add(const struct saying *s, const char *text) { kr_str_add(s->w->out, text); }
static void add_txn(const struct saying *s, kr_txn t) { kr_words_txn(s->w, t); }
static void add_key(const struct saying *s) { kr_words_key(s->w, s->key); }

/* Cut where values are, before a character. */
static void add_piece(const struct saying *s, struct kr_piece e)
{
	size_t n = e.length <= KR_WORDS_VALUE ? e.length : KR_WORDS_VALUE;

	while (n < e.length && n > 0 && ((unsigned char)e.text[n] & 0xC0) == 0x80)
		n--;
	kr_str_add_bytes(s->w->out, e.text, n);
	kr_str_add(s->w->out, n < e.length ? "..." : "");
}

static void add_element(const struct saying *s) { add_piece(s, s->found->element); }

static void add_added(const struct saying *s, kr_op op)
{
	kr_words_mention(s->w, op);
	kr_history_print_value(s->w->h, s->w->h->ops.at[op.i].a, KR_WORDS_VALUE, s->w->out);
}

static bool is_list(const struct saying *s) { return s->w->h->keys.at[s->key.i].kind == KR_KIND_LIST; }
static const char *added(const struct saying *s) { return is_list(s) ? "appended " : "added "; }

/* "x started absent", "x started as 0" */
static void add_start(const struct saying *s)
{
	kr_value initial = s->w->h->keys.at[s->key.i].initial;

	if (kr_history_untold(s->w->h))
		return;
	add(s, ", and ");
	add_key(s);
	add(s, initial.i == KR_ABSENT.i ? " started absent" : " started as ");
	if (initial.i != KR_ABSENT.i)
		kr_history_print_value(s->w->h, initial, KR_WORDS_VALUE, s->w->out);
}

/* ---- who wrote it ---- */

/* A transaction of unknown outcome: what it read itself is why it took no effect. */
static void add_unexplained(const struct saying *s, kr_txn t)
{
	const struct kr_transaction *txn = &s->w->h->txns.at[t.i];

	for (uint32_t i = 0; i < txn->op_count; i++) {
		uint8_t kind = s->w->h->ops.at[txn->op_first + i].kind;
		if (kind != KR_OP_WRITE && kind != KR_OP_APPEND && kind != KR_OP_ADD && kind != KR_OP_MAX)
			kr_words_mention(s->w, (kr_op){txn->op_first + i});
	}
	add(s,
		", whose outcome is not known, cannot have taken effect, as nothing explains what it read "
		"itself");
}

static void add_no_effect(const struct saying *s)
{
	if (s->w->h->txns.at[s->found->txn.i].status == KR_ABORTED) {
		add(s, " was aborted");
		return;
	}
	add_unexplained(s, s->found->txn);
}

static void say_written_in_vain(const struct saying *s)
{
	add(s, "only ");
	add_txn(s, s->found->txn);
	add(s, " wrote that, and ");
	add_txn(s, s->found->txn);
	add_no_effect(s);
}

static void say_changed_in_vain(const struct saying *s)
{
	add(s, "only transactions that took no effect, such as ");
	add_txn(s, s->found->txn);
	add(s, ", left that");
}

static void say_overwritten(const struct saying *s)
{
	add_txn(s, s->found->txn);
	add(s, " wrote that and then overwrote it itself (");
	kr_words_op(s->w, kr_words_last_write(s->w->h, s->found->txn, s->key));
	kr_words_mention(s->w, kr_words_last_write(s->w->h, s->found->txn, s->key));
	add(s, "), and no other transaction left it");
}

static void say_written_later(const struct saying *s)
{
	add_txn(s, s->found->txn);
	add(s, " itself wrote that only later (");
	kr_words_op(s->w, s->found->op);
	add(s, "), and no other transaction left it");
}

static void say_changed_before(const struct saying *s)
{
	add_txn(s, s->found->txn);
	add(s, " had itself changed ");
	add_key(s);
	add(s, " before (");
	kr_words_op(s->w, s->found->op);
	add(s, "), and does not see that");
}

/* ---- elements ---- */

static void say_nobody_added(const struct saying *s)
{
	add(s, "no transaction ");
	add(s, added(s));
	add_element(s);
	add(s, " to ");
	add_key(s);
	add_start(s);
	struct kr_operand element = kr_operand_of_piece(s->found->element);
	kr_say_near(s->w, s->key, &element, true);
}

static void say_added_in_vain(const struct saying *s)
{
	add(s, "only ");
	add_txn(s, s->found->txn);
	add(s, " ");
	add(s, added(s));
	add_element(s);
	add(s, ", and ");
	add_txn(s, s->found->txn);
	add_no_effect(s);
}

static void say_added_later(const struct saying *s)
{
	add_txn(s, s->found->txn);
	add(s, " itself ");
	add(s, added(s));
	add_element(s);
	add(s, " only later, and no other transaction did");
}

static void say_added_once(const struct saying *s)
{
	add_element(s);
	add(s, " was ");
	add(s, added(s));
	add(s, "only once, by ");
	add_txn(s, s->found->txn);
}

static void add_two(const struct saying *s)
{
	add_txn(s, s->found->txn);
	add(s, " ");
	add(s, added(s));
	add_added(s, s->found->op);
	add(s, " and then ");
	add_added(s, s->found->other);
}

static void say_added_more(const struct saying *s)
{
	add_two(s);
	add(s, ", and others see all of a transaction or nothing");
}

static void say_added_in_order(const struct saying *s)
{
	add_two(s);
	add(s, ", in this order");
}

static void say_added_apart(const struct saying *s)
{
	add_two(s);
	add(s, ", with nothing of others between them, where ");
	if (s->found->adder.i != KR_NONE) {
		kr_words_mention(s->w, s->found->adding);
		add_txn(s, s->found->adder);
		add(s, "'s ");
	}
	add_element(s);
	add(s, " stands");
}

/* Is what was read cut where it is shown? */
static bool is_cut(const struct saying *s, kr_op op)
{
	return kr_history_value(s->w->h, s->w->h->ops.at[op.i].a)->length > KR_WORDS_VALUE;
}

static void say_read_otherwise(const struct saying *s)
{
	add_txn(s, s->found->txn);
	add(s, " ");
	kr_words_seen(s->w, s->found->op, s->key);
	add(s,
		is_list(s) ? ", and neither list is the beginning of the other"
			   : ", and each of these sets has an element that the other lacks");
	if (!is_cut(s, s->op) && !is_cut(s, s->found->op))
		return;
	if (is_list(s))
		kr_str_format(s->w->out, ": element %u is ", (unsigned)s->found->place + 1);
	else
		add(s, ": ");
	add_element(s);
	add(s, " in the first and ");
	add_piece(s, s->found->there);
	add(s, " in the second");
}

/* ---- rows ---- */

static void say_beyond_limit(const struct saying *s)
{
	const struct kr_scan *scan = &s->w->h->scans.at[s->w->h->ops.at[s->op.i].scan];

	kr_str_format(s->w->out, "it was limited to %lld row%s", (long long)scan->limit,
		scan->limit == 1 ? "" : "s");
}

static void say_outside(const struct saying *s)
{
	add_key(s);
	add(s, " is outside the bounds of the range (");
	kr_words_op(s->w, s->op);
	add(s, ")");
}

static void say_out_of_order(const struct saying *s)
{
	add(s, "the rows of the range do not come in the order of their keys (");
	kr_words_op(s->w, s->op);
	add(s, ")");
}

static void say_empty_row(const struct saying *s) { add(s, "a range shows only keys that hold something"); }

static void say_unmet(const struct saying *s)
{
	add(s, "that does not meet the conditions (");
	kr_words_op(s->w, s->op);
	add(s, ")");
}

static void say_named_version(const struct saying *s)
{
	add(s, "the version that it says it saw is ");
	if (s->found->txn.i == KR_NONE) {
		add(s, "the initial one");
		return;
	}
	add_txn(s, s->found->txn);
	add(s, "'s ");
	kr_words_version(s->w, s->key, s->found->txn);
	if (s->cert->anomaly.kind == KR_ABORTED_READ &&
		s->w->h->txns.at[s->found->txn.i].status != KR_COMMITTED) {
		add(s, ", and ");
		add_txn(s, s->found->txn);
		add_no_effect(s);
	}
}

/* ---- nothing plain was found ---- */

static void say_garbage(const struct saying *s)
{
	const struct kr_operation *op = &s->w->h->ops.at[s->op.i];
	kr_value value = kr_words_value(s->w->h, s->op, s->key);
	bool reads = kr_op_is_read(op);

	if (s->w->h->keys.at[s->key.i].kind == KR_KIND_COUNTER) {
		add(s, "nothing that was added to ");
		add_key(s);
		add(s, " comes to that");
	} else if (s->w->h->keys.at[s->key.i].kind == KR_KIND_MARK) {
		add(s, "nothing that ");
		add_key(s);
		add(s, " was raised to gives that");
	} else if (reads && !kr_words_finds(s->w->h, s->op, s->key)) {
		add(s, !kr_op_scans(op) ? "no transaction deleted " : "no transaction left ");
		add_key(s);
		add(s, !kr_op_scans(op) ? "" : " so that it is not found");
	} else {
		add(s, reads ? "no transaction wrote that to " : "no transaction left ");
		add_key(s);
		add(s, reads ? "" : " such");
	}
	add_start(s);
	if (reads && value.i != KR_NONE && value.i != KR_ABSENT.i) {
		struct kr_operand shown = kr_operand_of_value(s->w->h, value);
		kr_say_near(s->w, s->key, &shown, false);
	}
}

static void say_kind(const struct saying *s)
{
	static const char *const texts[KR_ANOMALY_KINDS] = {
		[KR_ABORTED_READ] = "only transactions that took no effect left that",
		[KR_INTERMEDIATE_READ] = "only transactions left that which then changed it once more",
		[KR_FUTURE_READ] = "only it itself left that, and later",
		[KR_INTERNAL_INCONSISTENCY] = "that contradicts what it had done before",
		[KR_DUPLICATE_ELEMENT] = "no element was added that often",
		[KR_INCOMPATIBLE_ORDER] = "no order of what was added gives that and what others read",
		[KR_RESULT_SET_MISMATCH] = "what it asked for does not give that row",
	};

	if (s->cert->anomaly.kind == KR_GARBAGE_READ)
		say_garbage(s);
	else
		add(s, texts[s->cert->anomaly.kind]);
}

static void say_clause(const struct kr_words *w, const struct kr_certificate *cert)
{
	static void (*const says[KR_EVIDENCE_KINDS])(const struct saying *s) = {
		[KR_NO_EVIDENCE] = say_kind,
		[KR_WRITTEN_IN_VAIN] = say_written_in_vain,
		[KR_CHANGED_IN_VAIN] = say_changed_in_vain,
		[KR_OVERWRITTEN] = say_overwritten,
		[KR_WRITTEN_LATER] = say_written_later,
		[KR_CHANGED_BEFORE] = say_changed_before,
		[KR_NOBODY_ADDED] = say_nobody_added,
		[KR_ADDED_IN_VAIN] = say_added_in_vain,
		[KR_ADDED_LATER] = say_added_later,
		[KR_ADDED_ONCE] = say_added_once,
		[KR_ADDED_MORE] = say_added_more,
		[KR_ADDED_IN_ORDER] = say_added_in_order,
		[KR_ADDED_APART] = say_added_apart,
		[KR_READ_OTHERWISE] = say_read_otherwise,
		[KR_BEYOND_LIMIT] = say_beyond_limit,
		[KR_OUTSIDE] = say_outside,
		[KR_OUT_OF_ORDER] = say_out_of_order,
		[KR_EMPTY_ROW] = say_empty_row,
		[KR_UNMET] = say_unmet,
		[KR_NAMED_VERSION] = say_named_version,
	};
	struct kr_evidence found;
	struct saying s = {w, cert, &found, cert->anomaly.txn, cert->anomaly.key,
		kr_history_op(w->h, cert->anomaly.txn, cert->anomaly.op)};

	kr_find_evidence(w->h, cert, &found);
	kr_words_mention(w, found.op);
	says[found.kind](&s);
}

void kr_say_operation(const struct kr_words *w, const struct kr_certificate *cert)
{
	kr_words_txn(w, cert->anomaly.txn);
	kr_str_add(w->out, " ");
	kr_words_seen(w, kr_history_op(w->h, cert->anomaly.txn, cert->anomaly.op), cert->anomaly.key);
	kr_str_add(w->out, ", but ");
	say_clause(w, cert);
}

void kr_explain_operation(const struct kr_words *w, const struct kr_certificate *cert)
{
	kr_str_add(w->out, "  - ");
	kr_words_txn(w, cert->anomaly.txn);
	kr_str_add(w->out, " ");
	kr_words_seen(w, kr_history_op(w->h, cert->anomaly.txn, cert->anomaly.op), cert->anomaly.key);
	kr_str_format(w->out, " (operation %u).\n  - However, ",
		kr_history_place(w->h, cert->anomaly.txn, cert->anomaly.op));
	say_clause(w, cert);
	kr_str_add(w->out, ": a contradiction!\n");
}
