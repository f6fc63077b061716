/* Stages of the pipeline (stage.h). */
#include "cli/stage.h"

#include <string.h>

#include "cli/crash.h"
#include "cli/output.h"
#include "frontend/source.h"
#include "ir/proof.h"

/* The stages by option; a writer is a back end. */
static const struct {
	const char *option;
	enum kr_stage stage;
} stages[] = {
	{"asg", KR_STAGE_ASG},
	{"ir", KR_STAGE_IR},
	{"smt2", KR_STAGE_WRITER},
	{"dimacs", KR_STAGE_WRITER},
};

static int take_stage(struct kr_staging *s, enum kr_stage implied)
{
	const char *option = NULL;
	size_t chosen = 0;

	s->stage = implied;
	for (size_t i = 0; i < KR_COUNT(stages); i++) {
		if (!kr_args_has(s->args, stages[i].option))
			continue;
		chosen++;
		s->stage = stages[i].stage;
		option = stages[i].option;
	}
	if (chosen > 1 || (chosen == 0 && implied == KR_STAGE_WRITER))
		return kr_usage("expected one of --asg, --ir, --smt2 and --dimacs; see 'krait %s --help'",
			s->args->command->name);
	if (s->stage != KR_STAGE_WRITER)
		return KR_EXIT_SATISFIED;
	s->writer = kr_backend_find(s->args->modules, option);
	return s->writer && s->writer->write ? KR_EXIT_SATISFIED
					     : kr_usage("--%s is not available yet", option);
}

int kr_staging_init(struct kr_staging *s, const struct kr_args *args, enum kr_stage implied, bool text)
{
	*s = (struct kr_staging){.args = args};
	kr_str_init(&s->out, args->mem);

	int status = take_stage(s, implied);

	if (status != KR_EXIT_SATISFIED)
		return status;
	if (!kr_trace_options(args, &s->trace_options))
		return KR_EXIT_USAGE;
	if (text)
		s->passes = kr_args_value(args, "passes");
	else if (!kr_passes_asked(args, &s->passes))
		return KR_EXIT_USAGE;
	status = kr_levels_asked(args, &s->asked);
	if (status == KR_EXIT_SATISFIED && s->asked.n != 1)
		return kr_usage("expected one level, found %u", s->asked.n);
	return status;
}

void kr_staging_done(struct kr_staging *s)
{
	kr_str_done(&s->out);
	kr_vec_done(s->args->mem, &s->asked);
}

/* ---- printing ---- */

static void print_conflict(const struct kr_ir *ir, struct kr_str *out)
{
	kr_str_add(out, "# conflict:");
	for (uint32_t c = 0; c < ir->conflict->cycles.n; c++) {
		const struct kr_cycle *cycle = &ir->conflict->cycles.at[c];

		for (uint32_t i = 0; i < cycle->count; i++) {
			const struct kr_link *link = &ir->conflict->links.at[cycle->first + i];

			kr_str_format(out, "%s %s %u -> %u", c > 0 && i == 0 ? ";" : "",
				kr_edge_name(link->kind), link->from.i, link->to.i);
		}
	}
	kr_str_add(out, "\n");
}

/* Other solvers are to decide the level's question: the order's edges must be there. */
static enum kr_status check_question(const struct kr_ir *ir, struct kr_err *err)
{
	uint32_t missing = kr_order_facts(ir->order) & ~ir->facts;

	if (!missing)
		return KR_OK;
	return kr_err_set(err, KR_BAD, "no pass provides the fact '%s', expected it for order '%s'",
		kr_fact_name((enum kr_fact)(missing & -missing)), kr_order_name(ir->order));
}

enum kr_status kr_staging_print(struct kr_staging *s, struct kr_ir *ir, const char *passes, bool *conflict,
	struct kr_err *err)
{
	struct kr_pass_options options = {.verify = true};
	enum kr_change change = KR_UNCHANGED;
	enum kr_status status = kr_passes_run(ir, passes, &options, NULL, &change, err);

	*conflict = !status && change == KR_CONFLICT;
	if (!status && s->stage == KR_STAGE_IR)
		kr_ir_print(ir, &s->out);
	else if (!status && !(status = check_question(ir, err)))
		status = kr_backend_write(s->writer, ir, &s->out, err);
	return status;
}

/* ---- texts ---- */

/* A graph read from text. `order` is that of the text if it has an IR, else the one asked for. */
struct graph_text {
	struct kr_asg asg;
	struct kr_ir ir;
	bool read;
};

/* Reads what `dump` printed: an ASG, and perhaps an IR behind it. The caller frees *g with graph_text_done
 * in every case. KR_BAD with file and line. */
static enum kr_status graph_text_read(struct graph_text *g, struct kr_ctx *ctx, const char *path,
	const struct kr_asked *asked, struct kr_err *err)
{
	struct kr_source *source;
	struct kr_str text;
	char *at;
	size_t length;

	*g = (struct graph_text){0};

	KR_TRY(kr_source_open(ctx, path, &source, err));
	kr_str_init(&text, &ctx->mem);
	enum kr_status status = kr_source_rest(source, &at, &length, err);
	if (!status)
		kr_str_add_bytes(&text, at, length);
	kr_source_free(source);
	if (!status && text.failed)
		status = KR_NOMEM;
	if (!status && memchr(kr_str_text(&text), '\0', text.n))
		status = kr_err_set(err, KR_BAD, "found a NUL byte, expected text");
	if (!status)
		status =
			kr_ir_read(&g->ir, &g->asg, ctx, asked->level, asked->order, kr_str_text(&text), err);
	g->read = !status;
	kr_str_done(&text);
	return status;
}

static void graph_text_done(struct graph_text *g)
{
	if (g->read) {
		kr_ir_done(&g->ir);
		kr_asg_done(&g->asg);
	}
	g->read = false;
}

static enum kr_status print_text(struct kr_staging *s, struct graph_text *g, const char *passes,
	bool *conflict, struct kr_err *err)
{
	const struct kr_asked *asked = &s->asked.at[0];

	if (g->ir.order != asked->order && kr_args_has(s->args, "order"))
		return kr_err_set(err, KR_BAD,
			"the text has order '%s', expected '%s' as option '--order' says",
			kr_order_name(g->ir.order), kr_order_name(asked->order));
	if (s->stage != KR_STAGE_ASG)
		return kr_staging_print(s, &g->ir, passes, conflict, err);
	kr_asg_print(&g->asg, &s->out);
	return KR_OK;
}

int kr_staging_text(struct kr_staging *s, const char *passes)
{
	struct kr_trace t = {.path = s->args->operands.at[0]};
	struct graph_text g;
	struct kr_err err;
	bool conflict = false;

	kr_err_init(&err);
	kr_ctx_init(&t.ctx, s->trace_options.seconds, (size_t)s->trace_options.mebibytes);
	kr_mem_count_process(&t.ctx.mem, s->trace_options.resident);
	t.ctx.modules = s->args->modules;
	t.ctx.calling = kr_crash_calling;

	enum kr_status status = graph_text_read(&g, &t.ctx, t.path, &s->asked.at[0], &err);

	if (!status && kr_passes_check_on(&g.ir, passes, &err) != KR_OK) {
		graph_text_done(&g);
		return kr_usage("option '--passes': %s", err.text);
	}
	if (!status)
		status = print_text(s, &g, passes, &conflict, &err);
	if (!status && conflict && s->stage == KR_STAGE_IR)
		print_conflict(&g.ir, &s->out);
	graph_text_done(&g);
	if (status)
		return kr_trace_fail(&t, status, &err);
	if (!kr_print(&s->out))
		return KR_EXIT_FAILED;
	return conflict ? KR_EXIT_VIOLATED : KR_EXIT_SATISFIED;
}
