/* Memory for jansson's values that is given back all at once. jansson's allocation hooks are global to the process, so only a program that owns its process may install these (cli/ does);
 * in a library's host everything works with the host's hooks, a little slower. */
#ifndef KR_FRONTEND_NATIVE_ARENA_H
#define KR_FRONTEND_NATIVE_ARENA_H

#include <jansson.h>
#include <stdbool.h>

struct kr_json_chunk;

/* Zeroed: empty. `most`: bytes that it may have from malloc; 0: no limit. `failed`: an allocation has failed since the arena was entered, which jansson does not always tell. */
struct kr_json_arena { struct kr_json_chunk *first, *now; size_t used, size, most; bool failed; };

/* Makes jansson take its memory from the arena that the calling thread has entered, else from malloc. Before any other use of jansson. */
void kr_json_arena_install(void);

/* What this thread's jansson makes from now on comes from the arena, until kr_json_arena_leave. False, and nothing is different, when the hooks are not installed: free each value by json_decref then.
 * Values of an arena may be read anywhere, but neither changed nor freed one by one; after kr_json_arena_reset they are gone. */
bool kr_json_arena_enter(struct kr_json_arena *arena);
void kr_json_arena_leave(void);
void kr_json_arena_reset(struct kr_json_arena *arena);
void kr_json_arena_done(struct kr_json_arena *arena);

#endif
