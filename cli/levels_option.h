/* `--level`, `--order`, `--checker`: which levels a command works on. */
#ifndef KR_CLI_LEVELS_OPTION_H
#define KR_CLI_LEVELS_OPTION_H

#include "checkers/checker.h"
#include "cli/command.h"

#define KR_OPTION_LEVEL \
	{ \
		"level", 'l', "LEVEL[,LEVEL]...", KR_WORDS_LEVEL, \
			"levels by id or alias, or 'all'; default: ser" \
	}
#define KR_OPTION_ORDER \
	{ \
		"order", 0, "none|session|realtime", KR_WORDS_ORDER, \
			"order between transactions; default: the level's" \
	}
#define KR_OPTION_CHECKER \
	{ \
		"checker", 0, "CHECKER", KR_WORDS_CHECKER, \
			"which checker decides; default: the level's first" \
	}
#define KR_OPTION_PASSES \
	{ \
		"passes", 0, "PASS[,PASS]...", KR_WORDS_PASS, "passes to run instead of the checker's" \
	}

/* A level asked for, in the order of asking; none twice. */
struct kr_asked { const struct kr_level *level; enum kr_order order; const struct kr_checker *checker; };
KR_VEC_NAMED(kr_asked_list, struct kr_asked);

/* KR_EXIT_SATISFIED, or another status after a message. The caller frees *out with kr_vec_done in every
 * case. */
int kr_levels_asked(const struct kr_args *args, struct kr_asked_list *out);

/* By id or another name, and the order that goes with it (kr_level_find); NULL after a message. */
const struct kr_level *kr_level_named(const struct kr_modules *more, const char *name, enum kr_order *order);

/* Whether 'all' was among them. */
bool kr_levels_all_asked(const struct kr_args *args);

/* Checks --passes; false after a message. *out is NULL when it was not given. */
bool kr_passes_asked(const struct kr_args *args, const char **out);

#endif
