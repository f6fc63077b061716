/* Ids, status codes and small arithmetic shared by every layer.
 *
 * Ids are one-field structs so that a key cannot be passed where a transaction is meant. All are dense indices from 0;
 * KR_NONE marks "none". */
#ifndef KR_BASE_BASE_H
#define KR_BASE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KR_NONE UINT32_MAX

typedef struct { uint32_t i; } kr_txn;     /* transaction, in file order */
typedef struct { uint32_t i; } kr_session; /* client session */
typedef struct { uint32_t i; } kr_key;     /* key of the store */
typedef struct { uint32_t i; } kr_value;   /* interned value; 0 is "absent" (history.h) */
typedef struct { uint32_t i; } kr_op;      /* operation, numbered through the whole history */
typedef struct { uint32_t i; } kr_version; /* version of a key, numbered through all keys (asg.h) */
typedef struct { uint32_t i; } kr_obs;     /* external observation (asg.h) */
typedef struct { uint32_t i; } kr_node;    /* node of the dependency graph (ir.h) */

/* What a fallible function returns. KR_OK is 0, so `if (status)` reads as "if it failed". */
enum kr_status {
	KR_OK = 0,
	KR_NOMEM,    /* the memory limit (or the machine) said no */
	KR_TIMEOUT,  /* the deadline passed */
	KR_CANCELED, /* the caller asked to stop */
	KR_BAD,      /* bad input or arguments; kr_err says what and where */
	KR_UNSUPPORTED, /* valid input that this version cannot decide; kr_err says what */
	KR_INTERNAL  /* a bug in krait; kr_err says which check failed */
};

#define KR_COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* a * b and a + b, or false when they overflow size_t. */
static inline bool kr_mul(size_t a, size_t b, size_t *out) { return !__builtin_mul_overflow(a, b, out); }
static inline bool kr_add(size_t a, size_t b, size_t *out) { return !__builtin_add_overflow(a, b, out); }

#endif
