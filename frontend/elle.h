/* Inside of the reader of Jepsen's and Elle's histories, shared by elle*.c only. */
#ifndef KR_FRONTEND_ELLE_H
#define KR_FRONTEND_ELLE_H

#include "frontend/foreign.h"

struct elle_process {
	kr_value name;      /* KR_ABSENT: operations that name none, which are in no session */
	kr_session session; /* KR_NONE: the next transaction begins one */
	uint32_t sessions;  /* begun so far */
	bool open;          /* an operation is invoked and not completed: */
	uint32_t line;
	int64_t moment;
	KR_VEC(struct kr_operation) ops;
};

/* a condition of the history whose list is to come */
struct elle_remainder { uint32_t cond; int64_t modulus, rest; };

struct elle {
	struct kr_forms forms;
	int64_t moment; /* number of the map being read, from 1 */
	bool adding;        /* something is added to a counter or set */
	uint32_t key;       /* the :key of the map being read, or KR_NONE */
	bool keyed, alone; /* operations have named keys; have been of the only register */
	bool timed_out; /* it is a failure whose :error speaks of a timeout */
	KR_VEC(struct elle_process) processes;
	KR_VEC(struct elle_remainder) remainders;
	struct kr_table table;
};

/* Pushes the operations of a map of that :f and :value. What reads returned counts only where `known`: then
 * each needs it. */
enum kr_status kr_elle_ops(struct elle *e, uint32_t function, uint32_t value, bool known);
/* Whether they are micro-operations. */
bool kr_elle_is_transaction(const struct kr_forms *f, uint32_t function, uint32_t value);

/* Operations of one key (elle_single.c). Either all operations of a file have keys, or none. */
bool kr_elle_is_single(const struct kr_forms *f, uint32_t function);
/* It needs no value. */
bool kr_elle_is_bare(const struct kr_forms *f, uint32_t function);
enum kr_status kr_elle_single(struct elle *e, uint32_t function, uint32_t value, bool known);
enum kr_status kr_elle_shape(struct elle *e, bool keyed);
/* Of the operations from `first` on, which failed: why a compare-and-set did is not told. So it says nothing
 * of what was there, only that its value was not to be. */
void kr_elle_undone(struct kr_history *h, uint32_t first);

/* Closed predicates (elle_predicates.c): what an :init says; [:rp predicate result]; and, when all has been
 * read, which values leave a remainder. */
enum kr_status kr_elle_init(struct elle *e, uint32_t value);
enum kr_status kr_elle_predicate_read(struct elle *e, uint32_t form, uint32_t predicate, uint32_t result,
	bool known);
enum kr_status kr_elle_remainders(struct elle *e);

/* Jepsen's other workloads (elle_workloads.c): what a file of adds has of counters is settled at its end. */
enum kr_status kr_elle_add(struct elle *e, kr_key key, kr_value value);
enum kr_status kr_elle_accounts(struct elle *e, uint32_t map);
enum kr_status kr_elle_transfer(struct elle *e, uint32_t value);
enum kr_status kr_elle_lock(struct elle *e, kr_key key, bool acquire);
enum kr_status kr_elle_counters(struct elle *e);

/* Whether it is a log (history.txt, jepsen.log); its operations as maps, each on its line (elle_log.c). */
enum kr_status kr_elle_log(const char *path, struct kr_source *source, struct kr_str *out,
	struct kr_err *err);

/* What is no history that can be read (elle_other.c): the error where `of` is `name`. */
enum kr_status kr_elle_other(struct kr_forms *f, uint32_t name, uint32_t line, const char *of,
	const char *expected);
bool kr_elle_is_log(const char *head, size_t length);

/* Whether a form, or what is in it, speaks of a timeout. */
bool kr_elle_is_timeout(const struct kr_forms *f, uint32_t form);

/* An empty list is no list: where no operation writes a register, reads of [] are reads of nothing. */
enum kr_status kr_elle_empty_lists(struct kr_ctx *ctx, struct kr_history *h);

/* Whether a text begins with a bracket of a list, blanks and comments aside. */
bool kr_elle_is_list(const char *text, size_t length);

#endif
