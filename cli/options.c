/* The command line against a command's option table, through getopt_long. Operands are taken in order
 * wherever they stand (also with POSIXLY_CORRECT); a unique beginning of a long option's name is enough, as
 * getopt_long has it. Messages are one line each, with a suggestion where one is near. */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/output.h"

#define OPTIONS_MOST 64
#define FIRST_LONG 256 /* getopt_long's value of table entry i is FIRST_LONG + i */

const struct kr_option kr_option_help = {"help", 'h', NULL, KR_WORDS_ANY, "show this help"};
const struct kr_option kr_option_plugin = {"plugin", 0, "FILE", KR_WORDS_FILE,
	"load a plug-in, or all of a folder"};

const struct kr_command *kr_command_find(const char *name)
{
	for (size_t i = 0; i < kr_command_registry_count; i++)
		if (strcmp(kr_command_registry[i]->name, name) == 0)
			return kr_command_registry[i];
	return NULL;
}

const char *kr_command_program(const struct kr_command *command)
{
	return command->program ? command->program : "krait";
}

/* getopt's forms of a table. */
struct forms {
	const struct kr_option *table[OPTIONS_MOST];
	struct option longs[OPTIONS_MOST + 1];
	char shorts[3 * OPTIONS_MOST + 3];
	uint32_t n;
};

static void add_form(struct forms *f, const struct kr_option *option)
{
	size_t at = strlen(f->shorts);
	bool argument = option->argument != NULL;

	if (f->n == OPTIONS_MOST)
		return;
	f->table[f->n] = option;
	f->longs[f->n] = (struct option){option->name, argument ? required_argument : no_argument, NULL,
		FIRST_LONG + (int)f->n};
	f->n++;
	if (option->letter) {
		f->shorts[at++] = option->letter;
		if (argument)
			f->shorts[at++] = ':';
	}
}

static void make_forms(struct forms *f, const struct kr_command *command)
{
	*f = (struct forms){.shorts = "-:"}; /* operands in order; a missing argument is told apart */
	for (const struct kr_option *o = command->options; o->name; o++)
		add_form(f, o);
	add_form(f, &kr_option_plugin);
	add_form(f, &kr_option_help);
}

static const struct kr_option *option_of(const struct forms *f, int c)
{
	if (c >= FIRST_LONG)
		return f->table[c - FIRST_LONG];
	for (uint32_t i = 0; i < f->n; i++)
		if (f->table[i]->letter == c)
			return f->table[i];
	return NULL;
}

static int unknown_option(const struct forms *f, const struct kr_command *command, const char *word,
	int letter)
{
	if (strncmp(word, "--", 2) != 0)
		return kr_usage("unknown option '-%c'; see '%s %s --help'", letter,
			kr_command_program(command), command->name);

	size_t length = strcspn(word + 2, "=");
	char typed[64];
	uint32_t beginnings = 0;

	if (length >= sizeof typed)
		length = sizeof typed - 1;
	memcpy(typed, word + 2, length);
	typed[length] = '\0';

	struct kr_guess guess = {.typed = typed};

	for (uint32_t i = 0; i < f->n; i++) {
		beginnings += strncmp(f->table[i]->name, typed, length) == 0;
		kr_guess_try(&guess, f->table[i]->name);
	}
	if (beginnings > 1)
		return kr_usage("option '--%s' is ambiguous; see '%s %s --help'", typed,
			kr_command_program(command), command->name);
	if (guess.best)
		return kr_usage("unknown option '--%s'; did you mean '--%s'?", typed, guess.best);
	return kr_usage("unknown option '--%s'; see '%s %s --help'", typed, kr_command_program(command),
		command->name);
}

/* After getopt_long said '?' or ':'. */
static int wrong_option(const struct forms *f, const struct kr_command *command, int c, const char *word)
{
	const struct kr_option *option = optopt ? option_of(f, optopt) : NULL;

	if (!option)
		return unknown_option(f, command, word, optopt);
	if (c == ':')
		return kr_usage("option '--%s' needs an argument: %s", option->name, option->argument);
	return kr_usage("option '--%s' takes no argument", option->name);
}

static int parse(struct kr_args *args, const struct forms *f, int argc, char **argv)
{
	int c;

	optind = 0; /* glibc: start over */
	opterr = 0;
	for (;;) {
		const char *word = optind == 0 ? argv[1] : optind < argc ? argv[optind] : NULL;
		c = getopt_long(argc, argv, f->shorts, f->longs, NULL);
		if (c == -1)
			break;
		if (c == '?' || c == ':')
			return wrong_option(f, args->command, c, word ? word : "");

		bool kept;

		if (c == 1) {
			kept = kr_vec_push(args->mem, &args->operands, optarg);
		} else {
			const struct kr_option *option = option_of(f, c);
			args->help |= option == &kr_option_help;
			kept = kr_vec_push(args->mem, &args->given, (struct kr_args_given){option, optarg});
		}
		if (!kept)
			return kr_fail("out of memory");
	}
	for (; optind < argc; optind++)
		if (!kr_vec_push(args->mem, &args->operands, argv[optind]))
			return kr_fail("out of memory");
	return KR_EXIT_SATISFIED;
}

int kr_args_parse(struct kr_args *args, struct kr_mem *mem, const struct kr_command *command, int argc,
	char **argv)
{
	struct forms forms;

	*args = (struct kr_args){.mem = mem, .command = command};
	make_forms(&forms, command);

	int status = parse(args, &forms, argc - 1, argv + 1);

	if (status != KR_EXIT_SATISFIED || args->help)
		return status;
	if (args->operands.n < command->least)
		return kr_usage("%s: expected: %s %s %s",
			args->operands.n == 0 ? "nothing to work on" : "too few arguments",
			kr_command_program(command), command->name, command->synopsis);
	if (args->operands.n > command->most)
		return kr_usage("unexpected argument '%s'; expected: %s %s %s",
			args->operands.at[command->most], kr_command_program(command), command->name,
			command->synopsis);
	return KR_EXIT_SATISFIED;
}

void kr_args_done(struct kr_args *args)
{
	kr_vec_done(args->mem, &args->given);
	kr_vec_done(args->mem, &args->operands);
}

bool kr_args_has(const struct kr_args *args, const char *name)
{
	for (uint32_t i = 0; i < args->given.n; i++)
		if (strcmp(args->given.at[i].option->name, name) == 0)
			return true;
	return false;
}

const char *kr_args_value(const struct kr_args *args, const char *name)
{
	for (uint32_t i = args->given.n; i > 0; i--)
		if (strcmp(args->given.at[i - 1].option->name, name) == 0)
			return args->given.at[i - 1].value;
	return NULL;
}

bool kr_args_double(const struct kr_args *args, const char *name, double *out)
{
	const char *text = kr_args_value(args, name);
	char *end;

	if (!text)
		return true;

	double value = strtod(text, &end);

	if (end == text || *end || !isfinite(value) || value <= 0)
		return kr_refuse("option '--%s': found '%s', expected a number greater than 0", name, text);
	*out = value;
	return true;
}

bool kr_args_time(const struct kr_args *args, const char *name, double unit, double most, int64_t *out)
{
	double value = (double)*out / unit;

	if (!kr_args_double(args, name, &value))
		return false;
	if (value > most)
		return kr_refuse("option '--%s': found %g, expected at most %g", name, value, most);
	*out = (int64_t)(value * unit);
	return true;
}

bool kr_args_integer(const struct kr_args *args, const char *name, uint64_t most, uint64_t *out)
{
	const char *text = kr_args_value(args, name);
	char *end;

	if (!text)
		return true;
	errno = 0;

	unsigned long long value = strtoull(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || errno == ERANGE || value > most)
		return kr_refuse("option '--%s': found '%s', expected an integer from 0 to %llu", name, text,
			(unsigned long long)most);
	*out = value;
	return true;
}
