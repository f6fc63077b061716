/* A register holds a value. Nothing is ever put on top of it. */
#include "frontend/model/datatype.h"

static bool is(const struct kr_state *s, const struct kr_want *w) { return s->value.i == w->is.value.i; }

static enum kr_status add(struct kr_arena *arena, struct kr_state *s, const struct kr_state *more)
{
	(void)arena, (void)s, (void)more;
	return KR_UNSUPPORTED;
}

static bool take(struct kr_want *w, const struct kr_state *more)
{
	(void)w, (void)more;
	return false;
}

const struct kr_datatype kr_datatype_register = {
	.name = "register",
	.kind = KR_KIND_REGISTER,
	.is = is,
	.add = add,
	.take = take,
};
