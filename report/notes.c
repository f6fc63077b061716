/* Notes on a history. Linear in its transactions. */
#include "report/notes.h"

#include <stdarg.h>
#include <string.h>

void kr_notes_init(struct kr_notes *notes, struct kr_mem *mem) { *notes = (struct kr_notes){.mem = mem}; }

void kr_notes_done(struct kr_notes *notes)
{
	for (uint32_t i = 0; i < notes->at.n; i++)
		kr_str_done(&notes->at.at[i]);
	if (notes->mem)
		kr_vec_done(notes->mem, &notes->at);
}

/* An empty note, or NULL. */
static struct kr_str *new_note(struct kr_notes *notes)
{
	struct kr_str empty;

	kr_str_init(&empty, notes->mem);
	if (kr_vec_push(notes->mem, &notes->at, empty))
		return &notes->at.at[notes->at.n - 1];
	notes->failed = true;
	return NULL;
}

void kr_notes_add(struct kr_notes *notes, const char *format, ...)
{
	struct kr_str *note = new_note(notes);
	va_list args;

	if (!note)
		return;
	va_start(args, format);
	kr_str_vformat(note, format, args);
	va_end(args);
	notes->failed |= note->failed;
}

static const char *plural(uint32_t n) { return n == 1 ? "" : "s"; }

/* ---- of reading ---- */

void kr_note_near_field(const struct kr_near_field *near, struct kr_str *out)
{
	if (near->count == 1)
		kr_str_format(out, "the %s of line %u has a field \"", near->place, (unsigned)near->line);
	else
		kr_str_format(out, "%u %ss, the first in line %u, have a field \"", (unsigned)near->count,
			near->place, (unsigned)near->line);
	kr_str_shown(out, near->name);
	kr_str_format(out, "\", which means nothing; did you mean \"%s\"?", near->known);
}

void kr_notes_of_reading(struct kr_notes *notes, const struct kr_history *h)
{
	if (h->skipped > 0)
		kr_notes_add(notes, "left out %u bad transaction%s%s%s", (unsigned)h->skipped,
			plural(h->skipped), h->first_skipped ? "; the first: " : "",
			h->first_skipped ? h->first_skipped : "");
	for (uint32_t i = 0; i < h->near_fields.n; i++) {
		struct kr_str *note = new_note(notes);
		if (note)
			kr_note_near_field(&h->near_fields.at[i], note);
		notes->failed |= note && note->failed;
	}
	if (h->guessed.i != KR_NONE) {
		const char *name = kr_history_value(h, h->keys.at[h->guessed.i].name)->text;

		kr_notes_add(notes,
			"the field name \"%s\" is taken for the key \"%s\", not for the number %s: the trace "
			"does not tell which is meant",
			name, name, name);
	}
}

/* ---- of deciding ---- */

uint32_t kr_notes_committed(const struct kr_history *h, uint32_t *aborted, uint32_t *unknown)
{
	uint32_t counts[] = {[KR_COMMITTED] = 0, [KR_ABORTED] = 0, [KR_UNKNOWN] = 0};

	for (uint32_t t = 0; t < h->txns.n; t++)
		counts[h->txns.at[t].status]++;
	*aborted = counts[KR_ABORTED];
	*unknown = counts[KR_UNKNOWN];
	return counts[KR_COMMITTED];
}

bool kr_note_none_committed(const struct kr_history *h, struct kr_str *out)
{
	uint32_t aborted, unknown, t = 0;

	while (t < h->txns.n && h->txns.at[t].status != KR_COMMITTED)
		t++;
	if (t < h->txns.n)
		return false;
	(void)kr_notes_committed(h, &aborted, &unknown);
	kr_str_add(out, "no transaction committed: ");
	if (h->txns.n == 0)
		kr_str_add(out, "the trace is empty");
	else
		kr_str_format(out, "%u aborted, %u of unknown outcome", (unsigned)aborted, (unsigned)unknown);
	return true;
}

static void note_committed(struct kr_notes *notes, const struct kr_history *h)
{
	struct kr_str text;

	kr_str_init(&text, notes->mem);
	if (kr_note_none_committed(h, &text))
		kr_notes_add(notes, "%s", kr_str_text(&text));
	notes->failed |= text.failed;
	kr_str_done(&text);
}

/* No level looks at them. */
static void note_timestamps(struct kr_notes *notes, const struct kr_history *h)
{
	uint32_t n = 0, told = 0;
	bool all = true;

	for (uint32_t t = 0; t < h->txns.n && h->white_box.n > 0; t++) {
		unsigned both = KR_TXN_HAS_SNAPSHOT | KR_TXN_HAS_COMMIT_TS,
			 flags = h->txns.at[t].flags & both;
		n += flags != 0;
		told |= flags;
		all &= flags == both || h->txns.at[t].status != KR_COMMITTED;
	}
	if (n == 0)
		return;
	const char *what = told == KR_TXN_HAS_SNAPSHOT ? "start"
		: told == KR_TXN_HAS_COMMIT_TS         ? "commit"
						       : "start and commit";
	kr_notes_add(notes, "the database's %s timestamps of %u transaction%s were not looked at%s", what,
		(unsigned)n, plural(n), all ? "; '--profile timestamps-si' goes by them" : "");
}

void kr_notes_of_deciding(struct kr_notes *notes, const struct kr_history *h, bool by_timestamps)
{
	note_committed(notes, h);
	if (!by_timestamps)
		note_timestamps(notes, h);
}

void kr_notes_json(const struct kr_notes *notes, const char *separator, struct kr_str *out)
{
	if (!notes || notes->at.n == 0)
		return;
	kr_str_format(out, "%s\"notes\": [", separator);
	for (uint32_t i = 0; i < notes->at.n; i++) {
		kr_str_add(out, i > 0 ? ", " : "");
		kr_str_json(out, kr_str_text(&notes->at.at[i]), notes->at.at[i].n);
	}
	kr_str_add(out, "]");
}
