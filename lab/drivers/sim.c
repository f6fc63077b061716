/* A small database in this process: versions of keys in memory, one lock around all of it, row locks that
 * writers hold until they end. At level pl-ss a commit is refused if anything that was read, or that a
 * predicate may cover, has changed since the snapshot; at si if a row that is written has (first updater
 * wins); at pl-2 each statement sees what is committed. Who waits for a row is older than who holds it, or is
 * refused, so that no circle waits. The other levels are broken, each in one way: what finds nothing there
 * would find nothing anywhere.
 *
 * At `inversion` a transaction's time is what its client's clock says when it begins, and clocks differ. It
 * sees what was written before that time, and takes its place there: a commit is refused if a version has
 * come between what it saw and its time, or if others behind that time have seen what it writes anew. So the
 * order of times is one of serialization, and real time knows nothing of it (TAPIR's pitfall).
 *
 * --connect asks for trouble: "statement=5,refused=2,gone=1" is percent of the statements or commits that end
 * so; "crash=100" is the commit that kills the process, "stall=100" the one that never comes back; "log=FILE"
 * gets a line "KEY VALUE" for each write that is committed.
 *
 * Longer than usual: a database, if a small one. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "base/order.h"
#include "lab/driver.h"

#define LATEST UINT64_MAX     /* a snapshot that has all that is committed */
#define SKEW INT64_C(2000000) /* ns by which clocks differ from the right one */
enum { VERSIONS_KEPT = 32, READS_MOST = 4096, WRITES_MOST = 4096, TROUBLES = 10, STALENESS = 20 };

static const struct kl_level levels[] = {
	{"pl-ss", "", "pl-ss", "pl-ss", NULL},
	{"si", "", "si", "si", NULL},
	{"pl-2", "", "pl-2", "pl-2", NULL},
	{"stale", "readers see a snapshot that is some commits old", "pl-ss", "ser", NULL},
	{"inversion", "clocks that differ give the order", "pl-ss", "ser", NULL},
	{"write-skew", "what was read is not looked at again", "ser", "si", NULL},
	{"phantom", "nor is what predicates covered", "ser", "si", NULL},
	{"lost-update", "writers overwrite what has changed since their snapshot", "si", "pl-2", NULL},
	{"forgetful", "some commits are answered and not done", "ser", "pl-2", NULL},
	{"dirty", "reads see what is not committed", "pl-2", "pl-1", NULL},
	{0},
};

/* What a level does, by the same number. */
static const struct mode {
	bool statement, updater_wins, items, predicates, stale, timed, forgets, dirty;
} modes[] = {
	{.updater_wins = true, .items = true, .predicates = true},
	{.updater_wins = true},
	{.statement = true},
	{.updater_wins = true, .items = true, .predicates = true, .stale = true},
	{.updater_wins = true, .items = true, .predicates = true, .timed = true},
	{.updater_wins = true},
	{.updater_wins = true, .items = true},
	{0},
	{.updater_wins = true, .items = true, .predicates = true, .forgets = true},
	{.statement = true, .dirty = true},
};

struct version {
	uint64_t ts, commit; /* place in the order; how many commits there were when it came */
	bool present;
	int64_t value;
};

struct sim_client;

struct entry {
	char key[KL_KEY];
	bool grows;               /* a list or set: its versions are its elements */
	struct version *versions; /* oldest first */
	size_t n, cap;
	struct sim_client *holder; /* of the row lock */
	uint64_t read;             /* by transactions up to that time */
};

struct predicate {
	char low[KL_KEY], high[KL_KEY];
	uint64_t commit; /* how many commits there were */
};                       /* high empty: keys that begin with `low` */

struct pending {
	struct entry *entry;
	struct version version;
};

struct sim_client {
	struct kl_client client;
	const struct mode *mode;
	bool open;
	uint64_t snapshot, age;
	struct {
		struct entry *entry;
		uint64_t commit;
	} reads[READS_MOST];
	struct predicate predicates[64];
	struct pending writes[WRITES_MOST];
	size_t reads_n, predicates_n, writes_n;
	uint64_t random;
	struct sim_client *next; /* of all */
};

static const char *const troubles[TROUBLES] = {"statement", "refused", "deadlock", "timeout", "busy", "gone",
	"lost", "bug", "crash", "stall"};
enum trouble { STATEMENT, REFUSED, DEADLOCK, TIMEOUT, BUSY, GONE, LOST, BUG, CRASH, STALL };

struct sim {
	pthread_mutex_t lock;
	pthread_cond_t moved;
	struct entry **entries; /* by key */
	size_t n, cap;
	uint64_t clock, ages, commits;
	bool timed;
	uint64_t scanned; /* by transactions up to that time, whatever it was */
	struct sim_client *clients;
	uint64_t of[TROUBLES];
	int log;
};

/* ---- keys ---- */

static size_t place_of(const struct sim *sim, const char *key)
{
	size_t at;

	KR_BISECT(at, 0, sim->n, strcmp(sim->entries[at]->key, key) < 0);
	return at;
}

/* NULL: no memory. */
static struct entry *entry_of(struct sim *sim, const char *key)
{
	size_t at = place_of(sim, key);
	struct entry *entry;

	if (at < sim->n && strcmp(sim->entries[at]->key, key) == 0)
		return sim->entries[at];
	if (sim->n == sim->cap) {
		size_t cap = sim->cap ? 2 * sim->cap : 64;
		struct entry **entries = realloc(sim->entries, cap * sizeof(struct entry *));

		if (!entries)
			return NULL;
		sim->entries = entries;
		sim->cap = cap;
	}
	entry = calloc(1, sizeof *entry);
	if (!entry)
		return NULL;
	(void)snprintf(entry->key, sizeof entry->key, "%s", key);
	memmove(sim->entries + at + 1, sim->entries + at, (sim->n - at) * sizeof(struct entry *));
	sim->entries[at] = entry;
	sim->n++;
	return entry;
}

static uint64_t newest(const struct entry *entry)
{
	return entry->n > 0 ? entry->versions[entry->n - 1].ts : 0;
}

/* What nobody will look at any more goes. */
static void forget_versions(struct sim *sim, struct entry *entry)
{
	uint64_t oldest = sim->clock > STALENESS ? sim->clock - STALENESS : 0;
	size_t kept = entry->n - 1;

	for (const struct sim_client *c = sim->clients; c; c = c->next)
		if (c->open && c->snapshot < oldest)
			oldest = c->snapshot;
	while (kept > 0 && entry->versions[kept].ts > oldest)
		kept--;
	memmove(entry->versions, entry->versions + kept, (entry->n - kept) * sizeof *entry->versions);
	entry->n -= kept;
}

static bool install(struct sim *sim, struct entry *entry, struct version version)
{
	if (entry->n == entry->cap) {
		size_t cap = entry->cap ? 2 * entry->cap : 8;
		struct version *versions = realloc(entry->versions, cap * sizeof *versions);

		if (!versions)
			return false;
		entry->versions = versions;
		entry->cap = cap;
	}
	entry->versions[entry->n++] = version;
	if (!entry->grows && entry->n > VERSIONS_KEPT && !sim->timed)
		forget_versions(sim, entry);
	return true;
}

/* ---- seeing ---- */

static const struct version *own_write(const struct sim_client *c, const struct entry *entry)
{
	for (size_t i = c->writes_n; i > 0; i--)
		if (c->writes[i - 1].entry == entry)
			return &c->writes[i - 1].version;
	return NULL;
}

static const struct version *committed(const struct entry *entry, uint64_t snapshot)
{
	for (size_t i = entry->n; i > 0; i--)
		if (entry->versions[i - 1].ts <= snapshot)
			return entry->versions[i - 1].present ? &entry->versions[i - 1] : NULL;
	return NULL;
}

static const struct version *seen(const struct sim_client *c, const struct entry *entry, uint64_t snapshot)
{
	const struct version *own = own_write(c, entry);

	if (!own && c->mode->dirty && entry->holder && entry->holder != c)
		own = own_write(entry->holder, entry);
	if (own)
		return own->present ? own : NULL;
	return committed(entry, snapshot);
}

static uint64_t snapshot_now(const struct sim *sim, const struct sim_client *c)
{
	return c->mode->statement ? sim->clock : c->snapshot;
}

static void note_read(const struct sim *sim, struct sim_client *c, struct entry *entry)
{
	if (c->reads_n == READS_MOST)
		return;
	c->reads[c->reads_n].entry = entry;
	c->reads[c->reads_n++].commit = sim->commits;
}

static bool covers(const struct predicate *p, const char *key)
{
	return p->high[0] ? strcmp(key, p->low) >= 0 && strcmp(key, p->high) < 0
			  : strncmp(key, p->low, strlen(p->low)) == 0;
}

static struct predicate predicate_of(const struct sim *sim, const struct kl_op *op)
{
	struct predicate p = {.commit = sim->commits};

	(void)snprintf(p.low, sizeof p.low, "%s", op->key);
	(void)snprintf(p.high, sizeof p.high, "%s", op->kind == KL_RANGE ? op->high : "");
	return p;
}

/* The rows that the statement matches at `snapshot`. */
static bool match(const struct sim *sim, const struct sim_client *c, const struct kl_op *op,
	uint64_t snapshot, struct kl_result *result)
{
	struct predicate p = predicate_of(sim, op);

	result->row_count = 0;
	for (size_t i = place_of(sim, op->key); i < sim->n && covers(&p, sim->entries[i]->key); i++) {
		const struct version *v = sim->entries[i]->grows ? NULL : seen(c, sim->entries[i], snapshot);

		if (!v || (op->kind != KL_RANGE && (v->value < op->ge || v->value >= op->lt)))
			continue;
		if (op->limit && result->row_count == op->limit)
			break;
		if (!kl_result_row(result, sim->entries[i]->key, strlen(sim->entries[i]->key), v->value))
			return false;
	}
	return true;
}

/* ---- transactions ---- */

static void release(struct sim *sim, struct sim_client *c)
{
	for (size_t i = 0; i < sim->n; i++)
		if (sim->entries[i]->holder == c)
			sim->entries[i]->holder = NULL;
	c->open = false;
	c->reads_n = c->predicates_n = c->writes_n = 0;
	(void)pthread_cond_broadcast(&sim->moved);
}

static enum kl_answer end_with(struct sim *sim, struct sim_client *c, struct kl_result *result,
	enum kl_answer answer, const char *code)
{
	if (answer != KL_STATEMENT)
		release(sim, c);
	return kl_error(result, answer, code, code);
}

/* The row lock, and with it the right to write. */
static enum kl_answer take_lock(struct sim *sim, struct sim_client *c, struct entry *entry,
	struct kl_result *result)
{
	while (entry->holder && entry->holder != c) {
		if (entry->holder->age < c->age)
			return end_with(sim, c, result, KL_DEADLOCK, "deadlock");
		(void)pthread_cond_wait(&sim->moved, &sim->lock);
	}
	if (c->mode->updater_wins && newest(entry) > c->snapshot)
		return end_with(sim, c, result, KL_REFUSED, "changed");
	entry->holder = c;
	return KL_OK;
}

static bool put(struct sim_client *c, struct entry *entry, bool present, int64_t value)
{
	if (c->writes_n == WRITES_MOST)
		return false;
	c->writes[c->writes_n++] = (struct pending){entry, {.present = present, .value = value}};
	return true;
}

static bool is_percent(struct sim_client *c, uint64_t percent)
{
	c->random = c->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (c->random >> 33) % 100 < percent;
}

/* What was asked for with --connect. KL_OK: nothing happens. */
static enum kl_answer make_trouble(struct sim *sim, struct sim_client *c, struct kl_result *result)
{
	static const enum kl_answer answers[] = {KL_STATEMENT, KL_REFUSED, KL_DEADLOCK, KL_TIMEOUT, KL_BUSY,
		KL_GONE};

	for (enum trouble t = STATEMENT; t <= GONE; t++)
		if (sim->of[t] > 0 && is_percent(c, sim->of[t]))
			return end_with(sim, c, result, answers[t], troubles[t]);
	if (sim->of[BUG] > 0 && is_percent(c, sim->of[BUG]))
		return end_with(sim, c, result, KL_BUG, troubles[BUG]);
	return KL_OK;
}

/* ---- statements ---- */

static enum kl_answer read_one(struct sim *sim, struct sim_client *c, const struct kl_op *op,
	struct entry *entry, struct kl_result *result)
{
	uint64_t snapshot = snapshot_now(sim, c);

	if (op->lock != KL_NO_LOCK) {
		enum kl_answer answer = take_lock(sim, c, entry, result);

		if (answer != KL_OK)
			return answer;
		snapshot = LATEST;
	}

	const struct version *v = seen(c, entry, snapshot);

	note_read(sim, c, entry);
	result->found = v != NULL;
	result->value = v ? v->value : 0;
	return KL_OK;
}

static bool add_elements(const struct sim_client *of, const struct entry *entry, struct kl_result *result)
{
	for (size_t i = 0; i < of->writes_n; i++)
		if (of->writes[i].entry == entry &&
			!kl_result_row(result, "", 0, of->writes[i].version.value))
			return false;
	return true;
}

/* Elements that are committed, then one's own. */
static enum kl_answer read_elements(struct sim *sim, struct sim_client *c, struct entry *entry,
	struct kl_result *result)
{
	uint64_t snapshot = snapshot_now(sim, c);
	bool fine = true;

	for (size_t i = 0; i < entry->n && fine; i++)
		if (entry->versions[i].ts <= snapshot)
			fine = kl_result_row(result, "", 0, entry->versions[i].value) != NULL;
	if (fine && c->mode->dirty && entry->holder && entry->holder != c)
		fine = add_elements(entry->holder, entry, result);
	fine = fine && add_elements(c, entry, result);
	note_read(sim, c, entry);
	result->found = result->row_count > 0;
	return fine ? KL_OK : kl_error(result, KL_BUG, "memory", "no memory");
}

/* One row, whose newest version decides. */
static enum kl_answer write_one(struct sim *sim, struct sim_client *c, const struct kl_op *op,
	struct entry *entry, struct kl_result *result)
{
	enum kl_answer answer = take_lock(sim, c, entry, result);
	bool fine = true;

	if (answer != KL_OK)
		return answer;

	const struct version *v = seen(c, entry, LATEST);

	note_read(sim, c, entry);
	switch (op->kind) {
	case KL_WRITE: fine = put(c, entry, true, op->value); break;
	case KL_INSERT:
		result->done = !v;
		fine = v || put(c, entry, true, op->value);
		break;
	case KL_DELETE:
		result->done = v != NULL;
		fine = !v || put(c, entry, false, 0);
		break;
	case KL_INC:
		if (!v)
			return kl_error(result, KL_BUG, "absent", "the counter is not there");
		result->value = v->value + op->value;
		fine = put(c, entry, true, result->value);
		break;
	default: /* KL_APPEND, KL_ADD */ entry->grows = true; fine = put(c, entry, true, op->value);
	}
	return fine ? KL_OK : kl_error(result, KL_BUG, "writes", "too many writes in one transaction");
}

static enum kl_answer read_many(struct sim *sim, struct sim_client *c, const struct kl_op *op,
	struct kl_result *result)
{
	if (c->predicates_n < KR_COUNT(c->predicates))
		c->predicates[c->predicates_n++] = predicate_of(sim, op);
	return match(sim, c, op, snapshot_now(sim, c), result)
		? KL_OK
		: kl_error(result, KL_BUG, "memory", "no memory");
}

/* Rows may change while others are waited for: then it begins anew. */
static enum kl_answer update_many(struct sim *sim, struct sim_client *c, const struct kl_op *op,
	struct kl_result *result)
{
	uint64_t clock;
	enum kl_answer answer;

	do {
		answer = read_many(sim, c, op, result);
		clock = sim->clock;
		for (size_t i = 0; i < result->row_count && answer == KL_OK; i++)
			answer = take_lock(sim, c, entry_of(sim, result->rows[i].key), result);
	} while (answer == KL_OK && c->mode->statement && clock != sim->clock);
	for (size_t i = 0; i < result->row_count && answer == KL_OK; i++) {
		result->rows[i].value = op->value;
		if (!put(c, entry_of(sim, result->rows[i].key), true, op->value))
			return kl_error(result, KL_BUG, "writes", "too many writes in one transaction");
	}
	return answer;
}

static enum kl_answer run_locked(struct sim *sim, struct sim_client *c, const struct kl_op *op,
	struct kl_result *result)
{
	enum kl_answer answer = make_trouble(sim, c, result);
	struct entry *entry = NULL;

	if (answer != KL_OK)
		return answer;
	if (op->kind != KL_RANGE && op->kind != KL_SCAN && op->kind != KL_UPDATE &&
		!(entry = entry_of(sim, op->key)))
		return kl_error(result, KL_BUG, "memory", "no memory");
	switch (op->kind) {
	case KL_READ: return read_one(sim, c, op, entry, result);
	case KL_READ_LIST:
	case KL_READ_SET: return read_elements(sim, c, entry, result);
	case KL_RANGE:
	case KL_SCAN: return read_many(sim, c, op, result);
	case KL_UPDATE: return update_many(sim, c, op, result);
	default: return write_one(sim, c, op, entry, result);
	}
}

static enum kl_answer run(struct kl_client *client, const struct kl_op *op, struct kl_result *result)
{
	struct sim *sim = client->store->own;

	(void)pthread_mutex_lock(&sim->lock);

	enum kl_answer answer = run_locked(sim, (struct sim_client *)client, op, result);

	(void)pthread_mutex_unlock(&sim->lock);
	return answer;
}

/* By the client's clock; no two are equal. */
static uint64_t time_of(const struct sim_client *c)
{
	static const int64_t skews[] = {0, SKEW, -SKEW};

	return (uint64_t)(kl_now() + skews[c->client.number % KR_COUNT(skews)]) << 10 | c->age % 1024;
}

static enum kl_answer begin(struct kl_client *client, struct kl_result *result)
{
	struct sim *sim = client->store->own;
	struct sim_client *c = (struct sim_client *)client;

	c->mode = &modes[client->level - levels];
	if (c->mode->timed != sim->timed)
		return kl_error(result, KL_BUG, "level", "inversion goes with no other level");
	(void)pthread_mutex_lock(&sim->lock);
	c->age = ++sim->ages;
	c->snapshot = c->mode->timed                                            ? time_of(c)
		: c->mode->stale && sim->clock > STALENESS && is_percent(c, 50) ? sim->clock - STALENESS
										: sim->clock;
	c->open = true;
	(void)pthread_mutex_unlock(&sim->lock);
	return KL_OK;
}

/* Has a version come, since there were so many commits, that belongs into the snapshot? */
static bool has_grown(const struct entry *entry, uint64_t snapshot, uint64_t commit)
{
	size_t n = entry->n;

	while (n > 0 && entry->versions[n - 1].ts > snapshot)
		n--;
	return n > 0 && entry->versions[n - 1].commit > commit;
}

static bool is_in_time(const struct sim *sim, const struct sim_client *c)
{
	for (size_t i = 0; i < c->reads_n; i++)
		if (has_grown(c->reads[i].entry, c->snapshot, c->reads[i].commit))
			return false;
	for (size_t i = 0; i < c->predicates_n; i++)
		for (size_t k = place_of(sim, c->predicates[i].low);
			k < sim->n && covers(&c->predicates[i], sim->entries[k]->key); k++)
			if (has_grown(sim->entries[k], c->snapshot, c->predicates[i].commit))
				return false;
	for (size_t i = 0; i < c->writes_n; i++)
		if (c->writes[i].entry->read > c->snapshot || sim->scanned > c->snapshot)
			return false;
	return c->reads_n < READS_MOST && c->predicates_n < KR_COUNT(c->predicates);
}

/* Nothing new comes before what was seen. */
static void close_past(struct sim *sim, const struct sim_client *c)
{
	for (size_t i = 0; i < c->reads_n; i++)
		if (c->reads[i].entry->read < c->snapshot)
			c->reads[i].entry->read = c->snapshot;
	if (c->predicates_n > 0 && sim->scanned < c->snapshot)
		sim->scanned = c->snapshot;
}

/* Has what was read changed since? Who only reads an old snapshot is not asked. */
static bool is_valid(const struct sim *sim, const struct sim_client *c)
{
	if (c->mode->timed)
		return is_in_time(sim, c);
	if (c->mode->stale && c->writes_n == 0)
		return true;
	for (size_t i = 0; i < c->reads_n && c->mode->items; i++)
		if (newest(c->reads[i].entry) > c->snapshot)
			return false;
	for (size_t i = 0; i < c->predicates_n && c->mode->predicates; i++)
		for (size_t k = place_of(sim, c->predicates[i].low);
			k < sim->n && covers(&c->predicates[i], sim->entries[k]->key); k++)
			if (newest(sim->entries[k]) > c->snapshot)
				return false;
	return c->reads_n < READS_MOST || !c->mode->items;
}

static void log_writes(const struct sim *sim, const struct sim_client *c)
{
	char text[WRITES_MOST * 16];
	size_t n = 0;

	for (size_t i = 0; i < c->writes_n && n + KL_KEY + 32 < sizeof text; i++)
		if (c->writes[i].version.present)
			n += (size_t)snprintf(text + n, sizeof text - n, "%s %" PRId64 "\n",
				c->writes[i].entry->key, c->writes[i].version.value);
	if (n > 0 && write(sim->log, text, n) < 0)
		return; /* a test that reads it will miss it */
}

static enum kl_answer commit_locked(struct sim *sim, struct sim_client *c, struct kl_result *result)
{
	bool forgets = c->mode->forgets && is_percent(c, 10), writes = c->writes_n > 0;

	if (!is_valid(sim, c))
		return end_with(sim, c, result, KL_REFUSED, "changed");
	if (++sim->commits == sim->of[CRASH])
		abort();
	if (sim->timed)
		close_past(sim, c);
	while (sim->of[STALL] > 0 && sim->commits >= sim->of[STALL])
		(void)pause();
	if (writes)
		sim->clock++;
	for (size_t i = 0; i < c->writes_n && !forgets; i++) {
		c->writes[i].version.ts = sim->timed ? c->snapshot : sim->clock;
		c->writes[i].version.commit = sim->commits;
		if (!install(sim, c->writes[i].entry, c->writes[i].version))
			return kl_error(result, KL_BUG, "memory", "no memory");
	}
	if (sim->log >= 0)
		log_writes(sim, c);
	release(sim, c);
	result->has_place = true;
	result->reads_only = !writes;
	result->place = sim->timed ? c->snapshot : sim->clock;
	return sim->of[LOST] > 0 && is_percent(c, sim->of[LOST])
		? kl_error(result, KL_GONE, "lost", "the answer was lost")
		: KL_OK;
}

static enum kl_answer commit(struct kl_client *client, struct kl_result *result)
{
	struct sim *sim = client->store->own;

	(void)pthread_mutex_lock(&sim->lock);

	enum kl_answer answer = commit_locked(sim, (struct sim_client *)client, result);

	(void)pthread_mutex_unlock(&sim->lock);
	return answer;
}

static enum kl_answer rollback(struct kl_client *client, struct kl_result *result)
{
	struct sim *sim = client->store->own;

	(void)result;
	(void)pthread_mutex_lock(&sim->lock);
	release(sim, (struct sim_client *)client);
	(void)pthread_mutex_unlock(&sim->lock);
	return KL_OK;
}

static void hang_up(struct kl_client *client, bool after_sending_commit)
{
	struct kl_result result = {0};

	if (after_sending_commit)
		(void)commit(client, &result);
	(void)rollback(client, &result);
}

/* ---- the store ---- */

static bool take_word(struct kl_store *store, struct sim *sim, char *word)
{
	char *value = strchr(word, '=');

	if (value)
		*value++ = '\0';
	if (value && strcmp(word, "log") == 0) {
		sim->log = open(value, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
		return sim->log >= 0 || kl_fail(store, "%s: cannot write: %s", value, strerror(errno));
	}
	for (size_t t = 0; value && t < TROUBLES; t++)
		if (strcmp(word, troubles[t]) == 0) {
			sim->of[t] = strtoull(value, NULL, 10);
			return true;
		}
	return kl_refuse(store,
		"sim: --connect: found '%s', expected NAME=N of statement, refused, deadlock, timeout, busy, "
		"gone, lost, bug, crash, stall, or log=FILE",
		word);
}

static bool start(struct kl_store *store)
{
	struct sim *sim = calloc(1, sizeof *sim);
	char list[512], *state = NULL;

	if (!sim)
		return kl_fail(store, "out of memory");
	sim->log = -1;
	sim->timed = modes[store->level - levels].timed;
	(void)pthread_mutex_init(&sim->lock, NULL);
	(void)pthread_cond_init(&sim->moved, NULL);
	store->own = sim;
	(void)snprintf(store->version, sizeof store->version, "krait's own small database");
	(void)snprintf(list, sizeof list, "%s", store->connect ? store->connect : "");
	for (char *word = strtok_r(list, ",", &state); word; word = strtok_r(NULL, ",", &state))
		if (!take_word(store, sim, word))
			return false;
	return true;
}

static void stop(struct kl_store *store)
{
	struct sim *sim = store->own;

	if (!sim)
		return;
	for (size_t i = 0; i < sim->n; i++) {
		free(sim->entries[i]->versions);
		free(sim->entries[i]);
	}
	free(sim->entries);
	while (sim->clients) {
		struct sim_client *next = sim->clients->next;

		free(sim->clients);
		sim->clients = next;
	}
	if (sim->log >= 0)
		(void)close(sim->log);
	free(sim);
	store->own = NULL;
}

static bool load(struct kl_store *store, const struct kl_row *rows, size_t count)
{
	struct sim *sim = store->own;

	sim->clock = 1;
	for (size_t i = 0; i < count; i++) {
		struct entry *entry = entry_of(sim, rows[i].key);

		if (!entry ||
			!install(sim, entry,
				(struct version){.ts = 1, .present = true, .value = rows[i].value}))
			return kl_fail(store, "out of memory");
	}
	return true;
}

/* Clients that are gone stay in the list, not open. */
static struct kl_client *connect(struct kl_store *store)
{
	struct sim *sim = store->own;
	struct sim_client *c = calloc(1, sizeof *c);

	if (!c)
		return NULL;
	(void)pthread_mutex_lock(&sim->lock);
	c->random = store->seed + (uint64_t)(uintptr_t)c;
	c->mode = &modes[0];
	c->next = sim->clients;
	sim->clients = c;
	(void)pthread_mutex_unlock(&sim->lock);
	return &c->client;
}

static void close_client(struct kl_client *client)
{
	struct sim *sim = client->store->own;
	struct kl_result result = {0};

	(void)rollback(client, &result);
	(void)pthread_mutex_lock(&sim->lock);
	for (struct sim_client **at = &sim->clients; *at; at = &(*at)->next)
		if (*at == (struct sim_client *)client) {
			*at = (*at)->next;
			break;
		}
	(void)pthread_mutex_unlock(&sim->lock);
	free(client);
}

KL_EXPORT const struct kl_driver krait_driver = {
	.abi = KL_ABI,
	.name = "sim",
	.title = "a small database within krait-lab, also broken ones",
	.library = "none",
	.levels = levels,
	.operations = (KL_BIT(KL_KINDS) - 1) | KL_LOCKING,
	.facts = KL_EMBEDDED | KL_SESSIONS | KL_SERIAL,
	.start = start,
	.stop = stop,
	.load = load,
	.connect = connect,
	.begin = begin,
	.run = run,
	.commit = commit,
	.rollback = rollback,
	.hang_up = hang_up,
	.close = close_client,
};
