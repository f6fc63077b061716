/* Modules: formats, passes, back ends and checkers. Each is one constant descriptor. Krait's own stand in
 * frontend/, passes/, backend/ and checkers/; a plug-in is a shared object with more of them, loaded at run
 * time: `krait COMMAND --plugin FILE`. Descriptors are the same for both.
 *
 *     #include <krait/module.h>
 *
 *     static const struct kr_checker mine = {.name = "mine", ...}; static const struct kr_checker *const
 *     checkers[] = {&mine, NULL}; KRAIT_EXPORT const struct kr_plugin krait_plugin = {.abi =
 *     KRAIT_PLUGIN_ABI, .name = "mine", .version = "1.0", .checkers = checkers};
 *
 * Structs that are only named here are krait's; functions on them are in graph.h (passes, back ends) and
 * reader.h (formats). Descriptors and all that they point to must live as long as the plug-in is loaded.
 * Functions of a module may be called by several threads at once, each with objects of its own: they must not
 * have mutable globals. They return KR_OK or tell the error with krait_fail, and pass on the status of
 * krait's functions that fail. */
#ifndef KRAIT_MODULE_H
#define KRAIT_MODULE_H

#include "krait/export.h"
#include "krait/level.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Changes whenever a struct or the meaning of anything in terms.h, level.h, module.h, graph.h, build.h or
 * reader.h does; a plug-in made for another number is refused. */
#define KRAIT_PLUGIN_ABI 4u

struct kr_ctx;     /* limits of the run */
struct kr_err;     /* what went wrong */
struct kr_history; /* what was read */
struct kr_source;  /* bytes of a trace */
struct kr_ir;      /* the dependency graph with what is open */
struct kr_answer;  /* of a back end */
struct kr_str;     /* text that grows */

/* Records what went wrong, one line as for printf, without a period; what was recorded first stays. Returns
 * `status`, so that `return krait_fail(...)` reads well. */
KRAIT_EXPORT enum kr_status krait_fail(struct kr_err *err, enum kr_status status, const char *format, ...)
	KRAIT_PRINTF(3, 4);

/* For long loops: KR_OK, or KR_TIMEOUT or KR_CANCELED once a limit is reached, to be returned. Cheap: the
 * clock is read once in 256 calls. */
KRAIT_EXPORT enum kr_status krait_tick(struct kr_ctx *ctx);

/* Says something to whoever listens: `krait check --stats` writes it to standard error, a program gets it by
 * its log hook (krait_options.log). One line as for printf, with the module's name before it. */
KRAIT_EXPORT void krait_log(struct kr_ctx *ctx, const char *format, ...) KRAIT_PRINTF(2, 3);

/* ---- formats ---- */

/* Names of modules are unique among those of their kind: small letters, digits, '-', '.' and '+', 63 bytes at
 * most, and not "all". Titles and sources are one line for people, and never NULL. All texts of descriptors
 * are UTF-8 and terminated. */

struct kr_format {
	const char *name;       /* as in `-f NAME` */
	const char *aliases;    /* blank-separated, or NULL */
	const char *title;      /* one line for `krait formats` */
	const char *source;     /* where the format is described */
	bool folder;            /* a trace is a folder of files, else one file */
	/* How sure it is that this is its format, 0 (no) to 100, from the first bytes of the (decompressed)
	 * file; for folder formats from the path alone. */
	int (*sniff)(const char *path, const char *head, size_t length);
	/* Fills an initialised history, whose first file is the path. `source` is the opened file, nothing of
	 * it consumed; NULL for folder formats. */
	enum kr_status (*read)(struct kr_ctx *ctx, const char *path, struct kr_source *source,
		struct kr_history *h, struct kr_err *err);
};

/* ---- passes ---- */

/* What passes have established; names in docs/passes.md. */
enum kr_fact {
	KR_FACT_SO = 1u << 0,
	KR_FACT_RT = 1u << 1,
	KR_FACT_WR = 1u << 2,       /* every observation with one candidate has its wr edge */
	KR_FACT_WW = 1u << 3,       /* given version orders are edges */
	KR_FACT_RW = 1u << 4,       /* rw edges that follow at once from those */
	KR_FACT_CLOCK = 1u << 5,    /* reachability is answered and up to date */
	KR_FACT_SATURATED = 1u << 6, /* no forcing rule applies any more */
	/* of no two units of a key one order is known to close a cycle while the other is not yet known */
	KR_FACT_PRUNED = 1u << 7
};

enum { KR_FACTS = 8 }; /* how many there are */

/* KR_CONFLICT: a refutation was recorded, the level is violated */
enum kr_change { KR_UNCHANGED, KR_CHANGED, KR_CONFLICT };

struct kr_pass {
	const char *name;         /* as in `--passes NAME` */
	const char *title;        /* one line: what it adds or removes */
	const char *source;       /* paper or theorem */
	/* sets of enum kr_fact; adding edges breaks KR_FACT_SATURATED, but not KR_FACT_CLOCK, which krait
	 * brings up to date */
	uint32_t requires, provides, breaks;
	/* Sets *change (KR_UNCHANGED at first) and returns KR_OK; or fails, and says why by krait_fail. What
	 * it needs to remember it frees before it returns. */
	enum kr_status (*run)(struct kr_ir *ir, enum kr_change *change, struct kr_err *err);
};

/* ---- back ends ---- */

/* What the order of an answer is. */
enum kr_world_form {
	KR_WORLD_SERIAL,    /* transactions, as they would run one after the other */
	KR_WORLD_SNAPSHOTS, /* begins and commits */
	/* a topological order of the graph of the level's first pattern (one_reader: among transactions that
	 * write); it orders the versions, and sources say what was seen */
	KR_WORLD_GRAPH
};

struct kr_backend {
	const char *name;   /* as in `--backend NAME` */
	const char *title;  /* one line for `krait backends` */
	const char *source; /* paper, solver */
	/* Decides; NULL: it only writes. Limits come as status; a solver's "unknown" or error is KR_UNDECIDED
	 * with its reason, never a verdict. */
	enum kr_status (*solve)(struct kr_ir *ir, struct kr_answer *out, struct kr_err *err);
	/* Looks for a world the quick way; KR_UNDECIDED when that does not find any. NULL: there is no such
	 * way. */
	enum kr_status (*attempt)(struct kr_ir *ir, struct kr_answer *out, struct kr_err *err);
	/* Writes the problem for other solvers (satisfiable iff the level holds); NULL: it only decides. */
	enum kr_status (*write)(struct kr_ir *ir, struct kr_str *out, struct kr_err *err);
};

/* ---- checkers ---- */

struct kr_check_options;
struct kr_verdict;

/* Which passes and which back end decide which levels. */
struct kr_checker {
	const char *name;                  /* as in `--checker NAME` */
	const char *title;                 /* one line for `krait checkers` */
	const char *source;                /* paper */
	/* levels it defines (and decides); ends with a NULL id; may be NULL */
	const struct kr_level *levels;
	/* ids of further levels it decides, NULL-terminated; may be NULL */
	const char *const *decides;
	/* names, separated by commas; together they provide at least the facts so and rt */
	const char *passes;
	const char *backend;               /* name */
	/* Of krait's own checkers only, since what they are given is private (checkers/check.h). Decides in
	 * another way than by passes and a back end, which are empty then; and says more of a violation that
	 * was verified. NULL: nothing of the kind. */
	enum kr_status (*decide)(struct kr_ctx *ctx, const struct kr_history *h,
		const struct kr_check_options *options, struct kr_verdict *out, struct kr_err *err);
	enum kr_status (*qualify)(struct kr_ctx *ctx, const struct kr_history *h,
		const struct kr_check_options *options, struct kr_verdict *out, struct kr_err *err);
};

/* ---- plug-ins ---- */

/* What a plug-in exports under the name `krait_plugin`. Lists are NULL-terminated, and NULL when empty. Names
 * of modules and levels are unique: those of krait's own, and of plug-ins loaded before, are taken. */
struct kr_plugin {
	uint32_t abi;        /* KRAIT_PLUGIN_ABI; looked at before anything else is */
	const char *name;    /* for messages */
	const char *version; /* for people */
	const struct kr_format *const *formats;
	const struct kr_pass *const *passes;
	const struct kr_backend *const *backends;
	const struct kr_checker *const *checkers;
};

#ifdef __cplusplus
}
#endif

#endif
