/* Passes, then a back end, on one graph (pipeline.h). What either ends with becomes a certificate. */
#include "checkers/pipeline.h"

#include <stdio.h>

#include "checkers/certify.h"

/* The pass that added the edge. */
static const char *adder(const struct kr_verdict *out, uint32_t edge)
{
	const char *name = "none";
	for (uint32_t i = 0; i < out->passes.n; i++)
		if (out->passes.at[i].first_edge <= edge)
			name = out->passes.at[i].pass->name;
	return name;
}

/* An edge of a pass that lies has no proof. */
static enum kr_status fail_unfounded(const struct kr_history *h, const struct kr_ir *ir, uint32_t index,
	const struct kr_verdict *out, struct kr_err *err)
{
	if (index == KR_NONE)
		return kr_err_set(err, KR_INTERNAL,
			"internal error: a refutation rests on an edge that is not known; no verdict");
	const struct kr_edge *e = &ir->edges.at[index];
	kr_txn from = kr_ir_txn(ir, e->from), to = kr_ir_txn(ir, e->to);
	char a[80] = "a time", b[80] = "a time";
	if (from.i != KR_NONE)
		kr_history_brief(h, h->txns.at[from.i].id, a, sizeof a);
	if (to.i != KR_NONE)
		kr_history_brief(h, h->txns.at[to.i].id, b, sizeof b);
	return kr_err_set(err, KR_INTERNAL,
		"internal error: pass '%.60s' added the edge %s -%s-> %s, which its rule '%s' does not bear "
		"out; no verdict",
		adder(out, index), a, kr_edge_name((enum kr_edge_kind)e->kind), b,
		kr_rule_name((enum kr_rule)e->rule));
}

enum kr_status kr_pipeline_refute(const struct kr_history *h, struct kr_ir *ir, struct kr_proof *proof,
	struct kr_verdict *out, struct kr_err *err)
{
	enum kr_status status = kr_certify_proof(ir, proof, &out->certificate);
	if (!status)
		status = kr_certify_lost_updates(ir->level, &out->certificate);
	if (status == KR_INTERNAL)
		return fail_unfounded(h, ir, proof->unfounded, out, err);
	out->outcome = status ? KR_UNDECIDED : KR_VIOLATED; /* not before its certificate is whole */
	return status;
}

static enum kr_status solve(const struct kr_history *h, struct kr_ir *ir, const char *name,
	struct kr_verdict *out, struct kr_err *err)
{
	struct kr_answer answer;
	const struct kr_backend *backend = kr_backend_find(ir->ctx->modules, name);
	if (!backend || !backend->solve)
		return kr_err_set(err, KR_BAD, "%s: \"%s\", expected a back end that decides",
			backend ? "this back end only writes" : "unknown back end", name);
	kr_answer_init(&answer, &ir->ctx->mem);
	out->backend = name;
	ir->tallies.n = 0;
	enum kr_status status = kr_backend_solve(backend, ir, &answer, err);
	out->tallies = ir->tallies;
	if (!status) {
		out->rounds = answer.rounds;
		out->choices = answer.choices;
		out->clauses = answer.clauses;
		if (answer.outcome == KR_SATISFIED)
			status = kr_certify_world(ir, &answer, &out->certificate);
		else if (answer.outcome == KR_VIOLATED)
			status = kr_pipeline_refute(h, ir, &answer.proof, out, err);
		else
			snprintf(out->reason, sizeof out->reason, "%s", answer.reason);
	}
	if (!status)
		out->outcome = answer.outcome; /* not before its certificate is whole */
	kr_answer_done(&answer, &ir->ctx->mem);
	return status;
}

enum kr_status kr_pipeline_passes(struct kr_ir *ir, const char *passes, const struct kr_pass_options *options,
	struct kr_verdict *out, enum kr_change *change, struct kr_err *err)
{
	struct kr_pass_stats stats = {0};
	enum kr_status status = kr_passes_run(ir, passes, options, &stats, change, err);
	if (stats.n > 0) {
		kr_vec_done(&ir->ctx->mem, &out->passes);
		out->passes = stats;
	} else {
		kr_vec_done(&ir->ctx->mem, &stats);
	}
	return status;
}

enum kr_status kr_pipeline_decide(const struct kr_history *h, struct kr_ir *ir,
	const struct kr_check_options *options, struct kr_verdict *out, struct kr_err *err)
{
	enum kr_change change;
	const char *passes = options->passes ? options->passes : out->checker->passes;
	enum kr_status status = kr_pipeline_passes(ir, passes, &options->pass_options, out, &change, err);
	kr_vec_done(&ir->ctx->mem, &out->undecided);
	out->undecided = ir->undecided;
	ir->undecided = (struct kr_rounds){0};
	if (status)
		return status;
	if (change == KR_CONFLICT)
		return kr_pipeline_refute(h, ir, ir->conflict, out, err);
	int64_t start = kr_now_ns();
	status = solve(h, ir, options->backend ? options->backend : out->checker->backend, out, err);
	out->solve_seconds = (double)(kr_now_ns() - start) * 1e-9;
	return status;
}
