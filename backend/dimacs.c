/* Back end `dimacs`: writes the problem as a propositional formula in DIMACS CNF. Satisfiable iff the level
 * holds.
 *
 * Each node has a number in binary, as many bits as the number of nodes needs: a graph is acyclic iff its
 * nodes can be numbered such that every edge goes up. "x less than y" is decided from the highest bit in
 * which they differ: for each pair of nodes joined by an edge one auxiliary variable per bit says that x's
 * bits up to that one are less than y's; only that direction is needed. So the formula is linear in edges
 * times bits. Writes only. */
#include "backend/encode.h"
#include "base/hash.h"
#include "base/table.h"

struct less {
	kr_node x, y;
	uint32_t literal;
};

struct work {
	const struct kr_encoding *e;
	struct kr_mem *mem;
	struct kr_str body;
	uint32_t bits, first_bit; /* of node n, bit i has the variable first_bit + n * bits + i */
	uint64_t variables, clauses;
	KR_VEC(struct less) made;
	struct kr_table table; /* (x, y) -> place in made */
};

static void end_clause(struct work *w)
{
	kr_str_add(&w->body, "0\n");
	w->clauses++;
}

static void put(struct work *w, int64_t literal) { kr_str_format(&w->body, "%lld ", (long long)literal); }

static int64_t bit(const struct work *w, kr_node n, uint32_t i)
{
	return (int64_t)w->first_bit + (int64_t)n.i * w->bits + i;
}

static struct less *find(struct work *w, kr_node x, kr_node y)
{
	uint32_t id;

	KR_TABLE_FIND(id, &w->table, kr_hash_pair(x.i, y.i),
		w->made.at[id].x.i == x.i && w->made.at[id].y.i == y.i);
	return id == KR_NONE ? NULL : &w->made.at[id];
}

/* Makes the variables and clauses of "x less than y": the i-th says so of the bits up to i. */
static void compare(struct work *w, kr_node x, kr_node y, int64_t first)
{
	for (uint32_t i = 0; i < w->bits; i++) {
		int64_t less = first + i, lower = less - 1, a = bit(w, x, i), b = bit(w, y, i);
		put(w, -less); /* not 1 in x and 0 in y */
		put(w, -a);
		put(w, b);
		end_clause(w);
		put(w, -less); /* both 0: the lower bits decide */
		put(w, a);
		put(w, b);
		if (i > 0)
			put(w, lower);
		end_clause(w);
		put(w, -less); /* both 1 */
		put(w, -a);
		put(w, -b);
		if (i > 0)
			put(w, lower);
		end_clause(w);
	}
}

static enum kr_status less_than(struct work *w, kr_node x, kr_node y, int64_t *literal)
{
	struct less *known = find(w, x, y);

	if (known) {
		*literal = known->literal;
		return KR_OK;
	}
	if (!kr_table_reserve(w->mem, &w->table) || w->variables + w->bits >= INT32_MAX)
		return KR_NOMEM;
	compare(w, x, y, (int64_t)w->variables + 1);
	w->variables += w->bits;
	*literal = (int64_t)w->variables;
	KR_TRY(kr_vec_add(w->mem, &w->made, (struct less){x, y, (uint32_t)w->variables}));
	kr_table_insert(&w->table, kr_hash_pair(x.i, y.i), w->made.n - 1);
	return KR_OK;
}

static enum kr_status put_edge(struct work *w, const struct kr_guarded_edge *edge)
{
	int64_t less;
	KR_TRY(less_than(w, edge->from, edge->to, &less));
	for (uint32_t i = 0; i < KR_COUNT(edge->guards) && edge->guards[i] != 0; i++)
		put(w, -(int64_t)edge->guards[i]);
	put(w, less);
	end_clause(w);
	return w->body.failed ? KR_NOMEM : kr_ctx_tick(w->e->ir->ctx);
}

static enum kr_status put_all(struct work *w)
{
	const struct kr_encoding *e = w->e;

	w->first_bit = e->variables.n + 1;
	for (w->bits = 1; w->bits < 32 && UINT64_C(1) << w->bits < e->nnodes;)
		w->bits++;
	w->variables = e->variables.n + (uint64_t)w->bits * e->nnodes;
	if (w->variables >= INT32_MAX)
		return KR_NOMEM;
	for (uint32_t i = 0; i < e->clauses.n; i++) {
		if (e->clauses.at[i] != 0)
			put(w, e->clauses.at[i]);
		else
			end_clause(w);
	}
	for (uint32_t i = 0; i < e->edges.n; i++)
		KR_TRY(put_edge(w, &e->edges.at[i]));
	return KR_OK;
}

static void put_head(const struct work *w, struct kr_str *out)
{
	const struct kr_encoding *e = w->e;

	kr_str_format(out, "c %s, order %s: satisfiable iff the level holds\n", e->ir->level->id,
		kr_order_name(e->ir->order));
	for (uint32_t v = 1; v <= e->variables.n; v++) {
		kr_str_format(out, "c %u: ", v);
		kr_encoding_print_variable(e, v, out);
		kr_str_add(out, "\n");
	}
	for (uint32_t n = 0; n < e->nnodes; n++) {
		kr_str_format(out, "c %lld to %lld, lowest bit first: number of ",
			(long long)bit(w, (kr_node){n}, 0), (long long)bit(w, (kr_node){n}, w->bits - 1));
		kr_encoding_print_node(e, (kr_node){n}, out);
		kr_str_add(out, "\n");
	}
	kr_str_format(out, "p cnf %llu %llu\n", (unsigned long long)w->variables,
		(unsigned long long)w->clauses);
}

static enum kr_status print(const struct kr_encoding *e, struct kr_str *out)
{
	struct work w = {.e = e, .mem = &e->ir->ctx->mem};

	kr_str_init(&w.body, w.mem);
	enum kr_status status = put_all(&w);
	if (!status) {
		put_head(&w, out);
		kr_str_add_bytes(out, kr_str_text(&w.body), w.body.n);
		if (out->failed || w.body.failed)
			status = KR_NOMEM;
	}
	kr_str_done(&w.body);
	kr_vec_done(w.mem, &w.made);
	kr_table_done(w.mem, &w.table);
	return status;
}

static enum kr_status write(struct kr_ir *ir, struct kr_str *out, struct kr_err *err)
{
	struct kr_encoding encoding;
	enum kr_status status = kr_encode(ir, &encoding, err);

	if (!status && encoding.sums.n > 0)
		status = kr_err_set(err, KR_UNSUPPORTED,
			"increments that do not tell their results: what counters showed is a sum, for which "
			"a propositional formula is too large");
	if (!status)
		status = print(&encoding, out);
	kr_encoding_done(&encoding);
	return status;
}

const struct kr_backend kr_backend_dimacs = {
	.name = "dimacs",
	.title = "writes the problem as a propositional formula (DIMACS CNF)",
	.source = "DIMACS Challenge, Satisfiability: Suggested Format, 1993",
	.write = write,
};
