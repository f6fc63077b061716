/* `--profile`: the row of a database, or a file with one. */
#ifndef KR_CLI_PROFILE_OPTION_H
#define KR_CLI_PROFILE_OPTION_H

#include "checkers/leopard.h"
#include "cli/command.h"

#define KR_OPTION_PROFILE \
	{ \
		"profile", 0, "ROW|FILE.json", KR_WORDS_PROFILE, \
			"hold the database's mechanisms to a row of 'krait profiles'" \
	}
#define KR_OPTION_NO_SESSION {"no-session", 0, NULL, KR_WORDS_ANY, "timestamps: sessions promise nothing"}

struct kr_profile_option {
	struct kr_batch_options options; /* profile NULL: not given */
	struct kr_arena arena;
	struct kr_profile own;           /* of a file */
};

/* KR_EXIT_SATISFIED, or another status after a message. The caller frees *out with kr_profile_option_done in
 * every case. */
int kr_profile_asked(const struct kr_args *args, struct kr_profile_option *out);

/* The profile that a trace is held to: the one asked for, else the one that the trace names. `what` it is
 * that names one, and `why` one must be given, for messages. */
int kr_profile_for(const struct kr_args *args, const struct kr_profile_option *asked,
	const struct kr_history *h, const char *what, const char *why, struct kr_batch_options *out);
void kr_profile_option_done(struct kr_profile_option *option);

#endif
