/* Consistent read: every operation saw a version that could be seen at its snapshot, what its own transaction
 * had written before it, and, with others of one snapshot, one state. */
#include "mechanisms/mechanism.h"

static bool always(const struct kr_batch *b)
{
	(void)b;
	return true;
}

/* Writes of each key that were tried, in their order. */
static bool group_tried(const struct kr_batch *b, struct kr_grouped *out)
{
	uint32_t *of = kr_mem_alloc(b->mem, b->tried.n, sizeof *of);

	for (uint32_t i = 0; i < b->tried.n && of; i++)
		of[i] = b->tried.at[i].key.i;
	bool good = of && kr_group(b->mem, out, of, b->tried.n, b->h->keys.n);
	kr_mem_free(b->mem, of, b->tried.n, sizeof *of);
	return good;
}

/* Writes that are no version: of aborted transactions, taken back, failed; or written over by their own
 * transaction. */
static enum kr_finding_class classify_vain(const struct kr_batch *b, const struct kr_grouped *tried,
	const struct kr_look *look)
{
	enum kr_finding_class what = KR_FOUND_NEVER_WRITTEN;

	for (uint32_t i = tried->first.at[look->key.i]; i < tried->first.at[look->key.i + 1]; i++) {
		const struct kr_tried *w = &b->tried.at[tried->at.at[i]];
		const struct kr_party *p = &b->txns.at[w->txn.i];
		if (!kr_look_fits(b, look, w->value))
			continue;
		if (w->txn.i == look->txn.i && w->act <= look->act)
			continue;
		if (look->uncommitted)
			return KR_FOUND_UNCOMMITTED;
		if (w->txn.i == look->txn.i)
			what = what == KR_FOUND_NEVER_WRITTEN ? KR_FOUND_FUTURE : what;
		else if ((!p->committed && !p->optional) || !kr_act_counts(&b->acts.at[w->act], KR_NONE))
			return KR_FOUND_ABORTED;
		else
			what = KR_FOUND_INTERMEDIATE;
	}
	return what;
}

static enum kr_finding_class classify(const struct kr_batch *b, const struct kr_grouped *tried,
	const struct kr_look *look)
{
	bool written = false;

	if (look->own)
		return KR_FOUND_OWN_WRITE;
	for (uint32_t i = b->version_first.at[look->key.i]; i < b->version_first.at[look->key.i + 1]; i++) {
		const struct kr_written *v = &b->versions.at[i];
		if (v->by.txn.i == look->txn.i || !kr_look_fits(b, look, v->value))
			continue;
		written = true;
		if (v->by.commit.from <= look->at.to)
			return look->uncommitted ? KR_FOUND_UNCOMMITTED : KR_FOUND_GARBAGE;
	}
	return written && !look->uncommitted ? KR_FOUND_FUTURE : classify_vain(b, tried, look);
}

static bool show(struct kr_batch *b, struct kr_finding *f, struct kr_visible visible)
{
	f->visible_count++;
	return kr_vec_push(b->mem, &b->out->visible, visible);
}

/* When it was overwritten is told only if that was within the snapshot: what comes later does not bear on the
 * read. */
static struct kr_span window_for(const struct kr_look *look, const struct kr_written *v)
{
	struct kr_span window = kr_written_window(v);

	if (window.to > look->at.to)
		window.to = INT64_MAX;
	return window;
}

/* What could have been seen. */
static bool show_visible(struct kr_batch *b, struct kr_finding *f, const struct kr_look *look)
{
	if (look->own)
		return show(b, f, (struct kr_visible){look->txn, look->own_value, b->acts.at[look->act].at});
	for (uint32_t i = b->version_first.at[look->key.i]; i < b->version_first.at[look->key.i + 1]; i++) {
		const struct kr_written *v = &b->versions.at[b->by_commit.n > 0 ? b->by_commit.at[i] : i];
		if (v->by.txn.i != look->txn.i && kr_written_meets(b, look->txn, v, look->at) &&
			!show(b, f, (struct kr_visible){v->by.txn, v->value, window_for(look, v)}))
			return false;
	}
	return true;
}

static void name_over(const struct kr_batch *b, struct kr_finding *f, const struct kr_look *look,
	const struct kr_written *v)
{
	int64_t gone = look->at.from;

	for (uint32_t i = b->version_first.at[look->key.i]; i < b->version_first.at[look->key.i + 1]; i++) {
		const struct kr_written *u = &b->versions.at[i];
		if (!u->by.committed || u->by.commit.to >= gone || !kr_stand_precedes(b, &v->by, &u->by))
			continue;
		gone = u->by.commit.to;
		f->over = u->by.txn;
		f->over_by = u->by.commit.to;
		f->by_locks = v->by.txn.i != KR_NONE && !kr_span_before(v->by.commit, u->by.commit);
	}
}

/* Who wrote what was seen: of versions, the one that came closest; else whoever wrote it in vain. */
static void name_writer(const struct kr_batch *b, const struct kr_grouped *tried, struct kr_finding *f,
	const struct kr_look *look)
{
	for (uint32_t i = b->version_first.at[look->key.i];
		i < b->version_first.at[look->key.i + 1] && !look->own; i++) {
		const struct kr_written *v = &b->versions.at[i];
		bool fits = v->by.txn.i != look->txn.i && kr_look_fits(b, look, v->value);
		if (!fits || (v->by.commit.from <= look->at.to) != (f->what == KR_FOUND_GARBAGE))
			continue;
		f->writer = v->by.txn;
		f->has_writer = true;
		if (f->what == KR_FOUND_GARBAGE)
			name_over(b, f, look, v);
	}
	for (uint32_t i = tried->first.at[look->key.i];
		i < tried->first.at[look->key.i + 1] && !f->has_writer && !look->own; i++) {
		const struct kr_tried *w = &b->tried.at[tried->at.at[i]];
		if (kr_look_fits(b, look, w->value) && w->act != look->act) {
			f->writer = w->txn;
			f->has_writer = true;
		}
	}
}

static enum kr_status report(struct kr_batch *b, const struct kr_grouped *tried, const struct kr_look *look,
	enum kr_finding_class what)
{
	struct kr_finding *f = kr_batch_report(b, KR_MECH_CR, what);

	if (!f)
		return KR_NOMEM;
	f->txns[0] = look->txn;
	f->ops[0] = look->op;
	f->key = look->key;
	f->seen = look->match == KR_MATCH_IS ? look->value : KR_UNTOLD;
	f->snapshot = look->at;
	if (what != KR_FOUND_NO_COMMON_SNAPSHOT)
		name_writer(b, tried, f, look);
	return show_visible(b, f, look) ? KR_OK : KR_NOMEM;
}

static enum kr_status find(struct kr_batch *b)
{
	struct kr_grouped tried = {0};
	enum kr_status status = KR_OK;

	for (uint32_t i = 0; i < b->looks.n && !status; i++) {
		const struct kr_look *look = &b->looks.at[i];
		if (look->fits && !look->torn)
			continue;
		if (tried.first.n == 0 && !group_tried(b, &tried))
			status = KR_NOMEM;
		else
			status = report(b, &tried, look,
				look->fits ? KR_FOUND_NO_COMMON_SNAPSHOT : classify(b, &tried, look));
	}
	kr_grouped_done(b->mem, &tried);
	for (uint32_t i = 0; i < b->doubles.n && !status; i++) {
		struct kr_finding *f = kr_batch_report(b, KR_MECH_CR, KR_FOUND_DUPLICATE_ROW);
		if (!f)
			return KR_NOMEM;
		f->txns[0] = b->doubles.at[i].txn;
		f->ops[0] = b->doubles.at[i].op;
		f->key = b->doubles.at[i].key;
		f->snapshot = (struct kr_span){INT64_MIN, INT64_MAX};
	}
	return status;
}

const struct kr_mechanism kr_mechanism_cr = {
	.name = "cr",
	.title = "consistent read: what was seen was there at the snapshot, and all of one snapshot at one "
		 "instant",
	.source = "Li et al., Leopard, ICDE 2023",
	.applies = always,
	.find = find,
};
