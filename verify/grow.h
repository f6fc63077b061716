/* Keys whose values grow: counters, lists, sets and marks. What their versions are, and what an observation
 * says of them. Private to verify/. */
#ifndef KR_VERIFY_GROW_H
#define KR_VERIFY_GROW_H

#include "base/ctx.h"
#include "frontend/json.h"
#include "verify/saw.h"

enum kr_grow_mode {
	KR_GROW_NOT,    /* a register: versions are values */
	KR_GROW_VALUES, /* a counter each of whose versions is a number that is known, or absent */
	KR_GROW_SUM,    /* a counter: its value is a sum over the increments before it */
	KR_GROW_LIST,
	KR_GROW_SET,    /* or a mark: of its numbers only the largest is seen (kr_grow_is_mark) */
	KR_GROW_UNKNOWN /* what its observations say is not known here */
};

struct kr_grow_version { /* of a counter, parallel to kr_facts.versions */
	bool relative;  /* amount is what it adds to the version before it; else it is its value */
	bool absent;
	int64_t amount;
};

/* An external observation by name; `own`, own_count: what its transaction had added before, as a sum and in
 * number. */
struct kr_grow_sight { kr_txn txn; kr_key key; uint32_t op, own_count; int64_t own; };

/* an append, add or max, by whomever */
struct kr_grow_add { kr_key key; uint32_t element; kr_txn txn; uint32_t op; };

/* What a counter was seen to be. */
enum kr_count_test {
	KR_COUNT_NEVER,
	KR_COUNT_IS,
	KR_COUNT_ABSENT,
	KR_COUNT_PRESENT,
	KR_COUNT_MATCH,
	KR_COUNT_NO_MATCH
};
/* over: own increments, for conditions */
struct kr_count {
	enum kr_count_test test;
	int64_t number;
	bool or_absent;
	uint32_t scan;
	bool over;
	int64_t own;
};

struct kr_parsed { uint32_t first, count; }; /* into members */

struct kr_grow {
	struct kr_arena arena;
	struct kr_mem *mem;
	const struct kr_history *h;
	struct kr_arena texts;
	struct kr_str scratch;
	uint8_t *mode;                        /* per key, enum kr_grow_mode */
	bool *deleted;                        /* per key: by a transaction that was not aborted */
	struct kr_grow_version *versions;
	uint32_t count;                       /* of versions */
	uint32_t *sight_first;                /* nkeys + 1 */
	struct kr_grow_sight *sights;         /* by key, then transaction and operation */
	uint32_t sight_count;
	KR_VEC(struct kr_piece) elements;     /* texts, each once */
	KR_VEC(struct kr_grow_add) adds;
	KR_VEC(uint32_t) members;             /* elements of the arrays parsed so far */
	KR_VEC(struct kr_parsed) parsed;
	uint32_t *parsed_of;                  /* per value: 1 + into parsed; 0: not yet */
	/* per value: 1 + its number as an element; 0: not asked for yet */
	uint32_t *element_of;
	struct kr_table element_table, add_table;
	/* per version: its place in the longest list, or among the sets, that committed transactions read;
	 * KR_NONE: it is not shown; KR_GROW_VAGUE */
	uint32_t *rank;
	bool *ranked;                         /* per key */
	/* per key: 2 + into sights, the longest list that a committed transaction read; 1: none; 0: not yet
	 * asked for */
	uint32_t *longest;
	kr_key initial_key;                   /* of which initial_parts has the initial elements */
	KR_VEC(kr_value) initial_parts;
};

#define KR_GROW_VAGUE (KR_NONE - 1)

static inline bool kr_grow_is_mark(const struct kr_grow *g, kr_key k)
{
	return g->h->keys.at[k.i].kind == KR_KIND_MARK;
}

struct kr_facts;
struct kr_sight;

/* On failure the facts' own end frees what there is. */
enum kr_status kr_grow_init(struct kr_facts *f, struct kr_ctx *ctx);
void kr_grow_done(struct kr_facts *f);

/* The observation of k by t's operation, or NULL: it is none by name, or not an external one. */
const struct kr_grow_sight *kr_grow_sight(const struct kr_facts *f, kr_key k, kr_txn t, uint32_t op);

/* The number of an element, and the elements of an array that k holds ([] where the value is absent; *count
 * KR_NONE: it is no array); of a mark, its number is the one element. Only memory can fail. The pointer holds
 * until the next call. */
enum kr_status kr_grow_element(struct kr_grow *g, kr_value value, uint32_t *out);
enum kr_status kr_grow_array(struct kr_grow *g, kr_key k, kr_value value, const uint32_t **members,
	uint32_t *count);

/* Fills initial_parts for k. A walk over all values, unless the last call was for the same key or it starts
 * empty. */
enum kr_status kr_grow_initial_parts(struct kr_grow *g, kr_key k);

/* The appends or adds of an element to k: walk with kr_grow_next_add until NULL. */
kr_table_iter kr_grow_adds(const struct kr_grow *g, kr_key k, uint32_t element);
const struct kr_grow_add *kr_grow_next_add(const struct kr_grow *g, kr_table_iter *it, kr_key k,
	uint32_t element);

/* Whether an untold initial value may hold the element. */
/* Whether a value is an integer: *out, else 0. */
bool kr_grow_integer(const struct kr_history *h, kr_value value, int64_t *out);
bool kr_grow_may_start_with(const struct kr_facts *f, kr_key k, uint32_t element);
/* The only append of the element that may have taken effect, or NULL with *count of such, and whether it is
 * in the initial value. */
enum kr_status kr_grow_appender(const struct kr_facts *f, kr_key k, uint32_t element,
	const struct kr_grow_add **out, uint32_t *count, bool *initial);

/* What t leaves of an element of set k; of a mark, it leaves the largest number alone. */
enum kr_membership { KR_MEMBER_UNTOUCHED, KR_MEMBER_IN, KR_MEMBER_OUT };
/* by its operations before `end` */
enum kr_status kr_grow_member(const struct kr_facts *f, kr_key k, kr_txn t, uint32_t end, uint32_t element,
	enum kr_membership *out);

/* Whether the array that the observation shows, if it shows one, lists the element. */
enum kr_status kr_grow_lists(const struct kr_facts *f, const struct kr_sight *s, uint32_t element, bool *out);

/* Whether the observation of a list or set tells that it was there, or not: that it failed conditions which
 * all, or some, fail does not. */
bool kr_grow_tells(const struct kr_facts *f, const struct kr_sight *s);

/* Whether the observation of a set, which tells something, shows the element; KR_NONE: shows that the set was
 * there. */
enum kr_status kr_grow_shows(const struct kr_facts *f, const struct kr_sight *s, uint32_t element, bool *out,
	struct kr_err *err);

/* What the observation says of a counter. */
struct kr_count kr_grow_count(const struct kr_history *h, const struct kr_sight *s);
bool kr_grow_count_allows(const struct kr_history *h, const struct kr_count *want, kr_key k, bool absent,
	int64_t number);
/* A counter's value before all transactions; false: it is told to be something else, or not told. */
bool kr_grow_initial_count(const struct kr_history *h, kr_key k, bool *absent, int64_t *number);

/* kr_facts_candidate for growing keys. */
enum kr_status kr_grow_candidate(const struct kr_facts *f, const struct kr_sight *s, kr_txn writer, bool *out,
	struct kr_err *err);

/* Whether a version of list or set k that is there, or is not, can be what was seen, as far as that tells;
 * its elements are not looked at. */
enum kr_status kr_grow_presence_allows(const struct kr_facts *f, kr_key k, const struct kr_saw *saw,
	bool present, bool *out, struct kr_err *err);

/* Whether an initial list or set is told to have no elements. */
enum kr_status kr_grow_initial_is_empty(const struct kr_facts *f, kr_key k, bool *out);
/* KR_UNSUPPORTED: what was seen of k is not checked. */
enum kr_status kr_grow_vague(const struct kr_facts *f, kr_key k, const char *why, struct kr_err *err);

/* grow_lists.c: kr_facts_candidate and kr_grow_check_part for lists. */
enum kr_status kr_grow_list_candidate(const struct kr_facts *f, const struct kr_sight *s, kr_txn writer,
	bool *out, struct kr_err *err);
enum kr_status kr_grow_check_list_part(const struct kr_facts *f, const struct kr_sight *s,
	const char **wrong);
/* Whether t deletes list k; where t, which writes k, begins to append what it leaves: its first operation
 * behind the last that deletes k, if one does. */
bool kr_grow_deletes(const struct kr_facts *f, kr_key k, kr_txn t);
uint32_t kr_grow_left_from(const struct kr_facts *f, kr_key k, kr_txn t, bool *deletes);

/* Whether t, which writes k, has a version of the part that the observation looks at. */
enum kr_status kr_grow_touches(const struct kr_facts *f, const struct kr_sight *s, kr_txn t, bool *out);

/* Whether the part that a sight names is one that its key has; says what is wrong. */
enum kr_status kr_grow_check_part(const struct kr_facts *f, const struct kr_sight *s, const char **wrong);

/* The longest list of k that a committed transaction read, or NULL. */
enum kr_status kr_grow_longest(const struct kr_facts *f, kr_key k, const struct kr_grow_sight **out);
/* The rank of version i (of kr_facts.versions) of list or set k among those that committed transactions'
 * reads put in an order (kr_grow.rank): of two that differ, and are not KR_GROW_VAGUE, the lower one comes
 * first. */
enum kr_status kr_grow_rank(const struct kr_facts *f, kr_key k, uint32_t i, uint32_t *rank);
/* The same for one observation's list. */
enum kr_status kr_grow_rank_in(const struct kr_facts *f, const struct kr_grow_sight *s, uint32_t i,
	uint32_t *rank);

/* The elements of the list or set that an observation shows, without own elements at the end of a list, as a
 * place in kr_grow.members (which may move) and their number; *count KR_NONE: it shows none, but something
 * else. */
enum kr_status kr_grow_shown(const struct kr_facts *f, kr_key k, kr_txn t, uint32_t op, uint32_t own_count,
	uint32_t *first, uint32_t *count);

#endif
