/* The anomaly in one plain sentence: a table from the anomaly's name to the words for it. A cycle whose shape
 * has no words of its own is told as a circle. Where it takes several cycles, no single one is there in every
 * world, and what it says of orders is only supposed: the sentence names the choice that fits in no case. */
#include <string.h>

#include "report/anomaly.h"

#define LISTED_MOST 6 /* transactions named before "and N others" */
#define TOLD_MOST 4   /* steps of a longer way that are all told */

struct saying {
	const struct kr_words *w;
	const struct kr_cert_edge *edges; /* the last cycle */
	uint32_t n;
};

static const struct kr_cert_edge *edge_at(const struct saying *s, uint32_t i) { return &s->edges[i % s->n]; }

static void add(const struct saying *s, const char *text) { kr_str_add(s->w->out, text); }
static void txn(const struct saying *s, kr_txn t) { kr_words_txn(s->w, t); }

static uint32_t find_kind(const struct saying *s, enum kr_edge_kind kind)
{
	uint32_t i = 0;

	while (i < s->n && s->edges[i].kind != kind)
		i++;
	return i;
}

static void list_circle(const struct saying *s, uint32_t from, uint32_t n)
{
	uint32_t shown = n <= LISTED_MOST ? n : LISTED_MOST - 1;

	for (uint32_t i = 0; i < shown; i++) {
		if (i > 0)
			add(s, i + 1 < n ? ", " : " and ");
		txn(s, edge_at(s, from + i)->from);
	}
	if (shown < n)
		kr_str_format(s->w->out, " and %u others", n - shown);
}

/* Of an edge: what is in braces is that of kr_said_edge. */
static void say(const struct saying *s, const char *text, const struct kr_cert_edge *e)
{
	kr_words_say(s->w, text, kr_said_edge(s->w->h, e));
}

static void missed(const struct saying *s, const struct kr_cert_edge *e)
{
	say(s, "{0} missed {1}'s {left 1}", e);
}

/* What the clients noticed of the edge: "t2 read x = 5, which t1 wrote", "t1 missed t2's x = 5", "t1 wrote x
 * = 5 before t2 wrote x = 6". */
static void tell(const struct saying *s, const struct kr_cert_edge *e)
{
	if (e->kind == KR_RW) {
		missed(s, e);
	} else if (e->kind == KR_WW) {
		say(s, "{0} {wrote 0} before {1} {wrote 1}", e);
		if (kr_words_order_is_given(s->w->h, e->key, e->from, e->to))
			add(s, " in the version order that the trace gives");
	} else {
		kr_words_edge(s->w, e, NULL);
	}
}

/* Edge *i of the last cycle and what follows it in its session, up to edge `end`: steps within one session
 * are one. Moves *i behind it. */
static struct kr_cert_edge stride(const struct saying *s, uint32_t *i, uint32_t end)
{
	struct kr_cert_edge e = *edge_at(s, (*i)++);

	while (e.kind == KR_SO && *i < end && edge_at(s, *i)->kind == KR_SO)
		e.to = edge_at(s, (*i)++)->to;
	return e;
}

/* The edges from `from` on: all, or where they are many the first and the last one, and by way of whom. */
static void tell_chain(const struct saying *s, uint32_t from, uint32_t n)
{
	uint32_t end = from + n, i = from, steps = 0;
	struct kr_cert_edge e;

	for (; i < end; steps++)
		(void)stride(s, &i, end);
	for (i = from; i < end;) {
		uint32_t at = i;
		e = stride(s, &i, end);
		if (steps > TOLD_MOST && at > from && i < end)
			continue;
		if (steps > TOLD_MOST && at > from) {
			add(s, ", and so on by way of ");
			list_circle(s, from + 2, n - 2);
			add(s, " until ");
		} else if (at > from) {
			add(s, i < end ? ", " : ", and ");
		}
		tell(s, &e);
	}
}

/* ---- by name ---- */

/* "E, although F": a cycle of two, the edge of this kind first. False for other cycles. */
static bool say_two(const struct saying *s, enum kr_edge_kind kind)
{
	uint32_t at = find_kind(s, kind);

	if (s->n != 2 || at == s->n)
		return false;
	tell(s, edge_at(s, at));
	add(s, ", although ");
	tell(s, edge_at(s, at + 1));
	return true;
}

static void say_circle(const struct saying *s)
{
	if (s->n == 2 && edge_at(s, 0)->kind == KR_RW && edge_at(s, 1)->kind == KR_RW) {
		missed(s, edge_at(s, 0));
		add(s, ", and ");
		missed(s, edge_at(s, 1));
		return;
	}
	if (say_two(s, KR_RW) || say_two(s, KR_WR) || say_two(s, KR_WW))
		return;
	tell_chain(s, 0, s->n);
	add(s, ", which no order of ");
	list_circle(s, 0, s->n);
	add(s, " explains");
}

static void say_g0(const struct saying *s)
{
	if (s->n == 2 && edge_at(s, 0)->kind == KR_WW && edge_at(s, 1)->kind == KR_WW) {
		list_circle(s, 0, 2);
		if (edge_at(s, 0)->key.i == edge_at(s, 1)->key.i) {
			say(s,
				" both wrote {key}, and what the trace tells of the order of these writes "
				"contradicts itself",
				edge_at(s, 0));
			return;
		}
		add(s, " overwrote each other: ");
		tell(s, edge_at(s, 0));
		add(s, ", but ");
		tell(s, edge_at(s, 1));
	} else {
		say_circle(s);
	}
}

static void say_g1c(const struct saying *s)
{
	if (s->n == 2 && edge_at(s, 0)->kind == KR_WR && edge_at(s, 1)->kind == KR_WR) {
		list_circle(s, 0, 2);
		add(s, " each saw a write of the other: ");
		say(s, "{1} {saw 0}", edge_at(s, 0));
		say(s, ", {1} {saw 0}", edge_at(s, 1));
	} else if (!say_two(s, KR_WR)) {
		say_circle(s);
	}
}

/* Did t see of k what operation `op` saw? */
static bool read_the_same(const struct kr_history *h, kr_op op, kr_txn t, kr_key k)
{
	const struct kr_transaction *other = &h->txns.at[t.i];
	const struct kr_operation *read = &h->ops.at[op.i];
	bool told = read->kind == KR_OP_INSERT; /* all that it saw is in its flags */

	for (uint32_t i = 0; i < other->op_count; i++) {
		const struct kr_operation *o = &h->ops.at[other->op_first + i];
		if (o->kind == read->kind && o->key.i == k.i)
			return o->flags == read->flags &&
				(told ||
					(o->a.i == read->a.i &&
						(o->b.i == read->b.i || o->kind == KR_OP_CAS)));
	}
	return false;
}

/* What two transactions did to k: "deleted it" where both did, "overwrote it" where they did different
 * things. */
static const char *both_did(const struct kr_history *h, kr_txn a, kr_txn b, kr_key k)
{
	static const char *const did[KR_OP_KINDS] = {[KR_OP_DELETE] = "deleted it",
		[KR_OP_APPEND] = "appended to it",
		[KR_OP_ADD] = "added to it",
		[KR_OP_MAX] = "raised it",
		[KR_OP_INC] = "added to it"};
	kr_op x = kr_words_last_write(h, a, k), y = kr_words_last_write(h, b, k);
	uint8_t kind = x.i == KR_NONE || y.i == KR_NONE || h->ops.at[x.i].kind != h->ops.at[y.i].kind
		? (uint8_t)KR_OP_WRITE
		: h->ops.at[x.i].kind;

	return did[kind] ? did[kind] : "overwrote it";
}

static void say_lost_update(const struct saying *s)
{
	const struct kr_cert_edge *e = edge_at(s, find_kind(s, KR_RW));
	kr_op op = kr_history_op(s->w->h, e->from, e->op);

	if (read_the_same(s->w->h, op, e->to, e->key)) {
		list_circle(s, (uint32_t)(e - s->edges), 2);
		say(s, " both {saw 0} and both ", e);
		add(s, both_did(s->w->h, e->from, e->to, e->key));
		return;
	}
	say(s, "{0} {saw 0} and overwrote it, but missed {1}'s {left 1}", e);
}

/* A cycle of one rw and one wr of the same key. */
static void say_two_states(const struct saying *s, const struct kr_cert_edge *rw,
	const struct kr_cert_edge *wr)
{
	uint32_t first = rw->op < wr->op ? rw->op : wr->op, second = rw->op < wr->op ? wr->op : rw->op;

	if (first == second)
		say(s, "{0} {saw 0}, which it was neither before nor after {1}'s {left 1}", rw);
	else
		kr_say_two_states(s->w, &(struct kr_two_states){rw->from, rw->key, first, second});
}

/* Of an rw: an operation of the same transaction that shows another value of the register, which it did not
 * write itself; KR_NONE: there is none. What does not meet conditions may have any value. */
static uint32_t find_other_state(const struct saying *s, const struct kr_cert_edge *e)
{
	const struct kr_history *h = s->w->h;
	kr_value shown = kr_words_value(h, kr_history_op(h, e->from, e->op), e->key);

	uint8_t kind = h->keys.at[e->key.i].kind;
	bool tells = (kind == KR_KIND_ANY || kind == KR_KIND_REGISTER) &&
		(!e->predicate || h->ops.at[kr_history_op(h, e->from, e->op).i].kind == KR_OP_RANGE);

	for (uint32_t i = 0; tells && i < h->txns.at[e->from.i].op_count; i++) {
		kr_op at = kr_history_op(h, e->from, i);
		if (kr_words_writes(h, at, e->key))
			break;
		if (i != e->op && kr_words_sees(h, at, e->key) && kr_words_value(h, at, e->key).i != shown.i)
			return i;
	}
	return KR_NONE;
}

static void say_g_single(const struct saying *s)
{
	uint32_t at = find_kind(s, KR_RW);
	const struct kr_cert_edge *e = edge_at(s, at), *back = edge_at(s, at + 1);
	uint32_t later;

	if (s->n == 2 && back->kind == KR_WR && back->key.i == e->key.i) {
		say_two_states(s, e, back);
		return;
	}
	if (s->n == 2 && back->kind == KR_WR && (later = find_other_state(s, e)) != KR_NONE) {
		kr_say_two_states(s->w, &(struct kr_two_states){e->from, e->key, e->op, later});
		return;
	}
	if (s->n == 2 && back->kind == KR_WR) {
		say(s, "{0} saw a part of {1}: it ", e);
		say(s, "{saw 0}, but missed ", back);
		say(s, "{1}'s {left 1}", e);
		return;
	}
	missed(s, e);
	add(s, ", although ");
	tell_chain(s, at + 1, s->n - 1);
}

static void say_long_fork(const struct saying *s)
{
	uint32_t at = find_kind(s, KR_WR);

	for (uint32_t i = at; i < at + 4; i += 2) {
		say(s, i > at ? ", while {1} {saw 0} but missed " : "{1} {saw 0} but missed ", edge_at(s, i));
		say(s, "{1}'s {left 1}", edge_at(s, i + 1));
	}
}

static void say_write_skew(const struct saying *s)
{
	list_circle(s, 0, 2);
	add(s, " each overwrote what the other had read: ");
	for (uint32_t i = 0; i < 2; i++) {
		const struct kr_cert_edge *e = edge_at(s, i), *other = edge_at(s, i + 1);
		say(s, i > 0 ? ", {0} {saw 0} and " : "{0} {saw 0} and ", e);
		kr_words_wrote(s->w, e->from, other->key);
	}
}

static void say_cycle(const struct kr_words *w, const struct kr_certificate *cert)
{
	static void (*const sayings[KR_CYCLE_NAMES])(const struct saying *s) = {
		[KR_CYCLE_G0] = say_g0,
		[KR_CYCLE_G1C] = say_g1c,
		[KR_CYCLE_LOST_UPDATE] = say_lost_update,
		[KR_CYCLE_G_SINGLE] = say_g_single,
		[KR_CYCLE_LONG_FORK] = say_long_fork,
		[KR_CYCLE_WRITE_SKEW] = say_write_skew,
	};
	struct kr_cert_cycle last = cert->cycles.at[cert->cycles.n - 1];
	struct saying s = {w, cert->edges.at + last.first, last.count};
	enum kr_cycle_name name = kr_anomaly_last(w->h, cert);

	(sayings[name] ? sayings[name] : say_circle)(&s);
}

/* Do all cycles go by the same edges, whatever parts of keys these rest on? */
static bool is_one_cycle(const struct kr_certificate *cert)
{
	const struct kr_cert_cycle *last = &cert->cycles.at[cert->cycles.n - 1];

	for (uint32_t c = 0; c + 1 < cert->cycles.n; c++) {
		for (uint32_t i = 0; i < last->count; i++) {
			const struct kr_cert_edge *e = &cert->edges.at[cert->cycles.at[c].first + i],
						  *f = &cert->edges.at[last->first + i];
			if (cert->cycles.at[c].count != last->count || e->kind != f->kind ||
				e->from.i != f->from.i || e->key.i != f->key.i)
				return false;
		}
	}
	return true;
}

/* A lost update by two who both read the same: that is what happened, whichever of them wrote first. */
static bool is_plain_lost_update(const struct kr_history *h, const struct kr_certificate *cert)
{
	const struct kr_cert_edge *e = &cert->edges.at[cert->cycles.at[cert->cycles.n - 1].first],
				  *rw = e->kind == KR_RW ? e : e + 1;
	const char *suffix;

	return strcmp(kr_anomaly_base(h, cert, &suffix), kr_cycle_name(KR_CYCLE_LOST_UPDATE)) == 0 &&
		kr_anomaly_last(h, cert) == KR_CYCLE_LOST_UPDATE &&
		read_the_same(h, kr_history_op(h, rw->from, rw->op), rw->to, rw->key);
}

static bool has_rw(const struct kr_certificate *cert, uint32_t cycle)
{
	for (uint32_t i = 0; i < cert->cycles.at[cycle].count; i++)
		if (cert->edges.at[cert->cycles.at[cycle].first + i].kind == KR_RW)
			return true;
	return false;
}

/* Is what the last cycle says known rather than supposed? It is if it is the only one, or if the others only
 * say who came first since information flowed that way: no rw is among them. */
static bool is_known(const struct kr_certificate *cert, const struct kr_argument *arg)
{
	uint32_t c = 0;

	if (cert->cycles.n > 1 && (!arg || kr_argument_is_involved(arg)))
		return false;
	while (c + 1 < cert->cycles.n && !has_rw(cert, c))
		c++;
	return c + 1 == cert->cycles.n;
}

/* The argument is too long to be found: what would be in one of its cases. */
static void say_none(const struct kr_words *w, const struct kr_certificate *cert)
{
	kr_str_add(w->out,
		"Every order that may be supposed contradicts something that was seen; in one case ");
	say_cycle(w, cert);
}

/* The first case of the argument that has two sides, or NULL. */
static const struct kr_case *first_split(const struct kr_argument *arg)
{
	uint32_t at = 0;

	while (at != KR_NONE && at < arg->cases.n) {
		const struct kr_case *c = &arg->cases.at[at];
		if (c->child[1] != KR_NONE)
			return c;
		at = c->child[0];
	}
	return NULL;
}

/* The choice on which the argument turns: that of its first case with two sides, else the first one that a
 * cycle settles. NULL: none. */
static const struct kr_doubt *first_choice(const struct kr_argument *arg)
{
	const struct kr_case *split = first_split(arg);

	if (split)
		return &arg->choices.at[arg->cases.at[split->child[0]].assumed >> 1];
	for (uint32_t at = 0; at != KR_NONE && at < arg->cases.n; at = arg->cases.at[at].child[0]) {
		const struct kr_case *c = &arg->cases.at[at];
		for (uint32_t i = c->first; i < c->first + c->count; i++)
			if (arg->steps.at[i].because == KR_BECAUSE_CYCLE && arg->steps.at[i].needed)
				return &arg->choices.at[arg->steps.at[i].literal >> 1];
	}
	return NULL;
}

/* What an observation saw, and whose writes that can have been. */
static void say_sources(const struct kr_words *w, const struct kr_argument *arg, const struct kr_doubt *c)
{
	const struct kr_argument_sight *sight = &arg->sights.at[c->sight];
	uint32_t writers = 0, told = 0;
	bool initial = false;

	kr_say_sight(w, sight);
	for (uint32_t i = 0; i < sight->count; i++) {
		bool none = arg->choices.at[arg->candidates.at[sight->first + i]].a.i == KR_NONE;
		initial |= none;
		writers += !none;
	}
	if (!sight->all || writers > LISTED_MOST) {
		kr_str_add(w->out,
			", and whichever write that was, something else that was seen contradicts it");
		return;
	}
	kr_str_add(w->out, initial ? ", as it was at first" : ", as ");
	kr_str_add(w->out, initial && writers > 0 ? " or as " : "");
	for (uint32_t i = 0; i < sight->count; i++) {
		const struct kr_doubt *by = &arg->choices.at[arg->candidates.at[sight->first + i]];
		if (by->a.i == KR_NONE)
			continue;
		kr_str_add(w->out, told == 0 ? "" : told + 1 < writers ? ", " : " or ");
		told++;
		kr_words_txn(w, by->a);
	}
	kr_str_add(w->out, writers > 0 ? " left it, and " : ", and ");
	kr_str_add(w->out,
		sight->count == 2 ? "neither fits what else was seen"
				  : "that does not fit what else was seen");
}

static void say_choice(const struct kr_words *w, const struct kr_argument *arg, const struct kr_doubt *c)
{
	bool effect = c->kind == KR_DOUBT_SAW && arg->sights.at[c->sight].count == 1 &&
		arg->sights.at[c->sight].effect != KR_NONE;

	switch (effect ? KR_DOUBT_EFFECT : (enum kr_doubt_kind)c->kind) {
	case KR_DOUBT_BEFORE:
		kr_words_say(w,
			"{0} and {1} both wrote {key}, and neither order of these writes fits what was read",
			(struct kr_said){.txns = {c->a, c->b}, .key = c->key});
		break;
	case KR_DOUBT_SAW: say_sources(w, arg, c); break;
	case KR_DOUBT_EFFECT:
		kr_words_say(w,
			"Whether {0}, whose outcome is not known, took effect or not, what others saw does "
			"not fit",
			(struct kr_said){.txns = {c->txn}});
		break;
	}
}

bool kr_argument_is_involved(const struct kr_argument *arg)
{
	return !arg->complete || first_split(arg) != NULL;
}

void kr_sentence(const struct kr_words *w, const struct kr_level *level, const struct kr_certificate *cert,
	const struct kr_argument *arg)
{
	/* on which the argument turns */
	const struct kr_doubt *choice = arg && arg->complete ? first_choice(arg) : NULL;
	struct kr_two_states two;

	if (cert->kind == KR_CERT_ANOMALY)
		kr_say_operation(w, cert);
	else if (kr_is_unexplained(cert))
		kr_say_unexplained(w);
	else if (kr_anomaly_torn(cert) != KR_TORN_NOT)
		kr_say_torn(w, cert);
	else if (arg && kr_argument_is_involved(arg) && kr_find_two_states(w->h, level, cert, &two))
		kr_say_two_states(w, &two);
	else if (is_known(cert, arg) || is_one_cycle(cert) ||
		(arg && arg->complete && is_plain_lost_update(w->h, cert)))
		say_cycle(w, cert);
	else if (choice)
		say_choice(w, arg, choice);
	else
		say_none(w, cert);
}

void kr_report_sentence(const struct kr_report *r, struct kr_str *out)
{
	const struct kr_certificate *cert = &r->verdict->certificate;
	struct kr_words w = {r->history, NULL, out};
	struct kr_argument arg;

	if (cert->kind == KR_CERT_REPLAY) {
		kr_say_difference(r, &w);
		return;
	}

	if (cert->kind != KR_CERT_CYCLES || cert->cycles.n <= 1) {
		kr_sentence(&w, r->level, cert, NULL);
		return;
	}
	if (kr_argument_init(&arg, out->mem, r->history, &r->analysis->asg, cert) != KR_OK) {
		out->failed = true;
		return;
	}
	kr_sentence(&w, r->level, cert, &arg);
	kr_argument_done(&arg);
}
