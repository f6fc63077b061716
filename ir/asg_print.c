/* Text form of the ASG, the writing half; the grammar is in docs/asg.md. What kr_asg_read makes of the text
 * prints the same again: everything that the structs hold is written, ids are dense and in order, names are
 * quoted as JSON strings, values are the last thing on their line. Linear. */
#include "ir/asg.h"

const char *const kr_presence_names[] =
	{[KR_ABSENT_TXN] = "absent", [KR_PRESENT] = "present", [KR_OPEN] = "open"};

/* `name` becomes a JSON string in `out`; it is scratch space, emptied. */
static void print_quoted(struct kr_str *name, struct kr_str *out)
{
	kr_str_add(out, " ");
	kr_str_json(out, kr_str_text(name), name->n);
	if (name->failed)
		out->failed = true;
	name->n = 0;
}

/* nsessions of an ASG that says nothing of it: what the transactions need. */
static uint32_t sessions_used(const struct kr_asg *asg)
{
	uint32_t n = 0;

	for (uint32_t t = 0; t < asg->ntxns; t++)
		if (asg->txns[t].session != KR_NONE && asg->txns[t].session >= n)
			n = asg->txns[t].session + 1;
	return n;
}

static void print_head(const struct kr_asg *asg, struct kr_str *out)
{
	kr_str_add(out, "asg 1");
	if (asg->nsessions != sessions_used(asg))
		kr_str_format(out, " sessions %u", asg->nsessions);
	if (asg->clock_skew != 0)
		kr_str_format(out, " skew %lld", (long long)asg->clock_skew);
	kr_str_add(out, "\n");
}

static void print_txns(const struct kr_asg *asg, struct kr_str *name, struct kr_str *out)
{
	for (uint32_t t = 0; t < asg->ntxns; t++) {
		const struct kr_asg_txn *txn = &asg->txns[t];

		kr_str_format(out, "txn %u", t);
		if (asg->names.txn) {
			asg->names.txn(asg->names.data, (kr_txn){t}, name);
			print_quoted(name, out);
		}
		kr_str_format(out, " %s%s", kr_presence_names[txn->presence],
			txn->outcome_unknown ? " unknown" : "");
		if (txn->session != KR_NONE)
			kr_str_format(out, " session %u", txn->session);
		if (txn->has_begin)
			kr_str_format(out, " begin %lld", (long long)kr_asg_begin(asg, (kr_txn){t}));
		if (txn->has_end)
			kr_str_format(out, " end %lld", (long long)kr_asg_end(asg, (kr_txn){t}));
		kr_str_add(out, "\n");
	}
}

static void print_parts(const struct kr_asg *asg, struct kr_str *out)
{
	for (uint32_t i = 0; i < asg->nparts; i++) {
		uint32_t k = asg->nkeys - asg->nparts + i;

		kr_str_format(out, "part %u of %u%s", k, asg->parts[i].of.i,
			asg->keys[k].open_initial ? " open" : "");
		if (asg->parts[i].label != KR_NONE) {
			kr_str_format(out, " label %u", asg->parts[i].label);
			if (asg->names.part) {
				kr_str_add(out, " ");
				asg->names.part(asg->names.data, asg->parts[i].label, out);
			}
		}
		kr_str_add(out, "\n");
	}
}

static void print_keys(const struct kr_asg *asg, struct kr_str *name, struct kr_str *out)
{
	for (uint32_t k = 0; k < asg->nkeys - asg->nparts; k++) {
		kr_str_format(out, "key %u", k);
		if (asg->names.key) {
			asg->names.key(asg->names.data, (kr_key){k}, name);
			print_quoted(name, out);
		}
		kr_str_add(out, asg->keys[k].open_initial ? " open\n" : "\n");
	}
}

static void print_versions(const struct kr_asg *asg, struct kr_str *out)
{
	for (uint32_t v = 0; v < asg->nversions; v++) {
		const struct kr_asg_version *version = &asg->versions[v];

		kr_str_format(out, "version %u key %u", v, version->key.i);
		if (version->writer.i == KR_NONE)
			kr_str_add(out, " initial");
		else
			kr_str_format(out, " by %u", version->writer.i);
		if (asg->names.value) {
			size_t before = out->n;

			kr_str_add(out, " value ");
			size_t start = out->n;
			asg->names.value(asg->names.data, (kr_version){v}, out);
			if (out->n == start && !out->failed)
				out->n = before; /* its value is not known */
		}
		kr_str_add(out, "\n");
	}
}

static void print_sets(const struct kr_asg *asg, struct kr_str *out)
{
	for (uint32_t s = 0; s < asg->nsets; s++) {
		const struct kr_asg_set *set = &asg->sets[s];

		kr_str_format(out, "set %u %s{", s, set->complement ? "not " : "");
		for (uint32_t i = 0; i < set->count; i++)
			kr_str_format(out, "%s%u", i ? " " : "", asg->members[set->first + i].i);
		kr_str_add(out, "}\n");
	}
}

static void print_orders(const struct kr_asg *asg, struct kr_str *out)
{
	for (uint32_t i = 0; i < asg->norders; i++) {
		kr_str_format(out, "order %u < %u", asg->orders[i].before.i, asg->orders[i].after.i);
		if (asg->orders[i].guard.i != KR_NONE)
			kr_str_format(out, " if %u", asg->orders[i].guard.i);
		kr_str_add(out, "\n");
	}
}

static void print_sums(const struct kr_asg *asg, struct kr_str *out)
{
	for (uint32_t i = 0; i < asg->nsums; i++) {
		const struct kr_asg_sum *sum = &asg->sums[i];

		kr_str_format(out, "sum txn %u op %u key %u total %lld {", sum->txn.i, sum->op, sum->key.i,
			(long long)sum->total);
		for (uint32_t j = 0; j < sum->count; j++) {
			const struct kr_asg_term *term = &asg->terms[sum->first + j];

			kr_str_format(out, "%sobs %u = %u weight %lld", j ? " " : "", term->obs.i,
				term->seen.i, (long long)term->weight);
		}
		kr_str_add(out, "}\n");
	}
}

void kr_asg_print(const struct kr_asg *asg, struct kr_str *out)
{
	struct kr_str name;

	kr_str_init(&name, out->mem);
	print_head(asg, out);
	print_txns(asg, &name, out);
	print_keys(asg, &name, out);
	print_parts(asg, out);
	print_versions(asg, out);
	print_sets(asg, out);
	for (uint32_t o = 0; o < asg->nobs; o++) {
		const struct kr_observation *obs = &asg->obs[o];

		kr_str_format(out, "observe txn %u op %u key %u set %u%s%s\n", obs->txn.i, obs->op,
			obs->key.i, obs->set, obs->predicate ? " predicate" : "", obs->loose ? " loose" : "");
	}
	print_orders(asg, out);
	print_sums(asg, out);
	kr_str_add(out, "end asg\n");
	kr_str_done(&name);
}
