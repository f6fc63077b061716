/* `--explain`: the plain sentence, Let (the transactions on the cycle, with the operations that matter), Then
 * (the argument), and what was assumed. The argument is made first, so that Let holds exactly what it
 * mentions, numbered in the order of mention. */
#include <stdio.h>
#include <string.h>

#include "base/order.h"
#include "report/anomaly.h"
#include "report/coo.h"
#include "report/fold.h"

#define SHOWN_ORDER 20 /* transactions of a serial order */
#define SHOWN_OPS 12   /* operations of a transaction */
#define SHOWN_PATH 60  /* bytes of a path */

static const char *status_note(const struct kr_report *r, kr_txn t)
{
	switch ((enum kr_txn_status)r->history->txns.at[t.i].status) {
	case KR_ABORTED: return ", aborted";
	case KR_UNKNOWN:
		return r->analysis->asg.txns[t.i].presence == KR_PRESENT ? ", outcome unknown, but seen"
									 : ", outcome unknown";
	case KR_COMMITTED: break;
	}
	return "";
}

/* "r x 5, ..., w y 6": those of the cast's operations that are t's. */
static void add_ops(const struct kr_words *w, kr_txn t)
{
	const struct kr_transaction *txn = &w->h->txns.at[t.i];
	const struct kr_cast *cast = w->cast;
	struct kr_words plain = {w->h, NULL, w->out};
	uint32_t next = txn->op_first, end = txn->op_first + txn->op_count, shown = 0;

	kr_str_add(w->out, "       ");
	for (uint32_t i = 0; i < cast->ops.n; i++) {
		uint32_t op = cast->ops.at[i].i;
		if (op < next || op >= end)
			continue;
		if (shown++ == SHOWN_OPS)
			break;
		kr_str_add(w->out, shown > 1 ? ", " : "");
		if (op > next)
			kr_str_add(w->out, "..., ");
		kr_words_op(&plain, (kr_op){op});
		next = op + 1;
	}
	if (next < end)
		kr_str_add(w->out, shown > 0 ? ", ..." : "...");
	kr_str_add(w->out, "\n");
}

/* The end of a long path: all of it stands in the first line of the report, and an entry is to fit on a
 * line. */
static void add_file(const char *file, struct kr_str *out)
{
	size_t n = strlen(file);
	const char *end = n > SHOWN_PATH ? strchr(file + n - SHOWN_PATH, '/') : NULL;

	kr_str_add(out, end ? "..." : "");
	kr_str_shown(out, end ? end : file);
}

static void add_place(const struct kr_report *r, const struct kr_words *w, kr_txn t)
{
	const struct kr_transaction *txn = &w->h->txns.at[t.i];
	const char *file = kr_history_file(w->h, t, "generated");

	kr_str_add(w->out, w->cast->by_id ? " = (" : "  (");
	if (txn->session.i != KR_NONE) {
		kr_str_add(w->out, "session ");
		kr_words_name(w, w->h->sessions.at[txn->session.i]);
		kr_str_add(w->out, ", ");
	}
	add_file(file, w->out);
	if (txn->line > 0)
		kr_str_format(w->out, ":%u", txn->line);
	kr_str_add(w->out, status_note(r, t));
	kr_str_add(w->out, ")\n");
}

static void add_let(const struct kr_report *r, const struct kr_words *w)
{
	struct kr_cast *cast = w->cast;

	KR_SORT(cast->ops.at, cast->ops.n, kr_by_id);
	kr_str_add(w->out, "\nLet:\n");
	for (uint32_t i = 0; i < cast->txns.n; i++) {
		const struct kr_transaction *txn = &w->h->txns.at[cast->txns.at[i].i];
		if (!cast->by_id)
			kr_str_format(w->out, "  T%u = ", i + 1);
		else
			kr_str_add(w->out, "  ");
		kr_words_name(w, txn->id);
		add_place(r, w, cast->txns.at[i]);
		add_ops(w, cast->txns.at[i]);
	}
}

/* ---- what was assumed ---- */

/* Where what decided was there before the trace, perhaps, and its format cannot tell: how to tell it. */
static const char *other_initial(const struct kr_report *r)
{
	const struct kr_history *h = r->history;
	bool garbage = r->verdict && r->verdict->outcome == KR_VIOLATED &&
		r->verdict->certificate.kind == KR_CERT_ANOMALY &&
		r->verdict->certificate.anomaly.kind == KR_GARBAGE_READ;

	return garbage && h->initial == KR_INITIAL_ABSENT && h->format && strcmp(h->format, "native") != 0
		? " (--initial FILE tells others, --initial unknown that they are not known)"
		: "";
}

static void add_initial(const struct kr_report *r, struct kr_str *out)
{
	static const char *const texts[] = {
		[KR_INITIAL_ABSENT] = "every key starts absent",
		[KR_INITIAL_GIVEN] = "keys start as the trace declares, the others absent",
		[KR_INITIAL_UNKNOWN] = "keys start with values that the trace does not tell",
		[KR_INITIAL_UNWRITTEN] = "keys start with values that the trace does not tell, but none that "
					 "it writes to them",
	};

	kr_str_format(out, "  initial state: %s%s\n", texts[r->history->initial], other_initial(r));
}

static const char *order_meaning(enum kr_order order)
{
	static const char *const meanings[] = {
		[KR_ORDER_NONE] = "none (neither sessions nor time order transactions)",
		[KR_ORDER_SESSION] = "session (transactions of a session come in their order)",
		[KR_ORDER_REALTIME] =
			"realtime (session order, and what returned before another began comes before it)",
	};

	return meanings[order];
}

static void add_skew(const struct kr_history *h, struct kr_str *out)
{
	kr_str_format(out, "  clock skew: %lld%s", (long long)h->clock_skew, h->time_unit ? " " : "");
	kr_str_shown(out, h->time_unit ? h->time_unit : "");
	kr_str_add(out, "\n");
}

void kr_explain_assumed(const struct kr_report *r, struct kr_str *out)
{
	const struct kr_history *h = r->history;

	kr_str_format(out, "  level %s: %s\n  order: %s\n", r->level->id, r->level->definition,
		order_meaning(r->order));
	if (!h)
		return;
	add_initial(r, out);
	if (h->clock_skew != 0)
		add_skew(h, out);
	if (h->skipped > 0)
		kr_str_format(out, "  left out: %u bad transaction%s\n", h->skipped,
			h->skipped == 1 ? "" : "s");
}

/* ---- the other levels ---- */

static void add_levels(const struct kr_modules *more, enum kr_order order, const char *heading, uint64_t set,
	const char **separator, struct kr_str *out)
{
	const struct kr_level *level;
	uint32_t n = 0;

	for (size_t i = 0; i < 64 && (level = kr_level_at(more, i)) != NULL; i++) {
		if (!(set >> i & 1) || level->default_order != order)
			continue;
		if (n++ == 0)
			kr_str_format(out, "%s%s ", *separator, heading);
		else
			kr_str_add(out, ", ");
		kr_str_add(out, level->id);
		*separator = "; ";
	}
}

/* By order: a stronger level may hold without an order where a weaker one fails with it. */
void kr_report_standing(const struct kr_modules *more, const struct kr_standing *s, struct kr_str *out)
{
	struct kr_str text;

	kr_str_init(&text, out->mem);
	kr_str_add(&text, "\nLevels, each with its usual order:\n");
	for (int order = KR_ORDER_NONE; order <= KR_ORDER_REALTIME; order++) {
		char before[32];
		const char *separator = before;

		snprintf(before, sizeof before, "  %s: ", kr_order_words((enum kr_order)order));
		add_levels(more, (enum kr_order)order, "broken", s->broken, &separator, &text);
		add_levels(more, (enum kr_order)order, "kept", s->kept, &separator, &text);
		add_levels(more, (enum kr_order)order, "not decided here", ~(s->broken | s->kept), &separator,
			&text);
		kr_str_add(&text, separator == before ? "" : "\n");
	}
	kr_fold(&text, out);
	kr_str_done(&text);
}

/* ---- the three verdicts ---- */

/* Does the transaction at place i stand at an earlier one, too? */
static bool stands_before(const struct kr_certificate *cert, uint32_t i)
{
	uint32_t j = 0;

	while (j < i && cert->serial.at[j].i != cert->serial.at[i].i)
		j++;
	return j < i;
}

static void explain_satisfied(const struct kr_report *r, struct kr_str *out)
{
	static const char *const orders[] = {[KR_CERT_ORDER] = "A serial order",
		[KR_CERT_SNAPSHOTS] = "An order of the starts and commits",
		[KR_CERT_WORLD] = "An order of the commits"};
	const struct kr_certificate *cert = &r->verdict->certificate;
	uint32_t n = cert->serial.n, shown = n <= SHOWN_ORDER ? n : SHOWN_ORDER,
		 took = cert->kind == KR_CERT_SNAPSHOTS ? n / 2 : n;
	struct kr_words w = {r->history, NULL, out};

	if (n == 0) {
		kr_str_add(out, "No transaction took effect, so there is nothing to order.\n");
		return;
	}
	kr_str_format(out, "%s of the %u transaction%s that took effect explains every read:\n  ",
		orders[cert->kind], took, took == 1 ? "" : "s");
	for (uint32_t i = 0; i < shown; i++) {
		kr_str_add(out, i > 0 ? ", " : "");
		kr_words_txn(&w, cert->serial.at[i]);
		if (cert->kind == KR_CERT_SNAPSHOTS)
			kr_str_add(out, stands_before(cert, i) ? " commits" : " starts");
	}
	kr_str_add(out, shown < n ? ", ...\n" : "\n");
}

void kr_explain_argument(const struct kr_report *r, const struct kr_words *w, const struct kr_argument *arg)
{
	const struct kr_certificate *cert = &r->verdict->certificate;
	uint32_t more = r->analysis->anomaly_count;
	struct kr_two_states two;

	if (arg && kr_argument_is_involved(arg) && kr_find_two_states(r->history, r->level, cert, &two)) {
		kr_explain_two_states(w, &two);
		return;
	}
	if (arg) {
		kr_explain_cycles(w, arg);
		return;
	}
	kr_explain_operation(w, cert);
	if (more > 1)
		kr_str_format(w->out, "  (%u more operation%s cannot be explained by any order either.)\n",
			more - 1, more == 2 ? "" : "s");
}

/* Let and Then; `then` was written with the cast. */
static void add_let_then(const struct kr_report *r, struct kr_cast *cast, struct kr_str *then,
	struct kr_str *out)
{
	struct kr_words let = {r->history, cast, out};

	add_let(r, &let);
	kr_str_add(out, "\nThen:\n");
	kr_str_add_bytes(out, kr_str_text(then), then->n);
	out->failed |= then->failed || cast->failed;
}

static void explain_violated(const struct kr_report *r, const struct kr_argument *arg, struct kr_str *out)
{
	bool replay = r->verdict->certificate.kind == KR_CERT_REPLAY;
	struct kr_str then;
	struct kr_cast cast;
	struct kr_words by_id = {r->history, NULL, out}, by_number = {r->history, &cast, &then};

	if (replay)
		kr_say_difference(r, &by_id);
	else
		kr_sentence(&by_id, r->level, &r->verdict->certificate, arg);
	kr_str_add(out,
		replay ? ".\nThis is said of that order only: another one may still explain what was seen.\n"
		       : ".\n");

	kr_str_init(&then, out->mem);
	kr_cast_init(&cast, out->mem, r->history);
	if (replay)
		kr_explain_difference(r, &by_number);
	else
		kr_explain_argument(r, &by_number, arg);
	add_let_then(r, &cast, &then, out);
	kr_cast_done(&cast);
	kr_str_done(&then);
}

static void explain(const struct kr_report *r, struct kr_str *out)
{
	struct kr_argument arg;

	switch (kr_report_outcome(r)) {
	case KR_SATISFIED: explain_satisfied(r, out); break;
	case KR_UNDECIDED: kr_str_format(out, "Undecided: %s.\n", kr_report_reason(r)); break;
	case KR_VIOLATED:
		if (r->verdict->certificate.kind != KR_CERT_CYCLES) {
			explain_violated(r, NULL, out);
		} else if (kr_argument_init(&arg, out->mem, r->history, &r->analysis->asg,
				   &r->verdict->certificate) == KR_OK) {
			explain_violated(r, &arg, out);
			kr_argument_done(&arg);
		} else {
			out->failed = true;
		}
		break;
	}
	if (r->verdict && r->verdict->given == KR_GIVEN_ONLY &&
		r->verdict->certificate.kind == KR_CERT_CYCLES)
		kr_str_add(out, "Without the version orders that the trace gives, the level holds.\n");
	kr_coo_explain(r, out);
	kr_str_add(out, "\nAssumed:\n");
	kr_explain_assumed(r, out);
}

void kr_report_explain(const struct kr_report *r, struct kr_str *out)
{
	struct kr_str text;

	kr_str_init(&text, out->mem);
	explain(r, &text);
	kr_fold(&text, out);
	kr_str_done(&text);
	if (r->standing.known && kr_report_outcome(r) == KR_VIOLATED)
		kr_report_standing(r->modules, &r->standing, out);
}
