/* Growing arrays of a fixed element type, accounted in a struct kr_mem.
 *
 *     KR_VEC(uint32_t) stack = {0};
 *     if (!kr_vec_push(mem, &stack, 7)) return KR_NOMEM;   // evaluates its arguments once, except v
 *     for (uint32_t i = 0; i < stack.n; i++) use(stack.at[i]);
 *     kr_vec_done(mem, &stack);
 */
#ifndef KR_BASE_VEC_H
#define KR_BASE_VEC_H

#include "base/mem.h"

#define KR_VEC(type) struct { type *at; uint32_t n; uint32_t cap; }
#define KR_VEC_NAMED(name, type) struct name { type *at; uint32_t n; uint32_t cap; }

/* Makes room for `extra` more elements beyond *n; false (nothing changed) when memory or 32 bits run out. */
bool kr_vec_grow(struct kr_mem *mem, void **at, uint32_t *cap, uint32_t n, uint32_t extra, size_t size);

#define kr_vec_reserve(mem, v, extra) \
	((v)->cap - (v)->n >= (uint32_t)(extra) || \
	 kr_vec_grow((mem), (void **)&(v)->at, &(v)->cap, (v)->n, (uint32_t)(extra), sizeof *(v)->at))
#define kr_vec_push(mem, v, ...) \
	(kr_vec_reserve((mem), (v), 1) ? ((v)->at[(v)->n++] = (__VA_ARGS__), true) : false)
#define kr_vec_add(mem, v, ...) (kr_vec_push(mem, v, __VA_ARGS__) ? KR_OK : KR_NOMEM)
#define kr_vec_pop(v) ((v)->at[--(v)->n])
#define kr_vec_clear(v) ((void)((v)->n = 0))
/* Done with it; or, for another use that will be as large, only empty, unless it is far too large. */
#define kr_vec_let_go(mem, v, reuse) \
	((reuse) && ((v)->cap <= 1024 || (v)->n >= (v)->cap / 4) ? kr_vec_clear(v) : kr_vec_done((mem), (v)))
#define kr_vec_done(mem, v) \
	(kr_mem_free((mem), (v)->at, (v)->cap, sizeof *(v)->at), (v)->at = NULL, (v)->n = (v)->cap = 0, \
		(void)0)

#endif
