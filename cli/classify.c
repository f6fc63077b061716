/* krait classify: where a trace stands in the lattice of levels. */
#include "checkers/lattice.h"
#include "cli/output.h"
#include "cli/trace.h"
#include "report/report.h"

static const struct kr_option options[] = {
	KR_OPTION_FORMAT,
	{"json", 0, NULL, KR_WORDS_ANY, "one JSON object for each trace, one a line"},
	KR_OPTION_LENIENT,
	KR_OPTION_REQUIRE,
	KR_OPTION_TIMEOUT,
	KR_OPTION_MEMORY,
	KR_OPTION_JOBS,
	KR_OPTION_QUIET,
	{0},
};

KR_VEC_NAMED(decisions, struct kr_decision);

/* Whether the order can matter to the trace: someone has a predecessor in a session, or times are told. */
static bool tells(const struct kr_history *h, enum kr_order order)
{
	bool sessions = false, times = false;

	for (uint32_t t = 0; t < h->txns.n; t++) {
		sessions |= h->txns.at[t].session.i != KR_NONE;
		times |= (h->txns.at[t].flags & (KR_TXN_HAS_BEGIN | KR_TXN_HAS_END)) != 0;
	}
	return order == KR_ORDER_NONE || (order == KR_ORDER_SESSION ? sessions : times);
}

/* Every level with every order that can matter; orders that the trace does not tell are left out: they add no
 * edge. */
static enum kr_status ask(struct kr_trace *t, struct decisions *out)
{
	const struct kr_level *level;

	for (int order = KR_ORDER_REALTIME; order >= KR_ORDER_NONE; order--) {
		if (!tells(&t->history, (enum kr_order)order))
			continue;
		for (size_t i = 0; (level = kr_level_at(t->ctx.modules, i)) != NULL; i++)
			if (!kr_vec_push(&t->ctx.mem, out,
				    (struct kr_decision){
					    .options = {.level = level, .order = (enum kr_order)order}}))
				return KR_NOMEM;
	}
	return KR_OK;
}

static int conclude(const struct decisions *all)
{
	int exit = KR_EXIT_SATISFIED;

	for (uint32_t i = 0; i < all->n; i++) {
		const struct kr_decision *d = &all->at[i];

		if (d->status == KR_OK ? d->verdict.outcome == KR_UNDECIDED : kr_is_limit(d->status))
			exit = kr_exit_worst(exit, KR_EXIT_UNDECIDED);
		else if (d->status != KR_OK)
			exit = KR_EXIT_FAILED;
	}
	return exit;
}

static int print(const struct kr_args *args, const struct kr_trace *t, const struct decisions *all)
{
	struct kr_classes classes = {t->path, &t->history, all->at, all->n, args->modules, &t->notes};
	struct kr_str out;

	kr_str_init(&out, args->mem);
	if (kr_args_has(args, "json")) {
		kr_report_classes_json(&classes, &out);
		kr_str_add(&out, "\n");
	} else {
		kr_report_classes(&classes, &out);
	}
	bool written = kr_print(&out);
	kr_str_done(&out);
	return written ? conclude(all) : KR_EXIT_FAILED;
}

static int one_trace(const struct kr_args *args, const char *path,
	const struct kr_trace_options *trace_options)
{
	struct kr_trace t;
	struct kr_err err;
	struct decisions all = {0};
	int exit;

	kr_err_init(&err);

	enum kr_status status = kr_trace_read(&t, path, trace_options, &err);

	if (status == KR_OK)
		status = kr_trace_analyze(&t, &err);
	if (status == KR_OK)
		status = ask(&t, &all);
	if (status == KR_OK) {
		kr_check_all(&t.ctx, &t.history, &t.analysis, all.at, all.n);
		kr_trace_require(&t, trace_options, all.at, all.n);
		kr_trace_clear(&t);
		exit = print(args, &t, &all);
		for (uint32_t i = 0; i < all.n; i++)
			kr_verdict_done(&all.at[i].verdict, &t.ctx.mem);
	} else {
		exit = kr_trace_fail(&t, status, &err);
	}
	kr_vec_done(&t.ctx.mem, &all);
	kr_trace_done(&t);
	return exit;
}

static int run(const struct kr_args *args) { return kr_each_trace(args, one_trace); }

const struct kr_command kr_command_classify = {
	.name = "classify",
	.synopsis = "[OPTION]... TRACE...",
	.title = "find the strongest levels satisfied and the weakest violated",
	.text = "Decides every level with every order that the trace tells, and prints those at\n"
		"the border: satisfied levels that no other satisfied one implies, and violated\n"
		"ones that imply no other violated one. Exits with 0 when all are decided.",
	.options = options,
	.operands = KR_WORDS_FILE,
	.least = 1,
	.most = UINT32_MAX,
	.decides = true,
	.run = run,
};
