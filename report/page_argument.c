/* The argument of a cyclic violation as data of the page: the cycles that it uses, each edge with the
 * literals that it holds under, what the literals say, and the steps and cases that settle them. What the
 * argument does not use stays out, so that it costs what is shown. An incomplete argument is its last cycle
 * alone. */
#include "report/page.h"

#define STEPS_MOST 4000u /* a longer argument is for `krait verify`: its last cycle alone is shown */

struct telling {
	const struct kr_report *r;
	const struct kr_argument *arg;
	struct kr_str *out;
	bool *cycles;   /* per cycle: told */
	bool *literals; /* per literal: told */
	bool whole;     /* with steps and cases */
};

static void add_edge(const struct telling *t, const struct kr_cert_edge *e, bool first)
{
	uint32_t guard[KR_GUARD_MOST], n = kr_argument_guard(t->arg, e, guard);
	struct kr_str text;
	struct kr_words w = {t->r->history, NULL, &text};

	kr_str_format(t->out, "%s{\"from\": %u, \"to\": %u, \"kind\": \"%s\"", first ? "" : ",\n", e->from.i,
		e->to.i, kr_edge_name((enum kr_edge_kind)e->kind));
	if (e->predicate)
		kr_str_add(t->out, ", \"predicate\": true");
	if (e->key.i != KR_NONE) {
		kr_str_init(&text, t->out->mem);
		kr_words_name(&w, w.h->keys.at[e->key.i].name);
		kr_str_member_made(t->out, "key", &text);
	}
	kr_str_init(&text, t->out->mem);
	kr_words_edge(&w, e, NULL);
	kr_str_member_made(t->out, "why", &text);
	kr_str_add(t->out, ", \"under\": [");
	for (uint32_t i = 0; i < n; i++) {
		kr_str_format(t->out, "%s%u", i > 0 ? "," : "", guard[i]);
		t->literals[guard[i]] = true;
	}
	kr_str_add(t->out, "]}");
}

static void add_cycles(const struct telling *t)
{
	const struct kr_certificate *cert = t->arg->cert;
	const char *separator = "";

	kr_str_add(t->out, "\"cycles\": {");
	for (uint32_t c = 0; c < cert->cycles.n; c++) {
		if (!t->cycles[c])
			continue;
		kr_str_format(t->out, "%s\"%u\": [", separator, c);
		for (uint32_t i = 0; i < cert->cycles.at[c].count; i++)
			add_edge(t, &cert->edges.at[cert->cycles.at[c].first + i], i == 0);
		kr_str_add(t->out, "]");
		separator = ",\n";
	}
	kr_str_add(t->out, "}");
}

/* Sights whose candidates were ruled out: "3": {"saw": "r read x = 1", "not": [literals]}. */
static void add_sights(const struct telling *t)
{
	const struct kr_argument *arg = t->arg;
	const char *separator = "";

	kr_str_add(t->out, ",\n\"sights\": {");
	for (uint32_t i = 0; t->whole && i < arg->steps.n; i++) {
		const struct kr_argument_sight *o = &arg->sights.at[arg->steps.at[i].from];
		struct kr_str text;
		struct kr_words w = {t->r->history, NULL, &text};

		if (arg->steps.at[i].because != KR_BECAUSE_ONLY)
			continue;
		kr_str_init(&text, t->out->mem);
		kr_say_sight(&w, o);
		kr_str_format(t->out, "%s\"%u\": {", separator, arg->steps.at[i].from);
		kr_str_member_made(t->out, "saw", &text);
		kr_str_add(t->out, ", \"not\": [");
		for (uint32_t c = 0; c < o->count; c++) {
			uint32_t literal = kr_literal(arg->candidates.at[o->first + c], true);
			kr_str_format(t->out, "%s%u", c > 0 ? "," : "", literal);
			t->literals[literal] = true;
		}
		kr_str_add(t->out, "]}");
		separator = ",\n";
	}
	kr_str_add(t->out, "}");
}

static void add_literals(const struct telling *t)
{
	struct kr_str text;
	struct kr_words w = {t->r->history, NULL, &text};
	const char *separator = "";

	kr_str_add(t->out, ",\n\"literals\": {");
	for (uint32_t i = 0; i < 2 * t->arg->choices.n; i++) {
		if (!t->literals[i])
			continue;
		kr_str_format(t->out, "%s\"%u\": {", separator, i);
		kr_str_init(&text, t->out->mem);
		kr_say_literal(&w, t->arg, i, false);
		kr_str_member_made(t->out, "said", &text);
		kr_str_init(&text, t->out->mem);
		kr_say_literal(&w, t->arg, i, true);
		kr_str_member_made(t->out, "supposed", &text);
		kr_str_add(t->out, "}");
		separator = ",\n";
	}
	kr_str_add(t->out, "}");
}

static void add_steps(const struct telling *t, const struct kr_case *c)
{
	static const char *const names[] = {
		[KR_BECAUSE_FACT] = "fact",
		[KR_BECAUSE_ASSUMED] = "assumed",
		[KR_BECAUSE_CYCLE] = "cycle",
		[KR_BECAUSE_ONLY] = "only",
		[KR_BECAUSE_OTHER] = "other",
		[KR_BECAUSE_SEEN] = "seen",
		[KR_BECAUSE_NO_EFFECT] = "no effect",
	};

	kr_str_add(t->out, "\"steps\": [");
	for (uint32_t i = 0; i < c->count; i++) {
		const struct kr_argument_step *step = &t->arg->steps.at[c->first + i];
		kr_str_format(t->out, "%s{\"literal\": %u, \"because\": \"%s\", \"from\": %u}",
			i > 0 ? "," : "", step->literal, names[step->because], step->from);
	}
	kr_str_add(t->out, "]");
}

static void add_cases(const struct telling *t)
{
	const struct kr_argument *arg = t->arg;

	kr_str_add(t->out, ",\n\"cases\": [");
	for (uint32_t i = 0; t->whole && i < arg->cases.n; i++) {
		const struct kr_case *c = &arg->cases.at[i];
		kr_str_add(t->out, i > 0 ? ",\n{" : "{");
		add_steps(t, c);
		if (i > 0)
			kr_str_format(t->out, ", \"parent\": %u", c->parent);
		if (c->assumed != KR_NONE)
			kr_str_format(t->out, ", \"assumed\": %u", c->assumed);
		if (c->child[0] == KR_NONE && c->closed_by != KR_NONE)
			kr_str_format(t->out, ", \"cycle\": %u", c->closed_by);
		kr_str_add(t->out, ", \"children\": [");
		for (int side = 0; side < 2; side++)
			if (c->child[side] != KR_NONE)
				kr_str_format(t->out, "%s%u", side > 0 ? "," : "", c->child[side]);
		kr_str_add(t->out, "]}");
	}
	kr_str_add(t->out, "]");
}

/* What the steps and cases speak of. */
static void mark(const struct telling *t)
{
	const struct kr_argument *arg = t->arg;

	t->cycles[arg->cert->cycles.n - 1] = true;
	for (uint32_t i = 0; t->whole && i < arg->steps.n; i++) {
		const struct kr_argument_step *step = &arg->steps.at[i];
		t->literals[step->literal] = t->literals[step->literal ^ 1] = true;
		if (step->because == KR_BECAUSE_CYCLE)
			t->cycles[step->from] = true;
		if (step->because == KR_BECAUSE_OTHER || step->because == KR_BECAUSE_SEEN)
			t->literals[kr_literal(step->from, false)] = true;
		if (step->because == KR_BECAUSE_NO_EFFECT)
			t->literals[kr_literal(step->from, true)] = true;
	}
	for (uint32_t i = 0; t->whole && i < arg->cases.n; i++) {
		const struct kr_case *c = &arg->cases.at[i];
		if (c->closed_by != KR_NONE)
			t->cycles[c->closed_by] = true;
		if (c->assumed != KR_NONE)
			t->literals[c->assumed] = true;
	}
}

void kr_page_argument(const struct kr_report *r, const struct kr_argument *arg, struct kr_str *out)
{
	uint32_t ncycles = arg->cert->cycles.n, nliterals = 2 * arg->choices.n;
	struct telling t = {.r = r,
		.arg = arg,
		.out = out,
		.whole = arg->complete && arg->steps.n <= STEPS_MOST};

	t.cycles = kr_mem_alloc(out->mem, ncycles, sizeof *t.cycles);
	t.literals = kr_mem_alloc(out->mem, nliterals, sizeof *t.literals);
	if (t.cycles && t.literals) {
		mark(&t);
		kr_str_format(out, ",\n\"argument\": {\"last\": %u, \"total\": %u, ", ncycles - 1, ncycles);
		add_cycles(&t);
		add_sights(&t);
		add_literals(&t);
		add_cases(&t);
		kr_str_add(out, "}");
	} else {
		out->failed = true;
	}
	kr_mem_free(out->mem, t.cycles, ncycles, sizeof *t.cycles);
	kr_mem_free(out->mem, t.literals, nliterals, sizeof *t.literals);
}
