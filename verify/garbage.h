/* Garbage reads as read uncommitted means them: what nothing ever written explains, whoever wrote it and
 * whatever became of him. Private to verify/, but for verify.h's entry. */
#ifndef KR_VERIFY_GARBAGE_H
#define KR_VERIFY_GARBAGE_H

#include "frontend/history_written.h"
#include "verify/saw.h"
#include "verify/verifier.h"

typedef __int128 kr_wide;

/* Whole numbers as spans that do not touch, ascending. */
struct kr_number_span { kr_wide low, high; };
KR_VEC_NAMED(kr_number_spans, struct kr_number_span);

/* row KR_NONE: the operation's own key, or one that a predicate read did not return */
struct kr_seen_at { kr_txn txn; uint32_t op, row; };
KR_VEC_NAMED(kr_seen_list, struct kr_seen_at);

struct kr_amount { kr_key key; int64_t delta; };

struct kr_garbage {
	struct kr_arena arena;
	struct kr_ctx *ctx;
	struct kr_mem *mem;
	const struct kr_history *h;
	struct kr_err *err;
	struct kr_written *written;
	bool *deleted, *put;               /* per key: somebody deleted it; added to it */
	uint32_t *value_first;             /* nkeys + 1 */
	/* what was written to registers and marks: by key and value, each once */
	KR_VEC(struct kr_row) values;
	uint32_t *amount_first;            /* nkeys + 1 */
	KR_VEC(struct kr_amount) amounts;  /* increments: by key and size */
	uint32_t *seen_first;              /* nkeys + 1 */
	struct kr_seen_at *seen;           /* by committed transactions, of keys by name, in trace order */
	struct kr_seen_list scans;         /* predicate reads by committed transactions */
	struct kr_seen_list list;          /* scratch: all that was seen of the key at hand */
	kr_key summed;                     /* `sums` are its; KR_NONE: nobody's */
	struct kr_number_spans sums, scratch;
};

/* What was seen at the place, of key k. */
struct kr_saw kr_garbage_saw(const struct kr_garbage *g, const struct kr_seen_at *at, kr_key k);
const struct kr_operation *kr_garbage_op(const struct kr_garbage *g, const struct kr_seen_at *at);

/* Whether key k can ever have been absent, where its initial value is told. */
bool kr_garbage_may_be_absent(const struct kr_garbage *g, kr_key k);

/* Whether something that k ever held explains what was seen; and, where its initial value is not told,
 * whether one such value does together with what was written, all that was seen at the first n places of
 * g->list. KR_UNSUPPORTED: it cannot be told. Registers (garbage.c), counters (garbage_sums.c), lists and
 * sets (garbage_arrays.c). */
enum kr_status kr_garbage_sum_explained(struct kr_garbage *g, kr_key k, const struct kr_seen_at *at,
	bool *out);
enum kr_status kr_garbage_sums_fit(struct kr_garbage *g, kr_key k, uint32_t n, bool *out);
enum kr_status kr_garbage_array_explained(struct kr_garbage *g, kr_key k, const struct kr_seen_at *at,
	bool *out);
enum kr_status kr_garbage_arrays_fit(struct kr_garbage *g, kr_key k, uint32_t n, bool *out);

/* Whether that place is a garbage read. */
enum kr_status kr_verify_garbage(struct kr_verifier *v, const struct kr_garbage_place *place, bool *out);

enum kr_status kr_garbage_vague(const struct kr_garbage *g, kr_key k, const char *what);

#endif
