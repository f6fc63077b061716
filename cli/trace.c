/* Reading a trace under its limits, with a line of progress. Every trace has a context of its own, so that
 * limits hold for each and memory is given back between traces. */
#include "cli/trace.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/resident.h"
#include "cli/crash.h"
#include "cli/output.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define KR_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define KR_SANITIZER 1
#endif
#endif

#define SECOND INT64_C(1000000000)
#define JOBS_MOST 4096
#define NAME_SHOWN 40 /* bytes of a path */
#define NAME_MOST (6 * NAME_SHOWN + 1)
#define SLACK_MIB \
	256 /* addresses are not memory: the heap, stacks and the threads' heaps have more of them */

/* The limit proper is in base/mem.h. What a library takes at one blow between two looks at the process is
 * stopped by the system, with enough room above that it never stops anything else. Allocations then fail,
 * which everything here expects. Not with sanitizers, which map terabytes. */
static void limit_process(uint64_t mebibytes)
{
#ifndef KR_SANITIZER
	FILE *file = fopen("/proc/self/statm", "r");
	unsigned long long pages = 0;
	struct rlimit limit;
	bool known = file && fscanf(file, "%*u %*u %*u %*u %*u %llu", &pages) == 1; /* data and stack */

	if (file)
		fclose(file);
	if (!known || mebibytes > UINT32_MAX || getrlimit(RLIMIT_DATA, &limit) != 0)
		return;

	rlim_t soft = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + ((rlim_t)(mebibytes + SLACK_MIB) << 20);

	if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur <= soft)
		return;
	limit.rlim_cur = limit.rlim_max != RLIM_INFINITY && limit.rlim_max < soft ? limit.rlim_max : soft;
	(void)setrlimit(RLIMIT_DATA, &limit); /* a backstop: going on without it is right */
#else
	(void)mebibytes;
#endif
}

/* Sanitizers have memory of their own, which is not the program's. */
static size_t resident(void)
{
#ifndef KR_SANITIZER
	return kr_resident();
#else
	return 0;
#endif
}

/* All is done by one thread, so that the number says nothing. */
static bool check_jobs(const struct kr_args *args)
{
	uint64_t jobs = 1;

	return kr_args_integer(args, "jobs", JOBS_MOST, &jobs) &&
		(jobs > 0 || kr_refuse("option '--jobs': found '0', expected at least 1"));
}

bool kr_trace_options(const struct kr_args *args, struct kr_trace_options *out)
{
	const struct kr_format *format;
	struct kr_err err;

	*out = (struct kr_trace_options){.modules = args->modules,
		.decides = args->command->decides,
		.read = {.format = kr_args_value(args, "format"),
			.lenient = kr_args_has(args, "lenient"),
			.initial = kr_args_value(args, "initial")}};
	out->log = kr_args_has(args, "stats");
	out->quiet = kr_args_has(args, "quiet") || kr_args_has(args, "json");
	if (!kr_args_integer(args, "require-committed", UINT32_MAX, &out->committed) ||
		!kr_args_double(args, "timeout", &out->seconds) ||
		!kr_args_integer(args, "memory", SIZE_MAX >> 20, &out->mebibytes) || !check_jobs(args))
		return false;
	if (kr_args_has(args, "memory") && out->mebibytes == 0)
		return kr_refuse("option '--memory': found '0', expected at least 1 MiB");
	kr_err_init(&err);
	if (kr_format_named(args->modules, out->read.format, &format, &err) != KR_OK)
		return kr_refuse("%s", err.text);
	if (out->mebibytes > 0) {
		limit_process(out->mebibytes);
		out->resident = resident();
	}
	return true;
}

/* ---- progress ---- */

/* The end of a path, since that tells traces apart, for people. */
static const char *shown_name(const char *path, char out[NAME_MOST])
{
	size_t length = strlen(path), used = 0, step;
	char escape[8];

	path += length > NAME_SHOWN ? length - NAME_SHOWN : 0;
	while (((unsigned char)*path & 0xc0) == 0x80)
		path++; /* no half character */
	out[0] = '\0';
	for (; *path; path += step) {
		step = kr_char_shown(path, strlen(path), escape);
		used += (size_t)snprintf(out + used, NAME_MOST - used, "%.*s", escape[0] ? 8 : (int)step,
			escape[0] ? escape : path);
	}
	return out;
}

/* "12", "3.4k", "56M" */
static void add_amount(char *out, size_t size, double n)
{
	static const char suffixes[] = " kMGT";
	size_t power = 0;

	while (n >= 999.5 && power + 2 < sizeof suffixes) {
		n /= 1000;
		power++;
	}
	(void)snprintf(out, size, power > 0 && n < 9.95 ? "%.1f%.*s" : "%.0f%.*s", n, power > 0,
		suffixes + power);
}

void kr_progress_text(struct kr_progress *p, const char *phase, uint64_t done, uint64_t total, int64_t now,
	char out[KR_PROGRESS_TEXT])
{
	char rate[16], left[48] = "", amount[16] = "", part[48] = "", name[NAME_MOST];

	if (!p->phase || strcmp(p->phase, phase) != 0 || done < p->done) {
		p->phase = phase;
		p->phase_start = now;
		p->phase_done = done;
	}
	p->done = done;

	if (p->part && p->part->name)
		(void)snprintf(part, sizeof part, "%s %u of %u: ", p->part->name, p->part->at, p->part->of);

	double spent = (double)(now - p->phase_start) / (double)SECOND,
	       per_second = spent > 0 ? (double)(done - p->phase_done) / spent : 0;

	add_amount(rate, sizeof rate, per_second);
	if (done > 0)
		add_amount(amount, sizeof amount, (double)done);
	if (total > 0 && done <= total && per_second > 0)
		(void)snprintf(left, sizeof left, ", %s/s, %.0f s left", rate,
			(double)(total - done) / per_second);
	else if (per_second > 0)
		(void)snprintf(left, sizeof left, ", %s/s", rate);
	if (total > 0)
		(void)snprintf(out, KR_PROGRESS_TEXT, "%s: %s%s %d%%%s, %d s", shown_name(p->trace, name),
			part, phase, (int)(100.0 * (double)done / (double)total), left,
			(int)((now - p->start) / SECOND));
	else
		(void)snprintf(out, KR_PROGRESS_TEXT, "%s: %s%s%s%s%s, %d s", shown_name(p->trace, name),
			part, phase, amount[0] ? " " : "", amount, left, (int)((now - p->start) / SECOND));
}

static void show_progress(void *data, const char *phase, uint64_t done, uint64_t total)
{
	struct kr_progress *p = data;
	int64_t now = kr_now_ns();
	char text[KR_PROGRESS_TEXT];

	kr_progress_text(p, phase, done, total, now, text);
	if (now - p->start < SECOND)
		return;
	p->shown = true;
	fprintf(stderr, "\r\033[K%s", text);
}

void kr_trace_clear(struct kr_trace *t)
{
	if (t->progress.shown)
		fputs("\r\033[K", stderr);
	t->progress.shown = false;
}

/* What a module says. */
static void log_line(void *data, const char *text)
{
	struct kr_trace *t = data;

	kr_trace_clear(t);
	kr_note("%s: %s", t->path, text);
}

/* ---- reading ---- */

static bool goes_by_timestamps(const struct kr_trace *t, const struct kr_trace_options *options)
{
	const struct kr_profile *profile = options->profile;

	if (!profile && options->held && t->history.profile)
		profile = kr_profile_find(t->history.profile);
	return profile && profile->clock == KR_CLOCK_STAMPS;
}

/* krait-lab's slots lie beside what it has not completed. */
static bool is_being_recorded(const char *path)
{
	char folder[PATH_MAX];

	return snprintf(folder, sizeof folder, "%s.live", path) < (int)sizeof folder &&
		access(folder, F_OK) == 0;
}

static enum kr_status note(struct kr_trace *t, const struct kr_trace_options *options)
{
	if (is_being_recorded(t->path))
		kr_notes_add(&t->notes,
			"its recording goes on, or was killed and waits for 'krait-lab recover'");
	kr_notes_of_reading(&t->notes, &t->history);
	if (options->decides)
		kr_notes_of_deciding(&t->notes, &t->history, goes_by_timestamps(t, options));
	for (uint32_t i = 0; i < t->notes.at.n && !options->quiet && !options->tells; i++)
		kr_note("%s: note: %s", t->path, kr_str_text(&t->notes.at.at[i]));
	return t->notes.failed ? KR_NOMEM : KR_OK;
}

enum kr_status kr_trace_read(struct kr_trace *t, const char *path, const struct kr_trace_options *options,
	struct kr_err *err)
{
	int64_t start = kr_now_ns();

	*t = (struct kr_trace){.path = path, .start = start};
	kr_ctx_init(&t->ctx, options->seconds, (size_t)options->mebibytes);
	kr_notes_init(&t->notes, &t->ctx.mem);
	t->progress = (struct kr_progress){.trace = path, .start = start, .part = &t->ctx.part};
	kr_mem_count_process(&t->ctx.mem, options->resident);
	t->ctx.modules = options->modules;
	t->ctx.progress = kr_terminal(stderr, options->quiet) ? show_progress : NULL;
	t->ctx.progress_data = &t->progress;
	t->ctx.calling = kr_crash_calling;
	t->ctx.log = options->log ? log_line : NULL;
	t->ctx.log_data = t;

	enum kr_status status = kr_read_trace(&t->ctx, path, &options->read, &t->history, err);

	t->has_history = status == KR_OK;
	t->read_seconds = (double)(kr_now_ns() - start) * 1e-9;
	kr_trace_clear(t);
	return status ? status : note(t, options);
}

enum kr_status kr_trace_analyze(struct kr_trace *t, struct kr_err *err)
{
	int64_t start = kr_now_ns();
	enum kr_status status = kr_analyze(&t->ctx, &t->history, &t->analysis, err);

	t->has_analysis = status == KR_OK;
	t->analyze_seconds = (double)(kr_now_ns() - start) * 1e-9;
	kr_trace_clear(t);
	return status;
}

void kr_trace_done(struct kr_trace *t)
{
	kr_trace_clear(t);
	kr_notes_done(&t->notes);
	if (t->has_analysis)
		kr_analysis_done(&t->analysis);
	if (t->has_history)
		kr_history_done(&t->history);
	t->has_history = t->has_analysis = false;
}

void kr_trace_require(const struct kr_trace *t, const struct kr_trace_options *options,
	struct kr_decision *decisions, uint32_t n)
{
	if (options->committed == 0)
		return;

	uint32_t aborted, unknown, committed = kr_notes_committed(&t->history, &aborted, &unknown);

	for (uint32_t i = 0; i < n && committed < options->committed; i++) {
		struct kr_verdict *v = &decisions[i].verdict;
		if (decisions[i].status != KR_OK || v->outcome != KR_SATISFIED)
			continue;
		v->outcome = KR_UNDECIDED;
		v->proof_of = NULL;
		(void)snprintf(v->reason, sizeof v->reason,
			"%u transaction%s committed, fewer than the %llu of --require-committed",
			(unsigned)committed, committed == 1 ? "" : "s",
			(unsigned long long)options->committed);
	}
}

uint64_t kr_peak_mib(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage) != 0)
		return 0;
	return ((uint64_t)usage.ru_maxrss + 1023) / 1024; /* Linux counts in KiB */
}

int kr_trace_fail(struct kr_trace *t, enum kr_status status, struct kr_err *err)
{
	return kr_fail_on(&t->ctx, t->path, status, err);
}

int kr_fail_on(struct kr_ctx *ctx, const char *path, enum kr_status status, struct kr_err *err)
{
	kr_err_set(err, status, "%s", kr_ctx_reason(ctx, status));
	kr_err_at(err, path, 0, 0);

	int exit = kr_fail_err(err);

	return kr_is_limit(status) ? KR_EXIT_UNDECIDED : exit;
}

static int print_trace(const struct kr_args *args, const char *path, const struct kr_trace_options *options,
	kr_trace_maker *make)
{
	struct kr_trace t;
	struct kr_err err;
	struct kr_str out;
	int exit = KR_EXIT_SATISFIED;

	kr_err_init(&err);

	enum kr_status status = kr_trace_read(&t, path, options, &err);

	kr_str_init(&out, &t.ctx.mem); /* it may be much: it counts against the trace's limit */
	if (status == KR_OK)
		status = make(&t, args, &out, &err);
	if (status != KR_OK) {
		exit = kr_trace_fail(&t, status, &err);
	} else if (!kr_print(&out)) {
		exit = KR_EXIT_FAILED;
	}
	kr_str_done(&out);
	kr_trace_done(&t);
	return exit;
}

int kr_print_traces(const struct kr_args *args, bool tells, kr_trace_maker *make)
{
	struct kr_trace_options options;
	int exit = KR_EXIT_SATISFIED;

	if (!kr_trace_options(args, &options))
		return KR_EXIT_USAGE;
	options.tells = tells;
	for (uint32_t i = 0; i < args->operands.n && !kr_print_failed(); i++)
		exit = kr_exit_worst(exit, print_trace(args, args->operands.at[i], &options, make));
	return exit;
}
