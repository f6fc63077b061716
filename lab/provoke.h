/* krait-lab provoke: schedules are run on a database, one statement after the other, and what came of each is
 * judged (docs/provoke.md). A worker process holds the store and fills in attempts, in memory that it shares
 * with the lab's own process, which judges and tells them: whatever the database's library does, what was
 * seen until then is there. */
#ifndef KR_LAB_PROVOKE_H
#define KR_LAB_PROVOKE_H

#include <stdatomic.h>

#include "coo/executed.h"
#include "lab/driver.h"

enum { KR_STEPS = 64, KR_CASES_MOST = 4096, KR_SEEN = 2, KR_SERIAL_SHOWN = 24 };

/* ---- cases (provoke_cases.c) ---- */

KR_VEC_NAMED(kr_lab_cases, struct kr_coo_schedule);

struct kr_args;

/* What the operands name, or all built-in ones; or --cycles. KR_EXIT_SATISFIED, or another status after a
 * message. The caller owns *out in every case (kr_lab_cases_done). */
int kr_lab_cases_take(const struct kr_args *args, struct kr_lab_cases *out);
void kr_lab_cases_done(struct kr_mem *mem, struct kr_lab_cases *cases);

/* The key of an object: those of a range are neighbours, and come before all others that begin alike. */
const char *kr_object_key(char object, char out[4]);

/* ---- what was done ---- */

struct kr_shown { bool there; int64_t value; };

struct kr_done { /* a step of the schedule */
	struct kr_coo_op op;
	bool sent_at_all, answered_at_all, blocked;
	uint8_t answer;          /* enum kl_answer */
	int64_t sent, answered;
	int64_t waited_until;    /* when it was last known to wait */
	bool done;               /* of an insert or delete; of an update of rows: some */
	struct kr_shown seen[KR_SEEN]; /* of a read the object; of operations on ranges both objects */
	char code[16], message[160], text[256];
};

enum kr_part_end { KR_PART_OPEN, KR_PART_COMMITTED, KR_PART_ABORTED, KR_PART_UNKNOWN };

struct kr_lab_part { /* a transaction of the schedule */
	bool began;
	uint8_t outcome;         /* enum kr_part_end */
	int32_t failed;          /* the step that did, or -1 */
	int64_t begin[2], end[2];
};

enum kr_progress { KR_NOT_YET, KR_GOING_ON, KR_FINISHED, KR_LEFT_OUT, KR_CRASHED };

struct kr_attempt {
	_Atomic int progress;    /* enum kr_progress */
	bool stuck;              /* something did not come back */
	bool unsteady;           /* repetitions differ */
	uint32_t steps_n;
	struct kr_done steps[KR_STEPS];
	struct kr_lab_part parts[KR_COO_TXNS + 1];
	bool used[KR_COO_OBJECTS];
	struct kr_shown final[KR_COO_OBJECTS];
	int64_t final_begin[2], final_end[2];
	int64_t began, ended;
};

/* ---- running (provoke_run.c, provoke_worker.c) ---- */

struct kr_runner {
	struct kl_store store;
	const struct kl_level *const *levels; /* to run, */
	uint32_t levels_n;
	const struct kr_lab_cases *cases;
	struct kr_attempt *attempts;          /* shared: of each level all cases */
	int64_t grace, cap;                   /* ns */
	struct { char version[160], message[600]; int failure; _Atomic int ended; } *said; /* shared */
};

/* The case on the store, which is started and has its tables. False: nothing works any more, see
 * store.why. */
struct kr_stage;
struct kr_stage *kr_stage_open(struct kr_runner *r, const struct kl_level *level);
bool kr_stage_run(struct kr_stage *stage, const struct kr_coo_schedule *s, struct kr_attempt *out);
void kr_stage_close(struct kr_stage *stage);

bool kr_is_buffered(const struct kr_runner *r, const struct kl_level *level);

/* All attempts that are not finished, in processes of their own. KR_EXIT_SATISFIED, or another status after a
 * message. */
int kr_runner_run(struct kr_runner *r);

/* ---- judging (provoke_judge.c) ---- */

struct kr_serial {               /* an order of transactions that was tried */
	uint8_t txns[KR_COO_TXNS];
	char difference[120];    /* the first one; empty: none */
};

struct kr_judgement {
	char letter[8];          /* of the first error in time, or P or A, with marks */
	char letters[40];        /* with those of later errors */
	char executed[1200];
	bool serial;             /* some order explains all answers */
	struct kr_serial orders[KR_SERIAL_SHOWN]; /* if `serial`, the last of them is the one that does */
	uint32_t orders_n;       /* of them that are kept, */
	uint64_t orders_tried;
	bool cyclic;
	struct kr_pops pops;
	struct kr_coo_anomaly anomaly; /* if cyclic */
};

/* KR_NOMEM. The caller owns *out (kr_judgement_done). */
enum kr_status kr_judge(struct kr_mem *mem, const struct kr_coo_schedule *s, const struct kr_attempt *a,
	bool buffered, struct kr_judgement *out);
void kr_judgement_done(struct kr_mem *mem, struct kr_judgement *j);

/* The steps that wrote a version of the object, in the order of the versions: places in a->steps. How
 * many. */
uint32_t kr_versions_find(const struct kr_attempt *a, char object, bool buffered, uint32_t out[KR_STEPS]);

/* Whether two runs of a case came out alike. */
bool kr_attempts_alike(struct kr_mem *mem, const struct kr_attempt *a, const struct kr_attempt *b);

/* ---- telling (provoke_trace.c, provoke_json.c) ---- */

/* The attempt as a native trace; NULL: no memory. Freed with free(). */
char *kr_attempt_trace(const struct kr_runner *r, const struct kl_level *level,
	const struct kr_coo_schedule *s, const struct kr_attempt *a);

/* The operation of a driver that a step is; false: it is the end of a transaction. */
bool kr_step_op(const struct kr_coo_schedule *s, const struct kr_coo_op *op, char key[4], char high[4],
	struct kl_op *out);

#endif
