/* Names of the field's terms (orders, dependency kinds, non-cyclic anomalies; krait/terms.h). Shared by the
 * pipeline and by the verifier, which share nothing else beyond the reader. */
#ifndef KR_BASE_TERMS_H
#define KR_BASE_TERMS_H

#include "base/base.h"

const char *kr_order_name(enum kr_order order);         /* "none", "session", "realtime" */
const char *kr_order_words(enum kr_order order);        /* for people: "no order", "real-time order" */
bool kr_order_parse(const char *text, enum kr_order *order);
const char *kr_edge_name(enum kr_edge_kind kind);       /* "wr", ... */
bool kr_edge_parse(const char *text, enum kr_edge_kind *kind);
const char *kr_anomaly_name(enum kr_anomaly_kind kind); /* "aborted read", ... */
bool kr_anomaly_parse(const char *text, enum kr_anomaly_kind *kind);

#endif
