/* The live page of `krait watch --http`: what is published of a stream, and when. Every function is safe on
 * NULL: no page was asked for. */
#ifndef KR_CLI_LIVE_H
#define KR_CLI_LIVE_H

#include "cli/file.h"
#include "report/live.h"

#define KR_OPTION_HTTP \
	{ \
		"http", 0, "ADDRESS:PORT", KR_WORDS_ANY, \
			"show what happens on a page for browsers on this machine" \
	}
#define KR_OPTION_HTTP_ANY \
	{ \
		"http-any", 0, NULL, KR_WORDS_ANY, "let others reach the page, too, and by any name" \
	}

struct kr_live; /* heap */

/* As --http asks, NULL where it does not. The address is told on standard error. KR_EXIT_USAGE after a
 * message. */
int kr_live_start(const struct kr_args *args, const char *trace, struct kr_live **out);

/* A state is worth publishing: none has been for a moment. */
bool kr_live_due(const struct kr_live *live);

/* Fills in what belongs to the run, and publishes. */
void kr_live_state(struct kr_live *live, struct kr_live_state *state);
void kr_live_finding(struct kr_live *live, const struct kr_finding_report *r, const struct kr_finding *f);

/* The last word (kr_report_live_end), which every browser is given before this returns; the page is closed,
 * and live freed. */
void kr_live_end(struct kr_live *live, const char *how, const char *why);

#endif
