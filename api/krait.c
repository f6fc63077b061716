/* The public C API on the checkers and reports. A history owns its limits' context and is analyzed once, when it is read; a verdict owns its texts, which are made when it
 * is, so that asking for them cannot fail. */
#include "krait/krait.h"

#include <string.h>
#include <sys/resource.h>

#include "checkers/check.h"
#include "frontend/format.h"
#include "report/report.h"

struct krait_history {
	struct kr_mem self; /* accounts for this block and the path, outside of the limit */
	struct kr_ctx ctx;
	struct kr_history history;
	struct kr_analysis analysis;
	double read_seconds;
	char *path;
};

struct krait_verdict {
	struct kr_mem mem; /* of this block and the texts; without a limit, so that they can be made after one was hit */
	const struct kr_level *level;
	enum kr_order order;
	enum kr_outcome outcome;
	double seconds;
	char anomaly[KR_ANOMALY_NAME_SIZE];
	char reason[160];
	struct kr_str explanation, json, witness;
};

const char *krait_version(void) { return KR_VERSION; }

static double seconds_since(int64_t start) { return (double)(kr_now_ns() - start) * 1e-9; }

/* ---- errors ---- */

static enum krait_status public_status(enum kr_status status)
{
	switch (status) {
	case KR_OK: return KRAIT_OK;
	case KR_NOMEM: return KRAIT_NO_MEMORY;
	case KR_TIMEOUT:
	case KR_CANCELED: return KRAIT_TIME_LIMIT;
	case KR_BAD: return KRAIT_BAD;
	case KR_UNSUPPORTED: return KRAIT_UNSUPPORTED;
	case KR_INTERNAL: break;
	}
	return KRAIT_INTERNAL;
}

/* Gives the error out; one without text gets that of its status. */
static enum krait_status fail(struct kr_err *err, enum kr_status status, struct krait_error *out)
{
	kr_err_set(err, status, "%s", kr_status_text(status));
	if (out && out->status == KRAIT_OK) {
		*out = (struct krait_error){.status = public_status(status), .line = err->line, .column = err->column};
		memcpy(out->file, err->file, sizeof out->file);
		memcpy(out->text, err->text, sizeof out->text);
	}
	return public_status(status);
}

static enum krait_status fail_text(enum kr_status status, const char *what, const char *text, struct krait_error *out)
{
	struct kr_err err;

	kr_err_init(&err);
	kr_err_set(&err, status, "%s '%s'", what, text);
	return fail(&err, status, out);
}

/* ---- histories ---- */

static enum kr_status read_and_analyze(krait_history *h, const char *path, const char *format, struct kr_err *err)
{
	struct kr_read_options options = {.format = format};
	int64_t start = kr_now_ns();
	enum kr_status status = kr_read_trace(&h->ctx, path, &options, &h->history, err);

	if (status != KR_OK)
		return status;
	status = kr_analyze(&h->ctx, &h->history, &h->analysis, err);
	if (status != KR_OK)
		kr_history_done(&h->history);
	h->read_seconds = seconds_since(start);
	return status;
}

/* Frees the block alone. */
static void drop(krait_history *h)
{
	struct kr_mem self = h->self;

	if (h->path)
		kr_mem_free(&self, h->path, strlen(h->path) + 1, 1);
	kr_mem_free(&self, h, 1, sizeof *h);
}

static krait_history *new_history(const char *path, const struct krait_limits *limits)
{
	struct kr_mem self;
	size_t size = strlen(path) + 1;

	kr_mem_init(&self, SIZE_MAX);

	krait_history *h = kr_mem_alloc(&self, 1, sizeof *h);

	if (!h)
		return NULL;
	h->path = kr_mem_alloc(&self, size, 1);
	h->self = self;
	if (!h->path) {
		drop(h);
		return NULL;
	}
	memcpy(h->path, path, size);
	kr_ctx_init(&h->ctx, limits ? limits->seconds : 0, limits ? limits->mebibytes : 0);
	return h;
}

enum krait_status krait_history_read(const char *path, const char *format, const struct krait_limits *limits, krait_history **out, struct krait_error *error)
{
	struct kr_err err;

	kr_err_init(&err);
	if (format && !kr_format_find(NULL, format))
		return fail_text(KR_BAD, "unknown format", format, error);

	krait_history *h = new_history(path, limits);

	if (!h)
		return fail(&err, KR_NOMEM, error);

	enum kr_status status = read_and_analyze(h, path, format, &err);

	if (status != KR_OK) {
		drop(h);
		return fail(&err, status, error);
	}
	*out = h;
	return KRAIT_OK;
}

void krait_history_free(krait_history *history)
{
	if (!history)
		return;
	kr_analysis_done(&history->analysis);
	kr_history_done(&history->history);
	drop(history);
}

uint32_t krait_history_transactions(const krait_history *history) { return history->history.txns.n; }
uint32_t krait_history_operations(const krait_history *history) { return history->history.ops.n; }

/* ---- checking ---- */

static uint64_t peak_mib(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_SELF, &usage) == 0 ? ((uint64_t)usage.ru_maxrss + 1023) / 1024 : 0;
}

/* Makes every text of the verdict. */
static enum kr_status write_texts(krait_verdict *v, const krait_history *h, const struct kr_verdict *found)
{
	struct kr_report r = {
		.trace = h->path,
		.level = found->level,
		.order = found->order,
		.checker = found->checker,
		.history = &h->history,
		.analysis = &h->analysis,
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
	if (found->outcome != KR_UNDECIDED)
		kr_witness_print(&h->history, &head, &found->certificate, &v->witness);
	return v->explanation.failed || v->json.failed || v->witness.failed ? KR_NOMEM : KR_OK;
}

static enum kr_status check(krait_verdict *v, krait_history *h, const struct krait_limits *limits, struct kr_err *err)
{
	struct kr_check_options options = {.level = v->level, .order = v->order};
	struct kr_verdict found;
	struct kr_ctx time;

	kr_ctx_init(&time, limits ? limits->seconds : 0, 0);
	h->ctx.deadline_ns = time.deadline_ns;
	h->ctx.stopped = KR_OK;

	enum kr_status status = kr_check(&h->ctx, &h->history, &h->analysis, &options, &found, err);

	if (status == KR_OK) {
		v->outcome = found.outcome;
		v->seconds = found.seconds;
		status = write_texts(v, h, &found);
	}
	kr_verdict_done(&found, &h->ctx.mem);
	return status;
}

enum krait_status krait_check(krait_history *history, const char *level, const char *order, const struct krait_limits *limits, krait_verdict **out,
	struct krait_error *error)
{
	struct kr_mem mem;
	struct kr_err err;

	kr_err_init(&err);
	kr_mem_init(&mem, SIZE_MAX);

	krait_verdict *v = kr_mem_alloc(&mem, 1, sizeof *v);

	if (!v)
		return fail(&err, KR_NOMEM, error);
	v->mem = mem;
	kr_str_init(&v->explanation, &v->mem);
	kr_str_init(&v->json, &v->mem);
	kr_str_init(&v->witness, &v->mem);
	v->level = kr_level_find(history->ctx.modules, level, &v->order);
	if (!v->level || (order && !kr_order_parse(order, &v->order))) {
		bool unknown_level = !v->level;
		krait_verdict_free(v);
		return fail_text(KR_BAD, unknown_level ? "unknown level" : "unknown order", unknown_level ? level : order, error);
	}

	enum kr_status status = check(v, history, limits, &err);

	if (status != KR_OK) {
		krait_verdict_free(v);
		return fail(&err, status, error);
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

	struct kr_mem mem = verdict->mem;

	kr_mem_free(&mem, verdict, 1, sizeof *verdict);
}

enum krait_outcome krait_verdict_outcome(const krait_verdict *verdict)
{
	switch (verdict->outcome) {
	case KR_SATISFIED: return KRAIT_SATISFIED;
	case KR_VIOLATED: return KRAIT_VIOLATED;
	case KR_UNDECIDED: break;
	}
	return KRAIT_UNDECIDED;
}

const char *krait_verdict_level(const krait_verdict *verdict) { return verdict->level->id; }
const char *krait_verdict_order(const krait_verdict *verdict) { return kr_order_name(verdict->order); }
const char *krait_verdict_anomaly(const krait_verdict *verdict) { return verdict->outcome == KR_VIOLATED ? verdict->anomaly : NULL; }
const char *krait_verdict_reason(const krait_verdict *verdict) { return verdict->outcome == KR_UNDECIDED ? verdict->reason : NULL; }
const char *krait_verdict_explanation(const krait_verdict *verdict) { return kr_str_text(&verdict->explanation); }
const char *krait_verdict_json(const krait_verdict *verdict) { return kr_str_text(&verdict->json); }
const char *krait_verdict_witness(const krait_verdict *verdict) { return verdict->outcome == KR_UNDECIDED ? NULL : kr_str_text(&verdict->witness); }
double krait_verdict_seconds(const krait_verdict *verdict) { return verdict->seconds; }
