/* A world that a certificate tells: the order of commits, and what each observation saw. Private to
 * verify/world*.c. */
#ifndef KR_VERIFY_WORLD_H
#define KR_VERIFY_WORLD_H

#include "verify/facts.h"
#include "verify/replayed.h"
#include "verify/verifier.h"

struct kr_world_sight { /* an external observation */
	kr_txn txn;
	uint32_t op;
	kr_key key;
	kr_txn source;   /* KR_NONE: the initial version */
	kr_txn over;     /* the writer of the first later version that an rw edge leads to, or KR_NONE */
	bool predicate, loose;
	bool over_own;   /* its transaction had added to the key before */
	bool holds;      /* what its source left of the key, by the facts, is what it shows */
};

/* What a counter or mark holds; not known where its initial value is not told, or a number goes beyond 64
 * bits. */
struct kr_world_count { bool known, absent; int64_t number; };

struct kr_world {
	struct kr_arena arena;
	struct kr_verifier *v;
	struct kr_mem *mem;
	struct kr_facts facts;
	uint32_t *place;         /* per transaction, KR_NONE: absent */
	uint32_t *first;         /* nkeys + 1 */
	kr_txn *writers;         /* per key in the order of commits: those of its versions */
	struct kr_world_count *counts; /* parallel: what they are of a counter or mark; NULL: there is none */
	KR_VEC(struct kr_world_sight) sights; /* by transaction */
	uint32_t *sights_of;     /* ntxns + 1 */
	/* the source of some observation of a counter of untold initial value: the newest one before */
	bool guessed;
	bool readers_apart;      /* transactions that write nothing have no place among the others */
};

/* The first place from `from` on among the writers of k whose commit is not before t's. */
uint32_t kr_world_first_after(const struct kr_world *w, kr_key k, uint32_t from, kr_txn t);
/* Index of t's version among k's writers (first[k] ...), or first[k + 1]. */
uint32_t kr_world_index(const struct kr_world *w, kr_key k, kr_txn t);
/* Whether an rw edge leads from the observation to b's version, should that be a later one. */
enum kr_status kr_world_overwrites(const struct kr_world *w, const struct kr_world_sight *s, kr_txn b,
	bool *out);

static inline bool kr_world_present(const struct kr_world *w, kr_txn t)
{
	return t.i == KR_NONE || w->place[t.i] != KR_NONE;
}

/* Place of a source: 0 the initial version, else 1 + that of its writer. */
static inline uint32_t kr_world_source_place(const struct kr_world *w, kr_txn t)
{
	return t.i == KR_NONE ? 0 : w->place[t.i] + 1;
}

/* world_told.c: sources told, by transaction, operation and key. */
struct kr_world_told {
	struct kr_arena arena;
	struct kr_world *w;
	uint32_t *first; /* per transaction, and two more: into ids */
	uint32_t *ids;   /* into the certificate's */
};

enum kr_status kr_world_told_read(struct kr_world_told *told); /* into its arena, even on failure */
/* The newest of the sources told for the observation, which may be told part by part. */
bool kr_world_told_find(const struct kr_world_told *told, const struct kr_sight *s, kr_txn *source);

/* world_counts.c: fills w->counts; whether k's versions are known there; whether the version lies in the
 * observation's candidate set in this world; of a counter or mark whose versions are known, the newest such
 * version before the observer, else the oldest later one. */
enum kr_status kr_world_count_versions(struct kr_world *w);
bool kr_world_counts(const struct kr_world *w, kr_key k);
enum kr_status kr_world_allows(const struct kr_world *w, const struct kr_sight *s, kr_txn writer, bool *out);
enum kr_status kr_world_choose_count(const struct kr_world *w, const struct kr_sight *s, kr_txn *source,
	bool *found);

/* world_values.c: every observation shows what its source left, and every transaction what it left itself. */
enum kr_status kr_world_check_values(struct kr_world *w);
/* world_graph.c: no forbidden cycle. */
enum kr_status kr_world_check_graph(struct kr_world *w);

#endif
