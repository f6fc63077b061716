/* Modules whose functions do what they must not, each in its own way: what `krait` has to survive, or at least to name. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <krait/graph.h>
#include <krait/reader.h>

#define SOURCE "made for tests"

/* ---- what any function can do ---- */

static int sink(volatile char *buffer, int depth)
{
	volatile char more[4096];

	more[0] = buffer[0];
	return depth < 0 ? 0 : sink(more, depth + 1) + more[0];
}

/* false: it is none of these */
static bool misbehave(const char *how, enum kr_status *status, struct kr_err *err)
{
	*status = KR_OK;
	if (strcmp(how, "segv") == 0)
		raise(SIGSEGV);
	else if (strcmp(how, "abort") == 0)
		abort();
	else if (strcmp(how, "fpe") == 0)
		raise(SIGFPE);
	else if (strcmp(how, "recurse") == 0)
		*status = (enum kr_status)sink("", 1);
	else if (strcmp(how, "loop") == 0)
		for (volatile int i = 0;; i++)
			i = 0;
	else if (strcmp(how, "silent") == 0)
		*status = KR_BAD;
	else if (strcmp(how, "status") == 0)
		*status = (enum kr_status)77;
	else if (strcmp(how, "told") == 0)
		krait_fail(err, KR_BAD, "something is wrong");
	else if (strcmp(how, "bad") == 0)
		*status = krait_fail(err, KR_BAD, "something is wrong");
	else
		return strcmp(how, "nothing") == 0;
	return true;
}

/* ---- passes ---- */

#define PASS(ID, HOW) \
	static enum kr_status run_##ID(struct kr_ir *ir, enum kr_change *change, struct kr_err *err) \
	{ \
		enum kr_status status; \
		(void)ir; \
		*change = KR_UNCHANGED; \
		misbehave(HOW, &status, err); \
		return status; \
	} \
	static const struct kr_pass pass_##ID = {.name = "wrong-" HOW, .title = "does what it must not", .source = SOURCE, .run = run_##ID};

PASS(segv, "segv")
PASS(abort, "abort")
PASS(fpe, "fpe")
PASS(recurse, "recurse")
PASS(loop, "loop")
PASS(silent, "silent")
PASS(status, "status")
PASS(told, "told")
PASS(bad, "bad")

static enum kr_status run_conflict(struct kr_ir *ir, enum kr_change *change, struct kr_err *err)
{
	(void)ir, (void)err;
	*change = KR_CONFLICT;
	return KR_OK;
}

static enum kr_status run_no_cycle(struct kr_ir *ir, enum kr_change *change, struct kr_err *err)
{
	*change = KR_CONFLICT;
	return krait_ir_conflict(ir, err);
}

static enum kr_status run_change(struct kr_ir *ir, enum kr_change *change, struct kr_err *err)
{
	(void)ir, (void)err;
	*change = (enum kr_change)9;
	return KR_OK;
}

static enum kr_status run_rule(struct kr_ir *ir, enum kr_change *change, struct kr_err *err)
{
	*change = KR_CHANGED;
	return krait_ir_add_edge(ir, KR_WW, (kr_txn){0}, (kr_txn){1}, KR_RULE_GIVEN, 0, err);
}

static enum kr_status run_txn(struct kr_ir *ir, enum kr_change *change, struct kr_err *err)
{
	*change = KR_CHANGED;
	return krait_ir_add_edge(ir, KR_WW, (kr_txn){0}, (kr_txn){1000000}, KR_RULE_WRITERS, 0, err);
}

static const struct kr_pass pass_conflict = {.name = "wrong-conflict", .title = "a conflict without a cycle", .source = SOURCE, .run = run_conflict};
static const struct kr_pass pass_no_cycle = {.name = "wrong-no-cycle", .title = "asks for a cycle that is not there", .source = SOURCE, .run = run_no_cycle};
static const struct kr_pass pass_change = {.name = "wrong-change", .title = "a change that there is not", .source = SOURCE, .run = run_change};
static const struct kr_pass pass_rule = {.name = "wrong-rule", .title = "an edge by a rule that is not for passes", .source = SOURCE, .run = run_rule};
static const struct kr_pass pass_txn = {.name = "wrong-txn", .title = "an edge to nowhere", .source = SOURCE, .run = run_txn};
static const struct kr_pass *const passes[] = {&pass_segv, &pass_abort, &pass_fpe, &pass_recurse, &pass_loop, &pass_silent, &pass_status, &pass_told,
	&pass_bad, &pass_conflict, &pass_no_cycle, &pass_change, &pass_rule, &pass_txn, NULL};

/* ---- back ends ---- */

#define BACKEND(ID, NAME) \
	static const struct kr_backend backend_##ID = {.name = NAME, .title = "does what it must not", .source = SOURCE, .solve = ID};

static enum kr_status mute(struct kr_ir *ir, struct kr_answer *out, struct kr_err *err)
{
	(void)ir, (void)out, (void)err;
	return KR_OK;
}

static enum kr_status no_reason(struct kr_ir *ir, struct kr_answer *out, struct kr_err *err)
{
	(void)ir, (void)err;
	krait_answer_unknown(out, NULL);
	return KR_OK;
}

static enum kr_status lines(struct kr_ir *ir, struct kr_answer *out, struct kr_err *err)
{
	(void)ir, (void)err;
	krait_answer_unknown(out, "one line\nand another one");
	return KR_OK;
}

static enum kr_status crash(struct kr_ir *ir, struct kr_answer *out, struct kr_err *err)
{
	enum kr_status status;

	(void)ir, (void)out;
	misbehave("segv", &status, err);
	return status;
}

static enum kr_status silent(struct kr_ir *ir, struct kr_answer *out, struct kr_err *err)
{
	(void)ir, (void)out, (void)err;
	return KR_INTERNAL;
}

static enum kr_status form(struct kr_ir *ir, struct kr_answer *out, struct kr_err *err)
{
	(void)err;
	return krait_answer_world(out, ir, (enum kr_world_form)7, NULL, 0);
}

static enum kr_status node(struct kr_ir *ir, struct kr_answer *out, struct kr_err *err)
{
	(void)err;
	return krait_answer_world(out, ir, KR_WORLD_SERIAL, &(kr_node){1000000}, 1);
}

static enum kr_status source(struct kr_ir *ir, struct kr_answer *out, struct kr_err *err)
{
	(void)err;
	return krait_answer_source(out, ir, (kr_obs){1000000}, (kr_version){0});
}

static enum kr_status link(struct kr_ir *ir, struct kr_answer *out, struct kr_err *err)
{
	struct kr_link links[] = {
		{KR_WW, {0}, {1}, {KR_NONE}, {KR_NONE}, {0}, KR_NONE},
		{KR_WW, {0}, {1}, {KR_NONE}, {KR_NONE}, {0}, KR_NONE},
	};

	return krait_answer_cycle(out, ir, links, 2, err);
}

static enum kr_status other(struct kr_ir *ir, struct kr_answer *out, struct kr_err *err) { return krait_solve_with("nobody", ir, out, err); }

BACKEND(mute, "wrong-mute")
BACKEND(no_reason, "wrong-no-reason")
BACKEND(lines, "wrong-lines")
BACKEND(crash, "wrong-crash")
BACKEND(silent, "wrong-quiet")
BACKEND(form, "wrong-form")
BACKEND(node, "wrong-node")
BACKEND(source, "wrong-source")
BACKEND(link, "wrong-link")
BACKEND(other, "wrong-other")
static const struct kr_backend *const backends[] = {&backend_mute, &backend_no_reason, &backend_lines, &backend_crash, &backend_silent, &backend_form, &backend_node,
	&backend_source, &backend_link, &backend_other, NULL};

/* ---- a format: a file that begins with "WRONG ", and how ---- */

static int sniff(const char *path, const char *head, size_t length)
{
	(void)path;
	if (length > 12 && memcmp(head, "WRONG sniff", 11) == 0)
		raise(SIGSEGV);
	if (length > 10 && memcmp(head, "WRONG sure", 10) == 0)
		return 1000;
	return length > 6 && memcmp(head, "WRONG ", 6) == 0 ? 90 : 0;
}

static enum kr_status read(struct kr_ctx *ctx, const char *path, struct kr_source *source, struct kr_history *h, struct kr_err *err)
{
	krait_builder *b;
	char *line;
	size_t length;
	enum kr_status status = krait_source_line(source, &line, &length, err);

	(void)path;
	if (status || !line)
		return status;
	if (misbehave(line + 6, &status, err))
		return status;
	status = krait_read_into(ctx, h, &b, err); /* "open": and never done */
	return status;
}

static const struct kr_format format = {.name = "wrong", .title = "does what it must not", .source = SOURCE, .sniff = sniff, .read = read};
static const struct kr_format *const formats[] = {&format, NULL};

KRAIT_EXPORT const struct kr_plugin krait_plugin = {
	.abi = KRAIT_PLUGIN_ABI, .name = "wrong", .version = "1.0", .formats = formats, .passes = passes, .backends = backends};
