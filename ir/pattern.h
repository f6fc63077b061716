/* Patterns of cycles (krait/level.h): the one matcher, and the names of anomalies as patterns. Levels forbid
 * patterns, searches look for what they forbid, reports name what was found: all by what stands here. The
 * verifier alone has a matcher of its own (verify/pattern.c). */
#ifndef KR_IR_PATTERN_H
#define KR_IR_PATTERN_H

#include "base/terms.h"
#include "krait/level.h"

/* An edge of a cycle, as far as patterns ask. */
struct kr_pattern_edge {
	uint8_t kind;   /* enum kr_edge_kind */
	bool predicate; /* rw: of a predicate observation */
	bool loose;     /* rw: of a read that was not through a cursor */
	bool reader;    /* it leaves a transaction that writes nothing */
	kr_key key;     /* KR_NONE: none */
	uint32_t op;    /* wr, rw: the operation that saw */
};

/* A cycle of whoever asks. */
struct kr_pattern_cycle {
	const void *of;
	uint32_t n;
	struct kr_pattern_edge (*edge)(const void *of, uint32_t i);
	/* did the transaction that edge i leaves read its key before it wrote it? */
	bool (*reads)(const void *of, uint32_t i);
};

bool kr_pattern_equal(const struct kr_pattern *a, const struct kr_pattern *b);

/* The matcher's parts, for searches that build cycles edge by edge: does an rw of such an observation count,
 * may an rw come after an edge of that kind, may wr to operation `wr` come before rw from operation `rw`? */
static inline bool kr_pattern_counts(const struct kr_pattern *p, bool predicate, bool loose)
{
	return !(p->item_only && predicate) && !(p->cursor_only && loose);
}

static inline bool kr_pattern_turns(const struct kr_pattern *p, uint8_t kind)
{
	return !(p->lonely & KR_BIT(kind)) && (!p->lead || p->lead & KR_BIT(kind));
}

static inline bool kr_pattern_sees(const struct kr_pattern *p, uint32_t wr, uint32_t rw)
{
	return p->sight == KR_SIGHT_ANY || wr + (p->sight == KR_SIGHT_BEFORE) <= rw;
}

/* Names of cycles, the most special first. */
enum kr_cycle_name {
	KR_CYCLE_G0,
	KR_CYCLE_G1C,
	KR_CYCLE_LOST_UPDATE,
	KR_CYCLE_G_SINGLE,
	KR_CYCLE_LONG_FORK,
	KR_CYCLE_G_NONADJACENT,
	KR_CYCLE_WRITE_SKEW,
	KR_CYCLE_G2_ITEM,
	KR_CYCLE_G2, /* of every cycle that a level can forbid */
	KR_CYCLE_NAMES
};

const char *kr_cycle_name(enum kr_cycle_name name);
bool kr_cycle_is(enum kr_cycle_name name, const struct kr_pattern_cycle *cycle);
/* Is the cycle of this name, or does it break every level that one of this name breaks? */
bool kr_cycle_justifies(enum kr_cycle_name name, const struct kr_pattern_cycle *cycle);

#endif
