/* Reads a witness line against the history that it speaks of. Every field is checked for its type, and every
 * transaction, key and operation for being there, so that what comes out is a well-formed certificate,
 * whatever the line; whether it proves anything is not asked here. Unknown fields are ignored. Cost: linear
 * in the line, the transactions and the keys. */
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "verify/names.h"
#include "verify/verify.h"

struct reading {
	const struct kr_history *h;
	struct kr_mem *mem;
	struct kr_certificate *cert;
	struct kr_err *err;
	struct kr_names names;
	const char *where;    /* what is being read, for messages */
	uint32_t cycle, edge; /* 1-based, for messages; 0: none */
};

__attribute__((format(printf, 2, 3))) static enum kr_status bad(const struct reading *r, const char *format,
	...)
{
	char why[320], place[64] = "";
	va_list args;

	va_start(args, format);
	(void)vsnprintf(why, sizeof why, format, args);
	va_end(args);
	if (r->cycle)
		(void)snprintf(place, sizeof place, "cycle %u, edge %u, ", (unsigned)r->cycle,
			(unsigned)r->edge);
	return kr_err_set(r->err, KR_BAD, "witness: %s%s: %s", place, r->where, why);
}

/* ---- names ---- */

/* What a look-up said, with its place. */
static enum kr_status placed(const struct reading *r, enum kr_status status)
{
	return status == KR_BAD ? bad(r, "%s", r->names.why) : status;
}

/* ---- fields ---- */

static enum kr_status read_txn(struct reading *r, const json_t *object, const char *field, kr_txn *out)
{
	r->where = field;
	return placed(r, kr_names_txn(&r->names, json_object_get(object, field), out));
}

static enum kr_status read_key(struct reading *r, const json_t *object, kr_key *out)
{
	r->where = "key";
	return placed(r, kr_names_key(&r->names, json_object_get(object, "key"), out));
}

static enum kr_status read_op(struct reading *r, const json_t *object, kr_txn t, uint32_t *out)
{
	const json_t *json = json_object_get(object, "op");
	uint32_t count = r->h->txns.at[t.i].op_count;

	r->where = "op";
	if (!json_is_integer(json))
		return bad(r, "expected the number of an operation, found %s", kr_names_describe(json));
	if (json_integer_value(json) < 0 || json_integer_value(json) >= (json_int_t)count)
		return bad(r, "found %lld, but the transaction has %u operations",
			(long long)json_integer_value(json), (unsigned)count);
	*out = (uint32_t)json_integer_value(json);
	return KR_OK;
}

/* A string without NUL, or NULL and an error. */
static const char *read_text(struct reading *r, const json_t *object, const char *field)
{
	const json_t *json = json_object_get(object, field);

	r->where = field;
	if (!json_is_string(json))
		(void)bad(r, "expected a string, found %s", kr_names_describe(json));
	else if (strlen(json_string_value(json)) != json_string_length(json))
		(void)bad(r, "expected a string without NUL");
	else
		return json_string_value(json);
	return NULL;
}

/* ---- certificates ---- */

static enum kr_status read_serial(struct reading *r, const json_t *serial, const char *where,
	enum kr_cert_kind kind)
{
	size_t n = json_array_size(serial);

	r->where = where;
	if (!json_is_array(serial))
		return bad(r, "expected an array of transactions, found %s", kr_names_describe(serial));
	r->cert->kind = kind;
	for (size_t i = 0; i < n; i++) {
		kr_txn t;
		KR_TRY(placed(r, kr_names_txn(&r->names, json_array_get(serial, i), &t)));
		KR_TRY(kr_vec_add(r->mem, &r->cert->serial, t));
	}
	return KR_OK;
}

static enum kr_status read_part(struct reading *r, const json_t *object, kr_value *out)
{
	const json_t *json = json_object_get(object, "part");

	r->where = "part";
	if (!json)
		return KR_OK;
	if (json_is_null(json)) {
		*out = KR_ABSENT;
		return KR_OK;
	}
	return placed(r, kr_names_value(&r->names, json, out));
}

static enum kr_status read_from(struct reading *r, const json_t *object, kr_txn *out)
{
	const json_t *source = json_object_get(object, "source");

	r->where = "source";
	if (!source)
		return bad(r, "expected a transaction, or null for the initial version, found nothing");
	return json_is_null(source) ? KR_OK : placed(r, kr_names_txn(&r->names, source, out));
}

static enum kr_status read_sources(struct reading *r, const json_t *sources)
{
	size_t n = json_array_size(sources);

	r->where = "sources";
	if (sources && !json_is_array(sources))
		return bad(r, "expected an array, found %s", kr_names_describe(sources));
	for (size_t i = 0; i < n; i++) {
		const json_t *source = json_array_get(sources, i);
		struct kr_cert_source s = {.key = {KR_NONE}, .part = {KR_NONE}, .writer = {KR_NONE}};

		r->where = "sources";
		if (!json_is_object(source))
			return bad(r, "expected objects, found %s", kr_names_describe(source));
		KR_TRY(read_txn(r, source, "txn", &s.txn));
		KR_TRY(read_op(r, source, s.txn, &s.op));
		KR_TRY(read_key(r, source, &s.key));
		KR_TRY(read_part(r, source, &s.part));
		KR_TRY(read_from(r, source, &s.writer));
		KR_TRY(kr_vec_add(r->mem, &r->cert->sources, s));
	}
	return KR_OK;
}

static enum kr_status read_anomaly(struct reading *r, const json_t *anomaly, enum kr_cert_kind kind)
{
	struct kr_certificate *cert = r->cert;

	r->where = kind == KR_CERT_REPLAY ? "difference" : "anomaly";
	if (!json_is_object(anomaly))
		return bad(r, "expected an object, found %s", kr_names_describe(anomaly));
	const char *name = kind == KR_CERT_REPLAY ? "" : read_text(r, anomaly, "name");
	if (!name)
		return KR_BAD;
	if (kind == KR_CERT_ANOMALY && !kr_anomaly_parse(name, &cert->anomaly.kind))
		return bad(r, "there is no anomaly \"%.80s\"", name);
	cert->kind = kind;
	KR_TRY(read_txn(r, anomaly, "txn", &cert->anomaly.txn));
	KR_TRY(read_op(r, anomaly, cert->anomaly.txn, &cert->anomaly.op));
	if (!json_is_null(json_object_get(anomaly, "key")))
		KR_TRY(read_key(r, anomaly, &cert->anomaly.key));
	return KR_OK;
}

static enum kr_status read_kind(struct reading *r, const json_t *edge, struct kr_cert_edge *out)
{
	const char *text = read_text(r, edge, "kind");
	enum kr_edge_kind kind;

	if (!text)
		return KR_BAD;
	out->predicate = text[0] == 'p';
	if (!kr_edge_parse(text + out->predicate, &kind) || kind == KR_PROGRAM ||
		(out->predicate && kind != KR_WR && kind != KR_RW))
		return bad(r, "there is no kind of edge \"%.80s\", expected wr, pwr, ww, rw, prw, so or rt",
			text);
	out->kind = (uint8_t)kind;
	return KR_OK;
}

static enum kr_status read_edge(struct reading *r, const json_t *edge)
{
	struct kr_cert_edge e = {.key = {KR_NONE}, .op = KR_NONE, .source = {KR_NONE}, .part = {KR_NONE}};

	r->where = "edge";
	if (!json_is_object(edge))
		return bad(r, "expected an object, found %s", kr_names_describe(edge));
	KR_TRY(read_kind(r, edge, &e));
	KR_TRY(read_txn(r, edge, "from", &e.from));
	KR_TRY(read_txn(r, edge, "to", &e.to));
	if (e.kind != KR_SO && e.kind != KR_RT)
		KR_TRY(read_key(r, edge, &e.key));
	if (e.kind == KR_WR || e.kind == KR_RW)
		KR_TRY(read_op(r, edge, e.kind == KR_WR ? e.to : e.from, &e.op));
	if (e.kind == KR_RW)
		KR_TRY(read_from(r, edge, &e.source));
	if (e.kind == KR_WR || e.kind == KR_RW)
		KR_TRY(read_part(r, edge, &e.part));
	return kr_vec_add(r->mem, &r->cert->edges, e);
}

static enum kr_status read_cycles(struct reading *r, const json_t *cycles)
{
	size_t n = json_array_size(cycles);

	r->where = "cycles";
	if (!json_is_array(cycles))
		return bad(r, "expected an array, found %s", kr_names_describe(cycles));
	r->cert->kind = KR_CERT_CYCLES;
	for (size_t i = 0; i < n; i++) {
		const json_t *cycle = json_array_get(cycles, i);
		size_t count = json_array_size(cycle);
		struct kr_cert_cycle range = {r->cert->edges.n, (uint32_t)count};

		if (!json_is_array(cycle))
			return bad(r, "expected arrays of edges, found %s", kr_names_describe(cycle));
		r->cycle = (uint32_t)i + 1;
		for (size_t j = 0; j < count; j++) {
			r->edge = (uint32_t)j + 1;
			KR_TRY(read_edge(r, json_array_get(cycle, j)));
		}
		r->cycle = 0;
		r->where = "cycles";
		KR_TRY(kr_vec_add(r->mem, &r->cert->cycles, range));
	}
	return KR_OK;
}

static enum kr_status read_satisfied(struct reading *r, const json_t *root)
{
	const json_t *snapshots = json_object_get(root, "snapshots"),
		     *commits = json_object_get(root, "commits");

	if (snapshots)
		return read_serial(r, snapshots, "snapshots", KR_CERT_SNAPSHOTS);
	if (!commits)
		return read_serial(r, json_object_get(root, "serial"), "serial", KR_CERT_ORDER);
	enum kr_status status = read_serial(r, commits, "commits", KR_CERT_WORLD);
	return status == KR_OK ? read_sources(r, json_object_get(root, "sources")) : status;
}

static enum kr_status read_verdict(struct reading *r, const json_t *root)
{
	const char *verdict = read_text(r, root, "verdict");

	if (!verdict)
		return KR_BAD;
	if (strcmp(verdict, "satisfied") == 0)
		return read_satisfied(r, root);
	if (strcmp(verdict, "violated") != 0)
		return bad(r, "expected \"satisfied\" or \"violated\", found \"%.80s\"", verdict);
	if (json_object_get(root, "anomaly"))
		return read_anomaly(r, json_object_get(root, "anomaly"), KR_CERT_ANOMALY);
	if (json_object_get(root, "difference"))
		return read_anomaly(r, json_object_get(root, "difference"), KR_CERT_REPLAY);
	return read_cycles(r, json_object_get(root, "cycles"));
}

/* ---- the line ---- */

static enum kr_status keep_text(struct reading *r, const json_t *root, const char *field,
	struct kr_arena *arena, const char **out)
{
	const char *text = read_text(r, root, field);

	if (!text)
		return KR_BAD;
	*out = kr_arena_text(arena, text, strlen(text));
	return *out ? KR_OK : KR_NOMEM;
}

static enum kr_status read_root(struct reading *r, const json_t *root, struct kr_arena *arena,
	struct kr_witness_head *head)
{
	const json_t *version = json_object_get(root, "krait_witness");
	const char *order = NULL;

	r->where = "krait_witness";
	if (!json_is_integer(version) || json_integer_value(version) != 1)
		return bad(r, "expected 1, found %s",
			json_is_integer(version) ? "another version" : kr_names_describe(version));
	KR_TRY(keep_text(r, root, "trace", arena, &head->trace));
	KR_TRY(keep_text(r, root, "level", arena, &head->level));
	if (!(order = read_text(r, root, "order")))
		return KR_BAD;
	if (!kr_order_parse(order, &head->order))
		return bad(r, "expected none, session or realtime, found \"%.80s\"", order);
	return read_verdict(r, root);
}

static json_t *parse(const char *line, size_t length, struct kr_err *err, enum kr_status *status)
{
	json_error_t error;
	json_t *root = json_loadb(line, length, KR_NAMES_JSON, &error);

	*status = KR_OK;
	if (!root && json_error_code(&error) == json_error_out_of_memory)
		*status = KR_NOMEM;
	else if (!root)
		*status = kr_err_set(err, KR_BAD, "witness: expected one JSON object: %s", error.text);
	else if (!json_is_object(root))
		*status = kr_err_set(err, KR_BAD, "witness: expected an object, found %s",
			kr_names_describe(root));
	return root;
}

/* NOLINTNEXTLINE(readability-function-size): three things to read with, a text, two results and the error */
enum kr_status kr_witness_read(const struct kr_history *h, struct kr_arena *arena, const char *line,
	size_t length, struct kr_witness_head *head, struct kr_certificate *cert, struct kr_err *err)
{
	struct kr_witness_head got = {0};
	struct kr_certificate made;
	struct reading r = {.h = h,
		.names = {.h = h, .mem = cert->mem},
		.mem = cert->mem,
		.cert = &made,
		.err = err};
	enum kr_status status;
	json_t *root = parse(line, length, err, &status);

	kr_certificate_init(&made, cert->mem);
	if (status == KR_OK)
		status = read_root(&r, root, arena, &got);
	if (status == KR_OK) {
		made.level = cert->level;
		made.order = got.order;
		kr_certificate_done(cert);
		*cert = made;
		*head = got;
	} else {
		kr_certificate_done(&made);
	}
	json_decref(root);
	kr_names_done(&r.names);
	return status == KR_OK ? KR_OK : kr_err_set(err, status, "%s", kr_status_text(status));
}
