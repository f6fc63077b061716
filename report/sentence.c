/* The anomaly in one plain sentence: a table from the anomaly's name to the words for it. A cycle whose shape has no words of its own is
 * told as a circle. Where the argument splits cases, no single cycle is the reason, and the sentence names the choice that fits in no case. */
#include <string.h>

#include "report/anomaly.h"

#define LISTED_MOST 6 /* transactions named before "and N others" */

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

static void seen(const struct saying *s, kr_txn t, uint32_t op, kr_key k)
{
	txn(s, t);
	add(s, " ");
	kr_words_seen(s->w, kr_history_op(s->w->h, t, op), k);
}

/* "t2's x = 5": what the rw edge e overwrote unseen. */
static void owned(const struct saying *s, const struct kr_cert_edge *e)
{
	txn(s, e->to);
	add(s, "'s ");
	kr_words_version(s->w, e->key, e->to);
}

static void missed(const struct saying *s, const struct kr_cert_edge *e)
{
	txn(s, e->from);
	add(s, " missed ");
	owned(s, e);
}

/* ---- by name ---- */

/* "E, although F": a cycle of two, the edge of this kind first. False for other cycles. */
static bool say_two(const struct saying *s, enum kr_edge_kind kind)
{
	uint32_t at = find_kind(s, kind);

	if (s->n != 2 || at == s->n)
		return false;
	kr_words_edge(s->w, edge_at(s, at), NULL);
	add(s, ", although ");
	kr_words_edge(s->w, edge_at(s, at + 1), NULL);
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
	list_circle(s, 0, s->n);
	add(s, " would each have to come before the next, and the last before the first");
}

static void say_g0(const struct saying *s)
{
	if (s->n == 2 && edge_at(s, 0)->kind == KR_WW && edge_at(s, 1)->kind == KR_WW) {
		list_circle(s, 0, 2);
		add(s, " overwrote each other: ");
		kr_words_order(s->w, edge_at(s, 0)->key, edge_at(s, 0)->from, "came before", edge_at(s, 0)->to);
		add(s, ", but ");
		kr_words_order(s->w, edge_at(s, 1)->key, edge_at(s, 1)->from, "came before", edge_at(s, 1)->to);
	} else if (!say_two(s, KR_WW)) {
		say_circle(s);
	}
}

static void say_g1c(const struct saying *s)
{
	if (s->n == 2 && edge_at(s, 0)->kind == KR_WR && edge_at(s, 1)->kind == KR_WR) {
		list_circle(s, 0, 2);
		add(s, " each saw a write of the other: ");
		seen(s, edge_at(s, 0)->to, edge_at(s, 0)->op, edge_at(s, 0)->key);
		add(s, ", ");
		seen(s, edge_at(s, 1)->to, edge_at(s, 1)->op, edge_at(s, 1)->key);
	} else if (!say_two(s, KR_WR)) {
		say_circle(s);
	}
}

/* Did t read the value that operation `op` read from k? */
static bool read_the_same(const struct kr_history *h, kr_op op, kr_txn t, kr_key k)
{
	const struct kr_transaction *other = &h->txns.at[t.i];
	const struct kr_operation *read = &h->ops.at[op.i];

	for (uint32_t i = 0; i < other->op_count; i++) {
		const struct kr_operation *o = &h->ops.at[other->op_first + i];
		if (o->kind == read->kind && o->key.i == k.i)
			return o->flags == read->flags && o->a.i == read->a.i && o->b.i == read->b.i;
	}
	return false;
}

static void say_lost_update(const struct saying *s)
{
	const struct kr_cert_edge *e = edge_at(s, find_kind(s, KR_RW));
	kr_op op = kr_history_op(s->w->h, e->from, e->op);

	if (read_the_same(s->w->h, op, e->to, e->key)) {
		list_circle(s, (uint32_t)(e - s->edges), 2);
		add(s, " both ");
		kr_words_seen(s->w, op, e->key);
		add(s, " and both overwrote it");
		return;
	}
	seen(s, e->from, e->op, e->key);
	add(s, " and overwrote it, but missed ");
	owned(s, e);
}

/* How the edge says that its from comes before its to, after "although". */
static void although(const struct saying *s, const struct kr_cert_edge *e)
{
	add(s, ", although ");
	kr_words_edge(s->w, e, NULL);
}

static void say_g_single(const struct saying *s)
{
	uint32_t at = find_kind(s, KR_RW);
	const struct kr_cert_edge *e = edge_at(s, at), *back = edge_at(s, at + 1);

	if (s->n == 2 && back->kind == KR_WR && back->key.i == e->key.i) {
		seen(s, e->from, e->op < back->op ? e->op : back->op, e->key);
		add(s, " and ");
		kr_words_seen(s->w, kr_history_op(s->w->h, e->from, e->op < back->op ? back->op : e->op), e->key);
		add(s, ", two states of one key");
		return;
	}
	if (s->n == 2 && back->kind == KR_WR) {
		txn(s, e->from);
		add(s, " saw a part of ");
		txn(s, e->to);
		add(s, ": it ");
		kr_words_seen(s->w, kr_history_op(s->w->h, back->to, back->op), back->key);
		add(s, ", but missed ");
		owned(s, e);
		return;
	}
	missed(s, e);
	if (s->n == 2) {
		although(s, back);
		return;
	}
	add(s, ", although ");
	txn(s, e->to);
	add(s, " came before it by way of ");
	list_circle(s, at + 2, s->n - 2);
}

static void say_long_fork(const struct saying *s)
{
	uint32_t at = find_kind(s, KR_WR);

	for (uint32_t i = at; i < at + 4; i += 2) {
		const struct kr_cert_edge *saw = edge_at(s, i), *lost = edge_at(s, i + 1);
		if (i > at)
			add(s, ", while ");
		seen(s, saw->to, saw->op, saw->key);
		add(s, " but missed ");
		owned(s, lost);
	}
}

static void say_write_skew(const struct saying *s)
{
	list_circle(s, 0, 2);
	add(s, " each overwrote what the other had read: ");
	for (uint32_t i = 0; i < 2; i++) {
		const struct kr_cert_edge *e = edge_at(s, i), *other = edge_at(s, i + 1);
		if (i > 0)
			add(s, ", ");
		seen(s, e->from, e->op, e->key);
		add(s, " and ");
		kr_words_wrote(s->w, e->from, other->key);
	}
}

static const struct {
	const char *name;
	void (*say)(const struct saying *s);
} cyclic[] = {
	{"G0", say_g0},
	{"G1c", say_g1c},
	{"lost update", say_lost_update},
	{"G-single", say_g_single},
	{"long fork", say_long_fork},
	{"write skew", say_write_skew},
};

static void say_cycle(const struct kr_words *w, const struct kr_certificate *cert)
{
	const char *suffix, *base = kr_anomaly_base(w->h, cert, &suffix);
	struct kr_cert_cycle last = cert->cycles.at[cert->cycles.n - 1];
	struct saying s = {w, cert->edges.at + last.first, last.count};

	for (size_t i = 0; i < KR_COUNT(cyclic); i++) {
		if (strcmp(cyclic[i].name, base) == 0) {
			cyclic[i].say(&s);
			return;
		}
	}
	say_circle(&s);
}

/* The argument is too long to be found: which transactions the last cycle is about. */
static void say_none(const struct kr_words *w, const struct kr_certificate *cert)
{
	struct kr_cert_cycle last = cert->cycles.at[cert->cycles.n - 1];
	struct saying s = {w, cert->edges.at + last.first, last.count};

	add(&s, "No order of ");
	list_circle(&s, 0, s.n);
	add(&s, " fits what was read");
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

static void say_split(const struct kr_words *w, const struct kr_argument *arg, const struct kr_case *split)
{
	const struct kr_choice *c = &arg->choices.at[arg->cases.at[split->child[0]].assumed >> 1];

	switch ((enum kr_choice_kind)c->kind) {
	case KR_CHOICE_BEFORE:
		kr_words_txn(w, c->a);
		kr_str_add(w->out, " and ");
		kr_words_txn(w, c->b);
		kr_str_add(w->out, " both wrote ");
		kr_words_key(w, c->key);
		kr_str_add(w->out, ", and neither order of these writes fits what was read");
		break;
	case KR_CHOICE_SAW:
		kr_words_txn(w, c->txn);
		kr_str_add(w->out, " ");
		kr_words_seen(w, kr_history_op(w->h, c->txn, c->op), c->key);
		kr_str_add(w->out, ", and no write that it can have come from fits the other reads");
		break;
	case KR_CHOICE_EFFECT:
		kr_str_add(w->out, "Whether ");
		kr_words_txn(w, c->txn);
		kr_str_add(w->out, " took effect or not, what was read does not fit");
		break;
	}
}

bool kr_argument_is_involved(const struct kr_argument *arg) { return !arg->complete || first_split(arg) != NULL; }

void kr_sentence(const struct kr_words *w, const struct kr_level *level, const struct kr_certificate *cert, const struct kr_argument *arg)
{
	struct kr_two_states two;

	if (cert->kind == KR_CERT_ANOMALY)
		kr_say_operation(w, cert);
	else if (kr_is_unexplained(cert))
		kr_say_unexplained(w);
	else if (!arg || !kr_argument_is_involved(arg))
		say_cycle(w, cert);
	else if (kr_find_two_states(w->h, level, cert, &two))
		kr_say_two_states(w, &two);
	else if (cert->cycles.n == 1)
		say_cycle(w, cert);
	else if (arg->complete)
		say_split(w, arg, first_split(arg));
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
