/* What a line of JSON names, found in the history that it speaks of. Private to the readers of witnesses and
 * findings. Names are looked up in tables made for one line, since the history's own interning is not for
 * readers; filled on first use. */
#ifndef KR_VERIFY_NAMES_H
#define KR_VERIFY_NAMES_H

#include <jansson.h>

#include "base/table.h"
#include "frontend/history.h"

/* How such lines are parsed: names may hold NUL. */
#define KR_NAMES_JSON (JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES)

struct kr_names {
	const struct kr_history *h;
	struct kr_mem *mem;
	struct kr_table txns, keys; /* by name */
	struct kr_table values;     /* scalars */
	bool has_values;
	char why[160];              /* what was wrong, after KR_BAD */
};

/* KR_BAD: the trace has no such thing, or it cannot be named so. KR_NOMEM. */
enum kr_status kr_names_txn(struct kr_names *n, const json_t *json, kr_txn *out);
enum kr_status kr_names_key(struct kr_names *n, const json_t *json, kr_key *out);
enum kr_status kr_names_value(struct kr_names *n, const json_t *json, kr_value *out);
void kr_names_done(struct kr_names *n);

/* "an array"; of NULL "nothing". */
const char *kr_names_describe(const json_t *json);

#endif
