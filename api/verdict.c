/* Verdicts of the C API. A verdict owns its proof and its texts, which are made when it is, so that asking
 * for them cannot fail, and does not need its history. */
#include "api/handle.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "checkers/check.h"
#include "report/report.h"

struct krait_verdict {
	/* of this block and the rest; without a limit, so that they can be made after one was hit */
	struct kr_mem mem;
	const struct kr_level *level;
	enum kr_order order;
	enum kr_outcome outcome;
	double seconds;
	char anomaly[KR_ANOMALY_NAME_SIZE];
	char reason[160];
	struct kr_str explanation, json, witness;
	struct kr_certificate certificate;
	struct kr_str keys;    /* the keys of the certificate's edges, as JSON, each with its terminator */
	KR_VEC(size_t) key_at; /* per edge: into keys, SIZE_MAX: none */
	uint32_t operation;    /* of an anomaly, as the trace counts */
};

/* ---- checking ---- */

static uint64_t peak_mib(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_SELF, &usage) == 0 ? ((uint64_t)usage.ru_maxrss + 1023) / 1024 : 0;
}

static enum kr_status keep_keys(krait_verdict *v, const struct kr_history *h)
{
	for (uint32_t i = 0; i < v->certificate.edges.n; i++) {
		kr_key key = v->certificate.edges.at[i].key;

		KR_TRY(kr_vec_add(&v->mem, &v->key_at, key.i == KR_NONE ? SIZE_MAX : v->keys.n));
		if (key.i == KR_NONE)
			continue;
		kr_history_json_value(h, h->keys.at[key.i].name, &v->keys);
		kr_str_add_bytes(&v->keys, "", 1);
	}
	return v->keys.failed ? KR_NOMEM : KR_OK;
}

/* The proof, on its own. */
static enum kr_status keep_proof(krait_verdict *v, const struct kr_history *h,
	const struct kr_certificate *found)
{
	enum kr_status status = kr_certificate_copy(&v->mem, found, &v->certificate);
	bool one = found->kind == KR_CERT_ANOMALY || found->kind == KR_CERT_REPLAY;

	v->operation = one ? kr_history_place(h, found->anomaly.txn, found->anomaly.op) : KR_NONE;
	return status ? status : keep_keys(v, h);
}

/* Makes every text of the verdict. */
static enum kr_status write_texts(krait_verdict *v, krait_history *h, const struct kr_verdict *found)
{
	struct kr_analysis sums;
	bool other = found->sums && kr_analyze_sums(&h->ctx, &h->history, &sums, NULL) == KR_OK;
	struct kr_report r = {
		.trace = h->path,
		.level = found->level,
		.order = found->order,
		.checker = found->checker,
		.history = &h->history,
		.analysis = other ? &sums : &h->analysis,
		.verdict = found,
		.read_seconds = h->read_seconds,
		.seconds = h->read_seconds + found->seconds,
		.peak_mib = peak_mib(),
	};
	struct kr_witness_head head = {h->path, found->level->id, found->order};

	if (found->outcome == KR_VIOLATED)
		kr_report_anomaly(&h->history, &found->certificate, v->anomaly);
	if (found->outcome == KR_UNDECIDED)
		memcpy(v->reason, found->reason, sizeof v->reason);
	kr_report_explain(&r, &v->explanation);
	kr_report_json(&r, (struct kr_json_extras){0}, &v->json);
	if (other)
		kr_analysis_done(&sums);
	if (found->outcome != KR_UNDECIDED)
		kr_witness_print(&h->history, &head, &found->certificate, &v->witness);
	return v->explanation.failed || v->json.failed || v->witness.failed ? KR_NOMEM : KR_OK;
}

static void log_verdict(const struct krait_options *options, const krait_history *h,
	const struct kr_verdict *found)
{
	static const char *const changes[] =
		{[KR_UNCHANGED] = "nothing new", [KR_CHANGED] = "changed", [KR_CONFLICT] = "conflict"};

	for (uint32_t i = 0; i < found->passes.n; i++)
		kr_call_log(options, "%s: %s: pass %s: %s, %.3f s", h->path, found->level->id,
			found->passes.at[i].pass->name, changes[found->passes.at[i].change],
			found->passes.at[i].seconds);
	kr_call_log(options, "%s: %s, order %s: %s by %s, %.3f s, of them verified in %.3f s", h->path,
		found->level->id, kr_order_name(found->order), kr_report_verdict(found->outcome),
		found->backend ? found->backend : "passes", found->seconds, found->verify_seconds);
}

static enum kr_status check(krait_verdict *v, krait_history *h, const struct krait_options *options,
	struct kr_err *err)
{
	struct kr_decision asked = {.options = {.level = v->level, .order = v->order}};
	const struct kr_verdict *found = &asked.verdict;

	kr_call_begin(&h->ctx, options);
	kr_check_all(&h->ctx, &h->history, &h->analysis, &asked, 1);

	enum kr_status status = asked.status;

	if (status != KR_OK && err)
		*err = asked.err;
	if (status == KR_OK) {
		v->outcome = found->outcome;
		v->seconds = found->seconds;
		log_verdict(options, h, found);
		status = write_texts(v, h, found);
	}
	if (status == KR_OK && found->outcome != KR_UNDECIDED)
		status = keep_proof(v, &h->history, &found->certificate);
	kr_verdict_done(&asked.verdict, &h->ctx.mem);
	h->ctx.cancel = NULL; /* the caller's, for this call */
	h->ctx.progress = NULL;
	h->ctx.log = NULL;
	return status;
}

static krait_verdict *new_verdict(const krait_history *h)
{
	struct kr_mem mem = h->self;

	mem.used = mem.peak = 0;

	krait_verdict *v = kr_mem_alloc(&mem, 1, sizeof *v);

	if (!v)
		return NULL;
	v->mem = mem;
	kr_str_init(&v->explanation, &v->mem);
	kr_str_init(&v->json, &v->mem);
	kr_str_init(&v->witness, &v->mem);
	kr_str_init(&v->keys, &v->mem);
	kr_certificate_init(&v->certificate, &v->mem);
	return v;
}

static enum kr_status unknown_level(const struct kr_modules *more, const char *name, struct kr_err *err)
{
	struct kr_guess guess = {.typed = name};
	char near[128];

	if (kr_level_meanings(name))
		return kr_err_set(err, KR_BAD, "level '%.80s' has several meanings: %s", name,
			kr_level_meanings(name));
	kr_level_guess(more, &guess);
	return kr_err_set(err, KR_BAD, "unknown level '%.80s'%s", name,
		kr_guess_text(&guess, "krait levels", near));
}

enum krait_status krait_check(krait_history *history, const char *level, const char *order,
	const struct krait_options *options, krait_verdict **out, struct krait_error *error)
{
	krait_verdict *v = new_verdict(history);
	enum kr_status status = v ? KR_OK : KR_NOMEM;
	struct kr_err err;

	kr_public_begin(&err, error);
	if (!status) {
		v->level = kr_level_meanings(level) ? NULL
						    : kr_level_find(history->ctx.modules, level, &v->order);
		if (!v->level)
			status = unknown_level(history->ctx.modules, level, &err);
		else if (order && !kr_order_parse(order, &v->order))
			status = kr_err_set(&err, KR_BAD,
				"unknown order '%.80s', expected none, session or realtime", order);
	}
	if (!status)
		status = check(v, history, options, &err);
	if (status) {
		krait_verdict_free(v);
		return kr_public_fail(&err, status, error);
	}
	*out = v;
	return KRAIT_OK;
}

void krait_verdict_free(krait_verdict *verdict)
{
	if (!verdict)
		return;
	kr_str_done(&verdict->explanation);
	kr_str_done(&verdict->json);
	kr_str_done(&verdict->witness);
	kr_str_done(&verdict->keys);
	kr_vec_done(&verdict->mem, &verdict->key_at);
	kr_certificate_done(&verdict->certificate);

	struct kr_mem mem = verdict->mem;

	kr_mem_free(&mem, verdict, 1, sizeof *verdict);
}

enum krait_outcome krait_verdict_outcome(const krait_verdict *verdict)
{
	_Static_assert((int)KR_VIOLATED == KRAIT_VIOLATED && (int)KR_UNDECIDED == KRAIT_UNDECIDED,
		"the same");
	return (enum krait_outcome)verdict->outcome;
}

const char *krait_verdict_level(const krait_verdict *verdict) { return verdict->level->id; }
const char *krait_verdict_order(const krait_verdict *verdict) { return kr_order_name(verdict->order); }
const char *krait_verdict_anomaly(const krait_verdict *verdict)
{
	return verdict->outcome == KR_VIOLATED ? verdict->anomaly : NULL;
}
const char *krait_verdict_reason(const krait_verdict *verdict)
{
	return verdict->outcome == KR_UNDECIDED ? verdict->reason : NULL;
}
const char *krait_verdict_explanation(const krait_verdict *verdict)
{
	return kr_str_text(&verdict->explanation);
}
const char *krait_verdict_json(const krait_verdict *verdict) { return kr_str_text(&verdict->json); }
const char *krait_verdict_witness(const krait_verdict *verdict)
{
	return verdict->outcome == KR_UNDECIDED ? NULL : kr_str_text(&verdict->witness);
}
double krait_verdict_seconds(const krait_verdict *verdict) { return verdict->seconds; }

/* ---- the proof ---- */

enum krait_proof_kind krait_verdict_proof(const krait_verdict *verdict)
{
	static const enum krait_proof_kind kinds[] = {
		[KR_CERT_ORDER] = KRAIT_PROOF_ORDER,
		[KR_CERT_SNAPSHOTS] = KRAIT_PROOF_SNAPSHOTS,
		[KR_CERT_WORLD] = KRAIT_PROOF_WORLD,
		[KR_CERT_ANOMALY] = KRAIT_PROOF_OPERATION,
		[KR_CERT_CYCLES] = KRAIT_PROOF_CYCLES,
	};

	return verdict->outcome == KR_UNDECIDED ? KRAIT_PROOF_NONE : kinds[verdict->certificate.kind];
}

uint32_t krait_verdict_order_length(const krait_verdict *verdict) { return verdict->certificate.serial.n; }

uint32_t krait_verdict_order_at(const krait_verdict *verdict, uint32_t i)
{
	return i < verdict->certificate.serial.n ? verdict->certificate.serial.at[i].i : KRAIT_NONE;
}

bool krait_verdict_operation(const krait_verdict *verdict, struct krait_place *out)
{
	if (krait_verdict_proof(verdict) != KRAIT_PROOF_OPERATION)
		return false;
	*out = (struct krait_place){verdict->certificate.anomaly.txn.i, verdict->operation};
	return true;
}

uint32_t krait_verdict_cycles(const krait_verdict *verdict) { return verdict->certificate.cycles.n; }

uint32_t krait_verdict_edges(const krait_verdict *verdict, uint32_t c)
{
	return c < verdict->certificate.cycles.n ? verdict->certificate.cycles.at[c].count : 0;
}

bool krait_verdict_edge(const krait_verdict *verdict, uint32_t c, uint32_t i, struct krait_dependency *out)
{
	if (i >= krait_verdict_edges(verdict, c))
		return false;

	uint32_t at = verdict->certificate.cycles.at[c].first + i;
	const struct kr_cert_edge *e = &verdict->certificate.edges.at[at];

	*out = (struct krait_dependency){
		.kind = kr_edge_name((enum kr_edge_kind)e->kind),
		.from = e->from.i,
		.to = e->to.i,
		.key = verdict->key_at.at[at] == SIZE_MAX
			? NULL
			: kr_str_text(&verdict->keys) + verdict->key_at.at[at],
		.operation = e->op,
		.source = e->source.i,
		.predicate = e->predicate,
	};
	return true;
}
