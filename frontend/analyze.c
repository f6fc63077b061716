/* Semantic analysis: from a history to its ASG and to the anomalies that no world can explain.
 *
 * Needs a finished history. Gives, per key, one version per transaction that wrote it and may have taken
 * effect; per external observation the set of versions that it may have seen; per transaction whether it took
 * effect, as far as the trace tells; and the known order of versions. Definitions and arguments: docs/asg.md.
 * Each step is in a file of its own (analyze_work.h). Linear in the operations, but for sorting each key's
 * observations. Everything but growing keys has its meaning here; those are the business of
 * analyze_grow.c. */
#include "frontend/analyze_work.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- names ---- */

struct names {
	const struct kr_history *h;
	const kr_token *token;
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

static void name_value(const void *data, kr_version v, struct kr_str *out)
{
	const struct names *names = data;
	uint32_t id = names->token[v.i].i, known = names->h->values.n;

	if (id < known)
		kr_history_json_value(names->h, (kr_value){id}, out);
	else if (id - known < names->count)
		kr_str_format(out, "%" PRId64, names->numbers[id - known]);
}

/* Growing keys use ids of their own; where there are any, numbers stay without names. */
static bool any_grows(const struct kr_work *w)
{
	for (uint32_t k = 0; k < w->h->keys.n; k++)
		if (kr_analyze_grows(w, (kr_key){k}))
			return true;
	return false;
}

static enum kr_status give_names(struct kr_work *w)
{
	struct names *names = KR_NEW(&w->asg->arena, struct names);
	uint32_t count = any_grows(w) ? 0 : w->numbers.n;
	int64_t *numbers = KR_NEW_ARRAY(&w->asg->arena, int64_t, count);

	if (!names || !numbers)
		return KR_NOMEM;
	for (uint32_t i = 0; i < count; i++)
		numbers[i] = w->numbers.at[i];
	*names = (struct names){w->h, w->token, numbers, count, w->asg->parts};
	w->asg->names = (struct kr_asg_names){names, name_txn, name_key, name_value, name_part};
	return KR_OK;
}

/* ---- what has a meaning ---- */

enum kr_status kr_analyze_refuse(const struct kr_work *w, kr_txn t, uint32_t op, const char *what)
{
	const struct kr_transaction *txn = &w->h->txns.at[t.i];
	const char *file = txn->file < w->h->files.n ? w->h->files.at[txn->file] : NULL;
	char name[80];

	kr_err_set(w->err, KR_UNSUPPORTED, "operation %u of %s: %s is not supported yet", op,
		kr_history_brief(w->h, txn->id, name, sizeof name), what);
	kr_err_at(w->err, file, txn->line, 0);
	return KR_UNSUPPORTED;
}

void kr_analyze_leave_out(struct kr_work *w, kr_txn t, uint32_t op, const char *what)
{
	/* formats other than ours cannot tell initial values themselves (frontend/format.c) */
	bool tellable = kr_history_untold(w->h) && strstr(what, "initial value") && w->h->format &&
		strcmp(w->h->format, "native") != 0;
	char name[40];

	if (!w->out->left_out[0])
		(void)snprintf(w->out->left_out, sizeof w->out->left_out,
			"%s is not decided (operation %u of %s)%s", what, op,
			kr_history_brief(w->h, w->h->txns.at[t.i].id, name, sizeof name),
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
	return KR_OK;
}

/* ---- the steps ---- */

static enum kr_status run(struct kr_work *w)
{
	KR_TRY(check_size(w));
	KR_TRY(kr_analyze_txns(w));
	KR_TRY(kr_analyze_versions(w));
	KR_TRY(kr_analyze_scans(w));
	KR_TRY(kr_analyze_grow_keys(w));
	KR_TRY(kr_analyze_replay(w));
	KR_TRY(kr_analyze_sets(w));
	KR_TRY(kr_asg_index(w->asg));
	KR_TRY(kr_analyze_presence(w));
	KR_TRY(kr_analyze_anomalies(w));
	KR_TRY(kr_analyze_untold(w));
	KR_TRY(kr_analyze_compact(w));
	KR_TRY(kr_analyze_orders(w));
	return give_names(w);
}

static enum kr_status analyze(struct kr_ctx *ctx, const struct kr_history *h, bool installs, bool exact,
	struct kr_analysis *out, struct kr_err *err)
{
	struct kr_analysis analysis = {.anomaly_count = 0};
	struct kr_work w = {.ctx = ctx,
		.h = h,
		.out = &analysis,
		.asg = &analysis.asg,
		.err = err,
		.installs = installs,
		.exact = exact};

	kr_asg_init(&analysis.asg, &ctx->mem);
	kr_arena_init(&w.scratch, &ctx->mem);

	enum kr_status status = run(&w);

	kr_analyze_grow_free(&w);
	kr_vec_done(&ctx->mem, &w.seen);
	kr_vec_done(&ctx->mem, &w.found);
	kr_vec_done(&ctx->mem, &w.numbers);
	kr_vec_done(&ctx->mem, &w.by_name);
	kr_vec_done(&ctx->mem, &w.looked);
	kr_vec_done(&ctx->mem, &w.passing);
	kr_vec_done(&ctx->mem, &w.wheres);
	kr_table_done(&ctx->mem, &w.number_table);
	kr_table_done(&ctx->mem, &w.where_table);
	kr_arena_done(&w.scratch);
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
