/* Open addressing over fingerprints of 62 bits. */
#include "mechanisms/echo.h"

#include "base/hash.h"
#include "frontend/history_count.h"

static uint64_t print_of(kr_key key, const struct kr_value_entry *value, enum kr_echo_kind kind)
{
	return (kr_hash_pair(kr_history_value_hash(value), key.i) & ~UINT64_C(3)) | (uint64_t)kind;
}

static uint32_t slot_of(const struct kr_echo *echo, uint64_t print)
{
	uint32_t i = (uint32_t)(kr_hash_u64(print) & (echo->size - 1));

	while (echo->slots[i] && echo->slots[i] != print)
		i = (i + 1) & (echo->size - 1);
	return i;
}

static bool grow(struct kr_mem *mem, struct kr_echo *echo)
{
	struct kr_echo more = {.size = echo->size ? 2 * echo->size : 1024};

	more.slots = kr_mem_alloc(mem, more.size, sizeof *more.slots);
	if (!more.slots)
		return false;
	for (uint32_t i = 0; i < echo->size; i++)
		if (echo->slots[i])
			more.slots[slot_of(&more, echo->slots[i])] = echo->slots[i];
	more.n = echo->n;
	kr_echo_done(mem, echo);
	*echo = more;
	return true;
}

void kr_echo_done(struct kr_mem *mem, struct kr_echo *echo)
{
	kr_mem_free(mem, echo->slots, echo->size, sizeof *echo->slots);
	*echo = (struct kr_echo){0};
}

bool kr_echo_add(struct kr_mem *mem, struct kr_echo *echo, const struct kr_history *h, kr_key key,
	kr_value value, enum kr_echo_kind kind)
{
	if (echo->full || value.i == KR_NONE)
		return true;
	if (echo->n >= KR_ECHO_MOST) {
		echo->full = true;
		return true;
	}
	if (2 * echo->n >= echo->size && !grow(mem, echo))
		return false;
	uint64_t print = print_of(key, kr_history_value(h, value), kind);
	uint64_t *slot = &echo->slots[slot_of(echo, print)];
	echo->n += *slot == 0;
	*slot = print;
	return true;
}

enum kr_echo_kind kr_echo_find(const struct kr_echo *echo, kr_key key, const struct kr_value_entry *value)
{
	static const enum kr_echo_kind kinds[] = {KR_ECHO_VERSION, KR_ECHO_ABORTED, KR_ECHO_INTERMEDIATE};

	for (size_t i = 0; i < KR_COUNT(kinds) && echo->size > 0; i++)
		if (echo->slots[slot_of(echo, print_of(key, value, kinds[i]))])
			return kinds[i];
	return echo->full ? KR_ECHO_VERSION : KR_ECHO_NONE;
}
