/* What the files of growing keys share; for frontend/analyze_grow.c, analyze_elements.c, analyze_initial.c,
 * analyze_lists.c, analyze_list_orders.c, analyze_bags.c and analyze_ranks.c (sets), analyze_marks.c,
 * analyze_counters.c and analyze_totals.c only. */
#ifndef KR_FRONTEND_ANALYZE_GROW_H
#define KR_FRONTEND_ANALYZE_GROW_H

#include "frontend/analyze_replay.h"
#include "frontend/model/elements.h"

/* A write of a growing key: append, add, inc or delete. */
struct kr_grow_write {
	kr_txn txn;
	uint32_t op;  /* within txn */
	kr_item item; /* append, add, max; else KR_NONE */
	bool deletes;
};

/* An element of one list or set, or a number that a mark was raised to. */
struct kr_grow_element {
	kr_key key;
	kr_item item;
	uint32_t write;   /* its first write by a transaction that did not abort, into writes, or KR_NONE */
	bool twice;       /* it was written (or was there) more than once */
	bool initial;     /* it was there at the beginning */
	kr_txn aborted;   /* one that wrote it and aborted, or KR_NONE */
	kr_key part;      /* of a set or mark: its part, or KR_NONE */
	/* The replay's: of the read at hand; its place in the longest list of the key that has been checked,
	 * if that has it there. */
	uint32_t mark, place;
	uint32_t rank;    /* in a set that has ranks; initial elements have rank 0 (analyze_ranks.c) */
};

/* What the transaction that is being replayed has done to a key. */
struct kr_grow_own {
	uint32_t turn;   /* of struct kr_replay; another one: nothing */
	uint32_t writes; /* its writes of the key: [writes, writes + count) are done */
	uint32_t count, composed; /* composed: so many of them are in `effect` */
	/* once it was shown the key on top of its additions, that is what it left */
	struct kr_effect effect;
};

struct kr_grow_read { kr_txn txn; uint32_t op; kr_key key; struct kr_items list; bool committed, refuted; };
struct kr_grow_total { kr_txn txn; uint32_t op; kr_key key; int64_t total; };
struct kr_grow_subsets;

/* What the replays find. */
struct kr_grow_seen {
	struct kr_grow_own *own;               /* per key of the trace */
	uint32_t marks;
	/* per key of the trace: the longest list that was read of it and found in order; not of a list that
	 * is deleted */
	struct kr_items *checked;
	KR_VEC(struct kr_grow_read) reads;     /* external ones, of lists, in the order of the trace */
	/* external reads of sets, by committed transactions that had not added anything */
	KR_VEC(struct kr_grow_read) shown;
	KR_VEC(struct kr_grow_total) totals;
	uint32_t total_at;                     /* of the filling replay */
	/* per key of the trace: what its versions can add up to (analyze_totals.c), or NULL */
	struct kr_grow_subsets **subsets;
};

/* Per key of the trace: of sets whose reads tell an order of all their elements (analyze_ranks.c). */
struct kr_grow_ranks {
	bool *chained;     /* they do */
	bool *ranked;      /* so that no more need be observed than what is next to the read's rank */
	uint32_t *by_rank; /* the elements of such a key, where its elements are */
};

struct kr_growing {
	const struct kr_work *w;
	const struct kr_writes *versions;      /* with those of parts */
	bool coarse, told_lists, shows_own;    /* as in struct kr_analysis */
	/* per key of the trace: as told, or, of a list, as reads tell (kr_grow_initial) */
	kr_value *initial;
	uint32_t *write_first;                 /* per key of the trace, and one more */
	/* of growing keys, by key, then transaction, then op; aborted ones, too */
	struct kr_grow_write *writes;
	bool *deleted;                         /* per key of the trace: by some that did not abort */
	struct kr_elements numbered;
	struct kr_table element_table;         /* (key, element) -> elements */
	KR_VEC(struct kr_grow_element) elements; /* by key */
	uint32_t *element_first;               /* per key of the trace, and one more */
	uint32_t *initials;                    /* per key of the trace: elements that were there at first */
	uint32_t *parts_of;                    /* per key of the trace, and one more: its parts */
	/* Lists. Per write, the first of its transaction and key: the part that stands for what they leave,
	 * or KR_NONE. */
	kr_key *run_part;
	/* Counters. Per version of a whole key, as they were before any was dropped: its value is known; that
	 * value, or by how much it adds. Per key of the trace: some version is not absolute. */
	KR_VEC(struct kr_asg_version) whole_versions;
	bool *absolute;
	int64_t *amount;
	bool *relative;

	struct kr_grow_seen seen;
	struct kr_grow_ranks ranks;
};

/* Orders between the elements of one set; beyond it levels without rw must do without some. */
#define KR_GROW_PAIRS_MOST (UINT32_C(1) << 22)

static inline enum kr_key_kind kr_grow_kind(const struct kr_growing *g, kr_key k)
{
	return (enum kr_key_kind)g->w->h->keys.at[k.i].kind;
}
static inline struct kr_write kr_grow_did(const struct kr_growing *g, const struct kr_grow_write *x)
{
	struct kr_write write = {.how = KR_KEEP};

	(void)kr_write_at(g->w->h, &g->w->h->ops.at[kr_history_op(g->w->h, x->txn, x->op).i], 0, &write);
	return write;
}
static inline bool kr_grow_aborted(const struct kr_growing *g, kr_txn t)
{
	return g->w->h->txns.at[t.i].status == KR_ABORTED;
}

/* A run: the writes of one key by one transaction, from one of them on. */
struct kr_grow_run {
	kr_txn txn;
	uint32_t first, end, since; /* since: the first behind the last that deletes the key, else `first` */
	bool deletes;
};
/* The one from write `first` on; the next one of key k, after run->end (0: the first), by a transaction that
 * did not abort: false: there is none. */
struct kr_grow_run kr_grow_run(const struct kr_growing *g, kr_key k, uint32_t first);
bool kr_grow_next(const struct kr_growing *g, kr_key k, struct kr_grow_run *run);

/* Elements (analyze_elements.c). */
enum kr_status kr_grow_elements(struct kr_growing *g, struct kr_writes *writes);
struct kr_grow_element *kr_grow_find(const struct kr_growing *g, kr_key k, kr_item item); /* or NULL */

/* Untold initial values (analyze_initial.c). Fills `initial`, and closes the lists whose untold initial value
 * reads tell; after kr_grow_elements has indexed the writes. And whether it is not told which parts of a key
 * were there at first. */
enum kr_status kr_grow_initial(struct kr_growing *g, struct kr_writes *writes);
bool kr_grow_open(const struct kr_growing *g, kr_key k);

/* Parts while they are made: begin one, then its versions after the initial one, by ascending writer. */
struct kr_parts {
	struct kr_growing *g;
	struct kr_writes *writes;
	KR_VEC(struct kr_asg_part) parts;
	KR_VEC(uint32_t) first; /* into versions */
	KR_VEC(struct kr_asg_version) versions;
	KR_VEC(kr_token) tokens;
};
enum kr_status kr_grow_part(struct kr_parts *p, kr_key of, uint32_t label, kr_token initial, kr_key *out);
enum kr_status kr_grow_part_version(struct kr_parts *p, kr_txn writer, kr_token token);

/* What the transaction that is being replayed has done to the key. */
struct kr_grow_own *kr_grow_own(struct kr_replay *r, kr_key k);
/* Takes a want back over the transaction's own writes: what the version that it saw must have been. *done:
 * that may be any; or none, which is a contradiction. */
enum kr_status kr_grow_pull(struct kr_replay *r, kr_key k, struct kr_want *want, bool *done);
/* Absent, or not, of a key that the transaction has not written. */
enum kr_status kr_grow_see_presence(struct kr_replay *r, kr_key k, enum kr_shown shown);

/* Each kind of key: its parts and the tokens of its whole versions; what an operation shows; checks between
 * reads; orders. */
enum kr_status kr_lists_prepare(struct kr_parts *p, kr_key k);
enum kr_status kr_lists_see(struct kr_replay *r, kr_key k, enum kr_shown shown, struct kr_want *want);
bool kr_lists_same_beginning(struct kr_items a, struct kr_items b, uint32_t n); /* the first n elements */
enum kr_status kr_lists_check(struct kr_growing *g, struct kr_observed *out); /* analyze_list_orders.c */
enum kr_status kr_lists_orders(const struct kr_growing *g, const struct kr_asg *asg,
	struct kr_analyze_pairs *orders);
enum kr_status kr_bags_prepare(struct kr_parts *p, kr_key k);
/* Ranks (analyze_ranks.c). */
enum kr_status kr_bags_check(struct kr_growing *g, struct kr_observed *out);
/* what the read that marked elements observes of them, but for its own */
enum kr_status kr_ranks_see(struct kr_replay *r, kr_key k, struct kr_items list, const struct kr_items *own);
enum kr_status kr_ranks_orders(const struct kr_growing *g, bool any_anomaly, const struct kr_asg *asg,
	struct kr_analyze_pairs *orders);
/* elements, or a number, shown */
enum kr_status kr_bags_see(struct kr_replay *r, kr_key k, struct kr_want *want);
/* Of sets and marks: the tokens of whole versions, there or absent. And what it tells that one was absent, or
 * was found. */
void kr_bags_prepare_whole(struct kr_parts *p, kr_key k);
enum kr_status kr_bags_see_absent(struct kr_replay *r, kr_key k, enum kr_shown shown, struct kr_want *want);
enum kr_status kr_marks_prepare(struct kr_parts *p, kr_key k);
enum kr_status kr_marks_see(struct kr_replay *r, kr_key k, struct kr_want *want);
enum kr_status kr_counters_scan(struct kr_growing *g, struct kr_writes *writes);
enum kr_status kr_counters_prepare(struct kr_parts *p, kr_key k);
enum kr_status kr_counters_see(struct kr_replay *r, kr_key k, enum kr_shown shown, struct kr_want *want);
/* Whether some base and some relative versions can add up to the total, seen from outside r's transaction
 * (analyze_totals.c). */
enum kr_status kr_counters_reach(const struct kr_replay *r, kr_key k, int64_t total, bool *out);
enum kr_status kr_counters_sums(const struct kr_growing *g, struct kr_asg *asg);

#endif
