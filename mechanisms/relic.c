/* Numbers of seven bits a byte. A time is its distance from another one that it mostly equals, and left out
 * where it does. Integers and short texts are put down as they are: a value in the stream's table takes more
 * than all of this. Others are kept there. */
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

enum kind { KEPT, INTEGER, TEXT };

enum { /* the first number: two bits each of these, then which times are not left out, rare ones last */
	ID_SHIFT = 0,
	VALUE_SHIFT = 2,
	STATUS_SHIFT = 4,
	TIMES_SHIFT = 6,
	NUMBER = 10, /* the most bytes of one */
	NUMBERS = 7 + KR_LEFT_TIMES,
	TEXT_MOST = 24 /* bytes of a text that is put down */
};

struct packing {
	uint8_t bytes[NUMBERS * NUMBER + 2 * TEXT_MOST];
	uint8_t n;
};

_Static_assert(sizeof((struct packing *)0)->bytes <= UINT8_MAX, "a relic's size is one byte");

static size_t bytes_of(const struct kr_relic *r) { return offsetof(struct kr_relic, bytes) + r->size; }

/* small if it is near 0 */
static uint64_t folded(int64_t number) { return (uint64_t)number << 1 ^ (number < 0 ? UINT64_MAX : 0); }
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
	return number | (uint64_t) * (*at)++ << shift;
}

/* ---- values ---- */

static enum kind kind_of(const struct kr_history *h, kr_value value)
{
	const struct kr_value_entry *e = value.i == KR_NONE ? NULL : kr_history_value(h, value);

	if (e && e->type == KR_VALUE_STRING && e->length <= TEXT_MOST)
		return TEXT;
	return e && e->type == KR_VALUE_INT ? INTEGER : KEPT;
}

static void put_value(struct kr_stream *stream, struct packing *p, kr_value value, enum kind kind)
{
	const struct kr_value_entry *e =
		value.i == KR_NONE ? NULL : kr_history_value(kr_stream_history(stream), value);

	switch (kind) {
	case INTEGER: put(p, folded(e->integer)); break;
	case TEXT:
		put(p, e->length);
		memcpy(p->bytes + p->n, e->text, e->length);
		p->n = (uint8_t)(p->n + e->length);
		break;
	case KEPT:
		put(p, value.i + 1); /* KR_NONE: 0 */
		if (e)
			kr_stream_keep(stream, value);
	}
}

static bool take_value(struct kr_history *h, const uint8_t **at, enum kind kind, kr_value *out)
{
	uint64_t number = take(at);

	if (kind == KEPT) {
		*out = (kr_value){(uint32_t)number - 1};
		return true;
	}
	*out = kind == INTEGER ? kr_history_int(h, unfolded(number))
			       : kr_history_text(h, KR_VALUE_STRING, (const char *)*at, number);
	*at += kind == TEXT ? number : 0;
	return out->i != KR_NONE;
}

static void release(struct kr_stream *stream, const uint8_t **at, enum kind kind)
{
	uint64_t number = take(at);

	if (kind == KEPT && number > 0)
		kr_stream_release(stream, (kr_value){(uint32_t)number - 1});
	*at += kind == TEXT ? number : 0;
}

/* ---- lists ---- */

struct several {
	uint32_t n, cap;
	struct kr_relic *at[];
};

static struct several *several_of(struct kr_relics list)
{
	return list.address & 1 ? (struct several *)(list.address & ~(uintptr_t)1) : NULL;
}

static size_t several_bytes(uint32_t cap) { return sizeof(struct several) + cap * sizeof(struct kr_relic *); }

uint32_t kr_relics_count(struct kr_relics list)
{
	const struct several *block = several_of(list);

	return block ? block->n : list.address != 0;
}

struct kr_relic *kr_relics_at(struct kr_relics list, uint32_t i)
{
	const struct several *block = several_of(list);

	return block ? block->at[i] : (struct kr_relic *)list.address;
}

static bool add(struct kr_mem *mem, struct kr_relics *list, struct kr_relic *relic)
{
	struct several *block = several_of(*list);
	uint32_t n = kr_relics_count(*list), cap = block ? block->cap : 0;

	if (n == 0) {
		list->address = (uintptr_t)relic;
		return true;
	}
	if (n >= cap) {
		uint32_t wanted = cap ? 2 * cap : 2;
		struct several *grown = kr_mem_alloc(mem, 1, several_bytes(wanted));
		if (!grown)
			return false;
		for (uint32_t i = 0; i < n; i++)
			grown->at[i] = kr_relics_at(*list, i);
		grown->cap = wanted;
		if (block)
			kr_mem_free(mem, block, 1, several_bytes(cap));
		block = grown;
		list->address = (uintptr_t)block | 1;
	}
	block->at[n] = relic;
	block->n = n + 1;
	return true;
}

static void take_out(struct kr_mem *mem, struct kr_relics *list, const struct kr_relic *relic)
{
	struct several *block = several_of(*list);
	uint32_t i = 0;

	if (!block) {
		list->address = 0;
		return;
	}
	while (block->at[i] != relic)
		i++;
	block->at[i] = block->at[--block->n];
	if (block->n > 1)
		return;
	list->address = (uintptr_t)block->at[0];
	kr_mem_free(mem, block, 1, several_bytes(block->cap));
}

/* ---- relics ---- */

static enum kind kind_at(uint32_t head, unsigned shift) { return (enum kind)(head >> shift & 3); }

static int64_t distance(const struct kr_left *left, int time)
{
	uint64_t origin = time > 0 ? (uint64_t)left->at[origins[time]] : 0;

	return (int64_t)((uint64_t)left->at[time] - origin);
}

bool kr_relic_put(struct kr_stream *stream, struct kr_mem *mem, const struct kr_left *left,
	struct kr_relics *list)
{
	const struct kr_history *h = kr_stream_history(stream);
	enum kind id = kind_of(h, left->id), value = kind_of(h, left->value);
	uint32_t head = (uint32_t)left->status << STATUS_SHIFT | (uint32_t)id << ID_SHIFT |
		(uint32_t)value << VALUE_SHIFT;
	struct packing p = {.n = 0};

	for (int i = 0; i < KR_LEFT_TIMES; i++)
		head |= distance(left, i) ? 1u << (TIMES_SHIFT + i) : 0u;
	put(&p, head);
	put_value(stream, &p, left->id, id);
	put_value(stream, &p, left->value, value);
	put(&p, left->flags);
	put(&p, left->session.i + 1);
	put(&p, left->seq);
	put(&p, folded((int64_t)left->line - left->seq));
	for (int i = 0; i < KR_LEFT_TIMES; i++)
		if (head >> (TIMES_SHIFT + i) & 1)
			put(&p, folded(distance(left, i)));
	struct kr_relic *relic = kr_mem_alloc(mem, 1, offsetof(struct kr_relic, bytes) + p.n);
	if (!relic || !add(mem, list, relic)) {
		kr_mem_free(mem, relic, 1, offsetof(struct kr_relic, bytes) + p.n);
		return false;
	}
	relic->marks = left->marks;
	relic->size = p.n;
	memcpy(relic->bytes, p.bytes, p.n);
	return true;
}

bool kr_relic_get(struct kr_stream *stream, struct kr_relic *relic, struct kr_left *out)
{
	struct kr_history *h = kr_stream_history(stream);
	const uint8_t *at = relic->bytes;
	uint32_t head = (uint32_t)take(&at);

	*out = (struct kr_left){.key = {KR_NONE},
		.marks = relic->marks,
		.status = (head >> STATUS_SHIFT) & 3,
		.relic = relic};
	if (!take_value(h, &at, kind_at(head, ID_SHIFT), &out->id) ||
		!take_value(h, &at, kind_at(head, VALUE_SHIFT), &out->value))
		return false;
	out->flags = (uint16_t)take(&at);
	out->session.i = (uint32_t)take(&at) - 1;
	out->seq = (uint32_t)take(&at);
	out->line = (uint32_t)((int64_t)out->seq + unfolded(take(&at)));
	for (int i = 0; i < KR_LEFT_TIMES; i++) {
		uint64_t origin = i > 0 ? (uint64_t)out->at[origins[i]] : 0;
		out->at[i] = (int64_t)(origin +
			(head >> (TIMES_SHIFT + i) & 1 ? (uint64_t)unfolded(take(&at)) : 0));
	}
	return true;
}

void kr_relic_drop(struct kr_stream *stream, struct kr_mem *mem, struct kr_relic *relic,
	struct kr_relics *list)
{
	const uint8_t *at = relic->bytes;
	uint32_t head = (uint32_t)take(&at);

	take_out(mem, list, relic);
	release(stream, &at, kind_at(head, ID_SHIFT));
	release(stream, &at, kind_at(head, VALUE_SHIFT));
	kr_mem_free(mem, relic, 1, bytes_of(relic));
}
