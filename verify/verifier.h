/* What the parts of the verifier share: one run, and the question that each part answers. Private to verify/. */
#ifndef KR_VERIFY_VERIFIER_H
#define KR_VERIFY_VERIFIER_H

#include "verify/verify.h"

struct kr_verifier;

/* What a level means to the verifier. */
struct kr_rule {
	const char *id;
	enum kr_status (*satisfied)(struct kr_verifier *v); /* checks a KR_CERT_ORDER */
	uint32_t dependencies; /* kinds of edges of a forbidden cycle (KR_BIT), besides those of the order */
	uint32_t anomalies;    /* non-cyclic anomalies that violate the level (KR_BIT) */
};

struct kr_verifier {
	struct kr_ctx *ctx;
	const struct kr_history *h;
	const struct kr_certificate *cert;
	const struct kr_rule *rule;
	struct kr_err *err;
};

/* Each returns KR_OK when the certificate proves its verdict, else KR_BAD and says why, or a limit. */
enum kr_status kr_verify_serial(struct kr_verifier *v);  /* order.c */
enum kr_status kr_verify_replay(struct kr_verifier *v);  /* replay.c: the part of it that replays the operations */
enum kr_status kr_verify_anomaly(struct kr_verifier *v); /* anomaly.c */
enum kr_status kr_verify_cycles(struct kr_verifier *v);  /* cases.c */

/* Names for messages: cut to the size of the buffer, never allocating. */
typedef struct { char text[64]; } kr_name;
kr_name kr_verify_txn_name(const struct kr_history *h, kr_txn t); /* "the initial version" where t is KR_NONE */
kr_name kr_verify_name(const struct kr_history *h, kr_value value);
static inline kr_name kr_verify_key_name(const struct kr_history *h, kr_key k) { return kr_verify_name(h, h->keys.at[k.i].name); }

#endif
