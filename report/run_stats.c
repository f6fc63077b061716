/* What `check --stats` tells of one verdict: sizes of the trace, what each pass did to the graph and to the
 * superpositions, what the back end did, times and memory. */
#include <stdio.h>
#include <string.h>

#include "report/report.h"

static uint64_t known_edges(const struct kr_ir_counts *c)
{
	uint64_t n = 0;

	for (size_t kind = 0; kind < KR_EDGE_KINDS; kind++)
		n += c->edges[kind];
	return n;
}

static const char *change_name(enum kr_change change)
{
	static const char *const names[] =
		{[KR_UNCHANGED] = "unchanged", [KR_CHANGED] = "changed", [KR_CONFLICT] = "conflict"};

	return names[change];
}

/* ---- text ---- */

static void add_tallies(const char *before, const struct kr_tallies *t, struct kr_str *out)
{
	for (uint32_t i = 0; i < t->n; i++)
		kr_str_format(out, "%s%s %lld%s", i > 0 ? ", " : before, t->at[i].name,
			(long long)t->at[i].value, i + 1 == t->n ? "\n" : "");
}

static void add_change(struct kr_str *out, uint64_t before, uint64_t after)
{
	char text[48];

	if (before == after)
		(void)snprintf(text, sizeof text, "%llu", (unsigned long long)after);
	else
		(void)snprintf(text, sizeof text, "%llu > %llu", (unsigned long long)before,
			(unsigned long long)after);
	kr_str_format(out, " %18s", text);
}

static void add_passes(const struct kr_pass_stats *passes, struct kr_str *out)
{
	kr_str_format(out, "  %-12s %9s %18s %18s %18s %18s  %s\n", "pass", "seconds", "edges",
		"open sources", "open presences", "open keys", "result");
	for (uint32_t i = 0; i < passes->n; i++) {
		const struct kr_pass_stat *p = &passes->at[i];
		kr_str_format(out, "  %-12s %9.4f", p->pass->name, p->seconds);
		add_change(out, known_edges(&p->before), known_edges(&p->after));
		add_change(out, p->before.open_sources, p->after.open_sources);
		add_change(out, p->before.open_presences, p->after.open_presences);
		add_change(out, p->before.open_keys, p->after.open_keys);
		kr_str_format(out, "  %s\n", change_name(p->change));
		add_tallies("    counted: ", &p->tallies, out);
	}
}

void kr_report_run_stats(const struct kr_report *r, struct kr_str *out)
{
	const struct kr_verdict *v = r->verdict;

	kr_str_add(out, "statistics:\n");
	if (r->history)
		kr_str_format(out, "  trace: %u transactions, %u operations, %u keys, %u sessions\n",
			r->history->txns.n, r->history->ops.n, r->history->keys.n, r->history->sessions.n);
	if (r->analysis) {
		const struct kr_asg *asg = &r->analysis->asg;
		kr_str_format(out,
			"  meaning: %u versions, %u observations, %u candidate sets, %u anomalies\n",
			asg->nversions, asg->nobs, asg->nsets, r->analysis->anomaly_count);
	}
	if (v && v->told)
		kr_str_add(out, "  an order that the trace suggests was replayed\n");
	if (v && v->passes.n > 0)
		add_passes(&v->passes, out);
	if (v && v->undecided.n > 0) {
		kr_str_add(out, "  undecided pairs of writers after each round:");
		for (uint32_t i = 0; i < v->undecided.n; i++)
			kr_str_format(out, " %llu", (unsigned long long)v->undecided.at[i]);
		kr_str_add(out, "\n");
	}
	if (v && v->backend)
		kr_str_format(out, "  back end: %s, %u rounds, %u choices, %u clauses\n", v->backend,
			v->rounds, v->choices, v->clauses);
	if (v && v->backend)
		add_tallies("    counted: ", &v->tallies, out);
	kr_str_format(out, "  seconds: read %.4f", r->read_seconds);
	if (v)
		kr_str_format(out, ", decide %.4f (back end %.4f, verify %.4f)", v->seconds, v->solve_seconds,
			v->verify_seconds);
	kr_str_format(out, ", in all %.4f\n  peak memory: %llu MiB\n", r->seconds,
		(unsigned long long)r->peak_mib);
}

/* ---- JSON ---- */

static void json_tallies(const struct kr_tallies *t, struct kr_str *out)
{
	for (uint32_t i = 0; i < t->n; i++) {
		kr_str_add(out, i > 0 ? ", " : ", \"counted\": {");
		kr_str_json(out, t->at[i].name, strlen(t->at[i].name));
		kr_str_format(out, ": %lld%s", (long long)t->at[i].value, i + 1 == t->n ? "}" : "");
	}
}

static void json_counts(struct kr_str *out, const char *name, const struct kr_ir_counts *c)
{
	kr_str_format(out, "\"%s\": {", name);
	for (int kind = 0; kind < KR_EDGE_KINDS; kind++)
		kr_str_format(out, "\"%s\": %llu, ", kr_edge_name((enum kr_edge_kind)kind),
			(unsigned long long)c->edges[kind]);
	kr_str_format(out, "\"open_sources\": %u, \"open_presences\": %u, \"open_keys\": %u}",
		c->open_sources, c->open_presences, c->open_keys);
}

static void json_passes(const struct kr_pass_stats *passes, struct kr_str *out)
{
	kr_str_add(out, ", \"passes\": [");
	for (uint32_t i = 0; i < passes->n; i++) {
		const struct kr_pass_stat *p = &passes->at[i];
		kr_str_format(out, "%s{\"pass\": \"%s\", \"seconds\": %.6f, \"result\": \"%s\", ",
			i > 0 ? ", " : "", p->pass->name, p->seconds, change_name(p->change));
		json_counts(out, "before", &p->before);
		kr_str_add(out, ", ");
		json_counts(out, "after", &p->after);
		json_tallies(&p->tallies, out);
		kr_str_add(out, "}");
	}
	kr_str_add(out, "]");
}

void kr_report_run_stats_json(const struct kr_report *r, struct kr_str *out)
{
	const struct kr_verdict *v = r->verdict;

	kr_str_format(out, "{\"read_seconds\": %.6f", r->read_seconds);
	if (r->history)
		kr_str_format(out, ", \"keys\": %u, \"sessions\": %u", r->history->keys.n,
			r->history->sessions.n);
	if (r->analysis) {
		const struct kr_asg *asg = &r->analysis->asg;
		kr_str_format(out,
			", \"versions\": %u, \"observations\": %u, \"candidate_sets\": %u, \"anomalies\": %u",
			asg->nversions, asg->nobs, asg->nsets, r->analysis->anomaly_count);
	}
	if (v) {
		kr_str_format(out,
			", \"decide_seconds\": %.6f, \"solve_seconds\": %.6f, \"verify_seconds\": %.6f",
			v->seconds, v->solve_seconds, v->verify_seconds);
		json_passes(&v->passes, out);
	}
	if (v && v->undecided.n > 0) {
		kr_str_add(out, ", \"undecided\": [");
		for (uint32_t i = 0; i < v->undecided.n; i++)
			kr_str_format(out, "%s%llu", i > 0 ? ", " : "",
				(unsigned long long)v->undecided.at[i]);
		kr_str_add(out, "]");
	}
	if (v && v->backend)
		kr_str_format(out, ", \"backend\": \"%s\", \"rounds\": %u, \"choices\": %u, \"clauses\": %u",
			v->backend, v->rounds, v->choices, v->clauses);
	if (v && v->backend)
		json_tallies(&v->tallies, out);
	kr_str_add(out, "}");
}
