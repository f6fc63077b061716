/* The live page is one document without data: all that it shows comes as messages, so that a browser that
 * connects again has everything at once. What comes from a stream is in JSON's strings, and reaches the page
 * as text, never as HTML. */
#include "report/live.h"
#include "report/page.h"

#include <string.h>

enum { SAYS_MOST = 4 << 10, EXPLANATION_MOST = 24 << 10, RATE_SECONDS = 5 };

void kr_report_live_page(struct kr_str *out)
{
	kr_page_open("; connect-src 'self'; base-uri 'none'; form-action 'none'", kr_live_style,
		"The same as text: <code>krait watch --explain</code>.", out);
	kr_page_close(kr_live_program, out);
}

/* ---- state ---- */

static void add_name(const char *name, const struct kr_history *h, kr_value value, struct kr_str *out)
{
	char brief[80];

	kr_str_member(out, name, kr_history_brief(h, value, brief, sizeof brief));
}

/* Who the watermark waits for, and which open transaction holds memory. */
static void add_waiting(const struct kr_live_state *s, struct kr_str *out)
{
	const struct kr_engine_state *e = &s->engine;

	if (e->holder.i != KR_NONE)
		add_name("holder", s->history, s->history->sessions.at[e->holder.i], out);
	if (!e->waits)
		return;
	add_name("oldest", s->history, e->txn, out);
	if (e->session.i != KR_NONE)
		add_name("oldest_session", s->history, s->history->sessions.at[e->session.i], out);
	kr_page_instant(out, "since", e->since);
}

/* How far the watermark is behind what was heard of. */
static void add_behind(const struct kr_engine_state *e, struct kr_str *out)
{
	bool known = e->watermark != INT64_MIN && e->watermark != INT64_MAX && e->newest > e->watermark;

	if (known)
		kr_str_format(out, ", \"behind\": \"%llu\"",
			(unsigned long long)e->newest - (unsigned long long)e->watermark);
}

/* A mean over the last seconds, without the present one where there are others. */
static double rate(const struct kr_live_state *s)
{
	uint32_t over = s->seconds - 1 < RATE_SECONDS ? s->seconds - 1 : RATE_SECONDS;
	double sum = 0;

	if (over == 0)
		return s->ended[0];
	for (uint32_t i = s->seconds - 1 - over; i < s->seconds - 1; i++)
		sum += s->ended[i];
	return sum / over;
}

static void add_findings(const struct kr_engine_state *e, struct kr_str *out)
{
	kr_str_add(out, ", \"findings\": {");
	for (int i = 0; i < KR_MECH_KINDS && (i != KR_MECH_SESSION || e->findings[i] > 0); i++)
		kr_str_format(out, "%s\"%s\": %llu", i > 0 ? ", " : "",
			kr_mechanism_name((enum kr_mechanism_kind)i), (unsigned long long)e->findings[i]);
	kr_str_add(out, "}");
}

void kr_report_live_state(const struct kr_live_state *s, struct kr_str *out)
{
	const struct kr_engine_state *e = &s->engine;

	kr_str_format(out, "{\"began\": %lld, ", (long long)s->began);
	kr_str_member_shown(out, "trace", strcmp(s->trace, "-") == 0 ? "standard input" : s->trace);
	if (s->profile)
		kr_str_member(out, "profile", s->profile->name);
	kr_str_format(out, ", \"elapsed\": %.3f, \"lines\": %u, \"txns\": %u, \"rate\": %.1f, \"ended\": [",
		s->elapsed, s->lines, e->txns, rate(s));
	for (uint32_t i = 0; i < s->seconds; i++)
		kr_str_format(out, "%s%u", i > 0 ? ", " : "", s->ended[i]);
	kr_str_add(out, "]");
	kr_page_instant(out, "watermark", e->watermark);
	kr_page_instant(out, "newest", e->newest);
	add_behind(e, out);
	if (s->history)
		add_waiting(s, out);
	kr_str_format(out, ", \"open\": %u, \"held\": %u, \"versions\": %u, \"locks\": %u, \"mib\": %llu",
		e->open, e->held, e->versions, e->locks, (unsigned long long)(s->bytes >> 20) + 1);
	if (s->limit != SIZE_MAX)
		kr_str_format(out, ", \"limit\": %llu", (unsigned long long)(s->limit >> 20));
	add_findings(e, out);
	kr_str_format(out, ", \"late\": %u, \"trusted\": %s", e->late,
		e->late == 0 || e->found_trusted ? "true" : "false");
	kr_page_instant(out, "trusted_until", e->trusted_until);
	kr_str_add(out, "}");
}

/* ---- findings and the end ---- */

/* A long text is cut at the end of a line, or of a character. */
static void add_cut(const char *name, struct kr_str *text, size_t most, struct kr_str *out)
{
	size_t n = text->n, line;

	if (n > most) {
		for (n = most; n > 0 && ((unsigned char)text->at[n] & 0xc0) == 0x80; n--)
			;
		for (line = n; line > 0 && text->at[line - 1] != '\n'; line--)
			;
		text->n = line > 0 ? line : n;
		text->at[text->n] = '\0';
		kr_str_add(text, "... (the rest is too long for this page: krait watch --explain)");
	}
	kr_str_member_made(out, name, text);
}

void kr_report_live_finding(const struct kr_finding_report *r, const struct kr_finding *f, uint64_t number,
	int64_t at, struct kr_str *out)
{
	char name[KR_ANOMALY_NAME_SIZE];
	struct kr_str says, explanation;

	kr_report_finding_class(r, f, name);
	kr_str_init(&says, out->mem);
	kr_str_init(&explanation, out->mem);
	kr_finding_says(r, f, &says);
	kr_report_finding_explain(r, f, &explanation);
	kr_str_format(out, "{\"number\": %llu, \"at\": %lld, \"line\": %u, ", (unsigned long long)number,
		(long long)at, kr_report_finding_line(r, f));
	kr_str_member(out, "mechanism", kr_mechanism_name(f->mechanism));
	kr_str_member(out, "class", name);
	add_cut("says", &says, SAYS_MOST, out);
	add_cut("explanation", &explanation, EXPLANATION_MOST, out);
	kr_str_add(out, "}");
}

void kr_report_live_end(const char *how, const char *why, struct kr_str *out)
{
	kr_str_add(out, "{");
	kr_str_member(out, "how", how);
	if (why)
		kr_str_member_shown(out, "why", why);
	kr_str_add(out, "}");
}
