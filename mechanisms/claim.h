/* What a mechanism needs to tell findings of the classes that it declares (verify/declared.h). */
#ifndef KR_MECHANISMS_CLAIM_H
#define KR_MECHANISMS_CLAIM_H

#include "mechanisms/batch.h"
#include "verify/declared.h"

struct kr_suspect {
	kr_txn txns[2];
	uint32_t ops[2]; /* index in its transaction; KR_NONE: none */
	kr_key key;      /* KR_NONE: none */
};

/* Tells it if both transactions are committed and all inequalities of the class hold; what else the class
 * cites is the caller's to see. */
enum kr_status kr_batch_claim(struct kr_batch *b, const struct kr_declared *what, struct kr_suspect claim);

kr_declared_find_fn kr_declared_find; /* among those of all mechanisms */

#endif
