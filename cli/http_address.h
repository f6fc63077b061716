/* Addresses of --http, and which names for them a browser may ask by. */
#ifndef KR_CLI_HTTP_ADDRESS_H
#define KR_CLI_HTTP_ADDRESS_H

#include "base/err.h"

struct kr_http_address {
	char host[46];     /* numeric */
	bool six;          /* of IPv6 */
	unsigned port;     /* 0: any that is free */
};

/* ADDRESS:PORT, [ADDRESS]:PORT or localhost:PORT. Without `any` only addresses that this machine alone can
 * reach. KR_BAD: what was found, and what was expected. */
enum kr_status kr_http_address_parse(const char *text, bool any, struct kr_http_address *out,
	struct kr_err *err);

/* "127.0.0.1:8080", "[::1]:8080" */
void kr_http_address_text(const struct kr_http_address *address, char out[64]);

/* Whether a request with this Host may be answered: one that names `port` of an address as such, or of
 * "localhost". A name that is looked up may be anybody's, who lets it point to this machine to have a browser
 * read the page for him. */
bool kr_http_host_fits(const char *host, unsigned port);

#endif
