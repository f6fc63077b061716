/* The options of `krait-lab record`: the table, and what it makes of them. Everything is bounded. */
#include "lab/record_options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checkers/checker.h"
#include "cli/output.h"
#include "lab/check.h"
#include "lab/lab.h"
#include "lab/open.h"

enum { TXNS_MOST = 10000000, DURATION_MOST = 3600 };
#define SECOND INT64_C(1000000000)

const struct kr_option kr_record_option_table[] = {
	{"driver", 'd', "DRIVER", KR_WORDS_ANY,
		"the database, as 'krait-lab drivers' has it: NAME or NAME:PARAMETER=VALUE"},
	{"connect", 0, "STRING", KR_WORDS_ANY, "where it is; default: a private one"},
	{"remote", 0, NULL, KR_WORDS_ANY, "it may be on another machine; then without faults"},
	{"level", 'l', "LEVEL", KR_WORDS_ANY, "the database's level; default: its strictest"},
	{"client-levels", 0, "LEVEL:N,...", KR_WORDS_ANY,
		"clients at several levels, in place of --level and --clients"},
	{"workload", 'w', "NAME[:PARAMETER=N,...]", KR_WORDS_ANY,
		"see 'krait-lab workloads'; or FILE.sql; default: registers"},
	{"output", 'o', "TRACE", KR_WORDS_WRITTEN, "default: krait-lab.jsonl"},
	{"clients", 0, "N", KR_WORDS_ANY, "sessions at the same time, at most 1000; default: 8"},
	{"txns", 0, "N", KR_WORDS_ANY, "transactions of each; default: 250"},
	{"duration", 0, "SECONDS", KR_WORDS_ANY,
		"the earlier of this and --txns ends it, at most 3600; default: 60"},
	{"rate", 0, "N", KR_WORDS_ANY, "transactions a second, of all clients; default: as many as come"},
	{"think", 0, "MICROSECONDS", KR_WORDS_ANY, "most time between operations; default: 300"},
	{"seed", 0, "N", KR_WORDS_ANY, "of the plans; how they interleave is up to the machine; default: 1"},
	{"nodes", 0, "N|ADDRESS,...", KR_WORDS_ANY,
		"a private cluster of so many servers, or further addresses of that of --connect"},
	{"spread", 0, "clients|transactions", KR_WORDS_ANY,
		"what goes to any node; a client of one node is a session; default: clients"},
	{"check", 0, "LEVEL,...|claim|keeps", KR_WORDS_LEVEL,
		"check at the end: levels, or those that the database's level claims or keeps"},
	{"check-every", 0, "SECONDS", KR_WORDS_ANY,
		"check on the way, too; a violation ends the recording and is shrunk"},
	{"keep-going", 0, NULL, KR_WORDS_ANY, "a violation on the way does not end it"},
	{"profile", 0, NULL, KR_WORDS_ANY,
		"hold the trace to the mechanisms of the level, as 'krait check --profile'"},
	{"certificate", 0, "auto|none", KR_WORDS_ANY, "ask the database for its order; default: auto"},
	{"lost", 0, "PERCENT", KR_WORDS_ANY, "commits whose answer is lost; default: 0"},
	{"faults", 0, "KIND@TIME[,every=T][,for=T],...", KR_WORDS_ANY, "see 'krait-lab faults'"},
	{"fsync", 0, "SECONDS", KR_WORDS_ANY,
		"sync to disk so often: more than that is not lost if the machine fails"},
	{"stall", 0, "SECONDS", KR_WORDS_ANY, "end a recording in which nothing comes back; default: 60"},
	{"html", 0, "FILE", KR_WORDS_WRITTEN, "with --check: as of 'krait check'"},
	{"explain", 'e', NULL, KR_WORDS_ANY, "with --check: the verdict in words"},
	{"json", 0, NULL, KR_WORDS_ANY, "with --check: as JSON"},
	{"timeout", 0, "SECONDS", KR_WORDS_ANY, "with --check: limit of time"},
	{"quiet", 'q', NULL, KR_WORDS_ANY, "no progress"},
	{0},
};

/* ---- levels ---- */

static int take_shares(const struct kr_args *args, struct kr_run *run, const struct kl_driver *driver)
{
	char list[256], *state = NULL;

	run->clients = 0;
	(void)snprintf(list, sizeof list, "%s", kr_args_value(args, "client-levels"));
	if (kr_args_has(args, "level") || kr_args_has(args, "clients"))
		return kr_usage("option '--client-levels' stands in place of '--level' and '--clients'");
	for (char *word = strtok_r(list, ",", &state); word; word = strtok_r(NULL, ",", &state)) {
		char *colon = strchr(word, ':'), *end = NULL;
		unsigned long n = colon ? strtoul(colon + 1, &end, 10) : 0;
		struct kr_share *share = &run->shares[run->share_count];

		if (!colon || *end || n < 1 || n > KR_CLIENTS_MOST || run->share_count == KR_SHARES_MOST)
			return kr_usage("option '--client-levels': found '%s', expected LEVEL:N,..., at most "
					"%d of them",
				word, KR_SHARES_MOST);
		*colon = '\0';
		share->level = kr_driver_level(driver, word);
		if (!share->level)
			return kr_driver_no_level(driver, word);
		share->clients = (uint32_t)n;
		run->clients += share->clients;
		run->share_count++;
	}
	if (run->clients < 1 || run->clients > KR_CLIENTS_MOST)
		return kr_usage("option '--client-levels': found %" PRIu32 " clients, expected 1 to %d",
			run->clients, KR_CLIENTS_MOST);
	return KR_EXIT_SATISFIED;
}

static int take_levels(const struct kr_args *args, struct kr_run *run)
{
	const struct kl_driver *driver = run->store.driver;
	const char *name = kr_args_value(args, "level");
	int status = KR_EXIT_SATISFIED;

	if (kr_args_has(args, "client-levels")) {
		status = take_shares(args, run, driver);
	} else {
		run->shares[0] = (struct kr_share){name ? kr_driver_level(driver, name) : driver->levels,
			run->clients};
		run->share_count = 1;
		if (!run->shares[0].level)
			return kr_driver_no_level(driver, name);
	}
	/* strictest first */
	for (const struct kl_level *l = driver->levels; l->name && !run->store.level; l++)
		for (uint32_t i = 0; i < run->share_count; i++)
			run->store.level = run->shares[i].level == l ? l : run->store.level;
	return status;
}

/* ---- faults ---- */

static bool parse_time(const char *text, int64_t *out)
{
	char *end;
	double value = strtod(text, &end);
	double unit = strcmp(end, "ms") == 0 ? 1e6 : strcmp(end, "s") == 0 ? 1e9 : 0;

	*out = (int64_t)(value * unit);
	return end != text && unit > 0 && value > 0 && value <= DURATION_MOST * 1000;
}

static const struct kr_fault *find_fault(const char *name)
{
	for (size_t i = 0; i < kr_fault_registry_count; i++)
		if (strcmp(kr_fault_registry[i]->name, name) == 0)
			return kr_fault_registry[i];
	return NULL;
}

/* "KIND@TIME", "every=TIME" or "for=TIME". */
static bool take_word(struct kr_run *run, char *word)
{
	char *at = strchr(word, '@');
	struct kr_planned *last = run->planned_n > 0 ? &run->planned[run->planned_n - 1] : NULL;

	if (last && strncmp(word, "every=", 6) == 0)
		return parse_time(word + 6, &last->every);
	if (last && strncmp(word, "for=", 4) == 0)
		return parse_time(word + 4, &last->lasts);
	if (!at || run->planned_n == KR_PLANNED_MOST)
		return false;
	*at = '\0';
	last = &run->planned[run->planned_n++];
	last->fault = find_fault(word);
	return last->fault && parse_time(at + 1, &last->at);
}

static int take_faults(const struct kr_args *args, struct kr_run *run)
{
	const char *text = kr_args_value(args, "faults");
	char list[512], *state = NULL;

	if (!text)
		return KR_EXIT_SATISFIED;
	if (run->store.remote)
		return kr_usage("options '--remote' and '--faults' exclude each other");
	(void)snprintf(list, sizeof list, "%s", text);
	for (char *word = strtok_r(list, ",", &state); word; word = strtok_r(NULL, ",", &state))
		if (!take_word(run, word))
			return kr_usage("option '--faults': found '%s', expected KIND@TIME, every=TIME or "
					"for=TIME; see 'krait-lab faults'",
				word);
	for (uint32_t i = 0; i < run->planned_n; i++)
		if (!run->planned[i].fault->possible(&run->store))
			return kr_usage("fault %s needs %s", run->planned[i].fault->name,
				run->planned[i].fault->lacking);
	return KR_EXIT_SATISFIED;
}

/* ---- the rest ---- */

static bool take_count(const struct kr_args *args, const char *name, uint64_t most, uint64_t *out)
{
	if (!kr_args_integer(args, name, most, out))
		return false;
	if (*out > 0)
		return true;
	kr_usage("option '--%s': found 0, expected 1 to %" PRIu64, name, most);
	return false;
}

static int take_numbers(const struct kr_args *args, struct kr_run *run, struct kr_record_options *out)
{
	uint64_t clients = 8, think = 300;
	double lost = 0;

	run->txns = 250;
	run->seed = 1;
	run->duration = out->stall = 60 * SECOND;
	out->check_every = 0;
	if (!take_count(args, "clients", KR_CLIENTS_MOST, &clients) ||
		!take_count(args, "txns", TXNS_MOST, &run->txns) ||
		!kr_args_integer(args, "think", 10000000, &think) ||
		!kr_args_integer(args, "seed", UINT32_MAX, &run->seed) ||
		!kr_args_time(args, "duration", SECOND, DURATION_MOST, &run->duration) ||
		!kr_args_time(args, "stall", SECOND, DURATION_MOST, &out->stall) ||
		!kr_args_time(args, "fsync", SECOND, DURATION_MOST, &run->fsync) ||
		!kr_args_time(args, "check-every", SECOND, DURATION_MOST, &out->check_every) ||
		!kr_args_double(args, "rate", &run->rate))
		return KR_EXIT_USAGE;
	if (kr_args_has(args, "lost") && strcmp(kr_args_value(args, "lost"), "0") != 0 &&
		!kr_args_double(args, "lost", &lost))
		return KR_EXIT_USAGE;
	if (lost > 100)
		return kr_usage("option '--lost': found %g, expected at most 100", lost);
	if (kr_args_has(args, "duration") && !kr_args_has(args, "txns"))
		run->txns = TXNS_MOST / clients;
	if (run->txns > TXNS_MOST / clients)
		return kr_usage("found %" PRIu64 " transactions of %" PRIu64
				" clients, expected at most %d together",
			run->txns, clients, TXNS_MOST);
	run->clients = (uint32_t)clients;
	run->think = (uint32_t)think;
	run->lost = lost;
	return KR_EXIT_SATISFIED;
}

/* No certificate: drivers know it of their own tables. With an order, each transaction runs once, by a client
 * of its own. */
static int take_script(const struct kr_args *args, struct kr_run *run)
{
	const struct kr_script *script = run->work.script;

	run->store.certificate = false;
	for (uint32_t i = 0; i < script->txns_n; i++) {
		if (!script->txns[i].level[0])
			continue;
		run->txn_levels[i] = kr_driver_level(run->store.driver, script->txns[i].level);
		if (!run->txn_levels[i])
			return kr_driver_no_level(run->store.driver, script->txns[i].level);
		if (run->txn_levels[i] < run->store.level)
			run->store.level = run->txn_levels[i];
	}
	if (script->untold > 0)
		kr_note("%s: %" PRIu32
			" statements that read mean nothing to the trace: a verdict speaks of the "
			"others only",
			kr_args_value(args, "workload"), script->untold);
	if (script->turns_n == 0)
		return KR_EXIT_SATISFIED;
	if (run->share_count == 1)
		run->shares[0].clients = script->txns_n;
	run->clients = script->txns_n;
	run->txns = 1;
	run->think = 0;
	return KR_EXIT_SATISFIED;
}

static int take_workload(const struct kr_args *args, struct kr_run *run)
{
	const char *text = kr_args_value(args, "workload");
	char why[256];

	if (!kr_job_parse(text ? text : "registers", &run->work, why))
		return kr_usage("%s", why);

	int status = run->work.script ? take_script(args, run) : KR_EXIT_SATISFIED;

	if (status != KR_EXIT_SATISFIED)
		return status;
	run->work.operations = run->store.driver->operations;
	for (uint32_t i = 0; i < run->share_count; i++)
		if (run->store.driver->lacks)
			run->work.operations &=
				~run->store.driver->lacks[run->shares[i].level - run->store.driver->levels];
	uint64_t missing = run->work.workload->needs & ~run->work.operations;
	if (missing)
		return kr_usage("workload %s needs operations that driver %s does not have, at this level",
			run->work.workload->name, run->store.driver->name);
	return kr_job_prepare(&run->work, args->mem, 0, run->clients, run->txns) ? KR_EXIT_SATISFIED
										 : kr_fail("out of memory");
}

/* Further addresses of a cluster of the user's. */
static int take_addresses(struct kr_run *run, const char *text, uint64_t *nodes)
{
	struct kl_store *store = &run->store;
	char *state = NULL;

	if (!store->driver->connect_to)
		return kr_usage("option '--nodes': driver %s has no further addresses: it is not on a "
				"network",
			store->driver->name);
	if (!store->connect)
		return kr_usage("option '--nodes': found '%s', expected a number, or the first address with "
				"'--connect'",
			text);
	if (snprintf(run->addresses, sizeof run->addresses, "%s", text) >= (int)sizeof run->addresses)
		return kr_usage("option '--nodes': found %zu bytes, expected at most %zu", strlen(text),
			sizeof run->addresses - 1);
	for (char *word = strtok_r(run->addresses, ",", &state); word; word = strtok_r(NULL, ",", &state)) {
		if (*nodes == KL_NODES_MOST)
			return kr_usage("option '--nodes': expected at most %d further addresses",
				KL_NODES_MOST - 1);
		store->further[(*nodes)++] = word;
	}
	return *nodes > 1 ? KR_EXIT_SATISFIED
			  : kr_usage("option '--nodes': found '%s', expected ADDRESS,...", text);
}

/* A number is that of the servers of a private one. */
static int take_cluster(const struct kr_args *args, struct kr_run *run, uint64_t *nodes)
{
	const char *text = kr_args_value(args, "nodes");

	if (text && text[strspn(text, "0123456789")] != '\0')
		return take_addresses(run, text, nodes);
	if (!take_count(args, "nodes", KL_NODES_MOST, nodes))
		return KR_EXIT_USAGE;
	if (*nodes == 1)
		return KR_EXIT_SATISFIED;
	if (run->store.connect)
		return kr_usage("option '--nodes': found '%s', expected further addresses with '--connect'",
			text);
	return run->store.driver->cluster_keeps
		? KR_EXIT_SATISFIED
		: kr_usage("option '--nodes': driver %s has no private cluster", run->store.driver->name);
}

static int take_nodes(const struct kr_args *args, struct kr_run *run)
{
	const char *spread = kr_args_value(args, "spread");
	uint64_t nodes = 1;
	int status = take_cluster(args, run, &nodes);

	if (status != KR_EXIT_SATISFIED)
		return status;
	if (spread && strcmp(spread, "clients") != 0 && strcmp(spread, "transactions") != 0)
		return kr_usage("option '--spread': found '%s', expected clients or transactions", spread);
	if (spread && nodes == 1)
		return kr_usage("option '--spread' goes with '--nodes'");
	run->store.nodes = (uint32_t)nodes;
	run->spread = spread && strcmp(spread, "transactions") == 0;
	return KR_EXIT_SATISFIED;
}

static int take_store(const struct kr_args *args, struct kr_run *run)
{
	const char *certificate = kr_args_value(args, "certificate"), *name = kr_args_value(args, "driver");
	bool lacking;

	if (!name)
		return kr_usage("expected '--driver DRIVER'; see 'krait-lab drivers'");
	if (certificate && strcmp(certificate, "auto") != 0 && strcmp(certificate, "none") != 0)
		return kr_usage("option '--certificate': found '%s', expected auto or none", certificate);
	run->store.driver = kr_driver_open(args->mem, name, &lacking);
	if (!run->store.driver)
		return lacking ? KR_EXIT_LACKING : KR_EXIT_USAGE;
	run->store.connect = kr_args_value(args, "connect");
	run->store.remote = kr_args_has(args, "remote");
	run->store.certificate = !certificate || strcmp(certificate, "auto") == 0;
	run->store.seed = run->seed;
	return take_nodes(args, run);
}

/* Words that are levels; "claim" and "keeps" were replaced by them. */
static int check_names(const struct kr_args *args, const char *levels)
{
	char list[512], *state = NULL, near[128];
	enum kr_order order;

	(void)snprintf(list, sizeof list, "%s", levels);
	for (char *word = strtok_r(list, ",", &state); word; word = strtok_r(NULL, ",", &state)) {
		struct kr_guess guess = {.typed = word};

		if (strcmp(word, "all") == 0 || kr_level_find(args->modules, word, &order))
			continue;
		for (size_t i = 0; kr_level_at(args->modules, i); i++)
			kr_guess_try(&guess, kr_level_at(args->modules, i)->id);
		return kr_usage("option '--check': unknown level '%s'%s", word,
			kr_guess_text(&guess, "krait levels", near));
	}
	return KR_EXIT_SATISFIED;
}

static int take_question(const struct kr_args *args, const struct kr_run *run, struct kr_record_options *out)
{
	static const char *const for_check[] = {"check-every", "html", "timeout"};
	int status;

	out->levels = kr_lab_asked(args, run, &status);
	if (status == KR_EXIT_SATISFIED && out->levels)
		status = check_names(args, out->levels);
	if (status != KR_EXIT_SATISFIED)
		return status;
	for (size_t i = 0; i < KR_COUNT(for_check); i++)
		if (!out->levels && kr_args_has(args, for_check[i]))
			return kr_usage("option '--%s' goes with '--check'", for_check[i]);
	if (kr_args_has(args, "profile") && (!kr_run_one_level(run) || !run->shares[0].level->profile))
		return kr_usage("option '--profile': there is none for this level; see 'krait-lab drivers'");
	if (run->store.nodes > 1 && kr_args_has(args, "profile"))
		return kr_usage("option '--profile': there is none for a cluster");
	if (run->lost > 0 && !run->store.driver->hang_up)
		return kr_usage("option '--lost': driver %s has no connection that can be lost",
			run->store.driver->name);
	return KR_EXIT_SATISFIED;
}

int kr_record_options(const struct kr_args *args, struct kr_run *run, struct kr_record_options *out)
{
	int status = take_numbers(args, run, out);

	run->path = kr_args_value(args, "output") ? kr_args_value(args, "output") : "krait-lab.jsonl";
	if (strcmp(run->path, "-") == 0)
		return kr_usage("option '--output': found '-', expected a file: it grows, and is completed "
				"in the end");
	if (status == KR_EXIT_SATISFIED)
		status = take_store(args, run);
	if (status == KR_EXIT_SATISFIED)
		status = take_levels(args, run);
	if (status == KR_EXIT_SATISFIED)
		status = take_workload(args, run);
	if (status == KR_EXIT_SATISFIED)
		status = take_faults(args, run);
	return status == KR_EXIT_SATISFIED ? take_question(args, run, out) : status;
}
