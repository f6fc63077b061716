/* Several levels at once. The strongest undecided question that nothing undecided implies is searched for first: satisfied, it settles all that it implies; violated, its certificate is tried on
 * all weaker ones (a cycle is often forbidden by many levels), and whatever is violated settles the stronger ones. What follows is not taken on trust: the certificate, with the other level's
 * name on it, goes through the verifier, and if that does not agree the level is searched for like any other.
 * Two rounds: in the first each search gets its share of the time; the second one gives those that remain all that is left.
 *
 * What else is asked must not matter. A question that its own search leaves open is therefore settled by the others of the lattice, asked or not: those that it implies may be violated, those that imply it
 * satisfied. They are searched for in turn, the weaker ones first, until one settles it or all have been: a quarter of the time left for each, 20 s where there is no limit. */
#include <stdio.h>

#include "checkers/check.h"

/* Of the time left, at least this part goes to the next search: much follows from the strong levels, which come first, and the weak ones are quick. */
enum { MOST_SHARES = 4 };
static const int64_t NO_LIMIT = INT64_MAX, NEIGHBOUR_NS = INT64_C(20000000000);

/* Those asked for come first; behind them the neighbours, with memory of their own. */
struct deciding {
	struct kr_ctx *ctx;
	const struct kr_history *h;
	const struct kr_analysis *analysis;
	struct kr_decision *asked, *neighbours;
	uint32_t nasked, nneighbours;
	bool *tried; /* of those asked: searched for in this round */
};

static struct kr_question question(const struct kr_decision *d) { return (struct kr_question){d->options.level, d->options.order}; }

/* A level that is to be decided in a certain way does not take over what was found in another. */
static bool by_hand(const struct deciding *c, const struct kr_decision *d)
{
	const struct kr_check_options *o = &d->options;
	return (o->checker && o->checker != kr_checker_for(c->ctx->modules, o->level)) || o->passes || o->backend || o->pass_options.dump_after;
}

static bool is_open(const struct kr_decision *d) { return d->status == KR_OK && d->verdict.outcome == KR_UNDECIDED; }

static uint32_t count_all(const struct deciding *c) { return c->nasked + c->nneighbours; }
static struct kr_decision *at(const struct deciding *c, uint32_t i) { return i < c->nasked ? &c->asked[i] : &c->neighbours[i - c->nasked]; }

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
	};
	to->verdict.seconds = to->verdict.verify_seconds = (double)(kr_now_ns() - start) * 1e-9;
	return KR_OK;
}

/* What follows from the verdict of `from`, and what follows from that. */
static enum kr_status spread(struct deciding *c, const struct kr_decision *from)
{
	enum kr_status status = KR_OK;

	for (uint32_t i = 0; i < count_all(c) && !status; i++) {
		struct kr_decision *to = at(c, i);

		if (!is_open(to) || by_hand(c, to))
			continue;
		if (from->verdict.outcome == KR_SATISFIED ? implies(c, from, to) : implies(c, to, from) || implies(c, from, to))
			status = take_over(c, to, from);
		if (!status && !is_open(to))
			status = spread(c, to);
	}
	return status;
}

/* The first open question that no other open one implies, unless they imply each other. */
static struct kr_decision *strongest(const struct deciding *c)
{
	for (uint32_t i = 0; i < c->nasked; i++) {
		bool implied = !is_open(&c->asked[i]) || c->tried[i];

		for (uint32_t j = 0; j < c->nasked && !implied; j++)
			implied = is_open(&c->asked[j]) && !c->tried[j] && implies(c, &c->asked[j], &c->asked[i]) && !implies(c, &c->asked[i], &c->asked[j]);
		if (!implied)
			return &c->asked[i];
	}
	return NULL;
}

static uint32_t count_untried(const struct deciding *c)
{
	uint32_t open = 0;

	for (uint32_t i = 0; i < c->nasked; i++)
		open += is_open(&c->asked[i]) && !c->tried[i];
	return open;
}

static void say(struct kr_verdict *v, enum kr_status status) { snprintf(v->reason, sizeof v->reason, "%s", kr_status_text(status)); }

/* Stands for no verdict yet. */
static void begin(struct kr_decision *d, const struct kr_modules *modules, struct kr_mem *mem, enum kr_status status)
{
	kr_err_init(&d->err);
	d->verdict = (struct kr_verdict){.level = d->options.level, .order = d->options.order, .checker = d->options.checker, .outcome = KR_UNDECIDED};
	if (!d->verdict.checker)
		d->verdict.checker = kr_checker_for(modules, d->options.level);
	kr_certificate_init(&d->verdict.certificate, mem);
	say(&d->verdict, status);
	d->status = KR_OK;
}

/* Searches with a part of the time that is left. */
static enum kr_status search(struct deciding *c, struct kr_decision *d, uint32_t parts, int64_t fallback)
{
	int64_t deadline = kr_ctx_limit(c->ctx, parts, fallback);
	enum kr_status status;

	kr_verdict_done(&d->verdict, &c->ctx->mem);
	d->status = kr_check(c->ctx, c->h, c->analysis, &d->options, &d->verdict, &d->err);
	status = c->ctx->stopped;
	if (!status && d->status == KR_OK && d->verdict.outcome != KR_UNDECIDED && !by_hand(c, d))
		status = spread(c, d);
	kr_ctx_resume(c->ctx, deadline, &status);
	return status;
}

static enum kr_status search_asked(struct deciding *c)
{
	enum kr_status status = KR_OK;
	struct kr_decision *next;

	for (int round = 0; round < 2 && !status; round++) {
		for (uint32_t i = 0; i < c->nasked; i++)
			c->tried[i] = round > 0 && by_hand(c, &c->asked[i]);
		while (!status && (next = strongest(c)) != NULL) {
			uint32_t open = count_untried(c);
			c->tried[next - c->asked] = true;
			status = search(c, next, open < MOST_SHARES ? open : MOST_SHARES, NO_LIMIT);
		}
		if (c->ctx->deadline_ns == INT64_MAX)
			break; /* nothing would be different */
	}
	return status;
}

/* ---- neighbours ---- */

/* Would the verdict on d, as a weaker level or as a stronger one, settle a question asked for? */
static bool is_of_use(const struct deciding *c, const struct kr_decision *d, bool weaker)
{
	for (uint32_t i = 0; i < c->nasked; i++) {
		const struct kr_decision *open = &c->asked[i];

		if (is_open(open) && !by_hand(c, open) && (weaker ? implies(c, open, d) : implies(c, d, open)))
			return true;
	}
	return false;
}

static bool is_asked(const struct deciding *c, struct kr_question q)
{
	for (uint32_t i = 0; i < c->nasked; i++)
		if (c->asked[i].options.level == q.level && c->asked[i].options.order == q.order && !by_hand(c, &c->asked[i]))
			return true;
	return false;
}

static enum kr_status find_neighbours(struct deciding *c, uint32_t most)
{
	const struct kr_level *level;

	c->neighbours = kr_mem_alloc(&c->ctx->mem, most, sizeof *c->neighbours);
	for (size_t i = 0; c->neighbours && (level = kr_level_at(c->ctx->modules, i)) != NULL; i++) {
		for (int order = KR_ORDER_NONE; order <= KR_ORDER_REALTIME; order++) {
			struct kr_decision *d = &c->neighbours[c->nneighbours];
			*d = (struct kr_decision){.options = {.level = level, .order = (enum kr_order)order}};
			if (is_asked(c, question(d)) || (!is_of_use(c, d, true) && !is_of_use(c, d, false)))
				continue;
			begin(d, c->ctx->modules, &c->ctx->mem, KR_TIMEOUT);
			c->nneighbours++;
		}
	}
	return c->neighbours ? KR_OK : KR_NOMEM;
}

static enum kr_status search_neighbours(struct deciding *c)
{
	uint32_t most = 0;

	while (kr_level_at(c->ctx->modules, most / (KR_ORDER_REALTIME + 1)) != NULL)
		most++;

	enum kr_status status = find_neighbours(c, most);

	for (int weaker = 1; weaker >= 0; weaker--)
		for (uint32_t i = 0; i < c->nneighbours && !status; i++)
			if (is_open(&c->neighbours[i]) && is_of_use(c, &c->neighbours[i], weaker))
				status = search(c, &c->neighbours[i], MOST_SHARES, NEIGHBOUR_NS);
	for (uint32_t i = 0; i < c->nneighbours; i++)
		kr_verdict_done(&c->neighbours[i].verdict, &c->ctx->mem);
	kr_mem_free(&c->ctx->mem, c->neighbours, most, sizeof *c->neighbours);
	return status;
}

static bool has_open(const struct deciding *c)
{
	for (uint32_t i = 0; i < c->nasked; i++)
		if (is_open(&c->asked[i]) && !by_hand(c, &c->asked[i]))
			return true;
	return false;
}

void kr_check_all(struct kr_ctx *ctx, const struct kr_history *h, const struct kr_analysis *analysis, struct kr_decision *decisions, uint32_t n)
{
	struct deciding c = {.ctx = ctx, .h = h, .analysis = analysis, .asked = decisions, .nasked = n, .tried = kr_mem_alloc(&ctx->mem, n, sizeof(bool))};
	enum kr_status status = c.tried ? kr_ctx_check(ctx) : KR_NOMEM;

	for (uint32_t i = 0; i < n; i++)
		begin(&decisions[i], ctx->modules, &ctx->mem, status ? status : KR_TIMEOUT);
	if (!status)
		status = search_asked(&c);
	for (uint32_t i = 0; i < n && status; i++)
		if (is_open(&decisions[i]) && !(c.tried && c.tried[i]))
			say(&decisions[i].verdict, status);
	if (!status && has_open(&c))
		(void)search_neighbours(&c); /* or they stay open, for the reasons that their own searches gave */
	kr_mem_free(&ctx->mem, c.tried, n, sizeof(bool));
}
