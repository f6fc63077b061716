/* The live page of `krait watch --http`, and the messages that it shows: JSON, one object on one line
 * each. */
#ifndef KR_REPORT_LIVE_H
#define KR_REPORT_LIVE_H

#include "mechanisms/stream.h"
#include "report/finding.h"

void kr_report_live_page(struct kr_str *out);

enum { KR_LIVE_SECONDS = 60 };

struct kr_live_state { /* all borrowed */
	const char *trace;                /* as the user named it */
	const struct kr_profile *profile; /* NULL: not known yet */
	const struct kr_history *history; /* of the stream; NULL: nothing was read */
	struct kr_engine_state engine;
	int64_t began;                    /* of the run, milliseconds since 1970 */
	double elapsed;                   /* seconds of the run */
	/* transactions in each of the last `seconds` seconds, the present one last */
	const uint32_t *ended;
	uint32_t seconds, lines;
	size_t bytes, limit;              /* of memory; limit SIZE_MAX: none */
};

/* Times are texts, since a browser's numbers cannot hold all of them. */
void kr_report_live_state(const struct kr_live_state *s, struct kr_str *out);

/* `number`: among all findings, from 1 on; `at`: when it was found, milliseconds since 1970. */
void kr_report_live_finding(const struct kr_finding_report *r, const struct kr_finding *f, uint64_t number,
	int64_t at, struct kr_str *out);

/* `how`: "ended", "failed" or "stopped"; `why`: in words, or NULL. */
void kr_report_live_end(const char *how, const char *why, struct kr_str *out);

#endif
