/* Parts of pages: that of `krait check --html`, and that of `krait watch --http` (live.c). Private to
 * report/.
 *
 * The page holds data and a program: each part of the data is JSON in a script element that a browser does
 * not run, report/page/ has the program that shows it. What comes from a trace is in the data alone, where no
 * text can end the element, and reaches the page as text, never as HTML. */
#ifndef KR_REPORT_PAGE_H
#define KR_REPORT_PAGE_H

#include "report/anomaly.h"

/* Made by the build from report/page/: texts, terminated. */
extern const char kr_page_style[], kr_page_program[], kr_live_style[], kr_live_program[],
	kr_provoked_style[], kr_provoked_program[];

/* A document up to its data, and from there on. `policy` and `style` are what this page has beside all
 * others, `without` what a reader without scripts is told. */
void kr_page_open(const char *policy, const char *style, const char *without, struct kr_str *out);
void kr_page_close(const char *program, struct kr_str *out);

/* Appends `json` (an own buffer, which it empties and frees) as a data element of this kind: "levels",
 * "trace", "operations", "verdict" or "failed". */
void kr_page_data(struct kr_str *out, const char *kind, struct kr_str *json);

/* , "NAME": "AT": a number would lose digits in a browser; null where it is not known. */
void kr_page_instant(struct kr_str *out, const char *name, int64_t at);

/* "argument": {...}, the cycles of a violation with what they rest on (page_argument.c). */
void kr_page_argument(const struct kr_report *r, const struct kr_argument *arg, struct kr_str *out);

#endif
