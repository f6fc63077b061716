/* The texts of `krait --help` and `krait COMMAND --help`, and the words that arguments can be. */
#include <string.h>

#include "base/terms.h"
#include "checkers/checker.h"
#include "cli/manual.h"
#include "cli/output.h"
#include "frontend/format.h"
#include "frontend/generate.h"
#include "frontend/write.h"
#include "mechanisms/profile.h"

#define COLUMN 30 /* where the help of an option starts */

const struct kr_exit_line kr_exit_lines[] = {
	{0, "every trace satisfies every level asked for"},
	{1, "some level of some trace is violated (verify: some proof is refuted)"},
	{2, "nothing violated, but something undecided within the limits"},
	{254, "bad arguments"},
	{255, "no verdict for some trace: unreadable or malformed input, or an internal error"},
	{0, NULL},
};

static const char *listed(const char *const *words, size_t i)
{
	size_t n = 0;

	while (words[n])
		n++;
	return i < n ? words[i] : NULL;
}

static const char *order_word(size_t i)
{
	return i <= KR_ORDER_REALTIME ? kr_order_name((enum kr_order)i) : NULL;
}

/* 'all', and each level's id and other names. */
static const char *level_word(size_t i)
{
	const struct kr_level *level;

	if (i-- == 0)
		return "all";
	for (size_t l = 0; (level = kr_level_at(NULL, l)) != NULL; l++) {
		if (i-- == 0)
			return level->id;
		for (const struct kr_level_name *n = level->names; n && n->name; n++)
			if (i-- == 0)
				return n->name;
	}
	return NULL;
}

/* The i-th back end that decides. */
static const char *backend_word(size_t i)
{
	for (size_t b = 0; b < kr_backend_registry_count; b++)
		if (kr_backend_registry[b]->solve && i-- == 0)
			return kr_backend_registry[b]->name;
	return NULL;
}

const char *kr_words_at(enum kr_words_kind kind, size_t i)
{
	static const char *const dists[] = {"uniform", "zipf", NULL},
				 *const stores[] = {"serializable", "snapshot", "read-committed",
					 "postgresql-rc", "postgresql-rr", "postgresql-ser", "mariadb-ru",
					 "mariadb-rc", "mariadb-rr", "mariadb-rr-si", "mariadb-ser", NULL},
				 *const lines[] = {"run", "grouped", "shuffled", NULL},
				 *const outputs[] = {"text", "json", "junit", "sarif", NULL},
				 *const initials[] = {"absent", "given", "unknown", "unwritten", NULL},
				 *const claims[] = {"satisfied", "violated", NULL};

	switch (kind) {
	case KR_WORDS_LEVEL: return level_word(i);
	case KR_WORDS_CHECKER: return i < kr_checker_registry_count ? kr_checker_registry[i]->name : NULL;
	case KR_WORDS_FORMAT: return i < kr_format_registry_count ? kr_format_registry[i]->name : NULL;
	case KR_WORDS_TARGET: return kr_target_name(i);
	case KR_WORDS_SCHEMA: return kr_schema_name(i);
	case KR_WORDS_BACKEND: return backend_word(i);
	case KR_WORDS_PASS: return i < kr_pass_registry_count ? kr_pass_registry[i]->name : NULL;
	case KR_WORDS_COMMAND: return i < kr_command_registry_count ? kr_command_registry[i]->name : NULL;
	case KR_WORDS_ORDER: return order_word(i);
	case KR_WORDS_SHELL: return kr_completion_shell(i);
	case KR_WORDS_DIST: return listed(dists, i);
	case KR_WORDS_LINES: return listed(lines, i);
	case KR_WORDS_OUTPUT: return listed(outputs, i);
	case KR_WORDS_STORE: return listed(stores, i);
	case KR_WORDS_INITIAL: return listed(initials, i);
	case KR_WORDS_CLAIM: return listed(claims, i);
	case KR_WORDS_ANOMALY: return kr_generate_anomaly(i, NULL);
	case KR_WORDS_PROFILE: return kr_profile_at(i, NULL) ? kr_profile_at(i, NULL)->name : NULL;
	default: return NULL;
	}
}

bool kr_word_find(enum kr_words_kind kind, const char *text, size_t *at)
{
	const char *word;
	size_t i = 0;

	while ((word = kr_words_at(kind, i)) != NULL && strcmp(word, text) != 0)
		i++;
	if (word && at)
		*at = i;
	return word != NULL;
}

int kr_unknown(const char *what, const struct kr_guess *guess, const char *see)
{
	char near[128];

	return kr_usage("unknown %s '%s'%s", what, guess->typed, kr_guess_text(guess, see, near));
}

int kr_unknown_word(const char *what, enum kr_words_kind kind, const char *typed, const char *see)
{
	struct kr_guess guess = {.typed = typed};

	for (size_t i = 0; kr_words_at(kind, i); i++)
		kr_guess_try(&guess, kr_words_at(kind, i));
	return kr_unknown(what, &guess, see);
}

static void pad(struct kr_str *out, size_t from, size_t column)
{
	if (out->n - from + 1 >= column) {
		kr_str_add(out, "\n");
		from = out->n;
	}
	while (!out->failed && out->n - from < column)
		kr_str_add(out, " ");
}

static void add_option(const struct kr_option *o, struct kr_str *out)
{
	size_t from = out->n;

	kr_str_add(out, "  ");
	if (o->letter)
		kr_str_format(out, "-%c, ", o->letter);
	else
		kr_str_add(out, "    ");
	kr_str_format(out, "--%s", o->name);
	if (o->argument)
		kr_str_format(out, " %s", o->argument);
	pad(out, from, COLUMN);
	kr_str_format(out, "%s\n", o->help);
}

static void add_exits(struct kr_str *out)
{
	kr_str_add(out, "\nExit status:\n");
	for (const struct kr_exit_line *e = kr_exit_lines; e->meaning; e++)
		kr_str_format(out, "  %3d  %s\n", e->status, e->meaning);
}

static void add_commands(enum kr_purpose purpose, struct kr_str *out)
{
	static const char *const heads[KR_PURPOSES] = {[KR_TO_CHECK] = "Check traces",
		[KR_TO_DOUBT] = "Doubt an answer, and make it small",
		[KR_TO_PREPARE] = "Prepare traces, and see what is in them",
		[KR_TO_KNOW] = "Find out what there is",
		[KR_TO_LOOK_INSIDE] = "Look inside"};

	kr_str_format(out, "\n%s:\n", heads[purpose]);
	for (size_t i = 0; i < kr_command_registry_count; i++) {
		size_t from = out->n;
		if (kr_command_registry[i]->purpose != purpose)
			continue;
		kr_str_format(out, "  %s", kr_command_registry[i]->name);
		pad(out, from, 12);
		kr_str_format(out, "%s\n", kr_command_registry[i]->title);
	}
}

void kr_help_overview(struct kr_str *out)
{
	kr_str_add(out,
		"krait: does a recorded history of transactions satisfy an isolation level, and\nwhy "
		"(not)?\n\n"
		"Usage: krait COMMAND [OPTION]... [TRACE]...\n       krait --help | "
		"--version\n");
	for (unsigned purpose = 0; purpose < KR_PURPOSES; purpose++)
		add_commands((enum kr_purpose)purpose, out);
	kr_str_add(out, "\n'krait COMMAND --help' describes a command and its options.\n");
	add_exits(out);
}

/* The names that an option takes, when they need words of their own. */
static void add_plants(const struct kr_command *command, struct kr_str *out)
{
	const struct kr_option *o = command->options;
	const char *name, *title;

	while (o->name && o->words != KR_WORDS_ANOMALY)
		o++;
	if (!o->name)
		return;
	kr_str_add(out, "\nAnomalies:\n");
	for (size_t i = 0; (name = kr_generate_anomaly(i, &title)) != NULL; i++) {
		size_t from = out->n;
		kr_str_format(out, "  %s", name);
		pad(out, from, COLUMN);
		kr_str_format(out, "%s\n", title);
	}
}

void kr_help_command(const struct kr_command *command, struct kr_str *out)
{
	const char *program = kr_command_program(command);

	kr_str_format(out, "Usage: %s %s %s\n\n%s %s: %s.\n", program, command->name, command->synopsis,
		program, command->name, command->title);
	if (command->text)
		kr_str_format(out, "\n%s\n", command->text);
	kr_str_add(out, "\nOptions:\n");
	for (const struct kr_option *o = command->options; o->name; o++)
		add_option(o, out);
	add_option(&kr_option_plugin, out);
	add_option(&kr_option_help, out);
	add_plants(command, out);
}
