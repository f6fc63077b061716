/* Running totals of counters for the schedule (counters.h). O(1) per installed version and per sum; a binary
 * search per counter that is about to change. */
#include "backend/counters.h"

#include <stdlib.h>

#include "base/order.h"

KR_BY_BOTH(by_total, struct kr_counter_group, key.i, total);

/* Sums of one key share the weights of its versions (but for the reader's own), so that what the counter is
 * now tells which of them are served. */
static struct kr_counter_group *find_group(const struct kr_counters *c, kr_key key, int64_t total)
{
	struct kr_counter_group wanted = {key, total, 0};
	return c->ngroups ? bsearch(&wanted, c->groups, c->ngroups, sizeof *c->groups, by_total) : NULL;
}

static void make_groups(struct kr_counters *c, const uint8_t *active)
{
	for (uint32_t i = 0; i < c->nsums; i++)
		c->groups[i] = (struct kr_counter_group){c->sums[i].key, c->sums[i].total, 0};
	KR_SORT(c->groups, c->nsums, by_total);
	for (uint32_t i = 0; i < c->nsums; i++) {
		if (c->ngroups == 0 || by_total(&c->groups[c->ngroups - 1], &c->groups[i]) != 0)
			c->groups[c->ngroups++] = c->groups[i];
	}
	for (uint32_t i = 0; i < c->nsums; i++) {
		struct kr_counter_group *group = find_group(c, c->sums[i].key, c->sums[i].total);
		c->group_of[i] = (uint32_t)(group - c->groups);
		group->pending += active[c->sums[i].txn.i];
	}
}

/* What the counters are before anything is installed. */
static void set_values(struct kr_counters *c)
{
	const struct kr_asg *asg = c->ir->asg;
	for (uint32_t k = 0; k < asg->nkeys && asg->amounts; k++)
		c->value[k] = (uint64_t)asg->amounts[asg->keys[k].first].amount;
	for (uint32_t i = 0; i < asg->nterms && !asg->amounts; i++)
		c->weight[asg->terms[i].seen.i] = (uint64_t)asg->terms[i].weight;
	for (uint32_t k = asg->nkeys - asg->nparts; k < asg->nkeys; k++)
		c->value[kr_asg_whole(asg, (kr_key){k}).i] += c->weight[asg->keys[k].first];
}

enum kr_status kr_counters_init(struct kr_counters *c, const struct kr_ir *ir, const uint8_t *active)
{
	const struct kr_asg *asg = ir->asg;
	*c = (struct kr_counters){.arena = {.mem = &ir->ctx->mem},
		.ir = ir,
		.sums = asg->shown ? asg->shown : asg->sums,
		.nsums = asg->shown ? asg->nshown : asg->nsums};
	if (c->nsums == 0)
		return KR_OK;
	KR_TRY(kr_arena_new(&c->arena, c->sum_first, (size_t)asg->ntxns + 1));
	KR_TRY(kr_arena_new(&c->arena, c->weight, asg->nversions));
	KR_TRY(kr_arena_new(&c->arena, c->value, asg->nkeys));
	KR_TRY(kr_arena_new(&c->arena, c->groups, c->nsums));
	KR_TRY(kr_arena_new(&c->arena, c->group_of, c->nsums));
	for (uint32_t t = 0, i = 0; t <= asg->ntxns; t++) {
		while (i < c->nsums && c->sums[i].txn.i < t)
			i++;
		c->sum_first[t] = i;
	}
	set_values(c);
	make_groups(c, active);
	return KR_OK;
}

uint32_t kr_counters_beyond(const struct kr_counters *c, kr_key k, int64_t total)
{
	struct kr_counter_group wanted = {k, total, 0};
	uint32_t low = 0, high = c->ngroups;
	KR_BISECT(low, low, high, by_total(&c->groups[low], &wanted) <= 0);
	return low;
}

uint32_t kr_counters_group(const struct kr_counters *c, kr_key k)
{
	const struct kr_counter_group *group = find_group(c, k, (int64_t)c->value[k.i]);
	return group ? (uint32_t)(group - c->groups) : KR_NONE;
}

void kr_counters_done(struct kr_counters *c)
{
	if (!c->ir)
		return;
	kr_arena_done(&c->arena);
	*c = (struct kr_counters){.ir = NULL};
}

kr_key kr_counters_unserved(const struct kr_counters *c, kr_txn t)
{
	for (uint32_t i = c->sum_first ? c->sum_first[t.i] : 0; c->sum_first && i < c->sum_first[t.i + 1];
		i++) {
		if (c->value[c->sums[i].key.i] != (uint64_t)c->sums[i].total)
			return c->sums[i].key;
	}
	return (kr_key){KR_NONE};
}

bool kr_counters_wanted(const struct kr_counters *c, kr_txn t)
{
	const struct kr_asg *asg = c->ir->asg;
	for (uint32_t i = asg->written_first[t.i]; c->ngroups && i < asg->written_first[t.i + 1]; i++) {
		kr_key k = asg->versions[asg->written[i].i].key;
		const struct kr_counter_group *group =
			k.i < asg->nkeys - asg->nparts ? find_group(c, k, (int64_t)c->value[k.i]) : NULL;
		uint32_t own = 0;
		for (uint32_t j = c->sum_first[t.i]; group && j < c->sum_first[t.i + 1]; j++)
			own += &c->groups[c->group_of[j]] == group;
		if (group && group->pending > own)
			return true;
	}
	return false;
}

/* What its counter is with `now` in the place of `before`. */
static uint64_t total_with(const struct kr_counters *c, kr_version before, kr_version now)
{
	const struct kr_asg *asg = c->ir->asg;
	uint64_t value = c->value[kr_asg_whole(asg, asg->versions[now.i].key).i];
	if (!asg->amounts)
		return value + c->weight[now.i] - c->weight[before.i];
	return asg->amounts[now.i].absolute ? (uint64_t)asg->amounts[now.i].amount
					    : value + (uint64_t)asg->amounts[now.i].amount;
}

bool kr_counters_arrives(const struct kr_counters *c, kr_version before, kr_version now)
{
	kr_key k = kr_asg_whole(c->ir->asg, c->ir->asg->versions[now.i].key);
	uint32_t any = kr_counters_beyond(c, k, INT64_MIN);
	if (any == c->ngroups || c->groups[any].key.i != k.i)
		return true;
	const struct kr_counter_group *group = find_group(c, k, (int64_t)total_with(c, before, now));
	return group && group->pending > 0;
}

void kr_counters_serve(struct kr_counters *c, kr_txn t)
{
	for (uint32_t i = c->sum_first ? c->sum_first[t.i] : 0; c->sum_first && i < c->sum_first[t.i + 1];
		i++)
		c->groups[c->group_of[i]].pending--;
}

void kr_counters_unserve(struct kr_counters *c, kr_txn t)
{
	for (uint32_t i = c->sum_first[t.i]; i < c->sum_first[t.i + 1]; i++)
		c->groups[c->group_of[i]].pending++;
}

void kr_counters_install(struct kr_counters *c, kr_version before, kr_version now)
{
	if (c->value)
		c->value[kr_asg_whole(c->ir->asg, c->ir->asg->versions[now.i].key).i] =
			total_with(c, before, now);
}
