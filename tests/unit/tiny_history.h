/* Small histories for unit tests, written as one text per transaction:
 *
 *     "c r x 1; w y 2"          committed (c), aborted (a) or unknown (u); operations separated by ';'
 *
 * Operations: r KEY VALUE | r KEY ? | w KEY VALUE | d KEY [+|-] | i KEY VALUE +|- | cas KEY EXPECTED NEW +|- | append KEY VALUE. Values are integers, or '-' for
 * absent. Keys are words. Transactions are named t0, t1, ... */
#ifndef KR_TESTS_UNIT_TINY_HISTORY_H
#define KR_TESTS_UNIT_TINY_HISTORY_H

#include "frontend/history.h"

/* Adds a transaction; fails the test when the text is wrong. */
void tiny_add(struct kr_history *h, const char *text);

kr_value tiny_value(struct kr_history *h, const char *text);
kr_key tiny_key(struct kr_history *h, const char *name);

/* Adds "VERSION ORDER of KEY: writers", e.g. tiny_order(h, "x", "2 0 1"). */
void tiny_order(struct kr_history *h, const char *key, const char *writers);

#endif
