/* A world by the definition: an order of commits gives each key's versions theirs; each external observation
 * has a source, told by the certificate or else the newest possible one before its transaction. It proves a
 * level when the sources hold what was observed (world_values.c) and the dependencies that follow form no
 * forbidden cycle (world_graph.c). Any sources would do, so the verifier is free to choose where the
 * certificate does not. Keys that grow are taken as a whole here. Needs the facts of the history. Cost: a
 * pass over the observations; keys times predicate reads. */
#include "verify/world.h"
#include "base/order.h"
#include "verify/shown.h"

uint32_t kr_world_first_after(const struct kr_world *w, kr_key k, uint32_t from, kr_txn t)
{
	uint32_t at;

	KR_BISECT(at, from, w->first[k.i + 1], w->place[w->writers[at].i] < w->place[t.i]);
	return at;
}

uint32_t kr_world_index(const struct kr_world *w, kr_key k, kr_txn t)
{
	uint32_t end = w->first[k.i + 1], at = kr_world_first_after(w, k, w->first[k.i], t);

	return at < end && w->writers[at].i == t.i ? at : end;
}

/* ---- versions ---- */

/* Each key's writers in the order of commits: a counting sort, filled in that order. */
static enum kr_status order_versions(struct kr_world *w)
{
	const struct kr_facts *f = &w->facts;
	const struct kr_certificate *cert = w->v->cert;
	const struct kr_history *h = w->v->h;
	uint32_t nkeys = h->keys.n, *at = kr_mem_alloc(w->mem, nkeys, sizeof *at);

	if (!at)
		return KR_NOMEM;
	for (uint32_t k = 0; k < nkeys; k++) {
		uint32_t present = 0;
		for (uint32_t i = f->first[k]; i < f->first[k + 1]; i++)
			present += w->place[f->versions[i].txn.i] != KR_NONE;
		w->first[k + 1] = w->first[k] + present;
		at[k] = w->first[k];
	}
	for (uint32_t i = 0; i < cert->serial.n; i++) {
		kr_txn t = cert->serial.at[i];
		for (struct kr_effects e = kr_effects_of(h, t); kr_effects_next(&e);) {
			kr_key k = e.row.key;
			if (at[k.i] == w->first[k.i] || w->writers[at[k.i] - 1].i != t.i)
				w->writers[at[k.i]++] = t;
		}
	}
	kr_mem_free(w->mem, at, nkeys, sizeof *at);
	return KR_OK;
}

/* ---- sources ---- */

/* The newest candidate that committed before the observer, else the oldest later one. */
static enum kr_status choose(const struct kr_world *w, const struct kr_sight *s, kr_txn *source, bool *found)
{
	uint32_t before = kr_world_source_place(w, s->txn), best = KR_NONE;
	kr_txn writer;
	bool more;

	*found = false;
	for (struct kr_facts_iter it = kr_facts_candidates(&w->facts, s);;) {
		KR_TRY(kr_facts_next(&w->facts, &it, &more, &writer, w->v->err));
		if (!more)
			return KR_OK;
		if (!kr_world_present(w, writer))
			continue;
		uint32_t place = kr_world_source_place(w, writer);
		bool better = !*found ||
			(place < before ? best >= before || place > best : best >= before && place < best);
		if (better) {
			best = place;
			*source = writer;
		}
		*found = true;
		KR_TRY(kr_ctx_tick(w->v->ctx));
	}
}

/* The newest version of the key before the observer. */
static kr_txn newest(const struct kr_world *w, kr_key k, kr_txn t)
{
	kr_txn found = {KR_NONE};

	for (uint32_t i = w->first[k.i]; i < w->first[k.i + 1] && w->place[w->writers[i].i] < w->place[t.i];
		i++)
		found = w->writers[i];
	return found;
}

/* Whether the observer of a set had added the element, or deleted the set, itself. */
static enum kr_status is_own(const struct kr_world *w, const struct kr_sight *s, uint32_t element, bool *out)
{
	enum kr_membership own;

	KR_TRY(kr_grow_member(&w->facts, s->key, s->txn, s->op, element, &own));
	*out = own != KR_MEMBER_UNTOUCHED;
	return KR_OK;
}

/* Whether all that the observation shows of a set is the observer's own. */
static enum kr_status shows_own_alone(const struct kr_world *w, const struct kr_sight *s, bool *out)
{
	uint32_t first, count;

	KR_TRY(kr_grow_shown(&w->facts, s->key, s->txn, s->op, 0, &first, &count));
	*out = count != KR_NONE;
	for (uint32_t i = 0; *out && i < count; i++)
		KR_TRY(is_own(w, s, w->facts.grow->members.at[first + i], out));
	return KR_OK;
}

/* Whether what the observation shows is the same with the element added: it shows it, or it is the observer's
 * own. */
static enum kr_status shows_added(const struct kr_world *w, const struct kr_sight *s, kr_value added,
	bool *out)
{
	uint32_t element;
	KR_TRY(kr_grow_element(w->facts.grow, added, &element));

	*out = false;
	KR_TRY(kr_grow_lists(&w->facts, s, element, out));
	return *out ? KR_OK : is_own(w, s, element, out);
}

/* Whether x changed nothing of a set that the observation would show otherwise. A version that deletes the
 * set changes nothing when all that is shown is the observer's own. */
static enum kr_status leaves_alone(const struct kr_world *w, const struct kr_sight *s, kr_txn x, bool *out)
{
	const struct kr_history *h = w->v->h;
	bool deletes;
	uint32_t from = kr_grow_left_from(&w->facts, s->key, x, &deletes);

	*out = true;
	if (deletes)
		KR_TRY(shows_own_alone(w, s, out));
	for (uint32_t i = from; i < h->txns.at[x.i].op_count && *out; i++) {
		const struct kr_operation *op = &h->ops.at[kr_history_op(h, x, i).i];

		if (op->key.i != s->key.i || kr_effect_count(h, op) == 0)
			continue;
		*out = op->kind == KR_OP_ADD;
		if (*out)
			KR_TRY(shows_added(w, s, op->a, out));
	}
	return KR_OK;
}

/* Whether t has seen a version by x, at an operation that counts. */
static bool has_seen(const struct kr_world *w, enum kr_rule_sight sight, kr_txn x, const struct kr_sight *s)
{
	for (uint32_t i = w->sights_of[s->txn.i]; i < w->sights_of[s->txn.i + 1]; i++)
		if (w->sights.at[i].source.i == x.i &&
			(sight == KR_RULE_ANY || w->sights.at[i].op < s->op + (sight == KR_RULE_NOT_AFTER)))
			return true;
	return false;
}

/* Whether what comes before the observer by ww is what it should have seen. */
static bool follows_ww(const struct kr_rule_cycle *further)
{
	return !further->kinds || further->kinds & KR_BIT(KR_WW);
}

static bool some_follows_ww(const struct kr_world *w)
{
	const struct kr_rule_cycle *cycles = w->v->rule->cycles;

	return follows_ww(&cycles[1]) || (cycles[2].kinds && follows_ww(&cycles[2]));
}

/* Whether version x is one that the observer should have seen: it comes before it by dependencies of the
 * kinds that the pattern looks at. */
static bool is_due_by(const struct kr_world *w, const struct kr_rule_cycle *further, kr_txn x,
	const struct kr_sight *s)
{
	const struct kr_transaction *a = &w->v->h->txns.at[x.i], *b = &w->v->h->txns.at[s->txn.i];
	bool ordered = a->status != KR_UNKNOWN && !further->no_order;

	if (follows_ww(further))
		return w->place[x.i] < w->place[s->txn.i];
	if (has_seen(w, further->sight, x, s))
		return true;
	if (ordered && w->v->cert->order >= KR_ORDER_SESSION && a->session.i != KR_NONE &&
		a->session.i == b->session.i && x.i < s->txn.i)
		return true;
	return ordered && w->v->cert->order == KR_ORDER_REALTIME &&
		kr_verify_returned_before(w->v->h, x, s->txn);
}

/* By one of the level's further patterns; without any, by the first. */
static bool is_due(const struct kr_world *w, kr_txn x, const struct kr_sight *s)
{
	const struct kr_rule_cycle *further = &w->v->rule->cycles[1];
	bool due = is_due_by(w, further, x, s);

	for (int i = 2; i < KR_PATTERNS_MOST && w->v->rule->cycles[i].kinds && !due; i++)
		due = is_due_by(w, &w->v->rule->cycles[i], x, s);
	return due;
}

/* Of a set, the elements that a transaction had added itself tell nothing of what it saw, so it may have seen
 * a later version than the parts tell of. */
static enum kr_status advance(const struct kr_world *w, const struct kr_sight *s, kr_txn *source)
{
	uint32_t at = source->i == KR_NONE ? w->first[s->key.i] : kr_world_index(w, s->key, *source) + 1;
	bool alone = true;

	for (; at < w->first[s->key.i + 1] && alone && w->place[w->writers[at].i] < w->place[s->txn.i];
		at++) {
		KR_TRY(leaves_alone(w, s, w->writers[at], &alone));
		if (alone && is_due(w, w->writers[at], s))
			*source = w->writers[at];
	}
	return KR_OK;
}

/* Whether the observation is of a set to which its transaction had added before. */
static bool is_over_own(const struct kr_world *w, const struct kr_world_sight *s, struct kr_sight *sight)
{
	return kr_facts_mode(&w->facts, s->key) == KR_GROW_SET && !kr_world_counts(w, s->key) &&
		kr_facts_sight(&w->facts, s->txn, s->op, s->key, (kr_value){KR_NONE}, sight) &&
		sight->own_count > 0;
}

/* All others have their sources. */
static enum kr_status advance_all(struct kr_world *w)
{
	struct kr_sight sight;

	for (uint32_t i = 0; i < w->sights.n; i++) {
		struct kr_world_sight *s = &w->sights.at[i];

		if (is_over_own(w, s, &sight) && !sight.named)
			KR_TRY(advance(w, &sight, &s->source));
		KR_TRY(kr_ctx_tick(w->v->ctx));
	}
	return KR_OK;
}

/* The source that the trace names. */
static enum kr_status find_named(const struct kr_world *w, const struct kr_sight *s, kr_txn *source)
{
	*source = s->source.i == KR_ABSENT.i ? (kr_txn){KR_NONE} : kr_history_find(w->v->h, s->source);
	if (s->source.i == KR_ABSENT.i ||
		(source->i != KR_NONE && kr_world_present(w, *source) &&
			kr_facts_version(&w->facts, s->key, *source)))
		return KR_OK;
	return kr_err_set(w->v->err, KR_BAD,
		"operation %u of %s names a version of %s that is not in this world", (unsigned)s->op,
		kr_verify_txn_name(w->v->h, s->txn).text, kr_verify_key_name(w->v->h, s->key).text);
}

/* Of a key that does not grow the facts tell what a version is. */
static enum kr_status find_whether_holds(const struct kr_world *w, const struct kr_sight *s, kr_txn source,
	bool *out)
{
	bool plain = s->saw.test == KR_SAW_VALUE || s->saw.test == KR_SAW_OTHER;

	*out = false;
	if (!plain || w->facts.untold || kr_facts_grows(&w->facts, s->key))
		return KR_OK;
	return kr_facts_candidate(&w->facts, s, source, out, w->v->err);
}

static enum kr_status add_sight(struct kr_world *w, const struct kr_world_told *told,
	const struct kr_sight *s)
{
	enum kr_grow_mode mode = kr_facts_mode(&w->facts, s->key);
	struct kr_world_sight out = {.txn = s->txn,
		.op = s->op,
		.key = s->key,
		.source = {KR_NONE},
		.over = {KR_NONE},
		.predicate = s->saw.predicate};
	bool found = kr_world_told_find(told, s, &out.source);
	KR_TRY(s->named ? find_named(w, s, &out.source) : KR_OK);

	found |= s->named;

	/* parts tell of the versions that they came with, which may not be the last */
	if (!s->named && kr_world_counts(w, s->key)) {
		if (found)
			KR_TRY(kr_world_allows(w, s, out.source, &found));
		if (!found)
			KR_TRY(kr_world_choose_count(w, s, &out.source, &found));
		mode = KR_GROW_VALUES;
	}
	if (!found && (mode == KR_GROW_SET || mode == KR_GROW_SUM || mode == KR_GROW_UNKNOWN)) {
		if (some_follows_ww(w))
			/* else what it need not have seen, it has not: advance_all */
			out.source = newest(w, s->key, s->txn);
		found = true;
		w->guessed |= mode == KR_GROW_SUM;
	}
	if (!found && mode != KR_GROW_VALUES)
		KR_TRY(choose(w, s, &out.source, &found));
	if (!found)
		return kr_err_set(w->v->err, KR_BAD,
			"nothing that took effect in this world explains what operation %u of %s saw of %s",
			(unsigned)s->op, kr_verify_txn_name(w->v->h, s->txn).text,
			kr_verify_key_name(w->v->h, s->key).text);
	out.loose = kr_history_is_loose(w->v->h, kr_history_op(w->v->h, s->txn, s->op));
	out.over_own = s->own_count > 0;
	KR_TRY(find_whether_holds(w, s, out.source, &out.holds));
	/* all such views are of one version */
	for (uint32_t i = w->sights_of[s->txn.i]; i < w->sights.n && out.over_own; i++)
		if (w->sights.at[i].over_own && w->sights.at[i].key.i == s->key.i &&
			w->sights.at[i].source.i != out.source.i)
			return kr_err_set(w->v->err, KR_UNSUPPORTED,
				"several conditions on what a transaction added to");
	return kr_vec_add(w->mem, &w->sights, out);
}

/* A predicate read observes a key that it did not return only if some version would have been returned: an
 * initial value that is not told might be. */
static enum kr_status may_match(const struct kr_world *w, const struct kr_sight *s, bool *out)
{
	bool candidate;

	KR_TRY(kr_world_allows(w, s, (kr_txn){KR_NONE}, &candidate));
	*out = !candidate || w->facts.untold;
	for (uint32_t i = w->first[s->key.i]; i < w->first[s->key.i + 1] && !*out; i++) {
		if (w->writers[i].i == s->txn.i)
			continue;
		KR_TRY(kr_world_allows(w, s, w->writers[i], &candidate));
		*out = !candidate;
	}
	return KR_OK;
}

static enum kr_status add_op(struct kr_world *w, const struct kr_world_told *told, kr_txn t, uint32_t index)
{
	const struct kr_history *h = w->v->h;
	const struct kr_operation *op = &h->ops.at[kr_history_op(h, t, index).i];
	uint32_t seen = kr_saw_count(h, op);
	struct kr_sight sight;
	bool matters;

	for (uint32_t i = 0; i < seen; i++)
		if (kr_facts_sight(&w->facts, t, index, kr_saw_key(h, op, i), (kr_value){KR_NONE}, &sight) &&
			!sight.saw.predicate)
			KR_TRY(add_sight(w, told, &sight));
	for (kr_key k = {0}; k.i < h->keys.n && kr_op_scans(op); k.i++) {
		if (!kr_facts_sight(&w->facts, t, index, k, (kr_value){KR_NONE}, &sight) ||
			!sight.saw.predicate)
			continue;
		KR_TRY(may_match(w, &sight, &matters));
		if (matters)
			KR_TRY(add_sight(w, told, &sight));
		KR_TRY(kr_ctx_tick(w->v->ctx));
	}
	return KR_OK;
}

static enum kr_status add_all(struct kr_world *w, const struct kr_world_told *told)
{
	const struct kr_history *h = w->v->h;

	if (!kr_vec_reserve(w->mem, &w->sights, w->v->cert->sources.n))
		return KR_NOMEM;
	for (kr_txn t = {0}; t.i < h->txns.n; t.i++) {
		w->sights_of[t.i] = w->sights.n;
		for (uint32_t i = 0; i < h->txns.at[t.i].op_count && w->place[t.i] != KR_NONE; i++) {
			KR_TRY(add_op(w, told, t, i));
			KR_TRY(kr_ctx_tick(w->v->ctx));
		}
	}
	w->sights_of[h->txns.n] = w->sights.n;
	return KR_OK;
}

enum kr_status kr_world_overwrites(const struct kr_world *w, const struct kr_world_sight *s, kr_txn b,
	bool *out)
{
	struct kr_sight sight;
	bool unchanged = false;

	*out = b.i != s->txn.i;
	if (!s->predicate || !*out ||
		!kr_facts_sight(&w->facts, s->txn, s->op, s->key, (kr_value){KR_NONE}, &sight))
		return KR_OK;
	sight.named = false;
	KR_TRY(kr_world_allows(w, &sight, b, &unchanged));
	*out = !unchanged;
	return KR_OK;
}

static enum kr_status find_overwriting(struct kr_world *w)
{
	for (uint32_t i = 0; i < w->sights.n; i++) {
		struct kr_world_sight *s = &w->sights.at[i];
		uint32_t at = s->source.i == KR_NONE ? w->first[s->key.i]
						     : kr_world_index(w, s->key, s->source) + 1;
		bool over = false;

		for (; at < w->first[s->key.i + 1] && !over; at++) {
			KR_TRY(kr_world_overwrites(w, s, w->writers[at], &over));
			if (over)
				s->over = w->writers[at];
		}
		KR_TRY(kr_ctx_tick(w->v->ctx));
	}
	return KR_OK;
}

/* ---- all of it ---- */

static enum kr_status build(struct kr_world *w)
{
	struct kr_world_told told = {.arena = {.mem = w->mem}, .w = w};

	KR_TRY(order_versions(w));
	KR_TRY(kr_world_count_versions(w));
	enum kr_status status = kr_world_told_read(&told);
	if (status == KR_OK)
		status = add_all(w, &told);
	kr_arena_done(&told.arena);
	KR_TRY(status);
	if (w->facts.grow)
		KR_TRY(advance_all(w));
	return find_overwriting(w);
}

/* Whether some observation of a set may have seen a later version than the one taken, and which one makes a
 * difference. Two further patterns may each want another one, of whatever does not tell its version. */
static bool is_choosy(const struct kr_world *w)
{
	const struct kr_rule_cycle *cycles = w->v->rule->cycles;
	struct kr_sight sight;
	bool one_best = follows_ww(&cycles[1]) && cycles[1].sight == KR_RULE_ANY;

	if (!w->facts.grow || cycles[2].kinds || one_best)
		return w->facts.grow && cycles[2].kinds;
	for (uint32_t i = 0; i < w->sights.n; i++)
		if (is_over_own(w, &w->sights.at[i], &sight))
			return true;
	return false;
}

/* Where what was seen does not matter otherwise. */
static enum kr_status check_blind(const struct kr_world *w)
{
	const struct kr_history *h = w->v->h;
	struct kr_garbage_place garbage;
	struct kr_shown_pairs shown = {0};
	enum kr_status status = kr_shown_lists(&w->facts, w->v->ctx, &shown);

	for (uint32_t i = 0; i < shown.n && status == KR_OK; i++)
		if (w->place[shown.at[i].before.i] > w->place[shown.at[i].after.i])
			status = kr_err_set(w->v->err, KR_BAD,
				"a list shows that %s wrote %s before %s, the order has them the other way "
				"round",
				kr_verify_txn_name(h, shown.at[i].before).text,
				kr_verify_key_name(h, shown.at[i].key).text,
				kr_verify_txn_name(h, shown.at[i].after).text);
	kr_vec_done(w->mem, &shown);
	if (status == KR_OK)
		status = kr_find_garbage(w->v->ctx, h, &garbage, w->v->err);
	if (status != KR_OK || garbage.txn.i == KR_NONE)
		return status;
	return kr_err_set(w->v->err, KR_BAD, "operation %u of %s is a garbage read of %s",
		(unsigned)garbage.op, kr_verify_txn_name(h, garbage.txn).text,
		kr_verify_key_name(h, garbage.key).text);
}

static enum kr_status check(struct kr_world *w)
{
	uint32_t n = w->v->h->txns.n;

	KR_TRY(kr_arena_new(&w->arena, w->place, n));
	KR_TRY(kr_arena_new(&w->arena, w->first, (size_t)w->v->h->keys.n + 1));
	KR_TRY(kr_arena_new(&w->arena, w->writers, w->facts.count));
	KR_TRY(kr_arena_new(&w->arena, w->sights_of, (size_t)n + 1));
	KR_TRY(w->readers_apart ? kr_verify_updaters(w->v, w->place) : kr_verify_places(w->v, w->place));
	if (kr_verify_is_blind(w->v->rule))
		return check_blind(w);
	KR_TRY(build(w));
	KR_TRY(kr_world_check_values(w));
	return kr_world_check_graph(w);
}

enum kr_status kr_verify_world(struct kr_verifier *v)
{
	struct kr_world w = {.arena = {.mem = &v->ctx->mem}, .v = v, .mem = &v->ctx->mem};

	if (!v->rule->graph)
		return kr_err_set(v->err, KR_BAD, "an order of commits does not prove %s", v->rule->id);
	KR_TRY(kr_facts_init(&w.facts, v->ctx, v->h, false, v->err));
	w.readers_apart = v->rule->cycles[0].one_reader;
	enum kr_status status = check(&w);
	if (status == KR_BAD && (w.guessed || is_choosy(&w)))
		status = KR_UNSUPPORTED;
	kr_arena_done(&w.arena);
	kr_vec_done(w.mem, &w.sights);
	kr_facts_done(&w.facts);
	return status;
}
