/* Forms: reads EDN (https://github.com/edn-format/edn) and JSON text into flat trees, one top-level value, or
 * one element of a list, at a time.
 *
 * One loop with a stack of open brackets serves both languages. They differ in what separates: EDN's commas
 * are blanks, JSON's commas and colons stand where they must. Tags are dropped, `#_` discards. The text is in
 * memory whole, and strings are decoded in place, where they can only shrink. Nodes are reused from form to
 * form. UTF-8 is checked once for all the text. Cost: one pass. Not read: ratios (a big number), metadata. */
#include "frontend/foreign.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEPTH = 1000 };

enum kr_status kr_forms_bad(struct kr_forms *f, uint32_t line, const char *format, ...)
{
	char text[sizeof f->err->text];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof text, format, args);
	va_end(args);
	kr_err_set(f->err, KR_BAD, "%s", text);
	kr_err_at(f->err, f->path, line, 0);
	return KR_BAD;
}

/* ---- text ---- */

static enum kr_status check_text(struct kr_forms *f)
{
	uint32_t line = 1;

	for (size_t at = 0, n; at < f->length; at += n) {
		n = kr_utf8_length(f->text + at, f->length - at);
		if (n == 0)
			return kr_forms_bad(f, line, "not UTF-8, expected text");
		if (f->text[at] == '\0')
			return kr_forms_bad(f, line, "found a NUL byte, expected text");
		line += f->text[at] == '\n';
		if ((at & 0xfff) < n)
			KR_TRY(kr_ctx_tick(f->ctx));
	}
	return KR_OK;
}

static bool is_blank(const struct kr_forms *f, char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || (!f->json && (c == ',' || c == '\f'));
}

static void skip_blanks(struct kr_forms *f)
{
	for (; f->at < f->length; f->at++) {
		char c = f->text[f->at];
		if (c == ';' && !f->json) {
			const char *end = memchr(f->text + f->at, '\n', f->length - f->at);
			f->at = end ? (size_t)(end - f->text) : f->length;
			if (!end)
				return;
			c = '\n';
		}
		if (!is_blank(f, c))
			return;
		f->line += c == '\n';
	}
}

/* JSON if a quote follows the brackets that begin the text, or it holds no keyword; EDN keywords begin with a
 * colon after a blank or bracket. */
static bool looks_like_json(const char *text, size_t length)
{
	for (size_t at = 0; at < length; at++) {
		char c = text[at];
		if (c == ';' || c == ':' || c == '#' || c == '(')
			return false;
		if (!strchr("[]{} \t\r\n,-0123456789", c))
			return c == '"';
	}
	return true;
}

void kr_forms_begin(struct kr_forms *f, struct kr_ctx *ctx, struct kr_history *h, const char *path,
	struct kr_err *err)
{
	*f = (struct kr_forms){.ctx = ctx, .h = h, .err = err, .path = path, .line = 1};
	kr_str_init(&f->value, h->mem);
}

enum kr_status kr_forms_init(struct kr_forms *f, struct kr_ctx *ctx, struct kr_history *h, const char *path,
	struct kr_source *source, struct kr_err *err)
{
	kr_forms_begin(f, ctx, h, path, err);

	KR_TRY(kr_source_rest(source, &f->text, &f->length, err));
	f->json = looks_like_json(f->text, f->length);
	return check_text(f);
}

void kr_forms_done(struct kr_forms *f)
{
	kr_vec_done(f->h->mem, &f->nodes);
	kr_vec_done(f->h->mem, &f->frames);
	kr_vec_done(f->h->mem, &f->open);
	kr_str_done(&f->value);
}

/* ---- scalars ---- */

static bool ends_token(const struct kr_forms *f, size_t at)
{
	char c = at < f->length ? f->text[at] : ' ';

	return is_blank(f, c) || strchr("()[]{}\"", c) || (f->json ? c == ',' || c == ':' : c == ';');
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9'    ? c - '0'
		: c >= 'a' && c <= 'f' ? c - 'a' + 10
		: c >= 'A' && c <= 'F' ? c - 'A' + 10
				       : -1;
}

/* Four hexadecimal digits, or -1. */
static int32_t hex4(const struct kr_forms *f, size_t at)
{
	int32_t code = 0;

	for (size_t i = 0; i < 4; i++) {
		int digit = at + i < f->length ? hex_digit(f->text[at + i]) : -1;
		if (digit < 0)
			return -1;
		code = code * 16 + digit;
	}
	return code;
}

/* The escape at text[at] (behind the backslash): decodes it to *out; false if it is none. */
static bool read_escape(struct kr_forms *f, char **out)
{
	static const char names[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	const char *simple = f->at < f->length ? strchr(names, f->text[f->at]) : NULL;

	if (simple) {
		*(*out)++ = meant[simple - names];
		f->at++;
		return true;
	}
	if (f->at >= f->length || f->text[f->at] != 'u')
		return false;

	int32_t code = hex4(f, f->at + 1);

	f->at += 5;
	if (code >= 0xd800 && code < 0xdc00 && f->at + 1 < f->length && f->text[f->at] == '\\' &&
		f->text[f->at + 1] == 'u') {
		int32_t low = hex4(f, f->at + 2);
		if (low < 0xdc00 || low > 0xdfff)
			return false;
		code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
		f->at += 6;
	} else if (code < 0 || (code >= 0xd800 && code < 0xe000)) {
		return false;
	}
	*out += kr_utf8_put(*out, (uint32_t)code);
	return true;
}

static enum kr_status read_string(struct kr_forms *f, struct kr_form *node)
{
	uint32_t line = f->line;
	char *from = f->text + ++f->at, *out = from;

	while (f->at < f->length && f->text[f->at] != '"') {
		char c = f->text[f->at++];
		if (c == '\\') {
			if (!read_escape(f, &out))
				return kr_forms_bad(f, f->line,
					"found a backslash without an escape that is known, expected one in "
					"a string");
			continue;
		}
		if (f->json && (unsigned char)c < 0x20)
			return kr_forms_bad(f, f->line,
				"found a control character inside a string, expected an escape or the "
				"closing quote");
		f->line += c == '\n';
		*out++ = c;
	}
	if (f->at >= f->length)
		return kr_forms_bad(f, line, "the file ends inside the string that begins here");
	f->at++;
	if ((size_t)(out - from) >= KR_NONE)
		return KR_NOMEM;
	node->type = KR_FORM_STRING;
	node->text = from;
	node->length = (uint32_t)(out - from);
	return KR_OK;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Whether text[0..n) is a number of the language; *real: with a fraction or an exponent. */
static bool is_number(const struct kr_forms *f, const char *text, size_t n, bool *real)
{
	size_t at = n > 0 && (text[0] == '-' || (text[0] == '+' && !f->json)), from = at;

	*real = false;
	while (at < n && is_digit(text[at]))
		at++;
	if (at == from || (text[from] == '0' && at - from > 1))
		return false;
	if (at < n && text[at] == '.') {
		*real = true;
		from = ++at;
		while (at < n && is_digit(text[at]))
			at++;
		if (at == from && f->json)
			return false;
	}
	if (at < n && (text[at] == 'e' || text[at] == 'E')) {
		*real = true;
		at++;
		at += at < n && (text[at] == '-' || text[at] == '+');
		for (from = at; at < n && is_digit(text[at]);)
			at++;
		if (at == from)
			return false;
	}
	return at == n;
}

/* A number, or false. EDN's suffixes N and M are dropped. */
static bool read_number(struct kr_forms *f, struct kr_form *node)
{
	const char *text = node->text;
	size_t n = node->length;
	char digits[64];
	bool real;

	if (!f->json && n > 1 && (text[n - 1] == 'N' || text[n - 1] == 'M') && is_digit(text[n - 2]))
		n--;
	node->type = KR_FORM_BIG;
	if (!is_number(f, text, n, &real)) /* a ratio, or digits that are no number */
		return !f->json && memchr(text, '/', n) != NULL;
	if (!real) {
		const char *at = text + (text[0] == '+');
		int64_t integer;
		if (kr_foreign_int(&at, true, &integer)) {
			node->type = KR_FORM_INT;
			node->integer = integer;
		}
		return true;
	}
	if (n >= sizeof digits)
		return true;
	memcpy(digits, text, n);
	digits[n] = '\0';

	double value = strtod(digits, NULL);

	if (value - value == 0) { /* finite */
		node->type = KR_FORM_REAL;
		node->real = value;
	}
	return true;
}

static bool equals(const char *text, size_t length, const char *word)
{
	return strlen(word) == length && memcmp(text, word, length) == 0;
}

static enum kr_status read_token(struct kr_forms *f, struct kr_form *node)
{
	size_t from = f->at;

	f->at += f->text[f->at] == '\\'; /* a character may be a bracket */
	f->at += f->at < f->length;
	while (!ends_token(f, f->at))
		f->at++;
	node->text = f->text + from;
	if (f->at - from >= KR_NONE)
		return KR_NOMEM;
	node->length = (uint32_t)(f->at - from);
	node->type = KR_FORM_NAME;
	if (equals(node->text, node->length, f->json ? "null" : "nil"))
		node->type = KR_FORM_NIL;
	else if (equals(node->text, node->length, "true"))
		node->type = KR_FORM_TRUE;
	else if (equals(node->text, node->length, "false"))
		node->type = KR_FORM_FALSE;
	if (node->type != KR_FORM_NAME)
		return KR_OK;
	bool number = is_digit(node->text[0]) ||
		(node->length > 1 && strchr("+-", node->text[0]) && is_digit(node->text[1]));
	if (number ? read_number(f, node) : !f->json && !strchr("^`~@", node->text[0])) {
		if (!number && (node->text[0] == ':' || node->text[0] == '\\')) {
			node->text++;
			node->length--;
		}
		return KR_OK;
	}
	return kr_forms_bad(f, f->line, "found %.*s, expected a value",
		(int)(node->length < 40 ? node->length : 40), node->text);
}

/* ---- structure ---- */

static struct kr_form_frame *top_frame(struct kr_forms *f)
{
	return f->frames.n ? &f->frames.at[f->frames.n - 1] : NULL;
}

static enum kr_status open_bracket(struct kr_forms *f, uint32_t node, char c, bool set)
{
	struct kr_form_frame frame = {.node = node,
		.line = f->line,
		.close = c == '['  ? ']'
			: c == '(' ? ')'
				   : '}',
		.set = set};

	if (f->frames.n >= MOST_DEPTH)
		return kr_forms_bad(f, f->line, "brackets are nested more than %d deep", MOST_DEPTH);
	f->at++;
	return kr_vec_add(f->h->mem, &f->frames, frame);
}

/* A value is complete: it counts in its list, or is discarded. */
static void close_value(struct kr_forms *f)
{
	struct kr_form_frame *top = top_frame(f);

	if (!top)
		return;
	if (top->close == '_') {
		f->nodes.n = top->node;
		f->frames.n--;
		return;
	}
	top->count++;
	top->separator = false;
}

static bool is_map(const struct kr_forms *f, const struct kr_form_frame *frame)
{
	return frame->close == '}' &&
		(frame->node == KR_NONE || f->nodes.at[frame->node].type == KR_FORM_MAP);
}

static enum kr_status close_bracket(struct kr_forms *f, char c)
{
	struct kr_form_frame *top = top_frame(f);

	if (!top)
		return kr_forms_bad(f, f->line, "found %c, expected no closing bracket: none is open", c);
	if (top->close == '_')
		return kr_forms_bad(f, f->line, "found %c, expected a form that #_ discards", c);
	if (top->close != c)
		return kr_forms_bad(f, f->line, "found %c, expected %c for the bracket of line %u", c,
			top->close, (unsigned)top->line);
	if (f->json && top->separator)
		return kr_forms_bad(f, f->line, "found %c after a separator, expected a value", c);
	if (is_map(f, top) && top->count % 2)
		return kr_forms_bad(f, f->line, "the map of line %u has a key without a value",
			(unsigned)top->line);
	f->at++;
	if (top->node != KR_NONE)
		f->nodes.at[top->node].end = f->nodes.n;
	if (top->set && kr_form_sort(f->h->mem, f->nodes.at, top->node) != KR_OK)
		return KR_NOMEM;
	f->frames.n--;
	close_value(f);
	return KR_OK;
}

static enum kr_status json_separator(struct kr_forms *f, char c)
{
	struct kr_form_frame *top = top_frame(f);
	bool odd = top && top->close == '}' && top->count % 2;

	if (!top || top->separator || top->count == 0 || odd != (c == ':'))
		return kr_forms_bad(f, f->line, "found '%c', expected a value%s", c,
			top ? "" : " or the end");
	top->separator = true;
	f->at++;
	return KR_OK;
}

/* Whether a value may begin here. */
static enum kr_status check_place(struct kr_forms *f, char c)
{
	const struct kr_form_frame *top = top_frame(f);

	if (!f->json || !top)
		return KR_OK;
	if (top->count > 0 && !top->separator)
		return kr_forms_bad(f, f->line, "expected '%c' before the next value",
			top->close == '}' && top->count % 2 ? ':' : ',');
	if (top->close == '}' && top->count % 2 == 0 && c != '"')
		return kr_forms_bad(f, f->line, "expected a string that names a field");
	return KR_OK;
}

/* EDN's dispatch: #{ set, #_ discard, #tag, #"text", ##Inf. What is left to read stands at f->at. */
static enum kr_status read_dispatch(struct kr_forms *f, bool *set)
{
	char next = f->at + 1 < f->length ? f->text[f->at + 1] : ' ';

	*set = next == '{';
	f->at++;
	if (next == '{' || next == '"')
		return KR_OK;
	if (next == '_') {
		if (f->frames.n >= MOST_DEPTH)
			return kr_forms_bad(f, f->line, "forms are nested more than %d deep", MOST_DEPTH);
		f->at++;
		return kr_vec_add(f->h->mem, &f->frames,
			(struct kr_form_frame){.node = f->nodes.n, .line = f->line, .close = '_'});
	}
	if (next == '#' || ends_token(f, f->at))
		return kr_forms_bad(f, f->line, "found #%c, expected a tag, a set or #_", next);
	while (!ends_token(f, f->at))
		f->at++;
	return KR_OK;
}

/* Reads one token: a scalar, or a bracket. */
static enum kr_status read_piece(struct kr_forms *f)
{
	struct kr_form node = {.line = f->line};
	bool set = false;
	char c = f->text[f->at];
	enum kr_status status;

	if (c == ']' || c == '}' || c == ')')
		return close_bracket(f, c);
	if (f->json && (c == ',' || c == ':'))
		return json_separator(f, c);
	KR_TRY(check_place(f, c));
	if (c == '#' && !f->json) {
		if ((status = read_dispatch(f, &set)) || !(set || f->text[f->at] == '"'))
			return status;
		c = f->text[f->at];
	}
	if (c == '[' || c == '{' || (c == '(' && !f->json)) {
		node.type = c == '{' && !set ? KR_FORM_MAP : KR_FORM_LIST;
		return kr_vec_push(f->h->mem, &f->nodes, node) ? open_bracket(f, f->nodes.n - 1, c, set)
							       : KR_NOMEM;
	}
	KR_TRY(c == '"' ? read_string(f, &node) : read_token(f, &node));
	node.end = f->nodes.n + 1;
	KR_TRY(kr_vec_add(f->h->mem, &f->nodes, node));
	close_value(f);
	return KR_OK;
}

static enum kr_status check_end(struct kr_forms *f)
{
	const struct kr_form_frame *top = top_frame(f);

	if (!top)
		return KR_OK;
	return kr_forms_bad(f, f->line, "the file ends inside what begins at line %u", (unsigned)top->line);
}

enum kr_status kr_forms_next(struct kr_forms *f, bool *found)
{
	uint32_t base = f->frames.n;

	if (f->next)
		return f->next(f, found);
	f->nodes.n = 0;
	*found = false;
	for (;;) {
		skip_blanks(f);
		if (f->at >= f->length)
			return check_end(f);
		KR_TRY(read_piece(f));
		KR_TRY(kr_ctx_tick(f->ctx));
		if (f->frames.n < base)
			return KR_OK;
		if (f->frames.n == base && f->nodes.n > 0) {
			*found = true;
			return KR_OK;
		}
	}
}

enum kr_status kr_forms_enter(struct kr_forms *f, char *bracket)
{
	*bracket = 0;
	skip_blanks(f);
	while (f->json && f->at < f->length && (f->text[f->at] == ',' || f->text[f->at] == ':')) {
		KR_TRY(json_separator(f, f->text[f->at]));
		skip_blanks(f);
	}
	if (f->at >= f->length || !strchr(f->json ? "[{" : "[{(", f->text[f->at]))
		return KR_OK;
	KR_TRY(check_place(f, f->text[f->at]));
	*bracket = f->text[f->at];
	return open_bracket(f, KR_NONE, *bracket, false);
}
