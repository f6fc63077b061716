/* Simulated databases with statements that take time: for generate*.c alone. */
#ifndef KR_FRONTEND_GENERATE_TIMED_H
#define KR_FRONTEND_GENERATE_TIMED_H

#include "base/rng.h"
#include "frontend/event.h"
#include "frontend/generate.h"

enum kr_timed_read { KR_TIMED_STATEMENT, KR_TIMED_TRANSACTION, KR_TIMED_LATEST, KR_TIMED_UNCOMMITTED };

/* What a database does: a row for each. */
struct kr_timed_rules {
	enum kr_timed_read reads; /* what a plain read sees */
	/* the snapshot is that of the first plain read, else of the first statement */
	bool plain_takes_snapshot;
	bool locks_see_latest;    /* locking reads see what is committed, whatever the snapshot */
	bool read_locks;          /* plain reads and ranges lock, but in autocommit */
	bool first_updater;       /* what was changed since the snapshot is not written or locked */
	/* commits only if nothing that was read has been changed since the snapshot */
	bool validates;
};

struct kr_timed_lock { uint32_t low, high; bool exclusive; }; /* keys from low up to but without high */
struct kr_timed_write { uint32_t key; kr_value value; };
struct kr_timed_version { uint32_t commit; kr_value value; };

enum kr_timed_kind {
	KR_TIMED_PLAIN,
	KR_TIMED_LOCKING,
	KR_TIMED_RANGE,
	KR_TIMED_WRITE,
	KR_TIMED_COMMIT,
	KR_TIMED_ROLLBACK
};
enum kr_timed_phase { KR_TIMED_SEND, KR_TIMED_ARRIVE, KR_TIMED_WAIT, KR_TIMED_DONE };

struct kr_timed_client {
	enum kr_timed_phase phase;
	int64_t at;       /* when it goes on */
	int64_t offset;   /* of its clock */
	uint64_t ticket;  /* in the order of waiting */
	/* the transaction */
	/* lost: its commit will not be answered; gives_up: it will roll back */
	bool open, autocommit, has_snapshot, lost, gives_up;
	bool over;        /* the database has ended it */
	uint32_t number, left, snapshot;
	/* the statement */
	enum kr_timed_kind kind;
	uint32_t low, high;
	kr_value value;   /* written */
	int64_t sent;
	KR_VEC(struct kr_timed_lock) locks;
	KR_VEC(struct kr_timed_write) writes;
	KR_VEC(uint32_t) reads; /* keys */
};

struct kr_timed {
	struct kr_arena arena;
	struct kr_ctx *ctx;
	const struct kr_generate_options *options;
	const struct kr_timed_rules *rules;
	struct kr_history *h;
	struct kr_err *err;
	struct kr_rng rng;
	struct kr_zipf zipf;
	uint32_t commits, begun;
	uint64_t tickets;
	struct kr_timed_client *clients;
	KR_VEC(struct kr_timed_version) *keys; /* by key, oldest first */
	uint32_t *handed;                      /* values handed out, by key */
	bool *reached;                         /* clients, when looking for a deadlock */
	uint32_t *stack;
};

/* generate_lock.c. Whether the statement of client c has the locks that it needs, which are then taken;
 * *deadlock: it has not, and waits for itself. KR_NOMEM. */
enum kr_status kr_timed_lock(struct kr_timed *s, struct kr_timed_client *c, bool *granted, bool *deadlock);

/* The row of a store; NULL: it has no times. */
const struct kr_timed_rules *kr_timed_find(enum kr_store store);
enum kr_status kr_generate_timed(struct kr_ctx *ctx, const struct kr_generate_options *options,
	struct kr_history *h, struct kr_err *err);

#endif
