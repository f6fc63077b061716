/* Whose turn it is, where a script says in which order its transactions go on. Who does not come back from a
 * statement for a while waits for another transaction: then others have their turns first. */
#ifndef KR_LAB_TURNS_H
#define KR_LAB_TURNS_H

#include <pthread.h>

#include "lab/script.h"

struct kr_turns {
	pthread_mutex_t lock;
	pthread_cond_t moved;
	const struct kr_script *script;
	bool taken[KR_SCRIPT_TURNS_MOST];
	int64_t since[KR_SCRIPT_TXNS_MOST]; /* a transaction's statement runs; 0: none does */
	bool left[KR_SCRIPT_TXNS_MOST];     /* it is over */
};

void kr_turns_init(struct kr_turns *turns, const struct kr_script *script);
void kr_turns_done(struct kr_turns *turns);
/* Returns when it is the turn of transaction `who`, or no turn of it is left. */
void kr_turn_begin(struct kr_turns *turns, uint32_t who);
void kr_turn_end(struct kr_turns *turns, uint32_t who);
void kr_turns_leave(struct kr_turns *turns, uint32_t who);

#endif
