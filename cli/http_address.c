/* Numeric addresses and ports, read without looking up any name. */
#include "cli/http_address.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { PORT_MOST = 65535, HTTP_PORT = 80 };

struct parts {
	char host[46];
	bool six, named; /* named: "localhost" */
	long port;       /* -1: none */
};

static bool is_loopback(const struct parts *p)
{
	struct in6_addr six;
	struct in_addr four;

	if (p->six)
		return inet_pton(AF_INET6, p->host, &six) == 1 &&
			memcmp(&six, &in6addr_loopback, sizeof six) == 0;
	return inet_pton(AF_INET, p->host, &four) == 1 && ntohl(four.s_addr) >> 24 == 127;
}

/* HOST, HOST:PORT with an address in numbers, in brackets if it is of IPv6, or "localhost". */
static bool split(const char *text, struct parts *out)
{
	const char *colon = *text == '[' ? strchr(text, ']') : strchr(text, ':');
	size_t skip = *text == '[', length;
	unsigned char address[16];

	*out = (struct parts){.six = skip > 0, .port = -1};
	if (out->six && !colon)
		return false;
	length = colon ? (size_t)(colon - text) - skip : strlen(text);
	if (length >= sizeof out->host)
		return false;
	memcpy(out->host, text + skip, length);
	out->named = !out->six && strcasecmp(out->host, "localhost") == 0;
	if (!out->named && inet_pton(out->six ? AF_INET6 : AF_INET, out->host, address) != 1)
		return false;
	text = colon ? colon + skip : "";
	if (!*text)
		return true;
	size_t digits = strspn(text + 1, "0123456789");
	if (*text != ':' || digits == 0 || digits > 5 || text[1 + digits])
		return false;
	out->port = strtol(text + 1, NULL, 10);
	return out->port <= PORT_MOST;
}

enum kr_status kr_http_address_parse(const char *text, bool any, struct kr_http_address *out,
	struct kr_err *err)
{
	struct parts p;

	if (!split(text, &p) || p.port < 0)
		return kr_err_set(err, KR_BAD,
			"found '%.80s', expected an address and a port, such as 127.0.0.1:8080 or [::1]:8080",
			text);
	if (!any && !p.named && !is_loopback(&p))
		return kr_err_set(err, KR_BAD,
			"found '%s', which others can reach, expected an address of this machine alone; "
			"'--http-any' allows it",
			p.host);
	*out = (struct kr_http_address){.six = p.six, .port = (unsigned)p.port};
	snprintf(out->host, sizeof out->host, "%s", p.named ? "127.0.0.1" : p.host);
	return KR_OK;
}

void kr_http_address_text(const struct kr_http_address *address, char out[64])
{
	snprintf(out, 64, address->six ? "[%s]:%u" : "%s:%u", address->host, address->port);
}

bool kr_http_host_fits(const char *host, unsigned port)
{
	struct parts p;

	return split(host, &p) && (unsigned)(p.port < 0 ? HTTP_PORT : p.port) == port;
}
