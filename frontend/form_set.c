/* EDN's sets have no order: their elements are put into one, so that equal sets are equal values however a
 * file lists them. Elements compare by their trees in preorder: types, then what they hold, then sizes; sets
 * inside of them have been sorted before. Cost: n log n comparisons. */
#include "frontend/form.h"

#include <string.h>

#include "base/order.h"

struct element {
	const struct kr_form *nodes; /* its own and its descendants' */
	uint32_t first;              /* index of the first, which `end` counts from */
};

static int compare_texts(const struct kr_form *a, const struct kr_form *b)
{
	int differ = memcmp(a->text, b->text, a->length < b->length ? a->length : b->length);
	return kr_then(differ, KR_ORDER(a->length, b->length));
}

static int compare_nodes(const struct kr_form *a, const struct kr_form *b)
{
	if (a->type != b->type)
		return KR_ORDER(a->type, b->type);
	switch ((enum kr_form_type)a->type) {
	case KR_FORM_INT: return KR_ORDER(a->integer, b->integer);
	case KR_FORM_REAL: return KR_ORDER(a->real, b->real);
	case KR_FORM_BIG:
	case KR_FORM_OTHER:
	case KR_FORM_STRING:
	case KR_FORM_NAME: return compare_texts(a, b);
	default: return 0;
	}
}

static int compare(const void *x, const void *y)
{
	const struct element *a = x, *b = y;
	uint32_t n = a->nodes->end - a->first;
	int differ = 0;

	/* the shorter one differs before it ends, by the size of what is not closed there */
	for (uint32_t i = 0; i < n && !differ; i++)
		differ = kr_then(compare_nodes(&a->nodes[i], &b->nodes[i]),
			KR_ORDER(a->nodes[i].end - a->first, b->nodes[i].end - b->first));
	return differ;
}

static void put_back(struct kr_form *nodes, uint32_t set, const struct element *elements, uint32_t n)
{
	uint32_t at = set + 1;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t size = elements[i].nodes->end - elements[i].first;
		for (uint32_t k = 0; k < size; k++) {
			nodes[at + k] = elements[i].nodes[k];
			nodes[at + k].end += at - elements[i].first; /* wraps where it moves to the front */
		}
		at += size;
	}
}

enum kr_status kr_form_sort(struct kr_mem *mem, struct kr_form *nodes, uint32_t set)
{
	uint32_t size = nodes[set].end - set - 1, n = 0;
	struct kr_form *copy = kr_mem_alloc(mem, size, sizeof *copy);
	struct element *elements = kr_mem_alloc(mem, size, sizeof *elements);

	if (copy && elements && size > 1) {
		memcpy(copy, nodes + set + 1, size * sizeof *copy);
		for (uint32_t at = 0; at < size; at = copy[at].end - set - 1)
			elements[n++] = (struct element){copy + at, set + 1 + at};
		qsort(elements, n, sizeof *elements, compare);
		put_back(nodes, set, elements, n);
	}
	bool made = copy && elements;
	kr_mem_free(mem, copy, size, sizeof *copy);
	kr_mem_free(mem, elements, size, sizeof *elements);
	return made ? KR_OK : KR_NOMEM;
}
