/* Redis through hiredis. At level `watch` a transaction watches each key before it reads it, and what it
 * writes waits until it commits: then MULTI, the writes and EXEC go out together, and EXEC does nothing if a
 * watched key has changed. Who wrote nothing sends EXEC all the same: else its reads might be of several
 * states. At `plain` nothing is watched, only the writes are one transaction, and what reads before it writes
 * is none.
 *
 * Redis runs one EXEC after the other: a counter that is incremented in each that writes, and read by those
 * that do not, is the place in the order of serialization, without a round trip of its own. There are keys
 * one by one only: nothing watches a range. Keys are krait_lab:KEY. */
#include <hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/keys.h"

KL_NEEDS("hiredis", "libhiredis-dev");

#define PREFIX "krait_lab:"
enum { TIMEOUT_S = 10 };

static const struct kl_level levels[] = {
	{"watch", "", "pl-ss", "pl-ss", NULL},
	{"plain", "", "pl-2", "pl-2", NULL},
	{0},
};
static const uint64_t lacks[] = {0,
	KL_BIT(KL_INSERT) | KL_BIT(KL_DELETE) | KL_BIT(KL_INC) | KL_BIT(KL_APPEND) | KL_BIT(KL_ADD)};

struct address {
	char host[200], socket[300];
	int port; /* 0: a socket */
};

struct redis {
	struct address nodes[KL_NODES_MOST];
	char program[512], folder[280];
	int64_t loaded; /* when the initial rows were */
	bool made;
};

struct redis_client {
	struct kl_keys_client keys;
	redisContext *context;
	bool watches; /* something, now */
};

static enum kl_answer fail(struct redis_client *c, const redisReply *reply, struct kl_result *result)
{
	result->answered = kl_now();
	if (!reply)
		return kl_error(result, KL_GONE, "hiredis", c->context->errstr);
	/* a server that comes back reads what it has written, and answers nothing else meanwhile; a replica
	 * whose primary is away may say so */
	bool away = reply->str &&
		(strncmp(reply->str, "LOADING", 7) == 0 || strncmp(reply->str, "MASTERDOWN", 10) == 0);
	return kl_error(result, away ? KL_GONE : KL_BUG, "redis",
		reply->str ? reply->str : "an answer of another kind");
}

static redisContext *open_node(struct kl_store *store, uint32_t node)
{
	const struct address *to = &((const struct redis *)store->own)->nodes[node];
	const struct timeval limit = {TIMEOUT_S, 0};
	redisContext *context = to->port
		? redisConnectWithTimeout(to->host, to->port, limit)
		: redisConnectUnixWithTimeout(store->relayed[0] ? store->relayed : to->socket, limit);

	if (context && !context->err && redisSetTimeout(context, limit) == REDIS_OK)
		return context;
	(void)kl_fail(store, "%s", context ? context->errstr : "out of memory");
	if (context)
		redisFree(context);
	return NULL;
}

static redisContext *open_connection(struct kl_store *store) { return open_node(store, 0); }

/* ---- one key ---- */

/* WATCH and GET go out together. */
static enum kl_answer get(struct kl_keys_client *keys, const char *key, enum kl_lock lock,
	struct kl_result *result)
{
	struct redis_client *c = (struct redis_client *)keys;
	const struct kl_buffered *own = kl_buffer_find(&c->keys.own, key);
	bool watch = keys->client.level == levels;
	redisReply *watched = NULL, *reply = NULL;
	enum kl_answer kind = KL_OK;

	(void)lock;
	result->found = own && own->text;
	if (own)
		return own->text ? kl_keys_take(keys, own->text, own->length, result) : KL_OK;
	if (watch)
		(void)redisAppendCommand(c->context, "WATCH " PREFIX "%s", key);
	(void)redisAppendCommand(c->context, "GET " PREFIX "%s", key);
	c->watches |= watch;
	if (watch)
		(void)redisGetReply(c->context, (void **)&watched);
	if (!watch || watched)
		(void)redisGetReply(c->context, (void **)&reply);
	result->answered = kl_now();
	if (!reply || (reply->type != REDIS_REPLY_STRING && reply->type != REDIS_REPLY_NIL))
		kind = fail(c, reply, result);
	result->found = kind == KL_OK && reply->type == REDIS_REPLY_STRING;
	if (result->found)
		kind = kl_keys_take(keys, reply->str, reply->len, result);
	freeReplyObject(watched);
	freeReplyObject(reply);
	return kind;
}

static const struct kl_keys operations = {get, kl_keys_hold, kl_keys_hold_delete, NULL};

static enum kl_answer run(struct kl_client *client, const struct kl_op *op, struct kl_result *result)
{
	return kl_keys_run(&operations, (struct kl_keys_client *)client, op, result);
}

/* ---- transactions ---- */

static enum kl_answer begin(struct kl_client *client, struct kl_result *result)
{
	struct redis_client *c = (struct redis_client *)client;

	(void)result;
	kl_buffer_clear(&c->keys.own);
	c->keys.wrote = false;
	return KL_OK;
}

/* How many answers will come. */
static size_t send_commit(struct redis_client *c)
{
	size_t n = 0;

	(void)redisAppendCommand(c->context, "MULTI");
	for (; n < c->keys.own.n; n++) {
		const struct kl_buffered *w = &c->keys.own.at[n];

		if (w->text)
			(void)redisAppendCommand(c->context, "SET " PREFIX "%s %b", w->key, w->text,
				w->length);
		else
			(void)redisAppendCommand(c->context, "DEL " PREFIX "%s", w->key);
	}
	(void)redisAppendCommand(c->context,
		c->keys.own.n > 0 ? "INCR " PREFIX "~ticket" : "GET " PREFIX "~ticket");
	(void)redisAppendCommand(c->context, "EXEC");
	return n + 3;
}

static void take_place(struct redis_client *c, const redisReply *exec, struct kl_result *result)
{
	const redisReply *ticket = exec->element[exec->elements - 1];

	result->has_place = true;
	result->reads_only = c->keys.own.n == 0;
	result->place = ticket->type == REDIS_REPLY_INTEGER ? (uint64_t)ticket->integer
		: ticket->type == REDIS_REPLY_STRING        ? strtoull(ticket->str, NULL, 10)
							    : 0;
}

static enum kl_answer commit(struct kl_client *client, struct kl_result *result)
{
	struct redis_client *c = (struct redis_client *)client;
	size_t n = send_commit(c);
	redisReply *reply = NULL;
	enum kl_answer kind = KL_OK;

	for (size_t i = 0; i < n; i++) {
		freeReplyObject(reply);
		reply = NULL;
		if (redisGetReply(c->context, (void **)&reply) != REDIS_OK)
			break;
	}
	result->answered = kl_now();
	c->watches = false;
	if (!reply)
		return fail(c, NULL, result);
	if (reply->type == REDIS_REPLY_NIL)
		kind = kl_error(result, KL_REFUSED, "EXEC", "what was watched has changed");
	else if (reply->type != REDIS_REPLY_ARRAY || reply->elements != c->keys.own.n + 1)
		kind = KL_GONE;
	else
		take_place(c, reply, result);
	freeReplyObject(reply);
	return kind;
}

static enum kl_answer rollback(struct kl_client *client, struct kl_result *result)
{
	struct redis_client *c = (struct redis_client *)client;
	redisReply *reply = c->watches ? redisCommand(c->context, "UNWATCH") : NULL;
	enum kl_answer kind = c->watches && !reply ? fail(c, NULL, result) : KL_OK;

	c->watches = false;
	freeReplyObject(reply);
	return kind;
}

static void hang_up(struct kl_client *client, bool after_sending_commit)
{
	struct redis_client *c = (struct redis_client *)client;
	int done = 0;

	if (after_sending_commit) {
		(void)send_commit(c);
		while (!done && redisBufferWrite(c->context, &done) == REDIS_OK)
			;
	}
	redisFree(c->context);
	c->context = NULL;
}

static void close_client(struct kl_client *client)
{
	struct redis_client *c = (struct redis_client *)client;

	if (c->context)
		redisFree(c->context);
	kl_buffer_clear(&c->keys.own);
	kl_keys_free(&c->keys);
}

static struct kl_client *connect_to(struct kl_store *store, uint32_t node)
{
	struct redis_client *c = calloc(1, sizeof *c);

	if (!c)
		return NULL;
	c->context = open_node(store, node);
	if (c->context)
		return &c->keys.client;
	free(c);
	return NULL;
}

static struct kl_client *connect_client(struct kl_store *store) { return connect_to(store, 0); }

/* ---- the store ---- */

/* Not while it still loads. */
static bool is_ready(struct kl_store *store, uint32_t node)
{
	redisContext *context = open_connection(store);
	redisReply *reply = context ? redisCommand(context, "GET x") : NULL;
	bool ready = reply && reply->type == REDIS_REPLY_NIL;

	(void)node;
	freeReplyObject(reply);
	if (context)
		redisFree(context);
	return ready;
}

/* What it holds is written out with each command, so that it is there again after a kill. */
static bool start_server(struct kl_store *store)
{
	struct redis *redis = store->own;
	const char *const argv[] = {redis->program, "--port", "0", "--unixsocket", redis->nodes[0].socket,
		"--unixsocketperm", "700", "--dir", redis->folder, "--appendonly", "yes", "--appendfsync",
		"no", "--save", "", "--maxclients", "1100", "--daemonize", "no", NULL};

	return kl_home_start(store, 0, argv) && kl_home_wait(store, is_ready, 0);
}

static bool make_server(struct kl_store *store)
{
	struct redis *redis = store->own;
	const char *folder;

	if (!kl_program(store, "redis-server", "redis-server", NULL, redis->program) ||
		!(folder = kl_home_open(store, "redis")))
		return false;
	(void)snprintf(redis->folder, sizeof redis->folder, "%s", folder);
	(void)snprintf(redis->nodes[0].socket, sizeof redis->nodes[0].socket, "%s/s", folder);
	return start_server(store);
}

/* "HOST:PORT", or the path of a socket. */
static bool take_address(struct kl_store *store, uint32_t node)
{
	struct address *to = &((struct redis *)store->own)->nodes[node];
	const char *option = node > 0 ? "--nodes" : "--connect", *text = kl_address(store, node);

	(void)snprintf(store->where[node], sizeof store->where[node], "%.79s", text);
	if (text[0] == '/')
		return snprintf(to->socket, sizeof to->socket, "%s", text) < (int)sizeof to->socket ||
			kl_refuse(store, "%s: the path of the socket is too long", option);
	if (sscanf(text, "%199[^:]:%d", to->host, &to->port) != 2)
		return kl_refuse(store, "%s: found '%s', expected HOST:PORT or the path of a socket", option,
			text);
	if (kl_is_local(to->host) || store->remote)
		return true;
	return kl_refuse(store, "%s: found host '%s', expected a loopback address, or --remote", option,
		to->host);
}

/* Replicas only read. */
static bool look_at_node(struct kl_store *store, uint32_t node)
{
	redisContext *context = open_node(store, node);
	redisReply *info = context ? redisCommand(context, "INFO replication") : NULL;

	store->only_reads[node] = info && info->str && strstr(info->str, "role:slave");
	freeReplyObject(info);
	if (context)
		redisFree(context);
	return context &&
		(node > 0 || !store->only_reads[0] ||
			kl_refuse(store,
				"--connect: this server is a replica: expected its primary first, "
				"and this one with --nodes"));
}

/* What comes behind the initial rows, and is of this recording. */
static bool mark_loaded(struct kl_store *store)
{
	struct redis *redis = store->own;
	redisContext *context = open_connection(store);

	redis->loaded = kl_now();
	redisReply *reply = context
		? redisCommand(context, "SET " PREFIX "~loaded %lld", (long long)redis->loaded)
		: NULL;
	bool fine = reply && reply->type == REDIS_REPLY_STATUS;
	freeReplyObject(reply);
	if (context)
		redisFree(context);
	return fine;
}

static bool has_loaded(struct kl_store *store, uint32_t node)
{
	redisContext *context = open_node(store, node);
	redisReply *reply = context ? redisCommand(context, "GET " PREFIX "~loaded") : NULL;
	bool has = reply && reply->str &&
		strtoll(reply->str, NULL, 10) == ((const struct redis *)store->own)->loaded;

	if (!has && context)
		(void)kl_fail(store, "the initial rows are not there");
	freeReplyObject(reply);
	if (context)
		redisFree(context);
	return has;
}

static bool load(struct kl_store *store, const struct kl_row *rows, size_t count)
{
	bool fine = kl_keys_load(store, rows, count) && (store->nodes == 1 || mark_loaded(store));

	return fine && kl_home_wait_others(store, has_loaded);
}

/* Keys of ours; with `removes`, they are gone. -1: it cannot be asked. */
static long long all_keys(redisContext *context, bool removes)
{
	redisReply *keys = redisCommand(context, "KEYS " PREFIX "*"), *reply;
	long long n = keys && keys->type == REDIS_REPLY_ARRAY ? (long long)keys->elements : -1;

	for (long long i = 0; i < n && removes; i++) {
		reply = redisCommand(context, "DEL %b", keys->element[i]->str, keys->element[i]->len);
		freeReplyObject(reply);
	}
	freeReplyObject(keys);
	return n;
}

static void note_version(struct kl_store *store, redisContext *context)
{
	redisReply *info = redisCommand(context, "INFO server");
	const char *at = info && info->str ? strstr(info->str, "redis_version:") : NULL;

	(void)snprintf(store->version, sizeof store->version, "Redis %.*s, hiredis %d.%d.%d",
		at ? (int)strcspn(at + 14, "\r\n") : 0, at ? at + 14 : "", HIREDIS_MAJOR, HIREDIS_MINOR,
		HIREDIS_PATCH);
	freeReplyObject(info);
}

static bool start(struct kl_store *store)
{
	struct redis *redis = calloc(1, sizeof *redis);

	store->own = redis;
	if (!redis)
		return kl_fail(store, "out of memory");
	if (!(store->connect ? kl_each_node(store, take_address) : make_server(store)) ||
		!kl_each_node(store, look_at_node))
		return false;
	redisContext *context = open_connection(store);
	if (!context)
		return false;
	note_version(store, context);
	redis->made = all_keys(context, false) == 0;
	redisFree(context);
	return redis->made || kl_fail(store, "keys " PREFIX "... are there already, or cannot be asked for");
}

static void stop(struct kl_store *store)
{
	struct redis *redis = store->own;
	redisContext *context = redis && redis->made && store->connect ? open_connection(store) : NULL;

	if (context) {
		(void)all_keys(context, true);
		redisFree(context);
	}
	free(redis);
	store->own = NULL;
}

static void socket_of(const struct kl_store *store, char out[300])
{
	(void)snprintf(out, 300, "%s", ((const struct redis *)store->own)->nodes[0].socket);
}

static bool kill_clients_of(struct kl_store *store, uint32_t node)
{
	redisContext *context = open_node(store, node);
	redisReply *reply = context ? redisCommand(context, "CLIENT KILL TYPE normal") : NULL;
	bool fine = reply && reply->type == REDIS_REPLY_INTEGER;

	freeReplyObject(reply);
	if (context)
		redisFree(context);
	return fine;
}

static bool kill_clients(struct kl_store *store) { return kl_each_node(store, kill_clients_of); }

KL_EXPORT const struct kl_driver krait_driver = {
	.abi = KL_ABI,
	.name = "redis",
	.title = "Redis",
	.library = "hiredis",
	.levels = levels,
	.operations = (KL_BIT(KL_KINDS) - 1) & ~(KL_BIT(KL_RANGE) | KL_BIT(KL_SCAN) | KL_BIT(KL_UPDATE)),
	.lacks = lacks,
	.facts = KL_SESSIONS | KL_SERIAL | KL_BUFFERED,
	.start = start,
	.stop = stop,
	.restart = start_server,
	.load = load,
	.connect = connect_client,
	.connect_to = connect_to,
	.begin = begin,
	.run = run,
	.commit = commit,
	.rollback = rollback,
	.hang_up = hang_up,
	.close = close_client,
	.kill_clients = kill_clients,
	.socket = socket_of,
	.processes = kl_home_processes,
};
