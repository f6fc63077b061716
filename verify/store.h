/* The state of the database while a serial order is replayed: a map from keys to values. Private to
 * verify/. */
#ifndef KR_VERIFY_STORE_H
#define KR_VERIFY_STORE_H

#include "base/ctx.h"
#include "frontend/json.h"

enum kr_cell_kind {
	KR_CELL_UNTOLD, /* the initial value, which the trace does not tell and nothing has fixed yet */
	KR_CELL_VALUE,  /* `value`; KR_ABSENT: no such key */
	KR_CELL_INT,    /* `integer`: a counter or mark */
	KR_CELL_LIST,   /* lists[index]: a list that grew */
	KR_CELL_SET     /* set_sizes[index] elements: a set that grew */
};

struct kr_cell {
	enum kr_cell_kind kind;
	union {
		kr_value value;
		int64_t integer;
		/* KR_CELL_UNTOLD: newest of the values in `excluded` that it is not, or KR_NONE */
		uint32_t index;
	};
};

struct kr_excluded { kr_value value; uint32_t next; };
/* set KR_NONE: taken out again; `reader`: the read that met it last */
struct kr_member { uint32_t set, element, reader; };
KR_VEC_NAMED(kr_list, char); /* JSON text without the closing bracket */

/* What a first replay tells of initial values that the trace does not (learned.c). */
enum kr_learned_kind {
	KR_LEARNED_VALUE,
	KR_LEARNED_ELEMENT,
	KR_LEARNED_NUMBER,
	KR_LEARNED_ABSENT,
	KR_LEARNED_ZERO /* or absent */,
	KR_LEARNED_PRESENT
};
struct kr_learned_fact {
	kr_key key;
	enum kr_learned_kind what;
	int64_t number;
	struct kr_piece element;
	kr_value value;
};
struct kr_learned_sum { int64_t sum; bool any; };
struct kr_learned {
	struct kr_mem *mem;
	struct kr_arena texts;
	KR_VEC(struct kr_learned_fact) facts;
	/* per key, where there is any: what was added to a counter of which nothing is told yet */
	KR_VEC(struct kr_learned_sum) added;
	bool learning;                       /* the first replay is under way */
};

/* What a key held; size: of a list's text or a set; members: how many there were; added: as in kr_learned. */
struct kr_touched { kr_key key; struct kr_cell cell; uint32_t size, members; struct kr_learned_sum added; };

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
	/* NULL: initial values are told, or nothing is to be learned of them */
	struct kr_learned *learned;
	/* parallel to set_sizes: what was in it at first is being learned */
	KR_VEC(bool) set_open;
	/* only for predicate reads, else NULL */
	uint32_t *ranks;                     /* per key, its place in key order */
	kr_key *by_rank;
	uint64_t *present;                   /* bit per rank: the key is present, or untold */
};

/* With `ordered`, keys can be walked in key order. On failure nothing is left to free. */
enum kr_status kr_store_init(struct kr_store *s, struct kr_ctx *ctx, const struct kr_history *h,
	bool ordered);
void kr_store_done(struct kr_store *s);

/* Whether the key has this value, or some other one. An untold initial value is fixed, or a value excluded,
 * by that. */
enum kr_status kr_store_is(struct kr_store *s, kr_key k, kr_value value, bool *out);
enum kr_status kr_store_is_not(struct kr_store *s, kr_key k, kr_value value, bool *out);

/* Whether it has it without a closer look; false says nothing. */
static inline bool kr_store_is_plainly(const struct kr_store *s, kr_key k, kr_value value)
{
	const struct kr_cell *cell = &s->cells[k.i];

	return cell->kind == KR_CELL_VALUE && cell->value.i == value.i && !s->learned;
}

void kr_store_put(struct kr_store *s, kr_key k, struct kr_cell cell);
static inline void kr_store_write(struct kr_store *s, kr_key k, kr_value value)
{
	kr_store_put(s, k, (struct kr_cell){KR_CELL_VALUE, .value = value});
}

/* An element of a list or set. KR_BAD: the key holds something else; KR_UNSUPPORTED: its initial value is not
 * told. */
enum kr_status kr_store_append(struct kr_store *s, kr_key k, kr_value element, struct kr_err *err);
enum kr_status kr_store_add(struct kr_store *s, kr_key k, kr_value element, struct kr_err *err);

/* Raises a mark; the same errors. */
enum kr_status kr_store_raise(struct kr_store *s, kr_key k, kr_value number, struct kr_err *err);

/* Between store.c and store_sets.c. Whether the elements of the array are those of the set, each once; a set
 * key whose value is an array becomes a set that can grow; that a key cannot; the JSON text of a value, valid
 * until the next call. */
bool kr_store_set_equals(struct kr_store *s, uint32_t set, struct kr_piece array);
enum kr_status kr_store_open_set(struct kr_store *s, kr_key k);
enum kr_status kr_store_cannot_grow(const struct kr_store *s, kr_key k, const char *expected,
	struct kr_err *err);
enum kr_status kr_store_text_of(struct kr_store *s, kr_value value, struct kr_piece *out);

/* For learned.c: whether a set that grew has the element; whether the key is absent; adds an element by its
 * text, or, of an untold set that is being learned, opens it. */
bool kr_store_has(struct kr_store *s, kr_key k, struct kr_piece element);
bool kr_store_is_absent(const struct kr_store *s, kr_key k);
enum kr_status kr_store_put_element(struct kr_store *s, kr_key k, struct kr_piece element);

/* Whether what is there of the key at first is being learned, so that it agrees to everything. */
bool kr_store_learns(const struct kr_store *s, kr_key k);

/* pinned_lists.c. Gives lists of untold initial value the one that reads tell. */
enum kr_status kr_store_pin_lists(struct kr_store *s);

/* learned.c. Facts of a first replay; kr_learned_start makes them initial values for the second. */
void kr_learned_init(struct kr_learned *l, struct kr_mem *mem);
void kr_learned_done(struct kr_learned *l);
/* it is a key of which something can be learned */
bool kr_learned_grows(const struct kr_history *h, kr_key k);
/* its initial value is no guess. Linear in what was learned */
bool kr_learned_settles(const struct kr_learned *l, const struct kr_history *h, kr_key k);
enum kr_status kr_learned_register(struct kr_learned *l, kr_key k, kr_value value);
enum kr_status kr_learned_add(struct kr_learned *l, kr_key k, int64_t amount);
/* of a mark, `added` is the largest number */
enum kr_status kr_learned_raise(struct kr_learned *l, kr_key k, int64_t number);
struct kr_learned_sum kr_learned_added(const struct kr_learned *l, kr_key k); /* safe on NULL */
/* what had been added before; safe on NULL */
void kr_learned_take_back(struct kr_learned *l, kr_key k, struct kr_learned_sum added);
enum kr_status kr_learned_zero(struct kr_learned *l, kr_key k);
enum kr_status kr_learned_number(struct kr_learned *l, kr_key k, int64_t number);
enum kr_status kr_learned_value(struct kr_store *s, kr_key k, kr_value value);
enum kr_status kr_learned_other(struct kr_store *s, kr_key k);
enum kr_status kr_learned_start(struct kr_store *s);

/* The value of a counter, 0 where absent. The same errors. */
enum kr_status kr_store_count(const struct kr_store *s, kr_key k, int64_t *out, struct kr_err *err);

/* To be called before every write of a key that may have to be undone; undoes all writes since the last undo.
 * What reads fixed of initial values stays. */
enum kr_status kr_store_touch(struct kr_store *s, kr_key k);
void kr_store_undo(struct kr_store *s);

/* Whether the conditions of a scan hold of the key, which is present. KR_UNSUPPORTED: that cannot be told. */
enum kr_status kr_store_matches(struct kr_store *s, const struct kr_scan *scan, kr_key k, bool *out,
	struct kr_err *err);

/* What the key holds, for messages. */
void kr_store_describe(const struct kr_store *s, kr_key k, char *out, size_t size);

/* Ranks [*low, *high) of the keys between two bounds (KR_ABSENT: open); and the next rank in a direction that
 * is present or untold, or KR_NONE. */
void kr_store_bounds(const struct kr_store *s, kr_value from, kr_value to, uint32_t *low, uint32_t *high);
uint32_t kr_store_next(const struct kr_store *s, uint32_t low, uint32_t high, bool reverse);

#endif
