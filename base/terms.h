/* The field's vocabulary as enumerations: orders, dependency kinds, non-cyclic anomalies. Shared by the pipeline and by the verifier, which share nothing else
 * beyond the reader. */
#ifndef KR_BASE_TERMS_H
#define KR_BASE_TERMS_H

#include "base/base.h"

enum kr_order { KR_ORDER_NONE, KR_ORDER_SESSION, KR_ORDER_REALTIME }; /* realtime includes session */

/* Dependencies between transactions (docs/levels.md). Item and predicate dependencies share a kind: the observation tells which. */
enum kr_edge_kind {
	KR_WR, /* a wrote the version that b observed */
	KR_WW, /* a's version of the key comes before b's */
	KR_RW, /* a observed a version that comes before b's */
	KR_SO, /* a comes before b in one session */
	KR_RT, /* a had returned before b was invoked */
	KR_PROGRAM, /* begin before commit of one transaction, and links between time nodes; never in reports */
	KR_EDGE_KINDS
};

#define KR_BIT(kind) (1u << (kind))

enum kr_anomaly_kind { /* what no world explains */
	KR_GARBAGE_READ,
	KR_ABORTED_READ,
	KR_INTERMEDIATE_READ,
	KR_FUTURE_READ,
	KR_INTERNAL_INCONSISTENCY,
	KR_DUPLICATE_ELEMENT,
	KR_INCOMPATIBLE_ORDER,
	KR_RESULT_SET_MISMATCH,
	KR_ANOMALY_KINDS
};

#define KR_ANOMALIES_ALL ((1u << KR_ANOMALY_KINDS) - 1)

const char *kr_order_name(enum kr_order order);         /* "none", "session", "realtime" */
bool kr_order_parse(const char *text, enum kr_order *order);
const char *kr_edge_name(enum kr_edge_kind kind);       /* "wr", ... */
bool kr_edge_parse(const char *text, enum kr_edge_kind *kind);
const char *kr_anomaly_name(enum kr_anomaly_kind kind); /* "aborted read", ... */
bool kr_anomaly_parse(const char *text, enum kr_anomaly_kind *kind);

#endif
