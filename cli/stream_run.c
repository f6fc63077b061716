/* One stream from its first line to its last, and what is printed of it. */
#include "cli/stream_run.h"

#include <string.h>

#include "cli/output.h"
#include "cli/trace.h"
#include "frontend/source.h"
#include "mechanisms/stream.h"
#include "report/finding.h"
#include "report/report.h"

enum { PROGRESS_LINES = 100000, QUIET_MS = 1000 };

struct running {
	const struct kr_stream_options *o;
	const char *path;
	struct kr_ctx ctx;
	struct kr_engine *engine;
	struct kr_stream *stream;
	struct kr_source *source;
	struct kr_batch_options batch; /* profile NULL: not known yet */
	int exit;                      /* that of a usage error, or KR_EXIT_SATISFIED */
	uint32_t lines;
};

/* ---- what is told ---- */

static enum kr_status print(struct kr_str *out) { return kr_print_done(out) ? KR_OK : KR_CANCELED; }

/* Its first members; a comma comes before what follows. */
static void begin_event(const struct running *r, const char *name, struct kr_str *out)
{
	kr_str_add(out, "{");
	kr_str_member(out, "event", name);
	if (r->o->names_trace)
		kr_str_member(out, "trace", r->path);
}

static void add_session(const struct kr_history *h, const char *name, kr_session session, struct kr_str *out)
{
	kr_str_member_name(out, name);
	if (session.i == KR_NONE)
		kr_str_add(out, "null");
	else
		kr_history_json_value(h, h->sessions.at[session.i], out);
}

static void add_text(const struct kr_finding_report *report, const struct kr_finding *f, const char *path,
	struct kr_str *out)
{
	char name[KR_ANOMALY_NAME_SIZE];

	kr_report_finding_class(report, f, name);
	kr_str_shown(out, path);
	kr_str_format(out, ": %s %s: ", kr_mechanism_name(f->mechanism), name);
	kr_finding_says(report, f, out);
	kr_str_add(out, "\n");
}

static enum kr_status tell_findings(void *data, const struct kr_history *window, const struct kr_marks *marks,
	const struct kr_findings *findings)
{
	struct running *r = data;
	struct kr_finding_report report = {r->o->names_trace ? r->path : NULL, window, r->batch.profile,
		r->batch.certify, findings};
	struct kr_str out;

	kr_str_init(&out, r->o->args->mem);
	for (uint32_t i = 0; i < findings->list.n; i++) {
		kr_live_finding(r->o->live, &report, &findings->list.at[i]);
		if (r->o->json) {
			kr_report_finding_json(&report, &findings->list.at[i], &out);
			kr_str_add(&out, "\n");
			continue;
		}
		add_text(&report, &findings->list.at[i], r->path, &out);
		if (r->o->explain)
			kr_report_finding_explain(&report, &findings->list.at[i], &out);
	}
	enum kr_status status = print(&out);
	kr_findings_page_add(r->o->page, &r->ctx, &report, marks);
	return status;
}

static enum kr_status tell_late(void *data, const struct kr_history *h, kr_session session, uint32_t line,
	int64_t invoked, int64_t watermark)
{
	struct running *r = data;
	char name[80];
	struct kr_str out;

	kr_str_init(&out, r->o->args->mem);
	if (r->o->json) {
		begin_event(r, "late", &out);
		add_session(h, "session", session, &out);
		kr_str_format(&out, ", \"line\": %u, \"invoked\": %lld, \"watermark\": %lld}\n", line,
			(long long)invoked, (long long)watermark);
	} else {
		kr_str_shown(&out, r->path);
		kr_str_format(&out, ":%u: late: session %s %s %lld, before the watermark %lld\n", line,
			session.i == KR_NONE
				? "(none)"
				: kr_history_brief(h, h->sessions.at[session.i], name, sizeof name),
			r->batch.profile->clock == KR_CLOCK_STAMPS ? "tells of" : "sent this at",
			(long long)invoked, (long long)watermark);
	}
	return print(&out);
}

static enum kr_status tell_order(void *data, const struct kr_history *window, kr_key key, kr_txn before,
	kr_txn after)
{
	struct running *r = data;
	struct kr_str out;

	kr_str_init(&out, r->o->args->mem);
	kr_str_add(&out, "{\"version_order\": ");
	kr_history_json_value(window, window->keys.at[key.i].name, &out);
	kr_str_add(&out, ", \"writers\": [");
	kr_history_json_value(window, window->txns.at[before.i].id, &out);
	kr_str_add(&out, ", ");
	kr_history_json_value(window, window->txns.at[after.i].id, &out);
	kr_str_add(&out, "]}\n");
	kr_file_put(r->o->told, &out);
	return KR_OK;
}

static enum kr_status tell_dispatch(void *data, const struct kr_history *h, kr_session session,
	int64_t invoked)
{
	struct running *r = data;
	struct kr_str out;

	kr_str_init(&out, r->o->args->mem);
	kr_str_add(&out, "{\"event\": \"dispatch\"");
	add_session(h, "session", session, &out);
	kr_str_format(&out, ", \"invoked\": %lld}\n", (long long)invoked);
	return print(&out);
}

static uint64_t total(const struct kr_engine_state *s)
{
	uint64_t n = 0;

	for (int i = 0; i < KR_MECH_KINDS; i++)
		n += s->findings[i];
	return n;
}

static void add_oldest(const struct kr_history *h, const struct kr_engine_state *s, struct kr_str *out)
{
	kr_str_add(out, "{");
	add_session(h, "session", s->session, out);
	kr_history_json_member(h, "txn", s->txn, out);
	kr_str_format(out, ", \"since\": %lld}", (long long)s->since);
}

static enum kr_status tell_progress(struct running *r)
{
	struct kr_history *h = kr_stream_history(r->stream);
	struct kr_engine_state s = kr_engine_look(r->engine);
	struct kr_str out;

	if (!r->o->json)
		return KR_OK;
	kr_str_init(&out, r->o->args->mem);
	begin_event(r, "progress", &out);
	kr_str_member_name(&out, "watermark");
	kr_report_instant(s.watermark, &out);
	add_session(h, "holder", s.holder, &out);
	kr_str_member_name(&out, "newest");
	kr_report_instant(s.newest, &out);
	kr_str_format(&out, ", \"lines\": %u, \"txns\": %u, \"open\": %u, \"oldest\": ", r->lines, s.txns,
		s.open);
	if (s.waits)
		add_oldest(h, &s, &out);
	else
		kr_str_add(&out, "null");
	kr_str_format(&out,
		", \"held\": %u, \"versions\": %u, \"locks\": %u, \"findings\": %llu, \"mib\": %llu}\n",
		s.held, s.versions, s.locks, (unsigned long long)total(&s),
		(unsigned long long)((r->ctx.mem.used >> 20) + 1));
	return print(&out);
}

/* The same for the live page. */
static void show(struct running *r)
{
	struct kr_live_state state = {.profile = r->batch.profile,
		.history = kr_stream_history(r->stream),
		.engine = kr_engine_look(r->engine),
		.lines = r->lines,
		.bytes = r->ctx.mem.used,
		.limit = r->ctx.mem.limit};

	kr_live_state(r->o->live, &state);
}

static enum kr_status tell_end(struct running *r, const struct kr_engine_state *s)
{
	struct kr_str out;

	kr_str_init(&out, r->o->args->mem);
	if (r->o->json) {
		begin_event(r, "end", &out);
		kr_str_format(&out, ", \"txns\": %u, \"findings\": {", s->txns);
		bool stamps = r->batch.profile->clock == KR_CLOCK_STAMPS;
		for (int i = 0; i < KR_MECH_KINDS && (i != KR_MECH_SESSION || stamps || s->findings[i] > 0);
			i++)
			kr_str_format(&out, "%s\"%s\": %llu", i > 0 ? ", " : "",
				kr_mechanism_name((enum kr_mechanism_kind)i),
				(unsigned long long)s->findings[i]);
		kr_str_format(&out, "}, \"late\": %u, \"trusted_until\": ", s->late);
		kr_report_instant(s->trusted_until, &out);
		kr_str_add(&out, "}\n");
	} else {
		kr_report_line_head(r->path, r->batch.profile->name,
			total(s) > 0 ? KR_VIOLATED : KR_UNDECIDED, false, &out);
		kr_str_format(&out, "\t%u transaction%s, %llu finding%s", s->txns, s->txns == 1 ? "" : "s",
			(unsigned long long)total(s), total(s) == 1 ? "" : "s");
		if (s->late > 0)
			kr_str_format(&out, ", %u late, trusted until %lld", s->late,
				(long long)s->trusted_until);
		kr_str_add(&out, "\n");
	}
	return print(&out);
}

/* ---- the engine ---- */

/* The profile that was asked for, or the one that the header names. */
static enum kr_status start(struct running *r, struct kr_err *err)
{
	struct kr_engine_options options = {
		.sink = {r, tell_findings, tell_late, r->o->told->path ? tell_order : NULL,
			r->o->dispatch ? tell_dispatch : NULL},
		.lateness = (int64_t)r->o->lateness,
		.stale = (int64_t)r->o->stale,
	};

	r->exit = kr_profile_for(r->o->args, r->o->asked, kr_stream_history(r->stream), "stream",
		"a stream is held to a profile", &r->batch);
	if (r->exit != KR_EXIT_SATISFIED)
		return KR_CANCELED;
	options.batch = r->batch;
	bool stamps = r->batch.profile->clock == KR_CLOCK_STAMPS;
	options.unbounded =
		stamps ? !kr_args_has(r->o->args, "lateness") : !kr_stream_history(r->stream)->stream;
	if (stamps && (r->o->dispatch || r->o->stale > 0)) {
		r->exit = kr_usage("option '--%s' is about when clients sent what; profile %s goes by "
				   "timestamps",
			r->o->dispatch ? "trace-dispatch" : "stale", r->batch.profile->name);
		return KR_CANCELED;
	}
	enum kr_status status = kr_engine_new(&r->ctx, &options, &r->engine, err);
	if (!status) {
		kr_engine_attach(r->engine, r->stream);
		kr_findings_page_begin(r->o->page, r->path, &r->batch, kr_stream_history(r->stream));
	}
	return status;
}

static enum kr_status take(void *data, const struct kr_event *event, struct kr_err *err)
{
	struct running *r = data;
	KR_TRY(r->engine ? KR_OK : start(r, err));

	return kr_engine_take(r->engine, event, err);
}

/* Whether nothing has come for a while. What is certain by then is told, once. */
static bool is_quiet(struct running *r, bool *idle, enum kr_status *status, struct kr_err *err)
{
	if (!r->o->waits || !r->engine || !r->source)
		return false;
	if (r->o->live && kr_source_quiet(r->source, 0))
		show(r);
	if (!kr_source_quiet(r->source, QUIET_MS))
		return *idle = false;
	if (!*idle)
		*status = kr_engine_idle(r->engine, err);
	return *idle = true;
}

static enum kr_status read_all(struct running *r, struct kr_err *err)
{
	bool more = true, idle = false;
	enum kr_status status = KR_OK;

	while (!status && more) {
		if (is_quiet(r, &idle, &status, err))
			continue;
		status = kr_stream_next(r->stream, r->source, &more, err);
		r->lines += more;
		if (!status && more && r->engine && r->lines % PROGRESS_LINES == 0)
			status = tell_progress(r);
		if (r->engine && kr_live_due(r->o->live))
			show(r);
	}
	if (!status && !r->engine)
		status = start(r, err);
	return status ? status : kr_engine_end(r->engine, err);
}

/* The last word on the live page. */
static void show_end(struct running *r, enum kr_status status, struct kr_err *err)
{
	char why[sizeof err->file + sizeof err->text + 32];

	kr_err_format(err, why, sizeof why);
	if (r->engine)
		show(r);
	kr_live_end(r->o->live, status || r->exit != KR_EXIT_SATISFIED ? "failed" : "ended",
		why[0] ? why : NULL);
}

static void end_page(struct running *r, const struct kr_engine_state *s)
{
	struct kr_str looked;

	if (!r->engine)
		return;
	kr_str_init(&looked, r->o->args->mem);
	kr_str_format(&looked, "%u transactions", s->txns);
	if (s->late > 0)
		kr_str_format(&looked, ", %u late, trusted until %lld", s->late, (long long)s->trusted_until);
	kr_findings_page_end(r->o->page, kr_str_text(&looked));
	kr_str_done(&looked);
}

static int finish(struct running *r, enum kr_status status, struct kr_err *err)
{
	struct kr_engine_state state = {0};

	if (r->exit != KR_EXIT_SATISFIED)
		return r->exit;
	if (r->engine)
		state = kr_engine_look(r->engine);
	if (!status)
		status = tell_end(r, &state);
	if (kr_print_failed())
		return KR_EXIT_FAILED;
	end_page(r, &state);
	if (status) {
		int exit = kr_fail_on(&r->ctx, r->path, status, err);
		kr_page_failed(r->o->args, &r->o->page->file, r->path, err);
		return exit;
	}
	if (state.late > 0)
		return state.found_trusted ? KR_EXIT_VIOLATED : KR_EXIT_UNDECIDED;
	return total(&state) > 0 ? KR_EXIT_VIOLATED : KR_EXIT_SATISFIED;
}

int kr_stream_run(const struct kr_stream_options *options, const char *path)
{
	struct running r = {.o = options, .path = path, .exit = KR_EXIT_SATISFIED};
	struct kr_sink sink = {&r, take};
	struct kr_err err;

	kr_err_init(&err);
	kr_ctx_init(&r.ctx, options->seconds, options->mebibytes);
	r.ctx.modules = options->args->modules;
	enum kr_status status = options->format
		? kr_stream_whole(&r.ctx, path, options->format, &sink, &r.stream, &err)
		: kr_source_open(&r.ctx, path, &r.source, &err);
	if (!status && !options->format)
		status = kr_stream_new(&r.ctx, path, &sink, &r.stream);
	if (!status)
		status = read_all(&r, &err);
	int exit = finish(&r, status, &err);
	if (r.o->live)
		show_end(&r, status, &err);
	kr_engine_free(r.engine);
	kr_stream_free(r.stream);
	kr_source_free(r.source);
	return exit;
}

/* The native format is read line by line. */
static bool take_format(const struct kr_args *args, const char **out)
{
	const char *asked = kr_args_value(args, "format");
	const struct kr_format *format;
	struct kr_err err;

	kr_err_init(&err);
	if (kr_format_named(args->modules, asked, &format, &err) != KR_OK)
		return kr_refuse("%s", err.text);
	*out = format && strcmp(format->name, "native") != 0 ? format->name : NULL;
	return true;
}

bool kr_stream_options(const struct kr_args *args, const struct kr_profile_option *asked,
	struct kr_file *told, struct kr_findings_page *page, struct kr_stream_options *out)
{
	*out = (struct kr_stream_options){.args = args,
		.asked = asked,
		.told = told,
		.page = page,
		.json = kr_args_has(args, "json"),
		.explain = kr_args_has(args, "explain"),
		.dispatch = kr_args_has(args, "trace-dispatch")};
	return take_format(args, &out->format) &&
		kr_args_integer(args, "lateness", INT64_MAX, &out->lateness) &&
		kr_args_integer(args, "stale", INT64_MAX, &out->stale) &&
		kr_args_integer(args, "memory", SIZE_MAX >> 20, &out->mebibytes) &&
		kr_args_double(args, "timeout", &out->seconds);
}
