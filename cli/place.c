/* Where a path leads: links are followed one by one, so that a name of which only the last part is missing is
 * told by its folder, and so that names of this process's own descriptors are seen before the system follows
 * them. Two places are the same if they are one file (device and inode) or, where there is none yet, one name
 * in one folder. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "cli/place.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINKS_MOST 40 /* as the system has it */
#define OWN_DESCRIPTORS "/proc/self/fd"

static bool fail(int error)
{
	errno = error;
	return false;
}

/* The folder of `path` without links, and the last part of its name. */
static bool split(const char *path, char folder[PATH_MAX], const char **name)
{
	const char *slash = strrchr(path, '/');
	size_t length = slash ? (size_t)(slash - path) : 0;
	char given[PATH_MAX];

	*name = slash ? slash + 1 : path;
	if (length >= sizeof given)
		return fail(ENAMETOOLONG);
	memcpy(given, path, length);
	given[length] = '\0';
	return realpath(length > 0 ? given : slash ? "/" : ".", folder) != NULL;
}

static bool join(const char *folder, const char *name, char out[PATH_MAX])
{
	int length = snprintf(out, PATH_MAX, "%s%s%s", folder, strcmp(folder, "/") == 0 ? "" : "/", name);

	return length < PATH_MAX || fail(ENAMETOOLONG);
}

/* The descriptor that a name in the folder stands for, or -1. */
static int descriptor_of(const char *folder, const char *name)
{
	char own[PATH_MAX];

	if (!*name || strlen(name) > 6 || strspn(name, "0123456789") != strlen(name))
		return -1;
	return realpath(OWN_DESCRIPTORS, own) && strcmp(own, folder) == 0 ? atoi(name) : -1;
}

/* Where the symbolic link `path`, which stands in `folder`, leads. */
static bool follow(const char *folder, char path[PATH_MAX])
{
	char link[PATH_MAX];
	ssize_t length = readlink(path, link, sizeof link - 1);

	if (length < 0)
		return false;
	link[length] = '\0';
	if (link[0] != '/')
		return join(folder, link, path);
	memcpy(path, link, (size_t)length + 1);
	return true;
}

bool kr_file_place_find(const char *path, struct kr_file_place *out)
{
	char at[PATH_MAX], folder[PATH_MAX];
	const char *name;

	*out = (struct kr_file_place){.descriptor = -1};
	if (strlen(path) >= sizeof at)
		return fail(ENAMETOOLONG);
	memcpy(at, path, strlen(path) + 1);
	for (int links = 0; links <= LINKS_MOST; links++) {
		if (!split(at, folder, &name))
			return false;

		int descriptor = descriptor_of(folder, name);

		if (descriptor >= 0) {
			kr_file_place_of(descriptor, out);
			return true;
		}
		if (!join(folder, name, out->target))
			return false;
		out->exists = lstat(out->target, &out->info) == 0;
		if (!out->exists)
			return errno == ENOENT && *name ? true : fail(errno == ENOENT ? EISDIR : errno);
		if (!S_ISLNK(out->info.st_mode))
			return true;
		memcpy(at, out->target, sizeof at);
		if (!follow(folder, at))
			return false;
	}
	return fail(ELOOP);
}

void kr_file_place_of(int descriptor, struct kr_file_place *out)
{
	*out = (struct kr_file_place){.descriptor = descriptor};
	out->exists = fstat(descriptor, &out->info) == 0;
}

bool kr_file_place_same(const struct kr_file_place *a, const struct kr_file_place *b)
{
	if (a->exists && b->exists)
		return a->info.st_dev == b->info.st_dev && a->info.st_ino == b->info.st_ino;
	return a->exists == b->exists && a->descriptor < 0 && b->descriptor < 0 &&
		strcmp(a->target, b->target) == 0;
}

bool kr_file_place_within(const char *folder, const struct kr_file_place *file)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	struct stat info;
	bool found = false;

	while (dir && !found && (entry = readdir(dir)) != NULL)
		found = fstatat(dirfd(dir), entry->d_name, &info, 0) == 0 &&
			info.st_dev == file->info.st_dev && info.st_ino == file->info.st_ino;
	if (dir)
		(void)closedir(dir);
	return found && file->exists;
}
