/* The vocabulary that krait's modules share, built in or plugged in: ids, status codes, and the field's terms
 * as enumerations. Values do not change within one KRAIT_PLUGIN_ABI (module.h); new ones come at the end. */
#ifndef KRAIT_TERMS_H
#define KRAIT_TERMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ids are one-field structs so that a key cannot be passed where a transaction is meant. All are dense
 * indices from 0; KR_NONE marks "none". */
#define KR_NONE UINT32_MAX

typedef struct { uint32_t i; } kr_txn;     /* transaction, in file order */
typedef struct { uint32_t i; } kr_session; /* client session */
typedef struct { uint32_t i; } kr_key;     /* key of the store */
typedef struct { uint32_t i; } kr_value;   /* interned value; 0 is "absent" */
typedef struct { uint32_t i; } kr_op;      /* operation, numbered through the whole history */
typedef struct { uint32_t i; } kr_version; /* version of a key, numbered through all keys */
typedef struct { uint32_t i; } kr_obs;     /* external observation */
typedef struct { uint32_t i; } kr_node;    /* node of the dependency graph */

/* What a fallible function of a module returns. KR_OK is 0, so `if (status)` reads as "if it failed". */
enum kr_status {
	KR_OK = 0,
	KR_NOMEM,    /* the memory limit (or the machine) said no */
	KR_TIMEOUT,  /* the deadline passed */
	KR_CANCELED, /* the caller asked to stop */
	KR_BAD,      /* bad input or arguments; kr_err says what and where */
	KR_UNSUPPORTED, /* valid input that this version cannot decide; kr_err says what */
	KR_INTERNAL  /* a bug in krait; kr_err says which check failed */
};

enum kr_order { KR_ORDER_NONE, KR_ORDER_SESSION, KR_ORDER_REALTIME }; /* realtime includes session */

/* Dependencies between transactions (docs/levels.md). Item and predicate dependencies share a kind: the
 * observation tells which. */
enum kr_edge_kind {
	KR_WR, /* a wrote the version that b observed */
	KR_WW, /* a's version of the key comes before b's */
	KR_RW, /* a observed a version that comes before b's */
	KR_SO, /* a comes before b in one session */
	KR_RT, /* a had returned before b was invoked */
	/* begin before commit of one transaction, and links between time nodes; never in reports */
	KR_PROGRAM,
	KR_EDGE_KINDS
};

#define KR_BIT(kind) (1u << (kind)) /* sets of enumerators are sums of these */

enum kr_anomaly_kind { /* what no world explains */
	KR_GARBAGE_READ,
	KR_ABORTED_READ,
	KR_INTERMEDIATE_READ,
	KR_FUTURE_READ,
	KR_INTERNAL_INCONSISTENCY,
	KR_DUPLICATE_ELEMENT,
	KR_INCOMPATIBLE_ORDER,
	KR_RESULT_SET_MISMATCH,
	KR_ANOMALY_KINDS
};

#define KR_ANOMALIES_ALL ((1u << KR_ANOMALY_KINDS) - 1)

enum kr_outcome { KR_SATISFIED, KR_VIOLATED, KR_UNDECIDED };

#endif
