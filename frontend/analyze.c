/* Semantic analysis: from a history to its ASG and to the anomalies that no world can explain.
 *
 * Needs a finished history. Gives, per key, one version per transaction that wrote it and may have taken
 * effect; per external observation the set of versions that it may have seen; per transaction whether it took
 * effect, as far as the trace tells; and the known order of versions. Definitions and arguments: docs/asg.md.
 * Each step is in a file of its own, and says what it takes and what it gives (analyze_work.h). Linear in the
 * operations, but for sorting each key's observations. */
#include "frontend/analyze_grow.h"

#include <inttypes.h>
#include <stdio.h>

#define LEFT_OUT_SIZE (sizeof((struct kr_analysis){0}.left_out))

/* ---- names ---- */

struct names {
	const struct kr_history *h;
	const struct kr_asg_version *versions;
	const kr_token *token;   /* of each version, or */
	const kr_token *initial; /* per key, where of others the trace says what was written last */
	/* that the trace does not have, but a counter turned out to start with; by id, from h->values.n on */
	const int64_t *numbers;
	uint32_t count;
	const struct kr_asg_part *parts;
};

static void name_txn(const void *data, kr_txn t, struct kr_str *out)
{
	const struct kr_history *h = ((const struct names *)data)->h;

	kr_history_print_name(h, h->txns.at[t.i].id, out);
}

static kr_key whole_key(const struct names *names, kr_key k)
{
	return k.i < names->h->keys.n ? k : names->parts[k.i - names->h->keys.n].of;
}

static void name_key(const void *data, kr_key k, struct kr_str *out)
{
	const struct names *names = data;

	kr_history_print_name(names->h, names->h->keys.at[whole_key(names, k).i].name, out);
}

static void name_part(const void *data, uint32_t label, struct kr_str *out)
{
	const struct names *names = data;

	if (label < names->h->values.n)
		kr_history_json_value(names->h, (kr_value){label}, out);
}

static kr_token token_of(const struct names *names, kr_version v)
{
	const struct kr_history *h = names->h;
	const struct kr_asg_version *version = &names->versions[v.i];
	struct kr_write write;

	if (version->writer.i == KR_NONE)
		return names->initial[version->key.i];

	const struct kr_transaction *txn = &h->txns.at[version->writer.i];

	for (uint32_t i = txn->op_first + txn->op_count; i-- > txn->op_first;)
		for (uint32_t n = kr_write_count(h, &h->ops.at[i]); n-- > 0;)
			if (kr_write_at(h, &h->ops.at[i], n, &write) && write.key.i == version->key.i)
				return kr_token_of(write.told);
	return KR_TOKEN_UNTOLD;
}

static void name_value(const void *data, kr_version v, struct kr_str *out)
{
	const struct names *names = data;
	uint32_t id = (names->token ? names->token[v.i] : token_of(names, v)).i, known = names->h->values.n;

	if (id < known)
		kr_history_json_value(names->h, (kr_value){id}, out);
	else if (id - known < names->count)
		kr_str_format(out, "%" PRId64, names->numbers[id - known]);
}

/* Growing keys use tokens of their own; where there are any, numbers stay without names. */
static enum kr_status give_names(const struct kr_work *w, const struct kr_writes *writes, bool any_grows,
	struct kr_asg *asg)
{
	struct names *names = KR_NEW(w->arena, struct names);
	uint32_t count = any_grows ? 0 : w->numbers->own.n;
	int64_t *numbers = KR_NEW_ARRAY(w->arena, int64_t, count);
	bool all = any_grows || count > 0;
	kr_token *token = KR_NEW_ARRAY(w->arena, kr_token, all ? asg->nversions : asg->nkeys);

	if (!names || !numbers || !token)
		return KR_NOMEM;
	if (count > 0)
		memcpy(numbers, w->numbers->own.at, count * sizeof *numbers);
	for (uint32_t v = 0; all && v < asg->nversions; v++)
		token[v] = writes->token[v];
	for (uint32_t k = 0; !all && k < asg->nkeys; k++)
		token[k] = writes->token[asg->keys[k].first];
	*names = (struct names){w->h, asg->versions, all ? token : NULL, token, numbers, count, asg->parts};
	asg->names = (struct kr_asg_names){names, name_txn, name_key, name_value, name_part};
	return KR_OK;
}

/* ---- what has a meaning ---- */

enum kr_status kr_analyze_refuse(const struct kr_work *w, kr_txn t, uint32_t op, const char *what)
{
	const struct kr_transaction *txn = &w->h->txns.at[t.i];
	const char *file = kr_history_file(w->h, t, NULL);
	char name[80];

	kr_err_set(w->err, KR_UNSUPPORTED, "operation %u of %s: %s is not supported yet", op,
		kr_history_brief(w->h, txn->id, name, sizeof name), what);
	kr_err_at(w->err, file, txn->line, 0);
	return KR_UNSUPPORTED;
}

void kr_analyze_leave_out(const struct kr_work *w, kr_txn t, uint32_t op, const char *what)
{
	/* formats other than ours cannot tell initial values themselves (frontend/format.c) */
	bool tellable = kr_history_untold(w->h) && strstr(what, "initial value") && w->h->format &&
		strcmp(w->h->format, "native") != 0;
	char name[40];

	if (!w->left_out[0])
		(void)snprintf(w->left_out, LEFT_OUT_SIZE, "%s is not decided (operation %u of %s)%s", what,
			op, kr_history_brief(w->h, w->h->txns.at[t.i].id, name, sizeof name),
			tellable ? "; --initial FILE tells initial values" : "");
}

static enum kr_status check_size(const struct kr_work *w)
{
	if (w->h->values.n >= KR_TEST_ARGUMENTS)
		return kr_err_set(w->err, KR_UNSUPPORTED, "found %u different values, expected fewer than %u",
			w->h->values.n, KR_TEST_ARGUMENTS);
	if (w->h->txns.n >= KR_TEST_ARGUMENTS - 1)
		return kr_err_set(w->err, KR_UNSUPPORTED, "found %u transactions, expected fewer than %u",
			w->h->txns.n, KR_TEST_ARGUMENTS - 1);
	if (w->h->ops.n >= KR_ASG_OP_LAST)
		return kr_err_set(w->err, KR_UNSUPPORTED, "found %u operations, expected fewer than %u",
			w->h->ops.n, KR_ASG_OP_LAST);
	return KR_OK;
}

/* ---- the steps ---- */

static enum kr_status fill_txns(const struct kr_work *w, const uint8_t *presence, struct kr_asg *asg)
{
	const struct kr_history *h = w->h;

	asg->clock_skew = h->clock_skew;
	asg->nsessions = h->sessions.n;
	asg->ntxns = h->txns.n;
	KR_TRY(kr_arena_new(w->arena, asg->txns, asg->ntxns));
	if (asg->ntxns > 0)
		asg->times = (struct kr_asg_times){&h->txns.at->begin_invoked, &h->txns.at->end_returned,
			sizeof *h->txns.at / sizeof(int64_t)};
	for (uint32_t t = 0; t < asg->ntxns; t++) {
		const struct kr_transaction *from = &h->txns.at[t];

		asg->txns[t] = (struct kr_asg_txn){
			.presence = presence[t],
			.outcome_unknown = from->status == KR_UNKNOWN,
			.has_begin = from->flags & KR_TXN_HAS_BEGIN,
			.has_end = from->flags & KR_TXN_HAS_END,
			.session = from->session.i,
		};
		KR_TRY(kr_ctx_tick(w->ctx));
	}
	return KR_OK;
}

static enum kr_status assemble(const struct kr_work *w, const struct kr_settled *settled,
	const struct kr_writes *writes, const struct kr_sets *sets, struct kr_asg *asg)
{
	asg->nkeys = writes->nkeys;
	asg->keys = writes->keys;
	asg->nversions = writes->nversions;
	asg->versions = writes->versions;
	asg->nparts = writes->nparts;
	asg->parts = writes->parts;
	asg->nobs = sets->nobs;
	asg->obs = sets->obs;
	asg->obs_first = sets->obs_first;
	asg->nsets = sets->nsets;
	asg->sets = sets->sets;
	asg->nmembers = sets->nmembers;
	asg->members = sets->members;
	KR_TRY(fill_txns(w, settled->presence, asg));
	return kr_asg_index(asg);
}

/* What the steps give that is not in the ASG's arena. */
struct given {
	struct kr_numbers numbers;
	struct kr_looks looks;
	struct kr_growing *growing;
	struct kr_observed observed;
};

static enum kr_status run(const struct kr_work *w, struct given *g, struct kr_analysis *out)
{
	struct kr_writes writes = {.nkeys = w->h->keys.n};
	struct kr_sets sets;
	struct kr_settled settled;

	KR_TRY(check_size(w));
	KR_TRY(kr_analyze_versions(w, &writes));
	KR_TRY(kr_analyze_looks(w, &writes, &g->looks));
	KR_TRY(kr_analyze_growing(w, &writes, &g->growing));
	KR_TRY(kr_analyze_replay(w, &writes, &g->looks, g->growing, &g->observed));
	KR_TRY(kr_analyze_drop_versions(w, &g->observed, &writes));
	KR_TRY(kr_analyze_sets(w, &writes, &g->looks, g->growing, &g->observed, &sets));
	KR_TRY(kr_analyze_presence(w, &g->observed, &sets, &writes, &settled));
	KR_TRY(kr_analyze_anomalies(&g->observed, &settled, &sets, out));
	KR_TRY(kr_analyze_untold(&settled, &writes, &sets));
	KR_TRY(kr_analyze_compact(&settled, &writes, &sets));
	KR_TRY(assemble(w, &settled, &writes, &sets, &out->asg));
	KR_TRY(kr_analyze_orders(w, g->growing, out->anomaly_count > 0, &out->asg));
	out->shows_own = writes.shows_own || (g->growing && g->growing->shows_own);
	out->coarse = g->growing && g->growing->coarse;
	out->told_lists = g->growing && g->growing->told_lists;
	return give_names(w, &writes, g->growing, &out->asg);
}

static enum kr_status analyze(struct kr_ctx *ctx, const struct kr_history *h, bool installs, bool exact,
	struct kr_analysis *out, struct kr_err *err)
{
	struct kr_analysis analysis = {.anomaly_count = 0};
	struct given given = {.growing = NULL};
	struct kr_arena scratch;
	struct kr_work w = {.ctx = ctx,
		.mem = &ctx->mem,
		.arena = &analysis.asg.arena,
		.scratch = &scratch,
		.h = h,
		.err = err,
		.installs = installs,
		.exact = exact,
		.left_out = analysis.left_out,
		.numbers = &given.numbers};

	kr_asg_init(&analysis.asg, &ctx->mem);
	kr_arena_init(&scratch, &ctx->mem);

	enum kr_status status = run(&w, &given, &analysis);

	kr_growing_free(given.growing);
	kr_looks_done(w.mem, &given.looks);
	kr_vec_done(w.mem, &given.observed.found);
	kr_numbers_done(w.mem, &given.numbers);
	kr_arena_done(&scratch);
	if (status)
		kr_analysis_done(&analysis);
	else
		*out = analysis;
	return status;
}

enum kr_status kr_analyze(struct kr_ctx *ctx, const struct kr_history *h, struct kr_analysis *out,
	struct kr_err *err)
{
	return analyze(ctx, h, true, false, out, err);
}

enum kr_status kr_analyze_sums(struct kr_ctx *ctx, const struct kr_history *h, struct kr_analysis *out,
	struct kr_err *err)
{
	return analyze(ctx, h, false, false, out, err);
}

enum kr_status kr_analyze_exactly(struct kr_ctx *ctx, const struct kr_history *h, bool sums,
	struct kr_analysis *out, struct kr_err *err)
{
	return analyze(ctx, h, !sums, true, out, err);
}

void kr_analysis_done(struct kr_analysis *analysis)
{
	kr_vec_done(analysis->asg.mem, &analysis->anomalies);
	kr_asg_done(&analysis->asg);
	analysis->anomaly_count = 0;
}
