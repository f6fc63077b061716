/* Operations of generated histories, one function per kind of operation in a table with its share.
 *
 * Each runs on what its client sees of the store and records what it was told. An operation of one kind of
 * key goes to a key of that kind near the one drawn. What an increment or delete did may stay untold; a
 * client whose results will all be lost does plain reads and writes instead of operations that make no sense
 * without a result. */
#include "frontend/generate_sim.h"

#include <stdio.h>

/* deltas are 1 .. 10, one in eight below zero; tags of objects 0 .. 2 */
enum { DELTAS = 10, NEGATIVE = 8, MOST_TAGS = 3 };

static bool chance(struct kr_sim *s, uint32_t percent)
{
	return percent > 0 && kr_rng_below(&s->rng, 100) < percent;
}

uint32_t kr_sim_number(struct kr_sim *s, kr_key key)
{
	return s->options->values == 0 ? ++s->keys[key.i].handed
				       : 1 + (uint32_t)kr_rng_below(&s->rng, s->options->values);
}

/* The next value of a register or element of a list or set. */
static kr_value next_value(struct kr_sim *s, kr_key key)
{
	uint32_t number = kr_sim_number(s, key);
	char text[64];

	if (!s->keys[key.i].fields)
		return kr_history_int(s->h, number);

	int n = snprintf(text, sizeof text, "{\"n\":%u,\"tag\":%u}", number, number % MOST_TAGS);

	return kr_history_text(s->h, KR_VALUE_OBJECT, text, (size_t)n);
}

/* ---- one function per kind ---- */

static enum kr_status run_read(struct kr_sim *s, struct kr_sim_client *c, struct kr_sim_touch *t,
	struct kr_operation *op)
{
	kr_value seen;

	if (c->blank)
		return KR_OK;
	op->flags = KR_OPF_KNOWN;
	KR_TRY(kr_sim_see(s, c, t, &seen));
	op->a = seen;
	return KR_OK;
}

static enum kr_status run_write(struct kr_sim *s, struct kr_sim_client *c, struct kr_sim_touch *t,
	struct kr_operation *op)
{
	(void)c;
	op->a = next_value(s, t->key);
	kr_sim_put(t, op->a);
	return op->a.i == KR_NONE ? KR_NOMEM : KR_OK;
}

/* Whether a list or set has elements, or another key is there. */
static bool is_there(const struct kr_sim *s, kr_value seen)
{
	const struct kr_value_entry *entry = kr_history_value(s->h, seen);

	return seen.i != KR_ABSENT.i && !(entry->type == KR_VALUE_ARRAY && entry->length == 2);
}

/* Does what the operation does, or not, as it finds the key. */
static enum kr_status attempt(const struct kr_sim *s, struct kr_sim_touch *t, struct kr_operation *op,
	kr_value seen)
{
	struct kr_write write;

	op->flags |= KR_OPF_DONE;

	struct kr_view view = kr_op_view(op);
	bool is = view.value.i == KR_ABSENT.i ? !is_there(s, seen) : view.value.i == seen.i;

	if (is == view.other)
		op->flags &= (unsigned)~KR_OPF_DONE & 15;
	if (kr_write_at(s->h, op, 0, &write))
		kr_sim_put(t, write.value);
	return KR_OK;
}

static enum kr_status run_delete(struct kr_sim *s, struct kr_sim_client *c, struct kr_sim_touch *t,
	struct kr_operation *op)
{
	kr_value seen;

	if (c->blank || chance(s, s->options->untold)) {
		kr_sim_put(t, KR_ABSENT);
		return KR_OK;
	}
	op->flags = KR_OPF_KNOWN;
	return kr_sim_see(s, c, t, &seen) == KR_OK ? attempt(s, t, op, seen) : KR_NOMEM;
}

static enum kr_status run_insert(struct kr_sim *s, struct kr_sim_client *c, struct kr_sim_touch *t,
	struct kr_operation *op)
{
	kr_value seen;

	op->a = next_value(s, t->key);
	return op->a.i != KR_NONE && kr_sim_see(s, c, t, &seen) == KR_OK ? attempt(s, t, op, seen) : KR_NOMEM;
}

/* Half of them expect what is there. */
static enum kr_status run_cas(struct kr_sim *s, struct kr_sim_client *c, struct kr_sim_touch *t,
	struct kr_operation *op)
{
	uint32_t most = s->options->values != 0 ? s->options->values : s->keys[t->key.i].handed;
	kr_value seen;

	if (kr_sim_see(s, c, t, &seen) != KR_OK)
		return KR_NOMEM;
	op->a = chance(s, 50) ? seen
			      : kr_history_int(s->h, (int64_t)kr_rng_below(&s->rng, (uint64_t)most + 1));
	op->b = next_value(s, t->key);
	return op->a.i != KR_NONE && op->b.i != KR_NONE ? attempt(s, t, op, seen) : KR_NOMEM;
}

static enum kr_status run_inc(struct kr_sim *s, struct kr_sim_client *c, struct kr_sim_touch *t,
	struct kr_operation *op)
{
	int64_t delta =
		1 + (int64_t)kr_rng_below(&s->rng, s->options->values != 0 ? s->options->values : DELTAS);
	kr_value seen;

	if (s->options->values == 0 && kr_rng_below(&s->rng, NEGATIVE) == 0)
		delta = -delta;
	op->a = kr_history_int(s->h, delta);
	if (op->a.i == KR_NONE || kr_sim_grow(s, t, op->a) != KR_OK)
		return KR_NOMEM;
	if (c->blank || chance(s, s->options->untold))
		return KR_OK;
	op->flags = KR_OPF_KNOWN;
	KR_TRY(kr_sim_see(s, c, t, &seen));
	op->b = seen;
	return KR_OK;
}

static enum kr_status run_grow(struct kr_sim *s, struct kr_sim_client *c, struct kr_sim_touch *t,
	struct kr_operation *op)
{
	(void)c;
	op->a = next_value(s, t->key);
	return op->a.i == KR_NONE ? KR_NOMEM : kr_sim_grow(s, t, op->a);
}

/* Where each write is another one, the next but one number and the next take turns. */
static enum kr_status run_max(struct kr_sim *s, struct kr_sim_client *c, struct kr_sim_touch *t,
	struct kr_operation *op)
{
	uint32_t number = kr_sim_number(s, t->key);

	(void)c;
	op->a = kr_history_int(s->h, s->options->values == 0 ? (int64_t)(number ^ 1) + 1 : number);
	return op->a.i == KR_NONE ? KR_NOMEM : kr_sim_grow(s, t, op->a);
}

/* ---- which ---- */

struct kind {
	enum kr_op_kind op;
	uint8_t blank; /* which kind of operation takes its place where results are lost */
	enum kr_status (*run)(struct kr_sim *s, struct kr_sim_client *c, struct kr_sim_touch *t,
		struct kr_operation *op);
	/* instead, of operations on many keys */
	enum kr_status (
		*look)(struct kr_sim *s, struct kr_sim_client *c, kr_key key, struct kr_operation *op);
};

static const struct kind kinds[KR_OP_KINDS] = {
	[KR_OP_READ] = {KR_OP_READ, KR_OP_READ, run_read, NULL},
	[KR_OP_WRITE] = {KR_OP_WRITE, KR_OP_WRITE, run_write, NULL},
	[KR_OP_DELETE] = {KR_OP_DELETE, KR_OP_DELETE, run_delete, NULL},
	[KR_OP_INSERT] = {KR_OP_INSERT, KR_OP_WRITE, run_insert, NULL},
	[KR_OP_CAS] = {KR_OP_CAS, KR_OP_WRITE, run_cas, NULL},
	[KR_OP_INC] = {KR_OP_INC, KR_OP_INC, run_inc, NULL},
	[KR_OP_APPEND] = {KR_OP_APPEND, KR_OP_APPEND, run_grow, NULL},
	[KR_OP_ADD] = {KR_OP_ADD, KR_OP_ADD, run_grow, NULL},
	[KR_OP_MAX] = {KR_OP_MAX, KR_OP_MAX, run_max, NULL},
	[KR_OP_RANGE] = {KR_OP_RANGE, KR_OP_READ, NULL, kr_sim_range},
	[KR_OP_SCAN] = {KR_OP_SCAN, KR_OP_READ, NULL, kr_sim_scan},
	[KR_OP_UPDATE] = {KR_OP_UPDATE, KR_OP_WRITE, NULL, kr_sim_scan},
};

static const struct kind *draw_kind(struct kr_sim *s, const struct kr_sim_client *c)
{
	const struct kr_generate_options *o = s->options;
	const struct {
		uint32_t share;
		enum kr_op_kind kind;
	} shares[] = {
		{o->reads, KR_OP_READ},
		{o->deletes, KR_OP_DELETE},
		{o->inserts, KR_OP_INSERT},
		{o->cas, KR_OP_CAS},
		{o->incs, KR_OP_INC},
		{o->appends, KR_OP_APPEND},
		{o->adds, KR_OP_ADD},
		{o->maxes, KR_OP_MAX},
		{o->ranges, KR_OP_RANGE},
		{o->scans, KR_OP_SCAN},
		{o->updates, KR_OP_UPDATE},
	};
	uint32_t draw = (uint32_t)kr_rng_below(&s->rng, 100);
	enum kr_op_kind kind = KR_OP_WRITE; /* the rest */

	for (size_t i = 0; i < KR_COUNT(shares); i++) {
		if (draw < shares[i].share) {
			kind = shares[i].kind;
			break;
		}
		draw -= shares[i].share;
	}
	return &kinds[c->blank ? kinds[kind].blank : kind];
}

/* Whether the operation may go to a key of that kind. */
static bool suits(const struct kr_sim *s, const struct kind *kind, uint8_t key_kind)
{
	enum kr_key_kind needed = kr_history_kind_needed((enum kr_op_kind)kind->op);

	if (needed != KR_KIND_ANY)
		return needed == key_kind;
	return !(kind->op == KR_OP_DELETE && s->options->keep_lists && key_kind == KR_KIND_LIST &&
		s->kind_count > 1);
}

/* The key drawn, or one of its group of neighbours, one of each kind, that suits. */
static kr_key pick_key(const struct kr_sim *s, const struct kind *kind, uint32_t drawn)
{
	uint32_t n = s->kind_count, group = drawn - drawn % n;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = group + (drawn + i) % n;
		if (suits(s, kind, s->kinds[k % n]))
			return (kr_key){k < s->options->keys ? k : k - n};
	}
	return (kr_key){drawn};
}

enum kr_status kr_sim_operation(struct kr_sim *s, struct kr_sim_client *c)
{
	uint32_t drawn = kr_zipf_next(&s->zipf, &s->rng);
	const struct kind *kind = draw_kind(s, c);
	struct kr_operation op = {.kind = kind->op, .key = {KR_NONE}};
	kr_key key = pick_key(s, kind, drawn);

	if (kind->look) {
		KR_TRY(kind->look(s, c, key, &op));
	} else {
		struct kr_sim_touch *t = kr_sim_touch(s, c, key);
		op.key = key;
		KR_TRY(t ? kind->run(s, c, t, &op) : KR_NOMEM);
	}
	return kr_vec_add(&s->ctx->mem, &c->ops, op);
}
