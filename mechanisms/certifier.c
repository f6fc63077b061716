/* Pearce and Kelly's order, with components merged. */
#include "mechanisms/certifier.h"

#include "base/order.h"

void kr_certifier_done(struct kr_certifier *c)
{
	kr_vec_done(c->mem, &c->nodes);
	kr_vec_done(c->mem, &c->arcs);
	kr_vec_done(c->mem, &c->ahead);
	kr_vec_done(c->mem, &c->behind);
	kr_vec_done(c->mem, &c->stack);
	kr_vec_done(c->mem, &c->places);
}

static bool is_before(struct kr_place a, struct kr_place b)
{
	return a.at != b.at ? a.at < b.at : a.tie < b.tie;
}

/* ---- nodes and arcs ---- */

bool kr_certifier_node(struct kr_certifier *c, int64_t place, uint32_t *out)
{
	*out = c->free_node > 0 ? c->free_node - 1 : c->nodes.n;
	if (*out == c->nodes.n && !kr_vec_push(c->mem, &c->nodes, (struct kr_knot){0}))
		return false;
	c->free_node = c->free_node > 0 ? c->nodes.at[*out].merged : 0;
	c->nodes.at[*out] = (struct kr_knot){.place = {place, c->ties++},
		.merged = *out,
		.members = 1,
		.also = KR_NONE,
		.out = KR_NONE,
		.in = KR_NONE};
	return true;
}

/* The node that stands for it. */
static uint32_t whole(struct kr_certifier *c, uint32_t node)
{
	while (c->nodes.at[node].merged != node) {
		uint32_t above = c->nodes.at[node].merged;
		c->nodes.at[node].merged = c->nodes.at[above].merged;
		node = above;
	}
	return node;
}

static bool add_arc(struct kr_certifier *c, uint32_t from, uint32_t to)
{
	struct kr_knot *x = &c->nodes.at[from], *y = &c->nodes.at[to];
	uint32_t i = c->free_arc > 0 ? c->free_arc - 1 : c->arcs.n;

	if (x->out != KR_NONE && c->arcs.at[x->out].to == to && !c->arcs.at[x->out].dead)
		return true; /* of another kind */
	if (i == c->arcs.n && !kr_vec_push(c->mem, &c->arcs, (struct kr_link){0}))
		return false;
	c->free_arc = c->free_arc > 0 ? c->arcs.at[i].next_out : 0;
	c->arcs.at[i] =
		(struct kr_link){.from = from, .to = to, .next_out = x->out, .next_in = y->in, .lists = 2};
	x->out = i;
	y->in = i;
	return true;
}

/* It has left one of its lists. */
static void leave(struct kr_certifier *c, uint32_t arc)
{
	if (--c->arcs.at[arc].lists > 0)
		return;
	c->arcs.at[arc].next_out = c->free_arc;
	c->free_arc = arc + 1;
}

static uint32_t *next_of(struct kr_certifier *c, uint32_t arc, bool out)
{
	return out ? &c->arcs.at[arc].next_out : &c->arcs.at[arc].next_in;
}

static void drop_list(struct kr_certifier *c, uint32_t first, bool out)
{
	while (first != KR_NONE) {
		uint32_t next = *next_of(c, first, out);
		c->arcs.at[first].dead = true;
		leave(c, first);
		first = next;
	}
}

void kr_certifier_drop(struct kr_certifier *c, uint32_t node)
{
	uint32_t top = whole(c, node);
	struct kr_knot *n = &c->nodes.at[top];

	if (--n->members > 0)
		return;
	drop_list(c, n->out, true);
	drop_list(c, n->in, false);
	for (uint32_t next; top != KR_NONE; top = next) {
		next = c->nodes.at[top].also;
		c->nodes.at[top].merged = c->free_node;
		c->free_node = top + 1;
	}
}

/* ---- searching ---- */

/* Puts what can be reached from `start` and does not stand beyond `limit` into a list: along the arcs, or
 * against them. */
static bool search(struct kr_certifier *c, uint32_t start, struct kr_place limit, bool forward)
{
	struct kr_knots *list = forward ? &c->ahead : &c->behind;

	kr_vec_clear(list);
	kr_vec_clear(&c->stack);
	for (uint32_t node = start;;) {
		struct kr_knot *n = &c->nodes.at[node];
		uint32_t *met = forward ? &n->ahead : &n->behind;
		bool within = forward ? !is_before(limit, n->place) : !is_before(n->place, limit);
		if (*met != c->searches && within) {
			*met = c->searches;
			if (!kr_vec_push(c->mem, list, node))
				return false;
			for (uint32_t *at = forward ? &n->out : &n->in; *at != KR_NONE;) {
				uint32_t arc = *at;
				if (c->arcs.at[arc].dead) {
					*at = *next_of(c, arc, forward);
					leave(c, arc);
					continue;
				}
				uint32_t end = whole(c, forward ? c->arcs.at[arc].to : c->arcs.at[arc].from);
				if (!kr_vec_push(c->mem, &c->stack, end))
					return false;
				at = next_of(c, arc, forward);
			}
		}
		if (c->stack.n == 0)
			return true;
		node = kr_vec_pop(&c->stack);
	}
}

/* ---- moving ---- */

static int by_place(const void *a, const void *b)
{
	const struct kr_place *x = a, *y = b;

	return is_before(*y, *x) - is_before(*x, *y);
}

struct standing {
	struct kr_place place;
	uint32_t node;
};

/* The nodes of the list that the other search has not met, in their order, are given the first places, or the
 * last ones: so none moves towards arcs that the searches have not seen. *given: how many. */
static bool give_places(struct kr_certifier *c, const struct kr_knots *list, bool forward, uint32_t *given)
{
	KR_VEC(struct standing) order = {0};
	bool good = kr_vec_reserve(c->mem, &order, list->n);

	for (uint32_t i = 0; i < list->n && good; i++) {
		const struct kr_knot *n = &c->nodes.at[list->at[i]];
		if ((forward ? n->behind : n->ahead) != c->searches)
			order.at[order.n++] = (struct standing){n->place, list->at[i]};
	}
	KR_SORT(order.at, order.n, by_place);
	for (uint32_t i = 0; i < order.n; i++)
		c->nodes.at[order.at[i].node].place = c->places.at[forward ? c->places.n - order.n + i : i];
	*given = order.n;
	kr_vec_done(c->mem, &order);
	return good;
}

static void append_arcs(struct kr_certifier *c, uint32_t *list, uint32_t more, bool out)
{
	while (*list != KR_NONE)
		list = next_of(c, *list, out);
	*list = more;
}

/* What both searches met is one node; KR_NONE: they met nothing. */
static uint32_t merge(struct kr_certifier *c)
{
	uint32_t one = KR_NONE;

	for (uint32_t i = 0; i < c->ahead.n; i++) {
		uint32_t node = c->ahead.at[i];
		struct kr_knot *n = &c->nodes.at[node];
		if (n->behind != c->searches)
			continue;
		if (one == KR_NONE) {
			one = node;
			continue;
		}
		append_arcs(c, &n->out, c->nodes.at[one].out, true);
		append_arcs(c, &n->in, c->nodes.at[one].in, false);
		c->nodes.at[one].out = n->out;
		c->nodes.at[one].in = n->in;
		c->nodes.at[one].members += n->members;
		n->merged = one;
		uint32_t *also = &n->also;
		while (*also != KR_NONE)
			also = &c->nodes.at[*also].also;
		*also = c->nodes.at[one].also;
		c->nodes.at[one].also = node;
	}
	return one;
}

/* From `to` on in front of `from`, which must not be: what leads to `from` goes first, then what comes after
 * `to`. */
static bool reorder(struct kr_certifier *c, bool *closes)
{
	uint32_t given;

	kr_vec_clear(&c->places);
	for (uint32_t i = 0; i < c->behind.n; i++)
		if (!kr_vec_push(c->mem, &c->places, c->nodes.at[c->behind.at[i]].place))
			return false;
	for (uint32_t i = 0; i < c->ahead.n; i++)
		if (c->nodes.at[c->ahead.at[i]].behind != c->searches &&
			!kr_vec_push(c->mem, &c->places, c->nodes.at[c->ahead.at[i]].place))
			return false;
	c->moved += c->places.n;
	KR_SORT(c->places.at, c->places.n, by_place);
	if (!give_places(c, &c->behind, false, &given))
		return false;
	uint32_t one = merge(c);
	if (one != KR_NONE) {
		c->nodes.at[one].place = c->places.at[given];
		*closes = true;
	}
	return give_places(c, &c->ahead, true, &given);
}

bool kr_certifier_arc(struct kr_certifier *c, uint32_t from, uint32_t to, bool *closes)
{
	from = whole(c, from);
	to = whole(c, to);
	if (from == to)
		return true;
	if (!add_arc(c, from, to))
		return false;
	if (is_before(c->nodes.at[from].place, c->nodes.at[to].place))
		return true;
	c->searches++;
	return search(c, to, c->nodes.at[from].place, true) &&
		search(c, from, c->nodes.at[to].place, false) && reorder(c, closes);
}
