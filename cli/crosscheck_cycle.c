/* What becomes of the cycles that another checker found: a line for each edge, and one for the whole. A cycle
 * that Elle found is a claim at the levels that forbid such cycles; at others nothing is claimed of it. */
#include "cli/crosscheck_run.h"

#include <string.h>

#include "report/words.h"

struct claimed {
	const char *anomaly; /* as Elle calls it; NULL: it was given by --cycle */
	struct kr_claimed_cycle edges;
};

static void add_name(const struct kr_crosscheck *c, kr_value name, struct kr_str *out)
{
	if (c->json)
		kr_history_json_value(&c->trace.history, name, out);
	else
		kr_history_print_name(&c->trace.history, name, out);
}

/* Why it holds, when it does; or why it cannot. */
static void add_why(const struct kr_crosscheck *c, const struct kr_claimed_edge *e, struct kr_str *out)
{
	struct kr_words w = {&c->trace.history, NULL, out};

	if (e->state == KR_EDGE_IMPOSSIBLE || !e->found) {
		kr_str_shown(out, e->why);
		return;
	}
	kr_str_add(out, e->state == KR_EDGE_POSSIBLE ? "if " : "");
	kr_words_edge(&w, &e->edge, NULL);
}

static void add_edge(const struct kr_crosscheck *c, const struct kr_claimed_edge *e, struct kr_str *out)
{
	const struct kr_history *h = &c->trace.history;
	kr_key key = e->found ? e->edge.key : e->key;
	const char *kind = kr_edge_name((enum kr_edge_kind)e->kind),
		   *p = e->predicate || (e->found && e->edge.predicate) ? "p" : "";
	struct kr_str why;

	kr_str_init(&why, c->args->mem);
	add_why(c, e, &why);
	if (c->json) {
		kr_str_add(out, "{\"from\": ");
		add_name(c, h->txns.at[e->from.i].id, out);
		kr_str_add(out, ", \"to\": ");
		add_name(c, h->txns.at[e->to.i].id, out);
		kr_str_format(out, ", \"kind\": \"%s%s\"", p, kind);
		if (key.i != KR_NONE) {
			kr_str_add(out, ", \"key\": ");
			add_name(c, h->keys.at[key.i].name, out);
		}
		kr_str_member(out, "state", kr_edge_state_name(e->state));
		kr_str_member(out, "why", kr_str_text(&why));
		kr_str_add(out, "}");
	} else {
		add_name(c, h->txns.at[e->from.i].id, out);
		kr_str_format(out, " -%s%s%s", p, kind, key.i == KR_NONE ? "" : "(");
		if (key.i != KR_NONE)
			add_name(c, h->keys.at[key.i].name, out);
		kr_str_add(out, key.i == KR_NONE ? "-> " : ")-> ");
		add_name(c, h->txns.at[e->to.i].id, out);
		kr_str_format(out, "\t%s\t%s", kr_edge_state_name(e->state), kr_str_text(&why));
	}
	out->failed |= why.failed;
	kr_str_done(&why);
}

static bool tell_json(struct kr_crosscheck *c, const struct kr_asked *asked, const struct claimed *cycle,
	const char *result, const char *why)
{
	struct kr_str out;

	kr_crosscheck_begin(c, asked, &out);
	if (cycle->anomaly)
		kr_str_member(&out, "anomaly", cycle->anomaly);
	kr_str_add(&out, ", \"cycle\": [");
	for (uint32_t i = 0; i < cycle->edges.n; i++) {
		kr_str_add(&out, i > 0 ? ", " : "");
		add_edge(c, &cycle->edges.at[i], &out);
	}
	kr_str_add(&out, "]");
	kr_str_member(&out, "result", result);
	if (*why)
		kr_str_member(&out, "reason", why);
	return kr_crosscheck_end(c, &out);
}

static bool tell(struct kr_crosscheck *c, const struct kr_asked *asked, const struct claimed *cycle,
	const char *result, const char *why)
{
	struct kr_str out;
	bool written = true;

	if (c->json)
		return tell_json(c, asked, cycle, result, why);
	for (uint32_t i = 0; i < cycle->edges.n && written; i++) {
		kr_crosscheck_begin(c, asked, &out);
		kr_str_add(&out, "\t");
		add_edge(c, &cycle->edges.at[i], &out);
		written = kr_crosscheck_end(c, &out);
	}
	kr_crosscheck_begin(c, asked, &out);
	kr_str_add(&out, "\t");
	kr_str_shown(&out, cycle->anomaly ? cycle->anomaly : "cycle");
	kr_str_format(&out, "\t%s%s", result, *why ? "\t" : "");
	kr_str_shown(&out, why);
	return kr_crosscheck_end(c, &out) && written;
}

/* Prints what was found; returns the exit status. */
static int conclude(struct kr_crosscheck *c, const struct kr_asked *asked, const struct claimed *cycle,
	bool satisfied, enum kr_claim_result result, const char *why)
{
	static const int exits[] = {
		[KR_CLAIM_CONFIRMED] = KR_EXIT_SATISFIED,
		[KR_CLAIM_REFUTED] = KR_EXIT_VIOLATED,
		[KR_CLAIM_ALLOWED] = KR_EXIT_VIOLATED,
		[KR_CLAIM_OPEN] = KR_EXIT_UNDECIDED,
	};
	int exit = exits[result];
	bool counts = !cycle->anomaly || result != KR_CLAIM_ALLOWED;

	if (exit == KR_EXIT_UNDECIDED && satisfied) {
		exit = KR_EXIT_VIOLATED;
		why = "the level is satisfied, so some edge of it is not there";
	}
	if (!tell(c, asked, cycle, counts ? kr_crosscheck_results[exit] : "not of this level", why))
		return KR_EXIT_FAILED;
	return counts ? exit : KR_EXIT_SATISFIED;
}

static int judge(struct kr_crosscheck *c, const struct kr_asked *asked, struct claimed *cycle, bool satisfied,
	struct kr_err *err)
{
	struct kr_check_options question = {.level = asked->level, .order = asked->order};
	enum kr_claim_result result = KR_CLAIM_OPEN;
	struct kr_certificate proof;
	struct kr_err why;

	kr_err_init(&why);
	kr_certificate_init(&proof, &c->trace.ctx.mem);
	kr_ctx_restart(&c->trace.ctx, c->limits.seconds);

	enum kr_status status = kr_claim_judge(&c->trace.ctx, &c->trace.history, &c->trace.analysis,
		&question, &cycle->edges, &result, &proof, &why);
	int exit = KR_EXIT_FAILED;

	if (status && !kr_is_limit(status)) {
		kr_err_set(err, status, "%s", why.status ? why.text : kr_ctx_reason(&c->trace.ctx, status));
	} else {
		if (status)
			kr_vec_clear(&cycle->edges); /* what its edges are is not known */
		exit = conclude(c, asked, cycle, !status && satisfied, status ? KR_CLAIM_OPEN : result,
			status               ? kr_ctx_reason(&c->trace.ctx, status)
				: why.status ? why.text
					     : "");
		if (result == KR_CLAIM_CONFIRMED)
			kr_crosscheck_witness(c, asked, &proof);
	}
	kr_certificate_done(&proof);
	return exit;
}

static int fail(struct kr_crosscheck *c, struct kr_err *err)
{
	kr_err_at(err, c->trace.path, 0, 0);
	kr_trace_clear(&c->trace);
	return kr_fail_err(err);
}

/* Of copies, since judging fills them in. `why` it cannot be judged, or NULL. */
static int crosscheck_copy(struct kr_crosscheck *c, const struct kr_asked *asked,
	const struct kr_claimed_cycle *edges, const char *anomaly, const char *why, bool satisfied)
{
	struct claimed cycle = {.anomaly = anomaly};
	struct kr_err err;
	int exit = KR_EXIT_FAILED;

	kr_err_init(&err);
	for (uint32_t i = 0; i < edges->n; i++)
		if (!kr_vec_push(c->args->mem, &cycle.edges, edges->at[i]))
			kr_err_set(&err, KR_NOMEM, "%s", kr_status_text(KR_NOMEM));
	if (!err.status && why)
		exit = conclude(c, asked, &cycle, false, KR_CLAIM_OPEN, why);
	else if (!err.status)
		exit = judge(c, asked, &cycle, satisfied, &err);
	if (err.status)
		exit = fail(c, &err);
	kr_vec_done(c->args->mem, &cycle.edges);
	return exit;
}

/* What is no cycle is only named. */
static bool name_other(struct kr_crosscheck *c, const struct kr_asked *asked, const char *anomaly)
{
	struct kr_str out;

	kr_crosscheck_begin(c, asked, &out);
	if (c->json) {
		kr_str_member(&out, "anomaly", anomaly);
		kr_str_member(&out, "result", "not judged");
	} else {
		kr_str_add(&out, "\t");
		kr_str_shown(&out, anomaly);
		kr_str_add(&out, "\tnot judged\tit is no cycle");
	}
	return kr_crosscheck_end(c, &out);
}

int kr_crosscheck_elle(struct kr_crosscheck *c, const struct kr_asked *asked, bool satisfied)
{
	int exit = KR_EXIT_SATISFIED;

	for (uint32_t i = 0; i < c->elle.cycles.n && exit != KR_EXIT_FAILED; i++) {
		const struct kr_elle_cycle *found = &c->elle.cycles.at[i];
		exit = kr_exit_worst(exit,
			crosscheck_copy(c, asked, &found->edges, found->anomaly,
				found->why[0] ? found->why : NULL, satisfied));
	}
	for (uint32_t i = 0; i < c->elle.others.n && exit != KR_EXIT_FAILED; i++)
		if (!name_other(c, asked, c->elle.others.at[i]))
			exit = KR_EXIT_FAILED;
	return exit;
}

int kr_crosscheck_cycles(struct kr_crosscheck *c, const struct kr_asked *asked, bool satisfied)
{
	int exit = KR_EXIT_SATISFIED;

	for (uint32_t i = 0; i < c->cycles.n; i++) {
		const struct kr_given_cycle *given = &c->cycles.at[i];
		struct kr_question question = {asked->level, asked->order};
		if (!given->said || !given->said->question.level ||
			kr_implies(c->args->modules, question, given->said->question))
			exit = kr_exit_worst(exit,
				crosscheck_copy(c, asked, &given->edges, NULL, NULL, satisfied));
	}
	return exit;
}

/* ---- as they are given ---- */

static const char *given_cycle(const struct kr_args *args, uint32_t i)
{
	return strcmp(args->given.at[i].option->name, "cycle") == 0 ? args->given.at[i].value : NULL;
}

bool kr_crosscheck_take_cycles(const struct kr_args *args)
{
	struct kr_err err;

	kr_err_init(&err);
	for (uint32_t i = 0; i < args->given.n && !err.status; i++) {
		struct kr_claimed_cycle edges = {0};

		if (given_cycle(args, i))
			kr_err_set(&err, kr_claim_read(args->mem, NULL, given_cycle(args, i), &edges, &err),
				"%s", kr_status_text(KR_NOMEM));
		kr_vec_done(args->mem, &edges);
	}
	if (err.status)
		kr_usage("option '--cycle': %s", err.text);
	return !err.status;
}

static enum kr_status read_cycle(struct kr_crosscheck *c, const char *text, const struct kr_stated *said,
	struct kr_err *err)
{
	struct kr_given_cycle given = {.said = said};
	enum kr_status status = kr_claim_read(c->args->mem, &c->trace.history, text, &given.edges, err);

	if (!status && kr_vec_push(c->args->mem, &c->cycles, given))
		return KR_OK;
	kr_vec_done(c->args->mem, &given.edges);
	return status ? status : KR_NOMEM;
}

enum kr_status kr_crosscheck_read_cycles(struct kr_crosscheck *c, struct kr_err *err)
{
	enum kr_status status = KR_OK;

	for (uint32_t i = 0; i < c->args->given.n && !status; i++)
		if (given_cycle(c->args, i))
			status = read_cycle(c, given_cycle(c->args, i), NULL, err);
	for (uint32_t i = 0; i < c->said.stated.n && !status; i++) {
		const struct kr_stated *said = &c->said.stated.at[i];
		if (!said->cycle || !kr_stated_of(said, c->trace.path))
			continue;
		status = read_cycle(c, said->cycle, said, err);
		if (status == KR_BAD)
			kr_err_at(err, kr_args_value(c->args, "claim"), said->line, 0);
	}
	return status;
}

void kr_crosscheck_drop_cycles(struct kr_crosscheck *c)
{
	for (uint32_t i = 0; i < c->cycles.n; i++)
		kr_vec_done(c->args->mem, &c->cycles.at[i].edges);
	kr_vec_done(c->args->mem, &c->cycles);
}
