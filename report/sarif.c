/* SARIF 2.1.0: one run. A rule for each level and order asked for, a result for each violation, at the line
 * of a transaction of it; the others are related locations, and the cycle is a code flow whose steps say why.
 * What is undecided is a result of kind "open"; satisfied levels have none. Traces without a verdict, and
 * notes, are notifications of the invocation. */
#include <string.h>

#include "report/document.h"
#include "report/words.h"

/* "NAME": {"text": TEXT} */
static void add_message(struct kr_str *out, const char *name, const char *text)
{
	kr_str_format(out, "\"%s\": {", name);
	kr_str_member(out, "text", text);
	kr_str_add(out, "}");
}

static void add_made(struct kr_str *out, struct kr_str *text)
{
	add_message(out, "message", kr_str_text(text));
	out->failed |= text->failed;
	kr_str_done(text);
}

/* A path as a reference of RFC 3986: what is not a letter, a digit or one of "-._~/" in percents. */
static void add_uri(struct kr_str *out, const char *path)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";

	kr_str_add(out, path[0] == '/' ? "\"uri\": \"file://" : "\"uri\": \"");
	for (; *path; path++) {
		if (strchr(plain, *path))
			kr_str_add_bytes(out, path, 1);
		else
			kr_str_format(out, "%%%02X", (unsigned)(unsigned char)*path);
	}
	kr_str_add(out, "\"");
}

static void add_place(struct kr_str *out, const char *path, uint32_t line)
{
	kr_str_add(out, "\"physicalLocation\": {\"artifactLocation\": {");
	add_uri(out, path);
	kr_str_add(out, "}");
	if (line > 0)
		kr_str_format(out, ", \"region\": {\"startLine\": %u}", line);
	kr_str_add(out, "}");
}

static void add_txn_place(struct kr_str *out, const struct kr_report *r, kr_txn t)
{
	add_place(out, kr_history_file(r->history, t, r->trace), r->history->txns.at[t.i].line);
}

static void begin(const struct kr_question *asked, uint32_t n, struct kr_str *out)
{
	kr_str_add(out,
		"{\"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\", \"version\": \"2.1.0\", "
		"\"runs\": [{\n"
		"\"tool\": {\"driver\": {\"name\": \"krait\", \"semanticVersion\": \"" KR_VERSION
		"\", \"rules\": [\n");
	for (uint32_t i = 0; i < n; i++) {
		kr_str_format(out, "%s{\"id\": \"%s/%s\", ", i > 0 ? ",\n" : "", asked[i].level->id,
			kr_order_name(asked[i].order));
		add_message(out, "shortDescription", asked[i].level->title);
		kr_str_add(out, ", ");
		add_message(out, "fullDescription", asked[i].level->definition);
		kr_str_add(out, ", ");
		add_message(out, "help", asked[i].level->source);
		kr_str_add(out, "}");
	}
	kr_str_add(out, "]}},\n\"columnKind\": \"utf16CodeUnits\",\n\"results\": [");
}

static void add_flow(struct kr_str *out, const struct kr_report *r, const struct kr_certificate *cert,
	struct kr_cert_cycle cycle)
{
	kr_str_add(out, ",\n  \"codeFlows\": [{\"threadFlows\": [{\"locations\": [");
	for (uint32_t i = 0; i < cycle.count; i++) {
		const struct kr_cert_edge *e = &cert->edges.at[cycle.first + i];
		struct kr_str why;
		struct kr_words w = {r->history, NULL, &why};

		kr_str_init(&why, out->mem);
		kr_words_edge(&w, e, NULL);
		kr_str_add(out, i > 0 ? ",\n    {\"location\": {" : "\n    {\"location\": {");
		add_txn_place(out, r, e->from);
		kr_str_add(out, ", ");
		add_made(out, &why);
		kr_str_add(out, "}}");
	}
	kr_str_add(out, "]}]}]");
}

/* The transactions of the cycle but the first, each with its id. */
static void add_related(struct kr_str *out, const struct kr_report *r, const struct kr_certificate *cert,
	struct kr_cert_cycle cycle)
{
	kr_str_add(out, ",\n  \"relatedLocations\": [");
	for (uint32_t i = 1; i < cycle.count; i++) {
		struct kr_str id;
		struct kr_words w = {r->history, NULL, &id};

		kr_str_init(&id, out->mem);
		kr_words_txn(&w, cert->edges.at[cycle.first + i].from);
		kr_str_format(out, "%s{\"id\": %u, ", i > 1 ? ", " : "", i);
		add_txn_place(out, r, cert->edges.at[cycle.first + i].from);
		kr_str_add(out, ", ");
		add_made(out, &id);
		kr_str_add(out, "}");
	}
	kr_str_add(out, "]");
}

static void add_violation(struct kr_str *out, const struct kr_report *r)
{
	const struct kr_certificate *cert = &r->verdict->certificate;
	bool cyclic = cert->kind == KR_CERT_CYCLES && cert->cycles.n > 0;
	struct kr_cert_cycle last = cyclic ? cert->cycles.at[cert->cycles.n - 1] : (struct kr_cert_cycle){0};
	char name[KR_ANOMALY_NAME_SIZE];
	struct kr_str text;

	kr_report_anomaly(r->history, cert, name);
	kr_str_init(&text, out->mem);
	kr_str_format(&text, "%s: ", name);
	kr_report_sentence(r, &text);
	kr_str_add(&text, ".");
	kr_str_add(out, "\"kind\": \"fail\", \"level\": \"error\", ");
	add_made(out, &text);
	kr_str_add(out, ",\n  \"locations\": [{");
	if (cyclic)
		add_txn_place(out, r, cert->edges.at[last.first].from);
	else if (cert->kind == KR_CERT_ANOMALY || cert->kind == KR_CERT_REPLAY)
		add_txn_place(out, r, cert->anomaly.txn);
	else
		add_place(out, r->trace, 0);
	kr_str_add(out, "}]");
	if (cyclic) {
		add_related(out, r, cert, last);
		add_flow(out, r, cert, last);
	}
	kr_str_add(out, ",\n  \"properties\": {");
	kr_str_member(out, "trace", r->trace);
	kr_str_member(out, "anomaly", name);
	kr_str_add(out, "}");
}

static void verdict(struct kr_document *doc, const struct kr_report *r, struct kr_str *out)
{
	if (kr_report_outcome(r) == KR_SATISFIED)
		return;
	kr_str_format(out, "%s\n{\"ruleId\": \"%s/%s\", ", doc->cases++ > 0 ? "," : "", r->level->id,
		kr_order_name(r->order));
	if (kr_report_outcome(r) == KR_VIOLATED) {
		add_violation(out, r);
	} else {
		kr_str_add(out, "\"kind\": \"open\", \"level\": \"none\", ");
		add_message(out, "message", kr_report_reason(r));
		kr_str_add(out, ", \"locations\": [{");
		add_place(out, r->trace, 0);
		kr_str_add(out, "}]");
	}
	kr_str_add(out, "}");
}

static void notify(struct kr_document *doc, const char *level, const char *text, const char *trace)
{
	kr_str_format(&doc->kept, "%s{\"level\": \"%s\", ", doc->kept.n > 0 ? ",\n" : "", level);
	add_message(&doc->kept, "message", text);
	kr_str_add(&doc->kept, ", \"locations\": [{");
	add_place(&doc->kept, trace, 0);
	kr_str_add(&doc->kept, "}]}");
}

static void failed(struct kr_document *doc, const char *trace, const struct kr_level *level,
	enum kr_order order, const char *error)
{
	(void)level, (void)order;
	doc->errors++;
	notify(doc, "error", error, trace);
}

static void trace_done(struct kr_document *doc, const char *trace, const struct kr_notes *notes,
	struct kr_str *out)
{
	(void)out;
	for (uint32_t i = 0; notes && i < notes->at.n; i++)
		notify(doc, "note", kr_str_text(&notes->at.at[i]), trace);
}

static void end(struct kr_document *doc, struct kr_str *out)
{
	kr_str_format(out,
		"],\n\"invocations\": [{\"executionSuccessful\": %s, \"toolExecutionNotifications\": [",
		doc->errors > 0 ? "false" : "true");
	kr_str_add_bytes(out, kr_str_text(&doc->kept), doc->kept.n);
	kr_str_add(out, "]}]}]}\n");
	out->failed |= doc->kept.failed;
}

const struct kr_document_format kr_document_sarif = {"sarif", begin, verdict, failed, trace_done, end};
