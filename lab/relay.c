/* A thread for each connection copies both ways; what is to happen is looked up with each message. */
#define _GNU_SOURCE
#include "lab/relay.h"

#include <errno.h>
#include <limits.h>
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

enum { TICK_MS = 20, DELAY_MS = 50, STACK = 128 << 10 };

struct kr_relay {
	struct sockaddr_un server;
	int listener;
	pthread_t thread;
	_Atomic int mode, stopped;
	_Atomic uint32_t cuts, open; /* connections */
};

struct pipe {
	struct kr_relay *relay;
	int ends[2]; /* the client's, the server's */
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

static void *carry(void *data)
{
	struct pipe *p = data;
	struct kr_relay *relay = p->relay;
	bool fine = true;

	while (fine && !relay->stopped && relay->cuts == p->cuts &&
		!(p->lost && relay->mode != KR_RELAY_HALF)) {
		struct pollfd fds[2] = {{.fd = p->ends[0], .events = POLLIN},
			{.fd = p->ends[1], .events = POLLIN}};

		if (poll(fds, 2, TICK_MS) < 0 && errno != EINTR)
			break;
		for (int i = 0; i < 2 && fine; i++)
			fine = fds[i].revents == 0 || copy(p, i);
	}
	(void)close(p->ends[0]);
	(void)close(p->ends[1]);
	free(p);
	relay->open--;
	return NULL;
}

static void take(struct kr_relay *relay, int client)
{
	struct pipe *p = calloc(1, sizeof *p);
	int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	pthread_attr_t attributes;
	pthread_t thread;
	bool fine = p && server >= 0 &&
		connect(server, (struct sockaddr *)&relay->server, sizeof relay->server) == 0;

	if (fine) {
		*p = (struct pipe){.relay = relay, .ends = {client, server}, .cuts = relay->cuts};
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
	if (server >= 0)
		(void)close(server);
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

static bool open_listener(struct kl_store *store, struct kr_relay *relay, const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char folder[300];
	const char *name = strrchr(path, '/');

	(void)snprintf(folder, sizeof folder, "%.*s/relay", (int)(name - path), path);
	if (snprintf(address.sun_path, sizeof address.sun_path, "%s%s", folder, name) >=
			(int)sizeof address.sun_path ||
		snprintf(relay->server.sun_path, sizeof relay->server.sun_path, "%s", path) >=
			(int)sizeof relay->server.sun_path)
		return kl_fail(store, "relay: the folder's name is too long");
	relay->server.sun_family = AF_UNIX;
	relay->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (mkdir(folder, 0700) != 0 || relay->listener < 0 ||
		bind(relay->listener, (struct sockaddr *)&address, sizeof address) != 0 ||
		listen(relay->listener, 1024) != 0)
		return kl_fail(store, "relay: %s", strerror(errno));
	(void)snprintf(store->relayed, sizeof store->relayed, "%s", address.sun_path);
	return true;
}

bool kr_relay_start(struct kl_store *store)
{
	struct kr_relay *relay = calloc(1, sizeof *relay);
	char path[300];

	if (!relay)
		return kl_fail(store, "out of memory");
	store->driver->socket(store, path);
	if (!open_listener(store, relay, path) ||
		pthread_create(&relay->thread, NULL, listen_all, relay) != 0) {
		free(relay);
		return false;
	}
	store->relay = relay;
	return true;
}

void kr_relay_stop(struct kl_store *store)
{
	static const struct timespec tick = {0, 5000000};
	struct kr_relay *relay = store->relay;

	if (!relay)
		return;
	relay->stopped = 1;
	(void)pthread_join(relay->thread, NULL);
	(void)close(relay->listener);
	while (relay->open > 0)
		(void)nanosleep(&tick, NULL);
	free(relay);
	store->relay = NULL;
	store->relayed[0] = '\0';
}

void kr_relay_set(struct kl_store *store, enum kr_relay_mode mode) { store->relay->mode = (int)mode; }
void kr_relay_cut(struct kl_store *store) { store->relay->cuts++; }
