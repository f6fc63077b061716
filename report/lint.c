/* `krait lint`: each finding as a sentence with its place, grouped by kind. Cost: linear in the findings
 * kept. */
#include "report/lint.h"
#include "report/notes.h"

#include <string.h>

#define VALUE_SHOWN 60 /* bytes */

struct writer {
	const char *trace;
	const struct kr_history *h;
	struct kr_str *out;
};

/* ---- words ---- */

static void add_name(const struct writer *w, kr_txn t)
{
	kr_history_print_name(w->h, w->h->txns.at[t.i].id, w->out);
}

/* Another transaction than that of the line: its id and where it stands. */
static void add_other(const struct writer *w, const struct kr_lint_finding *f)
{
	const struct kr_transaction *other = &w->h->txns.at[f->other.i];

	add_name(w, f->other);
	if (f->other.i == f->txn.i || other->line == 0)
		return;
	kr_str_add(w->out, " (");
	if (other->file != w->h->txns.at[f->txn.i].file)
		kr_str_shown(w->out, kr_history_file(w->h, f->other, w->trace));
	kr_str_format(w->out, "%s%u)", other->file != w->h->txns.at[f->txn.i].file ? ":" : "line ",
		(unsigned)other->line);
}

static void add_key(const struct writer *w, kr_key key)
{
	kr_history_print_name(w->h, w->h->keys.at[key.i].name, w->out);
}

/* Where to cut text so that no half character stays. */
static size_t cut_at(const char *text, size_t most)
{
	while (most > 0 && ((unsigned char)text[most] & 0xc0) == 0x80)
		most--;
	return most;
}

static void add_pair(const struct writer *w, const struct kr_lint_finding *f)
{
	add_key(w, f->key);
	if (!f->element.text) {
		kr_str_add(w->out, " = ");
		kr_history_print_value(w->h, f->value, VALUE_SHOWN, w->out);
		return;
	}
	kr_str_add(w->out, ": element ");
	if (f->element.length <= VALUE_SHOWN) {
		kr_str_shown_bytes(w->out, f->element.text, f->element.length);
	} else {
		kr_str_shown_bytes(w->out, f->element.text, cut_at(f->element.text, VALUE_SHOWN));
		kr_str_add(w->out, "...");
	}
}

static void add_types(const struct writer *w, uint32_t types)
{
	static const char *const names[] = {
		[KR_VALUE_TRUE] = "booleans",
		[KR_VALUE_INT] = "integers",
		[KR_VALUE_REAL] = "reals",
		[KR_VALUE_STRING] = "strings",
		[KR_VALUE_ARRAY] = "arrays",
		[KR_VALUE_OBJECT] = "objects",
	};
	const char *separator = "";

	for (size_t i = 0; i < KR_COUNT(names); i++) {
		if (!(types >> i & 1) || !names[i])
			continue;
		types &= ~(1u << i);
		kr_str_format(w->out, "%s%s", separator, names[i]);
		separator = (types & (types - 1)) == 0 ? " and " : ", ";
	}
}

/* What comes behind the transaction's name. In braces: {key}, {pair} of key and value, {other}, {types}; {at}
 * and {limit}, the two times; {number} of the operation; {more}, how many others. */
static const char *text_of(enum kr_lint_kind kind, const struct kr_lint_finding *f)
{
	static const char *const texts[KR_LINT_KINDS] = {
		[KR_LINT_DUPLICATE_VALUE] = " writes {pair}, as did {other}",
		[KR_LINT_VALUE_UNWRITTEN] = " reads {pair}, which nobody wrote and which is not initial",
		[KR_LINT_KEY_UNWRITTEN] = " reads {key}, which nobody writes",
		[KR_LINT_MIXED_TYPES] = " reads {key} as another type than before: its reads show {types}",
		[KR_LINT_ABORTED_READ] =
			" is aborted, but {other} read what its ops[{number}] wrote, {pair}: "
			"a timeout that was taken for a failure?",
		[KR_LINT_UNKNOWN_READ] =
			" is unknown, but {other} read what its ops[{number}] wrote, {pair}: "
			"it took effect",
		[KR_LINT_TIMED_OUT] =
			" is aborted, but its error speaks of a timeout: is it known that it had "
			"no effect?",
		[KR_LINT_SLOW_ABORT] = " is aborted and lasted {at}, longer than any that committed: {limit} "
				       "for {other}. A timeout that was taken for a failure?",
		[KR_LINT_EARLY_READ] =
			" reads {pair}, but the transaction ends at {at}, before the start, at "
			"{limit}, of {other}, which wrote that: their clocks differ",
		[KR_LINT_SAME_VALUE] = " writes {pair}, which it has just read",
		[KR_LINT_SESSION_OVERLAP] = " starts at {at}, before the return, at {limit}, of {other}, "
					    "earlier in its session",
		[KR_LINT_SESSION_BACKWARDS] = " starts at {at}, before the start, at {limit}, of {other}, "
					      "earlier in its session",
		[KR_LINT_OP_BACKWARDS] = " was invoked at {at}, but one in front of it at {limit}",
		[KR_LINT_OP_OUTSIDE] = " returned at {at}, but the transaction ends at {limit}",
		[KR_LINT_NO_BEGIN] = " has no begin time, but others have",
		[KR_LINT_NO_END] = " has no end time, but others have",
		[KR_LINT_DEFAULT_ID] = " and {more} more have no id: they are named by their places",
	};

	if (kind == KR_LINT_DUPLICATE_VALUE && f->other.i == KR_NONE)
		return " writes {pair}, which is there from the start";
	if (kind == KR_LINT_OP_OUTSIDE && f->time < f->other_time)
		return " was invoked at {at}, but the transaction begins at {limit}";
	if (kind == KR_LINT_DEFAULT_ID && f->count == 1)
		return " has no id: it is named by its place";
	return texts[kind];
}

static void add_sentence(const struct writer *w, enum kr_lint_kind kind, const struct kr_lint_finding *f)
{
	const char *text = text_of(kind, f);

	add_name(w, f->txn);
	for (const char *brace; (brace = strchr(text, '{')); text = strchr(brace, '}') + 1) {
		kr_str_add_bytes(w->out, text, (size_t)(brace - text));
		switch (brace[1]) {
		case 'a': kr_str_format(w->out, "%lld", (long long)f->time); break;
		case 'k': add_key(w, f->key); break;
		case 'l': kr_str_format(w->out, "%lld", (long long)f->other_time); break;
		case 'm': kr_str_format(w->out, "%u", (unsigned)f->count - 1); break;
		case 'n': kr_str_format(w->out, "%u", (unsigned)kr_history_place(w->h, f->txn, f->op)); break;
		case 'o': add_other(w, f); break;
		case 'p': add_pair(w, f); break;
		default: add_types(w, f->types); break;
		}
	}
	kr_str_add(w->out, text);
}

/* The sentence of a finding; where it is of an operation, that comes first. */
static void add_message(const struct writer *w, enum kr_lint_kind kind, const struct kr_lint_finding *f)
{
	if (f->op != KR_NONE && kind != KR_LINT_ABORTED_READ && kind != KR_LINT_UNKNOWN_READ)
		kr_str_format(w->out, "ops[%u] of ", (unsigned)kr_history_place(w->h, f->txn, f->op));
	add_sentence(w, kind, f);
}

static const char *file_of(const struct writer *w, kr_txn t) { return kr_history_file(w->h, t, w->trace); }

/* ---- text ---- */

/* The sentence on a trace without a committed transaction, in a buffer that the caller frees; false: it has
 * one. */
static bool none_committed(const struct writer *w, struct kr_str *out)
{
	kr_str_init(out, w->out->mem);
	bool none = kr_note_none_committed(w->h, out);

	w->out->failed |= out->failed;
	return none;
}

/* What is found of the trace as a whole. */
static void add_whole(const struct writer *w)
{
	const struct kr_history *h = w->h;
	struct kr_str text;

	if (h->skipped > 0) {
		kr_str_shown(w->out, w->trace);
		kr_str_format(w->out, ": left-out: %u bad transaction%s or version order%s\n",
			(unsigned)h->skipped, h->skipped == 1 ? "" : "s", h->skipped == 1 ? "" : "s");
	}
	if (none_committed(w, &text)) {
		kr_str_shown(w->out, w->trace);
		kr_str_format(w->out, ": none-committed: %s\n", kr_str_text(&text));
	}
	kr_str_done(&text);
	for (uint32_t i = 0; i < h->near_fields.n; i++) {
		kr_str_shown(w->out, w->trace);
		kr_str_format(w->out, ":%u: near-field: ", (unsigned)h->near_fields.at[i].line);
		kr_note_near_field(&h->near_fields.at[i], w->out);
		kr_str_add(w->out, "\n");
	}
}

static void add_more(const struct writer *w, const char *kind, uint64_t n)
{
	kr_str_shown(w->out, w->trace);
	kr_str_format(w->out, ": %s: and %llu more\n", kind, (unsigned long long)n);
}

void kr_report_lint(const char *trace, const struct kr_history *h, const struct kr_lint *lint,
	struct kr_str *out)
{
	const struct writer w = {trace, h, out};

	add_whole(&w);
	for (int kind = 0; kind < KR_LINT_KINDS; kind++) {
		const struct kr_lint_findings *found = &lint->found[kind];
		const char *name = kr_lint_name((enum kr_lint_kind)kind);

		for (uint32_t i = 0; i < found->n && !out->failed; i++) {
			unsigned line = h->txns.at[found->at[i].txn.i].line;
			kr_str_shown(out, file_of(&w, found->at[i].txn));
			if (line > 0)
				kr_str_format(out, ":%u", line);
			kr_str_format(out, ": %s: ", name);
			add_message(&w, (enum kr_lint_kind)kind, &found->at[i]);
			kr_str_add(out, "\n");
		}
		if (lint->counts[kind] > found->n)
			add_more(&w, name, lint->counts[kind] - found->n);
	}
}

/* ---- JSON ---- */

static void begin_object(const struct writer *w, const char *kind)
{
	kr_str_add(w->out, "{");
	kr_str_member(w->out, "trace", w->trace);
	kr_str_format(w->out, ", \"kind\": \"%s\"", kind);
}

static void json_near_field(const struct writer *w, const struct kr_near_field *near)
{
	struct kr_str text;

	begin_object(w, "near-field");
	kr_str_member(w->out, "file", w->trace);
	kr_str_format(w->out, ", \"line\": %u, \"field\": ", (unsigned)near->line);
	kr_str_json(w->out, near->name, strlen(near->name));
	kr_str_format(w->out, ", \"count\": %u", (unsigned)near->count);
	kr_str_init(&text, w->out->mem);
	kr_note_near_field(near, &text);
	kr_str_member_made(w->out, "message", &text);
	kr_str_add(w->out, "}\n");
}

static void json_message(const struct writer *w, enum kr_lint_kind kind, const struct kr_lint_finding *f)
{
	struct kr_str text;
	struct writer inner = *w;

	kr_str_init(&text, w->out->mem);
	inner.out = &text;
	add_message(&inner, kind, f);
	kr_str_member_made(w->out, "message", &text);
}

static void json_finding(const struct writer *w, enum kr_lint_kind kind, const struct kr_lint_finding *f)
{
	const struct kr_transaction *txn = &w->h->txns.at[f->txn.i];
	const char *file = file_of(w, f->txn);

	begin_object(w, kr_lint_name(kind));
	kr_str_member(w->out, "file", file);
	if (txn->line > 0)
		kr_str_format(w->out, ", \"line\": %u", (unsigned)txn->line);
	kr_history_json_member(w->h, "txn", txn->id, w->out);
	if (f->op != KR_NONE)
		kr_str_format(w->out, ", \"op\": %u", (unsigned)kr_history_place(w->h, f->txn, f->op));
	if (f->key.i != KR_NONE)
		kr_history_json_member(w->h, "key", w->h->keys.at[f->key.i].name, w->out);
	if (f->value.i != KR_NONE)
		kr_history_json_member(w->h, "value", f->value, w->out);
	if (f->element.text) {
		kr_str_add(w->out, ", \"element\": ");
		kr_str_add_bytes(w->out, f->element.text, f->element.length);
	}
	if (f->other.i != KR_NONE)
		kr_history_json_member(w->h, "other", w->h->txns.at[f->other.i].id, w->out);
	if (f->count > 0)
		kr_str_format(w->out, ", \"count\": %u", (unsigned)f->count);
	json_message(w, kind, f);
	kr_str_add(w->out, "}\n");
}

void kr_report_lint_json(const char *trace, const struct kr_history *h, const struct kr_lint *lint,
	struct kr_str *out)
{
	const struct writer w = {trace, h, out};
	struct kr_str text;

	if (h->skipped > 0) {
		begin_object(&w, "left-out");
		kr_str_format(out, ", \"count\": %u}\n", (unsigned)h->skipped);
	}
	if (none_committed(&w, &text)) {
		begin_object(&w, "none-committed");
		kr_str_member_made(out, "message", &text);
		kr_str_add(out, "}\n");
	}
	kr_str_done(&text);
	for (uint32_t i = 0; i < h->near_fields.n; i++)
		json_near_field(&w, &h->near_fields.at[i]);
	for (int kind = 0; kind < KR_LINT_KINDS; kind++)
		for (uint32_t i = 0; i < lint->found[kind].n && !out->failed; i++)
			json_finding(&w, (enum kr_lint_kind)kind, &lint->found[kind].at[i]);
}
