/* What the history says of each key: the versions that may exist, and which of them an observation can have
 * seen. Private to verify/. */
#ifndef KR_VERIFY_FACTS_H
#define KR_VERIFY_FACTS_H

#include "base/ctx.h"
#include "verify/grow.h"
#include "verify/saw.h"

/* The last write of a key by a transaction that was not aborted. */
struct kr_fact_version {
	kr_txn txn;
	kr_value value;    /* i == KR_NONE: it depends on what was there before */
	uint32_t first_op; /* the transaction's first write of the key, as an index within it */
	uint32_t last_op;
};

/* An external observation by name (no predicate ones), made by a transaction that was not aborted. */
struct kr_fact_sight {
	kr_txn txn;
	kr_key key;
	kr_value value;
	uint32_t op;
	bool other; /* it had any value but this */
};

KR_VEC_NAMED(kr_fact_sights, struct kr_fact_sight);

/* Any observation. */
struct kr_sight {
	kr_txn txn;
	uint32_t op;
	kr_key key;
	struct kr_saw saw;
	kr_value part;      /* of keys that have parts (verify.h); KR_NONE: the whole key */
	bool named;         /* the trace names its source, by id: KR_ABSENT for the initial version */
	kr_value source;
	bool summed;        /* what it says as a sum has been said */
	uint32_t own_count; /* what its transaction had added to the key before, in number and as a sum */
	int64_t own;
};

static inline struct kr_sight kr_sight_of(const struct kr_fact_sight *s)
{
	return (struct kr_sight){.txn = s->txn,
		.op = s->op,
		.key = s->key,
		.saw = {.test = s->other ? KR_SAW_OTHER : KR_SAW_VALUE, .value = s->value},
		.part = {KR_NONE}};
}

struct kr_facts {
	struct kr_arena arena;
	struct kr_mem *mem;
	const struct kr_history *h;
	uint32_t *first;                  /* nkeys + 1: versions of k are [first[k], first[k + 1]) */
	struct kr_fact_version *versions; /* by key, then transaction */
	/* the same ranges: indices into versions by value, then transaction */
	uint32_t *by_value;
	uint32_t count;                   /* of versions */
	struct kr_grow *grow;             /* NULL: no key grows */
	/* no world matters in which a transaction saw a version of a key that comes after its own */
	bool own_after;
	/* whoever is shown what it leaves of a counter leaves that: the version that it saw is the one before
	 * its own */
	bool installs;
	/* the history has transactions of unknown outcome; initial values that it does not tell */
	bool unknowns, untold;

	/* The rest is there only when one of these holds (NULL otherwise). */
	uint32_t *sight_first;            /* nkeys + 1 */
	/* by key, then value (those with `other` last), then transaction and operation */
	struct kr_fact_sight *sights;
	/* per transaction: of unknown outcome, and no world lets it take effect */
	uint8_t *impossible;
	/* two per key: different values that its initial value must have, KR_NONE where there are fewer */
	kr_value *pins;
	KR_VEC(struct kr_row) denied;     /* values that a key's initial value cannot have */
	struct kr_table denied_table;
};

/* Linear in the history. On failure nothing is left to free. */
enum kr_status kr_facts_init(struct kr_facts *f, struct kr_ctx *ctx, const struct kr_history *h,
	bool installs, struct kr_err *err);
void kr_facts_done(struct kr_facts *f);

/* possible.c: fills impossible and pins. */
enum kr_status kr_facts_exclude(struct kr_facts *f, struct kr_ctx *ctx);

/* Whether values of the key are numbers, lists, sets or marks that grow (grow.h). */
static inline bool kr_facts_grows(const struct kr_facts *f, kr_key k)
{
	return kr_saw_grows(f->h, k);
}

static inline enum kr_grow_mode kr_facts_mode(const struct kr_facts *f, kr_key k)
{
	return f->grow ? (enum kr_grow_mode)f->grow->mode[k.i] : KR_GROW_NOT;
}

/* The observation of k, or a part of it, by t's operation. False: it says nothing of the key, or t had
 * written k itself, so that it is not an external one. */
bool kr_facts_sight(const struct kr_facts *f, kr_txn t, uint32_t op, kr_key k, kr_value part,
	struct kr_sight *out);
/* The same where it is known what the operation saw. */
bool kr_facts_sight_of(const struct kr_facts *f, kr_txn t, uint32_t op, kr_key k, const struct kr_saw *saw,
	kr_value part, struct kr_sight *out);

/* The version of k that t wrote, or NULL. */
const struct kr_fact_version *kr_facts_version(const struct kr_facts *f, kr_key k, kr_txn t);

/* Whether t's operation comes before its first own write of k has taken place. */
bool kr_facts_external(const struct kr_facts *f, kr_key k, kr_txn t, uint32_t op);

/* Versions of k with this value: indices [*low, *high) into by_value. */
void kr_facts_group(const struct kr_facts *f, kr_key k, kr_value value, uint32_t *low, uint32_t *high);

/* The first observation of k, as an index into sights, that sorts at or behind `value`; KR_NONE: the first
 * with `other`. */
uint32_t kr_facts_first_sight(const struct kr_facts *f, kr_key k, uint32_t value);

/* Whether the version by `writer` (KR_NONE: the initial one) lies in the observation's candidate set.
 * Versions of impossible transactions count; kr_facts_excluded tells them apart. Where the initial value is
 * not told, it may be any. */
enum kr_status kr_facts_candidate(const struct kr_facts *f, const struct kr_sight *s, kr_txn writer,
	bool *out, struct kr_err *err);

/* Whether the untold initial value of k was seen not to be this one, by an observation that nothing else
 * explains. */
bool kr_facts_denied(const struct kr_facts *f, kr_key k, kr_value value);

/* Whether no world has this version as the source of what was seen: its writer is impossible, or other
 * observations fix another initial value. */
bool kr_facts_excluded(const struct kr_facts *f, const struct kr_sight *s, kr_txn writer);

/* Walks the candidates that are not excluded, the initial version (KR_NONE) last.
 *     for (struct kr_facts_iter it = kr_facts_candidates(f, &s); !(status = kr_facts_next(f, &it, &found,
 *     &writer, err)) && found;) ... */
struct kr_facts_iter { struct kr_sight sight; uint32_t at, end; bool initial; };
struct kr_facts_iter kr_facts_candidates(const struct kr_facts *f, const struct kr_sight *s);
enum kr_status kr_facts_next(const struct kr_facts *f, struct kr_facts_iter *it, bool *found, kr_txn *writer,
	struct kr_err *err);

#endif
