/* Holding the scanner of JSON (frontend/node.h) to jansson. */
#ifndef KR_TESTS_SAME_JSON_H
#define KR_TESTS_SAME_JSON_H

#include <stdlib.h>

#include "frontend/node.h"

static inline bool same_nodes(const struct kr_node *a, const struct kr_node *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct kr_node *x = &a[i], *y = &b[i];
		if (x->type != y->type || x->length != y->length || x->span != y->span)
			return false;
		if (x->type == KR_NODE_INT && x->integer != y->integer)
			return false;
		if (x->type == KR_NODE_REAL && memcmp(&x->real, &y->real, sizeof x->real) != 0)
			return false;
		if (x->type == KR_NODE_STRING && (memcmp(x->text, y->text, x->length) != 0 || x->text[x->length] != '\0'))
			return false;
	}
	return true;
}

/* What is wrong, or NULL: the scanner and jansson refuse the same and take the rest as the same; what is refused is left
 * as it was. */
static inline const char *json_differs(struct kr_mem *mem, const char *text, size_t length)
{
	struct kr_nodes ours, theirs;
	const struct kr_node *a = NULL, *b = NULL;
	const char *why = NULL;
	char *copy = malloc(length + 1);
	json_t *json = json_loadb(text, length, KR_NODE_JANSSON, NULL);

	if (!copy)
		return "no memory";
	memcpy(copy, text, length);
	copy[length] = '\0';
	kr_nodes_init(&ours, mem);
	kr_nodes_init(&theirs, mem);
	if ((kr_nodes_scan(&ours, copy, length, &a) == KR_OK) != (json != NULL))
		why = json ? "the scanner refuses what jansson takes" : "the scanner takes what jansson refuses";
	else if (!json && memcmp(copy, text, length) != 0)
		why = "the scanner changed what it refuses";
	else if (json && kr_nodes_take(&theirs, json, &b) != KR_OK)
		why = "no memory";
	else if (json && (a->span != b->span || a->span != ours.list.n || !same_nodes(a, b, a->span)))
		why = "the scanner and jansson understand it differently";
	kr_nodes_done(&ours);
	kr_nodes_done(&theirs);
	json_decref(json);
	free(copy);
	return why;
}

#endif
