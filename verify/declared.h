/* Classes of findings about two transactions that their mechanism declares in data: what must be so, as facts
 * of the trace and as inequalities between instants, and how it is said. The check of findings takes the
 * declaration as what is claimed, and derives instants, versions and sights anew (recheck_declared.c), as for
 * the classes that it knows by name. */
#ifndef KR_VERIFY_DECLARED_H
#define KR_VERIFY_DECLARED_H

#include "krait/profile.h"
#include "verify/grounds.h"

/* the most of a class */
enum { KR_PREMISES = sizeof((struct kr_finding *)0)->at / sizeof((struct kr_finding *)0)->at[0] };

/* An instant of txns[of]; KR_INSTANT_STATEMENT is that of ops[of], _LOCK and _RELEASE are those of its
 * exclusive lock on the key. */
struct kr_end { enum kr_instant what; uint8_t of; };

/* `before` was at its latest when `after` was not yet at its earliest. */
struct kr_premise { struct kr_end before, after; };

enum kr_cites {
	KR_CITES_KEY = 1,     /* a key */
	KR_CITES_READ = 2,    /* ops[0] saw something of the key from outside its transaction */
	/* txns[1] surely made a version of the key, other than what a condition of ops[0] had left out */
	KR_CITES_CHANGE = 4,
	KR_CITES_WRITER = 8,  /* txns[0] wrote something */
	KR_CITES_SESSION = 16 /* txns[1] stands before txns[0] in one session */
};

struct kr_declared {
	const char *name;     /* of the class, as reports tell it */
	enum kr_mechanism_kind mechanism; /* under which it is counted */
	const char *says;     /* what cannot be: {0} and {1} are the transactions, {key} the key */
	bool (*asked)(const struct kr_profile *profile); /* does the profile ask for it at all? */
	unsigned cites;       /* enum kr_cites; both transactions are committed in any case */
	uint32_t premise_count;
	struct kr_premise premises[KR_PREMISES];
};

#endif
