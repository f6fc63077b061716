/* Faults: what is done to a store while it is being recorded. A file NAME.c here (a `-` in the name is `_` in
 * the descriptor's) is one kind. */
#ifndef KR_LAB_FAULTS_FAULT_H
#define KR_LAB_FAULTS_FAULT_H

#include "lab/driver.h"

struct kr_fault {
	const char *name, *title;
	const char *lacking;  /* what a store must have for it */
	bool (*possible)(const struct kl_store *store);
	bool relayed;         /* clients must go through the relay */
	bool parts;           /* what nodes send each other must go through relays */
	bool small_disk;      /* the server's data must be on a disk that can be filled */
	/* Does it, and undoes it after `ns` if that is its kind. False: store->why. */
	bool (*run)(struct kl_store *store, int64_t ns);
};

#define KR_FAULT_USUAL INT64_C(500000000)
/* For `run`: so long, or half a second. */
void kr_fault_wait(int64_t ns);
/* For `possible`: does the driver tell where a private server listens? */
bool kr_fault_has_socket(const struct kl_store *store);

extern const struct kr_fault *const kr_fault_registry[]; /* NULL-terminated, by name */
extern const size_t kr_fault_registry_count;

#endif
