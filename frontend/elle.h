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

struct elle {
	struct kr_forms forms;
	int64_t moment; /* number of the map being read, from 1 */
	bool timed_out; /* it is a failure whose :error speaks of a timeout */
	KR_VEC(struct elle_process) processes;
	struct kr_table table;
};

/* Pushes the micro-operations of a form. What reads returned counts only where `known`: then each needs it. */
enum kr_status kr_elle_ops(struct elle *e, uint32_t value, bool known);

/* Whether a form, or what is in it, speaks of a timeout. */
bool kr_elle_is_timeout(const struct kr_forms *f, uint32_t form);

/* An empty list is no list: where no operation writes a register, reads of [] are reads of nothing. */
enum kr_status kr_elle_empty_lists(struct kr_ctx *ctx, struct kr_history *h);

/* Whether a text begins with a bracket of a list, blanks and comments aside. */
bool kr_elle_is_list(const char *text, size_t length);

#endif
