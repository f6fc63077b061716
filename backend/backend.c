/* Look-up of back ends and the life of an answer. */
#include "backend/backend.h"

#include <string.h>

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
