/* Look-up of back ends and the life of an answer. */
#include "backend/backend.h"

#include <stdio.h>
#include <string.h>

#include "base/call.h"

/* What krait_answer_... recorded of a wrong call stands in the reason, since they have no error to tell it
 * by. */
static void take_reason(const struct kr_answer *out, enum kr_status status, struct kr_err *err)
{
	if (status != KR_OK && out->reason[0])
		kr_err_set(err, status, "%s", out->reason);
}

static enum kr_status check_answer(const struct kr_call *call, struct kr_answer *out, struct kr_err *err)
{
	if ((unsigned)out->outcome > KR_UNDECIDED)
		return kr_call_fail(call, err, "answered with the outcome %d, which there is not",
			(int)out->outcome);
	if (out->outcome == KR_UNDECIDED && !out->reason[0])
		(void)snprintf(out->reason, sizeof out->reason,
			"back end '%.60s' gave neither an answer nor a reason", call->name);
	return KR_OK;
}

static enum kr_status ask(enum kr_status (*function)(struct kr_ir *, struct kr_answer *, struct kr_err *),
	const struct kr_backend *backend, struct kr_ir *ir, struct kr_answer *out, struct kr_err *err)
{
	struct kr_call call;

	kr_call_enter(ir->ctx, &call, "back end", backend->name);
	enum kr_status status = function(ir, out, err);
	take_reason(out, status, err);
	status = kr_call_leave(ir->ctx, &call, status, err);
	return status ? status : check_answer(&call, out, err);
}

enum kr_status kr_backend_solve(const struct kr_backend *backend, struct kr_ir *ir, struct kr_answer *out,
	struct kr_err *err)
{
	return ask(backend->solve, backend, ir, out, err);
}

enum kr_status kr_backend_attempt(const struct kr_backend *backend, struct kr_ir *ir, struct kr_answer *out,
	struct kr_err *err)
{
	return ask(backend->attempt, backend, ir, out, err);
}

enum kr_status kr_backend_write(const struct kr_backend *backend, struct kr_ir *ir, struct kr_str *out,
	struct kr_err *err)
{
	struct kr_call call;

	kr_call_enter(ir->ctx, &call, "back end", backend->name);
	enum kr_status status = backend->write(ir, out, err);
	return kr_call_leave(ir->ctx, &call, status, err);
}

void kr_answer_init(struct kr_answer *answer, struct kr_mem *mem)
{
	*answer = (struct kr_answer){.outcome = KR_UNDECIDED};
	kr_proof_init(&answer->proof, mem);
}

void kr_answer_done(struct kr_answer *answer, struct kr_mem *mem)
{
	kr_vec_done(mem, &answer->order);
	kr_vec_done(mem, &answer->sources);
	kr_proof_done(&answer->proof);
}

const struct kr_backend *kr_backend_at(const struct kr_modules *more, size_t i)
{
	return KR_MODULE_AT(kr_backend_registry, kr_backend_registry_count, more, backends, i);
}

const struct kr_backend *kr_backend_find(const struct kr_modules *more, const char *name)
{
	const struct kr_backend *backend;

	for (size_t i = 0; (backend = kr_backend_at(more, i)) != NULL; i++)
		if (strcmp(backend->name, name) == 0)
			return backend;
	return NULL;
}

void kr_answer_conflict(struct kr_answer *answer, struct kr_ir *ir)
{
	struct kr_proof empty = answer->proof;

	answer->proof = *ir->conflict;
	*ir->conflict = empty;
	answer->outcome = KR_VIOLATED;
}
