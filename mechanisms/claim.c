/* Findings of declared classes: told where each inequality of the class holds. */
#include "mechanisms/claim.h"

#include "mechanisms/mechanism.h"

#include <string.h>

static bool statement_of(const struct kr_batch *b, kr_txn t, uint32_t op, struct kr_span *out)
{
	const struct kr_party *p = &b->txns.at[t.i];

	for (uint32_t i = p->act_first; i < p->act_first + p->act_count && op != KR_NONE; i++) {
		*out = b->acts.at[i].at;
		if (b->acts.at[i].index == op)
			return true;
	}
	return false;
}

/* Where the instant lies; false: there is none. */
static bool instant_of(const struct kr_batch *b, const struct kr_suspect *c, struct kr_end end,
	struct kr_span *out)
{
	const struct kr_party *p = &b->txns.at[c->txns[end.of].i];

	switch (end.what) {
	case KR_INSTANT_SNAPSHOT: *out = p->snapshot; return p->has_snapshot;
	case KR_INSTANT_BEGIN: *out = p->automatic ? p->commit : p->begin; return true;
	case KR_INSTANT_COMMIT: *out = p->commit; return true;
	case KR_INSTANT_RELEASE: *out = p->release; return true;
	case KR_INSTANT_LOCK:
		return c->key.i != KR_NONE && kr_batch_lock(b, c->txns[end.of], b->objects.at[c->key.i], out);
	case KR_INSTANT_STATEMENT: return statement_of(b, c->txns[end.of], c->ops[end.of], out);
	case KR_INSTANT_SEEN: break;
	}
	return false;
}

enum kr_status kr_batch_claim(struct kr_batch *b, const struct kr_declared *what, struct kr_suspect claim)
{
	int64_t at[KR_PREMISES][2] = {{0}};

	if (!b->txns.at[claim.txns[0].i].committed || !b->txns.at[claim.txns[1].i].committed)
		return KR_OK;
	for (uint32_t i = 0; i < what->premise_count; i++) {
		struct kr_span before, after;
		if (!instant_of(b, &claim, what->premises[i].before, &before) ||
			!instant_of(b, &claim, what->premises[i].after, &after) ||
			!kr_span_before(before, after))
			return KR_OK;
		at[i][0] = before.to;
		at[i][1] = after.from;
	}
	struct kr_finding *f = kr_batch_report(b, what->mechanism, KR_FOUND_DECLARED);
	if (!f)
		return KR_NOMEM;
	f->declared = what;
	memcpy(f->txns, claim.txns, sizeof f->txns);
	memcpy(f->ops, claim.ops, sizeof f->ops);
	memcpy(f->at, at, sizeof f->at);
	f->key = claim.key;
	if (b->txns.at[claim.txns[0].i].has_snapshot)
		f->snapshot = b->txns.at[claim.txns[0].i].snapshot;
	return KR_OK;
}

const struct kr_declared *kr_declared_find(const char *name)
{
	for (size_t i = 0; i < kr_mechanism_registry_count; i++)
		for (const struct kr_declared *d = kr_mechanism_registry[i]->declares; d && d->name; d++)
			if (strcmp(d->name, name) == 0)
				return d;
	return NULL;
}
