/* Starts and commits in one sequence, as snapshot isolation and prefix consistency define themselves: at its
 * start a transaction runs on the state of that moment, with its own writes on top, and what it shows must be
 * there; its writes are undone then, and installed when it commits. That gives each key's versions the order
 * of commits, and each observation the newest version committed before the start. Snapshot isolation also
 * wants that no other writer of a key commits between start and commit of one that writes it (first committer
 * wins); prefix consistency does not. A version that depends on the one before it is computed at its commit;
 * a counter's that its transaction was shown is what was shown. Cost: that of two replays. */
#include "verify/replayed.h"
#include "verify/saw.h"

struct snapshots {
	struct kr_arena arena;
	struct kr_verifier *v;
	struct kr_replayed replayed;
	uint32_t *start, *place;
};

/* First committer wins: no other writer of a key that t writes has committed since t started. */
static enum kr_status check_writes(struct snapshots *s, kr_txn t)
{
	const struct kr_history *h = s->v->h;

	for (struct kr_effects e = kr_effects_of(h, t); kr_effects_next(&e);) {
		kr_txn w = s->replayed.writer[e.row.key.i];
		if (w.i != KR_NONE && s->place[w.i] > s->start[t.i])
			return kr_err_set(s->v->err, KR_BAD,
				"%s and %s both write %s, and neither starts after the other has committed",
				kr_verify_txn_name(h, w).text, kr_verify_txn_name(h, t).text,
				kr_verify_key_name(h, e.row.key).text);
	}
	return KR_OK;
}

static enum kr_status install(struct snapshots *s, kr_txn t)
{
	if (!s->v->rule->prefixes)
		KR_TRY(check_writes(s, t));
	return kr_replay_install(&s->replayed, t);
}

static enum kr_status run(struct snapshots *s)
{
	const struct kr_certificate *cert = s->v->cert;

	KR_TRY(kr_arena_new(&s->arena, s->start, s->v->h->txns.n));
	KR_TRY(kr_arena_new(&s->arena, s->place, s->v->h->txns.n));
	KR_TRY(kr_verify_points(s->v, s->start, s->place));
	for (uint32_t i = 0; i < cert->serial.n; i++) {
		kr_txn t = cert->serial.at[i];
		KR_TRY(s->start[t.i] == i ? kr_replay_txn(&s->replayed, t, true) : install(s, t));
		kr_ctx_progress(s->v->ctx, "checking the proof", i, cert->serial.n);
	}
	return KR_OK;
}

enum kr_status kr_verify_snapshots(struct kr_verifier *v)
{
	struct snapshots s = {.arena = {.mem = &v->ctx->mem}, .v = v};

	if (!v->rule->snapshots)
		return kr_err_set(v->err, KR_BAD, "starts and commits do not prove %s", v->rule->id);
	KR_TRY(kr_replay_init(&s.replayed, v));
	enum kr_status status = run(&s);
	kr_arena_done(&s.arena);
	kr_replay_done(&s.replayed);
	return status;
}
