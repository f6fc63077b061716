/* The versions of each key as the database told them, and what a snapshot must have shown of them. */
#ifndef KR_LAB_CHAINS_H
#define KR_LAB_CHAINS_H

#include <jansson.h>

#include "base/table.h"
#include "base/vec.h"

struct kl_version {
	uint64_t mark;  /* of its writer, by the database's own number */
	uint32_t txn;   /* the writer; KR_NONE: the initial rows', or a stranger's */
	bool valued;    /* what it is was told, too: */
	bool present;   /* else it was deleted */
	int64_t value;
};

struct kl_chain {
	char key[64];
	KR_VEC(struct kl_version) of; /* oldest first */
};

struct kl_chains {
	struct kr_mem *mem;
	KR_VEC(struct kl_chain) all;
	KR_VEC(uint32_t) sorted; /* by key, once kl_chains_sort was called */
	struct kr_table by_key;
};

uint64_t kl_chains_hash(const char *text);

bool kl_chains_add(struct kl_chains *chains, const char *key, struct kl_version version);
bool kl_chains_sort(struct kl_chains *chains);
void kl_chains_done(struct kl_chains *chains);

/* What was seen of the keys that a range or scan covers. */
struct kl_looks {
	const struct kl_chains *chains;
	bool (*sees)(const char *view, uint64_t mark);
	uint64_t own;         /* the reader's number */
	json_t *mine;         /* keys that it has written so far, as an object's names */
	/* a version that should have been returned */
	void (*name)(void *data, const char *key, const struct kl_version *version);
	void *data;
	uint64_t fit, differ; /* keys */
};
/* Takes the next operation of the reader, as the trace has it. */
void kl_looks_take(struct kl_looks *looks, json_t *op);

#endif
