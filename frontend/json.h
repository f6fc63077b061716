/* Reading the canonical JSON texts of arrays and objects piece by piece, without building a tree: the pure
 * meaning of the format, for the analysis and the verifier alike. */
#ifndef KR_FRONTEND_JSON_H
#define KR_FRONTEND_JSON_H

#include "frontend/history.h"

/* A piece of canonical JSON text: one value. */
struct kr_piece { const char *text; size_t length; };

/* Walks the elements of an array, or the names and values of an object in turn: start with at = 1 (behind the
 * bracket). False at the end. */
bool kr_piece_next(const char *text, size_t length, size_t *at, struct kr_piece *out);

/* A scalar to compare: a value of the history, or a piece. */
struct kr_operand {
	enum kr_value_type type;
	int64_t integer;
	double real;
	struct kr_piece text; /* strings, arrays, objects */
	bool escaped;         /* a string's text still holds JSON escapes (and no quotes) */
};

struct kr_operand kr_operand_of_value(const struct kr_history *h, kr_value value);
struct kr_operand kr_operand_of_piece(struct kr_piece piece);

/* Structural equality; and the order of numbers by value or of strings by bytes (other pairs have none:
 * false). */
bool kr_operand_equal(const struct kr_operand *a, const struct kr_operand *b);
int kr_compare_int_real(int64_t i, double r);
bool kr_operand_compare(const struct kr_operand *a, const struct kr_operand *b, int *out);

/* Whether string `a` starts with string `b`. */
bool kr_operand_starts(const struct kr_operand *a, const struct kr_operand *b);

#endif
