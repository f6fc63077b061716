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
	struct kr_said said; /* ops: that of the evidence, the other one, the reader's */
};

static void add(const struct saying *s, const char *text) { kr_words_say(s->w, text, s->said); }

static bool is_list(const struct saying *s) { return s->w->h->keys.at[s->said.key.i].kind == KR_KIND_LIST; }

/* "x started absent", "x started as 0" */
static void add_start(const struct saying *s)
{
	kr_value initial = s->w->h->keys.at[s->said.key.i].initial;

	if (kr_history_untold(s->w->h))
		return;
	add(s, initial.i == KR_ABSENT.i ? ", and {key} started absent" : ", and {key} started as ");
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

static void add_near_element(const struct saying *s)
{
	struct kr_operand element = kr_operand_of_piece(s->found->element);

	add_start(s);
	kr_say_near(s->w, s->said.key, &element, true);
}

static void add_apart(const struct saying *s)
{
	if (s->found->adder.i != KR_NONE) {
		kr_words_mention(s->w, s->found->adding);
		kr_words_say(s->w, "{0}'s ", (struct kr_said){.txns = {s->found->adder}});
	}
	add(s, "{element} stands");
}

/* Is what was read cut where it is shown? */
static bool is_cut(const struct saying *s, kr_op op)
{
	return kr_history_value(s->w->h, s->w->h->ops.at[op.i].a)->length > KR_WORDS_VALUE;
}

static void add_otherwise(const struct saying *s)
{
	add(s,
		is_list(s) ? ", and neither list is the beginning of the other"
			   : ", and each of these sets has an element that the other lacks");
	if (!is_cut(s, s->said.ops[2]) && !is_cut(s, s->found->op))
		return;
	if (is_list(s))
		kr_str_format(s->w->out, ": element %u is ", (unsigned)s->found->place + 1);
	else
		add(s, ": ");
	add(s, "{element} in the first and ");
	kr_words_say(s->w, "{element} in the second", (struct kr_said){.element = s->found->there});
}

/* ---- rows ---- */

static void add_limit(const struct saying *s)
{
	const struct kr_scan *scan = &s->w->h->scans.at[s->w->h->ops.at[s->said.ops[2].i].scan];

	kr_str_format(s->w->out, "%lld row%s", (long long)scan->limit, scan->limit == 1 ? "" : "s");
}

static void add_named_version(const struct saying *s)
{
	if (s->found->txn.i == KR_NONE) {
		add(s, "the initial one");
		return;
	}
	add(s, "{0}'s {left 0}");
	if (s->cert->anomaly.kind == KR_ABORTED_READ &&
		s->w->h->txns.at[s->found->txn.i].status != KR_COMMITTED) {
		add(s, ", and {0}");
		add_no_effect(s);
	}
}

/* ---- nothing plain was found ---- */

static void say_garbage(const struct saying *s)
{
	kr_key key = s->said.key;
	const struct kr_operation *op = &s->w->h->ops.at[s->said.ops[2].i];
	kr_value value = kr_words_value(s->w->h, s->said.ops[2], key);
	bool reads = kr_op_is_read(op);

	if (s->w->h->keys.at[key.i].kind == KR_KIND_COUNTER)
		add(s, "nothing that was added to {key} comes to that");
	else if (s->w->h->keys.at[key.i].kind == KR_KIND_MARK)
		add(s, "nothing that {key} was raised to gives that");
	else if (reads && !kr_words_finds(s->w->h, s->said.ops[2], key))
		add(s,
			kr_op_scans(op) ? "no transaction left {key} so that it is not found"
					: "no transaction deleted {key}");
	else
		add(s, reads ? "no transaction wrote that to {key}" : "no transaction left {key} such");
	add_start(s);
	if (reads && value.i != KR_NONE && value.i != KR_ABSENT.i) {
		struct kr_operand shown = kr_operand_of_value(s->w->h, value);
		kr_say_near(s->w, key, &shown, false);
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

static struct kr_said of_reader(const struct kr_words *w, const struct kr_certificate *cert)
{
	return (struct kr_said){.txns = {cert->anomaly.txn},
		.key = cert->anomaly.key,
		.ops = {kr_history_op(w->h, cert->anomaly.txn, cert->anomaly.op)}};
}

static void say_clause(const struct kr_words *w, const struct kr_certificate *cert)
{
	static const struct {
		const char *text;
		void (*then)(const struct saying *s);
	} says[KR_EVIDENCE_KINDS] = {
		[KR_NO_EVIDENCE] = {"", say_kind},
		[KR_WRITTEN_IN_VAIN] = {"only {0} wrote that, and {0}", add_no_effect},
		[KR_CHANGED_IN_VAIN] = {"only transactions that took no effect, such as {0}, left that",
			NULL},
		[KR_OVERWRITTEN] = {"{0} wrote that and then overwrote it itself ({op 1}), and no other "
				    "transaction left it",
			NULL},
		[KR_WRITTEN_LATER] =
			{"{0} itself wrote that only later ({op 0}), and no other transaction left it", NULL},
		[KR_CHANGED_BEFORE] = {"{0} had itself changed {key} before ({op 0}), and does not see that",
			NULL},
		[KR_NOBODY_ADDED] = {"no transaction {did} {element} to {key}", add_near_element},
		[KR_ADDED_IN_VAIN] = {"only {0} {did} {element}, and {0}", add_no_effect},
		[KR_ADDED_LATER] = {"{0} itself {did} {element} only later, and no other transaction did",
			NULL},
		[KR_ADDED_ONCE] = {"{element} was {did} only once, by {0}", NULL},
		[KR_ADDED_MORE] =
			{"{0} {did} {value 0} and then {value 1}, and others see all of a transaction "
			 "or nothing",
				NULL},
		[KR_ADDED_IN_ORDER] = {"{0} {did} {value 0} and then {value 1}, in this order", NULL},
		[KR_ADDED_APART] =
			{"{0} {did} {value 0} and then {value 1}, with nothing of others between them, "
			 "where ",
				add_apart},
		[KR_READ_OTHERWISE] = {"{0} {saw 0}", add_otherwise},
		[KR_BEYOND_LIMIT] = {"it was limited to ", add_limit},
		[KR_OUTSIDE] = {"{key} is outside the bounds of the range ({op 2})", NULL},
		[KR_OUT_OF_ORDER] = {"the rows of the range do not come in the order of their keys ({op 2})",
			NULL},
		[KR_EMPTY_ROW] = {"a range shows only keys that hold something", NULL},
		[KR_UNMET] = {"that does not meet the conditions ({op 2})", NULL},
		[KR_NAMED_VERSION] = {"the version that it says it saw is ", add_named_version},
	};
	struct kr_evidence found;
	struct saying s = {w, cert, &found, of_reader(w, cert)};

	kr_find_evidence(w->h, cert, &found);
	kr_words_mention(w, found.op);
	s.said = (struct kr_said){.txns = {found.txn},
		cert->anomaly.key,
		{found.op, found.other, s.said.ops[0]},
		is_list(&s) ? "appended" : "added",
		found.element};
	if (found.kind == KR_OVERWRITTEN) {
		s.said.ops[1] = kr_words_last_write(w->h, found.txn, cert->anomaly.key);
		kr_words_mention(w, s.said.ops[1]);
	}
	add(&s, says[found.kind].text);
	if (says[found.kind].then)
		says[found.kind].then(&s);
}

void kr_say_operation(const struct kr_words *w, const struct kr_certificate *cert)
{
	kr_words_say(w, "{0} {saw 0}, but ", of_reader(w, cert));
	say_clause(w, cert);
}

void kr_explain_operation(const struct kr_words *w, const struct kr_certificate *cert)
{
	kr_words_say(w, "  - {0} {saw 0}", of_reader(w, cert));
	kr_str_format(w->out, " (operation %u).\n  - However, ",
		kr_history_place(w->h, cert->anomaly.txn, cert->anomaly.op));
	say_clause(w, cert);
	kr_str_add(w->out, ": a contradiction!\n");
}
