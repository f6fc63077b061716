/* What a violation is called among the anomalies of schedules (docs/schedules.md). Private to report/. */
#ifndef KR_REPORT_COO_H
#define KR_REPORT_COO_H

#include "coo/pops.h"
#include "report/report.h"

enum { KR_COO_NUMBERS = 34 };

struct kr_coo_named {
	bool may[KR_COO_NUMBERS]; /* the numbers that it can have, by the times that the trace has */
	uint32_t count;           /* of them; 0: it has no name */
	uint8_t number;           /* if there is one */
	enum kr_coo_class class;
	enum kr_coo_size size;
	/* times leave no doubt of what was still open; else a pair is taken for one of what had ended */
	bool certain;
};

/* The member "coo": {...} of a verdict, with `before` in front; nothing if it has no name. */
void kr_coo_json(const struct kr_report *r, const char *before, struct kr_str *out);
/* A line; nothing unless there is one number. */
void kr_coo_explain(const struct kr_report *r, struct kr_str *out);

#endif
