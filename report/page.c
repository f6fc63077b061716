/* Pages: their frame, which that of `krait watch --http` has, too (live.c); and of `krait check --html` the
 * levels, and the elements that hold data (report/page.h says how they are kept apart from the program). The
 * policy in its head keeps a browser from loading anything. */
#include "report/page.h"

#include <string.h>
#include <zlib.h>

#define PACKED_FROM (128u << 10) /* bytes of data, from which on it is compressed */

/* Bytes as base64. */
static void add_base64(struct kr_str *out, const unsigned char *at, size_t n)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char four[4];

	for (size_t i = 0; i < n; i += 3) {
		unsigned b = i + 1 < n ? at[i + 1] : 0, c = i + 2 < n ? at[i + 2] : 0;
		unsigned all = (unsigned)at[i] << 16 | b << 8 | c;
		for (unsigned k = 0; k < 4; k++)
			four[k] = i + k > n ? '=' : digits[all >> (18 - 6 * k) & 63];
		kr_str_add_bytes(out, four, sizeof four);
	}
}

/* What browsers unpack by themselves (DecompressionStream). */
static void add_packed(struct kr_str *out, const char *kind, const struct kr_str *json)
{
	uLongf n = compressBound((uLong)json->n);
	size_t size = n;
	unsigned char *packed = kr_mem_alloc(out->mem, size, 1);

	if (!packed || compress2(packed, &n, (const Bytef *)json->at, (uLong)json->n, 9) != Z_OK) {
		out->failed = true;
	} else {
		kr_str_format(out, "<script type=\"application/octet-stream\" data-krait=\"%s\" data-packed>",
			kind);
		add_base64(out, packed, n);
		kr_str_add(out, "</script>\n");
	}
	kr_mem_free(out->mem, packed, size, 1);
}

void kr_page_instant(struct kr_str *out, const char *name, int64_t at)
{
	if (at == INT64_MIN || at == INT64_MAX)
		kr_str_format(out, ", \"%s\": null", name);
	else
		kr_str_format(out, ", \"%s\": \"%lld\"", name, (long long)at);
}

/* In JSON '<' stands inside strings only; escaped, no text can end the element or begin a comment. */
static void add_plain(struct kr_str *out, const char *kind, const struct kr_str *json)
{
	const char *at = kr_str_text(json), *end = at + json->n, *next;

	kr_str_format(out, "<script type=\"application/json\" data-krait=\"%s\">", kind);
	for (; (next = memchr(at, '<', (size_t)(end - at))) != NULL; at = next + 1) {
		kr_str_add_bytes(out, at, (size_t)(next - at));
		kr_str_add(out, "\\u003c");
	}
	kr_str_add_bytes(out, at, (size_t)(end - at));
	kr_str_add(out, "</script>\n");
}

void kr_page_data(struct kr_str *out, const char *kind, struct kr_str *json)
{
	if (json->n < PACKED_FROM || strcmp(kind, "cell") == 0) /* whose page does not unpack */
		add_plain(out, kind, json);
	else
		add_packed(out, kind, json);
	out->failed |= json->failed;
	kr_str_done(json);
}

/* The levels that `a` implies directly, each with the strongest order for which that holds. */
static void add_implied(const struct kr_modules *more, const struct kr_level *a, struct kr_str *out)
{
	const struct kr_level *b;
	const char *separator = "";

	kr_str_add(out, ", \"implies\": {");
	for (size_t i = 0; (b = kr_level_at(more, i)) != NULL; i++) {
		int order = kr_level_implies(a, b);
		if (order < 0)
			continue;
		kr_str_format(out, "%s\"%s\": \"%s\"", separator, b->id, kr_order_name((enum kr_order)order));
		separator = ", ";
	}
	kr_str_add(out, "}");
}

static void add_levels(const struct kr_modules *more, struct kr_str *out)
{
	const struct kr_level *level;
	struct kr_str json;

	kr_str_init(&json, out->mem);
	kr_str_add(&json, "[");
	for (size_t i = 0; (level = kr_level_at(more, i)) != NULL; i++) {
		kr_str_add(&json, i > 0 ? ",\n{" : "{");
		kr_str_member(&json, "id", level->id);
		kr_str_member(&json, "title", level->title);
		kr_str_member(&json, "definition", level->definition);
		kr_str_member(&json, "source", level->source);
		kr_str_format(&json, ", \"order\": \"%s\"", kr_order_name(level->default_order));
		add_implied(more, level, &json);
		kr_str_add(&json, "}");
	}
	kr_str_add(&json, "]");
	kr_page_data(out, "levels", &json);
}

void kr_page_open(const char *policy, const char *style, const char *without, struct kr_str *out)
{
	kr_str_add(out,
		"<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
		"'unsafe-inline'; script-src 'unsafe-inline'; img-src "
		"data:");
	kr_str_add(out, policy);
	kr_str_add(out,
		"\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta "
		"name=\"color-scheme\" content=\"light dark\">\n"
		"<meta name=\"generator\" content=\"krait " KR_VERSION
		"\">\n<link rel=\"icon\" href=\"data:,\">\n<title>krait</title>\n<style>\n");
	kr_str_add(out, kr_page_style);
	kr_str_add(out, style);
	kr_str_format(out,
		"</style>\n</head>\n<body>\n<noscript>This page is drawn by the program that it holds: "
		"please allow scripts. %s</noscript>\n",
		without);
	kr_str_add(out, "<div id=\"page\"></div>\n");
}

void kr_page_close(const char *program, struct kr_str *out)
{
	kr_str_add(out, "<script>\n\"use strict\";\n");
	kr_str_add(out, program);
	kr_str_add(out, "</script>\n</body>\n</html>\n");
}

void kr_report_page_begin(const struct kr_modules *more, struct kr_str *out)
{
	kr_page_open("", "", "The same verdicts as text: <code>krait check --explain</code>.", out);
	add_levels(more, out);
}

void kr_report_page_failed(const char *trace, const char *error, struct kr_str *out)
{
	struct kr_str json;

	kr_str_init(&json, out->mem);
	kr_str_add(&json, "{");
	kr_str_member_shown(&json, "trace", trace);
	kr_str_member(&json, "error", error);
	kr_str_add(&json, "}");
	kr_page_data(out, "failed", &json);
}

void kr_report_page_end(struct kr_str *out) { kr_page_close(kr_page_program, out); }
