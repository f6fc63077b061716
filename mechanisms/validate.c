/* Validation: nobody may overwrite what a transaction that writes has read, between its snapshot and its
 * commit. */
#include "mechanisms/mechanism.h"

static bool asked(const struct kr_profile *profile) { return profile->validate; }

static const struct kr_declared classes[] = {
	{
		.name = "stale read validated",
		.mechanism = KR_MECH_SC,
		.says = "{0} committed although {1} had overwritten what it read of {key}",
		.asked = asked,
		.cites = KR_CITES_READ | KR_CITES_CHANGE | KR_CITES_WRITER,
		.premise_count = 2,
		.premises = {{{KR_INSTANT_SNAPSHOT, 0}, {KR_INSTANT_COMMIT, 1}},
			{{KR_INSTANT_COMMIT, 1}, {KR_INSTANT_COMMIT, 0}}},
	},
	{.name = NULL},
};

static bool applies(const struct kr_batch *b) { return asked(b->profile); }

static bool writes(const struct kr_batch *b, kr_txn t)
{
	const struct kr_party *p = &b->txns.at[t.i];

	for (uint32_t i = p->writer_first; i < p->writer_first + p->writer_count; i++)
		if (b->writers.at[i].real)
			return true;
	return false;
}

static bool overwrites(const struct kr_batch *b, const struct kr_look *look, const struct kr_written *u)
{
	bool changes = !look->predicate || (u->value.i != KR_NONE && !kr_look_fits(b, look, u->value));

	return u->by.txn.i != KR_NONE && u->by.txn.i != look->txn.i && !u->shadow && changes;
}

static enum kr_status find(struct kr_batch *b)
{
	for (uint32_t i = 0; i < b->looks.n; i++) {
		const struct kr_look look = b->looks.at[i];
		if (look.own || look.insert || !writes(b, look.txn))
			continue;
		for (uint32_t j = b->version_first.at[look.key.i]; j < b->version_first.at[look.key.i + 1];
			j++) {
			const struct kr_written *u = &b->versions.at[j];
			if (overwrites(b, &look, u))
				KR_TRY(kr_batch_claim(b, &classes[0],
					(struct kr_suspect){{look.txn, u->by.txn}, {look.op, u->op},
						look.key}));
		}
	}
	return kr_ctx_check(b->ctx);
}

const struct kr_mechanism kr_mechanism_validate = {
	.name = "validate",
	.title = "validation: what a transaction read is not overwritten before it commits",
	.source = "Kung and Robinson, TODS 1981",
	.declares = classes,
	.applies = applies,
	.find = find,
};
