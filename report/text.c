/* The line of a verdict, which scripts read: tabs between its parts, nothing else (docs/cli.md). */
#include "base/terms.h"
#include "report/report.h"

#define GREEN "\033[32m"
#define RED "\033[31m"
#define YELLOW "\033[33m"
#define PLAIN "\033[0m"
#define FAINT "\033[2m"

enum kr_outcome kr_report_outcome(const struct kr_report *r)
{
	return r->verdict ? r->verdict->outcome : KR_UNDECIDED;
}

const char *kr_report_reason(const struct kr_report *r)
{
	if (kr_report_outcome(r) != KR_UNDECIDED)
		return NULL;

	const char *reason = r->verdict ? r->verdict->reason : r->reason;

	return reason && reason[0] ? reason : "no reason was given";
}

const char *kr_report_verdict(enum kr_outcome outcome)
{
	static const char *const names[] =
		{[KR_SATISFIED] = "satisfied", [KR_VIOLATED] = "violated", [KR_UNDECIDED] = "unknown"};

	return names[outcome];
}

const char *kr_report_given(const struct kr_report *r)
{
	static const char *const texts[] = {[KR_GIVEN_NOT] = NULL,
		[KR_GIVEN_ONLY] = "under the given order",
		[KR_GIVEN_PERHAPS] = "perhaps under the given order only"};

	return r->verdict ? texts[r->verdict->given] : NULL;
}

void kr_report_line_head(const char *trace, const char *question, enum kr_outcome outcome, bool colour,
	struct kr_str *out)
{
	static const char *const colours[] =
		{[KR_SATISFIED] = GREEN, [KR_VIOLATED] = RED, [KR_UNDECIDED] = YELLOW};

	kr_str_shown(out, trace);
	kr_str_format(out, "\t%s\t%s%s%s", question, colour ? colours[outcome] : "",
		kr_report_verdict(outcome), colour ? PLAIN : "");
}

void kr_report_line(const struct kr_report *r, bool colour, struct kr_str *out)
{
	enum kr_outcome outcome = kr_report_outcome(r);

	kr_report_line_head(r->trace, r->level->id, outcome, colour, out);
	if (outcome == KR_VIOLATED) {
		char name[KR_ANOMALY_NAME_SIZE];
		kr_report_anomaly(r->history, &r->verdict->certificate, name);
		kr_str_format(out, "\t%s", name);
		if (kr_report_given(r))
			kr_str_format(out, "\t%s", kr_report_given(r));
	}
	if (colour) /* for people: what the id stands for */
		kr_str_format(out, "  " FAINT "%s [%s]" PLAIN, r->level->title, kr_order_words(r->order));
	kr_str_add(out, "\n");
}
