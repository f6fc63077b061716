/* Where a path leads. */
#ifndef KR_CLI_PLACE_H
#define KR_CLI_PLACE_H

#include <limits.h>
#include <sys/stat.h>

#include "base/base.h"

struct kr_file_place {
	/* of this process, as /dev/stdout is 1 and /dev/fd/3 is 3; -1: the path names a file */
	int descriptor;
	bool exists;
	struct stat info;      /* if it exists */
	/* the file's name without symbolic links, also of one that is not there yet; not of a descriptor */
	char target[PATH_MAX];
};

/* Follows links, the last one, too. False, with errno: there is no such folder, or it cannot be looked at. */
bool kr_file_place_find(const char *path, struct kr_file_place *out);

/* The place of a descriptor that is open; exists is false if it is not. */
void kr_file_place_of(int descriptor, struct kr_file_place *out);

bool kr_file_place_same(const struct kr_file_place *a, const struct kr_file_place *b);

/* Is the file an entry of the folder? */
bool kr_file_place_within(const char *folder, const struct kr_file_place *file);

#endif
