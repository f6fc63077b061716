/* The store that generated histories come from: versions of keys, and what a client sees of them.
 *
 * A version of a list or set is a run of its key's elements: one that adds to the version before it goes on where that ends, which is always the end of
 * all, so that versions share their elements. What a transaction adds (increments, appended and added elements) is applied when it commits to the newest
 * version; once it was shown a key on top of its additions it stays with the version below, and a counter with the number shown. A key is seen in
 * O(log versions), a list or set in time of its text; committing takes time of what was written. */
#include "frontend/generate_sim.h"

#include "base/hash.h"
#include "frontend/generate_plant.h"

#define FIELDS_EVERY 4 /* of registers, one in so many holds objects where conditions are drawn */

/* ---- keys ---- */

/* The number after x among 0 .. last in the order of decimal texts. */
static uint32_t next_by_text(uint32_t x, uint32_t last)
{
	if (x != 0 && (uint64_t)x * 10 <= last)
		return x * 10;
	while (x % 10 == 9 || x == last)
		x /= 10;
	return x + 1;
}

static char letter_of(uint8_t kind)
{
	static const char letters[] = {[KR_KIND_REGISTER] = 'k', [KR_KIND_COUNTER] = 'c', [KR_KIND_LIST] = 'l', [KR_KIND_SET] = 's'};

	return letters[kind];
}

static void order_names(struct kr_sim *s)
{
	static const uint8_t by_letter[] = {KR_KIND_COUNTER, KR_KIND_REGISTER, KR_KIND_LIST, KR_KIND_SET};
	uint32_t n = s->options->keys, place = 0;

	for (size_t i = 0; i < KR_COUNT(by_letter); i++) {
		for (uint32_t done = 0, k = 0; done < n; k = ++done < n ? next_by_text(k, n - 1) : 0) {
			if (s->keys[k].kind != by_letter[i])
				continue;
			s->keys[k].place = place;
			s->by_name[place++] = (kr_key){k};
		}
	}
}

static enum kr_status start_key(struct kr_sim *s, uint32_t k)
{
	struct kr_sim_key *key = &s->keys[k];
	struct kr_mem *mem = &s->ctx->mem;
	bool absent = s->options->initial == KR_INITIAL_ABSENT, grows;
	struct kr_sim_version first = {0, {.present = !absent, .value = KR_ABSENT}};
	kr_value zero = kr_history_int(s->h, 0), initial = KR_ABSENT;

	key->kind = s->kinds[k % s->kind_count];
	key->fields =
		key->kind == KR_KIND_REGISTER && (s->options->scans > 0 || s->options->updates > 0) && k / s->kind_count % FIELDS_EVERY == FIELDS_EVERY - 1;
	grows = key->kind == KR_KIND_LIST || key->kind == KR_KIND_SET;
	if (kr_generated_key(s->h, letter_of(key->kind), k).i == KR_NONE || zero.i == KR_NONE)
		return KR_NOMEM;
	if (!absent)
		initial = grows ? kr_history_text(s->h, KR_VALUE_ARRAY, "[0]", 3) : zero;
	if (initial.i == KR_NONE || (grows && !absent && !kr_vec_push(mem, &key->elements, zero)))
		return KR_NOMEM;
	first.content.count = key->elements.n;
	first.content.value = initial;
	s->h->keys.at[k].initial = s->options->initial == KR_INITIAL_GIVEN ? initial : KR_ABSENT;
	return kr_vec_push(mem, &key->versions, first) ? KR_OK : KR_NOMEM;
}

static void pick_kinds(struct kr_sim *s)
{
	const struct kr_generate_options *o = s->options;
	uint32_t named = o->reads + o->deletes + o->incs + o->appends + o->adds + o->ranges + o->scans;

	if (o->incs > 0)
		s->kinds[s->kind_count++] = KR_KIND_COUNTER;
	if (o->appends > 0)
		s->kinds[s->kind_count++] = KR_KIND_LIST;
	if (o->adds > 0)
		s->kinds[s->kind_count++] = KR_KIND_SET;
	if (named < 100 || s->kind_count == 0)
		s->kinds[s->kind_count++] = KR_KIND_REGISTER;
}

enum kr_status kr_sim_prepare_keys(struct kr_sim *s, struct kr_err *err)
{
	const struct kr_generate_options *o = s->options;
	enum kr_status status = KR_OK;

	pick_kinds(s);
	if (o->keys < s->kind_count)
		return kr_err_set(err, KR_BAD, "%u keys, expected one at least for each of the %u kinds used", o->keys, s->kind_count);
	s->keys = kr_mem_alloc(&s->ctx->mem, o->keys, sizeof *s->keys);
	s->by_name = kr_mem_alloc(&s->ctx->mem, o->keys, sizeof *s->by_name);
	if (!s->keys || !s->by_name)
		return KR_NOMEM;
	for (uint32_t k = 0; k < o->keys && !status; k++)
		if (!(status = start_key(s, k)))
			status = kr_ctx_tick(s->ctx);
	if (!status)
		order_names(s);
	return status;
}

void kr_sim_keys_done(struct kr_sim *s)
{
	struct kr_mem *mem = &s->ctx->mem;

	for (uint32_t k = 0; s->keys && k < s->options->keys; k++) {
		kr_vec_done(mem, &s->keys[k].versions);
		kr_vec_done(mem, &s->keys[k].elements);
	}
	kr_mem_free(mem, s->keys, s->options->keys, sizeof *s->keys);
	kr_mem_free(mem, s->by_name, s->options->keys, sizeof *s->by_name);
}

/* ---- what a client sees ---- */

struct kr_sim_touch *kr_sim_touch(struct kr_sim *s, struct kr_sim_client *c, kr_key key)
{
	const struct kr_sim_touch fresh = {.key = key, .seen = KR_NONE, .base = KR_NONE, .own_first = KR_NONE, .own_last = KR_NONE};
	uint64_t hash = kr_hash_u64(key.i);
	uint32_t id;

	for (kr_table_iter it = kr_table_find(&c->index, hash); (id = kr_table_next(&c->index, &it)) != KR_NONE;)
		if (c->touches.at[id].key.i == key.i)
			return &c->touches.at[id];
	if (!kr_table_reserve(&s->ctx->mem, &c->index) || !kr_vec_push(&s->ctx->mem, &c->touches, fresh))
		return NULL;
	kr_table_insert(&c->index, hash, c->touches.n - 1);
	return &c->touches.at[c->touches.n - 1];
}

/* Place of the version of the key that the client sees. */
static uint32_t visible(const struct kr_sim *s, const struct kr_sim_client *c, kr_key key)
{
	const struct kr_sim_version *at = s->keys[key.i].versions.at;
	uint32_t low = 0, high = s->keys[key.i].versions.n;

	if (s->options->store != KR_STORE_SNAPSHOT)
		return high - 1;
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;
		if (at[middle].commit <= c->snapshot)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* The content that shows through, below the client's own additions. */
static const struct kr_sim_content *look(const struct kr_sim *s, const struct kr_sim_client *c, struct kr_sim_touch *t)
{
	uint32_t place = t->written && t->base != KR_NONE ? t->base : visible(s, c, t->key);

	if (t->seen == KR_NONE)
		t->seen = place;
	if (t->written)
		t->base = place;
	return &s->keys[t->key.i].versions.at[place].content;
}

static enum kr_status see_counter(struct kr_sim *s, struct kr_sim_client *c, struct kr_sim_touch *t, kr_value *out)
{
	bool present = t->present;
	int64_t number = t->number;

	if (!t->absolute) {
		const struct kr_sim_content *content = look(s, c, t);
		present = t->written || content->present;
		number += content->number;
	}
	if (t->written) { /* the number shown is what it leaves */
		t->absolute = true;
		t->present = present;
		t->number = number;
	}
	*out = present ? kr_history_int(s->h, number) : KR_ABSENT;
	return out->i == KR_NONE ? KR_NOMEM : KR_OK;
}

static bool holds(const struct kr_sim_key *key, const struct kr_sim_content *content, kr_value element)
{
	for (uint32_t i = 0; i < content->count; i++)
		if (key->elements.at[content->first + i].i == element.i)
			return true;
	return false;
}

static void put_element(struct kr_sim *s, kr_value element)
{
	kr_str_add(&s->text, s->text.n > 1 ? "," : "");
	kr_history_json_value(s->h, element, &s->text);
}

static enum kr_status see_elements(struct kr_sim *s, struct kr_sim_client *c, struct kr_sim_touch *t, kr_value *out)
{
	static const struct kr_sim_content none = {0};
	const struct kr_sim_key *key = &s->keys[t->key.i];
	const struct kr_sim_content *content = t->absolute ? &none : look(s, c, t);
	bool repeated = key->kind == KR_KIND_SET && s->options->values != 0; /* values may be added again */
	uint32_t start = key->kind == KR_KIND_SET && content->count > 0 ? (uint32_t)kr_rng_below(&s->rng, content->count) : 0;

	s->text.n = 0;
	kr_str_add(&s->text, "[");
	for (uint32_t i = 0; i < content->count; i++)
		put_element(s, key->elements.at[content->first + (start + i) % content->count]);
	for (uint32_t i = t->own_first; i != KR_NONE; i = c->own.at[i].next)
		if (!repeated || !holds(key, content, c->own.at[i].element))
			put_element(s, c->own.at[i].element);
	if (s->text.n == 1 && kr_rng_below(&s->rng, 2) == 0) { /* absent and empty are the same */
		*out = KR_ABSENT;
		return KR_OK;
	}
	kr_str_add(&s->text, "]");
	if (s->text.failed)
		return KR_NOMEM;
	*out = kr_history_text(s->h, KR_VALUE_ARRAY, s->text.at, s->text.n);
	return out->i == KR_NONE ? KR_NOMEM : KR_OK;
}

enum kr_status kr_sim_see(struct kr_sim *s, struct kr_sim_client *c, struct kr_sim_touch *t, kr_value *out)
{
	switch (s->keys[t->key.i].kind) {
	case KR_KIND_COUNTER: return see_counter(s, c, t, out);
	case KR_KIND_LIST:
	case KR_KIND_SET: return see_elements(s, c, t, out);
	default: *out = t->written ? t->value : look(s, c, t)->value; return KR_OK;
	}
}

/* ---- what it writes ---- */

void kr_sim_put(struct kr_sim_touch *t, kr_value value)
{
	t->written = t->absolute = true;
	t->value = value;
}

void kr_sim_remove(struct kr_sim_touch *t)
{
	kr_sim_put(t, KR_ABSENT);
	t->present = false;
	t->number = 0;
	t->own_first = t->own_last = KR_NONE;
}

enum kr_status kr_sim_grow(struct kr_sim *s, struct kr_sim_client *c, struct kr_sim_touch *t, kr_value element)
{
	t->written = true;
	if (s->keys[t->key.i].kind == KR_KIND_SET)
		for (uint32_t i = t->own_first; i != KR_NONE && s->options->values != 0; i = c->own.at[i].next)
			if (c->own.at[i].element.i == element.i)
				return KR_OK;
	if (!kr_vec_push(&s->ctx->mem, &c->own, (struct kr_sim_own){element, KR_NONE}))
		return KR_NOMEM;
	if (t->own_last == KR_NONE)
		t->own_first = c->own.n - 1;
	else
		c->own.at[t->own_last].next = c->own.n - 1;
	t->own_last = c->own.n - 1;
	return KR_OK;
}

/* ---- commit ---- */

bool kr_sim_may_commit(const struct kr_sim *s, const struct kr_sim_client *c)
{
	for (uint32_t i = 0; i < c->touches.n; i++) {
		const struct kr_sim_touch *t = &c->touches.at[i];
		const struct kr_sim_key *key = &s->keys[t->key.i];
		uint32_t newest = key->versions.n - 1;
		bool stale = (t->seen != KR_NONE && t->seen != newest) || (t->base != KR_NONE && t->base != newest);
		if (s->options->store == KR_STORE_SERIALIZABLE && stale)
			return false;
		if (s->options->store == KR_STORE_SNAPSHOT && t->written && key->versions.at[newest].commit > c->snapshot)
			return false;
	}
	return true;
}

static enum kr_status install_elements(struct kr_sim *s, const struct kr_sim_client *c, const struct kr_sim_touch *t, struct kr_sim_content *content)
{
	struct kr_sim_key *key = &s->keys[t->key.i];
	bool repeated = key->kind == KR_KIND_SET && s->options->values != 0;

	if (t->absolute)
		*content = (struct kr_sim_content){.first = key->elements.n};
	for (uint32_t i = t->own_first; i != KR_NONE; i = c->own.at[i].next) {
		if (repeated && holds(key, content, c->own.at[i].element))
			continue;
		if (!kr_vec_push(&s->ctx->mem, &key->elements, c->own.at[i].element))
			return KR_NOMEM;
		content->count++;
	}
	content->present = content->count > 0;
	return KR_OK;
}

enum kr_status kr_sim_install(struct kr_sim *s, const struct kr_sim_client *c)
{
	s->commits++;
	for (uint32_t i = 0; i < c->touches.n; i++) {
		const struct kr_sim_touch *t = &c->touches.at[i];
		struct kr_sim_key *key = &s->keys[t->key.i];
		struct kr_sim_version new = {s->commits, key->versions.at[key->versions.n - 1].content};
		if (!t->written)
			continue;
		if (key->kind == KR_KIND_COUNTER)
			new.content = (struct kr_sim_content){.present = !t->absolute || t->present,
				.number = t->absolute ? t->number : new.content.number + t->number};
		else if (key->kind == KR_KIND_REGISTER)
			new.content = (struct kr_sim_content){.present = t->value.i != KR_ABSENT.i, .value = t->value};
		else if (install_elements(s, c, t, &new.content) != KR_OK)
			return KR_NOMEM;
		if (!kr_vec_push(&s->ctx->mem, &key->versions, new))
			return KR_NOMEM;
	}
	return KR_OK;
}
