/* An encoding under way. Private to backend/encode*.c. */
#ifndef KR_BACKEND_ENCODE_WORK_H
#define KR_BACKEND_ENCODE_WORK_H

#include "backend/encode.h"
#include "backend/told.h"
#include "base/table.h"

#define KR_LITERAL_ALWAYS INT32_MAX /* literals that are constants */
#define KR_LITERAL_NEVER (-INT32_MAX)

struct kr_encode {
	struct kr_arena arena;
	struct kr_ir *ir;
	struct kr_encoding *out;
	struct kr_told told;
	struct kr_table pairs;  /* of versions -> variable - 1 */
	kr_literal *present;    /* per transaction */
	uint32_t *version_node; /* per version: its node in an order of all versions of its key, or KR_NONE */
	/* per observation: variables of its sources are neighbours; the first one's number, 0: none */
	uint32_t *first_source;
	KR_VEC(kr_literal) clause;
	bool holds;             /* the clause being built has a true literal */
};

/* encode.c: the literal "a comes before b", once the orders of the key are encoded. Both may exist. */
enum kr_status kr_encode_before(struct kr_encode *w, kr_version a, kr_version b, kr_literal *out);
/* An edge between any nodes; none if a guard never holds. */
enum kr_status kr_encode_edge(struct kr_encode *w, struct kr_guarded_edge edge);

/* encode_grow.c: makes the nodes of versions whose key needs an order of all its versions, and the edges of
 * what is told of it. Comes before orders are encoded. */
enum kr_status kr_encode_versions(struct kr_encode *w);
/* The order literal of a pair between such nodes; nothing where there are none. */
enum kr_status kr_encode_version_pair(struct kr_encode *w, kr_version a, kr_version b, kr_literal before);
/* What operations saw of keys with parts was there together. After orders and observations. */
enum kr_status kr_encode_together(struct kr_encode *w);
/* What counters showed. After observations. */
enum kr_status kr_encode_sums(struct kr_encode *w);

#endif
