/* Inside of the checker `emme`: versions as a certificate orders them, what saw which of them, and the graph
 * that follows. Nothing here is left to choose: what the certificate does not settle sets `open`. */
#ifndef KR_CHECKERS_EMME_WORK_H
#define KR_CHECKERS_EMME_WORK_H

#include "checkers/check.h"
#include "frontend/model/elements.h"

/* What a transaction left of a key, first as an effect, then as the state that it is in its key's order. */
struct left {
	kr_key key;
	kr_txn writer;
	uint32_t place; /* in the order; the initial version has place 0 */
	uint32_t next;  /* in that order, KR_NONE: the last, as far as it is told */
	bool follows;   /* something comes before it, as is told */
	struct kr_effect effect;
};

KR_VEC_NAMED(lefts, struct left);

struct arc { uint32_t from, to; };

struct emme {
	struct kr_ctx *ctx;
	const struct kr_history *h;
	const struct kr_level *level;
	struct kr_verdict *out;
	struct kr_elements elements;
	const struct kr_datatype **type; /* per key */
	struct kr_state *initial;        /* per key */
	uint8_t *effective;              /* per transaction: it took effect */
	struct lefts versions;           /* by transaction */
	struct lefts sofar;              /* what the transaction at hand has left so far */
	uint32_t *of_txn, *of_key;       /* where theirs begin: in versions, in chain */
	uint32_t *chain, *by_writer;     /* versions by key: in their order, in that of transactions */
	kr_txn *writers;                 /* of those of chain: neighbours are at hand */
	struct kr_table looks;           /* versions by key and what they look like */
	/* per key: where it stands in what a transaction has left of it so far */
	uint32_t *slot;
	/* per key: the version of it by the transaction at hand, or another one's */
	uint32_t *mine;
	/* per key: 1 + what the operation at hand names of it, into h->seen */
	uint32_t *named;
	uint32_t *returned;              /* per key: 1 + the row that returned it last, into h->rows */
	kr_key *by_name;                 /* in the order of ranges; if there are scans */
	KR_VEC(struct arc) arcs;
	bool open;                       /* the certificate alone does not settle it */
};

/* Where k stands in what a transaction has left so far, from `first` on; NULL: it has not written it. */
struct left *kr_emme_left(const struct emme *e, const struct lefts *of, uint32_t first, kr_key k);

/* What the operation leaves, on top of what the transaction has left so far. */
enum kr_status kr_emme_write(struct emme *e, kr_txn t, const struct kr_operation *op, struct lefts *of,
	uint32_t first);

/* The versions, in the order of their keys, as states; e->out->reason: that order is not told. */
enum kr_status kr_emme_versions(struct emme *e);

uint32_t kr_emme_version(const struct emme *e, kr_txn t, kr_key k); /* t's version of k, or KR_NONE */
const struct kr_state *kr_emme_state(const struct emme *e, kr_key k, uint32_t place);
static inline uint32_t kr_emme_count(const struct emme *e, kr_key k)
{
	return e->of_key[k.i + 1] - e->of_key[k.i];
}

/* What each transaction saw: wr and rw. After kr_emme_versions. */
enum kr_status kr_emme_seen(struct emme *e);

/* An edge, if the level has such. */
enum kr_status kr_emme_edge(struct emme *e, enum kr_edge_kind kind, kr_txn a, kr_txn b);

#endif
