/* Reads a finding from a JSON line against the history that it speaks of. Every transaction, key and
 * operation must be there; whether the finding holds is not asked here. */
#include <string.h>

#include "base/arena.h"
#include "verify/finding.h"
#include "verify/names.h"

struct finding_reading {
	const struct kr_history *h;
	kr_declared_find_fn *declared;
	struct kr_names names;
	struct kr_findings *out;
	struct kr_finding *f;
	struct kr_err *err;
};

static enum kr_status wrong(const struct finding_reading *r, const char *field, const char *expected)
{
	return kr_err_set(r->err, KR_BAD, "finding: \"%s\": expected %s", field, expected);
}

/* KR_BAD becomes the fault of a field. */
static enum kr_status named(const struct finding_reading *r, enum kr_status status, const char *field,
	const char *expected)
{
	return status == KR_BAD ? wrong(r, field, expected) : status;
}

static enum kr_status read_txn(struct finding_reading *r, const char *field, const json_t *json, kr_txn *out)
{
	return named(r, kr_names_txn(&r->names, json, out), field, "ids of transactions of the trace");
}

static enum kr_status read_key(struct finding_reading *r, const json_t *json, kr_key *out)
{
	out->i = KR_NONE;
	return json ? named(r, kr_names_key(&r->names, json, out), "key", "a key of the trace") : KR_OK;
}

static enum kr_status read_op(const struct finding_reading *r, kr_txn t, const json_t *json, uint32_t *out)
{
	*out = KR_NONE;
	if (!json)
		return KR_OK;
	if (t.i == KR_NONE || !json_is_integer(json) || json_integer_value(json) < 0 ||
		json_integer_value(json) >= r->h->txns.at[t.i].op_count)
		return wrong(r, "op", "an operation of its transaction, counted from 0");
	*out = (uint32_t)json_integer_value(json);
	return KR_OK;
}

static enum kr_status read_seen(struct finding_reading *r, const json_t *json)
{
	r->f->seen = json_is_null(json) ? KR_ABSENT : (kr_value){KR_NONE};
	return json && !json_is_null(json)
		? named(r, kr_names_value(&r->names, json, &r->f->seen), "seen", "a value of the trace")
		: KR_OK;
}

static enum kr_status read_edge(struct finding_reading *r, const json_t *json)
{
	struct kr_certain_edge e = {.earlier = json_is_true(json_object_get(json, "earlier")),
		.predicate = json_is_true(json_object_get(json, "predicate"))};
	const char *kind = json_string_value(json_object_get(json, "kind"));
	KR_TRY(read_txn(r, "from", json_object_get(json, "from"), &e.from));
	KR_TRY(read_txn(r, "to", json_object_get(json, "to"), &e.to));
	if (!kind || !kr_edge_parse(kind, &e.kind))
		KR_TRY(wrong(r, "kind", "wr, ww, rw, so or rt"));
	KR_TRY(read_key(r, json_object_get(json, "key"), &e.key));
	if (e.key.i == KR_NONE && e.kind != KR_SO && e.kind != KR_RT)
		KR_TRY(wrong(r, "key", "a key of the trace"));
	KR_TRY(read_op(r, e.kind == KR_RW ? e.from : e.to, json_object_get(json, "op"), &e.op));
	KR_TRY(kr_vec_add(r->out->mem, &r->out->edges, e));
	r->f->edge_count++;
	return KR_OK;
}

static enum kr_status read_cycle(struct finding_reading *r, const json_t *root)
{
	const json_t *edges = json_object_get(root, "cycle"), *edge;
	enum kr_status status = json_array_size(edges) > 1 ? KR_OK : wrong(r, "cycle", "edges");
	size_t i;

	json_array_foreach(edges, i, edge) if (!status) status = read_edge(r, edge);
	return status;
}

static enum kr_status read_places(struct finding_reading *r, const json_t *root)
{
	const json_t *txns = json_object_get(root, "txns"), *ops = json_object_get(root, "ops");
	size_t n = json_array_size(txns);
	KR_TRY(n >= 1 && n <= 2 ? KR_OK : wrong(r, "txns", "one or two transactions"));

	for (size_t i = 0; i < n; i++)
		KR_TRY(read_txn(r, "txns", json_array_get(txns, i), &r->f->txns[i]));
	KR_TRY(read_op(r, r->f->txns[0], ops ? json_array_get(ops, 0) : json_object_get(root, "op"),
		&r->f->ops[0]));
	KR_TRY(read_op(r, r->f->txns[1], json_array_get(ops, 1), &r->f->ops[1]));
	KR_TRY(read_key(r, json_object_get(root, "key"), &r->f->key));
	return read_seen(r, json_object_get(root, "seen"));
}

static enum kr_status read_finding(struct finding_reading *r, const json_t *root)
{
	const char *mechanism = json_string_value(json_object_get(root, "mechanism"));
	const char *what = json_string_value(json_object_get(root, "class"));

	if (!mechanism || !kr_mechanism_parse(mechanism, &r->f->mechanism))
		return wrong(r, "mechanism", "CR, ME, FUW, SC or SESSION");
	if (!what)
		return wrong(r, "class", "a text");
	r->f->what = KR_FOUND_CYCLE; /* is named after its anomaly */
	r->f->declared = r->declared ? r->declared(what) : NULL;
	if (r->f->declared)
		r->f->what = KR_FOUND_DECLARED;
	else if (!kr_finding_class_parse(what, &r->f->what) && r->f->mechanism != KR_MECH_SC)
		return wrong(r, "class", "a class of its mechanism");
	return r->f->what == KR_FOUND_CYCLE ? read_cycle(r, root) : read_places(r, root);
}

bool kr_finding_is(const char *line, size_t length)
{
	json_t *root = json_loadb(line, length, KR_NAMES_JSON, NULL);
	bool is = json_object_get(root, "mechanism") != NULL;

	json_decref(root);
	return is;
}

enum kr_status kr_finding_read(const struct kr_history *h, kr_declared_find_fn *declared,
	struct kr_arena *arena, const char *line, size_t length, const char **profile,
	struct kr_findings *out, struct kr_err *err)
{
	struct kr_finding f = {.txns = {{KR_NONE}, {KR_NONE}},
		.ops = {KR_NONE, KR_NONE},
		.key = {KR_NONE},
		.seen = {KR_NONE},
		.writer = {KR_NONE},
		.over = {KR_NONE}};
	struct finding_reading r = {.h = h,
		.declared = declared,
		.names = {.h = h, .mem = out->mem},
		.out = out,
		.f = &f,
		.err = err};
	json_t *root = json_loadb(line, length, KR_NAMES_JSON, NULL);
	const char *name = json_string_value(json_object_get(root, "profile"));
	enum kr_status status = name ? read_finding(&r, root) : wrong(&r, "profile", "its name");

	*profile = name ? kr_arena_text(arena, name, strlen(name)) : NULL;
	json_decref(root);
	kr_names_done(&r.names);
	if (!status && (!*profile || !kr_vec_push(out->mem, &out->list, f)))
		status = KR_NOMEM;
	return status;
}
