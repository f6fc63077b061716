/* Operations of a trace out of what embedded stores do with single keys. */
#include "lab/keys.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS = 24 };

struct kl_walk {
	const struct kl_op *op;
	struct kl_result *result;
	bool failed;
};

static enum kl_answer no_memory(struct kl_result *result)
{
	return kl_error(result, KL_BUG, "memory", "no memory");
}

const char *kl_keys_folder(struct kl_store *store)
{
	if (store->connect)
		(void)kl_refuse(store, "found '--connect', expected none: there are private stores only");
	return store->connect ? NULL : kl_home_open(store, NULL);
}

/* ---- values ---- */

static bool reserve(struct kl_keys_client *c, size_t length)
{
	size_t cap = 2 * length;
	char *text = length < c->cap ? c->text : realloc(c->text, cap);

	if (!text)
		return false;
	if (length >= c->cap)
		c->cap = cap;
	c->text = text;
	return true;
}

enum kl_answer kl_keys_take(struct kl_keys_client *c, const void *value, size_t length,
	struct kl_result *result)
{
	if (!reserve(c, length + DIGITS))
		return no_memory(result);
	memcpy(c->text, value, length);
	c->text[length] = '\0';
	c->length = length;
	return KL_OK;
}

static int64_t number(const void *value, size_t length)
{
	char digits[DIGITS] = "";

	memcpy(digits, value, length < DIGITS ? length : DIGITS - 1);
	return strtoll(digits, NULL, 10);
}

static enum kl_answer put(const struct kl_keys *keys, struct kl_keys_client *c, const char *key,
	const char *text, struct kl_result *result)
{
	c->wrote = true;
	return keys->put(c, key, text, strlen(text), result);
}

static enum kl_answer put_number(const struct kl_keys *keys, struct kl_keys_client *c, const char *key,
	int64_t value, struct kl_result *result)
{
	char digits[DIGITS];

	(void)snprintf(digits, sizeof digits, "%" PRId64, value);
	return put(keys, c, key, digits, result);
}

/* ---- several keys ---- */

bool kl_walk_take(struct kl_walk *walk, const void *key, size_t key_length, const void *value, size_t length)
{
	const struct kl_op *op = walk->op;
	struct kl_result *result = walk->result;
	char name[KL_KEY] = "";
	int64_t n = number(value, length);

	memcpy(name, key, key_length < KL_KEY ? key_length : KL_KEY - 1);
	if (op->kind == KL_RANGE ? strcmp(name, op->high) >= 0 : strncmp(name, op->key, strlen(op->key)) != 0)
		return false;
	if (op->kind != KL_RANGE && (n < op->ge || n >= op->lt))
		return true;
	walk->failed = !kl_result_row(result, name, strlen(name), n);
	return !walk->failed && (!op->limit || result->row_count < op->limit);
}

static enum kl_answer find_rows(const struct kl_keys *keys, struct kl_keys_client *c, const struct kl_op *op,
	struct kl_result *result)
{
	struct kl_walk walk = {op, result, false};
	enum kl_answer answer = keys->walk(c, op->key, &walk, result);

	return answer == KL_OK && walk.failed ? no_memory(result) : answer;
}

static enum kl_answer update_rows(const struct kl_keys *keys, struct kl_keys_client *c,
	const struct kl_op *op, struct kl_result *result)
{
	enum kl_answer answer = find_rows(keys, c, op, result);

	for (size_t i = 0; i < result->row_count && answer == KL_OK; i++) {
		result->rows[i].value = op->value;
		answer = put_number(keys, c, result->rows[i].key, op->value, result);
	}
	return answer;
}

/* ---- one key ---- */

static enum kl_answer read_one(const struct kl_keys *keys, struct kl_keys_client *c, const struct kl_op *op,
	struct kl_result *result)
{
	enum kl_answer answer = keys->get(c, op->key, op->lock, result);

	if (answer != KL_OK || !result->found)
		return answer;
	if (op->kind != KL_READ)
		return kl_result_list(result, c->text, c->length) ? KL_OK : no_memory(result);
	result->value = number(c->text, c->length);
	return KL_OK;
}

static enum kl_answer append(const struct kl_keys *keys, struct kl_keys_client *c, const struct kl_op *op,
	struct kl_result *result)
{
	if (!result->found)
		return put_number(keys, c, op->key, op->value, result);
	(void)snprintf(c->text + c->length, DIGITS, ",%" PRId64, op->value);
	return put(keys, c, op->key, c->text, result);
}

static enum kl_answer change_one(const struct kl_keys *keys, struct kl_keys_client *c, const struct kl_op *op,
	struct kl_result *result)
{
	enum kl_answer answer = keys->get(c, op->key, KL_EXCLUSIVE, result);

	if (answer != KL_OK)
		return answer;
	switch (op->kind) {
	case KL_DELETE:
		result->done = result->found;
		c->wrote |= result->found;
		return result->found ? keys->del(c, op->key, result) : KL_OK;
	case KL_INSERT:
		result->done = !result->found;
		return result->done ? put_number(keys, c, op->key, op->value, result) : KL_OK;
	case KL_INC:
		if (!result->found)
			return kl_error(result, KL_BUG, "absent", "the counter is not there");
		result->value = number(c->text, c->length) + op->value;
		return put_number(keys, c, op->key, result->value, result);
	default: /* KL_APPEND, KL_ADD */ return append(keys, c, op, result);
	}
}

enum kl_answer kl_keys_run(const struct kl_keys *keys, struct kl_keys_client *c, const struct kl_op *op,
	struct kl_result *result)
{
	switch (op->kind) {
	case KL_READ:
	case KL_READ_LIST:
	case KL_READ_SET: return read_one(keys, c, op, result);
	case KL_WRITE: return put_number(keys, c, op->key, op->value, result);
	case KL_RANGE:
	case KL_SCAN: return find_rows(keys, c, op, result);
	case KL_UPDATE: return update_rows(keys, c, op, result);
	default: return change_one(keys, c, op, result);
	}
}

/* ---- the store ---- */

static bool load_rows(struct kl_client *client, const struct kl_row *rows, size_t count,
	struct kl_result *result)
{
	const struct kl_driver *driver = client->store->driver;
	bool fine = driver->begin(client, result) == KL_OK;

	for (size_t i = 0; i < count && fine; i++) {
		struct kl_op op = {.kind = KL_WRITE, .key = rows[i].key, .value = rows[i].value};

		fine = driver->run(client, &op, result) == KL_OK;
	}
	return fine && driver->commit(client, result) == KL_OK;
}

bool kl_keys_load(struct kl_store *store, const struct kl_row *rows, size_t count)
{
	struct kl_client *client = store->driver->connect(store);
	struct kl_result result = {0};

	if (!client)
		return false;
	client->store = store;
	client->level = store->level;

	bool fine =
		load_rows(client, rows, count, &result) || kl_fail(store, "initial rows: %s", result.message);

	store->driver->close(client);
	return fine;
}

void kl_keys_free(struct kl_keys_client *c)
{
	free(c->text);
	free(c);
}
