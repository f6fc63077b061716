/* High-water marks: a read shows the largest number that the mark was raised to.
 *
 * Each number that anybody may have raised it to is a part of the key, a register of its own: there or not.
 * It is written by those who leave it as the largest that they raise the mark to, which alone can show
 * through, and by those who delete the mark (not there, unless that is what they then raise it to). A read of
 * n observes that n is there and no greater number is; lower ones may be or not, and n may, too, where the
 * reader has raised the mark to that itself. So that it is known which version of the whole key was seen,
 * which those who raise the mark to less come before or after, too, that one is observed as well: any that is
 * there. Absent is as of sets. Linear in the writes, and per read in the numbers of its key; parts of a mark
 * that is deleted are also written by each who deletes it. */
#include "frontend/analyze_grow.h"

static int64_t number_of(const struct kr_growing *g, kr_item item)
{
	return kr_history_value(g->w->h, (kr_value){item.i})->integer;
}

/* ---- parts ---- */

/* A run of writes that did not abort: by whom, and the number that it leaves. */
struct raise {
	kr_txn txn;
	uint32_t element; /* into elements; KR_NONE: it leaves nothing */
	bool deletes;
	uint32_t next; /* with the same element, in the order of transactions */
};
KR_VEC_NAMED(raises, struct raise);

static uint32_t largest(const struct kr_growing *g, kr_key k, uint32_t from, uint32_t end)
{
	kr_item most = {KR_NONE};

	for (; from < end; from++)
		if (most.i == KR_NONE || number_of(g, g->writes[from].item) > number_of(g, most))
			most = g->writes[from].item;
	return most.i == KR_NONE ? KR_NONE : (uint32_t)(kr_grow_find(g, k, most) - g->elements.at);
}

static enum kr_status find_raises(struct kr_growing *g, kr_key k, struct raises *out)
{
	for (struct kr_grow_run run = {.end = 0}; kr_grow_next(g, k, &run);) {
		KR_TRY(kr_ctx_tick(g->w->ctx));
		KR_TRY(kr_vec_add(g->w->mem, out,
			(struct raise){run.txn, largest(g, k, run.since, run.end), run.deletes, KR_NONE}));
	}
	return KR_OK;
}

/* Each element's raises as a list, by `first` (per element of the key). */
static void chain_raises(const struct kr_growing *g, kr_key k, struct raises *raises, uint32_t *first)
{
	for (uint32_t i = g->element_first[k.i]; i < g->element_first[k.i + 1]; i++)
		first[i - g->element_first[k.i]] = KR_NONE;
	for (uint32_t i = raises->n; i-- > 0;) {
		struct raise *raise = &raises->at[i];

		if (raise->element == KR_NONE)
			continue;
		raise->next = first[raise->element - g->element_first[k.i]];
		first[raise->element - g->element_first[k.i]] = i;
	}
}

static enum kr_status make_versions(struct kr_parts *p, uint32_t element, const struct raises *raises,
	uint32_t first, bool deletes)
{
	for (uint32_t i = deletes && raises->n > 0 ? 0 : first; i < raises->n;
		i = deletes ? i + 1 : raises->at[i].next) {
		const struct raise *raise = &raises->at[i];
		bool there = raise->element == element;

		KR_TRY(kr_ctx_tick(p->g->w->ctx));
		if (there || raise->deletes)
			KR_TRY(kr_grow_part_version(p, raise->txn, kr_token_there(there)));
	}
	return KR_OK;
}

static enum kr_status make_parts(struct kr_parts *p, kr_key k, struct raises *raises)
{
	struct kr_growing *g = p->g;
	uint32_t from = g->element_first[k.i], end = g->element_first[k.i + 1];
	uint32_t *first = KR_NEW_ARRAY(g->w->scratch, uint32_t, end - from);
	bool open = kr_grow_open(g, k);

	if (!first)
		return KR_NOMEM;
	kr_bags_prepare_whole(p, k);
	KR_TRY(find_raises(g, k, raises));
	chain_raises(g, k, raises, first);
	for (uint32_t i = from; i < end; i++) {
		struct kr_grow_element *e = &g->elements.at[i];
		kr_token initial = open ? KR_TOKEN_UNTOLD : kr_token_there(e->initial);

		if (e->write == KR_NONE && !e->initial && !open)
			continue; /* only aborted transactions raised it to that */
		KR_TRY(kr_grow_part(p, k, e->item.i, initial, &e->part));
		KR_TRY(make_versions(p, i, raises, first[i - from], g->deleted[k.i]));
	}
	return KR_OK;
}

enum kr_status kr_marks_prepare(struct kr_parts *p, kr_key k)
{
	struct raises raises = {0};
	enum kr_status status = make_parts(p, k, &raises);

	kr_vec_done(p->g->w->mem, &raises);
	return status;
}

/* ---- reads ---- */

/* That `shown` is there, unless it may not be, and that no greater number is. */
static enum kr_status see_parts(struct kr_replay *r, kr_key k, int64_t shown, bool or_less)
{
	struct kr_growing *g = r->growing;

	for (uint32_t i = g->element_first[k.i]; i < g->element_first[k.i + 1]; i++) {
		const struct kr_grow_element *e = &g->elements.at[i];
		int64_t number = number_of(g, e->item);

		if (e->part.i != KR_NONE && (number > shown || (number == shown && !or_less)))
			KR_TRY(kr_analyze_see(r, e->part, kr_test_is(kr_token_there(number == shown)),
				false));
	}
	return kr_ctx_spend(r->w->ctx, g->element_first[k.i + 1] - g->element_first[k.i]);
}

enum kr_status kr_marks_see(struct kr_replay *r, kr_key k, struct kr_want *want)
{
	struct kr_growing *g = r->growing;
	const struct kr_grow_element *e = kr_grow_find(g, k, (kr_item){want->is.value.i});
	bool first = kr_grow_own(r, k)->effect.how == KR_KEEP, open = r->writes->keys[k.i].open_initial, done;
	int64_t shown = want->is.number;

	if (!e && open)
		kr_analyze_leave_out(r->w, r->txn, r->op,
			"a number that nobody raised it to, of a mark of unknown initial value,");
	else if (!e)
		return kr_analyze_contradict(r, k, KR_GARBAGE_READ, KR_NOBODY);
	else if (e->part.i == KR_NONE)
		return kr_analyze_contradict(r, k, KR_ABORTED_READ, e->aborted);
	KR_TRY(kr_grow_pull(r, k, want, &done));
	if (done)
		return KR_OK;
	if (r->fills)
		KR_TRY(see_parts(r, k, shown, want->or_less));
	return kr_analyze_see(r, k, kr_test_not(first ? KR_TOKEN_ABSENT : KR_TOKEN_NEVER), false);
}
