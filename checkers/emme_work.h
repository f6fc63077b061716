/* Inside of the checker `emme`: versions as a certificate orders them, what saw which of them, and the graph
 * that follows. Nothing here is left to choose: what the certificate does not settle sets `open`.
 *
 * There are as many versions and arcs as operations, and what is touched for each of them at random places
 * waits for memory: so a version is two numbers, all that is known of those of a key lies together, and where
 * no value tells what was left, it lies elsewhere. */
#ifndef KR_CHECKERS_EMME_WORK_H
#define KR_CHECKERS_EMME_WORK_H

#include "base/hash.h"
#include "checkers/check.h"
#include "frontend/model/elements.h"

/* What was left of a key: the value of the history that says so, or, by the number of these and more, an
 * effect. */
typedef struct { uint32_t i; } kr_left;

struct version { kr_key key; kr_left left; };

KR_VEC_NAMED(versions, struct version);

/* A version in the order of its key, and for those of a key how to find them by what they look like: `looks`
 * is the place of a version that looks as this place says (kr_emme_look), `like` the one to try after this
 * one; 0: none. Until they are put in that order they stand by transaction; then `next` is which comes next
 * in it, as far as it is told, or KR_NONE, and `follows`, that something comes before, as is told. */
struct stand {
	kr_txn writer;
	kr_left left;
	union { uint32_t looks, follows; };
	union { uint32_t like, next; };
};

struct arc { uint32_t from, to; };

/* Where the version will be looked for that an operation to come saw; NULL: nowhere in particular. */
enum { KR_EMME_AHEAD = 8 };
struct expected { const uint32_t *looks; const struct stand *stands; };

struct emme {
	struct kr_ctx *ctx;
	const struct kr_history *h;
	const struct kr_level *level;
	struct kr_verdict *out;
	struct kr_elements elements;
	const struct kr_datatype **type; /* per key */
	uint8_t *effective;              /* per transaction: it took effect */
	struct versions versions;        /* by transaction */
	/* what no value tells: effects, and once the versions are ordered the states that they come to */
	KR_VEC(struct kr_effect) effects;
	uint32_t *of_txn, *of_key;       /* where theirs begin: in versions; in by_writer and stands */
	uint32_t *by_writer;             /* by key, in the order of transactions: into versions */
	struct stand *stands;            /* by key, in its order */
	uint32_t *place;                 /* per version: in that order, from 1; the initial one has place 0 */
	/* per key: where it stands in what a transaction has left so far */
	uint32_t *slot;
	/* per key: the version of it by the transaction at hand, or another one's */
	uint32_t *mine;
	/* per key: 1 + what the operation at hand names of it, into h->seen */
	uint32_t *named;
	uint32_t *returned;              /* per key: 1 + the row that returned it last, into h->rows */
	kr_key *by_name;                 /* in the order of ranges; if there are scans */
	kr_op op;                        /* at hand */
	struct versions sofar;           /* what its transaction has left before operation `taken` */
	uint32_t taken, lasting;         /* lasting: so many effects are versions', not those of `sofar` */
	struct expected expected[KR_EMME_AHEAD];
	KR_VEC(struct arc) arcs;
	uint32_t *leaving, *entering;    /* per node: so many arcs; leaving: from 2 on (kr_index_places) */
	bool open;                       /* the certificate alone does not settle it */
};

/* Where k stands in what a transaction has left so far, from `first` on; NULL: it has not written it. */
struct version *kr_emme_left(const struct emme *e, const struct versions *of, uint32_t first, kr_key k);

/* What the operation leaves, on top of what the transaction has left so far. */
enum kr_status kr_emme_write(struct emme *e, const struct kr_operation *op, struct versions *of,
	uint32_t first);

/* The versions, in the order of their keys, as states; e->out->reason: that order is not told. */
enum kr_status kr_emme_versions(struct emme *e);

/* t's version of k, into by_writer, or KR_NONE. */
uint32_t kr_emme_version(const struct emme *e, kr_txn t, kr_key k);

/* What was left, as an effect, of which the state is the one that the key was in. */
enum kr_status kr_emme_effect(struct emme *e, kr_key k, kr_left left, struct kr_effect *out);

/* What the key's version at that place left. */
static inline kr_left kr_emme_left_at(const struct emme *e, kr_key k, uint32_t place)
{
	return place == 0 ? (kr_left){e->h->keys.at[k.i].initial.i}
			  : e->stands[e->of_key[k.i] + place - 1].left;
}
static inline uint32_t kr_emme_count(const struct emme *e, kr_key k)
{
	return e->of_key[k.i + 1] - e->of_key[k.i];
}

/* Where `looks` of a state is, for a key with versions: equal for equal states; of sets, and of lists in
 * part, by their size. */
static inline uint32_t *kr_emme_look(const struct emme *e, kr_key k, const struct kr_state *s)
{
	enum kr_value_type shown = e->type[k.i]->shown;
	uint64_t look = !s->present       ? UINT64_MAX
		: shown == KR_VALUE_INT   ? (uint64_t)s->number
		: shown == KR_VALUE_ARRAY ? s->items.n
					  : s->value.i;
	uint64_t place = (kr_hash_u64(look) >> 32) * kr_emme_count(e, k) >> 32;

	return &e->stands[e->of_key[k.i] + place].looks;
}

/* What proves a level that holds. */
enum kr_cert_kind kr_emme_kind_of_world(const struct kr_level *level);

/* What each transaction saw: wr and rw. After kr_emme_versions. */
enum kr_status kr_emme_seen(struct emme *e);

/* From one node to another. */
static inline enum kr_status kr_emme_arc(struct emme *e, uint32_t from, uint32_t to)
{
	e->leaving[from + 2]++;
	e->entering[to]++;
	return kr_vec_add(&e->ctx->mem, &e->arcs, (struct arc){from, to});
}

/* An edge, if the level has such. */
static inline enum kr_status kr_emme_edge(struct emme *e, enum kr_edge_kind kind, kr_txn a, kr_txn b)
{
	if (a.i == b.i || !(e->level->forbidden[0].allowed & KR_BIT(kind)))
		return KR_OK;
	return kr_emme_arc(e, kr_level_out(e->level, kind, a).i, kr_level_in(e->level, kind, b).i);
}

#endif
