/* Schedules: who does what in which order, and how a schedule is written (docs/schedules.md). Source: Li,
 * Chen, Li, "Coo: Consistency Check for Transactional Databases", with the corrections of
 * docs/schedules.md. */
#ifndef KR_COO_SCHEDULE_H
#define KR_COO_SCHEDULE_H

#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"

/* transactions are 1 to 9, objects 'd' to 'z'; 'a' to 'c' are ranges */
enum { KR_COO_TXNS = 9, KR_COO_OBJECTS = 26 };

enum kr_coo_kind {
	KR_COO_READ,      /* R1x */
	KR_COO_WRITE,     /* W1x5; without a number: the next value that is not used */
	KR_COO_DELETE,    /* D1x */
	KR_COO_INSERT,    /* I1u5 */
	KR_COO_LOCK_READ, /* L1x: read for update */
	KR_COO_QUERY,     /* Q1a: reads all rows of a range */
	KR_COO_UPDATE,    /* U1a5: writes all rows of a range */
	KR_COO_COMMIT,    /* C1 */
	KR_COO_ABORT,     /* A1 */
	KR_COO_KINDS
};

struct kr_coo_op {
	uint8_t kind;     /* enum kr_coo_kind */
	uint8_t txn;      /* 1 to 9 */
	/* of a single-object operation its object, of a query or update its range; 0 for commit and abort */
	char object;
	int64_t value;    /* write, insert, update */
	uint32_t column;  /* 1-based, in the line; 0: not from text */
};

struct kr_coo_schedule {
	char id[32], name[64];
	/* per transaction: the level that the schedule gives it, else "" */
	char level[KR_COO_TXNS + 1][16];
	KR_VEC(struct kr_coo_op) ops;
	bool given[KR_COO_OBJECTS];            /* per object: its initial value is given */
	int64_t initial[KR_COO_OBJECTS];       /* else 0 for x, y, z and those before u; u, v, w are absent */
	uint32_t line;                         /* in its file; 0: none */
};

static inline uint32_t kr_coo_index(char object) { return (uint32_t)(object - 'a'); }

/* The two objects of a range: a is x and u, b is y and v, c is z and w. */
void kr_coo_range(char range, char objects[2]);
/* Whether an object is there at the beginning, and its value. */
bool kr_coo_initial(const struct kr_coo_schedule *s, char object, int64_t *value);

/* Reads "ID NAME | SCHEDULE | INITIAL" (the last part may be missing; a line without '|' is a schedule
 * alone). KR_BAD with line and column: a token that is none, an operation behind its transaction's end, a
 * value that an object has had before, a transaction or object out of range. On success the caller owns *out
 * (kr_coo_schedule_done). */
enum kr_status kr_coo_parse(struct kr_mem *mem, const char *text, uint32_t line, struct kr_coo_schedule *out,
	struct kr_err *err);
void kr_coo_schedule_done(struct kr_mem *mem, struct kr_coo_schedule *s);

/* The schedule alone, as it is read. */
void kr_coo_print(const struct kr_coo_schedule *s, struct kr_str *out);
void kr_coo_print_op(const struct kr_coo_op *op, struct kr_str *out);

/* ---- generated schedules (generate.c) ---- */

enum { KR_COO_EDGES = 9 };

/* From "RW0-WCR1": the edge i goes from transaction i to the one after it, the last to the first; the digit
 * is the object. The schedule has this cycle. KR_BAD with the column: no spec; or all edges say that their
 * transaction has committed before, which cannot be. The caller owns *out. */
enum kr_status kr_coo_generate(struct kr_mem *mem, const char *spec, struct kr_coo_schedule *out,
	struct kr_err *err);

struct kr_rng;
/* A random spec of `least` to `most` edges (2 to 9) on 1 to `objects` objects (1 to 9) that kr_coo_generate
 * takes. */
void kr_coo_random_spec(struct kr_rng *rng, uint32_t least, uint32_t most, uint32_t objects,
	char out[KR_COO_EDGES * 5]);

#endif
