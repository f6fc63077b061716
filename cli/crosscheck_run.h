/* One run of `krait crosscheck`: what was asked, and the crosschecking of one level. */
#ifndef KR_CLI_CROSSCHECK_RUN_H
#define KR_CLI_CROSSCHECK_RUN_H

#include "cli/file.h"
#include "cli/levels_option.h"
#include "cli/output.h"
#include "cli/trace.h"
#include "cross/claim.h"
#include "cross/claim_file.h"
#include "cross/cross.h"
#include "cross/elle_result.h"
#include "report/report.h"

/* A cycle to be judged. `said`: NULL, or at levels that imply what this is about only. */
struct kr_given_cycle { struct kr_claimed_cycle edges; const struct kr_stated *said; };

struct kr_crosscheck {
	const struct kr_args *args;
	struct kr_trace_options trace_options;
	struct kr_limits limits;
	struct kr_asked_list asked;
	enum kr_outcome claim;    /* KR_UNDECIDED: none */
	struct kr_claim_file said; /* claims of the file that --claim names */
	const char *elle_path;    /* NULL, or the claims are those of Elle's result in that file: */
	struct kr_elle_result elle;
	KR_VEC(struct kr_given_cycle) cycles; /* of --cycle and of claims, as they were read */
	bool json, verbose;
	struct kr_file witness;
	struct kr_trace trace;
};

/* All ways to decide the level, and what follows; returns the exit status. */
int kr_crosscheck_level(struct kr_crosscheck *c, const struct kr_asked *asked);

/* A line begins with the trace and the level, and ends with a newline; between them come the fields, each
 * with what separates it. False: it could not be written. */
void kr_crosscheck_begin(const struct kr_crosscheck *c, const struct kr_asked *asked, struct kr_str *out);
bool kr_crosscheck_end(struct kr_crosscheck *c, struct kr_str *out);
/* Adds a proof to the file of --witness, if that was asked for. */
void kr_crosscheck_witness(struct kr_crosscheck *c, const struct kr_asked *asked,
	const struct kr_certificate *proof);

/* Says what is wrong with how a cycle is written, as a wrong option; false then. Before any work. */
bool kr_crosscheck_take_cycles(const struct kr_args *args);

/* Finds what the cycles speak of in the trace, which has been read: those that --cycle names, and those of
 * claims on this trace. */
enum kr_status kr_crosscheck_read_cycles(struct kr_crosscheck *c, struct kr_err *err);
void kr_crosscheck_drop_cycles(struct kr_crosscheck *c);

/* Those cycles, held against the trace. `satisfied`: the level is. Returns 0 when all are
 * confirmed, 1 when one is refuted, 2 when one is open. crosscheck_cycle.c */
int kr_crosscheck_cycles(struct kr_crosscheck *c, const struct kr_asked *asked, bool satisfied);

/* The same of those that Elle found. At a level that does not forbid such a cycle nothing is claimed of
 * it. */
int kr_crosscheck_elle(struct kr_crosscheck *c, const struct kr_asked *asked, bool satisfied);

/* Names of what becomes of a claim, by exit status. */
extern const char *const kr_crosscheck_results[];

#endif
