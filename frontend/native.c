/* The native trace format: JSON Lines, or one JSON document for small traces (docs/formats/native.md).
 *
 * Lines are parsed one at a time by jansson (with several jobs: a few batches ahead, by threads) and turned into the history's arrays in order, so that memory follows the history. The first
 * line that is not blank decides the form: an object with "txns", or no complete JSON value, begins a document; anything else is JSON Lines.
 * A document is parsed as a whole; a scan over its brackets and strings finds the lines where its transactions begin, for messages and reports.
 * jansson's own memory is not in the account: its hooks are global state. A long line is refused before it is parsed if an estimate of that memory is beyond the limit; where the hooks
 * are installed, parsing ends at the limit itself. Cost: about that of jansson. The rest of the reader: native_*.c. */
#include "frontend/native.h"
#include "frontend/native_ahead.h"

#include <string.h>

#define WORTH_AHEAD (1 << 18) /* bytes of a file from which on threads pay */
#define LONG_BYTES (1 << 17)  /* of a line that memory is looked at for */
#define BYTES_PER_BYTE 8      /* jansson's memory for a byte of JSON: 4 for long strings, 20 for short numbers */

static bool is_blank(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (text[i] != ' ' && text[i] != '\t' && text[i] != '\r' && text[i] != '\n')
			return false;
	return true;
}

/* ---- telling the format ---- */

static bool contains(const char *text, size_t length, const char *part)
{
	size_t n = strlen(part);

	for (; length >= n; text++, length--)
		if (memcmp(text, part, n) == 0)
			return true;
	return false;
}

static bool ends_in(const char *path, const char *end)
{
	size_t length = strlen(path), n = strlen(end);

	return length >= n && strcmp(path + length - n, end) == 0;
}

static int sniff(const char *path, const char *head, size_t length)
{
	size_t at = 0;

	while (at < length && is_blank(head + at, 1))
		at++;
	if (at == length)
		return 30; /* an empty trace */
	if (head[at] == '{')
		return contains(head, length, "\"krait\"") || contains(head, length, "\"ops\"") || contains(head, length, "\"txns\"") ? 90 : 40;
	if (memchr(head, '\0', length))
		return 0;
	return ends_in(path, ".jsonl") || ends_in(path, ".jsonl.gz") ? 10 : 0;
}

/* ---- objects ---- */

/* With `lenient` a bad transaction or version order is counted and forgotten. */
static enum kr_status forgive(struct kr_native *n, enum kr_status status)
{
	if (status != KR_BAD || !n->lenient)
		return status;
	kr_history_leave_out(n->h, n->err);
	return KR_OK;
}

static enum kr_status read_txn(struct kr_native *n, json_t *json, const struct kr_native_fields *f)
{
	char found[80];
	const char *near;

	if (f->ops) {
		enum kr_status status = kr_native_fields_ignored(n, json, f->ignored, KR_NATIVE_TXN);
		return status ? status : kr_native_txn(n, f);
	}
	n->position++;
	near = kr_native_field_meant(json, "ops", KR_NATIVE_TXN);
	if (near)
		return kr_native_bad(n, "found an object with \"%s\" and without \"ops\", expected a transaction", near);
	if (json_is_object(json))
		return kr_native_bad(n, "found an object without \"ops\", expected a transaction");
	return kr_native_bad(n, "found %s, expected an object", kr_native_found(json, found));
}

static enum kr_status read_object(struct kr_native *n, json_t *json, bool first)
{
	struct kr_native_fields f;

	kr_native_get_fields(json, &f);
	if (f.krait && !first)
		return kr_native_bad(n, "a header (\"krait\"), expected only as the first line");
	if (f.krait)
		return kr_native_header(n, json, &f);
	if (f.version_order && !f.ops)
		return forgive(n, kr_native_order(n, json, &f));
	if (kr_native_is_event(&f))
		return kr_native_event(n, json, &f);
	return forgive(n, read_txn(n, json, &f));
}

/* ---- JSON ---- */

struct text {
	const char *at;
	size_t length;
};

static enum kr_status malformed(struct kr_native *n, const struct text *text, const json_error_t *error)
{
	uint32_t line = n->line + (error->line > 1 ? (uint32_t)error->line - 1 : 0);

	/* Jansson has a text for everything but most failed allocations. */
	if (n->arena.failed || json_error_code(error) == json_error_out_of_memory || error->text[0] == '\0')
		return KR_NOMEM;
	if (error->position > 0 && (size_t)error->position <= text->length && text->at[error->position - 1] == '\0')
		kr_err_set(n->err, KR_BAD, "malformed JSON at column %d: found a NUL byte, expected text", error->column);
	else
		kr_err_set(n->err, KR_BAD, "malformed JSON at column %d: %s", error->column, error->text);
	kr_err_at(n->err, n->h->files.at[0], line, error->column > 0 ? (uint32_t)error->column : 0);
	return KR_BAD;
}

static enum kr_status parse(struct kr_native *n, const struct text *text, json_t **out, json_error_t *error)
{
	*out = NULL;
	n->arena.most = 0;
	if (text->length > LONG_BYTES && n->ctx->mem.limit != SIZE_MAX) {
		size_t left = kr_mem_left(&n->ctx->mem);
		if (text->length > left / BYTES_PER_BYTE)
			return KR_NOMEM;
		n->arena.most = left + 1;
	}
	n->loose = !kr_json_arena_enter(&n->arena);
	*out = json_loadb(text->at, text->length, KR_NATIVE_JSON, error);
	kr_json_arena_leave();
	return *out ? KR_OK : KR_BAD;
}

/* Ends with the JSON that was parsed last. The memory of a large one is not kept for the next. */
static void forget(struct kr_native *n, json_t *root)
{
	if (n->loose)
		json_decref(root);
	if (n->arena.size > 8 * LONG_BYTES)
		kr_json_arena_done(&n->arena);
	else
		kr_json_arena_reset(&n->arena);
}

/* ---- a document ---- */

KR_VEC_NAMED(lines, uint32_t);

struct scanner {
	const char *text;
	size_t length, at; /* at: of the character looked at */
	uint32_t line, depth;
	const char *name; /* last string directly in the document */
	size_t name_length;
	bool in_txns, element; /* an element of "txns" begins with the next token */
};

static void scan_string(struct scanner *s)
{
	size_t from = ++s->at;

	while (s->at < s->length && s->text[s->at] != '"')
		s->at += s->text[s->at] == '\\' ? 2 : 1;
	if (s->depth == 1) {
		s->name = s->text + from;
		s->name_length = s->at - from;
	}
}

/* Looks at one character of valid JSON, or one string; whether an element of "txns" begins there. */
static bool scan_token(struct scanner *s)
{
	bool begins = false;
	char c = s->text[s->at];

	if (c == '\n')
		s->line++;
	if (is_blank(&c, 1))
		return false;
	if (c == ']' || c == '}') {
		s->depth--;
		s->element = false;
		s->in_txns = s->in_txns && s->depth >= 2;
		return false;
	}
	if (s->element && s->depth == 2) {
		begins = true;
		s->element = false;
	}
	if (c == '"') {
		scan_string(s);
	} else if (c == '[' || c == '{') {
		if (s->depth++ == 1 && c == '[' && s->name_length == 4 && memcmp(s->name, "txns", 4) == 0)
			s->in_txns = s->element = true;
	} else if (c == ',') {
		s->element = s->in_txns && s->depth == 2;
	}
	return begins;
}

/* The line of each element of the document's "txns". */
static enum kr_status find_lines(struct kr_native *n, const struct text *text, struct lines *out)
{
	struct scanner s = {.text = text->at, .length = text->length, .line = n->line};

	for (; s.at < s.length; s.at++) {
		if (scan_token(&s) && !kr_vec_push(n->h->mem, out, s.line))
			return KR_NOMEM;
		enum kr_status status = kr_ctx_tick(n->ctx);
		if (status)
			return status;
	}
	return KR_OK;
}

static enum kr_status read_elements(struct kr_native *n, json_t *txns, const struct lines *lines)
{
	size_t count = json_array_size(txns);
	char found[80];

	if (!json_is_array(txns))
		return kr_native_bad(n, "\"txns\" is %s, expected an array of transactions", kr_native_found(txns, found));
	for (size_t i = 0; i < count; i++) {
		struct kr_native_fields f;
		json_t *element = json_array_get(txns, i);
		if (lines->n == count)
			n->line = lines->at[i];
		kr_native_get_fields(element, &f);
		enum kr_status status = forgive(n, read_txn(n, element, &f));
		if (status)
			return status;
	}
	return KR_OK;
}

static enum kr_status read_document(struct kr_native *n, json_t *root, const struct text *text)
{
	struct kr_native_fields f;
	struct lines lines = {0};

	kr_native_get_fields(root, &f);
	if (!f.txns)
		return kr_native_bad(n, "found a JSON document without \"txns\", expected one with it, or JSON Lines: one object per line");

	enum kr_status status = kr_native_header(n, root, &f);

	if (!status)
		status = find_lines(n, text, &lines);
	if (!status)
		status = read_elements(n, f.txns, &lines);
	kr_vec_done(n->h->mem, &lines);
	return status;
}

/* A document that goes on after its first line. */
static enum kr_status read_long_document(struct kr_native *n, struct kr_source *source, const struct text *line)
{
	struct text text;
	struct kr_str whole;
	json_error_t error;
	json_t *root = NULL;
	char *rest;
	size_t length;
	enum kr_status status;

	kr_str_init(&whole, n->h->mem);
	kr_str_add_bytes(&whole, line->at, line->length);
	kr_str_add_bytes(&whole, "\n", 1);
	status = kr_source_rest(source, &rest, &length, n->err);
	if (!status) {
		kr_str_add_bytes(&whole, rest, length);
		text = (struct text){whole.at, whole.n};
		status = whole.failed ? KR_NOMEM : parse(n, &text, &root, &error);
		if (status == KR_BAD)
			status = malformed(n, &text, &error);
	}
	if (!status)
		status = read_document(n, root, &text);
	forget(n, root);
	kr_str_done(&whole);
	return status;
}

static enum kr_status expect_end(struct kr_native *n, struct kr_source *source)
{
	char *line;
	size_t length;
	enum kr_status status;

	while (!(status = kr_source_line(source, &line, &length, n->err)) && line) {
		if (is_blank(line, length))
			continue;
		n->line = kr_source_line_number(source);
		return kr_native_bad(n, "more text after the end of the document, expected nothing");
	}
	return status;
}

/* ---- lines ---- */

static enum kr_status bad_line(struct kr_native *n, const struct text *line, const json_error_t *error)
{
	n->position++; /* it counts as a transaction, so that default ids do not depend on its being skipped */
	if (n->has_events)
		return malformed(n, line, error); /* of which transaction it would have been, nobody knows */
	return forgive(n, malformed(n, line, error));
}

static enum kr_status read_first(struct kr_native *n, struct kr_source *source, const struct text *line)
{
	json_error_t error;
	json_t *root;
	enum kr_status status = parse(n, line, &root, &error);

	if (status == KR_BAD) {
		forget(n, NULL);
		return json_error_code(&error) == json_error_premature_end_of_input ? read_long_document(n, source, line) : bad_line(n, line, &error);
	}
	if (status)
		return status;
	if (json_object_get(root, "txns")) {
		status = read_document(n, root, line);
		if (!status)
			status = expect_end(n, source);
	} else {
		status = read_object(n, root, true);
	}
	forget(n, root);
	return status;
}

static enum kr_status read_line(struct kr_native *n, const struct text *line)
{
	json_error_t error;
	json_t *root;
	enum kr_status status = parse(n, line, &root, &error);

	if (status == KR_BAD)
		status = bad_line(n, line, &error);
	else if (!status)
		status = read_object(n, root, false);
	forget(n, root);
	return status;
}

/* Lines that threads have parsed ahead. A line that they could not parse is parsed again, for its error. */
static enum kr_status read_batch(struct kr_native *n, const struct kr_ahead_batch *batch)
{
	enum kr_status status = KR_OK;

	for (uint32_t i = 0; i < batch->count && !status; i++) {
		const struct kr_ahead_line *line = &batch->lines[i];
		struct text text = {batch->text + line->at, line->length};

		n->line = line->number;
		status = line->json ? read_object(n, line->json, false) : read_line(n, &text);
		if (!status)
			status = kr_ctx_tick(n->ctx);
	}
	return status;
}

static enum kr_status read_ahead(struct kr_native *n, struct kr_source *source, uint32_t threads)
{
	struct kr_ahead *ahead;
	struct kr_ahead_batch batch;
	enum kr_status status = kr_ahead_new(n->ctx, source, threads, KR_NATIVE_JSON, BYTES_PER_BYTE, &ahead);

	if (status)
		return status;
	while (!(status = kr_ahead_next(ahead, &batch, n->err)) && batch.count > 0) {
		status = read_batch(n, &batch);
		if (status)
			break;
		kr_ctx_progress(n->ctx, "reading", kr_source_read_so_far(source), kr_source_size(source));
	}
	kr_ahead_free(ahead);
	return status;
}

static enum kr_status read_all(struct kr_native *n, struct kr_source *source, uint32_t jobs)
{
	bool first = true;
	struct text text;
	char *line;
	size_t length;
	enum kr_status status;

	while (!(status = kr_source_line(source, &line, &length, n->err)) && line) {
		n->line = kr_source_line_number(source);
		if (is_blank(line, length))
			continue;
		text = (struct text){line, length};
		status = first ? read_first(n, source, &text) : read_line(n, &text);
		if (status || (status = kr_ctx_tick(n->ctx)))
			return status;
		if (first && jobs > 1 && kr_source_size(source) >= WORTH_AHEAD)
			return read_ahead(n, source, jobs - 1);
		first = false;
		if ((n->line & 255) == 0)
			kr_ctx_progress(n->ctx, "reading", kr_source_read_so_far(source), kr_source_size(source));
	}
	return status;
}

void kr_native_begin(struct kr_native *n, struct kr_ctx *ctx, struct kr_history *h, bool lenient, struct kr_err *err)
{
	*n = (struct kr_native){.ctx = ctx, .h = h, .err = err, .lenient = lenient, .id = {KR_NONE}};
	kr_str_init(&n->text, h->mem);
	kr_assembly_init(&n->assembly, h, &n->position);
	n->sink = (struct kr_sink){&n->assembly, kr_assembly_take};
}

void kr_native_done(struct kr_native *n)
{
	struct kr_mem *mem = n->h->mem;

	kr_vec_done(mem, &n->names);
	kr_vec_done(mem, &n->open);
	kr_vec_done(mem, &n->ids);
	kr_assembly_done(&n->assembly);
	kr_vec_done(mem, &n->ignored);
	kr_vec_done(mem, &n->frames);
	kr_vec_done(mem, &n->sort);
	kr_str_done(&n->text);
	kr_json_arena_done(&n->arena);
}

enum kr_status kr_native_tell_line(struct kr_native *n, const char *text, size_t length)
{
	struct text line = {text, length};
	bool first = !n->begun;
	json_error_t error;
	json_t *root;

	if (is_blank(line.at, line.length))
		return KR_OK;
	n->begun = true;

	enum kr_status status = parse(n, &line, &root, &error);

	if (status == KR_BAD)
		status = malformed(n, &line, &error);
	else if (!status && json_object_get(root, "txns"))
		status = kr_native_bad(n, "found a document (\"txns\"), expected a stream: one object per line");
	else if (!status)
		status = read_object(n, root, first);
	forget(n, root);
	return status;
}

enum kr_status kr_native_line(struct kr_native *n, const char *text, size_t length)
{
	struct text line = {text, length};
	json_error_t error;
	json_t *root;
	enum kr_status status = parse(n, &line, &root, &error);

	if (status == KR_BAD)
		status = bad_line(n, &line, &error);
	else if (!status)
		status = read_object(n, root, n->position == 0 && n->header_line == 0);
	forget(n, root);
	return status;
}

static enum kr_status read_native(struct kr_ctx *ctx, const char *path, struct kr_source *source, const struct kr_read_options *options, struct kr_history *h,
	struct kr_err *err)
{
	struct kr_err own;
	struct kr_native n;
	enum kr_status status;

	(void)path;
	kr_err_init(&own);
	kr_native_begin(&n, ctx, h, options->lenient, &own);
	status = read_all(&n, source, options->jobs);
	if (!status)
		status = kr_native_finish(&n);
	if (status && own.status != KR_OK && err && err->status == KR_OK)
		*err = own;
	kr_native_done(&n);
	return status;
}

const struct kr_format kr_format_native = {
	.name = "native",
	.aliases = "krait jsonl",
	.title = "krait's own: JSON Lines of transactions, or one JSON document",
	.source = "docs/formats/native.md",
	.folder = false,
	.sniff = sniff,
	.read = read_native,
};
