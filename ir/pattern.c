/* The matcher of cycles and the table of names (pattern.h). Linear in the cycle. */
#include "base/base.h"
#include "ir/level.h"

/* ---- matcher ---- */

static bool takes(const struct kr_pattern *p, const struct kr_pattern_edge *before,
	const struct kr_pattern_edge *e)
{
	if (!(p->allowed & KR_BIT(e->kind)) ||
		(p->lonely & KR_BIT(e->kind) && p->lonely & KR_BIT(before->kind)))
		return false;
	if (e->kind != KR_RW)
		return true;
	if (!kr_pattern_counts(p, e->predicate, e->loose) || !kr_pattern_turns(p, before->kind))
		return false;
	return p->sight == KR_SIGHT_ANY || (before->kind == KR_WR && kr_pattern_sees(p, before->op, e->op));
}

/* Does the cycle meet every demand of the pattern? */
static bool fits(const struct kr_pattern *p, const struct kr_pattern_cycle *cycle)
{
	struct kr_pattern_edge before = cycle->edge(cycle->of, cycle->n - 1);
	kr_key key = {KR_NONE};
	uint32_t once = 0, needed = 0, readers = 0;

	if (p->longest && cycle->n > p->longest)
		return false;
	for (uint32_t i = 0; i < cycle->n; i++) {
		struct kr_pattern_edge e = cycle->edge(cycle->of, i);

		key = key.i == KR_NONE ? e.key : key;
		if (!takes(p, &before, &e) || (p->same_key && e.key.i != KR_NONE && e.key.i != key.i))
			return false;
		once += p->once >> e.kind & 1;
		needed += p->needed >> e.kind & 1;
		readers += e.reader;
		before = e;
	}
	return (!p->once || once == 1) && (!p->needed || needed > 0) && (!p->one_reader || readers <= 1);
}

bool kr_pattern_equal(const struct kr_pattern *a, const struct kr_pattern *b)
{
	bool sets = a->allowed == b->allowed && a->lonely == b->lonely && a->lead == b->lead &&
		a->once == b->once && a->needed == b->needed;
	bool demands = a->longest == b->longest && a->sight == b->sight && a->same_key == b->same_key;

	return sets && demands && a->item_only == b->item_only && a->cursor_only == b->cursor_only &&
		a->one_reader == b->one_reader;
}

/* ---- names ---- */

#define WR KR_BIT(KR_WR)
#define WW KR_BIT(KR_WW)
#define RW KR_BIT(KR_RW)

/* rw(k), rw(k) by two who read and wrote k is answered by ww(k), whichever of them wrote first: a lost
 * update, too. `also` justifies the name besides. */
static const struct named {
	const char *name;
	struct kr_pattern cycle, also;
	bool two_rw;  /* at least */
	bool apart;   /* all edges have different keys */
	bool readers; /* every transaction reads the key of its edge */
} names[KR_CYCLE_NAMES] = {
	[KR_CYCLE_G0] = {.name = "G0", .cycle = KR_G0},
	[KR_CYCLE_G1C] = {.name = "G1c", .cycle = KR_G1C},
	[KR_CYCLE_LOST_UPDATE] = {.name = "lost update",
		.cycle = {.allowed = RW | WW, .needed = RW, .longest = 2, .same_key = true},
		.readers = true},
	[KR_CYCLE_G_SINGLE] = {.name = "G-single", .cycle = KR_G_SINGLE},
	[KR_CYCLE_LONG_FORK] = {.name = "long fork",
		.cycle = {.allowed = WR | RW, .lonely = RW, .longest = 4},
		.two_rw = true},
	[KR_CYCLE_G_NONADJACENT] = {.name = "G-nonadjacent", .cycle = KR_G_NONADJACENT},
	[KR_CYCLE_WRITE_SKEW] = {.name = "write skew",
		.cycle = {.allowed = RW, .longest = 2},
		.also = {.allowed = RW | WW, .once = RW, .longest = 2},
		.apart = true},
	[KR_CYCLE_G2_ITEM] = {.name = "G2-item", .cycle = KR_G2_ITEM},
	[KR_CYCLE_G2] = {.name = "G2", .cycle = KR_G2},
};

const char *kr_cycle_name(enum kr_cycle_name name) { return names[name].name; }

static bool has_two_rw(const struct kr_pattern_cycle *cycle)
{
	uint32_t rw = 0;

	for (uint32_t i = 0; i < cycle->n; i++)
		rw += cycle->edge(cycle->of, i).kind == KR_RW;
	return rw >= 2;
}

static bool is_apart(const struct kr_pattern_cycle *cycle)
{
	for (uint32_t i = 0; i < cycle->n; i++)
		for (uint32_t j = i + 1; j < cycle->n; j++)
			if (cycle->edge(cycle->of, i).key.i == cycle->edge(cycle->of, j).key.i)
				return false;
	return true;
}

static bool all_read(const struct kr_pattern_cycle *cycle)
{
	for (uint32_t i = 0; i < cycle->n; i++)
		if (!cycle->reads(cycle->of, i))
			return false;
	return true;
}

bool kr_cycle_is(enum kr_cycle_name name, const struct kr_pattern_cycle *cycle)
{
	const struct named *n = &names[name];

	return fits(&n->cycle, cycle) && (!n->two_rw || has_two_rw(cycle)) &&
		(!n->apart || is_apart(cycle)) && (!n->readers || all_read(cycle));
}

/* Without rw it breaks all levels but those that forbid G0 only. */
bool kr_cycle_justifies(enum kr_cycle_name name, const struct kr_pattern_cycle *cycle)
{
	if (kr_cycle_is(name, cycle) || (name != KR_CYCLE_G0 && fits(&names[KR_CYCLE_G1C].cycle, cycle)))
		return true;
	return names[name].also.allowed && fits(&names[name].also, cycle);
}

/* ---- levels ---- */

static struct kr_pattern_edge edge_of(const void *of, uint32_t i)
{
	return ((const struct kr_pattern_edge *)of)[i];
}

bool kr_level_forbids(const struct kr_level *level, const struct kr_pattern_edge *edges, uint32_t n)
{
	const struct kr_pattern_cycle cycle = {.of = edges, .n = n, .edge = edge_of};

	for (int i = 0; i < KR_PATTERNS_MOST && level->forbidden[i].allowed; i++)
		if (fits(&level->forbidden[i], &cycle))
			return true;
	return false;
}

bool kr_level_forbids_two_states(const struct kr_level *level, bool predicate, bool loose)
{
	const struct kr_pattern_edge cycle[] = {{.kind = KR_RW, .predicate = predicate, .loose = loose},
		{.kind = KR_WR, .op = 1}};

	return kr_level_forbids(level, cycle, KR_COUNT(cycle));
}

bool kr_level_forbids_lost_updates(const struct kr_level *level, bool loose)
{
	const struct kr_pattern_edge cycle[] = {{.kind = KR_RW, .loose = loose}, {.kind = KR_WW}};

	return kr_level_forbids(level, cycle, KR_COUNT(cycle));
}

const char *kr_level_wrong_model(const struct kr_level *level)
{
	const struct kr_pattern *p = &level->forbidden[0];

	if (p->lonely)
		return level->model == KR_NODES_BEGIN_COMMIT
			? NULL
			: "`lonely` needs the `model` KR_NODES_BEGIN_COMMIT";
	if (p->lead)
		return level->model == KR_NODES_PREFIX ? NULL : "`lead` needs the `model` KR_NODES_PREFIX";
	return level->model == KR_NODES_TXN ? NULL
					    : "a `model` other than KR_NODES_TXN needs `lonely` or `lead`";
}
