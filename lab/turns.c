/* A turn can be taken when each one before it is, or is of a transaction that is over or waits itself, and
 * nobody else's statement runs but those that wait. */
#define _GNU_SOURCE
#include "lab/turns.h"

#include <time.h>

#define BLOCKED INT64_C(250000000) /* ns */
#define TICK 20000000

void kr_turns_init(struct kr_turns *turns, const struct kr_script *script)
{
	*turns = (struct kr_turns){.script = script};
	(void)pthread_mutex_init(&turns->lock, NULL);
	(void)pthread_cond_init(&turns->moved, NULL);
}

void kr_turns_done(struct kr_turns *turns)
{
	(void)pthread_cond_destroy(&turns->moved);
	(void)pthread_mutex_destroy(&turns->lock);
}

static bool waits(const struct kr_turns *turns, uint32_t who)
{
	return turns->since[who] > 0 && kl_now() - turns->since[who] > BLOCKED;
}

/* The first turn that `who` has left; turns_n: none. */
static uint32_t next_of(const struct kr_turns *turns, uint32_t who)
{
	uint32_t i = 0;

	while (i < turns->script->turns_n && (turns->taken[i] || turns->script->turns[i] != who))
		i++;
	return i;
}

static bool can_take(const struct kr_turns *turns, uint32_t turn)
{
	for (uint32_t i = 0; i < turn; i++) {
		uint32_t owner = turns->script->turns[i];

		if (!turns->taken[i] && !turns->left[owner] && !waits(turns, owner))
			return false;
	}
	for (uint32_t t = 0; t < turns->script->txns_n; t++)
		if (turns->since[t] > 0 && !waits(turns, t))
			return false;
	return true;
}

void kr_turn_begin(struct kr_turns *turns, uint32_t who)
{
	uint32_t turn;

	(void)pthread_mutex_lock(&turns->lock);
	while ((turn = next_of(turns, who)) < turns->script->turns_n && !can_take(turns, turn)) {
		struct timespec end;

		(void)clock_gettime(CLOCK_REALTIME, &end);
		end.tv_nsec += TICK;
		end.tv_sec += end.tv_nsec / 1000000000;
		end.tv_nsec %= 1000000000;
		(void)pthread_cond_timedwait(&turns->moved, &turns->lock, &end);
	}
	if (turn < turns->script->turns_n)
		turns->taken[turn] = true;
	turns->since[who] = kl_now();
	(void)pthread_mutex_unlock(&turns->lock);
}

void kr_turn_end(struct kr_turns *turns, uint32_t who)
{
	(void)pthread_mutex_lock(&turns->lock);
	turns->since[who] = 0;
	(void)pthread_cond_broadcast(&turns->moved);
	(void)pthread_mutex_unlock(&turns->lock);
}

void kr_turns_leave(struct kr_turns *turns, uint32_t who)
{
	(void)pthread_mutex_lock(&turns->lock);
	turns->left[who] = true;
	(void)pthread_cond_broadcast(&turns->moved);
	(void)pthread_mutex_unlock(&turns->lock);
}
