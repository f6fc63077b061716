/* The sub-commands of krait-lab: a file lab/NAME.c with a descriptor each. */
#ifndef KR_LAB_LAB_H
#define KR_LAB_LAB_H

#include "cli/command.h"

#define KR_EXIT_LACKING 77 /* this machine lacks the database */

struct kr_lab {
	const struct kr_command *command;
};

extern const struct kr_lab *const kr_lab_registry[]; /* NULL-terminated, by name */
extern const size_t kr_lab_registry_count;

const struct kr_command *kr_lab_find(const char *name); /* or NULL */
int kr_lab_overview(struct kr_mem *mem);                /* prints the help of them all; the exit status */
int kr_lab_unknown(const char *name);                   /* a message; the exit status */

#endif
