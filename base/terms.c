/* Names of the vocabulary of terms.h: one table per enumeration, used for printing and parsing alike. */
#include "base/terms.h"

#include <string.h>

static const char *const order_names[] = {"none", "session", "realtime"};

static const char *const order_words[] = {"no order", "session order", "real-time order"};

static const char *const edge_names[KR_EDGE_KINDS] = {"wr", "ww", "rw", "so", "rt", "program"};

static const char *const anomaly_names[KR_ANOMALY_KINDS] = {"garbage read", "aborted read",
	"intermediate read", "future read", "internal inconsistency", "duplicate element",
	"incompatible order", "result-set mismatch"};

static bool find(const char *const *names, size_t n, const char *text, unsigned *out)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(names[i], text) == 0) {
			*out = (unsigned)i;
			return true;
		}
	}
	return false;
}

const char *kr_order_name(enum kr_order order) { return order_names[order]; }
const char *kr_order_words(enum kr_order order) { return order_words[order]; }
const char *kr_edge_name(enum kr_edge_kind kind) { return edge_names[kind]; }
const char *kr_anomaly_name(enum kr_anomaly_kind kind) { return anomaly_names[kind]; }

bool kr_order_parse(const char *text, enum kr_order *order)
{
	unsigned i;
	if (!find(order_names, KR_COUNT(order_names), text, &i))
		return false;
	*order = (enum kr_order)i;
	return true;
}

bool kr_edge_parse(const char *text, enum kr_edge_kind *kind)
{
	unsigned i;
	if (!find(edge_names, KR_EDGE_KINDS, text, &i))
		return false;
	*kind = (enum kr_edge_kind)i;
	return true;
}

bool kr_anomaly_parse(const char *text, enum kr_anomaly_kind *kind)
{
	unsigned i;
	if (!find(anomaly_names, KR_ANOMALY_KINDS, text, &i))
		return false;
	*kind = (enum kr_anomaly_kind)i;
	return true;
}
