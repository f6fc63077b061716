/* The files (trace.h). The last thing that happens to a trace is that a rewritten one takes its name: until
 * then, a kill leaves the lines and slots from which `recover` makes it. */
#define _GNU_SOURCE
#include "lab/trace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli/output.h"
#include "lab/lab.h"
#include "lab/merge.h"
#include "lab/prefix.h"
#include "lab/sink.h"
#include "lab/sync.h"

#define INCOMPLETE "\"complete\":false"

static bool set_folder(char folder[4096], const char *path)
{
	return snprintf(folder, 4096, "%s.live", path) < 4000;
}

static bool remove_folder(const char *folder)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.')
			(void)unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		(void)closedir(dir);
	return rmdir(folder) == 0;
}

/* ---- the header ---- */

/* NULL: null. */
static void add_member(struct kr_str *out, const char *name, const char *text)
{
	kr_str_format(out, ",\"%s\":%s", name, text ? "" : "null");
	if (text)
		kr_str_json(out, text, strlen(text));
}

static void add_levels(const struct kr_run *run, struct kr_str *out)
{
	kr_str_add(out, ",\"levels\":[");
	for (uint32_t i = 0; i < run->share_count; i++) {
		const struct kl_level *level = run->shares[i].level;

		kr_str_format(out, "%s{\"clients\":%" PRIu32, i > 0 ? "," : "", run->shares[i].clients);
		add_member(out, "name", level->name);
		add_member(out, "claims", level->claims);
		add_member(out, "keeps", kr_run_keeps(run, level));
		kr_str_add(out, "}");
	}
	kr_str_add(out, "]");
}

static void add_workload(const struct kr_run *run, struct kr_str *out)
{
	const struct kr_workload *w = run->work.workload;

	add_member(out, "workload", w->name);
	kr_str_add(out, ",\"parameters\":{");
	for (size_t i = 0; w->parameters[i].name; i++)
		kr_str_format(out, "%s\"%s\":%" PRId64, i > 0 ? "," : "", w->parameters[i].name,
			run->work.of[i]);
	kr_str_add(out, "}");
}

static void add_events(const struct kr_run *run, struct kr_str *out)
{
	kr_str_add(out, ",\"events\":[");
	for (uint32_t i = 0; i < run->control->events_n; i++)
		kr_str_format(out, "%s{\"fault\":\"%s\",\"t\":[%" PRId64 ",%" PRId64 "]}", i > 0 ? "," : "",
			run->control->events[i].name, run->control->events[i].from,
			run->control->events[i].to);
	kr_str_add(out, "]");
}

/* Whatever else an address says may be secret. */
static void add_where(const struct kr_run *run, struct kr_str *out)
{
	kr_str_add(out, ",\"connect\":[");
	for (uint32_t node = 0; node < run->store.nodes && run->control->where[node][0]; node++) {
		kr_str_add(out, node > 0 ? "," : "");
		kr_str_json(out, run->control->where[node], strlen(run->control->where[node]));
	}
	kr_str_add(out, "]");
}

static void add_nodes(const struct kr_run *run, struct kr_str *out)
{
	const char *before = "";

	kr_str_format(out, ",\"nodes\":%" PRIu32 ",\"spread\":\"%s\",\"only_read\":[", run->store.nodes,
		run->spread ? "transactions" : "clients");
	for (uint32_t node = 0; node < run->store.nodes; node++)
		if (run->control->only_reads & UINT32_C(1) << node) {
			kr_str_format(out, "%s\"n%" PRIu32 "\"", before, node);
			before = ",";
		}
	kr_str_add(out, "]");
}

static void add_header(const struct kr_run *run, bool complete, struct kr_str *out)
{
	const struct kl_level *level = run->shares[0].level;
	struct utsname machine;
	char name[256];

	(void)snprintf(name, sizeof name, "%s, %s%s", run->store.driver->title, level->name,
		kr_run_one_level(run) ? "" : " and others");
	kr_str_add(out, "{\"krait\":1");
	add_member(out, "name", name);
	kr_str_add(out, ",\"initial\":");
	for (uint32_t i = 0; i < run->initial.n; i++) {
		kr_str_add(out, i == 0 ? "{" : ",");
		kr_str_json(out, run->initial.at[i].key, strlen(run->initial.at[i].key));
		kr_str_format(out, ":%" PRId64, run->initial.at[i].value);
	}
	kr_str_add(out, run->initial.n > 0 ? "}" : "\"absent\"");
	kr_str_add(out, ",\"clock_skew\":0,\"time_unit\":\"ns\"");
	kr_str_format(out, ",\"ordered_keys\":\"%s\"", run->work.script ? "numbers" : "bytes");
	if (kr_run_one_level(run) && level->profile)
		add_member(out, "profile", level->profile);
	kr_str_add(out, complete ? ",\"complete\":true" : "," INCOMPLETE);
	kr_str_add(out, ",\"lab\":{\"krait\":\"" KR_VERSION "\"");
	add_member(out, "driver", run->store.driver->name);
	add_member(out, "version", run->control->version);
	add_levels(run, out);
	add_workload(run, out);
	kr_str_format(out, ",\"clients\":%" PRIu32 ",\"seed\":%" PRIu64 ",\"lost\":%g", run->clients,
		run->seed, run->lost);
	if (run->control->where[0][0])
		add_where(run, out);
	if (run->store.nodes > 1)
		add_nodes(run, out);
	if (uname(&machine) == 0) {
		add_member(out, "system", machine.sysname);
		add_member(out, "release", machine.release);
		add_member(out, "machine", machine.machine);
	}
	kr_str_format(out, ",\"broken\":%" PRIu64, (uint64_t)run->control->broken);
	add_events(run, out);
	kr_str_add(out, "}}\n");
}

static bool write_header(const struct kr_run *run, bool complete, FILE *file)
{
	struct kr_mem mem;
	struct kr_str text;

	kr_mem_init(&mem, SIZE_MAX);
	kr_str_init(&text, &mem);
	add_header(run, complete, &text);

	bool fine = !text.failed && fwrite(kr_str_text(&text), 1, text.n, file) == text.n;

	kr_str_done(&text);
	return fine;
}

/* ---- making ---- */

static bool make_slots(struct kr_run *run)
{
	run->slots = calloc(run->clients, sizeof(struct kr_slot *));
	for (uint32_t i = 0; run->slots && i < run->clients; i++) {
		run->slots[i] = kr_slot_map(run->folder, i);
		if (!run->slots[i])
			return false;
	}
	return run->slots != NULL;
}

int kr_run_files_make(struct kr_run *run, struct kr_mem *mem)
{
	if (!set_folder(run->folder, run->path))
		return kr_usage("option '--output': found a name of %zu bytes, expected at most 3990",
			strlen(run->path));
	if (mkdir(run->folder, 0777) != 0)
		return errno == EEXIST
			? kr_fail("%s is there: a recording that runs or was killed; see 'krait-lab recover "
				  "--help'",
				  run->folder)
			: kr_fail("%s: cannot make the folder: %s", run->folder, strerror(errno));
	if (run->work.workload->initial && !run->work.workload->initial(&run->work, mem, &run->initial))
		return kr_fail("out of memory");
	FILE *file = fopen(run->path, "we");
	if (!file || !write_header(run, false, file) || fclose(file) != 0 || !kr_boot_note(run->folder) ||
		!make_slots(run))
		return kr_fail("%s: cannot write: %s", run->path, strerror(errno));
	run->file = open(run->path, O_WRONLY | O_APPEND | O_CLOEXEC);
	return run->file >= 0 ? KR_EXIT_SATISFIED
			      : kr_fail("%s: cannot write: %s", run->path, strerror(errno));
}

void kr_run_files_drop(struct kr_run *run)
{
	if (run->folder[0] && remove_folder(run->folder))
		(void)unlink(run->path);
}

void kr_run_files_done(struct kr_run *run)
{
	if (run->slots)
		kr_slots_unmap(run->slots, run->clients);
	if (run->file >= 0)
		(void)close(run->file);
	run->slots = NULL;
	run->file = -1;
}

/* ---- finishing ---- */

static FILE *open_in(const char *folder, const char *name, const char *mode)
{
	char path[4200];

	(void)snprintf(path, sizeof path, "%s/%s", folder, name);
	return fopen(path, mode);
}

/* FOLDER/final takes the name of the trace. */
static bool rename_final(const char *folder, const char *path, FILE *file, bool syncs)
{
	char from[4200];
	bool fine = fflush(file) == 0 && !ferror(file) && (!syncs || fsync(fileno(file)) == 0);

	(void)snprintf(from, sizeof from, "%s/final", folder);
	return (fclose(file) == 0) & fine && rename(from, path) == 0 && (!syncs || kr_sync_folder_of(path));
}

/* Without a certificate there is nothing to bring in: lines stay as they are, in no memory. */
static bool copy_lines(FILE *in, FILE *out)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t n;
	bool fine = true;

	for (bool header = true; fine && (n = getline(&line, &size, in)) > 0; header = false)
		fine = header || fwrite(line, 1, (size_t)n, out) == (size_t)n;
	free(line);
	return fine;
}

static bool is_serial(const char *level)
{
	return level && (strcmp(level, "ser") == 0 || strcmp(level, "pl-ss") == 0);
}

bool kr_run_files_finish(struct kr_run *run, struct kr_order_told *told)
{
	FILE *in = fopen(run->path, "re"), *out = open_in(run->folder, "final", "we"),
	     *sink = open_in(run->folder, KR_SINK_NAME, "re");
	const struct kl_level *level = run->shares[0].level;
	struct kr_order_asked asked = {.serial = kr_run_one_level(run) &&
			(run->store.driver->facts & KL_SERIAL) && is_serial(level->claims) &&
			(run->store.nodes == 1 || is_serial(kr_run_keeps(run, level))),
		.sees = run->store.driver->sees};
	bool fine = in && out && write_header(run, true, out);

	fine = fine &&
		(run->store.certificate ? kr_order_apply(in, sink, out, &asked, told) : copy_lines(in, out));

	if (in)
		(void)fclose(in);
	if (sink)
		(void)fclose(sink);
	if (out && !fine)
		(void)fclose(out);
	fine = fine && rename_final(run->folder, run->path, out, run->fsync > 0);
	if (!fine) {
		kr_fail("%s: cannot be completed; what was recorded is there: see 'krait-lab recover --help'",
			run->path);
		return false;
	}
	return remove_folder(run->folder);
}

/* ---- recovering ---- */

/* What only the database could have explained is left out. */
static bool keep_line(void *data, uint32_t client, uint32_t number, char *line, size_t length, bool in_flight)
{
	json_t *json = json_loadb(line, length, 0, NULL);
	char *text = NULL;

	(void)client;
	(void)number;
	(void)in_flight;
	if (json) {
		kr_line_strike(json);
		text = json_dumps(json, JSON_COMPACT);
	}
	json_decref(json);

	bool fine = text && fprintf(data, "%s\n", text) > 0;

	free(text);
	return fine;
}

static bool copy_header(const char *path, FILE *out)
{
	FILE *in = fopen(path, "re");
	char *line = NULL, *at;
	size_t size = 0;
	bool fine = in && getline(&line, &size, in) > 0 && (at = strstr(line, INCOMPLETE)) != NULL;

	if (fine)
		fine = fprintf(out, "%.*s\"complete\":\"recovered\"%s", (int)(at - line), line,
			       at + strlen(INCOMPLETE)) > 0;
	free(line);
	if (in)
		(void)fclose(in);
	return fine;
}

/* A kill leaves slots; a machine that has failed the last point to which it was synced. False after a
 * message. */
static bool find_lines(struct kr_merging *merge, const char *folder, bool intact, struct kr_recovered *out)
{
	enum kr_boot boot = intact ? KR_BOOT_SAME : kr_boot_of(folder);

	if (boot == KR_BOOT_SAME)
		return (merge->slots = kr_slots_map(folder, &merge->clients)) != NULL;
	out->synced = boot == KR_BOOT_OTHER;
	if (!out->synced)
		return false;
	merge->views = kr_synced_read(folder, &merge->clients, &merge->to);
	if (!merge->views)
		kr_fail("%s: the machine has been started anew since, and no point to which it was synced is "
			"there (record --fsync): what was in memory may be lost. If it was shut down in "
			"order, "
			"or these are copies, see option '--intact'",
			merge->path);
	return merge->views != NULL;
}

int kr_trace_recover(const char *path, bool intact, struct kr_recovered *out)
{
	struct kr_merging merge = {.path = path, .damaged_lines = true, .take = keep_line};
	char folder[4096];

	*out = (struct kr_recovered){0};
	if (!set_folder(folder, path) || access(folder, F_OK) != 0)
		return kr_fail("%s: found no folder %s.live: nothing to recover", path, path);
	bool found = find_lines(&merge, folder, intact, out);
	if (!found && out->synced)
		return KR_EXIT_FAILED;
	FILE *file = found ? open_in(folder, "final", "we") : NULL;
	merge.data = file;
	bool fine = file && copy_header(path, file) && kr_merge(&merge);
	kr_slots_unmap((struct kr_slot **)merge.slots, merge.slots ? merge.clients : 0);
	free(merge.views);
	if (file && !fine)
		(void)fclose(file);
	if (!fine || !rename_final(folder, path, file, true))
		return kr_fail("%s: cannot be recovered: not a recording of krait-lab, or it cannot be "
			       "written",
			path);
	out->buffered = merge.buffered;
	out->in_flight = merge.in_flight;
	out->torn = merge.torn;
	return remove_folder(folder) ? KR_EXIT_SATISFIED
				     : kr_fail("%s: cannot be removed: %s", folder, strerror(errno));
}

/* ---- on the way ---- */

bool kr_run_prefix(struct kr_run *run, const char *path, uint64_t *lines)
{
	FILE *out = fopen(path, "we");
	bool fine = out && write_header(run, false, out) && kr_prefix_write(run, 0, out, lines);

	if (out)
		fine = (fclose(out) == 0) & fine;
	return fine;
}
