/* What was written and is gone: values of versions that nothing can see any more, and of writes that came to
 * nothing. Only the class of a finding asks: was a value that no version explains ever written? As
 * fingerprints of keys and values, at most KR_ECHO_MOST; beyond that what is not known counts as once
 * written. */
#ifndef KR_MECHANISMS_ECHO_H
#define KR_MECHANISMS_ECHO_H

#include "frontend/history.h"

enum { KR_ECHO_MOST = 1 << 18 };

enum kr_echo_kind { KR_ECHO_NONE, KR_ECHO_VERSION, KR_ECHO_INTERMEDIATE, KR_ECHO_ABORTED };

struct kr_echo {
	uint64_t *slots;     /* fingerprints; the last two bits are the kind; 0: free */
	uint32_t n, size;    /* size: a power of two, or 0 */
	bool full;
};

void kr_echo_done(struct kr_mem *mem, struct kr_echo *echo);
bool kr_echo_add(struct kr_mem *mem, struct kr_echo *echo, const struct kr_history *h, kr_key key,
	kr_value value, enum kr_echo_kind kind);

/* Was it written to the key? The first that fits of: a version, aborted, intermediate. */
enum kr_echo_kind kr_echo_find(const struct kr_echo *echo, kr_key key, const struct kr_value_entry *value);

#endif
