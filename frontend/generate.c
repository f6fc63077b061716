/* Random histories from a simulated multi-version store.
 *
 * One step lets one client, picked at random, begin a transaction, run its next operation or end it, so that
 * transactions interleave. Serializable: reads see the newest version, and a transaction commits only if they
 * still are the newest (backward validation, Kung and Robinson 1981), so that the order of commits is a
 * serial order within real time; ranges and scans validate every key that they looked at. Snapshot: reads see
 * what had been committed at begin, and of two concurrent writers of a key the first to commit wins. A
 * transaction that may not commit is tried again with new operations, after MOST_TRIES times alone; tries
 * leave no trace. A client that loses its connection (unknown outcome) goes on; its transaction may take
 * effect later, by the same rules. A step costs what its operation costs. The store: generate_store.c;
 * operations: generate_ops.c, generate_scans.c; planted anomalies: generate_plant.c. */
#include "frontend/generate.h"

#include "frontend/generate_plant.h"
#include "frontend/generate_sim.h"
#include "frontend/generate_timed.h"

#include <string.h>

#define STEP 10 /* clock units of a step */
#define MOST_TRIES 8
#define LATE 8 /* one step in LATE lets a transaction of unknown outcome end */

/* ---- life of a transaction ---- */

static void forget(struct kr_sim *s, struct kr_sim_client *c)
{
	kr_vec_clear(&c->ops);
	kr_vec_clear(&c->scans);
	kr_vec_clear(&c->conds);
	kr_vec_clear(&c->rows);
	kr_vec_clear(&c->touches);
	kr_vec_clear(&c->times);
	kr_table_done(&s->ctx->mem, &c->index);
}

static void client_done(struct kr_sim *s, struct kr_sim_client *c)
{
	struct kr_mem *mem = &s->ctx->mem;

	forget(s, c);
	kr_vec_done(mem, &c->ops);
	kr_vec_done(mem, &c->times);
	kr_vec_done(mem, &c->scans);
	kr_vec_done(mem, &c->conds);
	kr_vec_done(mem, &c->rows);
	kr_vec_done(mem, &c->touches);
}

static void begin(struct kr_sim *s, struct kr_sim_client *c)
{
	forget(s, c);
	c->open = true;
	c->alone = false;
	c->snapshot = s->commits;
	c->begin = s->clock;
}

/* Appends `n` things of a client's array to an array of the history. */
#define COPY(h, to, from) \
	(kr_vec_reserve((h)->mem, (to), (from)->n) \
			? ((from)->n != 0 ? (void)memcpy((to)->at + (to)->n, (from)->at, \
						    (from)->n * sizeof *(from)->at) \
					  : (void)0, \
				  (to)->n += (from)->n, true) \
			: false)

static enum kr_status record_ops(struct kr_history *h, const struct kr_sim_client *c)
{
	uint32_t ops = h->ops.n, scans = h->scans.n, conds = h->conds.n, rows = h->rows.n;

	if (!COPY(h, &h->ops, &c->ops) || !COPY(h, &h->scans, &c->scans) || !COPY(h, &h->conds, &c->conds) ||
		!COPY(h, &h->rows, &c->rows))
		return KR_NOMEM;
	for (; ops < h->ops.n; ops++)
		if (kr_op_scans(&h->ops.at[ops]))
			h->ops.at[ops].scan += scans;
	for (; scans < h->scans.n; scans++) {
		h->scans.at[scans].cond_first += conds;
		h->scans.at[scans].row_first += rows;
	}
	return KR_OK;
}

/* Times of the operations recorded last. What happened in one step, alone, happened at once, before it went
 * on. */
static enum kr_status record_times(struct kr_history *h, const struct kr_sim_client *c, int64_t at_once)
{
	uint32_t first = h->ops.n - c->ops.n;

	for (uint32_t i = 0; i < c->times.n; i++) {
		struct kr_attr attr = {.op = {first + i},
			.has_time = true,
			.cursor = true,
			.invoked = c->times.at[i].invoked,
			.returned = c->times.at[i].returned};

		if (c->alone)
			attr.invoked = attr.returned = at_once;
		h->ops.at[first + i].flags |= KR_OPF_HAS_ATTR;
		KR_TRY(kr_vec_add(h->mem, &h->attrs, attr));
	}
	return KR_OK;
}

static enum kr_status record(struct kr_sim *s, struct kr_sim_client *c, struct kr_err *err)
{
	struct kr_history *h = s->h;
	struct kr_transaction txn = {.id = {KR_NONE}, .status = c->outcome};

	txn.session = kr_generated_session(h, (uint32_t)(c - s->clients));
	if (txn.session.i == KR_NONE || record_ops(h, c) != KR_OK)
		return KR_NOMEM;
	if (s->options->times) {
		txn.flags = KR_TXN_HAS_BEGIN;
		txn.begin_invoked = c->begin;
		txn.begin_returned = c->begin + 1 + (int64_t)kr_rng_below(&s->rng, STEP / 2);
	}
	if (s->options->times && c->outcome != KR_UNKNOWN) {
		txn.flags |= KR_TXN_HAS_END;
		txn.end_invoked = s->clock;
		txn.end_returned = s->clock + 1 + (int64_t)kr_rng_below(&s->rng, STEP / 2);
		if (txn.end_invoked < txn.begin_returned) /* all in one step */
			txn.end_invoked = txn.end_returned = txn.begin_returned;
	} else if (s->options->op_times) {
		txn.flags |= KR_TXN_HAS_END | KR_TXN_END_OPEN;
		txn.end_invoked = s->clock < txn.begin_returned ? txn.begin_returned : s->clock;
		txn.end_returned = KR_TIME_OPEN;
	}
	if (record_times(h, c, txn.begin_returned) != KR_OK)
		return KR_NOMEM;
	return kr_history_add(h, txn, NULL, err);
}

/* Tells the store's order of commits, too. */
static enum kr_status take_effect(struct kr_sim *s, const struct kr_sim_client *c, uint32_t txn)
{
	struct kr_history *h = s->h;

	KR_TRY(kr_sim_install(s, c));
	if (!s->options->serial)
		return KR_OK;
	while (h->white_box.n < h->txns.n)
		KR_TRY(kr_vec_add(h->mem, &h->white_box, (struct kr_white_box){0}));
	h->white_box.at[txn].serial = s->commits;
	h->txns.at[txn].flags |= KR_TXN_HAS_SERIAL;
	return KR_OK;
}

/* The client does not learn the outcome. Its transaction may take effect later: it moves to `late`. */
static enum kr_status lose(struct kr_sim *s, struct kr_sim_client *c)
{
	c->open = false;
	c->txn = s->h->txns.n - 1;
	if (kr_rng_below(&s->rng, 2) == 0)
		return KR_OK;
	KR_TRY(kr_vec_add(&s->ctx->mem, &s->late, *c));
	*c = (struct kr_sim_client){0};
	return KR_OK;
}

static enum kr_txn_status draw_outcome(struct kr_sim *s)
{
	uint64_t draw = kr_rng_below(&s->rng, 100);

	if (draw < s->options->aborted)
		return KR_ABORTED;
	return draw < (uint64_t)s->options->aborted + s->options->unknown ? KR_UNKNOWN : KR_COMMITTED;
}

static enum kr_status end(struct kr_sim *s, struct kr_sim_client *c, struct kr_err *err)
{
	if (c->outcome == KR_COMMITTED && !kr_sim_may_commit(s, c)) {
		c->tries++;
		begin(s, c);
		return KR_OK;
	}
	KR_TRY(record(s, c, err));
	s->open--;
	if (c->outcome == KR_UNKNOWN)
		return lose(s, c);
	c->open = false;
	return c->outcome == KR_COMMITTED ? take_effect(s, c, s->h->txns.n - 1) : KR_OK;
}

static enum kr_status end_late(struct kr_sim *s)
{
	uint32_t i = (uint32_t)kr_rng_below(&s->rng, s->late.n);
	struct kr_sim_client c = s->late.at[i];
	enum kr_status status = KR_OK;

	s->late.at[i] = kr_vec_pop(&s->late);
	if (kr_sim_may_commit(s, &c))
		status = take_effect(s, &c, c.txn);
	client_done(s, &c);
	return status;
}

/* The client's next operation. It is carried out at this moment, sent a while before and answered a while
 * after it. */
static enum kr_status operate(struct kr_sim *s, struct kr_sim_client *c)
{
	uint32_t done = c->ops.n;

	KR_TRY(kr_sim_operation(s, c));
	for (; s->options->op_times && done < c->ops.n; done++) {
		struct kr_sim_time time = {s->clock - (int64_t)kr_rng_below(&s->rng, STEP / 2),
			s->clock + (int64_t)kr_rng_below(&s->rng, STEP / 2)};

		KR_TRY(kr_vec_add(&s->ctx->mem, &c->times, time));
	}
	return KR_OK;
}

static enum kr_status step(struct kr_sim *s, struct kr_sim_client *c, struct kr_err *err)
{
	if (!c->open) {
		s->begun++;
		s->open++;
		c->outcome = draw_outcome(s);
		c->blank = c->outcome == KR_UNKNOWN && s->options->blank > 0 &&
			kr_rng_below(&s->rng, 100) < s->options->blank;
		c->tries = 0;
		begin(s, c);
		return KR_OK;
	}
	if (c->tries < MOST_TRIES && c->ops.n < s->options->ops)
		return operate(s, c);
	if (c->tries >= MOST_TRIES) { /* alone: all in one step */
		begin(s, c);
		c->alone = true;
		while (c->ops.n < s->options->ops) {
			KR_TRY(operate(s, c));
			KR_TRY(kr_ctx_tick(s->ctx));
		}
	}
	return end(s, c, err);
}

/* Whether client c may be given the step: new transactions wait while an anomaly is about to be planted. */
static bool has_work(const struct kr_sim *s, const struct kr_sim_client *c)
{
	bool draining = s->plant && s->begun >= s->options->txns / 2;

	return c->open || (s->begun < s->options->txns && !draining);
}

static enum kr_status plant(struct kr_sim *s, struct kr_err *err)
{
	struct kr_plant_site site = {s->h, &s->rng, s->options->sessions, s->options->times, &s->clock};
	enum kr_status status = kr_plant_add(s->plant, &site, err);

	s->plant = NULL;
	return status;
}

static enum kr_status run(struct kr_sim *s, struct kr_err *err)
{
	while (s->open > 0 || s->begun < s->options->txns || s->plant) {
		if (s->plant && s->open == 0 && s->begun >= s->options->txns / 2) {
			KR_TRY(plant(s, err));
			continue;
		}

		struct kr_sim_client *c = &s->clients[kr_rng_below(&s->rng, s->options->sessions)];

		if (has_work(s, c)) {
			KR_TRY(step(s, c, err));
			s->clock += STEP;
		}
		if (s->late.n > 0 && kr_rng_below(&s->rng, LATE) == 0)
			KR_TRY(end_late(s));
		KR_TRY(kr_ctx_tick(s->ctx));
	}
	while (s->late.n > 0)
		KR_TRY(end_late(s));
	return KR_OK;
}

/* ---- the whole ---- */

static enum kr_status prepare(struct kr_sim *s, struct kr_err *err)
{
	const struct kr_generate_options *o = s->options;
	struct kr_mem *mem = &s->ctx->mem;

	s->h->initial = o->initial;
	s->h->format = "native";
	kr_str_init(&s->text, mem);
	KR_TRY(kr_sim_prepare_keys(s, err));
	s->clients = kr_mem_alloc(mem, o->sessions, sizeof *s->clients);
	return s->clients && kr_zipf_init(&s->zipf, mem, o->keys, o->theta) ? KR_OK : KR_NOMEM;
}

static void sim_done(struct kr_sim *s)
{
	struct kr_mem *mem = &s->ctx->mem;

	for (uint32_t i = 0; s->clients && i < s->options->sessions; i++)
		client_done(s, &s->clients[i]);
	for (uint32_t i = 0; i < s->late.n; i++)
		client_done(s, &s->late.at[i]);
	kr_mem_free(mem, s->clients, s->options->sessions, sizeof *s->clients);
	kr_vec_done(mem, &s->late);
	kr_zipf_done(&s->zipf, mem);
	kr_str_done(&s->text);
	kr_sim_keys_done(s);
}

static enum kr_status check_options(const struct kr_generate_options *o, const struct kr_plant **plant,
	struct kr_err *err)
{
	uint64_t shares = (uint64_t)o->reads + o->deletes + o->inserts + o->cas + o->incs + o->appends +
		o->adds + o->maxes + o->ranges + o->scans + o->updates;

	if (o->sessions == 0 || o->keys == 0)
		return kr_err_set(err, KR_BAD, "%s is 0, expected at least 1",
			o->sessions == 0 ? "the number of sessions" : "the number of keys");
	if (o->keys > UINT32_MAX - 8 || o->sessions > UINT32_MAX - 8)
		return kr_err_set(err, KR_BAD, "too many keys or sessions");
	if (shares > 100)
		return kr_err_set(err, KR_BAD,
			"the operations' shares together are %llu percent, expected at most 100",
			(unsigned long long)shares);
	if (o->op_times && !o->times)
		return kr_err_set(err, KR_BAD,
			"times of operations without those of transactions, expected both");
	if (o->untold > 100 || o->blank > 100)
		return kr_err_set(err, KR_BAD, "a share of untold results is more than 100 percent");
	if ((uint64_t)o->aborted + o->unknown > 100)
		return kr_err_set(err, KR_BAD,
			"aborted and unknown transactions together are more than 100 percent");
	if (!(o->theta >= 0 && o->theta <= 100))
		return kr_err_set(err, KR_BAD, "the zipfian exponent is %g, expected 0 to 100", o->theta);
	*plant = o->anomaly ? kr_plant_find(o->anomaly) : NULL;
	if (o->anomaly && !*plant)
		return kr_err_set(err, KR_BAD, "unknown anomaly '%s'", o->anomaly);
	if (*plant && kr_plant_needs_times(*plant) && !o->times)
		return kr_err_set(err, KR_BAD, "the anomaly '%s' needs times", o->anomaly);
	if (*plant && kr_plant_needs_initial(*plant) && o->initial >= KR_INITIAL_UNKNOWN)
		return kr_err_set(err, KR_BAD, "the anomaly '%s' needs known initial values", o->anomaly);
	return KR_OK;
}

void kr_generate_defaults(struct kr_generate_options *options)
{
	*options = (struct kr_generate_options){.seed = 1,
		.txns = 1000,
		.sessions = 8,
		.keys = 100,
		.ops = 4,
		.reads = 50,
		.span = 10,
		.times = true,
		.latency = 50,
		.think = 100};
}

/* By enum kr_store; those whose statements take time are named as the row of mechanisms that they keep to. */
static const char *const stores[] = {"serializable", "snapshot", "read-committed", "postgresql-rc",
	"postgresql-rr", "postgresql-ser", "mariadb-ru", "mariadb-rc", "mariadb-rr", "mariadb-rr-si",
	"mariadb-ser"};

const char *kr_store_names(void)
{
	return "serializable, snapshot, read-committed, postgresql-rc, postgresql-rr, postgresql-ser, "
	       "mariadb-ru, mariadb-rc, mariadb-rr, mariadb-rr-si or mariadb-ser";
}

bool kr_store_parse(const char *text, enum kr_store *store)
{
	for (size_t i = 0; i < KR_COUNT(stores); i++) {
		if (strcmp(text, stores[i]) == 0) {
			*store = (enum kr_store)i;
			return true;
		}
	}
	return false;
}

enum kr_status kr_generate(struct kr_ctx *ctx, const struct kr_generate_options *options,
	struct kr_history *out, struct kr_err *err)
{
	struct kr_history h;
	struct kr_sim s = {.ctx = ctx, .options = options, .h = &h};
	KR_TRY(check_options(options, &s.plant, err));
	enum kr_status status = KR_OK;
	KR_TRY(kr_history_init(&h, &ctx->mem));
	kr_rng_init(&s.rng, options->seed);
	if (kr_timed_find(options->store)) {
		h.profile = stores[options->store];
		status = kr_generate_timed(ctx, options, &h, err);
	} else if (!(status = prepare(&s, err))) {
		status = run(&s, err);
	}
	if (!status)
		status = kr_history_finish(&h, ctx, err);
	sim_done(&s);
	if (status)
		kr_history_done(&h);
	else
		*out = h;
	return status;
}
