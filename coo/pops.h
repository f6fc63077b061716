/* Partial-order pairs (POPs) of a schedule, and what their cycles are called (docs/schedules.md). A schedule
 * is consistent iff its POPs have no cycle. Source: Li, Chen, Li, "Coo", with corrections: how a pair is
 * called depends on what had ended when its second operation ran, and pairs of the first transaction's end
 * arise whenever it ends after the second operation. */
#ifndef KR_COO_POPS_H
#define KR_COO_POPS_H

#include "coo/schedule.h"

enum kr_pop_kind {
	KR_POP_WR,  /* p before q, p's transaction still open at q */
	KR_POP_RW,
	KR_POP_WW,
	KR_POP_WCR, /* it commits between p and q */
	KR_POP_RCW,
	KR_POP_WCW,
	/* a write, another's read of it, then the writer's abort: from the reader to the writer */
	KR_POP_RA,
	/* a write, another's write over it, then the first one's abort: from the second to the first */
	KR_POP_WA,
	KR_POP_WC,  /* the same with its commit */
	KR_POP_KINDS
};

const char *kr_pop_kind_name(enum kr_pop_kind kind);

struct kr_pop {
	uint8_t from, to; /* transactions */
	uint8_t kind;     /* enum kr_pop_kind */
	char object;
	uint32_t p, q;    /* places in the schedule; of RA, WA and WC: the two operations before the end */
	uint32_t at;      /* place of the operation that completes it: pairs are in ascending order of it */
};

KR_VEC_NAMED(kr_pops, struct kr_pop);

/* All pairs of the schedule, in the order in which its operations complete them. KR_NOMEM; the caller owns
 * *out in every case (kr_vec_done). */
enum kr_status kr_coo_pops(struct kr_mem *mem, const struct kr_coo_schedule *s, struct kr_pops *out);

/* reads, writes, intersecting (of ended transactions) */
enum kr_coo_class { KR_COO_RAT, KR_COO_WAT, KR_COO_IAT };
enum kr_coo_size { KR_COO_SDA, KR_COO_DDA, KR_COO_MDA };   /* two transactions on one object, on two, more */

struct kr_coo_anomaly {
	uint8_t number;               /* 1 to 33; 0: the cycle has no name (it contains another, named one) */
	enum kr_coo_class class;
	enum kr_coo_size size;
	/* into the pops: each leads to the next, the last one (which closes the cycle) to the first */
	uint32_t cycle[KR_COO_TXNS + 1], length;
};

const char *kr_coo_name(uint8_t number); /* "Dirty Read", ...; "" for 0 */
const char *kr_coo_class_name(enum kr_coo_class class);
const char *kr_coo_size_name(enum kr_coo_size size);

/* The number of a cycle of two pairs, the one that is complete first before the other, or of more pairs; 0:
 * none. */
uint8_t kr_coo_number(const struct kr_pop *const *cycle, uint32_t length, enum kr_coo_class *class,
	enum kr_coo_size *size);

/* The first cycle to close: of the shortest ones that the first closing operation closes the one with a name,
 * of these the smallest number. False: there is no cycle. */
bool kr_coo_classify(const struct kr_pop *pops, uint32_t n, struct kr_coo_anomaly *out);

/* Goes on after the first: one anomaly for each pair of transactions that a closing pair joins. KR_NOMEM; the
 * caller owns *out. */
KR_VEC_NAMED(kr_coo_anomalies, struct kr_coo_anomaly);
enum kr_status kr_coo_classify_all(struct kr_mem *mem, const struct kr_pop *pops, uint32_t n,
	struct kr_coo_anomalies *out);

#endif
