/* Which versions explain what was seen. Looks of one group share one snapshot: the instants at which all of
 * them are explained, F, replace the span of each; the first look that leaves no instant is torn. */
#include "base/order.h"

#include "mechanisms/batch.h"

KR_VEC_NAMED(kr_spans, struct kr_span);

struct settling {
	struct kr_batch *b;
	struct kr_spans shared, next; /* F, and F with one look more */
	bool failed;
};

/* ---- one look ---- */

/* Looking again for its row, a statement may meet the moment between another's delete and insert of it. */
static bool met_remade(const struct kr_batch *b, const struct kr_look *look)
{
	if (!b->profile->follows_rows || !look->searches || !kr_look_fits(b, look, KR_ABSENT))
		return false;
	for (uint32_t i = 0; i < b->remade.n; i++) {
		const struct kr_remade *r = &b->remade.at[i];
		struct kr_span at = b->txns.at[r->txn.i].commit;
		if (r->key.i == look->key.i && r->txn.i != look->txn.i && at.from <= look->at.to &&
			look->at.from <= at.to)
			return true;
	}
	return false;
}

static bool can_see(const struct kr_batch *b, const struct kr_look *look, const struct kr_written *v)
{
	return v->by.txn.i != look->txn.i && kr_look_fits(b, look, v->value) &&
		kr_written_meets(b, look->txn, v, look->at);
}

/* Versions `first` to `end` - 1, of the list if there is one, that explain the look; `only` becomes one of
 * them. */
static uint32_t match(const struct kr_batch *b, struct kr_look *look, uint32_t first, uint32_t end,
	const uint32_t *list)
{
	uint32_t matches = 0;

	for (uint32_t i = first; i < end; i++) {
		uint32_t v = list ? list[i] : i;
		if (can_see(b, look, &b->versions.at[v])) {
			matches++;
			look->only = v;
		}
	}
	return matches;
}

static uint32_t match_stamped(const struct kr_batch *b, struct kr_look *look)
{
	uint32_t first, unknown,
		end = kr_batch_candidates(b, look->txn, look->key, look->at, &first, &unknown);

	return match(b, look, first, end, b->by_commit.at) +
		match(b, look, unknown, b->version_first.at[look->key.i + 1], b->by_commit.at);
}

static void settle_committed(const struct kr_batch *b, struct kr_look *look)
{
	bool remade = met_remade(b, look), stamps = b->profile->clock == KR_CLOCK_STAMPS;
	uint32_t first, end;

	kr_batch_meeting(b, look->key, look->at, &first, &end);
	uint32_t matches = stamps ? match_stamped(b, look) : match(b, look, first, end, NULL);

	look->fits = matches > 0 || remade;
	if (matches != 1 || remade)
		look->only = KR_NONE;
}

/* ---- reads of what is not committed ---- */

static const struct kr_written *version_of(const struct kr_batch *b, kr_txn t, kr_key key)
{
	for (uint32_t i = b->version_first.at[key.i]; i < b->version_first.at[key.i + 1]; i++)
		if (b->versions.at[i].by.txn.i == t.i)
			return &b->versions.at[i];
	return NULL;
}

/* When committed versions that come after v had certainly taken its place. */
static int64_t replaced(const struct kr_batch *b, const struct kr_written *v)
{
	int64_t gone = INT64_MAX;

	for (uint32_t i = b->version_first.at[v->key.i]; i < b->version_first.at[v->key.i + 1]; i++) {
		const struct kr_written *u = &b->versions.at[i];
		if (u->by.committed && kr_stand_precedes(b, &v->by, &u->by) && u->first_done < gone)
			gone = u->first_done;
	}
	return gone;
}

/* When the write was certainly gone: written over by its own transaction, taken back, rolled back, or
 * replaced. */
static int64_t vanished(const struct kr_batch *b, uint32_t tried)
{
	const struct kr_tried *w = &b->tried.at[tried];
	const struct kr_party *p = &b->txns.at[w->txn.i];
	const struct kr_act *a = &b->acts.at[w->act];
	const struct kr_written *v = version_of(b, w->txn, w->key);
	int64_t gone = v ? replaced(b, v) : INT64_MAX;

	if (v && v->gone == INT64_MIN)
		return INT64_MIN;
	for (uint32_t i = tried + 1; i < b->tried.n && b->tried.at[i].txn.i == w->txn.i; i++) {
		const struct kr_act *next = &b->acts.at[b->tried.at[i].act];
		if (b->tried.at[i].key.i == w->key.i && kr_act_counts(next, KR_NONE) && next->at.to < gone)
			gone = next->at.to;
	}
	if (!p->committed && !p->optional && p->release.to < gone)
		gone = p->release.to;
	for (uint32_t i = p->act_first; i < p->act_first + p->act_count && a->undone_at != KR_NONE; i++)
		if (b->acts.at[i].place == a->undone_at && b->acts.at[i].at.to < gone)
			gone = b->acts.at[i].at.to;
	return gone;
}

static void settle_uncommitted(const struct kr_batch *b, struct kr_look *look)
{
	const struct kr_written *initial = &b->versions.at[b->version_first.at[look->key.i]];

	look->fits = kr_look_fits(b, look, initial->value) && replaced(b, initial) >= look->at.from;
	for (uint32_t i = 0; i < b->tried.n && !look->fits; i++) {
		const struct kr_tried *w = &b->tried.at[i];
		const struct kr_act *a = &b->acts.at[w->act];
		if (w->key.i == look->key.i && w->txn.i != look->txn.i && !a->failed &&
			kr_look_fits(b, look, w->value))
			look->fits = a->at.from <= look->at.to && vanished(b, i) >= look->at.from;
	}
}

/* ---- groups ---- */

static int64_t later(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t earlier(int64_t a, int64_t b) { return a < b ? a : b; }

KR_BY(by_start, struct kr_span, from);

/* Spans that overlap become one, so that there are never more than windows. */
static void merge(struct kr_spans *spans)
{
	uint32_t n = 0;

	KR_SORT(spans->at, spans->n, by_start);
	for (uint32_t i = 0; i < spans->n; i++) {
		if (n > 0 && spans->at[i].from <= spans->at[n - 1].to)
			spans->at[n - 1].to = later(spans->at[n - 1].to, spans->at[i].to);
		else
			spans->at[n++] = spans->at[i];
	}
	spans->n = n;
}

/* F and the windows of what explains the look. */
static void narrow(struct settling *s, const struct kr_look *look)
{
	struct kr_batch *b = s->b;
	uint32_t first, end;

	kr_vec_clear(&s->next);
	kr_batch_meeting(b, look->key, look->at, &first, &end);
	for (uint32_t i = first; i < end; i++) {
		struct kr_span w = kr_written_window(&b->versions.at[i]);
		if (!can_see(b, look, &b->versions.at[i]))
			continue;
		for (uint32_t j = 0; j < s->shared.n; j++) {
			struct kr_span part = {later(w.from, s->shared.at[j].from),
				earlier(w.to, s->shared.at[j].to)};
			if (part.from <= part.to)
				s->failed |= !kr_vec_push(b->mem, &s->next, part);
		}
	}
	merge(&s->next);
}

static bool meets_shared(const struct settling *s, const struct kr_written *v)
{
	struct kr_span w = kr_written_window(v);

	for (uint32_t i = 0; i < s->shared.n; i++)
		if (w.from <= s->shared.at[i].to && s->shared.at[i].from <= w.to)
			return true;
	return false;
}

static void share(struct settling *s, struct kr_look *look)
{
	struct kr_batch *b = s->b;
	struct kr_span hull = {INT64_MAX, INT64_MIN};
	uint32_t matches = 0, first, end;

	for (uint32_t i = 0; i < s->shared.n; i++)
		hull = (struct kr_span){earlier(hull.from, s->shared.at[i].from),
			later(hull.to, s->shared.at[i].to)};
	look->at = hull;
	look->only = KR_NONE;
	kr_batch_meeting(b, look->key, look->at, &first, &end);
	for (uint32_t i = first; i < end; i++)
		if (can_see(b, look, &b->versions.at[i]) && meets_shared(s, &b->versions.at[i])) {
			look->only = matches == 0 ? i : KR_NONE;
			matches++;
		}
}

static void loosen(struct kr_batch *b, uint32_t first)
{
	struct kr_look *looks = b->looks.at;

	for (uint32_t i = first; i < b->looks.n && looks[i].txn.i == looks[first].txn.i; i++)
		looks[i].loose |= looks[i].group == looks[first].group;
}

/* Groups stand together but for other looks of the same transaction in between. */
static void settle_group(struct settling *s, uint32_t first)
{
	struct kr_batch *b = s->b;
	struct kr_look *looks = b->looks.at;
	uint32_t group = looks[first].group, end = first;

	kr_vec_clear(&s->shared);
	s->failed |= !kr_vec_push(b->mem, &s->shared, looks[first].at);
	for (; end < b->looks.n && looks[end].txn.i == looks[first].txn.i && !s->failed; end++) {
		if (looks[end].group != group || looks[end].own || !looks[end].fits)
			continue;
		narrow(s, &looks[end]);
		if (s->next.n == 0) {
			looks[end].torn = true;
			loosen(b, first);
			return;
		}
		struct kr_spans swap = s->shared;
		s->shared = s->next;
		s->next = swap;
	}
	for (uint32_t i = first; i < end && !s->failed; i++)
		if (looks[i].group == group && !looks[i].own && looks[i].fits)
			share(s, &looks[i]);
}

static bool is_first_of_group(const struct kr_batch *b, uint32_t i)
{
	const struct kr_look *look = &b->looks.at[i];
	/* the instant: nothing is left to be shared */
	bool told = b->profile->clock == KR_CLOCK_STAMPS && look->at.from == look->at.to;

	if (look->group == KR_NONE || look->own || !look->fits || told)
		return false;
	for (uint32_t j = i; j-- > 0 && b->looks.at[j].txn.i == look->txn.i;)
		if (b->looks.at[j].group == look->group && !b->looks.at[j].own && b->looks.at[j].fits)
			return false;
	return true;
}

static void settle_look(const struct kr_batch *b, struct kr_look *look)
{
	if (look->own)
		look->fits = kr_look_fits(b, look, look->own_value);
	else if (look->uncommitted)
		settle_uncommitted(b, look);
	else
		settle_committed(b, look);
}

enum kr_status kr_batch_settle(struct kr_batch *b, uint32_t first)
{
	struct settling s = {.b = b};
	enum kr_status status = KR_OK;

	for (uint32_t i = first; i < b->looks.n && !status; i++) {
		settle_look(b, &b->looks.at[i]);
		status = kr_ctx_tick(b->ctx);
	}
	for (uint32_t i = first; i < b->looks.n && !status && !s.failed; i++) {
		if (is_first_of_group(b, i))
			settle_group(&s, i);
		status = kr_ctx_tick(b->ctx);
	}
	for (uint32_t i = first; i < b->looks.n && !status; i++) {
		const struct kr_look *look = &b->looks.at[i];
		kr_txn writer = look->only == KR_NONE ? (kr_txn){KR_NONE} : b->versions.at[look->only].by.txn;
		if (writer.i == KR_NONE || !kr_batch_settled(b, look->txn) || !look->fits || look->own ||
			look->loose)
			continue;
		struct kr_party *p = &b->txns.at[writer.i];
		p->took_effect = true;
		p->effect_by = earlier(p->effect_by, look->at.to);
		b->versions.at[look->only].seen = true;
	}
	kr_vec_done(b->mem, &s.shared);
	kr_vec_done(b->mem, &s.next);
	return s.failed ? KR_NOMEM : status;
}
