/* `krait stats`: counts of one history, in one walk over its operations. Duplicate writes, those of a value
 * that was written to the key before, are found with a hash index over (key, value). Cost: linear in the
 * operations. */
#include "report/report.h"

#include "base/hash.h"
#include "frontend/model/operation.h"

#include <string.h>

struct pair {
	kr_key key;
	kr_value value;
	uint32_t writes;
};

struct counting {
	struct kr_ctx *ctx;
	const struct kr_history *h;
	struct kr_trace_stats *out;
	struct kr_table index;
	KR_VEC(struct pair) pairs;
};

static enum kr_status count_write(struct counting *c, kr_key key, kr_value value)
{
	uint64_t hash = kr_hash_pair(key.i, value.i);
	uint32_t id;

	c->out->writes++;
	KR_TABLE_FIND(id, &c->index, hash,
		c->pairs.at[id].key.i == key.i && c->pairs.at[id].value.i == value.i);
	if (id == KR_NONE)
		return kr_table_push(&c->ctx->mem, &c->index, hash, &c->pairs, (struct pair){key, value, 1})
			? KR_OK
			: KR_NOMEM;
	c->out->duplicate_writes++;
	c->out->duplicate_pairs += ++c->pairs.at[id].writes == 2;
	return KR_OK;
}

static enum kr_status count_op(struct counting *c, const struct kr_operation *op)
{
	struct kr_write write;

	c->out->by_kind[op->kind]++;
	c->out->reads_unknown += op->kind == KR_OP_READ && kr_op_view(op).when == KR_UNSEEN;
	for (uint32_t i = 0; kr_write_at(c->h, op, i, &write); i++)
		if (write.how == KR_SET && write.value.i != KR_ABSENT.i)
			KR_TRY(count_write(c, write.key, write.value));
	return KR_OK;
}

static void count_txn(struct kr_trace_stats *out, const struct kr_history *h, kr_txn t)
{
	const struct kr_transaction *txn = &h->txns.at[t.i];

	out->committed += txn->status == KR_COMMITTED;
	out->aborted += txn->status == KR_ABORTED;
	out->unknown += txn->status == KR_UNKNOWN;
	out->timed &= (txn->flags & KR_TXN_HAS_BEGIN) && (txn->flags & KR_TXN_HAS_END);
	if (out->longest.i == KR_NONE || txn->op_count > out->ops_most) {
		out->longest = t;
		out->ops_most = txn->op_count;
	}
}

enum kr_status kr_report_trace_stats(struct kr_ctx *ctx, const struct kr_history *h,
	struct kr_trace_stats *out)
{
	struct kr_trace_stats stats = {.longest = {KR_NONE}, .timed = h->txns.n > 0};
	struct counting c = {.ctx = ctx, .h = h, .out = &stats};
	enum kr_status status = KR_OK;

	stats.txns = h->txns.n;
	stats.sessions = h->sessions.n;
	stats.keys = h->keys.n;
	stats.files = h->files.n;
	stats.skipped = h->skipped;
	stats.ops = h->ops.n;
	for (uint32_t i = 0; i < h->struck.n; i++) {
		stats.failed += h->struck.at[i].entry.attr.failed;
		stats.undone += !h->struck.at[i].entry.is_undo && !h->struck.at[i].entry.attr.failed;
	}
	for (kr_txn t = {0}; t.i < h->txns.n; t.i++)
		count_txn(&stats, h, t);
	for (uint32_t i = 0; status == KR_OK && i < h->ops.n; i++)
		if ((status = kr_ctx_tick(ctx)) == KR_OK)
			status = count_op(&c, &h->ops.at[i]);
	kr_table_done(&ctx->mem, &c.index);
	kr_vec_done(&ctx->mem, &c.pairs);
	if (status == KR_OK)
		*out = stats;
	return status;
}

/* ---- text ---- */

static void line(struct kr_str *out, const char *what, uint64_t n)
{
	kr_str_format(out, "  %-24s %llu\n", what, (unsigned long long)n);
}

void kr_report_print_stats(const char *trace, const struct kr_history *h, const struct kr_trace_stats *s,
	struct kr_str *out)
{
	kr_str_shown(out, trace);
	kr_str_format(out, "\n  %-24s %s\n", "format", h->format ? h->format : "unknown");
	line(out, "transactions", s->txns);
	line(out, "  committed", s->committed);
	line(out, "  aborted", s->aborted);
	line(out, "  unknown", s->unknown);
	if (s->skipped > 0)
		line(out, "  left out (bad)", s->skipped);
	line(out, "operations", s->ops);
	for (int kind = 0; kind < KR_OP_KINDS; kind++) {
		char name[16] = "  ";
		if (s->by_kind[kind] > 0)
			line(out, strcat(name, kr_op_name((enum kr_op_kind)kind)), s->by_kind[kind]);
	}
	if (s->reads_unknown > 0)
		line(out, "  reads without result", s->reads_unknown);
	if (s->failed > 0)
		line(out, "operations that failed", s->failed);
	if (s->undone > 0)
		line(out, "operations undone", s->undone);
	line(out, "sessions", s->sessions);
	line(out, "keys", s->keys);
	line(out, "values written", s->writes);
	line(out, "  duplicates", s->duplicate_writes);
	kr_str_format(out, "  %-24s %u", "longest transaction", s->ops_most);
	if (s->longest.i != KR_NONE) {
		kr_str_add(out, " (");
		kr_history_print_name(h, h->txns.at[s->longest.i].id, out);
		kr_str_add(out, ")");
	}
	kr_str_format(out, "\n  %-24s %s\n", "times",
		s->timed ? "every transaction" : "not every transaction");
}

/* ---- JSON ---- */

static void field(struct kr_str *out, const char *name, uint64_t n)
{
	kr_str_format(out, ", \"%s\": %llu", name, (unsigned long long)n);
}

void kr_report_json_stats(const char *trace, const struct kr_history *h, const struct kr_trace_stats *s,
	struct kr_str *out)
{
	const char *separator = "";

	kr_str_add(out, "{");
	kr_str_member(out, "trace", trace);
	kr_str_format(out, ", \"format\": \"%s\"", h->format ? h->format : "unknown");
	field(out, "txns", s->txns);
	field(out, "committed", s->committed);
	field(out, "aborted", s->aborted);
	field(out, "unknown", s->unknown);
	field(out, "skipped", s->skipped);
	field(out, "ops", s->ops);
	kr_str_add(out, ", \"ops_by_kind\": {");
	for (int kind = 0; kind < KR_OP_KINDS; kind++) {
		if (s->by_kind[kind] == 0)
			continue;
		kr_str_format(out, "%s\"%s\": %llu", separator, kr_op_name((enum kr_op_kind)kind),
			(unsigned long long)s->by_kind[kind]);
		separator = ", ";
	}
	kr_str_add(out, "}");
	field(out, "reads_without_result", s->reads_unknown);
	field(out, "failed_ops", s->failed);
	field(out, "undone_ops", s->undone);
	field(out, "sessions", s->sessions);
	field(out, "keys", s->keys);
	field(out, "values_written", s->writes);
	field(out, "duplicate_writes", s->duplicate_writes);
	field(out, "duplicate_pairs", s->duplicate_pairs);
	field(out, "ops_most", s->ops_most);
	kr_history_json_member(h, "longest",
		s->longest.i == KR_NONE ? KR_ABSENT : h->txns.at[s->longest.i].id, out);
	kr_str_format(out, ", \"times\": %s}", s->timed ? "true" : "false");
}
