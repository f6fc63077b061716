/* What a finding rests on, for reports: the inequalities between instants that leave its mechanism no room,
 * and until when the versions that it speaks of could be seen. The check of findings (verify/finding.h)
 * derives them, and notes them when it is asked to. */
#ifndef KR_VERIFY_GROUNDS_H
#define KR_VERIFY_GROUNDS_H

#include "verify/finding.h"

enum kr_instant {
	KR_INSTANT_SNAPSHOT,
	KR_INSTANT_STATEMENT, /* of a read that goes by its own */
	KR_INSTANT_BEGIN,
	KR_INSTANT_COMMIT,
	KR_INSTANT_LOCK,
	KR_INSTANT_RELEASE,
	KR_INSTANT_SEEN       /* the last or first one at which the key can have been seen so */
};

struct kr_point {
	enum kr_instant what;
	kr_txn txn;
	kr_key key;           /* KR_INSTANT_SEEN: `value` of it; i == KR_NONE: what did not match */
	kr_value value;
	int64_t at;
};
static inline struct kr_point kr_point_at(enum kr_instant what, kr_txn txn, int64_t at)
{
	return (struct kr_point){.what = what, .txn = txn, .key = {KR_NONE}, .value = {KR_NONE}, .at = at};
}

/* `before` was at its `at` at the latest, `after` at its own at the earliest. */
struct kr_gap {
	struct kr_point before, after;
	/* equal instants are enough: a version is gone as soon as the next one is there */
	bool touches;
	bool basis;           /* it has to be so; what contradicts it is another one */
	uint32_t edge;        /* of a cycle, counted from its first; else KR_NONE */
};

struct kr_sight_window {  /* a version, and from when until when it could be seen */
	kr_key key;
	kr_value value;
	/* KR_NONE: the initial one; whose version took its place, KR_NONE: nobody's, or it cannot be told */
	kr_txn writer, over;
	struct kr_span at;
	bool seen;            /* its value is what was seen; else it could have been seen */
};

struct kr_grounds {
	struct kr_mem *mem;
	KR_VEC(struct kr_gap) gaps;
	KR_VEC(struct kr_sight_window) windows;
	bool failed;          /* no memory */
};
void kr_grounds_done(struct kr_grounds *g);

struct kr_times { struct kr_span begin, snapshot, commit; bool has_snapshot; };

struct kr_basis; /* heap; holds on to what it was made of */
enum kr_status kr_basis_new(struct kr_ctx *ctx, const struct kr_history *h, struct kr_claims claims,
	const struct kr_findings *findings, struct kr_basis **out);
void kr_basis_free(struct kr_basis *b); /* safe on NULL */
struct kr_times kr_basis_times(const struct kr_basis *b, kr_txn t);
struct kr_span kr_basis_op(const struct kr_basis *b, kr_txn t, uint32_t op);

/* Of one of its findings. The caller frees *out with kr_grounds_done in every case. */
enum kr_status kr_basis_of(struct kr_basis *b, const struct kr_finding *f, struct kr_grounds *out);

#endif
