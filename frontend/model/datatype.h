/* What keys hold, by kind of key, and how transactions change and see it: pure functions, the one meaning
 * of operations.
 *
 * What a transaction did to a key is an effect; what it was shown of one is a want, a predicate on states.
 * The law of them, for all states s, effects e and wants w as operations tell them:
 *
 *     kr_holds(s, kr_before(e, w))  if and only if  kr_holds(kr_apply(s, e), w)
 *
 * A data type is a file in this folder with a descriptor named after it: how additions are put on top, and
 * taken off again. Equal elements of lists and sets are equal kr_items. Elements that grow lie in an arena;
 * states that go on from one another share them, so that putting one element on top takes constant time. */
#ifndef KR_FRONTEND_MODEL_DATATYPE_H
#define KR_FRONTEND_MODEL_DATATYPE_H

#include "frontend/model/operation.h"

struct kr_items {
	const kr_item *at;
	uint32_t n;
	bool grows; /* they lie where they may go on (kr_items_add) */
};

struct kr_state {          /* all zero: absent */
	bool present;
	kr_value value;        /* of a register; of other keys as the trace told it, for words only */
	int64_t number;        /* of a counter or mark; 0 when absent */
	struct kr_items items; /* of a list or set, which is present if it has some */
};

struct kr_effect {         /* all zero: nothing was done */
	enum kr_how how;
	struct kr_state state; /* KR_SET: that is left; KR_ADD: that is added */
};

struct kr_want {           /* all zero: that the key is absent */
	bool any;              /* every state will do */
	bool or_absent;        /* it is `is`, or absent */
	bool or_less;          /* of a mark: it is `is`, or lower */
	bool negated;          /* none of these */
	struct kr_state is;
	struct kr_items less;  /* of a set: `is` but for some of these */
};

struct kr_datatype {
	const char *name; /* as a trace declares it */
	enum kr_key_kind kind;
	enum kr_value_type shown; /* how a trace shows what is there; KR_VALUE_ABSENT: as any value */
	bool zero_is_absent;      /* what is absent is read as 0 */
	/* What is added is there or not, whatever else is: versions differ by that, never by values. */
	bool parts;
	/* Whether s is what the want says, which is neither `any` nor negated. */
	bool (*is)(const struct kr_state *s, const struct kr_want *w);
	/* Puts additions on top of s. KR_NOMEM; KR_UNSUPPORTED: what comes out is no state. */
	enum kr_status (*add)(struct kr_arena *arena, struct kr_state *s, const struct kr_state *more);
	/* Takes additions off w->is, so that w says what was there before them. False: nothing was. */
	bool (*take)(struct kr_want *w, const struct kr_state *more);
};

extern const struct kr_datatype *const kr_datatype_registry[];
extern const size_t kr_datatype_registry_count;

/* The type of keys of that kind; of keys that nothing tells the kind of, registers. */
const struct kr_datatype *kr_datatype_of(enum kr_key_kind kind);

/* A list or a set. */
static inline bool kr_has_elements(const struct kr_history *h, kr_key key)
{
	return kr_datatype_of(h->keys.at[key.i].kind)->shown == KR_VALUE_ARRAY;
}

bool kr_holds(const struct kr_datatype *type, const struct kr_state *s, const struct kr_want *w);
struct kr_want kr_before(const struct kr_datatype *type, const struct kr_effect *e, struct kr_want w);
enum kr_status kr_apply(const struct kr_datatype *type, struct kr_arena *arena, struct kr_state *s,
	const struct kr_effect *e);

/* Makes *e the effect of *e and then of `next`. */
enum kr_status kr_compose(const struct kr_datatype *type, struct kr_arena *arena, struct kr_effect *e,
	const struct kr_effect *next);

/* For data types: puts an element behind the others; whether it is one of them. */
bool kr_items_add(struct kr_arena *arena, struct kr_items *items, kr_item item);
bool kr_items_have(const struct kr_items *items, kr_item item);

#endif
