/* What `krait-lab provoke` says of an attempt. */
#ifndef KR_LAB_PROVOKE_TELL_H
#define KR_LAB_PROVOKE_TELL_H

#include "lab/provoke.h"

/* One cell: a case at a level. */
struct kr_lab_cell {
	const struct kr_runner *runner;        /* NULL: nothing was run */
	const struct kl_level *level;
	const struct kr_coo_schedule *schedule;
	const struct kr_attempt *attempt;
	const struct kr_judgement *judgement;
	const char *trace, *text;              /* its path, and what it holds; NULL: there is none */
	const char *expected;                  /* another letter than the one found; NULL: none */
	const char *explanation;               /* of `krait check`; NULL: not asked */
};

/* A JSON object. `whole`: with all that a page shows. KR_NOMEM. */
enum kr_status kr_cell_json(const struct kr_lab_cell *cell, bool whole, struct kr_str *out);

#endif
