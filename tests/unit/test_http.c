/* cli/http: a plain client asks for the page and follows its messages, as browsers do, in time and late, and does not read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/ctx.h"
#include "cli/http.h"

#define PAGE "<!doctype html><title>a page</title>"
#define GET "GET %s HTTP/1.0\r\nHost: 127.0.0.1:%u\r\n%s\r\n"

enum { PATIENCE_SECONDS = 20 };

/* ---- addresses ---- */

struct address_row { const char *text; bool any; const char *shown; }; /* shown NULL: refused */

static void addresses(void **state)
{
	static const struct address_row rows[] = {
		{"127.0.0.1:8080", false, "127.0.0.1:8080"},
		{"127.0.0.1:0", false, "127.0.0.1:0"},
		{"127.255.0.9:65535", false, "127.255.0.9:65535"},
		{"localhost:80", false, "127.0.0.1:80"},
		{"LocalHost:80", false, "127.0.0.1:80"},
		{"[::1]:8080", false, "[::1]:8080"},
		{"0.0.0.0:8080", false, NULL},
		{"10.0.0.1:8080", false, NULL},
		{"[::]:8080", false, NULL},
		{"[::2]:8080", false, NULL},
		{"[::ffff:127.0.0.1]:8080", false, NULL},
		{"0.0.0.0:8080", true, "0.0.0.0:8080"},
		{"[::]:8080", true, "[::]:8080"},
		{"127.0.0.1", false, NULL},
		{"127.0.0.1:", false, NULL},
		{"127.0.0.1:65536", false, NULL},
		{"127.0.0.1:123456", false, NULL},
		{"127.0.0.1:-1", false, NULL},
		{"127.0.0.1:+1", false, NULL},
		{"127.0.0.1:80x", false, NULL},
		{"127.0.0.1:80 ", false, NULL},
		{"127.0.0.1x:80", false, NULL},
		{"127.1:80", false, NULL},
		{"127.0.0.1.:80", false, NULL},
		{"::1:8080", false, NULL},
		{"[::1]", false, NULL},
		{"[::1]8080", false, NULL},
		{"[::1:8080", false, NULL},
		{"[127.0.0.1]:8080", false, NULL},
		{"[localhost]:8080", false, NULL},
		{"example.org:8080", true, NULL},
		{"localhost.:8080", true, NULL},
		{":8080", true, NULL},
		{"8080", true, NULL},
		{"", true, NULL},
		{"[]:8080", true, NULL},
		{"[1234:1234:1234:1234:1234:1234:1234:1234:1234:1234:1234:1234]:8080", true, NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct kr_http_address address;
		struct kr_err err;
		char text[64];

		kr_err_init(&err);
		enum kr_status status = kr_http_address_parse(rows[i].text, rows[i].any, &address, &err);
		if (status != (rows[i].shown ? KR_OK : KR_BAD))
			fail_msg("%s: status %d, %s", rows[i].text, status, err.text);
		if (!rows[i].shown)
			continue;
		kr_http_address_text(&address, text);
		assert_string_equal(text, rows[i].shown);
	}
}

struct host_row { const char *host; unsigned port; bool fits; };

static void hosts(void **state)
{
	static const struct host_row rows[] = {
		{"127.0.0.1:8080", 8080, true},
		{"localhost:8080", 8080, true},
		{"[::1]:8080", 8080, true},
		{"192.168.1.2:8080", 8080, true}, /* a number cannot be made to point elsewhere */
		{"127.0.0.1", 80, true},
		{"[::1]", 80, true},
		{"127.0.0.1", 8080, false},
		{"127.0.0.1:8081", 8080, false},
		{"evil.example:8080", 8080, false},
		{"localhost.evil.example:8080", 8080, false},
		{"127.0.0.1.evil.example:8080", 8080, false},
		{"evil.example", 80, false},
		{"", 80, false},
		{":8080", 8080, false},
		{"127.0.0.1:8080:8080", 8080, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (kr_http_host_fits(rows[i].host, rows[i].port) != rows[i].fits)
			fail_msg("%s at port %u", rows[i].host, rows[i].port);
}

/* ---- a server and its clients ---- */

struct served {
	struct kr_mem mem;
	struct kr_http *http;
	unsigned port;
	bool six;
};

static bool begin(struct served *s, const char *where, bool any)
{
	struct kr_http_address address;
	struct kr_str page;
	struct kr_err err;

	kr_err_init(&err);
	*s = (struct served){.six = *where == '['};
	kr_mem_init(&s->mem, SIZE_MAX);
	kr_str_init(&page, &s->mem);
	kr_str_add(&page, PAGE);
	assert_int_equal(kr_http_address_parse(where, any, &address, &err), KR_OK);
	enum kr_status status = kr_http_start(&address, any, &page, &s->http, &err);
	kr_str_done(&page);
	if (status && s->six)
		return false; /* no IPv6 here */
	if (status)
		fail_msg("%s", err.text);
	s->port = (unsigned)strtoul(strrchr(kr_http_url(s->http), ':') + 1, NULL, 10);
	assert_true(s->port > 0);
	return true;
}

static void publish(struct served *s, void (*how)(struct kr_http *h, const struct kr_str *json), const char *text)
{
	struct kr_str json;

	kr_str_init(&json, &s->mem);
	kr_str_add(&json, text);
	how(s->http, &json);
	kr_str_done(&json);
}

static void end(struct served *s)
{
	publish(s, kr_http_end, "{\"how\": \"ended\"}");
	kr_http_free(s->http);
	assert_int_equal(s->mem.used, 0);
}

static int call(const struct served *s)
{
	struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons((uint16_t)s->port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)s->port), .sin6_addr = in6addr_loopback};
	struct timeval patience = {.tv_sec = PATIENCE_SECONDS};
	int fd = socket(s->six ? AF_INET6 : AF_INET, SOCK_STREAM, 0);

	assert_true(fd >= 0);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
	assert_int_equal(s->six ? connect(fd, (struct sockaddr *)&six, sizeof six) : connect(fd, (struct sockaddr *)&four, sizeof four), 0);
	return fd;
}

static int ask(const struct served *s, const char *request)
{
	int fd = call(s);

	assert_int_equal(send(fd, request, strlen(request), MSG_NOSIGNAL), strlen(request));
	return fd;
}

static int follow(const struct served *s, const char *headers)
{
	char request[256];

	(void)snprintf(request, sizeof request, GET, "/events", s->port, headers);
	return ask(s, request);
}

struct answer { char *text; size_t n, cap; bool over; };

/* Reads on until `wanted` is among what was answered, or to the end (NULL). */
static void read_to(int fd, struct answer *a, const char *wanted)
{
	while (!a->over && !(wanted && a->text && strstr(a->text, wanted))) {
		if (a->cap - a->n < 65536) {
			a->cap = 2 * a->cap + 131072;
			a->text = realloc(a->text, a->cap);
			assert_non_null(a->text);
		}
		ssize_t got = recv(fd, a->text + a->n, a->cap - a->n - 1, 0);
		if (got < 0)
			fail_msg("nothing came; wanted %s, has: %.2000s", wanted ? wanted : "the end", a->n ? a->text : "");
		a->n += (size_t)got;
		a->text[a->n] = '\0';
		a->over = got == 0;
	}
	if (wanted && !strstr(a->text, wanted))
		fail_msg("ended without %s: %.2000s", wanted, a->text);
}

static void done(int fd, struct answer *a)
{
	free(a->text);
	*a = (struct answer){0};
	assert_int_equal(close(fd), 0);
}

static void answers(const struct served *s, const char *request, const char *first, const char *has)
{
	struct answer a = {0};
	int fd = ask(s, request);

	read_to(fd, &a, NULL);
	if (strncmp(a.text, first, strlen(first)) != 0 || (has && !strstr(a.text, has)))
		fail_msg("to %s expected '%s' and '%s', found: %.1500s", request, first, has ? has : "", a.text);
	done(fd, &a);
}

static uint32_t count(const char *text, const char *what)
{
	uint32_t n = 0;

	for (; (text = strstr(text, what)) != NULL; text += strlen(what))
		n++;
	return n;
}

/* ---- tests ---- */

static void requests(void **state)
{
	struct served s;
	char text[256];

	(void)state;
	begin(&s, "127.0.0.1:0", false);
	(void)snprintf(text, sizeof text, GET, "/", s.port, "");
	answers(&s, text, "HTTP/1.1 200 ", "\r\n\r\n" PAGE);
	answers(&s, text, "HTTP/1.1 200 ", "connect-src 'self'");
	(void)snprintf(text, sizeof text, GET, "/?x=/events", s.port, "");
	answers(&s, text, "HTTP/1.1 200 ", PAGE);
	(void)snprintf(text, sizeof text, "HEAD / HTTP/1.1\r\nHost: localhost:%u\r\nConnection: close\r\n\r\n", s.port);
	answers(&s, text, "HTTP/1.1 200 ", "Content-Type: text/html");
	(void)snprintf(text, sizeof text, "HEAD /events HTTP/1.1\r\nHost: [::1]:%u\r\nConnection: close\r\n\r\n", s.port);
	answers(&s, text, "HTTP/1.1 200 ", "Content-Type: text/event-stream");
	(void)snprintf(text, sizeof text, GET, "/page", s.port, "");
	answers(&s, text, "HTTP/1.1 404 ", NULL);
	(void)snprintf(text, sizeof text, GET, "/../etc/passwd", s.port, "");
	answers(&s, text, "HTTP/1.1 404 ", NULL);
	(void)snprintf(text, sizeof text, "POST / HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nContent-Length: 3\r\n\r\nabc", s.port);
	answers(&s, text, "HTTP/1.1 405 ", "Allow: GET, HEAD");
	(void)snprintf(text, sizeof text, "DELETE /events HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nConnection: close\r\n\r\n", s.port);
	answers(&s, text, "HTTP/1.1 405 ", "Allow: GET, HEAD");
	(void)snprintf(text, sizeof text, "GET / HTTP/1.1\r\nHost: evil.example:%u\r\nConnection: close\r\n\r\n", s.port);
	answers(&s, text, "HTTP/1.1 403 ", NULL);
	(void)snprintf(text, sizeof text, GET, "/events", s.port + 1, "");
	answers(&s, text, "HTTP/1.1 403 ", NULL);
	answers(&s, "GET / HTTP/1.0\r\n\r\n", "HTTP/1.1 400 ", NULL);
	answers(&s, "no request at all\r\n\r\n", "HTTP/1.1 4", NULL);
	end(&s);
}

static void any_name(void **state)
{
	struct served s;

	(void)state;
	begin(&s, "0.0.0.0:0", true);
	answers(&s, "GET / HTTP/1.0\r\nHost: my-server\r\n\r\n", "HTTP/1.1 200 ", PAGE);
	answers(&s, "GET / HTTP/1.0\r\n\r\n", "HTTP/1.1 200 ", PAGE);
	end(&s);
}

static void the_other_loopback(void **state)
{
	struct served s;
	char text[256];

	(void)state;
	if (!begin(&s, "[::1]:0", false)) {
		print_message("[::1] cannot be listened on here\n");
		return;
	}
	assert_ptr_equal(strstr(kr_http_url(s.http), "http://[::1]:"), kr_http_url(s.http));
	(void)snprintf(text, sizeof text, "GET / HTTP/1.0\r\nHost: [::1]:%u\r\n\r\n", s.port);
	answers(&s, text, "HTTP/1.1 200 ", PAGE);
	end(&s);
}

static void taken(void **state)
{
	struct served s;
	struct kr_http_address address = {.host = "127.0.0.1"};
	struct kr_http *other = NULL;
	struct kr_str page = {0};
	struct kr_err err;
	char expected[128];

	(void)state;
	begin(&s, "127.0.0.1:0", false);
	address.port = s.port;
	kr_err_init(&err);
	assert_int_equal(kr_http_start(&address, false, &page, &other, &err), KR_BAD);
	assert_null(other);
	(void)snprintf(expected, sizeof expected, "cannot listen on 127.0.0.1:%u: Address already in use", s.port);
	assert_string_equal(err.text, expected);
	end(&s);
}

/* State first, then all that is kept, then what comes; the last state only; the end, after which nothing is open. */
static void messages(void **state)
{
	struct served s;
	struct answer a = {0}, b = {0};

	(void)state;
	begin(&s, "127.0.0.1:0", false);
	publish(&s, kr_http_state, "{\"state\": 1}");
	publish(&s, kr_http_state, "{\"state\": 2}");
	publish(&s, kr_http_keep, "{\"kept\": 1}");
	int first = follow(&s, "");
	read_to(first, &a, "{\"kept\": 1}\n\n");
	assert_null(strstr(a.text, "{\"state\": 1}"));
	assert_non_null(strstr(a.text, "event: state\ndata: {\"state\": 2}\n\n"));
	assert_true(strstr(a.text, "{\"state\": 2}") < strstr(a.text, "{\"kept\": 1}"));
	publish(&s, kr_http_keep, "{\"kept\": 2}");
	read_to(first, &a, "{\"kept\": 2}\n\n");
	int second = follow(&s, "");
	read_to(second, &b, "{\"kept\": 2}\n\n");
	publish(&s, kr_http_state, "{\"state\": 3}");
	read_to(first, &a, "{\"state\": 3}\n\n");
	publish(&s, kr_http_keep, "{\"kept\": 3}");
	int64_t before = kr_now_ns();
	end(&s);
	assert_true(kr_now_ns() - before < 900 * INT64_C(1000000)); /* all was taken: there is nothing to wait for */
	read_to(first, &a, NULL);
	read_to(second, &b, NULL);
	for (int i = 0; i < 2; i++) {
		const char *text = i ? b.text : a.text;
		assert_int_equal(count(text, "{\"kept\": 1}"), 1);
		assert_int_equal(count(text, "{\"kept\": 3}"), 1);
		const char *last = strstr(text, "event: end\ndata: {\"how\": \"ended\"}\n\n");
		assert_non_null(last);
		assert_true(last > strstr(text, "{\"kept\": 3}"));
	}
	done(first, &a);
	done(second, &b);
}

/* A browser that comes again says what it has; that of another server means nothing here. */
static void again(void **state)
{
	struct served s;
	struct answer a = {0};
	char header[128];
	const char *id;

	(void)state;
	begin(&s, "127.0.0.1:0", false);
	for (int i = 0; i < 5; i++) {
		char text[32];
		(void)snprintf(text, sizeof text, "{\"kept\": %d}", i);
		publish(&s, kr_http_keep, text);
	}
	int fd = follow(&s, "");
	read_to(fd, &a, "{\"kept\": 4}\n\n");
	id = strstr(a.text, "\ndata: {\"kept\": 2}");
	while (id[-1] != '\n')
		id--;
	assert_memory_equal(id, "id: ", 4);
	(void)snprintf(header, sizeof header, "Last-Event-ID: %.*s\r\n", (int)strcspn(id + 4, "\n"), id + 4);
	done(fd, &a);

	fd = follow(&s, header);
	read_to(fd, &a, "{\"kept\": 4}\n\n");
	assert_null(strstr(a.text, "{\"kept\": 2}"));
	assert_non_null(strstr(a.text, "{\"kept\": 3}"));
	done(fd, &a);

	static const char *const others[] = {"Last-Event-ID: 123.2\r\n", "Last-Event-ID: x\r\n", "Last-Event-ID: \r\n", "Last-Event-ID: 99999999999999999999999999\r\n"};

	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		fd = follow(&s, others[i]);
		read_to(fd, &a, "{\"kept\": 4}\n\n");
		assert_non_null(strstr(a.text, "{\"kept\": 0}"));
		done(fd, &a);
	}
	end(&s);
}

/* What is kept is the last of it, few and small enough. */
static void bounds(void **state)
{
	struct served s;
	struct answer a = {0};
	char *text = calloc(1, KR_HTTP_MESSAGE + 2);

	(void)state;
	assert_non_null(text);
	begin(&s, "127.0.0.1:0", false);
	for (int i = 0; i < 3 * KR_HTTP_KEPT; i++) {
		(void)snprintf(text, KR_HTTP_MESSAGE, "{\"kept\": %d}", i);
		publish(&s, kr_http_keep, text);
	}
	int fd = follow(&s, "");
	read_to(fd, &a, text);
	assert_int_equal(count(a.text, "event: more\n"), KR_HTTP_KEPT);
	(void)snprintf(text, KR_HTTP_MESSAGE, "data: {\"kept\": %d}\n", 2 * KR_HTTP_KEPT);
	assert_non_null(strstr(a.text, text));
	done(fd, &a);

	memset(text, 'x', KR_HTTP_MESSAGE + 1);
	publish(&s, kr_http_keep, text); /* too long: left out */
	text[KR_HTTP_MESSAGE] = '\0';
	for (int i = 0; i < 100; i++)
		publish(&s, kr_http_keep, text); /* 6.25 MiB of them */
	publish(&s, kr_http_keep, "{\"kept\": \"last\"}");
	fd = follow(&s, "");
	read_to(fd, &a, "{\"kept\": \"last\"}");
	assert_in_range(a.n, KR_HTTP_BYTES - 2 * KR_HTTP_MESSAGE, KR_HTTP_BYTES + KR_HTTP_MESSAGE);
	done(fd, &a);
	free(text);
	end(&s);
}

/* Who does not read holds nobody up: not who publishes, not the others, not the end for more than a second. */
static void slow(void **state)
{
	enum { SLOW = 8 };
	struct served s;
	struct answer a = {0};
	int deaf[SLOW];
	char *text = calloc(1, KR_HTTP_MESSAGE + 1);

	(void)state;
	assert_non_null(text);
	memset(text, 'x', KR_HTTP_MESSAGE);
	begin(&s, "127.0.0.1:0", false);
	for (int i = 0; i < SLOW; i++)
		deaf[i] = follow(&s, "");
	int64_t before = kr_now_ns();
	for (int i = 0; i < 2000; i++) /* 125 MiB */
		publish(&s, kr_http_keep, text);
	publish(&s, kr_http_keep, "{\"kept\": \"last\"}");
	assert_true(kr_now_ns() - before < (int64_t)PATIENCE_SECONDS * 1000000000);
	int fd = follow(&s, "");
	read_to(fd, &a, "{\"kept\": \"last\"}");
	before = kr_now_ns();
	end(&s);
	assert_true(kr_now_ns() - before < (int64_t)PATIENCE_SECONDS * 1000000000);
	read_to(fd, &a, NULL);
	done(fd, &a);
	for (int i = 0; i < SLOW; i++)
		assert_int_equal(close(deaf[i]), 0);
	free(text);
}

/* Clients that go away make room for others. */
static void gone(void **state)
{
	struct served s;
	struct answer a = {0};

	(void)state;
	begin(&s, "127.0.0.1:0", false);
	publish(&s, kr_http_state, "{\"state\": 1}");
	for (int i = 0; i < 200; i++) {
		int fd = follow(&s, "");
		if (i % 2)
			read_to(fd, &a, "{\"state\": 1}");
		done(fd, &a);
	}
	int fd = follow(&s, "");
	read_to(fd, &a, "{\"state\": 1}");
	done(fd, &a);
	end(&s);
}

/* Publishing, following and coming and going at once: for the thread sanitizer. */
struct follower { const struct served *s; struct answer all; };

static void *follow_all(void *data)
{
	struct follower *f = data;
	int fd = follow(f->s, "");

	read_to(fd, &f->all, "event: end");
	(void)close(fd);
	return NULL;
}

static void together(void **state)
{
	enum { FOLLOWERS = 6, MESSAGES = 300 };
	static const struct timespec pause = {.tv_nsec = 1000000};
	struct served s;
	struct follower followers[FOLLOWERS];
	pthread_t threads[FOLLOWERS];
	char text[64];

	(void)state;
	begin(&s, "127.0.0.1:0", false);
	for (int i = 0; i < FOLLOWERS; i++) {
		followers[i] = (struct follower){.s = &s};
		assert_int_equal(pthread_create(&threads[i], NULL, follow_all, &followers[i]), 0);
	}
	for (int i = 0; i < MESSAGES; i++) {
		(void)snprintf(text, sizeof text, "{\"state\": %d}", i);
		publish(&s, kr_http_state, text);
		(void)snprintf(text, sizeof text, "{\"kept\": %d}", i);
		publish(&s, kr_http_keep, text);
		(void)nanosleep(&pause, NULL);
	}
	end(&s);
	for (int i = 0; i < FOLLOWERS; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_int_equal(count(followers[i].all.text, "event: more\n"), MESSAGES);
		assert_non_null(strstr(followers[i].all.text, "{\"state\": 299}"));
		free(followers[i].all.text);
	}
}

static bool is_built(void)
{
	struct kr_http_address address = {.host = "127.0.0.1"};
	struct kr_http *http = NULL;
	struct kr_str page = {0};
	struct kr_err err;

	kr_err_init(&err);
	if (kr_http_start(&address, false, &page, &http, &err) == KR_UNSUPPORTED) {
		printf("%s\n", err.text);
		return false;
	}
	if (http)
		kr_http_end(http, &page);
	kr_http_free(http);
	return true;
}

int main(void)
{
	const struct CMUnitTest pure[] = {cmocka_unit_test(addresses), cmocka_unit_test(hosts)};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests),
		cmocka_unit_test(any_name),
		cmocka_unit_test(the_other_loopback),
		cmocka_unit_test(taken),
		cmocka_unit_test(messages),
		cmocka_unit_test(again),
		cmocka_unit_test(bounds),
		cmocka_unit_test(slow),
		cmocka_unit_test(gone),
		cmocka_unit_test(together),
	};
	int failed = cmocka_run_group_tests(pure, NULL, NULL);

	if (!is_built()) {
		printf("skipped: the server's tests\n");
		return failed ? failed : 77;
	}
	return failed + cmocka_run_group_tests(tests, NULL, NULL);
}
