/* Whether the world's sources hold what was observed, where the facts have not told: versions are installed
 * in the order of commits, and when a key's version has been, the observations that have it as their source
 * are looked at, each under its transaction's own earlier writes of the key. Observations that are not
 * external must show what their transaction had left. Cost: that of a replay, unless the facts have told of
 * all, and for each observation of a key that grows its transaction's operations before it. */
#include "verify/own.h"
#include "verify/world.h"

/* ---- external observations ---- */

struct values {
	struct kr_arena arena;
	struct kr_world *w;
	struct kr_replayed replayed;
	uint32_t *heads; /* per place of a source (0: the initial version): an observation of it */
	uint32_t *next;  /* per observation: another one of the same source */
};

static enum kr_status look_at(struct values *x, uint32_t place)
{
	struct kr_world *w = x->w;

	for (uint32_t i = x->heads[place]; i != KR_NONE; i = x->next[i]) {
		const struct kr_world_sight *s = &w->sights.at[i];
		/* only of a key that grows an observation with own writes before it is external */
		KR_TRY(kr_replay_sight(&x->replayed, s->txn, s->op, s->key,
			kr_facts_grows(&w->facts, s->key)));
		KR_TRY(kr_ctx_tick(w->v->ctx));
	}
	return KR_OK;
}

static enum kr_status look_at_all(struct values *x)
{
	struct kr_world *w = x->w;
	const struct kr_certificate *cert = w->v->cert;

	KR_TRY(kr_arena_new(&x->arena, x->heads, (size_t)cert->serial.n + 1));
	KR_TRY(kr_arena_new(&x->arena, x->next, w->sights.n));
	for (uint32_t i = 0; i <= cert->serial.n; i++)
		x->heads[i] = KR_NONE;
	for (uint32_t i = 0; i < w->sights.n; i++) {
		kr_txn source = w->sights.at[i].source;
		if (w->sights.at[i].holds)
			continue;
		uint32_t *head = &x->heads[source.i == KR_NONE ? 0 : w->place[source.i] + 1];

		x->next[i] = *head;
		*head = i;
	}
	KR_TRY(look_at(x, 0));
	for (uint32_t i = 0; i < cert->serial.n; i++) {
		KR_TRY(kr_replay_install(&x->replayed, cert->serial.at[i]));
		KR_TRY(look_at(x, i + 1));
	}
	return KR_OK;
}

/* Growing may fail without anybody to see it. */
static bool needs_replay(const struct kr_world *w)
{
	uint32_t i = 0;

	while (i < w->sights.n && w->sights.at[i].holds)
		i++;
	return i < w->sights.n || w->facts.grow;
}

static enum kr_status check_external(struct kr_world *w)
{
	if (!needs_replay(w))
		return KR_OK;

	struct values x = {.arena = {.mem = w->mem}, .w = w};
	KR_TRY(kr_replay_init(&x.replayed, w->v));
	enum kr_status status = look_at_all(&x);
	kr_arena_done(&x.arena);
	kr_replay_done(&x.replayed);
	return status;
}

/* ---- own writes ---- */

static enum kr_status check_own_writes(const struct kr_world *w)
{
	const struct kr_history *h = w->v->h;
	struct kr_own own;
	uint32_t op = 0;
	kr_key key = {0};
	bool agrees = true;
	KR_TRY(kr_own_init(&own, w->v->ctx, h));
	enum kr_status status = KR_OK;
	for (uint32_t i = 0; i < w->v->cert->serial.n && status == KR_OK; i++) {
		kr_txn t = w->v->cert->serial.at[i];
		status = kr_own_agrees(&own, t, &agrees, &op, &key, w->v->err);
		if (status == KR_OK && !agrees)
			status = kr_err_set(w->v->err, KR_BAD,
				"operation %u of %s does not show %s as it had left it", (unsigned)op,
				kr_verify_txn_name(h, t).text, kr_verify_key_name(h, key).text);
	}
	if (status == KR_OK && own.vague)
		status = kr_err_set(w->v->err, KR_UNSUPPORTED,
			"a condition on what a transaction added to is not checked yet");
	kr_own_done(&own);
	return status;
}

enum kr_status kr_world_check_values(struct kr_world *w)
{
	KR_TRY(check_own_writes(w));
	return check_external(w);
}
