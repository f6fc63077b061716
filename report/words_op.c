/* An operation as it stands in the trace, without brackets and quotes where that is unambiguous. Of a range,
 * scan or update also what it asked for, as comparisons, and the first ROWS_MOST of its rows, in braces:
 * whoever reads that a key was not found wants to know where it was looked for. */
#include "report/words.h"

#define ROWS_MOST 6u

static void add(const struct kr_words *w, const char *text) { kr_str_add(w->out, text); }
static void add_range(const struct kr_words *w, const struct kr_scan *scan)
{
	add(w, " ");
	kr_words_add_value(w, scan->low);
	add(w, " ");
	kr_words_add_value(w, scan->high);
	if (scan->limit >= 0)
		kr_str_format(w->out, " limit %lld", (long long)scan->limit);
	if (scan->reverse)
		add(w, " reverse");
}

static void add_condition(const struct kr_words *w, const struct kr_cond *cond)
{
	static const char *const tests[] = {
		[KR_COND_EQ] = " = ",
		[KR_COND_NE] = " != ",
		[KR_COND_LT] = " < ",
		[KR_COND_LE] = " <= ",
		[KR_COND_GT] = " > ",
		[KR_COND_GE] = " >= ",
		[KR_COND_IN] = " in ",
		[KR_COND_PREFIX] = " starts with ",
	};

	if (cond->target == KR_COND_FIELD)
		kr_words_name(w, cond->field);
	else
		add(w, cond->target == KR_COND_VALUE ? "value" : "key");
	add(w, tests[cond->target == KR_COND_KEY_PREFIX ? KR_COND_PREFIX : cond->test]);
	kr_words_add_value(w, cond->value);
}

static void add_where(const struct kr_words *w, const struct kr_scan *scan)
{
	for (uint32_t i = 0; i < scan->cond_count; i++) {
		add(w, i == 0 ? " where " : " and ");
		add_condition(w, &w->h->conds.at[scan->cond_first + i]);
	}
}

static void add_rows(const struct kr_words *w, const struct kr_scan *scan)
{
	uint32_t shown = scan->row_count < ROWS_MOST ? scan->row_count : ROWS_MOST;

	add(w, " {");
	for (uint32_t i = 0; i < shown; i++) {
		const struct kr_row *row = &w->h->rows.at[scan->row_first + i];
		add(w, i > 0 ? ", " : "");
		kr_words_name(w, w->h->keys.at[row->key.i].name);
		add(w, " ");
		kr_words_add_value(w, row->value);
	}
	if (shown < scan->row_count)
		kr_str_format(w->out, ", ... %u rows", scan->row_count);
	add(w, "}");
}

static void add_scan(const struct kr_words *w, const struct kr_operation *op)
{
	const struct kr_scan *scan = &w->h->scans.at[op->scan];

	if (op->kind == KR_OP_RANGE)
		add_range(w, scan);
	else
		add_where(w, scan);
	add_rows(w, scan);
}

void kr_words_op(const struct kr_words *w, kr_op at)
{
	const struct kr_operation *op = &w->h->ops.at[at.i];

	add(w, kr_op_name((enum kr_op_kind)op->kind));
	if (kr_op_scans(op)) {
		add_scan(w, op);
		return;
	}
	add(w, " ");
	kr_words_name(w, w->h->keys.at[op->key.i].name);

	bool has_a = op->kind != KR_OP_DELETE && (op->kind != KR_OP_READ || op->flags & KR_OPF_KNOWN);
	bool has_b = op->kind == KR_OP_CAS || (op->kind == KR_OP_INC && op->flags & KR_OPF_KNOWN);
	bool has_done = op->kind == KR_OP_INSERT || op->kind == KR_OP_CAS ||
		(op->kind == KR_OP_DELETE && op->flags & KR_OPF_KNOWN);

	if (has_a) {
		add(w, " ");
		kr_words_add_value(w, op->a);
	}
	if (has_b) {
		add(w, " ");
		kr_words_add_value(w, op->b);
	}
	if (has_done)
		add(w, op->flags & KR_OPF_DONE ? " true" : " false");
}
