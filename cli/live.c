/* States are published when they are due, findings at once. A browser sees neither the engine nor its memory:
 * what it is given has been copied (http.h). */
#include "cli/live.h"

#include <string.h>
#include <time.h>

#include "base/ctx.h"
#include "cli/http.h"
#include "cli/output.h"

#define MILLISECOND INT64_C(1000000)
#define SECOND (1000 * MILLISECOND)

static const int64_t moment = 200 * MILLISECOND;

struct kr_live {
	struct kr_http *http;
	struct kr_mem *mem;
	struct kr_files *files;
	const char *trace;
	int64_t began, start, shown; /* began: milliseconds since 1970; the others on kr_now_ns's clock */
	uint64_t findings;
	uint32_t txns, seconds;          /* that ended, and `ended` counts */
	uint32_t ended[KR_LIVE_SECONDS]; /* in each of the last seconds, the present one last */
	uint64_t second;                 /* number of the present one */
};

static int64_t wall_ms(void)
{
	struct timespec now = {0};

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / MILLISECOND;
}

static void publish(struct kr_live *live, void (*how)(struct kr_http *http, const struct kr_str *json),
	struct kr_str *json)
{
	how(live->http, json);
	kr_str_done(json);
}

/* ---- beginning and end ---- */

static void say_stopped(void *data)
{
	struct kr_live *live = data;
	struct kr_mem mem; /* the other thread goes on with its own */
	struct kr_str json;

	kr_mem_init(&mem, SIZE_MAX);
	kr_str_init(&json, &mem);
	kr_report_live_end("stopped", NULL, &json);
	publish(live, kr_http_end, &json);
}

static enum kr_status start(struct kr_live *live, const struct kr_http_address *address, bool any,
	struct kr_err *err)
{
	struct kr_live_state none = {.engine = {.watermark = INT64_MIN,
					     .newest = INT64_MIN,
					     .trusted_until = INT64_MAX,
					     .holder = {KR_NONE}},
		.limit = SIZE_MAX};
	struct kr_str page;

	kr_str_init(&page, live->mem);
	kr_report_live_page(&page);
	kr_files_watch(live->files);
	enum kr_status status = kr_http_start(address, any, &page, &live->http, err);
	kr_str_done(&page);
	if (status)
		return status;
	kr_files_at_signal(live->files, say_stopped, live);
	kr_live_state(live, &none);
	return KR_OK;
}

static int refuse(const struct kr_err *err)
{
	return err->text[0] ? kr_usage("option '--http': %s", err->text)
			    : kr_fail("out of memory for the live page");
}

int kr_live_start(const struct kr_args *args, const char *trace, struct kr_live **out)
{
	const char *asked = kr_args_value(args, "http");
	bool any = kr_args_has(args, "http-any");
	struct kr_http_address address;
	struct kr_err err;

	*out = NULL;
	if (!asked)
		return any ? kr_usage("option '--http-any' goes with '--http'") : KR_EXIT_SATISFIED;
	kr_err_init(&err);
	if (kr_http_address_parse(asked, any, &address, &err))
		return refuse(&err);

	struct kr_live *live = kr_mem_alloc(args->mem, 1, sizeof *live);

	if (!live)
		return refuse(&err);
	*live = (struct kr_live){.mem = args->mem,
		.files = args->files,
		.trace = trace,
		.began = wall_ms(),
		.start = kr_now_ns(),
		.seconds = 1};
	if (start(live, &address, any, &err)) {
		kr_mem_free(args->mem, live, 1, sizeof *live);
		return refuse(&err);
	}
	kr_note("krait: the live page is %s", kr_http_url(live->http));
	*out = live;
	return KR_EXIT_SATISFIED;
}

void kr_live_end(struct kr_live *live, const char *how, const char *why)
{
	struct kr_str json;

	if (!live)
		return;
	kr_files_at_signal(live->files, NULL, NULL);
	kr_str_init(&json, live->mem);
	kr_report_live_end(how, why, &json);
	publish(live, kr_http_end, &json);
	kr_http_free(live->http);
	kr_mem_free(live->mem, live, 1, sizeof *live);
}

/* ---- while it runs ---- */

bool kr_live_due(const struct kr_live *live) { return live && kr_now_ns() - live->shown >= moment; }

/* Transactions that ended since the last time ended now. */
static void count(struct kr_live *live, uint32_t txns)
{
	uint64_t second = (uint64_t)(live->shown - live->start) / SECOND;
	uint32_t *last = &live->ended[KR_LIVE_SECONDS - 1];

	for (; live->second < second; live->second++) {
		memmove(live->ended, live->ended + 1, (KR_LIVE_SECONDS - 1) * sizeof *live->ended);
		*last = 0;
		live->seconds += live->seconds < KR_LIVE_SECONDS;
	}
	*last += txns - live->txns;
	live->txns = txns;
}

void kr_live_state(struct kr_live *live, struct kr_live_state *state)
{
	struct kr_str json;

	if (!live)
		return;
	live->shown = kr_now_ns();
	count(live, state->engine.txns);
	state->trace = live->trace;
	state->began = live->began;
	state->elapsed = (double)(live->shown - live->start) / (double)SECOND;
	state->ended = live->ended + KR_LIVE_SECONDS - live->seconds;
	state->seconds = live->seconds;
	kr_str_init(&json, live->mem);
	kr_report_live_state(state, &json);
	publish(live, kr_http_state, &json);
}

void kr_live_finding(struct kr_live *live, const struct kr_finding_report *r, const struct kr_finding *f)
{
	struct kr_str json;

	if (!live)
		return;
	kr_str_init(&json, live->mem);
	kr_report_live_finding(r, f, ++live->findings, wall_ms(), &json);
	publish(live, kr_http_keep, &json);
}
