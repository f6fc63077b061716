/* Writing pages. What fails is told when the file is closed. */
#include "cli/page_file.h"

#include <string.h>

#include "cli/output.h"

static void write_out(struct kr_file *file, struct kr_str *out)
{
	(void)kr_file_write(file, out);
	kr_str_done(out);
}

int kr_page_asked(const struct kr_args *args)
{
	const char *name = kr_args_value(args, "html");

	if (name && strcmp(name, "-") == 0)
		return kr_usage(
			"option '--html': found '-', expected a file: standard output has the verdicts");
	return KR_EXIT_SATISFIED;
}

void kr_page_frame(const struct kr_args *args, struct kr_file *file, bool begin)
{
	struct kr_str out;

	if (!file->file)
		return;
	kr_str_init(&out, args->mem);
	if (begin)
		kr_report_page_begin(args->modules, &out);
	else
		kr_report_page_end(&out);
	write_out(file, &out);
}

void kr_page_failed(const struct kr_args *args, struct kr_file *file, const char *trace,
	const struct kr_err *err)
{
	char line[sizeof err->file + sizeof err->text + 32];
	struct kr_str out;

	if (!file->file)
		return;
	kr_err_format(err, line, sizeof line);
	kr_str_init(&out, args->mem);
	kr_report_page_failed(trace, line, &out);
	write_out(file, &out);
}

void kr_findings_page_open(struct kr_findings_page *page, const struct kr_args *args)
{
	page->args = args;
	(void)kr_file_open(&page->file, args, kr_args_value(args, "html"));
	kr_page_frame(args, &page->file, true);
}

void kr_findings_page_begin(struct kr_findings_page *page, const char *trace,
	const struct kr_batch_options *options, const struct kr_history *h)
{
	struct kr_str out;

	if (!page->file.file)
		return;
	page->trace = trace;
	page->tally = (struct kr_page_tally){0};
	kr_str_init(&out, page->args->mem);
	kr_report_page_findings_begin(trace, options->profile, options->certify, h, &out);
	write_out(&page->file, &out);
}

void kr_findings_page_add(struct kr_findings_page *page, struct kr_ctx *ctx,
	const struct kr_finding_report *r, const struct kr_marks *marks)
{
	struct kr_str out;

	if (!page->file.file)
		return;
	kr_str_init(&out, page->args->mem);
	enum kr_status status = kr_report_page_findings(ctx, r, marks, &page->tally, &out);
	if (status)
		kr_report_page_failed(page->trace, kr_ctx_reason(ctx, status), &out);
	write_out(&page->file, &out);
}

void kr_findings_page_end(struct kr_findings_page *page, const char *looked)
{
	struct kr_str out;

	if (!page->file.file)
		return;
	kr_str_init(&out, page->args->mem);
	kr_report_page_findings_end(&page->tally, looked, &out);
	write_out(&page->file, &out);
}

bool kr_findings_page_close(struct kr_findings_page *page)
{
	if (page->file.file)
		kr_page_frame(page->args, &page->file, false);
	return kr_file_close(&page->file);
}
