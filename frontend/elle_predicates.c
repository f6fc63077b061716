/* Elle's closed predicates: a map of what there was at first, [:insert KEY VALUE], [:delete KEY], and
 * predicate reads, [:rp PREDICATE {KEY VALUE ...}], which return all that is there and matches.
 *
 * :true matches everything, [:= V] what equals V, [:mod M R] the integers that leave R over M. The last one
 * is a list of all such integers of the file: whatever else there might be, nobody wrote it. */
#include <stdio.h>
#include <string.h>

#include "frontend/elle.h"

static bool is_digits(const struct kr_form *node)
{
	uint32_t at = node->length > 1 && node->text[0] == '-';

	while (at < node->length && node->text[at] >= '0' && node->text[at] <= '9')
		at++;
	return at > 0 && at == node->length;
}

/* A key of a map. JSON has strings there only. */
static enum kr_status take_key(struct kr_forms *f, uint32_t form, kr_key *out)
{
	const struct kr_form *node = &f->nodes.at[form];

	if (f->json && node->type == KR_FORM_STRING && is_digits(node))
		return kr_forms_bad(f, node->line,
			"the key \"%.*s\" of a map may be a string or a number, expected EDN, which tells",
			(int)node->length, node->text);
	return kr_forms_key(f, form, out);
}

enum kr_status kr_elle_init(struct elle *e, uint32_t value)
{
	struct kr_forms *f = &e->forms;
	struct kr_history *h = f->h;
	kr_key key;
	kr_value initial;
	enum kr_status status = KR_OK;

	if (h->txns.n > 0 || h->initial == KR_INITIAL_GIVEN)
		return kr_forms_bad(f, f->nodes.at[0].line,
			"an :init behind other operations, expected one, as the first");
	if (kr_form_type(f, value) != KR_FORM_MAP)
		return kr_forms_wrong(f, f->nodes.at[0].line, "the :value of :init is", value,
			"a map of keys and values");
	h->initial = KR_INITIAL_GIVEN;
	for (uint32_t at = value + 1; at < f->nodes.at[value].end && !status;
		at = f->nodes.at[f->nodes.at[at].end].end) {
		status = take_key(f, at, &key);
		if (!status)
			status = kr_forms_value(f, f->nodes.at[at].end, &initial);
		if (!status && (status = kr_history_set_initial(h, key, initial, f->err)) == KR_BAD)
			kr_err_at(f->err, f->path, f->nodes.at[at].line, 0);
	}
	return status;
}

/* ---- predicates ---- */

static enum kr_status push_cond(struct elle *e, enum kr_cond_test test, kr_value value)
{
	struct kr_history *h = e->forms.h;
	return kr_vec_add(h->mem, &h->conds,
		((struct kr_cond){.target = KR_COND_VALUE, .test = test, .value = value}));
}

/* The list comes when all values are known. */
static enum kr_status push_remainder(struct elle *e, int64_t modulus, int64_t rest)
{
	struct kr_history *h = e->forms.h;

	while (e->remainders.n > 0 && e->remainders.at[e->remainders.n - 1].cond >= h->conds.n)
		e->remainders.n--; /* taken back with its transaction */
	KR_TRY(kr_vec_add(h->mem, &e->remainders, ((struct elle_remainder){h->conds.n, modulus, rest})));
	return push_cond(e, KR_COND_IN, KR_ABSENT);
}

static enum kr_status push_predicate(struct elle *e, uint32_t form)
{
	struct kr_forms *f = &e->forms;
	const struct kr_form *nodes = f->nodes.at;
	uint32_t name = form + 1, parts[2], n = 0;
	kr_value value;

	if (kr_form_is(f, form, "true") || nodes[form].type == KR_FORM_TRUE)
		return KR_OK;
	if (nodes[form].type == KR_FORM_LIST && nodes[form].end > name)
		for (uint32_t at = nodes[name].end; at < nodes[form].end && n < 2; at = nodes[at].end)
			parts[n++] = at;
	bool ends = n > 0 && nodes[parts[n - 1]].end == nodes[form].end;
	if (ends && n == 1 && kr_form_is(f, name, "=")) {
		KR_TRY(kr_forms_value(f, parts[0], &value));
		return push_cond(e, KR_COND_EQ, value);
	}
	if (ends && n == 2 && kr_form_is(f, name, "mod") && nodes[parts[0]].type == KR_FORM_INT &&
		nodes[parts[1]].type == KR_FORM_INT && nodes[parts[0]].integer > 0)
		return push_remainder(e, nodes[parts[0]].integer, nodes[parts[1]].integer);
	return kr_forms_wrong(f, nodes[form].line, "the predicate is", form,
		":true, [:= value] or [:mod modulus remainder]");
}

static enum kr_status push_rows(struct elle *e, uint32_t map, struct kr_scan *scan)
{
	struct kr_forms *f = &e->forms;
	struct kr_row row;

	for (uint32_t at = map + 1; at < f->nodes.at[map].end; at = f->nodes.at[f->nodes.at[at].end].end) {
		KR_TRY(take_key(f, at, &row.key));
		KR_TRY(kr_forms_value(f, f->nodes.at[at].end, &row.value));
		if (row.value.i == KR_ABSENT.i)
			return kr_forms_bad(f, f->nodes.at[at].line,
				"a predicate read returned nil, expected the keys that are there");
		KR_TRY(kr_vec_add(f->h->mem, &f->h->rows, row));
	}
	scan->row_count = f->h->rows.n - scan->row_first;
	return KR_OK;
}

enum kr_status kr_elle_predicate_read(struct elle *e, uint32_t form, uint32_t predicate, uint32_t result,
	bool known)
{
	struct kr_forms *f = &e->forms;
	struct kr_history *h = f->h;
	struct kr_scan scan = {.limit = -1, .cond_first = h->conds.n, .row_first = h->rows.n};
	if (!known)
		return KR_OK; /* it says nothing */
	if (kr_form_type(f, result) != KR_FORM_MAP)
		return kr_forms_wrong(f, f->nodes.at[form].line, "a predicate read returned", result,
			"[:rp predicate {key value ...}]");
	KR_TRY(push_predicate(e, predicate));
	KR_TRY(push_rows(e, result, &scan));
	scan.cond_count = h->conds.n - scan.cond_first;
	return kr_foreign_scan(h, KR_OP_SCAN, &scan);
}

/* ---- remainders ---- */

static bool leaves(const struct kr_value_entry *value, const struct elle_remainder *r)
{
	if (value->type != KR_VALUE_INT)
		return false;
	int64_t rest = value->integer % r->modulus;
	return (rest < 0 ? rest + r->modulus : rest) == r->rest;
}

/* All integers of the file that leave the remainder, as an array. */
static enum kr_status list_remainder(struct elle *e, const struct elle_remainder *r, uint32_t values,
	kr_value *out)
{
	struct kr_history *h = e->forms.h;
	struct kr_str *text = &e->forms.value;
	enum kr_status status = KR_OK;

	text->n = 0;
	kr_str_add_bytes(text, "[", 1);
	for (uint32_t v = 0; v < values && !status; v++) {
		if (leaves(&h->values.at[v], r))
			kr_str_format(text, "%s%lld", text->n > 1 ? "," : "",
				(long long)h->values.at[v].integer);
		status = kr_ctx_tick(e->forms.ctx);
	}
	kr_str_add_bytes(text, "]", 1);
	if (status || text->failed)
		return status ? status : KR_NOMEM;
	*out = kr_history_text(h, KR_VALUE_ARRAY, text->at, text->n);
	return out->i == KR_NONE ? KR_NOMEM : KR_OK;
}

enum kr_status kr_elle_remainders(struct elle *e)
{
	struct kr_history *h = e->forms.h;
	uint32_t values = h->values.n;

	for (uint32_t i = 0; i < e->remainders.n; i++) {
		const struct elle_remainder *r = &e->remainders.at[i];
		kr_value list = {KR_NONE};
		if (r->cond >= h->conds.n)
			break;
		for (uint32_t k = i; k-- > 0 && list.i == KR_NONE;) /* there are few different ones */
			if (e->remainders.at[k].modulus == r->modulus && e->remainders.at[k].rest == r->rest)
				list = h->conds.at[e->remainders.at[k].cond].value;
		if (list.i == KR_NONE)
			KR_TRY(list_remainder(e, r, values, &list));
		h->conds.at[r->cond].value = list;
	}
	return KR_OK;
}
