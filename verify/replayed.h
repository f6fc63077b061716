/* The replay of transactions on the state of the database, one at a time. Private to verify/. */
#ifndef KR_VERIFY_REPLAYED_H
#define KR_VERIFY_REPLAYED_H

#include "verify/store.h"
#include "verify/verifier.h"

/* What is known of an initial value that nobody tells: nothing; that it failed conditions; that the key was
 * taken to be absent, since it may have been; that it met those of a scan. */
enum kr_little { KR_LITTLE_NOTHING, KR_LITTLE_MISSED, KR_LITTLE_GUESSED, KR_LITTLE_MET };

struct kr_replayed {
	struct kr_verifier *v;
	struct kr_store store;
	uint32_t *row_marks; /* per key: 1 + the newest row that returned it; only for predicate reads */
	/* per key: enum kr_little, its _MET + the scan; only for predicate reads */
	uint32_t *little;
	/* per key: who wrote it last, KR_NONE: nobody; of a serial order only where operations name the
	 * versions that they saw */
	kr_txn *writer;
	kr_txn txn;          /* what is being replayed */
	uint32_t op;
};

/* On failure nothing is left to free. */
enum kr_status kr_replay_init(struct kr_replayed *r, struct kr_verifier *v);
void kr_replay_done(struct kr_replayed *r);

struct kr_saw;
/* Whether a read showed 0 of a counter, which it may do where there is none. */
bool kr_replay_shows_zero(const struct kr_history *h, kr_key k, const struct kr_saw *saw);

/* A predicate read returned k, whose value is untold, or did not. *settled: that is so, and no more to be
 * said. */
enum kr_status kr_replay_untold(struct kr_replayed *r, const struct kr_operation *op, kr_key k, bool met,
	bool *settled);

/* Executes t's operations: KR_BAD when one does not show what is there. With `undo` the state is then as
 * before, but for initial values that were fixed. */
enum kr_status kr_replay_txn(struct kr_replayed *r, kr_txn t, bool undo);

/* Applies an operation that adds to what is there, whatever it was shown; r->txn and r->op are its place, for
 * messages. */
enum kr_status kr_replay_grow(struct kr_replayed *r, const struct kr_operation *op);

/* Whether operation `index` of t shows of k what is there, under t's own earlier writes of k, which there are
 * only with `own`. The state is then as before, as above. */
enum kr_status kr_replay_sight(struct kr_replayed *r, kr_txn t, uint32_t index, kr_key k, bool own);

/* install.c: installs what t leaves, without looking at what it shows of others. */
enum kr_status kr_replay_install(struct kr_replayed *r, kr_txn t);

#endif
