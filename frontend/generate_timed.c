/* Random histories of databases whose statements take time: sent, arrived, waiting for a lock, carried out
 * at one moment, answered.
 *
 * Clients and server are a queue of moments: the client whose moment comes first goes on. A statement is
 * carried out whole when it has its locks; what it sees and does then is what the rules of the database
 * say, a row of data for each: snapshots, locks, the first updater, validation at commit. So every
 * mechanism works, and an interval holds the moment at which the statement was carried out; with clocks
 * that differ, after widening. What the clients were answered is told as events. A statement that
 * deadlocks or is refused fails, and its transaction with it. Keys are registers that all start as 0;
 * there are no deletes. Cost: clients and versions of a key for each statement. */
#include "frontend/generate_timed.h"

#include <stdio.h>
#include <string.h>

#define RANGE_MOST 4

static const struct kr_timed_rules rules[] = {
	[KR_STORE_POSTGRESQL_RC - KR_STORE_TIMED] = {.reads = KR_TIMED_STATEMENT, .locks_see_latest = true},
	[KR_STORE_POSTGRESQL_RR - KR_STORE_TIMED] = {.reads = KR_TIMED_TRANSACTION, .first_updater = true},
	[KR_STORE_POSTGRESQL_SER -
		KR_STORE_TIMED] = {.reads = KR_TIMED_TRANSACTION, .first_updater = true, .validates = true},
	[KR_STORE_MARIADB_RU - KR_STORE_TIMED] = {.reads = KR_TIMED_UNCOMMITTED, .locks_see_latest = true},
	[KR_STORE_MARIADB_RC - KR_STORE_TIMED] = {.reads = KR_TIMED_STATEMENT, .locks_see_latest = true},
	[KR_STORE_MARIADB_RR - KR_STORE_TIMED] = {.reads = KR_TIMED_TRANSACTION,
		.plain_takes_snapshot = true,
		.locks_see_latest = true},
	[KR_STORE_MARIADB_RR_SI - KR_STORE_TIMED] = {.reads = KR_TIMED_TRANSACTION,
		.plain_takes_snapshot = true,
		.locks_see_latest = true,
		.first_updater = true},
	[KR_STORE_MARIADB_SER -
		KR_STORE_TIMED] = {.reads = KR_TIMED_LATEST, .locks_see_latest = true, .read_locks = true},
};

const struct kr_timed_rules *kr_timed_find(enum kr_store store)
{
	return store >= KR_STORE_TIMED ? &rules[store - KR_STORE_TIMED] : NULL;
}

static int64_t draw(struct kr_timed *s, uint32_t most) { return 1 + (int64_t)kr_rng_below(&s->rng, most); }
static bool percent(struct kr_timed *s, uint32_t share) { return kr_rng_below(&s->rng, 100) < share; }

/* ---- what is told ---- */

static struct kr_event event_of(const struct kr_timed *s, const struct kr_timed_client *c,
	enum kr_event_kind kind)
{
	uint32_t i = (uint32_t)(c - s->clients);

	struct kr_event e = kr_event_of(kind, (kr_session){i}, kr_history_int(s->h, c->number));

	e.flags = c->autocommit ? KR_TXN_AUTO : 0;
	return e;
}

static enum kr_status tell(struct kr_timed *s, const struct kr_event *event)
{
	return event->txn.i == KR_NONE ? KR_NOMEM : kr_history_take(s->h, event, s->err);
}

static void set_times(const struct kr_timed_client *c, struct kr_event *e, int64_t answered)
{
	e->timed = true;
	e->invoked = c->sent + c->offset;
	e->open = answered == KR_TIME_OPEN;
	e->returned = e->open ? KR_TIME_OPEN : answered + c->offset;
}

static enum kr_status tell_end(struct kr_timed *s, struct kr_timed_client *c, int64_t answered,
	enum kr_txn_status status, bool failed)
{
	struct kr_event e = event_of(s, c, KR_EVENT_END);

	set_times(c, &e, answered);
	e.status = (uint8_t)status;
	e.flags |= failed ? KR_TXN_END_FAILED : 0;
	c->open = false;
	return tell(s, &e);
}

static enum kr_status tell_op(struct kr_timed *s, const struct kr_timed_client *c, struct kr_operation op,
	int64_t answered, bool failed)
{
	struct kr_event e = event_of(s, c, KR_EVENT_ENTRY);

	set_times(c, &e, answered);
	op.flags |= KR_OPF_HAS_ATTR;
	e.entry.op = op;
	e.entry.attr.has_time = true;
	e.entry.attr.invoked = e.invoked;
	e.entry.attr.returned = e.returned;
	e.entry.attr.lock = c->kind == KR_TIMED_LOCKING ? KR_LOCK_EXCLUSIVE : KR_LOCK_NONE;
	e.entry.attr.row_is_old = c->kind == KR_TIMED_WRITE;
	e.entry.attr.failed = e.entry.attr.ends = failed;
	return tell(s, &e);
}

/* ---- what is seen ---- */

static uint32_t newest(const struct kr_timed *s, uint32_t key)
{
	return s->keys[key].at[s->keys[key].n - 1].commit;
}

static const kr_value *own(const struct kr_timed_client *c, uint32_t key)
{
	for (uint32_t i = c->writes.n; i-- > 0;)
		if (c->writes.at[i].key == key)
			return &c->writes.at[i].value;
	return NULL;
}

static kr_value see(const struct kr_timed *s, const struct kr_timed_client *c, uint32_t key)
{
	const kr_value *value = own(c, key);
	bool latest = c->kind == KR_TIMED_LOCKING && s->rules->locks_see_latest;
	uint32_t at = s->keys[key].n - 1;

	for (uint32_t i = 0;
		i < s->options->sessions && !value && s->rules->reads == KR_TIMED_UNCOMMITTED && !latest; i++)
		value = own(&s->clients[i], key);
	if (value)
		return *value;
	while (!latest && c->has_snapshot && s->keys[key].at[at].commit > c->snapshot)
		at--;
	return s->keys[key].at[at].value;
}

/* ---- what is done ---- */

/* All whose locks may have come free go on, in the order in which they began to wait. */
static void wake(struct kr_timed *s, int64_t now)
{
	for (uint32_t i = 0; i < s->options->sessions; i++)
		if (s->clients[i].phase == KR_TIMED_WAIT)
			s->clients[i].at = now;
}

static void finish(struct kr_timed *s, struct kr_timed_client *c, int64_t now)
{
	kr_vec_clear(&c->locks);
	kr_vec_clear(&c->writes);
	kr_vec_clear(&c->reads);
	wake(s, now);
}

static enum kr_status install(struct kr_timed *s, struct kr_timed_client *c, int64_t now)
{
	s->commits++;
	for (uint32_t i = 0; i < c->writes.n; i++) {
		uint32_t key = c->writes.at[i].key;
		struct kr_timed_version version = {s->commits, *own(c, key)};

		if (newest(s, key) != s->commits && !kr_vec_push(&s->ctx->mem, &s->keys[key], version))
			return KR_NOMEM;
	}
	finish(s, c, now);
	return KR_OK;
}

static bool valid(const struct kr_timed *s, const struct kr_timed_client *c)
{
	for (uint32_t i = 0; i < c->reads.n && s->rules->validates; i++)
		if (c->has_snapshot && newest(s, c->reads.at[i]) > c->snapshot)
			return false;
	return true;
}

static void take_snapshot(const struct kr_timed *s, struct kr_timed_client *c)
{
	bool plain = c->kind == KR_TIMED_PLAIN || c->kind == KR_TIMED_RANGE;

	if (c->has_snapshot || s->rules->reads != KR_TIMED_TRANSACTION ||
		(s->rules->plain_takes_snapshot && !plain))
		return;
	c->has_snapshot = true;
	c->snapshot = s->commits;
}

/* Whether the rule of the first updater refuses the statement, which has its lock. */
static bool is_refused(const struct kr_timed *s, const struct kr_timed_client *c)
{
	return s->rules->first_updater && c->has_snapshot &&
		(c->kind == KR_TIMED_WRITE || c->kind == KR_TIMED_LOCKING) && newest(s, c->low) > c->snapshot;
}

static kr_key key_at(uint32_t key) { return (kr_key){key}; }

static enum kr_status look(struct kr_timed *s, struct kr_timed_client *c, struct kr_operation *op)
{
	struct kr_history *h = s->h;
	struct kr_scan scan = {.low = h->keys.at[c->low].name,
		.limit = -1,
		.row_first = h->rows.n,
		.row_count = c->high - c->low};

	if (c->kind != KR_TIMED_RANGE) {
		*op = (struct kr_operation){.kind = KR_OP_READ,
			.flags = KR_OPF_KNOWN,
			.key = key_at(c->low),
			.a = see(s, c, c->low)};
		return kr_vec_add(&s->ctx->mem, &c->reads, c->low);
	}
	scan.high = c->high < s->options->keys ? h->keys.at[c->high].name : KR_ABSENT;
	*op = (struct kr_operation){.kind = KR_OP_RANGE, .key = {KR_NONE}, .scan = h->scans.n};
	for (uint32_t k = c->low; k < c->high; k++) {
		KR_TRY(kr_vec_add(h->mem, &h->rows, (struct kr_row){key_at(k), see(s, c, k)}));
		KR_TRY(kr_vec_add(&s->ctx->mem, &c->reads, k));
	}
	return kr_vec_add(h->mem, &h->scans, scan);
}

/* The answer is on its way; then the client thinks. */
static int64_t answer(struct kr_timed *s, struct kr_timed_client *c, int64_t now)
{
	int64_t answered = now + draw(s, s->options->latency);

	c->phase = KR_TIMED_SEND;
	c->at = answered + draw(s, s->options->think);
	return answered;
}

static enum kr_status carry_out_end(struct kr_timed *s, struct kr_timed_client *c, int64_t now)
{
	bool commits = c->kind == KR_TIMED_COMMIT, passes = valid(s, c), lost = c->lost,
	     arrives = !lost || kr_rng_below(&s->rng, 2) == 0;
	int64_t answered = answer(s, c, now);

	if (commits && passes && arrives)
		KR_TRY(install(s, c, now));
	else
		finish(s, c, now);
	if (commits && lost)
		return tell_end(s, c, KR_TIME_OPEN, KR_UNKNOWN, false);
	return tell_end(s, c, answered, commits && passes ? KR_COMMITTED : KR_ABORTED, commits && !passes);
}

static enum kr_status fail(struct kr_timed *s, struct kr_timed_client *c, int64_t now)
{
	struct kr_operation op = {.kind = c->kind == KR_TIMED_WRITE ? KR_OP_WRITE : KR_OP_READ,
		.key = key_at(c->low),
		.a = c->value};

	if (c->kind == KR_TIMED_RANGE) {
		op = (struct kr_operation){.kind = KR_OP_RANGE, .key = {KR_NONE}, .scan = s->h->scans.n};
		KR_TRY(kr_vec_add(s->h->mem, &s->h->scans,
			(struct kr_scan){.low = s->h->keys.at[c->low].name, .limit = -1}));
	}
	if (c->kind != KR_TIMED_WRITE)
		op.a = KR_ABSENT;
	finish(s, c, now);
	int64_t answered = answer(s, c, now);
	c->over = true;
	KR_TRY(tell_op(s, c, op, answered, true));
	return c->autocommit ? tell_end(s, c, answered, KR_ABORTED, false) : KR_OK;
}

static enum kr_status carry_out(struct kr_timed *s, struct kr_timed_client *c, int64_t now)
{
	struct kr_operation op;

	if (c->kind == KR_TIMED_COMMIT || c->kind == KR_TIMED_ROLLBACK)
		return carry_out_end(s, c, now);
	if (is_refused(s, c))
		return fail(s, c, now);
	if (c->kind == KR_TIMED_WRITE) {
		op = (struct kr_operation){.kind = KR_OP_WRITE, .key = key_at(c->low), .a = c->value};
		KR_TRY(kr_vec_add(&s->ctx->mem, &c->writes, (struct kr_timed_write){c->low, c->value}));
	} else {
		KR_TRY(look(s, c, &op));
	}
	if (c->autocommit)
		KR_TRY(install(s, c, now));
	int64_t answered = answer(s, c, now);
	KR_TRY(tell_op(s, c, op, answered, false));
	return c->autocommit ? tell_end(s, c, answered, KR_COMMITTED, false) : KR_OK;
}

static enum kr_status arrive(struct kr_timed *s, struct kr_timed_client *c)
{
	int64_t now = c->at;
	bool granted, deadlock;

	if (c->phase == KR_TIMED_ARRIVE)
		take_snapshot(s, c);
	KR_TRY(kr_timed_lock(s, c, &granted, &deadlock));
	if (granted)
		return carry_out(s, c, now);
	if (deadlock)
		return fail(s, c, now);
	if (c->phase == KR_TIMED_ARRIVE)
		c->ticket = s->tickets++;
	c->phase = KR_TIMED_WAIT;
	c->at = INT64_MAX;
	return KR_OK;
}

/* ---- clients ---- */

static enum kr_status begin(struct kr_timed *s, struct kr_timed_client *c)
{
	const struct kr_generate_options *o = s->options;

	c->open = true;
	c->number = ++s->begun;
	c->autocommit = percent(s, o->autocommit);
	c->gives_up = !c->autocommit && percent(s, o->aborted);
	c->lost = !c->autocommit && percent(s, o->unknown);
	c->left = c->autocommit ? 1 : o->ops;
	c->has_snapshot = c->over = false;

	struct kr_event e = event_of(s, c, KR_EVENT_BEGIN);

	if (!c->autocommit) {
		c->sent = c->at++;
		set_times(c, &e, c->at);
	}
	return tell(s, &e);
}

static void choose(struct kr_timed *s, struct kr_timed_client *c)
{
	const struct kr_generate_options *o = s->options;
	uint64_t share = kr_rng_below(&s->rng, 100);

	c->low = kr_zipf_next(&s->zipf, &s->rng);
	c->high = c->low + 1;
	c->value = KR_ABSENT;
	if (share < o->reads) {
		c->kind = percent(s, o->locking) ? KR_TIMED_LOCKING : KR_TIMED_PLAIN;
	} else if (share < (uint64_t)o->reads + o->ranges) {
		c->kind = KR_TIMED_RANGE;
		c->high += (uint32_t)kr_rng_below(&s->rng, RANGE_MOST);
		c->high = c->high < o->keys ? c->high : o->keys;
	} else {
		c->kind = KR_TIMED_WRITE;
		c->value = kr_history_int(s->h,
			o->values ? (int64_t)kr_rng_below(&s->rng, o->values) + 1
				  : (int64_t)++s->handed[c->low]);
	}
}

static enum kr_status send(struct kr_timed *s, struct kr_timed_client *c)
{
	if (!c->open && s->begun == s->options->txns) {
		c->phase = KR_TIMED_DONE;
		c->at = INT64_MAX;
		return KR_OK;
	}
	if (!c->open)
		KR_TRY(begin(s, c));
	c->sent = c->at;
	c->phase = KR_TIMED_ARRIVE;
	c->at += draw(s, s->options->latency);
	if (c->over || (c->left == 0 && c->gives_up)) {
		c->kind = KR_TIMED_ROLLBACK;
	} else if (c->left == 0) {
		c->kind = KR_TIMED_COMMIT;
	} else {
		c->left--;
		choose(s, c);
		KR_TRY(c->value.i == KR_NONE ? KR_NOMEM : KR_OK);
	}
	return KR_OK;
}

/* Whether a comes before b: of those that wake together, who has waited longer. */
static bool is_earlier(const struct kr_timed_client *a, const struct kr_timed_client *b)
{
	if (a->at != b->at)
		return a->at < b->at;
	return a->phase == KR_TIMED_WAIT && (b->phase != KR_TIMED_WAIT || a->ticket < b->ticket);
}

static enum kr_status run(struct kr_timed *s)
{
	for (;;) {
		struct kr_timed_client *next = &s->clients[0];
		enum kr_status status = kr_ctx_tick(s->ctx);

		for (uint32_t i = 1; i < s->options->sessions; i++)
			if (is_earlier(&s->clients[i], next))
				next = &s->clients[i];
		if (status || next->at == INT64_MAX) /* all are done: who waits, waits for one that is not */
			return status;
		KR_TRY(next->phase == KR_TIMED_SEND ? send(s, next) : arrive(s, next));
	}
}

/* ---- the whole ---- */

static enum kr_status check_options(const struct kr_generate_options *o, struct kr_err *err)
{
	if (o->deletes || o->inserts || o->cas || o->incs || o->appends || o->adds || o->maxes || o->scans ||
		o->updates || o->serial || o->anomaly || o->blank || o->untold || !o->times)
		return kr_err_set(err, KR_BAD,
			"a store whose statements take time has reads, ranges and writes, always with times, "
			"and nothing planted or told of its order");
	if (o->initial != KR_INITIAL_ABSENT && o->initial != KR_INITIAL_GIVEN)
		return kr_err_set(err, KR_BAD,
			"keys of a store whose statements take time start as 0, which is told");
	if (o->latency == 0 || o->think == 0)
		return kr_err_set(err, KR_BAD, "the latency or the time to think is 0, expected at least 1");
	if (o->autocommit > 100 || o->locking > 100)
		return kr_err_set(err, KR_BAD, "a share is more than 100 percent");
	return KR_OK;
}

static enum kr_status make_keys(struct kr_timed *s)
{
	const struct kr_generate_options *o = s->options;
	kr_value zero = kr_history_int(s->h, 0);
	char name[24];

	s->h->initial = KR_INITIAL_GIVEN;
	for (uint32_t k = 0; k < o->keys; k++) {
		/* so that the order of names is that of numbers */
		(void)snprintf(name, sizeof name, "k%010u", (unsigned)k);
		kr_key key = kr_history_key_text(s->h, name, strlen(name));
		if (zero.i == KR_NONE || key.i == KR_NONE ||
			!kr_vec_push(&s->ctx->mem, &s->keys[k], (struct kr_timed_version){0, zero}))
			return KR_NOMEM;
		s->h->keys.at[k].initial = zero;
	}
	for (uint32_t i = 0; i < o->sessions; i++) {
		struct kr_timed_client *c = &s->clients[i];
		(void)snprintf(name, sizeof name, "s%u", (unsigned)i);
		if (kr_history_session(s->h, kr_history_text(s->h, KR_VALUE_STRING, name, strlen(name))).i ==
			KR_NONE)
			return KR_NOMEM;
		c->at = draw(s, o->think);
		c->offset = o->skew ? (int64_t)kr_rng_below(&s->rng, o->skew + 1) - o->skew / 2 : 0;
	}
	return KR_OK;
}

static void done(struct kr_timed *s)
{
	struct kr_mem *mem = &s->ctx->mem;
	const struct kr_generate_options *o = s->options;

	for (uint32_t k = 0; s->keys && k < o->keys; k++)
		kr_vec_done(mem, &s->keys[k]);
	for (uint32_t i = 0; s->clients && i < o->sessions; i++) {
		kr_vec_done(mem, &s->clients[i].locks);
		kr_vec_done(mem, &s->clients[i].writes);
		kr_vec_done(mem, &s->clients[i].reads);
	}
	kr_arena_done(&s->arena);
	kr_zipf_done(&s->zipf, mem);
}

enum kr_status kr_generate_timed(struct kr_ctx *ctx, const struct kr_generate_options *options,
	struct kr_history *h, struct kr_err *err)
{
	struct kr_mem *mem = &ctx->mem;
	struct kr_timed s = {.arena = {.mem = mem},
		.ctx = ctx,
		.options = options,
		.rules = kr_timed_find(options->store),
		.h = h,
		.err = err};
	KR_TRY(check_options(options, err));
	enum kr_status status = KR_OK;
	kr_rng_init(&s.rng, options->seed);
	h->clock_skew = options->skew;
	s.keys = kr_arena_alloc(&s.arena, options->keys, sizeof *s.keys);
	s.handed = kr_arena_alloc(&s.arena, options->keys, sizeof *s.handed);
	s.clients = kr_arena_alloc(&s.arena, options->sessions, sizeof *s.clients);
	s.reached = kr_arena_alloc(&s.arena, options->sessions, sizeof *s.reached);
	s.stack = kr_arena_alloc(&s.arena, options->sessions, sizeof *s.stack);
	if (!s.keys || !s.handed || !s.clients || !s.reached || !s.stack ||
		!kr_zipf_init(&s.zipf, mem, options->keys, options->theta))
		status = KR_NOMEM;
	if (!status)
		status = make_keys(&s);
	if (!status)
		status = run(&s);
	if (!status)
		status = kr_assembly_finish(h, err);
	done(&s);
	return status;
}
