/* A page for browsers while a command runs, and what happens meanwhile as server-sent events
 * (https://html.spec.whatwg.org/multipage/server-sent-events.html). All that the program has to do with
 * networks.
 *
 * The command hands messages over, which are copied under a lock; it never waits for a browser. A thread of
 * the server's own gives each browser, as fast as that one takes it, the newest state and those messages that
 * it has not had. Beside the messages that are kept, a browser holds no more than the one that it is being
 * given: what a slow one misses is lost to it. */
#ifndef KR_CLI_HTTP_H
#define KR_CLI_HTTP_H

#include "base/str.h"
#include "cli/http_address.h"

enum { KR_HTTP_KEPT = 500, KR_HTTP_MESSAGE = 1 << 16, KR_HTTP_BYTES = 1 << 22 };

struct kr_http; /* heap */

/* Serves `page` from now on. KR_BAD: why the address cannot be listened on; KR_UNSUPPORTED: built without
 * libmicrohttpd. */
enum kr_status kr_http_start(const struct kr_http_address *address, bool any, const struct kr_str *page,
	struct kr_http **out, struct kr_err *err);
const char *kr_http_url(const struct kr_http *h);

/* JSON on one line. The state takes the place of the one before. What is kept goes to browsers that come
 * later, too: the last KR_HTTP_KEPT messages, KR_HTTP_BYTES at most; one longer than KR_HTTP_MESSAGE is left
 * out. From one thread. */
void kr_http_state(struct kr_http *h, const struct kr_str *json);
void kr_http_keep(struct kr_http *h, const struct kr_str *json);

/* Gives every browser what is left, and this at last; a second later at most nobody listens any more. Once,
 * from any thread. */
void kr_http_end(struct kr_http *h, const struct kr_str *json);

void kr_http_free(struct kr_http *h); /* safe on NULL; after the end */

#endif
