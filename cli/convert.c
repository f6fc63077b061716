/* krait convert: a trace in another format. */
#include "cli/file.h"
#include "cli/output.h"
#include "cli/trace.h"
#include "frontend/write.h"

static const struct kr_option options[] = {
	KR_OPTION_FORMAT,
	KR_OPTION_INITIAL,
	{"to", 't', "FORMAT", KR_WORDS_TARGET,
		"output format: native, stream (native, a line for each event), elle, elle-json, plume, "
		"dbcop-json; default: native"},
	{"lossy", 0, NULL, KR_WORDS_ANY, "write even if the format cannot hold everything"},
	{"output", 'o', "FILE", KR_WORDS_WRITTEN, "write there instead of on standard output"},
	KR_OPTION_LENIENT,
	KR_OPTION_TIMEOUT,
	KR_OPTION_MEMORY,
	KR_OPTION_JOBS,
	KR_OPTION_QUIET,
	{0},
};

/* A line for each thing that is lost; whether that is allowed. */
static bool tell_losses(const struct kr_args *args, const char *path, const struct kr_target *target,
	uint32_t losses)
{
	bool lossy = kr_args_has(args, "lossy");

	for (int i = 0; i < KR_LOSSES; i++)
		if (losses >> i & 1 && !(lossy && kr_args_has(args, "quiet")))
			kr_note("%s: %s cannot hold %s", path, target->name, kr_loss_text((enum kr_loss)i));
	return losses == 0 || lossy;
}

struct converting {
	const struct kr_args *args;
	const struct kr_target *target;
	struct kr_trace_options trace_options;
};

static enum kr_status convert(const struct converting *c, struct kr_trace *t, struct kr_str *out,
	struct kr_err *err)
{
	uint32_t losses = 0;

	KR_TRY(kr_trace_read(t, t->path, &c->trace_options, err));
	KR_TRY(kr_target_losses(&t->ctx, &t->history, c->target, &losses));
	kr_trace_clear(t);
	if (!tell_losses(c->args, t->path, c->target, losses))
		return kr_err_set(err, KR_UNSUPPORTED,
			"nothing was written, since it would not be the whole trace (see --lossy)");
	return kr_target_write(&t->ctx, &t->history, c->target, losses, out, err);
}

static int run(const struct kr_args *args)
{
	struct kr_trace t = {.path = args->operands.at[0]};
	const char *to = kr_args_value(args, "to"),
		   *output = args->operands.n > 1 ? args->operands.at[1] : kr_args_value(args, "output");
	struct converting c = {.args = args, .target = kr_target_find(to ? to : "native")};
	struct kr_str out;
	struct kr_err err;
	int exit = KR_EXIT_SATISFIED;

	if (!c.target)
		return kr_usage("option '--to': unknown format '%s', expected %s", to, kr_target_names());
	if (args->operands.n > 1 && kr_args_has(args, "output"))
		return kr_usage("option '--output': '%s' is the output already", args->operands.at[1]);
	if (!kr_trace_options(args, &c.trace_options))
		return KR_EXIT_USAGE;
	kr_str_init(&out, args->mem);
	kr_err_init(&err);

	enum kr_status status = convert(&c, &t, &out, &err);

	kr_trace_clear(&t);
	if (status != KR_OK)
		exit = kr_trace_fail(&t, status, &err);
	else if (!kr_file_save(args, output, &out))
		exit = KR_EXIT_FAILED;
	kr_trace_done(&t);
	kr_str_done(&out);
	return exit;
}

const struct kr_command kr_command_convert = {
	.name = "convert",
	.synopsis = "[OPTION]... TRACE [OUTPUT]",
	.title = "write a trace in another format",
	.purpose = KR_TO_PREPARE,
	.text = "What the other format cannot hold is told, a line each; then nothing is\nwritten, unless "
		"--lossy is given.",
	.options = options,
	.operands = KR_WORDS_FILE,
	.least = 1,
	.most = 2,
	.written = 1,
	.run = run,
};
