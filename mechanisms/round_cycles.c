/* The round's certain dependencies, as they are new, go to the certifier: only if it says that one of them
 * closes a cycle does the batch look for what to tell. A transaction stands where its snapshot lies if its
 * reads see that, and where its commit lies otherwise, so that few arcs go against the order.
 *
 * A transaction of unknown outcome is new once more when a read proves that it took effect, or that more of
 * what it wrote made a version. */
#include "mechanisms/certain.h"
#include "mechanisms/stream_work.h"

static bool is_new(const struct kr_held *t) { return !t->certified; }

void kr_engine_renew(struct kr_engine *e)
{
	e->renewed = false;
	for (uint32_t i = 0; i < e->window.txns.n; i++) {
		struct kr_held *t = e->window.txns.at[i];
		const struct kr_party *p = &e->batch.txns.at[i];
		if (!p->took_effect || t->effects > p->real)
			continue;
		t->effects = p->real + 1;
		e->renewed |= t->entered;
		t->certified = t->carried;
		if (!t->carried)
			e->window.txn_marks.at[i] |= KR_MARK_FRESH;
	}
}

/* Nodes of begin and commit, or of both. */
static bool enter(struct kr_engine *e, uint32_t i, bool one)
{
	struct kr_held *t = e->window.txns.at[i];
	const struct kr_party *p = &e->batch.txns.at[i];
	bool by_snapshot = p->has_snapshot && e->options.batch.profile->reads == KR_READS_TRANSACTION;
	int64_t first = by_snapshot ? p->snapshot.from : p->commit.from;

	if (t->entered)
		return true;
	t->entered = true;
	t->nodes[1] = KR_NONE;
	if (!kr_certifier_node(&e->certifier, first, &t->nodes[0])) {
		t->entered = false;
		return false;
	}
	return one || kr_certifier_node(&e->certifier, p->commit.from, &t->nodes[1]);
}

void kr_engine_leave(struct kr_engine *e, struct kr_held *t)
{
	for (int i = 0; i < 2 && t->entered; i++)
		if (t->nodes[i] != KR_NONE)
			kr_certifier_drop(&e->certifier, t->nodes[i]);
	t->entered = false;
}

static enum kr_status ask(void *data, const struct kr_certain *c, bool *closes)
{
	struct kr_engine *e = data;
	bool one = c->level->model == KR_NODES_TXN;

	/* of new dependencies between what is on cycles already the certifier says nothing */
	*closes = e->renewed;
	for (uint32_t i = 0; i < c->arcs.n; i++) {
		uint32_t from = c->arcs.at[i].from, to = c->arcs.at[i].to;
		const struct kr_held *t = e->window.txns.at[from / 2], *u = e->window.txns.at[to / 2];
		if (!is_new(t) && !is_new(u))
			continue;
		if (u->carried) {
			*closes = true; /* what is forgotten has no node: the batch knows */
			continue;
		}
		if (t->carried)
			continue; /* nothing leads to it */
		if (!enter(e, from / 2, one) || !enter(e, to / 2, one) ||
			!kr_certifier_arc(&e->certifier, t->nodes[one ? 0 : from % 2],
				u->nodes[one ? 0 : to % 2], closes))
			return KR_NOMEM;
	}
	return KR_OK;
}

/* Nobody asks for cycles yet. */
static enum kr_status pass(void *data, const struct kr_certain *c, bool *closes)
{
	(void)data, (void)c;
	*closes = false;
	return KR_OK;
}

struct kr_closing kr_engine_closing(struct kr_engine *e, enum kr_round kind)
{
	return (struct kr_closing){e, kind == KR_ROUND_IDLE ? pass : ask};
}
