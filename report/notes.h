/* Notes: what whoever reads a verdict should know beside it, a sentence each, that the verdict itself does
 * not tell. */
#ifndef KR_REPORT_NOTES_H
#define KR_REPORT_NOTES_H

#include "frontend/history.h"

/* Without period and capital, as they stand behind "TRACE: note: ". */
struct kr_notes {
	struct kr_mem *mem;
	KR_VEC(struct kr_str) at;
	bool failed; /* out of memory */
};

void kr_notes_init(struct kr_notes *notes, struct kr_mem *mem);
void kr_notes_done(struct kr_notes *notes); /* also of a zeroed one */

void kr_notes_add(struct kr_notes *notes, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* what was left out, and what was probably meant */
void kr_notes_of_reading(struct kr_notes *notes, const struct kr_history *h);
/* what a verdict does not rest on */
void kr_notes_of_deciding(struct kr_notes *notes, const struct kr_history *h, bool by_timestamps);

/* `SEPARATOR"notes": ["..."]`, or nothing where there are none. */
void kr_notes_json(const struct kr_notes *notes, const char *separator, struct kr_str *out);

/* Sentences that lint has, too. */
void kr_note_near_field(const struct kr_near_field *near, struct kr_str *out);
bool kr_note_none_committed(const struct kr_history *h, struct kr_str *out); /* false: some transaction did */

/* How many transactions committed, and what became of the others. */
uint32_t kr_notes_committed(const struct kr_history *h, uint32_t *aborted, uint32_t *unknown);

#endif
