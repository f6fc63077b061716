/* What values of a trace say of keys: states, and elements of lists and sets by number. Each element is
 * known by its JSON text, and equal texts have one number, that of the value with this text where the
 * trace has it. */
#ifndef KR_FRONTEND_MODEL_ELEMENTS_H
#define KR_FRONTEND_MODEL_ELEMENTS_H

#include "frontend/json.h"
#include "frontend/model/datatype.h"

struct kr_elements {
	struct kr_mem *mem;
	const struct kr_history *h;
	struct kr_arena arena;         /* texts and arrays */
	struct kr_str text;
	struct kr_table table;         /* text -> texts */
	KR_VEC(struct kr_piece) texts;
	KR_VEC(kr_item) ids;           /* parallel */
	/* per value of the history: taken apart; `at` NULL: not yet. NULL: none is */
	struct kr_items *arrays;
	uint32_t strange;              /* elements that are no values of the history, numbered behind these */
	KR_VEC(kr_item) walked;        /* elements of the array at hand */
};

void kr_elements_init(struct kr_elements *e, struct kr_mem *mem, const struct kr_history *h);
void kr_elements_done(struct kr_elements *e); /* safe on one that is all zero */

/* Gives a value of the history its number, itself, if it has none yet; all that are added to lists and
 * sets. */
enum kr_status kr_elements_name(struct kr_elements *e, kr_value value);
enum kr_status kr_elements_name_added(struct kr_elements *e, struct kr_ctx *ctx);

/* The element of this text: i == KR_NONE if it has no number. */
kr_item kr_elements_find(const struct kr_elements *e, struct kr_piece text);

/* The elements of an array, which get numbers. They stay. */
enum kr_status kr_elements_split(struct kr_elements *e, kr_value array, struct kr_items *out);

/* The state that a value stands for; *fits is false if a key of this type holds nothing of the kind. What
 * is added by one write; it points to the write. */
enum kr_status kr_told_state(struct kr_elements *e, const struct kr_datatype *type, kr_value value,
	struct kr_state *out, bool *fits);
struct kr_effect kr_told_addition(const struct kr_history *h, const struct kr_datatype *type,
	const struct kr_write *write);

/* That the key holds the value; `read`: as an operation shows it that reads, and does not tell absent from
 * 0. */
enum kr_status kr_told_want(struct kr_elements *e, const struct kr_datatype *type, kr_value value, bool read,
	struct kr_want *out);

/* Elements that have numbers as a JSON array, which ends early where it is longer than `most` bytes. */
void kr_items_print(const struct kr_elements *e, const struct kr_items *items, size_t most,
	struct kr_str *out);

/* Whether every condition of the scan holds for key k in this state, in which it is present. KR_UNSUPPORTED:
 * the elements of a set have no order, which a condition asks for. */
enum kr_status kr_state_meets(const struct kr_elements *e, const struct kr_datatype *type,
	const struct kr_scan *scan, kr_key k, const struct kr_state *s, bool *out, struct kr_err *err);

#endif
