/* A finding in words, in the shape of Elle: who did what and when ("Let"), what follows from the times
 * ("Then"), and what cannot be ("However"). */
#include "report/finding.h"
#include "report/words.h"
#include "verify/declared.h"

struct telling {
	const struct kr_finding_report *r;
	const struct kr_finding *f;
	struct kr_words w;
};

static void add(const struct telling *t, const char *text) { kr_str_add(t->w.out, text); }

/* {0} and {1} are the transactions of the finding, {2} its writer, {key} its key. */
static void say(const struct telling *t, const char *text)
{
	kr_words_say(&t->w, text,
		(struct kr_said){.txns = {t->f->txns[0], t->f->txns[1], t->f->writer}, .key = t->f->key});
}

static void say_of(const struct telling *t, const char *text, kr_txn who)
{
	kr_words_say(&t->w, text, (struct kr_said){.txns = {who}, .key = t->f->key});
}

static void at(const struct telling *t, int64_t instant)
{
	if (instant == INT64_MIN || instant == INT64_MAX)
		add(t, "an unknown time");
	else
		kr_str_format(t->w.out, "%lld", (long long)instant);
}

static void value(const struct telling *t, kr_value v)
{
	if (v.i == KR_NONE)
		add(t, "some value");
	else if (v.i == KR_ABSENT.i)
		add(t, "absent");
	else
		kr_history_print_value(t->r->history, v, KR_WORDS_VALUE, t->w.out);
}

/* "x = 5", "x absent" */
static void state(const struct telling *t, kr_value v)
{
	say(t, v.i == KR_ABSENT.i ? "{key} " : "{key} = ");
	value(t, v);
}

/* ---- Let ---- */

static void sent(const struct telling *t, const char *what, int64_t invoked, int64_t returned, bool open)
{
	kr_str_format(t->w.out, "%s sent ", what);
	at(t, invoked);
	add(t, open ? ", not answered" : ", answered ");
	if (!open)
		at(t, returned);
}

static void let_op(const struct telling *t, kr_txn who, uint32_t op)
{
	const struct kr_history *h = t->r->history;
	const struct kr_attr *attr = kr_history_attr(h, kr_history_op(h, who, op));

	kr_words_op(&t->w, kr_history_op(h, who, op));
	if (attr && attr->has_time)
		sent(t, ",", attr->invoked, attr->returned, attr->open);
	add(t, "; ");
}

static void let_txn(const struct telling *t, kr_txn who, uint32_t op, bool first)
{
	static const char *const ends[] =
		{[KR_COMMITTED] = "commit", [KR_ABORTED] = "rolled back", [KR_UNKNOWN] = "commit"};
	const struct kr_transaction *x = &t->r->history->txns.at[who.i];
	kr_op write = t->f->key.i == KR_NONE ? (kr_op){KR_NONE}
					     : kr_words_last_write(t->r->history, who, t->f->key);

	say_of(t, first ? "Let:  {0} = \"" : "      {0} = \"", who);
	kr_history_print_name(t->r->history, x->id, t->w.out);
	add(t, "\"  ");
	if (x->flags & KR_TXN_HAS_BEGIN && !(x->flags & KR_TXN_AUTO)) {
		sent(t, "begin", x->begin_invoked, x->begin_returned, x->flags & KR_TXN_BEGIN_OPEN);
		add(t, "; ");
	}
	if (write.i != KR_NONE && write.i - x->op_first != op)
		let_op(t, who, write.i - x->op_first);
	if (op != KR_NONE)
		let_op(t, who, op);
	if (x->flags & KR_TXN_AUTO)
		add(t, "autocommit");
	else if (x->flags & KR_TXN_HAS_END)
		sent(t, ends[x->status], x->end_invoked, x->end_returned, x->flags & KR_TXN_END_OPEN);
	else
		add(t, x->status == KR_COMMITTED ? "committed" : "no end");
	add(t, ".\n");
}

bool kr_finding_parts(const struct kr_finding_report *r, const struct kr_finding *f, struct kr_mem *mem,
	struct kr_finding_parts *out)
{
	bool writer = f->has_writer && f->writer.i != f->txns[0].i;
	const struct kr_finding_part first[] = {
		{writer ? f->writer : (kr_txn){KR_NONE}, KR_NONE},
		{f->over, KR_NONE},
		{f->txns[0], f->ops[0]},
		{f->txns[1], f->ops[1]},
	};

	if (!kr_vec_reserve(mem, out, KR_COUNT(first) + f->edge_count))
		return false;
	for (size_t i = 0; i < KR_COUNT(first); i++)
		if (first[i].txn.i != KR_NONE)
			out->at[out->n++] = first[i];
	for (uint32_t i = 0; i < f->edge_count; i++) {
		const struct kr_certain_edge *e = &r->all->edges.at[f->edge_first + i];
		out->at[out->n++] = (struct kr_finding_part){e->from, e->kind == KR_RW ? e->op : KR_NONE};
	}
	return true;
}

static void let(const struct telling *t)
{
	struct kr_finding_parts parts = {0};

	t->w.out->failed |= !kr_finding_parts(t->r, t->f, t->w.out->mem, &parts);
	for (uint32_t i = 0; i < parts.n; i++)
		let_txn(t, parts.at[i].txn, parts.at[i].op, i == 0);
	kr_vec_done(t->w.out->mem, &parts);
}

/* ---- Then ---- */

static void then_snapshot(const struct telling *t)
{
	say(t, "{0}'s snapshot was taken in [");
	at(t, t->f->snapshot.from);
	add(t, ", ");
	at(t, t->f->snapshot.to);
	add(t, "].\n");
}

static void then_garbage(const struct telling *t)
{
	const struct kr_finding *f = t->f;

	if (f->over.i == KR_NONE) {
		then_snapshot(t);
		return;
	}
	say_of(t, "{0}'s {left 0} was in place by ", f->over);
	at(t, f->over_by);
	say(t, ", before {0}'s snapshot could be taken (");
	at(t, f->snapshot.from);
	say(t, ").\n      What {0} saw");
	say(t, f->writer.i == KR_NONE ? "" : ", {2}'s,");
	add(t, " had been overwritten by it: ");
	add(t,
		f->writer.i == KR_NONE ? "it was there at the start.\n"
			: f->by_locks  ? "their locks follow each other.\n"
				       : "one had committed before the other's commit was sent.\n");
}

static void then_locks(const struct telling *t)
{
	const struct kr_finding *f = t->f;

	for (int i = 0; i < 2; i++) {
		add(t, i ? "      " : "");
		say_of(t,
			i == 0 && f->what == KR_FOUND_RANGE ? "{0} had its range locked by "
							    : "{0} had its lock by ",
			f->txns[i]);
		at(t, f->held[i].from);
		add(t, " at the latest, and gave it up at ");
		at(t, f->held[i].to);
		add(t, " at the earliest.\n");
	}
}

void kr_finding_edge_says(const struct kr_words *w, const struct kr_certain_edge *e)
{
	static const char *const verbs[] = {[KR_WR] = " read what ",
		[KR_WW] = " made its version before ",
		[KR_RW] = " did not see what ",
		[KR_SO] = " came before ",
		[KR_RT] = " had ended before "};
	bool reads = e->kind == KR_WR;

	kr_words_txn(w, reads ? e->to : e->from);
	kr_str_add(w->out, verbs[e->kind]);
	kr_words_txn(w, reads ? e->from : e->to);
	if (reads || e->kind == KR_RW)
		kr_str_add(w->out, e->earlier ? ", or one after it, wrote of " : " wrote of ");
	else if (e->kind == KR_WW)
		kr_str_add(w->out, " made its own, of ");
	if (e->key.i != KR_NONE)
		kr_words_key(w, e->key);
	kr_str_add(w->out, e->kind == KR_RT ? " began" : "");
}

/* The inequalities of its class. */
static void then_declared(const struct telling *t)
{
	static const char *const was[] = {[KR_INSTANT_SNAPSHOT] = "{0}'s snapshot was taken by ",
		[KR_INSTANT_STATEMENT] = "{0}'s statement was over by ",
		[KR_INSTANT_BEGIN] = "{0} had begun by ",
		[KR_INSTANT_COMMIT] = "{0} had committed by ",
		[KR_INSTANT_LOCK] = "{0} had its lock by ",
		[KR_INSTANT_RELEASE] = "{0} had given up its locks by "};
	static const char *const could[] = {[KR_INSTANT_SNAPSHOT] =
						    ", before {0}'s snapshot could be taken (",
		[KR_INSTANT_STATEMENT] = ", before {0}'s statement was sent (",
		[KR_INSTANT_BEGIN] = ", before {0} could begin (",
		[KR_INSTANT_COMMIT] = ", before {0} could commit (",
		[KR_INSTANT_LOCK] = ", before {0} could take its lock (",
		[KR_INSTANT_RELEASE] = ", before {0} could give up its locks ("};
	const struct kr_declared *d = t->f->declared;

	for (uint32_t i = 0; i < d->premise_count; i++) {
		add(t, i > 0 ? "      " : "");
		say_of(t, was[d->premises[i].before.what], t->f->txns[d->premises[i].before.of]);
		at(t, t->f->at[i][0]);
		say_of(t, could[d->premises[i].after.what], t->f->txns[d->premises[i].after.of]);
		at(t, t->f->at[i][1]);
		add(t, ").\n");
	}
}

static void then(const struct telling *t)
{
	const struct kr_finding *f = t->f;

	add(t, "Then: ");
	for (uint32_t i = 0; i < f->edge_count; i++) {
		add(t, i > 0 ? "      " : "");
		kr_finding_edge_says(&t->w, &t->r->all->edges.at[f->edge_first + i]);
		add(t, ".\n");
	}
	if (f->edge_count > 0)
		return;
	if (f->what == KR_FOUND_DECLARED)
		then_declared(t);
	else if (f->mechanism == KR_MECH_ME)
		then_locks(t);
	else if (f->what == KR_FOUND_GARBAGE)
		then_garbage(t);
	else if (f->what == KR_FOUND_DUPLICATE_ROW)
		add(t, "there is one row of a key at most, whenever its snapshot was taken.\n");
	else
		then_snapshot(t);
}

/* ---- However ---- */

static void why_seen(const struct telling *t)
{
	const struct kr_finding *f = t->f;

	if (f->seen.i == KR_NONE) {
		say(t, "{0} saw something else of {key}");
	} else {
		say(t, f->seen.i == KR_ABSENT.i ? "{0} found " : "{0} read ");
		state(t, f->seen);
	}
}

static void why_visible(const struct telling *t)
{
	const struct kr_finding *f = t->f;

	add(t, ": no version that could be seen explains it (could see:");
	for (uint32_t i = 0; i < f->visible_count; i++) {
		add(t, i > 0 ? ", " : " ");
		value(t, t->r->all->visible.at[f->visible_first + i].value);
	}
	add(t, f->visible_count == 0 ? " nothing)" : ")");
}

static void why_vain(const struct telling *t, const char *text)
{
	why_seen(t);
	say(t, t->f->has_writer && t->f->writer.i != KR_NONE ? ", which {2} " : ", which somebody ");
	add(t, text);
}

static void why_read(const struct telling *t)
{
	switch (t->f->what) {
	case KR_FOUND_OWN_WRITE:
		why_seen(t);
		add(t, ", and had itself left ");
		state(t, t->r->all->visible.at[t->f->visible_first].value);
		break;
	case KR_FOUND_ABORTED: why_vain(t, "wrote in vain"); break;
	case KR_FOUND_INTERMEDIATE: why_vain(t, "wrote over before it committed"); break;
	case KR_FOUND_NEVER_WRITTEN:
		why_seen(t);
		add(t, ", which nobody ever wrote");
		break;
	case KR_FOUND_UNCOMMITTED:
		why_seen(t);
		add(t, ", which was not there at that time");
		break;
	case KR_FOUND_NO_COMMON_SNAPSHOT:
		say(t,
			"there is no instant at which {0} can have seen all that it saw with that snapshot, "
			"{key} included");
		break;
	case KR_FOUND_DUPLICATE_ROW: say(t, "{0} was shown two rows of {key}"); break;
	default:
		why_seen(t);
		why_visible(t);
		break;
	}
}

static void why(const struct telling *t)
{
	switch (t->f->what) {
	case KR_FOUND_WRITE_WRITE: say(t, "{0} and {1} had {key} locked for writing at the same time"); break;
	case KR_FOUND_WRITE_READ:
		say(t, "{0} and {1} had {key} locked at the same time, one of them for writing");
		break;
	case KR_FOUND_RANGE:
		say(t,
			"{0} and {1} had a range, and a row that was written into it, locked at the same "
			"time: {key}");
		break;
	case KR_FOUND_CONCURRENT_WRITERS:
		say(t,
			"{0} and {1} both wrote {key}, and neither can have committed before the other's "
			"snapshot");
		break;
	case KR_FOUND_DECLARED: say(t, t->f->declared->says); break;
	case KR_FOUND_CYCLE:
		add(t, "these transactions depend on each other in a circle, which ");
		add(t, t->r->certify ? t->r->certify->id : "the level");
		add(t, " forbids");
		break;
	case KR_FOUND_OWN_WRITE:
	case KR_FOUND_NEVER_WRITTEN:
	case KR_FOUND_ABORTED:
	case KR_FOUND_INTERMEDIATE:
	case KR_FOUND_FUTURE:
	case KR_FOUND_GARBAGE:
	case KR_FOUND_UNCOMMITTED:
	case KR_FOUND_NO_COMMON_SNAPSHOT:
	case KR_FOUND_DUPLICATE_ROW: why_read(t); break;
	case KR_FOUND_CLASSES: break;
	}
}

void kr_finding_says(const struct kr_finding_report *r, const struct kr_finding *f, struct kr_str *out)
{
	struct telling t = {r, f, {r->history, NULL, out}};

	why(&t);
}

void kr_finding_explain(const struct kr_words *w, const struct kr_finding_report *r,
	const struct kr_finding *f)
{
	char name[KR_ANOMALY_NAME_SIZE];
	struct telling t = {r, f, *w};
	struct kr_str *out = w->out;

	kr_report_finding_class(r, f, name);
	let(&t);
	then(&t);
	add(&t, "      However, ");
	why(&t);
	kr_str_format(out, ". %s: %s, %s.\n", r->profile->name, kr_mechanism_name(f->mechanism), name);
	if (f->attached > 0)
		kr_str_format(out, "      %u cycle%s of dependencies hold%s both.\n", f->attached,
			f->attached == 1 ? "" : "s", f->attached == 1 ? "s" : "");
}

void kr_report_finding_explain(const struct kr_finding_report *r, const struct kr_finding *f,
	struct kr_str *out)
{
	struct kr_cast cast;
	struct kr_words w = {r->history, &cast, out};

	kr_cast_init(&cast, out->mem, r->history);
	kr_finding_explain(&w, r, f);
	out->failed |= cast.failed;
	kr_cast_done(&cast);
}
