/* Reads Elle's result: the first map that has `:valid?` beside anomalies, or else the whole, if that has it:
 * Jepsen's results hold Elle's among those of other checkers.
 *
 * A cycle is given by completions, the first one again at the end, and by a step from each to the next. A
 * completion is looked for among the transactions by what is in it: the text of its operations, which is
 * hashed for all transactions once. Transactions that are the same in this, and of one process, are told
 * apart by `:index`, which Elle counts from 0 and files now and then from 1. Of a step its type and key
 * count. Cost: linear in the trace and the file. */
#include "cross/elle_result.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "checkers/checker.h"
#include "frontend/elle.h"
#include "frontend/source.h"

struct reading {
	struct kr_ctx *ctx;
	const struct kr_history *h; /* the trace */
	struct kr_history own;      /* keys, values and operations of the file */
	struct elle elle;           /* its forms, for the reader of operations */
	struct kr_table txns;       /* of the trace, by text */
	struct kr_str text, other;  /* scratch */
	struct kr_elle_result *out;
};

static const struct {
	const char *name, *level;
	enum kr_order order;
} models[] = {
	{"read-uncommitted", "pl-1", KR_ORDER_NONE},
	{"strong-session-read-uncommitted", "pl-1", KR_ORDER_SESSION},
	{"strong-read-uncommitted", "pl-1", KR_ORDER_REALTIME},
	{"read-committed", "pl-2", KR_ORDER_NONE},
	{"strong-session-read-committed", "pl-2", KR_ORDER_SESSION},
	{"strong-read-committed", "pl-2", KR_ORDER_REALTIME},
	{"cursor-stability", "pl-cs", KR_ORDER_NONE},
	{"monotonic-view", "pl-2l", KR_ORDER_NONE},
	{"monotonic-atomic-view", "rc-ax", KR_ORDER_NONE},
	{"read-atomic", "ra", KR_ORDER_NONE},
	{"causal-cerone", "cc", KR_ORDER_NONE},
	{"prefix", "pc", KR_ORDER_NONE},
	{"parallel-snapshot-isolation", "psi", KR_ORDER_NONE},
	{"consistent-view", "pl-2+", KR_ORDER_NONE},
	{"forward-consistent-view", "pl-fcv", KR_ORDER_NONE},
	{"repeatable-read", "pl-2.99", KR_ORDER_NONE},
	{"update-serializable", "pl-3u", KR_ORDER_NONE},
	{"snapshot-isolation", "si", KR_ORDER_NONE},
	{"strong-session-snapshot-isolation", "si", KR_ORDER_SESSION},
	{"strong-snapshot-isolation", "si", KR_ORDER_REALTIME},
	{"serializable", "ser", KR_ORDER_NONE},
	{"strong-session-serializable", "ser", KR_ORDER_SESSION},
	{"strong-serializable", "ser", KR_ORDER_REALTIME},
	{"strict-serializable", "ser", KR_ORDER_REALTIME},
};

/* ---- transactions by what is in them ---- */

static void clear(struct kr_str *s)
{
	s->n = 0;
	if (s->at)
		s->at[0] = '\0';
}

static bool is_nothing(const struct kr_history *h, kr_value v)
{
	const struct kr_value_entry *e = kr_history_value(h, v);
	return v.i == KR_ABSENT.i || (e->type == KR_VALUE_ARRAY && e->length == 2);
}

/* Results of transactions that did not commit are told by Elle as they were invoked. */
static void print_ops(const struct kr_history *h, uint32_t first, uint32_t count, bool committed,
	struct kr_str *out)
{
	clear(out);
	kr_str_add(out, committed ? "ok" : "");
	for (uint32_t i = first; i < first + count; i++) {
		const struct kr_operation *op = &h->ops.at[i];
		kr_str_format(out, " %s ", kr_op_name((enum kr_op_kind)op->kind));
		if (op->key.i != KR_NONE)
			kr_history_json_value(h, h->keys.at[op->key.i].name, out);
		kr_str_add(out, " ");
		if (op->kind != KR_OP_READ || (committed && !is_nothing(h, op->a)))
			kr_history_json_value(h, op->a, out);
	}
}

static void print_txn(const struct reading *r, uint32_t t, struct kr_str *out)
{
	const struct kr_transaction *txn = &r->h->txns.at[t];
	print_ops(r->h, txn->op_first, txn->op_count, txn->status == KR_COMMITTED, out);
}

static enum kr_status index_txns(struct reading *r)
{
	for (uint32_t t = 0; t < r->h->txns.n; t++) {
		enum kr_status status = kr_ctx_tick(r->ctx);
		print_txn(r, t, &r->text);
		if (status || r->text.failed || !kr_table_reserve(&r->ctx->mem, &r->txns))
			return status ? status : KR_NOMEM;
		kr_table_insert(&r->txns, kr_hash_bytes(kr_str_text(&r->text), r->text.n), t);
	}
	return KR_OK;
}

/* Sessions of a process are named P, P#2, ... */
static bool is_of_process(const struct reading *r, uint32_t t, const char *process)
{
	char session[64];
	size_t n = strlen(process);
	kr_session s = r->h->txns.at[t].session;
	if (s.i == KR_NONE || n == 0)
		return true;
	kr_history_brief(r->h, r->h->sessions.at[s.i], session, sizeof session);
	return strncmp(session, process, n) == 0 && (session[n] == '\0' || session[n] == '#');
}

enum { INDEX, PROCESS, TYPE, VALUE, OP_FIELDS };
static const char *const op_fields[OP_FIELDS] = {"index", "process", "type", "value"};

static enum kr_status print_process(struct reading *r, uint32_t form, char *out, size_t size)
{
	kr_value name;

	*out = '\0';
	if (form == KR_NONE || r->elle.forms.nodes.at[form].type == KR_FORM_NIL)
		return KR_OK;
	KR_TRY(kr_forms_value(&r->elle.forms, form, &name));
	kr_history_brief(&r->own, name, out, size);
	return KR_OK;
}

/* Of the transactions with the text in r->text and of the process: the only one, or the only one at that
 * place. KR_NONE with *n > 0: it may be several. */
static kr_txn choose_txn(struct reading *r, const char *process, uint32_t index, uint32_t *n)
{
	const struct kr_forms *f = &r->elle.forms;
	bool numbered = index != KR_NONE && f->nodes.at[index].type == KR_FORM_INT;
	uint32_t t, there[2] = {0};
	kr_txn found = {KR_NONE}, at[2] = {{KR_NONE}, {KR_NONE}};
	*n = 0;
	for (kr_table_iter it = kr_table_find(&r->txns, kr_hash_bytes(kr_str_text(&r->text), r->text.n));
		(t = kr_table_next(&r->txns, &it)) != KR_NONE;) {
		const struct kr_transaction *txn = &r->h->txns.at[t];
		print_txn(r, t, &r->other);
		if (strcmp(kr_str_text(&r->other), kr_str_text(&r->text)) != 0 ||
			!is_of_process(r, t, process))
			continue;
		found = (kr_txn){t};
		++*n;
		/* the trace's moments count from 1 */
		for (int from = 0; from < 2 && numbered && txn->flags & KR_TXN_HAS_END; from++)
			if (txn->end_returned - 1 + from == f->nodes.at[index].integer) {
				at[from] = found;
				there[from]++;
			}
	}
	if (*n > 1)
		found = there[0] == 1 ? at[0] : there[0] == 0 && there[1] == 1 ? at[1] : (kr_txn){KR_NONE};
	return found;
}

/* The transaction that an operation of the cycle is. */
static enum kr_status find_txn(struct reading *r, uint32_t form, struct kr_elle_cycle *cycle, kr_txn *out)
{
	struct kr_forms *f = &r->elle.forms;
	uint32_t fields[OP_FIELDS], first = r->own.ops.n, line = f->nodes.at[form].line, n;
	char process[64];
	if (f->nodes.at[form].type != KR_FORM_MAP)
		return kr_forms_bad(f, line, "a cycle has something else than operations, expected maps");
	KR_TRY(kr_forms_fields(f, form, op_fields, fields, OP_FIELDS));
	bool committed = kr_form_is(f, fields[TYPE], "ok");
	KR_TRY(print_process(r, fields[PROCESS], process, sizeof process));
	KR_TRY(kr_elle_ops(&r->elle, KR_NONE, fields[VALUE], committed));
	print_ops(&r->own, first, r->own.ops.n - first, committed, &r->text);
	r->own.ops.n = first;
	*out = choose_txn(r, process, fields[INDEX], &n);
	if (r->text.failed || r->other.failed)
		return KR_NOMEM;
	if (n == 0)
		return kr_forms_bad(f, line, "a cycle has an operation that no transaction of the trace is");
	if (out->i == KR_NONE && !cycle->why[0])
		(void)snprintf(cycle->why, sizeof cycle->why,
			"its operation of line %u may be any of %u equal transactions", (unsigned)line,
			(unsigned)n);
	return KR_OK;
}

/* ---- cycles ---- */

static bool is_key_of(struct reading *r, kr_txn t, const char *name, kr_key *out)
{
	const struct kr_transaction *txn = &r->h->txns.at[t.i];
	for (uint32_t i = txn->op_first; i < txn->op_first + txn->op_count; i++) {
		kr_key k = r->h->ops.at[i].key;
		clear(&r->other);
		if (k.i != KR_NONE)
			kr_history_json_value(r->h, r->h->keys.at[k.i].name, &r->other);
		if (k.i == KR_NONE || strcmp(kr_str_text(&r->other), name) != 0)
			continue;
		*out = k;
		return true;
	}
	return false;
}

static enum kr_status take_key(struct reading *r, uint32_t form, struct kr_claimed_edge *edge)
{
	struct kr_forms *f = &r->elle.forms;
	kr_key own;
	KR_TRY(kr_forms_key(f, form, &own));
	clear(&r->text);
	kr_history_json_value(&r->own, r->own.keys.at[own.i].name, &r->text);
	if (is_key_of(r, edge->from, kr_str_text(&r->text), &edge->key) &&
		is_key_of(r, edge->to, kr_str_text(&r->text), &edge->key))
		return KR_OK;
	return r->text.failed || r->other.failed
		? KR_NOMEM
		: kr_forms_bad(f, f->nodes.at[form].line,
			  "a step is about a key that its two operations do not share");
}

enum { STEP_TYPE, STEP_KEY, STEP_FIELDS };

static enum kr_status take_step(struct reading *r, uint32_t form, struct kr_elle_cycle *cycle,
	struct kr_claimed_edge edge)
{
	static const char *const names[STEP_FIELDS] = {"type", "key"};
	static const struct {
		const char *name;
		enum kr_edge_kind kind;
		bool predicate;
	} kinds[] = {{"wr", KR_WR, false}, {"ww", KR_WW, false}, {"rw", KR_RW, false}, {"wrp", KR_WR, true},
		{"rwp", KR_RW, true}, {"process", KR_SO, false}, {"realtime", KR_RT, false}};
	struct kr_forms *f = &r->elle.forms;
	uint32_t fields[STEP_FIELDS], line = f->nodes.at[form].line;
	size_t kind = 0;
	char found[80];
	if (f->nodes.at[form].type != KR_FORM_MAP)
		return kr_forms_bad(f, line, "a step is %s, expected a map", kr_form_found(f, form, found));
	KR_TRY(kr_forms_fields(f, form, names, fields, STEP_FIELDS));
	while (kind < KR_COUNT(kinds) && !kr_form_is(f, fields[STEP_TYPE], kinds[kind].name))
		kind++;
	if (kind == KR_COUNT(kinds) && !cycle->why[0])
		(void)snprintf(cycle->why, sizeof cycle->why,
			"its step of line %u is of type %s, which levels do not know", (unsigned)line,
			kr_form_found(f, fields[STEP_TYPE], found));
	if (cycle->why[0])
		return KR_OK;
	edge.kind = (uint8_t)kinds[kind].kind;
	edge.predicate = kinds[kind].predicate;
	edge.key = (kr_key){KR_NONE};
	if (fields[STEP_KEY] != KR_NONE)
		KR_TRY(take_key(r, fields[STEP_KEY], &edge));
	return kr_vec_add(&r->ctx->mem, &cycle->edges, edge);
}

static uint32_t count_children(const struct kr_forms *f, uint32_t list)
{
	uint32_t n = 0;
	for (uint32_t at = list + 1; at < f->nodes.at[list].end; at = f->nodes.at[at].end)
		n++;
	return n;
}

static enum kr_status take_steps(struct reading *r, uint32_t ops, uint32_t steps, struct kr_elle_cycle *cycle)
{
	struct kr_forms *f = &r->elle.forms;
	struct kr_claimed_edge edge = {.from = {KR_NONE}};
	uint32_t step = steps + 1, n = count_children(f, steps);
	enum kr_status status = KR_OK;
	if (n == 0 || count_children(f, ops) != n + 1)
		return kr_forms_bad(f, cycle->line,
			"a cycle of %u operations with %u steps, expected a step from each operation to the "
			"next",
			(unsigned)count_children(f, ops), (unsigned)n);
	for (uint32_t at = ops + 1; at < f->nodes.at[ops].end && !status; at = f->nodes.at[at].end) {
		edge.from = edge.to;
		status = find_txn(r, at, cycle, &edge.to);
		if (status || at == ops + 1)
			continue;
		status = take_step(r, step, cycle, edge);
		step = f->nodes.at[step].end;
	}
	return status;
}

static enum kr_status take_cycle(struct reading *r, const char *anomaly, uint32_t form, bool *is_cycle)
{
	static const char *const names[] = {"cycle", "steps"};
	struct kr_forms *f = &r->elle.forms;
	uint32_t fields[2];
	if (f->nodes.at[form].type != KR_FORM_MAP)
		return KR_OK;
	enum kr_status status = kr_forms_fields(f, form, names, fields, 2);
	if (status || fields[0] == KR_NONE || fields[1] == KR_NONE ||
		f->nodes.at[fields[0]].type != KR_FORM_LIST || f->nodes.at[fields[1]].type != KR_FORM_LIST)
		return status;
	*is_cycle = true;
	KR_TRY(kr_vec_add(&r->ctx->mem, &r->out->cycles,
		(struct kr_elle_cycle){.anomaly = anomaly, .line = f->nodes.at[form].line}));
	struct kr_elle_cycle *cycle = &r->out->cycles.at[r->out->cycles.n - 1];
	status = take_steps(r, fields[0], fields[1], cycle);
	if (cycle->why[0])
		kr_vec_clear(&cycle->edges);
	return status;
}

/* ---- the map ---- */

static enum kr_status take_anomaly(struct reading *r, uint32_t name, uint32_t list)
{
	struct kr_forms *f = &r->elle.forms;
	const char *anomaly = kr_arena_format(&r->out->arena, "%.*s", (int)f->nodes.at[name].length,
		f->nodes.at[name].text);
	bool cycles = false;
	KR_TRY(anomaly ? KR_OK : KR_NOMEM);
	for (uint32_t at = list + 1; at < f->nodes.at[list].end && f->nodes.at[list].type == KR_FORM_LIST;
		at = f->nodes.at[at].end)
		KR_TRY(take_cycle(r, anomaly, at, &cycles));
	if (!cycles && !kr_vec_push(&r->ctx->mem, &r->out->others, anomaly))
		return KR_NOMEM;
	return KR_OK;
}

static enum kr_status take_anomalies(struct reading *r, uint32_t map)
{
	struct kr_forms *f = &r->elle.forms;
	if (map == KR_NONE || f->nodes.at[map].type != KR_FORM_MAP)
		return KR_OK;
	for (uint32_t at = map + 1; at < f->nodes.at[map].end; at = f->nodes.at[f->nodes.at[at].end].end)
		if (f->nodes.at[at].type == KR_FORM_NAME || f->nodes.at[at].type == KR_FORM_STRING)
			KR_TRY(take_anomaly(r, at, f->nodes.at[at].end));
	return KR_OK;
}

static enum kr_status take_levels(struct reading *r, uint32_t list)
{
	const struct kr_forms *f = &r->elle.forms;
	if (list == KR_NONE || f->nodes.at[list].type != KR_FORM_LIST)
		return KR_OK;
	for (uint32_t at = list + 1; at < f->nodes.at[list].end; at = f->nodes.at[at].end) {
		r->out->names_levels = true;
		for (size_t i = 0; i < KR_COUNT(models); i++) {
			enum kr_order ignored;
			struct kr_question broken = {kr_level_find(NULL, models[i].level, &ignored),
				models[i].order};
			if (kr_form_is(f, at, models[i].name) &&
				!kr_vec_push(&r->ctx->mem, &r->out->broken, broken))
				return KR_NOMEM;
		}
	}
	return KR_OK;
}

enum { VALID, ANOMALIES, TYPES, NOT, ALSO_NOT, RESULT_FIELDS };

static enum kr_status find_result(struct reading *r, uint32_t fields[RESULT_FIELDS])
{
	static const char *const names[RESULT_FIELDS] = {"valid?", "anomalies", "anomaly-types", "not",
		"also-not"};
	struct kr_forms *f = &r->elle.forms;

	for (uint32_t at = 0; at < f->nodes.n; at++) {
		if (f->nodes.at[at].type != KR_FORM_MAP)
			continue;
		KR_TRY(kr_forms_fields(f, at, names, fields, RESULT_FIELDS));
		if (fields[VALID] != KR_NONE && (fields[ANOMALIES] != KR_NONE || fields[TYPES] != KR_NONE))
			return KR_OK;
	}
	fields[VALID] = KR_NONE;
	if (f->nodes.at[0].type == KR_FORM_MAP)
		KR_TRY(kr_forms_fields(f, 0, names, fields, RESULT_FIELDS));
	return fields[VALID] != KR_NONE
		? KR_OK
		: kr_forms_bad(f, f->nodes.at[0].line, "no result of Elle, expected a map with :valid?");
}

static enum kr_status take_result(struct reading *r)
{
	struct kr_forms *f = &r->elle.forms;
	uint32_t fields[RESULT_FIELDS];
	bool found;
	char text[80];
	KR_TRY(kr_forms_next(f, &found));
	if (!found)
		return kr_forms_bad(f, 1, "the file is empty, expected a result of Elle: a map with :valid?");
	KR_TRY(find_result(r, fields));
	uint32_t valid = fields[VALID];
	r->out->valid = f->nodes.at[valid].type == KR_FORM_TRUE ? KR_SATISFIED
		: f->nodes.at[valid].type == KR_FORM_FALSE      ? KR_VIOLATED
								: KR_UNDECIDED;
	if (r->out->valid == KR_UNDECIDED && !kr_form_is(f, valid, "unknown"))
		return kr_forms_bad(f, f->nodes.at[valid].line,
			":valid? is %s, expected true, false or :unknown", kr_form_found(f, valid, text));
	KR_TRY(take_levels(r, fields[NOT]));
	KR_TRY(take_levels(r, fields[ALSO_NOT]));
	return take_anomalies(r, fields[ANOMALIES]);
}

static enum kr_status read_source(struct reading *r, const char *path, struct kr_source *source,
	struct kr_err *err)
{
	enum kr_status status = kr_forms_init(&r->elle.forms, r->ctx, &r->own, path, source, err);
	if (!status)
		status = index_txns(r);
	if (!status)
		status = take_result(r);
	kr_forms_done(&r->elle.forms);
	return status;
}

enum kr_status kr_elle_result_read(struct kr_ctx *ctx, const char *path, const struct kr_history *h,
	struct kr_elle_result *out, struct kr_err *err)
{
	struct reading r = {.ctx = ctx, .h = h, .out = out};
	struct kr_source *source = NULL;
	*out = (struct kr_elle_result){.valid = KR_UNDECIDED};
	kr_arena_init(&out->arena, &ctx->mem);
	KR_TRY(kr_history_init(&r.own, &ctx->mem));
	kr_str_init(&r.text, &ctx->mem);
	kr_str_init(&r.other, &ctx->mem);
	enum kr_status status = kr_source_open(ctx, path, &source, err);
	if (!status)
		status = read_source(&r, path, source, err);
	kr_source_free(source);
	kr_str_done(&r.text);
	kr_str_done(&r.other);
	kr_table_done(&ctx->mem, &r.txns);
	kr_history_done(&r.own);
	return status;
}

void kr_elle_result_done(struct kr_mem *mem, struct kr_elle_result *result)
{
	if (!result->arena.mem) /* nothing was read */
		return;
	for (uint32_t i = 0; i < result->cycles.n; i++)
		kr_vec_done(mem, &result->cycles.at[i].edges);
	kr_vec_done(mem, &result->cycles);
	kr_vec_done(mem, &result->others);
	kr_vec_done(mem, &result->broken);
	kr_arena_done(&result->arena);
}

/* ---- claims ---- */

enum kr_outcome kr_elle_result_claims(const struct kr_elle_result *result, const struct kr_modules *more,
	struct kr_question question)
{
	if (result->valid != KR_VIOLATED || !result->names_levels)
		return result->valid;
	for (uint32_t i = 0; i < result->broken.n; i++)
		if (kr_implies(more, question, result->broken.at[i]))
			return KR_VIOLATED;
	return KR_UNDECIDED;
}
