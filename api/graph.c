/* The IR and the answers of back ends as plug-ins see them. Nothing is trusted: every number is checked
 * against its range before it is used as an index. */
#include "krait/graph.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "backend/backend.h"
#include "ir/clock.h"

static const kr_version no_version = {KR_NONE};
static const kr_txn no_txn = {KR_NONE};

struct kr_ctx *krait_ir_ctx(const struct kr_ir *ir) { return ir->ctx; }
const struct kr_level *krait_ir_level(const struct kr_ir *ir) { return ir->level; }
enum kr_order krait_ir_order(const struct kr_ir *ir) { return ir->order; }

struct krait_sizes krait_ir_sizes(const struct kr_ir *ir)
{
	const struct kr_asg *asg = ir->asg;

	return (struct krait_sizes){asg->ntxns, asg->nkeys, asg->nversions, asg->nobs, ir->nnodes,
		ir->edges.n};
}

/* ---- transactions and versions ---- */

enum kr_presence krait_ir_presence(const struct kr_ir *ir, kr_txn t)
{
	return t.i < ir->asg->ntxns ? ir->presence[t.i] : KR_ABSENT_TXN;
}

struct krait_range krait_ir_versions(const struct kr_ir *ir, kr_key k)
{
	if (k.i >= ir->asg->nkeys)
		return (struct krait_range){0, 0};
	return (struct krait_range){ir->asg->keys[k.i].first,
		ir->asg->keys[k.i + 1].first - ir->asg->keys[k.i].first};
}

struct krait_version krait_ir_version(const struct kr_ir *ir, kr_version v)
{
	if (v.i >= ir->asg->nversions)
		return (struct krait_version){{KR_NONE}, no_txn};
	return (struct krait_version){ir->asg->versions[v.i].key, ir->asg->versions[v.i].writer};
}

kr_version krait_ir_version_of(const struct kr_ir *ir, kr_txn t, kr_key k)
{
	return t.i < ir->asg->ntxns && k.i < ir->asg->nkeys ? kr_asg_version_of(ir->asg, t, k) : no_version;
}

/* ---- observations ---- */

struct krait_range krait_ir_observations(const struct kr_ir *ir, kr_txn t)
{
	if (t.i >= ir->asg->ntxns)
		return (struct krait_range){0, 0};
	return (struct krait_range){ir->asg->obs_first[t.i],
		ir->asg->obs_first[t.i + 1] - ir->asg->obs_first[t.i]};
}

struct krait_observation krait_ir_observation(const struct kr_ir *ir, kr_obs o)
{
	if (o.i >= ir->asg->nobs)
		return (struct krait_observation){.txn = no_txn, .key = {KR_NONE}, .saw = no_version};

	const struct kr_observation *x = &ir->asg->obs[o.i];

	return (struct krait_observation){x->txn, x->op, x->key, x->predicate, x->loose, ir->source[o.i]};
}

bool krait_ir_is_candidate(const struct kr_ir *ir, kr_obs o, kr_version v)
{
	const struct kr_asg *asg = ir->asg;

	if (o.i >= asg->nobs || v.i >= asg->nversions || asg->versions[v.i].key.i != asg->obs[o.i].key.i)
		return false;

	kr_txn writer = asg->versions[v.i].writer;

	if (writer.i != KR_NONE &&
		(writer.i == asg->obs[o.i].txn.i || asg->txns[writer.i].presence == KR_ABSENT_TXN))
		return false;
	return kr_asg_in_set(asg, asg->obs[o.i].set, v);
}

/* ---- known edges ---- */

kr_node krait_ir_out(const struct kr_ir *ir, enum kr_edge_kind kind, kr_txn t)
{
	return t.i < ir->asg->ntxns ? kr_ir_out(ir, kind, t) : (kr_node){KR_NONE};
}

kr_node krait_ir_in(const struct kr_ir *ir, enum kr_edge_kind kind, kr_txn t)
{
	return t.i < ir->asg->ntxns ? kr_ir_in(ir, kind, t) : (kr_node){KR_NONE};
}

kr_txn krait_ir_txn(const struct kr_ir *ir, kr_node v)
{
	return v.i < ir->nnodes ? kr_ir_txn(ir, v) : no_txn;
}

struct krait_edge krait_ir_edge(const struct kr_ir *ir, uint32_t i)
{
	if (i >= ir->edges.n)
		return (struct krait_edge){KR_PROGRAM, {KR_NONE}, {KR_NONE}};
	return (struct krait_edge){ir->edges.at[i].kind, ir->edges.at[i].from, ir->edges.at[i].to};
}

bool krait_ir_reaches(const struct kr_ir *ir, kr_node a, kr_node b)
{
	return ir->clock && a.i < ir->nnodes && b.i < ir->nnodes && kr_clock_reaches(ir->clock, a, b);
}

/* ---- passes ---- */

static bool is_ordinary_why(const struct kr_ir *ir, enum kr_edge_kind kind, enum kr_rule rule, uint32_t why)
{
	bool observed = kind == KR_RW || rule == KR_RULE_READER || rule == KR_RULE_UPDATE;

	return why < (observed ? ir->asg->nobs : ir->asg->nkeys);
}

enum kr_status krait_ir_add_edge(struct kr_ir *ir, enum kr_edge_kind kind, kr_txn from, kr_txn to,
	enum kr_rule rule, uint32_t why, struct kr_err *err)
{
	bool derived = kind == KR_RW ? rule == KR_RULE_LATER
				     : kind == KR_WW &&
			(rule == KR_RULE_READER || rule == KR_RULE_WRITERS || rule == KR_RULE_UPDATE);

	if (!derived || !is_ordinary_why(ir, kind, rule, why))
		return kr_err_set(err, KR_INTERNAL,
			"adds an edge of kind %d by rule %d of %u, expected a ww or rw with a rule for it",
			(int)kind, (int)rule, why);
	if (krait_ir_presence(ir, from) != KR_PRESENT || krait_ir_presence(ir, to) != KR_PRESENT ||
		from.i == to.i)
		return kr_err_set(err, KR_INTERNAL,
			"adds an edge from %u to %u, expected two present transactions", from.i, to.i);
	if (!(kr_level_kinds(ir->level) & KR_BIT(kind)))
		return KR_OK; /* says nothing at this level */

	KR_TRY(kr_ir_relate(ir, kind, from, to, rule, why));

	if (ir->clock)
		kr_clock_edge(ir->clock, kr_ir_out(ir, kind, from), kr_ir_in(ir, kind, to));
	return KR_OK;
}

enum kr_status krait_ir_conflict(struct kr_ir *ir, struct kr_err *err)
{
	enum kr_status status = ir->conflict ? KR_OK : kr_ir_conflict(ir);

	return status == KR_INTERNAL
		? kr_err_set(err, status, "found a conflict where known edges have no cycle")
		: status;
}

/* ---- statistics ---- */

void krait_count(struct kr_ir *ir, const char *name, int64_t more)
{
	struct kr_tallies *t = &ir->tallies;
	uint32_t i = 0;
	char own[KR_TALLY_NAME];

	kr_err_line(own, sizeof own, "%s", name ? name : "?");
	while (i < t->n && strcmp(t->at[i].name, own) != 0)
		i++;
	if (i == KR_TALLIES_MOST)
		return;
	if (i == t->n) {
		memcpy(t->at[t->n].name, own, sizeof own);
		t->at[t->n++].value = 0;
	}
	if (__builtin_add_overflow(t->at[i].value, more, &t->at[i].value))
		t->at[i].value = more > 0 ? INT64_MAX : INT64_MIN;
}

/* ---- back ends ---- */

/* Every number that is looked up when the proof becomes a certificate. */
static bool is_link(const struct kr_ir *ir, const struct kr_link *l)
{
	const struct kr_asg *asg = ir->asg;
	bool ends = l->from.i < asg->ntxns && l->to.i < asg->ntxns;
	bool edge = l->edge == KR_NONE || (l->edge < ir->edges.n && ir->edges.at[l->edge].kind == l->kind);

	if (!ends || !edge)
		return false;
	switch (l->kind) {
	case KR_SO:
	case KR_RT: return true;
	case KR_WW: return l->key.i < asg->nkeys;
	case KR_WR:
	case KR_RW:
		return l->obs.i < asg->nobs && l->seen.i < asg->nversions &&
			l->key.i == asg->obs[l->obs.i].key.i;
	default: return false;
	}
}

static struct kr_link cleaned(struct kr_link l)
{
	bool observes = l.kind == KR_WR || l.kind == KR_RW;

	if (!observes) {
		l.obs.i = KR_NONE;
		l.seen.i = KR_NONE;
	}
	if (!observes && l.kind != KR_WW)
		l.key.i = KR_NONE;
	return l;
}

enum kr_status krait_answer_cycle(struct kr_answer *answer, const struct kr_ir *ir,
	const struct kr_link *links, uint32_t count, struct kr_err *err)
{
	if (count < 2)
		return kr_err_set(err, KR_INTERNAL, "answers with a cycle of %u links, expected two or more",
			count);
	for (uint32_t i = 0; i < count; i++) {
		if (!is_link(ir, &links[i]))
			return kr_err_set(err, KR_INTERNAL,
				"answers with a cycle whose link %u names what there is not", i);
		if (links[i].to.i != links[(i + 1) % count].from.i)
			return kr_err_set(err, KR_INTERNAL,
				"answers with a cycle whose link %u does not end where the next one begins",
				i);
	}
	kr_proof_begin(&answer->proof);
	for (uint32_t i = 0; i < count; i++)
		KR_TRY(kr_proof_add_link(&answer->proof, cleaned(links[i])));
	KR_TRY(kr_proof_end(&answer->proof));
	answer->outcome = KR_VIOLATED;
	return KR_OK;
}

static enum kr_status fill_sources(struct kr_answer *answer, const struct kr_ir *ir)
{
	for (uint32_t o = answer->sources.n; o < ir->asg->nobs; o++)
		KR_TRY(kr_vec_add(&ir->ctx->mem, &answer->sources, ir->source[o]));
	return KR_OK;
}

static enum kr_status reject(struct kr_answer *answer, const char *why)
{
	(void)snprintf(answer->reason, sizeof answer->reason, "%s", why);
	return KR_INTERNAL;
}

enum kr_status krait_answer_world(struct kr_answer *answer, const struct kr_ir *ir, enum kr_world_form form,
	const kr_node *order, uint32_t count)
{
	if ((unsigned)form > KR_WORLD_GRAPH)
		return reject(answer, "krait_answer_world was given a form that there is not");
	if (form == KR_WORLD_SNAPSHOTS && ir->level->model == KR_NODES_TXN)
		return reject(answer,
			"krait_answer_world was given begins and commits, which the model of the level has "
			"not");
	for (uint32_t i = 0; i < count; i++)
		if (order[i].i >= ir->nnodes)
			return reject(answer, "krait_answer_world was given a node that there is not");
	if (form == KR_WORLD_GRAPH)
		KR_TRY(fill_sources(answer, ir));
	kr_vec_clear(&answer->order);
	for (uint32_t i = 0; i < count; i++)
		if (krait_ir_txn(ir, order[i]).i != KR_NONE)
			KR_TRY(kr_vec_add(&ir->ctx->mem, &answer->order, order[i]));
	answer->form = form;
	answer->outcome = KR_SATISFIED;
	return KR_OK;
}

enum kr_status krait_answer_source(struct kr_answer *answer, const struct kr_ir *ir, kr_obs o,
	kr_version seen)
{
	KR_TRY(fill_sources(answer, ir));
	if (o.i >= ir->asg->nobs ||
		(seen.i != KR_NONE &&
			(seen.i >= ir->asg->nversions ||
				ir->asg->versions[seen.i].key.i != ir->asg->obs[o.i].key.i)))
		return reject(answer,
			"krait_answer_source was given an observation that there is not, or a version that "
			"is none of its key");
	answer->sources.at[o.i] = seen;
	return KR_OK;
}

void krait_answer_unknown(struct kr_answer *answer, const char *reason)
{
	answer->outcome = KR_UNDECIDED;
	kr_err_line(answer->reason, sizeof answer->reason, "%s", reason ? reason : "");
}

enum kr_outcome krait_answer_outcome(const struct kr_answer *answer) { return answer->outcome; }

enum kr_status krait_solve_with(const char *backend, struct kr_ir *ir, struct kr_answer *answer,
	struct kr_err *err)
{
	const struct kr_backend *other = kr_backend_find(ir->ctx->modules, backend);

	if (!other || !other->solve)
		return kr_err_set(err, KR_INTERNAL, "asks '%.60s', which there is not or does not decide",
			backend);
	return kr_backend_solve(other, ir, answer, err);
}

void krait_text_add(struct kr_str *out, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	kr_str_vformat(out, format, args);
	va_end(args);
}
