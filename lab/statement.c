/* A statement of a script: put together, run, and told as what it means. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/order.h"
#include "lab/run.h"
#include "lab/script.h"

/* The number of a column; -1: the answer has none such. */
static int column_of(const struct kl_result *r, const char *name)
{
	for (uint32_t i = 0; i < r->columns; i++)
		if (strcasecmp(kl_result_cell(r, -1, i), name) == 0)
			return (int)i;
	return -1;
}

/* False: it is no integer. */
static bool integer(const char *cell, int64_t *out)
{
	char *end = NULL;

	*out = cell ? strtoll(cell, &end, 10) : 0;
	return cell && *cell && !*end;
}

static bool take_row(struct kl_result *told, const struct kr_meaning *m, const struct kl_result *r,
	size_t row, int key, int value)
{
	const char *name = kl_result_cell(r, (int64_t)row, (uint32_t)key);
	char text[KL_KEY + KR_SQL_NAME];
	int64_t n;

	if (!name || !integer(kl_result_cell(r, (int64_t)row, (uint32_t)value), &n))
		return false;
	(void)snprintf(text, sizeof text, "%s%.*s", m->prefix, KL_KEY - 1, name);
	return strlen(text) < KL_KEY && kl_result_row(told, text, strlen(text), n);
}

/* Which columns have key and value: by name, or else the first two. */
static bool take_rows(struct kl_result *told, const struct kr_meaning *m, const struct kl_result *r)
{
	int key = m->key_column[0] ? column_of(r, m->key_column) : 0,
	    value = m->value_column[0] ? column_of(r, m->value_column) : 1;

	if (key < 0 || value < 0 || r->columns < 2)
		return r->lines == 0;
	for (size_t i = 0; i < r->lines; i++)
		if (!take_row(told, m, r, i, key, value))
			return false;
	return true;
}

static bool tell_reads(struct kr_slot *slot, const struct kr_meaning *m, const struct kl_result *r,
	struct kl_result *told, int key)
{
	struct kl_op op = m->op;
	int value = key == 0 ? 1 : 0;

	if (r->columns < 2)
		return false;
	for (size_t i = 0; i < r->lines; i++) {
		told->row_count = 0;
		if (!take_row(told, m, r, i, key, value))
			return false;
		op.key = told->rows[0].key;
		told->found = true;
		told->value = told->rows[0].value;
		if (!kr_slot_answered(slot, &op, told, KL_OK))
			return false;
	}
	return true;
}

/* As the trace has keys of scripts: numbers by value, then the others. */
static int by_key(const void *a, const void *b)
{
	const struct kl_row *x = a, *y = b;
	int64_t m, n;
	bool first = integer(x->key, &m), second = integer(y->key, &n);

	if (first && second)
		return KR_ORDER(m, n);
	return first != second ? second - first : strcmp(x->key, y->key);
}

/* The rows that were found, as they were; then what was done with each. */
static bool tell_changed(struct kr_slot *slot, const struct kr_meaning *m, struct kl_result *told)
{
	struct kl_result each = {.sent = told->sent, .answered = told->answered, .done = true};
	struct kl_op op = {.kind = m->then == KR_SQL_DELETES ? KL_DELETE : KL_WRITE};

	if (m->op.kind == KL_RANGE && m->then != KR_SQL_NOTHING) /* they came in any order */
		KR_SORT(told->rows, told->row_count, by_key);
	for (size_t i = 0; i < told->row_count; i++)
		told->rows[i].value -= m->added;
	if (!kr_slot_answered(slot, &m->op, told, KL_OK))
		return false;
	for (size_t i = 0; i < told->row_count && m->then != KR_SQL_NOTHING; i++) {
		op.key = told->rows[i].key;
		op.value = told->rows[i].value + m->added;
		if (!kr_slot_answered(slot, &op, &each, KL_OK))
			return false;
	}
	return true;
}

/* What was answered, as an operation of the trace; several, where each row is a read. False: it is not what
 * the meaning says. */
static bool tell(struct kr_slot *slot, const struct kr_meaning *m, const struct kl_result *r,
	struct kl_result *told)
{
	struct kl_op op = m->op;
	bool changed = r->value > 0;
	int column;

	switch (op.kind) {
	case KL_READ:
		column = m->by_column ? column_of(r, op.key) : -1;
		if (column >= 0)
			return tell_reads(slot, m, r, told, column);
		told->found = r->lines > 0;
		column = m->value_column[0] ? column_of(r, m->value_column) : 0;
		if (told->found &&
			(column < 0 || !integer(kl_result_cell(r, 0, (uint32_t)column), &told->value)))
			return false;
		break;
	case KL_RANGE:
	case KL_SCAN:
	case KL_UPDATE: return take_rows(told, m, r) && tell_changed(slot, m, told);
	case KL_INSERT:
	case KL_DELETE: told->done = changed; break;
	default: /* KL_WRITE, KL_INC of a row that is not there: it was looked for */
		told->unseen = true;
		op.kind = changed ? op.kind : KL_READ;
	}
	return kr_slot_answered(slot, &op, told, KL_OK);
}

enum kl_answer kr_statement_run(struct kr_session *s, uint32_t step)
{
	struct kr_slot *slot = s->run->slots[s->number];
	struct kl_result *r = &s->results[step];
	struct kr_script_sent sent;
	struct kl_op op = {.kind = KL_SQL, .text = sent.sql}, none = {.kind = KL_SQL};
	char why[256];

	if (!kr_script_expand(s->run->work.script, &s->plan, (uint32_t)s->plan.steps[step].op.value,
		    s->results, &sent, why)) {
		kr_run_fail(s->run, KR_RUN_FAILED, "%s", why);
		return KL_BUG;
	}
	if (sent.skipped)
		return KL_OK;
	kr_slot_sent(slot, sent.meaning.none ? &none : &sent.meaning.op);
	r->sent = kl_now();

	enum kl_answer answer =
		kr_session_answered(s, sent.sql, r, s->run->store.driver->run(s->client, &op, r));
	struct kl_result told = {.sent = r->sent, .answered = r->answered};
	bool fine = true;

	memcpy(told.code, r->code, sizeof told.code);
	if (!sent.meaning.none)
		fine = answer == KL_OK ? tell(slot, &sent.meaning, r, &told)
				       : kr_slot_answered(slot, &sent.meaning.op, &told, answer);
	free(told.rows);
	if (fine)
		return answer;
	kr_run_fail(s->run, KR_RUN_FAILED,
		"script: '%s': the answer does not have what it means: an integer, or a key and an integer",
		sent.sql);
	return KL_BUG;
}
