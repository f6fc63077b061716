/* For tests of readers: a folder of its own for files, and what reading one of them gave. */
#ifndef KR_TESTS_UNIT_READING_H
#define KR_TESTS_UNIT_READING_H

#include "frontend/format.h"

struct reading {
	char folder[64];
	struct kr_read_options options;
	struct kr_ctx ctx;
	struct kr_history h;  /* while `read` */
	struct kr_err err;
	enum kr_status status;
	bool read;
	char message[1024];   /* the error without the folder's name, "" when there is none */
};

void reading_init(struct reading *r);
void reading_done(struct reading *r); /* removes the folder; fails the test when memory leaked */

/* Writes NAME (with a slash: in a sub-folder that is made) into the folder. */
void reading_write(struct reading *r, const char *name, const void *data, size_t length);

/* Reads NAME of the folder (or a path, when it begins with '/'). */
enum kr_status reading_read(struct reading *r, const char *name);

/* Both, with the file name "t.jsonl"; fails the test unless the text is a good trace. */
void reading_good(struct reading *r, const char *text);

/* Name and value of things in the history, as kr_history_print_name and kr_history_json_value print them; valid until a few calls later. */
const char *reading_name(struct reading *r, kr_value v);
const char *reading_key(struct reading *r, kr_key key);
const char *reading_value(struct reading *r, kr_value v);

#endif
