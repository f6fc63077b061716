/* What programs made of commands have in common: krait, and krait-lab. */
#ifndef KR_CLI_PROGRAM_H
#define KR_CLI_PROGRAM_H

#include "cli/command.h"

/* The process from its first line to its exit status. */
int kr_program_run(int (*run)(struct kr_mem *mem, int argc, char **argv), int argc, char **argv);

/* One command, with its options from argv[2] on. Returns the exit status. */
int kr_command_run(struct kr_mem *mem, const struct kr_command *command, int argc, char **argv);

/* Prints the help of a command, or of krait (NULL). Returns the exit status. */
int kr_help_show(struct kr_mem *mem, const struct kr_command *command);

#endif
