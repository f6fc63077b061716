/* krait verify: checks the proofs that `krait check --witness` wrote against the trace, with code that shares
 * nothing with the search but the reader. */
#include <jansson.h>
#include <string.h>

#include "checkers/checker.h"
#include "cli/output.h"
#include "cli/profile_option.h"
#include "cli/trace.h"
#include "mechanisms/claim.h"
#include "verify/verify.h"

static const struct kr_option options[] = {
	KR_OPTION_FORMAT,
	KR_OPTION_INITIAL,
	{"profile", 0, "ROW|FILE.json", KR_WORDS_PROFILE,
		"of findings about mechanisms; default: the row that they name"},
	{"json", 0, NULL, KR_WORDS_ANY, "one JSON object for each proof, one a line"},
	KR_OPTION_LENIENT,
	KR_OPTION_TIMEOUT,
	KR_OPTION_MEMORY,
	KR_OPTION_JOBS,
	KR_OPTION_QUIET,
	{0},
};

struct verifying {
	const struct kr_args *args;
	const char *witness; /* path */
	struct kr_trace trace;
	struct kr_profile_option profile;
	uint32_t line;  /* of the witness, from 1 */
	uint32_t lines; /* that are not blank */
	uint32_t spoke; /* lines that speak of the trace */
};

/* ---- reporting ---- */

static const char *const results[] =
	{[KR_EXIT_SATISFIED] = "confirmed", [KR_EXIT_VIOLATED] = "refuted", [KR_EXIT_UNDECIDED] = "unknown"};

/* What a line claims: a verdict about a level, or a violation of a profile. */
struct claimed {
	const char *level, *order, *profile;
	bool satisfied;
}; /* level or profile is NULL */

static int say(const struct verifying *v, struct claimed claimed, int exit, const char *why)
{
	struct kr_str out;

	kr_str_init(&out, v->args->mem);
	if (kr_args_has(v->args, "json")) {
		kr_str_add(&out, "{");
		kr_str_member(&out, "trace", v->trace.path);
		if (claimed.profile) {
			kr_str_member(&out, "profile", claimed.profile);
		} else {
			kr_str_member(&out, "level", claimed.level);
			kr_str_member(&out, "order", claimed.order);
		}
		kr_str_member(&out, "verdict", claimed.satisfied ? "satisfied" : "violated");
		kr_str_member(&out, "result", results[exit]);
		if (exit != KR_EXIT_SATISFIED)
			kr_str_member(&out, "why", why);
		kr_notes_json(&v->trace.notes, ", ", &out);
		kr_str_add(&out, "}\n");
	} else {
		kr_str_shown(&out, v->trace.path);
		kr_str_add(&out, "\t");
		kr_str_shown(&out, claimed.profile ? claimed.profile : claimed.level);
		kr_str_format(&out, "\t%s", results[exit]);
		if (exit != KR_EXIT_SATISFIED)
			kr_str_format(&out, "\t%s", why);
		kr_str_add(&out, "\n");
	}
	return kr_print_done(&out) ? exit : KR_EXIT_FAILED;
}

/* ---- one line of the witness ---- */

static int fail_at_line(struct verifying *v, struct kr_err *err, enum kr_status status)
{
	kr_err_set(err, status, "%s", kr_ctx_reason(&v->trace.ctx, status));
	kr_err_at(err, v->witness, v->line, 0);
	return kr_fail_err(err);
}

/* What the verifier's status says of the claim. */
static int judge(struct verifying *v, struct claimed claimed, enum kr_status status, struct kr_err *err)
{
	if (status == KR_OK || status == KR_BAD)
		return say(v, claimed, status == KR_OK ? KR_EXIT_SATISFIED : KR_EXIT_VIOLATED, err->text);
	return kr_is_limit(status) ? say(v, claimed, KR_EXIT_UNDECIDED, kr_ctx_reason(&v->trace.ctx, status))
				   : fail_at_line(v, err, status);
}

/* Does the line speak of the trace as it was named? A witness of one line does, whatever it says. */
static bool speaks_of(const struct verifying *v, const char *line, size_t length)
{
	json_t *root = v->lines == 1 ? NULL : json_loadb(line, length, JSON_DECODE_ANY, NULL);
	const char *name = json_string_value(json_object_get(root, "trace"));
	/* a malformed line is told when it is read */
	bool speaks = v->lines == 1 || !root || (name && strcmp(name, v->trace.path) == 0);

	json_decref(root);
	return speaks;
}

/* ---- findings about mechanisms ---- */

static enum kr_status find_profile(const struct verifying *v, const char *name, struct kr_claims *out,
	struct kr_err *err)
{
	*out = (struct kr_claims){v->profile.options.profile, v->profile.options.certify, NULL};
	if (out->profile)
		return KR_OK;
	out->profile = kr_profile_find(name);
	if (!out->profile)
		return kr_err_set(err, KR_BAD,
			"finding: unknown profile \"%.60s\": give its file with --profile", name);
	return kr_profile_level(v->args->modules, out->profile, &out->certify, err);
}

static int verify_finding(struct verifying *v, const char *line, size_t length)
{
	struct kr_ctx *ctx = &v->trace.ctx;
	struct kr_findings findings;
	struct kr_claims claims;
	struct kr_arena arena;
	struct kr_err err;
	const char *profile;
	uint32_t which;
	int exit;

	kr_err_init(&err);
	kr_arena_init(&arena, &ctx->mem);
	kr_findings_init(&findings, &ctx->mem);
	enum kr_status status = kr_finding_read(&v->trace.history, kr_declared_find, &arena, line, length,
		&profile, &findings, &err);
	if (!status)
		status = find_profile(v, profile, &claims, &err);
	if (status) {
		exit = fail_at_line(v, &err, status);
	} else {
		status = kr_verify_findings(ctx, &v->trace.history, claims, &findings, &which, &err);
		exit = judge(v, (struct claimed){.profile = profile}, status, &err);
	}
	kr_findings_done(&findings);
	kr_arena_done(&arena);
	return exit;
}

static int verify_line(struct verifying *v, const char *line, size_t length)
{
	struct kr_ctx *ctx = &v->trace.ctx;
	struct kr_witness_head head;
	struct kr_certificate cert;
	struct kr_arena arena;
	struct kr_err err;
	int exit;

	if (!speaks_of(v, line, length))
		return KR_EXIT_SATISFIED;
	v->spoke++;
	if (kr_finding_is(line, length))
		return verify_finding(v, line, length);
	kr_err_init(&err);
	kr_arena_init(&arena, &ctx->mem);
	kr_certificate_init(&cert, &ctx->mem);

	enum kr_status status = kr_witness_read(&v->trace.history, &arena, line, length, &head, &cert, &err);

	cert.level = status ? NULL : kr_level_of_id(v->args->modules, head.level);
	if (status == KR_OK && !cert.level)
		status = kr_err_set(&err, KR_BAD,
			"witness: level: expected the id of a level, found \"%.80s\"; see 'krait levels'",
			head.level);
	if (status != KR_OK) {
		exit = fail_at_line(v, &err, status);
	} else {
		status = kr_verify(ctx, &v->trace.history, &cert, &err);
		kr_err_set(&err, status, "%s", kr_ctx_reason(&v->trace.ctx, status));
		exit = judge(v,
			(struct claimed){head.level, kr_order_name(head.order), NULL,
				cert.kind < KR_CERT_ANOMALY},
			status, &err);
	}
	kr_certificate_done(&cert);
	kr_arena_done(&arena);
	return exit;
}

/* ---- the witness ---- */

static bool is_blank(const char *line, size_t length)
{
	while (length > 0 && strchr(" \t\r", line[length - 1]))
		length--;
	return length == 0;
}

/* Visits the lines that are not blank; counts them when `verify` is false. */
static int each_line(struct verifying *v, const char *text, size_t length, bool verify)
{
	int exit = KR_EXIT_SATISFIED;

	v->line = 0;
	while (length > 0) {
		const char *end = memchr(text, '\n', length);
		size_t n = end ? (size_t)(end - text) : length;
		v->line++;
		if (!is_blank(text, n)) {
			v->lines += !verify;
			if (verify)
				exit = kr_exit_worst(exit, verify_line(v, text, n));
		}
		text += n + (end != NULL);
		length -= n + (end != NULL);
	}
	return exit;
}

static int verify_all(struct verifying *v, struct kr_source *source, struct kr_err *err)
{
	char *text;
	size_t length;
	enum kr_status status = kr_source_rest(source, &text, &length, err);

	v->line = 0;
	if (status != KR_OK)
		return fail_at_line(v, err, status);
	(void)each_line(v, text, length, false);
	if (v->lines == 0)
		return fail_at_line(v, err,
			kr_err_set(err, KR_BAD, "holds no witness, expected one JSON object a line"));

	int exit = each_line(v, text, length, true);

	v->line = 0;
	if (v->spoke == 0)
		return fail_at_line(v, err,
			kr_err_set(err, KR_BAD, "none of its %u lines has the trace \"%s\"", v->lines,
				v->trace.path));
	return exit;
}

static int verify_witness(struct verifying *v)
{
	struct kr_source *source;
	struct kr_err err;

	kr_err_init(&err);

	enum kr_status status = kr_source_open(&v->trace.ctx, v->witness, &source, &err);

	if (status != KR_OK)
		return fail_at_line(v, &err, status);

	int exit = verify_all(v, source, &err);

	kr_source_free(source);
	return exit;
}

static int run(const struct kr_args *args)
{
	struct verifying v = {.args = args, .witness = args->operands.at[1]};
	struct kr_trace_options trace_options;
	struct kr_err err;

	if (!kr_trace_options(args, &trace_options))
		return KR_EXIT_USAGE;
	int exit = kr_profile_asked(args, &v.profile);
	if (exit != KR_EXIT_SATISFIED) {
		kr_profile_option_done(&v.profile);
		return exit;
	}
	kr_err_init(&err);

	enum kr_status status = kr_trace_read(&v.trace, args->operands.at[0], &trace_options, &err);

	exit = status ? kr_trace_fail(&v.trace, status, &err) : verify_witness(&v);
	kr_trace_done(&v.trace);
	kr_profile_option_done(&v.profile);
	return exit;
}

const struct kr_command kr_command_verify = {
	.name = "verify",
	.synopsis = "[OPTION]... TRACE WITNESS",
	.title = "check a proof of 'krait check --witness' against its trace",
	.purpose = KR_TO_DOUBT,
	.text = "Prints a line for each proof: the trace, the level's id, and 'confirmed' or\n"
		"'refuted', with tabs between them; behind 'refuted' the step that fails. Lines\n"
		"of the witness that speak of other traces are passed over; a witness of one\n"
		"line is taken to speak of TRACE. Findings of 'check --profile' are proofs, too:\n"
		"their line has the profile's name in place of the level's.",
	.options = options,
	.operands = KR_WORDS_FILE,
	.least = 2,
	.most = 2,
	.decides = true,
	.run = run,
};
