/* Verdicts are those of `krait check`, which is run here as a command: its options pass through. On the way,
 * the library is asked. */
#include "lab/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/output.h"
#include "cli/program.h"
#include "krait/krait.h"
#include "lab/lab.h"
#include "lab/trace.h"

const char *kr_lab_asked(const struct kr_args *args, const struct kr_run *run, int *status)
{
	const char *asked = kr_args_value(args, "check");
	bool claim = asked && strcmp(asked, "claim") == 0, keeps = asked && strcmp(asked, "keeps") == 0;

	*status = KR_EXIT_SATISFIED;
	if (!claim && !keeps)
		return asked;
	if (!kr_run_one_level(run)) {
		*status = kr_usage("option '--check': found '%s', expected levels of krait, since %s are at "
				   "several levels",
			asked, run->share_count > 1 ? "clients" : "transactions");
		return NULL;
	}
	if (claim)
		return run->shares[0].level->claims;

	const char *known = kr_run_keeps(run, run->shares[0].level);

	if (!known)
		*status = kr_usage("option '--check': found 'keeps', expected levels of krait or claim: what "
				   "driver %s keeps on several nodes is not known",
			run->store.driver->name);
	return known;
}

static int run_command(const struct kr_args *args, const char *name, char *const *words, int n)
{
	char *argv[24] = {"krait", (char *)name}; /* only read */
	int argc = 2;

	for (int i = 0; i < n; i++)
		argv[argc++] = words[i];
	return kr_command_run(args->mem, kr_command_find(name), argc, argv);
}

static int check_levels(const struct kr_args *args, const struct kr_run *run, const char *levels)
{
	static const char *const flags[] = {"explain", "json", "quiet"},
				 *const values[] = {"html", "timeout"};
	static char *const spelled[] = {"--explain", "--json", "--quiet"},
			   *const named[] = {"--html", "--timeout"};
	char *words[16] = {"-l", (char *)levels};
	int n = 2;

	for (size_t i = 0; i < KR_COUNT(flags); i++)
		if (kr_args_has(args, flags[i]))
			words[n++] = spelled[i];
	for (size_t i = 0; i < KR_COUNT(values); i++)
		if (kr_args_has(args, values[i])) {
			words[n++] = named[i];
			words[n++] = (char *)kr_args_value(args, values[i]);
		}
	words[n++] = "--";
	words[n++] = (char *)run->path;
	return run_command(args, "check", words, n);
}

/* A profile is never satisfied, only not violated: that is what undecided means here. */
static int check_profile(const struct kr_args *args, const struct kr_run *run)
{
	char *words[8] = {"--profile", (char *)run->shares[0].level->profile};
	int n = 2, status;

	if (kr_args_has(args, "explain"))
		words[n++] = "--explain";
	if (kr_args_has(args, "json"))
		words[n++] = "--json";
	words[n++] = "--";
	words[n++] = (char *)run->path;
	status = run_command(args, "check", words, n);
	return status == KR_EXIT_UNDECIDED ? KR_EXIT_SATISFIED : status;
}

int kr_lab_check(const struct kr_args *args, const struct kr_run *run, const char *levels)
{
	int status = levels ? check_levels(args, run, levels) : KR_EXIT_SATISFIED;

	return kr_args_has(args, "profile") ? kr_exit_worst(status, check_profile(args, run)) : status;
}

/* ---- on the way ---- */

static bool is_violated(krait_history *history, const char *level, uint64_t lines)
{
	struct krait_error error;
	krait_verdict *verdict;

	if (krait_check(history, level, NULL, &(struct krait_options){.seconds = 10}, &verdict, &error) !=
		KRAIT_OK)
		return false;
	bool violated = krait_verdict_outcome(verdict) == KRAIT_VIOLATED;
	if (violated)
		kr_note("on the way, after %" PRIu64 " transactions: %s is violated: %s", lines,
			krait_verdict_level(verdict), krait_verdict_anomaly(verdict));
	krait_verdict_free(verdict);
	return violated;
}

static void shrink(const struct kr_args *args, const struct kr_run *run, const char *level,
	const char *prefix)
{
	char least[4200];
	char *words[] = {"-l", (char *)level, "--quiet", "--timeout", "20", "-o", least, "--",
		(char *)prefix};

	(void)snprintf(least, sizeof least, "%s.min.jsonl", run->path);
	if (run_command(args, "shrink", words, (int)KR_COUNT(words)) == KR_EXIT_SATISFIED)
		kr_note("the least part of it that still is: %s", least);
}

bool kr_lab_check_prefix(const struct kr_args *args, struct kr_run *run, const char *levels)
{
	char path[4200], list[512], *state = NULL;
	struct krait_error error;
	krait_history *history;
	uint64_t lines;
	bool violated = false;

	(void)snprintf(path, sizeof path, "%s/prefix", run->folder);
	(void)snprintf(list, sizeof list, "%s", levels);
	if (!kr_run_prefix(run, path, &lines) ||
		krait_history_read(path, "native", NULL, &history, &error) != KRAIT_OK) {
		kr_note("on the way: the prefix cannot be checked");
		return false;
	}
	for (char *level = strtok_r(list, ",", &state); level && !violated;
		level = strtok_r(NULL, ",", &state)) {
		violated = is_violated(history, level, lines);
		if (violated)
			shrink(args, run, level, path);
	}
	krait_history_free(history);
	(void)unlink(path);
	return violated;
}
