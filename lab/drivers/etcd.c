/* etcd through its JSON gateway. A transaction reads at one revision, that of its first read; what it writes
 * waits until it commits: then one request says that nothing of what was read has changed since, and writes.
 * Ranges hold if none of their keys is newer, and all that were there still are. Who wrote nothing has read
 * one state, and sends nothing more.
 *
 * Each request that writes makes one revision of the whole store, and each answer names the one it saw:
 * places in the order of serialization. A request also writes its id, under ~by/, which tells afterwards
 * whether it took effect and where. Errors tell nothing of that. Everything is under krait_lab/.
 *
 * A cluster keeps the same: any member asks the others for the revision of a first read, and revisions are
 * of all. One that is cut off from most answers with an error, in the end.
 *
 * Longer than usual: a driver is one file. */
#include <curl/curl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/keys.h"

KL_NEEDS("libcurl", "libcurl4-openssl-dev");
KL_NEEDS("jansson", "libjansson-dev");

#define PREFIX "krait_lab/"
#define BY "~by/"
enum { TIMEOUT_S = 10 };

static const struct kl_level levels[] = {
	{"serializable", "", "pl-ss", "pl-ss", NULL},
	{0},
};

static const char *const cluster_keeps[] = {"pl-ss"};

struct etcd {
	char url[KL_NODES_MOST][256]; /* for clients */
	char program[512], folder[256];
	int ports[KL_NODES_MOST];      /* where members listen for each other, */
	char peers[KL_NODES_MOST][64]; /* and where they find each other */
	char cluster[32];              /* its number */
	bool made;
};

struct etcd_client {
	struct kl_keys_client keys;
	CURL *curl;
	const char *url;
	char *answer;
	size_t answer_n, answer_cap;
	int64_t revision; /* that is read; 0: none yet */
	json_t *conditions;
};

/* ---- requests ---- */

static void encode(const char *text, size_t n, char *out)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < n; i += 3) {
		uint32_t bits = (uint32_t)(unsigned char)text[i] << 16 |
			(i + 1 < n ? (uint32_t)(unsigned char)text[i + 1] << 8 : 0) |
			(i + 2 < n ? (unsigned char)text[i + 2] : 0);

		for (int k = 0; k < 4; k++)
			*out++ = i + (size_t)k > n ? '=' : digits[bits >> (18 - 6 * k) & 63];
	}
	*out = '\0';
}

static json_t *encoded(const char *text, size_t n)
{
	char *out = malloc(4 * n / 3 + 8);
	json_t *json = NULL;

	if (out) {
		encode(text, n, out);
		json = json_string(out);
	}
	free(out);
	return json;
}

static json_t *key_of(const char *key)
{
	char name[KL_KEY + sizeof PREFIX];

	(void)snprintf(name, sizeof name, PREFIX "%s", key);
	return encoded(name, strlen(name));
}

/* In place; its length. */
static size_t decode(char *text)
{
	size_t n = 0;
	uint32_t bits = 0, count = 0;

	for (const char *c = text; *c && *c != '='; c++) {
		uint32_t digit = *c >= 'a' ? (uint32_t)*c - 'a' + 26
			: *c >= 'A'        ? (uint32_t)*c - 'A'
			: *c >= '0'        ? (uint32_t)*c - '0' + 52
			: *c == '+'        ? 62
					   : 63;

		bits = bits << 6 | digit;
		if (++count % 4 != 1)
			text[n++] = (char)(bits >> (count % 4 == 2 ? 4 : count % 4 == 3 ? 2 : 0));
	}
	text[n] = '\0';
	return n;
}

static size_t take(char *data, size_t size, size_t n, void *to)
{
	struct etcd_client *c = to;

	(void)size;
	if (c->answer_n + n + 1 > c->answer_cap) {
		size_t cap = 2 * (c->answer_n + n + 1);
		char *answer = realloc(c->answer, cap);

		if (!answer)
			return 0;
		c->answer = answer;
		c->answer_cap = cap;
	}
	memcpy(c->answer + c->answer_n, data, n);
	c->answer_n += n;
	c->answer[c->answer_n] = '\0';
	return n;
}

/* Takes `request`. The answer, or NULL: what became of it is not known. */
static json_t *call(struct etcd_client *c, const char *path, json_t *request, struct kl_result *result)
{
	char *text = request ? json_dumps(request, JSON_COMPACT) : NULL, url[400];
	long status = 0;
	json_t *answer = NULL;
	CURLcode code = CURLE_OUT_OF_MEMORY;

	(void)snprintf(url, sizeof url, "%s/v3/%s", c->url, path);
	c->answer_n = 0;
	if (text) {
		(void)curl_easy_setopt(c->curl, CURLOPT_URL, url);
		(void)curl_easy_setopt(c->curl, CURLOPT_POSTFIELDS, text);
		code = curl_easy_perform(c->curl);
	}
	result->answered = kl_now();
	if (code == CURLE_OK)
		(void)curl_easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, &status);
	if (status == 200)
		answer = json_loadb(c->answer, c->answer_n, 0, NULL);
	if (!answer)
		(void)kl_error(result, KL_GONE, status ? "http" : "curl",
			status ? c->answer_n ? c->answer : "" : curl_easy_strerror(code));
	free(text);
	json_decref(request);
	return answer;
}

static int64_t integer(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name)); /* 64 bits are strings there */

	return text ? strtoll(text, NULL, 10) : 0;
}

/* ---- reads ---- */

static json_t *read_range(struct etcd_client *c, const char *key, const char *end, struct kl_result *result)
{
	json_t *request = json_pack("{s:o}", "key", key_of(key)), *answer;

	if (end)
		(void)json_object_set_new(request, "range_end", key_of(end));
	if (c->revision)
		(void)json_object_set_new(request, "revision", json_integer(c->revision));
	answer = call(c, "kv/range", request, result);
	if (answer && !c->revision)
		c->revision = integer(json_object_get(answer, "header"), "revision");
	return answer;
}

static void hold(struct etcd_client *c, json_t *key, int64_t revision)
{
	(void)json_array_append_new(c->conditions,
		json_pack("{s:O, s:s, s:s, s:I}", "key", key, "target", "MOD", "result", "EQUAL",
			"mod_revision", (json_int_t)revision));
}

static char *value_of(const json_t *kv)
{
	const char *text = json_string_value(json_object_get(kv, "value"));

	return strdup(text ? text : "");
}

static enum kl_answer get(struct kl_keys_client *keys, const char *key, enum kl_lock lock,
	struct kl_result *result)
{
	struct etcd_client *c = (struct etcd_client *)keys;
	const struct kl_buffered *own = kl_buffer_find(&c->keys.own, key);
	enum kl_answer kind = KL_OK;

	(void)lock;
	result->found = own && own->text;
	if (own)
		return own->text ? kl_keys_take(keys, own->text, own->length, result) : KL_OK;
	json_t *answer = read_range(c, key, NULL, result);
	if (!answer)
		return KL_GONE;
	json_t *kv = json_array_get(json_object_get(answer, "kvs"), 0);
	json_t *name = key_of(key);
	hold(c, name, integer(kv, "mod_revision"));
	json_decref(name);
	result->found = kv != NULL;
	if (kv) {
		char *text = value_of(kv);
		size_t n = text ? decode(text) : 0;

		kind = text ? kl_keys_take(keys, text, n, result)
			    : kl_error(result, KL_BUG, "memory", "no memory");
		free(text);
	}
	json_decref(answer);
	return kind;
}

/* Rows by their own revisions, what is between them by that none is newer. */
static bool take_rows(struct etcd_client *c, const json_t *answer, struct kl_buffer *rows)
{
	json_t *kv;
	size_t i;
	bool fine = true;

	json_array_foreach(json_object_get(answer, "kvs"), i, kv)
	{
		const char *name = json_string_value(json_object_get(kv, "key"));
		char *key = strdup(name ? name : ""), *value = value_of(kv);
		size_t n = value ? decode(value) : 0;

		hold(c, json_object_get(kv, "key"), integer(kv, "mod_revision"));
		fine = fine && key && value && decode(key) > strlen(PREFIX) &&
			kl_buffer_put(rows, key + strlen(PREFIX), value, n);
		free(key);
		free(value);
	}
	return fine;
}

static enum kl_answer walk(struct kl_keys_client *keys, const char *from, struct kl_walk *walk,
	struct kl_result *result)
{
	struct etcd_client *c = (struct etcd_client *)keys;
	char end[KL_KEY] = BY;
	struct kl_buffer rows = {0};

	(void)kl_walk_end(walk, end);
	json_t *answer = read_range(c, from, end, result);
	if (!answer)
		return KL_GONE;
	(void)json_array_append_new(c->conditions,
		json_pack("{s:o, s:o, s:s, s:s, s:I}", "key", key_of(from), "range_end", key_of(end),
			"target", "MOD", "result", "LESS", "mod_revision", (json_int_t)c->revision + 1));
	enum kl_answer kind = take_rows(c, answer, &rows)
		? kl_buffer_walk(&rows, &c->keys.own, from, walk, result)
		: kl_error(result, KL_BUG, "memory", "no memory");
	kl_buffer_clear(&rows);
	json_decref(answer);
	return kind;
}

static const struct kl_keys operations = {get, kl_keys_hold, kl_keys_hold_delete, walk};

/* ---- transactions ---- */

static void forget(struct etcd_client *c)
{
	c->revision = 0;
	(void)json_array_clear(c->conditions);
	kl_buffer_clear(&c->keys.own);
}

static enum kl_answer begin(struct kl_client *client, struct kl_result *result)
{
	struct etcd_client *c = (struct etcd_client *)client;

	(void)result;
	forget(c);
	c->keys.wrote = false;
	return KL_OK;
}

static enum kl_answer run(struct kl_client *client, const struct kl_op *op, struct kl_result *result)
{
	return kl_keys_run(&operations, (struct kl_keys_client *)client, op, result);
}

static json_t *request_of(struct etcd_client *c)
{
	json_t *writes = json_array();
	char by[KL_KEY];

	for (size_t i = 0; i < c->keys.own.n; i++) {
		const struct kl_buffered *w = &c->keys.own.at[i];

		(void)json_array_append_new(writes,
			w->text ? json_pack("{s:{s:o, s:o}}", "requestPut", "key", key_of(w->key), "value",
					  encoded(w->text, w->length))
				: json_pack("{s:{s:o}}", "requestDeleteRange", "key", key_of(w->key)));
	}
	(void)snprintf(by, sizeof by, BY "%s", c->keys.client.id ? c->keys.client.id : "");
	if (c->keys.client.id) /* not of who loads */
		(void)json_array_append_new(writes,
			json_pack("{s:{s:o, s:s}}", "requestPut", "key", key_of(by), "value", ""));
	return json_pack("{s:O, s:o}", "compare", c->conditions, "success", writes);
}

static enum kl_answer commit(struct kl_client *client, struct kl_result *result)
{
	struct etcd_client *c = (struct etcd_client *)client;

	result->has_place = true;
	result->reads_only = c->keys.own.n == 0;
	result->place = (uint64_t)c->revision;
	if (c->keys.own.n == 0)
		return KL_OK;
	json_t *answer = call(c, "kv/txn", request_of(c), result);
	if (!answer)
		return KL_GONE;
	bool done = json_is_true(json_object_get(answer, "succeeded"));
	result->place = (uint64_t)integer(json_object_get(answer, "header"), "revision");
	json_decref(answer);
	return done ? KL_OK : kl_error(result, KL_REFUSED, "compare", "what was read has changed");
}

static enum kl_answer rollback(struct kl_client *client, struct kl_result *result)
{
	(void)result;
	forget((struct etcd_client *)client);
	return KL_OK;
}

/* The answer comes, and nobody looks at it. */
static void hang_up(struct kl_client *client, bool after_sending_commit)
{
	struct kl_result nothing = {0};

	if (after_sending_commit)
		(void)commit(client, &nothing);
}

static void close_client(struct kl_client *client)
{
	struct etcd_client *c = (struct etcd_client *)client;

	forget(c);
	json_decref(c->conditions);
	curl_easy_cleanup(c->curl);
	free(c->answer);
	kl_keys_free(&c->keys);
}

static struct etcd_client *open_client(const struct kl_store *store, uint32_t node)
{
	struct etcd_client *c = calloc(1, sizeof *c);

	if (!c)
		return NULL;
	c->url = ((const struct etcd *)store->own)->url[node];
	c->curl = curl_easy_init();
	c->conditions = json_array();
	(void)curl_easy_setopt(c->curl, CURLOPT_NOSIGNAL, 1L);
	(void)curl_easy_setopt(c->curl, CURLOPT_TIMEOUT, (long)TIMEOUT_S);
	(void)curl_easy_setopt(c->curl, CURLOPT_PROXY, "");
	(void)curl_easy_setopt(c->curl, CURLOPT_WRITEFUNCTION, take);
	(void)curl_easy_setopt(c->curl, CURLOPT_WRITEDATA, c);
	if (c->curl && c->conditions)
		return c;
	close_client(&c->keys.client);
	return NULL;
}

/* One answer to anything is the sign that it is there. */
static struct kl_client *connect_to(struct kl_store *store, uint32_t node)
{
	struct etcd_client *c = open_client(store, node);
	struct kl_result result = {0};

	if (!c)
		return NULL;
	json_t *answer = call(c, "kv/range", json_pack("{s:o}", "key", key_of(BY)), &result);
	if (answer) {
		json_decref(answer);
		return &c->keys.client;
	}
	(void)kl_fail(store, "%s", result.message);
	close_client(&c->keys.client);
	return NULL;
}

static struct kl_client *connect_client(struct kl_store *store) { return connect_to(store, 0); }

/* ---- the store ---- */

static bool is_ready(struct kl_store *store, uint32_t node)
{
	struct kl_client *client = connect_to(store, node);

	if (client)
		close_client(client);
	return client != NULL;
}

/* A member knows the others from the first; when it is started again, from its data. */
static bool start_node(struct kl_store *store, uint32_t node)
{
	const struct etcd *etcd = store->own;
	char name[16], data[300], peer[64], cluster[KL_NODES_MOST * 80] = "";
	const char *const argv[] = {etcd->program, "--name", name, "--data-dir", data, "--listen-client-urls",
		etcd->url[node], "--advertise-client-urls", etcd->url[node], "--listen-peer-urls", peer,
		"--initial-advertise-peer-urls", etcd->peers[node], "--initial-cluster", cluster,
		"--max-txn-ops", "100000", NULL};
	size_t n = 0;

	(void)snprintf(name, sizeof name, "n%u", (unsigned)node);
	(void)snprintf(data, sizeof data, "%s/data%u", etcd->folder, (unsigned)node);
	(void)snprintf(peer, sizeof peer, "http://127.0.0.1:%d", etcd->ports[node]);
	for (uint32_t i = 0; i < store->nodes; i++)
		n += (size_t)snprintf(cluster + n, sizeof cluster - n, "%sn%u=%s", i > 0 ? "," : "",
			(unsigned)i, etcd->peers[i]);
	return kl_home_start(store, node, argv);
}

static bool wait_for(struct kl_store *store, uint32_t node) { return kl_home_wait(store, is_ready, node); }

static bool restart_node(struct kl_store *store, uint32_t node)
{
	return start_node(store, node) && wait_for(store, node);
}

/* None is ready before most are there. */
static bool start_server(struct kl_store *store)
{
	return kl_each_node(store, start_node) && kl_each_node(store, wait_for);
}

static bool make_server(struct kl_store *store)
{
	struct etcd *etcd = store->own;
	const char *folder;

	if (!kl_program(store, "etcd", "etcd-server", NULL, etcd->program) ||
		!(folder = kl_home_open(store, "etcd")))
		return false;
	(void)snprintf(etcd->folder, sizeof etcd->folder, "%s", folder);
	for (uint32_t node = 0; node < store->nodes; node++) {
		char host[16];

		etcd->ports[node] = kl_free_port();
		if (!kl_relay_node(store, node, etcd->ports[node], host))
			return false;
		(void)snprintf(etcd->peers[node], sizeof etcd->peers[node], "http://%s:%d", host,
			etcd->ports[node]);
		(void)snprintf(etcd->url[node], sizeof etcd->url[node], "http://127.0.0.1:%d",
			kl_free_port());
	}
	return start_server(store);
}

/* "http://HOST:PORT" */
static bool take_address(struct kl_store *store, uint32_t node)
{
	struct etcd *etcd = store->own;
	const char *option = node > 0 ? "--nodes" : "--connect", *address = kl_address(store, node);
	char host[200] = "";
	int length = snprintf(etcd->url[node], sizeof etcd->url[node], "%s", address);

	if (sscanf(address, "http://%199[^:/]", host) != 1 || length >= (int)sizeof etcd->url[node])
		return kl_refuse(store, "%s: found '%s', expected http://HOST:PORT", option, address);
	const char *at = strrchr(address, '@'); /* behind a name and a password */
	(void)snprintf(store->where[node], sizeof store->where[node], "%.79s",
		at ? at + 1 : address + strlen("http://"));
	if (kl_is_local(host) || store->remote)
		return true;
	return kl_refuse(store, "%s: found host '%s', expected a loopback address, or --remote", option,
		host);
}

static void note_version(struct kl_store *store, const json_t *status)
{
	const char *version = json_string_value(json_object_get(status, "version"));

	(void)snprintf(store->version, sizeof store->version, "etcd %.60s, libcurl " LIBCURL_VERSION,
		version ? version : "");
}

/* Revisions are of one cluster. */
static bool look_at_node(struct kl_store *store, uint32_t node)
{
	struct etcd *etcd = store->own;
	struct etcd_client *c = (struct etcd_client *)connect_to(store, node);
	struct kl_result result = {0};
	json_t *status = c ? call(c, "maintenance/status", json_object(), &result) : NULL;
	const char *id = json_string_value(json_object_get(json_object_get(status, "header"), "cluster_id"));
	bool fine = id || (c && kl_fail(store, "%s", result.message));

	if (fine && node == 0) {
		(void)snprintf(etcd->cluster, sizeof etcd->cluster, "%s", id);
		note_version(store, status);
	} else if (fine && strcmp(etcd->cluster, id) != 0) {
		fine = kl_refuse(store, "--nodes: found '%s', expected a member of the cluster of '%s'",
			kl_address(store, node), kl_address(store, 0));
	}
	json_decref(status);
	if (c)
		close_client(&c->keys.client);
	return fine;
}

/* All that is ours: how many keys it has; with `removes`, they are gone. */
static int64_t all_keys(struct etcd_client *c, bool removes)
{
	struct kl_result result = {0};
	json_t *range = json_pack("{s:o, s:o}", "key", encoded(PREFIX, strlen(PREFIX)), "range_end",
		encoded("krait_lab0", strlen("krait_lab0")));
	json_t *answer = call(c, removes ? "kv/deleterange" : "kv/range", range, &result);
	int64_t n = answer ? integer(answer, removes ? "deleted" : "count") : -1;

	json_decref(answer);
	return n;
}

static bool start(struct kl_store *store)
{
	struct etcd *etcd = calloc(1, sizeof *etcd);

	store->own = etcd;
	if (!etcd || curl_global_init(CURL_GLOBAL_DEFAULT) != 0)
		return kl_fail(store, "out of memory");
	if (!(store->connect ? kl_each_node(store, take_address) : make_server(store)) ||
		!kl_each_node(store, look_at_node))
		return false;
	struct etcd_client *c = (struct etcd_client *)connect_client(store);
	if (!c)
		return false;
	int64_t there = all_keys(c, false);
	etcd->made = there == 0;
	close_client(&c->keys.client);
	return there == 0 || kl_fail(store, "keys under " PREFIX " are there already");
}

static void stop(struct kl_store *store)
{
	struct etcd *etcd = store->own;
	struct etcd_client *c = etcd && etcd->made && store->connect ? open_client(store, 0) : NULL;

	if (c) {
		(void)all_keys(c, true);
		close_client(&c->keys.client);
	}
	free(etcd);
	store->own = NULL;
}

/* What is under ~by/: the ids of all that took effect, with their revisions. */
static bool order(struct kl_store *store, struct kl_sink *sink)
{
	struct etcd_client *c = open_client(store, 0);
	struct kl_result result = {0};
	json_t *answer = c
		? call(c, "kv/range", json_pack("{s:o, s:o}", "key", key_of(BY), "range_end", key_of("~by0")),
			  &result)
		: NULL,
	       *kv;
	size_t i;
	bool fine = answer || kl_fail(store, "%s", result.message);

	json_array_foreach(json_object_get(answer, "kvs"), i, kv)
	{
		char *key = strdup(json_string_value(json_object_get(kv, "key")));

		fine = fine && key && decode(key) > strlen(PREFIX BY) &&
			kl_tell_place(sink, key + strlen(PREFIX BY), (uint64_t)integer(kv, "mod_revision"));
		free(key);
	}
	json_decref(answer);
	if (c)
		close_client(&c->keys.client);
	return fine;
}

KL_EXPORT const struct kl_driver krait_driver = {
	.abi = KL_ABI,
	.name = "etcd",
	.title = "etcd",
	.library = "libcurl",
	.levels = levels,
	.operations = KL_BIT(KL_KINDS) - 1,
	.facts = KL_SESSIONS | KL_SERIAL | KL_BUFFERED,
	.start = start,
	.stop = stop,
	.restart = start_server,
	.load = kl_keys_load,
	.connect = connect_client,
	.connect_to = connect_to,
	.cluster_keeps = cluster_keeps,
	.begin = begin,
	.run = run,
	.commit = commit,
	.rollback = rollback,
	.hang_up = hang_up,
	.close = close_client,
	.order = order,
	.parted = wait_for,
	.restart_node = restart_node,
	.processes = kl_home_processes,
};
