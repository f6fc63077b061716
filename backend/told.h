/* The version orders that the trace tells, closed under transitivity: also through versions whose writers did
 * not take effect. */
#ifndef KR_BACKEND_TOLD_H
#define KR_BACKEND_TOLD_H

#include "ir/asg.h"

struct kr_told {
	struct kr_arena arena;
	struct kr_mem *mem; /* of all below, and of the lists that are appended to */
	const struct kr_asg *asg;
	uint32_t *first;   /* nversions + 1; NULL: the trace tells no orders */
	uint32_t *pairs;   /* of asg->orders whose earlier version is v: pairs[first[v] .. first[v + 1]) */
	uint32_t *seen;    /* per version: the last question that reached it */
	uint32_t *via;     /* per version reached: the pair by which it was */
	uint32_t question;
	KR_VEC(kr_version) stack;
};

enum kr_status kr_told_init(struct kr_told *told, struct kr_mem *mem, const struct kr_asg *asg);
void kr_told_done(struct kr_told *told);

/* Is a told to come before b, whoever took effect? The initial version is told to come before all others of
 * its key. O(orders of the key). */
enum kr_status kr_told_before(struct kr_told *told, kr_version a, kr_version b, bool *before);

KR_VEC_NAMED(kr_versions, kr_version);

/* Appends the nearest versions told to come after v whose writers are active (a flag per transaction),
 * through those that are not; by orders whose guards are active. */
enum kr_status kr_told_after(struct kr_told *told, kr_version v, const uint8_t *active,
	struct kr_versions *out);

KR_VEC_NAMED(kr_told_guards, kr_txn);

/* After kr_told_after for `v`: appends the guards, open transactions all, on whom it rests that `later` comes
 * after v. */
enum kr_status kr_told_guards_of(const struct kr_told *told, kr_version v, kr_version later,
	struct kr_told_guards *out);

#endif
