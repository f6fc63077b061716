/* Names of mechanisms and classes, and the memory of findings. */
#include "verify/declared.h"
#include "verify/recheck.h"

#include <string.h>

static const char *const mechanisms[KR_MECH_KINDS] = {
	[KR_MECH_CR] = "CR",
	[KR_MECH_ME] = "ME",
	[KR_MECH_FUW] = "FUW",
	[KR_MECH_SC] = "SC",
	[KR_MECH_SESSION] = "SESSION",
};

#define NAMED(NAME, TEXT) [KR_FOUND_##NAME] = TEXT,
static const char *const classes[KR_FOUND_CLASSES] = {KR_FINDING_CLASSES(NAMED)};

const char *kr_mechanism_name(enum kr_mechanism_kind kind) { return mechanisms[kind]; }
const char *kr_finding_class_name(const struct kr_finding *f)
{
	return f->declared ? f->declared->name : classes[f->what];
}

static bool find_name(const char *const *names, int n, const char *text, int *out)
{
	for (*out = 0; *out < n; ++*out)
		if (strcmp(names[*out], text) == 0)
			return true;
	return false;
}

bool kr_mechanism_parse(const char *text, enum kr_mechanism_kind *out)
{
	int i;

	if (!find_name(mechanisms, KR_MECH_KINDS, text, &i))
		return false;
	*out = (enum kr_mechanism_kind)i;
	return true;
}

bool kr_finding_class_parse(const char *text, enum kr_finding_class *out)
{
	int i;

	if (!find_name(classes, KR_FOUND_CLASSES, text, &i))
		return false;
	*out = (enum kr_finding_class)i;
	return true;
}

void kr_findings_init(struct kr_findings *f, struct kr_mem *mem) { *f = (struct kr_findings){.mem = mem}; }

void kr_findings_done(struct kr_findings *f)
{
	if (!f->mem)
		return;
	kr_vec_done(f->mem, &f->list);
	kr_vec_done(f->mem, &f->visible);
	kr_vec_done(f->mem, &f->edges);
}

/* ---- checking ---- */

enum kr_status kr_recheck_one(struct kr_recheck *r)
{
	if (r->f->what == KR_FOUND_DECLARED)
		return kr_recheck_declared(r);
	switch (r->f->mechanism) {
	case KR_MECH_CR: return kr_recheck_read(r);
	case KR_MECH_SC:
		return r->f->what == KR_FOUND_CYCLE ? kr_recheck_cycle(r)
						    : kr_recheck_fail(r, "the class is not one of cycles");
	case KR_MECH_ME:
	case KR_MECH_FUW: return kr_recheck_pair(r);
	case KR_MECH_SESSION:
	case KR_MECH_KINDS: break;
	}
	return kr_recheck_fail(r, "its mechanism has no such class");
}

enum kr_status kr_recheck_begin(struct kr_recheck *r)
{
	r->arena = (struct kr_arena){.mem = &r->ctx->mem};
	r->key = (kr_key){KR_NONE};
	KR_TRY(kr_arena_new(&r->arena, r->ops, r->h->ops.n));
	return kr_arena_new(&r->arena, r->txns, r->h->txns.n);
}

void kr_recheck_end(struct kr_recheck *r)
{
	kr_vec_done(&r->ctx->mem, &r->versions);
	kr_arena_done(&r->arena);
}

enum kr_status kr_verify_findings(struct kr_ctx *ctx, const struct kr_history *h, struct kr_claims claims,
	const struct kr_findings *findings, uint32_t *which, struct kr_err *err)
{
	struct kr_recheck r = {.ctx = ctx, .h = h, .claims = claims, .findings = findings, .err = err};
	enum kr_status status = kr_recheck_begin(&r);

	for (*which = 0; *which < findings->list.n && !status; ++*which) {
		r.f = &findings->list.at[*which];
		status = kr_recheck_one(&r);
		if (status)
			break;
	}
	kr_recheck_end(&r);
	return status;
}
