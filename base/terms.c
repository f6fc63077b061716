/* Names of the vocabulary of terms.h: one table per enumeration, used for printing and parsing alike. */
#include "base/terms.h"

#include <string.h>

static const char *const order_names[] = {"none", "session", "realtime"};

static const char *const order_words[] = {"no order", "session order", "real-time order"};

static const char *const edge_names[KR_EDGE_KINDS] = {"wr", "ww", "rw", "so", "rt", "program"};

static const char *const anomaly_names[KR_ANOMALY_KINDS] = {"garbage read", "aborted read",
	"intermediate read", "future read", "internal inconsistency", "duplicate element",
	"incompatible order", "result-set mismatch"};

/* Its place among the names; n: it is none of them. */
static unsigned find(const char *const *names, unsigned n, const char *text)
{
	unsigned i = 0;

	while (i < n && strcmp(names[i], text) != 0)
		i++;
	return i;
}

const char *kr_order_name(enum kr_order order) { return order_names[order]; }
const char *kr_order_words(enum kr_order order) { return order_words[order]; }
const char *kr_edge_name(enum kr_edge_kind kind) { return edge_names[kind]; }
const char *kr_anomaly_name(enum kr_anomaly_kind kind) { return anomaly_names[kind]; }

bool kr_order_parse(const char *text, enum kr_order *order)
{
	unsigned i = find(order_names, KR_COUNT(order_names), text);
	if (i < KR_COUNT(order_names))
		*order = (enum kr_order)i;
	return i < KR_COUNT(order_names);
}

bool kr_edge_parse(const char *text, enum kr_edge_kind *kind)
{
	unsigned i = find(edge_names, KR_EDGE_KINDS, text);
	if (i < KR_EDGE_KINDS)
		*kind = (enum kr_edge_kind)i;
	return i < KR_EDGE_KINDS;
}

bool kr_anomaly_parse(const char *text, enum kr_anomaly_kind *kind)
{
	unsigned i = find(anomaly_names, KR_ANOMALY_KINDS, text);
	if (i < KR_ANOMALY_KINDS)
		*kind = (enum kr_anomaly_kind)i;
	return i < KR_ANOMALY_KINDS;
}
