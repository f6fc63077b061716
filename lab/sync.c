/* Points to which a recording is on disk (sync.h). One takes its name only when it is complete, and after the
 * part of the trace that it counts on. */
#define _GNU_SOURCE
#include "lab/sync.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lab/merge.h"
#include "lab/prefix.h"

#define BOOT_ID "/proc/sys/kernel/random/boot_id"
#define HEAD "{\"offset\":%" PRIu64 ",\"clients\":%" PRIu32 "}\n"
#define TAIL "{\"complete\":true}\n"
#define NAME "synced"
enum { PATH_SIZE = 4200, BOOT_SIZE = 64 };

struct kr_sync {
	struct kr_run *run;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t stopped;
	_Atomic bool stop;
};

/* ---- this start of the machine ---- */

/* Empty: there is no such file. */
static void read_boot(const char *path, char out[BOOT_SIZE])
{
	FILE *file = fopen(path, "re");

	out[0] = '\0';
	if (!file)
		return;
	if (!fgets(out, BOOT_SIZE, file))
		out[0] = '\0';
	(void)fclose(file);
}

static const char *in_folder(const char *folder, const char *name, char out[PATH_SIZE])
{
	(void)snprintf(out, PATH_SIZE, "%s/%s", folder, name);
	return out;
}

bool kr_boot_note(const char *folder)
{
	char boot[BOOT_SIZE], path[PATH_SIZE];
	FILE *file = fopen(in_folder(folder, "boot", path), "we");

	read_boot(BOOT_ID, boot);
	return file && (fputs(boot, file) >= 0) & (fclose(file) == 0);
}

enum kr_boot kr_boot_of(const char *folder)
{
	char now[BOOT_SIZE], then[BOOT_SIZE], path[PATH_SIZE];

	if (access(in_folder(folder, "boot", path), F_OK) != 0)
		return KR_BOOT_NONE;
	read_boot(BOOT_ID, now);
	read_boot(path, then);
	return strcmp(now, then) == 0 ? KR_BOOT_SAME : KR_BOOT_OTHER;
}

/* ---- making a point ---- */

static bool sync_path(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool fine = fd >= 0 && fsync(fd) == 0;

	if (fd >= 0)
		(void)close(fd);
	return fine;
}

bool kr_sync_folder_of(const char *path)
{
	char folder[PATH_SIZE];

	(void)snprintf(folder, sizeof folder, "%s", path);

	char *slash = strrchr(folder, '/');

	if (slash)
		slash[slash == folder] = '\0';
	return sync_path(slash ? folder : ".");
}

/* How much of the trace is whole lines, now. */
static bool whole_lines(const char *path, uint64_t *size)
{
	char block[4096];
	struct stat info;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool fine = fd >= 0 && fstat(fd, &info) == 0;
	off_t end = fine ? info.st_size : 0;
	const char *newline = NULL;

	while (fine && end > 0 && !newline) {
		off_t from = end > (off_t)sizeof block ? end - (off_t)sizeof block : 0;
		ssize_t n = pread(fd, block, (size_t)(end - from), from);

		fine = n == end - from;
		newline = fine ? memrchr(block, '\n', (size_t)n) : NULL;
		end = newline ? from + (newline - block) + 1 : from;
	}
	if (fd >= 0)
		(void)close(fd);
	*size = (uint64_t)end;
	return fine;
}

static bool write_point(const struct kr_run *run, uint64_t offset, const char *path)
{
	FILE *file = fopen(path, "we");
	uint64_t lines;
	bool fine = file && fprintf(file, HEAD, offset, run->clients) > 0 &&
		kr_prefix_write(run, offset, file, &lines) && fputs(TAIL, file) >= 0 && fflush(file) == 0 &&
		fsync(fileno(file)) == 0;

	return file && (fclose(file) == 0) & fine;
}

static bool make_point(const struct kr_run *run)
{
	char made[PATH_SIZE], path[PATH_SIZE];
	uint64_t offset;

	return whole_lines(run->path, &offset) &&
		write_point(run, offset, in_folder(run->folder, NAME ".new", made)) &&
		fdatasync(run->file) == 0 && rename(made, in_folder(run->folder, NAME, path)) == 0 &&
		sync_path(run->folder);
}

static bool make_first(const struct kr_run *run)
{
	char path[PATH_SIZE];

	return sync_path(in_folder(run->folder, "boot", path)) && make_point(run) &&
		kr_sync_folder_of(run->path);
}

static void wait_for_next(struct kr_sync *sync, const struct timespec *due)
{
	(void)pthread_mutex_lock(&sync->lock);
	while (!sync->stop && pthread_cond_timedwait(&sync->stopped, &sync->lock, due) != ETIMEDOUT)
		;
	(void)pthread_mutex_unlock(&sync->lock);
}

static void *run_syncs(void *data)
{
	struct kr_sync *sync = data;
	bool fine = make_first(sync->run);

	while (fine && !sync->stop) {
		struct timespec due;

		(void)clock_gettime(CLOCK_REALTIME, &due);
		int64_t ns = due.tv_nsec + sync->run->fsync % 1000000000;
		due.tv_sec += (time_t)(sync->run->fsync / 1000000000 + ns / 1000000000);
		due.tv_nsec = (long)(ns % 1000000000);
		wait_for_next(sync, &due);
		fine = sync->stop || make_point(sync->run);
	}
	if (!fine)
		kr_run_fail(sync->run, KR_RUN_FAILED, "%s: cannot be synced: %s", sync->run->path,
			strerror(errno));
	return NULL;
}

struct kr_sync *kr_sync_start(struct kr_run *run)
{
	struct kr_sync *sync = run->fsync > 0 ? calloc(1, sizeof *sync) : NULL;

	if (!sync)
		return NULL;
	sync->run = run;
	(void)pthread_mutex_init(&sync->lock, NULL);
	(void)pthread_cond_init(&sync->stopped, NULL);
	if (pthread_create(&sync->thread, NULL, run_syncs, sync) == 0)
		return sync;
	kr_run_fail(run, KR_RUN_FAILED, "%s: cannot be synced: no thread", run->path);
	free(sync);
	return NULL;
}

void kr_sync_stop(struct kr_sync *sync)
{
	if (!sync)
		return;
	(void)pthread_mutex_lock(&sync->lock);
	sync->stop = true;
	(void)pthread_cond_signal(&sync->stopped);
	(void)pthread_mutex_unlock(&sync->lock);
	(void)pthread_join(sync->thread, NULL);
	(void)pthread_cond_destroy(&sync->stopped);
	(void)pthread_mutex_destroy(&sync->lock);
	free(sync);
}

/* ---- reading one ---- */

static bool add_line(struct kr_slot_view *view, const char *line, size_t length)
{
	char *lines = realloc(view->lines, view->lines_n + length + 1);

	if (!lines)
		return false;
	view->lines = lines;
	memcpy(lines + view->lines_n, line, length + 1);
	view->lines_n += length;
	return true;
}

static void free_views(struct kr_slot_view *views, uint32_t clients)
{
	for (uint32_t i = 0; views && i < clients; i++)
		free(views[i].lines);
	free(views);
}

/* False: it is not complete. */
static bool read_views(FILE *file, struct kr_slot_view *views, uint32_t clients)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t n;
	bool fine = true, complete = false;

	while (fine && (n = getline(&line, &size, file)) > 0) {
		uint32_t client, number;

		complete = strcmp(line, TAIL) == 0;
		if (complete)
			break;
		fine = kr_line_id(line, &client, &number) && client < clients &&
			add_line(&views[client], line, (size_t)n);
	}
	free(line);
	for (uint32_t i = 0; i < clients && fine; i++)
		fine = views[i].lines || add_line(&views[i], "", 0);
	return fine && complete;
}

struct kr_slot_view *kr_synced_read(const char *folder, uint32_t *clients, uint64_t *offset)
{
	char path[PATH_SIZE];
	FILE *file = fopen(in_folder(folder, NAME, path), "re");
	struct kr_slot_view *views = NULL;

	if (file && fscanf(file, HEAD, offset, clients) == 2 && *clients <= KR_CLIENTS_MOST)
		views = calloc(*clients + 1, sizeof *views);
	if (views && !read_views(file, views, *clients)) {
		free_views(views, *clients);
		views = NULL;
	}
	if (file)
		(void)fclose(file);
	return views;
}
