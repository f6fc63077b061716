/* The values that the oracles compute with: what a key of any kind holds, and what a recorded value says of it. The meaning of operations is not here: each oracle has its own. */
#ifndef TESTS_ORACLE_VALUES_H
#define TESTS_ORACLE_VALUES_H

#include "oracle.h"

enum { HELD_MOST = 24, ELEMENTS_MOST = 64, RECORDED_MOST = 1000 };

/* Elements are numbers of different texts. */
struct held {
	enum { HELD_ABSENT, HELD_VALUE, HELD_NUMBER, HELD_MARK, HELD_LIST, HELD_SET } what; /* an empty list or set is HELD_ABSENT */
	uint32_t value;                                                          /* of a register: a kr_value, or HELD_OTHER */
	int64_t number;                                                          /* of a counter or mark */
	uint64_t set;
	uint8_t n, list[HELD_MOST];
};

#define HELD_OTHER (KR_NONE - 1) /* a value of a register that the trace does not name, and that is like no other */

struct scalar;

struct values {
	const struct kr_history *h;
	struct scalar *scalars; /* by kr_value, in the same block */
	uint32_t nelements;
	char element[ELEMENTS_MOST][48];
	uint8_t alone[RECORDED_MOST]; /* by kr_value: as an element; ELEMENTS_MOST: is none */
	struct {
		bool is;
		uint8_t n, list[HELD_MOST];
	} array[RECORDED_MOST];
};

/* False when there is too much of something. Heap memory of one block: free(). */
struct values *values_of(const struct kr_history *h);

/* What a key that reads as `value` holds. */
struct held held_as(const struct values *v, uint32_t key, uint32_t value);

/* The same of what a read shows: a set that shows an element twice is none. */
struct held held_shown(const struct values *v, uint32_t key, uint32_t value);

bool held_equal(const struct held *a, const struct held *b);

/* Whether a row of `key` with what is held meets the conditions of `scan`; an absent one never does. */
bool held_matches(const struct values *v, const struct kr_scan *scan, uint32_t key, const struct held *held);

/* Whether key lies between the bounds of a range, and, where the range was cut by its limit, not beyond the last row. */
bool key_in_range(const struct kr_history *h, const struct kr_scan *scan, uint32_t key);

/* The row of key, or NULL. */
const struct kr_row *row_of(const struct kr_history *h, const struct kr_scan *scan, uint32_t key);

enum { STARTS_MOST = 120 };
struct starts {
	uint32_t n;
	struct held at[STARTS_MOST];
};

/* What key can have started with, told or not; false when that is too much. Others that are not listed behave as one of them in every respect. */
bool starts_of(const struct values *v, uint32_t key, struct starts *s);

#endif
