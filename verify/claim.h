/* What a certificate claims of one operation. Private to verify/anomaly*.c. */
#ifndef KR_VERIFY_CLAIM_H
#define KR_VERIFY_CLAIM_H

#include "verify/facts.h"
#include "verify/verifier.h"

struct kr_claim {
	struct kr_verifier *v;
	kr_txn txn;
	uint32_t op;
	kr_key key;
	struct kr_saw saw;
	kr_name txn_name, key_name;
};

/* KR_OK: the claim holds. anomaly_grow.c: what was seen of a list, a set, or a counter whose value is a
 * sum. */
enum kr_status kr_claim_growing(const struct kr_claim *c, const struct kr_facts *f,
	const struct kr_sight *sight);
/* anomaly_sums.c: whether it is a garbage read of a counter whose value is a sum; anomaly_rounds.c: whether
 * the list that was seen, and others, of a list with deletes, show elements in orders that go round. */
enum kr_status kr_claim_sum(const struct kr_claim *c, const struct kr_facts *f, const struct kr_sight *sight,
	bool *out);
enum kr_status kr_claim_goes_round(const struct kr_claim *c, const struct kr_facts *f,
	const struct kr_sight *sight, bool *out);
/* anomaly_own.c: an internal inconsistency. */
enum kr_status kr_claim_internal(const struct kr_claim *c);
/* anomaly_sets.c: a predicate read differs from the predicate over the versions that it names. */
enum kr_status kr_claim_mismatch(const struct kr_claim *c, const struct kr_facts *f);

/* cases.c: KR_OK: no choice explains what the operation saw; of a key whose observations have to agree
 * (`all`), what they all saw. The name is not judged. */
enum kr_status kr_claim_unexplained(const struct kr_claim *c, bool all);
/* anomaly_cases.c: whether there is something of the kind that the name tells of; whether it is known that no
 * choice explains what the operation saw. */
enum kr_status kr_claim_is_named(const struct kr_claim *c, bool *out);
enum kr_status kr_claim_by_cases(const struct kr_claim *c, bool *out);
/* anomaly.c: KR_UNSUPPORTED, since what an initial value that is not told may be is not checked. */
enum kr_status kr_claim_untold(const struct kr_claim *c);
/* anomaly_grow.c: whether the operation shows something of a list or set that nobody ever added, or, claimed
 * to be an aborted read, only in vain. */
enum kr_status kr_claim_unwritten(const struct kr_claim *c, const struct kr_facts *f, bool *out);

#endif
