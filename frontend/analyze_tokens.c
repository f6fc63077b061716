/* Tokens: numbers that the trace does not have, by number; and whether a test is true of a token.
 *
 * Numbers are looked up by value, those of the trace, too, once one is asked for. Linear. */
#include "frontend/analyze_work.h"

bool kr_analyze_integer(const struct kr_work *w, kr_token token, int64_t *out)
{
	bool told = token.i < w->h->values.n;

	*out = told ? kr_analyze_told(w, (kr_value){token.i}) : w->numbers->own.at[token.i - w->h->values.n];
	return !told || w->h->values.at[token.i].type == KR_VALUE_INT;
}

static enum kr_status index_numbers(const struct kr_work *w)
{
	struct kr_numbers *numbers = w->numbers;

	for (uint32_t i = 0; i < w->h->values.n; i++) {
		const struct kr_value_entry *entry = &w->h->values.at[i];

		KR_TRY(kr_ctx_tick(w->ctx));
		if (entry->type != KR_VALUE_INT)
			continue;
		if (!kr_table_reserve(w->mem, &numbers->table))
			return KR_NOMEM;
		kr_table_insert(&numbers->table, kr_hash_u64((uint64_t)entry->integer), i);
	}
	numbers->indexed = true;
	return KR_OK;
}

enum kr_status kr_analyze_number(const struct kr_work *w, int64_t number, kr_token *out)
{
	struct kr_numbers *numbers = w->numbers;
	uint64_t hash = kr_hash_u64((uint64_t)number);
	int64_t found;

	if (!numbers->indexed)
		KR_TRY(index_numbers(w));
	KR_TABLE_FIND(out->i, &numbers->table, hash, kr_analyze_integer(w, *out, &found) && found == number);
	if (out->i != KR_NONE)
		return KR_OK;
	out->i = w->h->values.n + numbers->own.n;
	if (out->i >= KR_TEST_ARGUMENTS)
		return kr_err_set(w->err, KR_UNSUPPORTED,
			"found more than %u different values, expected fewer", KR_TEST_ARGUMENTS);
	if (!kr_table_reserve(w->mem, &numbers->table) || !kr_vec_push(w->mem, &numbers->own, number))
		return KR_NOMEM;
	kr_table_insert(&numbers->table, hash, out->i);
	return KR_OK;
}

void kr_numbers_done(struct kr_mem *mem, struct kr_numbers *numbers)
{
	kr_vec_done(mem, &numbers->own);
	kr_table_done(mem, &numbers->table);
}

/* ---- tests ---- */

static bool matches(const struct kr_work *w, const struct kr_looks *looks, uint32_t where, kr_key k,
	kr_token token)
{
	const struct kr_scan *scan = &w->h->scans.at[looks->wheres.at[where].scan];
	struct kr_operand operand = {.type = KR_VALUE_INT};

	if (token.i == KR_TOKEN_ABSENT.i)
		return false;
	if (token.i < w->h->values.n)
		operand = kr_operand_of_value(w->h, (kr_value){token.i});
	else if (token.i - w->h->values.n >= w->numbers->own.n)
		/* a value that nobody mentions (analyze_initial.c): nobody observes these sets then */
		return false;
	else
		operand.integer = w->numbers->own.at[token.i - w->h->values.n];
	return kr_where_holds_of(w->h, scan, k, &operand);
}

bool kr_analyze_fits(const struct kr_work *w, const struct kr_looks *looks, uint32_t test, kr_key k,
	kr_token token)
{
	uint32_t argument = kr_test_argument(test);

	switch (kr_test_kind(test)) {
	case KR_TEST_IS: return token.i == argument;
	case KR_TEST_NOT: return token.i != argument;
	case KR_TEST_OR_ABSENT: return token.i == argument || token.i == KR_TOKEN_ABSENT.i;
	case KR_TEST_MATCH: return matches(w, looks, argument, k, token);
	case KR_TEST_MISS: return !matches(w, looks, argument, k, token);
	case KR_TEST_SOURCE: break;
	}
	return false;
}
