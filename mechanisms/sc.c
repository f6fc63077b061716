/* Serialization certifier: the dependencies that are certain form no cycle that the level of the profile
 * forbids. The level's own pattern and node model say which kinds count, and on which nodes. */
#include "mechanisms/certain.h"
#include "mechanisms/mechanism.h"

static bool applies(const struct kr_batch *b) { return b->options->certify != NULL; }

static enum kr_status find(struct kr_batch *b)
{
	struct kr_certain c = {.b = b, .level = b->options->certify};
	enum kr_status status = kr_certain_build(&c);
	bool closes = !b->options->closing;

	for (uint32_t i = 0; i < c.arcs.n && !status && b->options->reach; i++)
		if (!kr_vec_push(b->mem, b->options->reach,
			    (struct kr_reach){{c.arcs.at[i].from / 2}, {c.arcs.at[i].to / 2}}))
			status = KR_NOMEM;
	if (!status && b->options->closing)
		status = b->options->closing->ask(b->options->closing->data, &c, &closes);
	if (!status && closes)
		status = kr_certain_tell(&c);
	kr_vec_done(b->mem, &c.arcs);
	kr_vec_done(b->mem, &c.first);
	kr_vec_done(b->mem, &c.gone);
	kr_vec_done(b->mem, &c.last_gone);
	return status;
}

const struct kr_mechanism kr_mechanism_sc = {
	.name = "sc",
	.title = "serialization certifier: no cycle of certain dependencies that the profile's level forbids",
	.source = "Li et al., Leopard, ICDE 2023; Cahill et al., SIGMOD 2008",
	.applies = applies,
	.find = find,
};
