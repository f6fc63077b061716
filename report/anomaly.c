/* The name of a violation: the first one that all cycles of the refutation justify (ir/pattern.h; G2 holds of
 * every cycle that a level can forbid). One cycle is in every world. Of several, each world has one at least;
 * so every level that the name breaks is violated, whichever world it is, and which cycle closes the argument
 * does not matter. Session and real-time edges count for no name but give its suffix. Cost: the cycles'
 * length times the number of names. */
#include "report/anomaly.h"

#include <stdio.h>

struct view {
	const struct kr_history *h;
	const struct kr_cert_edge *edges;
};

static struct kr_pattern_edge edge_of(const void *of, uint32_t i)
{
	const struct kr_cert_edge *e = &((const struct view *)of)->edges[i];

	return (struct kr_pattern_edge){.kind = e->kind,
		.predicate = e->predicate,
		.key = e->key,
		.op = e->op};
}

static bool reads(const void *of, uint32_t i)
{
	const struct view *v = of;

	return kr_words_reads(v->h, v->edges[i].from, v->edges[i].key);
}

static bool all_justify(const struct kr_history *h, const struct kr_certificate *cert, uint32_t first,
	enum kr_cycle_name name)
{
	for (uint32_t c = first; c < cert->cycles.n; c++) {
		const struct view view = {h, cert->edges.at + cert->cycles.at[c].first};
		if (!kr_cycle_justifies(name,
			    &(struct kr_pattern_cycle){&view, cert->cycles.at[c].count, edge_of, reads}))
			return false;
	}
	return true;
}

/* Of the cycles from `first` on. */
static enum kr_cycle_name name_of_cycles(const struct kr_history *h, const struct kr_certificate *cert,
	uint32_t first)
{
	int name = KR_CYCLE_G0;

	while (name < KR_CYCLE_G2 && !all_justify(h, cert, first, (enum kr_cycle_name)name))
		name++;
	return (enum kr_cycle_name)name;
}

enum kr_cycle_name kr_anomaly_last(const struct kr_history *h, const struct kr_certificate *cert)
{
	return name_of_cycles(h, cert, cert->cycles.n - 1);
}

const char *kr_anomaly_base(const struct kr_history *h, const struct kr_certificate *cert,
	const char **suffix)
{
	uint32_t kinds = 0;

	for (uint32_t i = 0; cert->kind == KR_CERT_CYCLES && i < cert->edges.n; i++)
		kinds |= KR_BIT(cert->edges.at[i].kind);
	*suffix = kinds & KR_BIT(KR_RT) ? "-realtime" : kinds & KR_BIT(KR_SO) ? "-session" : "";
	if (cert->kind == KR_CERT_ANOMALY)
		return kr_anomaly_name(cert->anomaly.kind);
	if (cert->kind == KR_CERT_REPLAY)
		return "difference";
	enum kr_torn torn = kr_anomaly_torn(cert);
	if (torn == KR_TORN_SEVERAL)
		return kr_anomaly_name(KR_INCOMPATIBLE_ORDER);
	return cert->cycles.n == 0 || torn == KR_TORN_ONE ? "unexplained reads"
							  : kr_cycle_name(name_of_cycles(h, cert, 0));
}

void kr_report_anomaly(const struct kr_history *h, const struct kr_certificate *cert,
	char out[KR_ANOMALY_NAME_SIZE])
{
	const char *suffix, *base = kr_anomaly_base(h, cert, &suffix);

	(void)snprintf(out, KR_ANOMALY_NAME_SIZE, "%s%s", base, suffix);
}
