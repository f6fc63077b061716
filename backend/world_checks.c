/* What a candidate world with an acyclic graph may still get wrong (world.h): sums of counters, untold
 * initial values seen as two, parts of a key seen at different times; and the facts that a solver needs to do
 * better. Linear in what is checked, but for orders under guards, of which there are few. */
#include "backend/world.h"

static bool adds_up(const struct kr_candidate *w, const struct kr_asg_sum *sum)
{
	const struct kr_asg_term *term = w->ir->asg->terms + sum->first;
	int64_t total = 0;
	for (uint32_t i = 0; i < sum->count; i++)
		if (w->source[term[i].obs.i].i == term[i].seen.i &&
			__builtin_add_overflow(total, term[i].weight, &total))
			return false;
	return total == sum->total;
}

enum kr_status kr_candidate_sums(struct kr_candidate *w, struct kr_choices *c, bool *found)
{
	const struct kr_asg *asg = w->ir->asg;
	enum kr_status status = KR_OK;
	*found = false;
	for (uint32_t i = 0; i < asg->nsums && !status; i++) {
		status = kr_ctx_tick(w->ir->ctx);
		if (status || !w->active[asg->sums[i].txn.i] || adds_up(w, &asg->sums[i]))
			continue;
		*found = true;
		status = kr_choices_sum(c, i);
		if (!status)
			status = kr_candidate_ground(w, c, asg->sums[i].txn);
	}
	return status;
}

enum kr_status kr_candidate_guards(struct kr_candidate *w, struct kr_choices *c, const struct kr_link *links,
	uint32_t n)
{
	const struct kr_asg *asg = w->ir->asg;

	for (uint32_t i = 0; i < n && w->guarded.n > 0; i++) {
		if (links[i].kind != KR_WW || links[i].edge != KR_NONE)
			continue;
		for (uint32_t j = 0; j < w->guarded.n; j++) {
			const struct kr_guarded *g = &w->guarded.at[j];
			if (asg->versions[g->before.i].key.i != links[i].key.i ||
				kr_candidate_writer(w, g->before).i != links[i].from.i ||
				kr_candidate_writer(w, g->after).i != links[i].to.i)
				continue;
			KR_TRY(kr_choices_guard(c, g->before, g->after, w->guards.at + g->first, g->count));
			for (uint32_t k = 0; k < g->count; k++)
				KR_TRY(kr_candidate_ground(w, c, w->guards.at[g->first + k]));
		}
	}
	return KR_OK;
}

enum kr_status kr_candidate_disagreements(struct kr_candidate *w, struct kr_choices *c, bool *found)
{
	const struct kr_asg *asg = w->ir->asg;
	*found = false;
	for (uint32_t k = 0; k < asg->nkeys; k++) {
		kr_version initial = kr_asg_initial(asg, (kr_key){k});
		uint32_t first = w->reader_head[initial.i];
		if (!asg->keys[k].open_initial || first == KR_NONE)
			continue;
		for (uint32_t o = w->reader_next[first]; o != KR_NONE; o = w->reader_next[o]) {
			kr_lit l;
			if (asg->obs[o].set == asg->obs[first].set)
				continue;
			*found = true;
			if (w->ir->source[first].i == KR_NONE)
				KR_TRY(kr_choices_source(c, (kr_obs){first}, initial, &l));
			if (w->ir->source[o].i == KR_NONE)
				KR_TRY(kr_choices_source(c, (kr_obs){o}, initial, &l));
			KR_TRY(kr_candidate_ground(w, c, asg->obs[first].txn));
			KR_TRY(kr_candidate_ground(w, c, asg->obs[o].txn));
		}
	}
	return KR_OK;
}

/* ---- parts seen together ---- */

/* An active version of the part that o saw, over the one that it saw, no newer than `newest`; KR_NONE: there
 * is none that matters. */
static kr_version written_over(const struct kr_candidate *w, uint32_t o, uint32_t newest)
{
	const struct kr_asg *asg = w->ir->asg;
	const struct kr_asg_key *part = &asg->keys[asg->obs[o].key.i];
	uint32_t seen = kr_candidate_place_of(w, w->source[o]);
	for (uint32_t v = part[0].first + 1; v < part[1].first; v++) {
		kr_version over = {v};
		kr_txn t = asg->versions[v].writer;
		uint32_t at = w->active[t.i] && t.i != asg->obs[o].txn.i ? kr_candidate_place_of(w, over) : 0;
		if (at <= newest && at > seen && kr_asg_tears(asg, (kr_obs){o}, over))
			return over;
	}
	return (kr_version){KR_NONE};
}

/* Observations [first, end) are those of one operation. The parts of key k must show what was the newest at
 * the place of the newest version seen of any. */
static enum kr_status find_tears(struct kr_candidate *w, uint32_t first, uint32_t end, kr_key k,
	struct kr_proof *proof, uint32_t most)
{
	const struct kr_asg *asg = w->ir->asg;
	struct kr_tear tear = {.newer = {KR_NONE}};
	uint32_t newest = 0;
	for (uint32_t o = first; o < end; o++) {
		if (kr_asg_whole(asg, asg->obs[o].key).i != k.i ||
			kr_candidate_place_of(w, w->source[o]) <= newest)
			continue;
		newest = kr_candidate_place_of(w, w->source[o]);
		tear.newer.i = o;
		tear.newest = w->source[o];
	}
	for (uint32_t o = first; o < end && newest > 0 && proof->cycles.n < most; o++) {
		if (kr_asg_whole(asg, asg->obs[o].key).i != k.i)
			continue;
		tear.older.i = o;
		tear.seen = w->source[o];
		tear.over = written_over(w, o, newest);
		if (tear.over.i != KR_NONE)
			KR_TRY(kr_proof_tear(proof, asg, &tear));
		KR_TRY(kr_ctx_tick(w->ir->ctx));
	}
	return KR_OK;
}

enum kr_status kr_candidate_tears(struct kr_candidate *w, struct kr_proof *proof, uint32_t most)
{
	const struct kr_asg *asg = w->ir->asg;
	uint32_t whole = asg->nkeys - asg->nparts, end;
	bool counts = asg->nparts > 0 && kr_level_kinds(w->ir->level) & KR_BIT(KR_WR); /* what was seen */
	most += proof->cycles.n;
	for (uint32_t o = 0; o < asg->nobs && counts && proof->cycles.n < most; o = end) {
		end = kr_asg_operation_end(asg, o);
		for (uint32_t i = o; i < end && w->active[asg->obs[o].txn.i]; i++) {
			bool again = i > o && asg->obs[i - 1].key.i >= whole &&
				kr_asg_whole(asg, asg->obs[i - 1].key).i ==
					kr_asg_whole(asg, asg->obs[i].key).i;
			if (asg->obs[i].key.i >= whole && !again)
				KR_TRY(find_tears(w, o, end, kr_asg_whole(asg, asg->obs[i].key), proof,
					most));
		}
		KR_TRY(kr_ctx_tick(w->ir->ctx));
	}
	return KR_OK;
}
