/* krait classify: where a trace stands in the lattice of levels. What had to be searched for is told as
 * soon as it is decided, what follows from it with the rest. */
#include "cli/output.h"
#include "cli/trace.h"
#include "report/report.h"

static const struct kr_option options[] = {
	KR_OPTION_FORMAT,
	KR_OPTION_INITIAL,
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
			KR_TRY(kr_vec_add(&t->ctx.mem, out,
				(struct kr_decision){
					.options = {.level = level, .order = (enum kr_order)order}}));
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

struct deciding {
	const struct kr_args *args;
	struct kr_trace *trace;
	const struct kr_trace_options *limits;
};

static void decided(void *data, struct kr_decision *d)
{
	struct deciding *c = data;
	struct kr_decision shown = *d; /* the search goes on with what it knows itself */
	struct kr_str out;

	kr_trace_require(c->trace, c->limits, &shown, 1);
	if (kr_args_has(c->args, "json") || d->status != KR_OK || d->verdict.proof_of ||
		shown.verdict.outcome == KR_UNDECIDED)
		return;
	kr_trace_clear(c->trace);
	kr_str_init(&out, c->args->mem);
	kr_report_class(&c->trace->history, d, &out);
	(void)kr_print_done(&out); /* what fails once fails at the end, too */
}

static void decide(const struct kr_args *args, struct kr_trace *t, const struct kr_trace_options *limits,
	struct decisions *all)
{
	struct deciding c = {args, t, limits};
	struct kr_check_plan plan = {.decided = decided, .data = &c};

	if (limits->seconds <= 0) {
		plan.each_ns = KR_CHECK_EACH_NS;
		plan.all_ns = KR_CHECK_ALL_NS;
	}
	kr_check_planned(&t->ctx, &t->history, &t->analysis, all->at, all->n, &plan);
	kr_trace_require(t, limits, all->at, all->n);
	kr_trace_clear(t);
}

static bool print_heading(const struct kr_args *args, const char *path)
{
	struct kr_str out;

	if (kr_args_has(args, "json"))
		return true;
	kr_str_init(&out, args->mem);
	kr_str_shown(&out, path);
	kr_str_add(&out, "\n  decided so far:\n");
	return kr_print_done(&out);
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
	return kr_print_done(&out) ? conclude(all) : KR_EXIT_FAILED;
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
		exit = KR_EXIT_FAILED;
		if (print_heading(args, path)) {
			decide(args, &t, trace_options, &all);
			exit = print(args, &t, &all);
		}
		for (uint32_t i = 0; i < all.n; i++)
			kr_verdict_done(&all.at[i].verdict, &t.ctx.mem);
	} else {
		exit = kr_trace_fail(&t, status, &err);
	}
	kr_vec_done(&t.ctx.mem, &all);
	kr_trace_done(&t);
	return exit;
}

static int run(const struct kr_args *args)
{
	struct kr_trace_options trace_options;
	int exit = KR_EXIT_SATISFIED;

	if (!kr_trace_options(args, &trace_options))
		return KR_EXIT_USAGE;
	for (uint32_t i = 0; i < args->operands.n && !kr_print_failed(); i++)
		exit = kr_exit_worst(exit, one_trace(args, args->operands.at[i], &trace_options));
	return exit;
}

const struct kr_command kr_command_classify = {
	.name = "classify",
	.synopsis = "[OPTION]... TRACE...",
	.title = "find the strongest levels satisfied and the weakest violated",
	.text = "Decides every level with every order that the trace tells. Prints what it had to\n"
		"search for as it is decided, then the border: satisfied levels that no other\n"
		"satisfied one implies, violated ones that imply no other violated one, and\n"
		"what is undecided.\n"
		"Without --timeout no level takes more than 5 s, and all together 25 s. Exits\n"
		"with 0 when all are decided.",
	.options = options,
	.operands = KR_WORDS_FILE,
	.least = 1,
	.most = UINT32_MAX,
	.decides = true,
	.run = run,
};
