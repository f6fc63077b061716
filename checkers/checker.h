/* Checkers: which passes and which back end decide which levels. One per file, collected by the build into
 * kr_checker_registry. A checker may define levels; the registry of levels is the union of what the checkers
 * define. */
#ifndef KR_CHECKERS_CHECKER_H
#define KR_CHECKERS_CHECKER_H

#include "backend/backend.h"
#include "base/guess.h"
#include "ir/level.h"
#include "passes/pass.h"

/* Lists of descriptors: the names of a level, and ids of levels, as their structs want them. */
#define KR_NAMES(...) (const struct kr_level_name[]){__VA_ARGS__, {NULL, false, KR_ORDER_NONE}}
#define KR_IDS(...) (const char *const[]){__VA_ARGS__, NULL}

extern const struct kr_checker *const kr_checker_registry[]; /* NULL-terminated, by name */
extern const size_t kr_checker_registry_count;

/* the i-th of all, NULL past the end */
const struct kr_checker *kr_checker_at(const struct kr_modules *more, size_t i);
const struct kr_checker *kr_checker_find(const struct kr_modules *more, const char *name); /* or NULL */

/* The level with this id or name (case and '_' for '-' ignored) and the order that the name fixes, else the
 * level's default. NULL when there is none. */
const struct kr_level *kr_level_find(const struct kr_modules *more, const char *name, enum kr_order *order);
/* The level with exactly this id, or NULL. */
const struct kr_level *kr_level_of_id(const struct kr_modules *more, const char *id);
/* Tries every id and name of a level (base/guess.h). */
void kr_level_guess(const struct kr_modules *more, struct kr_guess *guess);
/* For a name in SQL's spelling (with a space) that stands for several levels: which ones, as text; else
 * NULL. */
const char *kr_level_meanings(const char *name);

/* i-th of all levels, NULL past the end */
const struct kr_level *kr_level_at(const struct kr_modules *more, size_t i);

/* The checker that decides the level by default: the one that defines it. */
const struct kr_checker *kr_checker_for(const struct kr_modules *more, const struct kr_level *level);
bool kr_checker_decides(const struct kr_checker *checker, const struct kr_level *level);

#endif
