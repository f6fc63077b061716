/* The simulated store of generated histories and what its clients have under way. For generate*.c alone. */
#ifndef KR_FRONTEND_GENERATE_SIM_H
#define KR_FRONTEND_GENERATE_SIM_H

#include "base/rng.h"
#include "frontend/generate.h"
#include "frontend/model/elements.h"

struct kr_plant;

/* ---- store ---- */

struct kr_sim_version {
	uint32_t commit; /* when it was installed, counted in commits; 0: the initial one */
	struct kr_state state;
};

struct kr_sim_key {
	KR_VEC(struct kr_sim_version) versions; /* oldest first */
	/* how it grows: a set whose elements all differ, as a list does */
	const struct kr_datatype *type;
	uint32_t handed;                        /* values handed out */
	uint32_t place;                         /* in the order of names */
	uint8_t kind;                           /* enum kr_key_kind */
	bool fields;                            /* a register of objects */
};

/* ---- clients ---- */

struct kr_sim_touch { /* a key that a transaction has used */
	kr_key key;
	uint32_t seen;  /* place of the version it read first, or KR_NONE */
	uint32_t base;  /* place of the version that its own additions were shown on top of, or KR_NONE */
	struct kr_effect own;
};

struct kr_sim_time { int64_t invoked, returned; };

struct kr_sim_client {
	bool open;
	bool blank; /* its results will not be learned either */
	enum kr_txn_status outcome;
	uint32_t tries, snapshot;
	uint32_t txn; /* of a late one: its place in the history */
	int64_t begin;
	KR_VEC(struct kr_operation) ops;
	KR_VEC(struct kr_sim_time) times; /* of ops, if they are recorded */
	bool alone; /* all in one step */
	KR_VEC(struct kr_scan) scans; /* of ops; conds and rows count from 0 here */
	KR_VEC(struct kr_cond) conds;
	KR_VEC(struct kr_row) rows;
	KR_VEC(struct kr_sim_touch) touches;
	struct kr_table index; /* key -> touch */
};

struct kr_sim {
	struct kr_ctx *ctx;
	const struct kr_generate_options *options;
	struct kr_history *h;
	struct kr_rng rng;
	struct kr_zipf zipf;
	struct kr_str text;
	int64_t clock;
	uint32_t commits, begun, open;
	struct kr_sim_key *keys;
	struct kr_arena items; /* elements of lists and sets */
	kr_key *by_name; /* in the order of names */
	uint8_t kinds[5]; /* of keys, enum kr_key_kind: key i is of kind kinds[i % kind_count] */
	uint32_t kind_count;
	struct kr_sim_client *clients;
	KR_VEC(struct kr_sim_client) late;
	const struct kr_plant *plant; /* still to be planted, or NULL */
};

/* generate_store.c. Keys by kind, each with its initial version; KR_BAD: fewer keys than kinds. */
enum kr_status kr_sim_prepare_keys(struct kr_sim *s, struct kr_err *err);
void kr_sim_keys_done(struct kr_sim *s);

/* The client's touch of the key, made on first use; NULL: out of memory. Valid until the next one. */
struct kr_sim_touch *kr_sim_touch(struct kr_sim *s, struct kr_sim_client *c, kr_key key);

/* What the client is shown of the key, its own writes included; *out is KR_ABSENT for absent. */
enum kr_status kr_sim_see(struct kr_sim *s, struct kr_sim_client *c, struct kr_sim_touch *t, kr_value *out);

void kr_sim_put(struct kr_sim_touch *t, kr_value value); /* KR_ABSENT deletes */
/* an element, or an increment */
enum kr_status kr_sim_grow(struct kr_sim *s, struct kr_sim_touch *t, kr_value more);

bool kr_sim_may_commit(const struct kr_sim *s, const struct kr_sim_client *c); /* by the rules of the store */
enum kr_status kr_sim_install(struct kr_sim *s, const struct kr_sim_client *c);

/* generate_ops.c. One more operation, picked by the shares. */
enum kr_status kr_sim_operation(struct kr_sim *s, struct kr_sim_client *c);
uint32_t kr_sim_number(struct kr_sim *s, kr_key key); /* the next value of the key, as a number */

/* generate_scans.c. `key`: where to look. */
enum kr_status kr_sim_range(struct kr_sim *s, struct kr_sim_client *c, kr_key key, struct kr_operation *op);
/* scan and update, by op->kind */
enum kr_status kr_sim_scan(struct kr_sim *s, struct kr_sim_client *c, kr_key key, struct kr_operation *op);

#endif
