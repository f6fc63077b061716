/* Text form of the dependency IR, after that of its ASG; the grammar is in docs/ir.md. What is read prints
 * the same again: everything that the struct holds is written, clock and conflict apart, edges with their
 * index, in the order of their age. A presence is written only where it differs from the ASG's. Facts are
 * written too, less `clock`, whose clock is not. Linear. The reader ends with kr_ir_verify, so that a text
 * cannot make an IR that passes may not rely on. */
#include "ir/ir.h"
#include "ir/lex.h"

#include <string.h>

static const char *const model_names[] =
	{[KR_NODES_TXN] = "txn", [KR_NODES_BEGIN_COMMIT] = "begin-commit", [KR_NODES_PREFIX] = "prefix"};
static const char *const rule_names[KR_RULES] = {"given", "source", "reader", "later", "writers", "update"};

const char *kr_rule_name(enum kr_rule rule) { return (unsigned)rule < KR_RULES ? rule_names[rule] : "none"; }
static const char *const fact_names[KR_FACTS] = {"so", "rt", "wr", "ww", "rw", "clock", "saturated",
	"pruned"};

const char *kr_fact_name(enum kr_fact fact)
{
	for (size_t i = 0; i < KR_FACTS; i++) {
		if ((unsigned)fact == 1u << i)
			return fact_names[i];
	}
	return "unknown";
}

/* ---- printing ---- */

static void print_facts(const struct kr_ir *ir, struct kr_str *out)
{
	uint32_t facts = ir->facts & ~(uint32_t)KR_FACT_CLOCK;

	if (!facts)
		return;
	kr_str_add(out, "facts");
	for (size_t i = 0; i < KR_FACTS; i++) {
		if (facts & 1u << i)
			kr_str_format(out, " %s", fact_names[i]);
	}
	kr_str_add(out, "\n");
}

static void print_presences(const struct kr_ir *ir, struct kr_str *out)
{
	for (uint32_t t = 0; t < ir->asg->ntxns; t++) {
		if (ir->presence[t] == ir->asg->txns[t].presence && ir->presence_why[t] == 0)
			continue;
		kr_str_format(out, "presence txn %u %s", t, kr_presence_names[ir->presence[t]]);
		if (ir->presence_why[t] > 0)
			kr_str_format(out, " why %u", ir->presence_why[t] - 1);
		kr_str_add(out, "\n");
	}
}

static void print_sources(const struct kr_ir *ir, struct kr_str *out)
{
	for (uint32_t o = 0; o < ir->asg->nobs; o++) {
		if (ir->source[o].i == KR_NONE)
			continue;
		kr_str_format(out, "source obs %u = %u", o, ir->source[o].i);
		if (ir->source_age[o] != 0)
			kr_str_format(out, " age %u", ir->source_age[o]);
		kr_str_add(out, "\n");
	}
}

static void print_edges(const struct kr_ir *ir, struct kr_str *out)
{
	for (uint32_t e = 0; e < ir->edges.n; e++) {
		const struct kr_edge *edge = &ir->edges.at[e];

		kr_str_format(out, "edge %u %s %u -> %u", e, kr_edge_name(edge->kind), edge->from.i,
			edge->to.i);
		if (edge->why != KR_NONE)
			kr_str_format(out, " why %u", edge->why);
		if (edge->rule != KR_RULE_GIVEN)
			kr_str_format(out, " rule %s", rule_names[edge->rule]);
		kr_str_add(out, "\n");
	}
}

void kr_ir_print(const struct kr_ir *ir, struct kr_str *out)
{
	kr_asg_print(ir->asg, out);
	kr_str_format(out, "ir 1 nodes %s order %s\n", model_names[ir->level->model],
		kr_order_name(ir->order));
	print_facts(ir, out);
	if (ir->nnodes > ir->first_time_node)
		kr_str_format(out, "time %u\n", ir->nnodes - ir->first_time_node);
	print_presences(ir, out);
	print_sources(ir, out);
	print_edges(ir, out);
	kr_str_add(out, "end ir\n");
}

/* ---- reading ---- */

struct reader {
	struct kr_lex lex;
	struct kr_ir *ir;
};

static bool accept_fact(struct reader *r)
{
	for (unsigned i = 0; i < KR_FACTS; i++) {
		if (1u << i != KR_FACT_CLOCK && kr_lex_accept(&r->lex, fact_names[i])) {
			r->ir->facts |= 1u << i;
			return true;
		}
	}
	return false;
}

static enum kr_status read_facts(struct reader *r)
{
	if (!accept_fact(r))
		return kr_lex_fail(&r->lex, "a fact (so, rt, wr, ww, rw, saturated)");
	while (accept_fact(r))
		;
	return KR_OK;
}

static enum kr_status read_time(struct reader *r)
{
	uint32_t n;
	kr_node node;

	KR_TRY(kr_lex_u32(&r->lex, "a number of time nodes, no more than transactions", r->ir->asg->ntxns + 1,
		&n));
	while (n-- > 0) {
		KR_TRY(kr_ctx_tick(r->ir->ctx));
		KR_TRY(kr_ir_add_time_node(r->ir, &node));
	}
	return KR_OK;
}

static enum kr_status read_presence(struct reader *r)
{
	struct kr_ir *ir = r->ir;
	uint32_t t, why = KR_NONE;
	unsigned presence = KR_OPEN;

	KR_TRY(kr_lex_field(&r->lex, "txn", "the number of a transaction", ir->asg->ntxns, &t));
	KR_TRY(kr_lex_one_of(&r->lex, kr_presence_names, KR_OPEN + 1, "present, open or absent", &presence));
	ir->presence[t] = (uint8_t)presence;
	if (kr_lex_accept(&r->lex, "why"))
		KR_TRY(kr_lex_u32(&r->lex, "the number of an observation", ir->asg->nobs, &why));
	ir->presence_why[t] = why + 1;
	return KR_OK;
}

static enum kr_status read_source(struct reader *r)
{
	const struct kr_asg *asg = r->ir->asg;
	uint32_t o;

	KR_TRY(kr_lex_field(&r->lex, "obs", "the number of an observation", asg->nobs, &o));
	KR_TRY(kr_lex_field(&r->lex, "=", "the number of a version", asg->nversions, &r->ir->source[o].i));
	if (kr_lex_accept(&r->lex, "age"))
		KR_TRY(kr_lex_u32(&r->lex, "a number of edges", KR_NONE, &r->ir->source_age[o]));
	return KR_OK;
}

static enum kr_status read_kind(struct kr_lex *lex, uint8_t *out)
{
	for (unsigned kind = 0; kind < KR_EDGE_KINDS; kind++) {
		if (kr_lex_accept(lex, kr_edge_name((enum kr_edge_kind)kind))) {
			*out = (uint8_t)kind;
			return KR_OK;
		}
	}
	return kr_lex_fail(lex, "a kind of edge (wr, ww, rw, so, rt, program)");
}

static enum kr_status read_edge(struct reader *r)
{
	uint32_t from, to, why = KR_NONE;
	uint8_t kind = 0;
	unsigned rule = KR_RULE_GIVEN;

	KR_TRY(kr_lex_next(&r->lex, r->ir->edges.n));
	KR_TRY(read_kind(&r->lex, &kind));
	KR_TRY(kr_lex_u32(&r->lex, "the number of a node", r->ir->nnodes, &from));
	KR_TRY(kr_lex_field(&r->lex, "->", "the number of a node", r->ir->nnodes, &to));
	if (kr_lex_accept(&r->lex, "why"))
		KR_TRY(kr_lex_u32(&r->lex, "the number of an observation or key", KR_NONE, &why));
	if (kr_lex_accept(&r->lex, "rule")) {
		KR_TRY(kr_lex_one_of(&r->lex, rule_names, KR_RULES,
			"a rule (given, source, reader, later, writers, update)", &rule));
	}
	return kr_ir_add_edge(r->ir,
		(struct kr_edge){.from = {from},
			.to = {to},
			.why = why,
			.kind = kind,
			.rule = (uint8_t)rule});
}

static enum kr_status read_lines(struct reader *r)
{
	static const struct {
		const char *word;
		enum kr_status (*read)(struct reader *r);
	} lines[] = {
		{"facts", read_facts},
		{"time", read_time},
		{"presence", read_presence},
		{"source", read_source},
		{"edge", read_edge},
	};
	size_t section = 0; /* no line may be of an earlier kind than the one before it: references go back */

	while (kr_lex_line(&r->lex)) {
		KR_TRY(kr_ctx_tick(r->ir->ctx));
		if (kr_lex_accept(&r->lex, "end")) {
			KR_TRY(kr_lex_expect(&r->lex, "ir"));
			return kr_lex_end(&r->lex);
		}
		while (section < KR_COUNT(lines) && !kr_lex_accept(&r->lex, lines[section].word))
			section++;
		if (section == KR_COUNT(lines))
			break;
		KR_TRY(lines[section].read(r));
		KR_TRY(kr_lex_end(&r->lex));
	}
	return kr_lex_fail(&r->lex, "facts, time, presence, source, edge (in this sequence) or end ir");
}

/* "ir 1 nodes MODEL order ORDER" */
static enum kr_status read_head(struct kr_lex *lex, const struct kr_level *level, enum kr_order *order)
{
	const char *const orders[] = {kr_order_name(KR_ORDER_NONE), kr_order_name(KR_ORDER_SESSION),
		kr_order_name(KR_ORDER_REALTIME)};
	unsigned found = 0;

	kr_lex_line(lex);
	KR_TRY(kr_lex_expect(lex, "ir"));
	KR_TRY(kr_lex_expect(lex, "1"));
	KR_TRY(kr_lex_expect(lex, "nodes"));
	KR_TRY(kr_lex_expect(lex, model_names[level->model])); /* that of the level */
	KR_TRY(kr_lex_expect(lex, "order"));
	KR_TRY(kr_lex_one_of(lex, orders, KR_COUNT(orders), "none, session or realtime", &found));
	*order = (enum kr_order)found;
	return kr_lex_end(lex);
}

/* The text tells all edges, also those that kr_ir_init made. */
static void drop_edges(struct kr_ir *ir)
{
	ir->edges.n = 0;
	for (uint32_t v = 0; v < ir->nnodes; v++)
		ir->head.at[v] = KR_NONE;
}

/* What is wrong with a text is not the program's fault. */
static enum kr_status verify(const struct kr_ir *ir, struct kr_err *err)
{
	struct kr_err why;

	kr_err_init(&why);

	enum kr_status status = kr_ir_verify(ir, &why);

	return status == KR_INTERNAL ? kr_err_set(err, KR_BAD, "%s", why.text) : status;
}

/* Is there nothing but blank lines and comments? */
static bool is_over(struct kr_lex lex) { return !kr_lex_line(&lex); }

enum kr_status kr_ir_read(struct kr_ir *ir, struct kr_asg *asg, struct kr_ctx *ctx,
	const struct kr_level *level, enum kr_order order, const char *text, struct kr_err *err)
{
	struct kr_ir read = {0};
	struct reader r = {.lex = {.at = text, .line = 1, .err = err}, .ir = &read};

	KR_TRY(kr_asg_read(asg, ctx, text, &r.lex.at, err));
	for (const char *at = text; at < r.lex.at; at++)
		r.lex.line += *at == '\n';

	bool made = is_over(r.lex);
	enum kr_status status = made ? KR_OK : read_head(&r.lex, level, &order);

	if (!status)
		status = kr_ir_init(&read, ctx, asg, level, order);
	if (!status && !made) {
		drop_edges(&read);
		status = read_lines(&r);
	}
	if (!status && !made)
		status = verify(&read, err);
	if (status) {
		kr_ir_done(&read);
		kr_asg_done(asg);
		return status;
	}
	*ir = read;
	return KR_OK;
}
