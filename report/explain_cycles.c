/* The argument of a cyclic violation as text: forced facts with a number each ("[1] ...: otherwise ..."),
 * then the cycle that closes the case, edge by edge, the last one "However, ... : a contradiction!". A fact
 * is forced because the opposite would close a cycle; when that cycle has only one other edge, and this edge
 * is certain, it is told on the spot instead ("..., as T2 read x = 4, which T1 wrote"). Case splits are
 * blocks, nested as needed. Shows at most STEPS_MOST facts; the witness has all. Cost: linear in what is
 * shown and in the certificate. */
#include <stdio.h>

#include "report/anomaly.h"
#include "report/evidence.h"

#define STEPS_MOST 60u
#define EXCLUDED_MOST 3u /* other candidates of a read whose exclusion is told */
#define LEVELS_MOST 24u

enum shown { SHOWN_NOT, SHOWN_NUMBER, SHOWN_INLINE, SHOWN_ONLY, SHOWN_ASSUMED, SHOWN_NO_EFFECT, SHOWN_PLAIN };

struct reason {
	uint8_t shown;
	uint32_t which;
}; /* NUMBER: the fact; INLINE: the edge; ONLY: the sight */

struct level {
	uint32_t at, indent;
	uint32_t next;   /* side to show next */
	uint32_t number; /* cases shown so far */
	char label[64];
};

struct explaining {
	const struct kr_words *w;
	const struct kr_argument *arg;
	struct reason *reasons; /* per literal */
	uint32_t facts, hidden;
	struct level stack[LEVELS_MOST];
	uint32_t depth;
};

static void add(const struct explaining *x, const char *text) { kr_str_add(x->w->out, text); }

static void indent(const struct explaining *x, uint32_t n)
{
	while (n-- > 0)
		add(x, " ");
}

static const struct kr_cert_edge *edge_of(const struct explaining *x, uint32_t cycle, uint32_t i)
{
	struct kr_cert_cycle c = x->arg->cert->cycles.at[cycle];

	return &x->arg->cert->edges.at[c.first + i % c.count];
}

static uint32_t length_of(const struct explaining *x, uint32_t cycle)
{
	return x->arg->cert->cycles.at[cycle].count;
}

static bool guarded_by(const struct explaining *x, const struct kr_cert_edge *e, uint32_t literal)
{
	uint32_t guard[KR_GUARD_MOST], n = kr_argument_guard(x->arg, e, guard);

	for (uint32_t i = 0; i < n; i++)
		if (guard[i] == literal)
			return true;
	return false;
}

/* ---- literals ---- */

void kr_say_literal(const struct kr_words *w, const struct kr_argument *arg, uint32_t literal, bool present)
{
	const struct kr_doubt *c = &arg->choices.at[literal >> 1];
	bool negated = literal & 1;
	struct kr_said said = {.txns = {c->txn, c->a}, .key = c->key};

	switch ((enum kr_doubt_kind)c->kind) {
	case KR_DOUBT_BEFORE:
		kr_words_order(w, c->key, negated ? c->b : c->a, present ? "comes before" : "came before",
			negated ? c->a : c->b);
		break;
	case KR_DOUBT_SAW:
		kr_words_say(w, negated ? "{0} did not see " : "{0} saw ", said);
		kr_words_say(w, c->a.i == KR_NONE ? "the initial {key}" : "{1}'s {left 1}", said);
		break;
	case KR_DOUBT_EFFECT:
		kr_words_say(w, negated ? "{0} took no effect" : "{0} took effect", said);
		break;
	}
}

void kr_say_sight(const struct kr_words *w, const struct kr_argument_sight *o)
{
	kr_words_say(w, "{0} {saw 0}",
		(struct kr_said){.txns = {o->txn},
			.key = o->key,
			.ops = {kr_history_op(w->h, o->txn, o->op)}});
}

static void add_literal(const struct explaining *x, uint32_t literal, bool present)
{
	kr_say_literal(x->w, x->arg, literal, present);
}

/* ---- edges, each guard with its reason ---- */

struct telling {
	const struct explaining *x;
	const struct kr_cert_edge *e;
	uint32_t assumed; /* the literal that is supposed right here, KR_NONE: none */
};

static void add_plain_edge(const struct explaining *x, uint32_t edge)
{
	kr_words_edge(x->w, &x->arg->cert->edges.at[edge], NULL);
}

/* Why the sight did not see this candidate: "not from T4 [3]". */
static void add_excluded_one(const struct explaining *x, uint32_t choice)
{
	struct reason why = x->reasons[2 * choice + 1];
	const struct kr_doubt *c = &x->arg->choices.at[choice];

	add(x, "not from ");
	if (c->a.i == KR_NONE)
		add(x, "the initial state");
	else
		kr_words_txn(x->w, c->a);
	if (why.shown == SHOWN_NUMBER) {
		kr_str_format(x->w->out, " [%u]", why.which);
	} else if (why.shown == SHOWN_INLINE) {
		add(x, ", as ");
		add_plain_edge(x, why.which);
	} else if (why.shown == SHOWN_ASSUMED) {
		add(x, ", as assumed");
	} else if (why.shown == SHOWN_NO_EFFECT) {
		add(x, ", which took no effect");
		if (c->effect != KR_NONE && x->reasons[2 * c->effect + 1].shown == SHOWN_NUMBER)
			kr_str_format(x->w->out, " [%u]", x->reasons[2 * c->effect + 1].which);
	}
}

/* The other candidates of a sight, and why each is out. */
static void add_excluded(const struct explaining *x, const struct kr_argument_sight *o, uint32_t but)
{
	uint32_t told = 0, assumed = 0;

	for (uint32_t i = 0; i < o->count; i++)
		assumed += x->reasons[2 * x->arg->candidates.at[o->first + i] + 1].shown == SHOWN_ASSUMED;
	if (but != KR_NONE && assumed + 1 == o->count) {
		add(x, " (no other is left)");
		return;
	}
	add(x, " (");
	for (uint32_t i = 0; i < o->count; i++) {
		uint32_t choice = x->arg->candidates.at[o->first + i];
		if (choice == but)
			continue;
		if (told++ >= EXCLUDED_MOST)
			continue;
		add(x, told > 1 ? "; " : "");
		add_excluded_one(x, choice);
	}
	if (told > EXCLUDED_MOST)
		kr_str_format(x->w->out, "; nor from %u other%s", told - EXCLUDED_MOST,
			told == EXCLUDED_MOST + 1 ? "" : "s");
	add(x, ")");
}

static void add_reason(const struct explaining *x, uint32_t literal)
{
	struct reason why = x->reasons[literal];

	switch ((enum shown)why.shown) {
	case SHOWN_NUMBER: kr_str_format(x->w->out, " [%u]", why.which); break;
	case SHOWN_INLINE:
		add(x, ", as ");
		add_plain_edge(x, why.which);
		break;
	case SHOWN_ONLY: add_excluded(x, &x->arg->sights.at[why.which], literal >> 1); break;
	case SHOWN_ASSUMED: add(x, " (assumed)"); break;
	case SHOWN_NOT:
	case SHOWN_PLAIN:
	case SHOWN_NO_EFFECT: break;
	}
}

static void add_reasons(const struct telling *t, enum kr_doubt_kind kind)
{
	const struct explaining *x = t->x;
	uint32_t guard[KR_GUARD_MOST], n = kr_argument_guard(x->arg, t->e, guard);

	for (uint32_t i = 0; i < n; i++)
		if (guard[i] != t->assumed && x->arg->choices.at[guard[i] >> 1].kind == kind)
			add_reason(x, guard[i]);
}

static void note_sight(const void *data) { add_reasons(data, KR_DOUBT_SAW); }

/* An order that nothing had to be inferred for: a list shows it, or the trace tells it. */
static void add_told_order(const struct telling *t)
{
	const struct kr_words *w = t->x->w;
	kr_txn first = t->e->kind == KR_RW ? t->e->source : t->e->from, reader;
	kr_op read;

	if (first.i != KR_NONE && kr_find_order_shown(w->h, t->e->key, first, t->e->to, &reader, &read)) {
		kr_words_say(w, ", as {0} {saw 0}",
			(struct kr_said){.txns = {reader}, .key = t->e->key, .ops = {read}});
		return;
	}
	add(t->x,
		kr_words_order_is_given(w->h, t->e->key, first, t->e->to)
			? ", by the version order that the trace gives"
			: ", as the trace tells");
}

static void note_order(const void *data)
{
	const struct telling *t = data;
	uint32_t guard[KR_GUARD_MOST], n = kr_argument_guard(t->x->arg, t->e, guard), i = 0;

	while (i < n && t->x->arg->choices.at[guard[i] >> 1].kind != KR_DOUBT_BEFORE)
		i++;
	if (i == n)
		add_told_order(t);
	else
		add_reasons(t, KR_DOUBT_BEFORE);
}

/* Where it had to be inferred that a transaction took effect. */
static void note_effects(const struct telling *t)
{
	const struct explaining *x = t->x;
	uint32_t guard[KR_GUARD_MOST], n = kr_argument_guard(x->arg, t->e, guard);

	for (uint32_t i = 0; i < n; i++) {
		if (x->arg->choices.at[guard[i] >> 1].kind != KR_DOUBT_EFFECT ||
			x->reasons[guard[i]].shown != SHOWN_NUMBER || guard[i] == t->assumed)
			continue;
		add(x, " (");
		kr_words_txn(x->w, x->arg->choices.at[guard[i] >> 1].txn);
		kr_str_format(x->w->out, " took effect [%u])", x->reasons[guard[i]].which);
	}
}

static void add_edge(const struct explaining *x, const struct kr_cert_edge *e, uint32_t assumed)
{
	struct telling t = {x, e, assumed};
	struct kr_words_notes notes = {&t, note_sight, note_order};

	kr_words_edge(x->w, e, &notes);
	note_effects(&t);
}

static void add_less(const struct explaining *x, const struct kr_cert_edge *e)
{
	kr_words_say(x->w, "{0} < {1}", kr_said_edge(x->w->h, e));
}

/* ---- facts ---- */

/* Finds the edge that alone excludes the opposite of what a cycle of two forces: the opposite would order
 * just the two transactions that this edge, about which nothing is open, orders the other way. */
static bool is_told_inline(const struct explaining *x, uint32_t cycle, uint32_t opposite, uint32_t *edge)
{
	uint32_t guard[KR_GUARD_MOST];

	if (length_of(x, cycle) != 2)
		return false;
	for (uint32_t i = 0; i < 2; i++) {
		const struct kr_cert_edge *e = edge_of(x, cycle, i), *other = edge_of(x, cycle, i + 1);
		if (!guarded_by(x, e, opposite) || (e->kind != KR_WW && e->kind != KR_WR))
			continue;
		if (kr_argument_guard(x->arg, other, guard) > 0 || kr_argument_guard(x->arg, e, guard) > 1)
			return false;
		*edge = x->arg->cert->cycles.at[cycle].first + (i + 1) % 2;
		return true;
	}
	return false;
}

/* Edge *i of the cycle, counted from `start`, and what follows it in its session: steps within one session
 * are one. Moves *i behind it. */
static struct kr_cert_edge stride(const struct explaining *x, uint32_t cycle, uint32_t start, uint32_t *i)
{
	struct kr_cert_edge e = *edge_of(x, cycle, start + (*i)++);

	while (e.kind == KR_SO && *i < length_of(x, cycle) && edge_of(x, cycle, start + *i)->kind == KR_SO)
		e.to = edge_of(x, cycle, start + (*i)++)->to;
	return e;
}

static void show_lemma(const struct explaining *x, uint32_t cycle, uint32_t opposite, uint32_t at)
{
	uint32_t n = length_of(x, cycle), start = 0;

	while (start < n && !guarded_by(x, edge_of(x, cycle, start), opposite))
		start++;
	for (uint32_t i = 0; i < n;) {
		struct kr_cert_edge e = stride(x, cycle, start, &i);
		bool assumed = guarded_by(x, &e, opposite);
		indent(x, at + 4);
		add(x, "- ");
		add_less(x, &e);
		add(x, assumed ? ", if " : ", because ");
		add_edge(x, &e, opposite);
		add(x, i < n ? ",\n" : ".\n");
	}
}

/* Begins the text of a numbered fact; false when it is one too many to be shown. */
static bool begin_fact(struct explaining *x, uint32_t literal, uint32_t at)
{
	x->facts++;
	x->reasons[literal] = (struct reason){SHOWN_NUMBER, x->facts};
	if (x->facts > STEPS_MOST) {
		x->hidden++;
		return false;
	}
	indent(x, at);
	kr_str_format(x->w->out, "[%u] ", x->facts);
	add_literal(x, literal, false);
	return true;
}

static void show_forced(struct explaining *x, const struct kr_argument_step *step, uint32_t at)
{
	uint32_t edge;

	if (is_told_inline(x, step->from, step->literal ^ 1, &edge)) {
		x->reasons[step->literal] = (struct reason){SHOWN_INLINE, edge};
	} else if (begin_fact(x, step->literal, at)) {
		add(x, ". Otherwise\n");
		show_lemma(x, step->from, step->literal ^ 1, at);
	}
}

/* A transaction took effect, for it was seen, or it saw something. What was assumed or is said where it is
 * used is no fact of its own. */
static void show_effect(struct explaining *x, const struct kr_argument_step *step, uint32_t at)
{
	const struct kr_doubt *saw = &x->arg->choices.at[step->from];
	kr_txn t = x->arg->choices.at[step->literal >> 1].txn;
	uint8_t why = x->reasons[kr_literal(step->from, false)].shown;

	x->reasons[step->literal] = (struct reason){SHOWN_PLAIN, 0};
	if (saw->a.i != t.i || (why != SHOWN_ONLY && why != SHOWN_PLAIN) || !begin_fact(x, step->literal, at))
		return;
	add(x, ", as ");
	kr_say_sight(x->w, &x->arg->sights.at[saw->sight]);
	add(x, " from it");
	add_reason(x, 2 * step->from);
	add(x, ".\n");
}

/* A transaction took no effect, for nothing can have shown it what it saw. */
static void show_no_effect(struct explaining *x, const struct kr_argument_step *step, uint32_t at)
{
	const struct kr_argument_sight *o = &x->arg->sights.at[step->from];

	if (!begin_fact(x, step->literal, at))
		return;
	add(x, ", as ");
	kr_say_sight(x->w, o);
	add_excluded(x, o, KR_NONE);
	add(x, ".\n");
}

static void show_step(struct explaining *x, const struct kr_argument_step *step, uint32_t at)
{
	struct reason *why = &x->reasons[step->literal];

	switch ((enum kr_because)step->because) {
	case KR_BECAUSE_CYCLE: show_forced(x, step, at); break;
	case KR_BECAUSE_SEEN: show_effect(x, step, at); break;
	case KR_BECAUSE_ONLY:
		if (step->literal & 1)
			show_no_effect(x, step, at);
		else
			*why = (struct reason){x->arg->sights.at[step->from].count > 1 ? SHOWN_ONLY
										       : SHOWN_PLAIN,
				step->from};
		break;
	case KR_BECAUSE_NO_EFFECT: *why = (struct reason){SHOWN_NO_EFFECT, 0}; break;
	default: *why = (struct reason){SHOWN_PLAIN, 0}; break;
	}
}

/* ---- cases ---- */

static void close_case(const struct explaining *x, const struct kr_case *c, uint32_t at)
{
	if (c->closed_by == KR_NONE) { /* the last step is refuted by what was known before it */
		indent(x, at);
		add(x, "- However, ");
		add_literal(x, x->arg->steps.at[c->first + c->count - 1].literal, false);
		add(x, ", against what was found before: a contradiction!\n");
		return;
	}

	uint32_t n = length_of(x, c->closed_by);

	for (uint32_t i = 0; i < n;) {
		struct kr_cert_edge e = stride(x, c->closed_by, 0, &i);
		indent(x, at);
		add(x, i < n ? "- " : "- However, ");
		add_less(x, &e);
		add(x, ", because ");
		add_edge(x, &e, KR_NONE);
		add(x, i < n ? ".\n" : ": a contradiction!\n");
	}
}

static void enter(struct explaining *x, uint32_t at, uint32_t indented, const char *label)
{
	const struct kr_case *c = &x->arg->cases.at[at];
	struct level *level = &x->stack[x->depth++];

	*level = (struct level){.at = at, .indent = indented};
	if (label)
		(void)snprintf(level->label, sizeof level->label, "%s", label);
	for (uint32_t i = 0; i < c->count; i++)
		show_step(x, &x->arg->steps.at[c->first + i], indented);
	if (c->child[0] == KR_NONE)
		close_case(x, c, indented);
}

/* Does the case split further on the source of the read whose source `assumed` denies, and nothing else? Then
 * its cases stand beside those of its parent. */
static bool is_continued(const struct explaining *x, uint32_t at, uint32_t assumed)
{
	const struct kr_case *c = &x->arg->cases.at[at];
	const struct kr_doubt *before = &x->arg->choices.at[assumed >> 1], *now;

	if (before->kind != KR_DOUBT_SAW || c->count > 0 || c->child[1] == KR_NONE)
		return false;
	now = &x->arg->choices.at[x->arg->cases.at[c->child[0]].assumed >> 1];
	return now->kind == KR_DOUBT_SAW && now->sight == before->sight;
}

static void enter_side(struct explaining *x, struct level *from)
{
	const struct kr_case *c = &x->arg->cases.at[from->at];
	uint32_t side = from->next++, child = c->child[side], assumed = x->arg->cases.at[child].assumed;
	char label[sizeof from->label];

	if (c->child[1] == KR_NONE) {
		enter(x, child, from->indent, from->label);
		return;
	}
	x->reasons[assumed] = (struct reason){SHOWN_ASSUMED, 0};
	if (side == 1 && is_continued(x, child, assumed)) {
		from->at = child;
		from->next = 0;
		return;
	}
	from->number++;
	if (snprintf(label, sizeof label, "%s%s%u", from->label, from->label[0] ? "." : "", from->number) >=
		(int)sizeof label)
		label[sizeof label - 1] = '\0';
	indent(x, from->indent);
	kr_str_format(x->w->out, "Case %s: if ", label);
	if (from->number > 2 && side == 1) {
		kr_words_say(x->w, "{0} saw none of these",
			(struct kr_said){.txns = {x->arg->choices.at[assumed >> 1].txn}});
	} else {
		add_literal(x, assumed, true);
	}
	add(x, ", then\n");
	enter(x, child, from->indent + 2, label);
}

static void show_cases(struct explaining *x)
{
	enter(x, 0, 2, NULL);
	while (x->depth > 0) {
		struct level *level = &x->stack[x->depth - 1];
		const struct kr_case *c = &x->arg->cases.at[level->at];
		if (level->next < 2 && c->child[level->next] != KR_NONE && x->depth < LEVELS_MOST)
			enter_side(x, level);
		else
			x->depth--;
	}
	if (x->hidden > 0)
		kr_str_format(x->w->out,
			"  (%u inferred facts are left out here, [%u] to [%u]; --witness FILE has the whole "
			"proof.)\n",
			x->hidden, STEPS_MOST + 1, x->facts);
}

#define SHOWN_CYCLES 3u

static bool same_edges(const struct explaining *x, uint32_t a, uint32_t b)
{
	uint32_t n = length_of(x, a), i = 0;

	while (i < n && n == length_of(x, b) && edge_of(x, a, i)->kind == edge_of(x, b, i)->kind &&
		edge_of(x, a, i)->from.i == edge_of(x, b, i)->from.i &&
		edge_of(x, a, i)->key.i == edge_of(x, b, i)->key.i &&
		edge_of(x, a, i)->op == edge_of(x, b, i)->op)
		i++;
	return i == n;
}

/* The argument is too long to be found here: the cycles if they are few, else the last one, and how many
 * others there are. Cycles that differ only in what parts of a key rest on are one. */
static void show_summary(const struct explaining *x)
{
	uint32_t n = x->arg->cert->cycles.n, same = 0;
	struct kr_case one = {.closed_by = n - 1};

	if (kr_is_unexplained(x->arg->cert)) { /* what was read contradicts itself, whatever the order */
		kr_explain_unexplained(x->w);
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		same += same_edges(x, i, n - 1);
	if (same == n || n > SHOWN_CYCLES) {
		close_case(x, &one, 2);
		if (same < n)
			kr_str_format(x->w->out,
				"  (This is one case of many. The proof has %u cycles, one of which is there "
				"in each case; --witness FILE has them all.)\n",
				n);
		return;
	}
	kr_str_format(x->w->out, "  In each case one of these %u is there:\n", n);
	for (uint32_t i = 0; i < n; i++) {
		one.closed_by = i;
		kr_str_format(x->w->out, "  Cycle %u:\n", i + 1);
		close_case(x, &one, 4);
	}
}

void kr_explain_cycles(const struct kr_words *w, const struct kr_argument *arg)
{
	size_t n = 2 * (size_t)arg->choices.n;
	struct explaining x = {.w = w, .arg = arg};

	x.reasons = kr_mem_alloc(arg->mem, n, sizeof *x.reasons);
	if (!x.reasons) {
		w->out->failed = true;
		return;
	}
	if (arg->complete)
		show_cases(&x);
	else
		show_summary(&x);
	kr_mem_free(arg->mem, x.reasons, n, sizeof *x.reasons);
}
