/* Back end `smt2`: writes the problem in SMT-LIB 2, logic QF_IDL (integer difference logic): an integer per
 * node, its place in an order; a guarded edge is an implication from its guards to "less than". Sums of what
 * counters showed need QF_LIA (linear integer arithmetic). Satisfiable iff the level holds. Writes only; the
 * text is linear in the encoding (encode.h). */
#include "backend/encode.h"

/* Names stand in comments only, as JSON strings: no name can change the formula. */
static void comment(struct kr_str *out) { kr_str_add(out, " ; "); }

static void declare(const struct kr_encoding *e, struct kr_str *out)
{
	for (uint32_t n = 0; n < e->nnodes; n++) {
		kr_str_format(out, "(declare-fun n%u () Int)", n);
		comment(out);
		kr_encoding_print_node(e, (kr_node){n}, out);
		kr_str_add(out, "\n");
	}
	for (uint32_t v = 1; v <= e->variables.n; v++) {
		kr_str_format(out, "(declare-fun c%u () Bool)", v);
		comment(out);
		kr_encoding_print_variable(e, v, out);
		kr_str_add(out, "\n");
	}
}

static void print_literal(kr_literal literal, struct kr_str *out)
{
	kr_str_format(out, literal > 0 ? "c%ld" : "(not c%ld)", literal > 0 ? (long)literal : -(long)literal);
}

/* Prints an operator over literals: none is `empty`, one stands alone. */
static void print_literals(const char *operator, const char * empty, const kr_literal *at, uint32_t n,
	struct kr_str *out)
{
	if (n == 0) {
		kr_str_add(out, empty);
		return;
	}
	kr_str_format(out, n > 1 ? "(%s" : "", operator);
	for (uint32_t i = 0; i < n; i++) {
		kr_str_add(out, n > 1 ? " " : "");
		print_literal(at[i], out);
	}
	kr_str_add(out, n > 1 ? ")" : "");
}

static void print_clauses(const struct kr_encoding *e, struct kr_str *out)
{
	for (uint32_t i = 0; i < e->clauses.n;) {
		uint32_t n = 0;
		while (e->clauses.at[i + n] != 0)
			n++;
		kr_str_add(out, "(assert ");
		print_literals("or", "false", &e->clauses.at[i], n, out);
		kr_str_add(out, ")\n");
		i += n + 1;
	}
}

static void print_edge(const struct kr_guarded_edge *edge, struct kr_str *out)
{
	uint32_t n = 0;

	while (n < KR_COUNT(edge->guards) && edge->guards[n] != 0)
		n++;
	kr_str_add(out, "(assert ");
	if (n > 0) {
		kr_str_add(out, "(=> ");
		print_literals("and", "true", edge->guards, n, out);
		kr_str_add(out, " ");
	}
	kr_str_format(out, "(< n%u n%u)%s)", edge->from.i, edge->to.i, n > 0 ? ")" : "");
	comment(out);
	kr_str_add(out, edge->kind == KR_PROGRAM ? "in time" : kr_edge_name((enum kr_edge_kind)edge->kind));
	kr_str_add(out, "\n");
}

static void print_number(int64_t number, struct kr_str *out)
{
	if (number < 0)
		kr_str_format(out, "(- %llu)", (unsigned long long)-(uint64_t)number);
	else
		kr_str_format(out, "%llu", (unsigned long long)number);
}

static void print_term(const struct kr_encoded_term *term, struct kr_str *out)
{
	if (term->literal != 0) {
		kr_str_add(out, "(ite ");
		print_literal(term->literal, out);
		kr_str_add(out, " ");
	}
	print_number(term->weight, out);
	kr_str_add(out, term->literal != 0 ? " 0)" : "");
}

static void print_sum(const struct kr_encoding *e, const struct kr_encoded_sum *sum, struct kr_str *out)
{
	kr_str_add(out, "(assert ");
	if (sum->guard != 0) {
		kr_str_add(out, "(=> ");
		print_literal(sum->guard, out);
		kr_str_add(out, " ");
	}
	kr_str_add(out, sum->at_most ? "(<= (+ 0" : "(= (+ 0");
	for (uint32_t i = 0; i < sum->count; i++) {
		kr_str_add(out, " ");
		print_term(&e->terms.at[sum->first + i], out);
	}
	kr_str_add(out, sum->count > 0 ? ") " : " 0) ");
	print_number(sum->total, out);
	kr_str_add(out, sum->guard != 0 ? ")))\n" : "))\n");
}

static enum kr_status print(const struct kr_encoding *e, struct kr_str *out)
{
	kr_str_format(out, "; %s, order %s: satisfiable iff the level holds\n(set-logic %s)\n",
		e->ir->level->id, kr_order_name(e->ir->order), e->sums.n > 0 ? "QF_LIA" : "QF_IDL");
	declare(e, out);
	print_clauses(e, out);
	for (uint32_t i = 0; i < e->edges.n; i++) {
		enum kr_status status = kr_ctx_tick(e->ir->ctx);
		if (status || out->failed)
			return status ? status : KR_NOMEM;
		print_edge(&e->edges.at[i], out);
	}
	for (uint32_t i = 0; i < e->sums.n; i++) {
		enum kr_status status = kr_ctx_tick(e->ir->ctx);
		if (status || out->failed)
			return status ? status : KR_NOMEM;
		print_sum(e, &e->sums.at[i], out);
	}
	kr_str_add(out, "(check-sat)\n");
	return out->failed ? KR_NOMEM : KR_OK;
}

static enum kr_status write(struct kr_ir *ir, struct kr_str *out, struct kr_err *err)
{
	struct kr_encoding encoding;
	enum kr_status status = kr_encode(ir, &encoding, err);

	if (!status)
		status = print(&encoding, out);
	kr_encoding_done(&encoding);
	return status;
}

const struct kr_backend kr_backend_smt2 = {
	.name = "smt2",
	.title = "writes the problem in SMT-LIB 2 (QF_IDL; with sums QF_LIA)",
	.source = "Barrett, Fontaine, Tinelli, The SMT-LIB Standard 2.6",
	.write = write,
};
