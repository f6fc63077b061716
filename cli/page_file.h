/* Pages that are written: `--html` of check and watch. */
#ifndef KR_CLI_PAGE_FILE_H
#define KR_CLI_PAGE_FILE_H

#include "cli/file.h"
#include "report/page_findings.h"

#define KR_OPTION_HTML(title) {"html", 0, "FILE", KR_WORDS_WRITTEN, title}

/* KR_EXIT_USAGE after a message: standard output is no place for a page. */
int kr_page_asked(const struct kr_args *args);

/* The page's beginning or end, if it was asked for. */
void kr_page_frame(const struct kr_args *args, struct kr_file *file, bool begin);
/* That a trace could not be used. */
void kr_page_failed(const struct kr_args *args, struct kr_file *file, const char *trace,
	const struct kr_err *err);

/* Of findings. All do nothing when no page was asked for. */
struct kr_findings_page {
	const struct kr_args *args;
	struct kr_file file;
	const char *trace;
	struct kr_page_tally tally; /* of the trace */
};
void kr_findings_page_open(struct kr_findings_page *page, const struct kr_args *args);
void kr_findings_page_begin(struct kr_findings_page *page, const char *trace,
	const struct kr_batch_options *options, const struct kr_history *h);
/* What keeps findings from it (a limit) stands there. */
void kr_findings_page_add(struct kr_findings_page *page, struct kr_ctx *ctx,
	const struct kr_finding_report *r, const struct kr_marks *marks);
void kr_findings_page_end(struct kr_findings_page *page, const char *looked);
bool kr_findings_page_close(struct kr_findings_page *page); /* false: something of it failed */

#endif
