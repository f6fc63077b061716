/* A private folder and the programs that run in it. A process of its own, the keeper, has made all of them:
 * it does what the lab says through a socket, and when the socket closes, because the lab is done, was killed
 * or has crashed, it ends every process that descends from it and removes the folder. Nothing else is ever
 * signalled, and no folder removed that lacks its mark.
 *
 * Longer than usual: what is asked of the keeper, and the keeper, are two sides of one thing. */
#define _GNU_SOURCE /* initgroups, nftw, environ */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <grp.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "lab/driver.h"
#include "lab/home.h"

enum {
	READY_S = 240,
	FOLLOW_S = 60, /* a node of a user's cluster, the first one */
	DISK_MIB = 256,
	MESSAGE = 16 << 10,
	ARGUMENTS = 64,
	PROCESSES = 4096,
	GRACE_MS = 10000
};
#define MARK "krait-lab"

struct kl_home {
	char path[64];
	int socket;
	pid_t keeper;
	pid_t server;               /* the last one of */
	pid_t nodes[KL_NODES_MOST]; /* of a cluster */
	bool several;
	char user[32]; /* empty: nobody else */
	char disk[32]; /* a folder of it that is a disk of its own; empty: none */
};

int64_t kl_now(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

bool kl_fail(struct kl_store *store, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)vsnprintf(store->why, sizeof store->why, format, args);
	va_end(args);
	store->failure = KL_FAILED;
	return false;
}

bool kl_lacks(struct kl_store *store, const char *what)
{
	(void)snprintf(store->why, sizeof store->why, "this machine lacks %s", what);
	store->failure = KL_LACKING;
	return false;
}

bool kl_refuse(struct kl_store *store, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)vsnprintf(store->why, sizeof store->why, format, args);
	va_end(args);
	store->failure = KL_REFUSING;
	return false;
}

const char *kl_address(const struct kl_store *store, uint32_t node)
{
	return node > 0 ? store->further[node] : store->connect;
}

bool kl_each_node(struct kl_store *store, bool (*of)(struct kl_store *store, uint32_t node))
{
	for (uint32_t node = 0; node < store->nodes; node++)
		if (!of(store, node))
			return false;
	return true;
}

bool kl_is_local(const char *host)
{
	return !*host || *host == '/' || *host == '@' || strcmp(host, "localhost") == 0 ||
		strcmp(host, "::1") == 0 || strncmp(host, "127.", 4) == 0;
}

int kl_free_port(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof address;
	int port = 0, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && bind(fd, (struct sockaddr *)&address, size) == 0 &&
		getsockname(fd, (struct sockaddr *)&address, &size) == 0)
		port = ntohs(address.sin_port);
	if (fd >= 0)
		(void)close(fd);
	return port;
}

/* ---- the keeper ---- */

struct process {
	pid_t pid, parent;
};

static size_t all_processes(struct process *out, size_t most)
{
	DIR *dir = opendir("/proc");
	const struct dirent *entry;
	size_t n = 0;

	while (dir && n < most && (entry = readdir(dir)) != NULL) {
		char path[64], text[512], *after;
		int parent;
		char state;

		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		(void)snprintf(path, sizeof path, "/proc/%.20s/stat", entry->d_name);
		FILE *file = fopen(path, "re");
		if (!file)
			continue;
		text[fread(text, 1, sizeof text - 1, file)] = '\0';
		(void)fclose(file);
		after = strrchr(text, ')'); /* the name may hold anything */
		if (after && sscanf(after + 1, " %c %d", &state, &parent) == 2 && state != 'Z')
			out[n++] = (struct process){(pid_t)atoi(entry->d_name), parent};
	}
	if (dir)
		(void)closedir(dir);
	return n;
}

/* The processes that descend from `root`, itself not among them, parents before children. */
static size_t descendants(pid_t root, pid_t *out, size_t most)
{
	static const size_t all_size = PROCESSES * sizeof(struct process);
	struct process *all = malloc(all_size);
	size_t n = all ? all_processes(all, PROCESSES) : 0, found = 0;

	for (size_t looked = 0; looked <= found && found < most; looked++) {
		pid_t parent = looked == 0 ? root : out[looked - 1];

		for (size_t i = 0; i < n && found < most; i++)
			if (all[i].parent == parent)
				out[found++] = all[i].pid;
	}
	free(all);
	return found;
}

static void signal_all(int number)
{
	pid_t pids[PROCESSES];
	size_t n = descendants(getpid(), pids, KR_COUNT(pids));

	for (size_t i = 0; i < n; i++)
		(void)kill(pids[i], number);
}

/* Waits until no child is left. False: some is after that long. */
static bool wait_all(int64_t ms)
{
	int64_t end = kl_now() + ms * 1000000;

	for (;;) {
		pid_t pid = waitpid(-1, NULL, WNOHANG);

		if (pid < 0 && errno == ECHILD)
			return true;
		if (pid == 0 && kl_now() > end)
			return false;
		if (pid == 0)
			(void)poll(NULL, 0, 10);
	}
}

static void kill_all(void)
{
	do
		signal_all(SIGKILL);
	while (!wait_all(100));
}

static void stop_all(pid_t server)
{
	signal_all(SIGCONT);
	if (server > 0)
		(void)kill(server, SIGTERM);
	else
		signal_all(SIGTERM);
	if (!wait_all(GRACE_MS))
		kill_all();
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *at)
{
	(void)info;
	(void)kind;
	(void)at;
	return remove(path);
}

static void remove_folder(const char *path)
{
	char mark[128];

	(void)snprintf(mark, sizeof mark, "%s/" MARK, path);
	if (access(mark, F_OK) == 0)
		(void)nftw(path, remove_one, 64, FTW_DEPTH | FTW_PHYS);
}

static _Noreturn void become(const struct kl_home *home, char **argv)
{
	static const struct rlimit none = {0, 0};
	struct passwd *user = home->user[0] ? getpwnam(home->user) : NULL;
	int log = open("log", O_WRONLY | O_CREAT | O_APPEND, 0600), nothing = open("/dev/null", O_RDONLY);

	static const int usual[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
	sigset_t nothing_blocked;

	for (size_t i = 0; i < KR_COUNT(usual); i++)
		(void)signal(usual[i], SIG_DFL);
	(void)sigemptyset(&nothing_blocked);
	(void)sigprocmask(SIG_SETMASK, &nothing_blocked, NULL);
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	(void)setrlimit(RLIMIT_CORE, &none);
	(void)dup2(nothing, STDIN_FILENO);
	(void)dup2(log, STDOUT_FILENO);
	(void)dup2(log, STDERR_FILENO);
	if (home->user[0] &&
		(!user || initgroups(user->pw_name, user->pw_gid) != 0 || setgid(user->pw_gid) != 0 ||
			setuid(user->pw_uid) != 0))
		_exit(126);
	(void)execvp(argv[0], argv);
	_exit(127);
}

static pid_t spawn(const struct kl_home *home, char *message, size_t length)
{
	char *argv[ARGUMENTS + 1];
	size_t n = 0;

	for (char *at = message + 1; at < message + length && n < ARGUMENTS; at += strlen(at) + 1)
		argv[n++] = at;
	argv[n] = NULL;

	pid_t pid = fork();

	if (pid == 0)
		become(home, argv);
	return pid;
}

/* ---- a small disk ---- */

static bool write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? write(fd, text, strlen(text)) : -1;

	if (fd >= 0)
		(void)close(fd);
	return n == (ssize_t)strlen(text);
}

/* Mounts are this process's and its children's own: as root, or where users may have namespaces. */
static bool leave_mounts(void)
{
	char uids[64], gids[64];

	(void)snprintf(uids, sizeof uids, "%u %u 1", (unsigned)getuid(), (unsigned)getuid());
	(void)snprintf(gids, sizeof gids, "%u %u 1", (unsigned)getgid(), (unsigned)getgid());
	if (getuid() == 0)
		return unshare(CLONE_NEWNS) == 0;
	return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && write_text("/proc/self/uid_map", uids) &&
		write_text("/proc/self/setgroups", "deny") && write_text("/proc/self/gid_map", gids);
}

static int64_t make_disk(struct kl_home *home, const char *folder)
{
	const struct passwd *owner = home->user[0] ? getpwnam(home->user) : NULL;
	char options[96];

	(void)snprintf(options, sizeof options, "size=%dm,mode=700,uid=%u,gid=%u", DISK_MIB,
		(unsigned)(owner ? owner->pw_uid : getuid()), (unsigned)(owner ? owner->pw_gid : getgid()));
	if (!leave_mounts() || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
		mkdir(folder, 0700) != 0 ||
		mount("krait-lab", folder, "tmpfs", MS_NOSUID | MS_NODEV, options) != 0)
		return errno;
	(void)snprintf(home->disk, sizeof home->disk, "%.31s", folder);
	return 0;
}

static int64_t fill_disk(const struct kl_home *home, bool full)
{
	static const char block[4096];
	struct statvfs disk;
	char path[64];

	(void)snprintf(path, sizeof path, "%s/ballast", home->disk);
	if (!full)
		return unlink(path);
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno;
	if (fstatvfs(fd, &disk) == 0 && disk.f_bavail > 0)
		(void)posix_fallocate(fd, 0, (off_t)(disk.f_bavail * disk.f_frsize));
	while (write(fd, block, sizeof block) > 0) /* what has come free meanwhile */
		continue;
	return close(fd);
}

/* 'r' runs a program and waits, 's' starts a server, 'k' kills it, 't' stops it; 'n' kills one node of
 * several; 'd' makes a disk, which 'f' fills and 'e' gives back. */
static int64_t obey(struct kl_home *home, char *message, size_t length)
{
	int status = 0;
	pid_t pid;

	switch (message[0]) {
	case 'r':
		pid = spawn(home, message, length);
		return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status)
										       : -1;
	case 's':
		home->several = home->server > 0;
		home->server = spawn(home, message, length);
		return home->server;
	case 'n':
		pid = (pid_t)atol(message + 1);
		return pid > 0 && kill(pid, SIGKILL) == 0 && waitpid(pid, &status, 0) == pid ? 0 : -1;
	case 'd': return make_disk(home, message + 1);
	case 'f': return fill_disk(home, true);
	case 'e': return fill_disk(home, false);
	case 'k': kill_all(); break;
	case 't': stop_all(home->several ? 0 : home->server); break;
	default: return -1;
	}
	home->server = 0;
	home->several = false;
	return 0;
}

static _Noreturn void keep(struct kl_home *home)
{
	char message[MESSAGE + 1];
	ssize_t n;

	(void)setsid();
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	(void)prctl(PR_SET_PDEATHSIG, 0);
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGTERM, SIG_IGN);
	(void)signal(SIGHUP, SIG_IGN);
	(void)signal(SIGPIPE, SIG_IGN);
	if (chdir(home->path) == 0)
		while ((n = recv(home->socket, message, MESSAGE, 0)) > 0) {
			message[n] = '\0';

			int64_t answer = obey(home, message, (size_t)n);

			if (send(home->socket, &answer, sizeof answer, MSG_NOSIGNAL) < 0)
				break;
		}
	stop_all(home->several ? 0 : home->server);
	if (home->disk[0])
		(void)umount2(home->disk, MNT_DETACH);
	remove_folder(home->path);
	_exit(0);
}

/* ---- the lab's side ---- */

static bool make_folder(struct kl_store *store, struct kl_home *home, const char *user)
{
	const struct passwd *owner = user && getuid() == 0 ? getpwnam(user) : NULL;
	const char *tmp = getenv("TMPDIR");
	char mark[128];

	if (user && getuid() == 0 && !owner)
		return kl_lacks(store, user);
	if (snprintf(home->path, sizeof home->path, "%s/krait-lab-XXXXXX",
		    tmp && strlen(tmp) < 40 ? tmp : "/tmp") < 0 ||
		!mkdtemp(home->path))
		return kl_fail(store, "cannot make a folder: %s", strerror(errno));
	(void)snprintf(mark, sizeof mark, "%s/" MARK, home->path);
	int fd = open(mark, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || close(fd) != 0 || (owner && chown(home->path, owner->pw_uid, owner->pw_gid) != 0))
		return kl_fail(store, "%s: cannot make it private: %s", home->path, strerror(errno));
	if (owner)
		(void)snprintf(home->user, sizeof home->user, "%s", user);
	return true;
}

static int64_t ask(struct kl_home *home, char what, const char *const *argv)
{
	char message[MESSAGE];
	size_t n = 1;
	int64_t answer = -1;

	message[0] = what;
	for (size_t i = 0; argv && argv[i]; i++) {
		size_t length = strlen(argv[i]) + 1;

		if (length > sizeof message - n || i == ARGUMENTS)
			return -1;
		memcpy(message + n, argv[i], length);
		n += length;
	}
	if (send(home->socket, message, n, MSG_NOSIGNAL) < 0)
		return -1;
	while (recv(home->socket, &answer, sizeof answer, 0) < 0)
		if (errno != EINTR)
			return -1;
	return answer;
}

const char *kl_home_open(struct kl_store *store, const char *user)
{
	struct kl_home *home = store->home;
	int ends[2];

	if (home)
		return home->path;
	home = calloc(1, sizeof *home);
	if (!home || !make_folder(store, home, user)) {
		free(home);
		return NULL;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0 || (home->keeper = fork()) < 0) {
		remove_folder(home->path);
		free(home);
		(void)kl_fail(store, "cannot start the keeper: %s", strerror(errno));
		return NULL;
	}
	if (home->keeper == 0) {
		(void)close(ends[0]);
		home->socket = ends[1];
		keep(home);
	}
	(void)close(ends[1]);
	home->socket = ends[0];
	store->home = home;
	if (store->small_disk && ask(home, 'd', (const char *const[]){store->driver->data, NULL}) != 0) {
		(void)kl_lacks(store, "the right to mount a small disk (root, or user namespaces)");
		return NULL;
	}
	return home->path;
}

pid_t kr_home_fork(void)
{
	static const struct rlimit none = {0, 0};
	pid_t lab = getpid(), pid;

	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	pid = fork();
	if (pid != 0)
		return pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)setrlimit(RLIMIT_CORE, &none);
	if (getppid() != lab)
		_exit(0);
	return 0;
}

void kr_home_close(struct kl_store *store)
{
	if (!store->home)
		return;
	(void)close(store->home->socket);
	(void)waitpid(store->home->keeper, NULL, 0);
	free(store->home);
	store->home = NULL;
}

bool kl_home_run(struct kl_store *store, const char *const *argv)
{
	char log[300];

	if (ask(store->home, 'r', argv) == 0)
		return true;
	kl_home_log(store, log, sizeof log);
	return kl_fail(store, "%s failed: %s", argv[0], log);
}

bool kl_home_start(struct kl_store *store, uint32_t node, const char *const *argv)
{
	int64_t pid = ask(store->home, 's', argv);

	store->home->server = store->home->nodes[node] = (pid_t)pid;
	return pid > 0 || kl_fail(store, "cannot start %s", argv[0]);
}

static bool has_ended(pid_t pid)
{
	char path[64], text[512];

	(void)snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);

	FILE *file = fopen(path, "re");

	text[file ? fread(text, 1, sizeof text - 1, file) : 0] = '\0';
	if (file)
		(void)fclose(file);

	const char *after = strrchr(text, ')');

	return !after || strncmp(after, ") Z", 3) == 0; /* the keeper looks when it is to stop all */
}

bool kl_home_wait(struct kl_store *store, bool (*ready)(struct kl_store *store, uint32_t node), uint32_t node)
{
	static const struct timespec tick = {0, 20000000};
	int64_t end = kl_now() + (store->connect ? FOLLOW_S : READY_S) * INT64_C(1000000000);
	char log[sizeof store->why];

	while (!ready(store, node)) {
		if (store->connect && kl_now() > end) {
			(void)snprintf(log, sizeof log, "%s", store->why);
			return kl_fail(store, "node n%u does not come to what the first one has: %s",
				(unsigned)node, log);
		}
		if (!store->connect && (kl_now() > end || has_ended(store->home->nodes[node]))) {
			kl_home_log(store, log, sizeof log);
			return kl_fail(store, "the server does not start: %s", log);
		}
		(void)nanosleep(&tick, NULL);
	}
	return true;
}

bool kl_home_wait_others(struct kl_store *store, bool (*ready)(struct kl_store *store, uint32_t node))
{
	for (uint32_t node = 1; node < store->nodes; node++)
		if (!kl_home_wait(store, ready, node))
			return false;
	return true;
}

bool kl_home_fill(struct kl_store *store, bool full)
{
	return ask(store->home, full ? 'f' : 'e', NULL) == 0 || kl_fail(store, "cannot fill the disk");
}

void kl_home_kill(struct kl_store *store) { (void)ask(store->home, 'k', NULL); }
void kl_home_stop(struct kl_store *store) { (void)ask(store->home, 't', NULL); }

pid_t kr_home_node(const struct kl_store *store, uint32_t node) { return store->home->nodes[node]; }

bool kr_home_kill_node(struct kl_store *store, uint32_t node)
{
	char pid[24];

	(void)snprintf(pid, sizeof pid, "%ld", (long)store->home->nodes[node]);
	return ask(store->home, 'n', (const char *const[]){pid, NULL}) == 0 ||
		kl_fail(store, "cannot kill node %u", (unsigned)node);
}

size_t kl_home_processes(struct kl_store *store, pid_t *out, size_t most)
{
	if (!store->home || store->home->server <= 0 || most == 0)
		return 0;
	out[0] = store->home->server;
	return 1 + descendants(out[0], out + 1, most - 1);
}

void kl_home_log(struct kl_store *store, char *out, size_t size)
{
	char path[128];

	out[0] = '\0';
	(void)snprintf(path, sizeof path, "%s/log", store->home->path);
	FILE *file = fopen(path, "re");
	if (!file)
		return;
	if (fseek(file, -(long)size + 1, SEEK_END) != 0)
		rewind(file);
	out[fread(out, 1, size - 1, file)] = '\0';
	for (char *c = out; *c; c++)
		if (*c == '\n')
			*c = c[1] ? ';' : '\0';
	(void)fclose(file);
}

bool kl_program(struct kl_store *store, const char *name, const char *package, const char *folder,
	char out[512])
{
	static const char *const folders[] = {"/usr/sbin", "/usr/local/sbin", "/usr/bin", "/usr/local/bin"};
	char pattern[512], text[512];
	glob_t found = {0};
	const char *path = getenv("PATH");

	out[0] = '\0';
	if (folder && snprintf(pattern, sizeof pattern, "%s/%s", folder, name) > 0 &&
		glob(pattern, 0, NULL, &found) == 0)
		(void)snprintf(out, 512, "%s", found.gl_pathv[found.gl_pathc - 1]);
	globfree(&found);
	while (!out[0] && path && *path) {
		size_t length = strcspn(path, ":");

		if (snprintf(text, sizeof text, "%.*s/%s", (int)length, path, name) < (int)sizeof text &&
			access(text, X_OK) == 0)
			(void)snprintf(out, 512, "%s", text);
		path += length + (path[length] == ':');
	}
	for (size_t i = 0; !out[0] && i < KR_COUNT(folders); i++)
		if (snprintf(text, sizeof text, "%s/%s", folders[i], name) > 0 && access(text, X_OK) == 0)
			(void)snprintf(out, 512, "%s", text);
	(void)snprintf(text, sizeof text, "%s (Debian's package %s)", name, package);
	return out[0] || kl_lacks(store, text);
}
