/* Findings of the certifier: each edge is certain, and the level of the profile forbids the cycle. */
#include "verify/recheck.h"

struct effect {     /* of a transaction */
	bool took;  /* it took effect */
	bool seen;  /* of unknown outcome: its value of the edge's key is all that some read can have seen */
	int64_t by; /* when it had, at the latest, as far as that is asked for */
};

struct edge_check {
	struct kr_recheck *r;
	const struct kr_certain_edge *e;
	uint32_t at; /* its number in the cycle */
	struct effect from, to;
	struct kr_sighted s;         /* of wr and rw */
	struct kr_places places;     /* of what shares its snapshot */
	const struct kr_newly *only; /* what it must have seen, or NULL */
	/* ww: the target saw the source before it wrote, by the rule of the first updater */
	bool plain_snapshot;
};

static const struct kr_newly *version_of(const struct kr_recheck *r, kr_txn t)
{
	for (uint32_t i = 0; i < r->versions.n; i++)
		if (r->versions.at[i].txn.i == t.i)
			return &r->versions.at[i];
	return NULL;
}

static bool is_unknown(const struct kr_recheck *r, kr_txn t)
{
	return t.i != KR_NONE && r->h->txns.at[t.i].status == KR_UNKNOWN;
}

static bool is_version(const struct edge_check *c, const struct kr_newly *v, const struct effect *effect)
{
	return v && (effect->seen || !kr_recheck_is_shadow_by(c->r, v, effect->by));
}

/* ---- what a read must have seen ---- */

static bool meets_places(const struct edge_check *c, const struct kr_newly *v)
{
	int64_t from = kr_recheck_from(c->r, v), gone = kr_recheck_gone(c->r, v);

	for (uint32_t i = 0; i < c->places.n; i++)
		if (from <= c->places.at[i].to && c->places.at[i].from <= gone)
			return true;
	return c->places.n == 0;
}

static void narrow(struct edge_check *c, kr_txn reader)
{
	struct kr_span hull = {INT64_MAX, INT64_MIN};
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->places.n; i++) {
		hull.from = c->places.at[i].from < hull.from ? c->places.at[i].from : hull.from;
		hull.to = c->places.at[i].to > hull.to ? c->places.at[i].to : hull.to;
	}
	if (c->places.n > 0)
		c->s.at = hull;
	c->only = NULL;
	for (uint32_t i = 0; i < c->r->versions.n; i++) {
		const struct kr_newly *v = &c->r->versions.at[i];
		if (v->txn.i == reader.i || !kr_recheck_allows(c->r, &c->s, c->e->key, v->value) ||
			!kr_recheck_could_be_seen(c->r, reader, v, c->s.at) || !meets_places(c, v))
			continue;
		c->only = n++ == 0 ? v : NULL;
	}
}

/* `certifies`: it has to count for the certifier, too. */
static enum kr_status look(struct edge_check *c, kr_txn reader, bool certifies)
{
	struct kr_recheck *r = c->r;

	if (c->e->op >= r->h->txns.at[reader.i].op_count || c->e->key.i == KR_NONE)
		return kr_recheck_fail(r, "an edge names no read");
	kr_recheck_sight(r, reader, c->e->op, c->e->key, NULL, &c->s);
	if (!c->s.says || c->s.own || c->s.uncommitted ||
		(certifies && c->s.insert && !r->claims.profile->insert_certified))
		return kr_recheck_fail(r, "an edge rests on a read that orders nothing");
	KR_TRY(kr_recheck_versions(r, c->e->key));
	if (!kr_recheck_explained(r, reader, &c->s, c->e->key, &c->only))
		return kr_recheck_fail(r, "an edge rests on a read that nothing explains");
	if (!c->s.shared)
		return KR_OK;
	KR_TRY(kr_recheck_shared(r, reader, c->e->op, &c->places));
	KR_TRY(kr_recheck_versions(r, c->e->key));
	if (c->places.n == 0)
		return kr_recheck_fail(r, "an edge rests on a snapshot that there is not");
	narrow(c, reader);
	return KR_OK;
}

/* ---- edges ---- */

static void note(const struct edge_check *c, struct kr_point before, struct kr_point after)
{
	struct kr_gap gap = kr_recheck_gap(before, after);

	gap.edge = c->at;
	kr_recheck_note(c->r, gap);
}

static enum kr_status check_wr(struct edge_check *c)
{
	struct kr_recheck *r = c->r;

	KR_TRY(look(c, c->e->to, true));
	const struct kr_newly *v = version_of(r, c->e->from);
	if (!is_version(c, v, &c->from))
		return kr_recheck_fail(r, "the source of an edge made no version of the key, for certain");
	if (!c->e->earlier)
		return c->only == v
			? KR_OK
			: kr_recheck_fail(r, "the source of a wr is not all that the read can have seen");
	if (r->h->txns.at[v->txn.i].status == KR_COMMITTED &&
		kr_recheck_instants(r, v->txn)->commit.to < c->s.at.from) {
		note(c, kr_point_at(KR_INSTANT_COMMIT, v->txn, kr_recheck_instants(r, v->txn)->commit.to),
			kr_recheck_snapshot(r, c->e->to, c->s.at.from));
		return KR_OK;
	}
	return kr_recheck_fail(r, "the source of an edge may have committed after the read's snapshot");
}

static enum kr_status check_rw(struct edge_check *c)
{
	struct kr_recheck *r = c->r;

	KR_TRY(look(c, c->e->from, true));
	const struct kr_newly *u = version_of(r, c->e->to);
	if (!is_version(c, u, &c->to) ||
		(c->s.saw.predicate && kr_recheck_allows(r, &c->s, c->e->key, u->value)))
		return kr_recheck_fail(r,
			"the target of an rw changed nothing of what was read, for certain");
	bool real = c->only && (is_unknown(r, c->only->txn) || !kr_recheck_is_shadow(r, c->only)),
	     after = real && kr_recheck_precedes(r, c->only, u);
	if (c->s.at.to < kr_recheck_instants(r, u->txn)->commit.from)
		note(c, kr_recheck_snapshot(r, c->e->from, c->s.at.to),
			kr_point_at(KR_INSTANT_COMMIT, u->txn, kr_recheck_instants(r, u->txn)->commit.from));
	else if (after)
		kr_recheck_note_order(r, c->only, u, c->at);
	else
		return kr_recheck_fail(r, "the target of an rw may be what was read, or come before it");
	return KR_OK;
}

static enum kr_status check_ww(struct edge_check *c)
{
	struct kr_recheck *r = c->r;

	KR_TRY(kr_recheck_versions(r, c->e->key));
	const struct kr_newly *v = version_of(r, c->e->from), *u = version_of(r, c->e->to);
	if (!is_version(c, v, &c->from) || !is_version(c, u, &c->to) || !kr_recheck_precedes(r, v, u))
		return kr_recheck_fail(r, "the order of a ww is not certain");
	kr_recheck_note_order(r, v, u, c->at);
	c->plain_snapshot = r->claims.profile->fuw && kr_recheck_instants(r, u->txn)->has_snapshot &&
		!kr_recheck_new_row(r, u->txn, c->e->key);
	return KR_OK;
}

static enum kr_status check_order(const struct edge_check *c)
{
	const struct kr_recheck *r = c->r;
	const struct kr_transaction *a = &r->h->txns.at[c->e->from.i], *b = &r->h->txns.at[c->e->to.i];
	const struct kr_instants *to = kr_recheck_instants(r, c->e->to);
	enum kr_order order = r->claims.profile->certify_order;
	bool follows = a->session.i != KR_NONE && a->session.i == b->session.i && c->e->from.i < c->e->to.i;

	if (a->status == KR_COMMITTED && c->e->kind == KR_SO && order != KR_ORDER_NONE && follows)
		return KR_OK;
	if (a->status == KR_COMMITTED && c->e->kind == KR_RT && order == KR_ORDER_REALTIME &&
		kr_recheck_instants(r, c->e->from)->commit.to < to->begin.from) {
		note(c,
			kr_point_at(KR_INSTANT_COMMIT, c->e->from,
				kr_recheck_instants(r, c->e->from)->commit.to),
			kr_point_at(KR_INSTANT_BEGIN, c->e->to, to->begin.from));
		return KR_OK;
	}
	return kr_recheck_fail(r, "the order of two transactions is not certain, or not asked for");
}

/* Has the operation of s certainly seen the value of t? */
static enum kr_status note_source(struct kr_recheck *r, kr_txn t, kr_txn s, uint32_t op, kr_key key,
	struct effect *out)
{
	struct kr_certain_edge e = {.kind = KR_WR, .from = t, .to = s, .key = key, .op = op};
	struct edge_check c = {.r = r, .e = &e};
	struct kr_err *err = r->err;

	r->err = NULL; /* that it has not is no fault */
	enum kr_status status = look(&c, s, false);
	r->err = err;
	if (status == KR_OK && c.only && c.only->txn.i == t.i) {
		out->took = true;
		out->by = c.s.at.to < out->by ? c.s.at.to : out->by;
	}
	kr_vec_done(&r->ctx->mem, &c.places);
	return status == KR_BAD ? KR_OK : status;
}

/* Has anything certainly seen t's value of the key? Only where equal values make no versions does it matter
 * how early. */
static enum kr_status note_seen(struct kr_recheck *r, kr_txn t, kr_key key, struct effect *out)
{
	bool all = r->claims.profile->noop == KR_NOOP_NONE;

	for (kr_txn s = {0}; s.i < r->h->txns.n; s.i++)
		for (uint32_t op = 0; op < r->h->txns.at[s.i].op_count && s.i != t.i && (all || !out->took);
			op++)
			KR_TRY(note_source(r, t, s, op, key, out));
	return KR_OK;
}

/* An unknown transaction took effect if something that was seen is its value only. */
static enum kr_status find_effect(struct kr_recheck *r, kr_txn t, kr_key key, struct effect *out)
{
	bool unknown = is_unknown(r, t);

	*out = (struct effect){.took = r->h->txns.at[t.i].status == KR_COMMITTED,
		.by = unknown ? INT64_MAX : kr_recheck_instants(r, t)->commit.to};
	if (unknown && key.i != KR_NONE)
		KR_TRY(note_seen(r, t, key, out));
	out->seen = unknown && out->took;
	for (struct kr_effects e = kr_effects_of(r->h, t); unknown && kr_effects_next(&e);)
		KR_TRY(note_seen(r, t, e.row.key, out));
	return KR_OK;
}

static enum kr_status check_edge(struct kr_recheck *r, const struct kr_certain_edge *e, uint32_t at,
	bool *plain_snapshot)
{
	struct edge_check c = {.r = r, .e = e, .at = at};
	enum kr_status status;

	KR_TRY(find_effect(r, e->from, e->key, &c.from));
	KR_TRY(find_effect(r, e->to, e->key, &c.to));
	if (!c.from.took || !c.to.took)
		return kr_recheck_fail(r, "a transaction of the cycle is not known to have taken effect");
	switch (e->kind) {
	case KR_WR: status = check_wr(&c); break;
	case KR_RW: status = check_rw(&c); break;
	case KR_WW: status = check_ww(&c); break;
	case KR_SO:
	case KR_RT: status = check_order(&c); break;
	default: status = kr_recheck_fail(r, "an edge of no kind"); break;
	}
	*plain_snapshot = c.plain_snapshot;
	kr_vec_done(&r->ctx->mem, &c.places);
	return status;
}

/* ---- the cycle ---- */

/* On begins and commits, what enters a commit has to be left by another edge that leaves the begin: there is
 * no way back. */
static enum kr_status check_nodes(const struct kr_recheck *r, const struct kr_certain_edge *e, bool snapshot,
	const struct kr_certain_edge *next)
{
	enum kr_node_model model = r->claims.certify->model;
	bool enters_commit =
		e->kind == KR_RW || (e->kind == KR_WW && (model == KR_NODES_PREFIX || !snapshot));

	if (model == KR_NODES_TXN || !enters_commit || next->kind != KR_RW)
		return KR_OK;
	return kr_recheck_fail(r,
		"two edges of the cycle do not follow each other: the first ends at a commit, the second "
		"starts at a begin");
}

enum kr_status kr_recheck_cycle(struct kr_recheck *r)
{
	const struct kr_finding *f = r->f;
	const struct kr_certain_edge *edges = r->findings->edges.at + f->edge_first;

	if (!r->claims.certify || f->edge_count < 2)
		return kr_recheck_fail(r, "the profile certifies no level, or there is no cycle");
	for (uint32_t i = 0; i < f->edge_count; i++) {
		const struct kr_certain_edge *e = &edges[i], *next = &edges[(i + 1) % f->edge_count];
		bool snapshot = false;
		if (e->to.i != next->from.i || e->from.i >= r->h->txns.n || e->to.i >= r->h->txns.n)
			return kr_recheck_fail(r, "the edges do not follow each other");
		if (!(r->claims.certify->forbidden[0].allowed & KR_BIT(e->kind)))
			return kr_recheck_fail(r, "the level does not ask for edges of that kind");
		KR_TRY(check_edge(r, e, i, &snapshot));
		KR_TRY(check_nodes(r, e, snapshot, next));
	}
	return KR_OK;
}
