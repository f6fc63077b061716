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
	struct kr_verifier *v;
	struct kr_replayed replayed;
	uint32_t *start, *place;
};

/* First committer wins: no other writer of a key that t writes has committed since t started. */
static enum kr_status check_writes(struct snapshots *s, kr_txn t)
{
	const struct kr_history *h = s->v->h;

	for (uint32_t index = 0; index < h->txns.at[t.i].op_count; index++) {
		const struct kr_operation *op = &h->ops.at[kr_history_op(h, t, index).i];
		uint32_t effects = kr_effect_count(h, op);

		for (uint32_t i = 0; i < effects; i++) {
			kr_key k = kr_effect_at(h, op, i).key;
			kr_txn w = s->replayed.writer[k.i];
			if (w.i != KR_NONE && s->place[w.i] > s->start[t.i])
				return kr_err_set(s->v->err, KR_BAD,
					"%s and %s both write %s, and neither starts after the other has "
					"committed",
					kr_verify_txn_name(h, w).text, kr_verify_txn_name(h, t).text,
					kr_verify_key_name(h, k).text);
		}
	}
	return KR_OK;
}

static enum kr_status install(struct snapshots *s, kr_txn t)
{
	enum kr_status status = s->v->rule->prefixes ? KR_OK : check_writes(s, t);

	return status == KR_OK ? kr_replay_install(&s->replayed, t) : status;
}

static enum kr_status run(struct snapshots *s)
{
	const struct kr_certificate *cert = s->v->cert;
	enum kr_status status = kr_verify_points(s->v, s->start, s->place);

	for (uint32_t i = 0; i < cert->serial.n && status == KR_OK; i++) {
		kr_txn t = cert->serial.at[i];
		status = s->start[t.i] == i ? kr_replay_txn(&s->replayed, t, true) : install(s, t);
		kr_ctx_progress(s->v->ctx, "checking the proof", i, cert->serial.n);
	}
	return status;
}

enum kr_status kr_verify_snapshots(struct kr_verifier *v)
{
	struct kr_mem *mem = &v->ctx->mem;
	uint32_t n = v->h->txns.n;
	struct snapshots s = {.v = v};

	if (!v->rule->snapshots)
		return kr_err_set(v->err, KR_BAD, "starts and commits do not prove %s", v->rule->id);
	KR_TRY(kr_replay_init(&s.replayed, v));
	s.start = kr_mem_alloc(mem, n, sizeof *s.start);
	s.place = kr_mem_alloc(mem, n, sizeof *s.place);
	enum kr_status status = s.start && s.place ? run(&s) : KR_NOMEM;
	kr_mem_free(mem, s.start, n, sizeof *s.start);
	kr_mem_free(mem, s.place, n, sizeof *s.place);
	kr_replay_done(&s.replayed);
	return status;
}
