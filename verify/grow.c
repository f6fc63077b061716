/* Collects, in one walk over the operations, what there is to know of keys that grow: the external
 * observations, with what their transactions had added to the key before; the version that each transaction
 * leaves of a counter; who appended or added which element.
 *
 * An observation is external as long as its transaction has not written the key, and once more where the key
 * is first shown after writes that only add to it: what was there before is what is shown without them. From
 * then on, and after a delete, the transaction knows what it has left. A counter's version is absolute after
 * a delete, and relative, an amount added, without. Where lost updates are forbidden a transaction saw the
 * version before its own, so that one which knows what it left has left that: an absolute version, too
 * (kr_facts.installs). Elements are numbered by their text; arrays are taken apart when asked for, each once.
 * Cost: linear in the operations; in the arrays that are asked for. */
#include "verify/grow.h"

#include <string.h>

#include "base/hash.h"
#include "base/order.h"
#include "verify/facts.h"

/* ---- elements ---- */

static enum kr_status number_of(struct kr_grow *g, struct kr_piece text, uint32_t *out)
{
	uint64_t hash = kr_hash_bytes(text.text, text.length);

	KR_TABLE_FIND(*out, &g->element_table, hash,
		g->elements.at[*out].length == text.length &&
			memcmp(g->elements.at[*out].text, text.text, text.length) == 0);
	if (*out != KR_NONE)
		return KR_OK;
	text.text = kr_arena_text(&g->texts, text.text, text.length);
	*out = g->elements.n;
	return text.text && kr_table_push(g->mem, &g->element_table, hash, &g->elements, text) ? KR_OK
											       : KR_NOMEM;
}

enum kr_status kr_grow_element(struct kr_grow *g, kr_value value, uint32_t *out)
{
	if (g->element_of[value.i]) {
		*out = g->element_of[value.i] - 1;
		return KR_OK;
	}
	g->scratch.n = 0;
	kr_history_json_value(g->h, value, &g->scratch);
	if (g->scratch.failed)
		return KR_NOMEM;
	KR_TRY(number_of(g, (struct kr_piece){kr_str_text(&g->scratch), g->scratch.n}, out));
	g->element_of[value.i] = *out + 1;
	return KR_OK;
}

/* A number, which a mark shows, stands for itself alone. */
static enum kr_status parse(struct kr_grow *g, kr_value value)
{
	const struct kr_value_entry *e = kr_history_value(g->h, value);
	struct kr_parsed parsed = {g->members.n, e->type == KR_VALUE_INT};
	struct kr_piece piece;
	uint32_t element;

	if (parsed.count) {
		KR_TRY(kr_grow_element(g, value, &element));
		KR_TRY(kr_vec_add(g->mem, &g->members, element));
	}
	for (size_t at = 1; e->type == KR_VALUE_ARRAY && kr_piece_next(e->text, e->length, &at, &piece);
		parsed.count++) {
		KR_TRY(number_of(g, piece, &element));
		KR_TRY(kr_vec_add(g->mem, &g->members, element));
	}
	KR_TRY(kr_vec_add(g->mem, &g->parsed, parsed));
	g->parsed_of[value.i] = g->parsed.n;
	return KR_OK;
}

enum kr_status kr_grow_array(struct kr_grow *g, kr_key k, kr_value value, const uint32_t **members,
	uint32_t *count)
{
	enum kr_value_type type = kr_history_value(g->h, value)->type;

	*count = KR_NONE;
	if (type != (kr_grow_is_mark(g, k) ? KR_VALUE_INT : KR_VALUE_ARRAY) && type != KR_VALUE_ABSENT)
		return KR_OK;
	if (!g->parsed_of[value.i])
		KR_TRY(parse(g, value));

	const struct kr_parsed *parsed = &g->parsed.at[g->parsed_of[value.i] - 1];

	*members = g->members.at + parsed->first;
	*count = parsed->count;
	return KR_OK;
}

static enum kr_status collect_initial(struct kr_grow *g, kr_key k)
{
	const uint32_t *members;
	uint32_t count, element;
	KR_TRY(kr_grow_array(g, k, g->h->keys.at[k.i].initial, &members, &count));

	for (kr_value v = {0}; v.i < g->h->values.n && count != KR_NONE && count > 0; v.i++) {
		bool initial = false;

		KR_TRY(kr_grow_element(g, v, &element));
		KR_TRY(kr_grow_array(g, k, g->h->keys.at[k.i].initial, &members, &count));
		for (uint32_t i = 0; i < count; i++)
			initial |= members[i] == element;
		if (initial)
			KR_TRY(kr_vec_add(g->mem, &g->initial_parts, v));
	}
	return KR_OK;
}

enum kr_status kr_grow_initial_parts(struct kr_grow *g, kr_key k)
{
	if (g->initial_key.i == k.i)
		return KR_OK;
	kr_vec_clear(&g->initial_parts);
	g->initial_key = k;
	return collect_initial(g, k);
}

/* ---- collecting ---- */

/* What the transaction being walked has done with a key. */
struct state {
	uint32_t txn;
	/* known: `amount` is the value (of a counter), or, with `absent`, there is none; else what was
	 * added */
	bool wrote, known;
	bool absent;
	uint32_t own_count;
	int64_t amount;
	struct kr_grow_version left; /* of a counter, whatever was shown */
};

struct collecting {
	struct kr_facts *f;
	struct kr_grow *g;
	struct kr_ctx *ctx;
	struct state *states; /* per key */
	KR_VEC(struct kr_grow_sight) sights;
};

static void give_up(struct collecting *c, kr_key k) { c->g->mode[k.i] = KR_GROW_UNKNOWN; }

static struct state *state_of(struct collecting *c, kr_key k, kr_txn t)
{
	struct state *s = &c->states[k.i];

	if (s->txn != t.i)
		*s = (struct state){.txn = t.i, .left.relative = true};
	return s;
}

bool kr_grow_integer(const struct kr_history *h, kr_value value, int64_t *out)
{
	const struct kr_value_entry *e = kr_history_value(h, value);

	*out = e->type == KR_VALUE_INT ? e->integer : 0;
	return e->type == KR_VALUE_INT;
}

/* Operation `index` shows k. */
static enum kr_status see(struct collecting *c, kr_txn t, uint32_t index, kr_key k, const struct kr_saw *saw)
{
	struct state *s = state_of(c, k, t);
	bool tells_presence =
		(saw->test == KR_SAW_VALUE && saw->value.i == KR_ABSENT.i) || saw->test == KR_SAW_MATCH;
	int64_t shown;

	if (saw->test == KR_SAW_NOTHING || (s->wrote && (s->known || tells_presence)))
		return KR_OK;
	KR_TRY(kr_vec_add(c->g->mem, &c->sights,
		(struct kr_grow_sight){t, k, index, s->own_count, s->amount}));
	if (!s->wrote || saw->test != KR_SAW_VALUE)
		return KR_OK;
	s->known = true;
	if (c->f->h->keys.at[k.i].kind != KR_KIND_COUNTER)
		return KR_OK;
	s->absent = !kr_grow_integer(c->f->h, saw->value, &shown);
	s->amount = shown;
	return KR_OK;
}

static enum kr_status push_add(struct collecting *c, kr_txn t, uint32_t index, const struct kr_operation *op)
{
	struct kr_grow *g = c->g;
	struct kr_grow_add add = {op->key, 0, t, index};
	KR_TRY(kr_grow_element(g, op->a, &add.element));
	return kr_table_push(g->mem, &g->add_table, kr_hash_pair(op->key.i, add.element), &g->adds, add)
		? KR_OK
		: KR_NOMEM;
}

static void count_inc(struct collecting *c, struct state *s, const struct kr_operation *op)
{
	const struct kr_history *h = c->f->h;
	int64_t delta, result;

	if (!kr_grow_integer(h, op->a, &delta) ||
		__builtin_add_overflow(s->left.amount, delta, &s->left.amount))
		give_up(c, op->key);
	s->left.absent = false;
	if (op->flags & KR_OPF_KNOWN) {
		s->known = true;
		s->absent = !kr_grow_integer(h, op->b, &result);
		s->amount = result;
		return;
	}
	s->absent = false;
	if (__builtin_add_overflow(s->amount, delta, &s->amount))
		give_up(c, op->key);
}

static void write(struct collecting *c, kr_txn t, const struct kr_operation *op, kr_key k)
{
	struct state *s = state_of(c, k, t);

	s->wrote = true;
	s->own_count++;
	switch ((enum kr_op_kind)op->kind) {
	case KR_OP_INC: count_inc(c, s, op); break;
	case KR_OP_APPEND:
	case KR_OP_ADD:
	case KR_OP_MAX: break;
	case KR_OP_DELETE:
		*s = (struct state){.txn = t.i,
			.wrote = true,
			.known = true,
			.absent = true,
			.left.absent = true};
		c->g->deleted[k.i] = true;
		break;
	default: give_up(c, k);
	}
}

static enum kr_status collect_op(struct collecting *c, kr_txn t, uint32_t index)
{
	const struct kr_history *h = c->f->h;
	const struct kr_operation *op = &h->ops.at[kr_history_op(h, t, index).i];
	uint32_t seen = kr_saw_count(h, op), effects = kr_effect_count(h, op);

	for (uint32_t i = 0; i < seen; i++) {
		kr_key k = kr_saw_key(h, op, i);
		struct kr_saw saw = kr_saw_at(h, op, i);

		if (kr_facts_grows(c->f, k))
			KR_TRY(see(c, t, index, k, &saw));
	}
	for (uint32_t i = 0; i < effects; i++) {
		kr_key k = kr_effect_at(h, op, i).key;

		if (kr_facts_grows(c->f, k))
			write(c, t, op, k);
	}
	return KR_OK;
}

/* What t leaves of a counter, at the end of its walk. */
static void keep_version(struct collecting *c, kr_txn t, kr_key k)
{
	const struct kr_fact_version *version = kr_facts_version(c->f, k, t);
	const struct state *s = &c->states[k.i];

	if (!version || s->txn != t.i || c->f->h->keys.at[k.i].kind != KR_KIND_COUNTER)
		return;
	struct kr_grow_version left =
		c->f->installs && s->known ? (struct kr_grow_version){false, s->absent, s->amount} : s->left;
	c->g->versions[version - c->f->versions] = left;
	if (left.relative && c->g->mode[k.i] == KR_GROW_VALUES)
		c->g->mode[k.i] = KR_GROW_SUM;
}

static enum kr_status collect_txn(struct collecting *c, kr_txn t)
{
	const struct kr_history *h = c->f->h;
	bool aborted = h->txns.at[t.i].status == KR_ABORTED;

	for (uint32_t i = 0; i < h->txns.at[t.i].op_count; i++) {
		const struct kr_operation *op = &h->ops.at[kr_history_op(h, t, i).i];

		if (op->kind == KR_OP_APPEND || op->kind == KR_OP_ADD || op->kind == KR_OP_MAX)
			KR_TRY(push_add(c, t, i, op));
		if (!aborted)
			KR_TRY(collect_op(c, t, i));
		KR_TRY(kr_ctx_tick(c->ctx));
	}
	for (uint32_t i = 0; i < h->txns.at[t.i].op_count && !aborted; i++) {
		const struct kr_operation *op = &h->ops.at[kr_history_op(h, t, i).i];
		if (op->kind == KR_OP_INC || op->kind == KR_OP_DELETE)
			keep_version(c, t, op->key);
	}
	return KR_OK;
}

static enum kr_status sort_sights(struct collecting *c)
{
	struct kr_grow *g = c->g;
	uint32_t nkeys = g->h->keys.n;

	KR_TRY(kr_arena_new(&g->arena, g->sight_first, (size_t)nkeys + 2));
	g->sight_count = c->sights.n;
	KR_TRY(kr_arena_new(&g->arena, g->sights, g->sight_count));
	for (uint32_t i = 0; i < c->sights.n; i++)
		g->sight_first[c->sights.at[i].key.i + 2]++;
	kr_index_places(g->sight_first, nkeys);
	for (uint32_t i = 0; i < c->sights.n; i++)
		g->sights[g->sight_first[c->sights.at[i].key.i + 1]++] = c->sights.at[i];
	return KR_OK;
}

static void set_modes(struct kr_grow *g)
{
	static const uint8_t modes[] = {[KR_KIND_ANY] = KR_GROW_NOT,
		[KR_KIND_REGISTER] = KR_GROW_NOT,
		[KR_KIND_COUNTER] = KR_GROW_VALUES,
		[KR_KIND_LIST] = KR_GROW_LIST,
		[KR_KIND_SET] = KR_GROW_SET,
		[KR_KIND_MARK] = KR_GROW_SET};

	for (uint32_t k = 0; k < g->h->keys.n; k++)
		g->mode[k] = modes[g->h->keys.at[k].kind];
}

static bool any_grows(const struct kr_facts *f)
{
	for (kr_key k = {0}; k.i < f->h->keys.n; k.i++)
		if (kr_facts_grows(f, k))
			return true;
	return false;
}

static enum kr_status collect(struct kr_facts *f, struct kr_ctx *ctx)
{
	struct kr_grow *g = f->grow;
	uint32_t nkeys = f->h->keys.n;
	struct collecting c = {f, g, ctx, kr_mem_alloc(g->mem, nkeys, sizeof *c.states), {0}};
	enum kr_status status = c.states ? KR_OK : KR_NOMEM;

	for (uint32_t k = 0; k < nkeys && status == KR_OK; k++)
		c.states[k].txn = KR_NONE;
	for (kr_txn t = {0}; t.i < f->h->txns.n && status == KR_OK; t.i++)
		status = collect_txn(&c, t);
	if (status == KR_OK)
		status = sort_sights(&c);
	kr_mem_free(g->mem, c.states, nkeys, sizeof *c.states);
	kr_vec_done(g->mem, &c.sights);
	return status;
}

enum kr_status kr_grow_init(struct kr_facts *f, struct kr_ctx *ctx)
{
	uint32_t nkeys = f->h->keys.n, nvalues = f->h->values.n;
	struct kr_grow *g;

	if (!any_grows(f))
		return KR_OK;
	f->grow = g = kr_mem_alloc(f->mem, 1, sizeof *g);
	if (!g)
		return KR_NOMEM;
	*g = (struct kr_grow){.arena = {.mem = f->mem},
		.mem = f->mem,
		.h = f->h,
		.count = f->count,
		.initial_key = {KR_NONE}};
	kr_arena_init(&g->texts, g->mem);
	kr_str_init(&g->scratch, g->mem);
	KR_TRY(kr_arena_new(&g->arena, g->mode, nkeys));
	KR_TRY(kr_arena_new(&g->arena, g->versions, f->count));
	KR_TRY(kr_arena_new(&g->arena, g->parsed_of, nvalues));
	KR_TRY(kr_arena_new(&g->arena, g->element_of, nvalues));
	KR_TRY(kr_arena_new(&g->arena, g->rank, f->count));
	KR_TRY(kr_arena_new(&g->arena, g->ranked, nkeys));
	KR_TRY(kr_arena_new(&g->arena, g->longest, nkeys));
	KR_TRY(kr_arena_new(&g->arena, g->deleted, nkeys));
	set_modes(g);
	return collect(f, ctx);
}

void kr_grow_done(struct kr_facts *f)
{
	struct kr_grow *g = f->grow;

	if (!g)
		return;
	kr_arena_done(&g->arena);
	kr_vec_done(g->mem, &g->elements);
	kr_vec_done(g->mem, &g->adds);
	kr_vec_done(g->mem, &g->members);
	kr_vec_done(g->mem, &g->parsed);
	kr_vec_done(g->mem, &g->initial_parts);
	kr_table_done(g->mem, &g->element_table);
	kr_table_done(g->mem, &g->add_table);
	kr_arena_done(&g->texts);
	kr_str_done(&g->scratch);
	kr_mem_free(g->mem, g, 1, sizeof *g);
	f->grow = NULL;
}
