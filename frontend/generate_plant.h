/* Planted anomalies of generated histories, as data: a handful of transactions with what they saw. For
 * generate.c alone. */
#ifndef KR_FRONTEND_GENERATE_PLANT_H
#define KR_FRONTEND_GENERATE_PLANT_H

#include "frontend/generate.h"

struct kr_plant;

/* By name, or NULL. */
const struct kr_plant *kr_plant_find(const char *name);
bool kr_plant_needs_times(const struct kr_plant *plant);
bool kr_plant_needs_initial(const struct kr_plant *plant); /* that keys start as something that is told */

/* Appends the transactions to the history: on new keys, in sessions picked among `sessions` names (more where
 * it needs more), at the times from *clock on, which it moves on. No other transaction may be open. */
struct kr_plant_site {
	struct kr_history *h;
	struct kr_rng *rng;
	uint32_t sessions; /* names used so far */
	bool times;
	int64_t *clock;
};
enum kr_status kr_plant_add(const struct kr_plant *plant, const struct kr_plant_site *site,
	struct kr_err *err);

/* Names that generated histories use. i == KR_NONE: out of memory. */
kr_key kr_generated_key(struct kr_history *h, char letter, uint32_t number);
kr_session kr_generated_session(struct kr_history *h, uint32_t number);

#endif
