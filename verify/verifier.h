/* What the parts of the verifier share: one run, and the question that each part answers. Private to
 * verify/. */
#ifndef KR_VERIFY_VERIFIER_H
#define KR_VERIFY_VERIFIER_H

#include "verify/verify.h"

struct kr_verifier;
struct kr_learned;

/* How the wr edge that comes before the rw of a cycle must lie in the reader's program: at any operation, at
 * none after that of the rw, or before it. */
enum kr_rule_sight { KR_RULE_ANY, KR_RULE_NOT_AFTER, KR_RULE_BEFORE };

/* A set of forbidden cycles: those that meet every demand. Kinds are sets of KR_BIT; a demand that is 0 or
 * false is none. */
struct kr_rule_cycle {
	uint32_t kinds;     /* of its edges; edges of the order asked for join them */
	uint32_t lonely;    /* no two neighbours are of these kinds */
	uint32_t before_rw; /* an rw edge comes right after one of these kinds (or of the order) only */
	bool one_rw;        /* exactly one edge is an rw */
	bool pair;          /* it has two edges */
	bool no_order;      /* edges of the order do not join */
	bool same_key;      /* all edges have the same key */
	bool item;          /* no rw of a predicate observation */
	bool cursor;        /* no rw of an operation that says that it did not read through a cursor */
	bool one_reader;    /* at most one of its transactions writes nothing */
	enum kr_rule_sight sight; /* the rw comes right after a wr, which lies so */
};

/* What a level means to the verifier. */
struct kr_rule {
	const char *id;
	struct kr_rule_cycle cycles[KR_PATTERNS_MOST]; /* the first without kinds ends them */
	uint32_t anomalies; /* non-cyclic anomalies that violate the level (KR_BIT) */
	bool snapshots;     /* a world of snapshot isolation is one of this level */
	bool prefixes;      /* so is a world of prefix consistency */
	bool graph;         /* a world is checked by building its graph */
};

/* What was seen does not count, but for garbage and the order that lists show. */
static inline bool kr_verify_is_blind(const struct kr_rule *rule)
{
	return !(rule->cycles[0].kinds & KR_BIT(KR_WR)) && !rule->cycles[1].kinds;
}

/* Whether every lost update is a cycle that the level forbids, whichever operations of the history saw the
 * version that was overwritten. pattern.c */
bool kr_rule_forbids_lost_updates(const struct kr_rule *rule, const struct kr_history *h);

/* levels.c: from the level as it states itself. What kr_verify_states says. */
const char *kr_rule_state(const struct kr_level *level, struct kr_rule *out, int *pattern);

struct kr_verifier {
	struct kr_ctx *ctx;
	const struct kr_history *h;
	const struct kr_certificate *cert;
	const struct kr_rule *rule;
	struct kr_err *err;
	bool installs; /* kr_facts.installs, for refutations */
	/* of initial values that the trace does not tell; NULL: nothing (store.h) */
	struct kr_learned *learned;
};

/* Fills in *stated, by the certificate's level, and v->rule with it. KR_UNSUPPORTED: it cannot be.
 * certificate.c */
enum kr_status kr_verify_find_rule(struct kr_verifier *v, struct kr_rule *stated);

/* Each returns KR_OK when the certificate proves its verdict, else KR_BAD and says why, or a limit. */
enum kr_status kr_verify_serial(struct kr_verifier *v);  /* order.c */
/* order.c: the part of it that looks at the order only; place: per transaction */
enum kr_status kr_verify_places(struct kr_verifier *v, uint32_t *place);
/* order.c: the same, but those that write nothing may stand anywhere */
enum kr_status kr_verify_updaters(struct kr_verifier *v, uint32_t *place);
/* order.c: the same of starts and commits */
enum kr_status kr_verify_points(struct kr_verifier *v, uint32_t *start, uint32_t *place);
/* replay.c: the part of it that replays the operations */
enum kr_status kr_verify_replay(struct kr_verifier *v);
enum kr_status kr_verify_snapshots(struct kr_verifier *v); /* snapshots.c */
enum kr_status kr_verify_world(struct kr_verifier *v);   /* world.c */
enum kr_status kr_verify_anomaly(struct kr_verifier *v); /* anomaly.c */
enum kr_status kr_verify_cycles(struct kr_verifier *v);  /* cases.c */
enum kr_status kr_verify_expected(struct kr_verifier *v); /* expected.c */

/* Whether a cycle, whose edges are what they claim, is one that the level forbids. KR_BAD says why not.
 * *whole: for its wr of parts of a key the version of the key is to be the one that they come from.
 * pattern.c */
enum kr_status kr_verify_pattern(struct kr_verifier *v, uint32_t cycle, bool *whole);
/* whether t writes nothing: pattern.c */
bool kr_verify_is_reader(const struct kr_history *h, kr_txn t);
/* Whether a had returned before b was invoked, by the clocks. order.c */
bool kr_verify_returned_before(const struct kr_history *h, kr_txn a, kr_txn b);

/* Names for messages: cut to the size of the buffer, never allocating. */
typedef struct { char text[64]; } kr_name;
/* "the initial version" where t is KR_NONE */
kr_name kr_verify_txn_name(const struct kr_history *h, kr_txn t);
kr_name kr_verify_name(const struct kr_history *h, kr_value value);
static inline kr_name kr_verify_key_name(const struct kr_history *h, kr_key k)
{
	return kr_verify_name(h, h->keys.at[k.i].name);
}

#endif
