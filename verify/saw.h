/* What one operation means for one key: what it saw there, and what it left there. Private to verify/. */
#ifndef KR_VERIFY_SAW_H
#define KR_VERIFY_SAW_H

#include "frontend/where.h"

enum kr_saw_test {
	KR_SAW_NOTHING,  /* the operation says nothing of the key */
	KR_SAW_VALUE,    /* it had this value (KR_ABSENT: none) */
	KR_SAW_OTHER,    /* it had any value but this */
	KR_SAW_MATCH,    /* it was present and met the conditions of a scan, some of them on values */
	KR_SAW_NO_MATCH, /* it was absent or failed one of them, some of them on values */
	KR_SAW_UNTOLD    /* it was seen, but what that says is not known here */
};

struct kr_saw {
	enum kr_saw_test test;
	kr_value value;  /* KR_SAW_VALUE, KR_SAW_OTHER */
	uint32_t scan;   /* KR_SAW_MATCH, KR_SAW_NO_MATCH: into h->scans */
	bool predicate;  /* the key was not returned by a predicate read */
};

bool kr_saw_nothing_in(const struct kr_history *h, kr_value value); /* is it an array of no elements? */

/* What `op` saw of `key`, whoever wrote it. A search among the rows for predicate reads, else constant
 * time. */
struct kr_saw kr_saw_of(const struct kr_history *h, const struct kr_operation *op, kr_key key);

/* The same of a key that `op`, a predicate read, did not return: without the search. */
struct kr_saw kr_saw_missed(const struct kr_history *h, const struct kr_operation *op, kr_key key);

/* Whether a version with this value could be what was seen. *out is written on KR_OK; KR_UNSUPPORTED: a
 * condition or a value that cannot be judged. */
enum kr_status kr_saw_allows(const struct kr_history *h, const struct kr_saw *saw, kr_key key, kr_value value,
	bool *out, struct kr_err *err);

/* The keys that `op` saw by name: its own key, or its rows. Keys that a predicate read did not return are not
 * among them. */
uint32_t kr_saw_count(const struct kr_history *h, const struct kr_operation *op);
kr_key kr_saw_key(const struct kr_history *h, const struct kr_operation *op, uint32_t i);
/* what it saw of that key, without a search */
struct kr_saw kr_saw_at(const struct kr_history *h, const struct kr_operation *op, uint32_t i);

/* Whether the i-th row of a predicate read is one that it can have, whatever was there: in bounds, within the
 * limit, behind the row before it, meeting the conditions. That no key was returned twice is not asked. */
enum kr_status kr_saw_row_fits(const struct kr_history *h, const struct kr_operation *op, uint32_t i,
	bool *out, struct kr_err *err);

/* What `op` wrote. */
/* value with i == KR_NONE: it depends on what was there (inc without result, append, add) */
struct kr_written_row { kr_key key; kr_value value; };
uint32_t kr_effect_count(const struct kr_history *h, const struct kr_operation *op);
struct kr_written_row kr_effect_at(const struct kr_history *h, const struct kr_operation *op, uint32_t i);

/* Walks all that transaction t writes, operation by operation: e.row, by its operation e.op.
 *     for (struct kr_effects e = kr_effects_of(h, t); kr_effects_next(&e);) ... */
struct kr_effects { const struct kr_history *h; kr_txn t; uint32_t op, at; struct kr_written_row row; };
static inline struct kr_effects kr_effects_of(const struct kr_history *h, kr_txn t)
{
	return (struct kr_effects){.h = h, .t = t, .at = KR_NONE};
}
bool kr_effects_next(struct kr_effects *e);

/* Whether operations add to what the key holds. */
static inline bool kr_saw_grows(const struct kr_history *h, kr_key k)
{
	return h->keys.at[k.i].kind > KR_KIND_REGISTER;
}

#endif
