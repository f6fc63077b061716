/* Whether the world's sources hold what was observed: versions are installed in the order of commits, and when a key's version has been, the observations that have it as
 * their source are looked at, each under its transaction's own earlier writes of the key. Observations that are not external must show what
 * their transaction had left. Cost: that of a replay, and for each observation its transaction's operations before it. */
#include "verify/claim.h"
#include "verify/world.h"

/* ---- external observations ---- */

struct values {
	struct kr_world *w;
	struct kr_replayed replayed;
	uint32_t *heads; /* per place of a source (0: the initial version): an observation of it */
	kr_txn *writer;
};

static enum kr_status look_at(struct values *x, uint32_t place)
{
	struct kr_world *w = x->w;
	enum kr_status status = KR_OK;

	for (uint32_t i = x->heads[place]; i != KR_NONE && status == KR_OK; i = w->sights.at[i].next) {
		const struct kr_world_sight *s = &w->sights.at[i];
		status = kr_replay_sight(&x->replayed, s->txn, s->op, s->key);
		if (status == KR_OK)
			status = kr_ctx_tick(w->v->ctx);
	}
	return status;
}

static enum kr_status look_at_all(struct values *x)
{
	struct kr_world *w = x->w;
	const struct kr_certificate *cert = w->v->cert;
	enum kr_status status = KR_OK;

	for (uint32_t i = 0; i <= cert->serial.n; i++)
		x->heads[i] = KR_NONE;
	for (uint32_t k = 0; k < w->v->h->keys.n; k++)
		x->writer[k] = (kr_txn){KR_NONE};
	for (uint32_t i = 0; i < w->sights.n; i++) {
		kr_txn source = w->sights.at[i].source;
		uint32_t *head = &x->heads[source.i == KR_NONE ? 0 : w->place[source.i] + 1];

		w->sights.at[i].next = *head;
		*head = i;
	}
	status = look_at(x, 0);
	for (uint32_t i = 0; i < cert->serial.n && status == KR_OK; i++) {
		status = kr_replay_install(&x->replayed, cert->serial.at[i], x->writer);
		if (status == KR_OK)
			status = look_at(x, i + 1);
	}
	return status;
}

static enum kr_status check_external(struct kr_world *w)
{
	uint32_t n = w->v->cert->serial.n, nkeys = w->v->h->keys.n;
	struct values x = {.w = w};
	enum kr_status status = kr_replay_init(&x.replayed, w->v);

	if (status != KR_OK)
		return status;
	x.heads = kr_mem_alloc(w->mem, (size_t)n + 1, sizeof *x.heads);
	x.writer = kr_mem_alloc(w->mem, nkeys, sizeof *x.writer);
	status = x.heads && x.writer ? look_at_all(&x) : KR_NOMEM;
	kr_mem_free(w->mem, x.heads, (size_t)n + 1, sizeof *x.heads);
	kr_mem_free(w->mem, x.writer, nkeys, sizeof *x.writer);
	kr_replay_done(&x.replayed);
	return status;
}

/* ---- own writes ---- */

/* Whether t's operation, which shows k after t has written it, shows what t had left. */
static enum kr_status check_own(const struct kr_world *w, kr_txn t, uint32_t index, kr_key k, kr_value left)
{
	const struct kr_history *h = w->v->h;
	struct kr_claim claim = {.v = w->v, .txn = t, .op = index, .key = k, .txn_name = kr_verify_txn_name(h, t), .key_name = kr_verify_key_name(h, k)};
	bool agrees = true;
	enum kr_status status;

	claim.saw = kr_saw_of(h, &h->ops.at[kr_history_op(h, t, index).i], k);
	if (claim.saw.test == KR_SAW_NOTHING)
		return KR_OK;
	if (kr_facts_grows(&w->facts, k)) {
		struct kr_verifier asking = *w->v; /* with an error of its own: that it is none is nothing to tell */
		struct kr_err why;
		kr_err_init(&why);
		asking.err = &why;
		claim.v = &asking;
		status = kr_claim_internal(&claim);
		if (status == KR_BAD)
			return KR_OK; /* it is no internal inconsistency */
		if (status != KR_OK)
			return kr_err_set(w->v->err, status, "%s", why.text);
		agrees = false;
	} else {
		status = kr_saw_allows(h, &claim.saw, k, left, &agrees, w->v->err);
	}
	if (status != KR_OK || agrees)
		return status;
	return kr_err_set(w->v->err, KR_BAD, "operation %u of %s does not show %s as it had left it", (unsigned)index, claim.txn_name.text,
		claim.key_name.text);
}

struct left {
	kr_key key;
	kr_value value;
};
KR_VEC_NAMED(lefts, struct left);

static enum kr_status note_effects(const struct kr_world *w, const struct kr_operation *op, struct lefts *lefts)
{
	const struct kr_history *h = w->v->h;
	uint32_t effects = kr_effect_count(h, op);

	for (uint32_t i = 0; i < effects; i++) {
		struct kr_effect effect = kr_effect_at(h, op, i);
		uint32_t at = 0;

		while (at < lefts->n && lefts->at[at].key.i != effect.key.i)
			at++;
		if (at == lefts->n && !kr_vec_push(w->mem, lefts, (struct left){effect.key, effect.value}))
			return KR_NOMEM;
		lefts->at[at].value = effect.value;
	}
	return KR_OK;
}

static enum kr_status check_txn(const struct kr_world *w, kr_txn t, struct lefts *lefts)
{
	const struct kr_history *h = w->v->h;
	struct kr_sight sight;
	enum kr_status status = KR_OK;

	kr_vec_clear(lefts);
	for (uint32_t index = 0; index < h->txns.at[t.i].op_count && status == KR_OK; index++) {
		const struct kr_operation *op = &h->ops.at[kr_history_op(h, t, index).i];

		for (uint32_t i = 0; i < lefts->n && status == KR_OK; i++) {
			kr_key k = lefts->at[i].key;
			if ((op->scan != KR_NONE || op->key.i == k.i) && !kr_facts_sight(&w->facts, t, index, k, (kr_value){KR_NONE}, &sight))
				status = check_own(w, t, index, k, lefts->at[i].value);
		}
		if (status == KR_OK)
			status = note_effects(w, op, lefts);
		if (status == KR_OK)
			status = kr_ctx_tick(w->v->ctx);
	}
	return status;
}

static enum kr_status check_own_writes(const struct kr_world *w)
{
	struct lefts lefts = {0};
	enum kr_status status = KR_OK;

	for (uint32_t i = 0; i < w->v->cert->serial.n && status == KR_OK; i++)
		status = check_txn(w, w->v->cert->serial.at[i], &lefts);
	kr_vec_done(w->mem, &lefts);
	return status;
}

enum kr_status kr_world_check_values(struct kr_world *w)
{
	enum kr_status status = check_own_writes(w);

	return status == KR_OK ? check_external(w) : status;
}
