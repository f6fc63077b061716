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

const struct kr_backend *kr_backend_find(const char *name)
{
	for (size_t i = 0; i < kr_backend_registry_count; i++) {
		if (strcmp(kr_backend_registry[i]->name, name) == 0)
			return kr_backend_registry[i];
	}
	return NULL;
}
