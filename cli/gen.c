/* krait gen: writes a random trace. */
#include <string.h>

#include "base/order.h"
#include "base/rng.h"
#include "cli/command.h"
#include "cli/file.h"
#include "cli/manual.h"
#include "cli/output.h"
#include "frontend/generate.h"
#include "frontend/native_write.h"

#define ZIPF_THETA 0.99

static const struct kr_option options[] = {
	{"txns", 'n', "N", KR_WORDS_ANY, "transactions; default: 1000"},
	{"sessions", 0, "N", KR_WORDS_ANY, "clients, each with one transaction open at a time; default: 8"},
	{"keys", 0, "N", KR_WORDS_ANY, "keys; default: 100"},
	{"ops", 0, "N", KR_WORDS_ANY, "operations of a transaction; default: 4"},
	{"reads", 0, "PERCENT", KR_WORDS_ANY, "operations that are reads; default: 50"},
	{"deletes", 0, "PERCENT", KR_WORDS_ANY,
		"operations that are deletes; default: 0, as of all kinds that follow"},
	{"inserts", 0, "PERCENT", KR_WORDS_ANY, "operations that put a value if there is none"},
	{"cas", 0, "PERCENT", KR_WORDS_ANY, "operations that compare and set"},
	{"incs", 0, "PERCENT", KR_WORDS_ANY, "operations that increment a counter"},
	{"appends", 0, "PERCENT", KR_WORDS_ANY, "operations that append to a list"},
	{"adds", 0, "PERCENT", KR_WORDS_ANY, "operations that add to a set"},
	{"maxes", 0, "PERCENT", KR_WORDS_ANY, "operations that raise a high-water mark"},
	{"ranges", 0, "PERCENT", KR_WORDS_ANY, "operations that read a range of keys"},
	{"scans", 0, "PERCENT", KR_WORDS_ANY, "operations that read the keys that meet a condition"},
	{"updates", 0, "PERCENT", KR_WORDS_ANY,
		"operations that write the keys that meet a condition; what remains are writes"},
	{"span", 0, "N", KR_WORDS_ANY, "keys that a range, scan or update looks at; default: 10"},
	{"dist", 0, "uniform|zipf", KR_WORDS_DIST, "how keys are chosen; default: uniform"},
	{"theta", 0, "X", KR_WORDS_ANY, "exponent of zipf; default: 0.99"},
	{"values", 0, "N", KR_WORDS_ANY, "distinct values of a key; default: 0, every write another one"},
	{"aborted", 0, "PERCENT", KR_WORDS_ANY, "transactions that abort; default: 0"},
	{"unknown", 0, "PERCENT", KR_WORDS_ANY, "transactions of unknown outcome; default: 0"},
	{"untold", 0, "PERCENT", KR_WORDS_ANY, "increments and deletes whose result is not told; default: 0"},
	{"blank", 0, "PERCENT", KR_WORDS_ANY,
		"transactions of unknown outcome without any results; default: 0"},
	{"keep-lists", 0, NULL, KR_WORDS_ANY, "delete no lists"},
	{"store", 0, "STORE", KR_WORDS_STORE,
		"serializable, snapshot, read-committed, or a database whose statements take time and wait "
		"for locks: postgresql-rc, -rr, -ser, mariadb-ru, "
		"-rc, -rr, -rr-si, -ser; default: serializable"},
	{"autocommit", 0, "PERCENT", KR_WORDS_ANY,
		"of such a database: transactions that are one autocommit statement; default: 0"},
	{"locking", 0, "PERCENT", KR_WORDS_ANY, "of such a database: reads that lock; default: 0"},
	{"latency", 0, "N", KR_WORDS_ANY,
		"of such a database: most time of a statement's way, and of its answer's; default: 50"},
	{"think", 0, "N", KR_WORDS_ANY,
		"of such a database: most time between an answer and the next statement; default: 100"},
	{"skew", 0, "N", KR_WORDS_ANY, "of such a database: how much clocks of clients differ; default: 0"},
	{"initial", 0, "absent|given|unknown|unwritten", KR_WORDS_INITIAL, "how keys start; default: absent"},
	{"no-times", 0, NULL, KR_WORDS_ANY, "leave out when transactions began and ended"},
	{"op-times", 0, NULL, KR_WORDS_ANY, "tell when operations were sent and answered, too"},
	{"stream", 0, NULL, KR_WORDS_ANY, "write a line for each event, with the times of operations"},
	{"lines", 0, "run|grouped|shuffled", KR_WORDS_LINES,
		"order of transactions: as they ended, a session after the other, or any that keeps to "
		"sessions; default: run"},
	{"serial", 0, NULL, KR_WORDS_ANY, "tell the store's order of commits"},
	{"anomaly", 0, "NAME", KR_WORDS_ANOMALY, "plant an anomaly half-way"},
	{"seed", 0, "N", KR_WORDS_ANY, "equal seeds give equal traces; default: 1"},
	{"output", 'o', "FILE", KR_WORDS_WRITTEN, "write there instead of on standard output"},
	{0},
};

static bool take(const struct kr_args *args, const char *name, uint64_t most, uint32_t *out)
{
	uint64_t value = *out;

	if (!kr_args_integer(args, name, most, &value))
		return false;
	*out = (uint32_t)value;
	return true;
}

static bool take_shares(const struct kr_args *args, struct kr_generate_options *o)
{
	return take(args, "inserts", 100, &o->inserts) && take(args, "cas", 100, &o->cas) &&
		take(args, "incs", 100, &o->incs) && take(args, "appends", 100, &o->appends) &&
		take(args, "adds", 100, &o->adds) && take(args, "maxes", 100, &o->maxes) &&
		take(args, "ranges", 100, &o->ranges) && take(args, "scans", 100, &o->scans) &&
		take(args, "updates", 100, &o->updates) && take(args, "untold", 100, &o->untold) &&
		take(args, "blank", 100, &o->blank) && take(args, "span", UINT32_MAX - 1, &o->span) &&
		take(args, "autocommit", 100, &o->autocommit) && take(args, "locking", 100, &o->locking) &&
		take(args, "latency", INT32_MAX, &o->latency) && take(args, "think", INT32_MAX, &o->think) &&
		take(args, "skew", INT32_MAX, &o->skew);
}

static bool take_numbers(const struct kr_args *args, struct kr_generate_options *o)
{
	return take(args, "txns", UINT32_MAX - 1, &o->txns) &&
		take(args, "sessions", UINT32_MAX - 1, &o->sessions) &&
		take(args, "keys", UINT32_MAX - 1, &o->keys) && take(args, "ops", UINT32_MAX - 1, &o->ops) &&
		take(args, "reads", 100, &o->reads) && take(args, "deletes", 100, &o->deletes) &&
		take_shares(args, o) && take(args, "values", UINT32_MAX - 1, &o->values) &&
		take(args, "aborted", 100, &o->aborted) && take(args, "unknown", 100, &o->unknown) &&
		kr_args_integer(args, "seed", UINT64_MAX, &o->seed);
}

static int take_dist(const struct kr_args *args, struct kr_generate_options *o)
{
	const char *dist = kr_args_value(args, "dist");
	bool zipf = dist && strcmp(dist, "zipf") == 0;

	if (dist && !zipf && strcmp(dist, "uniform") != 0)
		return kr_usage("option '--dist': found '%s', expected uniform or zipf", dist);
	if (!zipf && kr_args_has(args, "theta"))
		return kr_usage("option '--theta' is for '--dist zipf'");
	o->theta = zipf ? ZIPF_THETA : 0;
	return kr_args_double(args, "theta", &o->theta) ? KR_EXIT_SATISFIED : KR_EXIT_USAGE;
}

/* One of the words, as its number; without the option *out stays. */
static bool take_word(const struct kr_args *args, const char *name, enum kr_words_kind kind,
	const char *expected, size_t *out)
{
	const char *typed = kr_args_value(args, name);

	return !typed || kr_word_find(kind, typed, out) ||
		kr_refuse("option '--%s': found '%s', expected %s", name, typed, expected);
}

static int take_names(const struct kr_args *args, struct kr_generate_options *o)
{
	const char *store = kr_args_value(args, "store");
	size_t initial = o->initial; /* words are in the order of enum kr_initial */

	if (store && !kr_store_parse(store, &o->store))
		return kr_usage("option '--store': found '%s', expected %s", store, kr_store_names());
	if (!take_word(args, "initial", KR_WORDS_INITIAL, "absent, given, unknown or unwritten", &initial))
		return KR_EXIT_USAGE;
	o->initial = (enum kr_initial)initial;
	return !o->anomaly || kr_word_find(KR_WORDS_ANOMALY, o->anomaly, NULL)
		? KR_EXIT_SATISFIED
		: kr_unknown_word("anomaly", KR_WORDS_ANOMALY, o->anomaly, "krait gen --help");
}

static int take_options(const struct kr_args *args, struct kr_generate_options *o)
{
	kr_generate_defaults(o);
	if (!take_numbers(args, o))
		return KR_EXIT_USAGE;
	o->times = !kr_args_has(args, "no-times");
	o->op_times = kr_args_has(args, "op-times") || kr_args_has(args, "stream");
	o->serial = kr_args_has(args, "serial");
	o->keep_lists = kr_args_has(args, "keep-lists");
	o->anomaly = kr_args_value(args, "anomaly");
	int status = take_dist(args, o);
	return status == KR_EXIT_SATISFIED ? take_names(args, o) : status;
}

/* ---- the order of lines ---- */

enum lines { LINES_RUN, LINES_GROUPED, LINES_SHUFFLED };

static int take_lines(const struct kr_args *args, enum lines *out)
{
	size_t i = LINES_RUN;

	if (!take_word(args, "lines", KR_WORDS_LINES, "run, grouped or shuffled", &i))
		return KR_EXIT_USAGE;
	*out = (enum lines)i;
	if (*out != LINES_RUN && kr_args_has(args, "stream"))
		return kr_usage("option '--lines' is for transaction lines, not for '--stream'");
	return KR_EXIT_SATISFIED;
}

static void shuffle(uint32_t *session, uint32_t n, uint64_t seed)
{
	struct kr_rng rng;

	kr_rng_init(&rng, seed);
	for (; n > 1; n--) {
		uint32_t other = (uint32_t)kr_rng_below(&rng, n), kept = session[n - 1];

		session[n - 1] = session[other];
		session[other] = kept;
	}
}

/* Generated transactions all have a session. NULL: no memory. */
static kr_txn *make_order(const struct kr_history *h, struct kr_arena *arena, enum lines lines, uint64_t seed)
{
	uint32_t n = h->txns.n, *session = KR_NEW_ARRAY(arena, uint32_t, n),
		 *first = KR_NEW_ARRAY(arena, uint32_t, h->sessions.n + 2);
	kr_txn *grouped = KR_NEW_ARRAY(arena, kr_txn, n), *order = KR_NEW_ARRAY(arena, kr_txn, n);

	if (!session || !first || !grouped || !order)
		return NULL;
	for (uint32_t t = 0; t < n; t++) {
		session[t] = h->txns.at[t].session.i;
		first[session[t] + 2]++;
	}
	kr_index_places(first, h->sessions.n);
	for (uint32_t t = 0; t < n; t++)
		grouped[first[session[t] + 1]++] = (kr_txn){t};
	if (lines == LINES_GROUPED)
		return grouped;
	shuffle(session, n, seed);
	for (uint32_t i = 0; i < n; i++)
		order[i] = grouped[first[session[i]]++];
	return order;
}

/* ---- writing ---- */

static enum kr_status put(void *data, const char *text, size_t length, struct kr_err *err)
{
	const struct kr_str piece = {.at = (char *)text, .n = length}; /* only read */

	return kr_file_write(data, &piece) ? KR_OK : kr_err_set(err, KR_INTERNAL, "cannot write");
}

static enum kr_status write_lines(const struct kr_args *args, const struct kr_history *h, struct kr_ctx *ctx,
	enum lines lines, uint64_t seed, struct kr_file *file, struct kr_err *err)
{
	struct kr_arena arena;
	enum kr_status status = KR_NOMEM;

	if (kr_args_has(args, "stream"))
		return kr_native_write_stream(ctx, h, put, file, err);
	if (lines == LINES_RUN)
		return kr_native_write(ctx, h, put, file, err);
	kr_arena_init(&arena, &ctx->mem);
	kr_txn *order = make_order(h, &arena, lines, seed);
	if (order)
		status = kr_native_write_in_order(ctx, h, order, put, file, err);
	kr_arena_done(&arena);
	return status;
}

static int write_trace(const struct kr_args *args, const struct kr_history *h, struct kr_ctx *ctx,
	enum lines lines, uint64_t seed)
{
	const char *path = kr_args_value(args, "output");
	struct kr_file file;
	struct kr_err err;

	if (!kr_file_open(&file, args, path ? path : "-"))
		return KR_EXIT_FAILED;
	kr_err_init(&err);

	enum kr_status status = write_lines(args, h, ctx, lines, seed, &file, &err);

	if (status != KR_OK && status != KR_INTERNAL) /* a failed write has been told */
		kr_fail("%s", err.text[0] ? err.text : kr_status_text(status));
	if (status != KR_OK)
		kr_file_drop(&file);
	bool written = kr_file_close(&file);
	return status == KR_OK && written ? KR_EXIT_SATISFIED : KR_EXIT_FAILED;
}

static int run(const struct kr_args *args)
{
	struct kr_generate_options generate;
	struct kr_history history;
	struct kr_ctx ctx;
	struct kr_err err;
	enum lines lines;
	int exit = take_options(args, &generate);

	if (exit == KR_EXIT_SATISFIED)
		exit = take_lines(args, &lines);
	if (exit != KR_EXIT_SATISFIED)
		return exit;
	kr_err_init(&err);
	kr_ctx_init(&ctx, 0, 0);

	enum kr_status status = kr_generate(&ctx, &generate, &history, &err);

	if (status == KR_BAD)
		return kr_usage("%s", err.text);
	if (status != KR_OK)
		return kr_fail("%s", err.text[0] ? err.text : kr_status_text(status));
	exit = write_trace(args, &history, &ctx, lines, generate.seed);
	kr_history_done(&history);
	return exit;
}

const struct kr_command kr_command_gen = {
	.name = "gen",
	.synopsis = "[OPTION]...",
	.title = "write a random trace",
	.purpose = KR_TO_PREPARE,
	.text = "Simulates clients on a small multi-version store and records what they see, in\n"
		"the native format.",
	.options = options,
	.run = run,
};
