/* krait check: decides whether traces satisfy isolation levels. */
#include <string.h>

#include "cli/check_profile.h"
#include "cli/check_run.h"
#include "cli/manual.h"
#include "cli/output.h"
#include "cli/page_file.h"
#include "cli/stream_run.h"

static const struct kr_option options[] = {
	KR_OPTION_LEVEL,
	KR_OPTION_CHECKER,
	KR_OPTION_FORMAT,
	KR_OPTION_INITIAL,
	KR_OPTION_ORDER,
	KR_OPTION_PROFILE,
	KR_OPTION_NO_SESSION,
	{"stream", 0, NULL, KR_WORDS_ANY, "with a profile: as 'krait watch', in bounded memory"},
	KR_OPTION_LATENESS,
	KR_OPTION_STALE,
	KR_OPTION_TOLD,
	KR_OPTION_TRACE_DISPATCH,
	{"json", 0, NULL, KR_WORDS_ANY, "one JSON object for each trace and level, one a line"},
	{"output", 0, "text|json|junit|sarif", KR_WORDS_OUTPUT,
		"lines, JSON lines, or one document for CI systems"},
	{"explain", 'e', NULL, KR_WORDS_ANY, "the verdict in words: each edge, and why it must hold"},
	{"dot", 0, "FILE", KR_WORDS_WRITTEN, "write the anomalies as DOT graphs"},
	KR_OPTION_HTML("write the verdicts, or what was found, as a page for a browser"),
	{"witness", 'w', "FILE", KR_WORDS_WRITTEN, "write the proofs, for 'krait verify'"},
	KR_OPTION_TIMEOUT,
	KR_OPTION_MEMORY,
	{"stats", 0, NULL, KR_WORDS_ANY, "sizes, what each pass did, times, memory"},
	{"backend", 0, "BACKEND", KR_WORDS_BACKEND, "back end to ask instead of the checker's"},
	KR_OPTION_PASSES,
	{"dump-after", 0, "PASS", KR_WORDS_PASS,
		"print the IR after a pass, or after 'all', on standard error"},
	KR_OPTION_JOBS,
	KR_OPTION_LENIENT,
	KR_OPTION_REQUIRE,
	KR_OPTION_QUIET,
	{0},
};

static int take_backend(const struct kr_args *args, struct kr_check_run *run)
{
	struct kr_guess guess = {.typed = kr_args_value(args, "backend")};

	run->backend = guess.typed;
	if (!run->backend)
		return KR_EXIT_SATISFIED;
	const struct kr_backend *backend = kr_backend_find(args->modules, run->backend);
	if (backend && backend->solve)
		return KR_EXIT_SATISFIED;
	if (backend)
		return kr_usage("back end '%s' only writes; 'krait dump' uses it", run->backend);
	for (size_t i = 0; (backend = kr_backend_at(args->modules, i)) != NULL; i++)
		kr_guess_try(&guess, backend->name);
	return kr_unknown("back end", &guess, "krait backends");
}

static int take_dump(const struct kr_args *args, struct kr_check_run *run)
{
	struct kr_guess guess = {.typed = kr_args_value(args, "dump-after")};
	const struct kr_pass *pass;

	run->dump_after = guess.typed;
	if (!run->dump_after || strcmp(run->dump_after, "all") == 0 ||
		kr_pass_find(args->modules, run->dump_after))
		return KR_EXIT_SATISFIED;
	for (size_t i = 0; (pass = kr_pass_at(args->modules, i)) != NULL; i++)
		kr_guess_try(&guess, pass->name);
	return kr_unknown("pass", &guess, "krait passes");
}

/* --output, of which --json is a short form. */
static int take_output(const struct kr_args *args, struct kr_check_run *run)
{
	static const struct kr_document_format *const documents[] = {&kr_document_junit, &kr_document_sarif};
	const char *name = kr_args_value(args, "output");

	kr_document_init(&run->document, args->mem);
	run->json = kr_args_has(args, "json");
	if (!name)
		return KR_EXIT_SATISFIED;
	if (!kr_word_find(KR_WORDS_OUTPUT, name, NULL))
		return kr_unknown_word("output", KR_WORDS_OUTPUT, name, "krait check --help");
	if (run->json && strcmp(name, "json") != 0)
		return kr_usage("option '--json' and '--output %s' exclude each other", name);
	run->json |= strcmp(name, "json") == 0;
	for (size_t i = 0; i < KR_COUNT(documents); i++)
		if (strcmp(name, documents[i]->name) == 0)
			run->output = documents[i];
	if (run->output && kr_args_has(args, "stats"))
		return kr_usage("option '--stats' is for text and JSON; '%s' has no place for it", name);
	return KR_EXIT_SATISFIED;
}

/* The options that are not files. */
static int take_options(const struct kr_args *args, struct kr_check_run *run)
{
	run->args = args;
	run->explain = kr_args_has(args, "explain");
	run->stats = kr_args_has(args, "stats");
	if (kr_page_asked(args) || take_output(args, run) || !kr_trace_options(args, &run->trace_options) ||
		take_backend(args, run) || take_dump(args, run) || !kr_passes_asked(args, &run->passes))
		return KR_EXIT_USAGE;
	int status = kr_levels_asked(args, &run->asked);
	run->all = kr_levels_all_asked(args);
	run->colour = kr_terminal(stdout, run->trace_options.quiet);
	return status;
}

/* The document's beginning or end. */
static bool write_document(struct kr_check_run *run, bool begin)
{
	struct kr_str out;

	if (!run->output || run->stop)
		return true;
	kr_str_init(&out, run->args->mem);
	if (begin) {
		struct kr_question *asked = kr_mem_alloc(run->args->mem, run->asked.n, sizeof *asked);

		for (uint32_t i = 0; asked && i < run->asked.n; i++)
			asked[i] = (struct kr_question){run->asked.at[i].level, run->asked.at[i].order};
		if (asked)
			run->output->begin(asked, run->asked.n, &out);
		out.failed |= !asked;
		kr_mem_free(run->args->mem, asked, run->asked.n, sizeof *asked);
	} else {
		run->output->end(&run->document, &out);
	}
	return kr_print_done(&out);
}

static int check_all(const struct kr_args *args, struct kr_check_run *run)
{
	int status = KR_EXIT_SATISFIED;

	kr_page_frame(args, &run->html, true);
	if (!write_document(run, true))
		return KR_EXIT_FAILED;
	for (uint32_t i = 0; i < args->operands.n && !run->stop; i++)
		status = kr_exit_worst(status, kr_check_trace(run, args->operands.at[i]));
	if (!run->stop)
		kr_page_frame(args, &run->html, false);
	return write_document(run, false) ? status : KR_EXIT_FAILED;
}

/* Verdicts are given whatever becomes of the files. */
static int check_with_files(const struct kr_args *args, struct kr_check_run *run)
{
	const struct {
		const char *option;
		struct kr_file *file;
	} files[] = {{"dot", &run->dot}, {"html", &run->html}, {"witness", &run->witness}};

	for (size_t i = 0; i < KR_COUNT(files); i++)
		/* closing it tells */
		(void)kr_file_open(files[i].file, args, kr_args_value(args, files[i].option));
	int status = check_all(args, run);
	for (size_t i = 0; i < KR_COUNT(files); i++) {
		if (run->stop)
			kr_file_drop(files[i].file);
		else if (!kr_file_close(files[i].file))
			status = kr_exit_worst(status, KR_EXIT_FAILED);
	}
	return status;
}

static int run_check(const struct kr_args *args)
{
	struct kr_check_run run = {0};

	if (kr_check_profile_asked(args))
		return kr_check_profile(args);

	int status = take_options(args, &run);

	if (status == KR_EXIT_SATISFIED)
		status = check_with_files(args, &run);
	kr_document_done(&run.document);
	kr_vec_done(args->mem, &run.asked);
	return status;
}

const struct kr_command kr_command_check = {
	.name = "check",
	.synopsis = "[OPTION]... TRACE...",
	.title = "decide whether traces satisfy isolation levels",
	.text = "Prints a line for each trace and level: the trace, the level's id, and\n"
		"'satisfied', 'violated' or 'unknown', with tabs between them; behind 'violated'\n"
		"the anomaly's name. '-' is standard input. Every verdict's proof has been\n"
		"checked before it is printed. With --profile the line has the profile's name in\n"
		"place of a level's, and what was found behind 'violated'; it is never\n"
		"'satisfied'.",
	.options = options,
	.operands = KR_WORDS_FILE,
	.least = 1,
	.most = UINT32_MAX,
	.decides = true,
	.run = run_check,
};
