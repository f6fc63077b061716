/* The conditions of predicate reads and updates: the pure meaning of the format, for the analysis and the
 * verifier alike. */
#ifndef KR_FRONTEND_WHERE_H
#define KR_FRONTEND_WHERE_H

#include "frontend/json.h"

/* Whether every condition of the scan holds for a present key with this value. A value with i == KR_NONE is
 * one that cannot be told: KR_UNSUPPORTED where it matters. *out is written on KR_OK. */
enum kr_status kr_where_holds(const struct kr_history *h, const struct kr_scan *scan, kr_key key,
	kr_value value, bool *out, struct kr_err *err);

/* The same for a present value that the history need not have, such as a counter's. */
bool kr_where_holds_of(const struct kr_history *h, const struct kr_scan *scan, kr_key key,
	const struct kr_operand *value);

/* Whether some condition asks for more than the key's name; and whether the key's name meets the conditions
 * on names. */
bool kr_where_of_values(const struct kr_history *h, const struct kr_scan *scan);
bool kr_where_has_prefix(const struct kr_history *h, const struct kr_scan *scan, kr_key key);

/* Whether some condition compares the value with an array. If none does, either all arrays that a key may
 * hold meet the conditions or none does. */
bool kr_where_of_elements(const struct kr_history *h, const struct kr_scan *scan);

/* All keys in the order of ranges, in the arena. KR_NOMEM. */
enum kr_status kr_keys_by_name(const struct kr_history *h, struct kr_arena *arena, kr_key **out);

/* Whether a name lies within the bounds of a range. */
bool kr_where_in_bounds(const struct kr_history *h, const struct kr_scan *scan, kr_value name);

#endif
