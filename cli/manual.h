/* Help texts, the manual page and shell completions, all made from the command tables. Append to `out`. */
#ifndef KR_CLI_MANUAL_H
#define KR_CLI_MANUAL_H

#include "base/str.h"
#include "cli/command.h"

void kr_help_overview(struct kr_str *out);
void kr_help_command(const struct kr_command *command, struct kr_str *out);

/* A page in roff with the man macros. `name` in capitals; texts before the commands are roff. */
struct kr_manual {
	const char *name, *about, *synopsis, *description;
	const struct kr_command *(*command)(size_t i); /* NULL at the end */
	const char *exits;                             /* what follows the exit statuses of all */
};
void kr_manual_page(const struct kr_manual *manual, struct kr_str *out);
void kr_manual_of_krait(struct kr_str *out);
bool kr_completion_script(const char *shell, struct kr_str *out);   /* false: no such shell */
const char *kr_completion_shell(size_t i); /* NULL at the end */

/* What an option's or operand's argument can be: a walk over names; NULL at the end. */
const char *kr_words_at(enum kr_words_kind kind, size_t i);
/* Is it one of those words? *at, unless NULL: which one. */
bool kr_word_find(enum kr_words_kind kind, const char *text, size_t *at);

/* "unknown WHAT 'TYPED'" on standard error, with the nearest of those words; with none near, `see` is where
 * they are listed. Returns KR_EXIT_USAGE. */
int kr_unknown_word(const char *what, enum kr_words_kind kind, const char *typed, const char *see);
/* The same after a guess among other words. */
int kr_unknown(const char *what, const struct kr_guess *guess, const char *see);

const char *kr_schema_name(size_t i); /* of the i-th schema; NULL at the end */

/* The exit statuses, as pairs of number and meaning. */
struct kr_exit_line { int status; const char *meaning; };
extern const struct kr_exit_line kr_exit_lines[]; /* meaning NULL at the end */

#endif
