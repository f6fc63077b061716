/* Slots: what a client has in flight, and the lines that it has finished but not yet written out, in memory
 * that is a file: whatever becomes of the recorder, it is there afterwards. A slot has one writer, its
 * client; others may look at any time. Stores are ordered: text before its length, all of it before the state
 * that makes it count. */
#ifndef KR_LAB_SLOT_H
#define KR_LAB_SLOT_H

#include <stdatomic.h>

#include "base/base.h"
#include "lab/driver.h"

enum {
	KR_SLOT_PENDING = 4 << 10,
	KR_SLOT_FULL = 64 << 10,
	KR_SLOT_OPS = 2 << 20,
	KR_SLOT_BUFFER = KR_SLOT_FULL + KR_SLOT_OPS + KR_SLOT_PENDING
};

enum { KR_SLOT_ONE_NODE = -1, KR_SLOT_ANY_NODE = -2 };
enum kr_slot_state { KR_SLOT_IDLE, KR_SLOT_OPEN, KR_SLOT_COMMITTING, KR_SLOT_ROLLING_BACK };

struct kr_slot {
	_Atomic uint32_t state;
	_Atomic uint32_t number;              /* of the transaction in flight */
	_Atomic int32_t node;                 /* that it went to; any of them: there is no session */
	_Atomic uint32_t ops_n, pending_n, buffer_n;
	_Atomic uint32_t flushes;             /* how often the buffer was begun anew */
	_Atomic int64_t begin[2], end;        /* begin[1] 0: not answered; end: commit or rollback was sent */
	char ops[KR_SLOT_OPS];                /* what is done, as JSON, with commas between */
	char pending[KR_SLOT_PENDING];        /* what was sent and not answered, as it is told then */
	char buffer[KR_SLOT_BUFFER];          /* whole lines */
};

/* Maps FOLDER/N, making it. NULL: errno. */
struct kr_slot *kr_slot_map(const char *folder, uint32_t client);
void kr_slot_unmap(struct kr_slot *slot);

struct kr_line;
void kr_slot_id(struct kr_line *line, uint32_t client, uint32_t number); /* of a transaction: "c1.7" */

/* ---- by its client ---- */

void kr_slot_begin(struct kr_slot *slot, uint32_t number, int32_t node, int64_t now);
void kr_slot_begun(struct kr_slot *slot, int64_t now);
void kr_slot_sent(struct kr_slot *slot, const struct kl_op *op);
/* False: there is no room. */
bool kr_slot_answered(struct kr_slot *slot, const struct kl_op *op, const struct kl_result *result,
	enum kl_answer answer);
void kr_slot_ending(struct kr_slot *slot, enum kr_slot_state state, int64_t now);

struct kr_slot_end {
	uint32_t client;
	const char *status;
	int64_t answered;
	const struct kl_result *commit; /* NULL: not committed */
	uint64_t own;
	const char *level;  /* NULL: as of all others */
	const char *breaks; /* the workload that rules out what was seen; NULL: none does */
};
/* The transaction becomes a line of the buffer; a full buffer is appended to `file`. False: it could not
 * be. */
bool kr_slot_end(struct kr_slot *slot, const struct kr_slot_end *end, int file);
bool kr_slot_flush(struct kr_slot *slot, int file);

/* ---- by anybody ---- */

/* A copy of what a slot holds at some moment. */
struct kr_slot_view {
	char *lines;         /* whole lines, terminated */
	size_t lines_n;
	/* the transaction in flight as a line without its newline: aborted, or unknown if it was being
	 * committed; NULL: none */
	char *flight;
	uint32_t number;     /* of that */
};
/* False: no memory. The caller frees both with free(). */
bool kr_slot_look(const struct kr_slot *slot, uint32_t client, struct kr_slot_view *out);

#endif
