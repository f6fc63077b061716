/* Initial values that the trace does not tell, above all of sets and counters. Any would do that fit what was
 * seen, so a certificate of a satisfied level is replayed twice: first with such keys agreeing to everything,
 * which tells what they must have been before anybody wrote them, then with that as their initial value. Of a
 * set these are the elements shown that nobody had added before; of a counter what it was shown to be, or
 * absent where 0 was read, which does not tell; of a mark what it was shown to be above all that it was
 * raised to; of a register what the first operation fixed, for predicate reads before that one. What a guess
 * does not fit is not judged. Cost: a second replay, only where the trace does not tell initial values. */
#include "frontend/history_written.h"
#include "verify/store.h"

void kr_learned_init(struct kr_learned *l, struct kr_mem *mem)
{
	*l = (struct kr_learned){.mem = mem, .learning = true};
	kr_arena_init(&l->texts, mem);
}

void kr_learned_done(struct kr_learned *l)
{
	kr_vec_done(l->mem, &l->facts);
	kr_vec_done(l->mem, &l->added);
	kr_arena_done(&l->texts);
}

bool kr_learned_grows(const struct kr_history *h, kr_key k)
{
	uint8_t kind = h->keys.at[k.i].kind;

	return kr_history_untold(h) &&
		(kind == KR_KIND_SET || kind == KR_KIND_COUNTER || kind == KR_KIND_MARK);
}

bool kr_learned_settles(const struct kr_learned *l, const struct kr_history *h, kr_key k)
{
	bool settled = !kr_learned_grows(h, k);

	for (uint32_t i = 0; i < l->facts.n && !settled; i++)
		settled = l->facts.at[i].key.i == k.i &&
			(l->facts.at[i].what == KR_LEARNED_NUMBER ||
				l->facts.at[i].what == KR_LEARNED_ABSENT);
	return settled;
}

static enum kr_status learn(struct kr_learned *l, struct kr_learned_fact fact)
{
	return kr_vec_add(l->mem, &l->facts, fact);
}

static enum kr_status learn_element(struct kr_learned *l, kr_key k, struct kr_piece element)
{
	struct kr_learned_fact fact = {.key = k,
		.what = KR_LEARNED_ELEMENT,
		.element = {kr_arena_text(&l->texts, element.text, element.length), element.length}};

	return fact.element.text ? learn(l, fact) : KR_NOMEM;
}

enum kr_status kr_learned_register(struct kr_learned *l, kr_key k, kr_value value)
{
	return learn(l, (struct kr_learned_fact){.key = k, .what = KR_LEARNED_VALUE, .value = value});
}

static bool begin_sum(struct kr_learned *l, kr_key k)
{
	while (l->added.n <= k.i)
		if (!kr_vec_push(l->mem, &l->added, (struct kr_learned_sum){0}))
			return false;
	return true;
}

enum kr_status kr_learned_raise(struct kr_learned *l, kr_key k, int64_t number)
{
	struct kr_learned_sum *most = begin_sum(l, k) ? &l->added.at[k.i] : NULL;

	if (!most)
		return KR_NOMEM;
	if (!most->any || most->sum < number)
		*most = (struct kr_learned_sum){number, true};
	return KR_OK;
}

enum kr_status kr_learned_add(struct kr_learned *l, kr_key k, int64_t amount)
{
	if (!begin_sum(l, k))
		return KR_NOMEM;
	l->added.at[k.i].any = true;
	return __builtin_add_overflow(l->added.at[k.i].sum, amount, &l->added.at[k.i].sum) ? KR_UNSUPPORTED
											   : KR_OK;
}

struct kr_learned_sum kr_learned_added(const struct kr_learned *l, kr_key k)
{
	return l && k.i < l->added.n ? l->added.at[k.i] : (struct kr_learned_sum){0};
}

void kr_learned_take_back(struct kr_learned *l, kr_key k, struct kr_learned_sum added)
{
	if (l && k.i < l->added.n)
		l->added.at[k.i] = added;
}

enum kr_status kr_learned_zero(struct kr_learned *l, kr_key k)
{
	if (kr_learned_added(l, k).sum != 0)
		return kr_learned_number(l, k, 0);
	return learn(l, (struct kr_learned_fact){.key = k, .what = KR_LEARNED_ZERO});
}

enum kr_status kr_learned_number(struct kr_learned *l, kr_key k, int64_t number)
{
	struct kr_learned_sum added = kr_learned_added(l, k);
	struct kr_learned_fact fact = {.key = k, .what = KR_LEARNED_NUMBER};

	if (__builtin_sub_overflow(number, added.sum, &fact.number))
		return KR_UNSUPPORTED;
	if (added.any && fact.number == 0) /* or it was absent, to which increments add as to 0 */
		fact.what = KR_LEARNED_ZERO;
	return learn(l, fact);
}

/* Elements of an array that the store does not have, however it came by them. */
static enum kr_status learn_array(struct kr_store *s, kr_key k, const struct kr_value_entry *e)
{
	struct kr_piece piece;
	bool there = false;

	for (size_t at = 1; kr_piece_next(e->text, e->length, &at, &piece);) {
		if (s->cells[k.i].kind == KR_CELL_SET)
			there = kr_store_has(s, k, piece);
		if (!there)
			KR_TRY(learn_element(s->learned, k, piece));
	}
	return KR_OK;
}

/* A mark that is above what it was raised to was there at first. */
static enum kr_status learn_mark(struct kr_store *s, kr_key k, kr_value value)
{
	struct kr_learned_sum most = kr_learned_added(s->learned, k);
	struct kr_learned_fact fact = {.key = k,
		.what = KR_LEARNED_NUMBER,
		.number = kr_history_value(s->h, value)->integer};

	return (most.any && fact.number <= most.sum) || !kr_history_may_start(s->h, k, value)
		? KR_OK
		: learn(s->learned, fact);
}

enum kr_status kr_learned_value(struct kr_store *s, kr_key k, kr_value value)
{
	const struct kr_value_entry *e = kr_history_value(s->h, value);

	if (s->h->keys.at[k.i].kind == KR_KIND_SET)
		return e->type == KR_VALUE_ARRAY ? learn_array(s, k, e) : KR_OK;
	if (e->type == KR_VALUE_INT && s->h->keys.at[k.i].kind == KR_KIND_MARK)
		return learn_mark(s, k, value);
	if (e->type == KR_VALUE_INT)
		return kr_learned_number(s->learned, k, e->integer);
	return learn(s->learned, (struct kr_learned_fact){.key = k, .what = KR_LEARNED_ABSENT});
}

enum kr_status kr_learned_other(struct kr_store *s, kr_key k)
{
	bool there = kr_learned_added(s->learned, k).any ||
		(s->cells[k.i].kind == KR_CELL_SET && !kr_store_is_absent(s, k));

	return there ? KR_OK
		     : learn(s->learned, (struct kr_learned_fact){.key = k, .what = KR_LEARNED_PRESENT});
}

/* ---- the second replay ---- */

/* An element that nobody shows: of a set of which nothing is told but that it was there. */
static const struct kr_piece some_element = {"", 0};

static enum kr_status start_key(struct kr_store *s, kr_key k, const struct kr_learned_fact *fact)
{
	bool set = s->h->keys.at[k.i].kind == KR_KIND_SET, empty = kr_store_is_absent(s, k);
	bool number = s->cells[k.i].kind == KR_CELL_INT, mark = s->h->keys.at[k.i].kind == KR_KIND_MARK;

	switch (fact->what) {
	case KR_LEARNED_VALUE: kr_store_write(s, k, fact->value); return KR_OK;
	case KR_LEARNED_ELEMENT:
		return kr_history_may_start_with(s->h, k, fact->element)
			? kr_store_put_element(s, k, fact->element)
			: KR_OK;
	case KR_LEARNED_PRESENT:
		if (set)
			return empty ? kr_store_put_element(s, k, some_element) : KR_OK;
		if (!number) /* of a mark one that is below all others */
			kr_store_put(s, k, (struct kr_cell){KR_CELL_INT, .integer = mark ? INT64_MIN : 0});
		return KR_OK;
	case KR_LEARNED_NUMBER:
		if (!number)
			kr_store_put(s, k, (struct kr_cell){KR_CELL_INT, .integer = fact->number});
		return KR_OK;
	case KR_LEARNED_ABSENT:
	case KR_LEARNED_ZERO: break;
	}
	return KR_OK;
}

enum kr_status kr_learned_start(struct kr_store *s)
{
	/* Presence last: it needs an element of its own only where nothing else is told. */
	static const struct {
		enum kr_learned_kind least, most;
	} rounds[] = {{KR_LEARNED_VALUE, KR_LEARNED_NUMBER}, {KR_LEARNED_PRESENT, KR_LEARNED_PRESENT}};
	const struct kr_learned *l = s->learned;

	for (kr_key k = {0}; k.i < s->h->keys.n; k.i++)
		if (kr_learned_grows(s->h, k))
			kr_store_write(s, k, KR_ABSENT);
	for (size_t round = 0; round < KR_COUNT(rounds); round++)
		for (uint32_t i = 0; i < l->facts.n; i++)
			if (l->facts.at[i].what >= rounds[round].least &&
				l->facts.at[i].what <= rounds[round].most)
				KR_TRY(start_key(s, l->facts.at[i].key, &l->facts.at[i]));
	return KR_OK;
}
