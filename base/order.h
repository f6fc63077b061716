/* Sorting, searching what is sorted, and indexes by counting. */
#ifndef KR_BASE_ORDER_H
#define KR_BASE_ORDER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* What a comparator returns of two numbers; with kr_then of what comes first and what decides where that is
 * equal. */
#define KR_ORDER(x, y) (((x) > (y)) - ((x) < (y)))

static inline int kr_then(int first, int second) { return first ? first : second; }

/* Define a comparator of structs by a field; by a field, and by another one where that is equal. */
#define KR_BY(name, type, field) KR_BY_BOTH(name, type, field, field)
#define KR_BY_BOTH(name, type, first, second) \
	static int name(const void *a, const void *b) \
	{ \
		const type *x = a, *y = b; \
		return kr_then(KR_ORDER(x->first, y->first), KR_ORDER(x->second, y->second)); \
	} \
	_Static_assert(1, "takes the semicolon")

/* qsort, but one pass where they are sorted already. */
void kr_sort(void *at, size_t n, size_t size, int (*compare)(const void *, const void *));

/* Sorts n elements, where calls of qsort would take longer by insertion, stably as glibc does; `at` may be
 * NULL where n is 0. */
#define KR_SORT(at, n, compare) \
	do { \
		const size_t kr_sort_n = (n); \
		if (kr_sort_n > KR_SORT_FEW) \
			kr_sort(at, kr_sort_n, sizeof *(at), compare); \
		for (size_t kr_i = 1, kr_j; kr_i < kr_sort_n && kr_sort_n <= KR_SORT_FEW; kr_i++) { \
			const __typeof__(*(at)) kr_one = (at)[kr_i]; \
			for (kr_j = kr_i; kr_j > 0 && compare(&(at)[kr_j - 1], &kr_one) > 0; kr_j--) \
				(at)[kr_j] = (at)[kr_j - 1]; \
			(at)[kr_j] = kr_one; \
		} \
	} while (0)
enum { KR_SORT_FEW = 16 };

int kr_by_id(const void *a, const void *b); /* of ids, or of uint32_t */

/* Stable, and comparators may need `data`: merges runs of 1, 2, 4, ... `other` has room for n, too. */
void kr_sort_ids(uint32_t *ids, uint32_t *other, uint32_t n,
	int (*compare)(const void *data, uint32_t a, uint32_t b), const void *data);

/* Sets `at`, a variable, to the first place of [low, high) where `before`, an expression in `at`, is false,
 * or to high. It is to be true up to some place and false from there on. */
#define KR_BISECT(at, low, high, before) \
	do { \
		__typeof__(at) kr_bisect_low = (low), kr_bisect_high = (high); \
		while (kr_bisect_low < kr_bisect_high) { \
			(at) = kr_bisect_low + (kr_bisect_high - kr_bisect_low) / 2; \
			if (before) \
				kr_bisect_low = (at) + 1; \
			else \
				kr_bisect_high = (at); \
		} \
		(at) = kr_bisect_low; \
	} while (0)

/* Moves the element at `from` to `to`; those between make room. */
#define KR_SHIFT(at, from, to) \
	do { \
		const size_t kr_from = (from), kr_to = (to), kr_size = sizeof *(at); \
		const __typeof__(*(at)) kr_moved = (at)[kr_from]; \
		if (kr_from < kr_to) \
			memmove((at) + kr_from, (at) + kr_from + 1, (kr_to - kr_from) * kr_size); \
		else \
			memmove((at) + kr_to + 1, (at) + kr_to, (kr_from - kr_to) * kr_size); \
		(at)[kr_to] = kr_moved; \
	} while (0)

/* An index by counting: `first` has groups + 2 places, all 0. Count the members of group g at first[g + 2];
 * call this; put them to list[first[g + 1]++] each. Then those of g are list[first[g]] to list[first[g + 1] -
 * 1]. */
void kr_index_places(uint32_t *first, uint32_t groups);

#endif
