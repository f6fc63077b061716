/* Operations of a trace out of what embedded stores do with single keys. */
#include "lab/keys.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"

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

bool kl_walk_end(const struct kl_walk *walk, char out[KL_KEY])
{
	const struct kl_op *op = walk->op;
	size_t length = strlen(op->key);

	(void)snprintf(out, KL_KEY, "%s", op->kind == KL_RANGE ? op->high : op->key);
	if (op->kind != KL_RANGE && length > 0)
		out[length - 1]++;
	return op->kind == KL_RANGE || length > 0;
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

/* ---- writes that wait ---- */

static size_t place_of(const struct kl_buffer *buffer, const char *key)
{
	size_t at;

	KR_BISECT(at, 0, buffer->n, strcmp(buffer->at[at].key, key) < 0);
	return at;
}

const struct kl_buffered *kl_buffer_find(const struct kl_buffer *buffer, const char *key)
{
	size_t at = place_of(buffer, key);

	return at < buffer->n && strcmp(buffer->at[at].key, key) == 0 ? &buffer->at[at] : NULL;
}

bool kl_buffer_put(struct kl_buffer *buffer, const char *key, const char *text, size_t length)
{
	size_t at = place_of(buffer, key);
	char *copy = text ? malloc(length + 1) : NULL;

	if (text && !copy)
		return false;
	if (buffer->n == buffer->cap) {
		size_t cap = buffer->cap ? 2 * buffer->cap : 16;
		struct kl_buffered *grown = realloc(buffer->at, cap * sizeof *grown);

		if (!grown) {
			free(copy);
			return false;
		}
		buffer->at = grown;
		buffer->cap = cap;
	}
	if (text) {
		memcpy(copy, text, length);
		copy[length] = '\0';
	}
	if (at == buffer->n || strcmp(buffer->at[at].key, key) != 0) {
		memmove(buffer->at + at + 1, buffer->at + at, (buffer->n - at) * sizeof *buffer->at);
		buffer->at[at] = (struct kl_buffered){.text = NULL};
		(void)snprintf(buffer->at[at].key, KL_KEY, "%s", key);
		buffer->n++;
	}
	free(buffer->at[at].text);
	buffer->at[at].text = copy;
	buffer->at[at].length = length;
	return true;
}

void kl_buffer_clear(struct kl_buffer *buffer)
{
	for (size_t i = 0; i < buffer->n; i++)
		free(buffer->at[i].text);
	free(buffer->at);
	*buffer = (struct kl_buffer){0};
}

enum kl_answer kl_keys_hold(struct kl_keys_client *c, const char *key, const char *text, size_t length,
	struct kl_result *result)
{
	return kl_buffer_put(&c->own, key, text, length) ? KL_OK
							 : kl_error(result, KL_BUG, "memory", "no memory");
}

enum kl_answer kl_keys_hold_delete(struct kl_keys_client *c, const char *key, struct kl_result *result)
{
	return kl_keys_hold(c, key, NULL, 0, result);
}

enum kl_answer kl_buffer_walk(struct kl_buffer *store, const struct kl_buffer *own, const char *from,
	struct kl_walk *walk, struct kl_result *result)
{
	bool more = true;

	for (size_t i = place_of(own, from); i < own->n; i++)
		if (!kl_buffer_put(store, own->at[i].key, own->at[i].text, own->at[i].length))
			return no_memory(result);
	for (size_t i = place_of(store, from); i < store->n && more; i++)
		if (store->at[i].text)
			more = kl_walk_take(walk, store->at[i].key, strlen(store->at[i].key),
				store->at[i].text, store->at[i].length);
	return KL_OK;
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
