/* Several levels at once. The strongest undecided question that nothing undecided implies is searched for
 * first: satisfied, it settles all that it implies; violated, its certificate is tried on all weaker ones (a
 * cycle is often forbidden by many levels), and whatever is violated settles the stronger ones. What follows
 * is not taken on trust: the certificate, with the other level's name on it, goes through the verifier, and
 * if that does not agree the level is searched for like any other. Two rounds: in the first each search gets
 * its share of the time; the second one gives those that remain all that is left. Nothing is searched for
 * again in less time than it has had: that could only replace what is known of the search by less.
 *
 * What else is asked must not matter. A question that its own search leaves open is therefore tried with the
 * certificates of all others of the lattice, whether they are asked or not: first of those that it implies,
 * which may be violated, and of those that imply it, which may be satisfied; then of the rest. What settles
 * it depends on the history alone, within the limits: the time that is left, or a minute. */
#include <stdio.h>

#include "checkers/check.h"

/* Of the time left, at least this part goes to the next search: much follows from the strong levels, which
 * come first, and the weak ones are quick. */
enum { MOST_SHARES = 4 };
static const int64_t OTHERS_NS = INT64_C(60000000000);

struct deciding {
	struct kr_ctx *ctx;
	const struct kr_history *h;
	const struct kr_analysis *analysis;
	struct kr_decision *all;
	uint32_t n;
	bool *tried;    /* searched for in this round */
	int64_t *given; /* the time for the last search of it, in ns */
};

static struct kr_question question(const struct kr_decision *d)
{
	return (struct kr_question){d->options.level, d->options.order};
}

/* A level that is to be decided in a certain way does not take over what was found in another. */
static bool by_hand(const struct deciding *c, const struct kr_decision *d)
{
	const struct kr_check_options *o = &d->options;
	return (o->checker && o->checker != kr_checker_for(c->ctx->modules, o->level)) || o->passes ||
		o->backend || o->pass_options.dump_after;
}

static bool is_open(const struct kr_decision *d)
{
	return d->status == KR_OK && d->verdict.outcome == KR_UNDECIDED;
}

static bool implies(const struct deciding *c, const struct kr_decision *a, const struct kr_decision *b)
{
	return kr_implies(c->ctx->modules, question(a), question(b));
}

/* Takes over the certificate of `from`, if it proves `to`, too. */
static enum kr_status take_over(struct deciding *c, struct kr_decision *to, const struct kr_decision *from)
{
	struct kr_certificate cert;
	bool fits = false, own = from->verdict.proof_of == NULL;
	int64_t start = kr_now_ns();
	enum kr_status status = kr_certificate_copy(&c->ctx->mem, &from->verdict.certificate, &cert);

	if (!status)
		status = kr_check_fits(c->ctx, c->h, &cert, question(to), &fits);
	if (status || !fits) {
		kr_certificate_done(&cert);
		return status;
	}
	kr_verdict_done(&to->verdict, &c->ctx->mem);
	to->verdict = (struct kr_verdict){
		.level = to->options.level,
		.order = to->options.order,
		.checker = from->verdict.checker,
		.outcome = from->verdict.outcome,
		.certificate = cert,
		.proof_of = own ? from->options.level : from->verdict.proof_of,
		.proof_order = own ? from->options.order : from->verdict.proof_order,
		.sums = from->verdict.sums,
	};
	to->verdict.seconds = to->verdict.verify_seconds = (double)(kr_now_ns() - start) * 1e-9;
	return KR_OK;
}

/* Can what settled `from` be expected to settle `to`? A cycle that breaks a strong level often breaks weaker
 * ones. */
static bool bears_on(const struct deciding *c, const struct kr_decision *from, const struct kr_decision *to)
{
	return implies(c, from, to) || (from->verdict.outcome == KR_VIOLATED && implies(c, to, from));
}

static bool may_take_over(const struct deciding *c, const struct kr_decision *d)
{
	return is_open(d) && !by_hand(c, d);
}

/* Tries the certificate of `from` on the open questions on which it bears, and goes on from each that it
 * settles: as deep as there are questions. */
static enum kr_status spread(struct deciding *c, const struct kr_decision *from)
{
	enum kr_status status = KR_OK;

	for (uint32_t i = 0; i < c->n && !status; i++) {
		struct kr_decision *to = &c->all[i];

		if (!may_take_over(c, to) || !bears_on(c, from, to))
			continue;
		status = take_over(c, to, from);
		if (!status && !is_open(to))
			status = spread(c, to);
	}
	return status;
}

/* Tries it on all open ones. */
static enum kr_status offer(struct deciding *c, const struct kr_decision *from)
{
	enum kr_status status = KR_OK;

	for (uint32_t i = 0; i < c->n && !status; i++)
		if (may_take_over(c, &c->all[i]))
			status = take_over(c, &c->all[i], from);
	return status;
}

/* The first open question that no other open one implies, unless they imply each other. */
static struct kr_decision *strongest(const struct deciding *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		bool implied = !is_open(&c->all[i]) || c->tried[i];

		for (uint32_t j = 0; j < c->n && !implied; j++)
			implied = is_open(&c->all[j]) && !c->tried[j] && implies(c, &c->all[j], &c->all[i]) &&
				!implies(c, &c->all[i], &c->all[j]);
		if (!implied)
			return &c->all[i];
	}
	return NULL;
}

static uint32_t count_untried(const struct deciding *c)
{
	uint32_t open = 0;

	for (uint32_t i = 0; i < c->n; i++)
		open += is_open(&c->all[i]) && !c->tried[i];
	return open;
}

static void say(struct kr_ctx *ctx, struct kr_verdict *v, enum kr_status status)
{
	snprintf(v->reason, sizeof v->reason, "%s", kr_ctx_reason(ctx, status));
}

/* Stands for no verdict yet. */
static void begin(struct kr_ctx *ctx, struct kr_decision *d, enum kr_status status)
{
	kr_err_init(&d->err);
	d->verdict = (struct kr_verdict){.level = d->options.level,
		.order = d->options.order,
		.checker = d->options.checker,
		.outcome = KR_UNDECIDED};
	if (!d->verdict.checker)
		d->verdict.checker = kr_checker_for(ctx->modules, d->options.level);
	kr_certificate_init(&d->verdict.certificate, &ctx->mem);
	say(ctx, &d->verdict, status);
	d->status = KR_OK;
}

/* Searches with a part of the time that is left. */
static enum kr_status search(struct deciding *c, struct kr_decision *d, uint32_t parts)
{
	int64_t deadline = kr_ctx_limit(c->ctx, parts, INT64_MAX);
	enum kr_status status;

	kr_verdict_done(&d->verdict, &c->ctx->mem);
	d->status = kr_check(c->ctx, c->h, c->analysis, &d->options, &d->verdict, &d->err);
	status = c->ctx->stopped;
	if (!status && d->status == KR_OK && d->verdict.outcome != KR_UNDECIDED && !by_hand(c, d))
		status = spread(c, d);
	kr_ctx_resume(c->ctx, deadline, &status, NULL);
	return status;
}

/* A part of the time that is left, in ns. */
static int64_t time_for(const struct deciding *c, uint32_t parts)
{
	return c->ctx->deadline_ns == INT64_MAX ? INT64_MAX : (c->ctx->deadline_ns - kr_now_ns()) / parts;
}

static enum kr_status search_asked(struct deciding *c)
{
	enum kr_status status = KR_OK;
	struct kr_decision *next;

	for (int round = 0; round < 2 && !status; round++) {
		for (uint32_t i = 0; i < c->n; i++)
			c->tried[i] = round > 0 && by_hand(c, &c->all[i]);
		while (!status && (next = strongest(c)) != NULL) {
			uint32_t open = count_untried(c), parts = open < MOST_SHARES ? open : MOST_SHARES;
			int64_t time = time_for(c, parts), *given = &c->given[next - c->all];
			c->tried[next - c->all] = true;
			status = time > *given ? search(c, next, parts) : kr_ctx_check(c->ctx);
			*given = time > *given ? time : *given;
		}
		if (c->ctx->deadline_ns == INT64_MAX)
			break; /* nothing would be different */
	}
	return status;
}

/* ---- all others ---- */

static bool has_open(const struct deciding *c)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (may_take_over(c, &c->all[i]))
			return true;
	return false;
}

/* How a question stands to those that are open: the first that fits one of them. */
enum relation { WEAKER, STRONGER, UNRELATED, RELATIONS };

static enum relation relation(const struct deciding *c, const struct kr_decision *q)
{
	enum relation found = UNRELATED;

	for (uint32_t i = 0; i < c->n && found != WEAKER; i++) {
		if (!may_take_over(c, &c->all[i]))
			continue;
		if (implies(c, &c->all[i], q))
			found = WEAKER;
		else if (implies(c, q, &c->all[i]))
			found = STRONGER;
	}
	return found;
}

/* Decides the question, if it stands so to what is open, for the sake of that. */
static enum kr_status ask_other(struct deciding *c, struct kr_question question, enum relation wanted)
{
	struct kr_decision q = {.options = {.level = question.level, .order = question.order}};

	if (!has_open(c) || relation(c, &q) != wanted)
		return KR_OK;
	begin(c->ctx, &q, KR_TIMEOUT);

	enum kr_status status = search(c, &q, MOST_SHARES);

	if (!status && q.status == KR_OK && q.verdict.outcome != KR_UNDECIDED)
		status = offer(c, &q);
	kr_verdict_done(&q.verdict, &c->ctx->mem);
	return status;
}

/* What stays open does so for the reason that its own search gave. */
static void ask_others(struct deciding *c)
{
	int64_t deadline = kr_ctx_limit(c->ctx, 1, OTHERS_NS);
	const struct kr_level *level;
	enum kr_status status = KR_OK;

	for (int wanted = 0; wanted < RELATIONS; wanted++)
		for (size_t i = 0; (level = kr_level_at(c->ctx->modules, i)) != NULL; i++)
			for (int order = KR_ORDER_NONE; order <= KR_ORDER_REALTIME && !status; order++)
				status = ask_other(c, (struct kr_question){level, (enum kr_order)order},
					(enum relation)wanted);
	kr_ctx_resume(c->ctx, deadline, &status, NULL);
}

static void blame(struct deciding *c, struct kr_decision *a, const struct kr_decision *b)
{
	struct kr_implication said;

	if (kr_implication_find(c->ctx->modules, question(a), question(b), &said))
		a->status = kr_err_set(&a->err, KR_INTERNAL,
			"checker '%.60s': `%s` says that level '%.60s' implies '%.60s', but %s is satisfied "
			"and %s violated, both with a proof",
			said.checker->name, said.field, said.strong->id, said.weak->id, a->options.level->id,
			b->options.level->id);
}

/* Verdicts are verified, what levels say of each other is not: where the two contradict each other, the level
 * that says so has no verdict. */
static void find_contradictions(struct deciding *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		struct kr_decision *a = &c->all[i];

		for (uint32_t j = 0; j < c->n && a->status == KR_OK && a->verdict.outcome == KR_SATISFIED;
			j++) {
			struct kr_decision *b = &c->all[j];

			if (b->status == KR_OK && b->verdict.outcome == KR_VIOLATED &&
				kr_implies(c->ctx->modules, question(a), question(b)))
				blame(c, a, b);
		}
	}
}

void kr_check_all(struct kr_ctx *ctx, const struct kr_history *h, const struct kr_analysis *analysis,
	struct kr_decision *decisions, uint32_t n)
{
	struct deciding c = {ctx, h, analysis, decisions, n, kr_mem_alloc(&ctx->mem, n, sizeof *c.tried),
		kr_mem_alloc(&ctx->mem, n, sizeof *c.given)};
	enum kr_status status = c.tried && c.given ? kr_ctx_check(ctx) : KR_NOMEM;

	for (uint32_t i = 0; i < n; i++)
		begin(ctx, &decisions[i], status ? status : KR_TIMEOUT);
	if (!status)
		status = search_asked(&c);
	for (uint32_t i = 0; i < n && status; i++)
		if (is_open(&decisions[i]) && !(c.tried && c.tried[i]))
			say(ctx, &decisions[i].verdict, status);
	if (!status && has_open(&c))
		ask_others(&c);
	find_contradictions(&c);
	kr_mem_free(&ctx->mem, c.tried, n, sizeof *c.tried);
	kr_mem_free(&ctx->mem, c.given, n, sizeof *c.given);
}
