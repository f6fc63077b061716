/* What drivers of embedded stores of keys and values share: every operation out of four, on values that are
 * integers in digits, lists and sets with commas between. An operation that reads before it writes does so
 * under KL_EXCLUSIVE: where a store can neither lock nor refuse its transaction when the key has changed, it
 * is not one operation, and the driver leaves it out. So is KL_UPDATE, whose rows are read without a lock,
 * where transactions see or change what others have read or not committed. */
#ifndef KR_LAB_KEYS_H
#define KR_LAB_KEYS_H

#include "lab/driver.h"

/* Keys and what was written to them, for stores that get all writes with the commit: by key, each once. */
struct kl_buffered {
	char key[KL_KEY];
	char *text; /* NULL: the key is deleted */
	size_t length;
};
struct kl_buffer {
	struct kl_buffered *at; /* in order */
	size_t n, cap;
};

/* The start of a driver's client. */
struct kl_keys_client {
	struct kl_client client;
	bool wrote;      /* a key, in this transaction; set at begin */
	char *text;      /* the value that was read last; ends with '\0' */
	size_t length, cap;
	struct kl_buffer own; /* what it wrote, in stores that get all writes with the commit */
};

struct kl_walk; /* keys in their order, of which some are rows */

struct kl_keys {
	/* KL_OK: `found` is set, and kl_keys_take was called if it is true. */
	enum kl_answer (
		*get)(struct kl_keys_client *c, const char *key, enum kl_lock lock, struct kl_result *result);
	enum kl_answer (*put)(struct kl_keys_client *c, const char *key, const char *text, size_t length,
		struct kl_result *result);
	/* Of a key that is there. NULL: the driver does deletes itself. */
	enum kl_answer (*del)(struct kl_keys_client *c, const char *key, struct kl_result *result);
	/* All keys from `from` on, in order, until kl_walk_take says no. NULL: of no store whose plans have
	 * ranges. */
	enum kl_answer (*walk)(struct kl_keys_client *c, const char *from, struct kl_walk *walk,
		struct kl_result *result);
};

/* The end of the keys that it wants, which does not belong to them; false: there is none. */
KL_EXPORT bool kl_walk_end(const struct kl_walk *walk, char out[KL_KEY]);

KL_EXPORT const struct kl_buffered *kl_buffer_find(const struct kl_buffer *buffer, const char *key);
KL_EXPORT bool kl_buffer_put(struct kl_buffer *buffer, const char *key, const char *text, size_t length);
KL_EXPORT void kl_buffer_clear(struct kl_buffer *buffer);
/* `store` is what the store has: with `own` written over it, it is walked. */
KL_EXPORT enum kl_answer kl_buffer_walk(struct kl_buffer *store, const struct kl_buffer *own,
	const char *from, struct kl_walk *walk, struct kl_result *result);

/* A private folder, which is all that such a store is offered; NULL after kl_fail or kl_refuse. */
KL_EXPORT const char *kl_keys_folder(struct kl_store *store);
KL_EXPORT enum kl_answer kl_keys_run(const struct kl_keys *keys, struct kl_keys_client *c,
	const struct kl_op *op, struct kl_result *result);
KL_EXPORT enum kl_answer kl_keys_take(struct kl_keys_client *c, const void *value, size_t length,
	struct kl_result *result);
/* `put` and `del` of stores that get all writes with the commit: into c->own, which the driver sends and
 * clears. */
KL_EXPORT enum kl_answer kl_keys_hold(struct kl_keys_client *c, const char *key, const char *text,
	size_t length, struct kl_result *result);
KL_EXPORT enum kl_answer kl_keys_hold_delete(struct kl_keys_client *c, const char *key,
	struct kl_result *result);
/* False: no more. */
KL_EXPORT bool kl_walk_take(struct kl_walk *walk, const void *key, size_t key_length, const void *value,
	size_t length);
/* in one transaction of a client of its own */
KL_EXPORT bool kl_keys_load(struct kl_store *store, const struct kl_row *rows, size_t count);
KL_EXPORT void kl_keys_free(struct kl_keys_client *c);

#endif
