/* The order of versions that lists show at levels at which nothing else that was seen counts. Private to
 * verify/. */
#ifndef KR_VERIFY_SHOWN_H
#define KR_VERIFY_SHOWN_H

#include "verify/facts.h"

struct kr_shown_pair { kr_key key; kr_txn before, after; };
KR_VEC_NAMED(kr_shown_pairs, struct kr_shown_pair);

/* Appends, for each list that a committed transaction read, the neighbours among the committed transactions
 * whose last elements it shows, each element once and appended by nobody else. What the reader had appended
 * itself, at the end of the list, is taken off. */
enum kr_status kr_shown_lists(const struct kr_facts *f, struct kr_ctx *ctx, struct kr_shown_pairs *out);

#endif
