/* The state of the database while a serial order is replayed: a map from keys to values. Private to verify/. */
#ifndef KR_VERIFY_STORE_H
#define KR_VERIFY_STORE_H

#include "base/ctx.h"
#include "frontend/json.h"

enum kr_cell_kind {
	KR_CELL_UNTOLD, /* the initial value, which the trace does not tell and nothing has fixed yet */
	KR_CELL_VALUE,  /* `value`; KR_ABSENT: no such key */
	KR_CELL_INT,    /* `integer`: a counter */
	KR_CELL_LIST,   /* lists[index]: a list that grew */
	KR_CELL_SET     /* set_sizes[index] elements: a set that grew */
};

struct kr_cell {
	enum kr_cell_kind kind;
	union {
		kr_value value;
		int64_t integer;
		uint32_t index; /* KR_CELL_UNTOLD: newest of the values in `excluded` that it is not, or KR_NONE */
	};
};

struct kr_excluded { kr_value value; uint32_t next; };
struct kr_member { uint32_t set, element, reader; }; /* set KR_NONE: taken out again; `reader`: the read that met it last */
struct kr_touched { kr_key key; struct kr_cell cell; uint32_t size, members; }; /* what a key held; size: of a list's text or a set; members: how many there were */
KR_VEC_NAMED(kr_list, char); /* JSON text without the closing bracket */

struct kr_store {
	struct kr_mem *mem;
	const struct kr_history *h;
	struct kr_cell *cells;               /* per key */
	KR_VEC(struct kr_excluded) excluded;
	KR_VEC(struct kr_list) lists;
	KR_VEC(uint32_t) set_sizes;
	KR_VEC(struct kr_piece) elements;    /* of sets, each text once */
	KR_VEC(struct kr_member) members;
	KR_VEC(struct kr_touched) touched;   /* since the last kr_store_undo */
	struct kr_table element_table, member_table;
	struct kr_arena texts;               /* of elements */
	struct kr_str scratch;
	uint32_t reads;                      /* of sets so far */
	/* only for predicate reads, else NULL */
	uint32_t *ranks;                     /* per key, its place in key order */
	kr_key *by_rank;
	uint64_t *present;                   /* bit per rank: the key is present, or untold */
};

/* With `ordered`, keys can be walked in key order. On failure nothing is left to free. */
enum kr_status kr_store_init(struct kr_store *s, struct kr_ctx *ctx, const struct kr_history *h, bool ordered);
void kr_store_done(struct kr_store *s);

/* Whether the key has this value, or some other one. An untold initial value is fixed, or a value excluded, by that. */
enum kr_status kr_store_is(struct kr_store *s, kr_key k, kr_value value, bool *out);
enum kr_status kr_store_is_not(struct kr_store *s, kr_key k, kr_value value, bool *out);

void kr_store_put(struct kr_store *s, kr_key k, struct kr_cell cell);
static inline void kr_store_write(struct kr_store *s, kr_key k, kr_value value) { kr_store_put(s, k, (struct kr_cell){KR_CELL_VALUE, .value = value}); }

/* An element of a list or set. KR_BAD: the key holds something else; KR_UNSUPPORTED: its initial value is not told. */
enum kr_status kr_store_append(struct kr_store *s, kr_key k, kr_value element, struct kr_err *err);
enum kr_status kr_store_add(struct kr_store *s, kr_key k, kr_value element, struct kr_err *err);

/* The value of a counter, 0 where absent. The same errors. */
enum kr_status kr_store_count(const struct kr_store *s, kr_key k, int64_t *out, struct kr_err *err);

/* To be called before every write of a key that may have to be undone; undoes all writes since the last undo. What reads fixed of initial values stays. */
enum kr_status kr_store_touch(struct kr_store *s, kr_key k);
void kr_store_undo(struct kr_store *s);

/* Whether the conditions of a scan hold of the key, which is present. KR_UNSUPPORTED: that cannot be told. */
enum kr_status kr_store_matches(struct kr_store *s, const struct kr_scan *scan, kr_key k, bool *out, struct kr_err *err);

/* What the key holds, for messages. */
void kr_store_describe(const struct kr_store *s, kr_key k, char *out, size_t size);

/* Ranks [*low, *high) of the keys between two bounds (KR_ABSENT: open); and the next rank in a direction that is present or untold, or KR_NONE. */
void kr_store_bounds(const struct kr_store *s, kr_value from, kr_value to, uint32_t *low, uint32_t *high);
uint32_t kr_store_next(const struct kr_store *s, uint32_t low, uint32_t high, bool reverse);

#endif
