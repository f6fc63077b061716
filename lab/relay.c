/* A thread for each connection copies both ways; what is to happen is looked up with each message.
 *
 * Nodes of a cluster listen at 127.0.0.1, and node N's relay at the same port of 127.0.1.N+1. What it sends
 * on comes from 127.0.1.M+1 if node M has sent it, so that a node that goes by where connections come from,
 * as Galera's do, tells others to go to the relay, too. Who has sent it is told by /proc: whose socket the
 * other end is. */
#define _GNU_SOURCE
#include "lab/relay.h"

#include "lab/home.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { TICK_MS = 20, DELAY_MS = 50, STACK = 128 << 10, NOBODY = -1 };

union address {
	struct sockaddr any;
	struct sockaddr_un local;
	struct sockaddr_in internet;
};

struct kr_relay {
	struct kl_store *store;
	union address server;
	int node;              /* before which it stands; NOBODY: a relay for clients */
	_Atomic uint32_t away; /* nodes that are cut off, a bit each */
	int listener;
	pthread_t thread;
	_Atomic int mode, stopped;
	_Atomic uint32_t cuts, open; /* connections */
};

struct pipe {
	struct kr_relay *relay;
	int ends[2]; /* the client's; the server's, -1 until it is connected */
	int node;    /* whose connection it is */
	uint32_t cuts;
	bool lost;
};

static bool send_all(int fd, const char *data, ssize_t n)
{
	for (ssize_t done = 0, k; done < n; done += k) {
		k = send(fd, data + done, (size_t)(n - done), MSG_NOSIGNAL);
		if (k <= 0)
			return false;
	}
	return true;
}

/* One message; `from` 1: of the server. False: the connection is over. */
static bool copy(struct pipe *p, int from)
{
	static const struct timespec delay = {0, DELAY_MS * 1000000};
	char data[16 << 10];
	ssize_t n = recv(p->ends[from], data, sizeof data, 0);

	if (n <= 0)
		return false;
	if (p->relay->mode == KR_RELAY_DELAY)
		(void)nanosleep(&delay, NULL);
	if (p->relay->mode == KR_RELAY_HALF && from == 1) {
		p->lost = true;
		return true;
	}
	return send_all(p->ends[!from], data, n);
}

/* ---- nodes ---- */

static struct sockaddr_in loopback(int net, int host, int port)
{
	return (struct sockaddr_in){.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK - 1 + (uint32_t)(net * 256 + host))};
}

/* The other end of a connection, as the kernel numbers sockets; 0: there is none. */
static unsigned long socket_of(int fd)
{
	struct sockaddr_in there, here;
	socklen_t size = sizeof there, same = sizeof here;
	char line[512];
	unsigned address, port, to, to_port;
	unsigned long inode = 0, found = 0;
	FILE *file = getpeername(fd, (struct sockaddr *)&there, &size) == 0 &&
			getsockname(fd, (struct sockaddr *)&here, &same) == 0
		? fopen("/proc/net/tcp", "re")
		: NULL;

	while (file && !found && fgets(line, sizeof line, file))
		if (sscanf(line, " %*d: %x:%x %x:%x %*x %*x:%*x %*x:%*x %*x %*u %*u %lu", &address, &port,
			    &to, &to_port, &inode) == 5 &&
			address == there.sin_addr.s_addr && port == ntohs(there.sin_port) &&
			to == here.sin_addr.s_addr && to_port == ntohs(here.sin_port))
			found = inode;
	if (file)
		(void)fclose(file);
	return found;
}

static bool has_socket(pid_t pid, unsigned long inode)
{
	char folder[64], expected[64], text[64];
	const struct dirent *entry;
	bool found = false;

	(void)snprintf(expected, sizeof expected, "socket:[%lu]", inode);
	(void)snprintf(folder, sizeof folder, "/proc/%ld/fd", (long)pid);
	DIR *dir = opendir(folder);
	while (dir && !found && (entry = readdir(dir)) != NULL) {
		ssize_t n = readlinkat(dirfd(dir), entry->d_name, text, sizeof text - 1);

		text[n > 0 ? n : 0] = '\0';
		found = strcmp(text, expected) == 0;
	}
	if (dir)
		(void)closedir(dir);
	return found;
}

static int node_of(const struct kr_relay *relay, int fd)
{
	unsigned long inode = socket_of(fd);

	for (uint32_t i = 0; inode && i < relay->store->nodes; i++)
		if (has_socket(kr_home_node(relay->store, i), inode))
			return (int)i;
	return NOBODY;
}

static bool is_parted(const struct pipe *p)
{
	uint32_t away = p->relay->away;

	return p->node != NOBODY && p->node != p->relay->node &&
		((away >> p->node ^ away >> p->relay->node) & 1) != 0;
}

/* ---- connections ---- */

/* In the name of the node whose connection it is. */
static bool reach(struct pipe *p)
{
	const struct kr_relay *relay = p->relay;
	bool local = relay->server.any.sa_family == AF_UNIX;
	struct sockaddr_in from = loopback(1, p->node + 1, 0);

	p->ends[1] = socket(relay->server.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return p->ends[1] >= 0 &&
		(p->node == NOBODY || bind(p->ends[1], (struct sockaddr *)&from, sizeof from) == 0) &&
		connect(p->ends[1], &relay->server.any,
			local ? sizeof relay->server.local : sizeof relay->server.internet) == 0;
}

static bool copy_both(struct pipe *p)
{
	struct pollfd fds[2] = {{.fd = p->ends[0], .events = POLLIN}, {.fd = p->ends[1], .events = POLLIN}};
	bool fine = poll(fds, 2, TICK_MS) >= 0 || errno == EINTR;

	for (int i = 0; i < 2 && fine; i++)
		fine = fds[i].revents == 0 || copy(p, i);
	return fine;
}

static void *carry(void *data)
{
	static const struct timespec tick = {0, TICK_MS * 1000000};
	struct pipe *p = data;
	struct kr_relay *relay = p->relay;
	bool fine = true;

	if (relay->node != NOBODY)
		p->node = node_of(relay, p->ends[0]);
	while (fine && !relay->stopped && relay->cuts == p->cuts &&
		!(p->lost && relay->mode != KR_RELAY_HALF)) {
		if (is_parted(p))
			(void)nanosleep(&tick, NULL);
		else
			fine = p->ends[1] < 0 ? reach(p) : copy_both(p);
	}
	(void)close(p->ends[0]);
	if (p->ends[1] >= 0)
		(void)close(p->ends[1]);
	free(p);
	relay->open--;
	return NULL;
}

static void take(struct kr_relay *relay, int client)
{
	struct pipe *p = calloc(1, sizeof *p);
	pthread_attr_t attributes;
	pthread_t thread;
	bool fine = p != NULL;

	if (fine) {
		*p = (struct pipe){.relay = relay, .ends = {client, -1}, .node = NOBODY, .cuts = relay->cuts};
		relay->open++;
		(void)pthread_attr_init(&attributes);
		(void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
		(void)pthread_attr_setstacksize(&attributes,
			STACK > PTHREAD_STACK_MIN ? STACK : PTHREAD_STACK_MIN);
		fine = pthread_create(&thread, &attributes, carry, p) == 0;
		(void)pthread_attr_destroy(&attributes);
		relay->open -= !fine;
	}
	if (fine)
		return;
	free(p);
	(void)close(client);
}

static void *listen_all(void *data)
{
	struct kr_relay *relay = data;

	while (!relay->stopped) {
		struct pollfd fd = {.fd = relay->listener, .events = POLLIN};
		int client =
			poll(&fd, 1, TICK_MS) > 0 ? accept4(relay->listener, NULL, NULL, SOCK_CLOEXEC) : -1;

		if (client >= 0)
			take(relay, client);
	}
	return NULL;
}

static bool listen_at(struct kl_store *store, struct kr_relay *relay, const struct sockaddr *address,
	socklen_t size)
{
	int yes = 1;

	relay->listener = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (relay->listener >= 0 &&
		setsockopt(relay->listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
		bind(relay->listener, address, size) == 0 && listen(relay->listener, 1024) == 0 &&
		pthread_create(&relay->thread, NULL, listen_all, relay) == 0)
		return true;
	(void)kl_fail(store, "relay: %s", strerror(errno));
	if (relay->listener >= 0)
		(void)close(relay->listener);
	return false;
}

static bool open_socket(struct kl_store *store, struct kr_relay *relay, const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char folder[300];
	const char *name = strrchr(path, '/');

	(void)snprintf(folder, sizeof folder, "%.*s/relay", (int)(name - path), path);
	if (snprintf(address.sun_path, sizeof address.sun_path, "%s%s", folder, name) >=
			(int)sizeof address.sun_path ||
		snprintf(relay->server.local.sun_path, sizeof relay->server.local.sun_path, "%s", path) >=
			(int)sizeof relay->server.local.sun_path)
		return kl_fail(store, "relay: the folder's name is too long");
	relay->server.local.sun_family = AF_UNIX;
	if (mkdir(folder, 0700) != 0)
		return kl_fail(store, "relay: %s", strerror(errno));
	if (!listen_at(store, relay, (struct sockaddr *)&address, sizeof address))
		return false;
	(void)snprintf(store->relayed, sizeof store->relayed, "%s", address.sun_path);
	return true;
}

static struct kr_relay *new_relay(struct kl_store *store, int node)
{
	struct kr_relay *relay = calloc(1, sizeof *relay);

	if (relay) {
		relay->store = store;
		relay->node = node;
	} else {
		(void)kl_fail(store, "out of memory");
	}
	return relay;
}

bool kr_relay_start(struct kl_store *store)
{
	struct kr_relay *relay = new_relay(store, NOBODY);
	char path[300];

	if (!relay)
		return false;
	store->driver->socket(store, path);
	if (open_socket(store, relay, path))
		store->relay = relay;
	else
		free(relay);
	return store->relay != NULL;
}

bool kl_relay_node(struct kl_store *store, uint32_t node, int port, char host[16])
{
	struct sockaddr_in address = loopback(1, (int)node + 1, port);

	(void)snprintf(host, 16, store->parts ? "127.0.1.%u" : "127.0.0.1", (unsigned)(node + 1));
	if (!store->parts || store->relays[node])
		return true;

	struct kr_relay *relay = new_relay(store, (int)node);

	if (!relay)
		return false;
	relay->server.internet = loopback(0, 1, port);
	if (listen_at(store, relay, (struct sockaddr *)&address, sizeof address))
		store->relays[node] = relay;
	else
		free(relay);
	return store->relays[node] != NULL;
}

static void stop(struct kr_relay *relay)
{
	static const struct timespec tick = {0, 5000000};

	if (!relay)
		return;
	relay->stopped = 1;
	(void)pthread_join(relay->thread, NULL);
	(void)close(relay->listener);
	while (relay->open > 0)
		(void)nanosleep(&tick, NULL);
	free(relay);
}

void kr_relay_stop(struct kl_store *store)
{
	stop(store->relay);
	store->relay = NULL;
	store->relayed[0] = '\0';
	for (uint32_t i = 0; i < KL_NODES_MOST; i++) {
		stop(store->relays[i]);
		store->relays[i] = NULL;
	}
}

void kr_relay_set(struct kl_store *store, enum kr_relay_mode mode) { store->relay->mode = (int)mode; }
void kr_relay_cut(struct kl_store *store) { store->relay->cuts++; }

void kr_relay_part(struct kl_store *store, uint32_t node, bool away)
{
	for (uint32_t i = 0; i < store->nodes; i++)
		if (away)
			store->relays[i]->away |= UINT32_C(1) << node;
		else
			store->relays[i]->away &= ~(UINT32_C(1) << node);
}
