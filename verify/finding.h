/* Findings: what the check of a database's mechanisms (mechanisms/) found, and its re-checking, which shares
 * nothing with how it was found but the profile (krait/profile.h) and the reader's history. docs/leopard.md
 * says what findings mean. A finding says: no placement of instants within the intervals that clients saw
 * lets the mechanism be right. */
#ifndef KR_VERIFY_FINDING_H
#define KR_VERIFY_FINDING_H

#include "base/terms.h"
#include "frontend/history.h"
#include "krait/level.h"
#include "krait/profile.h"

/* Earliest and latest instant; INT64_MIN and INT64_MAX: no bound. Widened by half of the clock skew on both
 * sides. */
struct kr_span { int64_t from, to; };

enum kr_mechanism_kind {
	KR_MECH_CR,      /* consistent read */
	KR_MECH_ME,      /* mutual exclusion */
	KR_MECH_FUW,     /* first updater wins */
	KR_MECH_SC,      /* serialization certifier */
	KR_MECH_SESSION, /* numbers and order of a session's timestamps */
	KR_MECH_KINDS
};

/* Classes with their names: KR_FOUND_OWN_WRITE is "own write". UNCOMMITTED: of reads that see what is not
 * committed, the value was not there then. CYCLE: of SC; it is told by the name of the anomaly. DECLARED:
 * what a mechanism declares itself (verify/declared.h), told by the name that it has there: a new class is
 * one of these, and needs no line here. */
#define KR_FINDING_CLASSES(X) \
	X(OWN_WRITE, "own write") \
	X(NEVER_WRITTEN, "never written") \
	X(ABORTED, "aborted") \
	X(INTERMEDIATE, "intermediate") \
	X(FUTURE, "future") \
	X(GARBAGE, "garbage") \
	X(UNCOMMITTED, "uncommitted") \
	X(NO_COMMON_SNAPSHOT, "no common snapshot") \
	X(DUPLICATE_ROW, "duplicate row") \
	X(WRITE_WRITE, "write-write") \
	X(WRITE_READ, "write-read") \
	X(RANGE, "range") \
	X(CONCURRENT_WRITERS, "concurrent writers") \
	X(CYCLE, "cycle") \
	X(DECLARED, "declared")

#define KR_FINDING_CLASS(NAME, TEXT) KR_FOUND_##NAME,
enum kr_finding_class { KR_FINDING_CLASSES(KR_FINDING_CLASS) KR_FOUND_CLASSES };
#undef KR_FINDING_CLASS

const char *kr_mechanism_name(enum kr_mechanism_kind kind);           /* "CR", ... */
bool kr_mechanism_parse(const char *text, enum kr_mechanism_kind *out);
bool kr_finding_class_parse(const char *text, enum kr_finding_class *out);

/* A version that could be seen. */
/* writer KR_NONE: the initial one; value.i KR_NONE: not told */
struct kr_visible { kr_txn writer; kr_value value; struct kr_span window; };

/* A certain dependency. `earlier`: the target read the version of the source, or one that comes after it. */
struct kr_certain_edge {
	enum kr_edge_kind kind;
	bool earlier, predicate;
	kr_txn from, to;
	kr_key key;
	uint32_t op;
};

struct kr_declared;
/* the class of that name, or NULL: mechanisms know them */
typedef const struct kr_declared *kr_declared_find_fn(const char *name);

struct kr_finding {
	enum kr_mechanism_kind mechanism;
	enum kr_finding_class what;
	const struct kr_declared *declared; /* DECLARED: as what; else NULL */
	/* CR: the reader; ME, FUW: the pair; DECLARED: as the class says; [1] may be KR_NONE; of a cycle both
	 * are KR_NONE */
	kr_txn txns[2];
	uint32_t ops[2];  /* index in its transaction, or KR_NONE */
	kr_key key;       /* or KR_NONE */
	kr_value seen;    /* CR: i == KR_NONE: only that it was there, or did not match */
	struct kr_span snapshot; /* CR: where the read's snapshot lies; FUW: that of txns[0] */
	uint32_t visible_first, visible_count;
	uint32_t edge_first, edge_count; /* of a cycle: edge i ends where edge i + 1 begins */
	/* CR: who wrote what was seen, where somebody did; KR_NONE: the initial version, or nobody */
	kr_txn writer;
	bool has_writer;
	kr_txn over;       /* CR, garbage: whose version took its place; KR_NONE: not known */
	int64_t over_by;   /* when that was in place at the latest */
	bool by_locks;     /* and what orders the two: their locks, else their commits */
	/* ME: from when at the latest, until when at least, each of the two had the lock */
	struct kr_span held[2];
	/* DECLARED, of each inequality: `before` at its latest, `after` at its earliest; where it was read
	 * from JSON 0 */
	int64_t at[4][2];
	uint32_t attached; /* cycles that hold both transactions of this pair, and are not reported apart */
};

struct kr_findings {
	struct kr_mem *mem;
	KR_VEC(struct kr_finding) list;
	KR_VEC(struct kr_visible) visible;
	KR_VEC(struct kr_certain_edge) edges;
};

const char *kr_finding_class_name(const struct kr_finding *f); /* "garbage", ... */

void kr_findings_init(struct kr_findings *f, struct kr_mem *mem);
void kr_findings_done(struct kr_findings *f);

/* What the streaming engine (mechanisms/stream.h) knows of the window of a longer history that it holds. */
enum kr_mark {
	KR_MARK_SETTLED = 1, /* a transaction: all that can bear on what it saw and did is in the window */
	KR_MARK_CARRIED = 2, /* a transaction: only its versions that can still be seen are left of it */
	KR_MARK_FRESH = 8,   /* a transaction: its cycles have not been looked for */
	KR_MARK_GONE = 4,    /* an operation of a carried one: nothing sees its version any more */
	KR_MARK_DELETED = 2, /* an operation of a carried one: it had deleted the key, whatever it left */
	KR_MARK_REMADE = 8,  /* an operation of a carried one: it had at least tried to */
	KR_MARK_SHADOW = 1   /* an operation of a carried one: its version is a shadow */
};
struct kr_carried_txn { struct kr_span commit, release; };
struct kr_marks {
	const uint8_t *txns, *ops;              /* by kr_txn and kr_op */
	const struct kr_carried_txn *carried;   /* by kr_txn: of carried ones, what all of it told */
	const struct kr_span *locks;            /* by kr_op: of carried ones, where the lock was taken */
};

struct kr_claims { /* what findings rest on */
	const struct kr_profile *profile;
	const struct kr_level *certify; /* the profile's level, or NULL */
	const struct kr_marks *marks;   /* NULL: the history is the whole */
};

/* KR_OK: all findings hold, by the times in the trace and the profile. KR_BAD: *which does not, and `err`
 * says why. */
enum kr_status kr_verify_findings(struct kr_ctx *ctx, const struct kr_history *h, struct kr_claims claims,
	const struct kr_findings *findings, uint32_t *which, struct kr_err *err);

/* Is the JSON line a finding? If so, the finding, as reports write it, into `out`, which is empty; `declared`
 * knows the classes that mechanisms declare; `profile`: its name, in `arena`. KR_BAD: malformed, or it names
 * a transaction, key or operation that the history does not have. */
bool kr_finding_is(const char *line, size_t length);
enum kr_status kr_finding_read(const struct kr_history *h, kr_declared_find_fn *declared,
	struct kr_arena *arena, const char *line, size_t length, const char **profile,
	struct kr_findings *out, struct kr_err *err);

#endif
