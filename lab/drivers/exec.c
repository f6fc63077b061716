/* Any program that speaks lines of JSON on its standard input and output: the way for languages and
 * databases that have no driver. Each client has a process of it, `--connect 'PROGRAM ARGUMENT...'`, to which
 * one line is sent at a time, and which answers each with one (docs/lab.md). A line that tells nothing, or
 * none, is a lost connection. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab/driver.h"

KL_NEEDS("jansson", "libjansson-dev");

enum { GRACE_MS = 2000 };

/* The program is told which, and does what it can. */
static const struct kl_level levels[] = {
	{"pl-ss", "pl-ss", "pl-ss", "pl-ss", NULL},
	{"ser", "ser", "ser", "ser", NULL},
	{"si", "si", "si", "si", NULL},
	{"pl-2", "pl-2", "pl-2", "pl-2", NULL},
	{"pl-1", "pl-1", "pl-1", "pl-1", NULL},
	{0},
};

struct exec_client {
	struct kl_client client;
	pid_t pid;
	FILE *to, *from;
	char *line;
	size_t size;
};

/* ---- lines ---- */

/* Takes `request`. The answer, or NULL: there is none that tells anything. */
static json_t *ask(struct exec_client *c, json_t *request, struct kl_result *result)
{
	char *text = request ? json_dumps(request, JSON_COMPACT) : NULL;
	json_t *answer = NULL;
	ssize_t n = -1;

	if (text && fprintf(c->to, "%s\n", text) > 0 && fflush(c->to) == 0)
		n = getline(&c->line, &c->size, c->from);
	result->answered = kl_now();
	if (n > 0)
		answer = json_loadb(c->line, (size_t)n, 0, NULL);
	free(text);
	json_decref(request);
	if (answer && !json_is_boolean(json_object_get(answer, "ok"))) {
		json_decref(answer);
		answer = NULL;
	}
	if (!answer)
		(void)kl_error(result, KL_GONE, "", n > 0 ? "an answer without \"ok\"" : "no answer");
	return answer;
}

static const char *text_of(const json_t *answer, const char *name)
{
	const char *text = json_string_value(json_object_get(answer, name));

	return text ? text : "";
}

/* What an answer says of how it went. */
static enum kl_answer meaning(const json_t *answer, struct kl_result *result)
{
	static const struct {
		const char *name;
		enum kl_answer answer;
	} known[] = {{"statement", KL_STATEMENT}, {"refused", KL_REFUSED}, {"deadlock", KL_DEADLOCK},
		{"timeout", KL_TIMEOUT}, {"busy", KL_BUSY}, {"gone", KL_GONE}};
	const char *why = text_of(answer, "why");

	if (json_is_true(json_object_get(answer, "ok")))
		return KL_OK;
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (strcmp(why, known[i].name) == 0)
			return kl_error(result, known[i].answer, text_of(answer, "code"),
				text_of(answer, "message"));
	return kl_error(result, KL_BUG, why, text_of(answer, "message"));
}

static enum kl_answer say(struct exec_client *c, json_t *request, struct kl_result *result)
{
	json_t *answer = ask(c, request, result);
	enum kl_answer kind = answer ? meaning(answer, result) : KL_GONE;

	json_decref(answer);
	return kind;
}

/* ---- operations ---- */

static json_t *request_of(const struct kl_op *op)
{
	static const char *const names[KL_KINDS] = {"r", "list", "set", "w", "d", "insert", "inc", "append",
		"add", "range", "scan", "update"};
	json_t *request = json_pack("{s:s, s:s}", "f", names[op->kind], "k", op->key);

	if (op->kind == KL_RANGE)
		(void)json_object_set_new(request, "high", json_string(op->high));
	else if (op->kind == KL_WRITE || (op->kind >= KL_INSERT && op->kind <= KL_ADD) ||
		op->kind == KL_UPDATE)
		(void)json_object_set_new(request, "v", json_integer(op->value));
	if (op->kind == KL_SCAN || op->kind == KL_UPDATE) {
		(void)json_object_set_new(request, "ge", json_integer(op->ge));
		(void)json_object_set_new(request, "lt", json_integer(op->lt));
	}
	if (op->limit)
		(void)json_object_set_new(request, "limit", json_integer(op->limit));
	if (op->lock != KL_NO_LOCK)
		(void)json_object_set_new(request, "lock",
			json_string(op->lock == KL_SHARED ? "shared" : "exclusive"));
	return request;
}

/* [[key, value], ...], of lists and sets [value, ...]. */
static bool take_rows(const json_t *rows, bool keyed, struct kl_result *result)
{
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		const json_t *value = keyed ? json_array_get(row, 1) : row;
		const char *key = keyed ? json_string_value(json_array_get(row, 0)) : "";

		if (!key || !json_is_integer(value) ||
			!kl_result_row(result, key, strlen(key), json_integer_value(value)))
			return false;
	}
	return json_is_array(rows);
}

/* False: what the operation must answer is not there. */
static bool take_answer(const struct kl_op *op, const json_t *answer, struct kl_result *result)
{
	const json_t *value = json_object_get(answer, "v"), *done = json_object_get(answer, "done");

	switch (op->kind) {
	case KL_READ:
	case KL_INC:
		result->found = json_is_integer(value);
		result->value = json_integer_value(value);
		return json_is_integer(value) || (op->kind == KL_READ && json_is_null(value));
	case KL_READ_LIST:
	case KL_READ_SET:
		result->found = json_is_array(value);
		return json_is_null(value) || take_rows(value, false, result);
	case KL_RANGE:
	case KL_SCAN:
	case KL_UPDATE: return take_rows(value, true, result);
	case KL_DELETE:
	case KL_INSERT: result->done = json_is_true(done); return json_is_boolean(done);
	default: return true;
	}
}

static enum kl_answer run(struct kl_client *client, const struct kl_op *op, struct kl_result *result)
{
	json_t *answer = ask((struct exec_client *)client, request_of(op), result);
	enum kl_answer kind = answer ? meaning(answer, result) : KL_GONE;

	if (kind == KL_OK && !take_answer(op, answer, result))
		kind = kl_error(result, KL_BUG, "answer", ((struct exec_client *)client)->line);
	json_decref(answer);
	return kind;
}

static enum kl_answer begin(struct kl_client *client, struct kl_result *result)
{
	return say((struct exec_client *)client,
		json_pack("{s:s, s:s, s:s, s:b}", "f", "begin", "level", client->level->sent, "id",
			client->id, "only_reads", client->only_reads),
		result);
}

/* An answer that is no refusal does not tell what became of it. */
static enum kl_answer commit(struct kl_client *client, struct kl_result *result)
{
	enum kl_answer answer = say((struct exec_client *)client, json_pack("{s:s}", "f", "commit"), result);

	return answer == KL_STATEMENT || answer == KL_BUG ? KL_GONE : answer;
}

static enum kl_answer rollback(struct kl_client *client, struct kl_result *result)
{
	return say((struct exec_client *)client, json_pack("{s:s}", "f", "rollback"), result);
}

static void hang_up(struct kl_client *client, bool after_sending_commit)
{
	struct exec_client *c = (struct exec_client *)client;
	struct kl_result nothing = {0};

	if (after_sending_commit)
		json_decref(ask(c, json_pack("{s:s}", "f", "commit"), &nothing));
}

/* ---- processes ---- */

static void close_client(struct kl_client *client)
{
	struct exec_client *c = (struct exec_client *)client;
	int64_t end = kl_now() + (int64_t)GRACE_MS * 1000000;
	pid_t gone = 0;

	(void)fclose(c->to);
	(void)fclose(c->from);
	while (c->pid > 0 && (gone = waitpid(c->pid, NULL, WNOHANG)) == 0 && kl_now() < end)
		(void)usleep(2000);
	if (gone == 0 && kill(c->pid, SIGKILL) == 0)
		(void)waitpid(c->pid, NULL, 0);
	free(c->line);
	free(c);
}

static _Noreturn void become(const char *command, const int in[2], const int out[2])
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)signal(SIGINT, SIG_IGN); /* the lab ends it */
	(void)dup2(in[0], STDIN_FILENO);
	(void)dup2(out[1], STDOUT_FILENO);
	(void)execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

static struct kl_client *connect_to(struct kl_store *store, uint32_t node)
{
	struct exec_client *c = calloc(1, sizeof *c);
	int in[2] = {-1, -1}, out[2] = {-1, -1};
	char command[2048];

	if (!c || pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) {
		free(c);
		return NULL;
	}
	(void)snprintf(command, sizeof command, "exec %s", kl_address(store, node));
	(void)signal(SIGPIPE, SIG_IGN);
	c->pid = fork();
	if (c->pid == 0)
		become(command, in, out);
	(void)close(in[0]);
	(void)close(out[1]);
	c->to = fdopen(in[1], "w");
	c->from = fdopen(out[0], "r");
	if (c->pid > 0 && c->to && c->from)
		return &c->client;
	(void)kl_fail(store, "cannot start %s", kl_address(store, node));
	return NULL;
}

static struct kl_client *connect_client(struct kl_store *store) { return connect_to(store, 0); }

/* ---- the store ---- */

static bool start(struct kl_store *store)
{
	if (!store->connect)
		return kl_refuse(store, "expected --connect 'PROGRAM ARGUMENT...'");
	/* arguments may be secret */
	(void)snprintf(store->version, sizeof store->version, "%.*s", (int)strcspn(store->connect, " "),
		store->connect);
	return true;
}

static void stop(struct kl_store *store) { (void)store; }

/* The program makes its tables anew, with these rows. */
static bool load(struct kl_store *store, const struct kl_row *rows, size_t count)
{
	struct kl_client *client = connect_client(store);
	json_t *list = json_array();
	struct kl_result result = {0};

	for (size_t i = 0; i < count; i++)
		(void)json_array_append_new(list,
			json_pack("[s, I]", rows[i].key, (json_int_t)rows[i].value));
	bool fine = client &&
		say((struct exec_client *)client, json_pack("{s:s, s:O}", "f", "load", "rows", list),
			&result) == KL_OK;
	json_decref(list);
	if (client)
		close_client(client);
	return fine || kl_fail(store, "load: %s", result.message);
}

KL_EXPORT const struct kl_driver krait_driver = {
	.abi = KL_ABI,
	.name = "exec",
	.title = "a program",
	.library = "jansson",
	.levels = levels,
	.operations = (KL_BIT(KL_KINDS) - 1) | KL_LOCKING,
	.facts = KL_SESSIONS,
	.start = start,
	.stop = stop,
	.load = load,
	.connect = connect_client,
	.connect_to = connect_to,
	.begin = begin,
	.run = run,
	.commit = commit,
	.rollback = rollback,
	.hang_up = hang_up,
	.close = close_client,
};
