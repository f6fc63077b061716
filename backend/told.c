/* Told version orders: one depth-first search per question, over the pairs that the trace tells. Few traces
 * tell any, and then few pairs are asked for. */
#include "backend/told.h"

#include "base/order.h"

enum kr_status kr_told_init(struct kr_told *told, struct kr_mem *mem, const struct kr_asg *asg)
{
	*told = (struct kr_told){.arena = {.mem = mem}, .mem = mem, .asg = asg};
	if (asg->norders == 0)
		return KR_OK;
	KR_TRY(kr_arena_new(&told->arena, told->first, (size_t)asg->nversions + 2));
	KR_TRY(kr_arena_new(&told->arena, told->pairs, asg->norders));
	KR_TRY(kr_arena_new(&told->arena, told->seen, asg->nversions));
	KR_TRY(kr_arena_new(&told->arena, told->via, asg->nversions));
	for (uint32_t i = 0; i < asg->norders; i++)
		told->first[asg->orders[i].before.i + 2]++;
	kr_index_places(told->first, asg->nversions);
	for (uint32_t i = 0; i < asg->norders; i++)
		told->pairs[told->first[asg->orders[i].before.i + 1]++] = i;
	return KR_OK;
}

void kr_told_done(struct kr_told *told)
{
	if (!told->asg)
		return;

	struct kr_mem *mem = told->mem;

	kr_arena_done(&told->arena);
	kr_vec_done(mem, &told->stack);
	*told = (struct kr_told){0};
}

static bool is_open(const struct kr_told *told, kr_txn guard)
{
	return guard.i != KR_NONE && told->asg->txns[guard.i].presence != KR_PRESENT;
}

/* What a read tells of a version that it does not show says nothing if that is not there, so it does not lead
 * on through it; what the trace gives does. */
static bool leads_on(const struct kr_told *told, uint32_t pair, bool there)
{
	return there || pair >= told->asg->norders_seen;
}

static enum kr_status start(struct kr_told *told, kr_version v)
{
	told->question++;
	kr_vec_clear(&told->stack);
	return kr_vec_add(told->mem, &told->stack, v);
}

enum kr_status kr_told_after(struct kr_told *told, kr_version v, const uint8_t *active,
	struct kr_versions *out)
{
	if (!told->first)
		return KR_OK;

	enum kr_status status = start(told, v);

	while (!status && told->stack.n > 0) {
		kr_version x = kr_vec_pop(&told->stack);
		for (uint32_t i = told->first[x.i]; i < told->first[x.i + 1] && !status; i++) {
			const struct kr_asg_order *pair = &told->asg->orders[told->pairs[i]];
			kr_version next = pair->after;
			bool stop = active[told->asg->versions[next.i].writer.i];
			if (told->seen[next.i] == told->question ||
				(pair->guard.i != KR_NONE && !active[pair->guard.i]) ||
				!leads_on(told, told->pairs[i], stop))
				continue;
			told->seen[next.i] = told->question;
			told->via[next.i] = told->pairs[i];
			if (!(stop ? kr_vec_push(told->mem, out, next)
				   : kr_vec_push(told->mem, &told->stack, next)))
				status = KR_NOMEM;
		}
	}
	return status;
}

enum kr_status kr_told_before(struct kr_told *told, kr_version a, kr_version b, bool *before)
{
	*before = kr_asg_is_initial(told->asg, a) && a.i != b.i;
	if (*before || !told->first)
		return KR_OK;
	if (start(told, a))
		return KR_NOMEM;
	while (told->stack.n > 0 && !*before) {
		kr_version v = kr_vec_pop(&told->stack);
		for (uint32_t i = told->first[v.i]; i < told->first[v.i + 1]; i++) {
			const struct kr_asg_order *pair = &told->asg->orders[told->pairs[i]];
			kr_version next = pair->after;
			bool there = next.i == b.i || !is_open(told, told->asg->versions[next.i].writer);
			if (told->seen[next.i] == told->question || is_open(told, pair->guard) ||
				!leads_on(told, told->pairs[i], there))
				continue;
			told->seen[next.i] = told->question;
			*before = *before || next.i == b.i;
			KR_TRY(kr_vec_add(told->mem, &told->stack, next));
		}
	}
	return KR_OK;
}

enum kr_status kr_told_guards_of(const struct kr_told *told, kr_version v, kr_version later,
	struct kr_told_guards *out)
{
	do { /* `later` may be v itself, behind a version that does not exist */
		const struct kr_asg_order *pair = &told->asg->orders[told->via[later.i]];
		if (is_open(told, pair->guard) && !kr_vec_push(told->mem, out, pair->guard))
			return KR_NOMEM;
		later = pair->before;
	} while (later.i != v.i);
	return KR_OK;
}
