/* Workloads: what random transactions do. A file NAME.c here is one: parameters, initial rows, and a plan for
 * the next transaction, made of steps that a driver can run. Equal seeds give equal plans. */
#ifndef KR_LAB_WORKLOADS_WORKLOAD_H
#define KR_LAB_WORKLOADS_WORKLOAD_H

#include "base/rng.h"
#include "base/vec.h"
#include "lab/driver.h"

#define KR_PARAMETERS_MOST 12
#define KR_STEPS_MOST 96

struct kr_parameter {
	const char *name, *help;
	int64_t usual, least, most;
};

/* A workload with its parameters, the same for all clients. */
struct kr_job {
	const struct kr_workload *workload;
	int64_t of[KR_PARAMETERS_MOST];
	uint64_t operations; /* of the driver */
	uint32_t clients;
	struct kr_script *script; /* of the workload `script` */
	struct kr_zipf zipf; /* over the first parameter's number, with `zipf` > 0 */
	int64_t value_base, value_unit, value_client; /* numbers.c */
};

struct kr_step {
	struct kl_op op;     /* key and high point into the step */
	char key[KL_KEY], high[KL_KEY];
	/* the value is what this step answered, plus op.value; -1: op.value. If that step found nothing, this
	 * one is left out */
	int from;
};

/* What a client does next. */
struct kr_plan {
	const struct kr_job *work;
	struct kr_rng rng;
	uint32_t client;
	uint64_t writes;     /* values made so far */
	uint64_t txns;       /* plans made so far */
	bool reads_only;
	bool audits;         /* `holds` can tell by this one */
	bool refrains;       /* the program rolls back */
	uint32_t program, stage;  /* the workload's own, of this transaction; 0 at first */
	int64_t at[8];
	bool committed, aborted; /* the last one of this client; neither: it is not known */
	int64_t kept[4];     /* the workload's own, of this client */
	uint32_t n;
	struct kr_step steps[KR_STEPS_MOST];
};

KR_VEC_NAMED(kr_rows, struct kl_row);

struct kr_workload {
	const char *name, *title;
	const struct kr_parameter *parameters; /* until a name NULL */
	uint64_t needs;      /* operations without which there is no such workload */
	/* false: no memory; NULL: no rows */
	bool (*initial)(const struct kr_job *work, struct kr_mem *mem, struct kr_rows *out);
	void (*plan)(struct kr_plan *plan);
	/* After the answers to all steps so far: adds what the program does next, or nothing, which ends it.
	 * With it, a plan says by `reads_only` whether any write is to come. NULL: plans are whole.
	 * `results`: of each step. */
	void (*more)(struct kr_plan *plan, const struct kl_result *results);
	/* Plans a transaction by which `holds` can tell; the last one of a recording is such. NULL: none. */
	void (*audit)(struct kr_plan *plan);
	/* Whether what a committed transaction saw is right; NULL: there is no saying. Where there is, a
	 * program whose statement fails rolls back. */
	bool (*holds)(struct kr_plan *plan, const struct kl_result *results);
};

extern const struct kr_workload *const kr_workload_registry[]; /* NULL-terminated, by name */
extern const size_t kr_workload_registry_count;

/* "NAME" or "NAME:PARAMETER=VALUE,...", or a file "....sql". On failure one line in `why`. */
bool kr_job_parse(const char *text, struct kr_job *out, char why[256]);
int64_t kr_job_parameter(const struct kr_job *work, const char *name);
bool kr_job_prepare(struct kr_job *work, struct kr_mem *mem, uint64_t run, uint32_t clients, uint64_t txns);

bool kr_rows_add(struct kr_mem *mem, struct kr_rows *rows, const char *key, int64_t value);

/* ---- for plans ---- */

uint64_t kr_plan_below(struct kr_plan *plan, uint64_t n);
bool kr_plan_chance(struct kr_plan *plan, int64_t percent);
/* written once; categories 0 to 3 lie one behind the other */
int64_t kr_plan_value(struct kr_plan *plan, uint32_t category);
int64_t kr_plan_category(const struct kr_plan *plan, uint32_t category); /* the least value of it */
/* A number of at most eight digits in a value that is written once; it can be told from that. */
#define KR_PACKED_MOST INT64_C(49999999)
int64_t kr_plan_packed(struct kr_plan *plan, int64_t number);
int64_t kr_packed(uint64_t unique, int64_t number);
int64_t kr_unpacked(int64_t value);
bool kr_plan_has(const struct kr_plan *plan, uint64_t operations);
/* The step, with its key printed; NULL when the plan is full. */
struct kr_step *kr_plan_add(struct kr_plan *plan, enum kl_kind kind, const char *key, ...)
	__attribute__((format(printf, 3, 4)));
void kr_plan_range(struct kr_plan *plan, const char *low, const char *high, uint32_t limit);
/* all keys that begin with `prefix`, whose last byte is not the greatest */
void kr_plan_prefix(struct kr_plan *plan, uint32_t limit, const char *prefix, ...)
	__attribute__((format(printf, 3, 4)));
void kr_plan_write(struct kr_plan *plan, enum kl_kind kind, const char *key, int64_t value);
/* A transaction that reads whole keys and adds to them, by the parameters keys, ops and reads. A key is left
 * for a new one once it has grown to about what the parameter `size` says. */
void kr_plan_growing(struct kr_plan *plan, enum kl_kind read, enum kl_kind add, const char *prefix,
	const char *size);

#endif
