/* Numbers of seven bits a byte. A time is its distance from another one that it mostly equals, and left out where it does.
 * Integers, as which most ids and values come, are put down as they are: a value in the stream's table takes more than all
 * of this. Others are kept there. */
#include "mechanisms/relic.h"

#include <stddef.h>
#include <string.h>

/* What a time is measured from; the first from 0. */
static const uint8_t origins[KR_LEFT_TIMES] = {
	[KR_LEFT_ENDED] = KR_LEFT_END,
	[KR_LEFT_COMMIT] = KR_LEFT_END,
	[KR_LEFT_COMMITTED] = KR_LEFT_ENDED,
	[KR_LEFT_RELEASE] = KR_LEFT_COMMIT,
	[KR_LEFT_RELEASED] = KR_LEFT_COMMITTED,
	[KR_LEFT_DUE] = KR_LEFT_ENDED,
	[KR_LEFT_SENT] = KR_LEFT_END,
	[KR_LEFT_ANSWERED] = KR_LEFT_SENT,
	[KR_LEFT_LOCK] = KR_LEFT_SENT,
	[KR_LEFT_LOCKED] = KR_LEFT_ANSWERED,
};

enum { /* bits of the first number, above those of the times that are not left out */
	ID_PLAIN = 1 << KR_LEFT_TIMES, /* an integer, put down as it is */
	VALUE_PLAIN = ID_PLAIN << 1,
	STATUS_SHIFT = KR_LEFT_TIMES + 2,
	NUMBER = 10,                   /* the most bytes of one */
	NUMBERS = 7 + KR_LEFT_TIMES
};

struct packing {
	uint8_t bytes[NUMBERS * NUMBER];
	uint8_t n;
};

_Static_assert(NUMBERS * NUMBER <= UINT8_MAX, "a relic's size is one byte");

static size_t bytes_of(const struct kr_relic *r) { return offsetof(struct kr_relic, bytes) + r->size; }

static uint64_t folded(int64_t number) { return (uint64_t)number << 1 ^ (number < 0 ? UINT64_MAX : 0); } /* small if it is near 0 */
static int64_t unfolded(uint64_t number) { return (int64_t)(number >> 1 ^ (number & 1 ? UINT64_MAX : 0)); }

static void put(struct packing *p, uint64_t number)
{
	for (; number > 0x7f; number >>= 7)
		p->bytes[p->n++] = (uint8_t)(number | 0x80);
	p->bytes[p->n++] = (uint8_t)number;
}

static uint64_t take(const uint8_t **at)
{
	uint64_t number = 0;
	unsigned shift = 0;

	for (; **at & 0x80; shift += 7)
		number |= (uint64_t)(*(*at)++ & 0x7f) << shift;
	return number | (uint64_t)*(*at)++ << shift;
}

/* ---- values ---- */

static bool is_plain(const struct kr_history *h, kr_value value) { return value.i != KR_NONE && kr_history_value(h, value)->type == KR_VALUE_INT; }

static void put_value(struct kr_stream *stream, struct packing *p, kr_value value, bool plain)
{
	put(p, plain ? folded(kr_history_value(kr_stream_history(stream), value)->integer) : value.i + 1); /* KR_NONE: 0 */
	if (!plain && value.i != KR_NONE)
		kr_stream_keep(stream, value);
}

static bool take_value(struct kr_history *h, const uint8_t **at, bool plain, kr_value *out)
{
	uint64_t number = take(at);

	*out = plain ? kr_history_int(h, unfolded(number)) : (kr_value){(uint32_t)number - 1};
	return !plain || out->i != KR_NONE;
}

static void release(struct kr_stream *stream, const uint8_t **at, bool plain)
{
	uint64_t number = take(at);

	if (!plain && number > 0)
		kr_stream_release(stream, (kr_value){(uint32_t)number - 1});
}

/* ---- relics ---- */

static int64_t distance(const struct kr_left *left, int time)
{
	uint64_t origin = time > 0 ? (uint64_t)left->at[origins[time]] : 0;

	return (int64_t)((uint64_t)left->at[time] - origin);
}

bool kr_relic_put(struct kr_stream *stream, struct kr_mem *mem, const struct kr_left *left, struct kr_relic **list)
{
	const struct kr_history *h = kr_stream_history(stream);
	bool id_plain = is_plain(h, left->id), value_plain = is_plain(h, left->value);
	uint32_t head = (uint32_t)left->status << STATUS_SHIFT | (id_plain ? ID_PLAIN : 0u) | (value_plain ? VALUE_PLAIN : 0u);
	struct packing p = {.n = 0};

	for (int i = 0; i < KR_LEFT_TIMES; i++)
		head |= distance(left, i) ? 1u << i : 0u;
	put(&p, head);
	put_value(stream, &p, left->id, id_plain);
	put_value(stream, &p, left->value, value_plain);
	put(&p, left->flags);
	put(&p, left->session.i + 1);
	put(&p, left->seq);
	put(&p, left->line);
	for (int i = 0; i < KR_LEFT_TIMES; i++)
		if (head >> i & 1)
			put(&p, folded(distance(left, i)));
	struct kr_relic *relic = kr_mem_alloc(mem, 1, offsetof(struct kr_relic, bytes) + p.n);
	if (!relic)
		return false;
	relic->marks = left->marks;
	relic->size = p.n;
	memcpy(relic->bytes, p.bytes, p.n);
	relic->next = *list;
	*list = relic;
	return true;
}

bool kr_relic_get(struct kr_stream *stream, struct kr_relic *relic, struct kr_left *out)
{
	struct kr_history *h = kr_stream_history(stream);
	const uint8_t *at = relic->bytes;
	uint32_t head = (uint32_t)take(&at);

	*out = (struct kr_left){.key = {KR_NONE}, .marks = relic->marks, .status = (uint8_t)(head >> STATUS_SHIFT), .relic = relic};
	if (!take_value(h, &at, head & ID_PLAIN, &out->id) || !take_value(h, &at, head & VALUE_PLAIN, &out->value))
		return false;
	out->flags = (uint16_t)take(&at);
	out->session.i = (uint32_t)take(&at) - 1;
	out->seq = (uint32_t)take(&at);
	out->line = (uint32_t)take(&at);
	for (int i = 0; i < KR_LEFT_TIMES; i++) {
		uint64_t origin = i > 0 ? (uint64_t)out->at[origins[i]] : 0;
		out->at[i] = (int64_t)(origin + (head >> i & 1 ? (uint64_t)unfolded(take(&at)) : 0));
	}
	return true;
}

void kr_relic_drop(struct kr_stream *stream, struct kr_mem *mem, struct kr_relic *relic, struct kr_relic **list)
{
	const uint8_t *at = relic->bytes;
	uint64_t head = take(&at);

	while (*list != relic)
		list = &(*list)->next;
	*list = relic->next;
	release(stream, &at, head & ID_PLAIN);
	release(stream, &at, head & VALUE_PLAIN);
	kr_mem_free(mem, relic, 1, bytes_of(relic));
}
