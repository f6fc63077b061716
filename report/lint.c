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

static void add_times(const struct writer *w, const char *before, const struct kr_lint_finding *f,
	const char *after)
{
	kr_str_format(w->out, "%s%lld, %s%lld", before, (long long)f->time, after, (long long)f->other_time);
}

/* What is found of values. */
static void add_value_sentence(const struct writer *w, enum kr_lint_kind kind,
	const struct kr_lint_finding *f)
{
	switch (kind) {
	case KR_LINT_DUPLICATE_VALUE:
		kr_str_add(w->out, " writes ");
		add_pair(w, f);
		if (f->other.i == KR_NONE) {
			kr_str_add(w->out, ", which is there from the start");
			return;
		}
		kr_str_add(w->out, ", as did ");
		add_other(w, f);
		return;
	case KR_LINT_VALUE_UNWRITTEN:
		kr_str_add(w->out, " reads ");
		add_pair(w, f);
		kr_str_add(w->out, ", which nobody wrote and which is not initial");
		return;
	case KR_LINT_KEY_UNWRITTEN:
		kr_str_add(w->out, " reads ");
		add_key(w, f->key);
		kr_str_add(w->out, ", which nobody writes");
		return;
	case KR_LINT_MIXED_TYPES:
		kr_str_add(w->out, " reads ");
		add_key(w, f->key);
		kr_str_add(w->out, " as another type than before: its reads show ");
		add_types(w, f->types);
		return;
	case KR_LINT_SAME_VALUE:
		kr_str_add(w->out, " writes ");
		add_pair(w, f);
		kr_str_add(w->out, ", which it has just read");
		return;
	default: return;
	}
}

static void add_read_sentence(const struct writer *w, const char *status, const struct kr_lint_finding *f,
	const char *guess)
{
	kr_str_format(w->out, " is %s, but ", status);
	add_other(w, f);
	kr_str_format(w->out, " read what its ops[%u] wrote, ",
		(unsigned)kr_history_place(w->h, f->txn, f->op));
	add_pair(w, f);
	kr_str_format(w->out, ": %s", guess);
}

static void add_sentence(const struct writer *w, enum kr_lint_kind kind, const struct kr_lint_finding *f)
{
	add_name(w, f->txn);
	switch (kind) {
	case KR_LINT_ABORTED_READ:
		add_read_sentence(w, "aborted", f, "a timeout that was taken for a failure?");
		return;
	case KR_LINT_UNKNOWN_READ: add_read_sentence(w, "unknown", f, "it took effect"); return;
	case KR_LINT_TIMED_OUT:
		kr_str_add(w->out,
			" is aborted, but its error speaks of a timeout: is it known that it had no effect?");
		return;
	case KR_LINT_SLOW_ABORT:
		add_times(w, " is aborted and lasted ", f, "longer than any that committed: ");
		kr_str_add(w->out, " for ");
		add_other(w, f);
		kr_str_add(w->out, ". A timeout that was taken for a failure?");
		return;
	case KR_LINT_EARLY_READ:
		kr_str_add(w->out, " reads ");
		add_pair(w, f);
		add_times(w, ", but the transaction ends at ", f, "before the start, at ");
		kr_str_add(w->out, ", of ");
		add_other(w, f);
		kr_str_add(w->out, ", which wrote that: their clocks differ");
		return;
	case KR_LINT_SESSION_OVERLAP:
	case KR_LINT_SESSION_BACKWARDS:
		add_times(w, " starts at ", f,
			kind == KR_LINT_SESSION_OVERLAP ? "before the return, at " : "before the start, at ");
		kr_str_add(w->out, ", of ");
		add_other(w, f);
		kr_str_add(w->out, ", earlier in its session");
		return;
	case KR_LINT_OP_BACKWARDS: add_times(w, " was invoked at ", f, "but one in front of it at "); return;
	case KR_LINT_OP_OUTSIDE:
		if (f->time < f->other_time)
			add_times(w, " was invoked at ", f, "but the transaction begins at ");
		else
			add_times(w, " returned at ", f, "but the transaction ends at ");
		return;
	case KR_LINT_NO_BEGIN: kr_str_add(w->out, " has no begin time, but others have"); return;
	case KR_LINT_NO_END: kr_str_add(w->out, " has no end time, but others have"); return;
	case KR_LINT_DEFAULT_ID:
		if (f->count == 1)
			kr_str_add(w->out, " has no id: it is named by its place");
		else
			kr_str_format(w->out, " and %u more have no id: they are named by their places",
				(unsigned)f->count - 1);
		return;
	default: add_value_sentence(w, kind, f); return;
	}
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
	if (f->value.i != KR_NONE) {
		kr_history_json_member(w->h, "value", f->value, w->out);
	}
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
