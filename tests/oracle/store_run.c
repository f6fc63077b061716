/* See store_run.h. One event at a time in the server's clock: a client sends, the statement arrives, perhaps waits, and is
 * answered. Versions have numbers in the order of commits. */
#include "store_run.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLIENTS = 8, KEYS = 8, OPS = 8, VERSIONS = 4000, READS = 40000, WAIT = 60, NEVER = -1 };
enum kind { READ, READ_X, READ_S, RANGE, RANGE_X, UPDATE, UPSERT, DELETE, INSERT, UNDO, COMMIT, ROLLBACK };
enum answer { DONE, WAITS, FAILS };
enum step { SEND, ARRIVE, REPLY, BLOCKED };

struct version { int value, txn, seq, chain; }; /* value 0: absent */
struct mine { bool written, deleted; int value, base; bool has_base; bool fresh; };

struct client {
	int64_t at, sent, deadline, offset, kill_at, begun;
	enum step step;
	enum kind kind;
	int key, high, value, planned, done;   /* the statement; statements that are to come */
	bool automatic, dead, killed, failed, first_try, lost; /* dead: the server has rolled it back; killed: unasked */
	int txn, snapshot, statement_snapshot, chain, entries, saved; /* saved: entries up to the last rollback to a savepoint */
	struct mine mine[KEYS], before[OPS + 2][KEYS]; /* before each entry */
	struct kr_str ops, end;
	char result[600];
	bool range_held[KEYS][KEYS + 1];
	int64_t ready;
};

struct read { int txn, key, seq; };

struct store {
	const struct store_settings *s;
	const struct kr_profile *p;
	struct kr_rng *rng;
	struct kr_str *out;
	struct client clients[CLIENTS];
	struct version versions[KEYS][VERSIONS];
	int count[KEYS], x_owner[KEYS], s_owners[KEYS]; /* by object */
	struct read reads[READS];
	int nreads, seq, txns, value, chains, faults;
	bool committed[VERSIONS];
	int64_t now;
};

static int draw(struct store *d, int n) { return (int)kr_rng_below(d->rng, (uint64_t)n); }
static bool chance(struct store *d, int percent) { return draw(d, 100) < percent; }
static bool plant(struct store *d, enum fault fault) { return d->s->fault == fault && chance(d, d->s->fault_share); }
static int self(const struct store *d, const struct client *c) { return (int)(c - d->clients); }
static int row_of(const struct store *d, int key) { return d->s->columns ? key / 2 : key; }
static int object(const struct store *d, int key) { return d->p->lock_scope == KR_SCOPE_DATABASE ? 0 : row_of(d, key); }

/* ---- versions ---- */

static const struct version *latest(const struct store *d, int key) { return &d->versions[key][d->count[key] - 1]; }

static const struct version *as_of(const struct store *d, int key, int seq)
{
	int i = d->count[key] - 1;

	while (i > 0 && d->versions[key][i].seq > seq)
		i--;
	return &d->versions[key][i];
}

/* The number of the last change of the row, or of the whole database where that is what is locked. */
static int changed(const struct store *d, int key)
{
	int seq = 0;

	for (int k = 0; k < KEYS; k++)
		if (object(d, k) == object(d, key) && latest(d, k)->seq > seq)
			seq = latest(d, k)->seq;
	return seq;
}

/* ---- locks ---- */

static bool in_locked_range(struct store *d, const struct client *c, int key)
{
	for (int i = 0; i < CLIENTS; i++)
		for (int low = 0; low < KEYS && i != self(d, c); low++)
			for (int high = low; high <= KEYS; high++)
				if (d->clients[i].range_held[low][high] && low <= key && key < high)
					return true;
	return false;
}

static bool lock(struct store *d, struct client *c, int key, enum kr_lock_mode mode, bool writes)
{
	int o = object(d, key), others = d->s_owners[o] & ~(1 << self(d, c));
	bool other_x = d->x_owner[o] != NEVER && d->x_owner[o] != self(d, c);

	if (mode == KR_MODE_NONE)
		return true;
	if ((other_x || (mode == KR_MODE_X && others)) && plant(d, FAULT_LOCK_DROPPED)) {
		d->faults++;
		return true;
	}
	if (other_x || (mode == KR_MODE_X && others))
		return false;
	if (writes && in_locked_range(d, c, key)) {
		if ((c->kind != INSERT && c->kind != UPSERT) || !plant(d, FAULT_RANGE_DROPPED))
			return false; /* the row is not there: other writes would do nothing */
		d->faults++;
	}
	if (mode == KR_MODE_X)
		d->x_owner[o] = self(d, c);
	else
		d->s_owners[o] |= 1 << self(d, c);
	return true;
}

/* Somebody else is making the row, or has deleted it. */
static bool is_taken(const struct store *d, const struct client *c, int key)
{
	int owner = d->x_owner[object(d, key)];

	return owner != NEVER && owner != self(d, c);
}

static void unlock(struct store *d, struct client *c)
{
	for (int o = 0; o < KEYS; o++) {
		if (d->x_owner[o] == self(d, c))
			d->x_owner[o] = NEVER;
		d->s_owners[o] &= ~(1 << self(d, c));
	}
	memset(c->range_held, 0, sizeof c->range_held);
	for (int i = 0; i < CLIENTS; i++) /* who waits tries again, the one that waits longest first */
		if (d->clients[i].step == BLOCKED) {
			d->clients[i].step = ARRIVE;
			d->clients[i].at = d->now;
		}
}

/* ---- the end of a transaction ---- */

static bool reaches(const struct store *d, const bool (*edges)[VERSIONS], int from, int to, bool *seen)
{
	if (from == to)
		return true;
	if (seen[from])
		return false;
	seen[from] = true;
	for (int t = 0; t < d->txns; t++)
		if (edges[from][t] && reaches(d, edges, t, to, seen))
			return true;
	return false;
}

/* Would the commit close a cycle? Versions that it is to make stand behind all others. */
static bool closes_cycle(struct store *d, const struct client *c)
{
	static bool edges[VERSIONS][VERSIONS];
	bool seen[VERSIONS] = {false}, cycle = false;

	for (int i = 0; i < d->txns; i++)
		memset(edges[i], 0, (size_t)d->txns * sizeof edges[i][0]);
	for (int k = 0; k < KEYS; k++) {
		for (int i = 2; i < d->count[k]; i++)
			edges[d->versions[k][i - 1].txn][d->versions[k][i].txn] = true;
		if (c->mine[k].written && d->count[k] > 1)
			edges[latest(d, k)->txn][c->txn] = true;
	}
	for (int r = 0; r < d->nreads; r++) {
		const struct read *read = &d->reads[r];
		const struct version *v = as_of(d, read->key, read->seq), *next = v < latest(d, read->key) ? v + 1 : NULL;
		if (!d->committed[read->txn] && read->txn != c->txn)
			continue;
		if (v->txn >= 0 && v->txn != read->txn)
			edges[v->txn][read->txn] = true;
		if (next && next->txn != read->txn)
			edges[read->txn][next->txn] = true;
		if (!next && c->mine[read->key].written && read->txn != c->txn)
			edges[read->txn][c->txn] = true;
	}
	for (int t = 0; t < d->txns && !cycle; t++)
		cycle = t != c->txn && edges[c->txn][t] && reaches(d, (const bool(*)[VERSIONS])edges, t, c->txn, seen);
	return cycle;
}

static void install(struct store *d, struct client *c)
{
	bool any = false;

	for (int k = 0; k < KEYS; k++) {
		const struct version *v = latest(d, k);
		if (!c->mine[k].written || (d->p->noop == KR_NOOP_NONE && v->value == c->mine[k].value && d->p->dml_reads == KR_SEES_SNAPSHOT))
			continue;
		bool anew = v->value == 0 || c->mine[k].fresh;
		d->seq += !any;
		any = true;
		assert(d->count[k] < VERSIONS);
		d->versions[k][d->count[k]++] = (struct version){c->mine[k].value, c->txn, d->seq, anew ? ++d->chains : v->chain};
	}
}

static enum answer commit(struct store *d, struct client *c)
{
	bool certifies = d->p->certify && strcmp(d->p->certify, "ser") == 0 && d->p->locks.read == KR_MODE_NONE && d->p->lock_scope == KR_SCOPE_ROW;

	if (certifies && closes_cycle(d, c)) {
		if (!plant(d, FAULT_CERTIFIER_SKIPPED))
			return FAILS;
		d->faults++;
	}
	install(d, c);
	d->committed[c->txn] = true;
	return DONE;
}

static void finish(struct store *d, struct client *c)
{
	memset(c->mine, 0, sizeof c->mine);
	unlock(d, c);
}

static void roll_back(struct store *d, struct client *c)
{
	bool wrote = false;

	for (int k = 0; k < KEYS; k++)
		wrote |= c->mine[k].written;
	if (wrote && plant(d, FAULT_ABORTED_VISIBLE)) {
		d->faults++;
		install(d, c);
	}
	c->dead = true;
	finish(d, c);
}

/* ---- what is seen ---- */

static void remember(struct store *d, const struct client *c, int key, const struct version *v)
{
	assert(d->nreads < READS);
	d->reads[d->nreads++] = (struct read){c->txn, key, v->seq};
}

static int snapshot_of(struct store *d, struct client *c, bool plain)
{
	bool own = d->p->reads == KR_READS_TRANSACTION && !c->automatic;

	if (!own)
		return c->statement_snapshot;
	if (c->snapshot == NEVER && (plain || d->p->snapshot_at == KR_SNAPSHOT_STATEMENT))
		c->snapshot = c->statement_snapshot;
	else if (c->snapshot != NEVER && c->snapshot < d->seq && plant(d, FAULT_LATE_SNAPSHOT)) {
		d->faults++;
		c->snapshot = d->seq;
	}
	return c->snapshot;
}

/* A plain read that sees the newest version, as the profile says, or a snapshot. */
static int plain_value(struct store *d, struct client *c, int key)
{
	const struct version *v;
	int writer = d->x_owner[object(d, key)];
	const struct mine *other = writer == NEVER || writer == self(d, c) ? NULL : &d->clients[writer].mine[key];

	(void)snapshot_of(d, c, true);
	if (c->mine[key].written)
		return c->mine[key].value;
	if (d->p->own_row == KR_SEES_LATEST && c->mine[key].has_base)
		return c->mine[key].base;
	if (other && other->written && other->value != latest(d, key)->value) {
		if (d->p->reads == KR_READS_UNCOMMITTED)
			return other->value;
		if (plant(d, FAULT_DIRTY_READ)) {
			d->faults++;
			return other->value;
		}
	}
	bool newest = d->p->reads == KR_READS_UNCOMMITTED || (d->p->reads == KR_READS_LATEST && !c->automatic);
	v = newest ? latest(d, key) : as_of(d, key, snapshot_of(d, c, true));
	if (v > d->versions[key] && v[-1].value != v->value && plant(d, FAULT_RESURRECTED)) {
		d->faults++;
		v--;
	}
	remember(d, c, key, v);
	return v->value;
}

/* What a locking read or a data change finds, once it has its locks. FAILS: the row changed since the snapshot. */
static enum answer found_value(struct store *d, struct client *c, int key, int *value)
{
	bool snapshots = d->p->dml_reads == KR_SEES_SNAPSHOT;
	bool own = d->p->reads == KR_READS_TRANSACTION && !c->automatic;
	int seq = own || !snapshots || d->p->fuw ? snapshot_of(d, c, false) : d->seq; /* a statement that finds its rows changed begins anew */
	const struct version *v = snapshots ? as_of(d, key, seq) : latest(d, key);

	*value = c->mine[key].written ? c->mine[key].value : v->value;
	if (d->p->fuw && seq != NEVER && (!c->automatic || snapshots) && changed(d, key) > seq) {
		if (!plant(d, FAULT_UPDATER_LOST))
			return FAILS;
		d->faults++;
		*value = c->mine[key].written ? c->mine[key].value : latest(d, key)->value;
	}
	if (!c->mine[key].written)
		remember(d, c, key, v);
	if (d->p->follows_rows && c->kind != RANGE_X && !c->mine[key].written && v->value != 0 && v->chain != c->chain)
		*value = 0;
	return DONE;
}

/* ---- statements ---- */

static void name(const struct store *d, int key, char out[16])
{
	if (d->s->columns)
		snprintf(out, 16, "r%d.%c", key / 2, 'a' + key % 2);
	else
		snprintf(out, 16, "k%d", key);
}

static void value_text(int value, char out[16]) { snprintf(out, 16, value ? "%d" : "null", value); }

static void result_read(const struct store *d, struct client *c, int value, const char *attributes)
{
	char key[16], text[16];

	name(d, c->key, key);
	value_text(value, text);
	snprintf(c->result, sizeof c->result, "[\"r\", \"%s\", %s, {%s", key, text, attributes);
}

static enum answer do_read(struct store *d, struct client *c)
{
	static const char *const attributes[] = {[READ] = "", [READ_X] = "\"lock\": \"exclusive\", ", [READ_S] = "\"lock\": \"shared\", "};
	enum kr_lock_mode mode = c->kind == READ ? d->p->locks.read : c->kind == READ_X ? d->p->locks.update : d->p->locks.share;
	int value;

	if (c->kind == READ && d->p->auto_snapshot && c->automatic)
		mode = KR_MODE_NONE;
	if (!lock(d, c, c->key, mode, false))
		return WAITS;
	if (c->kind == READ)
		value = plain_value(d, c, c->key);
	else if (found_value(d, c, c->key, &value) == FAILS)
		return FAILS;
	result_read(d, c, value, attributes[c->kind]);
	return DONE;
}

static enum answer do_range(struct store *d, struct client *c)
{
	bool locking = c->kind == RANGE_X, gaps = d->p->range_locks == KR_RANGES_ALL || (locking && d->p->range_locks == KR_RANGES_LOCKING);
	enum kr_lock_mode mode = locking ? d->p->locks.update : d->p->locks.read;
	char key[16], low[16], high[16];
	size_t n;

	if (!locking && d->p->auto_snapshot && c->automatic)
		mode = KR_MODE_NONE;
	for (int k = c->key; k < c->high && mode != KR_MODE_NONE; k++)
		if (latest(d, k)->value ? !lock(d, c, k, mode, false) : gaps && is_taken(d, c, k))
			return WAITS;
	if (mode != KR_MODE_NONE && gaps)
		c->range_held[c->key][c->high] = true;
	name(d, c->key, low);
	name(d, c->high, high);
	n = (size_t)snprintf(c->result, sizeof c->result, "[\"range\", \"%s\", \"%s\", [", low, high);
	bool any = false;
	for (int k = c->key; k < c->high; k++) {
		int value;
		if (!locking)
			value = plain_value(d, c, k);
		else if (found_value(d, c, k, &value) == FAILS)
			return FAILS;
		name(d, k, key);
		if (value)
			n += (size_t)snprintf(c->result + n, sizeof c->result - n, "%s[\"%s\", %d]", any ? ", " : "", key, value);
		any |= value != 0;
	}
	snprintf(c->result + n, sizeof c->result - n, "], {%s", locking ? "\"lock\": \"exclusive\", " : "");
	return DONE;
}

static void write(struct store *d, struct client *c, int value)
{
	struct mine *m = &c->mine[c->key];
	int before = m->written ? m->value : latest(d, c->key)->value;

	m->deleted |= value == 0 && before != 0;
	m->fresh |= value != 0 && m->deleted;
	m->written = true;
	m->value = value;
	for (int k = 0; k < KEYS && d->s->columns; k++)
		if (k != c->key && row_of(d, k) == row_of(d, c->key) && !c->mine[k].written) {
			c->mine[k].has_base = true;
			c->mine[k].base = latest(d, k)->value;
		}
}

static enum answer do_write(struct store *d, struct client *c)
{
	char key[16];
	int value, now;
	enum answer answer;

	name(d, c->key, key);
	if (!lock(d, c, c->key, d->p->locks.write, true))
		return WAITS;
	now = c->mine[c->key].written ? c->mine[c->key].value : latest(d, c->key)->value;
	bool new_row = now == 0 && (c->kind == INSERT || c->kind == UPSERT) && d->p->fuw_new_row == KR_NEW_ROW_EXEMPT;
	bool outcome_only = c->kind == INSERT && d->p->fuw_new_row == KR_NEW_ROW_EXEMPT;
	value = now;
	if (new_row || outcome_only)
		snapshot_of(d, c, false);
	else if ((answer = found_value(d, c, c->key, &value)) != DONE)
		return answer;
	if (c->kind == INSERT) {
		snprintf(c->result, sizeof c->result, "[\"insert\", \"%s\", %d, %s, {", key, c->value, now ? "false" : "true");
		if (!now)
			write(d, c, c->value);
		return DONE;
	}
	if (c->kind == DELETE) {
		snprintf(c->result, sizeof c->result, "[\"d\", \"%s\", %s, {", key, value ? "true" : "false");
		if (value)
			write(d, c, 0);
		return DONE;
	}
	bool same = d->p->noop == KR_NOOP_NONE && d->p->dml_reads == KR_SEES_LATEST && c->value == value;
	if ((c->kind == UPDATE && value == 0) || same) {
		result_read(d, c, value, "\"lock\": \"exclusive\", ");
		return DONE;
	}
	snprintf(c->result, sizeof c->result, "[\"w\", \"%s\", %d, {%s", key, c->value, c->kind == UPDATE ? "\"row\": \"old\", " : "");
	write(d, c, c->value);
	return DONE;
}

static enum answer run_statement(struct store *d, struct client *c)
{
	switch (c->kind) {
	case RANGE:
	case RANGE_X: return do_range(d, c);
	case READ:
	case READ_X:
	case READ_S: return do_read(d, c);
	case UNDO:
		memcpy(c->mine, c->before[c->entries - c->value], sizeof c->mine);
		snprintf(c->result, sizeof c->result, "[\"undo\", %d, {", c->value);
		return DONE;
	case COMMIT: return commit(d, c);
	case ROLLBACK: return DONE;
	default: return do_write(d, c);
	}
}

/* ---- clients ---- */

static int64_t way(struct store *d) { return 1 + draw(d, 2 * d->s->latency); }

static void begin(struct store *d, struct client *c)
{
	c->txn = d->txns++;
	c->automatic = chance(d, d->s->automatic);
	c->planned = c->automatic ? 1 : 1 + draw(d, OPS - 2);
	c->done = c->entries = c->saved = 0;
	c->dead = c->failed = c->lost = c->killed = false;
	c->begun = d->now;
	c->snapshot = d->p->snapshot_at == KR_SNAPSHOT_BEGIN ? d->seq : NEVER;
	c->kill_at = chance(d, d->s->killed) && !c->automatic ? d->now + draw(d, 10 * (d->s->latency + d->s->think)) : INT64_MAX;
	memset(c->mine, 0, sizeof c->mine);
	kr_str_init(&c->ops, d->out->mem);
	kr_str_init(&c->end, d->out->mem);
}

static void choose(struct store *d, struct client *c)
{
	static const enum kind kinds[] = {READ, READ, READ, READ_X, READ_S, RANGE, RANGE_X, UPDATE, UPDATE, UPSERT, DELETE, INSERT};
	static const enum kind plain[] = {READ, READ, RANGE, UPDATE, UPDATE};

	c->kind = d->s->columns ? plain[draw(d, 5)] : kinds[draw(d, 12)];
	if (c->kind == DELETE && d->s->no_deletes)
		c->kind = UPDATE;
	c->key = draw(d, KEYS);
	c->high = c->key + 1 + draw(d, KEYS - c->key);
	c->value = d->s->repeated ? 1 + draw(d, 3) : 1000 + d->value++;
	if (c->entries > c->saved && !c->automatic && chance(d, 5)) {
		c->kind = UNDO;
		c->value = 1 + draw(d, c->entries - c->saved);
	}
	if (d->p->lock_scope == KR_SCOPE_DATABASE && (c->kind == READ_X || c->kind == READ_S || c->kind == RANGE_X))
		c->kind = READ; /* it has no such reads */
	if (!c->automatic && c->done == c->planned)
		c->kind = chance(d, 10) ? ROLLBACK : COMMIT;
	if (c->failed)
		c->kind = ROLLBACK;
}

static void send(struct store *d, struct client *c)
{
	if (c->txn == NEVER)
		begin(d, c);
	choose(d, c);
	c->sent = d->now;
	c->at = d->now + way(d);
	c->step = ARRIVE;
	c->first_try = true;
	if (c->entries < OPS + 2)
		memcpy(c->before[c->entries], c->mine, sizeof c->mine);
}

static void answer(struct store *d, struct client *c, bool failed)
{
	c->step = REPLY;
	c->at = d->now + way(d);
	if (failed)
		c->result[0] = '\0';
}

static void arrive(struct store *d, struct client *c)
{
	if (c->first_try) {
		c->statement_snapshot = d->seq;
		c->chain = c->kind < UNDO ? latest(d, c->key)->chain : 0;
		c->deadline = d->now + (int64_t)WAIT * d->s->latency;
		c->first_try = false;
		if (chance(d, d->s->unknown) && (c->kind == COMMIT || c->automatic))
			c->lost = true;
	}
	bool was_dead = c->dead;
	enum answer a = was_dead ? FAILS : run_statement(d, c);
	if (a == DONE && c->automatic)
		a = commit(d, c);
	if (a == WAITS && d->now < c->deadline) {
		c->step = BLOCKED;
		c->at = c->deadline;
		return;
	}
	if (a == DONE && (c->kind == COMMIT || c->automatic))
		finish(d, c);
	else if (!was_dead && (a != DONE || c->kind == ROLLBACK))
		roll_back(d, c);
	answer(d, c, a != DONE);
}

static void put_end(struct store *d, struct client *c, const char *status, const char *more, bool timed)
{
	struct kr_str *o = d->out;

	kr_str_format(o, "{\"id\": %d, \"s\": \"c%d\", \"ops\": [%s], \"status\": \"%s\"%s", c->txn, self(d, c), kr_str_text(&c->ops), status, more);
	if (!c->automatic)
		kr_str_format(o, ", \"begin\": [%lld, %lld]", (long long)(c->begun + c->offset), (long long)(c->begun + c->offset));
	if (timed)
		kr_str_format(o, ", \"end\": [%lld, %lld]", (long long)(c->sent + c->offset), (long long)(d->now + c->offset));
	kr_str_add(o, "}\n");
	kr_str_done(&c->ops);
	kr_str_done(&c->end);
	c->txn = NEVER;
}

static void put_op(struct store *d, struct client *c, bool lost)
{
	char key[16], answered[32] = "null";

	name(d, c->key, key);
	if (!lost)
		snprintf(answered, sizeof answered, "%lld", (long long)(d->now + c->offset));
	kr_str_add(&c->ops, c->ops.n ? ", " : "");
	if (c->result[0])
		kr_str_format(&c->ops, "%s\"t\": [%lld, %s]}]", c->result, (long long)(c->sent + c->offset), answered);
	else if (c->automatic)
		kr_str_format(&c->ops, "[\"r\", \"%s\", {\"t\": [%lld, %s]}]", key, (long long)(c->sent + c->offset), answered);
	else
		kr_str_format(&c->ops, "[\"failed\", [\"r\", \"%s\"], {\"t\": [%lld, %s]}]", key, (long long)(c->sent + c->offset), answered);
	c->entries++;
	if (c->kind == UNDO)
		c->saved = c->entries;
}

static void reply(struct store *d, struct client *c)
{
	bool failed = c->result[0] == '\0', ends = c->kind == COMMIT || c->kind == ROLLBACK;
	char lost[64];

	if (ends && c->lost) {
		snprintf(lost, sizeof lost, ", \"end\": [%lld, null]", (long long)(c->sent + c->offset));
		put_end(d, c, "unknown", lost, false);
	} else if (ends) {
		bool broken = c->dead && !c->failed && (c->kind == COMMIT || c->killed);
		put_end(d, c, c->kind == COMMIT && !c->dead ? "committed" : "aborted", broken ? ", \"failed\": true" : "", true);
	} else {
		put_op(d, c, c->automatic && c->lost);
		c->done++;
		c->failed |= failed;
		if (c->automatic)
			put_end(d, c, c->lost ? "unknown" : failed ? "aborted" : "committed", ", \"auto\": true", false);
	}
	c->step = SEND;
	c->at = d->now + 1 + draw(d, 2 * d->s->think);
}

static void kill_server_side(struct store *d, struct client *c)
{
	c->kill_at = INT64_MAX;
	if (c->txn == NEVER || c->dead || d->committed[c->txn] || c->step == REPLY)
		return;
	roll_back(d, c);
	c->killed = true;
	if (c->step == BLOCKED) {
		c->step = ARRIVE;
		c->at = d->now;
	}
}

static void start(struct store *d)
{
	for (int k = 0; k < KEYS; k++) {
		d->x_owner[k] = NEVER;
		d->versions[k][0] = (struct version){d->s->columns || k % 2 ? 100 + k : 0, NEVER, 0, ++d->chains};
		d->count[k] = 1;
	}
	kr_str_format(d->out, "{\"krait\": 1, \"clock_skew\": %d%s, \"initial\": {", d->s->skew, d->s->columns ? ", \"row_separator\": \".\"" : "");
	for (int k = 0, any = 0; k < KEYS; k++) {
		char key[16];
		name(d, k, key);
		if (d->versions[k][0].value)
			kr_str_format(d->out, "%s\"%s\": %d", any++ ? ", " : "", key, d->versions[k][0].value);
	}
	kr_str_add(d->out, "}}\n");
	for (int i = 0; i < CLIENTS; i++) {
		struct client *c = &d->clients[i];
		c->txn = NEVER;
		c->offset = d->s->skew ? draw(d, d->s->skew + 1) - d->s->skew / 2 : 0;
		c->kill_at = INT64_MAX;
		c->at = 1000 + draw(d, 2 * d->s->think);
	}
}

static struct client *next_client(struct store *d, bool *kills)
{
	struct client *next = NULL;

	for (int i = 0; i < CLIENTS; i++) {
		struct client *c = &d->clients[i];
		if (c->txn == NEVER && d->txns >= d->s->txns)
			continue;
		if (!next || c->at < (*kills ? next->kill_at : next->at)) {
			next = c;
			*kills = false;
		}
		if (c->txn != NEVER && c->kill_at < (*kills ? next->kill_at : next->at)) {
			next = c;
			*kills = true;
		}
	}
	return next;
}

int store_run(const struct store_settings *settings, struct kr_rng *rng, struct kr_str *out)
{
	struct store *d = calloc(1, sizeof *d);
	struct client *c;
	int faults;
	bool kills;

	assert(d);
	d->s = settings;
	d->p = settings->profile;
	d->rng = rng;
	d->out = out;
	start(d);
	while (kills = false, (c = next_client(d, &kills)) != NULL) {
		int64_t at = kills ? c->kill_at : c->at;
		d->now = at > d->now ? at : d->now;
		if (kills)
			kill_server_side(d, c);
		else if (c->step == SEND)
			send(d, c);
		else if (c->step == REPLY)
			reply(d, c);
		else
			arrive(d, c);
	}
	faults = d->faults;
	free(d);
	return faults;
}
