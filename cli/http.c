/* The server, on libmicrohttpd. One thread runs it and all that belongs to browsers; what the command
 * publishes is in messages that never change, counted by who holds them. A browser that has all waits
 * suspended, until something is new or a beat is due: without beats nobody would see that a browser has
 * gone. */
#include "cli/http.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/ctx.h"

#ifndef KR_HTTP

enum kr_status kr_http_start(const struct kr_http_address *address, bool any, const struct kr_str *page,
	struct kr_http **out, struct kr_err *err)
{
	(void)address, (void)any, (void)page, (void)out;
	return kr_err_set(err, KR_UNSUPPORTED, "this krait was built without libmicrohttpd");
}

const char *kr_http_url(const struct kr_http *h) { return h ? "" : NULL; }
void kr_http_state(struct kr_http *h, const struct kr_str *json) { (void)h, (void)json; }
void kr_http_keep(struct kr_http *h, const struct kr_str *json) { (void)h, (void)json; }
void kr_http_end(struct kr_http *h, const struct kr_str *json) { (void)h, (void)json; }
void kr_http_free(struct kr_http *h) { (void)h; }

#else

#include <arpa/inet.h>
#include <microhttpd.h>

#include "base/library.h"

#define FUNCTIONS(X) \
	X(add_response_header) \
	X(create_response_from_buffer) \
	X(create_response_from_callback) \
	X(destroy_response) \
	X(lookup_connection_value) \
	X(queue_response) \
	X(resume_connection) \
	X(run_wait) \
	X(start_daemon) \
	X(stop_daemon) \
	X(suspend_connection)

#define MEMBER(function) __typeof__(MHD_##function) *function;
#define NAME(function) "MHD_" #function,

struct microhttpd {
	FUNCTIONS(MEMBER)
};

static const char *const names[] = {FUNCTIONS(NAME)};
static const struct kr_library library = {KR_MICROHTTPD_NAME, KR_MICROHTTPD_PATH};

_Static_assert(sizeof(struct microhttpd) == sizeof names, "a pointer for each name");

KR_LIBRARY_NOTE(note,
	"[{\"feature\":\"http\",\"description\":\"The page of krait watch\",\"priority\":\"recommended\","
	"\"soname\":[\"" KR_MICROHTTPD_NAME "\"]}]");

#define SECOND INT64_C(1000000000)

enum { TICK_MS = 100, BROWSERS = 64, SILENT_SECONDS = 30, WAITING = 16, BLOCK = 4096 };

static const int64_t beat_every = 2 * SECOND, last_words = SECOND;
static const char greeting[] = "retry: 1000\n\n", beat[] = ": still here\n\n";

/* Of every answer: browsers keep nothing, show it to no other page, and load nothing for it. */
static const char *const headers[][2] = {
	{"Cache-Control", "no-store"},
	{"Content-Security-Policy",
		"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; "
		"connect-src 'self'; base-uri 'none'; "
		"form-action 'none'; frame-ancestors 'none'"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
	{"Referrer-Policy", "no-referrer"},
	{"X-Content-Type-Options", "nosniff"},
};

struct message {
	uint32_t holders;
	size_t length;
	char text[];
};

struct browser {
	struct kr_http *http;
	struct MHD_Connection *connection;
	struct browser *next, **place; /* among all */
	struct message *message;       /* that it is being given, or NULL: `text`, which is constant */
	const char *text;
	size_t length, sent;
	uint64_t state, kept; /* the newest that it was given; the first that it was not */
	bool suspended, over;
	int64_t given; /* when it was given something last */
};

struct kr_http {
	struct microhttpd mhd;
	char url[80];
	unsigned port;
	bool any;
	uint64_t run; /* tells this server from others that had its address */
	struct MHD_Daemon *daemon;
	struct MHD_Response *page;
	pthread_t thread;
	struct browser *browsers; /* the thread's alone */

	pthread_mutex_t lock; /* for what is below */
	bool over;            /* the last message is `end`; NULL: there was no memory for it */
	struct message *state, *end;
	uint64_t states, first, next; /* states so far; numbers of what is kept */
	struct message *kept[KR_HTTP_KEPT];
	size_t bytes;
};

/* ---- messages ---- */

static struct message *new_message(const char *head, const struct kr_str *json)
{
	size_t length = strlen(head) + json->n + 2;
	struct message *m = json->failed || json->n > KR_HTTP_MESSAGE ? NULL : malloc(sizeof *m + length + 1);

	if (!m)
		return NULL;
	m->holders = 1;
	m->length = length;
	(void)snprintf(m->text, length + 1, "%s%s\n\n", head, kr_str_text(json));
	return m;
}

/* Under the lock. */
static void let_go(struct message *m)
{
	if (m && --m->holders == 0)
		free(m);
}

void kr_http_state(struct kr_http *h, const struct kr_str *json)
{
	struct message *m = new_message("event: state\ndata: ", json);

	if (!m)
		return;
	pthread_mutex_lock(&h->lock);
	let_go(h->state);
	h->state = m;
	h->states++;
	pthread_mutex_unlock(&h->lock);
}

void kr_http_keep(struct kr_http *h, const struct kr_str *json)
{
	char head[96];

	(void)snprintf(head, sizeof head, "event: more\nid: %llx.%llu\ndata: ", (unsigned long long)h->run,
		(unsigned long long)h->next);

	struct message *m = new_message(head, json);

	if (!m)
		return;
	pthread_mutex_lock(&h->lock);
	while (h->next - h->first == KR_HTTP_KEPT ||
		(h->first < h->next && h->bytes + m->length > KR_HTTP_BYTES)) {
		struct message *old = h->kept[h->first++ % KR_HTTP_KEPT];
		h->bytes -= old->length;
		let_go(old);
	}
	h->kept[h->next++ % KR_HTTP_KEPT] = m;
	h->bytes += m->length;
	pthread_mutex_unlock(&h->lock);
}

/* ---- a browser that follows ---- */

/* What it is given next; false: it has all. */
static bool give(struct browser *b)
{
	struct kr_http *h = b->http;
	struct message *m = NULL;

	pthread_mutex_lock(&h->lock);
	let_go(b->message);
	if (b->kept < h->first)
		b->kept = h->first;
	if (b->state != h->states) {
		b->state = h->states;
		m = h->state;
	} else if (b->kept < h->next) {
		m = h->kept[b->kept++ % KR_HTTP_KEPT];
	} else if (h->over && !b->over) {
		b->over = true;
		m = h->end;
	}
	if (m)
		m->holders++;
	pthread_mutex_unlock(&h->lock);
	b->message = m;
	b->text = m ? m->text : NULL;
	b->length = m ? m->length : 0;
	b->sent = 0;
	return m != NULL;
}

static ssize_t take(void *data, uint64_t position, char *out, size_t most)
{
	struct browser *b = data;
	int64_t now = kr_now_ns();

	(void)position;
	if (b->sent == b->length && !give(b)) {
		if (b->over)
			return MHD_CONTENT_READER_END_OF_STREAM;
		if (now - b->given < beat_every) {
			b->suspended = true;
			b->http->mhd.suspend_connection(b->connection);
			return 0;
		}
		b->text = beat;
		b->length = sizeof beat - 1;
	}
	size_t n = b->length - b->sent < most ? b->length - b->sent : most;
	memcpy(out, b->text + b->sent, n);
	b->sent += n;
	b->given = now;
	return (ssize_t)n;
}

static void forget(void *data)
{
	struct browser *b = data;

	*b->place = b->next;
	if (b->next)
		b->next->place = b->place;
	pthread_mutex_lock(&b->http->lock);
	let_go(b->message);
	pthread_mutex_unlock(&b->http->lock);
	free(b);
}

/* Where a browser that comes again goes on. */
static uint64_t where_it_was(const struct kr_http *h, const char *id)
{
	char *end;

	if (!id || strtoull(id, &end, 16) != h->run || *end != '.')
		return 0;
	return strtoull(end + 1, NULL, 10) + 1;
}

static struct MHD_Response *follow(struct kr_http *h, struct MHD_Connection *connection)
{
	struct browser *b = malloc(sizeof *b);

	if (!b)
		return NULL;
	*b = (struct browser){.http = h,
		.connection = connection,
		.text = greeting,
		.length = sizeof greeting - 1,
		.given = kr_now_ns()};
	b->kept =
		where_it_was(h, h->mhd.lookup_connection_value(connection, MHD_HEADER_KIND, "Last-Event-ID"));
	b->place = &h->browsers;
	b->next = h->browsers;
	if (b->next)
		b->next->place = &b->next;
	h->browsers = b;

	struct MHD_Response *out =
		h->mhd.create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, take, b, forget);

	if (!out)
		forget(b);
	return out;
}

/* Goes on with those for whom something is new; true: this is the end. */
static bool wake(struct kr_http *h)
{
	int64_t now = kr_now_ns();

	pthread_mutex_lock(&h->lock);
	uint64_t states = h->states, next = h->next;
	bool over = h->over;
	pthread_mutex_unlock(&h->lock);
	for (struct browser *b = h->browsers; b; b = b->next)
		if (b->suspended &&
			(over || b->state != states || b->kept < next || now - b->given >= beat_every)) {
			b->suspended = false;
			h->mhd.resume_connection(b->connection);
		}
	return over;
}

/* ---- requests ---- */

static bool add_headers(const struct kr_http *h, struct MHD_Response *response, const char *type)
{
	bool good = response && h->mhd.add_response_header(response, "Content-Type", type) == MHD_YES;

	for (size_t i = 0; i < KR_COUNT(headers) && good; i++)
		good = h->mhd.add_response_header(response, headers[i][0], headers[i][1]) == MHD_YES;
	return good;
}

static enum MHD_Result answer_with(const struct kr_http *h, struct MHD_Connection *connection,
	unsigned status, struct MHD_Response *response, const char *type)
{
	enum MHD_Result result =
		add_headers(h, response, type) ? h->mhd.queue_response(connection, status, response) : MHD_NO;

	if (response)
		h->mhd.destroy_response(response);
	return result;
}

static enum MHD_Result refuse(const struct kr_http *h, struct MHD_Connection *connection, unsigned status,
	const char *why)
{
	char text[160];
	int length = snprintf(text, sizeof text, "%u: %s\n", status, why);
	struct MHD_Response *response =
		h->mhd.create_response_from_buffer((size_t)length, text, MHD_RESPMEM_MUST_COPY);

	if (response && status == MHD_HTTP_METHOD_NOT_ALLOWED)
		(void)h->mhd.add_response_header(response, "Allow", "GET, HEAD");
	return answer_with(h, connection, status, response, "text/plain; charset=utf-8");
}

/* NOLINTNEXTLINE(readability-function-size): libmicrohttpd's */
static enum MHD_Result answer(void *data, struct MHD_Connection *connection, const char *path,
	const char *method, const char *version, const char *body, size_t *length, void **place)
{
	struct kr_http *h = data;
	const char *host = h->mhd.lookup_connection_value(connection, MHD_HEADER_KIND, "Host");

	(void)version, (void)body, (void)length, (void)place;
	if (!h->any && !host)
		return refuse(h, connection, MHD_HTTP_BAD_REQUEST, "expected a Host");
	if (!h->any && !kr_http_host_fits(host, h->port))
		return refuse(h, connection, MHD_HTTP_FORBIDDEN,
			"this page is asked for by its address, not by a name ('--http-any' allows names)");
	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		return refuse(h, connection, MHD_HTTP_METHOD_NOT_ALLOWED, "expected GET or HEAD");
	if (strcmp(path, "/") == 0)
		return h->mhd.queue_response(connection, MHD_HTTP_OK, h->page);
	if (strcmp(path, "/events") == 0)
		return answer_with(h, connection, MHD_HTTP_OK, follow(h, connection),
			"text/event-stream; charset=utf-8");
	return refuse(h, connection, MHD_HTTP_NOT_FOUND, "there is one page, at /");
}

/* ---- the thread ---- */

static void *serve(void *data)
{
	static const struct timespec tick = {.tv_nsec = TICK_MS * INT64_C(1000000)};
	struct kr_http *h = data;
	int64_t latest = INT64_MAX;

	for (bool over = false; !over || (h->browsers && kr_now_ns() < latest);) {
		if (h->mhd.run_wait(h->daemon, TICK_MS) != MHD_YES)
			(void)nanosleep(&tick, NULL);
		over = wake(h);
		if (over && latest == INT64_MAX)
			latest = kr_now_ns() + last_words;
	}
	h->mhd.stop_daemon(h->daemon);
	return NULL;
}

/* ---- beginning and end ---- */

/* A socket that listens, or -1. */
static int listen_on(const struct kr_http_address *address)
{
	struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons((uint16_t)address->port)};
	struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)address->port)};
	const void *at = address->six ? (const void *)&six : &four;
	socklen_t size = address->six ? sizeof six : sizeof four;
	int fd = socket(address->six ? AF_INET6 : AF_INET, SOCK_STREAM, 0), on = 1;

	(void)inet_pton(address->six ? AF_INET6 : AF_INET, address->host,
		address->six ? (void *)&six.sin6_addr : &four.sin_addr);
	if (fd < 0)
		return -1;
	if (fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 && fcntl(fd, F_SETFL, O_NONBLOCK) == 0 &&
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 && bind(fd, at, size) == 0 &&
		listen(fd, WAITING) == 0)
		return fd;

	int error = errno;

	(void)close(fd);
	errno = error;
	return -1;
}

static unsigned port_of(int fd)
{
	struct sockaddr_storage at;
	socklen_t size = sizeof at;

	if (getsockname(fd, (struct sockaddr *)&at, &size) != 0)
		return 0;
	return ntohs(at.ss_family == AF_INET6 ? ((const struct sockaddr_in6 *)&at)->sin6_port
					      : ((const struct sockaddr_in *)&at)->sin_port);
}

/* Owns the socket from now on. */
static bool start(struct kr_http *h, int fd, const struct kr_str *page)
{
	h->page = h->mhd.create_response_from_buffer(page->n, (void *)(uintptr_t)kr_str_text(page),
		MHD_RESPMEM_MUST_COPY);
	h->daemon = h->mhd.start_daemon(MHD_USE_AUTO | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, answer, h,
		MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, (unsigned)BROWSERS,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SILENT_SECONDS, MHD_OPTION_END);
	if (!h->daemon) {
		(void)close(fd);
		return false;
	}
	if (add_headers(h, h->page, "text/html; charset=utf-8") &&
		pthread_create(&h->thread, NULL, serve, h) == 0)
		return true;
	h->mhd.stop_daemon(h->daemon);
	return false;
}

enum kr_status kr_http_start(const struct kr_http_address *address, bool any, const struct kr_str *page,
	struct kr_http **out, struct kr_err *err)
{
	struct kr_http_address at = *address;
	struct microhttpd mhd;
	char text[64];

	KR_TRY(kr_library_load(&library, names, KR_COUNT(names), &mhd, err));
	kr_http_address_text(address, text);

	int fd = listen_on(address);

	if (fd < 0)
		return kr_err_set(err, KR_BAD, "cannot listen on %s: %s", text, strerror(errno));

	struct kr_http *h = page->failed ? NULL : calloc(1, sizeof *h);
	struct timespec now = {0};

	if (!h) {
		(void)close(fd);
		return KR_NOMEM;
	}
	h->mhd = mhd;
	(void)clock_gettime(CLOCK_REALTIME, &now);
	h->run = (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
	h->any = any;
	h->port = at.port = port_of(fd);
	kr_http_address_text(&at, text);
	(void)snprintf(h->url, sizeof h->url, "http://%s/", text);
	(void)pthread_mutex_init(&h->lock, NULL);
	if (!start(h, fd, page)) {
		kr_http_free(h);
		return KR_NOMEM;
	}
	*out = h;
	return KR_OK;
}

const char *kr_http_url(const struct kr_http *h) { return h->url; }

void kr_http_end(struct kr_http *h, const struct kr_str *json)
{
	struct message *m = new_message("event: end\ndata: ", json);

	pthread_mutex_lock(&h->lock);
	h->end = m;
	h->over = true;
	pthread_mutex_unlock(&h->lock);
	(void)pthread_join(h->thread, NULL);
}

void kr_http_free(struct kr_http *h)
{
	if (!h)
		return;
	let_go(h->state);
	let_go(h->end);
	for (uint64_t i = h->first; i < h->next; i++)
		let_go(h->kept[i % KR_HTTP_KEPT]);
	if (h->page)
		h->mhd.destroy_response(h->page);
	(void)pthread_mutex_destroy(&h->lock);
	free(h);
}

#endif
