/* Random histories from a simulated multi-version store.
 *
 * One step lets one client, picked at random, begin a transaction, run its next operation or end it, so that transactions interleave. Serializable:
 * reads see the newest version, and a transaction commits only if they still are the newest (backward validation, Kung and Robinson 1981), so that the
 * order of commits is a serial order within real time. Snapshot: reads see what had been committed at begin, and of two concurrent writers of a key the
 * first to commit wins. A transaction that may not commit is tried again with new operations, after MOST_TRIES times alone; tries leave no trace. A
 * client that loses its connection (unknown outcome) goes on; its transaction may take effect later, by the same rules.
 * Each step costs O(log versions of the key). Operation kinds are rows of a table. Planted anomalies: generate_plant.c. */
#include "frontend/generate.h"

#include "base/hash.h"
#include "base/rng.h"
#include "frontend/generate_plant.h"

#include <string.h>

#define STEP 10 /* clock units of a step */
#define MOST_TRIES 8
#define LATE 8 /* one step in LATE lets a transaction of unknown outcome end */

struct version {
	uint32_t commit; /* when it was installed, counted in commits; 0: the initial one */
	kr_value value;
};

struct touch { /* a key that a transaction has used */
	kr_key key;
	uint32_t seen; /* place of the version it read first, or KR_NONE */
	bool written;
	kr_value value; /* its own, when written */
};

struct client {
	bool open;
	enum kr_txn_status outcome;
	uint32_t tries, snapshot;
	uint32_t txn; /* of a late one: its place in the history */
	int64_t begin;
	KR_VEC(struct kr_operation) ops;
	KR_VEC(struct touch) touches;
	struct kr_table index; /* key -> touch */
};

struct sim {
	struct kr_ctx *ctx;
	const struct kr_generate_options *options;
	struct kr_history *h;
	struct kr_rng rng;
	struct kr_zipf zipf;
	int64_t clock;
	uint32_t commits, begun, open;
	struct {
		struct version *at;
		uint32_t n, cap;
	} * stored;        /* per key, oldest first */
	uint32_t *counter; /* per key: values handed out */
	struct client *clients;
	KR_VEC(struct client) late;
	const struct kr_plant *plant; /* still to be planted, or NULL */
	kr_value initial;
};

/* ---- the store ---- */

/* Place of the version of k that the client sees. */
static uint32_t visible(const struct sim *s, const struct client *c, kr_key k)
{
	const struct version *at = s->stored[k.i].at;
	uint32_t low = 0, high = s->stored[k.i].n;

	if (s->options->store != KR_STORE_SNAPSHOT)
		return high - 1;
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;
		if (at[middle].commit <= c->snapshot)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static bool may_commit(const struct sim *s, const struct client *c)
{
	for (uint32_t i = 0; i < c->touches.n; i++) {
		const struct touch *t = &c->touches.at[i];
		uint32_t newest = s->stored[t->key.i].n - 1;
		if (s->options->store == KR_STORE_SERIALIZABLE && t->seen != KR_NONE && t->seen != newest)
			return false;
		if (s->options->store == KR_STORE_SNAPSHOT && t->written && s->stored[t->key.i].at[newest].commit > c->snapshot)
			return false;
	}
	return true;
}

static enum kr_status install(struct sim *s, const struct client *c)
{
	s->commits++;
	for (uint32_t i = 0; i < c->touches.n; i++) {
		const struct touch *t = &c->touches.at[i];
		if (t->written && !kr_vec_push(&s->ctx->mem, &s->stored[t->key.i], (struct version){s->commits, t->value}))
			return KR_NOMEM;
	}
	return KR_OK;
}

/* ---- what a client does ---- */

static struct touch *touch(struct sim *s, struct client *c, kr_key k)
{
	uint64_t hash = kr_hash_u64(k.i);
	uint32_t id;

	for (kr_table_iter it = kr_table_find(&c->index, hash); (id = kr_table_next(&c->index, &it)) != KR_NONE;)
		if (c->touches.at[id].key.i == k.i)
			return &c->touches.at[id];
	if (!kr_table_reserve(&s->ctx->mem, &c->index) || !kr_vec_push(&s->ctx->mem, &c->touches, (struct touch){.key = k, .seen = KR_NONE}))
		return NULL;
	kr_table_insert(&c->index, hash, c->touches.n - 1);
	return &c->touches.at[c->touches.n - 1];
}

static kr_value see(struct sim *s, struct client *c, struct touch *t)
{
	uint32_t place = visible(s, c, t->key);

	if (t->written)
		return t->value;
	if (t->seen == KR_NONE)
		t->seen = place;
	return s->stored[t->key.i].at[place].value;
}

static enum kr_status run_read(struct sim *s, struct client *c, struct touch *t, struct kr_operation *op)
{
	op->kind = KR_OP_READ;
	op->flags = KR_OPF_KNOWN;
	op->a = see(s, c, t);
	return KR_OK;
}

static enum kr_status run_write(struct sim *s, struct client *c, struct touch *t, struct kr_operation *op)
{
	uint32_t *counter = &s->counter[t->key.i];
	uint32_t number = s->options->values == 0 ? ++*counter : 1 + (uint32_t)kr_rng_below(&s->rng, s->options->values);

	(void)c;
	op->kind = KR_OP_WRITE;
	op->a = kr_history_int(s->h, number);
	t->written = true;
	t->value = op->a;
	return op->a.i == KR_NONE ? KR_NOMEM : KR_OK;
}

static enum kr_status run_delete(struct sim *s, struct client *c, struct touch *t, struct kr_operation *op)
{
	bool found = see(s, c, t).i != KR_ABSENT.i;

	op->kind = KR_OP_DELETE;
	op->flags = (uint8_t)(KR_OPF_KNOWN | (found ? KR_OPF_DONE : 0));
	if (found) {
		t->written = true;
		t->value = KR_ABSENT;
	}
	return KR_OK;
}

static enum kr_status run_operation(struct sim *s, struct client *c)
{
	const struct {
		uint32_t share;
		enum kr_status (*run)(struct sim *s, struct client *c, struct touch *t, struct kr_operation *op);
	} kinds[] = {
		{s->options->reads, run_read}, {s->options->deletes, run_delete}, {100, run_write}, /* the rest */
	};
	struct kr_operation op = {.key = {kr_zipf_next(&s->zipf, &s->rng)}, .scan = KR_NONE};
	struct touch *t = touch(s, c, op.key);
	uint32_t draw = (uint32_t)kr_rng_below(&s->rng, 100);
	uint32_t kind = 0;

	if (!t)
		return KR_NOMEM;
	for (; kind + 1 < KR_COUNT(kinds) && draw >= kinds[kind].share; kind++)
		draw -= kinds[kind].share;

	enum kr_status status = kinds[kind].run(s, c, t, &op);

	if (!status && !kr_vec_push(&s->ctx->mem, &c->ops, op))
		status = KR_NOMEM;
	return status;
}

/* ---- life of a transaction ---- */

static void forget(struct sim *s, struct client *c)
{
	kr_vec_clear(&c->ops);
	kr_vec_clear(&c->touches);
	kr_table_done(&s->ctx->mem, &c->index);
}

static void begin(struct sim *s, struct client *c)
{
	forget(s, c);
	c->open = true;
	c->snapshot = s->commits;
	c->begin = s->clock;
}

static enum kr_status record(struct sim *s, struct client *c, struct kr_err *err)
{
	struct kr_history *h = s->h;
	struct kr_transaction txn = {.id = {KR_NONE}, .status = (uint8_t)c->outcome};

	txn.session = kr_generated_session(h, (uint32_t)(c - s->clients));
	if (txn.session.i == KR_NONE || !kr_vec_reserve(h->mem, &h->ops, c->ops.n))
		return KR_NOMEM;
	if (c->ops.n != 0)
		memcpy(h->ops.at + h->ops.n, c->ops.at, c->ops.n * sizeof *c->ops.at);
	h->ops.n += c->ops.n;
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
	}
	return kr_history_add(h, txn, h->txns.n + 1, err);
}

/* Tells the store's order of commits of a transaction that has just taken effect. */
static enum kr_status tell_serial(struct sim *s, uint32_t txn)
{
	struct kr_history *h = s->h;

	if (!s->options->serial)
		return KR_OK;
	while (h->white_box.n < h->txns.n)
		if (!kr_vec_push(h->mem, &h->white_box, (struct kr_white_box){0}))
			return KR_NOMEM;
	h->white_box.at[txn].serial = s->commits;
	h->txns.at[txn].flags |= KR_TXN_HAS_SERIAL;
	return KR_OK;
}

static enum kr_status take_effect(struct sim *s, const struct client *c, uint32_t txn)
{
	enum kr_status status = install(s, c);

	return status ? status : tell_serial(s, txn);
}

/* The client does not learn the outcome. Its transaction may take effect later: it moves to `late`. */
static enum kr_status lose(struct sim *s, struct client *c)
{
	c->open = false;
	c->txn = s->h->txns.n - 1;
	if (kr_rng_below(&s->rng, 2) == 0)
		return KR_OK;
	if (!kr_vec_push(&s->ctx->mem, &s->late, *c))
		return KR_NOMEM;
	*c = (struct client){0};
	return KR_OK;
}

static enum kr_txn_status draw_outcome(struct sim *s)
{
	uint64_t draw = kr_rng_below(&s->rng, 100);

	if (draw < s->options->aborted)
		return KR_ABORTED;
	return draw < (uint64_t)s->options->aborted + s->options->unknown ? KR_UNKNOWN : KR_COMMITTED;
}

static enum kr_status end(struct sim *s, struct client *c, struct kr_err *err)
{
	enum kr_status status;

	if (c->outcome == KR_COMMITTED && !may_commit(s, c)) {
		c->tries++;
		begin(s, c);
		return KR_OK;
	}
	status = record(s, c, err);
	if (status)
		return status;
	s->open--;
	if (c->outcome == KR_UNKNOWN)
		return lose(s, c);
	c->open = false;
	return c->outcome == KR_COMMITTED ? take_effect(s, c, s->h->txns.n - 1) : KR_OK;
}

static enum kr_status end_late(struct sim *s)
{
	uint32_t i = (uint32_t)kr_rng_below(&s->rng, s->late.n);
	struct client c = s->late.at[i];
	enum kr_status status = KR_OK;

	s->late.at[i] = kr_vec_pop(&s->late);
	if (may_commit(s, &c))
		status = take_effect(s, &c, c.txn);
	forget(s, &c);
	kr_vec_done(&s->ctx->mem, &c.ops);
	kr_vec_done(&s->ctx->mem, &c.touches);
	return status;
}

static enum kr_status step(struct sim *s, struct client *c, struct kr_err *err)
{
	enum kr_status status = KR_OK;

	if (!c->open) {
		s->begun++;
		s->open++;
		c->outcome = draw_outcome(s);
		c->tries = 0;
		begin(s, c);
		return KR_OK;
	}
	if (c->tries < MOST_TRIES && c->ops.n < s->options->ops)
		return run_operation(s, c);
	if (c->tries >= MOST_TRIES) { /* alone: all in one step */
		begin(s, c);
		while (c->ops.n < s->options->ops)
			if ((status = run_operation(s, c)) || (status = kr_ctx_tick(s->ctx)))
				return status;
	}
	return end(s, c, err);
}

/* Whether client c may be given the step: new transactions wait while an anomaly is about to be planted. */
static bool has_work(const struct sim *s, const struct client *c)
{
	bool draining = s->plant && s->begun >= s->options->txns / 2;

	return c->open || (s->begun < s->options->txns && !draining);
}

static enum kr_status plant(struct sim *s, struct kr_err *err)
{
	struct kr_plant_site site = {s->h, &s->rng, s->options->keys, s->options->sessions, s->initial, s->options->times, &s->clock};
	enum kr_status status = kr_plant_add(s->plant, &site, err);

	s->plant = NULL;
	return status;
}

static enum kr_status run(struct sim *s, struct kr_err *err)
{
	enum kr_status status = KR_OK;

	while (!status && (s->open > 0 || s->begun < s->options->txns || s->plant)) {
		if (s->plant && s->open == 0 && s->begun >= s->options->txns / 2) {
			status = plant(s, err);
			continue;
		}

		struct client *c = &s->clients[kr_rng_below(&s->rng, s->options->sessions)];

		if (has_work(s, c)) {
			status = step(s, c, err);
			s->clock += STEP;
		}
		if (!status && s->late.n > 0 && kr_rng_below(&s->rng, LATE) == 0)
			status = end_late(s);
		if (!status)
			status = kr_ctx_tick(s->ctx);
	}
	while (!status && s->late.n > 0)
		status = end_late(s);
	return status;
}

/* ---- the whole ---- */

static enum kr_status prepare(struct sim *s)
{
	const struct kr_generate_options *o = s->options;
	struct kr_mem *mem = &s->ctx->mem;

	s->h->initial = o->initial;
	s->h->format = "native";
	s->initial = o->initial == KR_INITIAL_ABSENT ? KR_ABSENT : kr_history_int(s->h, 0);
	s->stored = kr_mem_alloc(mem, o->keys, sizeof *s->stored);
	s->counter = kr_mem_alloc(mem, o->keys, sizeof *s->counter);
	s->clients = kr_mem_alloc(mem, o->sessions, sizeof *s->clients);
	if (s->initial.i == KR_NONE || !s->stored || !s->counter || !s->clients || !kr_zipf_init(&s->zipf, mem, o->keys, o->theta))
		return KR_NOMEM;
	for (uint32_t k = 0; k < o->keys; k++) {
		if (kr_generated_key(s->h, k).i == KR_NONE || !kr_vec_push(mem, &s->stored[k], (struct version){0, s->initial}))
			return KR_NOMEM;
		s->h->keys.at[k].initial = o->initial == KR_INITIAL_GIVEN ? s->initial : KR_ABSENT;
	}
	return KR_OK;
}

static void clients_done(struct sim *s, struct client *clients, uint32_t n)
{
	for (uint32_t i = 0; clients && i < n; i++) {
		forget(s, &clients[i]);
		kr_vec_done(&s->ctx->mem, &clients[i].ops);
		kr_vec_done(&s->ctx->mem, &clients[i].touches);
	}
}

static void sim_done(struct sim *s)
{
	const struct kr_generate_options *o = s->options;
	struct kr_mem *mem = &s->ctx->mem;

	for (uint32_t k = 0; s->stored && k < o->keys; k++)
		kr_vec_done(mem, &s->stored[k]);
	clients_done(s, s->clients, o->sessions);
	clients_done(s, s->late.at, s->late.n);
	kr_mem_free(mem, s->stored, o->keys, sizeof *s->stored);
	kr_mem_free(mem, s->counter, o->keys, sizeof *s->counter);
	kr_mem_free(mem, s->clients, o->sessions, sizeof *s->clients);
	kr_vec_done(mem, &s->late);
	kr_zipf_done(&s->zipf, mem);
}

static enum kr_status check_options(const struct kr_generate_options *o, const struct kr_plant **plant, struct kr_err *err)
{
	if (o->sessions == 0 || o->keys == 0)
		return kr_err_set(err, KR_BAD, "%s is 0, expected at least 1", o->sessions == 0 ? "the number of sessions" : "the number of keys");
	if (o->keys > UINT32_MAX - 8 || o->sessions > UINT32_MAX - 8)
		return kr_err_set(err, KR_BAD, "too many keys or sessions");
	if ((uint64_t)o->reads + o->deletes > 100)
		return kr_err_set(err, KR_BAD, "reads and deletes together are more than 100 percent");
	if ((uint64_t)o->aborted + o->unknown > 100)
		return kr_err_set(err, KR_BAD, "aborted and unknown transactions together are more than 100 percent");
	if (!(o->theta >= 0 && o->theta <= 100))
		return kr_err_set(err, KR_BAD, "the zipfian exponent is %g, expected 0 to 100", o->theta);
	*plant = o->anomaly ? kr_plant_find(o->anomaly) : NULL;
	if (o->anomaly && !*plant)
		return kr_err_set(err, KR_BAD, "unknown anomaly '%s'", o->anomaly);
	if (*plant && kr_plant_needs_times(*plant) && !o->times)
		return kr_err_set(err, KR_BAD, "the anomaly '%s' needs times", o->anomaly);
	return KR_OK;
}

void kr_generate_defaults(struct kr_generate_options *options)
{
	*options = (struct kr_generate_options){.seed = 1, .txns = 1000, .sessions = 8, .keys = 100, .ops = 4, .reads = 50, .times = true};
}

bool kr_store_parse(const char *text, enum kr_store *store)
{
	static const char *const names[] = {"serializable", "snapshot", "read-committed"};

	for (size_t i = 0; i < KR_COUNT(names); i++) {
		if (strcmp(text, names[i]) == 0) {
			*store = (enum kr_store)i;
			return true;
		}
	}
	return false;
}

enum kr_status kr_generate(struct kr_ctx *ctx, const struct kr_generate_options *options, struct kr_history *out, struct kr_err *err)
{
	struct kr_history h;
	struct sim s = {.ctx = ctx, .options = options, .h = &h};
	enum kr_status status = check_options(options, &s.plant, err);

	if (status)
		return status;
	if ((status = kr_history_init(&h, &ctx->mem)) != KR_OK)
		return status;
	kr_rng_init(&s.rng, options->seed);
	status = prepare(&s);
	if (!status)
		status = run(&s, err);
	if (!status)
		status = kr_history_finish(&h, ctx, err);
	sim_done(&s);
	if (status)
		kr_history_done(&h);
	else
		*out = h;
	return status;
}
