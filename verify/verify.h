/* Certificates and their checking. A certificate is what proves a verdict; kr_verify replays it against the
 * history with code of its own: it uses the reader's history and nothing else of the pipeline (no ASG, no IR,
 * no pass, no back end).
 *
 * satisfied: a world in which the level holds, in one of three forms. A serial order of the transactions that
 * took effect, checked by replaying every operation in it on a map; it proves every level. Starts and
 * commits, checked by replaying every transaction on the state at its start; they prove the levels that
 * forbid no cycle with two adjacent rw. An order of commits, which gives each key's versions their order,
 * with the sources of observations that the trace does not determine: checked by building the graph anew.
 * violated, non-cyclic: one operation. Checked against every write of its key.
 * violated, cyclic: a list of forbidden cycles. Each edge of a cycle holds under a guard, a conjunction of
 * choices: which version an observation saw, which of two versions of a key came first, whether an unknown
 * transaction took effect. A cycle therefore says: not all of these choices at once. The certificate holds
 * when every edge is what it claims to be under its guard, every cycle matches the level's forbidden pattern,
 * and no assignment of the choices satisfies all the cycles together with the facts of the history (each
 * observation saw one of its candidates, two versions are ordered one way, the initial version is first,
 * committed transactions took effect, given version orders hold). One cycle of certain edges is the smallest
 * such list; case splits and inferred edges are longer ones. */
#ifndef KR_VERIFY_VERIFY_H
#define KR_VERIFY_VERIFY_H

#include "base/terms.h"
#include "frontend/history.h"
#include "krait/level.h"

enum kr_cert_kind {
	KR_CERT_ORDER,     /* serial: each transaction once */
	KR_CERT_SNAPSHOTS, /* serial: each transaction twice, where it starts and where it commits */
	KR_CERT_WORLD,     /* serial: each transaction once, where it commits; and sources */
	KR_CERT_ANOMALY,
	KR_CERT_CYCLES,
	/* of the order that the trace's `serial` fields give, not of the level: its replay first differs at
	 * anomaly.txn, anomaly.op */
	KR_CERT_REPLAY
};

/* KR_CERT_WORLD: observation (txn, op, key, part) saw writer's version (KR_NONE: the initial one). To be told
 * for every observation that can have seen more than one version by transactions of the order; where it has
 * only one candidate it may be left out. `serial` must be a topological order of the world's dependencies of
 * the kinds that the level's first pattern allows (an update-serializable one: of those among transactions
 * that write). */
struct kr_cert_source {
	kr_txn txn;
	uint32_t op;
	kr_key key;
	kr_value part;     /* as in edges */
	kr_txn writer;
};

/* An edge of a cycle. Guards: wr: observation (to, op, key) saw source = from. rw: observation (from, op,
 * key) saw `source`, and source's version comes before to's.
 * ww: from's version of key comes before to's. so, rt: none. For all: unknown transactions at either end took
 * effect. */
struct kr_cert_edge {
	uint8_t kind;      /* enum kr_edge_kind, never KR_PROGRAM */
	bool predicate;    /* wr, rw: the observation is a predicate one */
	kr_txn from, to;
	kr_key key;        /* wr, ww, rw; else KR_NONE */
	uint32_t op;       /* wr: index in to; rw: index in from; else KR_NONE */
	kr_txn source;     /* rw: writer of the version seen, KR_NONE: the initial version */
	/* wr, rw of a key that has parts: which one, an element or the id of an incrementing transaction;
	 * KR_ABSENT: a counter's base; else KR_NONE */
	kr_value part;
};

/* into edges; edge i ends where edge i + 1 begins, cyclically */
struct kr_cert_cycle { uint32_t first, count; };

struct kr_certificate {
	struct kr_mem *mem;
	const struct kr_level *level; /* what it forbids is read from its patterns; borrowed */
	enum kr_order order;
	enum kr_cert_kind kind;
	KR_VEC(kr_txn) serial;    /* satisfied: KR_CERT_ORDER, KR_CERT_SNAPSHOTS, KR_CERT_WORLD */
	KR_VEC(struct kr_cert_source) sources; /* KR_CERT_WORLD */
	struct {                  /* KR_CERT_ANOMALY; KR_CERT_REPLAY, without the kind */
		enum kr_anomaly_kind kind;
		kr_txn txn;
		uint32_t op;
		kr_key key;
	} anomaly;
	KR_VEC(struct kr_cert_edge) edges; /* KR_CERT_CYCLES */
	/* the last one is the one that closes the argument: shown first to people */
	KR_VEC(struct kr_cert_cycle) cycles;
};

void kr_certificate_init(struct kr_certificate *cert, struct kr_mem *mem);
void kr_certificate_done(struct kr_certificate *cert);
/* A copy with its own memory. On failure *out is empty. */
enum kr_status kr_certificate_copy(struct kr_mem *mem, const struct kr_certificate *cert,
	struct kr_certificate *out);

/* KR_OK: it proves the verdict. KR_BAD: it does not; err says which step fails and why. KR_UNSUPPORTED: there
 * is no level, its patterns are not of a shape that is checked here, or an operation is not known. Other:
 * limits. */
enum kr_status kr_verify(struct kr_ctx *ctx, const struct kr_history *h, const struct kr_certificate *cert,
	struct kr_err *err);

/* NULL: certificates of the level can be checked. Else which demand stands in the way, and *pattern: of which
 * of its patterns, from 0. */
const char *kr_verify_states(const struct kr_level *level, int *pattern);

/* In which worlds of the history an edge of a certificate of cycles holds, by what was seen and told alone,
 * whatever the level forbids. */
enum kr_edge_truth { KR_EDGE_NEVER, KR_EDGE_SOMETIMES, KR_EDGE_ALWAYS };

/* KR_OK: *out is right, but KR_EDGE_SOMETIMES may stand for either of the others where facts about counters
 * are too many; with KR_EDGE_NEVER `why` says what is wrong. KR_UNSUPPORTED, limits. */
enum kr_status kr_verify_edge(struct kr_ctx *ctx, const struct kr_history *h,
	const struct kr_certificate *cert, uint32_t edge, enum kr_edge_truth *out, struct kr_err *why);

/* Whether the level of the certificate forbids a cycle of such edges. Each must be possible. KR_BAD: `why`
 * says why it does not. */
enum kr_status kr_verify_forbidden(struct kr_ctx *ctx, const struct kr_history *h,
	const struct kr_certificate *cert, uint32_t cycle, struct kr_err *why);

/* Of a cycle: one operation saw one part of a key (or the key) as of the wr, and a part (or the key) older
 * than an overwriting one that comes no later, as of the rw. They were never there together, whatever the
 * level. */
bool kr_cert_is_tear(const struct kr_cert_edge *edges, uint32_t count);

/* The first garbage read by a committed transaction in the sense of levels at which what was seen matters no
 * further (docs/levels.md, pl-1); txn KR_NONE: there is none. KR_UNSUPPORTED: it cannot be told. */
struct kr_garbage_place { kr_txn txn; uint32_t op; kr_key key; };
enum kr_status kr_find_garbage(struct kr_ctx *ctx, const struct kr_history *h, struct kr_garbage_place *out,
	struct kr_err *err);

/* ---- witness files: one JSON object per line, docs/witness.md ---- */

struct kr_witness_head { /* borrowed texts */
	const char *trace;   /* path as given */
	const char *level;
	enum kr_order order;
};

/* Appends one line (with its newline). */
void kr_witness_print(const struct kr_history *h, const struct kr_witness_head *head,
	const struct kr_certificate *cert, struct kr_str *out);

/* Reads one line against the history it speaks of. `arena` keeps the texts; `cert` is an initialised
 * certificate, replaced on success, but for its level, which the caller knows (head->level is its id).
 * KR_BAD: malformed, or it names a transaction, key or operation that the history does not have. */
enum kr_status kr_witness_read(const struct kr_history *h, struct kr_arena *arena, const char *line,
	size_t length, struct kr_witness_head *head, struct kr_certificate *cert, struct kr_err *err);

#endif
