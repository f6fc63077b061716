/* JSON as an array of nodes: each value is followed by what it holds, an object's members by name and value
 * in turn. Made by a scanner of our own, in one pass over the text and without an allocation for each value;
 * numbers that are no short integers, and strings that are not plain ASCII, are given to jansson one by one.
 * What the scanner takes is what jansson takes (JSON_REJECT_DUPLICATES, JSON_ALLOW_NUL), with the same
 * values; it gives no reason for what it refuses. */
#ifndef KR_FRONTEND_NODE_H
#define KR_FRONTEND_NODE_H

#include <jansson.h>
#include <string.h>

#include "base/arena.h"
#include "base/ctx.h"
#include "base/vec.h"

#define KR_NODE_JANSSON (JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL)

enum kr_node_type {
	KR_NODE_NULL,
	KR_NODE_FALSE,
	KR_NODE_TRUE,
	KR_NODE_INT,
	KR_NODE_REAL,
	KR_NODE_STRING,
	KR_NODE_ARRAY,
	KR_NODE_OBJECT
};

struct kr_node {
	uint8_t type;    /* enum kr_node_type */
	bool in_text;    /* a string that stands in the text, whose closing quote is NUL meanwhile */
	uint32_t length; /* bytes of a string; elements of an array; members of an object */
	uint32_t span;   /* nodes that it takes, itself included */
	union {
		int64_t integer;
		double real;
		/* of a string, terminated, may hold NUL; of arrays and objects that were scanned: where they
		 * begin */
		const char *text;
	};
};

struct kr_nodes {
	struct kr_mem *mem;
	KR_VEC(struct kr_node) list;
	KR_VEC(uint32_t) open;          /* scratch: containers not closed yet */
	KR_VEC(const struct kr_node *) names; /* scratch: of a large object */
	struct kr_arena texts;          /* strings that do not stand in the text */
};

void kr_nodes_init(struct kr_nodes *nodes, struct kr_mem *mem);
void kr_nodes_done(struct kr_nodes *nodes);

/* The one value that `text` is; text[length] is NUL. The text is the nodes' as long as they are used: strings
 * end in it where they stood. *out is valid until the next call. KR_BAD: malformed, and the text is as it
 * was. KR_NOMEM. */
enum kr_status kr_nodes_scan(struct kr_nodes *nodes, char *text, size_t length, const struct kr_node **out);

/* The same of a value of jansson's. KR_NOMEM. */
enum kr_status kr_nodes_take(struct kr_nodes *nodes, const json_t *json, const struct kr_node **out);

/* ---- looking at nodes: NULL is no value of any type ---- */

static inline bool kr_node_is(const struct kr_node *node, enum kr_node_type type)
{
	return node && node->type == type;
}
static inline bool kr_node_is_bool(const struct kr_node *node)
{
	return kr_node_is(node, KR_NODE_TRUE) || kr_node_is(node, KR_NODE_FALSE);
}
static inline bool kr_node_is_number(const struct kr_node *node)
{
	return kr_node_is(node, KR_NODE_INT) || kr_node_is(node, KR_NODE_REAL);
}

/* Elements of an array; 0 if it is none. */
static inline uint32_t kr_node_size(const struct kr_node *node)
{
	return kr_node_is(node, KR_NODE_ARRAY) ? node->length : 0;
}

/* Members of an object; 0 if it is none. */
static inline uint32_t kr_node_members(const struct kr_node *node)
{
	return kr_node_is(node, KR_NODE_OBJECT) ? node->length : 0;
}

/* The node behind it and all that it holds. */
static inline const struct kr_node *kr_node_behind(const struct kr_node *node) { return node + node->span; }

/* The element after `last`, NULL: the first one; NULL at the end, or if it is no array. */
static inline const struct kr_node *kr_node_element(const struct kr_node *array, const struct kr_node *last)
{
	if (kr_node_size(array) == 0)
		return NULL;

	const struct kr_node *next = last ? kr_node_behind(last) : array + 1;

	return next < kr_node_behind(array) ? next : NULL;
}

/* Element number `index`, NULL if there is none. Cost: `index`. */
static inline const struct kr_node *kr_node_at(const struct kr_node *array, uint32_t index)
{
	if (index >= kr_node_size(array))
		return NULL;
	for (array++; index > 0; index--)
		array = kr_node_behind(array);
	return array;
}

/* The name of the member after the one named `last`, as kr_node_element; and the value of a member. */
static inline const struct kr_node *kr_node_member(const struct kr_node *object, const struct kr_node *last)
{
	if (kr_node_members(object) == 0)
		return NULL;

	const struct kr_node *next = last ? kr_node_behind(last + 1) : object + 1;

	return next < kr_node_behind(object) ? next : NULL;
}
static inline const struct kr_node *kr_node_value(const struct kr_node *name) { return name + 1; }

/* The value of the member of that name, or NULL. Cost: the members. */
const struct kr_node *kr_node_get(const struct kr_node *object, const char *name);

#endif
