/* What the versions of counters and marks are in a world: each is the one before it and what its writer adds.
 * So a version of a counter can be told to be one that an observation saw, which the history alone cannot.
 * Cost: linear in the versions; an observation looks from its transaction's place back, and mostly no further
 * than one version. */
#include "verify/world.h"

static struct kr_world_count initial_count(const struct kr_world *w, kr_key k)
{
	struct kr_world_count count = {.known = !w->facts.untold};

	count.known = count.known && kr_grow_initial_count(w->v->h, k, &count.absent, &count.number);
	return count;
}

static bool is_mark(const struct kr_world *w, kr_key k) { return w->v->h->keys.at[k.i].kind == KR_KIND_MARK; }

/* What t's operations before `end` make of a mark. */
static struct kr_world_count raised(const struct kr_world *w, kr_key k, kr_txn t, uint32_t end,
	struct kr_world_count mark)
{
	const struct kr_history *h = w->v->h;

	for (uint32_t i = 0; i < end; i++) {
		const struct kr_operation *op = &h->ops.at[kr_history_op(h, t, i).i];
		int64_t number = op->kind == KR_OP_MAX ? kr_history_value(h, op->a)->integer : 0;

		if (op->key.i != k.i || kr_effect_count(h, op) == 0)
			continue;
		if (op->kind == KR_OP_MAX && !mark.absent && mark.number > number)
			number = mark.number;
		mark.number = number;
		mark.absent = op->kind == KR_OP_DELETE;
	}
	return mark;
}

static uint32_t op_count(const struct kr_world *w, kr_txn t) { return w->v->h->txns.at[t.i].op_count; }

static struct kr_world_count counted(const struct kr_world *w, kr_key k, kr_txn t, struct kr_world_count last)
{
	const struct kr_grow_version *v =
		&w->facts.grow->versions[kr_facts_version(&w->facts, k, t) - w->facts.versions];
	int64_t before = v->relative && !last.absent ? last.number : 0;

	last.known = (last.known || !v->relative) && kr_facts_mode(&w->facts, k) != KR_GROW_UNKNOWN;
	last.known = !__builtin_add_overflow(before, v->amount, &last.number) && last.known;
	last.absent = !v->relative && v->absent;
	return last;
}

static bool holds_number(const struct kr_world *w, kr_key k)
{
	return is_mark(w, k) || w->v->h->keys.at[k.i].kind == KR_KIND_COUNTER;
}

/* Each version of a number is the one before it and what its writer adds, whatever that was shown. */
enum kr_status kr_world_count_versions(struct kr_world *w)
{
	uint32_t n = w->v->h->keys.n;

	if (!w->facts.grow)
		return KR_OK;
	KR_TRY(kr_arena_new(&w->arena, w->counts, w->facts.count));
	for (kr_key k = {0}; k.i < n; k.i++) {
		struct kr_world_count last = initial_count(w, k);
		for (uint32_t i = w->first[k.i]; holds_number(w, k) && i < w->first[k.i + 1]; i++) {
			kr_txn t = w->writers[i];

			last = is_mark(w, k) ? raised(w, k, t, op_count(w, t), last) : counted(w, k, t, last);
			w->counts[i] = last;
		}
	}
	return KR_OK;
}

/* What the version of a counter or mark is; not known of other keys. */
static struct kr_world_count count_of(const struct kr_world *w, kr_key k, kr_txn writer)
{
	if (!w->counts || !holds_number(w, k))
		return (struct kr_world_count){.known = false};
	return writer.i == KR_NONE ? initial_count(w, k) : w->counts[kr_world_index(w, k, writer)];
}

bool kr_world_counts(const struct kr_world *w, kr_key k)
{
	return kr_facts_mode(&w->facts, k) != KR_GROW_UNKNOWN && count_of(w, k, (kr_txn){KR_NONE}).known;
}

static bool mark_allows(const struct kr_history *h, const struct kr_sight *s,
	const struct kr_world_count *mark)
{
	const struct kr_operand number = {.type = KR_VALUE_INT, .integer = mark->number};
	const struct kr_value_entry *shown;

	switch (s->saw.test) {
	case KR_SAW_VALUE:
		shown = kr_history_value(h, s->saw.value);
		return mark->absent ? shown->type == KR_VALUE_ABSENT
				    : shown->type == KR_VALUE_INT && shown->integer == mark->number;
	case KR_SAW_OTHER: return !mark->absent;
	default: break;
	}
	return (s->saw.test == KR_SAW_MATCH) ==
		(!mark->absent && kr_where_holds_of(h, &h->scans.at[s->saw.scan], s->key, &number));
}

enum kr_status kr_world_allows(const struct kr_world *w, const struct kr_sight *s, kr_txn writer, bool *out)
{
	struct kr_world_count count = count_of(w, s->key, writer);

	if (!count.known || s->named)
		return kr_facts_candidate(&w->facts, s, writer, out, w->v->err);
	if (is_mark(w, s->key)) {
		count = raised(w, s->key, s->txn, s->op, count);
		*out = writer.i != s->txn.i && mark_allows(w->v->h, s, &count);
		return KR_OK;
	}
	struct kr_count want = kr_grow_count(w->v->h, s);
	*out = writer.i != s->txn.i &&
		kr_grow_count_allows(w->v->h, &want, s->key, count.absent, count.number);
	return KR_OK;
}

enum kr_status kr_world_choose_count(const struct kr_world *w, const struct kr_sight *s, kr_txn *source,
	bool *found)
{
	uint32_t first = w->first[s->key.i], end = w->first[s->key.i + 1],
		 at = kr_world_first_after(w, s->key, first, s->txn);

	*found = false;
	for (uint32_t i = at; i >= first && !*found; i--) {
		*source = i == first ? (kr_txn){KR_NONE} : w->writers[i - 1];
		KR_TRY(kr_world_allows(w, s, *source, found));
		if (i == 0)
			break;
	}
	for (uint32_t i = at; i < end && !*found; i++) {
		*source = w->writers[i];
		KR_TRY(kr_world_allows(w, s, *source, found));
	}
	return kr_ctx_tick(w->v->ctx);
}
