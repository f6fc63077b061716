/* The sources that a certificate tells, indexed by transaction, and by operation and key within it. Cost:
 * linear if they come in that order, as krait's own do, else that of sorting those of a transaction. */
#include "verify/world.h"

#include "base/order.h"

static enum kr_status check_told(const struct kr_world *w, uint32_t i)
{
	const struct kr_cert_source *s = &w->v->cert->sources.at[i];
	uint32_t n = w->v->h->txns.n;

	if (s->txn.i >= n || s->key.i >= w->v->h->keys.n || (s->writer.i != KR_NONE && s->writer.i >= n))
		return kr_err_set(w->v->err, KR_BAD, "source %u names no transaction and key of the trace",
			(unsigned)i);
	if (!kr_world_present(w, s->writer))
		return kr_err_set(w->v->err, KR_BAD, "source %u took no effect in this world", (unsigned)i);
	if (s->writer.i != KR_NONE && !kr_facts_version(&w->facts, s->key, s->writer))
		return kr_err_set(w->v->err, KR_BAD, "source %u does not write the key", (unsigned)i);
	return KR_OK;
}

static int by_operation(const struct kr_cert_source *s, uint32_t op, kr_key k)
{
	return kr_then(KR_ORDER(s->op, op), KR_ORDER(s->key.i, k.i));
}

static int compare_told(const void *data, uint32_t a, uint32_t b)
{
	const struct kr_cert_source *s = data;

	return by_operation(&s[a], s[b].op, s[b].key);
}

/* Krait's own come in that order. */
static void sort_told(struct kr_world_told *told, uint32_t *other)
{
	const struct kr_certificate *cert = told->w->v->cert;

	for (uint32_t i = 0; i < cert->sources.n; i++)
		told->first[cert->sources.at[i].txn.i + 2]++;
	kr_index_places(told->first, told->w->v->h->txns.n);
	for (uint32_t i = 0; i < cert->sources.n; i++)
		told->ids[told->first[cert->sources.at[i].txn.i + 1]++] = i;
	for (uint32_t t = 0; t < told->w->v->h->txns.n; t++) {
		uint32_t first = told->first[t], end = told->first[t + 1], i = first + 1;

		while (i < end && compare_told(cert->sources.at, told->ids[i - 1], told->ids[i]) <= 0)
			i++;
		if (i < end)
			kr_sort_ids(told->ids + first, other, end - first, compare_told, cert->sources.at);
	}
}

enum kr_status kr_world_told_read(struct kr_world_told *told)
{
	uint32_t n = told->w->v->cert->sources.n, *other;

	for (uint32_t i = 0; i < n; i++)
		KR_TRY(check_told(told->w, i));
	KR_TRY(kr_arena_new(&told->arena, told->first, (size_t)told->w->v->h->txns.n + 2));
	KR_TRY(kr_arena_new(&told->arena, told->ids, n));
	KR_TRY(kr_mem_new(told->w->mem, other, n));
	sort_told(told, other);
	kr_mem_free(told->w->mem, other, n, sizeof *other);
	return KR_OK;
}

bool kr_world_told_find(const struct kr_world_told *told, const struct kr_sight *s, kr_txn *source)
{
	const struct kr_cert_source *sources = told->w->v->cert->sources.at;
	uint32_t end = told->first[s->txn.i + 1], at;
	bool found = false;

	KR_BISECT(at, told->first[s->txn.i], end, by_operation(&sources[told->ids[at]], s->op, s->key) < 0);
	for (; at < end && by_operation(&sources[told->ids[at]], s->op, s->key) == 0; at++) {
		kr_txn writer = sources[told->ids[at]].writer;
		if (!found ||
			kr_world_source_place(told->w, writer) > kr_world_source_place(told->w, *source))
			*source = writer;
		found = true;
	}
	return found;
}
