/* Locks of simulated databases: of keys and of ranges of keys, shared and exclusive, held until the
 * transaction ends.
 *
 * An exclusive lock of a key conflicts with any lock of it by another; a lock of a range with writes of
 * keys inside, and two ranges never. Who must wait looks whether it waits for itself: clients that wait
 * are reached through whose locks they wait for. Cost: locks held, for each statement; clients times
 * locks, for one that waits. */
#include "frontend/generate_timed.h"

#include <string.h>

static bool needs(const struct kr_timed *s, const struct kr_timed_client *c, struct kr_timed_lock *out)
{
	*out = (struct kr_timed_lock){.low = c->low,
		.high = c->high,
		.exclusive = c->kind == KR_TIMED_WRITE || c->kind == KR_TIMED_LOCKING};
	if (c->kind == KR_TIMED_COMMIT || c->kind == KR_TIMED_ROLLBACK)
		return false;
	return out->exclusive || (s->rules->read_locks && !c->autocommit);
}

static bool conflict(const struct kr_timed_lock *a, const struct kr_timed_lock *b)
{
	return (a->exclusive || b->exclusive) && a->low < b->high && b->low < a->high;
}

/* Whether `other` holds what keeps `lock` from being granted. */
static bool holds(const struct kr_timed_client *other, const struct kr_timed_lock *lock)
{
	for (uint32_t i = 0; i < other->locks.n; i++)
		if (conflict(&other->locks.at[i], lock))
			return true;
	return false;
}

/* Whether c, which is about to wait for `lock`, is reached from those that it waits for. */
static bool waits_for_itself(struct kr_timed *s, const struct kr_timed_client *c, struct kr_timed_lock lock)
{
	uint32_t sessions = s->options->sessions, n = 0;
	const struct kr_timed_client *at = c;

	memset(s->reached, 0, sessions * sizeof *s->reached);
	for (;;) {
		for (uint32_t i = 0; i < sessions; i++) {
			if (&s->clients[i] == at || s->reached[i] || !holds(&s->clients[i], &lock))
				continue;
			if (&s->clients[i] == c)
				return true;
			s->reached[i] = true;
			if (s->clients[i].phase == KR_TIMED_WAIT)
				s->stack[n++] = i;
		}
		if (n == 0)
			return false;
		at = &s->clients[s->stack[--n]];
		needs(s, at, &lock);
	}
}

enum kr_status kr_timed_lock(struct kr_timed *s, struct kr_timed_client *c, bool *granted, bool *deadlock)
{
	struct kr_timed_lock lock;

	*granted = true;
	*deadlock = false;
	if (!needs(s, c, &lock))
		return KR_OK;
	for (uint32_t i = 0; i < s->options->sessions && *granted; i++)
		*granted = &s->clients[i] == c || !holds(&s->clients[i], &lock);
	if (!*granted) {
		*deadlock = waits_for_itself(s, c, lock);
		return KR_OK;
	}
	return kr_vec_add(&s->ctx->mem, &c->locks, lock);
}
