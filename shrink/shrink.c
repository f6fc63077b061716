/* Shrinking violations (shrink.h): the tests that delta debugging asks (reduce.h). Each costs the checking of
 * a part and, where that is violated, one pass of the verifier over the whole. What is left is minimal, but
 * another violation of the history may be smaller: unless few transactions are left, the whole is decided
 * anew without each of their keys and operations in turn, and what is found shrunk as well. So many tries
 * cost as many checks of the whole. */
#include "shrink/shrink.h"

#include "shrink/reduce.h"

enum {
	FEW = 3,             /* parts of so few transactions are not bettered */
	TRIES_MOST = 32,     /* so many other violations are looked for */
	MANY = 6,            /* and if more transactions than that are left, */
	WALKS = 8,           /* from so many beginnings, */
	TRIES_OF_WALKS = 64, /* so many further ones in all */
};

struct shrinking {
	struct kr_ctx *ctx;
	const struct kr_history *h;
	const struct kr_asg *asg;
	const struct kr_check_options *options;
	const struct kr_certificate *cert; /* of the whole */
	struct kr_shrunk *out;
};

static void free_part(struct kr_ctx *ctx, struct kr_violated_part *p)
{
	if (!p)
		return;
	kr_verdict_done(&p->verdict, &ctx->mem);
	kr_analysis_done(&p->analysis);
	kr_cut_done(&p->cut);
	kr_mem_free(&ctx->mem, p, 1, sizeof *p);
}

/* Is the proof one of the whole, too, and of the same kind? */
static enum kr_status is_same(const struct shrinking *s, const struct kr_violated_part *p, bool *same)
{
	const struct kr_certificate *cert = &p->verdict.certificate;
	struct kr_certificate restored;

	*same = false;
	if (cert->kind != s->cert->kind ||
		(cert->kind == KR_CERT_ANOMALY && cert->anomaly.kind != s->cert->anomaly.kind))
		return KR_OK;
	kr_certificate_init(&restored, &s->ctx->mem);
	enum kr_status status = kr_cut_restore(&p->cut, cert, &restored);
	if (!status)
		status = kr_verify(s->ctx, s->h, &restored, NULL);
	kr_certificate_done(&restored);
	*same = status == KR_OK;
	return kr_is_limit(status) ? status : KR_OK;
}

/* Decides the part that p->cut holds. What cannot be analyzed, or is not decided (a proof that is refused
 * decides nothing), does not count as violated. */
static enum kr_status decide(struct shrinking *s, struct kr_violated_part *p, bool *violated,
	struct kr_err *err)
{
	enum kr_status status = kr_analyze(s->ctx, &p->cut.history, &p->analysis, err);

	*violated = false;
	if (status)
		return status;
	status = kr_check(s->ctx, &p->cut.history, &p->analysis, s->options, &p->verdict, err);
	if (status == KR_INTERNAL || (!status && p->verdict.outcome == KR_UNDECIDED)) {
		s->out->undecided++;
		status = s->ctx->stopped;
		p->verdict.outcome = KR_UNDECIDED;
	}
	if (!status && p->verdict.outcome == KR_VIOLATED)
		status = is_same(s, p, violated);
	if (!status && *violated)
		return KR_OK;
	kr_verdict_done(&p->verdict, &s->ctx->mem);
	kr_analysis_done(&p->analysis);
	return status;
}

static enum kr_status test(void *data, const struct kr_part *part, bool *holds, struct kr_err *err)
{
	struct shrinking *s = data;
	struct kr_violated_part *p = kr_mem_alloc(&s->ctx->mem, 1, sizeof *p);
	struct kr_err why;
	enum kr_status status = p ? KR_OK : KR_NOMEM;

	kr_err_init(&why);
	*holds = false;
	if (!status && !(status = kr_cut_make(s->ctx, part, &p->cut, &why))) {
		status = decide(s, p, holds, &why);
		if (status || !*holds)
			kr_cut_done(&p->cut);
	}
	if (*holds) {
		free_part(s->ctx, s->out->best);
		s->out->best = p;
		return KR_OK;
	}
	kr_mem_free(&s->ctx->mem, p, 1, sizeof *p);
	if (kr_is_limit(status))
		return kr_err_set(err, status, "%s", why.status ? why.text : kr_ctx_reason(s->ctx, status));
	return KR_OK; /* no trace at all, or one of unknown operations */
}

/* Keeps in `part`, which is empty, what the certificate of the whole speaks of; or else everything. */
static enum kr_status start(struct shrinking *s, struct kr_part *part, const struct kr_certificate *cert,
	bool *holds, struct kr_err *err)
{
	enum kr_status status = kr_part_support(part, s->ctx, s->asg, cert);

	if (!status)
		status = test(s, part, holds, err);
	s->out->tests++;
	if (status || *holds)
		return status;
	kr_part_fill(part);
	s->out->tests++;
	return test(s, part, holds, err);
}

/* From a certificate of the whole to s->out, and the part that it is. */
static enum kr_status shrink_from(struct shrinking *s, struct kr_part *part,
	const struct kr_certificate *cert, struct kr_err *err)
{
	struct kr_reduction r = {.ctx = s->ctx, .test = test, .data = s};
	bool holds = false;
	enum kr_status status = start(s, part, cert, &holds, err);

	if (!status && holds)
		status = kr_reduce(&r, part, err);
	s->out->tests += r.tests;
	s->out->minimal = !status && holds && s->out->undecided == 0;
	return status;
}

/* ---- other violations ---- */

static bool is_smaller(const struct kr_shrunk *a, const struct kr_shrunk *b)
{
	const struct kr_history *x = a->best ? &a->best->cut.history : NULL, *y = &b->best->cut.history;

	return x && a->minimal && (x->txns.n < y->txns.n || (x->txns.n == y->txns.n && x->ops.n < y->ops.n));
}

/* Keys and operations of what was found last, of which others may do without. */
struct walk {
	struct kr_part rest; /* the whole without what was found before */
	struct kr_part less; /* what is tried */
	KR_VEC(kr_key) keys;
	KR_VEC(kr_op) ops;
	KR_VEC(kr_txn) txns; /* of the operations */
	uint32_t next;       /* place among keys, then operations */
};

static enum kr_status take_units(struct kr_mem *mem, struct walk *w, const struct kr_cut *cut)
{
	kr_vec_clear(&w->keys);
	kr_vec_clear(&w->ops);
	kr_vec_clear(&w->txns);
	w->next = 0;
	for (uint32_t i = 0; i < cut->key_of.n; i++)
		KR_TRY(kr_vec_add(mem, &w->keys, cut->key_of.at[i]));
	for (uint32_t t = 0; t < cut->txn_of.n; t++) {
		for (uint32_t i = 0; i < cut->history.txns.at[t].op_count; i++) {
			kr_op op = cut->op_of.at[kr_history_op(&cut->history, (kr_txn){t}, i).i];
			if (!kr_vec_push(mem, &w->ops, op) || !kr_vec_push(mem, &w->txns, cut->txn_of.at[t]))
				return KR_NOMEM;
		}
	}
	return KR_OK;
}

/* Leaves out an operation of t; if it writes, with t's others on the key, and with whatever can have seen
 * what they left there: else that would see what nobody wrote. */
static void leave_out(const struct shrinking *s, kr_txn t, kr_op o, struct kr_part *part)
{
	const struct kr_history *h = s->h;
	const struct kr_asg *asg = s->asg;
	kr_key k = h->ops.at[o.i].key;
	kr_version v = k.i == KR_NONE ? (kr_version){KR_NONE} : kr_asg_version_of(asg, t, k);

	kr_bits_clear(part->ops, o.i);
	if (v.i == KR_NONE || h->ops.at[o.i].kind == KR_OP_READ)
		return;
	for (uint32_t i = 0; i < h->txns.at[t.i].op_count; i++)
		if (h->ops.at[h->txns.at[t.i].op_first + i].key.i == k.i)
			kr_bits_clear(part->ops, h->txns.at[t.i].op_first + i);
	for (uint32_t i = 0; i < asg->nobs; i++) {
		kr_op seer = kr_history_op(h, asg->obs[i].txn, asg->obs[i].op);
		if (asg->obs[i].key.i == k.i && h->ops.at[seer.i].key.i == k.i &&
			kr_asg_in_set(asg, asg->obs[i].set, v))
			kr_bits_clear(part->ops, seer.i);
	}
}

/* A certificate of the part in w->less, which then is the rest; *found is false when there is none. */
static enum kr_status find_certificate(struct shrinking *s, struct walk *w, struct kr_certificate *cert,
	bool *found, struct kr_err *err)
{
	struct kr_shrunk one = {.best = NULL}, *out = s->out;

	s->out = &one;
	enum kr_status status = test(s, &w->less, found, err);
	s->out = out;
	s->out->tests++;
	if (!status && *found) {
		struct kr_part rest = w->less;
		w->less = w->rest;
		w->rest = rest;
		status = kr_cut_restore(&one.best->cut, &one.best->verdict.certificate, cert);
	}
	kr_shrunk_done(s->ctx, &one);
	return status;
}

/* Shrinks from another certificate, takes the result if it is smaller, and goes on from it in any case. */
static enum kr_status try_other(struct shrinking *s, struct walk *w, const struct kr_certificate *cert,
	struct kr_err *err)
{
	struct kr_shrunk other = {.best = NULL}, *out = s->out;
	struct kr_part part;
	KR_TRY(kr_part_init(&part, &s->ctx->mem, s->h, false));
	s->out = &other;
	enum kr_status status = shrink_from(s, &part, cert, err);
	s->out = out;
	out->tests += other.tests;
	other.tests = out->tests;
	if (!status && other.best)
		status = take_units(&s->ctx->mem, w, &other.best->cut);
	if (!status && is_smaller(&other, out)) {
		struct kr_shrunk worse = *out;
		*out = other;
		other = worse;
	}
	kr_shrunk_done(s->ctx, &other);
	kr_part_done(&part);
	return status;
}

/* A certificate of the part in w->less, if there is one, is shrunk, too. */
static enum kr_status look(struct shrinking *s, struct walk *w, bool *found, struct kr_err *err)
{
	struct kr_certificate cert;

	kr_certificate_init(&cert, &s->ctx->mem);
	enum kr_status status = find_certificate(s, w, &cert, found, err);
	if (!status && *found)
		status = try_other(s, w, &cert, err);
	kr_certificate_done(&cert);
	return status;
}

/* The rest without the next key or operation. */
static enum kr_status step(struct shrinking *s, struct walk *w, struct kr_err *err)
{
	uint32_t i = w->next++, keys = w->keys.n;
	bool found = false;
	KR_TRY(kr_part_copy(&w->rest, &w->less));
	if (i < keys)
		kr_bits_clear(w->less.keys, w->keys.at[i].i);
	else
		leave_out(s, w->txns.at[i - keys], w->ops.at[i - keys], &w->less);
	return look(s, w, &found, err);
}

static enum kr_status walk(struct shrinking *s, struct walk *w, struct kr_err *err)
{
	KR_TRY(take_units(&s->ctx->mem, w, &s->out->best->cut));
	for (uint32_t tries = 0;
		tries < TRIES_MOST && s->out->best->cut.txn_of.n > FEW && w->next < w->keys.n + w->ops.n;
		tries++)
		KR_TRY(step(s, w, err));
	return KR_OK;
}

/* The rest without one transaction, and what others can have seen of it. */
static enum kr_status step_without(struct shrinking *s, struct walk *w, kr_txn t, bool *found,
	struct kr_err *err)
{
	KR_TRY(kr_part_copy(&w->rest, &w->less));
	for (uint32_t i = 0; i < s->h->txns.at[t.i].op_count; i++)
		leave_out(s, t, kr_history_op(s->h, t, i), &w->less);
	kr_bits_clear(w->less.txns, t.i);
	return look(s, w, found, err);
}

/* From the whole again, without more and more transactions: always one of the part that was found last. */
static enum kr_status walk_without(struct shrinking *s, struct walk *w, uint32_t which, uint32_t *tries_left,
	struct kr_err *err)
{
	bool found = true;

	KR_TRY(take_units(&s->ctx->mem, w, &s->out->best->cut));
	for (uint32_t tries = 0;
		found && *tries_left > 0 && s->out->best->cut.txn_of.n > MANY && w->txns.n > 0; tries++) {
		KR_TRY(step_without(s, w, w->txns.at[(which + tries) % w->txns.n], &found, err));
		*tries_left -= found;
	}
	return KR_OK;
}

/* The history may have smaller violations than the one that was found first: one after the other, each
 * without some key or operation of every one before it; and while many transactions are left, each without
 * some transaction of every one before it, from several beginnings. */
static enum kr_status look_around(struct shrinking *s, struct kr_err *err)
{
	struct kr_mem *mem = &s->ctx->mem;
	struct walk w = {.next = 0};
	uint32_t tries_left = TRIES_OF_WALKS;
	enum kr_status status = kr_part_init(&w.rest, mem, s->h, true);

	if (!status)
		status = kr_part_init(&w.less, mem, s->h, false);
	if (!status)
		status = walk(s, &w, err);
	for (uint32_t which = 0; which < WALKS && s->out->best->cut.txn_of.n > MANY && !status; which++) {
		kr_part_fill(&w.rest);
		status = walk_without(s, &w, which, &tries_left, err);
	}
	kr_vec_done(mem, &w.keys);
	kr_vec_done(mem, &w.ops);
	kr_vec_done(mem, &w.txns);
	kr_part_done(&w.less);
	kr_part_done(&w.rest);
	return status;
}

enum kr_status kr_shrink(struct kr_ctx *ctx, const struct kr_history *h, const struct kr_analysis *analysis,
	const struct kr_check_options *options, const struct kr_verdict *verdict, struct kr_shrunk *out,
	struct kr_err *err)
{
	struct shrinking s = {.ctx = ctx,
		.h = h,
		.asg = &analysis->asg,
		.options = options,
		.cert = &verdict->certificate,
		.out = out};
	struct kr_part part;

	*out = (struct kr_shrunk){.best = NULL};
	enum kr_status status = kr_part_init(&part, &ctx->mem, h, false);
	if (!status) {
		status = shrink_from(&s, &part, s.cert, err);
		kr_part_done(&part);
	}
	if (kr_is_limit(status)) {
		out->limit = status;
		return KR_OK;
	}
	if (!status && out->minimal)
		status = look_around(&s, err);
	/* what there is is minimal, whatever else may be found */
	return kr_is_limit(status) ? KR_OK : status;
}

void kr_shrunk_done(struct kr_ctx *ctx, struct kr_shrunk *shrunk)
{
	free_part(ctx, shrunk->best);
	shrunk->best = NULL;
}
