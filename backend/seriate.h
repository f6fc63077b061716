/* Places of transactions by what they are known to have seen of each other (seriation). */
#ifndef KR_BACKEND_SERIATE_H
#define KR_BACKEND_SERIATE_H

#include "ir/ir.h"

/* Fills `place`, per transaction, with numbers in [0, 1): those that are least at odds, in squares, with how
 * far an observer is expected to be behind the writer that it saw (one writer of the key among as many as
 * there are), and a transaction behind the one before it in its session. Transactions that nothing joins lie
 * anywhere; the same question always gets the same places. O(iterations * (transactions + observations)), at
 * most 2 * 10^8 in all. */
enum kr_status kr_seriate(const struct kr_ir *ir, double *place);

#endif
