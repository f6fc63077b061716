/* Files that are written, by every command: what the user named for results beside standard output. */
#ifndef KR_CLI_FILE_H
#define KR_CLI_FILE_H

#include <pthread.h>
#include <signal.h>
#include <stdio.h>

#include "base/str.h"
#include "cli/command.h"

#define KR_FILES_MOST 8 /* at once; no command has more */

/* All files of a run. */
struct kr_files {
	bool watched;
	/* waits for a signal that ends the process, and then removes what is half written */
	pthread_t watcher;
	sigset_t endings;   /* those signals */
	pthread_mutex_t lock;
	const char *temporaries[KR_FILES_MOST]; /* that are there; NULL: none */
	void (*last)(void *data); /* what is done beside, or NULL */
	void *last_data;
};

/* Before anything is read: a file to be written may be none that is read or written otherwise, be it by
 * another name or another link. KR_EXIT_USAGE after one line on standard error. In every case the caller
 * calls kr_files_done. */
int kr_files_init(struct kr_files *files, const struct kr_args *args);
void kr_files_done(struct kr_files *files);

/* From now on there is a thread that waits for signals; before there are others. */
void kr_files_watch(struct kr_files *files);

/* What that thread does, soon, before a signal ends the process; NULL: nothing. While it is being done this
 * does not return. */
void kr_files_at_signal(struct kr_files *files, void (*last)(void *data), void *data);

/* A file that is being written. It is made beside its name, and takes the name when it is complete: until
 * then, and when it cannot be completed or the process is ended, what had the name before stays. What is no
 * regular file, "-" (standard output) and /dev/stdout are written directly. */
struct kr_file {
	const char *path;  /* as the user named it; NULL: not asked for */
	FILE *file;        /* NULL: not asked for, failed or closed */
	struct kr_files *files;
	char *target;      /* the name that it takes; NULL: it is written directly */
	char *temporary;
	bool failed;
};

/* What fails is told on standard error, once. `path` NULL: nothing to do. */
bool kr_file_open(struct kr_file *f, const struct kr_args *args, const char *path);
/* does nothing to one that was not asked for, or failed */
bool kr_file_write(struct kr_file *f, const struct kr_str *text);
void kr_file_put(struct kr_file *f, struct kr_str *text); /* the same, and frees the text; closing tells */
/* it is complete. False when anything of it has failed; safe on a zeroed or closed one */
bool kr_file_close(struct kr_file *f);
void kr_file_drop(struct kr_file *f);  /* it will not be complete */

/* A text as a whole file; `path` NULL: on standard output. False after a message. */
bool kr_file_save(const struct kr_args *args, const char *path, const struct kr_str *text);

#endif
