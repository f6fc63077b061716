/* The native trace format: JSON Lines, or one JSON document for small traces (docs/formats/native.md).
 *
 * Lines are scanned one at a time (node.h) and turned into the history's arrays in order, so that memory
 * follows the history. The first line that is not blank decides the form: an object with "txns", or no
 * complete JSON value, begins a document, which is scanned as a whole; anything else is JSON Lines. What is
 * wrong with malformed JSON is jansson's word. jansson's own memory is not in the account: a long line is
 * refused before jansson parses it if an estimate of that memory is beyond the limit. The rest of the reader:
 * native_*.c. */
#include "frontend/native.h"

#include <string.h>

#include "frontend/foreign.h"

#define LONG_BYTES (1 << 17) /* of a line that memory is looked at for */
#define BYTES_PER_BYTE 8 /* jansson's memory for a byte of JSON: 4 for long strings, 20 for short numbers */

static bool is_blank(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (text[i] != ' ' && text[i] != '\t' && text[i] != '\r' && text[i] != '\n')
			return false;
	return true;
}

/* ---- telling the format ---- */

static int sniff(const char *path, const char *head, size_t length)
{
	size_t at = 0;

	while (at < length && is_blank(head + at, 1))
		at++;
	if (at == length)
		return 30; /* an empty trace */
	if (head[at] == '{')
		return kr_foreign_holds(head, length, "\"krait\"") ||
				kr_foreign_holds(head, length, "\"ops\"") ||
				kr_foreign_holds(head, length, "\"txns\"")
			? 90
			: 40;
	if (memchr(head, '\0', length))
		return 0;
	return kr_foreign_ends(path, ".jsonl") || kr_foreign_ends(path, ".jsonl.gz") ? 10 : 0;
}

/* ---- objects ---- */

static enum kr_status read_txn(struct kr_native *n, const struct kr_node *json,
	const struct kr_native_fields *f)
{
	char found[80];

	if (f->ops) {
		KR_TRY(kr_native_fields_ignored(n, json, f->ignored, KR_NATIVE_TXN));
		return kr_native_txn(n, f);
	}
	n->h->position++;
	const char *near = kr_native_field_meant(json, "ops", KR_NATIVE_TXN);
	if (near)
		return kr_native_bad(n,
			"found an object with \"%s\" and without \"ops\", expected a transaction", near);
	if (kr_node_is(json, KR_NODE_OBJECT))
		return kr_native_bad(n, "found an object without \"ops\", expected a transaction");
	return kr_native_bad(n, "found %s, expected an object", kr_native_found(json, found));
}

static enum kr_status read_object(struct kr_native *n, const struct kr_node *json, bool first)
{
	struct kr_native_fields f;

	kr_native_get_fields(json, &f);
	if (f.krait && !first)
		return kr_native_bad(n, "a header (\"krait\"), expected only as the first line");
	if (f.krait)
		return kr_native_header(n, json, &f);
	if (f.version_order && !f.ops)
		return kr_history_forgive(n->h, kr_native_order(n, json, &f), n->err);
	if (kr_native_is_event(&f))
		return kr_native_event(n, json, &f);
	return kr_history_forgive(n->h, read_txn(n, json, &f), n->err);
}

/* ---- JSON ---- */

struct text {
	char *at; /* terminated, and the scanner's */
	size_t length;
};

static enum kr_status malformed(struct kr_native *n, const struct text *text, const json_error_t *error)
{
	uint32_t line = n->line + (error->line > 1 ? (uint32_t)error->line - 1 : 0);

	/* Jansson has a text for everything but most failed allocations. */
	if (json_error_code(error) == json_error_out_of_memory || error->text[0] == '\0')
		return KR_NOMEM;
	if (error->position > 0 && (size_t)error->position <= text->length &&
		text->at[error->position - 1] == '\0')
		kr_err_set(n->err, KR_BAD, "malformed JSON at column %d: found a NUL byte, expected text",
			error->column);
	else
		kr_err_set(n->err, KR_BAD, "malformed JSON at column %d: %s", error->column, error->text);
	kr_err_at(n->err, n->h->files.at[0], line, error->column > 0 ? (uint32_t)error->column : 0);
	return KR_BAD;
}

/* KR_BAD: malformed, and *error says why. */
static enum kr_status parse(struct kr_native *n, const struct text *text, const struct kr_node **out,
	json_error_t *error)
{
	enum kr_status status = kr_nodes_scan(&n->nodes, text->at, text->length, out);

	if (status != KR_BAD)
		return status;
	if (text->length > LONG_BYTES && text->length > kr_mem_left(&n->ctx->mem) / BYTES_PER_BYTE)
		return KR_NOMEM;

	json_t *json = json_loadb(text->at, text->length, KR_NODE_JANSSON, error);

	if (!json)
		return KR_BAD;
	json_decref(json);
	return kr_err_set(n->err, KR_INTERNAL, "internal error: line %u is JSON, but was not understood",
		(unsigned)n->line);
}

/* Ends with the JSON that was parsed last. The memory of a large one is not kept for the next. */
static void forget(struct kr_native *n)
{
	if (n->nodes.list.cap > LONG_BYTES / 4) {
		kr_nodes_done(&n->nodes);
		kr_nodes_init(&n->nodes, n->h->mem);
	}
}

/* ---- a document ---- */

/* The line of each element: newlines are counted up to it. One that is neither array nor object is no
 * transaction; it is taken for where the one before it begins. */
static enum kr_status read_elements(struct kr_native *n, const struct kr_node *txns, const struct text *text)
{
	const char *at = text->at;

	if (!kr_node_is(txns, KR_NODE_ARRAY))
		return kr_native_wrong(n, txns, "\"txns\"", "an array of transactions");
	for (const struct kr_node *element = kr_node_element(txns, NULL); element;
		element = kr_node_element(txns, element)) {
		struct kr_native_fields f;
		bool container = kr_node_is(element, KR_NODE_ARRAY) || kr_node_is(element, KR_NODE_OBJECT);
		for (; container && at < element->text; at++)
			n->line += *at == '\n';
		kr_native_get_fields(element, &f);
		KR_TRY(kr_history_forgive(n->h, read_txn(n, element, &f), n->err));
		KR_TRY(kr_ctx_tick(n->ctx));
	}
	return KR_OK;
}

static enum kr_status read_document(struct kr_native *n, const struct kr_node *root, const struct text *text)
{
	struct kr_native_fields f;

	kr_native_get_fields(root, &f);
	if (!f.txns)
		return kr_native_bad(n,
			"found a JSON document without \"txns\", expected one with it, or JSON Lines: one "
			"object per line");

	KR_TRY(kr_native_header(n, root, &f));
	return read_elements(n, f.txns, text);
}

/* A document that goes on after its first line. */
static enum kr_status read_long_document(struct kr_native *n, struct kr_source *source,
	const struct text *line)
{
	struct text text;
	struct kr_str whole;
	json_error_t error;
	const struct kr_node *root;
	char *rest;
	size_t length;

	kr_str_init(&whole, n->h->mem);
	kr_str_add_bytes(&whole, line->at, line->length);
	kr_str_add_bytes(&whole, "\n", 1);
	enum kr_status status = kr_source_rest(source, &rest, &length, n->err);
	if (!status) {
		kr_str_add_bytes(&whole, rest, length);
		text = (struct text){whole.at, whole.n};
		status = whole.failed ? KR_NOMEM : parse(n, &text, &root, &error);
		if (status == KR_BAD)
			status = malformed(n, &text, &error);
	}
	if (!status)
		status = read_document(n, root, &text);
	forget(n);
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
	/* it counts as a transaction, so that default ids do not depend on its being skipped */
	n->h->position++;
	if (n->has_events)
		return malformed(n, line, error); /* of which transaction it would have been, nobody knows */
	return kr_history_forgive(n->h, malformed(n, line, error), n->err);
}

enum kr_status kr_native_line(struct kr_native *n, char *at, size_t length)
{
	struct text line = {at, length};
	bool first = !n->begun && n->h->position == 0 && n->header_line == 0;
	json_error_t error;
	const struct kr_node *root;

	if (is_blank(at, length))
		return KR_OK;
	n->begun = true;

	enum kr_status status = parse(n, &line, &root, &error);

	if (status == KR_BAD)
		status = bad_line(n, &line, &error);
	else if (!status && n->h->sink && kr_node_get(root, "txns"))
		status = kr_native_bad(n,
			"found a document (\"txns\"), expected a stream: one object per line");
	else if (!status)
		status = read_object(n, root, first);
	forget(n);
	return status;
}

enum kr_status kr_native_copy_line(struct kr_native *n, const char *text, size_t length)
{
	n->copy.n = 0;
	kr_str_add_bytes(&n->copy, text, length);
	kr_str_add(&n->copy, " "); /* an empty text has no place else */
	if (n->copy.failed)
		return KR_NOMEM;
	n->copy.at[length] = '\0';
	return kr_native_line(n, n->copy.at, length);
}

/* The first line that is not blank, in a file: it may begin a document. */
static enum kr_status read_first(struct kr_native *n, struct kr_source *source, char *at, size_t length)
{
	struct text line = {at, length};
	json_error_t error;
	const struct kr_node *root;
	enum kr_status status = parse(n, &line, &root, &error);

	n->begun = true;
	if (status == KR_BAD)
		return json_error_code(&error) == json_error_premature_end_of_input
			? read_long_document(n, source, &line)
			: bad_line(n, &line, &error);
	KR_TRY(status);
	if (!kr_node_get(root, "txns"))
		return read_object(n, root, true);
	KR_TRY(read_document(n, root, &line));
	return expect_end(n, source);
}

static enum kr_status read_all(struct kr_native *n, struct kr_source *source)
{
	char *line;
	size_t length;
	enum kr_status status;

	while (!(status = kr_source_line(source, &line, &length, n->err)) && line) {
		n->line = kr_source_line_number(source);
		if (n->begun || is_blank(line, length)) {
			status = kr_native_line(n, line, length);
		} else {
			status = read_first(n, source, line, length);
			forget(n);
		}
		KR_TRY(status);
		KR_TRY(kr_ctx_tick(n->ctx));
		if ((n->line & 255) == 0)
			kr_ctx_progress(n->ctx, "reading", kr_source_read_so_far(source),
				kr_source_size(source));
	}
	return status;
}

void kr_native_begin(struct kr_native *n, struct kr_ctx *ctx, struct kr_history *h, struct kr_err *err)
{
	*n = (struct kr_native){.ctx = ctx, .h = h, .err = err, .id = {KR_NONE}};
	kr_str_init(&n->text, h->mem);
	kr_str_init(&n->copy, h->mem);
	kr_nodes_init(&n->nodes, h->mem);
}

void kr_native_done(struct kr_native *n)
{
	struct kr_mem *mem = n->h->mem;

	kr_vec_done(mem, &n->names);
	kr_vec_done(mem, &n->open);
	kr_vec_done(mem, &n->ids);
	kr_vec_done(mem, &n->ignored);
	kr_vec_done(mem, &n->frames);
	kr_vec_done(mem, &n->sort);
	kr_str_done(&n->text);
	kr_str_done(&n->copy);
	kr_nodes_done(&n->nodes);
}

static enum kr_status read_native(struct kr_ctx *ctx, const char *path, struct kr_source *source,
	struct kr_history *h, struct kr_err *err)
{
	struct kr_err own;
	struct kr_native n;

	(void)path;
	kr_err_init(&own);
	kr_native_begin(&n, ctx, h, &own);
	enum kr_status status = read_all(&n, source);
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
	.sniff = sniff,
	.read = read_native,
};
