/* Mechanisms: how databases keep their promises, and what it looks like when one fails. One per file,
 * collected by the build into kr_mechanism_registry; each looks at the batch (batch.h) and tells what it
 * finds. They run in the order of their names. */
#ifndef KR_MECHANISMS_MECHANISM_H
#define KR_MECHANISMS_MECHANISM_H

#include "mechanisms/claim.h"

struct kr_mechanism {
	const char *name;
	const char *title;  /* one line: what must hold */
	const char *source;
	const struct kr_declared *declares; /* classes of its own, up to one without a name; NULL: none */
	bool (*applies)(const struct kr_batch *b);
	enum kr_status (*find)(struct kr_batch *b);
};

extern const struct kr_mechanism *const kr_mechanism_registry[]; /* NULL-terminated, by name */
extern const size_t kr_mechanism_registry_count;

#endif
