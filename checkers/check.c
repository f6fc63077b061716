/* The driver: anomalies, passes, back end, certificate, verification. Cost is that of its parts.
 *
 * What is stronger than the question (another level, session order) is often easier to decide: a world of it
 * is a world, and its refutation is one if the verifier finds that it refutes the question, too.
 *
 * At levels that allow lost updates the analysis has worlds of which some are none (frontend/analyze.h):
 * there only worlds of stronger levels, without lost updates, are sought in it, and then all in the other
 * one.
 *
 * Where the parts of growing keys would be very many, the analyses leave them out at first; what is undecided
 * then is asked of all. Longer than usual: which analysis, order and stronger level is asked when is one
 * decision.
 *
 * A limit hit anywhere, or a world that leaves something out, is an undecided verdict with the reason, never
 * an error; a certificate that the verifier rejects is an internal error, never a verdict. */
#include "checkers/check.h"

#include <stdio.h>

#include "checkers/axioms.h"
#include "checkers/bare.h"
#include "checkers/certify.h"
#include "checkers/pipeline.h"
#include "passes/wr.h"

enum { CASES_TXNS_MOST = 2000 }; /* what is small */
enum { ANOMALIES_MOST = 16 };    /* so many are tried */
enum { ATTEMPT_SHARE = 2 };      /* an attempt gets this part of the time left, */
/* or so much, and that for each transaction, when there is no limit */
static const int64_t ATTEMPT_NS = INT64_C(60000000000), ATTEMPT_TXN_NS = 1000000;

struct asking {
	struct kr_ctx *ctx;
	const struct kr_history *h;
	const struct kr_analysis *analysis;
	const struct kr_check_options *options;
	struct kr_verdict *out;
	bool fits;                  /* a refutation of something stronger that refutes the question, too */
	const struct kr_level *via; /* the level of whose world the verdict is one, if it is another one's */
	bool allowed;               /* lost updates are: only worlds of levels that forbid them are sought */
};

static double seconds_since(int64_t start) { return (double)(kr_now_ns() - start) * 1e-9; }

/* For an attempt; returns the deadline to put back. */
static int64_t limit_attempt(const struct asking *a)
{
	return kr_ctx_limit(a->ctx, ATTEMPT_SHARE, ATTEMPT_NS + a->h->txns.n * ATTEMPT_TXN_NS);
}

static void begin(struct kr_verdict *out, struct kr_mem *mem)
{
	out->outcome = KR_UNDECIDED;
	out->backend = NULL;
	kr_certificate_init(&out->certificate, mem);
	out->certificate.level = out->level;
	out->certificate.order = out->order;
}

/* The n-th anomaly that the level forbids. */
static enum kr_status find_anomaly(const struct asking *a, uint32_t n, struct kr_anomaly *out, bool *found)
{
	*found = false;
	if (kr_bare_level(a->options->level))
		return n == 0 ? kr_bare_garbage(a->ctx, a->h, out, found) : KR_OK;
	for (uint32_t i = 0; i < a->analysis->anomalies.n && !*found; i++) {
		*out = a->analysis->anomalies.at[i];
		*found = a->options->level->anomalies & KR_BIT(out->kind) && n-- == 0;
	}
	return KR_OK;
}

/* Whether parts of the pipeline are picked one by one, or looked into. */
static bool picks_parts(const struct kr_check_options *options)
{
	return options->passes || options->backend || options->pass_options.dump_after;
}

bool kr_check_by_hand(const struct kr_ctx *ctx, const struct kr_check_options *options)
{
	bool other = options->checker && options->checker != kr_checker_for(ctx->modules, options->level);
	return other || picks_parts(options);
}

/* Back to no verdict. */
static void forget(struct asking *a)
{
	kr_certificate_done(&a->out->certificate);
	begin(a->out, &a->ctx->mem);
	a->fits = false;
	a->via = NULL;
}

enum kr_status kr_check_fits(struct kr_ctx *ctx, const struct kr_history *h, struct kr_certificate *cert,
	struct kr_question question, bool *fits)
{
	struct kr_err why;
	kr_err_init(&why);
	cert->level = question.level;
	cert->order = question.order;
	enum kr_status status = kr_verify(ctx, h, cert, &why);
	*fits = !status;
	return status == KR_BAD || status == KR_UNSUPPORTED ? KR_OK : status;
}

/* After something stronger than the question was searched for: keeps a world, and a refutation that is one of
 * the question. In small histories a refutation of several cycles is found anew, since the one that closes it
 * has a better name when nothing else than the question was in mind. */
static enum kr_status keep(struct asking *a, enum kr_status status)
{
	struct kr_question question = {a->options->level, a->options->order};
	bool plain = a->out->certificate.cycles.n == 1 || a->analysis->asg.ntxns > CASES_TXNS_MOST;
	int64_t start = kr_now_ns();
	if (!status && a->out->outcome == KR_VIOLATED && !a->fits && plain) {
		status = kr_check_fits(a->ctx, a->h, &a->out->certificate, question, &a->fits);
		a->out->verify_seconds = seconds_since(start);
	}
	if (status || (a->out->outcome != KR_SATISFIED && !a->fits))
		forget(a);
	return status;
}

/* The passes of an attempt, before sources: a schedule replays, and so heeds all dependencies without their
 * edges. */
static const char quick_passes[] = "so,rt,presence";

/* Looks for a world of another level, one that implies the level asked for, the quick way. Anything but a
 * world says nothing. */
static enum kr_status attempt(struct asking *a, const struct kr_level *level, enum kr_order order,
	struct kr_err *err)
{
	struct kr_verdict *out = a->out;
	const struct kr_backend *backend = kr_backend_find(a->ctx->modules, out->checker->backend);
	struct kr_answer answer;
	struct kr_ir ir;
	enum kr_change change = KR_UNCHANGED;
	int64_t start = kr_now_ns();
	if (!backend || !backend->attempt)
		return KR_OK;
	KR_TRY(kr_ir_init(&ir, a->ctx, &a->analysis->asg, level, order));
	kr_answer_init(&answer, &a->ctx->mem);
	enum kr_status status = kr_pipeline_passes(&ir, quick_passes,
		&(struct kr_pass_options){.count = a->options->pass_options.count}, out, &change, err);
	if (!status && change != KR_CONFLICT)
		status = kr_settle(&ir, false, &change, err);
	if (!status && change != KR_CONFLICT)
		status = kr_backend_attempt(backend, &ir, &answer, err);
	if (!status && answer.outcome == KR_SATISFIED)
		status = kr_certify_world(&ir, &answer, &out->certificate);
	if (!status && answer.outcome == KR_SATISFIED) {
		out->outcome = KR_SATISFIED;
		out->backend = backend->name;
		out->solve_seconds = seconds_since(start);
	}
	kr_answer_done(&answer, &a->ctx->mem);
	kr_ir_done(&ir);
	return status;
}

/* Levels whose worlds are sought first, the easiest to find first; the last one only where no others will do:
 * it is the weakest that forbids lost updates and implies nearly all that allow them. */
static const char *const stronger[] = {"ser", "si", "pl-2+"};

static size_t count_stronger(const struct asking *a) { return KR_COUNT(stronger) - !a->allowed; }

/* NULL: it is not stronger, or known to be violated, so that it has no world, and its refutation is known. */
static const struct kr_level *find_stronger(const struct asking *a, size_t i, enum kr_order order)
{
	enum kr_order by_default;
	const struct kr_check_options *o = a->options;
	const struct kr_level *level = kr_level_find(a->ctx->modules, stronger[i], &by_default);
	struct kr_question question = {level, order}, asked = {o->level, order};
	if (!level || !kr_implies(a->ctx->modules, question, asked))
		return NULL;
	return o->is_violated && o->is_violated(o->known, question) ? NULL : level;
}

/* Decides the stronger level as if it had been asked for, with a share of the time. What is inferred for it
 * need not hold at the level asked for: what it ends with may be of use. */
static enum kr_status search(struct asking *a, const struct kr_level *level, enum kr_order order,
	struct kr_err *err)
{
	const struct kr_checker *own = a->out->checker;
	struct kr_check_options options = {.level = level,
		.order = order,
		.pass_options.count = a->options->pass_options.count};
	struct kr_ir ir;
	int64_t deadline = limit_attempt(a);
	enum kr_status status = kr_ir_init(&ir, a->ctx, &a->analysis->asg, level, order);
	if (!status) {
		a->out->checker = kr_checker_for(a->ctx->modules, level);
		status = kr_pipeline_decide(a->h, &ir, &options, a->out, err);
		a->out->checker = own;
		kr_ir_done(&ir);
	}
	status = keep(a, status);
	kr_ctx_resume(a->ctx, deadline, &status, err);
	return status;
}

static enum kr_status attempt_stronger(struct asking *a, enum kr_order order, struct kr_err *err)
{
	for (size_t i = 0; i < count_stronger(a) && a->out->outcome == KR_UNDECIDED; i++) {
		const struct kr_level *level = find_stronger(a, i, order);
		if (level)
			KR_TRY(attempt(a, level, order, err));
		if (level && a->out->outcome == KR_SATISFIED)
			a->via = level;
	}
	return KR_OK;
}

static enum kr_status search_stronger(struct asking *a, enum kr_order order, struct kr_err *err)
{
	const struct kr_level *asked = a->options->level;
	enum kr_status status = KR_OK;
	for (size_t i = 0; i < count_stronger(a) && !status && a->out->outcome == KR_UNDECIDED; i++) {
		const struct kr_level *level = find_stronger(a, i, order);
		bool itself = level &&
			(level == asked ||
				kr_implies(a->ctx->modules, (struct kr_question){asked, order},
					(struct kr_question){level, order}));
		if (level && !itself)
			status = search(a, level, order, err);
		if (level && a->out->outcome == KR_SATISFIED)
			a->via = level;
	}
	return status;
}

/* Not where the analysis has worlds that are none, or leaves out what may tell one that is. */
static enum kr_status attempt_axioms(struct asking *a, enum kr_order order, struct kr_err *err)
{
	const struct kr_analysis *analysis = a->analysis;
	bool whole = !analysis->left_out[0] && !analysis->coarse && !analysis->told_lists && !a->allowed;
	return whole && kr_level_is_axiomatic(a->options->level)
		? kr_axioms_decide(a->ctx, a->h, &analysis->asg, a->options, order, a->out, err)
		: KR_OK;
}

/* Of the ASG without observations; known orders that contradict each other settle it. */
static enum kr_status decide_bare(struct asking *a, enum kr_order order, struct kr_err *err)
{
	const struct kr_asg *asg = &a->analysis->asg;
	struct kr_asg bare = {.txns = NULL};
	struct kr_ir ir;
	bool circle = false;
	enum kr_status status = kr_bare_init(a->ctx, a->h, asg, &bare);
	if (!status)
		status = kr_bare_circle(a->ctx, &bare, &a->out->certificate, &circle);
	if (!status && circle)
		a->out->outcome = KR_VIOLATED;
	if (!status && !circle)
		status = kr_ir_init(&ir, a->ctx, &bare, a->options->level, order);
	if (!status && !circle) {
		status = kr_pipeline_decide(a->h, &ir, a->options, a->out, err);
		kr_ir_done(&ir);
	}
	kr_bare_done(a->ctx, asg, &bare);
	return status;
}

/* The cheapest first: times that clients tell mostly suggest a serial order, which takes one replay. */
static enum kr_status attempt_all(struct asking *a, enum kr_order order, struct kr_err *err)
{
	bool timed = kr_asg_is_timed(&a->analysis->asg);
	if (!timed)
		KR_TRY(attempt_axioms(a, order, err));
	if (a->out->outcome == KR_UNDECIDED)
		KR_TRY(attempt_stronger(a, order, err));
	if (a->out->outcome == KR_UNDECIDED && timed)
		KR_TRY(attempt_axioms(a, order, err));
	return a->out->outcome == KR_UNDECIDED ? search_stronger(a, order, err) : KR_OK;
}

static enum kr_status decide_order(struct asking *a, enum kr_order order, struct kr_err *err)
{
	struct kr_ir ir;
	bool bare = kr_bare_level(a->options->level);
	bool exact = a->analysis->left_out[0] && bare; /* here it is, and at stronger levels it is not */
	bool attempts = !kr_check_by_hand(a->ctx, a->options) && a->analysis->anomaly_count == 0 && !exact;
	enum kr_status status = attempts ? attempt_all(a, order, err) : KR_OK;
	if (status || a->out->outcome != KR_UNDECIDED || a->allowed)
		return status;
	if (bare)
		return decide_bare(a, order, err);
	status = kr_ir_init(&ir, a->ctx, &a->analysis->asg, a->options->level, order);
	if (!status) {
		status = kr_pipeline_decide(a->h, &ir, a->options, a->out, err);
		kr_ir_done(&ir);
	}
	return status;
}

/* Does some session hold two transactions that may have taken effect? */
static bool has_sessions(const struct kr_asg *asg)
{
	uint32_t members = 0;
	for (uint32_t t = 0; t < asg->ntxns; t++)
		members += asg->txns[t].session != KR_NONE && asg->txns[t].presence != KR_ABSENT_TXN;
	return members > asg->nsessions;
}

/* An order only adds edges, so a world of the stronger order is a world of the weaker one, and it is found
 * far more easily: sessions are chains, and little is left to choose. A refutation that does without them is
 * one of the weaker order. Plain levels are therefore tried with session order first, with a share of the
 * time; what happens to the limit within is forgotten. */
static enum kr_status attempt_sessions(struct asking *a, struct kr_err *err)
{
	int64_t deadline = limit_attempt(a);
	enum kr_status status = decide_order(a, KR_ORDER_SESSION, err);
	status = keep(a, status);
	kr_ctx_resume(a->ctx, deadline, &status, err);
	return status;
}

static enum kr_status decide_graph(struct asking *a, struct kr_err *err)
{
	if (a->options->order == KR_ORDER_NONE && !kr_check_by_hand(a->ctx, a->options) &&
		has_sessions(&a->analysis->asg))
		KR_TRY(attempt_sessions(a, err));
	return a->out->outcome != KR_UNDECIDED ? KR_OK : decide_order(a, a->options->order, err);
}

/* What the verifier cannot check is no verdict. A world may be none where the analysis has left something
 * out; then the verifier alone knows. */
static enum kr_status verify(const struct asking *a, struct kr_err *err)
{
	struct kr_ctx *ctx = a->ctx;
	const struct kr_analysis *analysis = a->analysis;
	struct kr_verdict *out = a->out;
	struct kr_err why;
	int64_t start = kr_now_ns();
	kr_err_init(&why);
	enum kr_status status = kr_verify(ctx, a->h, &out->certificate, &why);
	out->verify_seconds = seconds_since(start);
	if (status == KR_BAD && (analysis->left_out[0] || analysis->told_lists || analysis->coarse))
		status = KR_UNSUPPORTED;
	struct kr_implication said;
	struct kr_question asked = {out->level, out->order}, via = {a->via, out->order};
	if (status == KR_BAD && a->via && kr_implication_find(ctx->modules, via, asked, &said) && !said.own)
		return kr_err_set(err, KR_INTERNAL,
			"checker '%.60s': `%s` says that level '%.60s' implies '%.60s', but there is a world "
			"of %.60s that is none of %.60s: %s; no verdict",
			said.checker->name, said.field, said.strong->id, said.weak->id, a->via->id,
			out->level->id, why.text);
	if (status == KR_BAD || status == KR_INTERNAL)
		return kr_err_set(err, KR_INTERNAL,
			"internal error: the verifier rejects the certificate: %s; no verdict", why.text);
	if (status != KR_UNSUPPORTED)
		return status;
	out->outcome = KR_UNDECIDED;
	if (analysis->left_out[0])
		snprintf(out->reason, sizeof out->reason, "%s", analysis->left_out);
	else
		snprintf(out->reason, sizeof out->reason, "cannot be verified: %.120s",
			why.text[0] ? why.text
				    : "the world found leans on versions that the trace does not tell");
	return KR_OK;
}

/* Where something is left out, what is left may have too many worlds for one of them to be right; the trace
 * may suggest one that is, or it is among few. */
static enum kr_status try_told(struct kr_ctx *ctx, const struct kr_history *h, struct kr_verdict *out)
{
	struct kr_verdict told = *out;
	int64_t start = kr_now_ns();
	bool found;
	told.told = true;
	begin(&told, &ctx->mem);
	enum kr_status status = kr_certify_told_order(ctx, h, &told.certificate, &found);
	if (!status && !found) {
		told.told = false;
		status = kr_certify_any_order(ctx, h, &told.certificate, &found);
	}
	if (status || !found) {
		kr_certificate_done(&told.certificate);
		return status;
	}
	kr_certificate_done(&out->certificate);
	told.outcome = KR_SATISFIED;
	told.verify_seconds = seconds_since(start);
	*out = told;
	return KR_OK;
}

/* A limit becomes an undecided verdict; everything else stays what it is. */
static enum kr_status undecided(struct kr_ctx *ctx, enum kr_status status, struct kr_verdict *out,
	struct kr_err *err)
{
	if (!kr_is_limit(status))
		return status;
	out->outcome = KR_UNDECIDED;
	snprintf(out->reason, sizeof out->reason, "%s", kr_ctx_reason(ctx, status));
	if (err)
		kr_err_init(err);
	return KR_OK;
}

/* Takes the first anomaly that the verifier confirms, from `first` on: where one transaction contradicts
 * itself, anything follows of others, such as that what they saw was aborted. */
static enum kr_status try_anomalies(struct asking *a, const struct kr_anomaly *first, bool last)
{
	struct kr_question question = {a->options->level, a->options->order};
	struct kr_anomaly anomaly = *first;
	bool found = true, fits = false;
	int64_t start = kr_now_ns();
	enum kr_status status = KR_OK;
	for (uint32_t i = 0; i < ANOMALIES_MOST && found && !fits && !status; i++) {
		if (i > 0)
			status = find_anomaly(a, i, &anomaly, &found);
		if (!status && found)
			status = kr_check_names(a->ctx, a->h, &anomaly, question, last, &a->out->certificate,
				&fits);
	}
	a->out->verify_seconds = seconds_since(start);
	if (fits)
		a->out->outcome = KR_VIOLATED;
	return status;
}

/* By an anomaly, if there is one, or by the graph; verified. */
static enum kr_status decide_on(struct asking *a, struct kr_err *err)
{
	struct kr_anomaly anomaly;
	bool found;
	enum kr_status status = find_anomaly(a, 0, &anomaly, &found);
	if (!status)
		status = found ? try_anomalies(a, &anomaly, true) : decide_graph(a, err);
	if (found && (status || a->out->outcome == KR_VIOLATED))
		return status;
	if (!status && found) { /* to be told why */
		a->out->outcome = KR_VIOLATED;
		status = kr_certify_anomaly(&anomaly, &a->out->certificate);
	}
	if (!status && a->out->outcome != KR_UNDECIDED && !a->fits)
		status = verify(a, err);
	bool lacks = a->analysis->left_out[0] || a->analysis->coarse;
	if (!status && a->out->outcome == KR_UNDECIDED && lacks && !picks_parts(a->options) && !a->allowed)
		status = try_told(a->ctx, a->h, a->out);
	return status;
}

/* What the first analysis tells for certain: an anomaly that is one in any case, or a world without lost
 * updates. */
static enum kr_status decide_without_sums(struct asking *a, struct kr_err *err)
{
	struct kr_anomaly anomaly;
	bool found;
	KR_TRY(find_anomaly(a, 0, &anomaly, &found));
	a->allowed = kr_check_needs_sums(a->h, a->analysis, a->options->level);
	if (!found)
		return a->allowed && (kr_check_by_hand(a->ctx, a->options) || a->analysis->anomaly_count > 0)
			? KR_OK
			: decide_on(a, err);
	enum kr_status status = try_anomalies(a, &anomaly, false);
	if (!status && a->out->outcome == KR_UNDECIDED)
		forget(a);
	return status;
}

/* Where the analysis leaves something out, what was seen may still contradict itself by all that the verifier
 * knows. */
static enum kr_status try_unexplained(struct asking *a)
{
	struct kr_question question = {a->options->level, a->options->order};
	bool fits = false;
	int64_t start = kr_now_ns();
	if (a->analysis->asg.ntxns > CASES_TXNS_MOST || kr_bare_level(a->options->level))
		return KR_OK;
	kr_certificate_done(&a->out->certificate);
	a->out->certificate.kind = KR_CERT_CYCLES;
	enum kr_status status = kr_check_fits(a->ctx, a->h, &a->out->certificate, question, &fits);
	a->out->verify_seconds = seconds_since(start);
	if (fits)
		a->out->outcome = KR_VIOLATED;
	return status;
}

/* An analysis that cannot be made is no error. */
static enum kr_status leave_undecided(struct asking *a, enum kr_status status, struct kr_err *err)
{
	if (status != KR_UNSUPPORTED)
		return status;
	snprintf(a->out->reason, sizeof a->out->reason, "%.150s",
		err && err->text[0] ? err->text : kr_status_text(status));
	if (err)
		kr_err_init(err);
	return KR_OK;
}

/* On an analysis; where it leaves out what would be too much, with a share of the time, and then on all of
 * it. */
static enum kr_status decide_by(struct asking *a, const struct kr_analysis *analysis,
	enum kr_status (*by)(struct asking *, struct kr_err *), struct kr_err *err)
{
	struct kr_analysis exact;
	enum kr_status status = KR_OK;
	a->analysis = analysis;
	if (!analysis->coarse)
		return by(a, err);
	if (!kr_check_by_hand(a->ctx, a->options)) {
		int64_t deadline = limit_attempt(a);
		status = by(a, err);
		if (kr_is_limit(status))
			forget(a);
		kr_ctx_resume(a->ctx, deadline, &status, err);
	}
	if (status || a->out->outcome != KR_UNDECIDED || a->allowed)
		return status;
	forget(a);
	status = kr_analyze_exactly(a->ctx, a->h, a->out->sums, &exact, err);
	if (status)
		return leave_undecided(a, status, err);
	a->analysis = &exact;
	status = by(a, err);
	a->analysis = analysis;
	kr_analysis_done(&exact);
	return status;
}

/* Where sums are too much to make, a guess at what they add up to comes first. */
static enum kr_status try_passing(struct asking *a, const struct kr_analysis *sums)
{
	struct kr_question question = {a->options->level, a->options->order};
	bool found = false;
	if (!sums->coarse || sums->anomaly_count > 0 || kr_check_by_hand(a->ctx, a->options) ||
		!kr_check_needs_sums(a->h, a->analysis, a->options->level))
		return KR_OK;
	enum kr_status status =
		kr_check_passing(a->ctx, a->h, &sums->asg, question, &a->out->certificate, &found);
	if (!found)
		forget(a);
	else
		a->out->outcome = KR_SATISFIED;
	a->out->sums = found;
	return status;
}

/* By what is without lost updates, and if that is not enough by sums. */
static enum kr_status decide_either(struct asking *a, const struct kr_analysis *sums, struct kr_err *err)
{
	enum kr_status status = try_passing(a, sums);
	if (!status && a->out->outcome == KR_UNDECIDED)
		status = decide_by(a, a->analysis, decide_without_sums, err);
	if (status || a->out->outcome != KR_UNDECIDED || !(a->allowed || a->analysis->anomaly_count > 0))
		return status;
	a->allowed = false;
	a->out->sums = true;
	status = decide_by(a, sums, decide_on, err);
	return !status && a->out->outcome == KR_UNDECIDED && sums->left_out[0] ? try_unexplained(a) : status;
}

static enum kr_status decide(struct asking *a, struct kr_err *err)
{
	struct kr_analysis sums;
	bool needed =
		a->analysis->anomaly_count > 0 || kr_check_needs_sums(a->h, a->analysis, a->options->level);
	if (!a->analysis->shows_own || kr_bare_level(a->options->level) || !needed)
		return decide_by(a, a->analysis, decide_on, err);
	enum kr_status made = kr_analyze_sums(a->ctx, a->h, &sums, err),
		       status = leave_undecided(a, made, err);
	if (made)
		return status ? status : decide_by(a, a->analysis, decide_without_sums, err);
	status = decide_either(a, &sums, err);
	kr_analysis_done(&sums);
	return status;
}

enum kr_status kr_check(struct kr_ctx *ctx, const struct kr_history *h, const struct kr_analysis *analysis,
	const struct kr_check_options *options, struct kr_verdict *out, struct kr_err *err)
{
	int64_t start = kr_now_ns();
	*out = (struct kr_verdict){.level = options->level, .order = options->order};
	out->checker = options->checker ? options->checker : kr_checker_for(ctx->modules, options->level);
	begin(out, &ctx->mem);
	struct asking asking = {ctx, h, analysis, options, out, false, NULL, false};
	KR_TRY(options->passes ? kr_passes_check_order(ctx->modules, options->passes, options->order, err)
			       : KR_OK);
	enum kr_status status = KR_OK;
	if (out->checker->decide) {
		if (options->passes || options->backend)
			return kr_err_set(err, KR_BAD,
				"checker '%s' has neither passes nor a back end to choose",
				out->checker->name);
		status = out->checker->decide(ctx, h, options, out, err);
		if (!status && out->outcome != KR_UNDECIDED && !out->verified)
			status = verify(&asking, err);
	} else {
		status = decide(&asking, err);
	}
	if (!status && out->outcome == KR_VIOLATED && out->checker->qualify)
		status = out->checker->qualify(ctx, h, options, out, err);
	out->seconds = seconds_since(start);
	return undecided(ctx, status, out, err);
}

void kr_verdict_done(struct kr_verdict *verdict, struct kr_mem *mem)
{
	kr_certificate_done(&verdict->certificate);
	kr_vec_done(mem, &verdict->passes);
	kr_vec_done(mem, &verdict->undecided);
}
