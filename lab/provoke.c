/* krait-lab provoke: cases, levels, the worker (provoke_worker.c), and what is said of each cell. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "cli/file.h"
#include "cli/output.h"
#include "krait/krait.h"
#include "lab/lab.h"
#include "lab/open.h"
#include "lab/provoke_expect.h"
#include "lab/provoke_tell.h"
#include "report/report.h"

enum { LEVELS_MOST = 32, CELLS_MOST = 20000, PATH = 4096 };

static const struct kr_option options[] = {
	{"driver", 'd', "DRIVER", KR_WORDS_ANY,
		"the database, as 'krait-lab drivers' has it; none: only classify"},
	{"connect", 0, "STRING", KR_WORDS_ANY, "where it is; default: a private one"},
	{"remote", 0, NULL, KR_WORDS_ANY, "it may be on another machine"},
	{"level", 'l', "LEVEL,...|all", KR_WORDS_ANY, "the database's levels; default: its strictest"},
	{"cycles", 0, "N", KR_WORDS_ANY, "run N random schedules, each of which has a cycle"},
	{"edges", 0, "A..B", KR_WORDS_ANY, "with --cycles: of how many pairs; default: 3..5"},
	{"objects", 0, "K", KR_WORDS_ANY, "with --cycles: on how many objects; default: 3"},
	{"seed", 0, "N", KR_WORDS_ANY, "with --cycles: of the schedules; default: 1"},
	{"expect", 0, "FILE|known", KR_WORDS_FILE,
		"compare with a table of letters; known: the one that comes with the driver"},
	{"claim", 0, NULL, KR_WORDS_ANY, "check each trace at what the database claims for its level"},
	{"output", 'o', "FOLDER", KR_WORDS_ANY, "of the traces; default: krait-lab-provoke"},
	{"cap", 0, "SECONDS", KR_WORDS_ANY, "what has not come back by then is given up; default: 15"},
	{"grace", 0, "MILLISECONDS", KR_WORDS_ANY,
		"silence that is taken for waiting, where the database cannot tell; default: 60"},
	{"spread", 0, NULL, KR_WORDS_ANY, "each object in a partition of its own"},
	{"html", 0, "FILE", KR_WORDS_WRITTEN, "all of it on a page for a browser"},
	{"json", 0, NULL, KR_WORDS_ANY, "an object for each case and level"},
	{0},
};

struct provoke {
	const struct kr_args *args;
	struct kr_runner runner;
	const struct kl_level *levels[LEVELS_MOST];
	struct kr_lab_cases cases;
	struct kr_letters *expect;
	const char *folder;
	bool json, claim;
	uint32_t differing, broken, crashed;
	KR_VEC(char *) letters; /* of each cell, for the matrix */
	struct kr_file page;
};

/* ---- options ---- */

static int take_levels(struct provoke *p)
{
	const struct kl_driver *driver = p->runner.store.driver;
	const char *text = kr_args_value(p->args, "level");
	char list[512], *state = NULL;

	(void)snprintf(list, sizeof list, "%s", text ? text : driver->levels[0].name);
	if (strcmp(list, "all") == 0)
		for (const struct kl_level *l = driver->levels; l->name && p->runner.levels_n < LEVELS_MOST;
			l++)
			p->levels[p->runner.levels_n++] = l;
	for (char *word = strtok_r(list, ",", &state); word && p->runner.levels_n < LEVELS_MOST;
		word = strtok_r(NULL, ",", &state)) {
		const struct kl_level *level = kr_driver_level(driver, word);

		if (strcmp(word, "all") == 0)
			break;
		if (!level)
			return kr_driver_no_level(driver, word);
		p->levels[p->runner.levels_n++] = level;
	}
	p->runner.levels = p->levels;
	return p->runner.levels_n > 0 ? KR_EXIT_SATISFIED
				      : kr_usage("option '--level': found '', expected levels");
}

static int take_expect(struct provoke *p)
{
	const char *path = kr_args_value(p->args, "expect"), *name = p->runner.store.driver->name;
	char known[4200];

	if (!path)
		return KR_EXIT_SATISFIED;
	if (strcmp(path, "known") == 0) {
		if (!kr_driver_table(name, known))
			return kr_usage("option '--expect': no table comes with driver %s", name);
		path = known;
	}
	p->expect = kr_letters_read(path, p->runner.store.driver);
	return p->expect ? KR_EXIT_SATISFIED : KR_EXIT_USAGE;
}

static int take_store(struct provoke *p, const char *name)
{
	struct kl_store *store = &p->runner.store;
	bool lacking = false;

	store->driver = kr_driver_open(p->args->mem, name, &lacking);
	if (!store->driver)
		return lacking ? KR_EXIT_LACKING : KR_EXIT_USAGE;
	store->connect = kr_args_value(p->args, "connect");
	store->remote = kr_args_has(p->args, "remote");
	store->directed = true;
	store->spread = kr_args_has(p->args, "spread");
	if (store->spread && !(store->driver->facts & KL_PARTITIONS))
		return kr_usage("--spread: found driver %s, expected one that has partitions", name);
	store->nodes = 1;
	int status = take_levels(p);
	if (status == KR_EXIT_SATISFIED)
		status = take_expect(p);
	if (status == KR_EXIT_SATISFIED && p->runner.levels_n * (uint64_t)p->cases.n > CELLS_MOST)
		status = kr_usage("found %" PRIu32 " cases at %" PRIu32
				  " levels, expected at most %d together",
			p->cases.n, p->runner.levels_n, CELLS_MOST);
	p->runner.cap = 15 * INT64_C(1000000000);
	p->runner.grace = 60 * INT64_C(1000000);
	if (status == KR_EXIT_SATISFIED &&
		(!kr_args_time(p->args, "cap", 1e9, 3600, &p->runner.cap) ||
			!kr_args_time(p->args, "grace", 1e6, 60000, &p->runner.grace)))
		status = KR_EXIT_USAGE;
	return status;
}

/* ---- without a database ---- */

static int classify(struct provoke *p)
{
	struct kr_str out;
	bool fine = true;

	kr_str_init(&out, p->args->mem);
	for (uint32_t i = 0; i < p->cases.n && fine; i++) {
		struct kr_lab_cell cell = {.schedule = &p->cases.at[i]};

		if (p->json) {
			fine = kr_cell_json(&cell, false, &out) == KR_OK;
			kr_str_add(&out, "\n");
			continue;
		}
		struct kr_coo_anomaly anomaly = {.number = 0};
		struct kr_pops pops;

		fine = kr_coo_pops(p->args->mem, cell.schedule, &pops) == KR_OK;
		if (fine && kr_coo_classify(pops.at, pops.n, &anomaly))
			kr_str_format(&out, "%s\t%d %s\t%s\t%s\t", cell.schedule->id, anomaly.number,
				kr_coo_name(anomaly.number), kr_coo_class_name(anomaly.class),
				kr_coo_size_name(anomaly.size));
		else
			kr_str_format(&out, "%s\tconsistent\t\t\t", cell.schedule->id);
		kr_vec_done(p->args->mem, &pops);
		kr_coo_print(cell.schedule, &out);
		kr_str_add(&out, "\n");
	}
	fine = fine && kr_print(&out);
	kr_str_done(&out);
	return fine ? KR_EXIT_SATISFIED : kr_fail("out of memory");
}

/* ---- a cell ---- */

static void path_of(const struct provoke *p, const struct kr_lab_cell *cell, char out[PATH])
{
	char id[32];

	(void)snprintf(id, sizeof id, "%s", cell->schedule->id);
	for (char *c = id; *c; c++)
		if (*c == '/' || (unsigned char)*c < ' ')
			*c = '_';
	(void)snprintf(out, PATH, "%s/%s-%s-%s.jsonl", p->folder, p->runner.store.driver->name,
		cell->level->name, id);
}

static bool asks_check(const struct provoke *p, const struct kr_lab_cell *cell)
{
	return (p->claim || p->page.path) && cell->attempt->progress == KR_FINISHED && !cell->attempt->stuck;
}

/* What krait says of the trace: at what the level claims, and, if not the order of real time, at ser. */
static void check(struct provoke *p, struct kr_lab_cell *cell, struct kr_str *explanation)
{
	struct krait_error error;
	krait_history *history;
	krait_verdict *verdict;

	if (!asks_check(p, cell) ||
		krait_history_read(cell->trace, "native", NULL, &history, &error) != KRAIT_OK)
		return;
	if (p->claim && krait_check(history, cell->level->claims, NULL, NULL, &verdict, &error) == KRAIT_OK) {
		if (krait_verdict_outcome(verdict) == KRAIT_VIOLATED) {
			p->broken++;
			kr_note("%s at %s: %s, which is claimed, is violated: %s", cell->schedule->id,
				cell->level->name, cell->level->claims, krait_verdict_anomaly(verdict));
		}
		krait_verdict_free(verdict);
	}
	if (p->page.path && krait_check(history, "ser", "none", NULL, &verdict, &error) == KRAIT_OK) {
		if (krait_verdict_outcome(verdict) == KRAIT_VIOLATED)
			kr_str_add(explanation, krait_verdict_explanation(verdict));
		cell->explanation = kr_str_text(explanation);
		krait_verdict_free(verdict);
	}
	krait_history_free(history);
}

static bool tell(struct provoke *p, const struct kr_lab_cell *cell)
{
	struct kr_str out;
	bool fine;

	kr_str_init(&out, p->args->mem);
	if (p->json)
		fine = kr_cell_json(cell, false, &out) == KR_OK;
	else
		kr_str_format(&out, "%s\t%s\t%s\t%s%s", cell->schedule->id, cell->level->name,
			cell->judgement->letter, cell->judgement->executed,
			cell->attempt->unsteady ? " (unsteady)" : "");
	kr_str_add(&out, "\n");
	fine = kr_print(&out);
	kr_str_done(&out);
	if (cell->expected && !p->json)
		kr_note("%s at %s: found %s, expected %s", cell->schedule->id, cell->level->name,
			cell->judgement->letter, cell->expected);
	return fine;
}

static bool put_on_page(struct provoke *p, const struct kr_lab_cell *cell)
{
	struct kr_str json, out;

	if (!p->page.path)
		return true;
	kr_str_init(&json, p->args->mem);
	kr_str_init(&out, p->args->mem);
	bool fine = kr_cell_json(cell, true, &json) == KR_OK;
	kr_report_provoked_cell(&json, &out);
	fine = kr_file_write(&p->page, &out) && fine;
	kr_str_done(&out);
	return fine;
}

static bool keep_letter(struct provoke *p, const char *letter)
{
	char *copy = strdup(letter);

	if (copy && kr_vec_push(p->args->mem, &p->letters, copy))
		return true;
	free(copy);
	kr_fail("out of memory");
	return false;
}

static bool write_trace(struct kr_lab_cell *cell, const char *path, char **text)
{
	FILE *file = fopen(path, "we");

	*text = kr_attempt_trace(cell->runner, cell->level, cell->schedule, cell->attempt);
	bool fine = *text && file && fputs(*text, file) >= 0;
	fine = (!file || fclose(file) == 0) && fine;
	if (!fine)
		kr_fail("%s: %s", path, strerror(errno));
	cell->trace = path;
	cell->text = *text;
	return fine;
}

static bool tell_cell(struct provoke *p, uint32_t level, uint32_t i)
{
	struct kr_judgement judgement;
	struct kr_lab_cell cell = {&p->runner, p->levels[level], &p->cases.at[i],
		&p->runner.attempts[(size_t)level * p->cases.n + i], &judgement, NULL, NULL, NULL, NULL};
	struct kr_str explanation;
	char path[PATH], *text = NULL;

	kr_str_init(&explanation, p->args->mem);
	bool fine = kr_judge(p->args->mem, cell.schedule, cell.attempt,
			    kr_is_buffered(&p->runner, cell.level), &judgement) == KR_OK;
	path_of(p, &cell, path);
	if (fine && cell.attempt->progress != KR_LEFT_OUT)
		fine = write_trace(&cell, path, &text);
	cell.expected = kr_letters_at(p->expect, cell.schedule->id, cell.level->name);
	if (cell.expected &&
		(strcmp(cell.expected, judgement.letter) == 0 || strcmp(cell.expected, ".") == 0))
		cell.expected = NULL;
	p->differing += cell.expected != NULL;
	p->crashed += cell.attempt->progress == KR_CRASHED;
	if (fine)
		check(p, &cell, &explanation);
	fine = fine && tell(p, &cell) && put_on_page(p, &cell) && keep_letter(p, judgement.letter);
	kr_str_done(&explanation);
	free(text);
	kr_judgement_done(p->args->mem, &judgement);
	return fine;
}

/* ---- all of them ---- */

static bool tell_matrix(const struct provoke *p)
{
	struct kr_str out;
	int wide = 4;

	for (uint32_t i = 0; i < p->cases.n; i++) {
		int length = (int)(strlen(p->cases.at[i].id) + strlen(p->cases.at[i].name)) + 1;
		wide = length > wide ? length : wide;
	}
	kr_str_init(&out, p->args->mem);
	kr_str_format(&out, "\n%-*s", wide, "case");
	for (uint32_t l = 0; l < p->runner.levels_n; l++)
		kr_str_format(&out, "  %s", p->levels[l]->name);
	for (uint32_t i = 0; i < p->cases.n; i++) {
		char name[100];

		(void)snprintf(name, sizeof name, "%s %s", p->cases.at[i].id, p->cases.at[i].name);
		kr_str_format(&out, "\n%-*s", wide, name);
		for (uint32_t l = 0; l < p->runner.levels_n; l++)
			kr_str_format(&out, "  %-*s",
				l + 1 < p->runner.levels_n ? (int)strlen(p->levels[l]->name) : 0,
				p->letters.at[l * p->cases.n + i]);
	}
	kr_str_add(&out, "\n");
	bool fine = kr_print(&out);
	kr_str_done(&out);
	return fine;
}

static bool make_folder(const struct provoke *p)
{
	if (mkdir(p->folder, 0777) == 0 || errno == EEXIST)
		return true;
	kr_fail("%s: %s", p->folder, strerror(errno));
	return false;
}

static bool open_page(struct provoke *p)
{
	struct kr_str out;

	if (!kr_file_open(&p->page, p->args, kr_args_value(p->args, "html")))
		return false;
	if (!p->page.path)
		return true;
	kr_str_init(&out, p->args->mem);
	kr_report_provoked_begin(&out);
	bool fine = kr_file_write(&p->page, &out);
	kr_str_done(&out);
	return fine;
}

static bool close_page(struct provoke *p)
{
	struct kr_str out;

	if (!p->page.path)
		return true;
	kr_str_init(&out, p->args->mem);
	kr_report_provoked_end(&out);
	bool fine = kr_file_write(&p->page, &out) && kr_file_close(&p->page);
	kr_str_done(&out);
	return fine;
}

static int tell_all(struct provoke *p)
{
	bool fine = open_page(p);

	for (uint32_t l = 0; l < p->runner.levels_n && fine; l++)
		for (uint32_t i = 0; i < p->cases.n && fine; i++)
			fine = tell_cell(p, l, i);
	if (fine && !p->json)
		fine = tell_matrix(p);
	if (!close_page(p) || !fine)
		return KR_EXIT_FAILED;
	if (p->expect)
		kr_note("%" PRIu32 " cells differ from what was expected", p->differing);
	if (p->crashed > 0)
		return kr_fail("%s: the store crashed in %" PRIu32 " cases (X)", p->runner.store.driver->name,
			p->crashed);
	return p->differing > 0 || p->broken > 0 ? KR_EXIT_VIOLATED : KR_EXIT_SATISFIED;
}

static void *shared(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

static int run_all(struct provoke *p)
{
	struct kr_runner *r = &p->runner;
	size_t size = (size_t)r->levels_n * p->cases.n * sizeof *r->attempts;

	r->cases = &p->cases;
	r->attempts = shared(size);
	r->said = shared(sizeof *r->said);
	if (!r->attempts || !r->said)
		return kr_fail("out of memory");
	int status = make_folder(p) ? kr_runner_run(r) : KR_EXIT_FAILED;
	if (status == KR_EXIT_SATISFIED)
		status = tell_all(p);
	(void)munmap(r->attempts, size);
	(void)munmap(r->said, sizeof *r->said);
	return status;
}

static int run(const struct kr_args *args)
{
	struct provoke p = {.args = args,
		.json = kr_args_has(args, "json"),
		.claim = kr_args_has(args, "claim")};
	const char *name = kr_args_value(args, "driver");
	int status = name ? kr_lab_cases_take(args, &p.cases)
			  : kr_usage("expected '--driver DRIVER'; see 'krait-lab drivers'");

	p.folder = kr_args_value(args, "output") ? kr_args_value(args, "output") : "krait-lab-provoke";
	if (status == KR_EXIT_SATISFIED && strcmp(name, "none") == 0)
		status = classify(&p);
	else if (status == KR_EXIT_SATISFIED && (status = take_store(&p, name)) == KR_EXIT_SATISFIED)
		status = run_all(&p);
	for (uint32_t i = 0; i < p.letters.n; i++)
		free(p.letters.at[i]);
	kr_vec_done(args->mem, &p.letters);
	kr_letters_free(p.expect);
	kr_lab_cases_done(args->mem, &p.cases);
	return status;
}

static const struct kr_command command = {
	.name = "provoke",
	.program = "krait-lab",
	.synopsis = "-d DRIVER [-l LEVEL,...|all] [CASE|SCHEDULE|SPEC|FILE]...",
	.title = "run schedules on a database, and tell which anomalies it lets through",
	.text = "Without operands: Coo's 33 anomalies in 43 cases, and ten with predicates. Each\n"
		"statement is sent when the one before it was answered or waits. A line tells\n"
		"case, level, letter and what was executed. P: a serial result; A: an anomaly;\n"
		"R: refused; D: a deadlock; T: a timeout; B: busy; X: the store crashed; -: the\n"
		"driver lacks an operation. Exit status: 0; 1 --expect differs or --claim is\n"
		"broken; 77 this machine lacks the database; 254 bad arguments; 255 a crash.",
	.options = options,
	.operands = KR_WORDS_ANY,
	.most = UINT32_MAX,
	.run = run,
};

const struct kr_lab kr_lab_provoke = {
	.command = &command,
};
