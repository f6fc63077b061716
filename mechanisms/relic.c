/* Versions in one block a transaction, linked by key. */
#include "mechanisms/relic.h"

static size_t bytes_of(uint32_t size) { return sizeof(struct kr_relic) + size * sizeof(struct kr_left); }

bool kr_relic_new(struct kr_mem *mem, struct kr_held *t, struct kr_carried_txn told, uint32_t size)
{
	t->relic = kr_mem_alloc(mem, 1, bytes_of(size));
	if (!t->relic)
		return false;
	t->relic->told = told;
	t->relic->n = 0;
	t->relic->size = size;
	return true;
}

void kr_relic_free(struct kr_mem *mem, struct kr_held *t)
{
	if (t->relic)
		kr_mem_free(mem, t->relic, 1, bytes_of(t->relic->size));
	t->relic = NULL;
}

static void count(struct kr_stream *stream, kr_value value, bool keep)
{
	if (value.i != KR_NONE && keep)
		kr_stream_keep(stream, value);
	else if (value.i != KR_NONE)
		kr_stream_release(stream, value);
}

void kr_relic_put(struct kr_stream *stream, struct kr_held *t, struct kr_left version, struct kr_left **list)
{
	struct kr_left *at = &t->relic->at[t->relic->n++];

	*at = version;
	at->of = t;
	at->next = *list;
	*list = at;
	count(stream, version.value, true);
}

/* Where the list of its key names the version. */
static struct kr_left **place_of(struct kr_left **list, const struct kr_left *version)
{
	while (*list != version)
		list = &(*list)->next;
	return list;
}

void kr_relic_drop(struct kr_stream *stream, struct kr_left *version, struct kr_left **(*lists)(void *data, kr_key key), void *data)
{
	struct kr_relic *relic = version->of->relic;
	struct kr_left *last = &relic->at[--relic->n];

	*place_of(lists(data, version->key), version) = version->next;
	count(stream, version->value, false);
	if (last == version)
		return;
	*place_of(lists(data, last->key), last) = version; /* the last one takes its place */
	*version = *last;
}

struct kr_left *kr_relic_at(const struct kr_held *t, kr_key key)
{
	struct kr_left *at = t->relic->at;

	while (at->key.i != key.i)
		at++;
	return at;
}
