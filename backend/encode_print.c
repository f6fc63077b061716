/* What the variables and nodes of an encoding mean, in words, each one line: names come as JSON strings,
 * which have no line ends. */
#include "backend/encode.h"

static void print_name(struct kr_str *out, const struct kr_encoding *e,
	void (*print)(const struct kr_encoding *e, uint32_t i, struct kr_str *out), uint32_t i)
{
	struct kr_str name;

	kr_str_init(&name, out->mem);
	print(e, i, &name);
	kr_str_json(out, kr_str_text(&name), name.n);
	out->failed = out->failed || name.failed;
	kr_str_done(&name);
}

static void raw_txn(const struct kr_encoding *e, uint32_t t, struct kr_str *out)
{
	const struct kr_asg_names *names = &e->ir->asg->names;

	if (names->txn)
		names->txn(names->data, (kr_txn){t}, out);
	else
		kr_str_format(out, "%u", t);
}

static void raw_key(const struct kr_encoding *e, uint32_t k, struct kr_str *out)
{
	const struct kr_asg_names *names = &e->ir->asg->names;

	if (names->key)
		names->key(names->data, (kr_key){k}, out);
	else
		kr_str_format(out, "%u", k);
}

static void print_version(const struct kr_encoding *e, kr_version v, struct kr_str *out)
{
	kr_txn writer = e->ir->asg->versions[v.i].writer;

	if (writer.i == KR_NONE) {
		kr_str_add(out, "the initial version");
		return;
	}
	kr_str_add(out, "the version by ");
	print_name(out, e, raw_txn, writer.i);
}

static void print_observation(const struct kr_encoding *e, kr_obs o, const char *middle, struct kr_str *out)
{
	const struct kr_observation *obs = &e->ir->asg->obs[o.i];

	kr_str_format(out, "operation %u of ", obs->op);
	print_name(out, e, raw_txn, obs->txn.i);
	kr_str_add(out, middle);
	print_name(out, e, raw_key, obs->key.i);
}

void kr_encoding_print_variable(const struct kr_encoding *e, uint32_t number, struct kr_str *out)
{
	const struct kr_variable *v = &e->variables.at[number - 1];

	switch (v->kind) {
	case KR_VARIABLE_SOURCE:
		print_observation(e, v->obs, " saw of ", out);
		kr_str_add(out, " ");
		print_version(e, v->a, out);
		break;
	case KR_VARIABLE_ORDER:
		kr_str_add(out, "of ");
		print_name(out, e, raw_key, e->ir->asg->versions[v->a.i].key.i);
		kr_str_add(out, ", ");
		print_version(e, v->a, out);
		kr_str_add(out, " came before ");
		print_version(e, v->b, out);
		break;
	case KR_VARIABLE_PRESENT:
		print_name(out, e, raw_txn, v->txn.i);
		kr_str_add(out, " took effect");
		break;
	case KR_VARIABLE_START: print_observation(e, v->obs, " saw what was initially in ", out); break;
	case KR_VARIABLE_EARLIER:
		print_observation(e, v->obs, ", or one before it, saw what was initially in ", out);
		break;
	}
}

void kr_encoding_print_node(const struct kr_encoding *e, kr_node node, struct kr_str *out)
{
	if (node.i >= e->ir->nnodes) {
		const struct kr_encoded_node *x = &e->nodes.at[node.i - e->ir->nnodes];
		if (x->obs.i == KR_NONE) {
			kr_str_add(out, "of ");
			print_name(out, e, raw_key, e->ir->asg->versions[x->version.i].key.i);
			kr_str_add(out, ", ");
			print_version(e, x->version, out);
			kr_str_add(out, ", existing or not");
		} else {
			print_observation(e, x->obs, " and what it saw of ", out);
		}
		return;
	}

	kr_txn t = kr_ir_txn(e->ir, node);

	if (t.i == KR_NONE) {
		kr_str_format(out, "a moment, number %u", node.i - e->ir->first_time_node);
		return;
	}
	if (e->ir->level->model != KR_NODES_TXN)
		kr_str_add(out, node.i % 2 == 0 ? "begin of " : "commit of ");
	print_name(out, e, raw_txn, t.i);
}
