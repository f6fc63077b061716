/* Phrases: operations, versions and dependencies of a history in the user's own words. */
#ifndef KR_REPORT_WORDS_H
#define KR_REPORT_WORDS_H

#include "base/str.h"
#include "frontend/json.h"
#include "verify/verify.h"

/* The transactions that a text speaks of, numbered as they are first mentioned, and the operations that
 * matter to it. */
struct kr_cast {
	struct kr_mem *mem;
	uint32_t ntxns;
	/* the trace's own ids are short names that are no key's, or look like numbers of the cast: they are
	 * used instead */
	bool by_id;
	uint32_t *number;    /* per transaction, from 1; 0: not mentioned so far */
	KR_VEC(kr_txn) txns; /* by number */
	KR_VEC(kr_op) ops;   /* in the order of mention, with repetitions */
	bool failed;         /* out of memory */
};

void kr_cast_init(struct kr_cast *cast, struct kr_mem *mem, const struct kr_history *h);
void kr_cast_done(struct kr_cast *cast);

struct kr_words {
	const struct kr_history *h;
	struct kr_cast *cast; /* transactions are called "T3"; NULL: by their ids */
	struct kr_str *out;
};

/* Makes the operation (KR_NONE: none) one of those that matter. */
void kr_words_mention(const struct kr_words *w, kr_op op);

#define KR_WORDS_VALUE 40 /* bytes of a value that are shown */

/* of a key, a session or a transaction; long ones are cut */
void kr_words_name(const struct kr_words *w, kr_value name);
void kr_words_add_value(const struct kr_words *w, kr_value value);

void kr_words_txn(const struct kr_words *w, kr_txn t);
void kr_words_key(const struct kr_words *w, kr_key k); /* "x", "key 9" */

/* The version of k that `writer` (KR_NONE: nobody, the initial one) left: "x = 5", "x absent", "delete of x",
 * "append of 5 to x". */
void kr_words_version(const struct kr_words *w, kr_key k, kr_txn writer);

/* Does the trace give an order of k's versions in which a's (KR_NONE: the initial one) stands before b's? */
bool kr_words_order_is_given(const struct kr_history *h, kr_key k, kr_txn a, kr_txn b);

/* How t left k, as a verb phrase: "wrote x = 5", "deleted x", "appended 5 to x". */
void kr_words_wrote(const struct kr_words *w, kr_txn t, kr_key k);

/* The order of two versions: "x: 5 (T1) VERB 10 (T2)". */
void kr_words_order(const struct kr_words *w, kr_key k, kr_txn a, const char *verb, kr_txn b);

/* What the operation tells of k, as a verb phrase: "read x = 5", "found x absent", "did not find x", "read l
 * = [1,2] (2 its own)". */
void kr_words_seen(const struct kr_words *w, kr_op op, kr_key k);

/* The operation as in the trace, shortened: `r x 5`, `range "a" "c" {a 1, b 2}` (words_op.c). */
void kr_words_op(const struct kr_words *w, kr_op op);

/* What a text speaks of. */
struct kr_said {
	kr_txn txns[3];
	kr_key key;
	kr_op ops[3];
	const char *did;
	struct kr_piece element; /* of a list or a set */
};

/* Adds the text with words in place of what is in braces: {0} txns[0], {key}, {did}, {element}, cut where
 * values are, {left 0} the version of the key that txns[0] left, {wrote 0} how it did (kr_words_wrote), {saw
 * 0} what ops[0] tells of the key (kr_words_seen), {op 0} the operation, {value 0} what it adds. The text is
 * a constant of the program. */
void kr_words_say(const struct kr_words *w, const char *text, struct kr_said said);

/* Its transactions: from, to, and the source of what was seen; ops[0] is what saw it. */
struct kr_said kr_said_edge(const struct kr_history *h, const struct kr_cert_edge *e);

/* Why the edge holds when its guard does: "T2 read x = 5, which T1 wrote". `notes` (NULL: none) are called
 * where a remark on the source of what was seen, and on the order of versions, belongs. */
struct kr_words_notes { const void *data; void (*sight)(const void *data), (*order)(const void *data); };
void kr_words_edge(const struct kr_words *w, const struct kr_cert_edge *e,
	const struct kr_words_notes *notes);

/* The operation with which t leaves its version of k, i == KR_NONE: it writes none. */
kr_op kr_words_last_write(const struct kr_history *h, kr_txn t, kr_key k);

/* Does the operation write k? */
bool kr_words_writes(const struct kr_history *h, kr_op op, kr_key k);

/* Does the trace tell what the operation found of k? Of ranges and scans only of the rows that they show. */
bool kr_words_sees(const struct kr_history *h, kr_op op, kr_key k);

/* The value of k that a read shows, or the first of another operation; KR_UNTOLD: it shows no row of it. */
kr_value kr_words_value(const struct kr_history *h, kr_op op, kr_key k);
/* Whether a read saw anything of the key. */
bool kr_words_finds(const struct kr_history *h, kr_op op, kr_key k);

/* Does t read k, before it writes it otherwise than by adding to it, with an operation whose result the trace
 * tells? */
bool kr_words_reads(const struct kr_history *h, kr_txn t, kr_key k);

#endif
