/* What another checker said, read from its output: one word, the last verdict in what it printed, or JSON
 * objects with a verdict, a level and a cycle. Elle's result is read by cross/elle_result.h. */
#ifndef KR_CROSS_CLAIM_FILE_H
#define KR_CROSS_CLAIM_FILE_H

#include "checkers/lattice.h"
#include "frontend/history.h"

struct kr_stated {
	const char *trace;           /* that it is about; NULL: any */
	enum kr_outcome verdict;     /* KR_UNDECIDED: it gave up */
	struct kr_question question; /* level NULL: whatever was asked for */
	const char *cycle;           /* as kr_claim_read reads it; NULL: none */
	uint32_t line;
};

struct kr_claim_file {
	struct kr_arena arena;
	bool is_elle;                /* nothing was read: it has the look of Elle's result */
	KR_VEC(struct kr_stated) stated;
};

/* A word for a verdict in the languages of checkers, letters of either case: satisfied, reject, PASS, ... */
bool kr_claim_word(const char *text, size_t length, enum kr_outcome *out);

/* The verdict that a line of a checker's output tells: `[[[[ REJECT ]]]]`, `[info] accept: false`,
 * `hist-00000 failed`, `h.json: FAIL (...)`. False: it tells none. */
bool kr_claim_line(const char *line, enum kr_outcome *out);

/* KR_BAD: it holds no verdict, or contraries of one trace and level. The caller frees *out with _done in
 * every case. */
enum kr_status kr_claim_file_read(struct kr_ctx *ctx, const char *path, struct kr_claim_file *out,
	struct kr_err *err);
void kr_claim_file_done(struct kr_mem *mem, struct kr_claim_file *file);

/* Is it about that trace: by its path, or by the last part of it? */
bool kr_stated_of(const struct kr_stated *stated, const char *trace);

/* What the file claims of a level with an order, for a trace: what was said of it, or what follows from that
 * by implication; else nothing, KR_UNDECIDED. */
enum kr_outcome kr_claim_file_claims(const struct kr_claim_file *file, const struct kr_modules *more,
	const char *trace, struct kr_question question);

#endif
