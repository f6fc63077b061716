/* Unsatisfiable cores, again and again while they shrink; a small one is then tried without each of its
 * cycles. A search of a thousand cycles often rests on ten. Limits that are hit here leave a larger proof,
 * not none. Cost: a Z3 call per step, of which there are at most CORE_STEPS + SMALL. */
#include "backend/refute.h"

#include <string.h>

enum { CORE_STEPS = 8, SMALL = 256 };

static uint32_t count(const uint8_t *keep, uint32_t n)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < n; i++)
		kept += keep[i];
	return kept;
}

static enum kr_status shrink(struct kr_solver *sat, struct kr_choices *c, uint8_t *keep, uint32_t n)
{
	struct kr_ctx *ctx = c->ir->ctx;
	bool refuted = true;
	uint32_t before = n + 1, now = n;
	for (unsigned step = 0; refuted && now < before && step < CORE_STEPS; step++) {
		enum kr_status status = kr_ctx_check(ctx);
		if (!status)
			status = kr_solver_core(sat, c, keep, n, &refuted);
		if (status)
			return status;
		before = now;
		now = count(keep, n);
	}
	uint8_t *less = kr_mem_alloc(&ctx->mem, n, 1);
	enum kr_status status = less ? KR_OK : KR_NOMEM;
	/* the latest first: early cycles are the shorter ones */
	for (uint32_t i = now > SMALL ? 0 : n; i-- > 0 && !status;) {
		if (!keep[i])
			continue;
		memcpy(less, keep, n);
		less[i] = 0;
		status = kr_ctx_check(ctx);
		if (!status)
			status = kr_solver_core(sat, c, less, n, &refuted);
		if (!status && refuted)
			memcpy(keep, less, n);
	}
	kr_mem_free(&ctx->mem, less, n, 1);
	return status;
}

/* Keeps the marked cycles, in their order. */
static enum kr_status restrict_to(struct kr_proof *proof, const uint8_t *keep)
{
	struct kr_proof small;
	kr_proof_init(&small, proof->mem);
	enum kr_status status = KR_OK;
	for (uint32_t i = 0; i < proof->cycles.n && !status; i++) {
		struct kr_cycle cycle = proof->cycles.at[i];
		if (!keep[i])
			continue;
		kr_proof_begin(&small);
		for (uint32_t j = 0; j < cycle.count && !status; j++)
			status = kr_proof_add_link(&small, proof->links.at[cycle.first + j]);
		if (!status)
			status = kr_proof_end(&small);
		if (!status)
			small.cycles.at[small.cycles.n - 1].whole = cycle.whole;
	}
	if (status) {
		kr_proof_done(&small);
		return status;
	}
	kr_proof_done(proof);
	*proof = small;
	return KR_OK;
}

enum kr_status kr_refute(struct kr_solver *sat, struct kr_choices *c, int64_t most_ns, struct kr_proof *proof)
{
	struct kr_ctx *ctx = c->ir->ctx;
	struct kr_mem *mem = &ctx->mem;
	uint32_t n = proof->cycles.n;
	uint8_t *keep = kr_mem_alloc(mem, n, 1);
	if (!keep)
		return KR_NOMEM;
	memset(keep, 1, n);
	int64_t deadline = kr_ctx_limit_ns(ctx, most_ns);
	enum kr_status status = shrink(sat, c, keep, n);
	kr_ctx_resume(ctx, deadline, &status, NULL);
	if (status == KR_TIMEOUT || status == KR_NOMEM)
		status = KR_OK; /* as far as it got */
	if (!status)
		status = restrict_to(proof, keep);
	kr_mem_free(mem, keep, n, 1);
	return status ? status : kr_choices_justify(c, proof);
}
