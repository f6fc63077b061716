/* Judges a claimed cycle. What an edge speaks of (which key, which operation, which version it saw) is looked
 * for in the analysis; of several possibilities the best supported one is taken. Whether it is in every
 * world, in none or in some, the verifier says, from the history alone. Of those in some, the passes of the
 * level's checker tell which are forced: where the contrary closes a cycle with the graph's known edges. That
 * cycle goes into the proof, in front of the claimed one, and the verifier judges the whole. Cost: the
 * passes, and for each edge some searches of the graph and two passes of the verifier over the history. */
#include "cross/claim.h"

#include <stdio.h>

#include "checkers/certify.h"

/* How well the graph supports a reading of an edge; CONTRARY: it has settled for another one, or for the
 * other way round. */
enum support { CONTRARY, SILENT, SUPPORTED };

struct judging {
	struct kr_ctx *ctx;
	const struct kr_history *h;
	const struct kr_asg *asg;
	struct kr_ir ir;
	struct kr_claimed_cycle *cycle;
	struct kr_link *links; /* parallel to the cycle */
	enum support *support;
	struct kr_proof proof;
	struct kr_path path; /* scratch */
	bool allowed;        /* the level does not forbid such a cycle */
};

const char *kr_edge_state_name(enum kr_edge_state state)
{
	static const char *const names[] = {"known", "forced", "possible", "impossible"};

	return names[state];
}

static bool is_there(kr_version v) { return v.i != KR_NONE; }

static kr_txn writer(const struct judging *j, kr_version v) { return j->asg->versions[v.i].writer; }

/* ---- what the graph says ---- */

/* A path of known edges that has a's versions before b's; empty, but *found, for the initial version. */
static enum kr_status find_order(struct judging *j, kr_txn a, kr_txn b, bool *found)
{
	const struct kr_ir *ir = &j->ir;

	kr_vec_clear(&j->path);
	*found = a.i == KR_NONE;
	if (*found || a.i == b.i || b.i == KR_NONE)
		return KR_OK;
	KR_TRY(kr_ir_path(ir, kr_ir_out(ir, KR_WW, a), kr_ir_in(ir, KR_WW, b), ir->edges.n, &j->path, found));
	if (!*found && ir->level->model != KR_NODES_TXN)
		KR_TRY(kr_ir_path(ir, kr_ir_in(ir, KR_WW, a), kr_ir_out(ir, KR_WW, b), ir->edges.n, &j->path,
			found));
	return KR_OK;
}

static enum kr_status order_support(struct judging *j, kr_txn a, kr_txn b, enum support *out)
{
	bool before, after = false;
	enum kr_status status = find_order(j, a, b, &before);

	if (!status && !before)
		status = find_order(j, b, a, &after);
	*out = before ? SUPPORTED : after ? CONTRARY : SILENT;
	return status;
}

/* Does known order leave the observation no other version to have seen? That it would close a cycle to see
 * this one, too, does not speak against the claim. */
static enum support source_support(const struct judging *j, kr_obs o, kr_version seen)
{
	kr_version v;

	if (j->ir.source[o.i].i == seen.i)
		return SUPPORTED;
	for (kr_candidates it = kr_asg_candidates(j->asg, o); kr_asg_next(j->asg, &it, &v);)
		if (v.i != seen.i && !kr_ir_impossible(&j->ir, o, v))
			return is_there(j->ir.source[o.i]) ? CONTRARY : SILENT;
	return SUPPORTED;
}

/* ---- what an edge may speak of ---- */

/* Takes the link if it is better than what edge i has. */
static enum kr_status offer(struct judging *j, uint32_t i, struct kr_link link)
{
	struct kr_claimed_edge *e = &j->cycle->at[i];
	enum support source = SUPPORTED, order = SUPPORTED;
	KR_TRY(kr_ctx_check(j->ctx));

	if (link.kind == KR_WW)
		KR_TRY(order_support(j, link.from, link.to, &order));
	else if (link.obs.i != KR_NONE)
		source = source_support(j, link.obs, link.seen);
	if (link.kind == KR_RW)
		KR_TRY(order_support(j, writer(j, link.seen), link.to, &order));
	if (order < source)
		source = order;
	if (e->found && source <= j->support[i])
		return KR_OK;
	e->found = true;
	j->links[i] = link;
	j->support[i] = source;
	return KR_OK;
}

static bool is_key(const struct judging *j, const struct kr_claimed_edge *e, kr_key k)
{
	return e->key.i == KR_NONE || e->key.i == kr_asg_whole(j->asg, k).i;
}

static enum kr_status find_ww(struct judging *j, uint32_t i)
{
	const struct kr_claimed_edge *e = &j->cycle->at[i];
	const struct kr_asg *asg = j->asg;

	for (uint32_t w = asg->written_first[e->from.i]; w < asg->written_first[e->from.i + 1]; w++) {
		kr_key k = asg->versions[asg->written[w].i].key;
		if (k.i < asg->nkeys - asg->nparts && is_key(j, e, k) &&
			is_there(kr_asg_version_of(asg, e->to, k)))
			KR_TRY(offer(j, i,
				(struct kr_link){KR_WW, e->from, e->to, {KR_NONE}, {KR_NONE}, k, KR_NONE}));
	}
	return KR_OK;
}

/* rw by observation o, whatever it can have seen. */
static enum kr_status find_rw_of(struct judging *j, uint32_t i, kr_obs o, kr_version target)
{
	const struct kr_claimed_edge *e = &j->cycle->at[i];
	struct kr_link link = {KR_RW, e->from, e->to, o, j->ir.source[o.i], j->asg->obs[o.i].key, KR_NONE};

	if (is_there(link.seen))
		return link.seen.i == target.i ? KR_OK : offer(j, i, link);
	for (kr_candidates it = kr_asg_candidates(j->asg, o); kr_asg_next(j->asg, &it, &link.seen);)
		if (link.seen.i != target.i)
			KR_TRY(offer(j, i, link));
	return KR_OK;
}

static enum kr_status find_sights(struct judging *j, uint32_t i)
{
	const struct kr_claimed_edge *e = &j->cycle->at[i];
	const struct kr_asg *asg = j->asg;
	kr_txn t = e->kind == KR_WR ? e->to : e->from, other = e->kind == KR_WR ? e->from : e->to;

	for (uint32_t o = asg->obs_first[t.i]; o < asg->obs_first[t.i + 1]; o++) {
		const struct kr_observation *obs = &asg->obs[o];
		kr_version v = kr_asg_version_of(asg, other, obs->key);
		if (!is_there(v) || !is_key(j, e, obs->key) || (e->predicate && !obs->predicate))
			continue;
		bool inside = kr_asg_in_set(asg, obs->set, v);
		if (e->kind == KR_WR && inside)
			KR_TRY(offer(j, i,
				(struct kr_link){KR_WR, e->from, e->to, {o}, v, obs->key, KR_NONE}));
		else if (e->kind == KR_RW && !(obs->predicate && inside))
			KR_TRY(find_rw_of(j, i, (kr_obs){o}, v));
	}
	return KR_OK;
}

/* The analysis leaves out unknown transactions that nobody saw: they may have taken effect, and then,
 * coarsely, have any edge of a key that both ends use. */
static bool may_be_left_out(const struct judging *j, const struct kr_claimed_edge *e)
{
	const struct kr_history *h = j->h;
	const struct kr_transaction *a = &h->txns.at[e->from.i], *b = &h->txns.at[e->to.i];
	bool left_out = (a->status == KR_UNKNOWN && j->asg->txns[e->from.i].presence == KR_ABSENT_TXN) ||
		(b->status == KR_UNKNOWN && j->asg->txns[e->to.i].presence == KR_ABSENT_TXN);

	for (uint32_t i = 0; i < a->op_count && left_out && e->from.i != e->to.i; i++) {
		const struct kr_operation *x = &h->ops.at[a->op_first + i];
		for (uint32_t k = 0; k < b->op_count; k++) {
			const struct kr_operation *y = &h->ops.at[b->op_first + k];
			bool said = e->key.i == KR_NONE || x->key.i == e->key.i || y->key.i == e->key.i;
			if (said && (x->key.i == y->key.i || x->key.i == KR_NONE || y->key.i == KR_NONE))
				return true;
		}
	}
	return false;
}

static void none_found(const struct judging *j, struct kr_claimed_edge *e)
{
	const struct kr_history *h = j->h;
	char a[64], b[64], key[64] = "any key";

	kr_history_brief(h, h->txns.at[e->from.i].id, a, sizeof a);
	kr_history_brief(h, h->txns.at[e->to.i].id, b, sizeof b);
	if (e->key.i != KR_NONE)
		kr_history_brief(h, h->keys.at[e->key.i].name, key, sizeof key);
	e->state = may_be_left_out(j, e) ? KR_EDGE_POSSIBLE : KR_EDGE_IMPOSSIBLE;
	if (e->state == KR_EDGE_POSSIBLE)
		(void)snprintf(e->why, sizeof e->why,
			"whether it took effect is not told of one of them, and nobody saw it");
	else if (h->txns.at[e->from.i].status == KR_ABORTED || h->txns.at[e->to.i].status == KR_ABORTED)
		(void)snprintf(e->why, sizeof e->why, "%s was aborted",
			h->txns.at[e->from.i].status == KR_ABORTED ? a : b);
	else if (e->kind == KR_WW)
		(void)snprintf(e->why, sizeof e->why, "%s and %s do not both write %s", a, b, key);
	else if (e->kind == KR_WR)
		(void)snprintf(e->why, sizeof e->why, "nothing that %s saw of %s can be what %s left", b, key,
			a);
	else
		(void)snprintf(e->why, sizeof e->why,
			"nothing that %s saw of %s can have been changed by %s afterwards", a, key, b);
}

static enum kr_status find_link(struct judging *j, uint32_t i)
{
	struct kr_claimed_edge *e = &j->cycle->at[i];

	if (e->kind == KR_SO || e->kind == KR_RT)
		KR_TRY(offer(j, i,
			(struct kr_link){e->kind, e->from, e->to, {KR_NONE}, {KR_NONE}, {KR_NONE}, KR_NONE}));
	else if (e->from.i != e->to.i && e->kind == KR_WW)
		KR_TRY(find_ww(j, i));
	else if (e->from.i != e->to.i)
		KR_TRY(find_sights(j, i));
	if (!e->found)
		none_found(j, e);
	return KR_OK;
}

/* ---- states ---- */

/* The claimed edges that were found, as the last cycle of a certificate. */
static enum kr_status restate(struct judging *j, struct kr_certificate *cert)
{
	kr_proof_begin(&j->proof);
	for (uint32_t i = 0; i < j->cycle->n; i++)
		if (j->cycle->at[i].found)
			KR_TRY(kr_proof_add_link(&j->proof, j->links[i]));
	KR_TRY(kr_proof_end(&j->proof));
	return kr_certify_proof(&j->ir, &j->proof, cert);
}

static enum kr_status find_state(struct judging *j, uint32_t i, const struct kr_certificate *cert,
	uint32_t edge)
{
	struct kr_claimed_edge *e = &j->cycle->at[i];
	enum kr_edge_truth truth = KR_EDGE_SOMETIMES;
	struct kr_err why;

	kr_err_init(&why);

	enum kr_status status = kr_verify_edge(j->ctx, j->h, cert, edge, &truth, &why);

	if (status == KR_UNSUPPORTED)
		status = KR_OK;
	e->edge = cert->edges.at[edge];
	e->state = truth == KR_EDGE_ALWAYS ? KR_EDGE_KNOWN
		: truth == KR_EDGE_NEVER   ? KR_EDGE_IMPOSSIBLE
					   : KR_EDGE_POSSIBLE;
	if (truth == KR_EDGE_NEVER)
		(void)snprintf(e->why, sizeof e->why, "%s", why.text);
	if (truth == KR_EDGE_SOMETIMES && j->support[i] == SUPPORTED)
		e->state = KR_EDGE_FORCED;
	return status;
}

static enum kr_status find_states(struct judging *j, const struct kr_certificate *cert)
{
	for (uint32_t i = 0, edge = cert->cycles.at[cert->cycles.n - 1].first; i < j->cycle->n; i++)
		if (j->cycle->at[i].found)
			KR_TRY(find_state(j, i, cert, edge++));
	return KR_OK;
}

/* ---- the proof ---- */

static enum kr_status force_order(struct judging *j, kr_txn a, kr_txn b, kr_key k)
{
	bool found;
	KR_TRY(find_order(j, a, b, &found));

	if (!found || j->path.n == 0)
		return KR_OK;
	kr_proof_begin(&j->proof);
	KR_TRY(kr_proof_add_link(&j->proof, (struct kr_link){KR_WW, b, a, {KR_NONE}, {KR_NONE}, k, KR_NONE}));
	KR_TRY(kr_proof_add_path(&j->proof, &j->ir, j->path.at, j->path.n));
	return kr_proof_end(&j->proof);
}

static enum kr_status force_source(struct judging *j, kr_obs o, kr_version seen)
{
	kr_version v;

	for (kr_candidates it = kr_asg_candidates(j->asg, o); kr_asg_next(j->asg, &it, &v);)
		if (v.i != seen.i)
			KR_TRY(kr_proof_rule_out(&j->proof, &j->ir, o, v));
	return KR_OK;
}

/* The cycles that force what is forced. */
static enum kr_status prove(struct judging *j, struct kr_certificate *cert)
{
	j->proof.cycles.n = 1; /* the claimed one */
	j->proof.links.n = j->cycle->n;
	for (uint32_t i = 0; i < j->cycle->n; i++) {
		const struct kr_link *link = &j->links[i];
		if (j->cycle->at[i].state != KR_EDGE_FORCED)
			continue;
		if (link->obs.i != KR_NONE)
			KR_TRY(force_source(j, link->obs, link->seen));
		if (link->kind == KR_WW)
			KR_TRY(force_order(j, link->from, link->to, link->key));
		else if (link->kind == KR_RW)
			KR_TRY(force_order(j, writer(j, link->seen), link->to, link->key));
	}
	return kr_certify_proof(&j->ir, &j->proof, cert);
}

static enum kr_status check_circle(const struct judging *j, struct kr_err *why)
{
	const struct kr_claimed_cycle *c = j->cycle;

	for (uint32_t i = 0; i < c->n; i++)
		if (c->at[i].to.i != c->at[(i + 1) % c->n].from.i)
			return kr_err_set(why, KR_BAD, "edge %u does not end where edge %u begins",
				(unsigned)i + 1, (unsigned)((i + 1) % c->n) + 1);
	return c->n > 1 ? KR_OK : kr_err_set(why, KR_BAD, "one edge is no cycle");
}

/* What follows from the states. KR_BAD: refuted, for `why`, j->allowed if the level is why; KR_UNSUPPORTED:
 * open. */
static enum kr_status conclude(struct judging *j, const struct kr_certificate *cert,
	struct kr_certificate *proof, struct kr_err *why)
{
	uint32_t possible = KR_NONE;
	enum kr_status status = check_circle(j, why);

	for (uint32_t i = 0; i < j->cycle->n && !status; i++) {
		if (j->cycle->at[i].state == KR_EDGE_IMPOSSIBLE)
			return kr_err_set(why, KR_BAD, "edge %u is impossible", (unsigned)i + 1);
		if (j->cycle->at[i].state == KR_EDGE_POSSIBLE && possible == KR_NONE)
			possible = i;
	}
	if (!status && cert->cycles.at[cert->cycles.n - 1].count == j->cycle->n) {
		status = kr_verify_forbidden(j->ctx, j->h, cert, cert->cycles.n - 1, why);
		j->allowed = status == KR_BAD;
	}
	if (!status && possible != KR_NONE)
		return kr_err_set(why, KR_UNSUPPORTED, "edge %u is possible, but not proved",
			(unsigned)possible + 1);
	if (!status)
		status = prove(j, proof);
	if (!status && (status = kr_verify(j->ctx, j->h, proof, why)) == KR_BAD)
		return KR_UNSUPPORTED;
	return status;
}

static enum kr_status judge(struct judging *j, struct kr_certificate *cert, struct kr_certificate *proof,
	struct kr_err *why)
{
	for (uint32_t i = 0; i < j->cycle->n; i++)
		KR_TRY(find_link(j, i));
	KR_TRY(restate(j, cert));
	KR_TRY(find_states(j, cert));
	return conclude(j, cert, proof, why);
}

static enum kr_status make_graph(struct judging *j, const struct kr_check_options *options,
	struct kr_err *err)
{
	const struct kr_checker *checker =
		options->checker ? options->checker : kr_checker_for(j->ctx->modules, options->level);
	enum kr_change change;
	KR_TRY(kr_ir_init(&j->ir, j->ctx, j->asg, options->level, options->order));
	enum kr_status status = kr_passes_run(&j->ir, checker->passes,
		&(struct kr_pass_options){.dump_after = NULL}, NULL, &change, err);
	if (status)
		kr_ir_done(&j->ir);
	return status;
}

static enum kr_status judge_with_graph(struct judging *j, const struct kr_check_options *options,
	struct kr_certificate *proof, struct kr_err *why)
{
	struct kr_mem *mem = &j->ctx->mem;
	struct kr_certificate cert;
	enum kr_status status = KR_NOMEM;

	kr_certificate_init(&cert, mem);
	cert.level = proof->level = options->level;
	cert.order = proof->order = options->order;
	kr_proof_init(&j->proof, mem);
	j->links = kr_mem_alloc(mem, j->cycle->n, sizeof *j->links);
	j->support = kr_mem_alloc(mem, j->cycle->n, sizeof *j->support);
	if (j->links && j->support)
		status = judge(j, &cert, proof, why);
	kr_mem_free(mem, j->links, j->cycle->n, sizeof *j->links);
	kr_mem_free(mem, j->support, j->cycle->n, sizeof *j->support);
	kr_vec_done(mem, &j->path);
	kr_proof_done(&j->proof);
	kr_certificate_done(&cert);
	return status;
}

enum kr_status kr_claim_judge(struct kr_ctx *ctx, const struct kr_history *h,
	const struct kr_analysis *analysis, const struct kr_check_options *options,
	struct kr_claimed_cycle *cycle, enum kr_claim_result *result, struct kr_certificate *proof,
	struct kr_err *why)
{
	struct judging j = {.ctx = ctx, .h = h, .asg = &analysis->asg, .cycle = cycle};
	KR_TRY(make_graph(&j, options, why));
	enum kr_status status = judge_with_graph(&j, options, proof, why);
	kr_ir_done(&j.ir);
	*result = status == KR_OK  ? KR_CLAIM_CONFIRMED
		: j.allowed        ? KR_CLAIM_ALLOWED
		: status == KR_BAD ? KR_CLAIM_REFUTED
				   : KR_CLAIM_OPEN;
	return status == KR_BAD || status == KR_UNSUPPORTED ? KR_OK : status;
}
