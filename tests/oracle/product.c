#include "product.h"

#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "base/rng.h"
#include "checkers/check.h"
#include "report/report.h"

enum { MOST_PIPELINES = 64 };

struct pipeline {
	const struct kr_checker *checker; /* that module, as it is; NULL: the lists below */
	bool plain;                       /* as when nothing is picked by hand */
	char passes[300];
	const char *backend;
};

struct run {
	struct product *p;
	struct kr_ctx ctx;
	const struct kr_history *h;
	enum kr_order order;
	enum oracle_answer truth;
	struct kr_rng rng;
	struct pipeline pipelines[MOST_PIPELINES];
	uint32_t npipelines, nmodules, nbackends; /* modules come right after the default one, then the back ends on all passes */
	const struct kr_level *level;
};

static const char *differs(struct run *r, const struct pipeline *pipeline, const char *what, const char *detail)
{
	r->p->what = what;
	bool module = pipeline && (pipeline->checker || pipeline->plain);
	snprintf(r->p->why, sizeof r->p->why, "level %s, order %s, checker %s, passes %s, back end %s: %s%s%s", r->level->id, kr_order_name(r->order),
		!module ? "-" : pipeline->plain ? "of the level" : pipeline->checker->name, pipeline && !module ? pipeline->passes : "-", pipeline && !module ? pipeline->backend : "-", what,
		detail ? ": " : "", detail ? detail : "");
	return r->p->why;
}

/* ---- pipelines ---- */

/* Passes that say what the trace says; without them the question would be another one. */
static bool is_essential(const char *name, size_t length)
{
	static const char *const names[] = {"so", "rt", "wr", "ww"};

	for (size_t i = 0; i < KR_COUNT(names); i++)
		if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0)
			return true;
	return false;
}

/* Copies `list` without its skip-th pass, and with `rest` without any optimising pass after it. False when there is no such optimising pass. */
static bool without(const char *list, uint32_t skip, bool rest, char *out, size_t size)
{
	uint32_t i = 0;
	bool found = false;

	out[0] = '\0';
	for (const char *at = list; *at; i++) {
		size_t length = strcspn(at, ",");
		bool essential = is_essential(at, length);
		found = found || (i == skip && !essential);
		if (essential || i < skip || (i > skip && !rest))
			snprintf(out + strlen(out), size - strlen(out), "%s%.*s", out[0] ? "," : "", (int)length, at);
		at += length + (at[length] == ',');
	}
	return found;
}

static void add_pipelines(struct run *r, const char *passes)
{
	for (size_t b = 0; b < kr_backend_registry_count; b++) {
		struct pipeline *next = &r->pipelines[r->npipelines];
		if (!kr_backend_registry[b]->solve || r->npipelines == MOST_PIPELINES)
			continue;
		if (r->p->only && strcmp(r->p->only, kr_backend_registry[b]->name) != 0)
			continue;
		snprintf(next->passes, sizeof next->passes, "%s", passes);
		next->backend = kr_backend_registry[b]->name;
		r->npipelines++;
	}
}

/* Every other module that decides the level. */
static void add_modules(struct run *r)
{
	for (size_t i = 0; i < kr_checker_registry_count && r->npipelines < MOST_PIPELINES; i++) {
		const struct kr_checker *checker = kr_checker_registry[i];
		if (checker->decide) /* tests/oracle/test_given.c */
			continue;
		if (checker != kr_checker_for(NULL, r->level) && kr_checker_decides(checker, r->level) && !r->p->only)
			r->pipelines[r->npipelines++] = (struct pipeline){.checker = checker};
	}
}

static void list_pipelines(struct run *r)
{
	const struct kr_checker *checker = kr_checker_for(r->p->modules, r->level);
	char passes[300];

	if (r->p->module) { /* nothing else */
		r->pipelines[0].checker = kr_checker_find(NULL, r->p->module);
		r->npipelines = r->pipelines[0].checker && kr_checker_decides(r->pipelines[0].checker, r->level);
		return;
	}
	snprintf(r->pipelines[0].passes, sizeof r->pipelines[0].passes, "%s", checker->passes);
	r->pipelines[0].backend = r->p->only ? r->p->only : checker->backend;
	r->npipelines = 1;
	if (!r->p->only)
		r->pipelines[r->npipelines++].plain = true;
	add_modules(r);
	r->nmodules = r->npipelines - 1;
	add_pipelines(r, checker->passes);
	r->nbackends = r->npipelines - 1 - r->nmodules;
	for (uint32_t i = 0; i < 32; i++) {
		if (!without(checker->passes, i, false, passes, sizeof passes))
			continue;
		if (kr_passes_check(NULL, passes, NULL) != KR_OK)
			(void)without(checker->passes, i, true, passes, sizeof passes);
		add_pipelines(r, passes);
	}
	without(checker->passes, 0, true, passes, sizeof passes);
	add_pipelines(r, passes); /* none at all */
}

/* ---- certificates ---- */

static bool verifies(struct run *r, const struct kr_certificate *cert) { return kr_verify(&r->ctx, r->h, cert, NULL) == KR_OK; }

static const char *round_trip(struct run *r, const struct pipeline *pipeline, const struct kr_certificate *cert)
{
	struct kr_witness_head head = {"a trace", cert->level->id, cert->order}, read_head;
	struct kr_certificate again;
	struct kr_arena arena;
	struct kr_str first, second;
	struct kr_err err;
	const char *bad = NULL;

	kr_err_init(&err);
	kr_arena_init(&arena, &r->ctx.mem);
	kr_certificate_init(&again, &r->ctx.mem);
	kr_str_init(&first, &r->ctx.mem);
	kr_str_init(&second, &r->ctx.mem);
	kr_witness_print(r->h, &head, cert, &first);
	if (kr_witness_read(r->h, &arena, kr_str_text(&first), first.n, &read_head, &again, &err) != KR_OK) {
		bad = differs(r, pipeline, "the printed witness cannot be read", err.text);
	} else {
		kr_witness_print(r->h, &read_head, &again, &second);
		if (strcmp(kr_str_text(&first), kr_str_text(&second)) != 0)
			bad = differs(r, pipeline, "the witness reads back as another one", kr_str_text(&first));
		again.level = cert->level;
		if (!bad && kr_verify(&r->ctx, r->h, &again, &err) != KR_OK)
			bad = differs(r, pipeline, "the witness that was read back is rejected", err.text);
	}
	kr_str_done(&first);
	kr_str_done(&second);
	kr_certificate_done(&again);
	kr_arena_done(&arena);
	return bad;
}

/* Exchanges two transactions, or drops, repeats or replaces one. */
static void mutate_serial(struct run *r, struct kr_certificate *cert)
{
	uint32_t n = cert->serial.n;
	uint32_t i = (uint32_t)kr_rng_below(&r->rng, n), j = (uint32_t)kr_rng_below(&r->rng, n);
	kr_txn swap = cert->serial.at[i];

	switch (kr_rng_below(&r->rng, 5)) {
	case 0:
		memmove(&cert->serial.at[i], &cert->serial.at[i + 1], (n - i - 1) * sizeof swap);
		cert->serial.n--;
		break;
	case 1: cert->serial.at[i] = cert->serial.at[j]; break;
	case 2: cert->serial.at[i].i = (uint32_t)kr_rng_below(&r->rng, r->h->txns.n); break;
	default: cert->serial.at[i] = cert->serial.at[j]; cert->serial.at[j] = swap;
	}
}

/* The verifier must say of any order what the replay oracle says, or that it does not know. */
static const char *mutate_order(struct run *r, const struct pipeline *pipeline, struct kr_certificate *cert)
{
	for (int i = 0; i < 6 && cert->serial.n > 0; i++) {
		mutate_serial(r, cert);
		bool valid = oracle_replays(r->h, r->order, cert->serial.at, cert->serial.n);
		r->p->mutated++;
		r->p->mutated_valid += valid;
		enum kr_status status = kr_verify(&r->ctx, r->h, cert, NULL);
		if (valid ? status != KR_OK && status != KR_UNSUPPORTED : status == KR_OK)
			return differs(r, pipeline, valid ? "the verifier rejects a valid order" : "the verifier accepts a wrong order", NULL);
	}
	return NULL;
}

static kr_txn random_txn(struct run *r) { return (kr_txn){(uint32_t)kr_rng_below(&r->rng, r->h->txns.n)}; }

static void random_edge(struct run *r, struct kr_cert_edge *e, kr_txn from, kr_txn to)
{
	*e = (struct kr_cert_edge){.kind = (uint8_t)kr_rng_below(&r->rng, KR_PROGRAM),
		.from = from,
		.to = to,
		.key = {KR_NONE},
		.op = KR_NONE,
		.source = {KR_NONE},
		.part = {KR_NONE}};
	if (e->kind == KR_SO || e->kind == KR_RT)
		return;
	const struct kr_transaction *reader = &r->h->txns.at[e->kind == KR_WR ? to.i : from.i];
	uint32_t op = (uint32_t)kr_rng_below(&r->rng, reader->op_count ? reader->op_count : 1);
	e->key.i = reader->op_count ? r->h->ops.at[reader->op_first + op].key.i : (uint32_t)kr_rng_below(&r->rng, r->h->keys.n);
	if (e->kind != KR_WW)
		e->op = op;
	if (e->kind == KR_RW && kr_rng_below(&r->rng, 2) == 0)
		e->source = random_txn(r);
}

/* A history that satisfies the level cannot be refuted: whatever list of cycles is claimed, it must be rejected. */
static const char *random_refutations(struct run *r, const struct pipeline *pipeline)
{
	struct kr_certificate cert;
	const char *bad = NULL;

	kr_certificate_init(&cert, &r->ctx.mem);
	cert.level = r->level;
	cert.order = r->order;
	cert.kind = KR_CERT_CYCLES;
	for (int i = 0; i < 10 && !bad; i++) {
		uint32_t ncycles = 1 + (uint32_t)kr_rng_below(&r->rng, 3);
		kr_vec_clear(&cert.edges);
		kr_vec_clear(&cert.cycles);
		for (uint32_t c = 0; c < ncycles; c++) {
			struct kr_cert_cycle cycle = {cert.edges.n, 2 + (uint32_t)kr_rng_below(&r->rng, 2)};
			kr_txn first = random_txn(r), from = first;
			for (uint32_t k = 0; k < cycle.count; k++) {
				struct kr_cert_edge e;
				kr_txn to = k + 1 == cycle.count ? first : random_txn(r);
				random_edge(r, &e, from, to);
				if (!kr_vec_push(&r->ctx.mem, &cert.edges, e))
					return "out of memory";
				from = to;
			}
			if (!kr_vec_push(&r->ctx.mem, &cert.cycles, cycle))
				return "out of memory";
		}
		r->p->mutated++;
		if (verifies(r, &cert))
			bad = differs(r, pipeline, "the verifier accepts a refutation of a satisfied history", NULL);
	}
	kr_certificate_done(&cert);
	return bad;
}

/* Nor can it be refuted by an anomaly. */
static const char *random_anomalies(struct run *r, const struct pipeline *pipeline)
{
	struct kr_certificate cert;

	kr_certificate_init(&cert, &r->ctx.mem);
	cert.level = r->level;
	cert.order = r->order;
	cert.kind = KR_CERT_ANOMALY;
	for (int i = 0; i < 10; i++) {
		cert.anomaly.kind = (enum kr_anomaly_kind)kr_rng_below(&r->rng, KR_ANOMALY_KINDS);
		cert.anomaly.txn = random_txn(r);
		const struct kr_transaction *txn = &r->h->txns.at[cert.anomaly.txn.i];
		if (txn->op_count == 0)
			continue;
		cert.anomaly.op = (uint32_t)kr_rng_below(&r->rng, txn->op_count);
		cert.anomaly.key = r->h->ops.at[txn->op_first + cert.anomaly.op].key;
		r->p->mutated++;
		if (verifies(r, &cert))
			return differs(r, pipeline, "the verifier accepts an anomaly in a satisfied history", kr_anomaly_name(cert.anomaly.kind));
	}
	return NULL;
}

/* A refutation under session or real-time order must not pass for one without, when the history satisfies that. */
static const char *weaken(struct run *r, const struct pipeline *pipeline, struct kr_certificate *cert)
{
	for (int order = 0; order < (int)r->order; order++) {
		if (oracle_replay(r->h, (enum kr_order)order, UINT64_C(10000000)) != ORACLE_SATISFIED)
			continue;
		cert->order = (enum kr_order)order;
		r->p->mutated++;
		if (verifies(r, cert))
			return differs(r, pipeline, "the refutation is accepted for a weaker order that holds", kr_order_name(cert->order));
	}
	return NULL;
}

static const char *try_certificate(struct run *r, const struct pipeline *pipeline, struct kr_certificate *cert)
{
	const char *bad = round_trip(r, pipeline, cert);

	bool serial = strcmp(r->level->id, "ser") == 0 || strcmp(r->level->id, "pl-ss") == 0; /* for which the oracle can judge any certificate */

	if (bad)
		return bad;
	if (r->truth == ORACLE_VIOLATED)
		return serial ? weaken(r, pipeline, cert) : NULL;
	if (r->h->txns.n == 0)
		return NULL;
	bad = serial ? mutate_order(r, pipeline, cert) : NULL;
	if (!bad)
		bad = random_refutations(r, pipeline);
	return bad ? bad : random_anomalies(r, pipeline);
}

/* ---- reports ---- */

/* Each can be told: in words, as JSON, as a graph and on a page. What they say, tests/golden and tests/unit hold. */
static const char *try_reports(struct run *r, const struct pipeline *pipeline, const struct kr_analysis *analysis, const struct kr_verdict *verdict)
{
	struct kr_report report = {.trace = "a trace", .level = r->level, .order = r->order, .checker = kr_checker_for(r->p->modules, r->level), .history = r->h, .analysis = analysis,
		.verdict = verdict, .modules = r->p->modules};
	struct kr_str words, json, others;
	const char *bad = NULL;

	kr_str_init(&words, &r->ctx.mem);
	kr_str_init(&json, &r->ctx.mem);
	kr_str_init(&others, &r->ctx.mem);
	kr_report_explain(&report, &words);
	kr_report_json(&report, (struct kr_json_extras){.explanation = true}, &json);
	kr_report_line(&report, false, &others);
	kr_report_dot(&report, &others);
	kr_report_page_verdict(r->p->modules, &report, &others);
	json_t *parsed = json_loads(kr_str_text(&json), JSON_REJECT_DUPLICATES, NULL);
	if (!parsed || strcmp(json_string_value(json_object_get(parsed, "verdict")), kr_report_verdict(verdict->outcome)) != 0)
		bad = differs(r, pipeline, "the report is not what JSON says it is", kr_str_text(&json));
	else if (!*kr_str_text(&words) || strstr(kr_str_text(&words), "(null)"))
		bad = differs(r, pipeline, "nothing is said", kr_str_text(&words));
	json_decref(parsed);
	kr_str_done(&others);
	kr_str_done(&json);
	kr_str_done(&words);
	return bad;
}

/* ---- verdicts ---- */

/* Exhaustive search looks at all versions of all parts of sums. */
static bool exhausts(const struct pipeline *pipeline) { return pipeline->backend && strcmp(pipeline->backend, "exhaustive") == 0; }

static const char *check(struct run *r, const struct kr_analysis *analysis, const struct pipeline *pipeline)
{
	struct kr_check_options options = {.level = r->level, .order = r->order, .checker = pipeline->checker};
	struct kr_verdict verdict;
	struct kr_err err;
	const char *bad = NULL;
	enum kr_outcome expected = r->truth == ORACLE_SATISFIED ? KR_SATISFIED : KR_VIOLATED;

	if (!pipeline->checker && !pipeline->plain) {
		options.passes = pipeline->passes;
		options.backend = pipeline->backend;
	}
	kr_err_init(&err);
	int64_t deadline = kr_ctx_limit(&r->ctx, exhausts(pipeline) ? 10 : 1, 0);
	enum kr_status status = kr_check(&r->ctx, r->h, analysis, &options, &verdict, &err);
	enum kr_status stopped = r->ctx.stopped;
	kr_ctx_resume(&r->ctx, deadline, &stopped, NULL);
	r->p->checks++;
	if (status == KR_UNSUPPORTED)
		snprintf(r->p->unsupported_why, sizeof r->p->unsupported_why, "%.199s", err.text), r->p->unsupported++;
	else if (status)
		bad = differs(r, pipeline, "kr_check fails", err.text[0] ? err.text : kr_status_text(status));
	else if (verdict.outcome == KR_UNDECIDED && pipeline->backend && pipeline != &r->pipelines[0] &&
		(strstr(verdict.reason, "only for levels") || strstr(verdict.reason, "too many choices for exhaustive search") ||
			(exhausts(pipeline) && strstr(verdict.reason, "time limit")))) /* a back end that is not for this */
		snprintf(r->p->unsupported_why, sizeof r->p->unsupported_why, "%.199s", verdict.reason), r->p->unsupported++;
	else if (verdict.outcome == KR_UNDECIDED && (analysis->left_out[0] || strstr(verdict.reason, "is not decided") || strstr(verdict.reason, "cannot be verified"))) /* counted, and told at the end */
		snprintf(r->p->undecided_why, sizeof r->p->undecided_why, "%.199s", verdict.reason), r->p->undecided++;
	else if (verdict.outcome == KR_UNDECIDED)
		bad = differs(r, pipeline, "undecided", verdict.reason);
	else if (verdict.outcome != expected)
		bad = differs(r, pipeline, expected == KR_SATISFIED ? "violated, expected satisfied" : "satisfied, expected violated", NULL);
	else
		bad = try_certificate(r, pipeline, &verdict.certificate);
	if (!bad && !status)
		bad = try_reports(r, pipeline, analysis, &verdict);
	kr_verdict_done(&verdict, &r->ctx.mem);
	return bad;
}

static const char *check_all(struct run *r, const struct kr_analysis *analysis)
{
	uint32_t others = r->npipelines - (r->p->module ? r->npipelines : 1 + r->nmodules);
	uint32_t first = r->nmodules + (kr_history_untold(r->h) ? r->nbackends : 0); /* each has its own certificates, and there is more to verify */
	uint32_t one = others > 0 ? 1 + r->nmodules + (uint32_t)kr_rng_below(&r->rng, others) : 0;

	for (uint32_t i = 0; i < r->npipelines; i++) {
		const char *bad = r->p->thorough || i <= first || i == one ? check(r, analysis, &r->pipelines[i]) : NULL;
		if (bad)
			return bad;
	}
	return NULL;
}

const char *product_differs(struct product *p, const struct kr_history *h, enum kr_order order, enum oracle_answer truth)
{
	enum kr_order by_default;

	return product_differs_at(p, h, kr_level_find(NULL, "ser", &by_default), order, truth);
}

const char *product_differs_at(struct product *p, const struct kr_history *h, const struct kr_level *level, enum kr_order order, enum oracle_answer truth)
{
	struct run r = {.p = p, .h = h, .order = order, .truth = truth};
	struct kr_analysis analysis;
	struct kr_err err;

	kr_err_init(&err);
	kr_ctx_init(&r.ctx, 20, 0); /* nothing tiny takes that long */
	r.ctx.modules = p->modules;
	kr_rng_init(&r.rng, p->seed);
	r.level = level;
	list_pipelines(&r);

	enum kr_status status = kr_analyze(&r.ctx, h, &analysis, &err);

	if (status == KR_UNSUPPORTED) {
		p->unsupported++;
		snprintf(p->unsupported_why, sizeof p->unsupported_why, "%.199s", err.text);
		return NULL;
	}
	if (status)
		return differs(&r, NULL, "kr_analyze fails", err.text);
	const char *bad = check_all(&r, &analysis);
	kr_analysis_done(&analysis);
	if (!bad && r.ctx.mem.used != 0)
		bad = differs(&r, NULL, "memory is left over", NULL);
	if (!bad && truth == ORACLE_SATISFIED)
		p->satisfied++;
	if (!bad && truth == ORACLE_VIOLATED)
		p->violated++;
	return bad;
}
