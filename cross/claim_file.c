/* Reads claims. A file that begins with `{` holds JSON objects, one of them or one a line: what has a verdict
 * (also as `result` or `accept`, true or false, as dbcop and others log it) counts; one with `valid?` is
 * Elle's. Otherwise it is what a checker printed, of which the lines that tell a verdict count; they may not
 * contradict each other, since krait cannot know which one is meant. Cost: linear. */
#include "cross/claim_file.h"

#include <string.h>

#include "base/terms.h"
#include "checkers/checker.h"
#include "frontend/form.h"
#include "frontend/source.h"

#define EXPECTED \
	"expected a line with accept, reject or the like, a JSON object with a verdict, or Elle's result"

struct reading {
	struct kr_ctx *ctx;
	struct kr_history own; /* values of the file */
	struct kr_forms forms;
	const char *path;
	struct kr_claim_file *out;
	struct kr_err *err;
};

static enum kr_status bad(struct reading *r, uint32_t line, const char *text)
{
	enum kr_status status = kr_err_set(r->err, KR_BAD, "%s", text);

	kr_err_at(r->err, r->path, line, 0);
	return status;
}

static bool same_question(const struct kr_stated *a, const struct kr_stated *b)
{
	bool same_trace = !a->trace || !b->trace || strcmp(a->trace, b->trace) == 0;
	return same_trace && a->question.level == b->question.level && a->question.order == b->question.order;
}

static enum kr_status add(struct reading *r, struct kr_stated stated)
{
	for (uint32_t i = 0; i < r->out->stated.n; i++) {
		const struct kr_stated *other = &r->out->stated.at[i];
		if (stated.verdict != KR_UNDECIDED && other->verdict != KR_UNDECIDED &&
			other->verdict != stated.verdict && same_question(other, &stated))
			return bad(r, stated.line,
				"claims the contrary of an earlier line, expected one verdict");
	}
	return kr_vec_add(&r->ctx->mem, &r->out->stated, stated);
}

/* ---- what a checker printed ---- */

static enum kr_status read_lines(struct reading *r, struct kr_source *source)
{
	for (;;) {
		struct kr_stated stated = {0};
		size_t length;
		char *line;
		KR_TRY(kr_source_line(source, &line, &length, r->err));
		if (!line)
			return KR_OK;
		stated.line = kr_source_line_number(source);
		if (kr_claim_line(line, &stated.verdict))
			KR_TRY(add(r, stated));
	}
}

/* ---- JSON ---- */

enum { VERDICT, RESULT, ACCEPT, VALID, TRACE, LEVEL, ORDER, CYCLE, ANOMALY, FIELDS };

static const char *text_of(struct reading *r, uint32_t form)
{
	const struct kr_form *f = &r->forms.nodes.at[form];
	return kr_arena_text(&r->out->arena, f->text, f->length);
}

static bool is_text(const struct kr_forms *f, uint32_t form)
{
	return form != KR_NONE &&
		(f->nodes.at[form].type == KR_FORM_STRING || f->nodes.at[form].type == KR_FORM_NAME);
}

/* False: the form is none. */
static bool take_verdict(const struct kr_forms *f, uint32_t form, enum kr_outcome *out)
{
	if (form == KR_NONE)
		return false;
	const struct kr_form *node = &f->nodes.at[form];
	if (node->type == KR_FORM_TRUE || node->type == KR_FORM_FALSE) {
		*out = node->type == KR_FORM_TRUE ? KR_SATISFIED : KR_VIOLATED;
		return true;
	}
	return is_text(f, form) && kr_claim_word(node->text, node->length, out);
}

/* `log`: the object is a line of a log, whose level may be another thing. */
static enum kr_status take_question(struct reading *r, const uint32_t *fields, bool log,
	struct kr_question *out)
{
	struct kr_forms *f = &r->forms;
	uint32_t level = fields[LEVEL], order = fields[ORDER];
	char found[80];

	if (level == KR_NONE)
		return KR_OK;
	const char *name = is_text(f, level) ? text_of(r, level) : "";
	if (!name)
		return KR_NOMEM;
	out->level = kr_level_find(r->ctx->modules, name, &out->order);
	if (!out->level && log)
		return KR_OK;
	if (!out->level)
		return kr_forms_bad(f, f->nodes.at[level].line, "level is %s, expected one of 'krait levels'",
			kr_form_found(f, level, found));
	if (order == KR_NONE)
		return KR_OK;
	name = is_text(f, order) ? text_of(r, order) : "";
	if (!name)
		return KR_NOMEM;
	return kr_order_parse(name, &out->order)
		? KR_OK
		: kr_forms_bad(f, f->nodes.at[order].line, "order is %s, expected none, session or realtime",
			  kr_form_found(f, order, found));
}

static enum kr_status add_name(struct reading *r, uint32_t form, struct kr_str *out)
{
	kr_value value;
	KR_TRY(kr_forms_value(&r->forms, form, &value));

	kr_history_json_value(&r->own, value, out);
	return KR_OK;
}

/* {"from": "t1", "to": "t2", "kind": "rw", "key": "x"} as `t1 rw(x) t2`; a string as it is. */
static enum kr_status add_edge(struct reading *r, uint32_t form, struct kr_str *out)
{
	static const char *const names[] = {"from", "to", "kind", "key"};
	struct kr_forms *f = &r->forms;
	uint32_t fields[4];

	if (f->nodes.at[form].type == KR_FORM_STRING) {
		kr_str_add_bytes(out, f->nodes.at[form].text, f->nodes.at[form].length);
		return KR_OK;
	}
	if (f->nodes.at[form].type != KR_FORM_MAP)
		return kr_forms_bad(f, f->nodes.at[form].line,
			"an edge is neither an object nor a text such as \"t1 wr t2\"");
	KR_TRY(kr_forms_fields(f, form, names, fields, 4));
	if (fields[0] == KR_NONE || fields[1] == KR_NONE || !is_text(f, fields[2]))
		return kr_forms_bad(f, f->nodes.at[form].line, "an edge without from, to and kind");
	KR_TRY(add_name(r, fields[0], out));
	kr_str_add(out, " ");
	kr_str_add_bytes(out, f->nodes.at[fields[2]].text, f->nodes.at[fields[2]].length);
	if (fields[3] != KR_NONE) {
		kr_str_add(out, "(");
		KR_TRY(add_name(r, fields[3], out));
		kr_str_add(out, ")");
	}
	kr_str_add(out, " ");
	return add_name(r, fields[1], out);
}

static enum kr_status take_cycle(struct reading *r, uint32_t form, const char **out)
{
	struct kr_forms *f = &r->forms;
	struct kr_str text;
	enum kr_status status = KR_OK;

	if (is_text(f, form))
		return (*out = text_of(r, form)) ? KR_OK : KR_NOMEM;
	if (f->nodes.at[form].type != KR_FORM_LIST)
		return kr_forms_bad(f, f->nodes.at[form].line,
			"a cycle is neither a list of edges nor a text");
	kr_str_init(&text, &r->ctx->mem);
	for (uint32_t at = form + 1; at < f->nodes.at[form].end && !status; at = f->nodes.at[at].end) {
		kr_str_add(&text, text.n > 0 ? ", " : "");
		status = add_edge(r, at, &text);
	}
	if (!status && text.n > 0)
		*out = kr_arena_text(&r->out->arena, text.at, text.n);
	if (!status && (text.failed || (text.n > 0 && !*out)))
		status = KR_NOMEM;
	kr_str_done(&text);
	return status;
}

/* Also krait's own verdicts: the cycle stands in the anomaly there. */
static enum kr_status take_fields(struct reading *r, uint32_t *fields, bool log, struct kr_stated *stated)
{
	static const char *const cycle[] = {"cycle"};
	struct kr_forms *f = &r->forms;
	KR_TRY(take_question(r, fields, log, &stated->question));

	if (is_text(f, fields[TRACE]) && !(stated->trace = text_of(r, fields[TRACE])))
		KR_TRY(KR_NOMEM);
	if (fields[CYCLE] == KR_NONE && fields[ANOMALY] != KR_NONE &&
		f->nodes.at[fields[ANOMALY]].type == KR_FORM_MAP)
		KR_TRY(kr_forms_fields(f, fields[ANOMALY], cycle, &fields[CYCLE], 1));
	if (fields[CYCLE] != KR_NONE)
		KR_TRY(take_cycle(r, fields[CYCLE], &stated->cycle));
	return KR_OK;
}

static enum kr_status take_object(struct reading *r)
{
	static const char *const names[FIELDS] = {"verdict", "result", "accept", "valid?", "trace", "level",
		"order", "cycle", "anomaly"};
	struct kr_forms *f = &r->forms;
	struct kr_stated stated = {.line = f->nodes.at[0].line};
	uint32_t fields[FIELDS];

	if (f->nodes.at[0].type != KR_FORM_MAP)
		return KR_OK;
	KR_TRY(kr_forms_fields(f, 0, names, fields, FIELDS));
	r->out->is_elle |= r->out->stated.n == 0 && fields[VALID] != KR_NONE;
	bool log = !take_verdict(f, fields[VERDICT], &stated.verdict);
	if (log && !take_verdict(f, fields[RESULT], &stated.verdict) &&
		!take_verdict(f, fields[ACCEPT], &stated.verdict))
		return KR_OK;
	KR_TRY(take_fields(r, fields, log, &stated));
	return add(r, stated);
}

static enum kr_status read_objects(struct reading *r, struct kr_source *source)
{
	enum kr_status status = kr_forms_init(&r->forms, r->ctx, &r->own, r->path, source, r->err);

	for (bool found = true; !status && !r->out->is_elle;) {
		status = kr_forms_next(&r->forms, &found);
		if (!found || status)
			break;
		status = take_object(r);
	}
	kr_forms_done(&r->forms);
	r->out->is_elle |= !status && r->out->stated.n == 0; /* its reader says what is missing */
	return status;
}

/* ---- the file ---- */

static enum kr_status read_source(struct reading *r, struct kr_source *source)
{
	const char *head;
	size_t length, at = 0;
	KR_TRY(kr_source_head(source, &head, &length, r->err));
	while (at < length && strchr(" \t\r\n,", head[at]))
		at++;
	if (at < length && head[at] == '{')
		return read_objects(r, source);
	enum kr_status status = read_lines(r, source);
	return status || r->out->stated.n > 0 ? status : bad(r, 0, "no verdict in it, " EXPECTED);
}

enum kr_status kr_claim_file_read(struct kr_ctx *ctx, const char *path, struct kr_claim_file *out,
	struct kr_err *err)
{
	struct reading r = {.ctx = ctx, .path = path, .out = out, .err = err};
	struct kr_source *source = NULL;

	*out = (struct kr_claim_file){0};
	kr_arena_init(&out->arena, &ctx->mem);
	KR_TRY(kr_history_init(&r.own, &ctx->mem));
	enum kr_status status = kr_source_open(ctx, path, &source, err);
	if (!status)
		status = read_source(&r, source);
	kr_source_free(source);
	kr_history_done(&r.own);
	return status;
}

void kr_claim_file_done(struct kr_mem *mem, struct kr_claim_file *file)
{
	if (!file->arena.mem) /* nothing was read */
		return;
	kr_vec_done(mem, &file->stated);
	kr_arena_done(&file->arena);
}

/* ---- claims ---- */

bool kr_stated_of(const struct kr_stated *stated, const char *trace)
{
	if (!stated->trace || strcmp(stated->trace, trace) == 0)
		return true;
	const char *a = strrchr(stated->trace, '/'), *b = strrchr(trace, '/');
	return strcmp(a ? a + 1 : stated->trace, b ? b + 1 : trace) == 0;
}

enum kr_outcome kr_claim_file_claims(const struct kr_claim_file *file, const struct kr_modules *more,
	const char *trace, struct kr_question question)
{
	for (uint32_t i = 0; i < file->stated.n; i++) {
		const struct kr_stated *s = &file->stated.at[i];
		if (s->verdict == KR_UNDECIDED || !kr_stated_of(s, trace))
			continue;
		if (!s->question.level ||
			kr_implies(more, s->verdict == KR_VIOLATED ? question : s->question,
				s->verdict == KR_VIOLATED ? s->question : question))
			return s->verdict;
	}
	return KR_UNDECIDED;
}
