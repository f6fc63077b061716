/* What becomes of a cycle that another checker found: a line for each edge, and one for the whole. */
#include "cli/crosscheck_run.h"

#include <string.h>

#include "report/words.h"

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
		kr_str_add(out, e->why);
		return;
	}
	kr_str_add(out, e->state == KR_EDGE_POSSIBLE ? "if " : "");
	kr_words_edge(&w, &e->edge, NULL);
}

static void add_edge(const struct kr_crosscheck *c, const struct kr_claimed_edge *e, struct kr_str *out)
{
	const struct kr_history *h = &c->trace.history;
	kr_key key = e->found ? e->edge.key : e->key;
	const char *kind = kr_edge_name((enum kr_edge_kind)e->kind), *p = e->predicate || (e->found && e->edge.predicate) ? "p" : "";
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
		kr_crosscheck_field("state", kr_edge_state_name(e->state), out);
		kr_crosscheck_field("why", kr_str_text(&why), out);
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

static bool tell_json(const struct kr_crosscheck *c, const struct kr_asked *asked, const struct kr_claimed_cycle *cycle, int exit, const char *why)
{
	struct kr_str out;

	kr_crosscheck_begin(c, asked, &out);
	kr_str_add(&out, ", \"cycle\": [");
	for (uint32_t i = 0; i < cycle->n; i++) {
		kr_str_add(&out, i > 0 ? ", " : "");
		add_edge(c, &cycle->at[i], &out);
	}
	kr_str_add(&out, "]");
	kr_crosscheck_field("result", kr_crosscheck_results[exit], &out);
	if (*why)
		kr_crosscheck_field("reason", why, &out);
	return kr_crosscheck_end(c, &out);
}

static bool tell(const struct kr_crosscheck *c, const struct kr_asked *asked, const struct kr_claimed_cycle *cycle, int exit, const char *why)
{
	struct kr_str out;
	bool written = true;

	if (c->json)
		return tell_json(c, asked, cycle, exit, why);
	for (uint32_t i = 0; i < cycle->n && written; i++) {
		kr_crosscheck_begin(c, asked, &out);
		kr_str_add(&out, "\t");
		add_edge(c, &cycle->at[i], &out);
		written = kr_crosscheck_end(c, &out);
	}
	kr_crosscheck_begin(c, asked, &out);
	kr_str_format(&out, "\tcycle\t%s%s%s", kr_crosscheck_results[exit], *why ? "\t" : "", why);
	return kr_crosscheck_end(c, &out) && written;
}

static bool write_witness(struct kr_crosscheck *c, const struct kr_asked *asked, const struct kr_certificate *proof)
{
	struct kr_witness_head head = {c->trace.path, asked->level->id, asked->order};
	struct kr_str out;

	kr_str_init(&out, c->args->mem);
	kr_witness_print(&c->trace.history, &head, proof, &out);
	bool written = kr_file_write(&c->witness, &out);
	kr_str_done(&out);
	return written;
}

/* The time that each step has. */
static void restart(struct kr_crosscheck *c)
{
	struct kr_ctx *ctx = &c->trace.ctx;

	ctx->stopped = KR_OK;
	ctx->deadline_ns = c->limits.seconds > 0 ? kr_now_ns() + (int64_t)(c->limits.seconds * 1e9) : INT64_MAX;
}

static int judge(struct kr_crosscheck *c, const struct kr_asked *asked, struct kr_claimed_cycle *cycle, bool satisfied, struct kr_err *err)
{
	static const int exits[] = {[KR_CLAIM_CONFIRMED] = KR_EXIT_SATISFIED, [KR_CLAIM_REFUTED] = KR_EXIT_VIOLATED, [KR_CLAIM_OPEN] = KR_EXIT_UNDECIDED};
	struct kr_check_options question = {.level = asked->level, .order = asked->order};
	enum kr_claim_result result = KR_CLAIM_OPEN;
	struct kr_certificate proof;
	struct kr_err why;

	kr_err_init(&why);
	kr_certificate_init(&proof, &c->trace.ctx.mem);
	restart(c);

	enum kr_status status = kr_claim_judge(&c->trace.ctx, &c->trace.history, &c->trace.analysis, &question, cycle, &result, &proof, &why);
	int exit = KR_EXIT_FAILED;

	if (status && !kr_is_limit(status)) {
		kr_err_set(err, status, "%s", why.status ? why.text : kr_status_text(status));
	} else {
		const char *text = status ? kr_status_text(status) : why.status ? why.text : "";
		exit = status ? KR_EXIT_UNDECIDED : exits[result];
		if (status)
			kr_vec_clear(cycle); /* what its edges are is not known */
		if (exit == KR_EXIT_UNDECIDED && satisfied) {
			exit = KR_EXIT_VIOLATED;
			text = "the level is satisfied, so some edge of it is not there";
		}
		kr_trace_clear(&c->trace);
		if (!tell(c, asked, cycle, exit, text) || (result == KR_CLAIM_CONFIRMED && !write_witness(c, asked, &proof)))
			exit = KR_EXIT_FAILED;
	}
	kr_certificate_done(&proof);
	return exit;
}

static int crosscheck_cycle(struct kr_crosscheck *c, const struct kr_asked *asked, const char *text, bool satisfied)
{
	struct kr_claimed_cycle cycle = {0};
	struct kr_err err;
	int exit = KR_EXIT_FAILED;

	kr_err_init(&err);

	enum kr_status status = kr_claim_read(c->args->mem, &c->trace.history, text, &cycle, &err);

	if (status == KR_OK)
		exit = judge(c, asked, &cycle, satisfied, &err);
	else
		kr_err_set(&err, status, "%s", kr_status_text(status));
	if (err.status) {
		kr_err_at(&err, c->trace.path, 0, 0);
		kr_trace_clear(&c->trace);
		exit = kr_fail_err(&err);
	}
	kr_vec_done(c->args->mem, &cycle);
	return exit;
}

int kr_crosscheck_cycles(struct kr_crosscheck *c, const struct kr_asked *asked, bool satisfied)
{
	int exit = KR_EXIT_SATISFIED;

	for (uint32_t i = 0; i < c->args->given.n; i++)
		if (strcmp(c->args->given.at[i].option->name, "cycle") == 0)
			exit = kr_exit_worst(exit, crosscheck_cycle(c, asked, c->args->given.at[i].value, satisfied));
	return exit;
}
