/* Values are interned, so a register is an id. A list that grows is its own JSON text, so that an append adds
 * to the end and a read compares texts; sets are in store_sets.c. Counters are numbers, since their values
 * need not occur in the trace. An untold initial value is fixed by the first operation that tells it; until
 * then the values that it was seen not to have are kept. For predicate reads the keys are sorted once and the
 * present ones are bits by rank. Cost: linear in what operations write and return, plus a 64th of the keys in
 * reach per predicate read. */
#include "verify/store.h"

#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "base/order.h"
#include "frontend/history_written.h"
#include "frontend/where.h"
#include "verify/saw.h"

/* ---- keys in order ---- */

static bool sort_all(struct kr_store *s)
{
	uint32_t n = s->h->keys.n;

	s->ranks = kr_mem_alloc(s->mem, n, sizeof *s->ranks);
	s->present = kr_mem_alloc(s->mem, KR_BITS_WORDS(n), sizeof *s->present);

	bool ready = s->ranks && s->present && kr_keys_by_name(s->h, &s->texts, &s->by_rank) == KR_OK;

	for (uint32_t i = 0; i < n && ready; i++)
		s->ranks[s->by_rank[i].i] = i;
	return ready;
}

/* First rank whose key is at or behind the bound. */
static uint32_t rank_of_bound(const struct kr_store *s, kr_value bound)
{
	uint32_t at;

	KR_BISECT(at, 0, s->h->keys.n,
		kr_history_compare_keys(s->h, s->h->keys.at[s->by_rank[at].i].name, bound) < 0);
	return at;
}

void kr_store_bounds(const struct kr_store *s, kr_value from, kr_value to, uint32_t *low, uint32_t *high)
{
	*low = from.i == KR_ABSENT.i ? 0 : rank_of_bound(s, from);
	*high = to.i == KR_ABSENT.i ? s->h->keys.n : rank_of_bound(s, to);
	if (*high < *low)
		*high = *low;
}

uint32_t kr_store_next(const struct kr_store *s, uint32_t low, uint32_t high, bool reverse)
{
	while (low < high) {
		uint32_t at = reverse ? high - 1 : low;
		uint64_t word = s->present[at >> 6];

		/* The bits of this word that lie within [low, high). */
		if (low >> 6 == at >> 6)
			word &= UINT64_MAX << (low & 63);
		if ((high - 1) >> 6 == at >> 6)
			word &= UINT64_MAX >> (63 - ((high - 1) & 63));
		if (word)
			return (at & ~63u) +
				(uint32_t)(reverse ? 63 - __builtin_clzll(word) : __builtin_ctzll(word));
		if (reverse)
			high = at & ~63u;
		else
			low = (at | 63) + 1;
	}
	return KR_NONE;
}

/* ---- life ---- */

enum kr_status kr_store_init(struct kr_store *s, struct kr_ctx *ctx, const struct kr_history *h, bool ordered)
{
	*s = (struct kr_store){.mem = &ctx->mem, .h = h};
	kr_arena_init(&s->texts, s->mem);
	kr_str_init(&s->scratch, s->mem);
	s->cells = kr_mem_alloc(s->mem, h->keys.n, sizeof *s->cells);
	if (!s->cells || (ordered && !sort_all(s))) {
		kr_store_done(s);
		return KR_NOMEM;
	}
	for (kr_key k = {0}; k.i < h->keys.n; k.i++) {
		if (kr_history_untold(h))
			kr_store_put(s, k, (struct kr_cell){KR_CELL_UNTOLD, .index = KR_NONE});
		else
			kr_store_write(s, k, h->keys.at[k.i].initial);
	}
	return KR_OK;
}

void kr_store_done(struct kr_store *s)
{
	uint32_t n = s->h->keys.n;

	for (uint32_t i = 0; i < s->lists.n; i++)
		kr_vec_done(s->mem, &s->lists.at[i]);
	kr_vec_done(s->mem, &s->lists);
	kr_vec_done(s->mem, &s->excluded);
	kr_vec_done(s->mem, &s->set_sizes);
	kr_vec_done(s->mem, &s->set_open);
	kr_vec_done(s->mem, &s->elements);
	kr_vec_done(s->mem, &s->members);
	kr_vec_done(s->mem, &s->touched);
	kr_table_done(s->mem, &s->element_table);
	kr_table_done(s->mem, &s->member_table);
	kr_arena_done(&s->texts);
	kr_str_done(&s->scratch);
	kr_mem_free(s->mem, s->cells, n, sizeof *s->cells);
	kr_mem_free(s->mem, s->ranks, n, sizeof *s->ranks);
	kr_mem_free(s->mem, s->present, KR_BITS_WORDS(n), sizeof *s->present);
}

/* Lists and sets do not tell empty from absent. */
static bool absent_cell(const struct kr_store *s, kr_key k, const struct kr_cell *cell)
{
	uint8_t kind = s->h->keys.at[k.i].kind;

	if (cell->kind == KR_CELL_SET)
		return s->set_sizes.at[cell->index] == 0;
	if (cell->kind != KR_CELL_VALUE)
		return false;
	return cell->value.i == KR_ABSENT.i ||
		((kind == KR_KIND_LIST || kind == KR_KIND_SET) && kr_saw_nothing_in(s->h, cell->value));
}

bool kr_store_is_absent(const struct kr_store *s, kr_key k) { return absent_cell(s, k, &s->cells[k.i]); }

void kr_store_put(struct kr_store *s, kr_key k, struct kr_cell cell)
{
	s->cells[k.i] = cell;
	if (!s->present)
		return;
	if (absent_cell(s, k, &cell))
		kr_bits_clear(s->present, s->ranks[k.i]);
	else
		kr_bits_set(s->present, s->ranks[k.i]);
}

/* ---- undoing ---- */

enum kr_status kr_store_touch(struct kr_store *s, kr_key k)
{
	struct kr_touched touched = {k, s->cells[k.i], 0, s->members.n, kr_learned_added(s->learned, k)};

	if (touched.cell.kind == KR_CELL_LIST)
		touched.size = s->lists.at[touched.cell.index].n;
	if (touched.cell.kind == KR_CELL_SET)
		touched.size = s->set_sizes.at[touched.cell.index];
	return kr_vec_add(s->mem, &s->touched, touched);
}

void kr_store_undo(struct kr_store *s)
{
	uint32_t members = s->members.n;

	while (s->touched.n > 0) {
		struct kr_touched touched = kr_vec_pop(&s->touched);

		if (touched.cell.kind == KR_CELL_LIST)
			s->lists.at[touched.cell.index].n = touched.size;
		if (touched.cell.kind == KR_CELL_SET) {
			for (uint32_t i = touched.members; i < members; i++)
				if (s->members.at[i].set == touched.cell.index)
					s->members.at[i].set = KR_NONE;
			s->set_sizes.at[touched.cell.index] = touched.size;
		}
		kr_learned_take_back(s->learned, touched.key, touched.added);
		kr_store_put(s, touched.key, touched.cell);
	}
}

/* ---- reading ---- */

/* Whether a key that holds what the trace tells has this value. Lists and sets do not tell empty from
 * absent. */
static bool cell_equals(struct kr_store *s, kr_key k, kr_value value)
{
	const struct kr_cell *cell = &s->cells[k.i];
	const struct kr_value_entry *e = kr_history_value(s->h, value);
	uint8_t kind = s->h->keys.at[k.i].kind;

	switch (cell->kind) {
	case KR_CELL_VALUE:
		if (cell->value.i == value.i)
			return true;
		return (kind == KR_KIND_LIST || kind == KR_KIND_SET) && absent_cell(s, k, cell) &&
			(value.i == KR_ABSENT.i || kr_saw_nothing_in(s->h, value));
	case KR_CELL_INT: return e->type == KR_VALUE_INT && e->integer == cell->integer;
	case KR_CELL_LIST: {
		const struct kr_list *list = &s->lists.at[cell->index];
		return e->type == KR_VALUE_ARRAY && e->length == list->n + 1 &&
			memcmp(e->text, list->at, list->n) == 0;
	}
	case KR_CELL_SET:
		if (e->type == KR_VALUE_ABSENT)
			return s->set_sizes.at[cell->index] == 0;
		return e->type == KR_VALUE_ARRAY &&
			kr_store_set_equals(s, cell->index, (struct kr_piece){e->text, e->length});
	case KR_CELL_UNTOLD: break;
	}
	return false;
}

/* Of lists and sets, empty is absent. */
static bool is_same(const struct kr_history *h, kr_key k, kr_value a, kr_value b)
{
	bool array = h->keys.at[k.i].kind == KR_KIND_LIST || h->keys.at[k.i].kind == KR_KIND_SET;
	bool none = (a.i == KR_ABSENT.i || kr_saw_nothing_in(h, a)) &&
		(b.i == KR_ABSENT.i || kr_saw_nothing_in(h, b));

	return a.i == b.i || (array && none);
}

enum kr_status kr_store_is(struct kr_store *s, kr_key k, kr_value value, bool *out)
{
	struct kr_cell *cell = &s->cells[k.i];

	if (kr_store_learns(s, k)) {
		*out = true;
		return kr_learned_value(s, k, value);
	}
	if (cell->kind == KR_CELL_VALUE && cell->value.i != value.i && cell->value.i != KR_ABSENT.i &&
		kr_store_open_set(s, k) != KR_OK)
		return KR_NOMEM;
	if (cell->kind != KR_CELL_UNTOLD) {
		*out = cell_equals(s, k, value);
		return KR_OK;
	}
	*out = kr_history_may_start(s->h, k, value);
	for (uint32_t i = cell->index; i != KR_NONE; i = s->excluded.at[i].next)
		*out &= !is_same(s->h, k, s->excluded.at[i].value, value);
	if (!*out)
		return KR_OK;
	kr_store_write(s, k, value);
	return s->learned && s->learned->learning ? kr_learned_register(s->learned, k, value) : KR_OK;
}

enum kr_status kr_store_is_not(struct kr_store *s, kr_key k, kr_value value, bool *out)
{
	struct kr_cell *cell = &s->cells[k.i];
	bool equal;

	if (kr_store_learns(s, k)) {
		*out = true;
		return kr_learned_other(s, k);
	}
	if (cell->kind == KR_CELL_UNTOLD) {
		KR_TRY(kr_vec_add(s->mem, &s->excluded, (struct kr_excluded){value, cell->index}));
		cell->index = s->excluded.n - 1;
		*out = true;
		return KR_OK;
	}
	KR_TRY(kr_store_is(s, k, value, &equal));
	*out = !equal;
	return KR_OK;
}

void kr_store_describe(const struct kr_store *s, kr_key k, char *out, size_t size)
{
	const struct kr_cell *cell = &s->cells[k.i];

	switch (cell->kind) {
	case KR_CELL_UNTOLD: (void)snprintf(out, size, "its initial value"); break;
	case KR_CELL_VALUE: kr_history_brief(s->h, cell->value, out, size); break;
	case KR_CELL_INT: (void)snprintf(out, size, "%lld", (long long)cell->integer); break;
	case KR_CELL_LIST: {
		const struct kr_list *list = &s->lists.at[cell->index];
		int shown = list->n < size - 8 ? (int)list->n : (int)size - 8;
		(void)snprintf(out, size, "%.*s%s]", shown, list->at, (uint32_t)shown < list->n ? "..." : "");
		break;
	}
	case KR_CELL_SET:
		(void)snprintf(out, size, "a set of %u", (unsigned)s->set_sizes.at[cell->index]);
		break;
	}
}

/* ---- growing ---- */

enum kr_status kr_store_cannot_grow(const struct kr_store *s, kr_key k, const char *expected,
	struct kr_err *err)
{
	char name[64], holds[64];

	kr_history_brief(s->h, s->h->keys.at[k.i].name, name, sizeof name);
	if (s->cells[k.i].kind == KR_CELL_UNTOLD)
		return kr_err_set(err, KR_UNSUPPORTED,
			"the initial value of %s, which is not a register, is not told", name);
	kr_store_describe(s, k, holds, sizeof holds);
	return kr_err_set(err, KR_BAD, "%s is %s there, expected a %s", name, holds, expected);
}

/* The JSON text of a value, valid until the next call. */
enum kr_status kr_store_text_of(struct kr_store *s, kr_value value, struct kr_piece *out)
{
	s->scratch.n = 0;
	kr_history_json_value(s->h, value, &s->scratch);
	*out = (struct kr_piece){kr_str_text(&s->scratch), s->scratch.n};
	return s->scratch.failed ? KR_NOMEM : KR_OK;
}

/* Whether the set's elements are those of one of the arrays in `arrays`. */
static bool set_among(struct kr_store *s, uint32_t set, struct kr_piece arrays)
{
	struct kr_piece piece;

	for (size_t at = 1; kr_piece_next(arrays.text, arrays.length, &at, &piece);)
		if (kr_operand_of_piece(piece).type == KR_VALUE_ARRAY && kr_store_set_equals(s, set, piece))
			return true;
	return false;
}

/* Whether the i-th condition holds of a set, whose elements have no order. */
static bool set_meets(struct kr_store *s, const struct kr_scan *scan, uint32_t i, kr_key k)
{
	const struct kr_cond *cond = &s->h->conds.at[scan->cond_first + i];
	const struct kr_scan alone = {.cond_first = scan->cond_first + i, .cond_count = 1};
	struct kr_operand value = kr_operand_of_value(s->h, cond->value),
			  any = {.type = KR_VALUE_ARRAY, .text = {"[]", 2}};
	uint32_t set = s->cells[k.i].index;

	if (!kr_where_of_elements(s->h, &alone))
		return kr_where_holds_of(s->h, &alone, k, &any);
	return cond->test == KR_COND_IN
		? set_among(s, set, value.text)
		: kr_store_set_equals(s, set, value.text) == (cond->test == KR_COND_EQ);
}

static enum kr_status set_matches(struct kr_store *s, const struct kr_scan *scan, kr_key k, bool *out)
{
	enum kr_status status = kr_store_open_set(s, k);

	*out = status == KR_OK && s->cells[k.i].kind == KR_CELL_SET;
	for (uint32_t i = 0; i < scan->cond_count && *out; i++)
		*out = set_meets(s, scan, i, k);
	return status;
}

enum kr_status kr_store_matches(struct kr_store *s, const struct kr_scan *scan, kr_key k, bool *out,
	struct kr_err *err)
{
	const struct kr_cell *cell = &s->cells[k.i];
	struct kr_operand operand = {.type = KR_VALUE_INT,
		.integer = cell->kind == KR_CELL_INT ? cell->integer : 0};

	if (cell->kind == KR_CELL_UNTOLD)
		return kr_where_holds(s->h, scan, k, (kr_value){KR_NONE}, out, err);
	if (s->h->keys.at[k.i].kind == KR_KIND_SET)
		return set_matches(s, scan, k, out);
	if (cell->kind == KR_CELL_VALUE)
		return kr_where_holds(s->h, scan, k, cell->value, out, err);
	if (cell->kind == KR_CELL_LIST) {
		const struct kr_list *list = &s->lists.at[cell->index];

		s->scratch.n = 0;
		kr_str_add_bytes(&s->scratch, list->at, list->n);
		kr_str_add(&s->scratch, "]");
		if (s->scratch.failed)
			return KR_NOMEM;
		operand = (struct kr_operand){.type = KR_VALUE_ARRAY,
			.text = {kr_str_text(&s->scratch), s->scratch.n}};
	}
	*out = kr_where_holds_of(s->h, scan, k, &operand);
	return KR_OK;
}

static enum kr_status list_push(struct kr_store *s, struct kr_list *list, struct kr_piece text)
{
	if (text.length > UINT32_MAX || !kr_vec_reserve(s->mem, list, text.length))
		return KR_NOMEM;
	if (text.length)
		memcpy(list->at + list->n, text.text, text.length);
	list->n += (uint32_t)text.length;
	return KR_OK;
}

/* Turns the key's value into a list that can grow. */
static enum kr_status open_list(struct kr_store *s, kr_key k, struct kr_err *err)
{
	struct kr_cell *cell = &s->cells[k.i];
	const struct kr_value_entry *e =
		cell->kind == KR_CELL_VALUE ? kr_history_value(s->h, cell->value) : NULL;
	struct kr_piece text = {"[", 1};

	if (cell->kind == KR_CELL_LIST)
		return KR_OK;
	if (!e || (e->type != KR_VALUE_ABSENT && e->type != KR_VALUE_ARRAY))
		return kr_store_cannot_grow(s, k, "list", err);
	if (e->type == KR_VALUE_ARRAY)
		text = (struct kr_piece){e->text, e->length - 1};
	if (!kr_vec_push(s->mem, &s->lists, (struct kr_list){0}) ||
		list_push(s, &s->lists.at[s->lists.n - 1], text) != KR_OK)
		return KR_NOMEM;
	kr_store_put(s, k, (struct kr_cell){KR_CELL_LIST, .index = s->lists.n - 1});
	return KR_OK;
}

enum kr_status kr_store_append(struct kr_store *s, kr_key k, kr_value element, struct kr_err *err)
{
	KR_TRY(open_list(s, k, err));
	struct kr_piece text;

	KR_TRY(kr_store_text_of(s, element, &text));

	struct kr_list *list = &s->lists.at[s->cells[k.i].index];

	if (list->n > 1)
		KR_TRY(list_push(s, list, (struct kr_piece){",", 1}));
	return list_push(s, list, text);
}

enum kr_status kr_store_count(const struct kr_store *s, kr_key k, int64_t *out, struct kr_err *err)
{
	const struct kr_cell *cell = &s->cells[k.i];
	const struct kr_value_entry *e =
		cell->kind == KR_CELL_VALUE ? kr_history_value(s->h, cell->value) : NULL;

	if (cell->kind == KR_CELL_INT)
		*out = cell->integer;
	else if (e && e->type == KR_VALUE_ABSENT)
		*out = 0;
	else if (e && e->type == KR_VALUE_INT)
		*out = e->integer;
	else
		return kr_store_cannot_grow(s, k, "number", err);
	return KR_OK;
}

enum kr_status kr_store_raise(struct kr_store *s, kr_key k, kr_value number, struct kr_err *err)
{
	int64_t raised = kr_history_value(s->h, number)->integer, there = raised;
	KR_TRY(kr_store_is_absent(s, k) ? KR_OK : kr_store_count(s, k, &there, err));

	kr_store_put(s, k, (struct kr_cell){KR_CELL_INT, .integer = there > raised ? there : raised});
	return KR_OK;
}
