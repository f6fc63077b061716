/* A k-way merge: a binary heap of the sessions that have something waiting, by their first item. */
#include "mechanisms/merge.h"

#include <string.h>

#include "base/order.h"

static void free_lanes(struct kr_mem *mem, struct kr_lane **at, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		kr_vec_done(mem, &at[i]->items);
		kr_mem_free(mem, at[i], 1, sizeof *at[i]);
	}
}

void kr_merge_done(struct kr_merge *m)
{
	free_lanes(m->mem, m->lanes.at, m->lanes.n);
	free_lanes(m->mem, m->alone.at, m->alone.n);
	kr_vec_done(m->mem, &m->lanes);
	kr_vec_done(m->mem, &m->alone);
	kr_vec_done(m->mem, &m->heap);
}

static struct kr_lane *new_lane(struct kr_mem *mem, kr_session session, uint32_t number)
{
	struct kr_lane *lane = kr_mem_alloc(mem, 1, sizeof *lane);

	if (lane)
		*lane = (struct kr_lane){.session = session,
			.number = number,
			.last = INT64_MIN,
			.promise = INT64_MIN,
			.heard = INT64_MIN};
	return lane;
}

struct kr_lane *kr_merge_lane(struct kr_merge *m, kr_session session)
{
	struct kr_lane *lane;

	if (session.i == KR_NONE) {
		m->unbounded = true;
		lane = kr_vec_reserve(m->mem, &m->alone, 1) ? new_lane(m->mem, session, m->alone.n) : NULL;
		if (lane)
			m->alone.at[m->alone.n++] = lane;
		return lane;
	}
	while (m->lanes.n <= session.i) {
		lane = kr_vec_reserve(m->mem, &m->lanes, 1) ? new_lane(m->mem, (kr_session){m->lanes.n}, 0)
							    : NULL;
		if (!lane)
			return NULL;
		m->lanes.at[m->lanes.n++] = lane;
		m->known = false;
	}
	return m->lanes.at[session.i];
}

/* ---- order ---- */

static int compare_names(const struct kr_value_entry *x, const struct kr_value_entry *y)
{
	uint32_t n = x->length < y->length ? x->length : y->length;

	if (x->type != y->type)
		return KR_ORDER(x->type, y->type);
	if (x->type == KR_VALUE_INT)
		return KR_ORDER(x->integer, y->integer);
	if (x->type == KR_VALUE_REAL)
		return KR_ORDER(x->real, y->real);
	if (x->type < KR_VALUE_STRING)
		return 0;
	return kr_then(memcmp(x->text, y->text, n), KR_ORDER(x->length, y->length));
}

static bool goes_first(const struct kr_merge *m, const struct kr_lane *x, const struct kr_lane *y)
{
	int64_t a = x->items.at[x->head].at, b = y->items.at[y->head].at;

	if (a != b)
		return a < b;
	if (x->session.i == KR_NONE || y->session.i == KR_NONE)
		return x->session.i == y->session.i ? x->number < y->number : x->session.i != KR_NONE;
	return compare_names(kr_history_value(m->h, m->h->sessions.at[x->session.i]),
		       kr_history_value(m->h, m->h->sessions.at[y->session.i])) < 0;
}

static void swap(struct kr_merge *m, uint32_t i, uint32_t j)
{
	struct kr_lane *lane = m->heap.at[i];

	m->heap.at[i] = m->heap.at[j];
	m->heap.at[j] = lane;
}

static void sink(struct kr_merge *m)
{
	for (uint32_t i = 0, least;; i = least) {
		least = i;
		for (uint32_t child = 2 * i + 1; child <= 2 * i + 2 && child < m->heap.n; child++)
			if (goes_first(m, m->heap.at[child], m->heap.at[least]))
				least = child;
		if (least == i)
			return;
		swap(m, i, least);
	}
}

static void rise(struct kr_merge *m, uint32_t i)
{
	for (; i > 0 && goes_first(m, m->heap.at[i], m->heap.at[(i - 1) / 2]); i = (i - 1) / 2)
		swap(m, i, (i - 1) / 2);
}

/* ---- the watermark ---- */

static bool is_bound(const struct kr_lane *lane) { return lane->head == lane->items.n && !lane->over; }

static const struct kr_lane *find_least(const struct kr_merge *m)
{
	const struct kr_lane *least = NULL;

	for (uint32_t i = 0; i < m->lanes.n; i++)
		if (is_bound(m->lanes.at[i]) && (!least || m->lanes.at[i]->promise < least->promise))
			least = m->lanes.at[i];
	return least;
}

/* The lane is about to promise more, or less. */
static void doubt(struct kr_merge *m, const struct kr_lane *lane) { m->known = m->known && m->least != lane; }

void kr_merge_promise(struct kr_merge *m, struct kr_lane *lane, int64_t at)
{
	if (at <= lane->promise)
		return;
	doubt(m, lane);
	lane->promise = at;
}

void kr_merge_close(struct kr_merge *m, struct kr_lane *lane, bool over)
{
	m->known = m->known && lane->over == over;
	lane->over = over;
}

const struct kr_lane *kr_merge_holder(const struct kr_merge *m)
{
	return m->ended || m->unbounded ? NULL : m->known ? m->least : find_least(m);
}

int64_t kr_merge_watermark(const struct kr_merge *m)
{
	const struct kr_lane *holder = kr_merge_holder(m);
	int64_t out = holder ? holder->promise : INT64_MAX;

	if (m->ended)
		return INT64_MAX;
	if (m->unbounded)
		return INT64_MIN;
	if (out == INT64_MAX && m->heap.n > 0)
		/* every session has spoken: its first item at least */
		out = m->heap.at[0]->items.at[m->heap.at[0]->head].at + 1;
	return kr_earlier(out, m->lateness);
}

/* ---- in and out ---- */

bool kr_merge_put(struct kr_merge *m, struct kr_lane *lane, struct kr_merge_item item)
{
	bool waited = lane->head < lane->items.n;

	if (!kr_vec_reserve(m->mem, &m->heap, 1))
		return false;
	if (!waited)
		lane->head = lane->items.n = 0;
	if (lane->head > lane->items.n / 2 && lane->head > 64) {
		memmove(lane->items.at, lane->items.at + lane->head,
			(lane->items.n - lane->head) * sizeof *lane->items.at);
		lane->items.n -= lane->head;
		lane->head = 0;
	}
	if (!kr_vec_push(m->mem, &lane->items, item))
		return false;
	lane->last = item.at;
	if (waited)
		return true;
	doubt(m, lane);
	m->heap.at[m->heap.n++] = lane;
	rise(m, m->heap.n - 1);
	return true;
}

bool kr_merge_next(struct kr_merge *m, struct kr_merge_item *out, struct kr_lane **from)
{
	struct kr_lane *lane = m->heap.n > 0 ? m->heap.at[0] : NULL;

	if (!m->known)
		m->least = find_least(m);
	m->known = true;
	if (!lane || (!m->ended && lane->items.at[lane->head].at >= kr_merge_watermark(m)))
		return false;
	*out = lane->items.at[lane->head++];
	*from = lane;
	if (lane->head == lane->items.n) {
		m->heap.at[0] = kr_vec_pop(&m->heap);
		if (lane->session.i != KR_NONE && is_bound(lane) &&
			(!m->least || lane->promise < m->least->promise))
			m->least = lane;
	}
	if (m->heap.n > 0)
		sink(m);
	return true;
}
