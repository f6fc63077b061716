/* Internal inconsistency: the operation does not show what its transaction had left there (own.c). */
#include "verify/claim.h"
#include "verify/own.h"

enum kr_status kr_claim_internal(const struct kr_claim *c)
{
	struct kr_own o;
	bool wrote = false, agrees = true;
	KR_TRY(kr_own_init(&o, c->v->ctx, c->v->h));
	enum kr_status status = kr_own_agrees_at(&o, c->txn, c->op, c->key, &wrote, &agrees, c->v->err);
	kr_own_done(&o);
	if (status == KR_OK && !wrote)
		return kr_err_set(c->v->err, KR_BAD, "%s had not written %s before operation %u",
			c->txn_name.text, c->key_name.text, (unsigned)c->op);
	if (status != KR_OK || !agrees)
		return status;
	return kr_err_set(c->v->err, KR_BAD, "operation %u of %s shows %s as it had left it", (unsigned)c->op,
		c->txn_name.text, c->key_name.text);
}
