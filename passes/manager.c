/* The pass manager: takes a list of pass names, checks that each pass finds the facts that it requires, runs
 * them in order and stops at a conflict.
 *
 * What a pass need not do itself is done here: times, counts, dumps, facts, that edges which it added are a
 * change, and in debug builds (KR_DEBUG) kr_ir_verify after every pass. The whole list is checked before the
 * first pass runs, so a wrong list changes nothing. A pass all of whose facts hold already is not run again.
 * A clock that a pass is about to break is freed, since the pass adds edges of which the clock would not
 * learn. Cost: that of the passes; a sweep over the IR per pass when counts are asked for. */
#include "passes/pass.h"

#include <string.h>

#include "base/call.h"
#include "ir/clock.h"

struct word {
	const char *at;
	size_t length;
};

/* Takes the next name off the list; false at its end. */
static bool next_word(const char **list, struct word *out)
{
	static const char separators[] = ", \t";

	*list += strspn(*list, separators);
	*out = (struct word){*list, strcspn(*list, separators)};
	*list += out->length;
	return out->length > 0;
}

const struct kr_pass *kr_pass_at(const struct kr_modules *more, size_t i)
{
	return KR_MODULE_AT(kr_pass_registry, kr_pass_registry_count, more, passes, i);
}

static const struct kr_pass *find_word(const struct kr_modules *more, struct word word)
{
	const struct kr_pass *pass;

	for (size_t i = 0; (pass = kr_pass_at(more, i)) != NULL; i++)
		if (strlen(pass->name) == word.length && memcmp(pass->name, word.at, word.length) == 0)
			return pass;
	return NULL;
}

const struct kr_pass *kr_pass_find(const struct kr_modules *more, const char *name)
{
	return find_word(more, (struct word){name, strlen(name)});
}

static enum kr_status fail_unknown(const struct kr_modules *more, struct word word, struct kr_err *err)
{
	const struct kr_pass *pass;
	char names[256] = "";
	size_t n = 0;

	for (size_t i = 0; (pass = kr_pass_at(more, i)) != NULL; i++) {
		const char *name = pass->name;

		if (n + strlen(name) + 3 > sizeof names)
			break;
		if (i > 0)
			names[n++] = ' ';
		memcpy(names + n, name, strlen(name) + 1);
		n += strlen(name);
	}
	return kr_err_set(err, KR_BAD, "unknown pass '%.*s', expected one of: %s",
		(int)(word.length < 64 ? word.length : 64), word.at, names);
}

static enum kr_status fail_missing(const struct kr_modules *more, const struct kr_pass *pass,
	uint32_t missing, struct kr_err *err)
{
	enum kr_fact fact = (enum kr_fact)(missing & -missing); /* the lowest one */
	const struct kr_pass *other;

	for (size_t i = 0; (other = kr_pass_at(more, i)) != NULL; i++)
		if (other->provides & fact)
			return kr_err_set(err, KR_BAD,
				"pass '%s' requires the fact '%s', expected pass '%s' before it", pass->name,
				kr_fact_name(fact), other->name);
	return kr_err_set(err, KR_BAD, "pass '%s' requires the fact '%s', which no pass provides", pass->name,
		kr_fact_name(fact));
}

/* Has the pass nothing to do, because all that it would establish holds already? */
static bool is_done(const struct kr_pass *pass, uint32_t facts)
{
	return pass->provides && !(pass->provides & ~facts);
}

static uint32_t facts_after(const struct kr_pass *pass, uint32_t facts)
{
	return (facts & ~pass->breaks) | pass->provides;
}

/* Checks a list that runs when `*facts` hold; leaves those that hold after it. */
static enum kr_status check(const struct kr_modules *more, const char *list, uint32_t *facts,
	struct kr_err *err)
{
	struct word word;

	while (next_word(&list, &word)) {
		const struct kr_pass *pass = find_word(more, word);

		if (!pass)
			return fail_unknown(more, word, err);
		if (pass->requires & ~*facts)
			return fail_missing(more, pass, pass->requires & ~*facts, err);
		if (!is_done(pass, *facts))
			*facts = facts_after(pass, *facts);
	}
	return KR_OK;
}

enum kr_status kr_passes_check(const struct kr_modules *more, const char *list, struct kr_err *err)
{
	uint32_t facts = 0;

	return check(more, list, &facts, err);
}

enum kr_status kr_passes_check_on(const struct kr_ir *ir, const char *list, struct kr_err *err)
{
	uint32_t facts = ir->facts;

	return check(ir->ctx->modules, list, &facts, err);
}

uint32_t kr_order_facts(enum kr_order order)
{
	static const uint32_t needed[] = {
		[KR_ORDER_NONE] = 0,
		[KR_ORDER_SESSION] = KR_FACT_SO,
		[KR_ORDER_REALTIME] = KR_FACT_SO | KR_FACT_RT,
	};

	return needed[order];
}

enum kr_status kr_passes_check_order(const struct kr_modules *more, const char *list, enum kr_order order,
	struct kr_err *err)
{
	uint32_t facts = 0;
	enum kr_status status = check(more, list, &facts, err);
	uint32_t missing = kr_order_facts(order) & ~facts;

	if (status || !missing)
		return status;
	return kr_err_set(err, KR_BAD,
		"passes '%.200s' do not provide the fact '%s', expected it for order '%s'", list,
		kr_fact_name((enum kr_fact)(missing & -missing)), kr_order_name(order));
}

/* In debug builds, and where it is asked for: the pass left a sound IR. */
static enum kr_status inspect(const struct kr_ir *ir, const struct kr_pass *pass, bool asked,
	struct kr_err *err)
{
#ifdef KR_DEBUG
	asked = true;
#endif
	struct kr_err why;

	if (!asked)
		return KR_OK;

	kr_err_init(&why);

	enum kr_status status = kr_ir_verify(ir, &why);

	if (status == KR_INTERNAL)
		return kr_err_set(err, KR_INTERNAL, "after pass '%s': %s", pass->name, why.text);
	return status;
}

static void drop_clock(struct kr_ir *ir)
{
	kr_clock_free(&ir->ctx->mem, ir->clock);
	ir->clock = NULL;
}

/* A pass that adds edges and does not see to the clock itself leaves it behind. */
static enum kr_status refresh_clock(struct kr_ir *ir, enum kr_change *change)
{
	bool cyclic = false;

	if (!ir->clock || !kr_clock_pending(ir->clock))
		return KR_OK;
	drop_clock(ir);

	enum kr_status status = kr_clock_build(ir, &cyclic);

	if (status || !cyclic)
		return status;
	*change = KR_CONFLICT;
	return kr_ir_conflict(ir);
}

/* What it says of what it did must be so: a conflict without a cycle would be a violation without a proof. */
static enum kr_status call_pass(struct kr_ir *ir, const struct kr_pass *pass, enum kr_change *change,
	struct kr_err *err)
{
	struct kr_call call;

	ir->tallies.n = 0;
	kr_call_enter(ir->ctx, &call, "pass", pass->name);
	enum kr_status status = pass->run(ir, change, err);
	KR_TRY(kr_call_leave(ir->ctx, &call, status, err));
	if ((unsigned)*change > KR_CONFLICT)
		return kr_call_fail(&call, err, "returned the change %d, which there is not", (int)*change);
	if (*change == KR_CONFLICT && !ir->conflict)
		return kr_call_fail(&call, err,
			"returned KR_CONFLICT, but recorded no cycle: expected a call of krait_ir_conflict "
			"that succeeds");
	if (*change != KR_CONFLICT && ir->conflict)
		return kr_call_fail(&call, err, "recorded a cycle, but did not return KR_CONFLICT");
	if (pass->provides & KR_FACT_CLOCK && *change != KR_CONFLICT && !ir->clock)
		return kr_call_fail(&call, err, "provides the fact 'clock', but made no clock");
	return KR_OK;
}

static enum kr_status run_one(struct kr_ir *ir, const struct kr_pass *pass, bool verify,
	enum kr_change *change, struct kr_err *err)
{
	KR_TRY(kr_ctx_check(ir->ctx));
	if (pass->breaks & ~pass->requires & KR_FACT_CLOCK)
		drop_clock(ir);
	*change = KR_UNCHANGED;

	uint32_t edges = ir->edges.n;

	enum kr_status status = call_pass(ir, pass, change, err);
	if (*change == KR_UNCHANGED && ir->edges.n > edges)
		*change = KR_CHANGED;
	if (pass->breaks & KR_FACT_CLOCK)
		drop_clock(ir);
	if (!status && *change != KR_CONFLICT && ir->edges.n > edges)
		status = refresh_clock(ir, change);
	if (status)
		return status;
	ir->facts = *change == KR_CONFLICT ? ir->facts & ~pass->breaks : facts_after(pass, ir->facts);
	return inspect(ir, pass, verify, err);
}

static bool wants_dump(const struct kr_pass_options *options, const struct kr_pass *pass)
{
	return options->dump_after && options->dump &&
		(strcmp(options->dump_after, "all") == 0 || strcmp(options->dump_after, pass->name) == 0);
}

/* Runs one pass with all that surrounds it. `counts` are those of the IR before; afterwards those after. */
static enum kr_status step(struct kr_ir *ir, const struct kr_pass_options *options, struct kr_pass_stat *stat,
	struct kr_ir_counts *counts, struct kr_err *err)
{
	int64_t start = kr_now_ns();
	bool runs = !is_done(stat->pass, ir->facts);

	stat->first_edge = ir->edges.n;

	KR_TRY(runs ? run_one(ir, stat->pass, options->verify, &stat->change, err) : KR_OK);
	enum kr_status status = KR_OK;
	stat->seconds = (double)(kr_now_ns() - start) * 1e-9;
	if (runs)
		stat->tallies = ir->tallies;
	if (wants_dump(options, stat->pass))
		options->dump(options->dump_data, stat->pass->name, ir);
	if (!options->count)
		return KR_OK;
	stat->before = *counts;
	if (stat->change != KR_UNCHANGED || stat->pass->provides & KR_FACT_CLOCK)
		status = kr_ir_count(ir, counts);
	stat->after = *counts;
	return status;
}

enum kr_status kr_passes_run(struct kr_ir *ir, const char *list, const struct kr_pass_options *options,
	struct kr_pass_stats *stats, enum kr_change *change, struct kr_err *err)
{
	static const struct kr_pass_options no_options;
	struct kr_ir_counts counts = {0};
	enum kr_change all = KR_UNCHANGED;
	const struct kr_modules *more = ir->ctx->modules;
	struct word word;
	uint32_t facts = ir->facts;
	KR_TRY(check(more, list, &facts, err));

	if (!options)
		options = &no_options;
	if (options->dump_after && strcmp(options->dump_after, "all") != 0 &&
		!kr_pass_find(more, options->dump_after))
		return fail_unknown(more, (struct word){options->dump_after, strlen(options->dump_after)},
			err);
	if (options->count)
		KR_TRY(kr_ir_count(ir, &counts));
	while (all != KR_CONFLICT && next_word(&list, &word)) {
		struct kr_pass_stat stat = {.pass = find_word(more, word)};

		if (!stat.pass)
			return fail_unknown(more, word, err); /* cannot be: the list was checked */
		KR_TRY(step(ir, options, &stat, &counts, err));
		if (stats && !kr_vec_push(&ir->ctx->mem, stats, stat))
			return KR_NOMEM;
		if (stat.change > all)
			all = stat.change;
	}
	*change = all;
	return KR_OK;
}
