/* Several levels at once. Before anything else is known of the history, an order that the trace suggests is
 * replayed for the strongest: where it is right that is all, for the levels that it implies, too, and no
 * analysis is made. Then from both ends of the lattice: in turn the strongest undecided question, which
 * nothing undecided implies, and the weakest one are searched for. A strong one satisfied settles all that
 * it implies; violated, its certificate is tried on all weaker ones (a cycle is often forbidden by many
 * levels). A weak one violated settles the stronger ones. What does not fit can take the verifier long to
 * refuse: it gets little more time than it took where it was found. An end whose search decided nothing
 * gives way to the other, as long as that decides: its neighbours would take as long. What follows is not
 * taken on trust: the certificate, with the other level's name on it, goes through the verifier, and if that
 * does not agree the level is searched for like any other. Two rounds: in the first each search gets its
 * share of the time; the second one gives those that remain all that is left. Nothing is searched for again
 * in less time than it has had: that could only replace what is known of the search by less.
 *
 * What else is asked must not matter. A question that its own search leaves open is therefore tried with the
 * certificates of all others of the lattice, whether they are asked or not: first of those that it implies,
 * which may be violated, and of those that imply it, which may be satisfied; then of the rest. What settles
 * it depends on the history alone, within the limits: the time that is left, or a minute. */
#include <stdio.h>

#include "checkers/certify.h"
#include "checkers/check.h"

/* Of the time left, at least this part goes to the next search: much follows from the strong levels, which
 * come first, and the weak ones are quick. */
enum { MOST_SHARES = 4 };
static const int64_t OTHERS_NS = INT64_C(60000000000);

/* For a certificate on another question than its own: this, and so many times what its own took. */
enum { FIT_TIMES = 4 };
static const int64_t FIT_NS = INT64_C(100000000);

/* What is known of a question beside its decision. */
struct about {
	bool tried;                        /* searched for in this round */
	bool told;                         /* to plan->decided */
	bool failed;                       /* so it was told */
	int64_t given;                     /* the time for the last search of it, in ns */
	const struct kr_decision *offered; /* whose certificate was tried on it last, or need not be */
};

struct deciding {
	struct kr_ctx *ctx;
	const struct kr_history *h;
	const struct kr_analysis *analysis;
	struct kr_decision *all;
	uint32_t n;
	struct about *about;
	const struct kr_check_plan *plan;
	uint32_t settled;      /* how many are decided */
	enum kr_status unmade; /* why there is no analysis */
};

static struct about *about(const struct deciding *c, const struct kr_decision *d)
{
	return &c->about[d - c->all];
}

static bool is_open(const struct kr_decision *d)
{
	return d->status == KR_OK && d->verdict.outcome == KR_UNDECIDED;
}

static bool implies(const struct deciding *c, const struct kr_decision *a, const struct kr_decision *b)
{
	return kr_implies(c->ctx->modules, kr_decision_question(a), kr_decision_question(b));
}

static int64_t time_to_fit(const struct kr_decision *from)
{
	return FIT_NS + (int64_t)(from->verdict.verify_seconds * FIT_TIMES * 1e9);
}

/* Does the certificate prove the question? No, if that takes too long to tell. */
static enum kr_status fit(struct deciding *c, struct kr_certificate *cert, struct kr_question q, int64_t time,
	bool *fits, bool *late)
{
	int64_t deadline = kr_ctx_limit_ns(c->ctx, time);
	enum kr_status status = kr_check_fits(c->ctx, c->h, cert, q, fits);

	*late = status == KR_TIMEOUT;
	kr_ctx_resume(c->ctx, deadline, &status, NULL);
	return status;
}

/* Takes over the certificate of `from`, if it proves `to`, too. */
static enum kr_status take_over(struct deciding *c, struct kr_decision *to, const struct kr_decision *from,
	int64_t time, bool *late)
{
	struct kr_certificate cert;
	bool fits = false, own = from->verdict.proof_of == NULL;
	int64_t start = kr_now_ns();
	enum kr_status status = kr_certificate_copy(&c->ctx->mem, &from->verdict.certificate, &cert);

	if (!status)
		status = fit(c, &cert, kr_decision_question(to), time, &fits, late);
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
		.told = from->verdict.told,
	};
	to->verdict.seconds = to->verdict.verify_seconds = (double)(kr_now_ns() - start) * 1e-9;
	return KR_OK;
}

static void tell(struct deciding *c, struct kr_decision *d)
{
	about(c, d)->told = true;
	about(c, d)->failed = d->status != KR_OK;
	if (c->plan->decided)
		c->plan->decided(c->plan->data, d);
}

/* The decision stands: whoever waits for it is told. What a plug-in says of levels can turn out wrong at the
 * end only. */
static void settle(struct deciding *c, struct kr_decision *d)
{
	c->settled++;
	if (!c->ctx->modules || c->ctx->modules->checkers.n == 0)
		tell(c, d);
}

static void tell_rest(struct deciding *c)
{
	for (struct kr_decision *d = c->all; d < c->all + c->n; d++)
		if (!about(c, d)->told || (d->status != KR_OK && !about(c, d)->failed))
			tell(c, d);
}

/* Can what settled `from` be expected to settle `to`? A cycle that breaks a strong level often breaks weaker
 * ones. */
static bool bears_on(const struct deciding *c, const struct kr_decision *from, const struct kr_decision *to)
{
	return implies(c, from, to) || (from->verdict.outcome == KR_VIOLATED && implies(c, to, from));
}

static bool may_take_over(const struct deciding *c, const struct kr_decision *d)
{
	return is_open(d) && !kr_check_by_hand(c->ctx, &d->options);
}

/* What is weaker than the question would take as long in vain. */
static void give_up(struct deciding *c, const struct kr_decision *late, const struct kr_decision *origin)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (implies(c, late, &c->all[i]))
			c->about[i].offered = origin;
}

/* Tries the certificate, which is that of `origin`, on the open questions on which `from` bears, on each
 * once, and goes on from each that it settles: as deep as there are questions. */
static enum kr_status spread(struct deciding *c, const struct kr_decision *from,
	const struct kr_decision *origin)
{
	for (uint32_t i = 0; i < c->n; i++) {
		struct kr_decision *to = &c->all[i];
		bool late = false;

		if (!may_take_over(c, to) || about(c, to)->offered == origin || !bears_on(c, from, to))
			continue;
		about(c, to)->offered = origin;
		KR_TRY(take_over(c, to, from, time_to_fit(origin), &late));
		if (late)
			give_up(c, to, origin);
		if (is_open(to))
			continue;
		settle(c, to);
		KR_TRY(spread(c, to, origin));
	}
	return KR_OK;
}

/* Tries it on all open ones. */
static enum kr_status offer(struct deciding *c, const struct kr_decision *from, int64_t time)
{
	for (uint32_t i = 0; i < c->n; i++) {
		bool late;

		if (!may_take_over(c, &c->all[i]))
			continue;
		KR_TRY(take_over(c, &c->all[i], from, time, &late));
		if (!is_open(&c->all[i]))
			settle(c, &c->all[i]);
	}
	return KR_OK;
}

static bool is_untried(const struct deciding *c, const struct kr_decision *d)
{
	return is_open(d) && !about(c, d)->tried;
}

/* The first untried question that no other one implies, unless they imply each other; with `weak` that
 * implies no other one. */
static struct kr_decision *extreme(const struct deciding *c, bool weak)
{
	for (struct kr_decision *d = c->all; d < c->all + c->n; d++) {
		bool inner = !is_untried(c, d);

		for (const struct kr_decision *o = c->all; o < c->all + c->n && !inner; o++)
			inner = is_untried(c, o) && implies(c, weak ? d : o, weak ? o : d) &&
				!implies(c, weak ? o : d, weak ? d : o);
		if (!inner)
			return d;
	}
	return NULL;
}

static uint32_t count_untried(const struct deciding *c)
{
	uint32_t open = 0;

	for (uint32_t i = 0; i < c->n; i++)
		open += is_untried(c, &c->all[i]);
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

/* What a search may take: a part of the time that is left, no more than the plan says. */
static int64_t time_for(const struct deciding *c, uint32_t parts)
{
	int64_t most = c->plan->each_ns > 0 ? c->plan->each_ns : INT64_MAX;
	int64_t part =
		c->ctx->deadline_ns == INT64_MAX ? INT64_MAX : (c->ctx->deadline_ns - kr_now_ns()) / parts;

	return part < most ? part : most;
}

/* Why it is open, if it is because of the plan's limits. */
static void blame_plan(const struct deciding *c, struct kr_decision *d)
{
	if (c->plan->each_ns > 0)
		snprintf(d->verdict.reason, sizeof d->verdict.reason,
			"%.9g s for this level, %.9g s for all, "
			"were not enough; --timeout SECONDS gives another limit",
			(double)c->plan->each_ns * 1e-9, (double)c->plan->all_ns * 1e-9);
}

/* A question is violated if one is that it implies. What a plug-in says of that may be wrong, and a checker
 * asked for by name may mean something else. */
static bool is_violated(const void *known, struct kr_question question)
{
	const struct deciding *c = known;

	for (const struct kr_decision *d = c->all; d < c->all + c->n; d++)
		if (d->status == KR_OK && d->verdict.outcome == KR_VIOLATED &&
			!kr_check_by_hand(c->ctx, &d->options) &&
			kr_implies(NULL, question, kr_decision_question(d)))
			return true;
	return false;
}

static enum kr_status search(struct deciding *c, struct kr_decision *d, int64_t time)
{
	int64_t deadline = kr_ctx_limit_ns(c->ctx, time);

	d->options.is_violated = is_violated;
	d->options.known = c;
	kr_verdict_done(&d->verdict, &c->ctx->mem);
	d->status = kr_check(c->ctx, c->h, c->analysis, &d->options, &d->verdict, &d->err);
	enum kr_status status = c->ctx->stopped;
	if (status == KR_TIMEOUT && is_open(d))
		blame_plan(c, d);
	kr_ctx_resume(c->ctx, deadline, &status, NULL);
	return status;
}

/* One that was asked for. */
static enum kr_status search_one(struct deciding *c, struct kr_decision *d, int64_t time)
{
	c->ctx->part = (struct kr_ctx_part){"level", c->settled + 1, c->n};
	kr_ctx_progress(c->ctx, "deciding", 0, 0);
	enum kr_status status = search(c, d, time);
	c->ctx->part = (struct kr_ctx_part){0};
	if (is_open(d))
		return status;
	settle(c, d);
	return status || d->status || kr_check_by_hand(c->ctx, &d->options) ? status : spread(c, d, d);
}

/* The end of the lattice to go on from: the other one than last, but for one whose last search decided
 * nothing, where its neighbours can be expected to take as long in vain. */
static bool other_end(bool weak, const bool stuck[2]) { return stuck[!weak] && !stuck[weak] ? weak : !weak; }

/* From both ends of the lattice, the strong one first. */
static enum kr_status search_asked(struct deciding *c)
{
	enum kr_status status = KR_OK;
	struct kr_decision *next;
	bool weak = true, stuck[2] = {false, false}; /* the strong end, the weak one */

	for (int round = 0; round < 2 && !status; round++) {
		for (uint32_t i = 0; i < c->n; i++)
			c->about[i].tried = round > 0 && kr_check_by_hand(c->ctx, &c->all[i].options);
		while (!status && (next = extreme(c, weak = other_end(weak, stuck))) != NULL) {
			uint32_t open = count_untried(c), parts = open < MOST_SHARES ? open : MOST_SHARES;
			int64_t time = time_for(c, parts), *given = &about(c, next)->given;
			about(c, next)->tried = true;
			status = time > *given ? search_one(c, next, time) : kr_ctx_check(c->ctx);
			*given = time > *given ? time : *given;
			stuck[weak] = is_open(next);
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

	enum kr_status status = search(c, &q, time_for(c, MOST_SHARES));

	if (!status && q.status == KR_OK && q.verdict.outcome != KR_UNDECIDED)
		status = offer(c, &q, time_for(c, MOST_SHARES));
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

	if (kr_implication_find(c->ctx->modules, kr_decision_question(a), kr_decision_question(b), &said))
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
				kr_implies(c->ctx->modules, kr_decision_question(a), kr_decision_question(b)))
				blame(c, a, b);
		}
	}
}

/* ---- what the trace suggests ---- */

/* Replays end where the order is wrong. Where a checker decides on the history itself, that is left to it. */
static enum kr_status try_told(struct deciding *c)
{
	struct kr_decision *d = extreme(c, false);
	bool found = false;

	if (!d || !may_take_over(c, d) || d->verdict.checker->decide)
		return KR_OK;

	int64_t start = kr_now_ns(), deadline = kr_ctx_limit(c->ctx, MOST_SHARES, OTHERS_NS);

	d->verdict.certificate.level = d->options.level;
	d->verdict.certificate.order = d->options.order;

	enum kr_status status = kr_certify_told_order(c->ctx, c->h, &d->verdict.certificate, &found);

	kr_ctx_resume(c->ctx, deadline, &status, NULL);
	if (status || !found) {
		kr_verdict_done(&d->verdict, &c->ctx->mem);
		begin(c->ctx, d, KR_TIMEOUT);
		return status;
	}
	d->verdict.outcome = KR_SATISFIED;
	d->verdict.told = true;
	d->verdict.seconds = d->verdict.verify_seconds = (double)(kr_now_ns() - start) * 1e-9;
	settle(c, d);
	return spread(c, d, d);
}

/* If a question needs it. */
static enum kr_status make_analysis(struct deciding *c)
{
	if (c->analysis || count_untried(c) == 0)
		return KR_OK;
	c->unmade = c->plan->analyze(c->plan->data, &c->analysis);
	return c->unmade;
}

static void decide(struct deciding *c)
{
	enum kr_status status = kr_ctx_check(c->ctx);

	for (uint32_t i = 0; i < c->plan->known_count && !status; i++) {
		const struct kr_decision *d = &c->plan->known[i];

		if (d->status == KR_OK && !is_open(d) && d->verdict.given == KR_GIVEN_NOT)
			status = offer(c, d, time_to_fit(d));
	}
	if (!status && c->plan->known_count == 0)
		status = try_told(c);
	if (!status)
		status = make_analysis(c);
	if (c->unmade)
		return;
	if (!status)
		status = search_asked(c);
	for (uint32_t i = 0; i < c->n && status; i++) {
		if (!is_untried(c, &c->all[i]))
			continue;
		say(c->ctx, &c->all[i].verdict, status);
		if (status == KR_TIMEOUT)
			blame_plan(c, &c->all[i]);
	}
	if (!status && has_open(c))
		ask_others(c);
}

enum kr_status kr_check_planned(struct kr_ctx *ctx, const struct kr_history *h,
	const struct kr_analysis *analysis, struct kr_decision *decisions, uint32_t n,
	const struct kr_check_plan *plan)
{
	struct deciding c = {ctx, h, analysis, decisions, n, kr_mem_alloc(&ctx->mem, n, sizeof *c.about),
		plan, 0, KR_OK};
	int64_t deadline = kr_ctx_limit_ns(ctx, plan->all_ns > 0 ? plan->all_ns : INT64_MAX);
	enum kr_status status = c.about ? kr_ctx_check(ctx) : KR_NOMEM;

	for (uint32_t i = 0; i < n; i++)
		begin(ctx, &decisions[i], status ? status : KR_TIMEOUT);
	if (c.about)
		decide(&c);
	find_contradictions(&c);
	if (c.about && !c.unmade)
		tell_rest(&c);
	for (uint32_t i = 0; i < n && plan->decided && !c.about; i++)
		plan->decided(plan->data, &decisions[i]);
	status = ctx->stopped;
	kr_ctx_resume(ctx, deadline, &status, NULL);
	kr_mem_free(&ctx->mem, c.about, n, sizeof *c.about);
	return c.unmade;
}

void kr_check_all(struct kr_ctx *ctx, const struct kr_history *h, const struct kr_analysis *analysis,
	struct kr_decision *decisions, uint32_t n)
{
	static const struct kr_check_plan plain = {0};

	(void)kr_check_planned(ctx, h, analysis, decisions, n, &plain);
}
