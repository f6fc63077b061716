/* Commands as data: one file per command defines a descriptor, the build collects them into
 * kr_command_registry, and everything that knows of commands and options (parsing, help, manual, completions)
 * reads these tables. */
#ifndef KR_CLI_COMMAND_H
#define KR_CLI_COMMAND_H

#include "base/err.h"
#include "base/guess.h"
#include "base/mem.h"
#include "base/modules.h"

enum kr_exit { /* docs/cli.md */
	KR_EXIT_SATISFIED = 0,
	KR_EXIT_VIOLATED = 1,
	KR_EXIT_UNDECIDED = 2,
	KR_EXIT_USAGE = 254,
	KR_EXIT_FAILED = 255
};

/* What an argument can be, for completions. */
enum kr_words_kind {
	KR_WORDS_ANY, /* a number or free text */
	KR_WORDS_FILE,    /* that is read */
	KR_WORDS_WRITTEN, /* a file that is written */
	KR_WORDS_LEVEL,
	KR_WORDS_CHECKER,
	KR_WORDS_FORMAT,
	KR_WORDS_TARGET, /* a format that can be written */
	KR_WORDS_SCHEMA,
	KR_WORDS_BACKEND,
	KR_WORDS_PASS,
	KR_WORDS_COMMAND,
	KR_WORDS_ORDER,
	KR_WORDS_SHELL,
	KR_WORDS_DIST,
	KR_WORDS_LINES,
	KR_WORDS_STORE,
	KR_WORDS_OUTPUT,
	KR_WORDS_INITIAL,
	KR_WORDS_CLAIM,  /* a verdict */
	KR_WORDS_ANOMALY, /* what `gen` can plant */
	KR_WORDS_PROFILE
};

/* What somebody wants who looks for a command: it stands there in the help. */
enum kr_purpose {
	KR_TO_CHECK,   /* the first one: a command that says nothing */
	KR_TO_DOUBT,
	KR_TO_PREPARE,
	KR_TO_KNOW,
	KR_TO_LOOK_INSIDE
};
enum { KR_PURPOSES = KR_TO_LOOK_INSIDE + 1 };

struct kr_option {
	const char *name;         /* without the dashes; NULL ends a table */
	char letter;              /* 0: none */
	const char *argument;     /* what its argument is called; NULL: it takes none */
	enum kr_words_kind words;
	const char *help;         /* one line, no period */
};

struct kr_args;

struct kr_command {
	const char *name;
	const char *program;             /* NULL: krait */
	const char *synopsis;            /* what follows the name */
	const char *title;               /* one line, no period */
	enum kr_purpose purpose;
	/* a paragraph for help and manual, lines of at most 78 bytes; NULL: none */
	const char *text;
	const struct kr_option *options;
	enum kr_words_kind operands;
	uint32_t least, most;            /* number of operands; most == UINT32_MAX: any number */
	uint32_t written;                /* operands from this one on are files that are written; 0: none */
	bool decides;                    /* it gives verdicts on traces */
	/* it looks after files that are written itself: `args->files` is NULL */
	bool own_files;
	int (*run)(const struct kr_args *args); /* returns the exit status */
};

extern const struct kr_command *const kr_command_registry[]; /* NULL-terminated, by name */
extern const size_t kr_command_registry_count;

/* What every command takes beside its own options. */
extern const struct kr_option kr_option_help, kr_option_plugin;

/* ---- a parsed command line (options.c) ---- */

struct kr_args_given { const struct kr_option *option; const char *value; };

struct kr_args {
	const struct kr_modules *modules; /* of plug-ins; NULL: none */
	struct kr_mem *mem;
	const struct kr_command *command;
	struct kr_files *files;           /* that are written (file.h) */
	KR_VEC(struct kr_args_given) given;    /* in order */
	KR_VEC(const char *) operands;
	bool help;                        /* --help was among them */
};

/* Parses argv[2..argc); operands and options may be mixed, "--" ends the options. On anything but
 * KR_EXIT_SATISFIED, a line on standard error has said why. The caller frees *args with kr_args_done in every
 * case. */
int kr_args_parse(struct kr_args *args, struct kr_mem *mem, const struct kr_command *command, int argc,
	char **argv);
void kr_args_done(struct kr_args *args);

bool kr_args_has(const struct kr_args *args, const char *name);
const char *kr_args_value(const struct kr_args *args, const char *name); /* the last one given, or NULL */

/* Numbers: absent leaves *out alone. A wrong one is told on standard error, and false returned. */
/* > 0, finite */
bool kr_args_double(const struct kr_args *args, const char *name, double *out);
/* A time in units of `unit` ns, at most `most` of them, as ns; without the option *out stays. */
bool kr_args_time(const struct kr_args *args, const char *name, double unit, double most, int64_t *out);
/* 0 to `most` */
bool kr_args_integer(const struct kr_args *args, const char *name, uint64_t most, uint64_t *out);

const struct kr_command *kr_command_find(const char *name); /* or NULL */
const char *kr_command_program(const struct kr_command *command);

#endif
