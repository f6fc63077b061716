/* What a disk has for sure, for recorders that run with this library in LD_PRELOAD: in the folder that
 * $KRAIT_TEST_DISK names, under a file's inode, its bytes as they were when a sync of it began that has ended
 * since; of a folder a line for each name: the inode, and the name. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void list(int fd, FILE *out)
{
	int folder = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fdopendir(folder);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)) != NULL)
		(void)fprintf(out, "%llu %s\n", (unsigned long long)entry->d_ino, entry->d_name);
	if (dir)
		(void)closedir(dir);
}

static void copy(int fd, off_t size, FILE *out)
{
	char path[64], block[65536];
	ssize_t n;

	(void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd); /* which may be one to write only */

	int in = open(path, O_RDONLY | O_CLOEXEC);

	for (off_t at = 0; at < size && (n = pread(in, block, sizeof block, at)) > 0; at += n)
		(void)fwrite(block, 1, (size_t)(n < size - at ? n : size - at), out);
	(void)close(in);
}

static int sync_by(const char *name, int fd)
{
	int (*real)(int fd) = (int (*)(int))dlsym(RTLD_NEXT, name);
	const char *disk = getenv("KRAIT_TEST_DISK");
	char path[4096], made[4100];
	struct stat info;

	if (!disk || fstat(fd, &info) != 0)
		return real(fd);
	(void)snprintf(path, sizeof path, "%s/%llu", disk, (unsigned long long)info.st_ino);
	(void)snprintf(made, sizeof made, "%s.new", path);

	FILE *out = fopen(made, "we");

	if (out && S_ISDIR(info.st_mode))
		list(fd, out);

	int result = real(fd);

	if (out && !S_ISDIR(info.st_mode))
		copy(fd, info.st_size, out);
	if (out && fclose(out) == 0 && result == 0)
		(void)rename(made, path);
	return result;
}

__attribute__((visibility("default"))) int fsync(int fd) { return sync_by("fsync", fd); }
__attribute__((visibility("default"))) int fdatasync(int fd) { return sync_by("fdatasync", fd); }
