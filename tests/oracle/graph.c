/* The graph oracle of serializability: some world's graph has no cycle. A partial world whose graph has one already is not continued, since choices only add edges. */
#include <stdlib.h>

#include "world.h"

static bool any_world(struct world *w)
{
	(void)w;
	return true;
}

enum oracle_answer oracle_graph(const struct kr_history *h, enum kr_order order, uint64_t work)
{
	struct world *w = calloc(1, sizeof *w);
	enum oracle_answer answer = ORACLE_TOO_LARGE;

	if (!w)
		return answer;
	w->h = h;
	w->order = order;
	w->work = work;
	w->prune = KR_BIT(KR_WW) | KR_BIT(KR_WR) | KR_BIT(KR_RW);
	w->leaf = any_world;

	bool found = worlds(w, &answer);

	if (answer == ORACLE_SATISFIED && !found)
		answer = w->work > 0 ? ORACLE_VIOLATED : ORACLE_TOO_LARGE;
	free(w);
	return answer;
}
