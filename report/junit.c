/* JUnit's XML: a suite for each trace, a test case for each level. A violation is a failure with its
 * explanation. Undecided is an error, as is a trace that cannot be used: neither may pass for a success.
 * Notes are what a case printed. Characters that XML 1.0 does not have become replacement characters. */
#include <string.h>

#include "report/document.h"

void kr_document_init(struct kr_document *doc, struct kr_mem *mem)
{
	*doc = (struct kr_document){0};
	kr_str_init(&doc->kept, mem);
}

void kr_document_done(struct kr_document *doc) { kr_str_done(&doc->kept); }

/* Text of an element or of an attribute in double quotes. */
static void add_text(struct kr_str *out, const char *text)
{
	for (size_t left = strlen(text), length; left > 0; text += length, left -= length) {
		length = kr_utf8_length(text, left);
		if (*text == '&')
			kr_str_add(out, "&amp;");
		else if (*text == '<')
			kr_str_add(out, "&lt;");
		else if (*text == '>')
			kr_str_add(out, "&gt;");
		else if (*text == '"')
			kr_str_add(out, "&quot;");
		else if (length == 0 ||
			(length == 1 && (unsigned char)*text < ' ' && *text != '\n' && *text != '\t') ||
			(length == 3 &&
				(memcmp(text, "\xef\xbf\xbe", 3) == 0 ||
					memcmp(text, "\xef\xbf\xbf", 3) == 0)))
			kr_str_add(out, "\xef\xbf\xbd");
		else
			kr_str_add_bytes(out, text, length);
		length += length == 0;
	}
}

static void add_attribute(struct kr_str *out, const char *name, const char *text)
{
	kr_str_format(out, " %s=\"", name);
	add_text(out, text);
	kr_str_add(out, "\"");
}

static void add_made(struct kr_str *out, const char *name, struct kr_str *text)
{
	if (name)
		add_attribute(out, name, kr_str_text(text));
	else
		add_text(out, kr_str_text(text));
	out->failed |= text->failed;
	kr_str_done(text);
}

/* A file name in an attribute. */
static void add_path(struct kr_str *out, const char *name, const char *path)
{
	struct kr_str text;

	kr_str_init(&text, out->mem);
	kr_str_shown(&text, path);
	add_made(out, name, &text);
}

static void begin(const struct kr_question *asked, uint32_t n, struct kr_str *out)
{
	(void)asked, (void)n;
	kr_str_add(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"krait\">\n");
}

static void begin_case(struct kr_document *doc, const char *trace, const struct kr_level *level,
	enum kr_order order, double seconds)
{
	kr_str_add(&doc->kept, "    <testcase");
	add_path(&doc->kept, "classname", trace);
	kr_str_format(&doc->kept, " name=\"%s%s%s\" time=\"%.6f\"", level ? level->id : "trace",
		level ? ", order " : "", level ? kr_order_name(order) : "", seconds);
	doc->cases++;
	doc->seconds += seconds;
}

static void add_failure(struct kr_document *doc, const struct kr_report *r)
{
	char name[KR_ANOMALY_NAME_SIZE];
	struct kr_str text;

	doc->failures++;
	kr_report_anomaly(r->history, &r->verdict->certificate, name);
	kr_str_add(&doc->kept, "      <failure");
	add_attribute(&doc->kept, "type", name);
	kr_str_init(&text, doc->kept.mem);
	kr_report_sentence(r, &text);
	add_made(&doc->kept, "message", &text);
	kr_str_add(&doc->kept, ">");
	kr_str_init(&text, doc->kept.mem);
	kr_report_explain(r, &text);
	add_made(&doc->kept, NULL, &text);
	kr_str_add(&doc->kept, "</failure>\n");
}

static void add_error(struct kr_document *doc, const char *type, const char *message)
{
	doc->errors++;
	kr_str_format(&doc->kept, "      <error type=\"%s\"", type);
	add_attribute(&doc->kept, "message", message);
	kr_str_add(&doc->kept, "/>\n");
}

/* The schema wants them behind what failed. */
static void add_notes(struct kr_document *doc, const struct kr_notes *notes)
{
	for (uint32_t i = 0; notes && i < notes->at.n; i++) {
		kr_str_add(&doc->kept, i > 0 ? "\n" : "      <system-out>");
		kr_str_add(&doc->kept, "note: ");
		add_text(&doc->kept, kr_str_text(&notes->at.at[i]));
	}
	kr_str_add(&doc->kept, notes && notes->at.n > 0 ? "</system-out>\n" : "");
}

static void verdict(struct kr_document *doc, const struct kr_report *r, struct kr_str *out)
{
	(void)out;
	begin_case(doc, r->trace, r->level, r->order, r->seconds);
	if (kr_report_outcome(r) == KR_SATISFIED && (!r->notes || r->notes->at.n == 0)) {
		kr_str_add(&doc->kept, "/>\n");
		return;
	}
	kr_str_add(&doc->kept, ">\n");
	if (kr_report_outcome(r) == KR_VIOLATED)
		add_failure(doc, r);
	else if (kr_report_outcome(r) == KR_UNDECIDED)
		add_error(doc, "undecided", kr_report_reason(r));
	add_notes(doc, r->notes);
	kr_str_add(&doc->kept, "    </testcase>\n");
}

static void failed(struct kr_document *doc, const char *trace, const struct kr_level *level,
	enum kr_order order, const char *error)
{
	begin_case(doc, trace, level, order, 0);
	kr_str_add(&doc->kept, ">\n");
	add_error(doc, "no verdict", error);
	kr_str_add(&doc->kept, "    </testcase>\n");
}

static void trace_done(struct kr_document *doc, const char *trace, const struct kr_notes *notes,
	struct kr_str *out)
{
	struct kr_mem *mem = doc->kept.mem;

	(void)notes; /* each case has them */
	kr_str_add(out, "  <testsuite");
	add_path(out, "name", trace);
	kr_str_format(out, " tests=\"%u\" failures=\"%u\" errors=\"%u\" skipped=\"0\" time=\"%.6f\">\n",
		doc->cases, doc->failures, doc->errors, doc->seconds);
	kr_str_add_bytes(out, kr_str_text(&doc->kept), doc->kept.n);
	kr_str_add(out, "  </testsuite>\n");
	out->failed |= doc->kept.failed;
	kr_document_done(doc);
	kr_document_init(doc, mem);
}

static void end(struct kr_document *doc, struct kr_str *out)
{
	(void)doc;
	kr_str_add(out, "</testsuites>\n");
}

const struct kr_document_format kr_document_junit = {"junit", begin, verdict, failed, trace_done, end};
