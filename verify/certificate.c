/* Certificates: their life, and which part of the verifier looks at which kind: order.c with replay.c,
 * snapshots.c, world.c, anomaly.c, cases.c with edges.c, expected.c. What a kind can prove depends on the
 * level (levels.c). */
#include "verify/store.h"
#include "verify/verifier.h"

#include <stdio.h>

void kr_certificate_init(struct kr_certificate *cert, struct kr_mem *mem)
{
	*cert = (struct kr_certificate){.mem = mem, .anomaly = {.txn = {KR_NONE}, .key = {KR_NONE}}};
}

void kr_certificate_done(struct kr_certificate *cert)
{
	kr_vec_done(cert->mem, &cert->serial);
	kr_vec_done(cert->mem, &cert->sources);
	kr_vec_done(cert->mem, &cert->edges);
	kr_vec_done(cert->mem, &cert->cycles);
	kr_certificate_init(cert, cert->mem);
}

enum kr_status kr_certificate_copy(struct kr_mem *mem, const struct kr_certificate *cert,
	struct kr_certificate *out)
{
	bool copied = true;

	kr_certificate_init(out, mem);
	for (uint32_t i = 0; i < cert->serial.n && copied; i++)
		copied = kr_vec_push(mem, &out->serial, cert->serial.at[i]);
	for (uint32_t i = 0; i < cert->sources.n && copied; i++)
		copied = kr_vec_push(mem, &out->sources, cert->sources.at[i]);
	for (uint32_t i = 0; i < cert->edges.n && copied; i++)
		copied = kr_vec_push(mem, &out->edges, cert->edges.at[i]);
	for (uint32_t i = 0; i < cert->cycles.n && copied; i++)
		copied = kr_vec_push(mem, &out->cycles, cert->cycles.at[i]);
	if (!copied) {
		kr_certificate_done(out);
		return KR_NOMEM;
	}
	out->level = cert->level;
	out->order = cert->order;
	out->kind = cert->kind;
	out->anomaly = cert->anomaly;
	return KR_OK;
}

kr_name kr_verify_name(const struct kr_history *h, kr_value value)
{
	kr_name name;

	kr_history_brief(h, value, name.text, sizeof name.text);
	return name;
}

kr_name kr_verify_txn_name(const struct kr_history *h, kr_txn t)
{
	if (t.i != KR_NONE)
		return kr_verify_name(h, h->txns.at[t.i].id);
	return (kr_name){"the initial version"};
}

enum kr_status kr_verify_find_rule(struct kr_verifier *v, struct kr_rule *stated)
{
	const struct kr_level *level = v->cert->level;
	int pattern = 0;
	const char *why = level ? kr_rule_state(level, stated, &pattern) : NULL;

	v->rule = stated;
	if (!level)
		return kr_err_set(v->err, KR_UNSUPPORTED,
			"certificates of a level that is not known cannot be checked");
	return why ? kr_err_set(v->err, KR_UNSUPPORTED,
			     "certificates of level %s cannot be checked: pattern %d: %s", level->id,
			     pattern + 1, why)
		   : KR_OK;
}

static enum kr_status replay(struct kr_verifier *v)
{
	switch (v->cert->kind) {
	case KR_CERT_ORDER: return kr_verify_serial(v);
	case KR_CERT_SNAPSHOTS: return kr_verify_snapshots(v);
	default: return kr_verify_world(v);
	}
}

static bool has_to_learn(const struct kr_history *h)
{
	for (kr_key k = {0}; k.i < h->keys.n; k.i++)
		if (kr_learned_grows(h, k))
			return true;
	return kr_history_untold(h) && h->scans.n > 0;
}

/* A world, with what has to be learned of initial values by a replay before it, in which no such value stands
 * in the way. */
static enum kr_status verify_satisfied(struct kr_verifier *v)
{
	struct kr_learned learned;
	struct kr_verifier first = *v;
	struct kr_err unheard;

	if (!has_to_learn(v->h))
		return replay(v);
	kr_err_init(&unheard);
	kr_learned_init(&learned, &v->ctx->mem);
	first.err = &unheard;
	first.learned = v->learned = &learned;
	enum kr_status status = replay(&first);
	learned.learning = false;
	if (status == KR_OK || status == KR_BAD || status == KR_UNSUPPORTED)
		status = replay(v);
	kr_learned_done(&learned);
	return status;
}

static enum kr_status check_refutation(struct kr_verifier *v)
{
	return v->cert->kind == KR_CERT_ANOMALY ? kr_verify_anomaly(v) : kr_verify_cycles(v);
}

/* Where lost updates are forbidden, what a transaction was shown after its own increments is what it left; a
 * refutation may use that, or do without. An anomaly, though, is one at all levels, and that reading is asked
 * of it only where there are too many sums to tell. */
static enum kr_status verify_violated(struct kr_verifier *v)
{
	bool anomaly = v->cert->kind == KR_CERT_ANOMALY;
	struct kr_verifier first = *v;
	struct kr_err unheard;

	if (!kr_rule_forbids_lost_updates(v->rule, v->h))
		return check_refutation(v);
	kr_err_init(&unheard);
	first.err = &unheard;
	first.installs = !anomaly;
	v->installs = anomaly;
	enum kr_status status = check_refutation(&first);
	if (status == KR_UNSUPPORTED || (status == KR_BAD && !anomaly)) {
		struct kr_verifier second = *v;
		struct kr_err other;

		kr_err_init(&other);
		second.err = &other;
		enum kr_status again = check_refutation(&second);
		if (again != KR_BAD)
			return again == KR_OK ? again : kr_err_set(v->err, again, "%s", other.text);
	}
	return status == KR_OK ? status : kr_err_set(v->err, status, "%s", unheard.text);
}

enum kr_status kr_verify(struct kr_ctx *ctx, const struct kr_history *h, const struct kr_certificate *cert,
	struct kr_err *err)
{
	struct kr_verifier v = {.ctx = ctx, .h = h, .cert = cert, .err = err};
	struct kr_rule stated;
	KR_TRY(kr_verify_find_rule(&v, &stated));
	enum kr_status status = KR_OK;
	switch (cert->kind) {
	case KR_CERT_ORDER:
	case KR_CERT_SNAPSHOTS:
	case KR_CERT_WORLD: status = verify_satisfied(&v); break;
	case KR_CERT_ANOMALY:
	case KR_CERT_CYCLES: status = verify_violated(&v); break;
	case KR_CERT_REPLAY: status = kr_verify_expected(&v); break;
	default: return kr_err_set(err, KR_BAD, "no such kind of certificate");
	}
	return status == KR_OK ? KR_OK : kr_err_set(err, status, "%s", kr_status_text(status));
}
